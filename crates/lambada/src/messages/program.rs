//! Files of programs.

use std::path::Path;

use lambada_source::{Edit, Fix, Problem, Span, suggest};

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
/// `imports`: the place of one more import, and the line breaks before and after it.
pub(crate) fn in_library(
    problem: Problem,
    module: &str,
    name: &str,
    imports: Option<(Span, [&str; 2])>,
) -> Problem {
    let place = problem.labels.first().map(|label| label.span);
    let problem = Problem { hints: Vec::new(), ..problem };
    let import = format!("import \"std/{module}\"");
    let added =
        imports.map(|(at, [before, after])| Fix::replace(at, format!("{before}{import}{after}")));
    if module == name {
        let hint = format!("the library has a module of this name: write `{import}`");
        return problem.advice(hint, added.map(Fix::probable));
    }
    let qualified = place.map(|place| Fix::replace(place, format!("{module}.{name}")));
    let fix = added.zip(qualified).map(|(added, qualified)| added.and(qualified).probable());
    problem.advice(format!("the library has it: write `{import}` and `{module}.{name}`"), fix)
}

/// A fix that puts a name in quotes, as the path of a file, for a name of a module of the library.
/// `text`: that of the file.
pub(crate) fn library_path(mut problem: Problem, text: &str, modules: &[&str]) -> Problem {
    for fix in problem.hints.iter_mut().filter_map(|hint| hint.fix.as_mut()) {
        if let [.., Edit { span: before, text: quote }, Edit { span: after, text: end }] =
            &mut fix.edits[..]
            && (&**quote, &**end) == ("\"", "\"")
            && let Some(name) = text.get(before.end as usize..after.start as usize)
            && modules.contains(&name)
        {
            *quote = "\"std/".to_string();
        }
    }
    problem
}

/// A `/` in a program from before it divided reals, at types that callers choose.
pub(crate) fn open_quotient(span: Span) -> Problem {
    Problem::warning("E0807", "this `/` divided ints or reals, as the caller chose", span, "")
        .hint("it divides reals now; write `//` where the quotient of ints was meant")
}
