//! The effects of all constructs besides their bindings, and the memory that they take over, in one
//! place.

use std::collections::HashSet;

use crate::{Atom, Block, Exp, LoopKind, Nest, Op, Scheduled, Stm, Var};

/// The effect of a construct without blocks, besides its bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// None: it may run wherever its operands are in scope and its indices in range, twice, or not
    /// at all.
    None,
    /// It makes an accumulator, which it binds.
    Makes,
    /// It adds to this accumulator.
    Adds(Var),
    /// It reads this accumulator, after all additions.
    Freezes(Var),
    /// It fails unless its condition holds.
    Fails,
    /// It shows values to the user. It keeps its place among statements that may fail: it runs as
    /// often as the program says, in the order of the text, before and after the same checks.
    Inspects,
    /// It calls a function, which may fail, inspect, not end, add to its accumulators and to cells
    /// of nodes, and read such cells.
    Calls,
    /// It makes a node with cells, which it binds.
    MakesCells,
    /// It names a cell of a node, to which additions follow.
    OpensCell,
    /// It reads a cell of a node, after all additions.
    ReadsCell,
}

impl Op {
    /// Its effect besides its bindings.
    pub fn effect(&self) -> Effect {
        match self {
            Op::Prim(..)
            | Op::Index(..)
            | Op::Fill(_)
            | Op::Array(_)
            | Op::Constant(_)
            | Op::Update { .. }
            | Op::ArrayPrim(..)
            | Op::Scheduled(Scheduled::Concat(_))
            | Op::Node { cells: false, .. }
            | Op::Tag(_)
            | Op::Field { .. } => Effect::None,
            Op::Call { .. } | Op::Scheduled(Scheduled::Kernel(_)) => Effect::Calls,
            Op::Node { cells: true, .. } => Effect::MakesCells,
            Op::Open { .. } => Effect::OpensCell,
            Op::Cell { .. } => Effect::ReadsCell,
            Op::Accumulator(_) => Effect::Makes,
            Op::Accumulate { acc, .. } => Effect::Adds(*acc),
            Op::Freeze(acc) => Effect::Freezes(*acc),
            Op::Check { .. } => Effect::Fails,
            Op::Inspect { .. } => Effect::Inspects,
        }
    }

    /// The array or accumulator that is read or written in part, and the indices, which must be in
    /// range.
    pub fn access(&self) -> Option<(Var, &[Atom])> {
        match self {
            Op::Index(x, index)
            | Op::Update { array: x, index, .. }
            | Op::Accumulate { acc: x, index, .. } => Some((*x, index)),
            Op::Prim(..)
            | Op::Fill(_)
            | Op::Array(_)
            | Op::Constant(_)
            | Op::ArrayPrim(..)
            | Op::Accumulator(_)
            | Op::Freeze(_)
            | Op::Check { .. }
            | Op::Inspect { .. }
            | Op::Call { .. }
            | Op::Node { .. }
            | Op::Tag(_)
            | Op::Field { .. }
            | Op::Open { .. }
            | Op::Cell { .. }
            | Op::Scheduled(_) => None,
        }
    }

    /// The array or accumulator whose memory the result takes over, if nothing needs it afterwards.
    pub fn takes_over(&self) -> Option<Atom> {
        match self {
            Op::Update { array, .. } => Some((*array).into()),
            Op::Accumulator(value) => Some(*value),
            Op::Freeze(acc) => Some((*acc).into()),
            Op::Prim(..)
            | Op::Index(..)
            | Op::Fill(_)
            | Op::Array(_)
            | Op::Constant(_)
            | Op::ArrayPrim(..)
            | Op::Accumulate { .. }
            | Op::Check { .. }
            | Op::Inspect { .. }
            | Op::Call { .. }
            | Op::Node { .. }
            | Op::Tag(_)
            | Op::Field { .. }
            | Op::Open { .. }
            | Op::Cell { .. }
            | Op::Scheduled(_) => None,
        }
    }
}

impl Nest {
    /// Whether it may run its blocks without end, as any `while` may.
    pub fn is_unbounded(&self) -> bool {
        match self {
            Nest::Loop { kind: LoopKind::While(_), .. } => true,
            Nest::Loop { kind: LoopKind::For { .. }, .. } | Nest::For { .. } | Nest::If { .. } => {
                false
            }
        }
    }

