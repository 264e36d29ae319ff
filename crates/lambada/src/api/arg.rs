//! Arguments of calls, from Rust values: numbers, slices, arrays of `ndarray`, tuples, and data.

use std::borrow::Cow;
use std::sync::Arc;

use lambada_core::Data;
use lambada_elaborate::Shape;
use lambada_prim::{Data as Elements, Scalar, Tensor};
use lambada_run::Lent;
use ndarray::{ArrayBase, ArrayRef, Dimension, OwnedRepr, RawData, ViewRepr};
use smallvec::SmallVec;

use crate::Value;
use crate::data::{array_shape, shape_of};

/// Argument value. Dense arrays of `f64`, `f32`, `i64` or `bool` are borrowed; all others are
/// copied.
#[derive(Clone, Debug)]
pub struct Arg<'a>(pub(crate) ArgData<'a>);

#[derive(Clone, Debug)]
pub(crate) enum ArgData<'a> {
    Scalar(Scalar),
    Array(Dims, Lent<'a>),
    Data(Cow<'a, Data>),
    /// An array of records by field: their number, and an array with one more axis for each field.
    Columns(usize, Vec<(Arc<str>, Arg<'a>)>),
}

/// The sizes of an array.
#[derive(Clone, Debug)]
pub(crate) enum Dims {
    Few([usize; 4], u8),
    Many(Box<[usize]>),
}

impl Dims {
    #[inline]
    pub(crate) fn of(dims: &[usize]) -> Dims {
        let mut few = [0; 4];
        match few.get_mut(..dims.len()) {
            Some(place) => {
                place.copy_from_slice(dims);
                Dims::Few(few, dims.len() as u8)
            }
            None => Dims::Many(dims.into()),
        }
    }

    #[inline]
    pub(crate) fn all(&self) -> &[usize] {
        match self {
            Dims::Few(few, rank) => &few[..usize::from(*rank)],
            Dims::Many(dims) => dims,
        }
    }
}

impl<'a> Arg<'a> {
    /// An array with dimensions `dims`, outermost first, and elements in row-major order; `None` if
    /// the number of elements differs from the product of the dimensions. Without dimensions it is
    /// a number.
    ///
    /// ```
    /// use lambada::{Arg, Args, Model};
    ///
    /// let function = Model::compile("f.lam", "def f (x : real) = 2 * x")?.function("f")?;
    /// let args = Args::new().with("x", Arg::reals(&[], &[3.0]).expect("one element"));
    /// assert_eq!(f64::try_from(function.call(args)?)?, 6.0);
    /// # Ok::<(), lambada::Error>(())
    /// ```
    pub fn reals(dims: &[usize], elements: &'a [f64]) -> Option<Arg<'a>> {
        Arg::lent(dims, elements.len(), Lent::Real(elements))
    }

    /// As [`reals`](Arg::reals), for 32-bit reals.
    pub fn singles(dims: &[usize], elements: &'a [f32]) -> Option<Arg<'a>> {
        Arg::lent(dims, elements.len(), Lent::Single(elements))
    }

    /// As [`reals`](Arg::reals), for integers.
    pub fn ints(dims: &[usize], elements: &'a [i64]) -> Option<Arg<'a>> {
        Arg::lent(dims, elements.len(), Lent::Int(elements))
    }

    /// As [`reals`](Arg::reals), for truth values.
    pub fn bools(dims: &[usize], elements: &'a [bool]) -> Option<Arg<'a>> {
        Arg::lent(dims, elements.len(), Lent::Bool(elements))
    }

    fn lent(dims: &[usize], count: usize, elements: Lent<'a>) -> Option<Arg<'a>> {
        let wanted = dims.iter().try_fold(1usize, |n, size| n.checked_mul(*size));
        (wanted == Some(count)).then(|| Arg::array(dims, elements))
    }

    /// An array of records by its columns: for each field an array with an element, or an inner
    /// array, for each record; columns again if the field is a record. `None` if there are no
    /// columns, or if they do not have as many elements each. Nothing is made for each record.
    ///
    /// ```
    /// use lambada::{Arg, IntoArg, Model, args};
    ///
    /// let text = "def f (ps : [n]{mass : real, at : real}) = sum (for p in ps => p.mass * p.at)";
    /// let function = Model::compile("f.lam", text)?.function("f")?;
    /// let (mass, at) = ([1.0, 2.0], [3.0, 4.0]);
    /// let columns = [("mass".into(), mass.into_arg()), ("at".into(), at.into_arg())];
    /// let points = Arg::columns(columns).expect("two elements each");
    /// assert_eq!(f64::try_from(function.call(args![points])?)?, 11.0);
    /// # Ok::<(), lambada::Error>(())
    /// ```
    pub fn columns(fields: impl IntoIterator<Item = (Arc<str>, Arg<'a>)>) -> Option<Arg<'a>> {
        let mut fields: Vec<(Arc<str>, Arg<'a>)> = fields.into_iter().collect();
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        let records = fields.first()?.1.records()?;
        let is_regular = fields.iter().all(|(_, column)| column.records() == Some(records));
        is_regular.then_some(Arg(ArgData::Columns(records, fields)))
    }

    /// The number of elements on the first axis.
    fn records(&self) -> Option<usize> {
        match &self.0 {
            ArgData::Array(dims, _) => dims.all().first().copied(),
            ArgData::Data(data) => {
                let Data::Tensor(tensor) = &**data else { return None };
                tensor.dims.first().copied()
            }
            ArgData::Columns(records, _) => Some(*records),
            ArgData::Scalar(_) => None,
        }
    }

    /// An array whose elements are as many as it needs; a number if it has no dimensions.
    fn array(dims: &[usize], elements: Lent<'a>) -> Arg<'a> {
        match dims {
            [] => Arg(ArgData::Scalar(elements.copied().get(0))),
            dims => Arg(ArgData::Array(Dims::of(dims), elements)),
        }
    }

    /// Number of elements, or magnitude of an integer: a rough measure for the time of a call.
    pub fn extent(&self) -> u64 {
        match &self.0 {
            ArgData::Scalar(Scalar::Int(value)) => value.unsigned_abs(),
            ArgData::Scalar(Scalar::Real(_) | Scalar::Bool(_)) => 1,
            ArgData::Array(dims, _) => dims.all().iter().map(|size| *size as u64).product(),
            ArgData::Data(data) => extent(data),
            ArgData::Columns(_, fields) => fields.iter().map(|(_, column)| column.extent()).sum(),
        }
    }

    /// The shape that the argument contributes to type inference.
    pub(crate) fn shape(&self) -> Shape {
        match &self.0 {
            ArgData::Scalar(value) => array_shape(value.ty(), 0),
            ArgData::Array(dims, elements) => array_shape(elements.ty(), dims.all().len()),
            ArgData::Data(data) => shape_of(data),
            ArgData::Columns(..) => shape_of(&self.data()),
        }
    }

    /// A copy as owned data.
    pub fn to_data(&self) -> Data {
        self.data().into_owned()
    }

    /// The argument as data, borrowed if it already is data.
    pub(crate) fn data(&self) -> Cow<'_, Data> {
        match &self.0 {
            ArgData::Scalar(value) => Cow::Owned(Data::from(*value)),
            ArgData::Array(dims, elements) => {
                let (dims, data) = (dims.all().to_vec(), elements.copied());
                Cow::Owned(Data::Tensor(Tensor { dims, data }))
            }
            ArgData::Data(data) => Cow::Borrowed(data),
            ArgData::Columns(records, fields) => Cow::Owned(rows(*records, fields)),
        }
    }

    /// The argument as owned data.
    fn into_data(self) -> Data {
        match self.0 {
            ArgData::Data(data) => data.into_owned(),
            ArgData::Scalar(_) | ArgData::Array(..) | ArgData::Columns(..) => {
                self.data().into_owned()
            }
        }
    }
}

/// The records with these columns.
fn rows(records: usize, fields: &[(Arc<str>, Arg<'_>)]) -> Data {
    let mut rows = vec![Vec::with_capacity(fields.len()); records];
    for (name, column) in fields {
        let items: Vec<Data> = match column.data().into_owned() {
            Data::Array(items) => items,
            data => {
                // No other data are columns.
                let Data::Tensor(tensor) = data else { continue };
                tensor.rows().map(Data::Tensor).collect()
            }
        };
        rows.iter_mut().zip(items).for_each(|(row, item)| row.push((name.clone(), item)));
    }
    Data::Array(rows.into_iter().map(Data::Record).collect())
}

fn extent(data: &Data) -> u64 {
    let mut pending = vec![data];
    let mut extent = 0u64;
    while let Some(data) = pending.pop() {
        match data {
            Data::Tensor(tensor) => extent = extent.saturating_add(tensor.data.len() as u64),
            Data::Tuple(items) | Data::Array(items) => pending.extend(items),
            Data::Record(fields) => pending.extend(fields.iter().map(|(_, item)| item)),
            Data::Con { args, .. } => pending.extend(&args[..]),
        }
    }
    extent
}

/// Rust values that can be arguments.
///
/// | Rust | Lambada |
/// |---|---|
/// | `f64`, `f32`, integers | `real`, or `int` for integers |
/// | `i64`, `i32`, … | `int` |
/// | `bool` | `bool` |
/// | `&[T]`, `&Vec<T>`, `Vec<T>`, `&[T; N]`, `[T; N]` | `[n]T` |
/// | arrays and views of `ndarray`, of any strides | `[n][m]T` |
/// | tuples | tuples |
/// | [`Data`], [`Value`], and references to them | anything: records, variants, recursive data |
pub trait IntoArg<'a> {
    /// The argument.
    fn into_arg(self) -> Arg<'a>;
}

/// Elements of arrays.
pub trait Element: Copy + 'static {
    /// Borrows the elements; `None` if the compiled code has no type of that layout.
    fn lend(elements: &[Self]) -> Option<Lent<'_>>;

    /// Copies the elements, converted to the nearest type of Lambada.
    fn copied(elements: impl Iterator<Item = Self>) -> Elements;
}

macro_rules! element {
    ($kind:ident: $own:ty; $($other:ty),*) => {
        impl Element for $own {
            fn lend(elements: &[$own]) -> Option<Lent<'_>> {
                Some(Lent::$kind(elements))
            }

            fn copied(elements: impl Iterator<Item = $own>) -> Elements {
                Elements::$kind(elements.collect())
            }
        }
        element!(scalar $kind: $own; $own $(, $other)*);
        $(impl Element for $other {
            fn lend(_: &[$other]) -> Option<Lent<'_>> {
                None
            }

            fn copied(elements: impl Iterator<Item = $other>) -> Elements {
                Elements::$kind(elements.map(<$own>::from).collect())
            }
        })*
    };
    (scalar $kind:ident: $own:ty; $($ty:ty),*) => {
        $(impl<'a> IntoArg<'a> for $ty {
            fn into_arg(self) -> Arg<'a> {
                Arg(ArgData::Scalar(Scalar::$kind(<$own>::from(self))))
            }
        }

        impl<'a> IntoArg<'a> for &$ty {
            fn into_arg(self) -> Arg<'a> {
                (*self).into_arg()
            }
        })*
    };
}

element!(Real: f64;);
element!(Int: i64; i32, i16, i8, u32, u16, u8);
element!(Bool: bool;);

impl Element for f32 {
    fn lend(elements: &[f32]) -> Option<Lent<'_>> {
        Some(Lent::Single(elements))
    }

    fn copied(elements: impl Iterator<Item = f32>) -> Elements {
        Elements::Real(elements.map(f64::from).collect())
    }
}

element!(scalar Real: f64; f32);

impl<'a> IntoArg<'a> for usize {
    fn into_arg(self) -> Arg<'a> {
        Arg(ArgData::Scalar(Scalar::Int(i64::try_from(self).unwrap_or(i64::MAX))))
    }
}

fn owned<'a>(dims: &[usize], data: Elements) -> Arg<'a> {
    Arg(ArgData::Data(Cow::Owned(Data::Tensor(Tensor { dims: dims.to_vec(), data }))))
}

fn slice<'a, T: Element>(dims: &[usize], elements: &'a [T]) -> Arg<'a> {
    match T::lend(elements) {
        Some(lent) => Arg::array(dims, lent),
        None => owned(dims, T::copied(elements.iter().copied())),
    }
}

impl<'a, T: Element> IntoArg<'a> for &'a [T] {
    fn into_arg(self) -> Arg<'a> {
        slice(&[self.len()], self)
    }
}

impl<'a, T: Element> IntoArg<'a> for &'a Vec<T> {
    fn into_arg(self) -> Arg<'a> {
        slice(&[self.len()], self)
    }
}

