//! What the command itself says, where there is no program to speak of.

use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The worker that everything runs on cannot be started.
pub const NO_THREAD: &str = "error: the system has no memory for another thread\n";

/// The result has nowhere to go.
pub fn not_printed(error: &std::io::Error) -> String {
    format!("error: cannot write to standard output: {error}\n")
}

/// A definition is being run, perhaps forever.
pub fn draws(definition: &str) -> String {
    format!(
        "running `{definition}` at points drawn at random (if it does not end, give one: lambada verify FILE {definition} …)"
    )
}

/// A mistake of the compiler.
pub fn internal(place: &str, what: &str) -> String {
    format!(
        "internal error: {place}{what}; this is a bug in lambada, please report it with the program and the command\n"
    )
}

/// What the parser of arguments takes for a misspelling is often another word altogether: `repl` is
/// not `explain`.
pub fn without_far_suggestions(error: &mut clap::Error) {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return;
    }
    let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    let Some(ContextValue::Strings(near)) = error.get(ContextKind::SuggestedSubcommand) else {
        return;
    };
    if lambada::suggest(found, near.iter().map(String::as_str)).is_none() {
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::Suggested);
    }
}

/// A program that cannot be read.
pub fn not_read(name: &str, error: &std::io::Error) -> String {
    format!("error: cannot read `{name}`: {error}\n")
}

/// A file or folder that cannot be written.
pub fn not_written(name: &str, error: &std::io::Error) -> String {
    format!("error: cannot write `{name}`: {error}\n")
}

/// Programs that are not in canonical layout.
pub fn other_layout(count: usize) -> String {
    let (files, are) = match count {
        1 => ("1 file".to_string(), "is"),
        _ => (format!("{count} files"), "are"),
    };
    format!(
        "error: {files} {are} not in canonical layout; `lambada fmt` without --check writes it\n"
    )
}

/// A path that names no new folder.
pub fn no_folder_name(path: &str) -> String {
    format!("error: `{path}` is no name for a new folder\n")
}

/// A new project where something is.
pub fn there_already(path: &str) -> String {
    format!("error: `{path}` is there already; a new folder needs another name\n")
}

/// A new project.
pub fn made(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let word = match path.chars().all(plain) {
        true => path.to_string(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    };
    format!("made `{path}`; try: cd {word} && lambada run main.lam --data data.json\n")
}

/// The first words to a person.
pub const WELCOME: &str = "Lambada. An expression, a definition, or :help\n";

/// An answer that Ctrl-C has ended.
pub const INTERRUPTED: &str = "interrupted\n";

/// What can be typed besides commands.
pub const WHAT_TO_TYPE: &str = "  1 + 2                        an expression is evaluated
  f x = x * x                  a definition is remembered; a new one of the same name replaces it
  import \"std/linalg\"          so is an import
";

/// A terminal that cannot be read from.
pub fn no_terminal(error: &dyn std::fmt::Display) -> String {
    format!("error: cannot read from the terminal: {error}\n")
}

/// A word behind a colon that is no command.
pub fn no_such_command(word: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("error: there is no command `{word}`; did you mean `{near}`?\n"),
        None => format!("error: there is no command `{word}`; `:help` lists them\n"),
    }
}

/// A mode of differentiation that is none.
pub fn no_such_mode(word: &str) -> String {
    format!("error: `{word}` is no mode: `:derive F forward` or `:derive F reverse`\n")
}

/// A command without what it is about.
pub fn needs_an_argument(command: &str, argument: &str) -> String {
    format!("error: `{command}` needs an argument: {command} {argument}\n")
}

/// How long the parts of an evaluation took.
pub fn times(checked: Duration, compiled: Duration, ran: Duration) -> String {
    format!("checked in {checked:.1?}, compiled in {compiled:.1?}, ran in {ran:.1?}\n")
}
