//! P4: which axis is cut into blocks, which one is run through outside of the nests of a block,
//! which loops are around nests rather than inside of them; and in which pass over them each
//! definition is computed.
//!
//! The block axis is the longest of those along which half of the work is done: the iterations of a
//! block share what fits a cache. The batch axis belongs to both factors and to the result of each
//! large contraction, so its iterations share nothing. A loop stays inside of nests, with its state
//! in registers, unless a next state needs a reduction over other axes.

use std::collections::BTreeMap;
use std::fmt::Write;

use lambada_prim::{Cost, Prim, ReduceOp, ScalarTy};

use crate::phases::Phases;
use lambada_graph::{Axes, AxisId, Graph, NodeId, Nominal, Part, Printed, printed, reached};

/// How many additions a division or an exponential takes.
const COSTLY: f64 = 10.0;

/// The axes that are not run through in nests.
#[derive(Clone, Debug, PartialEq)]
pub struct Scopes {
    /// It is cut into blocks.
    pub block: Option<AxisId>,
    /// It is run through once per block.
    pub batch: Option<AxisId>,
    /// Loops around nests.
    pub sequential: Vec<AxisId>,
}

impl Scopes {
    /// The scopes of a program.
    pub fn of(graph: &Graph, nominal: &Nominal) -> Scopes {
        let block = block(graph, nominal);
        Scopes { block, batch: batch(graph, nominal, block), sequential: sequential(graph) }
    }
}

fn nodes(graph: &Graph) -> impl Iterator<Item = NodeId> {
    (0..graph.nodes.len() as u32).map(NodeId)
}

/// The axes that a definition runs through.
fn domain(graph: &Graph, node: NodeId) -> Axes {
    match graph.reduction(node) {
        Some((_, axes, body)) => axes.union(graph.free(body)),
        None => graph.free(node).clone(),
    }
}

fn block(graph: &Graph, nominal: &Nominal) -> Option<AxisId> {
    let mut total = 0.0;
    let mut along = vec![0.0; graph.axes.len()];
    for node in nodes(graph) {
        let domain = domain(graph, node);
        let volume = nominal.volume(graph, &domain) * weight(graph, node);
        total += volume;
        domain.iter().for_each(|axis| along[axis.0 as usize] += volume);
    }
    let axes = (0..graph.axes.len() as u32).map(AxisId);
    let hot = axes.filter(|axis| 2.0 * along[axis.0 as usize] >= total);
    let extent = |axis: &AxisId| nominal.extent(graph, *axis);
    // Of equals, the first.
    hot.rev().max_by(|a, b| extent(a).total_cmp(&extent(b)))
}

/// How many additions of reals an operation takes.
fn weight(graph: &Graph, node: NodeId) -> f64 {
    let operation = graph.operation(node);
    let is_real = |ty: ScalarTy| ty == ScalarTy::Real;
    let on_reals = operation.is_some_and(|(op, _)| op.args().iter().any(|ty| is_real(*ty)))
        || graph.reduction(node).is_some() && is_real(graph.facts(node).elem);
    let costly = operation.is_some_and(|(op, _)| op.cost() == Cost::Costly);
    f64::from(u8::from(on_reals)) * if costly { COSTLY } else { 1.0 }
}

/// A sum of products whose factors each have an index that the other one lacks.
fn contraction(graph: &Graph, node: NodeId) -> Option<(NodeId, NodeId)> {
    let (ReduceOp::Add, _, mut body) = graph.reduction(node)? else { return None };
    while let Some((_, inner, _)) = graph.choice(body) {
        body = inner;
    }
    let (Prim::Mul, [a, b]) = graph.operation(body)? else { return None };
    let lacks = |a: &NodeId, b: &NodeId| !graph.free(*b).is_subset(graph.free(*a));
    (lacks(a, b) && lacks(b, a)).then_some((*a, *b))
}

/// The axis of both factors and of the result of each large contraction.
pub(crate) fn batch(graph: &Graph, nominal: &Nominal, block: Option<AxisId>) -> Option<AxisId> {
    let volume = |node: NodeId| nominal.volume(graph, &domain(graph, node));
    let all: Vec<(NodeId, (NodeId, NodeId))> =
        nodes(graph).filter_map(|n| Some((n, contraction(graph, n)?))).collect();
    let largest = all.iter().map(|(n, _)| volume(*n)).fold(0.0, f64::max);
    let hot = all.into_iter().filter(|(n, _)| 2.0 * volume(*n) >= largest);
    let common = hot
        .map(|(n, (a, b))| graph.free(a).intersection(graph.free(b)).intersection(graph.free(n)));
    let common = common.reduce(|a, b| a.intersection(&b))?;
    common.iter().find(|axis| Some(*axis) != block)
}

