//! Appendix A, reverse mode: `D← : Syn → Σ_CSyn LSyn^op`.
//!
//! D←: `t : T -> S` becomes `x : D←(T)_1 ⊢ D←(t)_1 : D←(S)_1` and
//! `x1 : D←(T)_1; v : D←(S)_2 ⊢ D←(t)_2 : D←(T)_2`.
//!
//! Read beside `forward`: the second component is contravariant, and each arm is the mirror image
//! of the arm there (T-12).

use crate::combinators::{Comb, CombKind};
use crate::linear::*;
use crate::primal::{self, Mode};
use crate::source;

/// M-5 … M-8: `D←(T)_1`
pub fn primal_ty(ty: &source::Ty) -> Ty {
    match ty {
        source::Ty::Real(n) => Ty::Real(*n),
        source::Ty::Unit => Ty::Unit,
        source::Ty::Prod(t, s) => primal_ty(t).times(primal_ty(s)),
        source::Ty::Fun(t, s) => {
            primal_ty(t).to(primal_ty(s).times(cotangent_ty(s).lolli(cotangent_ty(t))))
        }
        source::Ty::Own(never) => match *never {},
    }
}

/// M-5 … M-8: `D←(T)_2`. Erratum E11: the paper prints `D→(real^n)_2` a second time where it means
/// this.
pub fn cotangent_ty(ty: &source::Ty) -> LTy {
    match ty {
        source::Ty::Real(n) => LTy::Real(*n),
        source::Ty::Unit => LTy::Unit,
        source::Ty::Prod(t, s) => cotangent_ty(t).times(cotangent_ty(s)),
        source::Ty::Fun(t, s) => cotangent_ty(s).tensor(primal_ty(t)),
        source::Ty::Own(never) => match *never {},
    }
}

/// `D←(t)_1` at a term for `x`; `Λ(t)_1 = \y. <t_1[<x, y>], \_v. snd t_2[<x, y>; v]>`.
pub fn primal(t: &Comb, x: &Term) -> Term {
    let argument = |t: &Comb, xy: &Term| lsnd(cotangent(t, xy, &v(cotangent_ty(t.to()))));
    primal::primal(t, x, &Mode { primal_ty, argument })
}

/// `D←(t)_2` at a term for `x1` and a linear term for `v`.
pub fn cotangent(t: &Comb, x: &Term, v: &Lin) -> Lin {
    let parameter = t.parameter();
    match t.kind() {
        CombKind::Op(o) => reverse_op(o, x, v),
        CombKind::Prim(p) => reverse_prim(*p, x, v),
        CombKind::Id => v.clone(),
        CombKind::Then(t, s) => cotangent(t, x, &cotangent(s, &primal(t, x), v)),
        CombKind::Unit => zero_lin(v.from().clone(), cotangent_ty(t.from())),
        CombKind::Pair(t, s) => {
            plus(cotangent(t, x, &lfst(v.clone())), cotangent(s, x, &lsnd(v.clone())))
        }
        CombKind::Fst => {
            lpair(v.clone(), zero_lin(v.from().clone(), cotangent_ty(t.from()).components().1))
        }
        CombKind::Snd => {
            lpair(zero_lin(v.from().clone(), cotangent_ty(t.from()).components().0), v.clone())
        }
        CombKind::Ev => let_lin("y", snd(x.clone()), |y| {
            let argument = linapp(snd(app(fst(x.clone()), y.clone())), v.clone());
            lpair(tensor(y, v.clone()), argument)
        }),
        CombKind::Curry(t) => {
            let y = Var::fresh(parameter, argument(t));
            let w = crate::linear::v(cotangent_ty(t.to()));
            let body = lfst(cotangent(t, &pair(x.clone(), var(&y)), &w));
            case(v.clone(), y, body)
        }
    }
}

/// For `t : T * S -> R`: `D←(S)_1`.
fn argument(t: &Comb) -> Ty {
    primal_ty(t.from()).components().1
}
