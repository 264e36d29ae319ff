//! `y = op(x₁, …, xₙ)`: both modes multiply by the primitive's one list of partial derivatives.
//!
//! ```text
//!   D→   ẏ  = Σₖ ∂ₖop(x, y) · ẋₖ
//!   D←   x̄ₖ += ∂ₖop(x, y) · ȳ
//! ```

use lambada_anf::{Atom, Op, Param, Ty, Var};
use lambada_prim::{Expr, Prim, Scalar};

use crate::absence::Presence;
use crate::cotangents::Cotangents;
use crate::multiples::multiple;
use crate::presence::There;
use crate::products::Products;
use crate::tangents::Tangents;
use crate::unbounded::is_unbounded;

impl Tangents<'_> {
    pub(crate) fn prim(&mut self, y: &Param, op: Prim, args: &[Atom]) {
        if self.cx.reach {
            return self.reach_prim(y, op, args);
        }
        let hint = self.hint(y.var);
        let mut rates: Vec<Option<Atom>> = args.iter().map(|arg| self.get(*arg)).collect();
        let whens: Vec<Option<Atom>> = args.iter().map(|arg| self.presence(*arg)).collect();
        let matters = self.absence.matters(y.var);
        let mut products = Products::new(&mut self.b, y, args);
        if let (Some((power, n)), Some(rate)) = (power(op, args), rates[0]) {
            let scaled = products.times(rate, Atom::real(n), &hint);
            let power = products.power(power);
            let tangent = products.times(power, scaled, &hint);
            let partial = op.partials()[0].as_ref();
            let tangent = match (whens[0], partial.filter(|p| is_unbounded(p, args))) {
                (Some(when), Some(_)) => products.only(when, tangent),
                (_, _) => tangent,
            };
            self.set(y.var, tangent);
            return self.is_there(y.var, whens[0].map(Presence::Whole));
        }
        if is_square(op, args)
            && let [Some(rate), other] = &mut rates[..]
        {
            *rate = products.times(*rate, Atom::real(2.0), &hint);
            *other = None;
        }
        let (mut sum, mut there) = (None, There::Never);
        for (partial, (rate, when)) in op.partials().iter().zip(rates.into_iter().zip(whens)) {
            let (Some(partial), Some(rate)) = (factor(partial), rate) else { continue };
            let mut term = products.by(partial, rate, &hint);
            if let Some(when) = when.filter(|_| is_unbounded(partial, args)) {
                term = products.only(when, term);
            }
            sum = Some(sum.map_or(term, |sum| products.plus(sum, term, &hint)));
            if matters {
                let by_partial = products.there_by(partial);
                let term = products.both(when.map_or(There::Always, There::When), by_partial);
                there = products.or(there, term);
            }
        }
        if let Some(sum) = sum {
            self.set(y.var, sum);
            self.is_there(y.var, there.known().map(Presence::Whole));
        }
    }
}

impl Cotangents<'_> {
    pub(crate) fn prim(&mut self, y: &Param, op: Prim, args: &[Atom]) {
        let Some(y_ct) = self.take(y.var) else { return };
        if let Some((x, factor)) = self.square(op, args) {
            return self.scaled_reverse(y, (x, x.into()), factor, y_ct);
        }
        if let (Some((power, n)), Some(x)) = (power(op, args), self.wants(args[0])) {
            let power = Products::new(&mut self.b, y, args).power(power);
            return self.scaled_reverse(y, (x, power), n, y_ct);
        }
        let hints: Vec<Option<String>> =
            args.iter().map(|arg| self.wants(*arg).map(|x| self.hint(x))).collect();
        let presence = self.presence_of_terms(y, op, args);
        let before = self.b.stms.len();
        let mut products = Products::new(&mut self.b, y, args);
        let mut terms = Vec::new();
        for (k, (partial, hint)) in op.partials().iter().zip(hints).enumerate() {
            if let (Some(partial), Some(hint)) = (factor(partial), hint) {
                terms.push((args[k], products.by(partial, y_ct, &hint), presence[k]));
            }
        }
        for (arg, term, when) in terms {
            let new = &self.b.stms[before..]; // of older ones it is known
            if let Some(multiple) = new.iter().find_map(|stm| multiple(stm, term)) {
                self.multiples.extend(term.as_var().map(|var| (var, multiple)));
            }
            self.add_when(arg, term, &Ty::real(), when);
        }
    }

    /// The presence of each argument's term.
    fn presence_of_terms(&mut self, y: &Param, op: Prim, args: &[Atom]) -> Vec<Option<Atom>> {
        let of = |(partial, arg): (&Option<Expr>, &Atom)| {
            let x = self.wants(*arg).filter(|x| self.facts.unbounded.matters(*x));
            let (Some(partial), Some(_)) = (factor(partial), x) else { return self.when };
            let by_partial = Products::new(&mut self.b, y, args).there_by(partial);
            self.presence_of_term(by_partial)
        };
        op.partials().iter().zip(args).map(of).collect()
    }

    /// Recognizes `x · x` and `kx · x`, whose two contributions are equal. Returns `x`, and the
    /// factor of `x · ȳ` in their sum.
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

    /// `x̄ += by · (factor · ȳ)`
    fn scaled_reverse(&mut self, y: &Param, (x, by): (Var, Atom), factor: f64, y_ct: Atom) {
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
        let term = self.bind_ct(x, &Ty::real(), Op::Prim(Prim::Mul, vec![by, scaled]));
        self.add(x.into(), term, &Ty::real());
    }
}

/// Whether it is `x · x`, whose two tangents are equal.
fn is_square(op: Prim, args: &[Atom]) -> bool {
    op == Prim::Mul && args[0] == args[1] && args[0].as_var().is_some()
}

/// Recognizes `x ** n` with a constant n, whose derivative is `x ** (n - 1) · n`. Returns the lower
/// power, and n, which stays a factor of the tangent or cotangent, where it meets other constants.
fn power(op: Prim, args: &[Atom]) -> Option<((Prim, [Atom; 2]), f64)> {
    let [x @ Atom::Var(_), Atom::Lit(n)] = args else { return None };
    match (op, *n) {
        // As in the table of partial derivatives: that of `x ** 0` is `x ** 0 · 0`.
        (Prim::PowInt, Scalar::Int(n)) => {
            let lower = if n == 0 { 0 } else { n.wrapping_sub(1) };
            Some(((op, [*x, Atom::int(lower)]), n as f64))
        }
        (Prim::Pow, Scalar::Real(n)) if n != 0.0 && n.is_finite() => {
            Some(((op, [*x, Atom::real(n - 1.0)]), n))
        }
        (_, _) => None, // no power, or one with a case of its own
    }
}

/// A partial derivative that is not zero.
pub(crate) fn factor(partial: &Option<Expr>) -> Option<&Expr> {
    partial.as_ref().filter(|expr| **expr != Expr::Lit(Scalar::Real(0.0)))
}
