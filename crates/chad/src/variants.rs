//! Beyond the paper (FW-2): variants, with cotangents indexed by the tag.
//!
//! In `Σ_C L` with dependent second components, the object `Σ_k A_k` has primals `in_k a` and,
//! *over* `in_k a`, the tangents or cotangents of `a` alone: a tag has none. Then injections,
//! distribution over a context and the choice of a branch all have the identity as second
//! component, nothing is padded with zeros of the branches that were not taken, and two cotangents
//! that meet in a sum belong to the same primal, so their tags cannot clash. Zeros are the price:
//! which one it is depends on the primal.
//!
//! The language is that of `combinators` with coproducts: bicartesian closed. D→ and D← take
//! `t : T -> S` and a primal `x` of `D(T)_1` to `D(t)_1(x)` and the linear map `D(t)_2(x)`, from
//! tangents over `x` to tangents over `D(t)_1(x)`, or from cotangents to cotangents back. The
//! clauses for products and functions are those of Appendix A.

use std::fmt;
use std::rc::Rc;

use crate::lambda::{self, Language, Never, OwnTy};
use crate::linear;
use crate::op::Op;
use crate::pairs::{Model, Semantics};
use crate::value::{Value, eval_op};

/// The λ-calculus with coproducts; of its terms, only combinators are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variants {}

impl Language for Variants {
    type Ty = Sum;
    type Own = Never;
    type Lin = Never;
}

/// A type.
pub type Ty = lambda::Ty<Variants>;

/// `T, S ::= .. | Σ_k T_k`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum(Rc<[Ty]>);

impl OwnTy for Sum {
    fn text(&self, _: u8) -> String {
        format!("({})", self.0.iter().map(Ty::to_string).collect::<Vec<_>>().join(" + "))
    }
}

/// A morphism `from -> to`.
#[derive(Clone, Debug)]
pub struct Comb {
    kind: Rc<MorphismKind>,
    from: Ty,
    to: Ty,
}

#[derive(Clone, Debug)]
enum MorphismKind {
    Id,
    Then(Comb, Comb),
    Unit,
    Pair(Comb, Comb),
    Fst,
    Snd,
    Ev,
    Curry(Comb),
    Op(Op),
    Inject(usize),
    Distribute,
    Case(Vec<Comb>),
    Sign,
}

impl Ty {
    /// `Σ_k T_k`
    pub fn sum(arms: impl Into<Rc<[Ty]>>) -> Ty {
        Ty::Own(Sum(arms.into()))
    }

    /// `1 + 1`
    pub fn bool() -> Ty {
        Ty::sum([Ty::Unit, Ty::Unit])
    }

    fn arms(&self) -> &[Ty] {
        let Ty::Own(Sum(arms)) = self else { panic!("{self} is not a variant") };
        arms
    }
}

impl Comb {
    fn new(kind: MorphismKind, from: Ty, to: Ty) -> Comb {
        Comb { kind: Rc::new(kind), from, to }
    }

    /// The type of the argument.
    pub fn from(&self) -> &Ty {
        &self.from
    }

    /// The type of the result.
    pub fn to(&self) -> &Ty {
        &self.to
    }
}

impl fmt::Display for Comb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            MorphismKind::Id => f.write_str("id"),
            MorphismKind::Then(t, s) => write!(f, "({t}; {s})"),
            MorphismKind::Unit => f.write_str("<>"),
            MorphismKind::Pair(t, s) => write!(f, "<{t}, {s}>"),
            MorphismKind::Fst => f.write_str("fst"),
            MorphismKind::Snd => f.write_str("snd"),
            MorphismKind::Ev => f.write_str("ev"),
            MorphismKind::Curry(t) => write!(f, "cur({t})"),
            MorphismKind::Op(op) => write!(f, "{op}"),
            MorphismKind::Inject(k) => write!(f, "in_{k}"),
            MorphismKind::Distribute => f.write_str("dist"),
            MorphismKind::Case(arms) => {
                write!(f, "[{}]", arms.iter().map(Comb::to_string).collect::<Vec<_>>().join(", "))
            }
            MorphismKind::Sign => f.write_str("sign"),
        }
    }
}

/// `id_T`
pub fn id(ty: Ty) -> Comb {
    Comb::new(MorphismKind::Id, ty.clone(), ty)
}

