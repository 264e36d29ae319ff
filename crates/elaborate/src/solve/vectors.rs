//! Vectors that are no arrays of scalars: tuples and records of reals and of vectors, and arrays of
//! them. They are added to vectors of their type, and multiplied and divided by scalars.

use super::Solver;
use super::constraint::{ConstraintError, Operation, Step};
use super::step::Result;
use super::ty::{Bases, Node, Origin, Shapes, Ty, UnknownKind};

impl Solver {
    /// Whether the type, or that of the elements, is a tuple or a record.
    pub fn has_parts(&self, ty: Ty) -> bool {
        matches!(self.get(self.base(ty)), Node::Tuple(_) | Node::Record(_))
    }

    /// Whether the type may become one with parts.
    pub(super) fn may_have_parts(&self, ty: Ty) -> bool {
        match self.get(self.base(ty)) {
            Node::Unknown(unknown) => match unknown.kind {
                UnknownKind::Any => true,
                UnknownKind::Data { shapes, .. } => shapes == Shapes::Vectors,
            },
            _ => false,
        }
    }

    /// The type of the operand beside a scalar: only products and quotients take vectors.
    pub(super) fn beside_scalar(
        &mut self,
        op: Operation,
        ty: Ty,
        origin: &Origin,
    ) -> std::result::Result<(), ConstraintError> {
        if op == Operation::Sum {
            self.restrict(ty, UnknownKind::shaped(Bases::NUM), Some(origin.clone()))?;
        }
        Ok(())
    }

    /// One step of an operation of which an operand or the result has parts.
    pub(super) fn vector_arith(
        &mut self,
        op: Operation,
        [a, b]: [Ty; 2],
        result: Ty,
        origin: &Origin,
    ) -> Result {
        let of_scalar = |solver: &mut Solver, scalar: Ty, vector: Ty| {
            let reals = UnknownKind::scalar(Bases::REAL);
            solver.restrict(scalar, reals, Some(origin.clone()))?;
            solver.equal(result, vector)?;
            solver.restrict(vector, UnknownKind::vectors(Bases::REAL), Some(origin.clone()))?;
            Ok(Step::Done)
        };
        match op {
            Operation::Sum => {
                self.equal(a, b)?;
                self.equal(result, a)?;
                self.restrict(a, UnknownKind::vectors(Bases::REAL), Some(origin.clone()))?;
                Ok(Step::Done)
            }
            Operation::Product if self.has_parts(a) => of_scalar(self, b, a),
            Operation::Product if self.has_parts(b) || self.is_scalar(a) => of_scalar(self, a, b),
            Operation::Product if self.is_scalar(b) => of_scalar(self, b, a),
            Operation::Product => Ok(Step::Wait(vec![a, b])),
            Operation::Quotient => of_scalar(self, b, a),
            Operation::Other => {
                for ty in [a, b, result] {
                    self.restrict(ty, UnknownKind::shaped(Bases::NUM), Some(origin.clone()))?;
                }
                Ok(Step::Done)
            }
        }
    }
}
