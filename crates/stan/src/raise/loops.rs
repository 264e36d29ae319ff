//! Loops that fill arrays: by rows, by columns, or one row.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::walk::{each, mapped, noted, reads, terms, without, writes_are, written};
use super::{Bind, Dims, Place};
use crate::term::{Clause, Names, Op, Term, bin, for_, index, simplify};

/// The sizes of an array, also of an element or a row of a declared one.
pub(super) fn sizes(dims: &Dims, name: &str) -> Option<Vec<Term>> {
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
pub(super) const ELEMENT: &str = "_now";

/// The end of the name of a column.
const COLUMN: &str = "_col";

/// The end of the name of a row, before an `x` for each index but the first.
pub(super) const ROW: &str = "_row";

/// The name of the element of an array that a round of a loop computes.
pub(super) fn elem_name(name: &Rc<str>, how: Filled) -> Rc<str> {
    match how {
        Filled::Rows => format!("{name}{ELEMENT}").into(),
        Filled::Columns => format!("{name}{COLUMN}").into(),
    }
}

/// How a loop fills an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Filled {
    /// Each round makes a row or an element.
    Rows,
    /// Each round makes a column.
    Columns,
}

/// A loop over integers.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub var: Rc<str>,
    pub from: Term,
    pub to: Term,
    pub body: Vec<Bind>,
    pub blank: Names,
}

impl Loop {
    /// `from <= var < to`
    pub(super) fn clause(&self) -> Clause {
        Clause::Range(self.var.clone(), Box::new(self.from.clone()), Box::new(self.to.clone()))
    }

    /// Makes `x[i + k] = …` to `x[i] = …`, if the loop then fills `x`.
    pub(super) fn shift(&mut self, dims: &Dims) {
        let mut shift = None;
        each(&self.body, &mut |bind| {
            if let Bind::Set { name, places, .. } = bind
                && let Some(Place::At(at)) = places.first()
                && let Some(size) = sizes(dims, name).and_then(|dims| dims.first().cloned())
                && let Term::Int(k) =
                    simplify(bin(Op::Sub, at.clone(), Term::Var(self.var.clone())))
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
        self.body =
            body.into_iter().map(|bind| mapped(bind, &mut |t| t.replace(&var, &value))).collect();
        (self.from, self.to) = (plus(&self.from, k), plus(&self.to, k));
    }

    /// Whether and how the loop computes an array element by element.
    pub(super) fn fills(&self, name: &Rc<str>, dims: &Dims) -> Option<Filled> {
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
    pub(super) fn row(&self, dims: &Dims) -> Option<Vec<Bind>> {
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
                && sizes(dims, name).and_then(|dims| dims.get(axis).cloned()).as_ref()
                    == Some(&self.to)
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
        let fixed: Option<Vec<Term>> = prefix
            .iter()
            .map(|place| match place {
                Place::At(at)
                    if !inner.iter().any(|name| at.mentions(name))
                        && !changed.iter().any(|name| at.mentions(name)) =>
                {
                    Some(at.clone())
                }
                _ => None,
            })
            .collect();
        let fixed = fixed?;
        let mut own = prefix;
        own.push(here);
        let row: Rc<str> = format!("{name}{ROW}{}", "x".repeat(fixed.len() - 1)).into();
        if !changed.contains(&name)
            || !writes_are(&self.body, &name, &|places| places.starts_with(&own))
        {
            return None;
        }
        // Other rows may be read, if they evidently are others.
        let mut apart = true;
        let value = Term::Var(row.clone());
        let body: Vec<Bind> = self
            .body
            .iter()
            .cloned()
            .map(|bind| mapped(bind, &mut |term| in_row(term, &name, &fixed, &value, &mut apart)))
            .map(|bind| of_row(bind, &name, fixed.len(), &row))
            .collect();
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
    pub(super) fn written_before_read(&self, name: &Rc<str>) -> bool {
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
    pub(super) fn by_element(&self, filled: &BTreeMap<Rc<str>, Filled>, dims: &Dims) -> Vec<Bind> {
        let mut body = self.body.clone();
        let mut all = Vec::new();
        for (name, how) in filled {
            let elem = elem_name(name, *how);
            let value = Term::Var(elem.clone());
            body = body
                .into_iter()
                .map(|bind| {
                    let bind = mapped(bind, &mut |t| elements(t, (name, *how), &self.var, &value));
                    renamed(bind, name, &elem, *how)
                })
                .collect();
            let start =
                crate::term::filled(&sizes(dims, &elem).unwrap_or_default(), Term::Real(0.0));
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
    pub(super) fn exchange(&mut self) {
        let [Bind::For { var, from, to, body, blank }] = &self.body[..] else { return };
        let own = [Place::At(Term::Var(var.clone())), Place::At(Term::Var(self.var.clone()))];
        let fills =
            |bind: &Bind| matches!(bind, Bind::Set { places, .. } if places.starts_with(&own));
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
            let differs = |(a, b): (&Term, &Term)| matches!(simplify(bin(Op::Sub, a.clone(), b.clone())), Term::Int(k) if k != 0);
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
    let all =
        |binds: Vec<Bind>| binds.into_iter().map(|bind| of_row(bind, name, fixed, row)).collect();
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
        Bind::If { condition, yes, no, doc } => {
            Bind::If { condition, yes: all(yes), no: all(no), doc }
        }
        other => other,
    }
}

/// Assignments to `name[var, rest]` as assignments to `elem[rest]`.
fn renamed(bind: Bind, name: &Rc<str>, elem: &Rc<str>, how: Filled) -> Bind {
    let all =
        |binds: Vec<Bind>| binds.into_iter().map(|bind| renamed(bind, name, elem, how)).collect();
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
        Bind::If { condition, yes, no, doc } => {
            Bind::If { condition, yes: all(yes), no: all(no), doc }
        }
        other => other,
    }
}

fn plus(term: &Term, k: i64) -> Term {
    simplify(bin(Op::Add, term.clone(), Term::Int(k)))
}