/// `t; s`, in diagrammatic order
pub fn then(t: Comb, s: Comb) -> Comb {
    assert_eq!(t.to, s.from, "the ends of `{t}; {s}` do not meet");
    let (from, to) = (t.from.clone(), s.to.clone());
    Comb::new(MorphismKind::Then(t, s), from, to)
}

/// `<>_T`
pub fn unit(from: Ty) -> Comb {
    Comb::new(MorphismKind::Unit, from, Ty::Unit)
}

/// `<t, s>`
pub fn pair(t: Comb, s: Comb) -> Comb {
    assert_eq!(t.from, s.from, "`{t}` and `{s}` do not start together");
    let (from, to) = (t.from.clone(), t.to.clone().times(s.to.clone()));
    Comb::new(MorphismKind::Pair(t, s), from, to)
}

/// `fst : T * S -> T`
pub fn fst(t: Ty, s: Ty) -> Comb {
    Comb::new(MorphismKind::Fst, t.clone().times(s), t)
}

/// `snd : T * S -> S`
pub fn snd(t: Ty, s: Ty) -> Comb {
    Comb::new(MorphismKind::Snd, t.times(s.clone()), s)
}

/// `ev : (T -> S) * T -> S`
pub fn ev(t: Ty, s: Ty) -> Comb {
    Comb::new(MorphismKind::Ev, t.clone().to(s.clone()).times(t), s)
}

/// `Λ(t) : T -> (S -> R)` for `t : T * S -> R`
pub fn curry(t: Comb) -> Comb {
    let (a, b) = t.from.components();
    let to = b.to(t.to.clone());
    Comb::new(MorphismKind::Curry(t), a, to)
}

/// `op : Dom(op) -> real^m`
pub fn op(op: Op) -> Comb {
    let (from, to) = (Ty::dom(&op.dom()), Ty::Real(op.cod()));
    Comb::new(MorphismKind::Op(op), from, to)
}

/// `in_k : T_k -> Σ_k T_k`
pub fn inject(k: usize, sum: Ty) -> Comb {
    let from = sum.arms()[k].clone();
    Comb::new(MorphismKind::Inject(k), from, sum)
}

/// `T * Σ_k S_k -> Σ_k (T * S_k)`
pub fn distribute(context: Ty, sum: Ty) -> Comb {
    let arms: Vec<Ty> = sum.arms().iter().map(|arm| context.clone().times(arm.clone())).collect();
    Comb::new(MorphismKind::Distribute, context.times(sum), Ty::sum(arms))
}

/// `[t_1, .., t_n] : Σ_k T_k -> S`
pub fn case(arms: Vec<Comb>) -> Comb {
    assert!(arms.windows(2).all(|pair| pair[0].to == pair[1].to), "the arms do not end together");
    let from: Vec<Ty> = arms.iter().map(|arm| arm.from.clone()).collect();
    let to = arms.first().expect("a variant has an alternative").to.clone();
    Comb::new(MorphismKind::Case(arms), Ty::sum(from), to)
}

/// `sign : real -> 1 + 1`, the second from 0 on. It is smooth but at 0, where it jumps.
pub fn sign() -> Comb {
    Comb::new(MorphismKind::Sign, Ty::Real(1), Ty::bool())
}

/// `case t of in_k y -> s_k`, where the arms see the context too: `s_k : T * S_k -> R`.
pub fn case_of(t: Comb, arms: Vec<Comb>) -> Comb {
    let (context, sum) = (t.from.clone(), t.to.clone());
    then(then(pair(id(context.clone()), t), distribute(context, sum)), case(arms))
}

/// A variant: the tag, and its payload.
fn tagged(tag: usize, value: Value) -> Value {
    Value::pair(Value::real([tag as f64]), value)
}

fn tag(value: &Value) -> usize {
    value.fst().numbers()[0] as usize
}

