//! Polls: the places where machine code asks whether its call has been cancelled.
//!
//! - A call of a function asks by comparing the stack, which it does anyway: a cancelled call has
//!   none.
//! - A `while` asks in each iteration.
//! - A `for` asks in each iteration if one may take long: if there is another `for` in it whose
//!   length is not known to be small, or a kernel. If it is itself in a `for`, and all loops in it
//!   ask nothing, it leaves the question to the outer one, unless its iterations need each other:
//!   between two short loops a question would cost more than a hundredth.
//! - A `Parallel` asks before each iteration.
//! - A `for` whose iterations are all short asks nothing; if it is in no other, and may be long
//!   itself, it is cut into blocks of [`BLOCK`] iterations.
//!
//! So a call goes on at most for the two innermost loops of a nest, or for one kernel.

use lambada_loops::{Mode, Nest, Operand, Step, Stmt};
use lambada_prim::Scalar;

/// The iterations of an outermost loop between two questions.
pub(crate) const BLOCK: i64 = 1 << 16;

/// The most iterations in all of loops that do not take long.
const SHORT: i64 = 64;

/// Whether a loop with this body, in `depth` others, asks in each iteration.
pub(crate) fn asks(mode: Mode, depth: usize, body: &[Stmt]) -> bool {
    match height(body) {
        0 => false,
        1 => depth == 0 || mode == Mode::Sequential,
        _ => true,
    }
}

/// The depth of loops in a body that may take long, as far as it matters: 0, 1 or more.
fn height(body: &[Stmt]) -> u32 {
    if length(body).is_some() {
        return 0;
    }
    let heights = body.iter().map(|stmt| match stmt {
        Stmt::Step(Step::Kernel { .. }) => 2,
        Stmt::Step(_) | Stmt::Nest(Nest::While { .. }) => 0,
        Stmt::Nest(Nest::For { body, .. }) => (1 + height(body)).min(2),
        Stmt::Nest(Nest::Parallel { .. }) => 2,
        Stmt::Nest(nest @ (Nest::If { .. } | Nest::Scope(..))) => {
            nest.bodies().into_iter().map(|body| height(body)).max().unwrap_or_default()
        }
    });
    heights.max().unwrap_or_default()
}

/// Whether one iteration with this body may take long.
pub(crate) fn is_long(body: &[Stmt]) -> bool {
    height(body) > 0
}

/// Whether a loop may be longer than a block.
pub(crate) fn may_be_long(start: Operand, end: Operand, step: i64) -> bool {
    iterations(start, end, step).is_none_or(|count| count > BLOCK)
}

/// The iterations of the loops of a body in all, if these are known to be few. A loop that asks
/// itself counts for nothing.
fn length(body: &[Stmt]) -> Option<i64> {
    let lengths = body.iter().map(|stmt| match stmt {
        Stmt::Step(Step::Kernel { .. }) | Stmt::Nest(Nest::Parallel { .. }) => None,
        Stmt::Step(_) | Stmt::Nest(Nest::While { .. }) => Some(0),
        Stmt::Nest(Nest::For { start, end, step, body, .. }) => {
            let count = iterations(*start, *end, *step)?;
            length(body)?.max(1).checked_mul(count)
        }
        Stmt::Nest(nest @ (Nest::If { .. } | Nest::Scope(..))) => {
            nest.bodies().into_iter().map(|body| length(body)).sum()
        }
    });
    lengths.sum::<Option<i64>>().filter(|sum| *sum <= SHORT)
}

fn iterations(start: Operand, end: Operand, step: i64) -> Option<i64> {
    match (start, end) {
        (Operand::Lit(Scalar::Int(start)), Operand::Lit(Scalar::Int(end))) => {
            let span = end.checked_sub(start)?.max(0);
            Some(span / step + i64::from(span % step != 0))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lambada_loops::Reg;

    fn counted(end: Operand, body: Vec<Stmt>) -> Stmt {
        let (index, start) = (Reg(0), Operand::Lit(Scalar::Int(0)));
        Stmt::Nest(Nest::For { index, start, end, step: 1, mode: Mode::Sequential, body })
    }

    #[test]
    fn only_loops_with_long_ones_inside_ask() {
        let few = |n| Operand::Lit(Scalar::Int(n));
        let all = || counted(Operand::Reg(Reg(1)), vec![]);
        let outermost = |body: &[Stmt]| asks(Mode::Reduction, 0, body);
        assert!(!outermost(&[]));
        assert!(!outermost(&[counted(few(8), vec![counted(few(8), vec![])])]));
        assert!(outermost(&[counted(few(8), vec![counted(few(9), vec![])])]));
        assert!(outermost(&[all()]));
        let two = [counted(Operand::Reg(Reg(1)), vec![all()])];
        for (mode, one) in [(Mode::Reduction, false), (Mode::Sequential, true)] {
            assert_eq!(asks(mode, 1, &[all()]), one);
            assert!(asks(mode, 1, &two));
        }
        assert!(may_be_long(few(0), few(i64::MAX), 1) && may_be_long(few(i64::MIN), few(1), 1));
        assert!(!may_be_long(few(0), few(2 * BLOCK), 2));
    }
}
