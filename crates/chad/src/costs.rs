//! Erratum E26, measured: the cost of one gradient with the macros as printed, with sharing, and
//! with closures converted.
//!
//! The unit is one evaluated operation; the transposed derivative of an operation counts as one
//! too.

use lambada_prim::Prim;

use crate::applied::{self, Term, Var};
use crate::combinators::{self, Comb, of_term};
use crate::op::Op;
use crate::pairs::AppliedReverse;
use crate::pairs::{Reverse, Semantics, interpret};
use crate::shared::{self, Lets};
use crate::source::{self, REAL};
use crate::value::{Value, counting};
use crate::{closures, var::Env};

/// `x0 : real |- let x1 = x0 * x0 in .. let x(n-1) = .. in x(n-1) * x(n-1)`, the lets encoded
/// (S-9): n multiplications.
fn squares(n: usize) -> (source::Var, source::Term) {
    fn body(x: source::Term, n: usize) -> source::Term {
        let square = source::op_at(Op::Each(Prim::Mul, 1), &[x.clone(), x]);
        if n == 1 { square } else { source::let_("x", square, |y| body(y, n - 1)) }
    }
    let x = source::Var::fresh("x", REAL);
    (x.clone(), body(source::var(&x), n))
}

/// The operations of a gradient at 1. A transposed multiplication is two linear operations, a
/// transposed `sum` is one.
fn cost(linear_per_op: u64, run: impl FnOnce(&Value) -> (Value, Value)) -> u64 {
    let ((value, pulled), ops, lops) = counting(|| run(&Value::real([1.0])));
    assert!(value.numbers()[0].is_finite() && pulled.numbers()[0].is_finite());
    ops + lops / linear_per_op
}

/// The clauses as functions of the primal: `s_2[t_1]` runs `t_1` once more, wherever it is written.
fn literal(t: &Comb, linear_per_op: u64) -> u64 {
    let f = interpret::<Semantics, Reverse<Semantics>>(t);
    cost(linear_per_op, |x| ((f.first)(x), (f.second)(x, &Value::real([1.0]))))
}

/// The clauses as terms: `t_1` is copied to wherever it is substituted.
fn literal_term(t: &Comb) -> u64 {
    let x = Var::fresh("x", AppliedReverse::primal_ty(t.from()));
    let [first, second] = [
        AppliedReverse::primal(t, &applied::var(&x)),
        AppliedReverse::second(t, &applied::var(&x)),
    ];
    cost(2, |at| {
        let env = Env::default().with(&x, at.clone());
        (applied::eval(&first, &env), applied::eval(&second, &env).linear().lapp(at))
    })
}

/// The primal once.
fn shared(x: &source::Var, t: &source::Term, lets: Lets) -> u64 {
    let (y, t): (Var, Term) = shared::reverse(x, t, lets);
    cost(2, |at| {
        let both = applied::eval(&t, &Env::default().with(&y, at.clone()));
        (both.fst(), both.snd().linear().lapp(at))
    })
}

/// E26: for n nested `let`s, which are calls, the macros as printed cost about 4^(n/2): each clause
/// for `;` runs `t_1` again, and each call runs the body's pullback twice, for the argument and for
/// the context. Sharing cures the first, `let` as a construct or closure conversion both.
#[test]
fn nested_lets() {
    for (n, printed) in [(2, 7), (4, 37), (6, 157), (8, 637), (10, 2557), (12, 10237)] {
        let (x, t) = squares(n);
        assert_eq!(literal(&of_term(&x, &t), 2), printed, "{n}");
        assert_eq!(printed, 5 * (1 << (n - 1)) - 3, "{n}");
        assert_eq!(shared(&x, &t, Lets::Encoded), (2 << n) - 2, "{n}");
        assert_eq!(shared(&x, &t, Lets::Primitive), 2 * n as u64, "{n}");
        assert_eq!(cost(2, |at| closures::reverse(&x, &t, at, at)), 2 * n as u64, "{n}");
    }
}

/// E26: copying terms is worse than running functions repeatedly, because the copied terms contain
/// copies.
#[test]
fn nested_lets_as_terms() {
    for (n, printed) in [(2, 9), (4, 65), (6, 349), (8, 1725)] {
        let (x, t) = squares(n);
        assert_eq!(literal_term(&of_term(&x, &t)), printed, "{n}");
    }
}

/// E26: even without functions, `(t; s)_2 = s_2[t_1]; ..` runs `t_1` once for every `;` that it
/// stands to the left of.
#[test]
fn chains() {
    let link = || combinators::op(Op::Sum(1));
    let links = || std::iter::repeat_with(link).take(32);
    let left = links().reduce(combinators::then).unwrap();
    let right = links().reduce(|chain, link| combinators::then(link, chain)).unwrap();
    assert_eq!((literal(&left, 1), literal(&right, 1)), (560, 95));
}

/// E26: the primal of n squarings, one after the other, has a term that doubles with each, if `t_1`
/// is substituted.
#[test]
fn sizes() {
    let square = combinators::then(
        combinators::pair(combinators::id(REAL), combinators::id(REAL)),
        combinators::op(Op::Each(Prim::Mul, 1)),
    );
    for n in 1..12 {
        let power = std::iter::repeat_n(square.clone(), n).reduce(combinators::then).unwrap();
        let x = Var::fresh("x", applied::Ty::Real(1));
        let term = AppliedReverse::primal(&power, &applied::var(&x)).to_string();
        let (variables, products) = (term.matches('x').count(), term.matches('*').count());
        assert_eq!(variables + products, (2 << n) - 1, "{term}");
    }
}

/// P-1, E26: closure-converted, the pullback of each call of a primitive's function runs once: in a
/// `map` below a `map`, an operation is evaluated as often as in the program, and its transposed
/// derivative as often as that.
#[test]
fn nested_maps() {
    for n in [2, 4, 8] {
        let v = source::Var::fresh("v", source::Ty::Real(n));
        let total = |body: &dyn Fn(source::Term) -> source::Term| {
            let f = source::lam("x", REAL, body);
            source::op(Op::Sum(n), source::map(f, &[source::var(&v)]))
        };
        let t = total(&|a| total(&|b| source::op_at(Op::Each(Prim::Mul, 1), &[a.clone(), b])));
        let at = Value::real(vec![1.0; n]);
        let ((_, pulled), ops, lops) =
            counting(|| closures::reverse(&v, &t, &at, &Value::real([1.0])));
        assert_eq!(pulled.numbers().to_vec(), vec![2.0 * n as f64; n]);
        let (products, sums) = ((n * n) as u64, n as u64 + 1);
        assert_eq!((ops, lops), (products + sums, 2 * products + sums));
    }
}
