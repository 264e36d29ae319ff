/**
 * The syntax of Lambada, as docs/src/grammar.md of its repository defines it. It accepts more than the compiler, which says what is wrong.
 *
 * Some things depend on lines, columns and what follows, so src/scanner.c decides them: where a `let` without `in` ends, where the first
 * case of a `match` begins without its `|`, whether a `\` begins a function or solves a system of equations, and whether an `and` begins
 * the next function of a `let rec`.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

const LEVEL = {
  form: -2,
  sequence: -1,
  update: 1,
  pipe: 2,
  compose: 3,
  or: 4,
  and: 5,
  comparison: 6,
  bits: 7,
  sum: 8,
  product: 9,
  unary: 10,
  power: 11,
  application: 12,
  postfix: 13,
};

/** The operators of each level. */
const OPERATORS = /** @type {[number, string[]][]} */ ([
  [LEVEL.pipe, ["|>"]],
  [LEVEL.compose, [">>"]],
  [LEVEL.or, ["||"]],
  [LEVEL.and, ["&&"]],
  [LEVEL.comparison, ["==", "!=", "<", "<=", ">", ">="]],
  [LEVEL.bits, ["&"]],
  [LEVEL.sum, ["+", "-", ".+", ".-"]],
  [LEVEL.product, ["*", "/", "//", "%", "@", ".*", "./", "%%", "%/%", "%*%"]],
]);
const POWERS = ["**", "^", ".^"];

/** One or more, with commas between them and perhaps a comma behind. */
const some = (rule) => seq(rule, repeat(seq(",", rule)), optional(","));

