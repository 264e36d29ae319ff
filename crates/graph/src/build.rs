//! Smart constructors: equal definitions are one node. They apply the equations that have no cost
//! (an element of an array of known elements is that element) and fold nothing else.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy, Tensor};

use super::{
    Array, ArrayId, Axes, Axis, AxisId, Carry, Facts, Graph, Input, Loop, LoopId, Node, NodeId,
    Term,
};

/// A construct around the place in the program that is being translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// A loop over the axis.
    Axis(AxisId),
    /// A branch that may not be taken.
    Branch,
    /// A condition on the indices of two axes, the first of which is inside of the other. A
    /// definition that does not depend on the first one is computed outside; so is one that does
    /// not depend on the second one, if it surely has a value for each index.
    Part(AxisId, AxisId),
}

/// Builds a graph.
#[derive(Debug, Default)]
pub struct Builder {
    /// The graph so far.
    pub graph: Graph,
    /// The constructs around new nodes, outermost first.
    pub around: Vec<Around>,
    nodes: FxHashMap<Node, NodeId>,
    arrays: FxHashMap<Array, ArrayId>,
}

impl Builder {
    /// Continues a graph.
    pub fn of(graph: Graph) -> Builder {
        let nodes = graph.nodes.iter().cloned().zip((0..).map(NodeId)).collect();
        let arrays = graph.arrays.iter().cloned().zip((0..).map(ArrayId)).collect();
        Builder { graph, around: Vec::new(), nodes, arrays }
    }

    /// The finished graph. An axis without a loop has no order.
    pub fn finish(mut self) -> Graph {
        let ordered: Axes = self.graph.loops.iter().map(|l| l.axis).collect();
        for (k, axis) in self.graph.axes.iter_mut().enumerate() {
            axis.sequential &= ordered.contains(AxisId(k as u32));
        }
        self.graph
    }

    /// A new input.
    pub fn input(&mut self, input: Input) -> ArrayId {
        self.graph.inputs.push(input);
        self.array(Array::Input((self.graph.inputs.len() - 1) as u32))
    }

    /// A new axis.
    pub fn axis(&mut self, axis: Axis) -> AxisId {
        self.graph.axes.push(axis);
        AxisId((self.graph.axes.len() - 1) as u32)
    }

    /// A constant.
    pub fn lit(&mut self, value: Scalar) -> NodeId {
        self.node(Node::Lit(value))
    }

    /// The index of an axis.
    pub fn index(&mut self, axis: AxisId) -> NodeId {
        self.node(Node::Index(axis))
    }

    /// A primitive.
    pub fn prim(&mut self, op: Prim, args: impl Into<Vec<NodeId>>) -> NodeId {
        self.node(Node::Prim(op, args.into()))
    }

    /// `if c { a } else { b }`
    pub fn choose(&mut self, c: NodeId, a: NodeId, b: NodeId) -> NodeId {
        match self.graph.lit(c) {
            Some(Scalar::Bool(true)) => a,
            Some(Scalar::Bool(false)) => b,
            Some(_) | None if a == b => a,
            Some(_) | None => self.node(Node::Choose(c, a, b)),
        }
    }

    /// An element. At the indices with which the array has been written, it is the written element.
    pub fn at(&mut self, array: ArrayId, index: Vec<NodeId>) -> NodeId {
        match self.graph.array(array) {
            Array::Map(axes, body) => {
                let (body, free) = (*body, self.graph.free(*body));
                let same = |(axis, i): (&AxisId, &NodeId)| {
                    !free.contains(*axis) || *self.graph.node(*i) == Node::Index(*axis)
                };
                if axes.iter().zip(&index).all(same) {
                    return body;
                }
                if let Node::Index(own) = self.graph.node(body)
                    && let Some(k) = axes.iter().position(|axis| axis == own)
                {
                    return index[k];
                }
            }
            Array::Items(items) => {
                if let Some(Scalar::Int(k)) = self.graph.lit(index[0])
                    && let Some(item) = usize::try_from(k).ok().and_then(|k| items.get(k))
                {
                    return *item;
                }
            }
            Array::Update(_, at, part) if index.starts_with(at) => {
                let (at, part) = (at.len(), *part);
                return self.at(part, index[at..].to_vec());
            }
            Array::Input(_)
            | Array::Constant(_)
            | Array::Scatter(..)
            | Array::Update(..)
            | Array::Carried(..)
            | Array::Final(..) => {}
        }
        self.node(Node::At(array, index))
    }

    /// A reduction.
    pub fn reduce(&mut self, op: ReduceOp, axes: Axes, body: NodeId) -> NodeId {
        if axes.is_empty() { body } else { self.node(Node::Reduce(op, axes, body)) }
    }

    /// A constant array.
    pub fn constant(&mut self, tensor: &Rc<Tensor>) -> ArrayId {
        let known = self.graph.constants.iter().position(|known| known == tensor);
        let k = known.unwrap_or_else(|| {
            self.graph.constants.push(tensor.clone());
            self.graph.constants.len() - 1
        });
        self.array(Array::Constant(k as u32))
    }

