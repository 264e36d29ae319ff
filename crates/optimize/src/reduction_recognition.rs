//! A sequential loop whose iterations do not need each other is a `for`.
//!
//! ```text
//!   loop s = s₀ for i < n do s ⊕ e               becomes   s₀ ⊕ (reduce ⊕ for i < n => e)
//!                                                          ⊕ commutative, s not in e
//!   loop ys = ys₀ for i < n do ys with [i] = e   becomes   for i < n => e
//!                                                          ys not in e, of n elements
//! ```
//!
//! Assumes: nothing. Gives: no `loop` all of whose state is of these kinds. Keeps: values up to the
//! order of a sum or product, and failures.

use lambada_anf::{Atom, Block, Exp, LoopKind, Nest, Op, Out, Param, Renaming, Stm, Var, uses};
use lambada_prim::{Prim, ReduceOp};

use crate::rewrite::{Context, Replacement};

/// The rewrite.
pub(crate) fn reduction_recognition(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    let Exp::Nest(Nest::Loop { params, inits, kind: LoopKind::For { index, extent, .. }, body }) =
        &stm.exp
    else {
        return None;
    };
    // Iterations that read cells that others add to keep their order.
    let summary = context.calls.summary(stm);
    if summary.conflicts(summary) {
        return None;
    }
    if params.is_empty() {
        let exp = Nest::For { index: *index, extent: *extent, outs: vec![], body: body.clone() };
        return Some(Replacement { stms: vec![Stm::effect(exp)], values: vec![] });
    }
    let counts = uses(body);
    let once = |var: Var| counts.get(&var) == Some(&1);
    let steps: Vec<Step> = params
        .iter()
        .zip(&body.results)
        .map(|(p, r)| step(body, p, *r, *index, *extent, &once))
        .collect::<Option<_>>()?;
    Some(as_for(context, stm, inits, (*index, *extent), body, steps))
}

/// The effect of an iteration on one part of the state.
enum Step {
    /// `next = state ⊕ …`: the statements of the chain, by the variable that each binds, with the
    /// other operand of each.
    Combine(ReduceOp, Vec<(Var, Atom)>),
    /// `next = state with [index] = value`
    Set(Var, Atom),
}

fn step(
    body: &Block,
    p: &Param,
    result: Atom,
    index: Var,
    extent: Atom,
    once: &dyn Fn(Var) -> bool,
) -> Option<Step> {
    let definition = |v: Var| {
        body.stms.iter().find(|s| s.binds.len() == 1 && s.binds[0].var == v).map(|s| &s.exp)
    };
    let result = result.as_var()?;
    if !once(p.var) || !once(result) {
        return None;
    }
    if let Exp::Op(Op::Update { array, index: at, value }) = definition(result)? {
        let own = *array == p.var && at[..] == [Atom::Var(index)] && p.ty.dims[0] == extent;
        return own.then_some(Step::Set(result, *value));
    }
    let mut chain = Vec::new();
    let mut at = result;
    let mut monoid = None;
    while at != p.var {
        let Exp::Op(Op::Prim(op, args)) = definition(at)? else { return None };
        let [a, b] = args[..] else { return None };
        let op = reduction(*op)?;
        if *monoid.get_or_insert(op) != op {
            return None;
        }
        // The state is on one side, perhaps under more of the same; each link is used by the next
        // one only.
        let (link, other) = match (a.as_var(), b.as_var()) {
            (Some(v), _) if v == p.var || leads_to(body, v, p.var, once) => (v, b),
            (_, Some(v)) if v == p.var || leads_to(body, v, p.var, once) => (v, a),
            (_, _) => return None,
        };
        chain.push((at, other));
        at = link;
    }
    Some(Step::Combine(monoid?, chain))
}

/// Whether the variable is a chain of single-use operations on the state.
fn leads_to(body: &Block, from: Var, state: Var, once: &dyn Fn(Var) -> bool) -> bool {
    let mut at = from;
    for stm in body.stms.iter().rev() {
        if stm.binds.len() != 1 || stm.binds[0].var != at {
            continue;
        }
        let Exp::Op(Op::Prim(_, args)) = &stm.exp else { return false };
        if !once(at) {
            return false;
        }
        if args.contains(&state.into()) {
            return true;
        }
        let Some(next) = args.iter().find_map(|a| a.as_var()) else { return false };
        at = next;
    }
    false
}

fn reduction(op: Prim) -> Option<ReduceOp> {
    Some(match op {
        Prim::Add | Prim::AddInt => ReduceOp::Add,
        Prim::Mul | Prim::MulInt => ReduceOp::Mul,
        Prim::Min | Prim::MinInt => ReduceOp::Min,
        Prim::Max | Prim::MaxInt => ReduceOp::Max,
        Prim::And => ReduceOp::And,
        Prim::Or => ReduceOp::Or,
        _ => return None, // not a commutative monoid
    })
}

fn as_for(
    context: &mut Context,
    stm: &Stm,
    inits: &[Atom],
    range: (Var, Atom),
    body: &Block,
    steps: Vec<Step>,
) -> Replacement {
    let mut body = body.clone();
    let (mut binds, mut outs, mut after, mut values) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (k, step) in steps.into_iter().enumerate() {
        let p = &stm.binds[k];
        match step {
            Step::Set(update, value) => {
                body.stms.retain(|s| !binds_var(s, update));
                body.results[k] = value;
                binds.push(p.clone());
                outs.push(Out::Collect);
            }
            Step::Combine(op, chain) => {
                without_state(&mut body, k, &chain);
                let total = Param { var: context.names.again(p.var), ty: p.ty.clone() };
                after.push(Stm::new(
                    vec![p.clone()],
                    Op::Prim(op.prim(p.ty.elem.scalar()), vec![inits[k], total.var.into()]),
                ));
                binds.push(total);
                outs.push(Out::Reduce(op));
            }
        }
        values.push(p.var.into());
    }
    let (index, extent) = range;
    let mut stms = vec![Stm::new(binds, Nest::For { index, extent, outs, body })];
    stms.extend(after);
    Replacement { stms, values }
}

fn binds_var(stm: &Stm, var: Var) -> bool {
    stm.binds.iter().any(|p| p.var == var)
}

/// The k-th result without the initial state: the innermost link of the chain becomes its other
/// operand.
fn without_state(body: &mut Block, k: usize, chain: &[(Var, Atom)]) {
    let Some((innermost, other)) = chain.last() else { return };
    body.stms.retain(|s| !binds_var(s, *innermost));
    let mut renaming = Renaming::new();
    renaming.insert(*innermost, *other);
    renaming.apply(body);
    if chain.len() == 1 {
        body.results[k] = *other;
    }
}
