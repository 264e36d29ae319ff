//! The arrays of a batch: byte ranges of its body, possibly compressed.

use std::io::Read;
use std::ops::Range;

use super::field::{self, Field, FieldLayout};
use super::flat::Table;
use super::flat::slots::{batch, compression};
use crate::data::cells::{CellValue, Room, Wrong, broken, half};

/// Length prefix of a buffer that is stored uncompressed.
const NOT_COMPRESSED: i64 = -1;
/// Codec numbers.
const LZ4_FRAME: u8 = 0;
const ZSTD: u8 = 1;

/// An unpacked array of a batch.
pub(super) struct Array {
    pub(super) layout: FieldLayout,
    /// The dictionary that the values are keys of.
    pub(super) dictionary: Option<i64>,
    pub(super) length: usize,
    /// Validity bitmap, if values are missing.
    pub(super) valid: Option<Vec<u8>>,
    /// The other buffers.
    buffers: Vec<Vec<u8>>,
    children: Vec<Array>,
}

impl Array {
    pub(super) fn valid(&self, at: usize) -> Result<bool, Wrong> {
        self.valid.as_ref().map_or(Ok(true), |bits| bit(bits, at))
    }

    fn buffer(&self, k: usize) -> Result<&[u8], Wrong> {
        self.buffers.get(k).map_or_else(|| broken("a buffer less"), |buffer| Ok(&buffer[..]))
    }

    /// The elements of lists.
    pub(super) fn elements(&self) -> Result<&Array, Wrong> {
        self.children.first().map_or_else(|| broken("lists of nothing"), Ok)
    }

    pub(super) fn value(&self, at: usize) -> Result<CellValue<'_>, Wrong> {
        let values = self.buffer(0)?;
        Ok(match self.layout {
            FieldLayout::Truth => CellValue::Truth(bit(values, at)?),
            FieldLayout::Integer { bytes: 8, signed: false } if self.dictionary.is_none() => {
                CellValue::Natural(u64::try_from(integer(values, 8, false, at)?)?)
            }
            FieldLayout::Integer { bytes, signed } => {
                CellValue::Integer(integer(values, bytes, signed, at)?.try_into()?)
            }
            FieldLayout::Real { bytes } => CellValue::Real(real(values, bytes, at)?),
            FieldLayout::Decimal { bytes, unit } => {
                CellValue::Real(integer(values, bytes, true, at)? as f64 / unit)
            }
            FieldLayout::Word { place } => {
                let letters = self.buffer(1)?.get(self.places(place, at)?);
                CellValue::Word(std::str::from_utf8(letters.ok_or_else(too_short)?)?)
            }
            FieldLayout::View => CellValue::Word(std::str::from_utf8(self.view(at)?)?),
            FieldLayout::Nothing
            | FieldLayout::List { .. }
            | FieldLayout::Even { .. }
            | FieldLayout::Foreign { .. } => {
                return broken("values of another type than their column's");
            }
        })
    }

    /// The bytes of a word: inline in the view, or in a buffer.
    fn view(&self, at: usize) -> Result<&[u8], Wrong> {
        let view = bytes_at(self.buffer(0)?, 16, at)?;
        let number = |k| Ok::<_, Wrong>(usize::try_from(integer(view, 4, true, k)?)?);
        let length = number(0)?;
        let letters = match view.get(4..4 + length.min(view.len())) {
            Some(letters) => Some(letters),
            None => {
                let start = number(3)?;
                self.buffer(1 + number(2)?)?.get(start..start + length)
            }
        };
        letters.ok_or_else(too_short)
    }

    /// The range of a list's elements or of a word's bytes.
    pub(super) fn places(&self, bytes: usize, at: usize) -> Result<Range<usize>, Wrong> {
        let places = self.buffer(0)?;
        let place = |at| usize::try_from(integer(places, bytes, true, at)?).map_err(Wrong::from);
        let (start, end) = (place(at)?, place(at + 1)?);
        if start > end { broken("a list that ends before it begins") } else { Ok(start..end) }
    }
}

/// Element number `at` of elements of `size` bytes.
fn bytes_at(bytes: &[u8], size: usize, at: usize) -> Result<&[u8], Wrong> {
    let start = at.checked_mul(size);
    let found = start.and_then(|start| bytes.get(start..start.checked_add(size)?));
    found.ok_or_else(too_short)
}

fn too_short() -> Wrong {
    Wrong::Broken("a buffer that is too short".into())
}

fn bit(bits: &[u8], at: usize) -> Result<bool, Wrong> {
    Ok(bytes_at(bits, 1, at / 8)?[0] >> (at % 8) & 1 == 1)
}

fn integer(bytes: &[u8], size: usize, signed: bool, at: usize) -> Result<i128, Wrong> {
    let bytes = bytes_at(bytes, size, at)?;
    let negative = signed && bytes.last().is_some_and(|byte| *byte >= 128);
    let sign = if negative { -1 } else { 0 };
    Ok(bytes.iter().rev().fold(sign, |n, byte| n << 8 | i128::from(*byte)))
}

