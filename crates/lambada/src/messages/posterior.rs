//! Definitions as posteriors.

use std::rc::Rc;

use lambada_source::{Failure, Problem, Span, quoted};

use crate::Variable;

/// No definition, or several, that could be the log density.
pub fn which(found: &[String]) -> Problem {
    let names: Vec<&str> = found.iter().map(String::as_str).collect();
    match found {
        [] => Problem::general(
            "E0900",
            "no definition of the file is a log density: a function whose result is a real",
        )
        .hint("a model is a definition `def model (mu : real) (y : []real) : real = …`"),
        _ => Problem::general(
            "E0900",
            format!("several definitions could be the log density: {}", quoted(&names)),
        )
        .hint(format!("name one after the file: `{}`", names[0])),
    }
}

/// A definition with another result.
pub fn no_density(definition: &str, result: &str) -> Problem {
    Problem::general(
        "E0901",
        format!("`{definition}` is no log density: its result is {result}, not a real"),
    )
    .hint("the log density is the sum of the logarithms of all its factors: `sum` makes a real of an array")
}

/// Data for all parameters.
pub fn nothing_unknown(definition: &str) -> Problem {
    Problem::general(
        "E0902",
        format!("the data give all parameters of `{definition}`, so there is none to estimate"),
    )
    .hint("parameters that are to be estimated have no member of their name in the data")
}

/// A parameter that needs data.
pub fn no_data(definition: &str, name: &str, ty: &str) -> Problem {
    Problem::general(
        "E0903",
        format!("the parameter `{name} : {ty}` of `{definition}` has no data, and only reals can be estimated"),
    )
    .hint(format!("add `{name}` to the data: a member of the file, or `{name}=VALUE`"))
}

/// Parameters whose size no data have.
pub fn no_size(params: &[Rc<str>], size: &str) -> Problem {
    let names: Vec<&str> = params.iter().map(|name| &**name).collect();
    let parameters = if names.len() == 1 { "the parameter" } else { "the parameters" };
    let names = quoted(&names);
    let problem = Problem::general(
        "E0904",
        format!("the size `{size}` of {parameters} {names} is not known"),
    );
    let plain = size.chars().all(|c| c.is_alphanumeric() || c == '_');
    let problem = problem.hint("sizes come from data: `--data FILE`, or `NAME=VALUE`");
    if plain {
        problem.hint(format!("without data of that size, give it: `--size {size}=8`"))
    } else {
        problem
    }
}

/// A parameter of any size.
pub fn open_size(name: &str, ty: &str) -> Problem {
    Problem::general(
        "E0905",
        format!("the parameter `{name} : {ty}` may have any size, and has no data"),
    )
    .hint(format!("name the size: `def model [n] ({name} : [n]real)`, with `n` a size of data or of `--size n=8`"))
}

/// A size that data have, given otherwise.
pub fn size_of_data(name: &str, given: usize, found: usize) -> Problem {
    Problem::general(
        "E0906",
        format!("`--size {name}={given}`, but `{name}` is {found} in the data"),
    )
}

/// Values outside of their spaces.
pub fn start_outside(definition: &str) -> Problem {
    Problem::general(
        "E0907",
        format!(
            "the values to begin at do not lie in the spaces of the parameters of `{definition}`"
        ),
    )
    .hint("a positive parameter begins above 0, a simplex with positive parts whose sum is 1")
}

/// `predict` without a definition.
pub fn which_prediction() -> Problem {
    Problem::general("E0908", "no definition is named for the draws".to_string())
        .hint("`lambada predict FILE ENTRY --draws FILE`: the definition runs once for each draw")
}

/// A parameter that neither data nor draws have.
pub fn nowhere(definition: &str, name: &str, ty: &str) -> Problem {
    Problem::general(
        "E0909",
        format!("neither the data nor the draws have the parameter `{name} : {ty}` of `{definition}`"),
    )
    .hint("names of draws are those of the parameters of the model; a parameter of the type `random.key` needs neither")
}

/// Draws of another shape.
pub fn other_draws(name: &str, ty: &str, drawn: &[Variable]) -> Problem {
    let shown = |v: &Variable| {
        let dims: String = v.dims.iter().map(|size| format!("[{size}]")).collect();
        format!("`{} : {dims}real`", v.name)
    };
    let drawn: Vec<String> = drawn.iter().map(shown).collect();
    Problem::general(
        "E0910",
        format!("the parameter `{name} : {ty}` does not fit the draws of {}", drawn.join(", ")),
    )
}

/// A result that is not made of numbers.
pub fn no_prediction(definition: &str, ty: &str) -> Problem {
    Problem::general(
        "E0911",
        format!("the result of `{definition}` is {ty}; a quantity of a draw is made of numbers"),
    )
}

/// A failure of what depends only on the data.
pub fn failed_before(failure: &Failure) -> Problem {
    Problem::error(
        "E0912",
        "the model fails on these data".to_string(),
        failure.span,
        failure.message.clone(),
    )
}

/// A log density that is not finite where chains could begin.
pub fn infinite_term(definition: &str, value: f64, term: Span) -> Problem {
    let value = if value.is_nan() { "not a number".into() } else { value.to_string() };
    Problem::error(
        "E0913",
        format!("the log density of `{definition}` is not finite at 100 random points"),
        term,
        format!("this is {value} at the last of them"),
    )
    .hint("a parameter that must be positive, or lie between bounds, has a type of `std/space`; `--init FILE` begins elsewhere")
}
