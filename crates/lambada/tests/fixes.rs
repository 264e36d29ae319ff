//! The fixes of messages, applied: each help that proposes edits gives a program without its
//! problem and without a new one at its place.
//!
//! Programs under `tests/errors` say in comments what is meant:
//!
//! - `-- run f 3.0 = 9.0`: the value of an expression once the program is mended
//! - `-- fill 0.0`: the text for the holes that a help leaves open
//! - `-- instead def f x = x`: a line of the program after a help without edits

use std::path::{Path, PathBuf};

use lambada::{Engine, Example, Executable, Operator, Problem, Session, Severity, explanations};
use lambada_source::{Applicability, Fix, HOLE};

/// A program with mistakes.
struct Wrong {
    name: String,
    folder: PathBuf,
    text: String,
}

impl Wrong {
    fn problems_of(&self, text: &str) -> (Session, Vec<Problem>) {
        let mut session = Session::new();
        let problems = match session.load_text(&self.name, text, Some(self.folder.clone())) {
            Err(problems) => problems,
            Ok(unit) => unit.warnings,
        };
        (session, problems)
    }

    /// The rests of the lines of comments that begin with a word.
    fn comments(&self, word: &str) -> Vec<&str> {
        let head = format!("-- {word} ");
        self.text.lines().filter_map(|line| line.trim().strip_prefix(&*head)).collect()
    }

    /// The text after a fix, with its holes filled.
    fn mended(&self, fix: &Fix) -> String {
        let file = fix.edits[0].span.file;
        let new = fix.apply(file, &self.text);
        let new = new.unwrap_or_else(|| panic!("{}: {fix:?} does not apply", self.name));
        if fix.applicability != Applicability::Placeholders {
            return new;
        }
        let fill = self.comments("fill");
        new.replace(HOLE, fill.first().copied().unwrap_or("0.0"))
    }
}

/// The lines of a text.
fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// The lines of the new text that a fix changes, from 0.
fn changed(old: &str, new: &str) -> std::ops::Range<usize> {
    let (old, new) = (lines(old), lines(new));
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b);
    before..new.len() - after.count()
}

/// The problems of some lines of a text, without their places.
fn told(session: &Session, problems: &[Problem], lines: &std::ops::Range<usize>) -> Vec<String> {
    let here = problems.iter().filter(|problem| {
        let place = problem.labels.first().map(|label| label.span);
        place.is_some_and(|place| lines.contains(&(session.sources().line_column(place).0 - 1)))
    });
    here.map(|problem| format!("{}: {}", problem.code, problem.title)).collect()
}

/// Complains unless a fix removes its problem and makes no other at its place.
fn applied(wrong: &Wrong, problem: &Problem, before: &[Problem], fix: &Fix) -> Result<(), String> {
    let new = wrong.mended(fix);
    let (session, after) = wrong.problems_of(&new);
    let place = changed(&wrong.text, &new);
    let known: Vec<String> =
        before.iter().map(|other| format!("{}: {}", other.code, other.title)).collect();
    let this = format!("{}: {}", problem.code, problem.title);
    let count = |all: &[Problem]| {
        all.iter()
            .filter(|other| other.code == problem.code && other.title == problem.title)
            .count()
    };
    let here = told(&session, &after, &place);
    let fresh: Vec<&String> = here.iter().filter(|told| !known.contains(told)).collect();
    let stays = here.contains(&this) && count(&after) >= count(before);
    if fresh.is_empty() && !stays {
        return Ok(());
    }
    let shown = session.render(&after, false);
    Err(format!("{}: the help for {this} gives\n{new}\nwith\n{shown}", wrong.name))
}

/// The fixes of the hints of a problem.
fn fixes(problem: &Problem) -> impl Iterator<Item = &Fix> {
    problem.hints.iter().filter_map(|hint| hint.fix.as_ref())
}

/// Applies each fix of a program alone. Returns the number of fixes and the complaints.
fn each(wrong: &Wrong) -> (usize, Vec<String>) {
    let (session, problems) = wrong.problems_of(&wrong.text);
    let (mut count, mut complaints) = (0, Vec::new());
    // Problems of imports are in other files.
    let own = |fix: &&Fix| session.sources().get(fix.edits[0].span.file).name == wrong.name;
    for problem in &problems {
        for fix in fixes(problem).filter(own) {
            count += 1;
            complaints.extend(applied(wrong, problem, &problems, fix).err());
        }
    }
    (count, complaints)
}

fn programs(folder: &str) -> Vec<Wrong> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/errors").join(folder);
    let entries = std::fs::read_dir(&folder).expect("a folder of programs");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "lam"));
    files.sort();
    let read = |file: PathBuf| Wrong {
        name: file.file_name().expect("a name").to_string_lossy().into_owned(),
        folder: folder.clone(),
        text: std::fs::read_to_string(&file).expect("a file").replace('\r', ""),
    };
    files.into_iter().map(read).collect()
}

