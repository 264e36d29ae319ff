//! Values of recursive types at the boundary: the entry makes nodes of the rows that it takes (see [`Table`]), in one loop, for a row stands
//! after those that it contains. It gives rows by two functions of the library for each type: `measure` says how many rows, integers and
//! reals a value takes, `write` adds them to accumulators, and each value its number to what contains it.

use std::collections::HashMap;

use lambada_anf::{Atom, Elem, FnId, LoopKind, Nest, Op, Out, Param, Ty, Var};
use lambada_core::{Ty as CoreTy, TypeId};
use lambada_prim::{Prim, ScalarTy};
use lambada_source::Span;

use crate::Eval;
use crate::eval::Evaluator;
use crate::merge::ill_typed;
use crate::shape::Table;
use crate::sketch::{Filled, Sketch, Slot, Slots};
use crate::val::{Leaf, Val};

/// What is said where rows that have been given are not those of values.
const NOT_ROWS: &str = "the rows of a recursive type are not well formed: {0} is out of range for size {1}";

/// Rows that are taken: the columns, and their sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub tags: Atom,
    pub ints_at: Atom,
    pub reals_at: Atom,
    pub ints: Atom,
    pub reals: Atom,
    /// How many rows, integers and reals.
    pub sizes: [Atom; 3],
}

/// The functions that write the values of some types.
#[derive(Debug, Default)]
struct Writers {
    measure: HashMap<TypeId, FnId>,
    write: HashMap<TypeId, FnId>,
}

/// A value of a recursive type in the result, or an array of them.
pub(crate) struct Root {
    pub id: TypeId,
    pub handle: Leaf,
    pub extents: Vec<Atom>,
}

/// Does a slot hold reals?
fn is_real(slot: &Slot) -> bool {
    slot.elem == ScalarTy::Real
}

