//! A builder that appends statements. It folds nothing and checks nothing.

use std::rc::Rc;

use lambada_prim::{Prim, Scalar};

use crate::{Atom, Block, Exp, NAMELESS, Names, Op, Param, Stm, Ty, Var};

/// Appends statements to a block. Rules read like mathematics: `let t = b.prim(Mul, [x, y]);`.
#[derive(Debug)]
pub struct Builder<'a> {
    /// The supply of variables.
    pub names: &'a mut Names,
    /// The statements so far.
    pub stms: Vec<Stm>,
}

impl<'a> Builder<'a> {
    /// An empty block.
    pub fn new(names: &'a mut Names) -> Builder<'a> {
        Builder { names, stms: Vec::new() }
    }

    /// The finished block.
    pub fn finish(self, results: Vec<Atom>) -> Block {
        Block { stms: self.stms, results }
    }

    /// A nested block, built by `fill`, which returns the results. It is not appended.
    pub fn block(&mut self, fill: impl FnOnce(&mut Builder) -> Vec<Atom>) -> Block {
        let mut inner = Builder::new(self.names);
        let results = fill(&mut inner);
        Block { stms: inner.stms, results }
    }

    /// `hint : ty = exp`
    pub fn bind(&mut self, hint: &str, ty: Ty, exp: impl Into<Exp>) -> Atom {
        let var = self.names.fresh(hint);
        self.stms.push(Stm::new(vec![Param { var, ty }], exp));
        Atom::Var(var)
    }

    /// `hint₁ : ty₁, … = exp`. The types must not mention each other; for that, push a `Stm`.
    pub fn bind_all(&mut self, binds: Vec<(Rc<str>, Ty)>, exp: impl Into<Exp>) -> Vec<Atom> {
        let binds: Vec<Param> =
            binds.into_iter().map(|(hint, ty)| Param { var: self.names.fresh(hint), ty }).collect();
        let atoms = binds.iter().map(|p| Atom::Var(p.var)).collect();
        self.stms.push(Stm::new(binds, exp));
        atoms
    }

    /// A statement that binds nothing.
    pub fn effect(&mut self, exp: impl Into<Exp>) {
        self.stms.push(Stm::effect(exp));
    }

    /// A primitive, called `t`.
    pub fn prim(&mut self, op: Prim, args: impl Into<Vec<Atom>>) -> Atom {
        self.bind(NAMELESS, Ty::scalar(op.result()), Op::Prim(op, args.into()))
    }

    /// `x[index]`, for an `x` of this type.
    pub fn index(&mut self, x: Var, ty: &Ty, index: Vec<Atom>) -> Atom {
        if index.is_empty() {
            return Atom::Var(x);
        }
        let hint = self.names.hint(x);
        self.bind(&hint, ty.indexed(index.len()), Op::Index(x, index))
    }

    /// A zero of the type.
    pub fn zero(&mut self, ty: &Ty) -> Atom {
        let zero: Scalar = ty.elem.zero();
        if ty.dims.is_empty() {
            Atom::Lit(zero)
        } else {
            self.bind("zeros", ty.clone(), Op::Fill(Atom::Lit(zero)))
        }
    }
}
