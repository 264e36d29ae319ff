//! Simulation-based calibration (Talts and others, 2018): parameters are drawn from the prior, data
//! from the model, and the rank of each true value among draws of its posterior is uniform if
//! model, transforms and sampler agree.
//!
//! Simulations of a model are independent, so all are one posterior: the sum of their densities. It
//! is compiled once, and one chain draws from all of them.

use lambada::{Engine, Given, Inputs, Model, Options};
use lambada_sample::{Settings, Watch, sample};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Beta, Distribution, Exp1, Gamma, StandardNormal};

/// Every tenth draw is nearly independent of the others: 99 of them give ranks from 0 to 99.
const DRAWS: usize = 990;
const THIN: usize = 10;

/// Ten classes of ranks.
const CLASSES: usize = 10;

/// The point beyond which χ² with 9 degrees of freedom is with probability 1e-5.
const LIMIT: f64 = 39.3;

struct Quiet;

impl Watch for Quiet {
    fn drawn(&self, _chain: usize, _draw: u64, _diverging: bool) {}

    fn stops(&self) -> bool {
        false
    }
}

/// Random numbers of a simulation.
struct Chance(ChaCha8Rng);

impl Chance {
    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }

    fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.0)
    }

    /// Uniform from 0 to 1.
    fn share(&mut self) -> f64 {
        self.beta(1.0)
    }

    fn beta(&mut self, a: f64) -> f64 {
        Beta::new(a, a).expect("a shape above 0").sample(&mut self.0)
    }

    /// Gamma variables, divided by their sum.
    fn dirichlet(&mut self, alpha: &[f64]) -> Vec<f64> {
        let gamma = |a: &f64| Gamma::new(*a, 1.0).expect("a shape above 0").sample(&mut self.0);
        let parts: Vec<f64> = alpha.iter().map(gamma).collect();
        let sum: f64 = parts.iter().sum();
        parts.iter().map(|part| part / sum).collect()
    }

    /// The number of shares of 1, one after the other, that a uniform variable passes.
    fn category(&mut self, shares: &[f64]) -> usize {
        let mut rest = self.share();
        let passed = |share: &&f64| {
            rest -= **share;
            rest > 0.0
        };
        shares.iter().take_while(passed).count().min(shares.len() - 1)
    }
}

/// Values of the parameters, then of the data, in the order of the definition: each a number or the
/// elements of an array, one after the other.
type Simulated = (Vec<Vec<f64>>, Vec<Vec<f64>>);

/// Compares ranks with the uniform distribution. `data` are the names of the data with their
/// sizes, outermost first.
fn calibrated(
    text: &str,
    simulations: usize,
    data: &[(&str, &[usize])],
    simulated: fn(&mut Chance) -> Simulated,
) {
    let mut chance = Chance(ChaCha8Rng::seed_from_u64(1));
    let all: Vec<Simulated> = (0..simulations).map(|_| simulated(&mut chance)).collect();
    let mut inputs = Inputs::new();
    for (k, (name, sizes)) in data.iter().enumerate() {
        let rows: Vec<String> = all.iter().map(|(_, data)| nested(&data[k], sizes)).collect();
        let word = format!("{name}=[{}]", rows.join(", "));
        inputs.read_argument(&word).expect("JSON");
    }
    let text = format!("import \"std/dist\"\nimport \"std/space\"\n{text}");
    let options = Options { engine: Engine::Jit, ..Options::default() };
    let model = Model::builder().options(options).compile("m.lam", &text);
    let function = model.and_then(|model| model.function("m")).unwrap_or_else(|e| panic!("{e}"));
    let given = Given { data: inputs, ..Given::default() };
    let posterior = function.posterior(&given).unwrap_or_else(|e| panic!("{e}"));
    let settings = Settings { chains: 1, warmup: 400, draws: DRAWS as u64, ..Settings::default() };
    let draws = sample(&posterior, &settings, &Quiet).unwrap_or_else(|why| panic!("{why:?}"));
    for (k, variable) in draws.variables.iter().enumerate() {
        let size = variable.size() / simulations;
        assert_eq!(size, all[0].0[k].len(), "{}", variable.name);
        for element in 0..size {
            let ranks = all.iter().enumerate().map(|(simulation, (truth, _))| {
                let own = simulation * size + element;
                let own = variable.values.iter().skip(own).step_by(variable.size());
                own.step_by(THIN).filter(|x| **x < truth[k][element]).count()
            });
            let ranks: Vec<usize> = ranks.collect();
            let spread = variable.values.iter().skip(element).step_by(variable.size());
            if spread.clone().all(|x| *x == variable.values[element]) {
                continue; // A constant, as a corner of a Cholesky factor is.
            }
            let mut counts = [0usize; CLASSES];
            ranks.iter().for_each(|rank| counts[rank * CLASSES / (DRAWS / THIN + 1)] += 1);
            let expected = simulations as f64 / CLASSES as f64;
            let chi: f64 = counts.iter().map(|c| (*c as f64 - expected).powi(2) / expected).sum();
            let name = format!("{}[{element}]", variable.name);
            assert!(chi < LIMIT, "{name}: χ² with 9 degrees of freedom is {chi}: {counts:?}");
        }
    }
}

/// Numbers as nested lists.
fn nested(values: &[f64], sizes: &[usize]) -> String {
    let Some((_, inner)) = sizes.split_first() else { return values[0].to_string() };
    let part = inner.iter().product::<usize>().max(1);
    let parts: Vec<String> = values.chunks(part).map(|part| nested(part, inner)).collect();
    format!("[{}]", parts.join(", "))
}

