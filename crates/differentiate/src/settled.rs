//! Which reads of a loop's state see what is still there at the end?
//!
//! Programs that fill an array in a loop (scans, tables, decompositions in place) read elements that they have written
//! before and never write again. The reverse sweep can read such an element from the final array, so it needs no tape,
//! and the array none of its earlier states.
//!
//! State is followed through updates, inner loops and branches. An update that runs in iterations `(i, j, …)` of these
//! loops writes at an index that contains `i + c, j + d, …`. A read at an index whose parts are lexicographically less
//! than `(i + c, j + d, …)` is settled: later iterations write elsewhere. Less is proved from the extents of loops and
//! the conditions of branches, by [`Bounds`].
//!
//! * Gives: for the results of settled reads, the array in which they can be found after the outermost loop.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Exp, Lambda, LoopKind, Nest, Op, Param, Stm, Var};
use lambada_prim::{Prim, Scalar};

/// The settled reads of a function: by what they bind, the array that has the element in the end.
pub(crate) fn settled_reads(f: &Lambda) -> HashMap<Var, Var> {
    let mut search = Search { bounds: Bounds::of(&f.body), reads: HashMap::new() };
    search.block(&f.body, &HashSet::new());
    search.reads
}

/// Statements of a body inside the loops, with settled reads from the final arrays. Reads in loops that the body itself
/// contains stay: their final arrays are not there yet when the body is run again.
pub(crate) fn from_final(stms: &[Stm], settled: &HashMap<Var, Var>) -> Vec<Stm> {
    let mut stms = stms.to_vec();
    if !settled.is_empty() {
        let mut inside = HashSet::new();
        let bind = &mut |stm: &Stm| inside.extend(stm.binds.iter().map(|p| p.var));
        stms.iter().for_each(|stm| stm.each(bind));
        stms.iter_mut().for_each(|stm| read_final(stm, settled, &inside));
    }
    stms
}

fn read_final(stm: &mut Stm, settled: &HashMap<Var, Var>, inside: &HashSet<Var>) {
    if let (Exp::Op(Op::Index(x, _)), [bind]) = (&mut stm.exp, stm.binds.as_slice())
        && let Some(last) = settled.get(&bind.var).filter(|last| !inside.contains(last))
    {
        *x = *last;
    }
    for inner in stm.exp.blocks_mut() {
        inner.stms.iter_mut().for_each(|stm| read_final(stm, settled, inside));
    }
}

/// One state array, as it flows through a loop.
#[derive(Default)]
struct Flow {
    /// The variables that hold it at some time.
    versions: HashSet<Var>,
    updates: Vec<Update>,
}

struct Update {
    bind: Var,
    index: Vec<Atom>,
    /// The loops that it is in and the state flows through, outermost first.
    loops: Vec<Var>,
}

impl Flow {
    /// Follows the state from `to` back to where the block gets it.
    fn through(&mut self, block: &Block, to: Atom, loops: &[Var]) -> Option<Var> {
        let mut at = to.as_var()?;
        while let Some(stm) = block.stms.iter().find(|stm| stm.binds.iter().any(|p| p.var == at)) {
            self.versions.insert(at);
            let k = stm.binds.iter().position(|p| p.var == at)?;
            at = self.before(stm, k, loops)?;
        }
        Some(at)
    }

    /// The state before the statement that gives it as its k-th result.
    fn before(&mut self, stm: &Stm, k: usize, loops: &[Var]) -> Option<Var> {
        match &stm.exp {
            Exp::Op(Op::Update { array, index, .. }) => {
                self.updates.push(Update {
                    bind: stm.binds[k].var,
                    index: index.clone(),
                    loops: loops.to_vec(),
                });
                Some(*array)
            }
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                // What a `while` writes may be written by a later iteration: no index contains its state.
                let index = match kind {
                    LoopKind::For { index, .. } => *index,
                    LoopKind::While(_) => params[k].var,
                };
                let loops = [loops, &[index]].concat();
                self.versions.insert(params[k].var);
                let from = self.through(body, body.results[k], &loops)?;
                inits[k].as_var().filter(|_| from == params[k].var)
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                let from = self.through(then, then.results[k], loops)?;
                let same = self.through(otherwise, otherwise.results[k], loops)?;
                Some(from).filter(|_| from == same)
            }
            Exp::Op(_) | Exp::Nest(Nest::For { .. }) => None,
        }
    }
}

