//! Which sizes are equal? Sizes are compared as polynomials over what the program computes, modulo the equations that dominating
//! `Check`s and `if`s have established. Two atoms that are the same need none of this, and that is nearly always the case.

use std::collections::{BTreeMap, HashMap};

use lambada_prim::{Prim, Scalar};

use crate::{Atom, Var};

/// A product of unknowns, sorted; empty for the constant term.
type Monomial = Vec<u32>;

/// Beyond this many terms a polynomial becomes one unknown.
const TERMS: usize = 24;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Poly(BTreeMap<Monomial, i64>);

impl Poly {
    fn constant(value: i64) -> Poly {
        let mut poly = Poly::default();
        poly.add_term(Vec::new(), value);
        poly
    }

    fn unknown(id: u32) -> Poly {
        let mut poly = Poly::default();
        poly.add_term(vec![id], 1);
        poly
    }

    fn add_term(&mut self, monomial: Monomial, factor: i64) {
        let sum = self.0.get(&monomial).copied().unwrap_or(0).wrapping_add(factor);
        if sum == 0 {
            self.0.remove(&monomial);
        } else {
            self.0.insert(monomial, sum);
        }
    }

    fn plus(&self, other: &Poly, factor: i64) -> Poly {
        let mut sum = self.clone();
        for (monomial, k) in &other.0 {
            sum.add_term(monomial.clone(), k.wrapping_mul(factor));
        }
        sum
    }

    fn times(&self, other: &Poly) -> Poly {
        let mut product = Poly::default();
        for (a, j) in &self.0 {
            for (b, k) in &other.0 {
                let mut monomial: Monomial = a.iter().chain(b).copied().collect();
                monomial.sort_unstable();
                product.add_term(monomial, j.wrapping_mul(*k));
            }
        }
        product
    }

    /// The polynomial with `value` for an unknown.
    fn substitute(&self, unknown: u32, value: &Poly) -> Poly {
        let mut result = Poly::default();
        for (monomial, k) in &self.0 {
            let mut term = Poly::constant(*k);
            for u in monomial {
                term = term.times(&if *u == unknown { value.clone() } else { Poly::unknown(*u) });
            }
            result = result.plus(&term, 1);
        }
        result
    }

    /// `self = 0` solved for an unknown that occurs once, linearly, with factor ±1.
    fn solve(&self) -> Option<(u32, Poly)> {
        let occurs = |u: u32| self.0.keys().filter(|m| m.contains(&u)).count();
        let (u, k) = self.0.iter().rev().find_map(|(m, k)| {
            (m.len() == 1 && k.abs() == 1 && occurs(m[0]) == 1).then(|| (m[0], *k))
        })?;
        let mut rest = self.clone();
        rest.0.remove(&vec![u]);
        Some((u, Poly::default().plus(&rest, -k)))
    }
}

/// What is known of the integers in scope.
#[derive(Default)]
pub(crate) struct Sizes {
    /// What computes a variable of type `int` or `bool`.
    definitions: HashMap<Var, (Prim, Vec<Atom>)>,
    memo: HashMap<Var, Poly>,
    opaque: HashMap<(Prim, Vec<Poly>), u32>,
    /// Pairs that are equal here.
    facts: Vec<(Atom, Atom)>,
    /// How many `Check`s that cannot hold stand before.
    pub(crate) unreachable: usize,
}

/// A point to return to when a scope ends.
pub(crate) struct Mark {
    facts: usize,
    unreachable: usize,
}

impl Sizes {
    /// `var = op(args)`
    pub(crate) fn define(&mut self, var: Var, op: Prim, args: &[Atom]) {
        self.definitions.insert(var, (op, args.to_vec()));
    }

    /// Everything learned from here on can be forgotten.
    pub(crate) fn mark(&self) -> Mark {
        Mark { facts: self.facts.len(), unreachable: self.unreachable }
    }

    /// Forgets what has been learned since.
    pub(crate) fn reset(&mut self, mark: &Mark) {
        self.facts.truncate(mark.facts);
        self.unreachable = mark.unreachable;
    }

    /// From here on the condition has the given truth value.
    pub(crate) fn assume(&mut self, cond: Atom, holds: bool) {
        match cond {
            Atom::Lit(Scalar::Bool(value)) if value != holds => self.unreachable += 1,
            Atom::Lit(_) => {}
            Atom::Var(var) => {
                if let Some((op, args)) = self.definitions.get(&var).cloned() {
                    self.assume_prim(op, &args, holds);
                }
            }
        }
    }

    fn assume_prim(&mut self, op: Prim, args: &[Atom], holds: bool) {
        let (equal, both) = if holds { (Prim::EqInt, Prim::And) } else { (Prim::NeInt, Prim::Or) };
        if op == equal {
            self.facts.push((args[0], args[1]));
        } else if op == both {
            args.iter().for_each(|a| self.assume(*a, holds));
        } else if op == Prim::Not {
            self.assume(args[0], !holds);
        }
    }

    /// Are the two sizes known to be equal?
    pub(crate) fn equal(&mut self, a: Atom, b: Atom) -> bool {
        if a == b || self.unreachable > 0 {
            return true;
        }
        let mut difference = self.difference(a, b);
        if difference.0.is_empty() {
            return true;
        }
        let mut solved: Vec<(u32, Poly)> = Vec::new();
        for (x, y) in self.facts.clone() {
            let mut equation = self.difference(x, y);
            for (u, value) in &solved {
                equation = equation.substitute(*u, value);
            }
            if let Some((u, value)) = equation.solve() {
                difference = difference.substitute(u, &value);
                solved.push((u, value));
            }
        }
        // Later solutions may reintroduce unknowns solved earlier: one more round settles chains.
        for (u, value) in &solved {
            difference = difference.substitute(*u, value);
        }
        difference.0.is_empty()
    }

    fn difference(&mut self, a: Atom, b: Atom) -> Poly {
        let (a, b) = (self.poly(a), self.poly(b));
        a.plus(&b, -1)
    }

    fn poly(&mut self, atom: Atom) -> Poly {
        match atom {
            Atom::Lit(Scalar::Int(value)) => Poly::constant(value),
            Atom::Lit(Scalar::Real(_) | Scalar::Bool(_)) => Poly::default(),
            Atom::Var(var) => {
                if let Some(known) = self.memo.get(&var) {
                    return known.clone();
                }
                let poly = self
                    .computed(var)
                    .filter(|p| p.0.len() <= TERMS)
                    .unwrap_or_else(|| Poly::unknown(var.0));
                self.memo.insert(var, poly.clone());
                poly
            }
        }
    }

    fn computed(&mut self, var: Var) -> Option<Poly> {
        let (op, args) = self.definitions.get(&var).cloned()?;
        let args: Vec<Poly> = args.iter().map(|a| self.poly(*a)).collect();
        Some(match op {
            Prim::AddInt => args[0].plus(&args[1], 1),
            Prim::SubInt => args[0].plus(&args[1], -1),
            Prim::MulInt => args[0].times(&args[1]),
            Prim::NegInt => Poly::default().plus(&args[0], -1),
            Prim::DivInt
            | Prim::RemInt
            | Prim::MinInt
            | Prim::MaxInt
            | Prim::AbsInt
            | Prim::SignInt
            | Prim::PowIntInt => {
                // Equal operations on equal arguments are one unknown; ids count down from the top, away from variables.
                let next = u32::MAX - self.opaque.len() as u32;
                Poly::unknown(*self.opaque.entry((op, args)).or_insert(next))
            }
            _ => return None, // not arithmetic of integers: its result is an unknown of its own
        })
    }
}
