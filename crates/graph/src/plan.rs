//! The mechanisms of the scheduler, beyond placing definitions one after the other. Each can be
//! left out: its worth is measured that way, and tests show that no value depends on it.

use crate::cost::{SMALLEST, SMALLEST_WITH_TOTALS, USUAL_WITH_TOTALS};

/// An optimization, which keeps values up to the order of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mechanism {
    /// P2: factors leave sums, and sums of sums become sums (`factored`).
    Factoring,
    /// Sequential loops run inside of nests, with their states in registers.
    Loops,
    /// Additions to accumulators outside of a run of statements.
    Additions,
    /// P4: nests that share an axis run together, for one index after the other.
    Groups,
    /// P5: cheap values are recomputed rather than stored.
    Rematerialization,
    /// P6: vectors. Without, nests have one lane.
    Lanes,
    /// P6: lanes run along the axis that is contiguous most often. Without, along the first one of
    /// the program.
    AxisOrder,
    /// P7: several iterations at once, in registers.
    Tiles,
    /// P7: iterations whose terms are all zero are skipped.
    Ranges,
    /// Terms that are zero for all lanes are not computed.
    Branches,
    /// The ends of an axis of lanes are split from its interior, where conditions on boundaries are
    /// known.
    Interior,
    /// P7: nests of which one reads neighbors that another stores become one, which keeps them in
    /// registers.
    Fusion,
    /// P6: arrays that lie along another axis than that of the lanes are transposed block by block.
    Transposes,
    /// P8: an axis in blocks that fit the caches.
    Blocks,
}

impl Mechanism {
    /// All mechanisms.
    pub const ALL: [Mechanism; 14] = [
        Mechanism::Lanes,
        Mechanism::AxisOrder,
        Mechanism::Factoring,
        Mechanism::Transposes,
        Mechanism::Blocks,
        Mechanism::Groups,
        Mechanism::Tiles,
        Mechanism::Ranges,
        Mechanism::Branches,
        Mechanism::Interior,
        Mechanism::Fusion,
        Mechanism::Rematerialization,
        Mechanism::Loops,
        Mechanism::Additions,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Factoring => "factoring of sums",
            Mechanism::Loops => "loops inside of nests",
            Mechanism::Additions => "additions in lanes",
            Mechanism::Groups => "nests in groups",
            Mechanism::Rematerialization => "rematerialization",
            Mechanism::Lanes => "lanes",
            Mechanism::AxisOrder => "order of axes",
            Mechanism::Tiles => "register tiles",
            Mechanism::Transposes => "transposes",
            Mechanism::Ranges => "ranges without zeros",
            Mechanism::Branches => "branches for all lanes",
            Mechanism::Interior => "ends apart",
            Mechanism::Fusion => "fusion of neighbors",
            Mechanism::Blocks => "blocks",
        }
    }
}

/// A set of mechanisms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mechanisms(u16);

impl Default for Mechanisms {
    fn default() -> Mechanisms {
        Mechanisms::ALL
    }
}

impl Mechanisms {
    /// All mechanisms.
    pub const ALL: Mechanisms = Mechanisms(u16::MAX);

    /// The set without a mechanism.
    pub fn without(self, mechanism: Mechanism) -> Mechanisms {
        Mechanisms(self.0 & !(1 << mechanism as u16))
    }

    /// Whether a mechanism is in the set.
    pub fn has(self, mechanism: Mechanism) -> bool {
        self.0 & (1 << mechanism as u16) != 0
    }
}

/// The division of work among blocks and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grain {
    /// The smallest block, and the smallest that threads share, of a program with totals, which are
    /// folded from lanes once per block.
    pub folded: [i64; 2],
    /// The smallest block of other programs, and the largest of all.
    pub blocks: [i64; 2],
    /// The least work of a thread, in scalars: enough to pay for the thread.
    pub work: i64,
    /// A thread has a multiple of this number of indices of an axis of lanes.
    pub unit: i64,
}

impl Grain {
    /// For large data.
    pub const USUAL: Grain = Grain {
        folded: [SMALLEST_WITH_TOTALS, USUAL_WITH_TOTALS],
        blocks: [SMALLEST, 1024],
        work: 1 << 17,
        unit: 256,
    };
    /// For tests: little data has several blocks and threads.
    pub const FINE: Grain = Grain { folded: [8; 2], blocks: [8; 2], work: 4, unit: 8 };
}

/// The target of scheduling, and the mechanisms in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of reals in a vector.
    pub lanes: u16,
    /// The mechanisms in use.
    pub mechanisms: Mechanisms,
    /// The division of work.
    pub grain: Grain,
}

/// Whether a placed program runs once in a run of the function, or often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// All of its nests may run on several threads.
    Once,
    /// A loop or a call may run it again: only passes over blocks run on several threads.
    Often,
}

impl Plan {
    /// With all mechanisms.
    pub fn of(lanes: u16) -> Plan {
        Plan { lanes, mechanisms: Mechanisms::ALL, grain: Grain::USUAL }
    }

    /// Whether a mechanism is in use.
    pub fn has(self, mechanism: Mechanism) -> bool {
        self.mechanisms.has(mechanism)
    }

    /// The number of lanes of the loops.
    pub fn width(self) -> u16 {
        if self.has(Mechanism::Lanes) { self.lanes } else { 1 }
    }
}
