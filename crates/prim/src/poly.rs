//! Polynomials over integer variables: the normal form in which sizes and indices are compared.
//! `(i + 3) - i` is 3.

use std::cmp::Ordering;

use smallvec::{SmallVec, smallvec};

/// A product of variables, sorted; empty for the constant term.
pub type Monomial<V> = SmallVec<[V; 4]>;

/// An integer whose arithmetic wraps around: `i64` is that of the language; in `i128`, an
/// inequality can be derived from others without overflow.
pub trait Coefficient: Copy + Ord + From<i64> + TryInto<i64> {
    /// `self + a * b`
    #[must_use]
    fn plus_product(self, a: Self, b: Self) -> Self;
}

impl Coefficient for i64 {
    fn plus_product(self, a: i64, b: i64) -> i64 {
        self.wrapping_add(a.wrapping_mul(b))
    }
}

impl Coefficient for i128 {
    fn plus_product(self, a: i128, b: i128) -> i128 {
        self.wrapping_add(a.wrapping_mul(b))
    }
}

/// A sum of multiples of products, without zeros.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Poly<V, K> {
    /// In the order of the monomials.
    terms: Terms<V, K>,
}

/// Most are short: a size, an index, a constant.
type Terms<V, K> = SmallVec<[(Monomial<V>, K); 2]>;

impl<V, K> Default for Poly<V, K> {
    fn default() -> Self {
        Poly { terms: Terms::new() }
    }
}

impl<V: Copy + Ord, K: Coefficient> Poly<V, K> {
    /// A constant.
    pub fn constant(value: i64) -> Self {
        Poly::of([(Monomial::new(), value.into())])
    }

    /// One variable.
    pub fn var(var: V) -> Self {
        Poly::of([(smallvec![var], 1.into())])
    }

    /// The sum of terms in any order, of which several may have one monomial.
    fn of(terms: impl IntoIterator<Item = (Monomial<V>, K)>) -> Self {
        let mut terms: Terms<V, K> = terms.into_iter().collect();
        if !terms.is_sorted_by(|a, b| a.0 < b.0) {
            terms.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            terms.dedup_by(|next, sum| {
                let same = next.0 == sum.0;
                if same {
                    sum.1 = sum.1.plus_product(next.1, 1.into());
                }
                same
            });
        }
        terms.retain(|(_, k)| *k != 0.into());
        Poly { terms }
    }

    /// `self + factor * other`
    #[must_use]
    pub fn plus(&self, other: &Self, factor: i64) -> Self {
        let (zero, factor) = (K::from(0), K::from(factor));
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
            let [k, other] = [own, new].map(|term| term.map_or(zero, |(_, k)| *k));
            let sum = k.plus_product(other, factor);
            if let Some((monomial, _)) = own.or(new)
                && sum != zero
            {
                terms.push((monomial.clone(), sum));
            }
        }
        Poly { terms }
    }

    /// `self * other`
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let product = |(a, j): &(Monomial<V>, K), (b, k): &(Monomial<V>, K)| {
            let mut monomial: Monomial<V> = a.iter().chain(b).copied().collect();
            monomial.sort_unstable();
            (monomial, K::from(0).plus_product(*j, *k))
        };
        Poly::of(self.terms.iter().flat_map(|a| other.terms.iter().map(move |b| product(a, b))))
    }

    /// Whether the product with another one has at most 64 terms and 8 factors in each: nobody
    /// writes a longer size, and numbers computed step by step would make polynomials that grow
    /// without end.
    pub fn has_short_product(&self, other: &Self) -> bool {
        let terms = self.terms.len().max(1) * other.terms.len().max(1);
        terms <= 64 && self.degree() + other.degree() <= 8
    }

    /// The polynomial with polynomials for some of its variables.
    #[must_use]
    pub fn substitute(&self, mut of: impl FnMut(V) -> Option<Self>) -> Self {
        let mut terms = Terms::new();
        for (monomial, k) in &self.terms {
            let (mut kept, mut values) = (Monomial::new(), Vec::new());
            monomial.iter().for_each(|v| match of(*v) {
                Some(value) => values.push(value),
                None => kept.push(*v),
            });
            let term = Poly { terms: smallvec![(kept, *k)] };
            terms.extend(values.iter().fold(term, |term, value| term.times(value)).terms);
        }
        Poly::of(terms)
    }

    /// The terms, in a fixed order.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&Monomial<V>, K)> + ExactSizeIterator {
        self.terms.iter().map(|(m, k)| (m, *k))
    }

    /// The variables, each as often as it occurs.
    pub fn vars(&self) -> impl Iterator<Item = V> + '_ {
        self.terms.iter().flat_map(|(m, _)| m).copied()
    }

    /// Whether the variable occurs.
    pub fn mentions(&self, var: V) -> bool {
        self.vars().any(|v| v == var)
    }

    /// The value, if it has no variables.
    pub fn as_constant(&self) -> Option<i64> {
        match &self.terms[..] {
            [] => Some(0),
            [(monomial, k)] if monomial.is_empty() => (*k).try_into().ok(),
            _ => None, // has variables
        }
    }

    /// The variable, if it is just one.
    pub fn as_var(&self) -> Option<V> {
        let [(monomial, k)] = &self.terms[..] else { return None };
        (monomial.len() == 1 && *k == 1.into()).then(|| monomial[0])
    }

    /// The most factors of a term.
    pub fn degree(&self) -> usize {
        self.terms.iter().map(|(m, _)| m.len()).max().unwrap_or(0)
    }

    /// The polynomial that a variable is multiplied with; none if it occurs in a higher power, or
    /// not at all.
    pub fn coefficient(&self, var: V) -> Option<Self> {
        let mut terms = Terms::new();
        for (monomial, k) in self.terms.iter().filter(|(m, _)| m.contains(&var)) {
            let others: Monomial<V> = monomial.iter().copied().filter(|v| *v != var).collect();
            if others.len() + 1 != monomial.len() {
                return None;
            }
            terms.push((others, *k));
        }
        (!terms.is_empty()).then(|| Poly::of(terms))
    }

    /// The number of times that it is another polynomial.
    pub fn multiple_of(&self, other: &Self) -> Option<i64> {
        let (own, one) = (self.terms.first()?.1.try_into().ok()?, other.terms.first()?.1);
        let times = i64::checked_div(own, one.try_into().ok()?)?;
        let rest = self.plus(other, times.checked_neg()?);
        rest.terms.is_empty().then_some(times)
    }

    /// The variables that occur once, alone, with factor ±1, with that factor.
    pub fn lone(&self) -> impl Iterator<Item = (V, i64)> + '_ {
        let occurs = |v: V| self.terms.iter().filter(|(m, _)| m.contains(&v)).count();
        let unit = move |(m, k): &(Monomial<V>, K)| {
            let factor = [1, -1].into_iter().find(|unit| *k == K::from(*unit));
            factor.filter(|_| m.len() == 1 && occurs(m[0]) == 1).map(|factor| (m[0], factor))
        };
        self.terms.iter().filter_map(unit)
    }

    /// `self = 0` solved for a variable that occurs alone with this factor ±1.
    #[must_use]
    pub fn solved_for(&self, var: V, factor: i64) -> Self {
        Poly::default().plus(&self.plus(&Poly::var(var), -factor), -factor)
    }

    /// `self = 0` solved for its newest variable that occurs once, alone, with factor ±1.
    pub fn solve(&self) -> Option<(V, Self)> {
        let (var, k) = self.lone().max()?;
        Some((var, self.solved_for(var, k)))
    }
}

