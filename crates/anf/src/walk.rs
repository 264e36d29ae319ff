//! The children of all constructs, in one place. All walks (renaming, free variables, use counts,
//! most passes) build on `atoms`, `blocks`, `binders` and their mutable twins, which share one
//! text.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::{
    Atom, Block, Checkpoint, Exp, Function, Kernel, LoopKind, Names, Nest, Op, Param, Scheduled,
    Stm, Ty, Var,
};

/// The children of all constructs, in order: once to read and once to change them.
macro_rules! children {
    ($($mutable:ident)?; $atoms:ident($atom:ty), $operands:ident; $blocks:ident, $binders:ident) => {
        impl Op {
            /// Calls `f` on every atom and variable that the construct mentions. Accumulators and
            /// indexed arrays count as atoms; a variable position must stay a variable.
            pub fn $atoms(&$($mutable)? self, f: &mut dyn FnMut($atom)) {
                match self {
                    Op::Prim(_, args) | Op::Array(args) => $operands::atoms(args, f),
                    Op::Index(x, index) => {
                        $operands::var(x, f);
                        $operands::atoms(index, f);
                    }
                    Op::Fill(value) | Op::Accumulator(value) => $operands::atom(value, f),
                    Op::Constant(_) => {}
                    Op::Update { array: x, index, value } | Op::Accumulate { acc: x, index, value } => {
                        $operands::var(x, f);
                        $operands::atoms(index, f);
                        $operands::atom(value, f);
                    }
                    Op::ArrayPrim(_, args) | Op::Scheduled(Scheduled::Concat(args)) => args.into_iter().for_each(|arg| $operands::var(arg, f)),
                    Op::Freeze(acc) => $operands::var(acc, f),
                    Op::Check { cond, values, .. } => {
                        $operands::atom(cond, f);
                        $operands::atoms(values, f);
                    }
                    Op::Inspect { values, .. } => $operands::atoms(values, f),
                    Op::Call { args, accumulators, .. } => {
                        $operands::atoms(args, f);
                        for acc in accumulators {
                            $operands::var(acc, f);
                        }
                    }
                    Op::Node { fields, .. } => $operands::atoms(fields, f),
                    Op::Tag(of)
                    | Op::Field { of, .. }
                    | Op::Open { of, .. }
                    | Op::Cell { of, .. } => $operands::atom(of, f),
                    Op::Scheduled(Scheduled::Kernel(kernel)) => {
                        let Kernel { when, inputs, added, .. } = &$($mutable)? **kernel;
                        $operands::atom(when, f);
                        inputs.into_iter().chain(added).for_each(|var| $operands::var(var, f));
                    }
                }
            }
        }

        impl Nest {
            /// Calls `f` on every atom that the construct itself mentions, not on those in its
            /// blocks.
            pub fn $atoms(&$($mutable)? self, f: &mut dyn FnMut($atom)) {
                match self {
                    Nest::For { extent, .. } => $operands::atom(extent, f),
                    Nest::Loop { params, inits, kind, .. } => {
                        $operands::atoms(inits, f);
                        for Param { ty: Ty { dims, .. }, .. } in params {
                            $operands::atoms(dims, f);
                        }
                        match kind {
                            LoopKind::For { extent, checkpoint, .. } => {
                                $operands::atom(extent, f);
                                match checkpoint {
                                    Checkpoint::States(states) => $operands::atom(states, f),
                                    Checkpoint::All | Checkpoint::Entries | Checkpoint::Sqrt => {}
                                }
                            }
                            LoopKind::While(_) => {}
                        }
                    }
                    Nest::If { cond, .. } => $operands::atom(cond, f),
                }
            }

            /// The blocks inside, in the order in which they run.
            pub fn $blocks(&$($mutable)? self) -> Vec<&$($mutable)? Block> {
                match self {
                    Nest::For { body, .. } | Nest::Loop { body, kind: LoopKind::For { .. }, .. } => {
                        vec![body]
                    }
                    Nest::Loop { body, kind: LoopKind::While(cond), .. } => vec![cond, body],
                    Nest::If { then, otherwise, .. } => vec![then, otherwise],
                }
            }

            /// The variables that the construct binds in its blocks: loop parameters and indices.
            pub fn $binders(&$($mutable)? self) -> Vec<&$($mutable)? Var> {
                match self {
                    Nest::For { index, .. } => vec![index],
                    Nest::Loop { params, kind, .. } => {
                        let mut binders = Vec::with_capacity(params.len() + 1);
                        binders.extend(params.into_iter().map(|Param { var, .. }| var));
                        match kind {
                            LoopKind::For { index, .. } => binders.push(index),
                            LoopKind::While(_) => {}
                        }
                        binders
                    }
                    Nest::If { .. } => Vec::new(),
                }
            }
        }

        impl Exp {
            /// Calls `f` on every atom and variable that the expression itself mentions, not on
            /// those in its blocks.
            pub fn $atoms(&$($mutable)? self, f: &mut dyn FnMut($atom)) {
                match self {
                    Exp::Op(op) => op.$atoms(f),
                    Exp::Nest(nest) => nest.$atoms(f),
                }
            }

            /// The blocks inside.
            pub fn $blocks(&$($mutable)? self) -> Vec<&$($mutable)? Block> {
                match self {
                    Exp::Op(_) => Vec::new(),
                    Exp::Nest(nest) => nest.$blocks(),
                }
            }
        }
    };
}

