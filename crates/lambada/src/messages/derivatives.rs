//! Derivatives of a definition.

use std::rc::Rc;

use lambada_source::{Problem, quoted};

use super::near_or;

pub fn no_such_parameter(definition: &str, name: &str, known: &[&str]) -> Problem {
    let title = match name {
        "" => "a parameter to differentiate with respect to has no name".to_string(),
        name => {
            format!("`{definition}` has no parameter `{name}` to differentiate with respect to")
        }
    };
    let problem = Problem::general("E0510", title);
    near_or(problem, name, known, || format!("its parameters are {}", quoted(known)))
}

pub fn overlapping(first: &str, second: &str) -> Problem {
    Problem::general("E0563", format!("`{first}` and `{second}` are part of each other"))
        .hint("differentiate with respect to one of them at a time")
}

pub fn not_differentiable(definition: &str, name: &str, others: &[&str]) -> Problem {
    let problem = Problem::general(
        "E0511",
        format!(
            "the parameter `{name}` of `{definition}` holds no real numbers, so there is no derivative with respect to it"
        ),
    );
    match others {
        [] => problem.hint("no parameter does"),
        [other] => problem.hint(format!("`{other}` holds reals")),
        _ => problem.hint(format!("{} hold reals", quoted(others))),
    }
}

/// A tangent of a parameter that has none.
pub fn tangent_of_constant(definition: &str, name: &str, origin: &str) -> Problem {
    let title = format!(
        "the parameter `{name}` of `{definition}` holds no real numbers, so it has no tangent, but {origin} gives one"
    );
    Problem::general("E0525", title).hint("leave it out: only reals have derivatives")
}

/// A tangent of a parameter that `--wrt` leaves out.
pub fn tangent_of_fixed(definition: &str, name: &str, origin: &str) -> Problem {
    let title = format!(
        "{origin} gives a tangent of `{name}`, but `{definition}` is not differentiated with respect to it"
    );
    Problem::general("E0526", title).hint(format!("add `{name}` to --wrt, or leave --wrt out"))
}

pub fn nothing_real(definition: &str) -> Problem {
    Problem::general(
        "E0512",
        format!(
            "no parameter of `{definition}` holds real numbers, so there is nothing to differentiate"
        ),
    )
}

pub fn takes_a_function(definition: &str, name: &str) -> Problem {
    Problem::general("E0513", format!("`{definition}` cannot be differentiated here: its parameter `{name}` is or contains a function"))
        .hint("write a definition that calls it with a particular function, and differentiate that")
}

pub fn gives_a_function(definition: &str) -> Problem {
    Problem::general("E0514", format!("`{definition}` cannot be differentiated here: its result is or contains a function"))
        .hint("derivatives are defined for first-order results; write a definition that applies the function")
}

pub fn not_a_scalar(definition: &str) -> Problem {
    Problem::general("E0515", format!("`{definition}` has no gradient: its result is not a real"))
        .hint("`jvp` and `vjp` differentiate functions with any first-order result")
}

pub fn no_jacobian(definition: &str) -> Problem {
    Problem::general(
        "E0473",
        format!(
            "`{definition}` has no Jacobian: its result is neither a real nor an array of reals"
        ),
    )
    .hint("`jvp` and `vjp` differentiate functions with any first-order result")
}

pub fn no_hessian(definition: &str) -> Problem {
    Problem::general("E0474", format!("`{definition}` has no Hessian: its result is not a real"))
        .hint("`jacobian` differentiates functions whose results are arrays of reals")
}

pub fn no_hessian_by(definition: &str, name: &str) -> Problem {
    Problem::general("E0475", format!("the Hessian of `{definition}` is by reals and arrays of reals, which the parameter `{name}` is not"))
        .hint("leave it out with --wrt, or write a definition that takes its parts as parameters")
}

pub fn no_sparse_jacobian(definition: &str) -> Problem {
    Problem::general("E0477", format!("`{definition}` has no sparse Jacobian: its result is not a vector of reals"))
        .hint("`flatten` makes a vector of a matrix; without --sparse the result may have any number of axes")
}

pub fn not_by_a_vector(definition: &str) -> Problem {
    Problem::general("E0476", format!("a sparse matrix of derivatives of `{definition}` is by one parameter, a vector of reals"))
        .hint("choose it with --wrt, or write a definition that takes its parts from one vector")
}

pub fn no_tangent(definition: &str, names: &[Rc<str>]) -> Problem {
    let example = names.first().map_or("x", |n| n);
    let names: Vec<&str> = names.iter().map(|n| &**n).collect();
    Problem::general(
        "E0618",
        format!(
            "the forward derivative of `{definition}` needs a tangent for at least one of {}",
            quoted(&names)
        ),
    )
    .hint(format!("give it as --tangent {example}=…, or as a file with --tangents-data"))
}

pub fn no_cotangent(definition: &str, ty: &str) -> Problem {
    Problem::general("E0619", format!("the reverse derivative of `{definition}` needs a cotangent of the type of its result, `{ty}`"))
        .hint("give it as --cotangent '…' in JSON, or as a file with --cotangent-data")
}

pub fn two_of_a_name(name: &str) -> Problem {
    Problem::general("E0120", format!("the derivative needs types of two files that both define `{name}`, and source is one file"))
        .hint("give one of them another name")
}
