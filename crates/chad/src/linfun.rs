//! The API of the applied target language, A-30 … A-41: two abstract types, whose representations
//! no other module sees.
//!
//! `LFun(T, S)` is a function under the hood, but only the operations of this file make one, so
//! every one is linear. `Tens(T, S)` is a list of pairs under the hood, but only `lcur^-1` takes
//! one apart, and it adds up the entries: so neither the order of the entries can be observed, nor
//! whether `(t, s) + (t, s')` has been merged to `(t, s + s')`, nor (erratum E16) an entry
//! `(t, 0)`.

use std::rc::Rc;

use crate::applied::{Abstract, Ty};
use crate::op::LOp;
use crate::primitives::{Denotation, Evaluator, LPrim};
use crate::value::{Value, eval_lop};

/// A value of type `LFun(T, S)`: a homomorphism of monoids.
#[derive(Clone)]
pub struct LinFun(Rc<dyn Fn(&Value) -> Value>);

/// A value of type `Tens(T, S)`: a formal sum of pairs.
#[derive(Clone)]
pub struct Copower(Rc<Vec<(Value, Value)>>);

/// `0_T`, at every type.
pub fn zero(ty: &Ty) -> Value {
    match ty {
        Ty::Real(n) => Value::real(vec![0.0; *n]),
        Ty::Unit => Value::Unit,
        Ty::Prod(a, b) => Value::pair(zero(a), zero(b)),
        Ty::Fun(_, to) => {
            let to = to.clone();
            Value::fun(move |_| zero(&to))
        }
        Ty::Own(Abstract::LFun(_, to)) => {
            let to = to.clone();
            Value::LinFun(LinFun::new(move |_| zero(&to)))
        }
        Ty::Own(Abstract::Tens(..)) => Value::Copower(Copower(Rc::new(vec![]))),
    }
}

impl LinFun {
    fn new(f: impl Fn(&Value) -> Value + 'static) -> LinFun {
        LinFun(Rc::new(f))
    }

    /// `t + s = \x. t x + s x`
    pub fn plus(&self, other: &LinFun) -> LinFun {
        let (f, g) = (self.clone(), other.clone());
        LinFun::new(move |x| f.lapp(x).plus(&g.lapp(x)))
    }

    /// `lid = \x. x`
    pub fn lid() -> LinFun {
        LinFun::new(Value::clone)
    }

    /// `t;;s = \x. s (t x)`. Erratum E1: the paper's semantics applies `t` twice and never
    /// `s`.
    pub fn then(&self, next: &LinFun) -> LinFun {
        let (f, g) = (self.clone(), next.clone());
        LinFun::new(move |x| g.lapp(&f.lapp(x)))
    }

    /// `lapp(t, s) = t s`. Erratum E2: the environment is the argument of both,
    /// `⟦t⟧(v)(⟦s⟧(v))`.
    pub fn lapp(&self, x: &Value) -> Value {
        (self.0)(x)
    }

    /// `lswap t = \x. \y. t y x`, for `t : T -> LFun(S, R)`.
    pub fn lswap(t: &Value) -> LinFun {
        let t = t.clone();
        LinFun::new(move |x| {
            let (t, x) = (t.clone(), x.clone());
            Value::fun(move |y| t.apply(y).linear().lapp(&x))
        })
    }

    /// `leval_t = \f. f t`
    pub fn leval(t: &Value) -> LinFun {
        let t = t.clone();
        LinFun::new(move |f| f.apply(&t))
    }

    /// `{(t,-)} = \x. [(t, x)]`
    pub fn singleton(t: &Value) -> LinFun {
        let t = t.clone();
        LinFun::new(move |x| Value::Copower(Copower(Rc::new(vec![(t.clone(), x.clone())]))))
    }

    /// `lcur^-1 t = \z. fold (t (fst x) (snd x) + acc) over x in z from 0`, for
    /// `t : T -> LFun(S, R)`; `to` is `R`. Erratum E3: the sum has indices, `Σ_i ⟦t⟧(x_i)(y_i)`.
    pub fn lcur_inv(t: &Value, to: &Ty) -> LinFun {
        let (t, to) = (t.clone(), to.clone());
        LinFun::new(move |z| {
            z.copower()
                .0
                .iter()
                .fold(zero(&to), |acc, (x, y)| t.apply(x).linear().lapp(y).plus(&acc))
        })
    }

