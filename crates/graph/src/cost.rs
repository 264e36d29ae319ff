//! The cost model: prices, limits and the sizes of caches, which placement, tiling and blocks read;
//! a row for each width of vectors; and nominal values of extents that are not known. Decisions
//! rest on them, values do not.

use lambada_prim::{Precision, Prim, Scalar, ScalarTy};
use rustc_hash::FxHashMap;

use crate::{Array, Axes, AxisId, Graph, Node, NodeId};

// Sizes

/// The nominal value of a size of which nothing is known.
pub const USUAL: i64 = 32;
/// The nominal number of data.
pub const MANY: i64 = 1024;
/// The nominal number of indices within the data: coordinates, components and features are often
/// few, and nests have to be right for these, too.
pub const FEW: i64 = 12;
/// The number of indices along the lanes of a tile, at least, if it is not known: small ones take
/// little time.
pub const TILED: i64 = 32;
/// An axis that is known to have fewer indices is never that of lanes.
pub const SHORT: i64 = 8;

// Operations, where an addition of vectors takes 1

/// A division or a root.
pub const COSTLY: f64 = 12.0;
/// A function: a polynomial, and the reduction of its argument.
pub const FUNCTION: f64 = 24.0;
/// The sum of the lanes of a total.
pub const FOLD: f64 = 8.0;
/// The wait of an extremum, which looks for NaN, for the one before it, where a sum takes 1.
pub const EXTREMUM: f64 = 2.0;
/// The beginning of a nest, once for each block.
pub const BEGIN: f64 = 8.0;
/// Reading vectors of another row of an array: it may lie on another page, or in a farther cache.
pub const ROW: f64 = 1.5;
/// The part of overlapped work that still takes time.
pub const HIDDEN: f64 = 0.1;
/// Longer code of twice as many iterations, as a factor, at least.
pub const LONGER: f64 = 1.01;
/// Lanes left over in each row of a block rather than in the last block, as a factor.
pub const RESTS: f64 = 1.03;
/// Nests that run in one direction, which threads do not share, as a factor.
pub const ALONE: f64 = 1.1;

// Memory, in elements

/// The elements in the nearest cache of a core.
pub const NEAREST: i64 = 1 << 12;
/// The elements in the caches of a core.
pub const CACHED: i64 = 1 << 18;
/// The elements of all local buffers together. They share the caches with what nests read.
pub const LOCAL: i64 = CACHED / 4;
/// An access to memory rather than to a cache.
pub const FAR: f64 = 3.0;
/// An access, again and again, of rows of an input, as a factor.
pub const APART: f64 = 1.25;
/// An element of a block that is handed on from nest to nest.
pub const HELD: f64 = 0.01;

// Decisions

/// A program of less work is not worth blocks and buffers.
pub const LITTLE: f64 = 2000.0;
/// The cost of a placement that is chosen, as a part of the cost of the program as it is.
pub const CHEAPER: f64 = 0.7;
/// The operations that a check has to save, for each that it takes.
pub const SAVED: f64 = 2.0;
/// The memory of buffers that are not for one block only, in those of inputs and outputs.
pub const ROOM: f64 = 8.0;
/// The cheap operations that are done again rather than stored, by rematerialization.
pub const AGAIN: usize = 3;
/// The reads of each element of an input that make a copy of it worth its while.
pub const OFTEN: f64 = 48.0;
/// The ratio of domains, user to definition, from which the definition gets a nest of its own.
pub const SMALLER: f64 = 4.0;

// Blocks and threads

/// The smallest block.
pub const SMALLEST: i64 = 64;
/// The smallest block of a program with totals, which are folded once per block: its buffers may
/// exceed a cache.
pub const SMALLEST_WITH_TOTALS: i64 = 128;
/// The smallest block of a program with totals where no cache asks for a shorter one.
pub const USUAL_WITH_TOTALS: i64 = 256;
/// The number of blocks, unless they would be small.
pub const BLOCKS: i64 = 8;
/// The most iterations that threads share.
pub const MOST_THREADED: i64 = 64;
/// The iterations that are worth it for threads, whatever their totals take.
pub const FEW_THREADED: i64 = 4;
/// The work of more iterations than these, in scalars, for each element of a total, which each
/// iteration makes and combines with others.
pub const WORTH_A_TOTAL: i64 = 512;

/// The parameters of lanes and tiles: a row for each width of vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The number of reals in a vector.
    pub lanes: u16,
    /// The number of vector registers.
    pub registers: u16,
    /// The cost of reading a number for all lanes, where reading a vector costs 1.
    pub broadcast: f64,
    /// The cost of reading a vector, where an operation costs 1.
    pub read: f64,
    /// The number of operations in the time of a sum.
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
    /// The row for a number of lanes: that of registers which hold as many reals of this precision.
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
    /// These values, by the numbers of the inputs.
    pub fn of(inputs: impl IntoIterator<Item = (u32, i64)>) -> Nominal {
        Nominal { inputs: inputs.into_iter().collect() }
    }

    /// The number of indices of an axis; approximate if it depends on other axes.
    pub fn extent(&self, graph: &Graph, axis: AxisId) -> f64 {
        self.int(graph, graph.axis(axis).extent).max(1) as f64
    }

    /// The number of combinations of indices.
    pub fn volume(&self, graph: &Graph, axes: &Axes) -> f64 {
        axes.iter().map(|axis| self.extent(graph, axis)).product()
    }

    /// The number of elements of an array of these sizes.
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
