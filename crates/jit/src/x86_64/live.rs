//! Live ranges: for each virtual register, the segments of the text in which its value is still
//! needed. Before a register is rewritten, its range has a hole in which others may use its place.
//!
//! In a region with very many blocks, a register that several blocks mention counts as live from
//! its first mention to its last, and throughout a loop that has some but not all of its mentions.
//! The reason: sets of registers by block, and segments by block, are quadratic in the length of
//! straight-line code with checks.
//!
//! * Source: Traub, Holloway and Smith, *Quality and speed in linear-scan register allocation*,
//!   1998, for ranges with holes.

use std::ops::Range;

use crate::x86_64::code::{Control, Inst, Listing, Role, Virtual};

/// A live range. Positions are half instructions: instruction n reads its operands at 2n and writes
/// its results at 2n + 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live {
    /// First and last positions, in order; no two segments touch.
    pub segments: Vec<(u32, u32)>,
    /// The number of mentions, where a mention in a loop counts as many.
    pub weight: f64,
}

impl Live {
    /// The number of positions.
    pub fn len(&self) -> u32 {
        self.segments.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// Sorts segments, and merges those that touch.
    fn join(&mut self) {
        self.segments.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::new();
        for (first, last) in std::mem::take(&mut self.segments) {
            match joined.last_mut() {
                Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
                Some(_) | None => joined.push((first, last)),
            }
        }
        self.segments = joined;
    }

    /// From the first position to the last one.
    pub fn hull(&self) -> Option<(u32, u32)> {
        Some((self.segments.first()?.0, self.segments.last()?.1))
    }
}

/// Instructions without a branch between them, and their successor blocks.
struct Block {
    insts: Range<usize>,
    next: Vec<usize>,
    /// Sets of virtual registers that several blocks mention: those read before they are written,
    /// those written, those live at entry and those live at exit.
    read: Set,
    written: Set,
    live_in: Set,
    live_out: Set,
}

/// A set of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn of(count: usize) -> Set {
        Set(vec![0; count.div_ceil(64)])
    }

    fn insert(&mut self, k: usize) {
        self.0[k / 64] |= 1 << (k % 64);
    }

    fn contains(&self, k: usize) -> bool {
        self.0[k / 64] >> (k % 64) & 1 == 1
    }

    fn members(&self) -> impl Iterator<Item = usize> + '_ {
        let of = |(word, bits): (usize, &u64)| {
            let bits = *bits;
            (0..64).filter(move |k| bits >> k & 1 == 1).map(move |k| 64 * word + k)
        };
        self.0.iter().enumerate().filter(|(_, bits)| **bits != 0).flat_map(of)
    }
}

/// Maximal number of pairs of a block and a register that several blocks mention, for exact ranges.
const PAIRS: usize = 1 << 22;

/// The live ranges, by virtual register.
pub(crate) fn live(listing: &Listing) -> Vec<Live> {
    live_within(listing, PAIRS)
}

fn live_within(listing: &Listing, pairs: usize) -> Vec<Live> {
    let mut blocks = blocks(listing);
    let shared = shared(listing, &blocks);
    let count = shared.iter().flatten().count();
    if blocks.len().saturating_mul(count) > pairs {
        return hulls(listing, &blocks, &shared);
    }
    for block in &mut blocks {
        let sets = (Set::of(count), Set::of(count));
        (block.read, block.written) = sets;
        let (read, written) = (&mut block.read, &mut block.written);
        for inst in &listing.insts[block.insts.clone()] {
            inst.visit(&mut |v, role| {
                let Some(k) = shared[v.0 as usize] else { return };
                if role != Role::Written && !written.contains(k) {
                    read.insert(k);
                }
                if role != Role::Read {
                    written.insert(k);
                }
            });
        }
        (block.live_in, block.live_out) = (block.read.clone(), Set::of(count));
    }
    solve(&mut blocks);
    let mut live = vec![Live::default(); listing.classes.len()];
    weigh(listing, &mut live);
    let mut by_number = vec![Virtual(0); count];
    for (v, k) in shared.iter().enumerate().filter_map(|(v, k)| Some((v, (*k)?))) {
        by_number[k] = Virtual(v as u32);
    }
    let mut open: Vec<Option<u32>> = vec![None; live.len()];
    for block in &blocks {
        let begun = block.live_out.members().map(|k| by_number[k]).collect();
        segments(listing, block.insts.clone(), begun, &|_| true, &mut open, &mut live);
    }
    live.iter_mut().for_each(Live::join);
    live
}

