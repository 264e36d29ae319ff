//! Values of recursive types at the boundary. The entry makes nodes of its input rows (see
//! [`crate::shape::Table`]) in one loop, because a row stands after the rows that it contains. Two
//! library functions per type make the output rows: `measure` computes the numbers of rows,
//! integers and reals of a value, and `write` adds them to accumulators and returns the value's
//! number for the enclosing value.

pub(crate) mod plant;
pub(crate) mod write;

use lambada_anf::{Atom, Elem, Op, Param};
use lambada_core::TypeId;
use lambada_prim::{Prim, ScalarTy};
use lambada_source::Span;

use crate::emit::Emit;
use crate::sketch::Slot;
use crate::val::Leaf;

/// The message for malformed input rows.
const NOT_ROWS: &str =
    "the rows of a recursive type are not well formed: {0} is out of range for size {1}";

/// The message for a tag that its type does not have, of a row or of a variant in it.
const NO_CONSTRUCTOR: &str = "the rows of a recursive type are not well formed: {0} is no constructor, these are numbered from 0, and there are {1}";

/// The message for a row that contains itself or a later row.
const NOT_BEFORE: &str = "the rows of a recursive type are not well formed: row {1} contains row {0}, and a row stands behind those that it contains";

/// The message for a field that is a row of another type.
const OTHER_TYPE: &str = "the rows of a recursive type are not well formed: row {1} contains row {0}, which is of another type";

/// Input rows: the columns, and their sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub tags: Atom,
    pub ints_at: Atom,
    pub reals_at: Atom,
    pub ints: Atom,
    pub reals: Atom,
    /// The numbers of rows, integers and reals.
    pub sizes: [Atom; 3],
}

/// A value of a recursive type in the result, or an array of them.
pub(crate) struct Root {
    pub id: TypeId,
    pub handle: Leaf,
    pub extents: Vec<Atom>,
}

/// Whether a slot holds reals.
fn is_real(slot: &Slot) -> bool {
    slot.elem == ScalarTy::Real
}

/// The product of sizes.
fn product(emit: &mut Emit, dims: &[Atom]) -> Atom {
    dims.iter().fold(Atom::int(1), |all, dim| emit.prim(Prim::MulInt, &[all, *dim]))
}

/// The index of an element of an array that starts at `base`, in row-major order.
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

/// A boolean as 0 or 1.
fn as_number(emit: &mut Emit, x: Atom, elem: Elem) -> Atom {
    match elem {
        Elem::Scalar(ScalarTy::Bool) => {
            emit.prim(Prim::SelectInt, &[x, Atom::int(1), Atom::int(0)])
        }
        Elem::Scalar(ScalarTy::Real | ScalarTy::Int) | Elem::Ref(_) => x,
    }
}
