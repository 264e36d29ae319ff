//! The one place that knows all children of all constructs. Everything that walks (renaming, free variables, use counts, most
//! passes) is built from `Exp::atoms`, `Exp::blocks` and their mutable twins.

use std::collections::{HashMap, HashSet};

use crate::{Atom, Block, Exp, LoopKind, Names, Param, Stm, Ty, Var};

impl Exp {
    /// Calls `f` on every atom and variable that the expression itself mentions, not on those in its blocks. Accumulators and indexed
    /// arrays are given as atoms.
    pub fn atoms(&self, f: &mut dyn FnMut(Atom)) {
        match self {
            Exp::Prim(_, args) | Exp::Array(args) => args.iter().for_each(|a| f(*a)),
            Exp::Index(x, index) => {
                f(Atom::Var(*x));
                index.iter().for_each(|a| f(*a));
            }
            Exp::Fill(value) | Exp::Accumulator(value) => f(*value),
            Exp::Constant(_) => {}
            Exp::For { extent, .. } => f(*extent),
            Exp::Loop { params, inits, kind, .. } => {
                inits.iter().for_each(|a| f(*a));
                params.iter().flat_map(|p| &p.ty.dims).for_each(|a| f(*a));
                match kind {
                    LoopKind::For { extent, .. } => f(*extent),
                    LoopKind::While(_) => {}
                }
            }
            Exp::If { cond, .. } => f(*cond),
            Exp::Update { array, index, value } => {
                f(Atom::Var(*array));
                index.iter().for_each(|a| f(*a));
                f(*value);
            }
            Exp::MatMul(a, b) => {
                f(Atom::Var(*a));
                f(Atom::Var(*b));
            }
            Exp::Accumulate { acc, index, value } => {
                f(Atom::Var(*acc));
                index.iter().for_each(|a| f(*a));
                f(*value);
            }
            Exp::Freeze(acc) => f(Atom::Var(*acc)),
            Exp::Check { cond, values, .. } => {
                f(*cond);
                values.iter().for_each(|a| f(*a));
            }
        }
    }

    /// As `atoms`, to change them. A variable position must stay a variable.
    pub fn atoms_mut(&mut self, f: &mut dyn FnMut(&mut Atom)) {
        fn on_var(var: &mut Var, f: &mut dyn FnMut(&mut Atom)) {
            let mut atom = Atom::Var(*var);
            f(&mut atom);
            *var = atom.as_var().expect("a variable position took a constant");
        }
        match self {
            Exp::Prim(_, args) | Exp::Array(args) => args.iter_mut().for_each(f),
            Exp::Index(x, index) => {
                on_var(x, f);
                index.iter_mut().for_each(f);
            }
            Exp::Fill(value) | Exp::Accumulator(value) => f(value),
            Exp::Constant(_) => {}
            Exp::For { extent, .. } => f(extent),
            Exp::Loop { params, inits, kind, .. } => {
                inits.iter_mut().for_each(&mut *f);
                params.iter_mut().flat_map(|p| &mut p.ty.dims).for_each(&mut *f);
                match kind {
                    LoopKind::For { extent, .. } => f(extent),
                    LoopKind::While(_) => {}
                }
            }
            Exp::If { cond, .. } => f(cond),
            Exp::Update { array, index, value } => {
                on_var(array, f);
                index.iter_mut().for_each(&mut *f);
                f(value);
            }
            Exp::MatMul(a, b) => {
                on_var(a, f);
                on_var(b, f);
            }
            Exp::Accumulate { acc, index, value } => {
                on_var(acc, f);
                index.iter_mut().for_each(&mut *f);
                f(value);
            }
            Exp::Freeze(acc) => on_var(acc, f),
            Exp::Check { cond, values, .. } => {
                f(cond);
                values.iter_mut().for_each(f);
            }
        }
    }

