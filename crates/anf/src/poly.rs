//! Polynomials over integer variables: the normal form in which sizes and indices are compared.
//! `(i + 3) - i` is 3.

use std::cmp::Ordering;

use smallvec::{SmallVec, smallvec};

use crate::Var;

/// A product of variables, sorted; empty for the constant term.
pub type Monomial = SmallVec<[Var; DEGREE]>;

/// Beyond this many terms a result is a variable of its own.
const TERMS: usize = 24;
/// Beyond this degree, too.
const DEGREE: usize = 4;

/// A sum of integer multiples of products, without zeros. Coefficients are wider than the integers
/// of the language, so that an inequality can be derived from others without overflow;
/// [`Poly::wrapped`] brings them back into range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Poly {
    /// In the order of the monomials.
    terms: Terms,
}

/// Most are short: a size, an index, a constant.
type Terms = SmallVec<[(Monomial, i128); 2]>;

impl Poly {
    /// A constant.
    pub fn constant(value: i64) -> Poly {
        Poly::of([(Monomial::new(), i128::from(value))])
    }

    /// One variable.
    pub fn var(var: Var) -> Poly {
        Poly::of([(smallvec![var], 1)])
    }

    /// The sum of terms in any order, of which several may have one monomial.
    fn of(terms: impl IntoIterator<Item = (Monomial, i128)>) -> Poly {
        let mut terms: Terms = terms.into_iter().collect();
        if !terms.is_sorted_by(|a, b| a.0 < b.0) {
            terms.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            terms.dedup_by(|next, sum| {
                let same = next.0 == sum.0;
                if same {
                    sum.1 = sum.1.wrapping_add(next.1);
                }
                same
            });
        }
        terms.retain(|(_, k)| *k != 0);
        Poly { terms }
    }

    /// `self + factor * other`
    #[must_use]
    pub fn plus(&self, other: &Poly, factor: i64) -> Poly {
        let factor = i128::from(factor);
        let mut terms = Terms::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let order = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) => x.0.cmp(&y.0),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let own = if order.is_le() { a.next() } else { None };
            let new = if order.is_ge() { b.next() } else { None };
            let scaled = new.map_or(0, |(_, k)| k.wrapping_mul(factor));
            let sum = own.map_or(0, |(_, k)| *k).wrapping_add(scaled);
            if let Some((monomial, _)) = own.or(new)
                && sum != 0
            {
                terms.push((monomial.clone(), sum));
            }
        }
        Poly { terms }
    }

    /// `self * other`
    #[must_use]
    pub fn times(&self, other: &Poly) -> Poly {
        let product = |(a, j): &(Monomial, i128), (b, k): &(Monomial, i128)| {
            let mut monomial: Monomial = a.iter().chain(b).copied().collect();
            monomial.sort_unstable();
            (monomial, j.wrapping_mul(*k))
        };
        Poly::of(self.terms.iter().flat_map(|a| other.terms.iter().map(move |b| product(a, b))))
    }

    /// The polynomial with coefficients that are integers of the language: equal to it modulo 2⁶⁴.
    #[must_use]
    pub fn wrapped(mut self) -> Poly {
        self.terms.iter_mut().for_each(|(_, k)| *k = i128::from(*k as i64));
        self.terms.retain(|(_, k)| *k != 0);
        self
    }

    /// The polynomial with `value` for a variable.
    #[must_use]
    pub fn substitute(&self, var: Var, value: &Poly) -> Poly {
        let mut terms = Terms::new();
        for (monomial, k) in &self.terms {
            let others: Monomial = monomial.iter().copied().filter(|v| *v != var).collect();
            let power = monomial.len() - others.len();
            let term = Poly { terms: smallvec![(others, *k)] };
            terms.extend((0..power).fold(term, |term, _| term.times(value)).terms);
        }
        Poly::of(terms)
    }

    /// The terms, in a fixed order.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&Monomial, i128)> {
        self.terms.iter().map(|(m, k)| (m, *k))
    }

    /// The variables, each as often as it occurs.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.terms.iter().flat_map(|(m, _)| m).copied()
    }

    /// Does the variable occur?
    pub fn mentions(&self, var: Var) -> bool {
        self.vars().any(|v| v == var)
    }

    /// The value, if it has no variables.
    pub fn as_constant(&self) -> Option<i64> {
        match &self.terms[..] {
            [] => Some(0),
            [(monomial, k)] if monomial.is_empty() => i64::try_from(*k).ok(),
            _ => None, // has variables
        }
    }

    /// The variable, if it is just one.
    pub fn as_var(&self) -> Option<Var> {
        let [(monomial, 1)] = &self.terms[..] else { return None };
        (monomial.len() == 1).then(|| monomial[0])
    }

    /// Few enough terms to be worth keeping?
    pub fn is_small(&self) -> bool {
        self.terms.len() <= TERMS && self.terms.iter().all(|(m, _)| m.len() <= DEGREE)
    }

    /// The polynomial that a variable is multiplied with; none if it occurs in a higher power, or
    /// not at all.
    pub(crate) fn coefficient(&self, var: Var) -> Option<Poly> {
        let mut terms = Terms::new();
        for (monomial, k) in self.terms.iter().filter(|(m, _)| m.contains(&var)) {
            let others: Monomial = monomial.iter().copied().filter(|v| *v != var).collect();
            if others.len() + 1 != monomial.len() {
                return None;
            }
            terms.push((others, *k));
        }
        (!terms.is_empty()).then(|| Poly::of(terms))
    }

    /// The variables that occur once, alone, with factor ±1, with that factor.
    pub(crate) fn lone(&self) -> impl Iterator<Item = (Var, i64)> + '_ {
        let occurs = |v: Var| self.terms.iter().filter(|(m, _)| m.contains(&v)).count();
        self.terms
            .iter()
            .filter(move |(m, k)| m.len() == 1 && matches!(k, 1 | -1) && occurs(m[0]) == 1)
            .map(|(m, k)| (m[0], *k as i64))
    }

    /// `self = 0` solved for a variable that occurs alone with this factor ±1.
    pub(crate) fn solved_for(&self, var: Var, factor: i64) -> Poly {
        let rest = self.terms.iter().filter(|(m, _)| m[..] != [var]);
        Poly {
            terms: rest.map(|(m, k)| (m.clone(), k.wrapping_mul(i128::from(-factor)))).collect(),
        }
    }

    /// `self = 0` solved for its newest variable that occurs once, alone, with factor ±1.
    pub fn solve(&self) -> Option<(Var, Poly)> {
        let (var, k) = self.lone().max()?;
        Some((var, self.solved_for(var, k)))
    }
}
