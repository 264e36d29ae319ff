//! Types while they are being found out: nodes in an arena, with unknowns that are replaced in
//! place.

use std::rc::Rc;

use lambada_prim::ScalarTy;
use lambada_source::Span;

use super::size::{Atom, Poly};

/// A type: a node of the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ty(pub u32);

/// Which variant type; an index into [`super::Solver::variants`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct VariantId(pub u32);

/// The level of unknowns that a scheme quantifies.
pub(crate) const GENERIC: u32 = u32::MAX;

/// What a type is.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Unknown(Unknown),
    /// The same as another.
    Link(Ty),
    Scalar(ScalarTy),
    Tuple(Rc<[Ty]>),
    /// In alphabetical order.
    Record(Rc<[(Rc<str>, Ty)]>),
    Array(Poly, Ty),
    Fun(Ty, Ty),
    Variant(VariantId, Rc<[Ty]>),
    /// Of something wrong that has been reported; equal to everything.
    Error,
}

/// A type that is not known yet.
#[derive(Clone, Debug)]
pub(crate) struct Unknown {
    /// How many generalizing `let`s it is inside of.
    pub level: u32,
    /// What it may become.
    pub kind: Kind,
    /// The user's name for it: then it stays unknown, and may become nothing else.
    pub rigid: Option<Rc<str>>,
    /// What asked for the kind.
    pub origin: Option<Origin>,
}

/// Who asked for something, for messages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    /// As the user wrote it, in backquotes.
    pub what: Rc<str>,
    pub span: Span,
}

/// What asks for types without functions where a function has rules.
pub(crate) const RULES: &str = "a function with rules";

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

    /// The set of one.
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

    /// The one type in it.
    pub fn single(self) -> Option<ScalarTy> {
        [ScalarTy::Real, ScalarTy::Int, ScalarTy::Bool].into_iter().find(|s| Bases::of(*s) == self)
    }

    /// What an overload that nothing decides becomes: real, if it may.
    pub fn default(self) -> ScalarTy {
        let order = [ScalarTy::Real, ScalarTy::Int, ScalarTy::Bool];
        order
            .into_iter()
            .find(|s| !self.intersect(Bases::of(*s)).is_empty())
            .unwrap_or(ScalarTy::Real)
    }
}

/// What an unknown may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Anything.
    Any,
    /// A scalar of these types or, if `arrays`, an array of such.
    Data { bases: Bases, arrays: bool },
}

impl Kind {
    /// A number.
    pub const NUMBER: Kind = Kind::Data { bases: Bases::NUM, arrays: false };

    /// Scalars of some types, and arrays of them.
    pub fn shaped(bases: Bases) -> Kind {
        Kind::Data { bases, arrays: true }
    }

    /// Scalars of some types.
    pub fn scalar(bases: Bases) -> Kind {
        Kind::Data { bases, arrays: false }
    }

    /// Both; `None` if nothing is.
    pub fn meet(self, other: Kind) -> Option<Kind> {
        match (self, other) {
            (Kind::Any, kind) | (kind, Kind::Any) => Some(kind),
            (Kind::Data { bases: a, arrays: x }, Kind::Data { bases: b, arrays: y }) => {
                let bases = a.intersect(b);
                (!bases.is_empty()).then_some(Kind::Data { bases, arrays: x && y })
            }
        }
    }

    /// The only type that it allows.
    pub fn single(self) -> Option<ScalarTy> {
        match self {
            Kind::Any | Kind::Data { arrays: true, .. } => None,
            Kind::Data { bases, arrays: false } => bases.single(),
        }
    }

    /// What it becomes if nothing decides.
    pub fn default(self) -> ScalarTy {
        match self {
            Kind::Any => ScalarTy::Real,
            Kind::Data { bases, .. } => bases.default(),
        }
    }
}

/// A variant type as declared.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub name: Rc<str>,
    /// Generic unknowns.
    pub params: Vec<Ty>,
    /// The sizes that it takes, by name: what its constructors call them.
    pub sizes: Vec<(Rc<str>, Atom)>,
    /// The constructors and the types of their arguments.
    pub constructors: Vec<(Rc<str>, Vec<Ty>)>,
}
