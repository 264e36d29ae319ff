//! §6: the pair categories `Σ_C L` and `Σ_C L^op`, as one construction over any model of the linear
//! target language.
//!
//! An object is a pair of a Cartesian and a linear type. A morphism is a pair of `f1 ∈ C(A1, B1)`
//! and, in `L(A1)`, `f2 : A2 -> B2` forward, or `f2 : B2 -> A2` in reverse. Both categories are
//! Cartesian closed (the propositions of §6.2), and the macros are the only functors that preserve
//! that and are right on operations. Here they come out of [`interpret`]: over the applied language
//! they are Appendix C. Over the linear one they are Appendix A, which `forward` and `reverse`
//! write out.

mod point_free;
mod semantics;
mod syntax;

use std::marker::PhantomData;
use std::rc::Rc;

use crate::combinators::{Comb, CombKind};
use crate::lambda::{self, Language, Term, Var};
use crate::linear::{LTy, Ty};
use crate::op::Op;
use crate::primitives::Primitive;
use crate::source;
use crate::var::Name;

pub use point_free::{AppendixC, AppliedForward, AppliedReverse, PointFree};
pub use semantics::{LinearMap, Map, Semantics};
pub use syntax::Syntax;

/// A model of the linear target language (§5): a category C and, over each object A, a category
/// `L(A)` with biproducts and the types `=>`, `!(-) (x) (-)` and `-o`. The objects are the types
/// themselves.
pub trait Model {
    /// `C(A, B)`
    type Hom: Clone + 'static;
    /// `L(A)(σ, τ)`
    type LHom: Clone + 'static;

    /// `id : A -> A`
    fn id(a: &Ty) -> Self::Hom;
    /// `f; g`
    fn then(f: &Self::Hom, g: &Self::Hom) -> Self::Hom;
    /// `A -> 1`
    fn bang(a: &Ty) -> Self::Hom;
    /// `<f, g>`
    fn pair(f: &Self::Hom, g: &Self::Hom) -> Self::Hom;
    /// `f; fst`, for f into a product
    fn fst(f: &Self::Hom) -> Self::Hom;
    /// `f; snd`
    fn snd(f: &Self::Hom) -> Self::Hom;
    /// `<f, x>; ev`
    fn apply(f: &Self::Hom, x: &Self::Hom) -> Self::Hom;
    /// `Λ(f) : A -> (B => C)` for `f : A * B -> C`; `hint` is the program's name for the element of
    /// B
    fn curry(hint: &str, a: &Ty, b: &Ty, f: &Self::Hom) -> Self::Hom;
    /// `f; op`
    fn op(op: &Op, f: &Self::Hom) -> Self::Hom;
    /// `f`, where the program has a name for its value.
    fn called(f: &Self::Hom, _: &Name) -> Self::Hom {
        f.clone()
    }
    /// `let y = f in ..`, where y is a morphism out of A as f is.
    fn share(f: &Self::Hom, body: impl Fn(&Self::Hom) -> Self::LHom + 'static) -> Self::LHom {
        body(f)
    }

    /// `id` in `L(A)`
    fn lid(a: &Ty, s: &LTy) -> Self::LHom;
    /// `f; g` in `L(A)`
    fn lthen(f: &Self::LHom, g: &Self::LHom) -> Self::LHom;
    /// `L(f) : L(B) -> L(A)` for `f : A -> B`
    fn reindex(f: &Self::Hom, g: &Self::LHom) -> Self::LHom;
    /// `0 : s -> t`
    fn lzero(a: &Ty, s: &LTy, t: &LTy) -> Self::LHom;
    /// `f + g`
    fn lplus(f: &Self::LHom, g: &Self::LHom) -> Self::LHom;
    /// `<f, g>` into the biproduct
    fn lpair(f: &Self::LHom, g: &Self::LHom) -> Self::LHom;
    /// `f; fst`
    fn lfst(f: &Self::LHom) -> Self::LHom;
    /// `f; snd`
    fn lsnd(f: &Self::LHom) -> Self::LHom;
    /// `f` at `x`, for f into `B => t` and `x : A -> B`
    fn lapply(f: &Self::LHom, x: &Self::Hom) -> Self::LHom;
    /// `L(A * B)(s, t) -> L(A)(s, B => t)`
    fn lcurry(hint: &str, a: &Ty, b: &Ty, f: &Self::LHom) -> Self::LHom;
    /// `!x (x) f`, for `x : A -> B`
    fn tensor(x: &Self::Hom, f: &Self::LHom) -> Self::LHom;
    /// `L(A * B)(s, t) -> L(A)(!B (x) s, t)`
    fn lcur_inv(hint: &str, ab: [&Ty; 2], st: [&LTy; 2], f: &Self::LHom) -> Self::LHom;
    /// `L(A)(s, t) -> C(A, s -o t)`
    fn name(f: &Self::LHom) -> Self::Hom;
    /// `C(A, s -o t) -> L(A)(s, t)`
    fn unname(s: &LTy, f: &Self::Hom) -> Self::LHom;
    /// `D op` in `L(Dom(op))`
    fn forward_op(op: &Op) -> Self::LHom;
    /// `(D op)^t` in `L(Dom(op))`
    fn reverse_op(op: &Op) -> Self::LHom;
    /// `D(prim)_1`, out of the object that `Dom(prim)` is: it differs between the modes.
    fn primal_prim(p: Primitive, from: &Ob) -> Self::Hom;
    /// `D→(prim)_2` in `L(D→(Dom)_1)`
    fn forward_prim(p: Primitive, from: &Ob) -> Self::LHom;
    /// `D←(prim)_2` in `L(D←(Dom)_1)`
    fn reverse_prim(p: Primitive, from: &Ob) -> Self::LHom;
}

