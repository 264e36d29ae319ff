//! A reduction of an array's elements runs in the loop that makes the array, if that stands in the
//! same block:
//!
//! ```text
//!   ys = for i < n { b };  s, zs = for j < n (reduce ⊕, …) { y = ys[j]; …; => y, … }
//!   becomes   ys, s = for i < n (collect, reduce ⊕) { b };  zs = for j < n { y = ys[j]; … }
//! ```
//!
//! Assumes: nothing. Gives: sums that are known before the rest of their loop runs, and that the
//! array's own loop may have computed already. Keeps: values and failures.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, Exp, Function, Nest, Op, Out, Param, Stm, Var};

use crate::calls::Calls;

/// The pass.
pub(crate) fn reduction_fusion(function: &mut Function, _: &Calls) -> bool {
    block(&mut function.body)
}

/// Fuses what stands in the block and in blocks inside; was there any?
fn block(b: &mut Block) -> bool {
    let mut changed = false;
    // By array: the loop that makes it, and as which out.
    let mut makers: HashMap<Var, (usize, usize)> = HashMap::new();
    for k in 0..b.stms.len() {
        b.stms[k].exp.blocks_mut().into_iter().for_each(|inner| changed |= block(inner));
        while let Some((out, (maker, made))) = movable(&b.stms, k, &makers) {
            let (p, kind) = take(&mut b.stms[k], out);
            give(&mut b.stms[maker], made, p, kind);
            changed = true;
        }
        if let Exp::Nest(Nest::For { outs, .. }) = &b.stms[k].exp {
            let arrays = outs
                .iter()
                .zip(&b.stms[k].binds)
                .enumerate()
                .filter(|(_, (out, _))| **out == Out::Collect);
            arrays.for_each(|(out, (_, p))| _ = makers.insert(p.var, (k, out)));
        }
    }
    changed
}

/// A reduction that can move, and where to.
fn movable(
    stms: &[Stm],
    k: usize,
    makers: &HashMap<Var, (usize, usize)>,
) -> Option<(usize, (usize, usize))> {
    let Exp::Nest(Nest::For { index, extent, outs, body }) = &stms[k].exp else { return None };
    let reads: HashMap<Var, Var> =
        body.stms.iter().filter_map(|s| own_element(s, *index)).collect();
    if reads.is_empty() {
        return None;
    }
    (0..outs.len()).filter(|out| outs[*out] != Out::Collect).find_map(|out| {
        let maker = *makers.get(reads.get(&body.results[out].as_var()?)?)?;
        matches!(&stms[maker.0].exp, Exp::Nest(Nest::For { extent: e, .. }) if e == extent)
            .then_some((out, maker))
    })
}

/// `y = ys[index]`: y and ys.
fn own_element(stm: &Stm, index: Var) -> Option<(Var, Var)> {
    match &stm.exp {
        Exp::Op(Op::Index(x, at)) if at[..] == [Atom::Var(index)] => Some((stm.binds[0].var, *x)),
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}

fn take(stm: &mut Stm, out: usize) -> (Param, Out) {
    let Exp::Nest(Nest::For { outs, body, .. }) = &mut stm.exp else {
        unreachable!("only loops have outs")
    };
    body.results.remove(out);
    (stm.binds.remove(out), outs.remove(out))
}

fn give(stm: &mut Stm, made: usize, p: Param, out: Out) {
    let Exp::Nest(Nest::For { outs, body, .. }) = &mut stm.exp else {
        unreachable!("only loops make arrays element by element")
    };
    body.results.push(body.results[made]);
    outs.push(out);
    stm.binds.push(p);
}
