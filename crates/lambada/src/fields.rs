//! Derivatives with respect to fields of parameters: `--wrt p.mu`.
//!
//! For `f : a₁ → … → aₙ → b` and `k` fields of its parameters, the widened definition has one more
//! parameter for each field: `\a₁ … aₙ w₁ … wₖ -> f a₁' … aₙ'`, where `aᵢ'` is `aᵢ` with its fields
//! replaced by the `w`s. The derivative is taken where the `w`s equal the fields.

use std::rc::Rc;

use lambada_core as core;
use lambada_core::data::Data;
use lambada_core::{DefId, Program, SizedTy, Term, TermKind, Ty, Var};
use lambada_source::Problem;

use crate::data::{is_identifier, names_match};
use crate::messages::derivatives as messages;

/// A field of a parameter, possibly nested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    param: usize,
    path: Vec<Rc<str>>,
}

impl Field {
    /// The value of the field among the arguments of the definition.
    pub(crate) fn of(&self, args: &[Data]) -> Option<Data> {
        inside(args.get(self.param)?, self.path.iter().map(|name| &**name)).cloned()
    }

    fn overlaps(&self, other: &Field) -> bool {
        let shorter = self.path.len().min(other.path.len());
        self.param == other.param && self.path[..shorter] == other.path[..shorter]
    }
}

/// The field of a record at the end of a path.
pub(crate) fn inside<'d, 'n>(
    data: &'d Data,
    mut path: impl Iterator<Item = &'n str>,
) -> Option<&'d Data> {
    path.try_fold(data, |at, name| {
        let Data::Record(fields) = at else { return None };
        fields.iter().find(|(known, _)| **known == *name).map(|(_, data)| data)
    })
}

/// As [`inside`], mutable.
pub(crate) fn inside_mut<'d, 'n>(
    data: &'d mut Data,
    mut path: impl Iterator<Item = &'n str>,
) -> Option<&'d mut Data> {
    path.try_fold(data, |at, name| {
        let Data::Record(fields) = at else { return None };
        fields.iter_mut().find(|(known, _)| **known == *name).map(|(_, data)| data)
    })
}

/// Widens the definition by one parameter for each field in `wrt`, and returns these fields.
/// Without fields, returns the definition itself.
pub(crate) fn widen(
    program: &mut Program,
    entry: DefId,
    wrt: &[String],
) -> Result<(DefId, Vec<Field>), Problem> {
    let def = program.def(entry).clone();
    let mut fields: Vec<(String, Field, SizedTy)> = Vec::new();
    let mut whole = Vec::new();
    for name in wrt {
        let params = &def.signature.params;
        match params.iter().position(|(known, _)| names_match(known, name)) {
            Some(param) => whole.push((name, Field { param, path: Vec::new() })),
            None => {
                let found = find(params, name);
                let known: Vec<String> = params.iter().flat_map(|(n, ty)| names(n, ty)).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let missing = || messages::no_such_parameter(&def.name, name, &known);
                let (field, ty) = found.ok_or_else(missing)?;
                if !fields.iter().any(|(_, known, _)| *known == field) {
                    fields.push((name.clone(), field, ty));
                }
            }
        }
    }
    if fields.is_empty() {
        return Ok((entry, Vec::new()));
    }
    let all = fields.iter().map(|(name, field, _)| (name, field));
    let all: Vec<_> = all.chain(whole.iter().map(|(name, field)| (*name, field))).collect();
    for (k, (name, field)) in all.iter().enumerate() {
        if let Some((other, _)) = all[..k].iter().find(|(_, other)| other.overlaps(field)) {
            return Err(messages::overlapping(other, name));
        }
    }
    let mut signature = def.signature.clone();
    let types = parameter_types(def.body.ty(), signature.params.len());
    let hint = |name: &str| if is_identifier(name) { name.to_string() } else { "argument".into() };
    let params: Vec<Var> = signature
        .params
        .iter()
        .zip(&types)
        .map(|((name, _), ty)| program.fresh(&hint(name), ty.clone()))
        .collect();
    let mut arguments: Vec<Term> = params.iter().map(core::var).collect();
    let mut extra = Vec::new();
    for (name, field, ty) in &fields {
        let at = component(&types[field.param], &field.path);
        let last = field.path.last().map_or_else(String::new, |name| hint(name));
        let own = program.fresh(&last, at);
        let argument = &mut arguments[field.param];
        *argument = replaced(argument, &field.path, core::var(&own));
        extra.push(own);
        signature.params.push((name.as_str().into(), ty.clone()));
    }
    let f = Term::new(TermKind::Global(entry), def.body.ty().clone(), def.span);
    let body = arguments.into_iter().fold(f, core::app);
    let body = params.into_iter().chain(extra).rev().fold(body, |body, x| core::lam(x, body));
    let entry = program.define(def.name, body, signature, def.span);
    Ok((entry, fields.into_iter().map(|(_, field, _)| field).collect()))
}

