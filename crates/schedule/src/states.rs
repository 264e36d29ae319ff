//! States of loops that need no order:
//! - `next = state + e` becomes `first + Σ e`;
//! - an array of which each iteration writes its own part becomes a definition that depends on the
//!   iteration;
//! - a state that stays the same becomes the first one.
//!
//! *Gives* loops whose states need the iteration before; a loop without states disappears, and its
//! axis has no order. *Keeps* values up to the order of sums.

use lambada_prim::{Prim, ReduceOp};

use lambada_graph::{
    Affine, Aliases, Around, Array, ArrayId, Axes, Axis, AxisId, Builder, Graph, LoopId, NodeId,
    Part, aliased, needs, roots,
};

/// The graph without such states.
pub fn settled(graph: &Graph) -> Graph {
    let mut graph = aliased(graph, &Aliases::default());
    loop {
        let mut settle = Settle { to: Builder::of(graph), aliases: Aliases::default() };
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
        let next = self.to.graph.array(state.next).clone();
        let last = if let Array::Map(axes, body) = next {
            self.total(state, axes, body)
        } else if let Array::Update(array, index, part) = next
            && array == state.carried
        {
            self.parts(state, index, part)
        } else {
            None
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
        // Leaving out an addition to zero changes the sign of a zero at most.
        let total =
            if first == zero { sum } else { self.to.prim(ReduceOp::Add.prim(elem), [first, sum]) };
        Some(self.to.map(axes, total))
    }

    fn depends(&self, node: NodeId, state: &State) -> bool {
        needs(&self.to.graph, vec![Part::Node(node)], state.carried, &[])
    }

    /// The increment that a definition adds to the state, `Some(None)` if it is the state itself,
    /// and `None` if it has another form.
    fn added(&mut self, state: &State, own: NodeId, node: NodeId) -> Option<Option<NodeId>> {
        if node == own {
            return Some(None);
        }
        if let Some((cond, a, b)) = self.to.graph.choice(node) {
            if self.depends(cond, state) {
                return None;
            }
            let zero = self.to.lit(self.to.graph.facts(node).elem.zero());
            let (a, b) = (self.added(state, own, a)?, self.added(state, own, b)?);
            return Some(Some(self.to.choose(cond, a.unwrap_or(zero), b.unwrap_or(zero))));
        }
        let (op, [a, b]) = self.to.graph.operation(node)? else { return None };
        let (op, a, b) = (op, *a, *b);
        let neg = match op {
            Prim::Add | Prim::AddInt => None,
            Prim::Sub => Some(Prim::Neg),
            Prim::SubInt => Some(Prim::NegInt),
            _ => return None,
        };
        let swapped = neg.is_none() && !self.depends(a, state);
        let (with, other) = if swapped { (b, a) } else { (a, b) };
        if self.depends(other, state) {
            return None;
        }
        Some(Some(match (self.added(state, own, with)?, neg) {
            (Some(added), _) => self.to.prim(op, [added, other]),
            (None, None) => other,
            (None, Some(neg)) => self.to.prim(neg, [other]),
        }))
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

    /// The axes and the element of an array.
    fn elements(&mut self, array: ArrayId) -> (Vec<AxisId>, NodeId) {
        if let Some((axes, body)) = self.to.graph.elements(array) {
            return (axes.to_vec(), body);
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
