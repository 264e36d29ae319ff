//! How reals flow: a graph over the variables of a function, and the facts about a library that
//! follow from the graphs of its functions.

use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Elem, Exp, Field, FnId, Function, Library, Nest, NodeId, Op, Param, Rule, Rules,
    Stm, Var, differentiable,
};

use crate::known::{CELLS, FROM_CELLS, Flows, Inputs, LibraryFacts, called};
use crate::threaded::threaded;

/// The facts about a block and its callees. Which results depend on which parameters is a fixed
/// point over the calls.
pub(crate) fn known(library: &Library, block: &Block) -> LibraryFacts {
    let reals = reaching(library, |field| field.ty.elem == Elem::REAL);
    let cells = reaching(library, |field| field.cell && field.ty.elem == Elem::REAL);
    let functions = called(library, block);
    let threaded = threaded(library, &functions);
    let mut known = LibraryFacts { reals, cells, flows: HashMap::new(), threaded };
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for id in &functions {
            let Some(function) = library.function(*id) else { continue };
            let flows = flows_of(&known, library, function);
            changed |= known.flows.get(id) != Some(&flows);
            known.flows.insert(*id, flows);
        }
    }
    known
}

/// The dependence of results, accumulators and cells on the parameters of a function.
fn flows_of(known: &LibraryFacts, library: &Library, function: &Function) -> Flows {
    let mut graph = Flow::new(known);
    graph.params(&function.params);
    graph.params(&function.accumulators);
    graph.block(&function.body);
    let mut flows = Flows {
        results: vec![Inputs::new(); function.results.len()],
        accumulators: vec![Inputs::new(); function.accumulators.len()],
        cells: Inputs::new(),
    };
    let carrying = function.params.iter().enumerate();
    let carrying = carrying.filter(|(_, p)| known.carries(p.ty.elem));
    let inputs = carrying.map(|(k, p)| (k, p.var)).chain([(FROM_CELLS, CELLS)]);
    for (k, var) in inputs {
        let reached = reachable(vec![var], &graph.forward);
        for (result, inputs) in function.body.results.iter().zip(&mut flows.results) {
            if result.as_var().is_some_and(|x| reached.contains(&x)) {
                inputs.insert(k);
            }
        }
        for (acc, inputs) in function.accumulators.iter().zip(&mut flows.accumulators) {
            if reached.contains(&acc.var) {
                inputs.insert(k);
            }
        }
        if reached.contains(&CELLS) && k != FROM_CELLS {
            flows.cells.insert(k);
        }
    }
    if let Some(rules) = &function.rules {
        by_rules(known, library, function, rules, &mut flows);
    }
    flows
}

/// With rules, each result may depend on each of the function's own parameters, whatever the body
/// does, unless a rule returns a literal zero.
fn by_rules(
    known: &LibraryFacts,
    library: &Library,
    function: &Function,
    rules: &Rules,
    flows: &mut Flows,
) {
    let zeros = |rule: &Option<Rule>| {
        let rule = rule.and_then(|rule| library.function(rule.function));
        rule.map(|rule| rule.body.results.iter().map(|x| is_zero(&rule.body.stms, *x)).collect())
    };
    let (tangents, cotangents): (Option<Vec<bool>>, Option<Vec<bool>>) =
        (zeros(&rules.jvp), zeros(&rules.vjp));
    let says_zero = |zeros: &Option<Vec<bool>>, k: usize| zeros.as_ref().map(|zeros| zeros[k]);
    let own = function.params.iter().enumerate().skip(rules.captured);
    let own = own.filter(|(_, p)| differentiable(&p.ty)).enumerate();
    let own: Vec<(usize, usize)> =
        own.filter(|(_, (_, p))| known.carries(p.ty.elem)).map(|(nth, (k, _))| (nth, k)).collect();
    let results = flows.results.iter_mut().zip(&function.results);
    let results = results.filter(|(_, ty)| differentiable(ty)).enumerate();
    for (nth, (inputs, _)) in results.filter(|(_, (_, ty))| known.carries(ty.elem)) {
        for (place, k) in &own {
            let said = [says_zero(&tangents, nth), says_zero(&cotangents, *place)];
            match said.iter().flatten().all(|zero| *zero) && said.iter().any(Option::is_some) {
                true => inputs.remove(k),
                false => inputs.insert(*k),
            };
        }
    }
}

/// Whether the variable is evidently zero: a literal, or an array filled with one.
pub(crate) fn is_zero(stms: &[Stm], x: Atom) -> bool {
    let var = match x {
        Atom::Lit(value) => return value == Elem::REAL.zero(),
        Atom::Var(var) => var,
    };
    let stm = stms.iter().find(|stm| stm.binds.iter().any(|p| p.var == var));
    let filled = |stm: &Stm| match &stm.exp {
        Exp::Op(Op::Fill(value)) => Some(*value),
        Exp::Op(_) | Exp::Nest(_) => None,
    };
    stm.and_then(filled).is_some_and(|value| is_zero(stms, value))
}

/// The node types from which fields that satisfy `has` are reachable.
fn reaching(library: &Library, has: impl Fn(&Field) -> bool) -> Vec<bool> {
    let mut table = vec![false; library.nodes.len()];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (k, node) in library.nodes.iter().enumerate() {
            let mut fields = node.constructors.iter().flat_map(|c| &c.fields);
            let leads = |node: NodeId| table.get(node.0 as usize).copied().unwrap_or(false);
            if !table[k] && fields.any(|f| has(f) || f.ty.elem.node().is_some_and(leads)) {
                table[k] = true;
                changed = true;
            }
        }
    }
    table
}

