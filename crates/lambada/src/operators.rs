//! Derivatives of a whole definition: new entry points in core, for the command line and the
//! library.
//!
//! For an entry `f : a₁ → … → aₙ → b` and a choice `W` of its parameters, let `f_W` be the function
//! of `W` alone:
//! - value and gradient: `\a₁ … aₙ -> let (y, pullback) = vjp f_W w in (y, pullback 1.0)`
//! - vjp: `\a₁ … aₙ cotangent -> let (y, pullback) = vjp f_W w in (y, pullback cotangent)`
//! - jvp: `\a₁ … aₙ tangent -> jvp f_W w tangent`
//! - Jacobian: `\a₁ … aₙ -> (f_W w, jacobian f_W w)`, a tuple of Jacobians for several parameters
//! - Hessian: `\a₁ … aₙ -> (f_W w, hessian f_W w)`, blocks for pairs of parameters
//!
//! Several chosen parameters form a tuple.

use std::collections::HashSet;

use lambada_core as core;
use lambada_core::{Def, DefId, Program, Signature, SizedTy, Term, TermKind, Ty, TypeId, Var};
use lambada_prim::ScalarTy;
use lambada_source::{Problem, Span};

use crate::data::{is_identifier, names_match};
use crate::messages::derivatives as messages;

/// Operation on an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// The value itself.
    Value,
    /// Value and gradient of a real result.
    Grad,
    /// Value and tangent; takes one more argument, the tangent.
    Jvp,
    /// Value and cotangents; takes one more argument, the cotangent.
    Vjp,
    /// Value and Jacobian of a result of reals.
    Jacobian,
    /// Value and Hessian of a real result.
    Hessian,
}

/// Indices of the parameters to differentiate with respect to [default: all that carry
/// derivatives].
pub fn choose(
    program: &Program,
    entry: DefId,
    wrt: Option<&[String]>,
) -> Result<Vec<usize>, Problem> {
    let def = program.def(entry);
    let params = &def.signature.params;
    let Some(wrt) = wrt else {
        let all: Vec<usize> =
            (0..params.len()).filter(|k| carries_derivative(program, &params[*k].1)).collect();
        return if all.is_empty() { Err(messages::nothing_real(&def.name)) } else { Ok(all) };
    };
    let chosen = places(program, entry, wrt)?;
    match chosen.iter().find(|k| !carries_derivative(program, &params[**k].1)) {
        Some(k) => {
            let real = params.iter().filter(|(_, ty)| carries_derivative(program, ty));
            let others: Vec<&str> = real.map(|(name, _)| &**name).collect();
            Err(messages::not_differentiable(&def.name, &params[*k].0, &others))
        }
        None => Ok(chosen),
    }
}

/// Indices of the parameters with these names, without duplicates.
pub fn places(program: &Program, entry: DefId, wrt: &[String]) -> Result<Vec<usize>, Problem> {
    let def = program.def(entry);
    let names: Vec<&str> = def.signature.params.iter().map(|(name, _)| &**name).collect();
    let mut chosen = Vec::new();
    for name in wrt {
        let k = names
            .iter()
            .position(|n| names_match(n, name))
            .ok_or_else(|| messages::no_such_parameter(&def.name, name, &names))?;
        if !chosen.contains(&k) {
            chosen.push(k);
        }
    }
    Ok(chosen)
}

