//! No pass changes the complexity of a program. Every program of `tests/programs`, its forward and reverse derivatives and the derivative
//! of the derivative run on growing arguments as they leave `normalize`, after each pass of the optimizer in the order in which it ran, and as
//! loops; nothing may grow by a higher power of the size than before.

use std::path::Path;
use std::time::Instant;

use lambada::{Session, Unit};
use lambada_anf::Function;
use lambada_tests::expectations::{self, Expectation, expectations, programs};
use lambada_tests::growth::{Cost, Costs, KINDS, Kind, METRICS, Subject, exponent, raised};
use lambada_tests::on_big_stack;

/// A run at the first size may take this much work.
const WORK: u64 = 2_000;

/// What was measured of one definition.
#[derive(Default)]
struct Report {
    complaints: Vec<String>,
    measured: usize,
}

fn promises(text: &str) -> Vec<Expectation> {
    let mut seen: Vec<Expectation> = Vec::new();
    for promise in expectations(text) {
        let runs = matches!(
            promise.kind,
            expectations::Kind::Run | expectations::Kind::Grad | expectations::Kind::Oracle
        );
        if runs && seen.iter().all(|p| p.entry != promise.entry) {
            seen.push(promise);
        }
    }
    seen
}

/// How to scale the arguments: as large as is quick; integers too, where the program then still runs.
fn scaling(unit: &Unit, promise: &Expectation) -> Result<Option<(usize, bool)>, String> {
    for scale_ints in [true, false] {
        let mut found = None;
        for factor in [1, 2, 4, 8] {
            let Some(subject) = Subject::new(unit, promise, Kind::Value, factor, scale_ints)?
            else {
                return Ok(None);
            };
            if !subject.grows() {
                break;
            }
            match subject.costs(&subject.function) {
                Ok(costs) if costs[0].work <= WORK || found.is_none() => {
                    found = Some((factor, scale_ints))
                }
                Ok(_) | Err(_) => break,
            }
        }
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn one(name: &str, unit: &Unit, promise: &Expectation, report: &mut Report) -> Result<(), String> {
    let Some((factor, ints)) = scaling(unit, promise)? else { return Ok(()) };
    for kind in KINDS {
        let Some(subject) = Subject::new(unit, promise, kind, factor, ints)? else { continue };
        let name = format!("{name} {kind:?}");
        let Ok(before) = subject.costs(&subject.function) else { continue };
        passes(&name, &subject, before, report)?;
        report.measured += 1;
    }
    Ok(())
}

fn passes(name: &str, subject: &Subject, first: Costs, report: &mut Report) -> Result<(), String> {
    let mut before: (Function, Costs) = (subject.function.clone(), first);
    let mut failed = None;
    let optimized =
        lambada_optimize::optimize_observed(subject.function.clone(), &mut |pass, f| {
            if failed.is_some() || f.body == before.0.body {
                return;
            }
            match subject.costs(f) {
                Ok(after) => {
                    compare(name, pass.name, &before.1, &after, report);
                    before = (f.clone(), after);
                }
                Err(message) => failed = Some(format!("{name} after {}: {message}", pass.name)),
            }
        });
    if let Some(message) = failed {
        return Err(message);
    }
    compare(name, "all passes", &first, &before.1, report);
    let lowered = subject.lowered(&lambada_lower::lower(&optimized))?;
    // The sums of a product of matrices stand in memory while they grow, so bytes written are compared with work.
    let sums = before.1.map(|c| Cost { written: c.written.max(8 * c.work), ..c });
    compare(name, "lower", &sums, &lowered, report);
    Ok(())
}

fn compare(name: &str, pass: &str, before: &Costs, after: &Costs, report: &mut Report) {
    // At small sizes two models of cost differ more than two runs under one of them.
    let tolerance = if pass == "lower" { 0.4 } else { 0.2 };
    for (metric, of) in METRICS {
        if raised(before, after, of, tolerance) {
            let numbers = |costs: &Costs| {
                let all: Vec<String> = costs.iter().map(|c: &Cost| of(c).to_string()).collect();
                format!("{} (exponent {:.1})", all.join(" "), exponent(costs, of))
            };
            report.complaints.push(format!(
                "{name}: {metric} after {pass}: {} instead of {}",
                numbers(after),
                numbers(before)
            ));
        }
    }
}

#[test]
fn no_pass_raises_the_complexity_of_a_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let only = std::env::var("ONLY").unwrap_or_default();
    let report = on_big_stack(|| {
        let mut report = Report::default();
        for path in programs(&folder).iter().filter(|p| p.to_string_lossy().contains(&only)) {
            let start = Instant::now();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(path).expect("a listed program can be read");
            let mut session = Session::new();
            let Ok(unit) = session.load(path) else { continue };
            for promise in promises(&text) {
                let name = format!("{name}.{}", promise.entry);
                if let Err(message) = one(&name, &unit, &promise, &mut report) {
                    report.complaints.push(format!("{name}: {message}"));
                }
            }
            println!("{name}: {:.2} s", start.elapsed().as_secs_f64());
        }
        report
    });
    println!("{} functions measured", report.measured);
    assert!(
        report.complaints.is_empty(),
        "{} complaints:\n{}",
        report.complaints.len(),
        report.complaints.join("\n")
    );
}
