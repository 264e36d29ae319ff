//! The meaning of the applied target language: the API is [`crate::linfun`].

use super::{Kind, Term};
use crate::linfun::{self, LinFun};
use crate::primitives::Denotation;
use crate::value::{Value, eval_op};
use crate::var::Env;

/// `⟦t⟧(γ)`
pub fn eval(t: &Term, env: &Env<Value>) -> Value {
    let go = |t: &Term| eval(t, env);
    match t.kind() {
        Kind::Var(x) => env.expect(x),
        Kind::Op(op, t) => eval_op(op, &go(t)),
        Kind::Prim(p, t) => p.eval::<Denotation>(&go(t)),
        Kind::Unit => Value::Unit,
        Kind::Pair(t, s) => Value::pair(go(t), go(s)),
        Kind::Fst(t) => go(t).fst(),
        Kind::Snd(t) => go(t).snd(),
        Kind::Lam(x, t) => {
            let (x, t, env) = (x.clone(), t.clone(), env.clone());
            Value::fun(move |argument| eval(&t, &env.with(&x, argument.clone())))
        }
        Kind::App(t, s) => go(t).apply(&go(s)),
        Kind::LOp(o, t) => Value::LinFun(LinFun::lop(*o, &go(t))),
        Kind::LPrim(p, t) => Value::LinFun(LinFun::lprim(*p, &go(t))),
        Kind::Zero => linfun::zero(t.ty()),
        Kind::Plus(t, s) => go(t).plus(&go(s)),
        Kind::LId => Value::LinFun(LinFun::lid()),
        Kind::LThen(t, s) => Value::LinFun(go(t).linear().then(go(s).linear())),
        Kind::LApp(t, s) => go(t).linear().lapp(&go(s)),
        Kind::LSwap(t) => Value::LinFun(LinFun::lswap(&go(t))),
        Kind::LEval(t) => Value::LinFun(LinFun::leval(&go(t))),
        Kind::Singleton(t) => Value::LinFun(LinFun::singleton(&go(t))),
        Kind::LCurInv(f) => Value::LinFun(LinFun::lcur_inv(&go(f), &t.ty().ends().1)),
        Kind::LFst => Value::LinFun(LinFun::lfst()),
        Kind::LSnd => Value::LinFun(LinFun::lsnd()),
        Kind::LPair(t, s) => Value::LinFun(go(t).linear().lpair(go(s).linear())),
    }
}
