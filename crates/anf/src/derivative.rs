//! The contract between `normalize` and differentiation: `jvp` and `vjp` become plain blocks as
//! soon as their function is known, so an outer derivative sees plain anf. The pipeline supplies
//! the implementation.

use lambada_source::Problem;

use crate::{Block, Library, Names, Param, Stm, Ty};

/// A block with parameters. Its free variables are captured values and sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// The parameters.
    pub params: Vec<Param>,
    /// The types of the results; sizes may be variables that the body binds at its top level.
    pub results: Vec<Ty>,
    /// The body.
    pub body: Block,
}

/// `D←f`: the forward sweep, and the linear map that it prepares.
#[derive(Clone, Debug, PartialEq)]
pub struct Reverse {
    /// Parameters and results of the original; the body also binds, at its top level, all operands
    /// of the pullback.
    pub forward: Lambda,
    /// From one cotangent per result that is real or a handle (in order) to one cotangent per
    /// parameter. It mentions variables that the forward body binds at its top level, and may be
    /// placed any number of times where these are in scope, each time with fresh names; but once,
    /// in the block of the forward sweep, if there is an `again`.
    pub pullback: Lambda,
    /// If the pullback adds to cells that the forward sweep has made: a pullback that runs the
    /// forward sweep itself. It mentions variables of the original, and sizes of results, and may
    /// be placed any number of times.
    pub again: Option<Lambda>,
}

/// Forward and reverse derivatives of first-order code, with respect to parameters that are real
/// (scalars or arrays) or handles. The tangents and cotangents of handles are handles of values of
/// the same node type, whose components that are not real are those of the point.
///
/// A call of a function with rules has the derivatives that these give. Insufficient rules are a
/// problem of the program.
pub trait Derivatives {
    /// `D→f`: parameters, then one tangent per parameter; results, then one tangent per result that
    /// is real or a handle.
    ///
    /// # Errors
    /// Rules that do not suffice.
    fn forward(&self, of: Subject) -> Result<Lambda, Box<Problem>>;

    /// `D→f` with marks in place of tangents: reals that are not negative. The mark of a result is
    /// positive if a path leads to it from a positive mark, through partial derivatives that are
    /// nonzero for all values; else it is zero.
    ///
    /// # Errors
    /// Rules that do not suffice.
    fn reach(&self, of: Subject) -> Result<Lambda, Box<Problem>>;

    /// `D←f`.
    ///
    /// # Errors
    /// Rules that do not suffice.
    fn reverse(&self, of: Subject) -> Result<Reverse, Box<Problem>>;

    /// The lowest and the highest diagonal (`j - i` for column `j` of row `i`) between which all
    /// nonzero partial derivatives of a function from a vector to a vector lie, if the program
    /// shows that these diagonals are few.
    fn band(&self, of: Subject) -> Option<(i64, i64)>;

    /// A `for` whose iterations take forward derivatives, with their common computations moved out:
    /// statements that bind the same variables, or `None` if the `for` is best left as it is.
    fn together(&self, names: &mut Names, directions: &Stm) -> Option<Vec<Stm>>;
}

/// A function to be derived, in its context.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The functions that it calls, complete; derivatives add to them.
    pub library: &'a mut Library,
    /// The variables of the program.
    pub names: &'a mut Names,
    /// The function. Its free variables are constants.
    pub f: &'a Lambda,
    /// Its free variables, with their types.
    pub captured: &'a [Param],
}

/// The readers of generated code, who determine its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Fast code, however long.
    Machine,
    /// Short code, in the forms that source has.
    People,
}
