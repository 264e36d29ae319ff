//! First-order values at the boundary: arguments and results of programs.

mod args;
mod close;
mod text;

use std::fmt;
use std::sync::Arc;

use lambada_prim::{Data as Elements, Scalar, Tensor};

use crate::sized;

pub use args::Args;
pub use close::close;
pub use text::Style;

/// Text for a function in the output of `inspect`.
pub const FUNCTION: &str = "<function>";

/// A first-order value.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// A scalar (rank 0) or an array of scalars of any rank.
    Tensor(Tensor),
    /// `(a, b)`; `()` has no components.
    Tuple(Vec<Data>),
    /// `{x = a, y = b}`, alphabetical.
    Record(Vec<(Arc<str>, Data)>),
    /// An array whose elements are tuples, records or variants, or arrays of those.
    Array(Vec<Data>),
    /// A constructor and its arguments.
    Con {
        /// Its name.
        name: Arc<str>,
        /// Its position in the definition of the type.
        tag: usize,
        /// Its arguments.
        args: Args,
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

    /// A size of a variant: an array of `count` times `()`.
    pub fn units(count: usize) -> Data {
        Data::Tensor(Tensor { dims: vec![count, 0], data: Elements::Bool(Vec::new()) })
    }

    /// The displayed part of a value: a variant without its sizes ([`crate::sized`]); other values
    /// are displayed whole.
    pub fn seen(&self) -> &Data {
        let Data::Record(fields) = self else { return self };
        match fields.last() {
            Some((_, value)) if sized::is_sized(fields.iter().map(|(label, _)| &**label)) => value,
            Some(_) | None => self,
        }
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<Scalar> {
        match self {
            Data::Tensor(tensor) => tensor.as_scalar(),
            Data::Tuple(_) | Data::Record(_) | Data::Array(_) | Data::Con { .. } => None,
        }
    }

    /// The value as readable text; on several lines if it has matrices or exceeds the style's
    /// width.
    pub fn show(&self, style: Style) -> String {
        text::text(self, style)
    }

    /// Checks equality up to a relative difference of `rtol` in reals (absolute, if both are below
    /// 1). NaN equals NaN. The error names the first position that differs.
    pub fn close(&self, other: &Data, rtol: f64) -> Result<(), String> {
        close(self, other, rtol)
    }
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::text(self, Style::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(data: Data, expect: &str) {
        assert_eq!(data.to_string(), expect);
    }

    fn con(name: &str, args: Vec<Data>) -> Data {
        Data::Con { name: name.into(), tag: 0, args: args.into() }
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
    fn long_values_are_wrapped_and_shortened() {
        let narrow = Style { width: Some(20), ..Style::default() };
        let numbers = |count: i32| Data::from((0..count).map(f64::from).collect::<Vec<_>>());
        assert_eq!(numbers(3).show(narrow), "[0.0, 1.0, 2.0]");
        assert_eq!(numbers(6).show(narrow), "[0.0, 1.0, 2.0,\n 3.0, 4.0, 5.0]");
        let few = Style { most: Some(3), ..narrow };
        assert_eq!(numbers(1000).show(few), "[0.0, 1.0, 2.0, … 997 more]");
        let pair = Data::Tuple(vec![numbers(3), numbers(3)]);
        assert_eq!(pair.show(narrow), "([0.0, 1.0, 2.0],\n [0.0, 1.0, 2.0])");
        let matrix = Data::matrix(&[&[1.0, 2.0], &[3.0, 4.0], &[5.0, 6.0]]);
        let two = Style { most: Some(2), ..narrow };
        assert_eq!(matrix.show(two), "[[1.0, 2.0],\n [3.0, 4.0],\n … 1 more]");
    }

    #[test]
    fn records_stand_in_tables() {
        let record =
            |x: f64, n: i64| Data::Record(vec![("mean".into(), x.into()), ("n".into(), n.into())]);
        let records = Data::Array(vec![record(0.5, 10), record(12.25, 7)]);
        let style = |width| Style { width: Some(width), ..Style::default() };
        assert_eq!(records.show(style(100)), "[{mean = 0.5, n = 10}, {mean = 12.25, n = 7}]");
        assert_eq!(records.show(style(30)), " mean   n\n 0.5   10\n12.25   7");
        let state = |x: f64| Data::Record(vec![("x".into(), x.into())]);
        let pair = |n: i64, x: f64| Data::Tuple(vec![n.into(), state(x)]);
        let pairs = Data::Array(vec![pair(1, 2e-9), pair(10, -3.25)]);
        assert_eq!(pairs.show(style(20)), ".0   .1.x\n 1   2e-9\n10  -3.25");
        // Constructors beside each other, some with arguments, are no table.
        let mixed = Data::Array(vec![con("None", vec![]), con("Some", vec![1.0.into()])]);
        assert_eq!(mixed.show(style(10)), "[None,\n Some 1.0]");
    }

    #[test]
    fn numbers_are_aligned_by_their_points() {
        let matrix = Data::matrix(&[&[1.0, 2.5, 3.0], &[-100.25, 3e-9, f64::INFINITY]]);
        assert_eq!(matrix.to_string(), "[[   1.0,  2.5,    3.0],\n [-100.25, 3e-9, inf]]");
        let wide = Data::from(vec![0.5, 10.25, 1e-9, -3.0]);
        let style = Style { width: Some(20), ..Style::default() };
        assert_eq!(wide.show(style), "[ 0.5,  10.25,\n  1e-9, -3.0]");
    }

    #[test]
    fn digits_are_significant() {
        let style = Style { digits: Some(3), ..Style::default() };
        let shown = |x: f64| Data::from(x).show(style);
        assert_eq!(shown(std::f64::consts::PI), "3.14");
        assert_eq!(shown(123456.0), "123000.0");
        assert_eq!(shown(1.0 / 3e10), "3.33e-11");
        assert_eq!(shown(f64::INFINITY), "inf");
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
