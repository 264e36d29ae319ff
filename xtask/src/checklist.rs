//! The book's page on where the code has each item of the paper, against the code. The page is the
//! table: people write its rows. `cargo xtask tidy` checks that each place and each test exists and
//! cites the item, that each cited item has a row, and that each test that cites an item is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Beginnings of ids. `E-` (rules of Appendix E) and `E` (errata) are different.
const FAMILIES: [&str; 9] = ["S-", "C-", "L-", "A-", "M-", "P-", "T-", "E-", "E"];
/// Between the ends of a range. The word needs ids of one family: "from S-1 to L-1" is no range.
const LINKS: [&str; 5] = ["…", "...", "..", "–", "to "];

const SOURCES: &str = "crates/chad/src";
const PAGE: &str = "docs/src/paper-checklist.md";

/// `S-7`, `E19`
type Id = (&'static str, u32);

fn shown((family, number): Id) -> String {
    format!("{family}{number}")
}

/// The id at the beginning of a text, and its length. Codes of errors, E0203, are no errata.
fn id_at(text: &str) -> Option<(Id, usize)> {
    let family = FAMILIES.iter().find(|family| text.starts_with(**family))?;
    let rest = &text[family.len()..];
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let goes_on = rest[digits..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let number = rest[..digits].parse().ok().filter(|_| !goes_on && !rest.starts_with('0'))?;
    Some(((family, number), family.len() + digits))
}

/// Everything that a text cites, with its offset: first and last id of a range, or one id twice.
fn citations(text: &str) -> Vec<(usize, Id, Id)> {
    let (mut found, mut at, mut before) = (Vec::new(), 0, ' ');
    while let Some(next) = text[at..].chars().next() {
        let starts_word = !before.is_alphanumeric() && before != '_' && before != '-';
        let length = match id_at(&text[at..]).filter(|_| starts_word) {
            Some((first, length)) => {
                let rest = text[at + length..].trim_start();
                let link = LINKS.iter().find(|link| rest.starts_with(**link));
                let last = link.and_then(|link| {
                    let end = rest[link.len()..].trim_start();
                    let (last, length) = id_at(end)?;
                    let is_range = *link != "to " || last.0 == first.0;
                    is_range.then_some((last, text.len() - at - end.len() + length))
                });
                let (last, length) = last.unwrap_or((first, length));
                found.push((at, first, last));
                length
            }
            None => next.len_utf8(),
        };
        at += length;
        before = text[..at].chars().next_back().unwrap_or(' ');
    }
    found
}

/// A file of the sources.
struct Source {
    lines: Vec<String>,
    /// By line from 0, first and last id.
    cites: Vec<(usize, Id, Id)>,
}

/// Lines of a file, both ends included.
type Region = (usize, usize);

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

impl Source {
    fn new(text: &str) -> Source {
        // Comments, and ids of equations, which are strings.
        let cited = |line: &str| match (line.find("//"), line.find("/*"), line.find("id: \"")) {
            (Some(at), _, _) | (None, Some(at), _) => line[at..].trim_matches('/').to_string(),
            (None, None, Some(at)) => line[at + 5..].to_string(),
            (None, None, None) => String::new(),
        };
        let comments: Vec<String> = text.lines().map(cited).collect();
        let comments = comments.join("\n");
        let line = |at: usize| comments[..at].matches('\n').count();
        let cites = citations(&comments).into_iter().map(|(at, a, b)| (line(at), a, b)).collect();
        Source { lines: text.lines().map(str::to_string).collect(), cites }
    }

    fn cites(&self, id: Id, (first, last): Region) -> bool {
        self.cites.iter().any(|(line, a, b)| {
            (first..=last).contains(line) && a.0 == id.0 && b.0 == id.0 && *a <= id && id <= *b
        })
    }

    fn all(&self) -> Region {
        (0, self.lines.len())
    }

    /// Whether a line begins an item, an `impl`, a variant or a field of this name.
    fn begins(line: &str, name: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let line = line.trim_start();
        let mut words = line.split(|c| !is_word(c)).filter(|word| !word.is_empty());
        let skipped = ["pub", "crate", "super", "const", "unsafe"];
        let first = words.find(|word| !skipped.contains(word)).unwrap_or_default();
        let kinds = ["fn", "struct", "enum", "trait", "type", "mod", "macro_rules", "static"];
        match first {
            "impl" => line.split(|c| !is_word(c)).any(|word| word == name),
            _ if kinds.contains(&first) => words.next() == Some(name),
            _ => first == name && !line.starts_with("//"),
        }
    }

    /// The text of the item that a line begins, with the comments and attributes before it.
    fn region(&self, at: usize) -> Region {
        let is_before = |line: &String| line.trim_start().starts_with(['/', '#']);
        let first = at - self.lines[..at].iter().rev().take_while(|line| is_before(line)).count();
        let depth = indent(&self.lines[at]);
        let is_short = self.lines[at].trim_end().ends_with([';', ',', '}']);
        let ends = |line: &String| indent(line) == depth && line.trim().starts_with(['}', ']']);
        let rest = self.lines[at + 1..].iter().position(ends);
        (first, if is_short { at } else { rest.map_or(at, |k| at + 1 + k) })
    }

    /// The regions of `LinFun::lcur_inv`.
    fn regions(&self, path: &str) -> Vec<Region> {
        path.split("::").fold(vec![self.all()], |around, name| {
            let inside = |(first, last): Region| {
                let found = (first..=last.min(self.lines.len() - 1))
                    .filter(|k| Source::begins(&self.lines[*k], name));
                found.map(|k| self.region(k)).collect::<Vec<_>>()
            };
            around.into_iter().flat_map(inside).collect()
        })
    }

    /// The tests, with their names.
    fn tests(&self) -> Vec<(String, Region)> {
        let marked = (0..self.lines.len()).filter(|k| self.lines[*k].trim() == "#[test]");
        let named = marked.filter_map(|k| {
            let at = (k..self.lines.len()).find(|k| self.lines[*k].trim().starts_with("fn "))?;
            let name = self.lines[at].trim().strip_prefix("fn ")?.split('(').next()?;
            Some((name.to_string(), self.region(at)))
        });
        named.collect()
    }
}

/// An item of Rust, with arms or rows of it.
type Item = (String, Vec<String>);

/// A row of the page.
struct Row {
    id: Id,
    /// Files with their items.
    places: Vec<(String, Vec<Item>)>,
    /// Paths of tests.
    tests: Vec<String>,
    /// Whether no code is concerned.
    is_text_only: bool,
}

/// Texts between backquotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

fn row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
    let [id, _, places, tests] = cells[..] else { return None };
    let id = id_at(id).filter(|(_, length)| *length == id.len())?.0;
    let item = |text: &str| {
        let mut names = quoted(text).into_iter().map(|name| name.replace("\\|", "|"));
        Some((names.next()?, names.collect()))
    };
    // A comma between arms is no comma between items.
    let separate = |text: &str| {
        let mut depth = 0;
        let marked = text.chars().map(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            if c == ',' && depth == 0 { '\n' } else { c }
        });
        marked.collect::<String>().lines().filter_map(item).collect()
    };
    let place = |text: &str| {
        let (file, items) = text.trim().strip_prefix("[`")?.split_once("`]")?;
        Some((file.to_string(), separate(items)))
    };
    Some(Row {
        id,
        places: places
            .split("; [")
            .filter_map(|t| place(&format!("[{}", t.trim_start_matches('['))))
            .collect(),
        tests: quoted(tests.split("text only:").next()?),
        is_text_only: tests.contains("text only:"),
    })
}

