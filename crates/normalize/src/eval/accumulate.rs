//! Accumulators: `accumulate h = init in body` makes one per leaf of `init` and freezes them after
//! the body; `h[i] += v` adds to each.

use std::cell::Cell;
use std::rc::Rc;

use lambada_anf::{Atom, Op, Ty};
use lambada_core::{Term, Var};
use lambada_source::Span;

use super::Evaluator;
use crate::emit::Emit;
use crate::guards::Guard;
use crate::merge::{LeafContext, Merge, map_leaves, merge, zeros};
use crate::messages;
use crate::sketch::is_number;
use crate::val::{AccVal, Leaf, Val};
use crate::{Eval, ill_typed};

/// `accumulate acc = init in body`, as the pair of the body's value and the final sum.
pub(super) fn accumulate(of: &mut Evaluator, acc: &Var, init: &Term, body: &Term) -> Eval<Val> {
    let init = of.eval(init, None)?;
    let structure = map_leaves(&mut of.emit, &init, &mut |emit, leaf, context| {
        if !is_summed(context) {
            return leaf.clone();
        }
        let first = emit.stored(leaf, &context.extents);
        let ty = Ty { elem: context.elem, dims: context.extents.clone() };
        let acc = emit.accumulator(&acc.hint, ty, first);
        Leaf::stored(acc.into(), leaf.axes.len())
    })?;
    let open = Rc::new(AccVal { structure, frozen: Cell::new(false) });
    let value = of.scoped(|this| {
        this.bind(acc, Val::Acc(open.clone()));
        this.eval(body, None)
    })?;
    open.frozen.set(true);
    let sum = map_leaves(&mut of.emit, &open.structure, &mut |emit, leaf, context| {
        let Some(acc) = leaf.atom.as_var().filter(|_| is_summed(context)) else {
            return leaf.clone();
        };
        let (hint, dims) = (emit.names.hint(acc), context.extents.clone());
        let atom = emit.bind(&hint, Ty { elem: context.elem, dims }, Op::Freeze(acc));
        Leaf { atom, ..leaf.clone() }
    })?;
    Ok(Val::tuple([value, sum]))
}

/// `acc[index] += value`
pub(super) fn add(
    of: &mut Evaluator,
    acc: &Var,
    index: &[Term],
    value: &Term,
    span: Span,
) -> Eval<Val> {
    let open = of.lookup(acc)?.as_acc()?.clone();
    if open.frozen.get() {
        return Err(Box::new(messages::frozen(&acc.hint, span)));
    }
    let index = of.scalars(index)?;
    let value = of.eval(value, None)?;
    let mut target = &open.structure;
    for i in &index {
        let array = target.as_array()?;
        of.emit.check_index(*i, array.extent, span);
        target = &array.elem;
    }
    merge(&mut Add { index, span }, &mut of.emit, &[Some(target), Some(&value)])?;
    Ok(Val::unit())
}

/// Whether the leaf has an accumulator: only numbers do.
fn is_summed(context: &LeafContext) -> bool {
    !context.is_tag && !context.is_captured && is_number(context.elem)
}

/// The addition to each accumulator.
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

    fn leaf(
        &mut self,
        emit: &mut Emit,
        parts: &[Option<&Leaf>],
        context: &LeafContext,
    ) -> Eval<Leaf> {
        let target = parts[0].ok_or_else(ill_typed)?;
        let Some(acc) = target.atom.as_var().filter(|_| is_summed(context)) else {
            return Ok(target.clone());
        };
        let mask = vec![true; context.extents.len()];
        let value = match parts[1] {
            Some(leaf) => emit.broadcast(leaf, &mask, &context.extents),
            None => zeros(emit, context.elem, &mask, &context.extents),
        };
        emit.push(Vec::new(), Op::Accumulate { acc, index: self.index.clone(), value });
        Ok(target.clone())
    }
}
