//! The errata of the paper that concern code: each test fails with the printed version.
//!
//! E13 and E14 are what T-6 tests, E15 is the typing of every `Λ(t)_1` there, E17 and E25 are about proofs, E26 is `shared`'s test.

use crate::applied::{self as a, Ty};
use crate::linear::{self as l, LTy};
use crate::op::{LOp, Op, Slope, slopes};
use crate::operational::{observe, run};
use crate::source::{self, REAL};
use crate::value::{Value, counting};
use crate::var::{Env, Var};

const R: Ty = Ty::Real(1);

fn lsum() -> a::Term {
    a::lop(LOp::Sum(2), a::unit())
}

fn lreplicate() -> a::Term {
    a::lop(LOp::Replicate(2), a::unit())
}

/// A closed term by its denotation and by the big-step rules.
#[track_caller]
fn both(t: &a::Term, expect: &[f64]) {
    a::check(&[], t).unwrap();
    assert_eq!(a::eval(t, &Env::default()).flatten().unwrap(), expect);
    assert_eq!(observe(t).unwrap(), expect);
}

/// `⟦t;;s⟧` applies `t`, then `s`; printed is `t` twice.
#[test]
fn e1_composition() {
    both(&a::lapp(a::lthen(lsum(), lreplicate()), a::constant([1.0, 2.0])), &[3.0, 3.0]);
}

/// `⟦lapp(t, s)⟧`: the environment goes to both; printed is `⟦t⟧(v, ⟦s⟧(v))`.
#[test]
fn e2_application() {
    let square = a::lam("x", R, |x| a::lapp(a::lop(LOp::Mul(1), x.clone()), x));
    both(&a::app(square, a::constant([3.0])), &[9.0]);
}

/// `⟦lcur^-1 t⟧` is a sum over entries, each at its own key.
#[test]
fn e3_indices() {
    let entry = |k: f64, x: f64| a::lapp(a::singleton(a::constant([k]), R), a::constant([x]));
    let times = a::lcur_inv(a::lam("y", R, |y| a::lop(LOp::Mul(1), y)));
    both(&a::lapp(times, a::plus(entry(2.0, 5.0), entry(3.0, 7.0))), &[31.0]);
}

/// `⟦t{s}⟧` applies `s` first.
#[test]
fn e4_linear_application() {
    let replicate = l::linlam(l::lop(LOp::Replicate(2), l::unit(), l::v(LTy::Real(1))));
    let t = l::linapp(replicate, l::lop(LOp::Sum(2), l::unit(), l::v(LTy::Real(2))));
    let result = l::eval_linear(&t, &Env::default(), &Value::real([1.0, 2.0]));
    assert_eq!(result.flatten().unwrap(), [3.0, 3.0]);
}

/// `⟦0⟧ : σ -> τ` forgets its argument.
#[test]
fn e5_zero() {
    let zero = l::zero_lin(LTy::Real(2), LTy::Real(1));
    assert_eq!(l::eval_linear(&zero, &Env::default(), &Value::real([1.0, 2.0])).flatten().unwrap(), [0.0]);
}

/// `lop` ends in `real^m`, from a product of linear vectors.
#[test]
fn e7_linear_operations() {
    let outer = l::lop(LOp::Outer(2, 3), l::op(Op::constant([1.0, 2.0, 3.0]), l::unit()), l::v(LTy::Real(2)));
    l::check_linear(&[], &outer).unwrap();
    assert_eq!((outer.from(), outer.to()), (&LTy::Real(2), &LTy::Real(6)));
}

/// `case` and the linear products and functions are terms.
#[test]
fn e8_grammar() {
    let y = Var::fresh("y", l::Ty::Real(1));
    let v = l::v(LTy::Real(1).tensor(l::Ty::Real(1)));
    let w = l::v(LTy::Real(1));
    let body = l::lapp(l::labs(y.clone(), l::lfst(l::lpair(w.clone(), w))), l::var(&y));
    l::check_linear(&[], &l::case(v, y, body)).unwrap();
}

/// `!T (x) σ` is a free *commutative* monoid.
#[test]
fn e9_commutative() {
    let entry = |k: f64| l::tensor(l::op(Op::constant([k]), l::unit()), l::v(LTy::Real(1)));
    let [one, two] = [l::plus(entry(1.0), entry(2.0)), l::plus(entry(2.0), entry(1.0))];
    assert_eq!(l::normalize_linear(&one), l::normalize_linear(&two));
}

/// `D←(real^n)_2 = real^n`
#[test]
fn e11_types() {
    assert_eq!(crate::reverse::cotangent_ty(&source::Ty::Real(3)), LTy::Real(3));
}

/// `(*) : real^2 -> real`, with `D(*)(x)(y) = swap(x) • y` and `D(*)^t(x)(y) = y · swap(x)`.
#[test]
fn e12_product() {
    assert_eq!((Op::Product.dom(), Op::Product.cod()), (vec![2], 1));
    let slope = slopes(&Op::Product, &[Value::real([3.0, 5.0]).numbers()], &mut |op, args| op.eval(args)).remove(0);
    let Slope::By(LOp::Inner(2), Some(at)) = slope else { panic!("{slope:?}") };
    assert_eq!(at.to_vec(), [5.0, 3.0]);
    assert_eq!(LOp::Inner(2).transposed().eval(&[at], &[[2.0].into()]).to_vec(), [10.0, 6.0]);
}

