//! Statements → bindings and terms of sums: loops that fill arrays become comprehensions, loops
//! that only add become sums, all others loops that carry what they change.
//!
//! ```stan
//! for (n in 1:N) { mu[n] = a[g[n]]; target += normal_lpdf(y[n] | mu[n], s); }
//! ```
//!
//! becomes, if `mu` is needed later, `let mu = for n < N => a[g[n]]` and the term
//! `sum (for n < N => dist.normal_lpdf y[n] mu[n] s)`.
//!
//! It goes backwards with the names that are needed after each statement, so that a variable that
//! is only used within a loop is a local name there, and what nobody needs is left out.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::term::{Clause, Names, Op, Pat, Term, bin, call, for_, index, simplify, tuple};

/// The name of the log density as a variable.
pub const TARGET: &str = "target";

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
    /// `name += e`
    Add(Rc<str>, Term, Vec<String>),
    /// A condition without which the program fails.
    Check(Term, Rc<str>),
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
                    out.push(Item::Add(name, value, doc));
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
            Bind::If { condition, yes, no, doc } => self.branch(condition, (yes, no), doc, live, sums, out),
            Bind::While { condition, body } => self.repeat(&condition, &body, live, sums, out),
            Bind::For { var, from, to, body, blank } => {
                let one = Loop { var, from, to, body, blank };
                match one.row(self.dims) {
                    Some(binds) => binds.into_iter().rev().for_each(|bind| self.bind(bind, live, sums, out)),
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
            places.iter().filter_map(|place| match place {
                Place::At(term) => Some(term.clone()),
                Place::Range(..) => None,
            }).collect::<Vec<Term>>()
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
        let kept: Vec<Rc<str>> = changed.into_iter().filter(|name| live.contains(name) && !sums.contains(name)).collect();
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
            out.push(Item::Add(sum.clone(), value, doc.clone()));
        }
        live.extend(needed);
    }

    /// The values of names after statements.
    pub fn block(&self, binds: Vec<Bind>, names: &[Rc<str>]) -> Term {
        let mut live: Names = names.iter().cloned().collect();
        let items = self.all(binds, &mut live, &Names::new());
        built(items, tuple(names.iter().map(|name| Term::Var(name.clone())).collect()))
    }

    /// What statements add to a name.
    pub fn sum(&self, binds: Vec<Bind>, name: &Rc<str>) -> Term {
        let items = self.all(binds, &mut Names::new(), &Names::from([name.clone()]));
        summed(items)
    }

    /// The names of `changed` that must be carried from one round of `body` to the next, if those
    /// in `live` are needed after the last one.
    fn carried(&self, condition: Option<&Term>, body: &[Bind], live: &Names, changed: &[Rc<str>]) -> Vec<Rc<str>> {
        let mut kept: Names = changed.iter().filter(|name| live.contains(*name)).cloned().collect();
        if let Some(condition) = condition {
            let free = condition.free();
            kept.extend(changed.iter().filter(|name| free.contains(*name)).cloned());
        }
        loop {
            let mut before = kept.clone();
            self.all(body.to_vec(), &mut before, &Names::new());
            let more: Vec<Rc<str>> =
                changed.iter().filter(|name| before.contains(*name) && !kept.contains(*name)).cloned().collect();
            if more.is_empty() {
                return changed.iter().filter(|name| kept.contains(*name)).cloned().collect();
            }
            kept.extend(more);
        }
    }

    fn repeat(&self, condition: &Term, body: &[Bind], live: &mut Names, sums: &Names, out: &mut Vec<Item>) {
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

    fn count(&self, mut one: Loop, live: &mut Names, sums: &Names, out: &mut Vec<Item>) {
        let changed = written(one.body.iter());
        let useful = |name: &Rc<str>| live.contains(name) || sums.contains(name);
        if !changed.iter().any(useful) && !has_checks(&one.body) {
            return;
        }
        // Names that are only added to.
        let mut added: Names = changed.iter().filter(|name| {
            useful(name) && only_added(&one.body, name)
        }).cloned().collect();
        one.exchange();
        one.shift(self.dims);
        let mut filled: BTreeMap<Rc<str>, Filled> = BTreeMap::new();
        for name in &changed {
            if !added.contains(name) && let Some(how) = one.fills(name, self.dims) {
                filled.insert(name.clone(), how);
            }
        }
        // Whatever depends on the round before cannot be computed for each index by itself.
        let (body, split) = loop {
            let body = one.by_element(&filled, self.dims);
            let others: Vec<&Rc<str>> =
                changed.iter().filter(|name| !filled.contains_key(*name) && !added.contains(*name)).collect();
            let depends = |before: &Names| others.iter().any(|name| before.contains(*name));
            let wrong = filled.iter().find(|(name, how)| {
                let mut before = Names::from([elem_name(name, **how)]);
                self.all(body.clone(), &mut before, &Names::new());
                depends(&before)
            }).map(|(name, _)| name.clone());
            if let Some(name) = wrong {
                filled.remove(&name);
                continue;
            }
            let wrong = added.iter().find(|name| {
                let mut before = Names::new();
                self.all(body.clone(), &mut before, &Names::from([(*name).clone()]));
                depends(&before) || added.iter().any(|other| before.contains(other))
            }).cloned();
            match wrong {
                Some(name) => added.remove(&name),
                None => break (body, others.into_iter().cloned().collect::<Vec<_>>()),
            };
        };
        // Arrays that are needed later are read where they are used in the rest of the loop.
        let shared: Vec<Rc<str>> = filled.keys().filter(|name| {
            live.contains(*name) && filled[*name] == Filled::Rows && one.written_before_read(name)
        }).cloned().collect();
        let body = if shared.is_empty() {
            body
        } else {
            let mut rest = filled.clone();
            rest.retain(|name, _| !shared.contains(name));
            Loop { body: without(&one.body, &shared), ..one.clone() }.by_element(&rest, self.dims)
        };
        let mut items: Vec<Item> = Vec::new();
        let clause = || Clause::Range(one.var.clone(), Box::new(one.from.clone()), Box::new(one.to.clone()));
        // In the order of the program: arrays, then sums, then what is carried.
        let wanted: Vec<(Rc<str>, Filled)> = changed.iter().filter(|name| live.contains(*name)).filter_map(|name| {
            Some((name.clone(), *filled.get(name)?))
        }).collect();
        let mut done: Vec<Rc<str>> = Vec::new();
        let mut values: Vec<(Vec<(Rc<str>, Filled)>, Vec<Bind>)> = Vec::new();
        for (name, how) in &wanted {
            let earlier: Vec<Rc<str>> = done.iter().filter(|one| shared.contains(one)).cloned().collect();
            let mut rest = filled.clone();
            rest.retain(|one, _| !earlier.contains(one));
            let own = Loop { body: without(&one.body, &earlier), ..one.clone() }.by_element(&rest, self.dims);
            let mut inside = Names::new();
            self.block(own.clone(), &[elem_name(name, *how)]).variables(&mut inside);
            // An array whose computation has that of another one within it is made with that.
            let with = values.iter().position(|(group, _)| {
                group.len() < 8 && group.iter().any(|(other, kind)| inside.contains(&elem_name(other, *kind)))
            });
            match with {
                Some(k) => {
                    values[k].0.push((name.clone(), *how));
                    values[k].1 = own;
                }
                None => values.push((vec![(name.clone(), *how)], own)),
            }
            done.push(name.clone());
        }
        for (group, own) in values {
            let elems: Vec<Rc<str>> = group.iter().map(|(name, how)| elem_name(name, *how)).collect();
            let value = own_names(self.block(own, &elems), &filled);
            let names: Vec<Rc<str>> = group.iter().map(|(name, _)| name.clone()).collect();
            let doc = match value {
                Term::Let(..) | Term::Commented(..) => Vec::new(),
                _ => docs(&one.body, &names[0]),
            };
            let mut value = for_(clause(), value);
            if let [(_, Filled::Columns)] = group[..] {
                value = call("transpose", [value]);
            }
            let columns = group.len() > 1;
            if columns {
                let unzip = if names.len() == 2 { "unzip".to_string() } else { format!("unzip{}", names.len()) };
                value = call(&unzip, [value]);
            }
            items.push(Item::Let(Pat::Names(names), value, doc));
            for (name, how) in group {
                if columns && how == Filled::Columns {
                    let value = call("transpose", [Term::Var(name.clone())]);
                    items.push(Item::Let(Pat::Names(vec![name]), value, Vec::new()));
                }
            }
        }
        for name in &changed {
            if added.contains(name) && useful(name) {
                let value = own_names(self.sum(body.clone(), name), &filled);
                if value == Term::Int(0) {
                    continue;
                }
                // The comment of the only summand is that of the sum.
                let (doc, value) = match value {
                    Term::Commented(text, value) => (vec![text.to_string()], *value),
                    value => (Vec::new(), value),
                };
                let value = sum_of(clause(), value);
                if sums.contains(name) {
                    items.push(Item::Add(name.clone(), value, doc));
                } else {
                    let value = bin(Op::Add, Term::Var(name.clone()), value);
                    items.push(Item::Let(Pat::Names(vec![name.clone()]), value, doc));
                }
            }
        }
        let mut after = live.clone();
        after.extend(sums.iter().filter(|sum| split.contains(sum)).cloned());
        let kept = self.carried(None, &body, &after, &split);
        let mut carried = Vec::new();
        if !kept.is_empty() {
            let next = own_names(self.block(body, &kept), &filled);
            let init = start(&kept, sums);
            let value = Term::Loop(Pat::Names(kept.clone()), Box::new(init), clause(), Box::new(next));
            finish(kept, value, live, sums, &mut carried);
        }
        for item in items.iter().rev() {
            match item {
                Item::Let(pat, value, _) => {
                    pat.names().iter().for_each(|name| {
                        live.remove(name);
                    });
                    live.extend(value.free());
                }
                Item::Add(_, value, _) => live.extend(value.free()),
                Item::Check(condition, _) => live.extend(condition.free()),
            }
        }
        out.extend(carried);
        out.extend(items.into_iter().rev());
    }
}

