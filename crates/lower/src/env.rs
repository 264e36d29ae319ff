//! What the variables stand for, and who mentions them again: later in their block, after the
//! statement around that block, or in the next iteration of a loop that they are bound outside of.
//! What nobody mentions again may be overwritten.

use std::rc::Rc;

use lambada_anf::{Atom, Block, Function, Stm, Ty, Var};
use lambada_loops::Operand;
use lambada_source::Span;

use crate::facts::{Facts, Last};
use crate::memory::{Place, Value};
use crate::signatures::Signatures;

/// A block that is being lowered.
struct Frame<'a> {
    block: &'a Block,
    last: Rc<Last>,
    /// The statement that is being lowered.
    at: usize,
    /// Of a loop: the blocks that run again.
    again: Vec<Rc<Last>>,
}

/// The variables.
pub(crate) struct Env<'a> {
    source: &'a Function,
    facts: Facts<'a>,
    /// By variable.
    values: Vec<Option<Value>>,
    /// By variable: how many blocks are around the one that binds it.
    depths: Vec<usize>,
    /// The blocks that are being lowered, innermost last.
    frames: Vec<Frame<'a>>,
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
        }
    }

    /// What is known of the function as a whole.
    pub(crate) fn facts(&self) -> &Facts<'a> {
        &self.facts
    }

    // Names and values

    pub(crate) fn hint(&self, var: Var) -> Rc<str> {
        self.source.names.hint(var)
    }

    /// The place in the program that a variable comes from, if it is known.
    pub(crate) fn origin(&self, var: Var) -> Option<Span> {
        self.source.names.origin(var)
    }

    /// Binds a variable in the current block.
    pub(crate) fn bind(&mut self, var: Var, value: Value) {
        self.depths[var.0 as usize] = self.frames.len().saturating_sub(1);
        self.values[var.0 as usize] = Some(value);
    }

    /// What a variable stands for, if it has been bound yet.
    pub(crate) fn known(&self, var: Var) -> Option<&Value> {
        self.values[var.0 as usize].as_ref()
    }

    pub(crate) fn is_bound(&self, var: Var) -> bool {
        self.known(var).is_some()
    }

    pub(crate) fn value_of(&self, var: Var) -> &Value {
        self.known(var).expect("variables are bound before they are mentioned")
    }

    pub(crate) fn value(&self, atom: Atom) -> Value {
        match atom {
            Atom::Lit(value) => Value::Scalar(Operand::Lit(value)),
            Atom::Var(var) => self.value_of(var).clone(),
        }
    }

    pub(crate) fn operand(&self, atom: Atom) -> Operand {
        match self.value(atom) {
            Value::Scalar(operand) => operand,
            Value::Array(_) | Value::Elements(_) | Value::Cell(_) => {
                unreachable!("{atom:?} is no scalar")
            }
        }
    }

    pub(crate) fn operands(&self, atoms: &[Atom]) -> Vec<Operand> {
        atoms.iter().map(|a| self.operand(*a)).collect()
    }

    pub(crate) fn place(&self, atom: Atom) -> Place {
        match self.value(atom) {
            Value::Array(place) => place,
            Value::Scalar(_) | Value::Elements(_) | Value::Cell(_) => {
                unreachable!("{atom:?} is no array in memory")
            }
        }
    }

    pub(crate) fn dims(&self, ty: &Ty) -> Rc<[Operand]> {
        ty.dims.iter().map(|d| self.operand(*d)).collect()
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

    /// The statement of the current block with this number is lowered next; after the last one come
    /// the results.
    pub(crate) fn arrive(&mut self, at: usize) {
        self.frames.last_mut().expect("a block is being lowered").at = at;
    }

    /// The statements of the current block, and the number of the current one.
    pub(crate) fn rest(&self) -> (&'a [Stm], usize) {
        let frame = self.frames.last().expect("a block is being lowered");
        (&frame.block.stms, frame.at)
    }

    /// Does the current block bind it, or its statement for it?
    pub(crate) fn is_here(&self, var: Var) -> bool {
        self.depth(var) == self.frames.len() - 1
    }

    /// How many blocks are around the one that binds the variable.
    fn depth(&self, var: Var) -> usize {
        self.depths[var.0 as usize]
    }

    // Liveness

    /// Whether it is mentioned again after the current statement, on some path.
    pub(crate) fn is_live(&self, var: Var) -> bool {
        self.is_live_after(var, self.rest().1)
    }

    /// Whether it is mentioned again after the given statement of the current block.
    fn is_live_after(&self, var: Var, at: usize) -> bool {
        let (depth, inner) = (self.depth(var), self.frames.len() - 1);
        self.frames.iter().enumerate().skip(depth).rev().any(|(k, frame)| {
            let at = if k == inner { at } else { frame.at };
            let later = frame.last.get(&var).is_some_and(|last| *last > at);
            later || k > depth && frame.again.iter().any(|last| last.contains_key(&var))
        })
    }

    /// Is the given statement of the current block the last that mentions it, on every path?
    pub(crate) fn ends_at(&self, var: Var, at: usize) -> bool {
        self.last_mention(var) == Some(at) && !self.is_live_after(var, at)
    }

    /// Whether it is mentioned by the current statement or after it.
    pub(crate) fn is_used(&self, var: Var) -> bool {
        let frame = self.frames.last().expect("a block is being lowered");
        frame.last.get(&var).is_some_and(|last| *last >= frame.at) || self.is_live(var)
    }

    /// Does the block mention it anywhere?
    pub(crate) fn mentions(&self, block: &Block, var: Var) -> bool {
        self.facts.last(block).contains_key(&var)
    }

    /// Where the current block mentions it last.
    pub(crate) fn last_mention(&self, var: Var) -> Option<usize> {
        self.frames.last().and_then(|frame| frame.last.get(&var).copied())
    }
}
