//! A definition as a posterior: a log density of the parameters that the data do not give, by
//! coordinates that may be any reals.

mod bound;
mod program;
mod space;

use std::sync::Arc;

use lambada_core::{Data, Size};
use lambada_prim::{ScalarTy, Tensor};
use lambada_source::{Failure, Problem};

use bound::Bound;
use program::{DENSITY, PLAIN, Slot, VALUES};
pub(crate) use space::Space;
pub use space::Variable;
use space::{Sizes, learn};

use crate::data::is_identifier;
use crate::messages::posterior as messages;
use crate::{Call, Inputs, Operator, Options, Session, Unit};

/// What a posterior is made from.
pub struct Request<'a> {
    /// The definition [default: the only one with a real result].
    pub entry: Option<&'a str>,
    /// Data by parameter name.
    pub inputs: &'a Inputs,
    /// Sizes that no data have, by name.
    pub sizes: &'a [(String, usize)],
    /// The options of the compiler.
    pub options: &'a Options,
}

/// A log density of the parameters of a definition that have no data, and its gradient.
///
/// Coordinates are the unconstrained vector that samplers move in; values are what the definition
/// is called on. Any number of threads may use it.
pub struct Posterior {
    entry: Arc<str>,
    variables: Vec<Variable>,
    coordinates: Vec<Variable>,
    data: Vec<(Arc<str>, Data)>,
    density: Bound,
    plain: Bound,
    values: Bound,
}

impl Session {
    /// The posterior of a definition of a checked file, given data.
    ///
    /// # Errors
    /// Data that do not fit, parameters that are neither given nor made of reals, sizes that no
    /// data have.
    pub fn posterior(
        &mut self,
        unit: &Unit,
        request: &Request<'_>,
    ) -> Result<Posterior, Vec<Problem>> {
        let Request { inputs, sizes, options, .. } = *request;
        let entry = entry(unit, request.entry)?;
        let call = unit.call_at(&entry, Operator::Value, None, inputs)?;
        if !call.is_density() {
            return Err(vec![messages::no_density(&entry, &call.result_type())]);
        }
        let given = call.partial_arguments(inputs)?;
        let known = known(&call, &given, sizes)?;
        let slots = slots(&call, &given, &known)?;
        let unknown = || slots.iter().filter_map(|slot| Some((&*slot.name, slot.space.as_ref()?)));
        let list = |free: bool| -> Vec<Variable> {
            unknown().flat_map(|(name, space)| space.variables(name, free)).collect()
        };
        let (variables, coordinates) = (list(false), list(true));
        let names: Vec<String> = unknown().map(|(name, _)| name.to_string()).collect();
        if coordinates.iter().all(|variable| variable.count() == 0) {
            return Err(vec![messages::nothing_unknown(&entry)]);
        }
        let text = program::text(&entry, &slots);
        let target = self.load_beside(unit, program::MODEL, &text)?;
        let args: Vec<Data> = given.iter().flatten().cloned().collect();
        let shapes = |data: &[Data]| {
            let open = names.iter().map(|_| lambada_elaborate::Shape::Unknown);
            open.chain(data.iter().map(crate::data::shape_of)).collect::<Vec<_>>()
        };
        let compile = |name: &str, operator: Operator, data: &[Data]| {
            let wrt = (operator == Operator::Grad).then_some(&names[..]);
            let given = if target.checked.is_open(name) { shapes(data) } else { Vec::new() };
            let call = target.call_of(name, operator, wrt, &given)?;
            Bound::new(&call, &coordinates, data, self.sources(), options)
        };
        let density = compile(DENSITY, Operator::Grad, &args)?;
        let plain = compile(PLAIN, Operator::Grad, &args)?;
        let values = compile(VALUES, Operator::Value, &[])?;
        let params = call.parameters();
        let data = params.iter().zip(given).filter_map(|(name, data)| Some(((&**name).into(), data?)));
        let data = data.collect();
        Ok(Posterior { entry: entry.into(), variables, coordinates, data, density, plain, values })
    }
}

