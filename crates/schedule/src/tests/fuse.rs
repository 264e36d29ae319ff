//! Nests that read neighbors which another nest stores: fusion, direction, registers, and equal
//! values.

use lambada_prim::Tensor;

use super::placed::{SIZES, agrees, int, reals};
use crate::fuse::fused;
use crate::place;
use lambada_graph::placed::{self, Direction, Placed};
use lambada_graph::{self as graph, Graph, Nominal, Runs};

fn read(text: &str) -> Graph {
    let graph = graph::read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    graph::check(&graph).unwrap_or_else(|e| panic!("{e}\n{text}"));
    graph
}

/// The nests without blocks.
fn fused_nests(graph: &Graph) -> Placed {
    let placed = place(graph, None, &Nominal::default()).expect("it is placed");
    fused(&placed, Runs::Often).unwrap_or(placed)
}

/// By nest: its direction, and the number of its items.
fn nests(placed: &Placed) -> Vec<(Option<Direction>, usize)> {
    let all = placed.passes.iter().flat_map(|pass| &pass.nests);
    all.map(|nest| (nest.direction, nest.items.len())).collect()
}

/// Stages, each of which reads the one before at such distances, if they exist.
fn stages(distances: &[&[i64]]) -> String {
    let mut text = "graph (n : int, x : [n]real) {\n  axis i < n\n  v0 = x[i]\n  v1 = sin v0\n  a0 = map [i] v1\n".to_string();
    let mut next = 2;
    let mut line = |text: &mut String, lazy: bool, what: String| {
        *text += &format!("  {}v{next} = {what}\n", if lazy { "lazy " } else { "" });
        next += 1;
        next - 1
    };
    for (k, distances) in distances.iter().enumerate() {
        let mut sum = line(&mut text, false, "sin v0".to_string());
        for away in *distances {
            let at = line(&mut text, false, format!("add_int i, {away}"));
            let low = line(&mut text, false, format!("le_int 0, v{at}"));
            let high = line(&mut text, false, format!("lt_int v{at}, n"));
            let exists = line(&mut text, false, format!("and v{low}, v{high}"));
            let element = line(&mut text, true, format!("a{k}[v{at}]"));
            let chosen = line(&mut text, false, format!("choose v{exists}, v{element}, 0.5"));
            let twice = line(&mut text, false, format!("mul v{chosen}, {}.25", away.abs() + 1));
            sum = line(&mut text, false, format!("add v{sum}, v{twice}"));
        }
        let value = line(&mut text, false, format!("sin v{sum}"));
        text += &format!("  a{} = map [i] v{value}\n", k + 1);
    }
    text + &format!("  => y = a{}\n}}\n", distances.len())
}

/// The nests, and values at all sizes.
fn check(distances: &[&[i64]], expected: &[(Option<Direction>, usize)], in_registers: usize) {
    let graph = read(&stages(distances));
    let placed = fused_nests(&graph);
    let text = placed::print(&placed);
    placed::check(&placed).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(nests(&placed), expected, "{text}");
    assert_eq!(placed.in_registers().len(), in_registers, "{text}");
    for n in SIZES {
        agrees(&graph, &[int(n), reals(&[n])]);
    }
}

const UP: Option<Direction> = Some(Direction::Up);
const DOWN: Option<Direction> = Some(Direction::Down);

#[test]
fn stages_in_one_direction_are_one_nest() {
    check(&[&[-1], &[-1], &[-2, -1]], &[(UP, 4)], 3);
    check(&[&[1], &[3, 1], &[8]], &[(DOWN, 4)], 3);
    check(&[&[-8, -7]], &[(UP, 2)], 1);
}

#[test]
fn both_directions_are_two_nests() {
    // The second array is in memory, for the second nest.
    check(&[&[-1], &[1], &[1]], &[(UP, 2), (DOWN, 2)], 2);
    check(&[&[-1], &[1], &[-1]], &[(UP, 2), (UP, 2)], 2);
}

