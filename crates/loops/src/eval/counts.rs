//! The cost of a run. The machine reports to a [`Meter`]; the one that counts nothing costs
//! nothing.

use crate::Release;

/// The work of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Primitives on reals, one per lane.
    pub reals: u64,
    /// Primitives on integers and truth values only.
    pub ints: u64,
    /// Elements read from buffers, those copied aside.
    pub loads: u64,
    /// Bytes written to buffers.
    pub written: u64,
    /// Bytes of all buffers allocated.
    pub allocated: u64,
    /// The most bytes that the arena held at one time.
    pub peak: u64,
}

/// The receiver of the machine's reports.
pub(super) trait Meter {
    /// Whether reports are needed.
    const COUNTS: bool;
    /// A primitive on some lanes; on reals if one of its arguments or its result is real.
    fn operation(&mut self, on_reals: bool, lanes: u16);
    /// Several primitives on reals.
    fn operations(&mut self, count: u64);
    fn load(&mut self, elements: u64);
    fn write(&mut self, bytes: u64);
    fn allocate(&mut self, bytes: u64);
    /// Some of the bytes that have been allocated are those of a node.
    fn keep(&mut self, bytes: u64);
    /// A scope begins.
    fn enter(&mut self);
    /// The innermost scope ends and releases its allocations, or some of them.
    fn leave(&mut self, release: Release);
}

/// Counts nothing.
pub(super) struct Silent;

impl Meter for Silent {
    const COUNTS: bool = false;

    fn operation(&mut self, _on_reals: bool, _lanes: u16) {}
    fn operations(&mut self, _count: u64) {}
    fn load(&mut self, _elements: u64) {}
    fn write(&mut self, _bytes: u64) {}
    fn allocate(&mut self, _bytes: u64) {}
    fn keep(&mut self, _bytes: u64) {}
    #[inline(always)]
    fn enter(&mut self) {}
    #[inline(always)]
    fn leave(&mut self, _release: Release) {}
}

/// Counts everything.
#[derive(Default)]
pub(super) struct Counter {
    pub(super) counts: Counts,
    /// Bytes in use.
    live: u64,
    /// Bytes of nodes in use.
    nodes: u64,
    /// By open scope: bytes in use at its entry, and those of nodes among them.
    marks: Vec<(u64, u64)>,
}

impl Meter for Counter {
    const COUNTS: bool = true;

    fn operation(&mut self, on_reals: bool, lanes: u16) {
        let count = if on_reals { &mut self.counts.reals } else { &mut self.counts.ints };
        *count += u64::from(lanes);
    }

    fn operations(&mut self, count: u64) {
        self.counts.reals += count;
    }

    fn load(&mut self, elements: u64) {
        self.counts.loads += elements;
    }

    fn write(&mut self, bytes: u64) {
        self.counts.written += bytes;
    }

    fn allocate(&mut self, bytes: u64) {
        self.live = self.live.saturating_add(bytes);
        self.counts.allocated = self.counts.allocated.saturating_add(bytes);
        self.counts.peak = self.counts.peak.max(self.live);
    }

    fn keep(&mut self, bytes: u64) {
        self.nodes = self.nodes.saturating_add(bytes);
    }

    fn enter(&mut self) {
        self.marks.push((self.live, self.nodes));
    }

    fn leave(&mut self, release: Release) {
        let (live, nodes) = self.marks.pop().expect("a scope is open");
        match release {
            Release::All => self.nodes = nodes,
            Release::Arrays => {}
        }
        self.live = live + (self.nodes - nodes);
    }
}
