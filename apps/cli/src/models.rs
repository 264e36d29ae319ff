//! The commands for statistical models.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use lambada::{
    Data, Failure, Goal, Options, Posterior, Problem, Request, Session, Tensor, Unit, Variable,
};
use lambada_draws::{Draws, Format, Summary, picture, warnings};
use lambada_sample::{
    Lints, Metric, Resumed, Settings, Unpredicted, Unsampled, Watch, advi, laplace, lints, optima,
    pathfinder, predict, remove_states, sample, standard_errors,
};

use crate::args::{self, DataArgs, Drawing, Model, Predicting, Sampling, Searching, Table};
use crate::report::Report;
use crate::shell::Shell;
use crate::{interrupt, messages, progress, report};

/// The greatest shape k̂ of importance weights of an approximation that is close enough.
const FAR: f64 = 0.7;

impl Shell {
    /// Loads a model with its data, and hands it over.
    fn model<T>(
        &mut self,
        model: &Model,
        init: Option<&Path>,
        make: impl FnOnce(&mut Session, &Unit, &Request<'_>) -> Result<T, Vec<Problem>>,
    ) -> Result<T, Report> {
        let mut words = model.words.clone();
        let named = words.iter().position(|word| lambada::is_identifier(word));
        let entry = named.map(|k| words.remove(k));
        let unit = self.load(&model.file)?;
        let inputs = self.inputs(&DataArgs::of(model.files.clone()), &words)?;
        let options = Options { threads: NonZeroUsize::MIN, ..self.session.options().clone() };
        let start = init.map(|init| self.inputs(&DataArgs::of(vec![init.into()]), &[]));
        let start = start.transpose()?;
        let request = Request {
            entry: entry.as_deref(),
            inputs: &inputs,
            sizes: &model.sizes,
            start: start.as_ref(),
            options: &options,
            told: &|note| report::tell(&messages::note(note)),
        };
        let compiling = progress::working("compiling");
        let made = make(&mut self.session, &unit, &request);
        drop(compiling);
        made.map_err(|p| self.told(p))
    }

    /// `lambada from-stan`
    pub(crate) fn translate_stan(
        &mut self,
        path: &Path,
        partly: bool,
        output: Option<&Path>,
    ) -> Result<(), Report> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| messages::not_read(&name, &e))?;
        let file = self.session.add_source(&name, &text);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let translate =
            if partly { lambada_stan::translate_partly } else { lambada_stan::translate };
        let (program, problems) = translate(&text, file, &stem);
        let told = self.told(problems);
        if program.is_empty() {
            return Err(told);
        }
        report::tell(&told);
        match output {
            Some(path) => lambada::write_text(path, &program).map_err(|p| self.told([p])),
            None => report::result(&program),
        }
    }

    /// `lambada minimize`
    pub(crate) fn minimize(&mut self, model: &Model, how: &Searching) -> Result<(), Report> {
        if let Some(path) = &how.output {
            lambada::check_output(path).map_err(|p| self.told([p]))?;
        }
        let goal = if how.maximize { Goal::Maximum } else { Goal::Minimum };
        let optimum =
            self.model(model, how.start.init.as_deref(), |s, u, r| r.optimum(s, u, goal))?;
        let better: fn(f64, f64) -> bool = if how.maximize { |a, b| a > b } else { |a, b| a < b };
        let searching = progress::working("searching");
        let found = optima(&optimum, how.seed, how.tries.into(), better);
        drop(searching);
        let found = found.map_err(|failure| self.failed(&failure))?;
        let style = self.style(how.look);
        let shown = |data: &Data| -> String {
            let Data::Record(parts) = data else { return String::new() };
            parts.iter().map(|(name, part)| report::named(name, part, style) + "\n").collect()
        };
        let values = optimum.by_parameter(&found.best.values);
        let result = report::named("result", &number(found.best.result), style);
        match &how.output {
            Some(path) => {
                lambada::write_file(path, &values, self.session.options().precision)
                    .map_err(|p| self.told([p]))?;
            }
            None => report::result(&format!("{}{result}\n", shown(&values)))?,
        }
        if !found.best.converged {
            return Err(messages::not_converged(&found.best, how.maximize));
        }
        if let Some(other) = found.others.first() {
            report::tell(&messages::other_optimum(other.result, found.others.len()));
        }
        if how.errors {
            let errors = standard_errors(&optimum, &found.best.coordinates);
            match errors.map_err(|failure| self.failed(&failure))? {
                Some(errors) => {
                    let errors = shown(&optimum.by_parameter(&errors));
                    report::result(&format!("\nstandard errors:\n{errors}"))?;
                }
                None => return Err(messages::NO_ERRORS.into()),
            }
        }
        Ok(())
    }

    /// `lambada sample`
    pub(crate) fn sample(&mut self, model: &Model, how: &Sampling) -> Result<(), Report> {
        let begun = Instant::now();
        let output = self.draws_output(how.output.as_deref())?;
        match how.method {
            args::Method::Nuts => {}
            args::Method::Laplace => return self.laplace(model, how, output),
            args::Method::Pathfinder | args::Method::Advi => {
                return self.approximation(model, how, output);
            }
        }
        let posterior =
            self.model(model, how.start.init.as_deref(), |s, u, r| r.posterior(s, u))?;
        let compiled = begun.elapsed();
        doubt(&posterior, how.seed);
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let settings = Settings {
            chains: how.chains.into(),
            warmup: how.warmup.into(),
            draws: how.draws.into(),
            seed: how.seed,
            target_accept: how.target_accept,
            max_depth: how.max_depth.into(),
            metric: match how.metric {
                args::Metric::Diag => Metric::Diagonal,
                args::Metric::Dense => Metric::Dense,
                args::Metric::LowRank => Metric::LowRank,
            },
            threads: self.threads.unwrap_or(cores),
            states: output.map(|(path, _)| beside(path)),
        };
        let watched = Watched::new(&settings);
        let drawn = interrupt::keeps(|| sample(&posterior, &settings, &watched));
        watched.end();
        let draws = drawn.map_err(|why| self.unsampled(model, how, &posterior, &why))?;
        if draws.draws == 0 {
            report::tell(messages::NO_DRAWS);
            return ended(&draws, &settings);
        }
        if let Some((path, format)) = output {
            self.write_draws(path, format, &draws)?;
        }
        let summary = tabled(&draws, how.table)?;
        for finding in warnings(&draws, &summary) {
            report::tell(&format!("\n{finding}\n"));
        }
        report::tell(&messages::sampled(&posterior, &draws, compiled, begun.elapsed()));
        ended(&draws, &settings)
    }

    /// `lambada predict`
    pub(crate) fn predict(&mut self, model: &Model, how: &Predicting) -> Result<(), Report> {
        let output = self.draws_output(how.output.as_deref())?;
        let draws = self.read_draws(&how.draws)?;
        let variables = draws.variables.iter();
        let variables: Vec<Variable> =
            variables.map(|v| Variable { name: v.name.clone(), dims: v.dims.clone() }).collect();
        let prediction =
            self.model(model, None, |s, u, r| r.prediction(s, u, &variables, how.seed))?;
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let running = progress::working("running");
        let made = predict(&prediction, &draws, self.threads.unwrap_or(cores));
        drop(running);
        let made = made.map_err(|why| match why {
            Unpredicted::Failed(failure) => self.failed(&failure),
            Unpredicted::Sizes(name, first, other, draw) => {
                messages::other_sizes(&name, &first, &other, draw)
            }
        })?;
        let (chains, count) = (draws.chains, draws.draws);
        let results = Draws { chains, draws: count, variables: made, ..Draws::default() };
        let Some((path, format)) = output else {
            return tabled(&results, how.table).map(drop);
        };
        let whole = if format == Format::NetCdf { draws.with_results(results) } else { results };
        self.write_draws(path, format, &whole)
    }

    /// `lambada plot` of draws.
    pub(crate) fn plot_draws(&self, file: &Path, drawing: &Drawing) -> Result<(), Report> {
        if Format::of(file).is_none() {
            return Err(messages::no_entry(file));
        }
        let Some(path) = &drawing.output else { return Err(messages::NO_PICTURE.into()) };
        lambada::check_picture(path).map_err(|p| self.told([p]))?;
        let draws = self.read_draws(file)?;
        let names = drawing.of();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let kind = drawing.kind.unwrap_or(args::Chart::Trace).kind();
        let name = file.display().to_string();
        let svg =
            picture(&draws, kind, &names).map_err(|wrong| messages::broken_draws(&name, &wrong))?;
        lambada::write_text(path, &svg).map_err(|p| self.told([p]))
    }

    /// A file for draws, and its format.
    fn draws_output<'p>(
        &self,
        path: Option<&'p Path>,
    ) -> Result<Option<(&'p Path, Format)>, Report> {
        let Some(path) = path else { return Ok(None) };
        let format = draws_format(path)?;
        lambada::check_place(path).map_err(|p| self.told([p]))?;
        Ok(Some((path, format)))
    }

    pub(crate) fn read_draws(&self, path: &Path) -> Result<Draws, Report> {
        let format = draws_format(path)?;
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| messages::not_read(&name, &error))?;
        format.read(&bytes).map_err(|wrong| messages::broken_draws(&name, &wrong))
    }

    fn write_draws(&self, path: &Path, format: Format, draws: &Draws) -> Result<(), Report> {
        let name = path.display().to_string();
        let bytes = format.write(draws).map_err(|wrong| messages::broken_draws(&name, &wrong))?;
        lambada::replace_file(path, &bytes).map_err(|error| messages::not_written(&name, &error))
    }

    /// `lambada sample --method laplace`
    fn laplace(
        &mut self,
        model: &Model,
        how: &Sampling,
        output: Option<(&Path, Format)>,
    ) -> Result<(), Report> {
        let (posterior, optimum) = self.model(model, how.start.init.as_deref(), |s, u, r| {
            Ok((r.posterior(s, u)?, r.optimum(s, u, Goal::ModeOfCoordinates)?))
        })?;
        doubt(&posterior, how.seed);
        let searching = progress::working("searching");
        let found = optima(&optimum, how.seed, how.chains.into(), |a, b| a > b);
        drop(searching);
        let mode = found.map_err(|failure| self.failed(&failure))?.best;
        if !mode.converged {
            return Err(messages::not_converged(&mode, true));
        }
        let count = usize::from(how.chains) * how.draws as usize;
        let draws = laplace(&optimum, &mode, how.seed, count);
        let draws = draws.map_err(|failure| self.failed(&failure))?;
        let draws = draws.ok_or_else(|| messages::NO_ERRORS.to_string())?;
        if let Some((path, format)) = output {
            self.write_draws(path, format, &draws)?;
        }
        tabled(&draws, how.table).map(drop)
    }

    /// `lambada sample --method pathfinder`, and `advi`
    fn approximation(
        &mut self,
        model: &Model,
        how: &Sampling,
        output: Option<(&Path, Format)>,
    ) -> Result<(), Report> {
        let init = how.start.init.as_deref();
        let posterior = self.model(model, init, |s, u, r| r.posterior(s, u))?;
        doubt(&posterior, how.seed);
        let (paths, draws) = (usize::from(how.chains), how.draws as usize);
        let searching = progress::working("searching");
        let found = match how.method {
            args::Method::Pathfinder => pathfinder(&posterior, paths, draws, how.seed),
            _ => advi(&posterior, paths * draws, how.seed),
        };
        drop(searching);
        let found = found.map_err(|why| self.unsampled(model, how, &posterior, &why))?;
        if let Some((path, format)) = output {
            self.write_draws(path, format, &found.draws)?;
        }
        tabled(&found.draws, how.table)?;
        if found.shape.is_nan() || found.shape > FAR {
            report::tell(&messages::far(found.shape));
        }
        Ok(())
    }

    fn failed(&self, failure: &Failure) -> Report {
        report::failure(&self.session, failure, self.color)
    }

    fn unsampled(
        &mut self,
        model: &Model,
        how: &Sampling,
        posterior: &Posterior,
        why: &Unsampled,
    ) -> Report {
        let start = match why {
            Unsampled::Failed(failure) => return self.failed(failure),
            Unsampled::Start(start) => start,
        };
        if let Some(failure) = &start.failure {
            return self.failed(failure);
        }
        let blame =
            self.model(model, how.start.init.as_deref(), |s, u, r| r.blame(s, u, &start.point));
        match blame {
            Ok(Some(problem)) => self.told([problem]),
            _ => messages::no_start(posterior.entry(), start.density, start.gradient_only),
        }
    }
}

