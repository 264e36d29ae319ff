//! Nominal sizes: which of them are those of data, and large?
//!
//! In a posterior the coordinates are *within* the components, and both within the points, as its loops say: the points are the data. Programs also say it both
//! ways round. Then what more parameters have is within what fewer have: all parameters of a mixture are about components, and only one is about points.
//! What contractions sum over and no loop runs over, as the features of a layer of neurons, is within, too.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Exp, Function, Nest, Op, Var};
use lambada_prim::ArrayPrim;

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
    /// What loops run over.
    loops: HashSet<Var>,
    /// What contractions sum over.
    summed: HashSet<Var>,
}

impl Within {
    pub(super) fn of(function: &Function) -> Within {
        let mut parameters = HashMap::new();
        for param in &function.params {
            let dims: HashSet<Var> = param.ty.dims.iter().filter_map(|dim| dim.as_var()).collect();
            dims.into_iter().for_each(|size| *parameters.entry(size).or_insert(0) += 1);
        }
        let (pairs, loops, summed) = (HashSet::new(), HashSet::new(), HashSet::new());
        let mut within = Within { pairs, parameters, loops, summed };
        let mut types: HashMap<Var, &[Atom]> = HashMap::new();
        types.extend(function.params.iter().map(|param| (param.var, &param.ty.dims[..])));
        within.block(&function.body, &mut types, &mut Vec::new());
        within
    }

    fn block<'a>(
        &mut self,
        block: &'a Block,
        types: &mut HashMap<Var, &'a [Atom]>,
        around: &mut Vec<Var>,
    ) {
        for stm in &block.stms {
            types.extend(stm.binds.iter().map(|p| (p.var, &p.ty.dims[..])));
            if let Exp::Op(Op::ArrayPrim(prim, args)) = &stm.exp {
                self.contraction(*prim, args, types);
            }
            let own = match &stm.exp {
                Exp::Nest(Nest::For { extent, body, .. }) if computes(body) => extent.as_var(),
                Exp::Nest(Nest::For { .. }) => None,
                Exp::Nest(Nest::Loop { .. } | Nest::If { .. }) | Exp::Op(_) => None,
            };
            if let Some(own) = own {
                self.loops.insert(own);
                let outer = around.iter().filter(|outer| **outer != own);
                self.pairs.extend(outer.map(|outer| (own, *outer)));
            }
            around.extend(own);
            for block in stm.exp.blocks() {
                self.block(block, types, around);
            }
            around.truncate(around.len() - usize::from(own.is_some()));
        }
    }

    fn contraction(&mut self, prim: ArrayPrim, args: &[Var], types: &HashMap<Var, &[Atom]>) {
        let dims: Option<Vec<&[Atom]>> = args.iter().map(|arg| types.get(arg).copied()).collect();
        let Some(dims) = dims.filter(|_| prim.is_contraction()) else { return };
        let ranks: Vec<usize> = dims.iter().map(|dims| dims.len()).collect();
        let Some(version) = prim.version(&ranks) else { return };
        for (axes, dims) in version.args.iter().zip(dims) {
            let summed =
                axes.chars().zip(dims).filter(|(axis, _)| !version.result().contains(*axis));
            self.summed.extend(summed.filter_map(|(_, size)| size.as_var()));
        }
    }

    /// Is a size that of data?
    fn is_outermost(&self, size: Var) -> bool {
        if self.summed.contains(&size) && !self.loops.contains(&size) {
            return false;
        }
        let parameters = |size| self.parameters.get(&size).copied().unwrap_or(0);
        !self.pairs.iter().any(|(inner, outer)| {
            let both = || self.pairs.contains(&(*outer, *inner));
            *inner == size && (!both() || parameters(*inner) > parameters(*outer))
        })
    }
}

/// Is there more than reads? What transposes an array says nothing of its sizes.
fn computes(block: &Block) -> bool {
    block.stms.iter().any(|stm| match &stm.exp {
        Exp::Op(op) => !matches!(op, Op::Index(..)),
        exp @ Exp::Nest(_) => exp.blocks().into_iter().any(computes),
    })
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
