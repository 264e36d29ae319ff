//! Sizes: atoms, and equations between polynomials of them.
//!
//! An equation is *proved*, *solved* (a flexible atom stands for the rest), *refuted* (the sides
//! differ by a nonzero constant, or are two size variables of one signature) or *undecided*: then
//! it is accepted here, and the program checks it when it runs.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_prim::floor_div;

/// An unknown or symbolic size; see [`Sizes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Atom(pub u32);

/// A size. Arithmetic wraps, as that of `int` does.
pub(crate) type Poly = lambada_prim::Poly<Atom, i64>;

/// Meaning of an atom.
#[derive(Clone, Debug)]
pub(crate) enum AtomKind {
    /// Not solved yet; generalized if known only at a deeper level.
    Flexible(u32),
    /// Solved.
    Solved(Poly),
    /// A size variable of a signature; the number tells signatures apart.
    Named(Rc<str>, u32),
    /// The value of an `int` variable.
    Value(Rc<str>),
    /// An unknown number, the same wherever the atom occurs.
    Opaque,
    /// The floor of a quotient.
    Quotient(Poly, Poly),
}

#[derive(Clone, Debug)]
struct AtomInfo {
    kind: AtomKind,
    /// Moment at which its scope was left, if it was. From then on each occurrence may be another
    /// number, so nothing is proved or refuted of it.
    closed: Option<Moment>,
}

/// A point in time, for comparing.
pub(crate) type Moment = usize;

/// The answer to an equation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// It holds, or holds now that an atom is solved.
    Holds,
    /// It cannot hold.
    Differs,
    /// These two size variables of one signature would have to be equal.
    Clash(Rc<str>, Rc<str>),
    /// Perhaps.
    Undecided,
}

/// The floor of `a / b`, if it is a polynomial.
fn known_quotient(a: &Poly, b: &Poly) -> Option<Poly> {
    let divisor = b.as_constant().filter(|d| *d != 0)?;
    a.as_constant()
        .map(|value| Poly::constant(floor_div(value, divisor)))
        .or_else(|| a.divided(divisor))
}

/// All atoms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    entries: Vec<AtomInfo>,
    now: Moment,
    quotients: HashMap<(Poly, Poly), Atom>,
}

impl Sizes {
    /// A new atom.
    pub fn fresh(&mut self, kind: AtomKind) -> Atom {
        self.entries.push(AtomInfo { kind, closed: None });
        Atom((self.entries.len() - 1) as u32)
    }

    /// Meaning of an atom.
    pub fn kind(&self, atom: Atom) -> &AtomKind {
        &self.entries[atom.0 as usize].kind
    }

    /// Marks the scope of the atom as left.
    pub fn close(&mut self, atom: Atom) {
        self.now += 1;
        self.entries[atom.0 as usize].closed.get_or_insert(self.now);
    }

    /// The current moment.
    pub fn now(&self) -> Moment {
        self.now
    }

    /// Whether the scope of an atom in it had been left at this moment.
    pub fn was_closed(&self, poly: &Poly, at: Moment) -> bool {
        let mut atoms = Vec::new();
        self.atoms(poly, &mut atoms);
        let closed = |atom: &Atom| self.entries[atom.0 as usize].closed.is_some_and(|t| t <= at);
        atoms.iter().any(closed)
    }

    /// Solves a flexible atom by a polynomial.
    pub fn solve(&mut self, atom: Atom, value: Poly) {
        debug_assert!(matches!(self.kind(atom), AtomKind::Flexible(_)));
        self.entries[atom.0 as usize].kind = AtomKind::Solved(value);
    }

    /// The floor of `a / b`.
    pub fn quotient(&mut self, a: &Poly, b: &Poly) -> Poly {
        if let Some(known) = known_quotient(a, b) {
            return known;
        }
        let key = (a.clone(), b.clone());
        if let Some(atom) = self.quotients.get(&key) {
            return Poly::var(*atom);
        }
        let atom = self.fresh(AtomKind::Quotient(a.clone(), b.clone()));
        self.quotients.insert(key, atom);
        Poly::var(atom)
    }

    /// The polynomial with solved atoms substituted.
    pub fn resolve(&mut self, poly: &Poly) -> Poly {
        if !poly
            .vars()
            .any(|atom| matches!(self.kind(atom), AtomKind::Solved(_) | AtomKind::Quotient(..)))
        {
            return poly.clone();
        }
        self.replace(poly, &mut |_| None)
    }

    /// The polynomial with solved atoms substituted and others replaced by `by`.
    pub fn replace(&mut self, poly: &Poly, by: &mut impl FnMut(Atom) -> Option<Poly>) -> Poly {
        poly.substitute(|atom| self.replace_atom(atom, by))
    }

    fn replace_atom(
        &mut self,
        atom: Atom,
        by: &mut impl FnMut(Atom) -> Option<Poly>,
    ) -> Option<Poly> {
        match self.kind(atom).clone() {
            AtomKind::Solved(value) => Some(self.replace(&value, by)),
            AtomKind::Quotient(a, b) => {
                let (a2, b2) = (self.replace(&a, by), self.replace(&b, by));
                (a2 != a || b2 != b).then(|| self.quotient(&a2, &b2))
            }
            AtomKind::Flexible(_) | AtomKind::Named(..) | AtomKind::Value(_) | AtomKind::Opaque => {
                by(atom)
            }
        }
    }

