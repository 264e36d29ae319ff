//! The errata of the paper. Where one concerns code, a test implements the printed version and
//! asserts that it is wrong, by its types or by its results; then that the code is right. If
//! possible, one predicate judges both.
//!
//! Where each is tested, or why not:
//!
//! - E1 … E5, E7 … E9, E11, E12: here.
//! - E6: an isomorphism in the definition of a model: text only; `pairs::Model::lcurry` has the
//!   right objects, `L(A * B)`.
//! - E10: diffeologies, which are not code: a value is a Rust function, and smoothness is the
//!   table's affair.
//! - E13, E14: beside T-6 (`theorems::logical_relations`): its relations as printed would accept
//!   wrong derivatives.
//! - E15, E16: here.
//! - E17: typos in proofs; the statements proved are T-4 and T-6 for Appendix C, which are tested.
//! - E18 … E24: here.
//! - E25: the statement of a lemma and a theorem: `⟦t⟧ = ⟦⇓t⟧` and adequacy are T-7's tests
//!   (`theorems::adequacy`).
//! - E26: here, that the literal macro is exponential; `shared`'s tests count operations.
//! - E27: here: the table has no derivatives of operations that only derivatives use.

use crate::applied::{self as a, Ty};
use crate::linear::{self as l, LTy, LinKind};
use crate::linfun::LinFun;
use crate::op::{LOp, Op, Slope, slopes};
use crate::operational::{observe, run};
use crate::source::{self, REAL};
use crate::value::{Value, counting};
use crate::var::{Env, Var};
use lambada_prim::Prim;

const R: Ty = Ty::Real(1);

fn lsum() -> a::Term {
    a::lop(LOp::Sum(2), a::unit())
}

fn lreplicate() -> a::Term {
    a::lop(LOp::Replicate(2), a::unit())
}

fn meaning(t: &a::Term) -> Value {
    a::eval(t, &Env::default())
}

/// A closed term by its denotation and by the big-step rules.
#[track_caller]
fn both(t: &a::Term, expect: &[f64]) {
    a::check(&[], t).unwrap();
    assert_eq!(meaning(t).flatten().unwrap(), expect);
    assert_eq!(observe(t).unwrap(), expect);
}

/// E1: `⟦t;;s⟧` applies `t`, then `s`; printed is `t` twice.
#[test]
fn e1_composition() {
    fn printed(t: &LinFun, _: &LinFun, x: &Value) -> Value {
        t.lapp(&t.lapp(x))
    }
    let (t, s) = (a::lop(LOp::ScaleBy(2), a::constant([3.0])), a::lop(LOp::Swap, a::unit()));
    let wrong = printed(meaning(&t).linear(), meaning(&s).linear(), &Value::real([1.0, 2.0]));
    assert_eq!(wrong.flatten().unwrap(), [9.0, 18.0]);
    both(&a::lapp(a::lthen(t, s), a::constant([1.0, 2.0])), &[6.0, 3.0]);
    both(&a::lapp(a::lthen(lsum(), lreplicate()), a::constant([1.0, 2.0])), &[3.0, 3.0]);
}

/// E2: `⟦lapp(t, s)⟧`: the environment goes to both; printed is `⟦t⟧(v, ⟦s⟧(v))`, which is still a
/// function.
#[test]
fn e2_application() {
    fn printed(t: &a::Term, s: &a::Term, env: &Env<Value>) -> Value {
        a::eval(t, &env.with(&Var::fresh("s", s.ty().clone()), a::eval(s, env)))
    }
    let x = Var::fresh("x", R);
    let (t, s) = (a::lop(LOp::Mul(1), a::var(&x)), a::var(&x));
    assert!(matches!(
        printed(&t, &s, &Env::default().with(&x, Value::real([3.0]))),
        Value::LinFun(_)
    ));
    both(&a::app(a::abs(x, a::lapp(t, s)), a::constant([3.0])), &[9.0]);
}

/// Entries `!x (x) y` of a formal sum.
type Entries = [(f64, f64)];

/// The formal sum of the entries, and `\y. lpair(lmul(y), lid)` summed over it, in the applied
/// language.
fn applied_sum(entries: &Entries) -> a::Term {
    let entry =
        |(x, y): &(f64, f64)| a::lapp(a::singleton(a::constant([*x]), R), a::constant([*y]));
    let sum = entries.iter().map(entry).reduce(a::plus).unwrap_or_else(|| a::zero(R.tens(R)));
    let keyed = a::lam("y", R, |y| a::lpair(a::lop(LOp::Mul(1), y), a::lid(R)));
    a::lapp(a::lcur_inv(keyed), sum)
}