/// The file of a module, and the rest of a path in it.
fn file_of(sources: &BTreeMap<String, Source>, path: &str) -> Option<(String, String)> {
    let ends = path.match_indices("::").map(|(at, _)| at).collect::<Vec<_>>();
    ends.into_iter().rev().find_map(|at| {
        let folder = path[..at].replace("::", "/");
        let files = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
        let file = files.into_iter().find(|file| sources.contains_key(file))?;
        Some((file, path[at + 2..].to_string()))
    })
}

fn row_complaints(row: &Row, sources: &BTreeMap<String, Source>) -> Vec<String> {
    let id = row.id;
    let mut complaints = Vec::new();
    let mut complain = |text: String| complaints.push(format!("{}: {text}", shown(id)));
    if row.places.is_empty() {
        complain("the page has no place".into());
    }
    if row.tests.is_empty() && !row.is_text_only {
        complain("the page has no test".into());
    }
    for (file, items) in &row.places {
        let Some(source) = sources.get(file) else {
            complain(format!("there is no {file}"));
            continue;
        };
        if !source.cites(id, source.all()) {
            complain(format!("{file} does not cite it"));
        }
        for (item, details) in items {
            let mut regions = source.regions(item);
            regions.retain(|region| source.cites(id, *region));
            if regions.is_empty() {
                complain(format!("no `{item}` of {file} cites it"));
                continue;
            }
            let spaces = |text: &str| text.split_whitespace().collect::<String>();
            let texts = regions.iter().map(|(first, last)| source.lines[*first..=*last].concat());
            let text = spaces(&texts.collect::<String>());
            for detail in details.iter().filter(|detail| !text.contains(&spaces(detail))) {
                complain(format!("`{item}` of {file} has no {detail}"));
            }
        }
    }
    for test in &row.tests {
        let cites = file_of(sources, test).is_some_and(|(file, name)| {
            let name = name.rsplit("::").next().unwrap_or_default();
            let source = &sources[&file];
            let tests = source.tests();
            tests.iter().any(|(other, region)| other == name && source.cites(id, *region))
        });
        if !cites {
            complain(format!("no test `{test}` cites it"));
        }
    }
    complaints
}

