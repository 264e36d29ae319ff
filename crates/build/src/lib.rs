//! Programs as libraries of C and as modules of Rust, compiled ahead of time: what results needs nothing of Lambada.
//!
//! In a build script:
//!
//! ```no_run
//! # fn main() -> Result<(), lambada_build::Error> {
//! lambada_build::Model::new("model.lam").entry("loss").grad("loss", &["w"]).compile()
//! # }
//! ```
//!
//! and in the program `lambada_build::include_model!("model");`, which gives `model::loss` and `model::loss_grad`. The program needs `ndarray`. For its
//! own dependency, beside the one for the build script, `default-features = false` is enough.
//!
//! In reading order: what is asked for, what is offered as data, how a value becomes arguments of C, the texts, the files, the build script.

#[cfg(feature = "compiler")]
mod describe;
#[cfg(feature = "compiler")]
mod fortran;
#[cfg(feature = "compiler")]
mod header;
#[cfg(feature = "compiler")]
mod interface;
#[cfg(feature = "compiler")]
mod leaves;
#[cfg(feature = "compiler")]
mod library;
#[cfg(feature = "compiler")]
mod messages;
#[cfg(feature = "compiler")]
mod model;
#[cfg(feature = "compiler")]
mod names;
#[cfg(feature = "compiler")]
mod package;
#[cfg(feature = "compiler")]
mod request;
#[cfg(feature = "compiler")]
mod rust;
#[cfg(feature = "compiler")]
mod sizes;
#[cfg(feature = "compiler")]
mod text;

#[cfg(feature = "compiler")]
pub use describe::{Dims, Function, Input, Library, Output, Role, Rows};
#[cfg(feature = "compiler")]
pub use header::header;
#[cfg(feature = "compiler")]
pub use library::{Sources, library};
#[cfg(feature = "compiler")]
pub use model::{Error, Model};
#[cfg(feature = "compiler")]
pub use names::name_of;
#[cfg(feature = "compiler")]
pub use package::{write_library, write_static};
#[cfg(feature = "compiler")]
pub use request::{Entry, Request};
#[cfg(feature = "compiler")]
pub use rust::rust_module;
#[cfg(feature = "compiler")]
pub use sizes::{Arithmetic, Extent, Spelling};

/// The module that a build script has made of the model of this name, such as `include_model!("model")` for `pub mod model`.
#[macro_export]
macro_rules! include_model {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}
