//! The messages of this crate: errors of compilation.

use std::path::Path;

use crate::{CompileError, Fault};

fn ours(message: String) -> CompileError {
    CompileError { message, fault: Fault::Ours }
}

fn of_system(message: String) -> CompileError {
    CompileError { message, fault: Fault::System }
}

/// Our own checker rejects the function.
pub(crate) fn malformed(complaint: &str) -> CompileError {
    ours(format!("malformed code was generated\n{complaint}"))
}

/// A working C compiler rejects the text; `kept` describes where the text is.
pub(crate) fn rejected(kept: &str, said: &str) -> CompileError {
    ours(format!("the C compiler rejects it ({kept})\n{said}"))
}

/// A generated library lacks one of its symbols.
pub(crate) fn no_symbol(name: &str, error: &libloading::Error) -> CompileError {
    ours(format!("no symbol `{name}`: {error}"))
}

/// The C compiler rejects everything, or produces nothing.
pub(crate) fn broken_compiler(command: &str, said: &str) -> CompileError {
    let said =
        said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it makes no library");
    of_system(format!("the C compiler `{command}` does not work: {said}"))
}

pub(crate) fn no_directory(error: &std::io::Error) -> CompileError {
    of_system(format!("cannot make a temporary directory: {error}"))
}

pub(crate) fn not_written(path: &Path, error: &std::io::Error) -> CompileError {
    of_system(format!("cannot write {}: {error}", path.display()))
}

pub(crate) fn not_loaded(path: &Path, error: &libloading::Error) -> CompileError {
    of_system(format!("cannot load {}: {error}", path.display()))
}

pub(crate) fn no_memory() -> CompileError {
    of_system("the system has no memory left".to_string())
}

/// The C compiler chosen by the user.
fn chosen() -> Option<String> {
    std::env::var("LAMBADA_CC").ok().filter(|command| !command.trim().is_empty())
}

/// The warning, printed once, that no C compiler works; names the engine that runs instead.
pub(crate) fn interpreted(reason: Option<&CompileError>, translated: bool) -> String {
    let what = if translated {
        "Lambada's own machine code, which is slower"
    } else {
        "the slower interpreter"
    };
    match reason {
        None => {
            let cure = chosen().map_or_else(
                || "Install gcc or clang, or set LAMBADA_CC".to_string(),
                |command| format!("LAMBADA_CC is `{command}`, which does not run as one"),
            );
            format!("warning: no C compiler found; running {what}. {cure}")
        }
        Some(reason) => {
            format!("warning: {reason}; running {what}. LAMBADA_CC sets the C compiler")
        }
    }
}
