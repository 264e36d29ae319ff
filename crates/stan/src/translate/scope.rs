//! Names of the Stan program, and fresh ones.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_source::{Problem, Span};

use crate::messages;
use crate::raise::Bind;
use crate::term::{Term, call, var};
use crate::types::Ty;

/// A result of translation.
pub(crate) type Done<T> = Result<T, Problem>;

/// A variable.
#[derive(Clone, Debug)]
pub(crate) struct Info {
    pub ty: Ty,
    /// Its name in the translation.
    pub name: Rc<str>,
    /// An expression that stands for it, e.g. `i + 1` for the variable of a loop.
    pub term: Option<Term>,
    /// Whether its integers are less by one than in Stan, because all uses are indices.
    pub zero_based: bool,
}

/// A function of the program.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub name: Rc<str>,
    pub params: Vec<Ty>,
    pub result: Option<Ty>,
    pub random: bool,
}

/// The state of a translation.
#[derive(Default)]
pub(crate) struct Scope {
    pub vars: Vec<HashMap<String, Info>>,
    pub functions: HashMap<String, Signature>,
    /// Names of variables whose integers count from 0.
    pub zero_based: HashSet<String>,
    /// Names that fresh names must differ from.
    pub taken: HashSet<String>,
    /// Statements that must come before the current one.
    pub pending: Vec<Bind>,
    /// Variables of the loops around the current statement; none for a `while`.
    pub loops: Vec<Option<Rc<str>>>,
    /// Number of keys of random numbers in the definition, so far and in all.
    pub keys: (usize, usize),
    /// Declared sizes of arrays by name.
    pub dims: HashMap<Rc<str>, Vec<Term>>,
    /// The Stan text, if statements without a translation become comments.
    pub partly: Option<Rc<str>>,
    /// Problems of statements that became comments.
    pub problems: Vec<Problem>,
}

/// Words that cannot be names of variables.
const RESERVED: [&str; 23] = [
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
    "checkpoint",
    "true",
    "false",
    "not",
    "and",
    "prelude",
    "real",
];

/// The name in the translation.
pub(crate) fn lambada_name(name: &str) -> Rc<str> {
    if RESERVED.contains(&name) { format!("{name}_").into() } else { name.into() }
}

impl Scope {
    pub fn find(&self, name: &str, span: Span) -> Done<&Info> {
        let found = self.vars.iter().rev().find_map(|vars| vars.get(name));
        found.ok_or_else(|| messages::unknown(name, span))
    }

    pub fn declare(&mut self, name: &str, ty: Ty) -> Info {
        let zero_based = ty.scalar() == Ty::Int && self.zero_based.contains(name);
        let dims: Option<Vec<Term>> = ty.dims().into_iter().collect();
        // Another block may have a variable of this name with other sizes.
        let own = lambada_name(name);
        let differs = self.dims.get(&own).is_some_and(|known| dims.as_ref() != Some(known));
        let own = if differs { self.fresh(name) } else { own };
        let info = Info { ty, name: own, term: None, zero_based };
        if let Some(dims) = dims {
            self.dims.insert(info.name.clone(), dims);
        }
        self.bind(name, info.clone());
        info
    }

    pub fn bind(&mut self, name: &str, info: Info) {
        if let Some(vars) = self.vars.last_mut() {
            vars.insert(name.into(), info);
        }
    }

    /// Runs `f` in a scope of its own.
    pub fn inner<T>(&mut self, f: impl FnOnce(&mut Scope) -> T) -> T {
        self.vars.push(HashMap::new());
        let out = f(self);
        self.vars.pop();
        out
    }

    fn in_use(&self, name: &str) -> bool {
        self.taken.contains(name)
            || self.loops.iter().flatten().any(|one| &**one == name)
            || self.vars.iter().any(|vars| vars.contains_key(name))
    }

    /// A name for an index that nothing else has here.
    pub fn index_name(&self, not: &[Rc<str>]) -> Rc<str> {
        self.fresh_of(&["i", "j", "k", "l", "m", "n"], not)
    }

    /// A name for an element that nothing else has here.
    pub fn element_name(&self) -> Rc<str> {
        self.fresh_of(&["x", "v", "e", "u", "w", "z"], &[])
    }

    fn fresh_of(&self, names: &[&str], not: &[Rc<str>]) -> Rc<str> {
        let free = |name: &str| !self.in_use(name) && !not.iter().any(|one| &**one == name);
        let found = names.iter().find(|name| free(name)).map(|name| (*name).to_string());
        let found =
            found.or_else(|| (1..).map(|k| format!("{}{k}", names[0])).find(|name| free(name)));
        found.unwrap_or_default().into()
    }

    /// A name like this one that nothing else has.
    pub fn fresh(&mut self, hint: &str) -> Rc<str> {
        let mut name = hint.to_string();
        let mut k = 1;
        while self.in_use(&name) || lambada_name(&name).as_ref() != name {
            k += 1;
            name = format!("{hint}_{k}");
        }
        self.taken.insert(name.clone());
        name.into()
    }

    /// Binds a value before the current statement.
    pub fn hoist(&mut self, value: Term, hint: &str) -> Term {
        if let Term::Var(_) | Term::Int(_) | Term::Real(_) = value {
            return value;
        }
        let same = self.pending.iter().find_map(|bind| match bind {
            Bind::Let { name, value: known, .. } if *known == value => Some(name.clone()),
            _ => None,
        });
        let name = same.unwrap_or_else(|| {
            let name = self.fresh(hint);
            self.pending.push(Bind::assign(name.clone(), value));
            name
        });
        Term::Var(name)
    }

    /// The key of the next random number.
    pub fn key(&mut self, span: Span, also: Option<&str>) -> Done<Term> {
        let (so_far, all) = self.keys;
        self.keys.0 += 1;
        let mut key = var("key");
        if all > 1 {
            key = call("random.fold_in", [key, Term::Int(so_far as i64)]);
        }
        let loops: Option<Vec<Rc<str>>> = self.loops.iter().cloned().collect();
        let loops = loops.ok_or_else(|| messages::random_in_while(span))?;
        let names = loops.iter().map(|name| &**name).chain(also);
        Ok(names.fold(key, |key, name| call("random.fold_in", [key, var(name)])))
    }
}
