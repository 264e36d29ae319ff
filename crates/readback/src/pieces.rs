//! Small expressions: constants, operators and calls, and their widths.

use std::rc::Rc;

use lambada_prim::{ReduceOp, Scalar, ScalarTy};
use lambada_source::Span;
use lambada_surface::ast::{
    BinaryOp, Clause, Def, Expr, ExprKind, Param, TypeExpr, TypeKind, UnaryOp,
};
use lambada_surface::build;

use crate::names;

/// A constant.
pub(crate) fn literal(value: Scalar) -> Expr {
    match value {
        Scalar::Real(x) => build::real(x),
        Scalar::Int(k) => build::int(k),
        Scalar::Bool(b) => build::expr(ExprKind::Bool(b)),
    }
}

/// Names of the language that this crate prints, besides primitives.
pub(crate) const CALLED: [&str; 17] = [
    "length",
    "sum",
    "product",
    "reduce",
    "min",
    "max",
    "inspect",
    "pi",
    "inf",
    "nan",
    "dot",
    "outer",
    "transpose",
    "maximum",
    "minimum",
    "argmax",
    "argmin",
];

/// `f a b`, for a function of the language.
pub(crate) fn call(f: &str, args: impl IntoIterator<Item = Expr>) -> Expr {
    build::call(build::var(f), args)
}

/// The transpose of a matrix. That of a product is the product of the transposes if these are
/// shorter: its elements are the same sums.
pub(crate) fn transposed(matrix: Expr) -> Expr {
    match build::kind(matrix) {
        ExprKind::Apply(f, inner) if is_transpose(&f) => *inner,
        ExprKind::Binary(BinaryOp::MatMul, a, b) if is_transposed(&a) || is_transposed(&b) => {
            build::binary(BinaryOp::MatMul, transposed(*b), transposed(*a))
        }
        kind => call("transpose", [build::expr(kind)]),
    }
}

pub(crate) fn is_transposed(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Apply(f, _) if is_transpose(f))
}

fn is_transpose(f: &Expr) -> bool {
    f.kind == ExprKind::Var("transpose".into())
}

/// The size of an array along an axis. Inner sizes have names only in types.
pub(crate) fn size_of(array: Expr, axis: usize, (elem, rank): (TypeExpr, usize)) -> Expr {
    if axis == 0 {
        return call("length", [array]);
    }
    let sizes: Vec<Rc<str>> = (0..rank).map(|k| format!("n{k}").into()).collect();
    let of = sizes.iter().rev().fold(elem, |elem, size| {
        let size = Some(Box::new(build::var(size.clone())));
        build::ty(TypeKind::Array(size, Box::new(elem)))
    });
    let inner = Def {
        doc: None,
        recursive: false,
        name: build::name("inner"),
        sizes: sizes.iter().map(|size| build::name(size.clone())).collect(),
        params: vec![Param { pattern: build::binds("array"), ty: Some(of) }],
        result: None,
        body: build::var(sizes[axis].clone()),
        rules: Vec::new(),
        span: Span::default(),
    };
    build::expr(ExprKind::LetFunctions(vec![inner], Box::new(call("inner", [array]))))
}

/// An infix operator, without two signs in a row.
pub(crate) fn infix(symbol: &str, a: Expr, b: Expr) -> Expr {
    let op = BinaryOp::spelled(symbol)
        .expect("the table of primitives spells operators of the language");
    let flipped = match op {
        BinaryOp::Add => Some(BinaryOp::Sub),
        BinaryOp::Sub => Some(BinaryOp::Add),
        BinaryOp::Pow
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::FloorDiv
        | BinaryOp::Rem
        | BinaryOp::MatMul
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Compose
        | BinaryOp::Pipe => None,
    };
    if let Some(flipped) = flipped {
        return match positive(b) {
            (true, b) => build::binary(flipped, a, b),
            (false, b) => build::binary(op, a, b),
        };
    }
    build::binary(op, a, b)
}

/// An expression without its leading sign, and whether it had one: negating a literal, a negation
/// or the first operand of a product or a quotient is exact.
fn positive(e: Expr) -> (bool, Expr) {
    match build::kind(e) {
        ExprKind::Real(x) if x < 0.0 => (true, build::real(-x)),
        ExprKind::Int(k) if k < 0 && k != i64::MIN => (true, build::int(-k)),
        ExprKind::Unary(UnaryOp::Neg, inner) => (true, *inner),
        ExprKind::Binary(op @ (BinaryOp::Mul | BinaryOp::Div | BinaryOp::MatMul), a, b) => {
            let (negative, a) = positive(*a);
            (negative, build::binary(op, a, *b))
        }
        ExprKind::Apply(f, b) => match build::kind(*f) {
            ExprKind::Apply(f, a) if f.kind == ExprKind::Var("outer".into()) => {
                let (negative, a) = positive(*a);
                (negative, build::call(*f, [a, *b]))
            }
            f => (false, build::expr(ExprKind::Apply(Box::new(build::expr(f)), b))),
        },
        kind => (false, build::expr(kind)),
    }
}

