//! Definitions as statistical models.

use std::num::NonZeroUsize;
use std::sync::Arc;

use lambada::{Data, Failure, Given, Goal, Optimum, Value};
use lambada_sample::{
    Metric, Optima, Settings, Unpredicted, Unsampled, lints, optima, standard_errors,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::chains::{Counts, followed};
use crate::classes;
use crate::data::inputs;
use crate::draws::{Draws, told};
use crate::function::Function;
use crate::options::unknown;
use crate::running::watched;

/// Data, whose other members are ignored; values of parameters by keyword; sizes; and values to
/// begin at.
type Request<'py> =
    (Bound<'py, PyDict>, Bound<'py, PyDict>, Vec<(String, usize)>, Option<Bound<'py, PyDict>>);

fn given(f: &Function, request: &Request<'_>) -> PyResult<Given> {
    let (data, keywords, sizes, init) = request;
    let none = PyDict::new(data.py());
    let data = inputs(f.interface(), data, keywords, |name| format!("the keyword `{name}`"))?;
    let start = |init| inputs(f.interface(), &none, init, |_| "`init`".into());
    let start = init.as_ref().map(start).transpose()?;
    Ok(Given { data, sizes: sizes.clone(), start })
}

/// How to sample, as Python names it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct How {
    chains: usize,
    warmup: u64,
    draws: u64,
    seed: u64,
    target_accept: f64,
    max_depth: u64,
    metric: String,
    threads: Option<NonZeroUsize>,
}

impl How {
    fn settings(self) -> PyResult<Settings> {
        Ok(Settings {
            chains: self.chains,
            warmup: self.warmup,
            draws: self.draws,
            seed: self.seed,
            target_accept: self.target_accept,
            max_depth: self.max_depth,
            metric: match &*self.metric {
                "diag" => Metric::Diagonal,
                "dense" => Metric::Dense,
                "low-rank" => Metric::LowRank,
                other => return Err(unknown("metric", other, &["diag", "dense", "low-rank"])),
            },
            threads: self.threads.unwrap_or_else(cores),
            states: None,
        })
    }
}

fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Draws from the posterior whose log density a definition is. `doubt` takes the findings before
/// the first draw, and `tell` hears of the draws.
#[pyfunction]
#[pyo3(signature = (f, request, how, doubt, tell))]
pub(crate) fn sample(
    py: Python<'_>,
    f: &Function,
    request: Request<'_>,
    how: How,
    doubt: &Bound<'_, PyAny>,
    tell: Option<&Bound<'_, PyAny>>,
) -> PyResult<Draws> {
    let (given, settings) = (given(f, &request)?, how.settings()?);
    let (function, seed) = (f.function.clone(), settings.seed);
    let (posterior, findings) = watched(py, (), move || {
        let posterior = function.posterior(&given)?;
        let found = lints(&posterior, seed);
        Ok((posterior, found.findings))
    })?;
    doubt.call1((findings.into_iter().map(told).collect::<Vec<_>>(),))?;
    let counts = Arc::new(Counts::new(settings.chains));
    let sampled = followed(py, &counts, tell, move |counts| {
        lambada_sample::sample(&posterior, &settings, counts)
    });
    sampled?.map(Draws::of).map_err(|why| unsampled(py, f, &request, &why))
}

fn unsampled(py: Python<'_>, f: &Function, (.., init): &Request<'_>, why: &Unsampled) -> PyErr {
    let start = match why {
        Unsampled::Failed(failure) => return failed(py, failure),
        Unsampled::Start(start) => start,
    };
    if let Some(failure) = &start.failure {
        return failed(py, failure);
    }
    let (what, value) = match start.gradient_only {
        true => ("the gradient", "not finite".to_string()),
        false => ("the log density", start.density.to_string()),
    };
    let place = if init.is_some() { "the values of `init`" } else { "100 random points" };
    let name = f.function.name();
    let text = format!("{what} of `{name}` is {value} at {place}, so no chain can begin");
    running(py, &text)
}

fn failed(py: Python<'_>, failure: &Failure) -> PyErr {
    running(py, &format!("run-time error: {}", failure.message))
}

fn running(py: Python<'_>, text: &str) -> PyErr {
    let class = classes::failure(py);
    let made = class.and_then(|class| class.call1((text, PyTuple::empty(py))));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Where a search ended: values and standard errors by parameter, the result, the norm of the
/// gradient, whether it converged, and the results of other optima.
type Found<'py> = (Bound<'py, PyDict>, Option<Bound<'py, PyDict>>, f64, f64, bool, Vec<f64>);

/// Searches an optimum of a definition.
#[pyfunction]
pub(crate) fn minimize<'py>(
    py: Python<'py>,
    f: &Function,
    request: Request<'py>,
    maximize: bool,
    errors: bool,
    tries: usize,
    seed: u64,
) -> PyResult<Found<'py>> {
    let given = given(f, &request)?;
    let goal = if maximize { Goal::Maximum } else { Goal::Minimum };
    let better: fn(f64, f64) -> bool = if maximize { |a, b| a > b } else { |a, b| a < b };
    let function = f.function.clone();
    let searched = watched(py, (), move || {
        let optimum = function.optimum(&given, goal)?;
        Ok(search(&optimum, errors, |optimum| optima(optimum, seed, tries, better)))
    });
    let (values, errors, found) = searched?.map_err(|failure| failed(py, &failure))?;
    let best = found.best;
    let errors = errors.map(|errors| by_parameter(py, f, errors)).transpose()?;
    let others = found.others.iter().map(|other| other.result).collect();
    let values = by_parameter(py, f, values)?;
    Ok((values, errors, best.result, best.gradient_norm, best.converged, others))
}

