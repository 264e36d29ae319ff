//! Types, patterns and parameters.

use lambada_source::{About, Doc, Side};

use super::brackets;
use super::expr::{Follow, MANY, expr, filled, real};
use crate::ast::{BinaryOp, Expr, ExprKind, Name, Param, Pattern, PatternKind, TypeExpr, TypeKind};

fn parens(doc: Doc) -> Doc {
    Doc::text("(") + doc + ")".into()
}

/// A type in a place without restrictions.
pub(super) fn ty(t: &TypeExpr) -> Doc {
    match &t.kind {
        TypeKind::Function(..) => arrows(t),
        TypeKind::Name(name, sizes, arguments) => {
            Doc::text(&*name.text)
                + Doc::concat(sizes.iter().map(|size| Doc::text(" ") + bracketed(size.as_ref())))
                + Doc::concat(
                    arguments.iter().map(|argument| Doc::text(" ") + argument_type(argument)),
                )
        }
        TypeKind::Array(..) | TypeKind::Tuple(_) | TypeKind::Record(_) | TypeKind::Error => {
            argument_type(t)
        }
    }
}

/// `a -> b -> c`
fn arrows(t: &TypeExpr) -> Doc {
    let mut parts = Vec::new();
    let mut last = t;
    while let TypeKind::Function(domain, codomain) = &last.kind {
        parts.push(if matches!(domain.kind, TypeKind::Function(..)) {
            parens(ty(domain))
        } else {
            ty(domain)
        });
        last = codomain;
    }
    parts.push(ty(last));
    Doc::join(&(Doc::line() + "-> ".into()), parts).group()
}

/// A type as an argument or as the element of an array.
pub(super) fn argument_type(t: &TypeExpr) -> Doc {
    match &t.kind {
        TypeKind::Name(_, sizes, arguments) if !(sizes.is_empty() && arguments.is_empty()) => {
            parens(ty(t))
        }
        TypeKind::Name(name, ..) => Doc::text(&*name.text),
        TypeKind::Function(..) => parens(ty(t)),
        TypeKind::Tuple(parts) if parts.len() >= MANY => filled(parts.iter().map(ty).collect()),
        TypeKind::Tuple(parts) => brackets("(", parts.iter().map(ty), ")"),
        TypeKind::Record(fields) => brackets("{", fields.iter().map(typed_field), "}"),
        TypeKind::Array(size, element) => bracketed(size.as_deref()) + argument_type(element),
        TypeKind::Error => "()".into(),
    }
}

fn typed_field((name, t): &(Name, TypeExpr)) -> Doc {
    Doc::text(format!("{} : ", name.text)) + ty(t)
}

/// A record on one line, or with one line for each field and each bracket.
pub(super) fn record_block(fields: &[(Name, TypeExpr)]) -> Doc {
    Doc::brackets("{", fields.iter().map(typed_field), "}")
}

/// `[n]`, `[]`; spaces around operators as the author wrote them.
fn bracketed(size: Option<&Expr>) -> Doc {
    let Some(size) = size else { return "[]".into() };
    let doc = expr(size, 1, Follow::NOTHING);
    let size = if is_compact(size) {
        let tight = doc.render(usize::MAX).replace(' ', "");
        Doc::choice(About::Spaces, doc, Doc::text(tight), Side::Joined)
    } else {
        doc
    };
    Doc::text("[") + size + "]".into()
}

/// Whether a size may be without spaces. Spaces in a call, and between two signs, have a meaning.
fn is_compact(size: &Expr) -> bool {
    use BinaryOp::{Add, Div, FloorDiv, Mul, Rem, Sub};
    if let ExprKind::Binary(op, a, b) = &size.kind {
        let arithmetic = matches!(op, Add | Sub | Mul | Div | FloorDiv | Rem);
        return arithmetic && is_compact(a) && is_compact(b);
    }
    matches!(size.kind, ExprKind::Var(_)) || matches!(size.kind, ExprKind::Int(value) if value >= 0)
}