children!(; atoms(Atom), reading; blocks, binders);
children!(mut; atoms_mut(&mut Atom), changing; blocks_mut, binders_mut);

mod reading {
    use crate::{Atom, Var};

    pub(super) fn atom(atom: &Atom, f: &mut dyn FnMut(Atom)) {
        f(*atom);
    }

    pub(super) fn atoms(atoms: &[Atom], f: &mut dyn FnMut(Atom)) {
        atoms.iter().for_each(|atom| f(*atom));
    }

    pub(super) fn var(var: &Var, f: &mut dyn FnMut(Atom)) {
        f(Atom::Var(*var));
    }
}

mod changing {
    use crate::{Atom, Var};

    pub(super) fn atom(atom: &mut Atom, f: &mut dyn FnMut(&mut Atom)) {
        f(atom);
    }

    pub(super) fn atoms(atoms: &mut [Atom], f: &mut dyn FnMut(&mut Atom)) {
        atoms.iter_mut().for_each(f);
    }

    pub(super) fn var(var: &mut Var, f: &mut dyn FnMut(&mut Atom)) {
        let mut atom = Atom::Var(*var);
        f(&mut atom);
        *var = atom.as_var().expect("a variable position took a constant");
    }
}

impl Nest {
    /// The variables that the construct binds in its blocks.
    pub fn bound(&self) -> Vec<Var> {
        self.binders().into_iter().copied().collect()
    }
}

impl Exp {
    /// The variables that the expression binds in its blocks.
    pub fn bound(&self) -> Vec<Var> {
        match self {
            Exp::Op(_) => Vec::new(),
            Exp::Nest(nest) => nest.bound(),
        }
    }
}

impl Stm {
    /// Calls `f` on every variable that the statement mentions, in its blocks and in types too;
    /// also on those that its blocks bind.
    pub fn mentioned(&self, f: &mut dyn FnMut(Var)) {
        let mut atom = |a: Atom| a.as_var().into_iter().for_each(&mut *f);
        self.exp.atoms(&mut atom);
        self.binds.iter().flat_map(|p| &p.ty.dims).for_each(|d| atom(*d));
        for block in self.exp.blocks() {
            block.stms.iter().for_each(|inner| inner.mentioned(f));
            block.results.iter().filter_map(|a| a.as_var()).for_each(&mut *f);
        }
    }

    /// Whether the statement, or one in its blocks, satisfies the condition.
    pub fn any(&self, is: &mut dyn FnMut(&Stm) -> bool) -> bool {
        is(self) || self.exp.blocks().into_iter().any(|block| block.any(is))
    }

    /// Calls `f` on the statement and on those in its blocks, outer ones first.
    pub fn each(&self, f: &mut dyn FnMut(&Stm)) {
        f(self);
        self.exp.blocks().into_iter().for_each(|block| block.each(f));
    }
}

