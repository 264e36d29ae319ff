//! All cores for one test.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Trees are walked by recursion, so threads of tests have as much stack as those of the compiler.
const STACK: usize = 1 << 28;

/// The results of the work on each item, in the order of the items. Threads, one per core, take one
/// item after the other. An item may be a chunk that is compiled together, so that equal runs
/// compile equal units, which the cache of kernels then has.
pub fn parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let thread = || {
        let mut found = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place) else { return found };
            found.push((place, work(item)));
        }
    };
    let mut found: Vec<(usize, R)> = std::thread::scope(|scope| {
        let start = |_| {
            let builder = std::thread::Builder::new().stack_size(STACK);
            builder.spawn_scoped(scope, thread).expect("a thread can be started")
        };
        let threads: Vec<_> = (0..cores.min(items.len())).map(start).collect();
        let join = |thread: std::thread::ScopedJoinHandle<_>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().flat_map(join).collect()
    });
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::parallel;

    #[test]
    fn every_item_is_worked_on_once_and_results_keep_their_order() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(parallel(&items, |k| k * k), items.iter().map(|k| k * k).collect::<Vec<_>>());
        assert_eq!(parallel(&[(); 0], |()| 1), [0; 0]);
    }

    #[test]
    #[should_panic(expected = "the seventh")]
    fn a_panic_is_not_lost() {
        parallel(&[1, 7, 3], |k| assert_ne!(*k, 7, "the seventh"));
    }
}