pub(crate) fn reachable(start: Vec<Var>, edges: &HashMap<Var, Vec<Var>>) -> HashSet<Var> {
    let mut seen: HashSet<Var> = start.iter().copied().collect();
    let mut open = start;
    while let Some(var) = open.pop() {
        let next = edges.get(&var).into_iter().flatten();
        open.extend(next.copied().filter(|to| seen.insert(*to)));
    }
    seen
}

/// Edges `x → y`: the real value of `y`, or of a node reachable from it, is computed from that of
/// `x`.
pub(crate) struct Flow<'a> {
    known: &'a LibraryFacts,
    pub(crate) forward: HashMap<Var, Vec<Var>>,
    pub(crate) reverse: HashMap<Var, Vec<Var>>,
    pub(crate) handles: HashMap<Var, NodeId>,
    pub(crate) cells: HashSet<Var>,
}

impl<'a> Flow<'a> {
    pub(crate) fn new(known: &'a LibraryFacts) -> Flow<'a> {
        let (forward, reverse) = (HashMap::new(), HashMap::new());
        Flow { known, forward, reverse, handles: HashMap::new(), cells: HashSet::new() }
    }

    fn edge(&mut self, from: impl Into<Atom>, to: Var) {
        if let Atom::Var(from) = from.into() {
            self.forward.entry(from).or_default().push(to);
            self.reverse.entry(to).or_default().push(from);
        }
    }

    /// Adds an edge if the target carries a derivative.
    fn real(&mut self, from: impl Into<Atom>, to: &Param) {
        if self.known.carries(to.ty.elem) {
            self.edge(from.into(), to.var);
        }
    }

    /// Adds parameters. A handle that leads to cells depends on all contributions to cells.
    pub(crate) fn params(&mut self, params: &[Param]) {
        for p in params {
            if let Some(node) = p.ty.elem.node() {
                self.handles.insert(p.var, node);
            }
            if self.known.leads_to_cells(p.ty.elem) {
                self.cells.insert(p.var);
                self.as_cells(p.var);
            }
        }
    }

    fn as_cells(&mut self, x: Var) {
        self.edge(x, CELLS);
        self.edge(CELLS, x);
    }

    pub(crate) fn block(&mut self, block: &Block) {
        for stm in &block.stms {
            self.params(&stm.binds);
            self.stm(stm);
            stm.exp.blocks().into_iter().for_each(|inner| self.block(inner));
        }
    }

    fn stm(&mut self, stm: &Stm) {
        match &stm.exp {
            Exp::Op(op) => self.op(stm, op),
            Exp::Nest(nest) => self.nest(stm, nest),
        }
    }

    fn op(&mut self, stm: &Stm, op: &Op) {
        // An accumulator of ints is reached by ints only, and these by nothing.
        if let Op::Accumulate { acc, value, .. } = op {
            return self.edge(*value, *acc);
        }
        if let Op::Call { function, args, accumulators } = op {
            return self.call(&stm.binds, *function, args, accumulators);
        }
        let Some(bind) = stm.binds.first() else { return };
        match op {
            Op::Prim(op, args) => {
                let flows = args.iter().zip(op.partials()).filter(|(_, partial)| partial.is_some());
                flows.for_each(|(arg, _)| self.edge(*arg, bind.var));
            }
            Op::Index(x, _) => self.real(*x, bind),
            Op::Fill(value) | Op::Accumulator(value) => self.real(*value, bind),
            Op::Array(items) | Op::Node { fields: items, .. } => {
                items.iter().for_each(|item| self.real(*item, bind));
            }
            Op::Update { array, value, .. } => {
                self.real(*array, bind);
                self.real(*value, bind);
            }
            Op::ArrayPrim(_, args) => args.iter().for_each(|arg| self.real(*arg, bind)),
            Op::Freeze(acc) => self.real(*acc, bind),
            Op::Field { of, .. } => self.real(*of, bind),
            Op::Cell { .. } => self.real(CELLS, bind),
            Op::Open { .. } => {
                if self.known.carries(bind.ty.elem) {
                    self.as_cells(bind.var);
                }
            }
            Op::Constant(_)
            | Op::Tag(_)
            | Op::Accumulate { .. }
            | Op::Check { .. }
            | Op::Inspect { .. }
            | Op::Call { .. } => {}
            Op::Scheduled(_) => unreachable!("scheduling is the last pass"),
        }
    }

    fn call(&mut self, binds: &[Param], function: FnId, args: &[Atom], accumulators: &[Var]) {
        let known = self.known;
        let Some(flows) = known.flows(function) else { return };
        for (bind, inputs) in binds.iter().zip(&flows.results) {
            LibraryFacts::sources(inputs, args).for_each(|source| self.real(source, bind));
        }
        for (acc, inputs) in accumulators.iter().zip(&flows.accumulators) {
            LibraryFacts::sources(inputs, args).for_each(|source| self.edge(source, *acc));
        }
        LibraryFacts::sources(&flows.cells, args).for_each(|source| self.edge(source, CELLS));
    }

    fn nest(&mut self, stm: &Stm, nest: &Nest) {
        match nest {
            Nest::For { body, .. } => {
                let results = stm.binds.iter().zip(&body.results);
                results.for_each(|(bind, result)| self.real(*result, bind));
            }
            Nest::Loop { params, inits, body, .. } => {
                self.params(params);
                for (((bind, param), init), result) in
                    stm.binds.iter().zip(params).zip(inits).zip(&body.results)
                {
                    self.real(*init, param);
                    self.real(*result, param);
                    self.real(param.var, bind);
                }
            }
            Nest::If { then, otherwise, .. } => {
                for ((bind, yes), no) in stm.binds.iter().zip(&then.results).zip(&otherwise.results)
                {
                    self.real(*yes, bind);
                    self.real(*no, bind);
                }
            }
        }
    }
}
