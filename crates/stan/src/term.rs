//! Lambada expressions while a translation is made: small enough to substitute, to simplify and to
//! search for free names.

use std::collections::BTreeSet;
use std::rc::Rc;

pub use lambada_surface::ast::BinaryOp as Op;

/// Free names.
pub type Names = BTreeSet<Rc<str>>;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// `x`
    Var(Rc<str>),
    /// `12`
    Int(i64),
    /// `1.5`
    Real(f64),
    /// `true`
    Bool(bool),
    /// `f a b` of a function of the library or of the program
    Call(Rc<str>, Vec<Term>),
    /// `a + b`
    Bin(Op, Box<Term>, Box<Term>),
    /// `-a`
    Neg(Box<Term>),
    /// `not a`
    Not(Box<Term>),
    /// `if c then a else b`
    If(Box<Term>, Box<Term>, Box<Term>),
    /// `for i < n, x in xs if c => e`
    For(Vec<Clause>, Option<Box<Term>>, Box<Term>),
    /// `a[i, j]`
    Index(Box<Term>, Vec<Term>),
    /// `a[i:j]`
    Slice(Box<Term>, Option<Box<Term>>, Option<Box<Term>>),
    /// `a with [i, j] = e`
    Set(Box<Term>, Vec<Term>, Box<Term>),
    /// `a with [i:j] = e`
    SetSlice(Box<Term>, Option<Box<Term>>, Option<Box<Term>>, Box<Term>),
    /// `[a, b]`
    Array(Vec<Term>),
    /// `(a, b)`
    Tuple(Vec<Term>),
    /// `{a = e}`
    Record(Vec<(Rc<str>, Term)>),
    /// `a.0`
    Component(Box<Term>, usize),
    /// `a.x`
    Field(Box<Term>, Rc<str>),
    /// `\x y -> e`
    Lambda(Vec<Rc<str>>, Box<Term>),
    /// `let p = e in e`
    Let(Pat, Box<Term>, Box<Term>),
    /// `loop p = e for a <= i < b do e`
    Loop(Pat, Box<Term>, Clause, Box<Term>),
    /// `loop p = e while c do e`
    While(Pat, Box<Term>, Box<Term>, Box<Term>),
    /// `check "text" c e`
    Check(Rc<str>, Box<Term>, Box<Term>),
    /// `-- text` before an expression
    Commented(Rc<str>, Box<Term>),
}

/// A clause of a `for`.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// `a <= i < b`
    Range(Rc<str>, Box<Term>, Box<Term>),
    /// `x in xs`
    In(Rc<str>, Box<Term>),
}

/// The pattern of a `let`.
#[derive(Clone, Debug, PartialEq)]
pub enum Pat {
    /// `x`, `(x, y)`
    Names(Vec<Rc<str>>),
    /// `{a = x, y}`: fields with their names
    Record(Vec<(Rc<str>, Rc<str>)>),
}

/// An array of `sizes`, nested for several, of one value.
pub fn filled(sizes: &[Term], value: Term) -> Term {
    match sizes {
        [] => value,
        [size] if value == Term::Int(0) || value == Term::Real(0.0) => {
            call("zeros", [size.clone()])
        }
        [size, rest @ ..] => call("replicate", [size.clone(), filled(rest, value)]),
    }
}

impl Pat {
    /// The pattern with `_` for some names.
    #[must_use]
    pub fn without(self, dropped: &dyn Fn(&Rc<str>) -> bool) -> Pat {
        let name = |name: Rc<str>| if dropped(&name) { "_".into() } else { name };
        match self {
            Pat::Names(names) => Pat::Names(names.into_iter().map(name).collect()),
            Pat::Record(fields) => {
                Pat::Record(fields.into_iter().map(|(field, one)| (field, name(one))).collect())
            }
        }
    }

    /// The names that it binds.
    pub fn names(&self) -> Vec<Rc<str>> {
        match self {
            Pat::Names(names) => names.clone(),
            Pat::Record(fields) => fields.iter().map(|(_, name)| name.clone()).collect(),
        }
    }
}

