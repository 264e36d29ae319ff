//! Index-set splitting. Along an axis of lanes, the few indices near the ends that boundary
//! conditions test (`i == 0`, `i + 1 < n`, `x[i - 1]`) are separated from the interior. In the
//! interior, boundary conditions are constant and neighbors exist, so its code has no masks, no
//! selections and no branches. All other indices share one more loop, which also serves as the loop
//! for the remainder with too few indices for all lanes. So splitting adds no code.

use std::collections::BTreeMap;

use lambada_loops::{Mode, Nest as Loops, Operand, Ty};
use lambada_prim::{Prim, Scalar, ScalarTy};
use rustc_hash::{FxHashMap, FxHashSet};

use super::stride::Stride;
use super::sums::Sum;
use super::{Copy, Emitter, Slot};
use lambada_graph::placed::{Content, Direction, Nest, Placed};
use lambada_graph::{
    Affine, Array, ArrayId, Axes, AxisId, Graph, Node, NodeId, fits, is_safe, runs_along, sizes,
    slides,
};

/// Maximal distance of a boundary from an end. An index further away may be in the middle.
const NEAR: i64 = 64;

/// Facts about the interior of a nest's axes.
#[derive(Default)]
pub(crate) struct Interior {
    /// Comparisons of an index with an end of its axis.
    holds: FxHashMap<NodeId, bool>,
    /// The nodes that depend on these comparisons.
    affected: FxHashSet<NodeId>,
    /// Elements that are consecutive and in range, with their indices in the interior.
    elements: FxHashMap<NodeId, Vec<Affine>>,
    /// The bounds of the interior, by axis.
    ends: BTreeMap<AxisId, Ends>,
    /// Indices of arrays, with their sizes, that all lanes share. They are in range, too.
    shared: Vec<(Affine, NodeId)>,
}

/// The indices from `low` to `extent - high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends {
    low: i64,
    high: i64,
}

impl Ends {
    const ALL: Ends = Ends { low: 0, high: 1 };
}

impl Interior {
    /// The interior of a nest, if boundaries along the axis of its lanes matter.
    pub(crate) fn of(placed: &Placed, nest: &Nest) -> Option<Interior> {
        let vector = nest.vector?;
        let depth = nest.axes.iter().position(|axis| *axis == vector)?;
        let outer = nest.axes[..depth].iter().copied().filter(|axis| !nest.whole.contains(axis));
        let mut search = Search {
            placed,
            found: placed.found(nest).into_iter().map(|(content, _)| content).collect(),
            vector,
            outer: outer.collect(),
            own: placed.own_arrays(nest).into_iter().map(|(array, _)| array).collect(),
            visited: FxHashMap::default(),
            interior: Interior::default(),
        };
        search.all(&placed.computed(nest));
        let interior = search.interior;
        interior.ends.get(&vector).is_some_and(|ends| *ends != Ends::ALL).then_some(interior)
    }

    fn restrict(&mut self, axis: AxisId, ends: Ends) {
        let known = self.ends.entry(axis).or_insert(Ends::ALL);
        *known = Ends { low: known.low.max(ends.low), high: known.high.max(ends.high) };
    }

    /// The value of a condition, if known.
    fn truth(&self, graph: &Graph, node: NodeId) -> Option<bool> {
        if let Some(Scalar::Bool(value)) = graph.lit(node) {
            return Some(value);
        }
        if let Some(value) = self.holds.get(&node) {
            return Some(*value);
        }
        let either = |cond, a, b| self.truth(graph, if self.truth(graph, cond)? { a } else { b });
        if let Some((cond, a, b)) = graph.choice(node) {
            return either(cond, a, b);
        }
        match graph.operation(node)? {
            (Prim::SelectBool, [cond, a, b]) => either(*cond, *a, *b),
            (Prim::Not, [a]) => self.truth(graph, *a).map(|value| !value),
            (Prim::And | Prim::Or, [a, b]) if self.affected.contains(&node) => {
                let absorbing = matches!(graph.operation(node), Some((Prim::Or, _)));
                let (a, b) = (self.truth(graph, *a), self.truth(graph, *b));
                match (a, b) {
                    (Some(one), _) | (_, Some(one)) if one == absorbing => Some(absorbing),
                    (Some(a), Some(_)) => Some(a),
                    (_, _) => None,
                }
            }
            _ => None, // a computed one
        }
    }
}

