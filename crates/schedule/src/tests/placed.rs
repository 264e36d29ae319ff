//! Placements: with any axis in blocks of any size, and any number of lanes, the results of a graph
//! stay the same.

use lambada_anf::{Function, generate};
use lambada_prim::{Data, Precision, Prim, Scalar, Tensor};
use lambada_source::Failure;

use super::{agree, inputs_of};
use crate::fuse::fused;
use crate::place::{Along, Blocks, batched};
use crate::tile::tiled;
use crate::{best, place, placeable, whole, without_literals};
use lambada_emit::{Outputs, emit, explained};
use lambada_graph::placed::{self, Content, Placed};
use lambada_graph::{self as graph, AxisId, Grain, Graph, Nominal, Plan, Runs};

/// Blocks of the first axis.
fn first() -> Option<Blocks> {
    Some(Blocks { axis: AxisId(0), lanes: Along::Block })
}

/// All placements.
pub(super) fn placements(graph: &Graph) -> Vec<Placed> {
    let axes = (0..graph.axes.len() as u32).map(AxisId);
    let along = |axis| [Along::Block, Along::Rows].map(|lanes| Some(Blocks { axis, lanes }));
    let blocks = std::iter::once(None).chain(axes.flat_map(along));
    let plain: Vec<Placed> =
        blocks.filter_map(|block| place(graph, block, &Nominal::default())).collect();
    let groups = |placed: Placed| {
        let axes = (0..graph.axes.len() as u32).map(AxisId);
        let groups: Vec<Placed> = axes.filter_map(|axis| batched(&placed, axis)).collect();
        [vec![placed], groups].concat()
    };
    let all = plain.into_iter().flat_map(groups);
    let tiles = |placed: Placed| tiled(placed, &Nominal::default(), Plan::of(8), Precision::F64);
    let all = all.flat_map(|placed| [placed.clone(), tiles(placed)]);
    let both = |placed: Placed| {
        let fused = fused(&placed, Runs::Often);
        std::iter::once(placed).chain(fused)
    };
    all.flat_map(both).collect()
}

