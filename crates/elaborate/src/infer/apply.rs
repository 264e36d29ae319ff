//! Names and applications.

use std::rc::Rc;

use lambada_source::{Fix, Span};
use lambada_surface::ast::{Expr, ExprKind, Name, Param, Pattern, PatternKind};

use crate::builtin::{Builtin, is_extremum};
use crate::messages::{self, Why};
use crate::solve::ty::{Node, Ty, UnknownKind};
use crate::typed::{Exp, ExpKind, GlobalId, Pat, PatKind};

use super::sizes::{Bound, brief};
use super::uses::Use;
use super::{Infer, LocalMeaning, State};

/// An argument: source syntax or an elaborated expression.
pub(super) enum Arg<'e> {
    Written(&'e Expr),
    Done(Exp),
}

impl<'e> Arg<'e> {
    fn written(&self) -> Option<&'e Expr> {
        match self {
            Arg::Written(expr) => Some(expr),
            Arg::Done(_) => None,
        }
    }
}

/// The name of a function that has none; no identifier is empty.
pub(super) const NAMELESS: &str = "";

/// Length of the longest expression that `inspect` uses as a label.
const LONGEST_LABEL: usize = 40;

/// The label of an inspected expression: its source text, or nothing if that is long.
fn label(expr: &Expr) -> Rc<str> {
    let text = lambada_surface::print_expr(expr);
    if text.len() > LONGEST_LABEL || text.contains('\n') { "".into() } else { text.into() }
}

/// `\(a, b) -> e` as `\a b -> e`.
fn curried(expr: &Expr) -> Option<Expr> {
    let ExprKind::Lambda(params, body) = &expr.kind else { return None };
    let [Param { pattern: Pattern { kind: PatternKind::Tuple(parts), .. }, ty: None }] =
        &params[..]
    else {
        return None;
    };
    let params = parts.iter().map(|part| Param { pattern: part.clone(), ty: None }).collect();
    Some(Expr { kind: ExprKind::Lambda(params, body.clone()), span: expr.span })
}

