//! Linear maps leave sums: `Σᵢ a·xᵢ = a·Σᵢ xᵢ` where `a` is a finite number that does not depend on
//! `i`, likewise negation and division by a number that is not zero.
//!
//! Assumes: nothing. Gives: no sum of negations, or of products with a constant or an integer that
//! does not depend on the index; no two outs of a loop that are the same. Keeps: values up to
//! rounding and the sign of a zero, and failures. This is the homomorphism law of pullbacks,
//! `f (Σ x) = Σ f x`.
//!
//! A factor that may be infinite or NaN stays inside, although it is as linear: with `a` infinite,
//! `Σ a·xᵢ` is NaN where a term is zero or two differ in sign, but `a·Σ xᵢ` need not be; and where
//! there are no terms the sum is 0, but `a·0` is NaN.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Exp, Nest, Op, Out, Param, Stm, Var, negative};
use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy};

use crate::control::kept;
use crate::rewrite::{Context, Replacement};

/// The rewrite.
pub(crate) fn factor(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    let Exp::Nest(Nest::For { index, extent, outs, body }) = &stm.exp else { return None };
    let for_ = For { index: *index, extent: *extent, outs, body };
    duplicates(stm, &for_).or_else(|| (0..outs.len()).find_map(|k| outside(context, stm, &for_, k)))
}

struct For<'a> {
    index: Var,
    extent: Atom,
    outs: &'a [Out],
    body: &'a Block,
}

impl For<'_> {
    fn definition(&self, atom: Atom) -> Option<&Exp> {
        let defines = |s: &&Stm| s.binds.len() == 1 && Atom::Var(s.binds[0].var) == atom;
        self.body.stms.iter().find(defines).map(|s| &s.exp)
    }

    /// Whether the atom is in scope outside the loop.
    fn invariant(&self, atom: Atom) -> bool {
        let Atom::Var(var) = atom else { return true };
        let mut inside = HashSet::from([self.index]);
        self.body.bound(&mut |v| _ = inside.insert(v));
        !inside.contains(&var)
    }

    fn with(&self, outs: Vec<Out>, body: Block) -> Exp {
        Exp::Nest(Nest::For { index: self.index, extent: self.extent, outs, body })
    }
}

/// Outs that are the same become one.
fn duplicates(stm: &Stm, for_: &For) -> Option<Replacement> {
    let same = |j: usize, k: usize| {
        for_.outs[j] == for_.outs[k]
            && for_.body.results[j] == for_.body.results[k]
            && stm.binds[j].ty == stm.binds[k].ty
    };
    let first: Vec<usize> =
        (0..for_.outs.len()).map(|k| (0..k).find(|j| same(*j, k)).unwrap_or(k)).collect();
    let keep: Vec<bool> = first.iter().enumerate().map(|(k, j)| k == *j).collect();
    if !keep.contains(&false) {
        return None;
    }
    let body = Block { stms: for_.body.stms.clone(), results: kept(&for_.body.results, &keep) };
    let stms = vec![Stm::new(kept(&stm.binds, &keep), for_.with(kept(for_.outs, &keep), body))];
    Some(Replacement { stms, values: first.into_iter().map(|j| stm.binds[j].var.into()).collect() })
}

/// The linear map that has left a sum, to apply afterwards.
enum Map {
    Negate,
    Multiply(Atom),
    Divide(Atom),
}

/// Whether the real is surely finite: a finite constant, or a converted integer.
fn finite(context: &Context, a: Atom) -> bool {
    match a {
        Atom::Lit(Scalar::Real(a)) => a.is_finite(),
        Atom::Lit(Scalar::Int(_) | Scalar::Bool(_)) => false,
        Atom::Var(_) => {
            matches!(context.scope.definition(a), Some(Exp::Op(Op::Prim(Prim::ToReal, _))))
        }
    }
}

/// Takes the outermost linear map out of the k-th sum.
fn outside(context: &mut Context, stm: &Stm, for_: &For, k: usize) -> Option<Replacement> {
    let p = &stm.binds[k];
    if for_.outs[k] != Out::Reduce(ReduceOp::Add) || p.ty.elem != ScalarTy::Real {
        return None;
    }
    let Exp::Op(Op::Prim(op, args)) = for_.definition(for_.body.results[k])? else { return None };
    let (inner, map) = match (op, args.as_slice()) {
        (Prim::Neg, [x]) => (*x, Map::Negate),
        (Prim::Mul, [x, a]) if for_.invariant(*a) && finite(context, *a) => (*x, Map::Multiply(*a)),
        (Prim::Mul, [a, x]) if for_.invariant(*a) && finite(context, *a) => (*x, Map::Multiply(*a)),
        (Prim::Div, [x, a @ Atom::Lit(_)]) if finite(context, *a) && *a != Atom::real(0.0) => {
            (*x, Map::Divide(*a))
        }
        (_, _) => return None,
    };
    let sum = Param { var: context.names.again(p.var), ty: p.ty.clone() };
    if let Map::Negate = map {
        let hint = negative(&context.names.hint(p.var));
        context.names.rename(sum.var, hint);
    }
    let mut body = for_.body.clone();
    body.results[k] = inner;
    let mut binds = stm.binds.clone();
    binds[k] = sum.clone();
    let exp = match map {
        Map::Negate => Exp::Op(Op::Prim(Prim::Neg, vec![sum.var.into()])),
        Map::Multiply(a) => Exp::Op(Op::Prim(Prim::Mul, vec![sum.var.into(), a])),
        Map::Divide(a) => Exp::Op(Op::Prim(Prim::Div, vec![sum.var.into(), a])),
    };
    let stms =
        vec![Stm::new(binds, for_.with(for_.outs.to_vec(), body)), Stm::new(vec![p.clone()], exp)];
    Some(Replacement { stms, values: stm.binds.iter().map(|p| p.var.into()).collect() })
}
