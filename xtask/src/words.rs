//! Habits of wording, counted: comments that describe a thing where they could name it, doc
//! comments that begin with a description or ask a question, and comment lines that are too long.
//! The limits only fall.

use std::fs;
use std::path::PathBuf;

/// The widest comment line.
const COLUMNS: usize = 100;

/// A habit, and how often all sources together may have it.
struct Habit {
    name: &'static str,
    limit: usize,
    instead: &'static str,
}

const HABITS: [Habit; 5] = [
    Habit {
        name: "`what` in comments",
        limit: 60,
        instead: "name the thing: the noun of the field",
    },
    Habit {
        name: "doc comments that begin with a description",
        limit: 10,
        instead: "begin with the thing or a verb",
    },
    Habit { name: "doc comments that are questions", limit: 10, instead: "`Whether …`" },
    Habit {
        name: "`so many`, `told`, `whoever`, `somebody` in comments",
        limit: 10,
        instead: "numbers, agents",
    },
    Habit { name: "comment lines beyond 100 columns", limit: 10, instead: "wrap, or make a list" },
];

/// Beginnings that describe.
const BEGINNINGS: [&str; 6] = ["What ", "The same", "Those ", "Of ", "Is ", "Does "];
/// Words that stand for an agent or a number.
const VAGUE: [&str; 4] = ["so many", "told", "whoever", "somebody"];

/// A habit that has become more frequent, or whose limit can be lowered.
pub(crate) fn complaints(sources: &[PathBuf]) -> Vec<String> {
    let read = |file: &PathBuf| fs::read_to_string(file).unwrap_or_default();
    let counts = sources.iter().map(|file| counted(&read(file))).fold([0; 5], plus);
    let judged = HABITS.iter().zip(counts).filter_map(|(habit, count)| judged(habit, count));
    judged.collect()
}

fn plus(a: [usize; 5], b: [usize; 5]) -> [usize; 5] {
    std::array::from_fn(|k| a[k] + b[k])
}

fn judged(habit: &Habit, count: usize) -> Option<String> {
    let Habit { name, limit, instead } = habit;
    match count.cmp(limit) {
        std::cmp::Ordering::Greater => {
            Some(format!("{name}: {count}, at most {limit} are allowed; {instead}"))
        }
        // Some room, so that a change need not touch the limit.
        std::cmp::Ordering::Less if count + 50 < *limit => {
            Some(format!("{name}: {count}; lower the limit of {limit} in xtask/src/words.rs"))
        }
        std::cmp::Ordering::Less | std::cmp::Ordering::Equal => None,
    }
}

/// How often a text has each of [`HABITS`].
fn counted(text: &str) -> [usize; 5] {
    let mut counts = [0; 5];
    let mut in_doc = false;
    for line in text.lines() {
        let Some(at) = comment(line) else {
            in_doc = false;
            continue;
        };
        let comment = &line[at..];
        let is_doc = comment.starts_with("///");
        let words = comment.trim_start_matches(['/', '!']).trim();
        let lower = words.to_lowercase();
        counts[0] +=
            lower.split(|c: char| !c.is_alphabetic()).filter(|word| *word == "what").count();
        counts[1] +=
            usize::from(is_doc && !in_doc && BEGINNINGS.iter().any(|b| words.starts_with(b)));
        counts[2] += usize::from(is_doc && words.ends_with('?'));
        counts[3] += VAGUE.iter().map(|word| lower.matches(word).count()).sum::<usize>();
        counts[4] += usize::from(line.chars().count() > COLUMNS);
        in_doc = is_doc;
    }
    counts
}

/// Where the comment of a line begins, if the line is one.
fn comment(line: &str) -> Option<usize> {
    let trimmed = line.trim_start();
    trimmed.starts_with("//").then(|| line.len() - trimmed.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn habits_are_counted() {
        let text =
            "/// What it gives, or what not.\n/// Is it?\nfn f() {}\n    // told by somebody\n";
        assert_eq!(counted(text), [2, 1, 1, 2, 0]);
        assert_eq!(counted(&format!("//{}\n", " long".repeat(20)))[4], 1);
        assert_eq!(counted("let what = 1; // no comment line\n"), [0; 5]);
    }

    #[test]
    fn a_limit_is_kept_and_falls() {
        let habit = Habit { name: "h", limit: 60, instead: "i" };
        assert!(judged(&habit, 60).is_none() && judged(&habit, 10).is_none());
        assert!(judged(&habit, 61).is_some_and(|text| text.contains("at most 60")));
        assert!(judged(&habit, 9).is_some_and(|text| text.contains("lower the limit")));
    }
}
