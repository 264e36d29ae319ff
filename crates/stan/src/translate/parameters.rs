//! Parameters and data as arguments: their types, spaces and bounds.

use std::rc::Rc;

use lambada_surface::ast::{TypeExpr, TypeKind};
use lambada_surface::build as make;

use super::is_size;
use super::scope::{Done, Info, Scope, lambada_name};
use crate::ast::{Base, Decl, Expr, ExprKind};
use crate::raise::{Bind, TARGET};
use crate::surface::size;
use crate::term::{Clause, Names, Op, Pat, Term, bin, call, for_, for_range, index, var};
use crate::types::Ty;

/// A parameter or data: an argument of definitions.
pub(crate) struct External {
    pub name: Rc<str>,
    /// Its type with sizes; that of the coordinates for a bounded parameter.
    pub ty: Ty,
    /// Its type in signatures.
    pub written: TypeExpr,
    pub is_parameter: bool,
}

impl External {
    pub fn data(info: &Info) -> External {
        let scalar = match info.ty.scalar() {
            Ty::Int if info.zero_based => "space.one_based",
            Ty::Int => "int",
            _ => "real",
        };
        let written = arrays(&info.ty.dims(), make::named_ty(scalar));
        External { name: info.name.clone(), ty: info.ty.clone(), written, is_parameter: false }
    }

    /// A parameter within its bounds.
    pub fn plain(info: &Info) -> External {
        let written = arrays(&info.ty.dims(), make::named_ty("real"));
        External { name: info.name.clone(), ty: info.ty.clone(), written, is_parameter: true }
    }
}

/// Arrays of an element type; sizes that are unknown are left open.
pub(crate) fn arrays(dims: &[Option<Term>], elem: TypeExpr) -> TypeExpr {
    dims.iter().rev().fold(elem, |elem, dim| {
        let dim = dim.as_ref().map(|dim| Box::new(size(dim)));
        make::ty(TypeKind::Array(dim, Box::new(elem)))
    })
}

fn is_number(bound: Option<&Expr>, wanted: f64) -> bool {
    match bound.map(|bound| &bound.kind) {
        Some(ExprKind::Int(k)) => *k as f64 == wanted,
        Some(ExprKind::Real(x)) => *x == wanted,
        _ => false,
    }
}

/// Parameters in a scope.
pub(crate) struct Parameters<'a>(pub &'a mut Scope);

