//! Array β: `(for i < n => b)[j] = b[i := j]`.
//!
//! Assumes: nothing. Gives: an array that is only read element by element is not made, where computing the elements at the reads costs no
//! more. Keeps: values and failures: what is copied cannot fail, and it reads what the `for` itself has read.
//!
//! It costs no more where an element is just read from elsewhere, or is cheap arithmetic and read a few times; and where the read is the
//! only one and the array the only one that its loop makes. But for the first case, each element must be read at most once by each read:
//! the loops between the `for` and the read must be those whose indices it reads at.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Exp, Function, Names, Out, Renaming, Stm, Var};
use lambada_prim::{Cost, ScalarTy};

use crate::facts::{may_not_end, pure};

/// All reads of an element together may cost this many operations.
const CHEAP: usize = 8;
/// An element of more statements is not copied at all.
const LARGE: usize = 400;

/// The pass.
pub(crate) fn array_beta(mut function: Function) -> Function {
    let mut reads = Reads::default();
    reads.block(&function.body, &mut Vec::new());
    let mut pass =
        Beta { names: &mut function.names, reads, arrays: HashMap::new(), image: Renaming::new() };
    pass.block(&mut function.body);
    for ty in &mut function.results {
        *ty = pass.image.ty(ty);
    }
    function
}

/// How each array is used.
#[derive(Default)]
struct Reads {
    /// By array: how many reads of elements.
    reads: HashMap<Var, usize>,
    /// Arrays that are also used as a whole.
    whole: HashSet<Var>,
    /// Arrays that are read in a loop whose index is not among those read at.
    repeated: HashSet<Var>,
    /// How many loops surround each binding.
    depth: HashMap<Var, usize>,
}

impl Reads {
    /// `loops`: the indices of the surrounding loops; none for a `while`.
    fn block(&mut self, block: &Block, loops: &mut Vec<Option<Var>>) {
        for stm in &block.stms {
            self.stm(stm, loops);
            stm.binds.iter().for_each(|p| _ = self.depth.insert(p.var, loops.len()));
            self.all(stm.binds.iter().flat_map(|p| p.ty.dims.iter().copied()));
        }
        self.all(block.results.iter().copied());
    }

    fn all(&mut self, atoms: impl Iterator<Item = Atom>) {
        self.whole.extend(atoms.filter_map(|a| a.as_var()));
    }

    fn stm(&mut self, stm: &Stm, loops: &mut Vec<Option<Var>>) {
        if let Exp::Index(x, index) = &stm.exp {
            *self.reads.entry(*x).or_default() += 1;
            let outer = self.depth.get(x).copied().unwrap_or(0);
            let covers = |i: &Option<Var>| i.is_some_and(|i| index.contains(&i.into()));
            if !loops[outer.min(loops.len())..].iter().all(covers) {
                self.repeated.insert(*x);
            }
        } else {
            let mut atoms = Vec::new();
            stm.exp.atoms(&mut |a| atoms.push(a));
            self.all(atoms.into_iter());
        }
        let inner = match &stm.exp {
            Exp::For { index, .. } => Some(Some(*index)),
            Exp::Loop { kind: lambada_anf::LoopKind::For { index, .. }, .. } => Some(Some(*index)),
            Exp::Loop { .. } => Some(None),
            Exp::If { .. }
            | Exp::Prim(..)
            | Exp::Index(..)
            | Exp::Fill(_)
            | Exp::Array(_)
            | Exp::Constant(_)
            | Exp::Update { .. }
            | Exp::MatMul(..)
            | Exp::Accumulator(_)
            | Exp::Accumulate { .. }
            | Exp::Freeze(_)
            | Exp::Check { .. } => None,
        };
        let depth = loops.len();
        loops.extend(inner);
        stm.exp.blocks().into_iter().for_each(|b| self.block(b, loops));
        loops.truncate(depth);
    }

    /// Is an element better computed where it is read? `only`: the loop makes nothing else.
    fn worthwhile(&self, x: Var, slice: &Block, only: bool) -> bool {
        let Some(reads) = self.reads.get(&x) else { return false };
        match cost(slice) {
            Some(0) => true,
            _ if self.whole.contains(&x) || self.repeated.contains(&x) => false,
            Some(cost) if cost * reads <= CHEAP => true,
            Some(_) | None => only && *reads == 1 && crate::facts::size(slice) <= LARGE,
        }
    }
}

