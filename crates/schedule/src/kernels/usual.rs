//! Nominal sizes: separates the sizes that count data points, which are large, from the sizes
//! within a point.
//!
//! The loops of a posterior run over coordinates *within* components, and over both within points:
//! the points are the data. Some programs nest the loops both ways. Then the size of more
//! parameters is within the size of fewer: all parameters of a mixture have components, and only
//! one has points. A contracted size is within the data, too,
//! - if no loop runs over it, as the features of a layer of neurons;
//! - if a parameter has it after another size that loops run over, as the features of a regression,
//!   because data are rows of features.

use lambada_anf::{Atom, Block, Exp, Function, Nest, Op, Var};
use lambada_prim::{ArrayPrim, Prim};
use rustc_hash::{FxHashMap, FxHashSet};

use lambada_graph::cost;
use lambada_graph::{Affine, Array, AxisId, Graph, Node, NodeId, Nominal};

/// Relations between the sizes of a function: which are within which others.
pub(super) struct Within {
    /// `(inner, outer)`: a loop over the first size runs for each index up to the second one.
    pairs: FxHashSet<(Var, Var)>,
    /// `(inner, outer)`: a parameter has the first size after the second one.
    rows: FxHashSet<(Var, Var)>,
    /// Number of parameters that have a size.
    parameters: FxHashMap<Var, usize>,
    /// Sizes that loops run over.
    loops: FxHashSet<Var>,
    /// Sizes that contractions sum over.
    summed: FxHashSet<Var>,
    /// The size in an extent of the form `size + constant` or `max size constant`.
    of: FxHashMap<Var, Var>,
}

