//! Names that begin with a capital letter and are no constructors.
//!
//! The parser reads such a name as a constructor. Here it becomes a variable where it must be one:
//! in the size of a type, as a pattern without arguments of a parameter, a `let`, a `for` or a
//! `loop`, and in expressions of a definition that binds it. A constructor of the same file stays
//! one; those of other files are unknown here, so inference looks at them once more.

use std::collections::HashSet;
use std::rc::Rc;

use lambada_source::stack;

use crate::ast::{
    Clause, Def, Expr, ExprKind, Item, LoopKind, Module, Param, Pattern, PatternKind, TypeBody,
    TypeExpr, TypeKind,
};
use crate::visit::children_mut;

/// Makes variables of the capital names of a file that are no constructors.
pub fn resolve(module: &mut Module) {
    let mut capitals = Capitals::default();
    for item in &module.items {
        match item {
            Item::Def(def) => capitals.bind(&def.name.text),
            Item::Type(def) => {
                if let TypeBody::Variant(constructors) = &def.body {
                    capitals.constructors.extend(constructors.iter().map(|(c, _)| c.text.clone()));
                }
            }
            Item::Import { .. } => {}
        }
    }
    for item in &mut module.items {
        match item {
            Item::Def(def) => {
                let outer = capitals.bound.clone();
                capitals.def(def);
                capitals.mentions_in_def(def);
                capitals.bound = outer;
            }
            Item::Type(def) => match &mut def.body {
                TypeBody::Alias(ty) => resolve_type(ty),
                TypeBody::Variant(constructors) => {
                    constructors.iter_mut().flat_map(|(_, args)| args).for_each(resolve_type);
                }
            },
            Item::Import { .. } => {}
        }
    }
}

/// Like [`resolve`], for an expression of its own.
pub(crate) fn resolve_expr(expr: &mut Expr) {
    let mut capitals = Capitals::default();
    capitals.expr(expr);
    capitals.mentions(expr);
}

/// Makes variables of the capital names in the sizes of a type.
pub(crate) fn resolve_type(ty: &mut TypeExpr) {
    match &mut ty.kind {
        TypeKind::Name(_, sizes, arguments) => {
            sizes.iter_mut().flatten().for_each(resolve_size);
            arguments.iter_mut().for_each(resolve_type);
        }
        TypeKind::Tuple(parts) => parts.iter_mut().for_each(resolve_type),
        TypeKind::Record(fields) => fields.iter_mut().for_each(|(_, ty)| resolve_type(ty)),
        TypeKind::Array(size, element) => {
            size.iter_mut().for_each(|size| resolve_size(size));
            resolve_type(element);
        }
        TypeKind::Function(domain, codomain) => {
            resolve_type(domain);
            resolve_type(codomain);
        }
        TypeKind::Error => {}
    }
}

fn resolve_size(size: &mut Expr) {
    if let ExprKind::Con(name) = &size.kind {
        size.kind = ExprKind::Var(name.clone());
    }
    children_mut(size, &mut resolve_size);
}

#[derive(Default)]
struct Capitals {
    constructors: HashSet<Rc<str>>,
    /// The capital names that the file or the current definition binds.
    bound: HashSet<Rc<str>>,
}

impl Capitals {
    fn bind(&mut self, name: &Rc<str>) {
        if name.starts_with(char::is_uppercase) && !self.constructors.contains(name) {
            self.bound.insert(name.clone());
        }
    }

    fn def(&mut self, def: &mut Def) {
        self.bind(&def.name.text);
        def.sizes.iter().for_each(|size| self.bind(&size.text));
        def.params.iter_mut().for_each(|param| self.param(param));
        def.result.iter_mut().for_each(resolve_type);
        self.expr(&mut def.body);
        for rule in &mut def.rules {
            rule.params.iter_mut().chain(&mut rule.value).for_each(|param| self.param(param));
            self.expr(&mut rule.body);
        }
    }

    fn param(&mut self, param: &mut Param) {
        self.pattern(&mut param.pattern);
        param.ty.iter_mut().for_each(resolve_type);
    }

