//! Functions with rules that are rows of the table of array primitives. Where a function with rules
//! is written out, no derivative looks into it: its rules are taken instead of it. So an array
//! primitive can take the place of its body, behind the checks of the sizes that its signature
//! writes.

use lambada_core::{Term, TermKind};
use lambada_prim::{ArrayPrim, ScalarTy};

use super::super::codes::RuledAt;
use super::{Evaluator, Hint};
use crate::eval::arrays;
use crate::val::{Closure, CodeKind, Val};
use crate::{Eval, ill_typed, taken};

/// A function with rules that is applied to all its arguments, as its body or as the array
/// primitive that it is.
pub(in crate::eval) fn inlined_with_rules(
    of: &mut Evaluator,
    at: &RuledAt,
    closure: &Closure,
    xs: Vec<Val>,
    hint: Hint,
) -> Eval<Val> {
    let prim = ArrayPrim::from_definition(&at.ruled.name).filter(|_| at.ruled.library);
    match prim.filter(|prim| prim.version(&ranks(&xs)).is_some()) {
        Some(prim) if xs.iter().all(|x| is_of_reals(of, x)) => kernel(of, prim, closure, &xs, hint),
        Some(_) | None => of.inlined(closure, xs, hint),
    }
}

fn kernel(
    of: &mut Evaluator,
    prim: ArrayPrim,
    closure: &Closure,
    xs: &[Val],
    hint: Hint,
) -> Eval<Val> {
    let CodeKind::Lambda { var, body, .. } = &closure.code.kind else {
        return Err(ill_typed());
    };
    of.scoped(|this| {
        let (vars, body) = taken(var, body, xs.len());
        vars.into_iter().zip(xs).for_each(|(var, x)| this.bind(var, x.clone()));
        signature_checks(this, body)
    })?;
    let (args, dims) = arrays::matrices(of, xs)?;
    arrays::array_prim(of, prim, args, &dims, hint)
}

fn is_of_reals(of: &Evaluator, x: &Val) -> bool {
    matches!(rank(x).1, Val::Leaf(leaf) if of.emit.elem(leaf.atom) == ScalarTy::Real)
}

/// The sizes and the checks that stand first in a definition: those of its signature.
fn signature_checks(of: &mut Evaluator, body: &Term) -> Eval<()> {
    let mut body = body;
    loop {
        if let TermKind::Let(x, t, rest) = body.kind()
            && says_sizes(t)
        {
            let value = of.eval(t, None)?;
            of.bind(x, value);
            body = rest;
        } else if let TermKind::Check { cond, site, values, body: rest } = body.kind() {
            of.check(cond, site, values)?;
            body = rest;
        } else {
            // What follows is what the primitive does.
            return Ok(());
        }
    }
}

/// Whether it is a size, or a check of one.
fn says_sizes(term: &Term) -> bool {
    if let TermKind::Check { body, .. } = term.kind() {
        matches!(body.kind(), TermKind::Tuple(items) if items.is_empty())
    } else {
        matches!(term.kind(), TermKind::Dim(..))
    }
}

fn ranks(xs: &[Val]) -> Vec<usize> {
    xs.iter().map(|x| rank(x).0).collect()
}

/// How many axes it has, and what its elements are.
fn rank(x: &Val) -> (usize, &Val) {
    let (mut rank, mut x) = (0, x);
    while let Val::Array(array) = x {
        (rank, x) = (rank + 1, &array.elem);
    }
    (rank, x)
}
