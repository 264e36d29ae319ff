//! Writes a table as a file: the magic, a message with the schema, a message with all rows, and a
//! footer with their positions.

use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, WIPOffset};
use lambada_prim::Data as Elements;

use super::flat::slots::{batch, field, footer, int, message, real, schema};
use super::flat::{self, V5, types};
use super::{CONTINUATION, MAGIC};
use crate::data::cells::bits;
use crate::data::table::{Column, Table};

/// Alignment of messages and buffers.
const ALIGNMENT: usize = 8;

/// A finished part of a flatbuffer.
type TableOffset = WIPOffset<UnionWIPOffset>;

/// The value of a field of a table.
enum Slot {
    Byte(u8),
    Short(i16),
    Int(i32),
    Long(i64),
    Part(TableOffset),
}

/// Encodes a table.
pub fn write(table: &Table) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    pad(&mut file);
    let text = FlatBufferBuilder::new();
    append(&mut file, &of_message(text, flat::SCHEMA, |text| columns(text, table), 0));
    let start = file.len();
    let (mut body, mut nodes, mut buffers) = (Vec::new(), Vec::new(), Vec::new());
    for (_, column) in &table.columns {
        let missing = if matches!(column, Column::Foreign(_)) { table.rows } else { 0 };
        nodes.push([table.rows as i64, missing as i64]);
        for bytes in buffers_of(column) {
            buffers.push([body.len() as i64, bytes.len() as i64]);
            body.extend(bytes);
            pad(&mut body);
        }
    }
    let rows = |text: &mut FlatBufferBuilder| {
        let (nodes, buffers) = (structs(text, &nodes), structs(text, &buffers));
        let slots = [
            (batch::LENGTH, Slot::Long(table.rows as i64)),
            (batch::NODES, Slot::Part(nodes)),
            (batch::BUFFERS, Slot::Part(buffers)),
        ];
        of_slots(text, &slots)
    };
    append(&mut file, &of_message(FlatBufferBuilder::new(), flat::BATCH, rows, body.len()));
    let block = [start as i64, (file.len() - start) as i64, body.len() as i64];
    file.extend(&body);
    file.extend(CONTINUATION);
    file.extend([0; 4]); // end-of-stream marker, for readers of streams
    let mut text = FlatBufferBuilder::new();
    let slots = [
        (footer::VERSION, Slot::Short(V5)),
        (footer::SCHEMA, Slot::Part(columns(&mut text, table))),
        (footer::DICTIONARIES, Slot::Part(structs::<3>(&mut text, &[]))),
        (footer::BATCHES, Slot::Part(structs(&mut text, &[block]))),
    ];
    let footer = of_slots(&mut text, &slots);
    text.finish(footer, None);
    let footer = text.finished_data();
    file.extend(footer);
    file.extend((footer.len() as i32).to_le_bytes());
    file.extend(MAGIC);
    file
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
}

fn of_slots(text: &mut FlatBufferBuilder, slots: &[(usize, Slot)]) -> TableOffset {
    let table = text.start_table();
    for (slot, value) in slots {
        let entry = 4 + 2 * *slot as u16;
        match value {
            Slot::Byte(n) => text.push_slot_always(entry, *n),
            Slot::Short(n) => text.push_slot_always(entry, *n),
            Slot::Int(n) => text.push_slot_always(entry, *n),
            Slot::Long(n) => text.push_slot_always(entry, *n),
            Slot::Part(part) => text.push_slot_always(entry, *part),
        }
    }
    text.end_table(table).as_union_value()
}

/// A vector of structures of `N` 64-bit integers.
fn structs<const N: usize>(text: &mut FlatBufferBuilder, all: &[[i64; N]]) -> TableOffset {
    text.start_vector::<i64>(N * all.len());
    for n in all.as_flattened().iter().rev() {
        text.push(*n);
    }
    WIPOffset::new(text.end_vector::<i64>(all.len()).value())
}

/// A message with a header of this kind.
fn of_message(
    mut text: FlatBufferBuilder,
    kind: u8,
    header: impl FnOnce(&mut FlatBufferBuilder) -> TableOffset,
    body: usize,
) -> Vec<u8> {
    let slots = [
        (message::VERSION, Slot::Short(V5)),
        (message::HEADER_KIND, Slot::Byte(kind)),
        (message::HEADER, Slot::Part(header(&mut text))),
        (message::BODY_LENGTH, Slot::Long(body as i64)),
    ];
    let message = of_slots(&mut text, &slots);
    text.finish(message, None);
    text.finished_data().to_vec()
}

/// Appends a message with its length prefix.
fn append(file: &mut Vec<u8>, message: &[u8]) {
    file.extend(CONTINUATION);
    file.extend((message.len().next_multiple_of(ALIGNMENT) as i32).to_le_bytes());
    file.extend(message);
    pad(file);
}

/// The schema.
fn columns(text: &mut FlatBufferBuilder, table: &Table) -> TableOffset {
    let fields: Vec<TableOffset> =
        table.columns.iter().map(|(name, column)| of_column(text, name, column)).collect();
    let fields = WIPOffset::new(text.create_vector(&fields).value());
    of_slots(text, &[(schema::FIELDS, Slot::Part(fields))])
}

fn of_column(text: &mut FlatBufferBuilder, name: &str, column: &Column) -> TableOffset {
    let (kind, details) = match column {
        Column::Numbers(tensor) => match &tensor.data {
            Elements::Real(_) => (types::REAL, vec![(real::PRECISION, Slot::Short(2))]), // of 0, 1, 2
            Elements::Int(_) => {
                (types::INT, vec![(int::BITS, Slot::Int(64)), (int::SIGNED, Slot::Byte(1))])
            }
            Elements::Bool(_) => (types::BOOL, Vec::new()),
        },
        Column::Words(_) => (types::LARGE_UTF8, Vec::new()),
        Column::Foreign(_) => (types::NULL, Vec::new()),
    };
    let name = WIPOffset::new(text.create_string(name).value());
    let slots = [
        (field::NAME, Slot::Part(name)),
        (field::NULLABLE, Slot::Byte(u8::from(matches!(column, Column::Foreign(_))))),
        (field::TYPE_KIND, Slot::Byte(kind)),
        (field::TYPE, Slot::Part(of_slots(text, &details))),
        (
            field::CHILDREN,
            Slot::Part(WIPOffset::new(text.create_vector::<TableOffset>(&[]).value())),
        ),
    ];
    of_slots(text, &slots)
}

/// The buffers of an array: an empty validity bitmap, since no value is missing, then the buffers
/// of its type.
fn buffers_of(column: &Column) -> Vec<Vec<u8>> {
    let all = Vec::new();
    match column {
        Column::Numbers(tensor) => match &tensor.data {
            Elements::Real(v) => vec![all, v.iter().flat_map(|x| x.to_le_bytes()).collect()],
            Elements::Int(v) => vec![all, v.iter().flat_map(|n| n.to_le_bytes()).collect()],
            Elements::Bool(v) => vec![all, bits(v)],
        },
        Column::Words(words) => {
            let ends = words.iter().scan(0, |end, word| {
                *end += word.len() as i64;
                Some(*end)
            });
            let places = [0].into_iter().chain(ends).flat_map(i64::to_le_bytes).collect();
            vec![all, places, words.concat().into_bytes()]
        }
        Column::Foreign(_) => Vec::new(), // null columns have no buffers
    }
}
