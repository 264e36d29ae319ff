//! Trees without places, to compare trees from different texts.

use lambada_source::Span;

use crate::ast::{
    Clause, Def, Expr, ExprKind, Item, LoopKind, Module, Name, Param, Pattern, PatternKind,
    TypeBody, TypeExpr, TypeKind,
};
use crate::visit::children_mut;

/// Sets every span to the default, and drops comments.
pub fn erase_spans(module: &mut Module) {
    module.written = None;
    for item in &mut module.items {
        match item {
            Item::Def(def) => erase_def(def),
            Item::Import(import) => {
                import.span = Span::default();
                names(import.alias.iter_mut().chain(import.names.iter_mut().flatten()));
            }
            Item::Type(def) => {
                def.span = Span::default();
                names(std::iter::once(&mut def.name).chain(&mut def.sizes).chain(&mut def.params));
                match &mut def.body {
                    TypeBody::Alias(ty) => erase_type(ty),
                    TypeBody::Variant(constructors) => {
                        for (name, arguments) in constructors {
                            name.span = Span::default();
                            arguments.iter_mut().for_each(erase_type);
                        }
                    }
                }
            }
        }
    }
}

fn names<'a>(names: impl Iterator<Item = &'a mut Name>) {
    names.for_each(|name| name.span = Span::default());
}

fn erase_def(def: &mut Def) {
    erase_head(def);
    erase_expr(&mut def.body);
    def.rules.iter_mut().for_each(|rule| erase_expr(&mut rule.body));
}

/// Erases the spans of a definition, except in its expressions.
fn erase_head(def: &mut Def) {
    def.span = Span::default();
    names(std::iter::once(&mut def.name).chain(&mut def.sizes));
    def.params.iter_mut().for_each(erase_param);
    def.result.iter_mut().for_each(erase_type);
    for rule in &mut def.rules {
        rule.span = Span::default();
        rule.params.iter_mut().chain(&mut rule.value).for_each(erase_param);
    }
}

fn erase_param(param: &mut Param) {
    erase_pattern(&mut param.pattern);
    param.ty.iter_mut().for_each(erase_type);
}

fn erase_pattern(pattern: &mut Pattern) {
    pattern.span = Span::default();
    match &mut pattern.kind {
        PatternKind::Tuple(parts) | PatternKind::Array(parts) | PatternKind::Or(parts) => {
            parts.iter_mut().for_each(erase_pattern)
        }
        PatternKind::Con(name, parts) => {
            name.span = Span::default();
            parts.iter_mut().for_each(erase_pattern);
        }
        PatternKind::Record(fields) => {
            for (name, part) in fields {
                name.span = Span::default();
                erase_pattern(part);
            }
        }
        PatternKind::Annotated(inner, ty) => {
            erase_pattern(inner);
            erase_type(ty);
        }
        PatternKind::Wildcard
        | PatternKind::Var(_)
        | PatternKind::Int(_)
        | PatternKind::Real(_)
        | PatternKind::Bool(_) => {}
        PatternKind::Error => {}
    }
}

fn erase_type(ty: &mut TypeExpr) {
    ty.span = Span::default();
    match &mut ty.kind {
        TypeKind::Name(name, sizes, parts) => {
            name.span = Span::default();
            sizes.iter_mut().flatten().for_each(erase_expr);
            parts.iter_mut().for_each(erase_type);
        }
        TypeKind::Tuple(parts) => parts.iter_mut().for_each(erase_type),
        TypeKind::Record(fields) => {
            for (name, part) in fields {
                name.span = Span::default();
                erase_type(part);
            }
        }
        TypeKind::Array(size, element) => {
            size.iter_mut().for_each(|size| erase_expr(size));
            erase_type(element);
        }
        TypeKind::Function(domain, codomain) => {
            erase_type(domain);
            erase_type(codomain);
        }
        TypeKind::Error => {}
    }
}

fn erase_clause(clause: &mut Clause) {
    match clause {
        Clause::Range(name, _) | Clause::Between(_, name, _) => name.span = Span::default(),
        Clause::If(_) => {}
        Clause::In(pattern, _) => erase_pattern(pattern),
    }
}

/// Erases the spans of an expression and all its parts.
fn erase_expr(expr: &mut Expr) {
    while let ExprKind::Commented(_, inner) = &mut expr.kind {
        *expr = std::mem::replace(inner, Expr { kind: ExprKind::Error, span: Span::default() });
    }
    expr.span = Span::default();
    match &mut expr.kind {
        ExprKind::Record(fields) | ExprKind::RecordUpdate(_, fields) => {
            names(fields.iter_mut().map(|(name, _)| name))
        }
        ExprKind::Field(_, name) | ExprKind::Add(name, ..) => name.span = Span::default(),
        ExprKind::Accumulate(accumulators, _) => {
            names(accumulators.iter_mut().map(|(name, _)| name))
        }
        ExprKind::Component(_, _, span) => *span = Span::default(),
        ExprKind::Lambda(params, _) => params.iter_mut().for_each(erase_param),
        ExprKind::Let(param, ..) | ExprKind::Loop(param, _, LoopKind::While(_), _) => {
            erase_param(param)
        }
        ExprKind::Loop(param, _, LoopKind::For(clause, ..), _) => {
            erase_param(param);
            erase_clause(clause);
        }
        ExprKind::LetFunctions(defs, _) => defs.iter_mut().for_each(erase_head),
        ExprKind::Match(_, arms) => arms.iter_mut().for_each(|arm| erase_pattern(&mut arm.pattern)),
        ExprKind::For(clauses, _) => clauses.iter_mut().for_each(erase_clause),
        ExprKind::Annotated(_, ty) => erase_type(ty),
        ExprKind::Var(_)
        | ExprKind::Con(_)
        | ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Bool(_)
        | ExprKind::InspectAs(_)
        | ExprKind::Check(..)
        | ExprKind::Fail(..)
        | ExprKind::Tuple(_) => {}
        ExprKind::Apply(..)
        | ExprKind::Operator(_)
        | ExprKind::SectionLeft(..)
        | ExprKind::SectionRight(..) => {}
        ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::If(..)
        | ExprKind::Array(_)
        | ExprKind::Index(..) => {}
        ExprKind::Slice(..)
        | ExprKind::Update(..)
        | ExprKind::UpdateSlice(..)
        | ExprKind::Sequence(..)
        | ExprKind::Commented(..)
        | ExprKind::Broken(_)
        | ExprKind::Error => {}
    }
    children_mut(expr, &mut erase_expr);
}
