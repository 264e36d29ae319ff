//! Calls of functions that people know by name, and of their derivatives.
//!
//! ```text
//!   f      f x y
//!   jvp    (jvp (\(x, y) -> f x y) (x, y) (dx, dy)).1
//!   vjp    (vjp (f x) y).1 d                                where only the cotangent of y is used
//! ```

use std::rc::Rc;

use lambada_anf::{Atom, Derivative, Known, Param as Bound, Role, Stm};
use lambada_source::{CallText, GivenFunction};
use lambada_surface::ast::{Expr, ExprKind, Param};
use lambada_surface::build;

use crate::lines::Line;
use crate::names::hint_of;
use crate::pieces::call;
use crate::printer::Printer;

/// A call of a known function.
pub(crate) fn known_call(
    of: &mut Printer,
    stm: &Stm,
    known: &Known,
    args: &[Atom],
    lines: &mut Vec<Line>,
) {
    let arguments = in_order(of, known, args, &|role| match role {
        Role::Argument(k) => Some(k),
        _ => None,
    });
    // The bindings that are used, by position in the text.
    let results = || known.results.iter().zip(&stm.binds).filter(|(_, p)| of.uses.any(p.var));
    let at_place = |(role, p)| match role {
        &(Role::Component(k) | Role::Argument(k)) => Some((k, p)),
        _ => None,
    };
    let binds: Vec<(usize, &Bound)> = results().filter_map(at_place).collect();
    // A length that the text mentions follows the value.
    let length = |(role, p)| match role {
        &Role::Length(k) => Some((k, p)),
        _ => None,
    };
    let lengths: Vec<(usize, &Bound)> = results().filter_map(length).collect();
    if binds.is_empty() && known.derivative.is_some() {
        // It fails where the function does.
        return;
    }
    let value = match known.derivative {
        None => called(of, known, arguments),
        Some(Derivative::Jvp) => {
            let tangents = in_order(of, known, args, &|role| match role {
                Role::Tangent(k) => Some(k),
                _ => None,
            });
            let moved: Vec<usize> = known.params.iter().filter_map(tangent_of).collect();
            let (f, point) = at(of, known, &arguments, &moved, None);
            let pushed = build::call(build::var("jvp"), [f, point, build::tuple(tangents)]);
            build::component(pushed, 1)
        }
        Some(Derivative::Vjp) => {
            let cotangents = in_order(of, known, args, &|role| match role {
                Role::Cotangent(k) => Some(k),
                _ => None,
            });
            let moved: Vec<usize> = binds.iter().map(|(k, _)| *k).collect();
            let given = known.params.iter().filter_map(cotangent_of).collect();
            let (f, point) = at(of, known, &arguments, &moved, Some(given));
            let pulled = build::component(build::call(build::var("vjp"), [f, point]), 1);
            build::call(pulled, [build::tuple(cotangents)])
        }
    };
    let count = match known.derivative {
        None | Some(Derivative::Jvp) => known.components,
        Some(Derivative::Vjp) => binds.len(),
    };
    let whole = value.clone();
    match binds[..] {
        [(_, p)] if count == 1 => of.define(p.var, value, lines),
        [(k, p)] => of.define(p.var, component(known, value, k), lines),
        _ if !known.fields.is_empty() && count == known.components => {
            let name = of.tokens.fresh(known.text.name.rsplit('.').next().unwrap_or("result"));
            lines.push(Line::named(&name, value, None));
            for (k, p) in &binds {
                let part = component(known, build::var(name.clone()), *k);
                of.inline.insert(p.var, part);
            }
        }
        _ => {
            let mut names: Vec<Rc<str>> = vec!["_".into(); count];
            for (place, (k, p)) in binds.iter().enumerate() {
                let place = if count == binds.len() { place } else { *k };
                names[place] = of.tokens.bind(p.var);
            }
            lines.push(Line::several(names, value, Vec::new()));
        }
    }
    for (k, p) in lengths {
        let component = match binds.iter().find(|(place, _)| *place == k) {
            Some((_, array)) => of.atom(array.var.into()),
            None if count == 1 => whole.clone(),
            None => component(known, whole.clone(), k),
        };
        of.define(p.var, call("length", [component]), lines);
    }
}

