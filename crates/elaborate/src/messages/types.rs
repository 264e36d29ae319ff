//! Types.

use std::rc::Rc;

use lambada_source::{Fix, Hint, Problem, Span, quoted};

use super::{Why, advice, suggesting};
use crate::solve::type_size::PARTS;

/// Hint at a function in the place of its result.
pub(crate) const FORGOTTEN_ARGUMENT: &str = "this is a function; did you forget an argument?";

/// Details of a mismatch beside the two types.
#[derive(Default)]
pub(crate) struct Details {
    pub hint: Option<Hint>,
}

const MISMATCH: &str = "E0201";

/// Whether the problem is a type other than the expected one.
pub(crate) fn is_mismatch(problem: &Problem) -> bool {
    problem.code == MISMATCH
}

pub(crate) fn mismatch(
    span: Span,
    expected: &str,
    found: &str,
    why: &Why,
    details: Details,
) -> Problem {
    let title = format!("expected `{expected}`, found `{found}`");
    let label = format!("this is `{found}`, but {} is `{expected}`", why.reason());
    let mut problem = Problem::error(MISMATCH, title, span, label);
    if let Some((place, text)) = why.place().filter(|(place, _)| *place != span) {
        problem = problem.label(place, text);
    }
    match details.hint {
        Some(hint) => problem.advice(hint.text, hint.fix),
        None => problem,
    }
}

/// The two or three arguments of a library function would fit in another order.
pub(crate) fn reordered(name: &str, span: Span, better: &str, fix: Fix) -> Problem {
    let title = format!("the arguments of `{name}` are in another order");
    Problem::error("E0220", title, span, "they do not fit as they are")
        .fix(format!("write `{better}`"), fix.probable())
}

/// `index`: the indexed array as text, if the argument looks like an index; `number`: whether a
/// number is applied.
pub(crate) fn not_a_function(
    span: Span,
    found: &str,
    argument: Span,
    index: Option<String>,
    number: bool,
) -> Problem {
    let problem = Problem::error(
        "E0202",
        "this is applied, but is not a function",
        span,
        format!("of type `{found}`"),
    )
    .label(argument, "the argument");
    match index {
        Some(index) => problem.fix(
            format!("an index touches its array: `{index}`"),
            Fix::remove(span.between(argument)),
        ),
        None if number => problem.fix(
            "a product is written with `*`",
            Fix::replace(span.between(argument), " * ").probable(),
        ),
        None => problem,
    }
}

