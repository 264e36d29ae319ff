//! Calls of library functions in the forms of other languages, each with one meaning: more
//! arguments than the function takes, `concat xs ys zs`; sizes as a tuple, `zeros (2, 3)`;
//! arguments in parentheses with commas, `dot(x, y)`; and `c(1, 2)` for an array. Calls of
//! definitions of numbers with arrays, one for each element.

use lambada_prim::ScalarTy;
use lambada_source::Span;
use lambada_surface::ast::{Expr, ExprKind, Name};

use crate::builtin::Builtin;
use crate::messages::{self, Why};
use crate::solve::scheme::Quantified;
use crate::solve::ty::{Node, Shapes, Ty, UnknownKind};
use crate::typed::{Exp, ExpKind};

use super::Infer;
use super::apply::{Arg, NAMELESS};
use super::sizes::Bound;

impl Infer<'_> {
    /// A call of this name, if it has one of these forms.
    pub(super) fn foreign_call(&mut self, name: &str, args: &[&Expr], span: Span) -> Option<Exp> {
        let listed: Vec<&Expr> = match args {
            [Expr { kind: ExprKind::Tuple(items), .. }] => items.iter().collect(),
            _ => args.to_vec(),
        };
        let tuple = listed.len() != args.len();
        match (name, listed.len()) {
            ("concat" | "max" | "min", 3..) if self.is_of_library(name) => {
                Some(self.folded(name, &listed, span))
            }
            ("zip", count @ (3 | 4)) if self.is_of_library(name) => {
                let args = listed.into_iter().map(Arg::Written).collect();
                Some(self.library_call(&format!("zip{count}"), "zip", args, span))
            }
            ("zeros" | "ones", 2..) if tuple && self.is_of_library(name) => {
                Some(self.of_shape(name, &listed, span))
            }
            ("c", 2..) if tuple && !self.is_known(name) => {
                let ExprKind::Tuple(items) = &args[0].kind else { unreachable!("a tuple") };
                Some(self.array(items, span))
            }
            _ => None,
        }
    }

    /// Whether a name means a definition of the prelude or a builtin.
    pub(super) fn is_of_library(&self, name: &str) -> bool {
        !self.env.names().any(|known| known == name)
            && match self.global_named(name) {
                Some(id) => self.globals[id.0 as usize].module == 0,
                None => Builtin::find(name, false).is_some(),
            }
    }

    fn is_known(&self, name: &str) -> bool {
        self.env.get(name).is_some()
            || self.global_named(name).is_some()
            || self.module_named(name).is_some()
    }

    /// A call of a definition of the prelude; problems speak of `shown`.
    pub(super) fn library_call(
        &mut self,
        name: &str,
        shown: &str,
        args: Vec<Arg>,
        span: Span,
    ) -> Exp {
        let name = Name { text: name.into(), span };
        let (head, bound) = self.member(0, "prelude", &name, span);
        if args.len() > 1 {
            self.extremum_of_two(&head);
        }
        self.apply(head, bound, args, span, shown)
    }

    /// `concat (concat xs ys) zs`
    fn folded(&mut self, name: &str, args: &[&Expr], span: Span) -> Exp {
        let (first, rest) = args.split_first().expect("there are three");
        let mut whole = Arg::Written(first);
        for arg in rest {
            let both = vec![whole, Arg::Written(arg)];
            whole = Arg::Done(self.library_call(name, name, both, span));
        }
        let Arg::Done(whole) = whole else { unreachable!("there are three") };
        whole
    }

    /// `replicate n (zeros m)`
    fn of_shape(&mut self, name: &str, sizes: &[&Expr], span: Span) -> Exp {
        let (last, outer) = sizes.split_last().expect("there are two");
        let row = self.library_call(name, name, vec![Arg::Written(last)], span);
        outer.iter().rev().fold(row, |row, size| {
            self.library_call("replicate", name, vec![Arg::Written(size), Arg::Done(row)], span)
        })
    }

    /// Source syntax as arguments.
    pub(super) fn as_written<'e>(args: Vec<&'e Expr>) -> Vec<Arg<'e>> {
        args.into_iter().map(Arg::Written).collect()
    }

    /// The arguments of a function.
    pub(super) fn arguments<'e>(
        &self,
        head: &Exp,
        args: Vec<&'e Expr>,
        partial: bool,
    ) -> Vec<Arg<'e>> {
        let arity = self.arity(head).unwrap_or_else(|| self.least_arity(head.ty));
        Self::as_written(self.spread(head.ty, arity, args, partial))
    }

    /// `xs [0]`, where an index is meant.
    pub(super) fn index_meant(&self, f: &Exp, arg: &Arg, name: &str) -> Option<String> {
        let Arg::Written(Expr { kind: ExprKind::Array(items), .. }) = arg else { return None };
        let [index] = &items[..] else { return None };
        let indexable = name != NAMELESS && self.solver.rank(f.ty) > 0;
        indexable.then(|| format!("{name}[{}]", lambada_surface::print_expr(index)))
    }

    /// `sum m 0`, where an axis is meant.
    pub(super) fn axis_meant(&self, name: &str, k: usize, arg: &Arg) -> Option<String> {
        let axis = matches!(arg, Arg::Written(Expr { kind: ExprKind::Int(_), .. }));
        let reduction =
            ["sum", "product", "maximum", "minimum", "mean", "argmax", "argmin"].contains(&name);
        let along = (axis && k == 1 && reduction).then(|| messages::along_rows(name));
        along.or_else(|| messages::more_arrays(name).map(str::to_string))
    }

    /// The components of a tuple as the arguments of a function that takes as many, and no tuple.
    /// If its first parameter may be a tuple, the call has to be complete, because `f (x, y)` with
    /// one argument is meant where a function is expected.
    pub(super) fn spread<'e>(
        &self,
        function: Ty,
        arity: usize,
        args: Vec<&'e Expr>,
        partial: bool,
    ) -> Vec<&'e Expr> {
        let [Expr { kind: ExprKind::Tuple(items), .. }] = args[..] else { return args };
        let meant = match self.takes_tuple(function) {
            Some(takes) => !takes,
            None => !partial && items.len() == arity,
        };
        if meant && (2..=arity).contains(&items.len()) {
            return items.iter().collect();
        }
        args
    }

    /// Number of arguments that a function takes at least.
    pub(super) fn least_arity(&self, function: Ty) -> usize {
        let (mut count, mut at) = (0, function);
        while let Node::Fun(_, to) = self.solver.get(at) {
            (count, at) = (count + 1, *to);
        }
        count
    }

    /// Whether the first parameter is a tuple, if that is known.
    fn takes_tuple(&self, function: Ty) -> Option<bool> {
        let Node::Fun(from, _) = self.solver.get(function) else { return Some(true) };
        match self.solver.get(*from) {
            Node::Unknown(unknown) => match unknown.kind {
                UnknownKind::Data { shapes, .. } if shapes != Shapes::Vectors => Some(false),
                UnknownKind::Any | UnknownKind::Data { .. } => {
                    unknown.rigid.is_some().then_some(false)
                }
            },
            Node::Link(_) | Node::Tuple(_) | Node::Error => Some(true),
            Node::Scalar(_)
            | Node::Record(_)
            | Node::Array(..)
            | Node::Fun(..)
            | Node::Variant(..) => Some(false),
        }
    }

    /// The parameters of a function in whose place `count` arguments may have arrays: the scalars,
    /// if nothing else than numbers is taken, and a scalar is the result. A function that draws
    /// random numbers is none, because each element would get the same key.
    pub(super) fn scalar_parameters(&self, f: &Exp, bound: &Bound, count: usize) -> Vec<bool> {
        let (mut scalars, mut at) = (Vec::new(), f.ty);
        while let Node::Fun(from, to) = *self.solver.get(at) {
            if self.solver.as_scalar(self.solver.base(from)).is_none() {
                return Vec::new();
            }
            let sized = bound.iter().any(|(_, how)| *how == Quantified::Parameter(scalars.len()));
            scalars.push(self.solver.as_scalar(from).is_some() && !sized);
            at = to;
        }
        let complete = scalars.len() == count && self.solver.as_scalar(at).is_some();
        if complete && !matches!(f.kind, ExpKind::Builtin(_)) { scalars } else { Vec::new() }
    }

    /// Whether the one problem of an argument is that it is an array of the expected scalars.
    pub(super) fn is_array_of(&mut self, arg: &Exp, expected: Ty, before: usize) -> bool {
        let mismatch = self.problems.len() == before + 1
            && messages::is_mismatch(&self.problems[before])
            && self.problems[before].labels.first().is_some_and(|label| label.span == arg.span);
        let base = self.solver.base(arg.ty);
        if !mismatch || self.solver.rank(arg.ty) == 0 {
            return false;
        }
        let int_for_real = self.solver.as_scalar(base) == Some(ScalarTy::Int)
            && self.solver.as_scalar(expected) == Some(ScalarTy::Real);
        int_for_real || self.solver.unify(expected, base).is_ok()
    }

    /// The array of the results of a call with `count` arguments; those at `arrays` have one shape.
    pub(super) fn elementwise(
        &mut self,
        call: Exp,
        count: usize,
        arrays: &[usize],
        name: &str,
    ) -> Exp {
        let (result, span) = (call.ty, call.span);
        let (mut f, mut args) = (call, Vec::new());
        for _ in 0..count {
            let ExpKind::Apply(inner, arg) = f.kind else { unreachable!("it has the arguments") };
            args.push(*arg);
            f = *inner;
        }
        args.reverse();
        let shape = args[arrays[0]].ty;
        for k in &arrays[1..] {
            let base = self.solver.base(args[*k].ty);
            let expected = self.solver.rebase(shape, base);
            let why = Why::Argument(format!("`{name}`").into(), k + 1);
            self.expect(&args[*k], expected, &why);
        }
        let ty = self.solver.rebase(shape, result);
        Exp { kind: ExpKind::Elementwise(Box::new(f), args), ty, span }
    }
}
