//! Builtins, applied or as values.

use std::rc::Rc;

use lambada_core::{self as core, Term, Ty, Var};
use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy, Surface};
use lambada_source::{Shown, Site, Span};

use super::Specialize;
use super::ravel::{ravel, sum, unravel};
use super::spine::{Item, Spine};
use crate::builtin::{Builtin, Extremum, FunctionShape, constant};
use crate::typed::Exp;

impl Specialize<'_> {
    /// A partially applied builtin as a λ.
    pub(super) fn builtin_value(&mut self, builtin: Builtin, ty: &Ty, span: Span) -> Term {
        let mut vars: Vec<Var> = Vec::new();
        let mut at = ty.clone();
        for _ in 0..builtin.arity() {
            let Ty::Fun(from, to) = at else { panic!("a builtin function of type {ty:?}") };
            vars.push(self.fresh("x", (*from).clone()));
            at = (*to).clone();
        }
        let body = self.builtin_applied(builtin, vars.iter().map(core::var).collect(), span);
        vars.into_iter().rev().fold(body, |body, var| core::lam(var, body))
    }

    /// A builtin with all its arguments.
    pub(super) fn builtin_applied(
        &mut self,
        builtin: Builtin,
        mut args: Vec<Term>,
        span: Span,
    ) -> Term {
        let mut next = || args.remove(0);
        let term = match builtin {
            Builtin::Constant(value) => core::lit(constant(value)),
            Builtin::Pseudo => core::lit(Scalar::Bool(self.from.pseudo)),
            Builtin::Function(name, shape) => return self.scalar_function(name, shape, args, span),
            Builtin::IntOfBool => {
                core::prim(Prim::SelectInt, vec![next(), core::int(1), core::int(0)])
            }
            Builtin::Same => return next(),
            Builtin::Length => core::dim(next(), 0),
            Builtin::Sum | Builtin::SumOfVectors => return sum(self, next(), span),
            Builtin::Product => return self.product(next(), span),
            Builtin::Extremum(Extremum::Max) => core::reduce(ReduceOp::Max, next()),
            Builtin::Extremum(Extremum::Min) => core::reduce(ReduceOp::Min, next()),
            Builtin::Maximum => {
                return self.nonempty(ReduceOp::Max, next(), "maximum of an empty array", span);
            }
            Builtin::Minimum => {
                return self.nonempty(ReduceOp::Min, next(), "minimum of an empty array", span);
            }
            Builtin::Jvp => {
                let (f, x, dx) = (next(), next(), next());
                core::jvp(f, x, dx, self.span(span))
            }
            Builtin::Reach => {
                let (f, x, marks) = (next(), next(), next());
                core::reach(f, x, marks, self.span(span))
            }
            Builtin::Band => {
                let (f, x) = (next(), next());
                core::band(f, x, self.span(span))
            }
            Builtin::Vjp => {
                let (f, x) = (next(), next());
                core::vjp(f, x, self.span(span))
            }
            Builtin::Jacobian => {
                let (f, x) = (next(), next());
                return self.jacobian(f, x, span);
            }
            Builtin::Ravel => return ravel(self, next(), span),
            Builtin::Unravel => {
                let (like, components) = (next(), next());
                return unravel(self, like, components, span);
            }
            Builtin::Inspect => return self.inspect("".into(), next(), span),
        };
        self.at(term, span)
    }

    /// A value that is printed under a name.
    pub(super) fn inspect(&mut self, label: Rc<str>, value: Term, span: Span) -> Term {
        core::inspect(Site::new(self.span(span), &*label), value)
    }

    /// `inspect` as a function value.
    pub(super) fn inspect_value(&mut self, label: Rc<str>, ty: &Ty, span: Span) -> Term {
        let Ty::Fun(from, _) = ty else { panic!("`inspect` of type {ty:?}") };
        let x = self.fresh("x", (**from).clone());
        let body = self.inspect(label, core::var(&x), span);
        core::lam(x, body)
    }

    /// `check "text"` as a function value.
    pub(super) fn check_value(
        &mut self,
        (words, values, written): (&[Rc<str>], &[Exp], bool),
        ty: &Ty,
        span: Span,
    ) -> Term {
        let Ty::Fun(bool, rest) = ty else { panic!("`check` of type {ty:?}") };
        let Ty::Fun(from, _) = &**rest else { panic!("`check` of type {ty:?}") };
        let (holds, value) =
            (self.fresh("holds", (**bool).clone()), self.fresh("x", (**from).clone()));
        let mut outside = Spine::default();
        let texts = self.shown(&mut outside, words, values);
        let mut inside = Spine::default();
        self.checked(&mut inside, texts, written, core::var(&holds), span);
        let body = self.close(inside, core::var(&value));
        let function = core::lam(holds, core::lam(value, body));
        self.close(outside, function)
    }

    /// `error "text"`: a check that never holds, before a value that is never computed.
    pub(super) fn failure(&mut self, words: &[Rc<str>], values: &[Exp], exp: &Exp) -> Term {
        let mut spine = Spine::default();
        let texts = self.shown(&mut spine, words, values);
        self.checked(&mut spine, texts, true, core::lit(Scalar::Bool(false)), exp.span);
        let ty = self.mono(exp.ty);
        self.close(spine, core::build::never(ty))
    }

    /// `x @ y` of two vectors.
    pub(super) fn inner_product(&mut self, args: Vec<Term>, span: Span) -> Term {
        let [x, y]: [Term; 2] = args.try_into().expect("a product has two operands");
        let products = self.binary(Surface::Infix("*"), x, y, None, span);
        self.at(core::reduce(ReduceOp::Add, products), span)
    }

    /// The message, and the integers that stand for its values.
    pub(super) fn shown(
        &mut self,
        spine: &mut Spine,
        words: &[Rc<str>],
        values: &[Exp],
    ) -> (String, Vec<Term>) {
        let (mut message, mut integers) = (String::new(), Vec::new());
        for (k, word) in words.iter().enumerate() {
            message += &word.replace('{', "{{");
            let Some(value) = values.get(k) else { break };
            let value = self.exp(value);
            let (value, shown) = as_integer(value);
            message += &shown.placeholder(k);
            integers.push(self.share(spine, "shown", value));
        }
        (message, integers)
    }

    /// A check before the rest.
    pub(super) fn checked(
        &mut self,
        spine: &mut Spine,
        (message, values): (String, Vec<Term>),
        written: bool,
        cond: Term,
        span: Span,
    ) {
        self.failing += 1;
        let site = Site { written, ..Site::new(self.span(span), message) };
        spine.0.push(Item::Check(cond, site, values));
    }

    fn scalar_function(
        &mut self,
        name: &'static str,
        shape: FunctionShape,
        mut args: Vec<Term>,
        span: Span,
    ) -> Term {
        let surface = Surface::Call(name);
        match shape {
            FunctionShape::Unary(_) | FunctionShape::Scalar(..) => {
                let x = args.remove(0);
                self.unary(surface, x, span)
            }
            FunctionShape::Binary(_) => {
                let (a, b) = (args.remove(0), args.remove(0));
                self.binary(surface, a, b, None, span)
            }
            FunctionShape::Indexed(..) => {
                let prim = self.primitive(surface, &[&args[0], &args[1]]);
                self.elementwise(args, None, span, &mut |this, args| {
                    this.at(core::prim(prim, args), span)
                })
            }
        }
    }

    /// The product of numbers; for arrays, the product at each place:
    /// `for j … => product (for i < n => xs[i, j, …])`.
    fn product(&mut self, xs: Term, span: Span) -> Term {
        if Self::rank(xs.ty()) == 1 {
            return self.at(core::reduce(ReduceOp::Mul, xs), span);
        }
        let mut spine = Spine::default();
        let xs = self.share_as_var(&mut spine, "array", xs);
        let vars: Vec<Var> = (0..Self::rank(xs.ty())).map(|_| self.fresh("i", Ty::INT)).collect();
        let at = core::index(xs.clone(), vars.iter().map(core::var).collect(), self.span(span));
        let mut axes = vars.into_iter().enumerate();
        let outer = axes.next().map(|(axis, var)| core::for_(var, core::dim(xs.clone(), axis), at));
        let factors = outer.expect("an array has an axis");
        let product = self.at(core::reduce(ReduceOp::Mul, factors), span);
        let places = axes
            .rev()
            .fold(product, |body, (axis, var)| core::for_(var, core::dim(xs.clone(), axis), body));
        self.close(spine, places)
    }

    fn nonempty(&mut self, op: ReduceOp, xs: Term, words: &'static str, span: Span) -> Term {
        let mut spine = Spine::default();
        let xs = self.share_as_var(&mut spine, "array", xs);
        let some = core::prim(Prim::LtInt, vec![core::int(0), core::dim(xs.clone(), 0)]);
        self.check_in(&mut spine, some, span, words, Vec::new());
        let reduced = self.at(core::reduce(op, xs), span);
        self.close(spine, reduced)
    }

    /// `jacobian f x`
    fn jacobian(&mut self, f: Term, x: Term, span: Span) -> Term {
        let mut spine = Spine::default();
        let f = self.share_as_var(&mut spine, "f", f);
        let x = self.share_as_var(&mut spine, "point", x);
        let span = self.span(span);
        let jacobian = core::jacobian(&mut self.program, &f, &x, span);
        self.close(spine, jacobian)
    }
}

