//! Statements without bodies.

use lambada_loops::{Buf, Cell, Op, Operand, Reg, Step};
use lambada_prim::{ReduceOp, ScalarTy};

use super::{Late, Selector, class};
use crate::LANES;
use crate::x86_64::assembler::{self as asm, Alu, Condition};
use crate::x86_64::code::{Address, Class, Inst, Source, Test, Virtual, WordOperand};
use crate::x86_64::facts::Use;
use crate::x86_64::helpers::Helper;
use crate::x86_64::writer::{binary, unary};

impl Selector<'_> {
    pub(super) fn step(&mut self, step: &Step) {
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
                let iota = self.code.iota();
                let mask = self.code.on_lanes(asm::GREATER_INT, count, iota);
                let to = self.address(*buf, *offset);
                self.write_loads();
                self.code.put(Inst::StoreMasked { to, from, mask });
            }
            Step::View { buf, base, offset } => {
                let of = self.address(*base, *offset);
                let to = self.new_address(*buf);
                self.code.put(Inst::AddressOf { to, of });
            }
            Step::Alloc { buf, dims } => {
                let sizes = dims.iter().map(|dim| self.value(*dim)).collect();
                self.code.put(Inst::Alloc { number: buf.0, sizes });
                self.buffer(*buf);
            }
            Step::Swap(a, b) => {
                self.write_loads();
                let numbers = [a.0, b.0];
                self.code.put(Inst::Swap { a: self.bufs[a], b: self.bufs[b], numbers });
            }
            // It has its memory before the program runs.
            Step::Constant(..) => {}
            Step::Copy { to, from, len } => {
                self.write_loads();
                let args = [self.bufs[to], self.bufs[from], self.word_of(*len)];
                self.code.call(Helper::Copy, &args);
            }
            Step::Transpose { to, to_row, from, from_row, rows, cols, .. } => {
                self.write_loads();
                let [to_row, from_row, rows, cols] =
                    [to_row, from_row, rows, cols].map(|of| self.word_of(*of));
                let args = [self.bufs[to], to_row, self.bufs[from], from_row, rows, cols];
                self.code.call(Helper::Transpose, &args);
            }
            Step::Fill { buf, value, len } => {
                self.write_loads();
                let args = [self.bufs[buf], self.operand(*value), self.word_of(*len)];
                self.code.call(Helper::Fill, &args);
            }
            Step::Check { cond, site, values } => {
                let test = self.test(*cond);
                let values: Vec<WordOperand> =
                    values.iter().map(|value| self.value(*value)).collect();
                let number = self.code.listing.sites.len() as u32;
                self.code.listing.sites.push((*site, values.len()));
                self.code.listing.values = self.code.listing.values.max(values.len());
                self.code.put(Inst::Check { test, number, values });
            }
            Step::Kernel { .. }
            | Step::Inspect { .. }
            | Step::Node { .. }
            | Step::Open { .. }
            | Step::Call { .. } => unreachable!("{step:?} is not accepted"),
        }
    }

    pub(super) fn set(&mut self, cell: Cell, value: Operand) {
        let ty = self.cell_ty(cell);
        if class(ty) == Class::Word {
            let from = self.value(value);
            self.settle_cell(cell);
            let to = self.cell(cell);
            return self.code.put(Inst::Copy { to, from });
        }
        let from = self.source(value);
        self.settle_cell(cell);
        let to = self.cell(cell);
        self.code.put(unary(asm::LOAD, to, from));
    }

    /// A vector in its memory form: booleans as words.
    pub(super) fn stored(&mut self, value: Operand) -> Virtual {
        let from = self.vector_of(value);
        match self.operand_ty(value).elem {
            ScalarTy::Bool => self.code.ones(from),
            ScalarTy::Real | ScalarTy::Int => from,
        }
    }

    pub(super) fn store(&mut self, buf: Buf, offset: Operand, value: Operand) {
        let (ty, lanes) = (self.operand_ty(value), self.operand_ty(offset).lanes);
        if ty.lanes == 1 && lanes == 1 {
            if ty.elem == ScalarTy::Real {
                let from = self.vector_of(value);
                let to = self.address(buf, offset);
                self.write_loads();
                return self.code.put(Inst::StoreLow { to, from });
            }
            let from = self.value(value);
            let to = self.address(buf, offset);
            self.write_loads();
            return self.code.put(Inst::Store { to, from });
        }
        let from = self.stored(value);
        if lanes == 1 {
            let to = self.address(buf, offset);
            self.write_loads();
            return self.code.put(Inst::StoreVector { to, from });
        }
        let offsets = self.vector_of(offset);
        self.write_loads();
        let to = Address { base: self.bufs[&buf], index: None, displacement: 0 };
        self.code.put(Inst::Scatter { to, from, offsets });
    }

    pub(super) fn bind(&mut self, reg: Reg, op: &Op) {
        let ty = self.ty(reg);
        match op {
            Op::Prim(prim, args) => self.prim(reg, *prim, args),
            Op::Load(buf, offset) => self.load(reg, *buf, *offset),
            Op::LoadSome(buf, [offset, count]) => {
                let count = self.value(*count);
                let last = self.code.word();
                let first = match count {
                    WordOperand::Virtual(a) => a,
                    WordOperand::Constant(_) => {
                        let to = self.code.word();
                        self.code.put(Inst::Copy { to, from: count });
                        to
                    }
                };
                let b = WordOperand::Constant(-1);
                self.code.put(Inst::Arithmetic { op: Alu::Add, to: last, a: first, b });
                let [count, last] = [first, last].map(|word| self.code.spread(word, ScalarTy::Int));
                let zero = self.code.constant(0);
                let mask = self.code.on_lanes(asm::GREATER_INT, count, zero);
                let iota = self.code.iota();
                let iota = self.code.in_register(iota);
                let offsets = self.code.least(iota, last);
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
                self.code.copy(to, from);
            }
            Op::Fold(op, value) => self.fold(reg, *op, *value),
            Op::Splice(both, from) => self.splice(reg, *both, *from),
            Op::Iota => {
                let iota = self.code.iota();
                let to = self.target(reg);
                self.code.put(unary(asm::LOAD, to, iota));
            }
            Op::Tag(_) | Op::Field(..) => unreachable!("{op:?} of {ty:?} is not accepted"),
        }
    }

    pub(super) fn gather(
        &mut self,
        reg: Reg,
        from: Address,
        offsets: Virtual,
        mask: Option<Virtual>,
    ) {
        if self.ty(reg).elem == ScalarTy::Bool {
            let words = self.code.vector();
            self.code.put(Inst::Gather { to: words, from, offsets, mask });
            let zero = self.code.constant(0);
            let zero = self.code.in_register(zero);
            let to = self.target(reg);
            return self.code.put(binary(asm::SUB_INT, to, zero, Source::Virtual(words)));
        }
        let to = self.target(reg);
        self.code.put(Inst::Gather { to, from, offsets, mask });
    }

    pub(super) fn load(&mut self, reg: Reg, buf: Buf, offset: Operand) {
        let ty = self.ty(reg);
        if self.operand_ty(offset).lanes == LANES {
            let offsets = self.vector_of(offset);
            let from = Address { base: self.bufs[&buf], index: None, displacement: 0 };
            return self.gather(reg, from, offsets, None);
        }
        if ty.lanes == 1 {
            let from = self.address(buf, offset);
            let to = self.target(reg);
            return self.code.put(match ty.elem {
                ScalarTy::Real => unary(asm::BROADCAST, to, Source::Memory(from)),
                ScalarTy::Int | ScalarTy::Bool => Inst::Load { to, from },
            });
        }
        if ty.elem == ScalarTy::Bool {
            let from = self.address(buf, offset);
            let zero = self.code.constant(0);
            let zero = self.code.in_register(zero);
            let to = self.target(reg);
            return self.code.put(binary(asm::SUB_INT, to, zero, Source::Memory(from)));
        }
        if let Some(Use::Operand(_)) = self.facts.only_use(reg) {
            self.late.insert(reg, Late::Load(buf, offset));
            return;
        }
        let from = self.address(buf, offset);
        let to = self.target(reg);
        self.code.put(unary(asm::LOAD, to, Source::Memory(from)));
    }

    /// Lanes of two vectors: the middle, half of each, and its neighbor.
    fn splice(&mut self, reg: Reg, both: [Operand; 2], from: u16) {
        let [first, second] = both.map(|value| self.vector_of(value));
        let halves = |to, first, second| {
            let (op, b, constant) = (asm::HALVES, Source::Virtual(second), Some(0x21));
            Inst::Vector { op, to, a: Some(first), b, constant }
        };
        if from == 2 {
            let to = self.target(reg);
            return self.code.put(halves(to, first, second));
        }
        let middle = self.code.vector();
        self.code.put(halves(middle, first, second));
        let (a, b) = if from == 1 { (first, middle) } else { (middle, second) };
        let to = self.target(reg);
        let (op, a, b, constant) = (asm::SHUFFLE, Some(a), Source::Virtual(b), Some(0b0101));
        self.code.put(Inst::Vector { op, to, a, b, constant });
    }

    /// Combines all lanes, by halves.
    pub(super) fn fold(&mut self, reg: Reg, op: ReduceOp, value: Operand) {
        let ty = self.operand_ty(value);
        if ty.lanes == 1 {
            let from = self.operand(value);
            let to = self.target(reg);
            return self.code.copy(to, from);
        }
        let from = self.vector_of(value);
        if ty.elem == ScalarTy::Bool {
            let signs = self.code.word();
            self.code.put(Inst::Signs { to: signs, from });
            let test = match op {
                ReduceOp::And => Test::Ints(Condition::Equal, signs, WordOperand::Constant(15)),
                _ => Test::Ints(Condition::NotEqual, signs, WordOperand::Constant(0)),
            };
            let to = self.target(reg);
            return self.code.put(Inst::Set { to, test });
        }
        let prim = op.prim(ty.elem);
        let mut all = from;
        for half in [true, false] {
            let other = self.code.vector();
            let (op, a, by) =
                if half { (asm::HALVES, Some(all), 0x01) } else { (asm::PERMUTE, None, 0x05) };
            let b = Source::Virtual(all);
            self.code.put(Inst::Vector { op, to: other, a, b, constant: Some(by) });
            let to = self.code.vector();
            self.code.lanes_prim(to, prim, &[Source::Virtual(all), Source::Virtual(other)]);
            all = to;
        }
        if ty.elem == ScalarTy::Real {
            // The first lane, in all lanes: lanes may differ in NaNs and in the signs of zeros.
            let to = self.target(reg);
            return self.code.put(unary(asm::BROADCAST, to, Source::Virtual(all)));
        }
        let to = self.target(reg);
        self.code.put(Inst::First { to, from: all });
    }
}
