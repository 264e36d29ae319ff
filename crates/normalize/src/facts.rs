//! What is known of integers: their polynomials, which are never negative, upper bounds of indices, and what `Check`s and conditions
//! have established. With it, size equations and bounds checks that hold evidently are folded away.
//!
//! Proofs are about unbounded integers, programs wrap. So only *exact* polynomials take part in inequalities: single variables, and
//! polynomials over sizes and indices, which are far too small to wrap.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Var};
use lambada_prim::{Prim, Scalar, ScalarTy};

use crate::emit::Emit;
use crate::sizes::Poly;

/// So many facts are tried for an inequality, the newest first.
const TRIED: usize = 24;

/// What holds in one block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    equal: HashMap<Var, Poly>,
    /// Each is at least 0.
    at_least_zero: Vec<Poly>,
}

/// What holds wherever the variables are in scope.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    polys: HashMap<Var, Poly>,
    nonnegative: HashSet<Var>,
    /// Inclusive upper bounds.
    upper: HashMap<Var, Vec<Poly>>,
    /// The operation that computes a truth value.
    truths: HashMap<Var, (Prim, Vec<Atom>)>,
    by_poly: HashMap<Poly, Var>,
}

impl Facts {
    /// The variable is never negative.
    pub fn nonnegative(&mut self, var: Var) {
        self.nonnegative.insert(var);
    }

    fn is_nonnegative(&self, var: Var) -> bool {
        self.nonnegative.contains(&var)
    }

    /// The polynomial of an atom, modulo no equations.
    fn raw(&self, atom: Atom) -> Poly {
        match atom {
            Atom::Lit(Scalar::Int(value)) => Poly::constant(value),
            Atom::Lit(Scalar::Real(_) | Scalar::Bool(_)) => Poly::default(),
            Atom::Var(var) => self.polys.get(&var).cloned().unwrap_or_else(|| Poly::var(var)),
        }
    }

    /// `var = op(args)`, emitted as it stands.
    pub fn define(&mut self, var: Var, op: Prim, args: &[Atom]) {
        if op.result() == ScalarTy::Bool {
            self.truths.insert(var, (op, args.to_vec()));
        }
        let poly = arithmetic(op, &args.iter().map(|a| self.raw(*a)).collect::<Vec<_>>());
        if let Some(poly) = poly.filter(Poly::is_small) {
            self.by_poly.entry(poly.clone()).or_insert(var);
            self.polys.insert(var, poly);
        }
        self.bounds(var, op, args);
    }

    fn bounds(&mut self, var: Var, op: Prim, args: &[Atom]) {
        let sign = |a: &Atom| match a {
            Atom::Lit(Scalar::Int(value)) => *value >= 0,
            Atom::Lit(_) => false,
            Atom::Var(v) => self.is_nonnegative(*v),
        };
        let positive = |a: &Atom| matches!(a, Atom::Lit(Scalar::Int(value)) if *value > 0);
        if op == Prim::MaxInt && args.iter().any(sign)
            || op == Prim::MinInt && args.iter().all(sign)
            || op == Prim::DivInt && sign(&args[0]) && positive(&args[1])
            || op == Prim::RemInt && positive(&args[1])
        {
            self.nonnegative(var);
        }
        if op == Prim::MinInt {
            self.upper.insert(var, args.iter().map(|a| self.raw(*a)).collect());
        } else if op == Prim::RemInt && positive(&args[1]) {
            self.upper.insert(var, vec![self.raw(args[1]).plus(&Poly::constant(1), -1)]);
        }
    }

    /// Can arithmetic on it not have wrapped?
    fn is_exact(&self, poly: &Poly) -> bool {
        let small = |k: i64| k.unsigned_abs() < 1 << 31;
        poly.as_var().is_some()
            || poly.as_constant().is_some()
            || poly.terms().all(|(m, k)| {
                small(k) && m.iter().all(|v| self.is_nonnegative(*v) || self.upper.contains_key(v))
            })
    }

    fn is_monomial_positive(&self, monomial: &[Var]) -> bool {
        monomial.iter().all(|v| self.is_nonnegative(*v))
    }

    /// Is the polynomial never negative? Indices are replaced by the bound that makes it smallest.
    fn never_negative(&self, poly: &Poly, fuel: usize) -> bool {
        if let Some(value) = poly.as_constant() {
            return value >= 0;
        }
        if poly.terms().all(|(m, k)| k >= 0 && self.is_monomial_positive(m)) {
            return true;
        }
        if fuel == 0 {
            return false;
        }
        let mut vars: Vec<Var> = poly.vars().filter(|v| self.upper.contains_key(v)).collect();
        vars.sort_unstable();
        vars.dedup();
        vars.into_iter().rev().any(|var| {
            let falls = poly.terms().filter(|(m, _)| m.contains(&var)).all(|(m, k)| {
                let others = m.iter().filter(|v| **v != var).count() + 1 == m.len();
                k < 0 && others && m.iter().all(|v| *v == var || self.is_nonnegative(*v))
            });
            falls
                && self.upper[&var]
                    .iter()
                    .any(|bound| self.never_negative(&poly.substitute(var, bound), fuel - 1))
        }) || self.drop_risen(poly).is_some_and(|rest| self.never_negative(&rest, fuel - 1))
    }

