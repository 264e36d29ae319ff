//! Checks that are evident, by bounds of indices and sizes: `0 ≤ i` and `i < n` for the index of a
//! loop over n, the conditions of enclosing `if`s and dominating `Check`s, and sums of these with
//! constants.
//!
//! Assumes: sizes are not negative; sums of indices and sizes do not overflow. Gives: no comparison
//! of integers that linear bounds decide; a `Check` of a constant `true` then goes away; no
//! quotient or remainder that bounds of the operands decide. Keeps: values and failures: a check
//! that may fail stays where it is.

use lambada_anf::{Atom, Exp, Op, Stm};
use lambada_prim::Prim;

use crate::rewrite::{Context, Replacement};

/// Decides comparisons and quotients of integers, and checks.
pub(crate) fn checks(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    match &stm.exp {
        Exp::Op(Op::Prim(op, args)) => Replacement::value(decided(context, *op, args)?),
        // A comparison made before a loop may be decidable inside.
        Exp::Op(Op::Check { cond, .. }) => {
            let Exp::Op(Op::Prim(op, args)) = context.scope.definition(*cond)? else { return None };
            let holds = decided(context, *op, args)? == Atom::bool(true);
            holds.then(|| Replacement { stms: Vec::new(), values: Vec::new() })
        }
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}

/// The result of an operation on two integers, if bounds decide it.
fn decided(context: &Context, op: Prim, args: &[Atom]) -> Option<Atom> {
    let [a, b] = args[..] else { return None };
    let proves = |a, b, strict| context.scope.proves(a, b, strict);
    Some(match op {
        Prim::LtInt if proves(a, b, true) => Atom::bool(true),
        Prim::LtInt if proves(b, a, false) => Atom::bool(false),
        Prim::LeInt if proves(a, b, false) => Atom::bool(true),
        Prim::LeInt if proves(b, a, true) => Atom::bool(false),
        Prim::EqInt if proves(a, b, true) || proves(b, a, true) => Atom::bool(false),
        Prim::NeInt if proves(a, b, true) || proves(b, a, true) => Atom::bool(true),
        Prim::EqInt if proves(a, b, false) && proves(b, a, false) => Atom::bool(true),
        Prim::NeInt if proves(a, b, false) && proves(b, a, false) => Atom::bool(false),
        Prim::MinInt if proves(a, b, false) => a,
        Prim::MinInt if proves(b, a, false) => b,
        Prim::MaxInt if proves(a, b, false) => b,
        Prim::MaxInt if proves(b, a, false) => a,
        // A dividend below the divisor is its own remainder.
        Prim::RemInt if proves(Atom::int(0), a, false) && proves(a, b, true) => a,
        Prim::DivInt if proves(Atom::int(0), a, false) && proves(a, b, true) => Atom::int(0),
        // For example, the quotient of a dividend between two multiples of the divisor.
        _ => Atom::int(context.scope.constant(op, args)?),
    })
}
