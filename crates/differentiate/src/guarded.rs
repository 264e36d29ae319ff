//! Guarded field reads: reads in a branch whose tag test proves the constructor of the node. A
//! field of another constructor is zero and may be read, but a cotangent must not have the wrong
//! constructor ([`crate::values`]).

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Exp, Nest, Op, Var};
use lambada_prim::{Prim, Scalar};

/// The results of guarded reads. `constructors` returns the number of constructors of a handle's
/// type.
pub(crate) fn guarded(block: &Block, constructors: &dyn Fn(Atom) -> Option<usize>) -> HashSet<Var> {
    let mut guarded = Guarded {
        constructors,
        reads: HashSet::new(),
        tags: HashMap::new(),
        tests: HashMap::new(),
        excluded: HashMap::new(),
    };
    guarded.block(block);
    guarded.reads
}

struct Guarded<'a> {
    constructors: &'a dyn Fn(Atom) -> Option<usize>,
    reads: HashSet<Var>,
    /// Tag variables, each with its handle.
    tags: HashMap<Var, Atom>,
    /// Conditions: the handle, a constructor, and whether the handle has it if the condition holds.
    tests: HashMap<Var, (Atom, i64, bool)>,
    /// The constructors excluded for a handle in the current block.
    excluded: HashMap<Atom, HashSet<i64>>,
}

impl Guarded<'_> {
    fn block(&mut self, block: &Block) {
        for stm in &block.stms {
            match &stm.exp {
                Exp::Op(Op::Tag(of)) => _ = self.tags.insert(stm.binds[0].var, *of),
                Exp::Op(Op::Prim(Prim::EqInt, args)) => self.test(stm.binds[0].var, args, true),
                Exp::Op(Op::Prim(Prim::NeInt, args)) => self.test(stm.binds[0].var, args, false),
                Exp::Op(Op::Field { of, tag, .. }) => {
                    if self.is_known(*of, (*tag).into()) {
                        self.reads.insert(stm.binds[0].var);
                    }
                }
                Exp::Nest(Nest::If { cond, then, otherwise }) => {
                    let test = cond.as_var().and_then(|cond| self.tests.get(&cond).copied());
                    for (branch, taken) in [(then, true), (otherwise, false)] {
                        let outside = self.excluded.clone();
                        if let Some((of, tag, holds)) = test {
                            self.learn(of, tag, holds == taken);
                        }
                        self.block(branch);
                        self.excluded = outside;
                    }
                }
                Exp::Op(_) | Exp::Nest(Nest::For { .. } | Nest::Loop { .. }) => {
                    stm.exp.blocks().into_iter().for_each(|inner| self.block(inner));
                }
            }
        }
    }

    fn test(&mut self, cond: Var, args: &[Atom], holds: bool) {
        let (tag, constant) = match args {
            [Atom::Var(tag), Atom::Lit(Scalar::Int(k))]
            | [Atom::Lit(Scalar::Int(k)), Atom::Var(tag)] => (tag, *k),
            _ => return, // two variables, or two constants
        };
        let of = self.tags.get(tag).copied();
        self.tests.extend(of.map(|of| (cond, (of, constant, holds))));
    }

    /// Records that the handle has the constructor, or that it has another.
    fn learn(&mut self, of: Atom, tag: i64, has: bool) {
        let count = (self.constructors)(of).unwrap_or_default() as i64;
        let excluded = self.excluded.entry(of).or_default();
        match has {
            true => excluded.extend((0..count).filter(|other| *other != tag)),
            false => _ = excluded.insert(tag),
        }
    }

    /// Whether all other constructors are excluded.
    fn is_known(&self, of: Atom, tag: i64) -> bool {
        let Some(count) = (self.constructors)(of) else { return false };
        let excluded = |other| self.excluded.get(&of).is_some_and(|all| all.contains(&other));
        (0..count as i64).all(|other| other == tag || excluded(other))
    }
}