/// The reduction of an array of terms.
pub(crate) fn reduced(op: ReduceOp, elem: ScalarTy, array: Expr) -> Expr {
    let reduce = |f: Expr| call("reduce", [f, literal(op.unit(elem)), array.clone()]);
    match op {
        ReduceOp::Add => call("sum", [array]),
        ReduceOp::Mul => call("product", [array]),
        ReduceOp::Min => reduce(build::var("min")),
        ReduceOp::Max => reduce(build::var("max")),
        ReduceOp::And => reduce(build::expr(ExprKind::Operator(BinaryOp::And))),
        ReduceOp::Or => reduce(build::expr(ExprKind::Operator(BinaryOp::Or))),
    }
}

/// Approximate number of columns of an expression on one line; `None` if that exceeds `room`, or if
/// the expression should not be on one line.
pub(crate) fn width(e: &Expr, room: usize) -> Option<usize> {
    let own = match &e.kind {
        ExprKind::Var(name) | ExprKind::Con(name) => names::length(name),
        ExprKind::Int(value) => value.to_string().len(),
        ExprKind::Real(value) => format!("{value:?}").len(),
        ExprKind::Bool(_) => 5,
        ExprKind::InspectAs(name) => 13 + name.len(),
        ExprKind::Check(words, values) | ExprKind::Fail(words, values) => {
            8 + 2 * values.len() + words.iter().map(|word| word.len()).sum::<usize>()
        }
        ExprKind::Field(_, name) => 1 + name.text.len(),
        ExprKind::Component(..) | ExprKind::Unary(..) => 2,
        ExprKind::Tuple(parts) | ExprKind::Array(parts) | ExprKind::Index(_, parts) => {
            2 + 2 * parts.len().saturating_sub(1)
        }
        ExprKind::Apply(_, argument) => 1 + 2 * usize::from(!is_atomic(argument)),
        ExprKind::Binary(op, a, b) => {
            let inside = |e: &Expr| matches!(&e.kind, ExprKind::Binary(inner, ..) if inner.level() < op.level());
            2 + op.spelling().len() + 2 * usize::from(inside(a)) + 2 * usize::from(inside(b))
        }
        ExprKind::If(..) => 18,
        ExprKind::For(clauses, _) => {
            let one = |clause: &Clause| match clause {
                Clause::Range(name, _) => names::length(&name.text) + 5,
                Clause::Between(_, name, _) => names::length(&name.text) + 9,
                Clause::In(..) => 8,
                Clause::If(_) => 4,
            };
            8 + clauses.iter().map(one).sum::<usize>()
        }
        ExprKind::Operator(_) => 4,
        ExprKind::Annotated(..) => 9,
        ExprKind::Update(_, places, _) => 9 + 2 * places.len(),
        ExprKind::Record(_)
        | ExprKind::RecordUpdate(..)
        | ExprKind::Lambda(..)
        | ExprKind::SectionLeft(..)
        | ExprKind::SectionRight(..)
        | ExprKind::Let(..)
        | ExprKind::LetFunctions(..)
        | ExprKind::Match(..)
        | ExprKind::Slice(..)
        | ExprKind::UpdateSlice(..)
        | ExprKind::Loop(..)
        | ExprKind::Accumulate(..)
        | ExprKind::Add(..)
        | ExprKind::Sequence(..)
        | ExprKind::Commented(..)
        | ExprKind::Broken(_)
        | ExprKind::Error => return None,
    };
    let mut left = room.checked_sub(own);
    lambada_surface::visit::children(e, &mut |child| {
        left = left.and_then(|left| Some(left - width(child, left)?));
    });
    Some(room - left?)
}

/// Whether the expression never needs parentheses.
fn is_atomic(e: &Expr) -> bool {
    matches!(
        e.kind,
        ExprKind::Var(_)
            | ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Bool(_)
            | ExprKind::Index(..)
            | ExprKind::Field(..)
            | ExprKind::Component(..)
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
    )
}
