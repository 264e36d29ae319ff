//! `cargo run --release -p lambada-benches --bin compile-times`: the time of each compiler phase on
//! programs of growing sizes, and the exponent of growth: 1 is linear. An argument selects one
//! family by name.

use std::time::Duration;

use lambada::{Operator, Session, Staged, Unit};
use lambada_run::Kernel;
use lambada_source::{FileId, Sources, stack};

/// Programs of one kind; each defines `f`.
struct Family {
    name: &'static str,
    text: fn(usize) -> String,
    /// The measured sizes.
    sizes: [usize; 4],
    operator: Operator,
}

const FAMILIES: &[Family] = &[
    Family {
        name: "untyped-chain",
        text: untyped_chain,
        sizes: [250, 500, 1000, 2000],
        operator: Operator::Value,
    },
    Family {
        name: "typed-chain",
        text: typed_chain,
        sizes: [500, 1000, 2000, 4000],
        operator: Operator::Grad,
    },
    Family { name: "lets", text: lets, sizes: [500, 1000, 2000, 4000], operator: Operator::Grad },
    Family { name: "dag", text: dag, sizes: [250, 500, 1000, 2000], operator: Operator::Grad },
    Family {
        name: "array-lets",
        text: array_lets,
        sizes: [50, 100, 200, 400],
        operator: Operator::Grad,
    },
    Family {
        name: "else-if",
        text: else_if,
        sizes: [125, 250, 500, 1000],
        operator: Operator::Value,
    },
    Family {
        name: "parameters",
        text: parameters,
        sizes: [250, 500, 1000, 2000],
        operator: Operator::Grad,
    },
    Family {
        name: "untyped-parameters",
        text: untyped_parameters,
        sizes: [250, 500, 1000, 2000],
        operator: Operator::Grad,
    },
    Family {
        name: "composition",
        text: composition,
        sizes: [1 << 10, 1 << 11, 1 << 12, 1 << 13],
        operator: Operator::Value,
    },
];

fn untyped_chain(n: usize) -> String {
    let rest = (1..n).map(|k| format!("def f{k} x y = f{} (x * y) (y + 1)\n", k - 1));
    let chain: String = rest.collect();
    format!("def f0 x y = x + y\n{chain}def f (x : real) : real = f{} x x\n", n - 1)
}

fn typed_chain(n: usize) -> String {
    let rest = (1..n).map(|k| format!("def f{k} (x : real) : real = f{} (sin x)\n", k - 1));
    let chain: String = rest.collect();
    format!("def f0 (x : real) : real = x\n{chain}def f (x : real) : real = f{} x\n", n - 1)
}

fn lets(n: usize) -> String {
    let lets: String = (1..n).map(|k| format!("  let x{k} = sin x{} * x0\n", k - 1)).collect();
    format!("def f (x0 : real) : real =\n{lets}  in x{}\n", n - 1)
}

fn dag(n: usize) -> String {
    let mut state = 1_u64;
    let mut line = |k: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let other = (state >> 33) as usize % k;
        let before = k - 1;
        match state >> 62 {
            0 => format!("  let x{k} = x{before} * x{other}\n"),
            1 => format!("  let x{k} = x{before} + x{other}\n"),
            2 => format!("  let x{k} = sin x{before} * x{other}\n"),
            _ => format!("  let x{k} = x{before} - x{other} * 0.5\n"),
        }
    };
    let lets: String = (4..n).map(&mut line).collect();
    format!(
        "def f (x0 : real) (x1 : real) (x2 : real) (x3 : real) : real =\n{lets}  in x{}\n",
        n - 1
    )
}

fn array_lets(n: usize) -> String {
    let lets: String = (1..n).map(|k| format!("  let x{k} = x{} * x0 + x0\n", k - 1)).collect();
    format!("def f [m] (x0 : [m]real) : real =\n{lets}  in sum x{}\n", n - 1)
}

fn else_if(n: usize) -> String {
    let branches: String =
        (0..n).map(|k| format!("if x < {k}.0 then {k}.0 * x\n  else ")).collect();
    format!("def f (x : real) : real =\n  {branches}x\n")
}

fn parameters(n: usize) -> String {
    with_parameters(n, " : real")
}

fn untyped_parameters(n: usize) -> String {
    with_parameters(n, "")
}

fn with_parameters(n: usize, ty: &str) -> String {
    let params: String = (0..n).map(|k| format!(" (x{k}{ty})")).collect();
    let sum: Vec<String> = (0..n).map(|k| format!("x{k}")).collect();
    format!("def f{params} = {}\n", sum.join(" + "))
}

