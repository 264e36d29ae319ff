//! The syntax. A node is a scalar, a function of the loop indices that it depends on, its *free
//! axes*; the nesting of loops around it is open. Equal nodes are one node.

use rustc_hash::FxHashSet;
use std::rc::Rc;

use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy, Tensor};
use lambada_source::Site;

use super::{Axes, AxisId, Chosen};

/// Index of a scalar definition in [`Graph::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Index of an array in [`Graph::arrays`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArrayId(pub u32);

/// Index of a sequential loop in [`Graph::loops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u32);

/// The range of an index: `0 ≤ index < extent`. Loops of the program that range over the same
/// extent may be one axis, unless one is inside of the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The name of the index for users.
    pub hint: Rc<str>,
    /// The number of indices; none if ≤ 0. It may depend on other axes.
    pub extent: NodeId,
    /// Whether it is the axis of a sequential loop.
    pub sequential: bool,
}

/// A scalar definition. All are total: an access out of range has some value, and no failure. So a
/// node may be computed anywhere and at any time; all accesses whose values are needed are in
/// range, once the checks have passed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A constant.
    Lit(Scalar),
    /// The index of an axis, of type `int`.
    Index(AxisId),
    /// A primitive, strict.
    Prim(Prim, Vec<NodeId>),
    /// `if c { a } else { b }`: one side need not be computed.
    Choose(NodeId, NodeId, NodeId),
    /// An element of an array; of an array of rank 0, the scalar.
    At(ArrayId, Vec<NodeId>),
    /// A commutative monoid over all indices of axes, which it binds. Their extents do not depend
    /// on each other.
    Reduce(ReduceOp, Axes, NodeId),
}

/// An array. It may have free axes too, as nodes do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Array {
    /// The k-th of [`Graph::inputs`].
    Input(u32),
    /// The k-th of [`Graph::constants`].
    Constant(u32),
    /// `[a, b, c]`: of rank 1.
    Items(Vec<NodeId>),
    /// An element for each combination of indices of the axes, which it binds: the first axis is
    /// the outermost.
    Map(Vec<AxisId>, NodeId),
    /// An array to which terms are added at computed places.
    Scatter(ArrayId, Vec<Term>),
    /// An array with another part at an index.
    Update(ArrayId, Vec<NodeId>, ArrayId),
    /// The k-th part of the state of a loop at the beginning of an iteration; the axis of the loop
    /// is free in it.
    Carried(LoopId, u32),
    /// The k-th part of the state after the last iteration.
    Final(LoopId, u32),
}

/// An addition to an array: for each combination of indices of the axes, which it binds,
/// `array[index] += value` if the condition holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// The axes.
    pub over: Vec<AxisId>,
    /// The condition.
    pub when: Option<NodeId>,
    /// The place.
    pub index: Vec<NodeId>,
    /// The addend.
    pub value: NodeId,
}

/// A sequential loop over an axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Loop {
    /// Its axis, which is bound in the next states.
    pub axis: AxisId,
    /// Its state.
    pub carries: Vec<Carry>,
}

/// A part of the state of a loop; of rank 0 if it is a scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Carry {
    /// The name for users.
    pub hint: Rc<str>,
    /// Before the first iteration.
    pub init: ArrayId,
    /// After an iteration.
    pub next: ArrayId,
}

/// The effects of the program besides computing, in order. All of them happen before the first
/// result is there.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Fails with the site's message unless the condition holds.
    Check {
        /// A `bool`.
        cond: NodeId,
        /// The message, and its place.
        site: Site,
        /// `int`s for the message.
        values: Vec<NodeId>,
    },
    /// For each index of an axis, in order.
    For(AxisId, Vec<Effect>),
    /// By whether a condition holds.
    If(NodeId, Vec<Effect>, Vec<Effect>),
}

/// A value from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The name for users.
    pub hint: Rc<str>,
    /// Its elements.
    pub elem: ScalarTy,
    /// Its sizes, which are scalar inputs; none for a scalar.
    pub dims: Vec<NodeId>,
}

/// A result; of rank 0 if it is a scalar. It has no free axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The name for users.
    pub hint: Rc<str>,
    /// The array.
    pub array: ArrayId,
}

/// The facts about a node or an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The type of the scalar, or of the elements.
    pub elem: ScalarTy,
    /// The axes that it depends on, with those that their extents depend on.
    pub free: Axes,
    /// Whether the program computes it only in a branch that may not be taken. Then only such a
    /// branch computes it.
    pub lazy: bool,
}

/// A program: definitions in any order that has each before its uses, but for the state of loops.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The values that it takes.
    pub inputs: Vec<Input>,
    /// Arrays that are written in the program.
    pub constants: Vec<Rc<Tensor>>,
    /// The axes.
    pub axes: Vec<Axis>,
    /// The scalars.
    pub nodes: Vec<Node>,
    /// The arrays.
    pub arrays: Vec<Array>,
    /// The sequential loops.
    pub loops: Vec<Loop>,
    /// The effects.
    pub effects: Vec<Effect>,
    /// The results.
    pub outputs: Vec<Output>,
    /// Indices of inputs that are known to be in range; no part of the text, and gone when the
    /// graph is rewritten.
    pub chosen: Vec<Chosen>,
    /// Indices, with the sizes with which checks compare them for all indices that they depend on:
    /// they are in range once the checks have passed. As `chosen`, no part of the text.
    pub checked: FxHashSet<(NodeId, NodeId)>,
    /// The number of the last outputs that take the memory of the input to which they add; not in
    /// the text, and gone when the graph is rewritten.
    pub in_place: usize,
    pub(crate) of_nodes: Vec<Facts>,
    pub(crate) of_arrays: Vec<Facts>,
    /// The axes that each loop depends on, and whether it is lazy.
    pub(super) of_loops: Vec<(Axes, bool)>,
}