impl Infer<'_> {
    /// A name or constructor, perhaps applied; `partial`: whether a function is expected.
    pub(super) fn application(&mut self, expr: &Expr, partial: bool) -> Exp {
        let mut args = Vec::new();
        let mut head = expr;
        while let ExprKind::Apply(f, x) = &head.kind {
            args.push(&**x);
            head = f;
        }
        args.reverse();
        let name = match &head.kind {
            ExprKind::Var(name) | ExprKind::Con(name) => Some(name),
            _ => None,
        };
        if let Some(name) = name
            && self.misnamed.contains(name)
        {
            args.into_iter().for_each(|arg| _ = self.infer(arg));
            return self.wrong(expr.span);
        }
        if let Some(name) = name
            && self.means_constructor(&head.kind)
        {
            return self.construct(name, &args, head.span, expr.span);
        }
        if let ExprKind::Field(record, name) = &head.kind
            && let ExprKind::Var(module) = &record.kind
            && let Some(constructor) = self
                .module_named(module)
                .and_then(|k| self.qualified_constructor(k, module, &name.text))
        {
            return self.construct(&constructor, &args, head.span, expr.span);
        }
        if let Some(name) = name
            && let Some(ty) = self.open_recursion(name)
        {
            let args = self.spread(ty, self.least_arity(ty), args, partial);
            let args = args.into_iter().map(|arg| Arg::Done(self.infer(arg))).collect();
            let (exp, bound) = self.variable(name, head.span, expr.span);
            return self.apply(exp, bound, args, expr.span, name);
        }
        if let Some(name) = name {
            self.sums.note(name, &args, expr.span);
        }
        if let Some(name) = name
            && let Some(exp) = self.foreign_call(name, &args, expr.span)
        {
            return exp;
        }
        let first = args.first().copied();
        if let ExprKind::InspectAs(name) = &head.kind {
            let exp = self.inspection(name.clone(), expr.span);
            return self.apply(exp, Vec::new(), Self::as_written(args), expr.span, "inspect_as");
        }
        if let ExprKind::Check(words, values) = &head.kind {
            let exp = self.check_form(words, values, head.span);
            return self.apply(exp, Vec::new(), Self::as_written(args), expr.span, "check");
        }
        if let Some(name) = name {
            let (mut exp, bound) = self.variable(name, head.span, expr.span);
            let mut args = self.arguments(&exp, args, partial);
            self.convert_by_name(&exp, &mut args);
            self.sum_of_vectors(&mut exp, &mut args);
            if args.len() > 1 {
                self.extremum_of_two(&exp);
            }
            if matches!(exp.kind, ExpKind::Builtin(Builtin::Inspect)) {
                exp.kind = ExpKind::Inspect(first.map_or_else(|| "".into(), label));
            }
            return self.apply(exp, bound, args, expr.span, name);
        }
        if let ExprKind::Field(record, name) = &head.kind
            && let ExprKind::Var(module) = &record.kind
            && let Some(k) = self.module_named(module)
        {
            let (exp, bound) = self.member(k, module, name, expr.span);
            let args = self.arguments(&exp, args, partial);
            return self.apply(exp, bound, args, expr.span, &name.text);
        }
        let exp = self.infer(head);
        let args = self.arguments(&exp, args, partial);
        self.apply(exp, Vec::new(), args, expr.span, NAMELESS)
    }

    /// Whether a capital name is a constructor here: the parser knows only those of the same file.
    fn means_constructor(&self, head: &ExprKind) -> bool {
        let value = |name: &str| self.env.get(name).is_some() || self.global_named(name).is_some();
        match head {
            ExprKind::Con(name) => self.constructor_named(name).is_some() || !value(name),
            ExprKind::Var(name) => self.is_constructor(name) && !value(name),
            _ => false,
        }
    }

    /// A name. Failures inside a definition of the prelude blame `blame`.
    pub(super) fn variable(&mut self, name: &Rc<str>, span: Span, blame: Span) -> (Exp, Bound) {
        match self.env.get(name).cloned() {
            Some(LocalMeaning::Local(local)) => (
                Exp { kind: ExpKind::Local(local), ty: self.locals[local.0 as usize].ty, span },
                Vec::new(),
            ),
            Some(LocalMeaning::Function(id, scheme)) => {
                let instance = self.solver.instantiate(&scheme, name, span);
                (
                    Exp { kind: ExpKind::Function(id, instance.args), ty: instance.ty, span },
                    instance.bound,
                )
            }
            Some(LocalMeaning::Accumulator(..)) => {
                self.problems.push(messages::accumulator_as_value(name, span));
                (self.wrong(span), Vec::new())
            }
            Some(LocalMeaning::Recursive(id, known)) => {
                let (ty, pairs, bound) = self.own_instance(&known, name, span);
                (Exp { kind: ExpKind::RecursiveLocal(id, pairs), ty, span }, bound)
            }
            Some(LocalMeaning::Unmarked(at)) => {
                let names = std::slice::from_ref(name);
                self.problems.push(messages::unmarked_recursion(names, span, "let", at));
                (self.wrong(span), Vec::new())
            }
            None => self.outer_variable(name, span, blame),
        }
    }

    fn outer_variable(&mut self, name: &Rc<str>, span: Span, blame: Span) -> (Exp, Bound) {
        if let Some(id) = self.global_named(name) {
            return self.global_instance(id, span, blame);
        }
        if let Some(builtin) = Builtin::find(name, self.in_library()) {
            let ty = self.builtin_type(builtin, span);
            return (Exp { kind: ExpKind::Builtin(builtin), ty, span: blame }, Vec::new());
        }
        if &**name == "inspect_as" {
            self.problems.push(messages::inspect_without_name(span));
        } else if self.scopes[self.module].imports.contains_key(name) {
            self.problems.push(messages::module_as_value(name, span));
        } else {
            self.report_unknown_name(name, span);
        }
        (self.wrong(span), Vec::new())
    }

    /// `inspect_as "label"`
    fn inspection(&mut self, label: Rc<str>, span: Span) -> Exp {
        let ty = self.builtin_type(Builtin::Inspect, span);
        Exp { kind: ExpKind::Inspect(label), ty, span }
    }

    /// The definition that a name means in this module.
    pub(super) fn global_named(&self, name: &str) -> Option<GlobalId> {
        self.modules_of(name).find_map(|k| self.scopes[k].defs.get(name)).copied()
    }

    /// `module.name`
    pub(super) fn member(
        &mut self,
        module: usize,
        module_name: &str,
        name: &Name,
        blame: Span,
    ) -> (Exp, Bound) {
        let builtin = Builtin::find(&name.text, self.in_library()).filter(|_| module == 0);
        match (self.scopes[module].defs.get(&name.text).copied(), builtin) {
            (Some(id), _) => self.global_instance(id, name.span, blame),
            (None, Some(builtin)) => {
                let ty = self.builtin_type(builtin, name.span);
                (Exp { kind: ExpKind::Builtin(builtin), ty, span: blame }, Vec::new())
            }
            (None, None) if self.scopes[self.module].ambiguous.contains(module_name) => {
                (self.wrong(name.span), Vec::new())
            }
            (None, None) => {
                let near = lambada_source::suggest(
                    &name.text,
                    self.scopes[module].defs.keys().map(|n| &**n).filter(|n| !is_private(n)),
                );
                let is_in_prelude = self.is_in_prelude(&name.text);
                let (name, span) = (&name.text, name.span);
                self.problems.push(messages::unknown_member(
                    module_name,
                    name,
                    span,
                    near,
                    is_in_prelude,
                ));
                (self.wrong(span), Vec::new())
            }
        }
    }

    /// Whether programs have a definition of this name without an import.
    pub(super) fn is_in_prelude(&self, name: &str) -> bool {
        !is_private(name)
            && (self.scopes[0].defs.contains_key(name) || Builtin::find(name, false).is_some())
    }

    fn global_instance(&mut self, id: GlobalId, span: Span, blame: Span) -> (Exp, Bound) {
        let name = self.globals[id.0 as usize].name.clone();
        if let State::Started(Some(known)) = self.globals[id.0 as usize].state.clone() {
            let (ty, pairs, bound) = self.own_instance(&known, &name, span);
            return (Exp { kind: ExpKind::Recursive(id, pairs), ty, span: blame }, bound);
        }
        let Some(done) = self.global(id) else {
            // Something that is only tried does not elaborate other definitions.
            let at = self.globals[id.0 as usize].syntax.name.span;
            self.problems.push(messages::unmarked_recursion(&[name], span, "def", at));
            return (self.wrong(span), Vec::new());
        };
        let instance = self.solver.instantiate(&done.scheme, &name, span);
        if !instance.args.is_empty() && !self.in_library() {
            self.uses.push(Use { of: id, span, args: instance.args.clone() });
        }
        (
            Exp { kind: ExpKind::Global(id, instance.args), ty: instance.ty, span: blame },
            instance.bound,
        )
    }

    /// Applies a function to arguments, one after the other, and binds the instance's sizes that
    /// are values of arguments.
    pub(super) fn apply(
        &mut self,
        head: Exp,
        bound: Bound,
        args: Vec<Arg>,
        span: Span,
        name: &str,
    ) -> Exp {
        let head_span = head.span;
        let arity = self.arity(&head);
        let count = args.len();
        let too_many = arity.is_some_and(|arity| (1..count).contains(&arity));
        let written: Vec<Option<&Expr>> = args.iter().map(Arg::written).collect();
        let start = self.problems.len();
        let scalars = self.scalar_parameters(&head, &bound, count);
        let mut arrays: Vec<usize> = Vec::new();
        let mut exp = head;
        // The types of parameters whose arguments are wrong.
        let mut misfits: Vec<Ty> = Vec::new();
        let mut args = args.into_iter().enumerate();
        while let Some((k, arg)) = args.next() {
            let Some((from, to)) = self.function_type(&exp, k, &arg, name, head_span) else {
                self.absorb(arg);
                args.for_each(|(_, arg)| _ = self.absorb(arg));
                return self.wrong(span);
            };
            let before = self.problems.len();
            let arg = self.argument(arg, from, name, k);
            if scalars.get(k) == Some(&true) && self.is_array_of(&arg, from, before) {
                self.problems.truncate(before);
                arrays.push(k);
            }
            if self.problems.len() == before + 1
                && !too_many
                && self.explain_tuple(name, arity, k, &written, before)
            {
                // The parts of the tuple are the arguments, so the remaining arguments are
                // misplaced.
                args.for_each(|(_, arg)| _ = self.absorb(arg));
                return self.wrong(span);
            }
            if self.problems.len() == before + 1 && self.is_gradient(name) {
                self.explain_gradient(name, k, &arg, &written);
            }
            let misfit =
                self.problems.len() == before + 1 && messages::is_mismatch(&self.problems[before]);
            // One mistake, as a number for an array in `root f 1.0`, where `f` takes numbers.
            if misfit && self.follows_from(&misfits, from) {
                self.problems.pop();
            }
            if misfit || self.problems.len() > before && self.solver.has_error(arg.ty) {
                misfits.push(from);
            }
            if too_many {
                // Which of the arguments is the extra one is not known, so they are not blamed for
                // their types.
                let mut index = 0;
                self.problems.retain(|problem| {
                    index += 1;
                    index <= before
                        || problem.labels.first().is_none_or(|label| label.span != arg.span)
                });
            } else if k == 0 && self.problems.len() == before + 1 && self.is_gradient(name) {
                // The type of the point follows from that of the function, which is wrong.
                let rest: Vec<Exp> = args.map(|(_, arg)| self.absorb(arg)).collect();
                self.explain_point(name, before, rest.first());
                return self.wrong(span);
            }
            self.bind_sizes(&bound, k, &arg);
            let span = if k + 1 == count { span } else { head_span.to(arg.span) };
            exp = Exp { kind: ExpKind::Apply(Box::new(exp), Box::new(arg)), ty: to, span };
        }
        self.close_bound(&bound, count, exp.ty);
        if !arrays.is_empty() {
            exp = self.elementwise(exp, count, &arrays, name);
        }
        if self.problems.len() > start {
            self.reorder(name, span, &written, start);
            // A wrong argument may stand for several, so a remaining function type is no further
            // mistake; nor is a size that a wrong argument should have determined.
            if self.solver.is_function(exp.ty) || self.follows_from(&misfits, exp.ty) {
                return self.wrong(span);
            }
        }
        exp
    }

    /// Whether a type has a size that a wrong argument should have determined.
    fn follows_from(&mut self, misfits: &[Ty], ty: Ty) -> bool {
        misfits.iter().any(|other| self.solver.share_open_size(*other, ty))
    }

    /// Explains `f (a, b)` where `f` takes its arguments one by one; whether the k-th argument is
    /// such a tuple.
    fn explain_tuple(
        &mut self,
        name: &str,
        arity: Option<usize>,
        k: usize,
        written: &[Option<&Expr>],
        at: usize,
    ) -> bool {
        let Some(Expr { kind: ExprKind::Tuple(items), span }) = written[k] else { return false };
        let count = written.len() - 1 + items.len();
        let takes = arity.is_some_and(|arity| count <= arity);
        let problem = &self.problems[at];
        let of_tuple = problem.labels.first().is_some_and(|label| label.span == *span);
        if items.len() < 2 || !takes || !of_tuple || !messages::is_mismatch(problem) {
            return false;
        }
        let parts = |(j, arg): (usize, &Option<&Expr>)| match arg {
            Some(_) if j == k => items.iter().map(brief).collect(),
            Some(arg) => vec![brief(arg)],
            None => vec!["…".to_string()],
        };
        if name != NAMELESS {
            let arguments: Vec<String> = written.iter().enumerate().flat_map(parts).collect();
            let hint = messages::one_by_one(name, &arguments.join(" "));
            self.problems[at].hints.push(messages::sentence(hint));
        }
        true
    }

    /// Replaces the problems of a call of a library function by one, if its arguments fit in
    /// exactly one other order, or if one of them fits as a λ with several parameters in place of a
    /// tuple.
    fn reorder(&mut self, name: &str, span: Span, written: &[Option<&Expr>], start: usize) {
        let args: Vec<&Expr> = written.iter().copied().flatten().collect();
        if self.trying || args.len() != written.len() || !self.is_of_library(name) {
            return;
        }
        let orders: &[&[usize]] = match args.len() {
            2 => &[&[1, 0]],
            3 => &[&[0, 2, 1], &[1, 0, 2], &[1, 2, 0], &[2, 0, 1], &[2, 1, 0]],
            _ => return,
        };
        let fitting: Vec<(String, Fix)> = orders
            .iter()
            .filter_map(|order| {
                let better: Vec<&Expr> = order.iter().map(|k| args[*k]).collect();
                let places = args.iter().zip(&better);
                let edits = places.map(|(arg, better)| Fix::replace(arg.span, brief(better)));
                Some((self.would_fit(name, &better, span)?, edits.reduce(Fix::and)?))
            })
            .collect();
        if let [(better, fix)] = &fitting[..] {
            self.problems.truncate(start);
            self.problems.push(messages::reordered(name, span, better, fix.clone()));
            return;
        }
        let Some((k, curried)) = args.iter().enumerate().find_map(|(k, e)| Some((k, curried(e)?)))
        else {
            return;
        };
        let mut better = args.clone();
        better[k] = &curried;
        if self.would_fit(name, &better, span).is_some() {
            let at = args[k].span;
            self.problems.truncate(start);
            self.problems.push(messages::takes_one_by_one(name, at, &brief(&curried)));
        }
    }

    /// The application of a library function to these arguments, printed, if it has a type.
    fn would_fit(&mut self, name: &str, args: &[&Expr], span: Span) -> Option<String> {
        self.tentatively(|infer| {
            let (head, bound) = infer.variable(&name.into(), span, span);
            let given = args.iter().map(|arg| Arg::Written(arg)).collect();
            infer.apply(head, bound, given, span, name);
            infer.solver.settle();
            Some(args.iter().fold(name.to_string(), |f, arg| format!("{f} {}", brief(arg))))
        })
    }

    fn function_type(
        &mut self,
        f: &Exp,
        k: usize,
        arg: &Arg,
        name: &str,
        head: Span,
    ) -> Option<(Ty, Ty)> {
        match self.solver.get(f.ty).clone() {
            Node::Fun(from, to) => Some((from, to)),
            Node::Unknown(unknown)
                if unknown.kind == UnknownKind::Any && unknown.rigid.is_none() =>
            {
                let (from, to) = (self.solver.fresh(), self.solver.fresh());
                let fun = self.solver.fun(from, to);
                self.expect_type(f.ty, fun, f.span, &Why::Form("a function"));
                Some((from, to))
            }
            Node::Error => None,
            _ => {
                let at = match arg {
                    Arg::Written(expr) => expr.span,
                    Arg::Done(exp) => exp.span,
                };
                let found = self.solver.show_expected(&[f.ty]).remove(0);
                let problem = match k {
                    0 => {
                        let number = self.is_numeric(f.ty) && f.span.end <= at.start;
                        let index = self.index_meant(f, arg, name);
                        messages::not_a_function(f.span, &found, at, index, number)
                    }
                    _ => messages::too_many_arguments(
                        &if name == NAMELESS {
                            "this function".to_string()
                        } else {
                            format!("`{name}`")
                        },
                        k,
                        head,
                        at,
                        self.axis_meant(name, k, arg),
                    ),
                };
                self.problems.push(problem);
                None
            }
        }
    }

    /// Elaborates an argument without an expected type, after a problem.
    fn absorb(&mut self, arg: Arg) -> Exp {
        match arg {
            Arg::Written(expr) => self.infer(expr),
            Arg::Done(exp) => exp,
        }
    }

    /// Number of arguments of a function, if certain.
    pub(super) fn arity(&self, head: &Exp) -> Option<usize> {
        match head.kind {
            ExpKind::Builtin(Builtin::Function(name, _)) if is_extremum(name) => Some(2),
            _ => self.arity_of(head.ty),
        }
    }

    fn arity_of(&self, ty: Ty) -> Option<usize> {
        let (mut arity, mut at) = (0, ty);
        while let Node::Fun(_, to) = self.solver.get(at) {
            (arity, at) = (arity + 1, *to);
        }
        match self.solver.get(at) {
            Node::Unknown(unknown) => {
                (unknown.kind != UnknownKind::Any || unknown.rigid.is_some()).then_some(arity)
            }
            Node::Error => None,
            Node::Link(_)
            | Node::Scalar(_)
            | Node::Tuple(_)
            | Node::Record(_)
            | Node::Array(..)
            | Node::Fun(..)
            | Node::Variant(..) => Some(arity),
        }
    }

    fn argument(&mut self, arg: Arg, expected: Ty, name: &str, k: usize) -> Exp {
        let of: Rc<str> =
            if name == NAMELESS { "this function".into() } else { format!("`{name}`").into() };
        let why = Why::Argument(of, k + 1);
        match arg {
            Arg::Written(expr) => self.check(expr, expected, &why),
            Arg::Done(exp) => self.fit(exp, expected, &why),
        }
    }

    /// Whether the name is a prelude operator that differentiates functions to the reals.
    fn is_gradient(&self, name: &str) -> bool {
        ["grad", "value_and_grad", "hessian", "hvp"].contains(&name)
            && self.global_named(name).is_some_and(|id| self.globals[id.0 as usize].module == 0)
    }

    /// If `hessian` gets a scalar point, blames the point and not the function.
    fn explain_point(&mut self, name: &str, before: usize, point: Option<&Exp>) {
        let Some(point) =
            point.filter(|point| name == "hessian" && self.solver.is_scalar(point.ty))
        else {
            return;
        };
        self.problems.remove(before);
        let shown = self.solver.show(point.ty);
        self.problems.push(messages::scalar_point(&shown, point.span));
    }

    /// Explains that the function passed to `grad` returns no real.
    fn explain_gradient(&mut self, name: &str, k: usize, arg: &Exp, written: &[Option<&Expr>]) {
        if !self.problems.last().is_some_and(messages::is_mismatch) {
            return;
        }
        let problem = match (k, written) {
            (0, [f, point @ ..]) => {
                let Some(result) = self.result_that_is_no_real(arg.ty) else { return };
                let more = f.and_then(|f| self.given_inside(name, f, point, result));
                messages::not_real_result(name, &self.solver.show(result), arg.span, more)
            }
            (1, [Some(f), Some(point), ..]) if self.solver.rank(arg.ty) > 0 => {
                match self.result_at(f, arg.ty) {
                    Some(found) => messages::not_real_result(name, &found, f.span, None)
                        .label(arg.span, "at this point"),
                    None => {
                        let problem = self.problems.pop().expect("there is one");
                        let map = messages::of_each_element(name, &brief(f), &brief(point));
                        return self.problems.push(problem.hint(map));
                    }
                }
            }
            _ => return,
        };
        self.problems.pop();
        let problem = match (k, self.result_that_is_no_real(arg.ty)) {
            (0, Some(result)) => {
                let real = self.solver.real();
                self.explain_sum(problem, result, real, arg.span)
            }
            _ => problem,
        };
        self.problems.push(problem);
    }

    /// The result of a function, unless it is a real, may be one, or is wrong already.
    fn result_that_is_no_real(&self, f: Ty) -> Option<Ty> {
        let Node::Fun(_, to) = self.solver.get(f) else { return None };
        (!self.solver.is_scalar(*to) && !self.solver.has_error(*to)).then_some(*to)
    }

    /// The type of a function's result at a point of this type, if the function accepts the point
    /// and the result is no real.
    fn result_at(&mut self, f: &Expr, point: Ty) -> Option<String> {
        self.tentatively(|infer| {
            let f = infer.infer(f);
            let Node::Fun(from, _) = *infer.solver.get(f.ty) else { return None };
            infer.solver.unify(from, point).ok()?;
            infer.solver.settle();
            let result = infer.result_that_is_no_real(f.ty)?;
            Some(infer.solver.show(result))
        })
    }

    /// How to differentiate a function of several parameters with respect to the first.
    fn given_inside(
        &self,
        name: &str,
        f: &Expr,
        point: &[Option<&Expr>],
        result: Ty,
    ) -> Option<String> {
        let more = self.arity_of(result).filter(|more| *more > 0)?;
        let (ExprKind::Var(f), Some(Some(point))) = (&f.kind, point.first()) else { return None };
        let point = brief(point);
        let rest = ["x", "y", "z"].into_iter().filter(|rest| *rest != point);
        let rest: Vec<&str> = rest.chain(std::iter::repeat("…")).take(more.min(3)).collect();
        Some(messages::given_inside(name, f, &point, &rest.join(" "), more))
    }

    /// Result of an attempt. All other state is restored: no scope, problem or definition mentions
    /// what the solver forgets.
    pub(super) fn tentatively<T>(
        &mut self,
        attempt: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let (solver, scopes) = (self.solver.clone(), self.scopes_around());
        let trying = std::mem::replace(&mut self.trying, true);
        let (problems, locals, functions) =
            (self.problems.len(), self.locals.len(), self.functions.len());
        let (quotients, uses) = (self.quotients.len(), self.uses.len());
        let found = attempt(self).filter(|_| {
            self.problems.len() == problems && self.solver.failed.len() == solver.failed.len()
        });
        self.problems.truncate(problems);
        self.locals.truncate(locals);
        self.functions.truncate(functions);
        self.quotients.truncate(quotients);
        self.uses.truncate(uses);
        self.solver = solver;
        self.enter(scopes);
        self.trying = trying;
        found
    }
}

/// The variable of a variable pattern.
pub(super) fn variable_of(pat: &Pat) -> Exp {
    let PatKind::Var(local) = pat.kind else { unreachable!("made as a variable") };
    Exp { kind: ExpKind::Local(local), ty: pat.ty, span: pat.span }
}

/// Whether the name is private to a module of the library.
pub(super) fn is_private(name: &str) -> bool {
    name.starts_with('_') || name.starts_with("prelude_")
}
