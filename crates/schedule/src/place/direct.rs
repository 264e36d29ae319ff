//! Outputs computed in place. If a definition covers all indices of an output, as the sum of a
//! matrix product does, its buffer becomes the output: nothing is kept for a block, and nothing
//! copied. An output that is a matrix row by row shares the buffer of the matrix.

use super::flat::rows_of;
use lambada_graph::placed::{Buffer, BufferId, Content, Item, Nest, Pass, Placed};
use lambada_graph::{Array, Axes};

/// Makes the buffers of such definitions the outputs.
pub(super) fn direct(mut placed: Placed) -> Placed {
    for k in 0..placed.outputs.len() {
        let copy = placed.outputs[k];
        if let Some(matrix) = matrix(&placed, copy) {
            placed.outputs[k] = matrix;
            remove(&mut placed, copy);
            while let Some(id) = unread(&placed) {
                remove(&mut placed, id);
            }
        } else if let Some(own) = defined(&placed, copy) {
            let buffer = Buffer {
                local: false,
                axes: placed.buffer(copy).axes.clone(),
                ..placed.buffer(own).clone()
            };
            placed.buffers[own.0 as usize] = buffer;
            placed.outputs[k] = own;
            remove(&mut placed, copy);
        }
    }
    placed
}

/// The buffer of the matrix that an output is row by row, if it can be the output.
fn matrix(placed: &Placed, output: BufferId) -> Option<BufferId> {
    let Content::Array(array) = placed.buffer(output).content else { return None };
    let content = Content::Array(rows_of(&placed.graph, array)?);
    let mut ids = (0..placed.buffers.len() as u32).map(BufferId);
    let own = ids.find(|id| placed.buffer(*id).content == content)?;
    let is_read = |nest: &Nest| nest.reads.contains(&output);
    let mut nests = placed.passes.iter().flat_map(|pass| &pass.nests);
    let fits = !placed.buffer(own).local && !nests.any(is_read);
    (fits && !placed.outputs.contains(&own)).then_some(own)
}

/// The buffer that an output copies, if it can be the output.
fn defined(placed: &Placed, output: BufferId) -> Option<BufferId> {
    let Content::Array(array) = placed.buffer(output).content else { return None };
    let Array::Map(axes, body) = placed.graph.array(array) else { return None };
    let nests = || placed.passes.iter().flat_map(|pass| &pass.nests);
    if nests().any(|nest| nest.reads.contains(&output)) {
        return None;
    }
    let stores = nests().find(|nest| nest.items.contains(&Item::Store(output)))?;
    let (_, own) =
        placed.found(stores).into_iter().find(|(content, _)| *content == Content::Node(*body))?;
    let buffer = placed.buffer(own);
    let all = |axes: &[_]| axes.iter().copied().collect::<Axes>();
    // With another contiguous axis, the copy is a transposition.
    let alike = all(&buffer.axes) == all(axes) && buffer.axes.last() == axes.last();
    let writer = nests().find(|nest| nest.items.iter().any(|item| item.buffer() == own))?;
    let always = writer.guard.is_none() && !buffer.single;
    (alike && always && !buffer.axes.is_empty() && !placed.outputs.contains(&own)).then_some(own)
}

/// A stored scalar that has no readers and is no output.
fn unread(placed: &Placed) -> Option<BufferId> {
    let nests = || placed.passes.iter().flat_map(|pass| &pass.nests);
    let is_read = |id: BufferId| nests().any(|nest| nest.reads.contains(&id));
    let stored = nests()
        .flat_map(|nest| &nest.items)
        .filter_map(|item| if let Item::Store(id) = item { Some(*id) } else { None });
    let is_node = |id: &BufferId| matches!(placed.buffer(*id).content, Content::Node(_));
    stored.filter(is_node).find(|id| !is_read(*id) && !placed.outputs.contains(id))
}

/// Removes a buffer that has no readers.
fn remove(placed: &mut Placed, id: BufferId) {
    let renumbered = |other: &mut BufferId| other.0 -= u32::from(other.0 > id.0);
    let items = |nest: &mut Nest| {
        nest.items.retain(|item| item.buffer() != id);
        nest.items.iter_mut().for_each(|item| match item {
            Item::Store(other)
            | Item::Reduce(other)
            | Item::List(other)
            | Item::Copy(other)
            | Item::Last(other)
            | Item::Add(other, _) => renumbered(other),
        });
        nest.reads.iter_mut().for_each(renumbered);
    };
    let nests = |pass: &mut Pass| {
        pass.nests.iter_mut().for_each(items);
        pass.nests.retain(|nest| !nest.items.is_empty());
    };
    placed.passes.iter_mut().for_each(nests);
    placed.passes.retain(|pass| !pass.nests.is_empty());
    placed.outputs.iter_mut().for_each(renumbered);
    placed.buffers.remove(id.0 as usize);
}
