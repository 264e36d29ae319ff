//! Local names.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use lambada_source::Span;

use crate::solve::scheme::{Quantified, Scheme};
use crate::solve::size::Atom;
use crate::solve::ty::Ty;
use crate::typed::{FunctionId, LocalId};

/// What a local name stands for.
#[derive(Clone)]
pub(crate) enum Entry {
    /// A variable.
    Local(LocalId),
    /// A function or alias that is instantiated at each use.
    Function(FunctionId, Rc<Scheme>),
    /// What `accumulate` binds.
    Accumulator(LocalId, Ty),
    /// A recursive function inside of its group.
    Recursive(FunctionId, Rc<Provisional>),
    /// A function that does not say `rec` inside of its own definition.
    Unmarked,
}

/// What is known of a recursive function before its body has been looked at.
pub(crate) struct Provisional {
    pub ty: Ty,
    /// The sizes of its signature.
    pub atoms: Vec<(Atom, Quantified)>,
    /// The type variables of its signature, if the signature says everything: then each call has
    /// its own.
    pub vars: Vec<Ty>,
    /// The types that the names of type variables stand for.
    pub type_vars: HashMap<Rc<str>, Ty>,
    /// Does the signature say everything?
    pub complete: bool,
    /// How many scopes of sizes were open.
    pub regions: usize,
    /// The places in a result that the signature says at which it leaves the size open, `[]`; none
    /// if it says no result.
    pub open: Option<BTreeSet<usize>>,
    /// The places in the result at which nothing is known of the sizes: calls give others than the
    /// function.
    pub unknown: BTreeSet<usize>,
}

impl Provisional {
    /// Whether it is for the body to say what the size at this place in the result is.
    pub fn is_open_at(&self, place: usize) -> bool {
        self.open.as_ref().is_none_or(|open| open.contains(&place))
    }

    /// Whether there is such a place.
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

/// A call inside of a group whose signature leaves sizes of the result open: what is called, the
/// type of this instance of it, and the values of its arguments as sizes.
pub(super) struct SizedCall {
    pub of: Ty,
    pub ty: Ty,
    pub bound: Vec<(Atom, Quantified)>,
}

/// Local names in scope, innermost last.
#[derive(Clone, Default)]
pub(crate) struct Env {
    entries: HashMap<Rc<str>, Vec<Entry>>,
    trail: Vec<Rc<str>>,
}

impl Env {
    /// What a name stands for.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name).and_then(|stack| stack.last())
    }

    /// Binds a name until the scope is left.
    pub fn bind(&mut self, name: &Rc<str>, entry: Entry) {
        self.entries.entry(name.clone()).or_default().push(entry);
        self.trail.push(name.clone());
    }

    /// Where the scope begins.
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

    /// What the names in scope stand for.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().filter_map(|stack| stack.last())
    }

    /// All names in scope.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|(_, stack)| !stack.is_empty()).map(|(name, _)| &**name)
    }
}
