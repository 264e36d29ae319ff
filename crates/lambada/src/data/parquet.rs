//! Tables in Apache Parquet files, read column by column without Arrow arrays in between.
//!
//! A Parquet column consists of the values that are present, and of two levels for each position.
//! The definition level distinguishes a value, an empty list and a missing value. The repetition
//! level is the depth of the list that continues; 0 begins a row.

use std::fs::File;
use std::sync::Arc;

use ::parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::DataType;
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use ::parquet::file::serialized_reader::SerializedPageReader;
use ::parquet::schema::types::Type;
use lambada_prim::Memory;

use super::cells::{CellValue, Cells, NUMBER, Room, Wrong, half};
use super::table::{Column, Table};

mod write;

pub use write::write;

/// Rows between checks of the memory limit.
const ROWS_AT_ONCE: usize = 4096;

/// The table of a file.
pub fn read(file: File, memory: Memory) -> Result<Table, Wrong> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file)?;
    let schema = metadata.file_metadata().schema_descr().root_schema();
    let rows = usize::try_from(metadata.file_metadata().num_rows())?;
    let mut reader =
        ParquetReader { file: Arc::new(file), metadata: &metadata, rows, room: Room::of(memory) };
    let mut columns = Vec::new();
    let mut leaf = 0;
    for field in schema.get_fields() {
        columns.push((field.name().to_string(), reader.column(field, leaf)?));
        leaf += leaves(field);
    }
    Ok(Table { columns, rows, head: true, lines: None })
}

/// Number of Parquet columns in a field.
fn leaves(field: &Type) -> usize {
    match field {
        Type::PrimitiveType { .. } => 1,
        Type::GroupType { fields, .. } => fields.iter().map(|field| leaves(field)).sum(),
    }
}

struct ParquetReader<'a> {
    file: Arc<File>,
    metadata: &'a ParquetMetaData,
    rows: usize,
    room: Room,
}

impl ParquetReader<'_> {
    /// Reads a field whose first Parquet column is `leaf`.
    fn column(&mut self, field: &Type, leaf: usize) -> Result<Column, Wrong> {
        let mut lists = Vec::new();
        let Some(element) = element(field, &mut lists) else {
            return Ok(Column::Foreign("structures".into()));
        };
        let kind = match ColumnKind::of(element) {
            Ok(kind) => kind,
            Err(what) => return Ok(Column::Foreign(what.into())),
        };
        let mut column = Places::new(lists, kind.cells());
        for group in 0..self.metadata.num_row_groups() {
            self.chunk(group, leaf, kind, &mut column)?;
        }
        if column.rows != self.rows {
            let (name, here, all) = (field.name(), column.rows, self.rows);
            return Err(Wrong::Broken(format!("{here} rows of {all} in the column `{name}`")));
        }
        column.finish()
    }

    /// Reads the chunk of a column in one row group.
    fn chunk(
        &mut self,
        group: usize,
        leaf: usize,
        kind: ColumnKind,
        column: &mut Places,
    ) -> Result<(), Wrong> {
        let group = self.metadata.row_group(group);
        let rows = usize::try_from(group.num_rows())?;
        let chunk = group.columns().get(leaf).ok_or(Wrong::Broken("a column less".into()))?;
        let pages = SerializedPageReader::new(self.file.clone(), chunk, rows, None)?;
        let (full, room) = (chunk.column_descr().max_def_level(), &mut self.room);
        match get_column_reader(chunk.column_descr_ptr(), Box::new(pages)) {
            ColumnReader::BoolColumnReader(reader) => {
                column.read(reader, full, room, |truth| Ok(CellValue::Truth(*truth)))
            }
            ColumnReader::Int32ColumnReader(reader) => {
                column.read(reader, full, room, |n| Ok(kind.small_integer(*n)))
            }
            ColumnReader::Int64ColumnReader(reader) => {
                column.read(reader, full, room, |n| Ok(kind.integer(*n)))
            }
            ColumnReader::FloatColumnReader(reader) => {
                column.read(reader, full, room, |x| Ok(CellValue::Real(f64::from(*x))))
            }
            ColumnReader::DoubleColumnReader(reader) => {
                column.read(reader, full, room, |x| Ok(CellValue::Real(*x)))
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                column.read(reader, full, room, |bytes| kind.of_bytes(bytes.data()))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                column.read(reader, full, room, |bytes| kind.of_bytes(bytes.data()))
            }
            // Timestamps; no column of a supported type has them.
            ColumnReader::Int96ColumnReader(_) => Ok(()),
        }
    }
}

