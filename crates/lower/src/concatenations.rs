//! Arrays that are concatenations of others. Parts built in place need no copy.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{Atom, Exp, Op, Param, Scheduled, Stm, Var};
use lambada_loops::Operand;

use crate::Lower;
use crate::memory::{LoweredValue, Place};

impl<'a> Lower<'a> {
    /// Allocates the array that the last of these statements concatenates before its parts are
    /// built, and plans its parts there.
    pub(crate) fn want_parts(&mut self, stms: &'a [Stm], wishes: &mut HashMap<Var, Place>) {
        let Some((stm, before)) = stms.split_last() else { return };
        let Exp::Op(Op::Scheduled(Scheduled::Concat(parts))) = &stm.exp else { return };
        let bind = &stm.binds[0];
        let made = |part: Var| before.iter().flat_map(|stm| &stm.binds).find(|p| p.var == part);
        let made: Vec<Option<&Param>> = parts.iter().map(|part| made(*part)).collect();
        let sizes = made.iter().flatten().chain([&bind]).flat_map(|p| &p.ty.dims);
        if !sizes.into_iter().all(|size| self.foresee(before, *size)) {
            return;
        }
        let dims =
            parts.iter().zip(&made).map(|(part, made)| match (made, self.env.known(*part)) {
                (Some(made), _) => Some(self.env.dims(&made.ty)),
                (None, Some(LoweredValue::Array(place))) => Some(place.dims.clone()),
                (None, _) => None,
            });
        let Some(dims) = dims.collect::<Option<Vec<_>>>() else { return };
        let wish = wishes.get(&bind.var).filter(|place| self.fits(bind, place)).cloned();
        let place = wish.unwrap_or_else(|| self.alloc(bind));
        wishes.insert(bind.var, place.clone());
        let slots = self.parts_of(&place, dims);
        for ((part, made), slot) in parts.iter().zip(made).zip(&slots) {
            if made.is_some() && self.env.last_mention(*part) == Some(before.len()) {
                wishes.entry(*part).or_insert_with(|| slot.clone());
            }
        }
        self.planned.insert(bind.var, slots);
    }

    /// Whether a size is known, or can be computed now by arithmetic, which is then repeated at its
    /// own place.
    fn foresee(&mut self, before: &'a [Stm], size: Atom) -> bool {
        let Some(var) = size.as_var().filter(|var| !self.env.is_bound(*var)) else { return true };
        let found = before.iter().find(|stm| stm.binds.iter().any(|p| p.var == var));
        let Some(stm) = found else { return false };
        match &stm.exp {
            Exp::Op(Op::Prim(_, args)) => {
                let known = args.iter().all(|arg| self.foresee(before, *arg));
                if known {
                    self.statement(stm);
                }
                known
            }
            Exp::Op(_) | Exp::Nest(_) => false,
        }
    }

    /// Parts of a place with these sizes, one after the other.
    fn parts_of(&mut self, place: &Place, dims: Vec<Rc<[Operand]>>) -> Vec<Place> {
        let mut before = vec![place.offset];
        let mut parts = Vec::with_capacity(dims.len());
        for dims in dims {
            let offset = self.code.sum(before.clone());
            before.push(self.code.len(&dims));
            parts.push(Place { storage: self.memory.slot(place.storage), offset, dims });
        }
        parts
    }

    /// Concatenates an array. Parts built in their place need no copy.
    pub(crate) fn concat(&mut self, bind: &Param, parts: &[Var]) {
        let found: Vec<Place> = parts.iter().map(|part| self.in_memory(*part)).collect();
        let planned = self.planned.remove(&bind.var).zip(self.memory.wanted(bind.var).cloned());
        let planned = planned.filter(|(slots, place)| {
            let pairs = parts.iter().zip(found.iter().zip(slots));
            let at_home = pairs.filter(|(_, (part, slot))| self.memory.same_start(part, slot));
            let at_home: Vec<Var> = at_home.map(|(var, _)| *var).collect();
            self.is_free(place, &at_home)
        });
        let (slots, place) = planned.unwrap_or_else(|| {
            let place = self.alloc(bind);
            let dims = found.iter().map(|part| part.dims.clone()).collect();
            (self.parts_of(&place, dims), place)
        });
        for (part, slot) in found.iter().zip(&slots) {
            if !self.memory.same_start(part, slot) {
                self.copy(part, slot);
            }
        }
        self.bind(bind.var, LoweredValue::Array(place));
    }
}
