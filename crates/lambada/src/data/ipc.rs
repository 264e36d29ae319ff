//! Tables in Arrow's interprocess format, reading and writing: files, also known as Feather version
//! 2, and streams.
//!
//! A file consists of messages: a schema, dictionaries, and record batches. The buffers of a batch
//! come in the order of the fields, depth first, so buffers of unsupported fields must be counted
//! as well. Lengths are checked against the size of the file before allocation, so that wrong
//! lengths are an error and not the end of the process.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use lambada_prim::Memory;

use self::array::{Array, Arrays};
use self::column::{ReadContext, Reading};
use self::field::{Field, length};
use self::flat::slots::{batch, dictionary, footer, message, schema};
use self::flat::{BATCH, DICTIONARY, SCHEMA, Table as Flat};
use super::cells::{Room, Wrong, broken};
use super::table::Table;

mod array;
mod column;
mod field;
mod flat;
mod write;

pub use write::write;

/// The first and last bytes of a file. Streams begin differently.
const MAGIC: &[u8; 6] = b"ARROW1";
/// Length of the end of a file: the footer's length and the magic.
const END: u64 = 10;
/// Precedes the length of a message since version 0.15 of the format.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Reads the table of a file or a stream.
pub fn read(file: File, memory: Memory) -> Result<Table, Wrong> {
    let size = file.metadata()?.len();
    let mut messages = Messages { file, size };
    match messages.bytes(0, MAGIC.len() as u64) {
        Ok(start) if start == MAGIC => messages.of_file(memory),
        Ok(_) | Err(_) => messages.of_stream(memory),
    }
}
/// The metadata and the body of a message.
type Bytes = (Vec<u8>, Vec<u8>);

/// A file and its size.
struct Messages {
    file: File,
    size: u64,
}

impl Messages {
    /// Reads a file, whose footer lists the positions of the messages.
    fn of_file(&mut self, memory: Memory) -> Result<Table, Wrong> {
        let Some(end) = self.size.checked_sub(END) else { return broken("no footer") };
        let end_bytes = self.bytes(end, END)?;
        let (stated, magic) = end_bytes.split_at(4);
        let start = end.checked_sub(length(i32::from_le_bytes(stated.try_into()?).into())?);
        let Some(start) = start.filter(|_| magic == MAGIC) else { return broken("no footer") };
        let bytes = self.bytes(start, end - start)?;
        let all = Flat::root(&bytes)?;
        let Some(schema) = all.table(footer::SCHEMA)? else { return broken("no schema") };
        let mut reader = MessageReader::new(schema, all.short(footer::VERSION)?, memory)?;
        for blocks in [footer::DICTIONARIES, footer::BATCHES] {
            for block in all.vector(blocks)? {
                self.of_block(block, &mut reader)?;
            }
        }
        reader.finish()
    }

    /// Reads the message of a block: position, length, four bytes of padding, length of the body.
    fn of_block(&mut self, block: &[u8; 24], reader: &mut MessageReader) -> Result<(), Wrong> {
        let (start, rest) = block.split_at(8);
        let (stated, body) = rest.split_at(8);
        let start = length(i64::from_le_bytes(start.try_into()?))?;
        let stated = i32::from_le_bytes(stated[..4].try_into()?);
        let metadata = self.bytes(start, length(stated.into())?)?;
        let prefix = if metadata.starts_with(&CONTINUATION) { 8 } else { 4 };
        let Some(message) = metadata.get(prefix..) else {
            return broken("a message without a length");
        };
        let body = length(i64::from_le_bytes(body.try_into()?))?;
        let body = self.bytes(start + metadata.len() as u64, body)?;
        reader.message(Flat::root(message)?, &body)
    }

    /// Reads a stream, in which messages follow each other; the first is the schema.
    fn of_stream(&mut self, memory: Memory) -> Result<Table, Wrong> {
        let mut at = 0;
        let Some((metadata, _)) = self.next_of_stream(&mut at)? else { return broken("no schema") };
        let first = Flat::root(&metadata)?;
        let (SCHEMA, Some(schema)) =
            (first.byte(message::HEADER_KIND)?, first.table(message::HEADER)?)
        else {
            return broken("no schema");
        };
        let mut reader = MessageReader::new(schema, first.short(message::VERSION)?, memory)?;
        while let Some((metadata, body)) = self.next_of_stream(&mut at)? {
            reader.message(Flat::root(&metadata)?, &body)?;
        }
        reader.finish()
    }

