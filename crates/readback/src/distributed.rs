//! A `for` that is arithmetic of arrays becomes one `for` for each operation. Then the text names
//! the arrays that are used more than once, and writes the others where they are used.
//!
//! ```text
//!   (s, ys) = for i < n (reduce add, collect) { d = x[i] - c; t = d * d; y = d * k => t, y }
//!     ⟶   ds = for i < n { x[i] - c }                                    let d = x - c
//!          s = for i < n (reduce add) { ds[i] * ds[i] }                   dot d d
//!         ys = for i < n { ds[i] * k }                                   d * k
//! ```
//! An operation on the same arrays as an earlier one is not written again. Elements at computed
//! places and additions to such stay loops, beside the arithmetic.
//!
//! * Keeps: values. The optimizer fuses the loops again, so the text costs as much as they do.

use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Elem, Exp, Function, NAMELESS, Names, Nest, Op, Out, Param, Renaming, Stm, Ty, Var,
};
use lambada_prim::{Prim, ReduceOp};

use crate::extrema::{Search, search};
use crate::fors::Fors;
use crate::reading::{Each, Reading, Step, read};

/// Distributes the `for`s of a function.
pub(crate) fn distribute(function: &mut Function) {
    let fors = Fors::of([&*function]);
    let Function { names, body, .. } = function;
    Pass { names, fors, known: HashMap::new() }.block(body);
}

struct Pass<'a> {
    names: &'a mut Names,
    fors: Fors,
    /// The arrays in scope that operations make.
    known: HashMap<String, Var>,
}

/// An array as an operand: its row at these places, whose axes may be exchanged.
#[derive(Clone, Debug)]
struct Place {
    array: Var,
    row: Vec<Atom>,
    axes: Vec<Var>,
    exchanged: bool,
}

impl Place {
    fn whole(array: Var, axes: &[Var]) -> Place {
        Place { array, row: Vec::new(), axes: axes.to_vec(), exchanged: false }
    }

    fn is_whole(&self) -> bool {
        self.row.is_empty() && !self.exchanged
    }
}

