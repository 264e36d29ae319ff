//! Lane reads whose elements may be out of range, such as neighbors, or at computed indices: one
//! vector load if the elements are consecutive and in range, else each lane at the nearest index in
//! range. No code uses the substituted elements.

use lambada_loops::{Buf, Operand};
use lambada_prim::Prim;

use super::{Copy, Emitter};
use lambada_graph::{Affine, AxisId, NodeId, runs_along};

impl Emitter<'_> {
    /// The axis of lanes that the indices depend on.
    pub(super) fn lane_of(&self, index: &[NodeId]) -> Option<AxisId> {
        let graph = self.graph();
        let several = |axis: &AxisId| self.lanes(*axis) > 1;
        index.iter().find_map(|i| graph.free(*i).iter().find(several))
    }

    /// The elements at the indices, for lanes along an axis.
    pub(super) fn slide(
        &mut self,
        (buf, dims): (Buf, &[Operand]),
        index: &[NodeId],
        axis: AxisId,
        (copy, since): (Copy, usize),
    ) -> Operand {
        let lanes = self.lanes(axis);
        let (zero, one) = (Operand::int(0), Operand::int(1));
        let (mut nearest, mut exist) = (Vec::new(), Vec::new());
        for (i, dim) in index.iter().zip(dims) {
            let i = self.node(*i, copy);
            let last = self.code.int(Prim::SubInt, *dim, one);
            let i = self.code.int(Prim::MinInt, i, last);
            nearest.push(self.code.int(Prim::MaxInt, i, zero));
            exist.push(self.code.prim(Prim::LtInt, &[zero, *dim]));
        }
        let nearest = self.offset(&nearest, dims);
        let exist = self.all(&exist);
        let some_whole = self.left().is_none() || self.apart;
        let consecutive = some_whole && runs_along(self.graph(), index, axis);
        let whole = consecutive.then(|| {
            let first: Vec<Operand> =
                index.iter().map(|i| self.first_lane(*i, axis, copy)).collect();
            let mut in_range = Vec::new();
            // A vector load would give lanes without an iteration other elements than the last
            // iteration's.
            if let Some(left) = self.left() {
                let all = Operand::int(i64::from(lanes));
                in_range.push(self.code.prim(Prim::LeInt, &[all, left]));
            }
            for (k, (i, dim)) in first.iter().zip(dims).enumerate() {
                let further = if k + 1 == dims.len() { i64::from(lanes) } else { 1 };
                // The index may be any number, so adding to it could wrap.
                let last = self.code.int(Prim::SubInt, *dim, Operand::int(further));
                in_range.push(self.code.prim(Prim::LeInt, &[zero, *i]));
                in_range.push(self.code.prim(Prim::LeInt, &[*i, last]));
            }
            (self.all(&in_range), self.offset(&first, dims))
        });
        self.code.load_within(buf, whole, (exist, nearest), (lanes, since))
    }

    /// An index of the first lane: a sum with the axis's index as a term, and no other dependence
    /// on it.
    pub(super) fn first_lane(&mut self, node: NodeId, axis: AxisId, copy: Copy) -> Operand {
        let graph = self.graph();
        if !graph.free(node).contains(axis) {
            return self.node(node, copy);
        }
        self.sum(&Affine::of(graph, node), axis, copy)
    }

    /// The value of a sum for the first lane.
    pub(super) fn sum(&mut self, affine: &Affine, axis: AxisId, copy: Copy) -> Operand {
        let mut sum = None;
        for (term, times) in affine.terms() {
            let own = self.graph().index(term) == Some(axis);
            let value = if own { self.first(axis, copy) } else { self.node(term, copy) };
            sum = Some(self.plus(sum, times, value));
        }
        let constant = Operand::int(affine.constant);
        if affine.constant == 0 { sum.unwrap_or(constant) } else { self.plus(sum, 1, constant) }
    }

    /// `sum + times · value`
    fn plus(&mut self, sum: Option<Operand>, times: i64, value: Operand) -> Operand {
        let value = match times {
            1 | -1 => value,
            _ => self.code.int(Prim::MulInt, value, Operand::int(times)),
        };
        match (sum, times) {
            (None, -1) => self.code.int(Prim::SubInt, Operand::int(0), value),
            (None, _) => value,
            (Some(sum), -1) => self.code.int(Prim::SubInt, sum, value),
            (Some(sum), _) => self.code.int(Prim::AddInt, sum, value),
        }
    }

    fn all(&mut self, conds: &[Operand]) -> Operand {
        let both = |a: Operand, b: &Operand| self.code.prim(Prim::And, &[a, *b]);
        let (first, others) = conds.split_first().expect("an array with axes");
        others.iter().fold(*first, both)
    }
}
