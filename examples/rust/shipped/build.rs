//! Compiles the model and its gradient into this program.

fn main() -> Result<(), lambada_build::Error> {
    lambada_build::Model::new("orbit.lam").entry("miss").grad("miss", &["velocity"]).compile()
}
