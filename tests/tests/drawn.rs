//! Programs drawn at random through the whole oracle matrix. `SEEDS=1000..1100` draws others,
//! `SHOW=1` prints them, `REDUCE=60` spends 60 seconds on each failing one to find a smaller one
//! that fails in the same way.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lambada::Precision;
use lambada_testkit::{Confirmed, Random, parallel};
use lambada_tests::draw::{Drawn, Feature, canonical, case, case_with, draw, of_nothing};
use lambada_tests::natives::{Native, What, native_complaints};
use lambada_tests::oracle::{Agreement, Verdict};
use lambada_tests::panics::caught;
use lambada_tests::reduce::{Program, reduce};
use lambada_tests::{seeds, special};

const PROGRAMS: u64 = 700;

/// The number of programs that are compiled to one unit of C.
const CHUNK: usize = 60;

/// One program in this many is compared at special values, and one with reals of 32 bits.
const OTHERWISE: u64 = 4;

/// A way to look at a program: at arguments as they are, all evaluators.
fn at_special(text: &str, args: &[String]) -> Verdict {
    match special::complaint(&case(text, args)?) {
        Some(complaint) => Err(complaint),
        None => Ok(Agreement::default()),
    }
}

fn with_32_bits(text: &str, args: &[String]) -> Verdict {
    case_with(Precision::F32, text, args)?.evaluators()
}

fn matrix(text: &str, args: &[String]) -> Verdict {
    case(text, args)?.verdict()
}

/// The arguments, some of them special values.
fn spiced(seed: u64, args: &[String]) -> Vec<String> {
    let mut random = Random(seed);
    let spice = |arg: &String| {
        let arg = serde_json::from_str(arg).expect("arguments are JSON");
        special::spiced(&arg, &mut random).to_string()
    };
    args.iter().map(spice).collect()
}

fn verdict(seed: u64, drawn: &Drawn, way: fn(&str, &[String]) -> Verdict) -> Verdict {
    if std::env::var_os("SHOW").is_some() {
        println!("seed {seed}\n{}\n-- {:?}", drawn.text, drawn.args);
    }
    let run = |text: &str, args: &[String]| caught(|| way(text, args))?;
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

/// Whether the complaints are equal but for numbers.
fn alike(a: &str, b: &str) -> bool {
    let words =
        |text: &str| -> String { text.chars().filter(|c| !c.is_ascii_digit()).take(60).collect() };
    words(a) == words(b)
}

/// The results of all programs.
#[derive(Default)]
struct All {
    programs: usize,
    failing: usize,
    differences: Confirmed,
    compared: usize,
    complaints: Vec<String>,
    /// Programs that disagree only as [`of_nothing`] says.
    of_nothing: usize,
    /// Programs compared with reals of 32 bits, and at special values.
    single: usize,
    special: usize,
    features: BTreeMap<Feature, usize>,
}

impl All {
    fn one(&mut self, seed: u64, natives: &mut Vec<Native>) {
        let mut drawn = draw(seed);
        self.programs += 1;
        match caught(|| canonical(&drawn.text)).and_then(|formatted| formatted) {
            // The other programs are compared as they are written.
            Ok(formatted) if seed % 2 == 1 => drawn.text = formatted,
            Ok(_) => {}
            Err(e) => self.complaints.push(format!("seed {seed}, formatted: {e}")),
        }
        drawn.features.iter().for_each(|feature| *self.features.entry(*feature).or_default() += 1);
        match verdict(seed, &drawn, matrix) {
            // The value and the reverse derivative of every program go through the C compiler; the
            // rest stays with the evaluators.
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
        // Not by the remainder alone, which decides whether a program has functions with rules.
        match (seed + seed / OTHERWISE) % OTHERWISE {
            0 => match verdict(seed, &drawn, with_32_bits) {
                Ok(agreement) => {
                    let place = format!("seed {seed}, 32 bits");
                    natives.extend(agreement.natives.into_iter().map(|n| n.inside(&place)));
                    self.single += 1;
                }
                Err(e) if of_nothing(&drawn.args, &e) => self.of_nothing += 1,
                Err(e) => self.complaints.push(format!("seed {seed}, 32 bits: {e}")),
            },
            1 => {
                drawn.args = spiced(seed, &drawn.args);
                self.special += 1;
                if let Err(e) = verdict(seed, &drawn, at_special) {
                    self.complaints.push(format!("seed {seed} at {:?}: {e}", drawn.args));
                }
            }
            _ => {}
        }
    }

    fn add(mut self, other: All) -> All {
        let All { programs, failing, differences, compared, complaints, of_nothing, .. } = other;
        self.programs += programs;
        self.failing += failing;
        self.differences.add(differences);
        self.compared += compared;
        self.complaints.extend(complaints);
        self.of_nothing += of_nothing;
        self.single += other.single;
        self.special += other.special;
        other.features.into_iter().for_each(|(f, n)| *self.features.entry(f).or_default() += n);
        self
    }
}

fn run() -> All {
    let found =
        parallel(&seeds(PROGRAMS).collect::<Vec<_>>().chunks(CHUNK).collect::<Vec<_>>(), |seeds| {
            let (mut all, mut natives) = (All::default(), Vec::new());
            seeds.iter().for_each(|seed| all.one(*seed, &mut natives));
            natives.sort_by_key(|native| native.function.precision == Precision::F32);
            all.compared = natives.len();
            all.complaints.extend(native_complaints(&natives).iter().map(ToString::to_string));
            all
        });
    found.into_iter().fold(All::default(), All::add)
}

#[test]
fn drawn_programs_agree_everywhere() {
    let all = run();
    let All { programs, failing, differences, compared, of_nothing, single, special, .. } = all;
    let (mut complaints, features) = (all.complaints, all.features);
    println!(
        "{programs} programs, {failing} fail, {compared} native calls, {single} with 32 bits, {special} at special \
         values; {differences:?}\n{features:?}"
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
    assert!(single >= programs / 5 && special >= programs / 5, "{single}, {special}");
    assert!(compared >= programs, "only {compared} native calls");
    if programs as u64 >= PROGRAMS {
        for feature in Feature::ALL {
            let count = features.get(&feature).copied().unwrap_or_default();
            assert!(30 * count >= programs, "only {count} of {programs} programs have {feature:?}");
        }
        assert!(20 * failing >= programs && 3 * failing <= programs, "{failing} programs fail");
        let Confirmed { decided, undecided } = differences;
        assert!(decided >= 5 * programs && decided >= 20 * undecided, "{differences:?}");
    }
}
