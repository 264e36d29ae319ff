//! The numbers in a value, each with its place: `.mean`, `[2]`, `.0[1]`.

use lambada_core::data::Data;
use lambada_prim::{Scalar, Tensor};

/// Which numbers to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reals, integers, and 0 or 1 for truth values.
    All,
    /// Reals.
    Reals,
}

/// A number with its place in a value.
pub type Number = (String, f64);

/// The numbers of a value.
pub(crate) fn numbers(data: &Data, kind: Kind) -> Vec<Number> {
    let mut out = Vec::new();
    collect(data, String::new(), kind, &mut out);
    out
}

fn collect(data: &Data, place: String, kind: Kind, out: &mut Vec<Number>) {
    match data.seen() {
        Data::Tensor(tensor) => {
            let all = (0..tensor.data.len()).filter_map(|k| Some((k, number(tensor, k, kind)?)));
            out.extend(all.map(|(k, x)| (format!("{place}{}", index(&tensor.dims, k)), x)));
        }
        Data::Tuple(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(k, item)| collect(item, format!("{place}.{k}"), kind, out));
        }
        Data::Record(fields) => {
            let fields = fields.iter();
            fields.for_each(|(name, item)| collect(item, format!("{place}.{name}"), kind, out));
        }
        Data::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(k, item)| collect(item, format!("{place}[{k}]"), kind, out));
        }
        Data::Con { .. } => {}
    }
}

fn number(tensor: &Tensor, k: usize, kind: Kind) -> Option<f64> {
    match (tensor.data.get(k), kind) {
        (Scalar::Real(x), _) => Some(x),
        (Scalar::Int(n), Kind::All) => Some(n as f64),
        (Scalar::Bool(b), Kind::All) => Some(f64::from(b)),
        (Scalar::Int(_) | Scalar::Bool(_), Kind::Reals) => None,
    }
}

/// The index of the `k`-th element: `[1][0]`.
fn index(dims: &[usize], mut k: usize) -> String {
    let mut indices = Vec::new();
    for size in dims.iter().rev() {
        indices.push(k % size);
        k /= size;
    }
    indices.iter().rev().map(|index| format!("[{index}]")).collect()
}

/// Numbers along the outermost axis of arrays, each list with its place in an element.
pub type List = (String, Vec<f64>);

/// The arrays of a value as lists of numbers: a matrix has a list for each column, an array of
/// records one for each field. Numbers outside of arrays have no list.
///
/// ```
/// use lambada::{Data, lists};
///
/// let columns = lists(&Data::matrix(&[&[1.0, 2.0], &[3.0, 4.0]]));
/// assert_eq!(columns, [("[0]".into(), vec![1.0, 3.0]), ("[1]".into(), vec![2.0, 4.0])]);
/// ```
pub fn lists(data: &Data) -> Vec<List> {
    lists_of(data, Kind::All)
}

/// The lists of numbers of a kind.
pub(crate) fn lists_of(data: &Data, kind: Kind) -> Vec<List> {
    let mut out = Vec::new();
    collect_lists(data, String::new(), kind, &mut out);
    out
}

fn collect_lists(data: &Data, place: String, kind: Kind, out: &mut Vec<List>) {
    match data.seen() {
        Data::Tensor(Tensor { dims, .. }) if dims.is_empty() => {}
        Data::Tensor(tensor) => {
            let (outer, inner) = (tensor.dims[0], &tensor.dims[1..]);
            let size: usize = inner.iter().product();
            for column in 0..size {
                let all = (0..outer).filter_map(|row| number(tensor, row * size + column, kind));
                let list: Vec<f64> = all.collect();
                if list.len() == outer {
                    out.push((format!("{place}{}", index(inner, column)), list));
                }
            }
        }
        Data::Array(items) => {
            let mut columns: Vec<List> = Vec::new();
            for (row, item) in items.iter().enumerate() {
                for (own, x) in numbers(item, kind) {
                    let name = format!("{place}{own}");
                    let known = columns.iter().position(|(known, _)| *known == name);
                    let column = known.unwrap_or_else(|| {
                        columns.push((name, vec![f64::NAN; items.len()]));
                        columns.len() - 1
                    });
                    columns[column].1[row] = x;
                }
            }
            out.extend(columns);
        }
        Data::Tuple(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(k, item)| collect_lists(item, format!("{place}.{k}"), kind, out));
        }
        Data::Record(fields) => {
            for (name, item) in fields {
                collect_lists(item, format!("{place}.{name}"), kind, out);
            }
        }
        Data::Con { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(x: f64, ys: Vec<f64>) -> Data {
        Data::Record(vec![("x".into(), x.into()), ("ys".into(), ys.into())])
    }

    #[test]
    fn numbers_have_places() {
        let data = Data::Tuple(vec![record(1.0, vec![2.0, 3.0]), 4.into()]);
        let names = |kind| numbers(&data, kind).into_iter().map(|n| n.0).collect::<Vec<_>>();
        assert_eq!(names(Kind::All), [".0.x", ".0.ys[0]", ".0.ys[1]", ".1"]);
        assert_eq!(names(Kind::Reals), [".0.x", ".0.ys[0]", ".0.ys[1]"]);
        let matrix = numbers(&Data::matrix(&[&[1.0, 2.0], &[3.0, 4.0]]), Kind::All);
        assert_eq!(matrix[2], ("[1][0]".into(), 3.0));
    }

    #[test]
    fn arrays_of_records_have_a_list_for_each_field() {
        let data = Data::Array(vec![record(1.0, vec![2.0]), record(3.0, vec![4.0])]);
        let expect = [(".x".into(), vec![1.0, 3.0]), (".ys[0]".into(), vec![2.0, 4.0])];
        assert_eq!(lists(&data), expect);
        assert_eq!(lists(&record(1.0, vec![2.0])), [(".ys".into(), vec![2.0])]);
        assert_eq!(lists(&1.0.into()), []);
    }
}
