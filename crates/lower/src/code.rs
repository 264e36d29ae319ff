//! The function under construction, and the position where code is added.
//!
//! Open bodies form a stack of levels: the function, then the loops and branches around the current
//! position. A primitive is placed at the outermost level where its operands are known, so address
//! arithmetic leaves the loops that it does not depend on. This is always correct, because
//! primitives are total and pure. Only index arithmetic also leaves branches, because any other
//! primitive may be costly if its branch is not taken. An equal primitive known at its level is
//! reused. Finished loops are split if that removes tests and divisions ([`split`]).

mod copies;
mod library;
mod sinking;
mod splice;
mod split;

use std::collections::HashMap;
use std::rc::Rc;

use lambada_loops::{
    Buf, Cell, Function, Nest, Op, Operand, Param, Reg, Release, Return, Step, Stmt, Ty,
};
use lambada_prim::{Precision, Prim, Scalar, ScalarTy};
use lambada_source::{Site, Span};

use crate::memory::StorageId;

pub(crate) use split::Each;

/// The construct that an open body belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// The function: outermost.
    Function,
    /// A branch of an `if`.
    Branch,
    /// A loop.
    Loop,
    /// A loop or a function that hands out nodes: these outlive an iteration or the call, unlike
    /// other memory.
    Keeping,
    /// A loop whose memory outlives the iteration: its state changes size, so each iteration makes
    /// the buffers of the next.
    Growing,
}

#[derive(Debug)]
struct Level {
    kind: BodyKind,
    stmts: Vec<Stmt>,
    known: HashMap<(Prim, Vec<Operand>), Operand>,
    allocates: bool,
    /// The buffers that the body allocates, oldest first.
    homes: Vec<StorageId>,
}

/// The function so far, and its open bodies.
#[derive(Debug)]
pub(crate) struct Code {
    function: Function,
    levels: Vec<Level>,
    /// By register: the level that binds it.
    level_of: Vec<usize>,
    /// By register: whether it is known to be nonnegative.
    natural: Vec<bool>,
    /// The number of each site.
    sites: HashMap<Site, u32>,
    /// The source span of the statements being added, if known.
    near: Option<Span>,
    /// By quotient: dividend and divisor.
    quotients: HashMap<Operand, (Operand, Operand)>,
    /// By cell: the value it starts with.
    firsts: HashMap<Cell, Operand>,
    /// The number of statements that splitting loops may still add.
    room: usize,
}

impl Code {
    pub(crate) fn new(name: &str, precision: Precision) -> Code {
        let mut code = Code {
            function: Function { precision, ..Function::new(name) },
            levels: Vec::new(),
            level_of: Vec::new(),
            natural: Vec::new(),
            sites: HashMap::new(),
            near: None,
            quotients: HashMap::new(),
            firsts: HashMap::new(),
            room: split::ROOM_IN_ALL,
        };
        code.open(BodyKind::Function);
        code
    }

    /// The finished function.
    pub(crate) fn finish(mut self) -> Function {
        self.function.body = self.close();
        self.function
    }

    // The interface of the function

    /// Declares the first `count` parameters as sizes.
    pub(crate) fn set_sizes(&mut self, count: usize) {
        self.function.sizes = count;
    }

    /// A scalar parameter; a size is nonnegative.
    pub(crate) fn scalar_param(&mut self, elem: ScalarTy, is_size: bool, hint: Rc<str>) -> Reg {
        let reg = self.reg(elem, 0, hint);
        self.natural[reg.0 as usize] = is_size;
        self.function.params.push(Param::Scalar(reg));
        reg
    }

    /// An array parameter.
    pub(crate) fn buffer_param(&mut self, elem: ScalarTy, hint: Rc<str>) -> Buf {
        let buf = self.function.buf(elem, hint);
        self.function.params.push(Param::Buffer(buf));
        buf
    }

    pub(crate) fn add_result(&mut self, result: Return) {
        self.function.results.push(result);
    }

    // Places in the program

    /// Sets the source span of the code from here on, if known; returns the previous one.
    pub(crate) fn come_from(&mut self, place: Option<Span>) -> Option<Span> {
        let around = self.near;
        self.near = place.or(around);
        around
    }

