//! Expressions, patterns and types.

use lambada_source::{Fix, Problem, Span};

use super::lexical;
use super::syntax::{GapPosition, lacking, spaced};

/// `middle`: the operand between the two operators, as text.
pub fn chained_comparison(first: Span, second: Span, middle: &str) -> Problem {
    Problem::error("E0030", "comparisons cannot be chained", second, "a second comparison")
        .label(first, "the first")
        .fix("join two comparisons by `&&`", Fix::before(second, format!("&& {middle} ")))
}

/// The code of an `=` in the place of an operator.
const STRAY_EQUALS: &str = "E0031";

/// `f(x = 1)`
pub fn named_argument(span: Span, f: &str) -> Problem {
    Problem::error(STRAY_EQUALS, "arguments have no names", span, "leave the name out")
        .hint(format!("arguments stand in the order of the definition: `{f} a b`; a record, `{{x = 1.0}}`, has names"))
}

/// `sum(m, axis = 0)`; `better`: the call without an axis, and the edit that writes it.
pub fn axis_argument(span: Span, better: Option<(String, Fix)>) -> Problem {
    let problem = Problem::error(STRAY_EQUALS, "arguments have no names", span, "there is no axis");
    match better {
        Some((better, fix)) => problem.fix(format!("write `{better}`"), fix),
        None => problem.hint("`sum m` adds the rows of a matrix, which is axis 0; `map sum m` is the sum of each row, axis 1"),
    }
}

/// `name`: the name or pattern at the start of the line that the `=` would define.
pub fn single_equals(span: Span, name: Option<Span>) -> Problem {
    let problem =
        Problem::error(STRAY_EQUALS, "`=` does not compare", span, "expected an operator");
    match name {
        Some(name) => problem.fix("a local name begins with `let`", Fix::before(name, "let ")),
        None => problem.fix(
            "to compare, write `==`; to name a value, write `let x = … in …`",
            Fix::replace(span, "==").probable(),
        ),
    }
}

pub fn double_equals(span: Span) -> Problem {
    Problem::error("E0069", "`==` does not define", span, "expected `=`")
        .fix("`==` compares two values; write `=` here", Fix::replace(span, "="))
}

pub fn left_arrow(span: Span) -> Problem {
    Problem::error("E0009", "`<-` does not define", span, "expected `=`")
        .fix("a name is given to a value by `=`", Fix::replace(span, "="))
}

/// `better`: the choice in the order of this language, from the first value to the `else`.
pub fn condition_between(span: Span, value: Span, whole: Span, better: &str) -> Problem {
    Problem::error("E0072", "the condition of a choice comes first", span, "this follows a value")
        .label(value, "the value")
        .fix("a choice is written `if c then a else b`", Fix::replace(whole, better))
}

pub fn wrong_arrow(span: Span, found: &str, better: &str, form: &str) -> Problem {
    let fix = Fix::replace(span, spaced(better, matches!(found, "." | ":")));
    arrow(span, found, better).fix(form, fix)
}

fn arrow(span: Span, found: &str, better: &str) -> Problem {
    let title = format!("expected `{better}`, found `{found}`");
    Problem::error("E0032", title, span, format!("write `{better}`"))
}

/// `fix`: the edits that write the head and the body of a function of Python or Rust as here.
pub fn other_head(span: Span, fix: Fix) -> Problem {
    arrow(span, "->", ":").fix("a definition is written `def f x : t = e`", fix)
}

/// `body`: whether something follows that may be the body.
pub fn missing_in(keyword: Span, found: &str, gap: GapPosition, body: bool) -> Problem {
    lacking("E0033", "`in`", found, gap)
        .label(keyword, "for this `let`")
        .advice("write `let x = e in body`, or begin the body on a line of its own, in the column of its `let`", body.then(|| gap.insert("in").probable()))
}

/// `fix`: the edits that make colons in the places of `then` and behind `else` right.
pub fn missing_then(keyword: Span, found: &str, gap: GapPosition, fix: Option<Fix>) -> Problem {
    lacking("E0034", "`then`", found, gap)
        .label(keyword, "for this `if`")
        .advice("a choice is written `if c then a else b`", fix)
}

pub fn missing_else(keyword: Span, found: &str, gap: GapPosition) -> Problem {
    lacking("E0070", "`else`", found, gap).label(keyword, "this `if` has no `else`").hint(
        "every `if` gives a value in both cases; where there is nothing to do, write `else ()`",
    )
}

