//! D←: `Γ ⊢ t : T` becomes `D←(Γ)_1 ⊢ D[t] : D←(T)_1 * LFun(D←(T)_2, D←(Γ)_2)`, where `D←(Γ)_2` is
//! a product that nests to the left.

use super::{Context, Lets, product};
use crate::applied::*;
use crate::pairs::AppliedReverse;
use crate::source::{self, Kind as Source};
use crate::var::Name;

/// `x : T ⊢ t : S` as `x : D←(T)_1 ⊢ D[t] : D←(S)_1 * LFun(D←(S)_2, D←(T)_2)`.
pub fn reverse(x: &source::Var, t: &source::Term, lets: Lets) -> (Var, Term) {
    let y = Var::fresh(&x.hint, AppliedReverse::primal_ty(&x.ty));
    let context = Context { vars: vec![(x.clone(), var(&y))], lets };
    let t = context.pull(t);
    (y, t)
}

impl Context {
    /// `D←(Γ)_2`
    fn cotangent_ty(&self) -> Ty {
        product(&self.vars, AppliedReverse::second_ty)
    }

    pub(super) fn pull(&self, t: &source::Term) -> Term {
        match t.kind() {
            Source::Var(x) => pair(self.primal(x), one_hot(&self.vars, x)),
            Source::Op(o, t) => let_("a", self.pull(t), |a| {
                let pullback = lthen(reverse_op(o, &fst(a.clone())), snd(a.clone()));
                pair(op(o.clone(), fst(a)), pullback)
            }),
            Source::Prim(p, t) => let_("a", self.pull(t), |a| {
                let_("x", fst(a.clone()), |x| {
                    let_("r", primal_prim(*p, &x), |r| {
                        pair(r.clone(), lthen(reverse_prim_from(*p, &x, &r), snd(a)))
                    })
                })
            }),
            Source::Unit => pair(unit(), zero(Ty::Unit.lfun(self.cotangent_ty()))),
            Source::Pair(t, s) => let_("a", self.pull(t), |a| {
                let_("b", self.pull(s), |b| {
                    let (ta, tb) =
                        (AppliedReverse::second_ty(t.ty()), AppliedReverse::second_ty(s.ty()));
                    let left = lthen(lfst(ta.clone(), tb.clone()), snd(a.clone()));
                    let right = lthen(lsnd(ta, tb), snd(b.clone()));
                    pair(pair(fst(a), fst(b)), plus(left, right))
                })
            }),
            Source::Fst(t) => let_("a", self.pull(t), |a| {
                let (b, c) = parts(t.ty());
                pair(fst(fst(a.clone())), lthen(lpair(lid(b.clone()), zero(b.lfun(c))), snd(a)))
            }),
            Source::Snd(t) => let_("a", self.pull(t), |a| {
                let (b, c) = parts(t.ty());
                pair(snd(fst(a.clone())), lthen(lpair(zero(c.clone().lfun(b)), lid(c)), snd(a)))
            }),
            Source::Lam(x, t) => self.pull_lambda(x, t),
            Source::App(f, s) => {
                if let (Source::Lam(x, t), Lets::Primitive) = (f.kind(), self.lets) {
                    self.pull_let(x, s, t)
                } else {
                    self.pull_call(f, s)
                }
            }
            Source::Own(never) => match *never {},
        }
    }

    /// `let f = \y. D[t] in
    /// <\y. let r = f y in <fst r, snd r;;lsnd>, lcur^-1 (\y. snd (f y);;lfst)>`
    fn pull_lambda(&self, x: &source::Var, t: &source::Term) -> Term {
        let y = Var::fresh(&x.hint, AppliedReverse::primal_ty(&x.ty));
        let body = self.with(x, var(&y)).pull(t);
        let (context, argument) = (self.cotangent_ty(), AppliedReverse::second_ty(&x.ty));
        let_("f", abs(y.clone(), body), |f| {
            let first = lam(&x.hint, y.ty.clone(), |y| {
                let_("r", app(f.clone(), y), |r| {
                    pair(fst(r.clone()), lthen(snd(r), lsnd(context.clone(), argument.clone())))
                })
            });
            let second = lam(&x.hint, y.ty.clone(), |y| {
                lthen(snd(app(f.clone(), y)), lfst(context.clone(), argument.clone()))
            });
            pair(first, lcur_inv(second))
        })
    }

    /// `let a = D[s] in let r = D[t] in <fst r, snd r;;(lfst + lsnd;;snd a)>`
    fn pull_let(&self, x: &source::Var, s: &source::Term, t: &source::Term) -> Term {
        let_("a", self.pull(s), |a| {
            let_(&x.hint, fst(a.clone()).called(&Name::new(&x.hint)), |y| {
                let_("r", self.with(x, y).pull(t), |r| {
                    let (context, argument) =
                        (self.cotangent_ty(), AppliedReverse::second_ty(&x.ty));
                    let rest = plus(
                        lfst(context.clone(), argument.clone()),
                        lthen(lsnd(context, argument), snd(a)),
                    );
                    pair(fst(r.clone()), lthen(snd(r), rest))
                })
            })
        })
    }

    /// `let f = D[t] in let a = D[s] in let r = fst f (fst a) in
    /// <fst r, snd r;;snd a + {(fst a,-)};;snd f>`
    fn pull_call(&self, t: &source::Term, s: &source::Term) -> Term {
        let_("f", self.pull(t), |f| {
            let_("a", self.pull(s), |a| {
                let_("r", app(fst(f.clone()), fst(a.clone())), |r| {
                    let result = snd(r.clone()).ty().ends().0;
                    let captured = lthen(singleton(fst(a.clone()), result), snd(f));
                    pair(fst(r.clone()), plus(lthen(snd(r), snd(a)), captured))
                })
            })
        })
    }
}

fn parts(ty: &source::Ty) -> (Ty, Ty) {
    AppliedReverse::second_ty(ty).components()
}

/// `\w. <0, .., w, .., 0>`, with `w` in the place of `x`.
fn one_hot(vars: &[(source::Var, Term)], x: &source::Var) -> Term {
    let w = AppliedReverse::second_ty(&x.ty);
    let Some(((last, _), outer)) = vars.split_last() else { panic!("{} is not in scope", x.hint) };
    match (outer.is_empty(), last == x) {
        (true, _) => lid(w),
        (false, true) => {
            lpair(zero(w.clone().lfun(product(outer, AppliedReverse::second_ty))), lid(w))
        }
        (false, false) => {
            lpair(one_hot(outer, x), zero(w.lfun(AppliedReverse::second_ty(&last.ty))))
        }
    }
}
