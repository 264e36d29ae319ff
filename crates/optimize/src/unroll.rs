//! Small loops and small arrays: a loop of constant extent up to 4 is written out, and a small array that is the state of a loop or the
//! result of an `if` becomes its elements. Then `[3]real` is three values in registers.
//!
//! Assumes: nothing. Gives: no `for` or `loop` of constant extent ≤ 4 with a small body. Keeps: values (up to the sign of a zero sum) and
//! failures, in order.

use lambada_anf::{Atom, Block, Exp, LoopKind, Out, Param, Renaming, Stm, Ty, Var};
use lambada_prim::Scalar;

use crate::facts::size;
use crate::rewrite::{Context, Replacement};

/// Loops of more iterations stay loops.
const ITERATIONS: i64 = 4;
/// How many statements the written-out loop may have.
const STATEMENTS: usize = 96;
/// An array of more elements stays an array.
const ELEMENTS: i64 = 16;

/// Writes a loop out.
pub(crate) fn unroll(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    match &stm.exp {
        Exp::For { index, extent, outs, body } => {
            let count = iterations(*extent, body)?;
            let fits = |(out, p): (&Out, &Param)| *out != Out::Collect || small(&p.ty.dims[1..]);
            outs.iter()
                .zip(&stm.binds)
                .all(fits)
                .then(|| for_(context, stm, *index, count, outs, body))
        }
        Exp::Loop { params, inits, kind: LoopKind::For { index, extent }, body } => {
            let count = iterations(*extent, body)?;
            let mut stms = Vec::new();
            let mut state = inits.clone();
            for k in 0..count {
                let mut renaming = Renaming::new();
                renaming.insert(*index, Atom::int(k));
                params.iter().zip(&state).for_each(|(p, a)| renaming.insert(p.var, *a));
                let copy = renaming.copy(body, context.names);
                stms.extend(copy.stms);
                state = copy.results;
            }
            Some(Replacement { stms, values: state })
        }
        Exp::Loop { kind: LoopKind::While(_), .. }
        | Exp::If { .. }
        | Exp::Prim(..)
        | Exp::Index(..)
        | Exp::Fill(_)
        | Exp::Array(_)
        | Exp::Constant(_)
        | Exp::Update { .. }
        | Exp::MatMul(..)
        | Exp::Accumulator(_)
        | Exp::Accumulate { .. }
        | Exp::Freeze(_)
        | Exp::Check { .. } => None,
    }
}

fn iterations(extent: Atom, body: &Block) -> Option<i64> {
    match extent.as_lit()? {
        Scalar::Int(count @ 2..=ITERATIONS) if size(body) * count as usize <= STATEMENTS => {
            Some(count)
        }
        Scalar::Int(_) | Scalar::Real(_) | Scalar::Bool(_) => None,
    }
}

fn small(dims: &[Atom]) -> bool {
    let sizes: Option<Vec<i64>> = dims.iter().map(|d| d.as_lit().map(Scalar::int)).collect();
    sizes.is_some_and(|s| s.iter().all(|k| *k <= ELEMENTS) && s.iter().product::<i64>() <= ELEMENTS)
}

fn for_(
    context: &mut Context,
    stm: &Stm,
    index: Var,
    count: i64,
    outs: &[Out],
    body: &Block,
) -> Replacement {
    let mut stms = Vec::new();
    let mut given: Vec<Vec<Atom>> = vec![Vec::new(); outs.len()];
    for k in 0..count {
        let mut renaming = Renaming::new();
        renaming.insert(index, Atom::int(k));
        let copy = renaming.copy(body, context.names);
        stms.extend(copy.stms);
        given.iter_mut().zip(copy.results).for_each(|(all, result)| all.push(result));
    }
    let mut values = Vec::new();
    for ((p, out), items) in stm.binds.iter().zip(outs).zip(given) {
        values.push(match out {
            Out::Collect => {
                stms.push(Stm { binds: vec![p.clone()], exp: Exp::Array(items) });
                p.var.into()
            }
            Out::Reduce(op) => {
                let op = op.prim(p.ty.elem);
                let combine = |a: Atom, b: &Atom| {
                    bind(context, &mut stms, p.var, p.ty.clone(), Exp::Prim(op, vec![a, *b]))
                };
                let first = items[0];
                items[1..].iter().fold(first, combine)
            }
        });
    }
    Replacement { stms, values }
}

