//! The growth of compile times: the whole pipeline, to loops, on programs of doubling sizes. An
//! exponent of 1 is linear; a quadratic pass comes close to 2 at these sizes.

use std::time::{Duration, Instant};

use lambada::{Engine, Executable, Operator, Options, Session};

/// Programs of one shape; each defines `f`.
struct Shape {
    name: &'static str,
    text: Text,
    /// The smallest of three sizes, each twice the one before.
    size: usize,
    operator: Operator,
    /// The largest exponent.
    most: f64,
}

/// The program of a size.
enum Text {
    Of(fn(usize) -> String),
    /// As many `let`s of arrays, these steps in turn: `P` is the array before, `x` the parameter of
    /// size `m`.
    Steps(&'static [&'static str]),
}

/// Allows for n log n, and for tables that no longer fit the caches of the processor.
const LINEAR: f64 = 1.45;

/// Also for the search for loops to fuse, which looks at pairs of them.
const STEPPED: f64 = 1.6;

const SHAPES: &[Shape] = &[
    Shape {
        name: "chains",
        text: Text::Of(chains),
        size: 100,
        operator: Operator::Grad,
        most: LINEAR,
    },
    Shape {
        name: "branches",
        text: Text::Of(branches),
        size: 50,
        operator: Operator::Grad,
        most: LINEAR,
    },
    Shape {
        name: "concatenations",
        text: Text::Steps(&["concat P [sum P * 0.1]"]),
        size: 20,
        operator: Operator::Grad,
        most: STEPPED,
    },
    // Each loop gets the computation of all elements before it, and most of the loops are dropped.
    Shape {
        name: "repeated concatenations",
        text: Text::Steps(&["concat P x"]),
        size: 10,
        operator: Operator::Grad,
        most: 1.9,
    },
    Shape {
        name: "accesses",
        text: Text::Of(accesses),
        size: 100,
        operator: Operator::Value,
        most: LINEAR,
    },
    Shape {
        name: "calls",
        text: Text::Of(calls),
        size: 30,
        operator: Operator::Grad,
        most: LINEAR,
    },
    Shape {
        name: "parameters",
        text: Text::Of(parameters),
        size: 100,
        operator: Operator::Grad,
        most: LINEAR,
    },
    Shape {
        name: "records",
        text: Text::Of(records),
        size: 100,
        operator: Operator::Grad,
        most: LINEAR,
    },
    Shape {
        name: "nested records",
        text: Text::Of(nested_records),
        size: 50,
        operator: Operator::Grad,
        most: LINEAR,
    },
    Shape {
        name: "recursion",
        text: Text::Of(recursion),
        size: 5,
        operator: Operator::Grad,
        most: LINEAR,
    },
    Shape {
        name: "literals",
        text: Text::Of(literals),
        size: 100,
        operator: Operator::Grad,
        most: LINEAR,
    },
    Shape {
        name: "derivatives",
        text: Text::Of(derivatives),
        size: 25,
        operator: Operator::Grad,
        most: LINEAR,
    },
    Shape {
        name: "rules",
        text: Text::Of(rules),
        size: 25,
        operator: Operator::Grad,
        most: LINEAR,
    },
    Shape {
        name: "shared integers",
        text: Text::Of(shared_integers),
        size: 10,
        operator: Operator::Grad,
        most: LINEAR,
    },
    Shape {
        name: "shared sizes",
        text: Text::Of(shared_sizes),
        size: 10,
        operator: Operator::Grad,
        most: LINEAR,
    },
    Shape {
        name: "powers",
        text: Text::Of(powers),
        size: 10,
        operator: Operator::Grad,
        most: LINEAR,
    },
];

/// Steps of arrays, each alone and all in turn.
const STEPS: &[&str] = &[
    "for i < m => sin P[i] * x[i]",
    "P * sum P * 0.01",
    "concat P[1:m] [sum P * 0.1]",
    "for i < m => product (for a in P => a + x[i])",
    "for i < m => P[i] * maximum P",
    "for i < m => P[(i * 2) % m] + P[i]",
    "for i < m => if i > 0 then P[i - 1] * x[i] else 0.0",
    "for i < m => sum (for j < m => tanh (P[i] - P[j]))",
    "for i < m => fold (\\a b -> a * 0.9 + b) P[i] x",
    "for i < m => (let t = sum P in P[i] * t * t)",
    "reverse P * x + P",
    "cumsum (P * x)",
    "sort (P * x)",
    "P with [0] = P[0] * x[0]",
    "P with [1:m] = map sin P[1:m]",
    "if sum P > 1.0 then map sin P else map cos P",
    "match (if sum P > 0.0 then Some P else None) with | Some q -> map sin q | None -> x",
    "loop s = P for i < 3 do for a in s => a * sum s",
    "grad (\\z -> sum (map sin (z * P))) x",
    "for a in P => a - mean P + variance P",
    "solve (for i < m, j < m => (if i == j then 3.0 else 0.0) + P[i] * x[j]) P",
];

