//! Derivatives of functions: compiled once, then callable from any number of threads.

use std::borrow::Cow;
use std::sync::Arc;

use lambada_core::Data;

use super::arg::{Arg, Args, IntoArg, Ordered};
use super::compiled::Compiled;
use super::error::Error;
use super::function::{Function, complete};
use super::model::What;
use super::output::Output;
use super::value::Value;
use crate::{Observer, Operator, Sparse};

impl Function {
    /// The value and the gradient of a function whose result is a real.
    ///
    /// # Errors
    /// Its result is no real, or a parameter does not exist or holds no reals.
    pub fn value_and_grad(&self, wrt: &[&str]) -> Result<ValueAndGrad, Error> {
        self.derived(What::Plain(Operator::Grad), wrt).map(ValueAndGrad)
    }

    /// Value and tangent.
    ///
    /// # Errors
    /// A parameter does not exist or holds no reals.
    pub fn jvp(&self, wrt: &[&str]) -> Result<Jvp, Error> {
        self.derived(What::Plain(Operator::Jvp), wrt).map(Jvp)
    }

    /// Value and pullback of cotangents.
    ///
    /// # Errors
    /// A parameter does not exist or holds no reals.
    pub fn vjp(&self, wrt: &[&str]) -> Result<Vjp, Error> {
        let derived = self.derived(What::Plain(Operator::Vjp), wrt)?;
        if !self.is_open() {
            self.prepare()?;
        }
        Ok(Vjp { function: self.clone(), derived })
    }

    /// The Jacobian of a function whose result is a real or an array of reals: axes of the result,
    /// then axes of the parameter.
    ///
    /// # Errors
    /// Its result holds anything else, or a parameter does not exist or holds no reals.
    pub fn jacobian(&self, wrt: &[&str]) -> Result<Jacobian, Error> {
        self.derived(What::Plain(Operator::Jacobian), wrt).map(Jacobian)
    }

    /// The Hessian of a function whose result is a real, by pairs of parameters.
    ///
    /// # Errors
    /// Its result is no real, or a parameter does not exist or is no array of reals.
    pub fn hessian(&self, wrt: &[&str]) -> Result<Hessian, Error> {
        self.derived(What::Plain(Operator::Hessian), wrt).map(Hessian)
    }

    /// The product of the Hessian with a tangent, for a function whose result is a real, at a small
    /// multiple of the cost of the value.
    ///
    /// # Errors
    /// Its result is no real, or a parameter does not exist or holds no reals.
    pub fn hvp(&self, wrt: &[&str]) -> Result<Hvp, Error> {
        self.derived(What::Hvp, wrt).map(Hvp)
    }

    /// The sparse Jacobian of a function from a vector, its only parameter in `wrt`, to a vector.
    ///
    /// # Errors
    /// The result or the parameter is no vector of reals.
    pub fn sparse_jacobian(&self, wrt: &[&str]) -> Result<SparseMatrix, Error> {
        self.sparse(Sparse::Jacobian, wrt)
    }

    /// The sparse Hessian of a function from a vector, its only parameter in `wrt`, to a real.
    ///
    /// # Errors
    /// The result is no real, or the parameter no vector of reals.
    pub fn sparse_hessian(&self, wrt: &[&str]) -> Result<SparseMatrix, Error> {
        self.sparse(Sparse::Hessian, wrt)
    }

    fn sparse(&self, matrix: Sparse, wrt: &[&str]) -> Result<SparseMatrix, Error> {
        self.derived(What::Sparse(matrix), wrt).map(SparseMatrix)
    }

    /// Compiles the derivative, unless the types depend on the arguments of a call.
    fn derived(&self, what: What, wrt: &[&str]) -> Result<Derived, Error> {
        if self.is_open() {
            let wrt = wrt.iter().map(ToString::to_string).collect();
            return Ok(Derived::Open(Open { function: self.clone(), what, wrt }));
        }
        self.settled(what, wrt).map(Derived::Settled)
    }

