//! Kernels run as placed programs; concatenations copy their parts.

use std::rc::Rc;

use lambada_prim::{Scalar, Tensor};

use super::{Machine, Run, Value, internal};
use crate::code::{Kernel, Operand, Step};

/// The length of a block: short, because small data should have several.
const BLOCK: i64 = 8;

impl<'c> Machine<'c> {
    /// Runs the placed program, adds to its accumulators, and returns the values of the bindings.
    pub(super) fn kernel(&mut self, kernel: &'c Kernel, step: &Step) -> Run<Vec<Value>> {
        let graph = &kernel.placed.graph;
        let mut right = self.scalar(&kernel.when).bool();
        let mut given = if right { self.outputs(kernel)? } else { Vec::new() };
        if kernel.is_checked {
            right &= given.pop().and_then(|last| last.as_scalar()).is_some_and(Scalar::bool);
        }
        if right {
            let added = given.split_off(given.len() - kernel.added.len());
            for (acc, tensor) in kernel.added.iter().zip(added) {
                self.add(*acc, &[], Value::of(&tensor, self.precision))?;
            }
        } else {
            let values = step.dims.iter().take(step.dims.len() - 1).zip(&graph.outputs);
            let zeros = values.map(|(dims, output)| {
                Tensor::zeros(graph.array_facts(output.array).elem, self.dims(dims))
            });
            given = zeros.collect();
        }
        let mut values: Vec<Value> =
            given.iter().map(|tensor| Value::of(tensor, self.precision)).collect();
        values.extend((!kernel.is_total).then_some(Value::Scalar(Scalar::Bool(right))));
        Ok(values)
    }

    /// The outputs of the program. Accumulators are zero for it, and its last outputs the sums to
    /// be added, because two accumulators may be one cell, or none.
    fn outputs(&mut self, kernel: &Kernel) -> Run<Vec<Tensor>> {
        let graph = &kernel.placed.graph;
        let taken = |input: &Operand| match input {
            Operand::Copy(slot) if kernel.added.contains(slot) => Tensor::scalar(Scalar::Int(0)),
            Operand::Copy(_) | Operand::Move(_) | Operand::Lit(_) => {
                self.value(input).into_tensor()
            }
        };
        let mut args: Vec<Tensor> = kernel.inputs.iter().map(taken).collect();
        for (k, input) in kernel.inputs.iter().enumerate() {
            if let Operand::Copy(slot) = input
                && kernel.added.contains(slot)
            {
                let dims = lambada_graph::eval_sizes(graph, &args, k)?;
                args[k] = Tensor::zeros(graph.inputs[k].elem, dims);
            }
        }
        lambada_graph::eval_checks(graph, &args)?;
        Ok(lambada_graph::placed::eval(&kernel.placed, &args, BLOCK))
    }

    pub(super) fn concat(&mut self, parts: &[usize], step: &Step) -> Run<Value> {
        let dims = self.dims(&step.dims[0]);
        let parts: Vec<Rc<Tensor>> = parts.iter().map(|part| self.array(*part).clone()).collect();
        let Some(first) = parts.first() else { return internal("an array of no parts") };
        let mut collected = self.collect(first.elem(), dims, step.spans[0])?;
        parts.iter().try_for_each(|part| collected.extend(&part.data))?;
        Ok(self.collected(collected))
    }
}