pub fn else_if(span: Span, found: &str) -> Problem {
    Problem::error("E0071", format!("there is no `{found}`"), span, "write `else if`")
        .fix("write `if a then x else if b then y else z`", Fix::replace(span, "else if"))
}

pub fn ambiguous_section(span: Span, op: &str) -> Problem {
    Problem::error(
        "E0036",
        format!("the operand of this section of `{op}` needs parentheses"),
        span,
        format!("binds less tightly than `{op}`"),
    )
    .fix("put parentheses around it", Fix::parentheses(span))
}

/// `first`: the first parameter; `sign`: the sign after the parameters, if it is not `->`.
pub fn lambda_word(span: Span, word: &str, first: Span, sign: Option<Span>) -> Problem {
    let backslash = Fix::replace(span.to(first.start()), "\\");
    let fix = match sign {
        Some(sign) => backslash.and(Fix::replace(sign, spaced("->", true))),
        None => backslash,
    };
    Problem::error("E0037", format!("`{word}` does not start a function"), span, "write `\\`")
        .fix("a function is written `\\x -> e`", fix)
}

pub fn or_pattern(span: Span) -> Problem {
    Problem::error(
        "E0073",
        "only the case of a `match` has alternatives",
        span,
        "this `|` is not in a case",
    )
    .hint("write `match x | P y | Q y -> e`")
}

pub fn no_cases(keyword: Span, found: &str, gap: GapPosition) -> Problem {
    lacking("E0074", "`|`", found, gap)
        .label(keyword, "this `match` has no cases")
        .hint("write `match e | P x -> a | Q -> b`")
}

pub fn argument_needs_parentheses(span: Span, word: &str) -> Problem {
    Problem::error(
        "E0039",
        format!("`{word}` as an argument needs parentheses"),
        span,
        format!("put parentheses around this `{word}`"),
    )
    .hint("only a function, `\\x -> e`, may be a last argument without them")
}

pub fn empty_index(span: Span) -> Problem {
    Problem::error("E0040", "an index is missing", span, "expected an index")
        .hint("write `xs[i]`, or `xs[a:b]` for a part")
}

pub fn slice_of_many(span: Span) -> Problem {
    Problem::error("E0075", "a slice has one dimension", span, "`:` together with `,`")
        .hint("write `m[i][a:b]` for a part of a row, `for i < n => m[i, j]` for a column")
}

/// `better`: the elements without a step, and the edits that write it.
pub fn stepped_slice(span: Span, better: Option<(String, Fix)>) -> Problem {
    let problem = Problem::error("E0076", "a slice has no step", span, "expected `]`");
    match better {
        Some((better, fix)) => problem.fix(format!("write `{better}`"), fix),
        None => problem.hint("write `for i < n => xs[2 * i]`"),
    }
}

pub fn dotted_index(span: Span) -> Problem {
    Problem::error("E0077", "an index is written without a dot", span, "leave out this `.`")
        .fix("write `xs[i]`", Fix::remove(span))
}

/// The code of the update of a record in another form.
const RECORD_UPDATE: &str = "E0041";

/// `{...p, x = e}`; `fix`: the edits that make it `{p with x = e}`.
pub fn spread_record(span: Span, fix: Option<Fix>) -> Problem {
    Problem::error(
        RECORD_UPDATE,
        "a record is not spread by `...`",
        span,
        "write its name and `with`",
    )
    .advice("write `{p with x = e}` for a record like `p` with another `x`", fix)
}

pub fn update_brackets(span: Span) -> Problem {
    Problem::error(RECORD_UPDATE, "the update of a record stands in braces", span, "expected `[`")
        .hint("write `{r with x = e}` for a record, `xs with [i] = e` for an array")
}

pub fn not_an_accumulator(span: Span, place: Span) -> Problem {
    Problem::error(
        "E0042",
        "only an accumulator can be added to",
        span,
        "`+=` needs its name on the left",
    )
    .label(place, "not the name of an accumulator, with or without an index")
    .hint("write `accumulate h = e in … h[i] += v …`")
}

pub fn slice_addition(span: Span) -> Problem {
    Problem::error("E0078", "`+=` does not take a slice", span, "expected an index")
        .hint("write `for i < n => h[a + i] += v[i]`")
}

