//! Data as it comes: values by parameter name, not yet typed.

use std::path::Path;
use std::sync::Arc;

use lambada_prim::{Memory, Tensor};
use lambada_source::Problem;
use lambada_source::stack::Deep;
use serde_json::Value;

use super::formats::{Format, Read};
use super::table::{Column, Table};
use super::{is_definition, json, split_assignment};
use crate::messages::data as messages;

/// As the name of a file: standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// A value as read.
#[derive(Clone, Debug)]
pub enum Raw {
    /// From JSON text.
    Json(Deep<Value>),
    /// From a NumPy array or a column of a table.
    Tensor(Tensor),
    /// From a table as a whole.
    Table(Arc<Table>),
    /// A column of what no type of Lambada has, in words.
    Foreign(String),
}

/// Values by parameter name, with where each comes from.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    pub(crate) entries: Vec<Entry>,
    /// Arrays of files may take so much memory, if it is said.
    limit: Option<Memory>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Nothing: that of the parameter at its place among the values without names.
    pub name: Option<String>,
    pub value: Raw,
    pub origin: String,
    /// One of the members of a file, which may serve several definitions: left aside where no parameter has the name.
    pub shared: bool,
}

impl Inputs {
    /// No values.
    pub fn new() -> Inputs {
        Inputs::default()
    }

    /// The same with a limit on the memory for arrays of files, in bytes; it is that of [`Options::max_memory`](crate::Options) unless it is said.
    #[must_use]
    pub fn with_memory(self, bytes: Option<u64>) -> Inputs {
        Inputs { limit: bytes.map(|limit| Memory { limit }), ..self }
    }

    fn memory(&self) -> Memory {
        self.limit.unwrap_or_else(crate::memory::limit)
    }

    /// No values?
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

    /// One more value.
    pub fn insert(&mut self, name: impl Into<String>, value: Raw, origin: impl Into<String>) {
        self.push(Some(name.into()), value, origin.into(), false);
    }

    fn push(&mut self, name: Option<String>, value: Raw, origin: String, shared: bool) {
        self.entries.push(Entry { name, value, origin, shared });
    }

    /// The names of the values that have one, with where they come from, but for those of files that hold other values too.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.entries.iter().filter(|entry| !entry.shared);
        own.filter_map(|entry| Some((entry.name.as_deref()?, &*entry.origin)))
    }

    /// All values of a `.json` or `.npz` file, the columns of a table and the whole under the file's base name; a `.npy` file gives one value, under the file's base name. `-` is JSON from standard input.
    /// Tables are `.csv` and `.tsv` files, and with the feature `arrow` also `.parquet`, `.arrow` and `.feather` files.
    pub fn read_file(&mut self, path: &Path) -> Result<(), Problem> {
        if path == Path::new(STANDARD_INPUT) {
            return self.read_json(&text(path)?, "the standard input");
        }
        let origin = format!("`{}`", path.display());
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match Format::of(path)?.read {
            Read::Json => self.read_json(&text(path)?, &origin),
            Read::Table(read) => {
                self.insert_table(read(path, &origin, self.memory())?, name, &origin);
                Ok(())
            }
            Read::Arrays(read) => {
                for (name, tensor) in read(path, &origin, self.memory())? {
                    self.push(Some(name), Raw::Tensor(tensor), origin.clone(), true);
                }
                Ok(())
            }
            Read::Array(read) => {
                let tensor = read(path, &origin, &name)?;
                self.insert(name, Raw::Tensor(tensor), origin);
                Ok(())
            }
        }
    }

    /// The columns, if they have names, and the whole.
    fn insert_table(&mut self, table: Table, name: String, origin: &str) {
        let named = table.columns.iter().filter(|_| table.head);
        for (column, cells) in named {
            self.push(Some(column.clone()), raw(cells), origin.to_string(), true);
        }
        if table.columns.iter().all(|(column, _)| *column != name) {
            self.push(Some(name), Raw::Table(Arc::new(table)), origin.to_string(), true);
        }
    }

    /// One value, called `name`: a `.json` file holds it as it is, or as the only member of an object; a `.npz` file as its only array, a table as its only column or as a whole.
    pub fn read_value(&mut self, name: &str, path: &Path) -> Result<(), Problem> {
        let mut inputs = Inputs { limit: self.limit, ..Inputs::new() };
        let origin = format!("`{}`", path.display());
        if path == Path::new(STANDARD_INPUT) || matches!(Format::of(path)?.read, Read::Json) {
            match json::read(&text(path)?, &origin)?.into_inner() {
                Value::Object(members) if members.len() == 1 => {
                    members.into_iter().for_each(|(_, value)| {
                        inputs.insert(name, Raw::Json(value.into()), origin.clone())
                    });
                }
                value => inputs.insert(name, Raw::Json(value.into()), origin),
            }
        } else if let Read::Table(read) = Format::of(path)?.read {
            let table = read(path, &origin, self.memory())?;
            let value = match &table.columns[..] {
                [(_, column)] => raw(column),
                _ => Raw::Table(Arc::new(table)),
            };
            inputs.insert(name, value, origin);
        } else {
            inputs.read_file(path)?;
        }
        self.entries.append(&mut inputs.entries);
        Ok(())
    }

    /// All members of a JSON object.
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

    /// An argument `name=value`, or a value alone for the next parameter; the value is JSON, but `inf`, `nan` and constructors need no quotes.
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

/// A column as a value.
fn raw(column: &Column) -> Raw {
    match column {
        Column::Numbers(tensor) => Raw::Tensor(tensor.clone()),
        Column::Words(words) => {
            let words = words.iter().cloned().map(Value::String).collect();
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

/// The text of a file, or of standard input.
fn text(path: &Path) -> Result<String, Problem> {
    let read = if path == Path::new(STANDARD_INPUT) {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    read.map_err(|error| messages::io(path, "read", error))
}

fn shortened(value: &str) -> String {
    if value.chars().count() <= 20 {
        value.to_string()
    } else {
        value.chars().take(17).chain("...".chars()).collect()
    }
}
