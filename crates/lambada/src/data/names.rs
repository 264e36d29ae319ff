//! Names of parameters. Most are identifiers; a pattern is its own name: `(a, b)`.

use lambada_source::Problem;

use crate::messages::data as messages;

/// Whether the text is an identifier.
pub fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '\'')
}

/// Values that look like names.
const WORDS: &[&str] = &["true", "false", "inf", "nan", "null"];

/// Whether the text may be the name of a definition. Excludes values, and constructors, which begin
/// with a capital letter.
pub fn is_definition(word: &str) -> bool {
    is_identifier(word) && !word.starts_with(char::is_uppercase) && !WORDS.contains(&word)
}

/// Whether two names are equal up to spaces.
pub fn names_match(a: &str, b: &str) -> bool {
    a.split_whitespace().flat_map(str::chars).eq(b.split_whitespace().flat_map(str::chars))
}

/// The problem of an assignment that spaces have split into several arguments, as in `x = 3`.
pub fn spaced_assignment(words: &[String]) -> Option<Problem> {
    let torn =
        |word: &str| split_assignment(word).is_some_and(|(a, b)| a.is_empty() || b.is_empty());
    let k = words.iter().position(|word| torn(word))?;
    let before = if words[k].starts_with('=') { k.saturating_sub(1) } else { k };
    let after = if words[k].ends_with('=') { (k + 1).min(words.len() - 1) } else { k };
    if before == after {
        return None;
    }
    let words: Vec<&str> = words[before..=after].iter().map(String::as_str).collect();
    Some(messages::spaced_assignment(&words))
}

/// Splits `name=value`; the name may be a pattern with `=` inside brackets.
pub fn split_assignment(text: &str) -> Option<(&str, &str)> {
    let at = outside_brackets(text, '=').next()?;
    Some((text[..at].trim(), text[at + 1..].trim()))
}

/// Splits `a,(b, c)` into names.
pub fn split_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut from = 0;
    for at in outside_brackets(text, ',').chain([text.len()]) {
        names.push(text[from..at].trim().to_string());
        from = at + 1;
    }
    names
}

/// Positions of a character outside of brackets and quotes.
fn outside_brackets(text: &str, sign: char) -> impl Iterator<Item = usize> {
    let (mut depth, mut quoted) = (0usize, false);
    text.char_indices().filter_map(move |(at, c)| {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        (c == sign && depth == 0 && !quoted).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_split_outside_of_brackets() {
        assert_eq!(split_assignment("x=1"), Some(("x", "1")));
        assert_eq!(split_assignment("{x, y = b} = {\"x\": 1}"), Some(("{x, y = b}", "{\"x\": 1}")));
        assert_eq!(split_assignment("[\"a=b\"]"), None);
        assert_eq!(split_names("a,(b, c), d"), ["a", "(b, c)", "d"]);
        assert!(names_match("(a,b)", "( a, b )") && !names_match("(a, b)", "(a, c)"));
    }
}