/// Tells the findings before the first draw.
fn doubt(posterior: &Posterior, seed: u64) {
    let Lints { findings, looked } = lints(posterior, seed);
    for finding in findings {
        report::tell(&format!("{finding}\n\n"));
    }
    if looked < posterior.dimension() {
        report::tell(&messages::note(&messages::looked(looked, posterior.dimension())));
    }
}

/// The folder for the states of the chains whose draws are for a file.
fn beside(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".chains");
    name.into()
}

/// Removes the states of complete chains; tells that others are shorter than they should be.
fn ended(draws: &Draws, settings: &Settings) -> Result<(), Report> {
    let states = settings.states.as_deref();
    if draws.draws as u64 >= settings.draws {
        let Some(states) = states else { return Ok(()) };
        let name = states.display();
        return remove_states(states).map_err(|why| messages::not_removed(&name, &why));
    }
    if draws.draws > 0 {
        report::tell(&messages::interrupted(draws.draws, settings.draws));
    }
    if let Some(states) = states.filter(|states| states.is_dir()) {
        report::tell(&messages::goes_on(&states.display()));
    }
    Err(String::new())
}

/// Prints the table of draws.
fn tabled(draws: &Draws, how: Table) -> Result<Summary, Report> {
    let summary = Summary::of(draws);
    let text = if how.json { format!("{:#}\n", summary.to_json()) } else { summary.text(how.all) };
    report::result(&text).map(|()| summary)
}

