//! Calls of functions that people know by name, and of their derivatives.
//!
//! ```text
//!   f      f x y
//!   jvp    (jvp (\(x, y) -> f x y) (x, y) (dx, dy)).1
//!   vjp    (vjp (f x) y).1 d                                where only the cotangent of y is used
//! ```

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use lambada_anf::{Argument, Atom, Derivative, Known, Param as Bound, Role, Stm};
use lambada_source::{CallText, GivenFunction};
use lambada_surface::ast::{Expr, ExprKind, Param};
use lambada_surface::build;

use crate::lines::Line;
use crate::names::hint_of;
use crate::pieces::call;
use crate::printer::Printer;

/// The results of a call that the text uses.
struct Used<'a> {
    /// The components, or the cotangents, by position.
    values: Vec<(usize, &'a Bound)>,
    /// The lengths of components.
    lengths: Vec<(usize, &'a Bound)>,
}

/// A call of a known function.
pub(crate) fn known_call(
    of: &mut Printer,
    stm: &Stm,
    known: &Known,
    args: &[Atom],
    lines: &mut Vec<Line>,
) {
    let results = || known.results.iter().zip(&stm.binds).filter(|(_, p)| of.uses.any(p.var));
    let value = |(role, p)| match role {
        &(Role::Component(k) | Role::Argument(k)) => Some((k, p)),
        _ => None,
    };
    let length = |(role, p)| match role {
        &Role::Length(k) => Some((k, p)),
        _ => None,
    };
    let used = Used {
        values: results().filter_map(value).collect(),
        lengths: results().filter_map(length).collect(),
    };
    // A derivative fails where the function does.
    if !used.values.is_empty() || known.derivative.is_none() {
        let value = text(of, known, args, &used);
        bind(of, known, value, &used, lines);
    }
}

/// The call.
fn text(of: &mut Printer, known: &Known, args: &[Atom], used: &Used) -> Expr {
    let data = in_order(of, known, args, &|role| match role {
        Role::Argument(k) => Some(k),
        _ => None,
    });
    match known.derivative {
        None => called(of, known, &data),
        Some(Derivative::Jvp) => {
            let tangents = in_order(of, known, args, &|role| match role {
                Role::Tangent(k) => Some(k),
                _ => None,
            });
            let moved: Vec<usize> = known.params.iter().filter_map(tangent_of).collect();
            let (moved, tangents) = without_zeros(moved, tangents);
            let (f, point) = at(of, known, &data, &moved, None);
            let pushed = build::call(build::var("jvp"), [f, point, build::tuple(tangents)]);
            build::component(pushed, 1)
        }
        Some(Derivative::Vjp) => {
            let cotangents = in_order(of, known, args, &|role| match role {
                Role::Cotangent(k) => Some(k),
                _ => None,
            });
            let moved: Vec<usize> = used.values.iter().map(|(k, _)| *k).collect();
            let given = known.params.iter().filter_map(cotangent_of).collect();
            let (given, cotangents) = without_zeros(given, cotangents);
            let is_whole = !known.fields.is_empty() && given.len() == known.components;
            let (f, point) = at(of, known, &data, &moved, Some(given));
            let pulled = build::component(build::call(build::var("vjp"), [f, point]), 1);
            let cotangent = match is_whole {
                true => record(known.fields.iter(), cotangents),
                false => build::tuple(cotangents),
            };
            build::call(pulled, [cotangent])
        }
    }
}

/// Binds the results that are used.
fn bind(of: &mut Printer, known: &Known, value: Expr, used: &Used, lines: &mut Vec<Line>) {
    let Used { values, lengths } = used;
    let is_pullback = known.derivative == Some(Derivative::Vjp);
    let count = if is_pullback { values.len() } else { known.components };
    let is_record = !is_pullback && !known.fields.is_empty();
    let is_bound = |k: usize| values.iter().any(|(place, _)| *place == k);
    let unbound: BTreeSet<usize> =
        lengths.iter().map(|(k, _)| *k).filter(|k| !is_bound(*k)).collect();
    // The components that the text needs only for their lengths.
    let mut arrays: HashMap<usize, Expr> = HashMap::new();
    match values[..] {
        [] if count == 1 => arrays.extend(unbound.iter().map(|k| (*k, value.clone()))),
        [(_, p)] if count == 1 => of.define(p.var, value, lines),
        [(k, p)] if unbound.is_empty() => {
            let value = if is_record { field(known, value, k) } else { build::component(value, k) };
            of.define(p.var, value, lines);
        }
        _ if is_record => {
            let name = of.tokens.fresh(&record_hint(of, known, values));
            lines.push(Line::named(&name, value, None));
            let part = |k| field(known, build::var(name.clone()), k);
            values.iter().for_each(|(k, p)| _ = of.inline.insert(p.var, part(*k)));
            arrays.extend(unbound.iter().map(|k| (*k, part(*k))));
        }
        _ => {
            let mut names: Vec<Rc<str>> = vec!["_".into(); count];
            for (place, (k, p)) in values.iter().enumerate() {
                let place = if count == values.len() { place } else { *k };
                names[place] = of.tokens.bind(p.var);
            }
            for k in unbound {
                names[k] = of.tokens.fresh("part");
                arrays.insert(k, build::var(names[k].clone()));
            }
            lines.push(Line::several(names, value, Vec::new()));
        }
    }
    for (k, p) in lengths {
        let bound = values.iter().find(|(place, _)| place == k);
        let array = bound.map_or_else(|| arrays[k].clone(), |(_, array)| of.atom(array.var.into()));
        of.define(p.var, call("length", [array]), lines);
    }
}

/// The tangents, or cotangents, that are no evident zeros, and the data or components that they are
/// of. One stays.
fn without_zeros(of: Vec<usize>, given: Vec<Expr>) -> (Vec<usize>, Vec<Expr>) {
    let mut all: Vec<(usize, Expr)> = of.into_iter().zip(given).collect();
    let first = all.iter().position(|(_, value)| !is_zero(value)).unwrap_or(0);
    let kept = all.split_off(first.min(all.len()));
    kept.into_iter()
        .enumerate()
        .filter(|(k, (_, value))| *k == 0 || !is_zero(value))
        .map(|(_, kept)| kept)
        .unzip()
}

/// Whether it is evidently zero, or an array of zeros.
fn is_zero(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Real(x) => *x == 0.0,
        ExprKind::Array(items) => items.iter().all(is_zero),
        ExprKind::For(_, element) => is_zero(element),
        _ => false, // a value with a name may be anything
    }
}

