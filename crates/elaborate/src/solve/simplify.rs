//! Simplification of constraints before generalization: it drops constraints that others imply, and
//! merges unknowns that are equal in all solutions. Without it, the scheme of a definition would
//! repeat the constraints of all definitions that it calls.
//!
//! *Assumes* that all constraints that can be solved are solved.
//! *Gives* fewer constraints with the same solutions.
//!
//! - `a ⊕ b : r` means that `r` is the join of `a` and `b`, in the order in which a scalar is below
//!   the arrays of it and two different shapes have no upper bound. Joins are associative,
//!   commutative and idempotent: results that are joins of the same unknowns are equal.
//! - The other constraints determine their last type, if any, from the others: two that agree in
//!   these agree in all.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::Solver;
use super::constraint::{Constraint, Operation};
use super::ty::{Bases, Node, Ty, UnknownKind};

/// Limit on the unknowns of a join; larger joins are not compared.
const MOST_JOINED: usize = 32;

/// Identity of a constraint other than a join: its kind and its determining types.
type Key = (u8, Vec<Ty>, Option<Rc<str>>);

/// The joins among some constraints.
#[derive(Default)]
struct Joins {
    /// For each result the first constraint that defines it, and its operands.
    definitions: HashMap<Ty, (usize, [Ty; 2])>,
    /// The operands of the join of each unknown, transitively.
    parts: HashMap<Ty, Rc<[Ty]>>,
    /// The unknowns whose parts are being computed.
    open: HashSet<Ty>,
    /// For each set of parts, the first unknown that is their join.
    first: HashMap<Rc<[Ty]>, Ty>,
    /// Redundant constraints, each with an equation that replaces it.
    implied: Vec<(usize, Ty, Ty)>,
}

impl Solver {
    /// Simplifies the open constraints since `mark` that are `wanted`.
    pub(super) fn simplify(&mut self, mark: usize, wanted: impl Fn(&Solver, &Constraint) -> bool) {
        loop {
            self.settle();
            let open: Vec<usize> = (mark..self.constraints.len())
                .filter(|id| self.constraints[*id].as_ref().is_some_and(|c| wanted(self, c)))
                .collect();
            self.exclude_vectors(&open);
            let joins = self.implied_joins(&open);
            let restricting = self.restricting(&open, &joins);
            let by_key = self.implied_by_key(&open);
            let mut merged = false;
            for (id, a, b) in joins.into_iter().chain(by_key) {
                let (a, b) = (self.root(a), self.root(b));
                if a != b && !self.may_merge(a, b) {
                    continue;
                }
                if !restricting.contains(&id) {
                    self.constraints[id] = None;
                }
                merged |= a != b;
                let same = self.equal(a, b);
                debug_assert!(same.is_ok(), "joins of the same have the same kind");
            }
            if !merged {
                return;
            }
        }
    }

    /// Narrows the unknowns that no vector with parts can be, by all operations on them together.
    fn exclude_vectors(&mut self, open: &[usize]) {
        let mut vectors = self.vectors(open.iter().copied());
        let operations = open.iter().filter_map(|id| self.operation(*id));
        let types: Vec<Ty> = operations.flat_map(|(_, types)| types).collect();
        for ty in types {
            if vectors.is_excluded(ty) && self.may_have_parts(ty) {
                let narrowed = self.restrict(ty, UnknownKind::shaped(Bases::ALL), None);
                debug_assert!(narrowed.is_ok(), "an unknown may be an array");
            }
        }
    }

    /// The operations whose results others imply, but which exclude vectors that the others admit:
    /// vectors have sums, and products with scalars, but not both.
    fn restricting(&self, open: &[usize], implied: &[(usize, Ty, Ty)]) -> HashSet<usize> {
        let implied: Vec<usize> = implied.iter().map(|(id, ..)| *id).collect();
        let without: HashSet<usize> = implied.iter().copied().collect();
        let others = open.iter().copied().filter(|id| !without.contains(id));
        let mut vectors = self.vectors(others);
        let mut says_more =
            |id: &usize| self.operation(*id).is_some_and(|(op, types)| vectors.step(op, types));
        implied.into_iter().filter(|id| says_more(id)).collect()
    }

