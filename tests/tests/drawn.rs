//! Programs drawn at random through the whole oracle matrix. `SEEDS=1000..1100` draws others, `SHOW=1` prints them.

use std::collections::BTreeMap;

use lambada_testkit::Confirmed;
use lambada_tests::draw::{Drawn, Feature, case, draw};
use lambada_tests::on_big_stack;
use lambada_tests::oracle::{Native, Verdict, native_complaints};

const PROGRAMS: u64 = 1200;

fn verdict(seed: u64, drawn: &Drawn) -> Verdict {
    if std::env::var_os("SHOW").is_some() {
        println!("seed {seed}\n{}\n-- {:?}", drawn.text, drawn.args);
    }
    case(&drawn.text, &drawn.args)?.verdict()
}

fn seeds() -> std::ops::Range<u64> {
    let chosen = std::env::var("SEEDS").ok();
    let parse = |text: &str| {
        text.split_once("..").and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?))
    };
    chosen.and_then(|text| parse(&text)).unwrap_or(0..PROGRAMS)
}

/// What all programs gave.
#[derive(Default)]
struct All {
    programs: usize,
    failing: usize,
    differences: Confirmed,
    natives: Vec<Native>,
    complaints: Vec<String>,
    /// Programs that disagree only as [`of_nothing`] says.
    of_nothing: usize,
    features: BTreeMap<Feature, usize>,
}

/// The derivative of `norm`, `logsumexp` and the like of no elements has a zero and an infinity to multiply; as the book's page on special
/// values says, engines may then give NaN or a number.
fn of_nothing(drawn: &Drawn, complaint: &str) -> bool {
    drawn.features.contains(&Feature::Empty)
        && (complaint.contains("jvp") || complaint.contains("vjp"))
        && (complaint.ends_with(" nan differ") || complaint.contains(": nan and "))
}

fn run() -> All {
    let mut all = All::default();
    for seed in seeds() {
        let drawn = draw(seed);
        all.programs += 1;
        drawn.features.iter().for_each(|feature| *all.features.entry(*feature).or_default() += 1);
        match verdict(seed, &drawn) {
            // The value and the reverse derivative of every program go through the C compiler; the rest stays with the evaluators.
            Ok(agreement) => {
                all.failing += usize::from(agreement.fails);
                all.differences.add(agreement.differences);
                let compared =
                    |n: &Native| n.name.ends_with(": value") || n.name.ends_with(": vjp");
                all.natives.extend(
                    agreement
                        .natives
                        .into_iter()
                        .filter(compared)
                        .map(|n| Native { name: format!("seed {seed}: {}", n.name), ..n }),
                );
            }
            Err(e) if of_nothing(&drawn, &e) => all.of_nothing += 1,
            Err(e) => all.complaints.push(format!("seed {seed}: {e}")),
        }
    }
    all.complaints.extend(native_complaints(&all.natives));
    if all.of_nothing > 2 + all.programs / 200 {
        all.complaints.push(format!("{} derivatives of nothing differ", all.of_nothing));
    }
    println!("{} native functions compared", all.natives.len());
    all.natives.clear();
    all
}

#[test]
fn drawn_programs_agree_everywhere() {
    let (programs, failing, differences, complaints, features) = on_big_stack(|| {
        let All { programs, failing, differences, complaints, features, .. } = run();
        (programs, failing, differences, complaints, features)
    });
    println!("{programs} programs, {failing} fail; {differences:?}\n{features:?}");
    let shown: Vec<&str> = complaints.iter().take(20).map(String::as_str).collect();
    assert!(
        complaints.is_empty(),
        "{} complaints, the first:\n{}",
        complaints.len(),
        shown.join("\n")
    );
    if programs as u64 >= PROGRAMS {
        for feature in Feature::ALL {
            let count = features.get(&feature).copied().unwrap_or_default();
            assert!(20 * count >= programs, "only {count} of {programs} programs have {feature:?}");
        }
        assert!(20 * failing >= programs && 3 * failing <= programs, "{failing} programs fail");
        let Confirmed { decided, undecided } = differences;
        assert!(decided >= 5 * programs && decided >= 20 * undecided, "{differences:?}");
    }
}
