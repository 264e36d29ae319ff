//! Removes dead code: unneeded statements, outs of `for`s, results of `if`s, states of `loop`s,
//! accumulators without a reader.
//!
//! * Assumes: names are bound once.
//! * Gives: the block with the same results, effects and checks, in which every variable
//!   contributes to one of these.
//! * Keeps: all live code, in order. A `while` may not end, so the sweep that runs it first keeps
//!   it, even without a needed result.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Effect, Exp, LoopKind, Nest, Param, Stm, Var};

/// Trims a block whose dead `while`s have ended before; its results are needed.
pub(crate) fn trim(block: &mut Block) {
    trim_with(block, &[], Run::Later);
}

/// Trims a block that runs a second time: a call is needed only for its results or for its
/// additions to the block's own accumulators.
pub(crate) fn trim_again(block: &mut Block) {
    trim_with(block, &[], Run::Again);
}

/// Trims a block that runs first; its results and the variables in `roots` are needed.
pub(crate) fn trim_first(block: &mut Block, roots: &[Var]) {
    trim_with(block, roots, Run::First);
}

/// When a block runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    /// First: a `while` that may not end is an effect.
    First,
    /// After all `while`s have ended.
    Later,
    /// A second time, without its effects.
    Again,
}

fn trim_with(block: &mut Block, roots: &[Var], run: Run) {
    let vars = roots.iter().copied().collect();
    let mut live = Live { vars, made: HashSet::new(), grew: true, run };
    live.accumulators(block);
    while std::mem::take(&mut live.grew) {
        live.atoms(&block.results);
        live.block(block);
    }
    live.sweep(block);
}

struct Live {
    vars: HashSet<Var>,
    /// Accumulators of the block itself: an addition to any other is an effect.
    made: HashSet<Var>,
    /// Whether the last round has found more live variables.
    grew: bool,
    run: Run,
}

impl Live {
    fn accumulators(&mut self, block: &Block) {
        block.each(&mut |stm| {
            if stm.exp.effect() == Effect::Makes {
                self.made.extend(stm.binds.iter().map(|p| p.var));
            }
        });
    }

    fn var(&mut self, var: Var) {
        self.grew |= self.vars.insert(var);
    }

    fn atom(&mut self, atom: Atom) {
        if let Atom::Var(var) = atom {
            self.var(var);
        }
    }

    fn atoms(&mut self, atoms: &[Atom]) {
        atoms.iter().for_each(|a| self.atom(*a));
    }

    fn is(&self, var: Var) -> bool {
        self.vars.contains(&var)
    }

    fn binds(&self, binds: &[Param]) -> bool {
        binds.iter().any(|p| self.is(p.var))
    }

    /// Marks the live variables of the block from its end; returns whether the block has an outside
    /// effect.
    fn block(&mut self, block: &Block) -> bool {
        let mut effects = false;
        for stm in block.stms.iter().rev() {
            effects |= self.stm(stm);
        }
        effects
    }

    /// Whether additions to the accumulator matter.
    fn is_added_to(&self, acc: Var) -> bool {
        self.is(acc) || !self.made.contains(&acc)
    }

    fn stm(&mut self, stm: &Stm) -> bool {
        self.results(stm);
        let mut effects = match stm.exp.effect() {
            Effect::Fails | Effect::Inspects => true,
            Effect::Calls => self.calls(stm),
            Effect::Adds(acc) => self.is_added_to(acc),
            Effect::None
            | Effect::Makes
            | Effect::Freezes(_)
            | Effect::MakesCells
            | Effect::OpensCell
            | Effect::ReadsCell => self.run == Run::First && stm.exp.is_unbounded(),
        };
        for inner in stm.exp.blocks() {
            effects |= self.block(inner);
        }
        if effects || self.binds(&stm.binds) || self.freezes(&stm.exp) {
            self.operands(stm);
        }
        effects
    }

    /// Whether a call is an effect.
    fn calls(&self, stm: &Stm) -> bool {
        self.run != Run::Again || stm.binds.is_empty()
    }

    /// Whether the expression freezes a live accumulator, which a call may add to.
    fn freezes(&self, exp: &Exp) -> bool {
        matches!(exp.effect(), Effect::Freezes(acc) if self.is(acc))
    }

