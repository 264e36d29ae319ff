//! Beyond the paper (FW-2): variants, with cotangents indexed by the tag.
//!
//! In `Σ_C L` with dependent second components, the object `Σ_k (A_k, B_k)` has primals `in_k a` and, *over* `in_k a`, the tangents or
//! cotangents `B_k` of `a` alone: a tag has none. Then injections, distribution over a context, and the choice of a branch all have the
//! identity as second component, and nothing is padded with the zeros of the branches that were not taken.

use std::rc::Rc;

use crate::combinators::Comb;
use crate::pairs::{Forward, Reverse, Semantics, interpret};
use crate::value::Value;

/// A program with variants: combinators, and the structure of coproducts.
#[derive(Clone, Debug)]
pub enum Sum {
    /// A program without them.
    Plain(Comb),
    /// `t; s`
    Then(Rc<Sum>, Rc<Sum>),
    /// `<t, s>`, out of one context
    Pair(Rc<Sum>, Rc<Sum>),
    /// `in_k : A_k -> Σ_k A_k`
    Inject(usize),
    /// `C * Σ_k A_k -> Σ_k (C * A_k)`
    Distribute,
    /// `[t_1, .., t_n] : Σ_k A_k -> B`
    Case(Vec<Sum>),
    /// `sign : real -> 1 + 1`: smooth but at 0, where it chooses the second.
    Sign,
}

/// A primal of a variant: the tag, and what it holds.
fn tagged(tag: usize, value: Value) -> Value {
    Value::pair(Value::real([tag as f64]), value)
}

fn tag(value: &Value) -> usize {
    value.fst().numbers()[0] as usize
}

/// A value with its derivative at the point, as a linear function of a tangent or of a cotangent.
pub type Derived = (Value, Rc<dyn Fn(&Value) -> Value>);

fn identity() -> Rc<dyn Fn(&Value) -> Value> {
    Rc::new(Value::clone)
}

/// The meaning.
pub fn eval(t: &Sum, x: &Value) -> Value {
    match t {
        Sum::Plain(t) => crate::combinators::eval(t, x),
        Sum::Then(t, s) => eval(s, &eval(t, x)),
        Sum::Pair(t, s) => Value::pair(eval(t, x), eval(s, x)),
        Sum::Inject(k) => tagged(*k, x.clone()),
        Sum::Distribute => tagged(tag(&x.snd()), Value::pair(x.fst(), x.snd().snd())),
        Sum::Case(arms) => eval(&arms[tag(x)], &x.snd()),
        Sum::Sign => tagged(usize::from(x.numbers()[0] >= 0.0), Value::Unit),
    }
}

/// Forward: the value, and the pushforward.
pub fn forward(t: &Sum, x: &Value) -> Derived {
    match t {
        Sum::Plain(t) => {
            let f = interpret::<Semantics, Forward<Semantics>>(t);
            let (at, second) = (x.clone(), f.second);
            ((f.first)(x), Rc::new(move |v| second(&at, v)))
        }
        Sum::Then(t, s) => {
            let (y, f) = forward(t, x);
            let (z, g) = forward(s, &y);
            (z, Rc::new(move |v| g(&f(v))))
        }
        Sum::Pair(t, s) => {
            let ((a, f), (b, g)) = (forward(t, x), forward(s, x));
            (Value::pair(a, b), Rc::new(move |v| Value::pair(f(v), g(v))))
        }
        Sum::Inject(_) | Sum::Distribute => (eval(t, x), identity()),
        Sum::Case(arms) => forward(&arms[tag(x)], &x.snd()),
        Sum::Sign => (eval(t, x), Rc::new(|_| Value::Unit)),
    }
}

