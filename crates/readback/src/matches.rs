//! Tests of constructors as `match`. A `tag` and its comparisons with constants are written where they are used; an `if` on one is a `match`
//! whose patterns name the fields that the branches read.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::{Atom, Block, NodeId, Var};
use lambada_prim::{Prim, Scalar};
use lambada_surface::ast::{Arm, Expr, PatternKind};
use lambada_surface::build;

use crate::library::fields_read;
use crate::printer::Printer;

/// What is known of handles while a definition is written.
#[derive(Default)]
pub(crate) struct Handles {
    /// The types of the nodes.
    pub(crate) types: HashMap<Var, NodeId>,
    /// Tags, and of which handles.
    pub(crate) tags: HashMap<Var, Var>,
    /// Conditions that test a handle for a constructor, or for being another one.
    tests: HashMap<Var, (Var, i64, bool)>,
    /// Names for fields, by handle, constructor and field, in the arm that has matched it.
    fields: HashMap<(Var, u32, u32), Rc<str>>,
    /// Constructors that a handle does not have, in the arms for the others.
    excluded: HashMap<Var, HashSet<i64>>,
}

impl Handles {
    /// The name of a field that a pattern has bound.
    pub(crate) fn field(&self, of: Var, tag: u32, field: u32) -> Option<Rc<str>> {
        self.fields.get(&(of, tag, field)).cloned()
    }

    /// Notes a comparison of a tag with a constant; is it one?
    pub(crate) fn test(&mut self, var: Var, op: Prim, args: &[Atom]) -> bool {
        let holds = match op {
            Prim::EqInt => true,
            Prim::NeInt => false,
            _ => return false, // no comparison for equality
        };
        let (tag, constant) = match args {
            [Atom::Var(tag), Atom::Lit(Scalar::Int(k))]
            | [Atom::Lit(Scalar::Int(k)), Atom::Var(tag)] => (tag, *k),
            _ => return false,
        };
        let of = self.tags.get(tag).copied();
        self.tests.extend(of.map(|of| (var, (of, constant, holds))));
        of.is_some()
    }
}

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
        let tags = self.words.tags(id);
        let mut arms = Vec::new();
        if tags.contains(&tag) && !excluded.contains(&tag) {
            arms.push(self.arm(of, id, tag, yes, write));
        }
        excluded.insert(tag);
        let left: Vec<i64> = tags.into_iter().filter(|t| !excluded.contains(t)).collect();
        let outside = self.handles.excluded.insert(of, excluded);
        match left[..] {
            [] => {}
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
