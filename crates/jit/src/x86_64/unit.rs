//! The regions of a program: their bytes, and their execution.

use std::fmt;
use std::sync::{Arc, OnceLock};

use lambada_loops::{Function, Outcome, Region, Regions, State, Stmt, Stop, Translate};
use memmap2::{Mmap, MmapMut};

use crate::x86_64::context::{CANCELLED, Context, DONE, EXHAUSTED, FAILED, NO_ROOM};
use crate::x86_64::emit;
use crate::x86_64::facts::{Facts, Nests};
use crate::x86_64::{allocate, facts, select};

/// Minimal number of statements of a region without a loop, because a call costs time.
const WORTH: usize = 24;

/// Regions of a program under compilation.
pub(crate) struct Unit {
    /// Whether products and sums may be fused.
    contract: bool,
    /// Statements with bodies that can be in a region.
    nests: Nests,
    bytes: Vec<u8>,
    regions: Vec<UnitRegion>,
}

/// A region: its offset, the sites of its checks, and the maximal number of values of their
/// messages.
#[derive(Debug)]
struct UnitRegion {
    at: usize,
    sites: Vec<(u32, usize)>,
    values: usize,
}

/// Whether the system allows new machine code; tested once, on a page that is never run.
pub(crate) fn is_allowed() -> bool {
    static ALLOWED: OnceLock<bool> = OnceLock::new();
    *ALLOWED.get_or_init(|| MmapMut::map_anon(1).and_then(MmapMut::make_exec).is_ok())
}

impl Unit {
    pub fn new(contract: bool) -> Unit {
        Unit { contract, nests: Nests::new(), bytes: Vec::new(), regions: Vec::new() }
    }
}

impl Translate for Unit {
    fn accepts(&mut self, function: &Function, stmt: &Stmt) -> bool {
        facts::accepts(function, stmt, &mut self.nests)
    }

    fn region(&mut self, region: &Region) -> Option<u32> {
        let facts = Facts::of(region.function, region.stmts, region.lives_on);
        if !facts.loops && facts.size < WORTH {
            return None;
        }
        let listing = select::select(region, facts, self.contract);
        let allocation = allocate::allocate(&listing, emit::TAKEN);
        let bytes = emit::emit(&listing, &allocation)?;
        let at = self.bytes.len().next_multiple_of(32);
        self.bytes.resize(at, 0xcc);
        self.bytes.extend(bytes);
        self.regions.push(UnitRegion { at, sites: listing.sites, values: listing.values });
        Some(self.regions.len() as u32 - 1)
    }

    fn finish(self: Box<Self>) -> Option<Arc<dyn Regions>> {
        let mut pages = MmapMut::map_anon(self.bytes.len().max(1)).ok()?;
        pages[..self.bytes.len()].copy_from_slice(&self.bytes);
        let pages = pages.make_exec().ok()?;
        Some(Arc::new(Ready { pages, regions: self.regions }))
    }
}

/// Regions in executable memory.
struct Ready {
    pages: Mmap,
    regions: Vec<UnitRegion>,
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready").field("regions", &self.regions).finish_non_exhaustive()
    }
}

impl Regions for Ready {
    fn run(&self, number: u32, mut state: State) -> Outcome {
        let entry = &self.regions[number as usize];
        let mut values = [0; 8];
        let mut more = Vec::new();
        let values: &mut [i64] = if entry.values <= values.len() {
            &mut values
        } else {
            more.resize(entry.values, 0);
            &mut more
        };
        let mut context = Context {
            slots: state.slots.as_mut_ptr(),
            memory: state.room.words(),
            ranges: state.room.ranges(),
            fuel: state.fuel,
            taken: state.room.taken(),
            room: (&raw mut state.room).cast(),
            failure: None,
            refused: 0,
            values: values.as_mut_ptr(),
        };
        // SAFETY: the bytes are a function of this type, made for these slots and buffers; its
        // memory accesses are in range if the program has passed the checker.
        #[allow(unsafe_code)]
        let result = unsafe {
            let first = self.pages.as_ptr().add(entry.at);
            let run: unsafe extern "sysv64" fn(*mut Context) -> u32 = std::mem::transmute(first);
            run(&raw mut context)
        };
        match result {
            DONE => Outcome::Done,
            CANCELLED => Outcome::Stopped(Stop::Cancelled),
            NO_ROOM => Outcome::NoRoom(context.failure.expect("the allocation has been refused")),
            EXHAUSTED => Outcome::Stopped(Stop::Exhausted),
            number => {
                let (site, count) = entry.sites[(number - FAILED) as usize];
                Outcome::Failed(site, values[..count].to_vec())
            }
        }
    }
}
