//! Reorders the results of the `if` at the end of a block to the block's results, so that the block
//! is the `if`, and nested ones become one `match`.
//!
//! ```text
//!   let (b, a) = if c then (1, 2) else (3, 4) in (a, b)          if c then (2, 1) else (4, 3)
//! ```

use lambada_anf::{Atom, Block, Exp, Nest, Param};

/// Puts the results of each `if` that ends a block in the order of the block's results.
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

/// For each result the binding that it is, if the results are all bindings, each once, and no
/// binding is a size of another.
fn order(binds: &[Param], results: &[Atom]) -> Option<Vec<usize>> {
    let place = |atom: &Atom| binds.iter().position(|p| *atom == p.var.into());
    let order: Vec<usize> = results.iter().map(place).collect::<Option<_>>()?;
    let sizes = binds.iter().flat_map(|p| &p.ty.dims).any(|dim| place(dim).is_some());
    let all = order.len() == binds.len() && (0..binds.len()).all(|k| order.contains(&k));
    (all && !sizes).then_some(order)
}
