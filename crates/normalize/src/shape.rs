//! First-order types with sizes: the shapes of what an entry point takes and gives.

use std::rc::Rc;

use lambada_core::{Program, Size, SizedTy, Ty, TypeId};
use lambada_prim::ScalarTy;

/// A type without functions.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// `real`, `int`, `bool`.
    Scalar(ScalarTy),
    /// `(a, b)`.
    Tuple(Vec<Shape>),
    /// `{x : a}`, in alphabetical order.
    Record(Vec<(Rc<str>, Shape)>),
    /// `[n]a`.
    Array(Size, Rc<Shape>),
    /// The constructors with their fields.
    Variant(Rc<[Constructor]>),
}

/// A constructor and its fields.
pub type Constructor = (Rc<str>, Vec<Shape>);

/// An array of scalars that a value consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafLayout {
    /// Where it is in the value: empty, or such as `.0.x` or `.Circle.0`; the tag of a variant is `.tag`.
    pub path: String,
    /// The scalars.
    pub elem: ScalarTy,
    /// The sizes as far as they are declared, outermost first; empty for a scalar.
    pub dims: Vec<Size>,
}

/// Why a type has no layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    Function,
    Recursive,
    ArrayOfNothing,
}

impl Shape {
    /// The shape of a type with sizes.
    pub(crate) fn of_sized(program: &Program, ty: &SizedTy) -> Result<Shape, Unfit> {
        match ty {
            SizedTy::Scalar(elem) => Ok(Shape::Scalar(*elem)),
            SizedTy::Tuple(items) => Ok(Shape::Tuple(
                items.iter().map(|t| Shape::of_sized(program, t)).collect::<Result<_, _>>()?,
            )),
            SizedTy::Record(fields) => {
                let field = |(name, t): &(Rc<str>, SizedTy)| {
                    Ok((name.clone(), Shape::of_sized(program, t)?))
                };
                Ok(Shape::Record(fields.iter().map(field).collect::<Result<_, _>>()?))
            }
            SizedTy::Array(size, elem) => {
                Shape::array(size.clone(), Shape::of_sized(program, elem)?)
            }
            SizedTy::Fun(..) => Err(Unfit::Function),
            SizedTy::Variant(id) => Shape::of_variant(program, *id, &mut Vec::new()),
        }
    }

    /// The shape of a type of which no sizes are known.
    pub(crate) fn of_ty(program: &Program, ty: &Ty) -> Result<Shape, Unfit> {
        Shape::inside(program, ty, &mut Vec::new())
    }

    fn inside(program: &Program, ty: &Ty, around: &mut Vec<TypeId>) -> Result<Shape, Unfit> {
        match ty {
            Ty::Scalar(elem) => Ok(Shape::Scalar(*elem)),
            Ty::Tuple(items) => Ok(Shape::Tuple(
                items
                    .iter()
                    .map(|t| Shape::inside(program, t, around))
                    .collect::<Result<_, _>>()?,
            )),
            Ty::Record(fields) => {
                let mut field = |(name, t): &(Rc<str>, Ty)| {
                    Ok((name.clone(), Shape::inside(program, t, around)?))
                };
                Ok(Shape::Record(fields.iter().map(&mut field).collect::<Result<_, _>>()?))
            }
            Ty::Array(elem) => Shape::array(Size::Any, Shape::inside(program, elem, around)?),
            Ty::Fun(..) => Err(Unfit::Function),
            Ty::Variant(id) => Shape::of_variant(program, *id, around),
        }
    }

    fn of_variant(program: &Program, id: TypeId, around: &mut Vec<TypeId>) -> Result<Shape, Unfit> {
        if around.contains(&id) {
            return Err(Unfit::Recursive);
        }
        around.push(id);
        let mut constructor = |(name, fields): &(Rc<str>, Vec<Ty>)| {
            let fields = fields
                .iter()
                .map(|t| Shape::inside(program, t, around))
                .collect::<Result<_, _>>()?;
            Ok((name.clone(), fields))
        };
        let constructors = program
            .type_decl(id)
            .constructors
            .iter()
            .map(&mut constructor)
            .collect::<Result<_, _>>()?;
        around.pop();
        Ok(Shape::Variant(constructors))
    }

    fn array(size: Size, elem: Shape) -> Result<Shape, Unfit> {
        if elem.is_empty() {
            Err(Unfit::ArrayOfNothing)
        } else {
            Ok(Shape::Array(size, Rc::new(elem)))
        }
    }

    /// Has it no leaves?
    fn is_empty(&self) -> bool {
        match self {
            Shape::Scalar(_) | Shape::Array(..) | Shape::Variant(_) => false,
            Shape::Tuple(items) => items.iter().all(Shape::is_empty),
            Shape::Record(fields) => fields.iter().all(|(_, shape)| shape.is_empty()),
        }
    }

    /// The leaves in order.
    pub fn leaves(&self) -> Vec<LeafLayout> {
        let mut leaves = Vec::new();
        self.collect(String::new(), &mut Vec::new(), &mut leaves);
        leaves
    }

    fn collect(&self, path: String, dims: &mut Vec<Size>, leaves: &mut Vec<LeafLayout>) {
        match self {
            Shape::Scalar(elem) => {
                leaves.push(LeafLayout { path, elem: *elem, dims: dims.clone() })
            }
            Shape::Tuple(items) => items
                .iter()
                .enumerate()
                .for_each(|(k, t)| t.collect(format!("{path}.{k}"), dims, leaves)),
            Shape::Record(fields) => fields
                .iter()
                .for_each(|(name, t)| t.collect(format!("{path}.{name}"), dims, leaves)),
            Shape::Array(size, elem) => {
                dims.push(size.clone());
                elem.collect(path, dims, leaves);
                dims.pop();
            }
            Shape::Variant(constructors) => {
                leaves.push(LeafLayout {
                    path: format!("{path}.tag"),
                    elem: ScalarTy::Int,
                    dims: dims.clone(),
                });
                for (name, fields) in constructors.iter() {
                    fields
                        .iter()
                        .enumerate()
                        .for_each(|(k, t)| t.collect(format!("{path}.{name}.{k}"), dims, leaves));
                }
            }
        }
    }
}
