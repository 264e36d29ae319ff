//! Arrays: building, indexing, slicing, updating, and loops.

use lambada_core::Checkpoint;
use lambada_source::Span;
use lambada_surface::ast::{self, BinaryOp, Expr, ExprKind, LoopKind, Name, Param, UnaryOp};

use crate::builtin::Builtin;
use crate::messages::{self, Why};
use crate::solve::show::Namer;
use crate::solve::size::Poly;
use crate::solve::ty::{Node, Ty};
use crate::typed::{Clause, Driver, Exp, ExpKind, LocalId, Stmt};

use super::apply::Arg;
use super::operators::within;
use super::sizes::brief;
use super::{Infer, LocalMeaning};

impl Infer<'_> {
    /// `for` with one clause or more.
    pub(super) fn comprehension(
        &mut self,
        clauses: &[ast::Clause],
        body: &Expr,
        span: Span,
    ) -> Exp {
        self.report_bound_again(clauses);
        match clauses.split_last() {
            Some((ast::Clause::If(condition), dimensions)) => {
                self.filtered(dimensions, condition, body, span)
            }
            Some(_) | None => self.nested(clauses, body, span),
        }
    }

    /// `for x in xs if c => e`, of unknown size.
    fn filtered(
        &mut self,
        clauses: &[ast::Clause],
        condition: &Expr,
        body: &Expr,
        span: Span,
    ) -> Exp {
        let scope = self.env.mark();
        let typed: Vec<Clause> = clauses.iter().map(|clause| self.clause(clause, true).0).collect();
        let bool = self.solver.bool();
        let condition = self.check(condition, bool, &Why::Condition);
        let body = self.infer(body);
        clauses.iter().for_each(|_| self.close_and_forget());
        self.env.restore(scope);
        let size = self.opaque();
        let ty = self.solver.array(size, body.ty);
        let kind = ExpKind::Filtered(typed, Box::new(condition), Box::new(body));
        Exp { kind, ty, span }
    }

    /// Reports variables that two clauses bind, unless the name begins with `_`. Duplicates within
    /// a pattern are reported where the pattern is declared.
    fn report_bound_again(&mut self, clauses: &[ast::Clause]) {
        let mut bound: Vec<Name> = Vec::new();
        for clause in clauses {
            let names = match clause {
                ast::Clause::Range(name, _) | ast::Clause::Between(_, name, _) => {
                    vec![name.clone()]
                }
                ast::Clause::If(_) => Vec::new(),
                ast::Clause::In(pattern, _) => pattern.names(),
            };
            for name in names.iter().filter(|name| !name.text.starts_with('_')) {
                if let Some(first) = bound.iter().find(|first| first.text == name.text) {
                    let again = messages::duplicate_variable(&name.text, name.span, first.span);
                    self.problems.push(again);
                }
            }
            bound.extend(names);
        }
    }

    /// Clauses as nested loops.
    fn nested(&mut self, clauses: &[ast::Clause], body: &Expr, span: Span) -> Exp {
        let Some((first, rest)) = clauses.split_first() else { return self.infer(body) };
        let scope = self.env.mark();
        let (clause, size) = self.clause(first, true);
        let body = self.nested(rest, body, span);
        self.close_and_forget();
        self.env.restore(scope);
        let ty = self.solver.array(size, body.ty);
        Exp { kind: ExpKind::For(clause, Box::new(body)), ty, span }
    }

    /// A clause; its variables are in scope from now on, in a region of their own.
    fn clause(&mut self, clause: &ast::Clause, fresh_region: bool) -> (Clause, Poly) {
        match clause {
            ast::Clause::Range(name, bound) => {
                let int = self.solver.int();
                let bound = self.check(bound, int, &Why::Bound);
                let size = self.extent(&bound);
                let local = self.index_local(name, fresh_region);
                (Clause::Range(local, None, Box::new(bound)), size)
            }
            ast::Clause::Between(from, name, to) => {
                let int = self.solver.int();
                let from = self.check(from, int, &Why::Bound);
                let to = self.check(to, int, &Why::Bound);
                let size = match (self.size_of(&from), self.size_of(&to)) {
                    (Some(from), Some(to)) => to.plus(&from, -1),
                    _ => self.opaque(),
                };
                let local = self.index_local(name, fresh_region);
                (Clause::Range(local, Some(Box::new(from)), Box::new(to)), size)
            }
            ast::Clause::If(_) => unreachable!("the parser reads a filter after all dimensions"),
            ast::Clause::In(pattern, array) => {
                let array = self.infer(array);
                let (size, elem) = self.array_parts(&array, &Why::Array);
                self.open(fresh_region);
                let names = self.declare_names(&[pattern]);
                let pat = self.pattern(pattern, elem, &names, None);
                self.demand_irrefutable(&pat);
                (Clause::In(pat, Box::new(array)), size)
            }
        }
    }

    fn index_local(&mut self, name: &Name, fresh_region: bool) -> LocalId {
        self.open(fresh_region);
        let int = self.solver.int();
        let local = self.local(&name.text, int);
        self.env.bind(&name.text, LocalMeaning::Local(local));
        local
    }

    fn open(&mut self, fresh_region: bool) {
        if fresh_region {
            self.regions.push(Vec::new());
        }
    }

    pub(super) fn array(&mut self, items: &[Expr], span: Span) -> Exp {
        let (mut typed, before): (Vec<Exp>, _) = (Vec::new(), self.problems.len());
        for item in items {
            let item = match typed.first() {
                Some(first) => {
                    let (ty, place) = (first.ty, first.span);
                    self.check(item, ty, &Why::Element(place))
                }
                None if items.len() > 1 => {
                    let first = self.infer(item);
                    self.first_of_many(first)
                }
                None => self.infer(item),
            };
            typed.push(item);
        }
        let irregular = self.problems[before..].iter().any(messages::is_size_difference);
        let elem = match typed.first() {
            // Further elements that differ from the first are the same mistake.
            Some(_) if irregular => self.solver.error(),
            Some(first) => first.ty,
            None => self.solver.fresh(),
        };
        let ty = self.solver.array(Poly::constant(typed.len() as i64), elem);
        Exp { kind: ExpKind::Array(typed), ty, span }
    }

    pub(super) fn index(&mut self, array: &Expr, at: &[Expr], span: Span) -> Exp {
        let (written, before) = (array, self.problems.len());
        let array = self.infer(array);
        let tuple = matches!(self.solver.get(array.ty), Node::Tuple(_));
        let (at, ty) = match at {
            [Expr { kind: ExprKind::Int(k), .. }] if tuple => {
                let component =
                    messages::component(&brief(written), *k, written.span.end().to(span.end()));
                let (at, ty) = self.indices(&array, at);
                if self.problems.len() == before + 1 {
                    let problem = self.problems.pop().expect("there is one");
                    self.problems.push(problem.advice(component.text, component.fix));
                }
                (at, ty)
            }
            _ => self.indices(&array, at),
        };
        Exp { kind: ExpKind::Index(Box::new(array), at), ty, span }
    }

    /// Indices into an array, and the type of the indexed element.
    pub(super) fn indices(&mut self, array: &Exp, at: &[Expr]) -> (Vec<Exp>, Ty) {
        let mut ty = array.ty;
        let mut typed = Vec::new();
        for (k, index) in at.iter().enumerate() {
            let int = self.solver.int();
            let index = self.check(index, int, &Why::Index);
            let outer = Exp { kind: ExpKind::Error, ty, span: array.span };
            if k > 0 && self.solver.is_scalar(ty) {
                let shown = self.solver.show(array.ty);
                self.problems.push(messages::too_many_indices(k, at.len(), index.span, &shown));
                ty = self.solver.error();
            } else {
                let (size, elem) = self.array_parts(&outer, &Why::Form("an array to index"));
                self.report_evident(&index, &size);
                ty = elem;
            }
            typed.push(index);
        }
        (typed, ty)
    }

    /// Reports an index that is out of range for all values of the variables.
    fn report_evident(&mut self, index: &Exp, size: &Poly) {
        let Some(at) = self.size_of(index) else { return };
        let at = self.solver.sizes.resolve(&at);
        let size = self.solver.sizes.resolve(size);
        let negative = at.as_constant().is_some_and(|k| k < 0);
        let beyond = !self.has_closed(&at)
            && !self.has_closed(&size)
            && at.plus(&size, -1).as_constant().is_some_and(|k| k >= 0);
        if negative || beyond {
            let mut namer = Namer::default();
            let (at, size) =
                (self.solver.show_size(&at, &mut namer), self.solver.show_size(&size, &mut namer));
            self.problems.push(messages::index_out_of_range(&at, &size, index.span));
        }
    }

    fn has_closed(&self, size: &Poly) -> bool {
        self.solver.sizes.any_closed(size)
    }

    pub(super) fn slice(
        &mut self,
        array: &Expr,
        from: Option<&Expr>,
        to: Option<&Expr>,
        span: Span,
    ) -> Exp {
        let mut stmts = Vec::new();
        let array = self.sliced(array, [from, to], &mut stmts);
        let (from, to, length, elem) = self.range(&array, from, to, span);
        let ty = self.solver.array(length, elem);
        within(stmts, Exp { kind: ExpKind::Slice(Box::new(array), from, to), ty, span })
    }

    /// An array to slice; a variable if a bound counts from its end.
    fn sliced(&mut self, array: &Expr, ends: [Option<&Expr>; 2], stmts: &mut Vec<Stmt>) -> Exp {
        let array = self.infer(array);
        match ends.into_iter().flatten().any(counts_from_end) {
            true => self.share("array", array, stmts),
            false => array,
        }
    }

    /// A bound of a slice of this array.
    fn slice_end(&mut self, array: &Exp, end: &Expr) -> Exp {
        let int = self.solver.int();
        let bound = self.check(end, int, &Why::Index);
        if !counts_from_end(end) {
            return bound;
        }
        let span = end.span;
        let ty = self.builtin_type(Builtin::Length, span);
        let length = Exp { kind: ExpKind::Builtin(Builtin::Length), ty, span };
        let array = vec![Arg::Done(array.clone())];
        let length = self.apply(length, Vec::new(), array, span, "length");
        Exp { kind: ExpKind::Arith("+", Box::new(length), Box::new(bound)), ty: int, span }
    }

    /// The ends of a slice, its size and the type of its elements.
    #[allow(clippy::type_complexity)]
    fn range(
        &mut self,
        array: &Exp,
        from: Option<&Expr>,
        to: Option<&Expr>,
        span: Span,
    ) -> (Option<Box<Exp>>, Option<Box<Exp>>, Poly, Ty) {
        let (size, elem) = self.array_parts(array, &Why::Form("an array to slice"));
        let [from, to] = [from, to].map(|end| end.map(|end| Box::new(self.slice_end(array, end))));
        let start = from.as_ref().map_or(Some(Poly::constant(0)), |from| self.size_of(from));
        let stop = to.as_ref().map_or(Some(size.clone()), |to| self.size_of(to));
        let length = match (start, stop) {
            (Some(a), Some(b)) => {
                self.report_evident_slice(&a, &b, &size, span);
                b.plus(&a, -1)
            }
            _ => self.opaque(),
        };
        (from, to, length, elem)
    }

    fn report_evident_slice(&mut self, from: &Poly, to: &Poly, size: &Poly, span: Span) {
        let [a, b, n] = [from, to, size].map(|p| self.solver.sizes.resolve(p));
        if [&a, &b, &n].into_iter().any(|p| self.has_closed(p)) {
            return;
        }
        let negative = |p: &Poly| p.as_constant().is_some_and(|k| k < 0);
        if negative(&a) || negative(&b.plus(&a, -1)) || negative(&n.plus(&b, -1)) {
            let mut namer = Namer::default();
            let [a, b, n] = [a, b, n].map(|p| self.solver.show_size(&p, &mut namer));
            self.problems.push(messages::slice_out_of_range(&a, &b, &n, span));
        }
    }

    pub(super) fn update(&mut self, array: &Expr, at: &[Expr], value: &Expr, span: Span) -> Exp {
        let array = self.infer(array);
        let (at, elem) = self.indices(&array, at);
        let value = self.check(value, elem, &Why::Update(array.span));
        let ty = array.ty;
        Exp { kind: ExpKind::Update(Box::new(array), at, Box::new(value)), ty, span }
    }

    pub(super) fn update_slice(
        &mut self,
        array: &Expr,
        from: Option<&Expr>,
        to: Option<&Expr>,
        value: &Expr,
        span: Span,
    ) -> Exp {
        let mut stmts = Vec::new();
        let array = self.sliced(array, [from, to], &mut stmts);
        let (from, to, length, elem) = self.range(&array, from, to, span);
        let slice = self.solver.array(length, elem);
        let value = self.check(value, slice, &Why::Update(array.span));
        let ty = array.ty;
        let kind = ExpKind::UpdateSlice(Box::new(array), from, to, Box::new(value));
        within(stmts, Exp { kind, ty, span })
    }

    fn checkpoint(&mut self, written: Option<&ast::Checkpoint>) -> Checkpoint<Box<Exp>> {
        match written {
            None | Some(ast::Checkpoint::All) => Checkpoint::All,
            Some(ast::Checkpoint::Sqrt) => Checkpoint::Sqrt,
            Some(ast::Checkpoint::States(states)) => {
                if let ast::ExprKind::Int(0) = states.kind {
                    self.problems.push(messages::no_states(states.span));
                }
                let int = self.solver.int();
                Checkpoint::States(Box::new(self.check(states, int, &Why::States)))
            }
        }
    }

    pub(super) fn loop_(
        &mut self,
        param: &Param,
        init: &Expr,
        kind: &LoopKind,
        body: &Expr,
        span: Span,
    ) -> Exp {
        let scope = self.env.mark();
        let init = match &param.ty {
            Some(written) => {
                let ty = self.ty(written, None);
                self.check(init, ty, &Why::Annotation(written.span))
            }
            None => {
                let init = self.infer(init);
                self.first_of_many(init)
            }
        };
        // A `for` clause is elaborated outside of the state's scope, the condition of a `while`
        // inside.
        let counted = match kind {
            LoopKind::For(clause, _, checkpoint) => {
                let checkpoint = self.checkpoint(checkpoint.as_ref());
                Some((self.clause(clause, true).0, checkpoint))
            }
            LoopKind::While(_) => {
                self.open(true);
                None
            }
        };
        let names = self.declare_names(&[&param.pattern]);
        let state = self.pattern(&param.pattern, init.ty, &names, None);
        self.demand_irrefutable(&state);
        let driver = match (counted, kind) {
            (Some((clause, checkpoint)), _) => Driver::For(clause, checkpoint),
            (None, LoopKind::While(condition)) => {
                let bool = self.solver.bool();
                Driver::While(Box::new(self.check(condition, bool, &Why::Condition)))
            }
            (None, LoopKind::For(..)) => unreachable!("elaborated above"),
        };
        let filter = match kind {
            LoopKind::For(_, Some(filter), _) => {
                let bool = self.solver.bool();
                Some(Box::new(self.check(filter, bool, &Why::Condition)))
            }
            LoopKind::For(_, None, _) | LoopKind::While(_) => None,
        };
        let body = self.check(body, init.ty, &Why::State(init.span));
        self.close_and_forget();
        self.env.restore(scope);
        let ty = init.ty;
        Exp {
            kind: ExpKind::Loop {
                state,
                init: Box::new(init),
                driver,
                filter,
                body: Box::new(body),
            },
            ty,
            span,
        }
    }
}

/// Whether a bound of a slice begins with a minus sign, as in `xs[:-1]` and `xs[-k + 1:]`. In
/// `xs[-1 + n:]` it need not be negative, so that is an index.
fn counts_from_end(end: &Expr) -> bool {
    match &end.kind {
        ExprKind::Unary(UnaryOp::Neg, _) => true,
        ExprKind::Binary(op, left, right) => {
            let is_offset = matches!(right.kind, ExprKind::Int(_));
            let counts = op.level() > BinaryOp::Add.level()
                || op.level() == BinaryOp::Add.level() && is_offset;
            counts && counts_from_end(left)
        }
        _ => false,
    }
}
