//! Which runs of statements of a function become nests.
//!
//! *Assumes* a function that `lambada_anf::check` accepts, which is lowered as it is. *Gives* loops for the runs that are worth it; the others, and what is
//! around, stay as they are. *Keeps* values up to the order of sums and to the digits in which the vector mathematics differs, and failures.

use std::collections::{HashMap, HashSet};

use lambada_anf::bounds::Known;
use lambada_anf::{Atom, Block, Exp, Function, LoopKind, Nest, Op, Param, Stm, Ty, Var};
use lambada_loops::Function as Loops;

use crate::chosen::{chosen, is_chosen};
use crate::cost::Nominal;
use crate::distribute::{Distributed, distribute};
use crate::factor::{Leave, factored};
use crate::graph::{Array, AxisId, Graph, Node, NodeId};
use crate::place::placeable;
use crate::regions::{Allowed, Region, fitting_with, mentions, needed, types};
use crate::worth::best;
use crate::{Outputs, algebra, emit, prepared};

/// The nominal number of data.
const MANY: i64 = 1024;

/// Loops for a run of statements.
#[derive(Debug)]
pub struct Kernel {
    /// How many statements.
    pub statements: usize,
    /// Those of them that give the sizes of outputs: they are needed before.
    pub before: Vec<usize>,
    /// The variables that the parameters stand for, before the memory of those outputs that are arrays.
    pub inputs: Vec<Var>,
    /// What is needed elsewhere: of the scalars, the results of the loops, in order.
    pub outputs: Vec<Param>,
    /// Accumulators to which is added: their memory is given behind that of the outputs.
    pub added: Vec<Var>,
    /// The loops.
    pub code: Loops,
}

/// The kernels of a function, by the first variable that each run binds. Of its library nothing is said.
pub fn kernels(function: &Function, lanes: u16) -> HashMap<Var, Kernel> {
    let mut finder = Finder {
        function,
        types: types(function),
        mentions: mentions(function),
        lanes,
        found: HashMap::new(),
        known: Known::default(),
    };
    finder.known.sizes(function);
    finder.block(&function.body);
    finder.found
}

struct Finder<'a> {
    function: &'a Function,
    types: HashMap<Var, Ty>,
    mentions: HashMap<Var, usize>,
    lanes: u16,
    found: HashMap<Var, Kernel>,
    /// What is known where the next statement begins.
    known: Known,
}

impl Finder<'_> {
    /// Runs with sequential loops first; where one is no kernel, those between the loops.
    fn block(&mut self, block: &Block) {
        for (run, fits) in runs(&block.stms, true) {
            if fits && has_loops(run) && self.run(run) {
                run.iter().for_each(|stm| self.known.pass(stm));
            } else {
                self.between_loops(run);
            }
        }
    }

    fn between_loops(&mut self, stms: &[Stm]) {
        for (run, fits) in runs(stms, false) {
            let is_kernel = fits && self.run(run);
            for stm in run {
                if !is_kernel {
                    self.statement(stm, fits && run.len() > 1);
                }
                self.known.pass(stm);
            }
        }
    }

    /// A statement of a run that is no kernel: perhaps it is one alone, or what is in it.
    fn statement(&mut self, stm: &Stm, alone: bool) {
        let one = std::slice::from_ref(stm);
        if alone && runs(one, false)[0].1 && self.run(one) {
            return;
        }
        let mark = self.known.mark();
        self.known.enter(&stm.exp);
        match &stm.exp {
            Exp::Op(_) => {}
            Exp::Nest(Nest::For { body, .. }) => self.block(body),
            Exp::Nest(Nest::Loop { kind, body, .. }) => {
                if let LoopKind::While(cond) = kind {
                    self.block(cond);
                    self.known.assume(cond.results[0], true);
                }
                self.block(body);
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => {
                for (branch, holds) in [(then, true), (otherwise, false)] {
                    let mark = self.known.mark();
                    self.known.assume(*cond, holds);
                    self.block(branch);
                    self.known.reset(mark);
                }
            }
        }
        self.known.reset(mark);
    }

    /// Does a run become a kernel?
    fn run(&mut self, stms: &[Stm]) -> bool {
        // What only checks needs no lanes; and a kernel is known by a variable.
        let start = stms.iter().position(|stm| !stm.binds.is_empty()).unwrap_or(stms.len());
        let stms = &stms[start..];
        if !stms
            .iter()
            .any(|stm| matches!(stm.exp, Exp::Nest(Nest::For { .. }) | Exp::Op(Op::ArrayPrim(..))))
        {
            return false;
        }
        let Some(kernel) = self.kernel(stms) else { return false };
        self.found.insert(stms[0].binds[0].var, kernel);
        true
    }

    fn kernel(&mut self, stms: &[Stm]) -> Option<Kernel> {
        let mut outputs = needed(stms, &self.mentions);
        let before = sizes_before(stms, &outputs)?;
        let known: HashSet<Var> =
            before.iter().flat_map(|k| &stms[*k].binds).map(|p| p.var).collect();
        outputs.retain(|p| !known.contains(&p.var));
        let region = Region { stms, outputs, types: &self.types };
        let Distributed { graph, inputs, added, .. } = distribute(&self.function.names, &region);
        if added.iter().any(|acc| self.types[acc].dims.is_empty()) {
            return None;
        }
        let chosen = chosen(stms, &inputs, &self.types, &mut self.known);
        let sizes = usual(&graph);
        let mut graph = if has_loops(stms) {
            prepared(&graph, &sizes, Leave::Finite)
        } else {
            let graph = algebra::simplified(&graph);
            algebra::simplified(&factored(&graph, &sizes, Leave::Finite))
        };
        (graph.chosen, graph.in_place) = (chosen, added.len());
        let last = &graph.outputs[graph.outputs.len() - added.len()..];
        if last.iter().any(|output| graph.added_in_place(output.array).is_none()) {
            return None;
        }
        if !placeable(&graph) || steps_outside(&graph) {
            return None;
        }
        let placed = best(&graph, &sizes, self.lanes)?;
        debug_assert_eq!(crate::placed::check(&placed), Ok(()));
        let code = emit(&placed, self.lanes, Outputs::Given);
        let outputs = region.outputs;
        Some(Kernel { statements: stms.len(), before, inputs, outputs, added, code })
    }
}

