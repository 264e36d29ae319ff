//! From statements to instructions.
//!
//! A register whose only use comes soon is *late*: its instruction is part of the one that uses it. So a product becomes part of a sum, a load an operand in memory,
//! a comparison a branch. A register that is the value of a cell stands for the cell (it is an *alias*) until that is set; the new value of a cell is computed
//! where the cell is.

use std::collections::HashMap;

use lambada_loops::{Buf, Cell, Nest, Op, Operand, Reg, Region, Step, Stmt, Ty};
use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy};

use crate::assembler::{self as asm, Alu, Condition, Fused, Vex};
use crate::code::{Address, Class, Form, Inst, Listing, Source, Test, Value, Virtual};
use crate::LANES;
use crate::facts::{Facts, Use};
use crate::helpers::{self, Called};
use crate::math;

/// Predicates of [`asm::COMPARE`], which are false where a number is NaN, but for the last two.
const EQUAL: u8 = 0x00;
const LESS: u8 = 0x11;
const LESS_OR_EQUAL: u8 = 0x12;
const UNORDERED: u8 = 0x03;
const NOT_EQUAL: u8 = 0x04;

/// A register whose instruction has not been written.
#[derive(Clone, Copy, Debug)]
enum Late {
    Product(Operand, Operand),
    /// Of lanes.
    Load(Buf, Operand),
    Compare(Prim, Operand, Operand),
    /// A register and a constant.
    Offset(Reg, i32),
}

pub(crate) struct Selector<'a> {
    region: &'a Region<'a>,
    facts: Facts,
    pub(crate) code: Listing,
    regs: HashMap<Reg, Virtual>,
    cells: HashMap<Cell, Virtual>,
    bufs: HashMap<Buf, Virtual>,
    late: HashMap<Reg, Late>,
    /// By cell: the registers that stand for it.
    aliases: HashMap<Cell, Vec<Reg>>,
    /// By register that the region binds: how many uses are still to come.
    remaining: HashMap<Reg, u32>,
    constants: HashMap<[u64; 4], u32>,
    /// How many instructions the loops inside of the open loop have.
    inner: usize,
    /// May products and sums be fused?
    contract: bool,
}

/// The instructions of a region. May products and sums be fused?
pub(crate) fn select(region: &Region, facts: Facts, contract: bool) -> Listing {
    let remaining = facts.regs.iter().map(|(reg, known)| (*reg, known.uses)).collect();
    let mut selector = Selector {
        region,
        facts,
        code: Listing::default(),
        regs: HashMap::new(),
        cells: HashMap::new(),
        bufs: HashMap::new(),
        late: HashMap::new(),
        aliases: HashMap::new(),
        remaining,
        constants: HashMap::new(),
        inner: 0,
        contract,
    };
    selector.enter();
    selector.body(region.stmts.iter());
    selector.leave();
    selector.code
}

