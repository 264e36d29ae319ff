//! Control flow that is decided: an `if` on a constant, a loop that runs not at all or once,
//! branches and loops that return values from outside unchanged.
//!
//! Assumes: nothing. Gives: no `if` on a constant, no `for` or `loop` of constant extent ≤ 1, no
//! result of an `if` that is the same in both branches or is true in one and false in the other, no
//! loop state that never changes. Keeps: values and failures.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Exp, LoopKind, Nest, Op, Out, Param, Renaming, Stm, Ty, Var};
use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy};

use crate::rewrite::{Context, Replacement};

/// The greatest number of integer operations that are computed unconditionally instead of in
/// branches.
const INTEGERS: usize = 2;

/// All of the above.
pub(crate) fn control(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    match &stm.exp {
        Exp::Nest(Nest::If { cond, then, otherwise }) => if_(stm, *cond, then, otherwise),
        Exp::Nest(Nest::For { index, extent, outs, body }) => {
            for_(context, stm, *index, *extent, outs, body)
        }
        Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
            loop_(stm, params, inits, kind, body)
        }
        Exp::Op(Op::Check { cond: Atom::Lit(Scalar::Bool(true)), .. }) => {
            Replacement::values(vec![])
        }
        Exp::Op(_) => None,
    }
}

/// The block in place of the statement: its results are the values.
fn splice(block: &Block) -> Option<Replacement> {
    Some(Replacement { stms: block.stms.clone(), values: block.results.clone() })
}

fn if_(stm: &Stm, cond: Atom, then: &Block, otherwise: &Block) -> Option<Replacement> {
    if let Atom::Lit(Scalar::Bool(holds)) = cond {
        return splice(if holds { then } else { otherwise });
    }
    if then.stms.is_empty()
        && otherwise.stms.is_empty()
        && stm.binds.iter().all(|p| p.ty.dims.is_empty() && p.ty.elem.node().is_none())
    {
        return Some(selects(stm, cond, then, otherwise));
    }
    if let Some(moved) = cheap_integers(stm, cond, then, otherwise) {
        return Some(moved);
    }
    if_same(stm, cond, then, otherwise).or_else(|| if_truths(stm, cond, then, otherwise))
}

/// An `if` between cheap integers computes both and selects one: no tape holds them, because they
/// are recomputed, and their bounds are known.
fn cheap_integers(stm: &Stm, cond: Atom, then: &Block, otherwise: &Block) -> Option<Replacement> {
    let cheap = |stm: &Stm| {
        matches!(stm.exp, Exp::Op(Op::Prim(Prim::AddInt | Prim::SubInt | Prim::NegInt, _)))
    };
    let stms = || then.stms.iter().chain(&otherwise.stms);
    if stms().nth(INTEGERS).is_some()
        || !stms().all(cheap)
        || !stm.binds.iter().all(|p| p.ty == Ty::int())
    {
        return None;
    }
    let mut chosen = selects(stm, cond, then, otherwise);
    chosen.stms.splice(0..0, stms().cloned());
    Some(chosen)
}

/// An `if` whose branches compute nothing selects between existing values.
fn selects(stm: &Stm, cond: Atom, then: &Block, otherwise: &Block) -> Replacement {
    let select = |((p, a), b): ((&Param, &Atom), &Atom)| {
        Stm::new(vec![p.clone()], Op::Prim(select(p.ty.elem.scalar()), vec![cond, *a, *b]))
    };
    let stms = stm.binds.iter().zip(&then.results).zip(&otherwise.results).map(select).collect();
    Replacement { stms, values: stm.binds.iter().map(|p| p.var.into()).collect() }
}

fn select(elem: ScalarTy) -> Prim {
    match elem {
        ScalarTy::Real => Prim::Select,
        ScalarTy::Int => Prim::SelectInt,
        ScalarTy::Bool => Prim::SelectBool,
    }
}

