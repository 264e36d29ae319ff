//! A definition of a program that can be called.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use lambada_elaborate::Shape;

use super::arg::{Arg, Args, Ordered};
use super::compiled::Compiled;
use super::error::Error;
use super::model::{Model, Parameter, Task, What};
use super::output::Output;
use super::ty::{Type, Variant};
use super::value::Value;
#[cfg(feature = "paper")]
use crate::paper::{Mode, PaperStage};
use crate::{Engine, Observer, Operator, Stage, Verification, Verify};

/// A definition of a program. The first call compiles it. Many threads may call it; each has memory
/// of its own.
///
/// `wrt` lists the parameters to differentiate with respect to [default: all parameters that hold
/// reals].
#[derive(Clone)]
pub struct Function {
    about: Arc<About>,
    compiled: Arc<OnceLock<Arc<Compiled>>>,
    pub(super) observer: Option<Observer>,
}

struct About {
    model: Model,
    name: Arc<str>,
    parameters: Vec<Parameter>,
    result: Option<Type>,
    variants: Vec<Variant>,
    types: Types,
}

/// Whether the types of a definition depend on the arguments of a call.
enum Types {
    /// All types are known, from the definition or from these shapes.
    Settled(Arc<[Shape]>),
    /// Each call determines the types; one function is cached for each list of shapes.
    Open(Mutex<HashMap<Arc<[Shape]>, Function>>),
}

/// Mode of differentiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Pushes tangents from arguments to results.
    Forward,
    /// Pulls cotangents from results back to arguments.
    Reverse,
}

/// Form in which to print a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivation {
    /// The simplified program that runs.
    Simplified,
    /// The program of the paper at one of its stages. Needs the feature `paper`.
    #[cfg(feature = "paper")]
    Paper(PaperStage),
}

impl Model {
    /// Finds a definition that can be called and differentiated.
    ///
    /// # Errors
    /// No definition has the name, or it cannot be run because it takes functions or its type is
    /// ambiguous.
    pub fn function(&self, name: &str) -> Result<Function, Error> {
        self.function_of(name, None)
    }

    /// As [`function`](Model::function), with open types resolved by shapes of arguments.
    fn function_of(&self, name: &str, given: Option<Arc<[Shape]>>) -> Result<Function, Error> {
        self.with_unit(|unit| {
            let call =
                unit.call_of(name, Operator::Value, None, given.as_deref().unwrap_or(&[]))?;
            let (parameters, result) = (call.typed_parameters(), call.result());
            let variants = Type::variants(&call.program, call.signature());
            let types = match given {
                None if unit.checked.is_open(name) => Types::Open(Mutex::default()),
                given => Types::Settled(given.unwrap_or_default()),
            };
            let (model, name) = (self.clone(), name.into());
            let about = About { model, name, parameters, result, variants, types };
            Ok(Function { about: Arc::new(about), compiled: Arc::default(), observer: None })
        })
    }
}

