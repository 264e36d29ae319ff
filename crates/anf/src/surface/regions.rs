//! Accumulators are flat statements in anf and regions in the surface language. Here a block's statements are put into nested regions:
//! an accumulator's region spans from its first addition to its last. Where two regions overlap without nesting, the later one is split
//! in two, one after the other: the value of the first part is what the second part starts from.

use std::collections::HashSet;

use crate::{Atom, Block, Exp, Stm, Var};

/// A block's statements, in regions.
#[derive(Debug)]
pub(super) enum Item {
    /// The statement of this index.
    Stm(usize),
    Region(Region),
}

/// `let (…, out) = accumulate acc = init in items`
#[derive(Debug)]
pub(super) struct Region {
    pub(super) acc: Var,
    pub(super) init: Atom,
    pub(super) out: Var,
    pub(super) items: Vec<Item>,
}

/// An accumulator of a block: where it is added to, inclusive.
#[derive(Clone, Copy, Debug)]
struct Span {
    acc: Var,
    init: Atom,
    out: Var,
    first: usize,
    last: usize,
}

/// The regions of a block. An accumulator that nothing is added to gets none: `plain` lists what its frozen value is.
pub(super) fn regions(
    block: &Block,
    partial: &mut dyn FnMut(Var) -> Var,
) -> (Vec<Item>, Vec<(Var, Atom)>) {
    let mut spans = Vec::new();
    let mut plain = Vec::new();
    let added: Vec<HashSet<Var>> = block.stms.iter().map(additions).collect();
    for stm in &block.stms {
        let Exp::Accumulator(init) = &stm.exp else { continue };
        let acc = stm.binds[0].var;
        let out = block
            .stms
            .iter()
            .find_map(|s| matches!(&s.exp, Exp::Freeze(a) if *a == acc).then(|| s.binds[0].var));
        let at: Vec<usize> = (0..added.len()).filter(|k| added[*k].contains(&acc)).collect();
        match (out, at.first(), at.last()) {
            (Some(out), Some(first), Some(last)) => {
                spans.push(Span { acc, init: *init, out, first: *first, last: *last })
            }
            (Some(out), _, _) => plain.push((out, *init)),
            (None, _, _) => {}
        }
    }
    (arrange(0, block.stms.len(), spans, partial), plain)
}

fn arrange(
    from: usize,
    to: usize,
    mut spans: Vec<Span>,
    partial: &mut dyn FnMut(Var) -> Var,
) -> Vec<Item> {
    let mut items = Vec::new();
    let mut at = from;
    while !spans.is_empty() {
        let k = (0..spans.len())
            .min_by_key(|k| (spans[*k].first, std::cmp::Reverse(spans[*k].last)))
            .expect("not empty");
        let span = spans.remove(k);
        items.extend((at..span.first).map(Item::Stm));
        at = span.last + 1;
        let mut inside = Vec::new();
        for other in &mut spans {
            if other.first < at {
                inside.push(*other);
                if other.last >= at {
                    let between = partial(other.out);
                    let part = inside.last_mut().expect("just pushed");
                    (part.last, part.out) = (span.last, between);
                    // It goes on after this region, from what it has by then.
                    (other.first, other.init) = (at, between.into());
                }
            }
        }
        spans.retain(|s| s.first >= at);
        items.push(Item::Region(Region {
            acc: span.acc,
            init: span.init,
            out: span.out,
            items: arrange(span.first, at, inside, partial),
        }));
    }
    items.extend((at..to).map(Item::Stm));
    items
}

/// The accumulators that a statement adds to, other than its own.
pub(super) fn additions(stm: &Stm) -> HashSet<Var> {
    fn collect(stm: &Stm, found: &mut HashSet<Var>) {
        if let Exp::Accumulate { acc, .. } = &stm.exp {
            found.insert(*acc);
        }
        for block in stm.exp.blocks() {
            block.stms.iter().for_each(|s| collect(s, found));
            // What the block makes itself cannot be meant outside.
            for s in &block.stms {
                if matches!(s.exp, Exp::Accumulator(_)) {
                    found.remove(&s.binds[0].var);
                }
            }
        }
    }
    let mut found = HashSet::new();
    collect(stm, &mut found);
    found
}
