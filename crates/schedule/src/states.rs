//! States of loops that need no order: `next = state + e`  becomes  `first + Σ e`; an array of which each iteration writes a part of its own
//! becomes those parts, a definition that depends on the iteration; a state that stays the same is the first one.
//!
//! *Gives* loops with states that need the one before; without any a loop is gone, and its axis has no order. *Keeps* values up to the order of sums.

use lambada_prim::{Prim, ReduceOp, Scalar};

use crate::affine::Affine;
use crate::graph::{
    Aliases, Around, Array, ArrayId, Axes, Axis, AxisId, Builder, Graph, LoopId, Node, NodeId,
    Part, aliased, needs, roots,
};

/// The graph without such states.
pub fn settled(graph: &Graph) -> Graph {
    let mut graph = aliased(graph, &Aliases::new());
    loop {
        let mut settle = Settle { to: Builder::of(graph), aliases: Aliases::new() };
        settle.loops();
        graph = aliased(&settle.to.graph, &settle.aliases);
        if settle.aliases.is_empty() {
            return graph;
        }
    }
}

struct Settle {
    to: Builder,
    aliases: Aliases,
}

/// A part of the state of a loop.
struct State {
    axis: AxisId,
    init: ArrayId,
    next: ArrayId,
    carried: ArrayId,
    last: ArrayId,
}

impl Settle {
    fn loops(&mut self) {
        let states: Vec<(LoopId, u32)> = (0..)
            .map(LoopId)
            .zip(&self.to.graph.loops)
            .flat_map(|(l, known)| (0..known.carries.len() as u32).map(move |k| (l, k)))
            .collect();
        for (l, k) in states {
            let known = self.to.graph.loop_(l);
            let (axis, carry) = (known.axis, known.carries[k as usize].clone());
            let lazy = self.to.graph.loop_facts(l).1;
            self.to.around = if lazy { vec![Around::Branch] } else { Vec::new() };
            let (carried, last) = (self.to.carried(l, k), self.to.last(l, k));
            let state = State { axis, init: carry.init, next: carry.next, carried, last };
            self.state(&state);
        }
    }

    fn state(&mut self, state: &State) {
        if state.next == state.carried {
            self.aliases.extend([(state.carried, state.init), (state.last, state.init)]);
            return;
        }
        if needs(&self.to.graph, roots(&self.to.graph), state.carried, &[state.last]) {
            return;
        }
        let last = match self.to.graph.array(state.next).clone() {
            Array::Map(axes, body) => self.total(state, axes, body),
            Array::Update(array, index, part) if array == state.carried => {
                self.parts(state, index, part)
            }
            Array::Input(_)
            | Array::Constant(_)
            | Array::Items(_)
            | Array::Scatter(..)
            | Array::Update(..)
            | Array::Carried(..)
            | Array::Final(..) => None,
        };
        self.aliases.extend(last.map(|last| (state.last, last)));
    }

    // Totals

    fn total(&mut self, state: &State, axes: Vec<AxisId>, body: NodeId) -> Option<ArrayId> {
        let index: Vec<NodeId> = axes.iter().map(|axis| self.to.index(*axis)).collect();
        let own = self.to.at(state.carried, index.clone());
        let added = self.added(state, own, body)?;
        let elem = self.to.graph.facts(body).elem;
        let sum = match added {
            None => self.to.lit(elem.zero()),
            Some(added) => self.to.reduce(ReduceOp::Add, Axes::one(state.axis), added),
        };
        let first = self.to.at(state.init, index);
        let zero = self.to.lit(elem.zero());
        // That nothing is added to a zero changes the sign of a zero at most.
        let total =
            if first == zero { sum } else { self.to.prim(ReduceOp::Add.prim(elem), [first, sum]) };
        Some(self.to.map(axes, total))
    }

    fn depends(&self, node: NodeId, state: &State) -> bool {
        needs(&self.to.graph, vec![Part::Node(node)], state.carried, &[])
    }

