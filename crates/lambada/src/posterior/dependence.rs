//! Parameters that results depend on: liveness, backwards from the results, on the output of
//! `normalize`. Each result of a nest is followed by itself, because one `for` may compute both a
//! sum of the data and the gradient. E.g. the gradient of `a * a + b * b` by `a` does not depend on
//! `b`. A check is no dependence, because it gives no number.

use std::collections::HashSet;

use lambada_anf::{Block, Exp, LoopKind, Nest, Op, Stm, Var};
use lambada_normalize::Normalized;

/// Whether the results from the `first`th on depend on each parameter of the entry.
pub(super) fn dependence(program: &Normalized, first: usize) -> Vec<bool> {
    let body = &program.function.body;
    let mut live = Live::default();
    live.block(body, |k| k >= first);
    let mut leaves = program.function.params.iter();
    let parameters = program.params.iter();
    let lives = parameters.map(|(_, layout)| {
        let own = leaves.by_ref().take(layout.leaves().len());
        own.fold(false, |lives, leaf| lives | live.vars.contains(&leaf.var))
    });
    lives.collect()
}

/// The variables that live results depend on.
#[derive(Default)]
struct Live {
    vars: HashSet<Var>,
}

impl Live {
    /// Adds the variables that the results of a block depend on for which `is_live` holds.
    fn block(&mut self, block: &Block, is_live: impl Fn(usize) -> bool) {
        let results = block.results.iter().enumerate().filter(|(k, _)| is_live(*k));
        self.vars.extend(results.filter_map(|(_, atom)| atom.as_var()));
        for stm in block.stms.iter().rev() {
            let is_check = matches!(stm.exp, Exp::Op(Op::Check { .. }));
            let feeds = stm.binds.iter().any(|bind| self.vars.contains(&bind.var))
                || stm.additions().iter().any(|accumulator| self.vars.contains(accumulator))
                || stm.touches_cells();
            if feeds && !is_check {
                self.stm(stm);
            }
        }
    }

    fn stm(&mut self, stm: &Stm) {
        let Exp::Nest(nest) = &stm.exp else {
            self.vars.extend(stm.free_vars());
            return;
        };
        let sizes = stm.binds.iter().flat_map(|bind| &bind.ty.dims);
        self.vars.extend(sizes.filter_map(|size| size.as_var()));
        let mut lives: Vec<bool> =
            stm.binds.iter().map(|bind| self.vars.contains(&bind.var)).collect();
        match nest {
            Nest::For { extent, body, .. } => {
                self.vars.extend(extent.as_var());
                self.block(body, |k| lives[k]);
            }
            Nest::If { cond, then, otherwise } => {
                self.vars.extend(cond.as_var());
                self.block(then, |k| lives[k]);
                self.block(otherwise, |k| lives[k]);
            }
            Nest::Loop { params, inits, kind, body } => {
                match kind {
                    LoopKind::For { extent, .. } => self.vars.extend(extent.as_var()),
                    LoopKind::While(goes_on) => self.block(goes_on, |_| true),
                }
                // A part of the state lives if the next state of a live part needs it.
                loop {
                    self.block(body, |k| lives[k]);
                    let now: Vec<bool> = params
                        .iter()
                        .zip(&lives)
                        .map(|(param, lives)| *lives || self.vars.contains(&param.var))
                        .collect();
                    if now == lives {
                        break;
                    }
                    lives = now;
                }
                let inits = inits.iter().zip(&lives).filter(|(_, lives)| **lives);
                self.vars.extend(inits.filter_map(|(init, _)| init.as_var()));
            }
        }
    }
}