struct Search {
    bounds: Bounds,
    reads: HashMap<Var, Var>,
}

impl Search {
    /// Looks for loops whose state comes from outside of all loops that change it: `state` is what surrounding loops change.
    fn block(&mut self, block: &Block, state: &HashSet<Var>) {
        for stm in &block.stms {
            let mut inner_state = state.clone();
            if let Exp::Nest(Nest::Loop { params, inits, .. }) = &stm.exp {
                for (k, init) in inits.iter().enumerate() {
                    let own = init.as_var().is_none_or(|init| !state.contains(&init));
                    if own && !params[k].ty.dims.is_empty() {
                        inner_state.extend(self.state(stm, k));
                    }
                }
            }
            stm.exp.blocks().into_iter().for_each(|inner| self.block(inner, &inner_state));
        }
    }

    /// The reads of one state of a loop. Gives its versions.
    fn state(&mut self, stm: &Stm, k: usize) -> HashSet<Var> {
        let mut flow = Flow::default();
        if flow.before(stm, k, &[]).is_some() {
            let last = &stm.binds[k];
            self.reads_in(stm, &flow, last, &mut Vec::new());
        }
        flow.versions
    }

    fn reads_in(&mut self, stm: &Stm, flow: &Flow, last: &Param, around: &mut Vec<Var>) {
        if let Exp::Op(Op::Index(x, index)) = &stm.exp
            && flow.versions.contains(x)
            && flow.updates.iter().all(|update| self.settled(*x, index, update, around))
        {
            self.reads.insert(stm.binds[0].var, last.var);
        }
        let facts = self.bounds.facts.len();
        for (k, block) in stm.exp.blocks().into_iter().enumerate() {
            if let Exp::Nest(
                Nest::Loop { kind: LoopKind::For { index, .. }, .. } | Nest::For { index, .. },
            ) = &stm.exp
            {
                around.push(*index);
            }
            if let Exp::Nest(Nest::If { cond, .. }) = &stm.exp {
                self.bounds.assume(*cond, k == 0);
            }
            block.stms.iter().for_each(|stm| self.reads_in(stm, flow, last, around));
            self.bounds.facts.truncate(facts);
            if let Exp::Nest(Nest::Loop { kind: LoopKind::For { .. }, .. } | Nest::For { .. }) =
                &stm.exp
            {
                around.pop();
            }
        }
    }

    /// Does the update, from the time of the read on, write elsewhere?
    fn settled(&self, x: Var, index: &[Atom], update: &Update, around: &[Var]) -> bool {
        let shared = update.loops.iter().take_while(|i| around.contains(i));
        let mut all = 0;
        for i in shared {
            let Some((at, shift)) = self.bounds.place(&update.index, *i) else { return false };
            let Some(read) = index.get(at).map(|a| self.bounds.linear(*a).plus(-shift)) else {
                return false;
            };
            let now = Linear { base: Some(*i), plus: 0 };
            if self.bounds.less(read, now) {
                return true;
            }
            if !self.bounds.at_most(read, now, DEPTH) {
                return false;
            }
            all += 1;
        }
        // The element that this very iteration has just written.
        all == update.loops.len() && x == update.bind
    }
}

/// How many bounds may be chained in a proof.
const DEPTH: usize = 6;

/// `base + plus`
#[derive(Clone, Copy, Debug, PartialEq)]
struct Linear {
    base: Option<Var>,
    plus: i64,
}

impl Linear {
    fn plus(self, k: i64) -> Linear {
        Linear { plus: self.plus.saturating_add(k), ..self }
    }
}

/// What is known about the order of integers.
#[derive(Default)]
struct Bounds {
    definitions: HashMap<Var, (Prim, Vec<Atom>)>,
    /// The extents of loop indices.
    extents: HashMap<Var, Atom>,
    /// `a ≤ b`, or `a ≠ b`.
    facts: Vec<(Linear, Order, Linear)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    AtMost,
    Differs,
}

impl Bounds {
    fn of(block: &Block) -> Bounds {
        let mut bounds = Bounds::default();
        bounds.collect(block);
        bounds
    }