/// The type of the values in a field; adds for each enclosing list the definition level of its
/// elements. `None` for structures.
fn element<'a>(mut ty: &'a Type, lists: &mut Vec<i16>) -> Option<&'a Type> {
    let mut level = 0;
    loop {
        match ty.get_basic_info().repetition() {
            Repetition::REQUIRED => {}
            Repetition::OPTIONAL => level += 1,
            Repetition::REPEATED => {
                level += 1;
                lists.push(level);
            }
        }
        if ty.is_primitive() {
            return Some(ty);
        }
        let info = ty.get_basic_info();
        let list = info.logical_type_ref() == Some(&LogicalType::List)
            || info.converted_type() == ConvertedType::LIST;
        let [repeated] = ty.get_fields() else { return None };
        if !list || repeated.get_basic_info().repetition() != Repetition::REPEATED {
            return None;
        }
        if repeated.is_primitive() {
            ty = repeated; // files from before the intermediate level was introduced
            continue;
        }
        level += 1;
        lists.push(level);
        let [element] = repeated.get_fields() else { return None };
        // By the rules of the format, these names mark the group itself as the element, hence a
        // structure.
        if repeated.name() == "array" || repeated.name().strip_suffix("_tuple") == Some(ty.name()) {
            return None;
        }
        ty = element;
    }
}

/// Interpretation of the bits of a value.
#[derive(Clone, Copy, PartialEq)]
enum ColumnKind {
    Truth,
    Integer,
    Natural,
    Real,
    Half,
    /// An integer scaled by this factor.
    Decimal(f64),
    Word,
    /// No values.
    Nothing,
}

impl ColumnKind {
    /// The kind of a column's values, or a description of an unsupported type.
    fn of(ty: &Type) -> Result<ColumnKind, &'static str> {
        let info = ty.get_basic_info();
        let converted = info.converted_type();
        match (info.logical_type_ref(), converted) {
            (Some(LogicalType::Unknown), _) => return Ok(ColumnKind::Nothing),
            (Some(LogicalType::Decimal(decimal)), _) => {
                return decimal_kind(decimal.scale, decimal.precision);
            }
            (None, ConvertedType::DECIMAL) => {
                return decimal_kind(ty.get_scale(), ty.get_precision());
            }
            (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => return Err("dates"),
            (Some(LogicalType::Time(_)), _)
            | (None, ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS) => {
                return Err("times of the day");
            }
            (Some(LogicalType::Timestamp(_)), _)
            | (None, ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS) => {
                return Err("points in time");
            }
            (_, _) => {} // numbers, text and bytes
        }
        match ty.get_physical_type() {
            Physical::BOOLEAN => Ok(ColumnKind::Truth),
            Physical::FLOAT | Physical::DOUBLE => Ok(ColumnKind::Real),
            Physical::INT32 | Physical::INT64 => {
                let natural = match info.logical_type_ref() {
                    Some(LogicalType::Integer(integer)) => !integer.is_signed,
                    _ => matches!(
                        converted,
                        ConvertedType::UINT_8
                            | ConvertedType::UINT_16
                            | ConvertedType::UINT_32
                            | ConvertedType::UINT_64
                    ),
                };
                Ok(if natural { ColumnKind::Natural } else { ColumnKind::Integer })
            }
            Physical::INT96 => Err("points in time"),
            Physical::BYTE_ARRAY => match (info.logical_type_ref(), converted) {
                (Some(LogicalType::String | LogicalType::Json | LogicalType::Enum), _)
                | (None, ConvertedType::UTF8 | ConvertedType::JSON | ConvertedType::ENUM) => {
                    Ok(ColumnKind::Word)
                }
                (_, _) => Err("bytes"),
            },
            Physical::FIXED_LEN_BYTE_ARRAY => match info.logical_type_ref() {
                Some(LogicalType::Float16) => Ok(ColumnKind::Half),
                _ => Err("bytes"), // UUIDs, spans of time and others
            },
        }
    }

    fn cells(self) -> Cells {
        match self {
            ColumnKind::Truth => Cells::truths(),
            ColumnKind::Integer => Cells::integers(),
            ColumnKind::Natural => Cells::naturals(),
            ColumnKind::Real | ColumnKind::Half | ColumnKind::Decimal(_) | ColumnKind::Nothing => {
                Cells::reals()
            }
            ColumnKind::Word => Cells::words(),
        }
    }

    fn small_integer<'a>(self, n: i32) -> CellValue<'a> {
        let natural = self == ColumnKind::Natural;
        self.integer(if natural { i64::from(n as u32) } else { i64::from(n) })
    }

