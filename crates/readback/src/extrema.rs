//! Loops that find the place of an extremum, as the compiler writes them: the first element that is
//! equal to it, or NaN.
//!
//! ```text
//!   m = for i < n (reduce max) { x[i] }
//!   k = for i < n (reduce min) { e = x[i] => if e == m || e != e then i else n - 1 }   argmax x
//! ```

use lambada_anf::{Atom, Exp, Nest, Op, Out, Stm, Var};
use lambada_prim::{Prim, ReduceOp};

/// A loop that finds the first element equal to a value.
pub(crate) struct Search<'s> {
    /// The statements that compute the element.
    pub(crate) before: &'s [Stm],
    pub(crate) element: Atom,
    pub(crate) wanted: Atom,
}

/// The search that a statement is.
pub(crate) fn search(stm: &Stm) -> Option<Search<'_>> {
    let Exp::Nest(Nest::For { index, outs, body, .. }) = &stm.exp else { return None };
    let (before, [equal, differs, either, select]) = body.stms.split_last_chunk()?;
    let (x, Prim::Eq, [e, wanted]) = prim(equal)? else { return None };
    let (y, Prim::Ne, [a, b]) = prim(differs)? else { return None };
    let (z, Prim::Or, [s, t]) = prim(either)? else { return None };
    let (w, Prim::SelectInt, [c, at, _]) = prim(select)? else { return None };
    let joined = *s == x.into() && *t == y.into() && *c == z.into() && body.results == [w.into()];
    let same =
        a == e && b == e && *at == (*index).into() && outs[..] == [Out::Reduce(ReduceOp::Min)];
    (joined && same).then_some(Search { before, element: *e, wanted: *wanted })
}

/// A scalar primitive: its variable, itself, its arguments.
fn prim(stm: &Stm) -> Option<(Var, Prim, &[Atom])> {
    let Exp::Op(Op::Prim(op, args)) = &stm.exp else { return None };
    Some((stm.binds[0].var, *op, args))
}
