//! Instruction selection.
//!
//! A register whose only use comes soon is *late*: its instruction becomes part of the one that
//! uses it. So a product becomes part of a sum, a load an operand in memory, a comparison a branch.
//! A register with the value of a cell stands for the cell (it is an *alias*) until the cell is
//! set; the new value of a cell is computed in place.
//!
//! - here: inputs and outputs, bodies and loops;
//! - `operands`: operands, and late registers; `steps`: statements without bodies; `prims`:
//!   primitives.

mod operands;
mod prims;
mod steps;

use std::collections::HashMap;

use lambada_loops::{Buf, Cell, Nest, Operand, Reg, Region, Stmt, Ty};
use lambada_prim::{Prim, ScalarTy};

use crate::x86_64::assembler::{Condition, Label};
use crate::x86_64::code::{Class, Control, Form, Inst, Listing, Test, Virtual, WordOperand};
use crate::x86_64::facts::Facts;
use crate::x86_64::writer::Writer;

/// A register whose instruction is pending.
#[derive(Clone, Copy, Debug)]
enum Late {
    Product(Operand, Operand),
    /// A vector load.
    Load(Buf, Operand),
    Compare(Prim, Operand, Operand),
    /// A register and a constant.
    Offset(Reg, i32),
}

struct Selector<'a> {
    region: &'a Region<'a>,
    facts: Facts,
    code: Writer,
    regs: HashMap<Reg, Virtual>,
    cells: HashMap<Cell, Virtual>,
    bufs: HashMap<Buf, Virtual>,
    late: HashMap<Reg, Late>,
    /// By cell: the registers that stand for it.
    aliases: HashMap<Cell, Vec<Reg>>,
    /// By register that the region binds: the number of remaining uses.
    remaining: HashMap<Reg, u32>,
    /// The number of instructions of loops inside the current one.
    inner: usize,
    /// Whether products and sums may be fused.
    contract: bool,
}

/// The instructions of a region. `contract`: whether products and sums may be fused.
pub(crate) fn select(region: &Region, facts: Facts, contract: bool) -> Listing {
    let remaining = facts.regs.iter().map(|(reg, known)| (*reg, known.uses)).collect();
    let mut selector = Selector {
        region,
        facts,
        code: Writer::default(),
        regs: HashMap::new(),
        cells: HashMap::new(),
        bufs: HashMap::new(),
        late: HashMap::new(),
        aliases: HashMap::new(),
        remaining,
        inner: 0,
        contract,
    };
    selector.enter();
    selector.body(region.stmts.iter());
    selector.leave();
    selector.code.listing
}

