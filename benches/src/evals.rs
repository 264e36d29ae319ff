//! The evals: measured definitions, and workloads.

use crate::hands::ht;
use crate::inputs::{Problem, ba, det, gmm, kmeans, llsq, lse, lstm, ode, particle, saddle};

/// An eval of the suite.
pub struct Eval {
    /// Name of its program and of its C code.
    pub name: &'static str,
    /// The definition of the value, if measured.
    pub value: Option<&'static str>,
    /// The definitions of derivatives.
    pub derivatives: &'static [&'static str],
    /// The fields of the derivative, in the order of the C code; empty if it is no record.
    pub fields: &'static [&'static str],
    /// Tolerated absolute difference, besides rounding errors relative to the largest elements.
    pub noise: f64,
    /// Whether C code exists.
    pub by_hand: bool,
    /// The workloads; fewer and smaller ones for a quick run.
    pub problems: fn(bool) -> Vec<Problem>,
}

const fn eval(
    name: &'static str,
    value: &'static str,
    derivatives: &'static [&'static str],
    problems: fn(bool) -> Vec<Problem>,
) -> Eval {
    Eval { name, value: Some(value), derivatives, fields: &[], noise: 0.0, by_hand: true, problems }
}

const fn optimizer(name: &'static str, problems: fn(bool) -> Vec<Problem>) -> Eval {
    let derivatives = &["rr", "ff", "fr", "rf"];
    Eval { name, value: None, derivatives, fields: &[], noise: 0.0, by_hand: false, problems }
}

/// All evals except `hello`, which measures nothing.
pub const EVALS: &[Eval] =
    &[
        Eval {
            fields: &["alpha", "mu", "q", "l"],
            ..eval("gmm", "objective", &["jacobian"], mixtures)
        },
        Eval {
            fields: &["rows", "cols", "vals"],
            ..eval("ba", "objective", &["jacobian"], scenes)
        },
        eval("lstm", "objective", &["jacobian"], texts),
        eval("ht", "objective", &["jacobian"], hands),
        // The largest element also receives `1 - Σ softmax` through the maximum, a pure rounding
        // error.
        Eval {
            noise: 1e-12,
            ..eval("lse", "primal", &["gradient"], |quick| {
                vec![lse(if quick { 10_000 } else { 640_000 })]
            })
        },
        eval("llsq", "primal", &["gradient"], |quick| {
            vec![if quick { llsq(1000, 32) } else { llsq(16392, 128) }]
        }),
        eval("kmeans", "cost", &["dir"], clusters),
        eval("det", "primal", &["gradient"], |quick| {
            if quick { vec![det(5)] } else { vec![det(8), det(9)] }
        }),
        eval("ode", "primal", &["gradient"], equations),
        optimizer("particle", |_| vec![particle()]),
        optimizer("saddle", |_| vec![saddle()]),
    ];

fn mixtures(quick: bool) -> Vec<Problem> {
    let all = [(2, 5, 1000), (10, 5, 1000), (10, 25, 1000), (32, 25, 1000), (64, 25, 1000)];
    let few = [(2, 5, 100), (10, 5, 100)];
    let large = [(64, 100, 1000)];
    let sizes: Vec<_> = if quick { few.to_vec() } else { [&all[..], &large].concat() };
    sizes.into_iter().map(|(d, k, n)| gmm(d, k, n)).collect()
}

fn scenes(quick: bool) -> Vec<Problem> {
    match quick {
        true => vec![ba(7, 100, 1000)],
        false => vec![ba(49, 7776, 31843), ba(356, 226_730, 1_255_268)],
    }
}

fn texts(quick: bool) -> Vec<Problem> {
    if quick { vec![lstm(2, 100)] } else { vec![lstm(2, 1024), lstm(6, 8192)] }
}

fn hands(quick: bool) -> Vec<Problem> {
    match quick {
        true => vec![ht(544, 100, true), ht(544, 100, false)],
        false => vec![ht(544, 100, true), ht(10_000, 25_600, false), ht(10_000, 25_600, true)],
    }
}

fn clusters(quick: bool) -> Vec<Problem> {
    match quick {
        true => vec![kmeans(500, 10, 16)],
        false => vec![kmeans(10_000, 10, 16), kmeans(10_000, 1000, 16)],
    }
}

fn equations(quick: bool) -> Vec<Problem> {
    if quick { vec![ode(40, 20)] } else { vec![ode(40, 100), ode(1000, 100), ode(100_000, 100)] }
}
