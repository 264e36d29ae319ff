//! Nodes to rows.

use std::collections::HashMap;

use lambada_anf::{Atom, Elem, FnId, LoopKind, Nest, Op, Param, Ty};
use lambada_core::{Ty as CoreTy, TypeId};
use lambada_prim::Prim;

use super::{Root, is_real};
use crate::eval::{Evaluator, slots};
use crate::shape::Table;
use crate::sketch::{Filled, Sketch, Slot, Slots};
use crate::val::{Leaf, Val};
use crate::{Eval, ill_typed};

/// Integers that a loop carries.
type State = Vec<Atom>;

/// The next values of these integers.
type Next = Eval<State>;

/// The action for a scalar at some indices.
type PerScalar<'b> = dyn FnMut(&mut Evaluator, Atom, &[Atom], State) -> Next + 'b;

/// The functions that write the values of some types.
#[derive(Debug, Default)]
struct Writers {
    measure: HashMap<TypeId, FnId>,
    write: HashMap<TypeId, FnId>,
}

/// The target of written values.
struct Sink<'w> {
    writers: &'w Writers,
    columns: Vec<Param>,
}

/// The rows of values: the columns, and the number of each value.
pub(crate) fn written(
    of: &mut Evaluator,
    table: &Table,
    roots: &[Root],
) -> Eval<(Vec<Atom>, Vec<Atom>)> {
    let mut writers = Writers::default();
    for (id, _) in &table.types {
        writers.measure.insert(*id, of.reserve()?);
        writers.write.insert(*id, of.reserve()?);
    }
    for (id, _) in &table.types {
        write_measure(of, *id, &writers)?;
        write_write(of, *id, table, &writers)?;
    }
    let mut sizes = vec![Atom::int(0); 3];
    for root in roots {
        sizes = over(of, &root.extents, &mut Vec::new(), sizes, &mut |this, at, sizes| {
            let handle = element(this, &root.handle, at);
            measured(this, handle, root.id, &writers, &sizes)
        })?;
    }
    let sink = Sink { writers: &writers, columns: columns(of, &sizes) };
    let (mut numbers, mut state) = (Vec::new(), vec![Atom::int(0); 3]);
    for root in roots {
        state = write_root(of, root, &sink, &mut numbers, state)?;
    }
    let frozen = sink.columns.iter().map(|p| {
        let hint = of.emit.names.hint(p.var);
        of.emit.bind(&hint, p.ty.clone(), Op::Freeze(p.var))
    });
    Ok((frozen.collect(), numbers))
}

/// The accumulators of the columns. A sum of reals begins with -0, the neutral element even for
/// zeros.
fn columns(of: &mut Evaluator, sizes: &[Atom]) -> Vec<Param> {
    let [rows, ints, reals] = [sizes[0], sizes[1], sizes[2]];
    let (zero, real) = (Atom::int(0), Atom::real(-0.0));
    let columns = [
        ("rows", zero, rows),
        ("ints_at", zero, rows),
        ("reals_at", zero, rows),
        ("ints", zero, ints),
        ("reals", real, reals),
    ];
    let made = columns.map(|(name, value, size)| {
        let size = of.emit.prim(Prim::MaxInt, &[size, Atom::int(0)]);
        accumulator_of(of, name, value, vec![size])
    });
    made.to_vec()
}

fn accumulator_of(of: &mut Evaluator, name: &str, value: Atom, dims: Vec<Atom>) -> Param {
    let first = of.emit.fill(value, dims);
    let ty = of.emit.ty(first);
    Param { var: of.emit.accumulator(name, ty.clone(), first), ty }
}

fn write_root(
    of: &mut Evaluator,
    root: &Root,
    sink: &Sink,
    numbers: &mut Vec<Atom>,
    state: Vec<Atom>,
) -> Next {
    if root.extents.is_empty() {
        let handle = of.emit.force(&root.handle);
        let mut state = write(of, handle, root.id, sink, &state)?;
        numbers.push(state.remove(0));
        return Ok(state);
    }
    let all = accumulator_of(of, "numbers", Atom::int(0), root.extents.clone());
    let state = over(of, &root.extents, &mut Vec::new(), state, &mut |this, at, state| {
        let handle = element(this, &root.handle, at);
        let mut state = write(this, handle, root.id, sink, &state)?;
        let (acc, value) = (all.var, state.remove(0));
        let op = Op::Accumulate { acc, index: at.to_vec(), value };
        this.emit.push(Vec::new(), op);
        Ok(state)
    })?;
    numbers.push(of.emit.bind("numbers", all.ty.clone(), Op::Freeze(all.var)));
    Ok(state)
}

fn element(of: &mut Evaluator, leaf: &Leaf, at: &[Atom]) -> Atom {
    let element = at.iter().fold(leaf.clone(), |leaf, index| leaf.at(*index));
    of.emit.force(&element)
}