/// A `for` being distributed.
struct Parts<'r> {
    reading: &'r Reading,
    axis: (Var, Atom),
    body: &'r Block,
    places: HashMap<Var, Place>,
    stms: Vec<Stm>,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut image = Renaming::new();
        let mut own = Vec::new();
        let mut written = Vec::with_capacity(block.stms.len());
        for mut stm in std::mem::take(&mut block.stms) {
            if !image.is_empty() {
                image.apply_stm(&mut stm);
            }
            if let Some(array) = self.searched(&mut stm)
                && let Some(parts) = self.parts(&array, &mut image, &mut own)
            {
                written.extend(parts);
                image.apply_stm(&mut stm);
            }
            match self.parts(&stm, &mut image, &mut own) {
                Some(parts) => written.extend(parts),
                None => {
                    stm.exp.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                    written.push(stm);
                }
            }
        }
        block.stms = written;
        block.results.iter_mut().for_each(|result| *result = image.atom(*result));
        own.iter().for_each(|key| _ = self.known.remove(key));
    }

    /// Lets a search read an array that it computed; returns the `for` that makes the array.
    fn searched(&mut self, stm: &mut Stm) -> Option<Stm> {
        let Search { before, element, .. } = search(stm)?;
        let (element, count) = (element.as_var()?, before.len());
        let Exp::Nest(Nest::For { index, extent, body, .. }) = &mut stm.exp else { return None };
        let block = Block { stms: body.stms[..count].to_vec(), results: vec![element.into()] };
        read(&self.fors, vec![(*index, *extent)], &block, &block.results).filter(|_| count > 1)?;
        let p = Param { var: self.names.again(element), ty: Ty::real().array_of(*extent) };
        let read = Op::Index(p.var, vec![(*index).into()]);
        let first = Stm::new(vec![Param { var: element, ty: Ty::real() }], read);
        let (own, outs) = (self.names.again(*index), vec![Out::Collect]);
        let mut renaming = Renaming::new();
        renaming.insert(*index, own.into());
        let block = renaming.copy(&block, self.names);
        body.stms.splice(..count, [first]);
        Some(Stm::new(vec![p], Nest::For { index: own, extent: *extent, outs, body: block }))
    }

    /// The operations of a `for`, if it is arithmetic of arrays. `image`: grows by the outputs that
    /// are other arrays; `own`: by the keys of the arrays.
    fn parts(
        &mut self,
        stm: &Stm,
        image: &mut Renaming,
        own: &mut Vec<String>,
    ) -> Option<Vec<Stm>> {
        let Exp::Nest(Nest::For { outs, body, .. }) = &stm.exp else { return None };
        let each = Each::of(stm, &vec![true; outs.len()])?;
        let (reading, last) = each.reading(&self.fors)?;
        let (places, stms) = (HashMap::new(), Vec::new());
        let mut parts = Parts { reading: &reading, axis: each.axis, body, places, stms };
        let mut dots = HashMap::new();
        let output = |var: Var| {
            let collects = |k: &usize| last[*k] == var && outs[*k] == Out::Collect;
            (0..outs.len()).find(collects).map(|k| stm.binds[k].clone())
        };
        let added: HashSet<Var> = (reading.rows_added.iter().chain(&reading.additions))
            .flat_map(|k| body.stms[*k].free_vars())
            .collect();
        for step in &reading.steps {
            let (var, op, args) = match step {
                Step::Element { var, array, row, exchanged } => {
                    let (array, row, exchanged) = (*array, row.clone(), *exchanged);
                    let axes = reading.arrays[var].clone();
                    parts.places.insert(*var, Place { array, row, axes, exchanged });
                    continue;
                }
                Step::Read(var, k) => {
                    let p = output(*var)
                        .unwrap_or_else(|| array_of(&reading, *var, &reading.arrays[var]));
                    self.fors.define(&p);
                    let nest = self.apart(&parts, *k, Some(*var));
                    parts.places.insert(*var, Place::whole(p.var, &reading.arrays[var]));
                    parts.stms.push(Stm::new(vec![p], nest));
                    continue;
                }
                Step::Prim(var, op, args) => (*var, *op, &args[..]),
                Step::Outer(var, args) => (*var, Prim::Mul, &args[..]),
            };
            let Some(axes) = reading.arrays.get(&var) else {
                let binds = vec![Param { var, ty: Ty::real() }];
                parts.stms.push(Stm::new(binds, Op::Prim(op, args.to_vec())));
                continue;
            };
            if op == Prim::Mul && !added.contains(&var) && is_dot(&each, &reading, var, &last) {
                dots.insert(var, args);
                continue;
            }
            let key = parts.key(op, args, axes);
            let array = match self.known.get(&key) {
                Some(array) => *array,
                None => {
                    let p = output(var).unwrap_or_else(|| array_of(&reading, var, axes));
                    self.fors.define(&p);
                    self.known.insert(key.clone(), p.var);
                    own.push(key);
                    let array = p.var;
                    let nest = self.nest(&parts, (Some(op), args), axes, Out::Collect);
                    parts.stms.push(Stm::new(vec![p], nest));
                    array
                }
            };
            parts.places.insert(var, Place::whole(array, axes));
        }
        for ((out, p, _), result) in each.outputs.iter().zip(&last) {
            let place = parts.places.get(result);
            match (out, place.filter(|place| place.is_whole()), dots.get(result)) {
                (Out::Collect, Some(place), _) if place.array == p.var => {}
                (Out::Collect, Some(place), _) => image.insert(p.var, place.array.into()),
                (_, _, factors) => {
                    let copied = [Atom::from(*result)];
                    let (op, args) =
                        factors.map_or((None, &copied[..]), |of| (Some(Prim::Mul), of));
                    let nest = self.nest(&parts, (op, args), &reading.arrays[result], *out);
                    parts.stms.push(Stm::new(vec![(*p).clone()], nest));
                }
            }
        }
        for k in &reading.rows_added {
            parts.stms.extend(self.added(&parts, &body.stms[*k]));
        }
        for k in &reading.additions {
            let nest = self.apart(&parts, *k, None);
            parts.stms.push(Stm::effect(nest));
        }
        Some(parts.stms)
    }

    /// The addition of an array to a row.
    fn added(&mut self, parts: &Parts, stm: &Stm) -> Vec<Stm> {
        let Exp::Op(Op::Accumulate { acc, index, value: Atom::Var(value) }) = &stm.exp else {
            return Vec::new();
        };
        let place = &parts.places[value];
        let (mut array, mut stms) = (place.array, Vec::new());
        if !place.is_whole() {
            let p = array_of(parts.reading, self.names.again(*value), &place.axes);
            array = p.var;
            self.fors.define(&p);
            let copied = [Atom::from(*value)];
            let nest = self.nest(parts, (None, &copied), &place.axes, Out::Collect);
            stms.push(Stm::new(vec![p], nest));
        }
        let index = index[..index.len() - 1].to_vec();
        stms.push(Stm::effect(Op::Accumulate { acc: *acc, index, value: array.into() }));
        stms
    }

    /// The `for` of one statement of the body, and of its value.
    fn apart(&mut self, parts: &Parts, at: usize, value: Option<Var>) -> Nest {
        let (index, extent) = parts.axis;
        let mut wanted: HashSet<Var> = parts.body.stms[at].free_vars().into_iter().collect();
        let (mut stms, mut loads) = (vec![parts.body.stms[at].clone()], Vec::new());
        for stm in parts.body.stms[..at].iter().rev() {
            let [p] = &stm.binds[..] else { continue };
            if !wanted.contains(&p.var) || parts.is_invariant(p.var) {
                continue;
            }
            match parts.places.get(&p.var) {
                Some(Place { array, row, .. }) => {
                    let at = row.iter().copied().chain([index.into()]).collect();
                    loads.push(Stm::new(vec![p.clone()], Op::Index(*array, at)));
                }
                None => {
                    wanted.extend(stm.free_vars());
                    stms.push(stm.clone());
                }
            }
        }
        stms.extend(loads);
        stms.reverse();
        let fresh = self.names.again(index);
        let mut renaming = Renaming::new();
        renaming.insert(index, fresh.into());
        let results = value.map(Atom::from).into_iter().collect();
        let body = renaming.copy(&Block { stms, results }, self.names);
        let outs = value.map(|_| Out::Collect).into_iter().collect();
        Nest::For { index: fresh, extent, outs, body }
    }

    /// The `for`s of an operation, or of a copy of its operand.
    fn nest(
        &mut self,
        parts: &Parts,
        (op, args): (Option<Prim>, &[Atom]),
        axes: &[Var],
        out: Out,
    ) -> Nest {
        let indices: HashMap<Var, Var> =
            axes.iter().map(|axis| (*axis, self.names.again(*axis))).collect();
        let mut stms: Vec<Stm> = Vec::new();
        let mut read: HashMap<Var, Var> = HashMap::new();
        let mut values = Vec::new();
        for arg in args {
            let place = arg.as_var().and_then(|var| Some((var, parts.places.get(&var)?)));
            let Some((var, place)) = place else {
                values.push(*arg);
                continue;
            };
            let element = *read.entry(var).or_insert_with(|| {
                let element = self.names.again(var);
                let own = place.axes.iter().map(|axis| Atom::from(indices[axis]));
                let mut at: Vec<Atom> = place.row.iter().copied().chain(own).collect();
                if place.exchanged {
                    let first = place.row.len();
                    at[first..].reverse();
                }
                let binds = vec![Param { var: element, ty: Ty::real() }];
                stms.push(Stm::new(binds, Op::Index(place.array, at)));
                element
            });
            values.push(element.into());
        }
        let mut result = values[0];
        if let Some(op) = op {
            let var = self.names.fresh(NAMELESS);
            stms.push(Stm::new(vec![Param { var, ty: Ty::real() }], Op::Prim(op, values)));
            result = var.into();
        }
        let mut body = Block { stms, results: vec![result] };
        let mut ty = Ty::real();
        for axis in axes[1..].iter().rev() {
            let extent = parts.reading.extents[axis];
            let (index, outs) = (indices[axis], vec![Out::Collect]);
            ty = ty.array_of(extent);
            let var = self.names.fresh(NAMELESS);
            let inner = Nest::For { index, extent, outs, body };
            let stms = vec![Stm::new(vec![Param { var, ty: ty.clone() }], inner)];
            body = Block { stms, results: vec![var.into()] };
        }
        let (index, extent) = (indices[&axes[0]], parts.reading.extents[&axes[0]]);
        Nest::For { index, extent, outs: vec![out], body }
    }
}

