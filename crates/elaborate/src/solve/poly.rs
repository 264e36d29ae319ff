//! Polynomials with integer coefficients over size atoms: what inference knows of a size.

/// A size that is not a number; see [`super::size::Sizes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Atom(pub u32);

/// A sum of monomials, sorted, none with coefficient 0. Arithmetic wraps, as that of `int` does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Poly(Vec<(Vec<Atom>, i64)>);

impl Poly {
    /// A number.
    pub fn constant(value: i64) -> Poly {
        if value == 0 { Poly::default() } else { Poly(vec![(Vec::new(), value)]) }
    }

    /// An atom.
    pub fn atom(atom: Atom) -> Poly {
        Poly(vec![(vec![atom], 1)])
    }

    /// The number, if it is one.
    pub fn as_constant(&self) -> Option<i64> {
        match &self.0[..] {
            [] => Some(0),
            [(atoms, value)] if atoms.is_empty() => Some(*value),
            _ => None,
        }
    }

    /// The atom, if it is just one.
    pub fn as_atom(&self) -> Option<Atom> {
        match &self.0[..] {
            [(atoms, 1)] if atoms.len() == 1 => Some(atoms[0]),
            _ => None,
        }
    }

    /// The monomials: a product of atoms, and how many times.
    pub fn monomials(&self) -> &[(Vec<Atom>, i64)] {
        &self.0
    }

    /// All atoms, with repetitions.
    pub fn atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        self.0.iter().flat_map(|(atoms, _)| atoms.iter().copied())
    }

    fn from_monomials(mut monomials: Vec<(Vec<Atom>, i64)>) -> Poly {
        monomials.sort_unstable();
        let mut sum: Vec<(Vec<Atom>, i64)> = Vec::with_capacity(monomials.len());
        for (atoms, count) in monomials {
            match sum.last_mut() {
                Some((last, total)) if *last == atoms => *total = total.wrapping_add(count),
                _ => sum.push((atoms, count)),
            }
        }
        sum.retain(|(_, count)| *count != 0);
        Poly(sum)
    }

    /// Are sum and product with the other polynomial of a reasonable size?
    pub fn is_simple_with(&self, other: &Poly) -> bool {
        const TERMS: usize = 64;
        const DEGREE: usize = 8;
        let degree = |p: &Poly| p.0.iter().map(|(atoms, _)| atoms.len()).max().unwrap_or(0);
        self.0.len().max(1) * other.0.len().max(1) <= TERMS
            && degree(self) + degree(other) <= DEGREE
    }

    /// `self + other`
    pub fn plus(&self, other: &Poly) -> Poly {
        Poly::from_monomials(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// `self - other`
    pub fn minus(&self, other: &Poly) -> Poly {
        self.plus(&other.scale(-1))
    }

    /// `factor * self`
    pub fn scale(&self, factor: i64) -> Poly {
        Poly::from_monomials(
            self.0
                .iter()
                .map(|(atoms, count)| (atoms.clone(), count.wrapping_mul(factor)))
                .collect(),
        )
    }

    /// `self * other`
    pub fn times(&self, other: &Poly) -> Poly {
        let product = |(a, m): &(Vec<Atom>, i64), (b, n): &(Vec<Atom>, i64)| {
            let mut atoms: Vec<Atom> = a.iter().chain(b).copied().collect();
            atoms.sort_unstable();
            (atoms, m.wrapping_mul(*n))
        };
        Poly::from_monomials(
            self.0.iter().flat_map(|a| other.0.iter().map(move |b| product(a, b))).collect(),
        )
    }

    /// `self / divisor`, if that is exact in every coefficient.
    pub fn divided(&self, divisor: i64) -> Option<Poly> {
        let exact =
            divisor != 0 && self.0.iter().all(|(_, count)| count.checked_rem(divisor) == Some(0));
        exact.then(|| {
            Poly(
                self.0
                    .iter()
                    .map(|(atoms, count)| (atoms.clone(), count.wrapping_div(divisor)))
                    .collect(),
            )
        })
    }

    /// Every atom replaced by a polynomial.
    pub fn substitute(&self, of: &mut impl FnMut(Atom) -> Poly) -> Poly {
        let mut sum = Poly::default();
        for (atoms, count) in &self.0 {
            let product = atoms
                .iter()
                .fold(Poly::constant(*count), |product, atom| product.times(&of(*atom)));
            sum = sum.plus(&product);
        }
        sum
    }

    /// The atoms that occur once in the whole polynomial, alone in their monomial and with
    /// coefficient ±1, and that coefficient: the equation `self = 0` can be solved for any of them.
    pub fn solvable(&self) -> impl Iterator<Item = (Atom, i64)> + '_ {
        let alone = self.0.iter().filter(|(atoms, count)| atoms.len() == 1 && count.abs() == 1);
        alone
            .map(|(atoms, count)| (atoms[0], *count))
            .filter(|(atom, _)| self.atoms().filter(|a| a == atom).count() == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x() -> Poly {
        Poly::atom(Atom(0))
    }

    fn y() -> Poly {
        Poly::atom(Atom(1))
    }

    #[test]
    fn arithmetic_is_that_of_polynomials() {
        let square = x().plus(&y()).times(&x().plus(&y()));
        let expanded = x().times(&x()).plus(&x().times(&y()).scale(2)).plus(&y().times(&y()));
        assert_eq!(square, expanded);
        assert_eq!(x().minus(&x()), Poly::constant(0));
        assert_eq!(x().scale(4).divided(2), Some(x().scale(2)));
        assert_eq!(x().scale(3).divided(2), None);
    }

    #[test]
    fn equations_are_solved_for_linear_atoms_only() {
        let equation = x().times(&x()).plus(&x()).plus(&y());
        assert_eq!(equation.solvable().collect::<Vec<_>>(), vec![(Atom(1), 1)]);
    }

    #[test]
    fn substitution_evaluates() {
        let p = x().times(&y()).plus(&Poly::constant(1));
        let value = p.substitute(&mut |atom| Poly::constant(i64::from(atom.0) + 2));
        assert_eq!(value.as_constant(), Some(7));
    }
}
