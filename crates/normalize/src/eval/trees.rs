//! Values of recursive types at the boundary: the entry makes nodes of the rows that it takes (see
//! [`crate::shape::Table`]), in one loop, for a row stands after those that it contains. It gives
//! rows by two functions of the library for each type: `measure` says how many rows, integers and
//! reals a value takes, `write` adds them to accumulators, and each value its number to what
//! contains it.

pub(crate) mod plant;
pub(crate) mod write;

use lambada_anf::{Atom, Elem, Op, Param};
use lambada_core::TypeId;
use lambada_prim::{Prim, ScalarTy};
use lambada_source::Span;

use crate::emit::Emit;
use crate::sketch::Slot;
use crate::val::Leaf;

/// What is said where rows that have been given are not those of values.
const NOT_ROWS: &str =
    "the rows of a recursive type are not well formed: {0} is out of range for size {1}";

/// What is said of the constructor of a row, or of a variant in it, that its type does not have.
const NO_CONSTRUCTOR: &str = "the rows of a recursive type are not well formed: {0} is no constructor, these are numbered from 0, and there are {1}";

/// What is said of a row that contains itself, or one that stands behind it.
const NOT_BEFORE: &str = "the rows of a recursive type are not well formed: row {1} contains row {0}, and a row stands behind those that it contains";

/// What is said of a field that is a row of another type.
const OTHER_TYPE: &str = "the rows of a recursive type are not well formed: row {1} contains row {0}, which is of another type";

/// Rows that are taken: the columns, and their sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub tags: Atom,
    pub ints_at: Atom,
    pub reals_at: Atom,
    pub ints: Atom,
    pub reals: Atom,
    /// How many rows, integers and reals.
    pub sizes: [Atom; 3],
}

/// A value of a recursive type in the result, or an array of them.
pub(crate) struct Root {
    pub id: TypeId,
    pub handle: Leaf,
    pub extents: Vec<Atom>,
}

/// Does a slot hold reals?
fn is_real(slot: &Slot) -> bool {
    slot.elem == ScalarTy::Real
}

/// The product of sizes.
fn product(emit: &mut Emit, dims: &[Atom]) -> Atom {
    dims.iter().fold(Atom::int(1), |all, dim| emit.prim(Prim::MulInt, &[all, *dim]))
}

/// The place of an element in an array that lies at `base`, row by row.
fn linear(emit: &mut Emit, base: Atom, dims: &[Atom], at: &[Atom]) -> Atom {
    let offset = dims.iter().zip(at).fold(Atom::int(0), |offset, (dim, index)| {
        let row = emit.prim(Prim::MulInt, &[offset, *dim]);
        emit.prim(Prim::AddInt, &[row, *index])
    });
    emit.prim(Prim::AddInt, &[base, offset])
}

/// `column[place] += value`
fn add_at(emit: &mut Emit, column: &Param, place: Atom, value: Atom) {
    emit.check_in(place, column.ty.dims[0], Span::default(), NOT_ROWS);
    let op = Op::Accumulate { acc: column.var, index: vec![place], value };
    emit.push(Vec::new(), op);
}

/// A truth value as 0 or 1.
fn as_number(emit: &mut Emit, x: Atom, elem: Elem) -> Atom {
    match elem {
        Elem::Scalar(ScalarTy::Bool) => {
            emit.prim(Prim::SelectInt, &[x, Atom::int(1), Atom::int(0)])
        }
        Elem::Scalar(ScalarTy::Real | ScalarTy::Int) | Elem::Ref(_) => x,
    }
}
