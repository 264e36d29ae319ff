//! What a library is to offer.

use lambada::Operator;

/// A definition, and which of its derivatives are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The definition.
    pub name: String,
    /// Its derivatives, with the parameters to differentiate with respect to; all that hold reals
    /// unless given.
    pub derivatives: Vec<(Operator, Option<Vec<String>>)>,
}

impl Entry {
    /// A definition without derivatives.
    pub fn new(name: impl Into<String>) -> Entry {
        Entry { name: name.into(), derivatives: Vec::new() }
    }

    /// One derivative more. The same one again is by the parameters of both.
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
    /// What it is called; every name in it begins so.
    pub name: String,
    /// What it offers.
    pub entries: Vec<Entry>,
    /// Whether it is to run on all processors of the architecture, and not only on this one's kind.
    pub portable: bool,
}

/// How the name of the function of an operator ends.
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
