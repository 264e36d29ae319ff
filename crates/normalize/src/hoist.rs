//! Computes sizes of a `for`'s elements outside the loop, with their values from the first
//! iteration, if only the body computes them.
//!
//! *Gives* code before the `for`: a copy of the part of the body that computes the sizes, with 0
//! for the index. If the `for` may have no iteration, also a copy that cannot fail
//! ([`crate::rehearsal`]), for the sizes that the first iteration would have.
//!
//! *Keeps* failures: a part that could fail runs only if there is a first iteration, together with
//! all checks before it, so its failure would have come first anyway. Additions to accumulators
//! outside the part are dropped; calls make them to a scratch accumulator. So the copy adds to no
//! accumulator but its own, and freezes all of these.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Effect, Exp, Nest, Op, Out, Param, Renaming, Stm, Ty, Var};
use lambada_prim::{Prim, ReduceOp};

use crate::emit::Emit;
use crate::rehearsal::{compares_sizes, relies_on_checks, without_failures};

/// The values of `sizes`, which the innermost block (the body of a `for`) binds, in the first
/// iteration, actual or hypothetical.
pub(crate) fn hoist_sizes(emit: &mut Emit, index: Var, extent: Atom, sizes: &[Atom]) -> Vec<Atom> {
    if sizes.is_empty() {
        return Vec::new();
    }
    let (stms, pure) = slice(emit, sizes);
    let copy = |emit: &mut Emit, stms: &[Stm], sizes: &[Atom]| {
        let sizes = copied(emit, index, Atom::int(0), stms, sizes);
        sizes.into_iter().map(|size| emit.not_negative(size)).collect()
    };
    if pure {
        return emit.outside(emit.level() - 1, |emit| copy(emit, &stms, sizes));
    }
    let rehearsed = rehearsal(emit, sizes);
    emit.outside(emit.level() - 1, |emit| {
        let cond = emit.prim(Prim::LtInt, &[Atom::int(0), extent]);
        let first = |emit: &mut Emit| copied(emit, index, Atom::int(0), &stms, sizes);
        guarded(emit, cond, sizes.len(), first, |emit| {
            copy(emit, &rehearsed.stms, &rehearsed.results)
        })
    })
}

/// The part of the innermost block that the sizes need, in a form that cannot fail. It returns the
/// sizes, with 0 for unknown ones.
fn rehearsal(emit: &mut Emit, sizes: &[Atom]) -> Block {
    let mut cut = |sizes: &[Atom]| {
        let mut stms = Slice::new(sizes).cut(emit, &|_| false);
        if relies_on_checks(emit, &stms) {
            let compares = compares_sizes(emit);
            stms = Slice::new(sizes).cut(emit, &compares);
        }
        without_failures(emit, Block { stms, results: sizes.to_vec() })
    };
    let known = sizes.iter().map(|size| match cut(&[*size]) {
        Some(_) => *size,
        None => Atom::int(0),
    });
    let known: Vec<Atom> = known.collect();
    let none = Block { stms: Vec::new(), results: vec![Atom::int(0); known.len()] };
    cut(&known).unwrap_or(none)
}

/// A size in the first active iteration, which a loop of its own finds; 0 if none is active.
pub(crate) fn hoist_active_size(
    emit: &mut Emit,
    index: Var,
    extent: Atom,
    active: Atom,
    size: Atom,
) -> Atom {
    let (search, _) = slice(emit, &[active]);
    let (stms, _) = slice(emit, &[size]);
    emit.outside(emit.level() - 1, |emit| {
        let i = emit.enter_for(extent);
        let active = copied(emit, index, i.into(), &search, &[active])[0];
        let candidate = emit.prim(Prim::SelectInt, &[active, i.into(), Atom::int(i64::MAX)]);
        let out = (Out::Reduce(ReduceOp::Min), Ty::int(), "first".into());
        let first = emit.leave_for(i, extent, out, candidate);
        let cond = emit.prim(Prim::LtInt, &[first, extent]);
        let size = |emit: &mut Emit| copied(emit, index, first, &stms, &[size]);
        guarded(emit, cond, 1, size, |_| vec![Atom::int(0)])[0]
    })
}

/// The part of the innermost block that some variables need; with its checks, unless the part is
/// pure arithmetic.
fn slice(emit: &mut Emit, wanted: &[Atom]) -> (Vec<Stm>, bool) {
    let stms = Slice::new(wanted).cut(emit, &|_| false);
    if stms.iter().all(|stm| matches!(stm.exp, Exp::Op(Op::Prim(..)))) {
        return (stms, true);
    }
    (Slice::new(wanted).cut(emit, &Stm::may_not_return), false)
}

/// Places a copy, with an atom for the index; returns the copies of `wanted`.
fn copied(emit: &mut Emit, index: Var, at: Atom, stms: &[Stm], wanted: &[Atom]) -> Vec<Atom> {
    let mut renaming = Renaming::new();
    renaming.insert(index, at);
    place(emit, &mut renaming, stms);
    wanted.iter().map(|atom| renaming.atom(*atom)).collect()
}