/// The statements with the names that have no value of their own before each loop.
fn noted(binds: Vec<Bind>, blank: &mut Names) -> Vec<Bind> {
    let mut out = Vec::new();
    for bind in binds {
        let changed = written(std::iter::once(&bind));
        out.push(match bind {
            Bind::Blank { name, value } => {
                blank.insert(name.clone());
                Bind::Blank { name, value }
            }
            // A copy of zeros.
            Bind::Let { name, value: Term::Var(zeros), declares: true, .. } if blank.contains(&zeros) => {
                blank.insert(name.clone());
                Bind::Blank { name, value: Term::Var(zeros) }
            }
            Bind::For { var, from, to, body, .. } => {
                let here = blank.clone();
                // What an earlier round has written is no longer blank.
                let mut inner = blank.clone();
                changed.iter().for_each(|name| {
                    inner.remove(name);
                });
                let body = noted(body, &mut inner);
                Bind::For { var, from, to, body, blank: here }
            }
            Bind::While { condition, body } => {
                Bind::While { condition, body: noted(body, &mut Names::new()) }
            }
            Bind::If { condition, yes, no, doc } => {
                let (yes, no) = (noted(yes, &mut blank.clone()), noted(no, &mut blank.clone()));
                Bind::If { condition, yes, no, doc }
            }
            other => other,
        });
        for name in changed {
            blank.remove(&name);
        }
    }
    out
}

