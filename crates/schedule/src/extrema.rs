//! Loops that find the place of an extremum: `(best, place) := if x is better { (x, i) } else { (best, place) }`  becomes  the extremum, and the first
//! index at which it stands. Neither needs an order.
//!
//! *Keeps* values: NaN is better than any number, and of what is equal the first is taken.

use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy};

use crate::graph::{
    Aliases, Around, ArrayId, Axes, AxisId, Builder, Graph, LoopId, Node, NodeId, Part, aliased,
    needs, rebuilt, rewritten, roots,
};
use crate::states::{is_lit, scalar_of};

/// The graph without such loops.
pub fn without_places(graph: &Graph) -> Graph {
    let mut to = Builder::of(graph.clone());
    let mut aliases = Aliases::new();
    for l in (0..graph.loops.len() as u32).map(LoopId) {
        for k in 0..graph.loop_(l).carries.len() as u32 {
            if let Some(found) = search(&mut to, l, k) {
                let lazy = to.graph.loop_facts(l).1;
                to.around = if lazy { vec![Around::Branch] } else { Vec::new() };
                let (best, place) = replaced(&mut to, &found);
                aliases.extend([(found.best, best), (found.place, place)]);
            }
        }
    }
    rewritten(&aliased(&to.graph, &aliases), &mut |to, _, node| {
        extremum_at(&to.graph, &node)
            .or_else(|| compared(to, &node))
            .unwrap_or_else(|| rebuilt(to, node))
    })
}

/// The axis whose place of an extremum a scalar is, the index, and where the extremum stands: a place in range, if there is any index, else 0.
fn place_of(graph: &Graph, node: NodeId) -> Option<(AxisId, NodeId, NodeId)> {
    let (runs, first, none) = graph.choice(node)?;
    let (Prim::MinInt, [first, greatest]) = graph.operation(first)? else { return None };
    let (ReduceOp::Min, axes, at) = graph.reduction(*first)? else { return None };
    let (here, own, _) = graph.choice(at)?;
    let axis = graph.index(own).filter(|axis| *axes == Axes::one(*axis))?;
    let extent = graph.axis(axis).extent;
    let (Prim::SubInt, [end, one]) = graph.operation(*greatest)? else { return None };
    let (Prim::LtInt, [zero, size]) = graph.operation(runs)? else { return None };
    let fits = is_lit(graph, *one, Scalar::Int(1))
        && [*zero, none].into_iter().all(|n| is_lit(graph, n, Scalar::Int(0)))
        && [*end, *size] == [extent, extent];
    fits.then_some((axis, own, here))
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
            let (axis, _, _) = place_of(&to.graph, a)?;
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
        let (axis, own, here) = place_of(graph, *i)?;
        let (Prim::Or, [equal, _]) = graph.operation(here)? else { return None };
        let (Prim::Eq, [x, best]) = graph.operation(*equal)? else { return None };
        let (ReduceOp::Max | ReduceOp::Min, over, all) = graph.reduction(*best)? else {
            return None;
        };
        let mut there = index.clone();
        there[k] = own;
        let is_it = *graph.node(*x) == Node::At(*array, there) && all == *x;
        (is_it && *over == Axes::one(axis)).then_some(*best)
    };
    index.iter().enumerate().find_map(found)
}

/// A loop that finds a place.
struct Search {
    op: ReduceOp,
    axis: AxisId,
    x: NodeId,
    /// The last states.
    best: ArrayId,
    place: ArrayId,
}

