//! Sizes in the state of a loop that are state themselves. A field of a constructor other than the
//! state's own has no meaningful size, so the initial state may have 0 where an iteration has 4, or
//! a size that only a call determines.
//!
//! ```text
//!   loop s = Dot for … do if … then Rect (for i < 4 => …) else s
//!   becomes   loop (known, size, tag, xs : [size]real) = (false, 0, 0, zeros) for … do …
//! ```
//!
//! * *Gives* two parameters for such a size: whether any state so far had the constructor, and the
//!   size that it had.
//! * *Keeps* the failure: a constructor that recurs must have its earlier size.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Var};

use crate::emit::Emit;
use crate::val::Val;

/// The sizes that are state, with the parameters that flag whether they are known.
pub(super) type Carried = HashMap<Var, Var>;

/// Sizes before and after an iteration.
pub(super) type Pairs = HashSet<(Atom, Atom)>;

/// The sizes inside variants and closures that an iteration does not evidently keep and that are
/// not state yet.
pub(super) fn differing(emit: &Emit, state: &Val, next: &Val, carried: &Carried) -> Pairs {
    let mut found = Differing { emit, carried, pairs: Pairs::new() };
    found.value(state, next, false);
    found.pairs
}

struct Differing<'a> {
    emit: &'a Emit,
    carried: &'a Carried,
    pairs: Pairs,
}

impl Differing<'_> {
    fn value(&mut self, state: &Val, next: &Val, guarded: bool) {
        if let (Val::Array(s), Val::Array(n)) = (state, next)
            && guarded
        {
            self.size(s.extent, n.extent);
        }
        if let (Val::Fun(s), Val::Fun(n)) = (state, next) {
            for closure in &n.alternatives {
                let known = s.env(closure.code.number).into_iter().flatten();
                known.zip(&closure.env).for_each(|(s, n)| self.value(s, n, true));
            }
        }
        let guarded = guarded || matches!(state, Val::Variant(_));
        state.zip(next).into_iter().for_each(|(s, n)| self.value(s, n, guarded));
    }

    fn size(&mut self, old: Atom, new: Atom) {
        let is_state = old.as_var().is_some_and(|x| self.carried.contains_key(&x));
        if !is_state && !self.emit.facts.equal(old, new) {
            self.pairs.insert((old, new));
        }
    }
}
