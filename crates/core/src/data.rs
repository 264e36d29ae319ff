//! First-order values at the boundary: what programs take and give.

use std::fmt;
use std::rc::Rc;

use lambada_prim::{Data as Elements, Scalar, Tensor};

/// A first-order value.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// A scalar (rank 0) or an array of scalars of any rank.
    Tensor(Tensor),
    /// `(a, b)`; `()` has no components.
    Tuple(Vec<Data>),
    /// `{x = a, y = b}`, alphabetical.
    Record(Vec<(Rc<str>, Data)>),
    /// An array whose elements are tuples, records or variants, or arrays of those.
    Array(Vec<Data>),
    /// A constructor and its arguments.
    Con {
        /// Its name.
        name: Rc<str>,
        /// Its position in the definition of the type.
        tag: usize,
        /// Its arguments.
        args: Vec<Data>,
    },
}

impl From<Scalar> for Data {
    fn from(value: Scalar) -> Data {
        Data::Tensor(Tensor::scalar(value))
    }
}

impl From<f64> for Data {
    fn from(value: f64) -> Data {
        Scalar::Real(value).into()
    }
}

impl From<i64> for Data {
    fn from(value: i64) -> Data {
        Scalar::Int(value).into()
    }
}

impl From<bool> for Data {
    fn from(value: bool) -> Data {
        Scalar::Bool(value).into()
    }
}

impl From<Vec<f64>> for Data {
    fn from(values: Vec<f64>) -> Data {
        Data::Tensor(Tensor::reals(vec![values.len()], values))
    }
}

impl From<Vec<i64>> for Data {
    fn from(values: Vec<i64>) -> Data {
        Data::Tensor(Tensor { dims: vec![values.len()], data: Elements::Int(values) })
    }
}

impl Data {
    /// `()`
    pub fn unit() -> Data {
        Data::Tuple(Vec::new())
    }

    /// A matrix of reals, from its rows, which have equal lengths.
    pub fn matrix(rows: &[&[f64]]) -> Data {
        let columns = rows.first().map_or(0, |row| row.len());
        Data::Tensor(Tensor::reals(vec![rows.len(), columns], rows.concat()))
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<Scalar> {
        match self {
            Data::Tensor(tensor) => tensor.as_scalar(),
            Data::Tuple(_) | Data::Record(_) | Data::Array(_) | Data::Con { .. } => None,
        }
    }

    /// Is it equal but for reals that differ by at most `rtol` relative to the larger (absolutely, if both are below 1)?
    /// NaN equals NaN. Names the first position that differs otherwise.
    pub fn close(&self, other: &Data, rtol: f64) -> Result<(), String> {
        close(self, other, rtol)
    }
}

/// See [`Data::close`].
pub fn close(a: &Data, b: &Data, rtol: f64) -> Result<(), String> {
    differ("", a, b, rtol).map_or(Ok(()), Err)
}

/// The first position at which two values differ, below `path`.
fn differ(path: &str, a: &Data, b: &Data, rtol: f64) -> Option<String> {
    let here =
        |what: String| Some(if path.is_empty() { what } else { format!("at {path}: {what}") });
    match (a, b) {
        (Data::Tensor(a), Data::Tensor(b)) => differ_tensor(path, a, b, rtol),
        (Data::Tuple(xs), Data::Tuple(ys)) if xs.len() == ys.len() => {
            differ_all(xs, ys, rtol, |k| format!("{path}.{k}"))
        }
        (Data::Array(xs), Data::Array(ys)) if xs.len() == ys.len() => {
            differ_all(xs, ys, rtol, |k| format!("{path}[{k}]"))
        }
        (Data::Array(xs), Data::Array(ys)) => {
            here(format!("the sizes {} and {} differ", xs.len(), ys.len()))
        }
        (Data::Record(xs), Data::Record(ys))
            if xs.iter().map(|(name, _)| name).eq(ys.iter().map(|(name, _)| name)) =>
        {
            xs.iter()
                .zip(ys)
                .find_map(|((name, x), (_, y))| differ(&format!("{path}.{name}"), x, y, rtol))
        }
        (
            Data::Con { name, tag, args: xs },
            Data::Con { name: other, tag: other_tag, args: ys },
        ) => {
            if tag != other_tag || xs.len() != ys.len() {
                return here(format!("the constructors {name} and {other} differ"));
            }
            differ_all(xs, ys, rtol, |k| format!("{path}.{name}.{k}"))
        }
        (
            Data::Tensor(_) | Data::Tuple(_) | Data::Record(_) | Data::Array(_) | Data::Con { .. },
            _,
        ) => here(format!("{a} and {b} are of different kinds")),
    }
}

fn differ_all(
    xs: &[Data],
    ys: &[Data],
    rtol: f64,
    path: impl Fn(usize) -> String,
) -> Option<String> {
    xs.iter().zip(ys).enumerate().find_map(|(k, (x, y))| differ(&path(k), x, y, rtol))
}

fn differ_tensor(path: &str, a: &Tensor, b: &Tensor, rtol: f64) -> Option<String> {
    let at = |place: String| if place.is_empty() { String::new() } else { format!("at {place}: ") };
    if a.dims != b.dims {
        return Some(format!(
            "{}the sizes {:?} and {:?} differ",
            at(path.to_string()),
            a.dims,
            b.dims
        ));
    }
    if a.elem() != b.elem() {
        return Some(format!("{}{} and {} differ", at(path.to_string()), a.elem(), b.elem()));
    }
    let k = (0..a.data.len()).find(|&k| !same(a.data.get(k), b.data.get(k), rtol))?;
    let place = format!("{path}{}", position(&a.dims, k));
    Some(format!("{}{} and {} differ", at(place), show(a.data.get(k)), show(b.data.get(k))))
}

fn same(a: Scalar, b: Scalar, rtol: f64) -> bool {
    match (a, b) {
        (Scalar::Real(a), Scalar::Real(b)) => {
            a == b
                || a.is_nan() && b.is_nan()
                || (a - b).abs() <= rtol * a.abs().max(b.abs()).max(1.0) && (a - b).is_finite()
        }
        (Scalar::Real(_) | Scalar::Int(_) | Scalar::Bool(_), _) => a == b,
    }
}

/// The indices of the k-th element, as `[i, j]`.
fn position(dims: &[usize], mut k: usize) -> String {
    if dims.is_empty() {
        return String::new();
    }
    let mut indices = Vec::new();
    for dim in dims.iter().rev() {
        indices.push((k % dim).to_string());
        k /= dim;
    }
    indices.reverse();
    format!("[{}]", indices.join(", "))
}

/// A scalar as Lambada writes it.
fn show(value: Scalar) -> String {
    match value {
        Scalar::Real(x) if x.is_nan() => "nan".to_string(),
        Scalar::Real(x) => format!("{x:?}"),
        Scalar::Int(n) => n.to_string(),
        Scalar::Bool(b) => b.to_string(),
    }
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self, 0))
    }
}

