//! Untyped data by parameter name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lambada_prim::{Memory, Tensor};
use lambada_source::Problem;
use lambada_source::stack::Deep;
use serde_json::Value;

use super::formats::{Format, Read};
use super::table::{self, Column, Lines, Table};
use super::{is_definition, is_identifier, json, split_assignment};
use crate::files::read_limited;
use crate::messages::data as messages;

pub use crate::files::STANDARD_INPUT;

/// An untyped value.
#[derive(Clone, Debug)]
pub enum Raw {
    /// From JSON text.
    Json(Deep<Value>),
    /// From a NumPy array or a column of a table.
    Tensor(Tensor),
    /// From a table as a whole.
    Table(Arc<Table>),
    /// A column of a type without counterpart in Lambada, described in words.
    Foreign(String),
}

/// Values by parameter name, with their origins.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    pub(crate) entries: Vec<InputEntry>,
    /// Memory limit for arrays from files, if set.
    limit: Option<Memory>,
    /// Description of the data read from standard input, which can be read only once.
    input: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct InputEntry {
    /// Parameter name; `None` for the next parameter in order.
    pub name: Option<String>,
    pub value: Raw,
    pub origin: String,
    /// Whether it is a member of a file that may serve several definitions, and is ignored if no
    /// parameter has its name.
    pub shared: bool,
    /// The file, if the value goes by the file's name.
    pub file: Option<PathBuf>,
    /// Line numbers of the elements, for columns from text.
    pub lines: Option<Arc<Lines>>,
}

impl Inputs {
    /// No values.
    pub fn new() -> Inputs {
        Inputs::default()
    }

    /// Sets the memory limit in bytes for arrays from files [default: that of
    /// [`Options::max_memory`](crate::Options)].
    #[must_use]
    pub fn with_memory(self, bytes: Option<u64>) -> Inputs {
        Inputs { limit: bytes.map(|limit| Memory { limit }), ..self }
    }

    /// Declares that standard input has been read already, as `what`.
    #[must_use]
    pub fn with_input_as(self, what: impl Into<String>) -> Inputs {
        Inputs { input: Some(what.into()), ..self }
    }

    /// Calls the value of an argument by another argument in messages: the number that stands for a
    /// range by the range.
    #[must_use]
    pub fn with_argument_as(mut self, argument: &str, shown: &str) -> Inputs {
        let origin = |argument: &str| format!("the argument `{}`", shortened(argument));
        let stands = |entry: &&mut InputEntry| entry.origin == origin(argument);
        self.entries.iter_mut().filter(stands).for_each(|entry| entry.origin = origin(shown));
        self
    }

    /// The text of a file, or of standard input.
    fn text(&mut self, path: &Path) -> Result<String, Problem> {
        if path == Path::new(STANDARD_INPUT)
            && let Some(what) = self.input.replace("data".to_string())
        {
            return Err(messages::input_twice(&what));
        }
        text(path, self.memory())
    }

    fn memory(&self) -> Memory {
        self.limit.unwrap_or_else(crate::memory::limit)
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value, if there is exactly one.
    pub fn single(&self) -> Option<&Raw> {
        match &self.entries[..] {
            [entry] => Some(&entry.value),
            _ => None,
        }
    }

    /// Adds a value.
    pub fn insert(&mut self, name: impl Into<String>, value: Raw, origin: impl Into<String>) {
        self.push(Some(name.into()), value, origin.into(), false);
    }

    fn push(&mut self, name: Option<String>, value: Raw, origin: String, shared: bool) {
        self.entries.push(InputEntry { name, value, origin, shared, file: None, lines: None });
    }

    /// Adds the whole of a file under its base name.
    fn push_file(&mut self, path: &Path, value: Raw, origin: String, shared: bool) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file = Some(path.to_path_buf());
        self.entries.push(InputEntry {
            name: Some(name),
            value,
            origin,
            shared,
            file,
            lines: None,
        });
    }

