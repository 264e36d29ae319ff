//! The code of the evaluator: blocks whose operands are slots. The last use of an array moves it
//! out of its slot, so that it is not shared; an `Update` of it then happens in place, and a loop
//! of n updates costs n, not n².
//!
//! Blocks that do not run at the same time share slots, so a call takes few.

use std::rc::Rc;

use lambada_graph::placed::Placed;
use lambada_prim::{ArrayPrim, Prim, Scalar, ScalarTy, Tensor};
use lambada_source::{Site, Span};

use crate::{
    Atom, Block, Exp, Function, LoopKind, Names, Nest, Op, Out, Param, Scheduled, Stm, Var,
};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Lit(Scalar),
    /// A value with later uses.
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
    /// The sizes of the bindings, one list per binding.
    pub(crate) dims: Vec<Vec<Operand>>,
    /// The places in the program that the bindings come from, or else an operand.
    pub(crate) spans: Vec<Span>,
    pub(crate) op: Instr,
    /// Arrays that are dead after it.
    pub(crate) frees: Vec<usize>,
}

#[derive(Debug)]
pub(crate) enum Driver {
    For { index: usize, extent: Operand },
    While(Code),
}

/// A placed program with its operands.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) placed: Rc<Placed>,
    pub(crate) inputs: Vec<Operand>,
    pub(crate) added: Vec<usize>,
    pub(crate) when: Operand,
    /// Whether the last output is the validity of the others.
    pub(crate) is_checked: bool,
    /// Whether the kernel has no binding for its validity.
    pub(crate) is_total: bool,
}

#[derive(Debug)]
pub(crate) enum Instr {
    Prim(Prim, Vec<Operand>),
    Index(usize, Vec<Operand>),
    Fill(Operand),
    Array(Vec<Operand>),
    Constant(Rc<Tensor>),
    Concat(Vec<usize>),
    Kernel(Kernel),
    For {
        index: usize,
        extent: Operand,
        outs: Vec<(Out, ScalarTy)>,
        body: Code,
        /// Whether the nodes that an iteration makes are dead afterwards.
        releases: bool,
    },
    Loop {
        params: Vec<usize>,
        inits: Vec<Operand>,
        driver: Driver,
        body: Code,
        releases: bool,
    },
    If {
        cond: Operand,
        then: Code,
        otherwise: Code,
    },
    Update {
        array: Operand,
        index: Vec<Operand>,
        value: Operand,
    },
    ArrayPrim(ArrayPrim, Vec<usize>),
    Accumulator(Operand),
    Accumulate {
        acc: usize,
        index: Vec<Operand>,
        value: Operand,
    },
    Freeze(usize),
    Check {
        cond: Operand,
        site: Site,
        values: Vec<Operand>,
    },
    Inspect {
        number: u32,
        values: Vec<Operand>,
    },
    Call {
        function: usize,
        args: Vec<Operand>,
        accumulators: Vec<usize>,
        releases: bool,
    },
    Node {
        tag: u32,
        fields: Vec<Operand>,
    },
    Tag(Operand),
    /// A field or a cell: its number, and the type of its elements.
    Field {
        of: Operand,
        tag: u32,
        field: u32,
        elem: ScalarTy,
    },
    Open {
        of: Operand,
        tag: u32,
        field: u32,
    },
}

/// The code of a function.
#[derive(Debug)]
pub(crate) struct Routine {
    pub(crate) code: Code,
    /// The number of slots of a call.
    pub(crate) slots: usize,
    /// The slots of the parameters, and their sizes.
    pub(crate) params: Vec<(usize, Vec<Operand>)>,
    /// The slots of the accumulators of its caller.
    pub(crate) accumulators: Vec<usize>,
}

/// The code of a program.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) entry: Routine,
    /// The functions of its library; `None` for one under construction.
    pub(crate) functions: Vec<Option<Routine>>,
}

/// The code of a program.
pub(crate) fn compile(function: &Function) -> Program {
    let functions = function.library.functions.iter();
    Program {
        entry: routine(function),
        functions: functions.map(|f| f.as_ref().map(routine)).collect(),
    }
}

fn routine(function: &Function) -> Routine {
    let count = function.names.len();
    let slots = Slots::new(function);
    let mut compiler = Compiler {
        names: &function.names,
        slots: &slots.of,
        depth: 0,
        depth_of: vec![0; count],
        is_array: vec![false; count],
        live: vec![false; count],
        marked: Vec::new(),
    };
    compiler.arrays(&function.params);
    let code = compiler.block(&function.body);
    let place = |var: Var| slots.of[var.0 as usize];
    let size = |dim: &Atom| match dim {
        Atom::Lit(value) => Operand::Lit(*value),
        Atom::Var(var) => Operand::Copy(place(*var)),
    };
    let param = |p: &Param| (place(p.var), p.ty.dims.iter().map(size).collect());
    Routine {
        code,
        slots: slots.count,
        params: function.params.iter().map(param).collect(),
        accumulators: function.accumulators.iter().map(|p| place(p.var)).collect(),
    }
}

