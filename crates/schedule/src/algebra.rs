//! P3: laws of arithmetic that hold for all IEEE numbers: signs, commutativity, nested reductions.
//! Equal values get equal definitions, which are computed once. A sum whose terms are zero but for
//! one is that term.
//!
//! *Gives* a graph with signs outside of products where that adds no operations, with constants
//! folded and nested reductions merged. *Keeps* values bit for bit, and reductions up to the order
//! of their terms.

use lambada_prim::{Prim, ReduceOp, Scalar};

use crate::reads::at_one;
use lambada_graph::{Affine, Around, Axes, Builder, Graph, Node, NodeId, rebuilt, rewritten};

/// The graph with the laws applied.
pub fn simplified(graph: &Graph) -> Graph {
    let uses = graph.uses();
    // A total of sums that others read adds up the sums, not their terms once more.
    let alone = |from: NodeId| match graph.node(from) {
        Node::Reduce(_, _, body) => uses[body.0 as usize] == 1,
        _ => false, // has no terms
    };
    rewritten(graph, &mut |to, from, node| match node {
        Node::Prim(op, args) => prim(to, op, args),
        Node::Reduce(op, axes, body) => reduce(to, (op, axes, body), alone(from)),
        Node::Choose(cond, then, otherwise) => choose(to, cond, then, otherwise),
        node @ (Node::Lit(_) | Node::Index(_) | Node::At(..)) => rebuilt(to, node),
    })
}

/// Simplifies `if c then true else false` to `c`, and drops the test `0 < extent` if the value
/// depends on an index of that extent, or is a sum over such an index, because an empty sum is
/// zero. A lazy value keeps its condition.
fn choose(to: &mut Builder, cond: NodeId, then: NodeId, otherwise: NodeId) -> NodeId {
    let graph = &to.graph;
    let both = graph.lit(then).zip(graph.lit(otherwise));
    if both == Some((Scalar::Bool(true), Scalar::Bool(false))) {
        return cond;
    }
    if let Some((Prim::LtInt, [low, extent])) = graph.operation(cond)
        && graph.lit(*low) == Some(Scalar::Int(0))
        && !graph.facts(then).lazy
    {
        let along = |axes: &Axes| axes.iter().any(|axis| graph.axis(axis).extent == *extent);
        let is_sum = |(op, axes, _): (ReduceOp, &Axes, NodeId)| {
            let zero = graph.lit(otherwise) == Some(Scalar::Real(0.0));
            op == ReduceOp::Add && along(axes) && zero
        };
        if along(graph.free(then)) || graph.reduction(then).is_some_and(is_sum) {
            return then;
        }
    }
    rebuilt(to, Node::Choose(cond, then, otherwise))
}

/// `x`, if the node is `-x`.
fn negated(to: &Builder, node: NodeId) -> Option<NodeId> {
    let (op, args) = to.graph.operation(node)?;
    (op == Prim::Neg).then(|| args[0])
}

/// The result of an operation on constants that all engines round in the same way, or of a
/// comparison that is decided.
fn folded(to: &mut Builder, op: Prim, args: &[NodeId]) -> Option<NodeId> {
    let exact =
        matches!(op, Prim::Add | Prim::Sub | Prim::Mul | Prim::Neg | Prim::ToReal | Prim::Not);
    if let Some(known) = compared(&to.graph, op, args) {
        return Some(to.lit(Scalar::Bool(known)));
    }
    let values = args.iter().map(|a| to.graph.lit(*a)).collect::<Option<Vec<_>>>()?;
    let value = exact.then(|| op.eval(&values))?;
    Some(to.lit(value))
}

/// The result of a comparison of an index with an end of its axis, if it is the same for all
/// indices.
fn compared(graph: &Graph, op: Prim, args: &[NodeId]) -> Option<bool> {
    let (Prim::EqInt | Prim::LtInt | Prim::LeInt, [a, b]) = (op, args) else { return None };
    let (least, most) = ends(graph, &Affine::of(graph, *a), &Affine::of(graph, *b));
    let is_positive = least.is_some_and(|least| least > 0);
    let is_negative = most.is_some_and(|most| most < 0);
    match op {
        Prim::EqInt => (is_positive || is_negative).then_some(false),
        Prim::LtInt if is_negative => Some(true),
        Prim::LtInt => least.filter(|least| *least >= 0).map(|_| false),
        _ if is_positive => Some(false),
        _ => most.filter(|most| *most <= 0).map(|_| true),
    }
}

/// The least and the greatest value of the difference of an index and an end of its axis, where
/// known.
pub(crate) fn ends(graph: &Graph, a: &Affine, b: &Affine) -> (Option<i64>, Option<i64>) {
    let (axes, rest) = a.plus(-1, b).axes(graph);
    let [(axis, times @ (1 | -1))] = axes[..] else { return (None, None) };
    if !a.is_along(graph, axis) || !b.is_along(graph, axis) {
        return (None, None);
    }
    let extent = Affine::extent(graph, axis);
    let first = rest.known();
    let last = rest.plus(times, &extent.plus_constant(-1)).known();
    if times == 1 { (first, last) } else { (last, first) }
}

