//! Tables as Apache Arrow has them: `.parquet` files, and `.arrow` or `.feather` files, in and out.

use std::cell::Cell;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use lambada_prim::Memory;
use lambada_source::Problem;

use super::cells::Wrong;
use super::table::Table;
use crate::messages::data as messages;

/// The table of a Parquet file, within a limit on its memory.
///
/// # Errors
/// E0601 where the file cannot be read, E0663 where it is broken, E0620 where it is too large, E0661 where two columns have one name.
pub fn read_parquet(path: &Path, origin: &str, memory: Memory) -> Result<Table, Problem> {
    read(path, origin, memory, "Parquet", super::parquet::read)
}

/// The table of a file or stream in Arrow's interprocess format, which is also Feather's second version; as `read_parquet`.
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
    let names = table.columns.iter().map(|(name, _)| name);
    match names.enumerate().find(|(k, name)| table.columns[..*k].iter().any(|(n, _)| n == *name)) {
        Some((_, name)) => Err(messages::repeated_column(origin, name)),
        None => Ok(table),
    }
}

thread_local! {
    /// Is a library reading a file on this thread whose panics mean that the file is broken?
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Is a panic on this thread one that is told as a broken file? A hook for panics leaves it alone then.
pub fn panics_are_told() -> bool {
    GUARDED.get()
}

/// The libraries panic on some files that are broken: an error as any other.
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

/// The bytes of a Parquet file with this table.
pub fn write_parquet(table: &Table) -> Result<Vec<u8>, String> {
    super::parquet::write(table).map_err(|e| e.to_string())
}

/// The bytes of an Arrow file with this table.
pub fn write_ipc(table: &Table) -> Result<Vec<u8>, String> {
    Ok(super::ipc::write(table))
}

#[cfg(test)]
mod tests {
    //! Files that Arrow's own library writes are read here, and it reads those that are written here.

    use std::io::Cursor;
    use std::sync::Arc;

    use arrow_array::types::{Float64Type, Int8Type, Int32Type};
    use arrow_array::{
        Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
        FixedSizeListArray, Float32Array, Float64Array, Int64Array, LargeStringArray, ListArray,
        RecordBatch, StringArray, StringViewArray, UInt64Array,
    };
    use arrow_buffer::OffsetBuffer;
    use arrow_ipc::CompressionType;
    use arrow_ipc::reader::FileReader;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
    use arrow_schema::{ArrowError, Field};
    use lambada_prim::{Data as Elements, Tensor};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;
    use crate::data::table::Column;

    fn parquet(batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
        writer.write(batch)?;
        Ok(writer.into_inner()?)
    }

    fn ipc(batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
        packed(batch, None)
    }

    fn packed(
        batch: &RecordBatch,
        packing: Option<CompressionType>,
    ) -> Result<Vec<u8>, ArrowError> {
        let mut bytes = Cursor::new(Vec::new());
        let options = IpcWriteOptions::default().try_with_compression(packing)?;
        let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options)?;
        writer.write(batch)?;
        writer.finish()?;
        drop(writer);
        Ok(bytes.into_inner())
    }

    type Written = fn(&RecordBatch) -> Result<Vec<u8>, ArrowError>;
    type Read = fn(&Path, &str, Memory) -> Result<Table, Problem>;
    /// What is written here, too.
    type Write = fn(&Table) -> Result<Vec<u8>, String>;
    const OWN: [(Write, Read); 2] = [(write_parquet, read_parquet), (write_ipc, read_ipc)];
    const FORMATS: [(Written, Read); 4] = [
        (parquet, read_parquet),
        (ipc, read_ipc),
        (|batch| packed(batch, Some(CompressionType::LZ4_FRAME)), read_ipc),
        (|batch| packed(batch, Some(CompressionType::ZSTD)), read_ipc),
    ];

    /// The columns of a file with these arrays, by their names.
    fn through((written, read): (Written, Read), arrays: Vec<(&str, ArrayRef)>) -> Vec<String> {
        let batch = RecordBatch::try_from_iter_with_nullable(
            arrays.into_iter().map(|(name, array)| (name, array, true)),
        );
        let bytes = written(&batch.expect("columns of one length")).expect("written");
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), bytes).expect("written");
        let table = read(file.path(), "it", Memory { limit: 1 << 20 }).expect("a table");
        let shown = |(name, column): &(String, Column)| match column {
            Column::Numbers(tensor) => format!("{name} {:?} {:?}", tensor.dims, tensor.data),
            Column::Words(words) => format!("{name} {words:?}"),
            Column::Foreign(what) => format!("{name} {what}"),
        };
        table.columns.iter().map(shown).collect()
    }

    #[test]
    fn columns_keep_what_they_hold() {
        let rows = |rows: &[Option<&[f64]>]| {
            let rows = rows.iter().map(|row| row.map(|row| row.iter().map(|x| Some(*x)).collect()));
            ListArray::from_iter_primitive::<Float64Type, Vec<Option<f64>>, _>(rows)
        };
        let kinds: DictionaryArray<Int8Type> = ["b", "a", "b"].into_iter().collect();
        for format in FORMATS {
            let arrays: Vec<(&str, ArrayRef)> = vec![
                ("x", Arc::new(Float32Array::from(vec![Some(0.5), None, Some(2.0)]))),
                ("n", Arc::new(UInt64Array::from(vec![1, 2, 3]))),
                ("some", Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]))),
                ("ok", Arc::new(BooleanArray::from(vec![true, false, true]))),
                ("kind", Arc::new(kinds.clone())),
                (
                    "even",
                    Arc::new(rows(&[Some(&[1.0, 2.0]), Some(&[3.0, 4.0]), Some(&[5.0, 6.0])])),
                ),
                ("ragged", Arc::new(rows(&[Some(&[1.0]), Some(&[]), Some(&[2.0])]))),
                ("holes", Arc::new(rows(&[Some(&[1.0]), None, Some(&[2.0])]))),
                ("day", Arc::new(Date32Array::from(vec![1, 2, 3]))),
                ("huge", Arc::new(UInt64Array::from(vec![u64::MAX, 2, 3]))),
                (
                    "cents",
                    Arc::new(
                        Decimal128Array::from(vec![125, 250, -5])
                            .with_precision_and_scale(9, 2)
                            .expect("a precision"),
                    ),
                ),
            ];
            assert_eq!(
                through(format, arrays),
                [
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
                ]
            );
        }
    }

    /// A word of a dictionary takes as much as it has letters, not as much as the dictionary.
    #[test]
    fn words_of_a_dictionary_are_counted_by_their_keys() {
        let words: Vec<String> = (0..1000).map(|k| format!("{k:010}")).collect();
        let kinds: DictionaryArray<Int32Type> =
            (0..20_000).map(|k| words[k % words.len()].as_str()).collect();
        let batch = RecordBatch::try_from_iter([("kind", Arc::new(kinds) as ArrayRef)]);
        let batch = batch.expect("a column");
        let file = tempfile::NamedTempFile::new().expect("a file");
        let bytes = 20_000 * (10 + size_of::<String>() as u64);
        for (written, read) in FORMATS {
            std::fs::write(file.path(), written(&batch).expect("written")).expect("written");
            let within = |limit| read(file.path(), "it", Memory { limit }).is_ok();
            assert!(within(bytes) && !within(bytes - 1));
        }
    }

    #[test]
    fn a_table_without_rows_keeps_its_columns() {
        for format in FORMATS {
            let none: ArrayRef = Arc::new(Float64Array::from(Vec::<f64>::new()));
            assert_eq!(through(format, vec![("x", none)]), ["x [0] Real([])"]);
        }
    }

    /// Lists in lists, of a width that the type tells or all have; short and long words of a view; rows in several groups.
    #[test]
    fn lists_are_arrays_and_views_are_words() {
        let numbers: ArrayRef = Arc::new(Float64Array::from_iter_values((0..12).map(f64::from)));
        let pairs = |values: ArrayRef| {
            let field = Arc::new(Field::new("item", values.data_type().clone(), false));
            FixedSizeListArray::new(field, 2, values, None)
        };
        let threes: ArrayRef = {
            let values: ArrayRef = Arc::new(pairs(numbers));
            let field = Arc::new(Field::new("item", values.data_type().clone(), false));
            let places = OffsetBuffer::from_lengths([3, 3]);
            Arc::new(ListArray::new(field, places, values, None))
        };
        let words = ["short", "a word that is longer than a view has room for"];
        let words: ArrayRef = Arc::new(StringViewArray::from_iter_values(words));
        for format in FORMATS {
            assert_eq!(
                through(format, vec![("a", threes.clone()), ("w", words.clone())]),
                [
                    "a [2, 3, 2] Real([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0])",
                    "w [\"short\", \"a word that is longer than a view has room for\"]",
                ]
            );
        }
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

    #[test]
    fn what_is_written_is_read_by_others() {
        let table = each_kind();
        let bytes = write_parquet(&table).expect("written");
        let mut reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes))
            .and_then(|builder| builder.build())
            .expect("a reader");
        let first = reader.next().expect("a batch").expect("rows");
        let bytes = write_ipc(&table).expect("written");
        let mut reader = FileReader::try_new(Cursor::new(bytes), None).expect("a reader");
        let second = reader.next().expect("a batch").expect("rows");
        for batch in [first, second] {
            let column = |k: usize| batch.column(k).as_any();
            let reals: Option<&Float64Array> = column(0).downcast_ref();
            assert_eq!(reals.expect("reals").values()[3], 0.75);
            let integers: Option<&Int64Array> = column(1).downcast_ref();
            assert_eq!(integers.expect("integers").values()[..2], [-4, -3]);
            let truths: Option<&BooleanArray> = column(2).downcast_ref();
            let truths: Vec<bool> = truths.expect("truths").iter().flatten().collect();
            assert_eq!(truths, (0..9).map(|k| k % 3 == 0).collect::<Vec<_>>());
            let small: Option<&StringArray> = column(3).downcast_ref();
            let large: Option<&LargeStringArray> = column(3).downcast_ref();
            let word = small.map(|words| words.value(8)).or(large.map(|words| words.value(8)));
            assert_eq!(word, Some("éééééééé"));
        }
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

    /// What is cut off or changed is an error or a table, never a panic.
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
