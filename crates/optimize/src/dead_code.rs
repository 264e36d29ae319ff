//! Dead code. A variable is live if a result, a check, the condition of a `while` or a live
//! variable needs it; everything else goes: statements, results of `for` and `if`, loop state that
//! only feeds itself, and additions to accumulators whose final value nobody reads.
//!
//! Assumes: nothing. Gives: every binding is live, or stands beside one that is. Keeps: values,
//! failures, and loops that may not end.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Effect, Exp, Function, LoopKind, Nest, Op, Stm, Var};

use crate::calls::Calls;
use crate::control::kept;

/// The pass.
pub(crate) fn dead_code(function: &mut Function, calls: &Calls) -> bool {
    let mut marker = Marker {
        calls,
        own: HashSet::new(),
        needs: vec![Vec::new(); function.names.len()],
        live: vec![false; function.names.len()],
        todo: Vec::new(),
    };
    marker.block(&function.body, None);
    function.accumulators.iter().for_each(|p| marker.root(p.var.into()));
    let sizes = function.results.iter().flat_map(|ty| ty.dims.iter().copied());
    for atom in function.body.results.iter().copied().chain(sizes).collect::<Vec<_>>() {
        marker.root(atom);
    }
    let mut sweeper = Sweeper { calls, live: marker.finish(), changed: false };
    sweeper.block(&mut function.body);
    sweeper.changed
}

/// Marks live variables.
struct Marker<'a> {
    calls: &'a Calls,
    /// Accumulators that the function makes and freezes itself.
    own: HashSet<Var>,
    /// The variables that each variable needs if it is live. Behind the variables come nodes for
    /// blocks: the conditions of a block are live if a statement inside is live that is more than a
    /// value.
    needs: Vec<Vec<Var>>,
    live: Vec<bool>,
    todo: Vec<Var>,
}

impl Marker<'_> {
    fn root(&mut self, atom: Atom) {
        if let Atom::Var(var) = atom
            && !std::mem::replace(&mut self.live[var.0 as usize], true)
        {
            self.todo.push(var);
        }
    }

    fn finish(mut self) -> Vec<bool> {
        while let Some(var) = self.todo.pop() {
            for need in std::mem::take(&mut self.needs[var.0 as usize]) {
                self.root(need.into());
            }
        }
        self.live
    }

    fn need(&mut self, var: Var, atom: Atom) {
        if let Atom::Var(needed) = atom {
            self.needs[var.0 as usize].push(needed);
        }
    }

    fn block(&mut self, block: &Block, control: Option<Var>) {
        for stm in &block.stms {
            for p in &stm.binds {
                p.ty.dims.iter().for_each(|d| self.need(p.var, *d));
            }
            self.stm(stm, control);
        }
    }

    /// A node for a block that `drivers` control, inside of another one.
    fn control(&mut self, around: Option<Var>, drivers: &[Atom]) -> Option<Var> {
        let control = Var(self.needs.len() as u32);
        let drivers = drivers.iter().filter_map(|atom| atom.as_var());
        self.needs.push(around.into_iter().chain(drivers).collect());
        self.live.push(false);
        Some(control)
    }

    fn stm(&mut self, stm: &Stm, control: Option<Var>) {
        match &stm.exp {
            Exp::Nest(Nest::For { extent, body, .. }) => {
                let inside = self.control(control, &[*extent]);
                self.block(body, inside);
                for (p, result) in stm.binds.iter().zip(&body.results) {
                    self.need(p.var, *result);
                    self.need(p.var, *extent);
                }
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => {
                let inside = self.control(control, &[*cond]);
                self.block(then, inside);
                self.block(otherwise, inside);
                for ((p, a), b) in stm.binds.iter().zip(&then.results).zip(&otherwise.results) {
                    [*a, *b, *cond].into_iter().for_each(|atom| self.need(p.var, atom));
                }
            }
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                let drivers: Vec<Atom> = match kind {
                    LoopKind::For { extent, checkpoint, .. } => {
                        [*extent].into_iter().chain(checkpoint.states()).collect()
                    }
                    LoopKind::While(cond) => vec![cond.results[0]],
                };
                let inside = self.control(control, &drivers);
                if let LoopKind::While(cond) = kind {
                    self.block(cond, inside);
                    self.runs(inside);
                }
                self.block(body, inside);
                for (k, p) in params.iter().enumerate() {
                    let bind = stm.binds[k].var;
                    self.need(bind, p.var.into());
                    for atom in [body.results[k], inits[k]].iter().chain(&drivers) {
                        self.need(p.var, *atom);
                    }
                    p.ty.dims.iter().for_each(|d| self.need(p.var, *d));
                }
            }
            // An addition is live if its accumulator is: the accumulator needs the added value, and
            // that the addition runs.
            Exp::Op(Op::Accumulate { acc, index, value }) => {
                index.iter().chain([value]).for_each(|atom| self.need(*acc, *atom));
                self.needs[acc.0 as usize].extend(control);
                self.addition(*acc);
            }
            Exp::Op(Op::Call { args, accumulators, .. }) => {
                self.call(stm, args, accumulators, control)
            }
            // Where a call needs the accumulator, it is frozen even if the value is not read.
            Exp::Op(Op::Freeze(acc)) => {
                let p = &stm.binds[0];
                p.ty.dims.iter().for_each(|d| self.need(*acc, *d));
                self.need(p.var, (*acc).into());
            }
            Exp::Op(Op::Accumulator(init)) => {
                self.own.insert(stm.binds[0].var);
                self.need(stm.binds[0].var, *init);
                stm.binds[0].ty.dims.iter().for_each(|d| self.need(stm.binds[0].var, *d));
            }
            Exp::Op(Op::Open { of, .. }) => self.need(stm.binds[0].var, *of),
            Exp::Op(Op::Check { cond, values, .. }) => {
                values.iter().chain([cond]).for_each(|atom| self.root(*atom));
                self.runs(control);
            }
            Exp::Op(Op::Inspect { values, .. }) => {
                values.iter().for_each(|atom| self.root(*atom));
                self.runs(control);
            }
            Exp::Op(op) => {
                for p in &stm.binds {
                    op.atoms(&mut |atom| self.need(p.var, atom));
                }
            }
        }
    }
}