    /// Without one kind of term that is never negative.
    fn drop_risen(&self, poly: &Poly) -> Option<Poly> {
        let (monomial, _) = poly
            .terms()
            .rev()
            .find(|(m, k)| !m.is_empty() && *k > 0 && self.is_monomial_positive(m))?;
        let rest = poly.terms().filter(|(m, _)| *m != monomial);
        Some(rest.fold(Poly::default(), |sum, (m, k)| {
            let term = m.iter().fold(Poly::constant(k), |t, v| t.times(&Poly::var(*v)));
            sum.plus(&term, 1)
        }))
    }
}

/// The polynomial of an operation, if it is one.
pub(crate) fn arithmetic(op: Prim, args: &[Poly]) -> Option<Poly> {
    if op == Prim::AddInt {
        Some(args[0].plus(&args[1], 1))
    } else if op == Prim::SubInt {
        Some(args[0].plus(&args[1], -1))
    } else if op == Prim::MulInt {
        Some(args[0].times(&args[1]))
    } else if op == Prim::NegInt {
        Some(Poly::default().plus(&args[0], -1))
    } else {
        None
    }
}

impl Emit {
    /// The polynomial of an integer, modulo what has been checked.
    pub fn poly(&self, atom: Atom) -> Poly {
        self.modulo(self.facts.raw(atom))
    }

    fn modulo(&self, poly: Poly) -> Poly {
        self.modulo_up_to(poly, self.open.len())
    }

    /// Modulo what has been checked outside of the block of the given level.
    fn modulo_up_to(&self, mut poly: Poly, level: usize) -> Poly {
        let frames: Vec<_> = self
            .open
            .iter()
            .take(level)
            .map(|o| &o.frame.equal)
            .filter(|equal| !equal.is_empty())
            .collect();
        while !frames.is_empty() {
            let Some((var, value)) =
                poly.vars().find_map(|v| frames.iter().find_map(|f| f.get(&v)).map(|p| (v, p)))
            else {
                break;
            };
            poly = poly.substitute(var, value);
        }
        poly
    }

    /// Are the two sizes known to be equal?
    pub fn equal(&self, a: Atom, b: Atom) -> bool {
        a == b || self.poly(a) == self.poly(b)
    }

    /// Are the two sizes known to be equal outside of the block of the given level?
    pub fn equal_outside(&self, a: Atom, b: Atom, level: usize) -> bool {
        let poly = |atom| self.modulo_up_to(self.facts.raw(atom), level);
        poly(a) == poly(b)
    }

    /// Is `a - b - gap` known to be at least 0?
    pub fn exceeds(&self, a: Atom, b: Atom, gap: i64) -> bool {
        let (a, b) = (self.poly(a), self.poly(b));
        self.facts.is_exact(&a) && self.facts.is_exact(&b) && self.poly_exceeds(&a, &b, gap)
    }

    fn poly_exceeds(&self, a: &Poly, b: &Poly, gap: i64) -> bool {
        let difference = a.plus(b, -1).plus(&Poly::constant(gap), -1);
        if self.facts.never_negative(&difference, 4) {
            return true;
        }
        let facts = self.open.iter().rev().flat_map(|o| o.frame.at_least_zero.iter().rev());
        let related = facts.filter(|f| f.vars().any(|v| difference.mentions(v))).take(TRIED);
        let related: Vec<&Poly> = related.collect();
        related.into_iter().any(|fact| {
            self.facts.never_negative(&difference.plus(&self.modulo(fact.clone()), -1), 2)
        })
    }

    /// The index lies in `0 .. extent` wherever it is in scope.
    pub fn bounded(&mut self, index: Var, extent: Atom) {
        self.facts.nonnegative(index);
        let last = self.facts.raw(extent).plus(&Poly::constant(1), -1);
        self.note(last.plus(&Poly::var(index), -1));
        self.facts.upper.entry(index).or_default().push(last);
    }

    fn note(&mut self, at_least_zero: Poly) {
        let top = self.open.last_mut().expect("a block is open");
        top.frame.at_least_zero.push(at_least_zero);
    }

