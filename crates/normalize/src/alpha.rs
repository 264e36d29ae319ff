//! α-equivalence of code: two pullbacks that differ only in the names of variables are one code
//! with two environments. So a loop that makes a pullback in every iteration carries one function,
//! not ever new ones.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, Exp, LoopKind, Nest, Op, Param, Stm, Ty, Var};

use crate::val::Pullback;

/// Are the two the same, up to the names of bound variables, and of free ones in their order?
pub(crate) fn alike(a: &Pullback, b: &Pullback) -> bool {
    let counts = |p: &Pullback| {
        (p.free.len(), p.map.params.len(), p.map.results.len(), p.map.body.stms.len())
    };
    if counts(a) != counts(b) || a.span != b.span {
        return false;
    }
    let mut alpha = Alpha::default();
    a.free.iter().zip(&b.free).for_each(|(p, q)| alpha.bind(p.var, q.var));
    alpha.types(&a.free, &b.free)
        && alpha.params(&a.map.params, &b.map.params)
        && alpha.block(&a.map.body, &b.map.body)
}

#[derive(Default)]
struct Alpha {
    images: HashMap<Var, Var>,
}

impl Alpha {
    fn bind(&mut self, a: Var, b: Var) {
        self.images.insert(a, b);
    }

    fn atom(&self, a: Atom, b: Atom) -> bool {
        match (a, b) {
            (Atom::Var(x), Atom::Var(y)) => self.images.get(&x) == Some(&y),
            (Atom::Lit(x), Atom::Lit(y)) => x == y,
            (Atom::Var(_) | Atom::Lit(_), _) => false,
        }
    }

    fn atoms(&self, a: &[Atom], b: &[Atom]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| self.atom(*x, *y))
    }

    fn ty(&self, a: &Ty, b: &Ty) -> bool {
        a.elem == b.elem && self.atoms(&a.dims, &b.dims)
    }

    fn types(&self, a: &[Param], b: &[Param]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(p, q)| self.ty(&p.ty, &q.ty))
    }

    /// Sizes may mention earlier parameters of the same list.
    fn params(&mut self, a: &[Param], b: &[Param]) -> bool {
        a.len() == b.len()
            && a.iter().zip(b).all(|(p, q)| {
                let same = self.ty(&p.ty, &q.ty);
                self.bind(p.var, q.var);
                same
            })
    }

    fn block(&mut self, a: &Block, b: &Block) -> bool {
        a.stms.len() == b.stms.len()
            && a.stms.iter().zip(&b.stms).all(|(s, t)| self.stm(s, t))
            && self.atoms(&a.results, &b.results)
    }

    fn stm(&mut self, a: &Stm, b: &Stm) -> bool {
        a.binds.len() == b.binds.len()
            && self.exp(&a.exp, &b.exp)
            && self.params(&a.binds, &b.binds)
    }

    fn exp(&mut self, a: &Exp, b: &Exp) -> bool {
        match (a, b) {
            (Exp::Op(x), Exp::Op(y)) => {
                frame(x) == frame(y) && self.atoms(&mentions(a), &mentions(b))
            }
            (Exp::Nest(x), Exp::Nest(y)) => {
                same_frame(x, y) && {
                    x.bound().into_iter().zip(y.bound()).for_each(|(x, y)| self.bind(x, y));
                    self.atoms(&mentions(a), &mentions(b))
                        && x.blocks().into_iter().zip(y.blocks()).all(|(s, t)| self.block(s, t))
                }
            }
            (Exp::Op(_), Exp::Nest(_)) | (Exp::Nest(_), Exp::Op(_)) => false,
        }
    }
}

fn mentions(exp: &Exp) -> Vec<Atom> {
    let mut atoms = Vec::new();
    exp.atoms(&mut |atom| atoms.push(atom));
    atoms
}

/// The construct with one name for all variables.
fn frame(op: &Op) -> Op {
    let mut frame = op.clone();
    frame.atoms_mut(&mut |atom| {
        if let Atom::Var(var) = atom {
            *var = Var(0);
        }
    });
    frame
}

/// Are the two the same but for what they mention and what is in their blocks?
fn same_frame(a: &Nest, b: &Nest) -> bool {
    match (a, b) {
        (Nest::For { outs: a, .. }, Nest::For { outs: b, .. }) => a == b,
        (
            Nest::Loop { params: p, kind: LoopKind::For { .. }, .. },
            Nest::Loop { params: q, kind: LoopKind::For { .. }, .. },
        )
        | (
            Nest::Loop { params: p, kind: LoopKind::While(_), .. },
            Nest::Loop { params: q, kind: LoopKind::While(_), .. },
        ) => {
            let kind = |p: &Param| (p.ty.elem, p.ty.rank());
            p.iter().map(kind).eq(q.iter().map(kind))
        }
        (Nest::If { .. }, Nest::If { .. }) => true,
        (Nest::For { .. } | Nest::Loop { .. } | Nest::If { .. }, _) => false,
    }
}