/// `n` applications of one function, in a program of length proportional to log `n`.
fn composition(n: usize) -> String {
    let doubled = (0..n.ilog2()).fold("sin".to_string(), |g, _| format!("twice ({g})"));
    format!("def twice g x = g (g x)\ndef f (x : real) : real = {doubled} x\n")
}

/// Phases with their times.
type Times = Vec<(&'static str, Duration)>;

/// Times the phases up to `last` on a program.
fn measure(family: &Family, size: usize, last: &str) -> Times {
    stack::roomy(|| phases(family, size, last))
}

fn phases(family: &Family, size: usize, last: &str) -> Times {
    let text = (family.text)(size);
    let mut times = Times::new();
    let mut sources = Sources::default();
    let file: FileId = sources.add("f.lam", text.as_str());
    let parsed = timed(&mut times, "parse", || lambada_surface::parse(&text, file));
    assert!(parsed.1.is_empty(), "{:?}", parsed.1);
    let unit: Unit = timed(&mut times, "check", || {
        let unit = Session::new().load_text("f.lam", &text, None);
        let unit = unit.unwrap_or_else(|problems| panic!("{problems:?}"));
        assert!(!unit.definitions().is_empty());
        unit
    });
    let call = timed(&mut times, "specialize", || {
        unit.call("f", family.operator, None).unwrap_or_else(|problems| panic!("{problems:?}"))
    });
    let normalized = timed(&mut times, "normalize", || {
        lambada_normalize::normalize(&call.program, call.entry, &Staged::default())
            .unwrap_or_else(|problems| panic!("{problems:?}"))
    });
    if last == "normalize" {
        return times;
    }
    let optimized =
        timed(&mut times, "optimize", || lambada_optimize::optimize(normalized.function));
    let lowered = timed(&mut times, "lower", || lambada_lower::lower(&optimized));
    timed(&mut times, "C text", || lambada_codegen::c_source(&lowered));
    if last == "C text" {
        return times;
    }
    timed(&mut times, "C compiler", || {
        Kernel::compile(&lowered).unwrap_or_else(|error| panic!("{error}"))
    });
    times
}

fn timed<T>(times: &mut Times, phase: &'static str, run: impl FnOnce() -> T) -> T {
    let start = clock();
    let result = run();
    times.push((phase, clock().saturating_sub(start)));
    result
}

/// CPU time of this thread where available, else wall-clock time. Waiting for children does not
/// count, so the C compiler is timed by the wall clock.
#[cfg(all(test, unix))]
fn clock() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_else(|_| wall_clock())
}

#[cfg(not(all(test, unix)))]
fn clock() -> Duration {
    wall_clock()
}

fn wall_clock() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// The exponent of growth between two sizes.
fn exponent(small: Duration, large: Duration, factor: f64) -> f64 {
    (large.as_secs_f64() / small.as_secs_f64().max(1e-6)).ln() / factor.ln()
}

fn main() {
    let only = std::env::args().nth(1);
    for family in FAMILIES.iter().filter(|f| only.as_deref().is_none_or(|name| f.name == name)) {
        println!("{} ({:?})", family.name, family.operator);
        let all: Vec<Times> =
            family.sizes.iter().map(|size| measure(family, *size, "C compiler")).collect();
        print!("{:>12}", "size");
        family.sizes.iter().for_each(|size| print!("{size:>10}"));
        println!("{:>10}", "exponent");
        for (k, (phase, _)) in all[0].iter().enumerate() {
            print!("{phase:>12}");
            all.iter().for_each(|times| print!("{:>8.1}ms", times[k].1.as_secs_f64() * 1e3));
            let (first, last) = (all[1][k].1, all[3][k].1);
            println!(
                "{:>10.2}",
                exponent(first, last, family.sizes[3] as f64 / family.sizes[1] as f64)
            );
        }
        println!();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The minimum over several runs of the total time of the phases.
    fn least(family: &Family, size: usize, last: &str) -> Duration {
        let total = |times: Times| times.into_iter().map(|(_, time)| time).sum::<Duration>();
        (0..3).map(|_| total(measure(family, size, last))).min().expect("some runs")
    }

    /// Four times the size may take about four times as long, with a wide margin; quadratic growth
    /// would take sixteen times as long.
    #[test]
    fn compile_times_grow_linearly() {
        for family in FAMILIES {
            // The optimizer is not yet linear on these families.
            let last = if matches!(family.name, "array-lets" | "else-if") {
                "normalize"
            } else {
                "C text"
            };
            let sizes = [family.sizes[1], family.sizes[3]];
            let [small, large] = sizes.map(|size| least(family, size, last));
            let found = exponent(small, large, sizes[1] as f64 / sizes[0] as f64);
            assert!(found < 1.6, "{}: exponent {found:.2}: {small:?}, {large:?}", family.name);
        }
    }
}