    /// Marks results of inner blocks whose outer names are live.
    fn results(&mut self, stm: &Stm) {
        match &stm.exp {
            Exp::Nest(Nest::Loop { params, body, .. }) => {
                for ((bind, param), result) in stm.binds.iter().zip(params).zip(&body.results) {
                    if self.is(bind.var) || self.is(param.var) {
                        self.var(param.var);
                        self.atom(*result);
                    }
                }
            }
            Exp::Nest(Nest::For { .. } | Nest::If { .. }) => {
                for inner in stm.exp.blocks() {
                    let needed = stm
                        .binds
                        .iter()
                        .zip(&inner.results)
                        .filter(|(bind, _)| self.vars.contains(&bind.var));
                    needed
                        .map(|(_, result)| *result)
                        .collect::<Vec<_>>()
                        .into_iter()
                        .for_each(|result| self.atom(result));
                }
            }
            Exp::Op(_) => {}
        }
    }

    /// Marks the operands of a live statement itself.
    fn operands(&mut self, stm: &Stm) {
        match &stm.exp {
            Exp::Nest(Nest::Loop { params, inits, kind, .. }) => {
                for (param, init) in params.iter().zip(inits) {
                    if self.is(param.var) {
                        self.atom(*init);
                        self.atoms(&param.ty.dims);
                    }
                }
                match kind {
                    LoopKind::For { extent, checkpoint, .. } => {
                        self.atom(*extent);
                        checkpoint.states().into_iter().for_each(|states| self.atom(states));
                    }
                    LoopKind::While(cond) => self.atoms(&cond.results),
                }
            }
            exp => exp.atoms(&mut |atom| self.atom(atom)),
        }
        for bind in stm
            .binds
            .iter()
            .filter(|p| stm.binds.len() == 1 || self.vars.contains(&p.var))
            .cloned()
            .collect::<Vec<_>>()
        {
            self.atoms(&bind.ty.dims);
        }
    }

    fn sweep(&self, block: &mut Block) {
        block.stms.retain_mut(|stm| self.keep(stm));
    }

    fn keep(&self, stm: &mut Stm) -> bool {
        match &mut stm.exp {
            Exp::Nest(Nest::For { outs, body, .. }) => {
                let keep: Vec<bool> = stm.binds.iter().map(|p| self.is(p.var)).collect();
                retain(&keep, outs);
                retain(&keep, &mut body.results);
                retain(&keep, &mut stm.binds);
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                let keep: Vec<bool> = stm.binds.iter().map(|p| self.is(p.var)).collect();
                retain(&keep, &mut then.results);
                retain(&keep, &mut otherwise.results);
                retain(&keep, &mut stm.binds);
            }
            Exp::Nest(Nest::Loop { params, inits, body, .. }) => {
                let keep: Vec<bool> = params.iter().map(|p| self.is(p.var)).collect();
                retain(&keep, params);
                retain(&keep, inits);
                retain(&keep, &mut body.results);
                retain(&keep, &mut stm.binds);
            }
            Exp::Op(op) => {
                return match op.effect() {
                    Effect::Fails | Effect::Inspects => true,
                    Effect::Calls => self.calls(stm) || self.binds(&stm.binds),
                    Effect::Adds(acc) => self.is_added_to(acc),
                    Effect::Freezes(acc) => self.is(acc) || self.binds(&stm.binds),
                    Effect::None
                    | Effect::Makes
                    | Effect::MakesCells
                    | Effect::OpensCell
                    | Effect::ReadsCell => self.binds(&stm.binds),
                };
            }
        }
        stm.exp.blocks_mut().into_iter().for_each(|inner| self.sweep(inner));
        !stm.binds.is_empty() || self.has_effect(&stm.exp)
    }

    /// Whether a swept expression does more than return results. Every unneeded statement that
    /// survived is an effect.
    fn has_effect(&self, exp: &Exp) -> bool {
        (self.run == Run::First && exp.is_unbounded())
            || exp.blocks().into_iter().any(|block| {
                block.any(&mut |stm| {
                    matches!(
                        stm.exp.effect(),
                        Effect::Fails | Effect::Inspects | Effect::Calls | Effect::Adds(_)
                    ) || (self.run == Run::First && stm.exp.is_unbounded())
                })
            })
    }
}

fn retain<T>(keep: &[bool], items: &mut Vec<T>) {
    let mut flags = keep.iter();
    items.retain(|_| *flags.next().expect("one flag per item"));
}