    fn integer<'a>(self, n: i64) -> CellValue<'a> {
        match self {
            ColumnKind::Natural => CellValue::Natural(n as u64),
            ColumnKind::Decimal(unit) => CellValue::Real(n as f64 / unit),
            _ => CellValue::Integer(n), // no other kind interprets integers
        }
    }

    fn of_bytes(self, bytes: &[u8]) -> Result<CellValue<'_>, Wrong> {
        match self {
            ColumnKind::Decimal(unit) => Ok(CellValue::Real(big_endian(bytes)? as f64 / unit)),
            ColumnKind::Half => Ok(CellValue::Real(half(u16::from_le_bytes(bytes.try_into()?)))),
            _ => Ok(CellValue::Word(std::str::from_utf8(bytes)?)), // no other kind has bytes
        }
    }
}

fn decimal_kind(scale: i32, precision: i32) -> Result<ColumnKind, &'static str> {
    match precision {
        ..=38 => Ok(ColumnKind::Decimal(10f64.powi(scale))),
        _ => Err("decimal numbers of more than 38 digits"),
    }
}

/// A signed big-endian integer.
fn big_endian(bytes: &[u8]) -> Result<i128, Wrong> {
    if bytes.len() > size_of::<i128>() {
        return Err(Wrong::Broken("a decimal number of more than 128 bits".into()));
    }
    let sign = if bytes.first().is_some_and(|byte| *byte >= 128) { -1 } else { 0 };
    Ok(bytes.iter().fold(sign, |n, byte| n << 8 | i128::from(*byte)))
}

/// A column being read: its values, and the enclosing lists.
struct Places {
    cells: Cells,
    lists: Vec<List>,
    rows: usize,
    /// Whether lists are missing.
    missing: bool,
}

/// Lists of one depth.
struct List {
    /// The definition level of an element.
    present: i16,
    /// Number of elements of the current list so far.
    length: Option<usize>,
    /// Length of the first list.
    width: Option<usize>,
    /// Whether another list has a different length.
    uneven: bool,
}

impl List {
    fn close(&mut self) {
        if let Some(length) = self.length.take() {
            self.uneven |= *self.width.get_or_insert(length) != length;
        }
    }
}

impl Places {
    fn new(lists: Vec<i16>, cells: Cells) -> Places {
        let list = |present| List { present, length: None, width: None, uneven: false };
        let lists = lists.into_iter().map(list).collect();
        Places { cells, lists, rows: 0, missing: false }
    }

    /// Reads a chunk; `value` converts its values.
    fn read<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        full: i16,
        room: &mut Room,
        value: impl for<'v> Fn(&'v T::T) -> Result<CellValue<'v>, Wrong>,
    ) -> Result<(), Wrong> {
        let (mut definitions, mut repetitions, mut values) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            definitions.clear();
            repetitions.clear();
            values.clear();
            let (rows, found, places) = reader.read_records(
                ROWS_AT_ONCE,
                Some(&mut definitions),
                Some(&mut repetitions),
                &mut values,
            )?;
            if places == 0 {
                return Ok(());
            }
            self.rows = self.rows.saturating_add(rows);
            let mut values = values.iter().take(found);
            for k in 0..places {
                let repetition = repetitions.get(k).copied().unwrap_or(0);
                // Without definition levels all values are present.
                let definition = definitions.get(k).copied();
                if !self.enter(definition.unwrap_or(i16::MAX), repetition) {
                    continue;
                }
                if definition.is_none_or(|definition| definition == full) {
                    let next = values.next().ok_or(Wrong::Broken("a value less".into()))?;
                    let next = value(next)?;
                    room.take(next.size())?;
                    self.cells.push(next)?;
                } else {
                    room.take(NUMBER)?;
                    self.cells.push_missing();
                }
            }
        }
    }

    /// Advances to a position with these levels. Returns whether it has a slot for a value.
    fn enter(&mut self, definition: i16, repetition: i16) -> bool {
        for (depth, list) in (1..).zip(&mut self.lists) {
            if depth < repetition {
                continue;
            }
            if depth > repetition {
                list.close();
                list.length = Some(0);
            }
            if definition < list.present {
                self.missing |= definition < list.present - 1;
                return false;
            }
            list.length = list.length.map(|length| length + 1);
        }
        true
    }

    fn finish(mut self) -> Result<Column, Wrong> {
        self.lists.iter_mut().for_each(List::close);
        if self.missing {
            return Ok(Column::Foreign("lists, some of them missing".into()));
        }
        if self.lists.iter().any(|list| list.uneven) {
            return Ok(Column::Foreign("lists of different lengths".into()));
        }
        let widths = self.lists.iter().map(|list| list.width.unwrap_or(0));
        self.cells.column([self.rows].into_iter().chain(widths).collect())
    }
}
