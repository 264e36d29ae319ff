//! The function under construction: open bodies, and the values known in each. A primitive stands
//! in the outermost body that knows its operands, so loop-invariant code leaves the loop; this is
//! correct because primitives are total and pure. Known values are not recomputed.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use lambada_loops::{Buf, Cell, Function, Op, Operand, Reg, Step, Stmt, Ty};
use lambada_prim::{Prim, Scalar, ScalarTy};

use super::Copy;
use lambada_graph::NodeId;

/// The source of lanes: consecutive elements from one offset on (all, or as many as are left), or
/// an offset per lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Elements {
    pub(super) buf: Buf,
    pub(super) at: Operand,
    pub(super) lanes: u16,
    pub(super) left: Option<Operand>,
}

/// An open body.
#[derive(Default)]
struct Level {
    stmts: Vec<Stmt>,
    prims: FxHashMap<(Prim, Vec<Operand>), Operand>,
    loads: FxHashMap<Elements, Operand>,
    gets: FxHashMap<Cell, Operand>,
    nodes: FxHashMap<(NodeId, Copy), Operand>,
}

/// A function, and the position where code is added.
pub(super) struct Code {
    pub(super) function: Function,
    levels: Vec<Level>,
    /// By register: the level that binds it.
    level_of: Vec<usize>,
    /// By number of lanes: the vector of lane numbers.
    iotas: FxHashMap<u16, Operand>,
}

impl Code {
    pub(super) fn new() -> Code {
        Code {
            function: Function::new("nests"),
            levels: vec![Level::default()],
            level_of: Vec::new(),
            iotas: FxHashMap::default(),
        }
    }

    /// The function with the open body.
    pub(super) fn finish(mut self) -> Function {
        self.function.body = self.close();
        self.function
    }

    pub(super) fn open(&mut self) {
        self.levels.push(Level::default());
    }

    pub(super) fn close(&mut self) -> Vec<Stmt> {
        self.levels.pop().map(|level| level.stmts).unwrap_or_default()
    }

    /// The number of the innermost body.
    pub(super) fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    pub(super) fn push(&mut self, stmt: impl Into<Stmt>) {
        let depth = self.depth();
        self.levels[depth].stmts.push(stmt.into());
    }

