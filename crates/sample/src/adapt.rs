//! Adaptation of a chain during its warm-up: the size of steps by dual averaging (Hoffman and
//! Gelman, 2014), and the shape from draws and gradients in windows that grow, as in `nuts-rs`
//! (Seyboldt and others): the estimate in use always has the last window and all draws after it.

use rand::rngs::ChaCha8Rng;

use crate::Metric;
use crate::low_rank::low_rank;
use crate::path::{Point, Told, Walker};
use crate::shape::{self, Each, Moments, Shape};

/// Share of the warm-up with short windows, and of its end without changes of the shape.
const EARLY: f64 = 0.3;
const LATE: f64 = 0.15;
/// Draws of the short windows, and of the first long one, and how the long ones grow.
const SHORT: f64 = 10.0;
const LONG: f64 = 80.0;
const GROWTH: f64 = 1.5;
/// How much larger a window is at the next estimate of directions, which takes longer than scales.
const MORE: f64 = 1.2;
/// Fewest draws that a covariance is estimated from, for each coordinate.
const DRAWS_PER_COORDINATE: f64 = 1.0;

/// The size of steps by dual averaging.
struct Steps {
    target: f64,
    center: f64,
    lack: f64,
    log: f64,
    mean: f64,
    count: f64,
}

impl Steps {
    fn new(step: f64, target: f64) -> Steps {
        let log = step.ln();
        Steps { target, center: (10.0 * step).ln(), lack: 0.0, log, mean: log, count: 1.0 }
    }

    fn learn(&mut self, accepted: f64) {
        let weight = 1.0 / (self.count + 10.0);
        self.lack += weight * (self.target - accepted - self.lack);
        self.log = self.center - self.lack * self.count.sqrt() / 0.05;
        let recent = self.count.powf(-0.75);
        self.mean += recent * (self.log - self.mean);
        self.count += 1.0;
    }
}

/// Estimates of the shape.
struct Window {
    points: Moments,
    gradients: Moments,
    /// Points and gradients by turns, if directions are estimated.
    history: Option<Vec<f64>>,
}

impl Window {
    fn new(dimension: usize, metric: Metric) -> Window {
        let pairs = metric == Metric::Dense;
        let (points, gradients) = (Moments::new(dimension, pairs), Moments::new(dimension, false));
        let history = (metric == Metric::LowRank).then(Vec::new);
        Window { points, gradients, history }
    }

    fn add(&mut self, point: &Point) {
        self.points.add(&point.coordinates);
        self.gradients.add(&point.gradient);
        if let Some(history) = &mut self.history {
            history.extend(point.coordinates.iter().chain(&point.gradient));
        }
    }

    /// Calls `f` on all numbers.
    fn numbers(&mut self, dimension: usize, f: Each) {
        self.points.numbers(f);
        self.gradients.numbers(f);
        if let Some(history) = &mut self.history {
            // A state that is read has another number of points.
            history.resize(self.points.count() as usize * 2 * dimension, 0.0);
            history.iter_mut().for_each(f);
        }
    }
}

/// The adaptation of a chain.
pub(crate) struct Adaptation {
    metric: Metric,
    warmup: u64,
    steps: Steps,
    /// The estimate in use, and the one that takes over.
    now: Window,
    next: Window,
    size: f64,
    fresh: bool,
    /// The number of points of the last estimate of directions.
    shaped: f64,
    dimension: usize,
}

impl Adaptation {
    /// Begins the adaptation of a walker.
    pub(crate) fn new(
        walker: &mut Walker,
        metric: Metric,
        warmup: u64,
        target: f64,
        generator: &mut ChaCha8Rng,
    ) -> Adaptation {
        walker.find_step(target, generator);
        let dimension = walker.point.coordinates.len();
        let window = || Window::new(dimension, metric);
        let (mut now, mut next) = (window(), window());
        now.add(&walker.point);
        next.add(&walker.point);
        let steps = Steps::new(walker.step, target);
        let (size, fresh, shaped) = (LONG, true, 0.0);
        Adaptation { metric, warmup, steps, now, next, size, fresh, shaped, dimension }
    }

