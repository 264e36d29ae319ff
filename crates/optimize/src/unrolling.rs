//! Unrolling: a loop of constant extent up to 4 with a small body is written out, and one up to 16
//! that reads a literal by its index: the elements are scalars.
//!
//! Assumes: nothing. Gives: no `for` or `loop` of constant extent ≤ 4 with a small body, nor such a
//! `for` over a literal. Keeps: values (up to the sign of a zero sum) and failures, in order.

use lambada_anf::{Atom, Block, Exp, LoopKind, Nest, Op, Out, Param, Renaming, Stm, Ty, Var};
use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy};

use crate::rewrite::{Context, Replacement};
use crate::scalar_replacement::{ROWS, small};

/// Loops of more iterations stay loops: written out, they make arrays that are not replaced by
/// scalars.
const ITERATIONS: i64 = ROWS;
/// The greatest trip count of loops that read a literal.
const ELEMENTS: i64 = 16;
/// The greatest number of statements of the written-out loop.
const STATEMENTS: usize = 96;
/// The limit close to the end of a recursion, where all is to become straight-line code.
const CLOSE: usize = 256;
/// Writes a loop out.
pub(crate) fn unrolling(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    unrolled(context, stm, STATEMENTS, false)
}

/// Writes a loop out, up to [`CLOSE`] statements. Derivatives may follow, so an extremum becomes
/// choices.
pub(crate) fn unrolling_at_end(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    unrolled(context, stm, CLOSE, true)
}

fn unrolled(
    context: &mut Context,
    stm: &Stm,
    statements: usize,
    derived: bool,
) -> Option<Replacement> {
    match &stm.exp {
        Exp::Nest(Nest::For { index, extent, outs, body }) => {
            let most = if reads_literal(context, *index, body) { ELEMENTS } else { ITERATIONS };
            let count = iterations(*extent, body, (most, statements))?;
            let fits = |(out, p): (&Out, &Param)| *out != Out::Collect || small(&p.ty.dims[1..]);
            outs.iter()
                .zip(&stm.binds)
                .all(fits)
                .then(|| for_(context, stm, (*index, count), outs, body, derived))
        }
        Exp::Nest(Nest::Loop {
            params,
            inits,
            kind: LoopKind::For { index, extent, .. },
            body,
        }) => {
            let count = iterations(*extent, body, (ITERATIONS, statements))?;
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
        Exp::Op(_) | Exp::Nest(Nest::Loop { kind: LoopKind::While(_), .. } | Nest::If { .. }) => {
            None
        }
    }
}

/// Whether the body reads an element of a literal of scalars at the index.
fn reads_literal(context: &Context, index: Var, body: &Block) -> bool {
    body.stms.iter().any(|stm| {
        let Exp::Op(Op::Index(x, at)) = &stm.exp else { return false };
        let literal = matches!(context.scope.definition((*x).into()), Some(Exp::Op(Op::Array(_))));
        literal && at[..] == [index.into()] && stm.binds[0].ty.dims.is_empty()
    })
}

fn iterations(extent: Atom, body: &Block, (most, statements): (i64, usize)) -> Option<i64> {
    match extent.as_lit()? {
        Scalar::Int(count)
            if (2..=most).contains(&count)
                && written_out(body, statements) * count as usize <= statements =>
        {
            Some(count)
        }
        Scalar::Int(_) | Scalar::Real(_) | Scalar::Bool(_) => None,
    }
}

/// The number of statements of the block after the loops in it are written out, counted up to
/// `limit`.
///
/// The loops count with their iterations because the outer one comes first: `d` loops of two
/// iterations inside of each other are few statements, and `2^d` when all have been written out.
fn written_out(block: &Block, limit: usize) -> usize {
    let mut size = 0;
    for stm in &block.stms {
        let inner: usize =
            stm.exp.blocks().into_iter().map(|inner| written_out(inner, limit)).sum();
        let count = match &stm.exp {
            Exp::Nest(
                Nest::For { extent, .. } | Nest::Loop { kind: LoopKind::For { extent, .. }, .. },
            ) => match extent.as_lit() {
                Some(Scalar::Int(count)) if (1..=ITERATIONS).contains(&count) => count as usize,
                Some(Scalar::Int(_) | Scalar::Real(_) | Scalar::Bool(_)) | None => 1,
            },
            Exp::Op(_)
            | Exp::Nest(Nest::If { .. } | Nest::Loop { kind: LoopKind::While(_), .. }) => 1,
        };
        size += 1 + inner * count;
        if size > limit {
            return size;
        }
    }
    size
}

fn for_(
    context: &mut Context,
    stm: &Stm,
    (index, count): (Var, i64),
    outs: &[Out],
    body: &Block,
    derived: bool,
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
                stms.push(Stm::new(vec![p.clone()], Op::Array(items)));
                p.var.into()
            }
            Out::Reduce(op) => {
                let combine = |a: Atom, b: &Atom| match (op, p.ty.elem.scalar()) {
                    (ReduceOp::Max, ScalarTy::Real) if derived => {
                        first_chosen(context, &mut stms, p, (a, *b), [*b, a])
                    }
                    (ReduceOp::Min, ScalarTy::Real) if derived => {
                        first_chosen(context, &mut stms, p, (a, *b), [a, *b])
                    }
                    (op, ty) => {
                        let step = Op::Prim(op.prim(ty), vec![a, *b]);
                        context.bind(&mut stms, p.var, p.ty.clone(), step)
                    }
                };
                let first = items[0];
                items[1..].iter().fold(first, combine)
            }
        });
    }
    Replacement { stms, values }
}

/// `if le[0] <= le[1] || a != a then a else b`: an extremum of an array follows the first of equal
/// elements, where the primitive shares between both.
fn first_chosen(
    context: &mut Context,
    stms: &mut Vec<Stm>,
    p: &Param,
    (a, b): (Atom, Atom),
    le: [Atom; 2],
) -> Atom {
    let mut bind =
        |ty: Ty, op: Prim, args: Vec<Atom>| context.bind(stms, p.var, ty, Op::Prim(op, args));
    let le = bind(Ty::bool(), Prim::Le, le.to_vec());
    let nan = bind(Ty::bool(), Prim::Ne, vec![a, a]);
    let first = bind(Ty::bool(), Prim::Or, vec![le, nan]);
    bind(p.ty.clone(), Prim::Select, vec![first, a, b])
}