/// The meaning; it is also D_1 of everything but functions.
pub fn eval(t: &Comb, x: &Value) -> Value {
    match &*t.kind {
        MorphismKind::Id => x.clone(),
        MorphismKind::Then(t, s) => eval(s, &eval(t, x)),
        MorphismKind::Unit => Value::Unit,
        MorphismKind::Pair(t, s) => Value::pair(eval(t, x), eval(s, x)),
        MorphismKind::Fst => x.fst(),
        MorphismKind::Snd => x.snd(),
        MorphismKind::Ev => x.fst().apply(&x.snd()),
        MorphismKind::Curry(t) => {
            let (t, x) = (t.clone(), x.clone());
            Value::fun(move |y| eval(&t, &Value::pair(x.clone(), y.clone())))
        }
        MorphismKind::Op(op) => eval_op(op, x),
        MorphismKind::Inject(k) => tagged(*k, x.clone()),
        MorphismKind::Distribute => tagged(tag(&x.snd()), Value::pair(x.fst(), x.snd().snd())),
        MorphismKind::Case(arms) => eval(&arms[tag(x)], &x.snd()),
        MorphismKind::Sign => tagged(usize::from(x.numbers()[0] >= 0.0), Value::Unit),
    }
}

/// A linear map between the tangents or cotangents over two primals.
pub type LinearMap = Rc<dyn Fn(&Value) -> Value>;

/// A primal with a linear map that belongs to it.
pub type Derived = (Value, LinearMap);

fn identity() -> LinearMap {
    Rc::new(Value::clone)
}

/// The linear function in a function's primal `D(T -> S)_1 = D(T)_1 -> D(S)_1 * (.. -o ..)` at an
/// argument, with the result.
fn call(f: &Value, x: &Value) -> (Value, Value) {
    let both = f.apply(x);
    (both.fst(), both.snd())
}

/// The zero tangent over a primal.
fn zero_tangent(ty: &Ty, x: &Value) -> Value {
    match ty {
        Ty::Real(n) => Value::real(vec![0.0; *n]),
        Ty::Unit => Value::Unit,
        Ty::Prod(a, b) => Value::pair(zero_tangent(a, &x.fst()), zero_tangent(b, &x.snd())),
        Ty::Fun(_, b) => {
            let (b, f) = (b.clone(), x.clone());
            Value::fun(move |y| zero_tangent(&b, &call(&f, y).0))
        }
        Ty::Own(Sum(arms)) => zero_tangent(&arms[tag(x)], &x.snd()),
    }
}

/// The zero cotangent over a primal.
fn zero_cotangent(ty: &Ty, x: &Value) -> Value {
    match ty {
        Ty::Real(n) => Value::real(vec![0.0; *n]),
        Ty::Unit => Value::Unit,
        Ty::Prod(a, b) => Value::pair(zero_cotangent(a, &x.fst()), zero_cotangent(b, &x.snd())),
        Ty::Fun(..) => Value::Sum(Rc::new(vec![])),
        Ty::Own(Sum(arms)) => zero_cotangent(&arms[tag(x)], &x.snd()),
    }
}

/// D→
pub fn forward(t: &Comb, x: &Value) -> Derived {
    match &*t.kind {
        MorphismKind::Id => (x.clone(), identity()),
        MorphismKind::Then(t, s) => {
            let (y, f) = forward(t, x);
            let (z, g) = forward(s, &y);
            (z, Rc::new(move |v| g(&f(v))))
        }
        MorphismKind::Unit => (Value::Unit, Rc::new(|_| Value::Unit)),
        MorphismKind::Pair(t, s) => {
            let ((a, f), (b, g)) = (forward(t, x), forward(s, x));
            (Value::pair(a, b), Rc::new(move |v| Value::pair(f(v), g(v))))
        }
        MorphismKind::Fst => (x.fst(), Rc::new(Value::fst)),
        MorphismKind::Snd => (x.snd(), Rc::new(Value::snd)),
        MorphismKind::Ev => {
            let y = x.snd();
            let (result, linear) = call(&x.fst(), &y);
            (result, Rc::new(move |v| v.fst().apply(&y).plus(&linear.apply(&v.snd()))))
        }
        MorphismKind::Curry(body) => forward_curry(body, x),
        MorphismKind::Op(op) => {
            let (derivative, at) = (Semantics::forward_op(op), x.clone());
            (eval(t, x), Rc::new(move |v| derivative(&at, v)))
        }
        MorphismKind::Inject(_) | MorphismKind::Distribute => (eval(t, x), identity()),
        MorphismKind::Case(arms) => forward(&arms[tag(x)], &x.snd()),
        MorphismKind::Sign => (eval(t, x), Rc::new(|_| Value::Unit)),
    }
}

