//! Equations about the common part of the languages that make derivatives readable. See
//! `linear::tidy` and `applied::tidy`.

use std::collections::HashSet;

use super::{Kind, Language, Term, Var};

/// A function with a larger body is called rather than copied.
const SMALL: usize = 30;

/// `fst <t, s> = t`, `snd <t, s> = s` (S-11, S-12)
pub(crate) fn projected<L: Language>(t: &Term<L>) -> Option<Term<L>> {
    if let Kind::Fst(both) | Kind::Snd(both) = t.kind()
        && let Kind::Pair(a, b) = both.kind()
    {
        return Some(if let Kind::Fst(_) = t.kind() { a.clone() } else { b.clone() });
    }
    None
}

/// `fst ((\x. <a, b>) y) = a[y/x]`, and likewise for `snd`, below the λ of `y`. `f;fst` and `f;snd`
/// have this form for a small known `f`. Gives `a`, `x` and `y`.
pub(crate) fn half<'a, L: Language>(
    t: &'a Term<L>,
    bound: &HashSet<u32>,
) -> Option<(&'a Term<L>, &'a Var<L>, &'a Term<L>)> {
    if let Kind::Fst(call) | Kind::Snd(call) = t.kind()
        && let Kind::App(f, argument) = call.kind()
        && let (Kind::Lam(x, body), Kind::Var(y)) = (f.kind(), argument.kind())
        && let Kind::Pair(a, b) = body.kind()
        && bound.contains(&y.id)
        && body.fits(SMALL)
    {
        return Some((if let Kind::Fst(_) = t.kind() { a } else { b }, x, argument));
    }
    None
}

/// The variable of `\y. fst (f y)` is called as that of `f`, where that is a λ once it is tidy.
pub(crate) fn half_name<L: Language>(
    y: &Var<L>,
    body: &Term<L>,
    tidy: impl FnOnce(&Term<L>) -> Term<L>,
) -> Var<L> {
    if let Kind::Fst(call) | Kind::Snd(call) = body.kind()
        && let Kind::App(f, _) = call.kind()
        && let Kind::Lam(x, _) = tidy(f).kind()
    {
        return Var::<L> { hint: x.hint.clone(), ..y.clone() };
    }
    y.clone()
}