/// Citations that the page lacks: of an item in a test, or of an unknown item.
fn unlisted(name: &str, source: &Source, rows: &[Row]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (line, first, last) in &source.cites {
        let at = format!("{SOURCES}/{name}:{}", line + 1);
        if (first.0 != last.0) || first > last {
            complaints.push(format!("{at}: {} … {} is no range", shown(*first), shown(*last)));
        }
        for id in BTreeSet::from([*first, *last]) {
            if rows.iter().all(|row| row.id != id) {
                complaints.push(format!("{at}: the checklist has no {}", shown(id)));
            }
        }
    }
    for (test, region) in source.tests() {
        let end = format!("::{test}");
        let cited = rows.iter().filter(|row| source.cites(row.id, region));
        let lacking = cited.filter(|row| !row.tests.iter().any(|known| known.ends_with(&end)));
        let told = lacking.map(|row| {
            format!("{SOURCES}/{name}: `{test}` cites {}, whose row lacks it", shown(row.id))
        });
        complaints.extend(told);
    }
    complaints
}

fn compared(page: &str, sources: &BTreeMap<String, Source>) -> Vec<String> {
    let rows: Vec<Row> = page.lines().filter_map(row).collect();
    let links = rows.iter().flat_map(|row| &row.places).map(|(file, _)| file);
    let unlinked = links
        .filter(|file| !page.contains(&format!("\n[`{file}`]: ")))
        .map(|file| format!("{file} has no link"));
    let rows_complain = rows.iter().flat_map(|row| row_complaints(row, sources));
    let all = rows_complain.chain(unlinked).map(|text| format!("{PAGE}: {text}"));
    all.chain(sources.iter().flat_map(|(name, source)| unlisted(name, source, &rows))).collect()
}

