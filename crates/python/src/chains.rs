//! Chains that Python follows: their progress, and Ctrl-C, which ends them with the draws that they
//! have.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lambada_sample::Watch;
use pyo3::prelude::*;

/// Interval at which the chains are looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Counts draws.
pub(crate) struct Counts {
    draws: Vec<AtomicU64>,
    divergences: AtomicU64,
    stops: AtomicBool,
}

impl Counts {
    pub fn new(chains: usize) -> Counts {
        Counts {
            draws: (0..chains).map(|_| AtomicU64::new(0)).collect(),
            divergences: AtomicU64::new(0),
            stops: AtomicBool::new(false),
        }
    }

    /// The draws of each chain so far, those of the warm-up included, and all divergences.
    fn now(&self) -> (Vec<u64>, u64) {
        let draws = self.draws.iter().map(|draws| draws.load(Ordering::Relaxed));
        (draws.collect(), self.divergences.load(Ordering::Relaxed))
    }
}

impl Watch for Counts {
    fn drawn(&self, chain: usize, draw: u64, diverging: bool) {
        self.draws[chain].store(draw, Ordering::Relaxed);
        self.divergences.fetch_add(diverging.into(), Ordering::Relaxed);
    }

    fn stops(&self) -> bool {
        self.stops.load(Ordering::Relaxed)
    }
}

/// Runs chains on threads of their own, and calls `tell` with their counts meanwhile. After the
/// first Ctrl-C the result has their draws up to then; a second one does not wait for it.
pub(crate) fn followed<R: Send + 'static>(
    py: Python<'_>,
    counts: &Arc<Counts>,
    tell: Option<&Bound<'_, PyAny>>,
    run: impl FnOnce(&Counts) -> R + Send + 'static,
) -> PyResult<R> {
    let (send, ended) = channel();
    let own = counts.clone();
    let thread = std::thread::Builder::new()
        .name("lambada".into())
        .spawn(move || drop(send.send(run(&own))))?;
    let ended = Mutex::new(ended);
    let mut wrong = None;
    loop {
        match wait(py, &ended) {
            Ok(result) => {
                let told = tell.map_or(Ok(()), |tell| tell.call1(counts.now()).map(drop));
                return wrong.map_or_else(|| told.map(|()| result), Err);
            }
            Err(RecvTimeoutError::Timeout) => {}
            // The thread has panicked; the panic continues here.
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("a thread that has ended has sent its result"),
            },
        }
        if let Err(signal) = py.check_signals() {
            let is_first = !counts.stops.swap(true, Ordering::Relaxed);
            if !is_first || !signal.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
                return Err(signal);
            }
        }
        if let Some(tell) = tell.filter(|_| wrong.is_none())
            && let Err(error) = tell.call1(counts.now())
        {
            counts.stops.store(true, Ordering::Relaxed);
            wrong = Some(error);
        }
    }
}

fn wait<R: Send>(py: Python<'_>, ended: &Mutex<Receiver<R>>) -> Result<R, RecvTimeoutError> {
    py.detach(|| ended.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK))
}
