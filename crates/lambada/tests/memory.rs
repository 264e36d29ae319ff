//! Excessive sizes: every engine refuses them with a message that states the required memory, at
//! the construct that needs it. Nothing aborts, panics, or uses up the machine's memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lambada::{Data, Engine, Executable, Inputs, Operator, Session, Tensor};

const ENGINES: [Engine; 4] = [Engine::Native, Engine::Loops, Engine::Anf, Engine::Core];
/// Memory limit in bytes.
const LIMIT: u64 = 64_000_000;

struct Program {
    session: Session,
    executables: Vec<Executable>,
}

/// A definition `f` for all engines.
fn program(text: &str, operator: Operator, limit: u64) -> Program {
    let mut session = Session::new();
    let unit = session
        .load_text("m.lam", text, None)
        .unwrap_or_else(|problems| panic!("{}", session.render(&problems, false)));
    let executable = |engine| {
        let call = unit.call("f", operator, None).unwrap_or_else(|p| panic!("{p:?}"));
        Executable::new(call.program, call.entry, engine)
            .unwrap_or_else(|p| panic!("{p:?}"))
            .with_memory(limit)
    };
    let executables = ENGINES.into_iter().map(executable).collect();
    Program { session, executables }
}

fn int(n: i64) -> Data {
    Data::Tensor(Tensor::scalar(lambada::Scalar::Int(n)))
}

/// Checks that all engines refuse and blame one of the places, each a line and column.
fn refused(text: &str, operator: Operator, args: &[Data], places: &[&str]) {
    let program = program(text, operator, LIMIT);
    for (engine, executable) in ENGINES.iter().zip(&program.executables) {
        let Err(failure) = executable.run(args) else { panic!("{engine:?} runs {text}") };
        let told = program.session.render_failure(&failure, false);
        assert!(told.contains("out of memory: this array"), "{engine:?}: {told}");
        let there = places.iter().any(|place| told.contains(&format!("m.lam:{place}\n")));
        assert!(there, "{engine:?}, not at {places:?}: {told}");
    }
}

const HUGE: [i64; 5] = [1 << 31, 1 << 40, 1 << 62, i64::MAX, 10_000_000_000_000];

#[test]
fn arrays_of_computed_sizes() {
    let text = "def g (xs : [n]real) = (loop ys = xs for i < n do ys with [n - 1 - i] = ys[i // 2] + 1.0)[0]\n\
                def f (n : int) : real =\n  g (replicate n 1.0)\n";
    for n in HUGE {
        refused(text, Operator::Value, &[int(n)], &["3:5", "1:24"]); // the call, or the state that is made at once
    }
    for n in [0, -1, -(1 << 40), i64::MIN] {
        let program = program(text, Operator::Value, LIMIT);
        for executable in &program.executables {
            let told = executable.run(&[int(n)]).unwrap_err().message;
            assert!(told.contains("out of range"), "{n}: {told}");
        }
    }
}

#[test]
fn the_place_is_that_of_the_call_that_asks_for_too_much() {
    let text = "def f (n : int) (k : int) : real =\n\
                \x20 let a = replicate 3 1.0 with [k] = 2.0\n  let b = replicate n 1.0 with [k] = 2.0\n  in a[k // 2] + b[k // 2]\n";
    refused(text, Operator::Value, &[int(1 << 40), int(0)], &["3:11"]);
}

#[test]
fn results_and_states() {
    let result = "def f (n : int) : []real =\n  for i < n => real i\n";
    let state = "def f (n : int) : []int =\n\
                 \x20 loop xs = for i < n => i for k < n do xs with [k] = xs[n - 1 - k] + 1\n";
    for n in HUGE {
        refused(result, Operator::Value, &[int(n)], &["2:3"]);
        refused(state, Operator::Value, &[int(n)], &["2:3", "2:13"]);
    }
}

