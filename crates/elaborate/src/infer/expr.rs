//! Expressions.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_prim::Scalar;
use lambada_source::Span;
use lambada_surface::ast::{Arm, Expr, ExprKind, Name, UnaryOp};

use crate::builtin::Builtin;
use crate::matching;
use crate::messages::{self, Why, foreign};
use crate::solve::constraint::Constraint;
use crate::solve::size::Poly;
use crate::solve::ty::{Node, Origin, Ty, UnknownKind};
use crate::typed::{Case, Exp, ExpKind};

use super::apply::Arg;
use super::functions::Syntax;
use super::{Infer, LocalMeaning};

/// The type that an expression should have, and why.
type Expected<'e> = Option<(Ty, &'e Why)>;

impl Infer<'_> {
    /// An expression and its type.
    pub(super) fn infer(&mut self, expr: &Expr) -> Exp {
        self.expression(expr, None)
    }

    /// An expression of an expected type.
    pub(super) fn check(&mut self, expr: &Expr, expected: Ty, why: &Why) -> Exp {
        self.expression(expr, Some((expected, why)))
    }

    /// Passes expectations into branches and bodies, so that problems blame the smallest
    /// expression.
    fn expression(&mut self, expr: &Expr, expected: Option<(Ty, &Why)>) -> Exp {
        let span = expr.span;
        match &expr.kind {
            ExprKind::If(c, t, e) => self.conditional(c, t, e, expected, span),
            ExprKind::Match(value, arms) => self.matching(value, arms, expected, span),
            ExprKind::Let(..) | ExprKind::LetFunctions(..) => self.block(expr, expected),
            ExprKind::Sequence(first, second) => self.sequence(first, second, expected, span),
            ExprKind::Commented(_, inner) => self.expression(inner, expected),
            ExprKind::Lambda(params, body) => {
                let (function, ty) =
                    self.lambda(&Syntax::of_lambda(params, body), expected.map(|(ty, _)| ty));
                let exp = Exp { kind: ExpKind::Lambda(Rc::new(function)), ty, span };
                self.finish(exp, expected)
            }
            ExprKind::Apply(..) => {
                let partial = expected.is_some_and(|(ty, _)| self.solver.is_function(ty));
                let exp = self.application(expr, partial);
                self.finish(exp, expected)
            }
            ExprKind::Var(_)
            | ExprKind::Con(_)
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
            | ExprKind::Operator(_)
            | ExprKind::SectionLeft(..)
            | ExprKind::SectionRight(..)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::For(..)
            | ExprKind::Array(_)
            | ExprKind::Index(..)
            | ExprKind::Slice(..)
            | ExprKind::Update(..)
            | ExprKind::UpdateSlice(..)
            | ExprKind::Loop(..)
            | ExprKind::Accumulate(..)
            | ExprKind::Add(..)
            | ExprKind::Annotated(..)
            | ExprKind::Broken(_)
            | ExprKind::Error => {
                let exp = self.synthesize(expr);
                self.finish(exp, expected)
            }
        }
    }

    fn finish(&mut self, exp: Exp, expected: Option<(Ty, &Why)>) -> Exp {
        if self.solver.is_too_large(exp.ty) {
            self.problems.push(messages::too_large_type(exp.span));
            return self.wrong(exp.span);
        }
        match expected {
            Some((ty, why)) => self.fit(exp, ty, why),
            None => exp,
        }
    }

    /// The forms that make no use of an expected type.
    fn synthesize(&mut self, expr: &Expr) -> Exp {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Var(_) | ExprKind::Con(_) | ExprKind::InspectAs(_) | ExprKind::Check(..) => {
                self.application(expr, false)
            }
            ExprKind::Fail(words, values) => self.failure(words, values, span),
            ExprKind::Int(value) => self.number(*value, span),
            ExprKind::Real(value) => self.literal(Scalar::Real(*value), span),
            ExprKind::Bool(value) => self.literal(Scalar::Bool(*value), span),
            ExprKind::Tuple(items) => self.tuple(items, span),
            ExprKind::Record(fields) => self.record(fields, span),
            ExprKind::RecordUpdate(record, fields) => self.record_update(record, fields, span),
            ExprKind::Field(record, name) => self.field(record, name, span),
            ExprKind::Component(tuple, k, at) => self.component(tuple, *k, *at, span),
            ExprKind::Operator(op) => self.operator_function(*op, span),
            ExprKind::SectionLeft(left, op) => self.section(*op, left, true, span),
            ExprKind::SectionRight(op, right) => self.section(*op, right, false, span),
            ExprKind::Unary(UnaryOp::Neg, inner) => self.negate(inner, span),
            ExprKind::Unary(UnaryOp::Not, inner) => {
                let bool = self.solver.bool();
                let inner = self.check(inner, bool, &Why::Operand("not"));
                Exp { kind: ExpKind::Not(Box::new(inner)), ty: bool, span }
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, span),
            ExprKind::For(clauses, body) => self.comprehension(clauses, body, span),
            ExprKind::Array(items) => self.array(items, span),
            ExprKind::Index(array, at) => self.index(array, at, span),
            ExprKind::Slice(array, from, to) => {
                self.slice(array, from.as_deref(), to.as_deref(), span)
            }
            ExprKind::Update(array, at, value) => self.update(array, at, value, span),
            ExprKind::UpdateSlice(array, from, to, value) => {
                self.update_slice(array, from.as_deref(), to.as_deref(), value, span)
            }
            ExprKind::Loop(state, init, kind, body) => self.loop_(state, init, kind, body, span),
            ExprKind::Accumulate(accumulators, body) => self.accumulate(accumulators, body, span),
            ExprKind::Add(name, at, value) => self.addition(name, at, value, span),
            ExprKind::Annotated(inner, written) => self.annotated(inner, written, span),
            ExprKind::Broken(_) | ExprKind::Error => {
                self.incomplete = true;
                self.wrong(span)
            }
            ExprKind::If(..)
            | ExprKind::Match(..)
            | ExprKind::Apply(..)
            | ExprKind::Let(..)
            | ExprKind::LetFunctions(..)
            | ExprKind::Sequence(..)
            | ExprKind::Commented(..)
            | ExprKind::Lambda(..) => unreachable!("expectations go into these"),
        }
    }

    /// Placeholder for an expression whose problem has been reported.
    pub(super) fn wrong(&mut self, span: Span) -> Exp {
        Exp { kind: ExpKind::Error, ty: self.solver.error(), span }
    }

    pub(super) fn number(&mut self, value: i64, span: Span) -> Exp {
        let ty =
            self.solver.unknown(UnknownKind::NUMBER, Some(Origin::new(&value.to_string(), span)));
        Exp { kind: ExpKind::Number(value), ty, span }
    }

    pub(super) fn literal(&mut self, value: Scalar, span: Span) -> Exp {
        Exp { kind: ExpKind::Lit(value), ty: self.solver.scalar(value.ty()), span }
    }

    fn tuple(&mut self, items: &[Expr], span: Span) -> Exp {
        let items: Vec<Exp> = items.iter().map(|item| self.infer(item)).collect();
        let ty = self.solver.tuple(items.iter().map(|item| item.ty).collect());
        Exp { kind: ExpKind::Tuple(items), ty, span }
    }

    fn record(&mut self, fields: &[(Name, Expr)], span: Span) -> Exp {
        self.solver.fields.declare(fields.iter().map(|(name, _)| &name.text));
        let mut typed = self.fields(fields, |infer, _, value| infer.infer(value));
        typed.sort_by(|a, b| a.0.cmp(&b.0));
        let types = typed.iter().map(|(name, value)| (name.clone(), value.ty)).collect();
        let ty = self.solver.node(Node::Record(types));
        Exp { kind: ExpKind::Record(typed), ty, span }
    }

    fn fields(
        &mut self,
        fields: &[(Name, Expr)],
        mut of: impl FnMut(&mut Self, &Name, &Expr) -> Exp,
    ) -> Vec<(Rc<str>, Exp)> {
        let mut typed: Vec<(Rc<str>, Exp)> = Vec::new();
        for (name, value) in fields {
            let value = of(self, name, value);
            if typed.iter().any(|(other, _)| *other == name.text) {
                self.problems.push(messages::duplicate_field(&name.text, name.span));
            } else {
                typed.push((name.text.clone(), value));
            }
        }
        typed
    }

    fn record_update(&mut self, record: &Expr, fields: &[(Name, Expr)], span: Span) -> Exp {
        let record = self.infer(record);
        let typed = self.fields(fields, |infer, name, value| {
            let ty = infer.solver.fresh();
            let origin = Origin::new(&name.text, name.span);
            infer.solver.add(Constraint::Field {
                record: record.ty,
                name: name.text.clone(),
                ty,
                origin,
            });
            infer.check(value, ty, &Why::Form("the field's type"))
        });
        let ty = record.ty;
        Exp { kind: ExpKind::RecordUpdate(Box::new(record), typed), ty, span }
    }

    fn field(&mut self, record: &Expr, name: &Name, span: Span) -> Exp {
        if let ExprKind::Var(module) = &record.kind
            && let Some(k) = self.module_named(module)
        {
            if let Some(constructor) = self.qualified_constructor(k, module, &name.text) {
                return self.construct(&constructor, &[], span, span);
            }
            let (exp, bound) = self.member(k, module, name, span);
            return self.apply(exp, bound, Vec::new(), span, &name.text);
        }
        if let ExprKind::Var(module) | ExprKind::Con(module) = &record.kind
            && foreign::is_module(module)
            && self.env.get(module).is_none()
            && self.global_named(module).is_none()
            && self.constructor_named(module).is_none()
        {
            let known = self.global_named(&name.text).is_some()
                || Builtin::find(&name.text, false).is_some();
            let problem = messages::foreign_module(
                module,
                &name.text,
                record.span,
                known,
                record.span.to(name.span),
            );
            self.problems.push(problem);
            return self.wrong(span);
        }
        let record = self.infer(record);
        if &*name.text == "T" && self.may_be_matrix(record.ty) {
            // `a.T` is the transpose, because a matrix has no fields.
            let transpose = Name { text: "transpose".into(), span: name.span };
            let (exp, bound) = self.member(0, "prelude", &transpose, span);
            return self.apply(exp, bound, vec![Arg::Done(record)], span, "transpose");
        }
        let ty = self.solver.fresh();
        let origin = Origin::new(&name.text, name.span);
        self.solver.add(Constraint::Field {
            record: record.ty,
            name: name.text.clone(),
            ty,
            origin,
        });
        Exp { kind: ExpKind::Field(Box::new(record), name.text.clone()), ty, span }
    }

    /// Whether the type is that of a matrix, or not known, where no record has a field `T`.
    fn may_be_matrix(&self, ty: Ty) -> bool {
        let open = match self.solver.get(self.solver.base(ty)) {
            Node::Unknown(unknown) => unknown.rigid.is_none(),
            _ => false,
        };
        self.solver.rank(ty) > 1 || open && !self.solver.fields.declares("T")
    }

    fn component(&mut self, tuple: &Expr, index: usize, at: Span, span: Span) -> Exp {
        let tuple = self.infer(tuple);
        let ty = self.solver.fresh();
        self.solver.add(Constraint::Component {
            tuple: tuple.ty,
            index,
            ty,
            origin: Origin::new(&index.to_string(), at),
        });
        Exp { kind: ExpKind::Component(Box::new(tuple), index), ty, span }
    }

    fn conditional(
        &mut self,
        c: &Expr,
        t: &Expr,
        e: &Expr,
        expected: Option<(Ty, &Why)>,
        span: Span,
    ) -> Exp {
        let bool = self.solver.bool();
        let c = self.check(c, bool, &Why::Condition);
        // A wrong condition may be one for each element, so the branches are not compared.
        let each = self.solver.is_error(c.ty);
        let (inside, outside) = self.split_expectation(expected);
        let before = self.problems.len();
        let t = self.first_branch(t, inside, outside);
        let t = if inside.is_none() { self.first_of_many(t) } else { t };
        // The second branch is not compared with a wrong first one.
        let wrong = outside.is_some() && self.problems.len() > before;
        let (inside, outside) = if wrong { (expected, None) } else { (inside, outside) };
        let e = match inside {
            Some((ty, why)) => self.check(e, ty, why),
            None if each => self.infer(e),
            None => self.other_branch(e, &t, outside.is_some()),
        };
        let ty = match inside {
            Some((ty, _)) => ty,
            None if each => t.ty,
            None => self.either(t.ty, e.ty),
        };
        let exp = Exp { kind: ExpKind::If(Box::new(c), Box::new(t), Box::new(e)), ty, span };
        self.finish(exp, outside)
    }

    /// Splits an expectation into one for each branch and one for the whole. Branches are not
    /// expected to have a type with open sizes, because their sizes may differ.
    fn split_expectation<'e>(&self, expected: Expected<'e>) -> (Expected<'e>, Expected<'e>) {
        match expected {
            Some((ty, _)) if self.solver.is_open(ty) => (None, expected),
            Some(_) | None => (expected, None),
        }
    }

    /// The first branch, against the expected type with fresh sizes for open ones.
    fn first_branch(&mut self, expr: &Expr, inside: Expected, outside: Expected) -> Exp {
        let Some((ty, why)) = outside else { return self.expression(expr, inside) };
        // An unknown type cannot be copied: its sizes would become those of the branch.
        if self.solver.has_unknown(ty) {
            return self.expression(expr, inside);
        }
        let own = self.solver.copy_with(ty, &HashMap::new(), &mut |solver, size| {
            let size = solver.sizes.resolve(size);
            if solver.sizes.is_open(&size) { solver.fresh_size() } else { size }
        });
        self.expression(expr, Some((own, why)))
    }

    /// A later branch, against the type of the first. An open size of the first is not solved by an
    /// unknown size of the later one, and neither size by that of `[]`, because a branch without
    /// elements does not mean that there never are any. `open_result`: the result may have any
    /// size, so that literals of different lengths are no problem.
    fn other_branch(&mut self, expr: &Expr, first: &Exp, open_result: bool) -> Exp {
        let mut open = Vec::new();
        let expected = self.solver.copy_with(first.ty, &HashMap::new(), &mut |solver, size| {
            let size = solver.sizes.resolve(size);
            let free = size.as_constant().is_some_and(|size| open_result || size == 0);
            if !solver.sizes.is_open(&size) && !free {
                return size;
            }
            let own = solver.fresh_size();
            open.push((size, own.clone()));
            own
        });
        let expected = if open.is_empty() { first.ty } else { expected };
        let why = Why::Branch(first.span);
        let exp = self.check(expr, expected, &why);
        for (size, own) in open {
            let own = self.solver.sizes.resolve(&own);
            let empty = own.as_constant() == Some(0);
            if size.as_constant().is_none() && !empty && !self.solver.sizes.is_unknown(&own) {
                self.solver.here = expr.span;
                if let Err(clash) = self.solver.equal_sizes(&size, &own) {
                    self.report_clash(clash, first.ty, exp.ty, expr.span, Some(&why));
                }
            }
        }
        exp
    }

    /// The type of a value from either branch: a size in which they differ is unknown.
    fn either(&mut self, one: Ty, other: Ty) -> Ty {
        let (sizes, others) = (self.sizes_in(one), self.sizes_in(other));
        let equal = |(a, b): (&Poly, &Poly)| a.plus(b, -1).as_constant() == Some(0);
        let same: Vec<bool> = sizes.iter().zip(&others).map(equal).collect();
        if same.iter().all(|same| *same) {
            return one;
        }
        let unknown: Vec<Poly> = same.iter().map(|_| self.opaque()).collect();
        let mut place = 0;
        self.solver.copy_with(one, &HashMap::new(), &mut |_, size| {
            let keep = same.get(place).copied().unwrap_or(true);
            let size = if keep { size.clone() } else { unknown[place].clone() };
            place += 1;
            size
        })
    }

    fn matching(
        &mut self,
        value: &Expr,
        arms: &[Arm],
        expected: Option<(Ty, &Why)>,
        span: Span,
    ) -> Exp {
        let value = self.infer(value);
        let (mut patterns, mut bodies): (Vec<_>, Vec<Exp>) = (Vec::new(), Vec::new());
        let mut guards = Vec::new();
        let (inside, outside) = self.split_expectation(expected);
        let before = self.problems.len();
        let mut wrong = false;
        for arm in arms {
            let scope = self.env.mark();
            let names = self.declare_names(&[&arm.pattern]);
            let count = self.problems.len();
            let mut pattern = self.case_pattern(&arm.pattern, value.ty, &names);
            pattern.span = arm.pattern.span;
            // An arm that stands below the arms of a `match` within belongs to that one.
            if !patterns.is_empty() && self.arms > 0 && self.problems.len() > count {
                let problem = &mut self.problems[count];
                problem.hints.push(messages::sentence(messages::arm_of_another_match()));
            }
            patterns.push(pattern);
            let bool = self.solver.bool();
            let guard = arm.guard.as_ref().map(|guard| self.check(guard, bool, &Why::Condition));
            guards.push(guard);
            let count = self.problems.len();
            self.arms += 1;
            let body = match (inside, bodies.first()) {
                (None, Some(first)) if !wrong => {
                    self.other_branch(&arm.body, first, outside.is_some())
                }
                (None, Some(_)) => self.expression(&arm.body, expected),
                (None, None) if arms.len() > 1 => {
                    let first = self.first_branch(&arm.body, inside, outside);
                    self.first_of_many(first)
                }
                (Some(_), _) | (None, None) => self.first_branch(&arm.body, inside, outside),
            };
            self.arms -= 1;
            // The other arms are not compared with a wrong first one.
            wrong |= outside.is_some() && bodies.is_empty() && self.problems.len() > count;
            bodies.push(body);
            self.env.restore(scope);
        }
        let (inside, outside) = if wrong { (expected, None) } else { (inside, outside) };
        let references: Vec<_> = patterns
            .iter()
            .zip(&guards)
            .map(|(pattern, guard)| (pattern, guard.is_some()))
            .collect();
        let tree = matching::compile(&references, &|variant| self.constructors(variant));
        if self.problems.len() == before && !self.solver.is_error(value.ty) {
            self.report_coverage(&tree, &patterns, value.span, arms);
        }
        let types: Vec<Ty> = bodies.iter().map(|body| body.ty).collect();
        let together = types.into_iter().reduce(|one, other| self.either(one, other));
        let ty = inside.map(|(ty, _)| ty).or(together).unwrap_or_else(|| self.solver.error());
        let cases = guards.into_iter().zip(bodies).map(|(guard, body)| Case { guard, body });
        let kind = ExpKind::Match(Box::new(value), Rc::new(tree), cases.collect());
        self.finish(Exp { kind, ty, span }, outside)
    }

    fn report_coverage(
        &mut self,
        tree: &matching::Tree,
        patterns: &[crate::typed::Pat],
        span: Span,
        arms: &[Arm],
    ) {
        if tree.missing.is_some() || tree.undecided {
            let last = arms.last().map(|arm| (arm.body.span.end(), self.written.between_arms(arm)));
            let end = last.as_ref().map(|(end, between)| (*end, &**between));
            self.problems.push(messages::missing_case(tree.missing.as_deref(), span, end));
        }
        for (pattern, uses) in patterns.iter().zip(&tree.uses) {
            if *uses == 0 {
                self.problems.push(messages::unreachable_arm(pattern.span));
            }
        }
    }

    fn sequence(
        &mut self,
        first: &Expr,
        second: &Expr,
        expected: Option<(Ty, &Why)>,
        span: Span,
    ) -> Exp {
        let first = self.infer(first);
        self.solver.add(Constraint::Units { ty: first.ty, origin: Origin::new(";", first.span) });
        let second = self.expression(second, expected);
        let ty = second.ty;
        Exp { kind: ExpKind::Sequence(Box::new(first), Box::new(second)), ty, span }
    }

    fn annotated(
        &mut self,
        inner: &Expr,
        written: &lambada_surface::ast::TypeExpr,
        span: Span,
    ) -> Exp {
        let outer = std::mem::take(&mut self.claims);
        let ty = self.ty(written, Some(&super::types::ParamPath::start(0, "this")));
        let claims = std::mem::replace(&mut self.claims, outer);
        let undecided = self.solver.undecided.len();
        let inner = self.check(inner, ty, &Why::Annotation(written.span));
        if self.solver.undecided.len() == undecided || claims.is_empty() {
            return inner;
        }
        Exp { kind: ExpKind::Claimed(Box::new(inner), claims), ty, span }
    }

    /// The imported module of this name, unless a definition or variable hides it. `prelude` needs
    /// no import, so that hidden names of the prelude remain accessible.
    pub(super) fn module_named(&self, name: &str) -> Option<usize> {
        let free =
            self.env.get(name).is_none() && !self.scopes[self.module].defs.contains_key(name);
        let imported = self.scopes[self.module].imports.get(name).copied();
        if free { imported.or((name == "prelude").then_some(0)) } else { None }
    }

    pub(super) fn accumulate(
        &mut self,
        accumulators: &[(Name, Expr)],
        body: &Expr,
        span: Span,
    ) -> Exp {
        let mut inits = Vec::with_capacity(accumulators.len());
        for (_, init) in accumulators {
            let init = self.infer(init);
            self.require(&init, UnknownKind::shaped(crate::solve::ty::Bases::NUM), "accumulate");
            inits.push(init);
        }
        let scope = self.env.mark();
        let mut locals = Vec::with_capacity(accumulators.len());
        for (k, ((name, _), init)) in accumulators.iter().zip(&inits).enumerate() {
            if let Some((first, _)) = accumulators[..k].iter().find(|(n, _)| n.text == name.text) {
                self.problems.push(messages::duplicate_variable(&name.text, name.span, first.span));
            }
            let local = self.local(&name.text, init.ty);
            self.env.bind(&name.text, LocalMeaning::Accumulator(local, init.ty));
            locals.push(local);
        }
        let body = self.infer(body);
        self.env.restore(scope);
        let origin = Origin::new("accumulate", body.span);
        self.solver.add(Constraint::FirstOrder { ty: body.ty, origin: origin.clone() });
        let types: Vec<Ty> = inits.iter().map(|init| init.ty).collect();
        let both = self.solver.tuple([&[body.ty], &types[..]].concat());
        let alone = if let [one] = types[..] { one } else { self.solver.tuple(types) };
        let result = self.solver.fresh();
        self.solver.add(Constraint::Accumulated { body: body.ty, alone, both, result, origin });
        let accumulators = locals.into_iter().zip(inits).collect();
        Exp { kind: ExpKind::Accumulate(accumulators, Box::new(body)), ty: result, span }
    }

    fn addition(&mut self, name: &Name, at: &[Expr], value: &Expr, span: Span) -> Exp {
        let unit = self.solver.tuple(Vec::new());
        let Some(LocalMeaning::Accumulator(local, ty)) = self.env.get(&name.text).cloned() else {
            let known =
                self.env.get(&name.text).is_some() || self.global_named(&name.text).is_some();
            self.problems.push(messages::not_an_accumulator(&name.text, name.span, known));
            self.infer(value);
            return Exp { kind: ExpKind::Error, ty: unit, span };
        };
        let array = Exp { kind: ExpKind::Local(local), ty, span: name.span };
        let (at, elem) = self.indices(&array, at);
        let value = self.check(value, elem, &Why::Addition(name.text.clone()));
        Exp { kind: ExpKind::Add(local, at, Box::new(value)), ty: unit, span }
    }
}