/// `x` of `1·x` and `x / 1`.
fn of_one(to: &Builder, op: Prim, args: &[NodeId]) -> Option<NodeId> {
    let one = |k: usize| to.graph.lit(args[k]) == Some(Scalar::Real(1.0));
    let is_product = op == Prim::Mul;
    if is_product && one(0) {
        Some(args[1])
    } else {
        ((is_product || op == Prim::Div) && one(1)).then(|| args[0])
    }
}

fn prim(to: &mut Builder, op: Prim, mut args: Vec<NodeId>) -> NodeId {
    if let Some(known) = folded(to, op, &args).or_else(|| of_one(to, op, &args)) {
        return known;
    }
    let minus = |k: usize| args.get(k).and_then(|arg| negated(to, *arg));
    // A sign with fewer indices than the product stays where it is.
    let free = |k: usize| to.graph.free(args[k]);
    let leaves = |k: usize| matches!(op, Prim::Mul | Prim::Div) && free(1 - k).is_subset(free(k));
    match (op, minus(0), minus(1)) {
        (Prim::Neg, Some(x), _) => x,
        // The sign of a product and of a quotient is exact.
        (Prim::Mul | Prim::Div, Some(x), Some(y)) => prim(to, op, vec![x, y]),
        (Prim::Mul | Prim::Div, Some(x), None) if leaves(0) => {
            let y = args[1];
            let product = prim(to, op, vec![x, y]);
            to.prim(Prim::Neg, [product])
        }
        (Prim::Mul | Prim::Div, None, Some(y)) if leaves(1) => {
            let x = args[0];
            let product = prim(to, op, vec![x, y]);
            to.prim(Prim::Neg, [product])
        }
        (Prim::Add, _, Some(y)) => {
            let x = args[0];
            prim(to, Prim::Sub, vec![x, y])
        }
        (Prim::Add, Some(x), None) => {
            let y = args[1];
            prim(to, Prim::Sub, vec![y, x])
        }
        (Prim::Sub, _, Some(y)) => {
            let x = args[0];
            prim(to, Prim::Add, vec![x, y])
        }
        (Prim::Add | Prim::Mul | Prim::AddInt | Prim::MulInt | Prim::And | Prim::Or, _, _) => {
            args.sort_unstable();
            to.prim(op, args)
        }
        (op, _, _) => to.prim(op, args),
    }
}

/// `Σ over i of (if i == e then x else 0)` is `x` at `e`.
fn of_one_index(to: &mut Builder, axes: &Axes, body: NodeId) -> Option<NodeId> {
    let graph = &to.graph;
    let (cond, term, zero) = graph.choice(body)?;
    let Some((Prim::EqInt, &[a, b])) = graph.operation(cond) else { return None };
    if graph.lit(zero) != Some(Scalar::Real(0.0)) {
        return None;
    }
    let own = |place: NodeId, index: NodeId| {
        let axis = graph.index(index).filter(|axis| axes.contains(*axis))?;
        let others = axes.iter().filter(|other| *other != axis);
        let mut extents = others.map(|other| graph.axis(other).extent);
        let is_free = |node: NodeId| !graph.free(node).contains(axis);
        let alone = is_free(place) && extents.all(is_free);
        alone.then_some((axis, place))
    };
    let (axis, place) = match own(a, b).or_else(|| own(b, a)) {
        Some(known) => known,
        // i + k = e, so i = e - k.
        None => {
            let sum = Affine::of(graph, a).plus(-1, &Affine::of(graph, b));
            let (times @ (1 | -1), axis, rest) = sum.along(graph, axes)? else { return None };
            let place = Affine::default().plus(-times, &rest).node(to);
            let graph = &to.graph;
            let mut extents = axes.iter().map(|axis| graph.axis(axis).extent);
            if extents.any(|extent| graph.free(extent).contains(axis)) {
                return None;
            }
            (axis, place)
        }
    };
    let graph = &to.graph;
    let extent = graph.axis(axis).extent;
    let fits = graph.index(place).is_some_and(|other| graph.axis(other).extent == extent);
    let none = to.lit(Scalar::Int(0));
    let mut in_range = to.prim(Prim::LtInt, [place, extent]);
    if to.graph.lit(place).is_none_or(|place| place.int() < 0) {
        let low = to.prim(Prim::LeInt, [none, place]);
        in_range = to.prim(Prim::And, [low, in_range]);
    }
    let around = to.around.len();
    to.around.extend((!fits).then_some(Around::Branch));
    let term = at_one(to, axis, place, term);
    to.around.truncate(around);
    let term = if fits { term? } else { to.choose(in_range, term?, zero) };
    let others = axes.without(&Axes::one(axis));
    Some(if others.is_empty() { term } else { reduce(to, (ReduceOp::Add, others, term), true) })
}

/// A reduction; with `merges`, one of reductions becomes one of their terms.
fn reduce(to: &mut Builder, (op, axes, body): (ReduceOp, Axes, NodeId), merges: bool) -> NodeId {
    if op == ReduceOp::Add
        && let Some(one) = of_one_index(to, &axes, body)
    {
        return one;
    }
    if let Node::Reduce(inner_op, inner, term) = to.graph.node(body)
        && merges
        && *inner_op == op
        && !inner.meets(&axes)
    {
        let (inner, term) = (inner.clone(), *term);
        let both = axes.union(&inner);
        let depends = |axis| to.graph.free(to.graph.axis(axis).extent).meets(&both);
        if !both.iter().any(depends) {
            return to.reduce(op, both, term);
        }
    }
    to.reduce(op, axes, body)
}
