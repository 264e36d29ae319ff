//! The needed range of a sum's terms. `Σ_m if m < j { … }` runs up to `j`: the loop does not visit
//! skipped terms, and does not test a condition that holds for all iterations at once. It tests
//! only between the first and the last limit of these.

use lambada_loops::Operand;
use lambada_prim::Prim;

use super::Emitter;
use super::sums::Sum;
use lambada_graph::placed::{Item, Nest};
use lambada_graph::{AxisId, Mechanism, Node, NodeId};

/// Consecutive indices of an axis.
pub(super) struct Range {
    pub(super) start: Operand,
    pub(super) end: Operand,
    /// A condition that holds for all of them.
    pub(super) assumed: Option<NodeId>,
}

/// A condition on the index of an axis.
struct Limit {
    cond: NodeId,
    /// Whether the index is below it, or from it on.
    below: bool,
    /// The compared value.
    limit: NodeId,
    /// A constant added to the compared value.
    more: i64,
}

impl Emitter<'_> {
    /// The indices of an axis that a nest has to visit.
    pub(super) fn ranges(&mut self, nest: &Nest, axis: AxisId, sums: &[Sum]) -> Vec<Range> {
        let (start, end) = self.range(axis);
        let all = Range { start, end, assumed: None };
        let Some(limit) = self.limit(nest, axis, sums) else { return vec![all] };
        let mut known: Vec<Operand> = Vec::new();
        for copy in self.copies.clone() {
            let value = self.node(limit.limit, copy);
            if !known.contains(&value) {
                known.push(value);
            }
        }
        let [first, last] = [Prim::MinInt, Prim::MaxInt].map(|op| {
            let known = known.iter().copied();
            let value = known.reduce(|a, b| self.code.int(op, a, b)).expect("there is a copy");
            // Clamped to the range first, so that the addition does not wrap.
            let more = Operand::int(limit.more);
            let [low, high] = [start, end].map(|end| self.code.int(Prim::SubInt, end, more));
            let value = self.code.int(Prim::MaxInt, value, low);
            let value = self.code.int(Prim::MinInt, value, high);
            self.code.int(Prim::AddInt, value, more)
        });
        let holds = Some(limit.cond);
        let mut ranges = match limit.below {
            true => vec![
                Range { start, end: first, assumed: holds },
                Range { start: first, end: last, assumed: None },
            ],
            false => vec![
                Range { start: first, end: last, assumed: None },
                Range { start: last, end, assumed: holds },
            ],
        };
        ranges.retain(|range| range.start != range.end);
        ranges
    }

    /// A condition on the axis without which no item needs the iteration.
    fn limit(&self, nest: &Nest, axis: AxisId, sums: &[Sum]) -> Option<Limit> {
        let finished = |item: &Item| !self.placed.comes_back(nest, *item);
        let reduces = |item: &Item| matches!(item, Item::Reduce(_)) && finished(item);
        if !self.mechanisms.has(Mechanism::Ranges) {
            return None;
        }
        let (first, others) = sums.split_first()?;
        let (cond, _) = self.asked(first)?;
        let same = |sum: &Sum| self.asked(sum).is_some_and(|(other, _)| other == cond);
        let graph = self.graph();
        let lanes = nest.vector.is_some_and(|vector| graph.free(cond).contains(vector));
        if lanes || !nest.items.iter().all(reduces) || !others.iter().all(same) {
            return None;
        }
        let (op, [a, b]) = graph.operation(cond)? else { return None };
        // a < b, or a < b + 1
        let more = match op {
            Prim::LtInt => 0,
            Prim::LeInt => 1,
            _ => return None,
        };
        let inner = |node: &NodeId| graph.free(*node).iter().all(|a| self.axes.contains_key(&a));
        let is_index = |node: &NodeId| matches!(graph.node(*node), Node::Index(a) if *a == axis);
        let (below, limit) = match (is_index(a), is_index(b)) {
            (true, false) if inner(b) => (true, *b),
            (false, true) if inner(a) => (false, *a),
            (_, _) => return None,
        };
        let more = if below { more } else { 1 - more };
        Some(Limit { cond, below, limit, more })
    }
}