/// A variable.
pub fn var(name: &str) -> Term {
    Term::Var(name.into())
}

/// A call.
pub fn call(f: &str, args: impl IntoIterator<Item = Term>) -> Term {
    Term::Call(f.into(), args.into_iter().collect())
}

/// `a + b` and the like.
pub fn bin(op: Op, a: Term, b: Term) -> Term {
    Term::Bin(op, Box::new(a), Box::new(b))
}

/// `-a`
pub fn neg(a: Term) -> Term {
    match a {
        Term::Int(k) => Term::Int(-k),
        Term::Real(x) => Term::Real(-x),
        Term::Neg(a) => *a,
        a => Term::Neg(Box::new(a)),
    }
}

/// `a[i, j]`, with the indices of an index joined.
pub fn index(a: Term, mut places: Vec<Term>) -> Term {
    if places.is_empty() {
        return a;
    }
    // An element of a list.
    if let (Term::Array(parts), Term::Int(k)) = (&a, &places[0])
        && let Some(part) = usize::try_from(*k).ok().and_then(|k| parts.get(k))
    {
        return index(part.clone(), places.split_off(1));
    }
    match a {
        Term::Index(base, mut outer) => {
            outer.append(&mut places);
            Term::Index(base, outer)
        }
        a => Term::Index(Box::new(a), places),
    }
}

/// `a` for one, `(a, b)` for several.
pub fn tuple(mut parts: Vec<Term>) -> Term {
    if parts.len() == 1 { parts.remove(0) } else { Term::Tuple(parts) }
}

/// `for clause => body`; `for i < n => xs[i]` of an array with `n` elements stays as it is.
pub fn for_(clause: Clause, body: Term) -> Term {
    let clause = match clause {
        Clause::Range(name, from, to) if !body.mentions(&name) => {
            Clause::Range("_".into(), from, to)
        }
        clause => clause,
    };
    match body {
        Term::For(inner, None, body)
            if !inner.iter().any(|one| {
                matches!((&clause, one),
            (Clause::Range(name, ..) | Clause::In(name, _), Clause::In(_, xs)) if xs.mentions(name))
            }) && !inner.iter().any(|one| {
                matches!((&clause, one),
            (Clause::Range(name, ..) | Clause::In(name, _), Clause::Range(_, a, b))
                if a.mentions(name) || b.mentions(name))
            }) =>
        {
            Term::For(std::iter::once(clause).chain(inner).collect(), None, body)
        }
        body => Term::For(vec![clause], None, Box::new(body)),
    }
}

/// `for i < n => body`
pub fn for_range(name: &str, to: Term, body: Term) -> Term {
    for_(Clause::Range(name.into(), Box::new(Term::Int(0)), Box::new(to)), body)
}

impl Clause {
    /// The name that it binds.
    pub fn name(&self) -> &Rc<str> {
        match self {
            Clause::Range(name, ..) | Clause::In(name, _) => name,
        }
    }

    fn map(self, f: &mut dyn FnMut(Term) -> Term) -> Clause {
        match self {
            Clause::Range(name, a, b) => Clause::Range(name, Box::new(f(*a)), Box::new(f(*b))),
            Clause::In(name, xs) => Clause::In(name, Box::new(f(*xs))),
        }
    }

    fn each(&self, f: &mut dyn FnMut(&Term)) {
        match self {
            Clause::Range(_, a, b) => {
                f(a);
                f(b);
            }
            Clause::In(_, xs) => f(xs),
        }
    }
}

