//! Accesses: whether they are in range for all indices of their axes, and how they move along an
//! axis.

use crate::placed::REACH;
use crate::{Affine, Array, ArrayId, Axes, AxisId, Chosen, Graph, NodeId, Sum};

/// Whether the access is in range for all indices of its axes, once the checks have passed.
pub fn is_safe(graph: &Graph, array: ArrayId, index: &[NodeId]) -> bool {
    in_range(graph, array, index, &|i, dim| graph.checked.contains(&(i, dim)))
}

/// [`is_safe`], before the checks have passed.
pub fn is_safe_unchecked(graph: &Graph, array: ArrayId, index: &[NodeId]) -> bool {
    in_range(graph, array, index, &|_, _| false)
}

fn in_range(
    graph: &Graph,
    array: ArrayId,
    index: &[NodeId],
    checked: &dyn Fn(NodeId, NodeId) -> bool,
) -> bool {
    if let Array::Scatter(init, _) = graph.array(array) {
        return in_range(graph, *init, index, checked);
    }
    let Some(sizes) = sizes(graph, array) else { return index.is_empty() };
    let mut all = index.iter().zip(&sizes).enumerate();
    all.all(|(k, (i, size))| fits(graph, array, (k, *i), *size) || checked(*i, *size))
}

/// The sizes of an array, if they are scalars of the graph.
pub fn sizes(graph: &Graph, array: ArrayId) -> Option<Vec<NodeId>> {
    if let Array::Input(k) = graph.array(array) {
        return Some(graph.inputs[*k as usize].dims.clone());
    }
    if let Array::Scatter(init, _) = graph.array(array) {
        return sizes(graph, *init);
    }
    let (axes, _) = graph.elements(array)?;
    Some(axes.iter().map(|axis| graph.axis(*axis).extent).collect())
}

/// Whether the k-th index is in range for all indices of its axes, without the checks.
pub fn fits(graph: &Graph, array: ArrayId, (k, i): (usize, NodeId), size: NodeId) -> bool {
    graph.index(i).is_some_and(|axis| graph.axis(axis).extent == size)
        || is_chosen(graph, graph.array(array), k, i)
        || is_below(graph, i, size)
}

/// Whether the index is a sum of indices of axes with known extents, and in range for all of them.
fn is_below(graph: &Graph, index: NodeId, size: NodeId) -> bool {
    let Some(size) = graph.lit(size) else { return false };
    let sum = Affine::of(graph, index);
    let (mut least, mut greatest) = (i128::from(sum.constant), i128::from(sum.constant));
    for (term, times) in sum.terms() {
        let extent = graph.index(term).and_then(|axis| graph.lit(graph.axis(axis).extent));
        let Some(extent) = extent else { return false };
        let last = i128::from(times) * i128::from(extent.int().saturating_sub(1).max(0));
        least += last.min(0);
        greatest += last.max(0);
    }
    0 <= least && greatest < i128::from(size.int())
}

/// Whether consecutive indices of the axis access consecutive elements.
pub fn runs_along(graph: &Graph, index: &[NodeId], axis: AxisId) -> bool {
    let Some((last, others)) = index.split_last() else { return false };
    let along = Affine::of(graph, *last).along(graph, &Axes::one(axis));
    along.is_some_and(|(times, _, _)| times == 1)
        && !others.iter().any(|i| graph.free(*i).contains(axis))
}

/// The distance, along the last of some axes, of an element from the current index, in an array
/// that a nest stores for all of these axes.
pub fn neighbor(graph: &Graph, axes: &[AxisId], array: ArrayId, index: &[NodeId]) -> Option<i64> {
    let Array::Map(own, _) = graph.array(array) else { return None };
    let (axis, outer) = axes.split_last()?;
    let (last, others) = index.split_last()?;
    let same =
        own == axes && others.iter().zip(outer).all(|(i, axis)| graph.index(*i) == Some(*axis));
    let (1, along, rest) = Affine::of(graph, *last).along(graph, &own.iter().copied().collect())?
    else {
        return None;
    };
    rest.known().filter(|away| same && along == *axis && away.abs() <= REACH)
}

/// Whether lanes may make an access that is perhaps out of range, each at the nearest place in the
/// array.
pub fn slides(graph: &Graph, array: ArrayId, index: &[NodeId]) -> bool {
    let written = matches!(graph.array(array), Array::Input(_) | Array::Map(..));
    let whole = written && graph.array_facts(array).free.is_empty();
    whole && !index.is_empty()
}

/// Whether an index of an array is in range wherever it is needed, because it has been chosen
/// outside, or for all indices of its axes.
pub fn is_chosen(graph: &Graph, array: &Array, position: usize, index: NodeId) -> bool {
    let Array::Input(input) = array else { return false };
    let of_input = |node: NodeId| {
        let array = graph.read_of(node).filter(|array| graph.rank(*array) == 0)?;
        if let Array::Input(k) = graph.array(array) { Some(*k) } else { None }
    };
    let sum = |affine: &Affine| {
        let (terms, constant) = affine.over(of_input)?;
        Some(Sum { terms, constant })
    };
    let (axes, rest) = Affine::of(graph, index).axes(graph);
    let extent = |axis| sum(&Affine::of(graph, graph.axis(axis).extent));
    let along: Option<Vec<(i64, Sum)>> =
        axes.iter().map(|(axis, times)| Some((*times, extent(*axis)?))).collect();
    let (Some(index), Some(mut along)) = (sum(&rest), along) else { return false };
    along.sort_unstable();
    graph.chosen.contains(&Chosen { input: *input, position, index, along })
}
