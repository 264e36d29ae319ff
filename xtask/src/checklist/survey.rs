//! What the citations amount to: where each item is, what tests it, and what is missing.

use std::collections::BTreeMap;

use super::cite::{Cite, Id};
use super::items::{Item, Kind, Section};
use super::scopes::Role;
use super::source::Mention;

/// A part of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// From the folder of the sources.
    pub file: String,
    /// `LinFun::lcur_inv`; empty for a module.
    pub item: String,
    /// An arm or row of the item.
    pub detail: Option<String>,
}

/// What is known of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The places that cite it from nearest by.
    pub places: Vec<Place>,
    /// The paths of the tests that cite it.
    pub tests: Vec<String>,
}

/// What is known of all items, and what is wrong.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// One entry an item.
    pub entries: BTreeMap<Id, Entry>,
    /// Items without a place, in the order of the list.
    pub homeless: Vec<Id>,
    /// Items without a test that want one.
    pub untested: Vec<Id>,
    /// Citations of what does not exist.
    pub nonsense: Vec<String>,
}

/// Collects the citations by item.
pub fn survey(sections: &[Section], mentions: &[Mention]) -> Survey {
    let items: BTreeMap<Id, &Item> =
        sections.iter().flat_map(|s| s.items).filter_map(|item| Some((item.id()?, item))).collect();
    let mut survey = Survey {
        nonsense: mentions.iter().filter_map(|m| nonsense(m, &items)).collect(),
        ..Survey::default()
    };
    for item in sections.iter().flat_map(|section| section.items) {
        let Some(id) = item.id() else { continue };
        let entry = entry(id, item.kind, mentions);
        if entry.places.is_empty() {
            survey.homeless.push(id);
        }
        if entry.tests.is_empty() && !matches!(item.kind, Kind::TextOnly(_)) {
            survey.untested.push(id);
        }
        survey.entries.insert(id, entry);
    }
    survey
}

/// A range has the items between its ends; numbers between them may be free.
fn covers(cite: Cite, id: Id) -> bool {
    match cite {
        Cite::One(one) => one == id,
        Cite::Range(first, last) => {
            first.family == id.family && last.family == id.family && first <= id && id <= last
        }
    }
}

fn entry(id: Id, kind: Kind, mentions: &[Mention]) -> Entry {
    let mut entry = Entry::default();
    let mut nearest = u8::MAX;
    for mention in mentions.iter().filter(|m| covers(m.cite, id)) {
        if let Role::Test(test) = &mention.role {
            push(&mut entry.tests, test.clone());
        } else if let Some(distance) = distance(mention, kind) {
            if distance < nearest {
                entry.places.clear();
                nearest = distance;
            }
            if distance == nearest {
                let Mention { file, item, detail, .. } = mention.clone();
                push(&mut entry.places, Place { file, item, detail });
            }
        }
    }
    entry
}

fn push<T: PartialEq>(list: &mut Vec<T>, new: T) {
    if !list.contains(&new) {
        list.push(new);
    }
}

/// How far a citation is from what it cites, or none if it cannot be what is meant.
///
/// The head of a module that cites a range says what the module is about, not where each item is; `lib.rs` is a table of contents.
fn distance(mention: &Mention, kind: Kind) -> Option<u8> {
    let one = matches!(mention.cite, Cite::One(_));
    if mention.file == "lib.rs" || (mention.header && !one) {
        return None;
    }
    match (kind, &mention.role) {
        (_, Role::Test(_)) | (Kind::Code, Role::Support) => None,
        (Kind::Property | Kind::TextOnly(_), Role::Support) => {
            Some(if mention.header { 0 } else { 4 })
        }
        (Kind::Code | Kind::Property | Kind::TextOnly(_), Role::Code) => {
            Some(match (mention.header, one) {
                (false, true) => 1,
                (false, false) => 2,
                (true, _) => {
                    if mention.leading {
                        1
                    } else {
                        3
                    }
                }
            })
        }
    }
}

