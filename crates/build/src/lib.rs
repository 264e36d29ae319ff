//! Programs as libraries of C and as modules of Rust, compiled ahead of time: what results needs
//! nothing of Lambada.
//!
//! In a build script:
//!
//! ```no_run
//! # fn main() -> Result<(), lambada_build::Error> {
//! lambada_build::Model::new("model.lam").entry("loss").grad("loss", &["w"]).compile()
//! # }
//! ```
//!
//! and in the program `lambada_build::include_model!("model");`, which gives `model::loss` and
//! `model::loss_grad`. The program needs `ndarray`. For its own dependency, beside the one for the
//! build script, `default-features = false` is enough.

#[cfg(feature = "compiler")]
mod compiler;

#[cfg(feature = "compiler")]
pub use compiler::*;

/// The module that a build script has made of the model of this name, such as
/// `include_model!("model")` for `pub mod model`.
#[macro_export]
macro_rules! include_model {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}