/// Adds the entry that computes `operator` of `entry`. Its parameters are those of `entry`, then
/// the tangent or cotangent.
pub fn derive(
    program: &mut Program,
    entry: DefId,
    operator: Operator,
    wrt: &[usize],
) -> Result<DefId, Problem> {
    if operator == Operator::Value {
        return Ok(entry);
    }
    let def = program.def(entry).clone();
    let (types, result) = split(&def);
    if let Some((name, _)) = def
        .signature
        .params
        .iter()
        .zip(&types)
        .find(|(_, ty)| !core::first_order(program, ty))
        .map(|(p, _)| p)
    {
        return Err(messages::takes_a_function(&def.name, name));
    }
    if !core::first_order(program, &result) {
        return Err(messages::gives_a_function(&def.name));
    }
    let real = result == Ty::REAL;
    if operator == Operator::Grad && !real {
        return Err(messages::not_a_scalar(&def.name));
    }
    if operator == Operator::Hessian && !real {
        return Err(messages::no_hessian(&def.name));
    }
    if operator == Operator::Jacobian && rank_of_reals(&result).is_none() {
        return Err(messages::no_jacobian(&def.name));
    }
    let span = def.span;
    let hint =
        |name: &str| if is_identifier(name) { name.to_string() } else { "argument".to_string() };
    let params: Vec<Var> = def
        .signature
        .params
        .iter()
        .zip(&types)
        .map(|((name, _), ty)| program.fresh(&hint(name), ty.clone()))
        .collect();
    let point = pack(wrt.iter().map(|k| core::var(&params[*k])).collect());
    let restricted = restrict(program, entry, &def, &params, wrt, point.ty().clone());
    let (body, extra) = match operator {
        Operator::Value => unreachable!("returned above"),
        Operator::Jacobian | Operator::Hessian => {
            let all = matrix(program, &def, operator, restricted, point, wrt)?;
            (all, None)
        }
        Operator::Grad => (pull(program, restricted, point, |_| core::real(1.0), span), None),
        Operator::Vjp => {
            let cotangent = program.fresh(&unused("cotangent", &def.signature), result);
            (pull(program, restricted, point, |_| core::var(&cotangent), span), Some(cotangent))
        }
        Operator::Jvp => {
            let tangent = program.fresh(&unused("tangent", &def.signature), point.ty().clone());
            (core::jvp(restricted, point, core::var(&tangent), span), Some(tangent))
        }
    };
    let signature = extended(&def.signature, extra.as_ref(), wrt, operator);
    let body = params.into_iter().chain(extra).rev().fold(body, |body, x| core::lam(x, body));
    Ok(program.define(def.name, body, signature, span))
}

