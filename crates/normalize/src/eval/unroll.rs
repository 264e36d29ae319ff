//! Recursion whose end is known: a call with an `int` or a node that is known is written out, if few calls are all that it takes. What does not end
//! soon is undone, and called.

use lambada_anf::Atom;
use lambada_prim::Scalar;

use super::{Evaluator, Hint};
use crate::Eval;
use crate::messages;
use crate::val::{Closure, Val};

/// The most calls that one recursion is written out as.
const CALLS: usize = 64;

/// The most statements.
const STATEMENTS: usize = 1000;

/// What is being written out.
#[derive(Debug, Default)]
pub(super) struct Unrolled {
    /// The codes, and what of their environments and arguments is known.
    active: Vec<(i64, Vec<usize>)>,
    calls: usize,
    /// Up to how many statements.
    until: usize,
    /// Has it become too much?
    is_over: bool,
}

impl Evaluator<'_> {
    /// A call of a recursive function as its body, if that ends; nothing if it is better called.
    pub(super) fn unrolled(
        &mut self,
        closure: &Closure,
        xs: &[Val],
        hint: Hint,
    ) -> Eval<Option<Val>> {
        let number = closure.code.number;
        let vals = closure.env.iter().chain(xs).enumerate();
        let known: Vec<usize> = vals.filter(|(_, val)| is_known(val)).map(|(k, _)| k).collect();
        let around = self.unrolled.active.iter().rev().find(|(n, _)| *n == number).cloned();
        match around {
            Some((_, before)) => {
                let goes_on = before.iter().all(|k| known.contains(k));
                if !goes_on
                    || self.unrolled.calls >= CALLS
                    || self.emit.written > self.unrolled.until
                {
                    self.unrolled.is_over = true;
                    return Err(Box::new(messages::ill_typed())); // caught where it began
                }
                self.written_out(closure, xs, number, known, hint).map(Some)
            }
            None if known.is_empty() => Ok(None),
            None if self.unrolled.active.is_empty() => self.begin(closure, xs, number, known, hint),
            None => self.written_out(closure, xs, number, known, hint).map(Some),
        }
    }

    fn written_out(
        &mut self,
        closure: &Closure,
        xs: &[Val],
        number: i64,
        known: Vec<usize>,
        hint: Hint,
    ) -> Eval<Val> {
        self.unrolled.active.push((number, known));
        self.unrolled.calls += 1;
        let value = self.inlined(closure, xs.to_vec(), hint)?;
        self.unrolled.active.pop();
        Ok(value)
    }

    fn begin(
        &mut self,
        closure: &Closure,
        xs: &[Val],
        number: i64,
        known: Vec<usize>,
        hint: Hint,
    ) -> Eval<Option<Val>> {
        let (mark, level, depth) = (self.emit.checkpoint(), self.emit.level(), self.growth.depth());
        let (trail, directions) = (self.trail.len(), self.directions);
        self.unrolled.until = self.emit.written + STATEMENTS;
        self.unrolled.calls = 0;
        let result = self.written_out(closure, xs, number, known, hint);
        if !std::mem::take(&mut self.unrolled.is_over) {
            return result.map(Some);
        }
        self.unrolled.active.clear();
        self.emit.hint = None;
        self.emit.abandon(level, mark);
        self.forget_to(trail);
        self.growth.return_to(depth);
        self.directions = directions;
        Ok(None)
    }
}

/// An `int` or a constructor that is known.
fn is_known(val: &Val) -> bool {
    if let Val::Leaf(leaf) = val {
        return leaf.prefix.is_empty() && matches!(leaf.atom, Atom::Lit(Scalar::Int(_)));
    }
    matches!(val, Val::Node(node) if node.known.is_some())
}
