//! Nodes: words in memory. The first word has the type and the constructor of the node, so that a
//! wrong handle is noticed. An array stands behind its node; its two words are its beginning and
//! its end.

use lambada_source::Failure;

use super::arena::WORD;
use super::compile::{Code, Compiler};
use super::counts::Meter;
use super::items::{NewNode, NodeField, Source};
use super::machine::Machine;
use super::{Range, internal};
use crate::{Buf, FieldId, FieldValue, NodeId, Operand, Reg};

/// The upper half of first words.
const NODE: u64 = 0x6e6f_6465 << 32;

fn first_word(NodeId(node): NodeId, tag: u32) -> u64 {
    NODE | u64::from(node & 0xffff) << 16 | u64::from(tag & 0xffff)
}

impl Compiler<'_> {
    pub(super) fn new_node(
        &mut self,
        reg: Reg,
        node: NodeId,
        tag: u32,
        parts: &[FieldValue],
        site: u32,
    ) {
        let mut fields = Vec::with_capacity(parts.len());
        for (part, field) in parts.iter().zip(0..) {
            let word = self.library.word(FieldId { node, tag, field });
            let from = match part {
                FieldValue::Scalar(value) => Source::Slot(self.slot(*value)),
                FieldValue::Array(buf, len) => Source::Buffer { buf: buf.0, len: self.slot(*len) },
            };
            fields.push((word, from));
        }
        let words = self.library.node(node).words();
        let number = self.program.new_nodes.len() as u32;
        let first = first_word(node, tag);
        self.program.new_nodes.push(NewNode { first, words, fields, site });
        let to = self.bind(reg);
        self.put(Code::Node { to, number });
    }

    pub(super) fn open(&mut self, buf: Buf, field: FieldId, of: Operand, dims: &[Operand]) {
        let (args, count) = (self.args(dims), dims.len() as u16);
        let (of, number) = (self.slot(of), self.place(field));
        self.put(Code::Open { buf: buf.0, of, number, args, count });
    }

    /// The number of a place.
    pub(super) fn place(&mut self, field: FieldId) -> u32 {
        let at = self.library.word(field);
        let array = self.library.field(field).array;
        let first = first_word(field.node, field.tag);
        self.program.fields.push(NodeField { first, at, array });
        self.program.fields.len() as u32 - 1
    }
}

impl<M: Meter> Machine<'_, M> {
    pub(super) fn new_node(&mut self, to: u32, number: u32) -> Result<(), Failure> {
        let node = &self.body.new_nodes[number as usize];
        let mut lens = Vec::new();
        for (_, from) in &node.fields {
            if let Source::Buffer { buf, len } = from {
                let len = self.int(*len).max(0);
                lens.push((self.place(*buf, 0, len)?, len as usize));
            }
        }
        let words = lens.iter().fold(node.words, |sum, (_, len)| sum.saturating_add(*len));
        let low = self.room_for_node(words, node.site)?;
        self.memory.keep();
        if M::COUNTS {
            self.meter.allocate(words as u64 * WORD);
            self.meter.keep(words as u64 * WORD);
            self.meter.write(words as u64 * WORD);
        }
        self.memory[low..low + node.words].fill(0);
        self.memory[low] = node.first;
        let (mut start, mut lens) = (low + node.words, lens.into_iter());
        for (at, from) in &node.fields {
            match from {
                Source::Slot(slot) => self.memory[low + at] = self.get(*slot),
                Source::Buffer { .. } => {
                    let (from, len) = lens.next().expect("as many as there are arrays");
                    self.memory.copy_within(from..from + len, start);
                    self.memory[low + at] = start as u64;
                    start += len;
                    self.memory[low + at + 1] = start as u64;
                }
            }
        }
        self.put(to, low as u64 + 1);
        Ok(())
    }

    /// The place in memory for a node.
    fn room_for_node(&mut self, words: usize, site: u32) -> Result<usize, Failure> {
        let (bytes, in_use) = ((words as u64).saturating_mul(WORD), self.in_use());
        let spare = self.limit.limit.saturating_sub(in_use).checked_sub(bytes);
        if let Some(low) = spare.and_then(|spare| self.memory.take(words, spare).ok()) {
            return Ok(low);
        }
        let span = self.body.sites[site as usize].span;
        Err(Failure { span, message: self.limit.refused_node(bytes, in_use) })
    }

    /// The first word of a node.
    fn first_of(&self, handle: u64) -> Result<u64, Failure> {
        let word = (handle as usize).checked_sub(1).and_then(|at| self.memory.get(at));
        let is_node = |word: &&u64| **word & !0xffff_ffff == NODE;
        word.filter(is_node).copied().ok_or_else(|| {
            internal(format!("`{}` looks at a node that is not there", self.body.name))
        })
    }

    pub(super) fn tag(&mut self, to: u32, of: u32) -> Result<(), Failure> {
        let tag = match self.get(of) {
            0 => -1,
            handle => (self.first_of(handle)? & 0xffff) as i64,
        };
        self.put(to, tag as u64);
        Ok(())
    }

    pub(super) fn field(&mut self, to: u32, of: u32, number: u32) -> Result<(), Failure> {
        let field = &self.body.fields[number as usize];
        let value = match self.get(of) {
            0 => 0,
            handle if self.first_of(handle)? == field.first => {
                self.memory[handle as usize - 1 + field.at]
            }
            _ => {
                return Err(internal(format!(
                    "`{}` reads a field of a node of another constructor",
                    self.body.name
                )));
            }
        };
        if M::COUNTS {
            self.meter.load(1);
        }
        self.put(to, value);
        Ok(())
    }

    pub(super) fn open(
        &mut self,
        buf: u32,
        of: u32,
        number: u32,
        sizes: std::ops::Range<usize>,
    ) -> Result<(), Failure> {
        let field = &self.body.fields[number as usize];
        let handle = self.get(of);
        if handle == 0 || self.first_of(handle)? != field.first {
            self.alloc(buf, sizes.start, sizes.len())?;
            let Range { low, high, .. } = self.ranges[buf as usize];
            self.memory[low..high].fill(0);
            return Ok(());
        }
        let at = handle as usize - 1 + field.at;
        let (low, high) = if field.array {
            (self.memory[at] as usize, self.memory[at + 1] as usize)
        } else {
            (at, at + 1)
        };
        self.ranges[buf as usize] = Range { low, high, origin: low as i64 };
        Ok(())
    }
}
