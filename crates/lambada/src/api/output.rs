//! Destinations for results.

use std::borrow::Cow;

use lambada_prim::Scalar;
use lambada_run::{Elements as Lent, Got, Results};
use ndarray::{Array, ArrayViewMut, Dimension, IxDyn};

use super::error::Error;

/// The parts of a result in order: scalars and arrays of scalars. A tuple contributes the parts of
/// its components.
pub struct Parts<'r> {
    results: Results<'r>,
}

impl<'r> Parts<'r> {
    pub(crate) fn new(results: Results<'r>) -> Parts<'r> {
        Parts { results }
    }

    #[inline]
    fn take(&mut self, wanted: &str) -> Result<Got<'r>, Error> {
        self.results.next().ok_or_else(|| {
            Error::misuse(format!("the result has no more parts, where {wanted} belongs"))
        })
    }

    /// Checks that no part is left.
    pub(crate) fn end(mut self) -> Result<(), Error> {
        match self.results.next() {
            None => Ok(()),
            Some(_) => Err(Error::misuse("the result has more parts than are taken".into())),
        }
    }
}

/// Destination of a result: a number, an array, a slice, or a tuple of destinations. An [`Array`]
/// is reallocated if its size differs from that of the result; other destinations must match it.
pub trait Output {
    /// Takes the parts of this destination.
    ///
    /// # Errors
    /// A part has another type or shape.
    fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error>;
}

fn is_not(found: &Got, wanted: &str) -> Error {
    let found = match found {
        Got::Scalar(value) => format!("`{}`", value.ty()),
        Got::Array(dims, elements) => {
            let dims: String = dims.iter().map(|size| format!("[{size}]")).collect();
            let elem = match elements {
                Lent::Real(_) | Lent::Single(_) => "real",
                Lent::Int(_) => "int",
                Lent::Bool(_) => "bool",
            };
            format!("`{dims}{elem}`")
        }
    };
    Error::misuse(format!("a part of the result is {found}, not {wanted}"))
}

/// Element type of a destination array.
trait DestinationElem: Copy {
    /// The elements as this type, copied only if they must be converted; `None` if they have
    /// another type.
    fn of(elements: Lent<'_>) -> Option<Cow<'_, [Self]>>;
}

impl DestinationElem for f64 {
    fn of(elements: Lent<'_>) -> Option<Cow<'_, [f64]>> {
        elements.reals()
    }
}

impl DestinationElem for f32 {
    fn of(elements: Lent<'_>) -> Option<Cow<'_, [f32]>> {
        elements.singles()
    }
}

impl DestinationElem for i64 {
    fn of(elements: Lent<'_>) -> Option<Cow<'_, [i64]>> {
        if let Lent::Int(values) = elements { Some(Cow::Borrowed(values)) } else { None }
    }
}

impl DestinationElem for bool {
    fn of(elements: Lent<'_>) -> Option<Cow<'_, [bool]>> {
        let Lent::Bool(bytes) = elements else { return None };
        Some(bytes.iter().map(|byte| *byte != 0).collect::<Vec<bool>>().into())
    }
}

/// Copies elements; returns false if their type or number differs.
fn copied<T: DestinationElem>(elements: Lent<'_>, to: &mut [T]) -> bool {
    match T::of(elements) {
        Some(elements) if elements.len() == to.len() => {
            to.copy_from_slice(&elements);
            true
        }
        Some(_) | None => false,
    }
}

fn is_shape(dims: &[u64], shape: &[usize]) -> bool {
    dims.iter().copied().eq(shape.iter().map(|size| *size as u64))
}

/// Copies an array into one of equal sizes.
fn fill<T: DestinationElem, D: Dimension>(
    to: &mut ArrayViewMut<'_, T, D>,
    got: Got<'_>,
    wanted: &str,
) -> Result<(), Error> {
    let Got::Array(dims, elements) = got else { return Err(is_not(&got, wanted)) };
    let Some(elements) = T::of(elements) else { return Err(is_not(&got, wanted)) };
    if !is_shape(dims, to.shape()) {
        return Err(is_not(&got, &format!("an array of the sizes {:?}", to.shape())));
    }
    match to.as_slice_mut() {
        Some(place) => place.copy_from_slice(&elements),
        None => to.iter_mut().zip(&*elements).for_each(|(place, x)| *place = *x),
    }
    Ok(())
}

macro_rules! array_of {
    ($name:literal) => {
        concat!("an array of elements of type ", $name)
    };
}

macro_rules! outputs {
    ($($kind:ident: $ty:ty, $name:literal;)*) => {$(
        impl Output for $ty {
            fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
                match parts.take($name)? {
                    Got::Scalar(Scalar::$kind(value)) => *self = value as $ty,
                    other => return Err(is_not(&other, concat!("a scalar of type ", $name))),
                }
                Ok(())
            }
        }

        impl Output for [$ty] {
            fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
                match parts.take(array_of!($name))? {
                    Got::Array(_, elements) if copied(elements, self) => Ok(()),
                    other => Err(is_not(&other, &format!("{} of type {}", self.len(), $name))),
                }
            }
        }

        impl Output for Vec<$ty> {
            fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
                self.as_mut_slice().receive(parts)
            }
        }

        impl<D: Dimension> Output for ArrayViewMut<'_, $ty, D> {
            fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
                fill(self, parts.take(array_of!($name))?, array_of!($name))
            }
        }

        impl<D: Dimension> Output for Array<$ty, D> {
            fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
                let got = parts.take(array_of!($name))?;
                if let Got::Array(dims, elements) = got
                    && !is_shape(dims, self.shape())
                    && let Some(elements) = <$ty as DestinationElem>::of(elements)
                {
                    let dims: Vec<usize> = dims.iter().map(|size| *size as usize).collect();
                    let array = Array::from_shape_vec(IxDyn(&dims), elements.into_owned());
                    let array = array.ok().and_then(|array| array.into_dimensionality::<D>().ok());
                    *self = array.ok_or_else(|| is_not(&got, "an array with as many axes"))?;
                    return Ok(());
                }
                fill(&mut self.view_mut(), got, array_of!($name))
            }
        }
    )*};
}

outputs! {
    Real: f64, "real";
    Real: f32, "real";
    Int: i64, "int";
    Bool: bool, "bool";
}

impl<T: Output + ?Sized> Output for &mut T {
    fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
        T::receive(self, parts)
    }
}

macro_rules! tuples {
    ($($item:ident),+) => {
        impl<$($item: Output),+> Output for ($($item,)+) {
            fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
                #[allow(non_snake_case)] // items are named like their types
                let ($($item,)+) = self;
                $($item.receive(parts)?;)+
                Ok(())
            }
        }
    };
}

tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);
tuples!(A, B, C, D, E);
tuples!(A, B, C, D, E, F);
