//! `cargo run -p shipped`: finds the velocity with which a satellite meets a target, by gradient
//! descent with a line search. The model and its gradient are compiled into this program, so it
//! runs without Lambada and without a compiler.

use ndarray::{Array1, array};

lambada_build::include_model!("orbit");

const DT: f64 = 0.01;
const STEPS: i64 = 200;

/// The velocity found, and the squared distance by which the satellite misses the target.
fn aim(target: &Array1<f64>) -> Result<(Array1<f64>, f64), orbit::Error> {
    let mut velocity = array![0.0, 1.0];
    let mut rate = 0.1;
    let (mut miss, mut gradient) = orbit::miss_grad(velocity.view(), target.view(), DT, STEPS)?;
    while miss > 1e-12 && rate > 1e-12 {
        let next = &velocity - &(&gradient.velocity * rate);
        let (value, slope) = orbit::miss_grad(next.view(), target.view(), DT, STEPS)?;
        if value < miss {
            (velocity, miss, gradient) = (next, value, slope);
            rate *= 1.5;
        } else {
            rate *= 0.5;
        }
    }
    Ok((velocity, miss))
}

fn main() -> Result<(), orbit::Error> {
    let (velocity, miss) = aim(&array![-0.8, 0.9])?;
    println!("start with {velocity:.6}: the target is missed by {:.1e}", miss.sqrt());
    Ok(())
}

#[test]
fn the_target_is_met() {
    let target = array![-0.8, 0.9];
    let (velocity, miss) = aim(&target).unwrap();
    assert!(miss < 1e-11, "{miss}");
    let value = orbit::miss(velocity.view(), target.view(), DT, STEPS).unwrap();
    assert!((value - miss).abs() < 1e-14, "the library's value is that of its gradient");
}
