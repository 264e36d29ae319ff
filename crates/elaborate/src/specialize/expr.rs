//! Expressions.

use std::rc::Rc;

use lambada_core::{self as core, LoopKind, OPERAND, Term, TermKind, Ty};
use lambada_prim::{Prim, Scalar, ScalarTy, Surface};
use lambada_source::Span;
use lambada_surface::ast::BinaryOp;

use super::Specialize;
use super::builtins::at_type;
use super::equality;
use super::spine::Spine;
use crate::builtin;
use crate::solve::ty::Ty as Unknown;
use crate::typed::{Claim, Comparison, Driver, Exp, ExpKind, LocalId, Pat, PatKind, Stmt};

impl Specialize<'_> {
    /// An expression.
    pub(super) fn exp(&mut self, exp: &Exp) -> Term {
        let span = exp.span;
        match &exp.kind {
            ExpKind::Local(local) => self.at(core::var(self.local(*local)), span),
            ExpKind::Global(id, args) => self.global_term(*id, args, exp.ty, span),
            ExpKind::Recursive(id, pairs) => {
                let vars = self.from.global(*id).scheme.vars.clone();
                self.global_term(*id, &at_own_types(&vars, pairs), exp.ty, span)
            }
            ExpKind::RecursiveLocal(id, pairs) => {
                let vars = self.from.function_vars(*id);
                let ty = self.mono(exp.ty);
                let term = self.local_function(*id, &at_own_types(&vars, pairs), ty);
                self.at(term, span)
            }
            ExpKind::Function(id, args) => {
                let ty = self.mono(exp.ty);
                let term = self.local_function(*id, args, ty);
                self.at(term, span)
            }
            ExpKind::Builtin(builtin) => {
                let ty = self.mono(exp.ty);
                self.builtin_value(at_type(*builtin, &ty), &ty, span)
            }
            ExpKind::Inspect(label) => {
                let ty = self.mono(exp.ty);
                self.inspect_value(label.clone(), &ty, span)
            }
            ExpKind::Check { words, values, written } => {
                let ty = self.mono(exp.ty);
                self.check_value((words, values, *written), &ty, span)
            }
            ExpKind::Fail { words, values } => self.failure(words, values, exp),
            ExpKind::Lit(value) => self.at(core::lit(*value), span),
            ExpKind::Number(value) => {
                let ty = self.mono(exp.ty);
                self.at(number(*value, &ty), span)
            }
            ExpKind::Tuple(items) => {
                let items = self.exps(items);
                self.at(core::tuple(items), span)
            }
            ExpKind::Record(fields) => {
                let items = fields.iter().map(|(_, value)| self.exp(value)).collect();
                self.typed(TermKind::Tuple(items), exp)
            }
            ExpKind::RecordUpdate(record, fields) => self.record_update(record, fields, span),
            ExpKind::Field(record, name) => {
                let record = self.exp(record);
                self.at(self.field_of(record, name), span)
            }
            ExpKind::Component(tuple, k) => {
                let tuple = self.exp(tuple);
                self.at(core::proj(tuple, *k), span)
            }
            ExpKind::Apply(..) => self.application(exp),
            ExpKind::Elementwise(f, args) => self.calls(f, args, span),
            ExpKind::Lambda(function) => {
                let term = self.function(function);
                self.at(term, span)
            }
            ExpKind::MissingSize(k) => {
                let from = self.from;
                self.exp(from.missing[*k].found.as_ref().expect("a missing size is a problem"))
            }
            ExpKind::Con(tag, args) => {
                let args = self.exps(args);
                self.typed(TermKind::Con(*tag, args), exp)
            }
            ExpKind::Arith(op, a, b) => self.arith(op, a, b, span),
            ExpKind::Negate(inner) => {
                let inner = self.exp(inner);
                self.by_parts(vec![inner], span, &mut |this, mut parts| {
                    let part = parts.pop().expect("there is one operand");
                    this.unary(Surface::Prefix("-"), part, span)
                })
            }
            ExpKind::Not(inner) => {
                let inner = self.exp(inner);
                self.at(core::prim(Prim::Not, vec![inner]), span)
            }
            ExpKind::Compare(op, a, b) => self.compare(*op, a, b, span),
            ExpKind::Contraction(prim, a, b) => {
                let args = vec![self.exp(a), self.exp(b)];
                self.failing += 1;
                if args.iter().all(|arg| Self::rank(arg.ty()) == 1) {
                    return self.inner_product(args, span);
                }
                self.typed(TermKind::ArrayPrim(*prim, args), exp)
            }
            ExpKind::Block(stmts, body) => self.block(stmts, body),
            ExpKind::If(..) => self.branches(exp),
            ExpKind::Match(value, tree, arms) => self.matching(value, tree, arms, exp.ty, span),
            ExpKind::For(clause, body) => self.comprehension(clause, body, span),
            ExpKind::Filtered(clauses, condition, body) => {
                self.filtered(clauses, condition, body, span)
            }
            ExpKind::Array(items) => self.array(items, exp.ty, span),
            ExpKind::Index(array, at) => self.index(array, at, span),
            ExpKind::Slice(array, from, to) => {
                self.slice(array, from.as_deref(), to.as_deref(), span)
            }
            ExpKind::Update(array, at, value) => self.update(array, at, value, span),
            ExpKind::UpdateSlice(array, from, to, value) => {
                self.update_slice(array, from.as_deref(), to.as_deref(), value, span)
            }
            ExpKind::Loop { .. } => self.loop_(exp),
            ExpKind::Accumulate(accumulators, body) => self.accumulate(accumulators, body, span),
            ExpKind::Add(acc, at, value) => self.addition(*acc, at, value, span),
            ExpKind::Sequence(first, second) => self.sequence(first, second),
            ExpKind::Convert(inner) => {
                let ty = self.mono(exp.ty);
                let inner = self.exp(inner);
                self.serving(inner, &ty, span)
            }
            ExpKind::Claimed(value, claims) => self.claimed(value, claims),
            ExpKind::Error => unreachable!("programs with problems are not specialized"),
        }
    }

    /// Expressions, in source order.
    fn exps(&mut self, items: &[Exp]) -> Vec<Term> {
        items.iter().map(|item| self.exp(item)).collect()
    }

    /// A node with the inferred type.
    fn typed(&mut self, kind: TermKind, exp: &Exp) -> Term {
        let ty = self.mono(exp.ty);
        Term::new(kind, ty, self.span(exp.span))
    }

    fn block(&mut self, stmts: &[Stmt], body: &Exp) -> Term {
        let mut spine = Spine::default();
        self.statements(stmts, &mut spine);
        let body = self.exp(body);
        self.close(spine, body)
    }

    fn index(&mut self, array: &Exp, at: &[Exp], span: Span) -> Term {
        let array = self.exp(array);
        let at = self.exps(at);
        self.failing += 1;
        core::index(array, at, self.span(span))
    }

    fn update(&mut self, array: &Exp, at: &[Exp], value: &Exp, span: Span) -> Term {
        let array = self.exp(array);
        let at = self.exps(at);
        let value = self.exp(value);
        self.failing += 1;
        core::update(array, at, value, self.span(span))
    }

    fn addition(&mut self, acc: LocalId, at: &[Exp], value: &Exp, span: Span) -> Term {
        let index = self.exps(at);
        let value = self.exp(value);
        self.failing += 1;
        let acc = self.local(acc).clone();
        Term::new(TermKind::Add { acc, index, value }, Ty::unit(), self.span(span))
    }

    fn sequence(&mut self, first: &Exp, second: &Exp) -> Term {
        let mut spine = Spine::default();
        let first = self.exp(first);
        let var = self.fresh("_", first.ty().clone());
        self.let_in(&mut spine, var, first);
        let second = self.exp(second);
        self.close(spine, second)
    }

    fn claimed(&mut self, value: &Exp, claims: &[Claim]) -> Term {
        let mut spine = Spine::default();
        let value = self.exp(value);
        let value = self.share_as_var(&mut spine, "value", value);
        self.claims(claims, std::slice::from_ref(&value), &mut spine);
        self.close(spine, value)
    }

    /// A field of a record.
    pub(super) fn field_of(&self, record: Term, name: &str) -> Term {
        let Ty::Record(fields) = record.ty() else { panic!("a field of {:?}", record.ty()) };
        let k = fields
            .iter()
            .position(|(field, _)| &**field == name)
            .expect("inference has found the field");
        core::proj(record, k)
    }

    fn record_update(&mut self, record: &Exp, fields: &[(Rc<str>, Exp)], span: Span) -> Term {
        let mut spine = Spine::default();
        let record = self.exp(record);
        let record = self.share(&mut spine, "record", record);
        let Ty::Record(known) = record.ty().clone() else {
            panic!("an update of {:?}", record.ty())
        };
        let mut items: Vec<Term> =
            (0..known.len()).map(|k| core::proj(record.clone(), k)).collect();
        for (name, value) in fields {
            let k = known
                .iter()
                .position(|(field, _)| field == name)
                .expect("inference has found the field");
            items[k] = self.exp(value);
        }
        let updated = Term::new(TermKind::Tuple(items), record.ty().clone(), self.span(span));
        self.close(spine, updated)
    }

    /// An application; a saturated builtin becomes core.
    fn application(&mut self, exp: &Exp) -> Term {
        let mut args = Vec::new();
        let mut head = exp;
        while let ExpKind::Apply(f, x) = &head.kind {
            args.push((&**x, head.span));
            head = f;
        }
        args.reverse();
        let builtin = match head.kind {
            ExpKind::Builtin(builtin) => Some(at_type(builtin, &self.mono(head.ty))),
            _ => None,
        };
        let (mut term, used) = match (&head.kind, builtin) {
            (_, Some(builtin)) if args.len() >= builtin.arity() => {
                let given: Vec<Term> =
                    args[..builtin.arity()].iter().map(|(arg, _)| self.exp(arg)).collect();
                let span = args[builtin.arity() - 1].1;
                (self.builtin_applied(builtin, given, span), builtin.arity())
            }
            (ExpKind::Inspect(label), _) if !args.is_empty() => {
                let value = self.exp(args[0].0);
                (self.inspect(label.clone(), value, args[0].1), 1)
            }
            (ExpKind::Check { words, values, written }, _) if args.len() > 1 => {
                let mut spine = Spine::default();
                let texts = self.shown(&mut spine, words, values);
                let cond = self.exp(args[0].0);
                self.checked(&mut spine, texts, *written, cond, args[1].1);
                let value = self.exp(args[1].0);
                (self.close(spine, value), 2)
            }
            _ => (self.exp(head), 0),
        };
        for (arg, span) in &args[used..] {
            let arg = self.exp(arg);
            let applied = core::app(term, arg);
            term = self.at(applied, *span);
        }
        term
    }

    /// A function of scalars, and of whole arrays where it takes arrays, for each element.
    fn calls(&mut self, f: &Exp, args: &[Exp], span: Span) -> Term {
        let mut spine = Spine::default();
        let f = self.exp(f);
        let (mut params, mut at) = (Vec::new(), f.ty().clone());
        while let Ty::Fun(from, to) = at {
            params.push((*from).clone());
            at = (*to).clone();
        }
        let f = self.share_as_var(&mut spine, "f", f);
        let args: Vec<Term> =
            self.exps(args).into_iter().map(|arg| self.share(&mut spine, OPERAND, arg)).collect();
        let by_element =
            |k: &usize| matches!(params[*k], Ty::Scalar(_)) && Self::rank(args[*k].ty()) > 0;
        let each: Vec<usize> = (0..args.len()).filter(by_element).collect();
        let arrays = each.iter().map(|k| args[*k].clone()).collect();
        let call = self.elementwise(arrays, None, span, &mut |this, elements| {
            let mut given = args.clone();
            each.iter().zip(elements).for_each(|(k, element)| given[*k] = element);
            let pairs = given.into_iter().zip(&params);
            let given: Vec<Term> = pairs.map(|(arg, ty)| this.serving(arg, ty, span)).collect();
            let apply = |f, arg| this.at(core::app(f, arg), span);
            given.into_iter().fold(f.clone(), apply)
        });
        self.close(spine, call)
    }

    fn compare(&mut self, op: Comparison, a: &Exp, b: &Exp, span: Span) -> Term {
        let mut spine = Spine::default();
        let (a, b) = (self.exp(a), self.exp(b));
        if !matches!(a.ty(), Ty::Scalar(_)) {
            let equal = equality::equality(self, a, b, span);
            let different = op.spelling == BinaryOp::Ne.spelling();
            return if different { core::prim(Prim::Not, vec![equal]) } else { equal };
        }
        let (mut a, mut b) = self.of_one_scalar(a, b, span);
        if op.swap {
            // The operands are evaluated in source order.
            if !is_total(&b) {
                a = self.share(&mut spine, "left", a);
            }
            std::mem::swap(&mut a, &mut b);
        }
        let Ty::Scalar(scalar) = *a.ty() else { panic!("a comparison of {:?}", a.ty()) };
        let prim = builtin::primitive(Surface::Infix(op.spelling), &[scalar, scalar])
            .expect("inference has found the comparison");
        let compared = self.at(core::prim(prim, vec![a, b]), span);
        self.close(spine, compared)
    }

    fn loop_(&mut self, exp: &Exp) -> Term {
        let ExpKind::Loop { state, init, driver, filter, body } = &exp.kind else {
            unreachable!("a loop")
        };
        let mut outside = Spine::default();
        let init = self.exp(init);
        if core_has_array(init.ty()) {
            self.failing += 1;
        }
        let dimension = match driver {
            Driver::For(clause, _) => Some((clause, self.dimension(clause, &mut outside))),
            Driver::While(_) => None,
        };
        let var = self.state_variable(state, &init);
        let root = core::var(&var);
        let kind = match (driver, &dimension) {
            (Driver::While(condition), _) => {
                let mut spine = Spine::default();
                self.destructure(state, &root, &mut spine);
                let condition = self.exp(condition);
                LoopKind::While(self.close(spine, condition))
            }
            (Driver::For(_, checkpoint), Some((clause, dimension))) => {
                let checkpoint = checkpoint.map(|states| self.states(states));
                let index = self.index_variable(clause, dimension);
                LoopKind::For(index, dimension.extent.clone(), checkpoint)
            }
            (Driver::For(..), None) => unreachable!("a `for` has a dimension"),
        };
        let mut spine = Spine::default();
        self.destructure(state, &root, &mut spine);
        if let (Some((clause, dimension)), LoopKind::For(i, ..)) = (&dimension, &kind) {
            self.bind_index(clause, dimension, i, &mut spine);
        }
        let body = match filter {
            Some(filter) => {
                let condition = self.exp(filter);
                let body = self.exp(body);
                core::if_(condition, body, root)
            }
            None => self.exp(body),
        };
        let body = self.close(spine, body);
        let looped = self.at(core::loop_(var, init, kind, body), exp.span);
        self.close(outside, looped)
    }

    /// The number of states that a `checkpoint` keeps, checked to be at least 1.
    fn states(&mut self, states: &Exp) -> Term {
        let mut spine = Spine::default();
        let number = self.exp(states);
        let number = self.share(&mut spine, "states", number);
        if !matches!(number.kind(), TermKind::Lit(Scalar::Int(1..))) {
            let some = core::prim(Prim::LtInt, vec![core::int(0), number.clone()]);
            let words = "a loop keeps at least one state, `checkpoint` is {0}";
            self.check_in(&mut spine, some, states.span, words, vec![number.clone()]);
        }
        self.close(spine, number)
    }

    /// The variable of a loop's state. The loop checks that its arrays keep their initial sizes.
    fn state_variable(&mut self, state: &Pat, init: &Term) -> core::Var {
        let var = match state.kind {
            PatKind::Var(local) => self.declare(local),
            PatKind::Wildcard
            | PatKind::Number(_)
            | PatKind::Real(_)
            | PatKind::Bool(_)
            | PatKind::Tuple(_)
            | PatKind::Record(_)
            | PatKind::Con(..)
            | PatKind::Array { .. }
            | PatKind::Or(_) => {
                let ty = self.mono(state.ty);
                let hint = self.pattern_hint(state);
                self.fresh(&hint, ty)
            }
        };
        if var.ty != Ty::INT {
            self.scope.shapes.record(&var, init);
        }
        var
    }

    /// The hint for a tuple of names, `(x, y)`, from which `normalize` names the parts; `state` for
    /// other patterns.
    fn pattern_hint(&self, pattern: &Pat) -> String {
        let name = |part: &Pat| match part.kind {
            PatKind::Var(local) => Some(self.from.locals[local.0 as usize].name.to_string()),
            PatKind::Wildcard => Some("_".to_string()),
            PatKind::Number(_)
            | PatKind::Real(_)
            | PatKind::Bool(_)
            | PatKind::Tuple(_)
            | PatKind::Record(_)
            | PatKind::Con(..)
            | PatKind::Array { .. }
            | PatKind::Or(_) => None,
        };
        let names: Option<Vec<String>> = match &pattern.kind {
            PatKind::Tuple(parts) => parts.iter().map(name).collect(),
            PatKind::Var(_)
            | PatKind::Wildcard
            | PatKind::Number(_)
            | PatKind::Real(_)
            | PatKind::Bool(_)
            | PatKind::Record(_)
            | PatKind::Con(..)
            | PatKind::Array { .. }
            | PatKind::Or(_) => None,
        };
        names.map_or("state".into(), |names| format!("({})", names.join(", ")))
    }

    /// Nested accumulators, the first outermost; the value is `(…((body, last), …), first)`.
    fn accumulate(&mut self, accumulators: &[(LocalId, Exp)], body: &Exp, span: Span) -> Term {
        let span = self.span(span);
        let inits: Vec<Term> = accumulators.iter().map(|(_, init)| self.exp(init)).collect();
        let accs: Vec<core::Var> = accumulators.iter().map(|(acc, _)| self.declare(*acc)).collect();
        let body = self.exp(body);
        let units = is_units(body.ty());
        let mut nested = body;
        for (acc, init) in accs.into_iter().zip(inits).rev() {
            let ty = Ty::tuple([nested.ty().clone(), acc.ty.clone()]);
            nested = Term::new(TermKind::Accumulate { acc, init, body: nested }, ty, span);
        }
        if accumulators.len() == 1 {
            return if units { core::proj(nested, 1) } else { nested };
        }
        let all = self.fresh("all", nested.ty().clone());
        let mut rest = core::var(&all);
        let mut parts = Vec::with_capacity(accumulators.len() + 1);
        for _ in accumulators {
            parts.push(core::proj(rest.clone(), 1));
            rest = core::proj(rest, 0);
        }
        if !units {
            parts.insert(0, rest);
        }
        core::let_(all, nested, core::tuple(parts))
    }
}

