//! Primal once, closures converted: reverse mode at a cost of a constant times the primal's.
//!
//! D←: `Γ ⊢ t : T` becomes `D←(Γ)_1 ⊢ D[t] : D←(T)_1 * (D←(T)_2 ⊸ D←(Γ)_2)`. `D←(S -> R)_2` is *the
//! cotangents of the captured variables*: a call's pullback gives them together with the argument's
//! cotangent, so a body's pullback runs once:
//!
//! ```text
//!   \y. t :  < \y. let <r, p> = D[t] in <r, \w. split p(w) at y> ,  \e. e >
//!   t s   :  let <f, pf> = D[t] in let <a, pa> = D[s] in let <r, pc> = f a in
//!            < r, \w. let <e, wa> = pc w in pf e + pa wa >
//! ```
//!
//! It is right because a cotangent of a function value comes from calls of that very closure and
//! from nowhere else. The environments of two activations of one λ never meet: each stays inside of
//! the cotangent of its own closure until that closure's pullback is run.
//!
//! `D←(Γ)_2` is sparse: a variable that is not in it has cotangent zero.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::op::{LOp, Op, Slope, slopes};
use crate::primitives::{Primitive, lunscan, zip_with};
use crate::source::{Kind, Term, Ty, Var};
use crate::value::{Value, count_lop, count_op};
use crate::var::Env;

/// A primal.
#[derive(Clone)]
enum Primal {
    Real(Rc<[f64]>),
    Unit,
    Pair(Rc<(Primal, Primal)>),
    Fun(Rc<Closure>),
}

/// From an argument to the result and the pullback of the call.
type Closure = dyn Fn(&Primal) -> (Primal, Call);

/// The pullback of a call: the cotangents of the captured variables, and that of the argument.
type Call = Rc<dyn Fn(&Cotangent) -> (Captured, Cotangent)>;

/// The pullback of a term.
type Pullback = Rc<dyn Fn(&Cotangent) -> Captured>;

/// Cotangents of variables, by their ids.
type Captured = BTreeMap<u32, Cotangent>;

/// A cotangent, sparse.
#[derive(Clone, Debug)]
enum Cotangent {
    Zero,
    Real(Rc<[f64]>),
    Pair(Rc<(Cotangent, Cotangent)>),
    Closure(Captured),
}

impl Cotangent {
    fn plus(&self, other: &Cotangent) -> Cotangent {
        match (self, other) {
            (Cotangent::Zero, d) | (d, Cotangent::Zero) => d.clone(),
            (Cotangent::Real(a), Cotangent::Real(b)) => {
                Cotangent::Real(a.iter().zip(b.iter()).map(|(x, y)| x + y).collect())
            }
            (Cotangent::Pair(a), Cotangent::Pair(b)) => {
                Cotangent::Pair(Rc::new((a.0.plus(&b.0), a.1.plus(&b.1))))
            }
            (Cotangent::Closure(a), Cotangent::Closure(b)) => {
                Cotangent::Closure(merge(a.clone(), b.clone()))
            }
            (Cotangent::Real(_) | Cotangent::Pair(_) | Cotangent::Closure(_), _) => {
                panic!("{self:?} and {other:?} are not of one type")
            }
        }
    }

    fn components(&self) -> (Cotangent, Cotangent) {
        match self {
            Cotangent::Zero => (Cotangent::Zero, Cotangent::Zero),
            Cotangent::Pair(both) => (**both).clone(),
            Cotangent::Real(_) | Cotangent::Closure(_) => panic!("{self:?} is not a pair"),
        }
    }

    fn pair(a: Cotangent, b: Cotangent) -> Cotangent {
        Cotangent::Pair(Rc::new((a, b)))
    }
}

fn merge(mut a: Captured, b: Captured) -> Captured {
    for (x, d) in b {
        let sum = a.get(&x).map_or_else(|| d.clone(), |old| old.plus(&d));
        a.insert(x, sum);
    }
    a
}

/// The value of `x : T ⊢ t : S` at a point, and the cotangent of `x` for a cotangent of `t`; `T`
/// and `S` are first-order.
pub fn reverse(x: &Var, t: &Term, at: &Value, w: &Value) -> (Value, Value) {
    let (result, pullback) = derive(t, &Env::default().with(x, primal_of(at)));
    let found = pullback(&cotangent_of(w)).remove(&x.id).unwrap_or(Cotangent::Zero);
    (value_of(&result), dense(&x.ty, &found))
}

