//! Definitions as posteriors: densities of coordinates against the definition itself, with the
//! Jacobian determinant and all gradients from differences.

use lambada::{Engine, Given, Inputs, Model, Options, Posterior};
use lambada_testkit::{Random, Tolerance, all_close, close};

fn inputs(words: &[&str]) -> Inputs {
    let mut data = Inputs::new();
    words.iter().for_each(|word| data.read_argument(word).expect("JSON"));
    data
}

fn posterior(text: &str, words: &[&str], sizes: &[(&str, usize)]) -> Result<Posterior, String> {
    let options = Options { engine: Engine::Jit, ..Options::default() };
    let model = Model::builder().options(options).compile("m.lam", text);
    let function = model.and_then(|model| model.function("m")).map_err(|e| e.to_string())?;
    let sizes = sizes.iter().map(|(name, size)| (name.to_string(), *size)).collect();
    let given = Given { data: inputs(words), sizes, start: None };
    function.posterior(&given).map_err(|e| e.to_string())
}

fn density(posterior: &Posterior, at: &[f64]) -> (f64, Vec<f64>) {
    let mut both = vec![0.0; posterior.dimension() + 1];
    posterior.density(at, &mut both).expect("a density");
    (both[0], both.split_off(1))
}

fn values(posterior: &Posterior, at: &[f64]) -> Vec<f64> {
    let mut values = vec![0.0; posterior.count()];
    posterior.values(at, &mut values).expect("values");
    values
}

/// Central differences of a function of several numbers, for each argument.
fn differences(f: &dyn Fn(&[f64]) -> Vec<f64>, at: &[f64]) -> Vec<Vec<f64>> {
    let step = 1e-5;
    let column = |k: usize| {
        let moved = |by: f64| {
            let mut x = at.to_vec();
            x[k] += by;
            f(&x)
        };
        let (up, down) = (moved(step), moved(-step));
        up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * step)).collect()
    };
    (0..at.len()).map(column).collect()
}

/// The logarithm of the determinant of a square matrix.
fn log_determinant(mut a: Vec<Vec<f64>>) -> f64 {
    let mut log = 0.0;
    for k in 0..a.len() {
        let best = (k..a.len()).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs()));
        a.swap(k, best.expect("a row"));
        log += a[k][k].abs().ln();
        let (above, below) = a.split_at_mut(k + 1);
        for row in below {
            let factor = row[k] / above[k][k];
            row.iter_mut().zip(&above[k]).for_each(|(x, y)| *x -= factor * y);
        }
    }
    log
}

/// Compares a posterior with its definition at random points. `free` are the values that determine
/// the others; `plain` is the definition.
fn check(text: &str, words: &[&str], free: &[usize], plain: impl Fn(&[f64]) -> f64) {
    let posterior = posterior(text, words, &[]).unwrap_or_else(|why| panic!("{text}\n{why}"));
    let mut random = Random(7);
    for _ in 0..4 {
        let at: Vec<f64> = (0..posterior.dimension()).map(|_| random.between(-1.5, 1.5)).collect();
        let (value, gradient) = density(&posterior, &at);
        let chosen = |x: &[f64]| {
            let all = values(&posterior, x);
            free.iter().map(|k| all[*k]).collect()
        };
        let jacobian = log_determinant(differences(&chosen, &at));
        let expected = plain(&values(&posterior, &at)) + jacobian;
        let near = Tolerance { relative: 1e-7, absolute: 1e-7 };
        close(&text, value, expected, near).unwrap_or_else(|why| panic!("{why}"));
        let slopes = differences(&|x| vec![density(&posterior, x).0], &at).concat();
        all_close(&text, &gradient, &slopes, near).unwrap_or_else(|why| panic!("{why}"));
    }
}

#[test]
fn numbers_arrays_and_records() {
    check(
        "import \"std/space\"\ndef m (a : real) (s : space.positive) (p : [2]space.unit) (y : real) : real = -(y - a) ** 2 / s - p[0] + 3 * p[1]",
        &["y=2"],
        &[0, 1, 2, 3],
        |v| -(2.0 - v[0]).powi(2) / v[1] - v[2] + 3.0 * v[3],
    );
    // Fields in alphabetical order; those of arrays of records are arrays.
    check(
        "import \"std/space\" as s\ntype group = {width : s.positive, center : real}\ntype pair a = (a, a)\ndef m (g : [2]group) (q : pair s.unit) : real = -sum (for x in g => x.center ** 2 / x.width) - q.0 * q.1",
        &[],
        &[0, 1, 2, 3, 4, 5],
        |v| -(v[0] * v[0] / v[2] + v[1] * v[1] / v[3]) - v[4] * v[5],
    );
}

