//! The derivatives of operations, and of the primitives of Appendix F, point-free. Read beside
//! `linear::primitives`, whose translation by `†` they are equal to.

use super::*;
use crate::lambda::{component, points};
use crate::linear::{self, LTy};
use crate::op::Op;
use crate::primitives::{LPrim, Primitive};
use crate::var::Env;

/// `x : Dom(op) ⊢ D op(x) : LFun(Dom(op), real^m)`: the translation of the linear term.
pub fn forward_op(o: &Op, x: &Term) -> Term {
    translated(o, x, |y| linear::forward_op(o, y, &linear::v(LTy::dom(&o.dom()))))
}

/// `x : Dom(op) ⊢ (D op)^t(x) : LFun(real^m, Dom(op))`: the translation of the linear term.
pub fn reverse_op(o: &Op, x: &Term) -> Term {
    translated(o, x, |y| linear::reverse_op(o, y, &linear::v(LTy::Real(o.cod()))))
}

fn translated(o: &Op, x: &Term, make: impl Fn(&linear::Term) -> linear::Lin) -> Term {
    let y = linear::Var::fresh("x", linear::Ty::dom(&o.dom()));
    dagger_linear(&make(&linear::var(&y)), &Env::default().with(&y, x.clone()))
}

/// `x : D→(Dom)_1 ⊢ D→(prim)_2 : LFun(D→(Dom)_2, D→(Cod)_2)`
pub fn forward_prim(p: Primitive, x: &Term) -> Term {
    forward_prim_from(p, x, &primal_prim(p, x))
}

/// [`forward_prim`], with `result` for `D→(prim)_1` at `x`.
pub fn forward_prim_from(p: Primitive, x: &Term, result: &Term) -> Term {
    let at = points(p, x, result);
    let (linear, (g, w)) = (pair(component(x, snd), at.clone()), projections(p));
    match p {
        // P-1
        Primitive::Map { arity, n } => {
            let values = lthen(g, lprim(LPrim::Map { arity, n }, at));
            plus(values, lthen(w, lprim(LPrim::ZipWith { arity, from: arity, to: 1, n }, linear)))
        }
        // P-3
        Primitive::Scan { n } => {
            let values = lthen(g, lprim(LPrim::Map { arity: 2, n }, at));
            lthen(lpair(w, values), lprim(LPrim::Scan { n }, linear))
        }
    }
}

/// `x : D←(Dom)_1 ⊢ D←(prim)_2 : LFun(D←(Cod)_2, D←(Dom)_2)`
pub fn reverse_prim(p: Primitive, x: &Term) -> Term {
    reverse_prim_from(p, x, &primal_prim(p, x))
}

/// [`reverse_prim`], with `result` for `D←(prim)_1` at `x`.
pub fn reverse_prim_from(p: Primitive, x: &Term, result: &Term) -> Term {
    let at = points(p, x, result);
    let linear = pair(component(x, snd), at.clone());
    match p {
        // P-1
        Primitive::Map { arity, n } => lpair(
            lprim(LPrim::Zip { arity, n }, at),
            lprim(LPrim::ZipWith { arity, from: 1, to: arity, n }, linear),
        ),
        // P-3
        Primitive::Scan { n } => {
            let (args, states) = dagger_linear_ty(&LPrim::Unscan { n }.cod()).components();
            let entries =
                lthen(lsnd(args.clone(), states.clone()), lprim(LPrim::Zip { arity: 2, n }, at));
            lthen(lprim(LPrim::Unscan { n }, linear), lpair(entries, lfst(args, states)))
        }
    }
}

/// `lfst` and `lsnd`, from `D→(Dom)_2 = (real^k -> real) * args`.
fn projections(p: Primitive) -> (Term, Term) {
    let dom = dagger_ty(&linear::of_source_ty(&p.from()));
    let (g, w) = dom.components();
    (lfst(g.clone(), w.clone()), lsnd(g, w))
}
