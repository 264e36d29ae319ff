//! T-12: transposition, a syntactic involution on the linear target language. The paper calls
//! reverse mode the mirror image of forward mode; this is the mirror: on every program,
//! `D←(t)_1 = (D→(t)_1)°` and `D←(t)_2 = (D→(t)_2)°`, up to βη+.
//!
//! °: `Γ; v : σ ⊢ l : τ` becomes `Γ°; v : τ° ⊢ l° : σ°`, and `Γ ⊢ t : T` becomes `Γ° ⊢ t° : T°`.
//!
//! Products are their own mirror images, since they are biproducts: a pair is mirrored by a sum,
//! and a projection by a pair with zero. The other two constructs of linear types are mirrored by
//! each other: `(T -> τ)° = !T° (x) τ°`, so that a λ is mirrored by a `case` and an application by
//! `!t (x) v`. Cartesian terms stay unchanged but for the inside of `\_v. l`.
//!
//! ```text
//!   v°        = v                            (!t (x) l)°                = l°[v t°]
//!   <>°       = 0                            (case l of !y (x) v -> k)° = l°[\y. k°]
//!   <l, k>°   = l°[fst v] + k°[snd v]        (\y. l)°                   = case v of !y (x) v -> l°
//!   (fst l)°  = l°[<v, 0>]                   (l t)°                     = l°[!t° (x) v]
//!   (snd l)°  = l°[<0, v>]                   (t{l})°                    = l°[t°{v}]
//!   0°        = 0                            (\_v. l)°                  = \_v. l°
//!   (l + k)°  = l° + k°                      lop(t; l)°                 = l°[lop^t(t°; v)]
//! ```

use super::*;
use crate::lambda::Translation;
use crate::op::LOp;
use crate::var::Env;

/// Transposition of Cartesian types and terms.
const MIRROR: Translation<Linear, Linear> = Translation {
    ty: transposed_ty,
    own: |LinLam(l), terms| linlam(through(l, terms, &v(transposed_linear_ty(l.to())))),
};

/// `T°`
pub fn transposed_ty(ty: &Ty) -> Ty {
    ty.translate(&|Lolli(a, b)| transposed_linear_ty(b).lolli(transposed_linear_ty(a)))
}

/// `τ°`
pub fn transposed_linear_ty(ty: &LTy) -> LTy {
    match ty {
        LTy::Real(n) => LTy::Real(*n),
        LTy::Unit => LTy::Unit,
        LTy::Prod(a, b) => transposed_linear_ty(a).times(transposed_linear_ty(b)),
        LTy::Fun(key, to) => transposed_linear_ty(to).tensor(transposed_ty(key)),
        LTy::Tensor(key, to) => transposed_linear_ty(to).under(transposed_ty(key)),
    }
}

/// `x° : T°` for `x : T`: the same variable at another type.
pub fn transposed_var(x: &Var) -> Var {
    MIRROR.var(x)
}

/// `t°`. Its free variables are the mirror images of those of `t`.
pub fn transpose(t: &Term) -> Term {
    MIRROR.term(t, &Env::default())
}

/// `l°`. Its free variables are the mirror images of those of `l`.
pub fn transpose_linear(l: &Lin) -> Lin {
    through(l, &Env::default(), &v(transposed_linear_ty(l.to())))
}

/// `l°[k/v]`, for `k` of the type τ° that the mirror image of `l : τ` starts at. The type that `k`
/// starts at is arbitrary.
fn through(l: &Lin, names: &Env<Term>, k: &Lin) -> Lin {
    let mirrored = |t: &Term| MIRROR.term(t, names);
    let zero = |ty: &LTy| zero_lin(k.from().clone(), transposed_linear_ty(ty));
    let via = |l: &Lin, k: Lin| through(l, names, &k);
    match l.kind() {
        LinKind::Var => k.clone(),
        LinKind::LOp(o, t, l) => via(l, lop_transposed(*o, mirrored(t), k)),
        LinKind::LPrim(p, t, l) => via(l, lprim(p.transposed(), mirrored(t), k.clone())),
        LinKind::Unit | LinKind::Zero => zero(l.from()),
        LinKind::Pair(a, b) => plus(via(a, lfst(k.clone())), via(b, lsnd(k.clone()))),
        LinKind::Fst(l) => via(l, lpair(k.clone(), zero(&l.to().components().1))),
        LinKind::Snd(l) => via(l, lpair(zero(&l.to().components().0), k.clone())),
        LinKind::Lam(y, l) => {
            let (y, inside) = MIRROR.below(y, names);
            case(k.clone(), y, through(l, &inside, &v(transposed_linear_ty(l.to()))))
        }
        LinKind::App(l, t) => via(l, tensor(mirrored(t), k.clone())),
        LinKind::Tensor(t, l) => via(l, lapp(k.clone(), mirrored(t))),
        LinKind::Case(l, y, body) => {
            let (y, inside) = MIRROR.below(y, names);
            via(l, labs(y, through(body, &inside, k)))
        }
        LinKind::LinApp(t, l) => via(l, linapp(mirrored(t), k.clone())),
        LinKind::Plus(a, b) => plus(via(a, k.clone()), via(b, k.clone())),
    }
}

/// `lop^t(t; k)`. Every linear operation has one linear argument, so the transposed one does.
fn lop_transposed(o: LOp, t: Term, k: &Lin) -> Lin {
    lop(o.transposed(), t, k.clone())
}
