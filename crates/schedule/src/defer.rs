//! Definitions needed in branches only are computed there: a reduction or an array that only one
//! side of a choice needs, a term under a condition, or another such definition. The condition must
//! have no other indices than the definition; else each index of the branch would compute the
//! definition.

use crate::guards::conditions;
use lambada_graph::{
    Aliases, Array, ArrayId, Effect, Graph, Node, NodeId, Part, Term, cleaned, reach,
};
use rustc_hash::FxHashSet;

/// The graph with these definitions marked as lazy.
pub fn deferred(graph: &Graph) -> Graph {
    let mut graph = cleaned(graph);
    let needed = needed(&graph);
    let guarded = conditions(&graph);
    let nodes = graph.nodes.iter().zip(0..).map(|(node, k)| {
        let costs = matches!(node, Node::Reduce(..));
        (Part::Node(NodeId(k)), costs)
    });
    let arrays = graph.arrays.iter().zip(0..).map(|(array, k)| {
        let costs = matches!(array, Array::Map(..) | Array::Scatter(..) | Array::Update(..));
        (Part::Array(ArrayId(k)), costs)
    });
    let in_branches = nodes
        .chain(arrays)
        .filter(|(part, costs)| *costs && !needed.contains(part) && guarded.contains_key(part));
    let deferred: Vec<Part> = in_branches.map(|(part, _)| part).collect();
    deferred.into_iter().for_each(|part| graph.defer(part));
    graph
}

/// The parts that are needed under all conditions.
fn needed(graph: &Graph) -> FxHashSet<Part> {
    let mut roots: Vec<Part> = graph.outputs.iter().map(|o| Part::Array(o.array)).collect();
    effects(&graph.effects, &mut roots);
    let mut needed = FxHashSet::default();
    reach(graph, &Aliases::default(), roots, &mut |part, open| {
        needed.insert(part);
        match part {
            Part::Node(node) => {
                let Node::Choose(cond, ..) = graph.node(node) else { return true };
                open.push(Part::Node(*cond));
                false
            }
            Part::Array(array) => {
                let Array::Scatter(init, terms) = graph.array(array) else { return true };
                open.push(Part::Array(*init));
                terms.iter().for_each(|term| always(term, open));
                false
            }
            Part::Axis(_) | Part::Loop(_) => true,
        }
    });
    needed
}

fn always(term: &Term, open: &mut Vec<Part>) {
    open.extend(term.over.iter().map(|axis| Part::Axis(*axis)));
    match term.when {
        Some(when) => open.push(Part::Node(when)),
        None => open.extend(term.index.iter().chain([&term.value]).map(|n| Part::Node(*n))),
    }
}

fn effects(all: &[Effect], roots: &mut Vec<Part>) {
    for effect in all {
        match effect {
            Effect::Check { .. } => effect.parts(&mut |part| roots.push(part)),
            Effect::For(axis, body) => {
                roots.push(Part::Axis(*axis));
                effects(body, roots);
            }
            Effect::If(cond, ..) => roots.push(Part::Node(*cond)),
        }
    }
}
