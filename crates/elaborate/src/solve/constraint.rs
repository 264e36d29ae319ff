//! The constraints of overloading: relations between types that are not decided yet.

use std::rc::Rc;

use lambada_prim::{ArrayPrim, ScalarTy};

use super::Solver;
use super::ty::{Bases, Node, Origin, Ty, UnknownKind};
use super::unify::Clash;

/// A relation between types.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Constraint {
    /// `a ⊕ b : result`, elementwise: two scalars, two arrays of one shape, or a scalar and an
    /// array; for vectors that are no arrays see [`Operation`].
    Arith { op: Operation, scalars: Scalars, a: Ty, b: Ty, result: Ty, origin: Origin },
    /// A value of type `from` serves as a `to` of the same shape: the scalars are equal, or an int
    /// serves as a real. `depth`: number of axes of the arrays around both, so far.
    Serves { from: Ty, to: Ty, depth: usize, origin: Origin },
    /// `scalar` is the scalar inside of all arrays of `whole`, or `whole` itself.
    Base { whole: Ty, scalar: Ty, origin: Origin },
    /// `part` is `whole`, an array, or the scalar that `whole` consists of.
    Part { part: Ty, whole: Ty, origin: Origin },
    /// `base ** exponent : result`: as `Arith`, but reals have integer powers too.
    Pow { base: Ty, exponent: Ty, result: Ty, origin: Origin },
    /// `a @ b : result`
    Contraction { prim: ArrayPrim, a: Ty, b: Ty, result: Ty, origin: Origin },
    /// `max a : result`: a function of another number or array, or the largest element of an array,
    /// as the result has to be.
    Extremum { a: Ty, result: Ty, origin: Origin },
    /// `record.name : ty`
    Field { record: Ty, name: Rc<str>, ty: Ty, origin: Origin },
    /// `tuple.index : ty`
    Component { tuple: Ty, index: usize, ty: Ty, origin: Origin },
    /// Contains no function.
    FirstOrder { ty: Ty, origin: Origin },
    /// The point of a derivative. Numbers in it whose type nothing else decides are reals.
    Point { ty: Ty, origin: Origin },
    /// The derivative of a function `from -> to` as an array of cotangents.
    Jacobian { from: Ty, to: Ty, result: Ty, origin: Origin },
    /// The result of `accumulate`: `alone`, the accumulators, if `body` is a unit or an array of
    /// units, else `both`.
    Accumulated { body: Ty, alone: Ty, both: Ty, result: Ty, origin: Origin },
    /// A unit or an array of units.
    Units { ty: Ty, origin: Origin },
}

/// The operations that vectors have beside scalars and arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Of two vectors of one type.
    Sum,
    /// Of a scalar and a vector.
    Product,
    /// Of a vector and a scalar.
    Quotient,
    /// Of no vectors.
    Other,
}

impl Operation {
    /// The kind of its left operand, its right one and its result.
    pub fn kinds(self, bases: Bases) -> [UnknownKind; 3] {
        let (vectors, shaped) = (UnknownKind::vectors(bases), UnknownKind::shaped(bases));
        match self {
            Operation::Sum | Operation::Product => [vectors; 3],
            Operation::Quotient => [vectors, shaped, vectors],
            Operation::Other => [shaped; 3],
        }
    }
}

/// How the scalars of two operands become one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalars {
    /// They are of one type.
    Same,
    /// An int is converted if the other is a real.
    Joined,
    /// Both are converted to reals.
    Reals,
}

/// Reason why a constraint cannot hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ConstraintError {
    /// Types that should be equal.
    Clash(Clash),
    /// An int and a real.
    Mixed(ScalarTy, ScalarTy),
    /// Arrays of different rank.
    Ranks(Ty, Ty),
    /// A record without that field.
    NoField(Ty),
    /// No record.
    NotRecord(Ty),
    /// A tuple without that component.
    NoComponent(Ty),
    /// No tuple.
    NotTuple(Ty),
    /// A function inside.
    Function(Ty),
    /// Not a matrix or a vector.
    NotMatrix(Ty),
    /// Not a unit.
    NotUnits(Ty),
    /// Neither a real nor an array of reals.
    NotReals(Ty),
}

/// A constraint that cannot hold.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    pub constraint: Constraint,
    pub cause: ConstraintError,
}