#[test]
fn products_of_sizes_do_not_wrap() {
    let text = "def f (n : int) (m : int) : [][]real =\n  for i < n => for j < m => real (i + j)\n";
    // In core the first row is already too large.
    for (n, m) in [(1 << 32, 1 << 32), (1 << 31, 1 << 33), (3, 1 << 62), (1 << 62, 4)] {
        let program = program(text, Operator::Value, LIMIT);
        for (engine, executable) in ENGINES.iter().zip(&program.executables) {
            let told = executable.run(&[int(n), int(m)]).unwrap_err().message;
            assert!(told.contains("out of memory"), "{engine:?}: {told}");
        }
    }
    let three = "def f (n : int) : [][][]real =\n  for i < n => for j < n => for k < n => real (i + j + k)\n";
    for n in [1 << 21, 1 << 22, 1 << 32] {
        let program = program(three, Operator::Value, LIMIT);
        for (engine, executable) in ENGINES.iter().zip(&program.executables) {
            let told = executable.run(&[int(n)]).unwrap_err().message;
            assert!(told.contains("out of memory"), "{engine:?}: {told}");
        }
    }
}

#[test]
fn what_is_checked_first_fails_first() {
    let before = "def f (x : [n]real) (k : int) =\n  let a = x[k] in\n  ";
    let arrays = [
        "for i < k => a * real i",
        "flatten (for i < k => [a, x[0]])",
        "flatten (for i < k => map (\\v -> a * v) x)",
        "flatten (for i < n => for j < k => x[i] * a * sin (real j))",
        "concat (for i < k => a * sin (real i)) x",
        "concat (for i < k => a * sin (real i)) (for i < k => a * cos (real i))",
    ];
    let numbers = arrays.map(|array| format!("sum (cumsum ({array}))"));
    let all = arrays.iter().map(|array| (array.to_string(), Operator::Value));
    let all = all.chain(numbers.iter().map(|number| (number.clone(), Operator::Value)));
    let all = all.chain(numbers.iter().map(|number| (number.clone(), Operator::Grad)));
    let x = Data::Tensor(Tensor::reals(vec![3], vec![1.0, 2.0, 3.0]));
    for (body, operator) in all {
        let program = program(&format!("{before}{body}\n"), operator, LIMIT);
        for (engine, executable) in ENGINES.iter().zip(&program.executables) {
            let failure = executable.run(&[x.clone(), int(1 << 40)]).unwrap_err();
            let told = program.session.render_failure(&failure, false);
            assert!(told.contains("is out of range for size 3"), "{engine:?}, {body}: {told}");
            assert!(told.contains("m.lam:2:11\n"), "{engine:?}, {body}: {told}");
        }
    }
}

#[test]
fn derivatives_have_places_too() {
    let text = "def f (n : int) (x : real) : real =\n\
                \x20 loop y = x for i < n do sin y * y\n";
    let program = program(text, Operator::Grad, LIMIT);
    let x = Data::Tensor(Tensor::reals(Vec::new(), vec![0.5]));
    for (engine, executable) in ENGINES.iter().zip(&program.executables) {
        let failure = executable.run(&[int(1 << 40), x.clone()]).unwrap_err();
        let told = program.session.render_failure(&failure, false);
        assert!(told.contains("out of memory"), "{engine:?}: {told}");
        assert!(told.contains("m.lam:"), "{engine:?}: {told}");
    }
}

#[test]
fn data_without_end() {
    let list = "type list = Nil | Cons real list\n";
    for body in [
        "def f (x : real) : int = match (loop l = Nil while true do Cons x l) | Nil -> 0 | Cons _ _ -> 1\n",
        "def rec grow (l : list) : int = grow (Cons 1.0 l)\ndef f (x : real) : int = grow (Cons x Nil)\n",
        "def f (x : real) : real = (loop g = \\y -> y while true do \\y -> g y + sin y) x\n",
        "def f (x : real) : real = (loop y = x while y < 1e300 do sin y * x)\n",
    ] {
        let text = format!("{list}{body}");
        let grows = !body.contains("sin y * x");
        let operator = if grows { Operator::Value } else { Operator::Grad };
        let program = program(&text, operator, 4_000_000);
        let x = Data::Tensor(Tensor::reals(Vec::new(), vec![0.5]));
        for (engine, executable) in ENGINES.iter().zip(&program.executables) {
            let failure = executable.run(std::slice::from_ref(&x)).unwrap_err();
            let told = program.session.render_failure(&failure, false);
            assert!(told.contains("memory"), "{engine:?}: {body}: {told}");
            assert!(told.contains("m.lam:"), "{engine:?}: {told}");
        }
    }
}

