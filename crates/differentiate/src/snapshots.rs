//! The reverse sweep of a loop with a limit of k kept states, by the binomial schedule (Griewank
//! and Walther's *revolve*).
//!
//! The kept states, the *snapshots*, are a stack: arrays of states, their positions, and the number
//! of the newest. The reverse sweep visits the iterations from the last to the first. For iteration
//! i it reruns the loop from the newest snapshot, which is at or before i, and takes further
//! snapshots on the way as scheduled.
//!
//! ```text
//!   forward   zs, snapshots = run 0 … n from as
//!   reverse   loop (x̄s = z̄s, snapshots) for i = n-1 … 0 {
//!               drop the newest snapshot, taken at p
//!               xs, snapshots = run p … i from it
//!               x̄s = reverse of the body, run again from xs }
//! ```
//!
//! The forward sweep hands over one more state: that of the last iteration, which is reversed
//! first.
//!
//! With c snapshots, β(c, r) = (c+r choose c) iterations can be reversed with at most r reruns of
//! each. Where the newest snapshot is at p, c - 1 more are free and L iterations are left up to i,
//! the next one is taken at p + m with m = min(β(c, r-1), L - β(c-1, r-1)), where r is the least
//! number with L ≤ β(c, r). The total number of reruns is then minimal, r L - β(c+1, r-1).

use std::collections::HashSet;

use lambada_anf::{
    Atom, Block, Builder, Checkpoint, Exp, LoopKind, Names, Nest, Op, Param, Renaming, Stm, Ty, Var,
};
use lambada_prim::Prim;

use crate::effects::{without_additions, without_checks};

/// A loop that keeps snapshots.
pub(crate) struct Snapshots<'a> {
    stm: &'a Stm,
    params: &'a [Param],
    extent: Atom,
    /// The limit on kept snapshots from the program.
    limit: Atom,
    /// Maximal size of the stack, without the snapshot of the last iteration.
    slots: Atom,
    /// The snapshots after the forward sweep.
    stack: Stack<Param>,
    /// Statements before the forward sweep.
    before: Vec<Stm>,
}

/// The snapshots: an array for each part of the state, their positions, and the number of the
/// newest.
struct Stack<T> {
    states: Vec<T>,
    places: T,
    newest: T,
}

impl<T> Stack<T> {
    fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> Stack<U> {
        let states = self.states.iter().map(&mut f).collect();
        Stack { states, places: f(&self.places), newest: f(&self.newest) }
    }

    fn list(self) -> impl Iterator<Item = T> {
        self.states.into_iter().chain([self.places, self.newest])
    }
}

impl Stack<Param> {
    fn again(&self, names: &mut Names) -> Stack<Param> {
        self.map(|p| Param { var: names.again(p.var), ty: p.ty.clone() })
    }

    fn atoms(&self) -> Stack<Atom> {
        self.map(|p| p.var.into())
    }
}

/// A run of consecutive iterations.
struct Run {
    /// The first iteration; `None` for the first of the loop.
    from: Option<Atom>,
    count: Atom,
    /// The iteration that is reversed first: snapshots are taken for all up to it.
    last: Atom,
}

/// Additions to the reverse loop besides the reverse body.
pub(crate) struct Reverse {
    /// Further state: parameters, initial values, next values.
    pub(crate) params: Vec<Param>,
    pub(crate) inits: Vec<Atom>,
    pub(crate) results: Vec<Atom>,
    /// Statements that restore the state at the start of the iteration.
    pub(crate) before: Vec<Stm>,
    /// By parameter of the loop: its restored value.
    pub(crate) state: Vec<(Var, Atom)>,
}

