//! Warnings about code that has a meaning, but perhaps not the intended one. They follow from the
//! syntax tree alone, so one walk over a program without errors finds them.
//!
//! * A `let` or a local function that is never mentioned, unless its name starts with `_`.
//! * A name that hides another one before its first use: a parameter that is bound again, or an
//!   index inside of a loop over the same index.
//! * A loop whose result is thrown away and that adds to no accumulator.
//! * An array of arrays whose sizes depend on the place.
//! * A sum over several indices, which adds rows, unless the rows are summed in turn.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_source::{Problem, Span};
use lambada_surface::ast::{
    BinaryOp, Clause, Def, Expr, ExprKind, Item, Module, Name, PatternKind,
};
use lambada_surface::scopes::{Binder, Scopes, walk_scopes};
use lambada_surface::visit::{Visit, walk_expr};

use crate::messages;

/// The warnings of a module, in the order of its text.
pub(crate) fn lints(module: &Module) -> Vec<Problem> {
    let definitions = module.items.iter().filter_map(|item| match item {
        Item::Def(def) => Some(def),
        Item::Type(_) | Item::Import(_) => None,
    });
    definitions.flat_map(of_definition).collect()
}

fn of_definition(def: &Def) -> Vec<Problem> {
    let mut lints = Lints::default();
    walk_scopes(def, &mut lints);
    let mut found = lints.found;
    found.sort_by_key(|problem| problem.labels.first().map(|label| label.span));
    found
}

/// A name in scope.
struct Bound {
    name: Name,
    by: Binder,
    used: bool,
    /// Where a name that hides it is bound, if it is not used before.
    hidden: Option<Span>,
}

#[derive(Default)]
struct Lints {
    found: Vec<Problem>,
    bound: Vec<Bound>,
    /// For each name the bindings in scope, innermost last; indices into `bound`.
    by_name: HashMap<Rc<str>, Vec<usize>>,
    scopes: Vec<usize>,
    /// Number of accumulators, and of functions that add, in scope.
    accumulators: usize,
    /// Operands of sums and pipes that have been looked at.
    folded: HashSet<Span>,
}

impl Scopes for Lints {
    fn enter(&mut self) {
        self.scopes.push(self.bound.len());
    }

    fn leave(&mut self) {
        let start = self.scopes.pop().expect("leave follows enter");
        for bound in self.bound.split_off(start).into_iter().rev() {
            self.by_name.entry(bound.name.text.clone()).or_default().pop();
            self.accumulators -= usize::from(bound.by == Binder::Accumulator);
            self.unused(&bound);
        }
    }

    fn bind(&mut self, name: &Name, by: Binder) {
        let meanings = self.by_name.entry(name.text.clone()).or_default();
        if let Some(outer) = meanings.last() {
            let outer = &mut self.bound[*outer];
            let indices = outer.by == Binder::Index && by == Binder::Index;
            if indices && !name.text.starts_with('_') {
                self.found.push(messages::index_hides(&name.text, name.span, outer.name.span));
            }
            if !outer.used && outer.hidden.is_none() {
                outer.hidden = Some(name.span);
            }
        }
        meanings.push(self.bound.len());
        self.accumulators += usize::from(by == Binder::Accumulator);
        self.bound.push(Bound { name: name.clone(), by, used: false, hidden: None });
    }

    fn mention(&mut self, name: &Rc<str>, _: Span) {
        if let Some(place) = self.by_name.get(name).and_then(|meanings| meanings.last()) {
            self.bound[*place].used = true;
        }
    }

    fn at(&mut self, expr: &Expr) {
        if let ExprKind::Let(param, value, _) = &expr.kind
            && param.pattern.kind == PatternKind::Wildcard
        {
            self.without_effect(value);
        } else if let ExprKind::For(clauses, body) = &expr.kind {
            self.ragged(clauses, body);
        } else if let ExprKind::Apply(fold, operand) = &expr.kind {
            self.rows_added(expr, fold, operand);
        } else if let ExprKind::Binary(BinaryOp::Pipe, operand, _) = &expr.kind {
            self.folded.insert(operand.span);
        }
    }
}

/// Functions that take an array to one of its elements, or to their sum.
const FOLDS: [&str; 5] = ["sum", "product", "mean", "maximum", "minimum"];

