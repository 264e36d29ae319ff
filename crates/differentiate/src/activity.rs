//! Which variables carry derivatives?
//!
//! `active x` holds where `x` is real, depends on a parameter through real values, and some real result depends on it.
//! Everything else has tangent and cotangent zero, and gets no code: that `f 0 = 0` for linear `f` is what allows it.
//!
//! A handle is active where reals are reached through it that are; what is known of node types and functions is said in [`crate::known`].
//! Dependence is a graph over the variables of the function, so activity is two reachability questions, and loops need no fixed point.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::{Atom, Block, Exp, FnId, Lambda, Nest, NodeId, Op, Param, Stm, Var};

use crate::known::{CELLS, Known};

/// What is differentiated by, and the accumulators of others whose cotangents are wanted.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) known: Rc<Known>,
    pub(crate) varied: Vec<Param>,
    pub(crate) accumulators: Vec<Param>,
}

/// The active variables of a function. An accumulator is active as an array is.
#[derive(Debug)]
pub(crate) struct Activity {
    active: HashSet<Var>,
    /// The handles, and arrays of handles, with the types of the nodes.
    handles: HashMap<Var, NodeId>,
    /// Those that lead to cells.
    cells: HashSet<Var>,
}

impl Activity {
    pub(crate) fn of(scope: &Scope, f: &Lambda) -> Activity {
        let mut flow = Flow::new(&scope.known);
        flow.params(&f.params);
        flow.params(&scope.accumulators);
        flow.block(&f.body);
        let results =
            f.body.results.iter().zip(&f.results).filter(|(_, ty)| scope.known.carries(ty.elem));
        let starts = scope.varied.iter().map(|p| p.var).chain([CELLS]);
        let varied = reachable(starts.collect(), &flow.forward);
        let ends = results.filter_map(|(atom, _)| atom.as_var());
        let ends = ends.chain(scope.accumulators.iter().map(|p| p.var)).chain([CELLS]);
        let useful = reachable(ends.collect(), &flow.reverse);
        let active = varied.intersection(&useful).copied().collect();
        Activity { active, handles: flow.handles, cells: flow.cells }
    }

    pub(crate) fn active(&self, atom: impl Into<Atom>) -> bool {
        atom.into().as_var().is_some_and(|var| self.active.contains(&var))
    }

    /// Is it active, and a handle or an array of handles?
    pub(crate) fn handle(&self, atom: impl Into<Atom>) -> bool {
        let atom = atom.into();
        self.active(atom) && self.node(atom).is_some()
    }

    /// The type of the nodes of a handle.
    pub(crate) fn node(&self, atom: Atom) -> Option<NodeId> {
        self.handles.get(&atom.as_var()?).copied()
    }

    /// Is it active, and a real or an array of reals?
    pub(crate) fn real(&self, atom: impl Into<Atom>) -> bool {
        let atom = atom.into();
        self.active(atom) && !self.handle(atom)
    }

    /// Is there anything to differentiate in the statement: does it bind something active, or add to an active accumulator or to cells?
    pub(crate) fn concerns(&self, stm: &Stm) -> bool {
        stm.binds.iter().any(|p| self.active(p.var))
            || stm.adds_to(&|acc| self.active(acc))
            || !self.cells.is_empty() && stm.any(&mut |stm| self.passes_cells(stm))
    }

    fn passes_cells(&self, stm: &Stm) -> bool {
        let Exp::Op(Op::Call { args, .. }) = &stm.exp else { return false };
        args.iter().any(|arg| arg.as_var().is_some_and(|x| self.cells.contains(&x)))
    }
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

/// `x → y` where the real value of `y`, or what is reached through it, is computed from that of `x`.
pub(crate) struct Flow<'a> {
    known: &'a Known,
    pub(crate) forward: HashMap<Var, Vec<Var>>,
    reverse: HashMap<Var, Vec<Var>>,
    handles: HashMap<Var, NodeId>,
    cells: HashSet<Var>,
}

impl<'a> Flow<'a> {
    pub(crate) fn new(known: &'a Known) -> Flow<'a> {
        let (forward, reverse) = (HashMap::new(), HashMap::new());
        Flow { known, forward, reverse, handles: HashMap::new(), cells: HashSet::new() }
    }

    fn edge(&mut self, from: impl Into<Atom>, to: Var) {
        if let Atom::Var(from) = from.into() {
            self.forward.entry(from).or_default().push(to);
            self.reverse.entry(to).or_default().push(from);
        }
    }

    /// Where the target carries a derivative.
    fn real(&mut self, from: impl Into<Atom>, to: &Param) {
        if self.known.carries(to.ty.elem) {
            self.edge(from.into(), to.var);
        }
    }

    /// What is bound here: handles that lead to cells lead to what everybody may have added.
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
            Op::MatMul(a, b) => {
                self.real(*a, bind);
                self.real(*b, bind);
            }
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
            | Op::Call { .. } => {}
        }
    }

    fn call(&mut self, binds: &[Param], function: FnId, args: &[Atom], accumulators: &[Var]) {
        let known = self.known;
        let Some(flows) = known.flows(function) else { return };
        for (bind, inputs) in binds.iter().zip(&flows.results) {
            Known::sources(inputs, args).for_each(|source| self.real(source, bind));
        }
        for (acc, inputs) in accumulators.iter().zip(&flows.accumulators) {
            Known::sources(inputs, args).for_each(|source| self.edge(source, *acc));
        }
        Known::sources(&flows.cells, args).for_each(|source| self.edge(source, CELLS));
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