    /// Restores the source span of the code, if it was known.
    pub(crate) fn go_back(&mut self, around: Option<Span>) {
        self.near = around.or(self.near);
    }

    /// Fails with the message of the site unless the condition holds.
    pub(crate) fn check(&mut self, cond: Operand, site: &Site, values: Vec<Operand>) {
        let site = self.site(site);
        self.push(Step::Check { cond, site, values });
    }

    /// Shows values.
    pub(crate) fn inspect(&mut self, number: u32, values: Vec<Return>) {
        self.push(Step::Inspect { number, values });
    }

    /// The number of a site; equal sites share it.
    pub(crate) fn site(&mut self, site: &Site) -> u32 {
        if let Some(known) = self.sites.get(site) {
            return *known;
        }
        let number = self.function.site(site.clone());
        self.sites.insert(site.clone(), number);
        number
    }

    // Bodies

    pub(crate) fn open(&mut self, kind: BodyKind) {
        self.levels.push(Level {
            kind,
            stmts: Vec::new(),
            known: HashMap::new(),
            allocates: false,
            homes: Vec::new(),
        });
    }

    /// Closes the innermost body. It allocates memory at its first use ([`sinking`]). A loop's body
    /// that allocates becomes a `Scope`, so that its memory is free after each iteration. Nodes
    /// that the loop hands on stay, in memory of the body around.
    pub(crate) fn close(&mut self) -> Vec<Stmt> {
        let level = self.levels.pop().expect("a body is open");
        let release = match level.kind {
            BodyKind::Loop => Some(Release::All),
            BodyKind::Keeping => Some(Release::Arrays),
            BodyKind::Branch | BodyKind::Growing => None,
            BodyKind::Function => None, // who calls does it
        };
        // Unreleased memory belongs to the body around.
        if level.kind != BodyKind::Function && release != Some(Release::All) {
            self.innermost().allocates |= level.allocates;
        }
        let stmts = if level.allocates { sinking::sink(level.stmts) } else { level.stmts };
        match release {
            Some(release) if level.allocates => vec![Nest::Scope(release, stmts).into()],
            Some(_) | None => stmts,
        }
    }

    fn innermost(&mut self) -> &mut Level {
        self.levels.last_mut().expect("a body is open")
    }

    /// The number of the innermost level.
    pub(crate) fn level(&self) -> usize {
        self.levels.len() - 1
    }

    /// Whether the innermost body allocates.
    pub(crate) fn allocates(&self) -> bool {
        self.levels[self.level()].allocates
    }

    pub(crate) fn push(&mut self, stmt: impl Into<Stmt>) {
        self.innermost().stmts.push(stmt.into());
    }

    /// The dividend, if the operands are its quotient and remainder by a number.
    pub(crate) fn whole(&self, [quotient, rest]: [Operand; 2], by: Operand) -> Option<Operand> {
        let (x, divisor) = self.quotients.get(&quotient)?;
        let key = (Prim::RemInt, vec![*x, by]);
        let is_rest = |level: &Level| level.known.get(&key) == Some(&rest);
        (*divisor == by && self.levels.iter().any(is_rest)).then_some(*x)
    }

    // Registers

    fn reg(&mut self, elem: ScalarTy, level: usize, hint: impl Into<Rc<str>>) -> Reg {
        self.level_of.push(level);
        self.natural.push(false);
        self.function.reg(Ty::scalar(elem), hint)
    }

    /// The index of the innermost loop.
    pub(crate) fn index(&mut self, hint: impl Into<Rc<str>>) -> Reg {
        let reg = self.reg(ScalarTy::Int, self.level(), hint);
        self.natural[reg.0 as usize] = true;
        reg
    }

    fn bind(&mut self, elem: ScalarTy, op: Op, hint: impl Into<Rc<str>>) -> Operand {
        let reg = self.reg(elem, self.level(), hint);
        self.push(Step::Let(reg, op));
        reg.into()
    }

    pub(crate) fn load(&mut self, buf: Buf, offset: Operand, hint: impl Into<Rc<str>>) -> Operand {
        let elem = self.elem(buf);
        self.bind(elem, Op::Load(buf, offset), hint)
    }

    pub(crate) fn store(&mut self, buf: Buf, offset: Operand, value: Operand) {
        self.push(Step::Store { buf, offset, value });
    }

