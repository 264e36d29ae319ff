//! Facts about a region before instruction selection: the statements that it may contain, its
//! inputs, and the uses of registers.

use std::collections::{BTreeSet, HashMap, HashSet};

use lambada_loops::{Binding, Buf, Cell, Function, Nest, Op, Operand, Reg, Step, Stmt, Ty};
use lambada_prim::{Precision, Prim};

use crate::LANES;

/// Maximal number of sizes, limited by the room for a call's arguments.
pub(crate) const MOST_DIMS: usize = 12;

/// By address of a statement with bodies, in a program that does not move: whether it can be in a
/// region.
pub(crate) type Nests = HashMap<*const Nest, bool>;

/// Whether the statement can be part of a region. A view must not be known after the region, so it
/// must be inside a body.
pub(crate) fn accepts(function: &Function, stmt: &Stmt, nests: &mut Nests) -> bool {
    let is_view = matches!(stmt, Stmt::Step(Step::View { .. }));
    function.precision == Precision::F64 && !is_view && is_known(function, stmt, nests)
}

/// Whether the statement can be inside a region: it makes neither calls nor nodes.
fn is_known(function: &Function, stmt: &Stmt, nests: &mut Nests) -> bool {
    let fits = match stmt {
        Stmt::Step(step) => is_known_step(step),
        Stmt::Nest(nest) => {
            let place = std::ptr::from_ref(nest);
            if let Some(known) = nests.get(&place) {
                return *known;
            }
            let known = is_known_nest(function, nest, nests);
            nests.insert(place, known);
            known
        }
    };
    fits && match_widths(function, stmt)
}

fn is_known_nest(function: &Function, nest: &Nest, nests: &mut Nests) -> bool {
    let steps = match nest {
        // The code adds the step to the index as a constant of 32 bits.
        Nest::For { step, .. } => i32::try_from(*step).is_ok(),
        Nest::While { .. } | Nest::If { .. } => true,
        Nest::Scope(..) | Nest::Parallel { .. } => true,
    };
    let mut inside = nest.bodies().into_iter().flatten();
    steps && inside.all(|stmt| is_known(function, stmt, nests))
}

/// Whether the registers and cells of the statement itself have one lane or four.
fn match_widths(function: &Function, stmt: &Stmt) -> bool {
    let fits = |ty: Ty| ty.lanes == 1 || ty.lanes == LANES;
    let place = |place| match place {
        Binding::Reg(reg) => fits(function.regs[reg.0 as usize].0),
        Binding::Cell(cell) => fits(function.cells[cell.0 as usize].0),
        Binding::Buf(_) => true,
    };
    let mut all = stmt.binds().is_none_or(place);
    stmt.operands(&mut |operand| match operand {
        Operand::Reg(reg) => all &= place(Binding::Reg(reg)),
        Operand::Lit(_) => {}
    });
    if let Stmt::Step(step) = stmt {
        step.places(&mut |other| all &= place(other));
    }
    all
}

fn is_known_step(step: &Step) -> bool {
    match step {
        Step::Let(_, op) => match op {
            Op::Prim(..)
            | Op::Load(..)
            | Op::LoadSome(..)
            | Op::Get(_)
            | Op::Fold(..)
            | Op::Splice(..)
            | Op::Iota => true,
            Op::Tag(_) | Op::Field(..) => false,
        },
        Step::Alloc { dims, .. } => dims.len() <= MOST_DIMS,
        Step::Cell(..)
        | Step::Set(..)
        | Step::Store { .. }
        | Step::StoreSome { .. }
        | Step::View { .. }
        | Step::Swap(..)
        | Step::Constant(..)
        | Step::Copy { .. }
        | Step::Transpose { .. }
        | Step::Fill { .. }
        | Step::Check { .. } => true,
        // Only the interpreter knows nodes,
        Step::Node { .. } | Step::Open { .. } => false,
        // callers, and functions outside the program.
        Step::Call { .. } => false,
        Step::Kernel { .. } | Step::Inspect { .. } => false,
    }
}