module.exports = grammar({
  name: "lambada",

  externals: ($) => [
    $._let_begins,
    $._accumulate_begins,
    $._let_ends,
    $._body_below,
    $._case_below,
    $._solve,
    $._and_next,
    $._error_sentinel,
  ],

  extras: ($) => [/\s/, "\uFEFF", $.doc_comment, $.comment],

  word: ($) => $.identifier,

  supertypes: ($) => [$.expression, $.pattern, $.type],

  conflicts: ($) => [
    // `for (a, -1) in xs` and `for (a) <= i < n`, `match xs with [a] -> …` and `xs with [a] = …`
    [$._atomic_pattern, $._atom],
    [$.constructor_name, $._atom],
    [$.negative_number, $._atom],
    [$.unit_pattern, $.unit],
    [$.array_pattern, $.array],
    // `a <= i < n` is a clause, and the beginning of a wrong comparison.
    [$._name, $._atom],
    // `list [n] a` and `list [n]a`
    [$.size_argument, $.array_type],
  ],

  rules: {
    source_file: ($) => repeat($._item),

    doc_comment: (_) => token(prec(1, /--\|[^\n]*/)),
    comment: (_) => token(/--[^\n]*/),

    _item: ($) => choice($.definition, $.type_definition, $.import),

    // Definitions

    definition: ($) => seq("def", optional("rec"), $._function),

    _function: ($) =>
      prec.right(
        seq(
          field("name", $._name),
          repeat(choice($.size_variable, field("parameter", $._atomic_pattern))),
          optional(seq(":", field("result", $.type))),
          "=",
          field("body", $.expression),
          repeat($.rule),
        ),
      ),

    size_variable: ($) => prec(1, seq("[", choice($.identifier, $.constructor), "]")),

    rule: ($) =>
      prec.right(
        seq(
          field("kind", $.rule_kind),
          repeat1(field("parameter", $._atomic_pattern)),
          optional(seq("of", field("value", $._atomic_pattern))),
          "=",
          field("body", $.expression),
        ),
      ),

    // One token, because a `with` before anything else is an update.
    rule_kind: (_) => token(prec(2, /with[ \t\r\n]+(pseudo[ \t\r\n]+)?(jvp|vjp)/)),

    type_definition: ($) =>
      seq(
        "type",
        field("name", $.identifier),
        repeat($.size_variable),
        repeat(field("parameter", $.identifier)),
        "=",
        choice(field("body", $.type), $._variant),
      ),

    _variant: ($) => seq(optional("|"), $.constructor_definition, repeat(seq("|", $.constructor_definition))),

    constructor_definition: ($) => seq(field("name", $.constructor), repeat(field("argument", $._atomic_type))),

    import: ($) =>
      prec.right(
        seq(
          "import",
          field("path", $.string),
          optional(seq("as", field("alias", $._name))),
          optional(seq("(", some(field("name", $._name)), ")")),
        ),
      ),

    // Types

    type: ($) => choice($.function_type, $.product_type, $._applied_type),

    function_type: ($) => prec.right(1, seq($.type, "->", $.type)),

    product_type: ($) => prec.left(2, seq($._applied_type, repeat1(seq("*", $._applied_type)))),

    _applied_type: ($) => choice($.type_application, alias($.applied_array_type, $.array_type), $._atomic_type),

    type_application: ($) =>
      prec.right(seq(field("type", $.type_name), repeat1(choice($.size_argument, field("argument", $._atomic_type))))),

    size_argument: ($) => seq("[", optional($.expression), "]"),

    applied_array_type: ($) =>
      seq("[", optional(field("size", $.expression)), "]", field("element", choice($.type_application, alias($.applied_array_type, $.array_type)))),

    array_type: ($) => prec.dynamic(1, seq("[", optional(field("size", $.expression)), "]", field("element", $._atomic_type))),

    _atomic_type: ($) =>
      choice($.type_name, $.array_type, $.unit_type, $.parenthesized_type, $.tuple_type, $.record_type),

    type_name: ($) => seq(optional(seq($.identifier, $._dot)), $.identifier),

    unit_type: (_) => seq("(", ")"),
    parenthesized_type: ($) => seq("(", $.type, ")"),
    tuple_type: ($) => seq("(", $.type, repeat1(seq(",", $.type)), optional(","), ")"),
    record_type: ($) => seq("{", $.field_type, repeat(seq(choice(",", ";"), $.field_type)), optional(","), "}"),
    field_type: ($) => seq(field("name", $.identifier), ":", field("type", $.type)),

    // Patterns

    pattern: ($) => choice($.constructor_pattern, $._atomic_pattern),

    constructor_pattern: ($) => prec.right(seq($.constructor_name, repeat1($._atomic_pattern))),

    _atomic_pattern: ($) =>
      choice(
        $.identifier,
        $.constructor_name,
        $.negative_number,
        $.integer,
        $.real,
        $.boolean,
        $.unit_pattern,
        $.tuple_pattern,
        $.record_pattern,
        $.array_pattern,
      ),

    constructor_name: ($) => seq(optional(seq($.identifier, $._dot)), $.constructor),

    negative_number: ($) => seq("-", choice($.integer, $.real)),
    unit_pattern: (_) => seq("(", ")"),
    tuple_pattern: ($) => seq("(", some($._element_pattern), ")"),
    array_pattern: ($) => choice(seq("[", "]"), seq("[", some($._element_pattern), "]")),
    record_pattern: ($) => seq("{", some($.field_pattern), "}"),
    field_pattern: ($) => seq(field("name", $.identifier), optional(seq("=", $._element_pattern))),

    _element_pattern: ($) => choice($._alternatives, $.typed_pattern),
    typed_pattern: ($) => seq($._alternatives, ":", $.type),

    _alternatives: ($) => choice($.pattern, $.alternatives),
    alternatives: ($) => seq($.pattern, repeat1(seq("|", $.pattern))),

    _name: ($) => choice($.identifier, $.constructor),

    // Expressions

    expression: ($) => choice($.sequence, $._single),

    sequence: ($) => prec.right(LEVEL.sequence, seq($._single, ";", $.expression)),

    _single: ($) =>
      choice(
        $.update,
        $.addition,
        $.binary,
        $.unary,
        $.not_function,
        $.application,
        $._postfix,
        $.lambda,
        $.let,
        $.if,
        $.match,
        $.for,
        $.loop,
        $.accumulate,
      ),

    update: ($) => prec.left(LEVEL.update, seq($._single, "with", $._places, "=", field("value", $._single))),

    addition: ($) => prec.right(LEVEL.update, seq($._single, "+=", field("value", $._single))),

    binary: ($) => {
      const one = (level, operator, right) =>
        (right ? prec.right : prec.left)(
          level,
          seq(field("left", $._single), field("operator", operator), field("right", $._single)),
        );
      return choice(
        ...OPERATORS.map(([level, operators]) => one(level, operators.length > 1 ? choice(...operators) : operators[0], false)),
        one(LEVEL.power, choice(...POWERS), true),
        one(LEVEL.pipe, choice("$", "<|"), true),
        one(LEVEL.or, "or", false),
        one(LEVEL.and, "and", false),
        // In conditions.
        one(LEVEL.comparison, "=", false),
        one(LEVEL.product, alias($._solve, "\\"), false),
      );
    },

    operator: (_) => choice(...OPERATORS.flatMap(([, operators]) => operators), ...POWERS),

    unary: ($) => prec(LEVEL.unary, seq(field("operator", choice("-", "not")), $._single)),

    not_function: (_) => prec(LEVEL.unary - 1, "not"),

    application: ($) =>
      prec.left(
        LEVEL.application,
        seq(
          field("function", choice($.application, $._postfix)),
          field("argument", choice($._argument, $.lambda, alias("not", $.not_function))),
        ),
      ),

    // What touches a parenthesis behind a function belongs to the call: `f(x)[i]`.
    _postfix: ($) => choice($._argument, $.call, alias($.call_index, $.index), alias($.call_field, $.field_access)),
    call: ($) =>
      prec.left(LEVEL.postfix, seq(field("function", $._postfix), $._touching_arguments)),
    _touching_arguments: ($) =>
      seq(alias(token.immediate(prec(1, "(")), "("), optional(some($._typed)), ")"),
    call_index: ($) => prec.left(LEVEL.postfix, seq(choice($.call, alias($.call_index, $.index), alias($.call_field, $.field_access)), $._touching_places)),
    call_field: ($) => prec.left(LEVEL.postfix, seq(choice($.call, alias($.call_index, $.index), alias($.call_field, $.field_access)), $._selected)),

    _argument: ($) => choice($._atom, $.index, $.field_access),
    index: ($) => prec.left(LEVEL.postfix, seq($._argument, $._touching_places)),
    field_access: ($) => prec.left(LEVEL.postfix, seq($._argument, $._selected)),

    _dot: (_) => token.immediate("."),
    _selected: ($) => seq($._dot, field("field", choice($._name, alias(token.immediate(/[0-9]+/), $.integer)))),

    _touching_places: ($) => seq(alias(token.immediate(prec(1, "[")), "["), $._place, repeat(seq(",", $._place)), "]"),
    _places: ($) => seq("[", $._place, repeat(seq(",", $._place)), "]"),
    _place: ($) => choice($._single, $.slice),
    slice: ($) => seq(optional(field("from", $._single)), ":", optional(field("to", $._single))),

    _atom: ($) =>
      choice(
        $.identifier,
        $.constructor,
        $.integer,
        $.real,
        $.boolean,
        $.string,
        $.unit,
        $.parenthesized,
        $.tuple,
        $.section,
        $.array,
        $.comprehension,
        $.record,
        $.record_update,
      ),

    unit: (_) => seq("(", ")"),
    parenthesized: ($) => seq("(", $._typed, ")"),
    tuple: ($) => seq("(", $._typed, repeat1(seq(",", $._typed)), optional(","), ")"),
    section: ($) =>
      seq(
        "(",
        choice(
          $.operator,
          seq($._single, $.operator),
          seq($.operator, $._single),
        ),
        ")",
      ),
    _typed: ($) => choice($.expression, $.annotated),
    annotated: ($) => seq($.expression, ":", $.type),

    array: ($) =>
      choice(seq("[", "]"), seq("[", $._single, repeat(seq(choice(",", ";"), $._single)), optional(","), "]")),
    comprehension: ($) => seq("[", field("body", $._single), "for", $._clauses, "]"),

    record: ($) => seq("{", $._record_fields, "}"),
    record_update: ($) => seq("{", $._single, "with", $._record_fields, "}"),
    _record_fields: ($) => seq($.record_field, repeat(seq(choice(",", ";"), $.record_field)), optional(",")),
    record_field: ($) => prec(1, seq(field("name", $.identifier), optional(seq("=", field("value", $._single))))),

    // Forms, which extend as far right as they can

    lambda: ($) =>
      prec.right(
        LEVEL.form,
        seq(choice("\\", "fun"), repeat1(field("parameter", $._atomic_pattern)), "->", field("body", $.expression)),
      ),

    let: ($) =>
      prec.right(
        LEVEL.form,
        seq(
          "let",
          $._let_begins,
          choice($._binding, $.changed_element, $.local_functions),
          choice(seq("in", $._let_ends), $._body_below),
          field("body", $.expression),
        ),
      ),
    _binding: ($) =>
      seq(field("pattern", $.pattern), optional(seq(":", field("type", $.type))), "=", field("value", $.expression)),
    changed_element: ($) => seq($.identifier, $._touching_places, "=", field("value", $._single)),
    local_functions: ($) =>
      choice(
        seq("rec", $.local_function, repeat(seq(alias($._and_next, "and"), $.local_function))),
        alias($.plain_local_function, $.local_function),
      ),
    local_function: ($) => $._function,
    // A capital name is that of a constructor here.
    plain_local_function: ($) =>
      prec.right(
        seq(
          field("name", $.identifier),
          repeat1(choice($.size_variable, field("parameter", $._atomic_pattern))),
          optional(seq(":", field("result", $.type))),
          "=",
          field("body", $.expression),
          repeat($.rule),
        ),
      ),

    if: ($) =>
      prec.right(
        LEVEL.form,
        seq(
          "if",
          field("condition", $.expression),
          "then",
          field("consequence", $.expression),
          "else",
          field("alternative", $.expression),
        ),
      ),

    match: ($) =>
      prec.right(
        LEVEL.form,
        seq(
          "match",
          field("subject", $._single),
          choice("|", seq("with", optional("|")), $._case_below),
          $.case,
          repeat(seq("|", $.case)),
        ),
      ),
    case: ($) =>
      prec.right(
        LEVEL.form,
        seq(field("pattern", $._alternatives), optional($.guard), "->", field("body", $.expression)),
      ),
    guard: ($) => seq(choice("if", "when"), $._single),

    for: ($) => prec.right(LEVEL.form, seq("for", $._clauses, "=>", field("body", $.expression))),

    _clauses: ($) => seq($._filtered, repeat(seq(choice(",", "for"), $._filtered))),
    _filtered: ($) => seq($._clause, optional($.filter)),
    _clause: ($) => choice($.below, $.between, $.each),
    below: ($) => prec(1, seq(field("index", choice($.identifier, $.constructor)), "<", field("end", $._single))),
    between: ($) =>
      seq(field("start", $._single), "<=", field("index", $._name), "<", field("end", $._single)),
    each: ($) =>
      seq(field("pattern", $.pattern), "in", field("array", $._single), optional(seq("..", field("end", $._single)))),
    filter: ($) => seq("if", $._single),

    loop: ($) =>
      prec.right(
        LEVEL.form,
        seq(
          "loop",
          field("pattern", $.pattern),
          optional(seq(":", field("type", $.type))),
          optional(seq("=", field("start", $._single))),
          choice(
            seq("for", $._clause, optional($.filter), optional($.checkpoint)),
            seq("while", field("condition", $.expression)),
          ),
          "do",
          field("body", $.expression),
        ),
      ),
    checkpoint: ($) => seq("checkpoint", $._atom),

    accumulate: ($) =>
      prec.right(
        LEVEL.form,
        seq(
          "accumulate",
          $._accumulate_begins,
          $.accumulator,
          repeat(seq(",", $.accumulator)),
          choice(seq("in", $._let_ends), $._body_below),
          field("body", $.expression),
        ),
      ),
    accumulator: ($) => seq(field("name", $._name), "=", field("start", $.expression)),

    // Words

    identifier: (_) => /[a-z_][A-Za-z0-9_]*'*/,
    constructor: (_) => /[A-Z][A-Za-z0-9_]*'*/,
    integer: (_) => /[0-9][0-9_]*/,
    real: (_) => /[0-9][0-9_]*(\.[0-9][0-9_]*([eE][+-]?[0-9][0-9_]*)?|[eE][+-]?[0-9][0-9_]*)/,
    boolean: (_) => choice("true", "false"),
    string: (_) => /"[^"\n]*"/,
  },
});
