//! Accumulators: `Σ over loops` if each place is added to by its own index, or by an affine
//! function of it; else a scatter.

use lambada_anf::{Atom, Param, Var};
use lambada_prim::{Prim, ReduceOp, Scalar};

use super::{Distributor, GraphValue, Surrounding};
use crate::reads::{Stored, read, substituted_or_stored};
use lambada_graph::{Affine, Around, ArrayId, Axes, AxisId, NodeId, Term};

/// An accumulator before it is frozen.
pub(super) struct Accumulator {
    init: ArrayId,
    terms: Vec<Term>,
    /// The number of constructs around it.
    depth: usize,
}

/// The inverse of an index along an axis: `place` runs over all places, and `index` is the index of
/// `axis` that adds there, if it is in range.
pub(super) struct Inverse {
    axis: AxisId,
    place: AxisId,
    index: NodeId,
    in_range: Vec<NodeId>,
    /// For a constant index: the condition that this is the place to which all iterations add.
    only: Option<NodeId>,
}

/// An addition, with the inverse of each of its indices.
pub(super) type Seen = (Vec<Inverse>, Term);

/// The values added to places.
enum At {
    /// A value for each place, under a condition.
    Places(Option<NodeId>, NodeId),
    /// Elements of an array that holds the values added by each index.
    Elements,
}

/// The most places beyond the indices of an axis, if each place asks which index adds to it.
const SLACK: i64 = 4;

/// The longest other axis, as that of the weights of a convolution, by whose extent an array may
/// exceed [`SLACK`]. Each place asks for all indices of it.
const WINDOW: i64 = 64;

/// The most additions to one array whose values may be stored in arrays first. Beyond, all are
/// scattered, which takes no memory.
const ARRAYS: usize = 4;

