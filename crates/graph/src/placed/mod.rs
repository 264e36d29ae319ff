//! The language of placed programs: the definitions of a graph, each in a nest of loops and a
//! buffer, or inlined where it is used.

mod check;
mod eval;
mod print;
mod syntax;

pub use check::check;
pub use eval::eval;
pub use print::print;
pub use syntax::{Buffer, BufferId, Content, Direction, Item, Nest, Pass, Placed, REACH, WHOLE};