/// An object of a pair category.
#[derive(Clone, Debug, PartialEq)]
pub struct Ob(pub Ty, pub LTy);

/// A morphism of a pair category.
pub struct Mor<M: Model> {
    /// Where it starts.
    pub from: Ob,
    /// Where it ends.
    pub to: Ob,
    /// `f1`
    pub first: M::Hom,
    /// `f2`
    pub second: M::LHom,
}

impl<M: Model> Clone for Mor<M> {
    fn clone(&self) -> Mor<M> {
        Mor {
            from: self.from.clone(),
            to: self.to.clone(),
            first: self.first.clone(),
            second: self.second.clone(),
        }
    }
}

/// The difference between the two pair categories: the direction of second components. Everything
/// else is written once, in [`interpret`].
pub trait PairCategory<M: Model> {
    /// `(A1, A2) => (B1, B2)`
    fn exponential(a: &Ob, b: &Ob) -> Ob;
    /// Second components composed, both in `L(A1)`, the earlier first.
    fn compose(f: &M::LHom, g: &M::LHom) -> M::LHom;
    /// The second component of `A -> 1`.
    fn bang(a: &Ob) -> M::LHom;
    /// The second component of `<f, g>`.
    fn pair(f: &Mor<M>, g: &Mor<M>) -> M::LHom;
    /// The second component of `fst : A * B -> A`.
    fn fst(a: &Ob, b: &Ob) -> M::LHom;
    /// The second component of `snd : A * B -> B`.
    fn snd(a: &Ob, b: &Ob) -> M::LHom;
    /// The second component of `ev : (A => B) * A -> B`, from the projections to the function and
    /// to the argument.
    fn ev(a: &Ob, b: &Ob) -> M::LHom;
    /// `f2` restricted to the argument, in `L(A1 * B1)`: Λ(f) pairs it with `f1` under the λ.
    fn argument(f: &Mor<M>, a: &Ob, b: &Ob) -> M::LHom;
    /// The second component of Λ(f): `f2` restricted to the context.
    fn curry(hint: &str, f: &Mor<M>, a: &Ob, b: &Ob) -> M::LHom;
    /// The second component of an operation.
    fn op(op: &Op) -> M::LHom;
    /// The second component of a primitive.
    fn prim(p: Primitive, from: &Ob) -> M::LHom;
}

/// `Σ_C L`: forward mode.
pub struct Forward<M>(PhantomData<M>);

/// `Σ_C L^op`: reverse mode.
pub struct Reverse<M>(PhantomData<M>);

/// A morphism as a Rust function from the term for its variable, as in `forward` and `reverse`.
pub type Open<X, Y> = Rc<dyn Fn(&X) -> Y>;

fn open<X, Y>(f: impl Fn(&X) -> Y + 'static) -> Open<X, Y> {
    Rc::new(f)
}

/// `f`, and then a construct with one part.
fn map<X: 'static, Y: 'static, Z>(f: &Open<X, Y>, make: impl Fn(Y) -> Z + 'static) -> Open<X, Z> {
    let f = f.clone();
    open(move |x| make(f(x)))
}

/// `f` and `g`, and then a construct with two parts.
fn zip<X: 'static, A: 'static, B: 'static, Y>(
    f: &Open<X, A>,
    g: &Open<X, B>,
    make: impl Fn(A, B) -> Y + 'static,
) -> Open<X, Y> {
    let (f, g) = (f.clone(), g.clone());
    open(move |x| make(f(x), g(x)))
}

/// `g` after `f`
fn after<X: 'static, Y: 'static>(f: &Open<X, X>, g: &Open<X, Y>) -> Open<X, Y> {
    let g = g.clone();
    map(f, move |x| g(&x))
}

