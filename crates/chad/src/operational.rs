//! Appendix E: the big-step operational semantics `t ⇓ N` of the applied target language,
//! call-by-name, with the corrected rules.
//!
//! Normal forms are constants, `<>`, pairs (of any terms: they are lazy), `\x. t`, every
//! constructor of linear functions, `0` and `t + s` at the types `->`, `LFun` and `Tens`, and
//! `lapp({(t,-)}, s)`. On closed terms; the language is pure and total, so every term has one
//! (T-10).

use crate::applied::*;
use crate::op::{LOp, Op};
use crate::primitives::Evaluator;

/// `t ⇓ N`
pub fn run(t: &Term) -> Term {
    match t.kind() {
        // E-1: t ⇓* c  ⟹  op(t) ⇓ ⟦op⟧(c). E21: a pair is a normal form however its components are,
        // so each is run.
        Kind::Op(o, t) => {
            crate::value::count_op();
            constant(o.eval(&leaves(t, o.dom().len())))
        }
        // Appendix F: prim(t) by the rules for its calls; vectors are run as for E-1.
        Kind::Prim(p, t) => p.eval::<BigStep>(t),
        // E-2: t ⇓ <t1, t2>, t1 ⇓ N  ⟹  fst t ⇓ N
        Kind::Fst(t) => run(&both(&run(t)).0),
        // E-3: t ⇓ <t1, t2>, t2 ⇓ N  ⟹  snd t ⇓ N
        Kind::Snd(t) => run(&both(&run(t)).1),
        Kind::App(t, s) => apply(&run(t), s),
        Kind::Own(Api::Zero) => run_zero(t),
        Kind::Own(Api::Plus(a, b)) => run_plus(t, a, b),
        Kind::Own(Api::LApp(f, s)) => linear(&run(f), s),
        Kind::Var(x) => panic!("{} is free", x.hint),
        Kind::Unit | Kind::Pair(..) | Kind::Lam(..) => t.clone(),
        Kind::Own(
            Api::LOp(..)
            | Api::LPrim(..)
            | Api::LId
            | Api::LThen(..)
            | Api::LSwap(_)
            | Api::LEval(_)
            | Api::Singleton(_),
        ) => t.clone(),
        Kind::Own(Api::LCurInv(_) | Api::LFst | Api::LSnd | Api::LPair(..)) => t.clone(),
    }
}

/// The first-order result as numbers: runs a closed term, and the components of pairs.
pub fn observe(t: &Term) -> Option<Vec<f64>> {
    match t.ty() {
        Ty::Real(_) => Some(number(&run(t)).to_vec()),
        Ty::Unit => Some(vec![]),
        Ty::Prod(..) => {
            let (a, b) = both(&run(t));
            Some([observe(&a)?, observe(&b)?].concat())
        }
        Ty::Fun(..) | Ty::Own(Abstract::LFun(..) | Abstract::Tens(..)) => None,
    }
}

/// `t ⇓* c`: the leaves of a product of vectors that nests to the left (E21).
fn leaves(t: &Term, k: usize) -> Vec<std::rc::Rc<[f64]>> {
    match k {
        0 => vec![],
        1 => vec![number(&run(t))],
        _ => {
            let (a, b) = both(&run(t));
            [leaves(&a, k - 1), leaves(&b, 1)].concat()
        }
    }
}

fn number(normal: &Term) -> std::rc::Rc<[f64]> {
    if let Kind::Op(Op::Const(values), _) = normal.kind() {
        values.0.clone()
    } else {
        stuck(normal)
    }
}

fn both(normal: &Term) -> (Term, Term) {
    if let Kind::Pair(a, b) = normal.kind() { (a.clone(), b.clone()) } else { stuck(normal) }
}

/// `f s`, by the normal form of `f`. E23: the argument is not run, as everywhere in these rules.
fn apply(f: &Term, s: &Term) -> Term {
    if let Kind::Lam(x, t) = f.kind() {
        // E-4: t ⇓ \x. t', t'[s/x] ⇓ N  ⟹  t s ⇓ N
        run(&t.subst(x, s))
    } else if let Kind::Own(Api::Zero) = f.kind() {
        // E-5: t ⇓ 0 : T -> S, 0_S ⇓ N  ⟹  t s ⇓ N
        run(&zero(f.ty().arrow().1))
    } else if let Kind::Own(Api::Plus(g, h)) = f.kind() {
        // E-6: t ⇓ t1 + t2, (t1 s) + (t2 s) ⇓ N  ⟹  t s ⇓ N. E24: the head is run first; the paper
        // matches on its syntax.
        run(&plus(app(g.clone(), s.clone()), app(h.clone(), s.clone())))
    } else {
        stuck(f)
    }
}

fn run_zero(t: &Term) -> Term {
    match t.ty() {
        // E-7: 0 ⇓ (0, .., 0). E20: the paper has no such rule, so that adequacy would fail.
        Ty::Real(n) => constant(vec![0.0; *n]),
        // E-8: 0 ⇓ <>
        Ty::Unit => unit(),
        // E-9: 0 ⇓ <0, 0>
        Ty::Prod(a, b) => pair(zero((**a).clone()), zero((**b).clone())),
        Ty::Fun(..) | Ty::Own(Abstract::LFun(..) | Abstract::Tens(..)) => t.clone(),
    }
}

