//! Compiling and running.

use lambada_optimize::passes;
use lambada_run::CompileError;
use lambada_source::{Problem, quoted};

use super::near_or;

pub fn needs_a_function(definition: &str, param: &str) -> Problem {
    Problem::general("E0617", format!("`{definition}` cannot be run by itself: its parameter `{param}` is or contains a function"))
        .hint("write a definition that calls it with a particular function, and run that")
}

pub fn broken_program(complaint: &str) -> Problem {
    Problem::general(
        "E0702",
        format!("internal error: the optimized program is not well-formed: {complaint}"),
    )
    .hint("this is a bug in lambada; please report it")
}

pub fn broken_source(entry: &str, why: &str) -> Problem {
    Problem::general(
        "E0706",
        format!(
            "internal error: what is printed as the derivative of `{entry}` is not a program: {why}"
        ),
    )
    .hint(
        "this is a bug in lambada; please report it. Meanwhile, `lambada grad` runs the derivative",
    )
}

pub fn no_source_form(entry: &str, why: &str) -> Problem {
    Problem::general(
        "E0532",
        format!("the derivative of `{entry}` has no form as source text yet: {why}"),
    )
    .hint("it runs all the same: `lambada grad`; `lambada show --stage anf --of grad` prints what runs")
}

pub fn broken_compilation(error: &CompileError) -> Problem {
    Problem::general("E0701", format!("internal error: the generated code cannot be compiled: {error}"))
        .hint("this is a bug in lambada; please report it. Meanwhile, --engine loops runs the program without a C compiler")
}

pub fn no_size(what: &str, text: &str) -> Problem {
    Problem::general("E0703", format!("{what} is `{text}`, which is no amount of memory"))
        .hint("write it as 500MB, 4GB or 1.5GiB, or as a number of bytes")
}

pub fn no_such_pass(name: &str) -> Problem {
    let known: Vec<&str> = passes().map(|p| p.name).collect();
    let problem = Problem::general("E0704", format!("there is no pass `{name}`"));
    near_or(problem, name, &known, || {
        format!("the passes are {}, and `none` for the code before the first", quoted(&known))
    })
}

pub fn no_such_code(code: &str, near: &[&str]) -> Problem {
    let problem = Problem::general("E0705", format!("no message has the code `{code}`"));
    if near.is_empty() {
        problem.hint("a code looks like `E0301`; the steps of a derivative are explained by `lambada explain FILE ENTRY --mode reverse`")
    } else {
        problem.hint(format!("the codes next to it are {}", quoted(near)))
    }
}

pub fn no_documentation(name: &str, near: Option<&str>) -> Problem {
    let problem = Problem::general("E0280", format!("the library does not define `{name}`"));
    match near {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint("`lambada doc` lists everything"),
    }
}
