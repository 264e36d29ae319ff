//! Bytes from a place of a file. No address and no length leads beyond its end.

use crate::draws::Wrong;

pub(super) type Result<T> = std::result::Result<T, Wrong>;

/// A file that ends too early, or with an address beyond its end.
pub(super) fn cut() -> Wrong {
    Wrong::format("the file is cut off or broken")
}

/// Bytes from a place.
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: bytes }
    }

    pub fn at(bytes: &'a [u8], address: u64) -> Result<Cursor<'a>> {
        let start = usize::try_from(address).map_err(|_| cut())?;
        bytes.get(start..).map(Cursor::new).ok_or_else(cut)
    }

    /// All bytes up to the end.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(cut)?;
        self.rest = rest;
        Ok(taken)
    }

    pub fn skip(&mut self, count: usize) -> Result<()> {
        self.take(count).map(drop)
    }

    /// A little-endian number of at most 8 bytes.
    pub fn number(&mut self, width: usize) -> Result<u64> {
        let mut wide = [0; 8];
        wide.get_mut(..width).ok_or_else(cut)?.copy_from_slice(self.take(width)?);
        Ok(u64::from_le_bytes(wide))
    }

    pub fn signature(&mut self, expected: &[u8; 4]) -> Result<()> {
        if self.take(4)? == expected { Ok(()) } else { Err(cut()) }
    }
}
