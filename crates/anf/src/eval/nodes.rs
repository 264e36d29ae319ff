//! Nodes. They lie in a pool in the order in which they are made, and a handle is a position in it,
//! counted from 1. The nodes of an iteration or a call are released at its end, if no handle leaves
//! it.

use lambada_prim::{Scalar, ScalarTy, grow};
use lambada_source::{Failure, Span};

use super::{Machine, Run, Value, internal};
use crate::code::{Operand, Step};
use crate::counts::{Meter, width};

/// All nodes.
#[derive(Default)]
pub(super) struct Pool {
    nodes: Vec<Node>,
    /// The fields of all nodes.
    fields: Vec<Value>,
    /// Their bytes.
    bytes: u64,
}

struct Node {
    tag: u32,
    /// The offset of its fields.
    at: usize,
}

/// A fill level of the pool.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    nodes: usize,
    fields: usize,
    bytes: u64,
}

impl Pool {
    pub(super) fn mark(&self) -> Mark {
        Mark { nodes: self.nodes.len(), fields: self.fields.len(), bytes: self.bytes }
    }

    /// Drops all nodes made since the mark.
    pub(super) fn release(&mut self, mark: Mark, meter: &Meter) {
        if self.nodes.len() > mark.nodes {
            self.nodes.truncate(mark.nodes);
            self.fields.truncate(mark.fields);
            meter.release(self.bytes - mark.bytes);
            self.bytes = mark.bytes;
        }
    }
}

impl Machine<'_> {
    pub(super) fn node(&mut self, tag: u32, fields: &[Operand], span: Span) -> Run<Value> {
        let at = self.pool.fields.len();
        let mut bytes = WORD;
        let live = self.room.meter.live();
        let spare = self.room.limit.limit.saturating_sub(live);
        if grow(&mut self.pool.fields, fields.len(), spare).is_err()
            || grow(&mut self.pool.nodes, 1, spare).is_err()
        {
            let needed = WORD * (1 + fields.len() as u64);
            return Err(Failure { span, message: self.room.limit.refused_node(needed, live) });
        }
        for field in fields {
            let value = self.take(field);
            bytes += match &value {
                Value::Scalar(value) => width(value.ty()),
                _ => WORD,
            };
            self.pool.fields.push(value);
        }
        self.room.node(bytes, span)?;
        self.pool.bytes += bytes;
        self.pool.nodes.push(Node { tag, at });
        self.counts.stores += 1 + fields.len() as u64;
        self.counts.written += bytes;
        Ok(Value::Scalar(Scalar::Int(self.pool.nodes.len() as i64)))
    }

    /// The node of a handle; `None` for null.
    fn node_of(&self, of: &Operand) -> Run<Option<&Node>> {
        let handle = self.int(of);
        if handle == 0 {
            return Ok(None);
        }
        match usize::try_from(handle - 1).ok().and_then(|k| self.pool.nodes.get(k)) {
            Some(node) => Ok(Some(node)),
            None => internal(format!("there is no node {handle}")),
        }
    }

    pub(super) fn tag(&mut self, of: &Operand) -> Run<Value> {
        let tag = self.node_of(of)?.map_or(-1, |node| i64::from(node.tag));
        self.counts.ints += 1;
        Ok(Value::Scalar(Scalar::Int(tag)))
    }

    /// The position in the pool of a part of a node; `None` for null.
    fn part(&self, of: &Operand, tag: u32, field: u32) -> Run<Option<usize>> {
        let Some(node) = self.node_of(of)? else { return Ok(None) };
        if node.tag != tag {
            return internal(format!("a field of the constructor {tag}, not {}", node.tag));
        }
        Ok(Some(node.at + field as usize))
    }

    /// The value of a field or a cell.
    pub(super) fn field(
        &mut self,
        step: &Step,
        of: &Operand,
        tag: u32,
        field: u32,
        elem: ScalarTy,
    ) -> Run<Value> {
        let Some(at) = self.part(of, tag, field)? else {
            return self.fill(elem.zero(), step);
        };
        self.counts.loads += 1;
        self.agrees(step, at)?;
        Ok(self.pool.fields[at].clone())
    }

    /// Checks that the part has the sizes that it is bound with.
    fn agrees(&self, step: &Step, at: usize) -> Run<()> {
        let sizes = self.dims(&step.dims[0]);
        let found = match &self.pool.fields[at] {
            Value::Array(array) => &array.tensor.dims[..],
            _ => &[],
        };
        if found == sizes {
            Ok(())
        } else {
            internal(format!("a field has the sizes {found:?}, not {sizes:?}"))
        }
    }

    pub(super) fn open(&mut self, step: &Step, of: &Operand, tag: u32, field: u32) -> Run<Value> {
        let Some(at) = self.part(of, tag, field)? else { return Ok(Value::Nowhere) };
        self.agrees(step, at)?;
        Ok(Value::Cell(at))
    }

    /// The target of additions to an accumulator, if any.
    pub(super) fn accumulator(&mut self, slot: usize) -> Option<&mut Value> {
        match self.slots[self.base + slot] {
            Value::Accumulator(at) => self.slots.get_mut(at),
            Value::Cell(at) => self.pool.fields.get_mut(at),
            Value::Nowhere => None,
            _ => self.slots.get_mut(self.base + slot),
        }
    }
}

const WORD: u64 = 8;