    fn settled(&self, what: What, wrt: &[&str]) -> Result<Derivative, Error> {
        let wrt = self.wrt(wrt)?;
        let compiled = self.task(what, Some(&wrt))?;
        Ok(Derivative::new(compiled, &wrt, self.observer.clone()))
    }
}

/// One value for each parameter in `wrt`.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    parts: Vec<(Arc<str>, Value)>,
}

impl Gradient {
    fn new(names: &[Arc<str>], value: Value) -> Gradient {
        let parts = match value.into_data() {
            Data::Tuple(items) if names.len() != 1 => items.into_iter().map(Value::from).collect(),
            single => vec![Value::from(single)],
        };
        Gradient { parts: names.iter().cloned().zip(parts).collect() }
    }

    /// The part for one parameter: `gradient.get("alpha")?.view::<Ix1>()`.
    ///
    /// # Errors
    /// `name` is not among the differentiated parameters.
    pub fn get(&self, name: &str) -> Result<&Value, Error> {
        let part = self.parts.iter().find(|(known, _)| crate::data::names_match(known, name));
        part.map(|(_, value)| value).ok_or_else(|| {
            let names: Vec<&str> = self.parts.iter().map(|(name, _)| &**name).collect();
            let names = lambada_source::quoted(&names);
            Error::misuse(format!("there is no derivative by `{name}`, but by {names}"))
        })
    }

    /// All parameters and their parts, in the order of `wrt`.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.parts.iter().map(|(name, value)| (&**name, value))
    }

    /// As [`iter`](Gradient::iter), by value, without copies.
    pub fn into_parts(self) -> impl Iterator<Item = (Arc<str>, Value)> {
        self.parts.into_iter()
    }

    /// The part of the only parameter, or a tuple of the parts of several.
    pub fn into_value(mut self) -> Value {
        match self.parts.len() {
            1 => self.parts.remove(0).1,
            _ => Data::Tuple(self.parts.into_iter().map(|(_, value)| value.into_data()).collect())
                .into(),
        }
    }
}

/// A compiled derivative and the names of the differentiated parameters.
#[derive(Clone)]
pub(super) struct Derivative {
    pub(super) compiled: Arc<Compiled>,
    pub(super) wrt: Arc<[Arc<str>]>,
    observer: Option<Observer>,
}

impl Derivative {
    fn new(compiled: Arc<Compiled>, wrt: &[&str], observer: Option<Observer>) -> Derivative {
        Derivative { compiled, wrt: wrt.iter().map(|name| Arc::from(*name)).collect(), observer }
    }

    /// The value and the derivative.
    fn pair(&self, given: &[Option<&Arg<'_>>]) -> Result<(Value, Value), Error> {
        let both = self.compiled.value(given, self.observer.as_ref())?;
        both.try_into()
    }

    fn call(&self, args: &Args<'_>) -> Result<(Value, Value), Error> {
        complete(&self.compiled, args, |given| self.pair(given))
    }

    fn call_into(&self, args: &Args<'_>, output: &mut dyn Output) -> Result<(), Error> {
        complete(&self.compiled, args, |given| {
            self.compiled.write(given, self.observer.as_ref(), output)
        })
    }
}

/// A derivative, or a request for one whose types depend on the arguments of a call.
#[derive(Clone)]
enum Derived {
    Settled(Derivative),
    Open(Open),
}

#[derive(Clone)]
struct Open {
    function: Function,
    what: What,
    wrt: Arc<[String]>,
}

impl Derived {
    /// The derivative at the types of the arguments.
    fn at(&self, args: &Args<'_>) -> Result<Cow<'_, Derivative>, Error> {
        match self {
            Derived::Settled(derivative) => Ok(Cow::Borrowed(derivative)),
            Derived::Open(Open { function, what, wrt }) => {
                let wrt: Vec<&str> = wrt.iter().map(|name| &**name).collect();
                function.at(args)?.settled(*what, &wrt).map(Cow::Owned)
            }
        }
    }
}

macro_rules! derivative {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Derived);
    };
}

