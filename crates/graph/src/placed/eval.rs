//! The evaluator: `⟦placed⟧ : tensors → tensors`, for blocks of any size. The graph has the checks.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use lambada_prim::{Data, Scalar, Tensor};
use lambada_source::stack;

use super::{BufferId, Content, Direction, Item, Nest, Placed};
use crate::{Array, ArrayId, AxisId, LoopId, Node, NodeId};

/// The outputs of a program whose checks hold, in blocks of this length.
pub fn eval(placed: &Placed, args: &[Tensor], block: i64) -> Vec<Tensor> {
    let mut machine = Machine {
        placed,
        args: args.iter().map(|a| Rc::new(a.clone())).collect(),
        buffers: vec![None; placed.buffers.len()],
        at: vec![0; placed.graph.axes.len()],
        down: None,
        found: FxHashMap::default(),
        known: FxHashMap::default(),
        states: FxHashMap::default(),
    };
    for pass in &placed.passes {
        let axis = placed.block.filter(|_| pass.blocked);
        let Some(axis) = axis else {
            pass.nests.iter().for_each(|nest| machine.nest(nest, &[]));
            continue;
        };
        let extent = machine.extent(axis);
        let mut start = 0;
        // A pass without indices makes the units of its reductions.
        loop {
            let end = extent.min(start + block);
            for (group, nests) in pass.groups() {
                machine.group(group.and(placed.batch), nests, (axis, start, end));
            }
            start = end;
            if start >= extent {
                break;
            }
        }
    }
    let outputs = placed.outputs.iter().zip(&placed.graph.outputs);
    outputs.map(|(id, output)| machine.result(*id, output.array)).collect()
}

/// An axis, its first index, and its end.
type Indices = (AxisId, i64, i64);

struct Machine<'a> {
    placed: &'a Placed,
    args: Vec<Rc<Tensor>>,
    /// Buffers, local ones in full length too; elements outside of the block are never read.
    buffers: Vec<Option<Tensor>>,
    at: Vec<i64>,
    /// The axis that the nest runs through from the last index on.
    down: Option<AxisId>,
    found: FxHashMap<Content, BufferId>,
    known: FxHashMap<NodeId, Scalar>,
    /// The states of the loops that the nest runs, for the indices of the other axes.
    states: FxHashMap<(LoopId, u32), Scalar>,
}

