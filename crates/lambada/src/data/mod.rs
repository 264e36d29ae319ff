//! Input and output of data. JSON, NumPy archives, tables and `name=value` arguments become typed
//! values, checked against a signature; results become text, JSON, NumPy archives or tables.
//! Independent of running programs.

#[cfg(feature = "arrow")]
mod arrow;
mod bind;
#[cfg(feature = "arrow")]
mod cells;
mod deep;
#[cfg(feature = "csv")]
mod delimited;
// Without the features for files, some variants are never constructed.
#[cfg_attr(not(all(feature = "arrow", feature = "csv", feature = "npz")), allow(dead_code))]
mod formats;
#[cfg(feature = "arrow")]
mod ipc;
mod json;
mod names;
#[cfg(feature = "npz")]
mod npy;
#[cfg(feature = "npz")]
mod npz;
#[cfg(feature = "arrow")]
mod parquet;
mod raw;
mod shapes;
mod sizes;
mod stream;
mod table;
mod write;

#[cfg(feature = "arrow")]
pub use arrow::panics_are_told;
pub use bind::{bind_one, bind_or, print_type};
pub(crate) use bind::{given, renamed, scalar_leaf};
pub use names::{
    is_definition, is_identifier, names_match, spaced_assignment, split_assignment, split_names,
};
pub use raw::{Inputs, Raw, STANDARD_INPUT};
pub(crate) use shapes::{array_shape, shape_of, shapes};
pub use sizes::unsized_ty;
pub(crate) use stream::{Json, Typed};
pub(crate) use table::Column;
pub use write::{
    check_output, check_picture, check_place, json_text, replace_file, to_json, write_file,
    write_sparse, write_text,
};
