//! The memory of a run: one list of words, one per element whatever its type, that is filled from
//! the front.

use std::collections::TryReserveError;
use std::ops::{Deref, DerefMut};

use lambada_prim::grow;
use lambada_prim::pages::ask_for_large;

use crate::Release;

/// What new memory holds: a NaN, a large integer, or true.
const UNWRITTEN: u64 = 0x7ff8_0bad_0bad_0bad;

/// The bytes of an element, of any type.
pub(super) const WORD: u64 = 8;

/// Words, of which the first ones are taken. What is behind them has been taken before, or is room.
#[derive(Debug, Default)]
pub(super) struct Arena {
    words: Vec<u64>,
    taken: usize,
    /// Where the last node ends. All that is behind it is arrays.
    kept: usize,
    /// How many of them are there before the run begins: they do not count.
    own: usize,
    /// The most words that have been taken at a time.
    most: usize,
    /// Is new memory overwritten, so that whoever reads before writing gets what shows?
    wiped: bool,
}

impl Arena {
    /// An empty one, in the memory of one that nobody needs any more.
    pub fn new(used: Option<Arena>, wiped: bool) -> Arena {
        Arena { words: used.unwrap_or_default().words, taken: 0, kept: 0, own: 0, most: 0, wiped }
    }

    /// How many words are taken.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// The same, to be set to less.
    pub fn taken_mut(&mut self) -> &mut usize {
        &mut self.taken
    }

    /// What is taken now does not count.
    pub fn begin(&mut self) {
        self.own = self.taken;
    }

    /// How many bytes count.
    pub fn in_use(&self) -> u64 {
        (self.taken - self.own) as u64 * WORD
    }

    /// The most bytes that have counted at a time: what has been released stays.
    pub fn reserved(&self) -> u64 {
        (self.most - self.own) as u64 * WORD
    }

    /// Takes words, and gives the first one's place. What the system has no memory for, or takes
    /// more than `spare` bytes beyond it, is refused.
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

    /// Takes as many words as there are, for these.
    pub fn extend(&mut self, words: impl ExactSizeIterator<Item = u64>) {
        let end = self.taken + words.len();
        self.words.resize(self.words.len().max(end), UNWRITTEN);
        self.words[self.taken..end].iter_mut().zip(words).for_each(|(to, word)| *to = word);
        self.taken = end;
        self.most = self.most.max(end);
    }

    /// What has been taken so far stays where only arrays are released.
    pub fn keep(&mut self) {
        self.kept = self.taken;
    }

    /// Gives back all words but the first ones, as far as it may.
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