fn bind(context: &mut Context, stms: &mut Vec<Stm>, like: Var, ty: Ty, exp: Exp) -> Atom {
    let var = context.names.again(like);
    stms.push(Stm { binds: vec![Param { var, ty }], exp });
    var.into()
}

/// Splits small arrays that control flow carries.
pub(crate) fn split(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    match &stm.exp {
        Exp::Loop { params, inits, kind, body } => {
            split_state(context, stm, params, inits, kind, body)
        }
        Exp::If { cond, then, otherwise } => split_results(context, stm, *cond, then, otherwise),
        Exp::For { .. }
        | Exp::Prim(..)
        | Exp::Index(..)
        | Exp::Fill(_)
        | Exp::Array(_)
        | Exp::Constant(_)
        | Exp::Update { .. }
        | Exp::MatMul(..)
        | Exp::Accumulator(_)
        | Exp::Accumulate { .. }
        | Exp::Freeze(_)
        | Exp::Check { .. } => None,
    }
}

/// How many parts an array type has if it is to be split along its first axis.
fn parts(ty: &Ty) -> Option<i64> {
    let Scalar::Int(count @ 1..=ITERATIONS) = ty.dims.first()?.as_lit()? else { return None };
    small(&ty.dims).then_some(count)
}

/// `x[0]`, `x[1]`, …
fn elements(context: &mut Context, stms: &mut Vec<Stm>, x: Atom, ty: &Ty, count: i64) -> Vec<Atom> {
    let Atom::Var(x) = x else { return Vec::new() };
    (0..count)
        .map(|k| bind(context, stms, x, ty.indexed(1), Exp::Index(x, vec![Atom::int(k)])))
        .collect()
}

/// New variables for the parts.
fn fresh(context: &mut Context, p: &Param, count: i64) -> Vec<Param> {
    (0..count).map(|_| Param { var: context.names.again(p.var), ty: p.ty.indexed(1) }).collect()
}

/// `whole = [parts]`
fn joined(p: &Param, parts: &[Param]) -> Stm {
    Stm { binds: vec![p.clone()], exp: Exp::Array(parts.iter().map(|q| q.var.into()).collect()) }
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
        LoopKind::For { index, extent } => LoopKind::For { index: *index, extent: *extent },
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
    let exp =
        Exp::Loop { params: spread(params, k, state), inits: spread(inits, k, first), kind, body };
    stms.push(Stm { binds: spread(&stm.binds, k, results), exp });
    stms.push(whole);
    Some(Replacement { stms, values: stm.binds.iter().map(|p| p.var.into()).collect() })
}

/// Is the array only read at constant places (and given back)?
fn only_elements(block: &Block, x: Var) -> bool {
    block.stms.iter().all(|stm| {
        let mut fine = true;
        match &stm.exp {
            Exp::Index(y, index) if *y == x => fine &= index[0].as_lit().is_some(),
            Exp::Index(..)
            | Exp::Prim(..)
            | Exp::Fill(_)
            | Exp::Array(_)
            | Exp::Constant(_)
            | Exp::For { .. }
            | Exp::Loop { .. }
            | Exp::If { .. }
            | Exp::Update { .. }
            | Exp::MatMul(..)
            | Exp::Accumulator(_)
            | Exp::Accumulate { .. }
            | Exp::Freeze(_)
            | Exp::Check { .. } => stm.exp.atoms(&mut |a| fine &= a != Atom::Var(x)),
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
    let stms = vec![
        Stm { binds: spread(&stm.binds, k, results), exp: Exp::If { cond, then, otherwise } },
        whole,
    ];
    Some(Replacement { stms, values: stm.binds.iter().map(|p| p.var.into()).collect() })
}