    /// Calls `f` on all numbers of its state.
    pub(crate) fn numbers(&mut self, f: Each) {
        let Steps { target: _, center, lack, log, mean, count } = &mut self.steps;
        [center, lack, log, mean, count].into_iter().for_each(&mut *f);
        let dimension = self.dimension;
        [&mut self.now, &mut self.next].into_iter().for_each(|w| w.numbers(dimension, f));
        [&mut self.size, &mut self.shaped].into_iter().for_each(&mut *f);
        let mut fresh = f64::from(self.fresh);
        f(&mut fresh);
        self.fresh = fresh != 0.0;
    }

    /// Learns from a draw of the warm-up, the `draw`th from 0. `moved` is whether it is another
    /// point than the last one.
    pub(crate) fn learn(
        &mut self,
        draw: u64,
        told: &Told,
        moved: bool,
        walker: &mut Walker,
        generator: &mut ChaCha8Rng,
    ) {
        let last = self.warmup - (LATE * self.warmup as f64) as u64;
        if draw >= last {
            self.steps.learn(told.symmetric());
            let ends = draw + 1 == self.warmup;
            walker.step = if ends { self.steps.mean } else { self.steps.log }.exp();
            return;
        }
        let early = (draw as f64) < EARLY * self.warmup as f64;
        if moved {
            self.now.add(&walker.point);
            self.next.add(&walker.point);
        }
        let grown = if early { SHORT } else { (self.size * GROWTH).round() };
        let closing = grown + draw as f64 > last as f64;
        if !closing && self.next.points.count() >= if early { SHORT } else { self.size } {
            let dimension = walker.point.coordinates.len();
            let next = Window::new(dimension, self.metric);
            self.now = std::mem::replace(&mut self.next, next);
            self.shaped = 0.0;
            self.size = if early { self.size } else { grown };
        }
        let first = self.reshape(walker);
        self.steps.learn(if closing { told.symmetric() } else { told.acceptance() });
        if first {
            walker.find_step(self.steps.target, generator);
            self.steps = Steps::new(walker.step, self.steps.target);
        } else {
            walker.step = self.steps.log.exp();
        }
    }

    /// Gives the walker the shape of the estimate: scales while there are too few draws for a
    /// covariance. Whether it is the first shape of its kind, for which steps have another size.
    fn reshape(&mut self, walker: &mut Walker) -> bool {
        let Window { points, gradients, history } = &self.now;
        if points.count() < 3.0 {
            return false;
        }
        let dimension = walker.point.coordinates.len();
        let enough = points.count() > DRAWS_PER_COORDINATE * dimension as f64 + 10.0;
        if self.metric == Metric::Dense
            && enough
            && let Some(factor) = shape::factor(points)
        {
            let first = matches!(walker.shape, Shape::Scales(_));
            walker.shape = Shape::Factor(factor);
            return first;
        }
        if let Some(history) = history.as_ref().filter(|_| points.count() >= SHORT) {
            if points.count() < MORE * self.shaped {
                return false;
            }
            self.shaped = points.count();
            let first = matches!(walker.shape, Shape::Scales(_));
            if let Shape::Scales(scales) | Shape::LowRank(scales, _) = &mut walker.shape {
                shape::scales(points, gradients, scales);
                let draws: Vec<(&[f64], &[f64])> =
                    history.chunks(2 * dimension).map(|both| both.split_at(dimension)).collect();
                walker.shape = low_rank(&draws, scales);
            }
            return first;
        }
        let Shape::Scales(scales) = &mut walker.shape else { return false };
        shape::scales(points, gradients, scales);
        std::mem::replace(&mut self.fresh, false)
    }
}
