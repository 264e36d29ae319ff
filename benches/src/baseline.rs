//! Handwritten C code: compiled once, called with arrays.

#![allow(unsafe_code)]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::inputs::Arrays;

/// Default flags of the C compiler, without tuning.
pub const FLAGS: &str = "-O2 -march=native";

/// `struct call` of baseline.h.
#[repr(C)]
struct Call {
    n: *const i64,
    x: *const *const f64,
    i: *const *const i64,
    y: *const *mut f64,
    j: *const *mut i64,
}

type Entry = unsafe extern "C" fn(*const Call);

/// Value and derivative of an eval.
pub struct Baseline {
    library: libloading::Library,
    /// The code compiled to count the memory that it allocates.
    counts: libloading::Library,
    _folder: tempfile::TempDir,
}

/// The value or the derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Value,
    Derivative,
}

/// Results in the order of baseline.h: arrays of numbers, and of integers.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    pub reals: Vec<Vec<f64>>,
    pub ints: Vec<Vec<i64>>,
}

/// The C compiler.
pub fn compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".to_string())
}

impl Baseline {
    pub fn compile(source: &Path, flags: &str) -> Result<Baseline, String> {
        let shown = source.display();
        let folder =
            tempfile::tempdir().map_err(|error| format!("no folder for {shown}: {error}"))?;
        let library = load(source, flags, &folder.path().join("baseline.so"))?;
        let counting = format!("{flags} -DCOUNTS");
        let counts = load(source, &counting, &folder.path().join("counts.so"))?;
        Ok(Baseline { library, counts, _folder: folder })
    }

    /// Peak of the bytes that a call allocates, results included.
    pub fn memory(&self, which: Which, arrays: &Arrays, into: &mut Results) -> u64 {
        // SAFETY: baseline.h defines the number, and only calls change it.
        let counted = unsafe {
            let most: libloading::Symbol<*mut i64> =
                self.counts.get(b"most_bytes").expect("baseline.h defines it");
            **most = 0;
            call(&self.counts, which, arrays, into, 1);
            **most
        };
        let reals: usize = into.reals.iter().map(Vec::len).sum();
        let ints: usize = into.ints.iter().map(Vec::len).sum();
        counted.unsigned_abs() + 8 * (reals + ints) as u64
    }

    /// Nanoseconds of each of `times` calls. Writes results into `into`, whose arrays have their
    /// lengths.
    pub fn time(
        &self,
        which: Which,
        arrays: &Arrays,
        into: &mut Results,
        times: usize,
    ) -> Vec<u64> {
        call(&self.library, which, arrays, into, times)
    }
}

/// Compiles and loads a file.
fn load(source: &Path, flags: &str, library: &Path) -> Result<libloading::Library, String> {
    let (shown, compiler) = (source.display(), compiler());
    let status = Command::new(&compiler)
        .arg("-std=gnu11")
        .args(flags.split_whitespace())
        .args(["-fPIC", "-shared"])
        .arg(source)
        .arg("-o")
        .arg(library)
        .arg("-lm")
        .status()
        .map_err(|error| format!("cannot run the C compiler `{compiler}`: {error}; set CC"))?;
    if !status.success() {
        return Err(format!("`{compiler}` does not compile {shown} with {flags}"));
    }
    // SAFETY: the library was compiled from our source just now, and loading it runs no code.
    unsafe { libloading::Library::new(library) }
        .map_err(|error| format!("what `{compiler}` makes of {shown} cannot be loaded: {error}"))
}

/// Calls a function of a baseline.
fn call(
    library: &libloading::Library,
    which: Which,
    arrays: &Arrays,
    into: &mut Results,
    times: usize,
) -> Vec<u64> {
    let x: Vec<*const f64> = arrays.reals.iter().map(|array| array.as_ptr()).collect();
    let i: Vec<*const i64> = arrays.ints.iter().map(|array| array.as_ptr()).collect();
    let y: Vec<*mut f64> = into.reals.iter_mut().map(|array| array.as_mut_ptr()).collect();
    let j: Vec<*mut i64> = into.ints.iter_mut().map(|array| array.as_mut_ptr()).collect();
    let call = Call {
        n: arrays.sizes.as_ptr(),
        x: x.as_ptr(),
        i: i.as_ptr(),
        y: y.as_ptr(),
        j: j.as_ptr(),
    };
    let name: &[u8] = match which {
        Which::Value => b"value",
        Which::Derivative => b"derivative",
    };
    // SAFETY: every baseline defines both functions with the signature of baseline.h, takes the
    // arrays of `inputs`, whose sizes are in `sizes`, and writes arrays as long as those of the
    // program that `measure` ran before.
    unsafe {
        let entry: libloading::Symbol<Entry> = library.get(name).expect("baselines define both");
        (0..times)
            .map(|_| {
                let start = Instant::now();
                entry(&call);
                start.elapsed().as_nanos() as u64
            })
            .collect()
    }
}