/// Adds the sizes of a value to the state.
fn measured(
    of: &mut Evaluator,
    handle: Atom,
    id: TypeId,
    writers: &Writers,
    sizes: &[Atom],
) -> Next {
    let arguments = Filled { atoms: vec![handle], ..Filled::default() };
    let own = of.call_function(writers.measure[&id], arguments, &counters(3))?;
    let own = counters_of(of, &own)?;
    Ok(sizes.iter().zip(own).map(|(a, b)| of.emit.prim(Prim::AddInt, &[*a, b])).collect())
}

/// Writes a value; returns its number and the next free position.
fn write(of: &mut Evaluator, handle: Atom, id: TypeId, sink: &Sink, state: &[Atom]) -> Next {
    let sizes = sink.columns.iter().map(|p| p.ty.dims[0]);
    let atoms = [handle].into_iter().chain(state.iter().copied()).chain(sizes).collect();
    let accumulators = sink.columns.iter().map(|p| p.var).collect();
    let arguments = Filled { atoms, accumulators, ..Filled::default() };
    let value = of.call_function(sink.writers.write[&id], arguments, &counters(4))?;
    counters_of(of, &value)
}

fn counters_of(of: &mut Evaluator, value: &Val) -> Next {
    value.as_tuple()?.iter().map(|item| Ok(of.emit.force(item.as_leaf()?))).collect()
}

/// `measure node`: the numbers of rows, integers and reals.
fn write_measure(of: &mut Evaluator, id: TypeId, writers: &Writers) -> Eval<()> {
    let ty = CoreTy::Variant(id);
    let name = format!("measure_{}", lambada_core::print_type(of.program, &ty));
    let (function, sketches) = (writers.measure[&id], [Sketch::Node(ty)]);
    of.function(function, &name, &sketches, &["x".into()], &counters(3), &mut |this, vals| {
        let none = vec![Atom::int(0); 3];
        by_constructor(this, &vals[0], id, none, &mut |this, handle, tag| {
            let (slots, atoms) = all_fields(this, handle, id, tag);
            let own = own_size(this, &slots, &atoms);
            let mut state = vec![Atom::int(1), own[0], own[1]];
            for (slot, atom) in slots.values.iter().zip(&atoms) {
                let Some(child) = child(this, slot) else { continue };
                state = over_slot(this, slot, *atom, &atoms, state, &mut |this, x, _, state| {
                    measured(this, x, child, writers, &state)
                })?;
            }
            Ok(state)
        })
    })
}

/// `write node row int real`, with the columns as accumulators.
fn write_write(of: &mut Evaluator, id: TypeId, table: &Table, writers: &Writers) -> Eval<()> {
    let ty = CoreTy::Variant(id);
    let name = format!("write_{}", lambada_core::print_type(of.program, &ty));
    let column = |elem| Sketch::Acc(Box::new(Sketch::Array(Box::new(Sketch::Adds(elem)))));
    let int = || Sketch::Leaf(Elem::INT);
    let mut sketches = vec![Sketch::Node(ty), int(), int(), int()];
    sketches.extend([Elem::INT; 4].map(column));
    sketches.push(column(Elem::REAL));
    let hints = ["x", "row", "int", "real", "rows", "ints_at", "reals_at", "ints", "reals"];
    let hints = hints.map(std::rc::Rc::from);
    let function = writers.write[&id];
    of.function(function, &name, &sketches, &hints, &counters(4), &mut |this, vals| {
        let start = counters_of(this, &Val::tuple(vals[1..4].to_vec()))?;
        let sink = Sink { writers, columns: column_params(this, &vals[4..])? };
        let none = [&[Atom::int(0)], &start[..]].concat();
        by_constructor(this, &vals[0], id, none, &mut |this, handle, tag| {
            let number = Atom::int((table.first(id) + tag) as i64);
            write_row(this, handle, (id, tag), number, &start, &sink)
        })
    })
}

fn column_params(of: &mut Evaluator, vals: &[Val]) -> Eval<Vec<Param>> {
    let param = |val: &Val| {
        let leaf = val.as_acc()?.structure.as_array()?.elem.as_leaf()?;
        let var = leaf.atom.as_var().ok_or_else(ill_typed)?;
        Ok(Param { var, ty: of.emit.ty(var.into()) })
    };
    vals.iter().map(param).collect()
}

