//! Local names.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use lambada_source::Span;

use crate::solve::scheme::{Quantified, Scheme};
use crate::solve::size::Atom;
use crate::solve::ty::Ty;
use crate::typed::{FunctionId, LocalId};

/// Meaning of a local name.
#[derive(Clone)]
pub(crate) enum LocalMeaning {
    /// A variable.
    Local(LocalId),
    /// A function or alias that is instantiated at each use.
    Function(FunctionId, Rc<Scheme>),
    /// An accumulator, and its type.
    Accumulator(LocalId, Ty),
    /// A recursive function inside of its group.
    Recursive(FunctionId, Rc<Provisional>),
    /// A function without `rec`, inside its own definition.
    Unmarked(Span),
}

/// Type information about a recursive function before its body is elaborated.
pub(crate) struct Provisional {
    pub ty: Ty,
    /// The sizes of its signature.
    pub atoms: Vec<(Atom, Quantified)>,
    /// Type variables of its signature, if the signature is complete: each call then instantiates
    /// them.
    pub vars: Vec<Ty>,
    /// The types that the names of type variables stand for.
    pub type_vars: HashMap<Rc<str>, Ty>,
    /// Whether the signature is complete.
    pub complete: bool,
    /// Number of open size scopes.
    pub regions: usize,
    /// Places in the annotated result that leave the size open, `[]`; `None` without an annotation.
    pub open: Option<BTreeSet<usize>>,
    /// Places in the result with unknown sizes, because calls and function disagree there.
    pub unknown: BTreeSet<usize>,
}

impl Provisional {
    /// Whether the body determines the size at this place in the result.
    pub fn is_open_at(&self, place: usize) -> bool {
        self.open.as_ref().is_none_or(|open| open.contains(&place))
    }

    /// Whether the body determines any size in the result.
    pub fn has_open_sizes(&self) -> bool {
        self.open.as_ref().is_none_or(|open| !open.is_empty())
    }
}

/// A call inside of a group at types of its own.
#[derive(Clone)]
pub(super) struct OwnCall {
    pub pairs: Rc<[(Ty, Ty)]>,
    pub name: Rc<str>,
    pub span: Span,
}

/// A call inside of a group whose signature leaves result sizes open: the type of the callee, its
/// type at this call, and the values of its arguments as sizes.
pub(super) struct SizedCall {
    pub of: Ty,
    pub ty: Ty,
    pub bound: Vec<(Atom, Quantified)>,
}

/// Local names in scope, innermost last.
#[derive(Clone, Default)]
pub(crate) struct Env {
    entries: HashMap<Rc<str>, Vec<LocalMeaning>>,
    trail: Vec<Rc<str>>,
}

impl Env {
    /// Meaning of a name.
    pub fn get(&self, name: &str) -> Option<&LocalMeaning> {
        self.entries.get(name).and_then(|stack| stack.last())
    }

    /// Binds a name until the scope is left.
    pub fn bind(&mut self, name: &Rc<str>, entry: LocalMeaning) {
        self.entries.entry(name.clone()).or_default().push(entry);
        self.trail.push(name.clone());
    }

    /// Start of a scope, for [`Env::restore`].
    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Leaves the scopes since `mark`.
    pub fn restore(&mut self, mark: usize) {
        for name in self.trail.drain(mark..).rev() {
            if let Some(stack) = self.entries.get_mut(&name) {
                stack.pop();
            }
        }
    }

    /// Meanings of all names in scope.
    pub fn entries(&self) -> impl Iterator<Item = &LocalMeaning> {
        self.entries.values().filter_map(|stack| stack.last())
    }

    /// All names in scope.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|(_, stack)| !stack.is_empty()).map(|(name, _)| &**name)
    }
}
