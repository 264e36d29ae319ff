//! Statements → bindings and terms of sums: loops that fill arrays become comprehensions, loops
//! that only add become sums, all others loops that carry their state.
//!
//! ```stan
//! for (n in 1:N) { mu[n] = a[g[n]]; target += normal_lpdf(y[n] | mu[n], s); }
//! ```
//!
//! becomes, if `mu` is needed later, `let mu = for n < N => a[g[n]]` and the term
//! `sum (for n < N => dist.normal_lpdf y[n] mu[n] s)`.
//!
//! It goes backwards with the names that are needed after each statement, so that a variable that
//! is only used within a loop is a local name there, and unused values are left out.

mod count;
mod lets;
mod loops;
mod walk;

use std::collections::HashMap;
use std::rc::Rc;

use crate::term::{Clause, Names, Op, Pat, Term, bin, call, for_, index, simplify, tuple};
pub use lets::{built, summed};
use loops::{Loop, sizes};
use walk::{adds, noted, written};

/// The name of the log density as a variable.
pub const TARGET: &str = "target";

/// The first line of a comment that stands for a statement.
pub const LEFT_OUT: &str = "Not translated:";

/// A statement without types.
#[derive(Clone, Debug)]
pub enum Bind {
    /// `x = e`
    Let { name: Rc<str>, value: Term, declares: bool, doc: Vec<String> },
    /// A declaration without a definition: an arbitrary first value.
    Blank { name: Rc<str>, value: Term },
    /// `(x, y) = e`
    Several { pat: Pat, value: Term },
    /// `x[i, 2:3] = e`
    Set { name: Rc<str>, places: Vec<Place>, value: Term, doc: Vec<String> },
    /// `x += e` of a number.
    Add { name: Rc<str>, value: Term, doc: Vec<String> },
    /// `for (i in from:to) …`, from 0 and without the end. The names in `blank` have no value yet
    /// that anyone gave them.
    For { var: Rc<str>, from: Term, to: Term, body: Vec<Bind>, blank: Names },
    /// `while (c) …`
    While { condition: Term, body: Vec<Bind> },
    /// `if (c) … else …`
    If { condition: Term, yes: Vec<Bind>, no: Vec<Bind>, doc: Vec<String> },
    /// `reject`, unless the condition holds; a name for nothing.
    Check { condition: Term, text: Rc<str> },
}

/// Where an assignment changes an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// One index.
    At(Term),
    /// From an index to before another.
    Range(Option<Term>, Option<Term>),
}

impl Bind {
    /// `name = value`
    pub fn assign(name: Rc<str>, value: Term) -> Bind {
        Bind::Let { name, value, declares: false, doc: Vec::new() }
    }
}

/// A binding or a term of a sum, in order.
#[derive(Clone, Debug)]
pub enum Item {
    /// `let p = e`
    Let(Pat, Term, Vec<String>),
    /// A summand.
    Add(Term, Vec<String>),
    /// A condition without which the program fails.
    Check(Term, Rc<str>),
}

impl Item {
    /// Makes the names that are needed after the item those that are needed before.
    fn needs(&self, live: &mut Names) {
        let value = match self {
            Item::Let(pat, value, _) => {
                pat.names().iter().for_each(|name| {
                    live.remove(name);
                });
                value
            }
            Item::Add(value, _) | Item::Check(value, _) => value,
        };
        live.extend(value.free());
    }
}

/// Sizes of declared arrays.
pub type Dims = HashMap<Rc<str>, Vec<Term>>;

/// The translation of statements.
pub struct Raise<'a> {
    /// Sizes of declared arrays.
    pub dims: &'a Dims,
}

