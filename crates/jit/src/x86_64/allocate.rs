//! Register allocation: each virtual register has one register of the processor for its whole live
//! range, or a place in the frame. The most used ones relative to their length choose first.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use crate::x86_64::assembler::{
    self as asm, Gpr, R8, R9, R10, R11, R12, R13, R14, RBP, RBX, RDI, RSI, Ymm,
};
use crate::x86_64::code::{Class, Inst, Listing, Source, Virtual, WordOperand};
use crate::x86_64::live::{self, Live};

/// General registers that calls preserve, and those that calls change. Instructions need `rax`,
/// `rcx` and `rdx` as scratch registers, and `r15` has the context.
const KEPT: [Gpr; 5] = [RBX, RBP, R12, R13, R14];
const CHANGED: [Gpr; 6] = [RSI, RDI, R8, R9, R10, R11];

/// Number of vector registers to allocate; calls change all of them. The last three are scratch
/// registers.
const VECTORS: u8 = 13;

/// The home of a virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// In a general register.
    Gpr(Gpr),
    /// In a vector register.
    Ymm(Ymm),
    /// In the frame, at this offset in bytes.
    Frame(i32),
}

/// The result of the allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    /// By virtual register.
    pub homes: Vec<Home>,
    /// By number of a call instruction: the registers that it changes and that are live across it.
    pub across: HashMap<usize, Vec<Home>>,
    /// By number of an allocating instruction: the homes of addresses that are live across it.
    pub addresses: HashMap<usize, Vec<Home>>,
    /// The used bytes of the frame.
    pub frame: i32,
}

/// The occupied segments of a register, disjoint, by their first positions.
type Taken = BTreeMap<u32, u32>;

/// Allocates, with the first `taken` bytes of the frame in use.
pub(crate) fn allocate(listing: &Listing, taken: i32) -> Allocation {
    let live = live::live(listing);
    let density = |v: &usize| live[*v].weight / f64::from(live[*v].len() + 1);
    let mut order: Vec<usize> = (0..live.len()).filter(|v| live[*v].hull().is_some()).collect();
    order.sort_by(|a, b| density(b).total_cmp(&density(a)).then(a.cmp(b)));
    let is_call = |inst: &Inst| matches!(inst, Inst::Call(_) | Inst::Alloc { .. });
    let calls: Vec<u32> =
        (0u32..).zip(&listing.insts).filter(|(_, inst)| is_call(inst)).map(|(at, _)| at).collect();
    let partners = partners(listing);
    let mut used: HashMap<(Class, u8), Taken> = HashMap::new();
    let mut homes = vec![Home::Frame(0); live.len()];
    let mut spilled = Vec::new();
    for v in order {
        let (range, class) = (&live[v], listing.classes[v]);
        let candidates: Vec<u8> = match class {
            Class::Vector => (0..VECTORS).collect(),
            Class::Word => {
                let crosses = range.segments.iter().any(|(first, last)| {
                    let next = calls.partition_point(|at| 2 * at < *first);
                    calls.get(next).is_some_and(|at| 2 * at < *last)
                });
                let (a, b): (&[Gpr], &[Gpr]) =
                    if crosses { (&KEPT, &CHANGED) } else { (&CHANGED, &KEPT) };
                a.iter().chain(b).map(|reg| reg.0).collect()
            }
        };
        let partners = partners[v].iter().map(|partner| homes[partner.0 as usize]);
        let liked = partners.filter_map(Home::register);
        let free = liked.chain(candidates).find(|reg| {
            let taken = used.get(&(class, *reg));
            taken
                .is_none_or(|taken| !range.segments.iter().any(|segment| overlaps(taken, *segment)))
        });
        match free {
            Some(reg) => {
                used.entry((class, reg)).or_default().extend(range.segments.iter().copied());
                homes[v] = match class {
                    Class::Word => Home::Gpr(Gpr(reg)),
                    Class::Vector => Home::Ymm(Ymm(reg)),
                };
            }
            None => spilled.push(v),
        }
    }
    let frame = spill(listing, &live, spilled, &mut homes, taken);
    let (mut across, mut addresses) = (HashMap::new(), HashMap::new());
    for at in calls {
        let (read, written) = (2 * at, 2 * at + 1);
        let lives = |taken: &Taken| {
            taken.range(..=read).next_back().is_some_and(|(_, last)| *last > written)
        };
        let mut saved = Vec::new();
        let at_risk = CHANGED.iter().map(|reg| (Class::Word, reg.0));
        for (class, reg) in at_risk.chain((0..VECTORS).map(|reg| (Class::Vector, reg))) {
            if used.get(&(class, reg)).is_some_and(&lives) {
                saved.push(match class {
                    Class::Word => Home::Gpr(Gpr(reg)),
                    Class::Vector => Home::Ymm(Ymm(reg)),
                });
            }
        }
        across.insert(at as usize, saved);
        if let Inst::Alloc { .. } = listing.insts[at as usize] {
            let lives = |v: &&Virtual| {
                let segments = &live[v.0 as usize].segments;
                segments.iter().any(|(first, last)| *first <= read && *last > written)
            };
            let moved = listing.addresses.iter().filter(lives);
            addresses.insert(at as usize, moved.map(|v| homes[v.0 as usize]).collect());
        }
    }
    Allocation { homes, across, addresses, frame }
}