impl<V: Copy + Ord> Poly<V, i128> {
    /// The polynomial with coefficients that are integers of the language: equal to it modulo 2⁶⁴.
    #[must_use]
    pub fn wrapped(mut self) -> Self {
        self.terms.iter_mut().for_each(|(_, k)| *k = i128::from(*k as i64));
        self.terms.retain(|(_, k)| *k != 0);
        self
    }
}

impl<V: Copy + Ord> Poly<V, i64> {
    /// `self / divisor`, if that is exact in every coefficient.
    pub fn divided(&self, divisor: i64) -> Option<Self> {
        let quotient = |(m, k): &(Monomial<V>, i64)| {
            (k.checked_rem(divisor)? == 0).then(|| (m.clone(), k.wrapping_div(divisor)))
        };
        let terms = self.terms.iter().map(quotient).collect::<Option<_>>()?;
        (divisor != 0).then_some(Poly { terms })
    }
}

#[cfg(test)]
mod tests {
    type Poly = super::Poly<u32, i64>;

    fn x() -> Poly {
        Poly::var(0)
    }

    fn y() -> Poly {
        Poly::var(1)
    }

    #[test]
    fn arithmetic_is_that_of_polynomials() {
        let sum = x().plus(&y(), 1);
        let expanded = x().times(&x()).plus(&x().times(&y()), 2).plus(&y().times(&y()), 1);
        assert_eq!(sum.times(&sum), expanded);
        assert_eq!(x().plus(&x(), -1), Poly::constant(0));
        let four = Poly::default().plus(&x(), 4);
        assert_eq!(four.divided(2), Some(x().plus(&x(), 1)));
        assert_eq!(four.divided(3), None);
    }

    #[test]
    fn equations_are_solved_for_linear_variables_only() {
        let equation = x().times(&x()).plus(&x(), 1).plus(&y(), 1);
        assert_eq!(equation.lone().collect::<Vec<_>>(), [(1, 1)]);
        assert_eq!(
            equation.solved_for(1, 1),
            Poly::default().plus(&x().times(&x()).plus(&x(), 1), -1)
        );
    }

    #[test]
    fn substitution_evaluates() {
        let p = x().times(&y()).plus(&Poly::constant(1), 1);
        let value = p.substitute(|var| Some(Poly::constant(i64::from(var) + 2)));
        assert_eq!(value.as_constant(), Some(7));
    }
}
