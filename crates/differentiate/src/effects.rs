//! Code that is placed a second time must not have its effects a second time: additions to
//! accumulators are dropped, nothing is shown, and of the checks, which have succeeded before, only
//! the equations of sizes stay, because types rest on them.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Effect, Exp, Op, Stm, Var};
use lambada_prim::Prim;

/// The statement without its additions to accumulators that it has not made and that are not among
/// the given ones, nor to cells of nodes that it has not made.
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

/// What the statement binds inside and does not take out of a node or an array from outside.
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

/// The statement without what it shows, which has been shown.
pub(crate) fn without_inspections(stm: &mut Stm) {
    stm.retain_inside(&|stm| stm.exp.effect() != Effect::Inspects);
}

/// The statement without the checks in it that are not equations of sizes, and without what it
/// shows.
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

/// Does it call a function, or make a node?
pub(crate) fn calls_or_makes(exp: &Exp) -> bool {
    matches!(exp, Exp::Op(Op::Call { .. } | Op::Node { .. }))
}

/// What a block binds, with its index and state.
pub(crate) fn bound_in(outer: &[Var], block: &Block) -> HashSet<Var> {
    block
        .stms
        .iter()
        .flat_map(|stm| &stm.binds)
        .map(|p| p.var)
        .chain(outer.iter().copied())
        .collect()
}