/// [`applied_sum`] in the linear language, at `v = 1`.
fn linear_sum(entries: &Entries) -> l::Lin {
    let (v, number) = (l::v(LTy::Real(1)), |x: f64| l::op(Op::constant([x]), l::unit()));
    let zero = l::zero_lin(LTy::Real(1), LTy::Real(1).tensor(l::Ty::Real(1)));
    let sum = entries.iter().fold(zero, |sum, (x, y)| {
        l::plus(sum, l::tensor(number(*x), l::lop(LOp::Mul(1), number(*y), v.clone())))
    });
    let y = Var::fresh("y", l::Ty::Real(1));
    let body = l::lpair(l::lop(LOp::Mul(1), l::var(&y), v.clone()), v);
    l::case(sum, y, body)
}

/// Whether the function gives `Σ_i <x_i * y_i, y_i>`, for no, one and several entries, with equal
/// and different keys.
fn sums_over_entries(of: &dyn Fn(&Entries) -> Vec<f64>) -> bool {
    (0..200).all(|seed| {
        let mut g = crate::generate::Generator::new(seed);
        let entries: Vec<(f64, f64)> = (0..seed % 6).map(|_| (g.number(), g.number())).collect();
        let weighted: f64 = entries.iter().map(|(x, y)| x * y).sum();
        let plain: f64 = entries.iter().map(|(_, y)| y).sum();
        let result = of(&entries);
        result.len() == 2 && (result[0] - weighted).abs() < 1e-9 && (result[1] - plain).abs() < 1e-9
    })
}

/// E3: `⟦lcur^-1 t⟧` is a sum over entries, each at its own key; printed is `⟦t⟧(v)(x)(y)` without
/// indices: the same key for each. Of all four implementations: both denotations, the big-step
/// rules, and the normalizer.
#[test]
fn e3_indices() {
    let one = Value::real([1.0]);
    let denoted = |entries: &Entries| meaning(&applied_sum(entries)).flatten().unwrap();
    let linear = |entries: &Entries| {
        l::eval_linear(&linear_sum(entries), &Env::default(), &one).flatten().unwrap()
    };
    let normalized = |entries: &Entries| {
        let normal = l::normalize_linear(&linear_sum(entries));
        l::eval_linear(&normal, &Env::default(), &one).flatten().unwrap()
    };
    let run = |entries: &Entries| observe(&applied_sum(entries)).unwrap();
    for of in [&denoted as &dyn Fn(&Entries) -> Vec<f64>, &linear, &normalized, &run] {
        let printed = |entries: &Entries| {
            let key = entries.first().map_or(0.0, |(x, _)| *x);
            of(&entries.iter().map(|(_, y)| (key, *y)).collect::<Vec<_>>())
        };
        assert!(sums_over_entries(of) && !sums_over_entries(&printed));
    }
}

/// E4: `⟦t{s}⟧` applies `s` first; printed is `Λ^-1⟦t⟧; ⟦s⟧`.
#[test]
fn e4_linear_application() {
    fn printed(t: &Value, s: &dyn Fn(&Value) -> Value, v: &Value) -> Value {
        s(&t.apply(v))
    }
    let two = l::v(LTy::Real(2));
    let t = l::linlam(l::lop(LOp::Swap, l::unit(), two.clone()));
    let s = l::lop(LOp::Mul(2), l::op(Op::constant([1.0, 2.0]), l::unit()), two);
    let (env, v) = (Env::default(), Value::real([1.0, 1.0]));
    let wrong = printed(&l::eval(&t, &env), &|v| l::eval_linear(&s, &Env::default(), v), &v);
    assert_eq!(wrong.flatten().unwrap(), [1.0, 2.0]);
    assert_eq!(l::eval_linear(&l::linapp(t, s), &env, &v).flatten().unwrap(), [2.0, 1.0]);
}

