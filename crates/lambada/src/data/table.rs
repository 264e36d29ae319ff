//! Tables: CSV files in and out. A column is an array under its name; the whole table, under the name of the file, is an array of records, a matrix, or an
//! array of tuples, as the parameter wants it.

use std::path::Path;

use lambada_core::data::Data;
use lambada_prim::{Data as Elements, Scalar, Tensor};
use lambada_source::Problem;

use crate::messages::data as messages;

/// Columns of one length, by name.
#[derive(Clone, Debug)]
pub struct Table {
    /// The columns. Those of a table without a head are called by their numbers.
    pub columns: Vec<(String, Column)>,
    /// How many rows there are.
    pub rows: usize,
    /// Does the file name the columns?
    pub head: bool,
}

/// What a column holds.
#[derive(Clone, Debug)]
pub enum Column {
    /// Reals, integers or truth values.
    Numbers(Tensor),
    /// Anything else: names of constructors.
    Words(Vec<String>),
}

/// The signs that may separate columns.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// What stands for a number that is missing.
const MISSING: [&str; 5] = ["", "NA", "N/A", "null", "?"];

/// The table of a text.
pub fn read(text: &str, origin: &str) -> Result<Table, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let count = |sign: &char| first.matches(*sign).count();
    let separator = SEPARATORS.into_iter().rev().max_by_key(count).unwrap_or(',');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator as u8)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut records = Vec::new();
    for record in reader.records() {
        records.push(record.map_err(|error| messages::not_a_table(origin, &wording(&error)))?);
    }
    let Some(first) = records.first() else {
        return Err(messages::not_a_table(origin, "it has no rows"));
    };
    let head = first.iter().any(|cell| number(cell).is_none());
    let names: Vec<String> = match head {
        true => first.iter().map(str::to_string).collect(),
        false => (0..first.len()).map(|k| k.to_string()).collect(),
    };
    if let Some(name) =
        names.iter().enumerate().find_map(|(k, n)| names[..k].contains(n).then_some(n))
    {
        return Err(messages::repeated_column(origin, name));
    }
    let rows = &records[usize::from(head)..];
    let column = |k: usize| column(rows.iter().map(|row| row.get(k).unwrap_or_default()));
    let columns = names.into_iter().enumerate().map(|(k, name)| (name, column(k))).collect();
    Ok(Table { columns, rows: rows.len(), head })
}

/// What is wrong with a record, and on which line.
fn wording(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            let cells = lambada_source::counted(*len as usize, "cell");
            format!("line {line} has {cells} where the lines before it have {expected_len}")
        }
        _ => error.to_string(),
    }
}

fn number(cell: &str) -> Option<f64> {
    if MISSING.contains(&cell) { Some(f64::NAN) } else { cell.parse().ok() }
}

fn truth(cell: &str) -> Option<bool> {
    match cell {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Cells with the first type that all of them have.
fn column<'t>(cells: impl Iterator<Item = &'t str> + Clone) -> Column {
    let tensor = |data: Elements| Column::Numbers(Tensor { dims: vec![data.len()], data });
    if let Some(ints) = cells.clone().map(|cell| cell.parse::<i64>().ok()).collect() {
        return tensor(Elements::Int(ints));
    }
    if let Some(reals) = cells.clone().map(number).collect() {
        return tensor(Elements::Real(reals));
    }
    if let Some(truths) = cells.clone().map(truth).collect() {
        return tensor(Elements::Bool(truths));
    }
    Column::Words(cells.map(str::to_string).collect())
}

impl Table {
    /// What it looks like as data.
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

/// A result as a table.
pub fn write(path: &Path, data: &Data, arrays: &[(String, Tensor)]) -> Result<Vec<u8>, Problem> {
    let columns = match data {
        Data::Array(records) => records_as_columns(records),
        Data::Tensor(_) | Data::Tuple(_) | Data::Record(_) | Data::Con { .. } => arrays
            .iter()
            .map(|(name, tensor)| columns(name, tensor))
            .collect::<Option<Vec<_>>>()
            .map(|c| c.concat()),
    };
    let columns = columns.ok_or_else(messages::not_for_csv)?;
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    if columns.iter().any(|(_, cells)| cells.len() != rows) {
        return Err(messages::not_for_csv());
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let wrong = |error: csv::Error| messages::io(path, "write", error);
    writer.write_record(columns.iter().map(|(name, _)| name)).map_err(wrong)?;
    for row in 0..rows {
        writer.write_record(columns.iter().map(|(_, cells)| &cells[row])).map_err(wrong)?;
    }
    writer.into_inner().map_err(|error| messages::io(path, "write", error))
}

/// A name and the cells below it.
type Cells = (String, Vec<String>);

/// A vector is a column, a matrix several, a scalar a cell.
fn columns(name: &str, tensor: &Tensor) -> Option<Vec<Cells>> {
    let cell = |k: usize| cell(tensor.data.get(k));
    match tensor.dims[..] {
        [] => Some(vec![(name.to_string(), vec![cell(0)])]),
        [count] => Some(vec![(name.to_string(), (0..count).map(cell).collect())]),
        [rows, count] => {
            let column = |j: usize| {
                let cells = (0..rows).map(|i| cell(i * count + j)).collect();
                (format!("{name}.{j}"), cells)
            };
            Some((0..count).map(column).collect())
        }
        _ => None,
    }
}

fn records_as_columns(records: &[Data]) -> Option<Vec<Cells>> {
    let Data::Record(first) = records.first()? else { return None };
    let mut columns: Vec<Cells> =
        first.iter().map(|(name, _)| (name.to_string(), Vec::new())).collect();
    for record in records {
        let Data::Record(fields) = record else { return None };
        for ((_, cells), (_, value)) in columns.iter_mut().zip(fields) {
            cells.push(match value {
                Data::Tensor(tensor) => cell(tensor.as_scalar()?),
                Data::Con { name, args, .. } if args.is_empty() => name.to_string(),
                Data::Con { .. } | Data::Tuple(_) => return None,
                Data::Record(_) | Data::Array(_) => return None,
            });
        }
    }
    Some(columns)
}

fn cell(value: Scalar) -> String {
    match value {
        Scalar::Real(x) if x.is_nan() => "nan".to_string(),
        Scalar::Real(x) => format!("{x:?}"),
        Scalar::Int(n) => n.to_string(),
        Scalar::Bool(b) => b.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_first_type_that_fits() {
        let table = read("x;n;ok;kind\n1.5;2;true;A\nNA;3;false;B\n", "t").expect("a table");
        let kinds: Vec<String> = table
            .columns
            .iter()
            .map(|(name, column)| match column {
                Column::Numbers(tensor) => format!("{name} {}", tensor.elem()),
                Column::Words(words) => format!("{name} {}", words.join("")),
            })
            .collect();
        assert_eq!(kinds, ["x real", "n int", "ok bool", "kind AB"]);
        assert!(!read("1,2\n3,4\n", "t").expect("a table").head);
        assert!(read("a,b\n", "t").is_ok_and(|table| table.rows == 0));
    }

    #[test]
    fn what_is_no_table_is_told() {
        let told = |text: &str| read(text, "`t.csv`").map(|_| ()).expect_err(text).title;
        assert!(told("").contains("it has no rows"));
        assert!(told("a,b\n1,2\n3\n").contains("line 3 has 1 cell "), "{}", told("a,b\n1,2\n3\n"));
        assert!(told("a,a\n1,2\n").contains("two columns"));
    }
}
