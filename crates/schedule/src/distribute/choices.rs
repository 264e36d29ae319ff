//! Additions at an index that is chosen, as that of a neighbor at the boundary: `x[max (i - 1) 0]`,
//! `x[(i + 1) % n]`. Each becomes several conditional additions, at places that are constant or
//! affine functions of the index.

use lambada_prim::Prim;

use super::Distributor;
use super::accumulators::Seen;
use lambada_graph::{Affine, ArrayId, Axes, AxisId, NodeId, Term};

/// The most additions that one may become.
const MOST: usize = 9;

impl Distributor<'_> {
    /// Splits an addition with chosen indices into cases, if each case can be inverted.
    pub(super) fn cases(&mut self, term: &Term, array: ArrayId) -> Option<Vec<Seen>> {
        let over: Axes = term.over.iter().copied().collect();
        let mut terms = vec![term.clone()];
        for k in 0..term.index.len() {
            let mut open = std::mem::take(&mut terms);
            while let Some(term) = open.pop() {
                let Some((first, second)) = self.choice(term.index[k], &over) else {
                    terms.push(term);
                    continue;
                };
                for (cond, index) in [second, first] {
                    let mut case = term.clone();
                    case.when = self.both(case.when, cond);
                    case.index[k] = index;
                    open.push(case);
                }
                if open.len() + terms.len() > MOST {
                    return None;
                }
            }
        }
        if terms.len() == 1 {
            return None;
        }
        let seen = |term: Term| Some((self.inverses(&term, array, true)?, term));
        terms.into_iter().map(seen).collect()
    }

    /// The two alternatives of an index, with their conditions.
    fn choice(
        &mut self,
        index: NodeId,
        over: &Axes,
    ) -> Option<((NodeId, NodeId), (NodeId, NodeId))> {
        if let Some((c, a, b)) = self.to.graph.choice(index) {
            let not = self.to.prim(Prim::Not, [c]);
            return Some(((c, a), (not, b)));
        }
        let (op, args) = self.to.graph.operation(index)?;
        let args = args.to_vec();
        match (op, &args[..]) {
            (Prim::SelectInt, &[c, a, b]) => {
                let not = self.to.prim(Prim::Not, [c]);
                Some(((c, a), (not, b)))
            }
            (Prim::MaxInt, &[a, b]) => {
                Some(((self.at_most(b, a, over), a), (self.below(a, b, over), b)))
            }
            (Prim::MinInt, &[a, b]) => {
                Some(((self.at_most(a, b, over), a), (self.below(b, a, over), b)))
            }
            (Prim::RemInt, &[a, b]) if self.is_once_around(a, b, over) => {
                let rest = self.to.prim(Prim::SubInt, [a, b]);
                Some(((self.below(a, b, over), a), (self.at_most(b, a, over), rest)))
            }
            _ => None, // computed in another way
        }
    }

    fn difference(&self, a: NodeId, b: NodeId) -> Affine {
        let graph = &self.to.graph;
        Affine::of(graph, a).plus(-1, &Affine::of(graph, b))
    }

    /// `a < b`, as an equality if it holds for the first or the last index of an axis only.
    fn below(&mut self, a: NodeId, b: NodeId, over: &Axes) -> NodeId {
        let distance = self.difference(b, a);
        let end = self.end(&distance.plus_constant(-1), over);
        end.unwrap_or_else(|| self.to.prim(Prim::LtInt, [a, b]))
    }

    /// `a ≤ b`, likewise.
    fn at_most(&mut self, a: NodeId, b: NodeId, over: &Axes) -> NodeId {
        let distance = self.difference(b, a);
        let end = self.end(&distance, over);
        end.unwrap_or_else(|| self.to.prim(Prim::LeInt, [a, b]))
    }

    /// The equality of an index with the first or the last one, if the sum is nonnegative exactly
    /// there.
    fn end(&mut self, sum: &Affine, over: &Axes) -> Option<NodeId> {
        let (times, axis, rest) = sum.along(&self.to.graph, over)?;
        let index = self.to.index(axis);
        let extent = Affine::extent(&self.to.graph, axis);
        let last = extent.plus_constant(-1);
        // times · index + rest ≥ 0
        let end = match times {
            -1 if rest.known() == Some(0) => Affine::default(),
            1 if rest.plus(1, &last).known() == Some(0) => last,
            _ => return None, // or for others, too
        };
        let end = end.node(&mut self.to);
        Some(self.to.prim(Prim::EqInt, [index, end]))
    }

    /// Whether `0 ≤ a < 2 b` for all indices, as for a neighbor along a circular axis.
    fn is_once_around(&self, a: NodeId, b: NodeId, over: &Axes) -> bool {
        let graph = &self.to.graph;
        let own = |axis: &AxisId| graph.axis(*axis).extent == b;
        let Some((1, axis, rest)) = Affine::of(graph, a).along(graph, over) else { return false };
        let around = rest.plus(-1, &Affine::of(graph, b));
        own(&axis)
            && (matches!(rest.known(), Some(0 | 1)) || matches!(around.known(), Some(-1 | 0)))
    }
}
