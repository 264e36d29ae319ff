//! P4: nests that share an axis and nothing between its indices, such as those of the components of a mixture, run together for one index after the other. What
//! they hand on to each other is kept for one index only, so more of the blocked axis fits a cache.
//!
//! *Keeps* values: nests change places only where none needs the other.

use std::collections::HashMap;

use crate::graph::AxisId;
use crate::placed::{BufferId, Content, Item, Nest, Pass, Placed};

/// The program with the nests of passes over blocks in groups along an axis, if two nests share one at least.
pub(crate) fn batched(placed: &Placed, axis: AxisId) -> Option<Placed> {
    if placed.block == Some(axis) {
        return None;
    }
    let mut placed = Placed { batch: Some(axis), ..placed.clone() };
    let mut passes = std::mem::take(&mut placed.passes);
    let mut together = false;
    for pass in passes.iter_mut().filter(|pass| pass.blocked) {
        let stages = Batch { placed: &placed, axis }.stages(pass);
        let mut nests: Vec<(u32, Nest)> =
            stages.into_iter().zip(std::mem::take(&mut pass.nests)).collect();
        nests.sort_by_key(|(stage, _)| *stage);
        for (stage, nest) in &mut nests {
            if *stage % 2 == 1 {
                nest.axes.sort_by_key(|own| *own != axis);
                nest.group = Some(*stage);
            }
        }
        together |= nests.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].0 % 2 == 1);
        pass.nests = nests.into_iter().map(|(_, nest)| nest).collect();
    }
    placed.passes = passes;
    let single: Vec<BufferId> = (0..placed.buffers.len() as u32)
        .map(BufferId)
        .filter(|id| is_single(&placed, axis, *id))
        .collect();
    single.into_iter().for_each(|id| placed.buffers[id.0 as usize].single = true);
    together.then_some(placed)
}

/// Is it written and read in one group only?
fn is_single(placed: &Placed, axis: AxisId, id: BufferId) -> bool {
    let buffer = placed.buffer(id);
    let mut groups = Vec::new();
    for (k, pass) in placed.passes.iter().enumerate() {
        for nest in &pass.nests {
            let writes = nest.items.iter().any(|item| item.buffer() == id);
            if writes || nest.reads.contains(&id) {
                groups.push(nest.group.map(|group| (k, group)));
            }
        }
    }
    groups.dedup();
    buffer.local
        && buffer.axes.contains(&axis)
        && matches!(buffer.content, Content::Node(_))
        && !placed.outputs.contains(&id)
        && matches!(groups[..], [Some(_)])
}

struct Batch<'a> {
    placed: &'a Placed,
    axis: AxisId,
}

impl Batch<'_> {
    /// By nest: an odd number for those that run along the axis, so that all that a nest needs has a smaller one, or the same for the same index.
    fn stages(&self, pass: &Pass) -> Vec<u32> {
        let mut stages: Vec<u32> = Vec::new();
        let mut written: HashMap<BufferId, Vec<usize>> = HashMap::new();
        for (k, nest) in pass.nests.iter().enumerate() {
            let inside = self.is_inside(nest);
            let mut stage = u32::from(inside);
            let writes = nest.items.iter().map(|item| item.buffer());
            for id in nest.reads.iter().copied().chain(writes) {
                for writer in written.get(&id).into_iter().flatten() {
                    let other = stages[*writer];
                    let after = match (inside, other % 2 == 1) {
                        (true, true) if self.is_own(id) => other,
                        (true, true) => other + 2,
                        (true, false) | (false, true) => other + 1,
                        (false, false) => other,
                    };
                    stage = stage.max(after);
                }
            }
            stages.push(stage);
            nest.items.iter().for_each(|item| written.entry(item.buffer()).or_default().push(k));
        }
        stages
    }

    /// Does a nest compute each index of the axis by itself?
    fn is_inside(&self, nest: &Nest) -> bool {
        nest.axes.contains(&self.axis)
            && nest.vector != Some(self.axis)
            && nest.items.iter().all(|item| match item {
                Item::Store(_) => true,
                Item::Reduce(id) => self.placed.buffer(*id).axes.contains(&self.axis),
                Item::List(_) | Item::Copy(_) | Item::Add(..) => false,
            })
    }

    /// Is it read for the index at which the nest is?
    fn is_own(&self, id: BufferId) -> bool {
        let buffer = self.placed.buffer(id);
        matches!(buffer.content, Content::Node(_)) && buffer.axes.contains(&self.axis)
    }
}
