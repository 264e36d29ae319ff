//! Texts that are almost programs, through the whole compiler: problems are welcome, panics are
//! not. (`cargo xtask campaign` tries new ones.)
//!
//! Each complaint comes with a small text that shows it. `SEEDS=5000..6000` takes other texts.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lambada::{Session, Severity};
use lambada_testkit::{Random, parallel};
use lambada_tests::mutate::{mutant, shrink};
use lambada_tests::planted::{MISTAKES, Mistake, planted};
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

/// Programs with one mistake.
const PLANTED: u64 = 420;

/// Planted mistakes that need not be any, and how many of the planted ones are none: a polymorphic
/// function takes a truth value, too, and most bodies need no `in`.
const NONE: &[(Mistake, usize)] = &[
    (Mistake::WrongType, 1),
    (Mistake::LostWord, 3),
    // Arguments in parentheses with commas are those of a call.
    (Mistake::Tupled, 60),
    // A brace in a text.
    (Mistake::Unclosed, 1),
];

/// Mistakes that may have several messages, and how many of the planted ones do.
const EXCEPTIONS: &[(Mistake, usize)] = &[
    // A sum with the larger of a number and an unknown name is told of twice.
    (Mistake::UnknownName, 1),
    // A state that begins with a value of another type contradicts each of its uses.
    (Mistake::WrongType, 8),
    // The text after a lost word reads as something else.
    (Mistake::LostWord, 5),
    // A bracket that is closed later, by another one, leaves a form unfinished.
    (Mistake::Unclosed, 4),
];

#[test]
fn one_mistake_is_one_message() {
    let corpus: Vec<String> =
        corpus().into_iter().filter(|text| errors(text).is_empty() && !text.is_empty()).collect();
    let seeds: Vec<u64> = seeds(PLANTED).collect();
    let found = parallel(&seeds, |seed| {
        let mistake = MISTAKES[*seed as usize % MISTAKES.len()];
        let mut random = Random(*seed);
        let text = (0..100).find_map(|_| {
            let text = &corpus[random.below(corpus.len())];
            planted(text, mistake, random.bits())
        });
        let text = text.expect("some program has a place for the mistake");
        (mistake, errors(&text), text)
    });
    let mut counts: BTreeMap<Mistake, [usize; 3]> = BTreeMap::new();
    let mut several = Vec::new();
    for (mistake, errors, text) in found {
        counts.entry(mistake).or_default()[errors.len().min(2)] += 1;
        match errors.len() {
            0 => several.push(format!("{mistake:?} is none\n{text}")),
            1 => {}
            _ => several.push(format!("{mistake:?}\n{}", errors.join(""))),
        }
    }
    println!("none, one, several: {counts:?}");
    // Other seeds plant the same kinds in other places.
    let factor = if std::env::var_os("SEEDS").is_some() { 3 } else { 1 };
    for (mistake, [none, _, several_messages]) in &counts {
        let allowed = |all: &[(Mistake, usize)]| {
            factor * all.iter().find(|(known, _)| known == mistake).map_or(0, |e| e.1)
        };
        let few = *several_messages <= allowed(EXCEPTIONS) && *none <= allowed(NONE);
        assert!(few || seeds.len() > PLANTED as usize, "{mistake:?}: {}", several.join("\n----\n"));
    }
}

/// The errors of a text, as a person reads them.
fn errors(text: &str) -> Vec<String> {
    let mut session = Session::new();
    let problems = session.load_text("planted.lam", text, None).err().unwrap_or_default();
    let errors = problems.into_iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(|problem| session.render(&[problem], false)).collect()
}
