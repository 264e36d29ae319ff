//! Tables in Apache Parquet: required columns of plain values in compressed pages, which all
//! readers know. The library's column writers support a dozen encodings for each of eight types,
//! half a megabyte of code, so pages are encoded here.

use std::sync::Arc;

use ::parquet::basic::{Compression, Encoding, Repetition, Type as Physical};
use ::parquet::column::page::{CompressedPage, Page, PageWriter};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::column::writer::ColumnCloseResult;
use ::parquet::data_type::DataType;
use ::parquet::file::metadata::{ColumnChunkMetaData, KeyValue};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::{ColumnDescPtr, Type, TypePtr};
use bytes::Bytes;

use super::table::{Table, is_whole};
use crate::draws::Wrong;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Rows of a page, the unit of compression.
const ROWS_OF_A_PAGE: usize = 1 << 16;

/// Attributes that writers of other programs add, which are long.
const FOREIGN: [&str; 2] = ["ARROW:schema", "pandas"];

/// The file of a table.
pub(super) fn write(table: &Table) -> std::result::Result<Vec<u8>, Wrong> {
    encoded(table).map_err(Wrong::format)
}

/// The table of a file.
pub(super) fn read(bytes: &[u8]) -> std::result::Result<Table, Wrong> {
    decoded(Bytes::copy_from_slice(bytes)).map_err(Wrong::format)
}

fn encoded(table: &Table) -> Result<Vec<u8>> {
    let fields = table.names.iter().map(|name| field(name)).collect::<Result<_>>()?;
    let schema = Type::group_type_builder("draws").with_fields(fields).build()?;
    let pair = |(name, value): &(String, String)| KeyValue::new(name.clone(), value.clone());
    let attributes = table.attributes.iter().map(pair).collect();
    let properties = WriterProperties::builder().set_key_value_metadata(Some(attributes)).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let types = writer.schema_descr().columns().to_vec();
    let mut group = writer.next_row_group()?;
    for (ty, column) in types.iter().zip(&table.columns) {
        let (pages, chunk) = chunk(ty, column)?;
        group.append_column(&pages, chunk)?;
    }
    group.close()?;
    Ok(writer.into_inner()?)
}

fn field(name: &str) -> Result<TypePtr> {
    let physical = if is_whole(name) { Physical::INT64 } else { Physical::DOUBLE };
    let field = Type::primitive_type_builder(name, physical);
    Ok(Arc::new(field.with_repetition(Repetition::REQUIRED).build()?))
}

/// The pages of a column, and its entry of the footer.
fn chunk(ty: &ColumnDescPtr, column: &[f64]) -> Result<(Bytes, ColumnCloseResult)> {
    let mut pages = TrackedWrite::new(Vec::new());
    let mut unpacked_size = 0;
    for values in column.chunks(ROWS_OF_A_PAGE) {
        let plain: Vec<u8> = match is_whole(ty.name()) {
            true => values.iter().flat_map(|x| (*x as i64).to_le_bytes()).collect(),
            false => values.iter().flat_map(|x| x.to_le_bytes()).collect(),
        };
        let page = Page::DataPage {
            buf: snap::raw::Encoder::new().compress_vec(&plain)?.into(),
            num_values: values.len() as u32,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let page = CompressedPage::new(page, plain.len());
        unpacked_size += SerializedPageWriter::new(&mut pages).write_page(page)?.uncompressed_size;
    }
    let pages = Bytes::from(pages.into_inner()?);
    let metadata = ColumnChunkMetaData::builder(ty.clone())
        .set_compression(Compression::SNAPPY)
        .set_encodings(vec![Encoding::PLAIN])
        .set_num_values(column.len() as i64)
        .set_total_compressed_size(pages.len() as i64)
        .set_total_uncompressed_size(unpacked_size as i64)
        .set_data_page_offset(0)
        .build()?;
    let chunk = ColumnCloseResult {
        bytes_written: pages.len() as u64,
        rows_written: column.len() as u64,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok((pages, chunk))
}

fn decoded(bytes: Bytes) -> Result<Table> {
    let reader = SerializedFileReader::new(bytes)?;
    let about = reader.metadata().file_metadata();
    let mut table = Table::default();
    for KeyValue { key, value } in about.key_value_metadata().into_iter().flatten() {
        if !FOREIGN.contains(&&key[..]) {
            table.attributes.push((key.clone(), value.clone().unwrap_or_default()));
        }
    }
    for (k, ty) in about.schema_descr().columns().iter().enumerate() {
        let name = ty.path().parts().join(".");
        // An index that pandas adds.
        if name.starts_with("__index_level_") {
            continue;
        }
        if ty.max_rep_level() > 0 {
            return Err(format!("the column `{name}` holds lists, not numbers").into());
        }
        let mut column = Vec::new();
        for group in 0..reader.num_row_groups() {
            let rows = usize::try_from(reader.metadata().row_group(group).num_rows())?;
            let whole = ty.max_def_level();
            match reader.get_row_group(group)?.get_column_reader(k)? {
                ColumnReader::DoubleColumnReader(r) => numbers(r, rows, whole, |x| x, &mut column)?,
                ColumnReader::FloatColumnReader(r) => {
                    numbers(r, rows, whole, f64::from, &mut column)?;
                }
                ColumnReader::Int64ColumnReader(r) => {
                    numbers(r, rows, whole, |n| n as f64, &mut column)?;
                }
                ColumnReader::Int32ColumnReader(r) => {
                    numbers(r, rows, whole, f64::from, &mut column)?;
                }
                ColumnReader::BoolColumnReader(r) => {
                    numbers(r, rows, whole, |b| f64::from(u8::from(b)), &mut column)?;
                }
                ColumnReader::Int96ColumnReader(_)
                | ColumnReader::ByteArrayColumnReader(_)
                | ColumnReader::FixedLenByteArrayColumnReader(_) => {
                    return Err(format!("the column `{name}` holds no numbers").into());
                }
            }
        }
        table.names.push(name);
        table.columns.push(column);
    }
    Ok(table)
}

/// Adds the values of a column chunk; NaN for those that are missing.
fn numbers<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    whole: i16,
    number: impl Fn(T::T) -> f64,
    column: &mut Vec<f64>,
) -> Result<()> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut done = 0;
    while done < rows {
        let (count, _, _) =
            reader.read_records(rows - done, Some(&mut levels), None, &mut values)?;
        if count == 0 {
            return Err(format!("a column has {done} rows of {rows}").into());
        }
        done += count;
    }
    let mut values = values.into_iter();
    match whole {
        0 => column.extend(values.map(number)),
        _ => column.extend(levels.iter().map(|level| match *level == whole {
            true => values.next().map_or(f64::NAN, &number),
            false => f64::NAN,
        })),
    }
    Ok(())
}