derivative! {
    /// The value and the gradient of a function; see [`Function::value_and_grad`].
    ValueAndGrad
}
derivative! {
    /// The value and the tangent of a function; see [`Function::jvp`].
    Jvp
}
derivative! {
    /// The value and the Jacobian of a function; see [`Function::jacobian`].
    Jacobian
}
derivative! {
    /// The value and the Hessian of a function; see [`Function::hessian`].
    Hessian
}
derivative! {
    /// The Hessian of a function times a tangent; see [`Function::hvp`].
    Hvp
}

impl ValueAndGrad {
    /// The value and the gradient.
    ///
    /// # Errors
    /// Arguments that do not fit, and failures of the program.
    pub fn call(&self, args: Args<'_>) -> Result<(f64, Gradient), Error> {
        let this = self.0.at(&args)?;
        let (value, gradient) = this.call(&args)?;
        Ok((value.try_into()?, Gradient::new(&this.wrt, gradient)))
    }

    /// As [`call`](ValueAndGrad::call), written into `output`: the value, then one part for each
    /// parameter.
    ///
    /// ```
    /// use lambada::{Model, args};
    /// use ndarray::{Array1, array};
    ///
    /// let model = Model::compile("f.lam", "def f [n] (x : [n]real) = sum (x * x)")?;
    /// let gradient = model.function("f")?.value_and_grad(&["x"])?;
    /// let mut out = (0.0, Array1::zeros(3));
    /// for k in 0..3 {
    ///     gradient.call_into(&args![&[0.0, 1.0, k as f64]], &mut out)?;
    /// }
    /// assert_eq!(out, (5.0, array![0.0, 2.0, 4.0]));
    /// # Ok::<(), lambada::Error>(())
    /// ```
    ///
    /// # Errors
    /// Arguments that do not fit, failures of the program, and an output whose type or size differs
    /// from that of the result.
    pub fn call_into(&self, args: &Args<'_>, output: &mut dyn Output) -> Result<(), Error> {
        self.0.at(args)?.call_into(args, output)
    }
}

impl Jvp {
    /// The value and its tangent along tangents of the parameters [default: zero].
    ///
    /// ```
    /// use lambada::{Model, args};
    ///
    /// let model = Model::compile("f.lam", "def f (x : real) (y : real) = x * y")?;
    /// let along = model.function("f")?.jvp(&["x", "y"])?;
    /// let (value, tangent) = along.call(args![3.0, 4.0], args![y: 1.0])?;
    /// assert_eq!((f64::try_from(value)?, f64::try_from(tangent)?), (12.0, 3.0));
    /// # Ok::<(), lambada::Error>(())
    /// ```
    ///
    /// # Errors
    /// Arguments or tangents that do not fit, and failures of the program.
    pub fn call(&self, args: Args<'_>, tangents: Args<'_>) -> Result<(Value, Value), Error> {
        let this = self.0.at(&args)?;
        this.along(&args, &tangents, |given| this.pair(given))
    }

    /// As [`call`](Jvp::call), written into `output`.
    ///
    /// # Errors
    /// Those of [`call`](Jvp::call), and an output whose type or size differs from that of the
    /// result.
    pub fn call_into(
        &self,
        args: &Args<'_>,
        tangents: &Args<'_>,
        output: &mut dyn Output,
    ) -> Result<(), Error> {
        let this = self.0.at(args)?;
        this.along(args, tangents, |given| {
            this.compiled.write(given, this.observer.as_ref(), output)
        })
    }
}

impl Hvp {
    /// The derivative of the gradient along tangents of the parameters [default: zero].
    ///
    /// # Errors
    /// Arguments or tangents that do not fit, and failures of the program.
    pub fn call(&self, args: Args<'_>, tangents: Args<'_>) -> Result<Gradient, Error> {
        let this = self.0.at(&args)?;
        this.along(&args, &tangents, |given| {
            let (_, second) = this.pair(given)?;
            let (_, along): (Value, Value) = second.try_into()?;
            Ok(Gradient::new(&this.wrt, along))
        })
    }
}

