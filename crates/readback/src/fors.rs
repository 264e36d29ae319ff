//! Evident facts about `for`s. One that has an iteration lets its extrema be printed as `maximum`
//! and `minimum`, which fail for an empty array. One that copies the elements of an array is
//! printed as the array.

use std::collections::{HashMap, HashSet};

use lambada_anf::bounds::ScopedFacts;
use lambada_anf::{Atom, Block, Exp, Function, Nest, Op, Param, Stm, Ty, Var};

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
            if let Exp::Nest(Nest::For { index, extent, body, .. }) = &stm.exp {
                let bound = || stm.binds.iter().map(|p| p.var);
                if self.known.ask(|place| place.in_range(Atom::int(0), *extent)) {
                    self.runs.extend(bound());
                }
                if let Some(array) = self.copied(*index, *extent, body) {
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

    /// The array that the body copies, one element in each iteration, completely.
    fn copied(&self, index: Var, extent: Atom, body: &Block) -> Option<Var> {
        let [Stm { binds, exp: Exp::Op(Op::Index(array, at)), .. }] = &body.stms[..] else {
            return None;
        };
        let own =
            at[..] == [index.into()] && body.results.iter().all(|r| *r == binds[0].var.into());
        let size = *self.types.get(array)?.dims.first()?;
        let all = || self.known.ask(|place| place.equal(size, extent));
        (own && all()).then_some(*array)
    }
}
