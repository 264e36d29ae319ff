//! The programs of examples/workloads, which nobody tuned, beside the same functions in JAX,
//! PyTorch and SciPy (benches/workloads/peers.py), where these are installed.
//!
//! Each system runs in a process of its own, on one core: from the source text to the first
//! gradient, on to the thousandth, then as fast as it gets. A system whose value or gradient
//! differs is an error.
//!
//! - `inputs`: the workloads with their data;
//! - `own`: the measurement of Lambada, in the process of its own;
//! - `page`: the tables and the plot.

mod inputs;
mod own;
mod page;

use std::path::Path;
use std::process::{Command, Stdio};

use lambada::{Data, Precision};
use serde_json::{Value, json};

pub use inputs::{WORKLOADS, Workload};
pub use own::measured;
pub use page::{SERIES, TITLE, line, lines, page};

use crate::inputs::record;

/// A workload at one size.
pub struct Problem {
    /// Its sizes, for readers.
    pub label: String,
    /// By parameter of `loss`, in order.
    pub arguments: Vec<(&'static str, Data)>,
}

/// One system at one problem. Times in seconds.
#[derive(Clone, Debug)]
pub struct Measured {
    pub value: f64,
    /// The Euclidean norms of the parts of the gradient.
    pub norms: Vec<f64>,
    pub value_time: Option<f64>,
    pub gradient_time: f64,
    /// From the source text to the first gradient.
    pub first: f64,
    /// From the source text to the thousandth gradient.
    pub thousand: f64,
    /// The most memory of the process, without that for its arguments, in bytes.
    pub memory: Option<f64>,
}

impl Measured {
    pub fn to_json(&self) -> Value {
        json!({
            "value": self.value, "norms": self.norms, "value_time": self.value_time,
            "gradient_time": self.gradient_time, "first": self.first,
            "thousand": self.thousand, "memory": self.memory,
        })
    }

    fn of_json(json: &Value) -> Option<Measured> {
        let number = |key: &str| json.get(key)?.as_f64();
        let norms = json.get("norms")?.as_array()?.iter().map(Value::as_f64);
        Some(Measured {
            value: number("value")?,
            norms: norms.collect::<Option<_>>()?,
            value_time: number("value_time"),
            gradient_time: number("gradient_time")?,
            first: number("first")?,
            thousand: number("thousand")?,
            memory: number("memory"),
        })
    }

    /// Whether value and gradient are those of the other.
    fn agrees(&self, other: &Measured, tolerance: f64) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= tolerance * (a.abs() + b.abs());
        near(self.value, other.value)
            && self.norms.len() == other.norms.len()
            && self.norms.iter().zip(&other.norms).all(|(a, b)| near(*a, *b))
    }
}

/// A problem with the measurements of all systems.
pub struct Row {
    pub workload: &'static str,
    pub label: String,
    pub precision: Precision,
    pub own: Measured,
    /// In the order of the systems.
    pub peers: Vec<Option<Measured>>,
}

/// An installed system: its name for the script, and its name with version for readers.
pub struct System {
    name: String,
    pub title: String,
}

/// The systems that the Python of the path has installed.
pub fn systems(script: &Path) -> Vec<System> {
    let output = Command::new("python3").arg(script).arg("--systems").output();
    let found = output.ok().and_then(|o| serde_json::from_slice::<Value>(&o.stdout).ok());
    let found = found.as_ref().and_then(Value::as_object).into_iter().flatten();
    let title = |name: &str| match name {
        "jax" => "JAX",
        "torch" => "PyTorch",
        _ => "SciPy, by hand",
    };
    found
        .map(|(name, version)| System {
            name: name.clone(),
            title: format!("{} {}", title(name), version.as_str().unwrap_or_default()),
        })
        .collect()
}

/// Measures all systems at one problem, one after the other.
pub fn run(
    root: &Path,
    systems: &[System],
    workload: &'static Workload,
    at: usize,
    precision: Precision,
    patience: f64,
) -> Result<Row, String> {
    let problem = (workload.problems)()[at].make();
    let bits = if precision == Precision::F64 { "64" } else { "32" };
    let folder = tempfile::tempdir().map_err(|error| format!("no folder for data: {error}"))?;
    let data = folder.path().join("data.npz");
    lambada::write_file(&data, &record(&problem.arguments), Precision::F64)
        .map_err(|problem| problem.title)?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut own = Command::new(own);
    own.args(["--alone", workload.name, "--at", &at.to_string(), "--bits", bits]);
    own.args(["--patience", &patience.to_string()]).env("LAMBADA_CACHE", folder.path());
    let place = format!("{}, {}", workload.name, problem.label);
    let own = answer(own, &place)?.ok_or_else(|| format!("{place}: nothing was measured"))?;
    let names: Vec<&str> = problem.arguments.iter().map(|(name, _)| *name).collect();
    let wrt = json!({ "arguments": names, "wrt": workload.wrt }).to_string();
    let script = root.join("benches/workloads/peers.py");
    let mut peers = Vec::new();
    for system in systems {
        let mut command = Command::new("python3");
        command.arg(&script).args([workload.name, &system.name]).arg(&data);
        command.args([bits, &patience.to_string(), &wrt]);
        let place = format!("{place}, {}", system.title);
        let peer = answer(command, &place)?;
        let tolerance = if precision == Precision::F64 { 1e-7 } else { 2e-2 };
        if let Some(peer) = &peer
            && !peer.agrees(&own, tolerance)
        {
            return Err(format!(
                "{place}: value {} and norms {:?}, but Lambada has {} and {:?}",
                peer.value, peer.norms, own.value, own.norms
            ));
        }
        peers.push(peer);
    }
    Ok(Row { workload: workload.name, label: problem.label, precision, own, peers })
}

/// The measurement that a process prints; none if it prints null.
fn answer(mut command: Command, place: &str) -> Result<Option<Measured>, String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{place}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{place}: the process ended with {}", output.status));
    }
    let json: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{place}: no measurement was printed: {error}"))?;
    Ok(Measured::of_json(&json))
}
