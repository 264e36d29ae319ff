//! Explanations of message codes, from the book. The book has a section for each code: a paragraph,
//! then a wrong and a corrected program, or a session with the command.

use lambada_source::Problem;

use crate::messages::running as messages;

/// The pages of the book with their names, in the order of the codes.
const PAGES: [(&str, &str); 13] = [
    ("syntax", include_str!("../errors/syntax.md")),
    ("names", include_str!("../errors/names.md")),
    ("types", include_str!("../errors/types.md")),
    ("sizes", include_str!("../errors/sizes.md")),
    ("patterns", include_str!("../errors/patterns.md")),
    ("rules", include_str!("../errors/rules.md")),
    ("commands", include_str!("../errors/commands.md")),
    ("derivatives", include_str!("../errors/derivatives.md")),
    ("data", include_str!("../errors/data.md")),
    ("running", include_str!("../errors/running.md")),
    ("warnings", include_str!("../errors/warnings.md")),
    ("models", include_str!("../errors/models.md")),
    ("stan", include_str!("../errors/stan.md")),
];

/// Number of codes suggested in place of an unknown one.
const NEAR: usize = 5;

/// Columns of a paragraph on a terminal.
const WIDTH: usize = 80;

/// The explanation of a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The code, such as `E0301`.
    pub code: &'static str,
    /// The mistake in a few words.
    pub title: &'static str,
    /// The meaning in a paragraph.
    pub meaning: String,
    /// Programs and sessions.
    pub examples: Vec<Example>,
}

/// An example of a mistake or of its correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Example {
    /// A program with the mistake.
    Wrong(String),
    /// A program without it.
    Right(String),
    /// Commands on lines that start with `$ `, with their output: first the mistake, finally the
    /// correction.
    Session(String),
}

/// The explanations of all codes, in their order.
pub fn explanations() -> Vec<Explanation> {
    let sections = PAGES.iter().flat_map(|(_, page)| page.split("\n## ").skip(1));
    sections.filter_map(read).collect()
}

/// The explanation of a code as text for a terminal. Case does not matter.
///
/// # Errors
/// The code does not exist; the message lists nearby codes.
pub fn explain_code(code: &str) -> Result<String, Problem> {
    let all = explanations();
    match all.iter().find(|known| known.code.eq_ignore_ascii_case(code)) {
        Some(explanation) => Ok(explanation.to_string()),
        None => Err(messages::no_such_code(code, &near(code, &all))),
    }
}

/// The address of the section of the book that explains a code.
pub fn explanation_link(code: &str) -> Option<String> {
    let head = format!("\n## {code}: ");
    let (page, title) = PAGES.iter().find_map(|(page, text)| {
        let (_, rest) = text.split_once(&*head)?;
        Some((page, rest.lines().next()?))
    })?;
    let heading = format!("{code} {title}").to_lowercase().replace(' ', "-");
    let anchor: String = heading.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect();
    let book = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/HEAD/crates/lambada/errors");
    Some(format!("{book}/{page}.md#{anchor}"))
}

/// The codes nearest in number, in order; empty if `code` is not of the form of a code.
fn near(code: &str, all: &[Explanation]) -> Vec<&'static str> {
    let number = |code: &str| code.strip_prefix(['E', 'e'])?.parse::<i64>().ok();
    let Some(wanted) = number(code) else { return Vec::new() };
    let mut codes: Vec<&'static str> = all.iter().map(|known| known.code).collect();
    codes.sort_by_key(|known| number(known).map(|found| (found - wanted).abs()));
    codes.truncate(NEAR);
    codes.sort_unstable();
    codes
}

/// A section: `CODE: title`, paragraphs and fenced blocks.
fn read(section: &'static str) -> Option<Explanation> {
    let (head, body) = section.split_once('\n')?;
    let (code, title) = head.split_once(": ")?;
    let mut explanation = Explanation { code, title, meaning: String::new(), examples: Vec::new() };
    let mut block: Option<(&str, String)> = None;
    for line in body.lines() {
        match (&mut block, line.strip_prefix("```")) {
            (None, Some(language)) => block = Some((language, String::new())),
            (Some((language, text)), Some(_)) => {
                explanation.examples.extend(example(language, std::mem::take(text)));
                block = None;
            }
            (Some((_, text)), None) => *text += &format!("{line}\n"),
            (None, None) => explanation.meaning += &format!("{line}\n"),
        }
    }
    explanation.meaning = explanation.meaning.trim().to_string();
    Some(explanation)
}

fn example(language: &str, text: String) -> Option<Example> {
    match language {
        "lambada,wrong" => Some(Example::Wrong(text)),
        "lambada,right" => Some(Example::Right(text)),
        "console" => Some(Example::Session(text)),
        _ => None,
    }
}

impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}: {}\n\n{}", self.code, self.title, wrapped(&self.meaning))?;
        for example in &self.examples {
            let (head, text) = match example {
                Example::Wrong(text) => ("Wrong:\n\n", text),
                Example::Right(text) => ("Right:\n\n", text),
                Example::Session(text) => ("", text),
            };
            write!(f, "\n{head}")?;
            for line in text.lines() {
                writeln!(f, "{}", format!("    {line}").trim_end())?;
            }
        }
        Ok(())
    }
}

/// Wraps words to lines of at most `WIDTH` columns.
pub(crate) fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is a line");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(word.to_string());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines.join("\n")
}