impl<'a, T: Element, const N: usize> IntoArg<'a> for &'a [T; N] {
    fn into_arg(self) -> Arg<'a> {
        slice(&[N], self)
    }
}

impl<'a, T: Element, const N: usize, const M: usize> IntoArg<'a> for &'a [[T; M]; N] {
    fn into_arg(self) -> Arg<'a> {
        slice(&[N, M], self.as_flattened())
    }
}

impl<'a, T: Element> IntoArg<'a> for Vec<T> {
    fn into_arg(self) -> Arg<'a> {
        owned(&[self.len()], T::copied(self.into_iter()))
    }
}

impl<'a, T: Element, const N: usize> IntoArg<'a> for [T; N] {
    fn into_arg(self) -> Arg<'a> {
        owned(&[N], T::copied(self.into_iter()))
    }
}

impl<'a, T: Element, const N: usize, const M: usize> IntoArg<'a> for [[T; M]; N] {
    fn into_arg(self) -> Arg<'a> {
        owned(&[N, M], T::copied(self.into_iter().flatten()))
    }
}

impl<'a, A: Element, D: Dimension> IntoArg<'a> for &'a ArrayRef<A, D> {
    fn into_arg(self) -> Arg<'a> {
        match self.as_slice() {
            Some(elements) => slice(self.shape(), elements),
            None => owned(self.shape(), A::copied(self.iter().copied())),
        }
    }
}

