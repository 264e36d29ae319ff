//! Data as readable Lambada text. Matrices have one line per row, aligned below the first.

use lambada_prim::{Precision, Scalar, Tensor};
use lambada_source::stack;

use super::Data;

/// Display options for values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Limit on the length of lines, where values can be broken. [default: none]
    pub width: Option<usize>,
    /// Limit on the significant digits of reals. [default: none]
    pub digits: Option<usize>,
    /// The format of reals. Without `digits`, a real has the fewest digits that identify it in this
    /// format.
    pub reals: Precision,
    /// Limit on the displayed elements of an array; the number of the others is shown.
    /// [default: none]
    pub most: Option<usize>,
}

/// The text of a value that begins a line.
pub(super) fn text(data: &Data, style: Style) -> String {
    if let Some(table) = table(data, style) {
        return table;
    }
    let tall = flat(data, style, usize::MAX).is_none() || style.width.is_some();
    let mut writer = Writer { out: String::new(), column: 0, style, tall };
    writer.data(data);
    writer.out
}

struct Writer {
    out: String,
    /// Column of the next character.
    column: usize,
    style: Style,
    /// Whether the text may have several lines.
    tall: bool,
}

/// An item of a list, with its label.
type Item<'a> = (&'a str, &'a Data);

impl Writer {
    fn push(&mut self, text: &str) {
        self.column = match text.rsplit_once('\n') {
            Some((_, last)) => last.chars().count(),
            None => self.column + text.chars().count(),
        };
        self.out.push_str(text);
    }

    fn data(&mut self, data: &Data) {
        let data = data.seen();
        match data {
            Data::Tensor(tensor) => self.push(&tensor_text(tensor, self.column, self.style)),
            Data::Tuple(items) => {
                self.list(data, "(", items.iter().map(|item| ("", item)), 0, ")");
            }
            Data::Record(fields) => {
                let fields = fields.iter().map(|(name, item)| (&**name, item));
                self.list(data, "{", fields, 0, "}");
            }
            Data::Array(items) => {
                let shown = shown(items.len(), self.style);
                let left = items.len() - shown;
                let items = items[..shown].iter().map(|item| ("", item));
                self.list(data, "[", items, left, "]");
            }
            Data::Con { name, tag: _, args } => {
                self.push(name);
                for arg in args.iter() {
                    self.push(" ");
                    self.argument(arg);
                }
            }
        }
    }

    /// An argument of a constructor, in parentheses where it is not atomic.
    fn argument(&mut self, arg: &Data) {
        if is_atomic(arg) {
            return self.data(arg);
        }
        self.push("(");
        stack::deeper(|| self.data(arg));
        self.push(")");
    }

    /// Items between brackets, then the number of items left out: on one line if each item is on
    /// one line and all fit.
    fn list<'a>(
        &mut self,
        whole: &Data,
        open: &str,
        items: impl Iterator<Item = Item<'a>>,
        left: usize,
        close: &str,
    ) {
        let room = self.style.width.map_or(usize::MAX, |width| width.saturating_sub(self.column));
        let tall = self.tall && flat(whole, self.style, room).is_none();
        self.push(open);
        let column = self.column;
        let separator = if tall { format!(",\n{}", " ".repeat(column)) } else { ", ".to_string() };
        for (k, (label, item)) in items.enumerate() {
            if k > 0 {
                self.push(&separator);
            }
            if !label.is_empty() {
                self.push(&format!("{label} = "));
            }
            stack::deeper(|| self.data(item));
        }
        if left > 0 {
            self.push(&separator);
            self.push(&more(left));
        }
        self.push(close);
    }
}

/// Number of elements to display.
fn shown(count: usize, style: Style) -> usize {
    style.most.map_or(count, |most| count.min(most))
}

/// Text in place of elements left out.
fn more(count: usize) -> String {
    format!("… {count} more")
}