/// The format of a file of draws.
fn draws_format(path: &Path) -> Result<Format, Report> {
    Format::of(path).ok_or_else(|| messages::no_draws_file(path))
}

fn number(x: f64) -> Data {
    Data::Tensor(Tensor::reals(Vec::new(), vec![x]))
}

/// The progress of the chains.
struct Watched {
    bars: Vec<indicatif::ProgressBar>,
    warmup: u64,
    divergences: Vec<AtomicU64>,
    /// The folder of states, and the last note about it.
    states: Option<PathBuf>,
    note: Mutex<String>,
}

impl Watched {
    fn new(settings: &Settings) -> Watched {
        let bars = progress::chains(settings.chains, settings.warmup + settings.draws);
        let divergences = (0..settings.chains).map(|_| AtomicU64::new(0)).collect();
        let (states, note) = (settings.states.clone(), Mutex::default());
        Watched { bars, warmup: settings.warmup, divergences, states, note }
    }

    fn end(&self) {
        self.bars.iter().for_each(indicatif::ProgressBar::finish_and_clear);
    }
}

impl Watch for Watched {
    fn drawn(&self, chain: usize, draw: u64, diverging: bool) {
        let Some(bar) = self.bars.get(chain) else { return };
        if diverging && draw > self.warmup {
            let count = self.divergences[chain].fetch_add(1, Ordering::Relaxed) + 1;
            bar.set_message(messages::divergences(count));
        }
        if draw.is_multiple_of(10) || Some(draw) == bar.length() {
            bar.set_position(draw);
        }
    }

    fn stops(&self) -> bool {
        interrupt::pressed()
    }

    fn resumed(&self, chain: usize, what: Resumed) {
        if let (Resumed::After(draw), Some(bar)) = (&what, self.bars.get(chain)) {
            bar.set_position(*draw);
        }
        let Some(states) = &self.states else { return };
        let text = messages::resumed(&states.display(), &what);
        // All chains have the same to say.
        let mut note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        if *note != text {
            report::tell(&text);
            *note = text;
        }
    }
}