#[test]
fn the_limit_is_exact_and_a_kernel_goes_on_after_it() {
    let text = "def f (n : int) : real =\n\
                \x20 (loop xs = for i < n => real i for k < n do xs with [k] = xs[n - 1 - k] + 1.0)[0]\n";
    let program = program(text, Operator::Value, 8000);
    for executable in &program.executables[..3] {
        for _ in 0..3 {
            assert_eq!(executable.run(&[int(1000)]).unwrap().to_string(), "1000.0");
            let told = executable.run(&[int(1001)]).unwrap_err().message;
            assert!(told.contains("1001 elements needs 8008 bytes"), "{told}");
            assert!(told.contains("the limit of 8000 bytes (see --max-memory)"), "{told}");
        }
    }
}

/// Large results live in memory that the caller owns, and count towards the limit.
#[test]
fn large_results_are_the_callers_and_count() {
    let text = "def f (n : int) : ([n]real, [n]int, [n]real, real) =\n\
                \x20 let xs = for i < n => real i\n\
                \x20 let ys = scan (\\a b -> a + b) 0.0 xs\n\
                \x20 in (xs, for i < n => 2 * i, xs, ys[n - 1] + sum ys)\n";
    for n in [1, 100, 8191, 8192, 8193, 100_000] {
        let own = program(text, Operator::Value, LIMIT);
        let first = own.executables[0].run(&[int(n)]).expect("there is memory");
        let Data::Tuple(parts) = &first else { panic!("{first}") };
        assert_eq!(parts[0], parts[2]);
        let copy = first.clone();
        let less = own.executables[0].run(&[int(n - 1)]);
        assert!(less.is_ok() || n == 1, "{n}");
        assert_eq!(first, copy, "{n}: a result stays when the program runs again");
        for executable in &own.executables[1..] {
            assert_eq!(executable.run(&[int(n)]).expect("there is memory"), first, "{n}");
        }
        // At least two results must be live at the end.
        let tight = program(text, Operator::Value, 16 * n as u64 - 1);
        for _ in 0..3 {
            let told = tight.executables[0].run(&[int(n)]).expect_err("it is refused").message;
            assert!(told.contains("out of memory"), "{n}: {told}");
        }
    }
    // A refused call releases its memory: otherwise repeated calls would exceed the limit.
    let enough = program(text, Operator::Value, 400_000);
    for k in 0..20 {
        let ended = enough.executables[0].run(&[int(if k % 2 == 0 { 10_000 } else { 50_000 })]);
        assert_eq!(ended.is_ok(), k % 2 == 0, "{k}");
    }
}

/// An argument that is also a result is copied.
#[test]
fn an_argument_that_is_a_result_is_copied() {
    let text = "def f (xs : [n]real) : ([n]real, [n]real) = (xs, for i < n => 2.0 * xs[i])\n";
    let own = program(text, Operator::Value, LIMIT);
    let xs = Data::Tensor(Tensor::reals(vec![20_000], vec![0.5; 20_000]));
    let expected =
        Data::Tuple(vec![xs.clone(), Data::Tensor(Tensor::reals(vec![20_000], vec![1.0; 20_000]))]);
    for executable in &own.executables {
        assert_eq!(executable.run(std::slice::from_ref(&xs)).expect("it runs"), expected);
    }
}