    /// What a definition adds to the state, if that is what it does; nothing, if it is the state.
    fn added(&mut self, state: &State, own: NodeId, node: NodeId) -> Option<Option<NodeId>> {
        if node == own {
            return Some(None);
        }
        match self.to.graph.node(node).clone() {
            Node::Prim(op @ (Prim::Add | Prim::AddInt), args) => {
                let (a, b) = (args[0], args[1]);
                let (with, other) = if self.depends(a, state) { (a, b) } else { (b, a) };
                if self.depends(other, state) {
                    return None;
                }
                let added = self.added(state, own, with)?;
                Some(Some(added.map_or(other, |added| self.to.prim(op, [added, other]))))
            }
            Node::Prim(op @ (Prim::Sub | Prim::SubInt), args) if !self.depends(args[1], state) => {
                let added = self.added(state, own, args[0])?;
                let neg = if op == Prim::Sub { Prim::Neg } else { Prim::NegInt };
                let less = match added {
                    None => self.to.prim(neg, [args[1]]),
                    Some(added) => self.to.prim(op, [added, args[1]]),
                };
                Some(Some(less))
            }
            Node::Choose(cond, a, b) if !self.depends(cond, state) => {
                let zero = self.to.lit(self.to.graph.facts(node).elem.zero());
                let (a, b) = (self.added(state, own, a)?, self.added(state, own, b)?);
                Some(Some(self.to.choose(cond, a.unwrap_or(zero), b.unwrap_or(zero))))
            }
            Node::Lit(_)
            | Node::Index(_)
            | Node::Prim(..)
            | Node::Choose(..)
            | Node::At(..)
            | Node::Reduce(..) => None,
        }
    }

    // Parts

    /// `loop { array[place, iteration] = part }`
    fn parts(&mut self, state: &State, mut index: Vec<NodeId>, part: ArrayId) -> Option<ArrayId> {
        let graph = &self.to.graph;
        if graph.index(index.pop()?) != Some(state.axis) {
            return None;
        }
        let outside = |i: &NodeId| !graph.free(*i).contains(state.axis);
        if !index.iter().all(outside) || needs(graph, vec![Part::Array(part)], state.carried, &[]) {
            return None;
        }
        let extent = graph.axis(state.axis).extent;
        let size = self.to.dims(state.init)[index.len()];
        let graph = &self.to.graph;
        if Affine::of(graph, size) != Affine::of(graph, extent) {
            return None;
        }
        let (axes, body) = self.elements(part);
        let parts = self.to.map([&[state.axis], &axes[..]].concat(), body);
        Some(if index.is_empty() { parts } else { self.to.update(state.init, index, parts) })
    }

    /// An array as its elements along axes.
    fn elements(&mut self, array: ArrayId) -> (Vec<AxisId>, NodeId) {
        if let Array::Map(axes, body) = self.to.graph.array(array) {
            return (axes.clone(), *body);
        }
        let dims = self.to.dims(array);
        let axis = |to: &mut Builder, extent| {
            to.axis(Axis { hint: "k".into(), extent, sequential: false })
        };
        let axes: Vec<AxisId> = dims.into_iter().map(|d| axis(&mut self.to, d)).collect();
        let index = axes.iter().map(|axis| self.to.index(*axis)).collect();
        let body = self.to.at(array, index);
        (axes, body)
    }
}

/// The scalar that an array of rank 0 is.
pub(crate) fn scalar_of(graph: &Graph, array: ArrayId) -> Option<NodeId> {
    match graph.array(array) {
        Array::Map(axes, body) if axes.is_empty() => Some(*body),
        Array::Map(..)
        | Array::Input(_)
        | Array::Constant(_)
        | Array::Items(_)
        | Array::Scatter(..)
        | Array::Update(..)
        | Array::Carried(..)
        | Array::Final(..) => None,
    }
}

/// Is it this constant?
pub(crate) fn is_lit(graph: &Graph, node: NodeId, value: Scalar) -> bool {
    graph.lit(node) == Some(value)
}
