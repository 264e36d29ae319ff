//! Figures 1 and 3: typing of the linear target language. It shares no code with the constructors of terms.

use super::{Kind, LTy, Lin, LinKind, Term, Ty, Var, of_source_ty};

/// Is `Γ ⊢ t : T` derivable, with the type that the term says it has?
pub fn check(context: &[Var], t: &Term) -> Result<(), String> {
    let found = infer(&mut context.to_vec(), t)?;
    same(&found, t.ty(), "a term is annotated wrongly")
}

/// Is `Γ; v : σ ⊢ l : τ` derivable, with the types that the term says it has?
pub fn check_linear(context: &[Var], l: &Lin) -> Result<(), String> {
    let found = infer_linear(&mut context.to_vec(), l.from(), l)?;
    same(&found, l.to(), "a linear term is annotated wrongly")
}

fn infer(context: &mut Vec<Var>, t: &Term) -> Result<Ty, String> {
    match t.kind() {
        Kind::Var(x) => {
            let bound = context
                .iter()
                .rfind(|y| *y == x)
                .ok_or_else(|| format!("{} is not in scope", x.hint))?;
            same(&x.ty, &bound.ty, "a variable is used at another type")?;
            Ok(bound.ty.clone())
        }
        Kind::Op(op, t) => {
            same(&infer(context, t)?, &Ty::dom(&op.dom()), "an operation's argument")?;
            Ok(Ty::Real(op.cod()))
        }
        Kind::Prim(p, t) => {
            same(&infer(context, t)?, &of_source_ty(&p.from()), "a primitive's argument")?;
            Ok(of_source_ty(&p.to()))
        }
        Kind::Unit => Ok(Ty::Unit),
        Kind::Pair(t, s) => Ok(infer(context, t)?.times(infer(context, s)?)),
        Kind::Fst(t) => product(infer(context, t)?).map(|(a, _)| a),
        Kind::Snd(t) => product(infer(context, t)?).map(|(_, b)| b),
        Kind::Lam(x, t) => {
            let to = below(context, x, |context| infer(context, t))?;
            Ok(x.ty.clone().to(to))
        }
        Kind::App(t, s) => match infer(context, t)? {
            Ty::Fun(from, to) => {
                same(&infer(context, s)?, &from, "a function's argument")?;
                Ok((*to).clone())
            }
            other => Err(format!("a term of type {other} is applied")),
        },
        // L-11
        Kind::LinLam(l) => {
            let to = infer_linear(context, l.from(), l)?;
            Ok(l.from().clone().lolli(to))
        }
    }
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
            Ty::Lolli(from, to) => {
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

fn product(ty: Ty) -> Result<(Ty, Ty), String> {
    match ty {
        Ty::Prod(a, b) => Ok(((*a).clone(), (*b).clone())),
        other => Err(format!("a component of a term of type {other}")),
    }
}

fn linear_product(ty: LTy) -> Result<(LTy, LTy), String> {
    match ty {
        LTy::Prod(a, b) => Ok(((*a).clone(), (*b).clone())),
        other => Err(format!("a component of a linear term of type {other}")),
    }
}

fn same<T: PartialEq + std::fmt::Display>(found: &T, wanted: &T, what: &str) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{what}: {found} instead of {wanted}")) }
}
