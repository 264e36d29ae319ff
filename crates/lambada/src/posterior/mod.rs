//! A definition as a posterior: a log density of the parameters that the data do not give, by
//! coordinates that may be any reals.

mod blame;
mod bound;
mod dependence;
mod functions;
mod prediction;
mod program;

use std::rc::Rc;
use std::sync::Arc;

use lambada_core::{Data, Size, SizedTy};
use lambada_elaborate::Shape;
use lambada_prim::ScalarTy;
use lambada_source::{Failure, Problem, Sources};
use lambada_surface::ast::Item;
use lambada_surface::free_variables;

use bound::Bound;
pub use functions::Given;
pub use prediction::Prediction;
pub use program::Goal;
use program::{Part, Slot};

use crate::counted::Counted;
use crate::data::is_identifier;
use crate::messages::posterior as messages;
use crate::space::{Sizes, Space, Variable, learn};
use crate::{Call, Inputs, Operator, Options, Session, Unit};

/// A definition, its data, and options.
pub struct Request<'a> {
    /// The definition [default: the only one with a real result].
    pub entry: Option<&'a str>,
    /// Data by parameter name.
    pub inputs: &'a Inputs,
    /// Sizes that no data have, by name.
    pub sizes: &'a [(String, usize)],
    /// Values of the unknown parameters to begin at.
    pub start: Option<&'a Inputs>,
    /// The options of the compiler.
    pub options: &'a Options,
    /// Takes assumptions about the data, in words.
    pub told: &'a dyn Fn(&str),
}

/// A definition with data, and the program for its other parameters.
struct Target {
    entry: String,
    slots: Vec<Slot>,
    data: Vec<(Arc<str>, Data)>,
    sources: Sources,
    options: Options,
    unit: Unit,
    /// Whether the definition depends on each of its parameters.
    mentions: Vec<bool>,
    counted: Counted,
}

impl Request<'_> {
    /// The posterior of a definition of a checked file, given data.
    ///
    /// # Errors
    /// Data that do not fit, parameters that are neither given nor made of reals, sizes that no
    /// data have.
    pub fn posterior(&self, session: &mut Session, unit: &Unit) -> Result<Posterior, Vec<Problem>> {
        let parts = [Part::Density, Part::Values, Part::Coordinates];
        let target = self.target(session, unit, &parts)?;
        let density = target.bound(Part::Density)?;
        Ok(Posterior {
            start: self.start.map(|start| target.start(start)).transpose()?,
            entry: target.entry.as_str().into(),
            parameters: target.unknown().map(|(name, _)| name.into()).collect(),
            variables: target.variables(),
            coordinates: target.coordinates(),
            data: target.data.clone(),
            free: target.unknown().flat_map(|(_, space)| space.free_parts()).collect(),
            unmentioned: target.unmentioned(),
            unmet: target.unmet(&density),
            counted: target.counted.clone(),
            density,
            values: target.bound(Part::Values)?,
        })
    }

    /// The search for an optimum of a definition of a checked file, given data.
    ///
    /// # Errors
    /// As [`posterior`](Request::posterior).
    pub fn optimum(
        &self,
        session: &mut Session,
        unit: &Unit,
        goal: Goal,
    ) -> Result<Optimum, Vec<Problem>> {
        let (optimum, curvature) = (Part::Optimum(goal), Part::Curvature(goal));
        let parts =
            [goal.density(), Part::Values, Part::Coordinates, optimum, curvature, Part::Slopes];
        let target = self.target(session, unit, &parts)?;
        Ok(Optimum {
            start: self.start.map(|start| target.start(start)).transpose()?,
            entry: target.entry.as_str().into(),
            goal,
            parameters: target.unknown().map(|(name, _)| name.into()).collect(),
            variables: target.variables(),
            coordinates: target.coordinates(),
            search: target.bound(optimum)?,
            values: target.bound(Part::Values)?,
            curvature: target.bound(curvature)?,
            slopes: target.bound(Part::Slopes)?,
        })
    }

    fn target(
        &self,
        session: &mut Session,
        unit: &Unit,
        parts: &[Part],
    ) -> Result<Target, Vec<Problem>> {
        let Request { inputs, sizes, options, .. } = *self;
        let entry = entry(unit, self.entry)?;
        let call = unit.call_at(&entry, Operator::Value, None, inputs)?;
        if !call.is_density() {
            return Err(vec![messages::no_density(&entry, &call.result_type())]);
        }
        let given = call.partial_arguments(inputs)?;
        call.assumed(inputs).iter().for_each(|note| (self.told)(note));
        let known = known(&call, &given, sizes)?;
        let slots = slots(&call, &given, &known)?;
        let counts = slots.iter().filter_map(|slot| slot.space.as_ref());
        let mut counts = counts.flat_map(|space| space.variables("", true));
        if counts.all(|variable| variable.count() == 0) {
            return Err(vec![messages::nothing_unknown(&entry)]);
        }
        let text = program::text(&entry, &slots, parts);
        let unit = session.load_beside(unit, program::MODEL, &text)?;
        let mentions = crate::pipeline::unoptimized(&call.program, call.entry)?;
        let mentions = dependence::dependence(&mentions, 0);
        let counted = call.counted(given.iter().map(Option::as_ref));
        let given = call.parameters().into_iter().zip(given);
        let data = given.filter_map(|(name, data)| Some(((&*name).into(), data?))).collect();
        let sources = session.sources().clone();
        let options = options.clone();
        Ok(Target { entry, slots, data, sources, options, unit, mentions, counted })
    }
}

