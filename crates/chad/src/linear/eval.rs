//! §5: the meaning of the linear target language.
//!
//! `⟦Γ ⊢ t : T⟧` takes an environment to a value; `⟦Γ; v : σ ⊢ l : τ⟧` takes an environment and a
//! value of σ, in which it is additive.

use std::rc::Rc;

use super::{LTy, Lin, LinKind};
use crate::lambda::eval;
use crate::primitives::Denotation;
use crate::value::{Value, eval_lop};
use crate::var::Env;

/// `⟦l⟧(γ)(v)`
pub fn eval_linear(l: &Lin, env: &Env<Value>, v: &Value) -> Value {
    let go = |l: &Lin| eval_linear(l, env, v);
    match l.kind() {
        LinKind::Var => v.clone(),
        LinKind::LOp(lop, t, l) => eval_lop(*lop, &eval(t, env), &go(l)),
        LinKind::LPrim(p, t, l) => p.eval::<Denotation>(&eval(t, env), &go(l)),
        LinKind::Unit => Value::Unit,
        LinKind::Pair(l, k) => Value::pair(go(l), go(k)),
        LinKind::Fst(l) => go(l).fst(),
        LinKind::Snd(l) => go(l).snd(),
        LinKind::Lam(y, l) => {
            let (y, l, env, v) = (y.clone(), l.clone(), env.clone(), v.clone());
            Value::fun(move |argument| eval_linear(&l, &env.with(&y, argument.clone()), &v))
        }
        LinKind::App(l, t) => go(l).apply(&eval(t, env)),
        LinKind::Tensor(t, l) => Value::Sum(Rc::new(vec![(eval(t, env), go(l))])),
        // E9: `!f` of a formal sum is a sum over its index.
        LinKind::Case(l, y, k) => {
            let Value::Sum(entries) = go(l) else {
                panic!("a case on something else than a formal sum")
            };
            let each = entries.iter().map(|(x, z)| eval_linear(k, &env.with(y, x.clone()), z));
            each.fold(zero(k.to()), |sum, value| sum.plus(&value))
        }
        // E4: first the argument, then the function; the paper composes them the other way round.
        LinKind::LinApp(t, l) => eval(t, env).apply(&go(l)),
        // E5: the zero morphism σ -> τ, whatever `v` is.
        LinKind::Zero => zero(l.to()),
        LinKind::Plus(l, k) => go(l).plus(&go(k)),
    }
}

/// The zero of the monoid that a linear type is.
pub fn zero(ty: &LTy) -> Value {
    match ty {
        LTy::Real(n) => Value::real(vec![0.0; *n]),
        LTy::Unit => Value::Unit,
        LTy::Prod(a, b) => Value::pair(zero(a), zero(b)),
        LTy::Fun(_, to) => {
            let to = to.clone();
            Value::fun(move |_| zero(&to))
        }
        LTy::Tensor(..) => Value::Sum(Rc::new(vec![])),
    }
}
