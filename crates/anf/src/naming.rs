//! Names for people: unique where they are in scope, as close to the hint as possible, never a number that the compiler uses inside.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::{Names, Var};

/// Gives out names, and takes them back when their scope ends.
pub struct Naming<'a> {
    names: &'a Names,
    /// What some variables are called instead.
    renamed: HashMap<Var, Rc<str>>,
    /// The names that variables were renamed to.
    owned: HashSet<Rc<str>>,
    given: Vec<Option<Rc<str>>>,
    taken: HashSet<Rc<str>>,
    /// By base name: all numbers below are taken.
    next: HashMap<Rc<str>, usize>,
    /// What has been given: name, base and number.
    stack: Vec<(Rc<str>, Rc<str>, usize)>,
}

impl<'a> Naming<'a> {
    /// Nothing has a name yet; the reserved words are for no variable.
    pub fn new<'w>(names: &'a Names, reserved: impl IntoIterator<Item = &'w str>) -> Naming<'a> {
        Naming {
            names,
            renamed: HashMap::new(),
            owned: HashSet::new(),
            given: vec![None; names.len()],
            taken: reserved.into_iter().map(Rc::from).collect(),
            next: HashMap::new(),
            stack: Vec::new(),
        }
    }

    /// Gives a variable another hint, before it comes into scope. Only such variables are called exactly so.
    pub fn rename(&mut self, var: Var, hint: impl Into<Rc<str>>) {
        let hint = hint.into();
        self.owned.insert(hint.clone());
        self.renamed.insert(var, hint);
    }

    /// Gives a variable that has not been renamed another hint.
    pub fn suggest(&mut self, var: Var, hint: &str) {
        self.renamed.entry(var).or_insert_with(|| hint.into());
    }

    /// What a variable would be called if no other were called so.
    pub fn hint(&self, var: Var) -> Rc<str> {
        let own =
            || if (var.0 as usize) < self.names.len() { self.names.hint(var) } else { "t".into() };
        self.renamed.get(&var).cloned().unwrap_or_else(own)
    }

    /// Names a variable that comes into scope.
    pub fn bind(&mut self, var: Var) -> Rc<str> {
        let hint = self.hint(var);
        self.bind_as(var, &hint)
    }

    /// Names a variable that is used, which its author may not have thought of: without the underscore that says that it is not.
    pub fn bind_used(&mut self, var: Var) -> Rc<str> {
        let hint = self.hint(var);
        self.bind_as(var, hint.trim_start_matches('_'))
    }

    /// Names a variable after a hint that is not its own.
    pub fn bind_as(&mut self, var: Var, hint: &str) -> Rc<str> {
        let own = self.renamed.get(&var).is_some_and(|name| **name == *hint);
        let name = if own && !self.taken.contains(hint) {
            let name: Rc<str> = hint.into();
            self.taken.insert(name.clone());
            self.stack.push((name.clone(), name.clone(), 0));
            name
        } else {
            self.fresh(hint)
        };
        self.given.resize(self.given.len().max(var.0 as usize + 1), None);
        self.given[var.0 as usize] = Some(name.clone());
        name
    }

    /// Is the name free?
    pub fn is_free(&self, name: &str) -> bool {
        !self.taken.contains(name)
    }

    /// A name that no variable in scope has.
    pub fn fresh(&mut self, hint: &str) -> Rc<str> {
        let base: Rc<str> = identifier(hint).into();
        let least = usize::from(self.owned.contains(&base));
        let mut k = self.next.get(&base).copied().unwrap_or(0).max(least);
        let mut name = numbered(&base, k);
        while self.taken.contains(&name) {
            k += 1;
            name = numbered(&base, k);
        }
        self.taken.insert(name.clone());
        self.next.insert(base.clone(), k + 1);
        self.stack.push((name.clone(), base, k));
        name
    }

    /// What a variable in scope is called.
    pub fn of(&self, var: Var) -> Rc<str> {
        self.given
            .get(var.0 as usize)
            .and_then(Clone::clone)
            .unwrap_or_else(|| format!("unbound_{}", var.0).into())
    }

    /// What a variable is called that may not have come into scope yet.
    pub fn known(&self, var: Var) -> Option<Rc<str>> {
        self.given.get(var.0 as usize).and_then(Clone::clone)
    }

    /// How many variables the function has; greater ids are the printer's own.
    pub fn count(&self) -> u32 {
        self.names.len() as u32
    }

    /// The current depth, for `release`.
    pub fn mark(&self) -> usize {
        self.stack.len()
    }

    /// Ends the scope of all names given since the mark.
    pub fn release(&mut self, mark: usize) {
        for (name, base, k) in self.stack.drain(mark..) {
            self.taken.remove(&name);
            let next = self.next.entry(base).or_insert(k);
            *next = k.min(*next);
        }
    }
}

fn numbered(base: &Rc<str>, k: usize) -> Rc<str> {
    let gap = if base.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    if k == 0 { base.clone() } else { format!("{base}{gap}{k}").into() }
}

/// The hint as an identifier of the surface language, without a trailing number that would only grow.
fn identifier(hint: &str) -> String {
    let mut name: String =
        hint.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    if name.starts_with(|c: char| c.is_ascii_uppercase()) {
        name = name.to_lowercase();
    }
    match name.chars().find(|c| *c != '_') {
        None => "t".into(),
        Some(c) if c.is_ascii_digit() || name.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("x{name}")
        }
        Some(_) => name,
    }
}
