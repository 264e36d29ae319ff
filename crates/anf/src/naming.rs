//! Names for people: unique where they are in scope, as close to the hint as possible, never a
//! number that the compiler uses inside.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::{Names, Var};

/// Gives out names, and takes them back when their scope ends.
pub struct Naming<'a> {
    names: &'a Names,
    given: Vec<Option<Rc<str>>>,
    taken: HashSet<Rc<str>>,
    /// By base name: the next number; all below are taken.
    next: HashMap<Rc<str>, usize>,
    /// The names in use: name, base and number.
    stack: Vec<(Rc<str>, Rc<str>, usize)>,
}

impl<'a> Naming<'a> {
    /// No names yet; no variable gets a reserved word.
    pub fn new<'w>(names: &'a Names, reserved: impl IntoIterator<Item = &'w str>) -> Naming<'a> {
        Naming {
            names,
            given: vec![None; names.len()],
            taken: reserved.into_iter().map(Rc::from).collect(),
            next: HashMap::new(),
            stack: Vec::new(),
        }
    }

    /// Names a variable that comes into scope.
    pub fn bind(&mut self, var: Var) -> Rc<str> {
        let name = self.fresh(&self.names.hint(var));
        self.given.resize(self.given.len().max(var.0 as usize + 1), None);
        self.given[var.0 as usize] = Some(name.clone());
        name
    }

    /// A name that no variable in scope has.
    fn fresh(&mut self, hint: &str) -> Rc<str> {
        let base: Rc<str> = identifier(hint).into();
        let mut k = self.next.get(&base).copied().unwrap_or(0);
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

    /// The name of a variable in scope.
    pub fn of(&self, var: Var) -> Rc<str> {
        self.given
            .get(var.0 as usize)
            .and_then(Clone::clone)
            .unwrap_or_else(|| format!("unbound_{}", var.0).into())
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

/// The k-th name with this base.
pub fn numbered(base: &str, k: usize) -> Rc<str> {
    let gap = if base.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    if k == 0 { base.into() } else { format!("{base}{gap}{k}").into() }
}

/// The hint as an identifier of the surface language.
pub fn identifier(hint: &str) -> String {
    let name: String = hint.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    match name.chars().find(|c| *c != '_') {
        None => "t".into(),
        Some(c) if c.is_ascii_digit() || name.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("x{name}")
        }
        Some(_) => name,
    }
}
