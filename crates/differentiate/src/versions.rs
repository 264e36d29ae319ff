//! Versions: loop-carried arrays that the reverse sweep restores by undoing their updates.
//!
//! A loop that updates an array makes a chain of *versions* of it: each update, inner loop or `if`
//! on the way from the state to the next state takes one version and returns the next. An update
//! overwrites one element or sub-array. The forward sweep logs the overwritten value, and the
//! reverse sweep undoes the update with it, in place, when it reaches the update:
//!
//! ```text
//!   y = x with [i] = v     forward   old = x[i]; y = x with [i] = v
//!                          reverse   x = y with [i] = old
//! ```
//!
//! So the reverse loop carries the array and reads all earlier versions from it. The undo log is as
//! long as the program has updates; the array itself is never stored.
//!
//! * Gives: for the results of statements of such a chain, the version before. Chains of which the
//!   reverse sweep reads the final version only are left out.
//! * The trip count of a loop inside the outermost loop must be known outside that loop, up to loop
//!   indices, so that the length of the log is known before the forward sweep. Each iteration of a
//!   `while` has a log of its own ([`crate::while_`]).

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Checkpoint, Exp, Lambda, LoopKind, Nest, Op, Param, Stm, Var};
use lambada_prim::{Prim, Scalar};

use crate::activity::Activity;

/// The versions of restored arrays.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    /// By result of a chain's statement: the version before.
    before: HashMap<Var, Var>,
    /// Sub-arrays of versions under names of their own.
    parts: HashSet<Var>,
    /// By version: the state of the outermost loop that the chain belongs to.
    state: HashMap<Var, Var>,
}

impl Versions {
    /// The chains of a function, except those of the states in `except`.
    pub(crate) fn of(
        f: &Lambda,
        activity: &Activity,
        settled: &HashMap<Var, Var>,
        except: &HashSet<Var>,
    ) -> Versions {
        let mut search =
            Search { settled, activity, except, found: Versions::default(), plain: Plain::of(f) };
        search.block(&f.body);
        search.found.parts(&f.body);
        search.found
    }

    /// Whether `x` is a version of a restored array.
    pub(crate) fn contains(&self, x: Var) -> bool {
        self.state.contains_key(&x)
    }

    /// Whether `x` is a version, or a sub-array of one.
    pub(crate) fn is_part(&self, x: Var) -> bool {
        self.contains(x) || self.parts.contains(&x)
    }

    fn parts(&mut self, block: &Block) {
        for stm in &block.stms {
            if let (Exp::Op(Op::Index(x, _)), [part]) = (&stm.exp, stm.binds.as_slice())
                && self.is_part(*x)
                && !part.ty.dims.is_empty()
            {
                self.parts.insert(part.var);
            }
            stm.exp.blocks().into_iter().for_each(|inner| self.parts(inner));
        }
    }

    /// The version before the statement that binds `y`.
    pub(crate) fn before(&self, y: Var) -> Option<Var> {
        self.before.get(&y).copied()
    }

    /// The state that a version belongs to.
    pub(crate) fn state(&self, x: Var) -> Option<Var> {
        self.state.get(&x).copied()
    }

    /// The scalars that updates write to versions, each with its place.
    pub(crate) fn written<'a>(&self, stms: &'a [Stm]) -> HashMap<Var, (&'a Param, &'a [Atom])> {
        let mut written = HashMap::new();
        for stm in stms {
            if let (Exp::Op(Op::Update { index, value: Atom::Var(value), .. }), [version]) =
                (&stm.exp, stm.binds.as_slice())
                && version.ty.dims.len() == index.len()
                && self.before(version.var).is_some()
            {
                written.insert(*value, (version, index.as_slice()));
            }
        }
        written
    }

    /// Whether the statement takes a version and returns another.
    pub(crate) fn changed_by(&self, stm: &Stm) -> bool {
        stm.binds.iter().any(|p| self.before.contains_key(&p.var))
    }
}

struct Search<'a> {
    settled: &'a HashMap<Var, Var>,
    activity: &'a Activity,
    except: &'a HashSet<Var>,
    found: Versions,
    plain: Plain,
}

impl Search<'_> {
    fn block(&mut self, block: &Block) {
        for stm in &block.stms {
            if let Exp::Nest(Nest::Loop {
                params,
                kind: LoopKind::While(_) | LoopKind::For { checkpoint: Checkpoint::All, .. },
                body,
                ..
            }) = &stm.exp
                && self.activity.concerns(stm)
            {
                for (k, p) in params.iter().enumerate().filter(|(_, p)| !p.ty.dims.is_empty()) {
                    if !self.found.contains(p.var) && !self.except.contains(&p.var) {
                        self.state(params, body, k);
                    }
                }
            }
            stm.exp.blocks().into_iter().for_each(|inner| self.block(inner));
        }
    }

    fn state(&mut self, params: &[Param], body: &Block, k: usize) {
        let mut chain =
            Chain { plain: &self.plain, before: HashMap::new(), versions: HashSet::new() };
        if chain.state(params, body, k).is_none() || !self.is_read(&chain, body) {
            return;
        }
        let Chain { before, versions, .. } = chain;
        self.found.before.extend(before);
        self.found.state.extend(versions.into_iter().map(|x| (x, params[k].var)));
    }

    /// Whether the block reads a version, other than to make the next one or to read a settled
    /// element.
    fn is_read(&self, chain: &Chain, block: &Block) -> bool {
        block.stms.iter().any(|stm| self.reads(chain, stm))
    }

    fn reads(&self, chain: &Chain, stm: &Stm) -> bool {
        let mut reads = false;
        let settled = stm.binds.first().is_some_and(|p| self.settled.contains_key(&p.var));
        let makes_next = |x: Var| stm.binds.iter().any(|p| chain.before.get(&p.var) == Some(&x));
        stm.exp.atoms(&mut |atom| {
            reads |= atom
                .as_var()
                .is_some_and(|x| chain.versions.contains(&x) && !settled && !makes_next(x));
        });
        reads || stm.exp.blocks().into_iter().any(|inner| self.is_read(chain, inner))
    }
}

