//! D→: `Γ ⊢ t : T` becomes `D→(Γ)_1 ⊢ D[t] : D→(T)_1 * LFun(D→(Γ)_2, D→(T)_2)`, where `D→(Γ)_2` is
//! a product that nests to the left.
//!
//! Read beside `reverse`. Here a call runs nothing twice, since the argument's tangent and the
//! context's go in at different places.

use super::{Context, Lets, product};
use crate::applied::*;
use crate::pairs::AppliedForward;
use crate::source::{self, Kind as Source};
use crate::var::Name;

/// `x : T ⊢ t : S` as `x : D→(T)_1 ⊢ D[t] : D→(S)_1 * LFun(D→(T)_2, D→(S)_2)`.
pub fn forward(x: &source::Var, t: &source::Term, lets: Lets) -> (Var, Term) {
    let y = Var::fresh(&x.hint, AppliedForward::primal_ty(&x.ty));
    let context = Context { vars: vec![(x.clone(), var(&y))], lets };
    let t = context.push(t);
    (y, t)
}

impl Context {
    /// `D→(Γ)_2`
    fn tangent_ty(&self) -> Ty {
        product(&self.vars, AppliedForward::second_ty)
    }

    pub(super) fn push(&self, t: &source::Term) -> Term {
        match t.kind() {
            Source::Var(x) => pair(self.primal(x), projection(&self.vars, x)),
            Source::Op(o, t) => let_("a", self.push(t), |a| {
                let pushforward = lthen(snd(a.clone()), forward_op(o, &fst(a.clone())));
                pair(op(o.clone(), fst(a)), pushforward)
            }),
            Source::Prim(p, t) => let_("a", self.push(t), |a| {
                let_("x", fst(a.clone()), |x| {
                    let_("r", primal_prim(*p, &x), |r| {
                        pair(r.clone(), lthen(snd(a), forward_prim_from(*p, &x, &r)))
                    })
                })
            }),
            Source::Unit => pair(unit(), zero(self.tangent_ty().lfun(Ty::Unit))),
            Source::Pair(t, s) => let_("a", self.push(t), |a| {
                let_("b", self.push(s), |b| {
                    pair(pair(fst(a.clone()), fst(b.clone())), lpair(snd(a), snd(b)))
                })
            }),
            Source::Fst(t) => let_("a", self.push(t), |a| {
                let (b, c) = AppliedForward::second_ty(t.ty()).components();
                pair(fst(fst(a.clone())), lthen(snd(a), lfst(b, c)))
            }),
            Source::Snd(t) => let_("a", self.push(t), |a| {
                let (b, c) = AppliedForward::second_ty(t.ty()).components();
                pair(snd(fst(a.clone())), lthen(snd(a), lsnd(b, c)))
            }),
            Source::Lam(x, t) => self.push_lambda(x, t),
            Source::App(f, s) => {
                if let (Source::Lam(x, t), Lets::Primitive) = (f.kind(), self.lets) {
                    self.push_let(x, s, t)
                } else {
                    self.push_call(f, s)
                }
            }
            Source::Own(never) => match *never {},
        }
    }

    /// `let f = \y. D[t] in
    /// <\y. let r = f y in <fst r, lpair(0, lid);;snd r>, lswap (\y. lpair(lid, 0);;snd (f y))>`
    fn push_lambda(&self, x: &source::Var, t: &source::Term) -> Term {
        let y = Var::fresh(&x.hint, AppliedForward::primal_ty(&x.ty));
        let body = self.with(x, var(&y)).push(t);
        let (context, argument) = (self.tangent_ty(), AppliedForward::second_ty(&x.ty));
        let_("f", abs(y.clone(), body), |f| {
            let first = lam(&x.hint, y.ty.clone(), |y| {
                let only =
                    lpair(zero(argument.clone().lfun(context.clone())), lid(argument.clone()));
                let_("r", app(f.clone(), y), |r| pair(fst(r.clone()), lthen(only, snd(r))))
            });
            let second = lam(&x.hint, y.ty.clone(), |y| {
                let only =
                    lpair(lid(context.clone()), zero(context.clone().lfun(argument.clone())));
                lthen(only, snd(app(f.clone(), y)))
            });
            pair(first, lswap(second))
        })
    }

    /// `let a = D[s] in let r = D[t] in <fst r, lpair(lid, snd a);;snd r>`
    fn push_let(&self, x: &source::Var, s: &source::Term, t: &source::Term) -> Term {
        let_("a", self.push(s), |a| {
            let_(&x.hint, fst(a.clone()).called(&Name::new(&x.hint)), |y| {
                let_("r", self.with(x, y).push(t), |r| {
                    pair(fst(r.clone()), lthen(lpair(lid(self.tangent_ty()), snd(a)), snd(r)))
                })
            })
        })
    }

    /// `let f = D[t] in let a = D[s] in let r = fst f (fst a) in
    /// <fst r, snd f;;leval_(fst a) + snd a;;snd r>`
    fn push_call(&self, t: &source::Term, s: &source::Term) -> Term {
        let_("f", self.push(t), |f| {
            let_("a", self.push(s), |a| {
                let_("r", app(fst(f.clone()), fst(a.clone())), |r| {
                    let result = snd(r.clone()).ty().ends().1;
                    let changed = lthen(snd(f), leval(fst(a.clone()), result));
                    pair(fst(r.clone()), plus(changed, lthen(snd(a), snd(r))))
                })
            })
        })
    }
}

/// The component of the context's tangent that belongs to `x`.
fn projection(vars: &[(source::Var, Term)], x: &source::Var) -> Term {
    let Some(((last, _), outer)) = vars.split_last() else { panic!("{} is not in scope", x.hint) };
    let both = || (product(outer, AppliedForward::second_ty), AppliedForward::second_ty(&last.ty));
    match (outer.is_empty(), last == x) {
        (true, _) => lid(AppliedForward::second_ty(&last.ty)),
        (false, true) => lsnd(both().0, both().1),
        (false, false) => lthen(lfst(both().0, both().1), projection(outer, x)),
    }
}