impl Term {
    /// Calls `f` with each part, and the names that this term binds in it.
    fn parts(&self, f: &mut dyn FnMut(&Term, &[Rc<str>])) {
        let mut plain = |term: &Term| f(term, &[]);
        match self {
            Term::Var(_) | Term::Int(_) | Term::Real(_) | Term::Bool(_) => {}
            Term::Call(_, parts) | Term::Array(parts) | Term::Tuple(parts) => {
                parts.iter().for_each(plain);
            }
            Term::Bin(_, a, b) | Term::Check(_, a, b) => {
                plain(a);
                plain(b);
            }
            Term::Neg(a)
            | Term::Not(a)
            | Term::Component(a, _)
            | Term::Field(a, _)
            | Term::Commented(_, a) => plain(a),
            Term::If(a, b, c) => [a, b, c].into_iter().for_each(|part| plain(part)),
            Term::Index(a, places) => {
                plain(a);
                places.iter().for_each(plain);
            }
            Term::Slice(a, from, to) => {
                plain(a);
                from.iter().chain(to).for_each(|end| plain(end));
            }
            Term::Set(a, places, value) => {
                plain(a);
                places.iter().for_each(&mut plain);
                plain(value);
            }
            Term::SetSlice(a, from, to, value) => {
                plain(a);
                from.iter().chain(to).for_each(|end| plain(end));
                plain(value);
            }
            Term::Record(fields) => fields.iter().for_each(|(_, part)| plain(part)),
            Term::Lambda(names, body) => f(body, names),
            Term::For(clauses, filter, body) => {
                let mut bound: Vec<Rc<str>> = Vec::new();
                for clause in clauses {
                    clause.each(&mut |part| f(part, &bound));
                    bound.push(clause.name().clone());
                }
                filter.iter().for_each(|filter| f(filter, &bound));
                f(body, &bound);
            }
            Term::Let(pat, value, body) => {
                f(value, &[]);
                f(body, &pat.names());
            }
            Term::Loop(pat, init, clause, body) => {
                f(init, &[]);
                clause.each(&mut |part| f(part, &[]));
                let mut bound = pat.names();
                bound.push(clause.name().clone());
                f(body, &bound);
            }
            Term::While(pat, init, condition, body) => {
                f(init, &[]);
                f(condition, &pat.names());
                f(body, &pat.names());
            }
        }
    }

    /// The term with `f` applied to its parts; `f` must respect what is bound there.
    pub fn map(self, f: &mut dyn FnMut(Term) -> Term) -> Term {
        let list = |parts: Vec<Term>, f: &mut dyn FnMut(Term) -> Term| -> Vec<Term> {
            parts.into_iter().map(f).collect()
        };
        let boxed = |part: Box<Term>, f: &mut dyn FnMut(Term) -> Term| Box::new(f(*part));
        let end = |part: Option<Box<Term>>, f: &mut dyn FnMut(Term) -> Term| {
            part.map(|part| Box::new(f(*part)))
        };
        match self {
            Term::Var(_) | Term::Int(_) | Term::Real(_) | Term::Bool(_) => self,
            Term::Call(name, parts) => Term::Call(name, list(parts, f)),
            Term::Array(parts) => Term::Array(list(parts, f)),
            Term::Tuple(parts) => Term::Tuple(list(parts, f)),
            Term::Bin(op, a, b) => Term::Bin(op, boxed(a, f), boxed(b, f)),
            Term::Check(text, a, b) => Term::Check(text, boxed(a, f), boxed(b, f)),
            Term::Neg(a) => neg(f(*a)),
            Term::Not(a) => Term::Not(boxed(a, f)),
            Term::Component(a, k) => Term::Component(boxed(a, f), k),
            Term::Field(a, name) => Term::Field(boxed(a, f), name),
            Term::Commented(text, a) => Term::Commented(text, boxed(a, f)),
            Term::If(a, b, c) => Term::If(boxed(a, f), boxed(b, f), boxed(c, f)),
            Term::Index(a, places) => {
                let a = f(*a);
                index(a, list(places, f))
            }
            Term::Slice(a, from, to) => Term::Slice(boxed(a, f), end(from, f), end(to, f)),
            Term::Set(a, places, value) => Term::Set(boxed(a, f), list(places, f), boxed(value, f)),
            Term::SetSlice(a, from, to, value) => {
                Term::SetSlice(boxed(a, f), end(from, f), end(to, f), boxed(value, f))
            }
            Term::Record(fields) => {
                Term::Record(fields.into_iter().map(|(name, part)| (name, f(part))).collect())
            }
            Term::Lambda(names, body) => Term::Lambda(names, boxed(body, f)),
            Term::For(clauses, filter, body) => Term::For(
                clauses.into_iter().map(|clause| clause.map(f)).collect(),
                end(filter, f),
                boxed(body, f),
            ),
            Term::Let(pat, value, body) => Term::Let(pat, boxed(value, f), boxed(body, f)),
            Term::Loop(pat, init, clause, body) => {
                Term::Loop(pat, boxed(init, f), clause.map(f), boxed(body, f))
            }
            Term::While(pat, init, condition, body) => {
                Term::While(pat, boxed(init, f), boxed(condition, f), boxed(body, f))
            }
        }
    }

