//! T-10: the applied target language is pure and every term of it terminates, so the rules of
//! Appendix E may be used in any order and anywhere, under λs too. Here they are written as
//! rewriting steps, and the result of every order is compared with that of big steps.

use super::applied_terms::closed;
use super::*;
use crate::applied::{
    Api, Kind, Term, Ty, abs, app, constant, fst, lam, lapp, pair, plus, snd, unit, zero,
};
use crate::operational::observe;
use crate::value::counting;

/// Which of the places where a rule applies is next.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// A whole before its parts: call by name, and under λs.
    Outermost,
    /// The parts before the whole: call by value, and under λs.
    Innermost,
    /// Any.
    Random,
}

/// The values of arguments that are constants.
fn constants(t: &Term, k: usize) -> Option<Vec<std::rc::Rc<[f64]>>> {
    match (k, t.kind()) {
        (0, _) => Some(vec![]),
        (1, Kind::Op(Op::Const(values), _)) => Some(vec![values.0.clone()]),
        (2.., Kind::Pair(a, b)) => Some([constants(a, k - 1)?, constants(b, 1)?].concat()),
        _ => None,
    }
}

/// The rule that applies to the whole term, if one does. Other terms are normal.
fn contract(t: &Term) -> Option<Term> {
    if let Kind::Op(o, t) = t.kind() {
        let is_constant = matches!(o, Op::Const(_));
        return if is_constant {
            None
        } else {
            Some(constant(o.eval(&constants(t, o.dom().len())?)))
        };
    }
    if let Kind::Fst(t) = t.kind() {
        return if let Kind::Pair(a, _) = t.kind() { Some(a.clone()) } else { None };
    }
    if let Kind::Snd(t) = t.kind() {
        return if let Kind::Pair(_, b) = t.kind() { Some(b.clone()) } else { None };
    }
    if let Kind::Own(Api::Zero) = t.kind() {
        return contract_zero(t.ty());
    }
    if let Kind::Own(Api::Plus(a, b)) = t.kind() {
        return contract_sum(t.ty(), a, b);
    }
    if let Kind::App(f, s) = t.kind() {
        return contract_call(f, s);
    }
    if let Kind::Own(Api::LApp(f, s)) = t.kind() {
        return contract_linear(f, s);
    }
    assert!(!matches!(t.kind(), Kind::Prim(..) | Kind::Own(Api::LPrim(..))), "{t} is a primitive");
    None
}

fn contract_zero(ty: &Ty) -> Option<Term> {
    if let Ty::Real(n) = ty {
        Some(constant(vec![0.0; *n]))
    } else if let Ty::Unit = ty {
        Some(unit())
    } else if let Ty::Prod(a, b) = ty {
        Some(pair(zero((**a).clone()), zero((**b).clone())))
    } else {
        None
    }
}

fn contract_sum(ty: &Ty, a: &Term, b: &Term) -> Option<Term> {
    if let (Ty::Real(_), Some(x), Some(y)) = (ty, constants(a, 1), constants(b, 1)) {
        Some(constant(x[0].iter().zip(y[0].iter()).map(|(x, y)| x + y).collect::<Vec<_>>()))
    } else if let Ty::Unit = ty {
        Some(unit())
    } else if let (Ty::Prod(..), Kind::Pair(a, b), Kind::Pair(c, d)) = (ty, a.kind(), b.kind()) {
        Some(pair(plus(a.clone(), c.clone()), plus(b.clone(), d.clone())))
    } else {
        None
    }
}

fn contract_call(f: &Term, s: &Term) -> Option<Term> {
    if let Kind::Lam(x, body) = f.kind() {
        Some(body.subst(x, s))
    } else if let Kind::Own(Api::Zero) = f.kind() {
        Some(zero(f.ty().arrow().1))
    } else if let Kind::Own(Api::Plus(g, h)) = f.kind() {
        Some(plus(app(g.clone(), s.clone()), app(h.clone(), s.clone())))
    } else {
        None
    }
}

fn contract_linear(f: &Term, s: &Term) -> Option<Term> {
    let at = |g: &Term| lapp(g.clone(), s.clone());
    let to = f.ty().ends().1;
    if let Kind::Own(Api::Zero) = f.kind() {
        Some(zero(to))
    } else if let Kind::Own(Api::Plus(g, h)) = f.kind() {
        Some(plus(at(g), at(h)))
    } else if let Kind::Own(Api::LId) = f.kind() {
        Some(s.clone())
    } else if let Kind::Own(Api::LThen(g, h)) = f.kind() {
        Some(lapp(h.clone(), at(g)))
    } else if let Kind::Own(Api::LOp(o, t)) = f.kind() {
        let (t, s) = (constants(t, o.dom().len())?, constants(s, o.ldom().len())?);
        Some(constant(o.eval(&t, &s)))
    } else if let Kind::Own(Api::LFst) = f.kind() {
        Some(fst(s.clone()))
    } else if let Kind::Own(Api::LSnd) = f.kind() {
        Some(snd(s.clone()))
    } else if let Kind::Own(Api::LPair(g, h)) = f.kind() {
        Some(pair(at(g), at(h)))
    } else if let Kind::Own(Api::LEval(t)) = f.kind() {
        Some(app(s.clone(), t.clone()))
    } else if let Kind::Own(Api::LSwap(g)) = f.kind() {
        Some(lam("y", to.arrow().0, |y| lapp(app(g.clone(), y), s.clone())))
    } else if let Kind::Own(Api::LCurInv(g)) = f.kind() {
        contract_fold(f, g, s)
    } else {
        None
    }
}

