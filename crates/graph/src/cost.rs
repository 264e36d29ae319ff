//! What definitions cost: how many indices there are. Extents that are not known have nominal
//! values; decisions rest on them, values do not.

use lambada_prim::{Precision, Prim, Scalar, ScalarTy};
use rustc_hash::FxHashMap;

use crate::{Array, Axes, AxisId, Graph, Node, NodeId};

/// The nominal value of a size of which nothing is known.
pub const USUAL: i64 = 32;

/// The smallest block.
pub const SMALLEST: i64 = 64;

/// The smallest block of which totals are folded from lanes: what it keeps may be more than what
/// fits a cache.
pub const SMALLEST_WITH_TOTALS: i64 = 128;

/// How long a block of which totals are folded is at least where a cache is no reason to make it
/// shorter.
pub const USUAL_WITH_TOTALS: i64 = 256;

/// What decides on lanes and tiles: a row for each width of vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// How many reals a vector has.
    pub lanes: u16,
    /// How many vectors there are at a time.
    pub registers: u16,
    /// What it takes to read a number for all lanes, where reading a vector takes 1.
    pub broadcast: f64,
    /// What it takes to read a vector, where an operation takes 1.
    pub read: f64,
    /// How many operations fit the time until a sum is there.
    pub wait: f64,
}

/// Vectors of 64, 128, 256 and 512 bits.
const TARGETS: [Target; 4] = [
    Target { lanes: 1, registers: 16, broadcast: 1.0, read: 1.0, wait: 8.0 },
    Target { lanes: 2, registers: 16, broadcast: 1.0, read: 1.0, wait: 8.0 },
    Target { lanes: 4, registers: 16, broadcast: 1.0, read: 1.0, wait: 8.0 },
    Target { lanes: 8, registers: 32, broadcast: 0.9, read: 1.0, wait: 8.0 },
];

impl Target {
    /// The row for a number of lanes: that of the registers which hold as many reals of so many
    /// bits.
    pub fn of(lanes: u16, precision: Precision) -> Target {
        let wide = (lanes / precision.per_word()).max(1);
        let fits = |target: &&Target| target.lanes <= wide;
        let known = TARGETS.iter().rfind(fits).unwrap_or(&TARGETS[0]);
        Target { lanes, ..*known }
    }
}

/// Nominal values of inputs that are `int`s.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nominal {
    inputs: FxHashMap<u32, i64>,
}

impl Nominal {
    /// The given values, by the numbers of the inputs.
    pub fn of(inputs: impl IntoIterator<Item = (u32, i64)>) -> Nominal {
        Nominal { inputs: inputs.into_iter().collect() }
    }

    /// How many indices an axis has; of one that depends on others, about.
    pub fn extent(&self, graph: &Graph, axis: AxisId) -> f64 {
        self.int(graph, graph.axis(axis).extent).max(1) as f64
    }

    /// How many combinations of indices there are.
    pub fn volume(&self, graph: &Graph, axes: &Axes) -> f64 {
        axes.iter().map(|axis| self.extent(graph, axis)).product()
    }

    /// How many elements an array of these sizes has.
    pub fn elements(&self, graph: &Graph, dims: &[NodeId]) -> f64 {
        dims.iter().map(|dim| self.int(graph, *dim).max(1) as f64).product()
    }

    fn int(&self, graph: &Graph, node: NodeId) -> i64 {
        self.int_once(graph, node, &mut FxHashMap::default())
    }

    /// Uses a memo, because sizes are sums of sizes: one that occurs twice is looked at once.
    fn int_once(&self, graph: &Graph, node: NodeId, known: &mut FxHashMap<NodeId, i64>) -> i64 {
        match graph.node(node) {
            Node::Lit(Scalar::Int(value)) => *value,
            Node::Index(axis) => self.int_once(graph, graph.axis(*axis).extent, known) / 2,
            Node::Prim(op, args) if is_on_ints(*op) => {
                if let Some(found) = known.get(&node) {
                    return *found;
                }
                let arg = |a: &NodeId| Scalar::Int(self.int_once(graph, *a, known));
                let args: Vec<Scalar> = args.iter().map(arg).collect();
                let found = op.eval(&args).int();
                known.insert(node, found);
                found
            }
            Node::At(array, _) => {
                let known = |k: &u32| self.inputs.get(k).copied();
                let input = if let Array::Input(k) = graph.array(*array) { known(k) } else { None };
                input.unwrap_or(USUAL)
            }
            Node::Lit(_) | Node::Prim(..) | Node::Choose(..) | Node::Reduce(..) => USUAL,
        }
    }
}

fn is_on_ints(op: Prim) -> bool {
    op.result() == ScalarTy::Int && op.args().iter().all(|ty| *ty == ScalarTy::Int)
}
