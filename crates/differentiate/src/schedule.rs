//! Where to compute again what the reverse sweep of a body mentions, if that reads arrays that are
//! carried backwards.
//!
//! The statements of the reverse sweep stay in order. What is computed again comes before the first
//! statement that mentions it, which is late enough for the versions that it reads to be there, and
//! early enough for them not to be undone yet, since a value is mentioned by nothing that comes
//! before it in the program.
//!
//! A value that a later part of the program mentions, in which the array has changed already, is
//! the exception: it must have been stored.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Block, Effect, Exp, Op, Stm, Var, free_vars};

/// Something that is computed again.
pub(crate) struct Again {
    pub(crate) stms: Vec<Stm>,
    /// What it gives, under the names of the forward sweep.
    pub(crate) gives: Vec<Var>,
}

/// What reads a version of an array that is not there yet.
pub(crate) struct TooEarly {
    /// Which of the things that are computed again; none if it is the reverse sweep itself.
    pub(crate) again: Option<usize>,
    /// The version, under the name of the reverse sweep.
    pub(crate) version: Var,
    /// Whether it is impossible to undo it any earlier.
    pub(crate) impossible: bool,
}

/// The statements in an order in which everything is bound before it is mentioned, unless some
/// versions are mentioned too early.
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
    /// What is computed again, and after it the reverse sweep.
    items: Vec<Vec<Stm>>,
    /// How many are computed again.
    count: usize,
    /// By item, what must come before it, and which variable of it is mentioned.
    needs: Vec<Vec<(usize, Option<Var>)>>,
    /// On the way, or done.
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

    /// What is computed again from versions that the reverse sweep gets back. It comes after the
    /// effects on which it rests: additions to an accumulator, and checks.
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

    /// Does the item `k` rest on an effect of `j`?
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

    /// Emits an item, after what it needs.
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

    /// A statement of the reverse sweep is needed before its turn: an update can be undone earlier,
    /// if what it puts back into is there.
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
