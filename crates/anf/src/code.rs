//! What the evaluator runs: blocks whose operands are slots, each marked where it is the last use of an array. An array moved out at its
//! last use is not shared, so an `Update` of it happens in place and a loop of n updates costs n, not n².

use std::rc::Rc;

use lambada_prim::{Prim, Scalar, Tensor};
use lambada_source::Site;

use crate::{Atom, Block, Exp, Function, LoopKind, Nest, Op, Out, Param, Stm, Var};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Lit(Scalar),
    /// A value that is needed again.
    Copy(usize),
    /// A value at its last use.
    Move(usize),
}

#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) steps: Vec<Step>,
    pub(crate) results: Vec<Operand>,
}

#[derive(Debug)]
pub(crate) struct Step {
    /// The slots that it fills.
    pub(crate) binds: Vec<usize>,
    /// The sizes of what it binds, one list per bind.
    pub(crate) dims: Vec<Vec<Operand>>,
    pub(crate) op: Instr,
    /// Arrays that are not needed after it.
    pub(crate) frees: Vec<usize>,
}

#[derive(Debug)]
pub(crate) enum Driver {
    For { index: usize, extent: Operand },
    While(Code),
}

#[derive(Debug)]
pub(crate) enum Instr {
    Prim(Prim, Vec<Operand>),
    Index(usize, Vec<Operand>),
    Fill(Operand),
    Array(Vec<Operand>),
    Constant(Rc<Tensor>),
    For { index: usize, extent: Operand, outs: Vec<(Out, lambada_prim::ScalarTy)>, body: Code },
    Loop { params: Vec<usize>, inits: Vec<Operand>, driver: Driver, body: Code },
    If { cond: Operand, then: Code, otherwise: Code },
    Update { array: Operand, index: Vec<Operand>, value: Operand },
    MatMul(usize, usize),
    Accumulator(Operand),
    Accumulate { acc: usize, index: Vec<Operand>, value: Operand },
    Freeze(usize),
    Check { cond: Operand, site: Site, values: Vec<Operand> },
}

/// The code of a function's body.
pub(crate) fn compile(function: &Function) -> Code {
    let count = function.names.len();
    let mut compiler = Compiler {
        depth: 0,
        depth_of: vec![0; count],
        is_array: vec![false; count],
        live: vec![false; count],
        marked: Vec::new(),
    };
    compiler.arrays(&function.params);
    compiler.block(&function.body)
}

/// Walks backwards. `live` says which variables are used later.
struct Compiler {
    /// How many loops surround the current block.
    depth: u32,
    /// How many loops surround the binding of each variable: only where that is the same can a use be the last one.
    depth_of: Vec<u32>,
    /// By variable: is it an array, and not an accumulator?
    is_array: Vec<bool>,
    live: Vec<bool>,
    /// What has become live, in order, so that the branches of an `if` can start from the same state.
    marked: Vec<usize>,
}

impl Compiler {
    fn arrays(&mut self, params: &[Param]) {
        for p in params {
            self.is_array[p.var.0 as usize] = !p.ty.dims.is_empty();
        }
    }

    fn block(&mut self, block: &Block) -> Code {
        for stm in &block.stms {
            for p in &stm.binds {
                self.depth_of[p.var.0 as usize] = self.depth;
            }
            if !matches!(stm.exp, Exp::Op(Op::Accumulator(_))) {
                self.arrays(&stm.binds);
            }
        }
        let results = self.operands(&block.results);
        let mut steps: Vec<Step> = block.stms.iter().rev().map(|stm| self.step(stm)).collect();
        steps.reverse();
        Code { steps, results }
    }

    /// A block that may run many times.
    fn repeated(&mut self, bound: &[Var], block: &Block) -> Code {
        self.depth += 1;
        for var in bound {
            self.depth_of[var.0 as usize] = self.depth;
        }
        let code = self.block(block);
        self.depth -= 1;
        code
    }

    fn mark(&mut self, slot: usize) -> bool {
        let was = std::mem::replace(&mut self.live[slot], true);
        if !was {
            self.marked.push(slot);
        }
        was
    }

    fn operand(&mut self, atom: Atom) -> Operand {
        match atom {
            Atom::Lit(value) => Operand::Lit(value),
            Atom::Var(var) => {
                let slot = var.0 as usize;
                let used_later = self.mark(slot);
                if used_later || self.depth_of[slot] != self.depth {
                    Operand::Copy(slot)
                } else {
                    Operand::Move(slot)
                }
            }
        }
    }

    /// An operand that is only looked at.
    fn read(&mut self, atom: Atom) -> Operand {
        match atom {
            Atom::Lit(value) => Operand::Lit(value),
            Atom::Var(var) => Operand::Copy(self.slot(var)),
        }
    }

