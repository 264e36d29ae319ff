//! Placements: with any axis in blocks of any size, and any number of lanes, a graph gives what it gives.

use lambada_anf::{Function, generate};
use lambada_prim::{Scalar, Tensor};
use lambada_source::Failure;

use super::{agree, inputs_of};
use crate::cost::{Nominal, Target};
use crate::emit::{Around, Grain, emit_with};
use crate::graph::{self, AxisId, Graph};
use crate::place::batched;
use crate::placed::{self, Placed};
use crate::tile::tiled;
use crate::{Outputs, best, place, placeable, whole};

/// All placements.
pub(super) fn placements(graph: &Graph) -> Vec<Placed> {
    let axes = (0..graph.axes.len() as u32).map(|k| Some(AxisId(k)));
    let blocks = std::iter::once(None).chain(axes);
    let plain: Vec<Placed> =
        blocks.filter_map(|block| place(graph, block, &Nominal::default())).collect();
    let groups = |placed: Placed| {
        let axes = (0..graph.axes.len() as u32).map(AxisId);
        let groups: Vec<Placed> = axes.filter_map(|axis| batched(&placed, axis)).collect();
        [vec![placed], groups].concat()
    };
    let all = plain.into_iter().flat_map(groups);
    let tiles = |placed: Placed| tiled(placed, &Nominal::default(), &Target::of(8));
    all.flat_map(|placed| [placed.clone(), tiles(placed)]).collect()
}

/// Every placement gives what the graph gives, evaluated and as loops.
pub(super) fn agrees(graph: &Graph, args: &[Tensor]) {
    let expected = graph::eval(graph, args).map(|outcome| outcome.results);
    for placed in placements(graph) {
        let text = || placed::print(&placed);
        placed::check(&placed).unwrap_or_else(|e| panic!("{e}\n{}", text()));
        if expected.is_ok() {
            for block in [1, 4, 64] {
                let found: Result<_, Failure> = Ok(placed::eval(&placed, args, block));
                agree(&expected, &found)
                    .unwrap_or_else(|e| panic!("blocks of {block}: {e}\n{}", text()));
            }
        }
        // With four lanes, there are whole blocks and one that is not.
        for (lanes, block, around) in [
            (1, 7, Around::Nothing),
            (2, 1024, Around::Loops),
            (4, 8, Around::Nothing),
            (8, 16, Around::Nothing),
        ] {
            let grain = Grain { blocks: [block; 2], work: 3, unit: block };
            let loops = emit_with(&placed, lanes, (Outputs::Made, around), grain);
            let code = || lambada_loops::print(&loops);
            lambada_loops::check(&loops).unwrap_or_else(|e| panic!("{e}\n{}\n{}", text(), code()));
            let found = lambada_loops::eval(&loops, args);
            agree(&expected, &found)
                .unwrap_or_else(|e| panic!("{lanes} lanes: {e}\n{}\n{}", text(), code()));
        }
    }
}

pub(super) fn int(value: usize) -> Tensor {
    Tensor::scalar(Scalar::Int(value as i64))
}

/// Reals that are not alike.
pub(super) fn reals(dims: &[usize]) -> Tensor {
    let value = |k: usize| ((k * 37 + 11) % 101) as f64 / 50.0 - 1.0;
    Tensor::reals(dims.to_vec(), (0..dims.iter().product()).map(value).collect())
}

fn read(text: &str) -> Graph {
    let graph = graph::read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    graph::check(&graph).unwrap_or_else(|e| panic!("{e}\n{text}"));
    graph
}

/// Sizes around the numbers of lanes and of a block.
pub(super) const SIZES: [usize; 9] = [0, 1, 2, 7, 8, 9, 15, 17, 33];

#[test]
fn a_softmax_is_placed() {
    let graph = read(
        "
graph (n : int, x : [n]real) {
  axis i < n
  v0 = x[i]
  v1 = reduce max [i] v0
  v2 = sub v0, v1
  v3 = exp v2
  v4 = reduce add [i] v3
  v5 = log v4
  v6 = add v1, v5
  a0 = map [] v6
  v7 = div v3, v4
  a1 = map [i] v7
  => value = a0, gradient = a1
}
",
    );
    for n in SIZES {
        agrees(&graph, &[int(n), reals(&[n])]);
    }
}

