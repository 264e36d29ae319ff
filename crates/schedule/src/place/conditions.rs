//! Which graphs are placed, and which accesses are in range wherever their axes run.

use super::guards;
use crate::affine::Affine;
use crate::chosen::is_chosen;
use crate::graph::{Array, ArrayId, Axes, AxisId, Effect, Graph, Node, NodeId, Part};
use crate::mechanisms::{Mechanism, Mechanisms};
use crate::placed::REACH;
use rustc_hash::FxHashSet;

/// Whether it is a graph that we place.
pub fn placeable(graph: &Graph) -> bool {
    let simple = |axis: &crate::graph::Axis| graph.free(axis.extent).is_empty();
    let guarded = guards(graph);
    let costly = |k: usize| {
        let node = NodeId(k as u32);
        let lazy = graph.facts(node).lazy && graph.reduction(node).is_some();
        lazy && !guarded.contains_key(&node)
    };
    let array = |k: usize| {
        let (array, facts) = (&graph.arrays[k], graph.array_facts(ArrayId(k as u32)));
        let given = matches!(array, Array::Input(_) | Array::Constant(_));
        let map = matches!(array, Array::Map(..) | Array::Carried(..) | Array::Final(..));
        let updated = matches!(array, Array::Update(..));
        given || !updated && !facts.lazy && (map || facts.free.is_empty())
    };
    super::carries::fit(graph)
        && graph.axes.iter().all(simple)
        && !(0..graph.nodes.len()).any(costly)
        && (0..graph.arrays.len()).all(array)
        && is_plain(graph)
}

/// Do all checks and all extents ask only for what needs no nest? They are there before the nests.
fn is_plain(graph: &Graph) -> bool {
    let extents = graph.axes.iter().map(|axis| Part::Node(axis.extent));
    let mut wanted: Vec<Part> = extents.collect();
    graph.effects.iter().for_each(|effect: &Effect| effect.parts(&mut |part| wanted.push(part)));
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    while let Some(part) = wanted.pop() {
        match part {
            Part::Node(node) if seen.insert(node) => {
                if matches!(graph.node(node), Node::Reduce(..)) {
                    return false;
                }
                graph.node(node).parts(&mut |part| wanted.push(part));
            }
            Part::Axis(axis) => wanted.push(Part::Node(graph.axis(axis).extent)),
            Part::Array(array) => {
                if !matches!(graph.array(array), Array::Input(_) | Array::Constant(_)) {
                    return false;
                }
            }
            Part::Loop(_) => return false,
            Part::Node(_) => {}
        }
    }
    true
}

/// P6: the axes, those first that are contiguous in most of what is read and written; the blocked
/// one before all.
pub(super) fn order(graph: &Graph, block: Option<AxisId>, by: Mechanisms) -> Vec<AxisId> {
    let mut score = vec![0i64; graph.axes.len()];
    for node in &graph.nodes {
        if let Node::At(_, index) = node
            && let Some(axis) = index.last().and_then(|i| graph.index(*i))
        {
            score[axis.0 as usize] += 1;
        }
    }
    for output in &graph.outputs {
        if let Array::Map(axes, _) = graph.array(output.array)
            && let Some(axis) = axes.last()
        {
            score[axis.0 as usize] += 1;
        }
    }
    let mut axes: Vec<AxisId> = (0..graph.axes.len() as u32).map(AxisId).collect();
    let contiguous = by.has(Mechanism::AxisOrder);
    let score = |axis: &AxisId| if contiguous { -score[axis.0 as usize] } else { 0 };
    axes.sort_by_key(|axis| (Some(*axis) != block, score(axis)));
    axes
}

/// Is the access in range wherever its axes run, once the checks have passed?
pub(crate) fn is_safe(graph: &Graph, array: ArrayId, index: &[NodeId]) -> bool {
    in_range(graph, array, index, &|i, dim| graph.checked.contains(&(i, dim)))
}

/// The same while the checks are made.
pub(crate) fn is_safe_unchecked(graph: &Graph, array: ArrayId, index: &[NodeId]) -> bool {
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
pub(crate) fn sizes(graph: &Graph, array: ArrayId) -> Option<Vec<NodeId>> {
    if let Array::Input(k) = graph.array(array) {
        return Some(graph.inputs[*k as usize].dims.clone());
    }
    if let Array::Scatter(init, _) = graph.array(array) {
        return sizes(graph, *init);
    }
    let (axes, _) = graph.elements(array)?;
    Some(axes.iter().map(|axis| graph.axis(*axis).extent).collect())
}

/// Is the k-th index in range wherever its axes run, whatever has been checked?
pub(crate) fn fits(graph: &Graph, array: ArrayId, (k, i): (usize, NodeId), size: NodeId) -> bool {
    graph.index(i).is_some_and(|axis| graph.axis(axis).extent == size)
        || is_chosen(graph, graph.array(array), k, i)
        || is_below(graph, i, size)
}

/// Whether both are known, and the index is in range.
fn is_below(graph: &Graph, index: NodeId, size: NodeId) -> bool {
    let both = graph.lit(index).zip(graph.lit(size));
    both.is_some_and(|(index, size)| (0..size.int()).contains(&index.int()))
}

/// Are the elements one after the other, for indices of the axis that are?
pub(crate) fn runs_along(graph: &Graph, index: &[NodeId], axis: AxisId) -> bool {
    let Some((last, others)) = index.split_last() else { return false };
    let along = Affine::of(graph, *last).along(graph, &Axes::one(axis));
    along.is_some_and(|(times, _, _)| times == 1)
        && !others.iter().any(|i| graph.free(*i).contains(axis))
}

/// How far from the current index along the last of some axes an element is that a nest stores for
/// all of them.
pub(crate) fn neighbor(
    graph: &Graph,
    axes: &[AxisId],
    array: ArrayId,
    index: &[NodeId],
) -> Option<i64> {
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

/// Whether it is an access, perhaps out of range, that lanes may make all the same, each at the
/// nearest place in the array.
pub(crate) fn slides(graph: &Graph, array: ArrayId, index: &[NodeId]) -> bool {
    let written = matches!(graph.array(array), Array::Input(_) | Array::Map(..));
    let whole = written && graph.array_facts(array).free.is_empty();
    whole && !index.is_empty()
}
