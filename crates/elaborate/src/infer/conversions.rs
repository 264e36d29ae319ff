//! Conversions of ints where reals are wanted.

use std::collections::HashMap;

use lambada_prim::ScalarTy;

use crate::messages::Why;
use crate::solve::constraint::{Constraint, Operation, Scalars};
use crate::solve::ty::{Bases, Node, Origin, Ty, UnknownKind};
use crate::typed::{Exp, ExpKind};

use super::Infer;

/// The origin of a conversion, for constraints that fail later.
const CONVERSION: &str = "conversion";

impl Infer<'_> {
    /// The expression as a value of an expected type: an int serves as a real.
    pub(super) fn fit(&mut self, exp: Exp, expected: Ty, why: &Why) -> Exp {
        let exp = self.adapt(exp, expected);
        self.expect(&exp, expected, why);
        exp
    }

    /// The expression with conversions where the type that is expected has reals; in tuples,
    /// records and arrays that are written out, at their parts.
    fn adapt(&mut self, exp: Exp, expected: Ty) -> Exp {
        let span = exp.span;
        let (kind, ty) = match (exp.kind, self.solver.get(expected).clone()) {
            (ExpKind::Tuple(items), Node::Tuple(types)) if items.len() == types.len() => {
                let pairs = items.into_iter().zip(types.iter());
                let items: Vec<Exp> = pairs.map(|(item, ty)| self.adapt(item, *ty)).collect();
                let ty = self.solver.tuple(items.iter().map(|item| item.ty).collect());
                (ExpKind::Tuple(items), ty)
            }
            (ExpKind::Record(fields), Node::Record(types)) if fields.len() == types.len() => {
                let pairs = fields.into_iter().zip(types.iter());
                let adapted = pairs.map(|((name, value), (expected, ty))| {
                    let same = name == *expected;
                    (name, if same { self.adapt(value, *ty) } else { value })
                });
                let fields: Vec<_> = adapted.collect();
                let types = fields.iter().map(|(name, value)| (name.clone(), value.ty)).collect();
                (ExpKind::Record(fields), self.solver.node(Node::Record(types)))
            }
            (ExpKind::Array(items), Node::Array(_, elem)) if self.is_compound(elem) => {
                let items: Vec<Exp> =
                    items.into_iter().map(|item| self.adapt(item, elem)).collect();
                let ty = match items.first() {
                    Some(first) => self.with_elements(exp.ty, first.ty),
                    None => exp.ty,
                };
                for item in items.iter().skip(1) {
                    self.expect(item, items[0].ty, &Why::Element(items[0].span));
                }
                (ExpKind::Array(items), ty)
            }
            (ExpKind::For(clause, body), Node::Array(_, elem)) if self.is_compound(elem) => {
                let body = self.adapt(*body, elem);
                let ty = self.with_elements(exp.ty, body.ty);
                (ExpKind::For(clause, Box::new(body)), ty)
            }
            (kind @ (ExpKind::Tuple(_) | ExpKind::Record(_)), Node::Unknown(_)) => {
                return self.first_of_many(Exp { kind, ty: exp.ty, span });
            }
            (kind, _) => {
                let exp = Exp { kind, ty: exp.ty, span };
                if self.may_convert(&exp, expected) {
                    return self.convert(exp, expected);
                }
                if is_number(&exp) && self.is_numeric(expected) {
                    self.solver.here = span;
                    // A number is of any numeric type.
                    let _ = self.solver.unify(expected, exp.ty);
                }
                return exp;
            }
        };
        Exp { kind, ty, span }
    }

    /// Whether the type, or that of the elements, has parts that may need conversions of their own.
    fn is_compound(&self, ty: Ty) -> bool {
        matches!(self.solver.get(self.solver.base(ty)), Node::Tuple(_) | Node::Record(_))
    }

    fn with_elements(&mut self, array: Ty, elem: Ty) -> Ty {
        match self.solver.get(array).clone() {
            Node::Array(size, _) => self.solver.array(size, elem),
            _ => array,
        }
    }

    fn convert(&mut self, exp: Exp, expected: Ty) -> Exp {
        let failed = self.solver.failed.len();
        self.solver.here = exp.span;
        let origin = Origin::new(CONVERSION, exp.span);
        self.solver.add(Constraint::Serves { from: exp.ty, to: expected, depth: 0, origin });
        if self.solver.failed.len() > failed {
            // Where the equation fails as well, its message says what was expected.
            let failures = self.solver.failed.split_off(failed);
            if self.solver.unify(expected, exp.ty).is_ok() {
                self.solver.failed.extend(failures);
            }
            return exp;
        }
        self.converted(exp, expected)
    }

    /// Whether the expression may have to be converted. Literals have the type that is expected.
    /// An int also serves as a value of a type that is not known yet, e.g. in
    /// `with_default 0 (find_first p xs)`, because the type may turn out to be real.
    fn may_convert(&self, exp: &Exp, expected: Ty) -> bool {
        let (from, to) = (self.solver.base(exp.ty), self.solver.base(expected));
        if from == to || is_number(exp) {
            return false;
        }
        if self.solver.has_parts(from) && self.solver.may_serve(from, to) {
            return true;
        }
        let real = self.solver.only_real(to);
        let wanted = match self.solver.get(to) {
            Node::Scalar(scalar) => *scalar == ScalarTy::Real,
            Node::Unknown(unknown) => {
                let open = unknown.kind == UnknownKind::Any && self.has_ints(exp.ty);
                unknown.rigid.is_none() && (open || self.is_numeric(to))
            }
            _ => false,
        };
        let given = match self.solver.get(from) {
            Node::Scalar(scalar) => *scalar == ScalarTy::Int,
            Node::Unknown(unknown) => {
                real && unknown.rigid.is_none() && !self.solver.only_real(from)
            }
            _ => false,
        };
        wanted && given
    }

    /// Whether all scalars inside of the type are certainly numbers.
    pub(super) fn is_numeric(&self, ty: Ty) -> bool {
        match self.solver.get(self.solver.base(ty)) {
            Node::Unknown(unknown) => match unknown.kind {
                UnknownKind::Any => false,
                UnknownKind::Data { bases, .. } => bases.intersect(Bases::NUM) == bases,
            },
            Node::Scalar(scalar) => *scalar != ScalarTy::Bool,
            _ => false,
        }
    }

    /// The expression with a conversion to the scalar of another type, which specialization leaves
    /// out where it does nothing. It stands at the elements of an array that is written out.
    fn converted(&mut self, exp: Exp, to: Ty) -> Exp {
        let scalar = self.solver.base(to);
        let exact = self.solver.is_scalar(self.solver.base(exp.ty));
        let ty = if exact { self.solver.rebase(exp.ty, scalar) } else { to };
        let span = exp.span;
        let kind = match exp.kind {
            ExpKind::For(clause, body) if exact => {
                ExpKind::For(clause, Box::new(self.converted(*body, scalar)))
            }
            ExpKind::Array(items) if exact => {
                ExpKind::Array(items.into_iter().map(|item| self.converted(item, scalar)).collect())
            }
            ExpKind::Block(stmts, body) => {
                ExpKind::Block(stmts, Box::new(self.converted(*body, to)))
            }
            kind => ExpKind::Convert(Box::new(Exp { kind, ty: exp.ty, span })),
        };
        Exp { kind, ty, span }
    }

    /// The first of several values of one type: the ints in it become reals if a later value is
    /// real.
    pub(super) fn first_of_many(&mut self, exp: Exp) -> Exp {
        match exp.kind {
            ExpKind::Tuple(_) | ExpKind::Record(_) => self.at_parts(exp, Self::first_of_many),
            _ if self.has_ints(exp.ty) => {
                let number = self.solver.unknown(UnknownKind::NUMBER, None);
                let to = self.solver.rebase(exp.ty, number);
                let origin = Origin::new(CONVERSION, exp.span);
                self.solver.add(Constraint::Serves { from: exp.ty, to, depth: 0, origin });
                self.converted(exp, to)
            }
            _ => exp,
        }
    }

    /// An operand of arithmetic. The parts of tuples and records that are written out are reals.
    pub(super) fn with_real_parts(&mut self, exp: Exp) -> Exp {
        self.at_parts(exp, |infer, part| {
            let part = infer.with_real_parts(part);
            infer.as_reals(part)
        })
    }

    /// Changes the parts of a tuple or record that is written out.
    fn at_parts(&mut self, exp: Exp, mut change: impl FnMut(&mut Self, Exp) -> Exp) -> Exp {
        let span = exp.span;
        match exp.kind {
            ExpKind::Tuple(items) => {
                let items: Vec<Exp> = items.into_iter().map(|item| change(self, item)).collect();
                let ty = self.solver.tuple(items.iter().map(|item| item.ty).collect());
                Exp { kind: ExpKind::Tuple(items), ty, span }
            }
            ExpKind::Record(fields) => {
                let fields: Vec<_> =
                    fields.into_iter().map(|(name, value)| (name, change(self, value))).collect();
                let types = fields.iter().map(|(name, value)| (name.clone(), value.ty)).collect();
                Exp {
                    kind: ExpKind::Record(fields),
                    ty: self.solver.node(Node::Record(types)),
                    span,
                }
            }
            kind => Exp { kind, ty: exp.ty, span },
        }
    }

    fn has_ints(&self, ty: Ty) -> bool {
        self.solver.as_scalar(self.solver.base(ty)) == Some(ScalarTy::Int)
    }

    /// The right operand of a comparison, of the type of the left one: of two numbers an int is
    /// converted.
    pub(super) fn comparable(&mut self, op: &'static str, a: &Exp, b: Exp) -> Exp {
        let scalar = |exp: &Exp| self.solver.is_scalar(exp.ty) || self.solver.is_unknown(exp.ty);
        let numbers = self.is_numeric(a.ty) || self.is_numeric(b.ty);
        let bool = |exp: &Exp| self.solver.as_scalar(exp.ty) == Some(ScalarTy::Bool);
        let fixed = [a, &b].into_iter().any(|exp| is_number(exp) || bool(exp) || !scalar(exp));
        if fixed || !numbers {
            // Arrays of different sizes are compared, too.
            let expected =
                self.solver.copy_with(a.ty, &HashMap::new(), &mut |solver, _| solver.fresh_size());
            return self.fit(b, expected, &Why::Operand(op));
        }
        let span = a.span.to(b.span);
        let result = self.solver.unknown(UnknownKind::NUMBER, None);
        let origin = Origin::new(op, span);
        self.solver.here = span;
        self.solver.add(Constraint::Arith {
            op: Operation::Other,
            scalars: Scalars::Joined,
            a: a.ty,
            b: b.ty,
            result,
            origin,
        });
        b
    }

    /// An operand of an operation on reals.
    pub(super) fn as_reals(&mut self, exp: Exp) -> Exp {
        if !self.has_ints(exp.ty) {
            return exp;
        }
        let real = self.solver.real();
        self.converted(exp, real)
    }
}

/// Whether the expression is an integer literal.
pub(super) fn is_number(exp: &Exp) -> bool {
    matches!(exp.kind, ExpKind::Number(_))
}
