//! Large functions in parts. The time of C compilers grows with the square of the length of a
//! function, mostly in register allocation: 5000 assignments take half a minute. So a long run of
//! statements becomes a function of its own, and values shared by several parts go through a frame,
//! a struct. A function of ordinary size stays whole.
//!
//! A part reads registers and unexchanged pointers from the frame once, at its beginning, so that
//! loops work on local variables as ever. Cells, and pointers that are exchanged, live in the
//! frame.
//!
//! An iteration of a `Parallel` is a part, too, of any length, because threads call functions. It
//! has a frame of its own, a copy.

use std::collections::{BTreeSet, HashMap};

use lambada_loops::{Binding, Buf, Cell, Function, Nest, Operand, Param, Reg, Return, Stmt, visit};

/// About the number of statements of a part.
pub const PART: usize = 250;

/// A function or a loop stays whole up to this multiple of the statements of a part.
const WHOLE: usize = 4;

/// The kernel itself, among the parts.
pub(crate) const KERNEL: usize = 0;

/// A run of statements that is a function of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutlinedPart {
    pub number: usize,
    pub len: usize,
}

/// A register or a buffer, in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shared {
    Reg(u32),
    Buf(u32),
}

/// The parts of a function, and the values that they share.
#[derive(Default)]
pub(crate) struct Parts {
    /// By the first statement.
    starts: HashMap<*const Stmt, OutlinedPart>,
    /// The iterations of parallel loops, by the loop.
    teams: HashMap<*const Stmt, usize>,
    /// The part around a part.
    parents: Vec<usize>,
    /// The values that a part reads from the frame at its beginning.
    pub imports: Vec<BTreeSet<Shared>>,
    /// The values that the part around it reads from the frame afterwards.
    pub exports: Vec<BTreeSet<Shared>>,
    /// By register, cell and buffer: whether it is in the frame.
    pub regs: Vec<bool>,
    pub cells: Vec<bool>,
    pub bufs: Vec<bool>,
}

impl Parts {
    /// Cuts a function into parts of about this number of statements.
    pub fn of(function: &Function, part: usize) -> Parts {
        let mut parts = Parts {
            regs: vec![false; function.regs.len()],
            cells: vec![false; function.cells.len()],
            bufs: vec![false; function.bufs.len()],
            parents: vec![KERNEL],
            ..Parts::default()
        };
        if weight(&function.body) > part.saturating_mul(WHOLE) {
            parts.cut(&function.body, part);
        }
        visit(&function.body, &mut |stmt| {
            if let Stmt::Nest(Nest::Parallel { .. }) = stmt {
                parts.teams.insert(stmt, parts.parents.len());
                parts.parents.push(KERNEL);
            }
        });
        if !parts.is_whole() {
            Homes::of(function, &mut parts).find(function);
        }
        parts
    }

    /// Whether the function is one C function.
    pub fn is_whole(&self) -> bool {
        self.starts.is_empty() && self.teams.is_empty()
    }

    /// Whether it has been cut because it is long.
    pub fn is_cut(&self) -> bool {
        !self.starts.is_empty()
    }

    /// The part that is an iteration of a parallel loop.
    pub fn team(&self, stmt: &Stmt) -> usize {
        self.teams[&std::ptr::from_ref(stmt)]
    }

    /// The part that begins with a statement.
    pub fn at(&self, stmt: &Stmt) -> Option<OutlinedPart> {
        self.starts.get(&std::ptr::from_ref(stmt)).copied()
    }

    /// Cuts a body; gives the number of statements that remain in it, the calls of the parts
    /// included.
    fn cut(&mut self, body: &[Stmt], part: usize) -> usize {
        let (mut first, mut run, mut calls) = (0, 0, 0);
        for (k, stmt) in body.iter().enumerate() {
            let inside: usize = match stmt {
                // The frame is memory, so loops that are not long stay whole: their sums are
                // registers.
                Stmt::Nest(Nest::For { body, .. })
                    if weight(body) <= part.saturating_mul(WHOLE) =>
                {
                    weight(body)
                }
                // the test of a `while` sees the names bound before it
                Stmt::Nest(Nest::While { cond, body }) => {
                    weight(&cond.before) + self.cut(body, part)
                }
                Stmt::Nest(Nest::For { .. } | Nest::If { .. } | Nest::Scope(..)) => {
                    stmt.bodies().into_iter().map(|inner| self.cut(inner, part)).sum()
                }
                // Its iterations are functions.
                Stmt::Nest(Nest::Parallel { body, merge, .. }) => {
                    self.cut(body, part);
                    self.cut(merge, part);
                    0
                }
                Stmt::Step(_) => 0,
            };
            run += 1 + inside;
            if run >= part {
                let cut = OutlinedPart { number: self.parents.len(), len: k + 1 - first };
                self.starts.insert(&body[first], cut);
                self.parents.push(KERNEL);
                (first, run, calls) = (k + 1, 0, calls + 1);
            }
        }
        run + calls
    }

