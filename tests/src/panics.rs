//! Panics as complaints: a panic is caught, and reported with its place.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether this thread catches panics.
    static CATCHES: Cell<bool> = const { Cell::new(false) };
    /// Where the last panic was.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The result of the work, or `panic at FILE:LINE:COLUMN: MESSAGE`. Nothing is printed.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !CATCHES.get() {
                return before(info);
            }
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            let text = info.payload_as_str().unwrap_or_default();
            PLACE.set(format!("panic at {place}: {}", text.lines().next().unwrap_or_default()));
        }));
    });
    let outer = CATCHES.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work)).map_err(|_| PLACE.take());
    CATCHES.set(outer);
    result
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[test]
    fn the_place_is_told() {
        let complaint = caught(|| panic!("three is {}\nsecond line", 3)).unwrap_err();
        assert!(complaint.starts_with("panic at tests/src/panics.rs:"), "{complaint}");
        assert!(complaint.ends_with(": three is 3"), "{complaint}");
        assert_eq!(caught(|| 7), Ok(7));
    }
}
