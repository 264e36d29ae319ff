//! Programs as C libraries and Rust modules, compiled ahead of time. The generated code does not
//! depend on Lambada.
//!
//! In a build script:
//!
//! ```no_run
//! # fn main() -> Result<(), lambada_build::Error> {
//! lambada_build::Model::new("model.lam").entry("loss").grad("loss", &["w"]).compile()
//! # }
//! ```
//!
//! and in the program `lambada_build::include_model!("model");`, which defines `model::loss` and
//! `model::loss_grad`. The program needs `ndarray`. Its own dependency on this crate, besides the
//! build dependency, needs no default features.

#[cfg(feature = "compiler")]
mod compiler;

#[cfg(feature = "compiler")]
pub use compiler::*;

/// Includes the module that a build script generated for a model: `include_model!("model")` defines
/// `pub mod model`.
#[macro_export]
macro_rules! include_model {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}
