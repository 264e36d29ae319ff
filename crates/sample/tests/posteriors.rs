//! The sampler on posteriors whose moments are known.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

use lambada::{Engine, Failure, Given, Goal, Inputs, Model, Optimum, Options, Posterior, Variable};
use lambada_draws::{Draws, Summary, names, warnings};
use lambada_sample::{
    Metric, Settings, Unsampled, Watch, advi, laplace, optima, pathfinder, predict, sample,
    standard_errors,
};
use lambada_testkit::Random;

/// Watches nothing.
struct Quiet;

impl Watch for Quiet {
    fn drawn(&self, _chain: usize, _draw: u64, _diverging: bool) {}

    fn stops(&self) -> bool {
        false
    }
}

fn model(text: &str) -> Model {
    let options = Options { engine: Engine::Jit, ..Options::default() };
    Model::builder().options(options).compile("m.lam", text).unwrap_or_else(|e| panic!("{e}"))
}

fn given(words: &[String]) -> Given {
    let mut data = Inputs::new();
    words.iter().for_each(|word| data.read_argument(word).expect("JSON"));
    Given { data, ..Given::default() }
}

fn posterior(text: &str, words: &[String]) -> Posterior {
    let function = model(text).function("m").expect("a definition");
    function.posterior(&given(words)).unwrap_or_else(|e| panic!("{e}"))
}

fn optimum(text: &str, goal: Goal) -> Optimum {
    let function = model(text).function("m").expect("a definition");
    function.optimum(&given(&[]), goal).unwrap_or_else(|e| panic!("{e}"))
}

fn drawn(posterior: &Posterior, settings: &Settings) -> Draws {
    sample(posterior, settings, &Quiet).unwrap_or_else(|why| panic!("{why:?}"))
}

/// Compares means and standard deviations, in units of their Monte Carlo errors.
fn moments(draws: &Draws, expected: &[(f64, f64)]) {
    let summary = Summary::of(draws);
    assert_eq!(summary.rows.len(), expected.len());
    for (row, (mean, sd)) in summary.rows.iter().zip(expected) {
        let worth = &row.worth;
        let off = ((worth.mean - mean) / worth.mcse_mean).abs();
        let wide = ((worth.sd - sd) / worth.mcse_sd).abs();
        assert!(off < 4.5, "{}: the mean is {} and not {mean}", row.name, worth.mean);
        assert!(wide < 4.5, "{}: the deviation is {} and not {sd}", row.name, worth.sd);
        assert!(worth.rhat < 1.02, "{}: R̂ is {}", row.name, worth.rhat);
    }
}

/// Two strongly correlated normal variables of different scales, and one far away.
const NORMAL: &str = "def m (x : real) (y : real) (z : real) : real =
  let u = (y / 100 - 0.9 * x) / sqrt 0.19
  -0.5 * (x * x + u * u + ((z - 1000) / 0.01) ** 2)";

#[test]
fn normal_variables() {
    let posterior = posterior(NORMAL, &[]);
    for metric in [Metric::Diagonal, Metric::Dense, Metric::LowRank] {
        let draws = drawn(&posterior, &Settings { metric, ..Settings::default() });
        moments(&draws, &[(0.0, 1.0), (0.0, 100.0), (1000.0, 0.01)]);
        let found = warnings(&draws, &Summary::of(&draws));
        assert!(found.is_empty(), "{found:?}");
    }
}

/// A covariance of many coordinates takes more draws than the warm-up has; their scales do not.
#[test]
fn coordinates_have_scales_before_a_covariance() {
    let text = "def m [n] (x : [n]real) (s : [n]real) : real =
  -0.5 * sum (for i < n => (x[i] / s[i]) ** 2)";
    let scales: Vec<f64> = (0..200).map(|k| 10f64.powi(k % 7 - 3)).collect();
    let posterior = posterior(text, &[format!("s={scales:?}")]);
    let (chains, warmup, draws) = (2, 120, 200);
    let settings = Settings { metric: Metric::Dense, chains, warmup, draws, ..Settings::default() };
    let drawn = drawn(&posterior, &settings);
    let worst = Summary::of(&drawn).rows.iter().map(|row| row.worth.rhat).fold(1.0, f64::max);
    assert!(worst < 1.1, "R̂ is {worst}");
}

