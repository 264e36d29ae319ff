//! Words for writing programs by hand.

use lambada_anf::{Atom, Block, Builder, Checkpoint, LoopKind, Nest, Op, Out, Param, Stm, Ty, Var};
use lambada_prim::{Prim, ReduceOp};

use crate::program::reals;

pub const SUM: Out = Out::Reduce(ReduceOp::Add);

pub fn real(x: f64) -> Atom {
    Atom::real(x)
}

pub fn int(k: i64) -> Atom {
    Atom::int(k)
}

pub fn var(x: Atom) -> Var {
    x.as_var().expect("an array")
}

/// Constructs as functions; bodies are closures.
pub trait Dsl {
    fn op(&mut self, op: Prim, args: &[Atom]) -> Atom;
    /// `x[at]`, a scalar.
    fn at(&mut self, x: Atom, at: &[Atom]) -> Atom;
    /// `x[at]`, an array of the given sizes.
    fn row(&mut self, x: Atom, at: &[Atom], dims: &[Atom]) -> Atom;
    fn for_(
        &mut self,
        n: Atom,
        outs: &[(Out, Ty)],
        body: impl FnOnce(&mut Builder, Atom) -> Vec<Atom>,
    ) -> Vec<Atom>;
    /// `for i < n { … }`, elements of the given sizes.
    fn map(
        &mut self,
        n: Atom,
        dims: &[Atom],
        body: impl FnOnce(&mut Builder, Atom) -> Atom,
    ) -> Atom;
    fn reduce(
        &mut self,
        op: ReduceOp,
        n: Atom,
        body: impl FnOnce(&mut Builder, Atom) -> Atom,
    ) -> Atom;
    fn sum(&mut self, n: Atom, body: impl FnOnce(&mut Builder, Atom) -> Atom) -> Atom;
    fn each(&mut self, n: Atom, body: impl FnOnce(&mut Builder, Atom));
    fn loop_(
        &mut self,
        n: Atom,
        state: &[(Atom, Ty)],
        body: impl FnOnce(&mut Builder, Atom, &[Atom]) -> Vec<Atom>,
    ) -> Vec<Atom>;
    fn loop_keeping(
        &mut self,
        checkpoint: Checkpoint,
        n: Atom,
        state: &[(Atom, Ty)],
        body: impl FnOnce(&mut Builder, Atom, &[Atom]) -> Vec<Atom>,
    ) -> Vec<Atom>;
    fn while_(
        &mut self,
        state: &[(Atom, Ty)],
        cond: impl FnOnce(&mut Builder, &[Atom]) -> Atom,
        body: impl FnOnce(&mut Builder, &[Atom]) -> Vec<Atom>,
    ) -> Vec<Atom>;
    fn if_(
        &mut self,
        cond: Atom,
        types: &[Ty],
        then: impl FnOnce(&mut Builder) -> Vec<Atom>,
        otherwise: impl FnOnce(&mut Builder) -> Vec<Atom>,
    ) -> Vec<Atom>;
    fn with(&mut self, x: Atom, ty: &Ty, at: &[Atom], value: Atom) -> Atom;
    fn accumulator(&mut self, init: Atom, ty: &Ty) -> Var;
    fn add_to(&mut self, acc: Var, at: &[Atom], value: Atom);
    fn freeze(&mut self, acc: Var, ty: &Ty) -> Atom;
}

fn fresh(b: &mut Builder, hint: &str, types: &[Ty]) -> Vec<Param> {
    types.iter().map(|ty| Param { var: b.names.fresh(hint), ty: ty.clone() }).collect()
}

fn atoms(params: &[Param]) -> Vec<Atom> {
    params.iter().map(|p| p.var.into()).collect()
}

fn end_loop(
    b: &mut Builder,
    params: Vec<Param>,
    inits: Vec<Atom>,
    kind: LoopKind,
    body: Block,
) -> Vec<Atom> {
    let types: Vec<Ty> = params.iter().map(|p| p.ty.clone()).collect();
    let binds = fresh(b, "z", &types);
    let results = atoms(&binds);
    b.stms.push(Stm::new(binds, Nest::Loop { params, inits, kind, body }));
    results
}

