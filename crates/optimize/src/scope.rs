//! Facts known at a statement: the types and definitions of the variables in scope, and
//! inequalities between integers, by the judgement that the checker uses too
//! ([`lambada_anf::bounds`]).

use lambada_anf::bounds::ScopedFacts;
use lambada_anf::{Atom, Exp, Function, LoopKind, Nest, Op, Param, Stm, Ty, Var};
use lambada_prim::Prim;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::calls::Calls;

/// The facts known at a place.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    types: HashMap<Var, Ty>,
    definitions: HashMap<Var, Exp>,
    /// Arrays whose memory a statement takes over if they are not needed afterwards.
    consumed: HashSet<Var>,
    known: ScopedFacts,
}

impl Scope {
    /// The scope of a function's body. The sizes of arguments are not negative; of captured
    /// variables, only the types are known.
    pub(crate) fn new(function: &Function, calls: &Calls) -> Scope {
        let mut scope = Scope::default();
        for size in &function.sizes {
            scope.types.insert(*size, Ty::int());
        }
        scope.params(&function.params);
        scope.params(&function.accumulators);
        scope.params(calls.captured());
        scope.known.sizes(function);
        scope
    }

    pub(crate) fn params(&mut self, params: &[Param]) {
        for p in params {
            self.types.insert(p.var, p.ty.clone());
        }
    }

    /// The type of a variable, if it is known.
    pub(crate) fn ty(&self, var: Var) -> Option<&Ty> {
        self.types.get(&var)
    }

    /// The definition of a variable. Constructs with blocks are not recorded.
    pub(crate) fn definition(&self, atom: Atom) -> Option<&Exp> {
        self.definitions.get(&atom.as_var()?)
    }

    /// Whether an array may be read here without forcing an update to copy it: not after a
    /// statement has taken over its memory.
    pub(crate) fn readable(&self, x: Var) -> bool {
        !self.consumed.contains(&x)
    }

    /// Records the bindings of a statement that the walk passes.
    pub(crate) fn pass(&mut self, stm: &Stm) {
        self.params(&stm.binds);
        stm.exp.consumed(&mut |x| _ = self.consumed.insert(x));
        match (&stm.exp, stm.binds.as_slice()) {
            (Exp::Nest(_), _) => {}
            (exp, [bind]) => {
                self.definitions.insert(bind.var, exp.clone());
            }
            (_, _) => {}
        }
        if !matches!(stm.exp, Exp::Op(Op::Check { .. })) {
            self.known.pass(stm);
        }
    }

    pub(crate) fn mark(&mut self) -> usize {
        self.known.mark()
    }

    /// Forgets the inequalities learned since the mark.
    pub(crate) fn reset(&mut self, mark: usize) {
        self.known.reset(mark);
    }

    /// Enters the blocks of a loop: records its bindings, and that the index is in range.
    pub(crate) fn enter(&mut self, exp: &Exp) {
        match exp {
            Exp::Nest(Nest::For { index, .. }) => _ = self.types.insert(*index, Ty::int()),
            Exp::Nest(Nest::Loop { params, kind, .. }) => {
                self.params(params);
                exp.consumed(&mut |x| _ = self.consumed.insert(x));
                if let LoopKind::For { index, .. } = kind {
                    self.types.insert(*index, Ty::int());
                }
            }
            Exp::Op(_) | Exp::Nest(Nest::If { .. }) => {}
        }
        self.known.enter(exp);
    }

    /// Assumes that the condition has the truth value, from here on in this block.
    pub(crate) fn assume(&mut self, cond: Atom, holds: bool) {
        self.known.assume(cond, holds);
    }

    /// Whether `a ≤ b` is evident; with `strict`, `a < b`.
    pub(crate) fn proves(&self, a: Atom, b: Atom, strict: bool) -> bool {
        self.known.ask(|place| place.at_least(b, a, i64::from(strict)))
    }

    /// The only value that the operation can give.
    pub(crate) fn constant(&self, op: Prim, args: &[Atom]) -> Option<i64> {
        self.known.ask(|place| place.constant(op, args))
    }

    /// Whether the integer is evidently the product of two sizes, neither of them negative.
    pub(crate) fn is_product(&self, all: Atom, rows: Atom, columns: Atom) -> bool {
        self.known.ask(|place| place.is_product(all, rows, columns))
    }

    /// Whether the indices are evidently in range.
    pub(crate) fn in_range(&self, x: Var, index: &[Atom]) -> bool {
        let Some(ty) = self.ty(x) else { return false };
        let mut axes = index.iter().zip(&ty.dims);
        axes.all(|(i, size)| self.known.ask(|place| place.in_range(*i, *size)))
    }
}
