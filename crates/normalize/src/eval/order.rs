//! The order of differentiation: a derivative is taken of code that is complete, with all functions
//! that it calls.

use std::collections::HashSet;

use lambada_anf::{Block, FnId, Rules};

use super::Evaluator;
use crate::Eval;
use crate::messages;
use crate::rehearsal::called;

impl Evaluator<'_> {
    /// Completes what a block calls; an error if that is what is being written around it.
    pub(super) fn ready(&mut self, block: &Block) -> Eval<()> {
        if self.emit.library.is_empty() {
            return Ok(());
        }
        self.complete()?;
        let reached = self.reached(block);
        if let Some(names) = self.library.circle(&reached) {
            return Err(Box::new(messages::circle(&names)));
        }
        if !reached.is_empty() {
            self.library.freeze();
        }
        Ok(())
    }

    /// The functions that a block calls, and those that they call.
    fn reached(&self, block: &Block) -> HashSet<FnId> {
        let mut found = HashSet::new();
        let mut open: Vec<FnId> = called(&block.stms);
        while let Some(id) = open.pop() {
            if found.insert(id)
                && let Some(function) = self.emit.library.function(id)
            {
                open.extend(called(&function.body.stms));
                let rules = function.rules.iter().flat_map(Rules::all);
                open.extend(rules.map(|rule| rule.function));
            }
        }
        found
    }
}
