//! Results that are matrices row by row: `for e < n * m => a[e / m, e % m]` has the memory of `a`.

use lambada_prim::Prim;

use lambada_graph::{ArrayId, Graph, Node, NodeId};

/// The matrix with the same elements in the same order, if evident.
pub(crate) fn rows_of(graph: &Graph, array: ArrayId) -> Option<ArrayId> {
    let (&[axis], body) = graph.elements(array)? else { return None };
    let Node::At(matrix, index) = graph.node(body) else { return None };
    let (&[row, column], _) = graph.elements(*matrix)? else { return None };
    let extent = |axis| graph.axis(axis).extent;
    let size = extent(column);
    let by = |node: NodeId, op: Prim| {
        let operation = graph.operation(node);
        operation.is_some_and(|(own, args)| {
            own == op && graph.index(args[0]) == Some(axis) && args[1] == size
        })
    };
    let &[first, second] = &index[..] else { return None };
    let split = by(first, Prim::DivInt) && by(second, Prim::RemInt);
    (split && is_product(graph, extent(axis), [extent(row), size])).then_some(*matrix)
}

/// Whether a size is the product of two others, the sizes of an existing matrix.
fn is_product(graph: &Graph, size: NodeId, [a, b]: [NodeId; 2]) -> bool {
    if let Some((Prim::MulInt, args)) = graph.operation(size) {
        return args == [a, b] || args == [b, a];
    }
    let all = (graph.lit(size), graph.lit(a), graph.lit(b));
    matches!(all, (Some(size), Some(a), Some(b)) if a.int().checked_mul(b.int()) == Some(size.int()))
}