    fn slot(&mut self, var: Var) -> usize {
        self.mark(var.0 as usize);
        var.0 as usize
    }

    // Operands are evaluated from left to right, so they are visited from right to left.
    fn operands(&mut self, atoms: &[Atom]) -> Vec<Operand> {
        let mut operands: Vec<Operand> = atoms.iter().rev().map(|a| self.operand(*a)).collect();
        operands.reverse();
        operands
    }

    fn reads(&mut self, atoms: &[Atom]) -> Vec<Operand> {
        atoms.iter().map(|a| self.read(*a)).collect()
    }

    fn step(&mut self, stm: &Stm) -> Step {
        let dims = stm.binds.iter().map(|p| self.reads(&p.ty.dims)).collect();
        let binds: Vec<usize> = stm.binds.iter().map(|p| p.var.0 as usize).collect();
        let unused: Vec<usize> = binds.iter().copied().filter(|slot| !self.live[*slot]).collect();
        let start = self.marked.len();
        let op = self.op(stm);
        let last_used = self.marked[start..].iter().copied();
        let frees = last_used.chain(unused).filter(|slot| self.freed_here(*slot)).collect();
        Step { binds, dims, op, frees }
    }

    /// Is it an array that each run of the current block makes anew?
    fn freed_here(&self, slot: usize) -> bool {
        self.is_array[slot] && self.depth_of[slot] == self.depth
    }

    fn op(&mut self, stm: &Stm) -> Instr {
        match &stm.exp {
            Exp::Op(op) => self.flat(op),
            Exp::Nest(nest) => self.nest(stm, nest),
        }
    }

    fn flat(&mut self, op: &Op) -> Instr {
        match op {
            Op::Prim(op, args) => Instr::Prim(*op, self.reads(args)),
            Op::Index(x, index) => Instr::Index(self.slot(*x), self.reads(index)),
            Op::Fill(value) => Instr::Fill(self.read(*value)),
            Op::Array(items) => Instr::Array(self.reads(items)),
            Op::Constant(tensor) => Instr::Constant(tensor.clone()),
            Op::Update { array, index, value } => {
                let array = self.operand((*array).into());
                Instr::Update { array, index: self.reads(index), value: self.read(*value) }
            }
            Op::MatMul(a, b) => Instr::MatMul(self.slot(*a), self.slot(*b)),
            Op::Accumulator(value) => Instr::Accumulator(self.operand(*value)),
            Op::Accumulate { acc, index, value } => Instr::Accumulate {
                acc: acc.0 as usize,
                index: self.reads(index),
                value: self.read(*value),
            },
            Op::Freeze(acc) => Instr::Freeze(acc.0 as usize),
            Op::Check { cond, site, values } => Instr::Check {
                cond: self.read(*cond),
                site: site.clone(),
                values: self.reads(values),
            },
            Op::Call { .. }
            | Op::Node { .. }
            | Op::Tag(_)
            | Op::Field { .. }
            | Op::Open { .. }
            | Op::Cell { .. } => panic!("not evaluated yet"),
        }
    }

    fn nest(&mut self, stm: &Stm, nest: &Nest) -> Instr {
        match nest {
            Nest::For { index, extent, outs, body } => {
                let body = self.repeated(&[*index], body);
                let outs = outs
                    .iter()
                    .zip(&stm.binds)
                    .map(|(out, p)| (*out, p.ty.elem.scalar()))
                    .collect();
                Instr::For { index: index.0 as usize, extent: self.read(*extent), outs, body }
            }
            Nest::Loop { params, inits, kind, body } => {
                self.arrays(params);
                let body = self.repeated(&nest.bound(), body);
                let driver = self.driver(kind);
                Instr::Loop {
                    params: params.iter().map(|p| p.var.0 as usize).collect(),
                    inits: self.operands(inits),
                    driver,
                    body,
                }
            }
            Nest::If { cond, then, otherwise } => {
                let start = self.marked.len();
                let then = self.block(then);
                let by_then: Vec<usize> = self.marked.drain(start..).collect();
                by_then.iter().for_each(|slot| self.live[*slot] = false);
                let otherwise = self.block(otherwise);
                by_then.iter().for_each(|slot| _ = self.mark(*slot));
                Instr::If { cond: self.read(*cond), then, otherwise }
            }
        }
    }

    fn driver(&mut self, kind: &LoopKind) -> Driver {
        match kind {
            LoopKind::For { index, extent, checkpoint: _ } => {
                Driver::For { index: index.0 as usize, extent: self.read(*extent) }
            }
            // One loop deeper than the body, so that the condition never moves the state away: it is the result when it fails.
            LoopKind::While(cond) => {
                self.depth += 1;
                let cond = self.repeated(&[], cond);
                self.depth -= 1;
                Driver::While(cond)
            }
        }
    }
}