/// The most additions to single elements for which each element of the array asks whether it is
/// meant.
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
        let around: Vec<Surrounding> = self.around[depth..].to_vec();
        for place in around {
            match place {
                Surrounding::Axis(axis) => over.push(axis),
                Surrounding::Branch(cond) | Surrounding::Part(_, _, cond) => {
                    when = self.both(when, cond)
                }
            }
        }
        let mut index = self.scalars(index);
        let value = match self.value(value) {
            GraphValue::Scalar(node) => node,
            GraphValue::Array(view) => {
                let axes = self.axes_along(&view, &mut over.clone());
                index.extend(axes.iter().map(|axis| self.to.index(*axis)));
                over.extend(&axes);
                self.element_at(&view, &axes)
            }
        };
        let known = self.accumulators.get_mut(&acc).expect("it has been made in the region");
        known.terms.push(Term { over, when, index, value });
    }

    /// The conjunction of two conditions; the second may be evaluated only where the first one
    /// holds.
    pub(super) fn both(&mut self, first: Option<NodeId>, second: NodeId) -> Option<NodeId> {
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
        let crowded = known.terms.len() > ARRAYS;
        for term in known.terms {
            let cases = self.cases(&term, array).or_else(|| {
                let inverses = self.inverses(&term, array, false)?;
                Some(vec![(inverses, term.clone())])
            });
            let all = |cases: Vec<Seen>| {
                let one =
                    |array, (inverses, term): &Seen| self.summed(array, inverses, term, !crowded);
                cases.iter().try_fold(array, one)
            };
            match cases.and_then(all) {
                Some(sum) => array = sum,
                None if few && term.over.is_empty() && self.is_written(array) => {
                    array = self.added_at(array, term);
                }
                None => others.push(self.summed_first(term)),
            }
        }
        let array = self.to.scatter(array, others);
        self.bind_array(p, array);
    }

    /// Whether an array is written element by element, so that one more operation for each matters
    /// little.
    fn is_written(&self, array: ArrayId) -> bool {
        self.to.graph.elements(array).is_some_and(|(axes, _)| !axes.is_empty())
    }

    /// The array after an addition to one of its elements.
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

    /// An outer accumulator after all additions: each is scattered, because the array keeps its
    /// memory.
    pub(super) fn sum_of_additions(&mut self, acc: Var) -> ArrayId {
        let known = self.accumulators.remove(&acc).expect("something has been added to it");
        let mut terms = Vec::new();
        for term in known.terms {
            let term = self.summed_first(term);
            terms.push(self.for_all(known.init, term));
        }
        self.to.scatter(known.init, terms)
    }

    /// The term without a condition, if each index adds at its own place, so that lanes can add:
    /// zero where the condition does not hold.
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

    /// The inverse of each index of a term, along different axes; with `constants`, also of indices
    /// that no loop changes.
    pub(super) fn inverses(
        &mut self,
        term: &Term,
        array: ArrayId,
        constants: bool,
    ) -> Option<Vec<Inverse>> {
        let dims = self.to.dims(array);
        let over: Axes = term.over.iter().copied().collect();
        let mut taken = term.over.clone();
        let mut inverses: Vec<Inverse> = Vec::new();
        for (index, size) in term.index.iter().zip(&dims) {
            let inverse = match self.inverse(*index, *size, &over, &mut taken) {
                Some(inverse) => inverse,
                None if constants && !self.to.graph.free(*index).meets(&over) => {
                    self.only_place(*index, *size, &mut taken)
                }
                None => return None,
            };
            if inverses.iter().any(|known| known.axis == inverse.axis) {
                return None;
            }
            inverses.push(inverse);
        }
        // The inverse of one axis does not depend on another axis that is inverted itself.
        let moved = |i: &&Inverse| i.axis != i.place;
        let found: Axes = inverses.iter().filter(moved).map(|i| i.axis).collect();
        if inverses.iter().any(|i| self.to.graph.free(i.index).meets(&found)) {
            return None;
        }
        let places: Axes = inverses.iter().flat_map(|i| [i.axis, i.place]).collect();
        (!self.to.graph.array_facts(array).free.meets(&places)).then_some(inverses)
    }

    /// The inverse of a constant index: one place for all iterations.
    fn only_place(&mut self, index: NodeId, size: NodeId, taken: &mut Vec<AxisId>) -> Inverse {
        let place = self.free_axis("k".into(), size, taken);
        taken.push(place);
        let own = self.to.index(place);
        let here = self.to.prim(Prim::EqInt, [own, index]);
        Inverse { axis: place, place, index: own, in_range: Vec::new(), only: Some(here) }
    }

    fn inverse(
        &mut self,
        index: NodeId,
        size: NodeId,
        over: &Axes,
        taken: &mut Vec<AxisId>,
    ) -> Option<Inverse> {
        let graph = &self.to.graph;
        let (sign, axis, rest) = self.one_of(index, size, over)?;
        let extent = graph.axis(axis).extent;
        let (size_sum, extent_sum) = (Affine::of(graph, size), Affine::extent(graph, axis));
        let longer = size_sum.plus(-1, &extent_sum).known()?;
        if sign == 1 && rest.known() == Some(0) && longer == 0 {
            return Some(Inverse { axis, place: axis, index, in_range: Vec::new(), only: None });
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
        Some(Inverse { axis, place, index, in_range, only: None })
    }

    /// `coefficient · axis + rest`: the axis to be inverted. The rest may have other axes, as in a
    /// convolution, which are summed over; then the array has at most as many more places as all of
    /// these have indices.
    fn one_of(&self, index: NodeId, size: NodeId, over: &Axes) -> Option<(i64, AxisId, Affine)> {
        let graph = &self.to.graph;
        let sum = Affine::of(graph, index);
        let own = |axis: &AxisId| over.contains(*axis);
        let (axes, _) = sum.axes(graph);
        let axes: Vec<(AxisId, i64)> = axes.into_iter().filter(|(axis, _)| own(axis)).collect();
        let extent = |axis: AxisId| graph.lit(graph.axis(axis).extent).map(Scalar::int);
        let short = |axis: AxisId| extent(axis).filter(|extent| *extent <= WINDOW);
        let fits = |(axis, times): &(AxisId, i64)| {
            let extent = graph.axis(*axis).extent;
            let longer = Affine::of(graph, size).plus(-1, &Affine::extent(graph, *axis)).known()?;
            let others = axes.iter().filter(|(other, _)| other != axis);
            let reach = others.filter_map(|(other, _)| short(*other)).fold(0, i64::saturating_add);
            let fits = times.abs() == 1
                && !graph.free(extent).meets(over)
                && longer <= SLACK.saturating_add(reach);
            fits.then_some((longer, *axis, *times))
        };
        let (_, axis, times) = axes.iter().filter_map(fits).min_by_key(|(longer, ..)| *longer)?;
        let (term, _) = sum.terms().find(|(term, _)| graph.index(*term) == Some(axis))?;
        let rest = sum.plus(-times, &Affine::of(graph, term));
        // No other term depends on the axis, and other axes occur as plain indices.
        let plain = |(term, _): (NodeId, i64)| {
            let free = graph.free(term);
            graph.index(term).is_some_and(|other| other != axis) || !free.meets(over)
        };
        let alone = rest.terms().all(plain);
        alone.then_some((times, axis, rest))
    }

    /// `array[places] + Σ value`. Leaving out an addition to zero changes the sign of a zero at
    /// most.
    fn summed(
        &mut self,
        array: ArrayId,
        inverses: &[Inverse],
        term: &Term,
        arrays: bool,
    ) -> Option<ArrayId> {
        let zero = self.to.graph.facts(term.value).elem.zero();
        let zero = self.to.lit(zero);
        let mut cond = None;
        for known in inverses.iter().flat_map(|i| &i.in_range) {
            cond = self.both(cond, *known);
        }
        let sum = match self.at_places(inverses, term, cond.is_some())? {
            At::Places(when, value) => {
                let cond = when.map_or(cond, |when| self.both(cond, when));
                let value = cond.map_or(value, |cond| self.to.choose(cond, value, zero));
                self.over_others(value, inverses, term)
            }
            At::Elements if !arrays => return None,
            At::Elements => self.elements_at_places(inverses, term, (cond, zero)),
        };
        // The single place gets the sum.
        let mut only = None;
        for here in inverses.iter().filter_map(|i| i.only) {
            only = self.both(only, here);
        }
        let sum = only.map_or(sum, |only| self.to.choose(only, sum, zero));
        let axes: Vec<AxisId> = inverses.iter().map(|i| i.place).collect();
        let index = axes.iter().map(|axis| self.to.index(*axis)).collect();
        let before = read(&mut self.to, array, index);
        if before == zero {
            return Some(self.to.map(axes, sum));
        }
        let add: Prim = ReduceOp::Add.prim(self.to.graph.facts(sum).elem);
        let sum = self.to.prim(add, [before, sum]);
        Some(self.to.map(axes, sum))
    }

    /// The value added to each place and its condition, if they are cheap arithmetic on the
    /// inverted indices.
    fn at_places(&mut self, inverses: &[Inverse], term: &Term, conditional: bool) -> Option<At> {
        let moved = inverses.iter().filter(|i| i.axis != i.place);
        let places: Vec<(AxisId, NodeId)> = moved.map(|i| (i.axis, i.index)).collect();
        let own: Axes = places.iter().map(|(axis, _)| *axis).collect();
        let graph = &self.to.graph;
        // If the inverse depends on a summed axis, several indices add to a place, and there is no
        // element for it.
        let placed: Axes = inverses.iter().map(|i| i.axis).collect();
        let but: Axes = term.over.iter().copied().filter(|axis| !placed.contains(*axis)).collect();
        let mixed = places.iter().any(|(_, index)| graph.free(*index).meets(&but));
        let elements = (!mixed).then_some(At::Elements);
        if term.over.iter().any(|axis| graph.free(graph.axis(*axis).extent).meets(&own)) {
            return elements;
        }
        let around = self.to.around.len();
        self.to.around.extend(conditional.then_some(Around::Branch));
        let also = inverses.iter().filter(|i| i.axis == i.place).map(|i| i.axis).collect();
        let stored = Stored { also, but };
        let if_mixed = mixed.then(|| stored.clone());
        let when =
            term.when.map(|when| substituted_or_stored(&mut self.to, &places, when, if_mixed));
        let value = substituted_or_stored(&mut self.to, &places, term.value, Some(stored));
        self.to.around.truncate(around);
        match (when, value) {
            (Some(None), _) | (_, None) => elements,
            (when, Some(value)) => Some(At::Places(when.flatten(), value)),
        }
    }

    /// The sum, if each index computes its value once, even to be read at one place.
    fn elements_at_places(
        &mut self,
        inverses: &[Inverse],
        term: &Term,
        (cond, zero): (Option<NodeId>, NodeId),
    ) -> NodeId {
        let value = term.when.map_or(term.value, |when| self.to.choose(when, term.value, zero));
        let sum = self.over_others(value, inverses, term);
        // The array has all axes, also those where each index adds at its own place, because it
        // depends on nothing outside.
        let own = |i: &&Inverse| i.only.is_none();
        let (own, index) = inverses.iter().filter(own).map(|i| (i.axis, i.index)).unzip();
        let elements = self.to.map(own, sum);
        let around = self.to.around.len();
        self.to.around.extend(cond.map(|_| Around::Branch));
        let element = self.to.at(elements, index);
        self.to.around.truncate(around);
        cond.map_or(element, |cond| self.to.choose(cond, element, zero))
    }

    /// The sum over all axes that do not determine the place.
    fn over_others(&mut self, value: NodeId, inverses: &[Inverse], term: &Term) -> NodeId {
        let own: Axes = inverses.iter().map(|i| i.axis).collect();
        let others = term.over.iter().rev().filter(|axis| !own.contains(**axis));
        others.fold(value, |sum, axis| self.to.reduce(ReduceOp::Add, Axes::one(*axis), sum))
    }

    /// The term, with the values that several indices add to one place summed first.
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
                // If nothing is added, the place need not exist.
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
