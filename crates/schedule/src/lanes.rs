//! P6: the axis of the lanes of each nest. A buffer has one order of axes for all nests; the best
//! axis of a nest depends on its reads. In `s @ w`, lanes along the columns read rows of `w`, and
//! lanes along the summed axis read columns, one element here and one there.

use crate::work::{near, work};
use lambada_graph::cost;
use lambada_graph::placed::{Item, Nest, Placed};
use lambada_graph::{AxisId, Nominal};

/// Moves the lanes of each nest to the cheapest axis. A nest for a block of an axis stays as it is.
pub(crate) fn along_cheapest(placed: Placed, sizes: &Nominal, lanes: u16) -> Placed {
    let near = near(&placed, sizes);
    let mut passes = placed.passes.clone();
    for pass in &mut passes {
        let block = placed.block.filter(|_| pass.blocked);
        for nest in &mut pass.nests {
            // Merged nests have an order of axes of their own.
            let fixed = block.is_some_and(|axis| nest.axes.contains(&axis));
            if fixed || !is_plain(&placed, nest) {
                continue;
            }
            let cost = |nest: &Nest| work(&placed, nest, sizes, &near, lanes);
            let mut least = cost(nest);
            for other in others(&placed, nest) {
                let other = along(&placed, nest.clone(), other);
                let found = cost(&other);
                if found < least {
                    (least, *nest) = (found, other);
                }
            }
        }
    }
    Placed { passes, ..placed }
}

/// Whether all sums of a nest run over the same axes, and are finished one after the other.
fn is_plain(placed: &Placed, nest: &Nest) -> bool {
    let comes_back = |item: &Item| placed.comes_back(nest, *item);
    placed.finishes_at_once(nest) && !nest.items.iter().any(comes_back)
}

/// The other axes along which lanes may run.
pub(crate) fn others(placed: &Placed, nest: &Nest) -> Vec<AxisId> {
    let graph = &placed.graph;
    // Additions to consecutive elements fix the axis of the lanes.
    let fixed = nest.items.iter().any(|item| matches!(item, Item::Add(..)));
    let fixed = fixed || nest.direction.is_some();
    let free = nest.carries.is_empty() && nest.group.is_none() && !fixed;
    let Some(own) = nest.vector.filter(|_| free) else { return Vec::new() };
    let is_long = |axis: &AxisId| {
        let extent = graph.lit(graph.axis(*axis).extent);
        extent.is_none_or(|extent| extent.int() >= cost::SHORT)
    };
    let fits = |axis: &AxisId| *axis != own && is_long(axis) && !nest.whole.contains(axis);
    nest.axes.iter().copied().filter(fits).collect()
}

/// The nest with lanes along another axis, which becomes the innermost of the reduced axes, or of
/// the others.
pub(crate) fn along(placed: &Placed, mut nest: Nest, vector: AxisId) -> Nest {
    let items = nest.items.clone();
    let reduced = |axis: &AxisId| {
        items.iter().any(|item| {
            let kept = &placed.buffer(item.buffer()).axes;
            matches!(item, Item::Reduce(_)) && !kept.contains(axis)
        })
    };
    let mut axes = std::mem::take(&mut nest.axes);
    axes.sort_by_key(|axis| (reduced(axis), *axis == vector));
    Nest { axes, vector: Some(vector), ..nest }
}
