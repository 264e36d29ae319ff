//! Rows to nodes.

use std::collections::HashMap;
use std::ops::Range;

use lambada_anf::{Atom, Elem, LoopKind, Nest, Op, Out, Param, Ty, Var};
use lambada_core::{Ty as CoreTy, TypeId};
use lambada_prim::{Prim, ScalarTy};
use lambada_source::Span;

use super::{NO_CONSTRUCTOR, NOT_BEFORE, NOT_ROWS, OTHER_TYPE, Rows, is_real};
use crate::emit::Emit;
use crate::eval::{Evaluator, sketches, slots};
use crate::shape::Table;
use crate::sketch::{Role, Slot, Slots};
use crate::val::{Leaf, Val};
use crate::{Eval, ill_typed};

/// For each type an array of its nodes, by row number, with null at 0.
pub(crate) fn plant(
    of: &mut Evaluator,
    table: &Table,
    rows: &Rows,
    span: Span,
) -> Eval<HashMap<TypeId, Atom>> {
    let count = of.emit.prim(Prim::AddInt, &[rows.sizes[0], Atom::int(1)]);
    let types: Vec<Ty> = (table.types.iter())
        .map(|(id, _)| Ty {
            elem: Elem::Ref(slots::node_type(of, &CoreTy::Variant(*id))),
            dims: vec![count],
        })
        .collect();
    let inits: Vec<Atom> =
        (types.iter()).map(|ty| of.emit.fill_of(ty.elem, Atom::int(0), ty.dims.clone())).collect();
    of.emit.enter();
    let params = of.emit.params("nodes", types.clone());
    let index = of.emit.index("row", rows.sizes[0]);
    of.emit.enter();
    let handles = row(of, table, rows, &params, index, span)?;
    let next = of.emit.prim(Prim::AddInt, &[index.into(), Atom::int(1)]);
    let mut results = Vec::with_capacity(params.len());
    for (p, value) in params.iter().zip(handles) {
        let op = Op::Update { array: p.var, index: vec![next], value };
        results.push(of.emit.bind("nodes", p.ty.clone(), op));
    }
    let body = of.emit.leave().finish(results);
    of.emit.leave();
    let binds = of.emit.params("nodes", types);
    let arrays = binds.iter().map(|p| Atom::from(p.var));
    let planted = table.types.iter().map(|(id, _)| *id).zip(arrays).collect();
    let kind = LoopKind::counted(index, rows.sizes[0]);
    of.emit.push(binds, Nest::Loop { params, inits, kind, body });
    Ok(planted)
}

/// The node of a row: for each type a handle, of which all but one are null.
fn row(
    of: &mut Evaluator,
    table: &Table,
    rows: &Rows,
    nodes: &[Param],
    row: Var,
    span: Span,
) -> Eval<Vec<Atom>> {
    let all: usize = table.types.iter().map(|(_, constructors)| constructors.len()).sum();
    let numbers: Vec<i64> = (0..all as i64).collect();
    let [tag, int, real] =
        [rows.tags, rows.ints_at, rows.reals_at].map(|c| of.emit.load(c, &[row.into()]));
    of.emit.check_in(tag, Atom::int(all as i64), span, NO_CONSTRUCTOR);
    let own = of.emit.prim(Prim::AddInt, &[row.into(), Atom::int(1)]);
    let value = of.select(tag, &numbers, None, &mut |this, number| {
        let (id, tag, _) = table.constructor(number).ok_or_else(ill_typed)?;
        let sketches = slots::constructor(this, id, tag);
        let slots = slots::node_slots(this, &sketches);
        let planted = nodes.iter().zip(&table.types).map(|(p, (id, constructors))| {
            let first = table.first(*id) as i64;
            (p.ty.elem, (p.var, first..first + constructors.len() as i64))
        });
        let planted: HashMap<Elem, (Var, Range<i64>)> = planted.collect();
        let mut reader = RowReader { rows, planted, own, int, real, span };
        let fields = reader.fields(this, &slots);
        let node = slots::node_type(this, &CoreTy::Variant(id));
        let made = this.emit.node(node, tag, fields);
        let handles = table.types.iter().map(|(other, _)| {
            let ty = CoreTy::Variant(*other);
            let node = slots::node_type(this, &ty);
            let null = Leaf::scalar(Atom::int(0)).of(Elem::Ref(node));
            sketches::node_val(this, &ty, if *other == id { made.clone() } else { null })
        });
        let handles: Vec<Val> = handles.collect();
        Ok(Val::tuple(handles))
    })?;
    let handles = value.as_tuple()?.iter();
    handles.map(|handle| Ok(of.emit.force(&handle.as_node()?.handle))).collect()
}

/// The nodes with these numbers, each at least `numbers.1`, inside arrays.
pub(crate) fn planted(
    of: &mut Evaluator,
    numbers: (&Leaf, i64),
    id: TypeId,
    nodes: Atom,
    extents: &[Atom],
    span: Span,
) -> Val {
    let handle = planted_leaf(of, numbers, nodes, extents, span);
    sketches::node_val(of, &CoreTy::Variant(id), handle)
}

