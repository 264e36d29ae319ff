//! anf → anf: forward and reverse derivatives, staged.
//!
//! The macros `D→` and `D←` of the paper, applied to first-order code. The linear functions that
//! they construct exist at compile time only; what is left is straight array code, which can be
//! checked, optimized, printed and differentiated again.
//!
//! In reading order:
//! * `tangents` and `cotangents`: the two judgements, their environments, and the tables that lead
//!   to the rules;
//! * one file per construct, with both modes side by side: `prim`, `index`, `for_`, `loop_`,
//!   `while_`, `if_`, `update`, `array`, `array_prims`, `accumulator`, `node`, `call`;
//! * `rules`: calls of functions whose author gives the derivative; `transpose` and `linear`: the
//!   mode that is not given;
//! * `derived`, `boundary`, `crossing` and `shadows`: what derivatives add to the library, and how
//!   nodes cross to them; `known`, `flow` and `threaded`: what is there;
//! * `values`, `node_values` and `guarded`: cotangents of handles where the derivative becomes
//!   source;
//! * `presence`, `there` and `unbounded`: whether a cotangent or a tangent is there, and where that
//!   matters, because absent is not zero times;
//! * `residuals`, `tape`, `flat` and `thread`: what the reverse sweep needs from the forward sweep,
//!   stored or computed again;
//! * `prepare`, `extrema`, `late`, `segments` and, for source, `counted` and `elements`: rewritings
//!   that come first;
//! * `snapshots`: loops that keep a given number of states;
//! * `versions`, `undo` and `schedule`: arrays that a loop updates are carried backwards by undoing
//!   the updates;
//! * `lanes`: derivatives along several directions at once; `reach`: which results can depend on
//!   what;
//! * `activity`, `settled` and `facts`: what is known of the function; `arrays`, `effects`, `trim`:
//!   tools.

mod absent;
mod accumulator;
mod activity;
mod array;
mod array_prims;
mod arrays;
mod band;
mod boundary;
mod call;
mod cotangents;
mod counted;
mod crossing;
mod derived;
mod effects;
mod elements;
mod extrema;
mod facts;
mod flat;
mod flow;
mod for_;
mod guarded;
mod if_;
mod index;
mod known;
mod lanes;
mod late;
mod linear;
mod loop_;
mod messages;
mod multiples;
mod node;
mod node_values;
mod prepare;
mod presence;
mod prim;
mod products;
mod reach;
mod residuals;
mod rules;
mod schedule;
mod segments;
mod settled;
mod shadows;
mod snapshots;
mod tangents;
mod tape;
mod there;
mod thread;
mod threaded;
mod transpose;
mod trim;
mod unbounded;
mod undo;
mod update;
mod values;
mod versions;
mod while_;

use lambada_anf::{Derivatives, Lambda, Library, Names, Param, Reverse, Stm};

use lambada_prim::Precision;
use lambada_source::Problem;

pub use crate::band::band;
use crate::derived::Context;
use crate::known::Handles;
pub use crate::prepare::Prepare;
use crate::prepare::Whiles;

/// The implementation of what `normalize` asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Differentiate;

impl Derivatives for Differentiate {
    fn forward(
        &self,
        library: &mut Library,
        names: &mut Names,
        f: &Lambda,
        _: &[Param],
    ) -> Result<Lambda, Box<Problem>> {
        forward(library, names, f)
    }

    fn reach(
        &self,
        library: &mut Library,
        names: &mut Names,
        f: &Lambda,
        _: &[Param],
    ) -> Result<Lambda, Box<Problem>> {
        reach_with(prepare::as_it_is, library, names, f)
    }

    fn reverse(
        &self,
        library: &mut Library,
        names: &mut Names,
        f: &Lambda,
        _: &[Param],
    ) -> Result<Reverse, Box<Problem>> {
        reverse(library, names, f)
    }

    fn band(&self, _: &Library, _: &mut Names, f: &Lambda, _: &[Param]) -> Option<(i64, i64)> {
        band(f)
    }

    fn together(&self, names: &mut Names, directions: &Stm) -> Option<Vec<Stm>> {
        together(names, directions)
    }
}