impl Selector<'_> {
    /// Reads the inputs of the region.
    fn enter(&mut self) {
        for reg in self.facts.regs_in.clone() {
            let to = self.new_virtual(self.ty(reg));
            let (slot, form) = (self.region.regs[reg.0 as usize], form(self.ty(reg)));
            self.code.put(Inst::ReadSlot { to, slot, form });
            self.regs.insert(reg, to);
        }
        for cell in self.facts.cells_in.clone() {
            let to = self.cell(cell);
            let (slot, form) = (self.region.cells[cell.0 as usize], form(self.cell_ty(cell)));
            self.code.put(Inst::ReadSlot { to, slot, form });
        }
        for buf in self.facts.bufs_in.clone() {
            self.buffer(buf);
        }
    }

    /// The address of a buffer of the interpreter.
    fn buffer(&mut self, buf: Buf) {
        let to = self.new_address(buf);
        self.code.put(Inst::Buffer { to, number: buf.0 });
    }

    /// A virtual register for the address of a buffer.
    fn new_address(&mut self, buf: Buf) -> Virtual {
        // A buffer made in a loop keeps its register.
        let known = self.bufs.get(&buf).copied();
        known.unwrap_or_else(|| {
            let to = self.code.word();
            self.code.listing.addresses.push(to);
            self.bufs.insert(buf, to);
            to
        })
    }

    /// Writes the outputs of the region.
    fn leave(&mut self) {
        for reg in self.facts.regs_out.clone() {
            let from = self.operand(Operand::Reg(reg));
            let (slot, form) = (self.region.regs[reg.0 as usize], form(self.ty(reg)));
            self.code.put(Inst::WriteSlot { from, slot, form });
        }
        for cell in self.facts.cells_out.clone() {
            let from = self.cell(cell);
            let (slot, form) = (self.region.cells[cell.0 as usize], form(self.cell_ty(cell)));
            self.code.put(Inst::WriteSlot { from, slot, form });
        }
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
        self.code.listing.new_virtual(class(ty))
    }

    fn cell(&mut self, cell: Cell) -> Virtual {
        if let Some(known) = self.cells.get(&cell) {
            return *known;
        }
        let new = self.new_virtual(self.cell_ty(cell));
        self.cells.insert(cell, new);
        new
    }

    fn body<'s>(&mut self, stmts: impl Iterator<Item = &'s Stmt>) {
        for stmt in stmts {
            match stmt {
                Stmt::Step(step) => self.step(step),
                Stmt::Nest(nest) => self.nest(nest),
            }
        }
    }

    /// Before other bodies: writes late registers, and gives aliases of cells their own registers.
    fn settle(&mut self) {
        let mut late: Vec<Reg> = self.late.keys().copied().collect();
        late.sort_unstable();
        late.into_iter().for_each(|reg| self.write_late(reg));
        let cells: Vec<Cell> = self.aliases.keys().copied().collect();
        cells.into_iter().for_each(|cell| self.settle_cell(cell));
    }

    /// Gives aliases of the cell their own registers if they are still used.
    fn settle_cell(&mut self, cell: Cell) {
        for reg in self.aliases.remove(&cell).unwrap_or_default() {
            if self.remaining.get(&reg).is_some_and(|uses| *uses > 0) {
                let to = self.new_virtual(self.ty(reg));
                self.code.copy(to, self.regs[&reg]);
                self.regs.insert(reg, to);
            }
        }
    }

    fn nest(&mut self, nest: &Nest) {
        match nest {
            Nest::If { cond, then, otherwise } => {
                let test = self.test(*cond);
                self.settle();
                let (to_otherwise, to_end) = (self.code.label(), self.code.label());
                self.code.put(Inst::Unless { test, to: to_otherwise });
                self.body(then.iter());
                if !otherwise.is_empty() {
                    self.code.put(Inst::Control(Control::Jump(to_end)));
                }
                self.code.put(Inst::Control(Control::Bind(to_otherwise)));
                self.body(otherwise.iter());
                self.code.put(Inst::Control(Control::Bind(to_end)));
            }
            Nest::For { index, start, end, step, body, .. } => {
                let [start, end] = [*start, *end].map(|operand| self.value(operand));
                self.counted(*index, (start, end), *step, |selector| selector.body(body.iter()));
            }
            // In order, one of the permitted orders.
            Nest::Parallel { index, count, body, merge } => {
                let ends = (WordOperand::Constant(0), self.value(*count));
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
                self.code.put(Inst::Unless { test, to: exit });
                self.body(body.iter());
                self.settle();
                self.poll(around);
                self.code.put(Inst::Control(Control::Jump(top)));
                self.code.put(Inst::Control(Control::Leave));
                self.code.put(Inst::Control(Control::Bind(exit)));
            }
            Nest::Scope(_, body) => {
                self.settle();
                self.scope(body.iter());
            }
        }
    }

    /// Starts a loop. Returns its position, and the number of instructions of inner loops in the
    /// enclosing one so far.
    fn enter_loop(&mut self, top: Label) -> (usize, usize) {
        self.code.put(Inst::Control(Control::Enter));
        self.code.put(Inst::Control(Control::Bind(top)));
        (self.code.listing.insts.len(), std::mem::take(&mut self.inner))
    }

    /// Ends an iteration, whose work is the number of the loop's instructions without inner loops,
    /// which count their own.
    fn poll(&mut self, (first, around): (usize, usize)) {
        let length = self.code.listing.insts.len() - first;
        let work = i32::try_from(length - self.inner + 1).unwrap_or(i32::MAX);
        self.inner = around + length;
        self.code.put(Inst::Control(Control::Poll { work }));
    }

    /// Statements, followed by a reset of the arena.
    fn scope<'s>(&mut self, stmts: impl Iterator<Item = &'s Stmt>) {
        let mark = self.code.word();
        self.code.put(Inst::Mark { to: mark });
        self.body(stmts);
        self.settle();
        self.code.put(Inst::Release { from: mark });
    }

    fn counted(
        &mut self,
        reg: Reg,
        (start, end): (WordOperand, WordOperand),
        step: i64,
        body: impl FnOnce(&mut Self),
    ) {
        self.settle();
        let (index, top, exit) = (self.code.word(), self.code.label(), self.code.label());
        self.regs.insert(reg, index);
        self.code.put(Inst::Copy { to: index, from: start });
        self.code.put(Inst::Unless { test: Test::Ints(Condition::Less, index, end), to: exit });
        let around = self.enter_loop(top);
        body(self);
        self.settle();
        self.poll(around);
        let step = i32::try_from(step).expect("others are not accepted");
        self.code.put(Inst::Next { index, step, end, top });
        self.code.put(Inst::Control(Control::Leave));
        self.code.put(Inst::Control(Control::Bind(exit)));
    }
}

/// The class of lanes and reals is a vector, of all other scalars a word.
fn class(ty: Ty) -> Class {
    if ty.lanes > 1 || ty.elem == ScalarTy::Real { Class::Vector } else { Class::Word }
}

/// The interpreter's form of values of a type.
fn form(ty: Ty) -> Form {
    match (ty.lanes, ty.elem) {
        (1, ScalarTy::Real) => Form::Spread,
        (1, ScalarTy::Int | ScalarTy::Bool) => Form::Word,
        (_, ScalarTy::Bool) => Form::Masks,
        (_, ScalarTy::Int | ScalarTy::Real) => Form::Lanes,
    }
}