/// The name, numbered if a parameter already has it, because a second derivative has two tangents.
fn unused(name: &str, signature: &Signature) -> String {
    let taken = |name: &str| signature.params.iter().any(|(param, _)| &**param == name);
    let numbered = (2..).map(|k| format!("{name}{k}"));
    std::iter::once(name.to_string()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
}

/// `let (y, pullback) = vjp f x in (y, pullback seed)`
fn pull(
    program: &mut Program,
    f: Term,
    x: Term,
    seed: impl FnOnce(&Ty) -> Term,
    span: Span,
) -> Term {
    let both = core::vjp(f, x, span);
    let pair = program.fresh("both", both.ty().clone());
    let value = core::proj(core::var(&pair), 0);
    let seed = seed(value.ty());
    let gradient = core::app(core::proj(core::var(&pair), 1), seed);
    core::let_(pair, both, core::tuple(vec![value, gradient]))
}

/// `let f = … let w = … in (f w, derivative)`, where the derivative is the Jacobian or the Hessian.
fn matrix(
    program: &mut Program,
    def: &Def,
    operator: Operator,
    f: Term,
    point: Term,
    wrt: &[usize],
) -> Result<Term, Problem> {
    let [f_var, w] =
        [("f", &f), ("point", &point)].map(|(hint, t)| program.fresh(hint, t.ty().clone()));
    let (f_term, w_term) = (core::var(&f_var), core::var(&w));
    let value = core::app(f_term.clone(), w_term.clone());
    let derivative = if operator == Operator::Hessian {
        let (name, params) = (&def.name, &def.signature.params);
        let other = wrt.iter().find(|k| !is_real_array(&params[**k].1));
        if let Some(k) = other {
            return Err(messages::no_hessian_by(name, &params[*k].0));
        }
        core::hessian(program, &f_term, &w_term, def.span).expect("all are arrays of reals")
    } else {
        let rows = core::jacobian(program, &f_term, &w_term, def.span);
        by_parameters(program, rows, value.ty(), wrt.len(), def.span)
    };
    let both = core::tuple(vec![value, derivative]);
    Ok(core::let_(f_var, f, core::let_(w, point, both)))
}

/// Transposes rows that are tuples of several parameters into a tuple of arrays.
fn by_parameters(program: &mut Program, rows: Term, value: &Ty, count: usize, span: Span) -> Term {
    let rank = rank_of_reals(value).unwrap_or_default();
    if count == 1 || rank == 0 {
        return rows;
    }
    let all = program.fresh("rows", rows.ty().clone());
    let parts = (0..count).map(|k| {
        let places: Vec<Var> = (0..rank).map(|_| program.fresh("i", Ty::INT)).collect();
        let row = core::index(core::var(&all), places.iter().map(core::var).collect(), span);
        let axes = places.into_iter().enumerate().rev();
        axes.fold(core::proj(row, k), |body, (axis, i)| {
            core::for_(i, core::dim(core::var(&all), axis), body)
        })
    });
    let parts = core::tuple(parts.collect());
    core::let_(all, rows, parts)
}

/// Rank of an array of reals; 0 for a real.
fn rank_of_reals(ty: &Ty) -> Option<usize> {
    if let Ty::Array(elem) = ty {
        rank_of_reals(elem).map(|rank| rank + 1)
    } else {
        (*ty == Ty::REAL).then_some(0)
    }
}

/// Whether the type is `real` or an array of reals.
fn is_real_array(ty: &SizedTy) -> bool {
    if let SizedTy::Array(_, elem) = ty {
        is_real_array(elem)
    } else {
        *ty == SizedTy::Scalar(ScalarTy::Real)
    }
}

/// `\w -> f a₁ … w.0 … aₙ`
fn restrict(
    program: &mut Program,
    entry: DefId,
    def: &Def,
    params: &[Var],
    wrt: &[usize],
    point: Ty,
) -> Term {
    let w = program.fresh("point", point);
    let f = Term::new(TermKind::Global(entry), def.body.ty().clone(), def.span);
    let body = params.iter().enumerate().fold(f, |f, (k, x)| {
        let argument = match wrt.iter().position(|chosen| *chosen == k) {
            Some(_) if wrt.len() == 1 => core::var(&w),
            Some(place) => core::proj(core::var(&w), place),
            None => core::var(x),
        };
        core::app(f, argument)
    });
    core::lam(w, body)
}

fn pack(mut items: Vec<Term>) -> Term {
    if items.len() == 1 { items.remove(0) } else { core::tuple(items) }
}

/// Types of the parameters in the signature, and of the result.
pub(crate) fn split(def: &Def) -> (Vec<Ty>, Ty) {
    let mut at = def.body.ty().clone();
    let mut types = Vec::new();
    for _ in &def.signature.params {
        let Ty::Fun(from, to) = at else {
            panic!("`{}` has more parameters than its type", def.name)
        };
        types.push((*from).clone());
        at = (*to).clone();
    }
    (types, at)
}

fn extended(
    signature: &Signature,
    extra: Option<&Var>,
    wrt: &[usize],
    operator: Operator,
) -> Signature {
    let mut params = signature.params.clone();
    let point: Vec<SizedTy> = wrt.iter().map(|k| signature.params[*k].1.clone()).collect();
    let point = if let [single] = &point[..] { single.clone() } else { SizedTy::Tuple(point) };
    let result = signature.result.clone();
    if let Some(extra) = extra {
        let ty = if operator == Operator::Jvp {
            point.clone()
        } else {
            result.clone().unwrap_or_else(|| crate::data::unsized_ty(&extra.ty))
        };
        params.push((extra.hint.clone(), ty));
    }
    let derivative = match operator {
        Operator::Jvp => result.clone(),
        Operator::Grad | Operator::Vjp | Operator::Value => Some(point),
        Operator::Jacobian | Operator::Hessian => None,
    };
    let result =
        result.zip(derivative).map(|(value, derivative)| SizedTy::Tuple(vec![value, derivative]));
    Signature { params, result }
}

/// Whether the type contains a real.
pub(crate) fn carries_derivative(program: &Program, ty: &SizedTy) -> bool {
    has_real(program, ty, &mut HashSet::new())
}

/// As [`carries_derivative`], visiting each variant once.
fn has_real(program: &Program, ty: &SizedTy, seen: &mut HashSet<TypeId>) -> bool {
    match ty {
        SizedTy::Scalar(elem) => *elem == ScalarTy::Real,
        SizedTy::Tuple(items) => items.iter().any(|t| has_real(program, t, seen)),
        SizedTy::Record(fields) => fields.iter().any(|(_, t)| has_real(program, t, seen)),
        SizedTy::Array(_, elem) => has_real(program, elem, seen),
        SizedTy::Fun(..) => false,
        SizedTy::Variant(id) => {
            let mut fields = program.type_decl(*id).constructors.iter().flat_map(|(_, args)| args);
            seen.insert(*id) && fields.any(|t| has_real(program, &crate::data::unsized_ty(t), seen))
        }
    }
}
