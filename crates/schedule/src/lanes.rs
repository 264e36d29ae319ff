//! P6: the axis of the lanes of each nest. Buffers have one order of axes for all nests; which of a
//! nest's axes is best depends on what the nest reads. In `s @ w`, lanes along the columns read
//! rows of `w`, and lanes along what is summed read columns, an element here and an element there.

use crate::work::{near, work};
use lambada_graph::cost;
use lambada_graph::placed::{Item, Nest, Placed};
use lambada_graph::{AxisId, Nominal};

/// The placement in which the lanes of each nest run along the axis for which it costs least. A
/// nest for a block of an axis stays as it is.
pub(crate) fn along_cheapest(placed: Placed, sizes: &Nominal, lanes: u16) -> Placed {
    let near = near(&placed, sizes);
    let mut passes = placed.passes.clone();
    for pass in &mut passes {
        let block = placed.block.filter(|_| pass.blocked);
        for nest in &mut pass.nests {
            // The axes of nests that have been made one stand in an order of their own.
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

/// Are all its sums sums over the same axes?
fn is_plain(placed: &Placed, nest: &Nest) -> bool {
    let comes_back = |item: &Item| placed.comes_back(nest, *item);
    placed.finishes_at_once(nest) && !nest.items.iter().any(comes_back)
}

/// The other axes that lanes may have.
pub(crate) fn others(placed: &Placed, nest: &Nest) -> Vec<AxisId> {
    let graph = &placed.graph;
    // What is added to one after the other has lanes of its own.
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

/// The nest with lanes along another axis: the innermost of those that are summed, or of those that
/// are not.
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
