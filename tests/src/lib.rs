//! Common parts of the tests of whole programs: reading programs with expectations, drawing
//! programs at random, and the oracle matrix, the paper's included.

pub mod accuracy;
pub mod campaign;
pub mod counted;
pub mod draw;
pub mod expectations;
pub mod growth;
pub mod mutate;
pub mod natives;
pub mod nests;
pub mod oracle;
pub mod orders;
pub mod panics;
pub mod paper;
pub mod planted;
pub mod reduce;
pub mod sanitizer;
pub mod sparsity;
pub mod special;
pub mod texts;
pub mod untyped;
pub mod watch;

/// A tenth of the time of tests is that of the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The seeds of a test: `0..count`, or the range in the variable `SEEDS`, as `1000..1100`.
pub fn seeds(count: u64) -> std::ops::Range<u64> {
    let chosen = std::env::var("SEEDS").ok();
    let parse = |text: String| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    };
    chosen.and_then(parse).unwrap_or(0..count)
}
