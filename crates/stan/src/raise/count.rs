//! Loops over integers: arrays whose elements are independent, sums, and variables that are carried
//! from iteration to iteration.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::loops::{Filled, Loop, elem_name};
use super::walk::{docs, only_added, without, written};
use super::{Bind, Item, Raise, finish, start, sum_of};
use crate::term::{Clause, Names, Op, Pat, Term, bin, call, for_};

/// Arrays that a loop fills, and how.
type Arrays = BTreeMap<Rc<str>, Filled>;

/// Arrays that are made together, and how.
type Group = Vec<(Rc<str>, Filled)>;

/// The names that a loop changes, by translation.
struct Parts {
    /// Arrays whose elements do not depend on the round before.
    filled: Arrays,
    /// Numbers that are only added to.
    added: Names,
    /// All others.
    rest: Vec<Rc<str>>,
    /// The body with variables for the elements of `filled`.
    body: Vec<Bind>,
}

impl Raise<'_> {
    pub(super) fn count(&self, mut one: Loop, live: &mut Names, sums: &Names, out: &mut Vec<Item>) {
        let changed = written(one.body.iter());
        let useful: Names = changed
            .iter()
            .filter(|name| live.contains(*name) || sums.contains(*name))
            .cloned()
            .collect();
        if useful.is_empty() {
            return;
        }
        one.exchange();
        one.shift(self.dims);
        let Parts { filled, added, rest, body } = self.parts(&one, &changed, &useful);
        // Arrays that are needed later are read where they are used in the rest of the loop.
        let is_shared = |name: &&Rc<str>| {
            live.contains(*name) && filled[*name] == Filled::Rows && one.written_before_read(name)
        };
        let shared: Vec<Rc<str>> = filled.keys().filter(is_shared).cloned().collect();
        let body = if shared.is_empty() { body } else { self.reading(&one, &filled, &shared) };
        let wanted = changed.iter().filter(|name| live.contains(*name));
        let wanted: Vec<(Rc<str>, Filled)> =
            wanted.filter_map(|name| Some((name.clone(), *filled.get(name)?))).collect();
        let mut items = self.arrays(&one, &wanted, &filled, &shared);
        for name in changed.iter().filter(|name| added.contains(*name)) {
            let value = own_names(self.sum(body.clone(), name), &filled);
            items.extend(total(name, value, one.clause(), sums));
        }
        let mut after = live.clone();
        after.extend(sums.iter().filter(|sum| rest.contains(sum)).cloned());
        let kept = self.carried(None, &body, &after, &rest);
        let mut carried = Vec::new();
        if !kept.is_empty() {
            let next = Box::new(own_names(self.block(body, &kept), &filled));
            let init = Box::new(start(&kept, sums));
            let value = Term::Loop(Pat::Names(kept.clone()), init, one.clause(), next);
            finish(kept, value, live, sums, &mut carried);
        }
        items.iter().rev().for_each(|item| item.needs(live));
        out.extend(carried);
        out.extend(items.into_iter().rev());
    }

    /// The parts of a loop: whatever depends on the round before cannot be computed for each index
    /// by itself, and neither can what depends on that.
    fn parts(&self, one: &Loop, changed: &[Rc<str>], useful: &Names) -> Parts {
        let only = |name: &&Rc<str>| useful.contains(*name) && only_added(&one.body, name);
        let mut added: Names = changed.iter().filter(only).cloned().collect();
        let mut filled = Arrays::new();
        for name in changed.iter().filter(|name| !added.contains(*name)) {
            if let Some(how) = one.fills(name, self.dims) {
                filled.insert(name.clone(), how);
            }
        }
        loop {
            let body = one.by_element(&filled, self.dims);
            let is_other = |name: &&Rc<str>| !filled.contains_key(*name) && !added.contains(*name);
            let rest: Vec<Rc<str>> = changed.iter().filter(is_other).cloned().collect();
            let depends = |mut before: Names, sums: Names| {
                self.all(body.clone(), &mut before, &sums);
                rest.iter().chain(&added).any(|name| before.contains(name))
            };
            let wrong = filled
                .iter()
                .find(|(name, how)| depends(Names::from([elem_name(name, **how)]), Names::new()));
            if let Some((name, _)) = wrong {
                let name = name.clone();
                filled.remove(&name);
                continue;
            }
            let wrong =
                added.iter().find(|name| depends(Names::new(), Names::from([(*name).clone()])));
            let Some(name) = wrong.cloned() else { return Parts { filled, added, rest, body } };
            added.remove(&name);
        }
    }

    /// The body of a loop that reads some of the arrays that it fills, and computes the others.
    fn reading(&self, one: &Loop, filled: &Arrays, known: &[Rc<str>]) -> Vec<Bind> {
        let mut rest = filled.clone();
        rest.retain(|name, _| !known.contains(name));
        Loop { body: without(&one.body, known), ..one.clone() }.by_element(&rest, self.dims)
    }

    /// The arrays that are needed after a loop as comprehensions. An array whose computation has
    /// that of another one within it is made together with that.
    fn arrays(
        &self,
        one: &Loop,
        wanted: &[(Rc<str>, Filled)],
        filled: &Arrays,
        shared: &[Rc<str>],
    ) -> Vec<Item> {
        let mut groups: Vec<(Group, Vec<Bind>)> = Vec::new();
        for (k, (name, how)) in wanted.iter().enumerate() {
            let earlier = wanted[..k].iter().map(|(name, _)| name.clone());
            let earlier: Vec<Rc<str>> = earlier.filter(|name| shared.contains(name)).collect();
            let body = self.reading(one, filled, &earlier);
            let mut inside = Names::new();
            self.block(body.clone(), &[elem_name(name, *how)]).variables(&mut inside);
            let with = groups.iter_mut().find(|(group, _)| {
                group.len() < 8
                    && group.iter().any(|(other, kind)| inside.contains(&elem_name(other, *kind)))
            });
            match with {
                Some((group, together)) => {
                    group.push((name.clone(), *how));
                    *together = body;
                }
                None => groups.push((vec![(name.clone(), *how)], body)),
            }
        }
        groups.into_iter().flat_map(|(group, body)| self.group(one, &group, body, filled)).collect()
    }

    /// Arrays that one comprehension makes.
    fn group(
        &self,
        one: &Loop,
        group: &[(Rc<str>, Filled)],
        body: Vec<Bind>,
        filled: &Arrays,
    ) -> Vec<Item> {
        let elems: Vec<Rc<str>> = group.iter().map(|(name, how)| elem_name(name, *how)).collect();
        let names: Vec<Rc<str>> = group.iter().map(|(name, _)| name.clone()).collect();
        let value = own_names(self.block(body, &elems), filled);
        let doc = match value {
            Term::Let(..) | Term::Commented(..) => Vec::new(),
            _ => docs(&one.body, &names[0]),
        };
        let value = for_(one.clause(), value);
        let turned = |value: Term| call("transpose", [value]);
        let value = match group {
            [(_, Filled::Columns)] => turned(value),
            [_] => value,
            [_, _] => call("unzip", [value]),
            more => call(&format!("unzip{}", more.len()), [value]),
        };
        let mut items = vec![Item::Let(Pat::Names(names), value, doc)];
        if group.len() > 1 {
            let columns = group.iter().filter(|(_, how)| *how == Filled::Columns);
            items.extend(columns.map(|(name, _)| {
                let value = turned(Term::Var(name.clone()));
                Item::Let(Pat::Names(vec![name.clone()]), value, Vec::new())
            }));
        }
        items
    }
}

/// The sum of the terms that the iterations add to a name.
fn total(name: &Rc<str>, value: Term, clause: Clause, sums: &Names) -> Option<Item> {
    if value == Term::Int(0) {
        return None;
    }
    // The comment of the only summand is that of the sum.
    let (doc, value) = match value {
        Term::Commented(text, value) => (vec![text.to_string()], *value),
        value => (Vec::new(), value),
    };
    let value = sum_of(clause, value);
    if sums.contains(name) {
        return Some(Item::Add(value, doc));
    }
    let value = bin(Op::Add, Term::Var(name.clone()), value);
    Some(Item::Let(Pat::Names(vec![name.clone()]), value, doc))
}

/// The term with the names of arrays for their elements, where the arrays do not occur.
fn own_names(mut term: Term, filled: &Arrays) -> Term {
    for (name, how) in filled {
        if !term.mentions(name) {
            term = term.renamed(&elem_name(name, *how), name);
        }
    }
    term
}
