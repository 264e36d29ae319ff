//! The differentiable leaves of a value, in order: taken from a value, put back into its structure,
//! and paired with those of a tangent.

use lambada_anf as anf;
use lambada_anf::{Atom, Elem};
use lambada_prim::{Prim, ScalarTy};
use lambada_source::Span;

use super::Evaluator;
use crate::emit::Emit;
use crate::guards::Guard;
use crate::merge::{LeafContext, Merge, map_leaves, merge};
use crate::messages;
use crate::val::{Leaf, Val};
use crate::{Eval, ill_typed};

/// The message for a tangent or cotangent of another size. `differentiate` has the same one for
/// recursive values, and `core::eval` for all.
pub(super) const ANOTHER_SIZE: &str =
    "an array in this tangent or cotangent has size {1}, but {0} in the value that it belongs to";

/// The value with stored real leaves.
pub(super) fn with_stored_reals(of: &mut Evaluator, value: &Val) -> Eval<Val> {
    map_leaves(&mut of.emit, value, &mut |emit, leaf, context| match is_active(context.elem) {
        true => {
            let atom = emit.stored(leaf, &context.extents);
            Leaf::stored(atom, leaf.axes.len()).of(context.elem)
        }
        false => leaf.clone(),
    })
}

/// The sizes and constructors of a value, with zeros for all other leaves.
pub(super) fn skeleton(of: &mut Evaluator, value: &Val) -> Eval<Val> {
    without_numbers(of, value, &|context| context.is_tag)
}

/// The value with zeros for the leaves that `is_kept` rejects.
pub(super) fn without_numbers(
    of: &mut Evaluator,
    value: &Val,
    is_kept: &dyn Fn(&LeafContext) -> bool,
) -> Eval<Val> {
    map_leaves(&mut of.emit, value, &mut |_, leaf, context| match is_kept(context) {
        true => leaf.clone(),
        false => Leaf::same(Atom::Lit(context.elem.zero()), leaf.axes.len()).of(context.elem),
    })
}

/// The real leaves of a tangent or a cotangent of a value with this skeleton.
pub(super) fn along(
    of: &mut Evaluator,
    skeleton: &Val,
    tangent: &Val,
    span: Span,
    message: &'static str,
) -> Eval<Vec<Atom>> {
    let mut along = Along { span, message, leaves: Vec::new() };
    merge(&mut along, &mut of.emit, &[Some(skeleton), Some(tangent)])?;
    Ok(along.leaves)
}

/// The structure with these real leaves, in order.
pub(super) fn with_reals(emit: &Emit, structure: &Val, atoms: &[Atom]) -> Val {
    let mut atoms = atoms.iter();
    structure.map_leaves(&mut |leaf| {
        let elem = emit.elem_of(leaf);
        if !is_active(elem) {
            return leaf.clone();
        }
        let atom = *atoms.next().expect("one atom per active leaf");
        Leaf::stored(atom, leaf.axes.len()).of(elem)
    })
}

/// Whether a leaf has a derivative: it is real, or a handle of nodes.
pub(super) fn is_active(elem: Elem) -> bool {
    match elem {
        Elem::Scalar(ScalarTy::Real) | Elem::Ref(_) => true,
        Elem::Scalar(ScalarTy::Int | ScalarTy::Bool) => false,
    }
}

/// Reports a value with functions, because derivatives are of data.
pub(super) fn first_order(value: &Val, span: Span) -> Eval<()> {
    if value.is_first_order() {
        return Ok(());
    }
    Err(Box::new(messages::not_first_order(span)))
}

/// The results of the block under construction: every real leaf, and all other parts of the value
/// that the block binds.
pub(super) struct Results {
    level: usize,
    pub(super) atoms: Vec<Atom>,
    pub(super) types: Vec<anf::Ty>,
    pub(super) reals: Vec<usize>,
    pub(super) others: Vec<(Atom, usize)>,
}

