//! Integer expressions as sizes.

use lambada_source::Span;
use lambada_surface::ast::{Expr, ExprKind};

use crate::builtin::Builtin;
use crate::messages;
use crate::solve::scheme::Quantified;
use crate::solve::size::AtomKind;
use crate::solve::size::{Atom, Poly};
use crate::solve::ty::{Node, Ty};
use crate::typed::{Exp, ExpKind, LocalId};

use super::{Infer, State};

/// Sizes of an instance that its arguments determine.
pub(super) type Bound = Vec<(Atom, Quantified)>;

impl Infer<'_> {
    /// The value of an integer expression as a size, if it can be written as one.
    pub(super) fn size_of(&mut self, exp: &Exp) -> Option<Poly> {
        match &exp.kind {
            ExpKind::Number(value) => Some(Poly::constant(*value)),
            ExpKind::Local(local) => Some(self.local_size(*local)),
            ExpKind::Global(id, _) => match &self.globals[id.0 as usize].state {
                State::Done(done) => done.size.map(Poly::constant),
                State::New | State::Started(_) => None,
            },
            ExpKind::Negate(inner) => Some(Poly::default().plus(&self.size_of(inner)?, -1)),
            ExpKind::Arith(op, a, b) => self.arithmetic_size(op, a, b),
            ExpKind::Apply(f, xs) if matches!(f.kind, ExpKind::Builtin(Builtin::Length)) => {
                self.length_of(xs)
            }
            ExpKind::Claimed(inner, _) | ExpKind::Convert(inner) => self.size_of(inner),
            ExpKind::Function(..)
            | ExpKind::Recursive(..)
            | ExpKind::RecursiveLocal(..)
            | ExpKind::Builtin(_)
            | ExpKind::Inspect(_)
            | ExpKind::Check { .. }
            | ExpKind::Fail { .. }
            | ExpKind::Lit(_)
            | ExpKind::Tuple(_)
            | ExpKind::Record(_)
            | ExpKind::RecordUpdate(..)
            | ExpKind::Field(..)
            | ExpKind::Component(..)
            | ExpKind::Apply(..)
            | ExpKind::Elementwise(..)
            | ExpKind::Lambda(_)
            | ExpKind::Con(..)
            | ExpKind::Not(_)
            | ExpKind::Compare(..)
            | ExpKind::Contraction(..)
            | ExpKind::Block(..)
            | ExpKind::If(..)
            | ExpKind::Match(..)
            | ExpKind::For(..)
            | ExpKind::Filtered(..)
            | ExpKind::Array(_)
            | ExpKind::Index(..)
            | ExpKind::Slice(..)
            | ExpKind::Update(..)
            | ExpKind::UpdateSlice(..)
            | ExpKind::Loop { .. }
            | ExpKind::Accumulate(..)
            | ExpKind::Add(..)
            | ExpKind::Sequence(..)
            | ExpKind::MissingSize(_)
            | ExpKind::Error => None,
        }
    }

    fn arithmetic_size(&mut self, op: &str, a: &Exp, b: &Exp) -> Option<Poly> {
        let (a, b) = (self.size_of(a)?, self.size_of(b)?);
        if !a.has_short_product(&b) {
            return None;
        }
        match op {
            "+" => Some(a.plus(&b, 1)),
            "-" => Some(a.plus(&b, -1)),
            "*" => Some(a.times(&b)),
            "//" => {
                let (a, b) = (self.solver.sizes.resolve(&a), self.solver.sizes.resolve(&b));
                Some(self.solver.sizes.quotient(&a, &b))
            }
            _ => None,
        }
    }

    fn length_of(&mut self, xs: &Exp) -> Option<Poly> {
        match self.solver.get(xs.ty) {
            Node::Array(size, _) => Some(size.clone()),
            _ => None,
        }
    }

    /// The value of a variable as a size.
    pub(super) fn local_size(&mut self, id: LocalId) -> Poly {
        let local = &self.locals[id.0 as usize];
        if let Some(size) = &local.size {
            return size.clone();
        }
        let (name, region) = (local.name.clone(), local.region);
        let atom = self.solver.sizes.fresh(AtomKind::Value(name));
        match self.regions.get_mut(region) {
            Some(atoms) => atoms.push(atom),
            None => self.solver.sizes.close(atom),
        }
        self.locals[id.0 as usize].size = Some(Poly::var(atom));
        Poly::var(atom)
    }

    /// An unknown size that is constant in this scope.
    pub(super) fn opaque(&mut self) -> Poly {
        let atom = self.solver.sizes.fresh(AtomKind::Opaque);
        self.in_this_region(atom);
        Poly::var(atom)
    }

    pub(super) fn in_this_region(&mut self, atom: Atom) {
        self.regions.last_mut().expect("there is a region").push(atom);
    }

    /// The size of `for i < bound`.
    pub(super) fn extent(&mut self, bound: &Exp) -> Poly {
        self.size_of(bound).unwrap_or_else(|| self.opaque())
    }

    /// Binds the sizes that are the value of the k-th argument.
    pub(super) fn bind_sizes(&mut self, bound: &Bound, k: usize, arg: &Exp) {
        for (atom, how) in bound {
            if *how == Quantified::Parameter(k) {
                let size = self.extent(arg);
                let size = self.solver.sizes.resolve(&size);
                self.solver.here = arg.span;
                if self.solver.equal_sizes(&Poly::var(*atom), &size).is_err() {
                    self.expect_equal_size(*atom, &size, arg.span);
                }
            }
        }
    }

    fn expect_equal_size(&mut self, atom: Atom, size: &Poly, span: Span) {
        let mut namer = crate::solve::show::Namer::default();
        let (a, b) = (
            self.solver.show_size(&Poly::var(atom), &mut namer),
            self.solver.show_size(size, &mut namer),
        );
        self.problems.push(messages::different_sizes(&a, &b, span, None));
    }

    /// Closes sizes that are results of a call, or values of missing arguments.
    pub(super) fn close_bound(&mut self, bound: &Bound, count: usize, result: Ty) {
        let complete = !self.solver.is_function(result);
        for (atom, how) in bound {
            match how {
                Quantified::Parameter(k) if *k >= count => {
                    if let AtomKind::Flexible(_) = self.solver.sizes.kind(*atom) {
                        let unknown = self.solver.sizes.fresh(AtomKind::Opaque);
                        self.solver.sizes.close(unknown);
                        self.solver.sizes.solve(*atom, Poly::var(unknown));
                    }
                }
                Quantified::Result if complete => self.in_this_region(*atom),
                Quantified::Result => self.solver.sizes.close(*atom),
                Quantified::Parameter(_) | Quantified::Free => {}
            }
        }
    }
}

/// Short text of an expression for hints: a variable by its name, other expressions in parentheses.
pub(super) fn brief(expr: &Expr) -> String {
    let text = lambada_surface::print_expr(expr);
    let atomic = matches!(
        expr.kind,
        ExprKind::Var(_)
            | ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Bool(_)
            | ExprKind::Operator(_)
            | ExprKind::SectionLeft(..)
            | ExprKind::SectionRight(..)
            | ExprKind::Array(_)
            | ExprKind::Tuple(_)
            | ExprKind::Record(_)
            | ExprKind::Index(..)
            | ExprKind::Field(..)
            | ExprKind::Component(..)
    );
    match text {
        text if text.len() > 40 || text.contains('\n') => "(…)".to_string(),
        text if atomic => text,
        text => format!("({text})"),
    }
}
