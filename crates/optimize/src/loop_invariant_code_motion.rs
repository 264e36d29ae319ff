//! Loop-invariant code moves out of loops.
//!
//! Assumes: nothing. Gives: no pure statement in a loop that depends on nothing the loop binds, except those that are cheaper to do again
//! than to keep (`Fill`, updates) and those that might not be safe to run when the loop runs no iteration: reads that are not evidently in
//! range, `while` loops that might not end. Keeps: values and failures: a `Check` never moves.
//!
//! **Costly work is not done where the loop would not have run.** A loop in a loop may have no iterations in most of the outer ones
//! (`for j < i`); if something that takes a loop itself leaves it, both come under the condition that there is an iteration.

use std::collections::HashSet;

use lambada_anf::{
    Atom, Block, Exp, Function, LoopKind, Names, Nest, Op, Out, Param, Renaming, Stm, Ty, Var,
};
use lambada_prim::{ArrayPrim, Prim};

use crate::calls::Calls;
use crate::scope::Scope;

/// The pass.
pub(crate) fn loop_invariant_code_motion(function: &mut Function, calls: &Calls) -> bool {
    let scope = Scope::new(function);
    let mut motion = Motion {
        names: &mut function.names,
        calls,
        scope,
        loops: 0,
        varying: HashSet::new(),
        sizes: function.sizes.iter().copied().collect(),
        changed: false,
    };
    motion.block(&mut function.body);
    motion.changed
}

struct Motion<'a> {
    names: &'a mut Names,
    calls: &'a Calls,
    scope: Scope,
    /// How many loops surround the current block.
    loops: usize,
    /// What is bound in loops.
    varying: HashSet<Var>,
    /// The sizes of the arguments.
    sizes: HashSet<Var>,
    changed: bool,
}

impl Motion<'_> {
    fn block(&mut self, b: &mut Block) {
        let mark = self.scope.mark();
        for mut stm in std::mem::take(&mut b.stms) {
            let inside = self.scope.mark();
            self.scope.enter(&stm.exp);
            self.nested(&mut stm);
            self.scope.reset(inside);
            let out = invariant(&mut stm, &mut self.scope, self.calls);
            self.changed |= !out.is_empty();
            if self.needs_guard(&stm, &out) {
                let guarded = self.guarded(stm, out);
                b.stms.extend(guarded.into_iter().inspect(|s| self.pass(s)));
                continue;
            }
            for s in out.into_iter().chain([stm]) {
                self.pass(&s);
                b.stms.push(s);
            }
        }
        self.scope.reset(mark);
    }

    fn pass(&mut self, stm: &Stm) {
        self.scope.pass(stm);
        if let Exp::Op(Op::Check { cond, .. }) = &stm.exp {
            self.scope.assume(*cond, true);
        }
        if self.loops > 0 {
            self.varying.extend(stm.binds.iter().map(|p| p.var));
        }
    }

    fn nested(&mut self, stm: &mut Stm) {
        if let Exp::Nest(Nest::If { cond, then, otherwise }) = &mut stm.exp {
            for (b, holds) in [(then, true), (otherwise, false)] {
                let mark = self.scope.mark();
                self.scope.assume(*cond, holds);
                self.block(b);
                self.scope.reset(mark);
            }
        } else {
            self.varying.extend(stm.exp.bound());
            self.loops += 1;
            stm.exp.blocks_mut().into_iter().for_each(|b| self.block(b));
            self.loops -= 1;
        }
    }

    /// Would a loop that may not run at all have saved costly work? If it is in a loop, it may run in some iterations only; elsewhere it
    /// matters unless it goes over the axes of arguments, which are seldom empty.
    fn needs_guard(&self, stm: &Stm, out: &[Stm]) -> bool {
        let Some(extent) = stm.exp.extent() else { return false };
        let varies = extent.as_var().is_some_and(|v| self.varying.contains(&v));
        (varies || !self.is_size(extent))
            && out.iter().any(Stm::is_costly)
            && !self.scope.proves(Atom::int(0), extent, true)
    }

    /// Is it computed from the sizes of the arguments alone?
    fn is_size(&self, atom: Atom) -> bool {
        let Atom::Var(var) = atom else { return true };
        self.sizes.contains(&var)
            || matches!(self.scope.definition(atom), Some(Exp::Op(Op::Prim(_, args))) if args.iter().all(|a| self.is_size(*a)))
    }

    /// `if 0 < extent { out; stm } else { what the loop gives without iterations }`
    fn guarded(&mut self, stm: Stm, out: Vec<Stm>) -> Vec<Stm> {
        let Some(extent) = stm.exp.extent() else { return out.into_iter().chain([stm]).collect() };
        let mut otherwise = Block::default();
        match &stm.exp {
            Exp::Nest(Nest::For { outs, .. }) => {
                for (p, out) in stm.binds.iter().zip(outs) {
                    otherwise.results.push(match out {
                        Out::Reduce(op) => Atom::Lit(op.unit(p.ty.elem.scalar())),
                        Out::Collect => {
                            let empty = Param { var: self.names.again(p.var), ty: p.ty.clone() };
                            let var = empty.var;
                            let exp = Op::Fill(Atom::Lit(p.ty.elem.zero()));
                            otherwise.stms.push(Stm::new(vec![empty], exp));
                            var.into()
                        }
                    });
                }
            }
            Exp::Nest(Nest::Loop { inits, .. }) => otherwise.results.clone_from(inits),
            Exp::Op(_) | Exp::Nest(Nest::If { .. }) => unreachable!("only loops have an extent"),
        }
        let mut renaming = Renaming::new();
        let mut binds = Vec::new();
        for p in &stm.binds {
            let var = self.names.again(p.var);
            renaming.insert(p.var, var.into());
            binds.push(Param { var, ty: renaming.ty(&p.ty) });
        }
        let results = binds.iter().map(|p| p.var.into()).collect();
        let mut then = Block { stms: out, results };
        then.stms.push(Stm::new(binds, stm.exp));
        let runs = self.names.fresh("runs");
        let test = Op::Prim(Prim::LtInt, vec![Atom::int(0), extent]);
        let choice = Nest::If { cond: runs.into(), then, otherwise };
        vec![Stm::new(vec![Param { var: runs, ty: Ty::bool() }], test), Stm::new(stm.binds, choice)]
    }
}

