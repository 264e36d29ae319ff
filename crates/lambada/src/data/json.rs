//! JSON values: parsing, descriptions, and numbers.

use std::borrow::Cow;
use std::collections::HashSet;

use lambada_prim::ScalarTy;
use lambada_source::Problem;
use lambada_source::stack::{self, Deep};
use serde_json::Value;

use crate::messages::data as messages;

/// Parses JSON. Reports duplicate keys, which a parsed value no longer shows. Messages call the
/// text `origin`.
pub fn read(text: &str, origin: &str) -> Result<Deep<Value>, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = &*spelled(text);
    let value = match depth(text) {
        deep if deep > DEEPEST => Err(format!("it is nested more than {DEEPEST} levels deep")),
        deep if deep > SHALLOW => stack::roomy(|| super::deep::read(text)),
        _ => serde_json::from_str(text).map_err(|error| error.to_string()),
    };
    let value = value.map_err(|error| messages::not_json(origin, error))?.into();
    match repeated_key(text) {
        Some(key) => Err(messages::repeated_key(origin, &key)),
        None => Ok(value),
    }
}

/// The nesting depth that `serde_json` reads by recursion.
const SHALLOW: usize = 100;

/// The largest nesting depth that is accepted.
const DEEPEST: usize = 1_000_000;

/// Nesting depth of lists and objects.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for (_, _, part) in strings(text).filter(|(quoted, ..)| !quoted) {
        for byte in part.bytes() {
            match byte {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            deepest = deepest.max(depth);
        }
    }
    deepest
}

/// Splits a text into string literals, with their quotes, and the text between them.
fn strings(text: &str) -> impl Iterator<Item = (bool, usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let quoted = rest.starts_with('"');
        let mut escaped = false;
        let length = match quoted {
            false => rest.find('"'),
            true => rest.char_indices().skip(1).find_map(|(k, c)| {
                let end = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                end.then_some(k + 1)
            }),
        };
        at = start + length.unwrap_or(rest.len());
        Some((quoted, start, &text[start..at]))
    })
}

/// The first duplicate key in an object.
fn repeated_key(text: &str) -> Option<String> {
    let mut objects: Vec<HashSet<String>> = Vec::new();
    for (quoted, start, part) in strings(text) {
        if !quoted {
            for c in part.chars() {
                match c {
                    '{' => objects.push(HashSet::new()),
                    '}' => drop(objects.pop()),
                    _ => {}
                }
            }
        } else if text[start + part.len()..].trim_start().starts_with(':') {
            let key: String = serde_json::from_str(part).ok()?;
            if !objects.last_mut()?.insert(key.clone()) {
                return Some(key);
            }
        }
    }
    None
}

/// Constants that other writers of JSON and our own results use, with their spelling as JSON
/// strings.
const CONSTANTS: [(&str, &str); 6] = [
    ("NaN", "\"nan\""),
    ("nan", "\"nan\""),
    ("Infinity", "\"inf\""),
    ("inf", "\"inf\""),
    ("-Infinity", "\"-inf\""),
    ("-inf", "\"-inf\""),
];

/// Replaces such constants by their spelling as JSON strings.
fn spelled(text: &str) -> Cow<'_, str> {
    if !CONSTANTS.iter().any(|(name, _)| text.contains(name)) {
        return text.into();
    }
    let mut spelled = String::with_capacity(text.len());
    for (quoted, _, part) in strings(text) {
        if quoted {
            spelled.push_str(part);
            continue;
        }
        // A word extends to the next non-word character.
        for piece in part.split_inclusive(|c: char| !is_of_word(c)) {
            let word = piece.trim_end_matches(|c| !is_of_word(c));
            let known = CONSTANTS.iter().find(|(name, _)| *name == word);
            spelled.push_str(known.map_or(word, |(_, spelling)| spelling));
            spelled.push_str(&piece[word.len()..]);
        }
    }
    spelled.into()
}

/// Whether a character is part of a word outside of strings. Numbers are words, so `1e-5` is one.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '+' | '.' | '_')
}

/// The kind of a value, with an article.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Describes a value: `a [3][2] array of numbers`, `the number 2.5`.
pub fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_string(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => format!("the number {n}"),
        Value::String(s) => format!("the string {:?}", beginning(s)),
        Value::Array(items) if items.is_empty() => "an empty list".to_string(),
        Value::Array(_) => {
            let (dims, leaf) = shape(value);
            if dims.len() > MANY {
                return format!("lists inside of each other, {} deep", dims.len());
            }
            let dims: String = dims.iter().map(|n| format!("[{n}]")).collect();
            match leaf {
                Some(_) if !regular(value) => {
                    "a list whose elements are of different kinds or sizes".to_string()
                }
                Some(leaf) => format!("an array of shape {dims} of {}", plural(leaf)),
                None => format!("an empty array of shape {dims}"),
            }
        }
        Value::Object(members) => {
            let names: Vec<String> =
                members.keys().take(MANY).map(|name| beginning(name)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            match members.len() {
                0 => "an empty object".to_string(),
                count if count > MANY => {
                    let quoted = lambada_source::quoted(&names);
                    format!("an object with {quoted} and {} more", count - MANY)
                }
                _ => format!("an object with {}", lambada_source::quoted(&names)),
            }
        }
    }
}

