//! §5: the pair categories `Σ_C L` and `Σ_C L^op`, as one construction over any model of the linear target language.
//!
//! An object is a pair of a Cartesian and a linear type. A morphism is a pair of `f1 ∈ C(A1, B1)` and, in `L(A1)`, `f2 : A2 -> B2` forward, or
//! `f2 : B2 -> A2` in reverse. Both categories are Cartesian closed (the propositions of §5.2), and the macros are the only functors that
//! preserve that and are right on operations. Here they come out of [`interpret`]; Appendix A writes them out.

use std::marker::PhantomData;
use std::rc::Rc;

use crate::combinators::{Comb, Kind};
use crate::linear::{self, LTy, Lin, Term, Ty, Var};
use crate::op::Op;
use crate::source;
use crate::value::{Value, eval_op};
use crate::var::Env;

/// A model of the linear target language (§4): a category C and, over each object A, a category `L(A)` with biproducts and the types `=>`,
/// `!(-) (x) (-)` and `-o`. The objects are the types themselves.
pub trait Model {
    /// `C(A, B)`
    type Hom: Clone;
    /// `L(A)(σ, τ)`
    type LHom: Clone;

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
    /// `Λ(f) : A -> (B => C)` for `f : A * B -> C`
    fn curry(a: &Ty, b: &Ty, f: &Self::Hom) -> Self::Hom;
    /// `f; op`
    fn op(op: &Op, f: &Self::Hom) -> Self::Hom;

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
    fn lcurry(a: &Ty, b: &Ty, f: &Self::LHom) -> Self::LHom;
    /// `!x (x) f`, for `x : A -> B`
    fn tensor(x: &Self::Hom, f: &Self::LHom) -> Self::LHom;
    /// `L(A * B)(s, t) -> L(A)(!B (x) s, t)`
    fn lcur_inv(a: &Ty, b: &Ty, s: &LTy, t: &LTy, f: &Self::LHom) -> Self::LHom;
    /// `L(A)(s, t) -> C(A, s -o t)`
    fn name(f: &Self::LHom) -> Self::Hom;
    /// `C(A, s -o t) -> L(A)(s, t)`
    fn unname(s: &LTy, f: &Self::Hom) -> Self::LHom;
    /// `D op` in `L(Dom(op))`
    fn forward_op(op: &Op) -> Self::LHom;
    /// `(D op)^t` in `L(Dom(op))`
    fn reverse_op(op: &Op) -> Self::LHom;
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
        Mor { from: self.from.clone(), to: self.to.clone(), first: self.first.clone(), second: self.second.clone() }
    }
}

/// What the two pair categories differ in: the direction of second components. Everything else is written once, in [`interpret`].
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
    /// The second component of `ev : (A => B) * A -> B`, from the projections to the function and to the argument.
    fn ev(a: &Ob, b: &Ob) -> M::LHom;
    /// What Λ(f) pairs with `f1` under the λ: `f2` restricted to the argument, in `L(A1 * B1)`.
    fn argument(f: &Mor<M>, a: &Ob, b: &Ob) -> M::LHom;
    /// The second component of Λ(f): `f2` restricted to the context.
    fn curry(f: &Mor<M>, a: &Ob, b: &Ob) -> M::LHom;
    /// The second component of an operation.
    fn op(op: &Op) -> M::LHom;
}

/// `Σ_C L`: forward mode.
pub struct Forward<M>(PhantomData<M>);

/// `Σ_C L^op`: reverse mode.
pub struct Reverse<M>(PhantomData<M>);

fn times(a: &Ob, b: &Ob) -> Ob {
    Ob(a.0.clone().times(b.0.clone()), a.1.clone().times(b.1.clone()))
}

/// For a context `(A => B) * A`: the linear function that the function has at its argument.
fn linear_part<M: Model>(context: &Ty) -> M::Hom {
    let x = M::id(context);
    M::snd(&M::apply(&M::fst(&x), &M::snd(&x)))
}

