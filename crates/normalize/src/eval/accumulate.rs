//! Accumulators: `accumulate h = init in body` makes one per leaf of `init` and freezes them after
//! the body; `h[i] += v` adds to each.

use std::cell::Cell;
use std::rc::Rc;

use lambada_anf::{Atom, Elem, Op, Param, Ty};
use lambada_core::{Term, Var};
use lambada_prim::ScalarTy;
use lambada_source::Span;

use super::Evaluator;
use crate::Eval;
use crate::emit::Emit;
use crate::guards::Guard;
use crate::merge::{Merge, Place, ill_typed, merge, zeros};
use crate::messages;
use crate::val::{AccVal, Leaf, Val};

impl Evaluator<'_> {
    /// `accumulate acc = init in body`, as the pair of the body's value and the final sum.
    pub(super) fn accumulate(&mut self, acc: &Var, init: &Term, body: &Term) -> Eval<Val> {
        let init = self.eval(init, None)?;
        let mut make = Make { hint: acc.hint.clone() };
        let structure = merge(&mut make, &mut self.emit, &[Some(&init)])?;
        let open = Rc::new(AccVal { structure, frozen: Cell::new(false) });
        let value = self.scoped(|this| {
            this.bind(acc, Val::Acc(open.clone()));
            this.eval(body, None)
        })?;
        open.frozen.set(true);
        let sum = merge(&mut Freeze, &mut self.emit, &[Some(&open.structure)])?;
        Ok(Val::tuple([value, sum]))
    }

    /// `acc[index] += value`
    pub(super) fn add(&mut self, acc: &Var, index: &[Term], value: &Term, span: Span) -> Eval<Val> {
        let Val::Acc(open) = self.lookup(acc)? else { return Err(ill_typed()) };
        if open.frozen.get() {
            return Err(Box::new(messages::frozen(&acc.hint, span)));
        }
        let index = self.scalars(index)?;
        let value = self.eval(value, None)?;
        let mut target = &open.structure;
        for i in &index {
            let Val::Array(array) = target else { return Err(ill_typed()) };
            self.emit.check_index(*i, array.extent, span);
            target = &array.elem;
        }
        merge(&mut Add { index, span }, &mut self.emit, &[Some(target), Some(&value)])?;
        Ok(Val::unit())
    }
}

/// Has the leaf an accumulator? Only numbers do.
fn is_summed(place: &Place) -> bool {
    let number = match place.elem {
        Elem::Scalar(ScalarTy::Real | ScalarTy::Int) => true,
        Elem::Scalar(ScalarTy::Bool) | Elem::Ref(_) => false,
    };
    !place.is_tag && !place.is_captured && number
}

/// Makes the accumulators.
struct Make {
    hint: Rc<str>,
}

impl Merge for Make {
    fn size(&mut self, _: &mut Emit, parts: &[Option<Atom>], _: &[Vec<Guard>]) -> Eval<Atom> {
        parts[0].ok_or_else(ill_typed)
    }

    fn leaf(&mut self, emit: &mut Emit, parts: &[Option<&Leaf>], place: &Place) -> Eval<Leaf> {
        let leaf = parts[0].ok_or_else(ill_typed)?;
        if !is_summed(place) {
            return Ok(leaf.clone());
        }
        let axes = vec![true; leaf.axes.len()];
        let first = emit.broadcast(leaf, &axes, &place.extents);
        let ty = Ty { elem: place.elem, dims: place.extents.clone() };
        let acc = emit.fresh(self.hint.clone(), ty.clone());
        emit.push(vec![Param { var: acc, ty }], Op::Accumulator(first));
        Ok(Leaf { axes, ..Leaf::scalar(acc.into()) })
    }
}

/// Freezes them.
struct Freeze;

impl Merge for Freeze {
    fn size(&mut self, _: &mut Emit, parts: &[Option<Atom>], _: &[Vec<Guard>]) -> Eval<Atom> {
        parts[0].ok_or_else(ill_typed)
    }

    fn leaf(&mut self, emit: &mut Emit, parts: &[Option<&Leaf>], place: &Place) -> Eval<Leaf> {
        let leaf = parts[0].ok_or_else(ill_typed)?;
        let Some(acc) = leaf.atom.as_var().filter(|_| is_summed(place)) else {
            return Ok(leaf.clone());
        };
        let (hint, ty) =
            (emit.names.hint(acc), Ty { elem: place.elem, dims: place.extents.clone() });
        let atom = emit.bind(&hint, ty, Op::Freeze(acc));
        Ok(Leaf { atom, ..leaf.clone() })
    }
}

/// Adds to them.
struct Add {
    index: Vec<Atom>,
    span: Span,
}

impl Merge for Add {
    fn size(&mut self, emit: &mut Emit, parts: &[Option<Atom>], _: &[Vec<Guard>]) -> Eval<Atom> {
        let (Some(old), Some(new)) = (parts[0], parts[1]) else { return Err(ill_typed()) };
        emit.check_equal(old, new, self.span, "sizes differ: {0} and {1}");
        Ok(old)
    }

    fn leaf(&mut self, emit: &mut Emit, parts: &[Option<&Leaf>], place: &Place) -> Eval<Leaf> {
        let target = parts[0].ok_or_else(ill_typed)?;
        let Some(acc) = target.atom.as_var().filter(|_| is_summed(place)) else {
            return Ok(target.clone());
        };
        let mask = vec![true; place.extents.len()];
        let value = match parts[1] {
            Some(leaf) => emit.broadcast(leaf, &mask, &place.extents),
            None => zeros(emit, place.elem, &mask, &place.extents),
        };
        emit.push(Vec::new(), Op::Accumulate { acc, index: self.index.clone(), value });
        Ok(target.clone())
    }
}