/// The first values of what a loop carries: 0 for a sum.
fn start(kept: &[Rc<str>], sums: &Names) -> Term {
    let first = |name: &Rc<str>| if sums.contains(name) { Term::Real(0.0) } else { Term::Var(name.clone()) };
    tuple(kept.iter().map(first).collect())
}

/// The items for a loop that carries names, last first.
fn finish(kept: Vec<Rc<str>>, value: Term, live: &mut Names, sums: &Names, out: &mut Vec<Item>) {
    for name in kept.iter().filter(|name| sums.contains(*name)) {
        out.push(Item::Add(name.clone(), Term::Var(name.clone()), Vec::new()));
    }
    let pat = Pat::Names(kept.clone()).without(&|name| !live.contains(name) && !sums.contains(name));
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
        Clause::Range(name, from, to) if !value.mentions(&name) => Clause::Range("_".into(), from, to),
        clause => clause,
    };
    call("sum", [Term::For(vec![clause], None, Box::new(value))])
}

/// The sizes of an array, also of an element or a row of a declared one.
fn sizes(dims: &Dims, name: &str) -> Option<Vec<Term>> {
    if let Some(found) = dims.get(name) {
        return Some(found.clone());
    }
    if let Some(base) = name.strip_suffix(ELEMENT) {
        return Some(sizes(dims, base)?.get(1..)?.to_vec());
    }
    if let Some(base) = name.strip_suffix(COLUMN) {
        let mut dims = sizes(dims, base)?;
        dims.remove(1);
        return Some(dims);
    }
    let (base, skipped) = name.rsplit_once(ROW)?;
    Some(sizes(dims, base)?.get(skipped.len() + 1..)?.to_vec())
}

/// The end of the name of an element.
const ELEMENT: &str = "_now";

/// The end of the name of a column.
const COLUMN: &str = "_col";

/// The end of the name of a row, before an `x` for each index but the first.
const ROW: &str = "_row";

/// The name of the element of an array that a round of a loop computes.
fn elem_name(name: &Rc<str>, how: Filled) -> Rc<str> {
    match how {
        Filled::Rows => format!("{name}{ELEMENT}").into(),
        Filled::Columns => format!("{name}{COLUMN}").into(),
    }
}

/// The term with the names of arrays for their elements, where the arrays do not occur.
fn own_names(mut term: Term, filled: &BTreeMap<Rc<str>, Filled>) -> Term {
    for (name, how) in filled {
        if !term.mentions(name) {
            term = term.renamed(&elem_name(name, *how), name);
        }
    }
    term
}

/// How a loop fills an array.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Filled {
    /// Each round makes a row or an element.
    Rows,
    /// Each round makes a column.
    Columns,
}

/// A loop over integers.
#[derive(Clone, Debug)]
struct Loop {
    var: Rc<str>,
    from: Term,
    to: Term,
    body: Vec<Bind>,
    blank: Names,
}

impl Loop {
    /// Makes `x[i + k] = …` to `x[i] = …`, if the loop then fills `x`.
    fn shift(&mut self, dims: &Dims) {
        let mut shift = None;
        each(&self.body, &mut |bind| {
            if let Bind::Set { name, places, .. } = bind
                && let Some(Place::At(at)) = places.first()
                && let Some(size) = sizes(dims, name).and_then(|dims| dims.first().cloned())
                && let Term::Int(k) = simplify(bin(Op::Sub, at.clone(), Term::Var(self.var.clone())))
                && k != 0
                && plus(&self.from, k) == Term::Int(0)
                && plus(&self.to, k) == size
            {
                shift = Some(k);
            }
        });
        let Some(k) = shift else { return };
        let value = simplify(bin(Op::Sub, Term::Var(self.var.clone()), Term::Int(k)));
        let (var, body) = (self.var.clone(), std::mem::take(&mut self.body));
        self.body = body.into_iter().map(|bind| mapped(bind, &mut |t| t.replace(&var, &value))).collect();
        (self.from, self.to) = (plus(&self.from, k), plus(&self.to, k));
    }

