//! Figure 3: typing of linear terms, and of the linear λ. It shares no code with the constructors
//! of terms.

use super::{LTy, Lin, LinKind, Lolli, Ty, Var};
use crate::lambda::{infer, same};

/// Whether `Γ; v : σ ⊢ l : τ` is derivable, with the types that annotate the term.
pub fn check_linear(context: &[Var], l: &Lin) -> Result<(), String> {
    let found = infer_linear(&mut context.to_vec(), l.from(), l)?;
    same(&found, l.to(), "a linear term is annotated wrongly")
}

/// L-11: the type of `\_v. l`
pub(super) fn infer_linlam(context: &mut Vec<Var>, l: &Lin) -> Result<Ty, String> {
    let to = infer_linear(context, l.from(), l)?;
    Ok(l.from().clone().lolli(to))
}

/// The type of `l` where the linear variable has type `v`.
fn infer_linear(context: &mut Vec<Var>, v: &LTy, l: &Lin) -> Result<LTy, String> {
    match l.kind() {
        // L-1
        LinKind::Var => {
            same(l.from(), v, "the linear variable is used at another type")?;
            Ok(v.clone())
        }
        // L-2
        LinKind::LOp(lop, t, l) => {
            same(
                &infer(context, t)?,
                &Ty::dom(&lop.dom()),
                "a linear operation's Cartesian argument",
            )?;
            same(
                &infer_linear(context, v, l)?,
                &LTy::dom(&lop.ldom()),
                "a linear operation's argument",
            )?;
            Ok(LTy::Real(lop.cod()))
        }
        // Appendix F
        LinKind::LPrim(p, t, l) => {
            same(&infer(context, t)?, &p.dom(), "a linear primitive's Cartesian argument")?;
            same(&infer_linear(context, v, l)?, &p.ldom(), "a linear primitive's argument")?;
            Ok(p.cod())
        }
        // L-3
        LinKind::Unit => Ok(LTy::Unit),
        // L-4
        LinKind::Pair(l, k) => Ok(infer_linear(context, v, l)?.times(infer_linear(context, v, k)?)),
        // L-5
        LinKind::Fst(l) => linear_product(infer_linear(context, v, l)?).map(|(a, _)| a),
        // L-6
        LinKind::Snd(l) => linear_product(infer_linear(context, v, l)?).map(|(_, b)| b),
        // L-7
        LinKind::Lam(y, l) => {
            let to = below(context, y, |context| infer_linear(context, v, l))?;
            Ok(to.under(y.ty.clone()))
        }
        // L-8; L-15 is derived
        LinKind::App(l, t) => match infer_linear(context, v, l)? {
            LTy::Fun(from, to) => {
                same(&infer(context, t)?, &from, "a linear function's argument")?;
                Ok((*to).clone())
            }
            other => Err(format!("a linear term of type {other} is applied")),
        },
        // L-9
        LinKind::Tensor(t, l) => {
            let key = infer(context, t)?;
            Ok(infer_linear(context, v, l)?.tensor(key))
        }
        // L-10
        LinKind::Case(l, y, k) => match infer_linear(context, v, l)? {
            LTy::Tensor(key, z) => {
                same(&y.ty, &key, "the variable of a case")?;
                below(context, y, |context| infer_linear(context, &z, k))
            }
            other => Err(format!("a case on a term of type {other}")),
        },
        // L-12
        LinKind::LinApp(t, l) => match infer(context, t)? {
            Ty::Own(Lolli(from, to)) => {
                same(&infer_linear(context, v, l)?, &from, "the argument of a linear function")?;
                Ok((*to).clone())
            }
            other => Err(format!("a term of type {other} is applied linearly")),
        },
        // L-13
        LinKind::Zero => Ok(l.to().clone()),
        // L-14
        LinKind::Plus(l, k) => {
            let to = infer_linear(context, v, l)?;
            same(&infer_linear(context, v, k)?, &to, "the second summand")?;
            Ok(to)
        }
    }
}

fn below<T>(context: &mut Vec<Var>, x: &Var, run: impl FnOnce(&mut Vec<Var>) -> T) -> T {
    context.push(x.clone());
    let result = run(context);
    context.pop();
    result
}

fn linear_product(ty: LTy) -> Result<(LTy, LTy), String> {
    match ty {
        LTy::Prod(a, b) => Ok(((*a).clone(), (*b).clone())),
        other => Err(format!("a component of a linear term of type {other}")),
    }
}
