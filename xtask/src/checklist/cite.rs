//! Ids of the checklist, and how a comment cites them: alone (`T-7`), in lists (`T-3, T-11`), in ranges (`M-1 … M-4`).

use std::fmt;

/// What an id starts with. `E-` (rules of Appendix E) and `E` (errata) are different.
const FAMILIES: [&str; 9] = ["S-", "C-", "L-", "A-", "M-", "P-", "T-", "E-", "E"];

/// What stands between the ends of a range. The word needs two ids of one family: "from S-1 to L-1" is no range.
const DOTS: [&str; 4] = ["…", "...", "..", "–"];
const TO: &str = "to ";

/// `S-7`, `E19`
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    /// `S-`, `E`
    pub family: &'static str,
    /// Starts at 1 in each family.
    pub number: u32,
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.family, self.number)
    }
}

impl Id {
    /// An id and nothing else.
    pub fn parse(text: &str) -> Option<Id> {
        id_at(text).filter(|(_, length)| *length == text.len()).map(|(id, _)| id)
    }
}

/// What a comment names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cite {
    /// `S-7`
    One(Id),
    /// `S-1 … S-7`, both ends included. It may be nonsense: nobody has checked that the first is before the last.
    Range(Id, Id),
}

/// Everything that a text cites, each with its offset.
pub fn citations(text: &str) -> Vec<(usize, Cite)> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut before = ' ';
    while let Some(next) = text[at..].chars().next() {
        let starts_word = !before.is_alphanumeric() && before != '_' && before != '-';
        let cited = if starts_word { cite_at(&text[at..]) } else { None };
        if let Some((cite, _)) = cited {
            found.push((at, cite));
        }
        at += cited.map_or(next.len_utf8(), |(_, length)| length);
        before = text[..at].chars().next_back().unwrap_or(' ');
    }
    found
}

/// What a text starts with, and how long that is.
fn cite_at(text: &str) -> Option<(Cite, usize)> {
    let (first, length) = id_at(text)?;
    let Some((last, end)) = range_end(first, text, length) else {
        return Some((Cite::One(first), length));
    };
    Some((Cite::Range(first, last), end))
}

/// The last id of a range whose first one ends at `length`, and where it ends.
fn range_end(first: Id, text: &str, length: usize) -> Option<(Id, usize)> {
    let space = |from: usize| text.len() - text[from..].trim_start().len();
    let at = space(length);
    let dots = DOTS.iter().find(|dots| text[at..].starts_with(**dots));
    let link = dots.or_else(|| Some(&TO).filter(|to| text[at..].starts_with(**to)))?;
    let at = space(at + link.len());
    let (last, length) = id_at(&text[at..])?;
    (dots.is_some() || last.family == first.family).then_some((last, at + length))
}

fn id_at(text: &str) -> Option<(Id, usize)> {
    let family = FAMILIES.iter().find(|family| text.starts_with(**family))?;
    let rest = &text[family.len()..];
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let ends_word = !rest[digits..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    // Codes of errors, E0203, are no errata.
    if !ends_word || rest.starts_with('0') {
        return None;
    }
    let number = rest[..digits].parse().ok()?;
    Some((Id { family, number }, family.len() + digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let show = |cite: &Cite| match cite {
            Cite::One(id) => id.to_string(),
            Cite::Range(first, last) => format!("{first}..{last}"),
        };
        let found: Vec<String> = citations(text).iter().map(|(_, cite)| show(cite)).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn single_ids_and_lists() {
        check("T-7: adequacy", &["T-7"]);
        check("`x` (S-1)", &["S-1"]);
        check("T-3, T-11, T-12: Appendix A. Erratum E16.", &["T-3", "T-11", "T-12", "E16"]);
        check("S-8; S-9 is derived", &["S-8", "S-9"]);
        check("E-1; E21: a pair", &["E-1", "E21"]);
        check("T-3—right; E23.", &["T-3", "E23"]);
    }

    #[test]
    fn ranges() {
        for text in [
            "M-1 … M-4",
            "M-1…M-4",
            "M-1..M-4",
            "M-1 ... M-4",
            "M-1–M-4",
            "M-1 to M-4",
            "M-1 …\nM-4",
        ] {
            check(text, &["M-1..M-4"]);
        }
        check("S-1 … S-9, L-1 … L-15; E1", &["S-1..S-9", "L-1..L-15", "E1"]);
        check("S-1 … L-3", &["S-1..L-3"]);
        check("from S-1 to L-3", &["S-1", "L-3"]);
        check("(S-1, L-20, M-3, …)", &["S-1", "L-20", "M-3"]);
        check("S-1 together with S-2", &["S-1", "S-2"]);
    }

    #[test]
    fn what_only_looks_like_an_id() {
        for text in [
            "1E-1",
            "FS-2",
            "FW-2",
            "E0203",
            "E",
            "E-",
            "S7",
            "S-x",
            "T-7a",
            "LOp",
            "x_E1",
            "E-0",
            "D→(E)_1",
        ] {
            check(text, &[]);
        }
        assert_eq!(Id::parse("derived"), None);
        assert_eq!(Id::parse("S-1, S-2"), None);
        assert_eq!(Id::parse("E12").map(|id| (id.family, id.number)), Some(("E", 12)));
        assert_eq!(Id::parse("E-12").map(|id| (id.family, id.number)), Some(("E-", 12)));
    }

    #[test]
    fn offsets() {
        let text = "→ T-7 and\nE1 … E3";
        let found: Vec<&str> = citations(text).iter().map(|(at, _)| &text[*at..at + 2]).collect();
        assert_eq!(found, ["T-", "E1"]);
    }
}
