//! Accumulators: `Σ over loops` where each place is added to by its own index, a scatter else.

use lambada_anf::{Atom, Param, Var};
use lambada_prim::{Prim, ReduceOp};

use super::{Distributor, Place, Value};
use crate::graph::{ArrayId, Axes, AxisId, NodeId, Term};

/// An accumulator that has not been frozen.
pub(super) struct Accumulator {
    init: ArrayId,
    terms: Vec<Term>,
    /// How many constructs are around it.
    depth: usize,
}

impl Distributor<'_> {
    pub(super) fn accumulator(&mut self, acc: Var, value: Atom) {
        let init = self.array(value);
        let depth = self.around.len();
        self.accumulators.insert(acc, Accumulator { init, terms: Vec::new(), depth });
    }

    pub(super) fn accumulate(&mut self, acc: Var, index: &[Atom], value: Atom) {
        let (mut over, mut when) = (Vec::new(), None);
        let depth = self.accumulators[&acc].depth;
        let around: Vec<Place> = self.around[depth..].to_vec();
        for place in around {
            match place {
                Place::Axis(axis) => over.push(axis),
                // The inner condition may only be asked for where the outer one holds.
                Place::Branch(cond) => {
                    when = Some(when.map_or(cond, |outer| {
                        let no = self.to.lit(lambada_prim::Scalar::Bool(false));
                        self.to.choose(outer, cond, no)
                    }));
                }
            }
        }
        let mut index = self.scalars(index);
        let value = match self.value(value) {
            Value::Scalar(node) => node,
            Value::Array(view) => {
                let axes = self.axes_along(&view, &mut Vec::new());
                index.extend(axes.iter().map(|axis| self.to.index(*axis)));
                over.extend(&axes);
                self.element_at(&view, &axes)
            }
        };
        let known = self.accumulators.get_mut(&acc).expect("it has been made in the region");
        known.terms.push(Term { over, when, index, value });
    }

    pub(super) fn freeze(&mut self, p: &Param, acc: Var) {
        let known = self.accumulators.remove(&acc).expect("it has been made in the region");
        let mut array = known.init;
        let mut others = Vec::new();
        for term in known.terms {
            match self.own_places(&term, array) {
                Some(axes) => array = self.summed(array, &axes, &term),
                None => others.push(term),
            }
        }
        let array = self.to.scatter(array, others);
        self.bind_array(p, array);
    }

    /// The axes whose indices are the place, if each place is that of one index and every one is reached.
    fn own_places(&mut self, term: &Term, array: ArrayId) -> Option<Vec<AxisId>> {
        let dims = self.to.dims(array);
        let graph = &self.to.graph;
        let over: Axes = term.over.iter().copied().collect();
        let axis = |(i, size): (&NodeId, &NodeId)| {
            let axis = graph.index(*i)?;
            let extent = graph.axis(axis).extent;
            let fits = over.contains(axis) && extent == *size;
            (fits && !graph.free(extent).meets(&over)).then_some(axis)
        };
        let axes = term.index.iter().zip(&dims).map(axis).collect::<Option<Vec<AxisId>>>()?;
        let distinct: Axes = axes.iter().copied().collect();
        let free = &graph.array_facts(array).free;
        (distinct.len() == axes.len() && !free.meets(&distinct)).then_some(axes)
    }

    /// `array[axes] + Σ value`
    fn summed(&mut self, array: ArrayId, axes: &[AxisId], term: &Term) -> ArrayId {
        let elem = self.to.graph.facts(term.value).elem;
        let mut sum = term.value;
        if let Some(when) = term.when {
            let zero = self.to.lit(elem.zero());
            sum = self.to.choose(when, sum, zero);
        }
        for axis in term.over.iter().rev().filter(|axis| !axes.contains(axis)) {
            sum = self.to.reduce(ReduceOp::Add, Axes::one(*axis), sum);
        }
        let index = axes.iter().map(|axis| self.to.index(*axis)).collect();
        let before = self.to.at(array, index);
        let add: Prim = ReduceOp::Add.prim(elem);
        let body = self.to.prim(add, [before, sum]);
        self.to.map(axes.to_vec(), body)
    }
}