impl Raise<'_> {
    /// The items that compute the names in `live`, and what is added to those of `sums`. Afterwards
    /// `live` has the names that are needed before.
    pub fn items(&self, binds: Vec<Bind>, live: &mut Names, sums: &Names) -> Vec<Item> {
        self.all(noted(binds, &mut Names::new()), live, sums)
    }

    fn all(&self, binds: Vec<Bind>, live: &mut Names, sums: &Names) -> Vec<Item> {
        let mut items = Vec::new();
        for bind in binds.into_iter().rev() {
            self.bind(bind, live, sums, &mut items);
        }
        items.reverse();
        items
    }

    fn bind(&self, bind: Bind, live: &mut Names, sums: &Names, out: &mut Vec<Item>) {
        match bind {
            Bind::Let { name, value, doc, .. } => {
                if live.remove(&name) {
                    live.extend(value.free());
                    out.push(Item::Let(Pat::Names(vec![name]), value, doc));
                }
            }
            Bind::Blank { name, value } => {
                if live.remove(&name) {
                    live.extend(value.free());
                    out.push(Item::Let(Pat::Names(vec![name]), value, Vec::new()));
                }
            }
            Bind::Several { pat, value } => {
                let names = pat.names();
                let pat = pat.without(&|name| !live.contains(name));
                if names.iter().any(|name| live.contains(name)) {
                    names.iter().for_each(|name| {
                        live.remove(name);
                    });
                    live.extend(value.free());
                    out.push(Item::Let(pat, value, Vec::new()));
                }
            }
            Bind::Set { name, places, value, doc } => {
                if live.contains(&name) {
                    let value = self.updated(&name, &places, value);
                    live.extend(value.free());
                    out.push(Item::Let(Pat::Names(vec![name]), value, doc));
                }
            }
            Bind::Add { name, value, doc } => {
                if sums.contains(&name) {
                    live.extend(value.free());
                    out.push(Item::Add(value, doc));
                } else if live.contains(&name) {
                    live.extend(value.free());
                    let value = bin(Op::Add, Term::Var(name.clone()), value);
                    out.push(Item::Let(Pat::Names(vec![name]), value, doc));
                }
            }
            Bind::Check { condition, text } => {
                live.extend(condition.free());
                out.push(Item::Check(condition, text));
            }
            Bind::If { condition, yes, no, doc } => {
                self.branch(condition, (yes, no), doc, live, sums, out)
            }
            Bind::While { condition, body } => self.repeat(&condition, &body, live, sums, out),
            Bind::For { var, from, to, body, blank } => {
                let one = Loop { var, from, to, body, blank };
                match one.row(self.dims) {
                    Some(binds) => {
                        binds.into_iter().rev().for_each(|bind| self.bind(bind, live, sums, out))
                    }
                    None => self.count(one, live, sums, out),
                }
            }
        }
    }

    /// `name[places] = value` as a new value of `name`.
    fn updated(&self, name: &Rc<str>, places: &[Place], value: Term) -> Term {
        let old = Term::Var(name.clone());
        let first_range = places.iter().position(|place| matches!(place, Place::Range(..)));
        let at = |places: &[Place]| {
            places
                .iter()
                .filter_map(|place| match place {
                    Place::At(term) => Some(term.clone()),
                    Place::Range(..) => None,
                })
                .collect::<Vec<Term>>()
        };
        let Some(k) = first_range else {
            return Term::Set(Box::new(old), at(places), Box::new(value));
        };
        let outer = at(&places[..k]);
        let Place::Range(from, to) = &places[k] else { return old };
        let part = index(old.clone(), outer.clone());
        let rest = at(&places[k + 1..]);
        let changed = if rest.is_empty() {
            match (from, to) {
                (None, None) => value,
                (from, to) => {
                    let end = |end: &Option<Term>| end.clone().map(Box::new);
                    Term::SetSlice(Box::new(part), end(from), end(to), Box::new(value))
                }
            }
        } else {
            let var: Rc<str> = fresh_index(&[&old, &value]).into();
            let low = from.clone().unwrap_or(Term::Int(0));
            let row = Term::Var(var.clone());
            let elem = element(value, simplify(bin(Op::Sub, row.clone(), low.clone())));
            let size = sizes(self.dims, name).and_then(|dims| dims.get(k).cloned());
            let size = size.unwrap_or_else(|| call("length", [part.clone()]));
            if from.is_none() && to.is_none() {
                let row = index(part, vec![row]);
                let row = Term::Set(Box::new(row), rest, Box::new(elem));
                for_(Clause::Range(var, Box::new(low), Box::new(size)), row)
            } else {
                let high = to.clone().unwrap_or(size);
                let places = std::iter::once(row).chain(rest).collect();
                let next = Term::Set(Box::new(old.clone()), places, Box::new(elem));
                let clause = Clause::Range(var, Box::new(low), Box::new(high));
                let pat = Pat::Names(vec![name.clone()]);
                return Term::Loop(pat, Box::new(part), clause, Box::new(next));
            }
        };
        if outer.is_empty() { changed } else { Term::Set(Box::new(old), outer, Box::new(changed)) }
    }

    fn branch(
        &self,
        condition: Term,
        (yes, no): (Vec<Bind>, Vec<Bind>),
        doc: Vec<String>,
        live: &mut Names,
        sums: &Names,
        out: &mut Vec<Item>,
    ) {
        let both = || yes.iter().chain(&no);
        let changed = written(both());
        let kept: Vec<Rc<str>> = changed
            .into_iter()
            .filter(|name| live.contains(name) && !sums.contains(name))
            .collect();
        let mut needed = Names::new();
        if !kept.is_empty() {
            let value = Term::If(
                Box::new(condition.clone()),
                Box::new(self.block(yes.clone(), &kept)),
                Box::new(self.block(no.clone(), &kept)),
            );
            kept.iter().for_each(|name| {
                live.remove(name);
            });
            needed.extend(value.free());
            out.push(Item::Let(Pat::Names(kept), value, doc.clone()));
        }
        for sum in sums {
            if !both().any(|bind| adds(bind, sum)) {
                continue;
            }
            let value = Term::If(
                Box::new(condition.clone()),
                Box::new(self.sum(yes.clone(), sum)),
                Box::new(self.sum(no.clone(), sum)),
            );
            needed.extend(value.free());
            out.push(Item::Add(value, doc.clone()));
        }
        live.extend(needed);
    }

    /// The values of names after statements.
    pub fn block(&self, binds: Vec<Bind>, names: &[Rc<str>]) -> Term {
        let mut live: Names = names.iter().cloned().collect();
        let items = self.all(binds, &mut live, &Names::new());
        built(items, tuple(names.iter().map(|name| Term::Var(name.clone())).collect()))
    }

    /// The terms that statements add to a name.
    pub fn sum(&self, binds: Vec<Bind>, name: &Rc<str>) -> Term {
        let items = self.all(binds, &mut Names::new(), &Names::from([name.clone()]));
        summed(items)
    }

    /// The names of `changed` that must be carried from one round of `body` to the next, if those
    /// in `live` are needed after the last one.
    fn carried(
        &self,
        condition: Option<&Term>,
        body: &[Bind],
        live: &Names,
        changed: &[Rc<str>],
    ) -> Vec<Rc<str>> {
        let mut kept: Names = changed.iter().filter(|name| live.contains(*name)).cloned().collect();
        if let Some(condition) = condition {
            let free = condition.free();
            kept.extend(changed.iter().filter(|name| free.contains(*name)).cloned());
        }
        loop {
            let mut before = kept.clone();
            self.all(body.to_vec(), &mut before, &Names::new());
            let more: Vec<Rc<str>> = changed
                .iter()
                .filter(|name| before.contains(*name) && !kept.contains(*name))
                .cloned()
                .collect();
            if more.is_empty() {
                return changed.iter().filter(|name| kept.contains(*name)).cloned().collect();
            }
            kept.extend(more);
        }
    }

    fn repeat(
        &self,
        condition: &Term,
        body: &[Bind],
        live: &mut Names,
        sums: &Names,
        out: &mut Vec<Item>,
    ) {
        let changed = written(body.iter());
        let mut after = live.clone();
        after.extend(sums.iter().filter(|sum| changed.contains(sum)).cloned());
        let kept = self.carried(Some(condition), body, &after, &changed);
        if kept.is_empty() {
            return;
        }
        let next = self.block(body.to_vec(), &kept);
        let init = start(&kept, sums);
        let value = Term::While(
            Pat::Names(kept.clone()),
            Box::new(init),
            Box::new(condition.clone()),
            Box::new(next),
        );
        finish(kept, value, live, sums, out);
    }
}

