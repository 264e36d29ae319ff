//! Merges nests with common terms. Sums over different axes may share most of their terms, as the
//! forces between bodies and the contribution of each body to the derivatives of all others do. One
//! nest computes the terms once: it finishes some sums one after the other, and comes back to the
//! others. That costs a memory access for each term, so nests are merged only where it is cheaper
//! than to compute the terms twice.

use crate::lanes::others;
use crate::work::{near, work};
use lambada_graph::placed::{BufferId, Content, Item, Nest, Placed};
use lambada_graph::{AxisId, Nominal};
use rustc_hash::FxHashMap;

/// The most axes of a nest that is tried in all orders of its axes.
const MOST_AXES: usize = 4;

/// Merges such nests of a placement.
pub(crate) fn shared(placed: Placed, sizes: &Nominal, lanes: u16) -> Placed {
    let near = near(&placed, sizes);
    let mut passes = placed.passes.clone();
    for pass in &mut passes {
        let blocked = placed.block.filter(|_| pass.blocked);
        let mut sources = sources_of(&pass.nests);
        let mut at = 0;
        while at < pass.nests.len() {
            let cost = |nest: &Nest| work(&placed, nest, sizes, &near, lanes);
            let found = (at + 1..pass.nests.len()).find_map(|other| {
                if sources[other] > Some(at) {
                    return None;
                }
                let both = together(&placed, &pass.nests[at], &pass.nests[other])?;
                let fixed = blocked.is_some_and(|axis| both.axes.contains(&axis));
                let mut lanes = vec![both.vector];
                if !fixed {
                    lanes.extend(others(&placed, &both).into_iter().map(Some));
                }
                let orders = orders(&both.axes);
                let all = lanes.iter().flat_map(|vector| {
                    let nest = |axes: &Vec<AxisId>| Nest {
                        axes: axes.clone(),
                        vector: *vector,
                        ..both.clone()
                    };
                    orders.iter().map(nest)
                });
                let all = all.filter(|nest| placed.finishes_at_once(nest));
                let best = all.min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
                let apart = cost(&pass.nests[at]) + cost(&pass.nests[other]);
                (cost(&best) < apart).then_some((other, best))
            });
            match found {
                Some((other, both)) => {
                    pass.nests[at] = both;
                    pass.nests.remove(other);
                    sources = sources_of(&pass.nests);
                }
                None => at += 1,
            }
        }
    }
    Placed { passes, ..placed }
}

/// The last writer of any operand, by nest of a pass: a nest may join no nest before it.
fn sources_of(nests: &[Nest]) -> Vec<Option<usize>> {
    let mut written = FxHashMap::<BufferId, usize>::default();
    let sources = nests.iter().enumerate().map(|(k, nest)| {
        let last = nest.reads.iter().filter_map(|id| written.get(id).copied()).max();
        written.extend(nest.items.iter().map(|item| (item.buffer(), k)));
        last
    });
    sources.collect()
}

/// The first nest with the items of the second one, if they may move there. No nest between them
/// writes an operand of the second one.
fn together(placed: &Placed, first: &Nest, second: &Nest) -> Option<Nest> {
    let plain = |nest: &Nest| {
        let only = |item: &Item| matches!(item, Item::Store(_) | Item::Reduce(_));
        nest.carries.is_empty()
            && nest.whole.is_empty()
            && nest.group.is_none()
            && nest.items.iter().all(only)
    };
    let few = first.axes.len() <= MOST_AXES && first.vector.is_some();
    let alike = first.guard == second.guard
        && first.vector == second.vector
        && first.axes.len() == second.axes.len()
        && first.axes.iter().all(|axis| second.axes.contains(axis));
    if !(few && alike && plain(first) && plain(second)) {
        return None;
    }
    // The first nest does not write the operands of the second one, or writes them for the same
    // indices.
    let same = |id: &BufferId| {
        matches!(placed.buffer(*id).content, Content::Node(_))
            && first.items.contains(&Item::Store(*id))
    };
    let written = |id: &BufferId| first.items.iter().any(|item| item.buffer() == *id);
    if !second.reads.iter().all(|id| !written(id) || same(id)) {
        return None;
    }
    let mut both = first.clone();
    both.items.extend(&second.items);
    both.reads.extend(&second.reads);
    both.reads.sort_unstable();
    both.reads.dedup();
    Some(both)
}

/// All orders of some axes.
fn orders(axes: &[AxisId]) -> Vec<Vec<AxisId>> {
    if axes.is_empty() {
        return vec![Vec::new()];
    }
    let with = |k: usize| {
        let mut rest = axes.to_vec();
        let first = rest.remove(k);
        let after = orders(&rest).into_iter();
        after.map(move |rest| [vec![first], rest].concat()).collect::<Vec<_>>()
    };
    (0..axes.len()).flat_map(with).collect()
}
