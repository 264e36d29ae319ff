//! Nodes to rows.

use std::collections::HashMap;

use lambada_anf::{Atom, Elem, FnId, LoopKind, Nest, Op, Param, Ty};
use lambada_core::{Ty as CoreTy, TypeId};
use lambada_prim::Prim;

use super::{Root, is_real};
use crate::eval::Evaluator;
use crate::shape::Table;
use crate::sketch::{Filled, Sketch, Slot, Slots};
use crate::val::{Leaf, Val};
use crate::{Eval, ill_typed};

/// Integers that a loop carries.
type State = Vec<Atom>;

/// What they are next.
type Next = Eval<State>;

/// What is done with a scalar at some indices.
type PerScalar<'b, E> = dyn FnMut(&mut E, Atom, &[Atom], State) -> Next + 'b;

/// The functions that write the values of some types.
#[derive(Debug, Default)]
struct Writers {
    measure: HashMap<TypeId, FnId>,
    write: HashMap<TypeId, FnId>,
}

impl Evaluator<'_> {
    /// The rows of values: the columns, and for each value its number.
    pub(crate) fn written(
        &mut self,
        table: &Table,
        roots: &[Root],
    ) -> Eval<(Vec<Atom>, Vec<Atom>)> {
        let mut writers = Writers::default();
        for (id, _) in &table.types {
            writers.measure.insert(*id, self.reserve()?);
            writers.write.insert(*id, self.reserve()?);
        }
        for (id, _) in &table.types {
            self.write_measure(*id, &writers)?;
            self.write_write(*id, table, &writers)?;
        }
        let mut sizes = vec![Atom::int(0); 3];
        for root in roots {
            sizes = self.over(&root.extents, &mut Vec::new(), sizes, &mut |this, at, sizes| {
                let handle = this.element(&root.handle, at);
                this.measured(handle, root.id, &writers, &sizes)
            })?;
        }
        let columns = self.columns(&sizes);
        let (mut numbers, mut state) = (Vec::new(), vec![Atom::int(0); 3]);
        for root in roots {
            state = self.write_root(root, &writers, &columns, &mut numbers, state)?;
        }
        let frozen = columns.iter().map(|p| {
            let hint = self.emit.names.hint(p.var);
            self.emit.bind(&hint, p.ty.clone(), Op::Freeze(p.var))
        });
        Ok((frozen.collect(), numbers))
    }

    /// The accumulators of the columns. A sum of reals begins with -0, which adds nothing, not even
    /// to a zero.
    fn columns(&mut self, sizes: &[Atom]) -> Vec<Param> {
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
            let size = self.emit.prim(Prim::MaxInt, &[size, Atom::int(0)]);
            self.accumulator_of(name, value, vec![size])
        });
        made.to_vec()
    }

    fn accumulator_of(&mut self, name: &str, value: Atom, dims: Vec<Atom>) -> Param {
        let first = self.emit.fill(value, dims);
        let ty = self.emit.ty(first);
        Param { var: self.emit.accumulator(name, ty.clone(), first), ty }
    }

    fn write_root(
        &mut self,
        root: &Root,
        writers: &Writers,
        columns: &[Param],
        numbers: &mut Vec<Atom>,
        state: Vec<Atom>,
    ) -> Next {
        if root.extents.is_empty() {
            let handle = self.emit.force(&root.handle);
            let mut state = self.write(handle, root.id, writers, columns, &state)?;
            numbers.push(state.remove(0));
            return Ok(state);
        }
        let all = self.accumulator_of("numbers", Atom::int(0), root.extents.clone());
        let state = self.over(&root.extents, &mut Vec::new(), state, &mut |this, at, state| {
            let handle = this.element(&root.handle, at);
            let mut state = this.write(handle, root.id, writers, columns, &state)?;
            let (acc, value) = (all.var, state.remove(0));
            let op = Op::Accumulate { acc, index: at.to_vec(), value };
            this.emit.push(Vec::new(), op);
            Ok(state)
        })?;
        numbers.push(self.emit.bind("numbers", all.ty.clone(), Op::Freeze(all.var)));
        Ok(state)
    }

    fn element(&mut self, leaf: &Leaf, at: &[Atom]) -> Atom {
        let element = at.iter().fold(leaf.clone(), |leaf, index| leaf.at(*index));
        self.emit.force(&element)
    }

    /// Sizes, and in addition those of a value.
    fn measured(&mut self, handle: Atom, id: TypeId, writers: &Writers, sizes: &[Atom]) -> Next {
        let arguments = Filled { atoms: vec![handle], ..Filled::default() };
        let own = self.call_function(writers.measure[&id], arguments, &counters(3))?;
        let own = self.counters_of(&own)?;
        Ok(sizes.iter().zip(own).map(|(a, b)| self.emit.prim(Prim::AddInt, &[*a, b])).collect())
    }

    /// Writes a value; gives its number, and where the next one is written.
    fn write(
        &mut self,
        handle: Atom,
        id: TypeId,
        writers: &Writers,
        columns: &[Param],
        state: &[Atom],
    ) -> Next {
        let sizes = columns.iter().map(|p| p.ty.dims[0]);
        let atoms = [handle].into_iter().chain(state.iter().copied()).chain(sizes).collect();
        let accumulators = columns.iter().map(|p| p.var).collect();
        let arguments = Filled { atoms, accumulators, ..Filled::default() };
        let value = self.call_function(writers.write[&id], arguments, &counters(4))?;
        self.counters_of(&value)
    }

    fn counters_of(&mut self, value: &Val) -> Next {
        value.as_tuple()?.iter().map(|item| Ok(self.emit.force(item.as_leaf()?))).collect()
    }

    /// `measure node`: how many rows, integers and reals.
    fn write_measure(&mut self, id: TypeId, writers: &Writers) -> Eval<()> {
        let ty = CoreTy::Variant(id);
        let name = format!("measure_{}", lambada_core::print_type(self.program, &ty));
        let (function, sketches) = (writers.measure[&id], [Sketch::Node(ty)]);
        self.function(function, &name, &sketches, &["x".into()], &counters(3), &mut |this, vals| {
            let none = vec![Atom::int(0); 3];
            this.by_constructor(&vals[0], id, none, &mut |this, handle, tag| {
                let (slots, atoms) = this.all_fields(handle, id, tag);
                let own = this.own_size(&slots, &atoms);
                let mut state = vec![Atom::int(1), own[0], own[1]];
                for (slot, atom) in slots.values.iter().zip(&atoms) {
                    let Some(child) = this.child(slot) else { continue };
                    state =
                        this.over_slot(slot, *atom, &atoms, state, &mut |this, x, _, state| {
                            this.measured(x, child, writers, &state)
                        })?;
                }
                Ok(state)
            })
        })
    }

    /// `write node row int real`, with the columns as accumulators.
    fn write_write(&mut self, id: TypeId, table: &Table, writers: &Writers) -> Eval<()> {
        let ty = CoreTy::Variant(id);
        let name = format!("write_{}", lambada_core::print_type(self.program, &ty));
        let column = |elem| Sketch::Acc(Box::new(Sketch::Array(Box::new(Sketch::Adds(elem)))));
        let int = || Sketch::Leaf(Elem::INT);
        let mut sketches = vec![Sketch::Node(ty), int(), int(), int()];
        sketches.extend([Elem::INT; 4].map(column));
        sketches.push(column(Elem::REAL));
        let hints = ["x", "row", "int", "real", "rows", "ints_at", "reals_at", "ints", "reals"];
        let hints = hints.map(std::rc::Rc::from);
        let function = writers.write[&id];
        self.function(function, &name, &sketches, &hints, &counters(4), &mut |this, vals| {
            let (start, columns) = (this.starts(&vals[1..4])?, this.column_params(&vals[4..])?);
            let none = [&[Atom::int(0)], &start[..]].concat();
            this.by_constructor(&vals[0], id, none, &mut |this, handle, tag| {
                let number = Atom::int((table.first(id) + tag) as i64);
                this.write_row(handle, (id, tag), number, &start, &columns, writers)
            })
        })
    }

    fn starts(&mut self, vals: &[Val]) -> Next {
        self.counters_of(&Val::tuple(vals.to_vec()))
    }

    fn column_params(&mut self, vals: &[Val]) -> Eval<Vec<Param>> {
        let param = |val: &Val| {
            let leaf = val.as_acc()?.structure.as_array()?.elem.as_leaf()?;
            let var = leaf.atom.as_var().ok_or_else(ill_typed)?;
            Ok(Param { var, ty: self.emit.ty(var.into()) })
        };
        vals.iter().map(param).collect()
    }

    /// A row and, before it, those of the values in it.
    fn write_row(
        &mut self,
        handle: Atom,
        (id, tag): (TypeId, usize),
        number: Atom,
        start: &[Atom],
        columns: &[Param],
        writers: &Writers,
    ) -> Next {
        let (slots, atoms) = self.all_fields(handle, id, tag);
        let own = self.own_size(&slots, &atoms);
        let mut state = vec![
            start[0],
            self.emit.prim(Prim::AddInt, &[start[1], own[0]]),
            self.emit.prim(Prim::AddInt, &[start[2], own[1]]),
        ];
        let [mut int, mut real] = [start[1], start[2]];
        for (slot, atom) in slots.values.iter().zip(&atoms) {
            let child = self.child(slot);
            let (base, column) =
                if is_real(slot) { (real, &columns[4]) } else { (int, &columns[3]) };
            let dims = Slots::ty(slot, &atoms).dims;
            state = self.over_slot(slot, *atom, &atoms, state, &mut |this, x, at, mut state| {
                let place = this.emit.linear(base, &dims, at);
                let value = match child {
                    Some(child) => {
                        state = this.write(x, child, writers, columns, &state)?;
                        state.remove(0)
                    }
                    None => this.emit.as_number(x, slot.elem),
                };
                this.emit.add_at(column, place, value);
                Ok(state)
            })?;
            let size = self.emit.product(&dims);
            let cursor = if is_real(slot) { &mut real } else { &mut int };
            *cursor = self.emit.prim(Prim::AddInt, &[*cursor, size]);
        }
        let row = state[0];
        for (column, value) in columns.iter().zip([number, start[1], start[2]]) {
            self.emit.add_at(column, row, value);
        }
        let next = self.emit.prim(Prim::AddInt, &[row, Atom::int(1)]);
        Ok(vec![next, next, state[1], state[2]])
    }

    /// Runs the case of a node's constructor; `null` for null.
    fn by_constructor(
        &mut self,
        node: &Val,
        id: TypeId,
        null: Vec<Atom>,
        run: &mut dyn FnMut(&mut Self, Atom, usize) -> Next,
    ) -> Eval<Val> {
        let Val::Node(node) = node else { return Err(ill_typed()) };
        let handle = self.emit.force(&node.handle);
        let tag = self.emit.bind("tag", Ty::int(), Op::Tag(handle));
        let count = self.program.type_decl(id).constructors.len() as i64;
        let numbers: Vec<i64> = (-1..count).collect();
        self.select(tag, &numbers, None, &mut |this, k| {
            let results = if k == 0 { null.clone() } else { run(this, handle, k - 1)? };
            Ok(Val::tuple(results.into_iter().map(Val::scalar).collect::<Vec<_>>()))
        })
    }

    fn all_fields(&mut self, handle: Atom, id: TypeId, tag: usize) -> (Slots, Vec<Atom>) {
        let sketches = self.constructor(id, tag);
        let slots = self.node_slots(&sketches);
        let atoms = self.emit.fields(handle, tag, &slots);
        (slots, atoms)
    }

    /// How many integers and reals the fields of a node are.
    fn own_size(&mut self, slots: &Slots, atoms: &[Atom]) -> [Atom; 2] {
        let mut sizes = [Atom::int(0); 2];
        for slot in &slots.values {
            let size = self.emit.product(&Slots::ty(slot, atoms).dims);
            let total = &mut sizes[usize::from(is_real(slot))];
            *total = self.emit.prim(Prim::AddInt, &[*total, size]);
        }
        sizes
    }

    /// The type of the values of a slot, if they are of a recursive type.
    fn child(&self, slot: &Slot) -> Option<TypeId> {
        self.variant_of(slot.elem.node()?)
    }

    /// Runs the body for all scalars of a slot.
    fn over_slot(
        &mut self,
        slot: &Slot,
        atom: Atom,
        atoms: &[Atom],
        state: Vec<Atom>,
        body: &mut PerScalar<'_, Self>,
    ) -> Next {
        let dims = Slots::ty(slot, atoms).dims;
        self.over(&dims, &mut Vec::new(), state, &mut |this, at, state| {
            let x = this.emit.load(atom, at);
            body(this, x, at, state)
        })
    }

    /// Runs the body for all indices below the extents, one after the other, with integers as
    /// state.
    fn over(
        &mut self,
        extents: &[Atom],
        at: &mut Vec<Atom>,
        state: Vec<Atom>,
        body: &mut dyn FnMut(&mut Self, &[Atom], State) -> Next,
    ) -> Next {
        let Some((extent, inner)) = extents.split_first() else { return body(self, at, state) };
        self.emit.enter();
        let params: Vec<Param> = (state.iter())
            .map(|_| Param { var: self.emit.fresh("at", Ty::int()), ty: Ty::int() })
            .collect();
        let index = self.emit.index("i", *extent);
        self.emit.enter();
        at.push(index.into());
        let inside = params.iter().map(|p| p.var.into()).collect();
        let results = self.over(inner, at, inside, body)?;
        at.pop();
        let block = self.emit.leave().finish(results);
        self.emit.leave();
        let binds: Vec<Param> = (params.iter())
            .map(|_| Param { var: self.emit.fresh("at", Ty::int()), ty: Ty::int() })
            .collect();
        let results = binds.iter().map(|p| p.var.into()).collect();
        let kind = LoopKind::counted(index, *extent);
        self.emit.push(binds, Nest::Loop { params, inits: state, kind, body: block });
        Ok(results)
    }
}

/// Some integers.
fn counters(count: usize) -> CoreTy {
    CoreTy::tuple(vec![CoreTy::INT; count])
}
