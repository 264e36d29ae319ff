//! The children of all constructs, in one place: operands, nested bodies, bindings, reads and
//! writes.

use crate::{
    Arg, Buf, Cell, FieldValue, Function, Nest, Op, Operand, Reg, ResultTarget, Return, Step, Stmt,
    While,
};

/// The name that a statement binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// `Let`, and the index of a `For`, which is bound in its body only.
    Reg(Reg),
    /// `Cell`.
    Cell(Cell),
    /// `Alloc`, `View`, `Constant`.
    Buf(Buf),
}

/// The children of all constructs, in order: once to read and once to change them.
macro_rules! children {
    ($($mutable:ident)?; $operands:ident($operand:ty), $give:ident, $slice:ident; $bodies:ident) => {
        impl Op {
            /// Its operands, in order.
            pub fn $operands(&$($mutable)? self) -> &$($mutable)? [Operand] {
                match self {
                    Op::Prim(_, args) => args,
                    Op::Load(_, operand)
                    | Op::Fold(_, operand)
                    | Op::Tag(operand)
                    | Op::Field(_, operand) => std::slice::$slice(operand),
                    Op::LoadSome(_, place) | Op::Splice(place, _) => place,
                    Op::Get(_) | Op::Iota => &$($mutable)? [],
                }
            }
        }

        impl Step {
            /// Calls `f` on every operand, in the order in which they are evaluated.
            pub fn $operands(&$($mutable)? self, f: &mut dyn FnMut($operand)) {
                match self {
                    Step::Let(_, op) => op.$operands().into_iter().for_each(|x| $give(x, f)),
                    Step::Cell(_, value) | Step::Set(_, value) => $give(value, f),
                    Step::Store { offset, value, .. } => {
                        $give(offset, f);
                        $give(value, f);
                    }
                    Step::StoreSome { offset, count, value, .. } => {
                        $give(offset, f);
                        $give(count, f);
                        $give(value, f);
                    }
                    Step::Alloc { dims, .. } => dims.into_iter().for_each(|dim| $give(dim, f)),
                    Step::Copy { len, .. } => $give(len, f),
                    Step::Transpose { to_row, from_row, rows, cols, .. } => {
                        $give(to_row, f);
                        $give(from_row, f);
                        $give(rows, f);
                        $give(cols, f);
                    }
                    Step::View { offset, .. } => $give(offset, f),
                    Step::Swap(..) | Step::Constant(..) => {}
                    Step::Fill { value, len, .. } => {
                        $give(value, f);
                        $give(len, f);
                    }
                    Step::Kernel { sizes, .. } => sizes.into_iter().for_each(|size| $give(size, f)),
                    Step::Check { cond, values, .. } => {
                        $give(cond, f);
                        values.into_iter().for_each(|value| $give(value, f));
                    }
                    Step::Inspect { values, .. } => {
                        for value in values {
                            match value {
                                Return::Scalar(value) => $give(value, f),
                                Return::Buffer(_, dims) => {
                                    dims.into_iter().for_each(|dim| $give(dim, f));
                                }
                            }
                        }
                    }
                    Step::Node { fields, .. } => {
                        for field in fields {
                            match field {
                                FieldValue::Scalar(value) | FieldValue::Array(_, value) => {
                                    $give(value, f)
                                }
                            }
                        }
                    }
                    Step::Open { of, dims, .. } => {
                        $give(of, f);
                        dims.into_iter().for_each(|dim| $give(dim, f));
                    }
                    Step::Call { args, .. } => {
                        for arg in args {
                            match arg {
                                Arg::Scalar(value) => $give(value, f),
                                Arg::Buffer(_) => {}
                            }
                        }
                    }
                }
            }
        }

        impl Nest {
            /// Calls `f` on every operand of the statement itself, and on the test of a `While`,
            /// which belongs to its first body, see [`Stmt::bodies`].
            pub fn $operands(&$($mutable)? self, f: &mut dyn FnMut($operand)) {
                match self {
                    Nest::For { start, end, .. } => {
                        $give(start, f);
                        $give(end, f);
                    }
                    Nest::While { cond: While { test: cond, .. }, .. } | Nest::If { cond, .. } => {
                        $give(cond, f);
                    }
                    Nest::Parallel { count, .. } => $give(count, f),
                    Nest::Scope(..) => {}
                }
            }

            /// Its bodies, in order. A `While` has the statements before the test, and the body; a
            /// `Parallel` has the body, and the part that runs in order. The second body also sees
            /// the names of the first.
            pub fn $bodies(&$($mutable)? self) -> Vec<&$($mutable)? Vec<Stmt>> {
                match self {
                    Nest::For { body, .. } | Nest::Scope(_, body) => vec![body],
                    Nest::While { cond: While { before, .. }, body } => vec![before, body],
                    Nest::If { then, otherwise, .. } => vec![then, otherwise],
                    Nest::Parallel { body, merge, .. } => vec![body, merge],
                }
            }
        }

        impl Stmt {
            /// Calls `f` on every operand of the statement itself.
            pub fn $operands(&$($mutable)? self, f: &mut dyn FnMut($operand)) {
                match self {
                    Stmt::Step(step) => step.$operands(f),
                    Stmt::Nest(nest) => nest.$operands(f),
                }
            }

            /// Its nested bodies, in order.
            pub fn $bodies(&$($mutable)? self) -> Vec<&$($mutable)? Vec<Stmt>> {
                match self {
                    Stmt::Step(_) => Vec::new(),
                    Stmt::Nest(nest) => nest.$bodies(),
                }
            }
        }
    };
}

children!(; operands(Operand), read, from_ref; bodies);
children!(mut; operands_mut(&mut Operand), change, from_mut; bodies_mut);

fn read(operand: &Operand, f: &mut dyn FnMut(Operand)) {
    f(*operand);
}