/// Reverse: the value, and the pullback.
pub fn reverse(t: &Sum, x: &Value) -> Derived {
    match t {
        Sum::Plain(t) => {
            let f = interpret::<Semantics, Reverse<Semantics>>(t);
            let (at, second) = (x.clone(), f.second);
            ((f.first)(x), Rc::new(move |w| second(&at, w)))
        }
        Sum::Then(t, s) => {
            let (y, f) = reverse(t, x);
            let (z, g) = reverse(s, &y);
            (z, Rc::new(move |w| f(&g(w))))
        }
        Sum::Pair(t, s) => {
            let ((a, f), (b, g)) = (reverse(t, x), reverse(s, x));
            (Value::pair(a, b), Rc::new(move |w| f(&w.fst()).plus(&g(&w.snd()))))
        }
        Sum::Inject(_) | Sum::Distribute => (eval(t, x), identity()),
        Sum::Case(arms) => reverse(&arms[tag(x)], &x.snd()),
        Sum::Sign => (eval(t, x), Rc::new(|_| Value::real([0.0]))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::combinators::{fst, id, op, snd, then};
    use crate::generate::Generator;
    use crate::op::Op;
    use crate::source::{REAL, Ty};
    use lambada_prim::Prim;

    fn seq(t: Sum, s: Sum) -> Sum {
        Sum::Then(Rc::new(t), Rc::new(s))
    }

    /// `case sign (c x) of l -> f x | r -> g x`
    fn choice(c: Comb, f: Comb, g: Comb) -> Sum {
        let from = c.from().clone();
        let arm = |t: Comb| Sum::Plain(then(fst(from.clone(), Ty::Unit), t));
        let scrutinee = Sum::Pair(Rc::new(Sum::Plain(id(from.clone()))), Rc::new(seq(Sum::Plain(c), Sum::Sign)));
        seq(seq(scrutinee, Sum::Distribute), Sum::Case(vec![arm(f), arm(g)]))
    }

    fn check(t: &Sum, x: &Value, v: &Value, w: &Value) {
        let h = 1e-5;
        let moved = |h: f64| Value::real(x.numbers().iter().zip(v.numbers().iter()).map(|(x, v)| x + h * v).collect::<Vec<_>>());
        let (a, b) = (eval(t, &moved(h)).flatten().unwrap(), eval(t, &moved(-h)).flatten().unwrap());
        let ((first, push), (again, pull)) = (forward(t, x), reverse(t, x));
        assert_eq!((first.flatten(), again.flatten()), (eval(t, x).flatten(), eval(t, x).flatten()));
        let pushed = push(v).flatten().unwrap();
        for (p, s) in pushed.iter().zip(a.iter().zip(&b).map(|(a, b)| (a - b) / (2.0 * h))) {
            assert!((p - s).abs() < 1e-5 * (1.0 + s.abs()), "{p} and {s}");
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let (left, right) = (dot(&pushed, &w.flatten().unwrap()), dot(&pull(w).numbers(), &v.numbers()));
        assert!((left - right).abs() < 1e-9 * (1.0 + left.abs()));
    }

    /// `abs x = case sign x of l -> -x | r -> x`
    #[test]
    fn absolute_value() {
        let abs = choice(id(REAL), op(Op::Each(Prim::Neg, 1)), id(REAL));
        for x in [-1.5, 0.25, 3.0] {
            check(&abs, &Value::real([x]), &Value::real([1.0]), &Value::real([2.0]));
            assert_eq!(reverse(&abs, &Value::real([x])).1(&Value::real([1.0])).numbers()[0], x.signum());
        }
    }

    /// Payloads carry derivatives through injections: `case (if c x < 0 then in_0 (f x) else in_1 (g x, x)) of a -> h a | (b, y) -> k b * ..`
    #[test]
    fn generated_branches() {
        for seed in 0..1000 {
            let mut g = Generator::new(seed);
            let from = Ty::Real(2);
            let (c, f, e) = (g.morphism(&from, &REAL), g.morphism(&from, &REAL), g.morphism(&from, &from));
            let (h, k) = (g.morphism(&REAL, &REAL), g.morphism(&from, &REAL));
            let (x, v, w) = (g.value(&from), g.value(&from), g.value(&REAL));
            if crate::combinators::eval(&c, &x).numbers()[0].abs() < 1e-3 {
                continue;
            }
            let make = |t: Comb, k: usize| {
                let second = Sum::Plain(then(fst(from.clone(), Ty::Unit), t));
                seq(second, Sum::Inject(k))
            };
            let scrutinee = Sum::Pair(Rc::new(Sum::Plain(id(from.clone()))), Rc::new(seq(Sum::Plain(c), Sum::Sign)));
            let chosen = seq(seq(scrutinee, Sum::Distribute), Sum::Case(vec![make(f, 0), make(e, 1)]));
            let context = Sum::Pair(Rc::new(Sum::Plain(id(from.clone()))), Rc::new(chosen));
            let second = |a: Ty, t: Comb| Sum::Plain(then(snd(from.clone(), a), t));
            let program = seq(seq(context, Sum::Distribute), Sum::Case(vec![second(REAL, h), second(from.clone(), k)]));
            check(&program, &x, &v, &w);
        }
    }
}