/// Every placement agrees with the graph, evaluated and as loops.
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
        for (lanes, block, runs) in
            [(1, 7, Runs::Once), (2, 1024, Runs::Often), (4, 8, Runs::Once), (8, 16, Runs::Once)]
        {
            let grain = Grain { folded: [block; 2], blocks: [block; 2], work: 3, unit: block };
            let plan = Plan { grain, ..Plan::of(lanes) };
            let loops = emit(&placed, plan, Outputs::Made, runs);
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

/// Several vectors of partial results, of any sizes; and where states or other axes share a cell,
/// none.
#[test]
fn a_reduction_that_stands_alone_has_partial_results() {
    let graph = read(
        "
graph (n : int, x : [n]real, y : [n]real) {
  axis i < n
  v0 = x[i]
  v1 = y[i]
  v2 = mul v0, v1
  v3 = reduce add [i] v2
  v4 = reduce max [i] v0
  a0 = map [] v3
  a1 = map [] v4
  => dot = a0, largest = a1
}
",
    );
    for n in SIZES.into_iter().chain([31, 32, 63, 64, 65, 100]) {
        agrees(&graph, &[int(n), reals(&[n]), reals(&[n])]);
    }
    let all = placements(&graph);
    let mut nests = all.iter().flat_map(|placed| &placed.passes).flat_map(|pass| &pass.nests);
    assert!(nests.any(|nest| nest.tile.iter().any(|tile| Some(tile.0) == nest.vector)));
    let mut placed = all.into_iter().next().expect("there is a placement");
    let nests = placed.passes.iter_mut().flat_map(|pass| &mut pass.nests);
    for nest in nests.filter(|nest| !nest.axes.is_empty()) {
        (nest.vector, nest.tile) = (None, vec![(nest.axes[0], 2)]);
    }
    assert!(placed::check(&placed).is_err_and(|e| e.contains("a tile of no results")));
}

/// The cotangent of a softmax's argument: a product of exponentials, which are stored for the pass
/// after their sum, is not stored as well.
#[test]
fn little_work_on_what_is_stored_is_done_again() {
    let graph = read(
        "
graph (n : int, x : [n]real) {
  axis i < n
  v0 = x[i]
  v1 = exp v0
  v2 = reduce add [i] v1
  v3 = div 1.0, v2
  v4 = mul v1, v3
  a0 = map [i] v4
  v5 = mul v2, v3
  v6 = sub 1.0, v5
  a1 = scatter a0
    add [] : [0] += v6
  => cotangent = a1
}
",
    );
    for n in SIZES {
        agrees(&graph, &[int(n.max(1)), reals(&[n.max(1)])]);
    }
    let placed = place(&graph, first(), &Nominal::default()).unwrap();
    let long = placed.buffers.iter().filter(|buffer| !buffer.axes.is_empty());
    let stored: Vec<Content> = long.map(|buffer| buffer.content).collect();
    let [Content::Node(only), Content::Array(_)] = stored[..] else {
        panic!("{}", placed::print(&placed))
    };
    assert!(matches!(placed.graph.operation(only), Some((Prim::Exp, _))));
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

/// Rows at places that checks have seen in range are read in lanes, by the nest that needs them.
#[test]
fn what_is_checked_is_read_in_lanes() {
    let graph = read(
        "
graph (n : int, m : int, at : [n]int, x : [m][3]real) {
  axis i < n
  for i {
    v0 = at[i]
    v1 = le_int 0, v0
    v2 = lt_int v0, m
    v3 = and v1, v2
    check v3 \"index {0} is out of range for size {1}\" (v0, m)
  }
  v4 = x[v0, 0]
  v5 = x[v0, 2]
  v6 = mul v4, v5
  a0 = map [i] v6
  => y = a0
}
",
    );
    let placed = place(&graph, first(), &Nominal::default()).expect("a placement");
    let nests: Vec<_> = placed.passes.iter().flat_map(|pass| &pass.nests).collect();
    assert!(matches!(nests[..], [nest] if nest.vector.is_some()), "{}", placed::print(&placed));
    for n in SIZES {
        let at = (0..n).map(|k| (k * 5 % 7) as i64).collect();
        let at = Tensor { dims: vec![n], data: Data::Int(at) };
        agrees(&graph, &[int(n), int(7), at, reals(&[7, 3])]);
    }
}

/// As above, where an earlier check reads an element that the next check is about: it is not read
/// out of range.
#[test]
fn checks_do_not_rest_on_later_ones() {
    let graph = read(
        "
graph (n : int, m : int, at : [n]int, x : [m]real) {
  axis i < n
  v0 = at[i]
  v1 = le_int 0, v0
  v2 = lt_int v0, m
  v3 = and v1, v2
  for i {
    v4 = x[v0]
    v5 = lt 5.0, v4
    v6 = not v3
    v7 = or v5, v6
    check v7 \"too large\" ()
    check v3 \"index {0} is out of range for size {1}\" (v0, m)
  }
  a0 = map [i] v4
  => y = a0
}
",
    );
    let placed = place(&graph, None, &Nominal::default()).expect("a placement");
    let at = Tensor { dims: vec![1], data: Data::Int(vec![9]) };
    let loops = emit(&placed, Plan::of(1), Outputs::Made, Runs::Once);
    let found = lambada_loops::eval(&loops, &[int(1), int(2), at, reals(&[2])]);
    let failure = found.expect_err("the index is out of range");
    assert!(failure.message.contains("index 9 is out of range"), "{}", failure.message);
}

/// A small matrix for each index: rows and columns are unrolled, each element once.
#[test]
fn the_elements_of_literals_are_written_out() {
    let graph = read(
        "
graph (n : int, x : [n]real) {
  axis i < n
  axis j < 2
  axis k < 3
  v0 = x[i]
  v1 = eq_int j, 0
  v2 = select v1, 2.0, 1.0
  v3 = mul v0, v2
  v4 = exp v3
  v5 = mul v4, v4
  a0 = items v3, v4, v5
  v6 = a0[k]
  a1 = map [i, j, k] v6
  => y = a1
}
",
    );
    assert!(!placeable(&graph));
    let graph = without_literals(&graph);
    assert!(placeable(&graph));
    let placed = place(&graph, first(), &Nominal::default()).expect("a placement");
    let nests: Vec<_> = placed.passes.iter().flat_map(|pass| &pass.nests).collect();
    assert!(matches!(nests[..], [nest] if nest.whole.len() == 2), "{}", placed::print(&placed));
    let loops = emit(&placed, Plan::of(4), Outputs::Made, Runs::Once);
    let text = lambada_loops::print(&loops);
    // For each row one, in whole vectors and in the last one.
    assert_eq!(text.matches("exp(").count(), 4, "{text}");
    for n in SIZES {
        agrees(&graph, &[int(n), reals(&[n])]);
    }
}

/// A stored scalar of which one element of the output is made stands in the output. Where two
/// outputs are made of it, or a sum reads it, nothing changes.
#[test]
fn what_becomes_an_output_stands_in_its_memory() {
    let softmax = "
graph (n : int, x : [n]real) {
  axis i < n
  v0 = x[i]
  v1 = exp v0
  v2 = reduce add [i] v1
  v3 = div v1, v2
  a0 = map [i] v3
";
    let one = format!("{softmax}  => y = a0\n}}\n");
    let two = format!("{softmax}  v4 = mul v1, v1\n  a1 = map [i] v4\n  => y = a0, z = a1\n}}\n");
    // A term that reads the stored scalar for other indices, too.
    let other = format!(
        "{softmax}  axis j < n\n  v4 = le_int j, i\n  v5 = x[j]\n  v6 = exp v5\n  v7 = mul v6, v1\n  v8 = select v4, v7, 0.0\n  v9 = reduce add [j] v8\n  \
         v10 = div v9, v2\n  a1 = map [i] v10\n  => y = a1\n}}\n"
    );
    for text in [&one, &two, &other] {
        let graph = read(text);
        for n in SIZES {
            agrees(&graph, &[int(n), reals(&[n])]);
        }
    }
    let placed = place(&read(&one), None, &Nominal::default()).expect("a placement");
    let loops = emit(&placed, Plan::of(4), Outputs::Made, Runs::Once);
    let text = lambada_loops::print(&loops);
    assert_eq!(text.matches("alloc real[n]").count(), 1, "{text}");
}

/// One nest unrolls an axis, the next one loops over it: it does not find the values of the first
/// index.
#[test]
fn what_is_written_out_is_known_to_one_nest() {
    let graph = read(
        "
graph (n : int, x : [n]real, w : [2]real) {
  axis i < n
  axis k < 2
  v0 = w[k]
  v1 = eq_int k, 0
  v2 = x[i]
  v3 = select v1, v2, 3.0
  v4 = mul v3, v0
  v5 = mul v2, v0
  a0 = map [i, k] v4
  a1 = map [i, k] v5
  => y = a0, z = a1
}
",
    );
    let placed = place(&graph, first(), &Nominal::default()).expect("a placement");
    let whole = placed.passes.iter().flat_map(|pass| &pass.nests).map(|nest| nest.whole.len());
    assert_eq!(whole.collect::<Vec<_>>(), [1, 0], "{}", placed::print(&placed));
    for n in SIZES {
        agrees(&graph, &[int(n), reals(&[n]), reals(&[2])]);
    }
}

/// The gradient of a Gaussian mixture runs through the points in blocks, once.
#[test]
fn a_mixture_is_placed() {
    let graph = read(include_str!("graphs/mixture.graph"));
    // There are many points.
    let sizes = Nominal::of([(2, 1024)]);
    let placed =
        best(&graph, &sizes, Plan::of(8), (Precision::F64, Runs::Often)).expect("it is worth it");
    let block = placed.block.map(|axis| graph.axis(axis).hint.to_string());
    assert_eq!(block.as_deref(), Some("i_3"), "{}", placed::print(&placed));
    assert_eq!(placed.passes.iter().filter(|pass| pass.blocked).count(), 1);
    let words = explained(&placed, None, false);
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

/// The gradient of a logistic regression reads its data once, in blocks of rows, with lanes along
/// the features.
#[test]
fn rows_are_read_once() {
    let graph = read(include_str!("graphs/regression.graph"));
    let sizes = Nominal::of([(0, 1024), (1, 12)]);
    let placed =
        best(&graph, &sizes, Plan::of(8), (Precision::F64, Runs::Often)).expect("it is worth it");
    let words = explained(&placed, None, false);
    let block = placed.block.map(|axis| graph.axis(axis).hint.to_string());
    assert_eq!(block.as_deref(), Some("i"), "{words}");
    let data = placed.passes.iter().filter(|pass| pass.blocked);
    assert_eq!(data.count(), 1, "{words}");
    for told in ["  i (8 at once), i_1 (lanes): reduce v3\n", "  i_1 (4 vectors), i: store "] {
        assert!(words.contains(told), "{told}{words}");
    }
    for (n, d) in [(0, 3), (3, 0), (1, 1), (9, 8), (17, 9), (65, 2)] {
        let (w, x, y) = (reals(&[d]), reals(&[n, d]), reals(&[n]));
        agrees(&graph, &[int(n), int(d), w, x, y, Tensor::scalar(Scalar::Real(0.5))]);
    }
}

fn drawn(function: &Function, args: &[Tensor]) -> Option<()> {
    let whole = whole(function)?;
    let graph = without_literals(&whole.graph);
    if !placeable(&graph) {
        return None;
    }
    let inputs = inputs_of(function, &whole, args);
    agrees(&graph, &inputs);
    (!placements(&graph).is_empty()).then_some(())
}

#[test]
fn generated_programs_are_placed() {
    let placed = (0..600).filter_map(|seed| {
        let (f, args) = generate(seed);
        drawn(&f, &args)
    });
    assert!(placed.count() > 20, "few programs are placed");
}