fn change(operand: &mut Operand, f: &mut dyn FnMut(&mut Operand)) {
    f(operand);
}

impl Step {
    /// Its binding, if any.
    pub fn binds(&self) -> Option<Binding> {
        match self {
            Step::Let(reg, _) | Step::Node { reg, .. } => Some(Binding::Reg(*reg)),
            Step::Cell(cell, _) => Some(Binding::Cell(*cell)),
            Step::Alloc { buf, .. }
            | Step::View { buf, .. }
            | Step::Constant(buf, _)
            | Step::Open { buf, .. } => Some(Binding::Buf(*buf)),
            Step::Set(..)
            | Step::Store { .. }
            | Step::StoreSome { .. }
            | Step::Swap(..)
            | Step::Copy { .. }
            | Step::Transpose { .. }
            | Step::Fill { .. }
            | Step::Kernel { .. }
            | Step::Check { .. }
            | Step::Inspect { .. }
            | Step::Call { .. } => None,
        }
    }

    /// Calls `f` on the buffers and cells that it mentions and does not bind.
    pub fn places(&self, f: &mut dyn FnMut(Binding)) {
        match self {
            Step::Let(_, Op::Load(buf, _) | Op::LoadSome(buf, _))
            | Step::Store { buf, .. }
            | Step::StoreSome { buf, .. }
            | Step::Fill { buf, .. }
            | Step::View { base: buf, .. } => f(Binding::Buf(*buf)),
            Step::Let(_, Op::Get(cell)) | Step::Set(cell, _) => f(Binding::Cell(*cell)),
            Step::Swap(a, b)
            | Step::Copy { to: a, from: b, .. }
            | Step::Transpose { to: a, from: b, .. } => {
                f(Binding::Buf(*a));
                f(Binding::Buf(*b));
            }
            Step::Kernel { to, args, .. } => {
                args.iter().chain(to).for_each(|buf| f(Binding::Buf(*buf)));
            }
            Step::Node { fields, .. } => {
                for field in fields {
                    match field {
                        FieldValue::Scalar(_) => {}
                        FieldValue::Array(buf, _) => f(Binding::Buf(*buf)),
                    }
                }
            }
            Step::Inspect { values, .. } => {
                for value in values {
                    match value {
                        Return::Scalar(_) => {}
                        Return::Buffer(buf, _) => f(Binding::Buf(*buf)),
                    }
                }
            }
            Step::Call { args, results, .. } => {
                for arg in args {
                    match arg {
                        Arg::Scalar(_) => {}
                        Arg::Buffer(buf) => f(Binding::Buf(*buf)),
                    }
                }
                for given in results {
                    f(match given {
                        ResultTarget::Cell(cell) => Binding::Cell(*cell),
                        ResultTarget::Buffer(buf) => Binding::Buf(*buf),
                    });
                }
            }
            Step::Let(
                _,
                Op::Prim(..)
                | Op::Fold(..)
                | Op::Splice(..)
                | Op::Iota
                | Op::Tag(_)
                | Op::Field(..),
            )
            | Step::Cell(..)
            | Step::Alloc { .. }
            | Step::Constant(..)
            | Step::Open { .. }
            | Step::Check { .. } => {}
        }
    }

    /// The buffers whose elements it writes; those that a callee writes are not known here.
    pub fn writes(&self) -> Vec<Buf> {
        match self {
            Step::Store { buf, .. } | Step::StoreSome { buf, .. } | Step::Fill { buf, .. } => {
                vec![*buf]
            }
            Step::Copy { to, .. } | Step::Transpose { to, .. } => vec![*to],
            Step::Kernel { to, .. } => to.clone(),
            Step::Let(..)
            | Step::Cell(..)
            | Step::Set(..)
            | Step::Alloc { .. }
            | Step::View { .. }
            | Step::Swap(..)
            | Step::Constant(..)
            | Step::Check { .. }
            | Step::Inspect { .. }
            | Step::Node { .. }
            | Step::Open { .. }
            | Step::Call { .. } => Vec::new(),
        }
    }
}

impl Stmt {
    /// Its binding, if any. The index of a `For` or `Parallel` is bound in its bodies only.
    pub fn binds(&self) -> Option<Binding> {
        match self {
            Stmt::Step(step) => step.binds(),
            Stmt::Nest(Nest::For { index, .. } | Nest::Parallel { index, .. }) => {
                Some(Binding::Reg(*index))
            }
            Stmt::Nest(Nest::While { .. } | Nest::If { .. } | Nest::Scope(..)) => None,
        }
    }

    /// The buffers whose elements it writes, nested statements aside.
    pub fn writes(&self) -> Vec<Buf> {
        match self {
            Stmt::Step(step) => step.writes(),
            Stmt::Nest(_) => Vec::new(),
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

/// Whether the functions of a program have loops whose iterations may run at the same time.
pub fn is_parallel(function: &Function) -> bool {
    let mut found = false;
    let mut note = |stmt: &Stmt| found |= matches!(stmt, Stmt::Nest(Nest::Parallel { .. }));
    function.all().for_each(|each| visit(&each.body, &mut note));
    found
}

/// The number of mentions of each register, in the body and the results of the function itself.
pub fn uses(function: &Function) -> Vec<u32> {
    let mut counts = vec![0; function.regs.len()];
    let mut count = |operand| match operand {
        Operand::Reg(reg) => counts[reg.0 as usize] += 1,
        Operand::Lit(_) => {}
    };
    visit(&function.body, &mut |stmt| stmt.operands(&mut count));
    for result in &function.results {
        match result {
            Return::Scalar(operand) => count(*operand),
            Return::Buffer(_, dims) => dims.iter().copied().for_each(&mut count),
        }
    }
    counts
}