impl Jacobian {
    /// The value, and the Jacobian with respect to each parameter.
    ///
    /// # Errors
    /// Arguments that do not fit, and failures of the program.
    pub fn call(&self, args: Args<'_>) -> Result<(Value, Gradient), Error> {
        let this = self.0.at(&args)?;
        let (value, jacobian) = this.call(&args)?;
        Ok((value, Gradient::new(&this.wrt, jacobian)))
    }
}

impl Hessian {
    /// The value, and second derivatives for each pair of parameters.
    ///
    /// ```
    /// use lambada::{Model, args};
    /// use ndarray::{Ix2, array};
    ///
    /// let model = Model::compile("f.lam", "def f [n] (x : [n]real) = product x")?;
    /// let (value, hessian) = model.function("f")?.hessian(&["x"])?.call(args![&[2.0, 3.0]])?;
    /// assert_eq!((value, hessian.get("x", "x")?.view::<Ix2>()), (6.0, array![[0.0, 1.0], [1.0, 0.0]].view()));
    /// # Ok::<(), lambada::Error>(())
    /// ```
    ///
    /// # Errors
    /// Arguments that do not fit, and failures of the program.
    pub fn call(&self, args: Args<'_>) -> Result<(f64, Blocks), Error> {
        let this = self.0.at(&args)?;
        let (value, hessian) = this.call(&args)?;
        let rows = Gradient::new(&this.wrt, hessian).parts.into_iter();
        let rows = rows.map(|(name, row)| (name, Gradient::new(&this.wrt, row))).collect();
        Ok((value.try_into()?, Blocks { rows }))
    }
}

/// Second derivatives by pairs of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    rows: Vec<(Arc<str>, Gradient)>,
}

impl Blocks {
    /// The derivative by `column` of the gradient by `row`.
    ///
    /// # Errors
    /// `row` or `column` is not among the differentiated parameters.
    pub fn get(&self, row: &str, column: &str) -> Result<&Value, Error> {
        let found = self.rows.iter().find(|(known, _)| crate::data::names_match(known, row));
        match (found, self.rows.first()) {
            (Some((_, gradient)), _) | (None, Some((_, gradient))) if found.is_some() => {
                gradient.get(column)
            }
            (_, Some((_, gradient))) => gradient.get(row),
            (_, None) => Err(Error::misuse("there are no second derivatives".into())),
        }
    }

    /// All rows, by parameter.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Gradient)> {
        self.rows.iter().map(|(name, row)| (&**name, row))
    }

    /// As [`iter`](Blocks::iter), by value, without copies.
    pub fn into_rows(self) -> impl Iterator<Item = (Arc<str>, Gradient)> {
        self.rows.into_iter()
    }
}

/// The value and the pullback of a function; see [`Function::vjp`].
#[derive(Clone)]
pub struct Vjp {
    function: Function,
    derived: Derived,
}

impl Vjp {
    /// The value, and the pullback at the arguments; the pullback keeps copies of them.
    ///
    /// ```
    /// use lambada::{Model, args};
    /// use ndarray::{Ix1, array};
    ///
    /// let model = Model::compile("f.lam", "def f [n] (x : [n]real) = x * x")?;
    /// let (value, pullback) = model.function("f")?.vjp(&["x"])?.call(args![&[1.0, 2.0]])?;
    /// assert_eq!(value.view::<Ix1>(), array![1.0, 4.0]);
    /// for k in 0..2 {
    ///     let cotangent = if k == 0 { [1.0, 0.0] } else { [0.0, 1.0] };
    ///     let gradient = pullback.call(&cotangent)?;
    ///     assert_eq!(gradient.get("x")?.view::<Ix1>()[k], 2.0 * (k + 1) as f64);
    /// }
    /// # Ok::<(), lambada::Error>(())
    /// ```
    ///
    /// # Errors
    /// Arguments that do not fit, and failures of the program.
    pub fn call(&self, args: Args<'_>) -> Result<(Value, Pullback), Error> {
        let derivative = self.derived.at(&args)?;
        let own = derivative.compiled.plan.slots.len() - 1;
        let point = derivative.compiled.ordered(&args, 0, own)?;
        let kept = point.iter().flatten().map(|arg| arg.data().into_owned());
        let kept: Vec<Data> = kept.collect();
        drop(point);
        let value = self.function.call(args)?;
        Ok((value, Pullback { derivative: derivative.into_owned(), point: kept }))
    }

