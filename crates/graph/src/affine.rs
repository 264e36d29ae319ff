//! `int`s as sums: `Σ coefficient · node + constant`. Arithmetic wraps, so the two are equal for
//! all values.

use std::collections::BTreeMap;

use lambada_prim::{Prim, Scalar};
use rustc_hash::FxHashMap;

use crate::{Axes, AxisId, Builder, Graph, Node, NodeId};

/// A sum of multiples of nodes that are no sums themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affine {
    /// No coefficient is zero.
    terms: BTreeMap<NodeId, i64>,
    /// The term without a variable.
    pub constant: i64,
}

impl Affine {
    /// The sum that equals a node.
    pub fn of(graph: &Graph, node: NodeId) -> Affine {
        Affine::with(graph, node, &mut FxHashMap::default())
    }

    /// [`Affine::of`] with a memo, so that a node with two mentions is visited once.
    fn with(graph: &Graph, node: NodeId, known: &mut FxHashMap<NodeId, Affine>) -> Affine {
        if let Some(found) = known.get(&node) {
            return found.clone();
        }
        let found = match graph.node(node) {
            Node::Lit(Scalar::Int(constant)) => {
                return Affine { constant: *constant, ..Affine::default() };
            }
            Node::Prim(op @ (Prim::AddInt | Prim::SubInt | Prim::NegInt | Prim::MulInt), args) => {
                let args: Vec<Affine> =
                    args.iter().map(|a| Affine::with(graph, *a, known)).collect();
                match (op, &args[..]) {
                    (Prim::AddInt, [a, b]) => a.plus(1, b),
                    (Prim::SubInt, [a, b]) => a.plus(-1, b),
                    (Prim::NegInt, [a]) => Affine::default().plus(-1, a),
                    (Prim::MulInt, [a, b]) if a.terms.is_empty() => {
                        Affine::default().plus(a.constant, b)
                    }
                    (Prim::MulInt, [a, b]) if b.terms.is_empty() => {
                        Affine::default().plus(b.constant, a)
                    }
                    _ => Affine::atom(node), // a product of two sums
                }
            }
            Node::Lit(_)
            | Node::Index(_)
            | Node::Prim(..)
            | Node::Choose(..)
            | Node::At(..)
            | Node::Reduce(..) => return Affine::atom(node),
        };
        known.insert(node, found.clone());
        found
    }

    fn atom(node: NodeId) -> Affine {
        Affine { terms: BTreeMap::from([(node, 1)]), constant: 0 }
    }

    /// `self + times · other`
    pub fn plus(&self, times: i64, other: &Affine) -> Affine {
        let mut sum = self.clone();
        sum.constant = sum.constant.wrapping_add(times.wrapping_mul(other.constant));
        for (node, coefficient) in &other.terms {
            let known = sum.terms.entry(*node).or_default();
            *known = known.wrapping_add(times.wrapping_mul(*coefficient));
        }
        sum.terms.retain(|_, coefficient| *coefficient != 0);
        sum
    }

    /// `self + constant`
    pub fn plus_constant(&self, constant: i64) -> Affine {
        Affine { constant: self.constant.wrapping_add(constant), ..self.clone() }
    }

    /// The nodes with their coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (NodeId, i64)> + '_ {
        self.terms.iter().map(|(node, times)| (*node, *times))
    }

    /// The value, if it is the same for all values of the nodes.
    pub fn known(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The sum with other names for the nodes, if all have one.
    pub fn over(&self, name: impl Fn(NodeId) -> Option<u32>) -> Option<(BTreeMap<u32, i64>, i64)> {
        let named = |(node, times): (&NodeId, &i64)| Some((name(*node)?, *times));
        Some((self.terms.iter().map(named).collect::<Option<_>>()?, self.constant))
    }

    /// The axes whose indices are terms, with their coefficients, and the rest.
    pub fn axes(&self, graph: &Graph) -> (Vec<(AxisId, i64)>, Affine) {
        let mut rest = self.clone();
        rest.terms.retain(|node, _| graph.index(*node).is_none());
        let own = |(node, times): (&NodeId, &i64)| Some((graph.index(*node)?, *times));
        (self.terms.iter().filter_map(own).collect(), rest)
    }

    /// The number of indices of an axis, if it has any: without the maximum with 0 that the extent
    /// of a loop may have.
    pub fn extent(graph: &Graph, axis: AxisId) -> Affine {
        let extent = graph.axis(axis).extent;
        let natural = |node: NodeId| graph.lit(node).is_some_and(|least| least.int() <= 0);
        match graph.operation(extent) {
            Some((Prim::MaxInt, [a, b])) if natural(*b) => Affine::of(graph, *a),
            Some((Prim::MaxInt, [a, b])) if natural(*a) => Affine::of(graph, *b),
            _ => Affine::of(graph, extent), // as it is written
        }
    }

    /// Whether it is a sum of indices, of the extent of the axis, and of a constant, all so small
    /// that it does not wrap.
    pub fn is_along(&self, graph: &Graph, axis: AxisId) -> bool {
        let extent = Affine::extent(graph, axis);
        let own = |term: &NodeId| graph.index(*term).is_some() || extent.terms.contains_key(term);
        let small = |k: i64, most: i64| (-most..=most).contains(&k);
        small(self.constant, 1 << 32) && self.terms.iter().all(|(t, k)| own(t) && small(*k, 8))
    }

    /// The node, if it is a single one.
    pub fn single(&self) -> Option<NodeId> {
        let mut terms = self.terms.iter();
        let (node, times) = terms.next()?;
        (*times == 1 && self.constant == 0 && terms.next().is_none()).then_some(*node)
    }

    /// `coefficient · axis + rest`, if it depends on one of these axes, and the rest on none of
    /// them.
    pub fn along(&self, graph: &Graph, axes: &Axes) -> Option<(i64, AxisId, Affine)> {
        let mut depending = self.terms.iter().filter(|(node, _)| graph.free(**node).meets(axes));
        let (node, coefficient) = depending.next()?;
        let axis = graph.index(*node).filter(|axis| axes.contains(*axis))?;
        let alone = depending.next().is_none() && *graph.free(*node) == Axes::one(axis);
        let mut rest = self.clone();
        rest.terms.remove(node);
        alone.then_some((*coefficient, axis, rest))
    }

    /// A node with this value.
    pub fn node(&self, to: &mut Builder) -> NodeId {
        let mut sum = None;
        for (node, coefficient) in &self.terms {
            let times = to.lit(Scalar::Int(coefficient.wrapping_abs()));
            let term = if coefficient.wrapping_abs() == 1 {
                *node
            } else {
                to.prim(Prim::MulInt, [times, *node])
            };
            sum = Some(match (sum, *coefficient > 0) {
                (None, true) => term,
                (None, false) => to.prim(Prim::NegInt, [term]),
                (Some(sum), true) => to.prim(Prim::AddInt, [sum, term]),
                (Some(sum), false) => to.prim(Prim::SubInt, [sum, term]),
            });
        }
        let constant = to.lit(Scalar::Int(self.constant));
        match sum {
            None => constant,
            Some(sum) if self.constant == 0 => sum,
            Some(sum) => to.prim(Prim::AddInt, [sum, constant]),
        }
    }
}
