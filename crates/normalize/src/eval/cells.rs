//! Functional update of an element or a sub-array: `xs with [i, j] = value`, on every leaf.

use lambada_anf::{Atom, Op, Ty};
use lambada_core::Term;
use lambada_source::Span;

use super::{Evaluator, Hint};
use crate::emit::Emit;
use crate::guards::Guard;
use crate::merge::{LeafContext, Merge, merge};
use crate::val::{Leaf, Val};
use crate::{Eval, ill_typed};

/// `xs with [i, j] = value`
pub(super) fn update(
    of: &mut Evaluator,
    t: &Term,
    at: &[Term],
    value: &Term,
    span: Span,
    hint: Hint,
) -> Eval<Val> {
    let array = of.eval(t, None)?;
    let index = of.scalars(at)?;
    let value = of.eval(value, None)?;
    let (mut elem, mut outer) = (&array, Vec::new());
    for i in &index {
        let array = elem.as_array()?;
        of.emit.check_index(*i, array.extent, span);
        outer.push(array.extent);
        elem = &array.elem;
    }
    let extents = outer.clone();
    let value = of.reconciled(value, elem)?;
    let family = of.reconciled_family(elem, &value, &outer)?;
    let elem = &family;
    let mut cells = Cells { outer, index, span };
    let family =
        of.named(hint, |this| merge(&mut cells, &mut this.emit, &[Some(elem), Some(&value)]))?;
    Ok(extents.into_iter().rev().fold(family, |elem, extent| Val::array(extent, elem)))
}

/// The elements of an array of sizes `outer`, and the new value of the one at `index`.
struct Cells {
    outer: Vec<Atom>,
    index: Vec<Atom>,
    span: Span,
}

impl Merge for Cells {
    fn size(&mut self, emit: &mut Emit, parts: &[Option<Atom>], ways: &[Vec<Guard>]) -> Eval<Atom> {
        let (Some(old), Some(new)) = (parts[0], parts[1]) else {
            return parts[0].or(parts[1]).ok_or_else(ill_typed);
        };
        let hint = emit.hint.take();
        let around = self.outer.iter().map(|extent| Guard::Axis(*extent));
        let way: Vec<Guard> = around.chain(ways[0].iter().cloned()).collect();
        let size = emit.agree(
            &[(old, &way), (new, &ways[1])],
            self.span,
            "the new value has size {1}, the old one {0}",
        );
        emit.hint = hint;
        Ok(size)
    }

    fn leaf(
        &mut self,
        emit: &mut Emit,
        parts: &[Option<&Leaf>],
        context: &LeafContext,
    ) -> Eval<Leaf> {
        let count = self.outer.len();
        if let (Some(old), Some(new)) = (parts[0], parts[1])
            && old.axes[..count].iter().all(|has| !has)
            && *new == (Leaf { axes: old.axes[count..].to_vec(), ..old.clone() })
        {
            return Ok(old.clone());
        }
        let mut inner = vec![false; context.extents.len()];
        let masks = [parts[0].map(|old| &old.axes[count..]), parts[1].map(|new| &new.axes[..])];
        for mask in masks.into_iter().flatten() {
            inner.iter_mut().zip(mask).for_each(|(has, also)| *has |= also);
        }
        let axes: Vec<bool> = vec![true; count].into_iter().chain(inner.iter().copied()).collect();
        let extents: Vec<Atom> = self.outer.iter().chain(&context.extents).copied().collect();
        let hint = emit.hint.take();
        let array = emit.fit(parts[0], 0, &axes, &self.outer, context);
        let value = emit.fit(parts[1], 1, &inner, &[], context);
        emit.hint = hint;
        let name = emit.hint_of(array);
        let ty = Ty { elem: context.elem, dims: Leaf::select(&axes, &extents) };
        let array = array.as_var().ok_or_else(ill_typed)?;
        let atom = emit.bind(&name, ty, Op::Update { array, index: self.index.clone(), value });
        Ok(Leaf { atom, prefix: Vec::new(), axes, node: context.elem.node() })
    }
}
