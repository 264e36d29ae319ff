//! How much memory arrays may take. Every engine multiplies sizes with [`elements`] and asks
//! [`Memory`] before it allocates, so that a program that wants too much fails with a message
//! instead of aborting the process.

use std::collections::TryReserveError;

use crate::Prim;

/// The memory that a run may use for arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// In bytes.
    pub limit: u64,
}

impl Default for Memory {
    /// As much as there is.
    fn default() -> Memory {
        Memory { limit: i64::MAX as u64 }
    }
}

impl Memory {
    /// The number of elements of an array that is about to be made, if there is room for them
    /// besides the bytes that are in use.
    pub fn room(
        self,
        sizes: impl IntoIterator<Item = i64>,
        bytes_each: u64,
        in_use: u64,
    ) -> Result<usize, String> {
        let Some(count) = elements(sizes) else { return Err(self.refused(None, in_use)) };
        let fits = |bytes: u64| bytes <= self.limit.saturating_sub(in_use);
        match count.checked_mul(bytes_each) {
            Some(bytes) if fits(bytes) => Ok(count as usize),
            bytes => Err(self.refused(bytes.map(|_| (count, bytes_each)), in_use)),
        }
    }

    /// Whether there is room for this many bytes of nodes besides those in use.
    pub fn more(self, bytes: u64, in_use: u64) -> Result<(), String> {
        if bytes <= self.limit.saturating_sub(in_use) {
            return Ok(());
        }
        let (used, limit) = (size(in_use), size(self.limit));
        Err(format!(
            "out of memory: {used} are in use, and one more value needs more than the limit of {limit} (see --max-memory)"
        ))
    }

    /// The message for an array that does not fit: its number of elements and the bytes of each, if
    /// known.
    pub fn refused(self, array: Option<(u64, u64)>, in_use: u64) -> String {
        let bytes = array.and_then(|(count, each)| Some((count, count.checked_mul(each)?)));
        let Some((count, bytes)) = bytes else {
            return "out of memory: this array has more elements than can be addressed".to_string();
        };
        self.refused_bytes(&format!("this array of {count} elements"), bytes, in_use)
    }

    /// The message for a node, with its arrays, that does not fit.
    pub fn refused_node(self, bytes: u64, in_use: u64) -> String {
        self.refused_bytes("this value", bytes, in_use)
    }

    fn refused_bytes(self, what: &str, bytes: u64, in_use: u64) -> String {
        let needs = format!("out of memory: {what} needs {}", size(bytes));
        let limit = size(self.limit);
        if bytes > self.limit {
            format!("{needs}, more than the limit of {limit} (see --max-memory)")
        } else if bytes > self.limit.saturating_sub(in_use) {
            let used = size(in_use);
            format!(
                "{needs}, and {used} are in use: more than the limit of {limit} (see --max-memory)"
            )
        } else {
            format!("{needs}, which the system does not give")
        }
    }
}

/// The failure, if requested, when an operation makes a NaN out of numbers, on every engine.
pub fn made_nan(op: Prim) -> String {
    made_nan_by(op.row().surface.spelling().unwrap_or(op.name()))
}

/// [`made_nan`] for an operation of this name.
pub fn made_nan_by(name: &str) -> String {
    format!("here `{name}` makes the first NaN: none of its operands is one")
}

/// The bytes that nested calls may take, on every engine, unless the limit for arrays is lower. A
/// recursion without end has to touch all of them before it is an error, and the system gives about
/// a gigabyte in a second.
pub const MOST_FOR_CALLS: u64 = 4 << 30;

/// The failure when nested calls take all memory that they may, on every engine.
pub const TOO_DEEP: &str = "the recursion is too deep: the calls inside of each other take all the memory that they may, 4 GiB at most";

/// The number of elements of an array with these sizes; a negative size counts as 0. Nothing if it
/// does not fit.
pub fn elements(sizes: impl IntoIterator<Item = i64>) -> Option<u64> {
    let mut product = Some(1u64);
    for size in sizes {
        if size <= 0 {
            return Some(0);
        }
        product = product.and_then(|product| product.checked_mul(size as u64));
    }
    product.filter(|product| *product <= i64::MAX as u64)
}

/// Reserves room in a vector for `more` elements. It doubles, as vectors do, but takes no more than
/// `spare` bytes beyond the request, so that the reserved memory stays within a limit, too.
pub fn grow<T>(items: &mut Vec<T>, more: usize, spare: u64) -> Result<(), TryReserveError> {
    let needed = items.len().saturating_add(more);
    if needed <= items.capacity() {
        return Ok(());
    }
    let spare = usize::try_from(spare / size_of::<T>().max(1) as u64).unwrap_or(usize::MAX);
    let doubled = items.capacity().saturating_mul(2).min(needed.saturating_add(spare));
    items.try_reserve_exact(doubled.max(needed) - items.len())
}

/// `640 bytes`, `12.5 MB`, `800 GB`
pub fn size(bytes: u64) -> String {
    let scaled = |unit: f64, name: &str| {
        let value = bytes as f64 / unit;
        let text = if value < 99.95 { format!("{value:.1}") } else { format!("{value:.0}") };
        format!("{} {name}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match bytes {
        0..1_000_000 => format!("{bytes} bytes"),
        1_000_000..1_000_000_000 => scaled(1e6, "MB"),
        _ => scaled(1e9, "GB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_sizes_are_exact() {
        assert_eq!(elements([3, 4]), Some(12));
        assert_eq!(elements([]), Some(1));
        assert_eq!(elements([1 << 32, 1 << 30]), Some(1 << 62));
        assert_eq!(elements([1 << 32, 1 << 32]), None);
        assert_eq!(elements([i64::MAX]), Some(i64::MAX as u64));
        assert_eq!(elements([i64::MAX, 2]), None);
        assert_eq!(elements([1 << 40, 1 << 40, 0]), Some(0));
        assert_eq!(elements([1 << 40, -1]), Some(0));
    }

    #[test]
    fn vectors_grow_within_what_is_spare() {
        let mut items: Vec<u64> = Vec::new();
        grow(&mut items, 100, 0).expect("there is room");
        assert_eq!(items.capacity(), 100);
        items.resize(100, 0);
        grow(&mut items, 1, 80).expect("there is room");
        assert_eq!(items.capacity(), 111);
        items.resize(111, 0);
        grow(&mut items, 1, u64::MAX).expect("there is room");
        assert_eq!(items.capacity(), 222);
        assert!(grow(&mut items, usize::MAX, 0).is_err());
    }

    #[test]
    fn what_is_refused_is_told_in_bytes() {
        let memory = Memory { limit: 2_000_000_000 };
        let told = |sizes: &[i64], in_use| memory.room(sizes.iter().copied(), 8, in_use);
        assert_eq!(told(&[1000], 0), Ok(1000));
        assert_eq!(told(&[250_000_000], 0), Ok(250_000_000));
        let text = told(&[1_000_000, 1_000_000], 0).unwrap_err();
        assert!(text.contains("1000000000000 elements needs 8000 GB"), "{text}");
        assert!(text.contains("the limit of 2 GB"), "{text}");
        let text = told(&[250_000_000], 1).unwrap_err();
        assert!(text.contains("needs 2 GB, and 1 bytes are in use"), "{text}");
        let text = told(&[1 << 32, 1 << 32], 0).unwrap_err();
        assert!(text.contains("more elements than can be addressed"), "{text}");
        let text = Memory::default().room([i64::MAX], 8, 0).unwrap_err();
        assert!(text.contains("more elements than can be addressed"), "{text}");
    }
}