impl Target {
    fn unknown(&self) -> impl Iterator<Item = (&str, &Space<usize>)> {
        self.slots.iter().filter_map(|slot| Some((&*slot.name, slot.space.as_ref()?)))
    }

    /// The parameters without data that the density does not depend on.
    fn unmentioned(&self) -> Vec<Arc<str>> {
        let slots = self.slots.iter().zip(&self.mentions);
        let idle = slots.filter(|(slot, mentioned)| slot.space.is_some() && !**mentioned);
        idle.map(|(slot, _)| slot.name.as_str().into()).collect()
    }

    /// The data that the gradient does not depend on. Single whole numbers are left out, because
    /// types mention them as sizes.
    fn unmet(&self, density: &Bound) -> Vec<Arc<str>> {
        let moves = &density.moved_by()[self.unknown().count()..];
        let idle = self.data.iter().zip(moves).filter(|(_, moves)| !**moves);
        let is_size = |data: &Data| {
            let Data::Tensor(tensor) = data else { return false };
            tensor.dims.is_empty() && tensor.elem() == ScalarTy::Int
        };
        idle.filter(|((_, data), _)| !is_size(data)).map(|((name, _), _)| name.clone()).collect()
    }

    fn variables(&self) -> Vec<Variable> {
        self.unknown().flat_map(|(name, space)| space.variables(name, false)).collect()
    }

    fn coordinates(&self) -> Vec<Variable> {
        self.unknown().flat_map(|(name, space)| space.variables(name, true)).collect()
    }

    /// The coordinates of values.
    fn start(&self, values: &Inputs) -> Result<Vec<f64>, Vec<Problem>> {
        let call = self.unit.call(Part::Coordinates.name(), Operator::Value, None)?;
        let given = call.arguments(values)?;
        let program = Bound::new(&call, &[], &given, &self.sources, &self.options)?;
        let mut coordinates = vec![0.0; total(&self.coordinates())];
        let ran = program.reals(&[], &mut coordinates);
        match ran {
            Ok(()) if coordinates.iter().all(|x| x.is_finite()) => Ok(coordinates),
            _ => Err(vec![messages::start_outside(&self.entry)]),
        }
    }