/// `touches`: whether the colon follows the name without a space.
pub fn record_colon(span: Span, touches: bool) -> Problem {
    Problem::error("E0043", "the value of a field is written after `=`", span, "write `=`").fix(
        "`{x = 1.0}` is a value, `{x : real}` its type",
        Fix::replace(span, spaced("=", touches)),
    )
}

pub fn record_type_equals(span: Span) -> Problem {
    Problem::error("E0079", "the type of a field is written after `:`", span, "write `:`")
        .fix("`{x = 1.0}` is a value, `{x : real}` its type", Fix::replace(span, ":"))
}

pub fn empty_record(span: Span) -> Problem {
    Problem::error("E0080", "a record has at least one field", span, "no field")
        .hint("the empty value and its type are written `()`")
}

pub fn not_a_field(span: Span) -> Problem {
    Problem::error("E0081", "braces hold the fields of a record", span, "not a field")
        .hint("write `{x = e}` or `{r with x = e}`; expressions are grouped by parentheses, bodies and cases need no brackets")
}

/// `before`: the token before the missing comma.
pub fn missing_comma(span: Span, before: Span) -> Problem {
    Problem::error("E0044", "a `,` is missing", span, "expected `,` before this")
        .fix("fields are separated by `,`: `{x = 1.0, y = 2.0}`", Fix::behind(before, ","))
}

/// The code of elements without commas between them.
const NO_COMMAS: &str = "E0082";

/// `[1 2 3]`, `[1 2; 3 4]`; `fix`: the edits that write the commas.
pub fn spaces_in_list(span: Span, rows: bool, fix: Fix) -> Problem {
    let form = if rows { "[[a, b], [c, d]]" } else { "[a, b, c]" };
    Problem::error(NO_COMMAS, "elements are separated by `,`", span, "expected `,` before this")
        .fix(format!("write `{form}`"), fix)
}

/// `rows`: the edits that make each row an array, if it is a matrix.
pub fn semicolon_in_list(span: Span, rows: Option<Fix>) -> Problem {
    Problem::error(NO_COMMAS, "elements are separated by `,`", span, "expected `,`")
        .advice("a row is an array of its own: write `[[a, b], [c, d]]`", rows)
}

pub fn comprehension(span: Span) -> Problem {
    Problem::error(
        "E0045",
        "the `for` comes first and needs no brackets",
        span,
        "expected `,` or `]`",
    )
    .hint("write `for x in xs => e`, or `[e for x in xs]`")
}

fn no_range(span: Span, label: &str) -> Problem {
    Problem::error("E0046", "there is no such range", span, label)
}

/// `inclusive`: the range with its end as one that excludes it.
pub fn range_for(span: Span, inclusive: Option<Fix>) -> Problem {
    no_range(span, "expected a bound or an array")
        .advice("write `for i < n => e` for i = 0, …, n - 1, `for i in a..b => e` for i = a, …, b - 1, with `b + 1` to include b; a part of an array is `xs[a:b]`", inclusive)
}

/// `for i in from:last`, where `to` is one more than `last`.
pub fn range_colon(span: Span, name: &str, from: &str, to: &str, fix: Fix) -> Problem {
    let clause =
        if from == "0" { format!("{name} < {to}") } else { format!("{name} in {from}..{to}") };
    no_range(span, "expected a bound or an array")
        .advice(format!("write `for {clause} => e`: the upper bound is the first number left out, as in a slice `xs[a:b]`"), Some(fix))
        .hint("the elements of an array are counted from 0")
}

/// `[from..last]`, where `to` is one more than `last`.
pub fn range_array(span: Span, from: &str, to: &str) -> Problem {
    no_range(span, "expected `,` or `]`").hint(format!(
        "the array is `for i in {from}..{to} => i`: the upper bound is the first number left out"
    ))
}

/// `a < b & c < d`
pub fn and_of_comparisons(span: Span) -> Problem {
    lexical::foreign(span, "`&` is not “and”".into(), "of the bits of integers")
        .hint("“and” is written `&&`")
}

/// `a >> b & c`
pub fn shift_beside_and(span: Span) -> Problem {
    let title = "`>>` and `&` without parentheses".into();
    lexical::foreign(span, title, "shifts less or more than meant")
        .hint("write `(a >> n) & b` or `a >> (n & b)`: languages differ in which comes first")
}

pub fn range_pattern(span: Span) -> Problem {
    Problem::error("E0038", "a range counts integers", span, "expected a name")
        .hint("write `for i in a..b => e`, or `for a <= i < b => e`")
}