impl<'a, S, D> IntoArg<'a> for &'a ArrayBase<S, D>
where
    S: ndarray::Data + RawData<Elem: Element>,
    D: Dimension,
{
    fn into_arg(self) -> Arg<'a> {
        let array: &'a ArrayRef<S::Elem, D> = self;
        array.into_arg()
    }
}

impl<'a, A: Element, D: Dimension> IntoArg<'a> for ArrayBase<ViewRepr<&'a A>, D> {
    fn into_arg(self) -> Arg<'a> {
        match self.to_slice() {
            Some(elements) => slice(self.shape(), elements),
            None => owned(self.shape(), A::copied(self.iter().copied())),
        }
    }
}

impl<'a, A: Element, D: Dimension> IntoArg<'a> for ArrayBase<OwnedRepr<A>, D> {
    fn into_arg(self) -> Arg<'a> {
        owned(self.shape(), A::copied(self.iter().copied()))
    }
}

impl<'a> IntoArg<'a> for Data {
    fn into_arg(self) -> Arg<'a> {
        Arg(ArgData::Data(Cow::Owned(self)))
    }
}

impl<'a> IntoArg<'a> for &'a Data {
    fn into_arg(self) -> Arg<'a> {
        match self {
            Data::Tensor(tensor) => Arg::array(&tensor.dims, (&tensor.data).into()),
            data => Arg(ArgData::Data(Cow::Borrowed(data))),
        }
    }
}

