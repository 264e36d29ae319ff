//! The executable paper and the compiler agree: Appendix A = Appendix C = big-step semantics =
//! shared = closure-converted = `core::eval` = the compiler's derivative, through each of its
//! evaluators and natively. `PROGRAMS=100` takes that many.

use lambada_chad::generate::Statistics;
use lambada_testkit::parallel;
use lambada_tests::natives::{Native, native_complaints};
use lambada_tests::paper::Subject;

const PROGRAMS: usize = 1200;

/// The number of programs that are compiled to one unit of C.
const CHUNK: usize = 60;

fn programs() -> usize {
    std::env::var("PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(PROGRAMS)
}

/// The features of all programs and of those that the big-step rules ran, the number of native
/// calls compared, and complaints.
#[derive(Default)]
struct Report {
    all: Statistics,
    run: Statistics,
    natives: usize,
    complaints: Vec<String>,
}

impl Report {
    fn one(&mut self, seed: u64, natives: &mut Vec<Native>) {
        let subject = Subject::new(seed).expect("the seed of a term of bearable size");
        self.all.add(&subject.term);
        if subject.is_run() {
            self.run.add(&subject.term);
        }
        match subject.verdict() {
            Ok(found) => natives.extend(found),
            Err(complaint) => self.complaints.push(complaint),
        }
    }
}

fn compare(programs: usize) -> Report {
    let seeds: Vec<u64> = Subject::seeds().take(programs).collect();
    let found = parallel(&seeds.chunks(CHUNK).collect::<Vec<_>>(), |seeds| {
        let (mut report, mut natives) = (Report::default(), Vec::new());
        seeds.iter().for_each(|seed| report.one(*seed, &mut natives));
        report.natives = natives.len();
        report.complaints.extend(native_complaints(&natives).iter().map(ToString::to_string));
        report
    });
    let mut all = Report::default();
    for Report { all: terms, run, natives, complaints } in found {
        all.all.merge(&terms);
        all.run.merge(&run);
        all.natives += natives;
        all.complaints.extend(complaints);
    }
    all
}

/// T-3, T-4, T-7, T-8 across the repository: no two ways to differentiate a program of the paper's
/// source language differ. Both modes of all programs are run natively too.
#[test]
fn all_derivatives_are_one() {
    let Report { all, run, natives, complaints } = compare(programs());
    println!("{all:?}\nby the big-step rules: {run:?}\n{natives} native calls compared");
    assert!(
        complaints.is_empty(),
        "{} complaints, the first:\n{}",
        complaints.len(),
        complaints[..complaints.len().min(5)].join("\n")
    );
    if all.terms >= PROGRAMS {
        assert!(run.terms >= 1000 && natives == 2 * all.terms, "too few were run");
        assert!(
            all.unknown_calls >= 150
                && all.function_arguments >= 250
                && all.function_results >= 50
                && all.captured_functions >= 100
        );
        assert!(run.unknown_calls >= 100 && run.captured_functions >= 50 && all.highest_order >= 3);
    }
}
