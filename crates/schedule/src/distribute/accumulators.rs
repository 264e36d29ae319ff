//! Accumulators: `Σ over loops` where each place is added to by its own index, or by one that is an affine function of its own; a scatter else.

use lambada_anf::{Atom, Param, Var};
use lambada_prim::{Prim, ReduceOp, Scalar};

use super::{Distributor, Place, Value};
use crate::affine::Affine;
use crate::graph::{Around, ArrayId, Axes, AxisId, NodeId, Term};
use crate::reads::{read, substituted};

/// An accumulator that has not been frozen.
pub(super) struct Accumulator {
    init: ArrayId,
    terms: Vec<Term>,
    /// How many constructs are around it.
    depth: usize,
}

/// Where something is added along an axis, seen from the place: `place` runs over all places, and the index of `axis` that
/// adds there is `index`, if it is one of its indices.
struct Inverse {
    axis: AxisId,
    place: AxisId,
    index: NodeId,
    in_range: Vec<NodeId>,
}

/// How much longer than an axis the array may be whose places it adds to, for all places to be asked which index adds to them.
const SLACK: i64 = 4;

/// Of how many additions to one element each all elements of the array may ask whether they are meant.
const SINGLE: usize = 4;

impl Distributor<'_> {
    pub(super) fn accumulator(&mut self, acc: Var, value: Atom) {
        let init = self.array(value);
        let depth = self.around.len();
        self.accumulators.insert(acc, Accumulator { init, terms: Vec::new(), depth });
    }

    pub(super) fn accumulate(&mut self, acc: Var, index: &[Atom], value: Atom) {
        if !self.accumulators.contains_key(&acc) {
            let around = std::mem::take(&mut self.to.around);
            let init = self.array(Atom::Var(acc));
            self.to.around = around;
            self.accumulators.insert(acc, Accumulator { init, terms: Vec::new(), depth: 0 });
            self.added.push(acc);
        }
        let (mut over, mut when) = (Vec::new(), None);
        let depth = self.accumulators[&acc].depth;
        let around: Vec<Place> = self.around[depth..].to_vec();
        for place in around {
            match place {
                Place::Axis(axis) => over.push(axis),
                Place::Branch(cond) | Place::Part(_, _, cond) => when = self.both(when, cond),
            }
        }
        let mut index = self.scalars(index);
        let value = match self.value(value) {
            Value::Scalar(node) => node,
            Value::Array(view) => {
                let axes = self.axes_along(&view, &mut over.clone());
                index.extend(axes.iter().map(|axis| self.to.index(*axis)));
                over.extend(&axes);
                self.element_at(&view, &axes)
            }
        };
        let known = self.accumulators.get_mut(&acc).expect("it has been made in the region");
        known.terms.push(Term { over, when, index, value });
    }

    /// The second condition may only be asked for where the first one holds.
    fn both(&mut self, first: Option<NodeId>, second: NodeId) -> Option<NodeId> {
        Some(first.map_or(second, |first| {
            let no = self.to.lit(Scalar::Bool(false));
            self.to.choose(first, second, no)
        }))
    }

    pub(super) fn freeze(&mut self, p: &Param, acc: Var) {
        let known = self.accumulators.remove(&acc).expect("it has been made in the region");
        let mut array = known.init;
        let mut others = Vec::new();
        let few = known.terms.iter().filter(|term| term.over.is_empty()).count() <= SINGLE;
        for term in known.terms {
            match self.inverses(&term, array) {
                Some(inverses) => array = self.summed(array, &inverses, &term),
                None if few && term.over.is_empty() && self.is_written(array) => {
                    array = self.added_at(array, term);
                }
                None => others.push(self.summed_first(term)),
            }
        }
        let array = self.to.scatter(array, others);
        self.bind_array(p, array);
    }

    /// Is it written element by element, so that one more operation for each matters little?
    fn is_written(&self, array: ArrayId) -> bool {
        self.to.graph.elements(array).is_some_and(|(axes, _)| !axes.is_empty())
    }

    /// An array to one element of which something is added, and nothing to the others.
    fn added_at(&mut self, array: ArrayId, Term { when, index, value, .. }: Term) -> ArrayId {
        let mut taken: Vec<AxisId> = Vec::new();
        let mut axes = Vec::new();
        for size in self.to.dims(array) {
            let axis = self.free_axis("k".into(), size, &taken);
            taken.push(axis);
            axes.push(axis);
        }
        let places: Vec<NodeId> = axes.iter().map(|axis| self.to.index(*axis)).collect();
        let mut cond = when;
        for (own, place) in index.iter().zip(&places) {
            let here = self.to.prim(Prim::EqInt, [*own, *place]);
            cond = self.both(cond, here);
        }
        let elem = self.to.graph.facts(value).elem;
        let zero = self.to.lit(elem.zero());
        let more = cond.map_or(value, |cond| self.to.choose(cond, value, zero));
        let before = read(&mut self.to, array, places);
        let sum = self.to.prim(ReduceOp::Add.prim(elem), [before, more]);
        self.to.map(axes, sum)
    }

    /// An accumulator from outside, after all additions: each is done where it says, as the array stays where it is.
    pub(super) fn sum_of_additions(&mut self, acc: Var) -> ArrayId {
        let known = self.accumulators.remove(&acc).expect("something has been added to it");
        let mut terms = Vec::new();
        for term in known.terms {
            let term = self.summed_first(term);
            terms.push(self.for_all(known.init, term));
        }
        self.to.scatter(known.init, terms)
    }

    /// The same without a condition, where each index adds at its own place, so that lanes add: zero, where the condition does not hold.
    fn for_all(&mut self, init: ArrayId, term: Term) -> Term {
        let graph = &self.to.graph;
        let Some(when) = term.when else { return term };
        let own = |i: &NodeId| graph.index(*i).filter(|axis| term.over.contains(axis));
        let places: Option<Vec<AxisId>> = term.index.iter().map(own).collect();
        let Some(places) = places else { return term };
        let depends = places.last().is_some_and(|axis| graph.free(when).contains(*axis));
        let dims = self.to.dims(init);
        let graph = &self.to.graph;
        let mut both = places.iter().zip(&dims);
        if !depends || !both.all(|(axis, size)| graph.axis(*axis).extent == *size) {
            return term;
        }
        let zero = graph.facts(term.value).elem.zero();
        let zero = self.to.lit(zero);
        Term { when: None, value: self.to.choose(when, term.value, zero), ..term }
    }

    /// For each index which axis adds there, if there is one, and another one for each.
    fn inverses(&mut self, term: &Term, array: ArrayId) -> Option<Vec<Inverse>> {
        let dims = self.to.dims(array);
        let over: Axes = term.over.iter().copied().collect();
        let mut taken = term.over.clone();
        let mut inverses: Vec<Inverse> = Vec::new();
        for (index, size) in term.index.iter().zip(&dims) {
            let inverse = self.inverse(*index, *size, &over, &mut taken)?;
            if inverses.iter().any(|known| known.axis == inverse.axis) {
                return None;
            }
            inverses.push(inverse);
        }
        let places: Axes = inverses.iter().flat_map(|i| [i.axis, i.place]).collect();
        (!self.to.graph.array_facts(array).free.meets(&places)).then_some(inverses)
    }

    fn inverse(
        &mut self,
        index: NodeId,
        size: NodeId,
        over: &Axes,
        taken: &mut Vec<AxisId>,
    ) -> Option<Inverse> {
        let graph = &self.to.graph;
        let (sign, axis, rest) = Affine::of(graph, index).along(graph, over)?;
        let extent = graph.axis(axis).extent;
        if graph.free(extent).meets(over) || sign.abs() != 1 {
            return None;
        }
        let (size_sum, extent_sum) = (Affine::of(graph, size), Affine::of(graph, extent));
        let longer = size_sum.plus(-1, &extent_sum).known()?;
        if longer > SLACK {
            return None;
        }
        if sign == 1 && rest.known() == Some(0) && longer == 0 {
            return Some(Inverse { axis, place: axis, index, in_range: Vec::new() });
        }
        let place = self.free_axis("k".into(), size, taken);
        taken.push(place);
        let own = self.to.index(place);
        // index = sign · axis + rest, so axis = sign · (place − rest).
        let found = Affine::default().plus(sign, &Affine::of(&self.to.graph, own).plus(-1, &rest));
        let at = |own: &Affine| Affine::default().plus(sign, &own.plus(-1, &rest));
        let (first, last) = (at(&Affine::default()), at(&size_sum.plus_constant(-1)));
        let (low, high) = if sign == 1 { (first, last) } else { (last, first) };
        let is_surely_positive = |sum: Affine| sum.known().is_some_and(|least| least >= 0);
        let room = extent_sum.plus_constant(-1).plus(-1, &high);
        let index = found.node(&mut self.to);
        let mut in_range = Vec::new();
        if !is_surely_positive(low) {
            let none = self.to.lit(Scalar::Int(0));
            in_range.push(self.to.prim(Prim::LeInt, [none, index]));
        }
        if !is_surely_positive(room) {
            in_range.push(self.to.prim(Prim::LtInt, [index, extent]));
        }
        Some(Inverse { axis, place, index, in_range })
    }

    /// `array[places] + Σ value`. That nothing is added to a zero changes the sign of a zero at most.
    fn summed(&mut self, array: ArrayId, inverses: &[Inverse], term: &Term) -> ArrayId {
        let zero = self.to.graph.facts(term.value).elem.zero();
        let zero = self.to.lit(zero);
        let mut cond = None;
        for known in inverses.iter().flat_map(|i| &i.in_range) {
            cond = self.both(cond, *known);
        }
        let sum = match self.at_places(inverses, term, cond.is_some()) {
            Some((when, value)) => {
                let cond = when.map_or(cond, |when| self.both(cond, when));
                let value = cond.map_or(value, |cond| self.to.choose(cond, value, zero));
                self.over_others(value, inverses, term)
            }
            None => self.elements_at_places(inverses, term, (cond, zero)),
        };
        let axes: Vec<AxisId> = inverses.iter().map(|i| i.place).collect();
        let index = axes.iter().map(|axis| self.to.index(*axis)).collect();
        let before = read(&mut self.to, array, index);
        if before == zero {
            return self.to.map(axes, sum);
        }
        let add: Prim = ReduceOp::Add.prim(self.to.graph.facts(sum).elem);
        let sum = self.to.prim(add, [before, sum]);
        self.to.map(axes, sum)
    }

    /// What is added to each place, and when, if that is cheap arithmetic on the indices that add there.
    fn at_places(
        &mut self,
        inverses: &[Inverse],
        term: &Term,
        conditional: bool,
    ) -> Option<(Option<NodeId>, NodeId)> {
        let moved = inverses.iter().filter(|i| i.axis != i.place);
        let places: Vec<(AxisId, NodeId)> = moved.map(|i| (i.axis, i.index)).collect();
        let own: Axes = places.iter().map(|(axis, _)| *axis).collect();
        let graph = &self.to.graph;
        if term.over.iter().any(|axis| graph.free(graph.axis(*axis).extent).meets(&own)) {
            return None;
        }
        let around = self.to.around.len();
        self.to.around.extend(conditional.then_some(Around::Branch));
        let when = term.when.map(|when| substituted(&mut self.to, &places, when));
        let value = substituted(&mut self.to, &places, term.value);
        self.to.around.truncate(around);
        Some((when.map_or(Some(None), |when| when.map(Some))?, value?))
    }

    /// The same, where each index computes once what it adds, if only to be read at one place.
    fn elements_at_places(
        &mut self,
        inverses: &[Inverse],
        term: &Term,
        (cond, zero): (Option<NodeId>, NodeId),
    ) -> NodeId {
        let value = term.when.map_or(term.value, |when| self.to.choose(when, term.value, zero));
        let sum = self.over_others(value, inverses, term);
        let (own, index) =
            inverses.iter().filter(|i| i.axis != i.place).map(|i| (i.axis, i.index)).unzip();
        let elements = self.to.map(own, sum);
        let around = self.to.around.len();
        self.to.around.extend(cond.map(|_| Around::Branch));
        let element = self.to.at(elements, index);
        self.to.around.truncate(around);
        cond.map_or(element, |cond| self.to.choose(cond, element, zero))
    }

    /// The sum over all axes that say nothing of the place.
    fn over_others(&mut self, value: NodeId, inverses: &[Inverse], term: &Term) -> NodeId {
        let own: Axes = inverses.iter().map(|i| i.axis).collect();
        let others = term.over.iter().rev().filter(|axis| !own.contains(**axis));
        others.fold(value, |sum, axis| self.to.reduce(ReduceOp::Add, Axes::one(*axis), sum))
    }

    /// The same with what is added to a place by several indices added first.
    fn summed_first(&mut self, term: Term) -> Term {
        let Term { mut over, mut when, index, mut value } = term;
        let own = |i: &NodeId| self.to.graph.index(*i).is_some_and(|axis| over.contains(&axis));
        let is_evident = index.iter().all(own);
        let around = self.to.around.len();
        self.to.around.extend(when.map(|_| Around::Branch));
        for axis in over.clone().into_iter().rev() {
            let graph = &self.to.graph;
            let extents = over.iter().map(|a| &graph.axis(*a).extent);
            let place = index.iter().chain(&when).chain(extents);
            if !place.into_iter().any(|n| graph.free(*n).contains(axis)) {
                value = self.to.reduce(ReduceOp::Add, Axes::one(axis), value);
                over.retain(|other| *other != axis);
                // The place need not be there if nothing was added to it.
                if !is_evident {
                    let extent = self.to.graph.axis(axis).extent;
                    let none = self.to.lit(Scalar::Int(0));
                    let runs = self.to.prim(Prim::LtInt, [none, extent]);
                    let no = self.to.lit(Scalar::Bool(false));
                    when = Some(when.map_or(runs, |when| self.to.choose(runs, when, no)));
                }
            }
        }
        self.to.around.truncate(around);
        Term { over, when, index, value }
    }
}
