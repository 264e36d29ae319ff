//! `cargo run -p fit`: logistic regression of breast tumors. L-BFGS of the crate `argmin` minimizes
//! the loss of `examples/logistic.lam`.

use std::error::Error;
use std::path::Path;

use argmin::core::{CostFunction, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use lambada::{Arg, Args, Model, ValueAndGrad, args, record};

/// The features of `n` tumors, row by row, and whether each is benign.
struct Tumors {
    n: usize,
    features: Vec<f64>,
    benign: Vec<i64>,
}

impl Tumors {
    fn read(path: impl AsRef<Path>) -> Result<Tumors, Box<dyn Error>> {
        let data: serde_json::Value = serde_json::from_slice(&std::fs::read(path)?)?;
        let rows: Vec<Vec<f64>> = serde_json::from_value(data["features"].clone())?;
        let benign = serde_json::from_value(data["benign"].clone())?;
        Ok(Tumors { n: rows.len(), features: rows.concat(), benign })
    }

    fn columns(&self) -> usize {
        self.features.len() / self.n
    }
}

/// The objective for argmin. A point is the weights followed by the bias.
struct Loss<'a> {
    tumors: &'a Tumors,
    value_and_grad: &'a ValueAndGrad,
}

impl Loss<'_> {
    fn both(&self, point: &[f64]) -> Result<(f64, Vec<f64>), argmin::core::Error> {
        let (bias, weights) = point.split_last().expect("a point has a bias");
        let (value, gradient) = self.value_and_grad.call(arguments(self.tumors, weights, *bias))?;
        let model = gradient.get("model")?;
        let mut slope: Vec<f64> = model.field("weights")?.try_into()?;
        slope.push(model.field("bias")?.try_into()?);
        Ok((value, slope))
    }
}

impl CostFunction for Loss<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, point: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        Ok(self.both(point)?.0)
    }
}

impl Gradient for Loss<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, point: &Vec<f64>) -> Result<Vec<f64>, argmin::core::Error> {
        Ok(self.both(point)?.1)
    }
}

/// The arguments of `loss` and `accuracy`. Arrays are borrowed, not copied.
fn arguments<'a>(tumors: &'a Tumors, weights: &'a [f64], bias: f64) -> Args<'a> {
    let features = Arg::reals(&[tumors.n, tumors.columns()], &tumors.features);
    args![features.expect("rows are complete"), &tumors.benign, record! { weights: weights, bias: bias }]
}

/// Loss and accuracy of the fitted model.
fn fit() -> Result<(f64, f64), Box<dyn Error>> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let model = Model::load(examples.join("logistic.lam"))?;
    let mut tumors = Tumors::read(examples.join("data/breast_cancer.json"))?;
    let features = Arg::reals(&[tumors.n, tumors.columns()], &tumors.features);
    let standard = model.function("standardize")?.call(args![features.expect("rows are complete")])?;
    tumors.features = standard.view::<ndarray::Ix2>().iter().copied().collect();

    let value_and_grad = model.function("loss")?.value_and_grad(&["model"])?;
    let loss = Loss { tumors: &tumors, value_and_grad: &value_and_grad };
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 10).with_tolerance_grad(1e-8)?;
    let start = vec![0.0; tumors.columns() + 1];
    let done = Executor::new(loss, solver).configure(|state| state.param(start).max_iters(500)).run()?;

    let best = done.state.best_param.ok_or("no step was made")?;
    let (bias, weights) = best.split_last().ok_or("a point has a bias")?;
    let accuracy = model.function("accuracy")?.call(arguments(&tumors, weights, *bias))?;
    Ok((done.state.best_cost, accuracy.try_into()?))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (loss, accuracy) = fit()?;
    println!("loss {loss:.6}, accuracy {:.1} %", 100.0 * accuracy);
    Ok(())
}

/// The minimum is below the loss after 200 steps of gradient descent, and its gradient vanishes.
#[test]
fn the_minimum_is_found() {
    let (loss, accuracy) = fit().unwrap();
    assert!(loss < 0.0730 && accuracy > 0.98, "{loss} {accuracy}");
}
