//! `for i < n => body`: the leaves of the body's value are collected into arrays, except
//! loop-invariant leaves. The sizes of collected leaves must not depend on the iteration; a check
//! ensures this where it is not evident.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{Atom, Exp, Nest, Out, Param, Stm, Ty, Var};
use lambada_core::{Term, Var as CoreVar};
use lambada_prim::{Prim, Scalar};
use lambada_source::Span;

use super::{Evaluator, Hint, arrays, carried, unroll};
use crate::emit::Emit;
use crate::guards::{Guard, guarded_extents, is_guarded};
use crate::hoist::{hoist_active_size, hoist_sizes};
use crate::merge::{LeafContext, Merge, merge};
use crate::val::{Leaf, Val};
use crate::{Eval, ill_typed};

/// `for i < n => body`
pub(super) fn for_(
    of: &mut Evaluator,
    i: &CoreVar,
    n: &Term,
    body: &Term,
    span: Span,
    hint: Hint,
) -> Eval<Val> {
    let n = of.scalar(n)?;
    let extent = of.emit.prim(Prim::MaxInt, &[n, Atom::int(0)]);
    if let Some(count) = unroll::iterations(of, i, extent, body) {
        let values = (0..count).map(|k| {
            of.scoped(|this| {
                this.bind(i, Val::scalar(Atom::int(k)));
                this.eval(body, None)
            })
        });
        let values = values.collect::<Eval<Vec<Val>>>()?;
        return arrays::array_of(of, values, body.ty(), span, hint);
    }
    let directions = of.local.directions;
    of.emit.enter();
    let index = of.emit.index(&i.hint, extent);
    let value = of.scoped(|this| {
        this.bind(i, Val::scalar(index.into()));
        this.eval(body, None)
    })?;
    let value = carried::with_own_sizes(of, value, body.ty())?;
    let sizes = outer_sizes(of, &value, index, extent, span)?;
    let level = of.emit.level();
    let mut collect = Collect {
        level,
        index,
        extent,
        hint: hint.cloned(),
        sizes,
        binds: Vec::new(),
        results: Vec::new(),
    };
    let elem = merge(&mut collect, &mut of.emit, &[Some(&value)])?;
    let block = of.emit.leave();
    if !collect.binds.is_empty() || !block.is_empty() {
        let outs = vec![Out::Collect; collect.binds.len()];
        let nest = Nest::For { index, extent, outs, body: block.finish(collect.results) };
        close_for(of, Stm::new(collect.binds, nest), directions);
    }
    Ok(Val::array(extent, elem))
}

/// Places a finished `for`. If its iterations take derivatives along directions (tangents or
/// cotangents), all directions are taken at once. `before` counts the derivatives before the `for`.
fn close_for(of: &mut Evaluator, stm: Stm, before: Directions) {
    if of.local.directions.since(before, &stm)
        && let Some(stms) = of.derivatives.together(&mut of.emit.names, &stm)
    {
        of.local.directions = before;
        return stms.into_iter().for_each(|stm| of.emit.adopt(stm));
    }
    of.emit.push(stm.binds, stm.exp);
}

/// The outer equivalents of the sizes in a body's value.
fn outer_sizes(
    of: &mut Evaluator,
    value: &Val,
    index: Var,
    extent: Atom,
    span: Span,
) -> Eval<HashMap<Atom, Atom>> {
    let level = of.emit.level();
    let message = "elements have different sizes: {0} and {1}";
    let (mut known, mut unknown) = (HashMap::new(), Vec::new());
    for (size, ways) in guarded_extents(value) {
        if let Some(outer) = of.emit.outer_size(size, level) {
            known.insert(size, outer);
        } else if ways.iter().all(|way| is_guarded(way)) {
            let active = of.emit.any_active(&ways);
            let outer = hoist_active_size(&mut of.emit, index, extent, active, size);
            of.emit.check_equal_if(active, outer, size, span, message);
            known.insert(size, outer);
        } else {
            unknown.push(size);
        }
    }
    for (size, outer) in unknown.iter().zip(hoist_sizes(&mut of.emit, index, extent, &unknown)) {
        of.emit.check_equal(outer, *size, span, message);
        known.insert(*size, outer);
    }
    Ok(known)
}

/// Numbers of placed derivatives that a `for` could take along all of its directions at once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Directions {
    /// Forward derivatives.
    pub tangents: usize,
    /// Pullbacks made before.
    pub cotangents: usize,
}

/// Maximal trip count of a loop that is written out; common parts of the iterations are found
/// there.
const FEW: i64 = 8;

impl Directions {
    /// Whether the count has grown, so that a `for` with this body may gain from lanes.
    fn since(self, before: Directions, stm: &Stm) -> bool {
        let few =
            matches!(stm.exp, Exp::Nest(Nest::For { extent: Atom::Lit(Scalar::Int(..=FEW)), .. }));
        self.tangents > before.tangents || (!few && self.cotangents > before.cotangents)
    }
}

/// The results of a `for`; its body is the innermost block.
struct Collect {
    level: usize,
    index: Var,
    extent: Atom,
    hint: Option<Rc<str>>,
    sizes: HashMap<Atom, Atom>,
    binds: Vec<Param>,
    results: Vec<Atom>,
}

impl Collect {
    /// `for i < length x => x[i]` is `x`.
    fn row_of(&self, emit: &Emit, leaf: &Leaf, extents: &[Atom]) -> Option<Leaf> {
        let (last, rest) = leaf.prefix.split_last()?;
        let outer = Leaf {
            prefix: rest.to_vec(),
            axes: [&[true], &leaf.axes[..]].concat(),
            ..leaf.clone()
        };
        let whole = *last == self.index.into()
            && emit.is_static(&outer, &[&[self.extent], extents].concat(), self.level);
        whole.then_some(outer)
    }
}

impl Merge for Collect {
    fn size(&mut self, _: &mut Emit, parts: &[Option<Atom>], _: &[Vec<Guard>]) -> Eval<Atom> {
        let size = parts[0].ok_or_else(ill_typed)?;
        Ok(self.sizes.get(&size).copied().unwrap_or(size))
    }

    fn leaf(
        &mut self,
        emit: &mut Emit,
        parts: &[Option<&Leaf>],
        context: &LeafContext,
    ) -> Eval<Leaf> {
        let leaf = parts[0].ok_or_else(ill_typed)?;
        if emit.is_static(leaf, &context.extents, self.level) {
            return Ok(Leaf { axes: [&[false], &leaf.axes[..]].concat(), ..leaf.clone() });
        }
        if let Some(outer) = self.row_of(emit, leaf, &context.extents) {
            return Ok(outer);
        }
        let atom = emit.fit(Some(leaf), 0, &leaf.axes, &[], context);
        let axes = [&[true], &leaf.axes[..]].concat();
        if let Some(known) = self.results.iter().position(|r| *r == atom) {
            let atom = self.binds[known].var.into();
            return Ok(Leaf { axes, ..Leaf::scalar(atom) }.of(context.elem));
        }
        let dims = std::iter::once(self.extent)
            .chain(Leaf::select(&leaf.axes, &context.extents))
            .collect();
        let ty = Ty { elem: context.elem, dims };
        let hint = self.hint.clone().unwrap_or_else(|| emit.hint_of(atom));
        let var = emit.fresh_at(self.level - 1, hint, ty.clone());
        self.binds.push(Param { var, ty });
        self.results.push(atom);
        Ok(Leaf { axes, ..Leaf::scalar(var.into()) }.of(context.elem))
    }
}
