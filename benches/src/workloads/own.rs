//! The measurement of Lambada, as a Rust program calls it.

use std::fs;
use std::path::Path;
use std::time::Instant;

use lambada::{Arg, Args, Data, Elements, Error, IntoArg, Model, Options, Precision, Tensor};

use super::{Measured, Problem, Workload};

/// The number of gradients that a fit takes; with 32 bits nobody reads their time.
const CALLS: usize = 1000;

fn calls(precision: Precision) -> usize {
    if precision == Precision::F64 { CALLS } else { 1 }
}

/// Measures a workload in this process, which should not have done anything else; `patience` is the
/// time for the steady state, in seconds.
pub fn measured(
    root: &Path,
    workload: &Workload,
    at: usize,
    precision: Precision,
    patience: f64,
) -> Result<Measured, String> {
    let problem = (workload.problems)()[at].make();
    let singles = problem.arguments.iter().map(|(_, data)| narrow(data, precision)).collect();
    run(root, workload, &problem, singles, precision, patience).map_err(|error| error.to_string())
}

/// The elements with 32 bits, if the program has such reals.
fn narrow(data: &Data, precision: Precision) -> Vec<f32> {
    match data {
        Data::Tensor(tensor) if precision == Precision::F32 => match &tensor.data {
            Elements::Real(values) => values.iter().map(|x| *x as f32).collect(),
            Elements::Int(_) | Elements::Bool(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn run(
    root: &Path,
    workload: &Workload,
    problem: &Problem,
    singles: Vec<Vec<f32>>,
    precision: Precision,
    patience: f64,
) -> Result<Measured, Error> {
    let args = || {
        let mut args = Args::new();
        for ((name, data), singles) in problem.arguments.iter().zip(&singles) {
            args.insert(*name, lent(data, singles, precision));
        }
        args
    };
    let load = |options: Options| {
        let file = root.join("examples/workloads").join(workload.name).with_extension("lam");
        Model::builder().options(options).load(file)?.function("loss")
    };
    let options = Options { precision, ..Options::default() };
    forget_peak();
    let (before, start) = (memory("VmRSS"), Instant::now());
    let function = load(Options { meanwhile: true, ..options.clone() })?;
    let both = function.value_and_grad(workload.wrt)?;
    let (value, gradient) = both.call(args())?;
    let first = start.elapsed().as_secs_f64();
    let mut calls = 1;
    while calls < self::calls(precision) && start.elapsed().as_secs_f64() < 10.0 * patience {
        both.call(args())?;
        calls += 1;
    }
    let so_far = start.elapsed().as_secs_f64();
    let memory = memory("VmHWM").zip(before).map(|(most, before)| most - before);
    // Waits for the code of the C compiler.
    let function = load(options)?;
    let both = function.value_and_grad(workload.wrt)?;
    let gradient_time = best(patience, || both.call(args()).map(drop))?;
    let value_time = best(patience, || function.call(args()).map(drop))?;
    Ok(Measured {
        value,
        norms: gradient.iter().map(|(_, part)| norm(part.data())).collect(),
        value_time: Some(value_time),
        gradient_time,
        first,
        thousand: so_far + (CALLS - calls) as f64 * gradient_time,
        memory,
    })
}

/// The Euclidean norm.
fn norm(data: &Data) -> f64 {
    match data {
        Data::Tensor(Tensor { data: Elements::Real(values), .. }) => {
            values.iter().map(|x| x * x).sum::<f64>().sqrt()
        }
        _ => f64::NAN,
    }
}

/// An array that is not copied.
fn lent<'a>(data: &'a Data, singles: &'a [f32], precision: Precision) -> Arg<'a> {
    let Data::Tensor(tensor) = data else { return data.into_arg() };
    let dims = &tensor.dims;
    let array = match &tensor.data {
        Elements::Real(_) if precision == Precision::F32 => Arg::singles(dims, singles),
        Elements::Real(values) => Arg::reals(dims, values),
        Elements::Int(values) => Arg::ints(dims, values),
        Elements::Bool(values) => Arg::bools(dims, values),
    };
    array.expect("the elements fill the array")
}

/// The least time of a call, in seconds.
fn best(patience: f64, mut call: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    call()?;
    let (start, mut least, mut calls) = (Instant::now(), f64::INFINITY, 0);
    while calls < 3 || (start.elapsed().as_secs_f64() < patience && calls < 3000) {
        let before = Instant::now();
        call()?;
        least = least.min(before.elapsed().as_secs_f64());
        calls += 1;
    }
    Ok(least)
}

/// Bytes of this process, where the system tells them.
fn memory(key: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| 1024.0 * kilobytes)
}

/// Has the system forget how much memory this process had. Where that is not possible, the most is
/// that since its start.
fn forget_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

#[cfg(test)]
mod tests {
    use lambada::Engine;

    use super::*;
    use crate::workloads::WORKLOADS;

    /// The tangent along the gradient is the square of its length.
    #[test]
    fn reverse_and_forward_mode_agree() {
        lambada_testkit::parallel(WORKLOADS, |workload| {
            let problem = (workload.problems)()[0].make();
            let args = || {
                let mut args = Args::new();
                problem.arguments.iter().for_each(|(name, data)| args.insert(*name, data));
                args
            };
            let file = crate::root().join("examples/workloads").join(workload.name);
            let options = Options { engine: Engine::Jit, ..Options::default() };
            let model = Model::builder().options(options).load(file.with_extension("lam"));
            let squares = |function: lambada::Function| {
                let (_, gradient) = function.value_and_grad(workload.wrt)?.call(args())?;
                let mut along = Args::new();
                gradient.iter().for_each(|(name, part)| along.insert(name.to_string(), part));
                let (_, tangent) = function.jvp(workload.wrt)?.call(args(), along)?;
                let length: f64 = gradient.iter().map(|(_, part)| norm(part.data()).powi(2)).sum();
                Ok::<_, Error>((length, f64::try_from(tangent)?))
            };
            let found = model.and_then(|model| squares(model.function("loss")?));
            let (length, tangent) = found.unwrap_or_else(|e| panic!("{}: {e}", workload.name));
            let near = (length - tangent).abs() <= 1e-8 * length;
            assert!(near, "{}: {length} and {tangent}", workload.name);
        });
    }
}
