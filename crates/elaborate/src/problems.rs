//! What is said of each mistake. One short function each: code, title, labels, hints.

use std::rc::Rc;

use lambada_source::{Problem, Span};

use crate::solve::weight::PARTS;

/// Why a type is expected.
#[derive(Clone, Debug)]
pub(crate) enum Why {
    /// An argument of this function, counted from 1.
    Argument(Rc<str>, usize),
    /// A type was written there.
    Annotation(Span),
    /// The result type of a definition was written there.
    Result(Span),
    /// The other branch of an `if` or `match` is there.
    Branch(Span),
    /// A condition.
    Condition,
    /// How often, or how long.
    Bound,
    /// An index.
    Index,
    /// The first element of an array literal is there.
    Element(Span),
    /// The initial state of a loop is there.
    State(Span),
    /// An operand of this operator.
    Operand(&'static str),
    /// The new value of an element or slice of an array that is there.
    Update(Span),
    /// What is added to an accumulator.
    Addition(Rc<str>),
    /// A pattern for a value that is there.
    Pattern(Span),
    /// What a `for … in` or `loop … in` goes over.
    Array,
    /// Something of this form.
    Form(&'static str),
}

impl Why {
    /// As part of a sentence about the expected type.
    fn reason(&self) -> String {
        match self {
            Why::Argument(of, k) => format!("{} argument of {of}", ordinal(*k)),
            Why::Annotation(_) => "the type that is written".to_string(),
            Why::Result(_) => "the declared result".to_string(),
            Why::Branch(_) => "the type of the other branch".to_string(),
            Why::Condition => "a condition".to_string(),
            Why::Bound => "a size".to_string(),
            Why::Index => "an index".to_string(),
            Why::Element(_) => "the type of the first element".to_string(),
            Why::State(_) => "the type of the loop's first state".to_string(),
            Why::Operand(op) => format!("an operand of `{op}`"),
            Why::Update(_) => "the type of what it replaces".to_string(),
            Why::Addition(name) => format!("the type of what `{name}` accumulates"),
            Why::Pattern(_) => "the type of the value that is matched".to_string(),
            Why::Array => "an array to go over".to_string(),
            Why::Form(form) => (*form).to_string(),
        }
    }

    fn place(&self) -> Option<(Span, &'static str)> {
        match self {
            Why::Annotation(span) => Some((*span, "written here")),
            Why::Result(span) => Some((*span, "declared here")),
            Why::Branch(span) => Some((*span, "the other branch")),
            Why::Element(span) => Some((*span, "the first element")),
            Why::State(span) => Some((*span, "the first state")),
            Why::Update(span) => Some((*span, "the array")),
            Why::Pattern(span) => Some((*span, "the value")),
            Why::Argument(..)
            | Why::Condition
            | Why::Bound
            | Why::Index
            | Why::Operand(_)
            | Why::Addition(_)
            | Why::Array
            | Why::Form(_) => None,
        }
    }
}

fn ordinal(k: usize) -> String {
    match k {
        1 => "the first".to_string(),
        2 => "the second".to_string(),
        3 => "the third".to_string(),
        _ => format!("the {k}th"),
    }
}

/// With "did you mean".
fn suggesting(problem: Problem, near: Option<String>) -> Problem {
    match near {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem,
    }
}

// ---- names

pub(crate) fn unknown_name(name: &str, span: Span, near: Option<String>) -> Problem {
    suggesting(Problem::error("E0101", format!("unknown name `{name}`"), span, "not defined"), near)
}

pub(crate) fn unknown_member(
    module: &str,
    name: &str,
    span: Span,
    near: Option<String>,
) -> Problem {
    suggesting(
        Problem::error(
            "E0101",
            format!("`{module}` does not define `{name}`"),
            span,
            "not defined there",
        ),
        near,
    )
}

pub(crate) fn duplicate_definition(name: &str, span: Span, first: Span) -> Problem {
    Problem::error("E0102", format!("`{name}` is defined twice"), span, "defined again here")
        .label(first, "first defined here")
}

pub(crate) fn duplicate_variable(name: &str, span: Span, first: Span) -> Problem {
    Problem::error("E0103", format!("`{name}` is bound twice"), span, "bound again here")
        .label(first, "first bound here")
}

pub(crate) fn unknown_type(name: &str, span: Span, near: Option<String>) -> Problem {
    suggesting(
        Problem::error("E0104", format!("unknown type `{name}`"), span, "no such type"),
        near,
    )
}

pub(crate) fn unknown_constructor(name: &str, span: Span, near: Option<String>) -> Problem {
    suggesting(
        Problem::error("E0105", format!("unknown constructor `{name}`"), span, "no type has it"),
        near,
    )
}

pub(crate) fn duplicate_type(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0106",
        format!("the type `{name}` is defined twice"),
        span,
        "defined again here",
    )
}

pub(crate) fn duplicate_constructor(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0106",
        format!("the constructor `{name}` is defined twice"),
        span,
        "defined again here",
    )
    .hint("constructors of different types need different names")
}

