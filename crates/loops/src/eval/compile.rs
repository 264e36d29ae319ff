//! From the tree to instructions. Registers, cells and constants get slots, one per lane; the slots
//! of a register are reused after its live range.

use std::collections::HashMap;
use std::sync::Mutex;

use lambada_prim::{Prim, Scalar, ScalarTy, Tensor};

use super::items::Kernel;
use super::{Body, Program, Range, Region, ResultSource, Slot, Translate};
use super::{lanes, slots};
use crate::{
    Function, Library, Nest, Op, Operand, Param, Reg, Release, Return, Step, Stmt, Ty, visit,
};

/// An operand of an instruction: a slot, and the distance to the slot of the next lane, 0 for a
/// broadcast.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arg {
    pub slot: u32,
    pub stride: u32,
    pub elem: ScalarTy,
}

/// The instructions; `to`, `a`, `b`, `c` … are slots, `buf` numbers a buffer, `args` begins a run
/// of operands.
#[derive(Clone, Copy, Debug)]
#[rustfmt::skip]
pub(super) enum Code {
    // The most frequent primitives, on one lane.
    Add { to: u32, a: u32, b: u32 },
    Sub { to: u32, a: u32, b: u32 },
    Mul { to: u32, a: u32, b: u32 },
    Div { to: u32, a: u32, b: u32 },
    AddInt { to: u32, a: u32, b: u32 },
    SubInt { to: u32, a: u32, b: u32 },
    MulInt { to: u32, a: u32, b: u32 },
    LtInt { to: u32, a: u32, b: u32 },
    LeInt { to: u32, a: u32, b: u32 },
    EqInt { to: u32, a: u32, b: u32 },
    Lt { to: u32, a: u32, b: u32 },
    Le { to: u32, a: u32, b: u32 },
    And { to: u32, a: u32, b: u32 },
    // All others, and all on several lanes.
    Prim { to: u32, prim: Prim, args: u32 },
    Lanes { to: u32, prim: Prim, args: u32, lanes: u16 },
    // Those on lanes with a loop, by its number.
    Loop { to: u32, number: u16, args: u32, lanes: u16 },
    Fold { to: u32, prim: Prim, elem: ScalarTy, from: u32, lanes: u16 },
    Splice { to: u32, both: [u32; 2], from: u16, lanes: u16 },
    Iota { to: u32, lanes: u16 },
    Move { to: u32, from: u32 },
    MoveLanes { to: u32, from: u32, stride: u16, lanes: u16 },
    // Memory.
    Load { to: u32, buf: u32, offset: u32 },
    LoadLanes { to: u32, buf: u32, offset: u32, lanes: u16 },
    Store { from: u32, buf: u32, offset: u32 },
    StoreLanes { from: u32, buf: u32, offset: u32, lanes: u16 },
    LoadSome { to: u32, buf: u32, offset: u32, count: u32, lanes: u16 },
    StoreSome { from: u32, buf: u32, offset: u32, count: u32, lanes: u16 },
    Gather { to: u32, buf: u32, offsets: u32, lanes: u16 },
    Scatter { from: u32, buf: u32, offsets: u32, lanes: u16 },
    Alloc { buf: u32, args: u32, count: u16 },
    View { buf: u32, base: u32, offset: u32 },
    Swap { a: u32, b: u32 },
    Copy { to: u32, from: u32, len: u32 },
    Transpose { to: u32, from: u32, args: u32 },
    Fill { buf: u32, value: u32, len: u32 },
    Enter,
    Leave {
        release: Release,
    },
    // Control. Targets are numbers of instructions.
    Jump { target: u32 },
    JumpUnless { cond: u32, target: u32 },
    /// Leaves a loop that has no first iteration.
    First { index: u32, start: u32, end: u32, target: u32 },
    /// The next iteration, if there is one; the step is in a slot.
    Next { index: u32, step: u32, end: u32, target: u32 },
    Check { cond: u32, site: u32, args: u32, count: u16 },
    // Inspections, nodes and calls. Their details stand in a list of the function, at this number.
    Kernel { number: u32 },
    Inspect { number: u32 },
    Node { to: u32, number: u32 },
    Tag { to: u32, of: u32 },
    Field { to: u32, of: u32, number: u32 },
    Open { buf: u32, of: u32, number: u32, args: u32, count: u16 },
    Call { number: u32 },
    /// Machine code.
    Region { number: u32 },
    Done,
}

