//! Writes a table: row groups of columns, in compressed pages of plain values. The library's column
//! writers support a dozen encodings for each of eight types, half a megabyte of code.

use std::ops::Range;
use std::sync::Arc;

use ::parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use ::parquet::column::page::{CompressedPage, Page, PageWriter};
use ::parquet::column::writer::ColumnCloseResult;
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::{ColumnDescPtr, Type, TypePtr};
use bytes::Bytes;
use lambada_prim::Data as Elements;

use crate::data::cells::bits;
use crate::data::table::{Column, Table};

/// Rows of a group. Readers may skip groups or distribute them.
const ROWS_OF_A_GROUP: usize = 1 << 20;

/// Rows of a page, the unit of compression.
const ROWS_OF_A_PAGE: usize = 1 << 16;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Encodes a table.
pub fn write(table: &Table) -> Result<Vec<u8>> {
    let fields = table.columns.iter().map(|(name, column)| field(name, column));
    let schema = Type::group_type_builder("table").with_fields(fields.collect::<Result<_>>()?);
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema.build()?), properties)?;
    let types = writer.schema_descr().columns().to_vec();
    for start in (0..table.rows).step_by(ROWS_OF_A_GROUP) {
        let rows = start..table.rows.min(start + ROWS_OF_A_GROUP);
        let mut group = writer.next_row_group()?;
        for (ty, (_, column)) in types.iter().zip(&table.columns) {
            let (pages, chunk) = chunk(ty, column, rows.clone())?;
            group.append_column(&pages, chunk)?;
        }
        group.close()?;
    }
    Ok(writer.into_inner()?)
}

fn field(name: &str, column: &Column) -> Result<TypePtr> {
    let (physical, meaning) = match column {
        Column::Numbers(tensor) => match &tensor.data {
            Elements::Real(_) => (Physical::DOUBLE, None),
            Elements::Int(_) => (Physical::INT64, None),
            Elements::Bool(_) => (Physical::BOOLEAN, None),
        },
        Column::Words(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Column::Foreign(what) => return Err(format!("the column `{name}` holds {what}").into()),
    };
    let field = Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(meaning);
    Ok(Arc::new(field.build()?))
}

/// Encodes a range of rows of a column: its pages, and its footer entry.
fn chunk(
    ty: &ColumnDescPtr,
    column: &Column,
    rows: Range<usize>,
) -> Result<(Bytes, ColumnCloseResult)> {
    let mut pages = TrackedWrite::new(Vec::new());
    let mut unpacked_size = 0;
    for start in rows.clone().step_by(ROWS_OF_A_PAGE) {
        let rows = start..rows.end.min(start + ROWS_OF_A_PAGE);
        let values = plain(column, rows.clone());
        let page = Page::DataPage {
            buf: snap::raw::Encoder::new().compress_vec(&values)?.into(),
            num_values: rows.len() as u32,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let page = CompressedPage::new(page, values.len());
        unpacked_size += SerializedPageWriter::new(&mut pages).write_page(page)?.uncompressed_size;
    }
    let pages = Bytes::from(pages.into_inner()?);
    let metadata = ColumnChunkMetaData::builder(ty.clone())
        .set_compression(Compression::SNAPPY)
        .set_encodings(vec![Encoding::PLAIN])
        .set_num_values(rows.len() as i64)
        .set_total_compressed_size(pages.len() as i64)
        .set_total_uncompressed_size(unpacked_size as i64)
        .set_data_page_offset(0)
        .build()?;
    let chunk = ColumnCloseResult {
        bytes_written: pages.len() as u64,
        rows_written: rows.len() as u64,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok((pages, chunk))
}

/// Plain encoding: little-endian numbers, eight truth values in a byte, words with length prefixes.
fn plain(column: &Column, rows: Range<usize>) -> Vec<u8> {
    match column {
        Column::Numbers(tensor) => match &tensor.data {
            Elements::Real(v) => v[rows].iter().flat_map(|x| x.to_le_bytes()).collect(),
            Elements::Int(v) => v[rows].iter().flat_map(|n| n.to_le_bytes()).collect(),
            Elements::Bool(v) => bits(&v[rows]),
        },
        Column::Words(words) => {
            let mut bytes = Vec::new();
            for word in &words[rows] {
                bytes.extend((word.len() as u32).to_le_bytes());
                bytes.extend(word.bytes());
            }
            bytes
        }
        Column::Foreign(_) => Vec::new(), // no field has such values
    }
}
