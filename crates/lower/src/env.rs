//! The lowered variables, and their liveness: a variable may be mentioned later in its block, after
//! the statement around that block, or in the next iteration of a loop that it is bound outside of.
//! Memory of dead variables may be overwritten.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{Atom, Block, Function, Stm, Ty, Var};
use lambada_loops::{Cell, Operand};
use lambada_source::Span;

use crate::facts::{Facts, Last};
use crate::memory::{LoweredValue, Place};
use crate::signatures::Signatures;

/// A block during lowering.
struct Frame<'a> {
    block: &'a Block,
    last: Rc<Last>,
    /// The current statement.
    at: usize,
    /// For a loop body: the blocks that the next iteration runs.
    again: Vec<Rc<Last>>,
}

/// The variables.
pub(crate) struct Env<'a> {
    source: &'a Function,
    facts: Facts<'a>,
    /// By variable.
    values: Vec<Option<LoweredValue>>,
    /// By variable: the number of blocks around the one that binds it.
    depths: Vec<usize>,
    /// The blocks during lowering, innermost last.
    frames: Vec<Frame<'a>>,
    /// By scalar that only the results of a branch mention: the cell of the `if` around.
    wanted: HashMap<Var, Cell>,
}

impl<'a> Env<'a> {
    pub(crate) fn new(source: &'a Function, signatures: &'a Signatures) -> Env<'a> {
        let count = source.names.len();
        Env {
            source,
            facts: Facts::new(source, signatures),
            values: vec![None; count],
            depths: vec![0; count],
            frames: Vec::new(),
            wanted: HashMap::new(),
        }
    }

    /// Facts about the whole function.
    pub(crate) fn facts(&self) -> &Facts<'a> {
        &self.facts
    }

    // Names and values

    pub(crate) fn hint(&self, var: Var) -> Rc<str> {
        self.source.names.hint(var)
    }

    /// The source span of a variable, if known.
    pub(crate) fn origin(&self, var: Var) -> Option<Span> {
        self.source.names.origin(var)
    }

    /// Binds a variable in the current block.
    pub(crate) fn bind(&mut self, var: Var, value: LoweredValue) {
        self.depths[var.0 as usize] = self.frames.len().saturating_sub(1);
        self.values[var.0 as usize] = Some(value);
    }

    /// The lowered form of a variable, if bound yet.
    pub(crate) fn known(&self, var: Var) -> Option<&LoweredValue> {
        self.values[var.0 as usize].as_ref()
    }

    pub(crate) fn is_bound(&self, var: Var) -> bool {
        self.known(var).is_some()
    }

    pub(crate) fn value_of(&self, var: Var) -> &LoweredValue {
        self.known(var).expect("variables are bound before they are mentioned")
    }

    pub(crate) fn value(&self, atom: Atom) -> LoweredValue {
        match atom {
            Atom::Lit(value) => LoweredValue::Scalar(Operand::Lit(value)),
            Atom::Var(var) => self.value_of(var).clone(),
        }
    }

    pub(crate) fn operand(&self, atom: Atom) -> Operand {
        match self.value(atom) {
            LoweredValue::Scalar(operand) => operand,
            LoweredValue::Array(_) | LoweredValue::Elements(_) | LoweredValue::Cell(_) => {
                unreachable!("{atom:?} is no scalar")
            }
        }
    }

    pub(crate) fn operands(&self, atoms: &[Atom]) -> Vec<Operand> {
        atoms.iter().map(|a| self.operand(*a)).collect()
    }

    pub(crate) fn place(&self, atom: Atom) -> Place {
        match self.value(atom) {
            LoweredValue::Array(place) => place,
            LoweredValue::Scalar(_) | LoweredValue::Elements(_) | LoweredValue::Cell(_) => {
                unreachable!("{atom:?} is no array in memory")
            }
        }
    }

    pub(crate) fn dims(&self, ty: &Ty) -> Rc<[Operand]> {
        ty.dims.iter().map(|d| self.operand(*d)).collect()
    }

    /// Has a result of a branch made in the cell of the `if` around, if nothing else mentions it.
    pub(crate) fn want(&mut self, result: Var, cell: Cell) {
        if self.facts.is_mentioned_once(result) {
            self.wanted.insert(result, cell);
        }
    }

    /// The cell where a scalar is wanted.
    pub(crate) fn wanted(&self, scalar: Var) -> Option<Cell> {
        self.wanted.get(&scalar).copied()
    }

    // Blocks

    /// Enters a block; `again` are the blocks of the loop whose body it is.
    pub(crate) fn enter(&mut self, block: &'a Block, again: &[&'a Block]) {
        let again = again.iter().map(|b| self.facts.last(b)).collect();
        self.frames.push(Frame { block, last: self.facts.last(block), at: 0, again });
    }

    pub(crate) fn leave(&mut self) {
        self.frames.pop();
    }

    /// Moves on to statement number `at` of the current block; after the last one come the results.
    pub(crate) fn arrive(&mut self, at: usize) {
        self.frames.last_mut().expect("a block is being lowered").at = at;
    }

    /// The statements of the current block, and the number of the current one.
    pub(crate) fn rest(&self) -> (&'a [Stm], usize) {
        let frame = self.frames.last().expect("a block is being lowered");
        (&frame.block.stms, frame.at)
    }

    /// Whether the current block binds it, or the statement that the block belongs to.
    pub(crate) fn is_here(&self, var: Var) -> bool {
        self.depth(var) == self.frames.len() - 1
    }

    /// The number of blocks around the one that binds the variable.
    fn depth(&self, var: Var) -> usize {
        self.depths[var.0 as usize]
    }

    // Liveness

    /// Whether it is mentioned after the current statement, on some path.
    pub(crate) fn is_live(&self, var: Var) -> bool {
        self.is_live_after(var, self.rest().1)
    }

    /// Whether it is mentioned after statement `at` of the current block.
    fn is_live_after(&self, var: Var, at: usize) -> bool {
        let (depth, inner) = (self.depth(var), self.frames.len() - 1);
        self.frames.iter().enumerate().skip(depth).rev().any(|(k, frame)| {
            let at = if k == inner { at } else { frame.at };
            let later = frame.last.get(&var).is_some_and(|last| *last > at);
            later || k > depth && frame.again.iter().any(|last| last.contains_key(&var))
        })
    }

    /// Whether statement `at` of the current block is the last that mentions it, on every path.
    pub(crate) fn ends_at(&self, var: Var, at: usize) -> bool {
        self.last_mention(var) == Some(at) && !self.is_live_after(var, at)
    }

    /// Whether the current or a later statement mentions it.
    pub(crate) fn is_used(&self, var: Var) -> bool {
        let frame = self.frames.last().expect("a block is being lowered");
        frame.last.get(&var).is_some_and(|last| *last >= frame.at) || self.is_live(var)
    }

    /// Whether the block mentions it.
    pub(crate) fn mentions(&self, block: &Block, var: Var) -> bool {
        self.facts.last(block).contains_key(&var)
    }

    /// The last statement of the current block that mentions it.
    pub(crate) fn last_mention(&self, var: Var) -> Option<usize> {
        self.frames.last().and_then(|frame| frame.last.get(&var).copied())
    }
}
