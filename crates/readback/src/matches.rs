//! Tests of constructors as `match`. A `tag` and its comparisons with constants are written where
//! they are used; an `if` on one is a `match` whose patterns bind the fields that the branches
//! read.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{Atom, Block, Exp, Nest, NodeId, Op, Var};
use lambada_prim::Prim;
use lambada_surface::ast::{Arm, Expr, ExprKind, PatternKind};
use lambada_surface::build;

use crate::name_table::fields_read;
use crate::printer::Printer;

impl Printer<'_> {
    /// `if` on a test of a constructor, as a `match`; `None` for another condition. `write` prints
    /// a branch.
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
        let spliced = self.handles.spliced.take() == Some(of);
        let mut excluded = self.handles.excluded.get(&of).cloned().unwrap_or_default();
        let mut tags = self.table.tags(id);
        tags.retain(|t| !excluded.contains(t));
        // The arms around may leave no choice: a match with one arm would not cover the type.
        if !tags.contains(&tag) {
            return Some(write(self, no));
        }
        if tags.len() == 1 {
            return Some(write(self, yes));
        }
        let mut arms = vec![self.arm(of, id, tag, yes, write)];
        // A match of its own in the arm for the others has to cover those constructors, too.
        let complete = spliced || excluded.is_empty();
        excluded.insert(tag);
        let left: Vec<i64> = tags.into_iter().filter(|t| *t != tag).collect();
        let outside = self.handles.excluded.insert(of, excluded);
        match left[..] {
            [] => unreachable!("there are two at least"),
            [last] if complete => arms.push(self.arm(of, id, last, no, write)),
            _ => arms.extend(self.others((of, complete), &subject, no, write)),
        }
        match outside {
            Some(outside) => _ = self.handles.excluded.insert(of, outside),
            None => _ = self.handles.excluded.remove(&of),
        }
        Some(build::match_(subject, arms))
    }

    /// The arm for all other constructors; if it is a match of the same value, its arms.
    /// `complete`: whether the arms around and these cover the type together.
    fn others(
        &mut self,
        (of, complete): (Var, bool),
        subject: &Expr,
        block: &Block,
        write: &mut dyn FnMut(&mut Self, &Block) -> Expr,
    ) -> Vec<Arm> {
        if is_choice(block) {
            let inline = self.inline.clone();
            self.handles.spliced = complete.then_some(of);
            let mut body = write(self, block);
            self.handles.spliced = None;
            if let ExprKind::Match(inner, arms) = &mut body.kind
                && **inner == *subject
            {
                return std::mem::take(arms);
            }
            // It is printed anew, to stand alone.
            self.inline = inline;
        }
        let pattern = build::pattern(PatternKind::Wildcard);
        vec![build::arm(pattern, write(self, block))]
    }

    /// The name of a field in a pattern. If the field is a size, the name is given to its array.
    pub(crate) fn part_hint(&self, id: NodeId, (tag, field): (u32, u32), var: Var) -> Rc<str> {
        let hint = self.tokens.hint(var);
        match self.table.is_size(id, tag, field) {
            true => hint.strip_suffix("_size").map_or(hint.clone(), Rc::from),
            false => hint,
        }
    }

    fn arm(
        &mut self,
        of: Var,
        id: NodeId,
        tag: i64,
        block: &Block,
        write: &mut dyn FnMut(&mut Self, &Block) -> Expr,
    ) -> Arm {
        let mut names: HashMap<u32, Rc<str>> = HashMap::new();
        let mut computed: Vec<(Rc<str>, Expr)> = Vec::new();
        if let Ok(tag) = u32::try_from(tag) {
            let mut read = fields_read(block, of, tag);
            read.retain(|(_, var)| self.uses.any(*var));
            // A size is read from its array, which has its own name if the block reads the array,
            // too.
            read.sort_by_key(|(field, _)| self.table.is_size(id, tag, *field));
            for (field, var) in read {
                let bound = self.table.bound(id, tag, field);
                let hint = self.part_hint(id, (tag, field), var);
                let name = names.entry(bound).or_insert_with(|| self.tokens.fresh(&hint)).clone();
                let fresh = &mut |hint: &str| self.tokens.fresh(hint);
                let (_, mut value) = self.table.reading(id, tag, field, name, fresh);
                // A value that takes a loop is computed once.
                if matches!(value.kind, ExprKind::For(..) | ExprKind::LetFunctions(..)) {
                    let name = self.tokens.fresh(&self.tokens.hint(var));
                    let own = std::mem::replace(&mut value, build::var(name.clone()));
                    computed.push((name, own));
                }
                self.handles.fields.insert((of, tag, field), value);
            }
        }
        let mut body = write(self, block);
        for (name, value) in computed.into_iter().rev() {
            body = build::let_(build::binds(name), value, body);
        }
        self.handles.fields.retain(|(node, _, _), _| *node != of);
        build::arm(self.table.binding(id, tag, &names), body)
    }
}

/// Whether the block is an `if` on tests of tags, and nothing else.
fn is_choice(block: &Block) -> bool {
    let Some((last, before)) = block.stms.split_last() else { return false };
    let tests =
        |exp: &Exp| matches!(exp, Exp::Op(Op::Tag(_) | Op::Prim(Prim::EqInt | Prim::NeInt, _)));
    matches!(last.exp, Exp::Nest(Nest::If { .. })) && before.iter().all(|stm| tests(&stm.exp))
}