/// E5: `⟦0⟧ : σ -> τ` forgets its argument first; printed is `[]`, which starts at 1.
#[test]
fn e5_zero() {
    fn printed(to: LTy) -> l::Lin {
        l::zero_lin(LTy::Unit, to)
    }
    let zero = l::zero_lin(LTy::Real(2), LTy::Real(1));
    assert_ne!(printed(LTy::Real(1)).from(), zero.from());
    assert_eq!(l::normalize_linear(&printed(LTy::Real(1)).after(&l::lunit(LTy::Real(2)))), zero);
    assert_eq!(
        l::eval_linear(&zero, &Env::default(), &Value::real([1.0, 2.0])).flatten().unwrap(),
        [0.0]
    );
}

/// One of each linear operation.
const LINEAR_OPERATIONS: [LOp; 13] = [
    LOp::Mul(2),
    LOp::MatVec(2, 3),
    LOp::MatVecT(2, 3),
    LOp::Apply(2, 3),
    LOp::Outer(2, 3),
    LOp::Sum(3),
    LOp::Replicate(3),
    LOp::Index(3, 1),
    LOp::OneHot(3, 1),
    LOp::Swap,
    LOp::Inner(3),
    LOp::Scale(3),
    LOp::ScaleBy(3),
];

/// E7: `lop` ends in `real^m`, from a product of linear vectors; printed is `real^k`, for k
/// Cartesian arguments. Each operation's result has as many elements as its type says, in both
/// target languages; and its transpose goes back.
#[test]
fn e7_linear_operations() {
    fn printed(lop: LOp) -> usize {
        lop.dom().len()
    }
    fn elements(lop: LOp) -> usize {
        let zeros = |sizes: Vec<usize>| -> Vec<std::rc::Rc<[f64]>> {
            sizes.into_iter().map(|n| vec![0.0; n].into()).collect()
        };
        lop.eval(&zeros(lop.dom()), &zeros(lop.ldom())).len()
    }
    for lop in LINEAR_OPERATIONS {
        assert_eq!(lop.cod(), elements(lop), "{lop}");
        assert_eq!([lop.transposed().cod()], lop.ldom()[..], "{lop}");
        let at: Vec<Op> = lop.dom().iter().map(|n| Op::constant(vec![1.0; *n])).collect();
        let linear = |o: &Op| l::op(o.clone(), l::unit());
        let at_linear = l::tuple(&at.iter().map(linear).collect::<Vec<_>>());
        let applied_to = l::lop(lop, at_linear.clone(), l::v(LTy::dom(&lop.ldom())));
        l::check_linear(&[], &applied_to).unwrap();
        assert_eq!(applied_to.to(), &LTy::Real(elements(lop)), "{lop}");
        let applied = a::lop(lop, a::dagger(&at_linear, &Env::default()));
        a::check(&[], &applied).unwrap();
        assert_eq!(applied.ty(), &Ty::dom(&lop.ldom()).lfun(Ty::Real(elements(lop))), "{lop}");
    }
    let wrong: Vec<LOp> =
        LINEAR_OPERATIONS.into_iter().filter(|lop| printed(*lop) != elements(*lop)).collect();
    assert_eq!(wrong.len(), 12, "{wrong:?}");
}

/// Whether it is a linear term of the grammar as printed.
fn in_printed_grammar(l: &l::Lin) -> bool {
    match l.kind() {
        LinKind::Var | LinKind::Zero => true,
        LinKind::LOp(_, _, l)
        | LinKind::LPrim(_, _, l)
        | LinKind::Tensor(_, l)
        | LinKind::LinApp(_, l) => in_printed_grammar(l),
        LinKind::Plus(l, k) => in_printed_grammar(l) && in_printed_grammar(k),
        LinKind::Case(..)
        | LinKind::Unit
        | LinKind::Pair(..)
        | LinKind::Fst(_)
        | LinKind::Snd(_)
        | LinKind::Lam(..)
        | LinKind::App(..) => false,
    }
}

/// E8: `case` and the linear products and functions are terms; the printed grammar lacks them,
/// though the macros write them.
#[test]
fn e8_grammar() {
    use crate::combinators::{curry, fst, op};
    let y = Var::fresh("y", l::Ty::Real(1));
    let v = l::v(LTy::Real(1).tensor(l::Ty::Real(1)));
    let w = l::v(LTy::Real(1));
    let body = l::lapp(l::labs(y.clone(), l::lfst(l::lpair(w.clone(), w))), l::var(&y));
    l::check_linear(&[], &l::case(v, y, body)).unwrap();
    for comb in [fst(REAL, REAL), curry(op(Op::Scale(1)))] {
        let x = Var::fresh("x", crate::reverse::primal_ty(comb.from()));
        let pulled = crate::reverse::cotangent(
            &comb,
            &l::var(&x),
            &l::v(crate::reverse::cotangent_ty(comb.to())),
        );
        l::check_linear(&[x], &pulled).unwrap();
        assert!(!in_printed_grammar(&pulled), "{pulled}");
    }
}