#[test]
fn who_reads_on_both_sides_or_far_away_waits() {
    check(&[&[-1, 1], &[-1]], &[(None, 1), (UP, 2)], 1);
    check(&[&[-9], &[1]], &[(None, 1), (DOWN, 2)], 1);
    check(&[&[-9], &[9]], &[(None, 1), (None, 1), (None, 1)], 0);
}

/// Lanes beyond the last index hold other neighbors than the last one has, so a read at an index
/// that depends on neighbors waits for a later nest.
#[test]
fn an_index_depends_on_no_register() {
    let graph = read(
        "
graph (n : int, m : int, x : [n]real, z : [m]real) {
  axis i < n
  v0 = x[i]
  v1 = mul v0, 2.0
  a0 = map [i] v1
  v2 = add_int i, -1
  v3 = le_int 0, v2
  lazy v4 = a0[v2]
  v5 = choose v3, v4, 0.0
  v6 = lt v5, 100.0
  v7 = select_int v6, 1, 99
  v8 = lt_int v7, m
  lazy v9 = z[v7]
  v10 = choose v8, v9, 0.5
  v11 = add v5, v10
  a1 = map [i] v11
  => y = a1
}
",
    );
    assert_eq!(nests(&fused_nests(&graph)), [(None, 1), (None, 1)]);
    for n in SIZES {
        let x = (0..n).map(|k| if k + 1 == n { 1e9 } else { (k % 3) as f64 / 2.0 });
        let x = Tensor::reals(vec![n], x.collect());
        agrees(&graph, &[int(n), int(3), x, reals(&[3])]);
    }
}

/// Threads share nests that run once; rows, too, where they are fused.
#[test]
fn what_threads_share_stays_apart() {
    let graph = read(&stages(&[&[-1]]));
    let placed = place(&graph, None, &Nominal::default()).expect("it is placed");
    assert_eq!(nests(&placed), [(None, 1), (None, 1)]);
    assert_eq!(fused(&placed, Runs::Once), None);
    assert!(fused(&placed, Runs::Often).is_some());
}

/// Rows, each by itself; elements of another row are in memory.
#[test]
fn rows_are_fused() {
    let text = |row: &str| {
        format!(
            "
graph (m : int, n : int, x : [m][n]real) {{
  axis r < m
  axis i < n
  v0 = x[r, i]
  v1 = exp v0
  a0 = map [r, i] v1
  v2 = add_int i, -1
  v3 = le_int 0, v2
  v4 = add_int r, -1
  v5 = le_int 0, v4
  v6 = and v3, v5
  lazy v7 = a0[{row}, v2]
  v8 = choose v6, v7, 0.0
  v9 = add v0, v8
  v10 = sin v9
  a1 = map [r, i] v10
  => y = a1
}}
"
        )
    };
    for (row, expected) in [("r", vec![(UP, 2)]), ("v4", vec![(None, 1), (None, 1)])] {
        let graph = read(&text(row));
        for around in [Runs::Often, Runs::Once] {
            let placed = place(&graph, None, &Nominal::default()).expect("it is placed");
            let placed = fused(&placed, around).unwrap_or(placed);
            assert_eq!(nests(&placed), expected, "{}", placed::print(&placed));
        }
        for n in SIZES {
            agrees(&graph, &[int(3), int(n), reals(&[3, n])]);
        }
    }
}

/// The checker knows which neighbors come later.
#[test]
fn the_checker_refuses_what_comes_later() {
    let graph = read(&stages(&[&[-1], &[-2]]));
    let mut placed = fused_nests(&graph);
    assert_eq!(placed::check(&placed), Ok(()));
    placed.passes[0].nests[0].direction = DOWN;
    let problem = placed::check(&placed).unwrap_err();
    assert!(problem.starts_with("a neighbor that comes later"), "{problem}");
    placed.passes[0].nests[0].direction = None;
    let problem = placed::check(&placed).unwrap_err();
    assert!(problem.contains("is read before it is written"), "{problem}");
}