/// After a call that ran out of memory, the observer sees the next call.
#[test]
fn what_looks_on_sees_calls_after_one_without_memory() {
    let text = "def f (n : int) : real =\n  let k = inspect n\n  in sum (scan (\\a b -> a + b) 0.0 (for i < k => real i))\n";
    let mut session = Session::new();
    let unit = session.load_text("m.lam", text, None).expect("it is a program");
    let call = unit.call("f", Operator::Value, None).expect("it has a type");
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    let executable = Executable::new(call.program, call.entry, Engine::Native)
        .expect("it is compiled")
        .with_memory(8000)
        .with_observer(Arc::new(move |_, _| {
            count.fetch_add(1, Ordering::Relaxed);
        }));
    for k in 1..=10 {
        let n = if k % 2 == 0 { 10 } else { 1 << 20 };
        assert_eq!(executable.run(&[int(n)]).is_ok(), k % 2 == 0);
        assert_eq!(seen.load(Ordering::Relaxed), k);
    }
}

#[test]
fn a_file_that_claims_more_than_it_holds() {
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }";
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:<117}\n").into_bytes());
    bytes.extend([0; 32]);
    let file = tempfile::Builder::new().suffix(".npy").tempfile().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    let problem = Inputs::new().read_file(file.path()).unwrap_err();
    assert!(problem.title.contains("1000000000000"), "{}", problem.title);
}

/// The limit has room for one copy of a result that concatenates computed arrays, because its parts
/// are built in place.
#[test]
fn parts_are_built_where_they_end_up() {
    let text = "def f [n] (x : [n]real) : [2*n]real =\n  let a = cumsum x\n  let b = cumsum a\n  in concat a b\n";
    let mut session = Session::new();
    let unit = session.load_text("m.lam", text, None).expect("it is a program");
    let n = 1000;
    let ones = Data::Tensor(Tensor::reals(vec![n], vec![1.0; n]));
    for engine in [Engine::Native, Engine::Loops] {
        let call = unit.call("f", Operator::Value, None).expect("it has a type");
        let executable = Executable::new(call.program, call.entry, engine)
            .expect("it is compiled")
            .with_memory(2 * 8 * n as u64 + 1000);
        assert!(executable.run(std::slice::from_ref(&ones)).is_ok(), "{engine:?}");
    }
}

/// A reshaped result, as by `flatten`, is built in the memory of the result. A dense Jacobian by
/// several tangents at once is the array that its only pass fills.
#[test]
fn another_shape_is_no_copy() {
    let flat = "def f [n] [m] (x : [n][m]real) : [n*m]real =\n\
                \x20 flatten (for i < n, j < m => exp (sin x[i, j]) + sum (for k < n => x[k, j] * tanh x[i, j]))\n";
    let by_columns = "def g [n] [k] (x : [n]real) (us : [k]real) : []real =\n\
                      \x20 flatten (for i < n, j < 20 => sum (for e < n => x[e] * sin x[i]) * real (j + k))\n\
                      def f [n] [m] (x : [n][m]real) : [][]real =\n\
                      \x20 let count = if m == 0 then 3 else 9\n\
                      \x20 let along c = (jvp (\\x -> g x x) (for i < n => x[i, 0]) (for i < n => real (i + c))).1\n\
                      \x20 in transpose (for c < count => along c)\n";
    for (text, bytes) in [(flat, 8 * 40 * 30), (by_columns, 8 * 20 * 40 * 9)] {
        let mut session = Session::new();
        let unit = session
            .load_text("m.lam", text, None)
            .unwrap_or_else(|problems| panic!("{}", session.render(&problems, false)));
        let call = unit.call("f", Operator::Value, None).unwrap_or_else(|p| panic!("{p:?}"));
        let executable = Executable::new(call.program, call.entry, Engine::Native)
            .unwrap_or_else(|p| panic!("{p:?}"));
        let x = Tensor::reals(vec![40, 30], (0..1200).map(|k| f64::from(k).cos()).collect());
        executable.run(&[Data::Tensor(x)]).expect("it runs");
        let beside = executable.most_memory().expect("machine code counts") - bytes;
        println!("{beside} bytes beside the result of {bytes}");
        assert!(beside < bytes / 2, "{beside} bytes beside the result of {bytes}: {text}");
    }
}