/// E9: `!T (x) σ` is a free *commutative* monoid; printed is a free monoid, whose elements are
/// lists, so that L-28 would not hold.
#[test]
fn e9_commutative() {
    fn printed_equal(a: &Value, b: &Value) -> bool {
        let keys = |value: &Value| {
            let Value::Sum(entries) = value else { panic!("{value:?} is not a formal sum") };
            entries.iter().map(|(key, _)| key.numbers().to_vec()).collect::<Vec<_>>()
        };
        keys(a) == keys(b)
    }
    let entry = |k: f64| l::tensor(l::op(Op::constant([k]), l::unit()), l::v(LTy::Real(1)));
    let [one, two] = [l::plus(entry(1.0), entry(2.0)), l::plus(entry(2.0), entry(1.0))];
    let [a, b] = [&one, &two].map(|l| l::eval_linear(l, &Env::default(), &Value::real([1.0])));
    assert!(!printed_equal(&a, &b));
    assert_eq!(l::normalize_linear(&one), l::normalize_linear(&two));
}

/// E11: `D←(real^n)_2 = real^n`; printed is `D→(real^n)_2` a second time, so that `D←( )_2` has no
/// clause to end in. Tested for both: the ends of the second component that the macro makes of
/// generated morphisms, and the size of its value.
#[test]
fn e11_types() {
    fn printed(ty: &source::Ty) -> Option<LTy> {
        match ty {
            source::Ty::Real(_) => None,
            source::Ty::Unit => Some(LTy::Unit),
            source::Ty::Prod(t, s) => Some(printed(t)?.times(printed(s)?)),
            source::Ty::Fun(t, s) => Some(printed(s)?.tensor(crate::reverse::primal_ty(t))),
            source::Ty::Own(never) => match *never {},
        }
    }
    fn implemented(ty: &source::Ty) -> Option<LTy> {
        Some(crate::reverse::cotangent_ty(ty))
    }
    let (mut checked, mut undefined) = (0, 0);
    for seed in 0..400 {
        let mut g = crate::generate::Generator::new(seed);
        let (from, to) = (g.ty(2), g.ty(1));
        let t = g.morphism(&from, &to);
        if crate::literal::size(&t) > 3000.0 {
            continue;
        }
        checked += 1;
        let derived = crate::literal::Derived::reverse(&t);
        l::check_linear(std::slice::from_ref(&derived.x), &derived.second).unwrap();
        let ends = [derived.second.from(), derived.second.to()].map(Clone::clone);
        let said = |of: fn(&source::Ty) -> Option<LTy>| Some([of(&to)?, of(&from)?]);
        assert_eq!(said(implemented), Some(ends), "{t}");
        undefined += usize::from(said(printed).is_none());
        if from.first_order() && to.first_order() {
            let (at, w) = (g.value(&from), g.value(&to));
            let pulled = derived.second(&at, &w).flatten().unwrap();
            assert_eq!(pulled.len(), at.flatten().unwrap().len(), "{t}");
        }
    }
    assert!(checked > 300 && undefined > 300, "{checked} {undefined}");
}

/// E12: `(*) : real^2 -> real`, with `D(*)(x)(y) = swap(x) • y` and `D(*)^t(x)(y) = y · swap(x)`;
/// printed is `x : real^n`, for which `swap(x)` is not the derivative even if it is read as turning
/// the vector around.
#[test]
fn e12_product() {
    fn printed(x: &[f64], y: &[f64]) -> f64 {
        x.iter().rev().zip(y).map(|(x, y)| x * y).sum()
    }
    let product = |x: [f64; 3]| x.iter().product::<f64>();
    let slope = (product([2.0 + 1e-6, 3.0, 5.0]) - product([2.0 - 1e-6, 3.0, 5.0])) / 2e-6;
    assert!((slope - 15.0).abs() < 1e-6 && printed(&[2.0, 3.0, 5.0], &[1.0, 0.0, 0.0]) == 5.0);
    assert_eq!((Op::Product.dom(), Op::Product.cod()), (vec![2], 1));
    let slope =
        slopes(&Op::Product, &[Value::real([3.0, 5.0]).numbers()], &mut |op, args| op.eval(args))
            .remove(0);
    let Slope::By(LOp::Inner(2), Some(at)) = slope else { panic!("{slope:?}") };
    assert_eq!(at.to_vec(), [5.0, 3.0]);
    assert_eq!(LOp::Inner(2).transposed().eval(&[at], &[[2.0].into()]).to_vec(), [10.0, 6.0]);
}