    /// The free names; names of functions that are called are none.
    pub fn free(&self) -> Names {
        let mut names = Names::new();
        self.collect(&mut names);
        names
    }

    fn collect(&self, names: &mut Names) {
        if let Term::Var(name) = self {
            names.insert(name.clone());
        }
        self.parts(&mut |part, bound| {
            if bound.is_empty() {
                part.collect(names);
            } else {
                names.extend(part.free().into_iter().filter(|name| !bound.contains(name)));
            }
        });
    }

    /// Whether a name occurs free.
    pub fn mentions(&self, name: &str) -> bool {
        self.count(name) > 0
    }

    /// Number of free occurrences of a name.
    pub fn count(&self, name: &str) -> usize {
        if let Term::Var(found) = self {
            return usize::from(&**found == name);
        }
        let mut count = 0;
        self.parts(&mut |part, bound| {
            if !bound.iter().any(|one| &**one == name) {
                count += part.count(name);
            }
        });
        count
    }

    /// Whether it has a comprehension.
    pub fn comprehends(&self) -> bool {
        let mut found = matches!(self, Term::For(..));
        self.parts(&mut |part, _| found = found || part.comprehends());
        found
    }

    /// Number of its parts, itself included.
    pub fn weight(&self) -> usize {
        let mut weight = 1;
        self.parts(&mut |part, _| weight += part.weight());
        weight
    }

    /// All names that are called.
    pub fn called(&self, names: &mut Names) {
        if let Term::Call(name, _) = self {
            names.insert(name.clone());
        }
        self.parts(&mut |part, _| part.called(names));
    }

    /// All names that are bound or free anywhere.
    pub fn variables(&self, names: &mut Names) {
        if let Term::Var(name) = self {
            names.insert(name.clone());
        }
        self.parts(&mut |part, bound| {
            names.extend(bound.iter().cloned());
            part.variables(names);
        });
    }

    /// The term with a value for a free name. Binders are fresh or shadow on purpose, so nothing is
    /// captured.
    pub fn replace(self, name: &str, value: &Term) -> Term {
        if !self.mentions(name) {
            return self;
        }
        match self {
            Term::Var(_) => value.clone(),
            Term::Lambda(names, body) => Term::Lambda(names, Box::new(body.replace(name, value))),
            Term::For(clauses, filter, body) => {
                let mut bound = false;
                let mut new = Vec::new();
                for clause in clauses {
                    let shadows = &**clause.name() == name;
                    new.push(if bound {
                        clause
                    } else {
                        clause.map(&mut |t| t.replace(name, value))
                    });
                    bound |= shadows;
                }
                let inner = |t: Box<Term>| if bound { t } else { Box::new(t.replace(name, value)) };
                Term::For(new, filter.map(inner), inner(body))
            }
            Term::Let(pat, bound, body) => {
                let shadows = pat.names().iter().any(|one| &**one == name);
                let body = if shadows { body } else { Box::new(body.replace(name, value)) };
                Term::Let(pat, Box::new(bound.replace(name, value)), body)
            }
            Term::Loop(pat, init, clause, body) => {
                let shadows =
                    pat.names().iter().any(|one| &**one == name) || &**clause.name() == name;
                let body = if shadows { body } else { Box::new(body.replace(name, value)) };
                let clause = clause.map(&mut |t| t.replace(name, value));
                Term::Loop(pat, Box::new(init.replace(name, value)), clause, body)
            }
            Term::While(pat, init, condition, body) => {
                let shadows = pat.names().iter().any(|one| &**one == name);
                let inner =
                    |t: Box<Term>| if shadows { t } else { Box::new(t.replace(name, value)) };
                let init = Box::new(init.replace(name, value));
                Term::While(pat, init, inner(condition), inner(body))
            }
            other => other.map(&mut |part| part.replace(name, value)).tidied(),
        }
    }