impl Stm {
    /// Drops the statements in its blocks that `keep` rejects.
    pub fn retain_inside(&mut self, keep: &dyn Fn(&Stm) -> bool) {
        self.exp.blocks_mut().into_iter().for_each(|block| block.retain(keep));
    }

    /// Number of statements, nested ones included.
    pub fn size(&self) -> usize {
        let mut size = 0;
        self.each(&mut |_| size += 1);
        size
    }
}

impl Function {
    /// The kernels of the function and then of its library.
    pub fn kernels(&self) -> Vec<Kernel> {
        let mut kernels = Vec::new();
        self.body.each(&mut |stm| {
            if let Exp::Op(Op::Scheduled(Scheduled::Kernel(kernel))) = &stm.exp {
                kernels.push((**kernel).clone());
            }
        });
        kernels.extend(self.library.functions.iter().flatten().flat_map(Function::kernels));
        kernels
    }

    /// Whether one of its own statements is scheduled.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.body.any(&mut |stm| matches!(stm.exp, Exp::Op(Op::Scheduled(_))))
    }
}

impl Block {
    /// Whether a statement, in nested blocks too, satisfies the condition.
    pub fn any(&self, is: &mut dyn FnMut(&Stm) -> bool) -> bool {
        self.stms.iter().any(|stm| stm.any(is))
    }

    /// Calls `f` on all statements, those of nested blocks too, outer ones first.
    pub fn each(&self, f: &mut dyn FnMut(&Stm)) {
        self.stms.iter().for_each(|stm| stm.each(f));
    }

    /// Drops the statements, also in nested blocks, that `keep` rejects.
    pub fn retain(&mut self, keep: &dyn Fn(&Stm) -> bool) {
        self.stms.retain(keep);
        self.stms.iter_mut().for_each(|stm| stm.retain_inside(keep));
    }

    /// Number of statements, nested ones included.
    pub fn size(&self) -> usize {
        self.stms.iter().map(Stm::size).sum()
    }

    /// Calls `f` on every variable bound in the block, nested blocks included.
    pub fn bound(&self, f: &mut dyn FnMut(Var)) {
        self.each(&mut |stm| {
            stm.binds.iter().for_each(|p| f(p.var));
            stm.exp.bound().into_iter().for_each(&mut *f);
        });
    }
}

/// The variables that a block mentions and does not bind, in the order of their first mention.
/// Sizes in types count.
pub fn free_vars(block: &Block) -> Vec<Var> {
    let mut free = Free::default();
    free.block(block);
    free.order
}

impl Stm {
    /// The variables that the statement mentions and does not bind, in the order of their first
    /// mention. Sizes in types count.
    pub fn free_vars(&self) -> Vec<Var> {
        let mut free = Free::default();
        free.stm(self);
        free.order
    }
}

#[derive(Default)]
struct Free {
    bound: HashSet<Var>,
    seen: HashSet<Var>,
    order: Vec<Var>,
}

impl Free {
    fn atom(&mut self, atom: Atom) {
        if let Atom::Var(var) = atom
            && !self.bound.contains(&var)
            && self.seen.insert(var)
        {
            self.order.push(var);
        }
    }

    // Variables are bound once, so nothing needs to be unbound when a scope ends.
    fn block(&mut self, block: &Block) {
        block.stms.iter().for_each(|stm| self.stm(stm));
        for atom in &block.results {
            self.atom(*atom);
        }
    }

    fn stm(&mut self, stm: &Stm) {
        // The bound variables first: the sizes of a loop's parameters may mention earlier ones.
        self.bound.extend(stm.exp.bound());
        stm.exp.atoms(&mut |atom| self.atom(atom));
        for inner in stm.exp.blocks() {
            self.block(inner);
        }
        self.bound.extend(stm.binds.iter().map(|p| p.var));
        for atom in stm.binds.iter().flat_map(|p| &p.ty.dims) {
            self.atom(*atom);
        }
    }
}

