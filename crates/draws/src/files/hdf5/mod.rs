//! The part of HDF5 that files of draws need. No library in Rust is used, because those that write
//! NetCDF-4 and read compressed chunks take longer to build than half the compiler: `netcdf-writer`
//! with `netcdf-reader` 100 s of a processor, `hdf5-pure` 55 s.
//!
//! - `write`: groups, contiguous arrays, attributes and dimension scales, as version 1.8 has them;
//! - `read`: superblocks, object headers, links and attributes of versions 1.6 to 1.14;
//! - `dense`: groups with many links, which lie in a fractal heap below a B-tree;
//! - `cursor`: bytes from a place;
//! - `types`: datatypes, and numbers in them;
//! - `chunks`: arrays in chunks, perhaps deflated and shuffled.
//!
//! Cannot be read: chunk indices of `libver="latest"`, filters other than deflate, shuffle and
//! Fletcher's checksum, external and virtual arrays, offsets of other sizes than 8 bytes.

mod chunks;
mod cursor;
mod dense;
mod read;
mod types;
mod write;

pub(super) use read::{File, Object};
pub(super) use write::{Dataset, Group, write};

/// A value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Attribute {
    /// A text.
    Text(String),
    /// An integer of 64 bits.
    Int(i64),
    /// A real.
    Real(f64),
    /// Addresses of objects.
    Objects(Vec<u64>),
}

/// The elements of an array.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Numbers {
    /// Reals of 64 bits.
    Real(Vec<f64>),
    /// Integers of 64 bits.
    Int(Vec<i64>),
    /// Integers of 8 bits.
    Byte(Vec<i8>),
}

/// Address of nothing.
const NOWHERE: u64 = u64::MAX;

const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// Types of messages in object headers.
mod message {
    pub const DATASPACE: u16 = 0x01;
    pub const LINK_INFO: u16 = 0x02;
    pub const DATATYPE: u16 = 0x03;
    pub const FILL_VALUE: u16 = 0x05;
    pub const LINK: u16 = 0x06;
    pub const LAYOUT: u16 = 0x08;
    pub const GROUP_INFO: u16 = 0x0a;
    pub const FILTERS: u16 = 0x0b;
    pub const ATTRIBUTE: u16 = 0x0c;
    pub const CONTINUATION: u16 = 0x10;
    pub const SYMBOL_TABLE: u16 = 0x11;
    pub const ATTRIBUTE_INFO: u16 = 0x15;
}

/// The checksum of metadata: Jenkins' lookup3.
fn checksum(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let (mut a, mut b, mut c) = (start, start, start);
    let word = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(word)
    };
    let add = |a: &mut u32, b: &mut u32, c: &mut u32, block: &[u8]| {
        for (sum, part) in [a, b, c].into_iter().zip(block.chunks(4)) {
            *sum = sum.wrapping_add(word(part));
        }
    };
    // The last block, even a whole one, is mixed otherwise.
    let whole = bytes.len().saturating_sub(1) / 12 * 12;
    for block in bytes[..whole].chunks(12) {
        add(&mut a, &mut b, &mut c, block);
        a = a.wrapping_sub(c) ^ c.rotate_left(4);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(6);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(8);
        b = b.wrapping_add(a);
        a = a.wrapping_sub(c) ^ c.rotate_left(16);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(19);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(4);
        b = b.wrapping_add(a);
    }
    if bytes.is_empty() {
        return c;
    }
    add(&mut a, &mut b, &mut c, &bytes[whole..]);
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_lookup3() {
        assert_eq!(checksum(b""), 0xdead_beef);
        assert_eq!(checksum(b"Four score and seven years ago"), 0x1777_0551);
    }
}
