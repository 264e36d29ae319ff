//! β for arrays: an element of an array is the definition at that index, if it is cheap to compute it there again; else it is read.

use lambada_prim::{Prim, ScalarTy};

use super::Distributor;
use crate::graph::{Around, Array, ArrayId, Axes, AxisId, Node, NodeId};

/// How many operations on reals, and on others, are cheaper than to write and read an element.
const CHEAP: (usize, usize) = (3, 12);

/// The indices that take the place of those of axes.
struct Push {
    places: Vec<(AxisId, NodeId)>,
    axes: Axes,
    left: (usize, usize),
}

impl Distributor<'_> {
    /// An element of an array.
    pub(super) fn read(&mut self, array: ArrayId, index: Vec<NodeId>) -> NodeId {
        if let Array::Map(axes, body) = self.to.graph.array(array) {
            let (axes, body) = (axes.clone(), *body);
            let mut push = Push {
                places: axes.iter().copied().zip(index.iter().copied()).collect(),
                axes: axes.iter().copied().collect(),
                left: CHEAP,
            };
            if let Some(element) = self.pushed(body, &mut push) {
                return element;
            }
        }
        self.to.at(array, index)
    }

    /// The definition at other indices, if it is cheap. Reductions are not, so no index is captured.
    fn pushed(&mut self, node: NodeId, push: &mut Push) -> Option<NodeId> {
        if !self.to.graph.free(node).meets(&push.axes) {
            return Some(node);
        }
        match self.to.graph.node(node).clone() {
            Node::Index(axis) => {
                push.places.iter().find(|(own, _)| *own == axis).map(|(_, place)| *place)
            }
            Node::Prim(op, args) if is_cheap(op) => {
                let left = match op.result() {
                    ScalarTy::Real => &mut push.left.0,
                    ScalarTy::Int | ScalarTy::Bool => &mut push.left.1,
                };
                *left = left.checked_sub(1)?;
                let args = self.all_pushed(&args, push)?;
                Some(self.to.prim(op, args))
            }
            Node::Choose(c, a, b) => {
                push.left.1 = push.left.1.checked_sub(1)?;
                let c = self.pushed(c, push)?;
                self.to.around.push(Around::Branch);
                let sides = self.all_pushed(&[a, b], push);
                self.to.around.pop();
                sides.map(|sides| self.to.choose(c, sides[0], sides[1]))
            }
            Node::At(array, index) if !self.to.graph.array_facts(array).free.meets(&push.axes) => {
                let index = self.all_pushed(&index, push)?;
                Some(self.read(array, index))
            }
            Node::Lit(_) | Node::Prim(..) | Node::At(..) | Node::Reduce(..) => None,
        }
    }

    fn all_pushed(&mut self, nodes: &[NodeId], push: &mut Push) -> Option<Vec<NodeId>> {
        nodes.iter().map(|n| self.pushed(*n, push)).collect()
    }
}

/// Additions and the like; comparisons and what is done with `int`s, but for divisions.
fn is_cheap(op: Prim) -> bool {
    match op.result() {
        ScalarTy::Real => {
            matches!(op, Prim::Add | Prim::Sub | Prim::Mul | Prim::Neg | Prim::ToReal)
        }
        ScalarTy::Int | ScalarTy::Bool => true,
    }
}