/// Runs of statements that belong to a region, perhaps with sequential loops, and those between them.
fn runs(stms: &[Stm], loops: bool) -> Vec<(&[Stm], bool)> {
    let fitting = fitting_with(stms, Allowed { loops, additions: true });
    let (mut at, mut runs) = (0, Vec::new());
    while at < stms.len() {
        let len = fitting[at..].iter().take_while(|fits| **fits == fitting[at]).count();
        runs.push((&stms[at..at + len], fitting[at]));
        at += len;
    }
    runs
}

fn has_loops(stms: &[Stm]) -> bool {
    stms.iter().any(|stm| match &stm.exp {
        Exp::Nest(Nest::Loop { .. }) => true,
        exp => exp.blocks().into_iter().any(|block| has_loops(&block.stms)),
    })
}

/// Nominal sizes. Axes that no output has are those of data, and have many indices.
pub(crate) fn usual(graph: &Graph) -> Nominal {
    let given = |axis: &AxisId| kept(graph, graph.axis(*axis).extent);
    let all = || (0..graph.axes.len() as u32).map(AxisId);
    let outputs: HashSet<u32> = graph
        .outputs
        .iter()
        .filter_map(|output| match graph.array(output.array) {
            Array::Map(axes, _) => Some(axes.iter().filter_map(given)),
            Array::Input(_)
            | Array::Constant(_)
            | Array::Items(_)
            | Array::Scatter(..)
            | Array::Update(..)
            | Array::Carried(..)
            | Array::Final(..) => None,
        })
        .flatten()
        .collect();
    let many = all().filter_map(|axis| given(&axis)).filter(|k| !outputs.contains(k));
    Nominal::of(many.map(|k| (k, MANY)))
}

/// The input that an extent is.
fn kept(graph: &Graph, extent: NodeId) -> Option<u32> {
    match graph.node(extent) {
        Node::At(array, _) => match graph.array(*array) {
            Array::Input(k) => Some(*k),
            Array::Constant(_)
            | Array::Items(_)
            | Array::Map(..)
            | Array::Scatter(..)
            | Array::Update(..)
            | Array::Carried(..)
            | Array::Final(..) => None,
        },
        Node::Lit(_) | Node::Index(_) | Node::Prim(..) | Node::Choose(..) | Node::Reduce(..) => {
            None
        }
    }
}

/// The statements of a run that give sizes of what it gives, if they are arithmetic.
fn sizes_before(stms: &[Stm], outputs: &[Param]) -> Option<Vec<usize>> {
    let by: HashMap<Var, usize> = stms
        .iter()
        .enumerate()
        .flat_map(|(k, stm)| stm.binds.iter().map(move |p| (p.var, k)))
        .collect();
    let mut before: Vec<usize> = Vec::new();
    let mut wanted: Vec<Var> =
        outputs.iter().flat_map(|p| &p.ty.dims).filter_map(|dim| dim.as_var()).collect();
    while let Some(var) = wanted.pop() {
        let Some(k) = by.get(&var).copied() else { continue };
        if before.contains(&k) {
            continue;
        }
        let Exp::Op(Op::Prim(_, args)) = &stms[k].exp else { return None };
        wanted.extend(args.iter().filter_map(|arg: &Atom| arg.as_var()));
        before.push(k);
    }
    before.sort_unstable();
    Some(before)
}

/// Does it read parts of arrays that a loop around has chosen? That they are in range is known there, not here.
fn steps_outside(graph: &Graph) -> bool {
    graph.nodes.iter().any(|node| match node {
        Node::At(array, index) => {
            let unknown = |(k, i): (usize, &NodeId)| {
                let chosen = graph.free(*i).is_empty() && graph.lit(*i).is_none();
                chosen && !is_chosen(graph, graph.array(*array), k, *i)
            };
            index.iter().enumerate().any(unknown)
                && index.iter().any(|i| !graph.free(*i).is_empty())
        }
        Node::Lit(_) | Node::Index(_) | Node::Prim(..) | Node::Choose(..) | Node::Reduce(..) => {
            false
        }
    })
}