impl Results {
    /// The results of a block at this level.
    pub(super) fn at(level: usize) -> Results {
        let (atoms, types, reals, others) = Default::default();
        Results { level, atoms, types, reals, others }
    }

    fn other(&mut self, emit: &Emit, atom: Atom) {
        if self.others.iter().all(|(known, _)| *known != atom) {
            self.others.push((atom, self.atoms.len()));
            self.types.push(emit.ty(atom));
            self.atoms.push(atom);
        }
    }
}

impl Merge for Results {
    fn size(&mut self, emit: &mut Emit, parts: &[Option<Atom>], _: &[Vec<Guard>]) -> Eval<Atom> {
        let size = parts[0].ok_or_else(ill_typed)?;
        if let Some(outer) = emit.outer_form(size, self.level) {
            return Ok(outer);
        }
        self.other(emit, size);
        Ok(size)
    }

    fn leaf(
        &mut self,
        emit: &mut Emit,
        parts: &[Option<&Leaf>],
        context: &LeafContext,
    ) -> Eval<Leaf> {
        let leaf = parts[0].ok_or_else(ill_typed)?;
        if is_active(context.elem) {
            let atom = emit.stored(leaf, &context.extents);
            self.reals.push(self.atoms.len());
            self.types.push(anf::Ty { elem: context.elem, ..emit.ty(atom) });
            self.atoms.push(atom);
            return Ok(Leaf::stored(atom, leaf.axes.len()).of(context.elem));
        }
        if emit.is_static(leaf, &context.extents, self.level) {
            return Ok(leaf.clone());
        }
        let atom = emit.force(leaf);
        self.other(emit, atom);
        Ok(Leaf { axes: leaf.axes.clone(), ..Leaf::scalar(atom) })
    }
}

/// Collects the real leaves of a tangent of a point.
struct Along {
    span: Span,
    /// The message for different constructors.
    message: &'static str,
    leaves: Vec<Atom>,
}

impl Along {
    /// Fails if the constructors differ, elementwise inside arrays.
    fn same_constructor(&self, emit: &mut Emit, point: &Leaf, tangent: &Leaf, extents: &[Atom]) {
        let Some(extent) = extents.first() else {
            let (a, b) = (emit.force(point), emit.force(tangent));
            let cond = emit.prim(Prim::EqInt, &[a, b]);
            emit.check(cond, self.span, self.message, Vec::new());
            return;
        };
        if point == tangent {
            return;
        }
        let index = emit.enter_for(*extent);
        let [point, tangent] = [point, tangent].map(|leaf| leaf.at(index.into()));
        self.same_constructor(emit, &point, &tangent, &extents[1..]);
        match emit.stms().is_empty() {
            true => _ = emit.leave(),
            false => emit.leave_for_effect(index, *extent),
        }
    }
}

impl Merge for Along {
    fn size(&mut self, emit: &mut Emit, parts: &[Option<Atom>], ways: &[Vec<Guard>]) -> Eval<Atom> {
        if let (Some(point), Some(tangent)) = (parts[0], parts[1])
            && !emit.facts.equal(point, tangent)
        {
            let active = emit.active(&ways[0]);
            emit.check_equal_if(active, point, tangent, self.span, ANOTHER_SIZE);
        }
        parts[0].or(parts[1]).ok_or_else(ill_typed)
    }

    fn leaf(
        &mut self,
        emit: &mut Emit,
        parts: &[Option<&Leaf>],
        context: &LeafContext,
    ) -> Eval<Leaf> {
        let present = parts[0].or(parts[1]).ok_or_else(ill_typed)?;
        if let (Some(point), Some(tangent), true) = (parts[0], parts[1], context.is_tag) {
            self.same_constructor(emit, point, tangent, &context.extents);
        }
        if parts[0].is_some() && is_active(context.elem) {
            let mask = vec![true; context.extents.len()];
            self.leaves.push(emit.fit(parts[1], 1, &mask, &[], context));
        }
        Ok(present.clone())
    }
}
