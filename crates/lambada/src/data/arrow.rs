//! Tables in Apache Arrow's formats: `.parquet`, `.arrow` and `.feather` files, reading and
//! writing.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use lambada_prim::Memory;
use lambada_source::Problem;

use super::cells::Wrong;
use super::table::Table;
use crate::messages::data as messages;

/// Reads a Parquet file within a memory limit.
///
/// # Errors
/// E0601 if the file cannot be read, E0663 if it is broken, E0620 if it is too large, E0661 if two
/// columns have the same name.
pub fn read_parquet(path: &Path, origin: &str, memory: Memory) -> Result<Table, Problem> {
    read(path, origin, memory, "Parquet", super::parquet::read)
}

/// As [`read_parquet`], for a file or stream in Arrow's interprocess format, also known as Feather
/// version 2.
pub fn read_ipc(path: &Path, origin: &str, memory: Memory) -> Result<Table, Problem> {
    read(path, origin, memory, "Arrow", super::ipc::read)
}

fn read(
    path: &Path,
    origin: &str,
    memory: Memory,
    format: &str,
    read: fn(File, Memory) -> Result<Table, Wrong>,
) -> Result<Table, Problem> {
    let file = File::open(path).map_err(|e| messages::io(path, "read", e))?;
    let table = guarded(|| read(file, memory)).map_err(|wrong| match wrong {
        Wrong::Broken(why) => messages::not_a_container(origin, format, &why),
        Wrong::Large => messages::too_large(origin, memory.limit),
    })?;
    let (mut names, mut known) = (table.columns.iter().map(|(name, _)| name), HashSet::new());
    match names.find(|name| !known.insert(*name)) {
        Some(name) => Err(messages::repeated_column(origin, name)),
        None => Ok(table),
    }
}

thread_local! {
    /// Whether this thread is in a reader whose panics mean that the file is broken.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread will be reported as a broken file, so that a panic hook should
/// ignore it.
pub fn panics_are_told() -> bool {
    GUARDED.get()
}

/// Converts panics into errors, because the libraries panic on some broken files.
fn guarded(read: impl FnOnce() -> Result<Table, Wrong>) -> Result<Table, Wrong> {
    GUARDED.set(true);
    let table = catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(false);
    table.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied());
        Err(Wrong::Broken(text.unwrap_or("it contradicts itself").to_string()))
    })
}

/// Encodes a table as a Parquet file.
pub fn write_parquet(table: &Table) -> Result<Vec<u8>, String> {
    super::parquet::write(table).map_err(|e| e.to_string())
}

/// Encodes a table as an Arrow file.
pub fn write_ipc(table: &Table) -> Result<Vec<u8>, String> {
    Ok(super::ipc::write(table))
}

#[cfg(test)]
mod tests {
    //! Reads files that Arrow's own library wrote (`tests/tables/write.py`), and files written
    //! here.

    use lambada_prim::{Data as Elements, Tensor};

    use super::*;
    use crate::data::table::Column;

    type Read = fn(&Path, &str, Memory) -> Result<Table, Problem>;
    type Write = fn(&Table) -> Result<Vec<u8>, String>;
    const OWN: [(Write, Read); 2] = [(write_parquet, read_parquet), (write_ipc, read_ipc)];
    const FORMATS: [(&str, Read); 4] = [
        ("parquet", read_parquet),
        ("arrow", read_ipc),
        ("lz4.arrow", read_ipc),
        ("zstd.arrow", read_ipc),
    ];

    const TABLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tables");

    /// Reads the table of this name in each format.
    fn each(name: &str, limit: u64) -> impl Iterator<Item = Result<Table, Problem>> {
        FORMATS.iter().map(move |(format, read)| {
            read(&Path::new(TABLES).join(format!("{name}.{format}")), "it", Memory { limit })
        })
    }

    /// The columns of the table of this name, which must agree in all formats.
    fn columns(name: &str) -> Vec<String> {
        let shown = |(name, column): &(String, Column)| match column {
            Column::Numbers(tensor) => format!("{name} {:?} {:?}", tensor.dims, tensor.data),
            Column::Words(words) => format!("{name} {words:?}"),
            Column::Foreign(what) => format!("{name} {what}"),
        };
        let tables = each(name, 1 << 20).map(|table| table.expect("a table"));
        let mut all: Vec<Vec<String>> =
            tables.map(|table| table.columns.iter().map(shown).collect()).collect();
        all.dedup();
        assert_eq!(all.len(), 1, "formats differ: {all:?}");
        all.remove(0)
    }

