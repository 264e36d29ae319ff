//! Texts that are almost programs, through the whole compiler: problems are welcome, panics are not. (`cargo xtask campaign` tries new ones.)
//!
//! Each complaint comes with a small text that shows it. `SEEDS=5000..6000` takes other texts.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lambada_testkit::parallel;
use lambada_tests::mutate::{mutant, shrink};
use lambada_tests::seeds;
use lambada_tests::texts::{corpus, outcome};

/// How many texts are tried.
const TEXTS: u64 = 1500;

/// How long a text is made smaller.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn almost_programs_never_panic() {
    let corpus = corpus();
    let seeds: Vec<u64> = seeds(TEXTS).collect();
    let found = parallel(&seeds, |seed| {
        let text = mutant(&corpus, *seed);
        outcome(&text).map_err(|complaint| (complaint, text))
    });
    let programs = found.iter().filter(|outcome| **outcome == Ok(true)).count();
    println!("{} texts, {programs} of them programs", seeds.len());
    // One small text for each place.
    let mut told = BTreeMap::new();
    for (complaint, text) in found.into_iter().filter_map(Result::err) {
        let key = complaint.split(": ").next().unwrap_or_default().to_string();
        told.entry(key.clone())
            .or_insert_with(|| format!("{complaint}\n{}", smallest(&text, &key)));
    }
    let told: Vec<String> = told.into_values().collect();
    assert!(told.is_empty(), "{} ways to break the compiler:\n{}", told.len(), told.join("\n"));
    assert!(20 * programs >= seeds.len() || seeds.len() < 100, "only {programs} are programs");
}

/// A small text that breaks the compiler at the same place.
fn smallest(text: &str, place: &str) -> String {
    let until = Instant::now() + PATIENCE;
    shrink(text, &mut |text| {
        Instant::now() < until && outcome(text).is_err_and(|found| found.starts_with(place))
    })
}