    pub(super) fn ty(&self, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(reg) => self.function.regs[reg.0 as usize].0,
            Operand::Lit(value) => Ty::scalar(value.ty()),
        }
    }

    fn level(&self, operand: Operand) -> usize {
        match operand {
            Operand::Reg(reg) => self.level_of[reg.0 as usize],
            Operand::Lit(_) => 0,
        }
    }

    /// A register that is bound in a body.
    pub(super) fn reg_at(&mut self, level: usize, ty: Ty, hint: impl Into<Rc<str>>) -> Reg {
        self.level_of.push(level);
        self.function.reg(ty, hint)
    }

    /// A register that is bound in the innermost body.
    pub(super) fn reg(&mut self, ty: Ty, hint: impl Into<Rc<str>>) -> Reg {
        self.reg_at(self.depth(), ty, hint)
    }

    /// Binds the value of an operation at the current position.
    pub(super) fn bind(&mut self, ty: Ty, op: Op) -> Operand {
        let reg = self.reg(ty, "t");
        self.push(Step::Let(reg, op));
        reg.into()
    }

    fn bind_at(&mut self, level: usize, ty: Ty, op: Op) -> Operand {
        let reg = self.reg_at(level, ty, "t");
        self.levels[level].stmts.push(Step::Let(reg, op).into());
        reg.into()
    }

    /// `op(args)`, lane by lane.
    pub(super) fn prim(&mut self, op: Prim, args: &[Operand]) -> Operand {
        if let Some(simple) = simplify(op, args) {
            return simple;
        }
        let key = (op, args.to_vec());
        let level = args.iter().map(|arg| self.level(*arg)).max().unwrap_or(0);
        if let Some(known) = self.levels[level].prims.get(&key) {
            return *known;
        }
        let lanes = args.iter().map(|arg| self.ty(*arg).lanes).max().unwrap_or(1);
        let ty = Ty { elem: op.result(), lanes };
        let value = self.bind_at(level, ty, Op::Prim(op, key.1.clone()));
        self.levels[level].prims.insert(key, value);
        value
    }

    pub(super) fn int(&mut self, op: Prim, a: Operand, b: Operand) -> Operand {
        self.prim(op, &[a, b])
    }

    /// `0, 1, 2, …`
    pub(super) fn iota(&mut self, lanes: u16) -> Operand {
        if let Some(known) = self.iotas.get(&lanes) {
            return *known;
        }
        let iota = self.bind_at(0, Ty { elem: ScalarTy::Int, lanes }, Op::Iota);
        self.iotas.insert(lanes, iota);
        iota
    }

    /// Loads elements of a buffer without writes in the bodies from `since` on.
    pub(super) fn load(&mut self, key: Elements, since: usize) -> Operand {
        let Elements { buf, at, lanes, left } = key;
        let level = self.level(at).max(left.map_or(0, |left| self.level(left))).max(since);
        if let Some(known) = self.levels[..=level].iter().find_map(|l| l.loads.get(&key)) {
            return *known;
        }
        let ty = Ty { elem: self.function.bufs[buf.0 as usize].0, lanes };
        let op = left.map_or(Op::Load(buf, at), |left| Op::LoadSome(buf, [at, left]));
        let value = self.bind_at(level, ty, op);
        self.levels[level].loads.insert(key, value);
        value
    }

    /// Loads an element if a condition holds; else zero.
    pub(super) fn load_if(
        &mut self,
        cond: Operand,
        buf: Buf,
        at: Operand,
        since: usize,
    ) -> Operand {
        let level = self.level(at).max(self.level(cond)).max(since);
        let ty = Ty::scalar(self.function.bufs[buf.0 as usize].0);
        let cell = self.function.cell(ty, "t");
        let zero = Operand::Lit(ty.elem.zero());
        let reg = self.reg_at(level + 1, ty, "t");
        let then =
            vec![Step::Let(reg, Op::Load(buf, at)).into(), Step::Set(cell, reg.into()).into()];
        let stmts = &mut self.levels[level].stmts;
        stmts.push(Step::Cell(cell, zero).into());
        let nest = lambada_loops::Nest::If { cond, then, otherwise: Vec::new() };
        stmts.push(nest.into());
        self.bind_at(level, ty, Op::Get(cell))
    }

    /// Loads elements for lanes: from one offset on if a condition holds; else each at its own
    /// offset if any elements exist, else zeros.
    pub(super) fn load_within(
        &mut self,
        buf: Buf,
        whole: Option<(Operand, Operand)>,
        (exist, offsets): (Operand, Operand),
        (lanes, since): (u16, usize),
    ) -> Operand {
        let wanted = whole.into_iter().flat_map(|(cond, first)| [cond, first]);
        let level = wanted.chain([exist, offsets]).map(|operand| self.level(operand)).max();
        let level = level.unwrap_or(0).max(since);
        let ty = Ty { elem: self.function.bufs[buf.0 as usize].0, lanes };
        let cell = self.function.cell(ty, "t");
        let mut load = |at: Operand, depth: usize| -> Vec<Stmt> {
            let reg = self.reg_at(level + depth, ty, "t");
            vec![Step::Let(reg, Op::Load(buf, at)).into(), Step::Set(cell, reg.into()).into()]
        };
        let choice = |cond, then, otherwise| -> Stmt {
            lambada_loops::Nest::If { cond, then, otherwise }.into()
        };
        let single = choice(exist, load(offsets, 2), Vec::new());
        let loaded = match whole {
            Some((cond, first)) => choice(cond, load(first, 1), vec![single]),
            None => single,
        };
        let zero = Operand::Lit(ty.elem.zero());
        self.levels[level].stmts.extend([Step::Cell(cell, zero).into(), loaded]);
        self.bind_at(level, ty, Op::Get(cell))
    }

    /// The content of a cell that is not set in the bodies from `since` on.
    pub(super) fn held(&mut self, cell: Cell, since: usize) -> Operand {
        if let Some(known) = self.levels[..=since].iter().find_map(|l| l.gets.get(&cell)) {
            return *known;
        }
        let ty = self.function.cells[cell.0 as usize].0;
        let value = self.bind_at(since, ty, Op::Get(cell));
        self.levels[since].gets.insert(cell, value);
        value
    }

    /// The current content of a cell.
    pub(super) fn get(&mut self, cell: Cell) -> Operand {
        let ty = self.function.cells[cell.0 as usize].0;
        self.bind(ty, Op::Get(cell))
    }

    /// A new cell.
    pub(super) fn cell(&mut self, ty: Ty, first: Operand) -> Cell {
        let cell = self.function.cell(ty, "sum");
        self.push(Step::Cell(cell, first));
        cell
    }

    // Computed scalars of the graph

    pub(super) fn known(&self, node: NodeId, copy: Copy) -> Option<Operand> {
        self.levels.iter().rev().find_map(|level| level.nodes.get(&(node, copy)).copied())
    }

    pub(super) fn know(&mut self, node: NodeId, copy: Copy, value: Operand) {
        let level = self.level(value);
        self.levels[level].nodes.insert((node, copy), value);
    }

    /// Drops such scalars, so that the next use recomputes them.
    pub(super) fn forget(&mut self, which: &dyn Fn(NodeId) -> bool) {
        self.levels.iter_mut().for_each(|level| level.nodes.retain(|(node, _), _| !which(*node)));
    }
}

