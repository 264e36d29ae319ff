//! Primitives, elements and views, checks.

use std::collections::HashSet;

use lambada_anf::{Atom, Param, Var};
use lambada_loops::{Operand, Return};
use lambada_prim::Prim;
use lambada_source::Site;

use crate::Lower;
use crate::memory::{LoweredValue, Place};

impl<'a> Lower<'a> {
    pub(crate) fn prim(&mut self, bind: &Param, op: Prim, args: &[Atom]) {
        let args = self.env.operands(args);
        let result = self.code.prim(op, args, self.env.hint(bind.var));
        self.bind(bind.var, LoweredValue::Scalar(result));
    }

    pub(crate) fn index(&mut self, bind: &Param, x: Var, index: &[Atom]) {
        let index = self.env.operands(index);
        let value = match self.env.value_of(x).clone() {
            // Out of range only after a check that always fails, so any value will do.
            LoweredValue::Elements(items) => LoweredValue::Scalar(
                items.get(constant(index[0])).copied().unwrap_or(Operand::Lit(bind.ty.elem.zero())),
            ),
            LoweredValue::Array(place) if bind.ty.dims.is_empty() => {
                LoweredValue::Scalar(self.element(&place, &index, bind))
            }
            LoweredValue::Array(place) => LoweredValue::Array(self.part(&place, &index, bind)),
            LoweredValue::Scalar(_) | LoweredValue::Cell(_) => {
                unreachable!("only arrays are indexed")
            }
        };
        self.bind(bind.var, value);
    }

    fn element(&mut self, place: &Place, index: &[Operand], bind: &Param) -> Operand {
        let offset = self.code.offset(place, index);
        self.code.load(self.memory.buf(place.storage), offset, self.env.hint(bind.var))
    }

    /// A view. A copy, if a later statement overwrites the source while the view lives, because
    /// copying the part is cheaper than copying the source.
    fn part(&mut self, place: &Place, index: &[Operand], bind: &Param) -> Place {
        let offset = self.code.offset(place, index);
        let view = Place { storage: place.storage, offset, dims: place.dims[index.len()..].into() };
        if !self.is_endangered(place, bind.var) {
            return view;
        }
        let copy = self.target(bind);
        self.copy(&view, &copy);
        copy
    }

    /// Whether a statement might overwrite the source before the last mention of the view.
    fn is_endangered(&self, source: &Place, view: Var) -> bool {
        if !self.memory.is_writable(source.storage) {
            return false;
        }
        let (stms, at) = self.env.rest();
        let until = self.env.last_mention(view).unwrap_or(at);
        let alias: HashSet<Var> = self.memory.names(source.storage).into_iter().collect();
        let between = at + 1..until.clamp(at + 1, stms.len());
        let last_is_nested = stms.get(until).is_some_and(|stm| !stm.exp.blocks().is_empty());
        let facts = self.env.facts();
        facts.consumes(&stms[between], &alias)
            || last_is_nested && facts.consumes(&stms[until..=until], &alias)
    }

    /// Shows values in place.
    pub(crate) fn inspect(&mut self, number: u32, values: &[Atom]) {
        let mut parts = Vec::with_capacity(values.len());
        for value in values {
            parts.push(match self.env.value(*value) {
                LoweredValue::Array(place) => {
                    Return::Buffer(self.pointer(&place), place.dims.to_vec())
                }
                LoweredValue::Scalar(_) | LoweredValue::Elements(_) | LoweredValue::Cell(_) => {
                    Return::Scalar(self.env.operand(*value))
                }
            });
        }
        self.code.inspect(number, parts);
    }

    pub(crate) fn check(&mut self, cond: Atom, site: &Site, values: &[Atom]) {
        let cond = self.env.operand(cond);
        if cond == Operand::Lit(lambada_prim::Scalar::Bool(true)) {
            return;
        }
        let values = self.env.operands(values);
        self.code.check(cond, site, values);
    }
}

/// The value of a constant index.
fn constant(index: Operand) -> usize {
    match index {
        Operand::Lit(value) => value.int() as usize,
        Operand::Reg(_) => unreachable!("elements are read at constant indices"),
    }
}