/// `D→f`: from the parameters and their tangents to the results and the tangents of those that have
/// some.
///
/// # Errors
/// Rules that do not suffice.
pub fn forward(
    library: &mut Library,
    names: &mut Names,
    f: &Lambda,
) -> Result<Lambda, Box<Problem>> {
    forward_with(prepare::as_it_is, library, names, f)
}

/// The same, where something is done to the functions of the library before they are derived.
///
/// # Errors
/// Rules that do not suffice.
pub fn forward_with(
    prepare: Prepare,
    library: &mut Library,
    names: &mut Names,
    f: &Lambda,
) -> Result<Lambda, Box<Problem>> {
    derived(prepare, library, names.precision(), f, |cx| boundary::forward(cx, names, f))
}

/// `D→f` with marks in place of tangents: from the parameters and their marks to the results and
/// the marks of those that have some. Functions of the library are prepared before they are
/// derived.
///
/// # Errors
/// Rules that do not suffice.
pub fn reach_with(
    prepare: Prepare,
    library: &mut Library,
    names: &mut Names,
    f: &Lambda,
) -> Result<Lambda, Box<Problem>> {
    derived(prepare, library, names.precision(), f, |cx| {
        cx.reach = true;
        boundary::forward(cx, names, f)
    })
}

/// `D←f`: the forward sweep, and the pullback from the cotangents of results to those of the
/// parameters.
///
/// # Errors
/// Rules that do not suffice.
pub fn reverse(
    library: &mut Library,
    names: &mut Names,
    f: &Lambda,
) -> Result<Reverse, Box<Problem>> {
    reverse_with(prepare::as_it_is, library, names, f)
}

/// The same, where something is done to the functions of the library before they are derived.
///
/// # Errors
/// Rules that do not suffice.
pub fn reverse_with(
    prepare: Prepare,
    library: &mut Library,
    names: &mut Names,
    f: &Lambda,
) -> Result<Reverse, Box<Problem>> {
    derived(prepare, library, names.precision(), f, |cx| boundary::reverse(cx, names, f))
}

/// `D→f` for a derivative that becomes source. Functions of the library are prepared before they
/// are derived.
///
/// # Errors
/// Rules that do not suffice.
pub fn forward_as_source(
    prepare: Prepare,
    library: &mut Library,
    names: &mut Names,
    f: &Lambda,
) -> Result<Lambda, Box<Problem>> {
    derived(prepare, library, names.precision(), f, |cx| {
        // A rule may be transposed, and takes and gives cotangents then.
        let rules =
            known::called(&cx.library, &f.body).into_iter().any(|id| cx.rules(id).is_some());
        cx.handles = if rules { values::handles(cx, f) } else { Handles::Values };
        boundary::forward(cx, names, f)
    })
}

/// `D←f` for a derivative that becomes source, where a tape is an array, so a `while` is counted
/// before it runs, and cotangents of handles are values, wherever they can be.
///
/// # Errors
/// Rules that do not suffice.
pub fn reverse_as_source(
    prepare: Prepare,
    library: &mut Library,
    names: &mut Names,
    f: &Lambda,
) -> Result<Reverse, Box<Problem>> {
    derived(prepare, library, names.precision(), f, |cx| {
        cx.whiles = Whiles::Counted;
        cx.handles = values::handles(cx, f);
        if cx.handles == Handles::Values {
            cx.suffix = "ct";
        }
        boundary::reverse(cx, names, f)
    })
}

/// A derivative of a function that calls those of the library, which grows by what the derivative
/// calls.
fn derived<T>(
    prepare: Prepare,
    library: &mut Library,
    precision: Precision,
    f: &Lambda,
    derive: impl FnOnce(&mut Context) -> T,
) -> Result<T, Box<Problem>> {
    let mut cx = Context::new(std::mem::take(library), precision, &f.body, prepare);
    let derivative = derive(&mut cx);
    *library = cx.library;
    cx.problem.map_or(Ok(derivative), Err)
}

/// A `for` whose iterations differentiate along different directions, as one pass that carries all
/// of them; nothing where they share little.
pub fn together(names: &mut Names, directions: &Stm) -> Option<Vec<Stm>> {
    lanes::together(names, directions)
}
