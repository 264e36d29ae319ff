//! The memory of a run: one list of words, one per element of any type, filled from the front.

use std::collections::TryReserveError;
use std::ops::{Deref, DerefMut};

use lambada_prim::grow;
use lambada_prim::pages::ask_for_large;

use crate::Release;

/// The content of new memory: a NaN, a large integer, or true.
const UNWRITTEN: u64 = 0x7ff8_0bad_0bad_0bad;

/// The bytes of an element, of any type.
pub(super) const WORD: u64 = 8;

/// Words, of which the first ones are taken. The words behind them are free; they have been taken
/// before, or are room.
#[derive(Debug, Default)]
pub(super) struct Arena {
    words: Vec<u64>,
    taken: usize,
    /// The end of the last node. Only arrays are behind it.
    kept: usize,
    /// The number of words taken before the run begins: they do not count.
    own: usize,
    /// The most words taken at a time.
    most: usize,
    /// Whether new memory is overwritten, so that a read before a write shows.
    wiped: bool,
}

impl Arena {
    /// An empty arena, in the memory of one that is no longer needed.
    pub fn new(used: Option<Arena>, wiped: bool) -> Arena {
        Arena { words: used.unwrap_or_default().words, taken: 0, kept: 0, own: 0, most: 0, wiped }
    }

    /// The number of words taken.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// [`Self::taken`], to be lowered.
    pub fn taken_mut(&mut self) -> &mut usize {
        &mut self.taken
    }

    /// Begins to count: the words taken so far do not count.
    pub fn begin(&mut self) {
        self.own = self.taken;
    }

    /// The bytes that count.
    pub fn in_use(&self) -> u64 {
        (self.taken - self.own) as u64 * WORD
    }

    /// The most bytes that have counted at a time: released memory stays.
    pub fn reserved(&self) -> u64 {
        (self.most - self.own) as u64 * WORD
    }

    /// Takes words, and gives the place of the first one. Refuses if the system has no memory for
    /// them, or if they take more than `spare` bytes beyond it.
    pub fn take(&mut self, count: usize, spare: u64) -> Result<usize, TryReserveError> {
        let (first, end) = (self.taken, self.taken.saturating_add(count));
        let known = self.words.len();
        if end > known {
            let room = self.words.capacity();
            grow(&mut self.words, end - known, spare)?;
            if self.words.capacity() > room {
                ask_for_large(&mut self.words);
            }
            self.words.resize(end, UNWRITTEN);
        }
        if self.wiped {
            self.words[first..end.min(known).max(first)].fill(UNWRITTEN);
        }
        self.taken = end;
        self.most = self.most.max(end);
        Ok(first)
    }

    /// Takes words for these, and fills them.
    pub fn extend(&mut self, words: impl ExactSizeIterator<Item = u64>) {
        let end = self.taken + words.len();
        self.words.resize(self.words.len().max(end), UNWRITTEN);
        self.words[self.taken..end].iter_mut().zip(words).for_each(|(to, word)| *to = word);
        self.taken = end;
        self.most = self.most.max(end);
    }

    /// Keeps the words taken so far where only arrays are released.
    pub fn keep(&mut self) {
        self.kept = self.taken;
    }

    /// Releases all words but the first ones, except for those that are kept.
    pub fn release(&mut self, taken: usize, release: Release) {
        match release {
            Release::All => self.kept = self.kept.min(taken),
            Release::Arrays => {}
        }
        self.taken = taken.max(self.kept);
    }
}

impl Deref for Arena {
    type Target = [u64];

    #[inline(always)]
    fn deref(&self) -> &[u64] {
        &self.words
    }
}

impl DerefMut for Arena {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}
