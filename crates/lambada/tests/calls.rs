//! Overhead of a call: the exact number of allocations, and the time, with generous bounds; see
//! `cargo bench -p lambada --bench calls` for precise measurements.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

use lambada::{Model, args};
use ndarray::Array1;

/// The system's allocator, counting the allocations of each thread.
struct Counting;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all requests go to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.with(|asked| asked.set(asked.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(run: impl FnOnce()) -> usize {
    let before = ASKED.with(Cell::get);
    run();
    ASKED.with(Cell::get) - before
}

/// The minimum over several rounds of the time for a call.
fn shortest(calls: u32, mut call: impl FnMut()) -> Duration {
    let round = |_| {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        start.elapsed() / calls
    };
    (0..20).map(round).min().expect("there are rounds")
}

#[test]
fn a_call_costs_little() {
    let model = Model::compile("f.lam", "def f [n] (x : [n]real) (a : real) = a * sum x").unwrap();
    let (f, x, mut y) = (model.function("f").unwrap(), Array1::from_elem(4, 1.0), 0.0);
    let given = args![&x, 2.0];
    f.call_into(&given, &mut y).unwrap();
    let prepared = shortest(10_000, || f.call_into(&given, &mut y).unwrap());
    let whole = shortest(10_000, || {
        y = f.call(args![x: &x, a: 2.0]).and_then(f64::try_from).unwrap();
    });
    println!("with arguments that are prepared {prepared:?}, with all {whole:?}");
    assert_eq!(y, 8.0);
    let most = Duration::from_micros(if cfg!(debug_assertions) { 5 } else { 1 });
    assert!(prepared < most && whole < 2 * most, "{prepared:?} {whole:?}");
}

/// Copying a hundred megabytes a hundred times would take seconds.
#[test]
fn large_arrays_are_lent() {
    let model = Model::compile("f.lam", "def f (x : []real) (k : int) = x[k]").unwrap();
    let (f, x, mut y) = (model.function("f").unwrap(), Array1::from_elem(12_500_000, 1.5), 0.0);
    f.call_into(&args![&x, 0], &mut y).unwrap();
    let each = shortest(10, || f.call_into(&args![x: x.view(), k: 12_499_999], &mut y).unwrap());
    println!("with 100 MB {each:?}");
    assert_eq!(y, 1.5);
    assert!(each < Duration::from_micros(500), "{each:?}");
}

#[test]
fn results_are_written_without_memory_of_their_own() {
    let text = "def f [n] (x : [n]real) (a : real) = (a * sum x, for y in x => a * y)";
    let f = Model::compile("f.lam", text).unwrap().function("f").unwrap();
    let (x, mut y, mut ys) = (Array1::from_elem(100, 1.0), 0.0, vec![0.0; 100]);
    let given = args![&x, 2.0];
    f.call_into(&given, &mut (&mut y, &mut ys)).unwrap();
    let asked = allocations(|| {
        for _ in 0..10 {
            f.call_into(&given, &mut (&mut y, &mut ys)).unwrap();
        }
    });
    assert_eq!((y, ys[99], asked), (200.0, 2.0, 0));
    // The counter does count.
    assert!(allocations(|| drop(f.call(args![&x, 2.0]).unwrap())) > 0);
}

#[test]
fn derivatives_are_written_without_memory_of_their_own() {
    let text = "def f [n] (x : [n]real) (a : real) = a * sum (x * x)";
    let f = Model::compile("f.lam", text).unwrap().function("f").unwrap();
    let (gradient, along) = (f.value_and_grad(&["x", "a"]).unwrap(), f.jvp(&["a"]).unwrap());
    let (x, mut out, mut pair) = (Array1::from_elem(4, 1.0), (0.0, vec![0.0; 4], 0.0), (0.0, 0.0));
    let (given, tangents) = (args![x: &x, a: 2.0], args![a: 1.0]);
    let mut both = || {
        gradient.call_into(&given, &mut out).unwrap();
        along.call_into(&given, &tangents, &mut pair).unwrap();
    };
    both();
    assert_eq!(allocations(&mut both), 0);
    assert_eq!((out, pair), ((8.0, vec![4.0; 4], 4.0), (8.0, 4.0)));
}

/// Two allocations: the list of arguments, and the number.
#[test]
fn a_whole_call_allocates_what_it_takes_and_gives() {
    let model = Model::compile("f.lam", "def f [n] (x : [n]real) (a : real) = a * sum x").unwrap();
    let (f, x) = (model.function("f").unwrap(), Array1::from_elem(4, 1.0));
    let call = || f64::try_from(f.call(args![x: &x, a: 2.0]).unwrap()).unwrap();
    let mut y = call();
    assert_eq!(allocations(|| y += call()), 2);
    assert_eq!(y, 16.0);
}
