//! Programs drawn at random through the whole oracle matrix. `SEEDS=1000..1100` draws others, `SHOW=1` prints them, `REDUCE=60` spends so
//! many seconds on each that fails to find a smaller one that fails in the same way.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lambada_testkit::{Confirmed, parallel};
use lambada_tests::draw::{Drawn, Feature, case, draw, of_nothing};
use lambada_tests::natives::{Native, What, native_complaints};
use lambada_tests::oracle::Verdict;
use lambada_tests::panics::caught;
use lambada_tests::reduce::{Program, reduce};
use lambada_tests::seeds;

const PROGRAMS: u64 = 700;

/// So many programs are compiled to one unit of C.
const CHUNK: usize = 60;

fn verdict(seed: u64, drawn: &Drawn) -> Verdict {
    if std::env::var_os("SHOW").is_some() {
        println!("seed {seed}\n{}\n-- {:?}", drawn.text, drawn.args);
    }
    let run = |text: &str, args: &[String]| caught(|| case(text, args)?.verdict())?;
    let verdict = run(&drawn.text, &drawn.args);
    let seconds = std::env::var("REDUCE").ok().and_then(|seconds| seconds.parse().ok());
    if let (Err(complaint), Some(seconds)) = (&verdict, seconds) {
        let until = Instant::now() + Duration::from_secs(seconds);
        let program = Program { text: drawn.text.clone(), args: drawn.args.clone() };
        let mut same = |p: &Program| run(&p.text, &p.args).is_err_and(|e| alike(&e, complaint));
        let small = reduce(&program, until, &mut same);
        println!("seed {seed}: {complaint}\n{}\n-- {:?}", small.text, small.args);
    }
    verdict
}

/// Are these complaints about the same? Numbers do not count.
fn alike(a: &str, b: &str) -> bool {
    let words =
        |text: &str| -> String { text.chars().filter(|c| !c.is_ascii_digit()).take(60).collect() };
    words(a) == words(b)
}

/// What all programs gave.
#[derive(Default)]
struct All {
    programs: usize,
    failing: usize,
    differences: Confirmed,
    compared: usize,
    complaints: Vec<String>,
    /// Programs that disagree only as [`of_nothing`] says.
    of_nothing: usize,
    features: BTreeMap<Feature, usize>,
}

impl All {
    fn one(&mut self, seed: u64, natives: &mut Vec<Native>) {
        let drawn = draw(seed);
        self.programs += 1;
        drawn.features.iter().for_each(|feature| *self.features.entry(*feature).or_default() += 1);
        match verdict(seed, &drawn) {
            // The value and the reverse derivative of every program go through the C compiler; the rest stays with the evaluators.
            Ok(agreement) => {
                self.failing += usize::from(agreement.fails);
                self.differences.add(agreement.differences);
                let compared = |n: &Native| matches!(n.what, What::Value | What::Vjp);
                let all = agreement.natives.into_iter().filter(compared);
                natives.extend(all.map(|n| n.inside(&format!("seed {seed}"))));
            }
            Err(e) if of_nothing(&drawn.args, &e) => self.of_nothing += 1,
            Err(e) => self.complaints.push(format!("seed {seed}: {e}")),
        }
    }

    fn add(mut self, other: All) -> All {
        let All { programs, failing, differences, compared, complaints, of_nothing, features } =
            other;
        self.programs += programs;
        self.failing += failing;
        self.differences.add(differences);
        self.compared += compared;
        self.complaints.extend(complaints);
        self.of_nothing += of_nothing;
        features.into_iter().for_each(|(f, n)| *self.features.entry(f).or_default() += n);
        self
    }
}

fn run() -> All {
    let found =
        parallel(&seeds(PROGRAMS).collect::<Vec<_>>().chunks(CHUNK).collect::<Vec<_>>(), |seeds| {
            let (mut all, mut natives) = (All::default(), Vec::new());
            seeds.iter().for_each(|seed| all.one(*seed, &mut natives));
            all.compared = natives.len();
            all.complaints.extend(native_complaints(&natives).iter().map(ToString::to_string));
            all
        });
    found.into_iter().fold(All::default(), All::add)
}

#[test]
fn drawn_programs_agree_everywhere() {
    let All { programs, failing, differences, compared, mut complaints, of_nothing, features } =
        run();
    println!(
        "{programs} programs, {failing} fail, {compared} native calls; {differences:?}\n{features:?}"
    );
    if of_nothing > 2 + programs / 200 {
        complaints.push(format!("{of_nothing} derivatives of nothing differ"));
    }
    let shown: Vec<&str> = complaints.iter().take(20).map(String::as_str).collect();
    assert!(
        complaints.is_empty(),
        "{} complaints, the first:\n{}",
        complaints.len(),
        shown.join("\n")
    );
    assert!(compared >= programs, "only {compared} native calls");
    if programs as u64 >= PROGRAMS {
        for feature in Feature::ALL {
            let count = features.get(&feature).copied().unwrap_or_default();
            assert!(25 * count >= programs, "only {count} of {programs} programs have {feature:?}");
        }
        assert!(20 * failing >= programs && 3 * failing <= programs, "{failing} programs fail");
        let Confirmed { decided, undecided } = differences;
        assert!(decided >= 5 * programs && decided >= 20 * undecided, "{differences:?}");
    }
}