fn run_plus(t: &Term, a: &Term, b: &Term) -> Term {
    match t.ty() {
        // E-10: t ⇓ c, s ⇓ c'  ⟹  t + s ⇓ c + c'
        Ty::Real(_) => {
            let (x, y) = (number(&run(a)), number(&run(b)));
            constant(x.iter().zip(y.iter()).map(|(x, y)| x + y).collect::<Vec<_>>())
        }
        // E-11: t + s ⇓ <>
        Ty::Unit => unit(),
        // E-12: t ⇓ <t1, t2>, s ⇓ <s1, s2>  ⟹  t + s ⇓ <t1 + s1, t2 + s2>
        Ty::Prod(..) => {
            let ((a1, a2), (b1, b2)) = (both(&run(a)), both(&run(b)));
            pair(plus(a1, b1), plus(a2, b2))
        }
        Ty::Fun(..) | Ty::Own(Abstract::LFun(..) | Abstract::Tens(..)) => t.clone(),
    }
}

/// `lapp(f, s)`, by the normal form of `f`: each rule determines the term to run next.
fn linear(f: &Term, s: &Term) -> Term {
    let at = |g: &Term| lapp(g.clone(), s.clone());
    match f.kind() {
        // E-13: 0_S
        Kind::Own(Api::Zero) => run(&zero(f.ty().ends().1)),
        // E-14: lapp(g, s) + lapp(h, s)
        Kind::Own(Api::Plus(g, h)) => run(&plus(at(g), at(h))),
        // E-15: s
        Kind::Own(Api::LId) => run(s),
        // E-16: lapp(h, lapp(g, s))
        Kind::Own(Api::LThen(g, h)) => run(&lapp(h.clone(), at(g))),
        // E-17: ⟦lop⟧(t ⇓*)(s ⇓*). E21 again.
        Kind::Own(Api::LOp(o, t)) => run_lop(*o, t, s),
        // Appendix F
        Kind::Own(Api::LPrim(p, t)) => p.eval::<BigStep>(t, s),
        // E-18: fst s. E22: the components of a pair are not normal; the paper's rule ends in one
        // as it is.
        Kind::Own(Api::LFst) => run(&fst(s.clone())),
        // E-19: snd s
        Kind::Own(Api::LSnd) => run(&snd(s.clone())),
        // E-20: <lapp(g, s), lapp(h, s)>. E19: the paper applies `g` to `h`.
        Kind::Own(Api::LPair(g, h)) => pair(at(g), at(h)),
        // E-21: s t
        Kind::Own(Api::LEval(t)) => run(&app(s.clone(), t.clone())),
        // E-22: \y. lapp(g y, s)
        Kind::Own(Api::LSwap(g)) => {
            lam("y", f.ty().ends().1.arrow().0, |y| lapp(app(g.clone(), y), s.clone()))
        }
        // E-23: stuck, and normal: the entry that `lcur^-1` takes apart.
        Kind::Own(Api::Singleton(_)) => at(f),
        // E-24
        Kind::Own(Api::LCurInv(g)) => fold(f, g, &run(s)),
        Kind::Var(_)
        | Kind::Op(..)
        | Kind::Prim(..)
        | Kind::Unit
        | Kind::Pair(..)
        | Kind::Fst(_)
        | Kind::Snd(_) => stuck(f),
        Kind::Lam(..) | Kind::App(..) | Kind::Own(Api::LApp(..)) => stuck(f),
    }
}

/// The rules of the primitives: closed terms, run where their numbers are needed.
struct BigStep;

impl Evaluator for BigStep {
    type Value = Term;

    fn components(pair: &Term) -> (Term, Term) {
        both(&run(pair))
    }
    fn vectors(t: &Term, k: usize) -> Vec<std::rc::Rc<[f64]>> {
        leaves(t, k)
    }
    fn tuple(vectors: &[std::rc::Rc<[f64]>]) -> Term {
        vectors.iter().cloned().map(constant).reduce(pair).unwrap_or_else(unit)
    }
    fn call(f: &Term, x: &Term) -> Term {
        app(f.clone(), x.clone())
    }
    fn linear(f: &Term, v: &Term) -> Term {
        lapp(f.clone(), v.clone())
    }
    /// A normal form that `lcur^-1` takes apart.
    fn formal_sum(arity: usize, entries: Vec<(Term, Term)>) -> Term {
        let entries = entries.into_iter().map(|(x, w)| lapp(singleton(x, Ty::Real(1)), w));
        entries.reduce(plus).unwrap_or_else(|| zero(Ty::Real(1).tens(Ty::dom(&vec![1; arity]))))
    }
}

fn run_lop(o: LOp, t: &Term, s: &Term) -> Term {
    crate::value::count_lop();
    constant(o.eval(&leaves(t, o.dom().len()), &leaves(s, o.ldom().len())))
}

/// E-24: `lapp(lcur^-1 g, s)`, by the normal form of `s`; `f` is `lcur^-1 g`.
fn fold(f: &Term, g: &Term, s: &Term) -> Term {
    if let Kind::Own(Api::Zero) = s.kind() {
        // 0_R. E24: at the type of the result; the paper forgets that it is another zero, and still
        // has to be run.
        run(&zero(f.ty().ends().1))
    } else if let Kind::Own(Api::Plus(a, b)) = s.kind() {
        // lapp(lcur^-1 g, s1) + lapp(lcur^-1 g, s2)
        run(&plus(lapp(f.clone(), a.clone()), lapp(f.clone(), b.clone())))
    } else if let Kind::Own(Api::LApp(one, u)) = s.kind()
        && let Kind::Own(Api::Singleton(t)) = one.kind()
    {
        // for lapp({(t,-)}, u): lapp(g t, u)
        run(&lapp(app(g.clone(), t.clone()), u.clone()))
    } else {
        stuck(s)
    }
}

fn stuck(t: &Term) -> ! {
    panic!("`{t}` is not the normal form of a closed term of type {}", t.ty())
}
