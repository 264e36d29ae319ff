//! Messages of groups and headers with many of them: a B-tree of version 2 holds places in a
//! fractal heap, whose blocks double in size.

use super::NOWHERE;
use super::cursor::{Cursor, Result, cut};

/// Limit for depths, against files that contain themselves.
const DEPTH: usize = 32;

/// All messages that a tree of this root finds in the heap. In a record, `before` bytes precede the
/// place.
pub(super) fn messages(bytes: &[u8], heap: u64, tree: u64, before: usize) -> Result<Vec<Vec<u8>>> {
    let heap = Heap::of(bytes, heap)?;
    let tree = Tree::of(bytes, tree)?;
    let mut records = Vec::new();
    if tree.root != NOWHERE && tree.count > 0 {
        tree.collect(tree.root, tree.count, tree.depth, &mut records)?;
    }
    let message = |record: &&[u8]| heap.object(record.get(before..).ok_or_else(cut)?);
    records.iter().map(message).collect()
}

/// A B-tree.
struct Tree<'a> {
    bytes: &'a [u8],
    node: usize,
    record: usize,
    depth: usize,
    root: u64,
    count: usize,
}

/// Bytes that hold numbers up to a limit.
fn width(limit: u64) -> usize {
    limit.max(1).ilog2() as usize / 8 + 1
}

impl<'a> Tree<'a> {
    fn of(bytes: &'a [u8], address: u64) -> Result<Tree<'a>> {
        let mut at = Cursor::at(bytes, address)?;
        at.signature(b"BTHD")?;
        at.skip(2)?;
        let (node, record) = (at.number(4)? as usize, at.number(2)? as usize);
        let depth = at.number(2)? as usize;
        at.skip(2)?;
        let (root, count) = (at.number(8)?, at.number(2)? as usize);
        if record == 0 || depth > DEPTH || node < 10 + record {
            return Err(cut());
        }
        Ok(Tree { bytes, node, record, depth, root, count })
    }

    /// Adds the records of a node and below.
    fn collect(
        &self,
        address: u64,
        count: usize,
        depth: usize,
        records: &mut Vec<&'a [u8]>,
    ) -> Result<()> {
        // Trees of sound files have fewer records than bytes.
        if records.len() > self.bytes.len() {
            return Err(cut());
        }
        let mut at = Cursor::at(self.bytes, address)?;
        at.signature(if depth == 0 { b"BTLF" } else { b"BTIN" })?;
        at.skip(2)?;
        let mut own = Vec::new();
        for _ in 0..count {
            own.push(at.take(self.record)?);
        }
        if depth == 0 {
            records.extend(own);
            return Ok(());
        }
        let (counts, totals) = self.widths(depth);
        for k in 0..=count {
            let (child, inner) = (at.number(8)?, at.number(counts)? as usize);
            at.skip(totals)?;
            self.collect(child, inner, depth - 1, records)?;
            records.extend(own.get(k));
        }
        Ok(())
    }

    /// Bytes of the number of records of a child, and of all below it, in nodes of this depth.
    fn widths(&self, depth: usize) -> (usize, usize) {
        let leaf = ((self.node - 10) / self.record) as u64;
        let counts = width(leaf);
        let (mut below, mut totals) = (leaf, 0);
        for _ in 1..depth {
            let pointer = 8 + counts + totals;
            let most = (self.node.saturating_sub(10 + pointer) / (self.record + pointer)) as u64;
            below = most.saturating_add(1).saturating_mul(below).saturating_add(most);
            totals = width(below);
        }
        (counts, totals)
    }
}

/// A fractal heap.
struct Heap<'a> {
    bytes: &'a [u8],
    /// Bytes of an offset and of a length in places.
    offset: usize,
    length: usize,
    /// Shape of the table: columns, sizes of the first and the largest direct block.
    columns: u64,
    first: u64,
    largest: u64,
    root: u64,
    rows: u64,
}

impl<'a> Heap<'a> {
    fn of(bytes: &'a [u8], address: u64) -> Result<Heap<'a>> {
        let mut at = Cursor::at(bytes, address)?;
        at.signature(b"FRHP")?;
        at.skip(3)?;
        if at.number(2)? != 0 {
            return Err(crate::Wrong::format("a group has compressed links"));
        }
        at.skip(1)?;
        let most = at.number(4)?;
        at.skip(12 * 8)?;
        let (columns, first, largest) = (at.number(2)?, at.number(8)?, at.number(8)?);
        let bits = at.number(2)?;
        at.skip(2)?;
        let (root, rows) = (at.number(8)?, at.number(2)?);
        if columns == 0 || !first.is_power_of_two() || !largest.is_power_of_two() {
            return Err(cut());
        }
        let offset = bits.div_ceil(8) as usize;
        let length = width(most).min(largest.ilog2().div_ceil(8) as usize);
        Ok(Heap { bytes, offset, length, columns, first, largest, root, rows })
    }

    /// The object at a place.
    fn object(&self, place: &[u8]) -> Result<Vec<u8>> {
        let mut at = Cursor::new(place);
        let kind = at.number(1)? as u8;
        match kind >> 4 & 3 {
            0 => {
                let (offset, length) = (at.number(self.offset)?, at.number(self.length)?);
                let start = match self.rows {
                    0 => self.root.checked_add(offset).ok_or_else(cut)?,
                    rows => self.find(self.root, rows, offset, 0)?,
                };
                Ok(Cursor::at(self.bytes, start)?.take(length as usize)?.to_vec())
            }
            2 => Ok(at.take(usize::from(kind & 0x0f) + 1)?.to_vec()),
            _ => Err(crate::Wrong::format("an attribute is larger than 64 KiB")),
        }
    }

    /// The address of an offset below an indirect block.
    fn find(&self, block: u64, rows: u64, offset: u64, depth: usize) -> Result<u64> {
        if depth > DEPTH {
            return Err(cut());
        }
        let mut at = Cursor::at(self.bytes, block)?;
        at.signature(b"FHIB")?;
        at.skip(1 + 8 + self.offset)?;
        let mut start = 0;
        for row in 0..rows {
            let doublings = row.saturating_sub(1).min(48);
            let size = self.first.checked_shl(doublings as u32).ok_or_else(cut)?;
            for _ in 0..self.columns {
                let child = at.number(8)?;
                let end = u64::checked_add(start, size).ok_or_else(cut)?;
                if offset >= end {
                    start = end;
                    continue;
                }
                let inner = offset - start;
                if child == NOWHERE {
                    return Err(cut());
                }
                if size <= self.largest {
                    return child.checked_add(inner).ok_or_else(cut);
                }
                let rows = (size / (self.first * self.columns)).max(1).ilog2() + 1;
                return self.find(child, u64::from(rows), inner, depth + 1);
            }
        }
        Err(cut())
    }
}
