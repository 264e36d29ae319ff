//! Destination passing of tapes: an inner loop writes each element once, directly into its place on
//! the tape of the outer loop.
//!
//! ```text
//!   zeros = fill 0; t = loop (t = zeros) for r < e { … t with [r] = v }; tape with [j] = t
//!   becomes   tape = loop (tape = tape) for r < e { … tape with [j, r] = v }
//! ```
//!
//! A tape flows through loops and branches like any state. A branch without a write hands the tape
//! on unchanged.

use lambada_anf::{Atom, Block, Builder, Exp, LoopKind, Names, Nest, Op, Param, Stm, Ty, Var};

/// Maps an index on the inner tape to one on the outer.
pub(crate) type Reindexing<'a> = &'a dyn Fn(&mut Builder, &[Atom]) -> Vec<Atom>;

/// A tape of the outer loop, and the places of an inner tape's elements on it.
pub(crate) struct Outer<'a> {
    pub(crate) tape: Var,
    pub(crate) ty: &'a Ty,
    /// Number of axes of the inner index that determine the place.
    pub(crate) axes: usize,
    /// The place, by inner index.
    pub(crate) place: Reindexing<'a>,
}

/// Redirects the inner tape that statement `at` binds to the outer one; `next` then names the outer
/// tape. Returns false, without changes, if the inner tape is not written element by element.
pub(crate) fn write_on(
    names: &mut Names,
    stms: &mut [Stm],
    at: usize,
    tape: Var,
    next: &Param,
    outer: &Outer,
) -> bool {
    let Some(k) = stms[at].binds.iter().position(|p| p.var == tape) else { return false };
    if !is_tape(&stms[..at], &stms[at], k, outer.axes) {
        return false;
    }
    stms[at].binds[k] = next.clone();
    redirect(names, &mut stms[at].exp, k, outer);
    true
}

/// Whether the k-th result of the statement is a tape that starts there.
fn is_tape(before: &[Stm], stm: &Stm, k: usize, axes: usize) -> bool {
    match &stm.exp {
        Exp::Nest(Nest::Loop { params, inits, kind: LoopKind::For { .. }, body }) => {
            is_blank(before, inits[k]) && flows(body, body.results[k], axes) == Some(params[k].var)
        }
        Exp::Nest(Nest::If { then, otherwise, .. }) => [then, otherwise].into_iter().all(|block| {
            let result = block.results[k];
            let binder = block.stms.iter().position(|stm| gives(stm, result).is_some());
            binder.is_some_and(|at| {
                let stm = &block.stms[at];
                is_blank(&block.stms, result)
                    || gives(stm, result).is_some_and(|k| is_tape(&block.stms[..at], stm, k, axes))
            })
        }),
        Exp::Op(_) | Exp::Nest(Nest::Loop { kind: LoopKind::While(_), .. } | Nest::For { .. }) => {
            false
        }
    }
}

fn gives(stm: &Stm, x: Atom) -> Option<usize> {
    stm.binds.iter().position(|p| x == p.var.into())
}

/// Whether a statement of the block fills the array.
fn is_blank(stms: &[Stm], x: Atom) -> bool {
    stms.iter().any(|stm| gives(stm, x).is_some() && matches!(stm.exp, Exp::Op(Op::Fill(_))))
}

/// The tape from outside the block that `to` continues, if only by updates of elements.
fn flows(block: &Block, to: Atom, axes: usize) -> Option<Var> {
    let mut at = to;
    for stm in block.stms.iter().rev() {
        let Some(k) = gives(stm, at) else { continue };
        at = match &stm.exp {
            Exp::Op(Op::Update { array, index, .. }) if index.len() >= axes => (*array).into(),
            Exp::Nest(Nest::Loop { params, inits, kind: LoopKind::For { .. }, body }) => {
                let through = flows(body, body.results[k], axes)?;
                (through == params[k].var).then_some(inits[k])?
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                let from = flows(then, then.results[k], axes)?;
                let same = flows(otherwise, otherwise.results[k], axes)?;
                (from == same).then_some(from.into())?
            }
            Exp::Op(_)
            | Exp::Nest(Nest::Loop { kind: LoopKind::While(_), .. } | Nest::For { .. }) => {
                return None;
            }
        };
    }
    at.as_var()
}

/// Replaces the initial, blank tape by the outer tape.
fn redirect(names: &mut Names, exp: &mut Exp, k: usize, outer: &Outer) {
    match exp {
        Exp::Nest(Nest::Loop { params, inits, body, .. }) => {
            inits[k] = outer.tape.into();
            params[k].ty = outer.ty.clone();
            let to = body.results[k];
            rewrite(names, body, to, outer);
        }
        Exp::Nest(Nest::If { then, otherwise, .. }) => {
            for block in [then, otherwise] {
                let result = block.results[k];
                if is_blank(&block.stms, result) {
                    block.results[k] = outer.tape.into();
                } else if let Some((stm, k)) =
                    block.stms.iter_mut().find_map(|stm| gives(stm, result).map(|k| (stm, k)))
                {
                    stm.binds[k].ty = outer.ty.clone();
                    redirect(names, &mut stm.exp, k, outer);
                }
            }
        }
        Exp::Op(_) | Exp::Nest(Nest::For { .. }) => {
            unreachable!("a tape is made by a loop or a branch")
        }
    }
}

/// Rewrites the updates on the way to `to`.
fn rewrite(names: &mut Names, block: &mut Block, to: Atom, outer: &Outer) {
    let mut at = to;
    for n in (0..block.stms.len()).rev() {
        let Some(k) = gives(&block.stms[n], at) else { continue };
        let stm = &mut block.stms[n];
        stm.binds[k].ty = outer.ty.clone();
        let mut places = Vec::new();
        match &mut stm.exp {
            Exp::Op(Op::Update { array, index, .. }) => {
                at = (*array).into();
                let mut b = Builder::new(names);
                *index = (outer.place)(&mut b, index);
                places = b.stms;
            }
            Exp::Nest(Nest::Loop { params, inits, body, .. }) => {
                at = inits[k];
                params[k].ty = outer.ty.clone();
                let to = body.results[k];
                rewrite(names, body, to, outer);
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                let (to, same) = (then.results[k], otherwise.results[k]);
                at = flows(then, to, 0).map_or(at, Atom::from);
                rewrite(names, then, to, outer);
                rewrite(names, otherwise, same, outer);
            }
            Exp::Op(_) | Exp::Nest(Nest::For { .. }) => {
                unreachable!("a tape flows through updates, loops and branches")
            }
        }
        block.stms.splice(n..n, places);
    }
}
