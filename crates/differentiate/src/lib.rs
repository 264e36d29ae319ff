//! anf → anf: forward and reverse derivatives, staged.
//!
//! The macros `D→` and `D←` of the paper, applied to first-order code. The linear functions that they construct exist
//! at compile time only; what is left is straight array code, which can be checked, optimized, printed and
//! differentiated again.
//!
//! In reading order:
//! * `tangents` and `cotangents`: the two judgements, their environments, and the tables that lead to the rules;
//! * one file per construct, with both modes side by side: `prim`, `index`, `for_`, `loop_`, `while_`, `if_`,
//!   `update`, `array`, `matmul`, `accumulator`, `node`, `call`;
//! * `derived`, `boundary`, `crossing` and `shadows`: what derivatives add to the library, and how nodes cross to them; `known` and `flow`:
//!   what is there;
//! * `residuals`, `tape`, `flat` and `thread`: what the reverse sweep needs from the forward sweep, stored or computed again;
//! * `prepare`, `extrema`, `late`, `segments` and, for source, `counted`: rewritings that come first;
//! * `snapshots`: loops that keep a given number of states;
//! * `versions`, `undo` and `schedule`: arrays that a loop updates are carried backwards by undoing the updates;
//! * `lanes`: derivatives along several directions at once;
//! * `activity`, `settled` and `facts`: what is known of the function; `arrays`, `effects`, `trim`: tools.

mod accumulator;
mod activity;
mod array;
mod arrays;
mod boundary;
mod call;
mod cotangents;
mod counted;
mod crossing;
mod derived;
mod effects;
mod extrema;
mod facts;
mod flat;
mod flow;
mod for_;
mod if_;
mod index;
mod known;
mod lanes;
mod late;
mod loop_;
mod matmul;
mod messages;
mod multiples;
mod node;
mod prepare;
mod prim;
mod residuals;
mod schedule;
mod segments;
mod settled;
mod shadows;
mod snapshots;
mod tangents;
mod tape;
mod thread;
mod trim;
mod undo;
mod update;
mod versions;
mod while_;

use lambada_anf::{Derivatives, Lambda, Library, Names, Reverse, Stm};

use crate::derived::Context;
pub use crate::prepare::Prepare;
use crate::prepare::Whiles;

/// The implementation of what `normalize` asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Differentiate;

impl Derivatives for Differentiate {
    fn forward(&self, library: &mut Library, names: &mut Names, f: &Lambda) -> Lambda {
        forward(library, names, f)
    }

    fn reverse(&self, library: &mut Library, names: &mut Names, f: &Lambda) -> Reverse {
        reverse(library, names, f)
    }

    fn together(&self, names: &mut Names, directions: &Stm) -> Option<Vec<Stm>> {
        together(names, directions)
    }
}

/// `D→f`: from the parameters and their tangents to the results and the tangents of those that have some.
pub fn forward(library: &mut Library, names: &mut Names, f: &Lambda) -> Lambda {
    forward_with(prepare::as_it_is, library, names, f)
}

/// The same, where something is done to the functions of the library before they are derived.
pub fn forward_with(
    prepare: Prepare,
    library: &mut Library,
    names: &mut Names,
    f: &Lambda,
) -> Lambda {
    let mut cx = Context::new(std::mem::take(library), &f.body, prepare);
    let derivative = boundary::forward(&mut cx, names, f);
    *library = cx.library;
    derivative
}

/// `D←f`: the forward sweep, and the pullback from the cotangents of results to those of the parameters.
pub fn reverse(library: &mut Library, names: &mut Names, f: &Lambda) -> Reverse {
    reverse_with(prepare::as_it_is, library, names, f)
}

/// The same, where something is done to the functions of the library before they are derived.
pub fn reverse_with(
    prepare: Prepare,
    library: &mut Library,
    names: &mut Names,
    f: &Lambda,
) -> Reverse {
    let mut cx = Context::new(std::mem::take(library), &f.body, prepare);
    let derivative = boundary::reverse(&mut cx, names, f);
    *library = cx.library;
    derivative
}

/// The same for a derivative that becomes source, where a tape is an array: a `while` is counted before it runs.
pub fn reverse_as_source(
    prepare: Prepare,
    library: &mut Library,
    names: &mut Names,
    f: &Lambda,
) -> Reverse {
    let mut cx = Context::new(std::mem::take(library), &f.body, prepare);
    cx.whiles = Whiles::Counted;
    let derivative = boundary::reverse(&mut cx, names, f);
    *library = cx.library;
    derivative
}

/// A `for` whose iterations differentiate along different directions, as one pass that carries all of them; nothing where they share little.
pub fn together(names: &mut Names, directions: &Stm) -> Option<Vec<Stm>> {
    lanes::together(names, directions)
}