    /// Compiles a part: the gradient of a density, the others as they are.
    fn bound(&self, part: Part) -> Result<Bound, Vec<Problem>> {
        let is_density = matches!(part, Part::Density | Part::Plain);
        let names: Vec<String> = self.unknown().map(|(name, _)| name.to_string()).collect();
        let wrt = is_density.then_some(&names[..]);
        let operator = if is_density { Operator::Grad } else { Operator::Value };
        let mut moving =
            if part == Part::Coordinates { self.variables() } else { self.coordinates() };
        if part.takes_vector() {
            moving.extend(self.coordinates());
        }
        let data = self.data.iter().filter(|_| part.takes_data());
        let data: Vec<Data> = data.map(|(_, data)| data.clone()).collect();
        let count = if part.takes_vector() { 2 * names.len() } else { names.len() };
        let given = if self.unit.checked.is_open(part.name()) {
            let open = (0..count).map(|_| Shape::Unknown);
            open.chain(data.iter().map(crate::data::shape_of)).collect()
        } else {
            Vec::new()
        };
        let call = self.unit.call_of(part.name(), operator, wrt, &given)?;
        Bound::new(&call, &moving, &data, &self.sources, &self.options)
    }
}

/// A log density of the parameters of a definition that have no data, and its gradient.
///
/// Coordinates are the unconstrained vector that samplers move in; values are the arguments of
/// the definition. Any number of threads may use it.
pub struct Posterior {
    start: Option<Vec<f64>>,
    entry: Arc<str>,
    parameters: Vec<Arc<str>>,
    variables: Vec<Variable>,
    coordinates: Vec<Variable>,
    data: Vec<(Arc<str>, Data)>,
    free: Vec<bool>,
    unmentioned: Vec<Arc<str>>,
    unmet: Vec<Arc<str>>,
    counted: Counted,
    density: Bound,
    values: Bound,
}

/// The search for an optimum of a definition.
pub struct Optimum {
    start: Option<Vec<f64>>,
    entry: Arc<str>,
    goal: Goal,
    parameters: Vec<Arc<str>>,
    variables: Vec<Variable>,
    coordinates: Vec<Variable>,
    search: Bound,
    values: Bound,
    curvature: Bound,
    slopes: Bound,
}

/// Where a search ended.
#[derive(Clone, Debug)]
pub struct Found {
    /// The coordinates.
    pub coordinates: Vec<f64>,
    /// The values of the parameters, one real after the other.
    pub values: Vec<f64>,
    /// The result of the definition, with Jacobian determinants if they count.
    pub result: f64,
    /// The Euclidean norm of its gradient by the coordinates.
    pub gradient_norm: f64,
    /// Whether the search converged.
    pub converged: bool,
}

/// The definition to take if none is named: the only one whose result is a real.
fn entry(unit: &Unit, named: Option<&str>) -> Result<String, Vec<Problem>> {
    if let Some(name) = named {
        return Ok(name.to_string());
    }
    let densities = unit.definitions().into_iter().filter(|def| def.is_function);
    let densities = densities.filter_map(|def| {
        let call = unit.call(&def.name, Operator::Value, None).ok()?;
        (call.is_density() && !call.parameters().is_empty()).then(|| def.name.to_string())
    });
    // A definition that others call is a part of a model.
    let used = |name: &str| {
        unit.module.items.iter().any(|item| match item {
            Item::Def(def) => {
                *def.name.text != *name && free_variables(def).iter().any(|free| **free == *name)
            }
            Item::Type(_) | Item::Import(_) => false,
        })
    };
    let mut found: Vec<String> = densities.filter(|name| !used(name)).collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        _ => Err(vec![messages::which(&found)]),
    }
}

