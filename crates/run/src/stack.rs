//! A stack of their own for programs whose functions call each other. It is reserved and not taken:
//! the system gives a page when it is touched, so it may be far larger than the memory. The code
//! measures how deep it is and fails before the end.

#![allow(unsafe_code)]

/// How many bytes at the end of a stack are left to what does not measure: the frame that is made
/// last, and functions of the system.
const MARGIN: usize = 1 << 20;

#[cfg(unix)]
mod reserved {
    use std::ptr::null_mut;

    use lambada_prim::MOST_FOR_CALLS;

    /// The sizes that are asked for, the first that the system has.
    const SIZES: [usize; 5] = [1 << 33, 1 << 32, 1 << 30, 1 << 28, 1 << 26];

    /// What no frame reaches, should a frame be larger than the margin.
    const GUARD: usize = 1 << 16;

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    const RESERVED: i32 = libc::MAP_NORESERVE;
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    const RESERVED: i32 = 0;

    /// The memory of the machine, in bytes; of a machine that does not tell, as much as is asked
    /// for.
    fn memory() -> usize {
        // SAFETY: these only read what the system says of itself.
        let [pages, size] =
            [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| unsafe { libc::sysconf(name) });
        let bytes = usize::try_from(pages).ok().zip(usize::try_from(size).ok());
        bytes.and_then(|(pages, size)| pages.checked_mul(size)).unwrap_or(usize::MAX)
    }

    /// Memory that is a stack.
    #[derive(Debug)]
    pub(crate) struct Stack {
        base: *mut u8,
        size: usize,
    }

    impl Stack {
        /// The largest that the system gives, if it gives one.
        pub fn new() -> Option<Stack> {
            SIZES.into_iter().find_map(Stack::of)
        }

        fn of(size: usize) -> Option<Stack> {
            let (access, kind) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON | RESERVED);
            // SAFETY: new memory, at an address that the system chooses, touches nothing that is
            // there.
            let base = unsafe { libc::mmap(null_mut(), size, access, kind, -1, 0) };
            if base == libc::MAP_FAILED {
                return None;
            }
            let stack = Stack { base: base.cast(), size };
            // SAFETY: the first pages of what has just been mapped, which nobody uses.
            let guarded = unsafe { libc::mprotect(base, GUARD, libc::PROT_NONE) };
            (guarded == 0).then_some(stack)
        }

        /// How many bytes the code may use: no more than half of the memory, for the system gives
        /// pages that it does not have.
        pub fn room(&self) -> usize {
            (self.size - GUARD - super::MARGIN).min(memory() / 2).min(MOST_FOR_CALLS as usize)
        }

        /// Runs something on the stack, which does not unwind.
        pub fn run<T>(&self, run: impl FnOnce() -> T) -> T {
            // SAFETY: the memory is ours, mapped as long as `self` is, and its ends are ends of
            // pages. `Stack` is not `Sync`, and what runs calls no kernel, so nothing else is on
            // it. What runs is a kernel, which is C and does not unwind.
            unsafe { psm::on_stack(self.base, self.size, run) }
        }
    }

    impl Drop for Stack {
        fn drop(&mut self) {
            // SAFETY: it has been mapped by `Stack::of`, and nothing runs on it.
            unsafe { libc::munmap(self.base.cast(), self.size) };
        }
    }
}

#[cfg(not(unix))]
mod reserved {
    /// What the compiler itself runs on.
    #[derive(Debug)]
    pub(crate) struct Stack;

    impl Stack {
        pub fn new() -> Option<Stack> {
            Some(Stack)
        }

        /// The smallest roomy stack is sixteen times as large.
        pub fn room(&self) -> usize {
            super::MARGIN
        }

        pub fn run<T>(&self, run: impl FnOnce() -> T) -> T {
            lambada_source::stack::roomy(run)
        }
    }
}

pub(crate) use reserved::Stack;

#[cfg(test)]
mod tests {
    use super::Stack;

    #[test]
    fn a_stack_is_large_and_separate() {
        let stack = Stack::new().expect("the system has room");
        assert!(stack.room() >= 1 << 20);
        let here = 0u8;
        let there = stack.run(|| {
            let local = std::hint::black_box(0u8);
            std::ptr::from_ref(&local) as usize
        });
        assert!(there.abs_diff(std::ptr::from_ref(&here) as usize) > 1 << 12);
    }
}
