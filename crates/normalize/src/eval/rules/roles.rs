//! The text of a function that people call by its name: which slots stand in it.
//!
//! * Assumes: its rules are its derivatives.
//! * Gives: nothing for a function with parameters or results other than scalars, arrays of
//!   scalars, and a tuple or record of these as the result. Its calls are written out.

use std::rc::Rc;

use lambada_anf::{Derivative, Function, Known, Role, Ty};
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
        let (params, active) = roles(of, subject.sketches, &Role::Argument)?;
        let (results, also) = roles(of, &results, &Role::Component)?;
        Some(Roles { params, results, fields, is_active: [active, also] })
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
        Known { text, derivative, components, fields, params, results }
    }
}

/// The role of each slot, and whether each value is active.
fn roles(
    of: &mut Evaluator,
    sketches: &[Sketch],
    role: &dyn Fn(usize) -> Role,
) -> Option<(Vec<Role>, Vec<bool>)> {
    let (mut roles, mut active) = (Vec::new(), Vec::new());
    for (k, sketch) in sketches.iter().enumerate() {
        let mut all = Slots::default();
        slots::add_slots(of, sketch, "", &mut all);
        let mut parts = all.values.iter().filter(|slot| slot.role == InValue::Part);
        let (part, further) = (parts.next()?, parts.next());
        if further.is_some() || part.elem.node().is_some() || part.is_optional {
            return None;
        }
        active.push(is_active(part.elem));
        let one = |slot: &crate::sketch::Slot| match slot.role {
            InValue::Part => role(k),
            InValue::Size | InValue::Tag(_) => Role::Implicit,
        };
        roles.extend(all.values.iter().map(one));
    }
    Some((roles, active))
}
