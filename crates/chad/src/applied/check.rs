//! Figures 1 and 5: typing of the applied target language. It shares no code with the constructors of terms.

use super::{Kind, Term, Ty, Var, dagger_linear_ty, dagger_ty};
use crate::linear::of_source_ty;

/// Is `Γ ⊢ t : T` derivable, with the types that its subterms say they have?
pub fn check(context: &[Var], t: &Term) -> Result<(), String> {
    judge(&mut context.to_vec(), t)
}

/// Checks the parts, then that the rule for the construct gives the type from the types of the parts.
fn judge(context: &mut Vec<Var>, t: &Term) -> Result<(), String> {
    if let Kind::Lam(x, body) = t.kind() {
        context.push(x.clone());
        let inside = judge(context, body);
        context.pop();
        inside?;
    } else {
        t.children().into_iter().try_for_each(|child| judge(context, child))?;
    }
    if follows(context, t) { Ok(()) } else { Err(format!("`{t}` does not have type {}", t.ty())) }
}

fn fun(from: &Ty, to: &Ty) -> Ty {
    Ty::Fun(from.clone().into(), to.clone().into())
}

fn linear(from: &Ty, to: &Ty) -> Ty {
    Ty::LFun(from.clone().into(), to.clone().into())
}

fn follows(context: &[Var], t: &Term) -> bool {
    let ty = t.ty();
    match t.kind() {
        Kind::Var(x) => {
            context.iter().rfind(|y| *y == x).is_some_and(|y| y.ty == *ty && x.ty == *ty)
        }
        Kind::Op(op, t) => *t.ty() == Ty::dom(&op.dom()) && *ty == Ty::Real(op.cod()),
        Kind::Prim(p, t) => {
            *t.ty() == dagger_ty(&of_source_ty(&p.from()))
                && *ty == dagger_ty(&of_source_ty(&p.to()))
        }
        Kind::Unit => *ty == Ty::Unit,
        Kind::Pair(t, s) => *ty == Ty::Prod(t.ty().clone().into(), s.ty().clone().into()),
        Kind::Fst(t) => matches!(t.ty(), Ty::Prod(a, _) if **a == *ty),
        Kind::Snd(t) => matches!(t.ty(), Ty::Prod(_, b) if **b == *ty),
        Kind::Lam(x, t) => *ty == fun(&x.ty, t.ty()),
        Kind::App(t, s) => *t.ty() == fun(s.ty(), ty),
        //
        Kind::LOp(lop, t) => {
            *t.ty() == Ty::dom(&lop.dom())
                && *ty == linear(&Ty::dom(&lop.ldom()), &Ty::Real(lop.cod()))
        }
        // Appendix F
        Kind::LPrim(p, t) => {
            *t.ty() == dagger_ty(&p.dom())
                && *ty == linear(&dagger_linear_ty(&p.ldom()), &dagger_linear_ty(&p.cod()))
        }
        //
        Kind::Zero => true,
        //
        Kind::Plus(t, s) => t.ty() == ty && s.ty() == ty,
        //
        Kind::LId => matches!(ty, Ty::LFun(a, b) if a == b),
        //
        Kind::LThen(t, s) => match (t.ty(), s.ty()) {
            (Ty::LFun(a, b), Ty::LFun(c, d)) => b == c && *ty == linear(a, d),
            (
                Ty::Real(_) | Ty::Unit | Ty::Prod(..) | Ty::Fun(..) | Ty::LFun(..) | Ty::Tens(..),
                _,
            ) => false,
        },
        //
        Kind::LApp(t, s) => *t.ty() == linear(s.ty(), ty),
        //
        Kind::LSwap(t) => {
            matches!(keyed(t.ty()), Some((key, from, to)) if *ty == linear(from, &fun(key, to)))
        }
        //
        Kind::LEval(t) => matches!(ty, Ty::LFun(f, to) if **f == fun(t.ty(), to)),
        //
        Kind::Singleton(t) => {
            matches!(ty, Ty::LFun(from, to) if **to == Ty::Tens(t.ty().clone().into(), from.clone()))
        }
        //
        Kind::LCurInv(t) => {
            matches!(keyed(t.ty()), Some((key, from, to)) if *ty == linear(&Ty::Tens(key.clone().into(), from.clone().into()), to))
        }
        //
        Kind::LFst => {
            matches!(ty, Ty::LFun(from, to) if matches!(&**from, Ty::Prod(a, _) if a == to))
        }
        //
        Kind::LSnd => {
            matches!(ty, Ty::LFun(from, to) if matches!(&**from, Ty::Prod(_, b) if b == to))
        }
        //
        Kind::LPair(t, s) => match (t.ty(), s.ty()) {
            (Ty::LFun(a, b), Ty::LFun(c, d)) => {
                a == c && *ty == linear(a, &Ty::Prod(b.clone(), d.clone()))
            }
            (
                Ty::Real(_) | Ty::Unit | Ty::Prod(..) | Ty::Fun(..) | Ty::LFun(..) | Ty::Tens(..),
                _,
            ) => false,
        },
    }
}

/// `T -> LFun(S, R)`, in its parts.
fn keyed(ty: &Ty) -> Option<(&Ty, &Ty, &Ty)> {
    if let Ty::Fun(key, linear) = ty
        && let Ty::LFun(from, to) = &**linear
    {
        return Some((key, from, to));
    }
    None
}