/// The arguments of a call with a position, in the order of these.
fn in_order(
    of: &Printer,
    known: &Known,
    args: &[Atom],
    place: &dyn Fn(Role) -> Option<usize>,
) -> Vec<Expr> {
    let all = known.params.iter().zip(args);
    let mut found: Vec<(usize, Expr)> =
        all.filter_map(|(role, a)| Some((place(*role)?, of.decided(*a)))).collect();
    found.sort_by_key(|(k, _)| *k);
    found.into_iter().map(|(_, e)| e).collect()
}

/// The function of some of the arguments, to some of the components, and its point.
fn at(
    of: &mut Printer,
    known: &Known,
    arguments: &[Expr],
    moved: &[usize],
    given: Option<Vec<usize>>,
) -> (Expr, Expr) {
    let point = build::tuple(moved.iter().map(|k| arguments[*k].clone()).collect());
    let last = arguments.len() - 1;
    let given = given.filter(|given| given.len() < known.components);
    let is_last = |f: &GivenFunction| f.args.contains(&last) || f.at > last;
    if *moved == [last] && given.is_none() && !known.text.given.iter().any(is_last) {
        return (called(of, known, arguments[..last].to_vec()), point);
    }
    let mut all = arguments.to_vec();
    let mut names = Vec::new();
    for k in moved {
        let name = of.tokens.fresh(&hint(&arguments[*k]));
        all[*k] = build::var(name.clone());
        names.push(build::binds(name));
    }
    let mut body = called(of, known, all);
    if let Some(given) = given {
        let mut parts: Vec<Rc<str>> = vec!["_".into(); known.components];
        given.iter().for_each(|k| parts[*k] = of.tokens.fresh("part"));
        body = match given[..] {
            [k] => component(known, body, k),
            _ if !known.fields.is_empty() => {
                let name = of.tokens.fresh("part");
                let result = || build::var(name.clone());
                let parts = given.iter().map(|k| component(known, result(), *k)).collect();
                build::let_(build::binds(name.clone()), body, build::tuple(parts))
            }
            _ => {
                let result = given.iter().map(|k| build::var(parts[*k].clone())).collect();
                let pattern = parts.iter().map(|name| build::binds(name.clone())).collect();
                build::let_(build::tuple_pattern(pattern), body, build::tuple(result))
            }
        };
    }
    let param = Param { pattern: build::tuple_pattern(names), ty: None };
    (build::expr(ExprKind::Lambda(vec![param], Box::new(body))), point)
}

/// The call with some of its data: `norm x`, `linalg.lu a`, `odeint (f a) y0 ts`.
fn called(of: &Printer, known: &Known, data: Vec<Expr>) -> Expr {
    let CallText { given, .. } = &known.text;
    let is_captured = |k: &usize| given.iter().any(|f| f.args.contains(k));
    let mut rest = (0..data.len()).filter(|k| !is_captured(k)).map(|k| data[k].clone());
    let mut args = Vec::new();
    loop {
        let f = given.iter().find(|f| f.at == args.len());
        let function = f.map(|f| {
            let captured = f.args.iter().map(|k| data[*k].clone());
            let name = of.table.function_known_as(&f.name).map_or("_".into(), |name| name);
            build::call(build::var(name), captured.collect::<Vec<_>>())
        });
        match function.or_else(|| rest.next()) {
            Some(arg) => args.push(arg),
            None => return build::call(named(of, known), args),
        }
    }
}

/// The component of a result, or the field.
fn component(known: &Known, whole: Expr, k: usize) -> Expr {
    match known.fields.get(k) {
        Some(name) => build::field(whole, &name.as_str().into()),
        None => build::component(whole, k),
    }
}

/// `norm`, `linalg.lu`, or the name of a function that the text defines.
fn named(of: &Printer, known: &Known) -> Expr {
    if let Some(name) = of.table.function_known_as(&known.text.name) {
        return build::var(name);
    }
    match known.text.name.split_once('.') {
        Some((module, name)) => build::field(build::var(module), &name.into()),
        None => build::var(&*known.text.name),
    }
}

/// The name for a parameter with this argument.
fn hint(argument: &Expr) -> String {
    match &argument.kind {
        ExprKind::Var(token) => hint_of(token).to_string(),
        _ => "x".into(),
    }
}

fn cotangent_of(role: &Role) -> Option<usize> {
    if let Role::Cotangent(k) = role { Some(*k) } else { None }
}

fn tangent_of(role: &Role) -> Option<usize> {
    if let Role::Tangent(k) = role { Some(*k) } else { None }
}
