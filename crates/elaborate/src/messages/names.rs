//! Names, definitions and imports.

use std::rc::Rc;

use lambada_source::{Problem, Span, quoted, suggest};

use super::suggesting;

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
            "E0121",
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
        "E0122",
        format!("the constructor `{name}` is defined twice"),
        span,
        "defined again here",
    )
    .hint("constructors of different types need different names")
}

pub(crate) fn duplicate_field(name: &str, span: Span) -> Problem {
    Problem::error("E0123", format!("the field `{name}` is given twice"), span, "given again here")
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

/// The file of an import cannot be read; `why` says what the system says.
pub fn import_not_found(path: &str, span: Span, why: &str) -> Problem {
    Problem::error("E0112", format!("cannot read the import `{path}`"), span, why)
}

/// The files import each other, each the next and the last one the first; none are given where they are not known.
pub fn cyclic_import(path: &str, span: Span, files: &[String]) -> Problem {
    let problem = Problem::error(
        "E0108",
        format!("the import `{path}` goes around in a circle"),
        span,
        "this file is being imported already",
    );
    if files.is_empty() {
        return problem;
    }
    let way: Vec<String> =
        files.iter().chain(files.first()).map(|file| format!("`{file}`")).collect();
    problem.hint(format!("{}: what both need belongs in a file of its own", way.join(" imports ")))
}

pub(crate) fn imports_of_one_name(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0124",
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

pub(crate) fn incomplete() -> Problem {
    Problem::general("E0119", "parts of the program could not be read, so it has no meaning")
}

pub(crate) fn unknown_entry(name: &str, known: &[&str]) -> Problem {
    let problem = Problem::general("E0114", format!("the file has no definition `{name}`"));
    match suggest(name, known.iter().copied()) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None if known.is_empty() => problem.hint("it defines nothing"),
        None => problem.hint(format!("it defines {}", quoted(known))),
    }
}
