//! Parameters that results depend on: liveness, backwards from the results, on the output of
//! `normalize`, in which each sum is a statement of its own. E.g. the gradient of
//! `a * a + b * b` by `a` does not depend on `b`.
//!
//! A check is no dependence, because it gives no number. A statement with several results depends
//! on the operands of all of them, so a parameter is seldom missed and never reported wrongly.

use std::collections::HashSet;

use lambada_anf::{Exp, Op, Var};
use lambada_normalize::Normalized;

/// Whether the results from the `first`th on depend on each parameter of the entry.
pub(super) fn dependence(program: &Normalized, first: usize) -> Vec<bool> {
    let body = &program.function.body;
    let mut live: HashSet<Var> =
        body.results[first..].iter().filter_map(|atom| atom.as_var()).collect();
    for stm in body.stms.iter().rev() {
        let is_check = matches!(stm.exp, Exp::Op(Op::Check { .. }));
        let feeds = stm.binds.iter().any(|bind| live.contains(&bind.var))
            || stm.additions().iter().any(|accumulator| live.contains(accumulator))
            || stm.touches_cells();
        if feeds && !is_check {
            live.extend(stm.free_vars());
        }
    }
    let mut leaves = program.function.params.iter();
    let parameters = program.params.iter();
    let lives = parameters.map(|(_, layout)| {
        let own: Vec<bool> =
            leaves.by_ref().take(layout.leaves().len()).map(|p| live.contains(&p.var)).collect();
        own.contains(&true)
    });
    lives.collect()
}
