//! What is known of integers, by the one judgement of [`lambada_anf::bounds`]: size equations and bounds checks that hold evidently are
//! folded away, and what is not evident is checked. Here are the questions that `normalize` asks, and polynomials as code.

use std::collections::HashMap;

use lambada_anf::bounds::{Bounds, Comparison, Frame, Known, Learned, Place};
use lambada_anf::{Atom, Block, Param, Poly, Var, free_vars, guard_block};
use lambada_prim::{Prim, ScalarTy};

use crate::emit::Emit;

/// What holds wherever the variables are in scope.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    bounds: Bounds,
    by_poly: HashMap<Poly, Var>,
}

impl Facts {
    /// The variable is never negative.
    pub fn nonnegative(&mut self, var: Var) {
        self.bounds.nonnegative(var);
    }

    /// The variable is a size of an argument.
    pub fn size(&mut self, var: Var) {
        self.bounds.size(var);
    }
}

impl Emit {
    /// Asks something about the innermost block.
    fn ask<T>(&self, question: impl FnOnce(Place<'_>) -> T) -> T {
        self.ask_outside(self.open.len(), question)
    }

    /// Asks something about what is around the block of the given level.
    fn ask_outside<T>(&self, level: usize, question: impl FnOnce(Place<'_>) -> T) -> T {
        let frames = self.open.iter().take(level).map(|o| &o.frame);
        let frames: Vec<&Frame> = frames.filter(|f| !f.is_empty()).collect();
        question(Place { bounds: &self.facts.bounds, frames: &frames })
    }

    /// Adds the checks that are missing in a block, which the innermost block is about to use.
    pub fn guard(&mut self, block: &mut Block) {
        let frames = self.open.iter().map(|o| o.frame.clone()).collect();
        let known = Known::within(self.facts.bounds.clone(), frames);
        let param = |var: Var| Param { var, ty: self.ty(var.into()) };
        let free: Vec<Param> = free_vars(block).into_iter().map(param).collect();
        guard_block(&mut self.names, known, &free, block);
    }

    fn note(&mut self, learned: Learned) {
        learned.into_frame(&mut self.open.last_mut().expect("a block is open").frame);
    }

    /// `var = op(args)`, emitted as it stands.
    pub fn computes(&mut self, var: Var, op: Prim, args: &[Atom]) {
        self.facts.bounds.define(var, op, args);
        if op.result() == ScalarTy::Int {
            let poly = self.facts.bounds.raw(var.into());
            if poly.as_var().is_none() {
                self.facts.by_poly.entry(poly).or_insert(var);
            }
            self.note(self.ask(|place| place.learned_of(var, op, args)));
        }
    }

    /// The polynomial of an integer, modulo what has been checked.
    pub fn poly(&self, atom: Atom) -> Poly {
        self.ask(|place| place.modulo(self.facts.bounds.raw(atom)))
    }

    /// Are the two sizes known to be equal?
    pub fn equal(&self, a: Atom, b: Atom) -> bool {
        a == b || self.poly(a) == self.poly(b)
    }

    /// Are the two sizes known to be equal outside of the block of the given level?
    pub fn equal_outside(&self, a: Atom, b: Atom, level: usize) -> bool {
        let poly =
            |atom| self.ask_outside(level, |place| place.modulo(self.facts.bounds.raw(atom)));
        poly(a) == poly(b)
    }

    /// Is `a - b - gap` known to be at least 0?
    pub fn exceeds(&self, a: Atom, b: Atom, gap: i64) -> bool {
        self.ask(|place| place.at_least(a, b, gap))
    }

    /// Is `0 <= i < size` known?
    pub fn is_index(&self, i: Atom, size: Atom) -> bool {
        self.ask(|place| place.in_range(i, size))
    }

    /// The index lies in `0 .. extent` in the innermost block, which a loop runs.
    pub fn bounded(&mut self, index: Var, extent: Atom) {
        self.note(self.ask(|place| place.learned_of_index(index, extent)));
    }

    /// From here on, in this block, the condition has the given truth value.
    pub fn learn(&mut self, cond: Atom, holds: bool) {
        for comparison in self.facts.bounds.comparisons(cond, holds) {
            let is_known = match comparison {
                Comparison::AtLeast(a, b, _) | Comparison::Equal(a, b) => {
                    self.is_known_here(a) && self.is_known_here(b)
                }
                Comparison::Never => false, // decided, and folded away
            };
            if is_known {
                self.note(self.ask(|place| place.learned(comparison)));
            }
        }
    }

    /// The truth value that an `if` gives, where it is a short-circuited connective.
    pub fn connect(&mut self, var: Var, cond: Atom, then: Atom, otherwise: Atom) {
        self.facts.bounds.connect(var, cond, then, otherwise);
    }

    /// Is an integer a polynomial over variables in scope? Those of a branch that has been left are not.
    fn is_known_here(&self, atom: Atom) -> bool {
        self.poly(atom).vars().all(|v| self.in_scope(v))
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
                .chain((k != 1 || monomial.is_empty()).then_some(Atom::int(k as i64)));
            let term = factors
                .collect::<Vec<_>>()
                .into_iter()
                .reduce(|a, b| self.prim(Prim::MulInt, &[a, b]))
                .unwrap_or(Atom::int(k as i64));
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