impl Within {
    pub(super) fn of(function: &Function) -> Within {
        let (mut parameters, mut rows) = (FxHashMap::default(), FxHashSet::default());
        for param in &function.params {
            let sizes: Vec<Var> = param.ty.dims.iter().filter_map(|dim| dim.as_var()).collect();
            for (k, inner) in sizes.iter().enumerate() {
                let outer = sizes[..k].iter().filter(|outer| *outer != inner);
                rows.extend(outer.map(|outer| (*inner, *outer)));
            }
            let sizes: FxHashSet<Var> = sizes.into_iter().collect();
            sizes.into_iter().for_each(|size| *parameters.entry(size).or_insert(0) += 1);
        }
        let (pairs, loops, summed) =
            (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        let of = FxHashMap::default();
        let mut within = Within { pairs, rows, parameters, loops, summed, of };
        let mut types: FxHashMap<Var, &[Atom]> = FxHashMap::default();
        types.extend(function.params.iter().map(|param| (param.var, &param.ty.dims[..])));
        within.block(&function.body, &mut types, &mut Vec::new());
        // If contractions sum over each size, as a matrix product and its reverse do, sums say
        // nothing about sizes.
        let mut sizes = within.parameters.keys().chain(&within.loops);
        if !sizes.any(|size| within.is_outermost(*size)) {
            within.summed.clear();
        }
        within
    }

    fn block<'a>(
        &mut self,
        block: &'a Block,
        types: &mut FxHashMap<Var, &'a [Atom]>,
        around: &mut Vec<Var>,
    ) {
        for stm in &block.stms {
            types.extend(stm.binds.iter().map(|p| (p.var, &p.ty.dims[..])));
            if let Exp::Op(Op::ArrayPrim(prim, args)) = &stm.exp {
                self.contraction(*prim, args, types);
            }
            if let Exp::Op(Op::Prim(Prim::AddInt | Prim::MaxInt, args)) = &stm.exp
                && let [Atom::Var(size), Atom::Lit(_)] = args[..]
            {
                self.of.insert(stm.binds[0].var, self.size(size));
            }
            let own = match &stm.exp {
                Exp::Nest(Nest::For { extent, body, .. }) if computes(body) => {
                    extent.as_var().map(|extent| self.size(extent))
                }
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

    fn contraction(&mut self, prim: ArrayPrim, args: &[Var], types: &FxHashMap<Var, &[Atom]>) {
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

    /// The size that equals an extent up to a constant.
    fn size(&self, extent: Var) -> Var {
        self.of.get(&extent).copied().unwrap_or(extent)
    }

    /// Whether a size counts data.
    fn is_outermost(&self, size: Var) -> bool {
        let size = self.size(size);
        let is_summed = self.summed.contains(&size);
        if is_summed && !self.loops.contains(&size) {
            return false;
        }
        let parameters = |size| self.parameters.get(&size).copied().unwrap_or(0);
        let within = |(inner, outer): &(Var, Var)| {
            let both = || self.pairs.contains(&(*outer, *inner));
            *inner == size && (!both() || parameters(*inner) > parameters(*outer))
        };
        let after = |(inner, outer): &(Var, Var)| {
            let known = [(*inner, *outer), (*outer, *inner)].iter().any(|p| self.pairs.contains(p));
            *inner == size
                && self.loops.contains(outer)
                && !known
                && !self.rows.contains(&(*outer, *inner))
        };
        !(self.pairs.iter().any(within) || is_summed && self.rows.iter().any(after))
    }
}

/// Whether a block does more than reads: a transposition says nothing about its sizes.
fn computes(block: &Block) -> bool {
    block.stms.iter().any(|stm| match &stm.exp {
        Exp::Op(op) => !matches!(op, Op::Index(..)),
        exp @ Exp::Nest(_) => exp.blocks().into_iter().any(computes),
    })
}

/// Nominal sizes of a graph with these inputs.
pub(super) fn usual(graph: &Graph, inputs: &[Var], within: &Within) -> Nominal {
    let axes = (0..graph.axes.len() as u32).map(AxisId);
    let sizes = axes.filter_map(|axis| size(graph, axis));
    let outermost = |k: u32| within.is_outermost(inputs[k as usize]);
    Nominal::of(sizes.map(|k| (k, if outermost(k) { cost::MANY } else { cost::FEW })))
}

/// The input that equals the extent of an axis up to a constant.
fn size(graph: &Graph, axis: AxisId) -> Option<u32> {
    let extent = Affine::extent(graph, axis);
    let mut terms = extent.terms();
    let (term, 1) = terms.next()? else { return None };
    if terms.next().is_none() { kept(graph, term) } else { None }
}

/// The input that an extent reads.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of the sizes of a function's parameters that count data.
    fn outermost(text: &str) -> Vec<String> {
        let function = lambada_anf::read(text).unwrap_or_else(|e| panic!("{e:?}"));
        lambada_anf::check(&function).unwrap_or_else(|e| panic!("{e:?}"));
        let within = Within::of(&function);
        let sizes = function.params.iter().flat_map(|param| &param.ty.dims);
        let sizes: FxHashSet<Var> = sizes.filter_map(|dim| dim.as_var()).collect();
        let found = sizes.into_iter().filter(|size| within.is_outermost(*size));
        let mut found: Vec<String> =
            found.map(|size| function.names.hint(size).to_string()).collect();
        found.sort();
        found
    }

    #[test]
    fn features_of_a_regression_are_within_its_data() {
        let found = outermost(
            "loss [n] [d] (x : [n][d]real) (w : [d]real) {
  z : [n]real = x @ w
  s : real, z_ct : [n]real = for i < n (reduce add, collect) {
    z1 : real = z[i]
    exp_z : real = exp z1
    => exp_z, exp_z
  }
  w_ct : [d]real = z_ct @ x
  s1 : real, w_ct1 : [d]real = for i < d (reduce add, collect) {
    w1 : real = w[i]
    w_squared : real = mul w1, w1
    w_ct1 : real = mul w1, 2.0
    b : real = w_ct[i]
    w_ct2 : real = add w_ct1, b
    => w_squared, w_ct2
  }
  both_0 : real = add s, s1
  => both_0 : real, w_ct1 : [d]real
}
",
        );
        assert_eq!(found, ["n"]);
    }

    #[test]
    fn what_is_summed_is_data_where_all_sizes_are() {
        let found = outermost(
            "product [n] [m] [k] (a : [n][m]real) (b : [m][k]real) (c_ct : [n][k]real) {
  c : [n][k]real = a @ b
  bt : [k][m]real = for i < k (collect) {
    row : [m]real = for j < m (collect) {
      t : real = b[j, i]
      => t
    }
    => row
  }
  a_ct : [n][m]real = c_ct @ bt
  at : [m][n]real = for i < m (collect) {
    row : [n]real = for j < n (collect) {
      t : real = a[j, i]
      => t
    }
    => row
  }
  b_ct : [m][k]real = at @ c_ct
  => c : [n][k]real, a_ct : [n][m]real, b_ct : [m][k]real
}
",
        );
        assert_eq!(found, ["k", "m", "n"]);
    }

    /// Steps are sequential, and no loop runs over them at once: a size that each step sums over
    /// counts data.
    #[test]
    fn what_each_step_sums_is_not_within_the_steps() {
        let found = outermost(
            "steps [t] [b] [h] (x : [t][b][h]real) (y : [b]real) (start : [h]real) {
  last : [h]real = loop (s : [h]real = start) for k < t {
    batch : [b][h]real = x[k]
    weights : [b]real = for i < b (collect) {
      z : real = y[i]
      e : real = exp z
      => e
    }
    next : [h]real = weights @ batch
    => next
  }
  => last : [h]real
}
",
        );
        assert!(found.contains(&"b".to_string()), "{found:?}");
    }
}