/// Results that are the same in both branches need no `if`.
fn if_same(stm: &Stm, cond: Atom, then: &Block, otherwise: &Block) -> Option<Replacement> {
    // A variable bound in a branch cannot be the result of the other, so equal results are in scope
    // outside.
    let same: Vec<bool> =
        then.results.iter().zip(&otherwise.results).map(|(a, b)| a == b).collect();
    if !same.contains(&true) {
        return None;
    }
    // Sizes that later bindings of this statement mention must stay bindings.
    let as_size: HashSet<Atom> = stm.binds.iter().flat_map(|p| p.ty.dims.iter().copied()).collect();
    let keep: Vec<bool> =
        same.iter().zip(&stm.binds).map(|(s, p)| !s || as_size.contains(&p.var.into())).collect();
    if !keep.contains(&false) {
        return None;
    }
    let values = stm
        .binds
        .iter()
        .zip(&then.results)
        .zip(&keep)
        .map(|((p, a), keep)| if *keep { p.var.into() } else { *a })
        .collect();
    let pruned =
        |block: &Block| Block { stms: block.stms.clone(), results: kept(&block.results, &keep) };
    let exp = Nest::If { cond, then: pruned(then), otherwise: pruned(otherwise) };
    Some(Replacement { stms: vec![Stm::new(kept(&stm.binds, &keep), exp)], values })
}

/// Results that are true in one branch and false in the other are the condition.
fn if_truths(stm: &Stm, cond: Atom, then: &Block, otherwise: &Block) -> Option<Replacement> {
    let truth = |atom: &Atom| match atom {
        Atom::Lit(Scalar::Bool(value)) => Some(*value),
        Atom::Lit(_) | Atom::Var(_) => None,
    };
    let known = then.results.iter().zip(&otherwise.results);
    let known: Vec<Option<bool>> = known
        .map(|(a, b)| truth(a).zip(truth(b)).filter(|(a, b)| a != b).map(|(a, _)| a))
        .collect();
    let keep: Vec<bool> = known.iter().map(Option::is_none).collect();
    if !keep.contains(&false) {
        return None;
    }
    let of = |(p, known): (&Param, &Option<bool>)| match known {
        None => p.var.into(),
        Some(true) => cond,
        Some(false) => p.var.into(),
    };
    let values = stm.binds.iter().zip(&known).map(of).collect();
    let pruned =
        |block: &Block| Block { stms: block.stms.clone(), results: kept(&block.results, &keep) };
    let exp = Nest::If { cond, then: pruned(then), otherwise: pruned(otherwise) };
    let negated = stm.binds.iter().zip(&known).filter(|(_, known)| **known == Some(false));
    let mut stms: Vec<Stm> =
        negated.map(|(p, _)| Stm::new(vec![p.clone()], Op::Prim(Prim::Not, vec![cond]))).collect();
    stms.push(Stm::new(kept(&stm.binds, &keep), exp));
    Some(Replacement { stms, values })
}

/// The items that are to be kept.
pub(crate) fn kept<T: Clone>(items: &[T], keep: &[bool]) -> Vec<T> {
    items.iter().zip(keep).filter(|(_, keep)| **keep).map(|(item, _)| item.clone()).collect()
}

fn for_(
    context: &mut Context,
    stm: &Stm,
    index: Var,
    extent: Atom,
    outs: &[Out],
    body: &Block,
) -> Option<Replacement> {
    match extent {
        Atom::Lit(Scalar::Int(..=0)) => return Some(no_iterations(stm, outs)),
        Atom::Lit(Scalar::Int(1)) => return Some(one_iteration(stm, index, outs, body)),
        Atom::Lit(_) | Atom::Var(_) => {}
    }
    for_invariant(context, stm, index, extent, outs, body)
}

fn no_iterations(stm: &Stm, outs: &[Out]) -> Replacement {
    let (mut stms, mut values) = (Vec::new(), Vec::new());
    for (p, out) in stm.binds.iter().zip(outs) {
        match out {
            Out::Collect => {
                stms.push(Stm::new(vec![p.clone()], Op::Fill(Atom::Lit(p.ty.elem.zero()))));
                values.push(p.var.into());
            }
            Out::Reduce(op) => values.push(Atom::Lit(op.unit(p.ty.elem.scalar()))),
        }
    }
    Replacement { stms, values }
}

fn one_iteration(stm: &Stm, index: Var, outs: &[Out], body: &Block) -> Replacement {
    let mut renaming = Renaming::new();
    renaming.insert(index, Atom::int(0));
    let mut body = body.clone();
    renaming.apply(&mut body);
    let (mut stms, mut values) = (body.stms, Vec::new());
    for ((p, out), result) in stm.binds.iter().zip(outs).zip(body.results) {
        match out {
            Out::Collect => {
                stms.push(Stm::new(vec![p.clone()], Op::Array(vec![result])));
                values.push(p.var.into());
            }
            Out::Reduce(_) => values.push(result),
        }
    }
    Replacement { stms, values }
}

