//! Scalar replacement: a small array that is the state of a loop or the result of an `if` becomes
//! its elements. Then `[3]real` is three values in registers.
//!
//! Assumes: nothing. Gives: no array of constant sizes that has up to 4 rows and 16 elements as the
//! result of an `if`, nor as a state of which the loop reads single rows only. Keeps: values and
//! failures.

use lambada_anf::{Atom, Block, Exp, LoopKind, Nest, Op, Param, Renaming, Stm, Ty, Var};
use lambada_prim::Scalar;

use crate::rewrite::{Context, Replacement};

/// An array of more rows stays an array.
pub(crate) const ROWS: i64 = 4;
/// An array of more elements stays an array.
const ELEMENTS: i64 = 16;

/// Whether the sizes are constants, and their product small.
pub(crate) fn small(dims: &[Atom]) -> bool {
    let sizes: Option<Vec<i64>> = dims.iter().map(|d| d.as_lit().map(Scalar::int)).collect();
    sizes.is_some_and(|s| s.iter().all(|k| *k <= ELEMENTS) && s.iter().product::<i64>() <= ELEMENTS)
}

/// Splits small arrays that control flow carries.
pub(crate) fn scalar_replacement(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    match &stm.exp {
        Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
            split_state(context, stm, params, inits, kind, body)
        }
        Exp::Nest(Nest::If { cond, then, otherwise }) => {
            split_results(context, stm, *cond, then, otherwise)
        }
        Exp::Op(_) | Exp::Nest(Nest::For { .. }) => None,
    }
}

/// The number of parts of an array type that is to be split along its first axis.
fn parts(ty: &Ty) -> Option<i64> {
    let Scalar::Int(count @ 1..=ROWS) = ty.dims.first()?.as_lit()? else { return None };
    small(&ty.dims).then_some(count)
}

/// `x[0]`, `x[1]`, …
fn elements(context: &mut Context, stms: &mut Vec<Stm>, x: Atom, ty: &Ty, count: i64) -> Vec<Atom> {
    let Atom::Var(x) = x else { return Vec::new() };
    (0..count)
        .map(|k| context.bind(stms, x, ty.indexed(1), Op::Index(x, vec![Atom::int(k)])))
        .collect()
}

/// New variables for the parts.
fn fresh(context: &mut Context, p: &Param, count: i64) -> Vec<Param> {
    (0..count).map(|_| Param { var: context.names.again(p.var), ty: p.ty.indexed(1) }).collect()
}

/// `whole = [parts]`
fn joined(p: &Param, parts: &[Param]) -> Stm {
    Stm::new(vec![p.clone()], Op::Array(parts.iter().map(|q| q.var.into()).collect()))
}

/// The items with several in place of the k-th.
fn spread<T: Clone>(items: &[T], k: usize, several: Vec<T>) -> Vec<T> {
    items[..k].iter().cloned().chain(several).chain(items[k + 1..].iter().cloned()).collect()
}

fn split_state(
    context: &mut Context,
    stm: &Stm,
    params: &[Param],
    inits: &[Atom],
    kind: &LoopKind,
    body: &Block,
) -> Option<Replacement> {
    let splits = |p: &Param| {
        parts(&p.ty).is_some() && stm.exp.blocks().into_iter().all(|b| only_elements(b, p.var))
    };
    let k = params.iter().position(splits)?;
    let (p, count) = (&params[k], parts(&params[k].ty)?);
    let mut stms = Vec::new();
    let first = elements(context, &mut stms, inits[k], &p.ty, count);
    let state = fresh(context, p, count);
    let mut body = body.clone();
    body.stms.insert(0, joined(p, &state));
    let next = elements(context, &mut body.stms, body.results[k], &p.ty, count);
    body.results = spread(&body.results, k, next);
    let kind = match kind {
        LoopKind::For { .. } => kind.clone(),
        LoopKind::While(cond) => {
            // The condition sees the state too, under a name of its own.
            let whole = Param { var: context.names.again(p.var), ty: p.ty.clone() };
            let mut renaming = Renaming::new();
            renaming.insert(p.var, whole.var.into());
            let mut cond = cond.clone();
            renaming.apply(&mut cond);
            cond.stms.insert(0, joined(&whole, &state));
            LoopKind::While(cond)
        }
    };
    let results = fresh(context, &stm.binds[k], count);
    let whole = joined(&stm.binds[k], &results);
    let exp = Exp::Nest(Nest::Loop {
        params: spread(params, k, state),
        inits: spread(inits, k, first),
        kind,
        body,
    });
    stms.push(Stm::new(spread(&stm.binds, k, results), exp));
    stms.push(whole);
    Some(Replacement { stms, values: stm.binds.iter().map(|p| p.var.into()).collect() })
}

/// Whether the array is only read at constant places (and given back).
fn only_elements(block: &Block, x: Var) -> bool {
    block.stms.iter().all(|stm| {
        let mut fine = true;
        match &stm.exp {
            Exp::Op(Op::Index(y, index)) if *y == x => fine &= index[0].as_lit().is_some(),
            Exp::Op(_) | Exp::Nest(_) => stm.exp.atoms(&mut |a| fine &= a != Atom::Var(x)),
        }
        fine && stm.exp.blocks().into_iter().all(|b| only_elements(b, x))
    })
}

fn split_results(
    context: &mut Context,
    stm: &Stm,
    cond: Atom,
    then: &Block,
    otherwise: &Block,
) -> Option<Replacement> {
    let k = stm.binds.iter().position(|p| parts(&p.ty).is_some())?;
    let (p, count) = (&stm.binds[k], parts(&stm.binds[k].ty)?);
    let mut branch = |block: &Block| {
        let mut block = block.clone();
        let several = elements(context, &mut block.stms, block.results[k], &p.ty, count);
        block.results = spread(&block.results, k, several);
        block
    };
    let (then, otherwise) = (branch(then), branch(otherwise));
    let results = fresh(context, p, count);
    let whole = joined(p, &results);
    let stms =
        vec![Stm::new(spread(&stm.binds, k, results), Nest::If { cond, then, otherwise }), whole];
    Some(Replacement { stms, values: stm.binds.iter().map(|p| p.var.into()).collect() })
}