/// About the most statements of a region: the translator's knowledge of one grows faster than its
/// length.
const LARGEST: usize = 2000;

/// The primitives with an instruction of their own.
type Fast = fn(u32, u32, u32) -> Code;
const FAST: &[(Prim, Fast)] = &[
    (Prim::Add, |to, a, b| Code::Add { to, a, b }),
    (Prim::Sub, |to, a, b| Code::Sub { to, a, b }),
    (Prim::Mul, |to, a, b| Code::Mul { to, a, b }),
    (Prim::Div, |to, a, b| Code::Div { to, a, b }),
    (Prim::AddInt, |to, a, b| Code::AddInt { to, a, b }),
    (Prim::SubInt, |to, a, b| Code::SubInt { to, a, b }),
    (Prim::MulInt, |to, a, b| Code::MulInt { to, a, b }),
    (Prim::LtInt, |to, a, b| Code::LtInt { to, a, b }),
    (Prim::LeInt, |to, a, b| Code::LeInt { to, a, b }),
    (Prim::EqInt, |to, a, b| Code::EqInt { to, a, b }),
    (Prim::Lt, |to, a, b| Code::Lt { to, a, b }),
    (Prim::Le, |to, a, b| Code::Le { to, a, b }),
    (Prim::And, |to, a, b| Code::And { to, a, b }),
];

pub(super) fn compile(function: &Function, mut translate: Option<&mut dyn Translate>) -> Program {
    let mut constants = Vec::new();
    let mut compile = |each: &Function| {
        let translate = translate.as_mut().map(|translate| &mut **translate as &mut dyn Translate);
        let mut compiler = Compiler::new(each, &function.library, &mut constants, translate);
        compiler.body(&each.body);
        compiler.put(Code::Done);
        let results = each.results.iter().map(|result| compiler.result(result)).collect();
        Body { results, ..compiler.program }
    };
    let entry = compile(function);
    let functions = function.library.functions.iter().map(compile).collect();
    Program {
        entry,
        functions,
        precision: function.precision,
        constants,
        regions: None,
        kept: Mutex::new(None),
    }
}

pub(super) struct Compiler<'a> {
    function: &'a Function,
    pub(super) library: &'a Library,
    pub(super) program: Body,
    /// Constant arrays of the part of the program that is compiled so far.
    constants: &'a mut Vec<u64>,
    /// By register, while it lives, and by cell: the slot of the first lane.
    pub(super) regs: Vec<u32>,
    pub(super) cells: Vec<u32>,
    literals: HashMap<(ScalarTy, u64), u32>,
    /// The ends of live ranges; and the number of statements that have begun or ended.
    live: slots::Live,
    at: usize,
    /// By number of lanes: free slots.
    free: HashMap<u16, Vec<u32>>,
    /// The maker of machine code.
    translate: Option<&'a mut dyn Translate>,
}

