//! Checks that the language makes by itself are not printed. Code that consists of them is not
//! printed either: functions without results, additions and output, their calls, and loops and
//! branches that are empty without these. A check that the user wrote is printed, and shows its
//! values instead of the integers that stand for them.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Effect, Exp, FnId, Function, Library, Op, Stm, Var};
use lambada_prim::{Prim, Scalar};
use lambada_source::{Part, Shown};

/// Whether the statement is a check that the user wrote.
pub(crate) fn is_written_check(stm: &Stm) -> bool {
    matches!(&stm.exp, Exp::Op(Op::Check { site, .. }) if site.written)
}

/// The function with the values that its written checks show, instead of integers for them.
pub(crate) fn with_shown_values(function: &Function) -> Function {
    let mut function = function.clone();
    let mut sources: HashMap<Var, Atom> = HashMap::new();
    function.body.each(&mut |stm| {
        if let Exp::Op(Op::Prim(Prim::RealBits | Prim::SelectInt, args)) = &stm.exp {
            sources.insert(stm.binds[0].var, args[0]);
        }
    });
    show_in(&mut function.body, &sources);
    function
}

fn show_in(block: &mut Block, sources: &HashMap<Var, Atom>) {
    for stm in &mut block.stms {
        match &mut stm.exp {
            Exp::Op(Op::Check { site, values, .. }) if site.written => {
                for part in site.parts(values.len()) {
                    if let Part::Value(k, shown) = part {
                        values[k] = source(values[k], shown, sources);
                    }
                }
            }
            Exp::Op(_) => {}
            Exp::Nest(nest) => {
                nest.blocks_mut().into_iter().for_each(|block| show_in(block, sources));
            }
        }
    }
}

/// The value for which an integer stands.
fn source(integer: Atom, shown: Shown, sources: &HashMap<Var, Atom>) -> Atom {
    match (shown, integer) {
        (Shown::Int, _) => integer,
        (Shown::Real, Atom::Lit(Scalar::Int(bits))) => {
            Atom::Lit(Scalar::Real(f64::from_bits(bits.cast_unsigned())))
        }
        (Shown::Bool, Atom::Lit(Scalar::Int(value))) => Atom::bool(value != 0),
        (_, Atom::Lit(_)) => integer,
        (_, Atom::Var(var)) => sources.get(&var).copied().unwrap_or(integer),
    }
}

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
    let mut found = silent(library);
    found.retain(|id| library.function(*id).is_some_and(|f| f.results.is_empty()));
    found
}

/// Whether it prints, or touches a cell.
pub(crate) fn shows(effect: Effect) -> bool {
    matches!(effect, Effect::Inspects | Effect::MakesCells | Effect::OpensCell | Effect::ReadsCell)
}

/// The functions whose effects are not printed: a call whose results are unused is left out,
/// because the checks in it are the language's own.
pub(crate) fn silent(library: &Library) -> HashSet<FnId> {
    let silent = |f: &Function| {
        let acts = |stm: &Stm| is_written_check(stm) || shows(stm.exp.effect());
        f.accumulators.is_empty() && !f.body.any(&mut { acts })
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
        Exp::Op(op) => {
            !matches!(op, Op::Call { .. } | Op::Accumulate { .. } | Op::Inspect { .. })
                && !is_written_check(stm)
        }
        Exp::Nest(_) => {
            stm.binds.is_empty()
                && stm.exp.blocks().into_iter().all(|block| block.stms.iter().all(only_reads))
        }
    }
}
