//! Modules in reading order: the request; the interface as data; conversion of values to arguments
//! of C; the generated texts; the files; the interface for build scripts.

mod cmake;
mod describe;
mod fortran;
mod header;
mod interface;
mod javascript;
mod leaves;
mod library;
mod messages;
mod model;
mod names;
mod package;
mod request;
mod room;
mod rust;
mod sizes;
mod strict;
mod text;
mod versions;
mod wasm;

pub use describe::{Dims, Function, Input, Library, Output, Parts, Role, Rows, Whole};
pub use lambada::Precision;
pub use library::{Sources, library};
pub use model::{Error, Model};
pub use names::name_of;
pub use package::{write_library, write_static};
pub use request::{Entry, Platform, Request};
pub use rust::rust_module;
pub use sizes::{Arithmetic, Extent, Spelling};