impl<'a> IntoArg<'a> for Value {
    fn into_arg(self) -> Arg<'a> {
        self.into_data().into_arg()
    }
}

impl<'a> IntoArg<'a> for &'a Value {
    fn into_arg(self) -> Arg<'a> {
        self.data().into_arg()
    }
}

impl<'a> IntoArg<'a> for Arg<'a> {
    fn into_arg(self) -> Arg<'a> {
        self
    }
}

impl<'a> IntoArg<'a> for &'a Arg<'a> {
    fn into_arg(self) -> Arg<'a> {
        self.clone()
    }
}

macro_rules! tuples {
    ($($item:ident),+) => {
        impl<'a, $($item: IntoArg<'a>),+> IntoArg<'a> for ($($item,)+) {
            fn into_arg(self) -> Arg<'a> {
                #[allow(non_snake_case)] // the items are called as their types
                let ($($item,)+) = self;
                let items = vec![$($item.into_arg().into_data()),+];
                Arg(ArgData::Data(Cow::Owned(Data::Tuple(items))))
            }
        }
    };
}

tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);
tuples!(A, B, C, D, E);
tuples!(A, B, C, D, E, F);

/// The arguments of a call, by place or by name; [`args!`](crate::args) makes them.
///
/// ```
/// use lambada::{Args, Model, args};
///
/// let model = Model::compile("f.lam", "def f (a : real) (b : real) = a - b")?;
/// let f = model.function("f")?;
/// let by_name: f64 = f.call(args![b: 1.0, a: 3.0])?.try_into()?;
/// let made: f64 = f.call(Args::new().with("b", 1.0).with("a", 3.0))?.try_into()?;
/// assert_eq!((by_name, made), (2.0, 2.0));
/// # Ok::<(), lambada::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Args<'a> {
    items: Vec<(Option<Cow<'a, str>>, Arg<'a>)>,
}