/// The definition to take if none is named: the only one whose result is a real.
fn entry(unit: &Unit, named: Option<&str>) -> Result<String, Vec<Problem>> {
    if let Some(name) = named {
        return Ok(name.to_string());
    }
    let is_density = |name: &str| {
        let call = unit.call(name, Operator::Value, None);
        call.is_ok_and(|call| call.is_density() && !call.parameters().is_empty())
    };
    let names = unit.definitions().into_iter().filter(|def| def.is_function);
    let names: Vec<String> = names.map(|def| def.name.to_string()).collect();
    let mut found: Vec<String> = names.into_iter().filter(|name| is_density(name)).collect();
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
        if let (lambada_core::SizedTy::Scalar(ScalarTy::Int), Data::Tensor(tensor)) = (ty, data)
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

/// The parameters of the definition: data, or where they live.
fn slots(call: &Call, given: &[Option<Data>], known: &Sizes) -> Result<Vec<Slot>, Vec<Problem>> {
    let mut slots: Vec<Slot> = Vec::new();
    let mut wrong = Vec::new();
    let params = call.signature().params.iter();
    for (k, (((name, ty), space), data)) in params.zip(call.spaces()).zip(given).enumerate() {
        let own = is_identifier(name) && slots.iter().all(|slot| *slot.name != **name);
        let own = own && !["model", "space"].contains(&&**name);
        let word = if own { name.to_string() } else { format!("parameter_{}", k + 1) };
        if data.is_some() {
            slots.push(Slot { name: word, space: None });
            continue;
        }
        let ty = crate::data::print_type(&call.program, ty);
        match space.at(known) {
            _ if !space.is_real() => wrong.push(messages::no_data(call.name(), name, &ty)),
            Ok(space) => slots.push(Slot { name: word, space: Some(space) }),
            Err(Size::Var(size) | Size::Expr(size)) => {
                wrong.push(messages::no_size(name, &ty, &size));
            }
            Err(Size::Any | Size::Const(_)) => wrong.push(messages::open_size(name, &ty)),
        }
    }
    if wrong.is_empty() { Ok(slots) } else { Err(wrong) }
}

impl Posterior {
    /// The definition.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The arrays that the values of the unknown parameters consist of.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The arrays that the coordinates consist of.
    pub fn coordinates(&self) -> &[Variable] {
        &self.coordinates
    }

    /// The data, by parameter.
    pub fn data(&self) -> &[(Arc<str>, Data)] {
        &self.data
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        self.coordinates.iter().map(Variable::count).sum()
    }

    /// Number of reals of the values.
    pub fn count(&self) -> usize {
        self.variables.iter().map(Variable::count).sum()
    }

    /// The log density of the coordinates, and its gradient. `both` is the value, then the
    /// gradient: one number more than there are coordinates.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn density(&self, at: &[f64], both: &mut [f64]) -> Result<(), Failure> {
        self.density.reals(at, both)
    }

    /// As [`density`](Posterior::density), of the values: without the Jacobian determinant of the
    /// way from coordinates to values. The gradient is by the coordinates.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn density_of_values(&self, at: &[f64], both: &mut [f64]) -> Result<(), Failure> {
        self.plain.reals(at, both)
    }

    /// The values of coordinates, one real after the other.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn values(&self, at: &[f64], values: &mut [f64]) -> Result<(), Failure> {
        self.values.reals(at, values)
    }
}

/// The values of variables as data by name: the parts of parameters that are records or tuples are
/// not put together.
pub fn named(variables: &[Variable], values: &[f64]) -> Vec<(String, Data)> {
    let mut at = 0;
    let mut part = |variable: &Variable| {
        let own = values[at..at + variable.count()].to_vec();
        at += variable.count();
        (variable.name.clone(), Data::Tensor(Tensor::reals(variable.dims.clone(), own)))
    };
    variables.iter().map(&mut part).collect()
}
