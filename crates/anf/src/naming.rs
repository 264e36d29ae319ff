//! Names for people: unique where they are in scope, as close to the hint as possible, never a number that the compiler uses inside.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_prim::Prim;
use lambada_prim::Surface;

use crate::{Names, Var};

/// Reserved words of the surface language.
const KEYWORDS: &[&str] = &[
    "def",
    "rec",
    "let",
    "in",
    "if",
    "then",
    "else",
    "match",
    "for",
    "loop",
    "do",
    "while",
    "with",
    "type",
    "import",
    "accumulate",
    "true",
    "false",
    "not",
    "and",
    "real",
    "int",
    "bool",
];

/// What the printer itself calls; a variable of such a name would shadow it.
const CALLED: &[&str] = &["sum", "product", "reduce", "unzip", "inf", "nan", "pi", "length"];

/// Gives out names, and takes them back when their scope ends.
pub(crate) struct Naming<'a> {
    names: &'a Names,
    given: Vec<Option<Rc<str>>>,
    taken: HashSet<Rc<str>>,
    /// By base name: all numbers below are taken.
    next: HashMap<Rc<str>, usize>,
    /// What has been given: name, base and number.
    stack: Vec<(Rc<str>, Rc<str>, usize)>,
}

impl<'a> Naming<'a> {
    pub(crate) fn new(names: &'a Names) -> Naming<'a> {
        let calls = Prim::ALL.iter().filter_map(|p| match p.row().surface {
            Surface::Call(name) => Some(name),
            Surface::Infix(_) | Surface::Prefix(_) | Surface::If => None,
        });
        let taken = KEYWORDS.iter().chain(CALLED).copied().chain(calls).map(Rc::from).collect();
        Naming {
            names,
            given: vec![None; names.len()],
            taken,
            next: HashMap::new(),
            stack: Vec::new(),
        }
    }

    /// Names a variable that comes into scope.
    pub(crate) fn bind(&mut self, var: Var) -> Rc<str> {
        let known = (var.0 as usize) < self.names.len();
        let hint = if known { self.names.hint(var) } else { "part".into() };
        self.bind_as(var, &hint)
    }

    /// Names a variable that is used, which its author may not have thought of: without the underscore that says that it is not.
    pub(crate) fn bind_used(&mut self, var: Var) -> Rc<str> {
        let known = (var.0 as usize) < self.names.len();
        let hint = if known { self.names.hint(var) } else { "part".into() };
        self.bind_as(var, hint.trim_start_matches('_'))
    }

    fn bind_as(&mut self, var: Var, hint: &str) -> Rc<str> {
        let name = self.fresh(hint);
        self.given.resize(self.given.len().max(var.0 as usize + 1), None);
        self.given[var.0 as usize] = Some(name.clone());
        name
    }

    /// A name that no variable in scope has.
    pub(crate) fn fresh(&mut self, hint: &str) -> Rc<str> {
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

    /// What a variable in scope is called.
    pub(crate) fn of(&self, var: Var) -> Rc<str> {
        self.given
            .get(var.0 as usize)
            .and_then(Clone::clone)
            .unwrap_or_else(|| format!("unbound_{}", var.0).into())
    }

    /// What a variable is called that may not have come into scope yet.
    pub(crate) fn known(&self, var: Var) -> Option<Rc<str>> {
        self.given.get(var.0 as usize).and_then(Clone::clone)
    }

    /// How many variables the function has; greater ids are the printer's own.
    pub(crate) fn count(&self) -> u32 {
        self.names.len() as u32
    }

    /// The current depth, for `release`.
    pub(crate) fn mark(&self) -> usize {
        self.stack.len()
    }

    /// Ends the scope of all names given since the mark.
    pub(crate) fn release(&mut self, mark: usize) {
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
