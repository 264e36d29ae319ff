//! Data as readable Lambada text. Matrices have one line per row, and arrays of records are tables
//! if they exceed a line; numbers in columns are aligned by their decimal points.

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

/// Width of a column: characters before the decimal points, and from them on.
#[derive(Clone, Copy, Default)]
struct Width {
    before: usize,
    after: usize,
}

impl Width {
    fn of(text: &str) -> Width {
        let is_number = text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
        let before = match text.find(['.', 'e']) {
            Some(point) if is_number => point,
            Some(_) | None => text.chars().count(),
        };
        Width { before, after: text.chars().count() - before }
    }

    fn or(self, other: Width) -> Width {
        Width { before: self.before.max(other.before), after: self.after.max(other.after) }
    }

    /// The least width with room for all.
    fn all<'a>(texts: impl Iterator<Item = &'a String>) -> Width {
        texts.map(|text| Width::of(text)).fold(Width::default(), Width::or)
    }

    fn total(self) -> usize {
        self.before + self.after
    }

    /// The spaces before and behind a text.
    fn around(self, text: &str) -> (String, String) {
        let own = Width::of(text);
        let spaces = |room: usize, used: usize| " ".repeat(room.saturating_sub(used));
        (spaces(self.before, own.before), spaces(self.after, own.after))
    }
}

/// Widths of a matrix's columns; empty for a vector.
fn column_widths(dims: &[usize], elements: &[String]) -> Vec<Width> {
    let columns = *dims.last().unwrap_or(&1);
    if dims.len() < 2 {
        return Vec::new();
    }
    (0..columns).map(|k| Width::all(elements.iter().skip(k).step_by(columns))).collect()
}

fn rows(
    dims: &[usize],
    elements: &[String],
    widths: &[Width],
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
fn row(elements: &[String], count: usize, widths: &[Width], column: usize, style: Style) -> String {
    let own = |k: usize| widths.get(k).map_or(elements[k].len(), |width| width.total());
    let length = (0..elements.len()).map(|k| own(k) + 2).sum::<usize>();
    let fits = style.width.is_none_or(|width| column + length <= width);
    let widest = match widths {
        [] => Width::all(elements.iter()),
        widths => widths.iter().copied().fold(Width::default(), Width::or),
    };
    let a_line = match style.width {
        Some(width) if !fits => (width.saturating_sub(column + 1) / (widest.total() + 2))
            .clamp(1, elements.len().max(1)),
        Some(_) | None => elements.len().max(1),
    };
    let width = |k: usize| if fits { widths.get(k).copied() } else { Some(widest) };
    let line = |(k, line): (usize, &[String])| {
        let width = |at: usize| width(k * a_line + at);
        joined(line, width)
    };
    let mut lines: Vec<String> = elements.chunks(a_line).enumerate().map(line).collect();
    let left = count - elements.len();
    if left > 0 {
        lines.push(more(left));
    }
    let separator = if !fits && lines.len() > 1 {
        format!(",\n{}", " ".repeat(column + 1))
    } else {
        ", ".to_string()
    };
    format!("[{}]", lines.join(&separator))
}

/// Elements with commas. The space behind a number follows its comma.
fn joined(elements: &[String], width: impl Fn(usize) -> Option<Width>) -> String {
    let mut out = String::new();
    for (k, element) in elements.iter().enumerate() {
        let (before, behind) = width(k).map(|width| width.around(element)).unwrap_or_default();
        out.push_str(&before);
        out.push_str(element);
        if k + 1 < elements.len() {
            out.push_str(", ");
            out.push_str(&behind);
        }
    }
    out
}

/// An array of records or tuples of scalars that exceeds a line, as a table: a header with the
/// places of the scalars, then one line per element.
fn table(data: &Data, style: Style) -> Option<String> {
    let Data::Array(records) = data else { return None };
    if flat(data, style, style.width?).is_some() {
        return None;
    }
    let first = records.first()?.seen();
    if !matches!(first, Data::Record(_) | Data::Tuple(_)) {
        return None;
    }
    let mut heads = Vec::new();
    cells(first, String::new(), style, &mut heads)?;
    let heads: Vec<String> = heads.into_iter().map(|(head, _)| head).collect();
    let mut columns: Vec<Vec<String>> = vec![Vec::new(); heads.len()];
    let shown = shown(records.len(), style);
    for record in &records[..shown] {
        let mut own = Vec::new();
        cells(record, String::new(), style, &mut own)?;
        columns.iter_mut().zip(own).for_each(|(column, (_, text))| column.push(text));
    }
    let mut lines = vec![String::new(); shown + 1];
    for (head, column) in heads.iter().zip(&columns) {
        let width = Width::all(column.iter());
        let total = width.total().max(head.chars().count());
        let texts = column.iter().map(|text| {
            let (before, behind) = width.around(text);
            format!("{before}{text}{behind}")
        });
        for (line, text) in lines.iter_mut().zip(std::iter::once(head.clone()).chain(texts)) {
            let gap = if line.is_empty() { "" } else { "  " };
            line.push_str(&format!("{gap}{text:>total$}"));
        }
    }
    let mut lines: Vec<String> = lines.iter().map(|line| line.trim_end().to_string()).collect();
    if shown < records.len() {
        lines.push(more(records.len() - shown));
    }
    Some(lines.join("\n"))
}

/// The scalars of an element, and constructors without arguments, each with its place: `mean`,
/// `state.x`, `.0`. `None` if there are others.
fn cells(value: &Data, place: String, style: Style, out: &mut Vec<(String, String)>) -> Option<()> {
    let inner = |name: &str| match &*place {
        "" => name.to_string(),
        place => format!("{place}.{name}"),
    };
    match value.seen() {
        Data::Record(fields) => {
            fields.iter().try_for_each(|(name, value)| cells(value, inner(name), style, out))
        }
        Data::Tuple(items) if !items.is_empty() => items
            .iter()
            .enumerate()
            .try_for_each(|(k, value)| cells(value, format!("{place}.{k}"), style, out)),
        Data::Tensor(tensor) => {
            out.push((place, shown_scalar(tensor.as_scalar()?, style)));
            Some(())
        }
        Data::Con { name, args, .. } if args.is_empty() => {
            out.push((place, name.to_string()));
            Some(())
        }
        Data::Con { .. } | Data::Tuple(_) => None,
        Data::Array(_) => None,
    }
}
