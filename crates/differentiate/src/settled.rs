//! Settled reads: reads of a loop's state that see an element which no later iteration overwrites.
//!
//! Programs that fill an array in a loop (scans, tables, decompositions in place) read elements
//! that they have written before and never write again. The reverse sweep can read such an element
//! from the final array, so it needs no tape, and none of the earlier states of the array.
//!
//! State is followed through updates, inner loops and branches. An update that runs in iterations
//! `(i, j, …)` of these loops writes at an index that contains `i + c, j + d, …`. A read at an
//! index whose parts are lexicographically less than `(i + c, j + d, …)` is settled: later
//! iterations write elsewhere. The order must follow from bounds at the read
//! ([`lambada_anf::bounds`]); two integers differ where a branch condition says so.
//!
//! * Gives: for the results of settled reads, the array that holds them after the outermost loop.

use std::collections::{HashMap, HashSet};

use lambada_anf::bounds::ScopedFacts;
use lambada_anf::{Atom, Block, Exp, Lambda, LoopKind, Nest, Op, Poly, Stm, Var};
use lambada_prim::Prim;

/// The settled reads of a function: by result, the array that holds the element in the end.
pub(crate) fn settled_reads(f: &Lambda) -> HashMap<Var, Var> {
    let mut flows = Flows::default();
    flows.block(&f.body, &HashSet::new());
    let Flows { found, of } = flows;
    if found.is_empty() {
        return HashMap::new();
    }
    let mut search = Search::new(&found, &of);
    search.block(&f.body);
    search.reads
}

/// A loop body with settled reads redirected to the final arrays. Reads in loops of the body itself
/// stay, because a rerun of the body reaches them before their final arrays exist.
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

/// One state array and its versions in a loop.
#[derive(Default)]
struct Flow {
    /// The variable that holds it after the loop.
    last: Option<Var>,
    /// All variables that hold a version of it.
    versions: HashSet<Var>,
    updates: Vec<Update>,
}

struct Update {
    bind: Var,
    index: Vec<Atom>,
    /// The enclosing loops that the state flows through, outermost first.
    loops: Vec<Var>,
}

impl Flow {
    /// Follows the state from `to` back to the variable with which the block starts.
    fn through(&mut self, block: &Block, to: Atom, loops: &[Var]) -> Option<Var> {
        let mut at = to.as_var()?;
        while let Some(stm) = block.stms.iter().find(|stm| stm.binds.iter().any(|p| p.var == at)) {
            self.versions.insert(at);
            let k = stm.binds.iter().position(|p| p.var == at)?;
            at = self.before(stm, k, loops)?;
        }
        Some(at)
    }

    /// The state before the statement that returns it as its k-th result.
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
                // The state of a `while` stands for its index: no index contains it, so reads of
                // its elements are never settled.
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

/// States whose initial value comes from outside all loops that change them.
#[derive(Default)]
struct Flows {
    found: Vec<Flow>,
    /// By version: positions in `found` of the states that it may belong to.
    of: HashMap<Var, Vec<usize>>,
}

impl Flows {
    /// `state`: the variables that surrounding loops change.
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

    /// Follows one state of a loop; returns its versions.
    fn state(&mut self, stm: &Stm, k: usize) -> HashSet<Var> {
        let mut flow = Flow::default();
        let versions = flow.before(stm, k, &[]).map(|_| flow.versions.clone());
        let Some(versions) = versions else { return flow.versions };
        for x in &versions {
            self.of.entry(*x).or_default().push(self.found.len());
        }
        flow.last = Some(stm.binds[k].var);
        self.found.push(flow);
        versions
    }
}

/// The search for settled reads, which visits all statements in order.
struct Search<'a> {
    flows: &'a [Flow],
    of: &'a HashMap<Var, Vec<usize>>,
    known: ScopedFacts,
    /// Primitives that compute booleans.
    truths: HashMap<Var, (Prim, Vec<Atom>)>,
    /// Differences of integers known to be nonzero here.
    differ: Vec<Poly>,
    /// Indices of the enclosing loops.
    around: Vec<Var>,
    reads: HashMap<Var, Var>,
}