/// The slot of each variable. The bindings of a statement have other slots than its blocks; its
/// blocks share theirs.
struct Slots {
    of: Vec<usize>,
    next: usize,
    count: usize,
}

impl Slots {
    fn new(function: &Function) -> Slots {
        let mut slots = Slots { of: vec![0; function.names.len()], next: 0, count: 0 };
        function.sizes.iter().for_each(|size| slots.give(*size));
        let given = function.params.iter().chain(&function.accumulators);
        given.for_each(|p| slots.give(p.var));
        slots.block(&function.body);
        slots
    }

    fn give(&mut self, var: Var) {
        self.of[var.0 as usize] = self.next;
        self.next += 1;
        self.count = self.count.max(self.next);
    }

    fn block(&mut self, block: &Block) {
        for stm in &block.stms {
            stm.binds.iter().for_each(|p| self.give(p.var));
            let outside = self.next;
            stm.exp.bound().into_iter().for_each(|var| self.give(var));
            let inside = self.next;
            for inner in stm.exp.blocks() {
                self.next = inside;
                self.block(inner);
            }
            self.next = outside;
        }
    }
}

/// Walks from the last statement to the first; `live` has the variables with later uses.
struct Compiler<'a> {
    names: &'a Names,
    slots: &'a [usize],
    /// The number of loops around the current block.
    depth: u32,
    /// The number of loops around the binding of each variable: only a use at the same depth can be
    /// the last one.
    depth_of: Vec<u32>,
    /// By variable: whether it is an array, and not an accumulator.
    is_array: Vec<bool>,
    live: Vec<bool>,
    /// The variables that have become live, in order, so that the branches of an `if` can start
    /// from the same state.
    marked: Vec<usize>,
}

