//! Appendix F: the derivatives of the primitives, as terms, forward and reverse side by side. Their
//! second components are transposes of each other: `plus` becomes a pair, `lmap` becomes `lzip`,
//! `lscan` becomes `lunscan`, and `lzipWith` itself, at the transposed functions.

use super::{Lin, Term, lfst, linapp, linlam, lpair, lprim, lsnd, pair, plus, snd, v};
use crate::lambda::{component, points, primal_prim};
use crate::primitives::{LPrim, Primitive};

/// `x : D→(Dom)_1; v : D→(Dom)_2 ⊢ D→(prim)_2 : D→(Cod)_2`, at a term for `x` and one for
/// `v = <g, w>`.
pub fn forward_prim(p: Primitive, x: &Term, v: &Lin) -> Lin {
    let (at, (g, w)) = (points(p, x, &primal_prim(p, x)), (lfst(v.clone()), lsnd(v.clone())));
    let linear = pair(component(x, snd), at.clone());
    match p {
        // P-1: `lmap g v + lzipWith (f;snd) v w`. Each component is `ev` at `<f, v_i>`: both the
        // function and its argument have tangents.
        Primitive::Map { arity, n } => plus(
            lprim(LPrim::Map { arity, n }, at, g),
            lprim(LPrim::ZipWith { arity, from: arity, to: 1, n }, linear, w),
        ),
        // P-3: the same n times, at `<f, <s_i, v_i>>`, where the tangent of s_i is the result of
        // the call before.
        Primitive::Scan { n } => {
            lprim(LPrim::Scan { n }, linear, lpair(w, lprim(LPrim::Map { arity: 2, n }, at, g)))
        }
    }
}

/// `x : D←(Dom)_1; v : D←(Cod)_2 ⊢ D←(prim)_2 : D←(Dom)_2`, at a term for `x` and one for `v`.
pub fn reverse_prim(p: Primitive, x: &Term, w: &Lin) -> Lin {
    let at = points(p, x, &primal_prim(p, x));
    let linear = pair(component(x, snd), at.clone());
    match p {
        // P-1: `<zip v w, zipWith (f;snd) v w>`; erratum E18: printed with `D→` in the paper. Each
        // component of `v` has been an argument once, where `ev` gives the function the entry
        // `!v_i (x) w_i`, and the argument the call's pullback of `w_i`; the sum over i is `zip`.
        Primitive::Map { arity, n } => lpair(
            lprim(LPrim::Zip { arity, n }, at, w.clone()),
            lprim(LPrim::ZipWith { arity, from: 1, to: arity, n }, linear, w.clone()),
        ),
        // P-3: the same, from the last call to the first: `<w', u>` are the cotangents of the
        // arguments, and of the results of the calls.
        Primitive::Scan { n } => {
            let both = v(LPrim::Unscan { n }.cod());
            let entries = lprim(LPrim::Zip { arity: 2, n }, at, lsnd(both.clone()));
            linapp(
                linlam(lpair(entries, lfst(both))),
                lprim(LPrim::Unscan { n }, linear, w.clone()),
            )
        }
    }
}
