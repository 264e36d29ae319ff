//! The book tells the truth: every program in it checks and keeps the promises in its comments, so do the examples, the readme and the
//! prelude; and the page on kinks has the table that the compiler has.

use std::path::{Path, PathBuf};

use lambada::{Operator, Session, Unit};
use lambada_prim::{KINKS, Kink};
use lambada_testkit::{blessing, parallel};
use lambada_tests::expectations::{agrees, expectations, found, programs};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests lie in the repository")
        .to_path_buf()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The blocks of Lambada in a page, with their first lines.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    let mut indent = 0;
    for (k, line) in page.lines().enumerate() {
        match &mut open {
            None if line.trim() == "```lambada" => {
                indent = line.len() - line.trim_start().len();
                open = Some((k + 2, String::new()));
            }
            None => {}
            Some(_) if line.trim() == "```" => blocks.extend(open.take()),
            Some((_, text)) => *text += &format!("{}\n", line.get(indent..).unwrap_or_default()),
        }
    }
    blocks
}

/// What is wrong with a program; every definition is specialized and keeps its promises.
fn complaints(place: &str, text: &str) -> Vec<String> {
    let mut session = Session::new();
    let unit = match session.load_text(place, text, Some(root().join("examples"))) {
        Ok(unit) => unit,
        Err(problems) => return vec![format!("{place}:\n{}", session.render(&problems, false))],
    };
    let specialized =
        unit.definitions().into_iter().filter_map(|d| specialize(&unit, &d.name, &session));
    let promises =
        expectations(text).into_iter().filter_map(|promise| match found(&unit, &promise) {
            Ok(found) if agrees(&promise, &found) => None,
            Ok(found) => {
                Some(format!("line {}: {found} instead of {}", promise.line + 1, promise.expected))
            }
            Err(e) => Some(format!("line {}: {e}", promise.line + 1)),
        });
    specialized.chain(promises).map(|complaint| format!("{place}: {complaint}")).collect()
}

fn specialize(unit: &Unit, name: &str, session: &Session) -> Option<String> {
    unit.checked.program(name).err().map(|problems| session.render(&problems, false))
}

fn pages() -> Vec<PathBuf> {
    let in_folder = |folder: &str| {
        let entries = std::fs::read_dir(root().join(folder)).expect("the book is there").flatten();
        entries.map(|e| e.path()).filter(|path| path.extension().is_some_and(|e| e == "md"))
    };
    let pages = in_folder("docs/src").chain(in_folder("docs/src/errors"));
    let mut pages: Vec<PathBuf> =
        pages.chain([root().join("README.md"), root().join("CHANGELOG.md")]).collect();
    pages.sort();
    pages
}

#[test]
fn the_programs_of_the_book_keep_their_promises() {
    let blocks = |page: &PathBuf| {
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = |(line, text)| (format!("{name}:{line}"), text);
        blocks(&read(page)).into_iter().map(place).collect::<Vec<_>>()
    };
    let programs: Vec<(String, String)> = pages().iter().flat_map(blocks).collect();
    assert!(programs.len() >= 18, "only {} programs", programs.len());
    let wrong = parallel(&programs, |(place, text)| complaints(place, text)).concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_examples_and_the_prelude_check() {
    let examples = programs(&root().join("examples"));
    let prelude_alone = [("the prelude".to_string(), String::new())];
    let files = examples.iter().map(|path| (path.display().to_string(), read(path)));
    let files: Vec<(String, String)> = files.chain(prelude_alone).collect();
    let wrong = parallel(&files, |(name, text)| complaints(name, text)).concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The readme and the changelog show a program and then its reverse derivative, as it is really printed.
#[test]
fn printed_derivatives_are_shown_as_they_are() {
    for (page, entry) in [("README.md", "wave"), ("CHANGELOG.md", "f")] {
        let blocks = blocks(&read(&root().join(page)));
        let defines = |(_, text): &(usize, String)| text.contains(&format!("def {entry} "));
        let at = blocks.iter().position(defines).unwrap_or_else(|| panic!("{page}: no {entry}"));
        let [(_, program), (_, shown), ..] = &blocks[at..] else { panic!("{page}: no derivative") };
        let unit =
            Session::new().load_text(page, program, None).unwrap_or_else(|p| panic!("{p:?}"));
        let printed =
            unit.derivative_source(entry, Operator::Vjp, None).unwrap_or_else(|p| panic!("{p:?}"));
        assert_eq!(shown, &printed, "{page}");
    }
}

/// The page holds the lines between its heading and the next empty line; `BLESS=1` rewrites them.
#[test]
fn the_page_on_kinks_has_the_table_of_the_compiler() {
    let number = |x: f64| if x.fract() == 0.0 { format!("{x}") } else { format!("{x:?}") };
    let row = |kink: &Kink| {
        format!("| {} | {} | {} |\n", kink.text, number(kink.first), number(kink.second))
    };
    let table: String = KINKS.iter().map(row).collect();
    let path = root().join("docs/src/kinks.md");
    let page = read(&path);
    let head = "|---|---|---|\n";
    let start = page.find(head).expect("the page has a table") + head.len();
    let end = start + page[start..].find("\n\n").map_or(page.len() - start, |at| at + 1);
    if blessing() {
        std::fs::write(&path, format!("{}{table}{}", &page[..start], &page[end..]))
            .expect("the page can be rewritten");
    } else {
        assert_eq!(&page[start..end], table, "BLESS=1 rewrites the table of docs/src/kinks.md");
    }
}

/// The page has all of them, and cites tests that the checklist knows: what that one says is collected from the code.
#[test]
fn the_errata_cite_tests_that_there_are() {
    let page = read(&root().join("docs/src/errata.md"));
    let checklist = read(&root().join("docs/src/paper-checklist.md"));
    let rows = || page.lines().filter(|line| line.starts_with("| E"));
    let number = |row: &str| row.split('|').nth(1).map(|id| id.trim().to_string());
    let mut ids: Vec<String> = rows().filter_map(number).collect();
    ids.sort_by_key(|id| id[1..].parse::<u32>().unwrap_or_default());
    assert_eq!(ids, (1..=27).map(|k| format!("E{k}")).collect::<Vec<_>>());
    let cited = |row: &str| {
        let quoted = row.split('`').skip(1).step_by(2).filter(|text| text.contains("::"));
        quoted.map(str::to_string).collect::<Vec<_>>()
    };
    let unknown: Vec<String> =
        rows().flat_map(cited).filter(|test| !checklist.contains(&format!("`{test}`"))).collect();
    assert!(unknown.is_empty(), "the checklist does not have {unknown:?}");
    assert_eq!(rows().filter(|row| cited(row).is_empty() && !row.contains("| none: ")).count(), 0);
}
