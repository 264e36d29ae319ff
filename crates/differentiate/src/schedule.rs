//! Places recomputations in the reverse sweep of a body where they read restored arrays.
//!
//! The statements of the reverse sweep stay in order. A recomputation goes before the first
//! statement that mentions its result. That is late enough for its versions to be restored. It is
//! early enough for them not to be undone yet, because no statement mentions a value before its
//! definition in program order.
//!
//! The exception is a value that a later part of the program mentions, after the array has changed:
//! it must be stored.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Block, Effect, Exp, Op, Stm, Var, free_vars};

/// A recomputation.
pub(crate) struct Again {
    pub(crate) stms: Vec<Stm>,
    /// Its results, under the names of the forward sweep.
    pub(crate) gives: Vec<Var>,
}

/// A read of an array version that is not restored yet.
pub(crate) struct TooEarly {
    /// The recomputation that reads; `None` for the reverse sweep itself.
    pub(crate) again: Option<usize>,
    /// The version, under the name of the reverse sweep.
    pub(crate) version: Var,
    /// Whether no earlier undo is possible.
    pub(crate) impossible: bool,
}

/// Orders the statements so that each variable is bound before its use, except for versions
/// mentioned too early.
pub(crate) fn schedule(
    again: Vec<Again>,
    reverse: Vec<Stm>,
    versions: &HashSet<Var>,
) -> (Vec<Stm>, Vec<TooEarly>) {
    let count = again.len();
    let mut items: Vec<Vec<Stm>> = again.into_iter().map(|item| item.stms).collect();
    items.extend(reverse.into_iter().map(|stm| vec![stm]));
    let mut schedule = Schedule::new(items, count);
    let late = schedule.late(versions);
    (0..count).filter(|k| !late[*k]).for_each(|k| schedule.emit(k));
    (count..schedule.items.len()).for_each(|k| schedule.emit(k));
    (schedule.emitted, schedule.too_early)
}

struct Schedule {
    /// The recomputations, then the reverse sweep.
    items: Vec<Vec<Stm>>,
    /// The number of recomputations.
    count: usize,
    /// By item: the items that must precede it, each with the variable that it mentions.
    needs: Vec<Vec<(usize, Option<Var>)>>,
    /// Items in progress or done.
    begun: Vec<bool>,
    done: Vec<bool>,
    emitted: Vec<Stm>,
    too_early: Vec<TooEarly>,
}

impl Schedule {
    fn new(items: Vec<Vec<Stm>>, count: usize) -> Schedule {
        let mut binder: HashMap<Var, usize> = HashMap::new();
        for (k, stms) in items.iter().enumerate() {
            binder.extend(stms.iter().flat_map(|stm| &stm.binds).map(|p| (p.var, k)));
        }
        let needs = |stms: &Vec<Stm>| {
            let mentioned = free_vars(&Block { stms: stms.clone(), results: Vec::new() });
            mentioned.into_iter().filter_map(|x| Some((*binder.get(&x)?, Some(x)))).collect()
        };
        let needs = items.iter().map(needs).collect();
        let (begun, done) = (vec![false; items.len()], vec![false; items.len()]);
        Schedule { items, count, needs, begun, done, emitted: Vec::new(), too_early: Vec::new() }
    }

    /// The recomputations that read restored versions. They follow the effects on which they rest:
    /// additions to an accumulator, and checks.
    fn late(&mut self, versions: &HashSet<Var>) -> Vec<bool> {
        let mut late = vec![false; self.count];
        let mut late_before: Vec<usize> = Vec::new();
        for k in 0..self.count {
            let effects: Vec<usize> =
                late_before.iter().copied().filter(|j| self.is_effect_on(*j, k)).collect();
            let needs_late = |(j, x): &(usize, Option<Var>)| match j {
                j if *j < self.count => late[*j],
                _ => x.is_some_and(|x| versions.contains(&x)),
            };
            late[k] = !effects.is_empty() || self.needs[k].iter().any(needs_late);
            self.needs[k].extend(effects.into_iter().map(|j| (j, None)));
            if late[k] {
                late_before.push(k);
            }
        }
        late
    }

    /// Whether item `k` rests on an effect of `j`.
    fn is_effect_on(&self, j: usize, k: usize) -> bool {
        let mut frozen = HashSet::new();
        for stm in &self.items[k] {
            if let Effect::Freezes(acc) = stm.exp.effect() {
                frozen.insert(acc);
            }
        }
        let is_effect = |stm: &Stm| {
            matches!(stm.exp.effect(), Effect::Fails | Effect::Inspects)
                || stm.adds_to(&|acc| frozen.contains(&acc))
        };
        self.items[j].iter().any(is_effect)
    }

    /// Emits an item, after the items that it needs.
    fn emit(&mut self, item: usize) {
        let mut open = vec![(item, 0)];
        self.begun[item] = true;
        while let Some((at, next)) = open.last_mut() {
            let (at, k) = (*at, *next);
            *next += 1;
            let Some((need, mentioned)) = self.needs[at].get(k).copied() else {
                if !std::mem::replace(&mut self.done[at], true) {
                    self.emitted.append(&mut self.items[at]);
                }
                open.pop();
                continue;
            };
            if self.done[need] {
                continue;
            }
            if need >= self.count
                && let Some(version) = mentioned
            {
                self.mentioned_early(at, need, version);
            }
            if !std::mem::replace(&mut self.begun[need], true) {
                open.push((need, 0));
            }
        }
    }

    /// Handles a statement of the reverse sweep that is needed before its turn: an update can be
    /// undone earlier if its array is available.
    fn mentioned_early(&mut self, at: usize, need: usize, version: Var) {
        let is_update =
            self.items[need].iter().all(|stm| matches!(stm.exp, Exp::Op(Op::Update { .. })));
        let impossible = !is_update || self.begun[need];
        let again = (at < self.count).then_some(at);
        if again.is_some() || impossible {
            self.too_early.push(TooEarly { again, version, impossible });
        }
    }
}
