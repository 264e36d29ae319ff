//! Tables: columns of equal length, for input and output. Each column is an array under its name.
//! The whole table, under the name of its file, is an array of records, a matrix or an array of
//! tuples, depending on the parameter.

use std::sync::Arc;

use lambada_core::data::Data;
use lambada_prim::{Data as Elements, Scalar, ScalarTy, Tensor};

/// Columns of one length, by name.
#[derive(Clone, Debug)]
pub struct Table {
    /// The columns. Without a head, their names are numbers.
    pub columns: Vec<(String, Column)>,
    /// Number of rows.
    pub rows: usize,
    /// Whether the file names the columns.
    pub head: bool,
    /// Line numbers of the rows, for tables from text.
    pub lines: Option<Arc<Lines>>,
}

/// The lines on which the rows of a text table begin.
#[derive(Debug)]
pub struct Lines {
    /// Name of the text in messages.
    pub origin: String,
    /// Line of each row, from 1.
    pub of: Vec<u64>,
}

/// Contents of a column.
#[derive(Clone, Debug)]
pub enum Column {
    /// Reals, integers or truth values: one in each row, or an array of one shape.
    Numbers(Tensor),
    /// Names of constructors, or other text.
    Words(Vec<String>),
    /// A description of a type without counterpart in Lambada; an error if a parameter needs the
    /// column.
    Foreign(String),
}

impl Table {
    /// Describes the table for messages.
    pub fn describe(&self) -> String {
        let rows = lambada_source::counted(self.rows, "row");
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        match self.head {
            true => {
                format!("a table of {rows} with the columns {}", lambada_source::quoted(&names))
            }
            false => {
                let columns = lambada_source::counted(names.len(), "column");
                format!("a table of {rows} and {columns} without names")
            }
        }
    }
}

/// The value of a cell in a column that is not purely numeric.
pub fn cell(word: &str) -> serde_json::Value {
    let int = || word.parse::<i64>().ok().map(Into::into);
    let real = || word.parse().ok().and_then(serde_json::Number::from_f64);
    int().or_else(real).map_or_else(|| word.into(), serde_json::Value::Number)
}

/// Converts a result to a table: an array of records of scalars, or named arrays of equal length.
/// `None` for other results.
pub fn of(data: &Data, arrays: Option<&[(String, Tensor)]>) -> Option<Table> {
    let columns = match data {
        Data::Array(records) => records_as_columns(records)?,
        Data::Tensor(_) | Data::Tuple(_) | Data::Record(_) | Data::Con { .. } => {
            let each = arrays?.iter().map(|(name, tensor)| columns(name, tensor));
            each.collect::<Option<Vec<_>>>()?.concat()
        }
    };
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    let even = columns.iter().all(|(_, column)| column.len() == rows);
    (even && !columns.is_empty()).then_some(Table { columns, rows, head: true, lines: None })
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Column::Numbers(tensor) => tensor.dims.first().copied().unwrap_or(0),
            Column::Words(words) => words.len(),
            Column::Foreign(_) => 0,
        }
    }
}

/// A vector becomes a column, a matrix several, a scalar a cell.
fn columns(name: &str, tensor: &Tensor) -> Option<Vec<(String, Column)>> {
    let column = |name: String, places: &mut dyn Iterator<Item = usize>| {
        let cells: Vec<Scalar> = places.map(|k| tensor.data.get(k)).collect();
        (name, numbers(tensor.elem(), &cells))
    };
    match tensor.dims[..] {
        [] => Some(vec![column(name.to_string(), &mut (0..1))]),
        [count] => Some(vec![column(name.to_string(), &mut (0..count))]),
        [rows, count] => {
            let one =
                |j: usize| column(format!("{name}.{j}"), &mut (0..rows).map(|i| i * count + j));
            Some((0..count).map(one).collect())
        }
        _ => None,
    }
}

/// A column of scalars of one type.
fn numbers(elem: ScalarTy, cells: &[Scalar]) -> Column {
    let data = match elem {
        ScalarTy::Real => Elements::Real(cells.iter().map(|x| x.real()).collect()),
        ScalarTy::Int => Elements::Int(cells.iter().map(|x| x.int()).collect()),
        ScalarTy::Bool => Elements::Bool(cells.iter().map(|x| x.bool()).collect()),
    };
    Column::Numbers(Tensor { dims: vec![cells.len()], data })
}

fn records_as_columns(records: &[Data]) -> Option<Vec<(String, Column)>> {
    let rows = records.iter().map(fields).collect::<Option<Vec<_>>>()?;
    let column = |(k, (name, first)): (usize, &(Arc<str>, Data))| {
        let cells = rows.iter().map(|row| &row[k].1);
        let column = match first {
            Data::Tensor(tensor) => {
                let scalar = |cell: &Data| match cell {
                    Data::Tensor(tensor) => tensor.as_scalar(),
                    _ => None, // only scalars fit into a cell
                };
                numbers(tensor.elem(), &cells.map(scalar).collect::<Option<Vec<_>>>()?)
            }
            Data::Con { .. } => {
                let word = |cell: &Data| match cell {
                    Data::Con { name, args, .. } if args.is_empty() => Some(name.to_string()),
                    _ => None, // a constructor with arguments does not fit into a cell
                };
                Column::Words(cells.map(word).collect::<Option<Vec<_>>>()?)
            }
            _ => return None, // structures do not fit either
        };
        Some((name.to_string(), column))
    };
    rows.first()?.iter().enumerate().map(column).collect()
}

fn fields(record: &Data) -> Option<&[(Arc<str>, Data)]> {
    match record {
        Data::Record(fields) => Some(fields),
        _ => None, // each row must be a record
    }
}