    /// Whether and how the loop computes an array element by element.
    fn fills(&self, name: &Rc<str>, dims: &Dims) -> Option<Filled> {
        let dims = sizes(dims, name)?;
        if self.from != Term::Int(0) {
            return None;
        }
        let here = Term::Var(self.var.clone());
        let rows = dims.first() == Some(&self.to) && {
            let own = |places: &[Place]| places.first() == Some(&Place::At(here.clone()));
            writes_are(&self.body, name, &own) && self.reads_are_own(name, Filled::Rows)
        };
        if rows {
            return Some(Filled::Rows);
        }
        let columns = dims.len() > 1 && dims.get(1) == Some(&self.to) && {
            let own = |places: &[Place]| places.get(1) == Some(&Place::At(here.clone()));
            writes_are(&self.body, name, &own) && self.reads_are_own(name, Filled::Columns)
        };
        columns.then_some(Filled::Columns)
    }

    /// A loop that fills one row `x[c]`, as a loop that fills an array and the assignment of that.
    fn row(&self, dims: &Dims) -> Option<Vec<Bind>> {
        if self.from != Term::Int(0) {
            return None;
        }
        let changed = written(self.body.iter());
        let here = Place::At(Term::Var(self.var.clone()));
        let mut found: Option<(Rc<str>, Vec<Place>)> = None;
        each(&self.body, &mut |bind| {
            if let Bind::Set { name, places, .. } = bind
                && found.is_none()
                && let Some(axis) = places.iter().position(|place| *place == here)
                && axis > 0
                && sizes(dims, name).and_then(|dims| dims.get(axis).cloned()).as_ref() == Some(&self.to)
            {
                found = Some((name.clone(), places[..axis].to_vec()));
            }
        });
        let (name, prefix) = found?;
        let mut inner = Names::from([self.var.clone()]);
        each(&self.body, &mut |bind| match bind {
            Bind::For { var, .. } => {
                inner.insert(var.clone());
            }
            Bind::Let { name, .. } | Bind::Blank { name, .. } => {
                inner.insert(name.clone());
            }
            _ => {}
        });
        let fixed: Option<Vec<Term>> = prefix.iter().map(|place| match place {
            Place::At(at)
                if !inner.iter().any(|name| at.mentions(name))
                    && !changed.iter().any(|name| at.mentions(name)) =>
            {
                Some(at.clone())
            }
            _ => None,
        }).collect();
        let fixed = fixed?;
        let mut own = prefix;
        own.push(here);
        let row: Rc<str> = format!("{name}{ROW}{}", "x".repeat(fixed.len() - 1)).into();
        if !changed.contains(&name) || !writes_are(&self.body, &name, &|places| places.starts_with(&own)) {
            return None;
        }
        // Other rows may be read, if they evidently are others.
        let mut apart = true;
        let value = Term::Var(row.clone());
        let body: Vec<Bind> = self.body.iter().cloned().map(|bind| {
            mapped(bind, &mut |term| in_row(term, &name, &fixed, &value, &mut apart))
        }).map(|bind| of_row(bind, &name, fixed.len(), &row)).collect();
        if !apart {
            return None;
        }
        let blank = self.blank.contains(&name);
        let rest = sizes(dims, &name)?.get(fixed.len()..)?.to_vec();
        let start = match blank {
            true => crate::term::filled(&rest, Term::Real(0.0)),
            false => index(Term::Var(name.clone()), fixed.clone()),
        };
        let places = fixed.into_iter().map(Place::At).collect();
        let first = match blank {
            true => Bind::Blank { name: row.clone(), value: start },
            false => Bind::Let { name: row.clone(), value: start, declares: true, doc: Vec::new() },
        };
        let (var, to) = (self.var.clone(), self.to.clone());
        let binds = vec![
            first,
            Bind::For { var, from: Term::Int(0), to, body, blank: Names::new() },
            Bind::Set { name, places, value, doc: Vec::new() },
        ];
        Some(noted(binds, &mut self.blank.clone()))
    }

    /// Whether the array is only read at the variable of the loop.
    fn reads_are_own(&self, name: &Rc<str>, how: Filled) -> bool {
        let mut own = true;
        let marker = Term::Int(0);
        each(&self.body, &mut |bind| {
            terms(bind, &mut |term| {
                own &= !elements(term.clone(), (name, how), &self.var, &marker).mentions(name);
            });
        });
        own
    }

    /// Whether all statements that change an array come before those that read it otherwise.
    fn written_before_read(&self, name: &Rc<str>) -> bool {
        let last = self.body.iter().rposition(|bind| written([bind].into_iter()).contains(name));
        let first = self.body.iter().position(|bind| {
            reads(&without(std::slice::from_ref(bind), std::slice::from_ref(name)), name)
        });
        match (last, first) {
            (Some(last), Some(first)) => last < first,
            _ => true,
        }
    }