impl Selector<'_> {
    /// Reads what comes from outside.
    fn enter(&mut self) {
        for reg in self.facts.regs_in.clone() {
            let to = self.new_virtual(self.ty(reg));
            let (slot, form) = (self.region.regs[reg.0 as usize], form(self.ty(reg)));
            self.put(Inst::ReadSlot { to, slot, form });
            self.regs.insert(reg, to);
        }
        for cell in self.facts.cells_in.clone() {
            let to = self.cell(cell);
            let (slot, form) = (self.region.cells[cell.0 as usize], form(self.cell_ty(cell)));
            self.put(Inst::ReadSlot { to, slot, form });
        }
        for buf in self.facts.bufs_in.clone() {
            self.buffer(buf);
        }
    }

    /// The address of a buffer that the interpreter knows.
    fn buffer(&mut self, buf: Buf) {
        let to = self.new_address(buf);
        self.put(Inst::Buffer { to, number: buf.0 });
    }

    /// A place for the address of a buffer.
    fn new_address(&mut self, buf: Buf) -> Virtual {
        // A buffer that is made in a loop has one place.
        let known = self.bufs.get(&buf).copied();
        known.unwrap_or_else(|| {
            let to = self.word();
            self.code.addresses.push(to);
            self.bufs.insert(buf, to);
            to
        })
    }

    /// Writes what may be known behind.
    fn leave(&mut self) {
        for reg in self.facts.regs_out.clone() {
            let from = self.operand(Operand::Reg(reg));
            let (slot, form) = (self.region.regs[reg.0 as usize], form(self.ty(reg)));
            self.put(Inst::WriteSlot { from, slot, form });
        }
        for cell in self.facts.cells_out.clone() {
            let from = self.cell(cell);
            let (slot, form) = (self.region.cells[cell.0 as usize], form(self.cell_ty(cell)));
            self.put(Inst::WriteSlot { from, slot, form });
        }
    }

    pub(crate) fn put(&mut self, inst: Inst) {
        self.code.put(inst);
    }

    fn ty(&self, reg: Reg) -> Ty {
        self.region.function.regs[reg.0 as usize].0
    }

    fn cell_ty(&self, cell: Cell) -> Ty {
        self.region.function.cells[cell.0 as usize].0
    }

    fn operand_ty(&self, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(reg) => self.ty(reg),
            Operand::Lit(value) => Ty::scalar(value.ty()),
        }
    }

    fn new_virtual(&mut self, ty: Ty) -> Virtual {
        self.code.new_virtual(class(ty))
    }

    pub(crate) fn vector(&mut self) -> Virtual {
        self.code.new_virtual(Class::Vector)
    }

    pub(crate) fn word(&mut self) -> Virtual {
        self.code.new_virtual(Class::Word)
    }

    fn cell(&mut self, cell: Cell) -> Virtual {
        if let Some(known) = self.cells.get(&cell) {
            return *known;
        }
        let new = self.new_virtual(self.cell_ty(cell));
        self.cells.insert(cell, new);
        new
    }

    /// A constant in all lanes.
    pub(crate) fn constant(&mut self, word: u64) -> Source {
        self.constant_lanes([word; 4])
    }

    fn constant_lanes(&mut self, words: [u64; 4]) -> Source {
        let constants = &mut self.code.constants;
        let number = *self.constants.entry(words).or_insert_with(|| {
            constants.push(words);
            constants.len() as u32 - 1
        });
        Source::Constant(number)
    }

    // Bodies.

    fn body<'s>(&mut self, stmts: impl Iterator<Item = &'s Stmt>) {
        for stmt in stmts {
            match stmt {
                Stmt::Step(step) => self.step(step),
                Stmt::Nest(nest) => self.nest(nest),
            }
        }
    }

    /// Writes what is late, and gives registers that stand for cells places of their own: before other bodies.
    fn settle(&mut self) {
        let mut late: Vec<Reg> = self.late.keys().copied().collect();
        late.sort_unstable();
        late.into_iter().for_each(|reg| self.write_late(reg));
        let cells: Vec<Cell> = self.aliases.keys().copied().collect();
        cells.into_iter().for_each(|cell| self.settle_cell(cell));
    }

    /// Registers that stand for the cell get places of their own, where they are still used.
    fn settle_cell(&mut self, cell: Cell) {
        for reg in self.aliases.remove(&cell).unwrap_or_default() {
            if self.remaining.get(&reg).is_some_and(|uses| *uses > 0) {
                let to = self.new_virtual(self.ty(reg));
                self.copy(to, self.regs[&reg]);
                self.regs.insert(reg, to);
            }
        }
    }

    pub(crate) fn copy(&mut self, to: Virtual, from: Virtual) {
        self.put(match self.code.class(to) {
            Class::Word => Inst::Copy { to, from: Value::Virtual(from) },
            Class::Vector => unary(asm::LOAD, to, Source::Virtual(from)),
        });
    }

    fn nest(&mut self, nest: &Nest) {
        match nest {
            Nest::If { cond, then, otherwise } => {
                let test = self.test(*cond);
                self.settle();
                let (to_otherwise, to_end) = (self.code.label(), self.code.label());
                self.put(Inst::Unless { test, to: to_otherwise });
                self.body(then.iter());
                if !otherwise.is_empty() {
                    self.put(Inst::Jump(to_end));
                }
                self.put(Inst::Bind(to_otherwise));
                self.body(otherwise.iter());
                self.put(Inst::Bind(to_end));
            }
            Nest::For { index, start, end, step, body, .. } => {
                let [start, end] = [*start, *end].map(|operand| self.value(operand));
                self.counted(*index, (start, end), *step, |selector| selector.body(body.iter()));
            }
            // In order, which is one of the ways.
            Nest::Parallel { index, count, body, merge } => {
                let ends = (Value::Constant(0), self.value(*count));
                self.counted(*index, ends, 1, |selector| {
                    selector.scope(body.iter().chain(merge));
                });
            }
            Nest::While { cond, body } => {
                self.settle();
                let (top, exit) = (self.code.label(), self.code.label());
                let around = self.enter_loop(top);
                self.body(cond.before.iter());
                let test = self.test(cond.test);
                self.settle();
                self.put(Inst::Unless { test, to: exit });
                self.body(body.iter());
                self.settle();
                self.poll(around);
                self.put(Inst::Jump(top));
                self.put(Inst::Leave);
                self.put(Inst::Bind(exit));
            }
            Nest::Scope(body) => {
                self.settle();
                self.scope(body.iter());
            }
        }
    }

    /// A loop begins. Gives where, and how many instructions of inner loops there are around so far.
    fn enter_loop(&mut self, top: asm::Label) -> (usize, usize) {
        self.put(Inst::Enter);
        self.put(Inst::Bind(top));
        (self.code.insts.len(), std::mem::take(&mut self.inner))
    }

    /// An iteration ends, which has taken as many instructions as the loop has, but for inner loops, which have their own.
    fn poll(&mut self, (first, around): (usize, usize)) {
        let length = self.code.insts.len() - first;
        let work = i32::try_from(length - self.inner + 1).unwrap_or(i32::MAX);
        self.inner = around + length;
        self.put(Inst::Poll { work });
    }

    /// Statements after which the arena is as it was before.
    fn scope<'s>(&mut self, stmts: impl Iterator<Item = &'s Stmt> + Clone) {
        let mut allocates = false;
        stmts.clone().for_each(|stmt| {
            let mut note = |stmt: &Stmt| {
                allocates |= matches!(stmt, Stmt::Step(Step::Alloc { .. }));
            };
            lambada_loops::visit(std::slice::from_ref(stmt), &mut note);
        });
        let mark = allocates.then(|| {
            let to = self.word();
            self.put(Inst::Mark { to });
            to
        });
        self.body(stmts);
        self.settle();
        if let Some(from) = mark {
            self.put(Inst::Release { from });
        }
    }

    fn counted(
        &mut self,
        reg: Reg,
        (start, end): (Value, Value),
        step: i64,
        body: impl FnOnce(&mut Self),
    ) {
        self.settle();
        let (index, top, exit) = (self.word(), self.code.label(), self.code.label());
        self.regs.insert(reg, index);
        self.put(Inst::Copy { to: index, from: start });
        self.put(Inst::Unless { test: Test::Ints(Condition::Less, index, end), to: exit });
        let around = self.enter_loop(top);
        body(self);
        self.settle();
        self.poll(around);
        let step = i32::try_from(step).expect("others are not accepted");
        self.put(Inst::Next { index, step, end, top });
        self.put(Inst::Leave);
        self.put(Inst::Bind(exit));
    }

    // Operands.

    /// One use less is to come.
    fn used(&mut self, reg: Reg) {
        if let Some(uses) = self.remaining.get_mut(&reg) {
            *uses -= 1;
        }
    }

    /// The place of an operand, whatever its class.
    fn operand(&mut self, operand: Operand) -> Virtual {
        match class(self.operand_ty(operand)) {
            Class::Word => self.word_of(operand),
            Class::Vector => self.vector_of(operand),
        }
    }

    /// A scalar that is no real.
    fn value(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Lit(Scalar::Int(value)) => Value::Constant(value),
            Operand::Lit(Scalar::Bool(value)) => Value::Constant(i64::from(value)),
            Operand::Lit(Scalar::Real(_)) => unreachable!("reals are in vectors"),
            Operand::Reg(reg) => {
                self.write_late(reg);
                self.used(reg);
                Value::Virtual(self.regs[&reg])
            }
        }
    }

    fn word_of(&mut self, operand: Operand) -> Virtual {
        match self.value(operand) {
            Value::Virtual(v) => v,
            from @ Value::Constant(_) => {
                let to = self.word();
                self.put(Inst::Copy { to, from });
                to
            }
        }
    }

    /// An operand of an instruction on lanes, or on reals.
    fn source(&mut self, operand: Operand) -> Source {
        let reg = match operand {
            Operand::Lit(Scalar::Real(value)) => return self.constant(value.to_bits()),
            Operand::Lit(Scalar::Int(value)) => return self.constant(value as u64),
            Operand::Lit(Scalar::Bool(value)) => return self.constant(mask(value)),
            Operand::Reg(reg) => reg,
        };
        if let Some(Late::Load(buf, offset)) = self.late.get(&reg).copied() {
            self.late.remove(&reg);
            self.used(reg);
            return Source::Memory(self.address(buf, offset));
        }
        let ty = self.ty(reg);
        if class(ty) == Class::Vector {
            self.write_late(reg);
            self.used(reg);
            return Source::Virtual(self.regs[&reg]);
        }
        let word = self.word_of(operand);
        Source::Virtual(self.spread(word, ty.elem))
    }

    /// A word in all lanes; a truth value as a mask.
    fn spread(&mut self, from: Virtual, elem: ScalarTy) -> Virtual {
        let to = self.vector();
        self.put(Inst::Spread { to, from });
        match elem {
            ScalarTy::Bool => self.negated(to),
            ScalarTy::Int | ScalarTy::Real => to,
        }
    }

    /// 0 - x on all lanes: from words 0 and 1 to masks.
    fn negated(&mut self, from: Virtual) -> Virtual {
        let zero = self.constant(0);
        let zero = self.in_register(zero);
        self.on_lanes(asm::SUB_INT, zero, Source::Virtual(from))
    }

    fn vector_of(&mut self, operand: Operand) -> Virtual {
        let source = self.source(operand);
        self.in_register(source)
    }

    pub(crate) fn in_register(&mut self, source: Source) -> Virtual {
        match source {
            Source::Virtual(v) => v,
            Source::Memory(_) | Source::Constant(_) => {
                let to = self.vector();
                self.put(unary(asm::LOAD, to, source));
                to
            }
        }
    }

    /// A new vector: op(a, b).
    pub(crate) fn on_lanes(&mut self, op: Vex, a: Virtual, b: Source) -> Virtual {
        let to = self.vector();
        self.put(binary(op, to, a, b));
        to
    }

    fn address(&mut self, buf: Buf, offset: Operand) -> Address {
        let base = self.bufs[&buf];
        let of = |index, displacement| Address { base, index: Some(index), displacement };
        let bytes = |elements: i64| i32::try_from(elements.checked_mul(8)?).ok();
        match offset {
            Operand::Lit(Scalar::Int(elements)) if bytes(elements).is_some() => {
                let displacement = bytes(elements).expect("it is there");
                Address { base, index: None, displacement }
            }
            Operand::Reg(reg) => {
                if let Some(Late::Offset(from, displacement)) = self.late.get(&reg).copied() {
                    self.late.remove(&reg);
                    self.used(reg);
                    return of(self.word_of(from.into()), displacement);
                }
                of(self.word_of(offset), 0)
            }
            Operand::Lit(_) => of(self.word_of(offset), 0),
        }
    }

    /// What a branch, or a selection of words, depends on.
    fn test(&mut self, operand: Operand) -> Test {
        let Operand::Reg(reg) = operand else { return Test::True(self.word_of(operand)) };
        let Some(Late::Compare(prim, a, b)) = self.late.get(&reg).copied() else {
            return Test::True(self.word_of(operand));
        };
        self.late.remove(&reg);
        self.used(reg);
        self.compared(prim, a, b)
    }

    fn compared(&mut self, prim: Prim, a: Operand, b: Operand) -> Test {
        match prim {
            Prim::Lt | Prim::Le => {
                let [a, b] = [a, b].map(|operand| self.vector_of(operand));
                Test::Less { a, b, strict: prim == Prim::Lt }
            }
            _ => {
                let a = self.word_of(a);
                Test::Ints(condition(prim), a, self.value(b))
            }
        }
    }

    // Late registers.

    /// Writes the instruction of a register, if it is late.
    fn write_late(&mut self, reg: Reg) {
        let Some(late) = self.late.remove(&reg) else { return };
        match late {
            Late::Product(a, b) => {
                let (a, b) = self.commuted(a, b);
                let to = self.target(reg);
                self.put(binary(asm::MUL, to, a, b));
            }
            Late::Load(buf, offset) => {
                let from = self.address(buf, offset);
                let to = self.target(reg);
                self.put(unary(asm::LOAD, to, Source::Memory(from)));
            }
            Late::Compare(prim, a, b) => {
                let test = self.compared(prim, a, b);
                let to = self.target(reg);
                self.put(Inst::Set { to, test });
            }
            Late::Offset(from, bytes) => {
                let a = self.word_of(from.into());
                let to = self.target(reg);
                let b = Value::Constant(i64::from(bytes / 8));
                self.put(Inst::Arithmetic { op: Alu::Add, to, a, b });
            }
        }
    }

    /// Writes all loads that are late, since what they read may change.
    fn write_loads(&mut self) {
        let is_load = |late: &Late| matches!(late, Late::Load(..));
        let loads = self.late.iter().filter(|(_, late)| is_load(late));
        let mut loads: Vec<Reg> = loads.map(|(reg, _)| *reg).collect();
        loads.sort_unstable();
        loads.into_iter().for_each(|reg| self.write_late(reg));
    }

    /// Where a register is computed: in the cell that it is for, if nobody needs the old value. All operands have been taken.
    fn target(&mut self, reg: Reg) -> Virtual {
        if let Some(Use::Set(cell)) = self.facts.only_use(reg) {
            let needed = |alias: &Reg| self.remaining.get(alias).is_some_and(|uses| *uses > 0);
            if !self.aliases.get(&cell).is_some_and(|aliases| aliases.iter().any(needed)) {
                let to = self.cell(cell);
                self.regs.insert(reg, to);
                return to;
            }
        }
        let to = self.new_virtual(self.ty(reg));
        self.regs.insert(reg, to);
        to
    }

    // Statements without bodies.

    fn step(&mut self, step: &Step) {
        match step {
            Step::Let(reg, op) => self.bind(*reg, op),
            Step::Cell(cell, value) => {
                self.settle_cell(*cell);
                self.set(*cell, *value);
            }
            Step::Set(cell, value) => {
                if let Operand::Reg(reg) = value
                    && self.regs.get(reg) == self.cells.get(cell)
                    && !self.late.contains_key(reg)
                {
                    return self.used(*reg);
                }
                self.set(*cell, *value);
            }
            Step::Store { buf, offset, value } => self.store(*buf, *offset, *value),
            Step::StoreSome { buf, offset, count, value } => {
                let from = self.stored(*value);
                let count = self.vector_of(*count);
                let iota = self.iota();
                let mask = self.on_lanes(asm::GREATER_INT, count, iota);
                let to = self.address(*buf, *offset);
                self.write_loads();
                self.put(Inst::StoreMasked { to, from, mask });
            }
            Step::View { buf, base, offset } => {
                let of = self.address(*base, *offset);
                let to = self.new_address(*buf);
                self.put(Inst::AddressOf { to, of });
            }
            Step::Alloc { buf, dims } => {
                let sizes = dims.iter().map(|dim| self.value(*dim)).collect();
                self.put(Inst::Alloc { number: buf.0, sizes });
                self.buffer(*buf);
            }
            Step::Swap(a, b) => {
                self.write_loads();
                self.put(Inst::Swap { a: self.bufs[a], b: self.bufs[b] });
                self.put(Inst::Exchange { a: a.0, b: b.0 });
            }
            // It has a place before the program runs.
            Step::Constant(..) => {}
            Step::Copy { to, from, len } => {
                self.write_loads();
                let args = [self.bufs[to], self.bufs[from], self.word_of(*len)];
                self.call(helpers::COPY, 0, &args);
            }
            Step::Fill { buf, value, len } => {
                self.write_loads();
                let args = [self.bufs[buf], self.operand(*value), self.word_of(*len)];
                self.call(helpers::FILL, 0, &args);
            }
            Step::Check { cond, site, values } => {
                let test = self.test(*cond);
                let values: Vec<Value> = values.iter().map(|value| self.value(*value)).collect();
                let number = self.code.sites.len() as u32;
                self.code.sites.push((*site, values.len()));
                self.code.values = self.code.values.max(values.len());
                self.put(Inst::Check { test, number, values });
            }
            Step::Kernel { .. }
            | Step::Inspect { .. }
            | Step::Node { .. }
            | Step::Open { .. }
            | Step::Call { .. } => unreachable!("{step:?} is not accepted"),
        }
    }

    fn set(&mut self, cell: Cell, value: Operand) {
        let ty = self.cell_ty(cell);
        if class(ty) == Class::Word {
            let from = self.value(value);
            self.settle_cell(cell);
            let to = self.cell(cell);
            return self.put(Inst::Copy { to, from });
        }
        let from = self.source(value);
        self.settle_cell(cell);
        let to = self.cell(cell);
        self.put(unary(asm::LOAD, to, from));
    }

    /// A vector as it is in memory: truth values as words.
    fn stored(&mut self, value: Operand) -> Virtual {
        let from = self.vector_of(value);
        match self.operand_ty(value).elem {
            ScalarTy::Bool => self.ones(from),
            ScalarTy::Real | ScalarTy::Int => from,
        }
    }

    /// From masks to words 0 and 1.
    fn ones(&mut self, from: Virtual) -> Virtual {
        let to = self.vector();
        self.put(Inst::ShiftLanes { left: false, to, from, by: 63 });
        to
    }

    fn store(&mut self, buf: Buf, offset: Operand, value: Operand) {
        let (ty, lanes) = (self.operand_ty(value), self.operand_ty(offset).lanes);
        if ty.lanes == 1 && lanes == 1 {
            if ty.elem == ScalarTy::Real {
                let from = self.vector_of(value);
                let to = self.address(buf, offset);
                self.write_loads();
                return self.put(Inst::StoreLow { to, from });
            }
            let from = self.value(value);
            let to = self.address(buf, offset);
            self.write_loads();
            return self.put(Inst::Store { to, from });
        }
        let from = self.stored(value);
        if lanes == 1 {
            let to = self.address(buf, offset);
            self.write_loads();
            return self.put(Inst::StoreVector { to, from });
        }
        let offsets = self.vector_of(offset);
        self.write_loads();
        let to = Address { base: self.bufs[&buf], index: None, displacement: 0 };
        self.put(Inst::Scatter { to, from, offsets });
    }

    fn bind(&mut self, reg: Reg, op: &Op) {
        let ty = self.ty(reg);
        match op {
            Op::Prim(prim, args) => self.prim(reg, *prim, args),
            Op::Load(buf, offset) => self.load(reg, *buf, *offset),
            Op::LoadSome(buf, [offset, count]) => {
                let count = self.value(*count);
                let last = self.word();
                let first = match count {
                    Value::Virtual(a) => a,
                    Value::Constant(_) => {
                        let to = self.word();
                        self.put(Inst::Copy { to, from: count });
                        to
                    }
                };
                let b = Value::Constant(-1);
                self.put(Inst::Arithmetic { op: Alu::Add, to: last, a: first, b });
                let [count, last] = [first, last].map(|word| self.spread(word, ScalarTy::Int));
                let zero = self.constant(0);
                let mask = self.on_lanes(asm::GREATER_INT, count, zero);
                let iota = self.iota();
                let iota = self.in_register(iota);
                let offsets = self.least(iota, last);
                let from = self.address(*buf, *offset);
                self.gather(reg, from, offsets, Some(mask));
            }
            Op::Get(cell) => {
                let from = self.cell(*cell);
                if self.facts.is_local(reg) {
                    self.regs.insert(reg, from);
                    return self.aliases.entry(*cell).or_default().push(reg);
                }
                let to = self.target(reg);
                self.copy(to, from);
            }
            Op::Fold(op, value) => self.fold(reg, *op, *value),
            Op::Iota => {
                let iota = self.iota();
                let to = self.target(reg);
                self.put(unary(asm::LOAD, to, iota));
            }
            Op::Tag(_) | Op::Field(..) => unreachable!("{op:?} of {ty:?} is not accepted"),
        }
    }

    fn iota(&mut self) -> Source {
        self.constant_lanes([0, 1, 2, 3])
    }

    /// The smaller ones of integers on lanes.
    fn least(&mut self, a: Virtual, b: Virtual) -> Virtual {
        let mask = self.on_lanes(asm::GREATER_INT, a, Source::Virtual(b));
        let to = self.vector();
        self.put(Inst::Blend { to, mask, yes: Source::Virtual(b), no: a });
        to
    }

    fn gather(&mut self, reg: Reg, from: Address, offsets: Virtual, mask: Option<Virtual>) {
        if self.ty(reg).elem == ScalarTy::Bool {
            let words = self.vector();
            self.put(Inst::Gather { to: words, from, offsets, mask });
            let zero = self.constant(0);
            let zero = self.in_register(zero);
            let to = self.target(reg);
            return self.put(binary(asm::SUB_INT, to, zero, Source::Virtual(words)));
        }
        let to = self.target(reg);
        self.put(Inst::Gather { to, from, offsets, mask });
    }

    fn load(&mut self, reg: Reg, buf: Buf, offset: Operand) {
        let ty = self.ty(reg);
        if self.operand_ty(offset).lanes == LANES {
            let offsets = self.vector_of(offset);
            let from = Address { base: self.bufs[&buf], index: None, displacement: 0 };
            return self.gather(reg, from, offsets, None);
        }
        if ty.lanes == 1 {
            let from = self.address(buf, offset);
            let to = self.target(reg);
            return self.put(match ty.elem {
                ScalarTy::Real => unary(asm::BROADCAST, to, Source::Memory(from)),
                ScalarTy::Int | ScalarTy::Bool => Inst::Load { to, from },
            });
        }
        if ty.elem == ScalarTy::Bool {
            let from = self.address(buf, offset);
            let zero = self.constant(0);
            let zero = self.in_register(zero);
            let to = self.target(reg);
            return self.put(binary(asm::SUB_INT, to, zero, Source::Memory(from)));
        }
        if let Some(Use::Operand(_)) = self.facts.only_use(reg) {
            self.late.insert(reg, Late::Load(buf, offset));
            return;
        }
        let from = self.address(buf, offset);
        let to = self.target(reg);
        self.put(unary(asm::LOAD, to, Source::Memory(from)));
    }

    /// All lanes combined, in halves.
    fn fold(&mut self, reg: Reg, op: ReduceOp, value: Operand) {
        let ty = self.operand_ty(value);
        if ty.lanes == 1 {
            let from = self.operand(value);
            let to = self.target(reg);
            return self.copy(to, from);
        }
        let from = self.vector_of(value);
        if ty.elem == ScalarTy::Bool {
            let signs = self.word();
            self.put(Inst::Signs { to: signs, from });
            let test = match op {
                ReduceOp::And => Test::Ints(Condition::Equal, signs, Value::Constant(15)),
                _ => Test::Ints(Condition::NotEqual, signs, Value::Constant(0)),
            };
            let to = self.target(reg);
            return self.put(Inst::Set { to, test });
        }
        let prim = op.prim(ty.elem);
        let mut all = from;
        for half in [true, false] {
            let other = self.vector();
            let (op, a, by) =
                if half { (asm::HALVES, Some(all), 0x01) } else { (asm::PERMUTE, None, 0x05) };
            let b = Source::Virtual(all);
            self.put(Inst::Vector { op, to: other, a, b, constant: Some(by) });
            let to = self.vector();
            self.lanes_prim(to, prim, &[Source::Virtual(all), Source::Virtual(other)]);
            all = to;
        }
        if ty.elem == ScalarTy::Real {
            // The first lane, in all lanes: of equal numbers with different signs, and of NaNs, they differ.
            let to = self.target(reg);
            return self.put(unary(asm::BROADCAST, to, Source::Virtual(all)));
        }
        let to = self.target(reg);
        self.put(Inst::First { to, from: all });
    }

    // Primitives.

    fn prim(&mut self, reg: Reg, prim: Prim, args: &[Operand]) {
        let ty = self.ty(reg);
        let vectors = class(ty) == Class::Vector;
        match (prim, args) {
            (Prim::Mul, [a, b]) => {
                let used_by = self.facts.only_use(reg);
                let fuses = used_by == Some(Use::Operand(Prim::Add))
                    || used_by == Some(Use::Operand(Prim::Sub));
                if self.contract && fuses {
                    self.late.insert(reg, Late::Product(*a, *b));
                    return;
                }
                let (a, b) = self.commuted(*a, *b);
                let to = self.target(reg);
                self.put(binary(asm::MUL, to, a, b));
            }
            (Prim::Add | Prim::Sub, [a, b]) => self.sum(reg, prim, *a, *b),
            (Prim::ToReal, [a]) if ty.lanes == 1 => {
                let from = self.word_of(*a);
                let to = self.target(reg);
                self.put(Inst::Real { to, from });
            }
            (Prim::Select, [cond, yes, no]) => {
                let mask = self.mask_of(*cond);
                let (yes, no) = (self.source(*yes), self.vector_of(*no));
                let to = self.target(reg);
                self.put(Inst::Blend { to, mask, yes, no });
            }
            (Prim::Lt | Prim::Le, [a, b]) if !vectors => {
                if self.facts.only_use(reg) == Some(Use::Test) {
                    self.late.insert(reg, Late::Compare(prim, *a, *b));
                    return;
                }
                let test = self.compared(prim, *a, *b);
                let to = self.target(reg);
                self.put(Inst::Set { to, test });
            }
            (Prim::Eq | Prim::Ne, [..]) if !vectors => {
                let sources: Vec<Source> = args.iter().map(|arg| self.source(*arg)).collect();
                let mask = self.vector();
                self.lanes_prim(mask, prim, &sources);
                let signs = self.word();
                self.put(Inst::Signs { to: signs, from: mask });
                let test = Test::Ints(Condition::NotEqual, signs, Value::Constant(0));
                let to = self.target(reg);
                self.put(Inst::Set { to, test });
            }
            (_, _) if vectors && has_instructions(prim) => {
                let sources: Vec<Source> = args.iter().map(|arg| self.source(*arg)).collect();
                // A mask that is made where it stays is one; what takes several instructions must not write what it still reads.
                let to = self.target(reg);
                self.lanes_prim(to, prim, &sources);
            }
            (_, [x]) if vectors && math::is_known(prim) => {
                let x = self.vector_of(*x);
                let to = self.target(reg);
                self.function(to, prim, x);
            }
            (_, _) if !vectors && self.word_prim(reg, prim, args) => {}
            (_, _) => self.by_call(reg, prim, args),
        }
    }

    /// The operands of an operation that commutes: one in a register, and the other one.
    fn commuted(&mut self, a: Operand, b: Operand) -> (Virtual, Source) {
        let (a, b) = (self.source(a), self.source(b));
        match (a, b) {
            (Source::Virtual(a), b) => (a, b),
            (a, Source::Virtual(b)) => (b, a),
            (a, b) => (self.in_register(a), b),
        }
    }

    /// The product that an operand is, if it is late.
    fn late_product(&mut self, operand: Operand) -> Option<(Operand, Operand)> {
        let Operand::Reg(reg) = operand else { return None };
        let Some(Late::Product(a, b)) = self.late.get(&reg).copied() else { return None };
        self.late.remove(&reg);
        self.used(reg);
        Some((a, b))
    }

    fn sum(&mut self, reg: Reg, prim: Prim, a: Operand, b: Operand) {
        let adds = prim == Prim::Add;
        let fused = match self.late_product(b) {
            Some(product) => {
                Some((product, a, if adds { Fused::Add } else { Fused::SubFrom }))
            }
            None => self
                .late_product(a)
                .map(|product| (product, b, if adds { Fused::Add } else { Fused::Sub })),
        };
        if let Some(((x, y), other, op)) = fused {
            let c = self.vector_of(other).into();
            let (a, b) = self.commuted(x, y);
            let to = self.target(reg);
            return self.put(Inst::Fused { op, to, a, b, c });
        }
        let (op, (a, b)) = match adds {
            true => (asm::ADD, self.commuted(a, b)),
            false => (asm::SUB, (self.vector_of(a), self.source(b))),
        };
        let to = self.target(reg);
        self.put(binary(op, to, a, b));
    }

    /// A mask, of a truth value or of lanes of them.
    fn mask_of(&mut self, operand: Operand) -> Virtual {
        if let Operand::Reg(reg) = operand
            && let Some(Late::Compare(prim @ (Prim::Lt | Prim::Le), a, b)) =
                self.late.get(&reg).copied()
        {
            self.late.remove(&reg);
            self.used(reg);
            let sources = [self.source(a), self.source(b)];
            let mask = self.vector();
            self.lanes_prim(mask, prim, &sources);
            return mask;
        }
        self.vector_of(operand)
    }

    /// A primitive on vectors that has instructions. `to` may be where an operand is: it is written last.
    fn lanes_prim(&mut self, to: Virtual, prim: Prim, args: &[Source]) {
        match prim {
            Prim::Add => self.in_any_order(asm::ADD, to, args),
            Prim::Mul => self.in_any_order(asm::MUL, to, args),
            Prim::AddInt => self.in_any_order(asm::ADD_INT, to, args),
            Prim::And | Prim::BitAnd => self.in_any_order(asm::AND, to, args),
            Prim::Or | Prim::BitOr => self.in_any_order(asm::OR, to, args),
            Prim::NeBool | Prim::BitXor => self.in_any_order(asm::XOR, to, args),
            Prim::EqInt => self.in_any_order(asm::EQUAL_INT, to, args),
            Prim::Sub => self.in_order(asm::SUB, to, args[0], args[1], None),
            Prim::Div => self.in_order(asm::DIV, to, args[0], args[1], None),
            Prim::SubInt => self.in_order(asm::SUB_INT, to, args[0], args[1], None),
            Prim::LtInt => self.in_order(asm::GREATER_INT, to, args[1], args[0], None),
            Prim::Eq => self.in_order(asm::COMPARE, to, args[0], args[1], Some(EQUAL)),
            Prim::Ne => self.in_order(asm::COMPARE, to, args[0], args[1], Some(NOT_EQUAL)),
            Prim::Lt => self.in_order(asm::COMPARE, to, args[0], args[1], Some(LESS)),
            Prim::Le => self.in_order(asm::COMPARE, to, args[0], args[1], Some(LESS_OR_EQUAL)),
            Prim::LeInt => self.inverted(to, asm::GREATER_INT, args[0], args[1]),
            Prim::NeInt => self.inverted(to, asm::EQUAL_INT, args[0], args[1]),
            Prim::EqBool => self.inverted(to, asm::XOR, args[0], args[1]),
            Prim::Not | Prim::BitNot => {
                let ones = self.constant(u64::MAX);
                self.in_any_order(asm::XOR, to, &[args[0], ones]);
            }
            Prim::Neg => {
                let sign = self.constant(1 << 63);
                self.in_any_order(asm::XOR, to, &[args[0], sign]);
            }
            Prim::Abs => {
                let rest = self.constant(!(1 << 63));
                self.in_any_order(asm::AND, to, &[args[0], rest]);
            }
            Prim::NegInt => {
                let zero = self.constant(0);
                self.in_order(asm::SUB_INT, to, zero, args[0], None);
            }
            // As its row has it: of -0.0 it is 0.0.
            Prim::Sqrt => {
                let a = self.in_register(args[0]);
                let zero = self.constant(0);
                let a = self.on_lanes(asm::ADD, a, zero);
                self.put(unary(asm::SQRT, to, Source::Virtual(a)));
            }
            Prim::Floor | Prim::Ceil => {
                let constant = Some(if prim == Prim::Floor { 0x09 } else { 0x0a });
                self.put(Inst::Vector { op: asm::ROUND, to, a: None, b: args[0], constant });
            }
            // The instruction gives its second operand where both are equal or one is NaN, and the row the first one, or the second one if that is NaN alone.
            Prim::Min | Prim::Max => {
                let op = if prim == Prim::Min { asm::MIN } else { asm::MAX };
                let (x, y) = (args[0], self.in_register(args[1]));
                let least = self.on_lanes(op, y, x);
                let nan = self.vector();
                let (a, b, constant) = (Some(y), Source::Virtual(y), Some(UNORDERED));
                self.put(Inst::Vector { op: asm::COMPARE, to: nan, a, b, constant });
                self.put(Inst::Blend { to, mask: nan, yes: Source::Virtual(y), no: least });
            }
            Prim::MinInt | Prim::MaxInt => {
                let [a, b] = [args[0], args[1]].map(|source| self.in_register(source));
                let mask = self.on_lanes(asm::GREATER_INT, a, Source::Virtual(b));
                let (yes, no) = if prim == Prim::MinInt { (b, a) } else { (a, b) };
                self.put(Inst::Blend { to, mask, yes: Source::Virtual(yes), no });
            }
            Prim::AbsInt => {
                let a = self.in_register(args[0]);
                let zero = self.constant(0);
                let zero = self.in_register(zero);
                let negative = self.on_lanes(asm::SUB_INT, zero, Source::Virtual(a));
                // The sign of a decides.
                let yes = Source::Virtual(negative);
                self.put(Inst::Blend { to, mask: a, yes, no: a });
            }
            Prim::SelectInt | Prim::SelectBool | Prim::Select => {
                let mask = self.in_register(args[0]);
                let no = self.in_register(args[2]);
                self.put(Inst::Blend { to, mask, yes: args[1], no });
            }
            Prim::MulInt => self.product_of_ints(to, args[0], args[1]),
            Prim::ToReal => self.reals_of_ints(to, args[0]),
            _ => unreachable!("{prim:?} has no instructions"),
        }
    }

    fn in_any_order(&mut self, op: Vex, to: Virtual, args: &[Source]) {
        let (a, b) = match (args[0], args[1]) {
            (Source::Virtual(a), b) => (a, b),
            (a, Source::Virtual(b)) => (b, a),
            (a, b) => (self.in_register(a), b),
        };
        self.put(binary(op, to, a, b));
    }

    fn in_order(&mut self, op: Vex, to: Virtual, a: Source, b: Source, constant: Option<u8>) {
        let a = self.in_register(a);
        self.put(Inst::Vector { op, to, a: Some(a), b, constant });
    }

    /// All bits of the result the other way round.
    fn inverted(&mut self, to: Virtual, op: Vex, a: Source, b: Source) {
        let a = self.in_register(a);
        let mask = self.on_lanes(op, a, b);
        let ones = self.constant(u64::MAX);
        self.put(binary(asm::XOR, to, mask, ones));
    }

    /// Products modulo 2⁶⁴, of halves.
    fn product_of_ints(&mut self, to: Virtual, a: Source, b: Source) {
        let [a, b] = [a, b].map(|source| self.in_register(source));
        let high = |selector: &mut Self, from, other| {
            let half = selector.vector();
            selector.put(Inst::ShiftLanes { left: false, to: half, from, by: 32 });
            selector.on_lanes(asm::MUL_LOW, half, Source::Virtual(other))
        };
        let (x, y) = (high(self, a, b), high(self, b, a));
        let sum = self.on_lanes(asm::ADD_INT, x, Source::Virtual(y));
        let shifted = self.vector();
        self.put(Inst::ShiftLanes { left: true, to: shifted, from: sum, by: 32 });
        let low = self.on_lanes(asm::MUL_LOW, a, Source::Virtual(b));
        self.put(binary(asm::ADD_INT, to, low, Source::Virtual(shifted)));
    }

    /// The nearest real of each integer: its halves as the digits of two reals, of which the difference and the sum are rounded once.
    fn reals_of_ints(&mut self, to: Virtual, from: Source) {
        let from = self.in_register(from);
        let [low, high, both] =
            [0x4330_0000_0000_0000, 0x4530_0000_8000_0000, 0x4530_0000_8010_0000]
                .map(|word| self.constant(word));
        let digits = self.vector();
        let constant = Some(0b1010_1010);
        let (op, a) = (asm::BLEND_HALVES, Some(from));
        self.put(Inst::Vector { op, to: digits, a, b: low, constant });
        let upper = self.vector();
        self.put(Inst::ShiftLanes { left: false, to: upper, from, by: 32 });
        let upper = self.on_lanes(asm::XOR, upper, high);
        let upper = self.on_lanes(asm::SUB, upper, both);
        self.put(binary(asm::ADD, to, upper, Source::Virtual(digits)));
    }

    /// A primitive on words that has instructions.
    fn word_prim(&mut self, reg: Reg, prim: Prim, args: &[Operand]) -> bool {
        let literal = |k: usize| match args.get(k) {
            Some(Operand::Lit(Scalar::Int(value))) => Some(*value),
            _ => None,
        };
        let alu = match prim {
            Prim::AddInt => Some(Alu::Add),
            Prim::SubInt => Some(Alu::Sub),
            Prim::And | Prim::BitAnd => Some(Alu::And),
            Prim::Or | Prim::BitOr => Some(Alu::Or),
            Prim::NeBool | Prim::BitXor => Some(Alu::Xor),
            _ => None,
        };
        if let Some(op) = alu {
            let (mut a, mut b) = (args[0], args[1]);
            if matches!(a, Operand::Lit(_)) && op != Alu::Sub {
                (a, b) = (b, a);
            }
            if op == Alu::Add
                && let (Operand::Reg(from), Operand::Lit(Scalar::Int(by))) = (a, b)
                && let Some(bytes) = by.checked_mul(8).and_then(|bytes| i32::try_from(bytes).ok())
                && self.facts.only_use(reg) == Some(Use::Offset)
            {
                self.late.insert(reg, Late::Offset(from, bytes));
                return true;
            }
            let a = self.word_of(a);
            let b = self.value(b);
            let to = self.target(reg);
            self.put(Inst::Arithmetic { op, to, a, b });
            return true;
        }
        match prim {
            Prim::MulInt => {
                let (a, b) = match args[0] {
                    Operand::Lit(_) => (args[1], args[0]),
                    Operand::Reg(_) => (args[0], args[1]),
                };
                let a = self.word_of(a);
                let b = self.value(b);
                let to = self.target(reg);
                self.put(Inst::Multiply { to, a, b });
            }
            Prim::LtInt | Prim::LeInt | Prim::EqInt | Prim::NeInt | Prim::EqBool => {
                if self.facts.only_use(reg) == Some(Use::Test) {
                    self.late.insert(reg, Late::Compare(prim, args[0], args[1]));
                    return true;
                }
                let test = self.compared(prim, args[0], args[1]);
                let to = self.target(reg);
                self.put(Inst::Set { to, test });
            }
            Prim::Not | Prim::BitNot => {
                let a = self.word_of(args[0]);
                let b = Value::Constant(if prim == Prim::Not { 1 } else { -1 });
                let to = self.target(reg);
                self.put(Inst::Arithmetic { op: Alu::Xor, to, a, b });
            }
            Prim::NegInt => {
                let (zero, b) = (self.word(), self.value(args[0]));
                self.put(Inst::Copy { to: zero, from: Value::Constant(0) });
                let to = self.target(reg);
                self.put(Inst::Arithmetic { op: Alu::Sub, to, a: zero, b });
            }
            Prim::MinInt | Prim::MaxInt => {
                let a = self.word_of(args[0]);
                let b = self.value(args[1]);
                let condition =
                    if prim == Prim::MinInt { Condition::LessOrEqual } else { Condition::GreaterOrEqual };
                let to = self.target(reg);
                let test = Test::Ints(condition, a, b);
                self.put(Inst::Choose { to, test, yes: Value::Virtual(a), no: b });
            }
            Prim::SelectInt | Prim::SelectBool => {
                let test = self.test(args[0]);
                let (yes, no) = (self.value(args[1]), self.value(args[2]));
                let to = self.target(reg);
                self.put(Inst::Choose { to, test, yes, no });
            }
            Prim::DivInt if literal(1).is_some_and(is_power) => {
                let from = self.word_of(args[0]);
                let by = literal(1).expect("it is there").trailing_zeros() as u8;
                let to = self.target(reg);
                self.put(Inst::ShiftWord { op: asm::Shift::RightSigned, to, from, by });
            }
            Prim::RemInt if literal(1).is_some_and(is_power) => {
                let a = self.word_of(args[0]);
                let b = Value::Constant(literal(1).expect("it is there") - 1);
                let to = self.target(reg);
                self.put(Inst::Arithmetic { op: Alu::And, to, a, b });
            }
            Prim::ShiftLeft | Prim::ShiftRight if literal(1).is_some() => {
                let from = self.word_of(args[0]);
                let by = literal(1).expect("it is there").rem_euclid(64) as u8;
                let op = match prim {
                    Prim::ShiftLeft => asm::Shift::Left,
                    _ => asm::Shift::Right,
                };
                let to = self.target(reg);
                self.put(Inst::ShiftWord { op, to, from, by });
            }
            _ => return false,
        }
        true
    }

    /// A primitive as a call.
    fn by_call(&mut self, reg: Reg, prim: Prim, args: &[Operand]) {
        let lanes = self.ty(reg).lanes == LANES;
        let mut passed = Vec::new();
        for arg in args {
            passed.push(match (lanes, self.operand_ty(*arg)) {
                (true, _) => self.stored(*arg),
                (false, _) => self.operand(*arg),
            });
        }
        self.call(helpers::of(prim, lanes), prim as u32, &passed);
        if self.ty(reg).elem == ScalarTy::Bool && lanes {
            let words = self.vector();
            self.put(Inst::Take { to: words });
            let zero = self.constant(0);
            let zero = self.in_register(zero);
            let to = self.target(reg);
            return self.put(binary(asm::SUB_INT, to, zero, Source::Virtual(words)));
        }
        let to = self.target(reg);
        self.put(Inst::Take { to });
    }

    pub(crate) fn call(&mut self, function: Called, number: u32, args: &[Virtual]) {
        for (argument, value) in args.iter().enumerate() {
            self.put(Inst::Pass { argument: argument as u8, value: *value });
        }
        self.put(Inst::Call { function: function.address(), number });
    }
}