impl<'a> From<Vec<(Option<Cow<'a, str>>, Arg<'a>)>> for Args<'a> {
    fn from(items: Vec<(Option<Cow<'a, str>>, Arg<'a>)>) -> Args<'a> {
        Args { items }
    }
}

impl<'a> Args<'a> {
    /// No arguments.
    pub fn new() -> Args<'a> {
        Args::default()
    }

    /// Whether there are no arguments.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds an argument for the first parameter without a value.
    pub fn push(&mut self, arg: impl IntoArg<'a>) {
        self.items.push((None, arg.into_arg()));
    }

    /// Adds an argument for the parameter `name`.
    pub fn insert(&mut self, name: impl Into<Cow<'a, str>>, arg: impl IntoArg<'a>) {
        self.items.push((Some(name.into()), arg.into_arg()));
    }

    /// Returns the arguments with another one for the parameter `name`.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'a, str>>, arg: impl IntoArg<'a>) -> Args<'a> {
        self.insert(name, arg);
        self
    }

    /// All arguments, each with its name if it has one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Option<&str>, &Arg<'a>)> {
        self.items.iter().map(|(name, arg)| (name.as_deref(), arg))
    }

    /// Orders the arguments by parameter; a parameter without an argument gets `None`.
    pub(crate) fn in_order<'s>(
        &'s self,
        names: impl ExactSizeIterator<Item = &'s str> + Clone,
        ordered: &mut Ordered<'s>,
    ) -> Result<(), Misplaced<'s>> {
        if self.items.len() == names.len() && self.items.iter().all(|(name, _)| name.is_none()) {
            ordered.extend(self.items.iter().map(|(_, arg)| Some(arg)));
            return Ok(());
        }
        ordered.resize(names.len(), None);
        let mut next = 0;
        for (name, arg) in &self.items {
            let place = match name {
                None => {
                    let free = ordered[next..].iter().position(Option::is_none);
                    next += free.ok_or(Misplaced::TooMany)?;
                    next
                }
                Some(name) => {
                    let name: &'s str = name;
                    let same = |known: &&str| *known == name || matches(known, name);
                    // Named arguments usually come in the order of the parameters.
                    let here = names.clone().nth(next).is_some_and(|known| same(&known));
                    match here {
                        true => next,
                        false => {
                            let found = names.clone().position(|known| same(&known));
                            found.ok_or(Misplaced::Unknown(name))?
                        }
                    }
                }
            };
            let slot = &mut ordered[place];
            if slot.is_some() {
                return Err(Misplaced::Twice(name.as_deref().unwrap_or_default()));
            }
            *slot = Some(arg);
            next = if place == next { next + 1 } else { next };
        }
        Ok(())
    }
}