    /// Whether a part is the other, or inside of it.
    fn is_inside(&self, mut part: usize, other: usize) -> bool {
        while part != other && part != KERNEL {
            part = self.parents[part];
        }
        part == other
    }

    /// The part directly inside of `outer` that holds `part`.
    fn child(&self, outer: usize, mut part: usize) -> usize {
        while self.parents[part] != outer {
            part = self.parents[part];
        }
        part
    }
}

fn weight(body: &[Stmt]) -> usize {
    body.iter()
        .map(|stmt| 1 + stmt.bodies().into_iter().map(|body| weight(body)).sum::<usize>())
        .sum()
}

/// The part in which each name is bound.
struct Homes<'p> {
    parts: &'p mut Parts,
    regs: Vec<usize>,
    cells: Vec<usize>,
    bufs: Vec<usize>,
}

impl<'p> Homes<'p> {
    fn of(function: &Function, parts: &'p mut Parts) -> Homes<'p> {
        parts.imports = vec![BTreeSet::new(); parts.parents.len()];
        parts.exports = vec![BTreeSet::new(); parts.parents.len()];
        Homes {
            parts,
            regs: vec![KERNEL; function.regs.len()],
            cells: vec![KERNEL; function.cells.len()],
            bufs: vec![KERNEL; function.bufs.len()],
        }
    }

    fn find(&mut self, function: &Function) {
        for param in &function.params {
            match param {
                Param::Scalar(reg) => self.regs[reg.0 as usize] = KERNEL,
                Param::Buffer(buf) | Param::Owned(buf) | Param::Shared(buf) => {
                    self.bufs[buf.0 as usize] = KERNEL
                }
            }
        }
        self.body(&function.body, KERNEL);
        for result in &function.results {
            match result {
                Return::Scalar(value) => self.operand(*value, KERNEL),
                Return::Buffer(buf, dims) => {
                    self.buf(*buf, KERNEL);
                    dims.iter().for_each(|dim| self.operand(*dim, KERNEL));
                }
            }
        }
    }

    fn body(&mut self, body: &[Stmt], outer: usize) {
        let (mut part, mut left) = (outer, 0);
        for stmt in body {
            if let Some(OutlinedPart { number, len }) = self.parts.at(stmt) {
                self.parts.parents[number] = outer;
                (part, left) = (number, len);
            } else if left == 0 {
                part = outer;
            }
            left = left.saturating_sub(1);
            self.stmt(stmt, part);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, part: usize) {
        match stmt.binds() {
            Some(Binding::Reg(reg)) => self.regs[reg.0 as usize] = part,
            Some(Binding::Cell(cell)) => self.cells[cell.0 as usize] = part,
            Some(Binding::Buf(buf)) => self.bufs[buf.0 as usize] = part,
            None => {}
        }
        match stmt {
            Stmt::Step(step) => {
                step.operands(&mut |operand| self.operand(operand, part));
                step.places(&mut |place| match place {
                    Binding::Reg(_) => {}
                    Binding::Cell(cell) => self.cell(cell, part),
                    Binding::Buf(buf) => self.buf(buf, part),
                });
            }
            Stmt::Nest(Nest::While { cond, body }) => {
                self.body(&cond.before, part);
                self.operand(cond.test, part);
                self.body(body, part);
            }
            Stmt::Nest(Nest::Parallel { index, count, body, merge }) => {
                self.operand(*count, part);
                let own = self.parts.team(stmt);
                self.parts.parents[own] = part;
                self.regs[index.0 as usize] = own;
                self.body(body, own);
                self.body(merge, own);
            }
            Stmt::Nest(nest @ (Nest::For { .. } | Nest::If { .. } | Nest::Scope(..))) => {
                nest.operands(&mut |operand| self.operand(operand, part));
                nest.bodies().into_iter().for_each(|inner| self.body(inner, part));
            }
        }
    }

    fn operand(&mut self, operand: Operand, part: usize) {
        if let Operand::Reg(Reg(reg)) = operand {
            let home = self.regs[reg as usize];
            self.parts.regs[reg as usize] |= home != part;
            self.shared(Shared::Reg(reg), home, part);
        }
    }

    fn buf(&mut self, Buf(buf): Buf, part: usize) {
        let home = self.bufs[buf as usize];
        self.parts.bufs[buf as usize] |= home != part;
        self.shared(Shared::Buf(buf), home, part);
    }

    fn cell(&mut self, Cell(cell): Cell, part: usize) {
        self.parts.cells[cell as usize] |= self.cells[cell as usize] != part;
    }

    /// Records that a part mentions a name that is bound in another.
    fn shared(&mut self, shared: Shared, home: usize, part: usize) {
        if home == part {
        } else if self.parts.is_inside(home, part) {
            let child = self.parts.child(part, home);
            self.parts.exports[child].insert(shared);
        } else {
            self.parts.imports[part].insert(shared);
        }
    }
}
