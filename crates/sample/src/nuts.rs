//! One chain.

use lambada::Posterior;
use lambada_draws::{Chain, names};

use crate::adapt::Adaptation;
use crate::path::Walker;
use crate::shape::Shape;
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
    let mut generator = start::generator(settings.seed, chain);
    let point = start::point(posterior, &mut generator).map_err(Unsampled::Start)?;
    let scales = Shape::Scales(vec![1.0; point.len()]);
    let mut walker = Walker::new(posterior, &point, scales, settings.max_depth);
    let (metric, target) = (settings.metric, settings.target_accept);
    let mut adaptation =
        Adaptation::new(&mut walker, metric, settings.warmup, target, &mut generator);
    let count = posterior.count();
    let mut values = Vec::new();
    let mut told_of: [(&str, Vec<f64>); 7] = STATISTICS.map(|name| (name, Vec::new()));
    let mut before = point;
    for draw in 0..settings.warmup + settings.draws {
        if watch.stops() {
            break;
        }
        let told = walker.draw(&mut generator);
        watch.drawn(chain, draw + 1, told.diverging);
        let point = &walker.point.coordinates;
        if draw < settings.warmup {
            let moved = *point != before;
            before.copy_from_slice(point);
            adaptation.learn(draw, &told, moved, &mut walker, &mut generator);
            continue;
        }
        let at = values.len();
        values.resize(at + count, 0.0);
        posterior.values(point, &mut values[at..]).map_err(Unsampled::Failed)?;
        let numbers = [
            walker.point.density,
            f64::from(told.diverging),
            told.depth as f64,
            told.steps as f64,
            told.energy,
            walker.step,
            told.acceptance(),
        ];
        told_of.iter_mut().zip(numbers).for_each(|((_, all), x)| all.push(x));
    }
    let statistics = told_of.map(|(name, all)| (name.to_string(), all)).into();
    Ok(Chain { values, statistics })
}