impl Constraint {
    /// The source construct that added the constraint.
    pub fn origin(&self) -> &Origin {
        match self {
            Constraint::Arith { origin, .. }
            | Constraint::Serves { origin, .. }
            | Constraint::Base { origin, .. }
            | Constraint::Part { origin, .. }
            | Constraint::Pow { origin, .. }
            | Constraint::Contraction { origin, .. }
            | Constraint::Extremum { origin, .. }
            | Constraint::Field { origin, .. }
            | Constraint::Component { origin, .. }
            | Constraint::FirstOrder { origin, .. }
            | Constraint::Point { origin, .. }
            | Constraint::Jacobian { origin, .. }
            | Constraint::Accumulated { origin, .. }
            | Constraint::Units { origin, .. } => origin,
        }
    }

    /// The types that the constraint relates.
    pub fn types(&self) -> Vec<Ty> {
        match *self {
            Constraint::Arith { a, b, result, .. }
            | Constraint::Contraction { a, b, result, .. } => {
                vec![a, b, result]
            }
            Constraint::Extremum { a, result, .. } => vec![a, result],
            Constraint::Base { whole, scalar, .. } => vec![whole, scalar],
            Constraint::Part { part, whole, .. } => vec![part, whole],
            Constraint::Serves { from, to, .. } => vec![from, to],
            Constraint::Pow { base, exponent, result, .. } => vec![base, exponent, result],
            Constraint::Field { record, ty, .. } => vec![record, ty],
            Constraint::Component { tuple, ty, .. } => vec![tuple, ty],
            Constraint::FirstOrder { ty, .. }
            | Constraint::Point { ty, .. }
            | Constraint::Units { ty, .. } => vec![ty],
            Constraint::Jacobian { from, to, result, .. } => vec![from, to, result],
            Constraint::Accumulated { body, alone, both, result, .. } => {
                vec![body, alone, both, result]
            }
        }
    }

    /// The constraint for other types and another origin.
    pub fn map(
        &self,
        at: impl FnOnce(&Origin) -> Origin,
        mut of: impl FnMut(Ty) -> Ty,
    ) -> Constraint {
        let mut copy = self.clone();
        match &mut copy {
            Constraint::Arith { a, b, result, .. }
            | Constraint::Contraction { a, b, result, .. } => {
                [a, b, result].into_iter().for_each(|t| *t = of(*t))
            }
            Constraint::Extremum { a, result, .. } => {
                [a, result].into_iter().for_each(|t| *t = of(*t))
            }
            Constraint::Base { whole, scalar, .. } => {
                [whole, scalar].into_iter().for_each(|t| *t = of(*t))
            }
            Constraint::Part { part, whole, .. } => {
                [part, whole].into_iter().for_each(|t| *t = of(*t))
            }
            Constraint::Serves { from, to, .. } => [from, to].into_iter().for_each(|t| *t = of(*t)),
            Constraint::Pow { base, exponent, result, .. } => {
                [base, exponent, result].into_iter().for_each(|t| *t = of(*t))
            }
            Constraint::Field { record, ty, .. } => {
                [record, ty].into_iter().for_each(|t| *t = of(*t))
            }
            Constraint::Component { tuple, ty, .. } => {
                [tuple, ty].into_iter().for_each(|t| *t = of(*t))
            }
            Constraint::FirstOrder { ty, .. }
            | Constraint::Point { ty, .. }
            | Constraint::Units { ty, .. } => *ty = of(*ty),
            Constraint::Jacobian { from, to, result, .. } => {
                [from, to, result].into_iter().for_each(|t| *t = of(*t))
            }
            Constraint::Accumulated { body, alone, both, result, .. } => {
                [body, alone, both, result].into_iter().for_each(|t| *t = of(*t))
            }
        }
        *copy.origin_mut() = at(self.origin());
        copy
    }

    fn origin_mut(&mut self) -> &mut Origin {
        match self {
            Constraint::Arith { origin, .. }
            | Constraint::Serves { origin, .. }
            | Constraint::Base { origin, .. }
            | Constraint::Part { origin, .. }
            | Constraint::Pow { origin, .. }
            | Constraint::Contraction { origin, .. }
            | Constraint::Extremum { origin, .. }
            | Constraint::Field { origin, .. }
            | Constraint::Component { origin, .. }
            | Constraint::FirstOrder { origin, .. }
            | Constraint::Point { origin, .. }
            | Constraint::Jacobian { origin, .. }
            | Constraint::Accumulated { origin, .. }
            | Constraint::Units { origin, .. } => origin,
        }
    }

    /// Whether conversions of its scalars are still open; generalization decides them.
    pub fn may_convert(&self) -> bool {
        let open = |scalars: &Scalars| *scalars != Scalars::Same;
        matches!(self, Constraint::Serves { .. })
            || matches!(self, Constraint::Arith { scalars, .. } if open(scalars))
    }