#[test]
fn spaces() {
    let text = "import \"std/space\"\nimport \"std/dist\"
def m (p : space.simplex [3]) (q : space.unit) (s : space.positive) (o : space.ordered [2]) : real =
  dist.dirichlet_lpdf p [2, 3, 5] + dist.beta_lpdf q 2 3 + dist.gamma_lpdf s 3 2 + dist.normal_lpdf o[0] 0 1 + dist.normal_lpdf o[1] 0 1";
    let draws = drawn(&posterior(text, &[]), &Settings::default());
    let dirichlet = |a: f64| (a / 10.0, (a * (10.0 - a) / 1100.0).sqrt());
    // The smaller and the larger of two standard normal variables.
    let mean = 1.0 / std::f64::consts::PI.sqrt();
    let sd = (1.0 - mean * mean).sqrt();
    let others = [(0.4, 0.2), (1.5, 0.75f64.sqrt()), (-mean, sd), (mean, sd)];
    moments(&draws, &[[2.0, 3.0, 5.0].map(dirichlet).as_slice(), &others].concat());
}

/// Eighty variables that three others move together: a covariance has too many numbers, scales say
/// nothing of them.
#[test]
fn few_directions_of_many_variables() {
    let text = "def m [n] (x : [n]real) (a : real) (b : real) (c : real) : real =
  let center = for i < n => 10 * a + (if i % 2 == 0 then 8 else -8) * b + (i / n) * 5 * c
  -0.5 * (sum ((x - center) ** 2) + a * a + b * b + c * c)";
    let function = model(text).function("m").expect("a definition");
    let given = Given { sizes: vec![("n".into(), 80)], ..Given::default() };
    let posterior = function.posterior(&given).unwrap_or_else(|e| panic!("{e}"));
    let with = |metric| {
        let settings = Settings { metric, warmup: 600, draws: 500, ..Settings::default() };
        let draws = drawn(&posterior, &settings);
        let steps = draws.statistics.iter().find(|s| s.name == names::N_STEPS).expect("steps");
        let summary = Summary::of(&draws);
        let least = summary.rows.iter().map(|row| row.worth.ess_bulk).fold(f64::INFINITY, f64::min);
        (least / steps.values.iter().sum::<f64>(), summary)
    };
    let ((scales, _), (directions, summary)) = (with(Metric::Diagonal), with(Metric::LowRank));
    assert!(directions > 20.0 * scales, "{directions} per step, and {scales} with scales");
    for row in &summary.rows[summary.rows.len() - 3..] {
        let worth = &row.worth;
        let off = (worth.mean / worth.mcse_mean).abs();
        let wide = ((worth.sd - 1.0) / worth.mcse_sd).abs();
        assert!(off < 4.5 && wide < 4.5 && worth.rhat < 1.02, "{}: {worth:?}", row.name);
    }
}

#[test]
fn draws_do_not_depend_on_threads() {
    let posterior = posterior(NORMAL, &[]);
    let on = |threads: usize| {
        let threads = NonZeroUsize::new(threads).expect("some");
        let settings = Settings { threads, warmup: 50, draws: 50, ..Settings::default() };
        drawn(&posterior, &settings)
    };
    assert_eq!(on(1), on(3));
}

/// Stops after some draws.
struct Few(AtomicU64);

impl Watch for Few {
    fn drawn(&self, _chain: usize, _draw: u64, _diverging: bool) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn stops(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 60
    }
}

