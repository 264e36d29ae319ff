//! What a run does, and the time that the machine needs for that at least.
//!
//! Two limits: all operations on reals at the speed of multiplications with additions in vector
//! registers, and arguments and results once through memory, at the speed of arrays of that size.
//! The larger one is the roof. An `exp` is one operation here and some twenty of the machine's, so
//! programs of many of these stay further away.

use lambada_core::data::Data;
use lambada_loops::Counts;
use lambada_prim::{Precision, ScalarTy};
use lambada_run::Peak;

/// The interpreter of loops is about so many times slower than machine code.
pub(super) const SLOWER: f64 = 60.0;

/// Counting may be expected to take so many seconds, if nobody asks for it.
pub(super) const PATIENCE: f64 = 10.0;

/// What a machine can do at most, on one core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Operations on reals in a second.
    pub arithmetic: f64,
    /// Bytes in a second, from and to arrays that are far larger than caches.
    pub memory: f64,
}

impl Machine {
    /// Measures this machine.
    pub(super) fn measured(precision: Precision) -> Option<(Machine, Peak)> {
        let peak = Peak::new(None)?;
        // As many instructions a second, on vectors of twice as many reals.
        let arithmetic = peak.arithmetic() * f64::from(precision.per_word());
        let machine = Machine { arithmetic, memory: peak.traffic(1 << 28) };
        Some((machine, peak))
    }
}

/// What a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Operations on reals.
    pub reals: u64,
    /// Operations on integers and truth values only.
    pub ints: u64,
    /// Bytes read from arrays, from wherever they are.
    pub read: u64,
    /// Bytes written to arrays.
    pub written: u64,
    /// Bytes of the arguments and results.
    pub boundary: u64,
}

impl Work {
    /// Most that is read are reals.
    pub(super) fn of(counts: Counts, args: &[Data], result: &Data, precision: Precision) -> Work {
        let bytes = |data: &Data| bytes(data, precision);
        let boundary = args.iter().map(bytes).sum::<u64>() + bytes(result);
        let each = u64::from(precision.bytes(ScalarTy::Real));
        let (read, written) = (each * counts.loads, counts.written);
        Work { reals: counts.reals, ints: counts.ints, read, written, boundary }
    }

    /// The least time, and what it is bound by.
    pub(super) fn limit(&self, machine: &Machine, peak: &Peak) -> (f64, &'static str) {
        let arithmetic = self.reals as f64 / machine.arithmetic;
        let memory = self.boundary as f64 / peak.traffic(self.boundary);
        if arithmetic >= memory { (arithmetic, "arithmetic") } else { (memory, "memory") }
    }
}

/// The bytes that a value takes as arrays.
fn bytes(data: &Data, precision: Precision) -> u64 {
    let bytes = |data: &Data| bytes(data, precision);
    match data {
        Data::Tensor(tensor) => {
            u64::from(precision.bytes(tensor.elem())) * tensor.data.len() as u64
        }
        Data::Tuple(items) | Data::Array(items) => items.iter().map(bytes).sum(),
        Data::Record(fields) => fields.iter().map(|(_, field)| bytes(field)).sum(),
        Data::Con { args, .. } => 8 + args.iter().map(bytes).sum::<u64>(),
    }
}
