//! The undo log: what updates overwrite is kept, and the reverse sweep puts it back
//! ([`crate::versions`]).
//!
//! ```text
//!   y = x with [i] = v    forward: old = x[i]; …     reverse: x = y with [i] = old; …
//! ```
//!
//! Versions are values like all others: a statement of the reverse sweep mentions the one that it
//! needs, and it is there from where it is undone. If it is mentioned after the next one has been
//! undone too, that is right but costs a copy; [`crate::schedule`] places what is computed again so
//! that this does not happen. Where it cannot, it says what must be stored instead, and all is done
//! once more with a better plan.

use std::collections::HashSet;

use lambada_anf::Var;

/// What has been found out about the arrays that are carried backwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Values that the forward sweep must keep.
    pub(crate) keep: HashSet<Var>,
    /// States that cannot be carried backwards.
    pub(crate) not_carried: HashSet<Var>,
}

/// The log, and what goes wrong with the plan.
#[derive(Debug)]
pub(crate) struct Undo {
    plan: Plan,
    /// What is on the log, or where it is kept: it cannot be computed again, since the arrays are
    /// not there yet.
    logged: HashSet<Var>,
    /// The tapes of forward loops, which nothing else mentions in the forward sweep.
    tapes: HashSet<Var>,
    better: Plan,
}

impl Undo {
    pub(crate) fn new(plan: Plan) -> Undo {
        Undo { better: plan.clone(), plan, logged: HashSet::new(), tapes: HashSet::new() }
    }

    /// Must the forward sweep hand out the value?
    pub(crate) fn keeps(&self, x: Var) -> bool {
        self.logged.contains(&x) || self.plan.keep.contains(&x)
    }

    /// What holds a value that must be kept must be kept.
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

    /// The value is to be kept; is that new?
    pub(crate) fn keep(&mut self, x: Var) -> bool {
        !self.keeps(x) && self.better.keep.insert(x)
    }

    /// The state is not to be carried backwards.
    pub(crate) fn give_up(&mut self, state: Var) {
        self.better.not_carried.insert(state);
    }

    /// The plan that would have been better.
    pub(crate) fn better(self) -> Option<Plan> {
        let as_good = self.better.keep.len() == self.plan.keep.len()
            && self.better.not_carried.len() == self.plan.not_carried.len();
        (!as_good).then_some(self.better)
    }
}
