//! Definitions other than functions: if a recursive function mentions one, it is evaluated once,
//! before the call, and passed.

use lambada_anf::Stm;
use lambada_core::{DefId, Term, TermKind};

use super::Evaluator;
use crate::Eval;
use crate::sketch::Sketch;
use crate::val::{CodeKind, Val};

/// The definitions to pass to a code called with arguments of these sketches, and their values.
pub(super) fn shared(
    of: &mut Evaluator,
    number: i64,
    sketches: &[Sketch],
) -> Eval<(Vec<DefId>, Vec<Val>)> {
    let mut codes = vec![number];
    sketches.iter().for_each(|sketch| codes_in(sketch, &mut codes));
    let (mut visited, mut ids) = (Vec::new(), Vec::new());
    for number in codes {
        if let CodeKind::Lambda { body, .. } = &of.codes.of(number).kind {
            constants_in(of, body, &mut visited, &mut ids);
        }
    }
    let (mut shared, mut vals) = (Vec::new(), Vec::new());
    for id in ids {
        if let Some(val) = constant(of, id)? {
            shared.push(id);
            vals.push(val);
        }
    }
    Ok((shared, vals))
}

/// Adds the definitions other than functions that a term mentions, directly or through functions.
fn constants_in(of: &Evaluator, term: &Term, visited: &mut Vec<DefId>, found: &mut Vec<DefId>) {
    for id in term.globals() {
        if visited.contains(&id) {
            continue;
        }
        visited.push(id);
        let body = &of.program.def(id).body;
        if !of.types.is_data(of.program, body.ty()) {
            constants_in(of, body, visited, found);
        } else if !matches!(body.kind(), TermKind::Lit(_)) {
            found.push(id);
        }
    }
}

/// The value of a definition other than a function, if it cannot fail.
fn constant(of: &mut Evaluator, id: DefId) -> Eval<Option<Val>> {
    if let Some(value) = evaluated(of, id) {
        return Ok(Some(value.clone()));
    }
    if of.emit.level() > 0 {
        let value = of.at_the_beginning(&of.program.def(id).body)?;
        if value.is_some() {
            of.local.env.set_constant(id, value.clone());
        }
        return Ok(value);
    }
    let mark = of.emit.checkpoint();
    let before = of.local.env.constant(id).cloned();
    let value = of.global(id)?;
    if !of.emit.stms()[mark.stms..].iter().any(Stm::may_not_return) {
        return Ok(Some(value));
    }
    of.emit.rewind(mark);
    of.local.env.set_constant(id, before);
    Ok(None)
}

/// The value of an evaluated definition, if visible here.
pub(super) fn evaluated<'e>(of: &'e Evaluator, id: DefId) -> Option<&'e Val> {
    of.local.env.constant(id).filter(|value| of.is_visible(value))
}

/// Adds the codes of the functions in a sketch.
fn codes_in(sketch: &Sketch, codes: &mut Vec<i64>) {
    match sketch {
        Sketch::Leaf(_) | Sketch::Zero(_) | Sketch::Adds(_) | Sketch::Node(_) | Sketch::Acc(_) => {}
        Sketch::Tuple(items) => items.iter().for_each(|s| codes_in(s, codes)),
        Sketch::Array(elem) => codes_in(elem, codes),
        Sketch::Variant { fields, .. } => {
            fields.iter().flatten().flatten().for_each(|s| codes_in(s, codes));
        }
        Sketch::Fun { alternatives, .. } => {
            for (number, env) in alternatives {
                codes.push(*number);
                env.iter().for_each(|s| codes_in(s, codes));
            }
        }
    }
}
