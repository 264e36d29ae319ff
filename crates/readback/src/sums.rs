//! Regions of one accumulator that need no accumulator as text.
//!
//! ```text
//!   accumulate a = x in a += y                               x + y
//!   accumulate a = zeros in a[i] += y                        zeros with [i] = y
//!   accumulate a = zeros in for i < n => a += t[i]           sum t
//! ```

use lambada_anf::{Atom, Block, Exp, Nest, Op, Stm};
use lambada_surface::ast::{BinaryOp, Expr, ExprKind};
use lambada_surface::build;

use crate::pieces::call;
use crate::printer::Printer;
use crate::regions::{Item, Region};

impl Printer<'_> {
    /// The value of a region with this body; `None` for a region that needs its accumulator.
    pub(crate) fn simple_sum(
        &self,
        block: &Block,
        region: &Region,
        body: &Expr,
        alone: bool,
    ) -> Option<Expr> {
        let [it] = region.accs[..] else { return None };
        if !alone {
            return None;
        }
        let zero = block.stms.iter().any(|stm| {
            matches!(stm.exp, Exp::Op(Op::Fill(Atom::Lit(zero))) if zero == stm.binds[0].ty.elem.zero())
                && it.init == stm.binds[0].var.into()
        });
        if zero
            && let [Item::Stm(k)] = region.items[..]
            && let Some(rows) = self.rows(&block.stms[k])
        {
            return Some(call("sum", [rows]));
        }
        let ExprKind::Add(_, places, value) = &body.kind else { return None };
        let init = self.decided(it.init);
        if !places.is_empty() {
            let update = || ExprKind::Update(Box::new(init), places.clone(), value.clone());
            return zero.then(|| build::expr(update()));
        }
        if zero {
            return Some((**value).clone());
        }
        Some(build::expr(ExprKind::Binary(BinaryOp::Add, Box::new(init), value.clone())))
    }

    /// The array whose rows, all of them, a statement adds.
    fn rows(&self, stm: &Stm) -> Option<Expr> {
        let Exp::Nest(Nest::For { index, extent, outs, body }) = &stm.exp else { return None };
        let [first, second] = &body.stms[..] else { return None };
        let Exp::Op(Op::Index(array, at)) = &first.exp else { return None };
        let Exp::Op(Op::Accumulate { index: places, value, .. }) = &second.exp else { return None };
        let row = &first.binds[0];
        let whole = at[..] == [(*index).into()] && places.is_empty() && *value == row.var.into();
        let all = self.fors.equal(*extent, *self.fors.ty(*array)?.dims.first()?);
        (whole && all && outs.is_empty()).then(|| self.atom((*array).into()))
    }
}
