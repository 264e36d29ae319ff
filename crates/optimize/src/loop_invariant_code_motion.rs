//! Loop-invariant code moves out of loops.
//!
//! Assumes: nothing. Gives: no pure statement in a loop that depends on nothing the loop binds,
//! except those that are cheaper to recompute than to keep (`Fill`, updates) and those that might
//! not be safe to run when the loop runs no iteration: reads that are not evidently in range,
//! `while` loops that might not end, and divisions of integers in source that people read. Keeps:
//! values and failures: a `Check` never moves.
//!
//! **Costly work is not done where the loop would not have run.** A loop in a loop may have no
//! iterations in most of the outer ones (`for j < i`); if a statement that takes a loop itself
//! leaves it, both come under the condition that there is an iteration, unless the statement costs
//! nothing where there is none. Statements of a branch leave the loop under the condition of the
//! branch.

use std::collections::HashSet;

use lambada_anf::{
    Atom, Audience, Block, Elem, Exp, Function, LoopKind, Names, Nest, Op, Out, Param, Renaming,
    Stm, Ty, Var,
};
use lambada_prim::{ArrayPrim, Prim, ScalarTy};

use crate::calls::Calls;
use crate::scope::Scope;

/// The pass.
pub(crate) fn loop_invariant_code_motion(
    function: &mut Function,
    calls: &Calls,
    audience: Audience,
) -> bool {
    let scope = Scope::new(function, calls);
    let mut motion = Motion {
        names: &mut function.names,
        calls,
        audience,
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
    audience: Audience,
    scope: Scope,
    /// The number of loops around the current block.
    loops: usize,
    /// Variables bound in loops.
    varying: HashSet<Var>,
    /// The sizes of the arguments, and what is computed from them alone.
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
            let out = Leaving {
                names: &mut *self.names,
                scope: &mut self.scope,
                calls: self.calls,
                audience: self.audience,
            };
            let out = out.invariant(&mut stm);
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
        if let (Exp::Op(Op::Prim(_, args)), [p]) = (&stm.exp, &stm.binds[..])
            && args.iter().all(|arg| self.is_size(*arg))
        {
            self.sizes.insert(p.var);
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

    /// Whether costly work would be wasted when the loop has no iteration. A loop whose extent
    /// varies in an outer loop may run in some iterations only; elsewhere the guard is omitted if
    /// the extent is a size of arguments, which are seldom empty.
    fn needs_guard(&self, stm: &Stm, out: &[Stm]) -> bool {
        let Some(extent) = stm.exp.extent() else { return false };
        let varies = extent.as_var().is_some_and(|v| self.varying.contains(&v));
        (varies || !self.is_size(extent))
            && out.iter().any(|s| !costs_nothing_without(s, extent))
            && !self.scope.proves(Atom::int(0), extent, true)
    }

    /// Whether it is computed from the sizes of the arguments alone.
    fn is_size(&self, atom: Atom) -> bool {
        atom.as_var().is_none_or(|var| self.sizes.contains(&var))
    }

    /// `if 0 < extent { out; stm } else { the loop's results without iterations }`
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

/// The search for statements that leave a loop.
struct Leaving<'a> {
    names: &'a mut Names,
    scope: &'a mut Scope,
    calls: &'a Calls,
    audience: Audience,
}

/// Facts at a place in a loop.
#[derive(Clone, Copy)]
struct Here {
    /// It is reached, and nothing before it fails.
    unchecked: bool,
    /// There has been a check.
    checked: bool,
}

impl Leaving<'_> {
    /// Takes the invariant statements out of a loop.
    fn invariant(mut self, stm: &mut Stm) -> Vec<Stm> {
        if !stm.exp.repeats() {
            return Vec::new();
        }
        let surely_runs =
            stm.exp.extent().is_some_and(|n| self.scope.proves(Atom::int(0), n, true));
        let mut inside: HashSet<Var> = stm.exp.bound().into_iter().collect();
        let mut out = Vec::new();
        for body in stm.exp.blocks_mut() {
            let mut here = Here { unchecked: surely_runs, checked: false };
            for mut s in std::mem::take(&mut body.stms) {
                here.unchecked &= !self.calls.may_fail(&s) && !self.calls.may_not_end(&s);
                if self.may_leave(&s, &inside, here) {
                    self.scope.pass(&s);
                    out.push(s);
                    continue;
                }
                for part in self.of_branches(&mut s, &inside, here) {
                    self.scope.pass(&part);
                    out.push(part);
                }
                here.checked |= matches!(s.exp, Exp::Op(Op::Check { .. }));
                inside.extend(s.binds.iter().map(|p| p.var));
                body.stms.push(s);
            }
        }
        out
    }

    fn may_leave(&mut self, s: &Stm, inside: &HashSet<Var>, here: Here) -> bool {
        let mut depends = false;
        s.mentioned(&mut |v| depends |= inside.contains(&v));
        let typed = !here.checked || !rests_on_sizes(s);
        let pure = self.calls.is_pure(s);
        let runs = here.unchecked;
        let permissions = Permissions { runs, divides: runs || self.audience == Audience::Machine };
        !depends && typed && worthwhile(s) && pure && safe(s, self.scope, permissions)
    }

    /// The statements that leave the branches of an invariant condition, under that condition:
    /// costly work and its operands.
    fn of_branches(&mut self, s: &mut Stm, inside: &HashSet<Var>, here: Here) -> Vec<Stm> {
        let Exp::Nest(Nest::If { cond, then, otherwise }) = &mut s.exp else { return Vec::new() };
        if cond.as_var().is_none_or(|v| inside.contains(&v)) {
            return Vec::new();
        }
        let cond = *cond;
        let branches = [(then, true), (otherwise, false)];
        let parts = branches.map(|(block, holds)| {
            let mark = self.scope.mark();
            self.scope.assume(cond, holds);
            let moved = self.of_branch(block, inside, here);
            self.scope.reset(mark);
            moved.map(|(binds, then)| self.under(cond, holds, binds, then))
        });
        parts.into_iter().flatten().collect()
    }

    /// The statements that leave a branch, and the results of the costly ones. The others are
    /// cheap, and also stay, because they may show that an index is in range.
    fn of_branch(
        &mut self,
        block: &mut Block,
        inside: &HashSet<Var>,
        mut here: Here,
    ) -> Option<(Vec<Param>, Vec<Stm>)> {
        if !block.stms.iter().any(Stm::is_costly) {
            return None;
        }
        let mut inside = inside.clone();
        let (mut moved, mut left) = (Vec::new(), Vec::new());
        for s in &block.stms {
            here.unchecked &= !self.calls.may_fail(s) && !self.calls.may_not_end(s);
            if self.may_leave(s, &inside, here) {
                moved.push(s.clone());
                left.extend((!s.is_costly()).then(|| s.clone()));
            } else {
                here.checked |= matches!(s.exp, Exp::Op(Op::Check { .. }));
                inside.extend(s.binds.iter().map(|p| p.var));
                left.push(s.clone());
            }
            self.scope.pass(s);
        }
        let binds = moved.iter().filter(|s| s.is_costly()).flat_map(|s| s.binds.iter().cloned());
        let binds: Vec<Param> = binds.collect();
        // The sizes of the results must be known outside; and the definition of an integer may be
        // needed to show that it is in range.
        let own: HashSet<Var> = moved.iter().flat_map(|s| &s.binds).map(|p| p.var).collect();
        let is_own = |size: &Atom| size.as_var().is_some_and(|v| own.contains(&v));
        let real = Elem::Scalar(ScalarTy::Real);
        let known = |p: &Param| p.ty.elem == real && !p.ty.dims.iter().any(is_own);
        if binds.is_empty() || !binds.iter().all(known) {
            return None;
        }
        block.stms = left;
        Some((binds, moved))
    }

    /// `if cond { … } else { zeros }`, or the other way round.
    fn under(&mut self, cond: Atom, holds: bool, binds: Vec<Param>, stms: Vec<Stm>) -> Stm {
        let (mut renaming, mut taken) = (Renaming::new(), Block::default());
        taken.stms = stms.iter().map(|s| renaming.copy_stm(s, self.names)).collect();
        taken.results = binds.iter().map(|p| renaming.atom(p.var.into())).collect();
        let other = nothing(&binds, self.names);
        let (then, otherwise) = if holds { (taken, other) } else { (other, taken) };
        Stm::new(binds, Nest::If { cond, then, otherwise })
    }
}

/// Whether it is cheap, or does nothing if the extent is 0, as a product of matrices with this many
/// columns.
fn costs_nothing_without(stm: &Stm, extent: Atom) -> bool {
    if !stm.is_costly() || stm.exp.extent() == Some(extent) {
        return true;
    }
    match &stm.exp {
        Exp::Op(Op::ArrayPrim(prim, _)) => {
            prim.is_contraction() && stm.binds.iter().all(|p| p.ty.dims.contains(&extent))
        }
        Exp::Nest(Nest::If { then, otherwise, .. }) => {
            let mut stms = then.stms.iter().chain(&otherwise.stms);
            stms.all(|s| costs_nothing_without(s, extent))
        }
        Exp::Op(_) | Exp::Nest(Nest::For { .. } | Nest::Loop { .. }) => false,
    }
}

/// Zeros.
fn nothing(binds: &[Param], names: &mut Names) -> Block {
    let mut block = Block::default();
    for p in binds {
        let zero = Atom::Lit(p.ty.elem.zero());
        block.results.push(match p.ty.rank() {
            0 => zero,
            _ => {
                let empty = Param { var: names.again(p.var), ty: p.ty.clone() };
                let var = empty.var;
                block.stms.push(Stm::new(vec![empty], Op::Fill(zero)));
                var.into()
            }
        });
    }
    block
}

/// Whether keeping the value is better than recomputing it. Arrays that are filled or updated may
/// be built in place.
fn worthwhile(stm: &Stm) -> bool {
    !matches!(stm.exp, Exp::Op(Op::Fill(_) | Op::Update { .. }))
}

/// Whether sizes of arrays must be equal for it to be well typed: then it may depend on a check
/// before it.
fn rests_on_sizes(stm: &Stm) -> bool {
    let mut rests = false;
    stm.each(&mut |s| {
        let rank = s.binds.iter().map(|p| p.ty.rank()).max().unwrap_or(0);
        rests |= match &s.exp {
            Exp::Op(Op::Array(_)) => rank > 1,
            // A row has the declared size of its matrix, which a check may equate with another one.
            Exp::Op(Op::Index(..)) => rank > 0,
            Exp::Op(op) => {
                !matches!(op, Op::Prim(..) | Op::Fill(_) | Op::Constant(_) | Op::Check { .. })
            }
            Exp::Nest(nest) => match nest {
                Nest::For { .. } => rank > 1,
                Nest::Loop { .. } | Nest::If { .. } => rank > 0,
            },
        };
    });
    rests
}

/// Permissions at the place to which a statement moves.
#[derive(Clone, Copy)]
struct Permissions {
    /// The program would have run the statement.
    runs: bool,
    /// An integer is divided by zero without a failure: not so in source that people read, where
    /// the loop may have no iteration.
    divides: bool,
}

/// Whether it may run where the program might not have run it.
fn safe(stm: &Stm, scope: &mut Scope, permissions: Permissions) -> bool {
    let runs = permissions.runs;
    match &stm.exp {
        Exp::Op(Op::Prim(Prim::DivInt | Prim::RemInt, args)) => {
            permissions.divides || scope.proves(Atom::int(0), args[1], true)
        }
        Exp::Op(Op::ArrayPrim(prim, args)) => runs || fit(*prim, args, scope),
        // The constructor of the node may be known only where it runs.
        Exp::Op(Op::Field { .. } | Op::Call { .. }) => runs,
        Exp::Op(op) => op.access().is_none_or(|(x, index)| scope.in_range(x, index)),
        Exp::Nest(Nest::Loop { kind: LoopKind::While(_), .. }) => runs,
        Exp::Nest(Nest::For { .. } | Nest::Loop { .. }) => inner_safe(stm, scope, permissions),
        Exp::Nest(Nest::If { cond, then, otherwise }) => {
            [(then, true), (otherwise, false)].into_iter().all(|(b, holds)| {
                let mark = scope.mark();
                scope.assume(*cond, holds);
                let safe = block_safe(b, scope, permissions);
                scope.reset(mark);
                safe
            })
        }
    }
}

/// Whether the arguments of an array primitive have the same size atoms where sizes must be equal.
fn fit(prim: ArrayPrim, args: &[Var], scope: &Scope) -> bool {
    let Some(types) = args.iter().map(|arg| scope.ty(*arg)).collect::<Option<Vec<&Ty>>>() else {
        return false;
    };
    let ranks: Vec<usize> = types.iter().map(|ty| ty.rank()).collect();
    prim.version(&ranks).is_some_and(|version| {
        version.equal_axes().all(|[(a, j), (b, k)]| types[a].dims[j] == types[b].dims[k])
    })
}

/// Whether every access in a pure block is evidently in range here.
pub(crate) fn evident(block: &Block, scope: &mut Scope) -> bool {
    block_safe(block, scope, Permissions { runs: true, divides: true })
}

fn inner_safe(stm: &Stm, scope: &mut Scope, permissions: Permissions) -> bool {
    if let Exp::Nest(Nest::If { cond, then, otherwise }) = &stm.exp {
        return [(then, true), (otherwise, false)].into_iter().all(|(block, holds)| {
            let mark = scope.mark();
            scope.assume(*cond, holds);
            let safe = block_safe(block, scope, permissions);
            scope.reset(mark);
            safe
        });
    }
    let mark = scope.mark();
    scope.enter(&stm.exp);
    let safe = stm.exp.blocks().into_iter().all(|b| block_safe(b, scope, permissions));
    scope.reset(mark);
    safe
}

fn block_safe(block: &Block, scope: &mut Scope, permissions: Permissions) -> bool {
    let mark = scope.mark();
    let safe = block.stms.iter().all(|s| {
        let safe = safe(s, scope, permissions);
        scope.pass(s);
        safe
    });
    scope.reset(mark);
    safe
}
