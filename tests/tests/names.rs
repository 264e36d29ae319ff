//! Names of other languages: each is a name of the library with that meaning, or `lambada check`
//! says what to write instead. The names stand in `tests/names/foreign.txt`.

use std::collections::BTreeMap;
use std::path::Path;

use lambada::Session;

/// A name and what the message for it has to mention; for a name of the library, the name.
fn names(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let after_head = text.split("\n\n").nth(1).expect("a list follows the head");
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in after_head.lines().filter(|line| !line.starts_with('=')) {
        let (name, answer) = line.split_once(' ').unwrap_or_else(|| panic!("no answer: {line}"));
        names.entry(name).or_default().push(answer);
    }
    names
}

/// The messages for definitions that are these names, by line; none for those that are known.
fn messages(names: &[&str]) -> BTreeMap<usize, String> {
    let lines: Vec<String> =
        names.iter().enumerate().map(|(k, name)| format!("def probe_{k} = {name}\n")).collect();
    let mut session = Session::new();
    let Err(problems) = session.load_text("names.lam", &lines.concat(), None) else {
        return BTreeMap::new();
    };
    let line = |problem: &lambada_source::Problem| {
        let span = problem.labels.first().expect("a problem has a place").span;
        session.sources().line_column(span).0 - 1
    };
    problems
        .iter()
        .map(|problem| (line(problem), session.render(std::slice::from_ref(problem), false)))
        .collect()
}

#[test]
fn names_of_other_languages_are_known_or_answered() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("names/foreign.txt");
    let text = std::fs::read_to_string(path).expect("the list can be read");
    let names = names(&text);
    assert!(names.len() >= 300, "only {} names", names.len());
    let order: Vec<&str> = names.keys().copied().collect();
    let messages = messages(&order);
    let mut complaints = Vec::new();
    for (k, (name, answers)) in names.iter().enumerate() {
        let message = messages.get(&k);
        for answer in answers {
            match message {
                None if answer == name => {}
                None => complaints.push(format!("`{name}` exists, and should be `{answer}`")),
                Some(text) if answer != name && text.contains(answer) => {}
                Some(text) => complaints.push(format!("`{name}`, not `{answer}`:\n{text}")),
            }
        }
    }
    assert!(complaints.is_empty(), "{}\n{}", complaints.len(), complaints.join("\n"));
}
