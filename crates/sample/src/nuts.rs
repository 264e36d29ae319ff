//! One chain. Its state can be kept in a file, from which a run that was killed goes on.

use lambada::Posterior;
use lambada_draws::{Chain, names};
use rand::rngs::ChaCha8Rng;

use crate::adapt::Adaptation;
use crate::path::Walker;
use crate::shape::{Each, Shape};
use crate::state::{File, Kept};
use crate::{Settings, Unsampled, Watch, start};

/// Statistics of each draw.
const STATISTICS: [&str; 7] = [
    names::LP,
    names::DIVERGING,
    names::TREE_DEPTH,
    names::N_STEPS,
    names::ENERGY,
    names::STEP_SIZE,
    names::ACCEPTANCE_RATE,
];

/// Makes the draws of a chain.
pub(crate) fn chain(
    posterior: &Posterior,
    settings: &Settings,
    chain: usize,
    watch: &dyn Watch,
) -> Result<Chain, Unsampled> {
    let (mut run, mut file) = match File::of(settings, chain) {
        Some(file) => file.resumed(|| Run::begun(posterior, settings, chain), watch)?,
        None => (Run::begun(posterior, settings, chain)?, None),
    };
    while run.made < settings.warmup + settings.draws && !watch.stops() {
        run.draw(settings, chain, watch)?;
        if let Some(file) = &mut file {
            file.keep(&mut run, watch);
        }
    }
    if let Some(file) = &mut file {
        file.keep_last(&mut run, watch);
    }
    let statistics = STATISTICS.map(String::from).into_iter().zip(run.statistics).collect();
    Ok(Chain { values: run.values, statistics })
}

/// A chain at work.
struct Run<'p> {
    posterior: &'p Posterior,
    walker: Walker<'p>,
    adaptation: Adaptation,
    generator: ChaCha8Rng,
    /// Draws that were made, with those of the warm-up.
    made: u64,
    /// The values of the draws that are kept, and their statistics.
    values: Vec<f64>,
    statistics: [Vec<f64>; 7],
}

impl<'p> Run<'p> {
    fn begun(
        posterior: &'p Posterior,
        settings: &Settings,
        chain: usize,
    ) -> Result<Run<'p>, Unsampled> {
        let mut generator = start::generator(settings.seed, chain);
        let point = start::point(posterior, &mut generator).map_err(Unsampled::Start)?;
        let scales = Shape::Scales(vec![1.0; point.len()]);
        let mut walker = Walker::new(posterior, &point, scales, settings.max_depth);
        let (metric, target) = (settings.metric, settings.target_accept);
        let adaptation =
            Adaptation::new(&mut walker, metric, settings.warmup, target, &mut generator);
        let (values, statistics) = (Vec::new(), STATISTICS.map(|_| Vec::new()));
        Ok(Run { posterior, walker, adaptation, generator, made: 0, values, statistics })
    }

    fn draw(
        &mut self,
        settings: &Settings,
        chain: usize,
        watch: &dyn Watch,
    ) -> Result<(), Unsampled> {
        let Run { walker, adaptation, generator, .. } = self;
        let warms_up = self.made < settings.warmup;
        let before = if warms_up { walker.point.coordinates.clone() } else { Vec::new() };
        let told = walker.draw(generator);
        self.made += 1;
        watch.drawn(chain, self.made, told.diverging);
        if warms_up {
            let moved = walker.point.coordinates != before;
            adaptation.learn(self.made - 1, &told, moved, walker, generator);
            return Ok(());
        }
        let at = self.values.len();
        self.values.resize(at + self.posterior.count(), 0.0);
        let (point, values) = (&walker.point.coordinates, &mut self.values[at..]);
        self.posterior.values(point, values).map_err(Unsampled::Failed)?;
        let numbers = [
            walker.point.density,
            f64::from(told.diverging),
            told.depth as f64,
            told.steps as f64,
            told.energy,
            walker.step,
            told.acceptance(),
        ];
        self.statistics.iter_mut().zip(numbers).for_each(|(all, x)| all.push(x));
        Ok(())
    }
}

impl Kept for Run<'_> {
    fn made(&self) -> u64 {
        self.made
    }

    fn generator(&mut self) -> &mut ChaCha8Rng {
        &mut self.generator
    }

    fn form(&self) -> u64 {
        self.walker.shape.form()
    }

    fn sizes(&self) -> (usize, usize) {
        (self.walker.point.coordinates.len(), self.posterior.count())
    }

    fn resize(&mut self, made: u64, warmup: u64, form: u64) {
        let dimension = self.walker.point.coordinates.len();
        self.walker.shape = Shape::of_form(form, dimension);
        self.made = made;
        let kept = made.saturating_sub(warmup) as usize;
        self.values.resize(kept * self.posterior.count(), 0.0);
        self.statistics.iter_mut().for_each(|all| all.resize(kept, 0.0));
    }

    fn numbers(&mut self, f: Each) {
        f(&mut self.walker.step);
        self.walker.point.numbers(f);
        self.walker.shape.numbers(f);
        self.adaptation.numbers(f);
        self.values.iter_mut().for_each(&mut *f);
        self.statistics.iter_mut().flatten().for_each(f);
    }

    fn is_of_posterior(&self) -> bool {
        let at = self.walker.point.coordinates.clone();
        let mut both = vec![0.0; at.len() + 1];
        let mut values = vec![0.0; self.posterior.count()];
        let last = self.values.len().checked_sub(values.len());
        let point = &self.walker.point;
        let known = std::iter::once(&point.density).chain(&point.gradient);
        let equal = |a: &f64, b: &f64| a.to_bits() == b.to_bits();
        self.posterior.density(&at, &mut both).is_ok()
            && known.zip(&both).all(|(a, b)| equal(a, b))
            && last.filter(|_| !self.values.is_empty()).is_none_or(|last| {
                self.posterior.values(&at, &mut values).is_ok()
                    && self.values[last..].iter().zip(&values).all(|(a, b)| equal(a, b))
            })
    }
}
