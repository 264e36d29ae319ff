//! The cheap gradient: counted operations on reals of value and gradient together are at most six
//! times those of the value, on growing sizes, for every example; reading one element of an array
//! costs the same however long the array is; and functions cost nothing.

use std::path::Path;

use lambada::operators::Operator;
use lambada::{Data, Engine, Executable, Session, Tensor, Unit, arrays};
use lambada_testkit::Random;
use lambada_tests::counted::{amount, counts, in_the_book};

struct Example {
    file: &'static str,
    entry: &'static str,
    wrt: &'static str,
    args: fn(usize) -> Vec<Data>,
}

fn reals(random: &mut Random, dims: &[usize]) -> Data {
    let len = dims.iter().product();
    Data::Tensor(Tensor::reals(
        dims.to_vec(),
        (0..len).map(|_| random.between(-1.0, 1.0)).collect(),
    ))
}

fn real(x: f64) -> Data {
    Data::Tensor(Tensor::reals(Vec::new(), vec![x]))
}

fn int(n: usize) -> Data {
    Data::Tensor(Tensor::scalar(lambada::Scalar::Int(n as i64)))
}

fn gmm(s: usize) -> Vec<Data> {
    let (mut r, d, k, n) = (Random(1), 2 + s, 3 + s, 10 * s);
    let l = reals(&mut r, &[k, d * (d - 1) / 2]);
    vec![
        reals(&mut r, &[k]),
        reals(&mut r, &[k, d]),
        reals(&mut r, &[k, d]),
        l,
        reals(&mut r, &[n, d]),
        real(1.0),
        int(0),
    ]
}

fn lse(s: usize) -> Vec<Data> {
    vec![reals(&mut Random(1), &[50 * s])]
}

fn least_squares(s: usize) -> Vec<Data> {
    vec![reals(&mut Random(1), &[8 * s]), int(20 * s)]
}

fn lstm(s: usize) -> Vec<Data> {
    let (mut r, layers, b, c) = (Random(1), 2 * s, 7, 10 * s);
    vec![
        reals(&mut r, &[2 * layers, 4 * b]),
        reals(&mut r, &[3, b]),
        reals(&mut r, &[2 * layers, b]),
        reals(&mut r, &[c, b]),
    ]
}

fn ode(s: usize) -> Vec<Data> {
    vec![reals(&mut Random(1), &[5 * s]), int(10)]
}

fn kmeans(s: usize) -> Vec<Data> {
    let mut r = Random(1);
    vec![reals(&mut r, &[20 * s, 4]), reals(&mut r, &[3 + s, 4])]
}

fn logistic(s: usize) -> Vec<Data> {
    let mut r = Random(1);
    let labels = Tensor {
        dims: vec![20 * s],
        data: lambada::Elements::Int((0..20 * s as i64).map(|k| k % 2).collect()),
    };
    let model =
        Data::Record(vec![("bias".into(), real(0.1)), ("weights".into(), reals(&mut r, &[4 + s]))]);
    vec![reals(&mut r, &[20 * s, 4 + s]), Data::Tensor(labels), model]
}

const EXAMPLES: [Example; 7] = [
    Example { file: "gmm.lam", entry: "objective", wrt: "alpha,mu,q,l", args: gmm },
    Example { file: "logsumexp.lam", entry: "lse", wrt: "x", args: lse },
    Example { file: "least_squares.lam", entry: "residual", wrt: "x", args: least_squares },
    Example { file: "lstm.lam", entry: "objective", wrt: "main_params,extra_params", args: lstm },
    Example { file: "ode.lam", entry: "last", wrt: "x", args: ode },
    Example { file: "kmeans.lam", entry: "cost", wrt: "centroids", args: kmeans },
    Example { file: "logistic.lam", entry: "loss", wrt: "model", args: logistic },
];

