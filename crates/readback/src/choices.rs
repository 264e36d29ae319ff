//! An `if` on the tag of a constructor is a `match` on the value.
//!
//! ```text
//!   if (match op | Plus -> 0 | Power _ -> 1) == 0 then a        match op
//!   else … (match op | Power x -> x | _ -> 0.0) …         =     | Plus -> a
//!                                                               | Power x -> … x …
//! ```

use std::rc::Rc;

use lambada_surface::ast::{Arm, BinaryOp, Expr, ExprKind, Name, Pattern, PatternKind};
use lambada_surface::build;
use lambada_surface::visit::children_mut;

/// `if cond then yes else no`
pub(crate) fn if_(cond: Expr, yes: Expr, no: Expr) -> Expr {
    let Some(Test { of, constructors, is }) = test(&cond) else { return build::if_(cond, yes, no) };
    let mut arms = vec![arm(&of, &constructors[is], yes)];
    let left = |arms: &[Arm]| -> Vec<usize> {
        let named =
            |k: &usize| arms.iter().any(|arm| head(&arm.pattern) == Some(&constructors[*k].0.text));
        (0..constructors.len()).filter(|k| !named(k)).collect()
    };
    // The other branch may already match the remaining constructors.
    let rest = match &no.kind {
        ExprKind::Match(other, inner) if **other == of && is_of(inner, &constructors) => {
            let others =
                inner.iter().filter(|arm| head(&arm.pattern) != Some(&constructors[is].0.text));
            others.cloned().collect()
        }
        _ => vec![build::arm(build::binds("_"), no)],
    };
    for mut other in rest {
        match (left(&arms)[..].first(), left(&arms).len()) {
            (Some(last), 1) if head(&other.pattern).is_none() => {
                arms.push(arm(&of, &constructors[*last], other.body));
            }
            (None, _) => break,
            _ => {
                if let PatternKind::Con(name, fields) = &mut other.pattern.kind {
                    other.body = with_fields(&of, name, fields, other.body);
                }
                arms.push(other);
            }
        }
    }
    build::match_(of, arms)
}

/// Whether the condition tests a constructor.
pub(crate) fn is_test(cond: &Expr) -> bool {
    test(cond).is_some()
}

struct Test {
    of: Expr,
    /// All constructors with their numbers of arguments.
    constructors: Vec<(Name, usize)>,
    is: usize,
}

/// `(match x | A -> 0 | B _ -> 1) == 1`
fn test(cond: &Expr) -> Option<Test> {
    let ExprKind::Binary(BinaryOp::Eq, tag, number) = &cond.kind else { return None };
    let (ExprKind::Match(of, arms), Some(is)) = (&tag.kind, int(number)) else { return None };
    let mut constructors = Vec::with_capacity(arms.len());
    for (k, arm) in arms.iter().enumerate() {
        let PatternKind::Con(name, fields) = &arm.pattern.kind else { return None };
        if int(&arm.body)? != k as i64 {
            return None;
        }
        constructors.push((name.clone(), fields.len()));
    }
    let is = usize::try_from(is).ok().filter(|is| *is < constructors.len())?;
    Some(Test { of: (**of).clone(), constructors, is })
}

fn int(e: &Expr) -> Option<i64> {
    match &e.kind {
        ExprKind::Int(k) => Some(*k),
        ExprKind::Annotated(inner, _) => int(inner),
        _ => None,
    }
}

fn head(pattern: &Pattern) -> Option<&Rc<str>> {
    if let PatternKind::Con(name, _) = &pattern.kind { Some(&name.text) } else { None }
}

/// Whether all arms match one of the constructors, or any value.
fn is_of(arms: &[Arm], constructors: &[(Name, usize)]) -> bool {
    arms.iter().all(|arm| match head(&arm.pattern) {
        Some(name) => constructors.iter().any(|(known, _)| known.text == *name),
        None => arm.pattern.kind == PatternKind::Wildcard,
    })
}

fn arm(of: &Expr, (name, arity): &(Name, usize), body: Expr) -> Arm {
    let mut fields = vec![build::binds("_"); *arity];
    let body = with_fields(of, name, &mut fields, body);
    build::arm(build::pattern(PatternKind::Con(name.clone(), fields)), body)
}

/// The body of an arm, in which the pattern binds the fields that the body reads.
fn with_fields(of: &Expr, name: &Name, fields: &mut [Pattern], mut body: Expr) -> Expr {
    read(&mut body, of, name, fields);
    body
}

fn read(e: &mut Expr, of: &Expr, name: &Name, fields: &mut [Pattern]) {
    if let ExprKind::Match(subject, arms) = &e.kind
        && **subject == *of
        && let [Arm { pattern: Pattern { kind: PatternKind::Con(own, read), .. }, body, .. }, ..] =
            &arms[..]
        && own.text == name.text
        && let Some(value) = root(body)
        && let Some(k) =
            read.iter().position(|p| matches!(&p.kind, PatternKind::Var(x) if x == value))
    {
        if fields[k].kind == PatternKind::Wildcard {
            fields[k] = build::binds(value.clone());
        }
        if let PatternKind::Var(known) = &fields[k].kind {
            *e = of_root(body, known);
        }
        return;
    }
    children_mut(e, &mut |child| read(child, of, name, fields));
}

/// The variable at the root of a path of components and fields.
fn root(e: &Expr) -> Option<&Rc<str>> {
    match &e.kind {
        ExprKind::Var(name) => Some(name),
        ExprKind::Component(of, ..) | ExprKind::Field(of, _) => root(of),
        _ => None,
    }
}

/// The path with another variable as its root.
fn of_root(e: &Expr, name: &Rc<str>) -> Expr {
    match &e.kind {
        ExprKind::Component(of, k, _) => build::component(of_root(of, name), *k),
        ExprKind::Field(of, label) => build::field(of_root(of, name), &label.text),
        _ => build::var(name.clone()),
    }
}
