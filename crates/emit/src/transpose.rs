//! Elements that are consecutive along one axis in an array and along another, that of the lanes,
//! in a buffer. Each lane would read from a row of its own; instead a block of rows is transposed
//! at once.

use lambada_loops::{Buf, Operand, Step};
use lambada_prim::{Prim, Scalar, ScalarTy};

use super::{Bound, Copy, Emitter, Slot};
use lambada_graph::placed::{BufferId, Item, Nest};
use lambada_graph::{Array, ArrayId, AxisId, Mechanism, Node, NodeId, is_safe, runs_along};

/// A transposition that a nest amounts to.
struct Turned<'a> {
    /// The axis along which the elements are consecutive.
    inner: AxisId,
    /// The axis of the lanes, and its position among the indices.
    outer: (AxisId, usize),
    array: ArrayId,
    from: Buf,
    index: &'a [NodeId],
    to: (BufferId, Buf),
}

impl<'a> Emitter<'a> {
    /// Emits a nest for a block as a transposition, if it is one.
    pub(super) fn transposed(&mut self, nest: &Nest, first: usize) -> bool {
        let Some(turned) = self.turned(nest, first) else { return false };
        let Turned { inner, outer: (outer, position), array, from, index, to: (id, to) } = turned;
        let (start, end) = self.range(outer);
        let rows = self.code.int(Prim::SubInt, end, start);
        let cols = self.extent(inner);
        for (axis, first) in [(outer, start), (inner, Operand::int(0))] {
            self.axes.insert(axis, Bound { copies: vec![first], lanes: 1, left: None });
        }
        let dims = self.dims(array);
        let at: Vec<Operand> = index.iter().map(|i| self.node(*i, Copy::FIRST)).collect();
        let from_at = self.offset(&at, &dims);
        let from_row = self.product(&dims[position + 1..]);
        let (to_at, _) = self.place(id, Copy::FIRST);
        let to_row = self.row(id, inner);
        let [from, to] = [(from, from_at), (to, to_at)].map(|(base, offset)| {
            let elem = self.code.function.bufs[base.0 as usize].0;
            let buf = self.code.function.buf(elem, "block");
            self.code.push(Step::View { buf, base, offset });
            buf
        });
        let lanes = self.lanes;
        self.code.push(Step::Transpose { to, to_row, from, from_row, rows, cols, lanes });
        // Computed values belong to the first indices.
        let graph = self.graph();
        self.code.forget(&|node| [inner, outer].iter().any(|a| graph.free(node).contains(*a)));
        true
    }

    fn turned(&self, nest: &Nest, first: usize) -> Option<Turned<'a>> {
        let graph = self.graph();
        let [a, b] = nest.axes.get(first..)? else { return None };
        let outer = nest.vector?;
        let inner = if *a == outer { *b } else { *a };
        let plain = nest.whole.is_empty() && nest.carries.is_empty() && nest.guard.is_none();
        let [item @ Item::Store(id)] = nest.items[..] else { return None };
        let (Slot::Memory(to), Node::At(array, index)) =
            (self.slots[id.0 as usize], graph.node(self.placed.value(item)?))
        else {
            return None;
        };
        let (Array::Input(k), true) =
            (graph.array(*array), is_safe(graph, *array, index) && runs_along(graph, index, inner))
        else {
            return None;
        };
        let Slot::Memory(from) = self.inputs[*k as usize] else { return None };
        let position = index.iter().position(|i| graph.index(*i) == Some(outer))?;
        let mut others = index.iter().enumerate().filter(|(k, _)| *k != position);
        let once = !others.any(|(_, i)| graph.free(*i).contains(outer));
        // A few columns are read just as fast one by one.
        let few = matches!(graph.lit(graph.axis(inner).extent), Some(Scalar::Int(n)) if n < i64::from(self.lanes));
        let numbers = graph.inputs[*k as usize].elem != ScalarTy::Bool;
        let in_lanes = self.held(id).last() == Some(&outer);
        let fits = plain && once && !few && numbers && in_lanes;
        (fits
            && self.lanes > 1
            && self.part_of == Some(outer)
            && self.mechanisms.has(Mechanism::Transposes))
        .then_some(Turned {
            inner,
            outer: (outer, position),
            array: *array,
            from,
            index,
            to: (id, to),
        })
    }
}
