//! Sizes that no constructor argument determines, such as that of `Leaf : tree [d]`. A value of a
//! type with sizes stores them, so something in scope must have the inferred size: a size variable,
//! an `int`, or an axis of a variable.

use std::rc::Rc;

use lambada_source::Span;

use crate::messages;
use crate::solve::size::{Atom, Poly};
use crate::solve::size::{AtomKind, Moment};
use crate::solve::ty::{Node, Ty};
use crate::typed::{Claim, Exp, ExpKind, LocalId, Pat, PatKind, SizeFact, Step, Stmt};

use super::{Infer, LocalMeaning};

/// A size that must be found in scope.
#[derive(Clone)]
pub(crate) struct MissingSize {
    size: Poly,
    /// Its name in the type.
    name: Rc<str>,
    constructor: Rc<str>,
    span: Span,
    /// The variables in scope, innermost last.
    scope: Vec<LocalId>,
    /// Moment of the call: sizes closed by then may differ from place to place.
    at: Moment,
    pub found: Option<Exp>,
    /// Whether the search is done, or no longer needed.
    done: bool,
}

impl Infer<'_> {
    /// The size of a constructor here; it is found when its definition is complete.
    pub(super) fn missing_size(
        &mut self,
        size: Poly,
        name: &Rc<str>,
        constructor: &Rc<str>,
        span: Span,
    ) -> Exp {
        let ty = self.solver.int();
        let mut scope: Vec<LocalId> = self.env.entries().filter_map(local).collect();
        scope.sort_unstable();
        self.missing.push(MissingSize {
            size,
            name: name.clone(),
            constructor: constructor.clone(),
            span,
            scope,
            at: self.solver.sizes.now(),
            found: None,
            done: self.trying,
        });
        Exp { kind: ExpKind::MissingSize(self.missing.len() - 1), ty, span }
    }

    /// Drops the missing sizes since `from`, because their definitions are elaborated again.
    pub(super) fn forget_missing_sizes(&mut self, from: usize) {
        self.missing[from..].iter_mut().for_each(|missing| missing.done = true);
    }

    /// Finds the missing sizes of constructors since `from`.
    pub(super) fn find_missing_sizes(&mut self, from: usize) {
        for k in from..self.missing.len() {
            let missing = &mut self.missing[k];
            if std::mem::replace(&mut missing.done, true) {
                continue;
            }
            let (scope, at, span) = (missing.scope.clone(), missing.at, missing.span);
            let size = missing.size.clone();
            let size = self.solver.sizes.resolve(&size);
            let found = self.size_as_exp(&size, &scope, at, span);
            let missing = &mut self.missing[k];
            if found.is_none() {
                let problem = messages::missing_size(&missing.name, &missing.constructor, span);
                self.problems.push(problem);
            }
            missing.found = found;
        }
    }

    /// An expression for a size, of variables in scope.
    fn size_as_exp(
        &mut self,
        size: &Poly,
        scope: &[LocalId],
        at: Moment,
        span: Span,
    ) -> Option<Exp> {
        if let Some(constant) = size.as_constant() {
            return Some(self.integer(ExpKind::Number(constant), span));
        }
        if self.solver.sizes.was_closed(size, at) {
            return None;
        }
        if let Some(found) = self.size_in_scope(size, scope, span) {
            return Some(found);
        }
        let alone = size.as_var();
        let mut sum: Option<Exp> = None;
        for (atoms, count) in size.terms() {
            let mut term: Option<Exp> = (count != 1 || atoms.is_empty())
                .then(|| self.integer(ExpKind::Number(count), span));
            for &atom in atoms {
                let factor = match alone {
                    Some(_) => self.quotient_as_exp(atom, scope, at, span)?,
                    None => self.size_as_exp(&Poly::var(atom), scope, at, span)?,
                };
                term = Some(self.joined("*", term, factor, span));
            }
            sum = Some(self.joined("+", sum, term?, span));
        }
        sum
    }

    fn quotient_as_exp(
        &mut self,
        atom: Atom,
        scope: &[LocalId],
        at: Moment,
        span: Span,
    ) -> Option<Exp> {
        let AtomKind::Quotient(a, b) = self.solver.sizes.kind(atom).clone() else { return None };
        let a = self.size_as_exp(&a, scope, at, span)?;
        let b = self.size_as_exp(&b, scope, at, span)?;
        Some(self.joined("//", Some(a), b, span))
    }

    fn joined(&mut self, operator: &'static str, left: Option<Exp>, right: Exp, span: Span) -> Exp {
        match left {
            None => right,
            Some(left) => {
                self.integer(ExpKind::Arith(operator, Box::new(left), Box::new(right)), span)
            }
        }
    }

    fn integer(&mut self, kind: ExpKind, span: Span) -> Exp {
        Exp { kind, ty: self.solver.int(), span }
    }

    /// A variable with this value, or an axis of a variable with this size.
    fn size_in_scope(&mut self, size: &Poly, scope: &[LocalId], span: Span) -> Option<Exp> {
        for local in scope.iter().rev() {
            let known = self.locals[local.0 as usize].size.clone();
            if known.is_some_and(|known| self.solver.sizes.resolve(&known) == *size) {
                return Some(self.integer(ExpKind::Local(*local), span));
            }
        }
        for local in scope.iter().rev() {
            let ty = self.locals[local.0 as usize].ty;
            let mut path = Vec::new();
            if self.path_to_size(ty, size, &mut path) {
                return Some(self.size_at(*local, path, span));
            }
        }
        None
    }

    /// The way to an axis of this size.
    fn path_to_size(&mut self, ty: Ty, size: &Poly, path: &mut Vec<Step>) -> bool {
        let node = self.solver.get(ty).clone();
        if let Node::Array(own, _) = &node
            && self.solver.sizes.resolve(own) == *size
        {
            return true;
        }
        steps(&node).into_iter().any(|(step, ty)| {
            path.push(step);
            let found = self.path_to_size(ty, size, path);
            if !found {
                path.pop();
            }
            found
        })
    }

    /// The size of an axis of a variable.
    fn size_at(&mut self, local: LocalId, path: Vec<Step>, span: Span) -> Exp {
        let whole = self.locals[local.0 as usize].ty;
        let int = self.solver.int();
        let name = self.locals[local.0 as usize].name.clone();
        let size = self.local(&"size".into(), int);
        let claim = Claim { param: 0, path, what: SizeFact::Bind(size), owner: name, span };
        let value = Exp { kind: ExpKind::Local(local), ty: whole, span };
        let pat = Pat { kind: PatKind::Wildcard, ty: whole, span };
        let stmt = Stmt::Let(Box::new((pat, value, vec![claim])));
        let body = self.integer(ExpKind::Local(size), span);
        self.integer(ExpKind::Block(vec![stmt], Box::new(body)), span)
    }
}

fn local(entry: &LocalMeaning) -> Option<LocalId> {
    let LocalMeaning::Local(local) = entry else { return None };
    Some(*local)
}

/// The parts of a type in which arrays may be, with the step to each.
pub(super) fn steps(node: &Node) -> Vec<(Step, Ty)> {
    let step = |(k, ty): (usize, &Ty)| (Step::Part(k), *ty);
    match node {
        Node::Array(_, elem) => vec![(Step::Element, *elem)],
        Node::Tuple(items) => items.iter().enumerate().map(step).collect(),
        Node::Record(fields) => fields.iter().map(|(_, ty)| ty).enumerate().map(step).collect(),
        Node::Unknown(_)
        | Node::Link(_)
        | Node::Scalar(_)
        | Node::Fun(..)
        | Node::Variant(..)
        | Node::Error => Vec::new(),
    }
}
