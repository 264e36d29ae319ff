//! α-equivalence of code: two pullbacks that differ only in the names of variables are one code with two environments. So a loop that
//! makes a pullback in every iteration carries one function, not ever new ones.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, Exp, LoopKind, Nest, Param, Stm, Ty, Var};

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
        if frame(a) != frame(b) {
            return false;
        }
        a.bound().into_iter().zip(b.bound()).for_each(|(x, y)| self.bind(x, y));
        let (xs, ys) = (mentions(a), mentions(b));
        self.atoms(&xs, &ys)
            && a.blocks().into_iter().zip(b.blocks()).all(|(s, t)| self.block(s, t))
    }
}

fn mentions(exp: &Exp) -> Vec<Atom> {
    let mut atoms = Vec::new();
    exp.atoms(&mut |atom| atoms.push(atom));
    atoms
}

/// The expression without its blocks, with one name for all variables.
fn frame(exp: &Exp) -> Exp {
    let mut frame = exp.clone();
    frame.blocks_mut().into_iter().for_each(|block| *block = Block::default());
    frame.atoms_mut(&mut |atom| {
        if let Atom::Var(var) = atom {
            *var = Var(0);
        }
    });
    match &mut frame {
        Exp::Nest(Nest::For { index, .. }) => *index = Var(0),
        Exp::Nest(Nest::Loop { params, kind, .. }) => {
            params.iter_mut().for_each(|p| p.var = Var(0));
            if let LoopKind::For { index, .. } = kind {
                *index = Var(0);
            }
        }
        Exp::Op(_) | Exp::Nest(Nest::If { .. }) => {}
    }
    frame
}
