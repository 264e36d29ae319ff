//! Results, and their conversion to Rust values.

use std::fmt;

use lambada_core::Data;
use lambada_prim::{Data as Elements, Scalar, Tensor};
use ndarray::{Array, ArrayView, Dimension, IxDyn};

use super::error::Error;

/// Result of a call: a number, an array, or any other data of Lambada. `try_into` converts it to a
/// Rust value: `f64`, `f32`, `i64`, `bool`, `Vec`, arrays of `ndarray` of a fixed or any rank,
/// tuples of these, [`Data`].
///
/// ```
/// use lambada::{Model, args};
/// use ndarray::{Array1, array};
///
/// let model = Model::compile("f.lam", "def f [n] (x : [n]real) = (n, 2.0 * x)")?;
/// let (n, twice): (i64, Array1<f64>) = model.function("f")?.call(args![&[1.0, 2.0]])?.try_into()?;
/// assert_eq!((n, twice), (2, array![2.0, 4.0]));
/// # Ok::<(), lambada::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Value(Data);

impl Value {
    /// The data.
    pub fn data(&self) -> &Data {
        &self.0
    }

    /// The data by value.
    pub fn into_data(self) -> Data {
        self.0
    }

    /// The sizes of an array of reals, outermost first, and its elements in row-major order, for
    /// arrays of any library. A real has no sizes.
    ///
    /// # Errors
    /// The value is no array of reals.
    pub fn reals(&self) -> Result<(&[usize], &[f64]), Error> {
        let tensor = self.tensor("an array of reals")?;
        let Elements::Real(values) = &tensor.data else {
            return Err(self.is_not("an array of reals"));
        };
        Ok((&tensor.dims, values))
    }

    /// As [`reals`](Value::reals), by value and without a copy.
    ///
    /// # Errors
    /// The value is no array of reals.
    pub fn into_reals(self) -> Result<(Vec<usize>, Vec<f64>), Error> {
        match self.0 {
            Data::Tensor(Tensor { dims, data: Elements::Real(values) }) => Ok((dims, values)),
            other => Err(Value(other).is_not("an array of reals")),
        }
    }

    /// Borrows an array of reals of rank `D`: `value.view::<Ix1>()`. A real has rank 0.
    ///
    /// # Panics
    /// If the value is no array of reals or has another rank; see [`try_view`](Value::try_view).
    pub fn view<D: Dimension>(&self) -> ArrayView<'_, f64, D> {
        match self.try_view() {
            Ok(view) => view,
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`view`](Value::view), without panics.
    ///
    /// # Errors
    /// The value is no array of reals or has another rank.
    pub fn try_view<D: Dimension>(&self) -> Result<ArrayView<'_, f64, D>, Error> {
        viewed(self, self.tensor("an array of reals")?, "an array of reals")
    }

    /// Borrows an array of integers of rank `D`.
    ///
    /// # Errors
    /// The value is no array of integers or has another rank.
    pub fn ints<D: Dimension>(&self) -> Result<ArrayView<'_, i64, D>, Error> {
        viewed(self, self.tensor("an array of integers")?, "an array of integers")
    }

    /// Borrows an array of truth values of rank `D`.
    ///
    /// # Errors
    /// The value is no array of truth values or has another rank.
    pub fn bools<D: Dimension>(&self) -> Result<ArrayView<'_, bool, D>, Error> {
        viewed(self, self.tensor("an array of truth values")?, "an array of truth values")
    }

    /// Component `k` of a tuple, or element `k` of an array of structures, from 0.
    ///
    /// # Errors
    /// The value has no item `k`.
    pub fn item(&self, k: usize) -> Result<Value, Error> {
        let items = match &self.0 {
            Data::Tuple(items) | Data::Array(items) => &items[..],
            Data::Tensor(_) | Data::Record(_) | Data::Con { .. } => &[],
        };
        let item = items.get(k).cloned().map(Value);
        item.ok_or_else(|| self.is_not(&format!("something with an item {k}")))
    }

    /// The field of a record.
    ///
    /// # Errors
    /// The value has no field `name`.
    pub fn field(&self, name: &str) -> Result<Value, Error> {
        let fields = match &self.0 {
            Data::Record(fields) => &fields[..],
            Data::Tensor(_) | Data::Tuple(_) | Data::Array(_) | Data::Con { .. } => &[],
        };
        let field = fields.iter().find(|(known, _)| **known == *name);
        let field = field.map(|(_, data)| Value(data.clone()));
        field.ok_or_else(|| self.is_not(&format!("a record with a field `{name}`")))
    }

    /// The constructor of a value of a variant type, and its arguments.
    ///
    /// # Errors
    /// The value is not of a variant type.
    pub fn constructor(&self) -> Result<(&str, Vec<Value>), Error> {
        match &self.0 {
            Data::Con { name, args, .. } => Ok((name, args.iter().cloned().map(Value).collect())),
            Data::Tensor(_) | Data::Tuple(_) | Data::Record(_) | Data::Array(_) => {
                Err(self.is_not("a value of a variant type"))
            }
        }
    }

    fn tensor(&self, wanted: &str) -> Result<&Tensor, Error> {
        match &self.0 {
            Data::Tensor(tensor) => Ok(tensor),
            Data::Tuple(_) | Data::Record(_) | Data::Array(_) | Data::Con { .. } => {
                Err(self.is_not(wanted))
            }
        }
    }

    fn scalar(&self, wanted: &str) -> Result<Scalar, Error> {
        self.0.as_scalar().ok_or_else(|| self.is_not(wanted))
    }

    fn is_not(&self, wanted: &str) -> Error {
        Error::misuse(format!("the result is {}, not {wanted}", described(&self.0)))
    }
}

