//! A pool of idle items. Taking the most recent item needs no lock, so that a single thread never
//! waits and finds it in its cache.

#![allow(unsafe_code)]

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Idle items.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    /// The most recent item, or null. Owned by the pool.
    last: AtomicPtr<T>,
    /// All others. Boxed, so that putting one back moves a pointer.
    #[allow(clippy::vec_box)]
    others: Mutex<Vec<Box<T>>>,
}

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool { last: AtomicPtr::new(null_mut()), others: Mutex::default() }
    }
}

impl<T> Pool<T> {
    /// Takes an idle item.
    #[inline]
    pub fn take(&self) -> Option<Box<T>> {
        let last = self.exchange(null_mut());
        last.or_else(|| self.others().pop())
    }

    /// Puts an item back.
    #[inline]
    pub fn put(&self, item: Box<T>) {
        if let Some(before) = self.exchange(Box::into_raw(item)) {
            self.others().push(before);
        }
    }

    /// Drops the idle items.
    pub fn clear(&self) {
        let others = std::mem::take(&mut *self.others());
        drop((self.exchange(null_mut()), others));
    }

    /// Visits the idle items, which are taken meanwhile.
    pub fn each(&self, mut look: impl FnMut(&mut T)) {
        let mut taken: Vec<Box<T>> = std::iter::from_fn(|| self.take()).collect();
        taken.iter_mut().for_each(|item| look(item));
        taken.into_iter().for_each(|item| self.put(item));
    }

    /// Swaps the pointer to the most recent item.
    #[inline]
    fn exchange(&self, item: *mut T) -> Option<Box<T>> {
        let before = self.last.swap(item, Ordering::AcqRel);
        // SAFETY: a non-null pointer comes from `Box::into_raw` in `put`, and the swap makes its
        // taker the only owner.
        (!before.is_null()).then(|| unsafe { Box::from_raw(before) })
    }

    /// The lock of the others. Poisoning is harmless, because items are put and taken as a whole.
    #[allow(clippy::vec_box)]
    fn others(&self) -> MutexGuard<'_, Vec<Box<T>>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Drop for Pool<T> {
    fn drop(&mut self) {
        drop(self.exchange(null_mut()));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use super::Pool;

    #[test]
    fn what_was_put_back_last_is_taken_first_and_nothing_is_lost() {
        let (pool, item) = (Pool::default(), Arc::new(()));
        assert!(Pool::<i32>::default().take().is_none());
        for k in 0..3 {
            pool.put(Box::new((k, item.clone())));
        }
        assert_eq!(pool.take().map(|taken| taken.0), Some(2));
        let mut seen = BTreeSet::new();
        pool.each(|(k, _)| {
            seen.insert(*k);
        });
        assert_eq!(seen, BTreeSet::from([0, 1]));
        pool.clear();
        assert_eq!(Arc::strong_count(&item), 1);
        pool.put(Box::new((0, item.clone())));
        drop(pool);
        assert_eq!(Arc::strong_count(&item), 1);
    }

    #[test]
    fn no_two_threads_have_the_same() {
        let pool = Pool::default();
        (0..2).for_each(|_| pool.put(Box::new(0u64)));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        // If two threads had the same item, an increment would be lost.
                        let mut taken = pool.take().unwrap_or_default();
                        *taken += 1;
                        pool.put(taken);
                    }
                });
            }
        });
        let mut sum = 0;
        pool.each(|count| sum += *count);
        assert_eq!(sum, 40_000);
    }
}
