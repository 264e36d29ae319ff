//! Builtins, applied or as values.

use lambada_core::{self as core, Term, Ty, Var};
use lambada_prim::{Prim, ReduceOp, Surface};
use lambada_source::Span;

use super::Specialize;
use super::spine::Spine;
use crate::builtin::{Builtin, Extremum, FunctionShape, constant, numbers, primitive};

impl Specialize<'_> {
    /// A builtin that is not applied to all its arguments: a λ.
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
            Builtin::Function(name, shape) => return self.scalar_function(name, shape, args, span),
            Builtin::Length => core::dim(next(), 0),
            Builtin::Sum => core::reduce(ReduceOp::Add, next()),
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
            Builtin::Vjp => {
                let (f, x) = (next(), next());
                core::vjp(f, x, self.span(span))
            }
            Builtin::Jacobian => {
                let (f, x) = (next(), next());
                return self.jacobian(f, x, span);
            }
            Builtin::Check(words) => {
                let cond = next();
                let values = (0..numbers(words)).map(|_| next()).collect();
                let value = next();
                let mut spine = Spine::default();
                self.check_in(&mut spine, cond, span, words, values);
                return self.close(spine, value);
            }
        };
        self.at(term, span)
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

    /// The product of numbers; of arrays, that at each place: `for j … => product (for i < n => xs[i, j, …])`.
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

    /// `jacobian f x`: of a real or an array of reals. A function of one real is done forward at once; one of a vector by whichever of
    /// columns (forward) and rows (reverse) are fewer; any other by rows.
    fn jacobian(&mut self, f: Term, x: Term, span: Span) -> Term {
        let Ty::Fun(_, to) = f.ty().clone() else { panic!("a jacobian of {:?}", f.ty()) };
        if *x.ty() == Ty::REAL {
            return core::proj(core::jvp(f, x, core::real(1.0), self.span(span)), 1);
        }
        let mut spine = Spine::default();
        let f = self.share_as_var(&mut spine, "f", f);
        let x = self.share_as_var(&mut spine, "point", x);
        let vectors = *x.ty() == Ty::array(Ty::REAL) && *to == Ty::array(Ty::REAL);
        let jacobian = if vectors {
            self.vector_jacobian(&f, &x, &mut spine, span)
        } else {
            self.rows(&f, &x, span)
        };
        self.close(spine, jacobian)
    }

    fn vector_jacobian(&mut self, f: &Term, x: &Term, spine: &mut Spine, span: Span) -> Term {
        let value = self.share_as_var(spine, "value", core::app(f.clone(), x.clone()));
        let fewer =
            core::prim(Prim::LtInt, vec![core::dim(x.clone(), 0), core::dim(value.clone(), 0)]);
        let columns = self.columns(f, x, &value, span);
        let rows = self.rows(f, x, span);
        core::if_(fewer, columns, rows)
    }

    /// `for i < m, j < n => (for j => (jvp f x (one j)).1)[j, i]`
    fn columns(&mut self, f: &Term, x: &Term, value: &Term, span: Span) -> Term {
        let j = self.fresh("j", Ty::INT);
        let direction = self.one_hot(x, std::slice::from_ref(&j));
        let column = core::proj(core::jvp(f.clone(), x.clone(), direction, self.span(span)), 1);
        let mut spine = Spine::default();
        let columns = core::for_(j, core::dim(x.clone(), 0), column);
        let columns = self.share_as_var(&mut spine, "columns", columns);
        let (row, at) = (self.fresh("i", Ty::INT), self.fresh("j", Ty::INT));
        let element = core::index(columns, vec![core::var(&at), core::var(&row)], self.span(span));
        let inner = core::for_(at, core::dim(x.clone(), 0), element);
        let transposed = core::for_(row, core::dim(value.clone(), 0), inner);
        self.close(spine, transposed)
    }

    /// `let (y, pullback) = vjp f x in for i < length y => pullback (one i)`
    fn rows(&mut self, f: &Term, x: &Term, span: Span) -> Term {
        let mut spine = Spine::default();
        let both = core::vjp(f.clone(), x.clone(), self.span(span));
        let both = self.share_as_var(&mut spine, "both", both);
        let y = self.share_as_var(&mut spine, "value", core::proj(both.clone(), 0));
        let pullback = core::proj(both, 1);
        let vars: Vec<Var> = (0..Self::rank(y.ty())).map(|_| self.fresh("i", Ty::INT)).collect();
        let seed = self.one_hot(&y, &vars);
        let row = core::app(pullback, seed);
        let rows = vars
            .into_iter()
            .enumerate()
            .rev()
            .fold(row, |row, (axis, var)| core::for_(var, core::dim(y.clone(), axis), row));
        self.close(spine, rows)
    }

    /// 1 at a place, 0 elsewhere, of the shape of `like`.
    fn one_hot(&mut self, like: &Term, place: &[Var]) -> Term {
        let vars: Vec<Var> = place.iter().map(|_| self.fresh("k", Ty::INT)).collect();
        let equal = primitive(Surface::Infix("=="), &[lambada_prim::ScalarTy::Int; 2])
            .expect("integers are compared");
        let here = vars
            .iter()
            .zip(place)
            .map(|(a, b)| core::prim(equal, vec![core::var(a), core::var(b)]));
        let here = here.reduce(|a, b| core::prim(Prim::And, vec![a, b]));
        let element = match here {
            Some(here) => core::if_(here, core::real(1.0), core::real(0.0)),
            None => core::real(1.0),
        };
        vars.into_iter()
            .enumerate()
            .rev()
            .fold(element, |body, (axis, var)| core::for_(var, core::dim(like.clone(), axis), body))
    }
}
