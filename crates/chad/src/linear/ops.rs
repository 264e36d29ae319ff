//! The derivatives of the operations, as terms: `D op (x; v)` and `(D op)^t (x; v)`, read off the
//! one table [`slopes`].

use super::{LTy, Lin, Term, fst, lfst, lop, lpair, lsnd, op, plus, snd, tuple, unit, zero_lin};
use crate::op::{Op, Slope, slopes};

/// `x : Dom(op); v : LDom ⊢ D op (x; v) : real^m`, at a term for `x` and one for `v`.
pub fn forward_op(o: &Op, x: &Term, v: &Lin) -> Lin {
    let vs = linear_components(v, o.dom().len());
    let flows = slopes_at(o, x).into_iter().zip(vs).filter_map(|(slope, v)| flow(slope, v));
    flows.reduce(plus).unwrap_or_else(|| zero_lin(v.from().clone(), LTy::Real(o.cod())))
}

/// `x : Dom(op); v : real^m ⊢ (D op)^t (x; v) : LDom`, at a term for `x` and one for `v`.
pub fn reverse_op(o: &Op, x: &Term, v: &Lin) -> Lin {
    let zero = |n: usize| zero_lin(v.from().clone(), LTy::Real(n));
    let flows = slopes_at(o, x).into_iter().zip(o.dom());
    let parts =
        flows.map(|(slope, n)| flow(slope.transposed(), v.clone()).unwrap_or_else(|| zero(n)));
    parts.reduce(lpair).unwrap_or_else(|| zero_lin(v.from().clone(), LTy::Unit))
}

fn slopes_at(o: &Op, x: &Term) -> Vec<Slope<Term>> {
    slopes(o, &components(x, o.dom().len()), &mut |o, args| op(o, tuple(args)))
}

/// The slope applied; none for the zero slope.
fn flow(slope: Slope<Term>, v: Lin) -> Option<Lin> {
    match slope {
        Slope::Zero => None,
        Slope::Same => Some(v),
        Slope::By(o, at) => Some(lop(o, at.unwrap_or_else(unit), v)),
    }
}

/// The k components of a product that nests to the left.
fn components(x: &Term, k: usize) -> Vec<Term> {
    match k {
        0 => vec![],
        1 => vec![x.clone()],
        _ => [components(&fst(x.clone()), k - 1), vec![snd(x.clone())]].concat(),
    }
}

fn linear_components(v: &Lin, k: usize) -> Vec<Lin> {
    match k {
        0 => vec![],
        1 => vec![v.clone()],
        _ => [linear_components(&lfst(v.clone()), k - 1), vec![lsnd(v.clone())]].concat(),
    }
}