    /// Like `resolve`, without access for writing.
    pub fn expand(&self, poly: &Poly) -> Poly {
        poly.substitute(|atom| {
            if let AtomKind::Solved(value) = self.kind(atom) {
                return Some(self.expand(value));
            }
            let AtomKind::Quotient(a, b) = self.kind(atom) else { return None };
            known_quotient(&self.expand(a), &self.expand(b))
        })
    }

    /// Makes an atom known only inside of a definition unknown.
    pub fn forget(&mut self, atom: Atom) {
        self.entries[atom.0 as usize].kind = AtomKind::Opaque;
    }

    /// All atoms of a resolved polynomial, with those inside quotients.
    pub fn atoms(&self, poly: &Poly, into: &mut Vec<Atom>) {
        for atom in poly.vars() {
            match self.kind(atom) {
                AtomKind::Quotient(a, b) => {
                    self.atoms(a, into);
                    self.atoms(b, into);
                }
                AtomKind::Solved(value) => self.atoms(value, into),
                AtomKind::Flexible(_)
                | AtomKind::Named(..)
                | AtomKind::Value(_)
                | AtomKind::Opaque => into.push(atom),
            }
        }
    }

    /// Whether it contains an unsolved atom.
    pub fn is_open(&self, poly: &Poly) -> bool {
        let mut atoms = Vec::new();
        self.atoms(poly, &mut atoms);
        atoms.iter().any(|atom| matches!(self.kind(*atom), AtomKind::Flexible(_)))
    }

    /// Whether it contains an unknown number.
    pub fn is_unknown(&self, poly: &Poly) -> bool {
        let mut atoms = Vec::new();
        self.atoms(poly, &mut atoms);
        atoms.iter().any(|atom| matches!(self.kind(*atom), AtomKind::Opaque))
    }

    /// Whether it contains an atom whose scope has been left.
    pub fn any_closed(&self, poly: &Poly) -> bool {
        let mut atoms = Vec::new();
        self.atoms(poly, &mut atoms);
        atoms.iter().any(|atom| self.entries[atom.0 as usize].closed.is_some())
    }

    /// Lifts flexible atoms of deeper levels to this one.
    pub fn lift(&mut self, poly: &Poly, level: u32) {
        let mut atoms = Vec::new();
        self.atoms(poly, &mut atoms);
        for atom in atoms {
            if let AtomKind::Flexible(old) = &mut self.entries[atom.0 as usize].kind {
                *old = level.min(*old);
            }
        }
    }

    /// Makes two sizes equal, if possible.
    pub fn equate(&mut self, a: &Poly, b: &Poly) -> Answer {
        let (a, b) = (self.resolve(a), self.resolve(b));
        let difference = a.plus(&b, -1);
        if let Some(atom) = self.choose(&difference) {
            self.eliminate(&difference, atom.0, atom.1);
            return Answer::Holds;
        }
        if self.any_closed(&a) || self.any_closed(&b) {
            return Answer::Undecided;
        }
        match difference.as_constant() {
            Some(0) => Answer::Holds,
            Some(_) => Answer::Differs,
            None => self.clash(&a, &b).unwrap_or(Answer::Undecided),
        }
    }

    /// The flexible atom to solve for: the one known at the deepest level, so that outer ones stay
    /// general.
    fn choose(&self, difference: &Poly) -> Option<(Atom, i64)> {
        let level = |atom: Atom| match self.kind(atom) {
            AtomKind::Flexible(level) => Some(*level),
            AtomKind::Solved(_)
            | AtomKind::Named(..)
            | AtomKind::Value(_)
            | AtomKind::Opaque
            | AtomKind::Quotient(..) => None,
        };
        let solvable = difference
            .lone()
            .filter(|(atom, _)| level(*atom).is_some() && !self.in_quotient(difference, *atom));
        solvable.max_by_key(|(atom, _)| level(*atom))
    }

    fn in_quotient(&self, poly: &Poly, wanted: Atom) -> bool {
        let mut atoms = Vec::new();
        self.atoms(poly, &mut atoms);
        atoms.iter().filter(|atom| **atom == wanted).count() > 1
    }

    fn eliminate(&mut self, difference: &Poly, atom: Atom, sign: i64) {
        let rest = difference.solved_for(atom, sign);
        if let AtomKind::Flexible(level) = *self.kind(atom) {
            self.lift(&rest, level);
        }
        self.solve(atom, rest);
    }

    fn clash(&self, a: &Poly, b: &Poly) -> Option<Answer> {
        match (self.kind(a.as_var()?), self.kind(b.as_var()?)) {
            (AtomKind::Named(x, s), AtomKind::Named(y, t)) if s == t => {
                Some(Answer::Clash(x.clone(), y.clone()))
            }
            _ => None,
        }
    }
}
