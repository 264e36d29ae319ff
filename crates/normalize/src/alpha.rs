//! α-equivalence of code: two pullbacks that differ only in the names of variables are one code
//! with two environments. So a loop that makes a pullback in every iteration carries one function,
//! not ever new ones.

use std::collections::HashSet;

use lambada_anf::{Block, NAMELESS, Names, Renaming, Ty, Var, free_vars};

use crate::val::Pullback;

/// Whether the two are equal up to the names of bound variables, and of free ones in their order.
pub(crate) fn alike(a: &Pullback, b: &Pullback) -> bool {
    let counts = |p: &Pullback| {
        (p.free.len(), p.map.params.len(), p.map.results.len(), p.map.body.stms.len(), p.span)
    };
    counts(a) == counts(b) && canonical(a).is_some_and(|code| Some(code) == canonical(b))
}

/// Types and body with numbers for names, if the pullback declares all variables that they mention.
fn canonical(pullback: &Pullback) -> Option<(Vec<Ty>, Block)> {
    let params = || pullback.free.iter().chain(&pullback.map.params);
    let (mut names, mut renaming) = (Names::default(), Renaming::new());
    params().for_each(|p| renaming.insert(p.var, names.fresh(NAMELESS).into()));
    let known: HashSet<Var> = params().map(|p| p.var).collect();
    let sizes = params().flat_map(|p| &p.ty.dims).filter_map(|size| size.as_var());
    let mut mentioned = free_vars(&pullback.map.body).into_iter().chain(sizes);
    if !mentioned.all(|var| known.contains(&var)) {
        return None;
    }
    let types = params().map(|p| renaming.ty(&p.ty)).collect();
    Some((types, renaming.import(&pullback.map.body, &pullback.hints, &mut names)))
}