/// Wraps a derivative of a widened definition so that it takes only the `count` parameters of the
/// original, and reads the fields at the point itself. Without fields, returns the derivative.
pub(crate) fn narrow(program: &mut Program, entry: DefId, count: usize, fields: &[Field]) -> DefId {
    if fields.is_empty() {
        return entry;
    }
    let def = program.def(entry).clone();
    let mut signature = def.signature.clone();
    let types = parameter_types(def.body.ty(), signature.params.len());
    let extra = count..count + fields.len();
    signature.params.drain(extra.clone());
    let hint = |name: &str| if is_identifier(name) { name.to_string() } else { "argument".into() };
    let own = types.iter().enumerate().filter(|(k, _)| !extra.contains(k));
    let params: Vec<Var> = own
        .zip(&signature.params)
        .map(|((_, ty), (name, _))| program.fresh(&hint(name), ty.clone()))
        .collect();
    let given = |var: &Var| core::var(var);
    let read = |field: &Field| {
        let whole = core::var(&params[field.param]);
        field.path.iter().fold(whole, |at, name| {
            let k = place(at.ty(), name);
            core::proj(at, k)
        })
    };
    let before = params[..count].iter().map(given);
    let after = params[count..].iter().map(given);
    let arguments: Vec<Term> = before.chain(fields.iter().map(read)).chain(after).collect();
    let f = Term::new(TermKind::Global(entry), def.body.ty().clone(), def.span);
    let body = arguments.into_iter().fold(f, core::app);
    let body = params.into_iter().rev().fold(body, |body, x| core::lam(x, body));
    program.define(def.name, body, signature, def.span)
}

/// Resolves a name such as `p.mu` to a field with its type.
fn find(params: &[(Rc<str>, SizedTy)], name: &str) -> Option<(Field, SizedTy)> {
    let mut parts = name.split('.').map(str::trim);
    let root = parts.next()?;
    let param = params.iter().position(|(known, _)| names_match(known, root))?;
    let (mut path, mut at) = (Vec::new(), &params[param].1);
    for part in parts {
        let SizedTy::Record(fields) = at else { return None };
        let (field, ty) = fields.iter().find(|(known, _)| **known == *part)?;
        path.push(field.clone());
        at = ty;
    }
    Some((Field { param, path }, at.clone()))
}

/// Names of a parameter and of all its nested fields.
fn names(name: &str, ty: &SizedTy) -> Vec<String> {
    let mut all = vec![name.to_string()];
    if let SizedTy::Record(fields) = ty {
        all.extend(fields.iter().flat_map(|(field, ty)| names(&format!("{name}.{field}"), ty)));
    }
    all
}

fn parameter_types(ty: &Ty, count: usize) -> Vec<Ty> {
    let mut at = ty;
    let mut types = Vec::new();
    while let (Ty::Fun(from, to), true) = (at, types.len() < count) {
        types.push((**from).clone());
        at = to;
    }
    types
}

fn place(ty: &Ty, name: &str) -> usize {
    match ty {
        Ty::Record(fields) => fields.iter().position(|(n, _)| **n == *name).unwrap_or_default(),
        Ty::Scalar(_) | Ty::Tuple(_) | Ty::Array(_) | Ty::Fun(..) | Ty::Variant(_) => 0,
    }
}

fn component(ty: &Ty, path: &[Rc<str>]) -> Ty {
    path.iter().fold(ty.clone(), |ty, name| ty.component(place(&ty, name)).clone())
}

/// The record with the value at `path` replaced.
fn replaced(record: &Term, path: &[Rc<str>], value: Term) -> Term {
    let Some((name, rest)) = path.split_first() else { return value };
    let k = place(record.ty(), name);
    let mut items: Vec<Term> =
        (0..record.ty().components().len()).map(|k| core::proj(record.clone(), k)).collect();
    items[k] = replaced(&items[k], rest, value);
    Term::new(TermKind::Tuple(items), record.ty().clone(), record.span())
}
