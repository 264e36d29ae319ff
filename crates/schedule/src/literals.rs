//! Elements of literals: `[a, b, c][k]` becomes a choice by `k`, if the literal has free axes or
//! belongs to a branch. A nest that unrolls the axis of `k` decides the choice at compile time
//! (`place/whole`).
//!
//! *Gives* a graph without such literals of few elements. *Keeps* values.

use lambada_prim::{Prim, Scalar};

use lambada_graph::{Around, Array, Builder, Graph, Node, NodeId, cleaned, rebuilt, rewritten};

/// The most elements of a literal that becomes choices.
pub(crate) const ELEMENTS: usize = 32;

/// The graph with such elements as choices.
pub fn without_literals(graph: &Graph) -> Graph {
    let chosen = rewritten(graph, &mut |to, _, node| match node {
        Node::At(array, index) => match to.graph.array(array) {
            Array::Items(items) if items.len() <= ELEMENTS => {
                let facts = to.graph.array_facts(array);
                if facts.free.is_empty() && !facts.lazy {
                    return to.at(array, index);
                }
                let items = items.clone();
                choice(to, &items, index[0])
            }
            Array::Items(_)
            | Array::Input(_)
            | Array::Constant(_)
            | Array::Map(..)
            | Array::Scatter(..)
            | Array::Update(..)
            | Array::Carried(..)
            | Array::Final(..) => to.at(array, index),
        },
        node => rebuilt(to, node),
    });
    cleaned(&chosen)
}

/// `if k == 0 { a } else if k == 1 { b } else { c }`
fn choice(to: &mut Builder, items: &[NodeId], index: NodeId) -> NodeId {
    let Some((last, others)) = items.split_last() else { unreachable!("a literal has elements") };
    let mut value = *last;
    for (k, item) in others.iter().enumerate().rev() {
        let around = to.around.len();
        to.around.extend((k > 0).then_some(Around::Branch));
        let place = to.lit(Scalar::Int(k as i64));
        let here = to.prim(Prim::EqInt, [index, place]);
        value = to.choose(here, *item, value);
        to.around.truncate(around);
    }
    value
}
