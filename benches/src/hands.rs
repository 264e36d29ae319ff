//! The input of `ht`: a mesh whose vertices depend on a few bones each, and nearby measurements.

use lambada::Data;
use lambada_testkit::Random;

use crate::inputs::{Arrays, Problem, array, integers, numbers, record};

const BONES: usize = 22;

/// A mesh of `vertices` vertices with `count` measured points; if `complicated`, points on
/// triangles.
pub fn ht(vertices: usize, count: usize, complicated: bool) -> Problem {
    let mut random = Random(13);
    let theta: Vec<f64> = numbers(&mut random, 26).iter().map(|angle| 0.5 * angle).collect();
    let parents: Vec<i64> = (0..BONES as i64).map(parent).collect();
    let relatives = placements(&mut random);
    let inverses = placements(&mut random);
    let rest: Vec<f64> = (0..4 * vertices)
        .map(|k| if k % 4 == 3 { 1.0 } else { random.between(-1.0, 1.0) })
        .collect();
    let weights = weights(&mut random, vertices);
    let triangles: Vec<i64> =
        (0..3 * (2 * vertices)).map(|_| random.below(vertices) as i64).collect();
    let places = if complicated { 2 * vertices } else { vertices };
    let correspondences: Vec<i64> = (0..count).map(|_| random.below(places) as i64).collect();
    let points = numbers(&mut random, 3 * count);
    let us: Vec<f64> = match complicated {
        true => numbers(&mut random, 2 * count).iter().map(|u| 0.25 + 0.25 * u).collect(),
        false => Vec::new(),
    };
    let model = record(&[
        ("parents", integers(&[BONES], &parents)),
        ("base_relatives", array(&[BONES, 4, 4], &relatives)),
        ("inverse_base_absolutes", array(&[BONES, 4, 4], &inverses)),
        ("base_positions", array(&[vertices, 4], &rest)),
        ("weights", array(&[vertices, BONES], &weights)),
        ("triangles", integers(&[2 * vertices, 3], &triangles)),
        ("is_mirrored", false.into()),
    ]);
    let data: Data = record(&[
        ("model", model),
        ("correspondences", integers(&[count], &correspondences)),
        ("points", array(&[count, 3], &points)),
    ]);
    let arguments = vec![array(&[26], &theta), data, array(&[us.len() / 2, 2], &us)];
    let arrays = Arrays {
        sizes: vec![vertices as i64, count as i64, i64::from(complicated), 0],
        reals: vec![theta, relatives, inverses, rest, weights, points, us],
        ints: vec![parents, triangles, correspondences],
    };
    let variant = if complicated { "complicated" } else { "simple" };
    Problem { label: format!("{variant}, {vertices} vertices, {count} points"), arrays, arguments }
}

/// The parent of a bone in the arm, the wrist, or one of five fingers with four bones each.
fn parent(bone: i64) -> i64 {
    match bone {
        0 => -1,
        1 => 0,
        _ if (bone - 2) % 4 == 0 => 1,
        _ => bone - 1,
    }
}

/// Random rotations about the z axis with shifts, as 4 × 4 matrices.
fn placements(random: &mut Random) -> Vec<f64> {
    let mut all = Vec::new();
    for _ in 0..BONES {
        let (s, c) = random.between(-0.5, 0.5).sin_cos();
        let shift = numbers(random, 3);
        all.extend([c, -s, 0.0, shift[0], s, c, 0.0, shift[1], 0.0, 0.0, 1.0, shift[2]]);
        all.extend([0.0, 0.0, 0.0, 1.0]);
    }
    all
}

/// Weights by which each vertex depends on four bones.
fn weights(random: &mut Random, vertices: usize) -> Vec<f64> {
    let mut weights = vec![0.0; vertices * BONES];
    for row in weights.chunks_mut(BONES) {
        (0..4).for_each(|_| row[random.below(BONES)] += 0.25);
    }
    weights
}