/// The values of the sizes that the data have, or that are given by name.
fn known(
    call: &Call,
    given: &[Option<Data>],
    sizes: &[(String, usize)],
) -> Result<Sizes, Vec<Problem>> {
    let mut known = Sizes::new();
    for ((name, ty), data) in call.signature().params.iter().zip(given) {
        let Some(data) = data else { continue };
        learn(ty, data, &mut known);
        if let (SizedTy::Scalar(ScalarTy::Int), Data::Tensor(tensor)) = (ty, data)
            && let Some(lambada_prim::Scalar::Int(value)) = tensor.as_scalar()
            && let Ok(value) = usize::try_from(value)
        {
            known.insert((&**name).into(), value);
        }
    }
    for (name, value) in sizes {
        match known.insert(name.as_str().into(), *value) {
            Some(other) if other != *value => {
                return Err(vec![messages::size_of_data(name, *value, other)]);
            }
            _ => {}
        }
    }
    Ok(known)
}

/// A type with the sizes of data, so that code is made for them; `None` unless the data are arrays
/// of scalars. No program has to name these types, so those of records and variants are inferred.
fn constant_type(ty: &SizedTy, data: &Data) -> Option<String> {
    match (ty, data) {
        (SizedTy::Scalar(elem), _) => Some(elem.to_string()),
        (SizedTy::Array(..), Data::Tensor(tensor)) => {
            let sizes: String = tensor.dims.iter().map(|size| format!("[{size}]")).collect();
            Some(format!("{sizes}{}", tensor.elem()))
        }
        _ => None,
    }
}

/// A name for the `k`th parameter of the program, if possible that of the definition's.
fn word(name: &str, k: usize, taken: impl Fn(&str) -> bool) -> String {
    let own = is_identifier(name) && !["model", "space", "optimize", "random"].contains(&name);
    if own && !taken(name) { name.into() } else { format!("parameter_{}", k + 1) }
}

/// The parameters of the definition: data, or where they live.
fn slots(call: &Call, given: &[Option<Data>], known: &Sizes) -> Result<Vec<Slot>, Vec<Problem>> {
    let mut slots: Vec<Slot> = Vec::new();
    let mut wrong = Vec::new();
    let mut unsized_of: Vec<(Arc<str>, Vec<Rc<str>>)> = Vec::new();
    let params = call.signature().params.iter();
    for (k, (((name, ty), space), data)) in params.zip(call.spaces()).zip(given).enumerate() {
        let word = word(name, k, |word| slots.iter().any(|slot| slot.name == word));
        if data.is_some() {
            let ty = data.as_ref().and_then(|data| constant_type(ty, data));
            slots.push(Slot { name: word, space: None, ty });
            continue;
        }
        let ty = crate::data::print_type(&call.program, ty);
        match space.at(known) {
            _ if !space.is_real() => wrong.push(messages::no_data(call.name(), name, &ty)),
            Ok(space) => slots.push(Slot { name: word, space: Some(space), ty: None }),
            Err(Size::Var(size) | Size::Expr(size)) => {
                match unsized_of.iter_mut().find(|(s, _)| *s == size) {
                    Some((_, names)) => names.push(name.clone()),
                    None => unsized_of.push((size, vec![name.clone()])),
                }
            }
            Err(Size::Any | Size::Const(_)) => {
                wrong.push(messages::no_size(std::slice::from_ref(name), ""));
            }
        }
    }
    wrong.extend(unsized_of.iter().map(|(size, names)| messages::no_size(names, size)));
    if wrong.is_empty() { Ok(slots) } else { Err(wrong) }
}

impl Posterior {
    /// The definition.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The coordinates of the values to begin at, if they are given.
    pub fn start(&self) -> Option<&[f64]> {
        self.start.as_deref()
    }

    /// The arrays that the values of the unknown parameters consist of.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The data, by parameter.
    pub fn data(&self) -> &[(Arc<str>, Data)] {
        &self.data
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        total(&self.coordinates)
    }

    /// The parameters that are estimated.
    pub fn parameters(&self) -> &[Arc<str>] {
        &self.parameters
    }

