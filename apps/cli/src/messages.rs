//! What the command itself says, where there is no program to speak of.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The worker that everything runs on cannot be started.
pub const NO_THREAD: &str = "error: the system has no memory for another thread\n";

/// The result has nowhere to go.
pub fn not_printed(error: &std::io::Error) -> String {
    format!("error: cannot write to standard output: {error}\n")
}

/// A definition is being run, perhaps forever.
pub fn takes_long(definition: &str) -> String {
    format!(
        "note: `{definition}` is still being run at points drawn at random; if its loops do not end there, name it with a point: lambada verify FILE {definition} …\n"
    )
}

/// A mistake of the compiler.
pub fn internal(place: &str, what: &str) -> String {
    format!(
        "internal error: {place}{what}; this is a bug in lambada, please report it with the program and the command\n"
    )
}

/// What the parser of arguments takes for a misspelling is often another word altogether: `repl` is not `explain`.
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
