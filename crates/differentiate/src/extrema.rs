//! Rewrites active reductions other than sums, before either mode.
//!
//! ```text
//!   m = max i < n { b }    becomes   all = for i < n { b }, greatest = max i < n { b }
//!                                    m   = if 0 < n {
//!                                            at = min i < n {
//!                                              if all[i] is `greatest` or NaN then i else n - 1
//!                                            }
//!                                            b at `at`
//!                                          } else { -inf }
//!   p = mul i < n { b }    becomes   all = for i < n { b }
//!                                    p   = loop (p = 1) for i < n { p * all[i] }
//! ```
//!
//! So only the iteration that decides an extremum is differentiated, once, and the others
//! contribute no `0 * inf`. Value and place are reductions, which need no order. A product becomes
//! a loop of products, whose derivative is exact at zero factors, at every order.
//!
//! * Gives: the same function, in which every active reduction is a sum.
//! * Keeps: the value, with NaN where an element is NaN, and the first of equal elements. Checks
//!   and additions to accumulators happen once: additions by a call in the second run of the
//!   deciding iteration go to an accumulator without a reader.

use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Builder, Effect, Exp, Lambda, LoopKind, NAMELESS, Names, Nest, Op, Out, Param,
    Renaming, Stm, Ty, Var,
};
use lambada_prim::{Prim, ReduceOp, ScalarTy};

use crate::activity::{Activity, Scope};
use crate::effects::{without_additions, without_checks};
use crate::trim::trim_again;

/// Rewrites the active extrema and products of a function.
pub(crate) fn rewrite_reductions(names: &mut Names, scope: &Scope, f: &Lambda) -> Lambda {
    let mut known =
        FunctionFacts { activity: Activity::of(scope, f), accumulators: HashMap::new() };
    known.accumulators.extend(scope.given.iter().map(|acc| (acc.var, acc.ty.clone())));
    f.body.each(&mut |stm| {
        if matches!(stm.exp.effect(), Effect::Makes | Effect::OpensCell) {
            known.accumulators.extend(stm.binds.iter().map(|p| (p.var, p.ty.clone())));
        }
    });
    Lambda { body: block(names, &known, &f.body), ..f.clone() }
}

/// The activity of the function and its accumulators.
struct FunctionFacts {
    activity: Activity,
    /// The types of accumulators.
    accumulators: HashMap<Var, Ty>,
}

fn block(names: &mut Names, known: &FunctionFacts, from: &Block) -> Block {
    let mut b = Builder::new(names);
    for stm in &from.stms {
        let mut stm = stm.clone();
        for inner in stm.exp.blocks_mut() {
            *inner = block(b.names, known, inner);
        }
        if (0..stm.binds.len()).any(|k| reduction(&known.activity, &stm, k).is_some()) {
            reductions(&mut b, known, stm);
        } else {
            b.stms.push(stm);
        }
    }
    b.finish(from.results.clone())
}

/// The reduction of the k-th out, if it must be rewritten.
fn reduction(activity: &Activity, stm: &Stm, k: usize) -> Option<ReduceOp> {
    let Exp::Nest(Nest::For { outs, .. }) = &stm.exp else { return None };
    match outs[k] {
        Out::Reduce(op @ (ReduceOp::Max | ReduceOp::Min | ReduceOp::Mul)) => {
            Some(op).filter(|_| activity.active(stm.binds[k].var))
        }
        Out::Reduce(ReduceOp::Add | ReduceOp::And | ReduceOp::Or) | Out::Collect => None,
    }
}

fn reductions(b: &mut Builder, known: &FunctionFacts, mut stm: Stm) {
    let rewritten: Vec<(usize, ReduceOp)> = (0..stm.binds.len())
        .filter_map(|k| Some((k, reduction(&known.activity, &stm, k)?)))
        .collect();
    let Exp::Nest(Nest::For { index, extent, outs, body }) = &mut stm.exp else { return };
    let mut after = Builder::new(b.names);
    for (k, op) in rewritten {
        let ty = Ty::real().array_of(*extent);
        let all = Param {
            var: after.names.fresh(match body.results[k].as_var().map(|x| after.names.hint(x)) {
                Some(hint) if &*hint != NAMELESS => hint,
                Some(_) | None => after.names.hint(stm.binds[k].var),
            }),
            ty,
        };
        if op == ReduceOp::Mul {
            let m = std::mem::replace(&mut stm.binds[k], all.clone());
            outs[k] = Out::Collect;
            product(&mut after, m, &all, *extent);
        } else {
            let name = if op == ReduceOp::Max { "greatest" } else { "least" };
            let best = Param { var: after.names.fresh(name), ty: Ty::real() };
            let m = std::mem::replace(&mut stm.binds[k], best.clone());
            stm.binds.push(all.clone());
            outs.push(Out::Collect);
            let there = Block { stms: body.stms.clone(), results: vec![body.results[k]] };
            body.results.push(body.results[k]);
            let all = All { op, all, best: best.var, index: *index, extent: *extent };
            extremum(&mut after, known, m, &all, there);
        }
    }
    let after = after.stms;
    b.stms.push(stm);
    b.stms.extend(after);
}