    /// A pattern that matches every value.
    fn pattern(&mut self, pattern: &mut Pattern) {
        match &mut pattern.kind {
            PatternKind::Con(name, arguments)
                if arguments.is_empty()
                    && !name.text.contains('.')
                    && !self.constructors.contains(&name.text) =>
            {
                self.bound.insert(name.text.clone());
                pattern.kind = PatternKind::Var(name.text.clone());
            }
            PatternKind::Tuple(parts) | PatternKind::Con(_, parts) | PatternKind::Array(parts) => {
                parts.iter_mut().for_each(|part| self.pattern(part));
            }
            PatternKind::Record(fields) => {
                fields.iter_mut().for_each(|(_, part)| self.pattern(part));
            }
            PatternKind::Annotated(inner, ty) => {
                self.pattern(inner);
                resolve_type(ty);
            }
            PatternKind::Or(_)
            | PatternKind::Wildcard
            | PatternKind::Var(_)
            | PatternKind::Int(_)
            | PatternKind::Real(_)
            | PatternKind::Bool(_) => {}
            PatternKind::Error => {}
        }
    }

    /// Types in the pattern of a case, where capital names are constructors.
    fn case(pattern: &mut Pattern) {
        match &mut pattern.kind {
            PatternKind::Tuple(parts)
            | PatternKind::Con(_, parts)
            | PatternKind::Array(parts)
            | PatternKind::Or(parts) => parts.iter_mut().for_each(Self::case),
            PatternKind::Record(fields) => {
                fields.iter_mut().for_each(|(_, part)| Self::case(part));
            }
            PatternKind::Annotated(inner, ty) => {
                Self::case(inner);
                resolve_type(ty);
            }
            PatternKind::Wildcard
            | PatternKind::Var(_)
            | PatternKind::Int(_)
            | PatternKind::Real(_)
            | PatternKind::Bool(_) => {}
            PatternKind::Error => {}
        }
    }

    fn clause(&mut self, clause: &mut Clause) {
        match clause {
            Clause::Range(name, _) | Clause::Between(_, name, _) => self.bind(&name.text),
            Clause::In(pattern, _) => self.pattern(pattern),
            Clause::If(_) => {}
        }
    }

    /// Patterns and types of an expression.
    fn expr(&mut self, expr: &mut Expr) {
        if let ExprKind::LetFunctions(defs, body) = &mut expr.kind {
            defs.iter_mut().for_each(|def| self.def(def));
            return self.expr(body);
        }
        if let ExprKind::Lambda(params, _) = &mut expr.kind {
            params.iter_mut().for_each(|param| self.param(param));
        } else if let ExprKind::Let(param, ..) = &mut expr.kind {
            self.param(param);
        } else if let ExprKind::Loop(param, _, kind, _) = &mut expr.kind {
            self.param(param);
            if let LoopKind::For(clause, ..) = kind {
                self.clause(clause);
            }
        } else if let ExprKind::For(clauses, _) = &mut expr.kind {
            clauses.iter_mut().for_each(|clause| self.clause(clause));
        } else if let ExprKind::Match(_, arms) = &mut expr.kind {
            arms.iter_mut().for_each(|arm| Self::case(&mut arm.pattern));
        } else if let ExprKind::Accumulate(accumulators, _) = &mut expr.kind {
            accumulators.iter().for_each(|(name, _)| self.bind(&name.text));
        } else if let ExprKind::Annotated(_, ty) = &mut expr.kind {
            resolve_type(ty);
        }
        stack::deeper(|| children_mut(expr, &mut |child| self.expr(child)));
    }

    fn mentions_in_def(&self, def: &mut Def) {
        if self.bound.is_empty() {
            return;
        }
        self.mentions(&mut def.body);
        def.rules.iter_mut().for_each(|rule| self.mentions(&mut rule.body));
    }

    /// Makes variables of the mentions of bound names.
    fn mentions(&self, expr: &mut Expr) {
        if let ExprKind::Con(name) = &expr.kind
            && self.bound.contains(name)
        {
            expr.kind = ExprKind::Var(name.clone());
        }
        stack::deeper(|| children_mut(expr, &mut |child| self.mentions(child)));
    }
}
