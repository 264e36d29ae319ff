//! A separate stack for programs whose functions call each other. It is reserved, not committed:
//! the system supplies pages on first use, so it may be far larger than the memory. The code
//! measures its depth and fails before the end.

#![allow(unsafe_code)]

/// Bytes at the end of a stack for unmeasured use: the last frame, and functions of the system.
const MARGIN: usize = 1 << 20;

#[cfg(unix)]
mod reserved {
    use std::ptr::null_mut;

    use lambada_prim::MOST_FOR_CALLS;

    /// Sizes to request, in order.
    const SIZES: [usize; 5] = [1 << 33, 1 << 32, 1 << 30, 1 << 28, 1 << 26];

    /// Size of the inaccessible pages at the end, should a frame exceed the margin.
    const GUARD: usize = 1 << 16;

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    const RESERVED: i32 = libc::MAP_NORESERVE;
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    const RESERVED: i32 = 0;

    /// Bytes of memory of the machine; `usize::MAX` if unknown.
    fn memory() -> usize {
        // SAFETY: these only read system parameters.
        let [pages, size] =
            [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| unsafe { libc::sysconf(name) });
        let bytes = usize::try_from(pages).ok().zip(usize::try_from(size).ok());
        bytes.and_then(|(pages, size)| pages.checked_mul(size)).unwrap_or(usize::MAX)
    }

    /// Memory for a stack.
    #[derive(Debug)]
    pub(crate) struct Stack {
        base: *mut u8,
        size: usize,
    }

    impl Stack {
        /// The largest stack that the system grants.
        pub fn new() -> Option<Stack> {
            SIZES.into_iter().find_map(Stack::of)
        }

        fn of(size: usize) -> Option<Stack> {
            let (access, kind) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON | RESERVED);
            // SAFETY: a new mapping at an address that the system chooses affects no existing
            // memory.
            let base = unsafe { libc::mmap(null_mut(), size, access, kind, -1, 0) };
            if base == libc::MAP_FAILED {
                return None;
            }
            let stack = Stack { base: base.cast(), size };
            // SAFETY: the first pages of the new mapping, which nothing uses yet.
            let guarded = unsafe { libc::mprotect(base, GUARD, libc::PROT_NONE) };
            (guarded == 0).then_some(stack)
        }

        /// Bytes that the code may use: at most half of the memory, because the system overcommits.
        pub fn room(&self) -> usize {
            (self.size - GUARD - super::MARGIN).min(memory() / 2).min(MOST_FOR_CALLS as usize)
        }

        /// Runs `run`, which must not unwind, on the stack.
        pub fn run<T>(&self, run: impl FnOnce() -> T) -> T {
            // SAFETY: the memory is ours, mapped as long as `self` lives, and page-aligned. Nothing
            // else is on the stack, because `Stack` is not `Sync` and `run` calls no other kernel.
            // `run` is a kernel in C, which does not unwind.
            unsafe { psm::on_stack(self.base, self.size, run) }
        }
    }

    impl Drop for Stack {
        fn drop(&mut self) {
            // SAFETY: `Stack::of` mapped the memory, and nothing runs on it.
            unsafe { libc::munmap(self.base.cast(), self.size) };
        }
    }
}

#[cfg(not(unix))]
mod reserved {
    /// The compiler's own stack.
    #[derive(Debug)]
    pub(crate) struct Stack;

    impl Stack {
        pub fn new() -> Option<Stack> {
            Some(Stack)
        }

        /// The smallest roomy stack is sixteen times larger.
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
