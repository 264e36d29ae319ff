//! Counts active `while` loops, for derivatives that become source. The only tape of unknown length
//! in source is a list, and the derivative of code that builds lists has cells, which source lacks.
//! So a readable derivative runs a `while` twice and keeps arrays; compiled code runs it once
//! ([`crate::while_`]), and so does readable code whose loop calls functions or makes nodes.
//!
//! ```text
//!   zs = loop (xs = as) while c { b }   becomes  _, n = loop (xs = as, k = 0) while c { b; k + 1 }
//!                                                zs = loop (xs = as) for i < n { b }
//! ```
//!
//! * Gives: the same function, in which every such loop is counted. The first loop keeps only
//!   the statements of `b` that the condition and the checks depend on.
//! * Keeps: values and checks. Additions to accumulators happen once, in the second loop.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Exp, Lambda, LoopKind, Names, Nest, Op, Param, Renaming, Stm, Ty};
use lambada_prim::Prim;

use crate::activity::{Activity, Scope};
use crate::effects::{calls_or_makes, without_additions, without_inspections};

/// Counts the active `while` loops of a function.
pub(crate) fn count_loops(names: &mut Names, scope: &Scope, f: &Lambda) -> Lambda {
    let activity = Activity::of(scope, f);
    let mut f = f.clone();
    block(names, &activity, &mut f.body);
    f
}

fn block(names: &mut Names, activity: &Activity, block: &mut Block) {
    let stms = std::mem::take(&mut block.stms);
    for mut stm in stms {
        if let Some(counting) = counting(names, activity, &mut stm) {
            block.stms.push(counting);
        }
        stm.exp.blocks_mut().into_iter().for_each(|inner| self::block(names, activity, inner));
        block.stms.push(stm);
    }
}

/// The counting loop before an active `while`, which becomes counted.
fn counting(names: &mut Names, activity: &Activity, stm: &mut Stm) -> Option<Stm> {
    let original = stm.clone();
    let concerned = activity.concerns(stm);
    let Exp::Nest(Nest::Loop { params, kind, .. }) = &mut stm.exp else { return None };
    if matches!(kind, LoopKind::For { .. })
        || original.any(&mut |stm| calls_or_makes(&stm.exp))
        || !(concerned || params.iter().any(|p| activity.active(p.var)))
    {
        return None;
    }
    let mut counting = Renaming::new().copy_stm(&original, names);
    without_additions(&mut counting, &HashSet::new());
    let [k, count, next] =
        ["k", "count", "k"].map(|hint| Param { var: names.fresh(hint), ty: Ty::int() });
    if let Exp::Nest(Nest::Loop { params, inits, body, .. }) = &mut counting.exp {
        let add = Op::Prim(Prim::AddInt, vec![k.var.into(), Atom::int(1)]);
        body.results.push(next.var.into());
        body.stms.push(Stm::new(vec![next], add));
        params.push(k);
        inits.push(Atom::int(0));
    }
    *kind = LoopKind::counted(names.fresh("i"), count.var.into());
    counting.binds.push(count);
    // The counting loop runs first, so it does the inspections.
    without_inspections(stm);
    Some(counting)
}