/// Operations on reals, and elements moved.
fn operations(
    unit: &Unit,
    entry: &str,
    operator: Operator,
    wrt: Option<&str>,
    args: &[Data],
) -> (u64, u64) {
    let counts = counts(unit, entry, operator, wrt, args);
    (counts.reals, counts.loads + counts.stores)
}

/// A row of the table of the book: a program whose gradient is counted at growing sizes.
struct Row {
    file: &'static str,
    entry: &'static str,
    wrt: Option<&'static str>,
    /// The size that grows.
    size: &'static str,
    sizes: [usize; 3],
    args: fn(usize) -> Vec<Data>,
}

fn points(n: usize) -> Data {
    Data::Tensor(Tensor::reals(vec![n], (0..n).map(|k| 0.37 * k as f64).collect()))
}

fn covariance(n: usize) -> Vec<Data> {
    vec![points(n), real(0.5)]
}

fn regression(n: usize) -> Vec<Data> {
    let names = ["log_length", "log_noise", "log_scale"];
    let hyper = names.map(|name| (name.into(), real(-0.1)));
    vec![points(n), reals(&mut Random(1), &[n]), Data::Record(hyper.into_iter().collect())]
}

const ROWS: [Row; 8] = [
    Row { file: "tests/programs/cost/cholesky_flat.lam", entry: "f", args: covariance, ..MATRIX },
    Row { file: "tests/programs/cost/cholesky_flat.lam", entry: "f2", args: covariance, ..MATRIX },
    Row { file: "tests/programs/cost/cholesky_variants.lam", entry: "fa", ..MATRIX },
    Row { file: "tests/programs/cost/cholesky_variants.lam", entry: "fb", ..MATRIX },
    Row {
        file: "tests/programs/cost/gaussian_process.lam",
        entry: "log_marginal",
        wrt: Some("h"),
        args: regression,
        ..MATRIX
    },
    Row {
        file: "examples/lstm.lam",
        entry: "objective",
        wrt: Some("main_params,extra_params"),
        size: "characters",
        sizes: [50, 100, 200],
        args: |c| {
            let mut arguments = lstm(1);
            arguments[3] = reals(&mut Random(2), &[c, 7]);
            arguments
        },
    },
    Row {
        file: "examples/ode.lam",
        entry: "last",
        wrt: Some("x"),
        size: "steps",
        sizes: [50, 100, 200],
        args: |steps| vec![reals(&mut Random(1), &[20]), int(steps)],
    },
    Row {
        file: "examples/logistic.lam",
        entry: "loss",
        wrt: Some("model"),
        size: "weights",
        sizes: [50, 100, 200],
        args: logistic,
    },
];

const MATRIX: Row =
    Row { file: "", entry: "", wrt: None, size: "rows", sizes: [50, 100, 200], args: covariance };

/// The gradient costs at most five times the operations of the value. It takes at most four times
/// the memory of the value and of the overwritten arrays (the derivative of a `sigmoid` that is
/// right in both tails keeps two numbers). The sizes are so large that nothing else can hide. The
/// table is part of the book.
#[test]
fn the_table_of_the_book() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lie in the repository");
    let (mut table, mut expensive) = (String::new(), Vec::new());
    table.push_str(
        "| program | size | operations | with gradient | × | memory | overwritten | with gradient | × |\n",
    );
    table.push_str("|---|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for row in &ROWS {
        let mut session = Session::new();
        let unit = session
            .load(&root.join(row.file))
            .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
        for n in row.sizes {
            let args = (row.args)(n);
            let start = std::time::Instant::now();
            let value = counts(&unit, row.entry, Operator::Value, None, &args);
            let gradient = counts(&unit, row.entry, Operator::Grad, row.wrt, &args);
            let operations = gradient.reals as f64 / value.reals as f64;
            let memory = gradient.peak as f64 / (value.peak + value.overwritten) as f64;
            let name = row.file.trim_end_matches(".lam").rsplit('/').next().unwrap_or_default();
            table.push_str(&format!(
                "| `{name}` `{}` | {n} {} | {} | {} | {operations:.1} | {} | {} | {} | {memory:.1} |\n",
                row.entry,
                row.size,
                amount(value.reals),
                amount(gradient.reals),
                amount(value.peak),
                amount(value.overwritten),
                amount(gradient.peak),
            ));
            println!("{name} {} at {n}: {:.1} s", row.entry, start.elapsed().as_secs_f64());
            if operations > 5.0 || memory > 4.0 {
                expensive
                    .push(format!("{name} {} at {n}: {operations:.2}, {memory:.2}", row.entry));
            }
        }
    }
    in_the_book("costs.md", "<!-- counted -->\n", &table);
    assert!(expensive.is_empty(), "{expensive:?}");
}

