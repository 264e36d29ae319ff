//! The meaning of the API, which is [`crate::linfun`].

use super::{Api, Term, Ty};
use crate::lambda;
use crate::linfun::{self, LinFun};
use crate::value::Value;
use crate::var::Env;

/// `⟦t⟧(γ)`, for a term of this type.
pub(super) fn eval(api: &Api, env: &Env<Value>, ty: &Ty) -> Value {
    let go = |t: &Term| lambda::eval(t, env);
    match api {
        Api::LOp(o, t) => Value::LinFun(LinFun::lop(*o, &go(t))),
        Api::LPrim(p, t) => Value::LinFun(LinFun::lprim(*p, &go(t))),
        Api::Zero => linfun::zero(ty),
        Api::Plus(t, s) => go(t).plus(&go(s)),
        Api::LId => Value::LinFun(LinFun::lid()),
        Api::LThen(t, s) => Value::LinFun(go(t).linear().then(go(s).linear())),
        Api::LApp(t, s) => go(t).linear().lapp(&go(s)),
        Api::LSwap(t) => Value::LinFun(LinFun::lswap(&go(t))),
        Api::LEval(t) => Value::LinFun(LinFun::leval(&go(t))),
        Api::Singleton(t) => Value::LinFun(LinFun::singleton(&go(t))),
        Api::LCurInv(f) => Value::LinFun(LinFun::lcur_inv(&go(f), &ty.ends().1)),
        Api::LFst => Value::LinFun(LinFun::lfst()),
        Api::LSnd => Value::LinFun(LinFun::lsnd()),
        Api::LPair(t, s) => Value::LinFun(go(t).linear().lpair(go(s).linear())),
    }
}
