//! Programs with mistakes: texts that are almost Lambada, made from those that are. A seed always
//! gives the same text.

use lambada_testkit::Random;
use serde_json::{Value, json};

/// A text of the corpus with one to six mutations.
pub fn mutant(corpus: &[String], seed: u64) -> String {
    let mut random = Random(Random(seed).bits());
    let mut tokens = tokens(&corpus[random.below(corpus.len())]);
    let few = random.below(6).min(random.below(6));
    for _ in 0..1 + few {
        mutate(&mut tokens, corpus, &mut random);
    }
    let text = tokens.concat();
    if random.below(12) == 0 { noise(&text, &mut random) } else { text }
}

fn mutate(tokens: &mut Vec<String>, corpus: &[String], random: &mut Random) {
    if tokens.is_empty() {
        return tokens.push("def f x = x".into());
    }
    let at = random.below(tokens.len());
    let len = (1 + random.below(6)).min(tokens.len() - at);
    match random.below(6) {
        0 => drop(tokens.drain(at..at + len)),
        1 => {
            let copy = tokens[at..at + len].to_vec();
            drop(tokens.splice(at..at, copy));
        }
        2 => {
            let other = random.below(tokens.len());
            tokens.swap(at, other);
        }
        // The most fruitful: another token of the same program replaces one, so that names stay
        // known.
        3 => tokens[at] = tokens[random.below(tokens.len())].clone(),
        4 => tokens[at] = SPICE[random.below(SPICE.len())].to_string(),
        _ => {
            let other = self::tokens(&corpus[random.below(corpus.len())]);
            let from = random.below(other.len().max(1));
            let until = (from + 1 + random.below(40)).min(other.len());
            drop(tokens.splice(at..at, other.get(from..until).unwrap_or_default().iter().cloned()));
        }
    }
}

/// Tokens that make trouble.
const SPICE: &[&str] = &[
    "0",
    "-1",
    "9223372036854775807",
    "1e308",
    "nan",
    "[]",
    "()",
    "(",
    ")",
    "[n]",
    "rec ",
    "def ",
    "\n\n",
    "grad ",
    "jvp ",
    "vjp ",
    "(\\x -> x)",
    " -> ",
    " => ",
    "for i < 0 => ",
    "loop s = 0 while true do ",
    "match ",
    " with ",
    "{",
    "}",
    "é",
    "\u{0}",
    "\u{feff}",
    "\r\n",
    "\"",
    "--|",
    ":",
    "_",
];

/// Words, numbers, spaces and single signs.
pub fn tokens(text: &str) -> Vec<String> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut tokens: Vec<String> = Vec::new();
    let mut last = 2;
    for c in text.chars() {
        match tokens.last_mut() {
            Some(token) if class(c) == last && last != 2 => token.push(c),
            _ => tokens.push(c.to_string()),
        }
        last = class(c);
    }
    tokens
}

fn noise(text: &str, random: &mut Random) -> String {
    String::from_utf8_lossy(&bytes(text.as_bytes(), random)).into_owned()
}

/// Data with another part: one of its numbers, arrays or members gives way to one of other data or
/// to a troublesome value, is left out, or is there twice.
pub fn other_value(value: &Value, others: &[Value], random: &mut Random) -> Value {
    let inner = match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    if inner == 0 || random.once_in(4) {
        let troubles = [
            json!(null),
            json!(true),
            json!(-1),
            json!(i64::MAX),
            json!(1e308),
            json!(0.5),
            json!("nan"),
            json!("Dot"),
            json!([]),
            json!({}),
            json!([[1.0], [2.0, 3.0]]),
        ];
        return if random.once_in(2) { random.pick(&troubles) } else { random.pick(others) };
    }
    let at = random.below(inner);
    match value {
        Value::Array(items) => {
            let mut items = items.clone();
            match random.below(4) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                _ => items[at] = other_value(&items[at], others, random),
            }
            Value::Array(items)
        }
        Value::Object(members) => {
            let mut members = members.clone();
            let name = members.keys().nth(at).cloned().unwrap_or_default();
            match random.below(6) {
                0 => drop(members.remove(&name)),
                1 => drop(members.insert(format!("{name}2"), members[&name].clone())),
                _ => {
                    drop(members.insert(name.clone(), other_value(&members[&name], others, random)))
                }
            }
            Value::Object(members)
        }
        _ => value.clone(),
    }
}

/// The text with one to four other bytes; it may be no text any more.
pub fn bytes(text: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..1 + random.below(4) {
        if !bytes.is_empty() {
            let at = random.below(bytes.len());
            bytes[at] = random.below(256) as u8;
        }
    }
    bytes
}

/// A shorter text that is as bad: tokens are taken away while it stays so.
pub fn shrink(text: &str, bad: &mut dyn FnMut(&str) -> bool) -> String {
    let mut best = tokens(text);
    let mut chunk = best.len().div_ceil(2);
    while chunk > 0 {
        let mut at = 0;
        while at < best.len() {
            let fewer: Vec<String> =
                best[..at].iter().chain(best.iter().skip(at + chunk)).cloned().collect();
            if bad(&fewer.concat()) { best = fewer } else { at += chunk }
        }
        chunk /= 2;
    }
    best.concat()
}
