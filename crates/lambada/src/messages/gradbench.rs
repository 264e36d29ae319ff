//! The tool of the benchmark suite.

use std::path::Path;

use lambada_source::{Problem, quoted};

use super::near_or;

pub fn no_programs(folder: &Path) -> Problem {
    Problem::general("E0460", format!("there is no folder `{}` of benchmarks", folder.display()))
        .hint("name the folder that holds `gmm.lam` and the others: in the repository it is `examples/gradbench`")
}

/// A line without a valid message, and therefore without an id to answer to.
pub fn no_message(error: &serde_json::Error) -> Problem {
    Problem::general("E0461", format!("a line on standard input is no message of the suite: {error}"))
        .hint(r#"a message is an object in one line, such as {"id": 1, "kind": "define", "module": "gmm"}"#)
}

pub fn no_such_eval(name: &str, known: &[&str]) -> Problem {
    let problem = Problem::general("E0462", format!("the suite has no eval `{name}`"));
    near_or(problem, name, known, || format!("the evals are {}", quoted(known)))
}

pub fn no_such_function(eval: &str, name: &str, known: &[&str]) -> Problem {
    let problem = Problem::general("E0463", format!("the eval `{eval}` has no function `{name}`"));
    near_or(problem, name, known, || format!("its functions are {}", quoted(known)))
}

/// `evaluate` before a successful `define`.
pub fn not_defined(eval: &str) -> Problem {
    Problem::general("E0464", format!("the eval `{eval}` has not been defined"))
        .hint(r#"send {"id": …, "kind": "define", "module": …} first"#)
}

pub fn wrong_input(function: &str, error: &serde_json::Error) -> Problem {
    Problem::general("E0465", format!("the input of `{function}` cannot be used: {error}"))
}

pub fn not_prepared(function: &str, parameter: &str) -> Problem {
    Problem::general("E0466", format!("`prepare` gives no `{parameter}`, which `{function}` takes"))
        .hint("the result of `prepare` is a record with a field for each parameter")
}
