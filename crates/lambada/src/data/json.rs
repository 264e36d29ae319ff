//! JSON values: how to speak of them, and the numbers in them.

use serde_json::Value;

/// What kind of value it is, with its article.
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

/// What the value looks like as data: `a [3][2] array of numbers`, `the number 2.5`.
pub fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_string(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => format!("the number {n}"),
        Value::String(s) => format!("the string {s:?}"),
        Value::Array(items) if items.is_empty() => "an empty list".to_string(),
        Value::Array(_) => {
            let (dims, leaf) = shape(value);
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
            let names: Vec<&str> = members.keys().map(String::as_str).collect();
            if names.is_empty() {
                "an empty object".to_string()
            } else {
                format!("an object with {}", lambada_source::quoted(&names))
            }
        }
    }
}

/// Are all elements of the same kind and shape, all the way down?
fn regular(value: &Value) -> bool {
    let Value::Array(items) = value else { return true };
    let Some(first) = items.first() else { return true };
    let like_first = |item: &Value| kind(item) == kind(first) && shape(item).0 == shape(first).0;
    items.iter().all(like_first) && items.iter().all(regular)
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

/// A real: a number, or the name of one that JSON cannot write.
pub fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64(),
        Value::String(s) => match s.as_str() {
            "inf" | "Infinity" | "+inf" => Some(f64::INFINITY),
            "-inf" | "-Infinity" => Some(f64::NEG_INFINITY),
            "nan" | "NaN" => Some(f64::NAN),
            _ => None,
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// An integer: a number without a fraction that 64 bits hold.
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
