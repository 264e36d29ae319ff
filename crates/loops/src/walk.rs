//! The one place that knows all children of all constructs: operands, nested bodies, what is bound, read and written.

use crate::{Buf, Cell, Function, Op, Operand, Reg, Stmt};

/// What a statement gives a name to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// `Let`, and the index of a `For`, which is bound in its body only.
    Reg(Reg),
    /// `Cell`.
    Cell(Cell),
    /// `Alloc`, `View`, `Constant`.
    Buf(Buf),
}

impl Op {
    /// Its operands, in order.
    pub fn operands(&self) -> &[Operand] {
        match self {
            Op::Prim(_, args) => args,
            Op::Load(_, operand) | Op::Fold(_, operand) => std::slice::from_ref(operand),
            Op::Get(_) | Op::Iota => &[],
        }
    }

    /// As `operands`, to change them.
    pub fn operands_mut(&mut self) -> &mut [Operand] {
        match self {
            Op::Prim(_, args) => args,
            Op::Load(_, operand) | Op::Fold(_, operand) => std::slice::from_mut(operand),
            Op::Get(_) | Op::Iota => &mut [],
        }
    }
}

impl Stmt {
    /// Calls `f` on every operand of the statement itself, in the order in which they are evaluated. The test of a `While` belongs to its
    /// first body, see [`Stmt::bodies`], but is given here.
    pub fn operands(&self, f: &mut dyn FnMut(Operand)) {
        match self {
            Stmt::Let(_, op) => op.operands().iter().copied().for_each(f),
            Stmt::Cell(_, value) | Stmt::Set(_, value) => f(*value),
            Stmt::Store { offset, value, .. } => [*offset, *value].into_iter().for_each(f),
            Stmt::Alloc { dims, .. } => dims.iter().copied().for_each(f),
            Stmt::Copy { len, .. } => f(*len),
            Stmt::View { offset, .. } => f(*offset),
            Stmt::Swap(..) | Stmt::Constant(..) | Stmt::Scope(_) => {}
            Stmt::Fill { value, len, .. } => [*value, *len].into_iter().for_each(f),
            Stmt::For { start, end, .. } => [*start, *end].into_iter().for_each(f),
            Stmt::While { cond, .. } => f(cond.test),
            Stmt::If { cond, .. } => f(*cond),
            Stmt::Check { cond, values, .. } => {
                std::iter::once(*cond).chain(values.iter().copied()).for_each(f)
            }
        }
    }

    /// As `operands`, to change them.
    pub fn operands_mut(&mut self, f: &mut dyn FnMut(&mut Operand)) {
        match self {
            Stmt::Let(_, op) => op.operands_mut().iter_mut().for_each(f),
            Stmt::Cell(_, value) | Stmt::Set(_, value) => f(value),
            Stmt::Store { offset, value, .. } => [offset, value].into_iter().for_each(f),
            Stmt::Alloc { dims, .. } => dims.iter_mut().for_each(f),
            Stmt::Copy { len, .. } => f(len),
            Stmt::View { offset, .. } => f(offset),
            Stmt::Swap(..) | Stmt::Constant(..) | Stmt::Scope(_) => {}
            Stmt::Fill { value, len, .. } => [value, len].into_iter().for_each(f),
            Stmt::For { start, end, .. } => [start, end].into_iter().for_each(f),
            Stmt::While { cond, .. } => f(&mut cond.test),
            Stmt::If { cond, .. } => f(cond),
            Stmt::Check { cond, values, .. } => {
                std::iter::once(cond).chain(values.iter_mut()).for_each(f)
            }
        }
    }

    /// Its nested bodies, in order; empty where it has fewer. Of a `While` these are what runs before the test, and the body, which also
    /// sees the names of the former.
    pub fn bodies(&self) -> [&[Stmt]; 2] {
        match self {
            Stmt::For { body, .. } | Stmt::Scope(body) => [body, &[]],
            Stmt::While { cond, body } => [&cond.before, body],
            Stmt::If { then, otherwise, .. } => [then, otherwise],
            Stmt::Let(..)
            | Stmt::Cell(..)
            | Stmt::Set(..)
            | Stmt::Store { .. }
            | Stmt::Alloc { .. }
            | Stmt::View { .. }
            | Stmt::Swap(..)
            | Stmt::Constant(..)
            | Stmt::Copy { .. }
            | Stmt::Fill { .. }
            | Stmt::Check { .. } => [&[], &[]],
        }
    }

    /// As `bodies`, to change them.
    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::For { body, .. } | Stmt::Scope(body) => vec![body],
            Stmt::While { cond, body } => vec![&mut cond.before, body],
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::Let(..)
            | Stmt::Cell(..)
            | Stmt::Set(..)
            | Stmt::Store { .. }
            | Stmt::Alloc { .. }
            | Stmt::View { .. }
            | Stmt::Swap(..)
            | Stmt::Constant(..)
            | Stmt::Copy { .. }
            | Stmt::Fill { .. }
            | Stmt::Check { .. } => Vec::new(),
        }
    }

    /// What it binds, if anything.
    pub fn binds(&self) -> Option<Binding> {
        match self {
            Stmt::Let(reg, _) | Stmt::For { index: reg, .. } => Some(Binding::Reg(*reg)),
            Stmt::Cell(cell, _) => Some(Binding::Cell(*cell)),
            Stmt::Alloc { buf, .. } | Stmt::View { buf, .. } | Stmt::Constant(buf, _) => {
                Some(Binding::Buf(*buf))
            }
            Stmt::Set(..)
            | Stmt::Store { .. }
            | Stmt::Swap(..)
            | Stmt::Copy { .. }
            | Stmt::Fill { .. }
            | Stmt::While { .. }
            | Stmt::If { .. }
            | Stmt::Scope(_)
            | Stmt::Check { .. } => None,
        }
    }

    /// The buffer whose elements it writes, if any; not those of nested statements.
    pub fn writes(&self) -> Option<Buf> {
        match self {
            Stmt::Store { buf, .. } | Stmt::Fill { buf, .. } => Some(*buf),
            Stmt::Copy { to, .. } => Some(*to),
            Stmt::Let(..)
            | Stmt::Cell(..)
            | Stmt::Set(..)
            | Stmt::Alloc { .. }
            | Stmt::View { .. }
            | Stmt::Swap(..)
            | Stmt::Constant(..)
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::If { .. }
            | Stmt::Scope(_)
            | Stmt::Check { .. } => None,
        }
    }
}

/// Calls `f` on every statement, outer ones first.
pub fn visit<'a>(body: &'a [Stmt], f: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body {
        f(stmt);
        for nested in stmt.bodies() {
            visit(nested, f);
        }
    }
}

/// How often each register is mentioned, by number, in the body and the results.
pub fn uses(function: &Function) -> Vec<u32> {
    let mut counts = vec![0; function.regs.len()];
    let mut count = |operand| match operand {
        Operand::Reg(reg) => counts[reg.0 as usize] += 1,
        Operand::Lit(_) => {}
    };
    visit(&function.body, &mut |stmt| stmt.operands(&mut count));
    for result in &function.results {
        match result {
            crate::Return::Scalar(operand) => count(*operand),
            crate::Return::Buffer(_, dims) => dims.iter().copied().for_each(&mut count),
        }
    }
    counts
}
