//! Live ranges: for each virtual register the segments of the text in which its value is still needed. A register that is written anew has a hole before that, where
//! others may have its place.
//!
//! * A source: Traub, Holloway and Smith, *Quality and speed in linear-scan register allocation*, 1998, for ranges with holes.

use std::ops::Range;

use crate::x86_64::code::{Control, Inst, Listing, Role, Virtual};

/// A live range. Positions are half instructions: operands are read at twice the number of an instruction, results are written at that plus 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live {
    /// First and last positions, in order; no two of them touch.
    pub segments: Vec<(u32, u32)>,
    /// How often it is mentioned, a mention in a loop counting for many.
    pub weight: f64,
}

impl Live {
    /// How many positions there are.
    pub fn len(&self) -> u32 {
        self.segments.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// From the first position to the last one.
    pub fn hull(&self) -> Option<(u32, u32)> {
        Some((self.segments.first()?.0, self.segments.last()?.1))
    }
}

/// Instructions without a branch between them, and where control goes from there.
struct Block {
    insts: Range<usize>,
    next: Vec<usize>,
    /// Of virtual registers that several blocks mention: those read before they are written, those written, and those needed at its two ends.
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

/// The live ranges, by virtual register.
pub(crate) fn live(listing: &Listing) -> Vec<Live> {
    let mut blocks = blocks(listing);
    let shared = shared(listing, &blocks);
    let count = shared.iter().flatten().count();
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
        segments(listing, block, &by_number, &mut open, &mut live);
    }
    for range in &mut live {
        range.segments.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::new();
        for (first, last) in std::mem::take(&mut range.segments) {
            match joined.last_mut() {
                Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
                Some(_) | None => joined.push((first, last)),
            }
        }
        range.segments = joined;
    }
    live
}

/// How often each is mentioned.
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

/// What is needed at the ends of blocks: the least solution, from the last block to the first one until nothing changes.
fn solve(blocks: &mut [Block]) {
    loop {
        let mut changed = false;
        for k in (0..blocks.len()).rev() {
            let mut out = std::mem::take(&mut blocks[k].live_out);
            for next in blocks[k].next.clone() {
                // A block that leads to itself has its own set.
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

/// The segments within a block, from its end to its beginning. `open` has, by virtual register, the end of the segment that has been begun.
fn segments(
    listing: &Listing,
    block: &Block,
    by_number: &[Virtual],
    open: &mut [Option<u32>],
    live: &mut [Live],
) {
    let first = 2 * block.insts.start as u32;
    let last = 2 * block.insts.end as u32 - 1;
    let mut begun: Vec<Virtual> = block.live_out.members().map(|k| by_number[k]).collect();
    begun.iter().for_each(|v| open[v.0 as usize] = Some(last));
    for at in block.insts.clone().rev() {
        let inst = &listing.insts[at];
        let (read, written) = (2 * at as u32, 2 * at as u32 + 1);
        inst.visit(&mut |v, role| {
            if role == Role::Written {
                let end = open[v.0 as usize].take().unwrap_or(written);
                live[v.0 as usize].segments.push((written, end));
            }
        });
        inst.visit(&mut |v, role| {
            if role != Role::Written && open[v.0 as usize].is_none() {
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