impl Evaluator<'_> {
    // Rows to nodes

    /// For each type an array of the nodes by the number of the row, with null at 0.
    pub(crate) fn plant(
        &mut self,
        table: &Table,
        rows: &Rows,
        span: Span,
    ) -> Eval<HashMap<TypeId, Atom>> {
        let count = self.emit.prim(Prim::AddInt, &[rows.sizes[0], Atom::int(1)]);
        let types: Vec<Ty> = (table.types.iter())
            .map(|(id, _)| Ty {
                elem: Elem::Ref(self.node_type(&CoreTy::Variant(*id))),
                dims: vec![count],
            })
            .collect();
        let inits: Vec<Atom> = (types.iter())
            .map(|ty| self.emit.fill_of(ty.elem, Atom::int(0), ty.dims.clone()))
            .collect();
        self.emit.enter();
        let params: Vec<Param> = (types.iter())
            .map(|ty| Param { var: self.emit.fresh("nodes", ty.clone()), ty: ty.clone() })
            .collect();
        let index = self.emit.index("row", rows.sizes[0]);
        self.emit.enter();
        let handles = self.row(table, rows, &params, index, span)?;
        let next = self.emit.prim(Prim::AddInt, &[index.into(), Atom::int(1)]);
        let mut results = Vec::with_capacity(params.len());
        for (p, value) in params.iter().zip(handles) {
            let op = Op::Update { array: p.var, index: vec![next], value };
            results.push(self.emit.bind("nodes", p.ty.clone(), op));
        }
        let body = self.emit.leave().finish(results);
        self.emit.leave();
        let binds: Vec<Param> = (types.into_iter())
            .map(|ty| Param { var: self.emit.fresh("nodes", ty.clone()), ty })
            .collect();
        let arrays = binds.iter().map(|p| Atom::from(p.var));
        let planted = table.types.iter().map(|(id, _)| *id).zip(arrays).collect();
        let kind = LoopKind::counted(index, rows.sizes[0]);
        self.emit.push(binds, Nest::Loop { params, inits, kind, body });
        Ok(planted)
    }

    /// The node of a row: for each type a handle, which is null but for one of them.
    fn row(
        &mut self,
        table: &Table,
        rows: &Rows,
        nodes: &[Param],
        row: Var,
        span: Span,
    ) -> Eval<Vec<Atom>> {
        let all: usize = table.types.iter().map(|(_, constructors)| constructors.len()).sum();
        let numbers: Vec<i64> = (0..all as i64).collect();
        let [tag, int, real] =
            [rows.tags, rows.ints_at, rows.reals_at].map(|c| self.emit.load(c, &[row.into()]));
        let value = self.select(tag, &numbers, None, &mut |this, number| {
            let (id, tag, _) = table.constructor(number).ok_or_else(ill_typed)?;
            let sketches = this.constructor(id, tag);
            let slots = this.node_slots(&sketches);
            let planted: HashMap<Elem, Var> = nodes.iter().map(|p| (p.ty.elem, p.var)).collect();
            let mut reader = Reader { rows, planted, int, real, span };
            let fields = reader.fields(this, &slots);
            let node = this.node_type(&CoreTy::Variant(id));
            let made = this.emit.node(node, tag, fields);
            let handles = table.types.iter().map(|(other, _)| {
                let ty = CoreTy::Variant(*other);
                let node = this.node_type(&ty);
                let null = Leaf::scalar(Atom::int(0)).of(Elem::Ref(node));
                this.node_val(&ty, if *other == id { made.clone() } else { null })
            });
            let handles: Vec<Val> = handles.collect();
            Ok(Val::tuple(handles))
        })?;
        let Val::Tuple(handles) = value else { return Err(ill_typed()) };
        let atom = |handle: &Val| match handle {
            Val::Node(node) => Ok(self.emit.force(&node.handle)),
            Val::Leaf(_)
            | Val::Tuple(_)
            | Val::Array(_)
            | Val::Variant(_)
            | Val::Fun(_)
            | Val::Acc(_) => Err(ill_typed()),
        };
        handles.iter().map(atom).collect()
    }

    /// The nodes of numbers, inside of arrays.
    pub(crate) fn planted(
        &mut self,
        numbers: &Leaf,
        id: TypeId,
        nodes: Atom,
        extents: &[Atom],
        span: Span,
    ) -> Val {
        let handle = self.planted_leaf(numbers, nodes, extents, span);
        self.node_val(&CoreTy::Variant(id), handle)
    }

    fn planted_leaf(&mut self, numbers: &Leaf, nodes: Atom, extents: &[Atom], span: Span) -> Leaf {
        let ty = self.emit.ty(nodes);
        let Some((extent, inner)) = extents.split_first() else {
            let number = self.emit.force(numbers);
            self.emit.check_in(number, ty.dims[0], span, NOT_ROWS);
            let atom = self.emit.load(nodes, &[number]);
            return Leaf::scalar(atom).of(ty.elem);
        };
        let hint = self.emit.hint_of(numbers.atom);
        self.emit.enter();
        let index = self.emit.index("i", *extent);
        let element = self.planted_leaf(&numbers.at(index.into()), nodes, inner, span);
        let body = self.emit.leave().finish(vec![element.atom]);
        let ty = Ty { elem: ty.elem, dims: extents.to_vec() };
        let nest = Nest::For { index, extent: *extent, outs: vec![Out::Collect], body };
        let (elem, atom) = (ty.elem, self.emit.bind(&hint, ty, nest));
        Leaf::stored(atom, extents.len()).of(elem)
    }

    // Nodes to rows

    /// The rows of values: the columns, and for each value its number.
    pub(crate) fn written(&mut self, table: &Table, roots: &[Root]) -> Eval<(Vec<Atom>, Vec<Atom>)> {
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

    /// The accumulators of the columns. A sum of reals begins with -0, which adds nothing, not even to a zero.
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
        let var = self.emit.fresh(name, ty.clone());
        self.emit.push(vec![Param { var, ty: ty.clone() }], Op::Accumulator(first));
        Param { var, ty }
    }

    fn write_root(
        &mut self,
        root: &Root,
        writers: &Writers,
        columns: &[Param],
        numbers: &mut Vec<Atom>,
        state: Vec<Atom>,
    ) -> Eval<Vec<Atom>> {
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
    fn measured(
        &mut self,
        handle: Atom,
        id: TypeId,
        writers: &Writers,
        sizes: &[Atom],
    ) -> Eval<Vec<Atom>> {
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
    ) -> Eval<Vec<Atom>> {
        let sizes = columns.iter().map(|p| p.ty.dims[0]);
        let atoms = [handle].into_iter().chain(state.iter().copied()).chain(sizes).collect();
        let accumulators = columns.iter().map(|p| p.var).collect();
        let arguments = Filled { atoms, accumulators, ..Filled::default() };
        let value = self.call_function(writers.write[&id], arguments, &counters(4))?;
        self.counters_of(&value)
    }

    fn counters_of(&mut self, value: &Val) -> Eval<Vec<Atom>> {
        let Val::Tuple(items) = value else { return Err(ill_typed()) };
        let atom = |item: &Val| match item {
            Val::Leaf(leaf) => Ok(self.emit.force(leaf)),
            Val::Tuple(_)
            | Val::Array(_)
            | Val::Variant(_)
            | Val::Fun(_)
            | Val::Node(_)
            | Val::Acc(_) => Err(ill_typed()),
        };
        items.iter().map(atom).collect()
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
                    state = this.over_slot(slot, *atom, &atoms, state, &mut |this, x, _, state| {
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
        let column = |elem| Sketch::Acc(Box::new(Sketch::Array(Box::new(Sketch::Leaf(elem)))));
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

    fn starts(&mut self, vals: &[Val]) -> Eval<Vec<Atom>> {
        self.counters_of(&Val::tuple(vals.to_vec()))
    }

    fn column_params(&mut self, vals: &[Val]) -> Eval<Vec<Param>> {
        let param = |val: &Val| {
            let Val::Acc(acc) = val else { return Err(ill_typed()) };
            let Val::Array(array) = &acc.structure else { return Err(ill_typed()) };
            let Val::Leaf(leaf) = &array.elem else { return Err(ill_typed()) };
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
    ) -> Eval<Vec<Atom>> {
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
        run: &mut dyn FnMut(&mut Self, Atom, usize) -> Eval<Vec<Atom>>,
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
        let node = slot.elem.node()?;
        self.variant_of(node)
    }

    /// Runs the body for all scalars of a slot.
    fn over_slot(
        &mut self,
        slot: &Slot,
        atom: Atom,
        atoms: &[Atom],
        state: Vec<Atom>,
        body: &mut dyn FnMut(&mut Self, Atom, &[Atom], Vec<Atom>) -> Eval<Vec<Atom>>,
    ) -> Eval<Vec<Atom>> {
        let dims = Slots::ty(slot, atoms).dims;
        self.over(&dims, &mut Vec::new(), state, &mut |this, at, state| {
            let x = this.emit.load(atom, at);
            body(this, x, at, state)
        })
    }

    /// Runs the body for all indices below the extents, one after the other, with integers as state.
    fn over(
        &mut self,
        extents: &[Atom],
        at: &mut Vec<Atom>,
        state: Vec<Atom>,
        body: &mut dyn FnMut(&mut Self, &[Atom], Vec<Atom>) -> Eval<Vec<Atom>>,
    ) -> Eval<Vec<Atom>> {
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

/// Reads the fields of a row, one after the other.
struct Reader<'a> {
    rows: &'a Rows,
    /// The nodes of the rows before, by the type of their handles.
    planted: HashMap<Elem, Var>,
    int: Atom,
    real: Atom,
    span: Span,
}

impl Reader<'_> {
    fn fields(&mut self, evaluator: &mut Evaluator, slots: &Slots) -> Vec<Atom> {
        let emit = &mut evaluator.emit;
        let mut atoms: Vec<Atom> = Vec::with_capacity(slots.values.len());
        for (k, slot) in slots.values.iter().enumerate() {
            let dims = Slots::ty(slot, &atoms).dims;
            let base = if is_real(slot) { self.real } else { self.int };
            let mut atom = self.read(emit, slot, base, &dims, &mut Vec::new());
            if slots.values.iter().any(|other| other.dims.contains(&k)) {
                atom = emit.prim(Prim::MaxInt, &[atom, Atom::int(0)]); // a size
            }
            let size = emit.product(&dims);
            let next = emit.prim(Prim::AddInt, &[base, size]);
            *(if is_real(slot) { &mut self.real } else { &mut self.int }) = next;
            atoms.push(atom);
        }
        atoms
    }

    fn read(
        &self,
        emit: &mut crate::emit::Emit,
        slot: &Slot,
        base: Atom,
        dims: &[Atom],
        at: &mut Vec<Atom>,
    ) -> Atom {
        let depth = at.len();
        let Some(extent) = dims.get(depth) else {
            let place = emit.linear(base, dims, at);
            return self.scalar(emit, slot.elem, place);
        };
        emit.enter();
        let index = emit.index("i", *extent);
        at.push(index.into());
        let element = self.read(emit, slot, base, dims, at);
        at.pop();
        let body = emit.leave().finish(vec![element]);
        let ty = Ty { elem: slot.elem, dims: dims[depth..].to_vec() };
        let nest = Nest::For { index, extent: *extent, outs: vec![Out::Collect], body };
        emit.bind(&slot.name, ty, nest)
    }

    fn scalar(&self, emit: &mut crate::emit::Emit, elem: Elem, place: Atom) -> Atom {
        let is_real = elem == ScalarTy::Real;
        let (pool, size) = match is_real {
            true => (self.rows.reals, self.rows.sizes[2]),
            false => (self.rows.ints, self.rows.sizes[1]),
        };
        emit.check_in(place, size, self.span, NOT_ROWS);
        let value = emit.load(pool, &[place]);
        match elem {
            Elem::Scalar(ScalarTy::Real | ScalarTy::Int) => value,
            Elem::Scalar(ScalarTy::Bool) => emit.prim(Prim::NeInt, &[value, Atom::int(0)]),
            Elem::Ref(_) => {
                let nodes = Atom::from(self.planted[&elem]);
                let size = emit.ty(nodes).dims[0];
                emit.check_in(value, size, self.span, NOT_ROWS);
                emit.load(nodes, &[value])
            }
        }
    }
}

impl crate::emit::Emit {
    /// The product of sizes.
    fn product(&mut self, dims: &[Atom]) -> Atom {
        dims.iter().fold(Atom::int(1), |all, dim| self.prim(Prim::MulInt, &[all, *dim]))
    }

    /// The place of an element in an array that lies at `base`, row by row.
    fn linear(&mut self, base: Atom, dims: &[Atom], at: &[Atom]) -> Atom {
        let offset = dims.iter().zip(at).fold(Atom::int(0), |offset, (dim, index)| {
            let row = self.prim(Prim::MulInt, &[offset, *dim]);
            self.prim(Prim::AddInt, &[row, *index])
        });
        self.prim(Prim::AddInt, &[base, offset])
    }

    /// `column[place] += value`
    fn add_at(&mut self, column: &Param, place: Atom, value: Atom) {
        self.check_in(place, column.ty.dims[0], Span::default(), NOT_ROWS);
        let op = Op::Accumulate { acc: column.var, index: vec![place], value };
        self.push(Vec::new(), op);
    }

    /// A truth value as 0 or 1.
    fn as_number(&mut self, x: Atom, elem: Elem) -> Atom {
        match elem {
            Elem::Scalar(ScalarTy::Bool) => {
                self.prim(Prim::SelectInt, &[x, Atom::int(1), Atom::int(0)])
            }
            Elem::Scalar(ScalarTy::Real | ScalarTy::Int) | Elem::Ref(_) => x,
        }
    }
}
