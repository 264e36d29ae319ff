//! Types. Those of terms say nothing of sizes: an array carries its shape, and every equation
//! between sizes that inference could not prove is a `check` in the term (see
//! docs/decisions/types.md).

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
    /// As users see it, but for the sizes: `shape`, `list real`.
    pub name: Rc<str>,
    /// The constructors in the order of the definition; the position is the tag.
    pub constructors: Vec<(Rc<str>, Vec<Ty>)>,
    /// The names of the sizes that the type takes: then its values stand in records
    /// ([`crate::sized`]).
    pub sizes: Vec<Rc<str>>,
    /// The arguments of the constructors as the definition writes them, in terms of these sizes;
    /// empty where there are none.
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

/// A size, as far as the signature tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// `[]`: any.
    Any,
    /// `[3]`.
    Const(u64),
    /// `[n]`: a size variable or an `int` parameter.
    Var(Arc<str>),
    /// `[d*(d-1)/2]`: as text; the equation is checked by the program itself.
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
