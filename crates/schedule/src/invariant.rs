//! Arrays whose additions are alike for all indices of one axis, as a count of the points of a
//! cluster for each coordinate: the array without this axis holds all values, and each addition
//! happens once.
//!
//! *Keeps* values, to the last bit: each element has the same terms in the same order.

use lambada_graph::{Array, AxisId, Graph, Node, NodeId, Term, rebuilt, rewritten};
use rustc_hash::FxHashSet;

/// The graph that reads the smaller arrays; results keep their axes.
pub fn without_invariant_axes(graph: &Graph) -> Graph {
    let results: FxHashSet<&Array> =
        graph.outputs.iter().map(|output| graph.array(output.array)).collect();
    let is_one = |array: &Array| smaller(graph, array).is_some() && !results.contains(array);
    let found: Vec<bool> = graph.arrays.iter().map(is_one).collect();
    if !found.contains(&true) {
        return graph.clone();
    }
    rewritten(graph, &mut |to, old, node| {
        let is_found = graph.read_of(old).is_some_and(|array| found[array.0 as usize]);
        let Node::At(mut array, mut index) = node else { return rebuilt(to, node) };
        while is_found
            && let Some(Smaller { position, axes, first, terms }) =
                smaller(&to.graph, to.graph.array(array))
        {
            index.remove(position);
            let init = to.map(axes, first);
            array = to.scatter(init, terms);
        }
        to.at(array, index)
    })
}

/// An array without an axis.
struct Smaller {
    /// The position of the axis in the larger array.
    position: usize,
    axes: Vec<AxisId>,
    /// The elements before any addition.
    first: NodeId,
    terms: Vec<Term>,
}

/// The array without an axis whose indices are all alike. One axis stays.
fn smaller(graph: &Graph, array: &Array) -> Option<Smaller> {
    let Array::Scatter(init, terms) = array else { return None };
    let (axes, first) = graph.elements(*init).filter(|(axes, _)| axes.len() > 1)?;
    (0..axes.len()).find_map(|position| {
        let own = axes[position];
        let fits = |other: &AxisId| {
            !graph.free(first).contains(own) && !graph.free(graph.axis(*other).extent).contains(own)
        };
        let terms = terms.iter().map(|term| without(graph, term, position, own));
        let terms: Vec<Term> = terms.collect::<Option<_>>()?;
        let mut axes = axes.to_vec();
        axes.remove(position);
        axes.iter().all(fits).then_some(Smaller { position, axes, first, terms })
    })
}

/// The term without the axis that is its index at a position, if nothing else depends on that axis,
/// and if it covers all indices of the array there.
fn without(graph: &Graph, term: &Term, position: usize, own: AxisId) -> Option<Term> {
    let axis = graph.index(term.index[position]).filter(|axis| term.over.contains(axis))?;
    let mut term = term.clone();
    term.index.remove(position);
    term.over.retain(|other| *other != axis);
    let extents = term.over.iter().map(|other| &graph.axis(*other).extent);
    let rest = term.index.iter().chain(&term.when).chain([&term.value]).chain(extents);
    let alike = !rest.into_iter().any(|node| graph.free(*node).contains(axis));
    (alike && graph.axis(axis).extent == graph.axis(own).extent).then_some(term)
}
