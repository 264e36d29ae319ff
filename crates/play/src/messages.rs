//! Messages of the playground that do not concern a program.

use std::path::Path;
use std::time::Duration;

/// The port cannot be had.
pub fn no_port(port: u16, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => format!(
            "error: port {port} of 127.0.0.1 is in use, maybe by another playground\nhelp: `--port {}` takes another one, `--port 0` any that is free\n",
            port.checked_add(1).unwrap_or(7421)
        ),
        _ => format!(
            "error: cannot listen on port {port} of 127.0.0.1: {error}\nhelp: `--port 0` takes any that is free\n"
        ),
    }
}

/// The folder cannot be read.
pub fn no_folder(folder: &Path, error: &std::io::Error) -> String {
    format!("error: cannot read the folder `{}`: {error}\n", folder.display())
}

/// A path that is no folder.
pub fn is_no_folder(folder: &Path) -> String {
    format!(
        "error: `{}` is no folder; the playground opens the programs in one\n",
        folder.display()
    )
}

/// A part of the system fails.
pub fn failed(what: &str, error: &dyn std::fmt::Display) -> String {
    format!("error: cannot {what}: {error}\n")
}

/// A host that is not the loopback: maybe another site's name for it.
pub const OTHER_HOST: &str = "the playground answers requests to 127.0.0.1 and localhost only";

/// Another site.
pub const OTHER_SITE: &str = "the playground answers its own page only";

/// A request without the secret.
pub const NO_TOKEN: &str = "open the address that `lambada play` has printed: it holds a secret of this run, without which no page can run programs";

/// An unknown address.
pub const NOT_FOUND: &str = "no such page";

/// A request by another method.
pub const OTHER_METHOD: &str = "this address has no such method";

/// A request that is too large.
pub const TOO_LARGE: &str = "the request is larger than 16 MiB";

/// A request that cannot be understood.
pub fn malformed(error: &dyn std::fmt::Display) -> String {
    format!("the request is malformed: {error}")
}

/// A path outside of the folder, or one that is no program.
pub const NOT_THERE: &str = "no such program in the folder of the playground";

/// A language server that has ended.
pub const NO_EDITOR: &str = "this language server has ended";

/// More language servers than there may be.
pub fn too_many_pages(most: usize) -> String {
    format!("{most} pages are open already; close one")
}

/// A job that took too long.
pub fn out_of_time(limit: Duration) -> String {
    format!(
        "stopped: not done after {} s\nhelp: `lambada play --seconds N` allows more; the command line has no limit\n",
        limit.as_secs()
    )
}

/// A job that took too much memory.
pub fn out_of_memory(limit: u64) -> String {
    format!(
        "stopped: more memory than the playground gives a program ({} MiB for arrays)\nhelp: `lambada play --max-memory SIZE` allows more\n",
        limit >> 20
    )
}

/// A job that has ended without an answer.
pub fn broken(said: &str) -> String {
    let said = said.lines().next().unwrap_or("it ended without an answer");
    format!("internal error: {said}\n")
}