    #[test]
    fn columns_keep_what_they_hold() {
        let expected = [
            "x [3] Real([0.5, NaN, 2.0])",
            "n [3] Int([1, 2, 3])",
            "some [3] Real([1.0, NaN, 3.0])",
            "ok [3] Bool([true, false, true])",
            "kind [\"b\", \"a\", \"b\"]",
            "even [3, 2] Real([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])",
            "ragged lists of different lengths",
            "holes lists, some of them missing",
            "day dates",
            "huge integers beyond 64 bits with a sign",
            "cents [3] Real([1.25, 2.5, -0.05])",
        ];
        assert_eq!(columns("kinds"), expected);
    }

    /// The memory limit counts a dictionary-encoded word by its length, not by the size of its
    /// dictionary.
    #[test]
    fn words_of_a_dictionary_are_counted_by_their_keys() {
        let bytes = 2000 * (10 + size_of::<String>() as u64);
        assert!(each("words", bytes).all(|table| table.is_ok()));
        assert!(each("words", bytes - 1).all(|table| table.is_err()));
    }

    #[test]
    fn a_table_without_rows_keeps_its_columns() {
        assert_eq!(columns("no_rows"), ["x [0] Real([])"]);
    }

    /// Nested lists, of a width given by the type or common to all; short and long words of a view;
    /// rows in several groups.
    #[test]
    fn lists_are_arrays_and_views_are_words() {
        let expected = [
            "a [2, 3, 2] Real([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0])",
            "w [\"short\", \"a word that is longer than a view has room for\"]",
        ];
        assert_eq!(columns("lists"), expected);
    }

    /// A table with a column of each kind.
    fn each_kind() -> Table {
        let numbers = |data| Column::Numbers(Tensor { dims: vec![9], data });
        let words = (0..9).map(|k| "é".repeat(k)).collect();
        let columns = vec![
            ("x".into(), numbers(Elements::Real((0..9).map(|k| f64::from(k) / 4.0).collect()))),
            ("n".into(), numbers(Elements::Int((-4..5).collect()))),
            ("ok".into(), numbers(Elements::Bool((0..9).map(|k| k % 3 == 0).collect()))),
            ("w".into(), Column::Words(words)),
        ];
        Table { columns, rows: 9, head: true, lines: None }
    }

    /// `tests/tables/write.py` reads `written.arrow` with Arrow's own library.
    #[test]
    fn what_is_written_is_read_by_others() {
        let written = write_ipc(&each_kind()).expect("written");
        let path = Path::new(TABLES).join("written.arrow");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &written).expect("written");
        }
        assert!(std::fs::read(&path).is_ok_and(|known| known == written));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let table = each_kind();
        let file = tempfile::NamedTempFile::new().expect("a file");
        for (write, read) in OWN {
            std::fs::write(file.path(), write(&table).expect("written")).expect("written");
            let again = read(file.path(), "it", Memory { limit: 1 << 20 }).expect("a table");
            assert_eq!(format!("{again:?}"), format!("{table:?}"));
        }
    }

    /// A truncated or corrupted file yields an error or a table, never a panic.
    #[test]
    fn broken_files_are_told() {
        let column = Column::Numbers(Tensor::reals(vec![64], (0..64).map(f64::from).collect()));
        let words = Column::Words((0..64).map(|k| format!("w{}", k % 5)).collect());
        let columns = vec![("x".to_string(), column), ("w".to_string(), words)];
        let table = Table { columns, rows: 64, head: true, lines: None };
        let folder = tempfile::tempdir().expect("a folder");
        for (write, read) in OWN {
            let whole = write(&table).expect("written");
            let path = folder.path().join("it");
            let mut told = 0;
            let mut tried = 0;
            let mut check = |bytes: &[u8]| {
                std::fs::write(&path, bytes).expect("written");
                tried += 1;
                told += usize::from(read(&path, "it", Memory { limit: 1 << 20 }).is_err());
            };
            for length in (0..whole.len()).step_by(7) {
                check(&whole[..length]);
            }
            for at in (0..whole.len()).step_by(3) {
                let mut bytes = whole.clone();
                bytes[at] ^= 0x55;
                check(&bytes);
            }
            assert!(told * 3 > tried, "{told} of {tried} were told");
        }
    }
}
