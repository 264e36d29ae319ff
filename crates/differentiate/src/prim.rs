//! `y = op(x₁, …, xₙ)`: both modes multiply by the one list of partial derivatives that the primitive has.
//!
//! ```text
//!   D→   ẏ  = Σₖ ∂ₖop(x, y) · ẋₖ
//!   D←   x̄ₖ += ∂ₖop(x, y) · ȳ
//! ```

use lambada_anf::{Atom, Builder, Op, Param, Ty, Var};
use lambada_prim::{Expr, Instance, Prim, Scalar};

use crate::cotangents::Cotangents;
use crate::multiples::multiple;
use crate::tangents::Tangents;

impl Tangents<'_> {
    pub(crate) fn prim(&mut self, y: &Param, op: Prim, args: &[Atom]) {
        if self.cx.reach {
            return self.reach_prim(y, op, args);
        }
        let hint = self.hint(y.var);
        let mut rates: Vec<Option<Atom>> = args.iter().map(|arg| self.get(*arg)).collect();
        let mut products = Products::new(&mut self.b, y, args);
        if is_square(op, args)
            && let [Some(rate), other] = &mut rates[..]
        {
            *rate = products.doubled(*rate, &hint);
            *other = None;
        }
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
        if let Some((x, factor)) = self.square(op, args) {
            return self.square_reverse(y, x, factor, y_ct);
        }
        let hints: Vec<Option<String>> =
            args.iter().map(|arg| self.wants(*arg).map(|x| self.hint(x))).collect();
        let before = self.b.stms.len();
        let mut products = Products::new(&mut self.b, y, args);
        let mut terms = Vec::new();
        for ((partial, arg), hint) in op.partials().iter().zip(args).zip(hints) {
            if let (Some(partial), Some(hint)) = (factor(partial), hint) {
                terms.push((*arg, products.by(partial, y_ct, &hint)));
            }
        }
        for (arg, term) in terms {
            let new = &self.b.stms[before..]; // of older ones it is known
            if let Some(multiple) = new.iter().find_map(|stm| multiple(stm, term)) {
                self.multiples.extend(term.as_var().map(|var| (var, multiple)));
            }
            self.add(arg, term, &Ty::real());
        }
    }

    /// Is it `x · x` or `kx · x`, whose two contributions are the same? Gives `x`, and the factor of `x · ȳ` in their sum.
    fn square(&mut self, op: Prim, args: &[Atom]) -> Option<(Var, f64)> {
        let (Prim::Mul, [a, b]) = (op, args) else { return None };
        let multiple = |a: &Atom| a.as_var().and_then(|a| self.multiples.get(&a));
        let twice = |a: &Atom, b: &Atom| multiple(a).filter(|(x, _)| x == b).map(|(_, k)| *k);
        let same = if a == b { Some((b, 1.0)) } else { None };
        let (x, k) =
            same.or_else(|| twice(a, b).map(|k| (b, k))).or_else(|| twice(b, a).map(|k| (a, k)))?;
        let factor = self.folded(k, 2.0);
        Some((self.wants(*x)?, factor)).filter(|(_, factor)| factor.is_finite())
    }

    fn folded(&mut self, a: f64, b: f64) -> f64 {
        match self.b.names.fold(Prim::Mul, &[Scalar::Real(a), Scalar::Real(b)]) {
            Scalar::Real(product) => product,
            Scalar::Int(_) | Scalar::Bool(_) => unreachable!("a product of reals is a real"),
        }
    }

    /// `x̄ += x · (factor · ȳ)`
    fn square_reverse(&mut self, y: &Param, x: Var, factor: f64, y_ct: Atom) {
        let known = y_ct.as_var().and_then(|var| self.multiples.get(&var)).copied();
        let both = known.map(|(d, k)| (d, self.folded(k, factor))).filter(|(_, k)| k.is_finite());
        let (d, k) = both.unwrap_or((y_ct, factor));
        let scaled = match k {
            1.0 => d,
            -1.0 => self.bind_ct(y.var, &Ty::real(), Op::Prim(Prim::Neg, vec![d])),
            _ => {
                let product = Op::Prim(Prim::Mul, vec![d, Atom::real(k)]);
                self.bind_ct(y.var, &Ty::real(), product)
            }
        };
        let term = self.bind_ct(x, &Ty::real(), Op::Prim(Prim::Mul, vec![x.into(), scaled]));
        self.add(x.into(), term, &Ty::real());
    }
}

/// Is it `x · x`, whose two tangents are the same?
fn is_square(op: Prim, args: &[Atom]) -> bool {
    op == Prim::Mul && args[0] == args[1] && args[0].as_var().is_some()
}

/// A partial derivative that is not zero.
pub(crate) fn factor(partial: &Option<Expr>) -> Option<&Expr> {
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

    fn doubled(&mut self, x: Atom, hint: &str) -> Atom {
        self.b.bind(hint, Ty::real(), Op::Prim(Prim::Mul, vec![x, Atom::real(2.0)]))
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