/// The number of mentions of each variable in a block, nested blocks, results and sizes included.
pub fn uses(block: &Block) -> HashMap<Var, usize> {
    fn count(block: &Block, counts: &mut HashMap<Var, usize>) {
        let mut add = |atom: Atom| {
            if let Atom::Var(var) = atom {
                *counts.entry(var).or_default() += 1;
            }
        };
        for stm in &block.stms {
            stm.exp.atoms(&mut add);
            stm.binds.iter().flat_map(|p| &p.ty.dims).for_each(|a| add(*a));
        }
        block.results.iter().for_each(|a| add(*a));
        for stm in &block.stms {
            for inner in stm.exp.blocks() {
                count(inner, counts);
            }
        }
    }
    let mut counts = HashMap::new();
    count(block, &mut counts);
    counts
}

/// A substitution of atoms for variables. `copy` renames everything that a block binds, so that
/// code can be placed twice.
#[derive(Clone, Debug, Default)]
pub struct Renaming {
    map: HashMap<Var, Atom>,
}

impl Renaming {
    /// The identity.
    pub fn new() -> Renaming {
        Renaming::default()
    }

    /// `var ↦ atom`
    pub fn insert(&mut self, var: Var, atom: Atom) {
        self.map.insert(var, atom);
    }

    /// Whether it is the identity.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The image of an atom.
    pub fn atom(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Var(var) => self.map.get(&var).copied().unwrap_or(atom),
            Atom::Lit(_) => atom,
        }
    }

    /// The image of a type.
    pub fn ty(&self, ty: &Ty) -> Ty {
        Ty { elem: ty.elem, dims: ty.dims.iter().map(|a| self.atom(*a)).collect() }
    }

    /// Substitutes in place; bound variables keep their names.
    pub fn apply(&self, block: &mut Block) {
        for stm in &mut block.stms {
            self.apply_stm(stm);
        }
        block.results.iter_mut().for_each(|a| *a = self.atom(*a));
    }

    /// Substitutes in one statement, its blocks included; bound variables keep their names.
    pub fn apply_stm(&self, stm: &mut Stm) {
        stm.exp.atoms_mut(&mut |a| *a = self.atom(*a));
        stm.binds.iter_mut().flat_map(|p| &mut p.ty.dims).for_each(|a| *a = self.atom(*a));
        for inner in stm.exp.blocks_mut() {
            self.apply(inner);
        }
    }

    /// A copy of the block in which everything bound has a fresh name. The renaming grows by what
    /// the block binds at its top level.
    pub fn copy(&mut self, block: &Block, names: &mut Names) -> Block {
        self.copied(block, &mut |var| names.again(var))
    }

    /// A copy of one statement with fresh names.
    pub fn copy_stm(&mut self, stm: &Stm, names: &mut Names) -> Stm {
        self.copied_stm(stm, &mut |var| names.again(var))
    }

    /// A copy of a block of another function, whose variables have these hints.
    pub fn import(
        &mut self,
        block: &Block,
        hints: &HashMap<Var, Rc<str>>,
        names: &mut Names,
    ) -> Block {
        self.copied(block, &mut |var| names.fresh(hints[&var].clone()))
    }

    /// A copy of a block, whose variables `fresh` names.
    pub fn copied(&mut self, block: &Block, fresh: &mut dyn FnMut(Var) -> Var) -> Block {
        let stms = block.stms.iter().map(|stm| self.copied_stm(stm, fresh)).collect();
        Block { stms, results: block.results.iter().map(|a| self.atom(*a)).collect() }
    }

    fn copied_stm(&mut self, stm: &Stm, fresh: &mut dyn FnMut(Var) -> Var) -> Stm {
        let mut exp = stm.exp.clone();
        if let Exp::Nest(nest) = &mut exp {
            for var in nest.binders_mut() {
                let new = fresh(*var);
                self.insert(*var, new.into());
                *var = new;
            }
        }
        exp.atoms_mut(&mut |a| *a = self.atom(*a));
        for inner in exp.blocks_mut() {
            *inner = self.copied(inner, fresh);
        }
        let mut binds = Vec::with_capacity(stm.binds.len());
        for p in &stm.binds {
            let ty = self.ty(&p.ty);
            let var = fresh(p.var);
            self.insert(p.var, var.into());
            binds.push(Param { var, ty });
        }
        Stm { binds, exp }
    }
}
