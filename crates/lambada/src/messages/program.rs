//! Files of programs.

use std::path::Path;

use lambada_source::{Problem, Span, suggest};

/// A program that cannot be read; suggests files with similar names.
pub fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    let problem = Problem::general("E0113", format!("cannot read `{}`: {error}", path.display()));
    if error.kind() != std::io::ErrorKind::NotFound {
        return problem;
    }
    let beside = path.parent().unwrap_or(Path::new(""));
    let folder = if beside.as_os_str().is_empty() { Path::new(".") } else { beside };
    let wanted = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let siblings: Vec<String> = std::fs::read_dir(folder)
        .map(|dir| {
            dir.flatten()
                .map(|e| e.file_name().to_string_lossy().into_owned())
                .filter(|n| n.ends_with(".lam"))
                .collect()
        })
        .unwrap_or_default();
    match suggest(&wanted, siblings.iter().map(String::as_str)) {
        Some(near) => problem.hint(format!("did you mean `{}`?", beside.join(near).display())),
        None => problem,
    }
}

/// Hint for an unknown name in the library: `name` is the module itself, or is defined in it.
pub(crate) fn in_library(problem: Problem, module: &str, name: &str) -> Problem {
    let problem = Problem { hints: Vec::new(), ..problem };
    let write = format!("`import \"std/{module}\"`");
    if module == name {
        return problem.hint(format!("the library has a module of this name: write {write}"));
    }
    problem.hint(format!("the library has it: write {write} and `{module}.{name}`"))
}

/// A `/` in a program from before it divided reals, at types that callers choose.
pub(crate) fn open_quotient(span: Span) -> Problem {
    Problem::warning("E0807", "this `/` divided ints or reals, as the caller chose", span, "")
        .hint("it divides reals now; write `//` where the quotient of ints was meant")
}
