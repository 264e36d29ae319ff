//! The arithmetic of arrays that a `for` is, without a text. A *mixed* body also gathers and adds.
//!
//! * Assumes: arithmetic and scalar functions of reals serve arrays.
//! * Gives: nothing for a body with anything else, or with an array that is larger than the range.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Effect, Elem, Exp, Nest, Op, Out, Param, Stm, Var};
use lambada_prim::{Prim, ReduceOp, ScalarTy, Surface};

use crate::checking::is_written_check;
use crate::fors::Fors;

/// Number of loops, besides arithmetic, that a `for` may become.
const APART: usize = 2;

/// A body as it is read.
#[derive(Default)]
pub(crate) struct Reading {
    /// The indices of the `for`s around, outermost first, with the sizes of their ranges.
    axes: Vec<(Var, Atom)>,
    /// The sizes of all ranges.
    pub(crate) extents: HashMap<Var, Atom>,
    /// Rows of arrays, with their places.
    rows: HashMap<Var, (Var, Vec<Atom>)>,
    pub(crate) steps: Vec<Step>,
    /// The variables that are arrays in the text, with the axes of these, outermost first.
    pub(crate) arrays: HashMap<Var, Vec<Var>>,
    /// The results of `for`s inside, with the values that they collect.
    collected: HashMap<Var, Var>,
    /// Whether a body may do other things than arithmetic: read elements at computed places, and
    /// add.
    mixed: bool,
    /// Integers and truth values of a mixed body.
    discrete: HashSet<Var>,
    /// The statements of a mixed body that add an array to a row.
    pub(crate) rows_added: Vec<usize>,
    /// The other statements that add.
    pub(crate) additions: Vec<usize>,
}

/// A value of a body.
pub(crate) enum Step {
    /// An element of the array at these places and then at its axes, which may be exchanged.
    Element {
        var: Var,
        array: Var,
        row: Vec<Atom>,
        exchanged: bool,
    },
    Prim(Var, Prim, Vec<Atom>),
    /// The product of elements of two arrays on different axes.
    Outer(Var, [Atom; 2]),
    /// A value that is no arithmetic, bound by this statement of the body.
    Read(Var, usize),
}

/// A `for`: its index and range, its body, and the outputs that are used, each with its result in
/// the body.
pub(crate) struct Each<'a> {
    pub(crate) axis: (Var, Atom),
    pub(crate) body: &'a Block,
    pub(crate) outputs: Vec<(Out, &'a Param, Atom)>,
}

impl<'a> Each<'a> {
    /// The `for` that a statement is, with all outputs or some.
    pub(crate) fn of(stm: &'a Stm, kept: &[bool]) -> Option<Each<'a>> {
        let Exp::Nest(Nest::For { index, extent, outs, body }) = &stm.exp else { return None };
        let outputs = (0..outs.len()).filter(|k| kept[*k]);
        let outputs = outputs.map(|k| (outs[k], &stm.binds[k], body.results[k])).collect();
        Some(Each { axis: (*index, *extent), body, outputs })
    }

    /// The arithmetic of arrays that it is, with the variables of the results.
    pub(crate) fn reading(&self, fors: &Fors) -> Option<(Reading, Vec<Var>)> {
        let reduces = |(out, p, _): &(Out, &Param, Atom)| match out {
            Out::Collect => true,
            Out::Reduce(ReduceOp::Add) => p.ty.dims.is_empty(),
            Out::Reduce(ReduceOp::Max | ReduceOp::Min) => fors.has_iterations(p.var),
            Out::Reduce(_) => false,
        };
        let results: Vec<Atom> = self.outputs.iter().map(|(_, _, result)| *result).collect();
        // One that copies an array has its name.
        let copies = self.outputs.first().is_some_and(|(_, p, _)| fors.array(p.var).is_some());
        if copies || !self.outputs.iter().all(reduces) {
            return None;
        }
        let read = |mixed| read_as(fors, vec![self.axis], self.body, &results, mixed);
        read(false).filter(|_| !results.is_empty()).or_else(|| {
            let (reading, last) = read(true)?;
            let arithmetic = reading.steps.iter().filter(|step| match step {
                Step::Prim(var, ..) => reading.is_array(*var),
                Step::Outer(..) => true,
                Step::Element { .. } | Step::Read(..) => false,
            });
            // More loops than this would read worse than one.
            let loops = reading.loops();
            let values = last.iter().collect::<HashSet<_>>().len();
            let is_better = loops == 0
                || loops <= APART
                    && arithmetic.count() >= 2 * loops
                    && values > 0
                    && values + reading.rows_added.len() + reading.additions.len() > 1;
            let rows = |k: &usize| {
                let mentioned = self.body.stms[*k].free_vars();
                mentioned.iter().any(|var| reading.collected.contains_key(var))
            };
            (is_better && !reading.additions.iter().any(rows)).then_some((reading, last))
        })
    }

    /// Its reading, if it is printed as arithmetic: [`crate::distributed`] gives it one output.
    pub(crate) fn whole(&self, fors: &Fors) -> Option<(Reading, Vec<Var>)> {
        let reading = if self.outputs.len() == 1 { self.reading(fors) } else { None };
        reading.filter(|(reading, _)| reading.loops() == 0 && reading.rows_added.is_empty())
    }
}

impl Reading {
    /// For each element, the array that the text mentions instead.
    pub(crate) fn elements(&self) -> impl Iterator<Item = (Var, Var)> {
        self.steps.iter().filter_map(|step| {
            let Step::Element { var, array, .. } = step else { return None };
            Some((*var, *array))
        })
    }

