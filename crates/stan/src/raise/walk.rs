//! Facts about statements: the names that they change, read and add to.

use std::rc::Rc;

use super::{Bind, Place};
use crate::term::{Names, Term};

/// The statements with the names that have no value of their own before each loop.
pub(super) fn noted(binds: Vec<Bind>, blank: &mut Names) -> Vec<Bind> {
    let mut out = Vec::new();
    for bind in binds {
        let changed = written(std::iter::once(&bind));
        out.push(match bind {
            Bind::Blank { name, value } => {
                blank.insert(name.clone());
                Bind::Blank { name, value }
            }
            // A copy of zeros.
            Bind::Let { name, value: Term::Var(zeros), declares: true, .. }
                if blank.contains(&zeros) =>
            {
                blank.insert(name.clone());
                Bind::Blank { name, value: Term::Var(zeros) }
            }
            Bind::For { var, from, to, body, .. } => {
                let here = blank.clone();
                // An earlier iteration may have written it.
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

/// Statements without those that change arrays.
pub(super) fn without(binds: &[Bind], names: &[Rc<str>]) -> Vec<Bind> {
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

/// The statement with `f` applied to its terms.
pub(super) fn mapped(bind: Bind, f: &mut dyn FnMut(Term) -> Term) -> Bind {
    let all = |binds: Vec<Bind>, f: &mut dyn FnMut(Term) -> Term| {
        binds.into_iter().map(|bind| mapped(bind, f)).collect::<Vec<_>>()
    };
    match bind {
        Bind::Let { name, value, declares, doc } => {
            Bind::Let { name, value: f(value), declares, doc }
        }
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
        Bind::While { condition, body } => {
            Bind::While { condition: f(condition), body: all(body, f) }
        }
        Bind::If { condition, yes, no, doc } => {
            Bind::If { condition: f(condition), yes: all(yes, f), no: all(no, f), doc }
        }
        Bind::Check { condition, text } => Bind::Check { condition: f(condition), text },
    }
}

/// Calls `f` with all statements, inner ones too.
pub(super) fn each(binds: &[Bind], f: &mut dyn FnMut(&Bind)) {
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
pub(super) fn terms(bind: &Bind, f: &mut dyn FnMut(&Term)) {
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
        Bind::While { condition, .. }
        | Bind::If { condition, .. }
        | Bind::Check { condition, .. } => f(condition),
    }
}

/// Names that statements change, in order, without those that they declare.
pub(super) fn written<'a>(binds: impl Iterator<Item = &'a Bind> + Clone) -> Vec<Rc<str>> {
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

pub(super) fn adds(bind: &Bind, name: &Rc<str>) -> bool {
    let mut found = false;
    each(std::slice::from_ref(bind), &mut |bind| {
        found |= matches!(bind, Bind::Add { name: one, .. } if one == name);
    });
    found
}

pub(super) fn reads(binds: &[Bind], name: &Rc<str>) -> bool {
    let mut found = false;
    each(binds, &mut |bind| terms(bind, &mut |term| found |= term.mentions(name)));
    found
}

pub(super) fn only_added(binds: &[Bind], name: &Rc<str>) -> bool {
    let mut only = !reads(binds, name);
    each(binds, &mut |bind| match bind {
        Bind::Let { name: found, .. } | Bind::Set { name: found, .. } => only &= found != name,
        Bind::While { body, .. } => only &= !written(body.iter()).contains(name),
        _ => {}
    });
    only
}

pub(super) fn writes_are(binds: &[Bind], name: &Rc<str>, own: &dyn Fn(&[Place]) -> bool) -> bool {
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
pub(super) fn docs(binds: &[Bind], name: &Rc<str>) -> Vec<String> {
    let mut lines = Vec::new();
    binds.iter().for_each(|bind| match bind {
        Bind::Let { name: found, doc, .. }
        | Bind::Set { name: found, doc, .. }
        | Bind::Add { name: found, doc, .. }
            if found == name =>
        {
            lines.extend(doc.iter().cloned());
        }
        _ => {}
    });
    lines
}
