//! Code that is placed a second time must not have its effects a second time: additions to accumulators are dropped,
//! and of the checks, which have succeeded before, only the equations of sizes stay, because types rest on them.

use std::collections::HashSet;

use lambada_anf::{Atom, Effect, Exp, Op, Stm, Var};
use lambada_prim::Prim;

/// The statement without its additions to accumulators that it has not made and that are not among the given ones.
pub(crate) fn without_additions(stm: &mut Stm, accumulators: &HashSet<Var>) {
    let mut keep = accumulators.clone();
    made(stm, &|stm| stm.exp.effect() == Effect::Makes, &mut keep);
    stm.retain_inside(
        &|stm| !matches!(stm.exp.effect(), Effect::Adds(acc) if !keep.contains(&acc)),
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
