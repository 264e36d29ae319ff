//! Polynomials over integer variables: the normal form in which sizes and indices are compared. `(i + 3) - i` is 3.

use std::collections::BTreeMap;

use crate::Var;

/// A product of variables, sorted; empty for the constant term.
pub type Monomial = Vec<Var>;

/// Beyond this many terms a result is a variable of its own.
const TERMS: usize = 24;

/// A sum of integer multiples of products, without zeros. Coefficients are wider than the integers of the language, so that an inequality
/// can be derived from others without overflow; [`Poly::wrapped`] brings them back into range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Poly {
    terms: BTreeMap<Monomial, i128>,
}

impl Poly {
    /// A constant.
    pub fn constant(value: i64) -> Poly {
        let mut poly = Poly::default();
        poly.add(Vec::new(), i128::from(value));
        poly
    }

    /// One variable.
    pub fn var(var: Var) -> Poly {
        let mut poly = Poly::default();
        poly.add(vec![var], 1);
        poly
    }

    fn add(&mut self, monomial: Monomial, factor: i128) {
        if factor == 0 {
            return;
        }
        let sum = self.terms.get(&monomial).copied().unwrap_or(0).wrapping_add(factor);
        if sum == 0 {
            self.terms.remove(&monomial);
        } else {
            self.terms.insert(monomial, sum);
        }
    }

    /// `self + factor * other`
    #[must_use]
    pub fn plus(&self, other: &Poly, factor: i64) -> Poly {
        let mut sum = self.clone();
        for (monomial, k) in &other.terms {
            sum.add(monomial.clone(), k.wrapping_mul(i128::from(factor)));
        }
        sum
    }

    /// `self * other`
    #[must_use]
    pub fn times(&self, other: &Poly) -> Poly {
        let mut product = Poly::default();
        for (a, j) in &self.terms {
            for (b, k) in &other.terms {
                let mut monomial: Monomial = a.iter().chain(b).copied().collect();
                monomial.sort_unstable();
                product.add(monomial, j.wrapping_mul(*k));
            }
        }
        product
    }

    /// The polynomial with coefficients that are integers of the language: equal to it modulo 2⁶⁴.
    #[must_use]
    pub fn wrapped(&self) -> Poly {
        let mut result = Poly::default();
        for (monomial, k) in &self.terms {
            result.add(monomial.clone(), i128::from(*k as i64));
        }
        result
    }

    /// The polynomial with `value` for a variable.
    #[must_use]
    pub fn substitute(&self, var: Var, value: &Poly) -> Poly {
        if !self.mentions(var) {
            return self.clone();
        }
        let mut result = Poly::default();
        for (monomial, k) in &self.terms {
            if !monomial.contains(&var) {
                result.add(monomial.clone(), *k);
                continue;
            }
            let mut term = Poly::default();
            term.add(monomial.iter().copied().filter(|v| *v != var).collect(), *k);
            for _ in monomial.iter().filter(|v| **v == var) {
                term = term.times(value);
            }
            result = result.plus(&term, 1);
        }
        result
    }

    /// The terms, in a fixed order.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&Monomial, i128)> {
        self.terms.iter().map(|(m, k)| (m, *k))
    }

    /// The variables, each as often as it occurs.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.terms.keys().flatten().copied()
    }

    /// Does the variable occur?
    pub fn mentions(&self, var: Var) -> bool {
        self.vars().any(|v| v == var)
    }

    /// The value, if it has no variables.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).and_then(|k| i64::try_from(*k).ok()),
            _ => None,
        }
    }

    /// The variable, if it is just one.
    pub fn as_var(&self) -> Option<Var> {
        let (monomial, k) = self.terms.iter().next()?;
        (self.terms.len() == 1 && *k == 1 && monomial.len() == 1).then(|| monomial[0])
    }

    /// Few enough terms to be worth keeping?
    pub fn is_small(&self) -> bool {
        self.terms.len() <= TERMS && self.terms.keys().all(|m| m.len() <= 4)
    }

    /// The polynomial that a variable is multiplied with; none if it occurs in a higher power, or not at all.
    pub(crate) fn coefficient(&self, var: Var) -> Option<Poly> {
        let mut result = Poly::default();
        for (monomial, k) in self.terms.iter().filter(|(m, _)| m.contains(&var)) {
            let others: Monomial = monomial.iter().copied().filter(|v| *v != var).collect();
            if others.len() + 1 != monomial.len() {
                return None;
            }
            result.add(others, *k);
        }
        (!result.terms.is_empty()).then_some(result)
    }

    /// The variables that occur once, alone, with factor ±1, with that factor.
    pub(crate) fn lone(&self) -> impl Iterator<Item = (Var, i64)> + '_ {
        let occurs = |v: Var| self.terms.keys().filter(|m| m.contains(&v)).count();
        self.terms
            .iter()
            .filter(move |(m, k)| m.len() == 1 && matches!(k, 1 | -1) && occurs(m[0]) == 1)
            .map(|(m, k)| (m[0], *k as i64))
    }

    /// `self = 0` solved for a variable that occurs alone with this factor ±1.
    pub(crate) fn solved_for(&self, var: Var, factor: i64) -> Poly {
        let mut rest = self.clone();
        rest.terms.remove(&vec![var]);
        Poly::default().plus(&rest, -factor)
    }

    /// `self = 0` solved for its newest variable that occurs once, alone, with factor ±1.
    pub fn solve(&self) -> Option<(Var, Poly)> {
        let (var, k) = self.lone().max()?;
        Some((var, self.solved_for(var, k)))
    }
}