    /// The type of a buffer's elements.
    pub(crate) fn elem(&self, buf: Buf) -> ScalarTy {
        self.function.bufs[buf.0 as usize].0
    }

    /// Name hint of a buffer.
    pub(crate) fn hint(&self, buf: Buf) -> Rc<str> {
        self.function.bufs[buf.0 as usize].1.clone()
    }

    /// The source span of the array that the buffer holds, if known.
    pub(crate) fn origin(&self, buf: Buf) -> Option<Span> {
        self.function.origins.get(&buf).copied()
    }

    /// The type of an operand.
    pub(crate) fn elem_of(&self, operand: Operand) -> ScalarTy {
        match operand {
            Operand::Reg(reg) => self.function.regs[reg.0 as usize].0.elem,
            Operand::Lit(value) => value.ty(),
        }
    }

    /// The type of a cell.
    pub(crate) fn cell_elem(&self, cell: Cell) -> ScalarTy {
        self.function.cells[cell.0 as usize].0.elem
    }

    /// The outermost level at which the operand is known.
    pub(crate) fn level_of(&self, operand: Operand) -> usize {
        match operand {
            Operand::Reg(reg) => self.level_of[reg.0 as usize],
            Operand::Lit(_) => 0,
        }
    }

    /// Whether it is known to be nonnegative.
    pub(crate) fn is_natural(&self, operand: Operand) -> bool {
        match operand {
            Operand::Reg(reg) => self.natural[reg.0 as usize],
            Operand::Lit(value) => value.int() >= 0,
        }
    }

    // Primitives

    /// `op(args)`, computed or reused at the outermost level that knows its operands.
    pub(crate) fn prim(
        &mut self,
        op: Prim,
        args: Vec<Operand>,
        hint: impl Into<Rc<str>>,
    ) -> Operand {
        if let Some(simple) = simplify(op, &args) {
            return simple;
        }
        let key = (op, ordered(op, args));
        let floor = key.1.iter().map(|a| self.level_of(*a)).max().unwrap_or(0);
        if let Some(known) = self.levels[floor..].iter().find_map(|level| level.known.get(&key)) {
            return *known;
        }
        let level = self.placement(op, floor);
        let reg = self.reg(op.result(), level, hint);
        self.natural[reg.0 as usize] = self.stays_natural(op, &key.1);
        self.levels[level].stmts.push(Step::Let(reg, Op::Prim(op, key.1.clone())).into());
        if op == Prim::DivInt {
            self.quotients.insert(reg.into(), (key.1[0], key.1[1]));
        }
        self.levels[level].known.insert(key, reg.into());
        reg.into()
    }

    /// The outermost level, from `floor` inwards, to which the primitive may move.
    fn placement(&self, op: Prim, floor: usize) -> usize {
        if is_index_arithmetic(op) {
            return floor;
        }
        let branch =
            self.levels.iter().rposition(|level| level.kind == BodyKind::Branch).unwrap_or(0);
        floor.max(branch)
    }

    fn stays_natural(&self, op: Prim, args: &[Operand]) -> bool {
        match op {
            Prim::AddInt | Prim::MulInt | Prim::MinInt => args.iter().all(|a| self.is_natural(*a)),
            Prim::MaxInt => args.iter().any(|a| self.is_natural(*a)),
            _ => false, // merely not known
        }
    }

    pub(crate) fn int(&mut self, op: Prim, a: Operand, b: Operand) -> Operand {
        self.prim(op, vec![a, b], "at")
    }

    // Cells

    pub(crate) fn cell(
        &mut self,
        elem: ScalarTy,
        first: Operand,
        hint: impl Into<Rc<str>>,
    ) -> Cell {
        let cell = self.function.cell(Ty::scalar(elem), hint);
        self.push(Step::Cell(cell, first));
        self.firsts.insert(cell, first);
        cell
    }

    /// The value that a cell starts with.
    pub(crate) fn first(&self, cell: Cell) -> Operand {
        self.firsts[&cell]
    }

    pub(crate) fn get(&mut self, cell: Cell) -> Operand {
        let (ty, hint) = self.function.cells[cell.0 as usize].clone();
        self.bind(ty.elem, Op::Get(cell), hint)
    }

    pub(crate) fn set(&mut self, cell: Cell, value: Operand) {
        self.push(Step::Set(cell, value));
    }