/// `\y. <t_1, \v. t_2 <0, v>>` and `\v. \y. t_2 <v, 0>`, at `<x, y>`
fn forward_curry(t: &Comb, x: &Value) -> Derived {
    let (t1, x1) = (t.clone(), x.clone());
    let primal = Value::fun(move |y| {
        let (result, push) = forward(&t1, &Value::pair(x1.clone(), y.clone()));
        let zero = zero_tangent(&t1.from.components().0, &x1);
        Value::pair(result, Value::fun(move |v| push(&Value::pair(zero.clone(), v.clone()))))
    });
    let (t, x) = (t.clone(), x.clone());
    let tangent = move |v: &Value| {
        let (t, x, v) = (t.clone(), x.clone(), v.clone());
        Value::fun(move |y| {
            let zero = zero_tangent(&t.from.components().1, y);
            forward(&t, &Value::pair(x.clone(), y.clone())).1(&Value::pair(v.clone(), zero))
        })
    };
    (primal, Rc::new(tangent))
}

/// D←
pub fn reverse(t: &Comb, x: &Value) -> Derived {
    match &*t.kind {
        MorphismKind::Id => (x.clone(), identity()),
        MorphismKind::Then(t, s) => {
            let (y, f) = reverse(t, x);
            let (z, g) = reverse(s, &y);
            (z, Rc::new(move |w| f(&g(w))))
        }
        MorphismKind::Unit => {
            let zero = zero_cotangent(&t.from, x);
            (Value::Unit, Rc::new(move |_| zero.clone()))
        }
        MorphismKind::Pair(t, s) => {
            let ((a, f), (b, g)) = (reverse(t, x), reverse(s, x));
            (Value::pair(a, b), Rc::new(move |w| f(&w.fst()).plus(&g(&w.snd()))))
        }
        MorphismKind::Fst => {
            let zero = zero_cotangent(&t.from.components().1, &x.snd());
            (x.fst(), Rc::new(move |w| Value::pair(w.clone(), zero.clone())))
        }
        MorphismKind::Snd => {
            let zero = zero_cotangent(&t.from.components().0, &x.fst());
            (x.snd(), Rc::new(move |w| Value::pair(zero.clone(), w.clone())))
        }
        MorphismKind::Ev => {
            let y = x.snd();
            let (result, linear) = call(&x.fst(), &y);
            (
                result,
                Rc::new(move |w| {
                    Value::pair(Value::Sum(Rc::new(vec![(y.clone(), w.clone())])), linear.apply(w))
                }),
            )
        }
        MorphismKind::Curry(body) => reverse_curry(body, x),
        MorphismKind::Op(op) => {
            let (derivative, at) = (Semantics::reverse_op(op), x.clone());
            (eval(t, x), Rc::new(move |w| derivative(&at, w)))
        }
        MorphismKind::Inject(_) | MorphismKind::Distribute => (eval(t, x), identity()),
        MorphismKind::Case(arms) => reverse(&arms[tag(x)], &x.snd()),
        MorphismKind::Sign => (eval(t, x), Rc::new(|_| linear::zero(&linear::LTy::Real(1)))),
    }
}

/// `\y. <t_1, \w. snd (t_2 w)>` and `\w. Σ over !y (x) w' in w of fst (t_2 w')`, at `<x, y>`
fn reverse_curry(t: &Comb, x: &Value) -> Derived {
    let (t1, x1) = (t.clone(), x.clone());
    let primal = Value::fun(move |y| {
        let (result, pull) = reverse(&t1, &Value::pair(x1.clone(), y.clone()));
        Value::pair(result, Value::fun(move |w| pull(w).snd()))
    });
    let (t, x) = (t.clone(), x.clone());
    let cotangent = move |w: &Value| {
        let Value::Sum(entries) = w else { panic!("{w:?} is not the cotangent of a function") };
        let each =
            entries.iter().map(|(y, w)| reverse(&t, &Value::pair(x.clone(), y.clone())).1(w).fst());
        each.fold(zero_cotangent(&t.from.components().0, &x), |sum, part| sum.plus(&part))
    };
    (primal, Rc::new(cotangent))
}

#[cfg(test)]
mod tests;
