//! Appendix A, `D(t)_1`: the clauses of both modes, which differ in the linear function that `Λ(t)`
//! adds.

use crate::combinators::{Comb, CombKind};
use crate::linear::*;
use crate::source;

/// The differences between the modes.
pub(crate) struct Mode {
    /// `D(T)_1`
    pub primal_ty: fn(&source::Ty) -> Ty,
    /// For `t : T * S -> R`, at a term for `x : D(T * S)_1`: `D(t)_2` of the argument alone.
    pub argument: fn(&Comb, &Term) -> Lin,
}

/// `D(t)_1` at a term for `x`.
pub(crate) fn primal(t: &Comb, x: &Term, mode: &Mode) -> Term {
    let first = match t.kind() {
        CombKind::Op(o) => op(o.clone(), x.clone()),
        CombKind::Prim(p) => primal_prim(*p, x),
        CombKind::Id => x.clone(),
        CombKind::Then(t, s) => primal(s, &primal(t, x, mode), mode),
        CombKind::Unit => unit(),
        CombKind::Pair(t, s) => pair(primal(t, x, mode), primal(s, x, mode)),
        CombKind::Fst => fst(x.clone()),
        CombKind::Snd => snd(x.clone()),
        CombKind::Ev => fst(app(fst(x.clone()), snd(x.clone()))),
        // E15: `x : D(T)_1`; the paper forgets the subscript.
        CombKind::Curry(body) => {
            let argument = (mode.primal_ty)(body.from()).components().1;
            lam(t.parameter(), argument, |y| {
                let xy = pair(x.clone(), y);
                pair(primal(body, &xy, mode), linlam((mode.argument)(body, &xy)))
            })
        }
    };
    first.called(t.name())
}