/// Is the k-th part of the state the place of an extremum?
fn search(to: &mut Builder, l: LoopId, k: u32) -> Option<Search> {
    let axis = to.graph.loop_(l).axis;
    let (better, index, before) = selected(&to.graph, l, k, Prim::SelectInt)?;
    let own = (to.carried(l, k), to.last(l, k));
    let is_place = to.graph.index(index) == Some(axis) && is_state(&to.graph, before, own.0);
    let count = to.graph.loop_(l).carries.len() as u32;
    for other in (0..count).filter(|_| is_place) {
        let Some((cond, x, old)) = selected(&to.graph, l, other, Prim::Select) else { continue };
        let (carried, last) = (to.carried(l, other), to.last(l, other));
        if cond != better || !is_state(&to.graph, old, carried) {
            continue;
        }
        let op = extremum(&to.graph, cond, x, old)?;
        let carries = &to.graph.loop_(l).carries;
        let first = scalar_of(&to.graph, carries[other as usize].init)?;
        let zeroth = scalar_of(&to.graph, carries[k as usize].init)?;
        let starts = is_lit(&to.graph, first, op.unit(ScalarTy::Real))
            && is_lit(&to.graph, zeroth, Scalar::Int(0));
        let states = [own.0, carried];
        let free = |state| {
            !needs(&to.graph, roots(&to.graph), state, &[own.1, last])
                && !needs(&to.graph, vec![Part::Node(x)], state, &[])
        };
        if starts && states.into_iter().all(free) {
            return Some(Search { op, axis, x, best: last, place: own.1 });
        }
    }
    None
}

/// The next state, if it is a selection.
fn selected(graph: &Graph, l: LoopId, k: u32, op: Prim) -> Option<(NodeId, NodeId, NodeId)> {
    let next = scalar_of(graph, graph.loop_(l).carries[k as usize].next)?;
    match graph.operation(next)? {
        (found, [cond, new, old]) if found == op => Some((*cond, *new, *old)),
        (_, _) => None,
    }
}

fn is_state(graph: &Graph, node: NodeId, state: ArrayId) -> bool {
    *graph.node(node) == Node::At(state, Vec::new())
}

/// Which extremum looks for `x` where it is better than what is known, or the first NaN?
fn extremum(graph: &Graph, better: NodeId, x: NodeId, best: NodeId) -> Option<ReduceOp> {
    let both = |node: NodeId, op: Prim| match graph.operation(node) {
        Some((found, [a, b])) if found == op => Some([*a, *b]),
        Some(_) | None => None,
    };
    let [a, b] = both(better, Prim::Or)?;
    let order = |node: NodeId| match both(node, Prim::Lt)? {
        pair if pair == [best, x] => Some(ReduceOp::Max),
        pair if pair == [x, best] => Some(ReduceOp::Min),
        _ => None,
    };
    let (op, rest) = order(a).map(|op| (op, b)).or_else(|| order(b).map(|op| (op, a)))?;
    let [c, d] = both(rest, Prim::And)?;
    let is = |c, d| both(c, Prim::Ne) == Some([x, x]) && both(d, Prim::Eq) == Some([best, best]);
    (is(c, d) || is(d, c)).then_some(op)
}

/// The extremum and its place; 0 if there is nothing.
fn replaced(to: &mut Builder, found: &Search) -> (ArrayId, ArrayId) {
    let axes = Axes::one(found.axis);
    let best = to.reduce(found.op, axes.clone(), found.x);
    let equal = to.prim(Prim::Eq, [found.x, best]);
    let (own, all) = (to.prim(Prim::Ne, [found.x, found.x]), to.prim(Prim::Ne, [best, best]));
    let undefined = to.prim(Prim::And, [own, all]);
    let here = to.prim(Prim::Or, [equal, undefined]);
    let (index, none) = (to.index(found.axis), to.lit(Scalar::Int(i64::MAX)));
    let at = to.choose(here, index, none);
    let first = to.reduce(ReduceOp::Min, axes, at);
    let (extent, zero) = (to.graph.axis(found.axis).extent, to.lit(Scalar::Int(0)));
    let runs = to.prim(Prim::LtInt, [zero, extent]);
    // There is an index at which it stands; that it is in range does not rest on it.
    let one = to.lit(Scalar::Int(1));
    let greatest = to.prim(Prim::SubInt, [extent, one]);
    let first = to.prim(Prim::MinInt, [first, greatest]);
    let place = to.choose(runs, first, zero);
    (to.scalar(best), to.scalar(place))
}
