//! Strongly connected components.

use lambada_elaborate::components::{components, cycle};

#[test]
fn dependencies_come_first() {
    let edges = [vec![1], vec![2, 3], vec![1], vec![], vec![4], vec![0]];
    assert_eq!(
        components(&edges),
        [vec![3], vec![1, 2], vec![0], vec![4], vec![5]].map(|c| c.to_vec())
    );
    assert_eq!(cycle(&edges, 1), Some(vec![1, 2]));
    assert_eq!(cycle(&edges, 4), Some(vec![4]));
    assert_eq!(cycle(&edges, 0), None);
}

#[test]
fn a_long_chain_is_no_recursion() {
    let edges: Vec<Vec<usize>> =
        (0..200_000).map(|k| if k > 0 { vec![k - 1] } else { vec![] }).collect();
    assert_eq!(components(&edges).len(), 200_000);
}
