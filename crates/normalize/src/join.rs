//! Joins after branches: `if c { then } else { otherwise }` in anf, and the joint value. A part
//! that is evidently equal in both branches stays static; sizes that differ, or that only one
//! branch has, become results of the `if`.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{Atom, Nest, Param, Ty};

use crate::Eval;
use crate::emit::{Closed, Emit};
use crate::guards::Guard;
use crate::merge::{LeafContext, Merge, joint_axes, merge, zeros};
use crate::val::{Leaf, Val};

/// The two blocks, and the results of the `if`.
struct Join {
    /// The level of the blocks.
    level: usize,
    cond: Atom,
    sides: [Closed; 2],
    binds: Vec<Param>,
    results: [Vec<Atom>; 2],
    /// Pairs that are already results.
    pairs: HashMap<[Atom; 2], Atom>,
    /// By joint size: its value in each block.
    sizes: HashMap<Atom, [Atom; 2]>,
}

/// Joins the values of two blocks that have been left, and appends the `if`.
pub(crate) fn join(
    emit: &mut Emit,
    cond: Atom,
    sides: [Closed; 2],
    values: [&Val; 2],
) -> Eval<Val> {
    let level = emit.level() + 1;
    let results = [Vec::new(), Vec::new()];
    let mut join = Join {
        level,
        cond,
        sides,
        binds: Vec::new(),
        results,
        pairs: HashMap::new(),
        sizes: HashMap::new(),
    };
    let value = merge(&mut join, emit, &values.map(Some))?;
    if !join.binds.is_empty() || join.sides.iter().any(|b| !b.is_empty()) {
        let ([then, otherwise], [r, s]) = (join.sides, join.results);
        emit.push(
            join.binds,
            Nest::If { cond, then: then.finish(r), otherwise: otherwise.finish(s) },
        );
    }
    Ok(value)
}

impl Join {
    /// A new result of the `if`.
    fn slot(&mut self, emit: &mut Emit, pair: [Atom; 2], ty: Ty) -> Atom {
        if let Some(known) = self.pairs.get(&pair) {
            return *known;
        }
        let hint: Rc<str> = emit.hint.clone().unwrap_or_else(|| {
            emit.hint_of(if pair[0].as_var().is_some() { pair[0] } else { pair[1] })
        });
        let var = emit.fresh(hint, ty.clone());
        self.binds.push(Param { var, ty: ty.clone() });
        self.results.iter_mut().zip(pair).for_each(|(list, atom)| list.push(atom));
        if ty == Ty::bool() {
            emit.facts.connect(var, self.cond, pair[0], pair[1]);
        }
        self.pairs.insert(pair, var.into());
        var.into()
    }

    /// The outer form of an integer that is equal in both blocks.
    fn common(&mut self, emit: &mut Emit, a: Atom, b: Atom) -> Option<Atom> {
        if a == b && emit.is_outside(a, self.level) {
            return Some(a);
        }
        // A check in one branch may prove its size equal to that of the other.
        for (side, inner, outer) in [(0, a, b), (1, b, a)] {
            if emit.is_outside(outer, self.level)
                && emit.within(&mut self.sides[side], |emit| emit.facts.equal(inner, outer))
            {
                return Some(outer);
            }
        }
        let p = emit.within(&mut self.sides[0], |emit| emit.facts.poly(a));
        let q = emit.within(&mut self.sides[1], |emit| emit.facts.poly(b));
        (p == q && emit.poly_is_outside(&p, self.level)).then(|| emit.write(&p))
    }

    fn outer(&self, emit: &mut Emit, a: Atom) -> Option<Atom> {
        let poly = emit.facts.poly(a);
        if emit.is_outside(a, self.level) {
            Some(a)
        } else {
            emit.poly_is_outside(&poly, self.level).then(|| emit.write(&poly))
        }
    }

    /// The leaf in one of the blocks, with all axes of the mask.
    fn on_side(
        &mut self,
        emit: &mut Emit,
        side: usize,
        leaf: Option<&Leaf>,
        mask: &[bool],
        context: &LeafContext,
    ) -> Atom {
        let extents: Vec<Atom> = context
            .extents
            .iter()
            .map(|e| self.sizes.get(e).map_or(*e, |both| both[side]))
            .collect();
        emit.within(&mut self.sides[side], |emit| match leaf {
            Some(leaf) => emit.broadcast(leaf, mask, &extents),
            None => zeros(emit, context.elem, mask, &extents),
        })
    }
}

impl Merge for Join {
    fn size(&mut self, emit: &mut Emit, parts: &[Option<Atom>], _: &[Vec<Guard>]) -> Eval<Atom> {
        let known = match (parts[0], parts[1]) {
            (Some(a), Some(b)) => self.common(emit, a, b),
            (Some(a), None) | (None, Some(a)) => self.outer(emit, a),
            (None, None) => None,
        };
        if let Some(size) = known {
            return Ok(size);
        }
        let pair = [parts[0].unwrap_or(Atom::int(0)), parts[1].unwrap_or(Atom::int(0))];
        let hint = emit.hint.take();
        let size = self.slot(emit, pair, Ty::int());
        emit.hint = hint;
        if let Atom::Var(var) = size {
            emit.facts.nonnegative(var);
        }
        self.sizes.insert(size, pair);
        Ok(size)
    }

    fn leaf(
        &mut self,
        emit: &mut Emit,
        parts: &[Option<&Leaf>],
        context: &LeafContext,
    ) -> Eval<Leaf> {
        if let (Some(a), Some(b)) = (parts[0], parts[1]) {
            if a == b && emit.is_static(a, &context.extents, self.level) {
                return Ok(a.clone());
            }
            if a.axes == b.axes
                && a.prefix.is_empty()
                && b.prefix.is_empty()
                && a.node.is_none()
                && emit.ty(a.atom) == Ty::int()
                && emit.ty(b.atom) == Ty::int()
                && let Some(atom) = self.common(emit, a.atom, b.atom)
            {
                return Ok(Leaf { atom, ..a.clone() });
            }
        }
        let mask = joint_axes(parts);
        let hint = emit.hint.take();
        let pair = [
            self.on_side(emit, 0, parts[0], &mask, context),
            self.on_side(emit, 1, parts[1], &mask, context),
        ];
        emit.hint = hint;
        let ty = Ty { elem: context.elem, dims: Leaf::select(&mask, &context.extents) };
        let leaf =
            Leaf { atom: pair[0], prefix: Vec::new(), axes: mask, node: context.elem.node() };
        if pair[0] == pair[1] && emit.is_static(&leaf, &context.extents, self.level) {
            return Ok(leaf);
        }
        Ok(Leaf { atom: self.slot(emit, pair, ty), ..leaf })
    }
}
