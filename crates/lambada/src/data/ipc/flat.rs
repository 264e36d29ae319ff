//! Flatbuffers, in which Arrow encodes schemas and messages: tables with numbered fields.
//!
//! Field and type numbers are those of Arrow's `Schema.fbs`, `Message.fbs` and `File.fbs`. Every
//! access is bounds-checked. Offsets point forward, so following them terminates.

use crate::data::cells::{Wrong, broken};

/// Field numbers.
pub(super) mod slots {
    pub(in super::super) mod footer {
        pub const VERSION: usize = 0;
        pub const SCHEMA: usize = 1;
        pub const DICTIONARIES: usize = 2;
        pub const BATCHES: usize = 3;
    }
    pub(in super::super) mod message {
        pub const VERSION: usize = 0;
        pub const HEADER_KIND: usize = 1;
        pub const HEADER: usize = 2;
        pub const BODY_LENGTH: usize = 3;
    }
    pub(in super::super) mod schema {
        pub const ENDIANNESS: usize = 0;
        pub const FIELDS: usize = 1;
    }
    pub(in super::super) mod field {
        pub const NAME: usize = 0;
        pub const NULLABLE: usize = 1;
        pub const TYPE_KIND: usize = 2;
        pub const TYPE: usize = 3;
        pub const DICTIONARY: usize = 4;
        pub const CHILDREN: usize = 5;
    }
    pub(in super::super) mod encoding {
        pub const ID: usize = 0;
        pub const INDEX: usize = 1;
    }
    pub(in super::super) mod dictionary {
        pub const ID: usize = 0;
        pub const DATA: usize = 1;
        pub const IS_DELTA: usize = 2;
    }
    pub(in super::super) mod batch {
        pub const LENGTH: usize = 0;
        pub const NODES: usize = 1;
        pub const BUFFERS: usize = 2;
        pub const COMPRESSION: usize = 3;
        pub const VIEWS: usize = 4;
    }
    pub(in super::super) mod compression {
        pub const CODEC: usize = 0;
    }
    pub(in super::super) mod int {
        pub const BITS: usize = 0;
        pub const SIGNED: usize = 1;
    }
    pub(in super::super) mod real {
        pub const PRECISION: usize = 0;
    }
    pub(in super::super) mod decimal {
        pub const SCALE: usize = 1;
        pub const BITS: usize = 2;
    }
    pub(in super::super) mod list {
        pub const WIDTH: usize = 0;
    }
    pub(in super::super) mod union {
        pub const MODE: usize = 0;
    }
}

/// The version that is written, and the first in which unions have no bitmap.
pub(super) const V5: i16 = 4;
/// Kinds of messages.
pub(super) const SCHEMA: u8 = 1;
pub(super) const DICTIONARY: u8 = 2;
pub(super) const BATCH: u8 = 3;

/// Type numbers that are read or written.
pub(super) mod types {
    pub const NULL: u8 = 1;
    pub const INT: u8 = 2;
    pub const REAL: u8 = 3;
    pub const BINARY: u8 = 4;
    pub const UTF8: u8 = 5;
    pub const BOOL: u8 = 6;
    pub const DECIMAL: u8 = 7;
    pub const DATE: u8 = 8;
    pub const TIME: u8 = 9;
    pub const TIMESTAMP: u8 = 10;
    pub const INTERVAL: u8 = 11;
    pub const LIST: u8 = 12;
    pub const STRUCT: u8 = 13;
    pub const UNION: u8 = 14;
    pub const FIXED_SIZE_BINARY: u8 = 15;
    pub const FIXED_SIZE_LIST: u8 = 16;
    pub const MAP: u8 = 17;
    pub const DURATION: u8 = 18;
    pub const LARGE_BINARY: u8 = 19;
    pub const LARGE_UTF8: u8 = 20;
    pub const LARGE_LIST: u8 = 21;
    pub const RUN_END_ENCODED: u8 = 22;
    pub const BINARY_VIEW: u8 = 23;
    pub const UTF8_VIEW: u8 = 24;
    pub const LIST_VIEW: u8 = 25;
    pub const LARGE_LIST_VIEW: u8 = 26;
}

