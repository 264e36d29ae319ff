//! What is known of a region before its instructions are selected: which statements can be in one,
//! what comes from outside, and who uses a register.

use std::collections::{BTreeSet, HashMap, HashSet};

use lambada_loops::{Binding, Buf, Cell, Function, Nest, Op, Operand, Reg, Step, Stmt, Ty};
use lambada_prim::{Precision, Prim};

use crate::LANES;

/// As many sizes as there is room for where a call has its arguments.
pub(crate) const MOST_DIMS: usize = 12;

/// Statements with bodies, by their places in a program that stays where it is: can they be within
/// a region?
pub(crate) type Nests = HashMap<*const Nest, bool>;

/// Can the statement be part of a region? A name for a part of a buffer must not be known outside
/// of the region, so it is within a body.
pub(crate) fn accepts(function: &Function, stmt: &Stmt, nests: &mut Nests) -> bool {
    let is_view = matches!(stmt, Stmt::Step(Step::View { .. }));
    function.precision == Precision::F64 && !is_view && is_known(function, stmt, nests)
}

/// Can the statement be within a region? It neither calls nor makes nodes.
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
        // A step is added to an index as a constant of 32 bits.
        Nest::For { step, .. } => i32::try_from(*step).is_ok(),
        Nest::While { .. } | Nest::If { .. } => true,
        Nest::Scope(..) | Nest::Parallel { .. } => true,
    };
    let mut inside = nest.bodies().into_iter().flatten();
    steps && inside.all(|stmt| is_known(function, stmt, nests))
}

/// Have the registers and cells of the statement itself one lane or four?
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
        // The interpreter alone knows nodes,
        Step::Node { .. } | Step::Open { .. } => false,
        // keeps callers, and calls what is none of the program's.
        Step::Call { .. } => false,
        Step::Kernel { .. } | Step::Inspect { .. } => false,
    }
}

/// What uses a register, where there is one use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// An operand of a primitive.
    Operand(Prim),
    /// What a branch, a check or a selection depends on.
    Test,
    /// An offset into a buffer.
    Offset,
    /// The new value of a cell, which nothing mentions since the register was bound.
    Set(Cell),
    /// Anything else.
    Other,
}

/// What is known of a register that the region binds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// In which body it is bound, and where.
    body: u32,
    at: u32,
    /// How often it is mentioned.
    pub uses: u32,
    /// Only in statements of its body, not in bodies inside, and not by loops?
    pub local: bool,
    /// By what, if once.
    pub used_by: Use,
}

/// What is known of a region.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The registers that it binds.
    pub regs: HashMap<Reg, Known>,
    /// Registers, cells and buffers from outside.
    pub regs_in: BTreeSet<Reg>,
    pub cells_in: BTreeSet<Cell>,
    pub bufs_in: BTreeSet<Buf>,
    /// What it binds that may be known behind it: at its outermost level.
    pub regs_out: Vec<Reg>,
    /// Cells that are set, or begin at the outermost level.
    pub cells_out: BTreeSet<Cell>,
    /// Whether it has a loop.
    pub loops: bool,
    /// How many statements.
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

/// What is known of a statement list while it is gone through.
struct Body {
    number: u32,
    outermost: bool,
    at: u32,
    /// Where a cell was mentioned last.
    cells: HashMap<Cell, u32>,
    /// Where the last statement with bodies was.
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

    /// What uses the register, where it is used once, by a statement of its body.
    pub fn only_use(&self, reg: Reg) -> Option<Use> {
        let known = self.regs.get(&reg)?;
        (known.uses == 1 && known.local).then_some(known.used_by)
    }

    /// Whether it is used by statements of its body only.
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
                // The test belongs to what runs before it: no register of this body is its own.
                self.mention(cond.test, Use::Test, false, body);
                self.body(inner.iter(), false);
            }
            Nest::Scope(_, inner) => self.body(inner.iter(), false),
        }
    }

    fn bind(&mut self, reg: Reg, body: u32, at: u32) {
        let known = Known { body, at, uses: 0, local: true, used_by: Use::Other };
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
            // A constant has its place before the program runs.
            Some(Binding::Buf(buf)) => {
                if let Step::View { .. } | Step::Alloc { .. } = step {
                    self.bufs.insert(buf);
                }
            }
            None => {}
        }
    }

    /// Has nothing mentioned the cell since the register was bound, in the same body, with no other
    /// body between?
    fn is_fresh(&self, reg: Reg, cell: Cell, body: &Body) -> bool {
        let fits = |known: &Known| {
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
