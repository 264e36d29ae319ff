//! Definitions as posteriors.

use std::rc::Rc;

use lambada_source::{Failure, Problem, Span, quoted};

/// No definition, or several, that could be the log density.
pub fn which(found: &[String]) -> Problem {
    let names: Vec<&str> = found.iter().map(String::as_str).collect();
    let (title, hint) = match found {
        [] => (
            String::from(
                "no definition of the file is a log density: a function whose result is a real",
            ),
            String::from("a model is a definition `def model (mu : real) (y : []real) : real = …`"),
        ),
        [first, ..] => (
            format!("several definitions could be the log density: {}", quoted(&names)),
            format!("name one after the file: `{first}`"),
        ),
    };
    Problem::general("E0900", title).hint(hint)
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
    let plain = !size.is_empty() && size.chars().all(|c| c.is_alphanumeric() || c == '_');
    let problem = problem.hint("sizes come from data: `--data FILE`, or `NAME=VALUE`");
    if plain {
        problem.hint(format!("without data of that size, give it: `--size {size}=8`"))
    } else {
        problem
    }
}

/// A size that data have, given otherwise.
pub fn size_of_data(name: &str, given: usize, found: usize) -> Problem {
    Problem::general(
        "E0905",
        format!("`--size {name}={given}`, but `{name}` is {found} in the data"),
    )
}

/// Values outside of their spaces.
pub fn start_outside(definition: &str) -> Problem {
    Problem::general(
        "E0906",
        format!(
            "the values to begin at do not lie in the spaces of the parameters of `{definition}`"
        ),
    )
    .hint("a positive parameter begins above 0, a simplex with positive parts whose sum is 1")
}

/// `predict` without a definition.
pub fn which_prediction() -> Problem {
    Problem::general("E0907", "no definition is named for the draws".to_string())
        .hint("`lambada predict FILE ENTRY --draws FILE`: the definition runs once for each draw")
}

/// A parameter that neither data nor draws have.
pub fn nowhere(definition: &str, name: &str, ty: &str) -> Problem {
    Problem::general(
        "E0908",
        format!("neither the data nor the draws have the parameter `{name} : {ty}` of `{definition}`"),
    )
    .hint("names of draws are those of the parameters of the model; a parameter of the type `random.key` needs neither")
}

/// Draws of another shape.
pub fn other_draws(name: &str, ty: &str, drawn: &[String]) -> Problem {
    Problem::general(
        "E0909",
        format!("the parameter `{name} : {ty}` does not fit the draws of {}", drawn.join(", ")),
    )
}

/// A result that is not made of numbers.
pub fn no_prediction(definition: &str, ty: &str) -> Problem {
    Problem::general(
        "E0910",
        format!("the result of `{definition}` is {ty}; a quantity of a draw is made of numbers"),
    )
}

/// A failure in the first stage, which depends only on the data.
pub fn failed_before(failure: &Failure) -> Problem {
    Problem::error(
        "E0911",
        "the model fails on these data".to_string(),
        failure.span,
        failure.message.clone(),
    )
}

/// A log density that is not finite where chains could begin.
pub fn infinite_term(definition: &str, value: f64, term: Span) -> Problem {
    let value = if value.is_nan() { "not a number".into() } else { value.to_string() };
    Problem::error(
        "E0912",
        format!("the log density of `{definition}` is not finite at 100 random points"),
        term,
        format!("this is {value} at the last of them"),
    )
    .hint("a parameter that must be positive, or lie between bounds, has a type of `std/space`; `--init FILE` begins elsewhere")
}