/// The search for boundaries in the computation of a nest.
struct Search<'a> {
    placed: &'a Placed,
    found: FxHashSet<Content>,
    vector: AxisId,
    outer: Vec<AxisId>,
    /// Arrays with elements in registers.
    own: Vec<ArrayId>,
    /// By node: whether it depends on comparisons with ends.
    visited: FxHashMap<NodeId, bool>,
    interior: Interior,
}

impl<'a> Search<'a> {
    fn graph(&self) -> &'a Graph {
        &self.placed.graph
    }

    fn node(&mut self, node: NodeId) -> bool {
        if let Some(known) = self.visited.get(&node) {
            return *known;
        }
        if self.found.contains(&Content::Node(node)) {
            return false;
        }
        let affected = lambada_source::stack::deeper(|| self.parts(node));
        self.visited.insert(node, affected);
        if affected {
            self.interior.affected.insert(node);
        }
        affected
    }

    fn parts(&mut self, node: NodeId) -> bool {
        let graph = self.graph();
        if let Some((op, args)) = graph.operation(node) {
            let Some((holds, axis, ends)) = self.boundary(op, args) else { return self.all(args) };
            self.interior.holds.insert(node, holds);
            self.interior.restrict(axis, ends);
            return true;
        }
        if let Some((cond, then, otherwise)) = graph.choice(node) {
            let affected = self.node(cond);
            return match self.interior.truth(graph, cond) {
                Some(holds) => self.node(if holds { then } else { otherwise }) || affected,
                None => self.all(&[then, otherwise]) || affected,
            };
        }
        let Node::At(array, index) = graph.node(node) else { return false };
        let affected = self.all(index);
        !self.own.contains(array) && self.element(node, *array, index) || affected
    }

    fn all(&mut self, nodes: &[NodeId]) -> bool {
        let mut any = false;
        nodes.iter().for_each(|node| any |= self.node(*node));
        any
    }

    /// Whether the axis has one current index, or is that of the lanes.
    fn is_bound(&self, axis: AxisId) -> bool {
        axis == self.vector || self.outer.contains(&axis)
    }

    /// A comparison of an index with an end of its axis: its value in the interior, and the bounds
    /// of the interior.
    fn boundary(&self, op: Prim, args: &[NodeId]) -> Option<(bool, AxisId, Ends)> {
        let [a, b] = args else { return None };
        // The results for a negative and for a positive difference.
        let (negative, positive) = match op {
            Prim::EqInt => (false, false),
            Prim::NeInt => (true, true),
            Prim::LtInt | Prim::LeInt => (true, false),
            _ => return None,
        };
        let graph = self.graph();
        let (is_positive, axis, ends) =
            self.sign(&Affine::of(graph, *a), &Affine::of(graph, *b))?;
        Some((if is_positive { positive } else { negative }, axis, ends))
    }

    /// Whether the difference of an index and an end of its axis is positive in the interior; else
    /// it is negative. Also the bounds of the interior.
    fn sign(&self, a: &Affine, b: &Affine) -> Option<(bool, AxisId, Ends)> {
        let graph = self.graph();
        let (axis, times, rest) = self.one_axis(&a.plus(-1, b))?;
        if !a.is_along(graph, axis) || !b.is_along(graph, axis) {
            return None;
        }
        let above = Affine::default().plus(times, &rest);
        if let Some((least, _)) = self.near(&above) {
            // times · (index + more), of an index near the lower end.
            return Some((times == 1, axis, Ends { low: 1 - least, ..Ends::ALL }));
        }
        let extent = Affine::extent(graph, axis);
        let (_, most) = self.near(&above.plus(1, &extent))?;
        // times · (index + more - extent), of an index near the upper end.
        Some((times == -1, axis, Ends { high: most + 1, ..Ends::ALL }))
    }

    /// The axis whose index is a term, its sign, and the rest. The term is the only one of a bound
    /// axis; other axes must be short.
    fn one_axis(&self, sum: &Affine) -> Option<(AxisId, i64, Affine)> {
        let (axes, _) = sum.axes(self.graph());
        let mut bound = axes.into_iter().filter(|(axis, _)| self.is_bound(*axis));
        let (axis, times @ (1 | -1)) = bound.next()? else { return None };
        let own = sum.terms().find(|(term, _)| self.graph().index(*term) == Some(axis));
        let rest = sum.plus(-times, &Affine::of(self.graph(), own?.0));
        bound.next().is_none().then_some((axis, times, rest))
    }

    /// The least and the greatest value of a constant plus indices of short axes, which inner loops
    /// run through; both small.
    fn near(&self, sum: &Affine) -> Option<(i64, i64)> {
        let graph = self.graph();
        let (mut least, mut most) = (sum.constant, sum.constant);
        for (term, times) in sum.terms() {
            let extent = graph.lit(graph.axis(graph.index(term)?).extent)?.int();
            let last = times.checked_mul(extent.max(1) - 1)?;
            least = least.checked_add(last.min(0))?;
            most = most.checked_add(last.max(0))?;
        }
        (is_near(least) && is_near(most)).then_some((least, most))
    }

    /// Whether the interior has elements that lanes read at once only there.
    fn element(&mut self, node: NodeId, array: ArrayId, index: &[NodeId]) -> bool {
        let (graph, vector) = (self.graph(), self.vector);
        let is_safe = is_safe(graph, array, index);
        if !slides(graph, array, index) || is_safe && runs_along(graph, index, vector) {
            return false;
        }
        let Some(sizes) = sizes(graph, array) else { return false };
        let (mut ends, mut shared) = (Vec::new(), Vec::new());
        let inside: Vec<Affine> = index.iter().map(|i| self.inside(*i, &mut ends)).collect();
        let lanes = |i: &Affine| i.terms().any(|(term, _)| graph.free(term).contains(vector));
        let Some((last, others)) = inside.split_last() else { return false };
        let along = last.along(graph, &Axes::one(vector)).is_some_and(|(times, ..)| times == 1);
        if !along || others.iter().any(lanes) {
            return false;
        }
        for (k, (i, size)) in index.iter().zip(&sizes).enumerate() {
            let checked = graph.checked.contains(&(*i, *size));
            if is_safe || checked || fits(graph, array, (k, *i), *size) {
                continue;
            }
            match self.offset(&inside[k], *size) {
                Some(near) => ends.push(near),
                None if self.is_shared(&inside[k]) => shared.push((inside[k].clone(), *size)),
                None => return false,
            }
        }
        ends.into_iter().for_each(|(axis, ends)| self.interior.restrict(axis, ends));
        shared.retain(|pair| !self.interior.shared.contains(pair));
        self.interior.shared.extend(shared);
        self.interior.elements.insert(node, inside);
        true
    }

    /// The index in the interior, which may shrink for it.
    fn inside(&self, node: NodeId, ends: &mut Vec<(AxisId, Ends)>) -> Affine {
        let graph = self.graph();
        if let Some((cond, a, b)) = graph.choice(node)
            && let Some(holds) = self.interior.truth(graph, cond)
        {
            return self.inside(if holds { a } else { b }, ends);
        }
        let Some((op, args)) = graph.operation(node) else { return Affine::of(graph, node) };
        match (op, args) {
            (Prim::AddInt, [a, b]) => self.inside(*a, ends).plus(1, &self.inside(*b, ends)),
            (Prim::SubInt, [a, b]) => self.inside(*a, ends).plus(-1, &self.inside(*b, ends)),
            (Prim::SelectInt, [c, a, b]) => match self.interior.truth(graph, *c) {
                Some(holds) => self.inside(if holds { *a } else { *b }, ends),
                None => Affine::of(graph, node),
            },
            (Prim::MinInt | Prim::MaxInt, [a, b]) => {
                let (a, b) = (self.inside(*a, ends), self.inside(*b, ends));
                let Some((first_is_larger, axis, near)) = self.sign(&a, &b) else {
                    return Affine::of(graph, node);
                };
                ends.push((axis, near));
                if first_is_larger == (op == Prim::MaxInt) { a } else { b }
            }
            (Prim::RemInt, [a, b]) => {
                let a = self.inside(*a, ends);
                // At most one wrap around.
                for rest in [a.clone(), a.plus(-1, &Affine::of(graph, *b))] {
                    if let Some(near) = self.offset(&rest, *b) {
                        ends.push(near);
                        return rest;
                    }
                }
                Affine::of(graph, node)
            }
            _ => Affine::of(graph, node), // a product, or no sum
        }
    }

    /// The interior in which `index`, the index of an axis plus a small offset, is from 0 to `size
    /// - 1`, if the axis has about as many indices.
    fn offset(&self, index: &Affine, size: NodeId) -> Option<(AxisId, Ends)> {
        let graph = self.graph();
        let (axis, 1, more) = self.one_axis(index)? else { return None };
        let (least, most) = self.near(&more)?;
        let extent = Affine::extent(graph, axis);
        let larger = Affine::of(graph, size).plus(-1, &extent).known().filter(|k| is_near(*k))?;
        Some((axis, Ends { low: -least, high: most - larger + 1 }))
    }

    /// Whether it is a sum of sizes and of indices that all lanes share.
    fn is_shared(&self, index: &Affine) -> bool {
        let graph = self.graph();
        index.terms().all(|(term, _)| match graph.index(term) {
            Some(axis) => self.outer.contains(&axis),
            None => graph.free(term).is_empty() && !matches!(graph.node(term), Node::Choose(..)),
        })
    }
}

