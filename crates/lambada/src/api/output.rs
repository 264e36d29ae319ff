//! Places that results are written into.

use lambada_prim::{Data as Elements, Scalar};
use lambada_run::{Elements as Lent, Got};
use ndarray::{Array, ArrayViewMut, Dimension, IxDyn};

use super::error::Error;

/// The parts of a result, one after the other: scalars, and arrays of scalars. A tuple has those of its components.
pub struct Parts<'p, 'r> {
    next: Next<'p, 'r>,
}

/// What gives the parts.
type Next<'p, 'r> = &'p mut (dyn FnMut() -> Option<Result<Got<'r>, Error>> + 'p);

impl<'p, 'r> Parts<'p, 'r> {
    pub(crate) fn new(next: Next<'p, 'r>) -> Parts<'p, 'r> {
        Parts { next }
    }

    fn take(&mut self, wanted: &str) -> Result<Got<'r>, Error> {
        let none =
            || Error::misuse(format!("the result has no more parts, where {wanted} belongs"));
        (self.next)().unwrap_or_else(|| Err(none()))
    }
}

/// Where a result goes: a number, an array or a slice of the size of the result, or a tuple of places. An [`Array`] of another size is replaced by
/// one of the right size; all else must have it.
pub trait Output {
    /// Takes as many parts as belong here.
    ///
    /// # Errors
    /// What comes is something else.
    fn receive(&mut self, parts: &mut Parts<'_, '_>) -> Result<(), Error>;
}

fn is_not(found: &Got, wanted: &str) -> Error {
    let found = match found {
        Got::Scalar(value) => format!("`{}`", value.ty()),
        Got::Array(dims, elements) => {
            let dims: String = dims.iter().map(|size| format!("[{size}]")).collect();
            let elem = match elements {
                Lent::Real(_) => "real",
                Lent::Int(_) => "int",
                Lent::Bool(_) => "bool",
            };
            format!("`{dims}{elem}`")
        }
    };
    Error::misuse(format!("a part of the result is {found}, not {wanted}"))
}

macro_rules! outputs {
    ($($kind:ident: $ty:ty, $name:literal, $convert:expr;)*) => {$(
        impl Output for $ty {
            fn receive(&mut self, parts: &mut Parts<'_, '_>) -> Result<(), Error> {
                match parts.take($name)? {
                    Got::Scalar(Scalar::$kind(value)) => *self = value,
                    other => return Err(is_not(&other, concat!("a scalar of type ", $name))),
                }
                Ok(())
            }
        }

        impl Output for [$ty] {
            fn receive(&mut self, parts: &mut Parts<'_, '_>) -> Result<(), Error> {
                let wanted = concat!("an array of elements of type ", $name);
                match parts.take(wanted)? {
                    Got::Array(_, Lent::$kind(elements)) if elements.len() == self.len() => {
                        let convert: fn(&[_], &mut [$ty]) = $convert;
                        convert(elements, self);
                        Ok(())
                    }
                    other => Err(is_not(&other, &format!("{} of type {}", self.len(), $name))),
                }
            }
        }

        impl Output for Vec<$ty> {
            fn receive(&mut self, parts: &mut Parts<'_, '_>) -> Result<(), Error> {
                self.as_mut_slice().receive(parts)
            }
        }

        impl<D: Dimension> Output for ArrayViewMut<'_, $ty, D> {
            fn receive(&mut self, parts: &mut Parts<'_, '_>) -> Result<(), Error> {
                let wanted = concat!("an array of elements of type ", $name);
                let got = parts.take(wanted)?;
                let Got::Array(dims, Lent::$kind(elements)) = got else {
                    return Err(is_not(&got, wanted));
                };
                if !dims.iter().copied().eq(self.shape().iter().map(|size| *size as u64)) {
                    return Err(is_not(&got, &format!("an array of the sizes {:?}", self.shape())));
                }
                let convert: fn(&[_], &mut [$ty]) = $convert;
                match self.as_slice_mut() {
                    Some(place) => convert(elements, place),
                    None => {
                        for (place, element) in self.iter_mut().zip(elements) {
                            convert(std::slice::from_ref(element), std::slice::from_mut(place));
                        }
                    }
                }
                Ok(())
            }
        }

        impl<D: Dimension> Output for Array<$ty, D> {
            fn receive(&mut self, parts: &mut Parts<'_, '_>) -> Result<(), Error> {
                let wanted = concat!("an array of elements of type ", $name);
                let got = parts.take(wanted)?;
                let Got::Array(dims, Lent::$kind(_)) = got else {
                    return Err(is_not(&got, wanted));
                };
                if !dims.iter().copied().eq(self.shape().iter().map(|size| *size as u64)) {
                    let tensor = got.tensor();
                    let Elements::$kind(elements) = tensor.data else {
                        return Err(is_not(&got, wanted));
                    };
                    let array = Array::from_shape_vec(IxDyn(&tensor.dims), elements);
                    let array = array.ok().and_then(|array| array.into_dimensionality::<D>().ok());
                    *self = array.ok_or_else(|| is_not(&got, "an array with as many axes"))?;
                    return Ok(());
                }
                let mut once = Some(got);
                self.view_mut().receive(&mut Parts { next: &mut || once.take().map(Ok) })
            }
        }
    )*};
}

outputs! {
    Real: f64, "real", |from, to| to.copy_from_slice(from);
    Int: i64, "int", |from, to| to.copy_from_slice(from);
    Bool: bool, "bool", |from: &[u8], to| to.iter_mut().zip(from).for_each(|(to, from)| *to = *from != 0);
}

impl<T: Output + ?Sized> Output for &mut T {
    fn receive(&mut self, parts: &mut Parts<'_, '_>) -> Result<(), Error> {
        T::receive(self, parts)
    }
}

macro_rules! tuples {
    ($($item:ident),+) => {
        impl<$($item: Output),+> Output for ($($item,)+) {
            fn receive(&mut self, parts: &mut Parts<'_, '_>) -> Result<(), Error> {
                #[allow(non_snake_case)] // the items are called as their types
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
