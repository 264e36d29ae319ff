//! Room for deep recursion. The compiler recurses over trees, a program may be a tree of many
//! thousand levels, and the calling thread may have a stack of a few hundred kilobytes. So entry
//! points run [`roomy`], and recursion whose depth depends on the program goes through [`deeper`].
//! A stack overflow would end the process.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};

/// Stack sizes that [`roomy`] tries in turn. The address space is reserved, not used.
const STACKS: [usize; 4] = [1 << 30, 1 << 28, 1 << 26, 1 << 24];

/// Remaining bytes from which a stack counts as roomy.
const ENOUGH: usize = 1 << 29;

/// Remaining bytes below which [`deeper`] allocates another piece of stack.
const RED_ZONE: usize = 1 << 18;

/// Size of a piece of stack.
const PIECE: usize = 1 << 24;

thread_local! {
    /// Whether a roomy stack is in use.
    static ROOMY: Cell<bool> = const { Cell::new(false) };
    /// Number of pieces of stack in use.
    static PIECES: Cell<u64> = const { Cell::new(0) };
}

/// Runs an entry point of the library with room for recursion, on the same thread.
pub fn roomy<T>(run: impl FnOnce() -> T) -> T {
    if ROOMY.get() || stacker::remaining_stack().is_some_and(|left| left >= ENOUGH) {
        return run();
    }
    /// Clears the flag on return and on unwinding.
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            ROOMY.set(false);
        }
    }
    let run = || {
        ROOMY.set(true);
        let _leave = Leave;
        run()
    };
    match STACKS.into_iter().find(|size| is_available(*size)) {
        Some(size) => stacker::grow(size, run),
        None => run(),
    }
}

/// Runs a step of a recursion on the current stack, or on another piece if little of that is left.
pub fn deeper<T>(run: impl FnOnce() -> T) -> T {
    if stacker::remaining_stack().is_some_and(|left| left >= RED_ZONE) {
        return run();
    }
    /// Decrements the count on return and on unwinding.
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            PIECES.set(PIECES.get() - 1);
        }
    }
    PIECES.set(PIECES.get() + 1);
    let _leave = Leave;
    stacker::grow(PIECE, run)
}

/// A place on the stack of a thread, from which the depth of a recursion is measured.
#[derive(Clone, Copy, Debug)]
pub struct Depth {
    left: usize,
    pieces: u64,
}

impl Depth {
    /// The place of the caller.
    pub fn here() -> Depth {
        Depth { left: stacker::remaining_stack().unwrap_or(0), pieces: PIECES.get() }
    }

    /// Number of bytes of stack between this place and the current one, which must be deeper.
    pub fn taken(self) -> u64 {
        let left = stacker::remaining_stack().unwrap_or(0);
        match PIECES.get().saturating_sub(self.pieces) {
            0 => self.left.saturating_sub(left) as u64,
            // The first stack is used up, and so are all pieces but the last one.
            pieces => self.left as u64 + pieces * PIECE as u64 - left.min(PIECE) as u64,
        }
    }
}

/// Whether the system grants this much address space. If it does not, growing the stack would
/// panic.
fn is_available(size: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(size).is_ok()
}

/// A value that may be deeply nested; dropping it has room for recursion.
#[derive(Debug)]
pub struct Deep<T>(Option<T>);

impl<T> From<T> for Deep<T> {
    fn from(value: T) -> Deep<T> {
        Deep(Some(value))
    }
}

impl<T> Deref for Deep<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("it is there until it is dropped")
    }
}

impl<T> DerefMut for Deep<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("it is there until it is dropped")
    }
}

impl<T: Clone> Clone for Deep<T> {
    fn clone(&self) -> Deep<T> {
        roomy(|| T::clone(self).into())
    }
}

impl<T> Deep<T> {
    /// The value.
    pub fn into_inner(mut self) -> T {
        self.0.take().expect("it is there until it is dropped")
    }
}

impl<T> Drop for Deep<T> {
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            roomy(|| drop(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs on a thread with a small stack.
    fn on_a_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
        let thread = std::thread::Builder::new().stack_size(1 << 17).spawn(run).expect("a thread");
        thread.join().expect("it does not panic")
    }

    struct List(Option<Box<List>>);

    fn list(length: usize) -> List {
        (0..length).fold(List(None), |rest, _| List(Some(Box::new(rest))))
    }

    fn length(list: &List) -> usize {
        list.0.as_ref().map_or(0, |rest| 1 + std::hint::black_box(length(rest)))
    }

    #[test]
    fn entry_points_have_room() {
        assert_eq!(on_a_small_stack(|| roomy(|| length(&list(100_000)))), 100_000);
    }

    #[test]
    fn a_deep_value_is_dropped_with_room() {
        let length = on_a_small_stack(|| {
            let list = Deep::from(list(100_000));
            roomy(|| length(&list))
        });
        assert_eq!(length, 100_000);
    }

    #[test]
    fn a_recursion_takes_more_stack() {
        fn down(depth: usize) -> usize {
            let space = std::hint::black_box([0_u8; 1 << 10]);
            if depth == 0 { space.len() } else { deeper(|| down(depth - 1)) }
        }
        assert_eq!(on_a_small_stack(|| down(50_000)), 1 << 10);
    }

    /// Measures on the first stack and on pieces. A frame may hold its array more than once.
    #[test]
    fn depth_is_measured() {
        fn down(from: Depth, depth: usize) -> (u64, usize) {
            let space = std::hint::black_box([0_u8; 1 << 12]);
            let (taken, size) = match depth {
                0 => (from.taken(), 0),
                _ => deeper(|| down(from, depth - 1)),
            };
            (taken, size + std::hint::black_box(space).len())
        }
        for depth in [10, 1000, 20_000] {
            let (taken, size) = on_a_small_stack(move || down(Depth::here(), depth));
            assert!(taken >= size as u64, "{taken} for {size}");
            assert!(taken < size as u64 * 4 + (1 << 19), "{taken} for {size}");
            let (roomy, size) = on_a_small_stack(move || roomy(|| down(Depth::here(), depth)));
            assert!(roomy >= size as u64 && roomy <= taken, "{roomy} for {size}");
        }
    }

    #[test]
    fn a_panic_leaves_the_roomy_stack() {
        on_a_small_stack(|| {
            let panicked = std::panic::catch_unwind(|| roomy(|| panic!("on purpose")));
            assert!(panicked.is_err() && !ROOMY.get());
        });
    }
}