fn derive(t: &Term, env: &Env<Primal>) -> (Primal, Pullback) {
    match t.kind() {
        Kind::Var(x) => {
            let id = x.id;
            (env.expect(x), Rc::new(move |w| BTreeMap::from([(id, w.clone())])))
        }
        Kind::Op(op, t) => {
            let (a, pullback) = derive(t, env);
            let args = arguments(&a);
            count_op();
            let result = Primal::Real(op.eval(&args));
            let op = op.clone();
            (result, Rc::new(move |w| pullback(&transposed(&op, &args, w))))
        }
        Kind::Prim(p, t) => primitive(*p, derive(t, env)),
        Kind::Unit => (Primal::Unit, Rc::new(|_| Captured::new())),
        Kind::Pair(t, s) => {
            let ((a, pa), (b, pb)) = (derive(t, env), derive(s, env));
            let pullback = move |w: &Cotangent| {
                let (wa, wb) = w.components();
                merge(pa(&wa), pb(&wb))
            };
            (Primal::Pair(Rc::new((a, b))), Rc::new(pullback))
        }
        Kind::Fst(t) => {
            let (a, pullback) = derive(t, env);
            (
                components(&a).0,
                Rc::new(move |w| pullback(&Cotangent::pair(w.clone(), Cotangent::Zero))),
            )
        }
        Kind::Snd(t) => {
            let (a, pullback) = derive(t, env);
            (
                components(&a).1,
                Rc::new(move |w| pullback(&Cotangent::pair(Cotangent::Zero, w.clone()))),
            )
        }
        Kind::Lam(x, t) => (closure(x, t, env), Rc::new(captured)),
        Kind::App(t, s) => {
            let ((f, pf), (a, pa)) = (derive(t, env), derive(s, env));
            let (result, call) = function(f)(&a);
            let pullback = move |w: &Cotangent| {
                let (e, wa) = call(w);
                merge(pf(&Cotangent::Closure(e)), pa(&wa))
            };
            (result, Rc::new(pullback))
        }
        Kind::Own(never) => match *never {},
    }
}

/// A primitive after its argument, `<f, args>`. It keeps the pullbacks of the calls, runs each once
/// and adds up their cotangents for the captured variables of `f`.
fn primitive(p: Primitive, (argument, pullback): (Primal, Pullback)) -> (Primal, Pullback) {
    let (f, args) = components(&argument);
    let f = function(f);
    let mut calls: Vec<Call> = Vec::new();
    let mut call = |at: &[f64]| {
        let (result, call) = f(&tuple(at));
        calls.push(call);
        arguments(&result)[0][0]
    };
    let results = p.run(&mut call, &arguments(&args));
    let sizes = p.results();
    let back = move |w: &Cotangent| {
        let mut captured = Captured::new();
        let linear = |i: usize, w: &[f64]| {
            let (e, back) = calls[i](&Cotangent::Real(w.into()));
            captured = merge(std::mem::take(&mut captured), e);
            numbers(&back, p.arity())
        };
        let args = pulled(p, linear, &vectors(w, &sizes));
        pullback(&Cotangent::pair(Cotangent::Closure(captured), args))
    };
    (
        results
            .into_iter()
            .map(Primal::Real)
            .reduce(|a, b| Primal::Pair(Rc::new((a, b))))
            .unwrap_or(Primal::Unit),
        Rc::new(back),
    )
}

/// The cotangents of the vectors that a primitive takes, by the linear functions of its calls.
fn pulled(
    p: Primitive,
    linear: impl FnMut(usize, &[f64]) -> Vec<f64>,
    w: &[Rc<[f64]>],
) -> Cotangent {
    let args = match p {
        Primitive::Map { arity, n } => zip_with(n, arity, linear, w),
        Primitive::Scan { .. } => lunscan(linear, w).into_iter().take(2).collect(),
    };
    args.into_iter().map(Cotangent::Real).reduce(Cotangent::pair).unwrap_or(Cotangent::Zero)
}

/// The cotangent of a product of vectors, which nests to the left, with its zeros.
fn vectors(w: &Cotangent, sizes: &[usize]) -> Vec<Rc<[f64]>> {
    arguments(&primal_of(&dense(&Ty::dom(sizes), w)))
}

/// The cotangent of a product of k numbers, as numbers.
fn numbers(w: &Cotangent, k: usize) -> Vec<f64> {
    vectors(w, &vec![1; k]).iter().map(|x| x[0]).collect()
}

/// A product of numbers.
fn tuple(numbers: &[f64]) -> Primal {
    let numbers = numbers.iter().map(|x| Primal::Real([*x].into()));
    numbers.reduce(|a, b| Primal::Pair(Rc::new((a, b)))).unwrap_or(Primal::Unit)
}