impl Home {
    fn register(self) -> Option<u8> {
        match self {
            Home::Gpr(reg) => Some(reg.0),
            Home::Ymm(reg) => Some(reg.0),
            Home::Frame(_) => None,
        }
    }
}

/// By virtual register: others of its class with which a shared register would save a move.
fn partners(listing: &Listing) -> Vec<Vec<Virtual>> {
    let mut partners = vec![Vec::new(); listing.classes.len()];
    for inst in &listing.insts {
        let pair = match inst {
            Inst::Vector { op: asm::LOAD, to, b: Source::Virtual(from), .. }
            | Inst::Fused { to, c: Source::Virtual(from), .. }
            | Inst::Fused { to, a: from, .. }
            | Inst::Copy { to, from: WordOperand::Virtual(from) }
            | Inst::ShiftWord { to, from, .. }
            | Inst::Arithmetic { to, a: from, .. } => (*to, *from),
            _ => continue,
        };
        partners[pair.0.0 as usize].push(pair.1);
        partners[pair.1.0 as usize].push(pair.0);
    }
    partners
}

/// Whether the segment overlaps an occupied one.
fn overlaps(taken: &Taken, (first, last): (u32, u32)) -> bool {
    taken.range(..=last).next_back().is_some_and(|(_, end)| *end >= first)
}

/// Places in the frame for spilled registers, reused after live ranges end.
fn spill(
    listing: &Listing,
    live: &[Live],
    mut spilled: Vec<usize>,
    homes: &mut [Home],
    taken: i32,
) -> i32 {
    let hull = |v: usize| live[v].hull().expect("it is live");
    spilled.sort_by_key(|v| hull(*v));
    let mut frame = taken;
    let mut ending: BinaryHeap<(std::cmp::Reverse<u32>, i32, i32)> = BinaryHeap::new();
    let mut free: HashMap<i32, Vec<i32>> = HashMap::new();
    for v in spilled {
        let size = match listing.classes[v] {
            Class::Word => 8,
            Class::Vector => 32,
        };
        while let Some((end, place, size)) = ending.peek().copied()
            && end.0 < hull(v).0
        {
            ending.pop();
            free.entry(size).or_default().push(place);
        }
        let place = free.entry(size).or_default().pop().unwrap_or_else(|| {
            frame += size;
            frame - size
        });
        homes[v] = Home::Frame(place);
        ending.push((std::cmp::Reverse(hull(v).1), place, size));
    }
    frame
}
