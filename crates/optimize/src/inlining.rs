//! A call of a small function that does not call itself is its body.
//!
//! Assumes: derivatives have been taken, since a function may have rules of its own. Gives: no call of a function of few statements outside
//! of a circle of calls. Keeps: values, failures, and which accumulators are added to.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, Exp, Function, Library, Names, Op, Stm, Var};

use crate::calls::reachable;
use crate::rewrite::{Context, Replacement};

/// A function of more statements is called.
const STATEMENTS: usize = 24;

/// The functions that are written out where they are called.
pub(crate) fn small(library: &Library) -> Vec<Option<Function>> {
    let ids = (0..library.functions.len()).map(|k| lambada_anf::FnId(k as u32));
    let fits = |id| {
        let function = library.function(id).filter(|f| f.body.size() <= STATEMENTS)?;
        (!reachable(library, id).contains(&id)).then(|| function.clone())
    };
    ids.map(fits).collect()
}

/// Writes a call out.
pub(crate) fn inlining(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    let Exp::Op(Op::Call { function, args, accumulators }) = &stm.exp else { return None };
    let callee = context.calls.small(*function)?;
    let mut image: HashMap<Var, Atom> = HashMap::new();
    image.extend(callee.params.iter().zip(args).map(|(p, a)| (p.var, *a)));
    let given = callee.accumulators.iter().zip(accumulators);
    image.extend(given.map(|(p, acc)| (p.var, Atom::Var(*acc))));
    callee.body.bound(&mut |var| {
        image.insert(var, Atom::Var(again(context.names, &callee.names, var)));
    });
    let mut body = callee.body.clone();
    transplant(&mut body, &image);
    Some(Replacement { stms: body.stms, values: body.results })
}

/// A new variable that is called, and comes from, what another function's variable is and does.
fn again(names: &mut Names, from: &Names, var: Var) -> Var {
    let outside = names.come_from(from.origin(var).unwrap_or_default());
    let new = names.fresh(from.hint(var));
    names.come_from(outside);
    new
}

/// The code with other names for all variables.
fn transplant(block: &mut Block, image: &HashMap<Var, Atom>) {
    let atom = |a: &mut Atom| {
        if let Some(new) = a.as_var().and_then(|v| image.get(&v)) {
            *a = *new;
        }
    };
    let binder = |var: &mut Var| {
        if let Some(Atom::Var(new)) = image.get(var) {
            *var = *new;
        }
    };
    for stm in &mut block.stms {
        stm.exp.atoms_mut(&mut |a| atom(a));
        if let Exp::Nest(nest) = &mut stm.exp {
            nest.binders_mut().into_iter().for_each(binder);
        }
        stm.exp.blocks_mut().into_iter().for_each(|inner| transplant(inner, image));
        for p in &mut stm.binds {
            binder(&mut p.var);
            p.ty.dims.iter_mut().for_each(atom);
        }
    }
    block.results.iter_mut().for_each(atom);
}
