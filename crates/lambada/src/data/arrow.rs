//! Tables as Apache Arrow has them: `.parquet` files, and `.arrow` or `.feather` files, in and out.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufReader, Cursor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchReader,
    StringArray, downcast_dictionary_array,
};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use lambada_prim::{Data as Elements, Memory, Tensor};
use lambada_source::Problem;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::ipc::{Layout, unpacked_size};
use super::table::{Column, Table};
use crate::messages::data as messages;

/// Why there is no table.
enum Wrong {
    /// The file is not as its format has it.
    Broken(String),
    /// It takes more memory than is allowed.
    Large,
}

impl<E: std::error::Error> From<E> for Wrong {
    fn from(error: E) -> Wrong {
        Wrong::Broken(error.to_string())
    }
}

/// The table of a Parquet file, within a limit on its memory.
///
/// # Errors
/// E0601 where the file cannot be read, E0663 where it is broken, E0620 where it is too large, E0661 where two columns have one name.
pub fn read_parquet(path: &Path, origin: &str, memory: Memory) -> Result<Table, Problem> {
    read(path, origin, memory, "Parquet", |file| {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)?.build()?;
        table(reader.schema(), reader, memory)
    })
}

/// The table of a file or stream in Arrow's interprocess format, which is also Feather's second version; as `read_parquet`.
pub fn read_ipc(path: &Path, origin: &str, memory: Memory) -> Result<Table, Problem> {
    read(path, origin, memory, "Arrow", |mut file| {
        let layout = Layout::of(&mut file)?;
        if unpacked_size(&mut file, layout)? > memory.limit {
            return Err(Wrong::Large);
        }
        let file = BufReader::new(file);
        match layout {
            Layout::File => {
                let reader = FileReader::try_new(file, None)?;
                table(reader.schema(), reader, memory)
            }
            Layout::Stream => {
                let reader = StreamReader::try_new(file, None)?;
                table(reader.schema(), reader, memory)
            }
        }
    })
}