impl<M: Model> PairCategory<M> for Forward<M> {
    fn exponential(a: &Ob, b: &Ob) -> Ob {
        Ob(a.0.clone().to(b.0.clone().times(a.1.clone().lolli(b.1.clone()))), b.1.clone().under(a.0.clone()))
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
        let direct = M::lapply(&M::lfst(&v), &M::snd(&M::id(&both.0)));
        M::lplus(&direct, &M::lthen(&M::lsnd(&v), &M::unname(&a.1, &linear_part::<M>(&both.0))))
    }

    fn argument(f: &Mor<M>, a: &Ob, b: &Ob) -> M::LHom {
        let ab = &f.from.0;
        M::lthen(&M::lpair(&M::lzero(ab, &b.1, &a.1), &M::lid(ab, &b.1)), &f.second)
    }

    fn curry(f: &Mor<M>, a: &Ob, b: &Ob) -> M::LHom {
        let ab = &f.from.0;
        let only = M::lpair(&M::lid(ab, &a.1), &M::lzero(ab, &a.1, &b.1));
        M::lcurry(&a.0, &b.0, &M::lthen(&only, &f.second))
    }

    fn op(op: &Op) -> M::LHom {
        M::forward_op(op)
    }
}

impl<M: Model> PairCategory<M> for Reverse<M> {
    fn exponential(a: &Ob, b: &Ob) -> Ob {
        Ob(a.0.clone().to(b.0.clone().times(b.1.clone().lolli(a.1.clone()))), b.1.clone().tensor(a.0.clone()))
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
        let entry = M::tensor(&M::snd(&M::id(&both)), &M::lid(&both, &b.1));
        M::lpair(&entry, &M::unname(&b.1, &linear_part::<M>(&both)))
    }

    fn argument(f: &Mor<M>, _: &Ob, _: &Ob) -> M::LHom {
        M::lsnd(&f.second)
    }

    fn curry(f: &Mor<M>, a: &Ob, b: &Ob) -> M::LHom {
        M::lcur_inv(&a.0, &b.0, &f.to.1, &a.1, &M::lfst(&f.second))
    }

    fn op(op: &Op) -> M::LHom {
        M::reverse_op(op)
    }
}

/// The object that a type of the source language is.
pub fn object<M: Model, P: PairCategory<M>>(ty: &source::Ty) -> Ob {
    match ty {
        source::Ty::Real(n) => Ob(Ty::Real(*n), LTy::Real(*n)),
        source::Ty::Unit => Ob(Ty::Unit, LTy::Unit),
        source::Ty::Prod(a, b) => times(&object::<M, P>(a), &object::<M, P>(b)),
        source::Ty::Fun(a, b) => P::exponential(&object::<M, P>(a), &object::<M, P>(b)),
    }
}

/// `f; g` in a pair category.
pub fn then<M: Model, P: PairCategory<M>>(f: &Mor<M>, g: &Mor<M>) -> Mor<M> {
    let second = P::compose(&f.second, &M::reindex(&f.first, &g.second));
    Mor { from: f.from.clone(), to: g.to.clone(), first: M::then(&f.first, &g.first), second }
}

/// `<f, g>` in a pair category.
pub fn pair<M: Model, P: PairCategory<M>>(f: &Mor<M>, g: &Mor<M>) -> Mor<M> {
    Mor { from: f.from.clone(), to: times(&f.to, &g.to), first: M::pair(&f.first, &g.first), second: P::pair(f, g) }
}