impl Parameters<'_> {
    /// A parameter as an argument, and the statements that make it from one without bounds, if it
    /// has bounds for which there is no space.
    pub fn parameter(&mut self, decl: &Decl, integers: &Names) -> Done<(External, Vec<Bind>)> {
        let ty = self.0.declared(&decl.ty)?;
        let name = lambada_name(&decl.name.text);
        let sizes = sized(&name, &ty, integers);
        let bounds = &decl.ty.bounds;
        let (lower, upper) = (bounds.lower.as_ref(), bounds.upper.as_ref());
        let space = match decl.ty.base {
            Base::Simplex => Some("simplex"),
            Base::UnitVector => Some("unit_vector"),
            Base::SumToZero => Some("sum_to_zero"),
            Base::Ordered => Some("ordered"),
            Base::PositiveOrdered => Some("positive_ordered"),
            Base::Corr => Some("corr"),
            Base::Cov => Some("cov"),
            Base::CholeskyCorr => Some("cholesky_corr"),
            Base::CholeskyCov => Some("cholesky_cov"),
            Base::Int | Base::Real | Base::Vector | Base::RowVector | Base::Matrix => None,
        };
        self.0.declare(&decl.name.text, ty.clone());
        let dims = sizes.dims();
        if let Some(space) = space {
            // The space has the sizes of its values, the arrays around it their own.
            let outer = decl.ty.dims.len();
            let inner = dims.get(outer).cloned().flatten().map(|dim| size(&dim));
            let elem =
                TypeKind::Name(make::name(format!("space.{space}")), vec![inner], Vec::new());
            let written = arrays(&dims[..outer], make::ty(elem));
            return Ok((External { name, ty: sizes, written, is_parameter: true }, Vec::new()));
        }
        let plain = |scalar: &str, name: Rc<str>| External {
            name,
            ty: sizes.clone(),
            written: arrays(&dims, make::named_ty(scalar)),
            is_parameter: true,
        };
        let affine = bounds.offset.is_some() || bounds.multiplier.is_some();
        match (lower, upper) {
            (None, None) if !affine => return Ok((plain("real", name), Vec::new())),
            (lower, None) if is_number(lower, 0.0) => {
                return Ok((plain("space.positive", name), Vec::new()));
            }
            (lower, upper) if is_number(lower, 0.0) && is_number(upper, 1.0) => {
                return Ok((plain("space.unit", name), Vec::new()));
            }
            _ => {}
        }
        let raw = self.0.fresh(&format!("{}_raw", decl.name.text));
        let binds =
            if affine { self.affine(decl, &raw, &ty)? } else { self.between(decl, &raw, &ty)? };
        Ok((plain("real", raw), binds))
    }

    /// `x` between bounds from `x_raw`, and the logarithm of the Jacobian.
    fn between(&mut self, decl: &Decl, raw: &Rc<str>, ty: &Ty) -> Done<Vec<Bind>> {
        let name = lambada_name(&decl.name.text);
        let (lower, upper) = (decl.ty.bounds.lower.as_ref(), decl.ty.bounds.upper.as_ref());
        let rank = ty.rank();
        let mut names: Vec<Rc<str>> = Vec::new();
        for _ in 0..rank {
            names.push(self.0.index_name(&names));
        }
        let mut bounds = Vec::new();
        let mut varies = false;
        for bound in [lower, upper].into_iter().flatten() {
            varies |= self.0.ty(bound)?.rank() > 0;
            let at: Option<Term> = names.first().map(|name| var(name));
            bounds.push(match at {
                Some(at) => self.0.element(bound, &at, "bound")?,
                None => self.0.term(bound)?,
            });
        }
        let function = match (lower, upper) {
            (Some(_), Some(_)) => "space.between_from",
            (Some(_), None) => "space.lower_from",
            _ => "space.upper_from",
        };
        let from = |x: Term| call(function, bounds.iter().cloned().chain([x]));
        let log = self.0.fresh(&format!("log_{}", decl.name.text));
        let raw_term = Term::Var(raw.clone());
        let add = |value: Term| Bind::Add { name: TARGET.into(), value, doc: Vec::new() };
        let pair = Pat::Names(vec![name.clone(), log.clone()]);
        if rank == 0 {
            let value = from(raw_term);
            return Ok(vec![Bind::Several { pat: pair, value }, add(Term::Var(log))]);
        }
        let dims: Option<Vec<Term>> = ty.dims().into_iter().collect();
        let dims = dims.unwrap_or_default();
        if rank == 1 {
            let value = if varies {
                let at = index(raw_term, vec![var(&names[0])]);
                for_range(&names[0], dims[0].clone(), from(at))
            } else {
                let x = self.0.element_name();
                for_(Clause::In(x.clone(), Box::new(raw_term)), from(Term::Var(x)))
            };
            let value = call("unzip", [value]);
            return Ok(vec![
                Bind::Several { pat: pair, value },
                add(call("sum", [Term::Var(log)])),
            ]);
        }
        let at = index(raw_term, names.iter().map(|name| var(name)).collect());
        let all = |part: usize| {
            let elem = Term::Component(Box::new(from(at.clone())), part);
            names
                .iter()
                .zip(&dims)
                .rev()
                .fold(elem, |body, (name, size)| for_range(name, size.clone(), body))
        };
        Ok(vec![
            Bind::Let { name, value: all(0), declares: false, doc: Vec::new() },
            add(call("sum", [call("ravel", [all(1)])])),
        ])
    }

    /// `x = offset + multiplier * x_raw`, and the logarithm of the multiplier.
    fn affine(&mut self, decl: &Decl, raw: &Rc<str>, ty: &Ty) -> Done<Vec<Bind>> {
        let bounds = &decl.ty.bounds;
        let mut value = Term::Var(raw.clone());
        let mut out = Vec::new();
        if let Some(multiplier) = &bounds.multiplier {
            let rank = self.0.ty(multiplier)?.rank();
            let multiplier = self.0.term(multiplier)?;
            value = bin(Op::Mul, multiplier.clone(), value);
            let log = call("log", [multiplier]);
            let dims: Vec<Term> = ty.dims().into_iter().flatten().collect();
            let count = dims.into_iter().reduce(|a, b| bin(Op::Mul, a, b));
            let log = match (rank, count) {
                (0, Some(count)) => bin(Op::Mul, count, log),
                (0, None) => log,
                _ => call("sum", [log]),
            };
            out.push(Bind::Add { name: TARGET.into(), value: log, doc: Vec::new() });
        }
        if let Some(offset) = &bounds.offset {
            value = bin(Op::Add, self.0.term(offset)?, value);
        }
        let name = lambada_name(&decl.name.text);
        out.insert(0, Bind::Let { name, value, declares: false, doc: Vec::new() });
        Ok(out)
    }
}

/// The type with a size of its own for each size that a signature cannot have.
fn sized(name: &str, ty: &Ty, integers: &Names) -> Ty {
    let own = |dim: &Option<Term>, axis: usize| {
        dim.clone().map(|dim| match is_size(&dim, integers) {
            true => dim,
            false if axis == 0 => var(&format!("{name}_size")),
            false => var(&format!("{name}_size_{}", axis + 1)),
        })
    };
    fn with(ty: &Ty, axis: usize, own: &dyn Fn(&Option<Term>, usize) -> Option<Term>) -> Ty {
        match ty {
            Ty::Bool | Ty::Int | Ty::Real => ty.clone(),
            Ty::Vector(n) => Ty::Vector(own(n, axis)),
            Ty::Row(n) => Ty::Row(own(n, axis)),
            Ty::Matrix(n, m) => Ty::Matrix(own(n, axis), own(m, axis + 1)),
            Ty::Array(n, elem) => Ty::Array(own(n, axis), Box::new(with(elem, axis + 1, own))),
        }
    }
    with(ty, 0, &own)
}