impl<'a> Snapshots<'a> {
    /// At most `limit` snapshots of a loop whose state has sizes known outside.
    pub(crate) fn new(
        names: &mut Names,
        stm: &'a Stm,
        params: &'a [Param],
        extent: Atom,
        limit: Atom,
    ) -> Snapshots<'a> {
        let mut b = Builder::new(names);
        let iterations = b.prim(Prim::MaxInt, [extent, Atom::int(1)]);
        let others = b.prim(Prim::SubInt, [iterations, Atom::int(1)]);
        let slots = b.prim(Prim::MinInt, [limit, others]);
        let slots = b.prim(Prim::MaxInt, [slots, Atom::int(1)]);
        let all = b.prim(Prim::AddInt, [slots, Atom::int(1)]);
        let before = b.stms;
        let array = |names: &mut Names, p: &Param| Param {
            var: names.again(p.var),
            ty: p.ty.array_of(all),
        };
        let states = params.iter().map(|p| array(names, p)).collect();
        let places = Param { var: names.fresh("places"), ty: Ty::int().array_of(all) };
        let newest = Param { var: names.fresh("newest"), ty: Ty::int() };
        let stack = Stack { states, places, newest };
        Snapshots { stm, params, extent, limit, slots, stack, before }
    }

    /// The forward sweep.
    pub(crate) fn forward(&self, names: &mut Names) -> Vec<Stm> {
        let Exp::Nest(Nest::Loop { inits, .. }) = &self.stm.exp else {
            unreachable!("the statement is a loop")
        };
        let mut b = Builder::new(names);
        let states = self.stack.states.iter().map(|p| b.zero(&p.ty)).collect();
        let places = b.zero(&self.stack.places.ty);
        let none = Stack { states, places, newest: Atom::int(-1) };
        let last = b.prim(Prim::SubInt, [self.extent, Atom::int(1)]);
        let run = Run { from: None, count: self.extent, last };
        let after = self.stack.map(Param::clone);
        self.run(&mut b, self.stm.clone(), inits.clone(), (none, after), &run);
        [&self.before[..], &b.stms].concat()
    }

    /// The reverse sweep of iteration `i`. It drops the newest snapshot; if that belongs to an
    /// earlier iteration, the run retakes it.
    pub(crate) fn reverse(&self, names: &mut Names, i: Atom) -> Reverse {
        let now = self.stack.again(names);
        let then = self.stack.again(names);
        let mut b = Builder::new(names);
        let newest = vec![now.newest.var.into()];
        let from = b.index(now.places.var, &now.places.ty, newest.clone());
        let first = now.states.iter().map(|p| b.index(p.var, &p.ty, newest.clone())).collect();
        let below = b.prim(Prim::SubInt, [now.newest.var.into(), Atom::int(1)]);
        let count = b.prim(Prim::SubInt, [i, from]);
        let run = Run { from: Some(from), count, last: i };
        let mut again = Renaming::new().copy_stm(self.stm, b.names);
        without_additions(&mut again, &HashSet::new());
        without_checks(&mut again);
        let state = self.params.iter().zip(&again.binds);
        let state = state.map(|(p, bind)| (p.var, bind.var.into())).collect();
        let stack = Stack { newest: below, ..now.atoms() };
        self.run(&mut b, again, first, (stack, then.map(Param::clone)), &run);
        let before = b.stms;
        let results = then.atoms().list().collect();
        let inits = self.stack.atoms().list().collect();
        Reverse { params: now.list().collect(), inits, results, before, state }
    }

    /// Runs iterations of a copy of the loop from the state `first`, and takes snapshots, the first
    /// one included. `stack` has the snapshots before the run, `after` names those after it.
    fn run(
        &self,
        b: &mut Builder,
        mut stm: Stm,
        first: Vec<Atom>,
        (stack, after): (Stack<Atom>, Stack<Param>),
        run: &Run,
    ) {
        let Exp::Nest(Nest::Loop {
            params,
            inits,
            kind: LoopKind::For { index, extent, checkpoint },
            body,
        }) = &mut stm.exp
        else {
            unreachable!("the loop is counted")
        };
        *inits = first;
        inits.extend(stack.list().chain([run.from.unwrap_or(Atom::int(0))]));
        *extent = run.count;
        *checkpoint = Checkpoint::States(self.limit);
        let states: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
        let at = *index;
        let now = after.again(b.names);
        let next = Param { var: b.names.fresh("next"), ty: Ty::int() };
        let mut inside = Builder::new(b.names);
        if let Some(from) = run.from {
            *index = inside.names.again(at);
            let place = Op::Prim(Prim::AddInt, vec![from, (*index).into()]);
            inside.stms.push(Stm::new(vec![Param { var: at, ty: Ty::int() }], place));
        }
        let due = inside.prim(Prim::EqInt, [at.into(), next.var.into()]);
        let then = inside.block(|b| self.take(b, &now, &states, at.into(), run.last));
        let same = now.atoms().list().chain([next.var.into()]).collect();
        let otherwise = Block { stms: Vec::new(), results: same };
        let binds: Vec<Param> = now.again(inside.names).list().collect();
        params.extend(now.list().chain([next]));
        let next = Param { var: inside.names.fresh("next"), ty: Ty::int() };
        let binds: Vec<Param> = binds.into_iter().chain([next]).collect();
        body.results.extend(binds.iter().map(|p| Atom::from(p.var)));
        inside.stms.push(Stm::new(binds, Nest::If { cond: due, then, otherwise }));
        body.stms.splice(0..0, inside.stms);
        let next = Param { var: b.names.fresh("next"), ty: Ty::int() };
        stm.binds.extend(after.list().chain([next]));
        b.stms.push(stm);
    }

    /// Takes a snapshot: returns the new stack and the position of the next snapshot.
    fn take(
        &self,
        b: &mut Builder,
        now: &Stack<Param>,
        states: &[Atom],
        at: Atom,
        last: Atom,
    ) -> Vec<Atom> {
        let newest = b.prim(Prim::AddInt, [now.newest.var.into(), Atom::int(1)]);
        let mut put = |p: &Param, value: Atom| {
            let hint = b.names.hint(p.var);
            let update = Op::Update { array: p.var, index: vec![newest], value };
            b.bind(&hint, p.ty.clone(), update)
        };
        let states = now.states.iter().zip(states).map(|(p, state)| put(p, *state)).collect();
        let places = put(&now.places, at);
        let next = self.next(b, newest, at, last);
        Stack { states, places, newest }.list().chain([next]).collect()
    }

    /// The position of the next snapshot if the newest is at `at`: by the schedule, else the last
    /// iteration if the forward sweep runs past it.
    fn next(&self, b: &mut Builder, newest: Atom, at: Atom, last: Atom) -> Atom {
        let free = b.prim(Prim::SubInt, [self.slots, newest]);
        let left = b.prim(Prim::SubInt, [last, at]);
        let left = b.prim(Prim::AddInt, [left, Atom::int(1)]);
        let slot = b.prim(Prim::LeInt, [Atom::int(2), free]);
        let long = b.prim(Prim::LeInt, [Atom::int(3), left]);
        let cond = b.prim(Prim::And, [slot, long]);
        let then = b.block(|b| {
            let distance = distance(b, free, left);
            vec![b.prim(Prim::AddInt, [at, distance])]
        });
        let otherwise = b.block(|_| vec![last]);
        b.bind("next", Ty::int(), Nest::If { cond, then, otherwise })
    }
}