impl Lints {
    fn unused(&mut self, bound: &Bound) {
        let Bound { name: Name { text, span }, by, used, hidden } = bound;
        if *used || text.starts_with('_') {
            return;
        }
        match (by, hidden) {
            (Binder::Let, _) => self.found.push(messages::unused_let(text, *span, *hidden)),
            (Binder::Function, _) => self.found.push(messages::unused_function(text, *span)),
            (Binder::Parameter, Some(place)) => {
                self.found.push(messages::hides_parameter(text, *place, *span));
            }
            (
                Binder::Parameter
                | Binder::Size
                | Binder::Index
                | Binder::Element
                | Binder::State
                | Binder::Accumulator
                | Binder::Arm,
                _,
            ) => {}
        }
    }

    /// `let _ = for … => e`. If an accumulator is in scope, a local function may add to it, so
    /// there is no warning.
    fn without_effect(&mut self, value: &Expr) {
        let is_loop = matches!(value.kind, ExprKind::For(..) | ExprKind::Loop(..));
        if is_loop && self.accumulators == 0 && !has_effect(value) {
            self.found.push(messages::loop_without_effect(value.span));
        }
    }

    /// `sum (for i < n, j < m => e)`, unless another such function or `|>` has it as an operand.
    fn rows_added(&mut self, whole: &Expr, fold: &Expr, operand: &Expr) {
        let ExprKind::Var(name) = &fold.kind else { return };
        self.folded.insert(operand.span);
        if !FOLDS.contains(&&**name) || self.folded.contains(&whole.span) {
            return;
        }
        if let ExprKind::For(clauses, _) = &operand.kind
            && clauses.len() > 1
            && !matches!(clauses.last(), Some(Clause::If(_)))
        {
            self.found.push(messages::rows_added(name, whole.span, operand.span));
        }
    }

    fn ragged(&mut self, clauses: &[Clause], body: &Expr) {
        let mut axes: Vec<&Clause> = clauses.iter().collect();
        if let Some(Clause::If(_)) = axes.last() {
            return;
        }
        if let ExprKind::For(inner, element) = &result(body).kind
            && !has_effect(element)
            && !matches!(inner.last(), Some(Clause::If(_)))
        {
            axes.extend(inner);
        }
        let mut indices: Vec<&Name> = Vec::new();
        for clause in axes {
            let (name, bounds) = match clause {
                Clause::Range(name, bound) => (name, vec![bound]),
                Clause::Between(from, name, to) => (name, vec![from, to]),
                Clause::In(..) | Clause::If(_) => continue,
            };
            for bound in bounds {
                if let Some(index) = indices.iter().find(|index| depends(bound, &index.text)) {
                    self.found.push(messages::ragged(&index.text, bound.span, index.span));
                    return;
                }
            }
            indices.push(name);
        }
    }
}

/// The result of an expression, behind `let`s.
fn result(mut expr: &Expr) -> &Expr {
    while let ExprKind::Let(_, _, body)
    | ExprKind::LetFunctions(_, body)
    | ExprKind::Commented(_, body)
    | ExprKind::Annotated(body, _) = &expr.kind
    {
        expr = body;
    }
    expr
}

/// Whether a size is an arithmetic expression of the index. A size looked up at a place, such as
/// `length xs[i]`, is the same for all.
fn depends(size: &Expr, index: &str) -> bool {
    if let ExprKind::Binary(_, left, right) = &size.kind {
        depends(left, index) || depends(right, index)
    } else if let ExprKind::Unary(_, inner) | ExprKind::Annotated(inner, _) = &size.kind {
        depends(inner, index)
    } else {
        matches!(&size.kind, ExprKind::Var(name) if **name == *index)
    }
}

/// Whether the expression adds to an accumulator or prints.
fn has_effect(expr: &Expr) -> bool {
    struct Effects(bool);
    impl Visit for Effects {
        fn expr(&mut self, expr: &Expr) {
            self.0 |= matches!(
                &expr.kind,
                ExprKind::Add(..)
                    | ExprKind::InspectAs(_)
                    | ExprKind::Check(..)
                    | ExprKind::Fail(..)
            ) || matches!(&expr.kind, ExprKind::Var(name) if &**name == "inspect");
            if !self.0 {
                walk_expr(self, expr);
            }
        }
    }
    let mut effects = Effects(false);
    effects.expr(expr);
    effects.0
}
