//! Functions with rules that are rows of the table of array primitives. No derivative sees the body
//! of an inlined function with rules, because its rules replace it. So an array primitive can
//! replace the body, after the checks of sizes from its signature.

use lambada_core::{Term, TermKind};
use lambada_prim::{ArrayPrim, ScalarTy};

use super::super::codes::RuledAt;
use super::{Evaluator, Hint};
use crate::eval::arrays;
use crate::val::{Closure, CodeKind, Val};
use crate::{Eval, ill_typed, taken};

/// A function with rules applied to all its arguments: its body, or its array primitive.
pub(in crate::eval) fn inlined_with_rules(
    of: &mut Evaluator,
    at: &RuledAt,
    closure: &Closure,
    xs: Vec<Val>,
    hint: Hint,
) -> Eval<Val> {
    let is_own = at.ruled.library && at.ruled.known.is_none();
    let prim = ArrayPrim::from_definition(&at.ruled.name).filter(|_| is_own);
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

/// The size terms and checks at the start of a definition: those of its signature.
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
            // The remaining body is the primitive's operation.
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

/// The number of axes, and the element value.
fn rank(x: &Val) -> (usize, &Val) {
    let (mut rank, mut x) = (0, x);
    while let Val::Array(array) = x {
        (rank, x) = (rank + 1, &array.elem);
    }
    (rank, x)
}
