//! Runs of statements as nests with lanes, where the options say so: what `lower` asks, and who answers.

use std::collections::HashMap;

use lambada_anf::{Function, Var};
use lambada_lower::{Kernel, Nests};
use lambada_run::Target;

/// Nests with as many lanes as the processor has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes;

impl Nests for Lanes {
    fn of(&self, function: &Function) -> HashMap<Var, Kernel> {
        let kernels = lambada_schedule::kernels(function, Target::Here.lanes());
        let kernel = |(var, kernel): (Var, lambada_schedule::Kernel)| {
            let lambada_schedule::Kernel { statements, before, inputs, outputs, added, code } =
                kernel;
            (var, Kernel { statements, before, inputs, outputs, added, code })
        };
        kernels.into_iter().map(kernel).collect()
    }
}