/// Costs of a loop whose reverse sweep keeps few states, as users get it.
#[test]
fn the_table_of_checkpoints() {
    const STEPS: [usize; 3] = [100, 400, 1600];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lie in the repository");
    let mut session = Session::new();
    let unit = session
        .load(&root.join("tests/programs/cost/checkpoints.lam"))
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let written = [("all", "all"), ("root", "sqrt"), ("many", "32"), ("few", "8"), ("one", "1")];
    let mut table = String::new();
    table.push_str("| | steps | operations | with gradient | × | memory with gradient |\n");
    table.push_str("|---|--:|--:|--:|--:|--:|\n");
    let mut memory = Vec::new();
    for (entry, policy) in written {
        for steps in STEPS {
            // The loop that keeps one state is quadratic.
            if entry == "one" && steps > 400 {
                continue;
            }
            let args = vec![reals(&mut Random(1), &[50]), int(steps)];
            let value = counts(&unit, entry, Operator::Value, None, &args);
            let gradient = counts(&unit, entry, Operator::Grad, Some("u0"), &args);
            memory.push((entry, steps, gradient.peak as f64));
            table.push_str(&format!(
                "| `checkpoint {policy}` | {steps} | {} | {} | {:.1} | {} |\n",
                amount(value.reals),
                amount(gradient.reals),
                gradient.reals as f64 / value.reals as f64,
                amount(gradient.peak),
            ));
        }
    }
    let growth = |entry: &str| {
        let of: Vec<f64> = memory.iter().filter(|m| m.0 == entry).map(|m| m.2).collect();
        (of[of.len() - 1] / of[0]).ln() / 16f64.ln()
    };
    assert!(growth("all") > 0.9, "what keeps all grows by the power {}", growth("all"));
    assert!(growth("root") < 0.55, "what keeps √n states grows by the power {}", growth("root"));
    for entry in ["many", "few", "one"] {
        assert!(growth(entry) < 0.01, "{entry} grows by the power {}", growth(entry));
    }
    in_the_book("costs.md", "<!-- checkpoints -->\n", &table);
}

#[test]
fn gradients_are_cheap() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests lie in the repository")
        .join("examples");
    let mut expensive = Vec::new();
    for example in &EXAMPLES {
        let mut session = Session::new();
        let unit = session
            .load(&root.join(example.file))
            .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
        for size in [1, 2, 4, 8] {
            let args = (example.args)(size);
            let (value, _) = operations(&unit, example.entry, Operator::Value, None, &args);
            let each = example.wrt.split(',').filter(|one| *one != example.wrt);
            for wrt in std::iter::once(example.wrt).chain(each) {
                let (gradient, _) =
                    operations(&unit, example.entry, Operator::Grad, Some(wrt), &args);
                let ratio = gradient as f64 / value as f64;
                println!(
                    "{} {} by {wrt} at size {size}: {value} operations, with gradient {gradient}, ratio {ratio:.2}",
                    example.file, example.entry
                );
                if ratio > 6.0 {
                    expensive.push(format!("{} by {wrt} at size {size}: {ratio:.2}", example.file));
                }
            }
        }
    }
    assert!(expensive.is_empty(), "{expensive:?}");
}

