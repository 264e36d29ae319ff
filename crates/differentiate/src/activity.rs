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
        stm.binds.iter().any(|p| self.active(p.var)) || self.adds(stm)
    }

    fn adds(&self, stm: &Stm) -> bool {
        match &stm.exp {
            Exp::Op(Op::Accumulate { acc, .. }) => self.active(*acc),
            exp => exp.blocks().iter().any(|block| block.stms.iter().any(|inner| self.adds(inner))),
        }
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
        let bind = stm.binds.first();
        match &stm.exp {
            Exp::Op(Op::Prim(op, args)) => {
                let flows = args.iter().zip(op.partials()).filter(|(_, partial)| partial.is_some());
                flows.for_each(|(arg, _)| self.edge(*arg, stm.binds[0].var));
            }
            Exp::Op(Op::Index(x, _)) => self.real(*x, &stm.binds[0]),
            Exp::Op(Op::Fill(value) | Op::Accumulator(value)) => self.real(*value, &stm.binds[0]),
            Exp::Op(Op::Array(items)) => {
                items.iter().for_each(|item| self.real(*item, &stm.binds[0]))
            }
            Exp::Nest(Nest::For { body, .. }) => stm
                .binds
                .iter()
                .zip(&body.results)
                .for_each(|(bind, result)| self.real(*result, bind)),
            Exp::Nest(Nest::Loop { params, inits, body, .. }) => {
                for (((bind, param), init), result) in
                    stm.binds.iter().zip(params).zip(inits).zip(&body.results)
                {
                    self.real(*init, param);
                    self.real(*result, param);
                    self.real(param.var, bind);
                }
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                for ((bind, yes), no) in stm.binds.iter().zip(&then.results).zip(&otherwise.results)
                {
                    self.real(*yes, bind);
                    self.real(*no, bind);
                }
            }
            Exp::Op(Op::Update { array, value, .. }) => {
                self.real(*array, &stm.binds[0]);
                self.real(*value, &stm.binds[0]);
            }
            Exp::Op(Op::MatMul(a, b)) => {
                self.real(*a, &stm.binds[0]);
                self.real(*b, &stm.binds[0]);
            }
            // An accumulator of ints is reached by ints only, and these by nothing.
            Exp::Op(Op::Accumulate { acc, value, .. }) => self.edge(*value, *acc),
            Exp::Op(Op::Freeze(acc)) => bind.into_iter().for_each(|bind| self.real(*acc, bind)),
            Exp::Op(Op::Constant(_) | Op::Check { .. }) => {}
        }
    }
}
