//! Updates are done as late as possible, so that what is read of the old array is read before it is
//! updated:
//!
//! ```text
//!   b = m[j]; m₁ = m with [i] = b; a = m[i]; m₂ = m₁ with [j] = a
//!   becomes   b = m[j]; a = m[i]; m₁ = m with [i] = b; m₂ = m₁ with [j] = a
//! ```
//!
//! The reverse sweep then meets the update first. What it contributes is a whole array, which is
//! where the accumulator for what the reads contribute starts; the other way around, an accumulator
//! would start with zeros and have the whole array added to it, at a cost that the program has not
//! paid.
//!
//! * Gives: the same function; an update stands right before the first statement that mentions the
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
        // What comes to stand before a statement has been before it.
        stms.sort_by_key(|(place, _)| *place);
        b.stms = stms.into_iter().map(|(_, stm)| stm).collect();
    }
}

fn is_update(stm: &Stm) -> bool {
    matches!(stm.exp, Exp::Op(Op::Update { .. }))
}

/// Where each statement goes: an update to the first statement that mentions what it gives, or to
/// the end.
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
