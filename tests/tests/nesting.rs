//! Compile times of programs that grow: loops inside of each other, and one construct after the
//! other of the language.

use std::time::{Duration, Instant};

use lambada::{Data, Engine, Executable, Operator, Options, Session};

/// Loops inside of each other: the state is another constructor after an iteration, with an array
/// of a size that only the iteration knows.
fn nest(depth: usize) -> String {
    let innermost = format!(
        "(match s{depth} | Dot -> Rect (for i < n + 3 => x) | Rect ys -> Rect (for y in ys => sin y))"
    );
    let around = |body: String, k: usize| {
        let first = if k == 1 { "Dot".to_string() } else { format!("s{}", k - 1) };
        format!("(loop s{k} = {first} for i{k} < n do {body})")
    };
    let loops = (1..=depth).rev().fold(innermost, around);
    format!(
        "type shape = Dot | Rect ([]real)\ndef f (n : int) (x : real) : real = match {loops} | Dot -> 0 | Rect ys -> sum ys\n"
    )
}

/// The time to make array code of it.
fn time(depth: usize) -> Duration {
    let unit = Session::new()
        .load_text("nest.lam", &nest(depth), None)
        .unwrap_or_else(|p| panic!("{p:?}"));
    let (program, entry) = unit.definition("f").unwrap_or_else(|p| panic!("{p:?}"));
    let start = Instant::now();
    lambada::arrays(&program, entry).unwrap_or_else(|p| panic!("{p:?}"));
    start.elapsed()
}

/// Each loop evaluates its body for each candidate of its state. Repeated for each candidate of the
/// loops around, this would take three to the power of sixteen evaluations for sixteen loops.
#[test]
fn candidates_of_states_do_not_multiply() {
    let limit = Duration::from_secs(60);
    let found: Vec<Duration> = [4, 8, 16].map(time).into();
    assert!(found.iter().all(|time| *time < limit), "{found:?}");
}

/// Programs of one kind; each defines `f`.
struct Family {
    name: &'static str,
    text: fn(usize) -> String,
    /// The smallest of three sizes, each twice the one before.
    size: usize,
}

const FAMILIES: &[Family] = &[
    Family { name: "constructors", text: constructors, size: 30 },
    Family { name: "constructors given", text: constructors_given, size: 15 },
    Family { name: "recursive constructors", text: recursive_constructors, size: 15 },
    Family { name: "all others", text: all_others, size: 15 },
    Family { name: "others in others", text: others_in_others, size: 6 },
    Family { name: "short loops in loops", text: short_loops, size: 5 },
    Family { name: "short sums in sums", text: short_sums, size: 5 },
    Family { name: "calls of calls", text: calls_of_calls, size: 40 },
    Family { name: "lets", text: lets, size: 100 },
    Family { name: "fields", text: fields, size: 30 },
    Family { name: "states", text: states, size: 20 },
    Family { name: "branches", text: branches, size: 20 },
    Family { name: "functions", text: functions, size: 30 },
    Family { name: "updates", text: updates, size: 30 },
    Family { name: "accumulations", text: accumulations, size: 30 },
    Family { name: "concatenations", text: concatenations, size: 10 },
];