/// Of lanes, and of reals.
fn class(ty: Ty) -> Class {
    if ty.lanes > 1 || ty.elem == ScalarTy::Real { Class::Vector } else { Class::Word }
}

/// How the interpreter keeps a value of the type.
fn form(ty: Ty) -> Form {
    match (ty.lanes, ty.elem) {
        (1, ScalarTy::Real) => Form::Spread,
        (1, ScalarTy::Int | ScalarTy::Bool) => Form::Word,
        (_, ScalarTy::Bool) => Form::Masks,
        (_, ScalarTy::Int | ScalarTy::Real) => Form::Lanes,
    }
}

fn mask(value: bool) -> u64 {
    if value { u64::MAX } else { 0 }
}

fn is_power(value: i64) -> bool {
    value > 0 && value.count_ones() == 1 && value <= 1 << 30
}

fn condition(prim: Prim) -> Condition {
    match prim {
        Prim::LtInt => Condition::Less,
        Prim::LeInt => Condition::LessOrEqual,
        Prim::EqInt | Prim::EqBool => Condition::Equal,
        Prim::NeInt => Condition::NotEqual,
        _ => unreachable!("{prim:?} does not compare integers"),
    }
}

fn unary(op: Vex, to: Virtual, b: Source) -> Inst {
    Inst::Vector { op, to, a: None, b, constant: None }
}

