//! Files of draws. Contents are bytes: the caller reads and replaces files.
//!
//! - `table`: draws as named columns, a row for each draw;
//! - `csv`, `parquet`: tables; they hold the parameters, the statistics and the attributes;
//! - `netcdf`: all of [`Draws`], as ArviZ lays it out, in the container that `hdf5` writes and
//!   reads.

mod csv;
mod hdf5;
mod netcdf;
#[cfg(feature = "parquet")]
mod parquet;
mod table;

use std::path::Path;

use crate::draws::{Draws, Wrong};

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Text with a line for each draw.
    Csv,
    /// Compressed columns.
    #[cfg(feature = "parquet")]
    Parquet,
    /// Arrays in groups: NetCDF-4.
    NetCdf,
}

impl Format {
    /// The format that the name of a file tells.
    pub fn of(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match &extension[..] {
            "csv" => Some(Format::Csv),
            #[cfg(feature = "parquet")]
            "parquet" | "pq" => Some(Format::Parquet),
            "nc" | "netcdf" | "h5" => Some(Format::NetCdf),
            _ => None,
        }
    }

    /// Extensions of the names of files, the usual one of each format.
    pub fn extensions() -> &'static [&'static str] {
        &[
            "nc",
            #[cfg(feature = "parquet")]
            "parquet",
            "csv",
        ]
    }

    /// The contents of a file with these draws.
    ///
    /// # Errors
    /// [`Wrong::Shape`], if an array has not the length that its dimensions say; [`Wrong::Format`],
    /// with the message of a library.
    pub fn write(self, draws: &Draws) -> Result<Vec<u8>, Wrong> {
        draws.check()?;
        match self {
            Format::Csv => csv::write(&table::of(draws)),
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::write(&table::of(draws)),
            Format::NetCdf => netcdf::write(draws),
        }
    }

    /// The draws of a file with these contents.
    ///
    /// # Errors
    /// The place and the mistake, if it is no such file, or a broken or incomplete one.
    pub fn read(self, bytes: &[u8]) -> Result<Draws, Wrong> {
        let draws = match self {
            Format::Csv => csv::read(bytes)?.draws()?,
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::read(bytes)?.draws()?,
            Format::NetCdf => netcdf::read(bytes)?,
        };
        draws.check()?;
        Ok(draws)
    }
}