/// Complaints about the page, and about the comments that it lists.
pub fn complaints(root: &Path) -> Vec<String> {
    let folder = root.join(SOURCES);
    let mut files = Vec::new();
    crate::tidy::collect(&folder, &mut files);
    let sources = files.iter().map(|file| {
        let name = file.strip_prefix(&folder).unwrap_or(file).display().to_string();
        (name, Source::new(&fs::read_to_string(file).expect("a listed file can be read")))
    });
    match fs::read_to_string(root.join(PAGE)) {
        Ok(page) => compared(&page, &sources.collect()),
        Err(e) => vec![format!("{PAGE}: {e}")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cited(text: &str, expect: &[&str]) {
        let show = |(_, a, b): &(usize, Id, Id)| match a == b {
            true => shown(*a),
            false => format!("{}..{}", shown(*a), shown(*b)),
        };
        assert_eq!(citations(text).iter().map(show).collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn ids_and_ranges() {
        cited(
            "T-3, T-11, `x` (S-1). Erratum E16; S-8—right",
            &["T-3", "T-11", "S-1", "E16", "S-8"],
        );
        for range in ["M-1 … M-4", "M-1…M-4", "M-1..M-4", "M-1–M-4", "M-1 to M-4", "M-1 …\nM-4"]
        {
            cited(range, &["M-1..M-4"]);
        }
        cited("S-1 … L-3", &["S-1..L-3"]);
        cited("from S-1 to L-3, S-1 together with S-2, …", &["S-1", "L-3", "S-1", "S-2"]);
        for text in ["1E-1", "FS-2", "E0203", "E", "E-", "S7", "S-x", "T-7a", "x_E1", "E-0"] {
            cited(text, &[]);
        }
    }

    const CODE: &str = "//! About S-1 … S-3.\n\nenum Kind {\n    /// S-1\n    Var,\n    Op, // S-2\n}\n\nimpl Kind {\n    /// S-3\n    \
                        fn f(\n        self,\n    ) -> u8 {\n        match self {\n            Kind::Var => 1,\n            \
                        // S-2\n            Kind::Op => 2,\n        }\n    }\n}\n\nfn g() {}\n\n#[cfg(test)]\nmod tests {\n    \
                        /// S-1 … S-3\n    #[test]\n    fn works() {}\n\n    /// S-1\n    fn
                        /// helper() {}\n}\n";
    const ROWS: &str = "| S-1 | x | [`a.rs`] `Kind::Var` | `a::tests::works` |\n\
                        | S-2 | `x \\| y` | [`a.rs`] `Kind::Op`, `Kind::f` (`Kind::Op`, `Kind::Var`) | `a::tests::works` |\n\
                        | S-3 | x | [`a.rs`]; [`a.rs`] `Kind::f` | text only: why |\n\n[`a.rs`]: x\n";

    /// The page and the code with this in place of that.
    fn check(from: &str, to: &str, expect: &[&str]) {
        assert!(from.is_empty() || (ROWS.contains(from) != CODE.contains(from)), "{from}");
        let (page, code) = match from {
            "" => (ROWS.to_string(), CODE.to_string()),
            from => (ROWS.replace(from, to), CODE.replace(from, to)),
        };
        let page = page.replace("text only: why", "`a::tests::works`; text only: why");
        let found = compared(&page, &BTreeMap::from([("a.rs".to_string(), Source::new(&code))]));
        let found: Vec<&str> =
            found.iter().map(|text| text.split_once(": ").map_or("", |(_, rest)| rest)).collect();
        assert_eq!(found, expect, "{from} → {to}");
    }

    #[test]
    fn what_is_stale_or_missing_is_noticed() {
        check("", "", &[]);
        check("[`a.rs`] `Kind::Var`", "", &["S-1: the page has no place"]);
        let row = "| S-1 | x | [`a.rs`] `Kind::Var` | `a::tests::works` |";
        check(row, "", &["the checklist has no S-1"; 4]);
        check("[`a.rs`] `Kind::Var`", "[`b.rs`]", &["S-1: there is no b.rs", "b.rs has no link"]);
        check("`Kind::Var` |", "`g` |", &["S-1: no `g` of a.rs cites it"]);
        check("`Kind::Var` |", "`h` |", &["S-1: no `h` of a.rs cites it"]);
        check("Op`, `Kind::Var`)", "Op`, `Kind::No`)", &["S-2: `Kind::f` of a.rs has no Kind::No"]);
        check("    /// S-1\n    Var", "    Var", &["S-1: no `Kind::Var` of a.rs cites it"]);
        check(
            "    /// S-3\n",
            "    /// S-4\n",
            &["S-3: no `Kind::f` of a.rs cites it", "the checklist has no S-4"],
        );
        check(
            "    /// S-1 … S-3\n",
            "    /// S-3, S-2\n",
            &["S-1: no test `a::tests::works` cites it"],
        );
        check(
            "fn works",
            "fn other",
            &[
                "S-1: no test `a::tests::works` cites it",
                "S-2: no test `a::tests::works` cites it",
                "S-3: no test `a::tests::works` cites it",
                "`other` cites S-1, whose row lacks it",
                "`other` cites S-2, whose row lacks it",
                "`other` cites S-3, whose row lacks it",
            ],
        );
        check(
            "// S-2\n            Kind::Op",
            "// S-2 … S-1\n            Kind::Op",
            &["S-2: no `Kind::f` of a.rs cites it", "S-2 … S-1 is no range"],
        );
        check(
            "| `a::tests::works` |\n| S-2",
            "| **none** |\n| S-2",
            &["S-1: the page has no test", "`works` cites S-1, whose row lacks it"],
        );
    }

    /// Each row of the page is read, with its places and tests.
    #[test]
    fn every_row_is_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let page = fs::read_to_string(root.join(PAGE)).expect("the page");
        let rows: Vec<Row> = page.lines().filter_map(row).collect();
        let starts = page.lines().filter(|line| line.starts_with("| ")).count();
        let heads = page.matches("| id |").count();
        assert_eq!(rows.len(), starts - heads);
        let files =
            page.lines().filter(|line| line.starts_with("| ")).map(|l| l.matches("[`").count());
        assert_eq!(rows.iter().map(|row| row.places.len()).sum::<usize>(), files.sum::<usize>());
        assert_eq!(complaints(&root), Vec::<String>::new());
    }
}
