//! Pairs of terms: over the syntactic model, the functors are the macros of Appendix A.

use super::{Model, Ob};
use crate::linear::{self, LTy, Lin, Term, Ty, Var};
use crate::op::Op;
use crate::primitives::Primitive;

/// The syntactic model: terms in one Cartesian variable.
pub struct Syntax;

/// `x ⊢ t`, or `x; v ⊢ l`.
#[derive(Clone, Debug)]
pub struct Open<T>(pub Var, pub T);

/// Brings the second term to the variable of the first.
fn aligned(f: &Open<Lin>, g: &Open<Lin>) -> Lin {
    g.1.subst(&g.0, &linear::var(&f.0))
}

fn aligned_term(x: &Var, g: &Open<Term>) -> Term {
    g.1.subst(&g.0, &linear::var(x))
}

/// `x : A`, and `<x, y>` for a term in `A * B`.
fn extended(hint: &str, a: &Ty, b: &Ty) -> (Var, Var, Term) {
    let (x, y) = (Var::fresh("x", a.clone()), Var::fresh(hint, b.clone()));
    let both = linear::pair(linear::var(&x), linear::var(&y));
    (x, y, both)
}

fn open(a: &Ty, l: Lin) -> Open<Lin> {
    Open(Var::fresh("x", a.clone()), l)
}

impl Model for Syntax {
    type Hom = Open<Term>;
    type LHom = Open<Lin>;

    fn id(a: &Ty) -> Open<Term> {
        let x = Var::fresh("x", a.clone());
        Open(x.clone(), linear::var(&x))
    }
    fn then(f: &Open<Term>, g: &Open<Term>) -> Open<Term> {
        Open(f.0.clone(), g.1.subst(&g.0, &f.1))
    }
    fn bang(a: &Ty) -> Open<Term> {
        Open(Var::fresh("x", a.clone()), linear::unit())
    }
    fn pair(f: &Open<Term>, g: &Open<Term>) -> Open<Term> {
        Open(f.0.clone(), linear::pair(f.1.clone(), aligned_term(&f.0, g)))
    }
    fn fst(f: &Open<Term>) -> Open<Term> {
        Open(f.0.clone(), linear::fst(f.1.clone()))
    }
    fn snd(f: &Open<Term>) -> Open<Term> {
        Open(f.0.clone(), linear::snd(f.1.clone()))
    }
    fn apply(f: &Open<Term>, x: &Open<Term>) -> Open<Term> {
        Open(f.0.clone(), linear::app(f.1.clone(), aligned_term(&f.0, x)))
    }
    fn curry(hint: &str, a: &Ty, b: &Ty, f: &Open<Term>) -> Open<Term> {
        let (x, y, both) = extended(hint, a, b);
        Open(x, linear::abs(y, f.1.subst(&f.0, &both)))
    }
    fn op(op: &Op, f: &Open<Term>) -> Open<Term> {
        Open(f.0.clone(), linear::op(op.clone(), f.1.clone()))
    }
    fn lid(a: &Ty, s: &LTy) -> Open<Lin> {
        open(a, linear::v(s.clone()))
    }
    fn lthen(f: &Open<Lin>, g: &Open<Lin>) -> Open<Lin> {
        Open(f.0.clone(), aligned(f, g).after(&f.1))
    }
    fn reindex(f: &Open<Term>, g: &Open<Lin>) -> Open<Lin> {
        Open(f.0.clone(), g.1.subst(&g.0, &f.1))
    }
    fn lzero(a: &Ty, s: &LTy, t: &LTy) -> Open<Lin> {
        open(a, linear::zero_lin(s.clone(), t.clone()))
    }
    fn lplus(f: &Open<Lin>, g: &Open<Lin>) -> Open<Lin> {
        Open(f.0.clone(), linear::plus(f.1.clone(), aligned(f, g)))
    }
    fn lpair(f: &Open<Lin>, g: &Open<Lin>) -> Open<Lin> {
        Open(f.0.clone(), linear::lpair(f.1.clone(), aligned(f, g)))
    }
    fn lfst(f: &Open<Lin>) -> Open<Lin> {
        Open(f.0.clone(), linear::lfst(f.1.clone()))
    }
    fn lsnd(f: &Open<Lin>) -> Open<Lin> {
        Open(f.0.clone(), linear::lsnd(f.1.clone()))
    }
    fn lapply(f: &Open<Lin>, x: &Open<Term>) -> Open<Lin> {
        Open(f.0.clone(), linear::lapp(f.1.clone(), aligned_term(&f.0, x)))
    }
    fn lcurry(hint: &str, a: &Ty, b: &Ty, f: &Open<Lin>) -> Open<Lin> {
        let (x, y, both) = extended(hint, a, b);
        Open(x, linear::labs(y, f.1.subst(&f.0, &both)))
    }
    fn tensor(x: &Open<Term>, f: &Open<Lin>) -> Open<Lin> {
        Open(f.0.clone(), linear::tensor(aligned_term(&f.0, x), f.1.clone()))
    }
    fn lcur_inv(hint: &str, [a, b]: [&Ty; 2], [s, _]: [&LTy; 2], f: &Open<Lin>) -> Open<Lin> {
        let (x, y, both) = extended(hint, a, b);
        let v = linear::v(s.clone().tensor(b.clone()));
        Open(x, linear::case(v, y, f.1.subst(&f.0, &both)))
    }
    fn name(f: &Open<Lin>) -> Open<Term> {
        Open(f.0.clone(), linear::linlam(f.1.clone()))
    }
    fn unname(s: &LTy, f: &Open<Term>) -> Open<Lin> {
        Open(f.0.clone(), linear::linapp(f.1.clone(), linear::v(s.clone())))
    }
    fn forward_op(op: &Op) -> Open<Lin> {
        let x = Var::fresh("x", Ty::dom(&op.dom()));
        let l = linear::forward_op(op, &linear::var(&x), &linear::v(LTy::dom(&op.dom())));
        Open(x, l)
    }
    fn reverse_op(op: &Op) -> Open<Lin> {
        let x = Var::fresh("x", Ty::dom(&op.dom()));
        let l = linear::reverse_op(op, &linear::var(&x), &linear::v(LTy::Real(op.cod())));
        Open(x, l)
    }
    fn primal_prim(p: Primitive, from: &Ob) -> Open<Term> {
        let x = Var::fresh("x", from.0.clone());
        Open(x.clone(), linear::primal_prim(p, &linear::var(&x)))
    }
    fn forward_prim(p: Primitive, from: &Ob) -> Open<Lin> {
        let x = Var::fresh("x", from.0.clone());
        Open(x.clone(), linear::forward_prim(p, &linear::var(&x), &linear::v(from.1.clone())))
    }
    fn reverse_prim(p: Primitive, from: &Ob) -> Open<Lin> {
        let x = Var::fresh("x", from.0.clone());
        Open(
            x.clone(),
            linear::reverse_prim(p, &linear::var(&x), &linear::v(LTy::dom(&p.results()))),
        )
    }
}