impl<'a> Compiler<'a> {
    fn new(
        function: &'a Function,
        library: &'a Library,
        constants: &'a mut Vec<u64>,
        translate: Option<&'a mut dyn Translate>,
    ) -> Compiler<'a> {
        let program = Body {
            name: function.name.clone(),
            code: Vec::new(),
            args: Vec::new(),
            inspections: Vec::new(),
            kernels: Vec::new(),
            calls: Vec::new(),
            new_nodes: Vec::new(),
            fields: Vec::new(),
            params: Vec::new(),
            slots: Vec::new(),
            widths: function
                .bufs
                .iter()
                .map(|(elem, _)| function.precision.bytes(*elem).into())
                .collect(),
            ranges: vec![Range::default(); function.bufs.len()],
            results: Vec::new(),
            sites: function.sites.clone(),
            origins: function.origins.clone(),
        };
        let mut compiler = Compiler {
            function,
            library,
            program,
            constants,
            regs: vec![u32::MAX; function.regs.len()],
            cells: Vec::new(),
            literals: HashMap::new(),
            live: slots::live(function),
            at: 0,
            free: HashMap::new(),
            translate,
        };
        compiler.cells = function.cells.iter().map(|(ty, _)| compiler.slots(ty.lanes)).collect();
        compiler.program.params = function.params.iter().map(|p| compiler.param(p)).collect();
        compiler
    }

    fn param(&mut self, param: &Param) -> Slot {
        match param {
            Param::Scalar(reg) => {
                Slot::Scalar(self.function.regs[reg.0 as usize].0.elem, self.bind(*reg))
            }
            Param::Buffer(buf) | Param::Owned(buf) | Param::Shared(buf) => {
                Slot::Buffer(self.function.bufs[buf.0 as usize].0, buf.0)
            }
        }
    }

    /// New slots, one per lane; their initial value does not matter.
    fn slots(&mut self, lanes: u16) -> u32 {
        let first = self.program.slots.len();
        self.program.slots.resize(first + usize::from(lanes), 0);
        first as u32
    }

    /// Slots for a register at the beginning of its live range.
    pub(super) fn bind(&mut self, reg: Reg) -> u32 {
        let lanes = self.function.regs[reg.0 as usize].0.lanes;
        let free = self.free.entry(lanes).or_default().pop();
        let first = free.unwrap_or_else(|| self.slots(lanes));
        self.regs[reg.0 as usize] = first;
        first
    }

    /// Frees the slots of the live ranges that the statement has ended.
    fn release(&mut self) {
        for reg in std::mem::take(&mut self.live.dying[self.at]) {
            let lanes = self.function.regs[reg.0 as usize].0.lanes;
            self.free.entry(lanes).or_default().push(self.regs[reg.0 as usize]);
        }
    }

    pub(super) fn put(&mut self, code: Code) {
        self.program.code.push(code);
    }

    /// The position of the next instruction.
    fn here(&self) -> u32 {
        self.program.code.len() as u32
    }

    fn body(&mut self, mut body: &[Stmt]) {
        while let Some((first, rest)) = body.split_first() {
            let region = self.translatable(body);
            if region > 0 {
                self.region(&body[..region]);
                body = &body[region..];
            } else {
                self.stmt(first);
                body = rest;
            }
        }
    }

    /// The number of leading statements that can be a region.
    fn translatable(&mut self, body: &[Stmt]) -> usize {
        let Some(translate) = self.translate.as_mut() else { return 0 };
        let (mut count, mut size) = (0, 0);
        for stmt in body {
            if size >= LARGEST || !translate.accepts(self.function, stmt) {
                break;
            }
            count += 1;
            visit(std::slice::from_ref(stmt), &mut |_| size += 1);
        }
        count
    }

    /// Compiles statements to machine code if that is worth it. They get slots, and instructions as
    /// a fallback.
    fn region(&mut self, stmts: &[Stmt]) {
        let before = self.program.code.len();
        let translate = self.translate.take();
        stmts.iter().for_each(|stmt| self.stmt(stmt));
        self.translate = translate;
        let (at, live) = (self.at, &self.live);
        let region = Region {
            function: self.function,
            stmts,
            regs: &self.regs,
            cells: &self.cells,
            lives_on: &|reg| live.last[reg.0 as usize] > at,
        };
        let translated = self.translate.as_mut().and_then(|translate| translate.region(&region));
        if let Some(number) = translated {
            self.program.code.truncate(before);
            self.put(Code::Region { number });
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.at += 1;
        match stmt {
            Stmt::Step(step) => self.step(step),
            Stmt::Nest(nest) => {
                self.nest(nest);
                self.at += 1;
            }
        }
        self.release();
    }

    fn nest(&mut self, nest: &Nest) {
        match nest {
            Nest::For { index, start, end, step, body, .. } => {
                let index = self.bind(*index);
                self.counted(index, (*start, *end, *step), |compiler| compiler.body(body))
            }
            // In order, which is one of the allowed ways.
            Nest::Parallel { index, count, body, merge } => {
                let index = self.bind(*index);
                self.counted(index, (Operand::int(0), *count, 1), |compiler| {
                    compiler.put(Code::Enter);
                    compiler.body(body);
                    compiler.body(merge);
                    compiler.put(Code::Leave { release: Release::All });
                })
            }
            Nest::While { cond, body } => {
                let top = self.here();
                self.body(&cond.before);
                let exit = self.jump_unless(cond.test);
                self.body(body);
                self.put(Code::Jump { target: top });
                self.land(exit);
            }
            Nest::If { cond, then, otherwise } => self.choice(*cond, then, otherwise),
            Nest::Scope(release, body) => {
                self.put(Code::Enter);
                self.body(body);
                self.put(Code::Leave { release: *release });
            }
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Let(reg, op) => {
                let to = self.bind(*reg);
                self.op(to, self.function.regs[reg.0 as usize].0, op)
            }
            Step::Cell(cell, value) | Step::Set(cell, value) => {
                let (to, lanes) =
                    (self.cells[cell.0 as usize], self.function.cells[cell.0 as usize].0.lanes);
                let from = self.arg(*value);
                self.move_to(to, from, lanes);
            }
            Step::Store { buf, offset, value } => self.store(buf.0, *offset, *value),
            Step::StoreSome { buf, offset, count, value } => {
                let (from, lanes) = (self.slot(*value), self.lanes(*value));
                let (offset, count) = (self.slot(*offset), self.slot(*count));
                self.put(Code::StoreSome { from, buf: buf.0, offset, count, lanes });
            }
            Step::Alloc { buf, dims } => {
                let args = self.args(dims);
                self.put(Code::Alloc { buf: buf.0, args, count: dims.len() as u16 });
            }
            Step::View { buf, base, offset } => {
                let offset = self.slot(*offset);
                self.put(Code::View { buf: buf.0, base: base.0, offset });
            }
            Step::Swap(a, b) => self.put(Code::Swap { a: a.0, b: b.0 }),
            Step::Constant(buf, tensor) => self.constant(buf.0, tensor),
            Step::Copy { to, from, len } => {
                let len = self.slot(*len);
                self.put(Code::Copy { to: to.0, from: from.0, len });
            }
            Step::Transpose { to, to_row, from, from_row, rows, cols, .. } => {
                let args = self.args(&[*to_row, *from_row, *rows, *cols]);
                self.put(Code::Transpose { to: to.0, from: from.0, args });
            }
            Step::Fill { buf, value, len } => {
                let (value, len) = (self.slot(*value), self.slot(*len));
                self.put(Code::Fill { buf: buf.0, value, len });
            }
            Step::Kernel { prim, to, args, sizes } => {
                let sizes = sizes.iter().map(|size| self.slot(*size)).collect();
                let [to, args] = [to, args].map(|bufs| bufs.iter().map(|buf| buf.0).collect());
                self.program.kernels.push(Kernel { prim: *prim, to, args, sizes });
                let number = self.program.kernels.len() as u32 - 1;
                self.put(Code::Kernel { number });
            }
            Step::Check { cond, site, values } => {
                let (args, count) = (self.args(values), values.len() as u16);
                let cond = self.slot(*cond);
                self.put(Code::Check { cond, site: *site, args, count });
            }
            Step::Inspect { number, values } => {
                let values = values.iter().map(|value| self.result(value)).collect();
                self.program.inspections.push((*number, values));
                let number = self.program.inspections.len() as u32 - 1;
                self.put(Code::Inspect { number });
            }
            Step::Node { reg, node, tag, fields, site } => {
                self.new_node(*reg, *node, *tag, fields, *site)
            }
            Step::Open { buf, field, of, dims } => self.open(*buf, *field, *of, dims),
            Step::Call { function, args, results, site } => {
                self.call(*function, args, results, *site)
            }
        }
    }

    fn op(&mut self, to: u32, ty: Ty, op: &Op) {
        let lanes = ty.lanes;
        match op {
            Op::Prim(prim, args) => self.prim(to, lanes, *prim, args),
            Op::Load(buf, place) => {
                let (buf, offset) = (buf.0, self.slot(*place));
                self.put(match (lanes, self.lanes(*place)) {
                    (1, _) => Code::Load { to, buf, offset },
                    (_, 1) => Code::LoadLanes { to, buf, offset, lanes },
                    (_, _) => Code::Gather { to, buf, offsets: offset, lanes },
                });
            }
            Op::LoadSome(buf, [offset, count]) => {
                let (offset, count) = (self.slot(*offset), self.slot(*count));
                self.put(Code::LoadSome { to, buf: buf.0, offset, count, lanes });
            }
            Op::Get(cell) => {
                let from = Arg { slot: self.cells[cell.0 as usize], stride: 1, elem: ty.elem };
                self.move_to(to, from, lanes);
            }
            Op::Fold(op, value) => {
                let (from, lanes) = (self.slot(*value), self.lanes(*value));
                self.put(Code::Fold { to, prim: op.prim(ty.elem), elem: ty.elem, from, lanes });
            }
            Op::Splice(both, from) => {
                let (both, from) = (both.map(|value| self.slot(value)), *from);
                self.put(Code::Splice { to, both, from, lanes });
            }
            Op::Iota => self.put(Code::Iota { to, lanes }),
            Op::Tag(node) => {
                let of = self.slot(*node);
                self.put(Code::Tag { to, of });
            }
            Op::Field(field, node) => {
                let (of, number) = (self.slot(*node), self.place(*field));
                self.put(Code::Field { to, of, number });
            }
        }
    }

    fn prim(&mut self, to: u32, lanes: u16, prim: Prim, args: &[Operand]) {
        let fast = FAST.iter().find(|(other, _)| *other == prim);
        let code = match (lanes, fast, args) {
            (1, Some((_, fast)), [a, b]) => fast(to, self.slot(*a), self.slot(*b)),
            (1, _, _) => Code::Prim { to, prim, args: self.args(args) },
            (_, _, _) => match lanes::number(prim, self.function.precision) {
                Some(number) => Code::Loop { to, number, args: self.args(args), lanes },
                None => Code::Lanes { to, prim, args: self.args(args), lanes },
            },
        };
        self.put(code);
    }

    fn move_to(&mut self, to: u32, from: Arg, lanes: u16) {
        self.put(match lanes {
            1 => Code::Move { to, from: from.slot },
            _ => Code::MoveLanes { to, from: from.slot, stride: from.stride as u16, lanes },
        });
    }

    fn store(&mut self, buf: u32, place: Operand, value: Operand) {
        let (offset, from, lanes) = (self.slot(place), self.slot(value), self.lanes(value));
        self.put(match (lanes, self.lanes(place)) {
            (1, _) => Code::Store { from, buf, offset },
            (_, 1) => Code::StoreLanes { from, buf, offset, lanes },
            (_, _) => Code::Scatter { from, buf, offsets: offset, lanes },
        });
    }

    fn constant(&mut self, buf: u32, tensor: &Tensor) {
        let (low, precision) = (self.constants.len(), self.function.precision);
        let word = |k| word(precision.scalar(tensor.data.get(k)));
        self.constants.extend((0..tensor.data.len()).map(word));
        self.program.ranges[buf as usize] =
            Range { low, high: self.constants.len(), origin: low as i64 };
    }

    fn counted(
        &mut self,
        index: u32,
        (start, end, step): (Operand, Operand, i64),
        body: impl FnOnce(&mut Self),
    ) {
        let (start, end, step) =
            (self.slot(start), self.slot(end), self.literal(Scalar::Int(step)));
        let first = self.here() as usize;
        self.put(Code::First { index, start, end, target: 0 });
        let top = self.here();
        body(self);
        self.put(Code::Next { index, step, end, target: top });
        self.land(first);
    }

    fn choice(&mut self, cond: Operand, then: &[Stmt], otherwise: &[Stmt]) {
        let to_otherwise = self.jump_unless(cond);
        self.body(then);
        if otherwise.is_empty() {
            return self.land(to_otherwise);
        }
        let to_end = self.here() as usize;
        self.put(Code::Jump { target: 0 });
        self.land(to_otherwise);
        self.body(otherwise);
        self.land(to_end);
    }

    fn jump_unless(&mut self, cond: Operand) -> usize {
        let cond = self.slot(cond);
        self.put(Code::JumpUnless { cond, target: 0 });
        self.here() as usize - 1
    }

    /// Makes the jump at `from` lead here.
    fn land(&mut self, from: usize) {
        let here = self.here();
        match &mut self.program.code[from] {
            Code::Jump { target }
            | Code::JumpUnless { target, .. }
            | Code::First { target, .. } => *target = here,
            other => unreachable!("{other:?} is not a jump"),
        }
    }

    pub(super) fn args(&mut self, operands: &[Operand]) -> u32 {
        let args: Vec<Arg> = operands.iter().map(|operand| self.arg(*operand)).collect();
        self.program.args.extend(args);
        (self.program.args.len() - operands.len()) as u32
    }

    fn arg(&mut self, operand: Operand) -> Arg {
        match operand {
            Operand::Reg(reg) => {
                let ty = self.function.regs[reg.0 as usize].0;
                Arg {
                    slot: self.regs[reg.0 as usize],
                    stride: u32::from(ty.lanes > 1),
                    elem: ty.elem,
                }
            }
            Operand::Lit(value) => Arg { slot: self.literal(value), stride: 0, elem: value.ty() },
        }
    }

    pub(super) fn slot(&mut self, operand: Operand) -> u32 {
        self.arg(operand).slot
    }

    fn lanes(&self, operand: Operand) -> u16 {
        match operand {
            Operand::Reg(reg) => self.function.regs[reg.0 as usize].0.lanes,
            Operand::Lit(_) => 1,
        }
    }

    fn literal(&mut self, value: Scalar) -> u32 {
        let value = self.function.precision.scalar(value);
        let slots = &mut self.program.slots;
        *self.literals.entry((value.ty(), word(value))).or_insert_with(|| {
            slots.push(word(value));
            slots.len() as u32 - 1
        })
    }

    fn result(&mut self, result: &Return) -> ResultSource {
        match result {
            Return::Scalar(value) => {
                let arg = self.arg(*value);
                ResultSource::Scalar(arg.elem, arg.slot)
            }
            Return::Buffer(buf, dims) => {
                let dims = dims.iter().map(|dim| self.slot(*dim)).collect();
                ResultSource::Buffer(self.function.bufs[buf.0 as usize].0, buf.0, dims)
            }
        }
    }
}

/// A scalar as a word of the interpreter, the bits of a real.
pub fn word(value: Scalar) -> u64 {
    match value {
        Scalar::Real(value) => value.to_bits(),
        Scalar::Int(value) => value as u64,
        Scalar::Bool(value) => u64::from(value),
    }
}

/// A word of the interpreter as a scalar.
pub fn scalar(elem: ScalarTy, word: u64) -> Scalar {
    match elem {
        ScalarTy::Real => Scalar::Real(f64::from_bits(word)),
        ScalarTy::Int => Scalar::Int(word as i64),
        ScalarTy::Bool => Scalar::Bool(word != 0),
    }
}
