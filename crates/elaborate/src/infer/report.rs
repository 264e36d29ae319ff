//! Problems of failed unification and of unknown names.

use std::rc::Rc;

use lambada_source::{Fix, Hint, Span, suggest};

use crate::builtin::Builtin;
use crate::messages::{self, Details, Why, foreign};
use crate::solve::Clash;
use crate::solve::constraint::{Constraint, ConstraintError, Failed};
use crate::solve::show::Namer;
use crate::solve::ty::{Bases, EQUALITIES, Node, Origin, RULES, Shapes, Ty, UnknownKind};
use crate::typed::{Exp, ExpKind};

use super::Infer;

impl Infer<'_> {
    /// Requires an expression to have an expected type.
    pub(super) fn expect(&mut self, exp: &Exp, expected: Ty, why: &Why) {
        let before = self.problems.len();
        self.expect_type(exp.ty, expected, exp.span, why);
        let Some(hint) = self.expected_instead(exp, expected, before) else { return };
        self.problems[before].hints = vec![hint];
    }

    /// A better hint for a mismatch that was reported at `before`, from the form of the expression.
    fn expected_instead(&self, exp: &Exp, expected: Ty, before: usize) -> Option<Hint> {
        let problem = self.problems.get(before).filter(|problem| messages::is_mismatch(problem))?;
        if problem.hints.iter().any(|hint| hint.text == messages::INT_OF_REAL) {
            return self.quotient_of_ints(exp).map(messages::floor_division);
        }
        let rows = self.solver.rank(exp.ty) == 1 && self.solver.is_scalar(expected);
        let reduction = self.written.reduction(exp.span).filter(|_| rows)?;
        Some(messages::reduced_twice(reduction, exp.span))
    }

    /// Requires a found type to equal an expected one.
    pub(super) fn expect_type(&mut self, found: Ty, expected: Ty, span: Span, why: &Why) {
        self.solver.here = span;
        if let Err(clash) = self.solver.unify(expected, found) {
            self.report_clash(clash, found, expected, span, Some(why));
        }
    }

    /// The operator of a quotient whose operands are ints, with the spaces around it.
    fn quotient_of_ints(&self, exp: &Exp) -> Option<Span> {
        let ExpKind::Arith("/", a, b) = &exp.kind else { return None };
        let ints = [a, b].into_iter().all(|operand| self.was_int(operand));
        let operator = a.span.between(b.span);
        (ints && self.written.at(operator)?.trim() == "/").then_some(operator)
    }

    /// Whether it was an integer before a conversion.
    fn was_int(&self, exp: &Exp) -> bool {
        let inner = if let ExpKind::Convert(inner) = &exp.kind { inner } else { exp };
        let int = self.solver.as_scalar(inner.ty) == Some(lambada_prim::ScalarTy::Int);
        int || matches!(inner.kind, ExpKind::Number(_))
    }

    /// The edits that give two sizes of the signature around a place one name.
    fn one_size(&self, a: &str, b: &str, inside: Span) -> Option<Fix> {
        let around = |span: Span| {
            span.file == inside.file && span.start <= inside.start && inside.end <= span.end
        };
        let def = self.globals.iter().find(|global| around(global.syntax.span))?.syntax;
        self.written.one_size(def, a, b)
    }

    pub(super) fn report_clash(
        &mut self,
        clash: Clash,
        found: Ty,
        expected: Ty,
        span: Span,
        why: Option<&Why>,
    ) {
        let problem = match clash {
            Clash::Named(a, b) => {
                let one = self.one_size(&a, &b, span);
                messages::clashing_sizes(&a, &b, span, why, one)
            }
            Clash::Sizes(sizes) => {
                let mut namer = Namer::default();
                let [a, b] = sizes.map(|size| self.solver.show_size(&size, &mut namer));
                messages::different_sizes(&a, &b, span, why)
            }
            Clash::Infinite => {
                let shown = self.solver.show_all(&[expected, found]);
                messages::infinite(span, &shown[0], &shown[1])
            }
            Clash::Rigid(name, known) if self.rigid_name(known).as_deref() != Some(&*name) => {
                let known = self.solver.show(known);
                messages::too_general(&name, span, &known, why)
            }
            Clash::Rigid(..) | Clash::Types(..) | Clash::Kind(..) => {
                self.mismatch(found, expected, span, why)
            }
        };
        self.problems.push(problem);
    }

    pub(super) fn rigid_name(&self, ty: Ty) -> Option<Rc<str>> {
        match self.solver.get(ty) {
            Node::Unknown(unknown) => unknown.rigid.clone(),
            _ => None,
        }
    }

    fn mismatch(
        &self,
        found: Ty,
        expected: Ty,
        span: Span,
        why: Option<&Why>,
    ) -> lambada_source::Problem {
        let shown = self.solver.show_expected(&[expected, found]);
        let why = why.cloned().unwrap_or(Why::Form("what is needed"));
        let hint = messages::perhaps_missing(&shown[0], &shown[1], span, &why)
            .or_else(|| self.mismatch_hint(found, expected, span, &why))
            .or_else(|| messages::argument_meant(&why).map(messages::sentence));
        let problem = messages::mismatch(span, &shown[0], &shown[1], &why, Details { hint });
        self.explain_sum(problem, found, expected, span)
    }

    fn mismatch_hint(&self, found: Ty, expected: Ty, span: Span, why: &Why) -> Option<Hint> {
        use lambada_prim::ScalarTy::{Int, Real};
        match (self.solver.as_scalar(expected), self.solver.as_scalar(found)) {
            (Some(Real), Some(Int)) => {
                let fix = self.written.applied("real", span, why);
                return Some(Hint { text: messages::REAL_OF_INT.into(), fix });
            }
            (Some(Int), Some(Real)) => {
                let fix = self.written.applied("int", span, why);
                return Some(Hint { text: messages::INT_OF_REAL.into(), fix });
            }
            _ => {}
        }
        if let (Node::Unknown(unknown), Some(Int)) =
            (self.solver.get(expected), self.solver.as_scalar(found))
            && matches!(unknown.kind, UnknownKind::Data { bases, .. } if bases == Bases::REAL)
        {
            return Some(messages::sentence(messages::REAL_OF_INT));
        }
        if let (Node::Record(wanted), Node::Record(there)) =
            (self.solver.get(expected), self.solver.get(found))
        {
            return other_fields(wanted, there).map(messages::sentence);
        }
        if let (Node::Tuple(items), Node::Array(size, _))
        | (Node::Array(size, _), Node::Tuple(items)) =
            (self.solver.get(expected), self.solver.get(found))
            && size.as_constant() == Some(items.len() as i64)
        {
            return Some(messages::sentence(messages::TUPLE_OR_ARRAY));
        }
        let forgotten = self.solver.is_function(found)
            && !self.solver.is_function(expected)
            && !self.solver.is_unknown(expected);
        forgotten.then(|| messages::sentence(messages::FORGOTTEN_ARGUMENT))
    }

    fn not_data(&self, ty: Ty, kind: UnknownKind, origin: &Origin) -> lambada_source::Problem {
        let wanted = match kind {
            UnknownKind::Any => "numbers",
            UnknownKind::Data { shapes: Shapes::Vectors, .. } if self.solver.has_parts(ty) => {
                "tuples and records of reals"
            }
            UnknownKind::Data { bases, shapes: Shapes::Scalars } if bases == Bases::ALL => {
                "scalars"
            }
            UnknownKind::Data { bases, shapes: Shapes::Scalars } if bases == Bases::REAL => "reals",
            UnknownKind::Data { shapes: Shapes::Scalars, .. } => "numbers",
            UnknownKind::Data { bases, .. } if bases == Bases::REAL => "reals and arrays of them",
            UnknownKind::Data { .. } => "numbers and arrays of them",
        };
        let problem = messages::not_data(&origin.what, wanted, &self.solver.show(ty), origin.span);
        let int = self.solver.as_scalar(self.solver.base(ty)) == Some(lambada_prim::ScalarTy::Int);
        let reals = matches!(kind, UnknownKind::Data { bases, .. } if bases == Bases::REAL);
        let scalar = matches!(kind, UnknownKind::Data { shapes: Shapes::Scalars, .. });
        if self.solver.has_parts(ty) && scalar && ["`*`", "`/`"].contains(&&*origin.what) {
            problem.hint(messages::VECTOR_BY_SCALAR)
        } else if self.solver.rank(ty) > 0 && ["`check`", "`error`"].contains(&&*origin.what) {
            problem.hint(messages::SHOWN_NUMBERS)
        } else if self.solver.is_function(ty) {
            problem.hint(messages::FORGOTTEN_ARGUMENT)
        } else if int && reals {
            problem.hint(messages::REAL_OF_INT)
        } else {
            problem
        }
    }

    /// Narrows the type of an expression to a kind.
    pub(super) fn require(&mut self, exp: &Exp, kind: UnknownKind, what: &str) {
        let origin = Origin::new(what, exp.span);
        if let Err(clash) = self.solver.require(exp.ty, kind, origin.clone()) {
            match clash {
                Clash::Kind(ty, _, _)
                    if self.solver.root(ty) == self.solver.root(exp.ty)
                        || self.solver.rank(exp.ty) > 0
                        || self.solver.has_parts(exp.ty) =>
                {
                    let problem = self.not_data(exp.ty, kind, &origin);
                    self.problems.push(problem);
                }
                clash => self.report_clash(clash, exp.ty, exp.ty, exp.span, None),
            }
        }
    }

    /// Reports the size equations since `from` that have turned out wrong.
    pub(super) fn settle_sizes(&mut self, from: usize) {
        for (clash, span) in self.solver.review_sizes(from) {
            let error = self.solver.error();
            self.report_clash(clash, error, error, span, None);
        }
    }

    /// Reports the constraints that have turned out wrong.
    pub(super) fn report_failed(&mut self) {
        for failed in std::mem::take(&mut self.solver.failed) {
            self.report_one(failed);
        }
    }

    fn report_one(&mut self, failed: Failed) {
        let Failed { constraint, cause } = failed;
        let types = constraint.types();
        if types.iter().any(|ty| self.solver.has_error(*ty))
            && !matches!(
                cause,
                ConstraintError::Function(_)
                    | ConstraintError::NoField(_)
                    | ConstraintError::NoComponent(_)
            )
        {
            // The failure itself has made the last type an error; an error in an operand is older.
            let operands = &types[..types.len() - 1];
            if operands.iter().any(|ty| self.solver.has_error(*ty)) {
                return;
            }
        }
        let (what, span) = (constraint.origin().what.clone(), constraint.origin().span);
        let show = |ty: Ty| self.solver.show(ty);
        let problem = match cause {
            ConstraintError::Clash(clash) => {
                return self.report_constraint_clash(&constraint, clash);
            }
            ConstraintError::Mixed(..) => messages::mixed(&what, span),
            ConstraintError::Ranks(a, b) => {
                let ranks = [self.solver.rank(a), self.solver.rank(b)];
                let rows = self.written.by_rows(span, ranks);
                let product = match ranks {
                    [1, 2] | [2, 1] if &*what == "`*`" => self.written.as_product(span),
                    _ => None,
                };
                messages::ranks(&what, span, &show(a), &show(b), (rows, product))
            }
            ConstraintError::NoField(record) => {
                return self.report_no_field(&what, record, Some(span));
            }
            ConstraintError::NotRecord(ty) => {
                let name = what.trim_matches('`');
                messages::not_a_record(name, &show(ty), span, self.field_meant(name, span))
            }
            ConstraintError::NoComponent(ty) => {
                messages::no_component(component(&constraint), &show(ty), span)
            }
            ConstraintError::NotTuple(ty) => {
                messages::no_component(component(&constraint), &show(ty), span)
            }
            ConstraintError::Function(ty) if &*what == "`accumulate`" => {
                messages::accumulate_function(&show(ty), span)
            }
            ConstraintError::Function(ty) if &*what == RULES => {
                messages::rules::holds_function(&show(ty), span)
            }
            ConstraintError::Function(ty) if EQUALITIES.contains(&&*what) => {
                messages::compared_functions(&what, &show(ty), span)
            }
            ConstraintError::Function(ty) => messages::holds_function(&what, &show(ty), span),
            ConstraintError::NotMatrix(ty) => {
                let scalar = self.solver.is_scalar(ty);
                let sign = self.written.product_sign(span).filter(|_| scalar);
                messages::not_a_matrix(&show(ty), span, sign)
            }
            ConstraintError::NotUnits(ty) => messages::not_units(&show(ty), span),
            ConstraintError::NotReals(ty) => messages::not_reals(&show(ty), span),
        };
        self.problems.push(problem);
    }

    fn report_constraint_clash(&mut self, constraint: &Constraint, clash: Clash) {
        let origin = constraint.origin().clone();
        let types = constraint.types();
        match clash {
            Clash::Kind(ty, kind, _) => {
                let problem = self.not_data(ty, kind, &origin);
                self.problems.push(problem);
            }
            Clash::Types(a, b) => {
                let why = Why::Form("the other operand");
                let problem = self.mismatch(b, a, origin.span, Some(&why));
                self.problems.push(problem);
            }
            clash @ (Clash::Named(..) | Clash::Sizes(..) | Clash::Infinite | Clash::Rigid(..)) => {
                self.report_clash(clash, types[0], types[types.len() - 1], origin.span, None);
            }
        }
    }

    /// Reports fields and components of types that stayed unknown, once for each type; nothing
    /// after another problem since `before`, which may be the reason.
    pub(super) fn report_stuck(&mut self, stuck: &[Constraint], before: usize) {
        if self.problems.len() > before {
            return;
        }
        let mut told = Vec::new();
        for constraint in stuck {
            let unknown = self.solver.root(constraint.types()[0]);
            if told.contains(&unknown) {
                continue;
            }
            told.push(unknown);
            let what = match constraint {
                Constraint::Component { index, .. } => {
                    (format!("the component `.{index}`"), "(t : (real, real))")
                }
                _ => (
                    format!("the field {}", constraint.origin().what),
                    "(r : {x : real, y : real})",
                ),
            };
            let span = constraint.origin().span;
            let meant = match constraint {
                Constraint::Field { name, .. } => self.field_meant(name, span),
                _ => None,
            };
            self.problems.push(messages::annotation_needed(&what.0, what.1, span, meant));
        }
    }

    pub(super) fn report_no_field(&mut self, name: &str, record: Ty, span: Option<Span>) {
        let Some(span) = span else { return };
        let name = name.trim_matches('`');
        let problem = match self.solver.get(record) {
            Node::Record(fields) => {
                let near = suggest(name, fields.iter().map(|(field, _)| &**field));
                messages::no_field(name, &self.solver.show(record), span, near)
            }
            _ => {
                let hint = self.field_meant(name, span);
                messages::not_a_record(name, &self.solver.show(record), span, hint)
            }
        };
        self.problems.push(problem);
    }

    /// Probable intention of a field of a value that is no record.
    fn field_meant(&self, name: &str, span: Span) -> Option<Hint> {
        let function =
            self.scopes[0].defs.contains_key(name) || Builtin::find(name, false).is_some();
        let imported = || {
            let modules = self.scopes[self.module].imports.iter();
            let with = modules.filter(|(_, id)| self.scopes[**id].defs.contains_key(name));
            with.map(|(module, _)| messages::hidden_module(module, name)).min()
        };
        match foreign::field(name) {
            Some(cure) if ["size", "len", "length"].contains(&name) => {
                Some(Hint { text: cure.to_string(), fix: self.written.method("length", span) })
            }
            Some(cure) => Some(messages::sentence(cure)),
            None if function => {
                Some(messages::function_first(name, self.written.method(name, span)))
            }
            None => imported().map(messages::sentence),
        }
    }

    pub(super) fn report_unknown_name(&mut self, name: &str, span: Span) {
        let scope = &self.scopes[self.module];
        let mut known: Vec<&str> = self.env.names().collect();
        known.extend(
            scope
                .defs
                .keys()
                .chain(self.scopes[0].defs.keys())
                .chain(scope.imports.keys())
                .chain(scope.listed.keys())
                .map(|name| &**name),
        );
        for name in Builtin::names() {
            known.push(name);
        }
        let known = known.into_iter().filter(|known| !super::apply::is_private(known));
        let near = suggest(name, known).filter(|_| name.len() > 1);
        let imported = scope
            .imports
            .iter()
            .filter(|(_, module)| self.scopes[**module].defs.contains_key(name))
            .map(|(module, _)| module)
            .min()
            .map(|module| messages::qualified(module, name, span));
        let unlisted = || {
            let defined = |k: &usize| self.scopes[*k].defs.contains_key(name);
            scope.listed.values().any(defined).then(|| messages::sentence(messages::unlisted(name)))
        };
        let cure = imported.or_else(unlisted).or_else(|| foreign::advice(name, span));
        let cure = cure.map(|hint| match (name, self.written.word(span)) {
            ("return", Some(word)) => messages::left_out(hint, word),
            _ => hint,
        });
        self.problems.push(messages::unknown_name(name, span, near, cure));
    }

    /// `value`: whether a variable may stand in its place. A name that is unknown in many places is
    /// reported once.
    pub(super) fn report_unknown_constructor(&mut self, name: &str, span: Span, value: bool) {
        let scope = &self.scopes[self.module];
        let modules =
            std::iter::once(&self.module).chain(scope.imports.values()).chain(std::iter::once(&0));
        let known = modules.flat_map(|k| self.scopes[*k].constructors.keys()).map(|name| &**name);
        let capital = |name: &&str| value && name.starts_with(char::is_uppercase);
        let values = self.env.names().chain(scope.defs.keys().map(|name| &**name));
        let near = suggest(name, known.chain(values.filter(capital)));
        let small = value.then(|| with_small_letter(name)).filter(|small| {
            self.env.get(small).is_some()
                || self.global_named(small).is_some()
                || Builtin::find(small, false).is_some()
        });
        let near = small.or(near);
        let problem = messages::unknown_constructor(name, span, near, value);
        if self.problems.iter().all(|known| known.title != problem.title) {
            self.problems.push(problem);
        }
    }
}

fn with_small_letter(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

fn component(constraint: &Constraint) -> usize {
    match constraint {
        Constraint::Component { index, .. } => *index,
        _ => 0,
    }
}

/// Missing and superfluous fields of a record, in words.
fn other_fields(wanted: &[(Rc<str>, Ty)], there: &[(Rc<str>, Ty)]) -> Option<String> {
    messages::other_fields(&not_in(wanted, there), &not_in(there, wanted))
}

fn not_in<'f>(fields: &'f [(Rc<str>, Ty)], others: &[(Rc<str>, Ty)]) -> Vec<&'f str> {
    let missing = |name: &&str| others.iter().all(|(other, _)| **other != **name);
    fields.iter().map(|(name, _)| &**name).filter(missing).collect()
}