/// Readable Lambada text. Matrices have a line for each row, aligned below the first, which begins at column `column`.
fn text(data: &Data, column: usize) -> String {
    match data {
        Data::Tensor(tensor) => tensor_text(tensor, column),
        Data::Tuple(items) => {
            list("(", items.iter().map(|item| (String::new(), item)), ")", column)
        }
        Data::Record(fields) => {
            list("{", fields.iter().map(|(name, item)| (format!("{name} = "), item)), "}", column)
        }
        Data::Array(items) => {
            list("[", items.iter().map(|item| (String::new(), item)), "]", column)
        }
        Data::Con { name, tag: _, args } => {
            let mut out = name.to_string();
            for arg in args {
                out.push(' ');
                let start = end_column(&out, column);
                let plain = text(arg, start);
                let atomic = !plain.starts_with('-')
                    && !matches!(arg, Data::Con { args, .. } if !args.is_empty());
                out += &if atomic { plain } else { format!("({})", text(arg, start + 1)) };
            }
            out
        }
    }
}

/// Items between brackets: on one line if each of them is on one.
fn list<'a>(
    open: &str,
    items: impl Iterator<Item = (String, &'a Data)>,
    close: &str,
    column: usize,
) -> String {
    let texts: Vec<(String, String)> = items
        .map(|(label, item)| {
            let item = text(item, column + 1 + label.chars().count());
            (label, item)
        })
        .collect();
    let tall = texts.iter().any(|(_, item)| item.contains('\n'));
    let separator = if tall { format!(",\n{}", " ".repeat(column + 1)) } else { ", ".to_string() };
    let inside: Vec<String> = texts.into_iter().map(|(label, item)| label + &item).collect();
    format!("{open}{}{close}", inside.join(&separator))
}

/// The column at which a text ends that began at `column`.
fn end_column(text: &str, column: usize) -> usize {
    match text.rsplit_once('\n') {
        Some((_, last)) => last.chars().count(),
        None => column + text.chars().count(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(data: Data, expect: &str) {
        assert_eq!(data.to_string(), expect);
    }

    fn con(name: &str, args: Vec<Data>) -> Data {
        Data::Con { name: name.into(), tag: 0, args }
    }

    #[test]
    fn scalars_and_arrays() {
        check(Data::from(0.1), "0.1");
        check(Data::from(f64::NAN), "nan");
        check(Data::from(-3), "-3");
        check(Data::from(vec![1.0, 2.5]), "[1.0, 2.5]");
        check(Data::from(Vec::<f64>::new()), "[]");
        check(Data::matrix(&[&[1.0, -10.0], &[100.0, 2.0]]), "[[  1.0, -10.0],\n [100.0,   2.0]]");
        check(Data::Tensor(Tensor::reals(vec![2, 0], vec![])), "[[],\n []]");
    }

    #[test]
    fn structures() {
        check(Data::unit(), "()");
        check(Data::Tuple(vec![1.0.into(), true.into()]), "(1.0, true)");
        check(
            Data::Record(vec![("x".into(), 1.0.into()), ("y".into(), 2.into())]),
            "{x = 1.0, y = 2}",
        );
        check(
            con("Pair", vec![(-1.0).into(), con("None", vec![]), con("Some", vec![2.0.into()])]),
            "Pair (-1.0) None (Some 2.0)",
        );
        check(
            Data::Tuple(vec![1.into(), Data::matrix(&[&[1.0], &[2.0]])]),
            "(1,\n [[1.0],\n  [2.0]])",
        );
    }

    #[test]
    fn differences_are_named() {
        let a = Data::Tuple(vec![1.into(), vec![1.0, 2.0].into()]);
        let b = Data::Tuple(vec![1.into(), vec![1.0, 2.5].into()]);
        assert_eq!(a.close(&b, 1e-9), Err("at .1[1]: 2.0 and 2.5 differ".into()));
        assert_eq!(a.close(&b, 0.5), Ok(()));
        assert_eq!(
            Data::from(f64::INFINITY).close(&1.0.into(), 0.5),
            Err("inf and 1.0 differ".into())
        );
        assert_eq!(Data::from(f64::NAN).close(&f64::NAN.into(), 0.0), Ok(()));
        assert_eq!(
            Data::from(vec![1]).close(&vec![1, 2].into(), 0.0),
            Err("the sizes [1] and [2] differ".into())
        );
    }
}