pub(crate) fn duplicate_field(name: &str, span: Span) -> Problem {
    Problem::error("E0106", format!("the field `{name}` is given twice"), span, "given again here")
}

pub(crate) fn needs_rec(keyword: &str, name: &str, span: Span, cycle: &[Rc<str>]) -> Problem {
    let how = match cycle {
        [_, _, ..] => format!(
            "through {}",
            cycle.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
        ),
        _ => "in its own definition".to_string(),
    };
    Problem::error("E0107", format!("`{name}` calls itself, and is not marked `rec`"), span, how)
        .hint(format!("write `{keyword} rec {name}`"))
}

pub(crate) fn import_not_found(path: &str, span: Span) -> Problem {
    Problem::error(
        "E0108",
        format!("the import `{path}` was not found"),
        span,
        "no such file was given",
    )
}

pub(crate) fn cyclic_import(path: &str, span: Span) -> Problem {
    Problem::error(
        "E0108",
        format!("the import `{path}` imports this file again"),
        span,
        "imports go around in a circle",
    )
}

pub(crate) fn imports_of_one_name(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0108",
        format!("two imports are called `{name}`"),
        span,
        "another file of this name is imported",
    )
    .hint("an import is called by the name of its file, whatever its folder")
}

pub(crate) fn recursion_unsupported(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0109",
        "recursive definitions are not supported yet",
        span,
        format!("`{name}` calls itself here"),
    )
    .hint("a `loop` can do most of what recursion does")
}

pub(crate) fn recursive_type(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0110",
        "recursive types are not supported yet",
        span,
        format!("`{name}` contains itself"),
    )
}

pub(crate) fn custom_rule(span: Span) -> Problem {
    Problem::error("E0111", "derivatives of one's own are not supported yet", span, "this rule")
        .hint("without it, the derivative is found by the compiler")
}

pub(crate) fn accumulator_as_value(name: &str, span: Span) -> Problem {
    Problem::error("E0115", format!("the accumulator `{name}` is used as a value"), span, "an accumulator is a name, not a value").hint(
        format!("inside `accumulate`, only additions such as `{name}[i] += v` mention it; its final value is what `accumulate` gives"),
    )
}

pub(crate) fn not_an_accumulator(name: &str, span: Span, known: bool) -> Problem {
    let label = if known { "not bound by `accumulate`" } else { "not defined" };
    Problem::error("E0116", format!("`{name}` is not an accumulator"), span, label)
        .hint(format!("`+=` adds to the name that an enclosing `accumulate {name} = … in …` binds"))
}

pub(crate) fn type_arguments(name: &str, wanted: usize, found: usize, span: Span) -> Problem {
    let s = if wanted == 1 { "" } else { "s" };
    Problem::error(
        "E0117",
        format!("the type `{name}` takes {wanted} argument{s}, not {found}"),
        span,
        "",
    )
}

pub(crate) fn module_as_value(name: &str, span: Span) -> Problem {
    Problem::error("E0118", format!("`{name}` is an imported file, not a value"), span, "")
        .hint(format!("its definitions are called `{name}.…`"))
}

// ---- types

/// A function where something else is needed.
pub(crate) const FORGOTTEN_ARGUMENT: &str = "this is a function; did you forget an argument?";

