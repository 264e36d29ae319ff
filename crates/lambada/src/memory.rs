//! The limit on the memory for arrays, where [`Options`](crate::Options) say nothing: the environment variable `LAMBADA_MAX_MEMORY`, else most of what the
//! machine has.

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

/// The limit where nothing else is said.
pub(crate) fn limit() -> Memory {
    let said = std::env::var(lambada_run::MAX_MEMORY).ok();
    let said = said.and_then(|text| lambada_run::parse_size(&text));
    said.map_or_else(lambada_run::available, |limit| Memory { limit })
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
