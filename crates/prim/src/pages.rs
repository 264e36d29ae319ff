//! Memory of large arrays. Where the system hands out new memory in small pages, that takes longer
//! than a copy, so large pages are asked for.

#![allow(unsafe_code)]

/// The elements in a vector, which has large pages if there are many.
pub fn gathered<T>(elements: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = Vec::with_capacity(elements.len());
    ask_for_large(&mut all);
    all.extend(elements);
    all
}

/// Asks for large pages for the elements that a vector has room for.
pub fn ask_for_large<T>(vector: &mut Vec<T>) {
    #[cfg(target_os = "linux")]
    large::ask(vector.as_mut_ptr().cast(), vector.capacity() * size_of::<T>());
    #[cfg(not(target_os = "linux"))]
    let _ = vector;
}

#[cfg(target_os = "linux")]
mod large {
    /// The size of a large page.
    const PAGE: usize = 1 << 21;

    /// Asks for large pages between two places, if there is room for any. Where the system has
    /// none, nothing changes.
    pub fn ask(memory: *mut u8, bytes: usize) {
        let skipped = memory.addr().next_multiple_of(PAGE) - memory.addr();
        let len = bytes.saturating_sub(skipped) / PAGE * PAGE;
        if len > 0 {
            // SAFETY: advice on whole pages inside of memory that the caller owns, which keeps its
            // content.
            unsafe { libc::madvise(memory.wrapping_add(skipped).cast(), len, libc::MADV_HUGEPAGE) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::gathered;

    #[test]
    fn elements_stay_as_they_are_whatever_their_number() {
        for count in [0, 1, 1000, 1 << 20, (1 << 20) + 7] {
            let elements: Vec<i64> = (0..count).collect();
            assert_eq!(gathered(elements.iter().copied()), elements);
        }
    }
}
