//! The parts of each definition, in one place.

use super::{Array, ArrayId, AxisId, Effect, Graph, LoopId, Node, NodeId};

/// A part that a definition mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A scalar.
    Node(NodeId),
    /// An array.
    Array(ArrayId),
    /// An axis: its index, or its range.
    Axis(AxisId),
    /// A loop, for a part of its state.
    Loop(LoopId),
}

impl Node {
    /// Calls `f` on its parts.
    pub fn parts(&self, f: &mut dyn FnMut(Part)) {
        match self {
            Node::Lit(_) => {}
            Node::Index(axis) => f(Part::Axis(*axis)),
            Node::Prim(_, args) => args.iter().for_each(|n| f(Part::Node(*n))),
            Node::Choose(c, a, b) => [c, a, b].into_iter().for_each(|n| f(Part::Node(*n))),
            Node::At(array, index) => {
                f(Part::Array(*array));
                index.iter().for_each(|n| f(Part::Node(*n)));
            }
            Node::Reduce(_, axes, body) => {
                axes.iter().for_each(|axis| f(Part::Axis(axis)));
                f(Part::Node(*body));
            }
        }
    }

    /// Calls `f` on the scalars among its parts.
    pub fn scalars(&self, f: &mut dyn FnMut(NodeId)) {
        self.parts(&mut |part| {
            if let Part::Node(node) = part {
                f(node);
            }
        });
    }
}

impl Array {
    /// Calls `f` on its parts.
    pub fn parts(&self, f: &mut dyn FnMut(Part)) {
        match self {
            Array::Input(_) | Array::Constant(_) => {}
            Array::Items(items) => items.iter().for_each(|n| f(Part::Node(*n))),
            Array::Map(axes, body) => {
                axes.iter().for_each(|axis| f(Part::Axis(*axis)));
                f(Part::Node(*body));
            }
            Array::Scatter(init, terms) => {
                f(Part::Array(*init));
                for term in terms {
                    term.over.iter().for_each(|axis| f(Part::Axis(*axis)));
                    let inside = term.when.iter().chain(&term.index).chain([&term.value]);
                    inside.for_each(|n| f(Part::Node(*n)));
                }
            }
            Array::Update(init, index, part) => {
                f(Part::Array(*init));
                index.iter().for_each(|n| f(Part::Node(*n)));
                f(Part::Array(*part));
            }
            Array::Carried(l, _) | Array::Final(l, _) => f(Part::Loop(*l)),
        }
    }
}

impl Effect {
    /// Calls `f` on its parts, and on those of inner effects.
    pub fn parts(&self, f: &mut dyn FnMut(Part)) {
        match self {
            Effect::Check { cond, values, .. } => {
                [cond].into_iter().chain(values).for_each(|n| f(Part::Node(*n)))
            }
            Effect::For(axis, body) => {
                f(Part::Axis(*axis));
                body.iter().for_each(|effect| effect.parts(f));
            }
            Effect::If(cond, then, otherwise) => {
                f(Part::Node(*cond));
                then.iter().chain(otherwise).for_each(|effect| effect.parts(f));
            }
        }
    }
}

impl Graph {
    /// Calls `f` on the parts of a definition; of a loop's state, on its first and next value.
    pub fn parts(&self, part: Part, f: &mut dyn FnMut(Part)) {
        match part {
            Part::Node(node) => self.node(node).parts(f),
            Part::Array(array) => match self.array(array) {
                Array::Carried(l, k) | Array::Final(l, k) => {
                    let carry = &self.loop_(*l).carries[*k as usize];
                    f(Part::Array(carry.init));
                    f(Part::Array(carry.next));
                    f(Part::Axis(self.loop_(*l).axis));
                }
                array => array.parts(f),
            },
            Part::Axis(axis) => f(Part::Node(self.axis(axis).extent)),
            Part::Loop(_) => {}
        }
    }

    /// The number of definitions that mention each node.
    pub fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.nodes.len()];
        let mut count = |part| match part {
            Part::Node(node) => uses[node.0 as usize] += 1,
            Part::Array(_) | Part::Axis(_) | Part::Loop(_) => {}
        };
        self.nodes.iter().for_each(|node| node.parts(&mut count));
        self.arrays.iter().for_each(|array| array.parts(&mut count));
        self.effects.iter().for_each(|effect| effect.parts(&mut count));
        uses
    }
}

impl Graph {
    /// Marks a definition as lazy: only branches that need it compute it.
    pub fn defer(&mut self, part: Part) {
        match part {
            Part::Node(node) => self.of_nodes[node.0 as usize].lazy = true,
            Part::Array(array) => self.of_arrays[array.0 as usize].lazy = true,
            Part::Axis(_) | Part::Loop(_) => {}
        }
    }
}