/// The distance from the newest snapshot to the next, for `c` snapshots, the newest included, and
/// `left` iterations: at least 1. Products do not overflow before memory ends, because all binomial
/// coefficients but the last are less than `left`.
fn distance(b: &mut Builder, c: Atom, left: Atom) -> Atom {
    let [r, few, many] =
        ["r", "few", "many"].map(|hint| Param { var: b.names.fresh(hint), ty: Ty::int() });
    let cond = b.block(|b| vec![b.prim(Prim::LtInt, [many.var.into(), left])]);
    let body = b.block(|b| {
        let next = b.prim(Prim::AddInt, [r.var.into(), Atom::int(1)]);
        let factor = b.prim(Prim::AddInt, [c, next]);
        let product = b.prim(Prim::MulInt, [many.var.into(), factor]);
        let more = b.prim(Prim::DivInt, [product, next]);
        vec![next, many.var.into(), more]
    });
    // β(c, 0) and β(c, 1)
    let many_first = b.prim(Prim::AddInt, [c, Atom::int(1)]);
    let params = vec![r, few, many];
    let inits = vec![Atom::int(1), Atom::int(1), many_first];
    let binds = ["r", "few", "many"].map(|hint| (hint.into(), Ty::int()));
    let ends =
        b.bind_all(binds.to_vec(), Nest::Loop { params, inits, kind: LoopKind::While(cond), body });
    let (r, few) = (ends[0], ends[1]);
    // β(c-1, r-1) = β(c, r-1) c / (c + r - 1)
    let product = b.prim(Prim::MulInt, [few, c]);
    let sum = b.prim(Prim::AddInt, [c, r]);
    let sum = b.prim(Prim::SubInt, [sum, Atom::int(1)]);
    let fewer = b.prim(Prim::DivInt, [product, sum]);
    let rest = b.prim(Prim::SubInt, [left, fewer]);
    b.prim(Prim::MinInt, [few, rest])
}
