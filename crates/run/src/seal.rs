//! Seals: the length and a hash of a library, in a file beside it, to detect truncated or
//! overwritten libraries. The system maps a library without checks, so a damaged one would crash
//! the process.
//!
//! The hash need not be cryptographic, because [`crate::owner`] knows who can write to an entry. It
//! mixes in each 64-bit word by a permutation, so that a change within one word is always detected;
//! four chains keep the processor busy.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Version of the hash.
const KIND: &str = "lambada-seal-1";

/// Seals a file.
pub(crate) fn seal(file: &Path) -> io::Result<()> {
    let bytes = fs::read(file)?;
    fs::write(place(file), text(&bytes))
}

/// Whether an open file matches the seal at a path.
pub(crate) fn is_whole(mut file: &File, path: &Path) -> bool {
    let Ok(sealed) = crate::owner::read_small(&place(path)) else { return false };
    let length = || sealed.split(' ').nth(1)?.parse().ok();
    let same_length = || file.metadata().is_ok_and(|file| Some(file.len()) == length());
    let mut bytes = Vec::new();
    same_length() && file.read_to_end(&mut bytes).is_ok() && text(&bytes) == sealed
}

fn place(file: &Path) -> PathBuf {
    file.with_extension("seal")
}

fn text(bytes: &[u8]) -> String {
    format!("{KIND} {} {:016x}\n", bytes.len(), hash(bytes))
}

/// An odd number with irregular bits: the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

fn hash(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    let mut chains = [1, 2, 3, 4];
    let blocks = bytes.chunks_exact(32);
    let rest = blocks.remainder();
    for block in blocks {
        for (chain, bytes) in chains.iter_mut().zip(block.chunks_exact(8)) {
            *chain = mix(*chain, word(bytes));
        }
    }
    let rest = rest.chunks(8).map(word);
    let words = chains.into_iter().chain(rest).chain([bytes.len() as u64]);
    let hash = words.fold(0, mix);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts() {
        let bytes: Vec<u8> = (0..77).map(|k: u8| k.wrapping_mul(31)).collect();
        let sealed = hash(&bytes);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                assert_ne!(hash(&other), sealed, "byte {at}, bit {bit}");
            }
            assert_ne!(hash(&bytes[..at]), sealed, "cut at {at}");
        }
        let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
        assert_ne!(hash(&longer), sealed);
    }
}