/// The use of a register, if it has only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// An operand of a primitive.
    Operand(Prim),
    /// The condition of a branch, a check or a selection.
    Test,
    /// An offset into a buffer.
    Offset,
    /// The new value of a cell that no statement mentions since the register was bound.
    Set(Cell),
    /// Any other use.
    Other,
}

/// Facts about a register that the region binds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegFacts {
    /// The body that binds it, and the position there.
    body: u32,
    at: u32,
    /// The number of mentions.
    pub uses: u32,
    /// Whether only statements of its own body mention it, neither inner bodies nor loops.
    pub local: bool,
    /// Its use, if it has only one.
    pub used_by: Use,
}

/// Facts about a region.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The registers that it binds.
    pub regs: HashMap<Reg, RegFacts>,
    /// Registers, cells and buffers from outside.
    pub regs_in: BTreeSet<Reg>,
    pub cells_in: BTreeSet<Cell>,
    pub bufs_in: BTreeSet<Buf>,
    /// Registers that may be used after the region: those bound at its outermost level.
    pub regs_out: Vec<Reg>,
    /// Cells that are set, or declared at the outermost level.
    pub cells_out: BTreeSet<Cell>,
    /// Whether the region has a loop.
    pub loops: bool,
    /// The number of statements.
    pub size: usize,
}

struct Walk<'a> {
    facts: Facts,
    function: &'a Function,
    bodies: u32,
    /// Cells and buffers that the region binds.
    cells: HashSet<Cell>,
    bufs: HashSet<Buf>,
}

/// State of the walk through a statement list.
struct Body {
    number: u32,
    outermost: bool,
    at: u32,
    /// By cell: the position of its last mention.
    cells: HashMap<Cell, u32>,
    /// The position of the last statement with bodies.
    nest: Option<u32>,
}

impl Facts {
    pub fn of(function: &Function, stmts: &[Stmt], lives_on: &dyn Fn(Reg) -> bool) -> Facts {
        let (cells, bufs) = (HashSet::new(), HashSet::new());
        let mut walk = Walk { facts: Facts::default(), function, bodies: 0, cells, bufs };
        walk.body(stmts.iter(), true);
        let mut facts = walk.facts;
        for reg in &facts.regs_out {
            let known = facts.regs.get_mut(reg).expect("it is bound");
            if lives_on(*reg) {
                known.uses += 1;
                known.local = false;
                known.used_by = Use::Other;
            }
        }
        facts.regs_out.retain(|reg| lives_on(*reg));
        facts
    }

    /// The use of the register, if it has only one, by a statement of its own body.
    pub fn only_use(&self, reg: Reg) -> Option<Use> {
        let known = self.regs.get(&reg)?;
        (known.uses == 1 && known.local).then_some(known.used_by)
    }

    /// Whether only statements of its own body use it.
    pub fn is_local(&self, reg: Reg) -> bool {
        self.regs.get(&reg).is_some_and(|known| known.local)
    }
}

