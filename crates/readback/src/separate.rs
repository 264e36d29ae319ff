//! A `for` with results and additions that share no work is printed as several, because each of
//! them may be arithmetic of arrays.
//!
//! ```text
//!   (s, ys) = for i < n (reduce add, collect) { … => x[i] * b[i], c * b[i] }
//!     ⟶   s = for i < n { x[i] * b[i] },   ys = for i < n { c * b[i] }            dot x b,   c * b
//! ```
//!
//! * Keeps: the cost but for reads of elements, because the optimizer fuses what is written.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Effect, Exp, Function, Names, Nest, Op, Renaming, Stm, Var};

use crate::checking::is_written_check;

/// Separates the `for`s of a function.
pub(crate) fn separate(function: &mut Function) {
    separated(&mut function.body, &mut function.names);
}

fn separated(block: &mut Block, names: &mut Names) {
    let mut written = Vec::with_capacity(block.stms.len());
    for mut stm in std::mem::take(&mut block.stms) {
        stm.exp.blocks_mut().into_iter().for_each(|inner| separated(inner, names));
        match groups(&stm) {
            Some(groups) => written.extend(groups.iter().map(|group| one(&stm, group, names))),
            None => written.push(stm),
        }
    }
    block.stms = written;
}

/// The parts that share work, if there are several groups of them: results by their index, and, as
/// the last part, all additions.
fn groups(stm: &Stm) -> Option<Vec<Vec<usize>>> {
    let Exp::Nest(Nest::For { outs, body, .. }) = &stm.exp else { return None };
    // A size that one result gives to another keeps them together.
    let sizes = stm.binds.iter().flat_map(|p| &p.ty.dims);
    let own: HashSet<Atom> = stm.binds.iter().map(|p| p.var.into()).collect();
    if outs.is_empty() || !only_adds(body) || sizes.into_iter().any(|size| own.contains(size)) {
        return None;
    }
    let adds = body.stms.iter().any(Stm::adds);
    let mut groups: Vec<(HashSet<usize>, Vec<usize>)> = Vec::new();
    for part in 0..outs.len() + usize::from(adds) {
        let (mut work, mut members) = (needed(body, &[part]), vec![part]);
        let is_work = |at: &usize| !matches!(body.stms[*at].exp, Exp::Op(Op::Index(..)));
        work.retain(is_work);
        let (joined, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(other, of)| {
            let same = |j: &usize| body.results.get(*j) == body.results.get(part);
            !work.is_disjoint(other) || of.iter().any(same)
        });
        groups = apart;
        for (other, of) in joined {
            work.extend(other);
            members.extend(of);
        }
        members.sort_unstable();
        groups.push((work, members));
    }
    let mut groups: Vec<Vec<usize>> = groups.into_iter().map(|(_, members)| members).collect();
    groups.sort_unstable();
    (groups.len() > 1).then_some(groups)
}

/// The statements of a body that parts of it need.
fn needed(body: &Block, parts: &[usize]) -> HashSet<usize> {
    let mut made: HashMap<Var, usize> = HashMap::new();
    for (k, inner) in body.stms.iter().enumerate() {
        made.extend(inner.binds.iter().map(|p| (p.var, k)));
    }
    let (mut found, mut open) = (HashSet::new(), Vec::new());
    for part in parts {
        match body.results.get(*part) {
            Some(result) => open.extend(result.as_var().and_then(|x| made.get(&x))),
            None => open.extend((0..body.stms.len()).filter(|k| body.stms[*k].adds())),
        }
    }
    while let Some(k) = open.pop() {
        if found.insert(k) {
            open.extend(body.stms[k].free_vars().iter().filter_map(|x| made.get(x)));
        }
    }
    found
}

/// Whether the body has no effects in the text besides additions.
fn only_adds(body: &Block) -> bool {
    !body.any(&mut |stm| match &stm.exp {
        Exp::Op(op) => match op.effect() {
            Effect::None | Effect::Adds(_) => false,
            // Other checks are not printed.
            Effect::Fails => is_written_check(stm),
            _ => true,
        },
        Exp::Nest(_) => false,
    })
}

/// The `for` with some of its parts, under new names.
fn one(stm: &Stm, group: &[usize], names: &mut Names) -> Stm {
    let Exp::Nest(Nest::For { index, extent, outs, body }) = &stm.exp else { return stm.clone() };
    let group_results: Vec<usize> = group.iter().copied().filter(|k| *k < outs.len()).collect();
    let results = group_results.iter().map(|k| body.results[*k]).collect();
    let needed = needed(body, group);
    let stms = body.stms.iter().enumerate().filter(|(k, _)| needed.contains(k));
    let stms = stms.map(|(_, inner)| inner.clone()).collect();
    let fresh = names.fresh(names.hint(*index));
    let mut renaming = Renaming::new();
    renaming.insert(*index, fresh.into());
    let mut adopted = |var: Var| names.fresh(names.hint(var));
    let body = renaming.copied(&Block { stms, results }, &mut adopted);
    let outs = group_results.iter().map(|k| outs[*k]).collect();
    let binds = group_results.iter().map(|k| stm.binds[*k].clone()).collect();
    Stm::new(binds, Nest::For { index: fresh, extent: *extent, outs, body })
}