/// The name of a result that is a record: of `d.points`, it is `d`.
fn record_hint(of: &Printer, known: &Known, binds: &[(usize, &Bound)]) -> String {
    let own = known.text.name.rsplit('.').next().unwrap_or("result");
    let base = binds.iter().find_map(|(k, p)| {
        let hint = of.tokens.hint(p.var);
        Some(hint.strip_suffix(known.fields[*k].as_str())?.strip_suffix('_')?.to_string())
    });
    base.unwrap_or_else(|| own.into())
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
    if *moved == [last] && given.is_none() && ends_with(known, last) {
        return (called(of, known, &arguments[..last]), point);
    }
    let mut all = arguments.to_vec();
    let mut names = Vec::new();
    for k in moved {
        let name = of.tokens.fresh(&hint(&arguments[*k]));
        all[*k] = build::var(name.clone());
        names.push(build::binds(name));
    }
    let mut body = called(of, known, &all);
    if let Some(given) = given {
        let mut parts: Vec<Rc<str>> = vec!["_".into(); known.components];
        given.iter().for_each(|k| parts[*k] = of.tokens.fresh("part"));
        body = match given[..] {
            [k] if known.fields.is_empty() => build::component(body, k),
            [k] => field(known, body, k),
            _ if !known.fields.is_empty() => {
                let name = of.tokens.fresh("part");
                let parts = given.iter().map(|k| field(known, build::var(name.clone()), *k));
                let parts = build::tuple(parts.collect());
                build::let_(build::binds(name), body, parts)
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

/// Whether the last argument in the text is this datum.
fn ends_with(known: &Known, datum: usize) -> bool {
    let (last, given) = (known.arguments.len() - 1, &known.text.given);
    let is_captured = |k: &usize| given.iter().any(|f: &GivenFunction| f.args.contains(k));
    let places = (0..=last).filter(|k| !is_captured(k)).count() + given.len();
    known.arguments[last] == Argument::Data(datum)
        && !is_captured(&last)
        && given.iter().all(|f| f.at + 1 < places)
}

/// The call with some of its data: `norm x`, `linalg.lu a`, `odeint (f a) y0 ts`.
fn called(of: &Printer, known: &Known, data: &[Expr]) -> Expr {
    let CallText { given, .. } = &known.text;
    let is_captured = |k: usize| given.iter().any(|f| f.args.contains(&k));
    let arguments = known.arguments.iter().enumerate().filter(|(k, _)| !is_captured(*k));
    let mut rest = arguments.map_while(|(_, argument)| composed(of, argument, data));
    let mut args = Vec::new();
    loop {
        let f = given.iter().find(|f| f.at == args.len());
        let function = f.map(|f| {
            let captured = f.args.iter().filter_map(|k| composed(of, &known.arguments[*k], data));
            let name = of.table.function_known_as(&f.name).map_or("_".into(), |name| name);
            build::call(build::var(name), captured.collect::<Vec<_>>())
        });
        match function.or_else(|| rest.next()) {
            Some(arg) => args.push(arg),
            None => return build::call(named(of, known), args),
        }
    }
}

/// The argument, if its data are there.
fn composed(of: &Printer, argument: &Argument, data: &[Expr]) -> Option<Expr> {
    match argument {
        // The type of the parameter, or of the field, says that a number is an integer.
        Argument::Data(k) => data.get(*k).cloned().map(without_type),
        Argument::Tuple(items) => {
            let items = items.iter().map(|item| composed(of, item, data));
            Some(build::tuple(items.collect::<Option<Vec<Expr>>>()?))
        }
        Argument::Record(fields) => {
            let made = fields.iter().map(|(_, part)| composed(of, part, data));
            let made = made.collect::<Option<Vec<Expr>>>()?;
            let names = || fields.iter().map(|(name, _)| name);
            Some(whole(of, names(), &made).unwrap_or_else(|| record(names(), made)))
        }
    }
}

/// `{a = x, b = y}`
fn record<'a>(names: impl Iterator<Item = &'a String>, fields: Vec<Expr>) -> Expr {
    let fields = names.map(|name| build::name(name.as_str())).zip(fields);
    build::expr(ExprKind::Record(fields.collect()))
}

fn without_type(value: Expr) -> Expr {
    match &value.kind {
        ExprKind::Annotated(inner, _) if matches!(inner.kind, ExprKind::Int(_)) => {
            inner.as_ref().clone()
        }
        _ => value,
    }
}

/// The record, if these are all of its fields, in order.
fn whole<'a>(
    of: &Printer,
    names: impl Iterator<Item = &'a String> + Clone,
    fields: &[Expr],
) -> Option<Expr> {
    let (base, _) = field_of(fields.first()?)?;
    let all =
        names.clone().zip(fields).all(|(name, part)| field_of(part) == Some((base, name.as_str())));
    let is_other = |part: &Expr| {
        field_of(part).is_some_and(|(of, own)| of == base && names.clone().all(|name| name != own))
    };
    (all && !of.inline.values().any(is_other)).then(|| build::var(base.clone()))
}

/// The name of a record, and of its field.
fn field_of(part: &Expr) -> Option<(&Rc<str>, &str)> {
    let ExprKind::Field(of, name) = &part.kind else { return None };
    let ExprKind::Var(token) = &of.kind else { return None };
    Some((token, &name.text))
}

/// The field of a result.
fn field(known: &Known, whole: Expr, k: usize) -> Expr {
    build::field(whole, &known.fields[k].as_str().into())
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
        ExprKind::Field(_, name) => name.text.to_string(),
        ExprKind::Index(of, _) => hint(of),
        _ => "x".into(),
    }
}

fn cotangent_of(role: &Role) -> Option<usize> {
    if let Role::Cotangent(k) = role { Some(*k) } else { None }
}

fn tangent_of(role: &Role) -> Option<usize> {
    if let Role::Tangent(k) = role { Some(*k) } else { None }
}