impl Marker<'_> {
    /// An addition to a cell, or to an accumulator from around the function, is live, because its
    /// readers are unknown here.
    fn addition(&mut self, acc: Var) {
        if !self.own.contains(&acc) {
            self.root(acc.into());
        }
    }

    /// Marks the conditions of a block live, because a statement in it does more than compute.
    fn runs(&mut self, control: Option<Var>) {
        control.into_iter().for_each(|control| self.root(control.into()));
    }

    /// A call that only computes and adds is live if one of its bindings or accumulators is.
    fn call(&mut self, stm: &Stm, args: &[Atom], accumulators: &[Var], control: Option<Var>) {
        if !only_adds(stm, self.calls) {
            args.iter().for_each(|atom| self.root(*atom));
            self.runs(control);
            accumulators.iter().for_each(|acc| self.root((*acc).into()));
            return;
        }
        for p in &stm.binds {
            args.iter().for_each(|atom| self.need(p.var, *atom));
            accumulators.iter().for_each(|acc| self.need(p.var, (*acc).into()));
        }
        for acc in accumulators {
            args.iter().for_each(|atom| self.need(*acc, *atom));
            self.needs[acc.0 as usize].extend(control);
            // It adds to all of them, or to none.
            accumulators.iter().for_each(|other| self.need(*acc, (*other).into()));
            self.addition(*acc);
        }
    }
}

/// Whether it returns, and only computes its bindings and adds to accumulators.
fn only_adds(stm: &Stm, calls: &Calls) -> bool {
    let summary = calls.summary(stm);
    !summary.fails && !summary.endless && !summary.adds_to_cells && !summary.reads_cells
}

/// Removes dead code.
struct Sweeper<'a> {
    calls: &'a Calls,
    live: Vec<bool>,
    changed: bool,
}

impl Sweeper<'_> {
    fn is_live(&self, var: Var) -> bool {
        self.live[var.0 as usize]
    }

    fn block(&mut self, block: &mut Block) {
        let before = block.stms.len();
        block.stms.retain_mut(|stm| self.keep(stm));
        self.changed |= block.stms.len() < before;
    }

    /// Drops the dead items of the bindings of a statement, or of a list parallel to them.
    fn prune<T: Clone>(&mut self, items: &mut Vec<T>, live: &[bool]) {
        if live.contains(&false) {
            self.changed = true;
            *items = kept(items, live);
        }
    }

    fn keep(&mut self, stm: &mut Stm) -> bool {
        let live: Vec<bool> = stm.binds.iter().map(|p| self.is_live(p.var)).collect();
        if let Exp::Op(Op::Call { accumulators, .. }) = &stm.exp {
            let added = accumulators.iter().any(|acc| self.is_live(*acc));
            return added || live.contains(&true) || !only_adds(stm, self.calls);
        }
        match &mut stm.exp {
            Exp::Op(op) => match op.effect() {
                Effect::Fails | Effect::Inspects | Effect::Calls => true,
                Effect::Adds(acc) | Effect::Freezes(acc) => self.is_live(acc),
                Effect::None
                | Effect::Makes
                | Effect::MakesCells
                | Effect::OpensCell
                | Effect::ReadsCell => live.contains(&true),
            },
            Exp::Nest(Nest::For { outs, body, .. }) => {
                self.prune(outs, &live);
                self.prune(&mut body.results, &live);
                self.prune(&mut stm.binds, &live);
                self.block(body);
                !stm.binds.is_empty() || !self.are_values(&body.stms)
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                for block in [&mut *then, &mut *otherwise] {
                    self.prune(&mut block.results, &live);
                    self.block(block);
                }
                self.prune(&mut stm.binds, &live);
                let blocks = [&then.stms, &otherwise.stms];
                !stm.binds.is_empty() || !blocks.into_iter().all(|stms| self.are_values(stms))
            }
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                let live: Vec<bool> = params.iter().map(|p| self.is_live(p.var)).collect();
                self.prune(params, &live);
                self.prune(inits, &live);
                self.prune(&mut body.results, &live);
                let any = stm.binds.iter().any(|p| self.is_live(p.var));
                self.prune(&mut stm.binds, &live);
                self.block(body);
                match kind {
                    LoopKind::For { .. } => any || !self.are_values(&body.stms),
                    LoopKind::While(cond) => {
                        self.block(cond);
                        true
                    }
                }
            }
        }
    }
}

impl Sweeper<'_> {
    fn are_values(&self, stms: &[Stm]) -> bool {
        stms.iter().all(|stm| is_value(stm, self.calls))
    }
}

/// Whether a statement that has survived only computes values. Additions to accumulators of others,
/// checks and statements that may not end do more.
fn is_value(stm: &Stm, calls: &Calls) -> bool {
    match stm.exp.effect() {
        Effect::Makes
        | Effect::Freezes(_)
        | Effect::MakesCells
        | Effect::OpensCell
        | Effect::ReadsCell => true,
        Effect::None | Effect::Adds(_) | Effect::Fails | Effect::Inspects | Effect::Calls => {
            calls.is_pure(stm) && !calls.may_not_end(stm)
        }
    }
}
