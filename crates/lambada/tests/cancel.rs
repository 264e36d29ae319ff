//! Calls cancelled from another thread end soon with an error, and do not affect the next call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lambada::{Cancel, Engine, ErrorKind, Function, Model, Options, args};

/// Programs that run for hours or forever; their argument is the amount of work.
const PROGRAMS: [(&str, &str); 6] = [
    ("while", "def f (n : int) : real = loop x = real n while x > 0.5 && n > 3 do x + sin x + 2.0"),
    ("one loop", "def f (n : int) : real = loop s = 0.0 for i < n * n * n do s + sin (real i)"),
    ("a nest", "def f (n : int) : real = sum (for i < n => sum (for j < n => sin (real (i * j))))"),
    (
        "loops with states",
        "def f (n : int) : real = loop s = 0.0 for i < n do loop t = s for j < n do 0.5 * t + sin (real (i + j))",
    ),
    (
        "recursion",
        "def rec fib (n : int) : int = if n < 2 then n else fib (n - 1) + fib (n - 2)\n\
         def f (n : int) : real = real (fib (if n < 100 then n else 100))",
    ),
    (
        "branches",
        "def f (n : int) : real = loop s = 0.0 for i < n do if i % 2 == 0 then sum (for j < n => sin (s + real j)) else s",
    ),
];

fn functions(text: &str) -> [Function; 2] {
    [Engine::Native, Engine::Loops].map(|engine| {
        let options = Options { engine, ..Options::default() };
        let model = Model::builder().options(options).compile("m.lam", text);
        model.and_then(|model| model.function("f")).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// Runs a function on a thread, and cancels it until it has ended.
fn ended<R: Send>(cancel: &Cancel, run: impl FnOnce() -> R + Send) -> R {
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            let result = cancel.run(run);
            has_ended.store(true, Ordering::SeqCst);
            result
        });
        std::thread::sleep(Duration::from_millis(30));
        assert!(!has_ended.load(Ordering::SeqCst), "it has ended by itself");
        cancel.cancel();
        running.join().expect("it does not panic")
    })
}

#[test]
fn what_is_cancelled_ends_and_runs_again() {
    for (what, text) in PROGRAMS {
        for f in functions(text) {
            let few = f.call(args![3]).unwrap_or_else(|error| panic!("{what}: {error}"));
            let cancel = Cancel::new();
            let error = ended(&cancel, || f.call(args![1_000_000])).expect_err("it is cancelled");
            assert_eq!(error.kind(), ErrorKind::Interrupted, "{what}: {error}");
            assert_eq!(error.to_string(), "the call of `f` has been cancelled");
            assert_eq!(f.call(args![3]).expect("nobody ends this one"), few, "{what}");
        }
    }
}

#[test]
fn nothing_begins_until_it_is_reset() {
    for f in functions("def f (n : int) : int = n + 1") {
        let cancel = Cancel::new();
        cancel.cancel();
        let error = cancel.run(|| f.call(args![3])).expect_err("it is cancelled");
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        assert!(f.call(args![3]).is_ok());
        cancel.reset();
        assert!(cancel.run(|| f.call(args![3])).is_ok());
    }
}

#[test]
fn derivatives_end_too_and_others_go_on() {
    let text =
        "def f (x : real) (n : int) : real = loop s = x for i < n do 0.5 * s + sin (s + real i)";
    for f in functions(text) {
        let gradient = f.value_and_grad(&["x"]).expect("it has one");
        let (cancel, other) = (Cancel::new(), Cancel::new());
        let error = ended(&cancel, || {
            // Each sweep is short; `cancel` ends the current call.
            loop {
                gradient.call(args![1.0, 100_000])?;
            }
            #[allow(unreachable_code)]
            Ok::<(), lambada::Error>(())
        });
        assert_eq!(error.expect_err("it is cancelled").kind(), ErrorKind::Interrupted);
        let (value, _) = other.run(|| gradient.call(args![1.0, 1000])).expect("it is another one");
        assert!(value.is_finite());
    }
}
