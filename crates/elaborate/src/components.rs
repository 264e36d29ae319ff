//! Strongly connected components, in topological order.

/// The components of a graph with nodes numbered from 0: each after the components that its edges
/// lead to. Inside a component, and where the edges leave a choice, nodes are in numerical order.
///
/// Tarjan's algorithm without recursion: a program may be a chain of many thousand definitions.
pub fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search {
        edges,
        index: vec![None; edges.len()],
        low: vec![0; edges.len()],
        open: vec![false; edges.len()],
        stack: Vec::new(),
        visited: 0,
        found: Vec::new(),
    };
    (0..edges.len()).for_each(|node| search.from(node));
    search.found
}

struct Search<'e> {
    edges: &'e [Vec<usize>],
    /// Visit number of each node.
    index: Vec<Option<usize>>,
    /// Smallest visit number of an open node reachable from this one.
    low: Vec<usize>,
    /// Whether the node is on the stack.
    open: Vec<bool>,
    stack: Vec<usize>,
    visited: usize,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn from(&mut self, root: usize) {
        if self.index[root].is_some() {
            return;
        }
        self.visit(root);
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            if let Some(target) = self.edges[node].get(*next).copied() {
                *next += 1;
                if self.index[target].is_none() {
                    self.visit(target);
                    path.push((target, 0));
                } else if self.open[target] {
                    self.low[node] = self.low[node].min(self.index[target].unwrap_or(0));
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                self.low[*parent] = self.low[*parent].min(self.low[node]);
            }
            if Some(self.low[node]) == self.index[node] {
                self.close(node);
            }
        }
    }

    fn visit(&mut self, node: usize) {
        self.index[node] = Some(self.visited);
        self.low[node] = self.visited;
        self.visited += 1;
        self.open[node] = true;
        self.stack.push(node);
    }

    fn close(&mut self, root: usize) {
        let start = self.stack.iter().rposition(|node| *node == root).unwrap_or(0);
        let mut component = self.stack.split_off(start);
        component.iter().for_each(|node| self.open[*node] = false);
        component.sort_unstable();
        self.found.push(component);
    }
}

/// The shortest cycle through a node: all its nodes, the first not repeated.
pub fn cycle(edges: &[Vec<usize>], from: usize) -> Option<Vec<usize>> {
    let mut before = vec![None; edges.len()];
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for target in edges[node].iter().copied() {
            if target == from {
                let way = std::iter::successors(Some(node), |node| before[*node]);
                let mut way: Vec<usize> = way.collect();
                way.reverse();
                return Some(way);
            }
            if before[target].is_none() {
                before[target] = Some(node);
                queue.push_back(target);
            }
        }
    }
    None
}
