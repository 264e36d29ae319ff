//! An int serves as a real: conversions between scalars of values of one shape.
//!
//! A type that is not known yet may turn out to be an int or a real, so the constraints of this
//! module wait longer than others. When a definition is generalized, those that still wait are
//! decided: an int that nothing wants as a real stays an int, a number that some use wants as a
//! real is a real, and other operands are of one type. A scheme keeps only ints
//! that serve as a number whose type the caller chooses: they decide for literals.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_prim::ScalarTy;

use super::Solver;
use super::constraint::{Constraint, ConstraintError, Operation, Scalars, Step};
use super::step::Result;
use super::ty::{Bases, Node, Origin, Ty, UnknownKind};
use super::unify::Clash;

/// Limit on the axes of an array whose shape a conversion determines. Types of one shape that
/// contain each other would grow without end.
const MOST_AXES: usize = 32;

/// The order of decisions at the end of a definition.
const DECISIONS: [Decision; 4] =
    [Decision::Points, Decision::Ints, Decision::Reals, Decision::Rest];

/// A kind of conversions that generalization decides together.
#[derive(Clone, Copy, PartialEq)]
enum Decision {
    /// A number that a derivative is taken by is a real: the derivative by an int is zero.
    Points,
    /// A number that an int serves as is an int, unless the caller chooses its type.
    Ints,
    /// A number that a use wants as a real is a real.
    Reals,
    /// Operands have one type.
    Rest,
}

impl Solver {
    /// One step of [`Constraint::Serves`].
    pub(super) fn serves(&mut self, from: Ty, to: Ty, depth: usize, origin: &Origin) -> Result {
        if self.root(from) == self.root(to) {
            return Ok(Step::Done);
        }
        if self.any_error(&[from, to]) {
            return self.same(from, to);
        }
        if depth > MOST_AXES {
            return Err(Clash::Infinite.into());
        }
        match (self.get(from).clone(), self.get(to).clone()) {
            (Node::Array(m, x), Node::Array(n, y)) => {
                self.equal_sizes(&m, &n)?;
                Ok(become_serves(x, y, depth, origin))
            }
            (Node::Array(size, x), Node::Unknown(_)) => {
                let y = self.fresh();
                let array = self.array(size, y);
                self.equal(to, array)?;
                Ok(become_serves(x, y, depth, origin))
            }
            (Node::Unknown(_), Node::Array(size, y)) => {
                let x = self.fresh();
                let array = self.array(size, x);
                self.equal(from, array)?;
                Ok(become_serves(x, y, depth, origin))
            }
            (Node::Tuple(xs), Node::Tuple(ys)) if xs.len() == ys.len() => {
                self.parts_serve(xs.iter().zip(ys.iter()), depth, origin)
            }
            (Node::Record(xs), Node::Record(ys)) if same_fields(&xs, &ys) => {
                let pairs = xs.iter().zip(ys.iter()).map(|((_, x), (_, y))| (x, y));
                self.parts_serve(pairs, depth, origin)
            }
            _ if self.is_scalar(from) || self.is_scalar(to) => self.scalar_serves(from, to, origin),
            (Node::Unknown(_), Node::Unknown(_)) => {
                let numbers = UnknownKind::vectors(Bases::NUM);
                self.restrict(from, numbers, Some(origin.clone()))?;
                self.restrict(to, numbers, Some(origin.clone()))?;
                Ok(Step::Wait(vec![from, to]))
            }
            _ => self.same(from, to),
        }
    }

