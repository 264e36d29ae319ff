//! Sizes in the state of a loop that are state themselves. A field of a constructor that the state
//! is not has no size that means anything, so the first state may give 0 where an iteration gives
//! 4, or give a size that only a call knows.
//!
//! ```text
//!   loop s = Dot for … do if … then Rect (for i < 4 => …) else s
//!   becomes   loop (known, size, tag, xs : [size]real) = (false, 0, 0, zeros) for … do …
//! ```
//!
//! * *Gives* for such a size two parameters: whether any state so far had the constructor, and the
//!   size that it had.
//! * *Keeps* the failure: a constructor that comes back has the size that it had before.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Var};

use crate::emit::Emit;
use crate::val::Val;

/// The sizes that are state, with the parameters that say whether they are known.
pub(super) type Carried = HashMap<Var, Var>;

/// Sizes before and after an iteration.
pub(super) type Pairs = HashSet<(Atom, Atom)>;

/// The sizes inside of variants and closures that are not evidently kept by an iteration, and are
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
