//! The two sweeps of a reverse derivative, apart: first what does not depend on the cotangent, then what does. Statements are pure but for
//! additions, which commute, so those that do not need each other may change places.

use std::collections::HashSet;

use lambada_anf::{Block, Exp, Nest, Op, Stm, Var};

use crate::regions::mentions;

/// The statements of a block, reordered, and how many of them belong to the first sweep.
pub(crate) fn sweeps(block: &Block, seeds: &HashSet<Var>) -> (Block, usize) {
    let mut late: HashSet<Var> = seeds.clone();
    let (mut first, mut second): (Vec<Stm>, Vec<Stm>) = (Vec::new(), Vec::new());
    for stm in &block.stms {
        let mut mentioned = HashSet::new();
        mentions(stm, &mut mentioned);
        // A new accumulator stands where its additions are.
        let adds = stm.additions();
        if mentioned.iter().any(|var| late.contains(var)) {
            late.extend(stm.binds.iter().map(|p| p.var));
            late.extend(adds);
            second.push(stm.clone());
        } else {
            first.push(stm.clone());
        }
    }
    let count = first.len();
    first.extend(second);
    (Block { stms: first, results: block.results.clone() }, count)
}

/// What to say before a statement of a sweep, if it is a loop.
pub(crate) fn of_loop(stm: &Stm, reverse: bool, name: impl Fn(Var) -> String) -> Option<String> {
    let Exp::Nest(Nest::Loop { kind: lambada_anf::LoopKind::For { index, .. }, body, .. }) =
        &stm.exp
    else {
        return None;
    };
    let taped = |p: &lambada_anf::Param| name(p.var).ends_with("_tape");
    if !reverse {
        let kept = stm.binds.iter().any(taped);
        return kept.then(|| format!("loop over {}, keeping what its reverse needs", name(*index)));
    }
    // The reverse of a loop counts down: the index of the primal loop is computed first.
    let primal = body.stms.first().filter(|first| {
        matches!(&first.exp, Exp::Op(Op::Prim(lambada_prim::Prim::SubInt, args)) if args[1] == (*index).into())
    });
    primal.map(|first| format!("reverse of the loop over {}", name(first.binds[0].var)))
}