/// Appends copies; primitives are folded on the way.
fn place(emit: &mut Emit, renaming: &mut Renaming, stms: &[Stm]) {
    for stm in stms {
        match &stm.exp {
            Exp::Op(Op::Prim(op, args)) => {
                let args: Vec<Atom> = args.iter().map(|a| renaming.atom(*a)).collect();
                let value = emit.prim(*op, &args);
                renaming.insert(stm.binds[0].var, value);
            }
            Exp::Nest(Nest::If { cond, then, otherwise })
                if renaming.atom(*cond).as_lit().is_some() =>
            {
                let holds = renaming.atom(*cond) == Atom::bool(true);
                let branch = if holds { then } else { otherwise };
                place(emit, renaming, &branch.stms);
                for (p, result) in stm.binds.iter().zip(&branch.results) {
                    let value = renaming.atom(*result);
                    renaming.insert(p.var, value);
                }
            }
            Exp::Op(_) | Exp::Nest(_) => {
                let copy = renaming.copy_stm(stm, &mut emit.names);
                emit.adopt(copy);
            }
        }
    }
}

/// `if cond { then } else { otherwise }`, for sizes.
fn guarded(
    emit: &mut Emit,
    cond: Atom,
    count: usize,
    then: impl FnOnce(&mut Emit) -> Vec<Atom>,
    otherwise: impl FnOnce(&mut Emit) -> Vec<Atom>,
) -> Vec<Atom> {
    if cond.as_lit().is_some() {
        return if cond == Atom::bool(true) { then(emit) } else { otherwise(emit) };
    }
    emit.enter();
    emit.learn(cond, true);
    let results = then(emit);
    let then = emit.leave().finish(results);
    emit.enter();
    let results = otherwise(emit);
    let otherwise = emit.leave().finish(results);
    let binds = emit.params("n", vec![Ty::int(); count]);
    binds.iter().for_each(|p| emit.facts.nonnegative(p.var));
    emit.push(binds.clone(), Nest::If { cond, then, otherwise });
    binds.into_iter().map(|p| p.var.into()).collect()
}

/// The statements that some variables need.
struct Slice {
    needed: HashSet<Var>,
}

impl Slice {
    fn new(sizes: &[Atom]) -> Slice {
        Slice { needed: sizes.iter().filter_map(|s| s.as_var()).collect() }
    }

    /// The needed statements, and those before the last of them that `also` selects.
    fn cut(&mut self, emit: &mut Emit, also: &dyn Fn(&Stm) -> bool) -> Vec<Stm> {
        let mut kept = Vec::new();
        for mut stm in emit.stms().to_vec().into_iter().rev() {
            if self.needs(&stm) || !kept.is_empty() && also(&stm) {
                self.strip(emit, &mut stm);
                let stms = self.with_scratch(emit, stm);
                self.needed.extend(stms.iter().flat_map(Stm::free_vars));
                kept.extend(stms.into_iter().rev());
            }
        }
        kept.reverse();
        kept
    }

    fn needs(&self, stm: &Stm) -> bool {
        stm.binds.iter().any(|p| self.needed.contains(&p.var))
            || stm.adds_to(&|acc| self.needed.contains(&acc))
    }

    /// Removes additions to unneeded accumulators: those of enclosing blocks, and those that are
    /// read after the sizes.
    fn strip(&self, emit: &Emit, stm: &mut Stm) {
        stm.retain_inside(&|stm| match stm.exp.effect() {
            Effect::Adds(acc) => !emit.in_scope(acc) || self.needed.contains(&acc),
            Effect::None
            | Effect::Makes
            | Effect::Freezes(_)
            | Effect::Fails
            | Effect::Inspects
            | Effect::Calls
            | Effect::MakesCells
            | Effect::OpensCell
            | Effect::ReadsCell => true,
        });
    }

    /// The statement, with scratch accumulators in its calls in place of unneeded ones.
    fn with_scratch(&self, emit: &mut Emit, mut stm: Stm) -> Vec<Stm> {
        let mut given: Vec<Var> = Vec::new();
        stm.each(&mut |stm| {
            if let Exp::Op(Op::Call { accumulators, .. }) = &stm.exp {
                given.extend(accumulators);
            }
        });
        given.retain(|acc| emit.in_scope(*acc) && !self.needed.contains(acc));
        given.sort_unstable();
        given.dedup();
        let (mut before, mut after, mut scratch) = (Vec::new(), Vec::new(), Renaming::new());
        for acc in given {
            let ty = emit.ty(acc.into());
            let [zeros, made, sum] =
                [(); 3].map(|()| Param { var: emit.names.again(acc), ty: ty.clone() });
            scratch.insert(acc, made.var.into());
            let zero = Atom::Lit(ty.elem.zero());
            let init = match ty.dims.is_empty() {
                true => zero,
                false => zeros.var.into(),
            };
            if !ty.dims.is_empty() {
                before.push(Stm::new(vec![zeros], Op::Fill(zero)));
            }
            after.push(Stm::new(vec![sum], Op::Freeze(made.var)));
            before.push(Stm::new(vec![made], Op::Accumulator(init)));
        }
        scratch.apply_stm(&mut stm);
        before.push(stm);
        before.extend(after);
        before
    }
}
