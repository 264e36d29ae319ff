//! `y = op(x₁, …, xₙ)`: both modes multiply by the one list of partial derivatives that the primitive has.
//!
//! ```text
//!   D→   ẏ  = Σₖ ∂ₖop(x, y) · ẋₖ
//!   D←   x̄ₖ += ∂ₖop(x, y) · ȳ
//! ```

use lambada_anf::{Atom, Builder, Op, Param, Ty};
use lambada_prim::{Expr, Instance, Prim, Scalar};

use crate::cotangents::Cotangents;
use crate::tangents::Tangents;

impl Tangents<'_> {
    pub(crate) fn prim(&mut self, y: &Param, op: Prim, args: &[Atom]) {
        let hint = self.hint(y.var);
        let rates: Vec<Option<Atom>> = args.iter().map(|arg| self.get(*arg)).collect();
        let mut products = Products::new(&mut self.b, y, args);
        let mut sum: Option<Atom> = None;
        for (partial, rate) in op.partials().iter().zip(rates) {
            if let (Some(partial), Some(rate)) = (factor(partial), rate) {
                let term = products.by(partial, rate, &hint);
                sum = Some(sum.map_or(term, |sum| products.plus(sum, term, &hint)));
            }
        }
        if let Some(sum) = sum {
            self.set(y.var, sum);
        }
    }
}

impl Cotangents<'_> {
    pub(crate) fn prim(&mut self, y: &Param, op: Prim, args: &[Atom]) {
        let Some(y_ct) = self.take(y.var) else { return };
        let hints: Vec<Option<String>> =
            args.iter().map(|arg| self.wants(*arg).map(|x| self.hint(x))).collect();
        let mut products = Products::new(&mut self.b, y, args);
        let mut terms = Vec::new();
        for ((partial, arg), hint) in op.partials().iter().zip(args).zip(hints) {
            if let (Some(partial), Some(hint)) = (factor(partial), hint) {
                terms.push((*arg, products.by(partial, y_ct, &hint)));
            }
        }
        for (arg, term) in terms {
            self.add(arg, term, &Ty::real());
        }
    }
}

/// A partial derivative that is not zero.
fn factor(partial: &Option<Expr>) -> Option<&Expr> {
    partial.as_ref().filter(|expr| **expr != Expr::Lit(Scalar::Real(0.0)))
}

/// Products with the partial derivatives of one application. What several of them mention is computed once.
struct Products<'a, 'b> {
    b: &'a mut Builder<'b>,
    args: &'a [Atom],
    out: Atom,
    done: Vec<(Prim, Vec<Atom>, Atom)>,
}

impl<'a, 'b> Products<'a, 'b> {
    fn new(b: &'a mut Builder<'b>, out: &Param, args: &'a [Atom]) -> Self {
        Products { b, args, out: out.var.into(), done: Vec::new() }
    }

    /// `partial · d`, called `hint`.
    fn by(&mut self, partial: &Expr, d: Atom, hint: &str) -> Atom {
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

    fn plus(&mut self, x: Atom, y: Atom, hint: &str) -> Atom {
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
