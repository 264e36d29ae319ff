//! anf → anf: forward and reverse derivatives, staged.
//!
//! The macros `D→` and `D←` of the paper, applied to first-order code. The linear functions that
//! they construct exist at compile time only; the result is plain array code, which can be checked,
//! optimized, printed and differentiated again.
//!
//! In reading order:
//! * `tangents` and `cotangents`: the two judgements, their environments, and the dispatch to the
//!   rules;
//! * one file per construct, with both modes side by side: `prim`, `index`, `for_`, `loop_`,
//!   `while_`, `if_`, `update`, `array`, `array_prims`, `accumulator`, `node`, `call`;
//! * `rules`: calls of functions with derivatives by their author; `partial`: the parts that a rule
//!   drops; `transpose` and `linear`: the mode without a rule;
//! * `derived`, `boundary`, `crossing` and `shadows`: additions to the library, and the conversion
//!   of nodes at the boundary; `known`, `flow` and `threaded`: facts about the library;
//! * `values`, `node_values` and `guarded`: cotangents of handles where the derivative becomes
//!   source;
//! * `presence`, `there`, `absence` and `unbounded`: the presence of cotangents and tangents, and
//!   where it matters, because absent is not zero times a factor;
//! * `residuals`, `tape`, `flat` and `thread`: values that the reverse sweep needs from the forward
//!   sweep, stored or recomputed;
//! * `prepare`, `extrema`, `late`, `segments` and, for source, `counted` and `elements`:
//!   preparatory rewritings;
//! * `snapshots`: loops with a limit on kept states;
//! * `versions`, `undo` and `schedule`: loop-carried arrays that the reverse sweep restores by
//!   undoing updates;
//! * `lanes`: derivatives along several directions at once; `reach`: dependence of results on
//!   parameters;
//! * `activity`, `settled` and `facts`: analyses of the function; `arrays`, `effects`, `trim`:
//!   tools.

mod absence;
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
mod partial;
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

use lambada_anf::{Audience, Derivatives, Lambda, Names, Reverse, Stm, Subject};
use lambada_source::Problem;

use crate::band::band;
use crate::derived::Context;
use crate::known::Handles;
pub use crate::prepare::Prepare;
use crate::prepare::Whiles;

/// A request for derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// For [`Audience::People`], a tape is an array, so that a pass counts the iterations of a
    /// `while` first, and cotangents of handles are values wherever possible, because source has no
    /// cells.
    pub audience: Audience,
    /// Preparation of each function, library functions included, before it is derived.
    pub prepare: Prepare,
}

/// Derivatives of unprepared functions.
impl Default for Request {
    fn default() -> Request {
        Request { audience: Audience::Machine, prepare: |_, _, f, _, _, _| f.clone() }
    }
}

impl Derivatives for Request {
    fn forward(&self, of: Subject) -> Result<Lambda, Box<Problem>> {
        self.derive(of, |cx, names, f| {
            if self.audience == Audience::People {
                // A rule may be transposed; then it takes and returns cotangents.
                let called = known::called(&cx.library, &f.body);
                let rules = called.into_iter().any(|id| cx.rules(id).is_some());
                cx.handles = if rules { values::handles(cx, f) } else { Handles::Values };
            }
            boundary::forward(cx, names, f)
        })
    }

    /// Marks are for the machine, even if people read the surrounding code.
    fn reach(&self, of: Subject) -> Result<Lambda, Box<Problem>> {
        Request { audience: Audience::Machine, ..*self }.derive(of, |cx, names, f| {
            cx.reach = true;
            boundary::forward(cx, names, f)
        })
    }

    fn reverse(&self, of: Subject) -> Result<Reverse, Box<Problem>> {
        self.derive(of, |cx, names, f| {
            if self.audience == Audience::People {
                cx.whiles = Whiles::Counted;
                cx.handles = values::handles(cx, f);
                if cx.handles == Handles::Values {
                    cx.suffix = "ct";
                }
            }
            boundary::reverse(cx, names, f)
        })
    }

    fn band(&self, of: Subject) -> Option<(i64, i64)> {
        let Subject { library, names, f, captured } = of;
        band(&(self.prepare)(library, names, f, captured, None, Audience::Machine))
    }

    fn together(&self, names: &mut Names, directions: &Stm) -> Option<Vec<Stm>> {
        lanes::together(names, directions)
    }
}

impl Request {
    /// A derivative of a function. The library grows by the functions that the derivative calls.
    fn derive<T>(
        &self,
        Subject { library, names, f, captured }: Subject,
        derive: impl FnOnce(&mut Context, &mut Names, &Lambda) -> T,
    ) -> Result<T, Box<Problem>> {
        let f = (self.prepare)(library, names, f, captured, None, self.audience);
        let mut cx = Context::new(std::mem::take(library), names.precision(), &f.body, *self);
        let derivative = derive(&mut cx, names, &f);
        *library = cx.library;
        cx.problem.map_or(Ok(derivative), Err)
    }
}
