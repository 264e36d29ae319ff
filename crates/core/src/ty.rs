//! Types. Types of terms have no sizes: an array carries its shape, and every equation between
//! sizes that inference could not prove is a `check` in the term (see docs/decisions/types.md).

use std::rc::Rc;
use std::sync::Arc;

use lambada_prim::ScalarTy;

/// Index of a variant type in [`crate::Program::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// `real`, `int`, `bool`.
    Scalar(ScalarTy),
    /// `()`, `(a, b)`.
    Tuple(Rc<[Ty]>),
    /// `{x : a, y : b}`, the fields in alphabetical order.
    Record(Rc<[(Rc<str>, Ty)]>),
    /// `[]a`; a matrix is an array of arrays.
    Array(Rc<Ty>),
    /// `a -> b`.
    Fun(Rc<Ty>, Rc<Ty>),
    /// A variant type, already instantiated.
    Variant(TypeId),
}

/// A variant type, at fixed type arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeDecl {
    /// The name in the source with type arguments, without sizes: `shape`, `list real`.
    pub name: Rc<str>,
    /// The constructors in the order of the definition; the position is the tag.
    pub constructors: Vec<(Rc<str>, Vec<Ty>)>,
    /// The names of the type's sizes; if there are any, its values stand in records
    /// ([`crate::sized`]).
    pub sizes: Vec<Rc<str>>,
    /// The constructors' argument types from the definition, in terms of these sizes; empty without
    /// sizes.
    pub written: Vec<Vec<SizedTy>>,
}

/// A type with the sizes of its arrays.
#[derive(Clone, Debug, PartialEq)]
pub enum SizedTy {
    /// `real`, `int`, `bool`.
    Scalar(lambada_prim::ScalarTy),
    /// `(a, b)`.
    Tuple(Vec<SizedTy>),
    /// `{x : a}`, alphabetical.
    Record(Vec<(Rc<str>, SizedTy)>),
    /// `[n]t`.
    Array(Size, Box<SizedTy>),
    /// A function; no data has this type.
    Fun(Box<SizedTy>, Box<SizedTy>),
    /// A variant.
    Variant(TypeId),
}

/// A size in a signature.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// `[]`: unknown.
    Any,
    /// `[3]`.
    Const(u64),
    /// `[n]`: a size variable or an `int` parameter.
    Var(Arc<str>),
    /// `[d*(d-1)//2]`: as text; the program itself checks the equation.
    Expr(Arc<str>),
}

impl TypeDecl {
    /// The name with sizes after its first word: `tree [d] real`, of ` [d]`.
    pub fn name_with(&self, sizes: &str) -> String {
        let (first, rest) = self.name.split_at(self.name.find(' ').unwrap_or(self.name.len()));
        format!("{first}{sizes}{rest}")
    }
}

impl Ty {
    /// `real`
    pub const REAL: Ty = Ty::Scalar(ScalarTy::Real);
    /// `int`
    pub const INT: Ty = Ty::Scalar(ScalarTy::Int);
    /// `bool`
    pub const BOOL: Ty = Ty::Scalar(ScalarTy::Bool);

    /// `()`
    pub fn unit() -> Ty {
        Ty::Tuple(Rc::from([]))
    }

    /// `(a, b, …)`
    pub fn tuple(items: impl Into<Rc<[Ty]>>) -> Ty {
        Ty::Tuple(items.into())
    }

    /// `[]elem`
    pub fn array(elem: Ty) -> Ty {
        Ty::Array(Rc::new(elem))
    }

    /// `from -> to`
    pub fn fun(from: Ty, to: Ty) -> Ty {
        Ty::Fun(Rc::new(from), Rc::new(to))
    }

    /// The element type of an array; panics on another type.
    pub fn elem(&self) -> &Ty {
        match self {
            Ty::Array(elem) => elem,
            Ty::Scalar(_) | Ty::Tuple(_) | Ty::Record(_) | Ty::Fun(..) | Ty::Variant(_) => {
                panic!("not an array: {self:?}")
            }
        }
    }

    /// The type of one component of a tuple or field of a record; panics on another type.
    pub fn component(&self, k: usize) -> &Ty {
        match self {
            Ty::Tuple(items) => &items[k],
            Ty::Record(fields) => &fields[k].1,
            Ty::Scalar(_) | Ty::Array(_) | Ty::Fun(..) | Ty::Variant(_) => {
                panic!("not a tuple: {self:?}")
            }
        }
    }

    /// The types of the components of a tuple or of the fields of a record; panics on another type.
    pub fn components(&self) -> Vec<Ty> {
        match self {
            Ty::Tuple(items) => items.to_vec(),
            Ty::Record(fields) => fields.iter().map(|(_, ty)| ty.clone()).collect(),
            Ty::Scalar(_) | Ty::Array(_) | Ty::Fun(..) | Ty::Variant(_) => {
                panic!("not a tuple: {self:?}")
            }
        }
    }
}
