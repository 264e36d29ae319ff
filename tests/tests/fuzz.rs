//! Texts that are almost programs, through the whole compiler: problems are welcome, panics are not.
//!
//! `FUZZ_SECONDS=600` goes on for so long, `FUZZ_SEED=n` starts elsewhere; each complaint comes with a small text that shows it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lambada_tests::mutate::{mutant, shrink};
use lambada_tests::on_big_stack;
use lambada_tests::texts::{corpus, outcome};

/// How many texts are tried unless a time is given, and for how long at most.
const TEXTS: u64 = 1500;
const SECONDS: u64 = 20;

/// A text that takes longer is a complaint.
const PATIENCE: Duration = Duration::from_secs(10);

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// A text that is never done would stop the test without a word: another thread watches.
fn watch(current: &'static AtomicU64, corpus: Vec<String>) {
    std::thread::spawn(move || {
        let mut last = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let seed = current.load(Ordering::Relaxed);
            if seed != last.0 {
                last = (seed, Instant::now());
            } else if seed != u64::MAX && last.1.elapsed() > 6 * PATIENCE {
                eprintln!("seed {seed} takes more than a minute:\n{}", mutant(&corpus, seed));
                std::process::exit(101);
            }
        }
    });
}

#[test]
fn almost_programs_never_panic() {
    static CURRENT: AtomicU64 = AtomicU64::new(0);
    let corpus = corpus();
    watch(&CURRENT, corpus.clone());
    let found = on_big_stack(|| search(&corpus, &CURRENT));
    CURRENT.store(u64::MAX, Ordering::Relaxed);
    let told: Vec<String> =
        found.into_iter().map(|(place, text)| format!("---- {place}\n{text}")).collect();
    assert!(told.is_empty(), "{} ways to break the compiler:\n{}", told.len(), told.join("\n"));
}

/// One small text for each place that panics.
fn search(corpus: &[String], current: &AtomicU64) -> BTreeMap<String, String> {
    let seconds = from_environment("FUZZ_SECONDS");
    let first = from_environment("FUZZ_SEED").unwrap_or(0);
    let start = Instant::now();
    let mut found = BTreeMap::new();
    let mut accepted = 0;
    let mut seed = first;
    while start.elapsed() < Duration::from_secs(seconds.unwrap_or(SECONDS))
        && (seconds.is_some() || seed < first + TEXTS)
    {
        current.store(seed, Ordering::Relaxed);
        let text = mutant(corpus, seed);
        let begun = Instant::now();
        match outcome(&text) {
            Ok(_) if begun.elapsed() > PATIENCE => drop(
                found
                    .insert(format!("seed {seed}"), format!("takes {:?}\n{text}", begun.elapsed())),
            ),
            Ok(is_program) => accepted += u64::from(is_program),
            Err(place) => {
                let key = place.split(": ").next().unwrap_or_default().to_string();
                found.entry(key.clone()).or_insert_with(|| {
                    let small = smallest(&text, &key);
                    eprintln!("seed {seed}: {place}\n{small}\n");
                    format!("{place}\n{small}")
                });
            }
        }
        seed += 1;
    }
    println!("{} texts, {accepted} of them programs, in {:?}", seed - first, start.elapsed());
    found
}

/// A small text that breaks the compiler at the same place.
fn smallest(text: &str, place: &str) -> String {
    let until = Instant::now() + 3 * PATIENCE;
    shrink(text, &mut |text| {
        Instant::now() < until && outcome(text).is_err_and(|found| found.starts_with(place))
    })
}