fn is_near(distance: i64) -> bool {
    (-NEAR..=NEAR).contains(&distance)
}

impl Emitter<'_> {
    /// The value of a condition in the interior, if known.
    pub(super) fn known_inside(&self, node: NodeId) -> Option<bool> {
        self.interior.as_ref().and_then(|interior| interior.holds.get(&node).copied())
    }

    /// An element of an array that lanes read at once.
    pub(super) fn inside_at(
        &mut self,
        node: NodeId,
        array: ArrayId,
        copy: Copy,
    ) -> Option<Operand> {
        let index = self.interior.as_ref()?.elements.get(&node)?.clone();
        let (Slot::Memory(buf), Some(vector)) = (self.array(array), self.vector()) else {
            return None;
        };
        let at: Vec<Operand> = index.iter().map(|i| self.sum(i, vector, copy)).collect();
        let dims = self.dims(array);
        let offset = self.offset(&at, &dims);
        let given = matches!(self.graph().array(array), Array::Input(_) | Array::Constant(_));
        let since = if given { 0 } else { self.since };
        Some(self.load((buf, offset), Some(self.lanes), since))
    }

    /// The axis of the lanes.
    fn vector(&self) -> Option<AxisId> {
        self.axes.iter().find(|(_, bound)| bound.lanes > 1).map(|(axis, _)| *axis)
    }

    /// The loops over an axis of lanes, with those over its interior separated. Returns false if
    /// the known extent is too short for that.
    pub(super) fn ends_apart(
        &mut self,
        nest: &Nest,
        depth: usize,
        interior: Interior,
        strides: &[Stride],
        sums: &mut Vec<Sum>,
    ) -> bool {
        let axis = nest.axes[depth];
        let (start, end) = self.range(axis);
        let Ends { low, high } = interior.ends[&axis];
        let lanes = i64::from(self.lanes);
        // Whole vectors from the start on, so that memory is aligned as in the unsplit loop.
        let before = self.code.int(Prim::SubInt, Operand::int(low), start);
        let before = self.code.int(Prim::MaxInt, before, Operand::int(0));
        let above = self.code.int(Prim::AddInt, before, Operand::int(lanes - 1));
        let before = self.code.int(Prim::BitAnd, above, Operand::int(-lanes));
        let first = self.code.int(Prim::AddInt, start, before);
        let extent = self.extent(axis);
        let last = self.code.int(Prim::SubInt, extent, Operand::int(high - 1));
        let last = self.code.int(Prim::MinInt, last, end);
        if let (Operand::Lit(first), Operand::Lit(last)) = (first, last)
            && first.int() + lanes > last.int()
        {
            return false;
        }
        let last = match self.around(&interior, axis) {
            Some(inside) => self.code.prim(Prim::SelectInt, &[inside, last, first]),
            None => last,
        };
        let mut loops = Vec::new();
        let mut from = first;
        for stride in strides {
            let to = self.whole(from, last, stride.len());
            loops.push((from, to, *stride));
            from = to;
        }
        let down = self.direction(nest, depth) == Some(Direction::Down);
        if first == start {
            if down {
                self.outside(nest, depth, (from, end), sums);
            }
            self.inside(nest, depth, interior, &loops, sums);
            if !down {
                self.outside(nest, depth, (from, end), sums);
            }
            return true;
        }
        let before = self.code.int(Prim::MinInt, first, end);
        let ends = [(start, before), (from, end)];
        let [one, other] = if down { [ends[1], ends[0]] } else { ends };
        self.code.open();
        let side = self.code.reg(Ty::scalar(ScalarTy::Int), "side");
        let is_first = self.code.prim(Prim::EqInt, &[side.into(), Operand::int(0)]);
        let from = self.code.prim(Prim::SelectInt, &[is_first, one.0, other.0]);
        let to = self.code.prim(Prim::SelectInt, &[is_first, one.1, other.1]);
        self.outside(nest, depth, (from, to), sums);
        self.code.open();
        self.inside(nest, depth, interior, &loops, sums);
        let then = self.code.close();
        self.code.push(Loops::If { cond: is_first, then, otherwise: Vec::new() });
        let body = self.code.close();
        let (start, end, mode) = (Operand::int(0), Operand::int(2), Mode::Sequential);
        self.code.push(Loops::For { index: side, start, end, step: 1, mode, body });
        true
    }

    /// The loops over the interior.
    fn inside(
        &mut self,
        nest: &Nest,
        depth: usize,
        interior: Interior,
        loops: &[(Operand, Operand, Stride)],
        sums: &mut Vec<Sum>,
    ) {
        self.interior = Some(interior);
        for (from, to, stride) in loops {
            if from != to {
                self.counted(nest, depth, (*from, *to), *stride, sums);
            }
        }
        // The values hold in the interior only.
        if let Some(Interior { affected, .. }) = self.interior.take() {
            self.code.forget(&|node| affected.contains(&node));
        }
    }

    /// The loop over all other indices.
    fn outside(
        &mut self,
        nest: &Nest,
        depth: usize,
        range: (Operand, Operand),
        sums: &mut Vec<Sum>,
    ) {
        self.apart = true;
        let stride = Stride { partial: true, ..Stride::whole(1, self.lanes) };
        self.counted(nest, depth, range, stride, sums);
        self.apart = false;
    }

    /// Whether the current indices of the outer axes, for all copies, are in the interior.
    fn around(&mut self, interior: &Interior, lanes: AxisId) -> Option<Operand> {
        let mut conds = Vec::new();
        for (axis, ends) in interior.ends.iter().filter(|(axis, _)| **axis != lanes) {
            let extent = self.extent(*axis);
            let last = self.code.int(Prim::SubInt, extent, Operand::int(ends.high));
            for index in self.axes[axis].copies.clone() {
                if ends.low > 0 {
                    conds.push(self.code.prim(Prim::LeInt, &[Operand::int(ends.low), index]));
                }
                if ends.high > 1 {
                    conds.push(self.code.prim(Prim::LeInt, &[index, last]));
                }
            }
        }
        for (index, size) in &interior.shared {
            let size = self.node(*size, Copy::FIRST);
            for copy in self.copies.clone() {
                let index = self.sum(index, lanes, copy);
                conds.push(self.code.prim(Prim::LeInt, &[Operand::int(0), index]));
                conds.push(self.code.prim(Prim::LtInt, &[index, size]));
            }
        }
        conds.into_iter().reduce(|all, cond| self.code.prim(Prim::And, &[all, cond]))
    }
}
