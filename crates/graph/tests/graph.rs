//! The printer, the reader, the checker and the evaluator of graphs agree.

use lambada_prim::{Data, Scalar, Tensor};

use lambada_graph::*;

fn reals(values: &[f64]) -> Tensor {
    Tensor { dims: vec![values.len()], data: Data::Real(values.to_vec()) }
}

fn graph(text: &str) -> Graph {
    let graph = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(print(&graph), text.trim_start());
    graph
}

const SHARES: &str = "
graph (n : int, x : [n]real) {
  axis i < n
  for i {
    v0 = lt_int i, n
    check v0 \"index {0} is out of range\" (i)
  }
  v1 = x[i]
  axis t < n sequential
  a0 = map [] 0.0
  l0 = loop t (a0)
  v2 = l0.0[]
  v3 = x[t]
  v4 = add v2, v3
  a1 = map [] v4
  next l0 = a1
  v5 = l0!0[]
  v6 = div v1, v5
  a2 = map [i] v6
  => shares = a2, total = l0!0
}
";

#[test]
fn loops_and_reductions_have_a_value() {
    let graph = cleaned(&graph(SHARES));
    check(&graph).unwrap();
    let args = [Tensor::scalar(Scalar::Int(3)), reals(&[1.0, 2.0, 5.0])];
    let outcome = eval(&graph, &args).unwrap();
    assert_eq!(outcome.results[0], reals(&[0.125, 0.25, 0.625]));
    assert_eq!(outcome.results[1], Tensor::scalar(Scalar::Real(8.0)));
    // Three additions, three divisions.
    assert_eq!(outcome.reals, 6);
}

#[test]
fn the_first_check_that_fails_is_told() {
    let text = "
graph (n : int) {
  axis i < n
  for i {
    v0 = lt_int i, 2
    check v0 \"index {0} is out of range\" (i)
  }
  a0 = map [] 1.0
  => one = a0
}
";
    let graph = graph(text);
    let run = |n| eval(&graph, &[Tensor::scalar(Scalar::Int(n))]);
    assert!(run(2).is_ok());
    assert_eq!(run(5).unwrap_err().message, "index 2 is out of range");
}

/// Only the chosen side is computed.
#[test]
fn a_choice_computes_one_side() {
    let text = "
graph (n : int, x : [n]real) {
  axis i < 4
  v0 = lt_int i, n
  lazy v1 = x[i]
  v2 = choose v0, v1, -1.0
  a0 = map [i] v2
  => padded = a0
}
";
    let graph = graph(text);
    check(&graph).unwrap();
    let args = [Tensor::scalar(Scalar::Int(2)), reals(&[3.0, 4.0])];
    assert_eq!(eval(&graph, &args).unwrap().results, [reals(&[3.0, 4.0, -1.0, -1.0])]);
}

#[test]
fn what_is_written_with_an_index_is_read_with_it() {
    let mut b = Builder::default();
    let four = b.lit(Scalar::Int(4));
    let axis = |b: &mut Builder| b.axis(Axis { hint: "i".into(), extent: four, sequential: false });
    let (i, j) = (axis(&mut b), axis(&mut b));
    let (at_i, at_j) = (b.index(i), b.index(j));
    let square = b.prim(lambada_prim::Prim::MulInt, [at_i, at_i]);
    let squares = b.map(vec![i], square);
    assert_eq!(b.at(squares, vec![at_i]), square);
    let elsewhere = b.at(squares, vec![at_j]);
    assert_ne!(elsewhere, square);
    assert_eq!(*b.graph.free(elsewhere), Axes::one(j));
    // The same elements are the same array.
    assert_eq!(b.map(vec![j], elsewhere), squares);
}

#[test]
fn ill_formed_graphs_are_refused() {
    let cases = [
        ("  axis i < n\n  v0 = x[i]\n  a0 = map [] v0\n", "the output y depends on i"),
        (
            "  a0 = map [] 1.0\n  v1 = add 1.0, 2\n  a0 = map [] v1\n",
            "v3: v2 is of type int, not real",
        ),
        (
            "  axis i < n\n  v0 = reduce and [i] 1.0\n  a0 = map [] v0\n",
            "no reduction `and` of reals",
        ),
        (
            "  axis i < n\n  axis j < i\n  a0 = map [i, j] 1.0\n",
            "an extent depends on an axis that is bound with it",
        ),
        (
            "  axis i < n\n  a1 = map [] 1.0\n  l0 = loop i (a1)\n  next l0 = a1\n  a0 = map [] 1.0\n",
            "is not sequential",
        ),
        (
            "  axis i < n\n  v0 = lt_int i, 3\n  check v0 \"no\" ()\n  a0 = map [] 1.0\n",
            "an effect depends on i",
        ),
    ];
    for (lines, expected) in cases {
        let text = format!("graph (n : int, x : [n]real) {{\n{lines}  => y = a0\n}}\n");
        let graph = read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let complaint = check(&graph).expect_err(&text);
        assert!(complaint.contains(expected), "{complaint}\n{text}");
    }
}

#[test]
fn texts_that_are_no_graphs_are_refused() {
    let cases = [
        ("graph (n : int) {\n  v0 = add n\n", "line 2"),
        ("graph (n : int) {\n  v0 = nothing n, n\n  => \n}\n", "line 2: `nothing` is no primitive"),
        ("graph (n : int) {\n  a0 = map [i] 1.0\n  => \n}\n", "line 2: `i` is no axis"),
        ("graph (x : [3]real) {\n  v0 = x[1, 2]\n  => \n}\n", "line 2: 2 indices"),
        ("graph (x : [3]reals) {\n  => \n}\n", "line 1: `reals` is no type"),
    ];
    for (text, expected) in cases {
        let complaint = read(text).expect_err(text);
        assert!(complaint.starts_with(expected), "{complaint}\n{text}");
    }
}

/// Five elements, read from the second on, backwards, each second one, from the third on, and at
/// indices of unknown extent. Only the first two are in range.
const ROWS: &str = "
graph (n : int, x : [5]real) {
  axis i < 4
  v0 = add_int i, 1
  v1 = x[v0]
  a0 = map [i] v1
  v2 = sub_int 3, i
  v3 = x[v2]
  a1 = map [i] v3
  v4 = mul_int i, 2
  v5 = x[v4]
  a2 = map [i] v5
  v6 = add_int i, 2
  v7 = x[v6]
  a3 = map [i] v7
  axis j < n
  v8 = x[j]
  a4 = map [j] v8
  => a = a0, b = a1, c = a2, d = a3, e = a4
}
";

#[test]
fn sums_of_indices_are_in_range_if_their_extents_say_so() {
    let graph = graph(ROWS);
    let mut found = Vec::new();
    for id in 0..graph.nodes.len() as u32 {
        if let Node::At(array, index) = graph.node(NodeId(id))
            && !index.is_empty()
        {
            found.push(is_safe(&graph, *array, index));
        }
    }
    assert_eq!(found, [true, true, false, false, false]);
}