    /// `[a, b, c]`
    pub fn items(&mut self, items: Vec<NodeId>) -> ArrayId {
        self.array(Array::Items(items))
    }

    /// An array with these elements. If they are the elements of an array of the same sizes, it is
    /// that array.
    pub fn map(&mut self, axes: Vec<AxisId>, body: NodeId) -> ArrayId {
        if let Node::At(array, index) = self.graph.node(body)
            && index.len() == axes.len()
            && index.iter().zip(&axes).all(|(i, axis)| *self.graph.node(*i) == Node::Index(*axis))
            && !axes.iter().any(|axis| self.graph.array_facts(*array).free.contains(*axis))
        {
            let array = *array;
            let extents: Vec<NodeId> =
                axes.iter().map(|axis| self.graph.axis(*axis).extent).collect();
            if self.dims(array) == extents {
                return array;
            }
        }
        self.array(Array::Map(axes, body))
    }

    /// A scalar as an array of rank 0.
    pub fn scalar(&mut self, value: NodeId) -> ArrayId {
        self.map(Vec::new(), value)
    }

    /// An array with additions.
    pub fn scatter(&mut self, init: ArrayId, terms: Vec<Term>) -> ArrayId {
        if terms.is_empty() { init } else { self.array(Array::Scatter(init, terms)) }
    }

    /// An array with another part at an index.
    pub fn update(&mut self, init: ArrayId, index: Vec<NodeId>, part: ArrayId) -> ArrayId {
        self.array(Array::Update(init, index, part))
    }

    /// A loop whose next states are not known yet; it depends on these axes at most.
    pub fn open(&mut self, axis: AxisId, inits: &[(Rc<str>, ArrayId)], free: &Axes) -> LoopId {
        let carry = |(hint, init): &(Rc<str>, ArrayId)| Carry {
            hint: hint.clone(),
            init: *init,
            next: *init,
        };
        let carries = inits.iter().map(carry).collect();
        self.graph.loops.push(Loop { axis, carries });
        let id = LoopId((self.graph.loops.len() - 1) as u32);
        let bound = free.without(&Axes::one(axis));
        let lazy = self.is_lazy(&bound, false);
        self.graph.of_loops.push((bound.clone(), lazy));
        for k in 0..inits.len() as u32 {
            self.loop_array(Array::Carried(id, k), bound.union(&self.graph.reach(axis)));
            self.loop_array(Array::Final(id, k), bound.clone());
        }
        id
    }

    /// The next states of a loop.
    pub fn close(&mut self, id: LoopId, nexts: &[ArrayId]) {
        let carries = &mut self.graph.loops[id.0 as usize].carries;
        carries.iter_mut().zip(nexts).for_each(|(carry, next)| carry.next = *next);
    }

    /// The state at the beginning of an iteration.
    pub fn carried(&mut self, id: LoopId, k: u32) -> ArrayId {
        self.array(Array::Carried(id, k))
    }

    /// The state after the last iteration.
    pub fn last(&mut self, id: LoopId, k: u32) -> ArrayId {
        self.array(Array::Final(id, k))
    }

    /// The sizes of an array.
    pub fn dims(&mut self, array: ArrayId) -> Vec<NodeId> {
        match self.graph.array(array) {
            Array::Input(k) => self.graph.inputs[*k as usize].dims.clone(),
            Array::Constant(k) => {
                let dims = self.graph.constants[*k as usize].dims.clone();
                dims.into_iter().map(|d| self.lit(Scalar::Int(d as i64))).collect()
            }
            Array::Items(items) => {
                let len = items.len() as i64;
                vec![self.lit(Scalar::Int(len))]
            }
            Array::Map(axes, _) => axes.iter().map(|a| self.graph.axis(*a).extent).collect(),
            Array::Scatter(init, _) | Array::Update(init, ..) => self.dims(*init),
            Array::Carried(l, k) | Array::Final(l, k) => {
                self.dims(self.graph.loop_(*l).carries[*k as usize].init)
            }
        }
    }

    fn loop_array(&mut self, array: Array, free: Axes) {
        let (Array::Carried(l, k) | Array::Final(l, k)) = &array else { return };
        let init = self.graph.loop_(*l).carries[*k as usize].init;
        let elem = self.graph.array_facts(init).elem;
        let lazy = self.is_lazy(&free, false);
        self.graph.arrays.push(array.clone());
        self.graph.of_arrays.push(Facts { elem, free, lazy });
        self.arrays.insert(array, ArrayId((self.graph.arrays.len() - 1) as u32));
    }

    /// Whether a branch lies between the loops that a definition depends on, and this place.
    fn is_lazy(&self, free: &Axes, total: bool) -> bool {
        let needed = |around: &Around| matches!(around, Around::Axis(a) if free.contains(*a));
        let inner = self.around.iter().rposition(needed).map_or(0, |k| k + 1);
        self.around[inner..].iter().any(|around| match around {
            Around::Axis(_) => false,
            Around::Branch => true,
            Around::Part(inner, outer) => {
                free.contains(*inner) && (free.contains(*outer) || !total)
            }
        })
    }

