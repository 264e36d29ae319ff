//! Questions about code that several passes ask. Nothing here is stored: facts are computed where they are used.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Exp, LoopKind, Nest, Op, Stm, Var};

/// Does running it perhaps fail?
pub(crate) fn may_fail(stm: &Stm) -> bool {
    matches!(stm.exp, Exp::Op(Op::Check { .. })) || stm.exp.blocks().into_iter().any(block_may_fail)
}

/// Does running it perhaps fail?
pub(crate) fn block_may_fail(block: &Block) -> bool {
    block.stms.iter().any(may_fail)
}

/// Does running it perhaps not end? Of a `while` that is not known.
pub(crate) fn may_not_end(stm: &Stm) -> bool {
    matches!(stm.exp, Exp::Nest(Nest::Loop { kind: LoopKind::While(_), .. }))
        || stm.exp.blocks().into_iter().any(|block| block.stms.iter().any(may_not_end))
}

/// The accumulators of others that a statement adds to.
pub(crate) fn additions(stm: &Stm) -> HashSet<Var> {
    let mut found = HashSet::new();
    collect_additions(stm, &mut found);
    found
}

fn collect_additions(stm: &Stm, found: &mut HashSet<Var>) {
    if let Exp::Op(Op::Accumulate { acc, .. }) = &stm.exp {
        found.insert(*acc);
    }
    for block in stm.exp.blocks() {
        block.stms.iter().for_each(|s| collect_additions(s, found));
        for s in block.stms.iter().filter(|s| matches!(s.exp, Exp::Op(Op::Accumulator(_)))) {
            found.remove(&s.binds[0].var);
        }
    }
}

/// Does a statement add to an accumulator that it has not made itself?
pub(crate) fn adds(stm: &Stm) -> bool {
    match &stm.exp {
        Exp::Op(Op::Accumulate { .. }) => true,
        Exp::Nest(_) => !additions(stm).is_empty(),
        Exp::Op(
            Op::Prim(..)
            | Op::Index(..)
            | Op::Fill(_)
            | Op::Array(_)
            | Op::Constant(_)
            | Op::Update { .. }
            | Op::MatMul(..)
            | Op::Accumulator(_)
            | Op::Freeze(_)
            | Op::Check { .. },
        ) => false,
    }
}

/// Can it be copied, moved to where its operands are known, and dropped? It does nothing but compute what it binds.
pub(crate) fn pure(stm: &Stm) -> bool {
    !matches!(stm.exp, Exp::Op(Op::Accumulator(_) | Op::Freeze(_))) && !may_fail(stm) && !adds(stm)
}

/// How many statements, nested ones included.
pub(crate) fn size(block: &Block) -> usize {
    block.stms.iter().map(|s| 1 + s.exp.blocks().into_iter().map(size).sum::<usize>()).sum()
}

/// Every variable that a statement mentions, in its blocks and in types too; also those that its blocks bind.
pub(crate) fn mentioned(stm: &Stm, f: &mut dyn FnMut(Var)) {
    let mut atom = |a: Atom| {
        if let Atom::Var(var) = a {
            f(var);
        }
    };
    stm.exp.atoms(&mut atom);
    stm.binds.iter().flat_map(|p| &p.ty.dims).for_each(|d| atom(*d));
    for block in stm.exp.blocks() {
        for inner in &block.stms {
            mentioned(inner, f);
        }
        block.results.iter().filter_map(|a| a.as_var()).for_each(&mut *f);
    }
}

/// Everything bound in a block, nested blocks included.
pub(crate) fn bound(block: &Block, f: &mut dyn FnMut(Var)) {
    for stm in &block.stms {
        stm.binds.iter().for_each(|p| f(p.var));
        stm.exp.bound().into_iter().for_each(&mut *f);
        stm.exp.blocks().into_iter().for_each(|b| bound(b, f));
    }
}

/// The arrays that an expression takes over, its blocks aside: it writes to their memory, if they are not needed afterwards. A pass that moves
/// a read of such an array behind the expression makes it copy the array.
pub(crate) fn consumed(exp: &Exp, f: &mut dyn FnMut(Var)) {
    match exp {
        Exp::Op(Op::Update { array, .. }) => f(*array),
        Exp::Op(Op::Accumulator(value)) => value.as_var().into_iter().for_each(f),
        Exp::Nest(Nest::Loop { inits, .. }) => inits.iter().filter_map(|a| a.as_var()).for_each(f),
        Exp::Op(
            Op::Prim(..)
            | Op::Index(..)
            | Op::Fill(_)
            | Op::Array(_)
            | Op::Constant(_)
            | Op::MatMul(..)
            | Op::Accumulate { .. }
            | Op::Freeze(_)
            | Op::Check { .. },
        )
        | Exp::Nest(Nest::For { .. } | Nest::If { .. }) => {}
    }
}
