//! Types of Stan expressions, with sizes where they are known.

use crate::term::Term;

/// A size, if it is known.
pub type Dim = Option<Term>;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    /// A condition, which Stan has as an integer.
    Bool,
    /// An integer.
    Int,
    /// A real.
    Real,
    /// A column vector.
    Vector(Dim),
    /// A row vector.
    Row(Dim),
    /// A matrix.
    Matrix(Dim, Dim),
    /// An array.
    Array(Dim, Box<Ty>),
}

impl Ty {
    /// Number of axes.
    pub fn rank(&self) -> usize {
        match self {
            Ty::Bool | Ty::Int | Ty::Real => 0,
            Ty::Vector(_) | Ty::Row(_) => 1,
            Ty::Matrix(..) => 2,
            Ty::Array(_, elem) => 1 + elem.rank(),
        }
    }

    /// The outermost size and the type of an element.
    pub fn outer(&self) -> Option<(Dim, Ty)> {
        match self {
            Ty::Bool | Ty::Int | Ty::Real => None,
            Ty::Vector(n) | Ty::Row(n) => Some((n.clone(), Ty::Real)),
            Ty::Matrix(n, m) => Some((n.clone(), Ty::Row(m.clone()))),
            Ty::Array(n, elem) => Some((n.clone(), (**elem).clone())),
        }
    }

    /// All sizes, outermost first.
    pub fn dims(&self) -> Vec<Dim> {
        let mut dims = Vec::new();
        let mut ty = self.clone();
        while let Some((dim, elem)) = ty.outer() {
            dims.push(dim);
            ty = elem;
        }
        dims
    }

    /// The type of the numbers.
    pub fn scalar(&self) -> Ty {
        match self {
            Ty::Array(_, elem) => elem.scalar(),
            Ty::Int | Ty::Bool => self.clone(),
            Ty::Real | Ty::Vector(_) | Ty::Row(_) | Ty::Matrix(..) => Ty::Real,
        }
    }

    /// The type with its outermost size replaced.
    pub fn resized(&self, size: Dim) -> Ty {
        match self {
            Ty::Bool | Ty::Int | Ty::Real => self.clone(),
            Ty::Vector(_) => Ty::Vector(size),
            Ty::Row(_) => Ty::Row(size),
            Ty::Matrix(_, m) => Ty::Matrix(size, m.clone()),
            Ty::Array(_, elem) => Ty::Array(size, elem.clone()),
        }
    }

    /// The type with reals for integers.
    pub fn real(&self) -> Ty {
        match self {
            Ty::Bool | Ty::Int | Ty::Real => Ty::Real,
            Ty::Array(n, elem) => Ty::Array(n.clone(), Box::new(elem.real())),
            Ty::Vector(_) | Ty::Row(_) | Ty::Matrix(..) => self.clone(),
        }
    }

    /// Its name in messages.
    pub fn describe(&self) -> String {
        match self {
            Ty::Bool | Ty::Int => "an integer".into(),
            Ty::Real => "a real".into(),
            Ty::Vector(_) => "a vector".into(),
            Ty::Row(_) => "a row vector".into(),
            Ty::Matrix(..) => "a matrix".into(),
            Ty::Array(..) => "an array".into(),
        }
    }
}
