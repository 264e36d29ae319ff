//! The commands for statistical models.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use lambada::{Options, Posterior, Request};
use lambada_draws::{Draws, Summary, warnings};
use lambada_sample::{Metric, Settings, Unsampled, Watch, sample};

use crate::args::{self, DataArgs, Model, Sampling};
use crate::report::Report;
use crate::shell::Shell;
use crate::{interrupt, messages, progress, report};

impl Shell {
    /// Loads a model with its data, and compiles it.
    fn posterior(&mut self, model: &Model) -> Result<Posterior, Report> {
        let mut words = model.words.clone();
        let named = words.iter().position(|word| lambada::is_identifier(word));
        let entry = named.map(|k| words.remove(k));
        let unit = self.load(&model.file)?;
        let inputs = self.inputs(&DataArgs::of(model.files.clone()), &words)?;
        let options = Options { threads: NonZeroUsize::MIN, ..self.session.options().clone() };
        let request = Request {
            entry: entry.as_deref(),
            inputs: &inputs,
            sizes: &model.sizes,
            options: &options,
        };
        let compiling = progress::working("compiling");
        let posterior = self.session.posterior(&unit, &request);
        drop(compiling);
        posterior.map_err(|p| self.told(p))
    }

    /// `lambada sample`
    pub(crate) fn sample(&mut self, model: &Model, how: &Sampling) -> Result<(), Report> {
        let begun = Instant::now();
        let posterior = self.posterior(model)?;
        let compiled = begun.elapsed();
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
            },
            threads: self.threads.unwrap_or(cores),
        };
        let watched = Watched::new(&settings);
        let drawn = interrupt::keeps(|| sample(&posterior, &settings, None, &watched));
        watched.end();
        let draws = drawn.map_err(|why| self.unsampled(&posterior, &why))?;
        if draws.draws == 0 {
            return Err(messages::NO_DRAWS.into());
        }
        let summary = Summary::of(&draws);
        if how.json {
            report::result(&format!("{:#}\n", summary.to_json()))?;
        } else {
            report::result(&summary.text(how.all))?;
        }
        for finding in warnings(&draws, &summary) {
            report::tell(&format!("\n{finding}\n"));
        }
        report::tell(&messages::sampled(&draws, compiled, begun.elapsed()));
        self.interrupted(&draws, &settings)
    }

    /// Tells that the chains are shorter than they should be.
    fn interrupted(&self, draws: &Draws, settings: &Settings) -> Result<(), Report> {
        if draws.draws as u64 >= settings.draws {
            return Ok(());
        }
        report::tell(&messages::interrupted(draws.draws, settings.draws));
        Err(String::new())
    }

    fn unsampled(&self, posterior: &Posterior, why: &Unsampled) -> Report {
        match why {
            Unsampled::Failed(failure) => report::failure(&self.session, failure, self.color),
            Unsampled::Start(start) => match &start.failure {
                Some(failure) => report::failure(&self.session, failure, self.color),
                None => messages::no_start(posterior.entry(), start.density, start.gradient_only),
            },
        }
    }
}

/// The progress of the chains.
struct Watched {
    bars: Vec<indicatif::ProgressBar>,
    divergences: Vec<AtomicU64>,
    _drawn: AtomicUsize,
}

impl Watched {
    fn new(settings: &Settings) -> Watched {
        let bars = progress::chains(settings.chains, settings.warmup + settings.draws);
        let divergences = (0..settings.chains).map(|_| AtomicU64::new(0)).collect();
        Watched { bars, divergences, _drawn: AtomicUsize::new(0) }
    }

    fn end(&self) {
        self.bars.iter().for_each(indicatif::ProgressBar::finish_and_clear);
    }
}

impl Watch for Watched {
    fn drawn(&self, chain: usize, draw: u64, diverging: bool) {
        if diverging {
            self.divergences[chain].fetch_add(1, Ordering::Relaxed);
        }
        if let Some(bar) = self.bars.get(chain)
            && (draw.is_multiple_of(10) || Some(draw) == bar.length())
        {
            bar.set_position(draw);
        }
    }

    fn stops(&self) -> bool {
        interrupt::pressed()
    }
}