    fn collect(&mut self, block: &Block) {
        for stm in &block.stms {
            if let Exp::Op(Op::Prim(op, args)) = &stm.exp {
                self.definitions.insert(stm.binds[0].var, (*op, args.clone()));
            }
            if let Exp::Nest(
                Nest::For { index, extent, .. }
                | Nest::Loop { kind: LoopKind::For { index, extent, .. }, .. },
            ) = &stm.exp
            {
                self.extents.insert(*index, *extent);
            }
            stm.exp.blocks().into_iter().for_each(|inner| self.collect(inner));
        }
    }

    fn linear(&self, atom: Atom) -> Linear {
        let var = match atom {
            Atom::Lit(Scalar::Int(plus)) => return Linear { base: None, plus },
            Atom::Lit(_) => return Linear { base: None, plus: 0 },
            Atom::Var(var) => var,
        };
        match self.definitions.get(&var).map(|(op, args)| (*op, args.as_slice())) {
            Some((
                Prim::AddInt,
                [a, Atom::Lit(Scalar::Int(k))] | [Atom::Lit(Scalar::Int(k)), a],
            )) => self.linear(*a).plus(*k),
            Some((Prim::SubInt, [a, Atom::Lit(Scalar::Int(k))])) => {
                self.linear(*a).plus(k.saturating_neg())
            }
            Some(_) | None => Linear { base: Some(var), plus: 0 },
        }
    }

    /// Where the index is `i + shift`.
    fn place(&self, index: &[Atom], i: Var) -> Option<(usize, i64)> {
        let parts = index.iter().map(|a| self.linear(*a));
        parts.enumerate().find(|(_, part)| part.base == Some(i)).map(|(at, part)| (at, part.plus))
    }

    fn assume(&mut self, cond: Atom, holds: bool) {
        let Some((op, args)) = cond.as_var().and_then(|cond| self.definitions.get(&cond)).cloned()
        else {
            return;
        };
        let side = |k: usize| self.linear(args[k]);
        match (op, holds) {
            (Prim::EqInt, false) | (Prim::NeInt, true) => {
                self.facts.push((side(0), Order::Differs, side(1)))
            }
            (Prim::LtInt, true) => self.facts.push((side(0).plus(1), Order::AtMost, side(1))),
            (Prim::LtInt, false) => self.facts.push((side(1), Order::AtMost, side(0))),
            (Prim::LeInt, true) => self.facts.push((side(0), Order::AtMost, side(1))),
            (Prim::LeInt, false) => self.facts.push((side(1).plus(1), Order::AtMost, side(0))),
            (Prim::And, true) => args.iter().for_each(|a| self.assume(*a, true)),
            (Prim::Or, false) => args.iter().for_each(|a| self.assume(*a, false)),
            (Prim::Not, _) => self.assume(args[0], !holds),
            (_, _) => {} // says nothing about order
        }
    }

    fn less(&self, a: Linear, b: Linear) -> bool {
        let differ = || {
            self.facts.iter().any(|(x, order, y)| {
                *order == Order::Differs && (same(a, b, *x, *y) || same(a, b, *y, *x))
            })
        };
        self.at_most(a.plus(1), b, DEPTH) || (self.at_most(a, b, DEPTH) && differ())
    }

    fn at_most(&self, a: Linear, b: Linear, depth: usize) -> bool {
        if a.base == b.base {
            return a.plus <= b.plus;
        }
        if depth == 0 {
            return false;
        }
        // An index is at least 0, and less than its extent.
        let is_index = |var: Option<Var>| var.and_then(|var| self.extents.get(&var)).copied();
        if is_index(b.base).is_some()
            && self.at_most(a, Linear { base: None, plus: b.plus }, depth - 1)
        {
            return true;
        }
        if let Some(extent) = is_index(a.base)
            && self.at_most(self.linear(extent).plus(a.plus.saturating_sub(1)), b, depth - 1)
        {
            return true;
        }
        let facts =
            self.facts.iter().filter(|(x, order, _)| *order == Order::AtMost && x.base == a.base);
        facts
            .into_iter()
            .any(|(x, _, y)| self.at_most(y.plus(a.plus.saturating_sub(x.plus)), b, depth - 1))
    }
}

/// Is `a - b` the difference `x - y`?
fn same(a: Linear, b: Linear, x: Linear, y: Linear) -> bool {
    a.base == x.base
        && b.base == y.base
        && a.plus.saturating_sub(b.plus) == x.plus.saturating_sub(y.plus)
}
