//! Delinearization: a loop over all elements of a matrix that takes their place apart becomes a
//! loop over the rows around one over the columns. An element of `flatten x` is read that way:
//! `for k < n * m { … x[k / m, k % m] … w[k] … }` becomes
//! `for i < n { for j < m { … x[i, j] … w[i * m + j] … } }`. No element costs a division.
//!
//! Assumes: iterations are independent, so their order is open. Gives: no loop, other than a copy,
//! whose extent is evidently a product of two sizes, neither of them negative, and whose index is
//! divided by the second one alone. An array that it collects is a matrix, then an array of one
//! axis with the elements of the matrix in the same order. Keeps: values, up to the order of sums;
//! failures of iterations, and which comes first.

use lambada_anf::{Atom, Block, Exp, Nest, Op, Out, Param, Renaming, Stm, Ty, Var};
use lambada_prim::{Prim, Scalar};
use rustc_hash::FxHashSet as HashSet;

use crate::rewrite::{Context, Replacement};

/// Writes a loop over a product as two.
pub(crate) fn delinearization(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    let Exp::Nest(Nest::For { index, extent, outs, body }) = &stm.exp else { return None };
    let columns = divisor(*index, body)?;
    let rows = rows(context, (*index, *extent), columns, body)?;
    let mut inside = HashSet::default();
    body.bound(&mut |var| _ = inside.insert(Atom::from(var)));
    if inside.contains(&rows) || inside.contains(&columns) {
        return None;
    }
    if !context.scope.is_product(*extent, rows, columns) || is_copy(*index, outs, body) {
        return None;
    }
    let collects = |out: &Out| *out == Out::Collect;
    let mut again = |dims: &[Atom]| -> Vec<Param> {
        let own = |(p, out): (&Param, &Out)| {
            let kept = &p.ty.dims[usize::from(collects(out))..];
            let dims = if collects(out) { [dims, kept].concat() } else { kept.to_vec() };
            Param { var: context.names.again(p.var), ty: Ty { elem: p.ty.elem, dims } }
        };
        stm.binds.iter().zip(outs).map(own).collect()
    };
    let (inside, matrices) = (again(&[columns]), again(&[rows, columns]));
    let all = |binds: &[Param]| binds.iter().map(|p| p.var.into()).collect::<Vec<Atom>>();
    let [row, column] = [(); 2].map(|()| context.names.again(*index));
    let (mut inner, before) = inner(context, (*index, columns), body, [row, column]);
    inner.stms.splice(0..0, before.1);
    let nest = |index, extent, body| Nest::For { index, extent, outs: outs.clone(), body };
    let results = all(&inside);
    let inside = Stm::new(inside, nest(column, columns, inner));
    let body = Block { stms: before.0.into_iter().chain([inside]).collect(), results };
    let mut values = all(&matrices);
    let mut stms = vec![Stm::new(matrices, nest(row, rows, body))];
    for ((p, out), value) in stm.binds.iter().zip(outs).zip(&mut values) {
        if let (true, Some(matrix)) = (collects(out), value.as_var()) {
            stms.push(flat(context, p, matrix, (*extent, columns)));
            *value = p.var.into();
        }
    }
    Some(Replacement { stms, values })
}

/// `flat = for k < extent => matrix[k / columns, k % columns]`
fn flat(context: &mut Context, bind: &Param, matrix: Var, (extent, columns): (Atom, Atom)) -> Stm {
    let index = context.names.fresh("k");
    let mut stms = Vec::new();
    let mut part = |op| {
        let args = vec![index.into(), columns];
        context.bind(&mut stms, index, Ty::int(), Op::Prim(op, args))
    };
    let at = vec![part(Prim::DivInt), part(Prim::RemInt)];
    let element = context.bind(&mut stms, bind.var, bind.ty.indexed(1), Op::Index(matrix, at));
    let body = Block { stms, results: vec![element] };
    Stm::new(vec![bind.clone()], Nest::For { index, extent, outs: vec![Out::Collect], body })
}

/// Whether its results are elements or parts of arrays, and nothing else.
fn is_copy(index: Var, outs: &[Out], body: &Block) -> bool {
    if outs.iter().any(|out| *out != Out::Collect) {
        return false;
    }
    body.stms.iter().all(|stm| part(index, stm).is_some() || reads(stm))
}

/// Whether it is an element or a part of an array, perhaps one element after the other.
fn reads(stm: &Stm) -> bool {
    match &stm.exp {
        Exp::Op(Op::Index(..)) => true,
        Exp::Nest(Nest::For { outs, body, .. }) => {
            outs.iter().all(|out| *out == Out::Collect) && body.stms.iter().all(reads)
        }
        Exp::Op(_) | Exp::Nest(_) => false,
    }
}

