//! Polynomials over integer variables: the normal form in which sizes and indices are compared. `(i + 3) - i` is 3.

use std::collections::BTreeMap;

use lambada_anf::Var;

/// A product of variables, sorted; empty for the constant term.
pub(crate) type Monomial = Vec<Var>;

/// Beyond this many terms a result is a variable of its own.
const TERMS: usize = 24;

/// A sum of integer multiples of products, without zeros. Coefficients wrap, as the integers of the language do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Poly {
    terms: BTreeMap<Monomial, i64>,
}

impl Poly {
    /// A constant.
    pub fn constant(value: i64) -> Poly {
        let mut poly = Poly::default();
        poly.add(Vec::new(), value);
        poly
    }

    /// One variable.
    pub fn var(var: Var) -> Poly {
        let mut poly = Poly::default();
        poly.add(vec![var], 1);
        poly
    }

    fn add(&mut self, monomial: Monomial, factor: i64) {
        let sum = self.terms.get(&monomial).copied().unwrap_or(0).wrapping_add(factor);
        if sum == 0 {
            self.terms.remove(&monomial);
        } else {
            self.terms.insert(monomial, sum);
        }
    }

    /// `self + factor * other`
    pub fn plus(&self, other: &Poly, factor: i64) -> Poly {
        let mut sum = self.clone();
        for (monomial, k) in &other.terms {
            sum.add(monomial.clone(), k.wrapping_mul(factor));
        }
        sum
    }

    /// `self * other`
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

    /// The polynomial with `value` for a variable.
    pub fn substitute(&self, var: Var, value: &Poly) -> Poly {
        if !self.mentions(var) {
            return self.clone();
        }
        let mut result = Poly::default();
        for (monomial, k) in &self.terms {
            let term = monomial.iter().fold(Poly::constant(*k), |t, v| {
                t.times(&if *v == var { value.clone() } else { Poly::var(*v) })
            });
            result = result.plus(&term, 1);
        }
        result
    }

    /// The terms, in a fixed order.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&Monomial, i64)> {
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
            1 => self.terms.get(&Vec::new()).copied(),
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

    /// `self = 0` solved for its newest variable that occurs once, alone, with factor ±1.
    pub fn solve(&self) -> Option<(Var, Poly)> {
        let occurs = |v: Var| self.terms.keys().filter(|m| m.contains(&v)).count();
        let candidates = self
            .terms
            .iter()
            .filter(|(m, k)| m.len() == 1 && matches!(k, 1 | -1) && occurs(m[0]) == 1);
        let (var, k) = candidates.map(|(m, k)| (m[0], *k)).max()?;
        let mut rest = self.clone();
        rest.terms.remove(&vec![var]);
        Some((var, Poly::default().plus(&rest, -k)))
    }
}
