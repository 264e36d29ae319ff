//! Products with the partial derivatives of one application.

use lambada_anf::{Atom, Builder, Op, Param, Ty};
use lambada_prim::{Expr, Instance, Prim, Scalar};

/// The products of one application, which share their common factors.
pub(crate) struct Products<'a, 'b> {
    pub(crate) b: &'a mut Builder<'b>,
    args: &'a [Atom],
    out: Atom,
    done: Vec<(Prim, Vec<Atom>, Atom)>,
}

impl<'a, 'b> Products<'a, 'b> {
    pub(crate) fn new(b: &'a mut Builder<'b>, out: &Param, args: &'a [Atom]) -> Self {
        Products { b, args, out: out.var.into(), done: Vec::new() }
    }

    /// `partial · d`, called `hint`.
    pub(crate) fn by(&mut self, partial: &Expr, d: Atom, hint: &str) -> Atom {
        let (args, out) = (self.args, self.out);
        let before = self.b.stms.len();
        let product = partial.scaled(args, &out, d, self);
        match self.b.stms[before..].last_mut() {
            Some(last) if product == Atom::Var(last.binds[0].var) => {
                last.binds[0].var = self.b.names.fresh(hint);
                self.done.retain(|(_, _, value)| *value != product);
                Atom::Var(last.binds[0].var)
            }
            Some(_) | None => product,
        }
    }

    /// The expression at the arguments.
    pub(crate) fn emitted(&mut self, expr: &Expr) -> Atom {
        let (args, out) = (self.args, self.out);
        expr.emit_with(args, &out, self)
    }

    pub(crate) fn times(&mut self, x: Atom, y: Atom, hint: &str) -> Atom {
        self.b.bind(hint, Ty::real(), Op::Prim(Prim::Mul, vec![x, y]))
    }

    pub(crate) fn power(&mut self, (op, args): (Prim, [Atom; 2])) -> Atom {
        self.prim(op, args.to_vec())
    }

    pub(crate) fn plus(&mut self, x: Atom, y: Atom, hint: &str) -> Atom {
        self.b.bind(hint, Ty::real(), Op::Prim(Prim::Add, vec![x, y]))
    }
}

impl Instance for Products<'_, '_> {
    type Value = Atom;

    fn prim(&mut self, op: Prim, args: Vec<Atom>) -> Atom {
        let known = self.done.iter().find(|(known, with, _)| *known == op && *with == args);
        if let Some((_, _, value)) = known {
            return *value;
        }
        let value = self.b.prim(op, args.clone());
        self.done.push((op, args, value));
        value
    }

    fn lit(&mut self, value: Scalar) -> Atom {
        Atom::Lit(value)
    }
}