fn is_atomic(arg: &Data) -> bool {
    match arg.seen() {
        Data::Tensor(tensor) => tensor.as_scalar().is_none_or(|x| !show(x).starts_with('-')),
        Data::Tuple(_) | Data::Record(_) | Data::Array(_) => true,
        Data::Con { args, .. } => args.is_empty(),
    }
}

/// Width of a value on one line, if it fits. Examines no more of the value than fits.
fn flat(data: &Data, style: Style, room: usize) -> Option<usize> {
    match data.seen() {
        Data::Tensor(tensor) => flat_tensor(tensor, style, room),
        Data::Tuple(items) => flat_all(items.iter().map(|item| ("", item)), style, room),
        Data::Array(items) => {
            let items = &items[..shown(items.len(), style)];
            flat_all(items.iter().map(|item| ("", item)), style, room)
        }
        Data::Record(fields) => {
            flat_all(fields.iter().map(|(name, item)| (&**name, item)), style, room)
        }
        Data::Con { name, args, .. } => {
            let mut used = name.chars().count();
            for arg in args.iter() {
                used += 1 + 2 * usize::from(!is_atomic(arg));
                used += stack::deeper(|| flat(arg, style, room.checked_sub(used)?))?;
            }
            (used <= room).then_some(used)
        }
    }
}

fn flat_all<'a>(items: impl Iterator<Item = Item<'a>>, style: Style, room: usize) -> Option<usize> {
    let mut used = 2;
    for (k, (label, item)) in items.enumerate() {
        let label = if label.is_empty() { 0 } else { label.chars().count() + 3 };
        used += label + 2 * usize::from(k > 0);
        used += stack::deeper(|| flat(item, style, room.checked_sub(used)?))?;
    }
    (used <= room).then_some(used)
}

fn flat_tensor(tensor: &Tensor, style: Style, room: usize) -> Option<usize> {
    let outer = tensor.dims.split_last().map_or(&[][..], |(_, outer)| outer);
    if outer.iter().take_while(|size| **size > 0).any(|size| *size > 1) {
        return None;
    }
    let mut used = 2 * tensor.dims.len();
    for k in 0..shown(tensor.data.len(), style) {
        if used > room {
            return None;
        }
        used += 2 * usize::from(k > 0) + shown_scalar(tensor.data.get(k), style).len();
    }
    (used <= room).then_some(used)
}

/// A scalar in Lambada syntax.
pub(super) fn show(value: Scalar) -> String {
    match value {
        Scalar::Real(x) if x.is_nan() => "nan".to_string(),
        Scalar::Real(x) => format!("{x:?}"),
        Scalar::Int(n) => n.to_string(),
        Scalar::Bool(b) => b.to_string(),
    }
}

/// A scalar with the number of digits in the style.
fn shown_scalar(value: Scalar, style: Style) -> String {
    match (value, style.digits) {
        (Scalar::Real(x), Some(digits)) if x.is_finite() => {
            let rounded = format!("{x:.*e}", digits.clamp(1, 17) - 1).parse().unwrap_or(x);
            show(Scalar::Real(rounded))
        }
        (Scalar::Real(x), None) => show(Scalar::Real(style.reals.decimal(x))),
        (value, _) => show(value),
    }
}

fn tensor_text(tensor: &Tensor, column: usize, style: Style) -> String {
    let elements: Vec<String> = match &tensor.dims[..] {
        [count] => (0..shown(*count, style)).collect::<Vec<_>>(),
        _ => (0..tensor.data.len()).collect(),
    }
    .into_iter()
    .map(|k| shown_scalar(tensor.data.get(k), style))
    .collect();
    let widths = column_widths(&tensor.dims, &elements);
    rows(&tensor.dims, &elements, &widths, column, style)
}

/// Widths of a matrix's columns, for alignment; empty for a vector.
fn column_widths(dims: &[usize], elements: &[String]) -> Vec<usize> {
    let columns = *dims.last().unwrap_or(&1);
    let mut widths = vec![0; columns];
    if dims.len() >= 2 {
        for (k, element) in elements.iter().enumerate() {
            widths[k % columns] = widths[k % columns].max(element.len());
        }
    }
    widths
}

