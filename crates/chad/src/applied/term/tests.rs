//! The rules of Figure 5 reject ill-typed terms, one by one: the checker accepts terms as their
//! constructors make them, and rejects them under any other type.

use super::*;
use crate::applied::check;
use crate::generate::Generator;
use crate::op::Op;
use lambada_prim::Prim;

const R: Ty = Ty::Real(1);

fn two() -> Term {
    constant([1.0, 2.0])
}

fn sum() -> Term {
    lop(LOp::Sum(2), unit())
}

/// `\y. lmul(y) : real -> LFun(real, real)`
fn keyed() -> Term {
    lam("y", R, |y| lop(LOp::Mul(1), y))
}

/// Accepted at its type; at other types, rejected.
#[track_caller]
fn only(t: Term) {
    check(&[], &t).unwrap();
    let mut g = Generator::new(1);
    for _ in 0..100 {
        let ty = g.applied_ty(3);
        let other = Term::new(t.kind().clone(), ty.clone());
        assert_eq!(check(&[], &other).is_ok(), ty == *t.ty(), "{t} : {ty}");
    }
}

#[track_caller]
fn rejected(kind: Kind, ty: Ty) {
    check(&[], &Term::new(kind, ty)).unwrap_err();
}

/// S-1 … S-8 in the applied language.
#[test]
fn source_constructs() {
    let x = Var::fresh("x", R);
    check(std::slice::from_ref(&x), &var(&x)).unwrap();
    check(&[], &var(&x)).unwrap_err();
    check(std::slice::from_ref(&x), &var(&Var { ty: Ty::Unit, ..x.clone() })).unwrap_err();
    only(op(Op::Sum(2), two()));
    rejected(Kind::Op(Op::Each(Prim::Sin, 1), unit()), R);
    only(unit());
    only(pair(two(), unit()));
    only(fst(pair(two(), unit())));
    only(snd(pair(unit(), two())));
    rejected(Kind::Fst(two()), R);
    rejected(Kind::Snd(two()), R);
    only(abs(x.clone(), var(&x)));
    check(&[], &pair(abs(x.clone(), var(&x)), var(&x))).unwrap_err();
    only(app(abs(x.clone(), var(&x)), constant([1.0])));
    rejected(Kind::App(abs(x.clone(), var(&x)), two()), R);
    rejected(Kind::App(lid(R), constant([1.0])), R);
}

/// `lop(t) : LFun(LDom(lop), real^m)`, for `t : Dom(lop)`.
#[test]
fn linear_operations() {
    only(sum());
    rejected(Kind::Own(Api::LOp(LOp::Sum(2), two())), Ty::Real(2).lfun(R));
    rejected(Kind::Own(Api::LOp(LOp::Mul(1), two())), R.lfun(R));
}

/// every type has a zero, so none is rejected; summands have the type of the sum.
#[test]
fn monoids() {
    let mut g = Generator::new(2);
    for _ in 0..100 {
        check(&[], &zero(g.applied_ty(3))).unwrap();
    }
    only(plus(two(), two()));
    only(plus(sum(), sum()));
    rejected(Kind::Own(Api::Plus(two(), unit())), Ty::Real(2));
    rejected(Kind::Own(Api::Plus(two(), two())), Ty::Unit);
}

/// `lid : LFun(T, T)`, for every T.
#[test]
fn identities() {
    check(&[], &lid(R)).unwrap();
    rejected(Kind::Own(Api::LId), R.lfun(Ty::Unit));
    rejected(Kind::Own(Api::LId), R.to(R));
}

/// the ends of `t;;s` meet.
#[test]
fn compositions() {
    only(lthen(sum(), lop(LOp::Replicate(2), unit())));
    rejected(Kind::Own(Api::LThen(sum(), sum())), Ty::Real(2).lfun(R));
    rejected(Kind::Own(Api::LThen(two(), sum())), Ty::Real(2).lfun(R));
}

/// `lapp(t, s)` applies linear functions, to arguments of their type.
#[test]
fn linear_applications() {
    only(lapp(sum(), two()));
    rejected(Kind::Own(Api::LApp(sum(), unit())), R);
    rejected(Kind::Own(Api::LApp(lam("x", R, |x| x), constant([1.0]))), R);
}

/// `lswap t : LFun(S, T -> R)`, for `t : T -> LFun(S, R)`.
#[test]
fn swaps() {
    only(lswap(keyed()));
    rejected(Kind::Own(Api::LSwap(lid(R))), R.lfun(R.to(R)));
    rejected(Kind::Own(Api::LSwap(lam("x", R, |x| x))), R.lfun(R.to(R)));
}

/// `leval_t : LFun(T -> S, S)`, for every S.
#[test]
fn evaluations() {
    check(&[], &leval(two(), R)).unwrap();
    rejected(Kind::Own(Api::LEval(unit())), Ty::Real(2).to(R).lfun(R));
    rejected(Kind::Own(Api::LEval(two())), Ty::Real(2).to(R).lfun(Ty::Unit));
    rejected(Kind::Own(Api::LEval(two())), R);
}

/// `{(t,-)} : LFun(S, Tens(T, S))`, for every S.
#[test]
fn singletons() {
    check(&[], &singleton(two(), R)).unwrap();
    rejected(Kind::Own(Api::Singleton(unit())), R.lfun(R.tens(Ty::Real(2))));
    rejected(Kind::Own(Api::Singleton(two())), Ty::Unit.lfun(R.tens(Ty::Real(2))));
    rejected(Kind::Own(Api::Singleton(two())), R.tens(Ty::Real(2)));
}

/// `lcur^-1 t : LFun(Tens(T, S), R)`, for `t : T -> LFun(S, R)`.
#[test]
fn folds() {
    only(lcur_inv(keyed()));
    rejected(Kind::Own(Api::LCurInv(lid(R))), R.tens(R).lfun(R));
    rejected(Kind::Own(Api::LCurInv(keyed())), R.tens(Ty::Unit).lfun(R));
}

/// projections start at products and end in the component.
#[test]
fn linear_projections() {
    let both = || R.times(Ty::Unit);
    check(&[], &lfst(R, Ty::Unit)).unwrap();
    check(&[], &lsnd(R, Ty::Unit)).unwrap();
    rejected(Kind::Own(Api::LFst), both().lfun(Ty::Unit));
    rejected(Kind::Own(Api::LSnd), both().lfun(R));
    rejected(Kind::Own(Api::LFst), R.lfun(R));
    rejected(Kind::Own(Api::LSnd), R.lfun(R));
}

/// both parts of `lpair(t, s)` start together.
#[test]
fn linear_pairs() {
    only(lpair(sum(), lid(Ty::Real(2))));
    rejected(Kind::Own(Api::LPair(sum(), lid(R))), Ty::Real(2).lfun(R.times(R)));
    rejected(Kind::Own(Api::LPair(two(), two())), Ty::Real(2).lfun(R.times(R)));
}
