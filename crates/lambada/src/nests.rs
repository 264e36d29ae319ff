//! Runs of statements as nests with lanes, where the options say so: what `lower` asks, and who
//! answers.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{Function, Var};
use lambada_lower::{Kernel, Nested, Nests};
use lambada_schedule::{Around, Choice, Kernels, Plan};

use crate::passes::{SCHEDULE, timed};

/// Nests with lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    /// How many, and what else is done.
    pub plan: Plan,
    /// Is a placement that the checker refuses an error of the compiler? Else it is not used.
    pub checks: bool,
}

impl Nests for Lanes {
    fn of(&self, function: &Function, often: bool) -> Option<Nested> {
        let around = if often { Around::Loops } else { Around::Nothing };
        timed(&SCHEDULE, || {
            let kernels = lambada_schedule::kernels(function, self.plan, Choice::Best, around);
            nested(kernels, self.checks)
        })
    }
}

/// Kernels as `lower` takes them; none if there are none.
///
/// # Panics
/// With `checks`, if a placement has been refused.
pub fn nested(kernels: Kernels, checks: bool) -> Option<Nested> {
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
            placed: _,
            least: _,
        } = kernel;
        let kernel =
            Kernel { statements, before, otherwise, checked, inputs, outputs, added, code };
        (var, Rc::new(kernel))
    };
    let Kernels { function, found, concatenations, refused } = kernels;
    assert!(!checks || refused.is_empty(), "after placing: {}", refused.join("\n"));
    let kernels: HashMap<Var, Rc<Kernel>> = found.into_iter().map(kernel).collect();
    let concatenations: HashMap<Var, Rc<[Var]>> =
        concatenations.into_iter().map(|(array, parts)| (array, parts.into())).collect();
    let any = !kernels.is_empty() || !concatenations.is_empty();
    any.then_some(Nested { function, kernels, concatenations })
}
