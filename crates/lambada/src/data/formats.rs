//! The formats of files, by the ends of their names: a row for each that this library is built
//! with.

use std::path::Path;

use lambada_prim::{Memory, Precision, Tensor};
use lambada_source::Problem;

use super::table::Table;
use crate::messages::data as messages;

/// Arrays by name.
type Named = [(String, Tensor)];

/// The same, owned.
type NamedArrays = Vec<(String, Tensor)>;

/// The bytes of a file, or what the library says that makes them.
type Made = Result<Vec<u8>, String>;

/// A file format.
pub(super) struct Format {
    /// The ends of its names, without the dot; the first is the usual one.
    ends: &'static [&'static str],
    pub(super) read: Read,
    pub(super) write: Option<Write>,
    /// The bytes of a file with the parts of a sparse matrix, and of a value as one array more,
    /// where they are no record.
    pub(super) sparse: Option<fn(&Named, Precision) -> Made>,
}

/// How a file of a format is read.
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

/// The bytes of a file with a result.
pub(super) enum Write {
    /// Of any result: JSON.
    Json,
    /// Of one that is a table.
    Table(fn(&Table) -> Result<Vec<u8>, String>),
    /// Of one that consists of arrays.
    Arrays(fn(&Named, Precision) -> Made),
}

/// All formats, with what is most general first.
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
    /// The format that a name tells.
    ///
    /// # Errors
    /// E0604 with the ends of names that are known.
    pub(super) fn of(path: &Path) -> Result<&'static Format, Problem> {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let known = FORMATS.iter().find(|format| format.ends.contains(&extension));
        known.ok_or_else(|| unknown(path))
    }

    /// The format of a result that a name tells.
    ///
    /// # Errors
    /// E0604, also where the format is only read.
    pub(super) fn of_result(path: &Path) -> Result<&'static Format, Problem> {
        Format::of(path).and_then(|format| match format.write {
            Some(_) => Ok(format),
            None => Err(unknown(path)),
        })
    }
}

/// What is told of a name that is not of a format that can be written.
pub(super) fn unknown(path: &Path) -> Problem {
    let ends = |written: bool| {
        let formats = FORMATS.iter().filter(move |format| format.write.is_some() == written);
        formats.map(|format| format!(".{}", format.ends[0])).collect::<Vec<_>>()
    };
    messages::unknown_format(path, &ends(true), &ends(false))
}
