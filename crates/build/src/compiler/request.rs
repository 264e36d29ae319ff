//! Requests for libraries.

use lambada::Operator;

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
    /// Whether it must run on all processors of the architecture, not only on those like this one.
    pub portable: bool,
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