#[test]
fn vectors_and_matrices() {
    check(
        "import \"std/space\" (simplex, ordered)\ndef m (p : simplex [3]) (o : ordered [2]) : real = log p[0] + 2 * log p[2] - o[0] ** 2 - o[1] ** 2",
        &[],
        &[0, 1, 3, 4],
        |v| v[0].ln() + 2.0 * v[2].ln() - v[3] * v[3] - v[4] * v[4],
    );
    check(
        "import \"std/space\"\ndef m (c : [2]space.cov [2]) : real = -sum (for a in c => trace a)",
        &[],
        &[0, 2, 3, 4, 6, 7],
        |v| -(v[0] + v[3] + v[4] + v[7]),
    );
}

#[test]
fn what_depends_on_data_is_computed_once() {
    let text = "def m [n] [k] (b : [k]real) (x : [n][k]real) (y : [n]int) =
      let means = for j < k => mean (for i < n => x[i, j])
      let z = for i < n, j < k => x[i, j] - means[j]
      let scale = norm (flatten z)
      sum (for i < n => y[i] * dot z[i] b / scale - exp (dot z[i] b) - lgamma (y[i] + 1)) - dot b b";
    let (x, y) = ([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]], [2.0, 0.0, 5.0]);
    let plain = |b: &[f64]| {
        let mean = |j: usize| (x[0][j] + x[1][j] + x[2][j]) / 3.0;
        let z = |i: usize, j: usize| x[i][j] - mean(j);
        let squares = (0..3).flat_map(|i| [z(i, 0), z(i, 1)]).map(|z| z * z).sum::<f64>();
        let scale = squares.sqrt();
        let term = |i: usize| {
            let odds = z(i, 0) * b[0] + z(i, 1) * b[1];
            let factorial: f64 = (1..=y[i] as u64).product::<u64>() as f64;
            y[i] * odds / scale - odds.exp() - factorial.ln()
        };
        (0..3).map(term).sum::<f64>() - b[0] * b[0] - b[1] * b[1]
    };
    check(text, &["x=[[1, 2], [0.5, -1], [3, 0]]", "y=[2, 0, 5]"], &[0, 1], plain);
}

#[test]
fn indices_count_from_one_in_data() {
    check(
        "import \"std/space\"\ndef m (a : [2]real) (g : [3]space.one_based) (y : [3]real) : real = -sum (for i < 3 => (y[i] - a[g[i]]) ** 2)",
        &["g=[1, 2, 1]", "y=[1, 2, 3]"],
        &[0, 1],
        |v| -((1.0 - v[0]).powi(2) + (2.0 - v[1]).powi(2) + (3.0 - v[0]).powi(2)),
    );
}

#[test]
fn sizes_come_from_data_or_by_name() {
    let text = "import \"std/space\"\ndef m [n] [k] (a : [n]real) (p : space.simplex [k]) (y : [n]real) : real = -sum ((y - a) ** 2)";
    let made = posterior(text, &["y=[1, 2, 3]"], &[("k", 4)]).expect("all sizes are known");
    assert_eq!((made.dimension(), made.count()), (6, 7));
    let names: Vec<&str> = made.variables().iter().map(|v| &*v.name).collect();
    assert_eq!(names, ["a", "p"]);
    let computed = "def m [K] (a : [2 * K - 1]real) (y : [K]real) : real = -sum (a * a) - sum y";
    let computed = posterior(computed, &["y=[1, 2, 3]"], &[]).expect("K is that of y");
    assert_eq!(computed.dimension(), 5);
    let why = posterior(text, &["y=[1, 2, 3]"], &[]).err().expect("k is not known");
    assert!(why.contains("E0904") && why.contains("`k`"), "{why}");
    let why = posterior(text, &["y=[1, 2, 3]"], &[("n", 2)]).err().expect("n is 3");
    assert!(why.contains("E0905"), "{why}");
}