impl Dsl for Builder<'_> {
    fn op(&mut self, op: Prim, args: &[Atom]) -> Atom {
        self.prim(op, args)
    }

    fn at(&mut self, x: Atom, at: &[Atom]) -> Atom {
        self.bind("e", Ty::real(), Op::Index(var(x), at.to_vec()))
    }

    fn row(&mut self, x: Atom, at: &[Atom], dims: &[Atom]) -> Atom {
        self.bind("row", reals(dims), Op::Index(var(x), at.to_vec()))
    }

    fn for_(
        &mut self,
        n: Atom,
        outs: &[(Out, Ty)],
        body: impl FnOnce(&mut Builder, Atom) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let index = self.names.fresh("i");
        let body = self.block(|b| body(b, index.into()));
        let types: Vec<Ty> = outs.iter().map(|(_, ty)| ty.clone()).collect();
        let binds = fresh(self, "ys", &types);
        let results = atoms(&binds);
        self.stms.push(Stm::new(
            binds,
            Nest::For { index, extent: n, outs: outs.iter().map(|o| o.0).collect(), body },
        ));
        results
    }

    fn map(
        &mut self,
        n: Atom,
        dims: &[Atom],
        body: impl FnOnce(&mut Builder, Atom) -> Atom,
    ) -> Atom {
        self.for_(n, &[(Out::Collect, reals(dims).array_of(n))], |b, i| vec![body(b, i)])[0]
    }

    fn reduce(
        &mut self,
        op: ReduceOp,
        n: Atom,
        body: impl FnOnce(&mut Builder, Atom) -> Atom,
    ) -> Atom {
        self.for_(n, &[(Out::Reduce(op), Ty::real())], |b, i| vec![body(b, i)])[0]
    }

    fn sum(&mut self, n: Atom, body: impl FnOnce(&mut Builder, Atom) -> Atom) -> Atom {
        self.reduce(ReduceOp::Add, n, body)
    }

    fn each(&mut self, n: Atom, body: impl FnOnce(&mut Builder, Atom)) {
        self.for_(n, &[], |b, i| {
            body(b, i);
            vec![]
        });
    }

    fn loop_(
        &mut self,
        n: Atom,
        state: &[(Atom, Ty)],
        body: impl FnOnce(&mut Builder, Atom, &[Atom]) -> Vec<Atom>,
    ) -> Vec<Atom> {
        self.loop_keeping(Checkpoint::All, n, state, body)
    }

    fn loop_keeping(
        &mut self,
        checkpoint: Checkpoint,
        n: Atom,
        state: &[(Atom, Ty)],
        body: impl FnOnce(&mut Builder, Atom, &[Atom]) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let types: Vec<Ty> = state.iter().map(|(_, ty)| ty.clone()).collect();
        let (params, index) = (fresh(self, "s", &types), self.names.fresh("k"));
        let body = self.block(|b| body(b, index.into(), &atoms(&params)));
        let kind = LoopKind::For { index, extent: n, checkpoint };
        end_loop(self, params, state.iter().map(|s| s.0).collect(), kind, body)
    }

    fn while_(
        &mut self,
        state: &[(Atom, Ty)],
        cond: impl FnOnce(&mut Builder, &[Atom]) -> Atom,
        body: impl FnOnce(&mut Builder, &[Atom]) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let types: Vec<Ty> = state.iter().map(|(_, ty)| ty.clone()).collect();
        let params = fresh(self, "s", &types);
        let cond = self.block(|b| vec![cond(b, &atoms(&params))]);
        let body = self.block(|b| body(b, &atoms(&params)));
        end_loop(self, params, state.iter().map(|s| s.0).collect(), LoopKind::While(cond), body)
    }

    fn if_(
        &mut self,
        cond: Atom,
        types: &[Ty],
        then: impl FnOnce(&mut Builder) -> Vec<Atom>,
        otherwise: impl FnOnce(&mut Builder) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let (then, otherwise) = (self.block(then), self.block(otherwise));
        let binds = fresh(self, "y", types);
        let results = atoms(&binds);
        self.stms.push(Stm::new(binds, Nest::If { cond, then, otherwise }));
        results
    }

    fn with(&mut self, x: Atom, ty: &Ty, at: &[Atom], value: Atom) -> Atom {
        self.bind("x", ty.clone(), Op::Update { array: var(x), index: at.to_vec(), value })
    }

    fn accumulator(&mut self, init: Atom, ty: &Ty) -> Var {
        var(self.bind("acc", ty.clone(), Op::Accumulator(init)))
    }

    fn add_to(&mut self, acc: Var, at: &[Atom], value: Atom) {
        self.effect(Op::Accumulate { acc, index: at.to_vec(), value });
    }

    fn freeze(&mut self, acc: Var, ty: &Ty) -> Atom {
        self.bind("h", ty.clone(), Op::Freeze(acc))
    }
}
