//! A draw by the No-U-Turn Sampler (Hoffman and Gelman, 2014), with multinomial weights
//! (Betancourt, 2017) and the tests of Stan for turns at the joints of subtrees. Paths are leapfrog
//! steps in the space of [`Shape`], where momenta are independent normal variables.

use lambada::Posterior;
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::StandardNormal;

use crate::shape::{Each, Shape, dot};

/// An error of the energy by more than this is a divergence.
const DIVERGENCE: f64 = 1000.0;

/// The most halvings or doublings of a step: some densities fall so steeply at a random point that
/// only a step of 1e-50 is accepted.
const HALVINGS: usize = 1000;

/// A point with its log density and gradient.
#[derive(Clone, Debug, Default)]
pub(crate) struct Point {
    pub coordinates: Vec<f64>,
    pub density: f64,
    pub gradient: Vec<f64>,
}

impl Point {
    fn new(dimension: usize) -> Point {
        Point { coordinates: vec![0.0; dimension], density: 0.0, gradient: vec![0.0; dimension] }
    }

    /// Calls `f` on all numbers.
    pub(crate) fn numbers(&mut self, f: Each) {
        self.coordinates.iter_mut().for_each(&mut *f);
        f(&mut self.density);
        self.gradient.iter_mut().for_each(f);
    }

    fn copy(&mut self, other: &Point) {
        self.coordinates.copy_from_slice(&other.coordinates);
        self.density = other.density;
        self.gradient.copy_from_slice(&other.gradient);
    }
}

/// An end of a path.
#[derive(Clone, Debug)]
struct End {
    point: Point,
    momentum: Vec<f64>,
    /// The gradient in the space of the shape.
    force: Vec<f64>,
}

impl End {
    fn new(dimension: usize) -> End {
        End {
            point: Point::new(dimension),
            momentum: vec![0.0; dimension],
            force: vec![0.0; dimension],
        }
    }

    fn copy(&mut self, other: &End) {
        self.point.copy(&other.point);
        self.momentum.copy_from_slice(&other.momentum);
        self.force.copy_from_slice(&other.force);
    }
}

/// The momenta of a part of a path: at its ends, and their sum.
#[derive(Clone, Debug, Default)]
struct Momenta {
    first: Vec<f64>,
    last: Vec<f64>,
    sum: Vec<f64>,
}

impl Momenta {
    fn new(dimension: usize) -> Momenta {
        let zeros = || vec![0.0; dimension];
        Momenta { first: zeros(), last: zeros(), sum: zeros() }
    }
}

/// The halves of a subtree of some depth, and the candidate of the second one.
struct Level {
    first: Momenta,
    second: Momenta,
    candidate: Point,
}

/// Memory of paths.
#[derive(Default)]
struct Memory {
    levels: Vec<Level>,
    whole: Momenta,
    part: Momenta,
    candidate: Point,
}

/// A path from a point with this energy.
#[derive(Clone, Copy)]
struct Path {
    step: f64,
    start: f64,
}

/// Statistics of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    pub depth: u64,
    pub steps: u64,
    pub diverging: bool,
    /// The energy of the draw.
    pub energy: f64,
    /// Sum of acceptance probabilities.
    acceptance: f64,
    /// As `acceptance`, of a walk that goes either way.
    symmetric: f64,
}

impl Told {
    /// Mean acceptance probability.
    pub(crate) fn acceptance(&self) -> f64 {
        self.acceptance / self.steps.max(1) as f64
    }

    pub(crate) fn symmetric(&self) -> f64 {
        self.symmetric / self.steps.max(1) as f64
    }
}

/// The state of a chain, and the memory of its paths.
pub(crate) struct Walker<'p> {
    posterior: &'p Posterior,
    pub shape: Shape,
    pub step: f64,
    pub point: Point,
    /// The value and the gradient of a density.
    both: Vec<f64>,
    ends: [End; 2],
    moving: End,
    memory: Memory,
}