fn read(
    path: &Path,
    origin: &str,
    memory: Memory,
    format: &str,
    read: impl FnOnce(File) -> Result<Table, Wrong>,
) -> Result<Table, Problem> {
    let file = File::open(path).map_err(|e| messages::io(path, "read", e))?;
    let table = guarded(|| read(file)).map_err(|wrong| match wrong {
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

/// The columns of all batches, one after the other.
fn table(
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    memory: Memory,
) -> Result<Table, Wrong> {
    let mut parts: Vec<RecordBatch> = Vec::new();
    let mut bytes = 0u64;
    for batch in batches {
        let batch = batch?;
        bytes = bytes.saturating_add(batch.get_array_memory_size() as u64);
        if bytes > memory.limit {
            return Err(Wrong::Large);
        }
        parts.push(batch);
    }
    let rows = parts.iter().map(RecordBatch::num_rows).fold(0, usize::saturating_add);
    let mut bytes = 0u64;
    let column = |(k, field): (usize, &Arc<Field>)| {
        let arrays: Vec<&dyn Array> = parts.iter().map(|part| &**part.column(k)).collect();
        bytes = arrays.iter().fold(bytes, |sum, array| sum.saturating_add(bytes_here(*array)));
        if bytes > memory.limit {
            return Err(Wrong::Large);
        }
        let column = match &arrays[..] {
            [] => column(&*arrow_array::new_empty_array(field.data_type())),
            [one] => column(*one),
            _ => column(&*arrow_select::concat::concat(&arrays)?),
        };
        Ok((field.name().clone(), column))
    };
    let columns = schema.fields().iter().enumerate().map(column).collect::<Result<_, _>>()?;
    Ok(Table { columns, rows, head: true })
}

/// What the values of an array take here, where a dictionary's are repeated, truth values take a byte each and missing ones take as much as others.
fn bytes_here(array: &dyn Array) -> u64 {
    let rows = array.len() as u64;
    if let Some(lengths) = lengths(array) {
        return lengths.fold(rows.saturating_mul(WORD), u64::saturating_add);
    }
    match array.data_type() {
        DataType::Dictionary(..) => repeated(array),
        DataType::FixedSizeList(..) => bytes_here(array.as_fixed_size_list().values()),
        DataType::List(_) => bytes_here(array.as_list::<i32>().values()),
        DataType::LargeList(_) => bytes_here(array.as_list::<i64>().values()),
        _ => rows.saturating_mul(NUMBER), // numbers, or nothing that is kept
    }
}

/// Bytes of a number, and of a word besides its text.
const NUMBER: u64 = size_of::<f64>() as u64;
const WORD: u64 = size_of::<String>() as u64;

/// The lengths of words in bytes, if it is text.
fn lengths<'a>(array: &'a dyn Array) -> Option<Box<dyn Iterator<Item = u64> + 'a>> {
    fn length(word: Option<&str>) -> u64 {
        word.map_or(0, |word| word.len() as u64)
    }
    match array.data_type() {
        DataType::Utf8 => Some(Box::new(array.as_string::<i32>().iter().map(length))),
        DataType::LargeUtf8 => Some(Box::new(array.as_string::<i64>().iter().map(length))),
        DataType::Utf8View => Some(Box::new(array.as_string_view().iter().map(length))),
        _ => None, // all others are no text
    }
}

/// What the values of a dictionary take, each as often as there is its key. The keys are visited where they are: a copy would be larger than they.
fn repeated(array: &dyn Array) -> u64 {
    let (rows, values) = (array.len() as u64, array.as_any_dictionary().values());
    let Some(lengths) = lengths(values) else {
        let each = if values.data_type().is_nested() { bytes_here(values) } else { NUMBER };
        return rows.saturating_mul(each);
    };
    let lengths: Vec<u64> = lengths.collect();
    let length = |key: usize| lengths.get(key).copied().unwrap_or(0);
    let text = downcast_dictionary_array! {
        array => array.keys_iter().flatten().map(length).fold(0, u64::saturating_add),
        _ => 0, // dictionaries are all that come here
    };
    text.saturating_add(rows.saturating_mul(WORD))
}

/// A column with the type that its values have here. Missing numbers are NaN, as in text.
fn column(array: &dyn Array) -> Column {
    if let Some(words) = words(array) {
        return words;
    }
    match tensor(array) {
        Ok(tensor) => Column::Numbers(tensor),
        Err(what) => Column::Foreign(what),
    }
}

/// Text, if it is that.
fn words(array: &dyn Array) -> Option<Column> {
    let all = |words: &mut dyn Iterator<Item = Option<&str>>| {
        let words: Option<Vec<String>> = words.map(|word| word.map(str::to_string)).collect();
        words.map_or_else(|| Column::Foreign("text, some of it missing".into()), Column::Words)
    };
    match array.data_type() {
        DataType::Utf8 => Some(all(&mut array.as_string::<i32>().iter())),
        DataType::LargeUtf8 => Some(all(&mut array.as_string::<i64>().iter())),
        DataType::Utf8View => Some(all(&mut array.as_string_view().iter())),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            words(&*arrow_select::take::take(dictionary.values(), dictionary.keys(), None).ok()?)
        }
        _ => None, // all others are numbers or foreign
    }
}