impl<'a> Search<'a> {
    fn new(flows: &'a [Flow], of: &'a HashMap<Var, Vec<usize>>) -> Search<'a> {
        let (known, truths, differ) = (ScopedFacts::default(), HashMap::new(), Vec::new());
        let (around, reads) = (Vec::new(), HashMap::new());
        Search { flows, of, known, truths, differ, around, reads }
    }

    fn block(&mut self, block: &Block) {
        for stm in &block.stms {
            self.read(stm);
            self.inside(&stm.exp);
            if let (Exp::Op(Op::Prim(op, args)), [p]) = (&stm.exp, stm.binds.as_slice()) {
                self.truths.insert(p.var, (*op, args.clone()));
            }
            self.known.pass(stm);
        }
    }

    /// Visits the blocks of a nest.
    fn inside(&mut self, exp: &Exp) {
        let (mark, loops, differ) = (self.known.mark(), self.around.len(), self.differ.len());
        self.known.enter(exp);
        match exp {
            Exp::Op(_) => {}
            Exp::Nest(Nest::For { index, body, .. }) => {
                self.around.push(*index);
                self.block(body);
            }
            Exp::Nest(Nest::Loop { kind, body, .. }) => {
                match kind {
                    LoopKind::For { index, .. } => self.around.push(*index),
                    LoopKind::While(cond) => {
                        self.block(cond);
                        self.known.assume(cond.results[0], true);
                    }
                }
                self.block(body);
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => {
                for (branch, holds) in [(then, true), (otherwise, false)] {
                    let branch_mark = self.known.mark();
                    self.known.assume(*cond, holds);
                    self.assume_differ(*cond, holds);
                    self.block(branch);
                    self.differ.truncate(differ);
                    self.known.reset(branch_mark);
                }
            }
        }
        self.around.truncate(loops);
        self.known.reset(mark);
    }

    fn read(&mut self, stm: &Stm) {
        let (Exp::Op(Op::Index(x, index)), [bind]) = (&stm.exp, stm.binds.as_slice()) else {
            return;
        };
        let places = self.of.get(x).into_iter().flatten();
        // The result of the outermost loop is the final array.
        let settled = |flow: &&Flow| flow.updates.iter().all(|u| self.is_settled(*x, index, u));
        let found = places.map(|k| &self.flows[*k]).find(settled).and_then(|flow| flow.last);
        if let Some(last) = found {
            self.reads.insert(bind.var, last);
        }
    }

    /// Whether the update writes elsewhere from the read on.
    fn is_settled(&self, x: Var, index: &[Atom], update: &Update) -> bool {
        let shared = update.loops.iter().take_while(|i| self.around.contains(i));
        let mut all = 0;
        for i in shared {
            let Some((at, shift)) = self.place(&update.index, *i) else { return false };
            let Some(read) = index.get(at) else { return false };
            // `before(1)`: the read is at an index before `i + shift`.
            let before =
                |gap: i64| self.known.ask(|place| place.at_least((*i).into(), *read, gap - shift));
            if before(1) {
                return true;
            }
            if !before(0) {
                return false;
            }
            if self.differs(*read, *i, shift) {
                return true;
            }
            all += 1;
        }
        // The element that this iteration has just written.
        all == update.loops.len() && x == update.bind
    }

    fn poly(&self, atom: Atom) -> Poly {
        self.known.bounds.raw(atom)
    }

    /// The position of `i + shift` in the index, and `shift`.
    fn place(&self, index: &[Atom], i: Var) -> Option<(usize, i64)> {
        let shift = |a: &Atom| self.poly(*a).plus(&Poly::var(i), -1).as_constant();
        let small = |shift: &i64| shift.unsigned_abs() <= FAR;
        index.iter().enumerate().find_map(|(at, a)| Some((at, shift(a).filter(small)?)))
    }

    /// Whether the index is known to differ from `i + shift`.
    fn differs(&self, read: Atom, i: Var, shift: i64) -> bool {
        let now = Poly::var(i).plus(&Poly::constant(shift), 1);
        let difference = self.poly(read).plus(&now, -1).wrapped();
        let opposite = Poly::default().plus(&difference, -1).wrapped();
        self.differ.iter().any(|known| *known == difference || *known == opposite)
    }

    fn assume_differ(&mut self, cond: Atom, holds: bool) {
        let Some((op, args)) = cond.as_var().and_then(|cond| self.truths.get(&cond)).cloned()
        else {
            return;
        };
        match (op, holds) {
            (Prim::EqInt, false) | (Prim::NeInt, true) => {
                let difference = self.poly(args[0]).plus(&self.poly(args[1]), -1);
                self.differ.push(difference.wrapped());
            }
            (Prim::And, true) | (Prim::Or, false) => {
                args.iter().for_each(|a| self.assume_differ(*a, holds));
            }
            (Prim::Not, _) => self.assume_differ(args[0], !holds),
            (_, _) => {} // says of no integers that they differ
        }
    }
}

/// Maximal distance of an index from a loop's own; a larger one may wrap.
const FAR: u64 = 1 << 32;
