//! Pairs of terms of the linear language: over this model, the functors are the macros of Appendix
//! A.
//!
//! `forward` and `reverse` are the same macros, written out as the paper prints them. They are not
//! defined by this model: a proposition of §6 says that both agree, which a test checks by the
//! normalizer, and a definition could not be compared with itself.

use super::{Model, Ob, Open, after, map, open, under, zip};
use crate::linear::{self, LTy, Lin, Term, Ty, abs, labs};
use crate::op::Op;
use crate::primitives::Primitive;

/// The syntactic model: `x ⊢ t`, and `x; v ⊢ l`.
pub struct Syntax;

type Hom = Open<Term, Term>;
type LHom = Open<Term, Lin>;

impl Model for Syntax {
    type Hom = Hom;
    type LHom = LHom;

    fn id(_: &Ty) -> Hom {
        open(Term::clone)
    }
    fn then(f: &Hom, g: &Hom) -> Hom {
        after(f, g)
    }
    fn bang(_: &Ty) -> Hom {
        open(|_| linear::unit())
    }
    fn pair(f: &Hom, g: &Hom) -> Hom {
        zip(f, g, linear::pair)
    }
    fn fst(f: &Hom) -> Hom {
        map(f, linear::fst)
    }
    fn snd(f: &Hom) -> Hom {
        map(f, linear::snd)
    }
    fn apply(f: &Hom, x: &Hom) -> Hom {
        zip(f, x, linear::app)
    }
    fn curry(hint: &str, _: &Ty, b: &Ty, f: &Hom) -> Hom {
        under(hint, b, f, abs)
    }
    fn op(op: &Op, f: &Hom) -> Hom {
        let op = op.clone();
        map(f, move |t| linear::op(op.clone(), t))
    }
    fn lid(_: &Ty, s: &LTy) -> LHom {
        let s = s.clone();
        open(move |_| linear::v(s.clone()))
    }
    fn lthen(f: &LHom, g: &LHom) -> LHom {
        zip(f, g, |f, g| g.after(&f))
    }
    fn reindex(f: &Hom, g: &LHom) -> LHom {
        after(f, g)
    }
    fn lzero(_: &Ty, s: &LTy, t: &LTy) -> LHom {
        let (s, t) = (s.clone(), t.clone());
        open(move |_| linear::zero_lin(s.clone(), t.clone()))
    }
    fn lplus(f: &LHom, g: &LHom) -> LHom {
        zip(f, g, linear::plus)
    }
    fn lpair(f: &LHom, g: &LHom) -> LHom {
        zip(f, g, linear::lpair)
    }
    fn lfst(f: &LHom) -> LHom {
        map(f, linear::lfst)
    }
    fn lsnd(f: &LHom) -> LHom {
        map(f, linear::lsnd)
    }
    fn lapply(f: &LHom, x: &Hom) -> LHom {
        zip(f, x, linear::lapp)
    }
    fn lcurry(hint: &str, _: &Ty, b: &Ty, f: &LHom) -> LHom {
        under(hint, b, f, labs)
    }
    fn tensor(x: &Hom, f: &LHom) -> LHom {
        zip(x, f, linear::tensor)
    }
    fn lcur_inv(hint: &str, [_, b]: [&Ty; 2], [s, _]: [&LTy; 2], f: &LHom) -> LHom {
        let v = linear::v(s.clone().tensor(b.clone()));
        under(hint, b, f, move |y, l| linear::case(v.clone(), y, l))
    }
    fn name(f: &LHom) -> Hom {
        map(f, linear::linlam)
    }
    fn unname(s: &LTy, f: &Hom) -> LHom {
        let s = s.clone();
        map(f, move |f| linear::linapp(f, linear::v(s.clone())))
    }
    fn forward_op(op: &Op) -> LHom {
        let op = op.clone();
        open(move |x| linear::forward_op(&op, x, &linear::v(LTy::dom(&op.dom()))))
    }
    fn reverse_op(op: &Op) -> LHom {
        let op = op.clone();
        open(move |x| linear::reverse_op(&op, x, &linear::v(LTy::Real(op.cod()))))
    }
    fn primal_prim(p: Primitive, _: &Ob) -> Hom {
        open(move |x| linear::primal_prim(p, x))
    }
    fn forward_prim(p: Primitive, Ob(_, v): &Ob) -> LHom {
        let v = v.clone();
        open(move |x| linear::forward_prim(p, x, &linear::v(v.clone())))
    }
    fn reverse_prim(p: Primitive, _: &Ob) -> LHom {
        open(move |x| linear::reverse_prim(p, x, &linear::v(LTy::dom(&p.results()))))
    }
}
