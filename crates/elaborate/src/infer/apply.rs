//! Names and applications.

use std::rc::Rc;

use lambada_source::Span;
use lambada_surface::ast::{Expr, ExprKind, Name};

use crate::builtin::{Builtin, FunctionShape};
use crate::problems::{self, Why};
use crate::solve::constraint::Constraint;
use crate::solve::poly::{Atom, Poly};
use crate::solve::scheme::Quantified;
use crate::solve::size::AtomKind;
use crate::solve::ty::{Bases, Kind, Node, Origin, Ty, VariantId};
use crate::typed::{Claim, Exp, ExpKind, Function, GlobalId, Pat, PatKind, Said, Step};

use super::{Entry, Infer};

/// An argument: written, or elaborated already.
pub(super) enum Arg<'e> {
    Written(&'e Expr),
    Done(Exp),
}

/// Sizes of an instance that its arguments determine.
pub(super) type Bound = Vec<(Atom, Quantified)>;

impl Infer<'_> {
    /// A name or constructor, perhaps applied.
    pub(super) fn application(&mut self, expr: &Expr) -> Exp {
        let mut args = Vec::new();
        let mut head = expr;
        while let ExprKind::Apply(f, x) = &head.kind {
            args.push(&**x);
            head = f;
        }
        args.reverse();
        match &head.kind {
            ExprKind::Con(name) => self.construct(name, &args, head.span, expr.span),
            ExprKind::Var(name) => {
                let (exp, bound) = self.variable(name, head.span, expr.span);
                self.apply(exp, bound, args.into_iter().map(Arg::Written).collect(), expr.span, name)
            }
            ExprKind::Field(record, name)
                if let ExprKind::Var(module) = &record.kind
                    && let Some(k) = self.module_named(module) =>
            {
                let (exp, bound) = self.member(k, module, name, expr.span);
                self.apply(exp, bound, args.into_iter().map(Arg::Written).collect(), expr.span, &name.text)
            }
            _ => {
                let exp = self.infer(head);
                self.apply(exp, Vec::new(), args.into_iter().map(Arg::Written).collect(), expr.span, "this")
            }
        }
    }

    /// A name. `blame` is the place to blame for what fails inside of a definition of the prelude.
    pub(super) fn variable(&mut self, name: &Rc<str>, span: Span, blame: Span) -> (Exp, Bound) {
        match self.env.get(name).cloned() {
            Some(Entry::Local(local)) => (Exp { kind: ExpKind::Local(local), ty: self.locals[local.0 as usize].ty, span }, Vec::new()),
            Some(Entry::Function(id, scheme)) => {
                let instance = self.solver.instantiate(&scheme, name, span);
                (Exp { kind: ExpKind::Function(id, instance.args), ty: instance.ty, span }, instance.bound)
            }
            Some(Entry::Accumulator(..)) => {
                self.problems.push(problems::accumulator_as_value(name, span));
                (self.wrong(span), Vec::new())
            }
            Some(Entry::Own(recursive)) => {
                let problem =
                    if recursive { problems::recursion_unsupported(name, span) } else { problems::needs_rec("let", name, span, &[]) };
                self.problems.push(problem);
                (self.wrong(span), Vec::new())
            }
            None => self.outer_variable(name, span, blame),
        }
    }

    fn outer_variable(&mut self, name: &Rc<str>, span: Span, blame: Span) -> (Exp, Bound) {
        if let Some(id) = self.global_named(name) {
            return self.global_instance(id, span, blame);
        }
        if let Some(builtin) = Builtin::find(name, self.in_prelude()) {
            let ty = self.builtin_type(builtin, span);
            return (Exp { kind: ExpKind::Builtin(builtin), ty, span: blame }, Vec::new());
        }
        if self.scopes[self.module].imports.contains_key(name) {
            self.problems.push(problems::module_as_value(name, span));
        } else {
            self.report_unknown_name(name, span);
        }
        (self.wrong(span), Vec::new())
    }

    /// The definition that a name means in this module.
    pub(super) fn global_named(&self, name: &str) -> Option<GlobalId> {
        let own = self.scopes[self.module].defs.get(name);
        own.or_else(|| self.scopes[0].defs.get(name)).copied()
    }

    /// `module.name`
    pub(super) fn member(&mut self, module: usize, module_name: &str, name: &Name, blame: Span) -> (Exp, Bound) {
        match self.scopes[module].defs.get(&name.text).copied() {
            Some(id) => self.global_instance(id, name.span, blame),
            None => {
                let near = lambada_source::suggest(&name.text, self.scopes[module].defs.keys().map(|name| &**name));
                self.problems.push(problems::unknown_member(module_name, &name.text, name.span, near));
                (self.wrong(name.span), Vec::new())
            }
        }
    }

    fn global_instance(&mut self, id: GlobalId, span: Span, blame: Span) -> (Exp, Bound) {
        let Some(done) = self.global(id) else {
            self.report_cycle(id, span);
            return (self.wrong(span), Vec::new());
        };
        let name = self.globals[id.0 as usize].name.clone();
        let instance = self.solver.instantiate(&done.scheme, &name, span);
        (Exp { kind: ExpKind::Global(id, instance.args), ty: instance.ty, span: blame }, instance.bound)
    }

    fn report_cycle(&mut self, id: GlobalId, span: Span) {
        let from = self.started.iter().position(|other| *other == id).unwrap_or(0);
        let cycle: Vec<GlobalId> = self.started[from..].to_vec();
        let unmarked = cycle.iter().find(|id| !self.globals[id.0 as usize].syntax.recursive);
        let name_of = |id: &GlobalId| self.globals[id.0 as usize].name.clone();
        let problem = match unmarked {
            Some(other) => {
                let names: Vec<Rc<str>> = cycle.iter().map(name_of).collect();
                let name = &self.globals[other.0 as usize].syntax.name;
                problems::needs_rec(
                    "def",
                    &name.text,
                    if *other == id { span } else { name.span },
                    if names.len() > 1 { &names } else { &[] },
                )
            }
            None => problems::recursion_unsupported(&name_of(&id), span),
        };
        self.problems.push(problem);
    }

    /// A function applied to arguments, one after the other. Where an instance has sizes that are values of arguments, they are found here.
    pub(super) fn apply(&mut self, head: Exp, bound: Bound, args: Vec<Arg>, span: Span, name: &str) -> Exp {
        let count = args.len();
        let head_span = head.span;
        let mut exp = head;
        for (k, arg) in args.into_iter().enumerate() {
            let Some((from, to)) = self.function_type(&exp, k, &arg, name, head_span) else {
                return self.absorb(exp, arg, span);
            };
            let arg = self.argument(arg, from, name, k);
            self.bind_sizes(&bound, k, &arg);
            let span = if k + 1 == count { span } else { head_span.to(arg.span) };
            exp = Exp { kind: ExpKind::Apply(Box::new(exp), Box::new(arg)), ty: to, span };
        }
        self.close_bound(&bound, count, exp.ty);
        exp
    }

    fn function_type(&mut self, f: &Exp, k: usize, arg: &Arg, name: &str, head: Span) -> Option<(Ty, Ty)> {
        match self.solver.get(f.ty).clone() {
            Node::Fun(from, to) => Some((from, to)),
            Node::Unknown(unknown) if unknown.kind == Kind::Any && unknown.rigid.is_none() => {
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
                let found = self.solver.show(f.ty);
                let problem = match k {
                    0 => problems::not_a_function(f.span, &found, at),
                    _ => problems::too_many_arguments(
                        &if name == "this" { "this function".to_string() } else { format!("`{name}`") },
                        k,
                        head,
                        at,
                    ),
                };
                self.problems.push(problem);
                None
            }
        }
    }

    /// What is left of an application after a problem.
    fn absorb(&mut self, _f: Exp, arg: Arg, span: Span) -> Exp {
        if let Arg::Written(expr) = arg {
            self.infer(expr);
        }
        self.wrong(span)
    }

    fn argument(&mut self, arg: Arg, expected: Ty, name: &str, k: usize) -> Exp {
        let before = self.problems.len();
        let of: Rc<str> = if name == "this" { "this function".into() } else { format!("`{name}`").into() };
        let why = Why::Argument(of, k + 1);
        let exp = match arg {
            Arg::Written(expr) => self.check(expr, expected, &why),
            Arg::Done(exp) => {
                self.expect(&exp, expected, &why);
                exp
            }
        };
        if self.problems.len() == before + 1 {
            self.explain_gradient(name, k, &exp);
        }
        exp
    }

    /// `grad` of a function with another result than a real gets words of its own.
    fn explain_gradient(&mut self, name: &str, k: usize, f: &Exp) {
        if !["grad", "value_and_grad", "hessian", "hvp"].contains(&name)
            || self.global_named(name).is_none_or(|id| self.globals[id.0 as usize].module != 0)
        {
            return;
        }
        if self.problems.last().is_none_or(|problem| problem.code != "E0201") {
            return;
        }
        if k == 1 && self.solver.rank(f.ty) > 0 {
            let problem = self.problems.pop().expect("there is one");
            self.problems.push(problem.hint(problems::SCALAR_RESULT));
            return;
        }
        let mut result = None;
        if let Node::Fun(_, to) = self.solver.get(f.ty) {
            result = Some(*to);
        }
        let Some(result) = result.filter(|ty| !self.solver.is_scalar(*ty) && !self.solver.has_error(*ty)) else { return };
        self.problems.pop();
        let shown = self.solver.show(result);
        self.problems.push(problems::not_real_result(name, &shown, f.span));
    }

    /// The k-th argument is known now.
    fn bind_sizes(&mut self, bound: &Bound, k: usize, arg: &Exp) {
        for (atom, how) in bound {
            if *how == Quantified::Parameter(k) {
                let size = self.extent(arg);
                let size = self.solver.sizes.resolve(&size);
                self.solver.here = arg.span;
                if self.solver.equal_sizes(&Poly::atom(*atom), &size).is_err() {
                    self.expect_equal_size(*atom, &size, arg.span);
                }
            }
        }
    }

    fn expect_equal_size(&mut self, atom: Atom, size: &Poly, span: Span) {
        let mut namer = crate::solve::show::Namer::default();
        let (a, b) = (self.solver.show_size(&Poly::atom(atom), &mut namer), self.solver.show_size(size, &mut namer));
        self.problems.push(problems::different_sizes(&a, &b, span, None));
    }

    /// Sizes that are results of a call, or values of arguments that are not there yet.
    fn close_bound(&mut self, bound: &Bound, count: usize, result: Ty) {
        let complete = !self.solver.is_function(result);
        for (atom, how) in bound {
            match how {
                Quantified::Parameter(k) if *k >= count => {
                    if let AtomKind::Flexible(_) = self.solver.sizes.kind(*atom) {
                        let unknown = self.solver.sizes.fresh(AtomKind::Opaque);
                        self.solver.sizes.close(unknown);
                        self.solver.sizes.solve(*atom, Poly::atom(unknown));
                    }
                }
                Quantified::Result if complete => self.in_this_region(*atom),
                Quantified::Result => self.solver.sizes.close(*atom),
                Quantified::Parameter(_) | Quantified::Free => {}
            }
        }
    }

    /// A constructor with its arguments; with fewer, a function of the others.
    fn construct(&mut self, name: &Rc<str>, args: &[&Expr], head: Span, span: Span) -> Exp {
        let Some((variant, tag)) = self.constructor_named(name) else {
            self.report_unknown_constructor(name, head);
            args.iter().for_each(|arg| {
                self.infer(arg);
            });
            return self.wrong(span);
        };
        let (whole, fields) = self.instantiate_constructor(variant, tag);
        if args.len() > fields.len() {
            self.problems.push(problems::constructor_arity(name, fields.len(), args.len(), span));
            return self.wrong(span);
        }
        let of: Rc<str> = format!("`{name}`").into();
        let pairs = args.iter().zip(&fields).enumerate();
        let given: Vec<Exp> = pairs.map(|(k, (arg, ty))| self.field_of_constructor(arg, *ty, &Why::Argument(of.clone(), k + 1))).collect();
        self.saturate(tag, given, &fields, whole, span)
    }

    /// An argument of a constructor. What its type says of sizes is checked when the value is made, if it is not evident.
    fn field_of_constructor(&mut self, arg: &Expr, ty: Ty, why: &Why) -> Exp {
        let undecided = self.solver.undecided.len();
        let value = self.check(arg, ty, why);
        if self.solver.undecided.len() == undecided {
            return value;
        }
        let mut claims = Vec::new();
        self.constant_claims(ty, &mut Vec::new(), value.span, &mut claims);
        let (ty, span) = (value.ty, value.span);
        if claims.is_empty() { value } else { Exp { kind: ExpKind::Claimed(Box::new(value), claims), ty, span } }
    }

    /// The constant sizes of a type, as claims.
    fn constant_claims(&mut self, ty: Ty, path: &mut Vec<Step>, span: Span, claims: &mut Vec<Claim>) {
        let parts: Vec<(Step, Ty)> = match self.solver.get(ty).clone() {
            Node::Array(size, elem) => {
                if let Some(constant) = self.solver.sizes.resolve(&size).as_constant() {
                    let value = Exp { kind: ExpKind::Number(constant), ty: self.solver.int(), span };
                    let what = Said::Equals(Box::new(value), constant.to_string().into());
                    claims.push(Claim { param: 0, path: path.clone(), what, owner: "this".into(), span });
                }
                vec![(Step::Element, elem)]
            }
            Node::Tuple(items) => items.iter().enumerate().map(|(k, ty)| (Step::Part(k), *ty)).collect(),
            Node::Record(fields) => fields.iter().enumerate().map(|(k, (_, ty))| (Step::Part(k), *ty)).collect(),
            Node::Unknown(_) | Node::Link(_) | Node::Scalar(_) | Node::Fun(..) | Node::Variant(..) | Node::Error => Vec::new(),
        };
        for (step, ty) in parts {
            path.push(step);
            self.constant_claims(ty, path, span, claims);
            path.pop();
        }
    }

    fn saturate(&mut self, tag: usize, mut given: Vec<Exp>, fields: &[Ty], whole: Ty, span: Span) -> Exp {
        let missing = &fields[given.len()..];
        if missing.is_empty() {
            return Exp { kind: ExpKind::Con(tag, given), ty: whole, span };
        }
        let params: Vec<Pat> =
            missing.iter().map(|ty| Pat { kind: PatKind::Var(self.local(&"field".into(), *ty)), ty: *ty, span }).collect();
        given.extend(params.iter().map(|pat| variable_of(pat)));
        let body = Exp { kind: ExpKind::Con(tag, given), ty: whole, span };
        let ty = self.solver.funs(missing, whole);
        Exp { kind: ExpKind::Lambda(Rc::new(Function { params, claims: Vec::new(), body, result_claims: Vec::new() })), ty, span }
    }

    /// The constructor of this name.
    pub(super) fn constructor_named(&self, name: &str) -> Option<(VariantId, usize)> {
        let mut imports: Vec<usize> = self.scopes[self.module].imports.values().copied().collect();
        imports.sort_unstable();
        let modules = std::iter::once(self.module).chain(imports).chain(std::iter::once(0));
        modules.into_iter().find_map(|k| self.scopes[k].constructors.get(name)).copied()
    }

    /// The type of a builtin at one use.
    fn builtin_type(&mut self, builtin: Builtin, span: Span) -> Ty {
        let solver = &mut self.solver;
        match builtin {
            Builtin::Constant(_) => solver.real(),
            Builtin::Function(name, shape) => self.scalar_function_type(name, shape, span),
            Builtin::Length => {
                let (size, elem) = (solver.fresh_size(), solver.fresh());
                let (array, int) = (solver.array(size, elem), solver.int());
                solver.fun(array, int)
            }
            Builtin::Sum => self.reduction_type(Kind::shaped(Bases::NUM), "sum", span),
            Builtin::Product => self.reduction_type(Kind::NUMBER, "product", span),
            Builtin::Maximum | Builtin::Extremum(crate::builtin::Extremum::Max) => self.reduction_type(Kind::NUMBER, "maximum", span),
            Builtin::Minimum | Builtin::Extremum(crate::builtin::Extremum::Min) => self.reduction_type(Kind::NUMBER, "minimum", span),
            Builtin::Jvp => {
                let (a, b) = self.differentiable("jvp", span);
                let f = self.solver.fun(a, b);
                let pair = self.solver.tuple(vec![b, b]);
                self.solver.funs(&[f, a, a], pair)
            }
            Builtin::Vjp => {
                let (a, b) = self.differentiable("vjp", span);
                let f = self.solver.fun(a, b);
                let pullback = self.solver.fun(b, a);
                let pair = self.solver.tuple(vec![b, pullback]);
                self.solver.funs(&[f, a], pair)
            }
            Builtin::Jacobian => {
                let (a, b) = self.differentiable("jacobian", span);
                let (f, result) = (self.solver.fun(a, b), self.solver.fresh());
                self.solver.add(Constraint::Jacobian { from: a, to: b, result, origin: Origin::new("jacobian", span) });
                self.solver.funs(&[f, a], result)
            }
            Builtin::Check(_) => {
                let (bool, a) = (solver.bool(), solver.fresh());
                solver.funs(&[bool, a], a)
            }
        }
    }

    /// The types of a function's argument and result, without functions inside.
    fn differentiable(&mut self, what: &str, span: Span) -> (Ty, Ty) {
        let (a, b) = (self.solver.fresh(), self.solver.fresh());
        for ty in [a, b] {
            self.solver.add(Constraint::FirstOrder { ty, origin: Origin::new(what, span) });
        }
        (a, b)
    }

    fn reduction_type(&mut self, kind: Kind, what: &str, span: Span) -> Ty {
        let elem = self.solver.unknown(kind, Some(Origin::new(what, span)));
        let size = self.solver.fresh_size();
        let array = self.solver.array(size, elem);
        self.solver.fun(array, elem)
    }

    fn scalar_function_type(&mut self, name: &str, shape: FunctionShape, span: Span) -> Ty {
        let origin = Origin::new(name, span);
        match shape {
            FunctionShape::Unary(bases) => {
                let ty = self.solver.unknown(Kind::shaped(bases), Some(origin));
                self.solver.fun(ty, ty)
            }
            FunctionShape::Scalar(from, to) => {
                let (from, to) = (self.solver.scalar(from), self.solver.scalar(to));
                self.solver.fun(from, to)
            }
            FunctionShape::Indexed(index, bases) => {
                let index = self.solver.scalar(index);
                let ty = self.solver.unknown(Kind::shaped(bases), Some(origin));
                self.solver.funs(&[index, ty], ty)
            }
            FunctionShape::Binary(bases) => {
                let kind = Kind::shaped(bases);
                let [a, b, result] = [0; 3].map(|_| self.solver.unknown(kind, Some(origin.clone())));
                self.solver.add(Constraint::Arith { a, b, result, origin });
                self.solver.funs(&[a, b], result)
            }
        }
    }
}

/// The variable that a pattern is.
pub(super) fn variable_of(pat: &Pat) -> Exp {
    let PatKind::Var(local) = pat.kind else { unreachable!("made as a variable") };
    Exp { kind: ExpKind::Local(local), ty: pat.ty, span: pat.span }
}
