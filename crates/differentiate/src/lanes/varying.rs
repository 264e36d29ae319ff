//! Varying and uniform variables: dependence on the direction, as a fixed point.
//!
//! A nest with varying control (its condition, its extent, or a reduction that is not a sum) runs
//! per lane. The analysis also finds, before any code is written, constructs without a version for
//! lanes: varying checks, additions to outer accumulators, varying sizes.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Exp, LoopKind, Nest, Op, Out, Param, Stm, Ty, Var};
use lambada_prim::{ReduceOp, ScalarTy};

/// The varying variables, and the types of all variables that the iterations bind.
#[derive(Debug)]
pub(super) struct Varying {
    vars: HashSet<Var>,
    types: HashMap<Var, Ty>,
    /// The accumulators that the iterations make.
    made: HashSet<Var>,
    grew: bool,
}

/// Maximal number of varying operations per uniform one at which sharing pays.
const SHARED: usize = 4;

impl Varying {
    /// The variables that depend on `index` in the iterations.
    pub(super) fn of(index: Var, body: &Block) -> Varying {
        let mut varying = Varying {
            vars: HashSet::from([index]),
            types: HashMap::from([(index, Ty::int())]),
            made: HashSet::new(),
            grew: true,
        };
        body.each(&mut |stm| varying.declare(stm));
        while std::mem::take(&mut varying.grew) {
            varying.block(body);
        }
        varying
    }

    fn declare(&mut self, stm: &Stm) {
        let params = match &stm.exp {
            Exp::Nest(Nest::Loop { params, .. }) => &params[..],
            Exp::Nest(Nest::For { .. } | Nest::If { .. }) | Exp::Op(_) => &[],
        };
        self.types.extend(stm.binds.iter().chain(params).map(|p| (p.var, p.ty.clone())));
        if let Exp::Op(Op::Accumulator(_)) = &stm.exp {
            self.made.extend(stm.binds.iter().map(|p| p.var));
        }
    }

    pub(super) fn is(&self, x: impl Into<Atom>) -> bool {
        x.into().as_var().is_some_and(|var| self.vars.contains(&var))
    }

    /// The type of a varying variable.
    pub(super) fn ty(&self, x: Var) -> &Ty {
        &self.types[&x]
    }

    /// An accumulator for the sums of the lanes.
    pub(super) fn sum(&mut self, acc: Var, ty: &Ty) {
        self.types.insert(acc, ty.clone());
        self.add(acc);
    }

    fn add(&mut self, var: Var) {
        self.grew |= self.vars.insert(var);
    }

    fn any(&self, atoms: &[Atom]) -> bool {
        atoms.iter().any(|a| self.is(*a))
    }

    // The fixed point

    fn block(&mut self, block: &Block) {
        block.stms.iter().for_each(|stm| self.stm(stm));
    }

    fn stm(&mut self, stm: &Stm) {
        match &stm.exp {
            Exp::Op(Op::Accumulate { acc, index, value }) => {
                if self.any(index) || self.is(*value) {
                    self.add(*acc);
                }
            }
            Exp::Op(op) => {
                let mut varies = false;
                op.atoms(&mut |atom| varies |= self.is(atom));
                self.binds(&stm.binds, |_| varies);
            }
            Exp::Nest(nest) => self.nest(stm, nest),
        }
    }

    fn binds(&mut self, binds: &[Param], varies: impl Fn(usize) -> bool) {
        (0..binds.len()).filter(|k| varies(*k)).for_each(|k| self.add(binds[k].var));
    }

    fn nest(&mut self, stm: &Stm, nest: &Nest) {
        nest.blocks().into_iter().for_each(|block| self.block(block));
        if self.is_per_lane(nest) {
            return self.binds(&stm.binds, |_| true);
        }
        match nest {
            Nest::For { body, .. } => self.joined(&stm.binds, &[&body.results]),
            Nest::Loop { params, inits, body, .. } => {
                self.joined(params, &[inits, &body.results]);
                let states: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
                self.joined(&stm.binds, &[&states]);
            }
            Nest::If { then, otherwise, .. } => {
                self.joined(&stm.binds, &[&then.results, &otherwise.results])
            }
        }
    }

    /// A variable that takes one of several values varies if one of them does.
    fn joined(&mut self, binds: &[Param], values: &[&Vec<Atom>]) {
        for (k, p) in binds.iter().enumerate() {
            if values.iter().any(|values| self.is(values[k])) {
                self.add(p.var);
            }
        }
    }

    /// Whether each lane runs the nest for itself.
    pub(super) fn is_per_lane(&self, nest: &Nest) -> bool {
        match nest {
            Nest::For { extent, outs, body, .. } => {
                let mut results = outs.iter().zip(&body.results);
                self.is(*extent)
                    || results.any(|(out, result)| match out {
                        Out::Collect | Out::Reduce(ReduceOp::Add) => false,
                        Out::Reduce(_) => self.is(*result),
                    })
            }
            Nest::Loop { kind: LoopKind::For { extent, .. }, .. } => self.is(*extent),
            Nest::Loop { kind: LoopKind::While(cond), .. } => {
                cond.stms.iter().any(|stm| self.touches(stm)) || self.any(&cond.results)
            }
            Nest::If { cond, .. } => self.is(*cond),
        }
    }