/// The body for a row and a column, and the statements that compute the place where it is needed:
/// before the loop over the columns, and in it.
fn inner(
    context: &mut Context,
    (index, columns): (Var, Atom),
    body: &Block,
    [row, column]: [Var; 2],
) -> (Block, (Option<Stm>, Option<Stm>)) {
    let parts = parts(index, body);
    let mut renaming = Renaming::new();
    for (var, op) in &parts {
        renaming.insert(*var, if *op == Prim::DivInt { row.into() } else { column.into() });
    }
    let mut inner = body.clone();
    inner.retain(&|stm| part(index, stm).is_none());
    let mut used = false;
    inner.stms.iter().for_each(|stm| stm.mentioned(&mut |var| used |= var == index));
    let place = used.then(|| {
        let [start, place] = [(); 2].map(|()| context.names.again(index));
        renaming.insert(index, place.into());
        let bind = |var, op, args| Stm::new(vec![Param { var, ty: Ty::int() }], Op::Prim(op, args));
        (
            bind(start, Prim::MulInt, vec![row.into(), columns]),
            bind(place, Prim::AddInt, vec![start.into(), column.into()]),
        )
    });
    renaming.apply(&mut inner);
    (inner, place.unzip())
}

/// The size that the index is divided by, if it is one, and its other uses are places and sums.
fn divisor(index: Var, body: &Block) -> Option<Atom> {
    let own = Atom::from(index);
    let (mut by, mut plain) = (None, !body.results.contains(&own));
    body.each(&mut |stm| {
        let mut mentions = false;
        stm.exp.atoms(&mut |atom| mentions |= atom == own);
        match &stm.exp {
            Exp::Op(Op::Prim(Prim::DivInt | Prim::RemInt, args)) if args[0] == own => {
                plain &= args[1] != own && *by.get_or_insert(args[1]) == args[1];
            }
            Exp::Op(Op::Index(..)) => {}
            Exp::Op(Op::Prim(op, _)) => plain &= !mentions || is_arithmetic(*op),
            Exp::Op(Op::Accumulate { value, .. }) => plain &= *value != own,
            Exp::Op(_) | Exp::Nest(_) => plain &= !mentions,
        }
        plain &= stm.exp.blocks().into_iter().all(|block| !block.results.contains(&own));
    });
    let is_size = |by: &Atom| match by {
        Atom::Lit(Scalar::Int(size)) => *size > 1,
        Atom::Lit(_) => false,
        Atom::Var(_) => true,
    };
    by.filter(|by| plain && is_size(by))
}

/// Comparisons are not: a loop may be split where they change.
fn is_arithmetic(op: Prim) -> bool {
    matches!(op, Prim::AddInt | Prim::SubInt | Prim::MulInt | Prim::ToReal)
}

/// The quotients and rests of the index.
fn parts(index: Var, body: &Block) -> Vec<(Var, Prim)> {
    let mut parts = Vec::new();
    body.each(&mut |stm| parts.extend(part(index, stm)));
    parts
}

/// The quotient or rest that a statement computes of the index.
fn part(index: Var, stm: &Stm) -> Option<(Var, Prim)> {
    match &stm.exp {
        Exp::Op(Op::Prim(op @ (Prim::DivInt | Prim::RemInt), args)) if args[0] == index.into() => {
            Some((stm.binds[0].var, *op))
        }
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}

/// The number of rows: the size of an axis along which the quotient is an index, or the quotient of
/// the extent.
fn rows(
    context: &Context,
    (index, extent): (Var, Atom),
    columns: Atom,
    body: &Block,
) -> Option<Atom> {
    if let (Atom::Lit(Scalar::Int(all)), Atom::Lit(Scalar::Int(columns))) = (extent, columns) {
        return (all % columns == 0).then(|| Atom::int(all / columns));
    }
    let parts = parts(index, body);
    let is_quotient = |atom: &Atom| {
        parts.iter().any(|(var, op)| *op == Prim::DivInt && *atom == Atom::from(*var))
    };
    let mut found = None;
    body.each(&mut |stm| {
        if let Exp::Op(Op::Index(x, at) | Op::Accumulate { acc: x, index: at, .. }) = &stm.exp
            && let Some(ty) = context.scope.ty(*x)
        {
            let along = at.iter().zip(&ty.dims).find(|(i, _)| is_quotient(i));
            found = found.or(along.map(|(_, size)| *size));
        }
    });
    found
}
