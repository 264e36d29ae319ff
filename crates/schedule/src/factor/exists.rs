//! A node that leaves a sum loses indices, and is needed where the conditions around the sum hold
//! for any of those.

use lambada_prim::{Prim, Scalar};

use super::Factor;
use lambada_graph::{Axes, Node, NodeId};

/// The condition under which a node that has left a sum is needed.
pub(super) enum Asked {
    /// For all indices but a few, whatever their number is.
    Mostly,
    /// Under a condition on its own indices.
    If(NodeId),
    /// Under conditions on others.
    Unknown,
}

/// The bound of an integer that is needed.
#[derive(Clone, Copy)]
enum Bound {
    Least,
    Greatest,
}

impl Bound {
    fn other(self) -> Bound {
        match self {
            Bound::Least => Bound::Greatest,
            Bound::Greatest => Bound::Least,
        }
    }
}

impl Factor<'_> {
    /// The condition under which a node with the indices `own` is needed, summed over `over`, if
    /// `when` has to hold for any of the other indices.
    pub(super) fn asked(&mut self, when: &[NodeId], own: &Axes, over: &Axes) -> Asked {
        let mut guard = None;
        for cond in when {
            if self.free(*cond).is_subset(own) {
                return Asked::Unknown; // The caller finds the condition itself.
            }
            let gone = self.free(*cond).without(own);
            let Some(holds) = self.exists(&gone, *cond) else { return Asked::Unknown };
            let there = own.union(over);
            let extents: Vec<NodeId> =
                there.iter().map(|axis| self.to.graph.axis(axis).extent).collect();
            for axis in gone.iter() {
                let extent = self.to.graph.axis(axis).extent;
                if !extents.contains(&extent) {
                    let none = self.to.lit(Scalar::Int(0));
                    let any = self.to.prim(Prim::LtInt, [none, extent]);
                    guard = Some(self.both(guard, any));
                }
            }
            if !self.holds_mostly(holds) {
                guard = Some(self.both(guard, holds));
            }
        }
        guard.map_or(Asked::Mostly, Asked::If)
    }

    fn both(&mut self, first: Option<NodeId>, second: NodeId) -> NodeId {
        first.map_or(second, |first| self.to.prim(Prim::And, [first, second]))
    }

    /// `∃ indices: cond`, or a weaker condition without those indices, in which bounds replace the
    /// operands of comparisons. Ranges are not empty.
    fn exists(&mut self, gone: &Axes, cond: NodeId) -> Option<NodeId> {
        if !self.free(cond).meets(gone) {
            return Some(cond);
        }
        let (op, args) = self.to.graph.operation(cond)?;
        let &[a, b] = args else { return None };
        let (a, b) = match op {
            Prim::And => (self.exists(gone, a)?, self.exists(gone, b)?),
            Prim::LtInt | Prim::LeInt => {
                (self.bound(gone, a, Bound::Least)?, self.bound(gone, b, Bound::Greatest)?)
            }
            _ => return None, // says nothing about bounds
        };
        Some(self.to.prim(op, [a, b]))
    }

    fn bound(&mut self, gone: &Axes, node: NodeId, bound: Bound) -> Option<NodeId> {
        if !self.free(node).meets(gone) {
            return Some(node);
        }
        if let Node::Index(axis) = *self.to.graph.node(node) {
            let extent = self.to.graph.axis(axis).extent;
            if !self.free(extent).is_empty() {
                return None;
            }
            return Some(match bound {
                Bound::Least => self.to.lit(Scalar::Int(0)),
                Bound::Greatest => {
                    let one = self.to.lit(Scalar::Int(-1));
                    self.to.prim(Prim::AddInt, [extent, one])
                }
            });
        }
        let (op, args) = self.to.graph.operation(node)?;
        let &[a, b] = args else { return None };
        let of_second = match op {
            Prim::AddInt => bound,
            Prim::SubInt => bound.other(),
            _ => return None, // not monotone
        };
        let (a, b) = (self.bound(gone, a, bound)?, self.bound(gone, b, of_second)?);
        Some(self.to.prim(op, [a, b]))
    }

    /// Whether a comparison of an index with an end of its range, or of a size with zero, fails for
    /// a few indices or sizes only.
    fn holds_mostly(&self, cond: NodeId) -> bool {
        let Some((Prim::LtInt | Prim::LeInt, &[a, b])) = self.to.graph.operation(cond) else {
            return false;
        };
        let zero = |node| self.to.graph.lit(node) == Some(Scalar::Int(0));
        match *self.to.graph.node(a) {
            _ if zero(a) => self.is_size(b) || self.to.graph.index(b).is_some(),
            Node::Index(axis) => {
                let extent = self.to.graph.axis(axis).extent;
                extent == b || self.before(b) == Some(extent)
            }
            _ => false,
        }
    }

    /// `size`, from `size − 1`.
    fn before(&self, node: NodeId) -> Option<NodeId> {
        let (Prim::AddInt, &[a, b]) = self.to.graph.operation(node)? else { return None };
        match (self.to.graph.lit(a), self.to.graph.lit(b)) {
            (Some(Scalar::Int(-1)), _) => Some(b),
            (_, Some(Scalar::Int(-1))) => Some(a),
            _ => None,
        }
    }

    /// Whether a node is the extent of an axis, or one less.
    fn is_size(&self, node: NodeId) -> bool {
        let extent = self.before(node).unwrap_or(node);
        self.to.graph.axes.iter().any(|axis| axis.extent == extent)
    }
}