/// A function with a tangent, a gradient with a tangent of it, and the matrices of all of them.
const DIRECTIONS: &str = "\
def net [n] [m] (a : [m][n]real) (x : [n]real) : [m]real =
  loop y = for i < m => sin a[i, 0] for k < 3 do for i < m => tanh (sum (for j < n => a[i, j] * exp (sin (x[j] * y[i]))))
def push [n] [m] (a : [m][n]real) (x : [n]real) = jvp (net a) x a[1]
def tall [n] [m] (a : [m][n]real) (x : [n]real) : [m][n]real = jacobian (net a) x
def loss [n] [m] (a : [m][n]real) (w : [n]real) : real = sum (for row in a => log (1 + exp (dot row w)))
def slope [n] [m] (a : [m][n]real) (w : [n]real) : [n]real = grad (loss a) w
def curve [n] [m] (a : [m][n]real) (w : [n]real) = jvp (grad (loss a)) w a[1]
def square [n] [m] (a : [m][n]real) (w : [n]real) : [n][n]real = hessian (loss a) w
";

/// All directions cost the value once for each block of them, and one tangent each.
#[test]
fn directions_share_the_value() {
    let mut session = Session::new();
    let unit = session
        .load_text("directions.lam", DIRECTIONS, None)
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    for (value, tangent, matrix) in [("net", "push", "tall"), ("slope", "curve", "square")] {
        for n in [4, 16, 32, 80] {
            let mut random = Random(1);
            let args = [reals(&mut random, &[3 * n, n]), reals(&mut random, &[n])];
            let [value, both, all] = [value, tangent, matrix]
                .map(|entry| operations(&unit, entry, Operator::Value, None, &args).0);
            let (blocks, n) = (n.div_ceil(32) as u64, n as u64);
            println!("{matrix} of {n}: value {value}, with a tangent {both}, all {all}");
            let shared = blocks * value + n * (both - value);
            assert!(all * 10 <= shared * 11, "{matrix} of {n}: {all} for {shared}");
        }
    }
}

/// Arrays take the memory of the result and of the state of one block of directions.
#[test]
fn directions_take_bounded_memory() {
    let mut session = Session::new();
    let unit = session
        .load_text("directions.lam", DIRECTIONS, None)
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let beyond = [128, 256, 512].map(|n| {
        let mut random = Random(1);
        let args = [reals(&mut random, &[10, n]), reals(&mut random, &[n])];
        let peak = counts(&unit, "square", Operator::Value, None, &args).peak;
        println!("{n} directions: {peak} bytes at a time");
        // The blocks, and the matrix that is made of them.
        peak as f64 - (2 * 8 * n * n) as f64
    });
    // The directions and the accumulator of a block: 32 columns each.
    assert!(beyond[2] <= (3 * 8 * 32 * 512) as f64, "{beyond:?}");
    assert!(beyond[2] <= 2.2 * beyond[1] && beyond[1] <= 2.2 * beyond[0], "{beyond:?}");
}

/// A product of matrices of which the program only uses an element is computed once, and so is its
/// derivative by any of its parameters.
#[test]
fn what_a_loop_repeats_is_differentiated_once() {
    let source = "\
def f [n] [d] [h] (x : [n][d]real) (w : [d][h]real) (b : [h]real) : real =
  sum (for i < n => sum (for j < h => tanh ((x @ w)[i, j] + b[j])))
";
    let mut session = Session::new();
    let unit = session.load_text("layer.lam", source, None).expect("it is well typed");
    for n in [4, 8, 16] {
        let mut random = Random(1);
        let args =
            [reals(&mut random, &[n, n]), reals(&mut random, &[n, n]), reals(&mut random, &[n])];
        let (value, _) = operations(&unit, "f", Operator::Value, None, &args);
        for wrt in ["x,w,b", "w,b", "x,b", "x,w", "x", "w", "b"] {
            let (gradient, _) = operations(&unit, "f", Operator::Grad, Some(wrt), &args);
            assert!(gradient <= 6 * value, "n = {n}: {value}, with that by {wrt} {gradient}");
        }
    }
}