    /// The blocks inside.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Exp::For { body, .. } | Exp::Loop { body, kind: LoopKind::For { .. }, .. } => {
                vec![body]
            }
            Exp::Loop { body, kind: LoopKind::While(cond), .. } => vec![cond, body],
            Exp::If { then, otherwise, .. } => vec![then, otherwise],
            Exp::Prim(..)
            | Exp::Index(..)
            | Exp::Fill(_)
            | Exp::Array(_)
            | Exp::Constant(_)
            | Exp::Update { .. }
            | Exp::MatMul(..)
            | Exp::Accumulator(_)
            | Exp::Accumulate { .. }
            | Exp::Freeze(_)
            | Exp::Check { .. } => Vec::new(),
        }
    }

    /// The blocks inside, to change them.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Exp::For { body, .. } | Exp::Loop { body, kind: LoopKind::For { .. }, .. } => {
                vec![body]
            }
            Exp::Loop { body, kind: LoopKind::While(cond), .. } => vec![cond, body],
            Exp::If { then, otherwise, .. } => vec![then, otherwise],
            Exp::Prim(..)
            | Exp::Index(..)
            | Exp::Fill(_)
            | Exp::Array(_)
            | Exp::Constant(_)
            | Exp::Update { .. }
            | Exp::MatMul(..)
            | Exp::Accumulator(_)
            | Exp::Accumulate { .. }
            | Exp::Freeze(_)
            | Exp::Check { .. } => Vec::new(),
        }
    }

    /// The variables that the expression binds in its blocks: indices and loop parameters.
    pub fn bound(&self) -> Vec<Var> {
        match self {
            Exp::For { index, .. } => vec![*index],
            Exp::Loop { params, kind, .. } => {
                let mut bound: Vec<Var> = params.iter().map(|p| p.var).collect();
                if let LoopKind::For { index, .. } = kind {
                    bound.push(*index);
                }
                bound
            }
            Exp::Prim(..)
            | Exp::Index(..)
            | Exp::Fill(_)
            | Exp::Array(_)
            | Exp::Constant(_)
            | Exp::If { .. }
            | Exp::Update { .. }
            | Exp::MatMul(..)
            | Exp::Accumulator(_)
            | Exp::Accumulate { .. }
            | Exp::Freeze(_)
            | Exp::Check { .. } => Vec::new(),
        }
    }
}

/// The variables that a block mentions and does not bind, in the order of their first mention. Sizes in types count.
pub fn free_vars(block: &Block) -> Vec<Var> {
    let mut free = Free::default();
    free.block(block);
    free.order
}

impl Stm {
    /// The variables that the statement mentions and does not bind, in the order of their first mention. Sizes in types count.
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
        // First what it binds: the sizes of a loop's parameters may mention earlier ones.
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

/// How often each variable is mentioned in a block, nested blocks, results and sizes included.
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

/// A substitution of atoms for variables. `copy` renames everything that a block binds, so that code can be placed twice.
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

    /// The identity?
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

    /// Substitutes in place; what the block binds keeps its names.
    pub fn apply(&self, block: &mut Block) {
        for stm in &mut block.stms {
            self.apply_stm(stm);
        }
        block.results.iter_mut().for_each(|a| *a = self.atom(*a));
    }

    /// Substitutes in one statement, its blocks included; what it binds keeps its names.
    pub fn apply_stm(&self, stm: &mut Stm) {
        stm.exp.atoms_mut(&mut |a| *a = self.atom(*a));
        stm.binds.iter_mut().flat_map(|p| &mut p.ty.dims).for_each(|a| *a = self.atom(*a));
        for inner in stm.exp.blocks_mut() {
            self.apply(inner);
        }
    }

    /// A copy of the block in which everything bound has a fresh name. The renaming grows by what the block binds at its top level.
    pub fn copy(&mut self, block: &Block, names: &mut Names) -> Block {
        let stms = block.stms.iter().map(|stm| self.copy_stm(stm, names)).collect();
        Block { stms, results: block.results.iter().map(|a| self.atom(*a)).collect() }
    }

    /// A copy of one statement with fresh names.
    pub fn copy_stm(&mut self, stm: &Stm, names: &mut Names) -> Stm {
        let mut exp = stm.exp.clone();
        self.rebind(&mut exp, names);
        exp.atoms_mut(&mut |a| *a = self.atom(*a));
        for inner in exp.blocks_mut() {
            *inner = self.copy(inner, names);
        }
        let mut binds = Vec::with_capacity(stm.binds.len());
        for p in &stm.binds {
            let ty = self.ty(&p.ty);
            let var = names.again(p.var);
            self.insert(p.var, var.into());
            binds.push(Param { var, ty });
        }
        Stm { binds, exp }
    }

    fn rebind(&mut self, exp: &mut Exp, names: &mut Names) {
        let mut rename = |var: &mut Var| {
            let new = names.again(*var);
            self.map.insert(*var, new.into());
            *var = new;
        };
        match exp {
            Exp::For { index, .. } => rename(index),
            Exp::Loop { params, kind, .. } => {
                params.iter_mut().for_each(|p| rename(&mut p.var));
                if let LoopKind::For { index, .. } = kind {
                    rename(index);
                }
            }
            Exp::Prim(..)
            | Exp::Index(..)
            | Exp::Fill(_)
            | Exp::Array(_)
            | Exp::Constant(_)
            | Exp::If { .. }
            | Exp::Update { .. }
            | Exp::MatMul(..)
            | Exp::Accumulator(_)
            | Exp::Accumulate { .. }
            | Exp::Freeze(_)
            | Exp::Check { .. } => {}
        }
    }
}
