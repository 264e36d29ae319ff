//! Encoding of x86-64: the general instructions on 64 bits, and those of AVX2 and FMA on vectors of
//! four.
//!
//! Source: the Intel manual, volume 2. A VEX prefix always has three bytes here, and a branch 32
//! bits, so that lengths do not depend on distances.

/// A general register, by its number: 0 is `rax`, 4 `rsp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gpr(pub u8);

/// A vector register, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ymm(pub u8);

pub(crate) const RAX: Gpr = Gpr(0);
pub(crate) const RCX: Gpr = Gpr(1);
pub(crate) const RDX: Gpr = Gpr(2);
pub(crate) const RBX: Gpr = Gpr(3);
pub(crate) const RSP: Gpr = Gpr(4);
pub(crate) const RBP: Gpr = Gpr(5);
pub(crate) const RSI: Gpr = Gpr(6);
pub(crate) const RDI: Gpr = Gpr(7);
pub(crate) const R8: Gpr = Gpr(8);
pub(crate) const R9: Gpr = Gpr(9);
pub(crate) const R10: Gpr = Gpr(10);
pub(crate) const R11: Gpr = Gpr(11);
pub(crate) const R12: Gpr = Gpr(12);
pub(crate) const R13: Gpr = Gpr(13);
pub(crate) const R14: Gpr = Gpr(14);
pub(crate) const R15: Gpr = Gpr(15);

/// The location of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegMem {
    /// In a register, whose kind follows from the instruction.
    Reg(u8),
    /// At base + 8 · index + displacement.
    Memory { base: Gpr, index: Option<u8>, displacement: i32 },
    /// Among the constants after the code.
    Constant(u32),
}

impl From<Gpr> for RegMem {
    fn from(reg: Gpr) -> RegMem {
        RegMem::Reg(reg.0)
    }
}

impl From<Ymm> for RegMem {
    fn from(reg: Ymm) -> RegMem {
        RegMem::Reg(reg.0)
    }
}

/// Memory at base + displacement.
pub(crate) fn at(base: Gpr, displacement: i32) -> RegMem {
    RegMem::Memory { base, index: None, displacement }
}

/// Conditions, by their number in instructions. Comparisons of reals use the unsigned ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Overflow = 0x0,
    Negative = 0x8,
    Below = 0x2,
    AboveOrEqual = 0x3,
    Equal = 0x4,
    NotEqual = 0x5,
    BelowOrEqual = 0x6,
    Above = 0x7,
    Less = 0xc,
    GreaterOrEqual = 0xd,
    LessOrEqual = 0xe,
    Greater = 0xf,
}

impl Condition {
    /// The negated condition.
    pub fn not(self) -> Condition {
        match self {
            Condition::Overflow | Condition::Negative => {
                unreachable!("nobody branches where {self:?} does not hold")
            }
            Condition::Below => Condition::AboveOrEqual,
            Condition::AboveOrEqual => Condition::Below,
            Condition::Equal => Condition::NotEqual,
            Condition::NotEqual => Condition::Equal,
            Condition::BelowOrEqual => Condition::Above,
            Condition::Above => Condition::BelowOrEqual,
            Condition::Less => Condition::GreaterOrEqual,
            Condition::GreaterOrEqual => Condition::Less,
            Condition::LessOrEqual => Condition::Greater,
            Condition::Greater => Condition::LessOrEqual,
        }
    }
}

/// The general instructions with two operands: the opcode that reads a register or memory, and the
/// number of the form with a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alu {
    Add,
    Or,
    And,
    Sub,
    Xor,
    Cmp,
}

impl Alu {
    fn codes(self) -> (u8, u8) {
        match self {
            Alu::Add => (0x03, 0),
            Alu::Or => (0x0b, 1),
            Alu::And => (0x23, 4),
            Alu::Sub => (0x2b, 5),
            Alu::Xor => (0x33, 6),
            Alu::Cmp => (0x3b, 7),
        }
    }
}

