//! β for arrays: an element of an array becomes the definition at that index if recomputing it is
//! cheap; else it is read.

use lambada_prim::{Prim, ScalarTy};

use lambada_graph::{Affine, Around, Array, ArrayId, Axes, AxisId, Builder, Graph, Node, NodeId};

/// The most operations on reals, and others, that are cheaper than to write and read an element.
const CHEAP: (usize, usize) = (3, 12);

/// The most operations that are recomputed where one place takes the part of all indices.
const ONCE: (usize, usize) = (64, 64);

/// A substitution of places for the indices of axes.
struct Push {
    places: Vec<(AxisId, NodeId)>,
    axes: Axes,
    left: (usize, usize),
    /// Whether operations that cost more than additions are recomputed, too.
    any: bool,
    /// If present, costly parts become elements of an array.
    stored: Option<Stored>,
}

/// Costly parts become elements of an array with all indices of the substituted axes.
#[derive(Clone)]
pub(crate) struct Stored {
    /// Further axes of the array, if the part depends on them.
    pub(crate) also: Vec<AxisId>,
    /// Axes on which no stored part depends, because it would be stored too often.
    pub(crate) but: Axes,
}

/// An element of an array.
pub(crate) fn read(to: &mut Builder, array: ArrayId, index: Vec<NodeId>) -> NodeId {
    let array = before(&to.graph, array, &index);
    if let Array::Map(axes, body) = to.graph.array(array) {
        let places: Vec<_> = axes.iter().copied().zip(index.iter().copied()).collect();
        let body = *body;
        if let Some(element) = substituted(to, &places, body) {
            return element;
        }
    }
    to.at(array, index)
}

/// A definition with places substituted for some indices, if it is cheap.
pub(crate) fn substituted(
    to: &mut Builder,
    places: &[(AxisId, NodeId)],
    node: NodeId,
) -> Option<NodeId> {
    let axes = places.iter().map(|(axis, _)| *axis).collect();
    Push { places: places.to_vec(), axes, left: CHEAP, any: false, stored: None }.node(to, node)
}

/// [`substituted`], where costly parts may become elements of an array.
pub(crate) fn substituted_or_stored(
    to: &mut Builder,
    places: &[(AxisId, NodeId)],
    node: NodeId,
    stored: Option<Stored>,
) -> Option<NodeId> {
    let axes = places.iter().map(|(axis, _)| *axis).collect();
    let places = places.to_vec();
    Push { places, axes, left: CHEAP, any: false, stored }.node(to, node)
}

/// A definition with a place substituted for an index. Costly operations are recomputed only if the
/// place has no indices; reductions never are.
pub(crate) fn at_one(
    to: &mut Builder,
    axis: AxisId,
    place: NodeId,
    node: NodeId,
) -> Option<NodeId> {
    let any = to.graph.free(place).is_empty();
    let left = if any { ONCE } else { CHEAP };
    Push { places: vec![(axis, place)], axes: Axes::one(axis), left, any, stored: None }
        .node(to, node)
}

/// The array before updates at other indices.
fn before(graph: &Graph, mut array: ArrayId, index: &[NodeId]) -> ArrayId {
    let differ = |(a, b): (&NodeId, &NodeId)| {
        let difference = Affine::of(graph, *a).plus(-1, &Affine::of(graph, *b));
        difference.known().is_some_and(|known| known != 0)
    };
    while let Array::Update(init, at, _) = graph.array(array)
        && at.iter().zip(index).any(differ)
    {
        array = *init;
    }
    array
}

