//! The facts at a place that moves through a program in order, for [`crate::check()`], the
//! optimizer and the guard.

use lambada_prim::{Prim, ReduceOp, ScalarTy};

use super::{Bounds, Comparison, Frame, Frames, Learned, ProgramPoint, TRIED};
use crate::{Atom, Block, Exp, Function, LoopKind, Nest, Op, Out, Stm, Ty, Var};

/// The blocks around the place, with their facts.
#[derive(Clone, Debug)]
pub struct ScopedFacts {
    /// The facts that hold everywhere.
    pub bounds: Bounds,
    frames: Frames,
}

impl Default for ScopedFacts {
    fn default() -> ScopedFacts {
        let mut frames = Frames::default();
        frames.push(Frame::default());
        ScopedFacts { bounds: Bounds::default(), frames }
    }
}

impl ScopedFacts {
    /// The facts of these blocks.
    pub fn within(bounds: Bounds, frames: Frames) -> ScopedFacts {
        ScopedFacts { bounds, frames }
    }

    /// Enters a block; returns the mark for [`ScopedFacts::reset`] at its end.
    pub fn mark(&mut self) -> usize {
        self.frames.push(Frame::default());
        self.frames.len() - 1
    }

    /// Forgets all facts learned since the mark.
    pub fn reset(&mut self, mark: usize) {
        while self.frames.len() > mark {
            self.frames.pop();
        }
    }