    /// `lfst = \x. fst x`
    pub fn lfst() -> LinFun {
        LinFun::new(Value::fst)
    }

    /// `lsnd = \x. snd x`
    pub fn lsnd() -> LinFun {
        LinFun::new(Value::snd)
    }

    /// `lpair(t, s) = \x. <t x, s x>`
    pub fn lpair(&self, other: &LinFun) -> LinFun {
        let (f, g) = (self.clone(), other.clone());
        LinFun::new(move |x| Value::pair(f.lapp(x), g.lapp(x)))
    }

    /// `lop(t)`: a linear operation at its Cartesian argument.
    pub fn lop(lop: LOp, t: &Value) -> LinFun {
        let t = t.clone();
        LinFun::new(move |x| eval_lop(lop, &t, x))
    }

    /// `lprim(t)`: a linear primitive at its Cartesian argument.
    pub fn lprim(lprim: LPrim, t: &Value) -> LinFun {
        let t = t.clone();
        LinFun::new(move |x| lprim.eval::<Module>(&t, x))
    }
}

/// The inside of the module, where primitives work (Appendix F): linear functions are plain
/// functions, copowers are lists of pairs.
struct Module;

impl Evaluator for Module {
    type Value = Value;

    fn components(pair: &Value) -> (Value, Value) {
        Denotation::components(pair)
    }
    fn vectors(t: &Value, k: usize) -> Vec<Rc<[f64]>> {
        Denotation::vectors(t, k)
    }
    fn tuple(vectors: &[Rc<[f64]>]) -> Value {
        Denotation::tuple(vectors)
    }
    fn call(f: &Value, x: &Value) -> Value {
        Denotation::call(f, x)
    }
    fn linear(f: &Value, v: &Value) -> Value {
        f.linear().lapp(v)
    }
    fn formal_sum(_: usize, entries: Vec<(Value, Value)>) -> Value {
        Value::Copower(Copower(Rc::new(entries)))
    }
}

impl Copower {
    /// `+` appends.
    pub fn plus(&self, other: &Copower) -> Copower {
        Copower(Rc::new(other.0.iter().chain(self.0.iter()).cloned().collect()))
    }
}

impl Value {
    /// The linear function that it is.
    pub fn linear(&self) -> &LinFun {
        match self {
            Value::LinFun(f) => f,
            other => panic!("{other:?} is not a linear function"),
        }
    }