#[test]
fn chains_that_are_stopped_keep_their_draws() {
    let settings = Settings { chains: 1, warmup: 20, draws: 100, ..Settings::default() };
    let draws = sample(&posterior(NORMAL, &[]), &settings, &Few(AtomicU64::new(0)));
    assert_eq!(draws.expect("draws").draws, 40);
}

#[test]
fn a_density_that_is_nowhere_finite_has_no_start() {
    let text = "def m (x : real) : real = if x == x then -inf else 0";
    let none = sample(&posterior(text, &[]), &Settings::default(), &Quiet);
    assert!(matches!(none, Err(Unsampled::Start(start)) if start.density == f64::NEG_INFINITY));
}

#[test]
fn chains_leave_points_of_extreme_densities() {
    // A moving average of errors: at |theta| > 1 the density of random points is down to e^(-1e50).
    let text = "def m (theta : real) (y : [150]real) : real =
  (loop (err, total) = (y[0], 0.0) for t in 1..150 do
    let err = y[t] - theta * err
    (err, total - 0.5 * err * err)).1";
    let mut random = Random(5);
    let y: Vec<String> = (0..150).map(|_| random.between(-1.7, 1.7).to_string()).collect();
    let posterior = posterior(text, &[format!("y=[{}]", y.join(", "))]);
    let draws = drawn(&posterior, &Settings::default());
    assert!(Summary::of(&draws).rows[0].worth.rhat < 1.02);
}

#[test]
fn optima_and_their_errors() -> Result<(), Failure> {
    let text = "import \"std/space\"
def m (a : real) (s : space.positive) : real = -0.5 * ((a - 3) / 2) ** 2 - 0.5 * ((s - 5) / 0.1) ** 2";
    let optimum = optimum(text, Goal::Maximum);
    let found = optima(&optimum, 0, 4, |a, b| a > b)?;
    assert!(found.best.converged && found.others.is_empty());
    let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-5 * y.abs(), "{x} and {y}");
    near(found.best.values[0], 3.0);
    near(found.best.values[1], 5.0);
    let errors = standard_errors(&optimum, &found.best.coordinates)?.expect("a maximum");
    near(errors[0], 2.0);
    near(errors[1], 0.1);
    Ok(())
}

#[test]
fn two_optima_are_told() -> Result<(), Failure> {
    let text = "def m (x : real) : real = (x * x - 1) ** 2 + 0.1 * x";
    let found = optima(&optimum(text, Goal::Minimum), 1, 8, |a, b| a < b)?;
    assert!(found.best.values[0] < 0.0 && found.others.len() == 1);
    Ok(())
}

/// Normal posteriors are found as they are, correlations and scales included.
#[test]
fn pathfinder_finds_normal_posteriors() {
    let text = "def m (x : real) (y : real) (z : real) : real =
  let u = (y / 10 - 0.9 * x) / sqrt 0.19
  -0.5 * (x * x + u * u + ((z - 10) / 0.1) ** 2)";
    let found = pathfinder(&posterior(text, &[]), 4, 1000, 0).expect("draws");
    assert!(found.shape < 0.7, "k̂ is {}", found.shape);
    let summary = Summary::of(&found.draws);
    for (row, (mean, sd)) in summary.rows.iter().zip([(0.0, 1.0), (0.0, 10.0), (10.0, 0.1)]) {
        assert!((row.worth.mean - mean).abs() < 0.1 * sd, "{}: {}", row.name, row.worth.mean);
        assert!((row.worth.sd / sd - 1.0).abs() < 0.1, "{}: {}", row.name, row.worth.sd);
    }
}

