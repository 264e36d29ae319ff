//! `let`s, one after the other, without recursion.

use std::rc::Rc;

use lambada_surface::ast::{Def, Expr, ExprKind, Param, Pattern, PatternKind};

use crate::messages::Why;
use crate::solve::ty::Ty;
use crate::typed::{Claim, Exp, ExpKind, PatKind, SizeFact, Stmt};

use super::functions::Syntax;
use super::types::{ParamPath, types_of};
use super::{Infer, LocalMeaning};

impl Infer<'_> {
    pub(super) fn block(&mut self, expr: &Expr, expected: Option<(Ty, &Why)>) -> Exp {
        let scope = self.env.mark();
        let mut stmts = Vec::new();
        let mut at = expr;
        loop {
            match &at.kind {
                ExprKind::Let(param, value, rest) => {
                    self.let_(param, value, &mut stmts);
                    at = rest;
                }
                ExprKind::LetFunctions(defs, rest) => {
                    match self.constructor_param(defs) {
                        Some(param) => self.let_(&param, &defs[0].body, &mut stmts),
                        None => self.local_functions(defs, &mut stmts),
                    }
                    at = rest;
                }
                _ => break,
            }
        }
        let body = match expected {
            Some((ty, why)) => self.check(at, ty, why),
            None => self.infer(at),
        };
        self.env.restore(scope);
        let ty = body.ty;
        Exp { kind: ExpKind::Block(stmts, Box::new(body)), ty, span: expr.span }
    }

    /// `let Point x y = e`, which the parser took for a function: the constructor of another file.
    fn constructor_param(&self, defs: &[Def]) -> Option<Param> {
        let [def] = defs else { return None };
        let plain = !def.recursive && def.sizes.is_empty() && def.result.is_none();
        if !plain || !self.is_constructor(&def.name.text) {
            return None;
        }
        let part = |param: &Param| match &param.ty {
            None => param.pattern.clone(),
            Some(ty) => {
                let inner = Box::new(param.pattern.clone());
                Pattern { kind: PatternKind::Annotated(inner, ty.clone()), span: ty.span }
            }
        };
        let parts = def.params.iter().map(part).collect();
        let kind = PatternKind::Con(def.name.clone(), parts);
        Some(Param { pattern: Pattern { kind, span: def.name.span }, ty: None })
    }

    fn let_(&mut self, param: &Param, value: &Expr, stmts: &mut Vec<Stmt>) {
        if let (PatternKind::Var(name), None, true) =
            (&param.pattern.kind, &param.ty, self.is_generalizable(value))
        {
            let stmt = self.let_function(name, value);
            stmts.push(stmt);
            return;
        }
        let outer_claims = std::mem::take(&mut self.claims);
        let outer_unbound = std::mem::take(&mut self.unbound);
        let types = types_of(param);
        if !types.is_empty() {
            self.signatures += 1;
            self.declare_sizes_in(&types, |_| false);
        }
        let expected = param.ty.as_ref().map(|written| {
            (
                self.ty(
                    written,
                    Some(&ParamPath::start(0, &super::patterns::call(&param.pattern, 0))),
                ),
                written.span,
            )
        });
        let undecided = self.solver.undecided.len();
        let value = match expected {
            Some((ty, span)) => self.check(value, ty, &Why::Annotation(span)),
            None => self.infer(value),
        };
        let names = self.declare_names(&[&param.pattern]);
        let ty = expected.map_or(value.ty, |(ty, _)| ty);
        let pat = self.pattern(&param.pattern, ty, &names, Some(&ParamPath::start(0, "this")));
        self.demand_irrefutable(&pat);
        if let PatKind::Var(local) = pat.kind
            && self.locals[local.0 as usize].size.is_none()
        {
            let size = self.size_of(&value);
            self.locals[local.0 as usize].size = size;
        }
        self.unbound = outer_unbound;
        let claims = std::mem::replace(&mut self.claims, outer_claims);
        let decided = self.solver.undecided.len() == undecided;
        stmts.push(Stmt::Let(Box::new((pat, value, needed(claims, decided)))));
    }

    /// Whether a `let` is generalized: functions are, and so are aliases of functions.
    fn is_generalizable(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Lambda(..) | ExprKind::Operator(_) => true,
            ExprKind::SectionLeft(operand, _) | ExprKind::SectionRight(_, operand) => {
                matches!(operand.kind, ExprKind::Int(_) | ExprKind::Real(_))
            }
            ExprKind::Var(name) => match self.env.get(name) {
                Some(LocalMeaning::Function(..)) => true,
                Some(
                    LocalMeaning::Local(_)
                    | LocalMeaning::Accumulator(..)
                    | LocalMeaning::Recursive(..)
                    | LocalMeaning::Unmarked(_),
                ) => false,
                None => self.is_function_name(name),
            },
            ExprKind::Commented(_, inner) => self.is_generalizable(inner),
            ExprKind::Con(_)
            | ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Bool(_)
            | ExprKind::InspectAs(_)
            | ExprKind::Check(..)
            | ExprKind::Fail(..)
            | ExprKind::Tuple(_)
            | ExprKind::Record(_)
            | ExprKind::RecordUpdate(..)
            | ExprKind::Field(..)
            | ExprKind::Component(..)
            | ExprKind::Apply(..)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Let(..)
            | ExprKind::LetFunctions(..)
            | ExprKind::If(..)
            | ExprKind::Match(..)
            | ExprKind::For(..)
            | ExprKind::Array(_)
            | ExprKind::Index(..)
            | ExprKind::Slice(..)
            | ExprKind::Update(..)
            | ExprKind::UpdateSlice(..)
            | ExprKind::Loop(..)
            | ExprKind::Accumulate(..)
            | ExprKind::Add(..)
            | ExprKind::Sequence(..)
            | ExprKind::Annotated(..)
            | ExprKind::Broken(_)
            | ExprKind::Error => false,
        }
    }

    fn is_function_name(&self, name: &str) -> bool {
        match self.global_named(name) {
            Some(id) => !self.globals[id.0 as usize].syntax.params.is_empty(),
            None => crate::builtin::Builtin::find(name, self.in_library())
                .is_some_and(|builtin| builtin.arity() > 0),
        }
    }

    fn let_function(&mut self, name: &Rc<str>, value: &Expr) -> Stmt {
        let syntax = match &value.kind {
            ExprKind::Lambda(params, body) => Syntax::of_lambda(params, body),
            _ => Syntax::of_value(value),
        };
        let (function, scheme) = self.generalized(&syntax, false);
        self.bind_function(name, function, scheme)
    }
}

/// Claims to keep: if inference has `decided` every equation, only those that bind a size.
fn needed(claims: Vec<Claim>, decided: bool) -> Vec<Claim> {
    claims.into_iter().filter(|claim| !decided || matches!(claim.what, SizeFact::Bind(_))).collect()
}
