//! What an `if` gives last stands in the order in which its block gives it: then the block is the
//! `if`, and several of them one `match`.
//!
//! ```text
//!   let (b, a) = if c then (1, 2) else (3, 4) in (a, b)          if c then (2, 1) else (4, 3)
//! ```

use lambada_anf::{Atom, Block, Exp, Nest, Param};

/// Puts the results of each `if` that ends a block into the order of the block's.
pub(crate) fn align(block: &mut Block) {
    let Block { stms, results } = block;
    if let Some(last) = stms.last_mut()
        && let Exp::Nest(Nest::If { then, otherwise, .. }) = &mut last.exp
        && let Some(order) = order(&last.binds, results)
    {
        last.binds = order.iter().map(|k| last.binds[*k].clone()).collect();
        for branch in [then, otherwise] {
            branch.results = order.iter().map(|k| branch.results[*k]).collect();
        }
    }
    for stm in stms {
        stm.exp.blocks_mut().into_iter().for_each(align);
    }
}

/// Which of the bindings the results are, if they are all of them, each once, and none is a size of
/// another.
fn order(binds: &[Param], results: &[Atom]) -> Option<Vec<usize>> {
    let place = |atom: &Atom| binds.iter().position(|p| *atom == p.var.into());
    let order: Vec<usize> = results.iter().map(place).collect::<Option<_>>()?;
    let sizes = binds.iter().flat_map(|p| &p.ty.dims).any(|dim| place(dim).is_some());
    let all = order.len() == binds.len() && (0..binds.len()).all(|k| order.contains(&k));
    (all && !sizes).then_some(order)
}
