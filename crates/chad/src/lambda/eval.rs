//! §5: meanings.

use super::{Construct, Kind, Language, Term};
use crate::primitives::Denotation;
use crate::value::{Value, eval_op};
use crate::var::Env;

/// The values of the free variables.
pub type Meaning = Env<Value>;

/// `⟦t⟧(γ)`
pub fn eval<L: Language>(t: &Term<L>, env: &Meaning) -> Value {
    match t.kind() {
        Kind::Var(x) => env.expect(x),
        Kind::Op(op, t) => eval_op(op, &eval(t, env)),
        Kind::Prim(p, t) => p.eval::<Denotation>(&eval(t, env)),
        Kind::Unit => Value::Unit,
        Kind::Pair(t, s) => Value::pair(eval(t, env), eval(s, env)),
        Kind::Fst(t) => eval(t, env).fst(),
        Kind::Snd(t) => eval(t, env).snd(),
        Kind::Lam(x, t) => {
            let (x, t, env) = (x.clone(), t.clone(), env.clone());
            Value::fun(move |argument| eval(&t, &env.with(&x, argument.clone())))
        }
        Kind::App(t, s) => eval(t, env).apply(&eval(s, env)),
        Kind::Own(own) => own.eval(env, t.ty()),
    }
}