/// Outs that do not depend on the iteration: an array of one scalar is a `Fill`, a sum of units is
/// the unit, and an array of all elements of an array is that array.
fn for_invariant(
    context: &mut Context,
    stm: &Stm,
    index: Var,
    extent: Atom,
    outs: &[Out],
    body: &Block,
) -> Option<Replacement> {
    let mut inside = HashSet::from([index]);
    if body.results.iter().any(|r| r.as_var().is_some()) {
        body.bound(&mut |v| _ = inside.insert(v));
    }
    let outside = |a: Atom| a.as_var().is_none_or(|v| !inside.contains(&v));
    let scalar = |a: Atom| {
        a.as_var().is_none_or(|v| context.scope.ty(v).is_some_and(|ty| ty.dims.is_empty()))
    };
    let replaced: Vec<Option<ClosedForm>> = outs
        .iter()
        .zip(&stm.binds)
        .zip(&body.results)
        .map(|((out, p), result)| match out {
            Out::Collect if outside(*result) && scalar(*result) && p.ty.rank() == 1 => {
                Some(ClosedForm::Fill(*result))
            }
            Out::Collect => filled(context, body, *result)
                .filter(|value| outside(*value))
                .map(ClosedForm::Fill)
                .or_else(|| {
                    all_elements(context, index, body, p, *result)
                        .map(|xs| ClosedForm::Atom(xs.into()))
                }),
            Out::Reduce(op) => idle(*op, p.ty.elem.scalar(), *result, outside(*result)),
        })
        .collect();
    if replaced.iter().all(Option::is_none) {
        return None;
    }
    let keep: Vec<bool> = replaced.iter().map(Option::is_none).collect();
    let rest = Nest::For {
        index,
        extent,
        outs: kept(outs, &keep),
        body: Block { stms: body.stms.clone(), results: kept(&body.results, &keep) },
    };
    let mut stms = vec![Stm::new(kept(&stm.binds, &keep), rest)];
    if stms[0].binds.is_empty() && stms[0].is_pure() && !stms[0].may_not_end() {
        stms.clear();
    }
    let mut values = Vec::new();
    for (p, value) in stm.binds.iter().zip(replaced) {
        values.push(match value {
            Some(ClosedForm::Atom(atom)) => atom,
            Some(ClosedForm::Fill(atom)) => {
                stms.push(Stm::new(vec![p.clone()], Op::Fill(atom)));
                p.var.into()
            }
            Some(ClosedForm::Repeated(op, atom)) => {
                repeated(context, &mut stms, p, op, extent, atom)
            }
            None => p.var.into(),
        });
    }
    Some(Replacement { stms, values })
}

enum ClosedForm {
    Atom(Atom),
    Fill(Atom),
    /// `atom ⊕ atom ⊕ …`
    Repeated(ReduceOp, Atom),
}

/// A reduction of the unit is the unit; one of something that does not change needs no loop.
fn idle(op: ReduceOp, elem: ScalarTy, result: Atom, unchanging: bool) -> Option<ClosedForm> {
    let unit = Atom::Lit(op.unit(elem));
    let zero = op == ReduceOp::Add && result == Atom::real(-0.0);
    if result == unit || zero {
        return Some(ClosedForm::Atom(unit));
    }
    (unchanging && op != ReduceOp::Mul).then_some(ClosedForm::Repeated(op, result))
}

/// A sum of equal terms is a product; other reductions of equal things are idempotent. Without
/// iterations, there is the unit.
fn repeated(
    context: &mut Context,
    stms: &mut Vec<Stm>,
    p: &Param,
    op: ReduceOp,
    extent: Atom,
    atom: Atom,
) -> Atom {
    let mut prim = |hint: &str, op: Prim, args: Vec<Atom>| {
        let var = context.names.fresh(hint);
        stms.push(Stm::new(vec![Param { var, ty: Ty::scalar(op.result()) }], Op::Prim(op, args)));
        Atom::Var(var)
    };
    let value = match (op, p.ty.elem.scalar()) {
        (ReduceOp::Add, ScalarTy::Real) => {
            let count = prim("count", Prim::ToReal, vec![extent]);
            prim("sum", Prim::Mul, vec![count, atom])
        }
        (ReduceOp::Add, _) => prim("sum", Prim::MulInt, vec![extent, atom]),
        (ReduceOp::Mul | ReduceOp::Min | ReduceOp::Max | ReduceOp::And | ReduceOp::Or, _) => atom,
    };
    if context.scope.proves(Atom::int(0), extent, true) {
        return value;
    }
    let some = prim("some", Prim::LtInt, vec![Atom::int(0), extent]);
    prim(
        "value",
        select(p.ty.elem.scalar()),
        vec![some, value, Atom::Lit(op.unit(p.ty.elem.scalar()))],
    )
}