impl Machine<'_> {
    fn extent(&mut self, axis: AxisId) -> i64 {
        let (found, known) = (std::mem::take(&mut self.found), std::mem::take(&mut self.known));
        let extent = self.node(self.placed.graph.axis(axis).extent).int().max(0);
        (self.found, self.known) = (found, known);
        extent
    }

    /// An output, which may be a matrix row by row.
    fn result(&mut self, id: BufferId, array: ArrayId) -> Tensor {
        let mut tensor = (*self.whole(id)).clone();
        if let Some((axes, _)) = self.placed.graph.elements(array)
            && axes.len() != tensor.dims.len()
        {
            tensor.dims = axes.iter().map(|axis| self.extent(*axis).max(0) as usize).collect();
        }
        tensor
    }

    fn whole(&self, id: BufferId) -> Rc<Tensor> {
        Rc::new(self.buffers[id.0 as usize].clone().expect("it has been written"))
    }

    fn given(&self, array: ArrayId) -> Option<Rc<Tensor>> {
        match self.placed.graph.array(array) {
            Array::Input(k) => Some(self.args[*k as usize].clone()),
            Array::Constant(k) => Some(self.placed.graph.constants[*k as usize].clone()),
            Array::Items(_)
            | Array::Map(..)
            | Array::Scatter(..)
            | Array::Update(..)
            | Array::Carried(..)
            | Array::Final(..) => None,
        }
    }

    fn prepare(&mut self, item: Item) {
        let id = item.buffer();
        if self.buffers[id.0 as usize].is_some() {
            return;
        }
        let graph = &self.placed.graph;
        let buffer = self.placed.buffer(id).clone();
        let dims = buffer.axes.iter().map(|axis| self.extent(*axis) as usize).collect();
        let (elem, unit) = match buffer.content {
            Content::Node(node) => {
                let elem = graph.facts(node).elem;
                (elem, graph.reduction(node).map(|(op, _, _)| op.unit(elem)))
            }
            Content::Array(array) => (graph.array_facts(array).elem, None),
        };
        let mut tensor = Tensor::zeros(elem, dims);
        if let Some(unit) = unit {
            (0..tensor.data.len()).for_each(|k| tensor.data.set(k, unit));
        }
        if let Content::Array(array) = buffer.content
            && let Some(given) = graph.added_in_place(array).and_then(|init| self.given(init))
        {
            tensor = (*given).clone();
        }
        self.buffers[id.0 as usize] = Some(tensor);
    }

    /// Nests of a block, along an axis if they run together.
    fn group(&mut self, axis: Option<AxisId>, nests: &[Nest], block: Indices) {
        let Some(axis) = axis else {
            return nests.iter().for_each(|nest| self.nest(nest, &[block]));
        };
        nests.iter().flat_map(|nest| &nest.items).for_each(|item| self.prepare(*item));
        for k in 0..self.extent(axis) {
            nests.iter().for_each(|nest| self.nest(nest, &[block, (axis, k, k + 1)]));
        }
    }

    fn nest(&mut self, nest: &Nest, limits: &[Indices]) {
        nest.items.iter().for_each(|item| self.prepare(*item));
        self.found = self.placed.found(nest).into_iter().collect();
        self.down = nest.axes.last().copied().filter(|_| nest.direction == Some(Direction::Down));
        if !nest.carries.is_empty() {
            return self.carried(nest, limits);
        }
        self.run(&nest.axes, limits, &mut |machine| {
            machine.known.clear();
            if nest.guard.is_some_and(|(cond, holds)| machine.node(cond).bool() != holds) {
                return;
            }
            nest.items.iter().for_each(|item| machine.item(*item));
        });
    }

    /// A nest that runs loops: for each combination of the other indices, one iteration after the
    /// other.
    fn carried(&mut self, nest: &Nest, limits: &[Indices]) {
        let placed = self.placed;
        let Some((axis, outer)) = nest.axes.split_last() else { return };
        let values = |machine: &mut Self, first: bool| {
            machine.known.clear();
            let mut states = FxHashMap::default();
            for l in &nest.carries {
                for (k, (init, next)) in (0..).zip(placed.states(*l)) {
                    states.insert((*l, k), machine.node(if first { init } else { next }));
                }
            }
            states
        };
        self.run(outer, limits, &mut |machine| {
            let first = values(machine, true);
            machine.states = first;
            for k in 0..machine.extent(*axis) {
                machine.at[axis.0 as usize] = k;
                machine.known.clear();
                if nest.guard.is_none_or(|(cond, holds)| machine.node(cond).bool() == holds) {
                    let last = |item: &&Item| matches!(item, Item::Last(_));
                    nest.items.iter().filter(|i| !last(i)).for_each(|item| machine.item(*item));
                }
                let next = values(machine, false);
                machine.states = next;
            }
            for item in &nest.items {
                let Some(state) = placed.last(*item) else { continue };
                let (at, value) = (machine.offset(item.buffer()), machine.states[&state]);
                machine.set(item.buffer(), at, value);
            }
        });
        self.states.clear();
    }

    fn run(&mut self, axes: &[AxisId], limits: &[Indices], f: &mut dyn FnMut(&mut Self)) {
        let [axis, inner @ ..] = axes else { return f(self) };
        let limit = limits.iter().find(|(own, _, _)| own == axis);
        let (start, end) = match limit {
            Some((_, start, end)) => (*start, *end),
            None => (0, self.extent(*axis)),
        };
        for k in start..end {
            let k = if self.down == Some(*axis) { start + end - 1 - k } else { k };
            self.at[axis.0 as usize] = k;
            self.run(inner, limits, f);
        }
    }

    fn offset(&mut self, id: BufferId) -> usize {
        let axes = &self.placed.buffer(id).axes;
        let dims = &self.buffers[id.0 as usize].as_ref().expect("prepared").dims;
        axes.iter()
            .zip(dims)
            .fold(0, |at, (axis, dim)| at * dim + self.at[axis.0 as usize] as usize)
    }

    fn set(&mut self, id: BufferId, at: usize, value: Scalar) {
        self.buffers[id.0 as usize].as_mut().expect("prepared").data.set(at, value);
    }

    fn data(&self, id: BufferId) -> &Data {
        &self.buffers[id.0 as usize].as_ref().expect("prepared").data
    }

    fn item(&mut self, item: Item) {
        let (id, graph) = (item.buffer(), &self.placed.graph);
        let value = self.placed.value(item);
        match (item, self.placed.buffer(id).content) {
            (Item::Store(_), _) => {
                let value = value.map(|value| self.node(value)).expect("a value");
                let at = self.offset(id);
                self.set(id, at, value);
            }
            (Item::Reduce(_), Content::Node(node)) => {
                let (op, _, _) = graph.reduction(node).expect("a reduction");
                let value = value.map(|value| self.node(value)).expect("a value");
                let at = self.offset(id);
                let old = self.data(id).get(at);
                self.set(id, at, op.prim(value.ty()).eval(&[old, value]));
            }
            (Item::List(_), Content::Array(array)) => {
                let Array::Items(items) = graph.array(array) else { return };
                let values: Vec<Scalar> = items.iter().map(|node| self.node(*node)).collect();
                let mut tensor = Tensor::zeros(graph.array_facts(array).elem, vec![values.len()]);
                values.iter().enumerate().for_each(|(k, value)| tensor.data.set(k, *value));
                self.buffers[id.0 as usize] = Some(tensor);
            }
            (Item::Copy(_), Content::Array(array)) => {
                let Array::Scatter(init, _) = graph.array(array) else { return };
                let from = self.given(*init);
                let from = from.unwrap_or_else(|| self.whole(self.found[&Content::Array(*init)]));
                self.buffers[id.0 as usize] = Some((*from).clone());
            }
            (Item::Add(_, k), Content::Array(array)) => {
                let Array::Scatter(_, terms) = graph.array(array) else { return };
                let term = &terms[k as usize];
                if term.when.is_some_and(|when| !self.node(when).bool()) {
                    return;
                }
                let index: Vec<i64> = term.index.iter().map(|i| self.node(*i).int()).collect();
                let value = self.node(term.value);
                let dims = self.buffers[id.0 as usize].as_ref().expect("prepared").dims.clone();
                let at = place(&dims, &index).expect("what is added to is in range");
                let old = self.data(id).get(at);
                let add = lambada_prim::ReduceOp::Add.prim(value.ty());
                self.set(id, at, add.eval(&[old, value]));
            }
            (Item::Last(_), _)
            | (Item::Reduce(_), Content::Array(_))
            | (Item::List(_) | Item::Copy(_) | Item::Add(..), Content::Node(_)) => {}
        }
    }

    fn node(&mut self, id: NodeId) -> Scalar {
        if let Some(buffer) = self.found.get(&Content::Node(id)).copied() {
            let at = self.offset(buffer);
            return self.data(buffer).get(at);
        }
        if let Some(value) = self.known.get(&id) {
            return *value;
        }
        let value = stack::deeper(|| self.compute(id));
        self.known.insert(id, value);
        value
    }

    fn compute(&mut self, id: NodeId) -> Scalar {
        let graph = &self.placed.graph;
        match graph.node(id) {
            Node::Lit(value) => *value,
            Node::Index(axis) => Scalar::Int(self.at[axis.0 as usize]),
            Node::Prim(op, args) => {
                let args: Vec<Scalar> = args.iter().map(|arg| self.node(*arg)).collect();
                op.eval(&args)
            }
            Node::Choose(c, a, b) => {
                let taken = if self.node(*c).bool() { a } else { b };
                self.node(*taken)
            }
            Node::At(array, index) => {
                if let Array::Carried(l, k) = graph.array(*array)
                    && let Some(state) = self.states.get(&(*l, *k))
                {
                    return *state;
                }
                let index: Vec<i64> = index.iter().map(|i| self.node(*i).int()).collect();
                let zero = graph.facts(id).elem.zero();
                let (from, index) = match self.given(*array) {
                    Some(from) => (from, index),
                    None => {
                        let buffer = self.found[&Content::Array(*array)];
                        let axes = &self.placed.buffer(buffer).axes;
                        let at = |k: usize| self.at[axes[k].0 as usize];
                        let positions = self.placed.positions(*array, buffer);
                        let index =
                            |(k, p): (usize, Option<usize>)| p.map_or_else(|| at(k), |p| index[p]);
                        let index = positions.into_iter().enumerate().map(index).collect();
                        (self.whole(buffer), index)
                    }
                };
                place(&from.dims, &index).map_or(zero, |at| from.data.get(at))
            }
            Node::Reduce(..) => unreachable!("a reduction is read from its buffer"),
        }
    }
}

/// The offset of an element, if it is in range.
fn place(dims: &[usize], index: &[i64]) -> Option<usize> {
    let mut at = 0;
    for (i, dim) in index.iter().zip(dims) {
        let i = usize::try_from(*i).ok().filter(|i| i < dim)?;
        at = at * dim + i;
    }
    Some(at)
}
