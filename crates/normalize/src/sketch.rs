//! Sketches: the static part of a value that crosses into a function of the library or into a node,
//! and slots for the rest.
//!
//! A [`Sketch`] is a value without its leaves: two values with one sketch are interchangeable. Data
//! is sketched by its type, so it has one sketch; the code of a function is static, and its
//! captured values are sketched in turn. `slots` lists the scalars and arrays of scalars of a
//! sketched value, `fill` takes them from a value, `instantiate` makes a value of them, all in the
//! same order: sizes stand before the arrays that have them.

use std::rc::Rc;

use lambada_anf::{Atom, Elem, Ty, Var};
use lambada_core::Ty as CoreTy;
use lambada_prim::ScalarTy;

use crate::val::Leaf;
use crate::{Eval, ill_typed};

/// The static part of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sketch {
    /// A scalar.
    Leaf(Elem),
    /// A scalar that is always zero.
    Zero(Elem),
    /// An accumulator of scalars or arrays of scalars, inside an accumulator.
    Adds(Elem),
    /// A tuple or a record.
    Tuple(Vec<Sketch>),
    /// An array.
    Array(Box<Sketch>),
    /// A variant, with the fields of its possible constructors, and the tag if known.
    Variant { tag: Option<i64>, fields: Vec<Option<Vec<Sketch>>> },
    /// One of several closures, by the numbers of their codes, and the tag if known.
    Fun { tag: Option<i64>, alternatives: Vec<(i64, Vec<Sketch>)> },
    /// A node: a value of a recursive type, or a function that only run time knows.
    Node(CoreTy),
    /// An accumulator.
    Acc(Box<Sketch>),
}

/// A scalar or an array of scalars in a value.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// Name hint.
    pub name: Rc<str>,
    /// Its scalars.
    pub elem: Elem,
    /// Its sizes: earlier slots.
    pub dims: Vec<usize>,
    /// Its role in the value.
    pub role: Role,
    /// Whether it is a field of a variant, present for some of its constructors only.
    pub is_optional: bool,
}

/// The role of a slot in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A part of the value's data.
    Part,
    /// The size of an array.
    Size,
    /// The constructor of a variant, with the number of constructors; or the code of a function.
    Tag(Option<i64>),
}

/// The slots of some sketches.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// The values.
    pub values: Vec<Slot>,
    /// The accumulators; their sizes are among the values.
    pub accumulators: Vec<Slot>,
    /// The sizes of the enclosing arrays.
    pub axes: Vec<usize>,
    /// The number of enclosing variants.
    pub variants: usize,
}

/// The contents of slots.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    /// By slot.
    pub atoms: Vec<Atom>,
    /// By accumulator.
    pub accumulators: Vec<Var>,
    /// The sizes of the enclosing arrays.
    pub extents: Vec<Atom>,
}

/// The source of a value's leaves.
pub(crate) struct Source<'a> {
    pub atoms: &'a mut dyn Iterator<Item = Atom>,
    pub accumulators: &'a mut dyn Iterator<Item = Var>,
}

/// Whether an accumulator of such elements has a sum.
pub(crate) fn is_number(elem: Elem) -> bool {
    match elem {
        Elem::Scalar(ScalarTy::Real | ScalarTy::Int) => true,
        Elem::Scalar(ScalarTy::Bool) | Elem::Ref(_) => false,
    }
}

impl Sketch {
    /// The sketch inside an accumulator of such values: numbers become accumulators, except those
    /// in variants.
    pub fn summed(self) -> Sketch {
        match self {
            Sketch::Leaf(elem) if is_number(elem) => Sketch::Adds(elem),
            Sketch::Array(elem) => Sketch::Array(Box::new(elem.summed())),
            Sketch::Tuple(items) => Sketch::Tuple(items.into_iter().map(Sketch::summed).collect()),
            other => other,
        }
    }
}

impl Slots {
    /// Enters an array, whose size is a slot.
    pub fn enter(&mut self, name: &str) {
        let slot = self.slot(format!("{name}_size").into(), Elem::INT);
        let size = Slot { dims: Vec::new(), role: Role::Size, ..slot };
        self.axes.push(self.values.len());
        self.values.push(size);
    }

    pub fn push(&mut self, name: &str, elem: Elem) {
        self.values.push(self.slot(name.into(), elem));
    }

    /// The tag of a variant with this number of constructors, or of a function.
    pub fn push_tag(&mut self, name: &str, constructors: Option<i64>) {
        let slot = self.slot(name.into(), Elem::INT);
        self.values.push(Slot { role: Role::Tag(constructors), ..slot });
    }

    /// A slot inside the enclosing arrays and variants.
    pub fn slot(&self, name: Rc<str>, elem: Elem) -> Slot {
        let (dims, is_optional) = (self.axes.clone(), self.variants > 0);
        Slot { name, elem, dims, role: Role::Part, is_optional }
    }

    /// The type of a slot, for atoms that fill the slots.
    pub fn ty(slot: &Slot, atoms: &[Atom]) -> Ty {
        Ty { elem: slot.elem, dims: slot.dims.iter().map(|k| atoms[*k]).collect() }
    }
}

impl Source<'_> {
    /// The next leaf, inside `rank` arrays.
    pub fn leaf(&mut self, elem: Elem, rank: usize) -> Eval<Leaf> {
        let atom = self.atoms.next().ok_or_else(ill_typed)?;
        Ok(Leaf::stored(atom, rank).of(elem))
    }
}
