//! Work that never ends would stop a test without a message: another thread watches.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Much more than any work takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// The work in progress, with its start.
static RUNNING: Mutex<BTreeMap<u64, (Instant, String)>> = Mutex::new(BTreeMap::new());

/// Runs the work. If it is not done after `PATIENCE`, the process prints `about` and ends.
pub fn watched<T>(about: &str, work: impl FnOnce() -> T) -> T {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    if number == 0 {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(Duration::from_secs(1));
                for (start, about) in running().values() {
                    if start.elapsed() > PATIENCE {
                        eprintln!("this takes more than {PATIENCE:?}:\n{about}");
                        std::process::exit(101);
                    }
                }
            }
        });
    }
    running().insert(number, (Instant::now(), about.to_string()));
    let done = Done(number);
    let result = work();
    drop(done);
    result
}

fn running() -> std::sync::MutexGuard<'static, BTreeMap<u64, (Instant, String)>> {
    RUNNING.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Forgets the work, also where it panics.
struct Done(u64);

impl Drop for Done {
    fn drop(&mut self) {
        running().remove(&self.0);
    }
}