/// The types of a function's variables in a call inside of its group: those of the call, otherwise
/// those around.
fn at_own_types(vars: &[Unknown], pairs: &[(Unknown, Unknown)]) -> Vec<Unknown> {
    let own = |var: &Unknown| pairs.iter().find(|(other, _)| other == var).map(|(_, ty)| *ty);
    vars.iter().map(|var| own(var).unwrap_or(*var)).collect()
}

/// Whether the term is small and certainly does not fail.
fn is_total(term: &Term) -> bool {
    match term.kind() {
        TermKind::Var(_) | TermKind::Lit(_) | TermKind::Never | TermKind::Lam(..) => true,
        TermKind::Ruled(_) | TermKind::Global(_) => true,
        TermKind::Proj(inner, _) | TermKind::Dim(inner, _) => is_total(inner),
        TermKind::Prim(_, args) => args.iter().all(is_total),
        TermKind::App(..)
        | TermKind::Let(..)
        | TermKind::LetRec(..)
        | TermKind::Tuple(_)
        | TermKind::Con(..)
        | TermKind::Match(..)
        | TermKind::If(..)
        | TermKind::Array(_)
        | TermKind::For(..)
        | TermKind::Index(..)
        | TermKind::Update(..)
        | TermKind::Reduce(..)
        | TermKind::Inspect(..)
        | TermKind::ArrayPrim(..)
        | TermKind::Loop { .. }
        | TermKind::Accumulate { .. }
        | TermKind::Add { .. }
        | TermKind::Check { .. }
        | TermKind::Jvp(..)
        | TermKind::Vjp(..)
        | TermKind::Reach(..)
        | TermKind::Band(..) => false,
    }
}

