//! Figure 1: typing. It shares no code with the constructors of terms.

use std::fmt::Display;

use super::{Construct, Kind, Language, Term, Ty, Var, of_source_ty};

/// Whether `Γ ⊢ t : T` is derivable, with the types that annotate the term and its subterms.
pub fn check<L: Language>(context: &[Var<L>], t: &Term<L>) -> Result<(), String> {
    infer(&mut context.to_vec(), t).map(|_| ())
}

/// The type, if all rules apply.
pub(crate) fn infer<L: Language>(context: &mut Vec<Var<L>>, t: &Term<L>) -> Result<Ty<L>, String> {
    let found = rule(context, t)?;
    same(&found, t.ty(), "a term is annotated wrongly")?;
    Ok(found)
}

fn rule<L: Language>(context: &mut Vec<Var<L>>, t: &Term<L>) -> Result<Ty<L>, String> {
    match t.kind() {
        // S-1
        Kind::Var(x) => {
            let bound = context.iter().rfind(|y| *y == x);
            let bound = bound.ok_or_else(|| format!("{} is not in scope", x.hint))?;
            same(&x.ty, &bound.ty, "a variable is used at another type")?;
            Ok(bound.ty.clone())
        }
        // S-2
        Kind::Op(op, t) => {
            same(&infer(context, t)?, &Ty::dom(&op.dom()), "an operation's argument")?;
            Ok(Ty::Real(op.cod()))
        }
        // Appendix F
        Kind::Prim(p, t) => {
            same(&infer(context, t)?, &of_source_ty(&p.from()), "a primitive's argument")?;
            Ok(of_source_ty(&p.to()))
        }
        // S-3
        Kind::Unit => Ok(Ty::Unit),
        // S-4
        Kind::Pair(t, s) => Ok(infer(context, t)?.times(infer(context, s)?)),
        // S-5
        Kind::Fst(t) => product(infer(context, t)?).map(|(a, _)| a),
        // S-6
        Kind::Snd(t) => product(infer(context, t)?).map(|(_, b)| b),
        // S-7
        Kind::Lam(x, t) => {
            context.push(x.clone());
            let to = infer(context, t);
            context.pop();
            Ok(x.ty.clone().to(to?))
        }
        // S-8; S-9 is derived
        Kind::App(t, s) => match infer(context, t)? {
            Ty::Fun(from, to) => {
                same(&infer(context, s)?, &from, "a function's argument")?;
                Ok((*to).clone())
            }
            other => Err(format!("a term of type {other} is applied")),
        },
        Kind::Own(own) => own.infer(context, t.ty()),
    }
}

fn product<L: Language>(ty: Ty<L>) -> Result<(Ty<L>, Ty<L>), String> {
    match ty {
        Ty::Prod(a, b) => Ok(((*a).clone(), (*b).clone())),
        other => Err(format!("a component of a term of type {other}")),
    }
}

/// An error if the types differ.
pub(crate) fn same<T: PartialEq + Display>(
    found: &T,
    wanted: &T,
    what: &str,
) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{what}: {found} instead of {wanted}")) }
}