    /// Names and origins of the named values, without members of shared files.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.entries.iter().filter(|entry| !entry.shared);
        own.filter_map(|entry| Some((entry.name.as_deref()?, &*entry.origin)))
    }

    /// Adds all values of a `.json` or `.npz` file; the columns of a table, and the table under the
    /// file's base name; the array of a `.npy` file under the file's base name. `-` is JSON from
    /// standard input. `name=FILE` binds the file to one parameter. Tables are `.csv` and `.tsv`
    /// files and, with the feature `arrow`, `.parquet`, `.arrow` and `.feather` files.
    pub fn read_file(&mut self, path: &Path) -> Result<(), Problem> {
        if path == Path::new(STANDARD_INPUT) {
            let text = self.text(path)?;
            return self.read_json(&text, "the standard input");
        }
        if let Some((name, path)) = named_file(path) {
            return self.read_named(name, Path::new(path));
        }
        let origin = format!("`{}`", path.display());
        match Format::of(path)?.read {
            Read::Json => self.read_json(&text(path, self.memory())?, &origin),
            Read::Table(read) => {
                self.insert_table(read(path, &origin, self.memory())?, path, &origin);
                Ok(())
            }
            Read::Arrays(read) => {
                for (name, tensor) in read(path, &origin, self.memory())? {
                    self.push(Some(name), Raw::Tensor(tensor), origin.clone(), true);
                }
                Ok(())
            }
            Read::Array(read) => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                let tensor = read(path, &origin, &name)?;
                self.push_file(path, Raw::Tensor(tensor), origin, false);
                Ok(())
            }
        }
    }

    /// Reads the value of one parameter: a whole JSON file, or its only member if that has the
    /// name; a table; a `.npy` file; an archive's only array, or the one with the name.
    fn read_named(&mut self, name: &str, path: &Path) -> Result<(), Problem> {
        let origin = format!("`{}`", path.display());
        let value = if path == Path::new(STANDARD_INPUT) {
            json_member(name, json::read(&self.text(path)?, "the standard input")?)
        } else {
            match Format::of(path)?.read {
                Read::Json => json_member(name, json::read(&text(path, self.memory())?, &origin)?),
                Read::Table(read) => Raw::Table(Arc::new(read(path, &origin, self.memory())?)),
                Read::Array(read) => Raw::Tensor(read(path, &origin, name)?),
                Read::Arrays(read) => {
                    let mut arrays = read(path, &origin, self.memory())?;
                    let named = arrays.iter().position(|(known, _)| known == name);
                    let at =
                        named.or_else(|| (arrays.len() == 1).then_some(0)).ok_or_else(|| {
                            let known: Vec<&str> = arrays.iter().map(|(name, _)| &**name).collect();
                            messages::several_arrays(&origin, name, &known)
                        })?;
                    Raw::Tensor(arrays.swap_remove(at).1)
                }
            }
        };
        self.insert(name, value, origin);
        Ok(())
    }

    /// Adds the columns, if they have names, and the whole table.
    fn insert_table(&mut self, table: Table, path: &Path, origin: &str) {
        let named = table.columns.iter().filter(|_| table.head);
        for (column, cells) in named {
            let (name, origin, lines) = (column.clone(), origin.to_string(), table.lines.clone());
            let entry = InputEntry {
                name: Some(name),
                value: raw(cells),
                origin,
                shared: true,
                file: None,
                lines,
            };
            self.entries.push(entry);
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if table.columns.iter().all(|(column, _)| *column != name) {
            self.push_file(path, Raw::Table(Arc::new(table)), origin.to_string(), true);
        }
    }

    /// Reads one value, called `name`: the whole of a `.json` file, or the only member of its
    /// object; the only array of a `.npz` file; the only column of a table, or the whole table.
    pub fn read_value(&mut self, name: &str, path: &Path) -> Result<(), Problem> {
        let mut inputs = Inputs { limit: self.limit, ..Inputs::new() };
        let origin = format!("`{}`", path.display());
        if path == Path::new(STANDARD_INPUT) || matches!(Format::of(path)?.read, Read::Json) {
            match json::read(&self.text(path)?, &origin)?.into_inner() {
                Value::Object(members) if members.len() == 1 => {
                    members.into_iter().for_each(|(_, value)| {
                        inputs.insert(name, Raw::Json(value.into()), origin.clone())
                    });
                }
                value => inputs.insert(name, Raw::Json(value.into()), origin),
            }
        } else if let Read::Table(read) = Format::of(path)?.read {
            let table = read(path, &origin, self.memory())?;
            inputs.insert(name, Raw::Table(Arc::new(table)), origin);
        } else {
            inputs.read_file(path)?;
        }
        self.entries.append(&mut inputs.entries);
        Ok(())
    }

    /// Adds all members of a JSON object.
    pub fn read_json(&mut self, text: &str, origin: &str) -> Result<(), Problem> {
        match json::read(text, origin)?.into_inner() {
            Value::Object(members) => {
                for (name, value) in members {
                    self.push(Some(name), Raw::Json(value.into()), origin.to_string(), true);
                }
                Ok(())
            }
            other => Err(messages::not_an_object(origin, json::kind(&other))),
        }
    }

    /// Adds an argument `name=value`, or a value for the next parameter. Values are JSON, except
    /// that `inf`, `nan` and constructors need no quotes.
    pub fn read_argument(&mut self, text: &str) -> Result<(), Problem> {
        let Some((name, value)) = split_assignment(text) else {
            let value = text.trim();
            let forgotten = is_definition(value);
            let json = json_value(value, &format!("the argument `{}`", shortened(text)))?;
            if forgotten {
                return Err(messages::not_an_assignment(text));
            }
            let origin = format!("the argument `{}`", shortened(value));
            self.push(None, Raw::Json(json), origin, false);
            return Ok(());
        };
        let json = json_value(value, &format!("the value of `{name}`"))?;
        self.insert(name, Raw::Json(json), format!("the argument `{name}={}`", shortened(value)));
        Ok(())
    }
}

