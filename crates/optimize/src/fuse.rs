//! Fusion: two `for`s over the same range become one, and so do two `if`s on the same condition.
//!
//! ```text
//!   ys = for i < n { b₁ }                                     ys, zs = for i < n { b₁; b₂[ys[j, …] := b₁'s value, j := i] }
//!   between                                 becomes           between, as far as it does not depend on ys
//!   zs = for j < n { b₂ reads ys[j, …] }                      between, as far as it does
//! ```
//!
//! Assumes: nothing. Gives: no two loops over the same extent in one block that could run together. This is where a primal loop, its
//! reductions and its reverse loop become one nest, and where arrays stored between them become local values.
//! Keeps: values and failures. The first loop moves down to the second, so nothing that may fail may stand between if it may fail itself;
//! what depends on it moves below the second, so that must not fail at all. If both may fail, the second fails only in ways in which the
//! first does.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, Exp, Function, Out, Renaming, Stm, Var};

use crate::facts::{additions, block_may_fail, may_fail, mentioned};

/// How many earlier loops over the same extent are tried for each loop.
const TRIED: usize = 12;

/// The pass.
pub(crate) fn fuse(mut function: Function) -> Function {
    block(&mut function.body);
    function
}

fn block(b: &mut Block) {
    while let Some((first, second)) = find(b) {
        fuse_pair(b, first, second);
    }
    for stm in &mut b.stms {
        stm.exp.blocks_mut().into_iter().for_each(block);
    }
}

/// What two statements must share to be fused.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Range {
    For(Atom),
    If(Atom),
}

fn range(stm: &Stm) -> Option<Range> {
    match &stm.exp {
        Exp::For { extent, .. } => Some(Range::For(*extent)),
        Exp::If { cond, .. } => Some(Range::If(*cond)),
        Exp::Prim(..)
        | Exp::Index(..)
        | Exp::Fill(_)
        | Exp::Array(_)
        | Exp::Constant(_)
        | Exp::Loop { .. }
        | Exp::Update { .. }
        | Exp::MatMul(..)
        | Exp::Accumulator(_)
        | Exp::Accumulate { .. }
        | Exp::Freeze(_)
        | Exp::Check { .. } => None,
    }
}

/// Two statements that can be fused: the first such second one, with the closest first one.
fn find(block: &Block) -> Option<(usize, usize)> {
    let mut earlier: HashMap<Range, Vec<usize>> = HashMap::new();
    let mut graph: Option<Graph> = None;
    for (second, stm) in block.stms.iter().enumerate() {
        let Some(range) = range(stm) else { continue };
        let candidates = earlier.entry(range).or_default();
        for first in candidates.iter().rev().take(TRIED) {
            let graph = graph.get_or_insert_with(|| Graph::new(block));
            if can_fuse(block, graph, *first, second) {
                return Some((*first, second));
            }
        }
        candidates.push(second);
    }
    None
}

/// What each statement of a block depends on.
struct Graph {
    /// By statement: the earlier ones that must come first, and whether that is only because of arrays which it reads element by element.
    needs: Vec<Vec<usize>>,
    fails: Vec<bool>,
}

impl Graph {
    fn new(block: &Block) -> Graph {
        let mut made_by: HashMap<Var, usize> = HashMap::new();
        let mut added: HashMap<Var, Vec<usize>> = HashMap::new();
        let mut needs = Vec::with_capacity(block.stms.len());
        for (k, stm) in block.stms.iter().enumerate() {
            let mut needed: Vec<usize> = Vec::new();
            mentioned(stm, &mut |v| needed.extend(made_by.get(&v)));
            if let Exp::Freeze(acc) = &stm.exp {
                needed.extend(added.get(acc).into_iter().flatten());
            }
            needed.sort_unstable();
            needed.dedup();
            additions(stm).into_iter().for_each(|acc| added.entry(acc).or_default().push(k));
            stm.binds.iter().for_each(|p| _ = made_by.insert(p.var, k));
            needs.push(needed);
        }
        Graph { needs, fails: block.stms.iter().map(may_fail).collect() }
    }

    /// The statements strictly between two that depend on the first, directly or not.
    fn dependents(&self, first: usize, second: usize) -> Vec<usize> {
        let mut dependents = Vec::new();
        for k in first + 1..second {
            if self.needs[k].iter().any(|n| *n == first || dependents.binary_search(n).is_ok()) {
                dependents.push(k);
            }
        }
        dependents
    }
}

fn can_fuse(block: &Block, graph: &Graph, first: usize, second: usize) -> bool {
    let dependents = graph.dependents(first, second);
    let (a, b) = (&block.stms[first], &block.stms[second]);
    if graph.needs[second].iter().any(|n| dependents.binary_search(n).is_ok()) {
        return false;
    }
    if dependents.iter().any(|k| graph.fails[*k]) {
        return false;
    }
    if graph.fails[first] && (first + 1..second).any(|k| graph.fails[k]) {
        return false;
    }
    match (&a.exp, &b.exp) {
        (Exp::For { body, .. }, Exp::For { .. }) => reads_elementwise(a, b) && (!graph.fails[second] || fails_alike(body, b)),
        // The branches of an `if` run one after the other, fused or not.
        (Exp::If { .. }, Exp::If { .. }) => true,
        (_, _) => false,
    }
}

/// If the first body may fail, the second must not fail in other ways.
fn fails_alike(first: &Block, second: &Stm) -> bool {
    if !block_may_fail(first) {
        // The second loop's failures may come earlier relative to the first's values, which nobody sees.
        return true;
    }
    let (mut known, mut new) = (Vec::new(), Vec::new());
    checks(first, &mut known);
    second.exp.blocks().into_iter().for_each(|b| checks(b, &mut new));
    new.into_iter().all(|check| known.iter().any(|k| same_site(k, check)))
}