    /// Number of reals of the values.
    pub fn count(&self) -> usize {
        total(&self.variables)
    }

    /// The arrays that the coordinates consist of, and whether they are the values themselves.
    pub fn coordinates(&self) -> impl Iterator<Item = (&Variable, bool)> {
        self.coordinates.iter().zip(self.free.iter().copied())
    }

    /// Whether the density has loops without a bound, e.g. those of a differential equation: far
    /// from the posterior they may take very long.
    pub fn may_not_end(&self) -> bool {
        self.density.may_not_end()
    }

    /// The parameters that the definition does not depend on.
    pub fn unmentioned(&self) -> &[Arc<str>] {
        &self.unmentioned
    }

    /// The data that the gradient does not depend on: no term of the density has them together with
    /// a parameter.
    pub fn unmet(&self) -> &[Arc<str>] {
        &self.unmet
    }

    /// The log density of the coordinates, and its gradient. `both` is the value, then the
    /// gradient: one number more than there are coordinates.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn density(&self, at: &[f64], both: &mut [f64]) -> Result<(), Failure> {
        self.density.reals(at, both).map_err(|failure| self.counted.explained(failure))
    }

    /// The values of coordinates, one real after the other.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn values(&self, at: &[f64], values: &mut [f64]) -> Result<(), Failure> {
        self.values.reals(at, values)
    }
}

impl Optimum {
    /// The definition.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The coordinates of the values to begin at, if they are given.
    pub fn start(&self) -> Option<&[f64]> {
        self.start.as_deref()
    }

    /// The arrays that the values consist of.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        total(&self.coordinates)
    }

    /// Searches from coordinates.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn search(&self, from: &[f64]) -> Result<Found, Failure> {
        let count = self.dimension();
        let mut all = vec![0.0; count + 3];
        self.search.reals(from, &mut all)?;
        let coordinates = all[..count].to_vec();
        let values = self.values(&coordinates)?;
        let [loss, gradient_norm, converged] = [all[count], all[count + 1], all[count + 2]];
        let result = if self.goal == Goal::Minimum { loss } else { -loss };
        Ok(Found { coordinates, values, result, gradient_norm, converged: converged > 0.0 })
    }

    /// The values of coordinates.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn values(&self, at: &[f64]) -> Result<Vec<f64>, Failure> {
        let mut values = vec![0.0; total(&self.variables)];
        self.values.reals(at, &mut values)?;
        Ok(values)
    }

    /// Values, or numbers that belong to them, by parameter.
    pub fn by_parameter(&self, values: &[f64]) -> Data {
        let parts = match self.values.structured(&self.variables, values) {
            Data::Tuple(parts) if self.parameters.len() > 1 => parts,
            single => vec![single],
        };
        Data::Record(self.parameters.iter().cloned().zip(parts).collect())
    }

    /// The columns of the Hessian of the loss, by coordinates.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn curvature(&self, at: &[f64]) -> Result<Vec<Vec<f64>>, Failure> {
        along(&self.curvature, at, at.len())
    }

    /// The columns of the Jacobian matrix of the values by coordinates.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn slopes(&self, at: &[f64]) -> Result<Vec<Vec<f64>>, Failure> {
        along(&self.slopes, at, total(&self.variables))
    }
}

/// The results along the unit vectors, each with `count` numbers.
fn along(program: &Bound, at: &[f64], count: usize) -> Result<Vec<Vec<f64>>, Failure> {
    let mut both: Vec<f64> = at.iter().copied().chain(at.iter().map(|_| 0.0)).collect();
    let column = |k: usize| {
        both[at.len() + k] = 1.0;
        let mut column = vec![0.0; count];
        let ran = program.reals(&both, &mut column);
        both[at.len() + k] = 0.0;
        ran.map(|()| column)
    };
    (0..at.len()).map(column).collect()
}

fn total(variables: &[Variable]) -> usize {
    variables.iter().map(Variable::count).sum()
}