/// Describes a value without its numbers, for messages.
pub(crate) fn described(data: &Data) -> String {
    match data {
        Data::Tensor(tensor) => {
            let dims: String = tensor.dims.iter().map(|size| format!("[{size}]")).collect();
            format!("`{dims}{}`", tensor.elem())
        }
        Data::Tuple(items) => format!("a tuple of {}", items.len()),
        Data::Record(fields) => {
            let names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
            format!("a record with {}", lambada_source::quoted(&names))
        }
        Data::Array(items) => format!("an array of {} values", items.len()),
        Data::Con { name, .. } => format!("`{name}`"),
    }
}

/// Element types of arrays in Rust.
trait ArrayElem: Copy {
    fn slice(elements: &Elements) -> Option<&[Self]>;
}

macro_rules! kind {
    ($($kind:ident: $ty:ty, $scalar:literal;)*) => {$(
        impl ArrayElem for $ty {
            fn slice(elements: &Elements) -> Option<&[$ty]> {
                if let Elements::$kind(elements) = elements { Some(elements) } else { None }
            }
        }

        impl TryFrom<Value> for $ty {
            type Error = Error;

            fn try_from(value: Value) -> Result<$ty, Error> {
                let scalar = value.scalar($scalar)?;
                if let Scalar::$kind(number) = scalar { Ok(number) } else { Err(value.is_not($scalar)) }
            }
        }

        impl<D: Dimension> TryFrom<Value> for Array<$ty, D> {
            type Error = Error;

            fn try_from(value: Value) -> Result<Array<$ty, D>, Error> {
                let wanted = concat!("an array of ", stringify!($ty));
                viewed(&value, value.tensor(wanted)?, wanted).map(|view| view.to_owned())
            }
        }

        impl TryFrom<Value> for Vec<$ty> {
            type Error = Error;

            fn try_from(value: Value) -> Result<Vec<$ty>, Error> {
                let wanted = concat!("a vector of ", stringify!($ty));
                let tensor = value.tensor(wanted)?;
                let elements = <$ty>::slice(&tensor.data).filter(|_| tensor.dims.len() == 1);
                elements.map(<[$ty]>::to_vec).ok_or_else(|| value.is_not(wanted))
            }
        }

        impl From<$ty> for Value {
            fn from(number: $ty) -> Value {
                Value(Data::from(Scalar::$kind(number)))
            }
        }
    )*};
}

kind! {
    Real: f64, "a real";
    Int: i64, "an int";
    Bool: bool, "a bool";
}

impl TryFrom<Value> for f32 {
    type Error = Error;

    fn try_from(value: Value) -> Result<f32, Error> {
        f64::try_from(value).map(|x| x as f32)
    }
}

impl<D: Dimension> TryFrom<Value> for Array<f32, D> {
    type Error = Error;

    fn try_from(value: Value) -> Result<Array<f32, D>, Error> {
        let wanted = "an array of f32";
        let view: ArrayView<'_, f64, D> = viewed(&value, value.tensor(wanted)?, wanted)?;
        Ok(view.mapv(|x| x as f32))
    }
}

impl TryFrom<Value> for Vec<f32> {
    type Error = Error;

    fn try_from(value: Value) -> Result<Vec<f32>, Error> {
        Vec::<f64>::try_from(value).map(|xs| xs.into_iter().map(|x| x as f32).collect())
    }
}

fn viewed<'a, T: ArrayElem, D: Dimension>(
    value: &Value,
    tensor: &'a Tensor,
    wanted: &str,
) -> Result<ArrayView<'a, T, D>, Error> {
    let elements = T::slice(&tensor.data);
    let view = elements.and_then(|e| ArrayView::from_shape(IxDyn(&tensor.dims), e).ok());
    let view = view.and_then(|view| view.into_dimensionality::<D>().ok());
    view.ok_or_else(|| match D::NDIM {
        Some(rank) => value
            .is_not(&format!("{wanted} with {rank} {}", if rank == 1 { "axis" } else { "axes" })),
        None => value.is_not(wanted),
    })
}

macro_rules! tuples {
    ($count:literal: $($item:ident),+) => {
        impl<$($item: TryFrom<Value, Error: Into<Error>>),+> TryFrom<Value> for ($($item,)+) {
            type Error = Error;

            fn try_from(value: Value) -> Result<($($item,)+), Error> {
                match value.0 {
                    Data::Tuple(items) if items.len() == $count => {
                        let mut items = items.into_iter().map(Value);
                        let mut next = || items.next().unwrap_or_else(|| Value(Data::unit()));
                        Ok(($($item::try_from(next()).map_err(Into::into)?,)+))
                    }
                    data => Err(Value(data).is_not(concat!("a tuple of ", $count))),
                }
            }
        }
    };
}

tuples!(2: A, B);
tuples!(3: A, B, C);
tuples!(4: A, B, C, D);
tuples!(5: A, B, C, D, E);

impl From<Data> for Value {
    fn from(data: Data) -> Value {
        Value(data)
    }
}

impl From<Value> for Data {
    fn from(value: Value) -> Data {
        value.0
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
