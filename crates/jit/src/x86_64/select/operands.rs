//! Operands, and late registers.

use lambada_loops::{Buf, Operand, Reg};
use lambada_prim::{Prim, Scalar};

use super::{Late, Selector, class};
use crate::x86_64::assembler::{self as asm, Alu, Condition};
use crate::x86_64::code::{Address, Class, Inst, Source, Test, Virtual, WordOperand};
use crate::x86_64::facts::Use;
use crate::x86_64::writer::{binary, mask, unary};

fn condition(prim: Prim) -> Condition {
    match prim {
        Prim::LtInt => Condition::Less,
        Prim::LeInt => Condition::LessOrEqual,
        Prim::EqInt | Prim::EqBool => Condition::Equal,
        Prim::NeInt => Condition::NotEqual,
        _ => unreachable!("{prim:?} does not compare integers"),
    }
}

impl Selector<'_> {
    /// Counts a use of the register.
    pub(super) fn used(&mut self, reg: Reg) {
        if let Some(uses) = self.remaining.get_mut(&reg) {
            *uses -= 1;
        }
    }

    /// The virtual register of an operand, of either class.
    pub(super) fn operand(&mut self, operand: Operand) -> Virtual {
        match class(self.operand_ty(operand)) {
            Class::Word => self.word_of(operand),
            Class::Vector => self.vector_of(operand),
        }
    }

    /// A scalar other than a real.
    pub(super) fn value(&mut self, operand: Operand) -> WordOperand {
        match operand {
            Operand::Lit(Scalar::Int(value)) => WordOperand::Constant(value),
            Operand::Lit(Scalar::Bool(value)) => WordOperand::Constant(i64::from(value)),
            Operand::Lit(Scalar::Real(_)) => unreachable!("reals are in vectors"),
            Operand::Reg(reg) => {
                self.write_late(reg);
                self.used(reg);
                WordOperand::Virtual(self.regs[&reg])
            }
        }
    }

    pub(super) fn word_of(&mut self, operand: Operand) -> Virtual {
        match self.value(operand) {
            WordOperand::Virtual(v) => v,
            from @ WordOperand::Constant(_) => {
                let to = self.code.word();
                self.code.put(Inst::Copy { to, from });
                to
            }
        }
    }

    /// An operand of an instruction on lanes, or on reals.
    pub(super) fn source(&mut self, operand: Operand) -> Source {
        let reg = match operand {
            Operand::Lit(Scalar::Real(value)) => return self.code.constant(value.to_bits()),
            Operand::Lit(Scalar::Int(value)) => return self.code.constant(value as u64),
            Operand::Lit(Scalar::Bool(value)) => return self.code.constant(mask(value)),
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
        Source::Virtual(self.code.spread(word, ty.elem))
    }

    pub(super) fn vector_of(&mut self, operand: Operand) -> Virtual {
        let source = self.source(operand);
        self.code.in_register(source)
    }

    pub(super) fn address(&mut self, buf: Buf, offset: Operand) -> Address {
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

    /// The test of a branch, or of a selection between words.
    pub(super) fn test(&mut self, operand: Operand) -> Test {
        let Operand::Reg(reg) = operand else { return Test::True(self.word_of(operand)) };
        let Some(Late::Compare(prim, a, b)) = self.late.get(&reg).copied() else {
            return Test::True(self.word_of(operand));
        };
        self.late.remove(&reg);
        self.used(reg);
        self.compared(prim, a, b)
    }

    pub(super) fn compared(&mut self, prim: Prim, a: Operand, b: Operand) -> Test {
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

    /// Writes the pending instruction of a late register.
    pub(super) fn write_late(&mut self, reg: Reg) {
        let Some(late) = self.late.remove(&reg) else { return };
        match late {
            Late::Product(a, b) => {
                let (a, b) = self.commuted(a, b);
                let to = self.target(reg);
                self.code.put(binary(asm::MUL, to, a, b));
            }
            Late::Load(buf, offset) => {
                let from = self.address(buf, offset);
                let to = self.target(reg);
                self.code.put(unary(asm::LOAD, to, Source::Memory(from)));
            }
            Late::Compare(prim, a, b) => {
                let test = self.compared(prim, a, b);
                let to = self.target(reg);
                self.code.put(Inst::Set { to, test });
            }
            Late::Offset(from, bytes) => {
                let a = self.word_of(from.into());
                let to = self.target(reg);
                let b = WordOperand::Constant(i64::from(bytes / 8));
                self.code.put(Inst::Arithmetic { op: Alu::Add, to, a, b });
            }
        }
    }

    /// Writes all late loads, because memory may change.
    pub(super) fn write_loads(&mut self) {
        let is_load = |late: &Late| matches!(late, Late::Load(..));
        let loads = self.late.iter().filter(|(_, late)| is_load(late));
        let mut loads: Vec<Reg> = loads.map(|(reg, _)| *reg).collect();
        loads.sort_unstable();
        loads.into_iter().for_each(|reg| self.write_late(reg));
    }

    /// The target of a register: its cell if the old value is dead, else a new virtual register.
    /// All operands must have been read.
    pub(super) fn target(&mut self, reg: Reg) -> Virtual {
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
}