impl Parts<'_> {
    /// Whether the scalar is computed before the loops.
    fn is_invariant(&self, var: Var) -> bool {
        let is_it = |step: &Step| matches!(step, Step::Prim(own, ..) if *own == var);
        !self.reading.arrays.contains_key(&var) && self.reading.steps.iter().any(is_it)
    }

    /// Equal for operations on the same operands.
    fn key(&self, op: Prim, args: &[Atom], axes: &[Var]) -> String {
        let operand = |arg: &Atom| {
            let place = arg.as_var().and_then(|var| self.places.get(&var));
            let place = place.map(|Place { array, row, axes: own, exchanged }| {
                let at = own.iter().map(|axis| axes.iter().position(|other| other == axis));
                (array, row, at.collect::<Vec<_>>(), exchanged)
            });
            match place {
                Some(place) => format!("{place:?}"),
                None => format!("{arg:?}"),
            }
        };
        let operands: Vec<String> = args.iter().map(operand).collect();
        let extents: Vec<Atom> = axes.iter().map(|axis| self.reading.extents[axis]).collect();
        format!("{op:?} {operands:?} {extents:?}")
    }
}

/// A variable as an array on these axes.
fn array_of(reading: &Reading, var: Var, axes: &[Var]) -> Param {
    let dims = axes.iter().map(|axis| reading.extents[axis]).collect();
    Param { var, ty: Ty { elem: Elem::REAL, dims } }
}

/// Whether the product is only summed.
fn is_dot(each: &Each, reading: &Reading, var: Var, last: &[Var]) -> bool {
    let mut outs = each.outputs.iter().zip(last).filter(|(_, result)| **result == var);
    let sum = matches!(outs.next(), Some(((Out::Reduce(ReduceOp::Add), ..), _)));
    let uses = |step: &Step| match step {
        Step::Element { .. } | Step::Read(..) => false,
        Step::Prim(_, _, args) => args.contains(&var.into()),
        Step::Outer(_, args) => args.contains(&var.into()),
    };
    sum && outs.next().is_none() && !reading.steps.iter().any(uses)
}
