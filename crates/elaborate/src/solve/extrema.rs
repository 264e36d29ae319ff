//! `max a : result`: of two operands, or the largest element of an array. A result that is a
//! function takes another operand; a number is the largest element.

use super::Solver;
use super::constraint::{Constraint, Operation, Scalars, Step};
use super::step::Result;
use super::ty::{Bases, Node, Origin, Ty, UnknownKind};

impl Solver {
    pub(super) fn extremum(&mut self, a: Ty, result: Ty, origin: &Origin) -> Result {
        if self.any_error(&[a, result]) {
            let error = self.error();
            return self.same(result, error);
        }
        match self.get(result).clone() {
            Node::Fun(b, whole) => {
                let (op, scalars, origin) = (Operation::Other, Scalars::Same, origin.clone());
                let of_two = Constraint::Arith { op, scalars, a, b, result: whole, origin };
                Ok(Step::Become(vec![of_two]))
            }
            Node::Unknown(unknown)
                if unknown.kind == UnknownKind::Any && unknown.rigid.is_none() =>
            {
                if self.is_scalar(a) {
                    self.of_two_numbers(a, result, origin)
                } else {
                    Ok(Step::Wait(vec![a, result]))
                }
            }
            _ => {
                self.restrict(result, UnknownKind::NUMBER, Some(origin.clone()))?;
                let array = self.vector_of(result);
                self.same(a, array)
            }
        }
    }

    fn of_two_numbers(&mut self, a: Ty, result: Ty, origin: &Origin) -> Result {
        let kind = UnknownKind::shaped(Bases::NUM);
        let [b, whole] = [(); 2].map(|()| self.unknown(kind, Some(origin.clone())));
        let function = self.fun(b, whole);
        self.equal(result, function)?;
        self.extremum(a, result, origin)
    }

    /// Reads as functions of two numbers what is open since `mark`: a definition whose result may
    /// be a function or a number would have no type that a reader expects.
    pub(super) fn decide_extrema(
        &mut self,
        mark: usize,
        wanted: impl Fn(&Solver, &Constraint) -> bool,
    ) {
        let mut at = mark;
        while at < self.mark() {
            if let Some(constraint) = self.pending(at).filter(|c| wanted(self, c))
                && let Constraint::Extremum { a, result, ref origin } = constraint
            {
                self.replace_by(at, |solver, _| solver.of_two_numbers(a, result, origin));
                self.settle();
            }
            at += 1;
        }
    }
}
