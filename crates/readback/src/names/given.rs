//! Replaces tokens in the text by their names.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_surface::ast::{Clause, Def, Expr, ExprKind, LoopKind, Param, Pattern, PatternKind};
use lambada_surface::ast::{TypeExpr, TypeKind};
use lambada_surface::visit::children_mut;

use super::{MARK, hint_of, is_token};

/// The name of each token.
type ChosenNames = HashMap<Rc<str>, Rc<str>>;

/// Replaces the tokens of a definition by names.
pub(super) fn apply_to_def(def: &mut Def, names: &ChosenNames) {
    apply_to_params(&mut def.params, names);
    apply(&mut def.body, names);
}

fn apply_to_name(name: &mut Rc<str>, names: &ChosenNames) {
    if let Some(chosen) = names.get(name) {
        *name = chosen.clone();
    }
}

fn apply_to_pattern(pattern: &mut Pattern, names: &ChosenNames) {
    if let PatternKind::Var(name) = &mut pattern.kind {
        apply_to_name(name, names);
    } else if let PatternKind::Tuple(parts)
    | PatternKind::Con(_, parts)
    | PatternKind::Array(parts)
    | PatternKind::Or(parts) = &mut pattern.kind
    {
        parts.iter_mut().for_each(|part| apply_to_pattern(part, names));
    } else if let PatternKind::Record(fields) = &mut pattern.kind {
        fields.iter_mut().for_each(|(_, part)| apply_to_pattern(part, names));
    } else if let PatternKind::Annotated(inner, _) = &mut pattern.kind {
        apply_to_pattern(inner, names);
    }
}

fn apply_to_clause(clause: &mut Clause, names: &ChosenNames) {
    match clause {
        Clause::Range(name, _) | Clause::Between(_, name, _) => {
            apply_to_name(&mut name.text, names)
        }
        Clause::If(_) => {}
        Clause::In(pattern, _) => apply_to_pattern(pattern, names),
    }
}

/// Replaces tokens in a comment.
fn apply_to_comment(comment: &mut Rc<str>, names: &ChosenNames) {
    if is_token(comment) {
        let separated = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == MARK);
        let word = |part: &str| {
            let word = part.trim_end_matches(separated);
            let name =
                names.get(word).map(|name| if &**name == "_" { hint_of(word) } else { name });
            name.map_or(part.into(), |name| format!("{name}{}", &part[word.len()..]))
        };
        *comment = comment.split_inclusive(separated).map(word).collect::<String>().into();
    }
}

/// Replaces tokens in the head of a local function, also in the sizes of its types.
fn apply_to_head(def: &mut Def, names: &ChosenNames) {
    apply_to_name(&mut def.name.text, names);
    def.params.iter_mut().filter_map(|p| p.ty.as_mut()).for_each(|ty| apply_to_type(ty, names));
    def.result.iter_mut().for_each(|ty| apply_to_type(ty, names));
    apply_to_params(&mut def.params, names);
}

fn apply_to_type(ty: &mut TypeExpr, names: &ChosenNames) {
    match &mut ty.kind {
        TypeKind::Name(_, sizes, parts) => {
            sizes.iter_mut().flatten().for_each(|size| apply(size, names));
            parts.iter_mut().for_each(|part| apply_to_type(part, names));
        }
        TypeKind::Tuple(parts) => parts.iter_mut().for_each(|part| apply_to_type(part, names)),
        TypeKind::Record(fields) => {
            fields.iter_mut().for_each(|(_, part)| apply_to_type(part, names));
        }
        TypeKind::Array(size, element) => {
            size.iter_mut().for_each(|size| apply(size, names));
            apply_to_type(element, names);
        }
        TypeKind::Function(domain, codomain) => {
            apply_to_type(domain, names);
            apply_to_type(codomain, names);
        }
        TypeKind::Error => {}
    }
}

fn apply_to_params<'p>(params: impl IntoIterator<Item = &'p mut Param>, names: &ChosenNames) {
    params.into_iter().for_each(|param| apply_to_pattern(&mut param.pattern, names));
}

/// Replaces the names that an expression itself mentions or binds, without its subexpressions.
fn apply_here(e: &mut Expr, names: &ChosenNames) {
    if let ExprKind::Var(name) = &mut e.kind {
        apply_to_name(name, names);
    } else if let ExprKind::Add(name, ..) = &mut e.kind {
        apply_to_name(&mut name.text, names);
    } else if let ExprKind::Commented(comment, _) = &mut e.kind {
        apply_to_comment(comment, names);
    } else if let ExprKind::Let(param, ..) = &mut e.kind {
        apply_to_params([param], names);
    } else if let ExprKind::LetFunctions(defs, _) = &mut e.kind {
        defs.iter_mut().for_each(|def| apply_to_head(def, names));
    } else if let ExprKind::Lambda(params, _) = &mut e.kind {
        apply_to_params(params, names);
    } else if let ExprKind::For(clauses, _) = &mut e.kind {
        clauses.iter_mut().for_each(|clause| apply_to_clause(clause, names));
    } else if let ExprKind::Loop(state, _, kind, _) = &mut e.kind {
        apply_to_params([state], names);
        if let LoopKind::For(clause, ..) = kind {
            apply_to_clause(clause, names);
        }
    } else if let ExprKind::Accumulate(accumulators, _) = &mut e.kind {
        accumulators.iter_mut().for_each(|(name, _)| apply_to_name(&mut name.text, names));
    } else if let ExprKind::Match(_, arms) = &mut e.kind {
        arms.iter_mut().for_each(|arm| apply_to_pattern(&mut arm.pattern, names));
    }
}

fn apply(e: &mut Expr, names: &ChosenNames) {
    let mut e = e;
    loop {
        apply_here(e, names);
        // Iterates over consecutive bindings, because a long text is no deep one.
        let continues =
            matches!(e.kind, ExprKind::Let(..) | ExprKind::Sequence(..) | ExprKind::Commented(..));
        if !continues {
            return children_mut(e, &mut |child| apply(child, names));
        }
        e = match &mut e.kind {
            ExprKind::Let(_, first, rest) | ExprKind::Sequence(first, rest) => {
                apply(first, names);
                rest
            }
            ExprKind::Commented(_, rest) => rest,
            _ => return, // decided above
        };
    }
}
