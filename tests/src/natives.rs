//! Expected results of native code: functions are collected, compiled many at a time, each of them
//! once, and called.

use std::collections::HashMap;
use std::fmt;

use lambada::{Data, Failure, Tensor};
use lambada_loops::{self as loops, Function};
use lambada_run::{Engine, Kernel, Settings};

use crate::oracle::same;

/// A function derived from a definition: the value, or a derivative, in one direction or in
/// several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// The value.
    Value,
    /// The forward derivative, with the value.
    Jvp,
    /// The reverse derivative, with the value.
    Vjp,
    /// Forward over reverse.
    JvpOfVjp,
    /// Reverse over reverse.
    VjpOfVjp,
    /// [`What::Jvp`] in several directions at once.
    Jvps,
    /// [`What::JvpOfVjp`] in several directions at once.
    JvpsOfVjp,
}

impl What {
    /// How often the definition is differentiated.
    pub fn order(self) -> usize {
        match self {
            What::Value => 0,
            What::Jvp | What::Vjp | What::Jvps => 1,
            What::JvpOfVjp | What::VjpOfVjp | What::JvpsOfVjp => 2,
        }
    }

    /// Whether there are several directions at once.
    pub fn has_rows(self) -> bool {
        matches!(self, What::Jvps | What::JvpsOfVjp)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            What::Value => "value",
            What::Jvp => "jvp",
            What::Vjp => "vjp",
            What::JvpOfVjp => "jvp of vjp",
            What::VjpOfVjp => "vjp of vjp",
            What::Jvps => "jvps",
            What::JvpsOfVjp => "jvps of vjp",
        })
    }
}

/// A function, its arguments, and the result.
pub struct Native {
    /// For messages.
    pub name: String,
    /// The value or derivative that the function computes.
    pub what: What,
    /// The code.
    pub function: Function,
    /// The arguments, sizes included.
    pub args: Vec<Tensor>,
    /// The results of the interpreter of loops.
    pub expected: Result<Vec<Tensor>, Failure>,
}

impl Native {
    /// Whether it is compiled where the C compiler takes long. Of the two derivatives of the second
    /// order one is, by the name of the definition.
    pub fn is_chosen(&self) -> bool {
        let definition = self.name.rsplit(": ").nth(1).unwrap_or_default();
        let even = definition.bytes().map(u32::from).sum::<u32>().is_multiple_of(2);
        match self.what {
            What::JvpOfVjp => even,
            What::VjpOfVjp => !even,
            What::Value | What::Jvp | What::Vjp | What::Jvps | What::JvpsOfVjp => true,
        }
    }

    /// Adds a prefix to the name.
    pub fn inside(self, place: &str) -> Native {
        Native { name: format!("{place}: {}", self.name), ..self }
    }
}

/// A unit of C: distinct functions, and the calls of each of them.
#[derive(Default)]
pub struct Unit<'a> {
    /// The functions.
    pub functions: Vec<&'a Function>,
    /// A number of the call's own, the place of its function, and the call.
    pub calls: Vec<(usize, usize, &'a Native)>,
}

/// All calls, in units of at most `functions` functions with reals of one kind. A function that is
/// called several times is in one of them.
pub fn units<'a>(natives: impl IntoIterator<Item = &'a Native>, functions: usize) -> Vec<Unit<'a>> {
    let mut known: HashMap<String, (usize, usize)> = HashMap::new();
    let mut units: Vec<Unit> = Vec::new();
    for (number, native) in natives.into_iter().enumerate() {
        let (unit, function) = *known.entry(loops::print(&native.function)).or_insert_with(|| {
            let is_full = |unit: &Unit| {
                unit.functions.len() == functions
                    || unit.functions.iter().any(|f| f.precision != native.function.precision)
            };
            if units.last().is_none_or(is_full) {
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

/// The greatest number of functions in a unit.
const TOGETHER: usize = 250;

/// A complaint about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The number of the call.
    pub number: usize,
    /// The call by name, and the error.
    pub text: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Unit<'_> {
    /// Complains of a call.
    pub fn complaint(&self, call: usize, what: impl fmt::Display) -> Complaint {
        let (number, _, native) = &self.calls[call];
        Complaint { number: *number, text: format!("{}: {what}", native.name) }
    }

    /// Complains unless the result of a call agrees with that of the interpreter of loops.
    pub fn compare(
        &self,
        call: usize,
        engine: &str,
        found: Result<Vec<Tensor>, Failure>,
    ) -> Option<Complaint> {
        let Native { function, expected, .. } = self.calls[call].2;
        same(function.precision, engine, &tuple(expected.clone()), &tuple(found))
            .err()
            .map(|e| self.complaint(call, e))
    }
}

/// Runs all functions natively, compiled in few units, and compares with the interpreter of loops.
pub fn native_complaints<'a>(natives: impl IntoIterator<Item = &'a Native>) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for unit in units(natives, TOGETHER) {
        // Each is called once, with little data.
        let settings = Settings { quick: true, ..Settings::default() };
        let kernels = match Kernel::compile_with(&unit.functions, settings) {
            Ok(kernels) => kernels,
            Err(e) => {
                complaints.push(unit.complaint(0, format!("its unit does not compile: {e}")));
                continue;
            }
        };
        if kernels.iter().any(|kernel| kernel.engine() != Engine::Native) {
            if !lambada_testkit::may_lack_c_compiler() {
                complaints.push(unit.complaint(0, lambada_testkit::NO_C_COMPILER));
            }
            return complaints;
        }
        for (call, (_, function, native)) in unit.calls.iter().enumerate() {
            let found = kernels[*function].call(&native.args);
            complaints.extend(unit.compare(call, "native against loops", found));
        }
    }
    complaints
}

/// Results as one value.
fn tuple(results: Result<Vec<Tensor>, Failure>) -> Result<Data, Failure> {
    results.map(|tensors| Data::Tuple(tensors.into_iter().map(Data::Tensor).collect()))
}