/// Pattern parameters match regardless of spaces in their names.
fn matches(known: &str, name: &str) -> bool {
    known.len() != name.len() && crate::data::names_match(known, name)
}

/// One entry for each parameter.
pub(crate) type Ordered<'s> = SmallVec<[Option<&'s Arg<'s>>; 12]>;

/// Why an argument belongs to no parameter.
pub(crate) enum Misplaced<'s> {
    Unknown(&'s str),
    Twice(&'s str),
    TooMany,
}

/// A record from named fields, sorted by name.
pub fn record<'a, const N: usize>(fields: [(&str, Arg<'a>); N]) -> Data {
    let field = |(name, arg): (&str, Arg)| (Arc::from(name), arg.into_data());
    let mut fields: Vec<(Arc<str>, Data)> = fields.into_iter().map(field).collect();
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    Data::Record(fields)
}

/// A value of a variant type: a constructor and its arguments.
pub fn variant<'a, const N: usize>(name: &str, args: [Arg<'a>; N]) -> Data {
    let args: Vec<Data> = args.into_iter().map(Arg::into_data).collect();
    Data::Con { name: name.into(), tag: 0, args: args.into() }
}

/// The arguments of a call, by place or by name: `args![&xs, gamma: 1.0]`. Accepts any [`IntoArg`]
/// value.
#[macro_export]
macro_rules! args {
    // One expression, so that temporaries borrowed in it live as long as the call.
    (@list [$($done:tt)*]) => { $crate::Args::from(::std::vec![$($done)*]) };
    (@list [$($done:tt)*] $name:ident : $value:expr $(, $($rest:tt)*)?) => {
        $crate::args!(@list [
            $($done)*
            (
                ::std::option::Option::Some(::std::borrow::Cow::Borrowed(stringify!($name))),
                $crate::IntoArg::into_arg($value),
            ),
        ] $($($rest)*)?)
    };
    (@list [$($done:tt)*] $value:expr $(, $($rest:tt)*)?) => {
        $crate::args!(@list [
            $($done)*
            (::std::option::Option::None, $crate::IntoArg::into_arg($value)),
        ] $($($rest)*)?)
    };
    ($($all:tt)*) => { $crate::args!(@list [] $($all)*) };
}

/// A record: `record! { mu: 0.5, sigma: &sigma }`.
#[macro_export]
macro_rules! record {
    ($($name:ident : $value:expr),* $(,)?) => {
        $crate::record([$((stringify!($name), $crate::IntoArg::into_arg($value))),*])
    };
}

/// A value of a variant type: `variant!(Circle(2.0))`, `variant!(Empty)`.
#[macro_export]
macro_rules! variant {
    ($name:ident) => { $crate::variant(stringify!($name), []) };
    ($name:ident ( $($value:expr),* $(,)? )) => {
        $crate::variant(stringify!($name), [$($crate::IntoArg::into_arg($value)),*])
    };
}