/// The memory that a loop keeps for its derivative grows with its state, not with the temporaries
/// of an iteration: the distances of all pairs are recomputed.
#[test]
fn a_loop_keeps_no_more_axes_than_its_state_has() {
    let source = "\
def f [n] (p : [n]real) (steps : int) : real =
  let last = loop p = p for _k < steps do
    for i < n => p[i] + 0.01 * sum (for j < n => let d = p[j] - p[i] in d / sqrt (d * d + 0.1))
  in dot last last
";
    let mut session = Session::new();
    let unit = session.load_text("bodies.lam", source, None).expect("it is well typed");
    let (n, steps) = (64, 50);
    let args = [reals(&mut Random(1), &[n]), int(steps)];
    let peak = counts(&unit, "f", Operator::Grad, Some("p"), &args).peak;
    let states = (8 * n * steps) as u64;
    println!("{peak} bytes, the states take {states}");
    assert!(peak <= 4 * states, "{peak} bytes, the states take {states}");
}

#[test]
fn reading_does_not_cost_the_array() {
    let source =
        "def f [n] (x : [n]real) (steps : int) = loop s = 0.0 for k < steps do sin (s + x[k])\n";
    let mut session = Session::new();
    let unit = session.load_text("read.lam", source, None).expect("it is well typed");
    let run = |n: usize| {
        let args = vec![reals(&mut Random(1), &[n]), int(10)];
        operations(&unit, "f", Operator::Grad, Some("x"), &args)
    };
    let ((small, small_moves), (large, large_moves)) = (run(10), run(100_000));
    assert_eq!(small, large, "operations on reals grow with an array that is only read");
    // The gradient itself has as many elements as the array: it is filled once, and no more.
    assert!(
        large_moves - small_moves <= 3 * 100_000,
        "{small_moves} elements moved for 10, {large_moves} for 100 000"
    );
}

/// A recursion that updates one element of its state in each call: a call more costs the same
/// however long the array is, in the value, the gradient and the derivative of the gradient.
#[test]
fn a_call_that_updates_one_element_costs_the_same_in_long_arrays() {
    let source = "def f [n] (xs : [n]real) (k : int) : real =\n\
        \x20 let rec go (xs : [n]real) (k : int) : real =\n\
        \x20   if k == 0 then xs[0] else\n\
        \x20   let y = 0.1 * xs[(k + 1) % n]\n\
        \x20   let r = go (xs with [k % n] = 0.5 * xs[k % n] * xs[k % n]) (k - 1)\n\
        \x20   in r * 1.01 + y\n\
        \x20 in go xs k\n\
        def gradient [n] (xs : [n]real) (k : int) : [n]real = grad (\\xs -> f xs k) xs\n\
        def product [n] (xs : [n]real) (k : int) : [n]real =\n\
        \x20 (jvp (\\xs -> gradient xs k) xs (for i < n => 1.0)).1\n\
        def twice [n] (xs : [n]real) (k : int) : [n]real = grad (\\xs -> sum (gradient xs k)) xs\n";
    let mut session = Session::new();
    let unit = session.load_text("state.lam", source, None).expect("it is well typed");
    for entry in ["f", "gradient", "product", "twice"] {
        let per_call = |n: usize| {
            let run = |calls: usize| {
                let args = [reals(&mut Random(1), &[n]), int(calls)];
                operations(&unit, entry, Operator::Value, None, &args)
            };
            let ((few, few_moves), (many, many_moves)) = (run(10), run(110));
            (many - few, many_moves - few_moves)
        };
        let (short, long) = (per_call(200), per_call(20_000));
        println!("{entry}: {short:?} for 100 calls");
        assert_eq!(short, long, "{entry}: operations and moves of 100 calls grow with the array");
    }
}

