//! Loop-invariant code moves out of loops.
//!
//! Assumes: nothing. Gives: no pure statement in a loop that depends on nothing the loop binds, except those that are cheaper to do again
//! than to keep (`Fill`, updates) and those that might not be safe to run when the loop runs no iteration: reads that are not evidently in
//! range, `while` loops that might not end. Keeps: values and failures: a `Check` never moves.

use std::collections::HashSet;

use lambada_anf::{Block, Exp, Function, LoopKind, Stm, Var};

use crate::facts::{may_fail, mentioned, pure};
use crate::scope::Scope;

/// The pass.
pub(crate) fn hoist(mut function: Function) -> Function {
    let mut scope = Scope::new(&function);
    block(&mut function.body, &mut scope);
    function
}

fn block(b: &mut Block, scope: &mut Scope) {
    let mark = scope.mark();
    for mut stm in std::mem::take(&mut b.stms) {
        let inside = scope.mark();
        scope.enter(&stm.exp);
        nested(&mut stm, scope);
        scope.reset(inside);
        for out in invariant(&mut stm, scope) {
            scope.pass(&out);
            b.stms.push(out);
        }
        scope.pass(&stm);
        if let Exp::Check { cond, .. } = &stm.exp {
            scope.assume(*cond, true);
        }
        b.stms.push(stm);
    }
    scope.reset(mark);
}

fn nested(stm: &mut Stm, scope: &mut Scope) {
    if let Exp::If { cond, then, otherwise } = &mut stm.exp {
        for (b, holds) in [(then, true), (otherwise, false)] {
            let mark = scope.mark();
            scope.assume(*cond, holds);
            block(b, scope);
            scope.reset(mark);
        }
    } else {
        stm.exp.blocks_mut().into_iter().for_each(|b| block(b, scope));
    }
}

/// Takes the invariant statements out of a loop.
fn invariant(stm: &mut Stm, scope: &mut Scope) -> Vec<Stm> {
    let surely_runs = match &stm.exp {
        Exp::For { extent, .. } | Exp::Loop { kind: LoopKind::For { extent, .. }, .. } => {
            scope.proves(lambada_anf::Atom::int(0), *extent, true)
        }
        Exp::Loop { .. } => false,
        Exp::If { .. }
        | Exp::Prim(..)
        | Exp::Index(..)
        | Exp::Fill(_)
        | Exp::Array(_)
        | Exp::Constant(_)
        | Exp::Update { .. }
        | Exp::MatMul(..)
        | Exp::Accumulator(_)
        | Exp::Accumulate { .. }
        | Exp::Freeze(_)
        | Exp::Check { .. } => return Vec::new(),
    };
    let mut inside: HashSet<Var> = stm.exp.bound().into_iter().collect();
    let mut out = Vec::new();
    for body in stm.exp.blocks_mut() {
        let mut unchecked = surely_runs;
        for s in std::mem::take(&mut body.stms) {
            let mut depends = false;
            mentioned(&s, &mut |v| depends |= inside.contains(&v));
            unchecked &= !may_fail(&s);
            if !depends && worthwhile(&s) && pure(&s) && safe(&s, scope, unchecked) {
                scope.pass(&s);
                out.push(s);
            } else {
                inside.extend(s.binds.iter().map(|p| p.var));
                body.stms.push(s);
            }
        }
    }
    out
}

/// Is keeping the value better than computing it again?
fn worthwhile(stm: &Stm) -> bool {
    match &stm.exp {
        Exp::Prim(..)
        | Exp::Index(..)
        | Exp::Array(_)
        | Exp::Constant(_)
        | Exp::For { .. }
        | Exp::Loop { .. }
        | Exp::If { .. }
        | Exp::MatMul(..) => true,
        Exp::Fill(_)
        | Exp::Update { .. }
        | Exp::Accumulator(_)
        | Exp::Accumulate { .. }
        | Exp::Freeze(_)
        | Exp::Check { .. } => false,
    }
}

/// May it run where the program might not have run it? `runs`: the program would have.
fn safe(stm: &Stm, scope: &mut Scope, runs: bool) -> bool {
    match &stm.exp {
        Exp::Index(x, index) => scope.in_range(*x, index),
        Exp::Update { array: x, index, .. } | Exp::Accumulate { acc: x, index, .. } => {
            scope.in_range(*x, index)
        }
        Exp::MatMul(a, b) => {
            let (Some(a), Some(b)) = (scope.ty(*a), scope.ty(*b)) else { return runs };
            runs || a.dims.last() == b.dims.first()
        }
        Exp::Loop { kind: LoopKind::While(_), .. } => runs,
        Exp::For { .. } | Exp::Loop { .. } => inner_safe(stm, scope, runs),
        Exp::If { cond, then, otherwise } => {
            [(then, true), (otherwise, false)].into_iter().all(|(b, holds)| {
                let mark = scope.mark();
                scope.assume(*cond, holds);
                let safe = block_safe(b, scope, runs);
                scope.reset(mark);
                safe
            })
        }
        Exp::Prim(..)
        | Exp::Fill(_)
        | Exp::Array(_)
        | Exp::Constant(_)
        | Exp::Accumulator(_)
        | Exp::Freeze(_)
        | Exp::Check { .. } => true,
    }
}

/// Is every access in a block that does nothing but compute evidently in range here?
pub(crate) fn evident(block: &Block, scope: &mut Scope) -> bool {
    block_safe(block, scope, true)
}

fn inner_safe(stm: &Stm, scope: &mut Scope, runs: bool) -> bool {
    let mark = scope.mark();
    scope.enter(&stm.exp);
    let safe = stm.exp.blocks().into_iter().all(|b| block_safe(b, scope, runs));
    scope.reset(mark);
    safe
}

fn block_safe(block: &Block, scope: &mut Scope, runs: bool) -> bool {
    let mark = scope.mark();
    let safe = block.stms.iter().all(|s| {
        let safe = safe(s, scope, runs);
        scope.pass(s);
        safe
    });
    scope.reset(mark);
    safe
}