#[test]
fn location_and_scale() {
    let text = "def m [r] [n] (mu : [r]real) (tau : [r]space.positive) (y : [r][n]real) : real =
  sum (dist.normal_lpdf mu 0 2) + sum (dist.exponential_lpdf tau 1)
    + sum (for (m, t, y) in zip3 mu tau y => sum (dist.normal_lpdf y m t))";
    calibrated(text, 600, &[("y", &[5])], |chance| {
        let (mu, tau) = (2.0 * chance.normal(), chance.exponential());
        let y = chance.normals(5).iter().map(|e| mu + tau * e).collect();
        (vec![vec![mu], vec![tau]], vec![y])
    });
}

#[test]
fn hierarchy_not_centered() {
    let text = "def m [r] [j] (mu : [r]real) (tau : [r]space.positive) (z : [r][j]real) (y : [r][j]real) : real =
  sum (dist.normal_lpdf mu 0 1) + sum (dist.normal_lpdf tau 0 1) + sum (dist.normal_lpdf (flatten z) 0 1)
    + sum (for i < r => sum (dist.normal_lpdf y[i] (mu[i] + tau[i] * z[i]) 0.5))";
    calibrated(text, 100, &[("y", &[4])], |chance| {
        let (mu, tau, z) = (chance.normal(), chance.normal().abs(), chance.normals(4));
        let y = z.iter().map(|z| mu + tau * z + 0.5 * chance.normal()).collect();
        (vec![vec![mu], vec![tau], z], vec![y])
    });
}

#[test]
fn logistic_regression() {
    let text = "def m [r] [n] (alpha : [r]real) (beta : [r][2]real) (x : [r][n][2]real) (y : [r][n]int) : real =
  sum (dist.normal_lpdf alpha 0 1) + sum (dist.normal_lpdf (flatten beta) 0 1)
    + sum (for i < r => sum (dist.bernoulli_logit_lpmf y[i] (alpha[i] + x[i] @ beta[i])))";
    calibrated(text, 100, &[("x", &[10, 2]), ("y", &[10])], |chance| {
        let (alpha, beta, x) = (chance.normal(), chance.normals(2), chance.normals(20));
        let odds = |row: &[f64]| alpha + row[0] * beta[0] + row[1] * beta[1];
        let draw = |row: &[f64]| f64::from(chance.share() < 1.0 / (1.0 + (-odds(row)).exp()));
        let y = x.chunks(2).map(draw).collect();
        (vec![vec![alpha], beta], vec![x, y])
    });
}

#[test]
fn shares_of_categories() {
    let text = "def m [r] (p : [r](space.simplex [3])) (y : [r][3]int) : real =
  sum (for i < r => dist.dirichlet_lpdf p[i] [1, 2, 3] + dist.multinomial_lpmf y[i] p[i])";
    calibrated(text, 300, &[("y", &[3])], |chance| {
        let p = chance.dirichlet(&[1.0, 2.0, 3.0]);
        let mut y = vec![0.0; 3];
        (0..8).for_each(|_| y[chance.category(&p)] += 1.0);
        (vec![p], vec![y])
    });
}

#[test]
fn ordered_cuts() {
    let text = "def m [r] [n] (cuts : [r](space.ordered [2])) (beta : [r]real) (x : [r][n]real) (y : [r][n]int) : real =
  sum (dist.normal_lpdf beta 0 1)
    + sum (for i < r =>
      sum (dist.normal_lpdf cuts[i] 0 1.5)
        + sum (for j < n => dist.ordered_logistic_lpmf y[i, j] (beta[i] * x[i, j]) cuts[i]))";
    calibrated(text, 100, &[("x", &[8]), ("y", &[8])], |chance| {
        let mut cuts: Vec<f64> = chance.normals(2).iter().map(|z| 1.5 * z).collect();
        cuts.sort_by(f64::total_cmp);
        let (beta, x) = (chance.normal(), chance.normals(8));
        let draw = |x: &f64| {
            let below = |cut: f64| 1.0 / (1.0 + (beta * x - cut).exp());
            let (a, b) = (below(cuts[0]), below(cuts[1]));
            chance.category(&[a, b - a, 1.0 - b]) as f64
        };
        let y = x.iter().map(draw).collect();
        (vec![cuts, vec![beta]], vec![x, y])
    });
}

#[test]
fn correlations_and_scales() {
    let text = "def m [r] [n] (l : [r](space.cholesky_corr [3])) (tau : [r][3]space.positive) (y : [r][n][3]real) : real =
  sum (dist.exponential_lpdf (flatten tau) 1)
    + sum (for i < r =>
      let factor = for (t, row) in zip tau[i] l[i] => t * row
      dist.lkj_corr_cholesky_lpdf l[i] 2
        + sum (for y in y[i] => dist.multi_normal_cholesky_lpdf y [0, 0, 0] factor))";
    calibrated(text, 50, &[("y", &[4, 3])], |chance| {
        // Partial correlations of a vine, whose shape falls by a half from tree to tree.
        let [a, b, c] = [2.5, 2.5, 2.0].map(|shape| 2.0 * chance.beta(shape) - 1.0);
        let rest = |x: f64| (1.0 - x * x).sqrt();
        let l = [[1.0, 0.0, 0.0], [a, rest(a), 0.0], [b, c * rest(b), rest(b) * rest(c)]];
        let tau = vec![chance.exponential(), chance.exponential(), chance.exponential()];
        let y = (0..4).flat_map(|_| {
            let z = chance.normals(3);
            let dot = |row: &[f64; 3]| row.iter().zip(&z).map(|(l, z)| l * z).sum::<f64>();
            l.iter().zip(&tau).map(|(row, t)| t * dot(row)).collect::<Vec<f64>>()
        });
        let y = y.collect();
        (vec![l.concat(), tau], vec![y])
    });
}