/// Counts the weighted mentions of each register.
fn weigh(listing: &Listing, live: &mut [Live]) {
    let mut depth = 0;
    for inst in &listing.insts {
        match inst {
            Inst::Control(Control::Enter) => depth += 1,
            Inst::Control(Control::Leave) => depth -= 1,
            _ => {}
        }
        let weight = 8f64.powi(depth.min(12));
        inst.visit(&mut |v, _| live[v.0 as usize].weight += weight);
    }
}

fn blocks(listing: &Listing) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut begin = |insts: Range<usize>| {
        if !insts.is_empty() {
            let [read, written, live_in, live_out] = [(); 4].map(|()| Set::default());
            blocks.push(Block { insts, next: Vec::new(), read, written, live_in, live_out });
        }
    };
    let mut first = 0;
    for (at, inst) in listing.insts.iter().enumerate() {
        match inst {
            Inst::Control(Control::Bind(_)) => {
                begin(first..at);
                first = at;
            }
            Inst::Control(Control::Jump(_)) | Inst::Unless { .. } | Inst::Next { .. } => {
                begin(first..at + 1);
                first = at + 1;
            }
            _ => {}
        }
    }
    begin(first..listing.insts.len());
    let mut places = vec![0; listing.labels as usize];
    for (k, block) in blocks.iter().enumerate() {
        // Only the first instruction of a block can be a label.
        if let Inst::Control(Control::Bind(label)) = listing.insts[block.insts.start] {
            places[label.0 as usize] = k;
        }
    }
    let count = blocks.len();
    for (k, block) in blocks.iter_mut().enumerate() {
        let (falls, target) = match &listing.insts[block.insts.end - 1] {
            Inst::Control(Control::Jump(label)) => (false, Some(label)),
            Inst::Unless { to, .. } => (true, Some(to)),
            Inst::Next { top, .. } => (true, Some(top)),
            _ => (true, None),
        };
        block.next.extend(target.map(|label| places[label.0 as usize]));
        if falls && k + 1 < count {
            block.next.push(k + 1);
        }
    }
    blocks
}

/// The virtual registers that several blocks mention, numbered.
fn shared(listing: &Listing, blocks: &[Block]) -> Vec<Option<usize>> {
    let mut only = vec![None; listing.classes.len()];
    let mut several = vec![false; listing.classes.len()];
    for (k, block) in blocks.iter().enumerate() {
        for inst in &listing.insts[block.insts.clone()] {
            inst.visit(&mut |v, _| {
                let known = only[v.0 as usize].get_or_insert(k);
                several[v.0 as usize] |= *known != k;
            });
        }
    }
    let mut numbers = 0..;
    several.into_iter().map(|several| if several { numbers.next() } else { None }).collect()
}

/// Liveness at the ends of blocks: the least fixed point, by passes from the last block to the
/// first.
fn solve(blocks: &mut [Block]) {
    loop {
        let mut changed = false;
        for k in (0..blocks.len()).rev() {
            let mut out = std::mem::take(&mut blocks[k].live_out);
            for next in blocks[k].next.clone() {
                // A block that is its own successor has its own set.
                let needed = &blocks[next].live_in;
                out.0.iter_mut().zip(&needed.0).for_each(|(out, needed)| *out |= needed);
            }
            let block = &mut blocks[k];
            let words = out.0.iter().zip(&block.written.0).zip(&mut block.live_in.0);
            for ((out, written), live) in words {
                let new = *live | (out & !written);
                changed |= new != *live;
                *live = new;
            }
            block.live_out = out;
        }
        if !changed {
            return;
        }
    }
}