/// The builtin that a name means at a type: `max` of an array is its largest element, and `int`
/// also converts truth values.
pub(super) fn at_type(builtin: Builtin, ty: &Ty) -> Builtin {
    match (builtin, ty) {
        (Builtin::Function(name @ ("max" | "min"), _), Ty::Fun(_, to)) => match (&**to, name) {
            (Ty::Fun(..), _) => builtin,
            (_, "max") => Builtin::Maximum,
            (_, _) => Builtin::Minimum,
        },
        (Builtin::Function(name @ ("int" | "real"), _), Ty::Fun(from, _)) => {
            match (name, &**from) {
                ("int", Ty::Scalar(ScalarTy::Bool)) => Builtin::IntOfBool,
                ("int", Ty::Scalar(ScalarTy::Int)) | ("real", Ty::Scalar(ScalarTy::Real)) => {
                    Builtin::Same
                }
                _ => builtin,
            }
        }
        _ => builtin,
    }
}

/// A scalar as the integer that a failing check supplies, and how its message shows it.
fn as_integer(value: Term) -> (Term, Shown) {
    match value.ty() {
        Ty::Scalar(ScalarTy::Real) => (core::prim(Prim::RealBits, vec![value]), Shown::Real),
        Ty::Scalar(ScalarTy::Bool) => {
            (core::prim(Prim::SelectInt, vec![value, core::int(1), core::int(0)]), Shown::Bool)
        }
        _ => (value, Shown::Int),
    }
}
