//! Arrays whose fill no code reads: a loop over the rows of a filled tape replaces each row before
//! any read. Their memory needs no initial elements.
//!
//! *Assumes* a function that `lambada_anf::check` accepts. *Gives* only fills that a loop of their
//! block takes as a state, where the body only replaces the row of the iteration, and the loop has
//! as many iterations as the array has rows.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Exp, Function, LoopKind, Nest, Op, Param, Stm, Var};

/// The variables of the fills.
pub(crate) fn overwritten(function: &Function) -> HashSet<Var> {
    let mut mentions = HashMap::new();
    let mut add = |var: Var| *mentions.entry(var).or_insert(0) += 1;
    function.body.stms.iter().for_each(|stm| stm.mentioned(&mut add));
    let sizes = function.results.iter().flat_map(|ty| &ty.dims);
    function.body.results.iter().chain(sizes).filter_map(|a| a.as_var()).for_each(add);
    let mut found = HashSet::new();
    let once = |var: Var| mentions.get(&var) == Some(&1);
    in_block(&function.body, &once, &mut found);
    function.body.each(&mut |stm| {
        stm.exp.blocks().into_iter().for_each(|block| in_block(block, &once, &mut found));
    });
    found
}

fn in_block(block: &Block, once: &dyn Fn(Var) -> bool, found: &mut HashSet<Var>) {
    let is_fill = |stm: &&Stm| matches!(stm.exp, Exp::Op(Op::Fill(_))) && once(stm.binds[0].var);
    let fills: HashMap<Var, &Param> =
        block.stms.iter().filter(is_fill).map(|stm| (stm.binds[0].var, &stm.binds[0])).collect();
    if fills.is_empty() {
        return;
    }
    for stm in &block.stms {
        let Exp::Nest(Nest::Loop {
            params,
            inits,
            kind: LoopKind::For { index, extent, .. },
            body,
        }) = &stm.exp
        else {
            continue;
        };
        for (k, (param, init)) in params.iter().zip(inits).enumerate() {
            let fill = init.as_var().and_then(|var| fills.get(&var));
            if let Some(fill) = fill
                && fill.ty.dims.first() == Some(extent)
                && once(param.var)
                && replaces_a_row(body, param.var, *index, body.results[k], once)
            {
                found.insert(fill.var);
            }
        }
    }
}

/// Whether the result is the array with the row at the index replaced, in every iteration.
fn replaces_a_row(
    body: &Block,
    array: Var,
    index: Var,
    result: Atom,
    once: &dyn Fn(Var) -> bool,
) -> bool {
    body.stms.iter().any(|stm| {
        let updates = match &stm.exp {
            Exp::Op(Op::Update { array: of, index: at, .. }) => {
                *of == array && at[..] == [Atom::Var(index)]
            }
            Exp::Op(_) | Exp::Nest(_) => false,
        };
        updates && result == Atom::Var(stm.binds[0].var) && once(stm.binds[0].var)
    })
}
