//! Lambada: a differentiable, higher-order functional language and its compiler. This crate is the
//! façade: a [`Session`] loads files, a [`Unit`] is a checked file, a [`Call`] is a definition or
//! one of its derivatives about to be run, an [`Executable`] runs it.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;

mod answer;
mod api;
mod bench;
mod brief;
mod call;
mod counted;
mod data;
mod effort;
mod evaluate;
mod explain;
mod fields;
mod files;
mod fit;
mod format;
mod gradbench;
mod library;
mod manual;
mod memory;
// Without the features for files, messages about files are never constructed.
mod labels;
#[cfg_attr(not(all(feature = "arrow", feature = "csv", feature = "npz")), allow(dead_code))]
mod messages;
mod numbers;
mod occurrences;
pub mod operators;
mod options;
mod orders;
#[cfg(feature = "paper")]
pub mod paper;
mod parts;
mod passes;
mod pipeline;
mod posterior;
mod recursive;
mod session;
mod show;
mod source;
mod space;
mod sparse;
mod staged;
mod survey;
mod sweep;
mod types;
mod upgrade;
pub mod vectors;
mod verify;

pub use answer::{Answer, answer, drawn_arguments, signature};
pub use api::{
    Arg, Args, Blocks, Builder, Definition, Derivation, Diagnostic, Direction, Element, Error,
    ErrorKind, Function, Gradient, Hessian, Hvp, IntoArg, Jacobian, Jvp, Model, Output, Parameter,
    Parts, Pullback, ResultMemory, SparseMatrix, Triplets, Type, Value, ValueAndGrad, Variant, Vjp,
    record, variant,
};
pub use bench::{Bench, Benched, Compiled, Machine, Ran, Stopped};
pub use call::Call;
pub use counted::Counted;
#[cfg(feature = "arrow")]
pub use data::panics_are_told;
pub use data::{
    Inputs, Raw, STANDARD_INPUT, check_output, check_picture, check_place, is_definition,
    is_identifier, json_text, replace_file, spaced_assignment, split_names, to_json, write_file,
    write_sparse, write_text,
};
pub use effort::soon;
pub use evaluate::{Expression, Place, RESULT, is_incomplete, items};
pub use explain::{Example, Explanation, explain_code, explanation_link, explanations};
pub use files::{Disk, Files, InMemory};
pub use gradbench::{Ended, gradbench};
pub use labels::Label;
pub use lambada_core::FieldOrder;
pub use lambada_core::data::{Data, Style};
pub use lambada_elaborate::messages::is_unused;
pub use lambada_elaborate::{Meaning, Names, Shape};
pub use lambada_graph::{Mechanism, Mechanisms};
pub use lambada_prim::{Data as Elements, Precision, Scalar, Tensor};
#[cfg(unix)]
pub use lambada_run::is_ignored;
/// The version of `ndarray` whose arrays are arguments and results. Arrays of another one pass as
/// sizes and elements: [`Arg::reals`], [`Value::into_reals`].
pub use ndarray;

pub use lambada_run::release as release_memory;
pub use lambada_run::{Cancel, Target, output_was_closed, remove_unfinished, warn_with};
pub use lambada_source::stack::roomy;
pub use lambada_source::{Failure, Problem, Severity, quoted, suggest};
pub use library::{MODULES, PRELUDE, module_text};
pub use manual::{Chapter, Entry, chapters, manual, page};
pub use memory::{check_environment, memory_size};
pub use numbers::lists;
pub use occurrences::{Occurrence, Symbol};
pub use operators::Operator;
pub use options::{Effort, Engine, Options};
pub use passes::{Pass, PassTime, pass_times, passes, table, timed_passes};
pub use pipeline::{Arrays, Executable, Observer, arrays, lower, lower_for};
pub use posterior::{Found, Given, Goal, Optimum, Posterior, Prediction, Request};
pub use session::{Session, Unit, label};
pub use show::Stage;
pub use space::Variable;
pub use sparse::Sparse;
pub use staged::Staged;
pub use survey::Survey;
pub use sweep::{Along, Range, Slopes, Sweep, Swept};
pub use verify::{Check, Row, Verification, Verify};