/// An entry `!t (x) 0` is 0.
#[test]
fn e16_zero_entries() {
    let v = LTy::Real(1);
    let entry = l::tensor(l::op(Op::constant([1.0]), l::unit()), l::zero_lin(v.clone(), v.clone()));
    assert_eq!(l::normalize_linear(&entry), l::zero_lin(v, entry.to().clone()));
}

/// The reverse derivative of `map` gives a copower and a vector.
#[test]
fn e18_map() {
    let map = crate::primitives::Primitive::Map { arity: 1, n: 2 };
    let x = Var::fresh("x", crate::reverse::primal_ty(&map.from()));
    let f = Value::fun(|x| Value::pair(x.clone(), Value::fun(|v| Value::real([3.0 * v.numbers()[0]]))));
    let env = Env::default().with(&x, Value::pair(f, Value::real([1.0, 2.0])));
    let pulled = l::eval_linear(&l::reverse_prim(map, &l::var(&x), &l::v(LTy::Real(2))), &env, &Value::real([1.0, 1.0]));
    assert_eq!(pulled.snd().numbers().to_vec(), [3.0, 3.0]);
    assert!(matches!(pulled.fst(), Value::Sum(entries) if entries.len() == 2));
}

/// `lapp(lpair(t, s), r)` applies both to `r`.
#[test]
fn e19_lpair() {
    both(&a::lapp(a::lpair(lsum(), a::lid(Ty::Real(2))), a::constant([1.0, 2.0])), &[3.0, 1.0, 2.0]);
}

/// `0 : real^n` has a normal form.
#[test]
fn e20_zero_vector() {
    both(&a::zero(Ty::Real(2)), &[0.0, 0.0]);
    assert_eq!(run(&a::zero(Ty::Real(2))), a::constant([0.0, 0.0]));
}

/// The arguments of an operation are a pair, whose components are no normal forms.
#[test]
fn e21_operations() {
    let add = |x, y| a::op(Op::Each(lambada_prim::Prim::Add, 1), a::pair(x, y));
    let three = add(a::constant([1.0]), a::constant([2.0]));
    both(&add(three.clone(), three.clone()), &[6.0]);
    both(&a::lapp(a::lop(LOp::Mul(1), three.clone()), three), &[9.0]);
}

/// `lapp(lfst, <t1, t2>)` runs `t1`.
#[test]
fn e22_projections() {
    let pair = a::pair(a::plus(a::constant([1.0]), a::constant([2.0])), a::unit());
    both(&a::lapp(a::lfst(R, Ty::Unit), pair), &[3.0]);
}

/// Call by name: an argument that is not used is not run.
#[test]
fn e23_call_by_name() {
    let costly = a::op(Op::Sigmoid, a::constant([0.0]));
    let t = a::app(a::lam("x", R, |_| a::zero(R)), costly);
    let (result, ops, _) = counting(|| observe(&t).unwrap());
    assert_eq!((result, ops), (vec![0.0], 0));
}

/// `lcur^-1` takes `0` to the zero of another type, and a function that is a sum only after running is applied.
#[test]
fn e24_zeros_and_heads() {
    let to_pairs = a::lcur_inv(a::lam("y", R, |_| a::lpair(a::lid(R), a::lid(R))));
    both(&a::lapp(to_pairs, a::zero(R.tens(R))), &[0.0, 0.0]);
    let sum = a::plus(a::lam("x", R, |x| x), a::zero(R.to(R)));
    let head = a::fst(a::pair(sum, a::unit()));
    both(&a::app(head, a::constant([4.0])), &[4.0]);
}

/// The target is not differentiated: nothing of it is a source term, and the table has no slope for what only derivatives use.
#[test]
#[should_panic(expected = "E27")]
fn e27_targets() {
    let x = Value::real([1.0]).numbers();
    slopes(&Op::Partial(lambada_prim::Prim::Abs, 0, 1), &[x], &mut |op, args| op.eval(args));
}

/// The worked derivative of §6: `D(*)(x;y) = fst x * snd y + snd x * fst y` and `D(*)^t(x;y) = <snd x * y, fst x * y>`.
#[test]
fn worked_derivative() {
    let (x, mul) = (Var::fresh("x", l::Ty::Real(1).times(l::Ty::Real(1))), Op::Each(lambada_prim::Prim::Mul, 1));
    let forward = l::forward_op(&mul, &l::var(&x), &l::v(LTy::Real(1).times(LTy::Real(1))));
    assert_eq!(forward.to_string(), "lmul(snd x; fst v) + lmul(fst x; snd v)");
    assert_eq!(l::reverse_op(&mul, &l::var(&x), &l::v(LTy::Real(1))).to_string(), "<lmul(snd x; v), lmul(fst x; v)>");
}

/// The example of §1: the derivatives of `op2(op1(x))` compose in the same order forward, in the opposite order in reverse.
#[test]
fn order_is_reversed() {
    let x = source::Var::fresh("x", REAL);
    let sin = source::op(Op::Each(lambada_prim::Prim::Sin, 1), source::var(&x));
    let t = source::op(Op::Each(lambada_prim::Prim::Exp, 1), sin);
    let comb = crate::combinators::of_term(&x, &t);
    let (y, v) = (Var::fresh("x", l::Ty::Real(1)), l::v(LTy::Real(1)));
    let forward = crate::forward::tangent(&comb, &l::var(&y), &v).to_string();
    let reverse = crate::reverse::cotangent(&comb, &l::var(&y), &v).to_string();
    assert_eq!(forward, "lmul(exp(sin(x)); lmul(cos(x); v))");
    assert_eq!(reverse, "lmul(cos(x); lmul(exp(sin(x)); v))");
}