/// The segments of the registers that satisfy `of`, within a block, from its end to its start.
/// `begun`: registers live after it. `open`: by virtual register, the end of its unfinished
/// segment.
fn segments(
    listing: &Listing,
    insts: Range<usize>,
    mut begun: Vec<Virtual>,
    of: &dyn Fn(Virtual) -> bool,
    open: &mut [Option<u32>],
    live: &mut [Live],
) {
    let first = 2 * insts.start as u32;
    let last = 2 * insts.end as u32 - 1;
    begun.iter().for_each(|v| open[v.0 as usize] = Some(last));
    for at in insts.rev() {
        let inst = &listing.insts[at];
        let (read, written) = (2 * at as u32, 2 * at as u32 + 1);
        inst.visit(&mut |v, role| {
            if role == Role::Written && of(v) {
                let end = open[v.0 as usize].take().unwrap_or(written);
                live[v.0 as usize].segments.push((written, end));
            }
        });
        inst.visit(&mut |v, role| {
            if role != Role::Written && of(v) && open[v.0 as usize].is_none() {
                open[v.0 as usize] = Some(if role == Role::Read { read } else { written });
                begun.push(v);
            }
        });
    }
    for v in begun {
        if let Some(end) = open[v.0 as usize].take() {
            live[v.0 as usize].segments.push((first, end));
        }
    }
}

/// A loop of the text.
struct Loop {
    /// Its first and last instruction.
    insts: Range<usize>,
    around: Option<usize>,
    depth: u32,
}

/// The loops, and by instruction the innermost one around it.
fn loops(listing: &Listing) -> (Vec<Loop>, Vec<Option<usize>>) {
    let (mut loops, mut around, mut inside) = (Vec::<Loop>::new(), None, Vec::new());
    for (at, inst) in listing.insts.iter().enumerate() {
        if let Inst::Control(Control::Enter) = inst {
            let depth = around.map_or(0, |k: usize| loops[k].depth + 1);
            loops.push(Loop { insts: at..at, around, depth });
            around = Some(loops.len() - 1);
        }
        inside.push(around);
        if let (Inst::Control(Control::Leave), Some(k)) = (inst, around) {
            loops[k].insts.end = at;
            around = loops[k].around;
        }
    }
    (loops, inside)
}

/// The innermost loop around both.
fn around_both(loops: &[Loop], a: Option<usize>, b: Option<usize>) -> Option<usize> {
    let (mut a, mut b) = (a?, b?);
    while a != b {
        match loops[a].depth >= loops[b].depth {
            true => a = loops[a].around?,
            false => b = loops[b].around?,
        }
    }
    Some(a)
}

/// Live ranges without holes for registers that several blocks mention, exact ones for all others.
///
/// A register whose mentions are all in one loop is written there before it is read, because it has
/// no value on entry; so it carries no value between iterations.
fn hulls(listing: &Listing, blocks: &[Block], shared: &[Option<usize>]) -> Vec<Live> {
    let mut live = vec![Live::default(); listing.classes.len()];
    weigh(listing, &mut live);
    let mut open: Vec<Option<u32>> = vec![None; live.len()];
    let local = |v: Virtual| shared[v.0 as usize].is_none();
    for block in blocks {
        segments(listing, block.insts.clone(), Vec::new(), &local, &mut open, &mut live);
    }
    live.iter_mut().for_each(Live::join);
    let (loops, inside) = loops(listing);
    // By virtual register: the innermost loop around all of its mentions.
    let mut home: Vec<Option<Option<usize>>> = vec![None; live.len()];
    for (inst, around) in listing.insts.iter().zip(&inside) {
        inst.visit(&mut |v, _| {
            let home = &mut home[v.0 as usize];
            *home = Some(home.map_or(*around, |known| around_both(&loops, known, *around)));
        });
    }
    for (at, (inst, around)) in listing.insts.iter().zip(&inside).enumerate() {
        inst.visit(&mut |v, role| {
            if local(v) {
                return;
            }
            let mut own = match role {
                Role::Read => (2 * at as u32, 2 * at as u32),
                Role::Written => (2 * at as u32 + 1, 2 * at as u32 + 1),
                Role::Changed => (2 * at as u32, 2 * at as u32 + 1),
            };
            let (mut inner, outer) = (*around, home[v.0 as usize].flatten());
            while inner != outer {
                let Some(k) = inner else { break };
                own = (2 * loops[k].insts.start as u32, 2 * loops[k].insts.end as u32 + 1);
                inner = loops[k].around;
            }
            match live[v.0 as usize].segments.first_mut() {
                Some(hull) => *hull = (hull.0.min(own.0), hull.1.max(own.1)),
                None => live[v.0 as usize].segments.push(own),
            }
        });
    }
    live
}
