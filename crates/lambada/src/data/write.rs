//! Results: JSON and NumPy archives. Files appear whole or not at all.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use lambada_core::data::Data;
use lambada_prim::{Data as Elements, Scalar, Tensor};
use lambada_source::{Problem, stack};
use serde_json::{Map, Value, json};

use super::npz;
use crate::messages::data as messages;

/// The longest chain of symbolic links that is followed, as systems have it.
const LINKS: usize = 40;

/// A file format for results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON text.
    Json,
    /// A NumPy archive: one array per field or component.
    Npz,
}

impl Format {
    /// By the name of the file.
    pub fn of(path: &Path) -> Result<Format, Problem> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("json") => Ok(Format::Json),
            Some("npz") => Ok(Format::Npz),
            _ => Err(messages::unknown_format(path)),
        }
    }
}

/// The value as JSON: a tuple is a list, a record an object, `Circle 1.0` is `{"Circle": [1.0]}`, and reals that JSON cannot write are strings.
pub fn to_json(data: &Data) -> Value {
    match data {
        Data::Tensor(tensor) => tensor_json(tensor),
        Data::Tuple(items) | Data::Array(items) => {
            Value::Array(items.iter().map(to_json).collect())
        }
        Data::Record(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| (name.to_string(), to_json(value)))
                .collect::<Map<_, _>>(),
        ),
        Data::Con { name, args, .. } if args.is_empty() => json!(&**name),
        Data::Con { name, args, .. } => Value::Object(Map::from_iter([(
            name.to_string(),
            Value::Array(args.iter().map(|arg| stack::deeper(|| to_json(arg))).collect()),
        )])),
    }
}

/// The same as text, of values of any depth.
pub fn json_text(data: &Data) -> String {
    let mut text = String::new();
    push_json(data, &mut text);
    text
}

fn push_json(data: &Data, text: &mut String) {
    match data {
        Data::Tensor(tensor) => *text += &tensor_json(tensor).to_string(),
        Data::Tuple(items) | Data::Array(items) => {
            push_all(text, '[', items.iter().map(|item| (None, item)), ']');
        }
        Data::Record(fields) => {
            push_all(text, '{', fields.iter().map(|(name, item)| (Some(&**name), item)), '}');
        }
        Data::Con { name, args, .. } if args.is_empty() => *text += &json!(&**name).to_string(),
        Data::Con { name, args, .. } => {
            *text += &format!("{{{}:", json!(&**name));
            push_all(text, '[', args.iter().map(|arg| (None, arg)), ']');
            text.push('}');
        }
    }
}

fn push_all<'a>(
    text: &mut String,
    open: char,
    items: impl Iterator<Item = (Option<&'a str>, &'a Data)>,
    close: char,
) {
    text.push(open);
    for (k, (name, item)) in items.enumerate() {
        if k > 0 {
            text.push(',');
        }
        if let Some(name) = name {
            *text += &format!("{}:", json!(name));
        }
        stack::deeper(|| push_json(item, text));
    }
    text.push(close);
}

fn tensor_json(tensor: &Tensor) -> Value {
    fn level(dims: &[usize], data: &Elements, at: &mut usize) -> Value {
        match dims.split_first() {
            None => {
                *at += 1;
                scalar_json(data.get(*at - 1))
            }
            Some((n, rest)) => Value::Array((0..*n).map(|_| level(rest, data, at)).collect()),
        }
    }
    level(&tensor.dims, &tensor.data, &mut 0)
}

fn scalar_json(value: Scalar) -> Value {
    match value {
        Scalar::Real(x) if x.is_nan() => json!("nan"),
        Scalar::Real(x) if x.is_infinite() => json!(if x > 0.0 { "inf" } else { "-inf" }),
        Scalar::Real(x) => json!(x),
        Scalar::Int(n) => json!(n),
        Scalar::Bool(b) => json!(b),
    }
}

/// Writes the value to a file whose name tells the format. The file is complete or untouched.
pub fn write_file(path: &Path, data: &Data) -> Result<(), Problem> {
    let mut bytes = Vec::new();
    match Format::of(path)? {
        Format::Json => {
            bytes = (json_text(data) + "\n").into_bytes();
        }
        Format::Npz => {
            let mut cursor = std::io::Cursor::new(&mut bytes);
            npz::write_npz(&mut cursor, &arrays(data)?)
                .map_err(|e| messages::io(path, "write", e))?;
        }
    }
    replace(path, &bytes).map_err(|e| messages::io(path, "write", e))
}

/// Replaces the file; where the name is that of a link, the file that it leads to. What is no file, such as a pipe, is written to.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let target = target(path)?;
    if std::fs::metadata(&target).is_ok_and(|there| !there.is_file()) {
        return std::fs::write(&target, bytes);
    }
    let path = &*target;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = temporary().tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|e| e.error)
}

/// The end of a chain of symbolic links, which need not exist.
fn target(path: &Path) -> std::io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..LINKS {
        let Ok(next) = std::fs::read_link(&target) else { return Ok(target) };
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(std::io::Error::other("too many symbolic links"))
}

/// A temporary file with the permissions of any new file: it is to become the result.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// One named array per leaf; nested names are joined by dots, components are numbered, and a result that is one array is called `result`.
fn arrays(data: &Data) -> Result<Vec<(String, Tensor)>, Problem> {
    let mut out = Vec::new();
    leaves(data, "", &mut out)?;
    Ok(out)
}

fn leaves(data: &Data, name: &str, out: &mut Vec<(String, Tensor)>) -> Result<(), Problem> {
    let inner =
        |part: &str| if name.is_empty() { part.to_string() } else { format!("{name}.{part}") };
    match data {
        Data::Tensor(tensor) => {
            out.push((
                if name.is_empty() { "result".to_string() } else { name.to_string() },
                tensor.clone(),
            ));
            Ok(())
        }
        Data::Record(fields) => {
            fields.iter().try_for_each(|(field, value)| leaves(value, &inner(field), out))
        }
        Data::Tuple(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(k, value)| leaves(value, &inner(&k.to_string()), out)),
        Data::Array(_) | Data::Con { .. } => {
            let place = if name.is_empty() { String::new() } else { format!(" `{name}`") };
            Err(messages::not_for_npz(&place))
        }
    }
}