fn each(range: std::ops::Range<usize>, line: impl Fn(usize) -> String) -> String {
    range.map(line).collect()
}

fn joined(n: usize, by: &str, item: impl Fn(usize) -> String) -> String {
    (0..n).map(item).collect::<Vec<_>>().join(by)
}

fn chains(n: usize) -> String {
    let lines = each(1..n, |k| format!("  let y{k} = sin y{} * x\n", k - 1));
    format!("def f (x : real) : real =\n  let y0 = x\n{lines}  in y{}\n", n - 1)
}

fn branches(n: usize) -> String {
    let branches = each(0..n, |k| format!("if x < {k}.0 then sin x * {k}.0\n  else "));
    format!("def f (x : real) : real =\n  {branches}x\n")
}

fn calls(n: usize) -> String {
    let line = |k: usize| {
        format!("def f{k} (x : real) : real = sin (f{} x) + f{} (x * 0.5)\n", k - 1, k - 2)
    };
    let lines = each(2..n, line);
    format!(
        "def f0 (x : real) : real = x\ndef f1 (x : real) : real = cos x\n{lines}def f (x : real) : real = f{} x\n",
        n - 1
    )
}

fn parameters(n: usize) -> String {
    let params = joined(n, " ", |k| format!("(x{k} : real)"));
    format!("def f {params} : real = {}\n", joined(n, " + ", |k| format!("sin x{k}")))
}

fn records(n: usize) -> String {
    let record = joined(n, ", ", |k| format!("a{k} : real"));
    let sum = joined(n, " + ", |k| format!("sin p.a{k}"));
    format!("type r = {{{record}}}\ndef f (p : r) : real = {sum}\n")
}

fn nested_records(n: usize) -> String {
    let types = each(1..n, |k| format!("type r{k} = {{a : real, b : r{}}}\n", k - 1));
    let inner = each(1..n, |k| format!("  let p{k} = p{}.b\n", k - 1));
    let sum = joined(n, " + ", |k| format!("p{k}.a"));
    format!(
        "type r0 = {{a : real, b : real}}\n{types}def f (p0 : r{}) : real =\n{inner}  in {sum}\n",
        n - 1
    )
}

fn accesses(n: usize) -> String {
    let sum = joined(n, " + ", |k| format!("xs[i + {k}]"));
    format!("def f [m] (xs : [m]real) (i : int) : real = {sum}\n")
}

fn recursion(n: usize) -> String {
    let line = |k: usize| {
        format!(
            "def rec g{k} (x : real) (t : l) : real = match t | N -> x | C a r -> a * sin (g{k} (x + {k}.0) r)\n"
        )
    };
    let sum = joined(n, " + ", |k| format!("g{k} x t"));
    format!("type l = N | C real l\n{}def f (x : real) (t : l) : real = {sum}\n", each(0..n, line))
}

fn literals(n: usize) -> String {
    let arms = each(0..n, |k| format!("  | {k} -> sin x * {k}.5\n"));
    format!("def f (k : int) (x : real) : real =\n  match k\n{arms}  | _ -> x\n")
}

fn derivatives(n: usize) -> String {
    let line = |k: usize| format!("  let y{k} = grad (\\z -> sin (z * y{}) + x) {k}.0\n", k - 1);
    let lines = each(1..n, line);
    format!("def f (x : real) : real =\n  let y0 = x\n{lines}  in y{}\n", n - 1)
}

fn rules(n: usize) -> String {
    let functions = each(0..n, |k| {
        format!("def g{k} (x : real) : real = sin x * {k}.0\n  with jvp dx of y = y * dx\n")
    });
    let lines = each(1..n, |k| format!("  let y{k} = g{k} y{} + x\n", k - 1));
    format!("{functions}def f (x : real) : real =\n  let y0 = x\n{lines}  in y{}\n", n - 1)
}