/// A function with rules leaves no tape: a loop that calls it keeps the states of `checkpoint`.
#[test]
fn a_checkpoint_holds_where_functions_with_rules_are_called() {
    let source = "def wave (x : real) : real = sin x with jvp dx = cos x * dx\n\
        def all [n] (xs : [n]real) (k : int) : real =\n\
        \x20 sum (loop xs = xs for _i < k do (for x in xs => wave (x * x)))\n\
        def cut [n] (xs : [n]real) (k : int) : real =\n\
        \x20 sum (loop xs = xs for _i < k checkpoint sqrt do (for x in xs => wave (x * x)))\n";
    let mut session = Session::new();
    let unit = session.load_text("rules.lam", source, None).expect("it is well typed");
    let peak = |entry: &str| {
        let args = [reals(&mut Random(1), &[20]), int(400)];
        counts(&unit, entry, Operator::Grad, Some("xs"), &args).peak
    };
    let (all, cut) = (peak("all"), peak("cut"));
    assert!(5 * cut < all, "{cut} bytes with a checkpoint, {all} without");
}

/// A sine costs one operation, and two more in reverse; a recomputed value would make it four.
#[test]
fn the_gradient_of_nodes_runs_the_value_once() {
    let source = "type list = Nil | Cons real list\n\
        def sines (y : real) : real = loop z = y for _i < 20 do sin z\n\
        def rec build (x : real) (n : int) : list =\n  if n == 0 then Nil else Cons (sines (x * real n)) (build x (n - 1))\n\
        def rec total (l : list) : real = match l | Nil -> 0.0 | Cons x rest -> x + total rest\n\
        def f (x : real) (n : int) : real = total (build x n)\n\
        def g (x : real) (n : int) : (real, real) = value_and_grad (\\x -> f x n) x\n";
    let mut session = Session::new();
    let unit = session.load_text("nodes.lam", source, None).expect("it is well typed");
    let count =
        |entry: &str| operations(&unit, entry, Operator::Value, None, &[real(0.3), int(50)]).0;
    let (value, both) = (count("f"), count("g"));
    assert!(2 * both <= 7 * value, "{value} operations for the value, {both} with the gradient");
}

/// `(\x1 -> (\x2 -> … xn) (x1 * x1)) (x * x)`: the paper's encoding of n nested `let`s.
fn encoded_lets(n: usize) -> String {
    let body = (1..n)
        .rev()
        .fold(format!("x{n}"), |body, k| format!("(\\x{} -> {body}) (x{k} * x{k})", k + 1));
    format!("def f (x : real) : real = (\\x1 -> {body}) (x * x)\n")
}

/// `x` squared n times in continuation-passing style: each square is a function that takes the
/// function of the rest as an argument.
fn continuations(n: usize) -> String {
    let body = (1..n)
        .rev()
        .fold(format!("x{n}"), |body, k| format!("square (\\x{} -> {body}) x{k}", k + 1));
    format!(
        "def square (k : real -> real) (x : real) : real = k (x * x)\n\ndef f (x : real) : real = square (\\x1 -> {body}) x\n"
    )
}

/// `x` squared n times as the n-fold image of the identity under a function on functions, which is
/// itself passed on: n closures that capture closures.
fn captured_functions(n: usize) -> String {
    let composite = (0..n).fold("(\\y -> y)".to_string(), |g, _| format!("(up {g})"));
    format!(
        "def apply (up : (real -> real) -> real -> real) (x : real) : real = {composite} x\n\n\
         def f (x : real) : real = apply (\\g -> \\y -> g (y * y)) x\n"
    )
}

