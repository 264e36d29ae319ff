//! Code that is placed a second time must not have its effects a second time: additions to accumulators are dropped,
//! and of the checks, which have succeeded before, only the equations of sizes stay, because types rest on them.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Exp, Op, Stm, Var};
use lambada_prim::Prim;

/// Does the expression add to one of the accumulators?
pub(crate) fn adds_to(exp: &Exp, accumulators: &HashSet<Var>) -> bool {
    match exp {
        Exp::Op(Op::Accumulate { acc, .. }) => accumulators.contains(acc),
        exp => exp
            .blocks()
            .iter()
            .any(|block| block.stms.iter().any(|stm| adds_to(&stm.exp, accumulators))),
    }
}

/// The statement without its additions to accumulators that it has not made and that are not among the given ones.
pub(crate) fn without_additions(stm: &mut Stm, accumulators: &HashSet<Var>) {
    let mut keep = accumulators.clone();
    made(stm, &|stm| matches!(stm.exp, Exp::Op(Op::Accumulator(_))), &mut keep);
    retain(
        &mut stm.exp,
        &|stm| !matches!(&stm.exp, Exp::Op(Op::Accumulate { acc, .. }) if !keep.contains(acc)),
    );
}

/// The statement without the checks in it that are not equations of sizes.
pub(crate) fn without_checks(stm: &mut Stm) {
    let mut equations = HashSet::new();
    made(
        stm,
        &|stm| matches!(stm.exp, Exp::Op(Op::Prim(Prim::EqInt | Prim::And, _))),
        &mut equations,
    );
    let equation = |cond: &Atom| cond.as_var().is_some_and(|cond| equations.contains(&cond));
    retain(
        &mut stm.exp,
        &|stm| !matches!(&stm.exp, Exp::Op(Op::Check { cond, .. }) if !equation(cond)),
    );
}

fn made(stm: &Stm, is: &dyn Fn(&Stm) -> bool, vars: &mut HashSet<Var>) {
    if is(stm) {
        vars.extend(stm.binds.iter().map(|p| p.var));
    }
    for inner in stm.exp.blocks() {
        inner.stms.iter().for_each(|stm| made(stm, is, vars));
    }
}

fn retain(exp: &mut Exp, keep: &dyn Fn(&Stm) -> bool) {
    for block in exp.blocks_mut() {
        retain_in(block, keep);
    }
}

fn retain_in(block: &mut Block, keep: &dyn Fn(&Stm) -> bool) {
    block.stms.retain(|stm| keep(stm));
    block.stms.iter_mut().for_each(|stm| retain(&mut stm.exp, keep));
}
