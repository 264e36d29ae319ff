//! Runs of statements as nests with lanes, where the options say so: what `lower` asks, and who answers.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{Function, Var};
use lambada_lower::{Kernel, Nested, Nests};
use lambada_schedule::Choice;

/// Nests with so many lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    /// How many.
    pub lanes: u16,
    /// Is a placement that the checker refuses an error of the compiler? Else it is not used.
    pub checks: bool,
}

impl Nests for Lanes {
    fn of(&self, function: &Function) -> Option<Nested> {
        let kernels = lambada_schedule::kernels(function, self.lanes, Choice::Best);
        let kernel = |(var, kernel): (Var, lambada_schedule::Kernel)| {
            let lambada_schedule::Kernel {
                statements,
                before,
                otherwise,
                checked,
                inputs,
                outputs,
                added,
                code,
            } = kernel;
            let kernel =
                Kernel { statements, before, otherwise, checked, inputs, outputs, added, code };
            (var, Rc::new(kernel))
        };
        let lambada_schedule::Kernels { function, found, refused } = kernels;
        assert!(!self.checks || refused.is_empty(), "after placing: {}", refused.join("\n"));
        let kernels: HashMap<Var, Rc<Kernel>> = found.into_iter().map(kernel).collect();
        (!kernels.is_empty()).then_some(Nested { function, kernels })
    }
}