/// E26: for the gradient of n encoded `let`s the literal macros need about 4^(n/2) operations,
/// shared ones 2^(n+1) - 2 (`shared` in the executable paper). The compiler needs 3n with the
/// value, in both modes and however the `let`s are encoded: it β-reduces before it differentiates,
/// as T-2 permits. (`grad` saves the product with its cotangent, which is 1.)
#[test]
fn encoded_lets_cost_what_lets_cost() {
    for program in [encoded_lets, continuations, captured_functions] {
        for n in [2, 4, 6, 8, 10, 12] {
            let (text, mut session) = (program(n as usize), Session::new());
            let unit = session
                .load_text("squares.lam", &text, None)
                .unwrap_or_else(|p| panic!("{text}{}", session.render(&p, false)));
            let (x, one) = (real(0.9), real(1.0));
            let count = |operator, args: &[Data]| operations(&unit, "f", operator, None, args).0;
            let [value, grad] = [Operator::Value, Operator::Grad]
                .map(|operator| count(operator, std::slice::from_ref(&x)));
            let [jvp, vjp] = [Operator::Jvp, Operator::Vjp]
                .map(|operator| count(operator, &[x.clone(), one.clone()]));
            println!("{n} squares: value {value}, with gradient {grad}, jvp {jvp}, vjp {vjp}");
            assert_eq!((value, grad, jvp, vjp), (n, 3 * n - 1, 3 * n, 3 * n), "{text}");
        }
    }
}

/// The programs compute squares; otherwise their costs would not matter.
#[test]
fn encoded_lets_are_squares() {
    for program in [encoded_lets, continuations, captured_functions] {
        let unit =
            Session::new().load_text("squares.lam", &program(5), None).expect("it is well typed");
        let call = unit.call("f", Operator::Grad, None).expect("it can be differentiated");
        let result = Executable::new(call.program, call.entry, Engine::Anf)
            .expect("it compiles")
            .run(&[real(0.9)])
            .expect("it runs");
        let expected = Data::Tuple(vec![real(0.9f64.powi(32)), real(32.0 * 0.9f64.powi(31))]);
        result.close(&expected, 1e-12).unwrap_or_else(|e| panic!("{}{e}", program(5)));
    }
}

/// One function without rules, and with the derivative that the compiler derives as its rules.
const SOFTPLUS: &str = "\
def plain (x : real) : real = if x > 30 then x else log1p (exp x)
def ruled (x : real) : real = if x > 30 then x else log1p (exp x)
  with jvp dx = if x > 30 then dx else exp x / (1 + exp x) * dx
  with vjp dy = if x > 30 then dy else exp x / (1 + exp x) * dy
def by_body [n] (xs : [n]real) : real = sum (for x in xs => plain (x * x))
def by_rule [n] (xs : [n]real) : real = sum (for x in xs => ruled (x * x))
";

/// After the last derivative, a function with rules is a function like others: it and its rules are
/// fused with the code around them.
#[test]
fn rules_cost_what_they_compute() {
    let unit = Session::new().load_text("rules.lam", SOFTPLUS, None).expect("it is well typed");
    for operator in [Operator::Value, Operator::Grad] {
        let run = |entry: &str| {
            let call = unit.call(entry, operator, None).expect("it can be differentiated");
            let arrays = arrays(&call.program, call.entry).expect("it normalizes");
            assert!(arrays.optimized.library.is_empty(), "{entry} calls a function");
            operations(&unit, entry, operator, None, &[reals(&mut Random(1), &[1000])])
        };
        let ((body, body_moves), (rule, rule_moves)) = (run("by_body"), run("by_rule"));
        assert!(rule <= body + body / 4, "{rule} operations by rules, {body} by the body");
        assert_eq!(rule_moves, body_moves, "elements moved");
    }
}

/// Programs that exchange two rows, or two elements, in each iteration.
const EXCHANGES: &str = "\
def rows [n] [k] (m : [n][k]real) : real =
  let m = loop m = m for i < n // 2 do ((m with [i] = m[n - 1 - i]) with [n - 1 - i] = m[i])
  in sum (for i < n, j < k => real i * m[i, j] ** 2) |> sum
