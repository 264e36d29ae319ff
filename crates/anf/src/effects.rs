//! What statements do besides computing what they bind, and whose memory they take over: the one
//! place that says it of each construct.

use std::collections::HashSet;

use crate::{Atom, Block, Exp, LoopKind, Nest, Op, Scheduled, Stm, Var};

/// What a construct without blocks does besides computing what it binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it may run wherever its operands are in scope and its indices in range, twice, or
    /// not at all.
    None,
    /// It makes an accumulator, which it binds.
    Makes,
    /// It adds to this accumulator.
    Adds(Var),
    /// It reads this accumulator, after all additions.
    Freezes(Var),
    /// It fails unless its condition holds.
    Fails,
    /// It shows values to whoever runs the program. It stays among what may fail: it runs as often
    /// as the program says, in the order of the text, before and after the same checks.
    Inspects,
    /// It calls a function, which may fail, inspect, not end, add to the accumulators that it is
    /// given and to cells of nodes, and read such cells.
    Calls,
    /// It makes a node with cells, which it binds.
    MakesCells,
    /// It names a cell of a node, to which additions follow.
    OpensCell,
    /// It reads a cell of a node, after all additions.
    ReadsCell,
}

impl Op {
    /// What it does besides computing what it binds.
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

    /// The array or accumulator of which it reads or writes a part, and where: the indices that
    /// must be in range.
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
    /// May it run its blocks without end? Of a `while` that is not known.
    pub fn is_unbounded(&self) -> bool {
        match self {
            Nest::Loop { kind: LoopKind::While(_), .. } => true,
            Nest::Loop { kind: LoopKind::For { .. }, .. } | Nest::For { .. } | Nest::If { .. } => {
                false
            }
        }
    }

    /// May its blocks run more than once?
    pub fn repeats(&self) -> bool {
        match self {
            Nest::For { .. } | Nest::Loop { .. } => true,
            Nest::If { .. } => false,
        }
    }

    /// How often it runs its body, where that is known when it begins.
    pub fn extent(&self) -> Option<Atom> {
        match self {
            Nest::For { extent, .. } | Nest::Loop { kind: LoopKind::For { extent, .. }, .. } => {
                Some(*extent)
            }
            Nest::Loop { kind: LoopKind::While(_), .. } | Nest::If { .. } => None,
        }
    }

    /// Where the memory of the `k`-th result may come from: the arrays that it may be built in
    /// place of.
    fn sources(&self, k: usize) -> Vec<Atom> {
        match self {
            Nest::For { .. } => Vec::new(),
            Nest::Loop { inits, .. } => vec![inits[k]],
            Nest::If { then, otherwise, .. } => vec![then.results[k], otherwise.results[k]],
        }
    }
}

impl Exp {
    /// What the expression does itself, its blocks aside.
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

    /// How often it runs its body, where that is known when it begins.
    pub fn extent(&self) -> Option<Atom> {
        match self {
            Exp::Op(_) => None,
            Exp::Nest(nest) => nest.extent(),
        }
    }

    /// Calls `f` on the arrays that the expression takes over, its blocks aside: it writes to their
    /// memory, if they are not needed afterwards. A pass that moves a read of such an array behind
    /// the expression makes it copy the array.
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

    /// The arrays and accumulators that the `k`-th result may be built in place of, if nothing
    /// needs them afterwards.
    pub fn sources(&self, k: usize) -> Vec<Atom> {
        match self {
            Exp::Op(op) => op.takes_over().into_iter().collect(),
            Exp::Nest(nest) => nest.sources(k),
        }
    }
}

impl Stm {
    /// Does running it perhaps fail, or is it seen by whoever runs the program?
    pub fn may_fail(&self) -> bool {
        self.any(&mut |stm| {
            matches!(stm.exp.effect(), Effect::Fails | Effect::Inspects | Effect::Calls)
        })
    }

    /// Does running it perhaps not end?
    pub fn may_not_end(&self) -> bool {
        self.any(&mut |stm| stm.exp.is_unbounded() || stm.exp.effect() == Effect::Calls)
    }

    /// May what stands after it never run, since it fails or does not end?
    pub fn may_not_return(&self) -> bool {
        self.may_fail() || self.may_not_end()
    }

    /// The accumulators of others that it adds to.
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

    /// Does it add to an accumulator that it has not made itself, or to a cell?
    pub fn adds(&self) -> bool {
        !self.additions().is_empty() || self.touches_cells()
    }

    /// Does it show values? What functions do that it calls is not known here.
    pub fn inspects(&self) -> bool {
        self.any(&mut |stm| stm.exp.effect() == Effect::Inspects)
    }

    /// Whether it adds to one of the accumulators of which `is` holds.
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

    /// Does it, or a function that it calls, make nodes with cells, add to cells or read them? Such
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

    /// Can it be copied, moved to where its operands are known, and dropped? It does nothing but
    /// compute what it binds.
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

    /// Does running it perhaps fail?
    pub fn may_fail(&self) -> bool {
        self.stms.iter().any(Stm::may_fail)
    }

    /// Does it add to an accumulator that it has not made itself, or to a cell?
    pub fn adds(&self) -> bool {
        let mut found = HashSet::new();
        self.stms.iter().for_each(|stm| stm.collect_additions(&mut found));
        self.accumulators().for_each(|acc| _ = found.remove(&acc));
        !found.is_empty() || self.stms.iter().any(Stm::touches_cells)
    }
}