fn planted_leaf(
    of: &mut Evaluator,
    (numbers, least): (&Leaf, i64),
    nodes: Atom,
    extents: &[Atom],
    span: Span,
) -> Leaf {
    let ty = of.emit.ty(nodes);
    let Some((extent, inner)) = extents.split_first() else {
        let number = of.emit.force(numbers);
        of.emit.check_in(number, ty.dims[0], span, NOT_ROWS);
        let exists = of.emit.prim(Prim::LeInt, &[Atom::int(least), number]);
        of.emit.check(exists, span, NOT_ROWS, vec![number, ty.dims[0]]);
        let atom = of.emit.load(nodes, &[number]);
        return Leaf::scalar(atom).of(ty.elem);
    };
    let hint = of.emit.hint_of(numbers.atom);
    let index = of.emit.enter_for(*extent);
    let element = (&numbers.at(index.into()), least);
    let element = planted_leaf(of, element, nodes, inner, span);
    let out = (Out::Collect, Ty { elem: ty.elem, dims: extents.to_vec() }, hint);
    let atom = of.emit.leave_for(index, *extent, out, element.atom);
    Leaf::stored(atom, extents.len()).of(ty.elem)
}

/// Reads the fields of a row, one after the other.
struct RowReader<'a> {
    rows: &'a Rows,
    /// The nodes of earlier rows, by their handle type, with their range of constructors.
    planted: HashMap<Elem, (Var, Range<i64>)>,
    /// The number of the row.
    own: Atom,
    int: Atom,
    real: Atom,
    span: Span,
}

impl RowReader<'_> {
    fn fields(&mut self, evaluator: &mut Evaluator, slots: &Slots) -> Vec<Atom> {
        let emit = &mut evaluator.emit;
        let mut atoms: Vec<Atom> = Vec::with_capacity(slots.values.len());
        for slot in &slots.values {
            let dims = Slots::ty(slot, &atoms).dims;
            let base = if is_real(slot) { self.real } else { self.int };
            let mut atom = self.read(emit, slot, base, &dims, &mut Vec::new());
            if slot.role == Role::Size {
                atom = emit.prim(Prim::MaxInt, &[atom, Atom::int(0)]);
            }
            let size = super::product(emit, &dims);
            let next = emit.prim(Prim::AddInt, &[base, size]);
            *(if is_real(slot) { &mut self.real } else { &mut self.int }) = next;
            atoms.push(atom);
        }
        atoms
    }

    fn read(
        &self,
        emit: &mut Emit,
        slot: &Slot,
        base: Atom,
        dims: &[Atom],
        at: &mut Vec<Atom>,
    ) -> Atom {
        let depth = at.len();
        let Some(extent) = dims.get(depth) else {
            let place = super::linear(emit, base, dims, at);
            return self.scalar(emit, slot, place);
        };
        let index = emit.enter_for(*extent);
        at.push(index.into());
        let element = self.read(emit, slot, base, dims, at);
        at.pop();
        let ty = Ty { elem: slot.elem, dims: dims[depth..].to_vec() };
        emit.leave_for(index, *extent, (Out::Collect, ty, slot.name.clone()), element)
    }

    fn scalar(&self, emit: &mut Emit, slot: &Slot, place: Atom) -> Atom {
        let (pool, size) = match is_real(slot) {
            true => (self.rows.reals, self.rows.sizes[2]),
            false => (self.rows.ints, self.rows.sizes[1]),
        };
        emit.check_in(place, size, self.span, NOT_ROWS);
        let value = emit.load(pool, &[place]);
        if let Role::Tag(Some(constructors)) = slot.role {
            emit.check_in(value, Atom::int(constructors), self.span, NO_CONSTRUCTOR);
        }
        match slot.elem {
            Elem::Scalar(ScalarTy::Real | ScalarTy::Int) => value,
            Elem::Scalar(ScalarTy::Bool) => emit.prim(Prim::NeInt, &[value, Atom::int(0)]),
            Elem::Ref(_) => self.node(emit, slot, value),
        }
    }

    /// The node of an inner row, which stands before this row; null if a variant lacks the field.
    fn node(&self, emit: &mut Emit, slot: &Slot, number: Atom) -> Atom {
        let (nodes, constructors) = &self.planted[&slot.elem];
        let nodes = Atom::from(*nodes);
        let size = emit.ty(nodes).dims[0];
        emit.check_in(number, size, self.span, NOT_ROWS);
        let least = Atom::int(if slot.is_optional { 0 } else { 1 });
        let exists = emit.prim(Prim::LeInt, &[least, number]);
        let is_before = emit.prim(Prim::LtInt, &[number, self.own]);
        let is_fine = emit.prim(Prim::And, &[exists, is_before]);
        emit.check(is_fine, self.span, NOT_BEFORE, vec![number, self.own]);
        if self.planted.len() > 1 && !slot.is_optional {
            let row = emit.prim(Prim::SubInt, &[number, Atom::int(1)]);
            emit.check_in(row, self.rows.sizes[0], self.span, NOT_ROWS);
            let tag = emit.load(self.rows.tags, &[row]);
            let first = emit.prim(Prim::LeInt, &[Atom::int(constructors.start), tag]);
            let last = emit.prim(Prim::LtInt, &[tag, Atom::int(constructors.end)]);
            let is_of_type = emit.prim(Prim::And, &[first, last]);
            emit.check(is_of_type, self.span, OTHER_TYPE, vec![number, self.own]);
        }
        emit.load(nodes, &[number])
    }
}
