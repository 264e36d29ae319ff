//! Definitions, types and imports.

use lambada_source::{Fix, Problem, Span};

use super::syntax::{GapPosition, lacking};

/// The code of something else in the place of a definition.
const NOT_AN_ITEM: &str = "E0020";

/// `f :: real -> real` on a line of its own; `better`: the head of the definition with these types.
pub fn signature(span: Span, better: Option<&str>, fix: Fix) -> Problem {
    let form = better.unwrap_or("def f (x : real) : real");
    Problem::error(
        NOT_AN_ITEM,
        "the types of a definition stand in it",
        span,
        "not a line of their own",
    )
    .fix(format!("write `{form} = …`, or leave the types out"), fix)
}

pub fn not_an_item(span: Span, found: &str) -> Problem {
    Problem::error(
        NOT_AN_ITEM,
        format!("expected a definition, found {found}"),
        span,
        "not the start of a definition",
    )
    .hint("a file consists of `def f x = …`, `type t = …` and `import \"path\"`")
}

pub fn missing_def(span: Span, name: &str) -> Problem {
    Problem::error("E0057", "a definition starts with `def`", span, "`def` is missing")
        .fix(format!("write `def {name} …`"), Fix::before(span, "def "))
}

pub fn after_item(span: Span, found: &str, word: &str) -> Problem {
    let problem = Problem::error(
        "E0058",
        format!("unexpected {found}"),
        span,
        "the definition should end before this",
    );
    match word {
        "in" => problem.hint("`in` belongs to a `let`, and every `let` before it has its own already"),
        "then" | "else" => problem.hint("a choice is written `if c then a else b`; check the brackets around it"),
        "do" => problem.hint("`do` belongs to a loop: `loop x = e for i < n do …`"),
        "->" => problem.hint("`->` belongs to a function, `\\x -> e`, or to a case, `match x | p -> e`"),
        "=>" => problem.hint("`=>` belongs to an array, `for i < n => e`"),
        "|" => problem.hint("cases follow a `match`; “or” is written `||`"),
        "for" | "let" => problem.hint(format!("`{word}` as an argument needs parentheses: `f ({word} …)`")),
        "exposing" | "hiding" | "qualified" => problem.hint(IMPORT_LIST),
        "," => problem.hint("a tuple is written in parentheses: `(a, b)`"),
        ":" => problem.hint("a type is given to an expression in parentheses: `(e : t)`; that of a result stands before the `=`"),
        _ => problem,
    }
}

/// `function f(x) … end`; `fix`: the edits of the whole definition.
pub fn other_word_with_body(span: Span, found: &str, fix: Option<Fix>) -> Problem {
    let form = "a definition is written `def f x = e`: its body begins after `=`, and has no `end`";
    Problem::error(
        OTHER_WORD,
        format!("`{found}` is no word for a definition"),
        span,
        "write `def`",
    )
    .advice(form, fix)
}

/// The code of another word for `def` or `type`.
const OTHER_WORD: &str = "E0021";

pub fn other_word_for(span: Span, found: &str, better: &str, form: &str) -> Problem {
    Problem::error(
        OTHER_WORD,
        format!("expected a definition, found `{found}`"),
        span,
        format!("write `{better}`"),
    )
    .fix(form, Fix::replace(span, better))
}

pub fn let_at_top(span: Span, recursive: bool) -> Problem {
    let better = if recursive { "def rec" } else { "def" };
    Problem::error("E0059", "`let` is for local names", span, format!("use `{better}` here")).fix(
        format!("at the top of a file write `{better} f x = …`, without an `in`"),
        Fix::replace(span, better),
    )
}

pub fn nested_def(span: Span) -> Problem {
    Problem::error(
        "E0022",
        "a `def` inside a definition",
        span,
        "only allowed at the top of a file",
    )
    .fix("a local function is written `let f x = … in …`", Fix::replace(span, "let"))
}

pub fn needs_name(span: Span) -> Problem {
    Problem::error("E0023", "a definition has a name, not a pattern", span, "expected a name")
        .hint("name the whole and take it apart where it is used: `def pair = …`, `let (a, b) = pair in …`")
}

/// The code of a definition without a body.
pub const NO_BODY: &str = "E0060";

pub fn no_body(found: &str, gap: GapPosition) -> Problem {
    lacking(NO_BODY, "`=`", found, gap).hint("a definition is written `def f x = e`")
}

pub fn sizes_come_first(span: Span) -> Problem {
    Problem::error(
        "E0061",
        "size variables come before the parameters",
        span,
        "expected a parameter",
    )
    .hint("write `def f [n] (x : [n]real) = …`")
}

/// `split`: the edits that give each name its own brackets.
pub fn size_is_a_name(span: Span, split: Option<Fix>) -> Problem {
    Problem::error("E0062", "a size variable is a single name in brackets", span, "expected `[n]`")
        .advice("write `def f [n] [m] (x : [n][m]real) = …`; other sizes are written in the types of the parameters", split)
}