    /// Whether its blocks may run more than once.
    pub fn repeats(&self) -> bool {
        match self {
            Nest::For { .. } | Nest::Loop { .. } => true,
            Nest::If { .. } => false,
        }
    }

    /// Trip count, if known on entry.
    pub fn extent(&self) -> Option<Atom> {
        match self {
            Nest::For { extent, .. } | Nest::Loop { kind: LoopKind::For { extent, .. }, .. } => {
                Some(*extent)
            }
            Nest::Loop { kind: LoopKind::While(_), .. } | Nest::If { .. } => None,
        }
    }

    /// The arrays in whose memory the `k`-th result may be built.
    fn sources(&self, k: usize) -> Vec<Atom> {
        match self {
            Nest::For { .. } => Vec::new(),
            Nest::Loop { inits, .. } => vec![inits[k]],
            Nest::If { then, otherwise, .. } => vec![then.results[k], otherwise.results[k]],
        }
    }
}

impl Exp {
    /// The effect of the expression itself, its blocks aside.
    pub fn effect(&self) -> Effect {
        match self {
            Exp::Op(op) => op.effect(),
            Exp::Nest(_) => Effect::None,
        }
    }

    /// Whether it may run blocks without end.
    pub fn is_unbounded(&self) -> bool {
        match self {
            Exp::Op(_) => false,
            Exp::Nest(nest) => nest.is_unbounded(),
        }
    }

    /// Whether it may run blocks more than once.
    pub fn repeats(&self) -> bool {
        match self {
            Exp::Op(_) => false,
            Exp::Nest(nest) => nest.repeats(),
        }
    }

    /// Trip count, if known on entry.
    pub fn extent(&self) -> Option<Atom> {
        match self {
            Exp::Op(_) => None,
            Exp::Nest(nest) => nest.extent(),
        }
    }

    /// Calls `f` on the arrays whose memory the expression takes over if they are dead afterwards,
    /// its blocks aside. A pass that moves a read of such an array behind the expression makes it
    /// copy the array.
    pub fn consumed(&self, f: &mut dyn FnMut(Var)) {
        match self {
            // An accumulator is no array that others read.
            Exp::Op(Op::Freeze(_)) | Exp::Nest(Nest::For { .. } | Nest::If { .. }) => {}
            Exp::Op(op) => op.takes_over().and_then(Atom::as_var).into_iter().for_each(f),
            Exp::Nest(Nest::Loop { inits, .. }) => {
                inits.iter().filter_map(|a| a.as_var()).for_each(f)
            }
        }
    }

    /// The arrays and accumulators in whose memory the `k`-th result may be built, if they are dead
    /// afterwards.
    pub fn sources(&self, k: usize) -> Vec<Atom> {
        match self {
            Exp::Op(op) => op.takes_over().into_iter().collect(),
            Exp::Nest(nest) => nest.sources(k),
        }
    }
}

impl Stm {
    /// Whether it may fail, or shows values to the user.
    pub fn may_fail(&self) -> bool {
        self.any(&mut |stm| {
            matches!(stm.exp.effect(), Effect::Fails | Effect::Inspects | Effect::Calls)
        })
    }

    /// Whether it may not end.
    pub fn may_not_end(&self) -> bool {
        self.any(&mut |stm| stm.exp.is_unbounded() || stm.exp.effect() == Effect::Calls)
    }

    /// Whether later statements may never run, because it fails or does not end.
    pub fn may_not_return(&self) -> bool {
        self.may_fail() || self.may_not_end()
    }

    /// The outer accumulators that it adds to.
    pub fn additions(&self) -> HashSet<Var> {
        let mut found = HashSet::new();
        self.collect_additions(&mut found);
        found
    }

    fn collect_additions(&self, found: &mut HashSet<Var>) {
        match &self.exp {
            Exp::Op(Op::Accumulate { acc, .. }) => _ = found.insert(*acc),
            Exp::Op(Op::Call { accumulators, .. }) => found.extend(accumulators),
            Exp::Op(Op::Scheduled(Scheduled::Kernel(kernel))) => found.extend(&kernel.added),
            Exp::Op(_) | Exp::Nest(_) => {}
        }
        for block in self.exp.blocks() {
            block.stms.iter().for_each(|stm| stm.collect_additions(found));
            block.accumulators().for_each(|acc| _ = found.remove(&acc));
        }
    }

