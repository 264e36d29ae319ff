//! Items → expressions: `let`s before a value, with the trivial ones left out.

use std::rc::Rc;

use super::loops::{ELEMENT, ROW};
use super::{Item, LEFT_OUT};
use crate::term::{Op, Pat, Term, bin};

/// The sum of the terms, within the bindings.
pub fn summed(items: Vec<Item>) -> Term {
    let mut lets = Vec::new();
    let mut parts: Vec<Term> = Vec::new();
    for (k, item) in items.iter().enumerate() {
        match item {
            Item::Add(value, doc) => {
                // A name in it may be bound anew below.
                let free = value.free();
                let rebound = items[k + 1..].iter().any(|item| match item {
                    Item::Let(pat, ..) => pat.names().iter().any(|name| free.contains(name)),
                    Item::Add(..) | Item::Check(..) => false,
                });
                if rebound {
                    let name: Rc<str> = format!("term_{}", parts.len() + 1).into();
                    lets.push(Item::Let(
                        Pat::Names(vec![name.clone()]),
                        value.clone(),
                        doc.clone(),
                    ));
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
    join_updates(&mut items, &value);
    let mut term = value;
    for item in items.into_iter().rev() {
        term = match item {
            Item::Let(Pat::Names(names), value, doc) => match (&names[..], &term) {
                ([name], Term::Var(found))
                    if name == found && doc.iter().all(|line| line != LEFT_OUT) =>
                {
                    value
                }
                ([name], _) if name.ends_with(ELEMENT) && is_element(&value) => {
                    term.replace(name, &value)
                }
                ([name], Term::Tuple(_)) if term.count(name) == 1 && value.weight() < 8 => {
                    term.replace(name, &value)
                }
                (names, Term::Tuple(parts))
                    if names.len() == parts.len()
                        && names
                            .iter()
                            .zip(parts)
                            .all(|(name, part)| *part == Term::Var(name.clone())) =>
                {
                    value
                }
                _ => {
                    let body = Term::Let(Pat::Names(names), Box::new(value), Box::new(term));
                    commented(&doc, body)
                }
            },
            // A record that is destructured and rebuilt.
            Item::Let(Pat::Record(fields), value, _) if is_record_of(&term, &fields) => value,
            Item::Let(Pat::Record(fields), value, doc) => {
                let used: Vec<&(Rc<str>, Rc<str>)> =
                    fields.iter().filter(|(_, name)| &**name != "_").collect();
                let (pat, value) = match &used[..] {
                    [(field, name)] => (
                        Pat::Names(vec![name.clone()]),
                        Term::Field(Box::new(value), field.clone()),
                    ),
                    _ => (Pat::Record(fields), value),
                };
                commented(&doc, Term::Let(pat, Box::new(value), Box::new(term)))
            }
            Item::Check(condition, text) => Term::Check(text, Box::new(condition), Box::new(term)),
            Item::Add(..) => term,
        };
    }
    term
}

/// Whether a term is the record of these fields, each of its variable.
fn is_record_of(term: &Term, fields: &[(Rc<str>, Rc<str>)]) -> bool {
    let Term::Record(parts) = term else { return false };
    let same = |k: usize| parts[k].0 == fields[k].0 && parts[k].1 == Term::Var(fields[k].1.clone());
    parts.len() == fields.len() && (0..parts.len()).all(same)
}

/// `x[i]`
fn is_element(term: &Term) -> bool {
    let is_var = |term: &Term| matches!(term, Term::Var(_));
    matches!(term, Term::Index(base, places) if is_var(base) && places.iter().all(is_var))
}

/// `let x = e`, `let x = x with …` as one, and the first value of a loop likewise.
fn join_updates(items: &mut Vec<Item>, value: &Term) {
    let mut k = 0;
    while k + 1 < items.len() {
        match joined(items, k, value) {
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
fn joined(items: &[Item], k: usize, value: &Term) -> Option<(usize, Item)> {
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
                    && (value.mentions(name)
                        || items[next + 1..].iter().any(|item| match item {
                            Item::Let(_, value, _)
                            | Item::Add(value, _)
                            | Item::Check(value, _) => value.mentions(name),
                        }));
                if *second == Term::Var(name.clone()) && !used_later {
                    let docs = doc.iter().chain(later).cloned().collect();
                    return Some((next, Item::Let(pat.clone(), first.clone(), docs)));
                }
                let is_row = name.contains(ROW) && !used_later;
                let begins = rebinds || (matches!(second, Term::Loop(..)) && !used_later);
                if second.count(name) != 1
                    || !(begins && heads(second, name) || is_row && is_set_to(second, name))
                {
                    return None;
                }
                let long = matches!(first, Term::If(..) | Term::Loop(..));
                let update = matches!(second, Term::Set(..) | Term::SetSlice(..) | Term::Bin(..));
                if matches!(first, Term::Let(..) | Term::While(..)) || (long && update && !is_row) {
                    return None;
                }
                let docs = doc.iter().chain(later).cloned().collect();
                return Some((
                    next,
                    Item::Let(pat.clone(), at_head(second.clone(), name, first), docs),
                ));
            }
            Item::Add(value, _) | Item::Check(value, _) => {
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

/// Whether a chain of updates, a sum or a loop begins with a name.
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
