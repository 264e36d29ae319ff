//! Names, definitions and imports.

use std::rc::Rc;

use lambada_source::{Fix, Hint, Problem, Span, quoted, suggest};

use super::{advice, foreign, suggesting};

/// `cure`: the counterpart of a name from another language.
pub(crate) fn unknown_name(
    name: &str,
    span: Span,
    near: Option<String>,
    cure: Option<Hint>,
) -> Problem {
    let problem = Problem::error("E0101", format!("unknown name `{name}`"), span, "not defined");
    match cure {
        Some(cure) => problem.advice(cure.text, cure.fix),
        None => suggesting(problem, near),
    }
}

/// Whether the problem is an unknown name without a hint, but for a name that is similar.
pub fn is_plain_unknown(problem: &Problem) -> bool {
    let similar = |hint: &Hint| hint.text.starts_with("did you mean");
    problem.title.starts_with("unknown name `") && problem.hints.iter().all(similar)
}

/// The name is defined in an import, `module`.
pub(crate) fn qualified(module: &str, name: &str, span: Span) -> Hint {
    let text = format!("the import `{module}` defines it: write `{module}.{name}`");
    advice(text, Fix::replace(span, format!("{module}.{name}")))
}

/// The name is defined in an import that lists other names.
pub(crate) fn unlisted(name: &str) -> String {
    format!("an import defines it and does not list it: add `{name}` to its list")
}

/// A definition of an import, read from a variable of the same name.
pub(crate) fn hidden_module(module: &str, name: &str) -> String {
    format!(
        "a variable called `{module}` hides the import `{module}`, which defines `{name}`; give it another name"
    )
}

/// A function qualified by a module of another language; `known` says whether the library has a
/// function of this name, and `member` is the place of both.
pub(crate) fn foreign_module(
    module: &str,
    name: &str,
    span: Span,
    known: bool,
    member: Span,
) -> Problem {
    let problem = Problem::error("E0125", format!("`{module}` is no module"), span, "not defined");
    match foreign::advice(name, member) {
        _ if known => problem.fix(
            format!("the functions of the library have no module: write `{name}`"),
            Fix::replace(member, name),
        ),
        Some(cure) => problem.advice(cure.text, cure.fix),
        None => problem.hint("the functions of the library have no module"),
    }
}

pub(crate) fn unknown_member(
    module: &str,
    name: &str,
    span: Span,
    near: Option<String>,
    is_in_prelude: bool,
) -> Problem {
    let problem = Problem::error(
        "E0121",
        format!("`{module}` does not define `{name}`"),
        span,
        "not defined there",
    );
    match is_in_prelude {
        true => problem.hint(format!("`{name}` is there without an import and without a module")),
        false => suggesting(problem, near),
    }
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

/// `value`: whether a variable may stand in the place of the constructor.
pub(crate) fn unknown_constructor(
    name: &str,
    span: Span,
    near: Option<String>,
    value: bool,
) -> Problem {
    let problem =
        Problem::error("E0105", format!("unknown constructor `{name}`"), span, "no type has it");
    match foreign::advice(name, span) {
        Some(cure) => problem.advice(cure.text, cure.fix),
        None if near.is_none() && value => {
            problem.hint("no variable and no definition of this name is in scope either")
        }
        None => suggesting(problem, near),
    }
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

/// The file of an import cannot be read; `why` is the message of the operating system. `library`:
/// the place of the path, if the library has a module of this name.
pub fn import_not_found(path: &str, span: Span, why: &str, library: Option<Span>) -> Problem {
    let problem = Problem::error("E0112", format!("cannot read the import `{path}`"), span, why);
    let Some(place) = library else { return problem };
    let better = format!("import \"std/{path}\"");
    problem.fix(
        format!("the library has a module of this name: write `{better}`"),
        Fix::replace(place, format!("std/{path}")).probable(),
    )
}

/// `import "std/…"` of a module that the library does not have. `own`: the path to write for an
/// existing file of the user. `place`: the path between its quotes.
pub fn unknown_module(
    name: &str,
    span: Span,
    known: &[&str],
    own: Option<&str>,
    place: Option<Span>,
) -> Problem {
    let path = |path: String| place.map(|place| Fix::replace(place, path).probable());
    let title = format!("the standard library has no module `{name}`");
    let problem = Problem::error("E0270", title, span, "not in the library");
    if let Some(own) = own {
        let hint = format!("a file of your own is imported as `import \"{own}\"`");
        return problem.advice(hint, path(own.to_string()));
    }
    match suggest(name, known.iter().copied()) {
        Some(near) => {
            problem.advice(format!("did you mean `std/{near}`?"), path(format!("std/{near}")))
        }
        None => problem.hint(format!("it has {}", quoted(known))),
    }
}

/// The files import each other, each the next, and the last one the first; `files` is empty if they
/// are unknown.
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
    .hint("an import is called by the name of its file, whatever its folder; give one of them another name: `import \"path\" as name`")
}

/// A name in the list of an import, of the file `module`, that means something else already:
/// a definition of this file if `own`, else what another import lists.
pub(crate) fn imported_twice(name: &str, span: Span, module: &str, own: bool) -> Problem {
    let label = if own { "this file defines it, too" } else { "another import lists it, too" };
    Problem::error("E0126", format!("`{name}` would mean two things"), span, label).hint(format!(
        "leave it out of the list; `import \"…\" as {module}` makes it `{module}.{name}`"
    ))
}

/// `cycle`: the functions that call each other, beginning with one without `rec`. `word`: its
/// keyword, `def` or `let`; `at`: the name in its definition.
pub(crate) fn unmarked_recursion(cycle: &[Rc<str>], span: Span, word: &str, at: Span) -> Problem {
    let name = cycle.first().map_or("", |name| &**name);
    let way: Vec<String> =
        cycle.iter().skip(1).chain(cycle.first()).map(|name| format!("`{name}`")).collect();
    let label = match cycle {
        [_, _, ..] => format!("`{name}` calls {}", way.join(", which calls ")),
        _ => format!("`{name}` calls itself"),
    };
    Problem::error("E0109", format!("`{name}` is recursive and does not say so"), span, label)
        .fix(format!("write `{word} rec {name}`"), Fix::before(at, "rec "))
}

pub(crate) fn recursive_value(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0251",
        format!("`{name}` is defined by itself and is not a function"),
        span,
        "its value would be needed to compute it",
    )
    .hint(format!("only functions are recursive; give it a parameter: `{name} x = …`"))
}