    /// The unknowns that operations, taken together, let be vectors.
    fn vectors(&self, operations: impl Iterator<Item = usize>) -> Vectors {
        let operations: Vec<(Operation, [Ty; 3])> =
            operations.filter_map(|id| self.operation(id)).collect();
        let mut vectors = Vectors::default();
        for ty in operations.iter().flat_map(|(_, types)| types) {
            if !self.may_have_parts(*ty) {
                vectors.exclude(*ty);
            }
        }
        while operations.iter().fold(false, |news, (op, types)| vectors.step(*op, *types) || news) {
        }
        vectors
    }

    fn operation(&self, id: usize) -> Option<(Operation, [Ty; 3])> {
        match &self.constraints[id] {
            Some(Constraint::Arith { op, a, b, result, .. }) => {
                Some((*op, [*a, *b, *result].map(|ty| self.base(ty))))
            }
            _ => None,
        }
    }

    /// Whether both are unknowns that may be merged.
    fn may_merge(&self, a: Ty, b: Ty) -> bool {
        match (self.get(a), self.get(b)) {
            (Node::Unknown(x), Node::Unknown(y)) => {
                (x.rigid.is_none() || y.rigid.is_none()) && x.kind.meet(y.kind).is_some()
            }
            _ => false,
        }
    }

    fn implied_joins(&self, open: &[usize]) -> Vec<(usize, Ty, Ty)> {
        let mut joins = Joins::default();
        let mut more = Vec::new();
        let mut results = Vec::new();
        for id in open {
            let Some(Constraint::Arith { a, b, result, .. }) = &self.constraints[*id] else {
                continue;
            };
            let [a, b, result] = [*a, *b, *result].map(|ty| self.root(ty));
            if [a, b, result].into_iter().any(|ty| !self.is_unknown(ty)) {
                continue;
            }
            if result == a || result == b {
                // It compares its result with the other operand, and defines nothing.
                more.push((*id, [a, b], result));
                continue;
            }
            match joins.definitions.entry(result) {
                Entry::Occupied(_) => more.push((*id, [a, b], result)),
                Entry::Vacant(free) => {
                    free.insert((*id, [a, b]));
                    results.push(result);
                }
            }
        }
        for result in results {
            joins.parts(result);
        }
        for (id, [a, b], result) in more {
            let (a, b, whole) = (joins.parts(a), joins.parts(b), joins.parts(result));
            if union(&a, &b).is_some_and(|parts| parts == whole) {
                joins.implied.push((id, result, result));
            }
        }
        joins.implied
    }

    fn implied_by_key(&self, open: &[usize]) -> Vec<(usize, Ty, Ty)> {
        let mut first: BTreeMap<Key, Ty> = BTreeMap::new();
        let mut implied = Vec::new();
        for id in open {
            let Some((key, rest)) = self.constraints[*id].as_ref().and_then(|c| self.key(c)) else {
                continue;
            };
            match first.get(&key) {
                Some(known) => implied.push((*id, *known, rest)),
                None => {
                    first.insert(key, rest);
                }
            }
        }
        implied
    }

    /// The determining types of a constraint, and the type that they determine (any of its types,
    /// if it determines none).
    fn key(&self, constraint: &Constraint) -> Option<(Key, Ty)> {
        let roots = |types: &[Ty]| types.iter().map(|ty| self.root(*ty)).collect::<Vec<Ty>>();
        let (kind, types, name, rest) = match constraint {
            Constraint::Arith { op, a, b, result, .. } => {
                (11 + *op as u8, roots(&[*a, *b]), None, *result)
            }
            Constraint::Base { whole, scalar, .. } => (0, vec![self.base(*whole)], None, *scalar),
            Constraint::Part { part, whole, .. } => (1, roots(&[*part, *whole]), None, *whole),
            Constraint::Pow { base, exponent, result, .. } => {
                (2, roots(&[*base, *exponent]), None, *result)
            }
            Constraint::Contraction { prim, a, b, result, .. } => {
                (3, roots(&[*a, *b]), Some(prim.name().into()), *result)
            }
            Constraint::Extremum { a, result, .. } => (15, roots(&[*a]), None, *result),
            Constraint::Field { record, name, ty, .. } => {
                (4, roots(&[*record]), Some(name.clone()), *ty)
            }
            Constraint::Component { tuple, index, ty, .. } => {
                (5, roots(&[*tuple]), Some(index.to_string().into()), *ty)
            }
            Constraint::FirstOrder { ty, .. } => (6, roots(&[*ty]), None, *ty),
            Constraint::Jacobian { from, to, result, .. } => {
                (7, roots(&[*from, *to]), None, *result)
            }
            Constraint::Accumulated { body, alone, both, result, .. } => {
                (8, roots(&[*body, *alone, *both]), None, *result)
            }
            Constraint::Units { ty, .. } => (9, roots(&[*ty]), None, *ty),
            Constraint::Point { ty, .. } => (11, roots(&[*ty]), None, *ty),
            Constraint::Serves { from, to, .. } => (10, roots(&[*from, *to]), None, *to),
        };
        Some(((kind, types, name), rest))
    }
}

