//! Equations between types, and kinds of unknowns.

use std::rc::Rc;

use lambada_source::Span;

use super::Solver;
use super::size::Answer;
use super::size::Poly;
use super::ty::{Bases, GENERIC, Node, Origin, Shapes, Ty, Unknown, UnknownKind};

/// Reason why two types cannot be equal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Clash {
    /// Different type formers: these two, somewhere inside.
    Types(Ty, Ty),
    /// The type would contain itself.
    Infinite,
    /// A type outside of the required kind.
    Kind(Ty, UnknownKind, Option<Origin>),
    /// Sizes that differ.
    Sizes(Box<[Poly; 2]>),
    /// Two size variables of one signature.
    Named(Rc<str>, Rc<str>),
    /// A type variable of a signature would have to be this type.
    Rigid(Rc<str>, Ty),
}

impl Solver {
    /// Makes two types equal, and updates the constraints that wait for them.
    pub fn unify(&mut self, a: Ty, b: Ty) -> Result<(), Clash> {
        let result = self.equal(a, b);
        self.settle();
        result
    }

    /// Makes two types equal.
    pub(super) fn equal(&mut self, a: Ty, b: Ty) -> Result<(), Clash> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return Ok(());
        }
        let (left, right) = (self.nodes[a.0 as usize].clone(), self.nodes[b.0 as usize].clone());
        match (left, right) {
            (Node::Error, _) | (_, Node::Error) => Ok(()),
            (Node::Unknown(x), Node::Unknown(y)) => self.merge(a, x, b, y),
            (Node::Unknown(x), _) => self.bind(a, x, b),
            (_, Node::Unknown(y)) => self.bind(b, y, a),
            (Node::Scalar(x), Node::Scalar(y)) if x == y => Ok(()),
            (Node::Tuple(xs), Node::Tuple(ys)) if xs.len() == ys.len() => {
                self.all_equal(xs.iter().copied().zip(ys.iter().copied()))
            }
            (Node::Record(xs), Node::Record(ys)) if same_fields(&xs, &ys) => {
                self.all_equal(xs.iter().map(|f| f.1).zip(ys.iter().map(|f| f.1)))
            }
            (Node::Variant(x, xs), Node::Variant(y, ys)) if x == y => {
                self.all_equal(xs.iter().copied().zip(ys.iter().copied()))
            }
            (Node::Array(m, x), Node::Array(n, y)) => {
                let elements = self.equal(x, y);
                let sizes = self.equal_sizes(&m, &n);
                elements.and(sizes)
            }
            (Node::Fun(x, y), Node::Fun(z, w)) => self.all_equal([(x, z), (y, w)].into_iter()),
            _ => Err(Clash::Types(a, b)),
        }
    }

    /// Makes two type variables of signatures one.
    pub fn identify(&mut self, a: Ty, b: Ty) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.set(a, Node::Link(b));
        }
    }

    /// Unifies all pairs, even after a failure; returns the first failure.
    fn all_equal(&mut self, pairs: impl Iterator<Item = (Ty, Ty)>) -> Result<(), Clash> {
        let mut result = Ok(());
        for (x, y) in pairs {
            let this = self.equal(x, y);
            result = result.and(this);
        }
        result
    }

    /// Makes two sizes equal; records an undecidable equation.
    pub fn equal_sizes(&mut self, a: &Poly, b: &Poly) -> Result<(), Clash> {
        match self.sizes.equate(a, b) {
            Answer::Holds => Ok(()),
            Answer::Differs => Err(Clash::Sizes([a, b].map(Poly::clone).into())),
            Answer::Clash(x, y) => Err(Clash::Named(x, y)),
            Answer::Undecided => {
                self.undecided.push((a.clone(), b.clone(), self.here));
                Ok(())
            }
        }
    }

    fn merge(&mut self, a: Ty, x: Unknown, b: Ty, y: Unknown) -> Result<(), Clash> {
        if let (Some(name), Some(_)) = (&x.rigid, &y.rigid) {
            return Err(Clash::Rigid(name.clone(), b));
        }
        let Some(kind) = x.kind.meet(y.kind) else { return Err(Clash::Kind(b, x.kind, x.origin)) };
        let (keep, gone, kept) = if x.rigid.is_some() { (a, b, &x) } else { (b, a, &y) };
        let origin = if y.kind == kind {
            y.origin.clone().or(x.origin.clone())
        } else {
            x.origin.clone().or(y.origin.clone())
        };
        let unknown =
            Unknown { level: x.level.min(y.level), kind, rigid: kept.rigid.clone(), origin };
        self.join_watchers((a, x.kind != kind), (b, y.kind != kind), keep);
        self.set(keep, Node::Unknown(unknown));
        self.set(gone, Node::Link(keep));
        self.decide(keep)
    }

    /// Merges the watchers of two unknowns, and wakes the constraints that may mention both or
    /// whose unknown gets a narrower kind.
    fn join_watchers(&mut self, a: (Ty, bool), b: (Ty, bool), keep: Ty) {
        let lists = (
            self.watchers.remove(&a.0).unwrap_or_default(),
            self.watchers.remove(&b.0).unwrap_or_default(),
        );
        let ((mut long, news), short) = if lists.0.len() > lists.1.len() {
            ((lists.0, a.1), lists.1)
        } else {
            ((lists.1, b.1), lists.0)
        };
        if news {
            self.queue.extend(&long);
        }
        self.queue.extend(&short);
        long.extend(short);
        if !long.is_empty() {
            self.watchers.insert(keep, long);
        }
    }

    fn wake(&mut self, root: Ty) {
        if let Some(watchers) = self.watchers.remove(&root) {
            self.queue.extend(watchers);
        }
    }

    /// Decides an unknown with only one possible scalar type.
    fn decide(&mut self, root: Ty) -> Result<(), Clash> {
        let Node::Unknown(unknown) = &self.nodes[root.0 as usize] else { return Ok(()) };
        let Some(scalar) = unknown.kind.single() else { return Ok(()) };
        if unknown.rigid.is_some() {
            let (name, known) = (unknown.rigid.clone().unwrap_or_default(), self.scalar(scalar));
            return Err(Clash::Rigid(name, known));
        }
        self.wake(root);
        self.set(root, Node::Scalar(scalar));
        Ok(())
    }

    fn bind(&mut self, unknown: Ty, info: Unknown, known: Ty) -> Result<(), Clash> {
        if let Some(name) = info.rigid {
            return Err(Clash::Rigid(name, known));
        }
        self.restrict(known, info.kind, info.origin)?;
        if !self.lift(known, unknown, info.level) {
            return Err(Clash::Infinite);
        }
        self.wake(unknown);
        self.set(unknown, Node::Link(known));
        Ok(())
    }

    /// Lifts all unknowns in a type to a level; false if `avoid` is among them.
    fn lift(&mut self, ty: Ty, avoid: Ty, level: u32) -> bool {
        let root = self.find(ty);
        if self.ground.contains(&root) {
            return true;
        }
        let lifted = self.lift_parts(root, avoid, level);
        if lifted && self.has_ground_parts(root) {
            self.ground.insert(root);
        }
        lifted
    }

    /// Whether the type contains no unknown type or size. A type with errors is not ground, because
    /// each use of it reports them.
    pub fn is_ground(&mut self, ty: Ty) -> bool {
        self.lift(ty, ty, GENERIC);
        self.ground.contains(&self.root(ty))
    }

    fn has_ground_parts(&self, root: Ty) -> bool {
        let own = match self.get(root) {
            Node::Link(_) => unreachable!("`get` follows links"),
            Node::Unknown(_) | Node::Error => false,
            Node::Array(size, _) => size.as_constant().is_some(),
            Node::Variant(..) => false, // its sizes are among its parts
            Node::Scalar(_) | Node::Tuple(_) | Node::Record(_) | Node::Fun(..) => true,
        };
        own && self.inside(root).into_iter().all(|part| self.ground.contains(&self.root(part)))
    }

    fn lift_parts(&mut self, root: Ty, avoid: Ty, level: u32) -> bool {
        match self.nodes[root.0 as usize].clone() {
            Node::Unknown(unknown) => {
                debug_assert!(unknown.level != GENERIC, "a scheme that was not instantiated");
                self.unknown_mut(root).level = unknown.level.min(level);
                root != avoid
            }
            Node::Scalar(_) | Node::Error => true,
            Node::Link(_) => unreachable!("`find` follows links"),
            Node::Tuple(items) | Node::Variant(_, items) => {
                items.iter().all(|t| self.lift(*t, avoid, level))
            }
            Node::Record(fields) => fields.iter().all(|(_, t)| self.lift(*t, avoid, level)),
            Node::Fun(from, to) => self.lift(from, avoid, level) && self.lift(to, avoid, level),
            Node::Array(size, elem) => {
                self.sizes.lift(&size, level);
                self.lift(elem, avoid, level)
            }
        }
    }

    /// Narrows a type to a kind.
    pub fn restrict(
        &mut self,
        ty: Ty,
        kind: UnknownKind,
        origin: Option<Origin>,
    ) -> Result<(), Clash> {
        let UnknownKind::Data { bases, shapes } = kind else { return Ok(()) };
        let root = self.find(ty);
        match self.nodes[root.0 as usize].clone() {
            Node::Error => Ok(()),
            Node::Scalar(scalar) if !bases.intersect(Bases::of(scalar)).is_empty() => Ok(()),
            Node::Array(_, elem) if shapes > Shapes::Scalars => self.restrict(elem, kind, origin),
            Node::Tuple(parts) if shapes == Shapes::Vectors && !parts.is_empty() => {
                self.restrict_parts(&parts, bases, origin)
            }
            Node::Record(fields) if shapes == Shapes::Vectors => {
                let parts: Vec<Ty> = fields.iter().map(|(_, ty)| *ty).collect();
                self.restrict_parts(&parts, bases, origin)
            }
            Node::Unknown(unknown) => {
                let Some(met) = unknown.kind.meet(kind) else {
                    return Err(Clash::Kind(root, kind, origin));
                };
                if met != unknown.kind {
                    if let Some(watchers) = self.watchers.get(&root) {
                        self.queue.extend(watchers);
                    }
                    let unknown = self.unknown_mut(root);
                    unknown.kind = met;
                    unknown.origin = origin.or(unknown.origin.take());
                }
                self.decide(root)
            }
            Node::Scalar(_)
            | Node::Array(..)
            | Node::Tuple(_)
            | Node::Record(_)
            | Node::Fun(..)
            | Node::Variant(..) => Err(Clash::Kind(root, kind, origin)),
            Node::Link(_) => unreachable!("`find` follows links"),
        }
    }

    /// Narrows the parts of a vector, which are vectors of reals.
    fn restrict_parts(
        &mut self,
        parts: &[Ty],
        bases: Bases,
        origin: Option<Origin>,
    ) -> Result<(), Clash> {
        let kind = UnknownKind::vectors(bases.intersect(Bases::REAL));
        parts.iter().try_for_each(|part| self.restrict(*part, kind, origin.clone()))
    }

    /// Narrows a type to a kind, and updates the constraints that wait for it.
    pub fn require(&mut self, ty: Ty, kind: UnknownKind, origin: Origin) -> Result<(), Clash> {
        let result = self.restrict(ty, kind, Some(origin));
        self.settle();
        result
    }

    /// Reviews the size equations recorded since `from`: returns the refuted ones and drops the
    /// proved ones.
    pub fn review_sizes(&mut self, from: usize) -> Vec<(Clash, Span)> {
        let pending = self.undecided.split_off(from);
        let mut wrong = Vec::new();
        for (a, b, span) in pending {
            match self.sizes.equate(&a, &b) {
                Answer::Holds => {}
                Answer::Differs => wrong.push((Clash::Sizes([a, b].into()), span)),
                Answer::Clash(x, y) => wrong.push((Clash::Named(x, y), span)),
                Answer::Undecided => self.undecided.push((a, b, span)),
            }
        }
        wrong
    }
}

fn same_fields(xs: &[(Rc<str>, Ty)], ys: &[(Rc<str>, Ty)]) -> bool {
    xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| x.0 == y.0)
}
