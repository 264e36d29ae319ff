//! Sizes inside variants. The fields of all constructors other than the value's own are zeros of
//! any size, so their sizes count only where the value has that constructor. Mostly they are
//! evidently equal anyway, and no guard is needed.

use lambada_anf::{Atom, Out, Ty};
use lambada_prim::{Prim, ReduceOp};
use lambada_source::Span;

use crate::emit::Emit;
use crate::val::{Leaf, Val};

/// A step on the path to a size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Guard {
    /// Into an array of this extent.
    Axis(Atom),
    /// Into a field of the constructor, if this tag is its number.
    Is(Leaf, i64),
}

/// Whether the path leads through a variant.
pub(crate) fn is_guarded(guards: &[Guard]) -> bool {
    guards.iter().any(|g| matches!(g, Guard::Is(..)))
}

/// The sizes in a value, each once, with all paths that lead to it.
pub(crate) fn guarded_extents(value: &Val) -> Vec<(Atom, Vec<Vec<Guard>>)> {
    let mut found = Vec::new();
    walk(value, &mut Vec::new(), &mut found);
    found
}

fn walk(value: &Val, guards: &mut Vec<Guard>, found: &mut Vec<(Atom, Vec<Vec<Guard>>)>) {
    let mut inside = |guard: Guard, vals: &[Val]| {
        guards.push(guard);
        vals.iter().for_each(|val| walk(val, guards, found));
        guards.pop();
    };
    match value {
        Val::Leaf(_) | Val::Node(_) | Val::Acc(_) => {}
        Val::Tuple(items) => items.iter().for_each(|val| walk(val, guards, found)),
        Val::Array(array) => {
            match found.iter_mut().find(|(size, _)| *size == array.extent) {
                Some((_, ways)) => ways.push(guards.clone()),
                None => found.push((array.extent, vec![guards.clone()])),
            }
            guards.push(Guard::Axis(array.extent));
            walk(&array.elem, guards, found);
            guards.pop();
        }
        Val::Variant(variant) => {
            for (fields, c) in variant.fields.iter().zip(0..) {
                let fields = fields.as_deref().unwrap_or_default();
                inside(Guard::Is(variant.tag.clone(), c), fields);
            }
        }
        Val::Fun(fun) => {
            for closure in &fun.alternatives {
                inside(Guard::Is(fun.tag.clone(), closure.code.number), &closure.env);
            }
        }
    }
}

impl Emit {
    /// Whether any of the paths leads to a field of the value's own constructor.
    pub fn any_active(&mut self, ways: &[Vec<Guard>]) -> Atom {
        ways.iter().fold(Atom::bool(false), |any, way| {
            let active = self.active(way);
            self.prim(Prim::Or, &[any, active])
        })
    }

    /// Whether the value has all constructors on the path, for some element of the arrays on the
    /// path.
    pub fn active(&mut self, way: &[Guard]) -> Atom {
        if !is_guarded(way) {
            return Atom::bool(true);
        }
        match &way[0] {
            Guard::Is(tag, number) => {
                let tag = self.force(tag);
                let is = self.prim(Prim::EqInt, &[tag, Atom::int(*number)]);
                let rest = self.active(&way[1..]);
                self.prim(Prim::And, &[is, rest])
            }
            Guard::Axis(extent) => self.any_element(*extent, &way[1..]),
        }
    }

    fn any_element(&mut self, extent: Atom, way: &[Guard]) -> Atom {
        let index = self.enter_for(extent);
        let inner: Vec<Guard> = way
            .iter()
            .map(|guard| match guard {
                Guard::Axis(extent) => Guard::Axis(*extent),
                Guard::Is(tag, number) => Guard::Is(tag.at(index.into()), *number),
            })
            .collect();
        let active = self.active(&inner);
        if active.as_lit().is_some() {
            self.leave();
            return active;
        }
        let out = (Out::Reduce(ReduceOp::Or), Ty::bool(), "any".into());
        self.leave_for(index, extent, out, active)
    }

    /// Fails if the value is active and the sizes differ.
    pub fn check_equal_if(&mut self, active: Atom, a: Atom, b: Atom, span: Span, message: &str) {
        if self.facts.equal(a, b) {
            return;
        }
        let inactive = self.prim(Prim::Not, &[active]);
        let same = self.prim(Prim::EqInt, &[a, b]);
        let cond = self.prim(Prim::Or, &[inactive, same]);
        self.check(cond, span, message, vec![a, b]);
    }

    /// The common size of the active values; 0 if none is active. Fails if two active ones differ.
    pub fn agree(&mut self, sizes: &[(Atom, &[Guard])], span: Span, message: &str) -> Atom {
        let first = sizes[0].0;
        if sizes.iter().all(|(size, _)| self.facts.equal(first, *size)) {
            return first;
        }
        if sizes.iter().all(|(_, way)| !is_guarded(way)) {
            sizes[1..].iter().for_each(|(size, _)| self.check_equal(first, *size, span, message));
            return first;
        }
        let active: Vec<Atom> = sizes.iter().map(|(_, way)| self.active(way)).collect();
        let all = sizes.iter().zip(&active).rev();
        let common = all.fold(Atom::int(0), |rest, ((size, _), active)| {
            self.prim(Prim::SelectInt, &[*active, *size, rest])
        });
        if let Atom::Var(var) = common {
            self.facts.nonnegative(var);
        }
        for ((size, _), active) in sizes.iter().zip(&active) {
            self.check_equal_if(*active, common, *size, span, message);
        }
        common
    }
}