    /// The number of loops besides arithmetic.
    fn loops(&self) -> usize {
        let reads = self.steps.iter().filter(|step| matches!(step, Step::Read(..)));
        reads.count() + self.additions.len()
    }
}

/// Reads a body in ranges; returns the variables of its results, too.
pub(crate) fn read(
    fors: &Fors,
    axes: Vec<(Var, Atom)>,
    body: &Block,
    results: &[Atom],
) -> Option<(Reading, Vec<Var>)> {
    read_as(fors, axes, body, results, false)
}

fn read_as(
    fors: &Fors,
    axes: Vec<(Var, Atom)>,
    body: &Block,
    results: &[Atom],
    mixed: bool,
) -> Option<(Reading, Vec<Var>)> {
    let extents = axes.iter().copied().collect();
    let mut reading = Reading { axes, extents, mixed, ..Reading::default() };
    let last = reading.block(fors, body, results)?;
    Some((reading, last))
}

impl Reading {
    pub(crate) fn is_array(&self, var: Var) -> bool {
        self.arrays.contains_key(&var)
    }

    fn is_axis(&self, atom: &Atom) -> bool {
        self.axes.iter().any(|(index, _)| *atom == (*index).into())
    }

    fn block(&mut self, fors: &Fors, body: &Block, results: &[Atom]) -> Option<Vec<Var>> {
        for (k, stm) in body.stms.iter().enumerate() {
            if stm.exp.effect() == Effect::Fails && !is_written_check(stm) {
                continue;
            }
            if self.mixed && self.axes.len() == 1 && self.other(fors, k, stm) {
                continue;
            }
            match (&stm.exp, &stm.binds[..]) {
                (Exp::Op(Op::Index(array, at)), [p]) => self.element(fors, p, *array, at)?,
                (Exp::Op(Op::Prim(op, args)), [p]) => self.prim(p.var, *op, args)?,
                (Exp::Nest(Nest::For { index, extent, outs, body }), _)
                    if outs.iter().all(|out| *out == Out::Collect) =>
                {
                    self.axes.push((*index, *extent));
                    self.extents.insert(*index, *extent);
                    let last = self.block(fors, body, &body.results)?;
                    self.axes.pop();
                    for (p, value) in stm.binds.iter().zip(last) {
                        self.arrays.insert(p.var, self.arrays[&value].clone());
                        self.collected.insert(p.var, value);
                    }
                }
                (Exp::Op(_) | Exp::Nest(_), _) => return None,
            }
        }
        let axes: Vec<Var> = self.axes.iter().map(|(index, _)| *index).collect();
        let result = |atom: &Atom| {
            let var = atom.as_var()?;
            // A value of fewer axes would make a smaller array.
            self.arrays.get(&var)?.starts_with(&axes).then_some(())?;
            Some(self.collected.get(&var).copied().unwrap_or(var))
        };
        results.iter().map(result).collect()
    }

    /// Whether the place is another one in each iteration.
    fn varies(&self, place: &Atom) -> bool {
        let is_own = |x: Var| self.discrete.contains(&x);
        self.is_axis(place) || place.as_var().is_some_and(is_own)
    }

    /// Whether the iterations add an array to a row of an accumulator.
    fn is_row(&self, fors: &Fors, acc: Var, index: &[Atom], value: Atom) -> bool {
        let [(axis, extent)] = self.axes[..] else { return false };
        let (Some((last, row)), Some(ty)) = (index.split_last(), fors.ty(acc)) else {
            return false;
        };
        *last == axis.into()
            && ty.dims.len() == index.len()
            && fors.equal(ty.dims[row.len()], extent)
            && !row.iter().any(|place| self.varies(place))
            && value.as_var().is_some_and(|x| self.is_array(x))
    }

