//! The limit on the memory for arrays, where [`Options`](crate::Options) say nothing: the
//! environment variable `LAMBADA_MAX_MEMORY`, else most of what the machine has.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lambada_prim::Memory;
use lambada_source::Problem;

use crate::messages::running as messages;

/// A number of bytes as people write it: `500MB`, `4GB`.
///
/// # Errors
/// A text that is no size.
pub fn memory_size(text: &str) -> Result<u64, Problem> {
    lambada_run::parse_size(text).ok_or_else(|| messages::no_size("--max-memory", text))
}

/// For so long what the machine has is taken to be what it had: the answer stands in ten files of
/// the system.
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

/// The limit where nothing else is said.
pub(crate) fn limit() -> Memory {
    let said = std::env::var(lambada_run::MAX_MEMORY).ok();
    let said = said.and_then(|text| lambada_run::parse_size(&text));
    said.map_or_else(available, |limit| Memory { limit })
}

/// Is what the environment says a size?
///
/// # Errors
/// If it is none.
pub fn check_environment() -> Result<(), Problem> {
    match std::env::var(lambada_run::MAX_MEMORY) {
        Ok(text) if lambada_run::parse_size(&text).is_none() => {
            Err(messages::no_size(lambada_run::MAX_MEMORY, &text))
        }
        _ => Ok(()),
    }
}
