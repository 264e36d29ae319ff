//! Kernels, for tests that lower functions themselves.

use lambada::Arrays;
use lambada_anf as anf;
use lambada_graph::{Grain, Plan};
use lambada_loops as loops;
use lambada_schedule::{Along, Choice, schedule};

/// The loops of a function with these placements; small data has several blocks and threads, unless
/// the placements are the best.
pub fn lowered(function: &anf::Function, plan: Plan, choice: Choice) -> loops::Function {
    let grain = if choice == Choice::Best { plan.grain } else { Grain::FINE };
    let plan = Plan { grain, ..plan };
    let scheduled = schedule(function, plan, choice);
    anf::check(&scheduled).unwrap_or_else(|e| panic!("{e}\n{}", anf::print(&scheduled)));
    lambada_lower::lower_with(&scheduled, plan)
}

/// The loops of a program with kernels wherever there can be any, worth it or not, for all sizes.
pub fn everywhere(arrays: &Arrays) -> loops::Function {
    let choice = Choice::Any(0, Along::Block);
    lambada_source::stack::roomy(|| lowered(&arrays.optimized, Plan::of(4), choice))
}