/// The optima, and the values and the standard errors at the best one.
fn search(
    optimum: &Optimum,
    errors: bool,
    optima: impl FnOnce(&Optimum) -> Result<Optima, Failure>,
) -> Result<(Data, Option<Data>, Optima), Failure> {
    let found = optima(optimum)?;
    let best = &found.best;
    let errors = match errors && best.converged {
        true => standard_errors(optimum, &best.coordinates)?,
        false => None,
    };
    let errors = errors.map(|errors| optimum.by_parameter(&errors));
    Ok((optimum.by_parameter(&best.values), errors, found))
}

fn by_parameter<'py>(py: Python<'py>, f: &Function, data: Data) -> PyResult<Bound<'py, PyDict>> {
    let (all, interface) = (PyDict::new(py), f.interface());
    let Data::Record(parts) = data else { return Ok(all) };
    for (name, part) in parts {
        let value = interface.writer(py).value(Value::from(part), interface.type_of(&name))?;
        all.set_item(&*name, value)?;
    }
    Ok(all)
}

/// A definition for each draw.
#[pyfunction]
pub(crate) fn predict(
    py: Python<'_>,
    f: &Function,
    draws: Bound<'_, Draws>,
    request: Request<'_>,
    seed: u64,
    threads: Option<NonZeroUsize>,
) -> PyResult<Draws> {
    let given = given(f, &request)?;
    let variable = |v: &lambada_draws::Variable| lambada::Variable {
        name: v.name.clone(),
        dims: v.dims.clone(),
    };
    let variables: Vec<_> = draws.get().draws.variables.iter().map(variable).collect();
    let (function, own) = (f.function.clone(), draws.get().draws.clone());
    let made = watched(py, (), move || {
        let prediction = function.prediction(&given, &variables, seed)?;
        Ok(lambada_sample::predict(&prediction, &own, threads.unwrap_or_else(cores)))
    });
    let variables = made?.map_err(|why| match why {
        Unpredicted::Failed(failure) => failed(py, &failure),
        Unpredicted::Sizes(name, first, other, draw) => PyValueError::new_err(format!(
            "`{name}` has the shape {first:?} for the first draw and {other:?} for draw {draw}; it should have the same for all"
        )),
    })?;
    let lambada_draws::Draws { chains, draws, .. } = *draws.get().draws;
    Ok(Draws::of(lambada_draws::Draws { chains, draws, variables, ..Default::default() }))
}