def branches [n] [k] (m : [n][k]real) : real =
  let m = loop m = m for i < n // 2 do
    if m[i, 0] > m[n - 1 - i, 0] then ((m with [i] = m[n - 1 - i]) with [n - 1 - i] = m[i]) else m
  in sum (for i < n, j < k => real i * m[i, j] ** 2) |> sum
def elements [n] [k] (m : [n][k]real) : real =
  let x = loop x = for row in m => sum row for i < n // 2 do ((x with [i] = x[n - 1 - i]) with [n - 1 - i] = x[i])
  in sum (for i < n => real i * x[i] ** 2)
";

/// The contribution of an update to the cotangent of the old array is a whole array. The sum has to
/// start from it: added to the contributions of the reads of the old array, it would make each
/// iteration cost as much as the array is long.
#[test]
fn exchanging_does_not_cost_the_array() {
    let mut session = Session::new();
    let unit = session
        .load_text("exchange.lam", EXCHANGES, None)
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    for entry in ["rows", "branches", "elements"] {
        let [small, large] = [100, 400].map(|n| {
            let (reals, moves) =
                operations(&unit, entry, Operator::Grad, None, &[reals(&mut Random(1), &[n, 3])]);
            reals + moves
        });
        println!("{entry}: {small} operations on reals and moves at 100, {large} at 400");
        assert!(large <= 4 * small + 100, "{entry}: {small} at 100, {large} at 400");
    }
}

/// The dense Jacobian of a function whose results depend on few neighbors costs one product with a
/// vector per neighbor, and the writing of the zeros; so does a Hessian.
#[test]
fn jacobians_see_structure() {
    let text = "
def each [n] (x : [n]real) : [n]real = for y in x => sin y * exp (y * y)
def near [n] (x : [n]real) : [n - 2]real = for i < n - 2 => sin (x[i] * x[i + 1]) - x[i + 2] ** 3
def chain [n] (x : [n]real) : real = sum (for i < n - 1 => (x[i + 1] - x[i] ** 2) ** 2 + exp x[i])
def jacobian_each [n] (x : [n]real) = jacobian each x
def jacobian_near [n] (x : [n]real) = jacobian near x
def hessian_chain [n] (x : [n]real) = hessian chain x
";
    let unit = Session::new().load_text("structure.lam", text, None).expect("it is right");
    for (entry, value, products) in
        [("jacobian_each", "each", 1), ("jacobian_near", "near", 3), ("hessian_chain", "chain", 3)]
    {
        for n in [50, 100, 200] {
            let count = |entry: &str| {
                let x = [reals(&mut Random(1), &[n])];
                operations(&unit, entry, Operator::Value, None, &x).0
            };
            let (all, one) = (count(entry), count(value));
            println!("{entry} of {n}: {all}, of the value {one}");
            // One operation chooses an entry. A product costs at most as much as four values do,
            // one of a gradient as eight.
            let fill = (n * n) as u64;
            let work = 8 * (products + 1) * one;
            assert!(all <= fill + work, "{entry} of {n}: {all}, of the value {one}");
        }
    }
}

/// A gradient of the solution of a system of equations uses the factors of the value: besides, it
/// costs products with vectors.
#[test]
fn solutions_share_their_factors() {
    let text = "def solved [n] (a : [n][n]real) (b : [n]real) : real = sum (solve a b)";
    let unit = Session::new().load_text("solved.lam", text, None).expect("it is right");
    for n in [10, 20, 40] {
        let mut random = Random(1);
        let args = vec![reals(&mut random, &[n, n]), reals(&mut random, &[n])];
        let value = operations(&unit, "solved", Operator::Value, None, &args).0;
        let gradient = operations(&unit, "solved", Operator::Grad, None, &args).0;
        println!("{n} equations: value {value}, with the gradient {gradient}");
        let products = 20 * (n * n) as u64;
        assert!(gradient <= value + products, "{n} equations: {gradient} for {value}");
    }
}
