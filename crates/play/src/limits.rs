//! The limits on programs of the page.

use std::time::Duration;

/// The limits on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time from its start to its answer.
    pub time: Duration,
    /// Bytes of the arrays of a program.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { time: Duration::from_secs(10), memory: 1 << 30 }
    }
}

/// Address space beside arrays: reserved stacks of 1 GiB, code, the compiler's own data.
const BESIDE: u64 = 3 << 30;

/// Seconds of the processor for a language server, which works whenever somebody types.
const EDITING: u64 = 3600;

impl Limits {
    /// Bounds this process, which does a job and ends with the server. The server itself ends a job
    /// by the clock; the limit on the processor ends a job whose server was killed.
    pub(crate) fn bound_job(self) {
        let seconds = self.time.as_secs().saturating_mul(2).saturating_add(2);
        bound(self.memory.saturating_add(BESIDE), seconds);
    }

    /// Bounds this process, which is the language server of a page.
    pub(crate) fn bound_editor(self) {
        bound(self.memory.saturating_add(BESIDE), EDITING);
    }
}

#[cfg(unix)]
fn bound(bytes: u64, seconds: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let lower = |resource, limit: u64| {
        // A limit cannot be raised beyond one that the process has already.
        let now = getrlimit(resource);
        let least = |known: Option<u64>| Some(known.map_or(limit, |known| known.min(limit)));
        let limits = Rlimit { current: least(now.current), maximum: least(now.maximum) };
        // A system without the limit still has the clock of the server.
        _ = setrlimit(resource, limits);
    };
    lower(Resource::As, bytes);
    lower(Resource::Cpu, seconds);
    // A program that crashes leaves no image of its memory in the folder.
    lower(Resource::Core, 0);
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        _ = set_parent_process_death_signal(Some(Signal::KILL));
    }
}

/// Only the clock of the server bounds a job here.
#[cfg(not(unix))]
fn bound(_bytes: u64, _seconds: u64) {}
