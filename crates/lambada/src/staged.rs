//! Derivatives in the pipeline: of simplified functions, and timed.

use lambada_anf::{Audience, Derivatives, FnId, Lambda, Library, Names, Param, Reverse, Stm};
use lambada_anf::{Subject, name_values};
use lambada_differentiate::Request;
use lambada_source::Problem;

use crate::passes::{FORWARD, REVERSE, SIMPLIFY, timed};

/// Differentiates functions after simplifying and fusing them.
#[derive(Clone, Copy, Debug)]
pub struct Staged(Request);

/// Derivatives for machine code.
impl Default for Staged {
    fn default() -> Staged {
        Staged(Request { audience: Audience::Machine, prepare: simplified })
    }
}

impl Staged {
    /// Derivatives for readers.
    pub(crate) fn for_people() -> Staged {
        Staged(Request { audience: Audience::People, prepare: simplified })
    }

    /// Derivatives that run only operations of the program: those whose NaNs are reported.
    pub(crate) fn trapping() -> Staged {
        Staged(Request { audience: Audience::Machine, prepare: simplified_as_it_runs })
    }
}

impl Derivatives for Staged {
    fn forward(&self, of: Subject) -> Result<Lambda, Box<Problem>> {
        timed(&FORWARD, || self.0.forward(of))
    }

    fn reach(&self, of: Subject) -> Result<Lambda, Box<Problem>> {
        timed(&FORWARD, || self.0.reach(of))
    }

    fn reverse(&self, of: Subject) -> Result<Reverse, Box<Problem>> {
        timed(&REVERSE, || self.0.reverse(of))
    }

    fn band(&self, of: Subject) -> Option<(i64, i64)> {
        self.0.band(of)
    }

    fn together(&self, names: &mut Names, directions: &Stm) -> Option<Vec<Stm>> {
        timed(&FORWARD, || self.0.together(names, directions))
    }
}

fn simplified(
    library: &Library,
    names: &mut Names,
    f: &Lambda,
    captured: &[Param],
    itself: Option<FnId>,
    audience: Audience,
) -> Lambda {
    let simplify = || lambada_optimize::simplify(library, names, f, captured, itself, audience);
    let f = timed(&SIMPLIFY, simplify);
    name_values(names, &f.body);
    f
}

/// As [`simplified`], without the passes that are for speed alone.
fn simplified_as_it_runs(
    library: &Library,
    names: &mut Names,
    f: &Lambda,
    captured: &[Param],
    itself: Option<FnId>,
    _: Audience,
) -> Lambda {
    simplified(library, names, f, captured, itself, Audience::People)
}