fn real(bytes: &[u8], size: usize, at: usize) -> Result<f64, Wrong> {
    let bytes = bytes_at(bytes, size, at)?;
    Ok(match size {
        2 => half(u16::from_le_bytes(bytes.try_into()?)),
        4 => f32::from_le_bytes(bytes.try_into()?).into(),
        _ => f64::from_le_bytes(bytes.try_into()?), // no other size exists
    })
}

/// Iterator over the arrays of a batch.
pub(super) struct Arrays<'a> {
    /// Length and number of missing values of each array.
    nodes: Vec<[u8; 16]>,
    /// Position in the body and length of each buffer.
    buffers: Vec<[u8; 16]>,
    /// Number of variadic buffers of each view array.
    views: Vec<[u8; 8]>,
    /// Codec number.
    compression: Option<u8>,
    body: &'a [u8],
    unpacked: &'a mut Room,
}

impl<'a> Arrays<'a> {
    pub(super) fn of(
        batch: Table<'a>,
        body: &'a [u8],
        unpacked: &'a mut Room,
    ) -> Result<Arrays<'a>, Wrong> {
        // Reversed, so that the next item can be popped from the end.
        Ok(Arrays {
            nodes: batch.vector(batch::NODES)?.iter().rev().copied().collect(),
            buffers: batch.vector(batch::BUFFERS)?.iter().rev().copied().collect(),
            views: batch.vector(batch::VIEWS)?.iter().rev().copied().collect(),
            compression: match batch.table(batch::COMPRESSION)? {
                Some(packing) => Some(packing.byte(compression::CODEC)?),
                None => None,
            },
            body,
            unpacked,
        })
    }

    pub(super) fn array(&mut self, field: &Field) -> Result<Array, Wrong> {
        let Some(node) = self.nodes.pop() else { return broken("an array less") };
        let (length, missing) = pair(node)?;
        let layout = field.dictionary.map_or(field.layout, |(_, places)| places);
        let mut buffers = Vec::new();
        for _ in 0..layout.buffers() {
            buffers.push(self.buffer()?);
        }
        if layout.views() {
            let Some(count) = self.views.pop() else { return broken("a view without buffers") };
            for _ in 0..field::length(i64::from_le_bytes(count))? {
                buffers.push(self.buffer()?);
            }
        }
        let valid = (!buffers.is_empty()).then(|| buffers.remove(0));
        let mut children = Vec::new();
        if field.dictionary.is_none() {
            for child in &field.children {
                children.push(self.array(child)?);
            }
        }
        Ok(Array {
            layout,
            dictionary: field.dictionary.map(|(id, _)| id),
            length,
            valid: valid.filter(|_| missing != 0),
            buffers,
            children,
        })
    }

    fn buffer(&mut self) -> Result<Vec<u8>, Wrong> {
        let Some(buffer) = self.buffers.pop() else { return broken("a buffer less") };
        let (start, length) = pair(buffer)?;
        let Some(packed) = start.checked_add(length).and_then(|end| self.body.get(start..end))
        else {
            return broken("a buffer goes on after the end of its message");
        };
        let Some(codec) = self.compression.filter(|_| !packed.is_empty()) else {
            self.unpacked.take(packed.len() as u64)?;
            return Ok(packed.to_vec());
        };
        let Some((stated, packed)) = packed.split_first_chunk() else {
            return broken("a buffer without a length");
        };
        match i64::from_le_bytes(*stated) {
            NOT_COMPRESSED => {
                self.unpacked.take(packed.len() as u64)?;
                Ok(packed.to_vec())
            }
            stated => {
                let size = field::length(stated)?;
                self.unpacked.take(size)?;
                unpacked(packed, size, codec)
            }
        }
    }
}

/// Decodes two numbers.
fn pair(stated: [u8; 16]) -> Result<(usize, usize), Wrong> {
    let (first, second) = stated.split_at(8);
    let number = |bytes: &[u8]| {
        Ok::<_, Wrong>(field::length(i64::from_le_bytes(bytes.try_into()?))? as usize)
    };
    Ok((number(first)?, number(second)?))
}

/// Decompresses a buffer, which must have this size.
fn unpacked(packed: &[u8], size: u64, codec: u8) -> Result<Vec<u8>, Wrong> {
    let mut bytes = Vec::new();
    match codec {
        LZ4_FRAME => {
            let packed = lz4_flex::frame::FrameDecoder::new(packed);
            packed.take(size.saturating_add(1)).read_to_end(&mut bytes)?;
        }
        ZSTD => {
            let packed = zstd::stream::read::Decoder::with_buffer(packed)?;
            packed.take(size.saturating_add(1)).read_to_end(&mut bytes)?;
        }
        _ => return broken("a compression that is not known"), // the format has no other codec
    }
    if bytes.len() as u64 == size { Ok(bytes) } else { broken("a buffer of another length") }
}
