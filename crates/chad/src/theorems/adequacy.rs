//! T-7: big-step results denote what their terms denote, and are normal forms. T-8: `†` preserves
//! meaning, and Appendix A through `†` is Appendix C. T-9: no observer can tell how a copower is
//! represented.

use super::applied_terms::closed;
use super::linear_terms::{Sample, samples};
use super::*;
use crate::applied::{Abstract, Api, Kind, Ty};
use crate::linear::LTy;
use crate::operational::{observe, run};

/// T-7: a program, its derivative at a point applied to a tangent or cotangent, run by the rules of
/// Appendix E.
#[test]
fn operational_semantics() {
    for mut s in Subject::all() {
        let x = s.point();
        let inputs = [s.tangent(), s.cotangent()];
        for (derived, v) in Applied::both(&s.comb).iter().zip(&inputs) {
            close(
                &observe(&derived.first_at(&x)).unwrap(),
                &numbers(&derived.first(&x)),
                1e-12,
                &s.term,
            );
            close(
                &observe(&derived.second_at(&x, v)).unwrap(),
                &numbers(&derived.second(&x, v)),
                1e-9,
                &s.term,
            );
        }
    }
}

/// T-7: `⟦t⟧ = ⟦⇓t⟧` (E25), for generated closed terms of all constructs and types: at first-order
/// results as numbers; elsewhere for observers.
#[test]
fn big_step_is_sound() {
    let mut higher = 0;
    for (t, mut g) in closed() {
        let normal = run(&t);
        applied::check(&[], &normal).unwrap();
        assert_eq!(normal.ty(), t.ty());
        let [before, after] = [&t, &normal].map(|t| applied::eval(t, &Env::default()));
        g.same_applied(t.ty(), &before, &after, &t);
        if let Some(result) = observe(&t) {
            close(&result, &numbers(&before), 1e-12, &t);
        }
        higher += u64::from(before.flatten().is_none());
    }
    assert!(higher > 400, "only {higher} results are functions");
}

/// T-7: the normal forms are those that Appendix E lists, by type; in particular a normal form of
/// type `real^n` is a constant.
#[test]
fn normal_forms() {
    let mut seen = super::linear_terms::Constructs::new();
    for (t, _) in closed() {
        let normal = run(&t);
        *seen
            .entry(
                normal_form(&normal)
                    .unwrap_or_else(|| panic!("{normal} : {} is not normal", t.ty())),
            )
            .or_default() += 1;
        assert_eq!(run(&normal).canonical(), normal.canonical());
    }
    println!("{seen:?}");
    assert_eq!(seen.len(), 22, "{seen:?}");
}

/// The kind of normal form, if the term is one of its type.
fn normal_form(t: &applied::Term) -> Option<&'static str> {
    match (t.ty(), t.kind()) {
        (Ty::Real(_), Kind::Op(Op::Const(_), c)) if *c == applied::unit() => Some("c"),
        (Ty::Unit, Kind::Unit) => Some("<>"),
        (Ty::Prod(..), Kind::Pair(..)) => Some("<t, s>"),
        (Ty::Fun(..), Kind::Lam(..)) => Some("lambda"),
        (Ty::Fun(..), Kind::Own(Api::Zero)) => Some("0 : ->"),
        (Ty::Fun(..), Kind::Own(Api::Plus(..))) => Some("+ : ->"),
        (Ty::Own(Abstract::Tens(..)), Kind::Own(Api::Zero)) => Some("0 : Tens"),
        (Ty::Own(Abstract::Tens(..)), Kind::Own(Api::Plus(..))) => Some("+ : Tens"),
        (Ty::Own(Abstract::Tens(..)), Kind::Own(Api::LApp(f, _)))
            if matches!(f.kind(), Kind::Own(Api::Singleton(_))) =>
        {
            Some("lapp({(t,-)}, s)")
        }
        (Ty::Own(Abstract::LFun(..)), kind) => linear_normal_form(kind),
        (Ty::Real(_) | Ty::Unit | Ty::Prod(..) | Ty::Fun(..) | Ty::Own(Abstract::Tens(..)), _) => {
            None
        }
    }
}

fn linear_normal_form(kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::Own(Api::Zero) => Some("0 : LFun"),
        Kind::Own(Api::Plus(..)) => Some("+ : LFun"),
        Kind::Own(Api::LId) => Some("lid"),
        Kind::Own(Api::LThen(..)) => Some(";;"),
        Kind::Own(Api::LOp(..)) => Some("lop"),
        Kind::Own(Api::LPrim(..)) => Some("lprim"),
        Kind::Own(Api::LFst) => Some("lfst"),
        Kind::Own(Api::LSnd) => Some("lsnd"),
        Kind::Own(Api::LPair(..)) => Some("lpair"),
        Kind::Own(Api::LEval(_)) => Some("leval"),
        Kind::Own(Api::LSwap(_)) => Some("lswap"),
        Kind::Own(Api::Singleton(_)) => Some("{(t,-)}"),
        Kind::Own(Api::LCurInv(_)) => Some("lcur^-1"),
        Kind::Var(_)
        | Kind::Op(..)
        | Kind::Prim(..)
        | Kind::Unit
        | Kind::Pair(..)
        | Kind::Fst(_) => None,
        Kind::Snd(_) | Kind::Lam(..) | Kind::App(..) | Kind::Own(Api::LApp(..)) => None,
    }
}

