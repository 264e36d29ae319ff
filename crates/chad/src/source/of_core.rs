//! The fragment of `core` that is the paper's source language: real numbers, tuples, functions, `let`.

use std::collections::HashMap;
use std::fmt;

use lambada_core::{self as core, DefId, Program, TermKind};
use lambada_prim::{Prim, Scalar, ScalarTy};
use lambada_source::Span;

use super::{REAL, Term, Ty, Var, abs, app, constant, fst, let_, op_at, snd, tuple, var};
use crate::op::{Op, infix};

/// The first construct of a program that the source language does not have.
#[derive(Clone, Debug, PartialEq)]
pub struct Outside {
    /// Where it is.
    pub span: Span,
    /// What it is.
    pub construct: String,
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not in the source language of the paper: real numbers, tuples, records, functions and `let`", self.construct)
    }
}

impl std::error::Error for Outside {}

/// Is a definition in the fragment?
pub fn is_source(program: &Program, entry: DefId) -> bool {
    of_core(program, entry).is_ok()
}

/// A definition as `x : T ⊢ t : S`, where `x` is the tuple of its parameters.
pub fn of_core(program: &Program, entry: DefId) -> Result<(Var, Term), Outside> {
    let (mut params, mut body) = (Vec::new(), &program.def(entry).body);
    while let TermKind::Lam(x, inside) = body.kind() {
        params.push(x);
        body = inside;
    }
    let mut reader = Reader { program, terms: HashMap::new() };
    let types = params.iter().map(|x| reader.ty(&x.ty, body.span())).collect::<Result<Vec<_>, _>>()?;
    let hint = if params.len() == 1 { &*params[0].hint } else { "x" };
    let x = Var::fresh(hint, types.into_iter().reduce(Ty::times).unwrap_or(Ty::Unit));
    for (k, param) in params.iter().enumerate() {
        reader.terms.insert(param.id, component(var(&x), k, params.len()));
    }
    let t = reader.term(body)?;
    Ok((x, t))
}

/// The k-th of n components of a product that nests to the left.
fn component(t: Term, k: usize, n: usize) -> Term {
    match (n, k + 1 == n) {
        (1, _) => t,
        (_, true) => snd(t),
        (_, false) => component(fst(t), k, n - 1),
    }
}

struct Reader<'a> {
    program: &'a Program,
    terms: HashMap<u32, Term>,
}

fn outside<T>(span: Span, construct: impl Into<String>) -> Result<T, Outside> {
    Err(Outside { span, construct: construct.into() })
}

impl Reader<'_> {
    fn ty(&self, ty: &core::Ty, span: Span) -> Result<Ty, Outside> {
        match ty {
            core::Ty::Scalar(ScalarTy::Real) => Ok(REAL),
            core::Ty::Scalar(scalar) => outside(span, format!("the type `{scalar}`")),
            core::Ty::Tuple(_) | core::Ty::Record(_) => {
                let items = ty.components().iter().map(|item| self.ty(item, span)).collect::<Result<Vec<_>, _>>()?;
                Ok(items.into_iter().reduce(Ty::times).unwrap_or(Ty::Unit))
            }
            core::Ty::Fun(a, b) => Ok(self.ty(a, span)?.to(self.ty(b, span)?)),
            core::Ty::Array(_) => outside(span, "an array, whose size is not part of its type,"),
            core::Ty::Variant(_) => outside(span, format!("the variant type `{}`", core::print_type(self.program, ty))),
        }
    }

    fn bind(&mut self, x: &core::Var, span: Span) -> Result<Var, Outside> {
        let new = Var::fresh(&x.hint, self.ty(&x.ty, span)?);
        self.terms.insert(x.id, var(&new));
        Ok(new)
    }

    fn term(&mut self, t: &core::Term) -> Result<Term, Outside> {
        let span = t.span();
        match t.kind() {
            TermKind::Var(x) => match self.terms.get(&x.id) {
                Some(t) => Ok(t.clone()),
                None => outside(span, format!("the free variable `{}`", x.hint)),
            },
            TermKind::Global(id) => Reader { program: self.program, terms: HashMap::new() }.term(&self.program.def(*id).body),
            TermKind::Lit(Scalar::Real(value)) => Ok(constant([*value])),
            TermKind::Lit(value) => outside(span, format!("a constant of type `{}`", value.ty())),
            TermKind::Lam(x, body) => {
                let x = self.bind(x, span)?;
                Ok(abs(x, self.term(body)?))
            }
            TermKind::App(f, s) => Ok(app(self.term(f)?, self.term(s)?)),
            TermKind::Let(x, s, body) => {
                let s = self.term(s)?;
                let x = self.bind(x, span)?;
                Ok(app(abs(x, self.term(body)?), s))
            }
            TermKind::Tuple(items) => Ok(tuple(&self.terms(items)?)),
            TermKind::Proj(t, k) => {
                let n = t.ty().components().len();
                Ok(component(self.term(t)?, *k, n))
            }
            TermKind::Prim(prim, args) => self.prim(*prim, args, span),
            TermKind::Con(..) => outside(span, "a constructor"),
            TermKind::Match(..) => outside(span, "`match`"),
            TermKind::If(..) => outside(span, "`if`"),
            TermKind::Array(_) => outside(span, "an array"),
            TermKind::For(..) => outside(span, "`for`"),
            TermKind::Dim(..) => outside(span, "the size of an array"),
            TermKind::Index(..) => outside(span, "an index"),
            TermKind::Update(..) => outside(span, "an update"),
            TermKind::Reduce(op, _) => outside(span, format!("the reduction `{}`", op.name())),
            TermKind::MatMul(..) => outside(span, "`@`"),
            TermKind::Loop { .. } => outside(span, "`loop`"),
            TermKind::Accumulate { .. } | TermKind::Add { .. } => outside(span, "`accumulate`"),
            TermKind::Check { .. } => outside(span, "a check that can fail"),
            TermKind::Jvp(..) => outside(span, "`jvp`"),
            TermKind::Vjp(..) => outside(span, "`vjp`"),
        }
    }

    fn terms(&mut self, items: &[core::Term]) -> Result<Vec<Term>, Outside> {
        items.iter().map(|item| self.term(item)).collect()
    }

    fn prim(&mut self, prim: Prim, args: &[core::Term], span: Span) -> Result<Term, Outside> {
        if Op::is_real(prim) {
            return Ok(op_at(Op::Each(prim, 1), &self.terms(args)?));
        }
        match (prim, args.last().map(|last| last.kind())) {
            (Prim::ToReal, Some(TermKind::Lit(Scalar::Int(n)))) => Ok(constant([*n as f64])),
            (Prim::PowInt, Some(TermKind::Lit(Scalar::Int(n)))) => {
                let n = *n;
                let base = self.term(&args[0])?;
                Ok(let_("b", base, |b| power(&b, n)))
            }
            _ => outside(span, format!("the operation `{}`", infix(prim).unwrap_or(prim.name()))),
        }
    }
}

/// `x` to a known power, by squaring.
fn power(x: &Term, n: i64) -> Term {
    let mul = |a: Term, b: Term| op_at(Op::Each(Prim::Mul, 1), &[a, b]);
    match n {
        0 => constant([1.0]),
        1 => x.clone(),
        ..0 => op_at(Op::Each(Prim::Div, 1), &[constant([1.0]), power(x, n.saturating_neg())]),
        _ if n % 2 == 1 => mul(power(x, n - 1), x.clone()),
        _ => let_("q", power(x, n / 2), |q| mul(q.clone(), q)),
    }
}