    /// The message at a position, with its body.
    fn next_of_stream(&mut self, at: &mut u64) -> Result<Option<Bytes>, Wrong> {
        if *at >= self.size {
            return Ok(None);
        }
        let mut prefix = self.bytes(*at, 4)?;
        *at += 4;
        if prefix == CONTINUATION {
            prefix = self.bytes(*at, 4)?;
            *at += 4;
        }
        let metadata = length(i32::from_le_bytes(prefix[..].try_into()?).into())?;
        if metadata == 0 {
            return Ok(None); // the end of the stream
        }
        let metadata = self.bytes(*at, metadata)?;
        *at += metadata.len() as u64;
        let body = length(Flat::root(&metadata)?.long(message::BODY_LENGTH)?)?;
        let body = self.bytes(*at, body)?;
        *at += body.len() as u64;
        Ok(Some((metadata, body)))
    }

    /// `length` bytes from `start`, which must lie within the file.
    fn bytes(&mut self, start: u64, length: u64) -> Result<Vec<u8>, Wrong> {
        if length > self.size.saturating_sub(start) {
            return broken("it ends too early");
        }
        let mut bytes = vec![0; length as usize];
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}
/// Collects the messages after the schema.
struct MessageReader {
    fields: Vec<Field>,
    columns: Vec<Reading>,
    /// The values of each dictionary, possibly in several parts.
    dictionaries: BTreeMap<i64, Vec<Array>>,
    rows: usize,
    /// Remaining memory for unpacked buffers.
    unpacked: Room,
    /// Remaining memory for values of the table.
    room: Room,
}

impl MessageReader {
    fn new(columns: Flat, version: i16, memory: Memory) -> Result<MessageReader, Wrong> {
        if columns.short(schema::ENDIANNESS)? != 0 {
            return broken("numbers with their highest byte first are not supported");
        }
        let fields = columns.tables(schema::FIELDS)?;
        let fields = Field::all(fields, version, 0, &mut Room::of(memory))?;
        Ok(MessageReader {
            columns: fields.iter().map(Reading::of).collect(),
            fields,
            dictionaries: BTreeMap::new(),
            rows: 0,
            unpacked: Room::of(memory),
            room: Room::of(memory),
        })
    }

    fn message(&mut self, message: Flat, body: &[u8]) -> Result<(), Wrong> {
        let kind = message.byte(message::HEADER_KIND)?;
        let header = message.table(message::HEADER)?;
        if let (DICTIONARY, Some(header)) = (kind, header) {
            let Some(batch) = header.table(dictionary::DATA)? else {
                return broken("an empty dictionary");
            };
            let id = header.long(dictionary::ID)?;
            let mut known = BTreeMap::new();
            self.fields.iter().for_each(|field| field.in_dictionaries(&mut known));
            let Some(field) = known.get(&id) else {
                return broken("a dictionary that no column has");
            };
            let values = Arrays::of(batch, body, &mut self.unpacked)?.array(field)?;
            let parts = self.dictionaries.entry(id).or_default();
            if !header.truth(dictionary::IS_DELTA)? {
                parts.clear();
            }
            parts.push(values);
        } else if let (BATCH, Some(batch)) = (kind, header) {
            let rows = length(batch.long(batch::LENGTH)?)? as usize;
            let mut arrays = Arrays::of(batch, body, &mut self.unpacked)?;
            for (field, column) in self.fields.iter().zip(&mut self.columns) {
                let array = arrays.array(field)?;
                if array.length != rows {
                    return broken("columns of different lengths");
                }
                let mut context =
                    ReadContext { dictionaries: &self.dictionaries, room: &mut self.room };
                column.add(&mut context, &array, 0..rows, 0)?;
            }
            self.rows = self.rows.saturating_add(rows);
        }
        Ok(()) // a repeated schema
    }

    fn finish(self) -> Result<Table, Wrong> {
        let mut columns = Vec::new();
        for (field, column) in self.fields.into_iter().zip(self.columns) {
            columns.push((field.name, column.finish(self.rows)?));
        }
        Ok(Table { columns, rows: self.rows, head: true, lines: None })
    }
}