impl Push {
    /// The definition at the places, or an element of an array that holds it.
    fn node(&mut self, to: &mut Builder, node: NodeId) -> Option<NodeId> {
        let Some(stored) = self.stored.take() else { return self.cheap(to, node) };
        let left = self.left;
        let cheap = self.cheap(to, node);
        self.stored = Some(stored.clone());
        if cheap.is_some() {
            return cheap;
        }
        self.left = left;
        // If one operand depends on the axes, only that one is moved; the other stays outside.
        if let Some((op, args)) = to.graph.operation(node)
            && is_cheap(op)
            && args.iter().filter(|arg| to.graph.free(**arg).meets(&self.axes)).count() == 1
        {
            let args = args.to_vec();
            let args = self.all(to, &args)?;
            return Some(to.prim(op, args));
        }
        if to.graph.free(node).meets(&stored.but) || to.graph.facts(node).lazy {
            return None;
        }
        let also = stored.also.iter().filter(|axis| to.graph.free(node).contains(**axis));
        let also: Vec<AxisId> = also.copied().collect();
        let also: Vec<(AxisId, NodeId)> = also.into_iter().map(|a| (a, to.index(a))).collect();
        let (axes, index) = self.places.iter().copied().chain(also).unzip();
        let around = std::mem::take(&mut to.around);
        let elements = to.map(axes, node);
        to.around = around;
        Some(to.at(elements, index))
    }

    /// The definition at the places, if it is cheap. Its reads are followed only afterwards,
    /// because otherwise each element of a chain of arrays would follow the whole chain.
    fn cheap(&mut self, to: &mut Builder, node: NodeId) -> Option<NodeId> {
        self.left = self.paid(&to.graph, node, self.left)?;
        Some(self.moved(to, node))
    }

    /// The remaining budget of operations after recomputing a definition; none if it exceeds the
    /// budget. Reductions are never recomputed, because a moved index could be captured.
    fn paid(&self, graph: &Graph, node: NodeId, left: (usize, usize)) -> Option<(usize, usize)> {
        if !graph.free(node).meets(&self.axes) {
            return Some(left);
        }
        let (reals, others) = left;
        let other = || Some((reals, others.checked_sub(1)?));
        let all = |left: (usize, usize), parts: &[NodeId]| {
            parts.iter().try_fold(left, |left, part| self.paid(graph, *part, left))
        };
        match graph.node(node) {
            Node::Index(_) => Some(left),
            Node::Prim(op, _) if !self.any && !is_cheap(*op) => None,
            Node::Prim(op, args) => match op.result() {
                ScalarTy::Real => all((reals.checked_sub(1)?, others), args),
                ScalarTy::Int | ScalarTy::Bool => all(other()?, args),
            },
            Node::Choose(c, a, b) => all(other()?, &[*c, *a, *b]),
            Node::At(array, _) if graph.array_facts(*array).free.meets(&self.axes) => None,
            Node::At(_, index) => all(left, index),
            Node::Lit(_) | Node::Reduce(..) => None,
        }
    }

    /// A definition that has been paid for, at the places.
    fn moved(&self, to: &mut Builder, node: NodeId) -> NodeId {
        if !to.graph.free(node).meets(&self.axes) {
            return node;
        }
        let all = |to: &mut Builder, nodes: &[NodeId]| -> Vec<NodeId> {
            nodes.iter().map(|node| self.moved(to, *node)).collect()
        };
        match to.graph.node(node).clone() {
            Node::Index(axis) => {
                let own = self.places.iter().find(|(own, _)| *own == axis);
                own.map_or(node, |(_, place)| *place)
            }
            Node::Prim(op, args) => {
                let args = all(to, &args);
                let node = to.prim(op, args);
                // `m − (m − i)` is `i`.
                Affine::of(&to.graph, node).single().unwrap_or(node)
            }
            Node::Choose(c, a, b) => {
                let c = self.moved(to, c);
                to.around.push(Around::Branch);
                let sides = all(to, &[a, b]);
                to.around.pop();
                to.choose(c, sides[0], sides[1])
            }
            Node::At(array, index) => {
                let index = all(to, &index);
                read(to, array, index)
            }
            Node::Lit(_) | Node::Reduce(..) => node,
        }
    }

    fn all(&mut self, to: &mut Builder, nodes: &[NodeId]) -> Option<Vec<NodeId>> {
        nodes.iter().map(|n| self.node(to, *n)).collect()
    }
}

/// Whether an operation is cheap: additions, products and conversions that give reals, and all
/// operations that give integers or booleans.
fn is_cheap(op: Prim) -> bool {
    match op.result() {
        ScalarTy::Real => {
            matches!(op, Prim::Add | Prim::Sub | Prim::Mul | Prim::Neg | Prim::ToReal)
        }
        ScalarTy::Int | ScalarTy::Bool => true,
    }
}
