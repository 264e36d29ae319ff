//! What `normalize` asks of whoever differentiates: `jvp` and `vjp` become plain blocks as soon as
//! their function is known, so an outer derivative sees plain anf. The pipeline supplies the
//! implementation; this crate only states the contract.

use lambada_source::Problem;

use crate::{Block, Library, Names, Param, Stm, Ty};

/// A block with parameters. It may also mention variables that are free: captured values, and
/// sizes.
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
    /// Parameters and results of the original; the body also binds, at its top level, all that the
    /// pullback needs.
    pub forward: Lambda,
    /// From one cotangent per result that is real or a handle (in order) to one cotangent per
    /// parameter. It mentions what the forward body binds at its top level, and may be placed any
    /// number of times where that is in scope, each time with fresh names; but once, in the block
    /// of the forward sweep, if there is an `again`.
    pub pullback: Lambda,
    /// If the pullback adds to cells that the forward sweep has made: one that runs the forward
    /// sweep itself. It mentions what the original mentions, and sizes of results, and may be
    /// placed any number of times.
    pub again: Option<Lambda>,
}

/// Forward and reverse derivatives of first-order code, with respect to parameters that are real
/// (scalars or arrays) or handles. The tangents and cotangents of handles are handles of values of
/// the same node type, whose components that are not real are those of the point.
///
/// A call of a function with rules has the derivatives that these give. Rules that do not suffice
/// are a problem of the program.
pub trait Derivatives {
    /// `D→f`: parameters, then one tangent per parameter; results, then one tangent per result that
    /// is real or a handle.
    ///
    /// # Errors
    /// Rules that do not suffice.
    fn forward(&self, of: Subject) -> Result<Lambda, Box<Problem>>;

    /// `D→f` with marks in place of tangents: reals that are not negative. That of a result is
    /// positive where a way leads to it from a positive one, through partial derivatives that are
    /// not zero whatever the values; else it is zero.
    ///
    /// # Errors
    /// Rules that do not suffice.
    fn reach(&self, of: Subject) -> Result<Lambda, Box<Problem>>;

    /// `D←f`.
    ///
    /// # Errors
    /// Rules that do not suffice.
    fn reverse(&self, of: Subject) -> Result<Reverse, Box<Problem>>;

    /// The diagonals between which all partial derivatives of a function from a vector to a vector
    /// lie that can differ from zero, where few of them are evident from the program: the lowest
    /// and the highest, `j - i` for column `j` of row `i`.
    fn band(&self, of: Subject) -> Option<(i64, i64)>;

    /// A `for` whose iterations take forward derivatives, in which what they have in common is
    /// computed once: statements that bind the same variables, or nothing if the `for` is best left
    /// as it is.
    fn together(&self, names: &mut Names, directions: &Stm) -> Option<Vec<Stm>>;
}

/// A function to be derived, where it stands.
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

/// Readers of generated code, who decide what it may look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Fast code, however long.
    Machine,
    /// Short code, in the forms that source has.
    People,
}
