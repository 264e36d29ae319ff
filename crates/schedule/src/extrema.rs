//! `x[place]`, where `place` is the first index at which `x` is extreme, is the extremum, and such
//! a place is in range.
//!
//! *Keeps* values: NaN is better than any number, as it is in the extremum.

use lambada_prim::{Prim, ReduceOp, Scalar};

use crate::states::is_lit;
use lambada_graph::{Axes, AxisId, Builder, Graph, Node, NodeId, rebuilt, rewritten};

/// The graph without reads at places of extrema, and without comparisons of such places with sizes.
pub fn without_places(graph: &Graph) -> Graph {
    rewritten(graph, &mut |to, _, node| {
        extremum_at(&to.graph, &node)
            .or_else(|| compared(to, &node))
            .unwrap_or_else(|| rebuilt(to, node))
    })
}

/// A place: `min i < n { if here then i else n - 1 }`.
struct Place {
    axis: AxisId,
    own: NodeId,
    here: NodeId,
}

fn place_of(graph: &Graph, node: NodeId) -> Option<Place> {
    let (ReduceOp::Min, axes, at) = graph.reduction(node)? else { return None };
    let (here, own, last) = match graph.operation(at) {
        Some((Prim::SelectInt, [here, own, last])) => (*here, *own, *last),
        Some(_) | None => graph.choice(at)?,
    };
    let axis = graph.index(own).filter(|axis| *axes == Axes::one(*axis))?;
    let extent = graph.axis(axis).extent;
    let fits = match (graph.operation(last), graph.lit(extent)) {
        (Some((Prim::SubInt, [end, one])), _) => {
            *end == extent && is_lit(graph, *one, Scalar::Int(1))
        }
        (Some((Prim::AddInt, [end, one])), _) => {
            *end == extent && is_lit(graph, *one, Scalar::Int(-1))
        }
        (_, Some(Scalar::Int(n))) => is_lit(graph, last, Scalar::Int(n.wrapping_sub(1))),
        (_, _) => false,
    };
    fits.then_some(Place { axis, own, here })
}

/// `0 ≤ place` holds, and `place < size` if there is an index.
fn compared(to: &mut Builder, node: &Node) -> Option<NodeId> {
    let Node::Prim(op, args) = node else { return None };
    let [a, b] = args[..] else { return None };
    match op {
        Prim::LeInt if is_lit(&to.graph, a, Scalar::Int(0)) => {
            place_of(&to.graph, b)?;
            Some(to.lit(Scalar::Bool(true)))
        }
        Prim::LtInt => {
            let Place { axis, .. } = place_of(&to.graph, a)?;
            let zero = to.lit(Scalar::Int(0));
            (to.graph.axis(axis).extent == b).then(|| to.prim(Prim::LtInt, [zero, b]))
        }
        _ => None, // says nothing of a place
    }
}

/// `x[place]` is the extremum, where it is that of `x[i]`.
fn extremum_at(graph: &Graph, node: &Node) -> Option<NodeId> {
    let Node::At(array, index) = node else { return None };
    let found = |(k, i): (usize, &NodeId)| {
        let Place { axis, own, here } = place_of(graph, *i)?;
        let (equal, nan) = either(graph, here)?;
        let (Prim::Eq, [x, best]) = graph.operation(equal)? else { return None };
        let (ReduceOp::Max | ReduceOp::Min, over, all) = graph.reduction(*best)? else {
            return None;
        };
        let mut there = index.clone();
        there[k] = own;
        let is_it = *graph.node(*x) == Node::At(*array, there) && all == *x;
        let is_nan = graph.operation(nan) == Some((Prim::Ne, &[*x, *x]));
        (is_it && is_nan && *over == Axes::one(axis)).then_some(*best)
    };
    index.iter().enumerate().find_map(found)
}

/// The two conditions of which a condition says that one holds.
fn either(graph: &Graph, node: NodeId) -> Option<(NodeId, NodeId)> {
    if let Some((Prim::Or, [a, b])) = graph.operation(node) {
        return Some((*a, *b));
    }
    let (a, then, b) = graph.choice(node)?;
    is_lit(graph, then, Scalar::Bool(true)).then_some((a, b))
}
