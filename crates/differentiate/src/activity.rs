//! Which variables carry derivatives?
//!
//! `active x` holds where `x` is real, depends on a parameter through real values, and some real result depends on it.
//! Everything else has tangent and cotangent zero, and gets no code: that `f 0 = 0` for linear `f` is what allows it.
//!
//! Dependence is a graph over the variables of the function, so activity is two reachability questions, and loops need no fixed point.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Exp, Lambda, Nest, Op, Param, Stm, Var};
use lambada_prim::ScalarTy;

/// The active variables of a function. An accumulator is active as an array is.
#[derive(Debug)]
pub(crate) struct Activity {
    active: HashSet<Var>,
}

impl Activity {
    pub(crate) fn of(f: &Lambda) -> Activity {
        let mut flow = Flow::default();
        flow.block(&f.body);
        let results =
            f.body.results.iter().zip(&f.results).filter(|(_, ty)| ty.elem == ScalarTy::Real);
        let varied = reachable(f.params.iter().map(|p| p.var).collect(), &flow.forward);
        let useful =
            reachable(results.filter_map(|(atom, _)| atom.as_var()).collect(), &flow.reverse);
        Activity { active: varied.intersection(&useful).copied().collect() }
    }

    pub(crate) fn active(&self, atom: impl Into<Atom>) -> bool {
        atom.into().as_var().is_some_and(|var| self.active.contains(&var))
    }

    /// Is there anything to differentiate in the statement: does it bind something active, or add to an active accumulator?
    pub(crate) fn concerns(&self, stm: &Stm) -> bool {
        stm.binds.iter().any(|p| self.active(p.var)) || stm.adds_to(&|acc| self.active(acc))
    }
}

fn reachable(start: Vec<Var>, edges: &HashMap<Var, Vec<Var>>) -> HashSet<Var> {
    let mut seen: HashSet<Var> = start.iter().copied().collect();
    let mut open = start;
    while let Some(var) = open.pop() {
        let next = edges.get(&var).into_iter().flatten();
        open.extend(next.copied().filter(|to| seen.insert(*to)));
    }
    seen
}

/// `x → y` where the real value of `y` is computed from the real value of `x`.
#[derive(Default)]
struct Flow {
    forward: HashMap<Var, Vec<Var>>,
    reverse: HashMap<Var, Vec<Var>>,
}

impl Flow {
    fn edge(&mut self, from: Atom, to: Var) {
        if let Atom::Var(from) = from {
            self.forward.entry(from).or_default().push(to);
            self.reverse.entry(to).or_default().push(from);
        }
    }

    /// Where the target is real.
    fn real(&mut self, from: impl Into<Atom>, to: &Param) {
        if to.ty.elem == ScalarTy::Real {
            self.edge(from.into(), to.var);
        }
    }

    fn block(&mut self, block: &Block) {
        for stm in &block.stms {
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
        let Some(bind) = stm.binds.first() else { return };
        match op {
            Op::Prim(op, args) => {
                let flows = args.iter().zip(op.partials()).filter(|(_, partial)| partial.is_some());
                flows.for_each(|(arg, _)| self.edge(*arg, bind.var));
            }
            Op::Index(x, _) => self.real(*x, bind),
            Op::Fill(value) | Op::Accumulator(value) => self.real(*value, bind),
            Op::Array(items) => items.iter().for_each(|item| self.real(*item, bind)),
            Op::Update { array, value, .. } => {
                self.real(*array, bind);
                self.real(*value, bind);
            }
            Op::MatMul(a, b) => {
                self.real(*a, bind);
                self.real(*b, bind);
            }
            Op::Freeze(acc) => self.real(*acc, bind),
            Op::Constant(_) | Op::Accumulate { .. } | Op::Check { .. } => {}
            Op::Call { .. }
            | Op::Node { .. }
            | Op::Tag(_)
            | Op::Field { .. }
            | Op::Open { .. }
            | Op::Cell { .. } => panic!("not differentiated yet"),
        }
    }

    fn nest(&mut self, stm: &Stm, nest: &Nest) {
        match nest {
            Nest::For { body, .. } => {
                let results = stm.binds.iter().zip(&body.results);
                results.for_each(|(bind, result)| self.real(*result, bind));
            }
            Nest::Loop { params, inits, body, .. } => {
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
