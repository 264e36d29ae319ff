//! What native code has to give: functions are collected, compiled many at a time, each of them once, and called.

use std::collections::HashMap;

use lambada::{Data, Failure, Tensor};
use lambada_loops::{self as loops, Function};
use lambada_run::{Engine, Kernel};

use crate::oracle::same;

/// A function, its arguments, and the result.
pub struct Native {
    /// For messages.
    pub name: String,
    /// The code.
    pub function: Function,
    /// The arguments, sizes included.
    pub args: Vec<Tensor>,
    /// The results of the interpreter of loops.
    pub expected: Result<Vec<Tensor>, Failure>,
}

impl Native {
    /// The same with a name that says more.
    pub fn inside(self, place: &str) -> Native {
        Native { name: format!("{place}: {}", self.name), ..self }
    }
}

/// A unit of C: distinct functions, and the calls of each of them.
#[derive(Default)]
pub struct Unit<'a> {
    /// The functions.
    pub functions: Vec<&'a Function>,
    /// A number of the call's own, the place of its function, and what is called.
    pub calls: Vec<(usize, usize, &'a Native)>,
}

/// All calls, in units of so many functions. A function that is called several times is in one of them.
pub fn units(natives: &[Native], functions: usize) -> Vec<Unit<'_>> {
    let mut known: HashMap<String, (usize, usize)> = HashMap::new();
    let mut units: Vec<Unit> = Vec::new();
    for (number, native) in natives.iter().enumerate() {
        let (unit, function) = *known.entry(loops::print(&native.function)).or_insert_with(|| {
            if units.last().is_none_or(|unit| unit.functions.len() == functions) {
                units.push(Unit::default());
            }
            let last = units.len() - 1;
            units[last].functions.push(&native.function);
            (last, units[last].functions.len() - 1)
        });
        units[unit].calls.push((number, function, native));
    }
    units
}

/// So many functions make a unit.
const TOGETHER: usize = 250;

/// Runs all functions natively, compiled in few units, and compares with the interpreter of loops.
pub fn native_complaints(natives: &[Native]) -> Vec<String> {
    let mut complaints = Vec::new();
    for unit in units(natives, TOGETHER) {
        let kernels = match Kernel::compile_all(&unit.functions) {
            Ok(kernels) => kernels,
            Err(e) => {
                let first = &unit.calls[0].2.name;
                complaints.push(format!("the unit of {first} does not compile: {e}"));
                continue;
            }
        };
        if kernels.iter().any(|kernel| kernel.engine() != Engine::Native) {
            if !lambada_testkit::may_lack_c_compiler() {
                complaints.push(lambada_testkit::NO_C_COMPILER.to_string());
            }
            return complaints;
        }
        for (_, function, native) in unit.calls {
            let (expected, found) =
                (tuple(native.expected.clone()), tuple(kernels[function].call(&native.args)));
            complaints.extend(
                same(&format!("{}, native against loops", native.name), &expected, &found).err(),
            );
        }
    }
    complaints
}

/// Results as one value.
pub fn tuple(results: Result<Vec<Tensor>, Failure>) -> Result<Data, Failure> {
    results.map(|tensors| Data::Tuple(tensors.into_iter().map(Data::Tensor).collect()))
}
