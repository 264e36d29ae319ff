//! Types under inference: nodes in an arena, with unknowns that are replaced in place.

use std::rc::Rc;

use lambada_prim::ScalarTy;
use lambada_source::Span;

use super::size::{Atom, Poly};

/// A type: a node of the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ty(pub u32);

/// A variant type; an index into [`super::Solver::variants`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct VariantId(pub u32);

/// The level of unknowns that a scheme quantifies.
pub(crate) const GENERIC: u32 = u32::MAX;

/// A node of a type.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Unknown(Unknown),
    /// Alias of another node.
    Link(Ty),
    Scalar(ScalarTy),
    Tuple(Rc<[Ty]>),
    /// In alphabetical order.
    Record(Rc<[(Rc<str>, Ty)]>),
    Array(Poly, Ty),
    Fun(Ty, Ty),
    Variant(VariantId, Rc<[Ty]>),
    /// Type of an expression with a reported problem; equal to everything.
    Error,
}

/// A type that is not known yet.
#[derive(Clone, Debug)]
pub(crate) struct Unknown {
    /// Number of generalizing `let`s around.
    pub level: u32,
    /// The types that it may become.
    pub kind: UnknownKind,
    /// Its name in a signature; an unknown with a name never becomes another type.
    pub rigid: Option<Rc<str>>,
    /// The requirement that narrowed the kind.
    pub origin: Option<Origin>,
}

/// Source of a requirement, for messages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    /// The operator or function as written, in backquotes.
    pub what: Rc<str>,
    pub span: Span,
}

/// Origin of the requirement that a function with rules takes and returns first-order types.
pub(crate) const RULES: &str = "a function with rules";

/// Origins of the requirement that compared values contain no function.
pub(crate) const EQUALITIES: [&str; 2] = ["`==`", "`!=`"];

impl Origin {
    /// `what`, without backquotes, at a place.
    pub fn new(what: &str, span: Span) -> Origin {
        Origin { what: format!("`{what}`").into(), span }
    }
}

/// A set of scalar types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bases(u8);

impl Bases {
    pub const REAL: Bases = Bases(1);
    pub const NUM: Bases = Bases(3);
    pub const ALL: Bases = Bases(7);

    /// The set of one type.
    pub fn of(scalar: ScalarTy) -> Bases {
        match scalar {
            ScalarTy::Real => Bases(1),
            ScalarTy::Int => Bases(2),
            ScalarTy::Bool => Bases(4),
        }
    }

    pub fn union(self, other: Bases) -> Bases {
        Bases(self.0 | other.0)
    }

    pub fn intersect(self, other: Bases) -> Bases {
        Bases(self.0 & other.0)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The type, if the set has one only.
    pub fn single(self) -> Option<ScalarTy> {
        [ScalarTy::Real, ScalarTy::Int, ScalarTy::Bool].into_iter().find(|s| Bases::of(*s) == self)
    }

    /// The type of an undecided overload: real, if it may.
    pub fn default(self) -> ScalarTy {
        let order = [ScalarTy::Real, ScalarTy::Int, ScalarTy::Bool];
        order
            .into_iter()
            .find(|s| !self.intersect(Bases::of(*s)).is_empty())
            .unwrap_or(ScalarTy::Real)
    }
}

/// The shapes of an unknown that consists of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shapes {
    /// Scalars.
    Scalars,
    /// Also arrays.
    Arrays,
    /// Also vectors: tuples and records of reals and of vectors, and arrays of them.
    Vectors,
}

/// The types that an unknown may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnknownKind {
    /// Anything.
    Any,
    /// A scalar of these types, or something of such a shape.
    Data { bases: Bases, shapes: Shapes },
}

impl UnknownKind {
    /// A number.
    pub const NUMBER: UnknownKind =
        UnknownKind::Data { bases: Bases::NUM, shapes: Shapes::Scalars };

    /// Scalars of some types, and arrays of them.
    pub fn shaped(bases: Bases) -> UnknownKind {
        UnknownKind::Data { bases, shapes: Shapes::Arrays }
    }

    /// Scalars of some types, arrays of them, and vectors.
    pub fn vectors(bases: Bases) -> UnknownKind {
        UnknownKind::Data { bases, shapes: Shapes::Vectors }
    }

    /// Scalars of some types.
    pub fn scalar(bases: Bases) -> UnknownKind {
        UnknownKind::Data { bases, shapes: Shapes::Scalars }
    }

    /// The intersection; `None` if it is empty.
    pub fn meet(self, other: UnknownKind) -> Option<UnknownKind> {
        match (self, other) {
            (UnknownKind::Any, kind) | (kind, UnknownKind::Any) => Some(kind),
            (
                UnknownKind::Data { bases: a, shapes: x },
                UnknownKind::Data { bases: b, shapes: y },
            ) => {
                let bases = a.intersect(b);
                (!bases.is_empty()).then_some(UnknownKind::Data { bases, shapes: x.min(y) })
            }
        }
    }

    /// The only possible type, if there is one.
    pub fn single(self) -> Option<ScalarTy> {
        match self {
            UnknownKind::Data { bases, shapes: Shapes::Scalars } => bases.single(),
            UnknownKind::Any | UnknownKind::Data { .. } => None,
        }
    }

    /// The scalar type of an undecided unknown.
    pub fn default(self) -> ScalarTy {
        match self {
            UnknownKind::Any => ScalarTy::Real,
            UnknownKind::Data { bases, .. } => bases.default(),
        }
    }
}

/// A variant type as declared.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub name: Rc<str>,
    /// Generic unknowns.
    pub params: Vec<Ty>,
    /// The sizes that it takes, with their names in its constructors.
    pub sizes: Vec<(Rc<str>, Atom)>,
    /// The constructors and the types of their arguments.
    pub constructors: Vec<(Rc<str>, Vec<Ty>)>,
}