    /// Whether the constraint must be decided in its definition: accesses to fields and components
    /// are not generalized.
    pub fn needs_annotation(&self) -> bool {
        matches!(self, Constraint::Field { .. } | Constraint::Component { .. })
    }
}

/// Result of one step on a constraint.
pub(super) enum Step {
    /// The constraint holds.
    Done,
    /// These types must become known first.
    Wait(Vec<Ty>),
    /// These constraints are equivalent to it.
    Become(Vec<Constraint>),
}

impl Solver {
    /// Number of constraints so far: the start of later ones.
    pub fn mark(&self) -> usize {
        self.constraints.len()
    }

    /// A constraint, if it is still pending.
    pub(super) fn pending(&self, id: usize) -> Option<Constraint> {
        self.constraints[id].clone()
    }

    /// Adds a constraint and makes progress on it.
    pub fn add(&mut self, constraint: Constraint) {
        self.push(constraint);
        self.settle();
    }

    fn push(&mut self, constraint: Constraint) {
        self.queue.push_back(self.constraints.len());
        self.constraints.push(Some(constraint));
        self.watched.push(Vec::new());
    }

    /// Makes a step on each constraint for which something has changed.
    pub fn settle(&mut self) {
        while let Some(id) = self.queue.pop_front() {
            self.replace_by(id, |solver, constraint| solver.step(constraint));
        }
    }

    /// Replaces a pending constraint by the result of a step.
    pub(super) fn replace_by(
        &mut self,
        id: usize,
        step: impl FnOnce(&mut Solver, &Constraint) -> Result<Step, ConstraintError>,
    ) {
        let Some(constraint) = self.constraints[id].take() else { return };
        match step(self, &constraint) {
            Ok(Step::Done) => {}
            Ok(Step::Wait(types)) => {
                types.into_iter().for_each(|ty| self.watch(id, ty));
                self.constraints[id] = Some(constraint);
            }
            Ok(Step::Become(others)) => others.into_iter().for_each(|c| self.push(c)),
            Err(cause) => self.fail(constraint, cause),
        }
    }

    /// Reports a failed constraint once: its result type becomes an error.
    fn fail(&mut self, constraint: Constraint, cause: ConstraintError) {
        let error = self.error();
        if let Some(result) = constraint.types().last().copied()
            && self.is_unknown(result)
        {
            let _ = self.equal(result, error);
        }
        self.failed.push(Failed { constraint, cause });
    }

    fn watch(&mut self, id: usize, ty: Ty) {
        let base = self.base(ty);
        if !self.is_unknown(base) || self.watched[id].iter().any(|old| self.root(*old) == base) {
            return;
        }
        self.watched[id].push(base);
        self.watchers.entry(base).or_default().push(id);
    }

    /// Whether a constraint waits for this unknown.
    pub fn is_waited_for(&self, unknown: Ty) -> bool {
        let mut pending = self.constraints.iter().flatten().flat_map(Constraint::types);
        pending.any(|ty| self.unknowns(ty).contains(&unknown))
    }

    /// The unknown records of pending accesses since `mark`, in order, each with its fields.
    pub fn unknown_records(&self, mark: usize) -> Vec<(Ty, Vec<Rc<str>>)> {
        let mut records: Vec<(Ty, Vec<Rc<str>>)> = Vec::new();
        for constraint in self.constraints[mark..].iter().flatten() {
            let Constraint::Field { record, name, .. } = constraint else { continue };
            let root = self.root(*record);
            match records.iter_mut().find(|(known, _)| *known == root) {
                Some((_, names)) => names.push(name.clone()),
                None => records.push((root, vec![name.clone()])),
            }
        }
        records
    }

    /// Removes and returns the pending constraints since `from` that are `wanted`.
    pub(super) fn take_pending(
        &mut self,
        from: usize,
        wanted: impl Fn(&Solver, &Constraint) -> bool,
    ) -> Vec<Constraint> {
        let ids = (from..self.constraints.len())
            .filter(|id| self.constraints[*id].as_ref().is_some_and(|c| wanted(self, c)));
        let ids: Vec<usize> = ids.collect();
        ids.into_iter().filter_map(|id| self.constraints[id].take()).collect()
    }

    /// Drops all constraints since `from`.
    pub fn forget_pending(&mut self, from: usize) {
        self.take_pending(from, |_, _| true);
    }

    /// The kind of the scalar inside of all arrays of a type.
    pub(super) fn base_kind(&self, ty: Ty) -> UnknownKind {
        match self.get(self.base(ty)) {
            Node::Unknown(unknown) => unknown.kind,
            Node::Scalar(scalar) => UnknownKind::scalar(Bases::of(*scalar)),
            _ => UnknownKind::Any,
        }
    }
}