    /// The body of a round with variables for the elements of the arrays that it fills.
    fn by_element(&self, filled: &BTreeMap<Rc<str>, Filled>, dims: &Dims) -> Vec<Bind> {
        let mut body = self.body.clone();
        let mut all = Vec::new();
        for (name, how) in filled {
            let elem = elem_name(name, *how);
            let value = Term::Var(elem.clone());
            body = body.into_iter().map(|bind| {
                let bind = mapped(bind, &mut |t| elements(t, (name, *how), &self.var, &value));
                renamed(bind, name, &elem, *how)
            }).collect();
            let start = crate::term::filled(&sizes(dims, &elem).unwrap_or_default(), Term::Real(0.0));
            all.push(if self.blank.contains(name) {
                Bind::Blank { name: elem, value: start }
            } else {
                let var = || Term::Var(self.var.clone());
                let old = match how {
                    Filled::Rows => index(Term::Var(name.clone()), vec![var()]),
                    Filled::Columns => {
                        let row: Rc<str> = format!("row_of_{name}").into();
                        let elem = index(Term::Var(row.clone()), vec![var()]);
                        for_(Clause::In(row, Box::new(Term::Var(name.clone()))), elem)
                    }
                };
                Bind::Let { name: elem, value: old, declares: true, doc: Vec::new() }
            });
        }
        all.append(&mut body);
        let changed = written(self.body.iter());
        let mut blank = self.blank.clone();
        blank.retain(|name| !changed.contains(name));
        noted(all, &mut blank)
    }

    /// Exchanges two loops that do nothing but fill `x[inner, outer]`.
    fn exchange(&mut self) {
        let [Bind::For { var, from, to, body, blank }] = &self.body[..] else { return };
        let own = [Place::At(Term::Var(var.clone())), Place::At(Term::Var(self.var.clone()))];
        let fills = |bind: &Bind| matches!(bind, Bind::Set { places, .. } if places.starts_with(&own));
        if from.mentions(&self.var) || to.mentions(&self.var) || !body.iter().all(fills) {
            return;
        }
        let inner = Bind::For {
            var: self.var.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            body: body.clone(),
            blank: blank.clone(),
        };
        (self.var, self.from, self.to) = (var.clone(), from.clone(), to.clone());
        self.body = vec![inner];
    }
}

/// Statements without those that change arrays.
fn without(binds: &[Bind], names: &[Rc<str>]) -> Vec<Bind> {
    let keep = |bind: &&Bind| !matches!(bind, Bind::Set { name, .. } if names.contains(name));
    let inner = |bind: Bind| match bind {
        Bind::For { var, from, to, body, blank } => {
            Bind::For { var, from, to, body: without(&body, names), blank }
        }
        Bind::If { condition, yes, no, doc } => {
            Bind::If { condition, yes: without(&yes, names), no: without(&no, names), doc }
        }
        other => other,
    };
    binds.iter().filter(keep).cloned().map(inner).collect()
}

/// Replaces `name[var, rest]` by `elem[rest]`, or `name[at, var, rest]` by `elem[at, rest]`.
fn elements(term: Term, of: (&Rc<str>, Filled), var: &Rc<str>, elem: &Term) -> Term {
    let (name, how) = of;
    let axis = usize::from(how == Filled::Columns);
    if let Term::Index(base, places) = &term
        && matches!(&**base, Term::Var(found) if found == name)
        && places.get(axis) == Some(&Term::Var(var.clone()))
    {
        let mut rest = places.clone();
        rest.remove(axis);
        let rest = rest.into_iter().map(|place| elements(place, of, var, elem)).collect();
        return index(elem.clone(), rest);
    }
    term.map(&mut |part| elements(part, of, var, elem))
}

/// Replaces `name[fixed, rest]` by `row[rest]`; clears `apart` where another row may be the same.
fn in_row(term: Term, name: &Rc<str>, fixed: &[Term], row: &Term, apart: &mut bool) -> Term {
    match term {
        Term::Index(base, places) if *base == Term::Var(name.clone()) => {
            let places: Vec<Term> =
                places.into_iter().map(|place| in_row(place, name, fixed, row, apart)).collect();
            if places.len() >= fixed.len() && places[..fixed.len()] == *fixed {
                return index(row.clone(), places[fixed.len()..].to_vec());
            }
            let differs = |(a, b): (&Term, &Term)| {
                matches!(simplify(bin(Op::Sub, a.clone(), b.clone())), Term::Int(k) if k != 0)
            };
            *apart &= places.iter().zip(fixed).any(differs);
            Term::Index(base, places)
        }
        Term::Var(found) if found == *name => {
            *apart = false;
            Term::Var(found)
        }
        other => other.map(&mut |part| in_row(part, name, fixed, row, apart)),
    }
}

/// Assignments to `name[fixed, rest]` as assignments to `row[rest]`.
fn of_row(bind: Bind, name: &Rc<str>, fixed: usize, row: &Rc<str>) -> Bind {
    let all = |binds: Vec<Bind>| binds.into_iter().map(|bind| of_row(bind, name, fixed, row)).collect();
    match bind {
        Bind::Set { name: found, places, value, doc } if found == *name => {
            Bind::Set { name: row.clone(), places: places[fixed..].to_vec(), value, doc }
        }
        Bind::For { var, from, to, body, mut blank } => {
            if blank.contains(name) {
                blank.insert(row.clone());
            }
            Bind::For { var, from, to, body: all(body), blank }
        }
        Bind::While { condition, body } => Bind::While { condition, body: all(body) },
        Bind::If { condition, yes, no, doc } => Bind::If { condition, yes: all(yes), no: all(no), doc },
        other => other,
    }
}