    /// Asks a question here.
    pub fn ask<T>(&self, question: impl FnOnce(ProgramPoint<'_>) -> T) -> T {
        self.frames.ask(&self.bounds, self.frames.len(), question)
    }

    fn learn(&mut self, what: impl FnOnce(ProgramPoint<'_>) -> Learned) {
        let learned = self.ask(what);
        self.frames.learn(learned);
    }

    /// From here on, in this block, the condition has the truth value.
    pub fn assume(&mut self, cond: Atom, holds: bool) {
        for comparison in self.bounds.comparisons(cond, holds) {
            self.learn(|point| point.learned(comparison));
        }
    }

    /// From here on, in this block, the comparison holds.
    pub fn assume_comparison(&mut self, comparison: Comparison) {
        self.learn(|point| point.learned(comparison));
    }

    /// `var = op(args)`
    pub fn define(&mut self, var: Var, op: Prim, args: &[Atom]) {
        self.bounds.define_once(var, op, args);
        if op.result() == ScalarTy::Int {
            self.learn(|point| point.learned_of(var, op, args));
        }
    }

    /// The loop's index: `0 ≤ index < extent`.
    pub fn index(&mut self, index: Var, extent: Atom) {
        self.learn(|point| point.learned_of_index(index, extent));
    }

    /// The sizes of a function's parameters. A size that is a parameter itself is an ordinary
    /// number: the caller has promised nothing about it.
    pub fn sizes(&mut self, function: &Function) {
        function.sizes.iter().for_each(|size| self.bounds.size(*size));
        let given = |size: &Atom| function.params.iter().any(|p| Atom::Var(p.var) == *size);
        let sizes = function.params.iter().flat_map(|p| &p.ty.dims);
        sizes.filter(|size| !given(size)).for_each(|size| self.size(*size));
    }

    /// A size of an argument. The sizes of other arrays may be negative: then they have no
    /// elements.
    pub fn size(&mut self, size: Atom) {
        if let Atom::Var(_) = size
            && self.ask(|point| point.range_of(size).0 < 0)
        {
            self.assume_comparison(Comparison::AtLeast(size, Atom::int(0), 0));
        }
    }
}

impl ScopedFacts {
    /// Learns the facts of a statement that is passed.
    pub fn pass(&mut self, stm: &Stm) {
        match &stm.exp {
            Exp::Op(op) => self.pass_op(stm, op),
            Exp::Nest(nest) => self.pass_nest(stm, nest),
        }
    }

    fn pass_op(&mut self, stm: &Stm, op: &Op) {
        if let Op::Check { cond, .. } = op {
            self.assume(*cond, true);
        }
        let [p] = &stm.binds[..] else { return };
        if let Op::Prim(op, args) = op
            && p.ty.elem != ScalarTy::Real
        {
            self.define(p.var, *op, args);
        }
        if let Op::Index(x, index) = op
            && p.ty == Ty::int()
        {
            self.bounds.read_once(p.var, *x, index);
        }
        if let Op::Field { of: Atom::Var(of), tag, field } = op
            && p.ty == Ty::int()
        {
            self.bounds.read_once(
                p.var,
                *of,
                &[Atom::int((*tag).into()), Atom::int((*field).into())],
            );
        }
    }

    fn pass_nest(&mut self, stm: &Stm, nest: &Nest) {
        if let Nest::If { cond, then, otherwise } = nest {
            let results = then.results.iter().zip(&otherwise.results);
            for (p, (a, b)) in stm.binds.iter().zip(results) {
                if p.ty == Ty::bool() {
                    self.bounds.connect(p.var, *cond, *a, *b);
                }
                if p.ty == Ty::int() {
                    let other = self.checked_equal(otherwise, *b);
                    let same = self.checked_equal(then, *a).into_iter().find(|x| other.contains(x));
                    if let Some(same) = same {
                        self.assume_comparison(Comparison::Equal(p.var.into(), same));
                    }
                }
            }
        }
        if let Some(extent) = nest.extent() {
            for k in self.carried(nest).into_iter().chain(self.places(stm, nest)) {
                self.learn_in_range(stm.binds[k].var.into(), extent);
            }
        }
    }

    /// An atom, and the atoms that the checks of a block equate with it.
    fn checked_equal(&self, block: &Block, atom: Atom) -> Vec<Atom> {
        let mut equal = vec![atom];
        for stm in &block.stms {
            let Exp::Op(Op::Check { cond, .. }) = stm.exp else { continue };
            for comparison in self.bounds.comparisons(cond, true) {
                if let Comparison::Equal(a, b) = comparison {
                    equal.extend((a == atom).then_some(b));
                    equal.extend((b == atom).then_some(a));
                }
            }
        }
        equal
    }

    /// Learns the facts that hold in the body of a loop.
    pub fn enter(&mut self, exp: &Exp) {
        match exp {
            Exp::Op(_)
            | Exp::Nest(Nest::If { .. } | Nest::Loop { kind: LoopKind::While(_), .. }) => {}
            Exp::Nest(Nest::For { index, extent, .. }) => self.index(*index, *extent),
            Exp::Nest(
                nest @ Nest::Loop { params, kind: LoopKind::For { index, extent, .. }, .. },
            ) => {
                let carried = self.carried(nest);
                self.index(*index, *extent);
                for k in carried {
                    self.learn_in_range(params[k].var.into(), *extent);
                }
            }
        }
    }

    fn learn_in_range(&mut self, index: Atom, extent: Atom) {
        self.assume_comparison(Comparison::AtLeast(index, Atom::int(0), 0));
        self.assume_comparison(Comparison::AtLeast(extent, index, 1));
    }

    /// The parts of a loop's state that are indices of the loop: in range at first, and then
    /// unchanged or the index of an iteration. Asked outside of the loop.
    fn carried(&self, nest: &Nest) -> Vec<usize> {
        let Nest::Loop { params, inits, kind: LoopKind::For { index, extent, .. }, body } = nest
        else {
            return Vec::new();
        };
        let starts = |k: usize| self.ask(|point| point.in_range(inits[k], *extent));
        let stays = |k: usize| {
            let own = Atom::Var(params[k].var);
            chosen(body, body.results[k], &|atom| atom == own || atom == (*index).into())
        };
        (0..params.len())
            .filter(|k| params[*k].ty == Ty::int() && stays(*k) && starts(*k))
            .collect()
    }

    /// The results of a `for` that are extrema of indices: each iteration gives its own index or
    /// another one that is in range. Asked outside.
    fn places(&self, stm: &Stm, nest: &Nest) -> Vec<usize> {
        let Nest::For { index, extent, outs, body } = nest else { return Vec::new() };
        let in_range = |atom| self.ask(|point| point.in_range(atom, *extent));
        let fits = |atom| atom == (*index).into() || in_range(atom);
        let is_extremum = |k: &usize| {
            matches!(outs[*k], Out::Reduce(ReduceOp::Min | ReduceOp::Max))
                && stm.binds[*k].ty == Ty::int()
        };
        (0..outs.len())
            .filter(is_extremum)
            .filter(|k| in_range(Atom::int(0)) && chosen(body, body.results[*k], &fits))
            .collect()
    }
}

/// Whether the result of a block is, by selections, one of the atoms that fit.
fn chosen(body: &Block, result: Atom, fits: &dyn Fn(Atom) -> bool) -> bool {
    let mut atoms = vec![result];
    while let Some(atom) = atoms.pop() {
        if fits(atom) {
            continue;
        }
        let definition = body.stms.iter().find(|s| s.binds.iter().any(|p| atom == p.var.into()));
        match definition.map(|s| &s.exp) {
            Some(Exp::Op(Op::Prim(Prim::SelectInt, args))) if atoms.len() < TRIED => {
                atoms.extend(&args[1..])
            }
            Some(_) | None => return false,
        }
    }
    true
}
