//! Code that only checks is not printed, as checks are not: functions without results, additions
//! and output, their calls, and loops and branches that are empty without these.

use std::collections::HashSet;

use lambada_anf::{Block, Exp, FnId, Function, Library, Op, Stm};

/// Drops code that only checks.
pub(crate) fn drop_checking(entry: &mut Function, library: &mut Library) {
    let only_checks = only_checks(library);
    if only_checks.is_empty() {
        return;
    }
    for id in &only_checks {
        library.functions[id.0 as usize] = None;
    }
    for function in library.functions.iter_mut().flatten().chain([entry]) {
        dropped(&mut function.body, &only_checks);
    }
}

/// The functions that only check.
fn only_checks(library: &Library) -> HashSet<FnId> {
    let silent = |f: &Function| {
        let acts = |stm: &Stm| matches!(&stm.exp, Exp::Op(Op::Inspect { .. }));
        f.results.is_empty() && f.accumulators.is_empty() && !f.body.any(&mut { acts })
    };
    let function = |id: FnId| library.function(id);
    let ids = (0..library.functions.len() as u32).map(FnId);
    let mut found: HashSet<FnId> = ids.filter(|id| function(*id).is_some_and(silent)).collect();
    loop {
        // They must not call functions that may print.
        let calls_others = |id: &FnId| {
            function(*id).is_some_and(|f| {
                f.body.any(&mut |stm| match &stm.exp {
                    Exp::Op(Op::Call { function, .. }) => !found.contains(function),
                    Exp::Op(_) | Exp::Nest(_) => false,
                })
            })
        };
        let out: Vec<FnId> = found.iter().copied().filter(calls_others).collect();
        if out.is_empty() {
            return found;
        }
        found.retain(|id| !out.contains(id));
    }
}

fn dropped(block: &mut Block, only_checks: &HashSet<FnId>) {
    block.stms.retain_mut(|stm| match &mut stm.exp {
        Exp::Op(Op::Call { function, .. }) => !only_checks.contains(function),
        Exp::Op(_) => true,
        Exp::Nest(nest) => {
            let mut blocks = nest.blocks_mut();
            let before = blocks.iter().any(|block| !block.stms.is_empty());
            blocks.iter_mut().for_each(|block| dropped(block, only_checks));
            let empty = nest.blocks().into_iter().all(|block| block.stms.iter().all(only_reads));
            !(before && stm.binds.is_empty() && empty)
        }
    });
}

/// Whether the statement has no effect outside of the block.
fn only_reads(stm: &Stm) -> bool {
    match &stm.exp {
        // All other operations bind a value or check.
        Exp::Op(op) => !matches!(op, Op::Call { .. } | Op::Accumulate { .. } | Op::Inspect { .. }),
        Exp::Nest(_) => {
            stm.binds.is_empty()
                && stm.exp.blocks().into_iter().all(|block| block.stms.iter().all(only_reads))
        }
    }
}