    fn copower(&self) -> &Copower {
        match self {
            Value::Copower(sum) => sum,
            other => panic!("{other:?} is not a copower"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: Ty = Ty::Real(1);

    fn real(x: f64) -> Value {
        Value::real([x])
    }

    fn both(a: f64, b: f64) -> Value {
        Value::pair(real(a), real(b))
    }

    fn times(x: f64) -> LinFun {
        LinFun::lop(LOp::Mul(1), &real(x))
    }

    /// `\y. lmul(y)`
    fn keyed() -> Value {
        Value::fun(|y| Value::LinFun(LinFun::lop(LOp::Mul(1), y)))
    }

    #[track_caller]
    fn is(value: Value, expect: &[f64]) {
        assert_eq!(value.flatten().unwrap(), expect);
    }

    /// The content of a copower, as far as `lcur^-1` can observe: the sum of keys times values.
    fn weight(copower: &Value) -> Value {
        LinFun::lcur_inv(&keyed(), &R).lapp(copower)
    }

    /// `0_1`, `0_{T*S}`, `0_{T->S} = \_. 0`, `0_{LFun} = \_. 0`, `0_{Tens} = []`.
    #[test]
    fn zeros() {
        is(zero(&Ty::Real(2)), &[0.0, 0.0]);
        is(zero(&Ty::Unit), &[]);
        is(zero(&R.times(R)), &[0.0, 0.0]);
        is(zero(&R.to(R)).apply(&real(1.0)), &[0.0]);
        is(zero(&R.lfun(R)).linear().lapp(&real(1.0)), &[0.0]);
        is(weight(&zero(&R.tens(R))), &[0.0]);
    }

    /// `+` is pointwise; of copowers, it appends.
    #[test]
    fn sums() {
        is(both(1.0, 2.0).plus(&both(3.0, 4.0)), &[4.0, 6.0]);
        is(Value::fun(Value::clone).plus(&Value::fun(Value::clone)).apply(&real(3.0)), &[6.0]);
        is(times(2.0).plus(&times(3.0)).lapp(&real(5.0)), &[25.0]);
        let entry = |key, value| LinFun::singleton(&real(key)).lapp(&real(value));
        is(weight(&entry(2.0, 3.0).plus(&entry(5.0, 7.0))), &[41.0]);
    }

    /// `lid`, `t;;s` in this order, `lapp`.
    #[test]
    fn composition() {
        is(LinFun::lid().lapp(&real(3.0)), &[3.0]);
        let swap = LinFun::lop(LOp::Swap, &Value::Unit);
        let scale = LinFun::lop(LOp::Mul(2), &Value::real([10.0, 100.0]));
        is(swap.then(&scale).lapp(&Value::real([1.0, 2.0])), &[20.0, 100.0]);
        is(times(2.0).lapp(&real(4.0)), &[8.0]);
    }

    /// `lswap t = \x. \y. t y x` and `leval_t = \f. f t`.
    #[test]
    fn functions() {
        is(LinFun::lswap(&keyed()).lapp(&real(3.0)).apply(&real(5.0)), &[15.0]);
        is(LinFun::leval(&real(4.0)).lapp(&Value::fun(|x| x.plus(x))), &[8.0]);
    }

    /// `{(t,-)}` makes an entry.
    #[test]
    fn entries() {
        let one = LinFun::singleton(&real(2.0)).lapp(&real(3.0));
        assert_eq!(one.copower().0.len(), 1);
        is(weight(&one), &[6.0]);
    }

    /// `lcur^-1` folds over all entries, from `0`, whatever the result: vectors, pairs,
    /// functions, copowers; keys may occur again, and may be functions.
    #[test]
    fn folds() {
        let mut g = crate::generate::Generator::new(1);
        for count in [0, 1, 2, 3, 10] {
            let numbers: Vec<(f64, f64)> = (0..count)
                .map(|k| (if k == 2 { 0.5 } else { g.number() }, g.number()))
                .chain((count > 2).then_some((0.5, 2.0)))
                .collect();
            let sum = |key: &dyn Fn(f64) -> Value| {
                let entry = |(x, y): &(f64, f64)| LinFun::singleton(&key(*x)).lapp(&real(*y));
                numbers.iter().map(entry).fold(zero(&R.tens(R)), |all, one| all.plus(&one))
            };
            let expect: f64 = numbers.iter().map(|(x, y)| x * y).sum();
            let close = |found: Value, expect: &[f64]| {
                let found = found.flatten().unwrap();
                let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
                assert!(
                    found.len() == expect.len() && found.iter().zip(expect).all(near),
                    "{found:?} and {expect:?}"
                );
            };
            let fold = |to: &Ty, f: fn(&Value) -> LinFun| {
                let f = Value::fun(move |x| Value::LinFun(f(x)));
                LinFun::lcur_inv(&f, to).lapp(&sum(&real))
            };
            let mul = |x: &Value| LinFun::lop(LOp::Mul(1), x);
            close(fold(&R, mul), &[expect]);
            let plain: f64 = numbers.iter().map(|(_, y)| y).sum();
            let pairs = fold(&R.times(R), |x| LinFun::lop(LOp::Mul(1), x).lpair(&LinFun::lid()));
            close(pairs, &[expect, plain]);
            let functions = fold(&R.to(R), |x| {
                let x = x.clone();
                LinFun::lswap(&Value::fun(move |z| {
                    Value::LinFun(LinFun::lop(LOp::Mul(1), &x).then(&LinFun::lop(LOp::Mul(1), z)))
                }))
            });
            close(functions.apply(&real(3.0)), &[3.0 * expect]);
            close(weight(&fold(&R.tens(R), LinFun::singleton)), &[expect]);
            let keys = sum(&|x| Value::fun(move |z| Value::real([x * z.numbers()[0]])));
            let at_two = Value::fun(|f| {
                Value::LinFun(LinFun::lop(LOp::Mul(1), &f.apply(&Value::real([2.0]))))
            });
            close(LinFun::lcur_inv(&at_two, &R).lapp(&keys), &[2.0 * expect]);
        }
    }

    /// `lfst`, `lsnd` and `lpair`.
    #[test]
    fn pairs() {
        is(LinFun::lfst().lapp(&both(1.0, 2.0)), &[1.0]);
        is(LinFun::lsnd().lapp(&both(1.0, 2.0)), &[2.0]);
        is(times(2.0).lpair(&times(3.0)).lapp(&real(5.0)), &[10.0, 15.0]);
    }
}