/// `lapp(lcur^-1 g, s)`, where `f` is `lcur^-1 g`
fn contract_fold(f: &Term, g: &Term, s: &Term) -> Option<Term> {
    if let Kind::Own(Api::Zero) = s.kind() {
        Some(zero(f.ty().ends().1))
    } else if let Kind::Own(Api::Plus(a, b)) = s.kind() {
        Some(plus(lapp(f.clone(), a.clone()), lapp(f.clone(), b.clone())))
    } else if let Kind::Own(Api::LApp(one, u)) = s.kind()
        && let Kind::Own(Api::Singleton(t)) = one.kind()
    {
        Some(lapp(app(g.clone(), t.clone()), u.clone()))
    } else {
        None
    }
}

/// How many places there are where a rule applies.
fn places(t: &Term) -> usize {
    usize::from(contract(t).is_some()) + t.children().into_iter().map(places).sum::<usize>()
}

/// The term after the rule at the k-th place, the whole before its parts or after them.
fn step(t: &Term, k: &mut Option<usize>, whole_first: bool) -> Term {
    let here = |k: &mut Option<usize>| {
        let reduct = contract(t)?;
        let found = *k == Some(0);
        *k = k.and_then(|k| k.checked_sub(1));
        found.then_some(reduct)
    };
    if k.is_none() {
        return t.clone();
    }
    if whole_first && let Some(reduct) = here(k) {
        return reduct;
    }
    let stepped = t.map(&mut |part: &Term| step(part, k, whole_first));
    if !whole_first && let (Some(_), Some(reduct)) = (*k, here(k)) {
        return reduct;
    }
    stepped
}

/// The term to which no rule applies any more, and the number of steps to it.
fn rewritten(t: &Term, order: Order, g: &mut Generator) -> (Term, usize) {
    let (mut t, mut steps) = (t.clone(), 0);
    loop {
        let count = places(&t);
        if count == 0 {
            return (t, steps);
        }
        t = match order {
            Order::Outermost => step(&t, &mut Some(0), true),
            Order::Innermost => step(&t, &mut Some(0), false),
            Order::Random => step(&t, &mut Some(g.below(count)), true),
        };
        steps += 1;
        assert!(steps < 20_000 && t.size() < 1_000_000, "{order:?} does not end: {steps} steps");
    }
}

/// The numbers in a tuple of constants.
fn in_constants(t: &Term) -> Vec<f64> {
    match t.kind() {
        Kind::Op(Op::Const(values), _) => values.0.to_vec(),
        Kind::Unit => vec![],
        Kind::Pair(a, b) => [in_constants(a), in_constants(b)].concat(),
        _ => panic!("{t} is no constant"),
    }
}

/// Whether the term has primitives of Appendix F, whose rules are about all elements at once.
fn has_primitives(t: &Term) -> bool {
    matches!(t.kind(), Kind::Prim(..) | Kind::Own(Api::LPrim(..)))
        || t.children().into_iter().any(has_primitives)
}

/// T-10: every order of steps terminates, and ends in the same constants as big steps.
#[test]
fn any_order() {
    let (mut compared, mut longest, mut differing) = (0, 0, 0);
    for (t, mut g) in closed() {
        let (x, observer) = g.observer(t.ty());
        let observed = observer.subst(&x, &t);
        if has_primitives(&observed) || observed.size() > 150 {
            continue;
        }
        compared += 1;
        let expect = observe(&observed).unwrap();
        let mut steps = Vec::new();
        for order in [Order::Outermost, Order::Innermost, Order::Random] {
            let (normal, count) = rewritten(&observed, order, &mut g);
            close(&in_constants(&normal), &expect, 1e-9, &observed);
            steps.push(count);
        }
        longest = longest.max(steps[0]);
        differing += usize::from(steps[0] != steps[1]);
    }
    println!("{compared} terms of up to {longest} steps, {differing} by another number of steps");
    assert!(compared > 300 && longest > 50 && differing > 100, "{compared} {longest} {differing}");
}

/// T-10: nothing is remembered from one evaluation to the next, an argument that is not used is not
/// run, and substituting the bound term for its variable, which copies and drops computations,
/// changes no result.
#[test]
fn purity() {
    for (t, mut g) in closed() {
        let (x, observer) = g.observer(t.ty());
        let observed = observer.subst(&x, &t);
        let expect = counting(|| observe(&observed).unwrap());
        let bound = app(abs(x.clone(), observer.clone()), t.clone());
        let value = applied::eval(&bound, &Env::default()).flatten().unwrap();
        close(&value, &expect.0, 1e-9, &observed);
        assert_eq!(counting(|| observe(&observed).unwrap()), expect);
        let unused = app(lam("x", t.ty().clone(), |_| zero(Ty::Real(1))), t.clone());
        assert_eq!(counting(|| observe(&unused)), (Some(vec![0.0]), 0, 0));
    }
}
