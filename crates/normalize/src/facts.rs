//! What is known of integers, by the one judgement of [`lambada_anf::bounds`]: size equations and
//! bounds checks that hold evidently are folded away, and what is not evident is checked. Here are
//! the questions that `normalize` asks; they write no code.

use std::collections::HashMap;

use lambada_anf::bounds::{Bounds, Comparison, Frame, Frames, Known, Learned, Place};
use lambada_anf::{Atom, Poly, Var};
use lambada_prim::{Prim, ScalarTy};

/// What holds wherever the variables are in scope, and what holds in each of the open blocks.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    bounds: Bounds,
    by_poly: HashMap<Poly, Var>,
    /// By open block.
    frames: Frames,
}

impl Facts {
    // Blocks

    /// Enters a block in which this holds.
    pub fn enter(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    /// Leaves the innermost block; gives what holds in it.
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

    /// Enters blocks again.
    pub fn resume(&mut self, frames: Vec<Frame>) {
        frames.into_iter().for_each(|frame| self.frames.push(frame));
    }

    /// What holds in the innermost block.
    pub fn frame(&self) -> Frame {
        self.frames.last().expect("a block is open").clone()
    }

    /// Only this holds in the innermost block.
    pub fn forget_to(&mut self, frame: Frame) {
        self.frames.pop();
        self.frames.push(frame);
    }

    /// All that holds here.
    pub fn known(&self) -> Known {
        Known::within(self.bounds.clone(), self.frames.clone())
    }

    // Answers

    /// Asks something about the innermost block.
    fn ask<T>(&self, question: impl FnOnce(Place<'_>) -> T) -> T {
        self.ask_outside(self.frames.len(), question)
    }

    /// Asks something about what is around the block of the given level.
    fn ask_outside<T>(&self, level: usize, question: impl FnOnce(Place<'_>) -> T) -> T {
        self.frames.ask(&self.bounds, level, question)
    }

    fn note(&mut self, learned: Learned) {
        self.frames.learn(learned);
    }

    /// The variable is never negative.
    pub fn nonnegative(&mut self, var: Var) {
        self.bounds.nonnegative(var);
    }

    /// The variable is the size of an array that is bound in the block of the given level: it is
    /// not negative there.
    pub fn size_of_array(&mut self, var: Var, level: usize) {
        self.frames.nonnegative(var, level);
    }

    /// The variable is a size of an argument.
    pub fn size(&mut self, var: Var) {
        self.bounds.size(var);
    }

    /// `var = op(args)`, emitted as it stands.
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

    /// The polynomial of an integer, modulo what has been checked.
    pub fn poly(&self, atom: Atom) -> Poly {
        self.ask(|place| place.modulo(self.bounds.raw(atom)))
    }

    /// Are the two sizes known to be equal?
    pub fn equal(&self, a: Atom, b: Atom) -> bool {
        a == b || self.ask(|place| place.equal(a, b))
    }

    /// Are the two sizes known to be equal outside of the block of the given level?
    pub fn equal_outside(&self, a: Atom, b: Atom, level: usize) -> bool {
        let poly = |atom| self.ask_outside(level, |place| place.modulo(self.bounds.raw(atom)));
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

    /// The truth value that an `if` gives, where it is a short-circuited connective.
    pub fn connect(&mut self, var: Var, cond: Atom, then: Atom, otherwise: Atom) {
        self.bounds.connect(var, cond, then, otherwise);
    }

    /// What it means that the condition has the given truth value.
    pub fn comparisons(&self, cond: Atom, holds: bool) -> Vec<Comparison> {
        self.bounds.comparisons(cond, holds)
    }

    /// From here on, in this block, the comparison holds.
    pub fn learn(&mut self, comparison: Comparison) {
        self.note(self.ask(|place| place.learned(comparison)));
    }

    /// The variable that holds the value of the polynomial, if one does; it may have gone out of
    /// scope.
    pub fn holder(&self, poly: &Poly) -> Option<Var> {
        poly.as_var().or_else(|| self.by_poly.get(poly).copied())
    }

    /// Remembers the variable that holds the value of the polynomial.
    pub fn remember(&mut self, poly: Poly, var: Var) {
        self.by_poly.insert(poly, var);
    }
}
