//! Lambada: a differentiable, higher-order functional language and its compiler. This crate is the façade: a [`Session`] loads files, a
//! [`Unit`] is a checked file, a [`Call`] is a definition or one of its derivatives about to be run, an [`Executable`] runs it.

use std::sync::atomic::{AtomicBool, Ordering};

mod call;
mod data;
mod evaluate;
mod explain;
mod fields;
mod fit;
mod format;
mod gradbench;
mod library;
mod manual;
mod memory;
mod messages;
pub mod operators;
pub mod paper;
mod parts;
mod passes;
mod pipeline;
mod session;
mod show;
mod source;
mod sparse;
mod types;
pub mod vectors;
mod verify;

pub use call::Call;
pub use data::{
    Format, Inputs, Raw, is_definition, is_identifier, json_text, replace_file, spaced_assignment,
    split_names, to_json, write_file, write_sparse,
};
pub use evaluate::{Expression, Place, RESULT, is_incomplete, items};
pub use explain::{Example, Explanation, explain_code, explanations};
pub use gradbench::{Ended, gradbench};
pub use lambada_core::data::{Data, Style};
pub use lambada_prim::{Data as Elements, Scalar, Tensor};
pub use lambada_run::output_was_closed;
pub use lambada_source::{Failure, Problem, Severity, suggest};
pub use library::{MODULES, PRELUDE, module_text};
pub use manual::{Chapter, Entry, chapters, manual, page};
pub use memory::{check_environment, limit_memory, limit_memory_to};
pub use operators::Operator;
pub use passes::{Pass, passes, request_timings, table, timings};
pub use pipeline::{Arrays, Engine, Executable, Observer, Staged, arrays, lower};
pub use session::{Session, Unit, label};
pub use show::Stage;
pub use sparse::Sparse;
pub use verify::{Check, Row, Verification, Verify};

/// Are the checkers to run after every pass? They always do in debug builds.
static CHECKS: AtomicBool = AtomicBool::new(cfg!(debug_assertions));

/// From now on, the checkers run after every pass, in release builds too.
pub fn request_checks() {
    CHECKS.store(true, Ordering::Relaxed);
}

fn checks_requested() -> bool {
    CHECKS.load(Ordering::Relaxed)
}
