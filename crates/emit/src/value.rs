//! Scalars of the graph: computed in place, or read from buffers.

use lambada_loops::{Buf, Operand};
use lambada_prim::{Prim, Scalar, ScalarTy};
use lambada_source::stack;

use super::{Copy, Emitter, Slot};
use lambada_graph::placed::{BufferId, Content};
use lambada_graph::{
    Array, ArrayId, AxisId, Node, NodeId, is_safe, is_safe_unchecked, runs_along, slides,
};

impl Emitter<'_> {
    /// A scalar, for one of the iterations that run at once.
    pub(super) fn node(&mut self, node: NodeId, copy: Copy) -> Operand {
        let graph = self.graph();
        let copy = copy.along(&self.tile, graph.free(node));
        match graph.node(node) {
            Node::Lit(value) => return Operand::Lit(*value),
            Node::Index(axis) => return self.index(*axis, copy),
            Node::Prim(..) | Node::Choose(..) | Node::At(..) | Node::Reduce(..) => {}
        }
        if let Some(known) = self.known_inside(node) {
            return Operand::Lit(Scalar::Bool(known));
        }
        if let Some(known) = self.code.known(node, copy) {
            return known;
        }
        let value = match self.found.get(&Content::Node(node)).copied() {
            Some(buffer) => self.read(buffer, copy),
            None => stack::deeper(|| self.compute(node, copy)),
        };
        self.code.know(node, copy, value);
        value
    }

    fn nodes(&mut self, nodes: &[NodeId], copy: Copy) -> Vec<Operand> {
        nodes.iter().map(|node| self.node(*node, copy)).collect()
    }

    fn compute(&mut self, node: NodeId, copy: Copy) -> Operand {
        let graph = self.graph();
        match graph.node(node) {
            Node::Lit(value) => Operand::Lit(*value),
            Node::Index(axis) => self.index(*axis, copy),
            Node::Prim(op, args) => {
                let args = self.nodes(args, copy);
                self.code.prim(*op, &args)
            }
            // Both sides are total.
            Node::Choose(c, a, b) => {
                let cond = self.node(*c, copy);
                if let Operand::Lit(Scalar::Bool(holds)) = cond {
                    return self.node(if holds { *a } else { *b }, copy);
                }
                let args = [cond, self.node(*a, copy), self.node(*b, copy)];
                let op = match graph.facts(node).elem {
                    ScalarTy::Real => Prim::Select,
                    ScalarTy::Int => Prim::SelectInt,
                    ScalarTy::Bool => Prim::SelectBool,
                };
                self.code.prim(op, &args)
            }
            Node::At(array, index) => {
                let known = self.state(*array, copy);
                let known = known.or_else(|| self.rotated(*array, index, copy));
                let known = known.or_else(|| self.inside_at(node, *array, copy));
                known.unwrap_or_else(|| self.at(*array, index, copy))
            }
            Node::Reduce(..) => unreachable!("a reduction is read from its buffer"),
        }
    }

    /// The index of an axis, one per lane.
    fn index(&mut self, axis: AxisId, copy: Copy) -> Operand {
        let bound = &self.axes[&axis];
        let (first, lanes) = (bound.copies[copy.of(&self.tile, axis)], bound.lanes);
        if lanes == 1 {
            return first;
        }
        let left = bound.left;
        let iota = self.code.iota(lanes);
        let iota = left.map_or(iota, |left| self.up_to_last(iota, left));
        self.code.prim(Prim::AddInt, &[first, iota])
    }

    /// The index of the first lane.
    pub(super) fn first(&self, axis: AxisId, copy: Copy) -> Operand {
        let bound = &self.axes[&axis];
        bound.copies[copy.of(&self.tile, axis)]
    }

    pub(super) fn lanes(&self, axis: AxisId) -> u16 {
        self.axes.get(&axis).map_or(1, |bound| bound.lanes)
    }

    // Arrays

    fn at(&mut self, array: ArrayId, index: &[NodeId], copy: Copy) -> Operand {
        let graph = self.graph();
        let slot = self.array(array);
        let (buf, since) = match slot {
            Slot::Scalar(value) => return value,
            Slot::Cell(cell) => return self.code.held(cell, self.since),
            Slot::Memory(buf) => {
                let given = matches!(graph.array(array), Array::Input(_) | Array::Constant(_));
                (buf, if given { 0 } else { self.since })
            }
        };
        // An array independent of all current indices is read as stored.
        let whole = graph.array_facts(array).free.is_empty() && slides(graph, array, index);
        if let (Array::Map(..), Some(id), false) =
            (graph.array(array), self.found.get(&Content::Array(array)).copied(), whole)
        {
            return self.part((array, id, buf), index, copy);
        }
        let dims = self.dims(array);
        let (at, contiguous) = self.indices(index, copy);
        let offset = self.offset(&at, &dims);
        let safe = if self.checking { is_safe_unchecked } else { is_safe };
        if safe(graph, array, index) {
            return self.load((buf, offset), contiguous, since);
        }
        if let Some(axis) = self.lane_of(index) {
            return self.slide((buf, &dims), index, axis, (copy, since));
        }
        let cond = self.in_range(&at, &dims);
        self.code.load_if(cond, buf, offset, since)
    }

    /// Indices, the last one that of the first lane if lanes are consecutive; and the number of
    /// lanes then.
    fn indices(&mut self, index: &[NodeId], copy: Copy) -> (Vec<Operand>, Option<u16>) {
        let graph = self.graph();
        let contiguous = self.lane_of(index).filter(|axis| runs_along(graph, index, *axis));
        let inner = index.split_last().map_or(&[][..], |(_, inner)| inner);
        let mut at = self.nodes(inner, copy);
        let last = index.last().expect("the array has axes");
        at.push(match contiguous {
            Some(axis) => self.first_lane(*last, axis, copy),
            None => self.node(*last, copy),
        });
        (at, contiguous.map(|axis| self.lanes(axis)))
    }

    fn in_range(&mut self, at: &[Operand], dims: &[Operand]) -> Operand {
        let mut cond = None;
        for (i, dim) in at.iter().zip(dims) {
            let low = self.code.prim(Prim::LeInt, &[Operand::int(0), *i]);
            let high = self.code.prim(Prim::LtInt, &[*i, *dim]);
            let both = self.code.prim(Prim::And, &[low, high]);
            cond = Some(cond.map_or(both, |cond| self.code.prim(Prim::And, &[cond, both])));
        }
        cond.unwrap_or(Operand::Lit(Scalar::Bool(true)))
    }

    /// An element of a stored array, for the current indices of the axes that it depends on.
    fn part(
        &mut self,
        (array, id, buf): (ArrayId, BufferId, Buf),
        index: &[NodeId],
        copy: Copy,
    ) -> Operand {
        let (axes, local) = {
            let buffer = self.placed.buffer(id);
            (buffer.axes.clone(), buffer.local)
        };
        let positions = self.placed.positions(array, id);
        let (mut at, mut dims, mut lanes) = (Vec::new(), Vec::new(), None);
        for (k, (axis, position)) in axes.iter().zip(&positions).enumerate() {
            let blocked = local && Some(*axis) == self.placed.block;
            dims.push(if blocked { self.block_len } else { self.extent(*axis) });
            let own = position.map_or(Some(*axis), |p| self.graph().index(index[p]));
            let lane = own.filter(|a| k + 1 == axes.len() && self.lanes(*a) > 1);
            let alone = |a: &AxisId| {
                let others = axes.iter().zip(&positions).take(k);
                !others.into_iter().any(|(axis, position)| match position {
                    Some(p) => self.graph().free(index[*p]).contains(*a),
                    None => axis == a,
                })
            };
            let lane = lane.filter(alone);
            lanes = lane.map(|a| self.lanes(a));
            let value = match (lane, position) {
                (Some(a), _) => self.first(a, copy),
                (None, Some(p)) => self.node(index[*p], copy),
                (None, None) => self.index(*axis, copy),
            };
            let start = self.block_start;
            at.push(if blocked { self.within(value, start) } else { value });
        }
        let offset = self.offset(&at, &dims);
        if is_safe(self.graph(), array, index) {
            return self.load((buf, offset), lanes, self.since);
        }
        let cond = self.in_range(&at, &dims);
        self.code.load_if(cond, buf, offset, self.since)
    }

    /// Row-major.
    pub(super) fn offset(&mut self, index: &[Operand], dims: &[Operand]) -> Operand {
        let mut offset = Operand::int(0);
        for (i, dim) in index.iter().zip(dims) {
            let row = self.code.int(Prim::MulInt, offset, *dim);
            offset = self.code.int(Prim::AddInt, row, *i);
        }
        offset
    }

    pub(super) fn product(&mut self, dims: &[Operand]) -> Operand {
        let one = Operand::int(1);
        dims.iter().fold(one, |all, dim| self.code.int(Prim::MulInt, all, *dim))
    }

    /// The sizes of an array.
    pub(super) fn dims(&mut self, array: ArrayId) -> Vec<Operand> {
        let graph = self.graph();
        match graph.array(array) {
            Array::Input(k) => {
                graph.inputs[*k as usize].dims.iter().map(|d| self.node(*d, Copy::FIRST)).collect()
            }
            Array::Constant(k) => {
                let dims = &graph.constants[*k as usize].dims;
                dims.iter().map(|d| Operand::int(*d as i64)).collect()
            }
            Array::Items(items) => vec![Operand::int(items.len() as i64)],
            Array::Map(axes, _) => axes.iter().map(|axis| self.extent(*axis)).collect(),
            Array::Scatter(init, _) => self.dims(*init),
            // States are scalars.
            Array::Carried(..) | Array::Final(..) => Vec::new(),
            Array::Update(..) => unreachable!("updates are not placed"),
        }
    }

    pub(super) fn extent(&mut self, axis: AxisId) -> Operand {
        self.node(self.graph().axis(axis).extent, Copy::FIRST)
    }

    // Buffers

    /// The offset of the buffer's element at the current indices, and the number of consecutive
    /// lanes from there.
    pub(super) fn place(&mut self, id: BufferId, copy: Copy) -> (Operand, Option<u16>) {
        let local = self.placed.buffer(id).local;
        let (axes, dims) = (self.held(id), self.held_sizes(id));
        let mut index = Vec::new();
        let mut consecutive = None;
        for (k, axis) in axes.iter().enumerate() {
            let (is_last, lanes) = (k + 1 == axes.len(), self.lanes(*axis));
            let blocked = local && Some(*axis) == self.placed.block;
            let global = match (is_last, lanes) {
                (true, 2..) => {
                    consecutive = Some(lanes);
                    self.first(*axis, copy)
                }
                (_, _) => self.index(*axis, copy),
            };
            index.push(if blocked {
                let start = self.block_start;
                // In the block, the index counts from the block's start.
                self.within(global, start)
            } else {
                global
            });
        }
        (self.offset(&index, &dims), consecutive)
    }

    /// The sizes of a buffer in memory.
    pub(super) fn held_sizes(&mut self, id: BufferId) -> Vec<Operand> {
        let local = self.placed.buffer(id).local;
        let blocked = |axis: AxisId| local && Some(axis) == self.placed.block;
        let (axes, len) = (self.held(id), self.block_len);
        axes.into_iter().map(|a| if blocked(a) { len } else { self.extent(a) }).collect()
    }

    /// The distance between a buffer's elements for neighbors along an axis.
    pub(super) fn row(&mut self, id: BufferId, axis: AxisId) -> Operand {
        let sizes = self.held_sizes(id);
        let position = self.held(id).iter().position(|own| *own == axis);
        let position = position.expect("it is an axis of the buffer");
        self.product(&sizes[position + 1..])
    }

    fn within(&mut self, index: Operand, start: Operand) -> Operand {
        self.code.int(Prim::SubInt, index, start)
    }

    fn read(&mut self, id: BufferId, copy: Copy) -> Operand {
        match self.slots[id.0 as usize] {
            Slot::Scalar(value) => value,
            Slot::Cell(cell) => self.code.held(cell, self.since),
            Slot::Memory(buf) => {
                let (at, consecutive) = self.place(id, copy);
                self.load((buf, at), consecutive, self.since)
            }
        }
    }
}
