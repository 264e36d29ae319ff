//! Constructors for syntax trees that passes write, without places.

use std::rc::Rc;

use lambada_source::Span;

use crate::ast::{
    Arm, BinaryOp, Clause, Expr, ExprKind, Name, Param, Pattern, PatternKind, TypeExpr, TypeKind,
    UnaryOp,
};

/// A name.
pub fn name(text: impl Into<Rc<str>>) -> Name {
    Name { text: text.into(), span: Span::default() }
}

/// An expression.
pub fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

/// Takes the form out of an expression.
pub fn kind(mut e: Expr) -> ExprKind {
    std::mem::replace(&mut e.kind, ExprKind::Error)
}

/// `x`
pub fn var(text: impl Into<Rc<str>>) -> Expr {
    expr(ExprKind::Var(text.into()))
}

/// `12`
pub fn int(value: i64) -> Expr {
    expr(ExprKind::Int(value))
}

/// `1.5`; infinities and NaN become names.
pub fn real(value: f64) -> Expr {
    if value.is_nan() {
        var("nan")
    } else if value == f64::INFINITY {
        var("inf")
    } else if value == f64::NEG_INFINITY {
        unary(UnaryOp::Neg, var("inf"))
    } else {
        expr(ExprKind::Real(value))
    }
}

/// `f a b`
pub fn call(f: Expr, args: impl IntoIterator<Item = Expr>) -> Expr {
    args.into_iter().fold(f, |f, arg| expr(ExprKind::Apply(Box::new(f), Box::new(arg))))
}

/// `r.x`
pub fn field(record: Expr, label: &Rc<str>) -> Expr {
    expr(ExprKind::Field(Box::new(record), name(label.clone())))
}

/// `t.0`
pub fn component(tuple: Expr, k: usize) -> Expr {
    expr(ExprKind::Component(Box::new(tuple), k, Span::default()))
}

/// `()`, `a`, `(a, b)`
pub fn tuple(mut parts: Vec<Expr>) -> Expr {
    if parts.len() == 1 { parts.remove(0) } else { expr(ExprKind::Tuple(parts)) }
}

/// `a + b`
pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    expr(ExprKind::Binary(op, Box::new(a), Box::new(b)))
}

/// `-e`, `not e`
pub fn unary(op: UnaryOp, e: Expr) -> Expr {
    expr(ExprKind::Unary(op, Box::new(e)))
}

/// `if c then a else b`
pub fn if_(condition: Expr, yes: Expr, no: Expr) -> Expr {
    expr(ExprKind::If(Box::new(condition), Box::new(yes), Box::new(no)))
}

/// `match e | …`
pub fn match_(subject: Expr, arms: Vec<Arm>) -> Expr {
    expr(ExprKind::Match(Box::new(subject), arms))
}

/// `p -> e`, a case without a condition
pub fn arm(pattern: Pattern, body: Expr) -> Arm {
    Arm { pattern, guard: None, body }
}

/// `let p = e in e`
pub fn let_(pattern: Pattern, value: Expr, body: Expr) -> Expr {
    let param = Param { pattern, ty: None };
    expr(ExprKind::Let(param, Box::new(value), Box::new(body)))
}

/// `for i < n => body`; joins the clauses of a `for` in the body.
pub fn for_(clause: Clause, body: Expr) -> Expr {
    match kind(body) {
        ExprKind::For(inner, body) => {
            let clauses = std::iter::once(clause).chain(inner).collect();
            expr(ExprKind::For(clauses, body))
        }
        kind => expr(ExprKind::For(vec![clause], Box::new(expr(kind)))),
    }
}

/// `xs[i, j]`
pub fn index(array: Expr, places: Vec<Expr>) -> Expr {
    expr(ExprKind::Index(Box::new(array), places))
}

/// `(e : t)`
pub fn annotated(e: Expr, ty: TypeExpr) -> Expr {
    expr(ExprKind::Annotated(Box::new(e), ty))
}

/// A pattern.
pub fn pattern(kind: PatternKind) -> Pattern {
    Pattern { kind, span: Span::default() }
}

/// `x` as a pattern; `_` is the wildcard.
pub fn binds(text: impl Into<Rc<str>>) -> Pattern {
    let text = text.into();
    pattern(if &*text == "_" { PatternKind::Wildcard } else { PatternKind::Var(text) })
}

/// `()`, `p`, `(p, q)`
pub fn tuple_pattern(mut parts: Vec<Pattern>) -> Pattern {
    if parts.len() == 1 { parts.remove(0) } else { pattern(PatternKind::Tuple(parts)) }
}

/// A type.
pub fn ty(kind: TypeKind) -> TypeExpr {
    TypeExpr { kind, span: Span::default() }
}

/// A named type.
pub fn named_ty(text: impl Into<Rc<str>>) -> TypeExpr {
    ty(TypeKind::Name(name(text), Vec::new(), Vec::new()))
}

/// `()`, `t`, `(t, u)`
pub fn tuple_ty(mut parts: Vec<TypeExpr>) -> TypeExpr {
    if parts.len() == 1 { parts.remove(0) } else { ty(TypeKind::Tuple(parts)) }
}