/// `x`, `(p, q)`, `(x : real)`: a pattern that needs no parentheses around it.
pub(super) fn param(param: &Param) -> Doc {
    match &param.ty {
        Some(t) => parens(pattern(&param.pattern) + " : ".into() + ty(t)),
        None => atomic(&param.pattern),
    }
}

/// A parameter of a definition, where `[n]` is a size.
pub(super) fn def_param(one: &Param) -> Doc {
    let size = |parts: &Vec<Pattern>| parts.len() < 2;
    match &one.pattern.kind {
        PatternKind::Array(parts) if one.ty.is_none() && size(parts) => parens(param(one)),
        _ => param(one),
    }
}

pub(super) fn pattern(p: &Pattern) -> Doc {
    match &p.kind {
        PatternKind::Con(name, arguments) => {
            Doc::text(&*name.text)
                + Doc::concat(arguments.iter().map(|argument| Doc::text(" ") + atomic(argument)))
        }
        PatternKind::Int(value) => Doc::text(value.to_string()),
        PatternKind::Real(value) => Doc::text(real(*value)),
        PatternKind::Wildcard | PatternKind::Error => "_".into(),
        PatternKind::Var(name) => Doc::text(&**name),
        PatternKind::Bool(value) => Doc::text(value.to_string()),
        PatternKind::Tuple(parts) if parts.len() >= MANY => {
            filled(parts.iter().map(element).collect())
        }
        PatternKind::Tuple(parts) => brackets("(", parts.iter().map(element), ")"),
        PatternKind::Record(fields) => brackets("{", fields.iter().map(field), "}"),
        PatternKind::Array(parts) => brackets("[", parts.iter().map(element), "]"),
        PatternKind::Or(parts) => parens(alternatives(parts)),
        PatternKind::Annotated(inner, t) => parens(pattern(inner) + " : ".into() + ty(t)),
    }
}

/// The pattern of a case, whose alternatives need no parentheses.
pub(super) fn case(p: &Pattern) -> Doc {
    match &p.kind {
        PatternKind::Or(parts) => alternatives(parts).group(),
        _ => pattern(p),
    }
}

/// `p | q`
fn alternatives(parts: &[Pattern]) -> Doc {
    Doc::join(&(Doc::line() + "| ".into()), parts.iter().map(pattern))
}

/// An element of a tuple needs no parentheses around its type.
fn element(p: &Pattern) -> Doc {
    match &p.kind {
        PatternKind::Annotated(inner, t) => pattern(inner) + " : ".into() + ty(t),
        PatternKind::Or(parts) => alternatives(parts).group(),
        PatternKind::Con(..)
        | PatternKind::Int(_)
        | PatternKind::Real(_)
        | PatternKind::Wildcard
        | PatternKind::Error => pattern(p),
        PatternKind::Var(_)
        | PatternKind::Bool(_)
        | PatternKind::Tuple(_)
        | PatternKind::Record(_)
        | PatternKind::Array(_) => pattern(p),
    }
}

/// `x` for `x = x`.
fn field((name, p): &(Name, Pattern)) -> Doc {
    let same = matches!(&p.kind, PatternKind::Var(variable) if *variable == name.text);
    let name = Doc::text(&*name.text);
    if same { name } else { name + " = ".into() + pattern(p) }
}

fn atomic(p: &Pattern) -> Doc {
    let wide = match &p.kind {
        PatternKind::Con(_, arguments) => !arguments.is_empty(),
        PatternKind::Int(value) => *value < 0,
        PatternKind::Real(value) => value.is_sign_negative(),
        PatternKind::Wildcard
        | PatternKind::Var(_)
        | PatternKind::Bool(_)
        | PatternKind::Tuple(_) => false,
        PatternKind::Record(_) | PatternKind::Array(_) | PatternKind::Or(_) => false,
        PatternKind::Annotated(..) | PatternKind::Error => false,
    };
    if wide { parens(pattern(p)) } else { pattern(p) }
}