/// `bound`: the number that the index reaches.
pub fn inclusive_for(span: Span, bound: Span) -> Problem {
    Problem::error("E0083", "the bound of a `for` is exclusive", span, "write `<`").fix(
        "`for i < n` counts 0, …, n - 1; write `for i < n + 1` to include n",
        Fix::replace(span, "<").and(Fix::behind(bound, " + 1")),
    )
}

/// `word`: the `do`.
pub fn for_do(span: Span, word: Span) -> Problem {
    Problem::error("E0047", "this `for` builds an array", span, "write `=>`").fix(
        "`for i < n => e` builds an array; a loop with state is `loop x = e for i < n do …`",
        Fix::replace(word, "=>").probable(),
    )
}

pub fn loop_without_driver(keyword: Span, found: &str, gap: GapPosition) -> Problem {
    lacking("E0084", "`for` or `while`", found, gap)
        .label(keyword, "for this `loop`")
        .hint("write `loop x = e for i < n do …`, `loop x = e for y in ys do …` or `loop x = e while c do …`")
}

pub fn one_clause(span: Span) -> Problem {
    Problem::error("E0085", "a `loop` counts one variable", span, "expected `do`")
        .hint("put a `loop` into the body of a `loop`")
}

pub fn bare_for(span: Span, word: &str) -> Problem {
    Problem::error("E0086", format!("a `{word}` needs a `loop`"), span, "nothing to repeat")
        .hint(format!("write `loop x = e {word} … do …`"))
}

pub fn checkpoint_while(span: Span) -> Problem {
    Problem::error("E0096", "a `while` has no `checkpoint`", span, "expected `do`")
        .hint("how many states a loop keeps depends on how often it runs: write `loop x = e for i < n checkpoint … do …`")
}

pub fn checkpoint_array(span: Span) -> Problem {
    Problem::error("E0097", "a `for` that builds an array has no `checkpoint`", span, "expected `=>`")
        .hint("its iterations are independent, so none of them keeps a state; `checkpoint` belongs to a `loop`")
}

pub fn checkpoint_policy(found: &str, gap: GapPosition) -> Problem {
    lacking("E0098", "`all`, `sqrt` or a number of states", found, gap).hint(CHECKPOINTS)
}

pub fn checkpoint_operand(found: &str, gap: GapPosition) -> Problem {
    lacking("E0099", "`do`", found, gap).hint(CHECKPOINTS)
}

const CHECKPOINTS: &str = "write `checkpoint all`, `checkpoint sqrt`, `checkpoint 8`, `checkpoint k` or `checkpoint (k + 1)`";

/// `let x = e;` before a line in the column of the `let`.
pub fn semicolon_after_let(span: Span) -> Problem {
    let label = "the `let` ends with its line";
    Problem::error(ENDS_NOTHING, "no `;` ends a `let`", span, label)
        .fix("`;` separates two expressions: `a; b`", Fix::remove(span))
}

/// The code of a `;` that separates nothing.
const ENDS_NOTHING: &str = "E0048";

pub fn trailing_semicolon(span: Span) -> Problem {
    Problem::error(
        ENDS_NOTHING,
        "nothing follows this `;`",
        span,
        "expected an expression after it",
    )
    .fix("`;` separates two expressions: `a; b`", Fix::remove(span))
}

pub fn wildcard_value(span: Span) -> Problem {
    Problem::error("E0049", "`_` is a pattern, not a value", span, "expected an expression")
        .hint("for a function of the missing part, write `\\x -> …`")
}

pub fn text_value(span: Span) -> Problem {
    Problem::error("E0087", "there are no values of text", span, "expected an expression")
        .hint("the cases of a type have names, as in `type color = Red | Green`; quotes are only for `import \"path\"`, `error \"text {x}\"`, `check \"text {x}\" condition value` and `inspect_as \"name\" x`")
}

pub fn braces_in_text(span: Span) -> Problem {
    Problem::error("E0035", "these braces do not hold one expression", span, "shown in the text")
        .hint("a value is shown by `{x}`; a brace itself is written `{{` or `}}`")
}

/// `around`: the dot with the spaces around it.
pub fn space_before_dot(span: Span, around: Span) -> Problem {
    Problem::error(
        "E0050",
        "a field is selected without spaces",
        span,
        "a space before or after this `.`",
    )
    .fix(
        "write `r.x`; functions are composed by `f >> g`, which applies `f` first",
        Fix::replace(around, ".").probable(),
    )
}