/// Many coordinates of different scales take more steps than the history has.
#[test]
fn pathfinder_finds_many_scales() {
    let text = "def m [n] (x : [n]real) (s : [n]real) : real =
  -0.5 * sum (for i < n => ((x[i] - i) / s[i]) ** 2)";
    let scales: Vec<f64> = (0..30).map(|k| 2f64.powi(k % 5 - 2)).collect();
    let found = pathfinder(&posterior(text, &[format!("s={scales:?}")]), 4, 1000, 0);
    let summary = Summary::of(&found.expect("draws").draws);
    for ((k, row), scale) in summary.rows.iter().enumerate().zip(&scales) {
        let away = (row.worth.mean - k as f64) / scale;
        assert!(away.abs() < 0.5, "{}: {}", row.name, row.worth.mean);
        assert!((0.6..1.7).contains(&(row.worth.sd / scale)), "{}: {}", row.name, row.worth.sd);
    }
}

/// A funnel resembles no normal distribution, and the shape of the weights tells so.
#[test]
fn approximations_tell_that_they_are_far() {
    let funnel = "def m (v : real) (x : [9]real) : real =
  -v ** 2 / 18 + sum (for a in x => -0.5 * a ** 2 * exp (-v) - v / 2)";
    let posterior = posterior(funnel, &[]);
    for found in [pathfinder(&posterior, 4, 500, 0), advi(&posterior, 2000, 0)] {
        let shape = found.expect("draws").shape;
        assert!(shape > 0.7, "k̂ is {shape}");
    }
}

#[test]
fn advi_finds_independent_coordinates() {
    let text =
        "def m (x : real) (y : real) : real = -0.5 * (x - 3) ** 2 - 0.5 * (2 * (y + 1)) ** 2";
    let found = advi(&posterior(text, &[]), 4000, 0).expect("draws");
    let summary = Summary::of(&found.draws);
    for (row, (mean, sd)) in summary.rows.iter().zip([(3.0, 1.0), (-1.0, 0.5)]) {
        assert!((row.worth.mean - mean).abs() < 0.3 * sd, "{}: {}", row.name, row.worth.mean);
        assert!((row.worth.sd / sd - 1.0).abs() < 0.3, "{}: {}", row.name, row.worth.sd);
    }
}

#[test]
fn laplace_draws_have_the_curvature_of_the_mode() -> Result<(), Failure> {
    let optimum = optimum(NORMAL, Goal::ModeOfCoordinates);
    let mode = optima(&optimum, 0, 1, |a, b| a > b)?.best;
    let draws = laplace(&optimum, &mode, 0, 4000)?.expect("a maximum");
    moments(&draws, &[(0.0, 1.0), (0.0, 100.0), (1000.0, 0.01)]);
    Ok(())
}

#[test]
fn definitions_run_for_each_draw() {
    let text = "import \"std/random\"\ndef m (x : real) : real = -0.5 * x * x
def p [k] (x : real) (y : [k]real) (key : random.key) = {twice = 2 * x, count = k, noise = (random.normal key 1)[0]}";
    let model = model(text);
    let function = model.function("m").expect("a definition");
    let posterior = function.posterior(&given(&[])).expect("a posterior");
    let draws = drawn(&posterior, &Settings { warmup: 200, draws: 500, ..Settings::default() });
    let variables = [Variable { name: "x".into(), dims: Vec::new() }];
    let function = model.function("p").expect("a definition");
    let prediction = function.prediction(&given(&["y=[1, 2, 3]".into()]), &variables, 0);
    let prediction = prediction.unwrap_or_else(|e| panic!("{e}"));
    let run = |threads| {
        let threads = NonZeroUsize::new(threads).expect("some");
        predict(&prediction, &draws, threads).unwrap_or_else(|why| panic!("{why:?}"))
    };
    let results = run(1);
    assert_eq!(results, run(3));
    let [count, noise, twice] = &results[..] else { panic!("{results:?}") };
    assert_eq!((&*count.name, count.values[7]), ("count", 3.0));
    assert!(twice.values.iter().zip(&draws.variables[0].values).all(|(a, b)| *a == 2.0 * b));
    let mean = noise.values.iter().sum::<f64>() / 2000.0;
    assert!(mean.abs() < 0.1, "{mean}");
    assert!(noise.values.windows(2).all(|pair| pair[0] != pair[1]));
}
