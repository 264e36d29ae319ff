//! Whether a loop fails only where another has failed before, in the same iteration.
//!
//! Two bodies that run one after the other are compared by the slices that their checks depend on.
//! Equal pure statements on equal operands have equal values; a check, or a construct with checks
//! in it, cannot fail if it equals one before it up to the names that it binds.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Exp, Nest, Op, Renaming, Stm, Var};

use crate::common_subexpressions as cse;

/// Whether the statements of a body after the first `before`, which come from the first loop,
/// cannot fail.
pub(crate) fn covered(body: &Block, before: usize) -> bool {
    let mut needed = HashSet::new();
    let mut slice: Vec<(usize, Stm)> = Vec::new();
    for (k, stm) in body.stms.iter().enumerate().rev() {
        slice.extend(failing_part(stm, &mut needed).map(|stm| (k, stm)));
    }
    let mut image = Renaming::new();
    let mut known: HashMap<cse::Key, Vec<Var>> = HashMap::new();
    for (k, mut stm) in slice.into_iter().rev() {
        image.apply_stm(&mut stm);
        let fails = stm.may_fail();
        if !fails && !stm.is_pure() {
            continue;
        }
        let key = cse::key(&stm);
        match known.get(&key) {
            Some(vars) => {
                for (p, var) in stm.binds.iter().zip(vars) {
                    image.insert(p.var, Atom::Var(*var));
                }
            }
            None if fails && k >= before => return false,
            None => _ = known.insert(key, stm.binds.iter().map(|p| p.var).collect()),
        }
    }
    true
}

/// The statement, if it may fail or a later one needs it, without the parts needed for neither.
fn failing_part(stm: &Stm, needed: &mut HashSet<Var>) -> Option<Stm> {
    let wanted = stm.binds.iter().any(|p| needed.contains(&p.var));
    if !wanted && !stm.may_fail() {
        return None;
    }
    let mut stm = stm.clone();
    if !wanted {
        match &mut stm.exp {
            Exp::Nest(Nest::For { outs, body, .. }) => {
                outs.clear();
                body.results.clear();
                stm.binds.clear();
                *body = failing_block(body);
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                stm.binds.clear();
                for block in [then, otherwise] {
                    block.results.clear();
                    *block = failing_block(block);
                }
            }
            Exp::Op(_) | Exp::Nest(Nest::Loop { .. }) => {}
        }
    }
    if let Exp::Op(Op::Check { values, .. }) = &mut stm.exp {
        values.clear();
    }
    stm.mentioned(&mut |v| _ = needed.insert(v));
    Some(stm)
}

fn failing_block(block: &Block) -> Block {
    let mut needed = HashSet::new();
    let mut stms: Vec<Stm> =
        block.stms.iter().rev().filter_map(|stm| failing_part(stm, &mut needed)).collect();
    stms.reverse();
    Block { stms, results: Vec::new() }
}