/// Each integer is used twice by the next one: a walk without memory would take 2ⁿ steps.
fn shared_integers(n: usize) -> String {
    let lines = each(0..n, |k| format!("    let j{} = (j{k} * j{k} + j{k}) % 7\n", k + 1));
    format!(
        "def f [m] (x : [m]real) : real = sum (for i < m =>\n    let j0 = i\n{lines}    if j{n} < 3 then sum (for k < m => x[k] * x[i] * real (j{n} + k)) else sin x[i])\n"
    )
}

fn shared_sizes(n: usize) -> String {
    let lines = each(0..n, |k| format!("  let k{} = max 1 (k{k} - k{k} * k{k} // 3)\n", k + 1));
    format!(
        "def f [m] (x : [m]real) : real =\n  let k0 = m\n{lines}  sum (for i < k{n} + 1 => sum (for j < k{n} + i => x[(i + j) % m] * sin x[i % m]))\n"
    )
}

/// The polynomial of the last integer has 2ⁿ terms, and the product of reals 2ⁿ factors.
fn powers(n: usize) -> String {
    let line = |k: usize| {
        let next = k + 1;
        format!("    let j{next} = j{k} * j{k} + j{k}\n    let y{next} = y{k} * y{k}\n")
    };
    format!(
        "def f [m] (x : [m]real) (c : real) : real = sum (for i < m =>\n    let j0 = i\n    let y0 = x[i] * c\n{}    if j{n} < 3 then y{n} * real j{n} else sin x[i])\n",
        each(0..n, line)
    )
}

fn steps(steps: &[&str], n: usize) -> String {
    let line = |k: usize| {
        let step = steps[k % steps.len()].replace('P', &format!("y{k}"));
        format!("  let y{} = {step}\n", k + 1)
    };
    format!("def f [m] (x : [m]real) : real =\n  let y0 = x\n{}  sum y{n}\n", each(0..n, line))
}

/// The time from text to loops.
fn time(shape: &Shape, size: usize) -> Duration {
    let text = match &shape.text {
        Text::Of(text) => text(size),
        Text::Steps(all) => steps(all, size),
    };
    // The checkers after the passes are no part of the pipeline.
    let options = Options { engine: Engine::Loops, checks: false, ..Options::default() };
    let start = Instant::now();
    let told = |problems: Vec<lambada::Problem>| format!("{}: {problems:?}", shape.name);
    let made = Session::new().load_text("f.lam", &text, None).and_then(|unit| {
        let call = unit.call("f", shape.operator, None)?;
        Executable::with(call.program, call.entry, &options)
    });
    made.map_err(told).unwrap_or_else(|why| panic!("{why}"));
    start.elapsed()
}

/// Times at three sizes, one right after the other, and the exponent between the outer two.
fn attempt(shape: &Shape) -> (f64, [Duration; 3]) {
    let times = [1, 2, 4].map(|k| time(shape, k * shape.size));
    ((times[2].as_secs_f64() / times[0].as_secs_f64()).log2() / 2.0, times)
}

/// A shared machine changes its speed between attempts, so that the least times of all attempts
/// say little about growth: a shape that misses its limit once is judged by the median of nine.
fn complaint(shape: &Shape) -> Option<String> {
    // The first run includes one-time work of the process.
    time(shape, shape.size);
    let first = attempt(shape);
    let (exponent, times) = if first.0 <= shape.most {
        first
    } else {
        let mut attempts: Vec<_> = (0..9).map(|_| attempt(shape)).collect();
        attempts.sort_by(|a, b| a.0.total_cmp(&b.0));
        attempts[4]
    };
    println!("{}: n^{exponent:.2} {times:?}", shape.name);
    (exponent > shape.most).then(|| format!("{}: n^{exponent:.2}, {times:?}", shape.name))
}

/// In one test, because tests beside it would disturb the times.
#[test]
fn compile_times_grow_linearly() {
    let alone = STEPS.iter().map(|step| (*step, std::slice::from_ref(step), 10));
    let all = alone.chain([("all steps in turn", STEPS, STEPS.len())]);
    let shape = |(name, steps, size)| Shape {
        name,
        text: Text::Steps(steps),
        size,
        operator: Operator::Grad,
        most: STEPPED,
    };
    let steps: Vec<Shape> = all.map(shape).collect();
    let complaints: Vec<String> = SHAPES.iter().chain(&steps).filter_map(complaint).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