/// Limit for the axes and member names in a message.
const MANY: usize = 16;

/// Limit for the characters of a quoted text in a message.
const BEGINNING: usize = 60;

/// A text, truncated if it is long.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(BEGINNING) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// Whether all elements have the same kind and shape, recursively.
fn regular(value: &Value) -> bool {
    let Value::Array(items) = value else { return true };
    let Some(first) = items.first() else { return true };
    let like_first = |item: &Value| kind(item) == kind(first) && shape(item).0 == shape(first).0;
    items.iter().all(like_first) && items.iter().all(|item| stack::deeper(|| regular(item)))
}

fn plural(value: &Value) -> &'static str {
    match value {
        Value::Null => "nulls",
        Value::Bool(_) => "truth values",
        Value::Number(_) => "numbers",
        Value::String(_) => "strings",
        Value::Array(_) => "lists",
        Value::Object(_) => "objects",
    }
}

/// The sizes along the first elements, and the first leaf.
fn shape(value: &Value) -> (Vec<usize>, Option<&Value>) {
    let mut dims = Vec::new();
    let mut at = value;
    while let Value::Array(items) = at {
        dims.push(items.len());
        match items.first() {
            Some(first) => at = first,
            None => return (dims, None),
        }
    }
    (dims, Some(at))
}

/// A real: a number, or the string for one that JSON cannot express.
pub fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64(),
        Value::String(s) => match s.as_str() {
            "inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            "nan" => Some(f64::NAN),
            _ => None,
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether the text is a number beyond the range of reals.
pub fn overflows(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_infinite) && text.contains(|c: char| c.is_ascii_digit())
}

/// The correct spelling of a value that is nearly a scalar of this type.
pub fn spelling(elem: ScalarTy, value: &Value) -> Option<&'static str> {
    let text = match value {
        Value::String(text) => text.to_lowercase(),
        Value::Null => "nan".to_string(),
        _ => return None,
    };
    match (elem, &*text) {
        (ScalarTy::Real, number) if overflows(number) => {
            Some(if number.starts_with('-') { "\"-inf\"" } else { "\"inf\"" })
        }
        (ScalarTy::Real, "nan") => Some("\"nan\""),
        (ScalarTy::Real, "inf" | "+inf" | "infinity" | "+infinity") => Some("\"inf\""),
        (ScalarTy::Real, "-inf" | "-infinity") => Some("\"-inf\""),
        (ScalarTy::Bool, "true") => Some("true"),
        (ScalarTy::Bool, "false") => Some("false"),
        _ => None,
    }
}

/// An integer: a number without a fraction that fits 64 bits.
pub fn int(value: &Value) -> Option<i64> {
    let n = match value {
        Value::Number(n) => n,
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            return None;
        }
    };
    let exact = |x: f64| (x.fract() == 0.0 && x.abs() < 9.2e18).then_some(x as i64);
    n.as_i64().or_else(|| n.as_f64().and_then(exact))
}

/// Nesting depth of lists, along the first elements.
pub fn rank(value: &Value) -> usize {
    shape(value).0.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_described_in_short() {
        let text = "x".repeat(1 << 20);
        assert!(describe(&Value::String(text.clone())).len() < 100);
        let members = (0..1000).map(|k| (format!("{k}{text:.9000}"), Value::Null)).collect();
        assert!(describe(&Value::Object(members)).len() < 2000);
        let short = Value::String("abc".into());
        assert_eq!(describe(&short), "the string \"abc\"");
    }

    #[test]
    fn keys_are_repeated_in_one_object() {
        let repeated = |text: &str| repeated_key(text);
        assert_eq!(repeated(r#"{"a": 1, "b": {"a": ["a", {"a": 2}, {"a": 3}]}}"#), None);
        assert_eq!(repeated(r#"{"a": 1, "\u0061": 2}"#).as_deref(), Some("a"));
        assert_eq!(repeated(r#"[{"x": {}, "y": "x\\", "x" : 1}]"#).as_deref(), Some("x"));
        assert_eq!(repeated(r#"{"say \"{\"": 1, "{": "}"}"#), None);
    }

    #[test]
    fn constants_of_other_writers_stand_outside_of_strings() {
        assert_eq!(spelled(r#"{"x": [1, NaN]}"#), r#"{"x": [1, "nan"]}"#);
        assert_eq!(spelled(r#"[-Infinity, Infinity]"#), r#"["-inf", "inf"]"#);
        assert_eq!(spelled(r#"{"NaN": "Infinity"}"#), r#"{"NaN": "Infinity"}"#);
    }

    #[test]
    fn numbers_that_json_has_not_stand_anywhere() {
        let text = r#"{"nan": [nan, -inf,inf ,-Infinity], "inf x": "inf", "e": [1e-5, NaN]}"#;
        let strings =
            r#"{"nan": ["nan", "-inf","inf" ,"-inf"], "inf x": "inf", "e": [1e-5, "nan"]}"#;
        let expected: Value = serde_json::from_str(strings).expect("it is JSON");
        assert_eq!(read(text, "t").expect("it is read").into_inner(), expected);
        for broken in ["[nano]", "[inf-]", "[--inf]", "[infinf]", "[+inf]", "[1inf]"] {
            assert!(read(broken, "t").is_err(), "{broken}");
        }
    }
}