/// The wrong programs of the book's explanations of codes.
fn explained() -> Vec<Wrong> {
    let mut all = Vec::new();
    for explanation in explanations() {
        for example in &explanation.examples {
            if let Example::Wrong(text) = example {
                let name = format!("{}.lam", explanation.code);
                all.push(Wrong { name, folder: PathBuf::new(), text: text.clone() });
            }
        }
    }
    all
}

#[test]
fn each_help_applied_alone() {
    let folders = ["syntax", "types", "mistakes"].into_iter().flat_map(programs);
    let all: Vec<Wrong> = folders.chain(explained()).collect();
    let results: Vec<(usize, Vec<String>)> = all.iter().map(each).collect();
    let count: usize = results.iter().map(|(count, _)| count).sum();
    let complaints: Vec<String> = results.into_iter().flat_map(|(_, found)| found).collect();
    println!("{count} helps applied");
    assert!(complaints.is_empty(), "{}\n{}", complaints.len(), complaints.join("\n"));
    assert!(count >= 150, "only {count} helps");
}

/// The value of an expression in a program, as text.
fn value(name: &str, text: &str, folder: &Path, expression: &str) -> Result<String, String> {
    let text = format!("{text}\ndef value_that_is_meant = {expression}\n");
    let mut session = Session::new();
    let unit = session.load_text(name, &text, Some(folder.to_path_buf()));
    let unit = unit.map_err(|problems| session.render(&problems, false))?;
    let call = unit.call("value_that_is_meant", Operator::Value, None);
    let call = call.map_err(|problems| session.render(&problems, false))?;
    let executable = Executable::new(call.program, call.entry, Engine::Core);
    let executable = executable.map_err(|problems| session.render(&problems, false))?;
    let found = executable.run(&[]).map_err(|failure| session.render_failure(&failure, false))?;
    Ok(found.show(lambada::Style::default()))
}

/// Complains unless a mended program gives the values that its comments promise.
fn kept(wrong: &Wrong, mended: &str) -> Result<usize, String> {
    let promises = wrong.comments("run");
    for promise in &promises {
        let (expression, expected) =
            promise.rsplit_once(" = ").ok_or_else(|| format!("no value in `{promise}`"))?;
        let found = value(&wrong.name, mended, &wrong.folder, expression)?;
        if found != expected {
            let name = &wrong.name;
            return Err(format!("{name}: {expression} is {found}, not {expected}, in\n{mended}"));
        }
    }
    Ok(promises.len())
}

/// Complains unless a program has one mistake, told once, and keeps its promises once it is
/// mended.
fn one_mistake(wrong: &Wrong) -> Result<usize, String> {
    let name = &wrong.name;
    let (session, problems) = wrong.problems_of(&wrong.text);
    let [problem] = &problems[..] else {
        let count = problems.len();
        return Err(format!("{name}: {count} problems\n{}", session.render(&problems, false)));
    };
    let instead = wrong.comments("instead");
    let mended = match fixes(problem).next() {
        Some(fix) if instead.is_empty() => wrong.mended(fix),
        Some(_) => return Err(format!("{name}: a fix and a program instead")),
        None if instead.is_empty() => return Err(format!("{name}: neither a fix nor `instead`")),
        None => instead.join("\n"),
    };
    match kept(wrong, &mended)? {
        0 => Err(format!("{name}: no promise")),
        count => Ok(count),
    }
}

#[test]
fn typical_mistakes_are_told_once_and_mended_as_they_were_meant() {
    let all = programs("mistakes");
    assert!(all.len() >= 40, "only {} mistakes", all.len());
    let complaints: Vec<String> = all.iter().filter_map(|wrong| one_mistake(wrong).err()).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn helps_of_other_goldens_keep_their_promises() {
    let all: Vec<Wrong> = ["syntax", "types"].into_iter().flat_map(programs).collect();
    let mut count = 0;
    for wrong in all.iter().filter(|wrong| !wrong.comments("run").is_empty()) {
        let (mended, _) = Session::new().mend(&wrong.name, &wrong.text, Some(wrong.folder.clone()));
        count += kept(wrong, &mended).unwrap_or_else(|complaint| panic!("{complaint}"));
    }
    println!("{count} promises");
}

#[test]
fn certain_helps_together() {
    let text = "let f x = if x = 0.0: 1.0 elif x > 1.0 then .5 else 2.0f\n\
                def g [n] (xs : [n]real) : real = sum (for i <= 3 => xs.[i])\n";
    let (mended, count) = Session::new().mend("f.lam", text, None);
    assert_eq!(
        mended,
        "def f x = if x = 0.0 then 1.0 else if x > 1.0 then 0.5 else 2.0\n\
         def g [n] (xs : [n]real) : real = sum (for i < 3 + 1 => xs[i])\n"
    );
    assert_eq!(count, 7);
    let problems = Session::new().load_text("f.lam", &mended, None).err().unwrap_or_default();
    assert!(problems.iter().all(|problem| problem.severity == Severity::Warning), "{problems:?}");
}