impl InputEntry {
    /// The value, and the line numbers of its elements.
    pub(super) fn place(&self) -> (&Raw, Option<&Lines>) {
        let lines = match &self.value {
            Raw::Table(table) => &table.lines,
            Raw::Json(_) | Raw::Tensor(_) | Raw::Foreign(_) => &self.lines,
        };
        (&self.value, lines.as_deref())
    }
}

/// Splits `name=FILE`, unless a file with that whole name exists.
fn named_file(path: &Path) -> Option<(&str, &str)> {
    let (name, file) = path.to_str()?.split_once('=')?;
    (is_identifier(name) && !file.is_empty() && !path.exists()).then_some((name, file))
}

/// A JSON value, or its member `name` if it is the only one.
fn json_member(name: &str, value: Deep<Value>) -> Raw {
    let value = match value.into_inner() {
        Value::Object(mut members) if members.len() == 1 && members.contains_key(name) => {
            members.remove(name).unwrap_or_default()
        }
        value => value,
    };
    Raw::Json(value.into())
}

/// Converts a column to a value.
pub(super) fn raw(column: &Column) -> Raw {
    match column {
        Column::Numbers(tensor) => Raw::Tensor(tensor.clone()),
        Column::Words(words) => {
            let words = words.iter().map(|word| table::cell(word)).collect();
            Raw::Json(Value::Array(words).into())
        }
        Column::Foreign(what) => Raw::Foreign(what.clone()),
    }
}

fn json_value(text: &str, origin: &str) -> Result<Deep<Value>, Problem> {
    let bare = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-+.".contains(c));
    match json::read(text, origin) {
        Err(_) if bare => Ok(Value::String(text.to_string()).into()),
        result => result,
    }
}

/// Reads the text of a file or of standard input.
fn text(path: &Path, Memory { limit }: Memory) -> Result<String, Problem> {
    let read = if path == Path::new(STANDARD_INPUT) {
        read_limited(std::io::stdin(), limit)
    } else {
        std::fs::File::open(path).and_then(|file| read_limited(file, limit))
    };
    read.map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => {
            messages::too_large(&format!("`{}`", path.display()), limit)
        }
        _ => messages::io(path, "read", error),
    })
}

fn shortened(value: &str) -> String {
    if value.chars().count() <= 20 {
        value.to_string()
    } else {
        value.chars().take(17).chain("...".chars()).collect()
    }
}
