//! The walk that all local rewrites share. It visits statements in order, with the facts known at
//! their places. A rule may replace a statement by others, with images of its bindings; the rules
//! are then tried on the new statements. A pass is a list of rules.

use lambada_anf::{Atom, Block, Exp, Function, LoopKind, Names, Nest, Op, Param, Stm, Ty, Var};
use lambada_prim::{Prim, Scalar};

use crate::calls::Calls;
use crate::scope::Scope;

/// The inputs of a rule.
pub(crate) struct Context<'a> {
    /// The supply of variables.
    pub(crate) names: &'a mut Names,
    /// The facts known here.
    pub(crate) scope: &'a Scope,
    /// The effects of calls.
    pub(crate) calls: &'a Calls,
}

impl Context<'_> {
    /// Appends a statement that binds a new variable, called as an old one.
    pub(crate) fn bind(
        &mut self,
        stms: &mut Vec<Stm>,
        like: Var,
        ty: Ty,
        exp: impl Into<Exp>,
    ) -> Atom {
        let var = self.names.again(like);
        stms.push(Stm::new(vec![Param { var, ty }], exp));
        var.into()
    }
}

/// The replacement of a statement.
pub(crate) struct Replacement {
    pub(crate) stms: Vec<Stm>,
    /// The image of each binding of the old statement.
    pub(crate) values: Vec<Atom>,
}

impl Replacement {
    /// Atoms alone.
    pub(crate) fn values(values: Vec<Atom>) -> Option<Replacement> {
        Some(Replacement { stms: Vec::new(), values })
    }

    /// One atom alone.
    pub(crate) fn value(value: Atom) -> Option<Replacement> {
        Replacement::values(vec![value])
    }

    /// Another expression for the same bindings.
    pub(crate) fn exp(stm: &Stm, exp: impl Into<Exp>) -> Option<Replacement> {
        let values = stm.binds.iter().map(|p| p.var.into()).collect();
        Some(Replacement { stms: vec![Stm::new(stm.binds.clone(), exp)], values })
    }
}

/// A local rewrite. It must make progress: it is applied until it no longer fires.
pub(crate) type Rule = fn(&mut Context, &Stm) -> Option<Replacement>;

/// Applies the rules everywhere; gives whether the program has changed.
pub(crate) fn rewrite(function: &mut Function, calls: &Calls, rules: &[Rule]) -> bool {
    let scope = Scope::new(function, calls);
    let names = &mut function.names;
    let mut rewriter = Rewriter { names, scope, calls, image: Vec::new(), rules, changed: false };
    rewriter.block(&mut function.body);
    for size in function.results.iter_mut().flat_map(|ty| &mut ty.dims) {
        rewriter.place(size);
    }
    rewriter.changed
}

struct Rewriter<'a> {
    names: &'a mut Names,
    scope: Scope,
    calls: &'a Calls,
    /// The images of replaced variables.
    image: Vec<Option<Atom>>,
    rules: &'a [Rule],
    changed: bool,
}

impl Rewriter<'_> {
    fn atom(&self, atom: Atom) -> Atom {
        let mut atom = atom;
        // Images may themselves have been replaced later.
        while let Some(image) =
            atom.as_var().and_then(|v| self.image.get(v.0 as usize).copied().flatten())
        {
            atom = image;
        }
        atom
    }

    /// Replaces the atom by its image.
    fn place(&mut self, atom: &mut Atom) {
        let image = self.atom(*atom);
        self.changed |= image.as_var() != atom.as_var();
        *atom = image;
    }

    fn replace(&mut self, var: Var, image: Option<Atom>) {
        let k = var.0 as usize;
        if image != Some(Atom::Var(var)) {
            self.image.resize(self.image.len().max(k + 1), None);
            self.image[k] = image;
        }
    }

    fn block(&mut self, block: &mut Block) {
        let mark = self.scope.mark();
        let mut assumed = Vec::new();
        let mut todo: Vec<Stm> = std::mem::take(&mut block.stms);
        todo.reverse();
        while let Some(mut stm) = todo.pop() {
            stm.exp.atoms_mut(&mut |a| self.place(a));
            stm.binds.iter_mut().flat_map(|p| &mut p.ty.dims).for_each(|d| self.place(d));
            let mut context =
                Context { names: &mut *self.names, scope: &self.scope, calls: self.calls };
            match self.rules.iter().find_map(|rule| rule(&mut context, &stm)) {
                Some(replacement) => {
                    self.changed = true;
                    stm.binds
                        .iter()
                        .zip(replacement.values)
                        .for_each(|(p, value)| self.replace(p.var, Some(value)));
                    todo.extend(replacement.stms.into_iter().rev());
                }
                None => {
                    self.nested(&mut stm);
                    self.scope.pass(&stm);
                    if let Exp::Op(Op::Check { cond, .. }) = &stm.exp {
                        self.assume(*cond, true, &mut assumed);
                    }
                    block.stms.push(stm);
                }
            }
        }
        block.results.iter_mut().for_each(|a| self.place(a));
        self.forget(assumed);
        self.scope.reset(mark);
    }

    fn nested(&mut self, stm: &mut Stm) {
        let mark = self.scope.mark();
        self.scope.enter(&stm.exp);
        match &mut stm.exp {
            Exp::Nest(Nest::If { cond, then, otherwise }) => {
                for (block, holds) in [(then, true), (otherwise, false)] {
                    let mark = self.scope.mark();
                    let mut assumed = Vec::new();
                    self.assume(*cond, holds, &mut assumed);
                    self.block(block);
                    self.forget(assumed);
                    self.scope.reset(mark);
                }
            }
            Exp::Nest(Nest::Loop { kind: LoopKind::While(cond), body, .. }) => {
                self.block(cond);
                self.block(body);
            }
            Exp::Nest(Nest::For { body, .. } | Nest::Loop { body, .. }) => self.block(body),
            Exp::Op(_) => {}
        }
        self.scope.reset(mark);
    }

    /// From here on the condition has the truth value; `assumed` gets the variables to forget
    /// afterwards.
    fn assume(&mut self, cond: Atom, holds: bool, assumed: &mut Vec<Var>) {
        self.scope.assume(cond, holds);
        self.assume_atom(cond, holds, assumed);
    }

    fn assume_atom(&mut self, cond: Atom, holds: bool, assumed: &mut Vec<Var>) {
        let Atom::Var(var) = cond else { return };
        let parts = match self.scope.definition(cond) {
            Some(Exp::Op(Op::Prim(Prim::And, args))) if holds => args.clone(),
            Some(Exp::Op(Op::Prim(Prim::Or, args))) if !holds => args.clone(),
            Some(_) | None => Vec::new(),
        };
        self.replace(var, Some(Atom::Lit(Scalar::Bool(holds))));
        assumed.push(var);
        parts.into_iter().for_each(|part| self.assume_atom(part, holds, assumed));
    }

    fn forget(&mut self, assumed: Vec<Var>) {
        assumed.into_iter().for_each(|var| self.replace(var, None));
    }
}
