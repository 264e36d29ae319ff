//! Arrays in chunks: a B-tree of version 1 holds the place of each chunk, and filters have changed
//! its bytes.

use std::io::Read as _;

use flate2::read::ZlibDecoder;

use super::cursor::{Cursor, Result, cut};
use crate::draws::Wrong;

/// Limit for the depth of a tree.
const DEPTH: usize = 32;

/// A filter: its number, and the first of its parameters.
pub(super) type Filter = (u16, u32);

/// An array in chunks.
pub(super) struct Chunked<'a> {
    /// The file.
    pub bytes: &'a [u8],
    /// Lengths of the axes of the array, and of its chunks.
    pub dims: Vec<usize>,
    pub chunk: Vec<usize>,
    /// Size of an element.
    pub element: usize,
    /// Filters in the order in which they were applied.
    pub filters: Vec<Filter>,
}

impl Chunked<'_> {
    /// The elements; zero where there is no chunk.
    pub fn elements(&self, tree: u64, size: usize) -> Result<Vec<u8>> {
        let mut out = vec![0; size];
        if tree != super::NOWHERE {
            // A sound tree has no more nodes and chunks.
            let mut budget = self.bytes.len() / 16;
            self.node(tree, DEPTH, &mut budget, &mut out)?;
        }
        Ok(out)
    }

    fn node(&self, address: u64, depth: usize, budget: &mut usize, out: &mut [u8]) -> Result<()> {
        let mut at = Cursor::at(self.bytes, address)?;
        at.signature(b"TREE")?;
        at.skip(1)?;
        let (level, entries) = (at.number(1)?, at.number(2)?);
        at.skip(16)?;
        for _ in 0..entries {
            *budget = budget.checked_sub(1).ok_or_else(cut)?;
            let (size, mask) = (at.number(4)? as usize, at.number(4)?);
            let starts = self.dims.iter().map(|_| at.number(8).map(|n| n as usize));
            let starts = starts.collect::<Result<Vec<usize>>>()?;
            at.skip(8)?;
            let child = at.number(8)?;
            match level {
                0 => {
                    let packed = Cursor::at(self.bytes, child)?.take(size)?;
                    let plain = self.unpacked(packed, mask as u32)?;
                    self.copy(&plain, &starts, out)?;
                }
                _ if depth == 0 => return Err(cut()),
                _ => self.node(child, depth - 1, budget, out)?,
            }
        }
        Ok(())
    }

    /// Undoes the filters; a bit of the mask skips one.
    fn unpacked(&self, packed: &[u8], mask: u32) -> Result<Vec<u8>> {
        let size = self.chunk.iter().product::<usize>() * self.element;
        let mut bytes = packed.to_vec();
        for (k, (filter, parameter)) in self.filters.iter().enumerate().rev() {
            if mask >> k & 1 == 1 {
                continue;
            }
            bytes = match filter {
                1 => {
                    let mut plain = Vec::new();
                    // Some bytes more than there may be, for a checksum.
                    let limit = size as u64 + 64;
                    let read = ZlibDecoder::new(&bytes[..]).take(limit).read_to_end(&mut plain);
                    read.map_err(|error| Wrong::format(format!("a chunk is broken: {error}")))?;
                    plain
                }
                2 => unshuffled(&bytes, *parameter as usize),
                3 => bytes[..bytes.len().saturating_sub(4)].to_vec(),
                other => {
                    let name = match other {
                        4 => "szip",
                        32_001 => "Blosc",
                        32_004 => "LZ4",
                        32_015 => "Zstandard",
                        _ => "unknown",
                    };
                    return Err(Wrong::format(format!(
                        "it is compressed by the filter {other} ({name}), which cannot be read; deflate can"
                    )));
                }
            };
        }
        match bytes.len() == size {
            true => Ok(bytes),
            false => Err(Wrong::format("a chunk has another size than it should")),
        }
    }

    /// Copies a chunk, less the parts beyond the array.
    fn copy(&self, plain: &[u8], starts: &[usize], out: &mut [u8]) -> Result<()> {
        let rank = self.dims.len();
        if (0..rank).any(|axis| starts[axis] >= self.dims[axis]) {
            return Ok(());
        }
        let counts: Vec<usize> =
            (0..rank).map(|axis| self.chunk[axis].min(self.dims[axis] - starts[axis])).collect();
        let run = counts.last().copied().unwrap_or(1);
        let runs: usize = counts[..rank.saturating_sub(1)].iter().product();
        let mut place = vec![0; rank];
        for _ in 0..runs {
            let (mut from, mut to) = (0, 0);
            for axis in 0..rank {
                from = from * self.chunk[axis] + place[axis];
                to = to * self.dims[axis] + starts[axis] + place[axis];
            }
            let (from, to, length) = (from * self.element, to * self.element, run * self.element);
            let source = plain.get(from..from + length).ok_or_else(cut)?;
            out.get_mut(to..to + length).ok_or_else(cut)?.copy_from_slice(source);
            for axis in (0..rank.saturating_sub(1)).rev() {
                place[axis] += 1;
                if place[axis] < counts[axis] {
                    break;
                }
                place[axis] = 0;
            }
        }
        Ok(())
    }
}

/// Puts the bytes of each element together again.
fn unshuffled(bytes: &[u8], element: usize) -> Vec<u8> {
    if element <= 1 {
        return bytes.to_vec();
    }
    let count = bytes.len() / element;
    let mut out = bytes.to_vec();
    for k in 0..count {
        for part in 0..element {
            out[k * element + part] = bytes[part * count + k];
        }
    }
    out
}