/// T-7, compositionality and adequacy: in every context that ends in a first-order type, a term and
/// its normal form, and a term and any other term of the same meaning (here: plus 0), give the same
/// result.
#[test]
fn contexts_cannot_tell() {
    for (t, mut g) in closed() {
        let x = Var::fresh("x", t.ty().clone());
        let ty = Ty::Real(1).times(Ty::Real(2));
        let generated = g.applied(std::slice::from_ref(&x), &ty, 30);
        let (y, taken_apart) = g.observer(t.ty());
        for (x, context) in [(&x, &generated), (&y, &taken_apart)] {
            let result = |t: &applied::Term| observe(&context.subst(x, t)).unwrap();
            let expect = result(&t);
            close(&result(&run(&t)), &expect, 1e-9, &t);
            close(
                &result(&applied::plus(applied::zero(t.ty().clone()), t.clone())),
                &expect,
                1e-9,
                &t,
            );
        }
    }
}

/// T-8: Appendix A through `†` is Appendix C, both modes: the same types and meanings, and the same
/// big-step results.
#[test]
fn dagger_takes_appendix_a_to_appendix_c() {
    let mut run = 0;
    for mut s in Subject::all() {
        let x = s.point();
        let inputs = [s.tangent(), s.cotangent()];
        let both = Derived::both(&s.comb).into_iter().zip(Applied::both(&s.comb));
        for ((derived, applied), v) in both.zip(&inputs) {
            let through = daggered(&derived, &applied);
            assert_eq!(numbers(&through.first(&x)), numbers(&derived.first(&x)));
            assert_eq!(numbers(&through.first(&x)), numbers(&applied.first(&x)));
            close(
                &numbers(&through.second(&x, v)),
                &numbers(&derived.second(&x, v)),
                1e-9,
                &s.term,
            );
            close(
                &numbers(&through.second(&x, v)),
                &numbers(&applied.second(&x, v)),
                1e-9,
                &s.term,
            );
            // Call by name takes exponential time in some of the larger ones.
            if through.second.size() < 800 {
                let second = applied::lapp(through.second.subst(&through.x, &quote(&x)), quote(v));
                close(&observe(&second).unwrap(), &numbers(&applied.second(&x, v)), 1e-9, &s.term);
                run += 1;
            }
        }
    }
    assert!(run >= 1000, "only {run} derivatives are small enough to be run");
}

/// The derivative of Appendix A through `†`, which must have the types of that of Appendix C.
fn daggered(derived: &Derived, other: &Applied) -> Applied {
    let through = derived.dagger();
    for term in [&through.first, &through.second] {
        applied::check(std::slice::from_ref(&through.x), term).unwrap();
    }
    assert_eq!(
        (&through.x.ty, through.first.ty(), through.second.ty()),
        (&other.x.ty, other.first.ty(), other.second.ty())
    );
    through
}

/// T-8 at function types: Appendix A through `†` is Appendix C for programs that are given
/// functions, or return them.
#[test]
fn dagger_at_function_types() {
    for mut s in Subject::higher() {
        let g = &mut s.generator;
        for (derived, applied) in Derived::both(&s.comb).iter().zip(&Applied::both(&s.comb)) {
            let through = daggered(derived, applied);
            let at = g.applied_element(&applied.x.ty);
            g.same_applied(applied.first.ty(), &through.first(&at), &applied.first(&at), &s.term);
            let [left, right] = [&through, applied]
                .map(|d| applied::eval(&d.second, &Env::default().with(&d.x, at.clone())));
            g.same_applied(applied.second.ty(), &left, &right, &s.term);
        }
    }
}

/// T-8: `†` preserves types and meaning, for generated terms of all constructs. Values of
/// higher types are observed by more generated terms of the linear language, before `†`: from a
/// number to σ, and from τ to numbers.
#[test]
fn dagger_preserves_meaning() {
    for Sample { context, l, mut generator } in samples(2) {
        let g = &mut generator;
        let closing = g.closing(&context);
        let mapped =
            context.iter().fold(Env::default(), |env, x| env.with(x, applied::var(&dagger_var(x))));
        let images: Vec<applied::Var> = context.iter().map(dagger_var).collect();
        let translated = applied::dagger_linear(&l, &mapped);
        applied::check(&images, &translated).unwrap();
        assert_eq!(
            *translated.ty(),
            applied::dagger_linear_ty(l.from()).lfun(applied::dagger_linear_ty(l.to()))
        );
        let (before, after) =
            (g.linear(&[], &LTy::Real(1), l.from(), 16), g.linear(&[], l.to(), &LTy::Real(2), 16));
        let whole = after.after(&l.after(&before));
        let env = super::linear_terms::environment(&context, &closing);
        let expect = linear::eval_linear(&whole, &env, &Value::real([0.5])).numbers();
        let terms = context
            .iter()
            .zip(&closing)
            .fold(Env::default(), |env, (x, t)| env.with(x, applied::dagger(t, &Env::default())));
        let result =
            applied::lapp(applied::dagger_linear(&whole, &terms), applied::constant([0.5]));
        applied::check(&[], &result).unwrap();
        close(&numbers(&applied::eval(&result, &Env::default())), &expect, 1e-9, &l);
        close(&observe(&result).unwrap(), &expect, 1e-9, &l);
    }
}

fn dagger_var(x: &linear::Var) -> applied::Var {
    applied::Var { id: x.id, hint: x.hint.clone(), ty: applied::dagger_ty(&x.ty) }
}
