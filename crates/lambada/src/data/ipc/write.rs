//! A table as a file: the magic, a message with the schema, one with all rows, and a footer that says where they are.

use arrow_ipc::{
    Block, Bool, BoolArgs, Buffer, Endianness, Field, FieldArgs, FieldNode, FloatingPoint,
    FloatingPointArgs, Footer, FooterArgs, Int, IntArgs, LargeUtf8, LargeUtf8Args, Message,
    MessageArgs, MessageHeader, MetadataVersion, Null, NullArgs, Precision, RecordBatch,
    RecordBatchArgs, Schema, SchemaArgs, Type,
};
use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, WIPOffset};
use lambada_prim::Data as Elements;

use super::{CONTINUATION, MAGIC};
use crate::data::cells::bits;
use crate::data::table::{Column, Table};

/// Messages and buffers begin at multiples of this.
const ALIGNMENT: usize = 8;

/// The bytes of a file with this table.
pub fn write(table: &Table) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    pad(&mut file);
    let mut message = FlatBufferBuilder::new();
    let columns = schema(&mut message, table).as_union_value();
    finish(&mut message, MessageHeader::Schema, columns, 0);
    append(&mut file, message.finished_data());
    let start = file.len();
    let (mut body, mut nodes, mut buffers) = (Vec::new(), Vec::new(), Vec::new());
    for (_, column) in &table.columns {
        let missing = if matches!(column, Column::Foreign(_)) { table.rows } else { 0 };
        nodes.push(FieldNode::new(table.rows as i64, missing as i64));
        for bytes in buffers_of(column) {
            buffers.push(Buffer::new(body.len() as i64, bytes.len() as i64));
            body.extend(bytes);
            pad(&mut body);
        }
    }
    let mut message = FlatBufferBuilder::new();
    let arguments = RecordBatchArgs {
        length: table.rows as i64,
        nodes: Some(message.create_vector(&nodes)),
        buffers: Some(message.create_vector(&buffers)),
        ..RecordBatchArgs::default()
    };
    let batch = RecordBatch::create(&mut message, &arguments).as_union_value();
    finish(&mut message, MessageHeader::RecordBatch, batch, body.len());
    append(&mut file, message.finished_data());
    let block = Block::new(start as i64, (file.len() - start) as i32, body.len() as i64);
    file.extend(&body);
    file.extend(CONTINUATION);
    file.extend([0; 4]); // the end of the messages, for who reads them as a stream
    let mut footer = FlatBufferBuilder::new();
    let arguments = FooterArgs {
        version: MetadataVersion::V5,
        schema: Some(schema(&mut footer, table)),
        recordBatches: Some(footer.create_vector(&[block])),
        ..FooterArgs::default()
    };
    let place = Footer::create(&mut footer, &arguments);
    footer.finish(place, None);
    let footer = footer.finished_data();
    file.extend(footer);
    file.extend((footer.len() as i32).to_le_bytes());
    file.extend(MAGIC);
    file
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
}

fn finish<'a>(
    message: &mut FlatBufferBuilder<'a>,
    kind: MessageHeader,
    header: WIPOffset<UnionWIPOffset>,
    body: usize,
) {
    let arguments = MessageArgs {
        version: MetadataVersion::V5,
        header_type: kind,
        header: Some(header),
        bodyLength: body as i64,
        ..MessageArgs::default()
    };
    let place = Message::create(message, &arguments);
    message.finish(place, None);
}

/// A message after its length.
fn append(file: &mut Vec<u8>, message: &[u8]) {
    file.extend(CONTINUATION);
    file.extend((message.len().next_multiple_of(ALIGNMENT) as i32).to_le_bytes());
    file.extend(message);
    pad(file);
}

fn schema<'a>(text: &mut FlatBufferBuilder<'a>, table: &Table) -> WIPOffset<Schema<'a>> {
    let fields = table.columns.iter().map(|(name, column)| field(text, name, column));
    let fields: Vec<_> = fields.collect();
    let arguments = SchemaArgs {
        endianness: Endianness::Little,
        fields: Some(text.create_vector(&fields)),
        ..SchemaArgs::default()
    };
    Schema::create(text, &arguments)
}

fn field<'a>(
    text: &mut FlatBufferBuilder<'a>,
    name: &str,
    column: &Column,
) -> WIPOffset<Field<'a>> {
    let (type_type, ty) = match column {
        Column::Numbers(tensor) => match &tensor.data {
            Elements::Real(_) => {
                let ty = FloatingPointArgs { precision: Precision::DOUBLE };
                (Type::FloatingPoint, FloatingPoint::create(text, &ty).as_union_value())
            }
            Elements::Int(_) => {
                let ty = IntArgs { bitWidth: 64, is_signed: true };
                (Type::Int, Int::create(text, &ty).as_union_value())
            }
            Elements::Bool(_) => (Type::Bool, Bool::create(text, &BoolArgs {}).as_union_value()),
        },
        Column::Words(_) => {
            (Type::LargeUtf8, LargeUtf8::create(text, &LargeUtf8Args {}).as_union_value())
        }
        Column::Foreign(_) => (Type::Null, Null::create(text, &NullArgs {}).as_union_value()),
    };
    let arguments = FieldArgs {
        name: Some(text.create_string(name)),
        nullable: matches!(column, Column::Foreign(_)),
        type_type,
        type_: Some(ty),
        children: Some(text.create_vector::<WIPOffset<Field>>(&[])),
        ..FieldArgs::default()
    };
    Field::create(text, &arguments)
}

/// The buffers of an array: no bitmap, as no value is missing, and what its type has.
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
        Column::Foreign(_) => Vec::new(), // nothing is missing everywhere, without a buffer
    }
}
