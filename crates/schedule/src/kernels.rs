//! Runs of statements become kernels.
//!
//! A kernel reports whether its results are valid, because two of its assumptions are checked only
//! at run time: an axis is long enough for lanes, and the factors that left sums are finite
//! ([`Leave::Apart`]). The statements stay as the other branch of an `if` on that result.
//!
//! *Assumes* a function that `lambada_anf::check` accepts. *Gives* kernels for the runs that
//! profit; other statements stay as they are. *Keeps* values up to the order of sums and the
//! rounding of vectorized functions, and failures.

use lambada_anf::bounds::ScopedFacts;
use lambada_anf::{Atom, Block, Exp, Function, Kernel, Library, LoopKind, Names, Nest, Op, Param};
use lambada_anf::{Builder, Renaming, Scheduled, Stm, Ty, Var};
use lambada_prim::{Prim, Scalar, ScalarTy};
use rustc_hash::{FxHashMap, FxHashSet};

use lambada_graph::cost;
use lambada_graph::{
    Array, ArrayId, AxisId, Graph, Mechanism, Node, NodeId, Nominal, Part, Plan, Runs, any_below,
    is_chosen,
};

use crate::chosen::chosen;
use crate::concatenations::concatenated;
use crate::distribute::{Distributed, distribute};
use crate::factor::Leave;
use crate::fuse::fused;
use crate::place::{Along, Blocks, place_by, placeable, rows_of};
use crate::regions::{Allowed, Region, fills, fitting, mentions, needed, sums, types};
use crate::tile::tiled;
use crate::worth::{best, is_light, plain};
use crate::{prepared_by, without_literals};

mod sizes;
mod usual;

use sizes::{Enough, enough};
use usual::{Within, kept, usual};

/// Optional constructs of a run, in the order of trial. Additions in place cannot be undone, so no
/// factor that may be infinite leaves a sum in a run with additions; if that costs much, a later
/// level is better.
const LEVELS: [Allowed; 4] = [
    Allowed { loops: true, additions: false, accumulators: true },
    Allowed { loops: false, additions: true, accumulators: true },
    Allowed { loops: false, additions: false, accumulators: true },
    ALONE,
];
/// Constructs allowed in a run of one statement.
const ALONE: Allowed = Allowed { loops: false, additions: true, accumulators: false };

/// The choice of a placement for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The cheapest placement, if it beats the statements; it runs for the sizes for which it does.
    Best,
    /// The placement with the k-th axis in blocks (without blocks if there is no such axis) and
    /// these lanes, for all sizes.
    Any(usize, Along),
}

/// The function with kernels for the runs that profit, in its library too.
#[must_use]
pub fn schedule(function: &Function, plan: Plan, choice: Choice) -> Function {
    let callee = |callee: &Function| scheduled(callee, plan, choice, Runs::Often);
    let functions = function.library.functions.iter();
    let functions = functions.map(|function| function.as_ref().map(callee)).collect();
    let library = Library { nodes: function.library.nodes.clone(), functions };
    Function { library, ..scheduled(function, plan, choice, Runs::Once) }
}

/// [`schedule`] for one function; the result has no library.
fn scheduled(function: &Function, plan: Plan, choice: Choice, runs: Runs) -> Function {
    let mut copy = Function {
        name: function.name.clone(),
        names: function.names.clone(),
        sizes: function.sizes.clone(),
        params: function.params.clone(),
        accumulators: function.accumulators.clone(),
        body: function.body.clone(),
        results: function.results.clone(),
        library: Library::default(),
        rules: None,
        known: None,
    };
    let apart = concatenated(&mut copy);
    let (types, mentions, fills) = (types(&copy), mentions(&copy), fills(&copy));
    let sums = sums(&copy, &types);
    let within = Within::of(&copy);
    let mut known = ScopedFacts::default();
    known.sizes(function);
    let mut finder = Finder {
        types,
        fills,
        sums,
        mentions,
        within,
        plan,
        choice,
        names: &mut copy.names,
        known,
        apart,
        runs,
    };
    finder.block(&mut copy.body);
    copy
}