/// `f <x, y>` below a binder of `y`.
fn under<L: Language, Y: 'static, Z>(
    hint: &str,
    b: &lambda::Ty<L>,
    f: &Open<Term<L>, Y>,
    make: impl Fn(Var<L>, Y) -> Z + 'static,
) -> Open<Term<L>, Z> {
    let (hint, b, f) = (hint.to_string(), b.clone(), f.clone());
    open(move |x: &Term<L>| {
        let y = Var::<L>::fresh(&hint, b.clone());
        let body = f(&lambda::pair(x.clone(), lambda::var(&y)));
        make(y, body)
    })
}

fn times(a: &Ob, b: &Ob) -> Ob {
    Ob(a.0.clone().times(b.0.clone()), a.1.clone().times(b.1.clone()))
}

/// For a context `(A => B) * A`: applies `make` to the argument, and to the linear function that
/// the function gives there.
fn at_argument<M: Model>(
    context: &Ty,
    make: impl Fn(&M::Hom, &M::Hom) -> M::LHom + 'static,
) -> M::LHom {
    let x = M::id(context);
    let f = M::fst(&x);
    M::share(&M::snd(&x), move |y| make(y, &M::snd(&M::apply(&f, y))))
}

impl<M: Model> PairCategory<M> for Forward<M> {
    fn exponential(a: &Ob, b: &Ob) -> Ob {
        Ob(
            a.0.clone().to(b.0.clone().times(a.1.clone().lolli(b.1.clone()))),
            b.1.clone().under(a.0.clone()),
        )
    }

    fn compose(f: &M::LHom, g: &M::LHom) -> M::LHom {
        M::lthen(f, g)
    }

    fn bang(a: &Ob) -> M::LHom {
        M::lzero(&a.0, &a.1, &LTy::Unit)
    }

    fn pair(f: &Mor<M>, g: &Mor<M>) -> M::LHom {
        M::lpair(&f.second, &g.second)
    }

    fn fst(a: &Ob, b: &Ob) -> M::LHom {
        let both = times(a, b);
        M::lfst(&M::lid(&both.0, &both.1))
    }

    fn snd(a: &Ob, b: &Ob) -> M::LHom {
        let both = times(a, b);
        M::lsnd(&M::lid(&both.0, &both.1))
    }

    fn ev(a: &Ob, b: &Ob) -> M::LHom {
        let both = times(&Self::exponential(a, b), a);
        let v = M::lid(&both.0, &both.1);
        let argument = a.1.clone();
        at_argument::<M>(&both.0, move |y, linear| {
            let direct = M::lapply(&M::lfst(&v), y);
            M::lplus(&direct, &M::lthen(&M::lsnd(&v), &M::unname(&argument, linear)))
        })
    }

    fn argument(f: &Mor<M>, a: &Ob, b: &Ob) -> M::LHom {
        let ab = &f.from.0;
        M::lthen(&M::lpair(&M::lzero(ab, &b.1, &a.1), &M::lid(ab, &b.1)), &f.second)
    }

    fn curry(hint: &str, f: &Mor<M>, a: &Ob, b: &Ob) -> M::LHom {
        let ab = &f.from.0;
        let only = M::lpair(&M::lid(ab, &a.1), &M::lzero(ab, &a.1, &b.1));
        M::lcurry(hint, &a.0, &b.0, &M::lthen(&only, &f.second))
    }

    fn op(op: &Op) -> M::LHom {
        M::forward_op(op)
    }

    fn prim(p: Primitive, from: &Ob) -> M::LHom {
        M::forward_prim(p, from)
    }
}

impl<M: Model> PairCategory<M> for Reverse<M> {
    fn exponential(a: &Ob, b: &Ob) -> Ob {
        Ob(
            a.0.clone().to(b.0.clone().times(b.1.clone().lolli(a.1.clone()))),
            b.1.clone().tensor(a.0.clone()),
        )
    }

    fn compose(f: &M::LHom, g: &M::LHom) -> M::LHom {
        M::lthen(g, f)
    }

    fn bang(a: &Ob) -> M::LHom {
        M::lzero(&a.0, &LTy::Unit, &a.1)
    }

    fn pair(f: &Mor<M>, g: &Mor<M>) -> M::LHom {
        let both = M::lid(&f.from.0, &f.to.1.clone().times(g.to.1.clone()));
        M::lplus(&M::lthen(&M::lfst(&both), &f.second), &M::lthen(&M::lsnd(&both), &g.second))
    }

    fn fst(a: &Ob, b: &Ob) -> M::LHom {
        let both = times(a, b).0;
        M::lpair(&M::lid(&both, &a.1), &M::lzero(&both, &a.1, &b.1))
    }

