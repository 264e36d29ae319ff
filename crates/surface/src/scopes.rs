//! Walks over a syntax tree with its scopes. Only this module knows the binders of each construct
//! and their scopes.

use std::rc::Rc;

use lambada_source::Span;

use crate::ast::{
    Checkpoint, Clause, Def, Expr, ExprKind, LoopKind, Mode, Name, Param, Pattern, TypeExpr,
    TypeKind,
};
use crate::visit::{Visit, children, walk_pattern, walk_type};

/// The construct that binds a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binder {
    /// A parameter of a definition, a local function, a rule or a λ.
    Parameter,
    /// The size of a signature.
    Size,
    /// A pattern of a `let`.
    Let,
    /// A local function.
    Function,
    /// `i < n` in a `for` or `loop`.
    Index,
    /// `p in xs` in a `for` or `loop`.
    Element,
    /// The state of a `loop`.
    State,
    /// `accumulate h = …`, and the functions with which a rule adds cotangents.
    Accumulator,
    /// A pattern of a `match`.
    Arm,
}

/// Callbacks for the scopes of a tree, in source order.
pub trait Scopes {
    /// A scope begins.
    fn enter(&mut self);
    /// The innermost scope ends.
    fn leave(&mut self);
    /// A name is bound in the innermost scope, from here on.
    fn bind(&mut self, name: &Name, by: Binder);
    /// A name is mentioned: a variable, or a size.
    fn mention(&mut self, name: &Rc<str>, span: Span);
    /// A name is mentioned as the size in a type, by itself.
    fn mention_size(&mut self, name: &Rc<str>, span: Span) {
        self.mention(name, span);
    }
    /// An expression, before its parts. The body of a `let` gets no call of its own.
    fn at(&mut self, _: &Expr) {}
}

/// Walks a definition with its scopes, except for its own name. Recursive: needs stack for the
/// depth of the tree; consecutive `let`s are walked without recursion.
pub fn walk_scopes(def: &Def, scopes: &mut dyn Scopes) {
    Walk { scopes }.def(def);
}

struct Walk<'s> {
    scopes: &'s mut dyn Scopes,
}

