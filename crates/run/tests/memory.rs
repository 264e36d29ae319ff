//! Memory is freed. A process of its own, because the test measures the memory of the process.

mod common;

use common::*;

#[cfg(target_os = "linux")]
#[test]
fn many_calls_do_not_leak() {
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split(' ').nth(1).unwrap().parse::<i64>().unwrap() * 4096
    };
    let function = scopes();
    let kernel = exact(&[&function]).remove(0);
    let small = || kernel.call(&[size(50_000)]).unwrap();
    (0..3).for_each(|_| drop(small()));
    let before = resident();
    (0..50).for_each(|_| drop(small()));
    assert!(resident() - before < 8 << 20, "{} bytes more", resident() - before);
    // A kernel frees its contexts.
    let again = |_| {
        let kernel = exact(&[&function]).remove(0);
        kernel.call(&[size(50_000)]).unwrap();
    };
    (0..3).for_each(again);
    let before = resident();
    (0..100).for_each(again);
    assert!(resident() - before < 16 << 20, "{} bytes more", resident() - before);
}