    fn snd(a: &Ob, b: &Ob) -> M::LHom {
        let both = times(a, b).0;
        M::lpair(&M::lzero(&both, &b.1, &a.1), &M::lid(&both, &b.1))
    }

    fn ev(a: &Ob, b: &Ob) -> M::LHom {
        let both = times(&Self::exponential(a, b), a).0;
        let (v, result) = (M::lid(&both, &b.1), b.1.clone());
        at_argument::<M>(&both, move |y, linear| {
            M::lpair(&M::tensor(y, &v), &M::unname(&result, linear))
        })
    }

    fn argument(f: &Mor<M>, _: &Ob, _: &Ob) -> M::LHom {
        M::lsnd(&f.second)
    }

    fn curry(hint: &str, f: &Mor<M>, a: &Ob, b: &Ob) -> M::LHom {
        M::lfst(&M::lcur_inv(hint, [&a.0, &b.0], [&f.to.1, &f.from.1], &f.second))
    }

    fn op(op: &Op) -> M::LHom {
        M::reverse_op(op)
    }

    fn prim(p: Primitive, from: &Ob) -> M::LHom {
        M::reverse_prim(p, from)
    }
}

/// The object that a type of the source language is.
pub fn object<M: Model, P: PairCategory<M>>(ty: &source::Ty) -> Ob {
    match ty {
        source::Ty::Real(n) => Ob(Ty::Real(*n), LTy::Real(*n)),
        source::Ty::Unit => Ob(Ty::Unit, LTy::Unit),
        source::Ty::Prod(a, b) => times(&object::<M, P>(a), &object::<M, P>(b)),
        source::Ty::Fun(a, b) => P::exponential(&object::<M, P>(a), &object::<M, P>(b)),
        source::Ty::Own(never) => match *never {},
    }
}

/// `f; g` in a pair category.
pub fn then<M: Model, P: PairCategory<M>>(f: &Mor<M>, g: &Mor<M>) -> Mor<M> {
    let second = P::compose(&f.second, &M::reindex(&f.first, &g.second));
    Mor { from: f.from.clone(), to: g.to.clone(), first: M::then(&f.first, &g.first), second }
}

/// `<f, g>` in a pair category.
pub fn pair<M: Model, P: PairCategory<M>>(f: &Mor<M>, g: &Mor<M>) -> Mor<M> {
    Mor {
        from: f.from.clone(),
        to: times(&f.to, &g.to),
        first: M::pair(&f.first, &g.first),
        second: P::pair(f, g),
    }
}

/// The structure-preserving functor from the source language.
pub fn interpret<M: Model, P: PairCategory<M>>(t: &Comb) -> Mor<M> {
    let all = clause::<M, P>(t);
    Mor { first: M::called(&all.first, t.name()), ..all }
}

fn clause<M: Model, P: PairCategory<M>>(t: &Comb) -> Mor<M> {
    let (from, to) = (object::<M, P>(t.from()), object::<M, P>(t.to()));
    let x = M::id(&from.0);
    let (first, second) = match t.kind() {
        CombKind::Id => (x, M::lid(&from.0, &from.1)),
        CombKind::Then(t, s) => return then::<M, P>(&interpret::<M, P>(t), &interpret::<M, P>(s)),
        CombKind::Unit => (M::bang(&from.0), P::bang(&from)),
        CombKind::Pair(t, s) => return pair::<M, P>(&interpret::<M, P>(t), &interpret::<M, P>(s)),
        CombKind::Fst => (M::fst(&x), P::fst(&to, &other(&from, 1))),
        CombKind::Snd => (M::snd(&x), P::snd(&other(&from, 0), &to)),
        CombKind::Ev => (M::fst(&M::apply(&M::fst(&x), &M::snd(&x))), P::ev(&other(&from, 1), &to)),
        CombKind::Curry(body) => {
            let (f, hint) = (interpret::<M, P>(body), t.parameter());
            let (a, b) = (other(&f.from, 0), other(&f.from, 1));
            let body = M::pair(&f.first, &M::name(&P::argument(&f, &a, &b)));
            (M::curry(hint, &a.0, &b.0, &body), P::curry(hint, &f, &a, &b))
        }
        CombKind::Op(op) => (M::op(op, &x), P::op(op)),
        CombKind::Prim(p) => (M::primal_prim(*p, &from), P::prim(*p, &from)),
    };
    Mor { from, to, first, second }
}

/// A component of a product.
fn other(both: &Ob, k: usize) -> Ob {
    let ((a, b), (s, t)) = (both.0.components(), both.1.components());
    if k == 0 { Ob(a, s) } else { Ob(b, t) }
}

#[cfg(test)]
mod tests;