    /// From here on, in this block, the condition has the given truth value.
    pub fn learn(&mut self, cond: Atom, holds: bool) {
        let Some((op, args)) = cond.as_var().and_then(|v| self.facts.truths.get(&v)).cloned()
        else {
            return;
        };
        if op == Prim::Not {
            self.learn(args[0], !holds);
        } else if op == if holds { Prim::And } else { Prim::Or } {
            args.iter().for_each(|a| self.learn(*a, holds));
        } else if args.iter().any(|a| self.elem(*a) != ScalarTy::Int || !self.is_known_here(*a)) {
            // a comparison of other values, or of integers of another branch
        } else if op == if holds { Prim::EqInt } else { Prim::NeInt } {
            self.learn_equal(args[0], args[1]);
        } else if op == Prim::LtInt {
            if holds {
                self.learn_exceeds(args[1], args[0], 1)
            } else {
                self.learn_exceeds(args[0], args[1], 0)
            }
        } else if op == Prim::LeInt {
            if holds {
                self.learn_exceeds(args[1], args[0], 0)
            } else {
                self.learn_exceeds(args[0], args[1], 1)
            }
        }
    }

    /// The truth value that an `if` gives, where it is a short-circuited connective.
    pub fn connect(&mut self, var: Var, cond: Atom, then: Atom, otherwise: Atom) {
        if otherwise == Atom::bool(false) {
            self.facts.truths.insert(var, (Prim::And, vec![cond, then]));
        } else if then == Atom::bool(true) {
            self.facts.truths.insert(var, (Prim::Or, vec![cond, otherwise]));
        }
    }

    /// Is an integer a polynomial over variables in scope? Those of a branch that has been left are not.
    fn is_known_here(&self, atom: Atom) -> bool {
        self.poly(atom).vars().all(|v| self.in_scope(v))
    }

    fn learn_equal(&mut self, a: Atom, b: Atom) {
        if let Some((var, value)) = self.poly(a).plus(&self.poly(b), -1).solve() {
            let top = self.open.last_mut().expect("a block is open");
            top.frame.equal.insert(var, value);
        }
    }

    fn learn_exceeds(&mut self, a: Atom, b: Atom, gap: i64) {
        let (a, b) = (self.poly(a), self.poly(b));
        if self.facts.is_exact(&a) && self.facts.is_exact(&b) {
            self.note(a.plus(&b, -1).plus(&Poly::constant(gap), -1));
        }
    }

    /// Are the polynomial's variables all bound outside of the block of the given level?
    pub fn poly_is_outside(&self, poly: &Poly, level: usize) -> bool {
        poly.vars().all(|v| self.is_outside(v.into(), level))
    }

    /// An integer that is bound in the block of the given level, as it would be written outside of it.
    pub fn outer_form(&mut self, atom: Atom, level: usize) -> Option<Atom> {
        if self.is_outside(atom, level) {
            return Some(atom);
        }
        let poly = self.poly(atom);
        self.poly_is_outside(&poly, level)
            .then(|| self.outside(level - 1, |emit| emit.write(&poly)))
    }

    /// The polynomial as code.
    pub fn write(&mut self, poly: &Poly) -> Atom {
        if let Some(value) = poly.as_constant() {
            return Atom::int(value);
        }
        if let Some(atom) = self.written(poly) {
            return atom;
        }
        let mut sum: Option<Atom> = None;
        for (monomial, k) in poly.terms().collect::<Vec<_>>().into_iter().rev() {
            let factors = monomial
                .iter()
                .map(|v| Atom::from(*v))
                .chain((k != 1 || monomial.is_empty()).then_some(Atom::int(k)));
            let term = factors
                .collect::<Vec<_>>()
                .into_iter()
                .reduce(|a, b| self.prim(Prim::MulInt, &[a, b]))
                .unwrap_or(Atom::int(k));
            sum = Some(sum.map_or(term, |s| self.prim(Prim::AddInt, &[s, term])));
        }
        sum.unwrap_or(Atom::int(0))
    }

    /// A variable in scope that holds the value of the polynomial.
    pub fn written(&self, poly: &Poly) -> Option<Atom> {
        let var = poly.as_var().or_else(|| self.facts.by_poly.get(poly).copied())?;
        self.in_scope(var).then_some(var.into())
    }

    /// Remembers the variable that holds the value of the polynomial.
    pub fn remember(&mut self, poly: Poly, var: Var) {
        self.facts.by_poly.insert(poly, var);
    }
}

impl Emit {
    /// Is `0 <= i < size` known?
    pub fn is_index(&self, i: Atom, size: Atom) -> bool {
        let (i, size) = (self.poly(i), self.poly(size));
        // Both bounds together: then the polynomial of the index has not wrapped either.
        self.facts.is_exact(&size)
            && self.poly_exceeds(&i, &Poly::default(), 0)
            && self.poly_exceeds(&size, &i, 1)
    }
}
