//! Pairs of functions, over the semantic model.

use std::rc::Rc;

use super::{Model, Ob, Open, Syntax, after, map, open, zip};
use crate::linear::{self, LTy, Lin, Term, Ty, Var};
use crate::op::Op;
use crate::primitives::Primitive;
use crate::value::{Value, eval_op};
use crate::var::Env;

/// The semantic model of §5.
pub struct Semantics;

/// A function.
pub type Map = Open<Value, Value>;

/// A function that is additive in its second argument.
pub type LinearMap = Rc<dyn Fn(&Value, &Value) -> Value>;

impl Model for Semantics {
    type Hom = Map;
    type LHom = LinearMap;

    fn id(_: &Ty) -> Map {
        open(Value::clone)
    }
    fn then(f: &Map, g: &Map) -> Map {
        after(f, g)
    }
    fn bang(_: &Ty) -> Map {
        open(|_| Value::Unit)
    }
    fn pair(f: &Map, g: &Map) -> Map {
        zip(f, g, Value::pair)
    }
    fn fst(f: &Map) -> Map {
        map(f, |both| both.fst())
    }
    fn snd(f: &Map) -> Map {
        map(f, |both| both.snd())
    }
    fn apply(f: &Map, x: &Map) -> Map {
        zip(f, x, |f, x| f.apply(&x))
    }
    fn curry(_: &str, _: &Ty, _: &Ty, f: &Map) -> Map {
        let f = f.clone();
        Rc::new(move |x| {
            let (f, x) = (f.clone(), x.clone());
            Value::fun(move |y| f(&Value::pair(x.clone(), y.clone())))
        })
    }
    fn op(op: &Op, f: &Map) -> Map {
        let op = op.clone();
        map(f, move |x| eval_op(&op, &x))
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
    fn lcurry(_: &str, _: &Ty, _: &Ty, f: &LinearMap) -> LinearMap {
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
    fn lcur_inv(_: &str, _: [&Ty; 2], [_, t]: [&LTy; 2], f: &LinearMap) -> LinearMap {
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
        evaluated(&Ty::dom(&op.dom()), &Syntax::forward_op(op))
    }
    fn reverse_op(op: &Op) -> LinearMap {
        evaluated(&Ty::dom(&op.dom()), &Syntax::reverse_op(op))
    }
    fn primal_prim(p: Primitive, Ob(a, _): &Ob) -> Map {
        let x = Var::fresh("x", a.clone());
        let t: Term = linear::primal_prim(p, &linear::var(&x));
        open(move |at: &Value| linear::eval(&t, &Env::default().with(&x, at.clone())))
    }
    fn forward_prim(p: Primitive, from: &Ob) -> LinearMap {
        evaluated(&from.0, &Syntax::forward_prim(p, from))
    }
    fn reverse_prim(p: Primitive, from: &Ob) -> LinearMap {
        evaluated(&from.0, &Syntax::reverse_prim(p, from))
    }
}

/// The meaning of a linear term over `x : A`.
fn evaluated(a: &Ty, f: &Open<Term, Lin>) -> LinearMap {
    let x = Var::fresh("x", a.clone());
    let l = f(&linear::var(&x));
    Rc::new(move |at, v| linear::eval_linear(&l, &Env::default().with(&x, at.clone()), v))
}