/// A table in a buffer.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Table<'a> {
    /// The root table of a buffer.
    pub(super) fn root(bytes: &'a [u8]) -> Result<Table<'a>, Wrong> {
        Ok(Table { bytes, at: followed(bytes, 0)? })
    }

    /// The position of a field; `None` if the table omits it.
    fn place(self, slot: usize) -> Result<Option<usize>, Wrong> {
        let back = i32::from_le_bytes(bytes_at(self.bytes, self.at)?);
        let fields = usize::try_from(self.at as i64 - i64::from(back))?;
        let length = u16::from_le_bytes(bytes_at(self.bytes, fields)?);
        let entry = 4 + 2 * slot;
        if entry + 2 > usize::from(length) {
            return Ok(None);
        }
        let offset = u16::from_le_bytes(bytes_at(self.bytes, fields.saturating_add(entry))?);
        Ok((offset != 0).then(|| self.at + usize::from(offset)))
    }

    /// The bytes of a number, or its default.
    fn scalar<const N: usize>(self, slot: usize, default: [u8; N]) -> Result<[u8; N], Wrong> {
        self.place(slot)?.map_or(Ok(default), |at| bytes_at(self.bytes, at))
    }

    pub(super) fn byte(self, slot: usize) -> Result<u8, Wrong> {
        Ok(self.scalar(slot, [0])?[0])
    }

    pub(super) fn truth(self, slot: usize) -> Result<bool, Wrong> {
        Ok(self.byte(slot)? != 0)
    }

    pub(super) fn short(self, slot: usize) -> Result<i16, Wrong> {
        self.scalar(slot, [0; 2]).map(i16::from_le_bytes)
    }

    pub(super) fn int(self, slot: usize, default: i32) -> Result<i32, Wrong> {
        self.scalar(slot, default.to_le_bytes()).map(i32::from_le_bytes)
    }

    pub(super) fn long(self, slot: usize) -> Result<i64, Wrong> {
        self.scalar(slot, [0; 8]).map(i64::from_le_bytes)
    }

    pub(super) fn table(self, slot: usize) -> Result<Option<Table<'a>>, Wrong> {
        let Some(place) = self.place(slot)? else { return Ok(None) };
        Ok(Some(Table { bytes: self.bytes, at: followed(self.bytes, place)? }))
    }

    /// The elements of a vector, `N` bytes each; empty if the table omits it.
    pub(super) fn vector<const N: usize>(self, slot: usize) -> Result<&'a [[u8; N]], Wrong> {
        Ok(self.elements(slot)?.1)
    }

    /// The position and the elements of a vector.
    fn elements<const N: usize>(self, slot: usize) -> Result<(usize, &'a [[u8; N]]), Wrong> {
        let Some(place) = self.place(slot)? else { return Ok((0, &[])) };
        let vector = followed(self.bytes, place)?;
        let count = u32::from_le_bytes(bytes_at(self.bytes, vector)?) as usize;
        let start = vector + 4;
        let end = count.checked_mul(N).and_then(|length| start.checked_add(length));
        match end.and_then(|end| self.bytes.get(start..end)) {
            Some(elements) => Ok((start, elements.as_chunks().0)),
            None => broken("a list goes on after the end of its message"),
        }
    }

    pub(super) fn text(self, slot: usize) -> Result<&'a str, Wrong> {
        Ok(std::str::from_utf8(self.vector::<1>(slot)?.as_flattened())?)
    }

    pub(super) fn tables(
        self,
        slot: usize,
    ) -> Result<impl Iterator<Item = Result<Table<'a>, Wrong>>, Wrong> {
        let (start, offsets) = self.elements::<4>(slot)?;
        let place = move |k| start + 4 * k;
        Ok((0..offsets.len())
            .map(move |k| Ok(Table { bytes: self.bytes, at: followed(self.bytes, place(k))? })))
    }
}

/// Follows the offset at a position.
fn followed(bytes: &[u8], at: usize) -> Result<usize, Wrong> {
    let offset = u32::from_le_bytes(bytes_at(bytes, at)?) as usize;
    match at.checked_add(offset) {
        Some(place) if offset > 0 && place < bytes.len() => Ok(place),
        _ => broken("an offset leads out of its message"),
    }
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Wrong> {
    let found = at.checked_add(N).and_then(|end| bytes.get(at..end));
    match found {
        Some(found) => Ok(found.try_into()?),
        None => broken("a message ends too early"),
    }
}