/// Integer arithmetic on constants, and with neutral elements; choices with constant conditions.
fn simplify(op: Prim, args: &[Operand]) -> Option<Operand> {
    let truth = |k: usize| match args[k] {
        Operand::Lit(Scalar::Bool(value)) => Some(value),
        Operand::Lit(Scalar::Int(_) | Scalar::Real(_)) | Operand::Reg(_) => None,
    };
    let one = |k: usize| args[k] == Operand::Lit(Scalar::Real(1.0));
    let lit = |k: usize| match args[k] {
        Operand::Lit(Scalar::Int(value)) => Some(value),
        Operand::Lit(Scalar::Real(_) | Scalar::Bool(_)) | Operand::Reg(_) => None,
    };
    match op {
        Prim::AddInt if lit(0) == Some(0) => Some(args[1]),
        Prim::AddInt | Prim::SubInt if lit(1) == Some(0) => Some(args[0]),
        Prim::MulInt if lit(0) == Some(1) => Some(args[1]),
        Prim::MulInt if lit(1) == Some(1) => Some(args[0]),
        Prim::AddInt | Prim::SubInt | Prim::MulInt | Prim::MinInt | Prim::MaxInt | Prim::BitAnd => {
            Some(Operand::Lit(op.eval(&[Scalar::Int(lit(0)?), Scalar::Int(lit(1)?)])))
        }
        Prim::EqInt | Prim::NeInt | Prim::LtInt | Prim::LeInt => {
            Some(Operand::Lit(op.eval(&[Scalar::Int(lit(0)?), Scalar::Int(lit(1)?)])))
        }
        Prim::Select | Prim::SelectInt | Prim::SelectBool => {
            truth(0).map(|holds| args[if holds { 1 } else { 2 }])
        }
        Prim::And if truth(0).is_some() => Some(args[usize::from(truth(0) == Some(true))]),
        Prim::And if truth(1).is_some() => Some(args[usize::from(truth(1) == Some(false))]),
        Prim::Or if truth(0).is_some() => Some(args[usize::from(truth(0) == Some(false))]),
        Prim::Or if truth(1).is_some() => Some(args[usize::from(truth(1) == Some(true))]),
        Prim::Not => truth(0).map(|holds| Operand::Lit(Scalar::Bool(!holds))),
        // Exact.
        Prim::Mul if one(0) => Some(args[1]),
        Prim::Mul if one(1) => Some(args[0]),
        _ => None, // left as it is
    }
}
