//! Measures the peak performance of the machine: arithmetic in registers, and memory traffic with
//! arrays of a given size.

#![allow(unsafe_code)]

use std::path::Path;
use std::time::Instant;

use lambada_codegen::{Shares, Unit};
use lambada_prim::Precision;
use libloading::Library;

use crate::{Compiler, Settings, cache, native};

/// Minimal seconds of a measurement; the best of `TIMES` counts.
const LONG: f64 = 4e-3;
const TIMES: usize = 5;

/// Number of independent chains of multiply-adds: enough to hide the latency of today's processors.
const CHAINS: usize = 12;

type Arithmetic = unsafe extern "C" fn(i64, *mut f64);
type Traffic = unsafe extern "C" fn(i64, *const f64, *mut f64, f64);

/// The compiled measurements.
#[derive(Debug)]
pub struct Peak {
    library: Library,
    lanes: usize,
}

impl Peak {
    /// Compiles the measurements; `None` without a working C compiler.
    pub fn new(kept: Option<&Path>) -> Option<Peak> {
        let settings = Settings::default();
        let lanes = usize::from(settings.target.lanes(Precision::F64));
        let unit = Unit { text: text(lanes), symbols: Vec::new(), shares: Shares::default() };
        let library =
            cache::library(Compiler::find()?, &unit, settings, kept, native::load).ok()?;
        Some(Peak { library, lanes })
    }

    /// Operations on reals per second, on one core; a multiply-add counts as two.
    pub fn arithmetic(&self) -> f64 {
        let mut out = vec![0.0; self.lanes];
        // SAFETY: the function has this type, and writes as many numbers as there are lanes.
        let run: Arithmetic =
            unsafe { *self.library.get(b"lambada_arithmetic").expect("it is in the text") };
        let rate = best(|rounds| unsafe { run(rounds, out.as_mut_ptr()) });
        assert!(out.iter().all(|x| x.is_finite()), "the sums converge");
        rate * (2 * CHAINS * self.lanes) as f64
    }

    /// Bytes per second, on one core, for repeated passes over two arrays of `bytes` bytes
    /// altogether: both are read, one is written.
    pub fn traffic(&self, bytes: u64) -> f64 {
        let len = (bytes as usize / 16).next_multiple_of(self.lanes).max(16 * self.lanes);
        let (x, mut y) = (vec![1.0; len], vec![1.0; len]);
        // SAFETY: the function has this type; both arrays have `len` elements.
        let run: Traffic =
            unsafe { *self.library.get(b"lambada_traffic").expect("it is in the text") };
        let rate = best(|rounds| {
            (0..rounds).for_each(|_| unsafe { run(len as i64, x.as_ptr(), y.as_mut_ptr(), 1e-9) });
        });
        rate * (24 * len) as f64
    }
}

/// The best rate of rounds per second.
fn best(mut run: impl FnMut(i64)) -> f64 {
    let mut seconds = |rounds: i64| {
        let start = Instant::now();
        run(rounds);
        start.elapsed().as_secs_f64().max(1e-9)
    };
    let mut rounds = 1;
    while seconds(rounds) < LONG {
        rounds *= 2;
    }
    (0..TIMES).map(|_| rounds as f64 / seconds(rounds)).fold(0.0, f64::max)
}

fn text(lanes: usize) -> String {
    let each = |of: &dyn Fn(usize) -> String| (0..CHAINS).map(of).collect::<Vec<_>>().join("\n");
    let bytes = 8 * lanes;
    let ones = vec!["1.0"; lanes].join(", ");
    let begin = each(&|k| format!("  vector a{k} = {{{ones}}};"));
    let step = each(&|k| format!("    a{k} = a{k} * b + c;"));
    let sum: Vec<String> = (0..CHAINS).map(|k| format!("a{k}")).collect();
    let sum = sum.join(" + ");
    format!(
        "#include <stdint.h>
#include <string.h>
typedef double vector __attribute__((vector_size({bytes})));
typedef double loose __attribute__((vector_size({bytes}), aligned(8), may_alias));
void lambada_arithmetic(int64_t rounds, double *out) {{
  vector b = {{{ones}}}, c = b * 0.25;
  b *= 0.5;
{begin}
  for (int64_t i = 0; i < rounds; i++) {{
{step}
  }}
  vector sum = {sum};
  memcpy(out, &sum, sizeof sum);
}}
void lambada_traffic(int64_t n, const double *restrict x, double *restrict y, double s) {{
  for (int64_t i = 0; i < n; i += {lanes}) *(loose *)(y + i) += s * *(const loose *)(x + i);
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small arrays are faster than large ones, and no processor makes less than a tenth of an
    /// operation per nanosecond.
    #[test]
    fn a_machine_has_limits() {
        let Some(peak) = Peak::new(None) else {
            assert!(lambada_testkit::may_lack_c_compiler(), "{}", lambada_testkit::NO_C_COMPILER);
            return;
        };
        let arithmetic = peak.arithmetic();
        assert!((1e8..1e13).contains(&arithmetic), "{arithmetic}");
        let (near, far) = (peak.traffic(1 << 14), peak.traffic(1 << 27));
        assert!(far > 1e8 && near > far, "{near} {far}");
    }
}
