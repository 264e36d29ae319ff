//! Code of x86-64 with AVX2 and FMA.
//!
//! - `facts`: which statements can be a region, and what is known of it;
//! - `select`: statements to instructions (`code`) on virtual registers; `vectors`: primitives on
//!   lanes, `math`: elementary functions, which a `writer` writes;
//! - `live`: live ranges; `allocate`: registers and places in the frame;
//! - `emit` and `assembler`: bytes;
//! - `helpers`: what code calls; `context`: what a region is called with;
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
