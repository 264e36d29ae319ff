//! Code that is placed a second time must not repeat its effects: additions to accumulators and
//! inspections are dropped. Checks, which have succeeded before, are dropped except equations of
//! sizes, because types rest on them.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Effect, Exp, Op, Stm, Var};
use lambada_prim::Prim;

/// Removes additions to accumulators, except to `accumulators` and to the statement's own, and
/// additions to cells of nodes, except the statement's own.
pub(crate) fn without_additions(stm: &mut Stm, accumulators: &HashSet<Var>) {
    let mut keep = accumulators.clone();
    made(stm, &|stm| stm.exp.effect() == Effect::Makes, &mut keep);
    let own = own_handles(stm);
    let is_own = |of: &Atom| of.as_var().is_some_and(|of| own.contains(&of));
    made(stm, &|stm| matches!(&stm.exp, Exp::Op(Op::Open { of, .. }) if is_own(of)), &mut keep);
    stm.retain_inside(&|stm| match &stm.exp {
        Exp::Op(Op::Accumulate { acc, .. }) => keep.contains(acc),
        Exp::Op(Op::Call { args, accumulators, .. }) => {
            let adds = accumulators.iter().any(|acc| keep.contains(acc)) || args.iter().any(is_own);
            adds || !stm.binds.is_empty()
        }
        Exp::Op(_) | Exp::Nest(_) => true,
    });
}

/// Variables bound inside the statement, except reads from an outer node or array.
fn own_handles(stm: &Stm) -> HashSet<Var> {
    let mut own = HashSet::new();
    stm.each(&mut |stm| {
        let from_outside = match &stm.exp {
            Exp::Op(Op::Field { of, .. }) => of.as_var().is_none_or(|of| !own.contains(&of)),
            Exp::Op(Op::Index(of, _)) => !own.contains(of),
            Exp::Op(_) | Exp::Nest(_) => false,
        };
        own.extend(stm.exp.bound());
        if !from_outside {
            own.extend(stm.binds.iter().map(|p| p.var));
        }
    });
    own
}

/// Removes inspections, which have already happened.
pub(crate) fn without_inspections(stm: &mut Stm) {
    stm.retain_inside(&|stm| stm.exp.effect() != Effect::Inspects);
}

/// Removes inspections and all checks except equations of sizes.
pub(crate) fn without_checks(stm: &mut Stm) {
    without_inspections(stm);
    let mut equations = HashSet::new();
    made(
        stm,
        &|stm| matches!(stm.exp, Exp::Op(Op::Prim(Prim::EqInt | Prim::And, _))),
        &mut equations,
    );
    let equation = |cond: &Atom| cond.as_var().is_some_and(|cond| equations.contains(&cond));
    stm.retain_inside(
        &|stm| !matches!(&stm.exp, Exp::Op(Op::Check { cond, .. }) if !equation(cond)),
    );
}

fn made(stm: &Stm, is: &dyn Fn(&Stm) -> bool, vars: &mut HashSet<Var>) {
    stm.each(&mut |stm| {
        if is(stm) {
            vars.extend(stm.binds.iter().map(|p| p.var));
        }
    });
}

/// Whether it calls a function or makes a node.
pub(crate) fn calls_or_makes(exp: &Exp) -> bool {
    matches!(exp, Exp::Op(Op::Call { .. } | Op::Node { .. }))
}

/// The variables that a block binds, with its index and state.
pub(crate) fn bound_in(outer: &[Var], block: &Block) -> HashSet<Var> {
    block
        .stms
        .iter()
        .flat_map(|stm| &stm.binds)
        .map(|p| p.var)
        .chain(outer.iter().copied())
        .collect()
}
