//! From clashes to problems, and names that are not there.

use std::rc::Rc;

use lambada_source::{Span, suggest};

use crate::builtin::Builtin;
use crate::messages::{self, Details, Why};
use crate::solve::Clash;
use crate::solve::constraint::{Constraint, Failed, Trouble};
use crate::solve::show::Namer;
use crate::solve::ty::{Bases, Kind, Node, Origin, Ty};
use crate::typed::Exp;

use super::Infer;

impl Infer<'_> {
    /// An expression of a type that is expected.
    pub(super) fn expect(&mut self, exp: &Exp, expected: Ty, why: &Why) {
        self.expect_type(exp.ty, expected, exp.span, why);
    }

    /// A type that is found where another is expected.
    pub(super) fn expect_type(&mut self, found: Ty, expected: Ty, span: Span, why: &Why) {
        self.solver.here = span;
        if let Err(clash) = self.solver.unify(expected, found) {
            self.report_clash(clash, found, expected, span, Some(why));
        }
    }

    fn report_clash(
        &mut self,
        clash: Clash,
        found: Ty,
        expected: Ty,
        span: Span,
        why: Option<&Why>,
    ) {
        let problem = match clash {
            Clash::Named(a, b) => messages::clashing_sizes(&a, &b, span, why),
            Clash::Sizes(a, b) => {
                let mut namer = Namer::default();
                let (a, b) =
                    (self.solver.show_size(&a, &mut namer), self.solver.show_size(&b, &mut namer));
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

    fn rigid_name(&self, ty: Ty) -> Option<Rc<str>> {
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
        messages::mismatch(
            span,
            &shown[0],
            &shown[1],
            &why,
            Details { hint: self.mismatch_hint(found, expected) },
        )
    }

    fn mismatch_hint(&self, found: Ty, expected: Ty) -> Option<String> {
        use lambada_prim::ScalarTy::{Int, Real};
        match (self.solver.as_scalar(expected), self.solver.as_scalar(found)) {
            (Some(Real), Some(Int)) => {
                return Some("`real n` converts an int to a real".to_string());
            }
            (Some(Int), Some(Real)) => {
                return Some("`int x` truncates a real to an int".to_string());
            }
            _ => {}
        }
        let forgotten = self.solver.is_function(found)
            && !self.solver.is_function(expected)
            && !self.solver.is_unknown(expected);
        forgotten.then(|| messages::FORGOTTEN_ARGUMENT.to_string())
    }

    fn not_data(&self, ty: Ty, kind: Kind, origin: &Origin) -> lambada_source::Problem {
        let wanted = match kind {
            Kind::Data { bases, arrays: true } if bases == Bases::REAL => {
                "reals and arrays of them"
            }
            Kind::Data { arrays: true, .. } => "numbers and arrays of them",
            Kind::Data { bases, arrays: false } if bases == Bases::ALL => "scalars",
            Kind::Data { bases, arrays: false } if bases == Bases::REAL => "reals",
            Kind::Data { .. } | Kind::Any => "numbers",
        };
        let problem = messages::not_data(&origin.what, wanted, &self.solver.show(ty), origin.span);
        if self.solver.is_function(ty) {
            problem.hint(messages::FORGOTTEN_ARGUMENT)
        } else {
            problem
        }
    }

    /// Narrows what an expression may be.
    pub(super) fn require(&mut self, exp: &Exp, kind: Kind, what: &str) {
        let origin = Origin::new(what, exp.span);
        if let Err(clash) = self.solver.require(exp.ty, kind, origin.clone()) {
            match clash {
                Clash::Kind(ty, _, _)
                    if self.solver.root(ty) == self.solver.root(exp.ty)
                        || self.solver.rank(exp.ty) > 0 =>
                {
                    let problem = self.not_data(exp.ty, kind, &origin);
                    self.problems.push(problem);
                }
                clash => self.report_clash(clash, exp.ty, exp.ty, exp.span, None),
            }
        }
    }

    /// Size equations since `from` that turned out wrong.
    pub(super) fn settle_sizes(&mut self, from: usize) {
        for (clash, span) in self.solver.review_sizes(from) {
            let error = self.solver.error();
            self.report_clash(clash, error, error, span, None);
        }
    }

    /// Constraints that turned out wrong.
    pub(super) fn report_failed(&mut self) {
        for failed in std::mem::take(&mut self.solver.failed) {
            self.report_one(failed);
        }
    }

    fn report_one(&mut self, failed: Failed) {
        let Failed { constraint, trouble } = failed;
        let types = constraint.types();
        if types.iter().any(|ty| self.solver.has_error(*ty))
            && !matches!(
                trouble,
                Trouble::Function(_) | Trouble::NoField(_) | Trouble::NoComponent(_)
            )
        {
            // The last type has been made wrong by the failure itself; that of an operand was wrong before.
            let operands = &types[..types.len() - 1];
            if operands.iter().any(|ty| self.solver.has_error(*ty)) {
                return;
            }
        }
        let (what, span) = (constraint.origin().what.clone(), constraint.origin().span);
        let show = |ty: Ty| self.solver.show(ty);
        let problem = match trouble {
            Trouble::Clash(clash) => return self.report_constraint_clash(&constraint, clash),
            Trouble::Mixed(..) => messages::mixed(&what, span, None, None),
            Trouble::Ranks(a, b) => messages::ranks(&what, span, &show(a), &show(b)),
            Trouble::NoField(record) => return self.report_no_field(&what, record, Some(span)),
            Trouble::NotRecord(ty) => {
                messages::not_a_record(what.trim_matches('`'), &show(ty), span)
            }
            Trouble::NoComponent(ty) => {
                messages::no_component(component(&constraint), &show(ty), span)
            }
            Trouble::NotTuple(ty) => {
                messages::no_component(component(&constraint), &show(ty), span)
            }
            Trouble::Function(ty) if &*what == "`accumulate`" => {
                messages::accumulate_function(&show(ty), span)
            }
            Trouble::Function(ty) => messages::holds_function(&what, &show(ty), span),
            Trouble::NotMatrix(ty) => messages::not_a_matrix(&show(ty), span),
            Trouble::Vectors => messages::two_vectors(span),
            Trouble::NotUnits(ty) => messages::not_units(&show(ty), span),
            Trouble::NotReals(ty) => messages::not_reals(&show(ty), span),
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

    /// Fields and components of what stayed unknown.
    pub(super) fn report_stuck(&mut self, stuck: &[Constraint]) {
        for constraint in stuck {
            let what = match constraint {
                Constraint::Component { index, .. } => {
                    (format!("the component `.{index}`"), "(t : (real, real))")
                }
                _ => (
                    format!("the field {}", constraint.origin().what),
                    "(r : {x : real, y : real})",
                ),
            };
            self.problems.push(messages::annotation_needed(
                &what.0,
                what.1,
                constraint.origin().span,
            ));
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
            _ => messages::not_a_record(name, &self.solver.show(record), span),
        };
        self.problems.push(problem);
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
                .map(|name| &**name),
        );
        for name in Builtin::names() {
            known.push(name);
        }
        let known = known.into_iter().filter(|known| !known.starts_with("prelude_"));
        let near = suggest(name, known);
        self.problems.push(messages::unknown_name(name, span, near));
    }

    pub(super) fn report_unknown_constructor(&mut self, name: &str, span: Span) {
        let scope = &self.scopes[self.module];
        let modules =
            std::iter::once(&self.module).chain(scope.imports.values()).chain(std::iter::once(&0));
        let known = modules.flat_map(|k| self.scopes[*k].constructors.keys()).map(|name| &**name);
        let near = suggest(name, known);
        self.problems.push(messages::unknown_constructor(name, span, near));
    }
}

fn component(constraint: &Constraint) -> usize {
    match constraint {
        Constraint::Component { index, .. } => *index,
        _ => 0,
    }
}