    /// Parts whose scalars are reals are converted, others have equal types.
    fn parts_serve<'t>(
        &mut self,
        parts: impl Iterator<Item = (&'t Ty, &'t Ty)>,
        depth: usize,
        origin: &Origin,
    ) -> Result {
        let mut serving = Vec::new();
        for (x, y) in parts {
            if self.may_serve(*x, *y) {
                let (from, to, origin) = (*x, *y, origin.clone());
                serving.push(Constraint::Serves { from, to, depth: depth + 1, origin });
            } else {
                self.equal(*x, *y)?;
            }
        }
        Ok(Step::Become(serving))
    }

    /// Whether ints in one type may serve as reals in the other, in arrays and in parts too.
    pub fn may_serve(&self, from: Ty, to: Ty) -> bool {
        let (from, to) = (self.base(from), self.base(to));
        match (self.get(from), self.get(to)) {
            (Node::Tuple(xs), Node::Tuple(ys)) if xs.len() == ys.len() => {
                xs.iter().zip(ys.iter()).any(|(x, y)| self.may_serve(*x, *y))
            }
            (Node::Record(xs), Node::Record(ys)) if same_fields(xs, ys) => {
                xs.iter().zip(ys.iter()).any(|((_, x), (_, y))| self.may_serve(*x, *y))
            }
            (given, wanted) => {
                let known = |node: &Node| match node {
                    Node::Unknown(unknown) => unknown.rigid.is_none(),
                    node => matches!(node, Node::Scalar(_)),
                };
                let int = match given {
                    Node::Scalar(scalar) => *scalar == ScalarTy::Int,
                    _ => !self.only_real(from),
                };
                known(given) && known(wanted) && int && self.only_real(to)
            }
        }
    }

    fn scalar_serves(&mut self, from: Ty, to: Ty, origin: &Origin) -> Result {
        let other = |ty: Ty| !matches!(self.get(ty), Node::Unknown(_) | Node::Scalar(_));
        if other(from) || other(to) {
            return self.same(from, to);
        }
        self.restrict(from, UnknownKind::NUMBER, Some(origin.clone()))?;
        self.restrict(to, UnknownKind::NUMBER, Some(origin.clone()))?;
        match (self.as_scalar(from), self.as_scalar(to)) {
            (Some(ScalarTy::Int), Some(ScalarTy::Real)) => Ok(Step::Done),
            (Some(ScalarTy::Int), None) => Ok(Step::Wait(vec![to])),
            (None, Some(ScalarTy::Real)) => Ok(Step::Wait(vec![from])),
            (None, None) => Ok(Step::Wait(vec![from, to])),
            (Some(_), _) | (_, Some(_)) => self.same(from, to),
        }
    }

    /// One step of an operation that may convert its operands.
    pub(super) fn converting_arith(
        &mut self,
        (op, scalars): (Operation, Scalars),
        [a, b]: [Ty; 2],
        result: Ty,
        origin: &Origin,
    ) -> Result {
        if self.any_error(&[a, b]) {
            let error = self.error();
            return self.same(result, error);
        }
        for (ty, kind) in [a, b, result].into_iter().zip(op.kinds(Bases::NUM)) {
            self.restrict(ty, kind, Some(origin.clone()))?;
        }
        if self.has_parts(result) || [a, b].into_iter().any(|ty| self.has_parts(ty)) {
            return self.converting_product(op, [a, b], result, origin);
        }
        let known = [a, b].map(|ty| self.as_scalar(self.base(ty)));
        if scalars == Scalars::Reals || known.contains(&Some(ScalarTy::Real)) {
            return self.real_arith(op, [a, b], result, origin);
        }
        let same = |a: Ty, b: Ty| arith(op, [a, b], result, origin);
        let constraints = match known {
            [Some(_), Some(_)] => vec![same(a, b)],
            [Some(_), None] => {
                let (a, serves) = self.with_scalar_of(a, b, origin);
                vec![same(a, b), serves]
            }
            [None, Some(_)] => {
                let (b, serves) = self.with_scalar_of(b, a, origin);
                vec![same(a, b), serves]
            }
            [None, None] => {
                let int = self.as_scalar(self.base(result)) == Some(ScalarTy::Int);
                if !int && self.root(a) != self.root(b) {
                    return Ok(Step::Wait(vec![a, b, result]));
                }
                vec![same(a, b)]
            }
        };
        Ok(Step::Become(constraints))
    }

    /// The type of an int operand after its conversion to the scalar of the other operand, and the
    /// conversion.
    fn with_scalar_of(&mut self, int: Ty, other: Ty, origin: &Origin) -> (Ty, Constraint) {
        let base = self.base(other);
        let to = if self.is_scalar(base) { base } else { self.unknown(UnknownKind::NUMBER, None) };
        let from = self.base(int);
        (self.rebase(int, to), Constraint::Serves { from, to, depth: 0, origin: origin.clone() })
    }

    /// An operation on vectors; an int as the scalar of a product or a quotient is converted.
    fn converting_product(
        &mut self,
        op: Operation,
        operands: [Ty; 2],
        result: Ty,
        origin: &Origin,
    ) -> Result {
        let mut constraints = Vec::new();
        let operands = operands.map(|ty| {
            if op == Operation::Sum || !self.is_scalar(ty) {
                return ty;
            }
            let to = self.real();
            constraints.push(Constraint::Serves { from: ty, to, depth: 0, origin: origin.clone() });
            to
        });
        constraints.push(arith(op, operands, result, origin));
        Ok(Step::Become(constraints))
    }

    /// An operation on reals: operands are converted as soon as their shapes are known.
    fn real_arith(
        &mut self,
        op: Operation,
        operands: [Ty; 2],
        result: Ty,
        origin: &Origin,
    ) -> Result {
        self.restrict(result, UnknownKind::vectors(Bases::REAL), Some(origin.clone()))?;
        if self.is_scalar(result) {
            for ty in operands {
                self.restrict(ty, UnknownKind::NUMBER, Some(origin.clone()))?;
            }
        }
        let mut constraints = Vec::new();
        let converted = operands.map(|ty| {
            let base = self.base(ty);
            if !self.is_scalar(base) {
                return None;
            }
            let real = self.real();
            if self.as_scalar(base) == Some(ScalarTy::Real) {
                return Some(ty);
            }
            let to = self.rebase(ty, real);
            constraints.push(Constraint::Serves {
                from: base,
                to: real,
                depth: 0,
                origin: origin.clone(),
            });
            Some(to)
        });
        match converted {
            [Some(a), Some(b)] => constraints.push(arith(op, [a, b], result, origin)),
            [Some(known), None] | [None, Some(known)] if self.rank(known) == 0 => {
                let open = if converted[0].is_none() { operands[0] } else { operands[1] };
                self.beside_scalar(op, open, &origin.clone())?;
                let origin = origin.clone();
                constraints.push(Constraint::Serves { from: open, to: result, depth: 0, origin });
            }
            [Some(known), None] | [None, Some(known)] => {
                self.equal(result, known)?;
                return Ok(Step::Wait(operands.to_vec()));
            }
            [None, None] => return Ok(Step::Wait([&operands[..], &[result]].concat())),
        }
        Ok(Step::Become(constraints))
    }

    /// Decides the conversions since `mark` that are `wanted` and still open, before the functions
    /// of these types are generalized.
    pub(super) fn decide_conversions(
        &mut self,
        functions: &[Ty],
        mark: usize,
        wanted: impl Fn(&Solver, &Constraint) -> bool,
    ) {
        self.settle();
        for decision in DECISIONS {
            let chosen = self.chosen_by_callers(functions, mark);
            let mut at = mark;
            while at < self.mark() {
                let open = self.pending(at).filter(|c| wanted(self, c));
                if let Some(constraint) = open
                    && self.decides(decision, &constraint)
                {
                    self.decide_conversion(at, constraint, &chosen);
                    self.settle();
                }
                at += 1;
            }
        }
    }

    /// The unknown scalars that callers choose: those inside of parameters, and those of operations
    /// on them.
    fn chosen_by_callers(&self, functions: &[Ty], mark: usize) -> HashSet<Ty> {
        let mut chosen: HashSet<Ty> = HashSet::new();
        for function in functions {
            let mut at = *function;
            while let Node::Fun(from, to) = *self.get(at) {
                chosen.extend(self.unknowns(from));
                at = to;
            }
        }
        let mut related: HashMap<Ty, Vec<Ty>> = HashMap::new();
        for constraint in (mark..self.mark()).filter_map(|id| self.pending(id)) {
            let types = match constraint {
                Constraint::Arith { a, b, result, .. } => vec![a, b, result],
                Constraint::Pow { base, result, .. } => vec![base, result],
                Constraint::Base { whole, scalar, .. } => vec![whole, scalar],
                Constraint::Part { part, whole, .. } => vec![part, whole],
                _ => continue,
            };
            let bases: Vec<Ty> = types.into_iter().map(|ty| self.base(ty)).collect();
            for base in &bases {
                related.entry(*base).or_default().extend(&bases);
            }
        }
        let mut next: Vec<Ty> = chosen.iter().copied().collect();
        while let Some(ty) = next.pop() {
            let more = related.remove(&ty).unwrap_or_default();
            next.extend(more.into_iter().filter(|other| chosen.insert(*other)));
        }
        chosen
    }

    fn decides(&self, decision: Decision, constraint: &Constraint) -> bool {
        let is = |ty: Ty, scalar| self.as_scalar(self.base(ty)) == Some(scalar);
        let of = match constraint {
            Constraint::Point { .. } => Decision::Points,
            Constraint::Serves { from, .. } if is(*from, ScalarTy::Int) => Decision::Ints,
            Constraint::Serves { to, .. } if self.only_real(*to) => Decision::Reals,
            Constraint::Arith { scalars: Scalars::Reals, .. } => Decision::Reals,
            Constraint::Arith { scalars: Scalars::Joined, a, b, .. }
                if is(*a, ScalarTy::Real) || is(*b, ScalarTy::Real) =>
            {
                Decision::Reals
            }
            Constraint::Pow { base, exponent, .. } => {
                let open = self.as_scalar(self.base(*exponent)).is_none();
                return decision == Decision::Ints && is(*base, ScalarTy::Int) && open;
            }
            constraint if constraint.may_convert() => Decision::Rest,
            _ => return false,
        };
        of == decision
    }

    /// Whether all scalars inside of the type are certainly reals.
    pub fn only_real(&self, ty: Ty) -> bool {
        match self.base_kind(ty) {
            UnknownKind::Data { bases, .. } => bases == Bases::REAL,
            UnknownKind::Any => false,
        }
    }

    /// One step of [`Constraint::Point`].
    pub(super) fn point(&self, ty: Ty) -> Step {
        let open =
            self.unknowns(ty).into_iter().filter(|ty| self.base_kind(*ty) == UnknownKind::Any);
        let open: Vec<Ty> = open.chain(self.open_numbers(ty)).collect();
        if open.is_empty() { Step::Done } else { Step::Wait(open) }
    }

    /// The unknowns in a type that may be ints or reals.
    fn open_numbers(&self, ty: Ty) -> Vec<Ty> {
        let numbers = |ty: &Ty| match self.base_kind(*ty) {
            UnknownKind::Data { bases, .. } => bases == Bases::NUM,
            UnknownKind::Any => false,
        };
        self.unknowns(ty).into_iter().filter(numbers).collect()
    }

    /// Replaces an open conversion by an equation. One between a value from outside and a type of
    /// this definition stays open, and its types belong to the outside.
    fn decide_conversion(&mut self, id: usize, constraint: Constraint, chosen: &HashSet<Ty>) {
        let outside = |solver: &Solver, ty: Ty| {
            let base = solver.base(ty);
            solver.is_unknown(base) && solver.deepest(base) <= solver.level
        };
        match constraint {
            Constraint::Serves { from, to, .. } if outside(self, from) => self.raise(to),
            Constraint::Serves { from, to, .. }
                if self.as_scalar(from) == Some(ScalarTy::Int)
                    && chosen.contains(&self.root(to)) => {}
            Constraint::Serves { from, to, .. } => {
                self.replace_by(id, |solver, _| solver.same(to, from));
            }
            Constraint::Arith { op, scalars, a, b, result, ref origin } => {
                let reals = scalars == Scalars::Reals || self.only_real(a) || self.only_real(b);
                let kept = [a, b].map(|ty| outside(self, ty));
                self.replace_by(id, |solver, _| {
                    let mut more = Vec::new();
                    let mut operands = [a, b];
                    for (ty, kept) in operands.iter_mut().zip(kept).filter(|_| reals) {
                        *ty = solver.real_operand(*ty, kept, origin, &mut more)?;
                    }
                    more.push(arith(op, operands, result, origin));
                    Ok(Step::Become(more))
                });
            }
            Constraint::Point { ty, ref origin } => {
                for number in self.open_numbers(ty) {
                    let UnknownKind::Data { shapes, .. } = self.base_kind(number) else { continue };
                    if !outside(self, number) {
                        let reals = UnknownKind::Data { bases: Bases::REAL, shapes };
                        let _ = self.restrict(number, reals, Some(origin.clone()));
                    }
                }
            }
            Constraint::Pow { exponent, ref origin, .. } => {
                let kind = UnknownKind::shaped(Bases::of(ScalarTy::Int));
                if let Err(clash) = self.restrict(exponent, kind, Some(origin.clone())) {
                    self.replace_by(id, |_, _| Err(ConstraintError::Clash(clash)));
                }
            }
            _ => {}
        }
    }

    /// The type of an operand of an operation on reals. One that is `kept` stays unknown, and
    /// serves as the operand.
    fn real_operand(
        &mut self,
        ty: Ty,
        kept: bool,
        origin: &Origin,
        more: &mut Vec<Constraint>,
    ) -> std::result::Result<Ty, ConstraintError> {
        let reals = UnknownKind::vectors(Bases::REAL);
        if self.as_scalar(self.base(ty)) == Some(ScalarTy::Int) {
            let real = self.real();
            return Ok(self.rebase(ty, real));
        }
        if kept {
            let to = self.unknown(reals, Some(origin.clone()));
            self.raise(to);
            more.push(Constraint::Serves { from: ty, to, depth: 0, origin: origin.clone() });
            return Ok(to);
        }
        self.restrict(ty, reals, Some(origin.clone()))?;
        Ok(ty)
    }
}

fn same_fields(xs: &[(Rc<str>, Ty)], ys: &[(Rc<str>, Ty)]) -> bool {
    xs.len() == ys.len() && xs.iter().zip(ys).all(|((x, _), (y, _))| x == y)
}

fn arith(op: Operation, [a, b]: [Ty; 2], result: Ty, origin: &Origin) -> Constraint {
    Constraint::Arith { op, scalars: Scalars::Same, a, b, result, origin: origin.clone() }
}

fn become_serves(from: Ty, to: Ty, depth: usize, origin: &Origin) -> Step {
    Step::Become(vec![Constraint::Serves { from, to, depth: depth + 1, origin: origin.clone() }])
}
