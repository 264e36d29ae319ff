//! Operators.

use std::rc::Rc;

use lambada_prim::{ArrayPrim, Scalar, ScalarTy};
use lambada_source::Span;
use lambada_surface::ast::{BinaryOp, Expr, ExprKind, UnaryOp};

use crate::messages::{self, Why};
use crate::solve::constraint::{Constraint, Operation, Scalars};
use crate::solve::ty::{Bases, Node, Origin, Ty, UnknownKind};
use crate::typed::{Comparison, Exp, ExpKind, Function, Pat, PatKind, Stmt};

use super::Infer;
use super::apply::{Arg, variable_of};
use super::conversions::is_number;
use super::sizes::brief;

impl Infer<'_> {
    pub(super) fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span) -> Exp {
        match op {
            BinaryOp::Pipe => self.pipe(a, b, span),
            BinaryOp::And | BinaryOp::Or => {
                let bool = self.solver.bool();
                let a = self.check(a, bool, &Why::Operand(op.spelling()));
                let b = self.check(b, bool, &Why::Operand(op.spelling()));
                self.connective(op, a, b, span)
            }
            BinaryOp::Pow => {
                let base = self.infer(a);
                match literal_exponent(b) {
                    Some(exponent) => self.literal_power(base, exponent, b.span, span),
                    None => {
                        let exponent = self.infer(b);
                        self.power(base, exponent, span)
                    }
                }
            }
            BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::FloorDiv
            | BinaryOp::Rem
            | BinaryOp::MatMul
            | BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => {
                let (Some(x), y) = (self.left_operand(op, a, b.span), self.infer(b)) else {
                    return self.wrong(span);
                };
                if op == BinaryOp::Sub && self.report_negative_argument(&x, a, b) {
                    return self.wrong(span);
                }
                self.combine(op, x, y, span)
            }
            BinaryOp::Compose => {
                let (x, y) = (self.function_operand(a), self.function_operand(b));
                self.combine(op, x, y, span)
            }
        }
    }

    /// An operator applied to elaborated operands.
    fn combine(&mut self, op: BinaryOp, a: Exp, b: Exp, span: Span) -> Exp {
        match op {
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::FloorDiv
            | BinaryOp::Rem => self.arith(op, a, b, span),
            BinaryOp::Pow => self.power(a, b, span),
            BinaryOp::MatMul => self.contraction(op, a, b, span),
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => self.compare(op, a, b, span),
            BinaryOp::And | BinaryOp::Or => {
                let bool = self.solver.bool();
                self.expect(&a, bool, &Why::Operand(op.spelling()));
                self.expect(&b, bool, &Why::Operand(op.spelling()));
                self.connective(op, a, b, span)
            }
            BinaryOp::Compose if self.is_int(&a) || self.is_int(&b) => self.library_call(
                "prelude_shift_right",
                ">>",
                vec![Arg::Done(a), Arg::Done(b)],
                span,
            ),
            BinaryOp::Compose => self.compose(a, b, span),
            BinaryOp::Pipe => {
                self.apply(b, Vec::new(), vec![Arg::Done(a)], span, super::apply::NAMELESS)
            }
        }
    }

    /// Whether it is certain that an operand of `>>` is an integer, whose bits are shifted.
    fn is_int(&self, exp: &Exp) -> bool {
        is_number(exp) || self.solver.as_scalar(exp.ty) == Some(ScalarTy::Int)
    }

    fn arith(&mut self, op: BinaryOp, a: Exp, b: Exp, span: Span) -> Exp {
        let [a, b] = [a, b].map(|operand| self.with_real_parts(operand));
        let operation = operation(op);
        let kinds = operation.kinds(Bases::NUM);
        for (operand, kind) in [&a, &b].into_iter().zip(kinds) {
            let before = self.problems.len();
            self.require(operand, kind, op.spelling());
            if self.problems.len() > before {
                return self.wrong(span);
            }
        }
        let origin = Origin::new(op.spelling(), span);
        let (scalars, result) = match op {
            BinaryOp::Div if !self.divides_ints => {
                for literal in [&a, &b].into_iter().filter(|exp| is_number(exp)) {
                    let real = self.solver.real();
                    self.expect(literal, real, &Why::Operand(op.spelling()));
                }
                (Scalars::Reals, operation.kinds(Bases::REAL)[2])
            }
            _ if is_number(&a) || is_number(&b) => (Scalars::Same, kinds[2]),
            _ => (Scalars::Joined, kinds[2]),
        };
        if op == BinaryOp::Div && self.divides_ints {
            self.quotients.push([(a.span, a.ty), (b.span, b.ty)]);
        }
        let result = self.solver.unknown(result, Some(origin.clone()));
        self.solver.here = span;
        self.solver.add(Constraint::Arith {
            op: operation,
            scalars,
            a: a.ty,
            b: b.ty,
            result,
            origin,
        });
        Exp { kind: ExpKind::Arith(op.spelling(), Box::new(a), Box::new(b)), ty: result, span }
    }

    /// The left operand; `None` for `not a < b` if `a` is no truth value.
    fn left_operand(&mut self, op: BinaryOp, left: &Expr, right: Span) -> Option<Exp> {
        let (ExprKind::Unary(UnaryOp::Not, inner), true) = (&left.kind, is_comparison(op)) else {
            return Some(self.infer(left));
        };
        let operand = self.infer(inner);
        if self.never_bool(operand.ty) {
            let found = self.solver.show_expected(&[operand.ty]).remove(0);
            self.problems.push(messages::not_before_comparison(
                op.spelling(),
                left.span,
                &brief(inner),
                &found,
                inner.span.to(right),
            ));
            return None;
        }
        let ty = self.solver.bool();
        self.expect(&operand, ty, &Why::Operand("not"));
        Some(Exp { kind: ExpKind::Not(Box::new(operand)), ty, span: left.span })
    }

    /// Whether it is certain that the type is not `bool`.
    fn never_bool(&self, ty: Ty) -> bool {
        match self.solver.get(ty) {
            Node::Error => false,
            Node::Unknown(unknown) => {
                unknown.kind.meet(UnknownKind::scalar(Bases::of(ScalarTy::Bool))).is_none()
            }
            Node::Scalar(scalar) => *scalar != ScalarTy::Bool,
            Node::Link(_)
            | Node::Tuple(_)
            | Node::Record(_)
            | Node::Array(..)
            | Node::Fun(..)
            | Node::Variant(..) => true,
        }
    }

    /// `f -1`, `f -x`; with a space behind the sign it is a subtraction.
    fn report_negative_argument(&mut self, f: &Exp, written: &Expr, number: &Expr) -> bool {
        let sign = self.written.at(written.span.between(number.span));
        let touches = sign.is_none_or(|sign| !sign.ends_with(' '));
        if !touches || !self.solver.is_function(f.ty) {
            return false;
        }
        let found = self.solver.show(f.ty);
        self.problems.push(messages::negative_argument(
            &found,
            f.span,
            &applied(written),
            &brief(number),
            written.span.end().to(number.span),
        ));
        true
    }

    fn power(&mut self, base: Exp, exponent: Exp, span: Span) -> Exp {
        let kind = UnknownKind::shaped(Bases::NUM);
        self.require(&base, kind, "**");
        self.require(&exponent, kind, "**");
        let origin = Origin::new("**", span);
        let result = self.solver.unknown(kind, Some(origin.clone()));
        self.solver.here = span;
        self.solver.add(Constraint::Pow { base: base.ty, exponent: exponent.ty, result, origin });
        Exp { kind: ExpKind::Arith("**", Box::new(base), Box::new(exponent)), ty: result, span }
    }

    /// An integer literal as exponent is an integer, whatever the base.
    fn literal_power(&mut self, base: Exp, exponent: i64, at: Span, span: Span) -> Exp {
        // As a quotient, a negative power is a real.
        let (base, bases) = match exponent {
            0.. => (base, Bases::NUM),
            _ => (self.as_reals(base), Bases::REAL),
        };
        self.require(&base, UnknownKind::shaped(bases), "**");
        let exponent = Exp { kind: ExpKind::Number(exponent), ty: self.solver.int(), span: at };
        let ty = base.ty;
        Exp { kind: ExpKind::Arith("**", Box::new(base), Box::new(exponent)), ty, span }
    }

    /// An operator that is an array primitive.
    fn contraction(&mut self, op: BinaryOp, a: Exp, b: Exp, span: Span) -> Exp {
        let prim = ArrayPrim::from_operator(op.spelling()).expect("a row has this operator");
        let origin = Origin::new(op.spelling(), span);
        let [a, b] = [a, b].map(|operand| self.as_reals(operand));
        for operand in [&a, &b] {
            let real = UnknownKind::shaped(Bases::REAL);
            if self.solver.require(operand.ty, real, origin.clone()).is_err() {
                let shown = self.solver.show(operand.ty);
                let scalar = self.solver.is_scalar(operand.ty);
                let operator = scalar.then(|| a.span.between(b.span));
                self.problems.push(messages::not_a_matrix(&shown, operand.span, operator));
                return self.wrong(span);
            }
        }
        let result = self.solver.unknown(UnknownKind::shaped(Bases::REAL), Some(origin.clone()));
        self.solver.here = span;
        self.solver.add(Constraint::Contraction { prim, a: a.ty, b: b.ty, result, origin });
        Exp { kind: ExpKind::Contraction(prim, Box::new(a), Box::new(b)), ty: result, span }
    }

    fn compare(&mut self, op: BinaryOp, a: Exp, b: Exp, span: Span) -> Exp {
        let equality = matches!(op, BinaryOp::Eq | BinaryOp::Ne);
        if !equality && let Some(array) = [&a, &b].into_iter().find(|e| self.solver.rank(e.ty) > 0)
        {
            let (found, at) = (self.solver.show(array.ty), array.span);
            let [left, right] = [&a, &b].map(|e| self.solver.rank(e.ty) > 0);
            let elements = self.written.by_elements(span, left).filter(|_| left != right);
            self.problems.push(messages::compared_arrays(op.spelling(), &found, at, elements));
            return self.wrong(span);
        }
        if !equality {
            self.require(&a, UnknownKind::scalar(Bases::NUM), op.spelling());
        }
        // In `(n, x) == (x, n)` an int of the left side serves as a real of the right one.
        let a = match a.kind {
            ExpKind::Tuple(_) | ExpKind::Record(_) => self.first_of_many(a),
            _ => a,
        };
        let b = if self.solver.is_error(a.ty) { b } else { self.comparable(op.spelling(), &a, b) };
        if equality {
            let origin = Origin::new(op.spelling(), span);
            self.solver.add(Constraint::FirstOrder { ty: a.ty, origin });
        }
        let (spelling, swap) = match op {
            BinaryOp::Gt => ("<", true),
            BinaryOp::Ge => ("<=", true),
            _ => (op.spelling(), false),
        };
        let ty = self.solver.bool();
        Exp {
            kind: ExpKind::Compare(Comparison { spelling, swap }, Box::new(a), Box::new(b)),
            ty,
            span,
        }
    }

    /// `a && b` and `a || b` are conditionals.
    fn connective(&mut self, op: BinaryOp, a: Exp, b: Exp, span: Span) -> Exp {
        let known = self.literal(Scalar::Bool(op == BinaryOp::Or), span);
        let ty = self.solver.bool();
        let (t, e) = if op == BinaryOp::And { (b, known) } else { (known, b) };
        Exp { kind: ExpKind::If(Box::new(a), Box::new(t), Box::new(e)), ty, span }
    }

    /// `x |> f`. Elaborates `x` first, so that its type is known in `f`.
    fn pipe(&mut self, x: &Expr, f: &Expr, span: Span) -> Exp {
        let x = self.infer(x);
        if let ExprKind::Lambda(..) = f.kind {
            let to = self.solver.fresh();
            let fun = self.solver.fun(x.ty, to);
            let f = self.check(f, fun, &Why::Form("a function of what is piped in"));
            return Exp { kind: ExpKind::Apply(Box::new(f), Box::new(x)), ty: to, span };
        }
        let f = self.function_operand(f);
        self.apply(f, Vec::new(), vec![Arg::Done(x)], span, super::apply::NAMELESS)
    }

    /// An operand that is a function, perhaps an application without its last argument.
    fn function_operand(&mut self, expr: &Expr) -> Exp {
        match expr.kind {
            ExprKind::Apply(..) => self.application(expr, true),
            _ => self.infer(expr),
        }
    }

    /// `f >> g` is `\x -> g (f x)`, with `f` and `g` evaluated once.
    fn compose(&mut self, f: Exp, g: Exp, span: Span) -> Exp {
        let [a, b, from, c] = [0; 4].map(|_| self.solver.fresh());
        let (left, right) = (self.solver.fun(a, b), self.solver.fun(from, c));
        self.expect(&f, left, &Why::Operand(">>"));
        self.expect(&g, right, &Why::Operand(">>"));
        let mut stmts = Vec::new();
        let f = self.share("f", f, &mut stmts);
        let g = self.share("g", g, &mut stmts);
        let x = self.parameter("x", a, span);
        let inner =
            Exp { kind: ExpKind::Apply(Box::new(f), Box::new(variable_of(&x))), ty: b, span };
        let inner = self.fit(inner, from, &Why::Operand(">>"));
        let body = Exp { kind: ExpKind::Apply(Box::new(g), Box::new(inner)), ty: c, span };
        let function = self.lambda_of(vec![x], body, span);
        within(stmts, function)
    }

    /// Binds an operand to a variable unless it is simple, so that a function may mention it
    /// without evaluating it again.
    pub(super) fn share(&mut self, hint: &str, exp: Exp, stmts: &mut Vec<Stmt>) -> Exp {
        let simple = matches!(
            exp.kind,
            ExpKind::Local(_)
                | ExpKind::Global(..)
                | ExpKind::Function(..)
                | ExpKind::Recursive(..)
                | ExpKind::RecursiveLocal(..)
                | ExpKind::Builtin(_)
                | ExpKind::Inspect(_)
                | ExpKind::Check { .. }
                | ExpKind::Lit(_)
                | ExpKind::Number(_)
                | ExpKind::Lambda(_)
        );
        if simple {
            return exp;
        }
        let pat = self.parameter(hint, exp.ty, exp.span);
        let variable = variable_of(&pat);
        stmts.push(Stmt::Let(Box::new((pat, exp, Vec::new()))));
        variable
    }

    fn parameter(&mut self, hint: &str, ty: Ty, span: Span) -> Pat {
        Pat { kind: PatKind::Var(self.local(&hint.into(), ty)), ty, span }
    }

    fn lambda_of(&mut self, params: Vec<Pat>, body: Exp, span: Span) -> Exp {
        let types: Vec<Ty> = params.iter().map(|p| p.ty).collect();
        let ty = self.solver.funs(&types, body.ty);
        let names = (0..params.len()).map(super::patterns::by_place).collect();
        Exp {
            kind: ExpKind::Lambda(Rc::new(Function {
                names,
                params,
                claims: Vec::new(),
                body,
                result_claims: Vec::new(),
                rules: None,
            })),
            ty,
            span,
        }
    }

    /// `(op)`
    pub(super) fn operator_function(&mut self, op: BinaryOp, span: Span) -> Exp {
        let params = [("x", self.solver.fresh()), ("y", self.solver.fresh())]
            .map(|(hint, ty)| self.parameter(hint, ty, span));
        let body = self.combine(op, variable_of(&params[0]), variable_of(&params[1]), span);
        self.lambda_of(params.into(), body, span)
    }

    /// `(e op)` and `(op e)`
    pub(super) fn section(&mut self, op: BinaryOp, operand: &Expr, left: bool, span: Span) -> Exp {
        let ty = self.solver.fresh();
        let param = self.parameter("x", ty, span);
        if let (BinaryOp::Pow, false, Some(exponent)) = (op, left, literal_exponent(operand)) {
            let body = self.literal_power(variable_of(&param), exponent, operand.span, span);
            return self.lambda_of(vec![param], body, span);
        }
        let operand = self.infer(operand);
        let mut stmts = Vec::new();
        let operand = self.share(lambada_core::OPERAND, operand, &mut stmts);
        let body = match left {
            true => self.combine(op, operand, variable_of(&param), span),
            false => self.combine(op, variable_of(&param), operand, span),
        };
        let function = self.lambda_of(vec![param], body, span);
        within(stmts, function)
    }

    pub(super) fn negate(&mut self, inner: &Expr, span: Span) -> Exp {
        match inner.kind {
            ExprKind::Int(value) => self.number(value.wrapping_neg(), span),
            ExprKind::Real(value) => self.literal(Scalar::Real(-value), span),
            _ => {
                let inner = self.infer(inner);
                let inner = self.with_real_parts(inner);
                let before = self.problems.len();
                self.require(&inner, UnknownKind::vectors(Bases::NUM), "-");
                if self.problems.len() > before {
                    return self.wrong(span);
                }
                let ty = inner.ty;
                Exp { kind: ExpKind::Negate(Box::new(inner)), ty, span }
            }
        }
    }

    /// The size and element type of an array.
    pub(super) fn array_parts(&mut self, exp: &Exp, why: &Why) -> (crate::solve::size::Poly, Ty) {
        if let Node::Array(size, elem) = self.solver.get(exp.ty) {
            return (size.clone(), *elem);
        }
        let (size, elem) = (self.solver.fresh_size(), self.solver.fresh());
        let array = self.solver.array(size.clone(), elem);
        self.expect(exp, array, why);
        (size, elem)
    }
}

pub(super) fn within(stmts: Vec<Stmt>, exp: Exp) -> Exp {
    if stmts.is_empty() {
        return exp;
    }
    let (ty, span) = (exp.ty, exp.span);
    Exp { kind: ExpKind::Block(stmts, Box::new(exp)), ty, span }
}

fn operation(op: BinaryOp) -> Operation {
    match op {
        BinaryOp::Add | BinaryOp::Sub => Operation::Sum,
        BinaryOp::Mul => Operation::Product,
        BinaryOp::Div => Operation::Quotient,
        _ => Operation::Other,
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
    )
}

/// `2` and `-2`
fn literal_exponent(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Int(value) => Some(*value),
        ExprKind::Unary(UnaryOp::Neg, inner) => match inner.kind {
            ExprKind::Int(value) => Some(value.wrapping_neg()),
            _ => None,
        },
        _ => None,
    }
}

/// A function, perhaps with arguments, printed as the callee of a further argument.
fn applied(f: &Expr) -> String {
    match &f.kind {
        ExprKind::Apply(..) => lambada_surface::print_expr(f),
        _ => brief(f),
    }
}