/// Shifts by constants, by their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    Left = 4,
    Right = 5,
    RightSigned = 7,
}

/// A vector instruction: prefix, map, opcode, the bit W, and whether it works on 256 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vex {
    prefix: u8,
    map: u8,
    opcode: u8,
    wide: bool,
    long: bool,
}

/// With prefix 66, on 256 bits.
const fn vex(map: u8, opcode: u8) -> Vex {
    Vex { prefix: 1, map, opcode, wide: false, long: true }
}

impl Vex {
    const fn wide(self) -> Vex {
        Vex { wide: true, ..self }
    }

    const fn short(self) -> Vex {
        Vex { long: false, ..self }
    }

    const fn double(self) -> Vex {
        Vex { prefix: 3, ..self }
    }
}

pub(crate) const ADD: Vex = vex(1, 0x58);
pub(crate) const MUL: Vex = vex(1, 0x59);
pub(crate) const SUB: Vex = vex(1, 0x5c);
pub(crate) const MIN: Vex = vex(1, 0x5d);
pub(crate) const DIV: Vex = vex(1, 0x5e);
pub(crate) const MAX: Vex = vex(1, 0x5f);
pub(crate) const AND: Vex = vex(1, 0x54);
pub(crate) const OR: Vex = vex(1, 0x56);
pub(crate) const XOR: Vex = vex(1, 0x57);
/// Takes a predicate.
pub(crate) const COMPARE: Vex = vex(1, 0xc2);
/// Predicates of [`COMPARE`]; all but the last three are false if a number is NaN.
pub(crate) const WHERE_EQUAL: u8 = 0x00;
pub(crate) const WHERE_LESS: u8 = 0x11;
pub(crate) const WHERE_LESS_OR_EQUAL: u8 = 0x12;
pub(crate) const WHERE_GREATER: u8 = 0x1e;
pub(crate) const WHERE_UNORDERED: u8 = 0x03;
pub(crate) const WHERE_NOT_EQUAL: u8 = 0x04;
pub(crate) const WHERE_NOT_LESS: u8 = 0x05;
pub(crate) const SQRT: Vex = vex(1, 0x51);
pub(crate) const ADD_INT: Vex = vex(1, 0xd4);
pub(crate) const SUB_INT: Vex = vex(1, 0xfb);
/// Multiplies the low halves of all words.
pub(crate) const MUL_LOW: Vex = vex(1, 0xf4);
pub(crate) const EQUAL_INT: Vex = vex(2, 0x29);
pub(crate) const GREATER_INT: Vex = vex(2, 0x37);
/// Selects half words of either operand, by a constant.
pub(crate) const BLEND_HALVES: Vex = vex(3, 0x02);
/// A vector from memory or a register.
pub(crate) const LOAD: Vex = vex(1, 0x10);
pub(crate) const STORE: Vex = vex(1, 0x11);
/// One word for all lanes.
pub(crate) const BROADCAST: Vex = vex(2, 0x19);
pub(crate) const STORE_LOW: Vex = vex(1, 0x13).short();
pub(crate) const STORE_HIGH: Vex = vex(1, 0x17).short();
pub(crate) const FROM_WORD: Vex = vex(1, 0x6e).wide().short();
pub(crate) const TO_WORD: Vex = vex(1, 0x7e).wide().short();
pub(crate) const EXTRACT_WORD: Vex = vex(3, 0x16).wide().short();
pub(crate) const EXTRACT_HALF: Vex = vex(3, 0x19);
/// Selects halves of two vectors, by a constant.
pub(crate) const HALVES: Vex = vex(3, 0x06);
/// Permutes the words of each half, by a constant.
pub(crate) const PERMUTE: Vex = vex(3, 0x05);
/// Takes from each half a word of the first vector and one of the second, by a constant.
pub(crate) const SHUFFLE: Vex = vex(1, 0xc6);
pub(crate) const BLEND: Vex = vex(3, 0x4b);
pub(crate) const ROUND: Vex = vex(3, 0x09);
pub(crate) const GATHER: Vex = vex(2, 0x93).wide();
pub(crate) const STORE_MASKED: Vex = vex(2, 0x2f);
pub(crate) const SIGNS: Vex = vex(1, 0x50);
pub(crate) const FROM_INT: Vex = vex(1, 0x2a).wide().short().double();
pub(crate) const COMPARE_FLAGS: Vex = vex(1, 0x2e).short();
pub(crate) const SHIFT_IMMEDIATE: Vex = vex(1, 0x73);