/// The axes of loops of which a next state needs a sum that depends on the state.
fn sequential(graph: &Graph) -> Vec<AxisId> {
    let over = |part: &Part, axis| {
        let Part::Array(array) = part else { return false };
        graph.state_of(*array).is_some_and(|l| l.axis == axis)
    };
    let sums = |part: &Part, axis| {
        let Part::Node(node) = part else { return false };
        let reduction = graph.reduction(*node);
        reduction.is_some_and(|(_, axes, _)| !axes.contains(axis))
            && reached(graph, vec![*part]).iter().any(|part| over(part, axis))
    };
    let mut axes = Vec::new();
    for l in graph.loops.iter().filter(|l| !l.carries.is_empty()) {
        let nexts = l.carries.iter().map(|c| Part::Array(c.next)).collect();
        if !axes.contains(&l.axis) && reached(graph, nexts).iter().any(|part| sums(part, l.axis)) {
            axes.push(l.axis);
        }
    }
    axes
}

/// The program, its scopes, and what each pass over them computes: reductions, functions that take
/// long, and arrays.
pub fn described(graph: &Graph, nominal: &Nominal) -> String {
    let printed = printed(graph);
    let scopes = Scopes::of(graph, nominal);
    let name = |axis: AxisId| printed.axes.get(&axis).map_or("?", |name| name);
    let mut text = printed.text.clone();
    let Some(block) = scopes.block else {
        text.push_str("no axis is cut into blocks\n");
        return text;
    };
    let _ = writeln!(text, "{} is cut into blocks", name(block));
    if let Some(batch) = scopes.batch {
        let _ = writeln!(text, "{} is run through once per block", name(batch));
    }
    for axis in &scopes.sequential {
        let _ = writeln!(text, "the loop over {} is around nests", name(*axis));
    }
    for (key, definitions) in keys(graph, &scopes, &printed) {
        let _ = writeln!(text, "{}: {}", in_words(key), definitions.join(", "));
    }
    text
}

fn in_words((block, batch): (u32, u32)) -> String {
    let place = |phase: u32| match phase {
        0 => "before".to_string(),
        odd if odd % 2 == 1 => format!("pass {}", odd / 2 + 1),
        even => format!("after pass {}", even / 2),
    };
    if batch == 0 {
        place(block)
    } else {
        format!("{}, {} of the batch", place(block), place(batch))
    }
}

/// What is computed when, as it is called in the text.
fn keys(graph: &Graph, scopes: &Scopes, printed: &Printed) -> BTreeMap<(u32, u32), Vec<String>> {
    let mut over_block = scopes.block.map(|axis| Phases::over(graph, axis));
    let mut over_batch = scopes.batch.map(|axis| Phases::over(graph, axis));
    let mut keys: BTreeMap<(u32, u32), Vec<String>> = BTreeMap::new();
    let mut nodes: Vec<(usize, NodeId)> =
        printed.nodes.iter().map(|(node, k)| (*k, *node)).collect();
    nodes.sort_unstable();
    for (k, node) in nodes {
        let Some(what) = what(graph, printed, node) else { continue };
        let block = over_block.as_mut().map_or(0, |phases| phases.of(node));
        let batch = over_batch.as_mut().map_or(0, |phases| phases.of(node));
        keys.entry((block, batch)).or_default().push(format!("v{k} {what}"));
    }
    for output in &graph.outputs {
        let block = over_block.as_mut().map_or(0, |phases| phases.of_array(output.array));
        let batch = over_batch.as_mut().map_or(0, |phases| phases.of_array(output.array));
        let name = output.hint.trim_start_matches('?');
        keys.entry((block, batch)).or_default().push(format!("the result {name}"));
    }
    keys
}

/// What is worth to be told of a definition.
fn what(graph: &Graph, printed: &Printed, node: NodeId) -> Option<String> {
    if let Some((op, axes, _)) = graph.reduction(node) {
        let name = |axis: AxisId| printed.axes.get(&axis).map_or("?", |name| name);
        let axes: Vec<&str> = axes.iter().map(name).collect();
        return Some(format!("({} over {})", op.name(), axes.join(", ")));
    }
    let (op, _) = graph.operation(node)?;
    (op.cost() == Cost::Costly).then(|| format!("({})", op.name()))
}
