//! Evident facts about `for`s. One that has an iteration lets its extrema be printed as `maximum`
//! and `minimum`, which fail for an empty array; one that finds the place of an extremum is
//! `argmax` or `argmin`. One that copies the elements of an array is printed as the array.

use std::collections::{HashMap, HashSet};

use lambada_anf::bounds::ScopedFacts;
use lambada_anf::{Atom, Block, Exp, Function, Nest, Op, Out, Param, Stm, Ty, Var};
use lambada_prim::ReduceOp;

use crate::extrema::{Search, search};

#[derive(Default)]
pub(crate) struct Fors {
    known: ScopedFacts,
    types: HashMap<Var, Ty>,
    /// Arrays of zeros.
    zeros: HashSet<Var>,
    /// Variables bound by a `for` that has an iteration.
    runs: HashSet<Var>,
    /// Variables bound by `for i < n { xs[i] }`, with the array of `n` elements.
    whole: HashMap<Var, Var>,
    /// The extrema of arrays.
    extrema: HashMap<Var, (ReduceOp, Var)>,
    /// The places of extrema in arrays.
    places: HashMap<Var, (ReduceOp, Var)>,
}

impl Fors {
    /// Facts about the `for`s of functions that share their variables.
    pub(crate) fn of<'f>(functions: impl IntoIterator<Item = &'f Function>) -> Fors {
        let mut fors = Fors::default();
        for function in functions {
            let mark = fors.known.mark();
            fors.known.sizes(function);
            fors.types.extend(function.params.iter().map(|p| (p.var, p.ty.clone())));
            fors.block(&function.body);
            fors.known.reset(mark);
        }
        fors
    }

    /// Whether the variable is bound by a `for` that has an iteration.
    pub(crate) fn has_iterations(&self, bound: Var) -> bool {
        self.runs.contains(&bound)
    }

    /// The array that the `for` binding this variable copies.
    pub(crate) fn array(&self, bound: Var) -> Option<Var> {
        self.whole.get(&bound).copied()
    }

    /// The extremum and the array whose place the `for` that binds this variable finds.
    pub(crate) fn place(&self, bound: Var) -> Option<(ReduceOp, Var)> {
        self.places.get(&bound).copied()
    }

    /// The type of a variable.
    pub(crate) fn ty(&self, var: Var) -> Option<&Ty> {
        self.types.get(&var)
    }

    /// Sets the type of a variable.
    pub(crate) fn define(&mut self, p: &Param) {
        self.types.insert(p.var, p.ty.clone());
    }

    /// Whether it is an array of zeros.
    pub(crate) fn is_zero(&self, of: Atom) -> bool {
        of.as_var().is_some_and(|var| self.zeros.contains(&var))
    }

    /// Whether two sizes are evidently equal.
    pub(crate) fn equal(&self, a: Atom, b: Atom) -> bool {
        a == b || self.known.ask(|place| place.equal(a, b))
    }

    fn block(&mut self, block: &Block) {
        for stm in &block.stms {
            if let Exp::Op(Op::Fill(Atom::Lit(value))) = &stm.exp
                && *value == stm.binds[0].ty.elem.zero()
            {
                self.zeros.insert(stm.binds[0].var);
            }
            if let Exp::Nest(Nest::For { extent, outs, body, .. }) = &stm.exp {
                let bound = || stm.binds.iter().map(|p| p.var);
                if self.known.ask(|place| place.in_range(Atom::int(0), *extent)) {
                    self.runs.extend(bound());
                    self.extrema(stm, outs, body);
                }
                if let Some(array) = self.copied(stm, body) {
                    self.whole.extend(bound().map(|var| (var, array)));
                }
            }
            for (k, inner) in stm.exp.blocks().into_iter().enumerate() {
                let mark = self.known.mark();
                self.known.enter(&stm.exp);
                if let Exp::Nest(Nest::If { cond, .. }) = &stm.exp {
                    self.known.assume(*cond, k == 0);
                }
                if let Exp::Nest(Nest::Loop { params, .. }) = &stm.exp {
                    self.types.extend(params.iter().map(|p| (p.var, p.ty.clone())));
                }
                self.block(inner);
                self.known.reset(mark);
            }
            self.types.extend(stm.binds.iter().map(|p| (p.var, p.ty.clone())));
            self.known.pass(stm);
        }
    }

    /// Records the extrema of arrays, and their places, among the results of a `for`.
    fn extrema(&mut self, stm: &Stm, outs: &[Out], body: &Block) {
        if let Some(Search { before: [first], element, wanted }) = search(stm)
            && let Some((op, array)) = wanted.as_var().and_then(|m| self.extrema.get(&m)).copied()
            && element == first.binds[0].var.into()
            && self.read(stm, std::slice::from_ref(first)) == Some(array)
        {
            self.places.insert(stm.binds[0].var, (op, array));
        }
        for (k, p) in stm.binds.iter().enumerate() {
            let Out::Reduce(op @ (ReduceOp::Max | ReduceOp::Min)) = outs[k] else { continue };
            let is_it = |j: &usize| outs[*j] == Out::Collect && body.results[*j] == body.results[k];
            let collected = (0..outs.len()).find(is_it).map(|j| stm.binds[j].var);
            if let Some(array) = collected.or_else(|| self.read(stm, &body.stms)) {
                self.extrema.insert(p.var, (op, array));
            }
        }
    }

    /// The array that the body copies, one element in each iteration, completely.
    fn copied(&self, stm: &Stm, body: &Block) -> Option<Var> {
        let element = body.stms.first()?.binds.first()?.var;
        let own = body.results.iter().all(|result| *result == element.into());
        self.read(stm, &body.stms).filter(|_| own)
    }

    /// The array that the first statements of a `for` read, one element in each iteration,
    /// completely.
    fn read(&self, stm: &Stm, first: &[Stm]) -> Option<Var> {
        let Exp::Nest(Nest::For { index, extent, .. }) = &stm.exp else { return None };
        let [Stm { exp: Exp::Op(Op::Index(array, at)), .. }] = first else { return None };
        let size = *self.types.get(array)?.dims.first()?;
        let all = || self.known.ask(|place| place.equal(size, *extent));
        (at[..] == [(*index).into()] && all()).then_some(*array)
    }
}
