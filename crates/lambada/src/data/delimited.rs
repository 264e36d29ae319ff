//! Tables as text: `.csv` and `.tsv` files in and out.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use lambada_prim::{Data as Elements, Memory, Scalar, Tensor};
use lambada_source::Problem;

use super::json::overflows;
use super::table::{Column, Lines, Table};
use crate::messages::data as messages;

/// The characters that may separate columns.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// The spellings of a missing number.
const MISSING: [&str; 5] = ["", "NA", "N/A", "null", "?"];

/// Reads the table of a file within a size limit.
pub fn read_file(path: &Path, origin: &str, Memory { limit }: Memory) -> Result<Table, Problem> {
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|e| messages::io(path, "read", e))?;
    let read = file.take(limit.saturating_add(1)).read_to_string(&mut text);
    let length = read.map_err(|e| messages::io(path, "read", e))?;
    if length as u64 > limit {
        return Err(messages::too_large(origin, limit));
    }
    self::read(&text, origin)
}

/// Parses a table.
fn read(text: &str, origin: &str) -> Result<Table, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let count = |sign: &char| first.matches(*sign).count();
    let separator = SEPARATORS.into_iter().rev().max_by_key(count).unwrap_or(',');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator as u8)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    if let Some(line) = unclosed(text, separator) {
        let what = format!("a quotation mark on line {line} is not closed");
        return Err(messages::not_a_table(origin, &what));
    }
    let mut records = Vec::new();
    for record in reader.records() {
        records.push(record.map_err(|error| messages::not_a_table(origin, &wording(&error)))?);
    }
    let Some(first) = records.first() else {
        return Err(messages::not_a_table(origin, "it has no rows"));
    };
    let head = first.iter().any(|cell| number(cell).is_none() && !overflows(cell));
    let names: Vec<String> = match head {
        true => first.iter().map(str::to_string).collect(),
        false => (0..first.len()).map(|k| k.to_string()).collect(),
    };
    let mut seen = HashSet::with_capacity(names.len());
    if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(messages::repeated_column(origin, name));
    }
    let rows = &records[usize::from(head)..];
    let column = |k: usize| column(rows.iter().map(|row| row.get(k).unwrap_or_default()));
    let columns = names.into_iter().enumerate().map(|(k, name)| (name, column(k))).collect();
    let line = |row: &csv::StringRecord| row.position().map_or(0, |at| line(text, at));
    let lines = Lines { origin: origin.to_string(), of: rows.iter().map(line).collect() };
    Ok(Table { columns, rows: rows.len(), head, lines: Some(Arc::new(lines)) })
}

/// The line of an opening quotation mark without a closing one.
fn unclosed(text: &str, separator: char) -> Option<u64> {
    if !text.contains('"') {
        return None;
    }
    let (mut open, mut line, mut begins) = (None, 1, true);
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        line += u64::from(sign == '\n');
        match (open, sign) {
            (None, '"') if begins => open = Some(line),
            // A doubled quotation mark inside a cell is an escape.
            (Some(_), '"') if signs.next_if_eq(&'"').is_none() => open = None,
            _ => {}
        }
        begins = open.is_none() && (sign == separator || sign == '\n' || sign == '\r');
    }
    open
}

/// The line of a record; the position that the reader reports may precede empty lines.
fn line(text: &str, at: &csv::Position) -> u64 {
    let rest = text.as_bytes().iter().skip(at.byte() as usize);
    let empty = rest.take_while(|byte| matches!(**byte, b'\n' | b'\r'));
    at.line() + empty.filter(|byte| **byte == b'\n').count() as u64
}

/// The problem of a record, with its line.
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
    match MISSING.contains(&cell) {
        true => Some(f64::NAN),
        false => cell.parse().ok().filter(|_| !overflows(cell)),
    }
}

fn truth(cell: &str) -> Option<bool> {
    match cell {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Converts cells to the first type that fits all: integers, reals, truth values, words.
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

/// Encodes a table.
pub fn write(table: &Table) -> Result<Vec<u8>, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let wrong = |error: csv::Error| error.to_string();
    writer.write_record(table.columns.iter().map(|(name, _)| name)).map_err(wrong)?;
    for row in 0..table.rows {
        let cells = table.columns.iter().map(|(_, column)| match column {
            Column::Numbers(tensor) => cell(tensor.data.get(row)),
            Column::Words(words) => words[row].clone(),
            Column::Foreign(_) => String::new(),
        });
        writer.write_record(cells).map_err(wrong)?;
    }
    writer.into_inner().map_err(|error| error.to_string())
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
                Column::Foreign(what) => format!("{name} {what}"),
            })
            .collect();
        assert_eq!(kinds, ["x real", "n int", "ok bool", "kind AB"]);
        let lines = |text: &str| read(text, "t").ok().and_then(|t| Some(t.lines?.of.clone()));
        assert_eq!(lines("x,k\n1,\"a\nb\"\n\n2,c\n3,d"), Some(vec![2, 5, 6]));
        assert_eq!(lines("1\n2\n"), Some(vec![1, 2]));
        assert!(!read("1,2\n3,4\n", "t").expect("a table").head);
        assert!(read("a,b\n", "t").is_ok_and(|table| table.rows == 0));
    }

    #[test]
    fn there_may_be_many_columns() {
        let names: Vec<String> = (0..200_000).map(|k| format!("column_{k}")).collect();
        let cells = vec!["1.5"; names.len()].join(",");
        let table = read(&format!("{}\n{cells}\n", names.join(",")), "t").expect("a table");
        assert_eq!((table.columns.len(), table.rows), (names.len(), 1));
    }

    #[test]
    fn what_is_no_table_is_told() {
        let told = |text: &str| read(text, "`t.csv`").map(|_| ()).expect_err(text).title;
        assert!(told("").contains("it has no rows"));
        assert!(told("a,b\n1,2\n3\n").contains("line 3 has 1 cell "), "{}", told("a,b\n1,2\n3\n"));
        assert!(told("a,a\n1,2\n").contains("two columns"));
        for open in ["a,b\n1,\"2\n3,4\n", "a,b\r\n1,\"2\"\"\r\n", "a,b\n1,\""] {
            assert!(told(open).ends_with("a quotation mark on line 2 is not closed"), "{open}");
        }
        let closed = "a;b\n\"1\"\"\n;\";5\" pipe\n\"\";\"x\"\n";
        assert!(read(closed, "t").is_ok_and(|table| table.rows == 2));
    }
}