fn nonsense(mention: &Mention, items: &BTreeMap<Id, &Item>) -> Option<String> {
    let at = format!("{}:{}", mention.file, mention.line);
    let unknown =
        |id: &Id| (!items.contains_key(id)).then(|| format!("{at}: the checklist has no {id}"));
    match &mention.cite {
        Cite::One(id) => unknown(id),
        Cite::Range(first, last) if first.family != last.family || first >= last => {
            Some(format!("{at}: {first} … {last} is no range"))
        }
        Cite::Range(first, last) => unknown(first).or_else(|| unknown(last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checklist::source::module_mentions;

    const fn item(id: &'static str, kind: Kind) -> Item {
        Item { id, text: "", kind }
    }

    const ITEMS: &[Item] = &[
        item("S-1", Kind::Code),
        item("S-2", Kind::Code),
        item("S-4", Kind::Code),
        item("T-1", Kind::Property),
        item("E6", Kind::TextOnly("prose")),
    ];

    fn of(files: &[(&str, &str, bool)]) -> Survey {
        let read = |(name, text, support): &(&str, &str, bool)| {
            module_mentions(name, text, "m", *support).unwrap().0
        };
        let mentions: Vec<Mention> = files.iter().flat_map(read).collect();
        survey(&[Section { title: "", items: ITEMS }], &mentions)
    }

    fn names(ids: &[Id]) -> Vec<String> {
        ids.iter().map(Id::to_string).collect()
    }

    fn places(survey: &Survey, id: &str) -> Vec<String> {
        let places = &survey.entries[&Id::parse(id).unwrap()].places;
        places
            .iter()
            .map(|p| format!("{} {} {}", p.file, p.item, p.detail.as_deref().unwrap_or("-")))
            .collect()
    }

    #[test]
    fn missing_ids() {
        let survey =
            of(&[("a.rs", "/// S-1\nfn f() {}\n\n/// S-2, T-1\n#[test]\nfn t() {}\n", false)]);
        assert_eq!(names(&survey.homeless), ["S-2", "S-4", "T-1", "E6"]);
        assert_eq!(names(&survey.untested), ["S-1", "S-4"]);
        assert_eq!(survey.nonsense, Vec::<String>::new());
        assert_eq!(survey.entries[&Id::parse("S-2").unwrap()].tests, ["m::t"]);
    }

    #[test]
    fn unknown_ids() {
        let text = "// S-3\n/// S-1 … S-9\nfn f() {}\n// S-2 … S-1\n// S-1 … T-1\n/* E99 */\n";
        let expect = [
            "a.rs:1: the checklist has no S-3",
            "a.rs:2: the checklist has no S-9",
            "a.rs:4: S-2 … S-1 is no range",
            "a.rs:5: S-1 … T-1 is no range",
            "a.rs:6: the checklist has no E99",
        ];
        assert_eq!(of(&[("a.rs", text, false)]).nonsense, expect);
    }

    #[test]
    fn ranges_cover_what_is_between() {
        let survey =
            of(&[("a.rs", "/// S-1 … S-4\nfn f() {}\n/// S-2 … S-4\n#[test]\nfn t() {}\n", false)]);
        assert_eq!(places(&survey, "S-2"), ["a.rs f -"]);
        assert_eq!(names(&survey.untested), ["S-1", "T-1"]);
    }

    #[test]
    fn the_nearest_places_win() {
        let header = ("a.rs", "//! About S-1, S-2, S-4\n//! T-1\n", false);
        let range = ("b.rs", "/// S-1 … S-2\nfn f() {}\n", false);
        let one = ("c.rs", "/// S-1\nfn g() { match x {\n // S-1\n A(_) => 1 } }\n", false);
        let survey = of(&[header, range, one]);
        assert_eq!(places(&survey, "S-1"), ["c.rs g -", "c.rs g A"]);
        assert_eq!(places(&survey, "S-2"), ["b.rs f -"]);
        assert_eq!(places(&survey, "S-4"), ["a.rs  -"]);
    }

    /// What the head of a module starts with is what the module is, however often others mention it.
    #[test]
    fn a_module_can_be_an_item() {
        let survey = of(&[
            ("a.rs", "//! Erratum S-1: the module, unlike S-2.\n", false),
            ("b.rs", "/// f (S-1, S-2)\nfn f() {}\n", false),
        ]);
        assert_eq!(places(&survey, "S-1"), ["a.rs  -", "b.rs f -"]);
        assert_eq!(places(&survey, "S-2"), ["b.rs f -"]);
    }

    /// Neither a table of contents nor the head of a module, nor what only tests see, is where an item of the language is.
    #[test]
    fn what_is_no_place() {
        let contents = ("lib.rs", "//! S-1\n// S-2\nmod a;\n", false);
        let head = ("a.rs", "//! S-1 … S-4\n", false);
        let support = ("b.rs", "//! S-1, T-1\n/// S-4, E6\nfn f() {}\n", true);
        let survey = of(&[contents, head, support]);
        assert_eq!(names(&survey.homeless), ["S-1", "S-2", "S-4"]);
        assert_eq!(
            (places(&survey, "T-1"), places(&survey, "E6")),
            (vec!["b.rs  -".to_string()], vec!["b.rs f -".to_string()])
        );
    }
}