/// The structure-preserving functor from the source language.
pub fn interpret<M: Model, P: PairCategory<M>>(t: &Comb) -> Mor<M> {
    let (from, to) = (object::<M, P>(t.from()), object::<M, P>(t.to()));
    let x = M::id(&from.0);
    let (first, second) = match t.kind() {
        Kind::Id => (x, M::lid(&from.0, &from.1)),
        Kind::Then(t, s) => return then::<M, P>(&interpret::<M, P>(t), &interpret::<M, P>(s)),
        Kind::Unit => (M::bang(&from.0), P::bang(&from)),
        Kind::Pair(t, s) => return pair::<M, P>(&interpret::<M, P>(t), &interpret::<M, P>(s)),
        Kind::Fst => (M::fst(&x), P::fst(&to, &other(&from, 1))),
        Kind::Snd => (M::snd(&x), P::snd(&other(&from, 0), &to)),
        Kind::Ev => (M::fst(&M::apply(&M::fst(&x), &M::snd(&x))), P::ev(&other(&from, 1), &to)),
        Kind::Curry(t) => {
            let f = interpret::<M, P>(t);
            let (a, b) = (other(&f.from, 0), other(&f.from, 1));
            let body = M::pair(&f.first, &M::name(&P::argument(&f, &a, &b)));
            (M::curry(&a.0, &b.0, &body), P::curry(&f, &a, &b))
        }
        Kind::Op(op) => (M::op(op, &x), P::op(op)),
    };
    Mor { from, to, first, second }
}