    /// Whether any part of the statement varies.
    pub(super) fn touches(&self, stm: &Stm) -> bool {
        stm.any(&mut |inner| {
            let params = match &inner.exp {
                Exp::Nest(Nest::Loop { params, .. }) => params.iter().any(|p| self.is(p.var)),
                Exp::Op(Op::Accumulate { acc, .. }) => self.is(*acc),
                Exp::Op(Op::Check { cond, values, .. }) => self.is(*cond) || self.any(values),
                Exp::Op(_) | Exp::Nest(Nest::For { .. } | Nest::If { .. }) => false,
            };
            params || inner.binds.iter().any(|p| self.is(p.var))
        })
    }

    // Constructs with lanes

    /// Whether the iterations can run side by side.
    pub(super) fn supported(&self, block: &Block) -> bool {
        block.stms.iter().all(|stm| self.has_lanes(stm))
    }

    fn has_lanes(&self, stm: &Stm) -> bool {
        if !self.uniform_sizes(&stm.binds) {
            return false;
        }
        match &stm.exp {
            // The order of failures would change: the checks of one direction precede those of the
            // next.
            Exp::Op(Op::Check { cond, values, .. }) => !self.is(*cond) && !self.any(values),
            // Each direction must show its own values.
            Exp::Op(Op::Inspect { .. }) => false,
            Exp::Op(Op::Accumulate { acc, .. }) => self.made.contains(acc),
            // At most one factor of a product varies; its lanes become columns.
            Exp::Op(Op::ArrayPrim(prim, args)) => {
                prim.is_contraction() && args.iter().filter(|arg| self.is(**arg)).count() <= 1
            }
            Exp::Op(Op::Update { index, .. }) => {
                !self.any(index) || index.len() == stm.binds[0].ty.rank()
            }
            Exp::Op(
                Op::Prim(..)
                | Op::Index(..)
                | Op::Fill(_)
                | Op::Array(_)
                | Op::Constant(_)
                | Op::Accumulator(_)
                | Op::Freeze(_),
            ) => true,
            Exp::Op(
                Op::Call { .. }
                | Op::Node { .. }
                | Op::Tag(_)
                | Op::Field { .. }
                | Op::Open { .. }
                | Op::Cell { .. }
                | Op::Scheduled(_),
            ) => false,
            Exp::Nest(nest) if self.is_per_lane(nest) => self.fits_in_a_lane(stm, nest),
            Exp::Nest(nest) => {
                let params = match nest {
                    Nest::Loop { params, .. } => self.uniform_sizes(params),
                    Nest::For { .. } | Nest::If { .. } => true,
                };
                params && nest.blocks().into_iter().all(|block| self.supported(block))
            }
        }
    }

    fn uniform_sizes(&self, params: &[Param]) -> bool {
        params.iter().all(|p| !self.any(&p.ty.dims))
    }

    /// Whether a nest can run inside one lane: it returns scalars, has no effects, ends, and reads
    /// varying arrays by single elements.
    fn fits_in_a_lane(&self, stm: &Stm, nest: &Nest) -> bool {
        let mut inside = HashSet::new();
        nest.blocks().into_iter().for_each(|block| block.bound(&mut |var| _ = inside.insert(var)));
        inside.extend(nest.bound());
        let array = |x: Atom| {
            x.as_var().is_some_and(|x| {
                self.is(x) && !inside.contains(&x) && !self.types[&x].dims.is_empty()
            })
        };
        let refuses = &mut |stm: &Stm| match &stm.exp {
            Exp::Op(Op::Check { .. }) | Exp::Nest(Nest::Loop { kind: LoopKind::While(_), .. }) => {
                true
            }
            Exp::Op(Op::Accumulate { acc, .. }) if !inside.contains(acc) => true,
            Exp::Op(Op::Index(x, index)) => {
                array((*x).into()) && index.len() != self.types[x].rank()
            }
            Exp::Op(_) | Exp::Nest(_) => {
                let mut whole = false;
                stm.exp.atoms(&mut |atom| whole |= array(atom));
                let results = stm.exp.blocks().into_iter().flat_map(|block| &block.results);
                whole || results.into_iter().any(|atom| array(*atom))
            }
        };
        stm.binds.iter().all(|p| p.ty.dims.is_empty()) && !stm.any(refuses)
    }

    // Sharing

    /// Whether varying nests share enough uniform operations. Code that is uniform on its own needs
    /// no lanes, because it moves out of the `for` unchanged.
    pub(super) fn shares(&self, body: &Block) -> bool {
        let (mut uniform, mut varies) = (0, 0);
        self.operations(body, false, &mut uniform, &mut varies);
        uniform > 0 && SHARED * uniform >= varies
    }

    /// Counts operations on reals inside nests.
    fn operations(&self, block: &Block, inside: bool, uniform: &mut usize, varies: &mut usize) {
        for stm in &block.stms {
            match &stm.exp {
                Exp::Op(Op::Prim(op, _)) if inside && op.result() == ScalarTy::Real => {
                    *if self.is(stm.binds[0].var) { &mut *varies } else { &mut *uniform } += 1;
                }
                Exp::Op(Op::ArrayPrim(..)) if inside => {
                    *if self.is(stm.binds[0].var) { &mut *varies } else { &mut *uniform } += 1;
                }
                Exp::Op(_) => {}
                Exp::Nest(nest) => {
                    if inside || self.touches(stm) {
                        let blocks = nest.blocks();
                        blocks.iter().for_each(|b| self.operations(b, true, uniform, varies));
                    }
                }
            }
        }
    }
}