/// The primal of `\x. t`: its calls' pullbacks split off the cotangent of `x`.
fn closure(x: &Var, t: &Term, env: &Env<Primal>) -> Primal {
    let (x, t, env) = (x.clone(), t.clone(), env.clone());
    Primal::Fun(Rc::new(move |argument| {
        let (result, pullback) = derive(&t, &env.with(&x, argument.clone()));
        let id = x.id;
        let call = move |w: &Cotangent| {
            let mut e = pullback(w);
            let wa = e.remove(&id).unwrap_or(Cotangent::Zero);
            (e, wa)
        };
        (result, Rc::new(call) as Call)
    }))
}

/// The pullback of a λ: the identity.
fn captured(w: &Cotangent) -> Captured {
    match w {
        Cotangent::Zero => Captured::new(),
        Cotangent::Closure(e) => e.clone(),
        Cotangent::Real(_) | Cotangent::Pair(_) => {
            panic!("{w:?} is not the cotangent of a function")
        }
    }
}

/// `(D op)^t (x; w)`
fn transposed(op: &Op, x: &[Rc<[f64]>], w: &Cotangent) -> Cotangent {
    let Cotangent::Real(w) = w else { return Cotangent::Zero };
    let slopes = slopes(op, x, &mut |op, args| op.eval(args));
    let parts = slopes.into_iter().map(|slope| match slope.transposed() {
        Slope::Zero => Cotangent::Zero,
        Slope::Same => Cotangent::Real(w.clone()),
        Slope::By(lop, at) => Cotangent::Real(linear(lop, at, w)),
    });
    parts.reduce(Cotangent::pair).unwrap_or(Cotangent::Zero)
}

fn linear(lop: LOp, at: Option<Rc<[f64]>>, w: &Rc<[f64]>) -> Rc<[f64]> {
    count_lop();
    lop.eval(&Vec::from_iter(at), std::slice::from_ref(w))
}

fn function(f: Primal) -> Rc<Closure> {
    match f {
        Primal::Fun(f) => f,
        Primal::Real(_) | Primal::Unit | Primal::Pair(_) => {
            panic!("a typed term applies functions only")
        }
    }
}

fn components(a: &Primal) -> (Primal, Primal) {
    match a {
        Primal::Pair(both) => (**both).clone(),
        Primal::Real(_) | Primal::Unit | Primal::Fun(_) => {
            panic!("a typed term projects pairs only")
        }
    }
}

/// The leaves of a product of vectors.
fn arguments(a: &Primal) -> Vec<Rc<[f64]>> {
    match a {
        Primal::Pair(both) => [arguments(&both.0), arguments(&both.1)].concat(),
        Primal::Real(values) => vec![values.clone()],
        Primal::Unit => vec![],
        Primal::Fun(_) => panic!("a function is no argument of an operation"),
    }
}

fn primal_of(value: &Value) -> Primal {
    match value {
        Value::Real(values) => Primal::Real(values.clone()),
        Value::Unit => Primal::Unit,
        Value::Pair(_) => Primal::Pair(Rc::new((primal_of(&value.fst()), primal_of(&value.snd())))),
        Value::Fun(_) | Value::Sum(_) | Value::LinFun(_) | Value::Copower(_) => {
            panic!("{value:?} is not first-order")
        }
    }
}

fn value_of(primal: &Primal) -> Value {
    match primal {
        Primal::Real(values) => Value::Real(values.clone()),
        Primal::Unit => Value::Unit,
        Primal::Pair(both) => Value::pair(value_of(&both.0), value_of(&both.1)),
        Primal::Fun(_) => panic!("the result contains a function"),
    }
}

fn cotangent_of(value: &Value) -> Cotangent {
    match value {
        Value::Real(values) => Cotangent::Real(values.clone()),
        Value::Unit => Cotangent::Zero,
        Value::Pair(_) => Cotangent::pair(cotangent_of(&value.fst()), cotangent_of(&value.snd())),
        Value::Fun(_) | Value::Sum(_) | Value::LinFun(_) | Value::Copower(_) => {
            panic!("{value:?} is not first-order")
        }
    }
}

/// A sparse cotangent of a first-order type, with its zeros.
fn dense(ty: &Ty, d: &Cotangent) -> Value {
    match (ty, d) {
        (Ty::Real(_), Cotangent::Real(values)) => Value::Real(values.clone()),
        (Ty::Real(n), _) => Value::real(vec![0.0; *n]),
        (Ty::Unit, _) => Value::Unit,
        (Ty::Prod(a, b), d) => {
            let (da, db) = d.components();
            Value::pair(dense(a, &da), dense(b, &db))
        }
        (Ty::Fun(..), _) => panic!("{ty} is not first-order"),
        (Ty::Own(never), _) => match *never {},
    }
}