    /// A cell of the body around the innermost one, to be set by the innermost one.
    pub(crate) fn outer_cell(&mut self, elem: ScalarTy, hint: &str) -> Cell {
        let cell = self.function.cell(Ty::scalar(elem), hint);
        let outer = self.level() - 1;
        self.levels[outer].stmts.push(Step::Cell(cell, Operand::Lit(elem.zero())).into());
        cell
    }

    // Buffers

    /// The source span for arrays of unknown origin.
    pub(crate) fn near(&self) -> Option<Span> {
        self.near
    }

    /// A buffer made at the end of a level that is still open.
    pub(crate) fn alloc(
        &mut self,
        level: usize,
        elem: ScalarTy,
        dims: &[Operand],
        hint: Rc<str>,
        origin: Option<Span>,
    ) -> Buf {
        let buf = self.function.buf(elem, hint);
        self.function.origins.extend(origin.map(|span| (buf, span)));
        self.levels[level].stmts.push(Step::Alloc { buf, dims: dims.to_vec() }.into());
        self.levels[level].allocates = true;
        buf
    }

    /// Registers a buffer of a level for reuse when it is free.
    pub(crate) fn add_home(&mut self, level: usize, storage: StorageId) {
        self.levels[level].homes.push(storage);
    }

    /// The buffers of the innermost level, newest first.
    pub(crate) fn homes(&self) -> impl Iterator<Item = StorageId> {
        self.levels[self.level()].homes.iter().rev().copied()
    }

    /// A name for the part of a buffer from an offset on.
    pub(crate) fn view(&mut self, base: Buf, offset: Operand) -> Buf {
        if offset == Operand::int(0) {
            return base;
        }
        let (elem, hint) = self.function.bufs[base.0 as usize].clone();
        let buf = self.function.buf(elem, hint);
        self.push(Step::View { buf, base, offset });
        buf
    }

    /// A name for constant data, placed at the start of the outermost body.
    pub(crate) fn constant(&mut self, tensor: Rc<lambada_prim::Tensor>, hint: Rc<str>) -> Buf {
        let buf = self.function.buf(tensor.elem(), hint);
        self.levels[0].stmts.push(Step::Constant(buf, tensor).into());
        buf
    }
}

/// Whether it is cheap arithmetic for offsets, to be moved out of all constructs.
fn is_index_arithmetic(op: Prim) -> bool {
    matches!(
        op,
        Prim::AddInt | Prim::SubInt | Prim::MulInt | Prim::NegInt | Prim::MinInt | Prim::MaxInt
    )
}

/// Integer arithmetic on constants, and with neutral elements.
fn simplify(op: Prim, args: &[Operand]) -> Option<Operand> {
    let lit = |k: usize| match args[k] {
        Operand::Lit(Scalar::Int(value)) => Some(value),
        Operand::Lit(Scalar::Real(_) | Scalar::Bool(_)) | Operand::Reg(_) => None,
    };
    match op {
        Prim::AddInt if lit(0) == Some(0) => Some(args[1]),
        Prim::AddInt | Prim::SubInt if lit(1) == Some(0) => Some(args[0]),
        Prim::MulInt if lit(0) == Some(1) => Some(args[1]),
        Prim::MulInt if lit(1) == Some(1) => Some(args[0]),
        Prim::MulInt if lit(0) == Some(0) || lit(1) == Some(0) => Some(Operand::int(0)),
        Prim::AddInt | Prim::SubInt | Prim::MulInt | Prim::MinInt | Prim::MaxInt => {
            let values = [Scalar::Int(lit(0)?), Scalar::Int(lit(1)?)];
            Some(Operand::Lit(op.eval(&values)))
        }
        _ => None, // left as the program has it
    }
}

/// The arguments in a canonical order, so that `b + a` reuses `a + b`; integers only, where the
/// order cannot matter.
fn ordered(op: Prim, mut args: Vec<Operand>) -> Vec<Operand> {
    if matches!(op, Prim::AddInt | Prim::MulInt | Prim::MinInt | Prim::MaxInt) {
        args.sort_by_key(|a| match a {
            Operand::Reg(reg) => reg.0,
            Operand::Lit(_) => u32::MAX,
        });
    }
    args
}
