//! The limit on the memory for arrays: what [`limit_memory`] says, else the environment variable `LAMBADA_MAX_MEMORY`, else most of what the machine
//! has.

use std::sync::atomic::{AtomicU64, Ordering};

use lambada_prim::Memory;
use lambada_source::Problem;

use crate::messages::running as messages;

/// Nothing has been said.
const UNSET: u64 = u64::MAX;
static LIMIT: AtomicU64 = AtomicU64::new(UNSET);

/// From now on, arrays may take so many bytes, in programs that are made ready after this and in data that are read.
pub fn limit_memory(bytes: u64) {
    LIMIT.store(bytes.min(UNSET - 1), Ordering::Relaxed);
}

/// The same with a size as people write it: `500MB`, `4GB`.
///
/// # Errors
/// A text that is no size.
pub fn limit_memory_to(text: &str) -> Result<(), Problem> {
    let bytes =
        lambada_run::parse_size(text).ok_or_else(|| messages::no_size("--max-memory", text))?;
    limit_memory(bytes);
    Ok(())
}

/// The limit in force.
pub(crate) fn limit() -> Memory {
    match LIMIT.load(Ordering::Relaxed) {
        UNSET => {
            let said = std::env::var(lambada_run::MAX_MEMORY).ok();
            let said = said.and_then(|text| lambada_run::parse_size(&text));
            said.map_or_else(lambada_run::available, |limit| Memory { limit })
        }
        limit => Memory { limit },
    }
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
