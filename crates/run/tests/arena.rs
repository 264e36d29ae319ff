//! The second call is as fast as any later one. A process of its own, because the test measures
//! page faults of the process.

mod common;

use common::*;
use lambada_loops::{Return, Step, Stmt};
use lambada_prim::Prim;

/// Number of page faults so far.
#[cfg(target_os = "linux")]
fn faults() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after = text.rsplit(')').next().unwrap();
    after.split(' ').nth(8).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn the_second_call_finds_the_memory_of_the_first() {
    // Many arrays of growing size, so that the arena grows in many steps.
    let mut p = Builder::new("growing");
    let n = p.size("n");
    let mut sum = real(0.0);
    for k in 1..=12 {
        let len = p.prim(Prim::MulInt, &[n, int(k * k)]);
        let xs = p.alloc(REAL, len, "xs");
        p.put(Stmt::Step(Step::Fill { buf: xs, value: real(1.0), len }));
        let x = p.load(xs, int(0), 1);
        sum = p.prim(Prim::Add, &[sum, x]);
    }
    let function = p.finish(vec![Return::Scalar(sum)]);
    let kernel = exact(&[&function]).remove(0);
    let call = || {
        let before = faults();
        kernel.call(&[size(50_000)]).unwrap();
        faults() - before
    };
    let (first, second, third) = (call(), call(), call());
    // 260 MB are 63 000 pages, or 120 large ones.
    assert!(second < 100 && third < 100, "{first}, then {second}, then {third}");
    let bytes: u64 = (1..=12).map(|k| (50_000 * k * k * 8u64).next_multiple_of(64)).sum();
    assert_eq!(kernel.peak(), Some(bytes));
}
