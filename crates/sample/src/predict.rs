//! A definition for each draw.

use std::num::NonZeroUsize;

use lambada::{Failure, Prediction};
use lambada_draws::{Draws, Variable};

/// Why there are no results.
#[derive(Debug)]
pub enum Unpredicted {
    /// The program failed.
    Failed(Failure),
    /// The result has another size for another draw: the array, its sizes for the first draw and
    /// for that one, and the number of the draw.
    Sizes(String, Vec<usize>, Vec<usize>, usize),
}

/// The results of a definition for all draws, as variables.
///
/// # Errors
/// Failures of the program, and results whose sizes depend on the draw.
pub fn predict(
    prediction: &Prediction,
    draws: &Draws,
    threads: NonZeroUsize,
) -> Result<Vec<Variable>, Unpredicted> {
    let count = draws.chains * draws.draws;
    let taken: Vec<&Variable> =
        prediction.taken().iter().filter_map(|v| draws.variable(&v.name)).collect();
    let sizes: Vec<usize> = taken.iter().map(|v| v.dims.iter().product()).collect();
    let run = |draw: usize| {
        let parts = taken.iter().zip(&sizes);
        let values: Vec<f64> =
            parts.flat_map(|(v, size)| v.values[draw * size..][..*size].iter().copied()).collect();
        prediction.run(&values, draw)
    };
    let share = count.div_ceil(threads.get()).max(1);
    let part = |first: usize| -> Result<Vec<_>, Failure> {
        lambada::roomy(|| (first..count.min(first + share)).map(run).collect())
    };
    let parts = std::thread::scope(|scope| {
        let begun = (0..count).step_by(share).map(|first| {
            let part = &part;
            scope.spawn(move || part(first))
        });
        let begun: Vec<_> = begun.collect();
        let ended = begun.into_iter().map(|part| part.join().expect("no panics"));
        ended.collect::<Result<Vec<_>, Failure>>()
    });
    let results = parts.map_err(Unpredicted::Failed)?.concat();
    let Some((first, _)) = results.first() else { return Ok(Vec::new()) };
    let empty = |v: &lambada::Variable| Variable {
        name: v.name.clone(),
        dims: v.dims.clone(),
        values: Vec::new(),
    };
    let mut all: Vec<Variable> = first.iter().map(empty).collect();
    for (draw, (arrays, numbers)) in results.iter().enumerate() {
        let mut at = 0;
        for (own, array) in all.iter_mut().zip(arrays) {
            if own.dims != array.dims {
                let (name, first) = (own.name.clone(), own.dims.clone());
                return Err(Unpredicted::Sizes(name, first, array.dims.clone(), draw));
            }
            own.values.extend_from_slice(&numbers[at..at + array.count()]);
            at += array.count();
        }
    }
    Ok(all)
}
