//! Constructs that the source language lacks, and their replacements.

use std::fmt;

use lambada_source::Span;

/// The first construct of a program that the source language lacks.
#[derive(Clone, Debug, PartialEq)]
pub struct Outside {
    /// Its place.
    pub span: Span,
    /// Its description.
    pub construct: String,
    /// The replacement to write.
    pub instead: &'static str,
}

impl Outside {
    /// The type of this parameter is the construct.
    pub fn parameter(self, name: &str) -> Outside {
        Outside { construct: format!("the parameter `{name}` is {}", self.construct), ..self }
    }

    /// The clause that Lambada's extension of the paper (FW-2, `variants`) has for the construct.
    pub fn extension(&self) -> Option<&'static str> {
        match self.instead {
            VARIANTS => Some(
                "the extension by variants has the clauses `(in_k)_2 = id` and `[t_1, .., t_n]_2 = (t_k)_2` for the tag k of the value: a constructor hands its cotangent on, `match` that of the alternative taken",
            ),
            BRANCHES => Some(
                "the extension by variants has the clause `[t_1, t_2]_2 = (t_k)_2`: the derivative of `if` is that of the branch taken, and the condition has none",
            ),
            _ => None,
        }
    }
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the source language of the paper does not have this: {}", self.construct)
    }
}

impl std::error::Error for Outside {}

pub fn outside<T>(
    span: Span,
    construct: impl Into<String>,
    instead: &'static str,
) -> Result<T, Outside> {
    Err(Outside { span, construct: construct.into(), instead })
}

pub const SIZES: &str = "give arrays literal sizes, as in `(x : [3]real)`: sizes and indices are known before the program runs";
pub const SMALLER: &str = "take smaller arrays: each index of a loop is read by itself";
pub const INTEGERS: &str = "fix what is no real in a definition that calls this one, as in `def cube (x : real) = power x 3`";
pub const REALS: &str = "use reals, arrays of reals, tuples, records and functions of these";
pub const ROWS: &str = "read single elements, as in `m[i, j]`, or make the array one of reals";
pub const ELEMENTS: &str = "let the body of the loop read elements at its own index, of arrays that are made outside of it";
pub const FOLDS: &str = "let the state be one real and the loop go over one array, as in `loop s = 0.0 for x in xs do s + x`";
pub const BRANCHES: &str =
    "make a definition of the branch that is taken: there are no conditionals";
pub const CHECKS: &str = "give the sizes and indices that are compared as numbers";
pub const ITERATIONS: &str = "fix the number of iterations: `loop … for i < 10 do …`";
pub const RECURSION: &str =
    "write a loop over an array, as in `loop s = 0.0 for x in xs do s + x`: there is no recursion";
pub const VARIANTS: &str = "use a tuple or a record: there are no variants";
pub const UPDATES: &str = "make the whole array with `for` or `map`: there are no updates";
pub const RULES: &str = "the macros derive every derivative themselves: remove the rules, or show the stages of the function without them";
pub const DERIVATIVES: &str = "show the stages of the function that is differentiated: the macros take programs without derivatives";
