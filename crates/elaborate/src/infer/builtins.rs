//! The types of builtins.

use std::rc::Rc;

use lambada_prim::ScalarTy;
use lambada_source::Span;
use lambada_surface::ast::{Expr, ExprKind};

use crate::builtin::{Builtin, Extremum, FunctionShape, is_extremum};
use crate::messages::Why;
use crate::solve::constraint::{Constraint, Operation, Scalars};
use crate::solve::ty::{Bases, Node, Origin, Ty, UnknownKind};
use crate::typed::{Exp, ExpKind};

use super::Infer;
use super::apply::Arg;

impl Infer<'_> {
    /// The type of a builtin at one use.
    pub(super) fn builtin_type(&mut self, builtin: Builtin, span: Span) -> Ty {
        let solver = &mut self.solver;
        match builtin {
            Builtin::Constant(_) => solver.real(),
            Builtin::Pseudo => solver.bool(),
            Builtin::Function(name, shape) => self.scalar_function_type(name, shape, span),
            Builtin::IntOfBool | Builtin::Same => {
                unreachable!("chosen by the type of a conversion")
            }
            Builtin::Length => {
                let (size, elem) = (solver.fresh_size(), solver.fresh());
                let (array, int) = (solver.array(size, elem), solver.int());
                solver.fun(array, int)
            }
            Builtin::Sum => self.reduction_type(UnknownKind::shaped(Bases::NUM), "sum", span),
            Builtin::SumOfVectors => {
                self.reduction_type(UnknownKind::vectors(Bases::REAL), "sum", span)
            }
            Builtin::Product => {
                self.reduction_type(UnknownKind::shaped(Bases::NUM), "product", span)
            }
            Builtin::Maximum | Builtin::Extremum(Extremum::Max) => {
                self.reduction_type(UnknownKind::NUMBER, "maximum", span)
            }
            Builtin::Minimum | Builtin::Extremum(Extremum::Min) => {
                self.reduction_type(UnknownKind::NUMBER, "minimum", span)
            }
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
            Builtin::Reach => {
                let (a, b) = self.differentiable("reach", span);
                let f = self.solver.fun(a, b);
                self.solver.funs(&[f, a, a], b)
            }
            Builtin::Band => {
                let (a, b) = self.differentiable("jacobian", span);
                let (f, int) = (self.solver.fun(a, b), self.solver.int());
                let pair = self.solver.tuple(vec![int, int]);
                self.solver.funs(&[f, a], pair)
            }
            Builtin::Jacobian => {
                let (a, b) = self.differentiable("jacobian", span);
                let (f, result) = (self.solver.fun(a, b), self.solver.fresh());
                self.solver.add(Constraint::Jacobian {
                    from: a,
                    to: b,
                    result,
                    origin: Origin::new("jacobian", span),
                });
                self.solver.funs(&[f, a], result)
            }
            Builtin::Ravel => {
                let (a, components) = self.components("ravel", span);
                self.solver.fun(a, components)
            }
            Builtin::Unravel => {
                let (a, components) = self.components("unravel", span);
                self.solver.funs(&[a, components], a)
            }
            Builtin::Inspect => {
                let a = solver.fresh();
                solver.fun(a, a)
            }
        }
    }

    /// Chooses what `int x` and `real x` convert: the type of the argument, if that is known, else
    /// what the conversion is for.
    pub(super) fn convert_by_name(&mut self, exp: &Exp, args: &mut [Arg]) {
        let ExpKind::Builtin(Builtin::Function(name, FunctionShape::Scalar(from, _))) = exp.kind
        else {
            return;
        };
        let Some(Arg::Written(written)) = args.first() else { return };
        let Node::Fun(parameter, _) = *self.solver.get(exp.ty) else { return };
        let argument = self.infer(written);
        let chosen = match (name, self.solver.get(argument.ty)) {
            ("int", Node::Scalar(_)) | ("real", Node::Scalar(ScalarTy::Real)) => argument.ty,
            ("int", Node::Unknown(unknown)) if unknown.kind == UnknownKind::Any => argument.ty,
            _ => self.solver.scalar(from),
        };
        let _ = self.solver.unify(parameter, chosen);
        args[0] = Arg::Done(argument);
    }

    /// Chooses the `sum` of vectors if the elements are tuples or records. Elements that are not
    /// known yet are numbers or arrays, because sums would else have no type that a reader expects.
    pub(super) fn sum_of_vectors(&mut self, exp: &mut Exp, args: &mut [Arg]) {
        let (ExpKind::Builtin(Builtin::Sum), Some(Arg::Written(written))) =
            (&exp.kind, args.first())
        else {
            return;
        };
        // These pass the expected type on.
        if matches!(
            written.kind,
            ExprKind::If(..) | ExprKind::Match(..) | ExprKind::Let(..) | ExprKind::LetFunctions(..)
        ) {
            return;
        }
        let argument = self.infer(written);
        if self.solver.rank(argument.ty) > 0 && self.solver.has_parts(argument.ty) {
            exp.kind = ExpKind::Builtin(Builtin::SumOfVectors);
            exp.ty = self.builtin_type(Builtin::SumOfVectors, exp.span);
        }
        args[0] = Arg::Done(argument);
    }

    /// The type that a conversion takes: that of its uses, if it has several.
    fn converted_type(&mut self, name: &str, from: ScalarTy, origin: Origin) -> Ty {
        let bases = match name {
            "int" => Bases::ALL,
            "real" => Bases::NUM,
            _ => Bases::of(from),
        };
        self.solver.unknown(UnknownKind::scalar(bases), Some(origin))
    }

    fn shown_values(&mut self, values: &[Expr], what: &str) -> Vec<Exp> {
        let shown = values.iter().map(|value| {
            let value = self.infer(value);
            self.require(&value, UnknownKind::scalar(Bases::ALL), what);
            value
        });
        shown.collect()
    }

    /// `error "words {value} words"`
    pub(super) fn failure(&mut self, words: &[Rc<str>], values: &[Expr], span: Span) -> Exp {
        let values = self.shown_values(values, "error");
        let kind = ExpKind::Fail { words: words.into(), values };
        Exp { kind, ty: self.solver.fresh(), span }
    }

    /// `check "words {value} words"`
    pub(super) fn check_form(&mut self, words: &[Rc<str>], values: &[Expr], span: Span) -> Exp {
        let values = self.shown_values(values, "check");
        let (bool, a) = (self.solver.bool(), self.solver.fresh());
        let ty = self.solver.funs(&[bool, a], a);
        let kind = ExpKind::Check { words: words.into(), values, written: !self.in_library() };
        Exp { kind, ty, span }
    }

    /// `max` or `min` with two arguments.
    pub(super) fn extremum_of_two(&mut self, exp: &Exp) {
        let ExpKind::Builtin(Builtin::Function(name, FunctionShape::Binary(bases))) = exp.kind
        else {
            return;
        };
        if !is_extremum(name) {
            return;
        }
        let (kind, origin) = (UnknownKind::shaped(bases), Origin::new(name, exp.span));
        let [a, b, result] = [0; 3].map(|_| self.solver.unknown(kind, Some(origin.clone())));
        let function = self.solver.funs(&[a, b], result);
        self.expect(exp, function, &Why::Form("a function of two numbers"));
    }

    /// Argument and result type of a function to differentiate; neither contains a function.
    fn differentiable(&mut self, what: &str, span: Span) -> (Ty, Ty) {
        let (a, b) = (self.solver.fresh(), self.solver.fresh());
        for ty in [a, b] {
            self.solver.add(Constraint::FirstOrder { ty, origin: Origin::new(what, span) });
        }
        self.solver.add(Constraint::Point { ty: a, origin: Origin::new(what, span) });
        (a, b)
    }

    /// A vector and the array of its components, whose size depends on the value.
    fn components(&mut self, what: &str, span: Span) -> (Ty, Ty) {
        let vectors = UnknownKind::vectors(Bases::REAL);
        let a = self.solver.unknown(vectors, Some(Origin::new(what, span)));
        let (size, real) = (self.opaque(), self.solver.real());
        (a, self.solver.array(size, real))
    }

    fn reduction_type(&mut self, kind: UnknownKind, what: &str, span: Span) -> Ty {
        let elem = self.solver.unknown(kind, Some(Origin::new(what, span)));
        let size = self.solver.fresh_size();
        let array = self.solver.array(size, elem);
        self.solver.fun(array, elem)
    }

    fn scalar_function_type(&mut self, name: &str, shape: FunctionShape, span: Span) -> Ty {
        let origin = Origin::new(name, span);
        match shape {
            FunctionShape::Unary(bases) => {
                let ty = self.solver.unknown(UnknownKind::shaped(bases), Some(origin));
                self.solver.fun(ty, ty)
            }
            FunctionShape::Scalar(from, to) => {
                let from = self.converted_type(name, from, origin);
                let to = self.solver.scalar(to);
                self.solver.fun(from, to)
            }
            FunctionShape::Indexed(index, bases) => {
                let index = self.solver.scalar(index);
                let ty = self.solver.unknown(UnknownKind::shaped(bases), Some(origin));
                self.solver.funs(&[index, ty], ty)
            }
            FunctionShape::Binary(bases) if is_extremum(name) => {
                let a = self.solver.unknown(UnknownKind::shaped(bases), Some(origin.clone()));
                let result = self.solver.fresh();
                self.solver.add(Constraint::Extremum { a, result, origin });
                self.solver.fun(a, result)
            }
            FunctionShape::Binary(bases) => {
                let kind = UnknownKind::shaped(bases);
                let [a, b, result] =
                    [0; 3].map(|_| self.solver.unknown(kind, Some(origin.clone())));
                self.solver.add(Constraint::Arith {
                    op: Operation::Other,
                    scalars: Scalars::Same,
                    a,
                    b,
                    result,
                    origin,
                });
                self.solver.funs(&[a, b], result)
            }
        }
    }
}
