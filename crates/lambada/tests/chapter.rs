//! The chapter *From source to fast code* quotes the output of the stages for vectors of 512 bits.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lambada::{Disk, Operator, Options, Session, Stage, Target};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The quoting blocks, each split at `…` into runs of lines.
fn quoted(page: &str) -> Vec<Vec<Vec<&str>>> {
    let mut blocks = Vec::new();
    let mut block: Option<Vec<Vec<&str>>> = None;
    for line in page.lines() {
        match (&mut block, line.trim()) {
            (None, "```text") => block = Some(vec![Vec::new()]),
            (None, _) => {}
            (Some(_), "```") => blocks.extend(block.take()),
            (Some(runs), "…") => runs.push(Vec::new()),
            (Some(runs), _) => runs.last_mut().expect("there is a run").push(line),
        }
    }
    blocks
}

/// Whether the text contains the runs of lines in order.
fn quotes(runs: &[Vec<&str>], text: &[&str]) -> bool {
    let Some((first, others)) = runs.split_first() else { return true };
    let mut starts = text.windows(first.len()).enumerate().filter(|(_, lines)| lines == first);
    starts.any(|(at, _)| quotes(others, &text[at + first.len()..]))
}

#[test]
fn the_chapter_quotes_what_is_printed() {
    let program = read("examples/gmm.lam");
    let options = Options { target: Target::Avx512, ..Options::default() };
    let mut session = Session::with(Arc::new(Disk), options);
    let unit = session
        .load_text("gmm.lam", &program, None)
        .unwrap_or_else(|problems| panic!("{}", session.render(&problems, false)));
    let wrt = ["alpha", "mu", "q", "l"].map(String::from);
    let shown = |stage| {
        let shown = unit.show("objective", stage, Operator::Grad, Some(&wrt), None);
        shown.unwrap_or_else(|problems| panic!("{}", session.render(&problems, false)))
    };
    let texts = [program.clone(), shown(Stage::Anf), shown(Stage::Schedule), shown(Stage::C)];
    let texts: Vec<Vec<&str>> = texts.iter().map(|text| text.lines().collect()).collect();
    let page = read("docs/src/fast-code.md");
    let blocks = quoted(&page);
    assert!(blocks.len() > 8, "only {} blocks", blocks.len());
    for runs in &blocks {
        let found = texts.iter().any(|text| quotes(runs, text));
        let block: Vec<String> = runs.iter().map(|run| run.join("\n")).collect();
        assert!(found, "the chapter quotes what nothing prints:\n{}", block.join("\n…\n"));
    }
}