/// Products with a sum, `± a b ± c`, in the three orders of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fused {
    /// a b + c
    Add = 0x98,
    /// a b − c
    Sub = 0x9a,
    /// c − a b
    SubFrom = 0x9c,
}

/// The operand of a fused product that is the result: see the manual. In all orders, `to` is read
/// and written, and the last operand may be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// to = to · last ± other
    TimesLast = 0x00,
    /// to = other · to ± last
    PlusLast = 0x10,
    /// to = other · last ± to
    PlusTo = 0x20,
}

impl Fused {
    pub fn vex(self, order: Order) -> Vex {
        vex(2, self as u8 + order as u8).wide()
    }
}

/// A branch target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Label(pub u32);

/// Code under construction.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    pub code: Vec<u8>,
    /// By label: its position.
    labels: Vec<Option<usize>>,
    /// Branches: the position of their distance, and their target.
    branches: Vec<(usize, Label)>,
    /// Constant operands: the position of their distance, the position from which it counts, and
    /// the number of the constant.
    constants: Vec<(usize, usize, u32)>,
}

impl Assembler {
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Binds the label to the current position.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.code.len());
    }

    fn byte(&mut self, byte: u8) {
        self.code.push(byte);
    }

    fn four(&mut self, value: i32) {
        self.code.extend(value.to_le_bytes());
    }

    /// The operands: a register or an opcode extension, and a register or an address. `behind`: the
    /// number of bytes of the instruction that follow.
    fn operands(&mut self, reg: u8, operand: RegMem, behind: usize) {
        let reg = (reg & 7) << 3;
        match operand {
            RegMem::Reg(other) => self.byte(0xc0 | reg | (other & 7)),
            RegMem::Constant(number) => {
                self.byte(0x05 | reg);
                let at = self.code.len();
                self.constants.push((at, at + 4 + behind, number));
                self.four(0);
            }
            RegMem::Memory { base, index, displacement } => {
                let low = base.0 & 7;
                // Without a displacement, the encodings of rbp and r13 have another meaning.
                let short = i8::try_from(displacement);
                let size = match displacement {
                    0 if low != 5 => 0x00,
                    _ if short.is_ok() => 0x40,
                    _ => 0x80,
                };
                match index {
                    Some(index) => {
                        self.byte(size | reg | 4);
                        self.byte(0xc0 | ((index & 7) << 3) | low);
                    }
                    None if low == 4 => {
                        self.byte(size | reg | 4);
                        self.byte(0x24);
                    }
                    None => self.byte(size | reg | low),
                }
                match (size, short) {
                    (0x40, Ok(short)) => self.byte(short as u8),
                    (0x80, _) => self.four(displacement),
                    (_, _) => {}
                }
            }
        }
    }

    /// The high bits of an operand's register numbers: index, base.
    fn high(operand: RegMem) -> (u8, u8) {
        match operand {
            RegMem::Reg(reg) => (0, reg >> 3),
            RegMem::Memory { base, index, .. } => {
                (index.map_or(0, |index| index >> 3), base.0 >> 3)
            }
            RegMem::Constant(_) => (0, 0),
        }
    }

    /// A general instruction on 64 bits.
    fn general(&mut self, opcode: &[u8], reg: u8, operand: RegMem, behind: usize) {
        let (index, base) = Assembler::high(operand);
        self.byte(0x48 | ((reg >> 3) << 2) | (index << 1) | base);
        self.code.extend(opcode);
        self.operands(reg, operand, behind);
    }

    pub fn load(&mut self, to: Gpr, from: RegMem) {
        self.general(&[0x8b], to.0, from, 0);
    }

    pub fn store(&mut self, to: RegMem, from: Gpr) {
        self.general(&[0x89], from.0, to, 0);
    }

    pub fn store_constant(&mut self, to: RegMem, value: i32) {
        self.general(&[0xc7], 0, to, 4);
        self.four(value);
    }

    /// Copies a register or a constant to a register.
    pub fn copy(&mut self, to: Gpr, from: Gpr) {
        if to != from {
            self.load(to, from.into());
        }
    }

    pub fn constant(&mut self, to: Gpr, value: i64) {
        if let Ok(short) = i32::try_from(value) {
            return self.store_constant(to.into(), short);
        }
        self.byte(0x48 | (to.0 >> 3));
        self.byte(0xb8 | (to.0 & 7));
        self.code.extend(value.to_le_bytes());
    }

    pub fn address(&mut self, to: Gpr, of: RegMem) {
        self.general(&[0x8d], to.0, of, 0);
    }

    /// `to = a + b` on registers, as the sum of a base and an index.
    pub fn sum(&mut self, to: Gpr, a: Gpr, b: Gpr) {
        // rsp cannot be an index, and rbp and r13 need a displacement as bases.
        let (base, index) = if a.0 & 7 == 5 { (b, a) } else { (a, b) };
        let displaced = base.0 & 7 == 5;
        self.byte(0x48 | ((to.0 >> 3) << 2) | ((index.0 >> 3) << 1) | (base.0 >> 3));
        self.byte(0x8d);
        self.byte(if displaced { 0x44 } else { 0x04 } | ((to.0 & 7) << 3));
        self.byte(((index.0 & 7) << 3) | (base.0 & 7));
        if displaced {
            self.byte(0);
        }
    }

    pub fn alu(&mut self, op: Alu, to: Gpr, from: RegMem) {
        self.general(&[op.codes().0], to.0, from, 0);
    }

    pub fn alu_constant(&mut self, op: Alu, to: RegMem, value: i32) {
        match i8::try_from(value) {
            Ok(short) => {
                self.general(&[0x83], op.codes().1, to, 1);
                self.byte(short as u8);
            }
            Err(_) => {
                self.general(&[0x81], op.codes().1, to, 4);
                self.four(value);
            }
        }
    }

    pub fn multiply(&mut self, to: Gpr, by: RegMem) {
        self.general(&[0x0f, 0xaf], to.0, by, 0);
    }

    pub fn multiply_constant(&mut self, to: Gpr, from: RegMem, by: i32) {
        self.general(&[0x69], to.0, from, 4);
        self.four(by);
    }

    pub fn shift(&mut self, op: Shift, to: Gpr, by: u8) {
        self.general(&[0xc1], op as u8, to.into(), 1);
        self.byte(by);
    }

    pub fn test(&mut self, reg: Gpr) {
        self.general(&[0x85], reg.0, reg.into(), 0);
    }

    /// Sets the register to 1 if the condition holds, else to 0.
    pub fn set(&mut self, condition: Condition, to: Gpr) {
        // Sets the low byte, then extends it. The prefix selects `sil` in place of `dh`.
        self.byte(0x40 | (to.0 >> 3));
        self.code.extend([0x0f, 0x90 | condition as u8, 0xc0 | (to.0 & 7)]);
        self.general(&[0x0f, 0xb6], to.0, to.into(), 0);
    }

    pub fn copy_if(&mut self, condition: Condition, to: Gpr, from: RegMem) {
        self.general(&[0x0f, 0x40 | condition as u8], to.0, from, 0);
    }

    pub fn exchange(&mut self, reg: Gpr, with: RegMem) {
        self.general(&[0x87], reg.0, with, 0);
    }

    pub fn push(&mut self, reg: Gpr) {
        self.byte(0x40 | (reg.0 >> 3));
        self.byte(0x50 | (reg.0 & 7));
    }

    pub fn pop(&mut self, reg: Gpr) {
        self.byte(0x40 | (reg.0 >> 3));
        self.byte(0x58 | (reg.0 & 7));
    }

    pub fn call(&mut self, reg: Gpr) {
        self.general(&[0xff], 2, reg.into(), 0);
    }

    /// Calls code in the same region.
    pub fn call_label(&mut self, to: Label) {
        self.byte(0xe8);
        self.branches.push((self.code.len(), to));
        self.four(0);
    }

    pub fn give_back(&mut self) {
        self.byte(0xc3);
    }

    pub fn jump(&mut self, to: Label) {
        self.byte(0xe9);
        self.branches.push((self.code.len(), to));
        self.four(0);
    }

    pub fn jump_if(&mut self, condition: Condition, to: Label) {
        self.code.extend([0x0f, 0x80 | condition as u8]);
        self.branches.push((self.code.len(), to));
        self.four(0);
    }

    /// Zeroes the upper halves of vectors, because code without AVX would wait for them.
    pub fn zero_upper(&mut self) {
        self.code.extend([0xc5, 0xf8, 0x77]);
    }

    /// A vector instruction: `to` and `operand` are its first and its last operand, `between` the
    /// optional one between them.
    pub fn vector(&mut self, vex: Vex, to: u8, between: Option<u8>, operand: RegMem) {
        self.vector_with(vex, to, between, operand, None);
    }

    /// [`Self::vector`] with a constant.
    pub fn vector_with(
        &mut self,
        vex: Vex,
        to: u8,
        between: Option<u8>,
        operand: RegMem,
        constant: Option<u8>,
    ) {
        let (index, base) = Assembler::high(operand);
        self.byte(0xc4);
        self.byte(((!(to >> 3) & 1) << 7) | ((!index & 1) << 6) | ((!base & 1) << 5) | vex.map);
        let between = !between.unwrap_or(0) & 15;
        self.byte(
            (u8::from(vex.wide) << 7) | (between << 3) | (u8::from(vex.long) << 2) | vex.prefix,
        );
        self.byte(vex.opcode);
        self.operands(to, operand, constant.map_or(0, |_| 1));
        if let Some(constant) = constant {
            self.byte(constant);
        }
    }

    /// Appends constants of four words, and fills in all distances.
    pub fn finish(mut self, constants: &[[u64; 4]]) -> Vec<u8> {
        for (at, label) in std::mem::take(&mut self.branches) {
            let target = self.labels[label.0 as usize].expect("every label is bound");
            let distance = target as i64 - (at as i64 + 4);
            self.patch(at, distance);
        }
        while !self.code.len().is_multiple_of(32) {
            self.byte(0xcc);
        }
        let first = self.code.len();
        constants.iter().flatten().for_each(|word| self.code.extend(word.to_le_bytes()));
        for (at, from, number) in std::mem::take(&mut self.constants) {
            let distance = (first + 32 * number as usize) as i64 - from as i64;
            self.patch(at, distance);
        }
        self.code
    }

    fn patch(&mut self, at: usize, distance: i64) {
        let distance = i32::try_from(distance).expect("code has less than two gigabytes");
        self.code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(write: impl FnOnce(&mut Assembler)) -> String {
        let mut asm = Assembler::default();
        write(&mut asm);
        asm.code.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn indexed(base: Gpr, index: u8, displacement: i32) -> RegMem {
        RegMem::Memory { base, index: Some(index), displacement }
    }

    /// As encoded by GNU `as`: bases that need one more byte, registers above the eighth, all kinds
    /// of operands.
    #[test]
    fn instructions_are_those_of_other_assemblers() {
        let said = [
            ("mov rax, [rsp]", "488b0424", bytes(|a| a.load(RAX, at(RSP, 0)))),
            ("mov r8, [r12+8]", "4d8b442408", bytes(|a| a.load(R8, at(R12, 8)))),
            ("mov rcx, [rbp]", "488b4d00", bytes(|a| a.load(RCX, at(RBP, 0)))),
            ("mov rcx, [r13]", "498b4d00", bytes(|a| a.load(RCX, at(R13, 0)))),
            (
                "mov rdx, [r13+r9*8+0x400]",
                "4b8b94cd00040000",
                bytes(|a| a.load(RDX, indexed(R13, 9, 0x400))),
            ),
            ("lea rbx, [rsi+rbp]", "488d1c2e", bytes(|a| a.sum(RBX, RBP, RSI))),
            ("lea r10, [r12+r11]", "4f8d141c", bytes(|a| a.sum(R10, R12, R11))),
            (
                "imul rax, [rsp+8], 1000",
                "48694424 08e8030000",
                bytes(|a| a.multiply_constant(RAX, at(RSP, 8), 1000)),
            ),
            (
                "setl sil; movzx rsi, sil",
                "400f9cc6 480fb6f6",
                bytes(|a| a.set(Condition::Less, RSI)),
            ),
            (
                "vaddpd ymm1, ymm2, [rsp+0x40]",
                "c4e16d584c2440",
                bytes(|a| a.vector(ADD, 1, Some(2), at(RSP, 0x40))),
            ),
            (
                "vaddpd ymm9, ymm10, ymm11",
                "c4412d58cb",
                bytes(|a| a.vector(ADD, 9, Some(10), Ymm(11).into())),
            ),
            (
                "vmovupd [r14+rdi*8], ymm13",
                "c4417d112cfe",
                bytes(|a| a.vector(STORE, 13, None, indexed(R14, 7, 0))),
            ),
            (
                "vbroadcastsd ymm8, [rax+r15*8-8]",
                "c4227d1944f8f8",
                bytes(|a| a.vector(BROADCAST, 8, None, indexed(RAX, 15, -8))),
            ),
            (
                "vblendvpd ymm1, ymm2, ymm3, ymm4",
                "c4e36d4bcb40",
                bytes(|a| a.vector_with(BLEND, 1, Some(2), Ymm(3).into(), Some(4 << 4))),
            ),
            (
                "vshufpd ymm1, ymm2, ymm3, 5",
                "c4e16dc6cb05",
                bytes(|a| a.vector_with(SHUFFLE, 1, Some(2), Ymm(3).into(), Some(5))),
            ),
            (
                "vgatherqpd ymm14, [rcx+ymm13*8+16], ymm15",
                "c42285937 4e910",
                bytes(|a| a.vector(GATHER, 14, Some(15), indexed(RCX, 13, 16))),
            ),
            (
                "vfmadd231pd ymm3, ymm4, [rsp+32]",
                "c4e2ddb85c2420",
                bytes(|a| a.vector(Fused::Add.vex(Order::PlusTo), 3, Some(4), at(RSP, 32))),
            ),
            ("vmovq rax, xmm9", "c461f97ec8", bytes(|a| a.vector(TO_WORD, 9, None, RAX.into()))),
            (
                "vpextrq rax, xmm9, 1",
                "c463f916c801",
                bytes(|a| a.vector_with(EXTRACT_WORD, 9, None, RAX.into(), Some(1))),
            ),
        ];
        for (text, expected, found) in said {
            assert_eq!(found, expected.replace(' ', ""), "{text}");
        }
    }

    /// A branch distance counts from the end of the branch, a constant's from the end of its
    /// instruction.
    #[test]
    fn distances() {
        let mut asm = Assembler::default();
        let top = asm.label();
        asm.bind(top);
        asm.vector_with(COMPARE, 0, Some(1), RegMem::Constant(1), Some(0x11));
        asm.jump(top);
        let code = asm.finish(&[[0; 4], [7; 4]]);
        assert_eq!(code.len(), 32 + 64);
        // The instruction has ten bytes, the last of which is its immediate.
        assert_eq!(code[5..9], (32 + 32 - 10_i32).to_le_bytes());
        assert_eq!(code[11..15], (-15_i32).to_le_bytes());
        assert_eq!(code[64..72], 7_u64.to_le_bytes());
    }
}