/// E15: `Λ(t)_1` is over `x : D(T)_1`; printed is `x : D(T)`, both components, in both modes of
/// Appendix A and in the forward mode of Appendix C. Tested for each, on generated morphisms: at a
/// variable of this type, the macro makes a term of type `D(S -> R)_1`, whose function has the
/// values of the program's.
#[test]
fn e15_context() {
    use crate::combinators::{Comb, CombKind, curry, eval};
    use crate::pairs::AppliedForward;
    type Mode = (fn(&source::Ty) -> l::Ty, fn(&Comb, &l::Term) -> l::Term);
    let modes: [Mode; 2] = [
        (crate::forward::primal_ty, crate::forward::primal),
        (crate::reverse::primal_ty, crate::reverse::primal),
    ];
    /// Here the parts determine all types but that of `x`, so that only the checker can notice an
    /// ill-typed term.
    fn without_functions(t: &Comb) -> bool {
        !matches!(t.kind(), CombKind::Ev | CombKind::Curry(_) | CombKind::Prim(_))
            && t.children().into_iter().all(without_functions)
    }
    let (mut checked, mut wrong) = (0, 0);
    let (mut applied, mut applied_wrong) = (0, 0);
    for seed in 0..4000 {
        let mut g = crate::generate::Generator::new(seed);
        let contexts = [REAL, source::Ty::Real(2), REAL.times(source::Ty::Real(2))];
        let (context, argument, result) = (&contexts[seed as usize % 3], g.ty(0), g.ty(0));
        let t = g.morphism(&context.clone().times(argument.clone()), &result);
        if !without_functions(&t) {
            continue;
        }
        let [at, tangent, y] = [context, context, &argument].map(|ty| g.value(ty));
        let expect = eval(&t, &Value::pair(at.clone(), y.clone())).flatten();
        let t = curry(t);
        for (primal_ty, primal) in modes {
            let right = |ty: l::Ty, at: Value| {
                let x = Var::fresh("x", ty);
                let first = primal(&t, &l::var(&x));
                l::check(std::slice::from_ref(&x), &first).is_ok()
                    && *first.ty() == primal_ty(t.to())
                    && l::eval(&first, &Env::default().with(&x, at)).apply(&y).fst().flatten()
                        == expect
            };
            let ty = primal_ty(context);
            assert!(right(ty.clone(), at.clone()), "{t}");
            // At a first-order T, `D(T)_2` is the type of the same vectors as `D(T)_1`.
            let printed = ty.clone().times(ty);
            wrong += usize::from(!right(printed, Value::pair(at.clone(), tangent.clone())));
            checked += 1;
        }
        // The forward mode of Appendix C, whose terms are those of the applied language.
        let right = |ty: Ty, at: Value| {
            let x = Var::fresh("x", ty);
            let first = AppliedForward::primal(&t, &a::var(&x));
            let env = Env::default().with(&x, at);
            a::check(std::slice::from_ref(&x), &first).is_ok()
                && *first.ty() == AppliedForward::primal_ty(t.to())
                && a::eval(&first, &env).apply(&y).fst().flatten() == expect
        };
        let ty = AppliedForward::primal_ty(context);
        assert!(right(ty.clone(), at.clone()), "{t}");
        let printed = ty.clone().times(ty);
        applied_wrong += usize::from(!right(printed, Value::pair(at, tangent)));
        applied += 1;
    }
    // The remaining morphisms ignore their context.
    assert!(checked > 600 && wrong > checked / 3, "{wrong} of {checked}");
    assert!(applied > 300 && applied_wrong > applied / 3, "{applied_wrong} of {applied}");
}

