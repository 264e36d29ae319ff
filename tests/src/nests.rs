//! Runs of statements as nests with lanes, for tests that lower functions themselves.

use std::collections::HashMap;
use std::rc::Rc;

use lambada::Arrays;
use lambada_anf::{Function, Var};
use lambada_loops as loops;
use lambada_lower::{Kernel, Nested, Nests, lower_with};
use lambada_schedule::Choice;

/// Nests with so many lanes, and these placements.
#[derive(Clone, Copy, Debug)]
pub struct Lanes(pub u16, pub Choice);

impl Nests for Lanes {
    fn of(&self, function: &Function) -> Option<Nested> {
        let kernels = lambada_schedule::kernels(function, self.0, self.1);
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
        assert!(refused.is_empty(), "after placing: {}", refused.join("\n"));
        let kernels: HashMap<Var, Rc<Kernel>> = found.into_iter().map(kernel).collect();
        (!kernels.is_empty()).then_some(Nested { function, kernels })
    }
}

/// The loops of a program with nests wherever there can be any, worth it or not, for all sizes.
pub fn everywhere(arrays: &Arrays) -> loops::Function {
    lambada_source::stack::roomy(|| lower_with(&arrays.optimized, &Lanes(4, Choice::Any(0))))
}
