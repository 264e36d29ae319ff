//! The first term of a log density that is not finite.

use lambada_core::Data;
use lambada_source::{Problem, Span};
use lambada_surface::ast::{BinaryOp, Expr, ExprKind, Item};

use super::Request;
use super::program::{MODEL, Part};
use crate::messages::posterior as messages;
use crate::types::Files;
use crate::{Engine, Executable, Operator, Options, Session, Unit};

impl Request<'_> {
    /// The problem of a log density that is not finite at coordinates: the first term of the sum
    /// that it is, if that is not finite by itself.
    ///
    /// # Errors
    /// As [`posterior`](Request::posterior).
    pub fn blame(
        &self,
        session: &mut Session,
        unit: &Unit,
        at: &[f64],
    ) -> Result<Option<Problem>, Vec<Problem>> {
        let target = self.target(session, unit, &[Part::Values])?;
        let values = target.bound(Part::Values)?;
        let mut reals = vec![0.0; super::total(&target.variables())];
        if values.reals(at, &mut reals).is_err() {
            return Ok(None);
        }
        let mut unknown = match values.structured(&target.variables(), &reals) {
            Data::Tuple(parts) if target.unknown().count() > 1 => parts.into_iter(),
            single => vec![single].into_iter(),
        };
        let mut data = target.data.iter().map(|(_, data)| data.clone());
        let args: Vec<Data> = target
            .slots
            .iter()
            .filter_map(|slot| match slot.space {
                Some(_) => unknown.next(),
                None => data.next(),
            })
            .collect();
        for term in terms(unit, &target.entry) {
            if let Some(value) = alone(session, unit, &target.entry, term, &args)
                && !value.is_finite()
            {
                return Ok(Some(messages::infinite_term(&target.entry, value, term)));
            }
        }
        Ok(None)
    }
}

/// The value of a term, in place of the whole result.
fn alone(
    session: &mut Session,
    unit: &Unit,
    entry: &str,
    term: Span,
    args: &[Data],
) -> Option<f64> {
    let mut module = (*unit.module).clone();
    for item in &mut module.items {
        if let Item::Def(def) = item
            && &*def.name.text == entry
        {
            let result = last(&mut def.body);
            *result = part(result, term)?.clone();
        }
    }
    let text = lambada_surface::print_module(&module);
    let alone = session.load_among(unit, &format!("{MODEL} in part"), &text).ok()?;
    let shapes: Vec<_> = args.iter().map(crate::data::shape_of).collect();
    let given = if alone.checked.is_open(entry) { &shapes[..] } else { &[] };
    let call = alone.call_of(entry, Operator::Value, None, given).ok()?;
    let options = Options { engine: Engine::Core, ..unit.options.clone() };
    let result = Executable::with(call.program, call.entry, &options).ok()?.run(args).ok()?;
    match crate::vectors::numbers(&result)[..] {
        [value] => Some(value),
        _ => None,
    }
}

/// The expression that a body ends in.
fn last(body: &mut Expr) -> &mut Expr {
    let is_step = |kind: &ExprKind| {
        matches!(kind, ExprKind::Let(..) | ExprKind::LetFunctions(..) | ExprKind::Commented(..))
    };
    if !is_step(&body.kind) {
        return body;
    }
    match &mut body.kind {
        ExprKind::Let(_, _, rest) | ExprKind::LetFunctions(_, rest) => last(rest),
        ExprKind::Commented(_, rest) => last(rest),
        _ => unreachable!("compared above"),
    }
}

/// The places of the terms of a definition's result, in order.
fn terms(unit: &Unit, entry: &str) -> Vec<Span> {
    let Some(def) = Files::of(unit).entry(entry) else { return Vec::new() };
    let mut body = def.body.clone();
    let mut found = Vec::new();
    collect(last(&mut body), &mut found);
    found
}

fn collect(expr: &Expr, found: &mut Vec<Span>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
            collect(a, found);
            collect(b, found);
        }
        _ => found.push(expr.span),
    }
}

/// The term at a place.
fn part(expr: &Expr, place: Span) -> Option<&Expr> {
    match &expr.kind {
        _ if expr.span == place => Some(expr),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
            part(a, place).or_else(|| part(b, place))
        }
        _ => None,
    }
}
