//! Requests for libraries.

use lambada::{Operator, Target};

/// A definition with its requested derivatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The definition.
    pub name: String,
    /// Its derivatives, each with the parameters to differentiate with respect to [default: all
    /// that hold reals].
    pub derivatives: Vec<(Operator, Option<Vec<String>>)>,
}

impl Entry {
    /// A definition without derivatives.
    pub fn new(name: impl Into<String>) -> Entry {
        Entry { name: name.into(), derivatives: Vec::new() }
    }

    /// Adds a derivative. A repeated operator is with respect to the parameters of both requests.
    pub fn derive(&mut self, operator: Operator, wrt: Option<Vec<String>>) {
        match self.derivatives.iter_mut().find(|(known, _)| *known == operator) {
            None => self.derivatives.push((operator, wrt)),
            Some((_, all)) => match (all.as_mut(), wrt) {
                (Some(names), Some(more)) => {
                    let new = more.into_iter().filter(|name| !names.contains(name));
                    let new: Vec<String> = new.collect();
                    names.extend(new);
                }
                (None, _) => {}
                (Some(_), None) => *all = None,
            },
        }
    }
}

/// A library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its name, with which every name in it begins.
    pub name: String,
    /// Its definitions.
    pub entries: Vec<Entry>,
    /// The machines that it runs on.
    pub platform: Platform,
}

/// The machines that a library runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Platform {
    /// Machines with a processor like this one.
    #[default]
    Native,
    /// Machines with a processor of this architecture.
    Portable,
    /// Browsers, and whatever else runs WebAssembly.
    Wasm,
    /// All with a compiler for C11, without threads: the library is a text.
    C11,
    /// As [`Platform::C11`], but without a system: in memory of the caller.
    Embedded,
}

impl Platform {
    /// The processors for which a library has versions of its code.
    pub(crate) fn processors(self) -> &'static [Target] {
        match self {
            Platform::Native => &[Target::Here],
            Platform::Portable => Target::versions(),
            Platform::Wasm | Platform::C11 | Platform::Embedded => &[Target::Any],
        }
    }

    /// Whether calls may run on several threads.
    pub(crate) fn has_threads(self) -> bool {
        matches!(self, Platform::Native | Platform::Portable)
    }

    /// Whether the code has no extensions of C, and so no vectors.
    pub(crate) fn is_strict(self) -> bool {
        matches!(self, Platform::C11 | Platform::Embedded)
    }

    /// Whether all memory is the caller's.
    pub(crate) fn has_workspace(self) -> bool {
        self == Platform::Embedded
    }

    /// Whether the C library is there that comes with an operating system.
    pub(crate) fn is_hosted(self) -> bool {
        self.has_threads()
    }
}

/// Suffix of the function for an operator.
pub(crate) fn suffix(operator: Operator) -> &'static str {
    match operator {
        Operator::Value => "",
        Operator::Grad => "_grad",
        Operator::Jvp => "_jvp",
        Operator::Vjp => "_vjp",
        Operator::Jacobian => "_jacobian",
        Operator::Hessian => "_hessian",
    }
}