fn binary(op: Vex, to: Virtual, a: Virtual, b: Source) -> Inst {
    Inst::Vector { op, to, a: Some(a), b, constant: None }
}

/// Has the primitive instructions on vectors? All others are calls.
fn has_instructions(prim: Prim) -> bool {
    matches!(
        prim,
        Prim::Add
            | Prim::Mul
            | Prim::AddInt
            | Prim::And
            | Prim::BitAnd
            | Prim::Or
            | Prim::BitOr
            | Prim::NeBool
            | Prim::BitXor
            | Prim::EqInt
            | Prim::Sub
            | Prim::Div
            | Prim::SubInt
            | Prim::LtInt
            | Prim::Eq
            | Prim::Ne
            | Prim::Lt
            | Prim::Le
            | Prim::LeInt
            | Prim::NeInt
            | Prim::EqBool
            | Prim::Not
            | Prim::BitNot
            | Prim::Neg
            | Prim::Abs
            | Prim::NegInt
            | Prim::Sqrt
            | Prim::Floor
            | Prim::Ceil
            | Prim::Min
            | Prim::Max
            | Prim::MinInt
            | Prim::MaxInt
            | Prim::AbsInt
            | Prim::SelectInt
            | Prim::SelectBool
            | Prim::Select
            | Prim::MulInt
            | Prim::ToReal
    )
}
