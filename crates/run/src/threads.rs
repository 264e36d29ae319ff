//! Threads for parallel loops: one pool for each number of threads, which all calls of the process
//! share. What runs where is no part of a result.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::subnormals::Mode;

/// What a worker does: its loop, and its number.
type Work = unsafe extern "C" fn(*mut c_void, i64);
/// Runs the work of so many workers on the threads of a pool.
type Fork = unsafe extern "C" fn(*mut c_void, i64, Work, *mut c_void);
/// Says on how many threads the calls in a context run, and what runs functions on them.
pub(crate) type SetThreads = unsafe extern "C" fn(*mut c_void, i64, Fork, *mut c_void) -> i32;

/// The threads of a pool. Pools are never closed: threads without work cost nothing.
#[derive(Clone, Debug)]
pub(crate) struct Threads {
    count: usize,
    pool: Arc<ThreadPool>,
}

/// Pools by process and number of threads: a process that has been forked has none of the threads
/// of the one before it.
type Pools = Mutex<HashMap<(u32, usize), Arc<ThreadPool>>>;

impl Threads {
    /// So many threads; none if that is one, or if the system has not got as many.
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

    /// Has the calls in a context run on these threads.
    ///
    /// # Safety
    /// `set` is of the library that has opened the context, no call is using it, and `self`
    /// outlives it.
    pub unsafe fn give(&self, set: SetThreads, context: *mut c_void) {
        let pool = Arc::as_ptr(&self.pool).cast_mut().cast();
        // SAFETY: `fork` is given the pool, which `self` keeps. Where there is no memory for
        // workers, calls use one thread.
        let _ = unsafe { set(context, self.count as i64, fork, pool) };
    }
}

/// A worker, for threads that wait until all have done their work.
struct Worker(Work, *mut c_void);

// SAFETY: machine code is given its loop on several threads, and shares what it writes there by
// atomic operations only.
unsafe impl Sync for Worker {}

impl Worker {
    fn run(&self, number: usize) {
        // SAFETY: `fork` returns when all have returned, and the loop lives as long.
        unsafe { (self.0)(self.1, number as i64) }
    }
}

unsafe extern "C" fn fork(pool: *mut c_void, workers: i64, work: Work, team: *mut c_void) {
    // SAFETY: `Threads::give` has given the address of a pool that lives as long as the context.
    let pool = unsafe { &*pool.cast_const().cast::<ThreadPool>() };
    let worker = Worker(work, team);
    let workers = usize::try_from(workers).unwrap_or(0);
    // What a worker computes is what the calling thread would.
    let mode = Mode::current();
    pool.broadcast(|thread| {
        if thread.index() < workers {
            mode.during(|| worker.run(thread.index()));
        }
    });
}