    /// Whether it adds to an outer accumulator, or to a cell.
    pub fn adds(&self) -> bool {
        !self.additions().is_empty() || self.touches_cells()
    }

    /// Whether it shows values; its callees may, too.
    pub fn inspects(&self) -> bool {
        self.any(&mut |stm| stm.exp.effect() == Effect::Inspects)
    }

    /// Whether it adds to one of the accumulators for which `is` holds.
    pub fn adds_to(&self, is: &dyn Fn(Var) -> bool) -> bool {
        self.any(&mut |stm| match &stm.exp {
            Exp::Op(Op::Accumulate { acc, .. }) => is(*acc),
            Exp::Op(Op::Call { accumulators: added, .. }) => added.iter().any(|acc| is(*acc)),
            Exp::Op(Op::Scheduled(Scheduled::Kernel(kernel))) => {
                kernel.added.iter().any(|acc| is(*acc))
            }
            Exp::Op(_) | Exp::Nest(_) => false,
        })
    }

    /// Whether it, or a callee, makes nodes with cells, adds to cells or reads them. Such
    /// statements keep their order.
    pub fn touches_cells(&self) -> bool {
        self.any(&mut |stm| match stm.exp.effect() {
            Effect::Calls | Effect::MakesCells | Effect::OpensCell | Effect::ReadsCell => true,
            Effect::None
            | Effect::Makes
            | Effect::Adds(_)
            | Effect::Freezes(_)
            | Effect::Fails
            | Effect::Inspects => false,
        })
    }

    /// Whether it has no effect, so that it can be copied, moved to where its operands are known,
    /// and dropped.
    pub fn is_pure(&self) -> bool {
        let alone = match self.exp.effect() {
            Effect::None => true,
            Effect::Makes
            | Effect::Adds(_)
            | Effect::Freezes(_)
            | Effect::Fails
            | Effect::Inspects
            | Effect::Calls
            | Effect::MakesCells
            | Effect::OpensCell
            | Effect::ReadsCell => false,
        };
        alone && !self.may_fail() && !self.adds()
    }

    /// Whether it takes more than a constant number of operations.
    pub fn is_costly(&self) -> bool {
        match &self.exp {
            Exp::Op(Op::ArrayPrim(..) | Op::Call { .. } | Op::Scheduled(_))
            | Exp::Nest(Nest::For { .. } | Nest::Loop { .. }) => true,
            Exp::Op(Op::Array(_)) => self.binds[0].ty.rank() > 1,
            Exp::Op(
                Op::Prim(..)
                | Op::Index(..)
                | Op::Fill(_)
                | Op::Constant(_)
                | Op::Update { .. }
                | Op::Accumulator(_)
                | Op::Accumulate { .. }
                | Op::Freeze(_)
                | Op::Check { .. }
                | Op::Inspect { .. }
                | Op::Node { .. }
                | Op::Tag(_)
                | Op::Field { .. }
                | Op::Open { .. }
                | Op::Cell { .. },
            ) => false,
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                then.stms.iter().chain(&otherwise.stms).any(Stm::is_costly)
            }
        }
    }
}

impl Block {
    /// The accumulators that the block makes itself, and the cells that it names.
    pub fn accumulators(&self) -> impl Iterator<Item = Var> {
        let names = |stm: &&Stm| matches!(stm.exp.effect(), Effect::Makes | Effect::OpensCell);
        let made = self.stms.iter().filter(names);
        made.flat_map(|stm| &stm.binds).map(|p| p.var)
    }

    /// Whether it may fail.
    pub fn may_fail(&self) -> bool {
        self.stms.iter().any(Stm::may_fail)
    }

    /// Whether it adds to an outer accumulator, or to a cell.
    pub fn adds(&self) -> bool {
        let mut found = HashSet::new();
        self.stms.iter().for_each(|stm| stm.collect_additions(&mut found));
        self.accumulators().for_each(|acc| _ = found.remove(&acc));
        !found.is_empty() || self.stms.iter().any(Stm::touches_cells)
    }
}
