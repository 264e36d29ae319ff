//! `D→`: the forward derivative of a block.
//!
//! ```text
//!   D→ : Γ ⊢ b : τ   becomes   Γ, Γ̇ ⊢ D→[b] : τ × τ̇
//! ```
//!
//! Each statement is followed by the statements of its tangent; `for`, `loop` and `if` get further results and stay one statement. The
//! tangents `Γ̇` are a finite map: *absent means zero*, and no zero is ever computed.
//!
//! * Assumes: parameters are real; variables are bound once; extrema and products have been rewritten ([`crate::extrema`]).
//! * Gives: a function of the parameters and their tangents to the results and the tangents of the real ones.
//! * Keeps: the primal statements, and each check, once.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, Builder, Exp, Lambda, Names, Nest, Op, Param, Stm, Ty, Var};
use lambada_prim::ScalarTy;

use crate::activity::Activity;
use crate::trim::trim_first;

/// `D→f`
pub(crate) fn forward(names: &mut Names, f: &Lambda) -> Lambda {
    let activity = Activity::of(f);
    let mut tangents = Tangents { b: Builder::new(names), activity: &activity, of: HashMap::new() };
    let mut params = f.params.clone();
    params.extend(f.params.iter().map(|p| tangents.param(p)));
    tangents.stms(&f.body.stms);
    let real = f.body.results.iter().zip(&f.results).filter(|(_, ty)| ty.elem == ScalarTy::Real);
    let rates: Vec<Atom> = real.clone().map(|(result, ty)| tangents.or_zero(*result, ty)).collect();
    let results = f.results.iter().chain(real.map(|(_, ty)| ty)).cloned().collect();
    let mut body = tangents.b.finish([f.body.results.clone(), rates].concat());
    trim_first(&mut body, &[]);
    Lambda { params, results, body }
}

/// The forward derivative under construction, and the tangents of what is in scope.
pub(crate) struct Tangents<'a> {
    /// Takes the statements of the current block.
    pub(crate) b: Builder<'a>,
    pub(crate) activity: &'a Activity,
    of: HashMap<Var, Atom>,
}

impl Tangents<'_> {
    // The environment

    /// The tangent, unless it is zero. That of an accumulator is an accumulator.
    pub(crate) fn get(&self, x: impl Into<Atom>) -> Option<Atom> {
        self.of.get(&x.into().as_var()?).copied()
    }

    pub(crate) fn get_var(&self, x: Var) -> Option<Var> {
        self.get(x).and_then(Atom::as_var)
    }

    pub(crate) fn set(&mut self, x: Var, tangent: Atom) {
        self.of.insert(x, tangent);
    }

    pub(crate) fn or_zero(&mut self, x: Atom, ty: &Ty) -> Atom {
        self.get(x).unwrap_or_else(|| self.b.zero(ty))
    }

    /// What the tangent of a variable is called.
    pub(crate) fn hint(&self, x: Var) -> String {
        format!("{}_tan", self.b.names.hint(x))
    }

    /// A variable for the tangent of what is bound here.
    pub(crate) fn param(&mut self, p: &Param) -> Param {
        let var = self.b.names.fresh(self.hint(p.var));
        self.set(p.var, var.into());
        Param { var, ty: p.ty.clone() }
    }

    /// Binds the tangent of `p`.
    pub(crate) fn bind(&mut self, p: &Param, exp: impl Into<Exp>) {
        let tangent = self.param(p);
        self.b.stms.push(Stm::new(vec![tangent], exp));
    }

    // Blocks

    /// The derivative of an inner block: its statements, with the given results.
    pub(crate) fn block(
        &mut self,
        block: &Block,
        results: impl FnOnce(&mut Self) -> Vec<Atom>,
    ) -> Block {
        let outer = std::mem::take(&mut self.b.stms);
        self.stms(&block.stms);
        let results = results(self);
        Block { stms: std::mem::replace(&mut self.b.stms, outer), results }
    }

    fn stms(&mut self, stms: &[Stm]) {
        for stm in stms {
            if self.activity.concerns(stm) {
                self.stm(stm);
            } else {
                self.b.stms.push(stm.clone());
            }
        }
    }

    fn stm(&mut self, stm: &Stm) {
        match &stm.exp {
            Exp::Nest(Nest::For { index, extent, outs, body }) => {
                self.for_(stm, *index, *extent, outs, body)
            }
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                self.loop_(stm, params, inits, kind, body)
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => self.if_(stm, *cond, then, otherwise),
            Exp::Op(op) => {
                self.b.stms.push(stm.clone());
                self.op(stm, op);
            }
        }
    }

    /// The tangent of a construct without blocks.
    fn op(&mut self, stm: &Stm, op: &Op) {
        match op {
            Op::Prim(op, args) => self.prim(&stm.binds[0], *op, args),
            Op::Index(x, index) => self.index(&stm.binds[0], *x, index),
            Op::Fill(value) => self.fill(&stm.binds[0], *value),
            Op::Array(items) => self.array(&stm.binds[0], items),
            Op::Update { array, index, value } => self.update(&stm.binds[0], *array, index, *value),
            Op::MatMul(a, b) => self.matmul(&stm.binds[0], *a, *b),
            Op::Accumulator(init) => self.accumulator(&stm.binds[0], *init),
            Op::Accumulate { acc, index, value } => self.accumulate(*acc, index, *value),
            Op::Freeze(acc) => self.freeze(&stm.binds[0], *acc),
            Op::Constant(_) | Op::Check { .. } => {}
            Op::Call { .. }
            | Op::Node { .. }
            | Op::Tag(_)
            | Op::Field { .. }
            | Op::Open { .. }
            | Op::Cell { .. } => panic!("not differentiated yet"),
        }
    }
}