/// E16: an entry `!t (x) 0` is 0; printed is only that entries with one key may be merged, so that
/// it would be an element of its own.
#[test]
fn e16_zero_entries() {
    fn printed(entries: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let mut merged: Vec<(f64, f64)> = vec![];
        for (key, value) in entries {
            match merged.iter_mut().find(|(k, _)| k == key) {
                Some((_, sum)) => *sum += value,
                None => merged.push((*key, *value)),
            }
        }
        merged
    }
    assert_ne!(printed(&[(1.0, 0.0)]), printed(&[]));
    let v = LTy::Real(1);
    let entry = l::tensor(l::op(Op::constant([1.0]), l::unit()), l::zero_lin(v.clone(), v.clone()));
    assert_eq!(l::normalize_linear(&entry), l::zero_lin(v, entry.to().clone()));
}

/// E18: the reverse derivative of `map` gives a copower and a vector; printed is `D→`, whose second
/// component is about functions.
#[test]
fn e18_map() {
    let from = REAL.to(REAL).times(source::Ty::Real(2));
    let printed = crate::forward::tangent_ty(&from);
    assert_ne!(printed, crate::reverse::cotangent_ty(&from));
    let map = crate::primitives::Primitive::Map { arity: 1, n: 2 };
    let x = Var::fresh("x", crate::reverse::primal_ty(&map.from()));
    let f =
        Value::fun(|x| Value::pair(x.clone(), Value::fun(|v| Value::real([3.0 * v.numbers()[0]]))));
    let env = Env::default().with(&x, Value::pair(f, Value::real([1.0, 2.0])));
    let pulled = l::eval_linear(
        &l::reverse_prim(map, &l::var(&x), &l::v(LTy::Real(2))),
        &env,
        &Value::real([1.0, 1.0]),
    );
    assert_eq!(pulled.snd().numbers().to_vec(), [3.0, 3.0]);
    assert!(matches!(pulled.fst(), Value::Sum(entries) if entries.len() == 2));
}

/// E18, forward: the primal of `map` is printed at `f_2`, where `g_2`, the primal of its
/// derivative, is meant. Nothing goes wrong, because the two agree on all related pairs of
/// first-order type. And a tuple of related components is printed as related at `real`, not at
/// `real^n`.
#[test]
fn e18_forward_map() {
    let map = crate::primitives::Primitive::Map { arity: 1, n: 2 };
    let x = Var::fresh("x", crate::forward::primal_ty(&map.from()));
    let first = l::primal_prim(map, &l::var(&x));
    let at = |places: Value| {
        let tripled = Value::fun(|x| {
            Value::pair(Value::real([3.0 * x.numbers()[0]]), Value::fun(Value::clone))
        });
        let env = Env::default().with(&x, Value::pair(tripled, places));
        l::eval(&first, &env).flatten()
    };
    for seed in 0..200 {
        let mut g = crate::generate::Generator::new(seed);
        let f = g.morphism(&REAL, &source::Ty::Real(2));
        let x = g.value(&REAL);
        let (printed, meant) =
            (crate::combinators::eval(&f, &x), crate::literal::Derived::forward(&f).first(&x));
        assert_eq!(at(printed), at(meant), "{f}");
    }
    // Unrelated functions would differ.
    assert_ne!(at(Value::real([1.0, 2.0])), at(Value::real([1.0, 3.0])));
    assert_ne!(crate::forward::primal_ty(&REAL), crate::forward::primal_ty(&source::Ty::Real(2)));
}

/// E19: `lapp(lpair(t, s), r)` applies both to `r`; printed are the premises `lapp(t, s)`, which is
/// ill-typed, and `lapp(t, r)`.
#[test]
fn e19_lpair() {
    fn printed(t: &a::Term, s: &a::Term, r: &a::Term) -> [a::Term; 2] {
        [a::lapp(t.clone(), s.clone()), a::lapp(t.clone(), r.clone())]
    }
    let (t, s, r) = (lsum(), a::lid(Ty::Real(2)), a::constant([1.0, 2.0]));
    let [first, second] = printed(&t, &s, &r);
    a::check(&[], &first).unwrap_err();
    assert_eq!(observe(&second).unwrap(), [3.0]);
    both(&a::lapp(a::lpair(t, s), r), &[3.0, 1.0, 2.0]);
}

