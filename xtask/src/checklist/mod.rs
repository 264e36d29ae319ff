//! The table of what the paper defines and promises, with the place and the tests of each item, for the book.

mod cite;
mod comments;
mod items;
mod page;
mod scopes;
mod source;
mod survey;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use items::SECTIONS;
use survey::Survey;

const SOURCES: &str = "crates/chad/src";
const PAGE: &str = "docs/src/paper-checklist.md";

/// Writes the page, and says what it lacks.
pub fn run(root: &Path) -> ExitCode {
    let written = survey(root).and_then(|survey| {
        fs::write(root.join(PAGE), page::page(SECTIONS, &survey))
            .map_err(|e| format!("{PAGE}: {e}"))?;
        Ok(survey)
    });
    match written {
        Ok(survey) => {
            let (items, places, tests) =
                (survey.entries.len(), survey.homeless.len(), survey.untested.len());
            lacks(&survey).iter().for_each(|lack| eprintln!("checklist: {lack}"));
            println!("checklist: {items} items, {places} without a place, {tests} without a test");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("checklist: {problem}");
            ExitCode::from(1)
        }
    }
}

/// What is wrong with the page, and with the comments that it comes from.
pub fn complaints(root: &Path) -> Vec<String> {
    let survey = match survey(root) {
        Ok(survey) => survey,
        Err(problem) => return vec![problem],
    };
    let mut complaints = lacks(&survey);
    if fs::read_to_string(root.join(PAGE)).ok() != Some(page::page(SECTIONS, &survey)) {
        complaints.push(format!("{PAGE} is out of date: `cargo xtask checklist` writes it"));
    }
    complaints
}

fn survey(root: &Path) -> Result<Survey, String> {
    let (mentions, _) =
        source::crate_mentions(&root.join(SOURCES)).map_err(|e| format!("{SOURCES}/{e}"))?;
    Ok(survey::survey(SECTIONS, &mentions))
}

fn lacks(survey: &Survey) -> Vec<String> {
    let nonsense = survey.nonsense.iter().map(|complaint| format!("{SOURCES}/{complaint}"));
    let homeless =
        survey.homeless.iter().map(|id| format!("no comment in {SOURCES} says where {id} is"));
    let untested = survey.untested.iter().map(|id| format!("no test in {SOURCES} cites {id}"));
    nonsense.chain(homeless).chain(untested).collect()
}