impl Walk<'_> {
    fn size(&mut self, size: &Expr) {
        if let ExprKind::Var(name) = &size.kind {
            self.scopes.mention_size(name, size.span);
        } else {
            self.expr(size);
        }
    }

    fn bind(&mut self, pattern: &Pattern, by: Binder) {
        self.pattern(pattern);
        pattern.names().iter().for_each(|name| self.scopes.bind(name, by));
    }

    fn bind_param(&mut self, param: &Param, by: Binder) {
        param.ty.iter().for_each(|ty| self.type_expr(ty));
        self.bind(&param.pattern, by);
    }

    fn bind_params(&mut self, params: &[Param]) {
        params.iter().for_each(|param| self.bind_param(param, Binder::Parameter));
    }

    /// The array or bound of a clause is outside of its own scope, but inside the scopes of the
    /// clauses before it.
    fn bind_clause(&mut self, clause: &Clause) {
        match clause {
            Clause::Range(name, bound) => {
                self.expr(bound);
                self.scopes.bind(name, Binder::Index);
            }
            Clause::Between(from, name, to) => {
                self.expr(from);
                self.expr(to);
                self.scopes.bind(name, Binder::Index);
            }
            Clause::If(condition) => self.expr(condition),
            Clause::In(pattern, array) => {
                self.expr(array);
                self.bind(pattern, Binder::Element);
            }
        }
    }

    fn scope(&mut self, inside: impl FnOnce(&mut Self)) {
        self.scopes.enter();
        inside(self);
        self.scopes.leave();
    }

    fn loop_(&mut self, param: &Param, init: &Expr, kind: &LoopKind, body: &Expr) {
        self.expr(init);
        self.bind_param(param, Binder::State);
        match kind {
            LoopKind::For(clause, filter, checkpoint) => {
                if let Some(Checkpoint::States(states)) = checkpoint {
                    self.expr(states);
                }
                self.bind_clause(clause);
                filter.iter().for_each(|filter| self.expr(filter));
            }
            LoopKind::While(condition) => self.expr(condition),
        }
        self.expr(body);
    }

    /// Walks a construct that binds; false for all others. `lets` walks `let`s.
    fn binder(&mut self, expr: &Expr) -> bool {
        if let ExprKind::Lambda(params, body) = &expr.kind {
            self.bind_params(params);
            self.expr(body);
        } else if let ExprKind::Match(subject, arms) = &expr.kind {
            self.expr(subject);
            for arm in arms {
                self.scope(|walk| {
                    walk.bind(&arm.pattern, Binder::Arm);
                    arm.guard.iter().for_each(|guard| walk.expr(guard));
                    walk.expr(&arm.body);
                });
            }
        } else if let ExprKind::For(clauses, body) = &expr.kind {
            clauses.iter().for_each(|clause| self.bind_clause(clause));
            self.expr(body);
        } else if let ExprKind::Loop(param, init, kind, body) = &expr.kind {
            self.loop_(param, init, kind, body);
        } else if let ExprKind::Accumulate(accumulators, body) = &expr.kind {
            accumulators.iter().for_each(|(_, init)| self.expr(init));
            accumulators.iter().for_each(|(name, _)| self.scopes.bind(name, Binder::Accumulator));
            self.expr(body);
        } else {
            return false;
        }
        true
    }

    /// Recursive functions are in scope of each other.
    fn bind_functions(&mut self, defs: &[Def]) {
        let recursive = defs.iter().any(|def| def.recursive);
        let bind = |walk: &mut Self| {
            defs.iter().for_each(|def| walk.scopes.bind(&def.name, Binder::Function))
        };
        if recursive {
            bind(self);
        }
        defs.iter().for_each(|def| self.def(def));
        if !recursive {
            bind(self);
        }
    }

    /// Consecutive `let`s, without recursion; returns the body of the last.
    fn lets<'a>(&mut self, mut expr: &'a Expr) -> &'a Expr {
        loop {
            self.scopes.at(expr);
            if let ExprKind::Let(param, value, body) = &expr.kind {
                self.expr(value);
                self.bind_param(param, Binder::Let);
                expr = body;
            } else if let ExprKind::LetFunctions(defs, body) = &expr.kind {
                self.bind_functions(defs);
                expr = body;
            } else {
                return expr;
            }
        }
    }
}

impl Visit for Walk<'_> {
    fn def(&mut self, def: &Def) {
        self.scope(|walk| {
            def.sizes.iter().for_each(|size| walk.scopes.bind(size, Binder::Size));
            walk.bind_params(&def.params);
            def.result.iter().for_each(|ty| walk.type_expr(ty));
            walk.expr(&def.body);
            for rule in &def.rules {
                walk.scope(|walk| {
                    walk.bind_params(&rule.params);
                    walk.bind_params(rule.value.as_slice());
                    match &rule.body.kind {
                        ExprKind::Lambda(adders, body) if rule.mode == Mode::Reverse => {
                            adders.iter().for_each(|p| walk.bind_param(p, Binder::Accumulator));
                            walk.expr(body);
                        }
                        _ => walk.expr(&rule.body),
                    }
                });
            }
        });
    }

    fn expr(&mut self, expr: &Expr) {
        self.scope(|walk| {
            let expr = walk.lets(expr);
            if let ExprKind::Var(name) = &expr.kind {
                walk.scopes.mention(name, expr.span);
            } else if let ExprKind::Add(Name { text, span }, ..) = &expr.kind {
                walk.scopes.mention(text, *span);
            } else if let ExprKind::Annotated(_, ty) = &expr.kind {
                walk.type_expr(ty);
            }
            if !walk.binder(expr) {
                children(expr, &mut |child| walk.expr(child));
            }
        });
    }

    fn pattern(&mut self, pattern: &Pattern) {
        walk_pattern(self, pattern);
    }

    fn type_expr(&mut self, ty: &TypeExpr) {
        if let TypeKind::Name(_, sizes, parts) = &ty.kind {
            sizes.iter().flatten().for_each(|size| self.size(size));
            parts.iter().for_each(|part| self.type_expr(part));
        } else if let TypeKind::Array(size, element) = &ty.kind {
            size.iter().for_each(|size| self.size(size));
            self.type_expr(element);
        } else {
            walk_type(self, ty);
        }
    }
}