/// `()`, or arrays of it.
fn is_units(ty: &Ty) -> bool {
    match ty {
        Ty::Tuple(items) => items.is_empty(),
        Ty::Array(elem) => is_units(elem),
        Ty::Scalar(_) | Ty::Record(_) | Ty::Fun(..) | Ty::Variant(_) => false,
    }
}

/// Whether the type contains an array or a variant.
pub(super) fn core_has_array(ty: &Ty) -> bool {
    match ty {
        Ty::Array(_) | Ty::Variant(_) => true,
        Ty::Tuple(items) => items.iter().any(core_has_array),
        Ty::Record(fields) => fields.iter().any(|(_, ty)| core_has_array(ty)),
        Ty::Scalar(_) | Ty::Fun(..) => false,
    }
}

/// An integer literal at a type.
pub(super) fn number(value: i64, ty: &Ty) -> Term {
    match ty {
        Ty::Scalar(ScalarTy::Int) => core::int(value),
        Ty::Scalar(ScalarTy::Real) => core::real(value as f64),
        Ty::Scalar(ScalarTy::Bool)
        | Ty::Tuple(_)
        | Ty::Record(_)
        | Ty::Array(_)
        | Ty::Fun(..)
        | Ty::Variant(_) => {
            panic!("a number of type {ty:?}")
        }
    }
}
