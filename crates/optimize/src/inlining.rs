//! A call of a small function that does not call itself is its body.
//!
//! Assumes: derivatives have been taken, since a function may have rules of its own. Gives: no call
//! of a function of few statements outside of a circle of calls. Keeps: values, failures, and which
//! accumulators are added to.

use lambada_anf::{Exp, Op, Stm, written_out};

use crate::rewrite::{Context, Replacement};

/// Writes a call out.
pub(crate) fn inlining(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    let Exp::Op(Op::Call { function, args, accumulators }) = &stm.exp else { return None };
    let callee = context.calls.small(*function)?;
    let body = written_out(callee, context.names, args, accumulators);
    Some(Replacement { stms: body.stms, values: body.results })
}
