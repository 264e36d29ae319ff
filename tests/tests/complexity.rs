//! No pass changes the complexity of a program. Every program of `tests/programs` and
//! `tests/programs/cost`, its forward and reverse derivatives and the derivative of the derivative
//! run on growing arguments as they leave `normalize`, after each pass of the optimizer in the
//! order in which it ran, and as loops; nothing may grow by a higher power of the size than before.

use std::path::Path;
use std::time::Instant;

use lambada::{Session, Unit};
use lambada_anf::Function;
use lambada_graph::Plan;
use lambada_schedule::Choice;
use lambada_testkit::parallel;
use lambada_tests::expectations::{self, Expectation, expectations, programs};
use lambada_tests::growth::{Cost, Costs, FunctionKind, KINDS, METRICS, Subject, exponent, raised};

/// A run at the first size may take this much work.
const WORK: u64 = 1_000;

/// And one of a generated function at the second size so much.
const GENERATED_WORK: u64 = 20_000_000;

/// The measurements of one definition.
#[derive(Default)]
struct Report {
    complaints: Vec<String>,
    measured: usize,
    /// Functions that do not exist (derivatives of definitions without reals), or fail at larger
    /// sizes.
    skipped: usize,
    /// The work of each derivative, relative to that of the value, with its name.
    work: Vec<(f64, String)>,
    /// The memory of each reverse derivative, relative to that of the value and of the arrays that
    /// it overwrites.
    memory: Vec<(f64, String)>,
}

/// A derivative, of a derivative too, may take this many times the work of its primal.
const RATIO: f64 = 6.0;

/// Derivatives that take more, for now.
const EXPENSIVE: [&str; 1] = ["rows_swapped.halves Vjp"];

fn promises(text: &str) -> Vec<Expectation> {
    let mut seen: Vec<Expectation> = Vec::new();
    for promise in expectations(text) {
        let runs = matches!(
            promise.kind,
            expectations::PromiseKind::Run
                | expectations::PromiseKind::Grad
                | expectations::PromiseKind::Oracle
        );
        if runs && seen.iter().all(|p| p.entry != promise.entry) {
            seen.push(promise);
        }
    }
    seen
}