/// Assignments to `name[var, rest]` as assignments to `elem[rest]`.
fn renamed(bind: Bind, name: &Rc<str>, elem: &Rc<str>, how: Filled) -> Bind {
    let all = |binds: Vec<Bind>| binds.into_iter().map(|bind| renamed(bind, name, elem, how)).collect();
    match bind {
        Bind::Set { name: found, mut places, value, doc } if found == *name => {
            let name = elem.clone();
            places.remove(usize::from(how == Filled::Columns));
            if places.is_empty() || places == [Place::Range(None, None)] {
                Bind::Let { name, value, declares: false, doc }
            } else {
                Bind::Set { name, places, value, doc }
            }
        }
        Bind::For { var, from, to, body, mut blank } => {
            if blank.contains(name) {
                blank.insert(elem.clone());
            }
            Bind::For { var, from, to, body: all(body), blank }
        }
        Bind::While { condition, body } => Bind::While { condition, body: all(body) },
        Bind::If { condition, yes, no, doc } => Bind::If { condition, yes: all(yes), no: all(no), doc },
        other => other,
    }
}

/// The statement with `f` applied to its terms.
fn mapped(bind: Bind, f: &mut dyn FnMut(Term) -> Term) -> Bind {
    let all = |binds: Vec<Bind>, f: &mut dyn FnMut(Term) -> Term| {
        binds.into_iter().map(|bind| mapped(bind, f)).collect::<Vec<_>>()
    };
    match bind {
        Bind::Let { name, value, declares, doc } => Bind::Let { name, value: f(value), declares, doc },
        Bind::Several { pat, value } => Bind::Several { pat, value: f(value) },
        Bind::Blank { name, value } => Bind::Blank { name, value: f(value) },
        Bind::Set { name, places, value, doc } => {
            let place = |place: Place, f: &mut dyn FnMut(Term) -> Term| match place {
                Place::At(at) => Place::At(f(at)),
                Place::Range(from, to) => Place::Range(from.map(&mut *f), to.map(&mut *f)),
            };
            let places = places.into_iter().map(|one| place(one, f)).collect();
            Bind::Set { name, places, value: f(value), doc }
        }
        Bind::Add { name, value, doc } => Bind::Add { name, value: f(value), doc },
        Bind::For { var, from, to, body, blank } => {
            Bind::For { var, from: f(from), to: f(to), body: all(body, f), blank }
        }
        Bind::While { condition, body } => Bind::While { condition: f(condition), body: all(body, f) },
        Bind::If { condition, yes, no, doc } => {
            Bind::If { condition: f(condition), yes: all(yes, f), no: all(no, f), doc }
        }
        Bind::Check { condition, text } => Bind::Check { condition: f(condition), text },
    }
}

/// Calls `f` with all statements, inner ones too.
fn each(binds: &[Bind], f: &mut dyn FnMut(&Bind)) {
    for bind in binds {
        f(bind);
        match bind {
            Bind::For { body, .. } | Bind::While { body, .. } => each(body, f),
            Bind::If { yes, no, .. } => {
                each(yes, f);
                each(no, f);
            }
            Bind::Let { .. }
            | Bind::Blank { .. }
            | Bind::Several { .. }
            | Bind::Set { .. }
            | Bind::Add { .. }
            | Bind::Check { .. } => {}
        }
    }
}

/// Calls `f` with the terms of a statement itself.
fn terms(bind: &Bind, f: &mut dyn FnMut(&Term)) {
    match bind {
        Bind::Let { value, .. }
        | Bind::Blank { value, .. }
        | Bind::Several { value, .. }
        | Bind::Add { value, .. } => f(value),
        Bind::Set { places, value, .. } => {
            for place in places {
                match place {
                    Place::At(at) => f(at),
                    Place::Range(from, to) => from.iter().chain(to).for_each(&mut *f),
                }
            }
            f(value);
        }
        Bind::For { from, to, .. } => {
            f(from);
            f(to);
        }
        Bind::While { condition, .. } | Bind::If { condition, .. } | Bind::Check { condition, .. } => f(condition),
    }
}

