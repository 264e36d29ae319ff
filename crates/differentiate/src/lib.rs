//! anf → anf: forward and reverse derivatives, staged.
//!
//! The macros `D→` and `D←` of the paper, applied to first-order code. The linear functions that they construct exist
//! at compile time only; what is left is straight array code, which can be checked, optimized, printed and
//! differentiated again.
//!
//! In reading order:
//! * `tangents` and `cotangents`: the two judgements, their environments, and the tables that lead to the rules;
//! * one file per construct, with both modes side by side: `prim`, `index`, `for_`, `loop_`, `if_`,
//!   `update`, `array`, `matmul`, `accumulator`;
//! * `residuals`, `flat` and `thread`: what the reverse sweep needs from the forward sweep, stored or computed again;
//! * `extrema`, `late`, `counted` and `segments`: rewritings that come first;
//! * `snapshots`: loops that keep a given number of states;
//! * `versions`, `undo` and `schedule`: arrays that a loop updates are carried backwards by undoing the updates;
//! * `lanes`: derivatives along several directions at once;
//! * `activity`, `settled` and `facts`: what is known of the function; `arrays`, `effects`, `trim`: tools.

mod accumulator;
mod activity;
mod array;
mod arrays;
mod cotangents;
mod counted;
mod effects;
mod extrema;
mod facts;
mod flat;
mod for_;
mod if_;
mod index;
mod lanes;
mod late;
mod loop_;
mod matmul;
mod multiples;
mod prim;
mod residuals;
mod schedule;
mod segments;
mod settled;
mod snapshots;
mod tangents;
mod thread;
mod trim;
mod undo;
mod update;
mod versions;

use lambada_anf::{Derivatives, Lambda, Library, Names, Reverse, Stm};

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

/// `D→f`: from the parameters and their tangents to the results and the tangents of the real ones.
pub fn forward(_library: &mut Library, names: &mut Names, f: &Lambda) -> Lambda {
    let f = extrema::rewrite_reductions(names, f);
    tangents::forward(names, &f)
}

/// `D←f`: the forward sweep, and the pullback from the cotangents of the real results to those of the parameters.
pub fn reverse(_library: &mut Library, names: &mut Names, f: &Lambda) -> Reverse {
    let f = extrema::rewrite_reductions(names, f);
    let f = late::late_updates(f);
    let f = counted::count_loops(names, &f);
    let f = segments::cut_loops(names, &f);
    cotangents::reverse(names, &f)
}

/// A `for` whose iterations differentiate along different directions, as one pass that carries all of them; nothing where they share little.
pub fn together(names: &mut Names, directions: &Stm) -> Option<Vec<Stm>> {
    lanes::together(names, directions)
}