/// E20: `0 : real^n` has a normal form; printed are rules for the other types only. Tested for
/// both: whether the rules are adequate, that is, whether closed terms with a zero evaluate to the
/// constants that they denote.
#[test]
fn e20_zero_vector() {
    fn printed(t: &a::Term) -> Option<a::Term> {
        match (t.kind(), t.ty()) {
            (a::Kind::Own(a::Api::Zero), Ty::Real(_)) => None,
            _ => Some(run(t)),
        }
    }
    fn adequate(rules: &dyn Fn(&a::Term) -> Option<a::Term>) -> bool {
        (0..4).all(|n| {
            let ty = Ty::Real(n);
            let ones = || a::constant(vec![1.0; n]);
            let terms = [
                a::zero(ty.clone()),
                a::plus(a::zero(ty.clone()), ones()),
                a::plus(a::zero(ty.clone()), a::zero(ty.clone())),
                a::fst(a::zero(ty.clone().times(R))),
                a::app(a::zero(R.to(ty.clone())), a::constant([1.0])),
                a::lapp(a::zero(R.lfun(ty.clone())), a::constant([1.0])),
                a::op(Op::Each(Prim::Neg, n), a::zero(ty)),
            ];
            terms.iter().all(|t| {
                let denoted = meaning(t).flatten().unwrap();
                rules(t).and_then(|normal| constant_of(&normal)) == Some(denoted)
            })
        })
    }
    assert!(adequate(&|t| Some(run(t))) && !adequate(&printed));
}

/// The constant that a normal form is, if it is one.
fn constant_of(normal: &a::Term) -> Option<Vec<f64>> {
    if let a::Kind::Op(Op::Const(values), _) = normal.kind() {
        Some(values.0.to_vec())
    } else {
        None
    }
}

/// E21: the arguments of an operation are a pair, whose components are no normal forms; printed is
/// that the argument comes out as a constant.
#[test]
fn e21_operations() {
    fn printed(argument: &a::Term) -> Option<Vec<f64>> {
        constant_of(&run(argument))
    }
    let add = |x, y| a::op(Op::Each(Prim::Add, 1), a::pair(x, y));
    let three = add(a::constant([1.0]), a::constant([2.0]));
    assert_eq!(printed(&a::pair(three.clone(), three.clone())), None);
    both(&add(three.clone(), three.clone()), &[6.0]);
    both(&a::lapp(a::lop(LOp::Mul(1), three.clone()), three), &[9.0]);
}

/// E22: `lapp(lfst, <t1, t2>)` runs `t1`; printed is that it ends in the component as it is, which
/// is no normal form.
#[test]
fn e22_projections() {
    fn printed(pair: &a::Term) -> a::Term {
        let normal = run(pair);
        let a::Kind::Pair(first, _) = normal.kind() else { panic!("{normal} is no pair") };
        first.clone()
    }
    let pair = a::pair(a::plus(a::constant([1.0]), a::constant([2.0])), a::unit());
    assert_eq!(constant_of(&printed(&pair)), None);
    both(&a::lapp(a::lfst(R, Ty::Unit), pair), &[3.0]);
}

/// E23: call by name: an argument that is not used is not run; printed is a rule that runs it.
#[test]
fn e23_call_by_name() {
    fn printed(body: &a::Term, x: &a::Var, argument: &a::Term) -> a::Term {
        run(&body.subst(x, &run(argument)))
    }
    let (x, costly) = (Var::fresh("x", R), a::op(Op::Sigmoid, a::constant([0.0])));
    let (result, ops, _) = counting(|| constant_of(&printed(&a::zero(R), &x, &costly)).unwrap());
    assert_eq!((result, ops), (vec![0.0], 2));
    let t = a::app(a::abs(x, a::zero(R)), costly);
    let (result, ops, _) = counting(|| observe(&t).unwrap());
    assert_eq!((result, ops), (vec![0.0], 0));
}

