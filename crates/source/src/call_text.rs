//! The text of calls of functions that people know by name.

/// How people read the calls of a function: its name, and the functions that it is given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallText {
    /// The name: `norm`, `linalg.lu`.
    pub name: String,
    /// The functions among the arguments; the data are the others, in order.
    pub given: Vec<GivenFunction>,
    /// Whether the text defines the function, because others are given it. Its name then tells it
    /// from all others, and the text may call it otherwise.
    pub is_defined: bool,
}

/// A function among the arguments of a call, as `f a b` in `odeint (f a b) y0 ts`.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenFunction {
    /// Its place among all arguments.
    pub at: usize,
    /// The name of the function.
    pub name: String,
    /// The data that it is applied to, by place among the data of the call. They do not stand
    /// anywhere else in the text.
    pub args: Vec<usize>,
}

impl CallText {
    /// A function of data alone.
    pub fn of_data(name: &str) -> CallText {
        CallText { name: name.into(), ..CallText::default() }
    }
}
