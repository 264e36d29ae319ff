//! The book tells the truth: every program in it checks and keeps the promises in its comments, so
//! do the examples, the readme and the prelude; and the page on kinks has the table that the
//! compiler has.

use std::path::{Path, PathBuf};

use lambada::{Operator, Session, Unit};
use lambada_prim::{KINKS, Kink};
use lambada_testkit::{blessing, parallel};
use lambada_tests::expectations::{Executables, agrees, expectations, programs};

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

/// The complaints about a program; every definition is specialized and keeps its promises.
fn complaints(place: &str, text: &str) -> Vec<String> {
    let mut session = Session::new();
    let unit = match session.load_text(place, text, Some(root().join("examples"))) {
        Ok(unit) => unit,
        Err(problems) => return vec![format!("{place}:\n{}", session.render(&problems, false))],
    };
    let specialized =
        unit.definitions().into_iter().filter_map(|d| specialize(&unit, &d.name, &session));
    let mut executables = Executables::of(&unit);
    let promises =
        expectations(text).into_iter().filter_map(|promise| match executables.found(&promise) {
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
    let pages = in_folder("docs/src").chain(in_folder("crates/lambada/errors"));
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

/// The readme shows a program and then its reverse derivative, as it is really printed.
#[test]
fn printed_derivatives_are_shown_as_they_are() {
    let blocks = blocks(&read(&root().join("README.md")));
    let defines = |(_, text): &(usize, String)| text.contains("def wave ");
    let at = blocks.iter().position(defines).expect("the readme has the program");
    let [(_, program), (_, shown), ..] = &blocks[at..] else { panic!("no derivative") };
    let unit =
        Session::new().load_text("README.md", program, None).unwrap_or_else(|p| panic!("{p:?}"));
    let printed =
        unit.derivative_source("wave", Operator::Vjp, None).unwrap_or_else(|p| panic!("{p:?}"));
    assert_eq!(shown, &printed);
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

/// The page has all errata, and cites tests that the checklist knows, which `cargo xtask tidy`
/// compares with the code.
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

/// The part of a page between two headings.
#[derive(Default)]
struct Section {
    /// Lines outside of blocks, tables and quotes, with their numbers.
    prose: Vec<(usize, String)>,
    /// The blocks, with single spaces.
    shown: String,
    /// Whether a block shows output of commands.
    has_output: bool,
    /// Fragments that no block needs to show.
    exempt: Vec<String>,
}

/// The fragments in backticks.
fn fragments(line: &str) -> impl Iterator<Item = String> {
    line.split('`').skip(1).step_by(2).map(spaced)
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn sections(page: &str) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let mut inside = false;
    for (k, line) in page.lines().enumerate() {
        let section = sections.last_mut().expect("there is always one");
        if let Some(language) = line.trim().strip_prefix("```") {
            inside = !inside;
            section.has_output |= language == "console";
        } else if inside {
            section.shown += &format!("{} ", spaced(line));
        } else if line.starts_with('#') {
            sections.push(Section::default());
        } else if let Some(exempt) = line.strip_prefix("<!-- not shown:") {
            section.exempt.extend(fragments(exempt));
        } else if !line.starts_with(['|', '>']) {
            section.prose.push((k + 1, line.to_string()));
        }
    }
    sections
}

/// Whether the text has the fragment, not as a part of longer names. `…` stands for anything.
fn is_shown(fragment: &str, text: &str) -> bool {
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_'".contains(c));
    let parts: Vec<&str> = fragment.split('…').map(str::trim).collect();
    let (first, last) = (parts[0], parts[parts.len() - 1]);
    text.match_indices(first).any(|(start, _)| {
        let cuts_left = in_word(first.chars().next()) && in_word(text[..start].chars().next_back());
        let mut end = start + first.len();
        let mut found = !cuts_left;
        for part in &parts[1..] {
            match text[end..].find(part) {
                Some(at) => end += at + part.len(),
                None => found = false,
            }
        }
        found && !(in_word(last.chars().next_back()) && in_word(text[end..].chars().next()))
    })
}

/// In a section that shows output, every fragment in backticks stands in one of its blocks, or in
/// the program that the chapter is about, because prose goes stale when commands print something
/// else. `<!-- not shown: … -->` exempts the fragments that it quotes, and may not quote others.
#[test]
fn the_chapters_on_chad_quote_what_their_blocks_show() {
    let source = spaced(&read(&root().join("examples/chad.lam")));
    let (mut quoted, mut complaints) = (0, Vec::new());
    for page in pages() {
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with("chad") {
            continue;
        }
        for section in sections(&read(&page)).into_iter().filter(|s| s.has_output) {
            let missing = |fragment: &String| {
                !is_shown(fragment, &section.shown) && !is_shown(fragment, &source)
            };
            let mut unused = section.exempt.clone();
            for (line, text) in &section.prose {
                for fragment in fragments(text) {
                    quoted += 1;
                    unused.retain(|exempt| *exempt != fragment);
                    if missing(&fragment) && !section.exempt.contains(&fragment) {
                        complaints.push(format!("{name}:{line}: no block shows `{fragment}`"));
                    }
                }
            }
            unused.extend(section.exempt.iter().filter(|exempt| !missing(exempt)).cloned());
            complaints.extend(unused.iter().map(|f| format!("{name}: `{f}` needs no exemption")));
        }
    }
    assert!(quoted > 150, "only {quoted} fragments");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn fragments_are_found_as_they_are_printed() {
    let text = "let t2 = fst t in lfst + lsnd;;lcur^-1 (\\y. lmul(y))";
    for shown in ["t2", "fst t", "lcur^-1 (…)", "lfst + …;;lcur^-1"] {
        assert!(is_shown(shown, text), "{shown}");
    }
    for absent in ["t3", "fst t2", "cur^-1", "lmul(x)", "lcur^-1 (…) +"] {
        assert!(!is_shown(absent, text), "{absent}");
    }
}