pub(crate) fn growing_recursion(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0252",
        format!("`{name}` calls itself at larger and larger types"),
        span,
        "each call is at a larger type than the one before",
    )
    .hint("functions are compiled for each type that they are used at, and here these have no end")
}

pub(crate) fn overloaded_recursion(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0254",
        format!("`{name}` calls itself at another type and is overloaded"),
        span,
        "what holds for the one type may not hold for the other",
    )
    .hint("write the types of this function without type variables, or pass the operation as a parameter")
}

pub(crate) fn growing_type(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0253",
        format!("`{name}` contains itself at larger and larger types"),
        span,
        "inside of itself it has larger arguments",
    )
    .hint("types are compiled for each list of arguments, and here these have no end")
}

pub(crate) fn recursive_alias(name: &str, span: Span) -> Problem {
    Problem::error(
        "E0110",
        "another name for a type cannot contain itself",
        span,
        format!("`{name}` would never end"),
    )
    .hint(format!("make it a type with constructors: `type {name} = Leaf … | Node …`"))
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
        .hint("the sum of an array is `sum xs`; a loop with a state is `loop s = 0.0 for x in xs do s + x`")
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

pub(crate) fn size_arguments(name: &str, wanted: usize, found: usize, span: Span) -> Problem {
    let title = match wanted {
        0 => format!("the type `{name}` takes no sizes"),
        1 => format!("the type `{name}` takes 1 size, not {found}"),
        _ => format!("the type `{name}` takes {wanted} sizes, not {found}"),
    };
    Problem::error("E0256", title, span, "").hint(match wanted {
        0 => "an array type is written with its size in front and no space: `[3]real`",
        _ => "a type without its sizes leaves all of them to inference, and `[]` leaves one",
    })
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

pub(crate) fn inspect_without_name(span: Span) -> Problem {
    Problem::error("E0281", "`inspect_as` needs a name in quotes", span, "no name follows")
        .hint("write `inspect_as \"name\" x`, or `inspect x`, which needs no name")
}

pub(crate) fn takes_one_by_one(name: &str, span: Span, better: &str) -> Problem {
    Problem::error(
        "E0282",
        format!("`{name}` gives this function its arguments one by one"),
        span,
        "this one takes a tuple",
    )
    .fix(format!("write `{better}`"), Fix::replace(span, better))
}