    /// Whether a node is in range for each index of its axes.
    fn is_total(&self, node: &Node) -> bool {
        let graph = &self.graph;
        let index = |i: &NodeId, size: Option<&NodeId>| {
            let extent = graph.index(*i).map(|axis| graph.axis(axis).extent);
            extent.is_some() && extent.as_ref() == size
        };
        match node {
            Node::Lit(_) | Node::Index(_) => true,
            Node::Prim(_, parts) => parts.iter().all(|p| !graph.facts(*p).lazy),
            Node::At(array, at) => {
                let Array::Input(k) = graph.array(*array) else { return false };
                let dims = &graph.inputs[*k as usize].dims;
                at.iter().enumerate().all(|(k, i)| index(i, dims.get(k)))
            }
            Node::Choose(..) | Node::Reduce(..) => false,
        }
    }

    /// Whether the graph has such a node.
    pub fn knows(&self, node: &Node) -> bool {
        self.nodes.contains_key(node)
    }

    /// The node, new or known.
    pub fn node(&mut self, node: Node) -> NodeId {
        if let Some(id) = self.nodes.get(&node).copied() {
            let lazy = self.is_lazy(self.graph.free(id), self.is_total(&node));
            self.graph.of_nodes[id.0 as usize].lazy &= lazy;
            return id;
        }
        let (elem, free) = self.of_node(&node);
        let lazy = self.is_lazy(&free, self.is_total(&node));
        self.graph.of_nodes.push(Facts { elem, free, lazy });
        self.graph.nodes.push(node.clone());
        let id = NodeId((self.graph.nodes.len() - 1) as u32);
        self.nodes.insert(node, id);
        id
    }

    fn array(&mut self, array: Array) -> ArrayId {
        if let Some(id) = self.arrays.get(&array).copied() {
            let lazy = self.is_lazy(&self.graph.array_facts(id).free, false);
            self.graph.of_arrays[id.0 as usize].lazy &= lazy;
            return id;
        }
        let (elem, free) = self.of_array(&array);
        let lazy = self.is_lazy(&free, false);
        self.graph.of_arrays.push(Facts { elem, free, lazy });
        self.graph.arrays.push(array.clone());
        let id = ArrayId((self.graph.arrays.len() - 1) as u32);
        self.arrays.insert(array, id);
        id
    }

    fn all_free(&self, nodes: impl IntoIterator<Item = NodeId>) -> Axes {
        nodes.into_iter().fold(Axes::default(), |all, n| all.union(self.graph.free(n)))
    }

    /// The free axes of a construct that binds axes, whose extents are computed outside.
    fn bound(&self, axes: impl Iterator<Item = AxisId> + Clone, inside: &Axes) -> Axes {
        let extents = axes.clone().map(|a| self.graph.axis(a).extent);
        let own: Axes = axes.collect();
        inside.union(&self.all_free(extents)).without(&own)
    }

    fn of_node(&self, node: &Node) -> (ScalarTy, Axes) {
        let graph = &self.graph;
        match node {
            Node::Lit(value) => (value.ty(), Axes::default()),
            Node::Index(axis) => (ScalarTy::Int, graph.reach(*axis)),
            Node::Prim(op, args) => (op.result(), self.all_free(args.iter().copied())),
            Node::Choose(c, a, b) => (graph.facts(*a).elem, self.all_free([*c, *a, *b])),
            Node::At(array, index) => {
                let facts = graph.array_facts(*array);
                (facts.elem, facts.free.union(&self.all_free(index.iter().copied())))
            }
            Node::Reduce(_, axes, body) => {
                (graph.facts(*body).elem, self.bound(axes.iter(), graph.free(*body)))
            }
        }
    }

    fn of_array(&self, array: &Array) -> (ScalarTy, Axes) {
        let graph = &self.graph;
        match array {
            Array::Input(k) => (graph.inputs[*k as usize].elem, Axes::default()),
            Array::Constant(k) => (graph.constants[*k as usize].elem(), Axes::default()),
            Array::Items(items) => {
                (graph.facts(items[0]).elem, self.all_free(items.iter().copied()))
            }
            Array::Map(axes, body) => {
                (graph.facts(*body).elem, self.bound(axes.iter().copied(), graph.free(*body)))
            }
            Array::Scatter(init, terms) => {
                let facts = graph.array_facts(*init);
                let of = |term: &Term| {
                    let inside = term.index.iter().chain(&term.when).chain([&term.value]);
                    self.bound(term.over.iter().copied(), &self.all_free(inside.copied()))
                };
                (facts.elem, terms.iter().fold(facts.free.clone(), |all, t| all.union(&of(t))))
            }
            Array::Update(init, index, part) => {
                let facts = graph.array_facts(*init);
                let inside = self.all_free(index.iter().copied());
                let free = facts.free.union(&inside).union(&graph.array_facts(*part).free);
                (facts.elem, free)
            }
            Array::Carried(l, k) | Array::Final(l, k) => {
                unreachable!("the part {k} of the loop {} has been made by `open`", l.0)
            }
        }
    }
}
