//! Destinations for results.

use std::borrow::Cow;

use lambada_prim::{Scalar, Tensor};
use lambada_run::{Argument, Destination, Elements as Lent, Got, Results};
use ndarray::{Array, ArrayViewMut, Dimension, IxDyn};
use smallvec::SmallVec;

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

/// Memory of destinations, where large results are computed without a copy.
#[derive(Default)]
pub struct ResultMemory<'o> {
    places: SmallVec<[Option<Destination<'o>>; 4]>,
    is_closed: bool,
}

impl<'o> ResultMemory<'o> {
    /// A part that is copied.
    pub fn copied(&mut self) {
        self.add(None);
    }

    /// A part that may be computed in this memory.
    pub fn reals(&mut self, place: &'o mut [f64]) {
        self.add(Some(Destination::reals(place)));
    }

    /// As [`reals`](ResultMemory::reals), for integers.
    pub fn ints(&mut self, place: &'o mut [i64]) {
        self.add(Some(Destination::ints(place)));
    }

    /// Destinations of unknown number; they and all that follow are copied.
    pub fn unknown(&mut self) {
        self.is_closed = true;
    }

    fn add(&mut self, place: Option<Destination<'o>>) {
        if !self.is_closed {
            self.places.push(place.filter(Destination::is_large));
        }
    }

    /// The places that no argument lies in; empty if there are none.
    pub(crate) fn free<'a>(
        mut self,
        arguments: impl Iterator<Item = Argument<'a>> + Clone,
    ) -> SmallVec<[Option<Destination<'o>>; 4]> {
        if self.places.iter().all(Option::is_none) {
            return SmallVec::new();
        }
        for place in &mut self.places {
            *place = place.filter(|place| !arguments.clone().any(|arg| place.overlaps(arg)));
        }
        self.places
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

    /// Offers its memory, part by part, in the order of [`receive`](Output::receive). If a call
    /// fails, the memory may hold anything.
    fn lend<'o>(&'o mut self, memory: &mut ResultMemory<'o>) {
        memory.unknown();
    }
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

    /// Writes the elements; returns false if their type or number differs.
    fn write(elements: Lent<'_>, to: &mut [Self]) -> bool {
        let elements = Self::of(elements).filter(|elements| elements.len() == to.len());
        elements.is_some_and(|elements| put(&elements, to))
    }

    /// Offers memory for such elements.
    fn lend<'o>(_: &'o mut [Self], memory: &mut ResultMemory<'o>) {
        memory.copied();
    }
}

impl DestinationElem for f64 {
    fn of(elements: Lent<'_>) -> Option<Cow<'_, [f64]>> {
        elements.reals()
    }

    fn lend<'o>(place: &'o mut [f64], memory: &mut ResultMemory<'o>) {
        memory.reals(place);
    }
}

impl DestinationElem for f32 {
    fn of(elements: Lent<'_>) -> Option<Cow<'_, [f32]>> {
        elements.singles()
    }

    fn write(elements: Lent<'_>, to: &mut [f32]) -> bool {
        if let Lent::Real(values) = elements
            && values.len() == to.len()
        {
            to.iter_mut().zip(values).for_each(|(place, x)| *place = *x as f32);
            return true;
        }
        matches!(elements, Lent::Single(values) if values.len() == to.len() && put(values, to))
    }
}

impl DestinationElem for i64 {
    fn of(elements: Lent<'_>) -> Option<Cow<'_, [i64]>> {
        if let Lent::Int(values) = elements { Some(Cow::Borrowed(values)) } else { None }
    }

    fn lend<'o>(place: &'o mut [i64], memory: &mut ResultMemory<'o>) {
        memory.ints(place);
    }
}

impl DestinationElem for bool {
    fn of(elements: Lent<'_>) -> Option<Cow<'_, [bool]>> {
        let Lent::Bool(bytes) = elements else { return None };
        Some(bytes.iter().map(|byte| *byte != 0).collect::<Vec<bool>>().into())
    }
}

/// Copies elements, unless they have been computed where they belong; returns true.
fn put<T: Copy>(elements: &[T], to: &mut [T]) -> bool {
    if !std::ptr::eq(elements.as_ptr(), to.as_ptr()) {
        to.copy_from_slice(elements);
    }
    true
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
    if !is_shape(dims, to.shape()) {
        return Err(is_not(&got, &format!("an array of the sizes {:?}", to.shape())));
    }
    let is_written = match to.as_slice_mut() {
        Some(place) => T::write(elements, place),
        None => T::of(elements).is_some_and(|elements| {
            to.iter_mut().zip(&*elements).for_each(|(place, x)| *place = *x);
            true
        }),
    };
    if is_written { Ok(()) } else { Err(is_not(&got, wanted)) }
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

            fn lend<'o>(&'o mut self, memory: &mut ResultMemory<'o>) {
                memory.copied();
            }
        }

        impl Output for [$ty] {
            fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
                match parts.take(array_of!($name))? {
                    Got::Array(_, elements) if DestinationElem::write(elements, self) => Ok(()),
                    other => Err(is_not(&other, &format!("{} of type {}", self.len(), $name))),
                }
            }

            fn lend<'o>(&'o mut self, memory: &mut ResultMemory<'o>) {
                DestinationElem::lend(self, memory);
            }
        }

        impl Output for Vec<$ty> {
            fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
                self.as_mut_slice().receive(parts)
            }

            fn lend<'o>(&'o mut self, memory: &mut ResultMemory<'o>) {
                DestinationElem::lend(self.as_mut_slice(), memory);
            }
        }

        impl<D: Dimension> Output for ArrayViewMut<'_, $ty, D> {
            fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
                fill(self, parts.take(array_of!($name))?, array_of!($name))
            }

            fn lend<'o>(&'o mut self, memory: &mut ResultMemory<'o>) {
                match self.as_slice_mut() {
                    Some(place) => DestinationElem::lend(place, memory),
                    None => memory.copied(),
                }
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

            fn lend<'o>(&'o mut self, memory: &mut ResultMemory<'o>) {
                match self.as_slice_mut() {
                    Some(place) => DestinationElem::lend(place, memory),
                    None => memory.copied(),
                }
            }
        }
    )*};
}

/// A new array or number.
impl Output for Option<Tensor> {
    fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), Error> {
        *self = Some(parts.take("a number or an array")?.tensor());
        Ok(())
    }

    fn lend<'o>(&'o mut self, memory: &mut ResultMemory<'o>) {
        memory.copied();
    }
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

    fn lend<'o>(&'o mut self, memory: &mut ResultMemory<'o>) {
        T::lend(self, memory);
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

            fn lend<'o>(&'o mut self, memory: &mut ResultMemory<'o>) {
                #[allow(non_snake_case)] // as above
                let ($($item,)+) = self;
                $($item.lend(memory);)+
            }
        }
    };
}

tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);
tuples!(A, B, C, D, E);
tuples!(A, B, C, D, E, F);
