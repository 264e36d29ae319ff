//! What the tests of whole programs share: reading programs with expectations, drawing programs at random, and the oracle matrix, the
//! paper's included.

pub mod campaign;
pub mod draw;
pub mod expectations;
pub mod growth;
pub mod mutate;
pub mod natives;
pub mod oracle;
pub mod orders;
pub mod panics;
pub mod paper;
pub mod reduce;
pub mod sanitizer;
pub mod special;
pub mod texts;
pub mod vectors;

/// Runs on a thread with the compiler's stack.
pub fn on_big_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(1 << 28)
            .spawn_scoped(scope, work)
            .expect("a thread can be started");
        match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