impl Compiler<'_> {
    fn place(&self, var: Var) -> usize {
        self.slots[var.0 as usize]
    }

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
            if !matches!(stm.exp, Exp::Op(Op::Accumulator(_) | Op::Open { .. })) {
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

    fn mark(&mut self, var: usize) -> bool {
        let was = std::mem::replace(&mut self.live[var], true);
        if !was {
            self.marked.push(var);
        }
        was
    }

    fn operand(&mut self, atom: Atom) -> Operand {
        match atom {
            Atom::Lit(value) => Operand::Lit(value),
            Atom::Var(var) => {
                let used_later = self.mark(var.0 as usize);
                if used_later || self.depth_of[var.0 as usize] != self.depth {
                    Operand::Copy(self.place(var))
                } else {
                    Operand::Move(self.place(var))
                }
            }
        }
    }

    /// An operand that is only read.
    fn read(&mut self, atom: Atom) -> Operand {
        match atom {
            Atom::Lit(value) => Operand::Lit(value),
            Atom::Var(var) => Operand::Copy(self.slot(var)),
        }
    }

    fn slot(&mut self, var: Var) -> usize {
        self.mark(var.0 as usize);
        self.place(var)
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
        let binds: Vec<usize> = stm.binds.iter().map(|p| self.place(p.var)).collect();
        let vars = stm.binds.iter().map(|p| p.var.0 as usize);
        let unused: Vec<usize> = vars.filter(|var| !self.live[*var]).collect();
        let start = self.marked.len();
        let op = self.op(stm);
        let last_used = self.marked[start..].iter().copied();
        let freed = last_used.chain(unused).filter(|var| self.freed_here(*var));
        let frees = freed.map(|var| self.slots[var]).collect();
        Step { binds, dims, spans: self.spans(stm), op, frees }
    }

    /// The place of each binding. A statement without bindings has the place of an operand.
    fn spans(&self, stm: &Stm) -> Vec<Span> {
        let origin = |var: Var| self.names.origin(var).unwrap_or_default();
        if stm.binds.is_empty() {
            let mut found = Span::default();
            stm.exp.atoms(&mut |a| {
                if let (Atom::Var(var), true) = (a, found == Span::default()) {
                    found = origin(var);
                }
            });
            return vec![found];
        }
        stm.binds.iter().map(|p| origin(p.var)).collect()
    }

    /// Whether a variable is an array that each run of the current block makes anew.
    fn freed_here(&self, var: usize) -> bool {
        self.is_array[var] && self.depth_of[var] == self.depth
    }

    fn op(&mut self, stm: &Stm) -> Instr {
        match &stm.exp {
            Exp::Op(op) => self.flat(stm, op),
            Exp::Nest(nest) => self.nest(stm, nest),
        }
    }

    fn flat(&mut self, stm: &Stm, op: &Op) -> Instr {
        match op {
            Op::Prim(op, args) => Instr::Prim(*op, self.reads(args)),
            Op::Index(x, index) => Instr::Index(self.slot(*x), self.reads(index)),
            Op::Fill(value) => Instr::Fill(self.read(*value)),
            Op::Array(items) => Instr::Array(self.reads(items)),
            Op::Constant(tensor) => Instr::Constant(tensor.clone()),
            Op::Scheduled(Scheduled::Concat(parts)) => {
                Instr::Concat(parts.iter().map(|part| self.slot(*part)).collect())
            }
            Op::Scheduled(Scheduled::Kernel(kernel)) => Instr::Kernel(Kernel {
                placed: kernel.placed.clone(),
                inputs: (kernel.inputs.iter())
                    .map(|var| match kernel.added.contains(var) {
                        true => Operand::Copy(self.place(*var)),
                        false => self.read((*var).into()),
                    })
                    .collect(),
                added: kernel.added.iter().map(|acc| self.place(*acc)).collect(),
                when: self.read(kernel.when),
                is_checked: kernel.checked,
                is_total: kernel.is_total(),
            }),
            Op::Update { array, index, value } => {
                let array = self.operand((*array).into());
                Instr::Update { array, index: self.reads(index), value: self.read(*value) }
            }
            Op::ArrayPrim(prim, args) => {
                Instr::ArrayPrim(*prim, args.iter().map(|arg| self.slot(*arg)).collect())
            }
            Op::Accumulator(value) => Instr::Accumulator(self.operand(*value)),
            Op::Accumulate { acc, index, value } => Instr::Accumulate {
                acc: self.place(*acc),
                index: self.reads(index),
                value: self.read(*value),
            },
            Op::Freeze(acc) => Instr::Freeze(self.place(*acc)),
            Op::Check { cond, site, values } => Instr::Check {
                cond: self.read(*cond),
                site: site.clone(),
                values: self.reads(values),
            },
            Op::Inspect { number, label: _, values } => {
                Instr::Inspect { number: *number, values: self.reads(values) }
            }
            Op::Call { function, args, accumulators } => Instr::Call {
                function: function.0 as usize,
                accumulators: accumulators.iter().map(|acc| self.place(*acc)).collect(),
                args: self.operands(args),
                releases: releases(&stm.binds),
            },
            Op::Node { tag, fields, .. } => {
                Instr::Node { tag: *tag, fields: self.operands(fields) }
            }
            Op::Tag(of) => Instr::Tag(self.read(*of)),
            Op::Field { of, tag, field } | Op::Cell { of, tag, field } => Instr::Field {
                of: self.read(*of),
                tag: *tag,
                field: *field,
                elem: stm.binds[0].ty.elem.scalar(),
            },
            Op::Open { of, tag, field } => {
                Instr::Open { of: self.read(*of), tag: *tag, field: *field }
            }
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
                Instr::For {
                    index: self.place(*index),
                    extent: self.read(*extent),
                    outs,
                    body,
                    releases: releases(&stm.binds),
                }
            }
            Nest::Loop { params, inits, kind, body } => {
                self.arrays(params);
                let body = self.repeated(&nest.bound(), body);
                let driver = self.driver(kind);
                Instr::Loop {
                    params: params.iter().map(|p| self.place(p.var)).collect(),
                    releases: releases(params),
                    inits: self.operands(inits),
                    driver,
                    body,
                }
            }
            Nest::If { cond, then, otherwise } => {
                let start = self.marked.len();
                let then = self.block(then);
                let by_then: Vec<usize> = self.marked.drain(start..).collect();
                by_then.iter().for_each(|var| self.live[*var] = false);
                let otherwise = self.block(otherwise);
                by_then.iter().for_each(|var| _ = self.mark(*var));
                Instr::If { cond: self.read(*cond), then, otherwise }
            }
        }
    }

    fn driver(&mut self, kind: &LoopKind) -> Driver {
        match kind {
            LoopKind::For { index, extent, checkpoint: _ } => {
                Driver::For { index: self.place(*index), extent: self.read(*extent) }
            }
            // The condition is one loop deeper than the body, so that it never moves the state
            // away: the state is the result when the condition fails.
            LoopKind::While(cond) => {
                self.depth += 1;
                let cond = self.repeated(&[], cond);
                self.depth -= 1;
                Driver::While(cond)
            }
        }
    }
}

/// Whether no value holds a node.
fn releases(values: &[Param]) -> bool {
    values.iter().all(|p| p.ty.elem.node().is_none())
}