impl Walk<'_> {
    fn body<'s>(&mut self, stmts: impl Iterator<Item = &'s Stmt>, outermost: bool) {
        self.bodies += 1;
        let (number, cells) = (self.bodies, HashMap::new());
        let mut body = Body { number, outermost, at: 0, cells, nest: None };
        for stmt in stmts {
            body.at += 1;
            self.facts.size += 1;
            match stmt {
                Stmt::Step(step) => self.step(step, &mut body),
                Stmt::Nest(nest) => self.nest(nest, &mut body),
            }
        }
    }

    fn nest(&mut self, nest: &Nest, body: &mut Body) {
        body.nest = Some(body.at);
        match nest {
            Nest::If { cond, then, otherwise } => {
                self.mention(*cond, Use::Test, true, body);
                self.body(then.iter(), false);
                self.body(otherwise.iter(), false);
            }
            Nest::For { index, start, end, body: inner, .. } => {
                self.facts.loops = true;
                self.mention(*start, Use::Other, false, body);
                self.mention(*end, Use::Other, false, body);
                self.bind(*index, body.number, body.at);
                self.body(inner.iter(), false);
            }
            Nest::Parallel { index, count, body: inner, merge } => {
                self.facts.loops = true;
                self.mention(*count, Use::Other, false, body);
                self.bind(*index, body.number, body.at);
                self.body(inner.iter().chain(merge), false);
            }
            Nest::While { cond, body: inner } => {
                self.facts.loops = true;
                self.body(cond.before.iter(), false);
                // The test belongs to the statements before it, so no register of this body is
                // local to it.
                self.mention(cond.test, Use::Test, false, body);
                self.body(inner.iter(), false);
            }
            Nest::Scope(_, inner) => self.body(inner.iter(), false),
        }
    }

    fn bind(&mut self, reg: Reg, body: u32, at: u32) {
        let known = RegFacts { body, at, uses: 0, local: true, used_by: Use::Other };
        self.facts.regs.insert(reg, known);
    }

    fn mention(&mut self, operand: Operand, by: Use, local: bool, body: &Body) {
        let Operand::Reg(reg) = operand else { return };
        match self.facts.regs.get_mut(&reg) {
            Some(known) => {
                known.uses += 1;
                known.local &= local && known.body == body.number;
                known.used_by = by;
            }
            None => {
                self.facts.regs_in.insert(reg);
            }
        }
    }

    fn step(&mut self, step: &Step, body: &mut Body) {
        match step {
            Step::Let(_, Op::Prim(prim, args)) => {
                for (k, arg) in args.iter().enumerate() {
                    let is_test =
                        k == 0 && matches!(prim, Prim::Select | Prim::SelectInt | Prim::SelectBool);
                    let by = if is_test { Use::Test } else { Use::Operand(*prim) };
                    self.mention(*arg, by, true, body);
                }
            }
            Step::Let(_, Op::Load(_, offset)) => self.mention(*offset, Use::Offset, true, body),
            Step::Store { offset, value, .. } => {
                self.mention(*offset, Use::Offset, true, body);
                self.mention(*value, Use::Other, true, body);
            }
            Step::Check { cond, values, .. } => {
                self.mention(*cond, Use::Test, true, body);
                values.iter().for_each(|value| self.mention(*value, Use::Other, true, body));
            }
            Step::Set(cell, value) => {
                let by = match value {
                    Operand::Reg(reg) if self.is_fresh(*reg, *cell, body) => Use::Set(*cell),
                    Operand::Reg(_) | Operand::Lit(_) => Use::Other,
                };
                self.mention(*value, by, true, body);
            }
            _ => step.operands(&mut |operand| self.mention(operand, Use::Other, true, body)),
        }
        step.places(&mut |place| match place {
            Binding::Cell(cell) => {
                body.cells.insert(cell, body.at);
                if !self.cells.contains(&cell) {
                    self.facts.cells_in.insert(cell);
                    if let Step::Set(..) = step {
                        self.facts.cells_out.insert(cell);
                    }
                }
            }
            Binding::Buf(buf) => {
                if !self.bufs.contains(&buf) {
                    self.facts.bufs_in.insert(buf);
                }
            }
            Binding::Reg(_) => {}
        });
        match step.binds() {
            Some(Binding::Reg(reg)) => {
                self.bind(reg, body.number, body.at);
                if body.outermost {
                    self.facts.regs_out.push(reg);
                }
            }
            Some(Binding::Cell(cell)) => {
                self.cells.insert(cell);
                body.cells.insert(cell, body.at);
                if body.outermost {
                    self.facts.cells_out.insert(cell);
                }
            }
            // A constant has its memory before the program runs.
            Some(Binding::Buf(buf)) => {
                if let Step::View { .. } | Step::Alloc { .. } = step {
                    self.bufs.insert(buf);
                }
            }
            None => {}
        }
    }

    /// Whether no statement has mentioned the cell since the register was bound, in the same body,
    /// without an inner body in between.
    fn is_fresh(&self, reg: Reg, cell: Cell, body: &Body) -> bool {
        let fits = |known: &RegFacts| {
            known.body == body.number
                && body.cells.get(&cell).is_none_or(|at| *at < known.at)
                && body.nest.is_none_or(|at| at < known.at)
        };
        let same = self.ty(reg) == self.function.cells[cell.0 as usize].0;
        same && self.facts.regs.get(&reg).is_some_and(fits)
    }

    fn ty(&self, reg: Reg) -> Ty {
        self.function.regs[reg.0 as usize].0
    }
}