/// Numbers, or arrays of them of one shape; else what the column holds, in words.
fn tensor(array: &dyn Array) -> Result<Tensor, String> {
    let rows = array.len();
    let vector = |data: Elements| Ok(Tensor { dims: vec![rows], data });
    match array.data_type() {
        DataType::Float64 => vector(reals::<Float64Type>(array)),
        DataType::Float32 => vector(reals::<Float32Type>(array)),
        DataType::Float16 => {
            let each = array.as_primitive::<Float16Type>().iter();
            vector(Elements::Real(each.map(|x| x.map_or(f64::NAN, |x| x.to_f64())).collect()))
        }
        DataType::Int64 => vector(ints::<Int64Type>(array, Some, |n| n as f64)?),
        DataType::UInt64 => {
            vector(ints::<UInt64Type>(array, |n| i64::try_from(n).ok(), |n| n as f64)?)
        }
        DataType::Int32 => vector(small_ints::<Int32Type>(array)?),
        DataType::Int16 => vector(small_ints::<Int16Type>(array)?),
        DataType::Int8 => vector(small_ints::<Int8Type>(array)?),
        DataType::UInt32 => vector(small_ints::<UInt32Type>(array)?),
        DataType::UInt16 => vector(small_ints::<UInt16Type>(array)?),
        DataType::UInt8 => vector(small_ints::<UInt8Type>(array)?),
        DataType::Decimal128(_, scale) => {
            let each = array.as_primitive::<Decimal128Type>().iter();
            let unit = 10f64.powi(i32::from(*scale));
            let real = |x: Option<i128>| x.map_or(f64::NAN, |x| x as f64 / unit);
            vector(Elements::Real(each.map(real).collect()))
        }
        DataType::Boolean => {
            let each: Option<Vec<bool>> = array.as_boolean().iter().collect();
            vector(Elements::Bool(each.ok_or("truth values, some of them missing")?))
        }
        DataType::Null => vector(Elements::Real(vec![f64::NAN; rows])),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let taken = arrow_select::take::take(dictionary.values(), dictionary.keys(), None);
            tensor(&*taken.map_err(|e| e.to_string())?)
        }
        DataType::FixedSizeList(_, width) => {
            let lists = array.as_fixed_size_list();
            let width = usize::try_from(*width).map_err(|_| foreign(array))?;
            lists_of(array, rows, width, lists.values())
        }
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            even_lists(array, lists.values(), lists.offsets().iter().map(|at| i64::from(*at)))
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            even_lists(array, lists.values(), lists.offsets().iter().copied())
        }
        _ => Err(foreign(array)), // dates, structures and what else tables of databases have
    }
}

fn foreign(array: &dyn Array) -> String {
    format!("values of Arrow's type {}", array.data_type())
}

/// Lists that begin where these offsets say, if they have one length.
fn even_lists(
    array: &dyn Array,
    values: &ArrayRef,
    offsets: impl Iterator<Item = i64>,
) -> Result<Tensor, String> {
    let offsets: Vec<usize> = offsets.map(|at| at as usize).collect();
    let mut lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
    let width = lengths.next().unwrap_or(0);
    if lengths.any(|length| length != width) {
        return Err("lists of different lengths".into());
    }
    let rows = array.len();
    let start = offsets.first().copied().unwrap_or(0);
    lists_of(array, rows, width, &values.slice(start, rows * width))
}

/// `rows` lists of `width` elements, which stand in `values` one after the other.
fn lists_of(
    array: &dyn Array,
    rows: usize,
    width: usize,
    values: &ArrayRef,
) -> Result<Tensor, String> {
    if array.null_count() > 0 {
        return Err("lists, some of them missing".into());
    }
    let Tensor { dims, data } = tensor(values)?;
    let dims = [rows, width].into_iter().chain(dims.into_iter().skip(1)).collect();
    Ok(Tensor { dims, data })
}

fn reals<T: ArrowPrimitiveType<Native: Into<f64>>>(array: &dyn Array) -> Elements {
    let each = array.as_primitive::<T>().iter();
    Elements::Real(each.map(|x| x.map_or(f64::NAN, Into::into)).collect())
}

fn small_ints<T: ArrowPrimitiveType<Native: Into<i64>>>(
    array: &dyn Array,
) -> Result<Elements, String> {
    ints::<T>(array, |n| Some(n.into()), |n| n.into() as f64)
}

/// Integers; reals where some are missing.
fn ints<T: ArrowPrimitiveType>(
    array: &dyn Array,
    int: fn(T::Native) -> Option<i64>,
    real: fn(T::Native) -> f64,
) -> Result<Elements, String> {
    let array = array.as_primitive::<T>();
    if array.null_count() > 0 {
        return Ok(Elements::Real(array.iter().map(|n| n.map_or(f64::NAN, real)).collect()));
    }
    let each: Option<Vec<i64>> = array.values().iter().map(|n| int(*n)).collect();
    each.map(Elements::Int).ok_or_else(|| "integers beyond 64 bits with a sign".into())
}