impl<'p> Walker<'p> {
    /// A walker at a point where the density is finite.
    pub(crate) fn new(
        posterior: &'p Posterior,
        point: &[f64],
        shape: Shape,
        max_depth: u64,
    ) -> Walker<'p> {
        let dimension = point.len();
        let level = |_| Level {
            first: Momenta::new(dimension),
            second: Momenta::new(dimension),
            candidate: Point::new(dimension),
        };
        let mut walker = Walker {
            posterior,
            shape,
            step: 0.1,
            point: Point::new(dimension),
            both: vec![0.0; dimension + 1],
            ends: [End::new(dimension), End::new(dimension)],
            moving: End::new(dimension),
            memory: Memory {
                levels: (0..max_depth).map(level).collect(),
                whole: Momenta::new(dimension),
                part: Momenta::new(dimension),
                candidate: Point::new(dimension),
            },
        };
        walker.moving.point.coordinates.copy_from_slice(point);
        walker.evaluate();
        walker.point.copy(&walker.moving.point);
        walker
    }

    /// The density where the moving end is; −∞ where the program fails.
    fn evaluate(&mut self) {
        let End { point, force, .. } = &mut self.moving;
        let ran = self.posterior.density(&point.coordinates, &mut self.both);
        point.density = match ran {
            Ok(()) if !self.both[0].is_nan() => self.both[0],
            _ => f64::NEG_INFINITY,
        };
        point.gradient.copy_from_slice(&self.both[1..]);
        self.shape.pull(&point.gradient, force);
    }

    /// A leapfrog step of the moving end.
    fn leap(&mut self, step: f64) {
        let End { point, momentum, force } = &mut self.moving;
        momentum.iter_mut().zip(&*force).for_each(|(p, f)| *p += 0.5 * step * f);
        self.shape.add_image(momentum, step, &mut point.coordinates);
        self.evaluate();
        let End { momentum, force, .. } = &mut self.moving;
        momentum.iter_mut().zip(&*force).for_each(|(p, f)| *p += 0.5 * step * f);
    }

    /// Energy of the moving end.
    fn energy(&self) -> f64 {
        let momentum = &self.moving.momentum;
        let energy = 0.5 * dot(momentum, momentum) - self.moving.point.density;
        if energy.is_nan() { f64::INFINITY } else { energy }
    }

    /// Brings the moving end to the walker's point, with new momenta.
    fn begin(&mut self, generator: &mut ChaCha8Rng) -> f64 {
        self.moving.point.copy(&self.point);
        self.shape.pull(&self.point.gradient, &mut self.moving.force);
        self.moving.momentum.fill_with(|| generator.sample(StandardNormal));
        self.energy()
    }

    /// Finds a size of steps at which a single step is accepted about as often as wanted.
    pub(crate) fn find_step(&mut self, target: f64, generator: &mut ChaCha8Rng) {
        let start = self.begin(generator);
        let from = self.moving.clone();
        let accepted = |walker: &mut Walker| {
            walker.moving.copy(&from);
            walker.leap(walker.step);
            (start - walker.energy()).min(0.0).exp()
        };
        let up = accepted(self) > target;
        for _ in 0..HALVINGS {
            self.step *= if up { 2.0 } else { 0.5 };
            if (accepted(self) > target) != up {
                break;
            }
        }
    }

    /// Moves to the next draw.
    pub(crate) fn draw(&mut self, generator: &mut ChaCha8Rng) -> Told {
        let start = self.begin(generator);
        let mut told = Told { energy: start, ..Told::default() };
        self.ends.iter_mut().for_each(|end| end.copy(&self.moving));
        let mut memory = std::mem::take(&mut self.memory);
        let Memory { levels, whole, part, candidate } = &mut memory;
        for momenta in [&mut whole.first, &mut whole.last, &mut whole.sum] {
            momenta.copy_from_slice(&self.moving.momentum);
        }
        let mut weight = 0.0;
        while (told.depth as usize) < levels.len() {
            let forward = generator.random::<bool>();
            let end = usize::from(forward);
            let path = Path { step: if forward { self.step } else { -self.step }, start };
            self.moving.copy(&self.ends[end]);
            let below = &mut levels[..told.depth as usize];
            let tree = self.subtree(path, below, part, candidate, &mut told, generator);
            self.ends[end].copy(&self.moving);
            let Some((added, energy)) = tree else { break };
            told.depth += 1;
            if added >= weight || generator.random::<f64>() < (added - weight).exp() {
                self.point.copy(candidate);
                told.energy = energy;
            }
            weight = add_logs(weight, added);
            let (outer, joint) = match forward {
                true => (&whole.first, &whole.last),
                false => (&whole.last, &whole.first),
            };
            let turned = turned(outer, joint, &whole.sum, part);
            let changed = if forward { &mut whole.last } else { &mut whole.first };
            changed.copy_from_slice(&part.last);
            whole.sum.iter_mut().zip(&part.sum).for_each(|(sum, p)| *sum += p);
            if turned {
                break;
            }
        }
        self.memory = memory;
        told
    }

    /// Goes on from the moving end by as many steps as a tree with these levels has leaves. `None`
    /// if a part of it turned back or diverged; else the logarithm of the sum of the densities
    /// relative to `start`, and the energy of the candidate.
    fn subtree(
        &mut self,
        path: Path,
        levels: &mut [Level],
        momenta: &mut Momenta,
        candidate: &mut Point,
        told: &mut Told,
        generator: &mut ChaCha8Rng,
    ) -> Option<(f64, f64)> {
        let Some((level, below)) = levels.split_last_mut() else {
            self.leap(path.step);
            let energy = self.energy();
            let gain = path.start - energy;
            let accepted = gain.min(0.0).exp();
            told.steps += 1;
            told.acceptance += accepted;
            told.symmetric += 2.0 * accepted / (1.0 + gain.exp());
            if gain < -DIVERGENCE {
                told.diverging = true;
                return None;
            }
            candidate.copy(&self.moving.point);
            for own in [&mut momenta.first, &mut momenta.last, &mut momenta.sum] {
                own.copy_from_slice(&self.moving.momentum);
            }
            return Some((gain, energy));
        };
        let Level { first, second, candidate: other } = level;
        let (near, mut energy) = self.subtree(path, below, first, candidate, told, generator)?;
        let (far, other_energy) = self.subtree(path, below, second, other, told, generator)?;
        let weight = add_logs(near, far);
        if generator.random::<f64>() < (far - weight).exp() {
            candidate.copy(other);
            energy = other_energy;
        }
        momenta.first.copy_from_slice(&first.first);
        momenta.last.copy_from_slice(&second.last);
        let sums = first.sum.iter().zip(&second.sum);
        momenta.sum.iter_mut().zip(sums).for_each(|(sum, (a, b))| *sum = a + b);
        (!turned(&first.first, &first.last, &first.sum, second)).then_some((weight, energy))
    }
}

/// Whether a path turns back when `new` is joined to a part of it, whose momenta are `outer` at the
/// end away from the joint and `joint` at the other: the two together, and each with the first step
/// of the other.
fn turned(outer: &[f64], joint: &[f64], sum: &[f64], new: &Momenta) -> bool {
    let goes_on = |a: &[f64], b: &[f64], one: &[f64], two: &[f64]| {
        dot(a, one) + dot(a, two) > 0.0 && dot(b, one) + dot(b, two) > 0.0
    };
    !(goes_on(outer, &new.last, sum, &new.sum)
        && goes_on(outer, &new.first, sum, &new.first)
        && goes_on(joint, &new.last, joint, &new.sum))
}

/// `log (exp a + exp b)`
fn add_logs(a: f64, b: f64) -> f64 {
    let high = a.max(b);
    if high == f64::NEG_INFINITY { high } else { high + ((a - high).exp() + (b - high).exp()).ln() }
}