/// The collected values of an extremum.
struct All {
    op: ReduceOp,
    all: Param,
    best: Var,
    index: Var,
    extent: Atom,
}

/// `m = loop (p = 1) for i < extent { p * all[i] }`
fn product(b: &mut Builder, m: Param, all: &Param, extent: Atom) {
    let (p, index) = (b.names.again(m.var), b.names.fresh("i"));
    let body = b.block(|b| {
        let factor = b.index(all.var, &all.ty, vec![index.into()]);
        vec![b.prim(Prim::Mul, [p.into(), factor])]
    });
    let params = vec![Param { var: p, ty: Ty::real() }];
    let one = Atom::Lit(ReduceOp::Mul.unit(ScalarTy::Real));
    b.stms.push(Stm::new(
        vec![m],
        Nest::Loop { params, inits: vec![one], kind: LoopKind::counted(index, extent), body },
    ));
}

/// The index of the extremum: the first of equal ones, or the first NaN if any. Assumes at least
/// one iteration.
fn first(b: &mut Builder, of: &All) -> Atom {
    let (index, best) = (b.names.fresh("i"), Atom::Var(of.best));
    let last = b.prim(Prim::SubInt, [of.extent, Atom::int(1)]);
    let body = b.block(|b| {
        let x = b.index(of.all.var, &of.all.ty, vec![index.into()]);
        let (equal, nan) = (b.prim(Prim::Eq, [x, best]), b.prim(Prim::Ne, [x, x]));
        let here = b.prim(Prim::Or, [equal, nan]);
        vec![b.prim(Prim::SelectInt, [here, index.into(), last])]
    });
    let outs = vec![Out::Reduce(ReduceOp::Min)];
    b.bind("at", Ty::int(), Nest::For { index, extent: of.extent, outs, body })
}

/// `m = if 0 < extent { body at the index of the extremum } else { unit }`
fn extremum(b: &mut Builder, known: &FunctionFacts, m: Param, of: &All, body: Block) {
    let cond = b.prim(Prim::LtInt, [Atom::int(0), of.extent]);
    let unit = Block { stms: Vec::new(), results: vec![Atom::Lit(of.op.unit(ScalarTy::Real))] };
    let mut stm = Stm::new(vec![m], Nest::If { cond, then: body, otherwise: unit });
    without_additions(&mut stm, &HashSet::new());
    without_checks(&mut stm);
    if let Exp::Nest(Nest::If { then, .. }) = &mut stm.exp {
        trim_again(then);
        *then = b.block(|b| {
            let mut renaming = Renaming::new();
            renaming.insert(of.index, first(b, of));
            let unread = unread(b, known, then, &mut renaming);
            let there = renaming.copy(then, b.names);
            b.stms.extend(there.stms);
            for acc in unread {
                b.bind("unread", acc.ty, Op::Freeze(acc.var));
            }
            there.results
        });
    }
    b.stms.push(stm);
}

/// Fresh accumulators in place of outer ones that calls in the block add to.
fn unread(
    b: &mut Builder,
    known: &FunctionFacts,
    block: &Block,
    renaming: &mut Renaming,
) -> Vec<Param> {
    let (mut made, mut added) = (HashSet::new(), Vec::new());
    block.each(&mut |stm| {
        if matches!(stm.exp.effect(), Effect::Makes | Effect::OpensCell) {
            made.extend(stm.binds.iter().map(|p| p.var));
        }
        if let Exp::Op(Op::Call { accumulators, .. }) = &stm.exp {
            added.extend(accumulators.iter().copied());
        }
    });
    let mut unread: Vec<Param> = Vec::new();
    for outer in added.into_iter().filter(|acc| !made.contains(acc)) {
        if renaming.atom(outer.into()) == outer.into() {
            let ty = known.accumulators[&outer].clone();
            let zeros = b.zero(&ty);
            let acc = b.bind("unread", ty.clone(), Op::Accumulator(zeros));
            renaming.insert(outer, acc);
            unread.extend(acc.as_var().map(|var| Param { var, ty }));
        }
    }
    unread
}