/// E24: `lcur^-1` takes `0` to the zero of another type, and a function that is a sum only after
/// running is applied; printed is that `0` stays unchanged, and that the head is a sum before it is
/// run.
#[test]
fn e24_zeros_and_heads() {
    fn printed_zero(argument: &a::Term) -> a::Term {
        run(argument)
    }
    fn printed_head(f: &a::Term) -> bool {
        matches!(f.kind(), a::Kind::Own(a::Api::Plus(..)))
    }
    let to_pairs = a::lcur_inv(a::lam("y", R, |_| a::lpair(a::lid(R), a::lid(R))));
    let none = a::zero(R.tens(R));
    let applied = a::lapp(to_pairs, none.clone());
    assert_ne!(printed_zero(&none).ty(), applied.ty());
    both(&applied, &[0.0, 0.0]);
    let sum = a::plus(a::lam("x", R, |x| x), a::zero(R.to(R)));
    let head = a::fst(a::pair(sum, a::unit()));
    assert!(!printed_head(&head) && printed_head(&run(&head)));
    both(&a::app(head, a::constant([4.0])), &[4.0]);
}

/// E26: the macros as printed substitute `t_1` into `t_2`, and twice into `t; s`: each squaring
/// adds almost twice as much to the derivative as the one before, where it adds the same to the
/// shared one.
#[test]
fn e26_sharing() {
    let x = source::Var::fresh("x", REAL);
    let square = |t: source::Term| source::op_at(Op::Each(Prim::Mul, 1), &[t.clone(), t]);
    let chain = |n: usize| {
        (0..n).fold(crate::combinators::id(REAL), |t, _| {
            crate::combinators::then(t, crate::combinators::of_term(&x, &square(source::var(&x))))
        })
    };
    let literal = |n: usize| {
        crate::pairs::AppliedReverse::second(&chain(n), &a::var(&Var::fresh("x", R))).size()
    };
    let shared = |n: usize| {
        let t = (0..n).rev().fold(source::var(&x), |body, _| {
            source::app(source::abs(x.clone(), body), square(source::var(&x)))
        });
        crate::shared::reverse(&x, &t, crate::shared::Lets::Primitive).1.size()
    };
    let steps =
        |size: &dyn Fn(usize) -> usize| (2..9).map(|n| size(n) - size(n - 1)).collect::<Vec<_>>();
    let (literal, shared) = (steps(&literal), steps(&shared));
    assert!(literal.windows(2).all(|steps| steps[1] as f64 > 1.6 * steps[0] as f64), "{literal:?}");
    assert!(shared.windows(2).all(|steps| steps[1] == steps[0]), "{shared:?}");
}

/// E27: the target is not differentiated: nothing of it is a source term, and the table has no
/// slope for operations that only derivatives use.
#[test]
#[should_panic(expected = "E27")]
fn e27_targets() {
    let x = Value::real([1.0]).numbers();
    slopes(&Op::Partial(Prim::Abs, 0, 1), &[x], &mut |op, args| op.eval(args));
}

/// §7, M-1: the worked derivative `D(*)(x;y) = fst x * snd y + snd x * fst y` and
/// `D(*)^t(x;y) = <snd x * y, fst x * y>`.
#[test]
fn worked_derivative() {
    let (x, mul) = (Var::fresh("x", l::Ty::Real(1).times(l::Ty::Real(1))), Op::Each(Prim::Mul, 1));
    let forward = l::forward_op(&mul, &l::var(&x), &l::v(LTy::Real(1).times(LTy::Real(1))));
    assert_eq!(forward.to_string(), "lmul(snd x; fst v) + lmul(fst x; snd v)");
    assert_eq!(
        l::reverse_op(&mul, &l::var(&x), &l::v(LTy::Real(1))).to_string(),
        "<lmul(snd x; v), lmul(fst x; v)>"
    );
}

/// §2, C-2: the example: the derivatives of `op2(op1(x))` compose in the same order forward, in the
/// opposite order in reverse.
#[test]
fn order_is_reversed() {
    let x = source::Var::fresh("x", REAL);
    let sin = source::op(Op::Each(Prim::Sin, 1), source::var(&x));
    let t = source::op(Op::Each(Prim::Exp, 1), sin);
    let comb = crate::combinators::of_term(&x, &t);
    let (y, v) = (Var::fresh("x", l::Ty::Real(1)), l::v(LTy::Real(1)));
    let forward = crate::forward::tangent(&comb, &l::var(&y), &v).to_string();
    let reverse = crate::reverse::cotangent(&comb, &l::var(&y), &v).to_string();
    assert_eq!(forward, "lmul(exp(sin(x)); lmul(cos(x); v))");
    assert_eq!(reverse, "lmul(cos(x); lmul(exp(sin(x)); v))");
}
