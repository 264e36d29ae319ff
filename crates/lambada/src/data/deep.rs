//! Non-recursive reader for deeply nested JSON, such as a list of a hundred thousand constructors.

use serde_json::{Map, Value};

/// An unfinished list or object.
enum Open {
    List(Vec<Value>),
    /// With the key of the next member.
    Object(Map<String, Value>, String),
}

struct JsonReader<'t> {
    text: &'t str,
    at: usize,
    open: Vec<Open>,
}

/// Parses a text, or returns an error message with its position.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let mut reader = JsonReader { text, at: 0, open: Vec::new() };
    loop {
        let Some(value) = reader.begin()? else { continue };
        if let Some(value) = reader.end(value)? {
            return Ok(value);
        }
    }
}

impl JsonReader<'_> {
    fn next(&mut self) -> Option<u8> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips the character if it comes next.
    fn eat(&mut self, sign: u8) -> bool {
        let found = self.next() == Some(sign);
        self.at += usize::from(found);
        found
    }

    fn wrong<T>(&self, expected: &str) -> Result<T, String> {
        let before = &self.text[..self.at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        Err(format!("expected {expected} at line {line} column {column}"))
    }

    /// Parses a scalar or an empty list or object, or opens a list or object.
    fn begin(&mut self) -> Result<Option<Value>, String> {
        if self.eat(b'[') {
            if self.eat(b']') {
                return Ok(Some(Value::Array(Vec::new())));
            }
            self.open.push(Open::List(Vec::new()));
            return Ok(None);
        }
        if self.eat(b'{') {
            if self.eat(b'}') {
                return Ok(Some(Value::Object(Map::new())));
            }
            let key = self.key()?;
            self.open.push(Open::Object(Map::new(), key));
            return Ok(None);
        }
        self.scalar().map(Some)
    }

    /// Adds a complete value to the enclosing list or object; returns the outermost value.
    fn end(&mut self, mut value: Value) -> Result<Option<Value>, String> {
        loop {
            if self.open.is_empty() {
                let end = self.next().is_none();
                return if end { Ok(Some(value)) } else { self.wrong("the end") };
            }
            let list = match self.open.last_mut() {
                None => false,
                Some(Open::List(items)) => {
                    items.push(value);
                    true
                }
                Some(Open::Object(members, key)) => {
                    members.insert(std::mem::take(key), value);
                    false
                }
            };
            if self.eat(b',') {
                if !list {
                    let next = self.key()?;
                    if let Some(Open::Object(_, key)) = self.open.last_mut() {
                        *key = next;
                    }
                }
                return Ok(None);
            }
            if !self.eat(if list { b']' } else { b'}' }) {
                return self.wrong(if list { "`,` or `]`" } else { "`,` or `}`" });
            }
            value = match self.open.pop() {
                Some(Open::List(items)) => Value::Array(items),
                Some(Open::Object(members, _)) => Value::Object(members),
                None => Value::Null,
            };
        }
    }

    /// `"key":`
    fn key(&mut self) -> Result<String, String> {
        match self.scalar()? {
            Value::String(key) if self.eat(b':') => Ok(key),
            Value::String(_) => self.wrong("`:`"),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => self.wrong("a key in quotes"),
        }
    }

    /// A number, a string or a constant.
    fn scalar(&mut self) -> Result<Value, String> {
        let first = self.next();
        let rest = &self.text[self.at..];
        let length = if first == Some(b'"') {
            let mut escaped = false;
            let end = rest.char_indices().skip(1).find_map(|(k, c)| {
                let end = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                end.then_some(k + 1)
            });
            end.unwrap_or(rest.len())
        } else {
            rest.find([',', ':', '[', ']', '{', '}', '"', ' ', '\t', '\n', '\r'])
                .unwrap_or(rest.len())
        };
        let Ok(value) = serde_json::from_str(&rest[..length]) else { return self.wrong("a value") };
        self.at += length;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `serde_json` reads the text equally, or rejects it as well.
    fn check(text: &str) {
        let expect: Option<Value> = serde_json::from_str(text).ok();
        assert_eq!(read(text).ok(), expect, "{text}");
    }

    #[test]
    fn reads_what_is_json() {
        check(r#"{"a": [1, 2.5, -3e2, true, null, "x\"]\u0061"], "b": {}, "c": [] }"#);
        check(" [[], [[]], {\"k\": {\"l\": [{}]}}] ");
        check("1");
        for text in
            ["", "[", "[1,", "[1 2]", "[1]]", "{1: 2}", "{\"a\" 1}", "[}", "{\"a\": }", "[a]"]
        {
            check(text);
        }
    }

    #[test]
    fn says_where_it_is_not() {
        assert_eq!(read("[1,\n 2; 3]"), Err("expected a value at line 2 column 2".into()));
        assert_eq!(read("{\"a\": 1]"), Err("expected `,` or `}` at line 1 column 8".into()));
    }

    #[test]
    fn reads_deep_lists() {
        let depth = 200_000;
        let text = "[".repeat(depth) + &"]".repeat(depth);
        let value = lambada_source::stack::Deep::from(read(&text).expect("it is JSON"));
        let mut at = &*value;
        let mut found = 0;
        while let Value::Array(items) = at {
            found += 1;
            match items.first() {
                Some(first) => at = first,
                None => break,
            }
        }
        assert_eq!(found, depth);
    }
}
