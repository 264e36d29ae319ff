//! Tests of constructors as `match`. A `tag` and its comparisons with constants are written where they are used; an `if` on one is a `match`
//! whose patterns name the fields that the branches read.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, NodeId, Var};
use lambada_surface::ast::{Arm, Expr, PatternKind};
use lambada_surface::build;

use crate::printer::Printer;
use crate::words::fields_read;

impl Printer<'_> {
    /// `if` on a test of a constructor, as a `match`; nothing if the condition is none. `write` writes a branch.
    pub(crate) fn matched(
        &mut self,
        cond: Atom,
        branches: [&Block; 2],
        write: &mut dyn FnMut(&mut Self, &Block) -> Expr,
    ) -> Option<Expr> {
        let (of, tag, holds) = *self.handles.tests.get(&cond.as_var()?)?;
        let id = *self.handles.types.get(&of)?;
        let [mut yes, mut no] = branches;
        if !holds {
            (yes, no) = (no, yes);
        }
        let subject = self.atom(of.into());
        let mut excluded = self.handles.excluded.get(&of).cloned().unwrap_or_default();
        let mut tags = self.words.tags(id);
        tags.retain(|t| !excluded.contains(t));
        // Where the arms around it leave no choice there is nothing to match: one arm alone would not cover the type.
        if !tags.contains(&tag) {
            return Some(write(self, no));
        }
        if tags.len() == 1 {
            return Some(write(self, yes));
        }
        let mut arms = vec![self.arm(of, id, tag, yes, write)];
        excluded.insert(tag);
        let left: Vec<i64> = tags.into_iter().filter(|t| *t != tag).collect();
        let outside = self.handles.excluded.insert(of, excluded);
        match left[..] {
            [] => unreachable!("there are two at least"),
            [last] => arms.push(self.arm(of, id, last, no, write)),
            _ => {
                let pattern = build::pattern(PatternKind::Wildcard);
                arms.push(Arm { pattern, body: write(self, no) });
            }
        }
        match outside {
            Some(outside) => _ = self.handles.excluded.insert(of, outside),
            None => _ = self.handles.excluded.remove(&of),
        }
        Some(build::match_(subject, arms))
    }

    fn arm(
        &mut self,
        of: Var,
        id: NodeId,
        tag: i64,
        block: &Block,
        write: &mut dyn FnMut(&mut Self, &Block) -> Expr,
    ) -> Arm {
        let mut names = HashMap::new();
        if let Ok(tag) = u32::try_from(tag) {
            for (field, var) in fields_read(block, of, tag) {
                if self.uses.any(var) {
                    let hint = self.tokens.hint(var);
                    let name = self.tokens.fresh(&hint);
                    self.handles.fields.insert((of, tag, field), name.clone());
                    names.insert(field, name);
                }
            }
        }
        let body = write(self, block);
        self.handles.fields.retain(|(node, _, _), _| *node != of);
        Arm { pattern: self.words.binding(id, tag, &names), body }
    }
}