/// What computes an element: the statements of the body that the result needs.
struct Element {
    index: Var,
    slice: Block,
}

struct Beta<'a> {
    names: &'a mut Names,
    reads: Reads,
    /// Arrays in scope whose elements may be computed where they are read.
    arrays: HashMap<Var, Element>,
    image: Renaming,
}

impl Beta<'_> {
    fn block(&mut self, block: &mut Block) {
        for mut stm in std::mem::take(&mut block.stms) {
            stm.exp.atoms_mut(&mut |a| *a = self.image.atom(*a));
            stm.binds.iter_mut().for_each(|p| p.ty = self.image.ty(&p.ty));
            stm.exp.blocks_mut().into_iter().for_each(|b| self.block(b));
            if let Exp::Index(x, index) = &stm.exp
                && let Some(element) = self.arrays.get(x)
            {
                let (stms, value) = place(self.names, element, index);
                self.read(&mut block.stms, stm, stms, value);
            } else {
                self.arrays(&stm);
                block.stms.push(stm);
            }
        }
        block.results.iter_mut().for_each(|a| *a = self.image.atom(*a));
    }

    /// Puts the element where it was read.
    fn read(&mut self, to: &mut Vec<Stm>, stm: Stm, element: Vec<Stm>, value: Atom) {
        let Exp::Index(_, index) = &stm.exp else { return };
        to.extend(element);
        match value {
            Atom::Var(row) if index.len() > 1 => {
                to.push(Stm { binds: stm.binds, exp: Exp::Index(row, index[1..].to_vec()) })
            }
            Atom::Var(_) | Atom::Lit(_) => self.image.insert(stm.binds[0].var, value),
        }
    }

    /// Notes the arrays that a `for` makes, if their elements may be computed elsewhere.
    fn arrays(&mut self, stm: &Stm) {
        let Exp::For { index, outs, body, .. } = &stm.exp else { return };
        let only = outs.len() == 1 && pure(stm);
        for ((p, out), result) in stm.binds.iter().zip(outs).zip(&body.results) {
            if *out == Out::Collect
                && self.reads.reads.contains_key(&p.var)
                && let Some(slice) = slice(body, *result)
                && self.reads.worthwhile(p.var, &slice, only)
            {
                self.arrays.insert(p.var, Element { index: *index, slice });
            }
        }
    }
}

fn place(names: &mut Names, element: &Element, index: &[Atom]) -> (Vec<Stm>, Atom) {
    let mut renaming = Renaming::new();
    renaming.insert(element.index, index[0]);
    let copy = renaming.copy(&element.slice, names);
    (copy.stms, copy.results[0])
}

/// The statements that a result needs; none if one of them does more than compute a value.
fn slice(body: &Block, result: Atom) -> Option<Block> {
    let mut needed: HashSet<Var> = result.as_var().into_iter().collect();
    let mut stms = Vec::new();
    for stm in body.stms.iter().rev() {
        if stm.binds.iter().any(|p| needed.contains(&p.var)) {
            if !pure(stm) || may_not_end(stm) {
                return None;
            }
            crate::facts::mentioned(stm, &mut |v| _ = needed.insert(v));
            stms.push(stm.clone());
        }
    }
    stms.reverse();
    Some(Block { stms, results: vec![result] })
}

/// How many operations an element takes, if it is cheap arithmetic; reading it from elsewhere takes none.
fn cost(slice: &Block) -> Option<usize> {
    let costs = slice.stms.iter().map(|stm| match &stm.exp {
        Exp::Prim(op, _) if op.cost() == Cost::Cheap => {
            Some(usize::from(op.result() != ScalarTy::Int))
        }
        Exp::Index(..) | Exp::Fill(_) => Some(0),
        Exp::Prim(..)
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
        | Exp::Check { .. } => None,
    });
    if slice.stms.len() <= CHEAP { costs.sum() } else { None }
}