impl Graph {
    /// A definition.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// An array.
    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[id.0 as usize]
    }

    /// An axis.
    pub fn axis(&self, id: AxisId) -> &Axis {
        &self.axes[id.0 as usize]
    }

    /// A loop.
    pub fn loop_(&self, id: LoopId) -> &Loop {
        &self.loops[id.0 as usize]
    }

    /// The facts about a node.
    pub fn facts(&self, id: NodeId) -> &Facts {
        &self.of_nodes[id.0 as usize]
    }

    /// The facts about an array.
    pub fn array_facts(&self, id: ArrayId) -> &Facts {
        &self.of_arrays[id.0 as usize]
    }

    /// The axes that a loop depends on, its own aside, and whether it is computed only in a branch.
    pub fn loop_facts(&self, id: LoopId) -> &(Axes, bool) {
        &self.of_loops[id.0 as usize]
    }

    /// [`Graph::loop_facts`] of all loops.
    pub fn loop_facts_all(&self) -> &[(Axes, bool)] {
        &self.of_loops
    }

    /// The axes that a node depends on.
    pub fn free(&self, id: NodeId) -> &Axes {
        &self.facts(id).free
    }

    /// The constant, if it is one.
    pub fn lit(&self, id: NodeId) -> Option<Scalar> {
        if let Node::Lit(value) = self.node(id) { Some(*value) } else { None }
    }

    /// The operation and its operands, if it is a primitive.
    pub fn operation(&self, id: NodeId) -> Option<(Prim, &[NodeId])> {
        if let Node::Prim(op, args) = self.node(id) { Some((*op, args)) } else { None }
    }

    /// The condition and the two sides, if it is a choice.
    pub fn choice(&self, id: NodeId) -> Option<(NodeId, NodeId, NodeId)> {
        if let Node::Choose(c, a, b) = self.node(id) { Some((*c, *a, *b)) } else { None }
    }

    /// The axes and the elements, if it is an array that is written with axes.
    pub fn elements(&self, id: ArrayId) -> Option<(&[AxisId], NodeId)> {
        if let Array::Map(axes, body) = self.array(id) { Some((axes, *body)) } else { None }
    }

    /// The array, if it is an element of one.
    pub fn read_of(&self, id: NodeId) -> Option<ArrayId> {
        if let Node::At(array, _) = self.node(id) { Some(*array) } else { None }
    }

    /// The scalar that an array of rank 0 is, if it is written somewhere.
    pub fn scalar(&self, id: ArrayId) -> Option<NodeId> {
        if let Some((axes, body)) = self.elements(id) {
            return axes.is_empty().then_some(body);
        }
        let is_it = |node: &Node| *node == Node::At(id, Vec::new());
        self.nodes.iter().position(is_it).map(|k| NodeId(k as u32))
    }

    /// The array to which an output adds in place.
    pub fn added_in_place(&self, id: ArrayId) -> Option<ArrayId> {
        let last = &self.outputs[self.outputs.len() - self.in_place..];
        let Array::Scatter(init, _) = self.array(id) else { return None };
        last.iter().any(|output| output.array == id).then_some(*init)
    }

    /// The loop, if it is a state at the beginning of an iteration.
    pub fn state_of(&self, id: ArrayId) -> Option<&Loop> {
        if let Array::Carried(l, _) = self.array(id) { Some(self.loop_(*l)) } else { None }
    }

    /// The operation, the axes and the terms, if it is a reduction.
    pub fn reduction(&self, id: NodeId) -> Option<(ReduceOp, &Axes, NodeId)> {
        if let Node::Reduce(op, axes, body) = self.node(id) {
            Some((*op, axes, *body))
        } else {
            None
        }
    }

    /// The axis, if it is the index of one.
    pub fn index(&self, id: NodeId) -> Option<AxisId> {
        if let Node::Index(axis) = self.node(id) { Some(*axis) } else { None }
    }

    /// The axes whose indices an axis runs with: itself, and those that its extent depends on.
    pub fn reach(&self, axis: AxisId) -> Axes {
        Axes::one(axis).union(self.free(self.axis(axis).extent))
    }

    /// Number of axes of an array.
    pub fn rank(&self, id: ArrayId) -> usize {
        match self.array(id) {
            Array::Input(k) => self.inputs[*k as usize].dims.len(),
            Array::Constant(k) => self.constants[*k as usize].dims.len(),
            Array::Items(_) => 1,
            Array::Map(axes, _) => axes.len(),
            Array::Scatter(init, _) | Array::Update(init, ..) => self.rank(*init),
            Array::Carried(l, k) | Array::Final(l, k) => {
                self.rank(self.loop_(*l).carries[*k as usize].init)
            }
        }
    }
}
