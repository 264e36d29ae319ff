//! Strip-mines active loops with the policy to keep about √n states.
//!
//! ```text
//!   zs = loop (xs = as) for i < n checkpoint sqrt { b }
//!
//!   becomes  s = ⌈√n⌉
//!            zs = loop (ys = as) for j < s checkpoint entries {
//!              loop (xs = ys) for r < min s (n - j*s) { i = j*s + r; b }
//!            }
//! ```
//!
//! The reverse sweep keeps the state at the start of each segment and reruns the segments one by
//! one, each with its own tape. That costs ⌈√n⌉ states, the residuals of ⌈√n⌉ iterations, and one
//! more run of the loop.
//!
//! * Gives: the same function, in which no active loop has the policy `sqrt`.
//! * Keeps: the iterations, their order and their effects.

use lambada_anf::{
    Atom, Block, Builder, Checkpoint, Exp, Lambda, LoopKind, Names, Nest, Op, Param, Renaming, Stm,
    Ty, Var,
};
use lambada_prim::Prim;

use crate::activity::{Activity, Scope};

/// Cuts the loops of a function into segments.
pub(crate) fn cut_loops(names: &mut Names, scope: &Scope, f: &Lambda) -> Lambda {
    let activity = Activity::of(scope, f);
    let mut f = f.clone();
    block(names, &activity, &mut f.body);
    f
}

fn block(names: &mut Names, activity: &Activity, block: &mut Block) {
    for mut stm in std::mem::take(&mut block.stms) {
        stm.exp.blocks_mut().into_iter().for_each(|inner| self::block(names, activity, inner));
        let Exp::Nest(Nest::Loop { params, inits, kind, body }) = &stm.exp else {
            block.stms.push(stm);
            continue;
        };
        let active = activity.concerns(&stm) || params.iter().any(|p| activity.active(p.var));
        match *kind {
            LoopKind::For { index, extent, checkpoint: Checkpoint::Sqrt } if active => {
                let mut b = Builder::new(names);
                let length = root(&mut b, extent);
                let kind = (index, extent);
                let segment = segment(&mut b, params, kind, length, body);
                let Segment { index, params, body } = segment;
                let kind = LoopKind::For { index, extent: length, checkpoint: Checkpoint::Entries };
                let nest = Nest::Loop { params, inits: inits.clone(), kind, body };
                b.stms.push(Stm::new(stm.binds, nest));
                block.stms.extend(b.stms);
            }
            LoopKind::For { .. } | LoopKind::While(_) => block.stms.push(stm),
        }
    }
}

/// `⌈√n⌉`, at least 1 and, if `n` is positive, at most `n`. Exact up to 2⁵², which no loop reaches.
fn root(b: &mut Builder, n: Atom) -> Atom {
    let n = b.prim(Prim::MaxInt, [n, Atom::int(1)]);
    let n_real = b.prim(Prim::ToReal, [n]);
    let root = b.prim(Prim::Sqrt, [n_real]);
    let root = b.prim(Prim::Ceil, [root]);
    let root = b.prim(Prim::ToInt, [root]);
    b.bind("segment", Ty::int(), Op::Prim(Prim::MinInt, vec![root, n]))
}

/// The loop over the segments.
struct Segment {
    index: Var,
    params: Vec<Param>,
    body: Block,
}

fn segment(
    b: &mut Builder,
    params: &[Param],
    (index, extent): (Var, Atom),
    length: Atom,
    body: &Block,
) -> Segment {
    let j = b.names.fresh("j");
    let outer = renamed(b.names, params);
    let binds = renamed(b.names, params);
    let body = b.block(|b| {
        let start = b.prim(Prim::MulInt, [j.into(), length]);
        let rest = b.prim(Prim::SubInt, [extent, start]);
        let count = b.prim(Prim::MinInt, [length, rest]);
        let r = b.names.fresh("r");
        let place = Op::Prim(Prim::AddInt, vec![start, r.into()]);
        let mut body = body.clone();
        body.stms.insert(0, Stm::new(vec![Param { var: index, ty: Ty::int() }], place));
        let inits = outer.iter().map(|p| p.var.into()).collect();
        let kind = LoopKind::counted(r, count);
        let nest = Nest::Loop { params: params.to_vec(), inits, kind, body };
        let results = binds.iter().map(|p| p.var.into()).collect();
        b.stms.push(Stm::new(binds, nest));
        results
    });
    Segment { index: j, params: outer, body }
}

/// Renames the parameters, and their occurrences as sizes of each other.
fn renamed(names: &mut Names, params: &[Param]) -> Vec<Param> {
    let mut renaming = Renaming::new();
    let rename = |p: &Param| {
        let var = names.again(p.var);
        renaming.insert(p.var, var.into());
        Param { var, ty: renaming.ty(&p.ty) }
    };
    params.iter().map(rename).collect()
}
