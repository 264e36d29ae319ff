//! The language of scalar definitions with free indices: what a program computes, apart from how
//! its loops are nested.

mod axes;
mod build;
mod check;
mod chosen;
mod copy;
mod eval;
mod live;
mod print;
mod read;
mod syntax;
mod walk;

pub use axes::{Axes, AxisId};
pub use build::{Around, Builder};
pub use check::check;
pub use chosen::{Chosen, Sum};
pub use copy::{Rule, aliased, cleaned, merged, rebuilt, rewritten};
pub use eval::{Outcome, eval};
pub(crate) use live::reach;
pub use live::{Aliases, needs, reached, roots};
pub use print::{Printed, print, printed};
pub use read::read;
pub use syntax::{
    Array, ArrayId, Axis, Carry, Effect, Facts, Graph, Input, Loop, LoopId, Node, NodeId, Output,
    Term,
};
pub use walk::Part;

#[cfg(test)]
mod tests;