struct Finder<'a> {
    types: FxHashMap<Var, Ty>,
    fills: FxHashMap<Var, Scalar>,
    sums: FxHashMap<Var, (Var, i64)>,
    mentions: FxHashMap<Var, usize>,
    within: Within,
    plan: Plan,
    choice: Choice,
    names: &'a mut Names,
    /// Facts known before the next statement.
    known: ScopedFacts,
    /// Keys ([`key`]) of the statements that fit no run.
    apart: FxHashSet<Var>,
    /// Whether a kernel found here runs once, or often.
    runs: Runs,
}

/// Signals that the block is to be tried anew: some statements of a run fit no kernel, and are in
/// [`Finder::apart`] from now on.
struct Again;

/// The kernel of a run of statements.
struct Found {
    kernel: Kernel,
    /// The statements that compute sizes of outputs; they come before the kernel.
    before: Vec<usize>,
    outputs: Vec<Param>,
}

/// The graph of a run of statements, and its interface.
struct Computed {
    graph: Graph,
    sizes: Nominal,
    /// The statements that compute sizes of outputs.
    before: Vec<usize>,
    inputs: Vec<Var>,
    outputs: Vec<Param>,
    added: Vec<Var>,
}

impl Finder<'_> {
    /// Finds kernels in a block: first among runs with sequential loops, then among the runs
    /// between the loops, with additions to outer accumulators and without.
    fn block(&mut self, block: &mut Block) {
        let all = std::mem::take(&mut block.stms);
        // A run needs a nest. A block without one is not analyzed as a whole, because it may hold
        // blocks of any depth.
        if !all.iter().any(is_nest) {
            return all.into_iter().for_each(|stm| self.statement(stm, false, &mut block.stms));
        }
        let first = usize::from(!self.plan.has(Mechanism::Loops));
        loop {
            let mark = self.known.mark();
            match self.level((all.clone(), false), &LEVELS[first..], &mut block.stms) {
                Ok(()) => return,
                Err(Again) => {
                    self.known.reset(mark);
                    block.stms.clear();
                }
            }
        }
    }

    /// Finds kernels in statements at the remaining levels; `tried` if they are a run that has
    /// failed.
    fn level(
        &mut self,
        (all, tried): (Vec<Stm>, bool),
        levels: &[Allowed],
        stms: &mut Vec<Stm>,
    ) -> Result<(), Again> {
        let (count, Some((allowed, others))) = (all.len(), levels.split_first()) else {
            let alone = all.len() > 1 || !tried;
            all.into_iter().for_each(|stm| self.statement(stm, alone, stms));
            return Ok(());
        };
        let apart = |stm: &Stm| key(stm).is_some_and(|key| self.apart.contains(&key));
        let fitting = fitting(&all, *allowed, &self.mentions, &apart);
        let mut all = all.into_iter();
        let counts = |run: &[Stm]| run.iter().any(is_nest) && (!allowed.loops || has_loops(run));
        for (len, fits) in runs(all.as_slice(), &fitting, &counts) {
            let run: Vec<Stm> = all.by_ref().take(len).collect();
            let known = tried && len == count;
            let new = fits && !known;
            match if new { self.run(&run, *allowed) } else { None } {
                Some(new) => self.replaced(&run, new, stms),
                None if new && self.stand_apart(&run, *allowed) => return Err(Again),
                None => self.level((run, new || known), others, stms)?,
            }
        }
        Ok(())
    }

    /// Sets apart the nests of a run that are no kernel even by themselves, unless all are. Whether
    /// any was added.
    fn stand_apart(&mut self, run: &[Stm], allowed: Allowed) -> bool {
        let nests: Vec<usize> = (0..run.len()).filter(|k| is_nest(&run[*k])).collect();
        if nests.len() < 2 {
            return false;
        }
        let alone = |k: &usize| self.computed(std::slice::from_ref(&run[*k]), allowed).is_none();
        let found: Vec<usize> = nests.iter().copied().filter(alone).collect();
        let others = found.len() < nests.len();
        let before = self.apart.len();
        if others {
            self.apart.extend(found.iter().filter_map(|k| key(&run[*k])));
        }
        self.apart.len() > before
    }

    /// Emits the replacement of a run; the facts known after the run hold after it, too.
    fn replaced(&mut self, run: &[Stm], new: Vec<Stm>, stms: &mut Vec<Stm>) {
        run.iter().for_each(|stm| self.known.pass(stm));
        stms.extend(new);
    }

    /// Handles a statement of a run that is no kernel: the statement alone may be one, or runs
    /// inside of it.
    fn statement(&mut self, mut stm: Stm, alone: bool, stms: &mut Vec<Stm>) {
        let one = std::slice::from_ref(&stm);
        if alone
            && is_nest(&stm)
            && fitting(one, ALONE, &self.mentions, &|_| false)[0]
            && let Some(new) = self.run(one, ALONE)
        {
            return self.replaced(one, new, stms);
        }
        let mark = self.known.mark();
        self.known.enter(&stm.exp);
        match &mut stm.exp {
            Exp::Op(_) => {}
            Exp::Nest(Nest::For { body, .. }) => {
                let runs = std::mem::replace(&mut self.runs, Runs::Often);
                self.block(body);
                self.runs = runs;
            }
            Exp::Nest(Nest::Loop { kind, body, .. }) => {
                let runs = std::mem::replace(&mut self.runs, Runs::Often);
                if let LoopKind::While(cond) = kind {
                    self.block(cond);
                    self.known.assume(cond.results[0], true);
                }
                self.block(body);
                self.runs = runs;
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
        self.known.pass(&stm);
        stms.push(stm);
    }

    /// The replacement of a run, if it is a kernel: its leading checks, then the kernel.
    fn run(&mut self, stms: &[Stm], allowed: Allowed) -> Option<Vec<Stm>> {
        let (checks, stms) = stms.split_at(checked_first(stms));
        if !stms.iter().any(is_nest) {
            return None;
        }
        let mark = self.known.mark();
        checks.iter().for_each(|stm| self.known.pass(stm));
        let kernel = self.kernel(stms, allowed);
        self.known.reset(mark);
        let kernel = kernel?;
        let mut new = checks.to_vec();
        new.extend(self.placed(stms, kernel));
        Some(new)
    }

    /// The replacement of a run, for its kernel.
    fn placed(&mut self, stms: &[Stm], found: Found) -> Vec<Stm> {
        let Found { mut kernel, before, outputs } = found;
        let mut new: Vec<Stm> = before.iter().map(|k| stms[*k].clone()).collect();
        if let Some((least, extent)) = kernel.least {
            let mut to = Builder::new(self.names);
            // If the extent is no arithmetic on inputs, the kernel never runs.
            let known = &mut FxHashMap::default();
            let extent = written(&kernel.placed.graph, extent, &kernel.inputs, known, &mut to);
            let extent = extent.unwrap_or(Atom::int(0));
            kernel.when = to.prim(Prim::LeInt, [Atom::int(least), extent]);
            new.extend(to.finish(Vec::new()).stms);
        }
        let kernel_of = |kernel| Op::Scheduled(Scheduled::Kernel(Box::new(kernel)));
        if kernel.is_total() {
            new.push(Stm::new(outputs, kernel_of(kernel)));
            return new;
        }
        let mut given: Vec<Param> = outputs.clone();
        given.iter_mut().for_each(|p| p.var = self.names.again(p.var));
        let then =
            Block { stms: Vec::new(), results: given.iter().map(|p| p.var.into()).collect() };
        let right = Param { var: self.names.fresh("right"), ty: Ty::bool() };
        let cond = right.var.into();
        given.push(right);
        new.push(Stm::new(given, kernel_of(kernel)));
        let outside: FxHashSet<usize> = before.into_iter().collect();
        let run: Vec<&Stm> =
            stms.iter().enumerate().filter(|(k, _)| !outside.contains(k)).map(|(_, s)| s).collect();
        let otherwise = copied(&run, &outputs, self.names);
        new.push(Stm::new(outputs, Nest::If { cond, then, otherwise }));
        new
    }

    /// The graph of a run, if it can be placed.
    fn computed(&mut self, stms: &[Stm], allowed: Allowed) -> Option<Computed> {
        let mut outputs = needed(stms, &self.mentions);
        let before = sizes_before(stms, &outputs)?;
        let known: FxHashSet<Var> =
            before.iter().flat_map(|k| &stms[*k].binds).map(|p| p.var).collect();
        outputs.retain(|p| !known.contains(&p.var));
        let (types, fills, sums) = (&self.types, &self.fills, &self.sums);
        let region = Region { stms, outputs, types, fills, sums };
        let Distributed { graph, inputs, added, .. } = distribute(self.names, &region);
        let outputs = region.outputs;
        if added.iter().any(|acc| self.types[acc].dims.is_empty())
            || outputs.is_empty() && added.is_empty()
            || !added.is_empty() && !self.plan.has(Mechanism::Additions)
        {
            return None;
        }
        let chosen = chosen(stms, &inputs, &self.types, &self.sums, &mut self.known);
        let sizes = usual(&graph, &inputs, &self.within);
        // Additions in place cannot be undone.
        let leave = if added.is_empty() { Leave::Apart } else { Leave::Finite };
        let mechanisms = self.plan.mechanisms;
        let prepared = |leave| without_literals(&prepared_by(mechanisms, &graph, &sizes, leave));
        let mut ready = prepared(leave);
        (ready.chosen, ready.in_place) = (chosen, added.len());
        let last = &ready.outputs[ready.outputs.len() - added.len()..];
        if last.iter().any(|output| ready.added_in_place(output.array).is_none())
            || !placeable(&ready)
            || steps_outside(&ready)
            || copies(&ready)
            || divides(&ready)
        {
            return None;
        }
        let is_last = added.is_empty() || !allowed.accumulators;
        let less = |than: f64| plain(&prepared(Leave::Apart), &sizes) < cost::CHEAPER * than;
        if !is_last && less(plain(&ready, &sizes)) {
            return None;
        }
        Some(Computed { graph: ready, sizes, before, inputs, outputs, added })
    }

    fn kernel(&mut self, stms: &[Stm], allowed: Allowed) -> Option<Found> {
        let Computed { graph, sizes, before, inputs, outputs, added } =
            self.computed(stms, allowed)?;
        let precision = self.names.precision();
        let placed = match self.choice {
            Choice::Best => best(&graph, &sizes, self.plan, (precision, self.runs))?,
            Choice::Any(k, lanes) => {
                let axis = (k < graph.axes.len()).then_some(AxisId(k as u32));
                let block = axis.map(|axis| Blocks { axis, lanes });
                let block = block.filter(|_| self.plan.has(Mechanism::Blocks));
                let placed = place_by(self.plan.mechanisms, &graph, block, &sizes)?;
                let placed = tiled(placed, &sizes, self.plan, precision);
                let fuses = self.plan.has(Mechanism::Fusion);
                let fused = fuses.then(|| fused(&placed, self.runs)).flatten();
                fused.unwrap_or(placed)
            }
        };
        // A kernel with additions allocates its buffers each time it begins, so the nests must do
        // more than that.
        if self.choice == Choice::Best
            && !added.is_empty()
            && !is_light(&placed, made(stms, &outputs))
        {
            return None;
        }
        if let Err(problem) = lambada_graph::placed::check(&placed) {
            debug_assert!(false, "after placing: {problem}");
            return None;
        }
        let least = match (self.choice, enough(&placed, &sizes, self.plan.lanes)) {
            (Choice::Any(..), _) | (Choice::Best, Enough::Always) => None,
            (Choice::Best, Enough::Never) => return None,
            (Choice::Best, Enough::AtLeast(least, extent)) => Some((least, extent)),
        };
        let checked = graph.outputs.len() > outputs.len() + added.len();
        let when = Atom::Lit(Scalar::Bool(true));
        let (placed, runs) = (placed.into(), self.runs);
        let kernel = Kernel { placed, inputs, added, when, least, checked, runs };
        Some(Found { kernel, before, outputs })
    }
}

/// The most dimensions of unknown size of an array that is internal to the statements.
fn made(stms: &[Stm], outputs: &[Param]) -> usize {
    let unknown = |p: &Param| p.ty.dims.iter().filter(|dim| dim.as_var().is_some()).count();
    let mut given: FxHashSet<Var> = outputs.iter().map(|p| p.var).collect();
    for stm in stms {
        if let Exp::Op(Op::Freeze(acc)) = stm.exp
            && given.contains(&stm.binds[0].var)
        {
            given.insert(acc);
        }
    }
    let own = stms.iter().flat_map(|stm| &stm.binds).filter(|p| !given.contains(&p.var));
    own.map(unknown).max().unwrap_or(0)
}

/// Whether a statement is a `for` or an array primitive.
fn is_nest(stm: &Stm) -> bool {
    matches!(stm.exp, Exp::Nest(Nest::For { .. }) | Exp::Op(Op::ArrayPrim(..)))
}

/// The length of the prefix that ends with the last check before the first loop. It stays outside
/// of the kernel because it needs no lanes, and because the outputs are allocated after it.
fn checked_first(stms: &[Stm]) -> usize {
    let scalar = |stm: &&Stm| match &stm.exp {
        Exp::Op(Op::Check { .. }) => true,
        Exp::Op(Op::Prim(..) | Op::Index(..)) => stm.binds.iter().all(|p| p.ty.dims.is_empty()),
        Exp::Op(_) | Exp::Nest(_) => false,
    };
    let leading = stms.iter().take_while(scalar);
    let is_check = |stm: &Stm| matches!(stm.exp, Exp::Op(Op::Check { .. }));
    leading.enumerate().filter(|(_, stm)| is_check(stm)).last().map_or(0, |(k, _)| k + 1)
}

/// A variable that identifies a statement.
fn key(stm: &Stm) -> Option<Var> {
    stm.binds.first().map(|p| p.var).or_else(|| stm.exp.bound().first().copied())
}

/// Lengths of the maximal runs of statements that all belong to a region, or do not. Runs that
/// `counts` rejects are joined with neighbors that do not fit.
fn runs(stms: &[Stm], fitting: &[bool], counts: &dyn Fn(&[Stm]) -> bool) -> Vec<(usize, bool)> {
    let mut runs: Vec<(usize, bool)> = Vec::new();
    for run in fitting.chunk_by(|a, b| a == b) {
        let at = runs.iter().map(|(len, _)| len).sum::<usize>();
        let fits = run[0] && counts(&stms[at..at + run.len()]);
        match runs.last_mut() {
            Some((len, false)) if !fits => *len += run.len(),
            Some(_) | None => runs.push((run.len(), fits)),
        }
    }
    runs
}

fn has_loops(stms: &[Stm]) -> bool {
    stms.iter().any(|stm| match &stm.exp {
        Exp::Nest(Nest::Loop { .. }) => true,
        exp => exp.blocks().into_iter().any(|block| has_loops(&block.stms)),
    })
}

/// A copy of statements with fresh names.
fn copied(stms: &[&Stm], outputs: &[Param], names: &mut Names) -> Block {
    let mut renaming = Renaming::new();
    let stms = stms.iter().map(|stm| renaming.copy_stm(stm, names)).collect();
    let results = outputs.iter().map(|p| renaming.atom(p.var.into())).collect();
    Block { stms, results }
}

/// Writes arithmetic on inputs as statements, each node once.
fn written(
    graph: &Graph,
    node: NodeId,
    inputs: &[Var],
    known: &mut FxHashMap<NodeId, Atom>,
    to: &mut Builder,
) -> Option<Atom> {
    if let Some(value) = graph.lit(node) {
        return Some(Atom::Lit(value));
    }
    if let Some(k) = kept(graph, node) {
        return Some(inputs[k as usize].into());
    }
    if let Some(atom) = known.get(&node) {
        return Some(*atom);
    }
    let (op, args) = graph.operation(node)?;
    let args: Option<Vec<Atom>> =
        args.iter().map(|arg| written(graph, *arg, inputs, known, to)).collect();
    let atom = to.prim(op, args?);
    known.insert(node, atom);
    Some(atom)
}

/// The statements of a run that compute sizes of its outputs, if all are primitives.
fn sizes_before(stms: &[Stm], outputs: &[Param]) -> Option<Vec<usize>> {
    let by: FxHashMap<Var, usize> = stms
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

/// Whether the graph copies an input to add to it. The loops of statements do better: they
/// overwrite an input that is dead.
fn copies(graph: &Graph) -> bool {
    let in_place = |array: ArrayId| graph.added_in_place(array).is_some();
    (0..graph.arrays.len() as u32).map(ArrayId).any(|array| {
        let Array::Scatter(init, _) = graph.array(array) else { return false };
        matches!(graph.array(*init), Array::Input(_)) && !in_place(array)
    })
}

/// Whether a result is an integer array made from quotients of its indices, or reads elements at
/// such quotients. The statements do better: no processor divides integers in lanes, but their
/// loops do not divide, because one runs over the quotient and an inner one over the remainder. A
/// matrix row by row is no copy.
fn divides(graph: &Graph) -> bool {
    graph.outputs.iter().any(|output| {
        let is_int = graph.array_facts(output.array).elem == ScalarTy::Int;
        match graph.elements(output.array) {
            Some((_, value)) if is_int => is_made_of_quotients(graph, value),
            Some((_, value)) => {
                rows_of(graph, output.array).is_none() && is_copy_at_quotient(graph, value)
            }
            None => false,
        }
    })
}

/// Whether a node is a quotient or a remainder of an index.
fn is_quotient(graph: &Graph, node: NodeId) -> bool {
    match graph.operation(node) {
        Some((Prim::DivInt | Prim::RemInt, [x, _])) => graph.index(*x).is_some(),
        Some(_) | None => false,
    }
}

/// Whether a value depends on an index divided by a constant.
fn is_made_of_quotients(graph: &Graph, value: NodeId) -> bool {
    let by_constant = |node: NodeId| {
        let size = graph.operation(node).and_then(|(_, args)| graph.lit(*args.last()?));
        is_quotient(graph, node) && matches!(size, Some(Scalar::Int(1..)))
    };
    any_below(value, |node, open| {
        graph.node(node).parts(&mut |part| {
            if let Part::Node(inner) = part {
                open.push(inner);
            }
        });
        by_constant(node)
    })
}

/// Whether a value, or an alternative of its choices, is a read at a divided index.
fn is_copy_at_quotient(graph: &Graph, value: NodeId) -> bool {
    any_below(value, |node, open| {
        if let Node::Choose(_, then, otherwise) = graph.node(node) {
            open.extend([then, otherwise]);
        }
        matches!(graph.node(node), Node::At(_, index) if index.iter().any(|k| is_quotient(graph, *k)))
    })
}

/// Whether the graph reads at an index chosen outside of the run, which is known to be in range
/// there, but not here.
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