/// A component of a product.
fn other(both: &Ob, k: usize) -> Ob {
    let ((a, b), (s, t)) = (both.0.components(), both.1.components());
    if k == 0 { Ob(a, s) } else { Ob(b, t) }
}

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
fn extended(a: &Ty, b: &Ty) -> (Var, Var, Term) {
    let (x, y) = (Var::fresh("x", a.clone()), Var::fresh("y", b.clone()));
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
    fn curry(a: &Ty, b: &Ty, f: &Open<Term>) -> Open<Term> {
        let (x, y, both) = extended(a, b);
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
    fn lcurry(a: &Ty, b: &Ty, f: &Open<Lin>) -> Open<Lin> {
        let (x, y, both) = extended(a, b);
        Open(x, linear::labs(y, f.1.subst(&f.0, &both)))
    }
    fn tensor(x: &Open<Term>, f: &Open<Lin>) -> Open<Lin> {
        Open(f.0.clone(), linear::tensor(aligned_term(&f.0, x), f.1.clone()))
    }
    fn lcur_inv(a: &Ty, b: &Ty, s: &LTy, _: &LTy, f: &Open<Lin>) -> Open<Lin> {
        let (x, y, both) = extended(a, b);
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
}

/// The semantic model of §4.
pub struct Semantics;

/// A function.
pub type Map = Rc<dyn Fn(&Value) -> Value>;

/// A function that is additive in its second argument.
pub type LinearMap = Rc<dyn Fn(&Value, &Value) -> Value>;

impl Model for Semantics {
    type Hom = Map;
    type LHom = LinearMap;

    fn id(_: &Ty) -> Map {
        Rc::new(Value::clone)
    }
    fn then(f: &Map, g: &Map) -> Map {
        let (f, g) = (f.clone(), g.clone());
        Rc::new(move |x| g(&f(x)))
    }
    fn bang(_: &Ty) -> Map {
        Rc::new(|_| Value::Unit)
    }
    fn pair(f: &Map, g: &Map) -> Map {
        let (f, g) = (f.clone(), g.clone());
        Rc::new(move |x| Value::pair(f(x), g(x)))
    }
    fn fst(f: &Map) -> Map {
        let f = f.clone();
        Rc::new(move |x| f(x).fst())
    }
    fn snd(f: &Map) -> Map {
        let f = f.clone();
        Rc::new(move |x| f(x).snd())
    }
    fn apply(f: &Map, x: &Map) -> Map {
        let (f, at) = (f.clone(), x.clone());
        Rc::new(move |x| f(x).apply(&at(x)))
    }
    fn curry(_: &Ty, _: &Ty, f: &Map) -> Map {
        let f = f.clone();
        Rc::new(move |x| {
            let (f, x) = (f.clone(), x.clone());
            Value::fun(move |y| f(&Value::pair(x.clone(), y.clone())))
        })
    }
    fn op(op: &Op, f: &Map) -> Map {
        let (op, f) = (op.clone(), f.clone());
        Rc::new(move |x| eval_op(&op, &f(x)))
    }
    fn lid(_: &Ty, _: &LTy) -> LinearMap {
        Rc::new(|_, v| v.clone())
    }
    fn lthen(f: &LinearMap, g: &LinearMap) -> LinearMap {
        let (f, g) = (f.clone(), g.clone());
        Rc::new(move |x, v| g(x, &f(x, v)))
    }
    fn reindex(f: &Map, g: &LinearMap) -> LinearMap {
        let (f, g) = (f.clone(), g.clone());
        Rc::new(move |x, v| g(&f(x), v))
    }
    fn lzero(_: &Ty, _: &LTy, t: &LTy) -> LinearMap {
        let t = t.clone();
        Rc::new(move |_, _| linear::zero(&t))
    }
    fn lplus(f: &LinearMap, g: &LinearMap) -> LinearMap {
        let (f, g) = (f.clone(), g.clone());
        Rc::new(move |x, v| f(x, v).plus(&g(x, v)))
    }
    fn lpair(f: &LinearMap, g: &LinearMap) -> LinearMap {
        let (f, g) = (f.clone(), g.clone());
        Rc::new(move |x, v| Value::pair(f(x, v), g(x, v)))
    }
    fn lfst(f: &LinearMap) -> LinearMap {
        let f = f.clone();
        Rc::new(move |x, v| f(x, v).fst())
    }
    fn lsnd(f: &LinearMap) -> LinearMap {
        let f = f.clone();
        Rc::new(move |x, v| f(x, v).snd())
    }
    fn lapply(f: &LinearMap, at: &Map) -> LinearMap {
        let (f, at) = (f.clone(), at.clone());
        Rc::new(move |x, v| f(x, v).apply(&at(x)))
    }
    fn lcurry(_: &Ty, _: &Ty, f: &LinearMap) -> LinearMap {
        let f = f.clone();
        Rc::new(move |x, v| {
            let (f, x, v) = (f.clone(), x.clone(), v.clone());
            Value::fun(move |y| f(&Value::pair(x.clone(), y.clone()), &v))
        })
    }
    fn tensor(key: &Map, f: &LinearMap) -> LinearMap {
        let (key, f) = (key.clone(), f.clone());
        Rc::new(move |x, v| Value::Sum(Rc::new(vec![(key(x), f(x, v))])))
    }
    fn lcur_inv(_: &Ty, _: &Ty, _: &LTy, t: &LTy, f: &LinearMap) -> LinearMap {
        let (f, t) = (f.clone(), t.clone());
        Rc::new(move |x, v| {
            let Value::Sum(entries) = v else { panic!("{v:?} is not a formal sum") };
            let each = entries.iter().map(|(y, w)| f(&Value::pair(x.clone(), y.clone()), w));
            each.fold(linear::zero(&t), |sum, value| sum.plus(&value))
        })
    }
    fn name(f: &LinearMap) -> Map {
        let f = f.clone();
        Rc::new(move |x| {
            let (f, x) = (f.clone(), x.clone());
            Value::fun(move |v| f(&x, v))
        })
    }
    fn unname(_: &LTy, f: &Map) -> LinearMap {
        let f = f.clone();
        Rc::new(move |x, v| f(x).apply(v))
    }
    fn forward_op(op: &Op) -> LinearMap {
        evaluated(Syntax::forward_op(op))
    }
    fn reverse_op(op: &Op) -> LinearMap {
        evaluated(Syntax::reverse_op(op))
    }
}

fn evaluated(open: Open<Lin>) -> LinearMap {
    Rc::new(move |x, v| linear::eval_linear(&open.1, &Env::default().with(&open.0, x.clone()), v))
}

#[cfg(test)]
mod tests;