fn checks<'a>(block: &'a Block, found: &mut Vec<&'a Exp>) {
    for stm in &block.stms {
        if let Exp::Check { .. } = &stm.exp {
            found.push(&stm.exp);
        }
        stm.exp.blocks().into_iter().for_each(|b| checks(b, found));
    }
}

/// Do two checks fail with the same message at the same place?
fn same_site(a: &Exp, b: &Exp) -> bool {
    matches!((a, b), (Exp::Check { site: s, .. }, Exp::Check { site: t, .. }) if s == t)
}

/// Does the second loop use the results of the first only by reading its own element?
fn reads_elementwise(a: &Stm, b: &Stm) -> bool {
    let (Exp::For { outs, .. }, Exp::For { index, body, .. }) = (&a.exp, &b.exp) else { return false };
    let results: HashMap<Var, Out> = a.binds.iter().zip(outs).map(|(p, out)| (p.var, *out)).collect();
    let is_result = |d: &Atom| d.as_var().is_some_and(|v| results.contains_key(&v));
    !b.binds.iter().flat_map(|p| &p.ty.dims).any(is_result) && body_reads(body, &results, *index)
}

fn body_reads(block: &Block, results: &HashMap<Var, Out>, index: Var) -> bool {
    let is_result = |a: Atom| a.as_var().is_some_and(|v| results.contains_key(&v));
    if results.is_empty() {
        return true;
    }
    block.stms.iter().all(|stm| {
        let mut fine = !stm.binds.iter().flat_map(|p| &p.ty.dims).any(|d| is_result(*d));
        match &stm.exp {
            Exp::Index(x, at) if results.contains_key(x) => fine &= results[x] == Out::Collect && at[0] == index.into(),
            Exp::Index(..)
            | Exp::Prim(..)
            | Exp::Fill(_)
            | Exp::Array(_)
            | Exp::Constant(_)
            | Exp::For { .. }
            | Exp::Loop { .. }
            | Exp::If { .. }
            | Exp::Update { .. }
            | Exp::MatMul(..)
            | Exp::Accumulator(_)
            | Exp::Accumulate { .. }
            | Exp::Freeze(_)
            | Exp::Check { .. } => stm.exp.atoms(&mut |a| fine &= !is_result(a)),
        }
        fine && stm.exp.blocks().into_iter().all(|b| body_reads(b, results, index))
    }) && !block.results.iter().any(|a| is_result(*a))
}

/// Puts the fused statement where the second one was, and what depends on the first one behind it.
fn fuse_pair(block: &mut Block, first: usize, second: usize) {
    let dependents = Graph::new(block).dependents(first, second);
    let stms = std::mem::take(&mut block.stms);
    let (mut a, mut behind) = (None, Vec::new());
    for (k, stm) in stms.into_iter().enumerate() {
        if k == first {
            a = Some(stm);
        } else if dependents.binary_search(&k).is_ok() {
            behind.push(stm);
        } else if k == second {
            block.stms.push(merge(a.take().expect("the first comes first"), stm));
            block.stms.append(&mut behind);
        } else {
            block.stms.push(stm);
        }
    }
}

fn merge(a: Stm, b: Stm) -> Stm {
    let binds = a.binds.iter().chain(&b.binds).cloned().collect();
    let exp = match (a.exp, b.exp) {
        (Exp::For { index, extent, mut outs, mut body }, Exp::For { index: second_index, outs: more_outs, body: second, .. }) => {
            let mut values: HashMap<Var, Atom> = a.binds.iter().map(|p| p.var).zip(body.results.iter().copied()).collect();
            // What a reduction gives is not an element: nothing reads it.
            outs.iter().zip(&a.binds).filter(|(out, _)| **out != Out::Collect).for_each(|(_, p)| _ = values.remove(&p.var));
            let mut renaming = Renaming::new();
            renaming.insert(second_index, index.into());
            let mut second = second;
            renaming.apply(&mut second);
            let mut image = Renaming::new();
            replace_reads(&mut second, &values, &mut image);
            image.apply(&mut second);
            body.stms.extend(second.stms);
            body.results.extend(second.results);
            outs.extend(more_outs);
            Exp::For { index, extent, outs, body }
        }
        (Exp::If { cond, then, otherwise }, Exp::If { then: second_then, otherwise: second_otherwise, .. }) => {
            let then = in_sequence(&a.binds, then, second_then);
            let otherwise = in_sequence(&a.binds, otherwise, second_otherwise);
            Exp::If { cond, then, otherwise }
        }
        (_, _) => unreachable!("only loops, and only branches, are fused"),
    };
    Stm { binds, exp }
}

fn in_sequence(binds: &[lambada_anf::Param], mut first: Block, mut second: Block) -> Block {
    let mut renaming = Renaming::new();
    binds.iter().zip(&first.results).for_each(|(p, value)| renaming.insert(p.var, *value));
    renaming.apply(&mut second);
    first.stms.extend(second.stms);
    first.results.extend(second.results);
    first
}

/// Replaces `ys[i]` by the value that the first body gives, and `ys[i, k]` by an index of it.
fn replace_reads(block: &mut Block, values: &HashMap<Var, Atom>, image: &mut Renaming) {
    block.stms.retain_mut(|stm| {
        if let Exp::Index(x, at) = &mut stm.exp
            && let Some(value) = values.get(x)
        {
            match value {
                Atom::Var(row) if at.len() > 1 => {
                    *x = *row;
                    at.remove(0);
                }
                Atom::Var(_) | Atom::Lit(_) => {
                    image.insert(stm.binds[0].var, *value);
                    return false;
                }
            }
        }
        stm.exp.blocks_mut().into_iter().for_each(|b| replace_reads(b, values, image));
        true
    });
}
