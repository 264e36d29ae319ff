//! Regions of one accumulator that need no accumulator as text.
//!
//! ```text
//!   accumulate a = x in a += y                               x + y
//!   accumulate a = zeros in a[i] += y                        zeros with [i] = y
//!   accumulate a = zeros in for i < n => a += t[i]           sum t
//!   accumulate a = x in for i < n, j < m => a[j, i] += t[i, j]   x + transpose t
//! ```

use lambada_anf::{Block, Exp, Nest, Op, Stm};
use lambada_surface::ast::{BinaryOp, Expr, ExprKind};
use lambada_surface::build;

use crate::elementwise::arrays;
use crate::lines::Line;
use crate::pieces::call;
use crate::printer::Printer;
use crate::reading::read;
use crate::regions::{Accumulator, Item, Region};

/// The value of a region with this body; `None` for a region that needs its accumulator.
pub(crate) fn simple_sum(
    of: &mut Printer,
    block: &Block,
    region: &Region,
    body: &Expr,
    alone: bool,
    lines: &mut Vec<Line>,
) -> Option<Expr> {
    let [it] = region.accs[..] else { return None };
    if !alone {
        return None;
    }
    let zero = of.fors.is_zero(it.init);
    if zero
        && let [Item::Stm(k)] = region.items[..]
        && let Some(rows) = rows(of, &block.stms[k])
    {
        return Some(call("sum", [rows]));
    }
    if let [Item::Stm(k)] = region.items[..]
        && let Some(array) = each(of, &block.stms[k], it, lines)
    {
        let init = of.decided(it.init);
        let sum = || {
            build::expr(ExprKind::Binary(BinaryOp::Add, Box::new(init), Box::new(array.clone())))
        };
        return Some(if zero { array } else { sum() });
    }
    let ExprKind::Add(_, places, value) = &body.kind else { return None };
    let init = of.decided(it.init);
    if !places.is_empty() {
        let update = || ExprKind::Update(Box::new(init), places.clone(), value.clone());
        return zero.then(|| build::expr(update()));
    }
    if zero {
        return Some((**value).clone());
    }
    Some(build::expr(ExprKind::Binary(BinaryOp::Add, Box::new(init), value.clone())))
}

/// The array that nested `for`s add, each element once.
fn each(of: &mut Printer, stm: &Stm, it: Accumulator, lines: &mut Vec<Line>) -> Option<Expr> {
    let (mut axes, mut stm, mut before) = (Vec::new(), stm, &[][..]);
    while let Exp::Nest(Nest::For { index, extent, outs, body }) = &stm.exp {
        if !outs.is_empty() || !before.is_empty() {
            return None;
        }
        axes.push((*index, *extent));
        (stm, before) = body.stms.split_last()?;
    }
    let Exp::Op(Op::Accumulate { acc, index, value }) = &stm.exp else { return None };
    let dims = &of.fors.ty(it.out)?.dims.clone();
    if *acc != it.acc || index.len() != axes.len() || dims.len() != axes.len() {
        return None;
    }
    // The axes in the order of the sum.
    let mut ordered = Vec::new();
    for (place, size) in index.iter().zip(dims) {
        let (axis, extent) = axes.iter().find(|(axis, _)| *place == (*axis).into())?;
        let fits = of.fors.equal(*extent, *size) && !ordered.contains(&(*axis, *extent));
        ordered.push(fits.then_some((*axis, *extent))?);
    }
    let block = Block { stms: before.to_vec(), results: vec![*value] };
    let (reading, last) = read(&of.fors, ordered, &block, &[*value])?;
    arrays(of, &reading, &last, lines);
    Some(of.atom(last[0].into()))
}

/// The array whose rows, all of them, a statement adds.
fn rows(of: &Printer, stm: &Stm) -> Option<Expr> {
    let Exp::Nest(Nest::For { index, extent, outs, body }) = &stm.exp else { return None };
    let [first, second] = &body.stms[..] else { return None };
    let Exp::Op(Op::Index(array, at)) = &first.exp else { return None };
    let Exp::Op(Op::Accumulate { index: places, value, .. }) = &second.exp else { return None };
    let row = &first.binds[0];
    let whole = at[..] == [(*index).into()] && places.is_empty() && *value == row.var.into();
    let all = of.fors.equal(*extent, *of.fors.ty(*array)?.dims.first()?);
    (whole && all && outs.is_empty()).then(|| of.atom((*array).into()))
}
