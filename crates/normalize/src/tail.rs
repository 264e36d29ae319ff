//! Recursion in tail position as a loop.
//!
//! `f(x) = s; if c { f(x') } else { r }` becomes `x = loop (x, go = true) while go { s; if c { (x',
//! true) } else { (x, false) } }` before the unchanged body, which then takes the branch without a
//! call.
//!
//! * *Assumes* that sizes of parameters do not change, and that `s` adds to no accumulator:
//!   otherwise the function stays as it is.
//! * *Keeps* all other calls of the function; the call in tail position becomes unreachable.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Exp, FnId, Function, LoopKind, Nest, Op, Param, Renaming, Stm, Ty};

/// Turns recursion in tail position into a loop.
pub(crate) fn loop_of_tail_calls(function: &mut Function, id: FnId) {
    let mut calls = Vec::new();
    if !tail_calls(&function.body, id, &mut calls) || !has_end(&function.body, id) {
        return;
    }
    let own = |k: usize| Atom::Var(function.params[k].var);
    let all = 0..function.params.len();
    let changed: Vec<usize> =
        all.filter(|k| calls.iter().any(|args| args[*k] != own(*k))).collect();
    let sizes = function.params.iter().chain(&function.accumulators).flat_map(|p| &p.ty.dims);
    let sizes: HashSet<Atom> = sizes.copied().collect();
    if changed.iter().any(|k| sizes.contains(&own(*k))) {
        return;
    }
    Tail { id, changed }.rewrite(function);
}

/// The function whose calls are rewritten, and the positions of the parameters that they change.
struct Tail {
    id: FnId,
    changed: Vec<usize>,
}

/// The last statement of a block, if its results are those of the block.
fn last(block: &Block) -> Option<&Stm> {
    let stm = block.stms.last()?;
    let binds = stm.binds.iter().map(|p| Atom::Var(p.var));
    (!block.results.is_empty() && binds.eq(block.results.iter().copied())).then_some(stm)
}

/// Collects the arguments of the calls in tail position; false if none exists, or if earlier
/// statements add to accumulators.
fn tail_calls(block: &Block, id: FnId, found: &mut Vec<Vec<Atom>>) -> bool {
    match last(block).map(|stm| &stm.exp) {
        Some(Exp::Op(Op::Call { function, args, .. })) if *function == id => {
            found.push(args.clone());
            true
        }
        Some(Exp::Nest(Nest::If { then, otherwise, .. })) => {
            let before = found.len();
            let both = [then, otherwise].map(|side| tail_calls(side, id, found));
            let adds = |stm: &Stm| !stm.additions().is_empty();
            let is_plain = !block.stms[..block.stms.len() - 1].iter().any(adds);
            if !is_plain {
                found.truncate(before);
            }
            is_plain && both.contains(&true)
        }
        Some(Exp::Op(_) | Exp::Nest(_)) | None => false,
    }
}

/// Whether some path through the block ends without such a call.
fn has_end(block: &Block, id: FnId) -> bool {
    match last(block).map(|stm| &stm.exp) {
        Some(Exp::Op(Op::Call { function, .. })) => *function != id,
        Some(Exp::Nest(Nest::If { then, otherwise, .. })) => {
            has_end(then, id) || has_end(otherwise, id)
        }
        Some(Exp::Op(_) | Exp::Nest(_)) | None => true,
    }
}

impl Tail {
    fn rewrite(&self, function: &mut Function) {
        let go = function.names.fresh("go");
        let state: Vec<Param> = self.changed.iter().map(|k| function.params[*k].clone()).collect();
        let mut again = |p: &Param| Param { var: function.names.again(p.var), ty: p.ty.clone() };
        let mut params: Vec<Param> = state.iter().map(&mut again).collect();
        let mut binds: Vec<Param> = state.iter().map(&mut again).collect();
        let mut inside = Renaming::new();
        let mut after = Renaming::new();
        for ((p, param), bind) in state.iter().zip(&params).zip(&binds) {
            inside.insert(p.var, param.var.into());
            after.insert(p.var, bind.var.into());
        }
        let copy = inside.copy(&function.body, &mut function.names);
        let current: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
        let body = self.next(copy, &current, &state, function);
        let inits = state.iter().map(|p| p.var.into()).chain([Atom::bool(true)]).collect();
        params.push(Param { var: go, ty: Ty::bool() });
        binds.push(Param { var: function.names.fresh("went"), ty: Ty::bool() });
        let cond = Block { stms: Vec::new(), results: vec![go.into()] };
        let nest = Nest::Loop { params, inits, kind: LoopKind::While(cond), body };
        after.apply(&mut function.body);
        function.results.iter_mut().for_each(|ty| *ty = after.ty(ty));
        function.body.stms.insert(0, Stm::new(binds, nest));
    }

    /// Rewrites a block to return the next state, and whether the recursion goes on.
    fn next(
        &self,
        mut block: Block,
        current: &[Atom],
        state: &[Param],
        function: &mut Function,
    ) -> Block {
        let mut found = Vec::new();
        let ends = |block: &mut Block| {
            block.stms.clear();
            block.results = current.iter().copied().chain([Atom::bool(false)]).collect();
        };
        if !tail_calls(&block, self.id, &mut found) {
            ends(&mut block);
            return block;
        }
        match block.stms.pop().map(|stm| stm.exp) {
            Some(Exp::Nest(Nest::If { cond, then, otherwise })) => {
                let then = self.next(then, current, state, function);
                let otherwise = self.next(otherwise, current, state, function);
                let mut binds: Vec<Param> = (state.iter())
                    .map(|p| Param { var: function.names.again(p.var), ty: p.ty.clone() })
                    .collect();
                binds.push(Param { var: function.names.fresh("go"), ty: Ty::bool() });
                block.results = binds.iter().map(|p| Atom::from(p.var)).collect();
                block.stms.push(Stm::new(binds, Nest::If { cond, then, otherwise }));
            }
            Some(Exp::Op(Op::Call { args, .. })) => {
                let next = self.changed.iter().map(|k| args[*k]);
                block.results = next.chain([Atom::bool(true)]).collect();
            }
            Some(Exp::Op(_) | Exp::Nest(_)) | None => ends(&mut block),
        }
        block
    }
}
