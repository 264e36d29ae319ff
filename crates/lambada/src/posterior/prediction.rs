//! A definition for each draw of a posterior: replicated data, log likelihoods, other quantities.

use std::sync::Arc;

use lambada_core::{Size, SizedTy};
use lambada_normalize::Shape as Layout;
use lambada_prim::ScalarTy;
use lambada_source::{Failure, Problem};

use super::bound::Bound;
use super::program::{MODEL, values_type};
use super::{Request, known, word};
use crate::messages::posterior as messages;
use crate::space::{Sizes, Space, Variable, note, unrestricted};
use crate::{Operator, Session, Unit};

/// A definition whose parameters come from draws, data, and random numbers.
pub struct Prediction {
    entry: Arc<str>,
    /// The arrays of a draw that it takes.
    taken: Vec<Variable>,
    /// Names of the arrays of the result.
    names: Vec<String>,
    program: Bound,
}

/// Source of a parameter of the definition.
enum Given {
    Data,
    Draw(Space<usize>),
    Key,
}

impl Request<'_> {
    /// A definition of a checked file for each draw of `variables`. Parameters that are keys of
    /// random numbers get one of their own for each draw.
    ///
    /// # Errors
    /// Data and draws that do not fit, or that lack a parameter.
    pub fn prediction(
        &self,
        session: &mut Session,
        unit: &Unit,
        variables: &[Variable],
        seed: u64,
    ) -> Result<Prediction, Vec<Problem>> {
        let Request { entry, inputs, sizes, options, .. } = *self;
        let entry = entry.ok_or_else(|| vec![messages::which_prediction()])?;
        let call = unit.call_at(entry, Operator::Value, None, inputs)?;
        let data = call.partial_arguments(inputs)?;
        call.assumed(inputs).iter().for_each(|note| (self.told)(note));
        let mut known = known(&call, &data, sizes)?;
        let params = &call.signature().params;
        for (name, ty) in params {
            learn_drawn(ty, name, 0, variables, &mut known);
        }
        let mut taken = Vec::new();
        let mut wrong = Vec::new();
        let mut given = Vec::new();
        for ((name, ty), data) in params.iter().zip(&data) {
            let own = |v: &&Variable| {
                let rest = v.name.strip_prefix(&**name);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            let drawn: Vec<Variable> = variables.iter().filter(own).cloned().collect();
            let kind = match data {
                Some(_) => Given::Data,
                None if is_key(ty) => Given::Key,
                None => match unrestricted(ty).at(&known) {
                    Ok(space) if space.variables(name, false) == drawn => {
                        taken.extend(drawn);
                        Given::Draw(space)
                    }
                    _ if drawn.is_empty() => {
                        let ty = crate::data::print_type(&call.program, ty);
                        wrong.push(messages::nowhere(entry, name, &ty));
                        continue;
                    }
                    _ => {
                        let ty = crate::data::print_type(&call.program, ty);
                        let drawn: Vec<String> = drawn.iter().map(typed).collect();
                        wrong.push(messages::other_draws(name, &ty, &drawn));
                        continue;
                    }
                },
            };
            given.push((word(name, given.len(), |w| given_has(&given, w)), kind));
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let text = text(entry, &given, seed);
        let target = session.load_beside(unit, MODEL, &text)?;
        let data: Vec<_> = data.into_iter().flatten().collect();
        let shapes = if target.checked.is_open(NAME) {
            let open = (0..=taken_count(&given)).map(|_| lambada_elaborate::Shape::Unknown);
            open.chain(data.iter().map(crate::data::shape_of)).collect()
        } else {
            Vec::new()
        };
        let call = target.call_of(NAME, Operator::Value, None, &shapes)?;
        let draw = Variable { name: String::new(), dims: Vec::new() };
        let moving: Vec<Variable> = taken.iter().cloned().chain([draw]).collect();
        let program = Bound::new(&call, &moving, &data, session.sources(), options)?;
        let mut names = Vec::new();
        if !parts(program.layout(), entry, true, &mut names) {
            return Err(vec![messages::no_prediction(entry, &call.result_type())]);
        }
        Ok(Prediction { entry: entry.into(), taken, names, program })
    }
}

/// The name of the definition of the program.
const NAME: &str = "predicted'";
/// The name of its parameter that counts draws.
const DRAW: &str = "draw'";

/// A variable as a parameter.
fn typed(variable: &Variable) -> String {
    let dims: String = variable.dims.iter().map(|size| format!("[{size}]")).collect();
    format!("`{} : {dims}real`", variable.name)
}

fn given_has(given: &[(String, Given)], word: &str) -> bool {
    given.iter().any(|(known, _)| known == word)
}

fn taken_count(given: &[(String, Given)]) -> usize {
    given.iter().filter(|(_, kind)| matches!(kind, Given::Draw(_))).count()
}

fn text(entry: &str, given: &[(String, Given)], seed: u64) -> String {
    let drawn = given.iter().filter_map(|(name, kind)| match kind {
        Given::Draw(space) => Some(format!(" ({name} : {})", values_type(space))),
        Given::Data | Given::Key => None,
    });
    let drawn: String = drawn.collect();
    let data = given.iter().filter(|(_, kind)| matches!(kind, Given::Data));
    let data: String = data.map(|(name, _)| format!(" {name}")).collect();
    // Any seed is an integer; a key is one of 64 bits.
    let seed = seed as i64 & i64::MAX;
    let argument = |(k, (name, kind)): (usize, &(String, Given))| match kind {
        Given::Data | Given::Draw(_) => format!(" {name}"),
        Given::Key => {
            format!(" (random.fold_in (random.fold_in (random.key {seed}) (int {DRAW})) {k})")
        }
    };
    let arguments: String = given.iter().enumerate().map(argument).collect();
    format!(
        "import \"std/random\"\nimport \"{MODEL}\" as model\n\
         def {NAME}{drawn} ({DRAW} : real){data} = model.{entry}{arguments}\n"
    )
}

/// Whether a type is that of keys of random numbers.
fn is_key(ty: &SizedTy) -> bool {
    let SizedTy::Record(fields) = ty else { return false };
    let is = |(label, ty): &(std::rc::Rc<str>, SizedTy), name: &str| {
        **label == *name && *ty == SizedTy::Scalar(ScalarTy::Int)
    };
    matches!(&fields[..], [a, b] if is(a, "k0") && is(b, "k1"))
}

/// Adds the sizes that draws have.
fn learn_drawn(ty: &SizedTy, name: &str, axis: usize, variables: &[Variable], known: &mut Sizes) {
    match ty {
        SizedTy::Array(size, elem) => {
            let own = |v: &&Variable| {
                let rest = v.name.strip_prefix(name);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            let found = variables.iter().find(own).and_then(|v| v.dims.get(axis));
            if let (Size::Var(_), Some(found)) = (size, found) {
                note(size, *found, known);
            }
            learn_drawn(elem, name, axis + 1, variables, known);
        }
        SizedTy::Tuple(items) => {
            for (k, item) in items.iter().enumerate() {
                learn_drawn(item, &format!("{name}.{k}"), axis, variables, known);
            }
        }
        SizedTy::Record(fields) => {
            for (label, ty) in fields {
                learn_drawn(ty, &format!("{name}.{label}"), axis, variables, known);
            }
        }
        _ => {}
    }
}

/// Adds the names of the arrays of a result; false if it has others.
fn parts(layout: &Layout, name: &str, outermost: bool, names: &mut Vec<String>) -> bool {
    match layout {
        Layout::Scalar(_) => names.push(name.to_string()),
        Layout::Array(_, elem) => return parts(elem, name, false, names),
        Layout::Tuple(items) => {
            let mut items = items.iter().enumerate();
            return items.all(|(k, item)| parts(item, &format!("{name}.{k}"), false, names));
        }
        Layout::Record(fields) => {
            return fields.iter().all(|(label, field)| match outermost {
                true => parts(field, label, false, names),
                false => parts(field, &format!("{name}.{label}"), false, names),
            });
        }
        Layout::Variant(_) | Layout::Node(_) => return false,
    }
    true
}

impl Prediction {
    /// The definition.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The arrays of a draw that it takes.
    pub fn taken(&self) -> &[Variable] {
        &self.taken
    }

    /// The result for the `draw`th draw: its arrays, and their numbers one after the other. Whole
    /// numbers are reals, truth values 0 and 1.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn run(&self, values: &[f64], draw: usize) -> Result<(Vec<Variable>, Vec<f64>), Failure> {
        let mut from = values.to_vec();
        from.push(draw as f64);
        let (dims, numbers) = self.program.numbers(&from)?;
        let names = self.names.iter().cloned();
        let arrays = names.zip(dims).map(|(name, dims)| Variable { name, dims });
        Ok((arrays.collect(), numbers))
    }
}
