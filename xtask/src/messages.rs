//! The rules about messages: they are worded in the modules called `messages` and nowhere else,
//! each in one function with a code of its own; each code is in a golden file, which shows the
//! message to users, and in the book, where `lambada explain` finds it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Codes of messages that no program shows, with the reason.
const UNSEEN: [(&str, &str); 9] = [
    (
        "E0119",
        "only for users of the compiler as a library, who go on after problems of the syntax",
    ),
    ("E0513", "the command says E0617 first"),
    ("E0516", "the checker of types says E0503 first"),
    ("E0517", "functions that add to different accumulators are different code"),
    ("E0518", "the checker of types says E0501 first"),
    ("E0701", "a mistake of the compiler"),
    ("E0702", "a mistake of the compiler"),
    ("E0706", "a mistake of the compiler"),
    ("E0799", "a mistake of the compiler"),
];

/// Files that make problems and are no module of messages: those of the crate that defines
/// problems.
const PROBLEMS: [&str; 2] = ["crates/source/src/problem.rs", "crates/source/src/render.rs"];

/// Complaints about the messages of the repository.
pub fn complaints(root: &Path, sources: &[PathBuf]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut codes: BTreeMap<String, String> = BTreeMap::new();
    for file in sources {
        let name = file.strip_prefix(root).unwrap_or(file).display().to_string();
        let parts: Vec<&str> = name.split(['/', '\\']).collect();
        let shipped = matches!(parts[..], ["crates" | "apps", _, "src", ..]);
        let for_tests =
            parts.contains(&"tests") || parts.contains(&"tests.rs") || parts.contains(&"testkit");
        if !shipped || for_tests || PROBLEMS.contains(&&*name) {
            continue;
        }
        let text = fs::read_to_string(file).expect("a listed file can be read");
        let text = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
        let worded_here = parts.iter().any(|part| part.trim_end_matches(".rs") == "messages");
        for (k, line) in text.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//"))
        {
            let place = format!("{name}:{}", k + 1);
            if !worded_here
                && ["error(", "general(", "warning("]
                    .iter()
                    .any(|f| line.contains(&["Problem::", f].concat()))
            {
                complaints
                    .push(format!("{place}: a message outside of the modules called `messages`"));
            }
            for code in quoted_codes(line) {
                if !worded_here {
                    complaints.push(format!(
                        "{place}: the code {code} outside of the modules called `messages`"
                    ));
                } else if let Some(first) = codes.insert(code.clone(), place.clone()) {
                    complaints.push(format!("{place}: the code {code} is also that of {first}"));
                }
            }
        }
    }
    complaints.extend(unpinned(root, &codes));
    complaints
}

/// Codes that no golden file shows, that the book does not explain, and explanations of codes that
/// no message has.
fn unpinned(root: &Path, codes: &BTreeMap<String, String>) -> Vec<String> {
    let (pages, golden) = (root.join("docs/src"), root.join("tests/errors"));
    let told = texts(&golden, "stderr") + &texts(&pages, "md");
    let explained: BTreeSet<String> = texts(&root.join("crates/lambada/errors"), "md")
        .lines()
        .filter_map(|line| Some(line.strip_prefix("## ")?.split_once(':')?.0.to_string()))
        .collect();
    let mut complaints = Vec::new();
    for (code, place) in codes {
        let seen = told.contains(&format!("[{code}]: "));
        let unseen = UNSEEN.iter().any(|(known, _)| known == code);
        if !seen && !unseen {
            complaints.push(format!(
                "{place}: no golden file under tests/errors and no page of the book shows {code}"
            ));
        }
        if seen && unseen {
            complaints.push(format!("xtask/src/messages.rs: {code} is shown, so it is not unseen"));
        }
        if !explained.contains(code) {
            complaints.push(format!("{place}: crates/lambada/errors does not explain {code}"));
        }
    }
    let gone = explained.iter().filter(|code| !codes.contains_key(*code));
    complaints
        .extend(gone.map(|code| format!("crates/lambada/errors: no message has the code {code}")));
    complaints
}

/// The codes that stand in quotes in a line.
fn quoted_codes(line: &str) -> Vec<String> {
    let is_code = |word: &&str| {
        word.len() == 5 && word.starts_with('E') && word[1..].bytes().all(|b| b.is_ascii_digit())
    };
    line.split('"').filter(is_code).map(str::to_string).collect()
}

/// All files of a folder whose names end so, one after the other.
fn texts(folder: &Path, extension: &str) -> String {
    let mut text = String::new();
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            text += &texts(&path, extension);
        } else if path.extension().is_some_and(|e| e == extension) {
            text += &fs::read_to_string(&path).expect("a listed file can be read");
        }
    }
    text
}
