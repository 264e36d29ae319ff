//! Facts about integers, by the one judgement of [`lambada_anf::bounds`]: size equations and bounds
//! checks that evidently hold are folded away, and all others become checks. This file has the
//! questions of `normalize`; they emit no code.

use std::collections::HashMap;

use lambada_anf::bounds::{Bounds, Comparison, Frame, Frames, Learned, ProgramPoint, ScopedFacts};
use lambada_anf::{Atom, Poly, Var};
use lambada_prim::{Prim, ScalarTy};

/// Facts that hold in the whole scope of the variables, and facts that hold in each open block.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    bounds: Bounds,
    by_poly: HashMap<Poly, Var>,
    /// By open block.
    frames: Frames,
}

impl Facts {
    // Blocks

    /// Enters a block with the facts of `frame`.
    pub fn enter(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    /// Leaves the innermost block; returns its facts.
    pub fn leave(&mut self) -> Frame {
        self.frames.pop().expect("a block is open")
    }

    /// Leaves all blocks but the outermost `count`, to be entered again.
    pub fn suspend(&mut self, count: usize) -> Vec<Frame> {
        let mut inner: Vec<Frame> = Vec::new();
        while self.frames.len() > count {
            inner.extend(self.frames.pop());
        }
        inner.reverse();
        inner
    }

    /// Re-enters blocks.
    pub fn resume(&mut self, frames: Vec<Frame>) {
        frames.into_iter().for_each(|frame| self.frames.push(frame));
    }

    /// The facts of the innermost block.
    pub fn frame(&self) -> Frame {
        self.frames.last().expect("a block is open").clone()
    }

    /// Replaces the facts of the innermost block.
    pub fn forget_to(&mut self, frame: Frame) {
        self.frames.pop();
        self.frames.push(frame);
    }

    /// All facts at this point.
    pub fn known(&self) -> ScopedFacts {
        ScopedFacts::within(self.bounds.clone(), self.frames.clone())
    }

    // Answers

    /// Asks a question in the innermost block.
    fn ask<T>(&self, question: impl FnOnce(ProgramPoint<'_>) -> T) -> T {
        self.ask_outside(self.frames.len(), question)
    }

    /// Asks a question outside the block of level `level`.
    fn ask_outside<T>(&self, level: usize, question: impl FnOnce(ProgramPoint<'_>) -> T) -> T {
        self.frames.ask(&self.bounds, level, question)
    }

    fn note(&mut self, learned: Learned) {
        self.frames.learn(learned);
    }

    /// Records that the variable is never negative.
    pub fn nonnegative(&mut self, var: Var) {
        self.bounds.nonnegative(var);
    }

    /// Records that the variable is the size of an array bound in the block of level `level`, and
    /// hence not negative there.
    pub fn size_of_array(&mut self, var: Var, level: usize) {
        self.frames.nonnegative(var, level);
    }

    /// Records that the variable is a size of an argument.
    pub fn size(&mut self, var: Var) {
        self.bounds.size(var);
    }

    /// Records `var = op(args)`, as emitted.
    pub fn computes(&mut self, var: Var, op: Prim, args: &[Atom]) {
        self.bounds.define(var, op, args);
        if op.result() == ScalarTy::Int {
            let poly = self.bounds.raw(var.into());
            if poly.as_var().is_none() {
                self.by_poly.entry(poly).or_insert(var);
            }
            self.note(self.ask(|place| place.learned_of(var, op, args)));
        }
    }

    /// The polynomial of an integer, modulo checked equations.
    pub fn poly(&self, atom: Atom) -> Poly {
        self.ask(|place| place.modulo(self.bounds.raw(atom)))
    }

    /// Whether the two sizes are known to be equal.
    pub fn equal(&self, a: Atom, b: Atom) -> bool {
        a == b || self.ask(|place| place.equal(a, b))
    }

    /// Whether the two sizes are known to be equal outside the block of level `level`.
    pub fn equal_outside(&self, a: Atom, b: Atom, level: usize) -> bool {
        let poly = |atom| self.ask_outside(level, |place| place.modulo(self.bounds.raw(atom)));
        poly(a) == poly(b)
    }

    /// Whether `a - b - gap` is known to be at least 0.
    pub fn exceeds(&self, a: Atom, b: Atom, gap: i64) -> bool {
        self.ask(|place| place.at_least(a, b, gap))
    }

    /// Whether `0 <= i < size` is known.
    pub fn is_index(&self, i: Atom, size: Atom) -> bool {
        self.ask(|place| place.in_range(i, size))
    }

    /// Records that the index of the innermost block, a loop body, lies in `0 .. extent`.
    pub fn bounded(&mut self, index: Var, extent: Atom) {
        self.note(self.ask(|place| place.learned_of_index(index, extent)));
    }

    /// Records the boolean result of an `if` that is a short-circuited connective.
    pub fn connect(&mut self, var: Var, cond: Atom, then: Atom, otherwise: Atom) {
        self.bounds.connect(var, cond, then, otherwise);
    }

    /// The comparisons that follow if the condition has the value `holds`.
    pub fn comparisons(&self, cond: Atom, holds: bool) -> Vec<Comparison> {
        self.bounds.comparisons(cond, holds)
    }

    /// Records that the comparison holds in the rest of this block.
    pub fn learn(&mut self, comparison: Comparison) {
        self.note(self.ask(|place| place.learned(comparison)));
    }

    /// A variable with the value of the polynomial, if any; it may be out of scope.
    pub fn holder(&self, poly: &Poly) -> Option<Var> {
        poly.as_var().or_else(|| self.by_poly.get(poly).copied())
    }

    /// Records a variable with the value of the polynomial.
    pub fn remember(&mut self, poly: Poly, var: Var) {
        self.by_poly.insert(poly, var);
    }
}
