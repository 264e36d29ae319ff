//! One chain.

use lambada::Posterior;

use crate::adapt::Adaptation;
use crate::path::Walker;
use crate::shape::Shape;
use crate::{Chain, Settings, Statistics, Unsampled, Watch, start};

/// Makes the draws of a chain.
pub(crate) fn chain(
    posterior: &Posterior,
    settings: &Settings,
    chain: usize,
    from: Option<&[f64]>,
    watch: &dyn Watch,
) -> Result<Chain, Unsampled> {
    let mut generator = start::generator(settings.seed, chain);
    let point = start::point(posterior, from, &mut generator).map_err(Unsampled::Start)?;
    let scales = Shape::Scales(vec![1.0; point.len()]);
    let mut walker = Walker::new(posterior, &point, scales, settings.max_depth);
    let (metric, target) = (settings.metric, settings.target_accept);
    let mut adaptation =
        Adaptation::new(&mut walker, metric, settings.warmup, target, &mut generator);
    let count = posterior.count();
    let mut made = Chain::default();
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
        let at = made.values.len();
        made.values.resize(at + count, 0.0);
        posterior.values(point, &mut made.values[at..]).map_err(Unsampled::Failed)?;
        made.statistics.push(Statistics {
            log_density: walker.point.density,
            energy: told.energy,
            step_size: walker.step,
            acceptance: told.acceptance(),
            depth: told.depth,
            steps: told.steps,
            diverging: told.diverging,
        });
    }
    Ok(made)
}