impl Function {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.about.name
    }

    /// Its doc comment.
    pub fn doc(&self) -> Option<&str> {
        let definitions = self.about.model.definitions();
        definitions.iter().find(|def| *def.name == *self.about.name)?.doc.as_deref()
    }

    /// Its parameters, with their types.
    pub fn parameters(&self) -> &[Parameter] {
        &self.about.parameters
    }

    /// The type of its result, if its signature lists all parameters that it takes.
    pub fn result(&self) -> Option<&Type> {
        self.about.result.as_ref()
    }

    /// All variant types in the types of its parameters and result, nested ones included.
    ///
    /// ```
    /// let model = lambada::Model::compile("f.lam", "
    ///     type shape = Circle real | Empty
    ///     def area (s : shape) : real = match s | Circle r -> 3.0 * r * r | Empty -> 0.0")?;
    /// let area = model.function("area")?;
    /// let shape = &area.variants()[0];
    /// assert_eq!((&*shape.name, &*shape.constructors[0].0), ("shape", "Circle"));
    /// assert_eq!(shape.constructors[0].1, [lambada::Type::Real]);
    /// # Ok::<(), lambada::Error>(())
    /// ```
    pub fn variants(&self) -> &[Variant] {
        &self.about.variants
    }

    /// The program.
    pub fn model(&self) -> &Model {
        &self.about.model
    }

    /// Whether the definition leaves types open, which the arguments of each call then determine.
    /// Its parameters and result then show the types inferred without arguments.
    pub fn is_open(&self) -> bool {
        matches!(self.about.types, Types::Open(_))
    }

    /// The function with open types resolved by arguments. Every call does this by itself.
    ///
    /// ```
    /// use lambada::{Model, args};
    ///
    /// let model = Model::compile("f.lam", "def layer w x b = tanh (w @ x + b)")?;
    /// let (w, x, b) = ([[1.0, 2.0], [3.0, 4.0]], [0.5, 0.5], [0.1, 0.2]);
    /// let layer = model.function("layer")?.at(&args![&w, &x, &b])?;
    /// assert_eq!(layer.to_string(), "layer (w : [n][m]real) (x : [m]real) (b : [n]real) : [n]real");
    /// # Ok::<(), lambada::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of the resolved call.
    pub fn at(&self, args: &Args<'_>) -> Result<Function, Error> {
        if !self.is_open() {
            return Ok(self.clone());
        }
        let mut ordered = Ordered::new();
        let names = self.parameters().iter().map(|param| &*param.name);
        // `call` reports misplaced arguments, so they are no error here.
        let fits = args.in_order(names, &mut ordered).is_ok();
        let shape = |arg: &Option<&Arg>| arg.map_or(Shape::Unknown, Arg::shape);
        let given: Vec<Shape> = ordered.iter().map(shape).collect();
        self.at_shapes(if fits { &given } else { &[] })
    }

    /// As [`at`](Function::at), by shapes, one for each parameter.
    ///
    /// # Errors
    /// Those of [`at`](Function::at).
    pub fn at_shapes(&self, given: &[Shape]) -> Result<Function, Error> {
        let Types::Open(known) = &self.about.types else { return Ok(self.clone()) };
        let kept = || known.lock().unwrap_or_else(PoisonError::into_inner);
        let observer = self.observer.clone();
        if let Some(function) = kept().get(given) {
            return Ok(Function { observer, ..function.clone() });
        }
        let given: Arc<[Shape]> = given.into();
        let made = self.about.model.function_of(self.name(), Some(given.clone()))?;
        let function = kept().entry(given).or_insert(made).clone();
        Ok(Function { observer, ..function })
    }

    /// The function with an observer for the values that it inspects.
    #[must_use]
    pub fn with_observer(&self, observer: Observer) -> Function {
        Function { observer: Some(observer), ..self.clone() }
    }

    /// Compiles the function unless that has been done.
    ///
    /// # Errors
    /// It cannot be compiled.
    pub fn prepare(&self) -> Result<(), Error> {
        self.ready().map(|_| ())
    }

    /// The engine that runs the function: native code, or the fallback without a C compiler.
    /// Compiles the function first.
    ///
    /// # Errors
    /// It cannot be compiled.
    pub fn engine(&self) -> Result<Engine, Error> {
        Ok(self.ready()?.engine())
    }

    #[inline]
    fn ready(&self) -> Result<&Compiled, Error> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let compiled = self.task(What::Plain(Operator::Value), None)?;
        Ok(self.compiled.get_or_init(|| compiled))
    }

    pub(super) fn task(&self, what: What, wrt: Option<&[&str]>) -> Result<Arc<Compiled>, Error> {
        let wrt = wrt.map(|names| names.iter().map(ToString::to_string).collect());
        let (entry, given) = (
            self.about.name.clone(),
            match &self.about.types {
                Types::Settled(given) => given.clone(),
                Types::Open(_) => Arc::default(),
            },
        );
        self.about.model.compiled(&Task { entry, what, wrt, given })
    }

    /// Calls the function: `f.call(args![x: &x, gamma: 1.0])`.
    ///
    /// # Errors
    /// Arguments that do not fit, and failures of the program.
    pub fn call(&self, args: Args<'_>) -> Result<Value, Error> {
        if self.is_open() {
            return self.at(&args)?.call(args);
        }
        let compiled = self.ready()?;
        complete(compiled, &args, |given| compiled.value(given, self.observer.as_ref()))
    }

    /// Calls the function and writes the result into `output`. Allocates nothing once it has been
    /// called with arguments of the same sizes. Large results are computed in dense arrays of
    /// `f64` and `i64` themselves, for which it allocates a short list; if the call fails, they may
    /// hold anything.
    ///
    /// ```
    /// use lambada::{Model, args};
    ///
    /// let model = Model::compile("f.lam", "def f [n] (x : [n]real) = (sum x, 2.0 * x)")?;
    /// let (mut total, mut twice) = (0.0, vec![0.0; 2]);
    /// model.function("f")?.call_into(&args![&[1.0, 2.0]], &mut (&mut total, &mut twice))?;
    /// assert_eq!((total, twice), (3.0, vec![2.0, 4.0]));
    /// # Ok::<(), lambada::Error>(())
    /// ```
    ///
    /// # Errors
    /// Arguments that do not fit, failures of the program, and an output whose type or size differs
    /// from that of the result.
    pub fn call_into(&self, args: &Args<'_>, output: &mut dyn Output) -> Result<(), Error> {
        if self.is_open() {
            return self.at(args)?.call_into(args, output);
        }
        let compiled = self.ready()?;
        complete(compiled, args, |given| compiled.write(given, self.observer.as_ref(), output))
    }

    /// Resolves `wrt` to names of parameters, in the order of `wrt`.
    pub(super) fn wrt<'n>(&'n self, wrt: &[&'n str]) -> Result<Vec<&'n str>, Error> {
        if !wrt.is_empty() {
            let mut names: Vec<&str> = Vec::new();
            for name in wrt {
                let known = self.parameters().iter().map(|param| &*param.name);
                let known = known.into_iter().find(|known| crate::data::names_match(known, name));
                // Compiling the derivative reports unknown names.
                let name = known.unwrap_or(name);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            return Ok(names);
        }
        let real = self.parameters().iter().filter(|param| param.is_real);
        let real: Vec<&str> = real.map(|param| &*param.name).collect();
        if real.is_empty() {
            let of = |unit: &crate::Unit| unit.call(self.name(), Operator::Jvp, None).map(|_| ());
            self.about.model.with_unit(of)?;
        }
        Ok(real)
    }

    /// The derivative as source text.
    ///
    /// # Errors
    /// The function has no derivative in this form.
    pub fn derive(
        &self,
        direction: Direction,
        wrt: &[&str],
        stage: Derivation,
    ) -> Result<String, Error> {
        let wrt: Vec<String> = wrt.iter().map(ToString::to_string).collect();
        let wrt = (!wrt.is_empty()).then_some(&wrt[..]);
        self.about.model.with_unit(|unit| match (stage, direction) {
            (Derivation::Simplified, Direction::Forward) => {
                unit.derivative_source(self.name(), Operator::Jvp, wrt)
            }
            (Derivation::Simplified, Direction::Reverse) => {
                unit.derivative_source(self.name(), Operator::Vjp, wrt)
            }
            #[cfg(feature = "paper")]
            (Derivation::Paper(stage), Direction::Forward) => {
                unit.paper_stage(self.name(), Mode::Forward, stage, wrt)
            }
            #[cfg(feature = "paper")]
            (Derivation::Paper(stage), Direction::Reverse) => {
                unit.paper_stage(self.name(), Mode::Reverse, stage, wrt)
            }
        })
    }

    /// The function, or a derivative of it, at a stage of the compiler.
    ///
    /// # Errors
    /// The function cannot be compiled up to that stage.
    pub fn show(&self, stage: Stage, of: Operator, wrt: &[&str]) -> Result<String, Error> {
        let wrt: Vec<String> = wrt.iter().map(ToString::to_string).collect();
        let wrt = (!wrt.is_empty()).then_some(&wrt[..]);
        self.about.model.with_unit(|unit| unit.show(self.name(), stage, of, wrt, None))
    }

    /// Compares the derivatives with independently computed ones, at the arguments or, without any,
    /// at random points.
    ///
    /// # Errors
    /// The function cannot be differentiated, arguments do not fit, or no point with a finite value
    /// was found. Wrong derivatives are no error: see [`Verification::problems`].
    pub fn verify(&self, args: &Args<'_>) -> Result<Verification, Error> {
        let mut inputs = crate::Inputs::new();
        if !args.is_empty() {
            let ordered = self.ready()?.ordered(args, 0, self.parameters().len())?;
            for (param, arg) in self.parameters().iter().zip(&ordered) {
                if let Some(arg) = arg {
                    let value = crate::to_json(&arg.data());
                    let value = crate::Raw::Json(value.into());
                    inputs.insert(&*param.name, value, "the call");
                }
            }
        }
        let options = self.about.model.options();
        self.about.model.with_unit(|unit| {
            let (entry, engine) = (Some(self.name()), options.engine);
            unit.verify(&Verify { entry, wrt: None, inputs: &inputs, engine, drawing: &|_| {} })
        })
    }
}

/// Runs `run` if every parameter has an argument.
pub(crate) fn complete<R>(
    compiled: &Compiled,
    args: &Args<'_>,
    run: impl FnOnce(&[Option<&Arg<'_>>]) -> Result<R, Error>,
) -> Result<R, Error> {
    let mut ordered = Ordered::new();
    compiled.order(args, 0, compiled.plan.slots.len(), &mut ordered)?;
    match ordered.iter().position(Option::is_none) {
        Some(slot) => Err(compiled.missing(slot)),
        None => run(&ordered),
    }
}

impl fmt::Display for Function {
    /// As a declaration: `f (x : [n]real) : real`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        for Parameter { name, ty, .. } in self.parameters() {
            write!(f, " ({name} : {ty})")?;
        }
        match self.result() {
            Some(result) => write!(f, " : {result}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({self})")
    }
}
