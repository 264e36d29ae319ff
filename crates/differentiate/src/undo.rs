//! The undo log: the forward sweep keeps the values that updates overwrite, and the reverse sweep
//! puts them back ([`crate::versions`]).
//!
//! ```text
//!   y = x with [i] = v    forward: old = x[i]; …     reverse: x = y with [i] = old; …
//! ```
//!
//! Versions are values like all others: a statement of the reverse sweep mentions the version that
//! it needs, after the statement that restores it. A mention after the next undo is correct but
//! costs a copy; [`crate::schedule`] places recomputations so that this does not happen. Where it
//! cannot, it reports the values to store instead, and the sweep is made once more with a better
//! plan.

use std::collections::HashSet;

use lambada_anf::Var;

/// Decisions about restored arrays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Values that the forward sweep must keep.
    pub(crate) keep: HashSet<Var>,
    /// States that the reverse sweep must not restore.
    pub(crate) not_carried: HashSet<Var>,
}

/// The log, and the flaws of the plan.
#[derive(Debug)]
pub(crate) struct Undo {
    plan: Plan,
    /// Logged values, or their homes. They cannot be recomputed, because their arrays are not
    /// restored yet.
    logged: HashSet<Var>,
    /// The tapes of forward loops, which no other statement of the forward sweep mentions.
    tapes: HashSet<Var>,
    better: Plan,
}

impl Undo {
    pub(crate) fn new(plan: Plan) -> Undo {
        Undo { better: plan.clone(), plan, logged: HashSet::new(), tapes: HashSet::new() }
    }

    /// Whether the forward sweep must hand out the value.
    pub(crate) fn keeps(&self, x: Var) -> bool {
        self.logged.contains(&x) || self.plan.keep.contains(&x)
    }

    /// Requires that the value be kept, because it is on the log or holds a logged value.
    pub(crate) fn log(&mut self, x: Var) {
        self.logged.insert(x);
    }

    /// A tape of a forward loop.
    pub(crate) fn tape(&mut self, x: Var) {
        self.tapes.insert(x);
    }

    pub(crate) fn is_tape(&self, x: Var) -> bool {
        self.tapes.contains(&x)
    }

    /// Adds the value to the better plan's kept ones; returns whether it is new.
    pub(crate) fn keep(&mut self, x: Var) -> bool {
        !self.keeps(x) && self.better.keep.insert(x)
    }

    /// Excludes the state from restoring in the better plan.
    pub(crate) fn give_up(&mut self, state: Var) {
        self.better.not_carried.insert(state);
    }

    /// The better plan, if it differs.
    pub(crate) fn better(self) -> Option<Plan> {
        let as_good = self.better.keep.len() == self.plan.keep.len()
            && self.better.not_carried.len() == self.plan.not_carried.len();
        (!as_good).then_some(self.better)
    }
}