/// The points of a Gaussian mixture: differences, a contraction, and another one back.
#[test]
fn contractions_are_placed() {
    let graph = read(
        "
graph (n : int, k : int, d : int, x : [n][d]real, m : [k][d]real, q : [k][d][d]real) {
  axis i < n
  axis c < k
  axis j < d
  axis l < d
  v0 = x[i, l]
  v1 = m[c, l]
  v2 = sub v0, v1
  v3 = q[c, j, l]
  v4 = mul v3, v2
  v5 = reduce add [l] v4
  v6 = mul v5, v5
  v7 = reduce add [j] v6
  v8 = reduce max [c] v7
  v9 = sub v7, v8
  v10 = exp v9
  v11 = reduce add [c] v10
  v12 = div v10, v11
  v13 = log v11
  v14 = reduce add [i] v13
  v15 = mul v12, v5
  v16 = mul v15, v2
  v17 = reduce add [i] v16
  a0 = map [] v14
  a1 = map [c, j, l] v17
  v18 = mul v15, v3
  v19 = reduce add [c, j] v18
  a2 = map [i, l] v19
  => value = a0, q = a1, x = a2
}
",
    );
    for n in SIZES {
        for (k, d) in [(1, 1), (3, 2), (2, 9)] {
            agrees(
                &graph,
                &[int(n), int(k), int(d), reals(&[n, d]), reals(&[k, d]), reals(&[k, d, d])],
            );
        }
    }
}

/// Reads and additions at computed places, some of which are out of range and not asked for.
#[test]
fn gathers_and_scatters_are_placed() {
    let graph = read(
        "
graph (n : int, m : int, x : [n]real, w : [m]real) {
  axis i < n
  v0 = le_int i, 2
  v1 = sub_int i, 3
  v2 = x[i]
  v3 = x[v1]
  v4 = choose v0, v2, v3
  v5 = mul v4, v2
  a0 = map [i] v5
  v6 = lt_int i, m
  axis j < m
  v7 = w[j]
  a1 = map [j] v7
  a2 = scatter a1
    add [i] if v6 : [i] += v5
  v8 = reduce add [j] v7
  a3 = map [] v8
  => y = a0, z = a2, sum = a3
}
",
    );
    for n in SIZES {
        for m in [0, 1, 9] {
            agrees(&graph, &[int(n), int(m), reals(&[n]), reals(&[m])]);
        }
    }
}

/// The gradient of a Gaussian mixture runs through the points in blocks, once.
#[test]
fn a_mixture_is_placed() {
    let graph = read(include_str!("graphs/mixture.graph"));
    // Of the points there are many.
    let sizes = Nominal::of([(2, 1024)]);
    let placed = best(&graph, &sizes, 8).expect("it is worth it");
    let block = placed.block.map(|axis| graph.axis(axis).hint.to_string());
    assert_eq!(block.as_deref(), Some("i_3"), "{}", placed::print(&placed));
    assert_eq!(placed.passes.iter().filter(|pass| pass.blocked).count(), 1);
    let words = crate::explain::placement(&placed);
    for told in [
        "nests over blocks of i_3, as many as fit the cache of a core\n",
        "nests run together for each i_2, which no contraction mixes\n",
        // The contraction: four rows and four vectors of points at once, terms up to the diagonal.
        "    i (4 at once), i_3 (4 vectors), i_1: reduce v40\n",
    ] {
        assert!(words.contains(told), "{told}{words}");
    }
    assert!(placed.buffers.iter().any(|buffer| buffer.single), "{words}");
    for (n, k, d) in [(0, 2, 3), (1, 1, 1), (9, 2, 3), (17, 3, 5), (3, 2, 9)] {
        let size = d * (d - 1) / 2;
        let args = [
            int(d),
            int(size),
            int(n),
            int(k),
            reals(&[k, d]),
            reals(&[k]),
            Tensor::scalar(Scalar::Real(0.5)),
            int(2),
            reals(&[k, size]),
            reals(&[n, d]),
            reals(&[k, d]),
        ];
        agrees(&graph, &args);
    }
}

fn drawn(function: &Function, args: &[Tensor]) -> Option<()> {
    let whole = whole(function)?;
    if !placeable(&whole.graph) {
        return None;
    }
    let inputs = inputs_of(function, &whole, args);
    agrees(&whole.graph, &inputs);
    (!placements(&whole.graph).is_empty()).then_some(())
}

#[test]
fn generated_programs_are_placed() {
    let placed = (0..600).filter_map(|seed| {
        let (f, args) = generate(seed);
        drawn(&f, &args)
    });
    assert!(placed.count() > 20, "few programs are placed");
}
