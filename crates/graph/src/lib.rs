//! The language of scalar definitions with free indices: the values of a program, apart from the
//! nesting of its loops.

pub mod placed;

mod accesses;
mod affine;
mod axes;
mod build;
mod check;
mod chosen;
mod copy;
pub mod cost;
mod eval;
mod live;
mod plan;
mod print;
mod read;
mod syntax;
mod walk;

pub use accesses::{
    fits, is_chosen, is_safe, is_safe_unchecked, neighbor, runs_along, sizes, slides,
};
pub use affine::Affine;
pub use axes::{Axes, AxisId};
pub use build::{Around, Builder};
pub use check::check;
pub use chosen::{Chosen, Sum};
pub use copy::{Rule, aliased, cleaned, merged, rebuilt, rewritten};
pub use cost::{Nominal, Target};
pub use eval::{Outcome, eval, eval_checks, eval_sizes};
pub use live::{Aliases, any_below, needs, reach, roots, users_first};
pub use plan::{Grain, Mechanism, Mechanisms, Plan, Runs};
pub use print::{Printed, print, printed};
pub use read::read;
pub use syntax::{
    Array, ArrayId, Axis, Carry, Effect, Facts, Graph, Input, Loop, LoopId, Node, NodeId, Output,
    Term,
};
pub use walk::Part;
