//! Default limit on the memory for arrays: the environment variable `LAMBADA_MAX_MEMORY`, else most
//! of the memory of the machine.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lambada_prim::Memory;
use lambada_source::Problem;

use crate::messages::running as messages;

/// Parses a number of bytes with a unit: `500MB`, `4GB`.
///
/// # Errors
/// The text is no size.
pub fn memory_size(text: &str) -> Result<u64, Problem> {
    lambada_run::parse_size(text).ok_or_else(|| messages::no_size("--max-memory", text))
}

/// Lifetime of the cached amount of available memory, which takes ten system files to determine.
const FRESH: Duration = Duration::from_millis(100);

static LATEST: Mutex<Option<(Instant, Memory)>> = Mutex::new(None);

fn available() -> Memory {
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, memory)) = latest.filter(|(since, _)| since.elapsed() < FRESH) {
        return memory;
    }
    let memory = lambada_run::available();
    *latest = Some((Instant::now(), memory));
    memory
}

/// The default limit.
pub(crate) fn limit() -> Memory {
    let said = std::env::var(lambada_run::MAX_MEMORY).ok();
    let said = said.and_then(|text| lambada_run::parse_size(&text));
    said.map_or_else(available, |limit| Memory { limit })
}

/// Checks that `LAMBADA_MAX_MEMORY` is a size, if set.
///
/// # Errors
/// The variable is set to something else.
pub fn check_environment() -> Result<(), Problem> {
    match std::env::var(lambada_run::MAX_MEMORY) {
        Ok(text) if lambada_run::parse_size(&text).is_none() => {
            Err(messages::no_size(lambada_run::MAX_MEMORY, &text))
        }
        _ => Ok(()),
    }
}
