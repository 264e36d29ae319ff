//! Statements of one function as statements of another: every name is replaced.

use crate::{Arg, Buf, Cell, FieldValue, Nest, Op, Operand, Reg, ResultTarget, Return, Step, Stmt};

/// The new names of a function, by number.
#[derive(Clone, Debug, Default)]
pub struct Renaming {
    /// Registers; one that a statement binds becomes a register.
    pub regs: Vec<Operand>,
    /// Cells.
    pub cells: Vec<Cell>,
    /// Buffers.
    pub bufs: Vec<Buf>,
    /// Sites.
    pub sites: Vec<u32>,
}

impl Renaming {
    /// Replaces all names in statements of a function without calls.
    pub fn apply(&self, body: &mut [Stmt]) {
        for stmt in body {
            stmt.operands_mut(&mut |operand| *operand = self.operand(*operand));
            match stmt {
                Stmt::Step(step) => self.step(step),
                Stmt::Nest(Nest::For { index, .. } | Nest::Parallel { index, .. }) => {
                    self.bound(index);
                }
                Stmt::Nest(Nest::While { .. } | Nest::If { .. } | Nest::Scope(..)) => {}
            }
            stmt.bodies_mut().into_iter().for_each(|body| self.apply(body));
        }
    }

    /// The image of an operand.
    pub fn operand(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Reg(reg) => self.regs[reg.0 as usize],
            Operand::Lit(_) => operand,
        }
    }

    fn bound(&self, reg: &mut Reg) {
        if let Operand::Reg(new) = self.regs[reg.0 as usize] {
            *reg = new;
        }
    }

    fn buf(&self, buf: &mut Buf) {
        *buf = self.bufs[buf.0 as usize];
    }

    fn cell(&self, cell: &mut Cell) {
        *cell = self.cells[cell.0 as usize];
    }

    fn site(&self, site: &mut u32) {
        *site = self.sites[*site as usize];
    }

    fn step(&self, step: &mut Step) {
        match step {
            Step::Let(reg, op) => {
                self.bound(reg);
                if let Op::Load(buf, _) | Op::LoadSome(buf, _) = op {
                    self.buf(buf);
                }
                if let Op::Get(cell) = op {
                    self.cell(cell);
                }
            }
            Step::Cell(cell, _) | Step::Set(cell, _) => self.cell(cell),
            Step::Store { buf, .. }
            | Step::StoreSome { buf, .. }
            | Step::Alloc { buf, .. }
            | Step::Constant(buf, _)
            | Step::Fill { buf, .. }
            | Step::Open { buf, .. } => self.buf(buf),
            Step::View { buf: a, base: b, .. }
            | Step::Swap(a, b)
            | Step::Copy { to: a, from: b, .. }
            | Step::Transpose { to: a, from: b, .. } => {
                self.buf(a);
                self.buf(b);
            }
            Step::Kernel { to, args, .. } => {
                to.iter_mut().chain(args).for_each(|buf| self.buf(buf));
            }
            Step::Check { site, .. } => self.site(site),
            Step::Inspect { values, .. } => {
                for value in values {
                    match value {
                        Return::Scalar(_) => {}
                        Return::Buffer(buf, _) => self.buf(buf),
                    }
                }
            }
            Step::Node { reg, fields, site, .. } => {
                self.bound(reg);
                self.site(site);
                for field in fields {
                    match field {
                        FieldValue::Scalar(_) => {}
                        FieldValue::Array(buf, _) => self.buf(buf),
                    }
                }
            }
            Step::Call { args, results, site, .. } => {
                self.site(site);
                for arg in args {
                    match arg {
                        Arg::Scalar(_) => {}
                        Arg::Buffer(buf) => self.buf(buf),
                    }
                }
                for given in results {
                    match given {
                        ResultTarget::Cell(cell) => self.cell(cell),
                        ResultTarget::Buffer(buf) => self.buf(buf),
                    }
                }
            }
        }
    }
}
