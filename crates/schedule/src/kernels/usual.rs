//! Nominal sizes: which of them are those of data, and large?
//!
//! In a posterior the coordinates are *within* the components, and both within the points, as its loops say: the points are the data. Programs also say it both
//! ways round. Then what more parameters have is within what fewer have: all parameters of a mixture are about components, and only one is about points.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Block, Exp, Function, Nest, Var};

use crate::cost::Nominal;
use crate::graph::{Array, AxisId, Graph, Node, NodeId};

/// The nominal number of data.
const MANY: i64 = 1024;

/// The nominal number of indices of what is within the data: coordinates, components, features are often few, and nests have to be right for these, too.
const FEW: i64 = 12;

/// Which sizes of a function are within which others.
pub(super) struct Within {
    /// Something runs over the first one for each index up to the second one.
    pairs: HashSet<(Var, Var)>,
    /// How many parameters have a size.
    parameters: HashMap<Var, usize>,
}

impl Within {
    pub(super) fn of(function: &Function) -> Within {
        let mut parameters = HashMap::new();
        for param in &function.params {
            let dims: HashSet<Var> = param.ty.dims.iter().filter_map(|dim| dim.as_var()).collect();
            dims.into_iter().for_each(|size| *parameters.entry(size).or_insert(0) += 1);
        }
        let mut within = Within { pairs: HashSet::new(), parameters };
        within.block(&function.body, &mut Vec::new());
        within
    }

    fn block(&mut self, block: &Block, around: &mut Vec<Var>) {
        for stm in &block.stms {
            let own = match &stm.exp {
                Exp::Nest(Nest::For { extent, .. }) => extent.as_var(),
                Exp::Nest(Nest::Loop { .. } | Nest::If { .. }) | Exp::Op(_) => None,
            };
            if let Some(own) = own {
                let outer = around.iter().filter(|outer| **outer != own);
                self.pairs.extend(outer.map(|outer| (own, *outer)));
            }
            around.extend(own);
            stm.exp.blocks().into_iter().for_each(|block| self.block(block, around));
            around.truncate(around.len() - usize::from(own.is_some()));
        }
    }

    /// Is a size that of data?
    fn is_outermost(&self, size: Var) -> bool {
        let parameters = |size| self.parameters.get(&size).copied().unwrap_or(0);
        !self.pairs.iter().any(|(inner, outer)| {
            let both = || self.pairs.contains(&(*outer, *inner));
            *inner == size && (!both() || parameters(*inner) > parameters(*outer))
        })
    }
}

/// Nominal sizes of a graph with these inputs.
pub(super) fn usual(graph: &Graph, inputs: &[Var], within: &Within) -> Nominal {
    let axes = (0..graph.axes.len() as u32).map(AxisId);
    let sizes = axes.filter_map(|axis| kept(graph, graph.axis(axis).extent));
    let outermost = |k: u32| within.is_outermost(inputs[k as usize]);
    Nominal::of(sizes.map(|k| (k, if outermost(k) { MANY } else { FEW })))
}

/// The input that an extent is.
pub(super) fn kept(graph: &Graph, extent: NodeId) -> Option<u32> {
    match graph.node(extent) {
        Node::At(array, _) => match graph.array(*array) {
            Array::Input(k) => Some(*k),
            Array::Constant(_)
            | Array::Items(_)
            | Array::Map(..)
            | Array::Scatter(..)
            | Array::Update(..)
            | Array::Carried(..)
            | Array::Final(..) => None,
        },
        Node::Lit(_) | Node::Index(_) | Node::Prim(..) | Node::Choose(..) | Node::Reduce(..) => {
            None
        }
    }
}