/// Takes the invariant statements out of a loop.
fn invariant(stm: &mut Stm, scope: &mut Scope, calls: &Calls) -> Vec<Stm> {
    if !stm.exp.repeats() {
        return Vec::new();
    }
    let surely_runs = stm.exp.extent().is_some_and(|n| scope.proves(Atom::int(0), n, true));
    let mut inside: HashSet<Var> = stm.exp.bound().into_iter().collect();
    let mut out = Vec::new();
    for body in stm.exp.blocks_mut() {
        let (mut unchecked, mut checked) = (surely_runs, false);
        for s in std::mem::take(&mut body.stms) {
            let mut depends = false;
            s.mentioned(&mut |v| depends |= inside.contains(&v));
            unchecked &= !calls.may_fail(&s) && !calls.may_not_end(&s);
            let typed = !checked || !rests_on_sizes(&s);
            let pure = calls.is_pure(&s);
            if !depends && typed && worthwhile(&s) && pure && safe(&s, scope, unchecked) {
                scope.pass(&s);
                out.push(s);
            } else {
                checked |= matches!(s.exp, Exp::Op(Op::Check { .. }));
                inside.extend(s.binds.iter().map(|p| p.var));
                body.stms.push(s);
            }
        }
    }
    out
}

/// Is keeping the value better than computing it again? Arrays that are filled or updated may be built in place.
fn worthwhile(stm: &Stm) -> bool {
    !matches!(stm.exp, Exp::Op(Op::Fill(_) | Op::Update { .. }))
}

/// Must sizes of arrays be equal for it to be well typed? A check before it may be what says so.
fn rests_on_sizes(stm: &Stm) -> bool {
    let mut rests = false;
    stm.each(&mut |s| {
        let rank = s.binds.iter().map(|p| p.ty.rank()).max().unwrap_or(0);
        rests |= match &s.exp {
            Exp::Op(Op::Array(_)) => rank > 1,
            Exp::Op(op) => !matches!(
                op,
                Op::Prim(..) | Op::Index(..) | Op::Fill(_) | Op::Constant(_) | Op::Check { .. }
            ),
            Exp::Nest(nest) => match nest {
                Nest::For { .. } => rank > 1,
                Nest::Loop { .. } | Nest::If { .. } => rank > 0,
            },
        };
    });
    rests
}

/// May it run where the program might not have run it? `runs`: the program would have.
fn safe(stm: &Stm, scope: &mut Scope, runs: bool) -> bool {
    match &stm.exp {
        Exp::Op(Op::ArrayPrim(prim, args)) => runs || fit(*prim, args, scope),
        // Of which constructor the node is may be known only where it runs.
        Exp::Op(Op::Field { .. } | Op::Call { .. }) => runs,
        Exp::Op(op) => op.access().is_none_or(|(x, index)| scope.in_range(x, index)),
        Exp::Nest(Nest::Loop { kind: LoopKind::While(_), .. }) => runs,
        Exp::Nest(Nest::For { .. } | Nest::Loop { .. }) => inner_safe(stm, scope, runs),
        Exp::Nest(Nest::If { cond, then, otherwise }) => {
            [(then, true), (otherwise, false)].into_iter().all(|(b, holds)| {
                let mark = scope.mark();
                scope.assume(*cond, holds);
                let safe = block_safe(b, scope, runs);
                scope.reset(mark);
                safe
            })
        }
    }
}

/// Have the arguments of an array primitive sizes of the same names where they must be equal?
fn fit(prim: ArrayPrim, args: &[Var], scope: &Scope) -> bool {
    let Some(types) = args.iter().map(|arg| scope.ty(*arg)).collect::<Option<Vec<&Ty>>>() else {
        return false;
    };
    let ranks: Vec<usize> = types.iter().map(|ty| ty.rank()).collect();
    prim.version(&ranks).is_some_and(|version| {
        version.equal_axes().all(|[(a, j), (b, k)]| types[a].dims[j] == types[b].dims[k])
    })
}

/// Is every access in a block that does nothing but compute evidently in range here?
pub(crate) fn evident(block: &Block, scope: &mut Scope) -> bool {
    block_safe(block, scope, true)
}

fn inner_safe(stm: &Stm, scope: &mut Scope, runs: bool) -> bool {
    if let Exp::Nest(Nest::If { cond, then, otherwise }) = &stm.exp {
        return [(then, true), (otherwise, false)].into_iter().all(|(block, holds)| {
            let mark = scope.mark();
            scope.assume(*cond, holds);
            let safe = block_safe(block, scope, runs);
            scope.reset(mark);
            safe
        });
    }
    let mark = scope.mark();
    scope.enter(&stm.exp);
    let safe = stm.exp.blocks().into_iter().all(|b| block_safe(b, scope, runs));
    scope.reset(mark);
    safe
}

fn block_safe(block: &Block, scope: &mut Scope, runs: bool) -> bool {
    let mark = scope.mark();
    let safe = block.stms.iter().all(|s| {
        let safe = safe(s, scope, runs);
        scope.pass(s);
        safe
    });
    scope.reset(mark);
    safe
}