fn rows(
    dims: &[usize],
    elements: &[String],
    widths: &[usize],
    column: usize,
    style: Style,
) -> String {
    match dims {
        [] => elements[0].clone(),
        [count] => row(&elements[..shown(*count, style)], *count, widths, column, style),
        [outer, inner @ ..] => {
            let size: usize = inner.iter().product();
            let shown = shown(*outer, style);
            let part = |k: usize| {
                rows(inner, &elements[k * size..(k + 1) * size], widths, column + 1, style)
            };
            let mut parts: Vec<String> = (0..shown).map(part).collect();
            if shown < *outer {
                parts.push(more(outer - shown));
            }
            format!("[{}]", parts.join(&format!(",\n{}", " ".repeat(column + 1))))
        }
    }
}

/// A row of elements. If it exceeds the line, it is broken into lines with aligned columns.
fn row(elements: &[String], count: usize, widths: &[usize], column: usize, style: Style) -> String {
    let padded = |(element, width): (&String, &usize)| format!("{element:>width$}");
    let mut parts: Vec<String> = elements.iter().zip(widths).map(padded).collect();
    let length = parts.iter().map(|part| part.len() + 2).sum::<usize>();
    let widest = parts.iter().map(String::len).max().unwrap_or(0);
    let fits = style.width.is_none_or(|width| column + length <= width);
    let a_line = match style.width {
        Some(width) if !fits => (width.saturating_sub(column + 1) / (widest + 2)).max(1),
        Some(_) | None => usize::MAX,
    };
    if !fits {
        parts = parts.iter().map(|part| format!("{part:>widest$}")).collect();
    }
    let left = count - elements.len();
    let mut lines: Vec<String> = parts.chunks(a_line).map(|line| line.join(", ")).collect();
    if left > 0 {
        lines.push(more(left));
    }
    let separator = if lines.len() > 1 && !fits || left > 0 && a_line < usize::MAX {
        format!(",\n{}", " ".repeat(column + 1))
    } else {
        ", ".to_string()
    };
    format!("[{}]", lines.join(&separator))
}

/// An array of records of scalars that exceeds a line, as a table: a header with the field names,
/// then one line per record.
fn table(data: &Data, style: Style) -> Option<String> {
    let Data::Array(records) = data else { return None };
    if flat(data, style, style.width?).is_some() {
        return None;
    }
    let Data::Record(fields) = records.first()?.seen() else { return None };
    let mut columns: Vec<Vec<String>> =
        fields.iter().map(|(name, _)| vec![name.to_string()]).collect();
    for record in &records[..shown(records.len(), style)] {
        let Data::Record(fields) = record else { return None };
        for (column, (_, value)) in columns.iter_mut().zip(fields) {
            column.push(cell(value, style)?);
        }
    }
    let width = |column: &Vec<String>| column.iter().map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = columns.iter().map(|column| width(column).unwrap_or(0)).collect();
    let count = columns.first()?.len();
    let line = |k: usize| {
        let cells = columns.iter().zip(&widths);
        let cells = cells.map(|(column, width)| format!("{:>width$}", column[k]));
        cells.collect::<Vec<_>>().join("  ")
    };
    let mut lines: Vec<String> = (0..count).map(line).collect();
    if count - 1 < records.len() {
        lines.push(more(records.len() - (count - 1)));
    }
    Some(lines.join("\n"))
}

/// A scalar, or a constructor without arguments.
fn cell(value: &Data, style: Style) -> Option<String> {
    match value.seen() {
        Data::Tensor(tensor) => Some(shown_scalar(tensor.as_scalar()?, style)),
        Data::Con { name, args, .. } if args.is_empty() => Some(name.to_string()),
        Data::Con { .. } | Data::Tuple(_) => None,
        Data::Record(_) | Data::Array(_) => None,
    }
}
