//! Figure 1: typing. It shares no code with the constructors of terms.

use super::{Kind, Term, Ty, Var};

/// Is `Γ ⊢ t : T` derivable, with the type that the term says it has?
pub fn check(context: &[Var], t: &Term) -> Result<(), String> {
    let found = infer(&mut context.to_vec(), t)?;
    expect(&found, t.ty(), "a term is annotated wrongly")
}

fn infer(context: &mut Vec<Var>, t: &Term) -> Result<Ty, String> {
    match t.kind() {
        // S-1
        Kind::Var(x) => {
            let bound = context
                .iter()
                .rfind(|y| *y == x)
                .ok_or_else(|| format!("{} is not in scope", x.hint))?;
            expect(&x.ty, &bound.ty, "a variable is used at another type")?;
            Ok(bound.ty.clone())
        }
        // S-2
        Kind::Op(op, t) => {
            expect(&infer(context, t)?, &Ty::dom(&op.dom()), "an operation's argument")?;
            Ok(Ty::Real(op.cod()))
        }
        // Appendix F
        Kind::Prim(p, t) => {
            expect(&infer(context, t)?, &p.from(), "a primitive's argument")?;
            Ok(p.to())
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
                expect(&infer(context, s)?, &from, "a function's argument")?;
                Ok((*to).clone())
            }
            other => Err(format!("a term of type {other} is applied")),
        },
    }
}

fn product(ty: Ty) -> Result<(Ty, Ty), String> {
    match ty {
        Ty::Prod(a, b) => Ok(((*a).clone(), (*b).clone())),
        other => Err(format!("a component of a term of type {other}")),
    }
}

fn expect(found: &Ty, wanted: &Ty, what: &str) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{what}: {found} instead of {wanted}")) }
}
