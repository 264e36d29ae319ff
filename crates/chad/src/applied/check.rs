//! Figure 5: typing of the API. It shares no code with the constructors of terms.

use super::{Abstract, Api, Term, Ty, Var, dagger_linear_ty, dagger_ty};
use crate::lambda::{self, Construct};

/// Checks the parts, then that the rule for the construct gives the type from the types of the
/// parts.
pub(super) fn infer(api: &Api, context: &mut Vec<Var>, ty: &Ty) -> Result<Ty, String> {
    api.parts().0.into_iter().try_for_each(|t| lambda::infer(context, t).map(|_| ()))?;
    if follows(api, ty) {
        Ok(ty.clone())
    } else {
        let t = Term::new(lambda::Kind::Own(api.clone()), ty.clone());
        Err(format!("`{t}` does not have type {ty}"))
    }
}

fn follows(api: &Api, ty: &Ty) -> bool {
    match api {
        //
        Api::LOp(lop, t) => {
            *t.ty() == Ty::dom(&lop.dom())
                && *ty == linear(&Ty::dom(&lop.ldom()), &Ty::Real(lop.cod()))
        }
        // Appendix F
        Api::LPrim(p, t) => {
            *t.ty() == dagger_ty(&p.dom())
                && *ty == linear(&dagger_linear_ty(&p.ldom()), &dagger_linear_ty(&p.cod()))
        }
        //
        Api::Zero => true,
        //
        Api::Plus(t, s) => t.ty() == ty && s.ty() == ty,
        //
        Api::LId => ends(ty).is_some_and(|(a, b)| a == b),
        //
        Api::LThen(t, s) => ends(t.ty())
            .zip(ends(s.ty()))
            .is_some_and(|((a, b), (c, d))| b == c && *ty == linear(a, d)),
        //
        Api::LApp(t, s) => *t.ty() == linear(s.ty(), ty),
        //
        Api::LSwap(t) => {
            keyed(t.ty()).is_some_and(|(key, from, to)| *ty == linear(from, &fun(key, to)))
        }
        //
        Api::LEval(t) => ends(ty).is_some_and(|(f, to)| *f == fun(t.ty(), to)),
        //
        Api::Singleton(t) => ends(ty).is_some_and(|(from, to)| *to == copower(t.ty(), from)),
        //
        Api::LCurInv(t) => {
            keyed(t.ty()).is_some_and(|(key, from, to)| *ty == linear(&copower(key, from), to))
        }
        //
        Api::LFst => matches!(ends(ty), Some((Ty::Prod(a, _), to)) if **a == *to),
        //
        Api::LSnd => matches!(ends(ty), Some((Ty::Prod(_, b), to)) if **b == *to),
        //
        Api::LPair(t, s) => ends(t.ty()).zip(ends(s.ty())).is_some_and(|((a, b), (c, d))| {
            a == c && *ty == linear(a, &Ty::Prod(b.clone().into(), d.clone().into()))
        }),
    }
}

fn fun(from: &Ty, to: &Ty) -> Ty {
    Ty::Fun(from.clone().into(), to.clone().into())
}

fn linear(from: &Ty, to: &Ty) -> Ty {
    Ty::Own(Abstract::LFun(from.clone().into(), to.clone().into()))
}

fn copower(key: &Ty, value: &Ty) -> Ty {
    Ty::Own(Abstract::Tens(key.clone().into(), value.clone().into()))
}

/// `LFun(S, R)`, in its parts.
fn ends(ty: &Ty) -> Option<(&Ty, &Ty)> {
    if let Ty::Own(Abstract::LFun(from, to)) = ty { Some((from, to)) } else { None }
}

/// `T -> LFun(S, R)`, in its parts.
fn keyed(ty: &Ty) -> Option<(&Ty, &Ty, &Ty)> {
    let Ty::Fun(key, linear) = ty else { return None };
    ends(linear).map(|(from, to)| (&**key, from, to))
}
