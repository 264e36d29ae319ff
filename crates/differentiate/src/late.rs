//! Moves updates as late as possible, so that reads of the old array precede its update:
//!
//! ```text
//!   b = m[j]; m₁ = m with [i] = b; a = m[i]; m₂ = m₁ with [j] = a
//!   becomes   b = m[j]; a = m[i]; m₁ = m with [i] = b; m₂ = m₁ with [j] = a
//! ```
//!
//! The reverse sweep then meets the update first. Its contribution is a whole array, in which the
//! accumulator for the reads can start. In the other order, an accumulator would start with zeros
//! and the whole array would be added to it, at a cost that the program has not paid.
//!
//! * Gives: the same function, with each update right before the first statement that mentions the
//!   new array.
//! * Keeps: values and failures: an update is pure, and in range wherever a later statement is
//!   reached.

use std::collections::HashMap;

use lambada_anf::{Block, Exp, Lambda, Op, Stm, Var};

/// Moves the updates of a function.
pub(crate) fn late_updates(mut f: Lambda) -> Lambda {
    block(&mut f.body);
    f
}

fn block(b: &mut Block) {
    b.stms.iter_mut().flat_map(|stm| stm.exp.blocks_mut()).for_each(block);
    if b.stms.iter().any(is_update) {
        let places = places(b);
        let mut stms: Vec<(usize, Stm)> =
            places.into_iter().zip(std::mem::take(&mut b.stms)).collect();
        // The sort is stable, so an update stays before the statement whose place it takes.
        stms.sort_by_key(|(place, _)| *place);
        b.stms = stms.into_iter().map(|(_, stm)| stm).collect();
    }
}

fn is_update(stm: &Stm) -> bool {
    matches!(stm.exp, Exp::Op(Op::Update { .. }))
}

/// The new place of each statement: an update goes to the first statement that mentions its result,
/// or to the end.
fn places(b: &Block) -> Vec<usize> {
    let mut places: Vec<usize> = (0..b.stms.len()).collect();
    let mut first: HashMap<Var, usize> = HashMap::new();
    for (k, stm) in b.stms.iter().enumerate().rev() {
        if is_update(stm) {
            places[k] = first.get(&stm.binds[0].var).copied().unwrap_or(b.stms.len());
        }
        for x in stm.free_vars() {
            let place = first.entry(x).or_insert(places[k]);
            *place = places[k].min(*place);
        }
    }
    places
}
