//! Answers to requests.

/// The reason why a request has no answer, for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub String);

impl Refusal {
    pub fn new(why: impl Into<String>) -> Refusal {
        Refusal(why.into())
    }
}

pub(crate) type Answer<T> = Result<T, Refusal>;
