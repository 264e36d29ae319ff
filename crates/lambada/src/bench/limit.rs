//! The operations of a run, and a lower bound for its time on this machine.
//!
//! The roofline has two limits: all operations on reals at the throughput of vector multiply-adds,
//! and one pass over arguments and results at the memory bandwidth for arrays of that size. The
//! larger one is the bound. An `exp` counts as one operation, but costs some twenty machine
//! operations, so programs with many of these stay further away.

use lambada_core::data::Data;
use lambada_loops::Counts;
use lambada_prim::{Precision, ScalarTy};
use lambada_run::Peak;

/// Approximate slowdown of the interpreter of loops compared with machine code.
pub(super) const SLOWER: f64 = 60.0;

/// Limit for the expected seconds of counting, unless counting was requested.
pub(super) const PATIENCE: f64 = 10.0;

/// Peak performance of a machine, on one core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Operations on reals in a second.
    pub arithmetic: f64,
    /// Bytes per second, from and to arrays far larger than the caches.
    pub memory: f64,
}

impl Machine {
    /// Measures this machine.
    pub(super) fn measured(precision: Precision) -> Option<(Machine, Peak)> {
        let peak = Peak::new(None)?;
        // The instruction rate does not depend on precision; narrower reals fill more lanes.
        let arithmetic = peak.arithmetic() * f64::from(precision.per_word());
        let machine = Machine { arithmetic, memory: peak.traffic(1 << 28) };
        Some((machine, peak))
    }
}

/// Operation counts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Operations on reals.
    pub reals: u64,
    /// Operations on integers and truth values only.
    pub ints: u64,
    /// Bytes read from arrays, in cache or memory.
    pub read: u64,
    /// Bytes written to arrays.
    pub written: u64,
    /// Bytes of the arguments and results.
    pub boundary: u64,
}

impl Work {
    /// Counts all loads as loads of reals, because most are.
    pub(super) fn of(counts: Counts, args: &[Data], result: &Data, precision: Precision) -> Work {
        let bytes = |data: &Data| bytes(data, precision);
        let boundary = args.iter().map(bytes).sum::<u64>() + bytes(result);
        let each = u64::from(precision.bytes(ScalarTy::Real));
        let (read, written) = (each * counts.loads, counts.written);
        Work { reals: counts.reals, ints: counts.ints, read, written, boundary }
    }

    /// The lower bound for the time, and the limiting resource.
    pub(super) fn limit(&self, machine: &Machine, peak: &Peak) -> (f64, &'static str) {
        let arithmetic = self.reals as f64 / machine.arithmetic;
        let memory = self.boundary as f64 / peak.traffic(self.boundary);
        if arithmetic >= memory { (arithmetic, "arithmetic") } else { (memory, "memory") }
    }
}

/// The bytes of a value stored as arrays.
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
