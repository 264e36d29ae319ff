//! Threads for parallel loops: one pool for each number of threads, shared by all calls of the
//! process. Results do not depend on the assignment of work to threads.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::subnormals::Mode;

/// The work of a parallel loop, for one worker number.
type Work = unsafe extern "C" fn(*mut c_void, i64);
/// Runs the work of several workers on the threads of a pool.
type Fork = unsafe extern "C" fn(*mut c_void, i64, Work, *mut c_void);
/// Sets the number of threads of a context, and the function that runs work on them.
pub(crate) type SetThreads = unsafe extern "C" fn(*mut c_void, i64, Fork, *mut c_void) -> i32;

/// A pool with its number of threads. Pools are never closed, because idle threads cost nothing.
#[derive(Clone, Debug)]
pub(crate) struct Threads {
    count: usize,
    pool: Arc<ThreadPool>,
}

/// Pools by process id and number of threads, because a forked process has none of its parent's
/// threads.
type Pools = Mutex<HashMap<(u32, usize), Arc<ThreadPool>>>;

impl Threads {
    /// A pool of `count` threads; `None` for one thread, or if the system cannot create them.
    pub fn new(count: usize) -> Option<Threads> {
        static POOLS: OnceLock<Pools> = OnceLock::new();
        if count <= 1 {
            return None;
        }
        let pools = POOLS.get_or_init(Pools::default);
        let mut pools = pools.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (std::process::id(), count);
        if let Some(pool) = pools.get(&key) {
            return Some(Threads { count, pool: pool.clone() });
        }
        let name = |k| format!("lambada-{k}");
        let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(name).build().ok()?;
        let pool = Arc::new(pool);
        pools.insert(key, pool.clone());
        Some(Threads { count, pool })
    }

    /// Makes the calls in a context use these threads.
    ///
    /// # Safety
    /// `set` belongs to the library that opened the context, no call uses the context, and `self`
    /// outlives it.
    pub unsafe fn give(&self, set: SetThreads, context: *mut c_void) {
        let pool = Arc::as_ptr(&self.pool).cast_mut().cast();
        // SAFETY: `fork` receives the pool, which `self` keeps. Without memory for workers, calls
        // use one thread.
        let _ = unsafe { set(context, self.count as i64, fork, pool) };
    }
}

/// A worker; the threads join before it is dropped.
struct Worker(Work, *mut c_void);

// SAFETY: several threads run the loop, and share data only by atomic operations.
unsafe impl Sync for Worker {}

impl Worker {
    fn run(&self, number: usize) {
        // SAFETY: `fork` returns after all workers, and the loop lives as long.
        unsafe { (self.0)(self.1, number as i64) }
    }
}

unsafe extern "C" fn fork(pool: *mut c_void, workers: i64, work: Work, team: *mut c_void) {
    // SAFETY: `Threads::give` passes the address of a pool that lives as long as the context.
    let pool = unsafe { &*pool.cast_const().cast::<ThreadPool>() };
    let worker = Worker(work, team);
    let workers = usize::try_from(workers).unwrap_or(0);
    // Workers must compute the same results as the calling thread.
    let mode = Mode::current();
    pool.broadcast(|thread| {
        if thread.index() < workers {
            mode.during(|| worker.run(thread.index()));
        }
    });
}