pub fn and_without_rec(span: Span) -> Problem {
    Problem::error("E0051", "`and` joins functions of a `let rec`", span, "this `let` has no `rec`")
        .hint("write `let rec f x = … and g y = … in …`, or a new `let`; “and” between conditions is `&&`")
}

/// The code of a body in braces, or between `begin` and `end`.
pub const NO_BRACES: &str = "E0052";

/// `closer`: the brace that ends the body.
pub fn braces_around_body(span: Span, closer: Option<Span>) -> Problem {
    let fix = closer.map(|closer| Fix::replace(span, "=").and(Fix::remove(closer)));
    Problem::error(NO_BRACES, "bodies have no braces", span, "expected `=`")
        .advice("write `def f x = e`; braces are for records, `{x = 1.0}`", fix)
}

pub fn body_after_type(colon: Span, found: &str, gap: GapPosition) -> Problem {
    let problem = lacking("E0088", "`=`", found, gap).label(colon, "a type follows this `:`");
    if found == "`*`" {
        return problem.hint("the type of a tuple is written `(real, real)`");
    }
    problem.hint("write `def f x = e`; a `:` gives a type: `def f x : real = e`")
}

/// `braces`: both braces around the update.
pub fn array_update_in_braces(span: Span, braces: Option<[Span; 2]>) -> Problem {
    let fix = braces.map(|[opener, closer]| Fix::remove(opener).and(Fix::remove(closer)));
    Problem::error("E0089", "the update of an array has no braces", span, "an array")
        .advice("write `xs with [i] = e`; braces are for records: `{r with x = e}`", fix)
}

/// `touches`: whether the colon follows the parameters without a space; `defines`: the
/// colon with the spaces before an `=` that follows it.
pub fn body_after_colon(span: Span, touches: bool, defines: Option<Span>) -> Problem {
    let fix = match defines {
        Some(colon) => Fix::remove(colon),
        None => Fix::replace(span, spaced("=", touches)),
    };
    Problem::error(AFTER_COLON, "expected a type after `:`", span, "not a type").fix(BODY_FORM, fix)
}

/// The code of a body after a `:`.
const AFTER_COLON: &str = "E0090";

const BODY_FORM: &str = "write `def f x = e`; a `:` gives a type: `def f x : real = e`";

/// A `:` at the end of a line, with the edits of the whole definition.
pub fn body_after_line(span: Span, fix: Option<Fix>) -> Problem {
    Problem::error(AFTER_COLON, "a body follows `=`, not `:`", span, "write `=`")
        .advice(BODY_FORM, fix)
}

pub fn array_pattern(span: Span) -> Problem {
    Problem::error("E0053", "a pattern has all elements of an array", span, "expected `,` or `]`")
        .hint("`[a, b]` is an array of two; for the rest of an array write `xs[1:]`")
}

/// `touches`: whether the colon follows the pattern without a space.
pub fn colon_in_case(span: Span, touches: bool) -> Problem {
    Problem::error("E0091", "expected `->`, found `:`", span, "write `->`").fix(
        "a case is written `| p -> e`, a pattern with a type `(p : t)`",
        Fix::replace(span, spaced("->", touches)),
    )
}

pub fn accumulator_name(span: Span) -> Problem {
    Problem::error("E0092", "an accumulator is introduced by its name alone", span, "expected `=`")
        .hint("write `accumulate h = replicate n 0.0 in …`")
}

/// `body`: whether something follows that may be the body.
pub fn accumulate_in(keyword: Span, found: &str, gap: GapPosition, body: bool) -> Problem {
    lacking("E0093", "`in`", found, gap).label(keyword, "for this `accumulate`").advice(
        "write `accumulate h = start in body`, where the body adds with `h[i] += v`",
        body.then(|| gap.insert("in").probable()),
    )
}

pub fn pattern_operator(span: Span) -> Problem {
    Problem::error("E0094", "a pattern does not calculate", span, "not part of a pattern")
        .hint("give the parts names and calculate with them later")
}

pub fn trailing_comma(span: Span) -> Problem {
    Problem::error("E0095", "nothing follows this `,`", span, "leave it out")
        .fix("commas stand between elements: `[a, b, c]`", Fix::remove(span))
}