/// One chain under construction.
struct Chain<'a> {
    plain: &'a Plain,
    before: HashMap<Var, Var>,
    versions: HashSet<Var>,
}

impl Chain<'_> {
    /// The k-th state of a loop, from its next value back to its current one.
    fn state(&mut self, params: &[Param], body: &Block, k: usize) -> Option<()> {
        if params.iter().any(|p| params.iter().any(|q| q.ty.dims.contains(&p.var.into()))) {
            return None;
        }
        self.versions.insert(params[k].var);
        let from = self.through(body, body.results[k])?;
        (from == params[k].var).then_some(())
    }

    /// From `to` back to the version with which the block starts.
    fn through(&mut self, block: &Block, to: Atom) -> Option<Var> {
        let mut at = to.as_var()?;
        for stm in block.stms.iter().rev() {
            if let Some(k) = stm.binds.iter().position(|p| p.var == at) {
                let before = self.step(stm, k)?;
                self.versions.insert(at);
                self.before.insert(at, before);
                at = before;
            }
        }
        Some(at)
    }

    /// The version before the statement that returns one as its k-th result.
    fn step(&mut self, stm: &Stm, k: usize) -> Option<Var> {
        match &stm.exp {
            Exp::Op(Op::Update { array, .. }) => Some(*array),
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                if !self.has_log(kind) {
                    return None;
                }
                self.state(params, body, k)?;
                // The loop changes the array in place, so the version before must not be read
                // inside.
                let unseen = |init: &Var| stm.exp.blocks().iter().all(|b| !mentions(b, *init));
                let init = inits[k].as_var().filter(unseen)?;
                let others =
                    inits.iter().enumerate().any(|(j, other)| j != k && *other == inits[k]);
                (!others).then_some(init)
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                let from = self.through(then, then.results[k])?;
                let same = self.through(otherwise, otherwise.results[k])?;
                (from == same).then_some(from)
            }
            Exp::Op(_) | Exp::Nest(Nest::For { .. }) => None,
        }
    }

    /// Whether an inner loop can leave a log. Each iteration of a `while` has its own; a loop that
    /// reruns iterations starts each from a kept state.
    fn has_log(&self, kind: &LoopKind) -> bool {
        match kind {
            LoopKind::While(_) => true,
            LoopKind::For { extent, checkpoint, .. } => {
                *checkpoint == Checkpoint::All && self.plain.is(*extent)
            }
        }
    }
}

fn mentions(block: &Block, x: Var) -> bool {
    block.results.contains(&x.into())
        || block.stms.iter().any(|stm| {
            let mut found = false;
            stm.exp.atoms(&mut |atom| found |= atom == x.into());
            found || stm.exp.blocks().into_iter().any(|inner| mentions(inner, x))
        })
}

/// Integers that total arithmetic computes from loop indices and from values outside all loops.
struct Plain {
    /// Variables in loops that are not plain.
    other: HashSet<Var>,
}

impl Plain {
    fn of(f: &Lambda) -> Plain {
        let mut plain = Plain { other: HashSet::new() };
        plain.block(&f.body, false);
        plain
    }

    fn is(&self, atom: Atom) -> bool {
        atom.as_var().is_none_or(|x| !self.other.contains(&x))
    }

    fn block(&mut self, block: &Block, repeated: bool) {
        for stm in &block.stms {
            if let Exp::Nest(Nest::Loop { params, .. }) = &stm.exp {
                self.other.extend(params.iter().map(|p| p.var));
            }
            let inside = repeated || stm.exp.repeats();
            stm.exp.blocks().into_iter().for_each(|inner| self.block(inner, inside));
            let computed =
                |op: Prim, args: &[Atom]| is_total(op, args) && args.iter().all(|a| self.is(*a));
            if repeated && !matches!(&stm.exp, Exp::Op(Op::Prim(op, args)) if computed(*op, args)) {
                self.other.extend(stm.binds.iter().map(|p| p.var));
            }
        }
    }
}

/// Integer arithmetic that cannot fail.
pub(crate) fn is_total(op: Prim, args: &[Atom]) -> bool {
    use Prim::{AddInt, DivInt, MaxInt, MinInt, MulInt, NegInt, RemInt, SubInt};
    let by_positive = || matches!(args[1], Atom::Lit(Scalar::Int(by)) if by > 0);
    matches!(op, AddInt | SubInt | MulInt | MinInt | MaxInt | NegInt)
        || matches!(op, DivInt | RemInt) && by_positive()
}
