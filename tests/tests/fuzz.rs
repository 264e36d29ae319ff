//! Texts that are almost programs, through the whole compiler: problems are welcome, panics are not.
//!
//! `FUZZ_SECONDS=600` goes on for so long, `FUZZ_SEED=n` starts elsewhere; each complaint comes with a small text that shows it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lambada::{Operator, Session, Unit, arrays, lower};
use lambada_tests::expectations::programs;
use lambada_tests::mutate::{mutant, shrink};
use lambada_tests::on_big_stack;

/// How many texts are tried unless a time is given, and for how long at most.
const TEXTS: u64 = 1500;
const SECONDS: u64 = 20;

/// A text that takes longer is a complaint.
const PATIENCE: Duration = Duration::from_secs(10);

thread_local! {
    /// Where the last panic was.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The whole compiler on a text; what the definitions mean, and their derivatives, as far as they have any. Is it a program?
fn compile(text: &str) -> bool {
    let mut session = Session::new();
    let unit = session.load_text("fuzz.lam", text, None);
    match &unit {
        Err(problems) => drop(session.render(problems, false)),
        Ok(unit) => unit.definitions().iter().for_each(|d| definition(unit, &d.name, &session)),
    }
    unit.is_ok()
}

fn definition(unit: &Unit, name: &str, session: &Session) {
    for operator in [Operator::Value, Operator::Vjp, Operator::Jvp] {
        let compiled =
            unit.call(name, operator, None).and_then(|call| arrays(&call.program, call.entry));
        match compiled {
            Ok(arrays) => drop(lower(&arrays)),
            Err(problems) => drop(session.render(&problems, false)),
        }
    }
}

/// Whether a text is a program, or where the compiler panics on it.
fn outcome(text: &str) -> Result<bool, String> {
    catch_unwind(AssertUnwindSafe(|| compile(text))).map_err(|_| PLACE.take())
}

fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["programs", "errors/syntax", "errors/types", "../examples"];
    let files = folders.iter().flat_map(|folder| programs(&root.join(folder)));
    files
        .map(|file| std::fs::read_to_string(file).expect("a listed program can be read"))
        .filter(|text| text.len() < 6000)
        .collect()
}

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
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let text = info.payload().downcast_ref::<String>().cloned().unwrap_or_default();
        PLACE.set(format!("{place}: {}", text.lines().next().unwrap_or_default()));
    }));
    let found = on_big_stack(|| search(&corpus, &CURRENT));
    CURRENT.store(u64::MAX, Ordering::Relaxed);
    let _ = std::panic::take_hook();
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
