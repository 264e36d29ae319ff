//! `Options::flush_subnormals`: machine code flushes subnormal numbers to zero, on every thread and
//! in both precisions. Nothing else does, and the mode ends with the call.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::Arc;

use lambada::{Engine, Model, Options, Precision, args};
use ndarray::{Array1, ArrayD};

/// Whether the processor supports the mode.
const HAS_MODE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

fn model(text: &str, options: Options) -> Model {
    Model::builder().options(options).compile("m.lam", text).unwrap_or_else(|e| panic!("{e}"))
}

fn flushing() -> Options {
    Options { flush_subnormals: true, ..Options::default() }
}

/// Half of the least normal number, computed on this thread.
fn half_here() -> f64 {
    black_box(f64::MIN_POSITIVE) * black_box(0.5)
}

/// Vectorized loops, on one thread and on several, and their gradients.
#[test]
fn all_threads_flush_and_none_stays_so() {
    let text = "def f [n] (c : real) (xs : [n]real) : [n]real = for x in xs => c * sin x\n\
        def g [n] (c : real) (xs : [n]real) : real = sum (for x in xs => c * x)";
    let xs = Array1::from_elem(100_000, 4.0 * f64::MIN_POSITIVE);
    let results = |options: Options| -> [Vec<f64>; 2] {
        let model = model(text, options);
        let f = model.function("f").unwrap();
        let values = ArrayD::<f64>::try_from(f.call(args![0.125, &xs]).unwrap()).unwrap();
        let gradient = model.function("g").unwrap().value_and_grad(&["xs"]).unwrap();
        let (_, slope) = gradient.call(args![half_here(), &xs]).unwrap();
        let slope = ArrayD::<f64>::try_from(slope.get("xs").unwrap().clone()).unwrap();
        [values, slope].map(|found| found.into_iter().collect())
    };
    let kept = results(Options::default());
    assert!(kept.iter().flatten().all(|x| *x == half_here() && x.is_subnormal()));
    for threads in [1, 2, 3] {
        let threads = NonZeroUsize::new(threads).unwrap();
        let [values, _] = results(Options { threads, ..flushing() });
        assert!(values.iter().all(|x| (*x == 0.0) == HAS_MODE), "{threads} threads");
        assert!(half_here().is_subnormal());
        // The pooled threads are back in the usual mode.
        let again = results(Options { threads, ..Options::default() });
        assert!(again == kept, "{threads} threads");
    }
}

/// Evaluators keep subnormal numbers despite the option.
#[test]
fn evaluators_keep_them() {
    let text = "def f (x : real) : real = 0.5 * x";
    for engine in [Engine::Loops, Engine::Anf, Engine::Core] {
        let f = model(text, Options { engine, ..flushing() }).function("f").unwrap();
        let found = f64::try_from(f.call(args![f64::MIN_POSITIVE]).unwrap()).unwrap();
        assert_eq!(found, half_here(), "{engine:?}");
    }
    let f = model(text, flushing()).function("f").unwrap();
    let found = f64::try_from(f.call(args![f64::MIN_POSITIVE]).unwrap()).unwrap();
    assert_eq!(found == 0.0, HAS_MODE);
    // A normal result of a normal argument is unchanged.
    let found = f64::try_from(f.call(args![2.0 * f64::MIN_POSITIVE]).unwrap()).unwrap();
    assert_eq!(found, f64::MIN_POSITIVE);
}

/// Observers see subnormal numbers, conversion to 32-bit reals takes place outside of the mode, and
/// a failure ends the mode.
#[test]
fn who_looks_does_not_flush() {
    let text = "def f (x : real) : real = 0.5 * inspect x\n\
        def g [n] (xs : [n]real) (i : int) : real = 0.5 * xs[i]";
    let tiny = 1e-40_f32;
    let options = Options { precision: Precision::F32, ..flushing() };
    let model = model(text, options);
    let (told, tell) = std::sync::mpsc::channel();
    let observer = move |_: &_, value: &lambada::Data| told.send(value.clone()).unwrap();
    let f = model.function("f").unwrap().with_observer(Arc::new(observer));
    let found = f64::try_from(f.call(args![f64::from(tiny)]).unwrap()).unwrap();
    assert_eq!(found == 0.0, HAS_MODE);
    assert_eq!(tell.recv().unwrap(), lambada::Data::from(f64::from(tiny)));
    let g = model.function("g").unwrap();
    assert!(g.call(args![&Array1::from_elem(3, 1.0), 3]).is_err());
    assert!(half_here().is_subnormal());
}
