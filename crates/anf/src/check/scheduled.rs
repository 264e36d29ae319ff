//! Kernels and concatenations: the interface of each against its bindings.

use lambada_graph::{Input, Output};
use lambada_prim::ScalarTy;

use super::{Check, Checker};
use crate::{Atom, Kernel, Poly, Stm, Ty, Var};

impl Checker<'_> {
    /// The placed program takes the inputs, and gives the bindings and the accumulators.
    pub(super) fn kernel(&mut self, stm: &Stm, kernel: &Kernel) -> Check {
        self.scalar(kernel.when, ScalarTy::Bool)?;
        lambada_graph::placed::check(&kernel.placed)?;
        let graph = &kernel.placed.graph;
        let input = |input: &Input| (input.elem, input.dims.len());
        let output =
            |output: &Output| (graph.array_facts(output.array).elem, graph.rank(output.array));
        let kind = |ty: &Ty| (ty.elem.scalar(), ty.rank());
        let taken = |var: &Var| match kernel.added.contains(var) {
            true => Ok(kind(&self.open(*var)?.0)),
            false => self.var_ty(*var).map(kind),
        };
        let inputs = kernel.inputs.iter().map(taken).collect::<Check<Vec<_>>>()?;
        if inputs != graph.inputs.iter().map(input).collect::<Vec<_>>() {
            return Err("the placed program does not take the inputs".into());
        }
        let added = kernel.added.iter().map(|acc| Ok(kind(&self.open(*acc)?.0)));
        let added = added.collect::<Check<Vec<_>>>()?;
        let right = (ScalarTy::Bool, 0);
        let mut bound: Vec<_> = stm.binds.iter().map(|p| kind(&p.ty)).collect();
        if !kernel.is_total() && bound.pop() != Some(right) {
            return Err("nothing says whether the results are right".into());
        }
        bound.extend(added.into_iter().chain(kernel.checked.then_some(right)));
        if bound != graph.outputs.iter().map(output).collect::<Vec<_>>() {
            return Err("the placed program does not give what is bound".into());
        }
        self.bind_values(&stm.binds)
    }

    pub(super) fn concat(&mut self, stm: &Stm, parts: &[Var]) -> Check {
        let whole = self.one(stm)?.ty.clone();
        let mut sum = Poly::default();
        for part in parts {
            let ty = self.var_ty(*part)?;
            if ty.elem != whole.elem || ty.dims.is_empty() {
                return Err(format!("{} is no part of {}", self.show(*part), self.show_ty(&whole)));
            }
            sum = sum.plus(&self.count(&ty.dims), 1);
        }
        let all = self.count(&whole.dims);
        if !self.evident(|place| place.modulo(sum.clone()) == place.modulo(all.clone())) {
            return Err(format!("the parts are not known to make up {}", self.show_ty(&whole)));
        }
        self.bind_values(&stm.binds)
    }

    /// The number of elements of arrays of these sizes.
    fn count(&self, dims: &[Atom]) -> Poly {
        dims.iter().fold(Poly::constant(1), |count, d| count.times(&self.known.bounds.raw(*d)))
    }
}