fn each(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

fn joined(n: usize, by: &str, item: impl Fn(usize) -> String) -> String {
    (0..n).map(item).collect::<Vec<_>>().join(by)
}

fn constructors(n: usize) -> String {
    let variant = joined(n, " | ", |k| format!("C{k} real"));
    let arms = each(n, |k| format!("  | C{k} a -> sin a * {k}.0\n"));
    format!("type v = {variant}\ndef f (x : v) : real =\n  match x\n{arms}")
}

fn constructors_given(n: usize) -> String {
    let given = each(n, |k| format!("  | C{k} a -> C{k} (sin a * {k}.0)\n"));
    let text = constructors(n).replacen("def f", "def h", 1);
    format!("{text}def g (x : v) : v =\n  match x\n{given}def f (x : v) : real = h (g x)\n")
}

fn recursive_constructors(n: usize) -> String {
    let variant = each(n, |k| format!(" | C{k} real v"));
    let arms = each(n, |k| format!("  | C{k} a r -> sin a * {k}.0 + f r\n"));
    format!("type v = N{variant}\ndef rec f (x : v) : real =\n  match x\n  | N -> 0.0\n{arms}")
}

/// Each `match` distinguishes one of many constructors from all others.
fn all_others(n: usize) -> String {
    let variant = each(n, |k| format!(" | C{k} real v"));
    let lets = (0..8).map(|k| {
        format!("  let y{} = match t | C{k} a r -> y{k} * a | _ -> sin y{k} * x\n", k + 1)
    });
    let lets: String = lets.collect();
    format!("type v = N{variant}\ndef f (t : v) (x : real) : real =\n  let y0 = x\n{lets}  in y8\n")
}

/// The arm for all others distinguishes another value in turn.
fn others_in_others(n: usize) -> String {
    let variant = each(10, |k| format!(" | C{k} real v"));
    let around = |body: String, k: usize| {
        format!("(match t{k} | C{} a _ -> a * sin x * {k}.0 | _ -> sin x * {body})", k % 10)
    };
    let body = (0..n).rev().fold("x".to_string(), around);
    let params = joined(n, " ", |k| format!("(t{k} : v)"));
    format!("type v = N{variant}\ndef f {params} (x : real) : real = {body}\n")
}

fn short_loops(n: usize) -> String {
    let around = |body: String, k: usize| {
        let first = if k == 0 { "x".to_string() } else { format!("s{}", k - 1) };
        format!("(loop s{k} = {first} for i{k} < 2 do {body})")
    };
    let body = (0..n).rev().fold(format!("(sin s{} * x)", n - 1), around);
    format!("def f (x : real) : real = {body}\n")
}

fn short_sums(n: usize) -> String {
    let sum = joined(n, " + ", |k| format!("i{k}"));
    let around = |body: String, k: usize| format!("sum (for i{k} < 2 => {body})");
    let body = (0..n).rev().fold(format!("sin x * real ({sum})"), around);
    format!("def f (x : real) : real = {body}\n")
}

fn calls_of_calls(n: usize) -> String {
    let rest = (2..n).map(|k| {
        format!("def f{k} (x : real) : real = sin (f{} x) + f{} (x * 0.5)\n", k - 1, k - 2)
    });
    let rest: String = rest.collect();
    format!(
        "def f0 (x : real) : real = x\ndef f1 (x : real) : real = cos x\n{rest}def f (x : real) : real = f{} x\n",
        n - 1
    )
}

fn lets(n: usize) -> String {
    let lets = (1..n).map(|k| {
        let other = if k < 50 { "x".to_string() } else { format!("y{}", k - 50) };
        format!("  let y{k} = sin (x + y{}) * {other}\n", k - 1)
    });
    let lets: String = lets.collect();
    format!("def f (x : real) : real =\n  let y0 = x\n{lets}  in y{}\n", n - 1)
}

fn fields(n: usize) -> String {
    let record = joined(n, ", ", |k| format!("a{k} : real"));
    let sum = joined(n, " + ", |k| format!("sin p.a{k}"));
    format!("type r = {{{record}}}\ndef f (p : r) : real = {sum}\n")
}

fn states(n: usize) -> String {
    let states = joined(n, ", ", |k| format!("s{k}"));
    let first = joined(n, ", ", |k| format!("x * {k}.0"));
    let next = joined(n, ", ", |k| format!("sin s{}", (k + 1) % n));
    let sum = joined(n, " + ", |k| format!("s{k}"));
    format!(
        "def f (x : real) (n : int) : real =\n  let ({states}) = loop ({states}) = ({first}) for i < n do ({next})\n  in {sum}\n"
    )
}

fn branches(n: usize) -> String {
    let lets = each(n, |k| format!("  let y = if y > {k}.0 then sin y else y * x\n"));
    format!("def f (x : real) : real =\n  let y = x\n{lets}  in y\n")
}

fn functions(n: usize) -> String {
    let lets = (1..n).map(|k| format!("  let g{k} = \\(y : real) -> sin (g{} y) * x\n", k - 1));
    let lets: String = lets.collect();
    format!("def f (x : real) : real =\n  let g0 = \\(y : real) -> y\n{lets}  in g{} x\n", n - 1)
}

fn updates(n: usize) -> String {
    let updates = each(n, |k| format!(" with [{k}] = sin xs[{}]", (k + 1) % n));
    format!("def f [n] (xs : [n]real) : real = sum (xs{updates})\n")
}

fn accumulations(n: usize) -> String {
    let all = joined(n, "; ", |k| format!("a[{k}] += sin xs[{}]", (k + 1) % n));
    format!(
        "def f [n] (xs : [n]real) : real =\n  sum (accumulate a = for j < n => 0.0 in ({all}))\n"
    )
}

fn concatenations(n: usize) -> String {
    let lets = (1..n).map(|k| format!("  let y{k} = concat y{} xs\n", k - 1));
    let lets: String = lets.collect();
    format!("def f [n] (xs : [n]real) : real =\n  let y0 = xs\n{lets}  in sum y{}\n", n - 1)
}

/// Length of the text of the array program, optimized and with buffers. A text that is not linear
/// in the source is not linear in memory and time.
fn lengths(family: &Family, size: usize, operator: Operator) -> [usize; 2] {
    let unit = Session::new().load_text("f.lam", &(family.text)(size), None);
    let unit = unit.unwrap_or_else(|p| panic!("{}: {p:?}", family.name));
    let call = unit.call("f", operator, None).unwrap_or_else(|p| panic!("{}: {p:?}", family.name));
    let arrays = lambada::arrays(&call.program, call.entry)
        .unwrap_or_else(|p| panic!("{}: {p:?}", family.name));
    let texts =
        [lambada_anf::print(&arrays.optimized), lambada_loops::print(&lambada::lower(&arrays))];
    // Indentation is quadratic where blocks are inside of each other.
    texts.map(|text| text.split_whitespace().map(str::len).sum())
}

/// Twice the size is twice the code, and a bit more for longer names and for decisions by halves;
/// quadratic code would be four times as long.
#[test]
fn code_grows_as_the_program_does() {
    let jobs: Vec<(&Family, Operator)> = FAMILIES
        .iter()
        .flat_map(|family| [(family, Operator::Value), (family, Operator::Grad)])
        .collect();
    let found = lambada_testkit::parallel(&jobs, |(family, operator)| {
        let [_, middle, large] = [1, 2, 4].map(|k| lengths(family, k * family.size, *operator));
        let worse = middle.iter().zip(large).any(|(a, b)| b as f64 > 2.8 * *a as f64 + 2000.0);
        worse.then(|| format!("{} {operator:?}: {middle:?}, {large:?}", family.name))
    });
    let complaints: Vec<String> = found.into_iter().flatten().collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Rows that each ask for two columns of many, so that one tree for all of them would be
/// exponential.
fn columns(n: usize) -> String {
    let row = |at: usize, two: [&str; 2]| {
        let item = |k: usize| k.checked_sub(at).and_then(|k| two.get(k)).map_or("_", |c| *c);
        format!("  | ({}) -> y * {at}.0 * a + sin b\n", joined(n, ", ", |k| item(k).to_string()))
    };
    let rows = each(n - 1, |at| row(at, ["A a", "B b"]) + &row(at, ["B a", "A b"]));
    let params = joined(n, " ", |k| format!("(x{k} : t)"));
    let value = joined(n, ", ", |k| format!("x{k}"));
    format!(
        "type t = A real | B real | C\ndef f {params} (y : real) : real =\n  match ({value})\n{rows}  | _ -> y\n"
    )
}

/// Rows that agree on nothing: the arm behind them is one, although every row that does not match
/// leads to it.
fn long_arm(n: usize) -> String {
    let rows = each(n, |k| format!("  | (A{k} a, A{} b) -> a * b * {k}.0\n", (k + 1) % n));
    let cases = joined(n, " | ", |k| format!("A{k} real"));
    let lets = each(n, |k| format!("    let y = sin (y * x + {k}.0)\n"));
    format!(
        "type t = {cases}\ndef f (p : t) (q : t) (x : real) : real =\n  match (p, q)\n{rows}  | _ ->\n    let y = x\n{lets}    in y\n"
    )
}

/// Nodes and arms that several ways lead to are written once: twice the columns, and the rows, are
/// four times the patterns and the code.
#[test]
fn ways_through_a_match_do_not_multiply() {
    let families = [
        (Family { name: "columns", text: columns, size: 10 }, 6.0),
        (Family { name: "long arm", text: long_arm, size: 16 }, 2.8),
    ];
    for (family, most) in families {
        for operator in [Operator::Value, Operator::Grad] {
            let [small, large] = [1, 2].map(|k| lengths(&family, k * family.size, operator));
            let worse = small.iter().zip(large).any(|(a, b)| b as f64 > most * *a as f64);
            assert!(!worse, "{} {operator:?}: {small:?}, {large:?}", family.name);
        }
    }
}

/// A loop around more lets with branches than registers are allocated for block by block.
fn long_loop(lets: usize) -> String {
    let lines = (1..lets).map(|k| {
        let other = if k < 50 { "x".to_string() } else { format!("y{}", k - 50) };
        format!("  let y{k} = sin (s + y{}) * {other} + xs[i]\n", k - 1)
    });
    let lines: String = lines.collect();
    format!(
        "def f (xs : [3]real) (x : real) : real = loop s = x for i < 3 do\n  let y0 = s\n{lines}  in y{}\ndef main : (real, real) =\n  (f [0.5, 0.25, 0.125] 0.75, grad (f [0.5, 0.25, 0.125]) 0.75)\n",
        lets - 1
    )
}

/// Registers of long regions are allocated by live ranges without holes: the code is the same as
/// that of the loops.
#[test]
fn long_regions_have_registers() {
    let unit = Session::new().load_text("long.lam", &long_loop(1200), None);
    let unit = unit.unwrap_or_else(|p| panic!("{p:?}"));
    let [jit, loops] = [Engine::Jit, Engine::Loops].map(|engine| {
        let (program, entry) = unit.definition("main").unwrap_or_else(|p| panic!("{p:?}"));
        let options = Options { engine, checks: false, ..Options::default() };
        let executable = Executable::with(program, entry, &options);
        executable.unwrap_or_else(|p| panic!("{p:?}")).run(&[]).unwrap_or_else(|f| panic!("{f:?}"))
    });
    assert!(near(&jit, &loops), "{jit}, {loops}");
}

fn near(a: &Data, b: &Data) -> bool {
    match (a, b) {
        (Data::Tuple(a), Data::Tuple(b)) => a.iter().zip(b).all(|(a, b)| near(a, b)),
        (a, b) => {
            let [a, b]: [f64; 2] = [a, b].map(|x| x.to_string().parse().expect("a real"));
            (a - b).abs() <= 1e-9 * b.abs()
        }
    }
}
