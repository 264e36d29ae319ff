//! Code of x86-64 with AVX2 and FMA.
//!
//! - `facts`: the statements that can form a region, and facts about it;
//! - `select`: statements to instructions (`code`) on virtual registers; `vectors`: primitives on
//!   lanes, `math`: elementary functions, both through a `writer`;
//! - `live`: live ranges; `allocate`: registers and places in the frame;
//! - `emit` and `assembler`: bytes;
//! - `helpers`: functions that code calls; `context`: the argument of a region;
//! - `unit`: the regions of a program, executable.

mod allocate;
mod assembler;
mod code;
mod context;
mod emit;
mod facts;
mod helpers;
mod live;
mod math;
mod select;
pub(crate) mod unit;
mod vectors;
mod writer;