    /// The value, and the cotangents of the parameters for one cotangent of the result, in one run.
    ///
    /// # Errors
    /// Arguments or a cotangent that do not fit, and failures of the program.
    pub fn at<'a>(
        &self,
        args: Args<'_>,
        cotangent: impl IntoArg<'a>,
    ) -> Result<(Value, Gradient), Error> {
        let cotangent = cotangent.into_arg();
        let derivative = self.derived.at(&args)?;
        let own = derivative.compiled.plan.slots.len() - 1;
        let point = derivative.compiled.ordered(&args, 0, own)?;
        if let Some(slot) = point.iter().position(Option::is_none) {
            return Err(derivative.compiled.missing(slot));
        }
        let given: Ordered = point.iter().copied().chain([Some(&cotangent)]).collect();
        let (value, cotangents) = derivative.pair(&given)?;
        Ok((value, Gradient::new(&derivative.wrt, cotangents)))
    }
}

/// Pullback at the arguments of a call: maps cotangents of the result to cotangents of parameters.
/// Each call runs the primal and the reverse sweep, because no tape is kept.
#[derive(Clone)]
pub struct Pullback {
    derivative: Derivative,
    point: Vec<Data>,
}

impl Pullback {
    /// The arguments at which the pullback is taken.
    pub fn point(&self) -> &[Data] {
        &self.point
    }

    /// The cotangents of the parameters, for a cotangent of the result.
    ///
    /// # Errors
    /// A cotangent that does not fit, and failures of the program.
    pub fn call<'a>(&self, cotangent: impl IntoArg<'a>) -> Result<Gradient, Error> {
        let cotangent = cotangent.into_arg();
        let point: Vec<Arg> = self.point.iter().map(IntoArg::into_arg).collect();
        let given: Ordered = point.iter().chain([&cotangent]).map(Some).collect();
        let (_, cotangents) = self.derivative.pair(&given)?;
        Ok(Gradient::new(&self.derivative.wrt, cotangents))
    }
}

/// A sparse matrix of derivatives; see [`Function::sparse_jacobian`].
#[derive(Clone)]
pub struct SparseMatrix(Derived);

/// The entries of a sparse matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Triplets {
    /// Rows and columns.
    pub shape: (usize, usize),
    /// The row of each entry, from 0.
    pub rows: Vec<i64>,
    /// The column of each entry, from 0.
    pub cols: Vec<i64>,
    /// The entries.
    pub values: Vec<f64>,
}

impl SparseMatrix {
    /// The value, and the entries of the matrix.
    ///
    /// # Errors
    /// Arguments that do not fit, and failures of the program.
    pub fn call(&self, args: Args<'_>) -> Result<(Value, Triplets), Error> {
        let (value, matrix) = self.0.at(&args)?.call(&args)?;
        let (rows, cols): (i64, i64) = matrix.field("shape")?.try_into()?;
        let triplets = Triplets {
            shape: (rows as usize, cols as usize),
            rows: matrix.field("rows")?.try_into()?,
            cols: matrix.field("cols")?.try_into()?,
            values: matrix.field("values")?.try_into()?,
        };
        Ok((value, triplets))
    }
}
