//! From array programs to scalar definitions with free indices, and back.

mod algebra;
mod chosen;
mod clamp;
mod concatenations;
mod defer;
mod distribute;
mod evident;
mod factor;
mod fuse;
mod guards;
mod invariant;
mod kernels;
mod lanes;
mod literals;
mod merge;
mod phases;
mod place;
mod reads;
mod regions;
mod restore;
mod share;
mod states;
mod tile;
mod work;
mod worth;

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Exp, Function, Library, Nest, Out, Param, Stm};
use lambada_graph::{Graph, Mechanism, Mechanisms, Nominal};

use defer::deferred;

pub use algebra::simplified;
pub use clamp::clamp;
pub use distribute::{Distributed, distribute};
pub use factor::{Leave, factored};
pub use invariant::without_invariant_axes;
pub use kernels::{Choice, schedule};
pub use literals::without_literals;
pub use merge::merged;
pub use place::{Along, Blocks, place, placeable};
pub use regions::{Region, Replaced, replace_regions};
pub use restore::restore;
pub use states::settled;
pub use worth::best;

/// The graph in a form that does not depend on the loops of the program: no order where none is
/// needed, no two axes for one range, and invariant factors outside of sums.
pub fn prepared(graph: &Graph, nominal: &Nominal, leave: Leave) -> Graph {
    prepared_by(Mechanisms::ALL, graph, nominal, leave)
}

/// [`prepared`], with the enabled mechanisms only.
fn prepared_by(by: Mechanisms, graph: &Graph, nominal: &Nominal, leave: Leave) -> Graph {
    let graph = merged(&without_invariant_axes(&settled(graph)));
    let mut graph = simplified(&graph);
    if by.has(Mechanism::Factoring) {
        graph = simplified(&factored(&graph, nominal, leave));
    }
    deferred(&graph)
}

/// Rewrites the graph of each region of a function, and writes it back as statements, each scalar
/// in as few loops as possible.
pub fn through_graphs(function: &mut Function, rewrite: &mut dyn FnMut(Graph) -> Graph) {
    replace_regions(function, &mut |names, region| {
        let Distributed { graph, inputs, .. } = distribute(names, region);
        let (mut stms, outputs) = restore(names, &rewrite(graph), &inputs);
        with_sizes(&mut stms, &outputs, &region.outputs);
        (stms, outputs)
    });
    clamp(function);
    // Restores the evidence for sizes that a size variable of the region stood for, as after a pass
    // of the optimizer.
    lambada_anf::guard(function);
}

/// Gives collected arrays the sizes of the outputs that they replace: the size of a row may be
/// another variable, which is equal where there are rows.
fn with_sizes(stms: &mut [Stm], outputs: &[Atom], replaced: &[Param]) {
    let new: HashMap<Atom, Atom> =
        replaced.iter().map(|p| p.var.into()).zip(outputs.iter().copied()).collect();
    let mut later: HashSet<Atom> =
        stms.iter().flat_map(|stm| &stm.binds).map(|p| p.var.into()).collect();
    for stm in stms {
        if let Exp::Nest(Nest::For { outs, .. }) = &stm.exp {
            for (bind, _) in stm.binds.iter_mut().zip(outs).filter(|(_, o)| **o == Out::Collect) {
                let at = outputs.iter().position(|output| *output == bind.var.into());
                let Some(at) = at else { continue };
                for (dim, wanted) in bind.ty.dims.iter_mut().zip(&replaced[at].ty.dims).skip(1) {
                    let wanted = new.get(wanted).unwrap_or(wanted);
                    if !later.contains(wanted) {
                        *dim = *wanted;
                    }
                }
            }
        }
        stm.binds.iter().for_each(|p| _ = later.remove(&p.var.into()));
    }
}

/// The whole program as a graph of its parameters, if it is one region.
pub fn whole(function: &Function) -> Option<Distributed> {
    let mut whole = None;
    let mut copy = Function { library: Library::default(), ..function.clone() };
    replace_regions(&mut copy, &mut |names, region| {
        if region.stms == &function.body.stms[..] {
            whole = Some(distribute(names, region));
        }
        (region.stms.to_vec(), region.outputs.iter().map(|p| p.var.into()).collect())
    });
    whole
}

#[cfg(test)]
mod tests;