/// Writes a row after the rows of the values in it.
fn write_row(
    of: &mut Evaluator,
    handle: Atom,
    (id, tag): (TypeId, usize),
    number: Atom,
    start: &[Atom],
    sink: &Sink,
) -> Next {
    let columns = &sink.columns;
    let (slots, atoms) = all_fields(of, handle, id, tag);
    let own = own_size(of, &slots, &atoms);
    let mut state = vec![
        start[0],
        of.emit.prim(Prim::AddInt, &[start[1], own[0]]),
        of.emit.prim(Prim::AddInt, &[start[2], own[1]]),
    ];
    let [mut int, mut real] = [start[1], start[2]];
    for (slot, atom) in slots.values.iter().zip(&atoms) {
        let child = child(of, slot);
        let (base, column) = if is_real(slot) { (real, &columns[4]) } else { (int, &columns[3]) };
        let dims = Slots::ty(slot, &atoms).dims;
        state = over_slot(of, slot, *atom, &atoms, state, &mut |this, x, at, mut state| {
            let place = super::linear(&mut this.emit, base, &dims, at);
            let value = match child {
                Some(child) => {
                    state = write(this, x, child, sink, &state)?;
                    state.remove(0)
                }
                None => super::as_number(&mut this.emit, x, slot.elem),
            };
            super::add_at(&mut this.emit, column, place, value);
            Ok(state)
        })?;
        let size = super::product(&mut of.emit, &dims);
        let cursor = if is_real(slot) { &mut real } else { &mut int };
        *cursor = of.emit.prim(Prim::AddInt, &[*cursor, size]);
    }
    let row = state[0];
    for (column, value) in columns.iter().zip([number, start[1], start[2]]) {
        super::add_at(&mut of.emit, column, row, value);
    }
    let next = of.emit.prim(Prim::AddInt, &[row, Atom::int(1)]);
    Ok(vec![next, next, state[1], state[2]])
}

/// Runs the case of a node's constructor; `null` for null.
fn by_constructor(
    of: &mut Evaluator,
    node: &Val,
    id: TypeId,
    null: Vec<Atom>,
    run: &mut dyn FnMut(&mut Evaluator, Atom, usize) -> Next,
) -> Eval<Val> {
    let handle = of.emit.force(&node.as_node()?.handle);
    let tag = of.emit.bind("tag", Ty::int(), Op::Tag(handle));
    let count = of.program.type_decl(id).constructors.len() as i64;
    let numbers: Vec<i64> = (-1..count).collect();
    of.select(tag, &numbers, None, &mut |this, k| {
        let results = if k == 0 { null.clone() } else { run(this, handle, k - 1)? };
        Ok(Val::tuple(results.into_iter().map(Val::scalar).collect::<Vec<_>>()))
    })
}

fn all_fields(of: &mut Evaluator, handle: Atom, id: TypeId, tag: usize) -> (Slots, Vec<Atom>) {
    let sketches = slots::constructor(of, id, tag);
    let slots = slots::node_slots(of, &sketches);
    let atoms = of.emit.fields(handle, tag, &slots);
    (slots, atoms)
}

/// The numbers of integers and reals among the fields of a node.
fn own_size(of: &mut Evaluator, slots: &Slots, atoms: &[Atom]) -> [Atom; 2] {
    let mut sizes = [Atom::int(0); 2];
    for slot in &slots.values {
        let size = super::product(&mut of.emit, &Slots::ty(slot, atoms).dims);
        let total = &mut sizes[usize::from(is_real(slot))];
        *total = of.emit.prim(Prim::AddInt, &[*total, size]);
    }
    sizes
}

/// The type of the values of a slot, if they are of a recursive type.
fn child(of: &Evaluator, slot: &Slot) -> Option<TypeId> {
    slots::variant_of(of, slot.elem.node()?)
}

/// Runs the body for each scalar of a slot.
fn over_slot(
    of: &mut Evaluator,
    slot: &Slot,
    atom: Atom,
    atoms: &[Atom],
    state: Vec<Atom>,
    body: &mut PerScalar<'_>,
) -> Next {
    let dims = Slots::ty(slot, atoms).dims;
    over(of, &dims, &mut Vec::new(), state, &mut |this, at, state| {
        let x = this.emit.load(atom, at);
        body(this, x, at, state)
    })
}

/// Runs the body for all indices below the extents, one after the other, with integers as
/// state.
fn over(
    of: &mut Evaluator,
    extents: &[Atom],
    at: &mut Vec<Atom>,
    state: Vec<Atom>,
    body: &mut dyn FnMut(&mut Evaluator, &[Atom], State) -> Next,
) -> Next {
    let Some((extent, inner)) = extents.split_first() else { return body(of, at, state) };
    of.emit.enter();
    let params = of.emit.params("at", vec![Ty::int(); state.len()]);
    let index = of.emit.index("i", *extent);
    of.emit.enter();
    at.push(index.into());
    let inside = params.iter().map(|p| p.var.into()).collect();
    let results = over(of, inner, at, inside, body)?;
    at.pop();
    let block = of.emit.leave().finish(results);
    of.emit.leave();
    let binds = of.emit.params("at", vec![Ty::int(); state.len()]);
    let results = binds.iter().map(|p| p.var.into()).collect();
    let kind = LoopKind::counted(index, *extent);
    of.emit.push(binds, Nest::Loop { params, inits: state, kind, body: block });
    Ok(results)
}

/// The type of `count` integers.
fn counters(count: usize) -> CoreTy {
    CoreTy::tuple(vec![CoreTy::INT; count])
}
