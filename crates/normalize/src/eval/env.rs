//! The environment `ρ`: the values of variables and of definitions, in the innermost scope of the
//! function under construction.

use std::collections::HashMap;

use lambada_core::{DefId, Var};

use crate::val::Val;
use crate::{Eval, ill_typed};

/// The environment.
#[derive(Default)]
pub(super) struct Env {
    /// By variable of core. A function mentions few of all variables.
    slots: HashMap<u32, Val>,
    /// Undo log: variables with their values before the scope.
    trail: Vec<(u32, Option<Val>)>,
    /// The definitions other than functions.
    constants: HashMap<DefId, Val>,
}

impl Env {
    /// Binds a variable until the scope ends.
    pub fn bind(&mut self, var: &Var, value: Val) {
        self.trail.push((var.id, self.slots.insert(var.id, value)));
    }

    /// The value of a variable.
    pub fn lookup(&self, var: &Var) -> Eval<Val> {
        self.slots.get(&var.id).cloned().ok_or_else(ill_typed)
    }

    /// The beginning of a scope.
    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Ends a scope: drops its bindings.
    pub fn forget_to(&mut self, mark: usize) {
        for (id, old) in self.trail.drain(mark..).rev() {
            match old {
                Some(old) => self.slots.insert(id, old),
                None => self.slots.remove(&id),
            };
        }
    }

    /// The value of a definition, if evaluated; it may be out of scope.
    pub fn constant(&self, id: DefId) -> Option<&Val> {
        self.constants.get(&id)
    }

    /// Sets the value of a definition; returns the previous one.
    pub fn set_constant(&mut self, id: DefId, value: Option<Val>) -> Option<Val> {
        match value {
            Some(value) => self.constants.insert(id, value),
            None => self.constants.remove(&id),
        }
    }
}