/// Initial state of a loop: 0 for a sum.
fn start(kept: &[Rc<str>], sums: &Names) -> Term {
    let first = |name: &Rc<str>| {
        if sums.contains(name) { Term::Real(0.0) } else { Term::Var(name.clone()) }
    };
    tuple(kept.iter().map(first).collect())
}

/// The items for a loop that carries names, last first.
fn finish(kept: Vec<Rc<str>>, value: Term, live: &mut Names, sums: &Names, out: &mut Vec<Item>) {
    for name in kept.iter().filter(|name| sums.contains(*name)) {
        out.push(Item::Add(Term::Var(name.clone()), Vec::new()));
    }
    let pat =
        Pat::Names(kept.clone()).without(&|name| !live.contains(name) && !sums.contains(name));
    for name in &kept {
        live.remove(name);
    }
    live.extend(value.free());
    out.push(Item::Let(pat, value, Vec::new()));
}

/// `sum (for clause => value)`, with a filter for a value that may be 0.
fn sum_of(clause: Clause, value: Term) -> Term {
    if let Term::If(condition, yes, no) = &value
        && **no == Term::Int(0)
    {
        let filter = Some(condition.clone());
        return call("sum", [Term::For(vec![clause], filter, yes.clone())]);
    }
    let clause = match clause {
        Clause::Range(name, from, to) if !value.mentions(&name) => {
            Clause::Range("_".into(), from, to)
        }
        clause => clause,
    };
    call("sum", [Term::For(vec![clause], None, Box::new(value))])
}

/// The element of an array; that of equal elements is found at once.
fn element(array: Term, at: Term) -> Term {
    match array {
        Term::Call(f, mut args) if &*f == "replicate" && args.len() == 2 => args.remove(1),
        Term::Call(f, _) if &*f == "zeros" => Term::Int(0),
        Term::For(clauses, None, body) if clauses.len() == 1 => match &clauses[0] {
            Clause::Range(name, from, _) if **from == Term::Int(0) => body.replace(name, &at),
            _ => index(Term::For(clauses, None, body), vec![at]),
        },
        array => index(array, vec![at]),
    }
}

fn fresh_index(terms: &[&Term]) -> &'static str {
    let free = |name: &&&str| {
        terms.iter().all(|term| {
            let mut names = Names::new();
            term.variables(&mut names);
            !names.contains(**name)
        })
    };
    ["i", "j", "k", "l", "row", "at_row"].iter().find(free).copied().unwrap_or("row_of_this")
}
