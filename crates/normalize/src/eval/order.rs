//! The order of differentiation: only complete code is differentiated, with all functions that it
//! calls.

use std::collections::HashSet;

use lambada_anf::{Block, FnId, Rules};

use super::Evaluator;
use crate::Eval;
use crate::messages;
use crate::rehearsal::called;

/// Completes the callees of a block; an error if one of them is under construction.
pub(super) fn ready(of: &mut Evaluator, block: &Block) -> Eval<()> {
    if of.emit.library.is_empty() {
        return Ok(());
    }
    of.complete()?;
    let reached = reached(of, block);
    if let Some(names) = of.library.circle(&reached) {
        return Err(Box::new(messages::circle(&names)));
    }
    if !reached.is_empty() {
        of.library.freeze();
    }
    Ok(())
}

/// The functions that a block calls, directly or through calls.
fn reached(of: &Evaluator, block: &Block) -> HashSet<FnId> {
    let mut found = HashSet::new();
    let mut open: Vec<FnId> = called(&block.stms);
    while let Some(id) = open.pop() {
        if found.insert(id)
            && let Some(function) = of.emit.library.function(id)
        {
            open.extend(called(&function.body.stms));
            let rules = function.rules.iter().flat_map(Rules::all);
            open.extend(rules.map(|rule| rule.function));
        }
    }
    found
}