/// The unknowns that are vectors with parts together, or not at all.
#[derive(Default)]
struct Vectors {
    /// Another unknown of the same class.
    class: HashMap<Ty, Ty>,
    /// The classes that are no vectors.
    excluded: HashSet<Ty>,
}

impl Vectors {
    fn class(&mut self, ty: Ty) -> Ty {
        let mut class = ty;
        while let Some(next) = self.class.get(&class) {
            class = *next;
        }
        let mut at = ty;
        while at != class {
            let next = self.class.insert(at, class);
            at = next.unwrap_or(class);
        }
        class
    }

    fn is_excluded(&mut self, ty: Ty) -> bool {
        let class = self.class(ty);
        self.excluded.contains(&class)
    }

    fn exclude(&mut self, ty: Ty) -> bool {
        let class = self.class(ty);
        self.excluded.insert(class)
    }

    fn join(&mut self, a: Ty, b: Ty) -> bool {
        let (a, b) = (self.class(a), self.class(b));
        let (no_a, no_b) = (self.excluded.contains(&a), self.excluded.contains(&b));
        if a == b || no_a && no_b {
            return false;
        }
        if no_a {
            self.excluded.insert(b);
        }
        self.class.insert(a, b);
        true
    }

    /// Adds an operation; returns whether it excludes or joins anything new.
    fn step(&mut self, op: Operation, [a, b, result]: [Ty; 3]) -> bool {
        match op {
            Operation::Sum => self.join(a, b) | self.join(b, result),
            Operation::Quotient => self.exclude(b) | self.join(a, result),
            Operation::Other => self.exclude(a) | self.exclude(b) | self.exclude(result),
            Operation::Product => {
                let [x, y, whole] = [a, b, result].map(|ty| self.class(ty));
                let (no_x, no_y) = (self.is_excluded(a), self.is_excluded(b));
                if x == y || self.is_excluded(result) {
                    self.exclude(a) | self.exclude(b) | self.exclude(result)
                } else if x == whole {
                    self.exclude(b)
                } else if y == whole {
                    self.exclude(a)
                } else if no_x {
                    self.join(b, result)
                } else {
                    no_y && self.join(a, result)
                }
            }
        }
    }
}

impl Joins {
    /// The unknowns whose join an unknown is, in order; itself, if no constraint defines it.
    /// Definitions are examined after those of their operands, so no constraint is used to imply
    /// itself.
    fn parts(&mut self, ty: Ty) -> Rc<[Ty]> {
        if let Some(parts) = self.parts.get(&ty) {
            return parts.clone();
        }
        let alone: Rc<[Ty]> = Rc::new([ty]);
        let Some((id, [a, b])) = self.definitions.get(&ty).copied() else { return alone };
        if !self.open.insert(ty) {
            return alone;
        }
        let (left, right) = (self.parts(a), self.parts(b));
        self.open.remove(&ty);
        let parts = match union(&left, &right) {
            None => alone,
            Some(parts) => {
                let known = if let [single] = *parts { Some(single) } else { None };
                match known.or_else(|| self.first.get(&parts).copied()) {
                    Some(known) => self.implied.push((id, known, ty)),
                    None => {
                        self.first.insert(parts.clone(), ty);
                    }
                }
                parts
            }
        };
        self.parts.insert(ty, parts.clone());
        parts
    }
}

/// The union of both, unless it exceeds the limit.
fn union(a: &[Ty], b: &[Ty]) -> Option<Rc<[Ty]>> {
    let mut all: Vec<Ty> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    (all.len() <= MOST_JOINED).then(|| all.into())
}