/// What is known of a mismatch beside the two types.
#[derive(Default)]
pub(crate) struct Details {
    pub hint: Option<String>,
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
    let mut problem = Problem::error("E0201", title, span, label);
    if let Some((place, text)) = why.place().filter(|(place, _)| *place != span) {
        problem = problem.label(place, text);
    }
    match details.hint {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

pub(crate) fn not_a_function(span: Span, found: &str, argument: Span) -> Problem {
    Problem::error(
        "E0202",
        "this is applied, but is not a function",
        span,
        format!("of type `{found}`"),
    )
    .label(argument, "the argument")
}

pub(crate) fn too_many_arguments(what: &str, takes: usize, span: Span, extra: Span) -> Problem {
    let s = if takes == 1 { "" } else { "s" };
    Problem::error(
        "E0203",
        format!("{what} takes {takes} argument{s}"),
        extra,
        "one argument too many",
    )
    .label(span, "applied here")
}

pub(crate) fn annotation_needed(what: &str, example: &str, span: Span) -> Problem {
    Problem::error(
        "E0204",
        format!("the type of what {what} is taken of must be known"),
        span,
        "its type is not known here",
    )
    .hint(format!("give the parameter a type, such as `{example}`"))
}

pub(crate) fn mixed(
    operator: &str,
    span: Span,
    operands: Option<[(Span, &str); 2]>,
    int: Option<&str>,
) -> Problem {
    let problem = match operands {
        None => Problem::error(
            "E0205",
            format!("{operator} of an `int` and a `real`"),
            span,
            "the operands must be of one type",
        ),
        Some([(a, x), (b, y)]) => Problem::error(
            "E0205",
            format!("{operator} of an `int` and a `real`"),
            a,
            format!("`{x}`"),
        )
        .label(b, format!("`{y}`")),
    };
    problem.hint(format!("`real {}` converts an int to a real", int.unwrap_or("n")))
}

pub(crate) fn ranks(operator: &str, span: Span, a: &str, b: &str) -> Problem {
    Problem::error(
        "E0206",
        format!("{operator} of `{a}` and `{b}`: the ranks differ"),
        span,
        "only a scalar is combined with every element of an array",
    )
    .hint("say what is meant with a `for`, such as `for row in m => row + v`")
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

pub(crate) fn not_data(operator: &str, wanted: &str, found: &str, span: Span) -> Problem {
    Problem::error("E0209", format!("{operator} works on {wanted}, not on `{found}`"), span, "")
}

pub(crate) fn negative_argument(found: &str, span: Span, number: &str) -> Problem {
    Problem::error(
        "E0209",
        format!("`-` works on numbers and arrays of them, not on `{found}`"),
        span,
        "a function",
    )
    .hint(format!("`f -{number}` is a subtraction; a negative argument is written `f (-{number})`"))
}

pub(crate) fn no_field(name: &str, record: &str, span: Span, near: Option<String>) -> Problem {
    suggesting(Problem::error("E0210", format!("no field `{name}` in `{record}`"), span, ""), near)
}

pub(crate) fn not_a_record(name: &str, found: &str, span: Span) -> Problem {
    Problem::error(
        "E0210",
        format!("the field `{name}` of something that is no record"),
        span,
        format!("of type `{found}`"),
    )
}

pub(crate) fn scalar_point(found: &str, span: Span) -> Problem {
    Problem::error(
        "E0201",
        "`hessian` differentiates functions of an array",
        span,
        format!("this point is `{found}`"),
    )
    .hint("the second derivative of a function of one real is `grad (\\x -> grad f x) x`")
}

pub(crate) fn not_before_comparison(
    operator: &str,
    span: Span,
    operand: &str,
    found: &str,
) -> Problem {
    Problem::error(
        "E0209",
        format!("`not` works on a `bool`, not on `{found}`"),
        span,
        "`not` takes only what directly follows it",
    )
    .hint(format!("the opposite of a comparison is written `not ({operand} {operator} …)`"))
}

pub(crate) fn no_component(index: usize, tuple: &str, span: Span) -> Problem {
    Problem::error("E0211", format!("no component {index} in `{tuple}`"), span, "")
        .hint("components are counted from 0")
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

pub(crate) fn not_a_matrix(found: &str, span: Span) -> Problem {
    Problem::error(
        "E0214",
        format!("`@` multiplies matrices and vectors of reals, not `{found}`"),
        span,
        "",
    )
    .hint("scalars are multiplied with `*`")
}

pub(crate) fn two_vectors(span: Span) -> Problem {
    Problem::error("E0214", "`@` of two vectors", span, "one side must be a matrix")
        .hint("`dot x y` is the inner product, `outer x y` the outer one")
}

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

// ---- sizes

pub(crate) fn clashing_sizes(a: &str, b: &str, span: Span, why: Option<&Why>) -> Problem {
    let problem = Problem::error(
        "E0301",
        format!("this needs `{a}` and `{b}` to be the same size"),
        span,
        format!("the signature says that `{a}` and `{b}` are independent"),
    );
    let problem = match why.and_then(Why::place) {
        Some((place, text)) => problem.label(place, text),
        None => problem,
    };
    problem.hint(format!("use one name for both in the signature, such as `{a}`"))
}

pub(crate) fn different_sizes(a: &str, b: &str, span: Span, why: Option<&Why>) -> Problem {
    let label = match why {
        Some(why) => format!("{} has size {a}, this has size {b}", why.reason()),
        None => format!("{a} and {b} are never equal"),
    };
    let problem = Problem::error("E0302", format!("sizes differ: {a} and {b}"), span, label);
    match why.and_then(Why::place) {
        Some((place, text)) => problem.label(place, text),
        None => problem,
    }
}

pub(crate) fn undetermined_size(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0303",
        format!("no parameter determines the size `{name}`"),
        span,
        "not the size of an array by itself",
    )
    .hint(format!(
        "a parameter of type `[{name}]…` determines it, and so does an `int` parameter `{name}`"
    ))
}

pub(crate) fn unknown_size(name: &str, span: Span, near: Option<String>) -> Problem {
    suggesting(
        Problem::error(
            "E0304",
            format!("unknown size `{name}`"),
            span,
            "neither a size of the signature nor an `int`",
        ),
        near,
    )
}

pub(crate) fn index_out_of_range(index: &str, size: &str, span: Span) -> Problem {
    Problem::error(
        "E0305",
        format!("index {index} is out of range for size {size}"),
        span,
        "indices go from 0 to the size less 1",
    )
}

pub(crate) fn slice_out_of_range(from: &str, to: &str, size: &str, span: Span) -> Problem {
    Problem::error(
        "E0306",
        format!("slice {from}:{to} is out of range for size {size}"),
        span,
        "a slice goes from 0 to the size at most, and not backwards",
    )
}

pub(crate) fn too_many_indices(rank: usize, found: usize, span: Span, ty: &str) -> Problem {
    let s = if rank == 1 { "index" } else { "indices" };
    Problem::error("E0307", format!("`{ty}` takes {rank} {s}, not {found}"), span, "")
}

// ---- patterns

pub(crate) fn missing_case(witness: &str, span: Span) -> Problem {
    Problem::error(
        "E0401",
        "this match does not cover everything",
        span,
        format!("nothing matches `{witness}`"),
    )
    .hint(format!("add an arm such as `| {witness} -> …`"))
}

pub(crate) fn unreachable_arm(span: Span) -> Problem {
    Problem::error(
        "E0402",
        "this arm is never reached",
        span,
        "the arms above cover all that it matches",
    )
}

pub(crate) fn refutable(witness: &str, span: Span) -> Problem {
    Problem::error(
        "E0403",
        "this pattern does not match everything",
        span,
        format!("`{witness}` does not match"),
    )
    .hint("patterns that may fail are for `match`")
}

// ---- derivatives

pub(crate) fn holds_function(operator: &str, found: &str, span: Span) -> Problem {
    Problem::error(
        "E0501",
        format!("{operator} of a function whose argument or result contains a function"),
        span,
        format!("`{found}` is a function"),
    )
    .hint("derivatives are defined, and proved right, for functions between first-order types; the function may use any others inside")
}

pub(crate) fn not_real_result(operator: &str, found: &str, span: Span) -> Problem {
    Problem::error(
        "E0502",
        format!("`{operator}` differentiates functions that return a real"),
        span,
        format!("this one returns `{found}`"),
    )
    .hint("`vjp` and `jacobian` take functions with other results")
}

/// For a gradient at a point that the function maps elementwise.
pub(crate) const SCALAR_RESULT: &str = "the function must return one real, such as the `sum` of its elements; `vjp` and `jacobian` take functions with other results";

pub(crate) fn accumulate_function(found: &str, span: Span) -> Problem {
    Problem::error(
        "E0503",
        "the value of an `accumulate` contains a function",
        span,
        format!("`{found}` is a function"),
    )
    .hint("it could add to the accumulator after that has its final value")
}

pub(crate) fn not_reals(found: &str, span: Span) -> Problem {
    Problem::error(
        "E0504",
        format!("`jacobian` of a function that returns `{found}`"),
        span,
        "it must return a real or an array of reals",
    )
}

pub(crate) fn incomplete() -> Problem {
    Problem::general("E0119", "parts of the program could not be read, so it has no meaning")
}

pub(crate) fn unknown_entry(name: &str, near: Option<String>) -> Problem {
    suggesting(Problem::general("E0114", format!("the file has no definition `{name}`")), near)
}