    /// Reads a statement that is no arithmetic, if it is one.
    fn other(&mut self, fors: &Fors, k: usize, stm: &Stm) -> bool {
        match (&stm.exp, &stm.binds[..]) {
            (Exp::Op(Op::Index(array, at)), [p]) if p.ty.dims.is_empty() => {
                if self.element(fors, p, *array, at).is_some() {
                    return true;
                }
                // A value of every iteration is none of the arrays.
                if !at.iter().any(|a| self.varies(a)) {
                    return false;
                }
            }
            (Exp::Op(Op::Prim(op, _)), [_]) => {
                let is_read = *op == Prim::ToReal || op.row().surface == Surface::If;
                if op.result() == ScalarTy::Real && !is_read {
                    return false;
                }
            }
            (Exp::Op(Op::Accumulate { acc, index, value }), [])
                if self.is_row(fors, *acc, index, *value) =>
            {
                self.rows_added.push(k);
                return true;
            }
            (Exp::Op(Op::Accumulate { .. }) | Exp::Nest(Nest::For { .. }), []) => {
                let only_adds = stm.adds() && !stm.touches_cells() && !stm.inspects();
                self.additions.extend(only_adds.then_some(k));
                return only_adds;
            }
            _ => return false,
        }
        let p = &stm.binds[0];
        if p.ty.elem == Elem::REAL {
            self.arrays.insert(p.var, vec![self.axes[0].0]);
            self.steps.push(Step::Read(p.var, k));
        } else {
            self.discrete.insert(p.var);
        }
        true
    }

    /// A scalar function of invariant scalars and of arrays of the same axes, or a product of
    /// arrays on two axes.
    fn prim(&mut self, var: Var, op: Prim, args: &[Atom]) -> Option<()> {
        let of_nested = |a: &Atom| a.as_var().is_some_and(|x| self.collected.contains_key(&x));
        if !serves_arrays(op) || args.iter().any(|a| self.is_axis(a) || of_nested(a)) {
            return None;
        }
        let mut axes = args.iter().filter_map(|a| self.arrays.get(&a.as_var()?));
        let Some(first) = axes.next().cloned() else {
            self.steps.push(Step::Prim(var, op, args.to_vec()));
            return Some(());
        };
        if axes.clone().all(|other| *other == first) {
            self.arrays.insert(var, first);
            self.steps.push(Step::Prim(var, op, args.to_vec()));
            return Some(());
        }
        let ([a], Some([b]), Prim::Mul) = (&first[..], axes.next().map(|axes| &axes[..]), op)
        else {
            return None;
        };
        let place = |axis: &Var| self.axes.iter().position(|(index, _)| index == axis);
        let (both, factors) = match place(a) < place(b) {
            true => (vec![*a, *b], [args[0], args[1]]),
            false => (vec![*b, *a], [args[1], args[0]]),
        };
        self.arrays.insert(var, both);
        self.steps.push(Step::Outer(var, factors));
        Some(())
    }

    /// An element or a row of an array.
    fn element(&mut self, fors: &Fors, p: &Param, array: Var, at: &[Atom]) -> Option<()> {
        let (array, mut places) = self.rows.get(&array).cloned().unwrap_or((array, Vec::new()));
        places.extend(at);
        if self.is_array(array) {
            return None;
        }
        if !p.ty.dims.is_empty() {
            self.rows.insert(p.var, (array, places));
            return Some(());
        }
        let ty = fors.ty(array)?;
        let first = places.iter().rposition(|place| !self.is_axis(place)).map_or(0, |k| k + 1);
        let (row, own) = places.split_at(first);
        let varies = |a: &Atom| self.varies(a);
        if ty.elem != Elem::REAL || ty.dims.len() != places.len() || row.iter().any(varies) {
            return None;
        }
        // The axes by their order in the array.
        let mut axes = Vec::new();
        for (place, size) in own.iter().zip(&ty.dims[first..]) {
            let k = self.axes.iter().position(|(index, _)| *place == (*index).into())?;
            fors.equal(self.axes[k].1, *size).then_some(())?;
            axes.push(k);
        }
        let exchanged = matches!(axes[..], [a, b] if a > b);
        axes.sort_unstable();
        let in_order = axes.iter().zip(own).all(|(k, place)| *place == self.axes[*k].0.into());
        axes.dedup();
        if axes.len() < own.len() || !(in_order || exchanged) {
            return None;
        }
        if axes.is_empty() {
            return None; // an empty range does not read it
        }
        self.arrays.insert(p.var, axes.iter().map(|k| self.axes[*k].0).collect());
        let row = row.to_vec();
        self.steps.push(Step::Element { var: p.var, array, row, exchanged });
        Some(())
    }
}

fn serves_arrays(op: Prim) -> bool {
    let reals = op.args().iter().all(|ty| *ty == ScalarTy::Real) && op.result() == ScalarTy::Real;
    reals && matches!(op.row().surface, Surface::Infix(_) | Surface::Prefix(_) | Surface::Call(_))
}
