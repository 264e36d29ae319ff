//! Arrays as values: a part of an array is the array with a prefix of indices.

use lambada_anf::{Atom, Param};
use lambada_prim::Scalar;

use super::{Distributor, GraphValue};
use crate::reads::read;
use lambada_graph::{ArrayId, Axis, AxisId, NodeId};

/// `base[prefix]`
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) base: ArrayId,
    pub(super) prefix: Vec<NodeId>,
}

impl View {
    pub(super) fn of(base: ArrayId) -> View {
        View { base, prefix: Vec::new() }
    }
}

impl Distributor<'_> {
    pub(super) fn rank(&self, view: &View) -> usize {
        self.to.graph.rank(view.base) - view.prefix.len()
    }

    pub(super) fn dims(&mut self, view: &View) -> Vec<NodeId> {
        self.to.dims(view.base).split_off(view.prefix.len())
    }

    pub(super) fn element(&mut self, view: &View, index: &[NodeId]) -> NodeId {
        read(&mut self.to, view.base, [&view.prefix, index].concat())
    }

    pub(super) fn indexed(&mut self, view: &View, index: &[NodeId]) -> GraphValue {
        let part = View { base: view.base, prefix: [&view.prefix, index].concat() };
        match self.rank(view) - index.len() {
            0 => GraphValue::Scalar(self.element(view, index)),
            _ => GraphValue::Array(part),
        }
    }

    /// Axes for the remaining dimensions of an array, other than those taken.
    pub(super) fn axes_along(&mut self, view: &View, taken: &mut Vec<AxisId>) -> Vec<AxisId> {
        (0..self.rank(view)).map(|k| self.axis_along(view, k, taken)).collect()
    }

    /// The element at the indices of axes.
    pub(super) fn element_at(&mut self, view: &View, axes: &[AxisId]) -> NodeId {
        let index: Vec<NodeId> = axes.iter().map(|axis| self.to.index(*axis)).collect();
        self.element(view, &index)
    }

    /// A part of an array as an array.
    pub(super) fn whole(&mut self, view: &View) -> ArrayId {
        if view.prefix.is_empty() {
            return view.base;
        }
        let axes = self.axes_along(view, &mut Vec::new());
        let body = self.element_at(view, &axes);
        self.to.map(axes, body)
    }

    /// `[a, b, c]`, of scalars or of arrays of equal sizes.
    pub(super) fn literal(&mut self, p: &Param, items: &[Atom]) {
        let values: Vec<GraphValue> = items.iter().map(|item| self.value(*item)).collect();
        let mut axes = match &values[0] {
            GraphValue::Scalar(_) => Vec::new(),
            GraphValue::Array(view) => {
                let view = view.clone();
                self.axes_along(&view, &mut Vec::new())
            }
        };
        let element = |value: &GraphValue| match value {
            GraphValue::Scalar(node) => *node,
            GraphValue::Array(view) => self.element_at(view, &axes),
        };
        let elements = values.iter().map(element).collect();
        let mut array = self.to.items(elements);
        if !axes.is_empty() {
            let extent = self.to.lit(Scalar::Int(items.len() as i64));
            let outer = self.to.axis(Axis { hint: "k".into(), extent, sequential: false });
            let index = self.to.index(outer);
            let body = self.to.at(array, vec![index]);
            axes.insert(0, outer);
            array = self.to.map(axes, body);
        }
        self.bind_array(p, array);
    }
}
