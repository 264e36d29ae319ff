//! The text of a function that people call by its name: which slots stand in it.
//!
//! * Assumes: its rules are its derivatives.
//! * Gives: nothing for a function whose parameters are not made of scalars and arrays of scalars,
//!   or whose result is none of these and no tuple or record of them. Its calls are written out.

use std::ops::RangeFrom;
use std::rc::Rc;

use lambada_anf::{Argument, Derivative, Function, Known, Role, Ty};
use lambada_core::Ty as CoreTy;
use lambada_source::CallText;

use super::Subject;
use crate::eval::leaves::is_active;
use crate::eval::library::FixedResult;
use crate::eval::{Evaluator, sketches, slots};
use crate::sketch::{Role as InValue, Sketch, Slots};

/// The slots of parameters and results in the text, with whether they have derivatives.
pub(super) struct Roles {
    params: Vec<Role>,
    arguments: Vec<Argument>,
    results: Vec<Role>,
    fields: Vec<Rc<str>>,
    is_active: [Vec<bool>; 2],
}

impl Roles {
    pub(super) fn of(of: &mut Evaluator, subject: &Subject) -> Option<Roles> {
        let (components, fields) = match subject.result {
            CoreTy::Tuple(items) if !items.is_empty() => (items.to_vec(), Vec::new()),
            CoreTy::Record(fields) if !fields.is_empty() => {
                fields.iter().map(|(name, ty)| (ty.clone(), name.clone())).unzip()
            }
            other => (vec![other.clone()], Vec::new()),
        };
        if subject.at.captured > 0 {
            return None;
        }
        let results: Vec<Sketch> =
            components.iter().map(|ty| sketches::canonical(of, ty)).collect();
        let mut next = 0..;
        let made = subject.params.iter().map(|ty| argument(ty, &mut next));
        let arguments = made.collect::<Option<Vec<Argument>>>()?;
        if !components.iter().all(|ty| matches!(argument(ty, &mut (0..)), Some(Argument::Data(_))))
        {
            return None;
        }
        let (params, active) = roles(of, subject.sketches, &Role::Argument)?;
        let (results, also) = roles(of, &results, &Role::Component)?;
        let is_whole = active.len() == next.start && also.len() == components.len();
        let is_active = [active, also];
        is_whole.then_some(Roles { params, arguments, results, fields, is_active })
    }

    /// None for results with sizes that are neither those of arguments nor lengths in the text.
    pub(super) fn with_sizes(
        mut self,
        function: &Function,
        fixed: &[Option<FixedResult>],
    ) -> Option<Roles> {
        for k in 0..self.results.len() {
            if self.results[k] != Role::Implicit || fixed.get(k).is_some_and(Option::is_some) {
                continue;
            }
            let size = function.body.results[k];
            let first = |(ty, role): (&Ty, &Role)| match role {
                Role::Component(k) if ty.dims.first() == Some(&size) => Some(*k),
                _ => None,
            };
            let component = function.results.iter().zip(&self.results).find_map(first)?;
            self.results[k] = Role::Length(component);
        }
        Some(self)
    }

    /// How the text calls the function, or its derivative.
    pub(super) fn known(&self, text: &CallText, derivative: Option<Derivative>) -> Known {
        let [inputs, outputs] = &self.is_active;
        let (mut params, mut results) = (self.params.clone(), self.results.clone());
        if derivative.is_some() {
            params.extend(results.iter().map(|_| Role::Implicit));
        }
        let among = |roles: &[Role], active: &[bool], f: &dyn Fn(usize) -> Role| -> Vec<Role> {
            let is_active = |k: &usize| active.get(*k).copied().unwrap_or(false);
            let positions = roles.iter().filter_map(|role| match role {
                Role::Argument(k) | Role::Component(k) => Some(*k),
                Role::Implicit | Role::Length(_) => None,
                Role::Tangent(_) | Role::Cotangent(_) => None,
            });
            positions.filter(is_active).map(f).collect()
        };
        match derivative {
            None => {}
            Some(Derivative::Jvp) => {
                params.extend(among(&self.params, inputs, &Role::Tangent));
                results = among(&self.results, outputs, &Role::Component);
            }
            Some(Derivative::Vjp) => {
                params.extend(among(&self.results, outputs, &Role::Cotangent));
                results = among(&self.params, inputs, &Role::Argument);
            }
        }
        let (text, components) = (text.clone(), outputs.len());
        let fields = self.fields.iter().map(|name| name.to_string()).collect();
        let arguments = self.arguments.clone();
        Known { text, derivative, components, arguments, fields, params, results }
    }
}

/// The role of each slot, and whether each part is active.
fn roles(
    of: &mut Evaluator,
    sketches: &[Sketch],
    role: &dyn Fn(usize) -> Role,
) -> Option<(Vec<Role>, Vec<bool>)> {
    let (mut roles, mut active) = (Vec::new(), Vec::new());
    for sketch in sketches {
        let mut all = Slots::default();
        slots::add_slots(of, sketch, "", &mut all);
        for slot in &all.values {
            roles.push(match slot.role {
                InValue::Part if slot.elem.node().is_some() || slot.is_optional => return None,
                InValue::Part => {
                    active.push(is_active(slot.elem));
                    role(active.len() - 1)
                }
                InValue::Size | InValue::Tag(_) => Role::Implicit,
            });
        }
    }
    Some((roles, active))
}

/// A value made of scalars and arrays of scalars, which are numbered.
fn argument(ty: &CoreTy, next: &mut RangeFrom<usize>) -> Option<Argument> {
    let is_scalar = |mut ty: &CoreTy| {
        while let CoreTy::Array(elem) = ty {
            ty = elem;
        }
        matches!(ty, CoreTy::Scalar(_))
    };
    match ty {
        CoreTy::Tuple(items) => {
            let items = items.iter().map(|ty| argument(ty, next));
            Some(Argument::Tuple(items.collect::<Option<Vec<Argument>>>()?))
        }
        CoreTy::Record(fields) => {
            let fields =
                fields.iter().map(|(name, ty)| Some((name.to_string(), argument(ty, next)?)));
            Some(Argument::Record(fields.collect::<Option<Vec<_>>>()?))
        }
        other => is_scalar(other).then(|| next.next().map(Argument::Data)).flatten(),
    }
}
