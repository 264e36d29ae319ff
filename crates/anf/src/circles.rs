//! The call graph: its strongly connected components, the circles in which functions call one
//! another.

use std::collections::HashSet;

use rustc_hash::FxHashMap;

use crate::{Block, Exp, FnId, Function, Library, Op};

/// The functions that some functions reach, in circles.
#[derive(Debug, Default)]
pub struct Circles {
    /// The circles, callees first; a function that does not call itself is one by itself.
    pub all: Vec<Vec<FnId>>,
    /// The functions that call themselves, directly or not.
    pub recursive: HashSet<FnId>,
}

impl Block {
    /// The functions that it calls.
    pub fn callees(&self) -> Vec<FnId> {
        let mut found = Vec::new();
        self.each(&mut |stm| {
            if let Exp::Op(Op::Call { function, .. }) = &stm.exp {
                found.push(*function);
            }
        });
        found
    }
}

impl Library {
    /// The functions that these reach, themselves included, with those that the texts of known ones
    /// mention.
    pub fn reached(&self, from: Vec<FnId>) -> HashSet<FnId> {
        let (mut found, mut open) = (HashSet::new(), from);
        while let Some(id) = open.pop() {
            if found.insert(id)
                && let Some(function) = self.function(id)
            {
                open.extend(function.body.callees());
                let given = function.known.iter().flat_map(|known| &known.text.given);
                open.extend(given.filter_map(|f| self.defined(&f.name)));
            }
        }
        found
    }

    /// The function that the text defines because others are given it by this name.
    pub fn defined(&self, name: &str) -> Option<FnId> {
        let is_it = |f: &Option<Function>| {
            let known = f.as_ref().and_then(|f| f.known.as_ref());
            known.is_some_and(|known| known.is_defined() && known.text.name == name)
        };
        self.functions.iter().position(is_it).map(|k| FnId(k as u32))
    }
}

/// A function that has been met and whose circle is not complete.
struct Visit {
    /// The earliest open function that it reaches, by the order of visits.
    reaches: usize,
    /// The callees that are still to be visited.
    callees: Vec<FnId>,
}

impl Library {
    /// The functions that these ones reach, themselves included (Tarjan's algorithm).
    pub fn circles(&self, from: Vec<FnId>) -> Circles {
        let mut circles = Circles::default();
        // The number of each function in the order of visits; none when its circle is complete.
        let mut numbers: FxHashMap<FnId, Option<usize>> = FxHashMap::default();
        let (mut path, mut open): (Vec<(FnId, Visit)>, Vec<FnId>) = Default::default();
        let mut visit = |id: FnId, numbers: &mut FxHashMap<FnId, Option<usize>>| {
            let reaches = numbers.len();
            numbers.insert(id, Some(reaches));
            let callees = self.function(id).map_or(Vec::new(), |f| f.body.callees());
            if callees.contains(&id) {
                circles.recursive.insert(id);
            }
            Visit { reaches, callees }
        };
        let mut all = Vec::new();
        for first in from {
            if numbers.contains_key(&first) {
                continue;
            }
            open.push(first);
            path.push((first, visit(first, &mut numbers)));
            while let Some((id, at)) = path.last_mut() {
                if let Some(next) = at.callees.pop() {
                    match numbers.get(&next) {
                        Some(Some(number)) => at.reaches = at.reaches.min(*number),
                        Some(None) => {}
                        None => {
                            open.push(next);
                            path.push((next, visit(next, &mut numbers)));
                        }
                    }
                    continue;
                }
                let (id, reaches) = (*id, at.reaches);
                path.pop();
                if let Some((_, caller)) = path.last_mut() {
                    caller.reaches = caller.reaches.min(reaches);
                }
                if numbers[&id] == Some(reaches) {
                    let start = open.iter().rposition(|other| *other == id).unwrap_or_default();
                    let circle = open.split_off(start);
                    circle.iter().for_each(|id| _ = numbers.insert(*id, None));
                    all.push(circle);
                }
            }
        }
        let larger = all.iter().filter(|circle| circle.len() > 1).flatten();
        circles.recursive.extend(larger);
        circles.all = all;
        circles
    }
}