/// `update`: the edits that make it a `let` of another array.
pub fn element_assignment(span: Span, name: &str, update: Option<Fix>) -> Problem {
    Problem::error("E0065", "arrays do not change", span, "an element is no name").advice(
        format!("write `let {name} = {name} with [i] = e`, an array that differs in one element"),
        update,
    )
}

pub fn rule_mode(span: Span, found: &str) -> Problem {
    Problem::error(
        "E0024",
        format!("expected `jvp` or `vjp` after `with`, found {found}"),
        span,
        "not a derivative",
    )
    .hint("an update is written `xs with [i] = e`, that of a record `{r with x = e}`")
    .hint("a definition's own derivative is written `with jvp dx = …` or `with vjp dy = …`")
}

pub fn rule_params(span: Span) -> Problem {
    Problem::error("E0063", "a derivative takes a tangent or a cotangent", span, "expected a parameter after this")
        .hint("write `with jvp dx = …` or `with vjp dy = …`; for several parameters `with jvp (dx, dy) = …`")
}

pub fn type_name_case(span: Span, name: &str) -> Problem {
    let better = lower(name);
    let hint = format!("write `{better}`; capital letters are for constructors");
    let fix = (!better.starts_with('[')).then(|| Fix::replace(span, better).probable());
    Problem::error(
        "E0025",
        format!("the type name `{name}` starts with a capital letter"),
        span,
        "types are lower case",
    )
    .advice(hint, fix)
}

/// The usual spelling of a type's name in this language.
pub fn lower(name: &str) -> String {
    match name {
        "Float" | "Double" | "Real" | "Number" | "Float64" | "Float32" => "real".into(),
        "Array" | "List" | "Vector" | "Vec" | "Tensor" => "[]real".into(),
        "Matrix" => "[][]real".into(),
        "Integer" | "Int" | "Int64" | "Nat" => "int".into(),
        "Boolean" | "Bool" => "bool".into(),
        _ => {
            name.chars().take(1).flat_map(char::to_lowercase).chain(name.chars().skip(1)).collect()
        }
    }
}

/// `others`: the other names with a small letter.
pub fn constructor_case(span: Span, name: &str, others: &[(Span, &str)]) -> Problem {
    let better = upper(name);
    let others = others.iter().map(|(span, name)| Fix::replace(*span, upper(name)));
    let fix = others.fold(Fix::replace(span, better.clone()), Fix::and);
    Problem::error(
        "E0064",
        format!("the constructor `{name}` starts with a small letter"),
        span,
        "constructors are upper case",
    )
    .fix(format!("write `{better}`"), fix.probable())
}

fn upper(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// The forms of an import.
const IMPORT_FORMS: &str = "write `import \"shapes\"` for your own file `shapes.lam`, `import \"std/linalg\" as la` or `import \"std/linalg\" (qr, svd)` for what the library has beyond the prelude";

/// The form of a list of imported names.
pub const IMPORT_LIST: &str =
    "the imported names are listed as in `import \"shapes\" (area, Circle)`";

/// `quoted`: the edits that put the name in quotes.
pub fn import_path(span: Span, found: &str, quoted: Option<Fix>) -> Problem {
    Problem::error("E0026", format!("expected a path in quotes, found {found}"), span, "not a path")
        .advice(IMPORT_FORMS, quoted)
}

/// `path`: the edits that make it an `import`.
pub fn foreign_import(span: Span, found: &str, path: Option<Fix>) -> Problem {
    Problem::error("E0066", format!("`{found}` does not bring in a file"), span, "write `import`")
        .advice(IMPORT_FORMS, path)
}

pub fn where_clause(span: Span) -> Problem {
    Problem::error("E0027", "there is no `where`", span, "local names come first")
        .hint("write `let x = … in …` before the expression that uses it")
}

/// `tuple`: all names.
pub fn tuple_pattern(span: Span, tuple: Option<Span>) -> Problem {
    Problem::error("E0028", "a tuple of names needs parentheses", span, "expected `=`")
        .advice("write `let (a, b) = … in …`", tuple.map(Fix::parentheses))
}

/// `split`: the edits that give each size its own brackets.
pub fn many_sizes(span: Span, split: Fix) -> Problem {
    Problem::error("E0029", "each size has its own brackets", span, "expected `]`")
        .fix("write `[n][m]real`", split)
}

/// `arguments`: the edits that leave out the `of`, and the `*` between the arguments.
pub fn constructor_of(span: Span, arguments: Fix) -> Problem {
    Problem::error("E0067", "there is no `of` after a constructor", span, "leave it out")
        .fix("write `type shape = Circle real | Rect real real`", arguments)
}

/// `moved`: the edits that put the size before the type.
pub fn size_after_type(span: Span, element: &str, moved: Fix) -> Problem {
    Problem::error("E0068", "a size comes before the type of the elements", span, "this follows it")
        .fix(format!("write `[n]{element}` for an array of `{element}`"), moved)
}
