//! Accumulator parameters become results, because the language has no accumulators as arguments.
//! The remaining ones are left to [`crate::locals`].
//!
//! ```text
//!   g (x : real) into (h : [n]real) { … h[i] += v … }
//!   acc = accumulator zeros; call g (x) into acc; y = freeze acc
//!
//!   def g (x : real) : [n]real = accumulate h = zeros in … h[i] += v …
//!   let y = g x
//! ```
//!
//! A call then costs as much as the size of the array. So a parameter is rewritten only where that
//! costs no more than the accumulator did: if the caller makes the accumulator itself at every
//! call, with no loop in between.

use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Elem, Exp, FnId, Function, Library, Names, Nest, Op, Param, Renaming, Stm, Ty, Var,
};

/// Accumulator parameters: function and index.
type AccumulatorParams = HashSet<(FnId, usize)>;

/// Rewrites the functions whose accumulators are cheap to return, and their calls.
pub(crate) fn return_accumulators(entry: &mut Function, library: &mut Library) {
    let ids = (0..library.functions.len() as u32).map(FnId);
    let accumulators = |id: FnId| library.function(id).map_or(0, |f| f.accumulators.len());
    let mut given: AccumulatorParams =
        ids.flat_map(|id| (0..accumulators(id)).map(move |k| (id, k))).collect();
    let all = || std::iter::once(&*entry).chain(library.functions.iter().flatten());
    for function in all() {
        costly(&function.body, &HashSet::new(), &mut given);
    }
    if given.is_empty() {
        return;
    }
    for (k, function) in library.functions.iter_mut().enumerate() {
        let Some(function) = function else { continue };
        calls(&mut function.body, &mut function.names, &given, &HashMap::new());
        returns(function, &|at| given.contains(&(FnId(k as u32), at)));
    }
    calls(&mut entry.body, &mut entry.names, &given, &HashMap::new());
}

/// Removes the parameters for which a call would cost more. `made`: accumulators that the function
/// makes, with no loop in between.
fn costly(block: &Block, made: &HashSet<Var>, given: &mut AccumulatorParams) {
    let mut made = made.clone();
    for stm in &block.stms {
        match &stm.exp {
            Exp::Op(Op::Accumulator(_)) => made.extend(stm.binds.iter().map(|p| p.var)),
            Exp::Op(Op::Call { function, accumulators, .. }) => {
                let others = accumulators.iter().enumerate().filter(|(_, acc)| !made.contains(acc));
                others.for_each(|(k, _)| _ = given.remove(&(*function, k)));
            }
            Exp::Op(_) => {}
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                costly(then, &made, given);
                costly(otherwise, &made, given);
            }
            Exp::Nest(Nest::For { .. } | Nest::Loop { .. }) => {
                for inner in stm.exp.blocks() {
                    costly(inner, &HashSet::new(), given);
                }
            }
        }
    }
}

/// Makes some accumulators local to the function, and appends their final values to its results.
fn returns(function: &mut Function, made: &dyn Fn(usize) -> bool) {
    let Function { names, body, results, accumulators, .. } = function;
    let mut before = Vec::new();
    for (k, acc) in std::mem::take(accumulators).into_iter().enumerate() {
        if !made(k) {
            accumulators.push(acc);
            continue;
        }
        let ty = acc.ty.clone();
        let zero = if ty.dims.is_empty() {
            Atom::Lit(ty.elem.zero())
        } else {
            let zeros = Param { var: names.fresh("zeros"), ty: ty.clone() };
            let value = Op::Fill(Atom::Lit(ty.elem.zero()));
            before.push(Stm::new(vec![zeros.clone()], value));
            zeros.var.into()
        };
        let sum = Param { var: names.again(acc.var), ty: ty.clone() };
        before.push(Stm::new(vec![acc.clone()], Op::Accumulator(zero)));
        body.stms.push(Stm::new(vec![sum.clone()], Op::Freeze(acc.var)));
        body.results.push(sum.var.into());
        results.push(ty);
    }
    body.stms.splice(0..0, before);
}

/// Calls of these functions bind the returned sums and add them.
fn calls(
    block: &mut Block,
    names: &mut Names,
    given: &AccumulatorParams,
    outside: &HashMap<Var, Ty>,
) {
    let mut types = outside.clone();
    types.extend(block.stms.iter().flat_map(|stm| &stm.binds).map(|p| (p.var, p.ty.clone())));
    for mut stm in std::mem::take(&mut block.stms) {
        stm.exp.blocks_mut().into_iter().for_each(|inner| calls(inner, names, given, &types));
        let Exp::Op(Op::Call { function, accumulators, .. }) = &mut stm.exp else {
            block.stms.push(stm);
            continue;
        };
        let mut added = Vec::new();
        for (k, acc) in std::mem::take(accumulators).into_iter().enumerate() {
            if given.contains(&(*function, k)) {
                let ty = types.get(&acc).cloned().unwrap_or(Ty::scalar(Elem::REAL));
                let sum = Param { var: names.again(acc), ty };
                let value = sum.var.into();
                added.push(Stm::effect(Op::Accumulate { acc, index: Vec::new(), value }));
                stm.binds.push(sum);
            } else {
                accumulators.push(acc);
            }
        }
        block.stms.push(stm);
        block.stms.extend(added);
    }
    only_sums(block);
}

/// Replaces an accumulator of zeros with one addition of a whole array by that array.
fn only_sums(block: &mut Block) {
    let mut image = Renaming::new();
    let mut superfluous = HashSet::new();
    for (at, stm) in block.stms.iter().enumerate() {
        let Exp::Op(Op::Accumulator(start)) = &stm.exp else { continue };
        let acc = stm.binds[0].var;
        let rest = &block.stms[at + 1..];
        let uses = |stm: &Stm| {
            let mut found = false;
            stm.mentioned(&mut |var| found |= var == acc);
            found || stm.adds_to(&|other| other == acc)
        };
        let mut using = rest.iter().filter(|stm| uses(stm));
        let (Some(first), Some(last), None) = (using.next(), using.next(), using.next()) else {
            continue;
        };
        if is_zero(block, *start)
            && let Exp::Op(Op::Accumulate { index, value, .. }) = &first.exp
            && index.is_empty()
            && let Exp::Op(Op::Freeze(_)) = &last.exp
        {
            superfluous.insert(acc);
            image.insert(last.binds[0].var, *value);
        }
    }
    let about = |stm: &Stm| match &stm.exp {
        Exp::Op(Op::Accumulator(_)) => superfluous.contains(&stm.binds[0].var),
        Exp::Op(Op::Accumulate { acc, .. } | Op::Freeze(acc)) => superfluous.contains(acc),
        Exp::Op(_) | Exp::Nest(_) => false,
    };
    block.stms.retain(|stm| !about(stm));
    image.apply(block);
}

fn is_zero(block: &Block, start: Atom) -> bool {
    let zero = |atom: Atom| atom.as_lit().is_some_and(|value| value == Elem::REAL.zero());
    let filled = |stm: &Stm| {
        let binds = stm.binds.iter().any(|p| start == p.var.into());
        binds && matches!(stm.exp, Exp::Op(Op::Fill(value)) if zero(value))
    };
    zero(start) || block.stms.iter().any(filled)
}