pub(crate) fn too_many_arguments(
    what: &str,
    takes: usize,
    span: Span,
    extra: Span,
    hint: Option<String>,
) -> Problem {
    let s = if takes == 1 { "" } else { "s" };
    let problem = Problem::error(
        "E0203",
        format!("{what} takes {takes} argument{s}"),
        extra,
        "one argument too many",
    )
    .label(span, "applied here");
    match hint {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

/// Hint for a reduction that gets an axis as an argument.
pub(crate) fn along_rows(name: &str) -> String {
    format!("`{name}` goes along the first axis; `map {name} m` gives that of each row")
}

/// Hint for a function that gets one array more than it takes.
pub(crate) fn more_arrays(name: &str) -> Option<&'static str> {
    Some(match name {
        "zip" => "`zip` takes four arrays at most; more are written `for i < n => (a[i], b[i], …)`",
        "zip3" => "`zip4 xs ys zs ws` holds quadruples",
        "map" => "`map2 f xs ys` goes through two arrays, `map3 f xs ys zs` through three",
        "map2" => "`map3 f xs ys zs` goes through three arrays",
        _ => return None,
    })
}

/// Hint for an argument of a library function that other languages write otherwise.
pub(crate) fn argument_meant(why: &Why) -> Option<String> {
    let Why::Argument(of, place) = why else { return None };
    let name = of.trim_matches('`');
    Some(match name {
        "bit_and" => "“and” of truth values is written `&&`".to_string(),
        _ if *place != 1 => return None,
        "any" | "all" | "count" => {
            format!("a function comes first: `{name} p xs`; of truth values, `{name} id xs`")
        }
        _ => return None,
    })
}

/// Hint for an array in the text of a check.
pub(crate) const SHOWN_NUMBERS: &str =
    "a text shows numbers and truth values, such as `{length xs}`, `{sum xs}` or `{xs[0]}`";

/// Hint for a tuple in the place of an array of as many elements, or the reverse.
pub(crate) const TUPLE_OR_ARRAY: &str = "`(a, b)` is a tuple and takes one apart; an array is `[a, b]`, and `let [a, b] = xs` takes it apart";

/// Label of `sum (for i < n, j < m => e)` in problems about an axis too many.
pub(crate) const SUM_OF_ROWS: &str = "this `sum` adds rows: it is an array";

/// Hint for such a sum.
pub(crate) const TOTAL: &str =
    "the sum over all indices is written `sum (flatten (for i < n, j < m => e))`";

/// Hint for an index of a tuple; `brackets`: the place of the index.
pub(crate) fn component(tuple: &str, index: i64, brackets: Span) -> Hint {
    let text = format!("a component of a tuple is written `{tuple}.{index}`");
    advice(text, Fix::replace(brackets, format!(".{index}")))
}

/// Hint for a record with missing or superfluous fields.
pub(crate) fn other_fields(missing: &[&str], extra: &[&str]) -> Option<String> {
    match (missing, extra) {
        ([], []) => None,
        (missing, []) => Some(format!("{} missing", are(missing))),
        ([], extra) => Some(format!("{} too many", are(extra))),
        (missing, extra) => Some(format!("{} missing, and {} too many", are(missing), are(extra))),
    }
}

/// `a` is, `a` and `b` are
fn are(names: &[&str]) -> String {
    format!("{} {}", quoted(names), if names.len() == 1 { "is" } else { "are" })
}

/// Hint for a value together with a value that may be missing, of the type `option`.
pub(crate) fn perhaps_missing(expected: &str, found: &str, span: Span, why: &Why) -> Option<Hint> {
    let option = |ty: &str| ty.starts_with("option ");
    let value = match why {
        Why::Branch(other) if option(found) && !option(expected) => *other,
        _ if option(expected) && !option(found) && !found.contains("->") => span,
        _ if option(found) && !option(expected) && !expected.contains("->") => {
            let text = "`with_default d o` is the value of an option, or `d` if it is missing";
            let (before, behind) = match why {
                Why::Argument(..) | Why::Operand(_) => ("(with_default … (", "))"),
                _ => ("with_default … (", ")"),
            };
            return Some(advice(text, Fix::around(span, before, behind).with_holes()));
        }
        _ => return None,
    };
    let text = "a value that may be missing is `Some x`, where it is there, or `None`";
    Some(advice(text, Fix::around(value, "Some (", ")").probable()))
}

/// Hint for the sum of a matrix in the place of a number.
pub(crate) fn reduced_twice(name: &str, span: Span) -> Hint {
    let text = format!(
        "`{name}` of a matrix goes along its columns; for all elements, take the `{name}` of that again"
    );
    advice(text, Fix::around(span, &format!("{name} ("), ")").probable())
}

/// Hint for a quotient in the place of an int; `operator`: the `/` with the spaces around it.
pub(crate) fn floor_division(operator: Span) -> Hint {
    let text = "`/` divides reals; the quotient of ints, rounded down, is written `//`";
    advice(text, Fix::replace(operator, " // ").probable())
}

/// Hint for an int in the place of a real.
pub(crate) const REAL_OF_INT: &str = "`real n` converts an int to a real";

/// Hint for a product or a quotient of two vectors.
pub(crate) const VECTOR_BY_SCALAR: &str =
    "a tuple or a record is multiplied and divided by scalars only";

/// Hint for a real in the place of an int.
pub(crate) const INT_OF_REAL: &str =
    "`int x` truncates a real to an int; `//` is the floor division of ints";

/// Hint for a library function in the place of a field: `xs.sum`. `better`: the application.
pub(crate) fn function_first(name: &str, better: Option<Fix>) -> Hint {
    let call = better.as_ref().and_then(|fix| fix.edits.first());
    let call = call.map_or_else(|| format!("{name} xs"), |edit| edit.text.clone());
    let call = call.trim_start_matches('(').trim_end_matches(')');
    Hint { text: format!("`{name}` is a function, and comes first: `{call}`"), fix: better }
}

/// `meant`: what a field probably means that no record has.
pub(crate) fn annotation_needed(
    what: &str,
    example: &str,
    span: Span,
    meant: Option<Hint>,
) -> Problem {
    let problem = Problem::error(
        "E0204",
        format!("cannot access {what}: the type of this expression is not known yet"),
        span,
        "its type is not known here",
    );
    match meant {
        Some(Hint { text, fix }) => problem.advice(text, fix),
        None => problem.hint(format!("give the parameter a type, such as `{example}`")),
    }
}

pub(crate) fn mixed(operator: &str, span: Span) -> Problem {
    Problem::error(
        "E0205",
        format!("{operator} of an `int` and a `real`"),
        span,
        "the operands must be of one type",
    )
    .hint("a λ converts an argument, as in `\\n x -> f n x`")
}

pub(crate) fn compared_functions(operator: &str, found: &str, span: Span) -> Problem {
    Problem::error(
        "E0221",
        format!("{operator} of functions"),
        span,
        format!("`{found}` is a function, and functions are not compared"),
    )
    .hint("compare what they give for the same arguments")
}

/// `rows`: the operation with each row of the matrix.
/// `rows`: the operation of each row with the vector; `product`: the product of a matrix and a
/// vector, which `*` may mean.
pub(crate) fn ranks(
    operator: &str,
    span: Span,
    a: &str,
    b: &str,
    (rows, product): (Option<String>, Option<String>),
) -> Problem {
    let problem = Problem::error(
        "E0206",
        format!("{operator} of `{a}` and `{b}`: the ranks differ"),
        span,
        "only a scalar is combined with every element of an array",
    );
    if let (Some(rows), Some(product)) = (&rows, product) {
        return problem
            .hint(format!("the product of a matrix and a vector is `{product}`"))
            .hint(format!("a product for each row is `{rows}`"));
    }
    problem.advice(
        "say what is meant with a `for`, such as `for row in m => row + v`",
        rows.map(|rows| Fix::replace(span, rows).probable()),
    )
}

pub(crate) fn too_general(variable: &str, span: Span, known: &str, why: Option<&Why>) -> Problem {
    let place = why.and_then(Why::place);
    let problem = Problem::error(
        "E0207",
        format!("the signature says any type `{variable}`, but this needs `{known}`"),
        span,
        format!("`{variable}` is not any type here"),
    );
    let problem = match place {
        Some((place, text)) => problem.label(place, text),
        None => problem,
    };
    problem.hint(format!("write `{known}` in the signature, or leave the type out"))
}

pub(crate) fn infinite(span: Span, expected: &str, found: &str) -> Problem {
    Problem::error(
        "E0208",
        "this would have a type that contains itself",
        span,
        format!("`{found}` would have to be the same as `{expected}`"),
    )
}

/// `elements`: the array, and the comparison of its element `x`.
pub(crate) fn compared_arrays(
    operator: &str,
    found: &str,
    span: Span,
    elements: Option<[String; 2]>,
) -> Problem {
    let [xs, test] = elements.unwrap_or_else(|| ["xs".into(), format!("x {operator} 0")]);
    not_data(&format!("`{operator}`"), "numbers", found, span).hint(format!(
        "of each element: `for x in {xs} => {test}`, as a choice `for x in {xs} => if {test} then … else …`; of all: `all (\\x -> {test}) {xs}`"
    ))
}

pub(crate) fn not_data(operator: &str, wanted: &str, found: &str, span: Span) -> Problem {
    Problem::error("E0209", format!("{operator} works on {wanted}, not on `{found}`"), span, "")
}

/// `f -1.0` as written, and the probable intention.
/// `rest`: all that follows the function.
pub(crate) fn negative_argument(
    found: &str,
    span: Span,
    f: &str,
    number: &str,
    rest: Span,
) -> Problem {
    Problem::error(
        "E0216",
        format!("`-` works on numbers and arrays of them, not on `{found}`"),
        span,
        "a function",
    )
    .fix(
        format!(
            "`{f} -{number}` is a subtraction; a negative argument is written `{f} (-{number})`"
        ),
        Fix::replace(rest, format!(" (-{number})")),
    )
}

pub(crate) fn no_field(name: &str, record: &str, span: Span, near: Option<String>) -> Problem {
    suggesting(Problem::error("E0210", format!("no field `{name}` in `{record}`"), span, ""), near)
}

pub(crate) fn not_a_record(name: &str, found: &str, span: Span, hint: Option<Hint>) -> Problem {
    let problem = Problem::error(
        "E0218",
        format!("the field `{name}` of something that is no record"),
        span,
        format!("of type `{found}`"),
    );
    match hint {
        Some(hint) => problem.advice(hint.text, hint.fix),
        None => problem,
    }
}

/// `comparison`: both operands.
pub(crate) fn not_before_comparison(
    operator: &str,
    span: Span,
    operand: &str,
    found: &str,
    comparison: Span,
) -> Problem {
    Problem::error(
        "E0217",
        format!("`not` works on a `bool`, not on `{found}`"),
        span,
        "`not` takes only what directly follows it",
    )
    .fix(
        format!("the opposite of a comparison is written `not ({operand} {operator} …)`"),
        Fix::parentheses(comparison),
    )
}

pub(crate) fn no_component(index: usize, tuple: &str, span: Span) -> Problem {
    Problem::error("E0211", format!("no component {index} in `{tuple}`"), span, "")
        .hint("components are counted from 0")
}

/// A constructor without its arguments in the place of a name.
pub(crate) fn constructor_as_name(name: &str, wanted: usize, span: Span) -> Problem {
    let small = name.to_lowercase();
    constructor_arity(name, wanted, 0, span).hint(format!(
        "`{name}` is a constructor in this program, so a parameter or a variable needs another name, such as `{small}_`"
    ))
}

pub(crate) fn constructor_arity(name: &str, wanted: usize, found: usize, span: Span) -> Problem {
    let s = if wanted == 1 { "" } else { "s" };
    Problem::error(
        "E0212",
        format!("the constructor `{name}` takes {wanted} argument{s}, not {found}"),
        span,
        "",
    )
}

pub(crate) fn not_units(found: &str, span: Span) -> Problem {
    Problem::error(
        "E0213",
        "the value before `;` is thrown away",
        span,
        format!("of type `{found}`, not `()`"),
    )
    .hint("name it with `let` if it is needed")
}

/// `operator`: the `@` with the spaces around it, if an operand is a scalar.
pub(crate) fn not_a_matrix(found: &str, span: Span, operator: Option<Span>) -> Problem {
    Problem::error(
        "E0214",
        format!("`@` multiplies matrices and vectors of reals, not `{found}`"),
        span,
        "",
    )
    .advice(
        "scalars are multiplied with `*`",
        operator.map(|operator| Fix::replace(operator, " * ").probable()),
    )
}

/// No shapes of a definition's parameters satisfy all of its operators; `places` are these
/// operators.
pub(crate) fn no_types_fit(name: &str, span: Span, places: &[(Rc<str>, Span)]) -> Problem {
    let title = format!("no types of its parameters fit all that `{name}` does");
    let mut problem = Problem::error("E0290", title, span, "cannot be used with any arguments");
    for (what, place) in places.iter().take(MOST_PLACES) {
        problem = problem.label(*place, format!("{what} asks for certain shapes"));
    }
    problem.hint("write the types of the parameters: then the operator that does not fit is named")
}

/// Limit on the operators that a message points to.
const MOST_PLACES: usize = 3;

pub(crate) fn too_large_type(span: Span) -> Problem {
    Problem::error(
        "E0215",
        format!("a type with more than {PARTS} parts"),
        span,
        "the type of this is too large",
    )
    .hint(
        "a tuple that contains a value twice has a type that is twice as large; an array does not",
    )
}

/// Hint for `f (a, b)`, where the function takes its arguments one by one.
pub(crate) fn one_by_one(name: &str, arguments: &str) -> String {
    format!("arguments follow each other, without parentheses and commas: `{name} {arguments}`")
}