/// The bytes of a Parquet file with this table.
pub fn write_parquet(table: &Table) -> Result<Vec<u8>, String> {
    batch(table).and_then(|batch| parquet(&batch)).map_err(|e| e.to_string())
}

/// The bytes of an Arrow file with this table.
pub fn write_ipc(table: &Table) -> Result<Vec<u8>, String> {
    batch(table).and_then(|batch| ipc(&batch)).map_err(|e| e.to_string())
}

fn parquet(batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
    writer.write(batch)?;
    Ok(writer.into_inner()?)
}

fn ipc(batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = FileWriter::try_new(&mut bytes, &batch.schema())?;
    writer.write(batch)?;
    writer.finish()?;
    drop(writer);
    Ok(bytes.into_inner())
}

fn batch(table: &Table) -> Result<RecordBatch, ArrowError> {
    let array = |column: &Column| -> ArrayRef {
        match column {
            Column::Numbers(tensor) => match &tensor.data {
                Elements::Real(v) => Arc::new(Float64Array::from(v.clone())),
                Elements::Int(v) => Arc::new(Int64Array::from(v.clone())),
                Elements::Bool(v) => Arc::new(BooleanArray::from(v.clone())),
            },
            Column::Words(words) => Arc::new(StringArray::from_iter_values(words)),
            Column::Foreign(_) => arrow_array::new_null_array(&DataType::Null, table.rows),
        }
    };
    let arrays: Vec<ArrayRef> = table.columns.iter().map(|(_, column)| array(column)).collect();
    let field = |((name, column), array): (&(String, Column), &ArrayRef)| {
        Field::new(name, array.data_type().clone(), matches!(column, Column::Foreign(_)))
    };
    let fields: Vec<Field> = table.columns.iter().zip(&arrays).map(field).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int8Type;
    use arrow_array::{
        Date32Array, Decimal128Array, DictionaryArray, Float32Array, ListArray, UInt64Array,
    };

    use super::*;

    type Written = fn(&RecordBatch) -> Result<Vec<u8>, ArrowError>;
    type Read = fn(&Path, &str, Memory) -> Result<Table, Problem>;
    const FORMATS: [(Written, Read); 2] = [(parquet, read_parquet), (ipc, read_ipc)];

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
                    "holes lists of different lengths",
                    "day values of Arrow's type Date32",
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
        let rows = (0..20_000).map(|k| words[k % words.len()].as_str());
        let kinds: DictionaryArray<Int32Type> = rows.collect();
        assert_eq!(bytes_here(&kinds), 20_000 * (10 + WORD));
        let none: DictionaryArray<Int32Type> = Vec::<&str>::new().into_iter().collect();
        assert_eq!(bytes_here(&none), 0);
        let parts = StringArray::from(words);
        assert_eq!(bytes_here(&parts.slice(7, 3)), 3 * (10 + WORD));
    }

    #[test]
    fn a_table_without_rows_keeps_its_columns() {
        for format in FORMATS {
            let none: ArrayRef = Arc::new(Float64Array::from(Vec::<f64>::new()));
            assert_eq!(through(format, vec![("x", none)]), ["x [0] Real([])"]);
        }
    }

    /// What is cut off or changed is an error or a table, never a panic.
    #[test]
    fn broken_files_are_told() {
        let column = Column::Numbers(Tensor::reals(vec![64], (0..64).map(f64::from).collect()));
        let words = Column::Words((0..64).map(|k| format!("w{}", k % 5)).collect());
        let columns = vec![("x".to_string(), column), ("w".to_string(), words)];
        let table = Table { columns, rows: 64, head: true };
        let folder = tempfile::tempdir().expect("a folder");
        for format in FORMATS {
            let (written, read) = format;
            let whole = batch(&table).and_then(|batch| written(&batch)).expect("written");
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