    /// The term with another name for a variable, where it is bound too.
    pub fn renamed(self, old: &str, new: &Rc<str>) -> Term {
        let name = |name: Rc<str>| if &*name == old { new.clone() } else { name };
        let pat = |pat: Pat| match pat {
            Pat::Names(names) => Pat::Names(names.into_iter().map(name).collect()),
            Pat::Record(fields) => {
                Pat::Record(fields.into_iter().map(|(field, one)| (field, name(one))).collect())
            }
        };
        match self {
            Term::Var(found) => Term::Var(name(found)),
            Term::Let(names, value, body) => Term::Let(pat(names), value, body),
            Term::Loop(names, init, clause, body) => Term::Loop(pat(names), init, clause, body),
            Term::While(names, init, condition, body) => {
                Term::While(pat(names), init, condition, body)
            }
            other => other,
        }
        .map(&mut |part| part.renamed(old, new))
    }

    /// A sum with whole numbers, simplified at its top.
    fn tidied(self) -> Term {
        match self {
            Term::Bin(Op::Add | Op::Sub, ..) if self.has_int_summand() => simplify(self),
            other => other,
        }
    }

    fn has_int_summand(&self) -> bool {
        match self {
            Term::Int(_) => true,
            Term::Bin(Op::Add | Op::Sub, a, b) => a.has_int_summand() || b.has_int_summand(),
            _ => false,
        }
    }
}

/// A sum of whole numbers with its constants joined and opposite terms cancelled.
pub fn simplify(term: Term) -> Term {
    let mut summands: Vec<(bool, Term)> = Vec::new();
    let mut constant = 0;
    flatten(&term, false, &mut summands, &mut constant);
    let positive = summands.iter().position(|(minus, _)| !minus);
    let Some(first) = positive else {
        return match (summands.len(), constant) {
            (0, k) => Term::Int(k),
            (_, k) => {
                let start = if k == 0 { None } else { Some(Term::Int(k)) };
                let rest = summands.into_iter().map(|(_, t)| t);
                match start {
                    Some(start) => rest.fold(start, |sum, t| bin(Op::Sub, sum, t)),
                    None => {
                        let mut rest = rest;
                        let first = rest.next().map_or(Term::Int(0), neg);
                        rest.fold(first, |sum, t| bin(Op::Sub, sum, t))
                    }
                }
            }
        };
    };
    let (_, start) = summands.remove(first);
    let sum = summands
        .into_iter()
        .fold(start, |sum, (minus, t)| bin(if minus { Op::Sub } else { Op::Add }, sum, t));
    match constant {
        0 => sum,
        k if k < 0 => bin(Op::Sub, sum, Term::Int(-k)),
        k => bin(Op::Add, sum, Term::Int(k)),
    }
}

fn flatten(term: &Term, minus: bool, summands: &mut Vec<(bool, Term)>, constant: &mut i64) {
    match term {
        Term::Int(k) => *constant += if minus { -k } else { *k },
        Term::Bin(Op::Add, a, b) => {
            flatten(a, minus, summands, constant);
            flatten(b, minus, summands, constant);
        }
        Term::Bin(Op::Sub, a, b) => {
            flatten(a, minus, summands, constant);
            flatten(b, !minus, summands, constant);
        }
        Term::Neg(a) => flatten(a, !minus, summands, constant),
        other => {
            let opposite = summands.iter().position(|(m, t)| *m != minus && t == other);
            match opposite {
                Some(k) => {
                    summands.remove(k);
                }
                None => summands.push((minus, other.clone())),
            }
        }
    }
}
