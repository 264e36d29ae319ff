//! Precedences for printing, and chains of operators.

use lambada_source::Doc;

use super::expr::{Follow, expr};
use crate::ast::{BinaryOp, Expr, ExprKind};
use crate::parser::level as parsed_level;
use crate::parser::{COMPARISON, POWER, UNARY, is_open};

/// The level of an expression as it is printed: a negative literal is printed as a negation.
pub(super) fn level(e: &Expr) -> u8 {
    if is_negative(e) { UNARY } else { parsed_level(e) }
}

/// Whether this is a negative literal. The parser produces only the least integer; other passes
/// produce others.
pub(super) fn is_negative(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Int(value) if value < 0)
        || matches!(e.kind, ExprKind::Real(value) if value.is_sign_negative())
}

/// The level that an operator requires of its left operand.
pub(super) fn left_level(op: BinaryOp) -> u8 {
    if op.level() == POWER || op.level() == COMPARISON { op.level() + 1 } else { op.level() }
}

/// The level that an operator requires of its right operand; an exponent may have a sign.
pub(super) fn right_level(op: BinaryOp) -> u8 {
    if op.level() == POWER { UNARY } else { op.level() + 1 }
}

/// `a + b - c`: operands of one level stand on one line or each on its own.
pub(super) fn chain(op: BinaryOp, left: &Expr, right: &Expr, follow: Follow) -> Doc {
    let mut rest = vec![(op, right)];
    let mut first = left;
    while let ExprKind::Binary(inner, a, b) = &first.kind
        && inner.level() == op.level()
        && left_level(op) == op.level()
    {
        rest.push((*inner, b));
        first = a;
    }
    let count = rest.len();
    let operands = rest.into_iter().rev().enumerate().map(|(k, (op, operand))| {
        let follow = if k + 1 == count { follow } else { Follow::OPERATOR };
        let sign = format!("{} ", op.spelling());
        // The lines of a `match` or a `let` are indented behind the sign.
        let deeper = if is_open(operand) { sign.len() } else { 0 };
        Doc::line() + Doc::text(sign) + expr(operand, right_level(op), follow).nest(deeper)
    });
    (expr(first, left_level(op), Follow::OPERATOR)
        + Doc::concat(operands.collect::<Vec<_>>()).nest(2))
    .group()
}