/// Names that statements change, in order, without those that they declare.
pub fn written<'a>(binds: impl Iterator<Item = &'a Bind> + Clone) -> Vec<Rc<str>> {
    let mut names: Vec<Rc<str>> = Vec::new();
    let mut own = Names::new();
    fn walk(bind: &Bind, names: &mut Vec<Rc<str>>, own: &mut Names) {
        each(std::slice::from_ref(bind), &mut |bind| match bind {
            Bind::Let { name, declares: true, .. } | Bind::Blank { name, .. } => {
                own.insert(name.clone());
            }
            Bind::Let { name, .. } | Bind::Set { name, .. } | Bind::Add { name, .. } => {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            Bind::Several { pat, .. } => own.extend(pat.names()),
            Bind::For { .. } | Bind::While { .. } | Bind::If { .. } | Bind::Check { .. } => {}
        });
    }
    binds.for_each(|bind| walk(bind, &mut names, &mut own));
    names.retain(|name| !own.contains(name));
    names
}

fn has_checks(binds: &[Bind]) -> bool {
    let mut found = false;
    each(binds, &mut |bind| found |= matches!(bind, Bind::Check { .. }));
    found
}

fn adds(bind: &Bind, name: &Rc<str>) -> bool {
    let mut found = false;
    each(std::slice::from_ref(bind), &mut |bind| {
        found |= matches!(bind, Bind::Add { name: one, .. } if one == name);
    });
    found
}

fn reads(binds: &[Bind], name: &Rc<str>) -> bool {
    let mut found = false;
    each(binds, &mut |bind| terms(bind, &mut |term| found |= term.mentions(name)));
    found
}

fn only_added(binds: &[Bind], name: &Rc<str>) -> bool {
    let mut only = !reads(binds, name);
    each(binds, &mut |bind| match bind {
        Bind::Let { name: found, .. } | Bind::Set { name: found, .. } => only &= found != name,
        Bind::While { body, .. } => only &= !written(body.iter()).contains(name),
        _ => {}
    });
    only
}

fn writes_are(binds: &[Bind], name: &Rc<str>, own: &dyn Fn(&[Place]) -> bool) -> bool {
    let mut all = true;
    each(binds, &mut |bind| match bind {
        Bind::Set { name: found, places, .. } if found == name => all &= own(places),
        Bind::Let { name: found, .. } | Bind::Add { name: found, .. } => all &= found != name,
        Bind::While { body, .. } => all &= !written(body.iter()).contains(name),
        _ => {}
    });
    all
}

/// The comments at the statements that change a name.
fn docs(binds: &[Bind], name: &Rc<str>) -> Vec<String> {
    let mut lines = Vec::new();
    binds.iter().for_each(|bind| match bind {
        Bind::Let { name: found, doc, .. } | Bind::Set { name: found, doc, .. } | Bind::Add { name: found, doc, .. }
            if found == name =>
        {
            lines.extend(doc.iter().cloned());
        }
        _ => {}
    });
    lines
}

fn plus(term: &Term, k: i64) -> Term {
    simplify(bin(Op::Add, term.clone(), Term::Int(k)))
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

/// What items add, with their bindings.
pub fn summed(items: Vec<Item>) -> Term {
    let mut lets = Vec::new();
    let mut parts: Vec<Term> = Vec::new();
    for (k, item) in items.iter().enumerate() {
        match item {
            Item::Add(_, value, doc) => {
                // A name in it may be bound anew below.
                let free = value.free();
                let rebound = items[k + 1..].iter().any(|item| match item {
                    Item::Let(pat, ..) => pat.names().iter().any(|name| free.contains(name)),
                    Item::Add(..) | Item::Check(..) => false,
                });
                if rebound {
                    let name: Rc<str> = format!("term_{}", parts.len() + 1).into();
                    lets.push(Item::Let(Pat::Names(vec![name.clone()]), value.clone(), doc.clone()));
                    parts.push(Term::Var(name));
                } else {
                    parts.push(commented(doc, value.clone()));
                }
            }
            other => lets.push(other.clone()),
        }
    }
    let sum = parts.into_iter().reduce(plus_of).unwrap_or(Term::Int(0));
    built(lets, sum)
}

/// `a + b`, or `a - b` if `b` is a negative product.
fn plus_of(a: Term, b: Term) -> Term {
    match b {
        Term::Neg(b) => bin(Op::Sub, a, *b),
        b => bin(Op::Add, a, b),
    }
}

fn commented(doc: &[String], value: Term) -> Term {
    if doc.is_empty() { value } else { Term::Commented(doc.join("\n").into(), Box::new(value)) }
}

/// Items before a value.
pub fn built(mut items: Vec<Item>, value: Term) -> Term {
    join_updates(&mut items);
    let mut term = value;
    for item in items.into_iter().rev() {
        term = match item {
            Item::Let(Pat::Names(names), value, doc) => match (&names[..], &term) {
                ([name], Term::Var(found)) if name == found => value,
                ([name], _) if name.ends_with(ELEMENT) && is_element(&value) => term.replace(name, &value),
                ([name], Term::Tuple(_)) if term.count(name) == 1 && value.weight() < 8 => {
                    term.replace(name, &value)
                }
                (names, Term::Tuple(parts))
                    if names.len() == parts.len()
                        && names.iter().zip(parts).all(|(name, part)| *part == Term::Var(name.clone())) =>
                {
                    value
                }
                _ => {
                    let body = Term::Let(Pat::Names(names), Box::new(value), Box::new(term));
                    commented(&doc, body)
                }
            },
            // What is taken apart only to be put together again.
            Item::Let(Pat::Record(fields), value, _) if is_record_of(&term, &fields) => value,
            Item::Let(Pat::Record(fields), value, doc) => {
                let used: Vec<&(Rc<str>, Rc<str>)> = fields.iter().filter(|(_, name)| &**name != "_").collect();
                let (pat, value) = match &used[..] {
                    [(field, name)] => {
                        (Pat::Names(vec![name.clone()]), Term::Field(Box::new(value), field.clone()))
                    }
                    _ => (Pat::Record(fields), value),
                };
                commented(&doc, Term::Let(pat, Box::new(value), Box::new(term)))
            }
            Item::Let(pat, value, doc) => {
                commented(&doc, Term::Let(pat, Box::new(value), Box::new(term)))
            }
            Item::Check(condition, text) => Term::Check(text, Box::new(condition), Box::new(term)),
            Item::Add(..) => term,
        };
    }
    term
}

fn is_record_of(term: &Term, fields: &[(Rc<str>, Rc<str>)]) -> bool {
    let same = |((a, value), (b, name)): (&(Rc<str>, Term), &(Rc<str>, Rc<str>))| {
        a == b && *value == Term::Var(name.clone())
    };
    matches!(term, Term::Record(parts) if parts.len() == fields.len() && parts.iter().zip(fields).all(same))
}

/// `x[i]`
fn is_element(term: &Term) -> bool {
    let is_var = |term: &Term| matches!(term, Term::Var(_));
    matches!(term, Term::Index(base, places) if is_var(base) && places.iter().all(is_var))
}

/// `let x = e`, `let x = x with …` as one, and the first value of a loop likewise.
fn join_updates(items: &mut Vec<Item>) {
    let mut k = 0;
    while k + 1 < items.len() {
        match joined(items, k) {
            Some((next, item)) => {
                items[next] = item;
                items.remove(k);
                k = k.saturating_sub(1);
            }
            None => k += 1,
        }
    }
}

/// The first item that uses the value of item `k`, with that value in it, if it may be there.
fn joined(items: &[Item], k: usize) -> Option<(usize, Item)> {
    let Item::Let(Pat::Names(names), first, doc) = &items[k] else { return None };
    let [name] = &names[..] else { return None };
    let free = first.free();
    let mut next = k + 1;
    loop {
        match items.get(next)? {
            Item::Let(pat, second, later) => {
                if !second.mentions(name) {
                    let bound = pat.names();
                    if bound.contains(name) || bound.iter().any(|one| free.contains(one)) {
                        return None;
                    }
                    next += 1;
                    continue;
                }
                let rebinds = pat.names().contains(name);
                let used_later = !rebinds
                    && items[next + 1..].iter().any(|item| match item {
                        Item::Let(_, value, _) | Item::Add(_, value, _) | Item::Check(value, _) => {
                            value.mentions(name)
                        }
                    });
                if *second == Term::Var(name.clone()) && !used_later {
                    let docs = doc.iter().chain(later).cloned().collect();
                    return Some((next, Item::Let(pat.clone(), first.clone(), docs)));
                }
                let is_row = name.contains(ROW) && !used_later;
                if second.count(name) != 1 || !(rebinds && heads(second, name) || is_row && is_set_to(second, name)) {
                    return None;
                }
                let long = matches!(first, Term::If(..) | Term::Loop(..));
                let update = matches!(second, Term::Set(..) | Term::SetSlice(..) | Term::Bin(..));
                if matches!(first, Term::Let(..) | Term::While(..)) || (long && update && !is_row) {
                    return None;
                }
                let docs = doc.iter().chain(later).cloned().collect();
                return Some((next, Item::Let(pat.clone(), at_head(second.clone(), name, first), docs)));
            }
            Item::Add(_, value, _) | Item::Check(value, _) => {
                if value.mentions(name) {
                    return None;
                }
                next += 1;
            }
        }
    }
}

/// Whether a term is an update to a variable.
fn is_set_to(term: &Term, name: &Rc<str>) -> bool {
    matches!(term, Term::Set(_, _, value) if **value == Term::Var(name.clone()))
}

/// Whether a name is what a chain of updates, a sum or a loop begins with.
fn heads(term: &Term, name: &Rc<str>) -> bool {
    match term {
        Term::Var(found) => found == name,
        Term::Set(base, ..) | Term::SetSlice(base, ..) | Term::Bin(Op::Add | Op::Sub, base, _) => {
            heads(base, name)
        }
        Term::Loop(_, init, ..) => match &**init {
            Term::Tuple(parts) => parts.iter().any(|part| heads(part, name)),
            init => heads(init, name),
        },
        _ => false,
    }
}

fn is_zero(term: &Term) -> bool {
    matches!(term, Term::Int(0)) || *term == Term::Real(0.0)
}

fn at_head(term: Term, name: &Rc<str>, value: &Term) -> Term {
    match term {
        Term::Var(found) if found == *name => value.clone(),
        Term::Set(base, places, new) if *new == Term::Var(name.clone()) => {
            Term::Set(base, places, Box::new(value.clone()))
        }
        Term::Set(base, places, new) => match at_head(*base, name, value) {
            // Zeros need no zero.
            Term::Call(f, args) if &*f == "zeros" && is_zero(&new) => Term::Call(f, args),
            base => Term::Set(Box::new(base), places, new),
        },
        Term::Bin(op, a, b) => match at_head(*a, name, value) {
            a if is_zero(&a) && op == Op::Add => *b,
            a => bin(op, a, *b),
        },
        Term::SetSlice(base, from, to, new) => {
            Term::SetSlice(Box::new(at_head(*base, name, value)), from, to, new)
        }
        Term::Loop(pat, init, clause, body) => {
            let init = match *init {
                Term::Tuple(parts) => {
                    Term::Tuple(parts.into_iter().map(|part| at_head(part, name, value)).collect())
                }
                init => at_head(init, name, value),
            };
            Term::Loop(pat, Box::new(init), clause, body)
        }
        other => other,
    }
}