/// The scalar that fills a result, if all elements are equal.
fn filled(context: &Context, body: &Block, result: Atom) -> Option<Atom> {
    let own = body
        .stms
        .iter()
        .find(|s| s.binds.len() == 1 && Atom::Var(s.binds[0].var) == result)
        .map(|s| &s.exp);
    match own.or_else(|| context.scope.definition(result))? {
        Exp::Op(Op::Fill(value)) => Some(*value),
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}

/// `for i < n => xs[i]` where `xs` has n elements, and is in scope outside.
fn all_elements(
    context: &Context,
    index: Var,
    body: &Block,
    p: &Param,
    result: Atom,
) -> Option<Var> {
    let defines = |s: &&Stm| s.binds.len() == 1 && Atom::Var(s.binds[0].var) == result;
    let Exp::Op(Op::Index(xs, at)) = &body.stms.iter().find(defines)?.exp else { return None };
    (at[..] == [Atom::Var(index)] && context.scope.ty(*xs) == Some(&p.ty)).then_some(*xs)
}

fn loop_(
    stm: &Stm,
    params: &[Param],
    inits: &[Atom],
    kind: &LoopKind,
    body: &Block,
) -> Option<Replacement> {
    match kind {
        LoopKind::For { extent: Atom::Lit(Scalar::Int(..=0)), .. } => {
            return Replacement::values(inits.to_vec());
        }
        LoopKind::For { index, extent: Atom::Lit(Scalar::Int(1)), .. } => {
            let mut renaming = Renaming::new();
            renaming.insert(*index, Atom::int(0));
            params.iter().zip(inits).for_each(|(p, init)| renaming.insert(p.var, *init));
            let mut body = body.clone();
            renaming.apply(&mut body);
            return splice(&body);
        }
        LoopKind::For { .. } | LoopKind::While(_) => {}
    }
    unchanged_state(stm, params, inits, kind, body)
}

/// Removes state that the body returns unchanged, or always sets to its first value.
fn unchanged_state(
    stm: &Stm,
    params: &[Param],
    inits: &[Atom],
    kind: &LoopKind,
    body: &Block,
) -> Option<Replacement> {
    let sizes: HashSet<Atom> =
        params.iter().chain(&stm.binds).flat_map(|p| p.ty.dims.iter().copied()).collect();
    let is_size = |k: usize| {
        sizes.contains(&params[k].var.into()) || sizes.contains(&stm.binds[k].var.into())
    };
    let unchanged = |k: usize| {
        (body.results[k] == params[k].var.into() || body.results[k] == inits[k]) && !is_size(k)
    };
    let keep: Vec<bool> = (0..params.len()).map(|k| !unchanged(k)).collect();
    if !keep.contains(&false) {
        return None;
    }
    let mut renaming = Renaming::new();
    params
        .iter()
        .zip(inits)
        .zip(&keep)
        .filter(|(_, keep)| !**keep)
        .for_each(|((p, init), _)| renaming.insert(p.var, *init));
    let mut body = Block { stms: body.stms.clone(), results: kept(&body.results, &keep) };
    renaming.apply(&mut body);
    let mut kind = kind.clone();
    if let LoopKind::While(cond) = &mut kind {
        renaming.apply(cond);
    }
    let values = stm
        .binds
        .iter()
        .zip(inits)
        .zip(&keep)
        .map(|((p, init), keep)| if *keep { p.var.into() } else { *init })
        .collect();
    let exp = Nest::Loop { params: kept(params, &keep), inits: kept(inits, &keep), kind, body };
    Some(Replacement { stms: vec![Stm::new(kept(&stm.binds, &keep), exp)], values })
}
