//! Tables as text, after comments with the attributes, as `# seed = 1`.

use ::csv::{ByteRecord, ReaderBuilder, WriterBuilder};

use super::table::Table;
use crate::draws::Wrong;

/// The text of a table.
pub(super) fn write(table: &Table) -> Result<Vec<u8>, Wrong> {
    let mut bytes = Vec::new();
    for (name, value) in &table.attributes {
        bytes.extend(
            format!("# {} = {}\n", name.replace(['\n', '='], " "), one_line(value)).bytes(),
        );
    }
    let mut writer = WriterBuilder::new().from_writer(bytes);
    writer.write_record(&table.names).map_err(Wrong::format)?;
    let rows = table.columns.first().map_or(0, Vec::len);
    for row in 0..rows {
        let cells = table.columns.iter().map(|column| number(column[row]));
        writer.write_record(cells).map_err(Wrong::format)?;
    }
    writer.into_inner().map_err(Wrong::format)
}

/// The shortest decimals that are read as the same number.
fn number(x: f64) -> String {
    match x.fract() == 0.0 && x.abs() < 1e15 && !(x == 0.0 && x.is_sign_negative()) {
        true => format!("{x:.0}"),
        false => format!("{x:?}"),
    }
}

fn one_line(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn many_lines(value: &str) -> String {
    let mut out = String::new();
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            _ => out.push(letter),
        }
    }
    out
}

/// The table of a text.
pub(super) fn read(bytes: &[u8]) -> Result<Table, Wrong> {
    let mut table = Table { attributes: attributes(bytes), ..Table::default() };
    let mut reader = ReaderBuilder::new().comment(Some(b'#')).from_reader(bytes);
    let broken = |error: ::csv::Error| {
        let line = error.position().map_or(1, |position| position.line() as usize);
        let why = match error.kind() {
            ::csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("{len} fields, where the head has {expected_len}")
            }
            _ => error.to_string(),
        };
        Wrong::Text { line, column: 0, why }
    };
    let head = reader.byte_headers().map_err(broken)?.clone();
    if head.is_empty() {
        return Err(Wrong::Missing { part: "a line with the names of the columns".into() });
    }
    for (k, name) in head.iter().enumerate() {
        let name = std::str::from_utf8(name).unwrap_or_default().trim().to_string();
        if table.names.contains(&name) {
            let why = format!("a second column is called `{name}`");
            return Err(Wrong::Text { line: 1, column: k + 1, why });
        }
        table.names.push(name);
    }
    table.columns = vec![Vec::new(); table.names.len()];
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(broken)? {
        for (k, (cell, column)) in record.iter().zip(&mut table.columns).enumerate() {
            column.push(parsed(cell).ok_or_else(|| {
                let line = record.position().map_or(1, |position| position.line() as usize);
                let text = String::from_utf8_lossy(cell);
                let why = format!("`{text}` in the column `{}` is no number", table.names[k]);
                Wrong::Text { line, column: k + 1, why }
            })?);
        }
    }
    Ok(table)
}

/// A number; also a truth value, and a missing one as programs of statistics write it.
fn parsed(cell: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(cell).ok()?.trim();
    match text {
        "" | "NA" => Some(f64::NAN),
        "True" | "TRUE" | "true" => Some(1.0),
        "False" | "FALSE" | "false" => Some(0.0),
        _ => text.parse().ok(),
    }
}

/// The attributes in the comments before the head. CmdStan indents its own, and marks defaults.
fn attributes(bytes: &[u8]) -> Vec<(String, String)> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let comments = lines.map_while(|line| line.strip_prefix(b"#"));
    let attribute = |line: &[u8]| {
        let text = std::str::from_utf8(line).ok()?;
        let (name, value) = text.split_once(" = ")?;
        Some((name.trim().to_string(), many_lines(value.trim_end_matches('\r'))))
    };
    comments.filter_map(attribute).collect()
}