/// How to scale the arguments: as large as is quick; integers too, where the program then still
/// runs.
fn scaling(unit: &Unit, promise: &Expectation) -> Result<Option<(usize, bool)>, String> {
    for scale_ints in [true, false] {
        let mut found = None;
        for factor in [1, 2, 4, 8] {
            let Some(subject) =
                Subject::new(unit, promise, FunctionKind::Value, factor, scale_ints)?
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
    let mut value: Option<Cost> = None;
    let mut reverse: Option<Cost> = None;
    for kind in KINDS {
        let subject = Subject::new(unit, promise, kind, factor, ints)?;
        let costs =
            subject.and_then(|subject| Some((subject.costs(&subject.function).ok()?, subject)));
        let Some((before, subject)) = costs else {
            report.skipped += 1;
            continue;
        };
        let name = format!("{name} {kind:?}");
        let [_, _, cost] = passes(&name, &subject, before, LOWERED, report)?;
        report.measured += 1;
        let derived_from = match kind {
            FunctionKind::Value => None,
            FunctionKind::Jvp | FunctionKind::Vjp | FunctionKind::VjpBy(_) => value,
            FunctionKind::Hvp => reverse,
        };
        if let Some(of) = derived_from {
            // A derivative writes its results at least, though the value may read nothing.
            let results = subject.arguments(2) / 8;
            report.work.push((ratio(cost.work, of.work + results), name.clone()));
        }
        match kind {
            FunctionKind::Value => value = Some(cost),
            FunctionKind::Vjp => {
                if let Some(value) = value {
                    let needed = value.peak + value.overwritten + subject.arguments(2);
                    report.memory.push((ratio(cost.peak, needed), name));
                }
                reverse = Some(cost);
            }
            FunctionKind::Jvp | FunctionKind::Hvp | FunctionKind::VjpBy(_) => {}
        }
    }
    let Some(value) = value else { return Ok(()) };
    for place in 0.. {
        let kind = FunctionKind::VjpBy(place);
        let Some(subject) = Subject::new(unit, promise, kind, factor, ints)? else { break };
        let optimized = lambada_optimize::optimize(subject.function.clone());
        let Ok(costs) = subject.costs(&optimized) else { break };
        let results = subject.arguments(2) / 8;
        report.work.push((ratio(costs[2].work, value.work + results), format!("{name} {kind:?}")));
    }
    Ok(())
}

/// The ratio of two costs, damped by a constant that any run may cost.
fn ratio(cost: u64, of: u64) -> f64 {
    cost as f64 / (of as f64 + 200.0)
}

/// The tolerance for an exponent that a pass seems to raise: runs under one model of cost differ by
/// little.
const PASS: f64 = 0.2;
/// At small sizes two models of cost, of arrays and of buffers, differ more.
const LOWERED: f64 = 0.4;
/// Even more in generated functions, whose sizes are smallest and whose leading terms are the last
/// to lead.
const LOWERED_GENERATED: f64 = 0.6;

/// The costs of the optimized program. `lowered`: by how much `lower` may seem to raise an
/// exponent.
fn passes(
    name: &str,
    subject: &Subject,
    first: Costs,
    lowered: f64,
    report: &mut Report,
) -> Result<Costs, String> {
    let mut before: (Function, Costs) = (subject.function.clone(), first);
    let mut failed = None;
    let optimized = lambada_optimize::optimize_observed(
        subject.function.clone(),
        lambada_anf::Audience::Machine,
        &mut |pass, f, changed| {
            if failed.is_some() || !changed || f.body == before.0.body {
                return;
            }
            match subject.costs(f) {
                Ok(after) => {
                    compare(name, pass.name, PASS, [&before.1, &after], report);
                    before = (f.clone(), after);
                }
                Err(message) => failed = Some(format!("{name} after {}: {message}", pass.name)),
            }
        },
    );
    if let Some(message) = failed {
        return Err(message);
    }
    compare(name, "all passes", PASS, [&first, &before.1], report);
    let after = subject.lowered(&lambada_lower::lower(&optimized))?;
    let buffers = as_buffers(subject, &before.1);
    compare(name, "lower", lowered, [&buffers, &after], report);
    let nests = lambada_tests::nests::lowered(&optimized, Plan::of(4), Choice::Best);
    compare(name, "nests", lowered, [&buffers, &subject.lowered(&nests)?], report);
    Ok(before.1)
}

/// The costs with those that only buffers have: the sums of a product of matrices stand in memory
/// while they grow, and a state that an iteration replaces by an existing array is copied.
fn as_buffers(subject: &Subject, costs: &Costs) -> Costs {
    let mut costs = *costs;
    for (k, c) in costs.iter_mut().enumerate() {
        let arguments = subject.arguments(k);
        c.written = c.written.max(8 * c.work) + c.overwritten;
        c.work += c.overwritten / 8;
        c.allocated += arguments;
        c.peak += arguments;
    }
    costs
}

fn compare(
    name: &str,
    pass: &str,
    tolerance: f64,
    [before, after]: [&Costs; 2],
    report: &mut Report,
) {
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

impl Report {
    fn add(mut self, other: Report) -> Report {
        let Report { complaints, measured, skipped, work, memory } = other;
        self.complaints.extend(complaints);
        self.measured += measured;
        self.skipped += skipped;
        self.work.extend(work);
        self.memory.extend(memory);
        self
    }
}

/// All definitions of a file that promise something.
fn file(path: &Path) -> Report {
    let (start, mut report) = (Instant::now(), Report::default());
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("a listed program can be read");
    let mut session = Session::new();
    let unit = match session.load(path) {
        Ok(unit) => unit,
        Err(problems) => {
            report.complaints.push(session.render(&problems, false));
            return report;
        }
    };
    for promise in promises(&text) {
        let name = format!("{name}.{}", promise.entry);
        if let Err(message) = one(&name, &unit, &promise, &mut report) {
            report.complaints.push(format!("{name}: {message}"));
        }
    }
    println!("{name}: {:.2} s", start.elapsed().as_secs_f64());
    report
}

#[test]
fn no_pass_raises_the_complexity_of_a_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut files = [programs(&folder), programs(&folder.join("cost"))].concat();
    files.retain(|path| path.to_string_lossy().contains(&only));
    let found = parallel(&files, |path| file(path));
    let mut report = found.into_iter().fold(Report::default(), Report::add);
    println!("{} functions measured, {} skipped", report.measured, report.skipped);
    for (what, ratios) in [("work", &mut report.work), ("memory", &mut report.memory)] {
        ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
        ratios.iter().take(12).for_each(|(ratio, name)| println!("{what} × {ratio:.1}: {name}"));
    }
    for (ratio, name) in &report.work {
        // Loops that keep few states run iterations again; how often is counted in the tests of
        // `differentiate`.
        let known = EXPENSIVE.contains(&name.as_str()) || name.starts_with("checkpoints.");
        if *ratio > RATIO && !known {
            report.complaints.push(format!("{name} takes {ratio:.1} times the work"));
        }
    }
    assert!(
        report.complaints.is_empty(),
        "{} complaints:\n{}",
        report.complaints.len(),
        report.complaints.join("\n")
    );
}

/// The function of a seed. Many have no sizes that could grow, or fail; at the end enough have been
/// measured.
fn generated(seed: u64) -> Report {
    let start = Instant::now();
    let mut report = Report::default();
    // At smaller sizes where it takes long.
    let mut subjects = [2, 1].into_iter().filter_map(|size| Subject::generated(seed, size));
    let is_quick = |s: &Subject| s.middle(&s.function).is_ok_and(|c| c.work < GENERATED_WORK);
    let subject = subjects.find(is_quick);
    let measured =
        subject.and_then(|subject| Some((subject.costs(&subject.function).ok()?, subject)));
    let Some((costs, subject)) = measured else { return report };
    report.measured += 1;
    let name = format!("seed {seed}");
    if let Err(message) = passes(&name, &subject, costs, LOWERED_GENERATED, &mut report) {
        report.complaints.push(message);
    }
    if !report.complaints.is_empty() {
        report.complaints.push(lambada_anf::print(&subject.function));
    }
    println!("{name}: {:.2} s", start.elapsed().as_secs_f64());
    report
}

#[test]
fn no_pass_raises_the_complexity_of_a_generated_function() {
    let seeds: Vec<u64> = (0..200).collect();
    let report =
        parallel(&seeds, |seed| generated(*seed)).into_iter().fold(Report::default(), Report::add);
    assert!(report.complaints.is_empty(), "{}", report.complaints.join("\n"));
    assert!(report.measured >= 60, "only {} functions measured", report.measured);
}
