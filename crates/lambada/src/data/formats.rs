//! File formats by file name extension, one row for each format that this build supports.

use std::path::Path;

use lambada_prim::{Memory, Precision, Tensor};
use lambada_source::Problem;

use super::table::Table;
use crate::messages::data as messages;

/// Arrays by name.
type Named = [(String, Tensor)];

/// Owned arrays by name.
type NamedArrays = Vec<(String, Tensor)>;

/// The bytes of a file, or the error of the library that writes it.
type Made = Result<Vec<u8>, String>;

/// A file format.
pub(super) struct Format {
    /// File name extensions, without the dot; the first is the usual one.
    ends: &'static [&'static str],
    pub(super) read: Read,
    pub(super) write: Option<Write>,
    /// Encodes the parts of a sparse matrix, and its value as a further array, if the format does
    /// not use a record for them.
    pub(super) sparse: Option<fn(&Named, Precision) -> Made>,
}

/// Reader of a format.
pub(super) enum Read {
    /// An object of JSON.
    Json,
    /// A table.
    Table(fn(&Path, &str, Memory) -> Result<Table, Problem>),
    /// Arrays by name.
    Arrays(fn(&Path, &str, Memory) -> Result<NamedArrays, Problem>),
    /// One array.
    Array(fn(&Path, &str, &str) -> Result<Tensor, Problem>),
}

/// Encoder of a format for results.
pub(super) enum Write {
    /// JSON, for any result.
    Json,
    /// For tables.
    Table(fn(&Table) -> Result<Vec<u8>, String>),
    /// For results that consist of arrays.
    Arrays(fn(&Named, Precision) -> Made),
}

/// All formats, the most general first.
pub(super) const FORMATS: &[Format] = &[
    Format { ends: &["json"], read: Read::Json, write: Some(Write::Json), sparse: None },
    #[cfg(feature = "npz")]
    Format {
        ends: &["npz"],
        read: Read::Arrays(super::npz::read_npz),
        write: Some(Write::Arrays(super::npz::write_npz)),
        sparse: Some(super::npz::write_coo),
    },
    #[cfg(feature = "csv")]
    Format {
        ends: &["csv"],
        read: Read::Table(super::delimited::read_file),
        write: Some(Write::Table(super::delimited::write)),
        sparse: None,
    },
    #[cfg(feature = "arrow")]
    Format {
        ends: &["parquet", "pq"],
        read: Read::Table(super::arrow::read_parquet),
        write: Some(Write::Table(super::arrow::write_parquet)),
        sparse: None,
    },
    #[cfg(feature = "arrow")]
    Format {
        ends: &["arrow", "feather", "arrows", "ipc"],
        read: Read::Table(super::arrow::read_ipc),
        write: Some(Write::Table(super::arrow::write_ipc)),
        sparse: None,
    },
    #[cfg(feature = "npz")]
    Format {
        ends: &["npy"],
        read: Read::Array(super::npz::read_npy_file),
        write: None,
        sparse: None,
    },
    #[cfg(feature = "csv")]
    Format {
        ends: &["tsv"],
        read: Read::Table(super::delimited::read_file),
        write: None,
        sparse: None,
    },
];

impl Format {
    /// The format of a file name.
    ///
    /// # Errors
    /// E0604, which lists the known extensions.
    pub(super) fn of(path: &Path) -> Result<&'static Format, Problem> {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let known = FORMATS.iter().find(|format| format.ends.contains(&extension));
        known.ok_or_else(|| unknown(path))
    }

    /// The format for writing a result to a file name.
    ///
    /// # Errors
    /// E0604, also if the format can only be read.
    pub(super) fn of_result(path: &Path) -> Result<&'static Format, Problem> {
        Format::of(path).and_then(|format| match format.write {
            Some(_) => Ok(format),
            None => Err(unknown(path)),
        })
    }
}

/// The problem of a name without a known or writable format.
pub(super) fn unknown(path: &Path) -> Problem {
    let ends = |written: bool| {
        let formats = FORMATS.iter().filter(move |format| format.write.is_some() == written);
        formats.map(|format| format!(".{}", format.ends[0])).collect::<Vec<_>>()
    };
    messages::unknown_format(path, &ends(true), &ends(false))
}
