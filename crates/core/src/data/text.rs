//! Data as readable Lambada text. Matrices have a line for each row, aligned below the first.

use lambada_prim::{Scalar, Tensor};
use lambada_source::stack;

use super::Data;

/// The text of a value that begins a line.
pub(super) fn text(data: &Data) -> String {
    let mut writer = Writer { out: String::new(), column: 0, tall: is_tall(data) };
    writer.data(data);
    writer.out
}

struct Writer {
    out: String,
    /// That of the next character.
    column: usize,
    /// Does the text have more than one line?
    tall: bool,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.column = match text.rsplit_once('\n') {
            Some((_, last)) => last.chars().count(),
            None => self.column + text.chars().count(),
        };
        self.out.push_str(text);
    }

    fn data(&mut self, data: &Data) {
        match data {
            Data::Tensor(tensor) => self.push(&tensor_text(tensor, self.column)),
            Data::Tuple(items) => self.list("(", items.iter().map(|item| ("", item)), ")"),
            Data::Record(fields) => {
                self.list("{", fields.iter().map(|(name, item)| (&**name, item)), "}")
            }
            Data::Array(items) => self.list("[", items.iter().map(|item| ("", item)), "]"),
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
        let atomic = match arg {
            Data::Tensor(tensor) => tensor.as_scalar().is_none_or(|x| !show(x).starts_with('-')),
            Data::Tuple(_) | Data::Record(_) | Data::Array(_) => true,
            Data::Con { args, .. } => args.is_empty(),
        };
        if atomic {
            return self.data(arg);
        }
        self.push("(");
        stack::deeper(|| self.data(arg));
        self.push(")");
    }

    /// Items between brackets: on one line if each of them is on one.
    fn list<'a>(
        &mut self,
        open: &str,
        items: impl Iterator<Item = (&'a str, &'a Data)> + Clone,
        close: &str,
    ) {
        let tall = self.tall && items.clone().any(|(_, item)| is_tall(item));
        self.push(open);
        let column = self.column;
        for (k, (label, item)) in items.enumerate() {
            match (k, tall) {
                (0, _) => {}
                (_, true) => self.push(&format!(",\n{}", " ".repeat(column))),
                (_, false) => self.push(", "),
            }
            if !label.is_empty() {
                self.push(&format!("{label} = "));
            }
            stack::deeper(|| self.data(item));
        }
        self.push(close);
    }
}

/// Does its text have more than one line?
fn is_tall(data: &Data) -> bool {
    match data {
        Data::Tensor(tensor) => {
            let outer = tensor.dims.split_last().map_or(&[][..], |(_, outer)| outer);
            outer.iter().take_while(|size| **size > 0).any(|size| *size > 1)
        }
        Data::Tuple(items) | Data::Array(items) => any_tall(items),
        Data::Record(fields) => fields.iter().any(|(_, item)| stack::deeper(|| is_tall(item))),
        Data::Con { args, .. } => any_tall(args),
    }
}

fn any_tall(items: &[Data]) -> bool {
    items.iter().any(|item| stack::deeper(|| is_tall(item)))
}

/// A scalar as Lambada writes it.
pub(super) fn show(value: Scalar) -> String {
    match value {
        Scalar::Real(x) if x.is_nan() => "nan".to_string(),
        Scalar::Real(x) => format!("{x:?}"),
        Scalar::Int(n) => n.to_string(),
        Scalar::Bool(b) => b.to_string(),
    }
}

fn tensor_text(tensor: &Tensor, column: usize) -> String {
    let elements: Vec<String> = (0..tensor.data.len()).map(|k| show(tensor.data.get(k))).collect();
    let widths = column_widths(&tensor.dims, &elements);
    rows(&tensor.dims, &elements, &widths, column)
}

/// How wide the columns of a matrix are, so that they align; nothing for a vector.
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

fn rows(dims: &[usize], elements: &[String], widths: &[usize], column: usize) -> String {
    match dims {
        [] => elements[0].clone(),
        [_] => {
            let row =
                elements.iter().zip(widths).map(|(element, width)| format!("{element:>width$}"));
            format!("[{}]", row.collect::<Vec<_>>().join(", "))
        }
        [outer, inner @ ..] => {
            let size: usize = inner.iter().product();
            let parts = (0..*outer)
                .map(|k| rows(inner, &elements[k * size..(k + 1) * size], widths, column + 1));
            format!(
                "[{}]",
                parts.collect::<Vec<_>>().join(&format!(",\n{}", " ".repeat(column + 1)))
            )
        }
    }
}
