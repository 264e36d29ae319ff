//! First-order types with sizes: the shapes of entry points' parameters and results.

use std::rc::Rc;
use std::sync::Arc;

use lambada_core::{Program, Size, SizedTy, Ty, TypeId, sized};
use lambada_prim::ScalarTy;

use crate::types::Types;

/// A type without functions.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// `real`, `int`, `bool`.
    Scalar(ScalarTy),
    /// `(a, b)`.
    Tuple(Vec<Shape>),
    /// `{x : a}`, in alphabetical order.
    Record(Vec<(Arc<str>, Shape)>),
    /// `[n]a`.
    Array(Size, Arc<Shape>),
    /// The constructors with their fields.
    Variant(Arc<[Constructor]>),
    /// A value of a recursive type: the number of its row in the table of the layout, from 1.
    Node(TypeId),
}

/// The recursive types in a shape. Their values are rows. A row has a constructor, and the
/// positions of its fields among the integers and among the reals; the sizes of an array stand
/// before its elements. An enclosing value refers to a row by its number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The types with their constructors, which are numbered consecutively.
    pub types: Vec<(TypeId, Vec<Constructor>)>,
}

/// A constructor and its fields.
pub type Constructor = (Arc<str>, Vec<Shape>);

/// An array of scalars that a value consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafLayout {
    /// The path in the value: empty, or such as `.0.x` or `.Circle.0`; the tag of a variant is
    /// `.tag`.
    pub path: String,
    /// The scalars.
    pub elem: ScalarTy,
    /// The declared sizes, outermost first; empty for a scalar.
    pub dims: Vec<Size>,
}

/// Why a type has no layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    Function,
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
                    let shape = match t {
                        SizedTy::Array(size, _) if is_size(name) => Shape::size(size.clone()),
                        t => Shape::of_sized(program, t)?,
                    };
                    Ok((Arc::from(&**name), shape))
                };
                Ok(Shape::Record(fields.iter().map(field).collect::<Result<_, _>>()?))
            }
            SizedTy::Array(size, elem) => {
                Shape::array(size.clone(), Shape::of_sized(program, elem)?)
            }
            SizedTy::Fun(..) => Err(Unfit::Function),
            SizedTy::Variant(id) => Shape::of_variant(program, *id),
        }
    }

    /// The shape of a type without known sizes.
    pub(crate) fn of_ty(program: &Program, ty: &Ty) -> Result<Shape, Unfit> {
        Shape::of_sized(program, &with_any_sizes(ty))
    }

    fn of_variant(program: &Program, id: TypeId) -> Result<Shape, Unfit> {
        let types = Types::of(program);
        if !types.is_recursive(id) {
            return Ok(Shape::Variant(constructors(program, id)?.into()));
        }
        if types.is_data_inside(program, &Ty::Variant(id)) {
            Ok(Shape::Node(id))
        } else {
            Err(Unfit::Function)
        }
    }

    /// A size of a variant: an array of unit, whose leaf has one more axis, of size 0.
    fn size(size: Size) -> Shape {
        Shape::Array(size, Arc::new(Shape::Tuple(Vec::new())))
    }

    fn array(size: Size, elem: Shape) -> Result<Shape, Unfit> {
        if elem.is_empty() {
            Err(Unfit::ArrayOfNothing)
        } else {
            Ok(Shape::Array(size, Arc::new(elem)))
        }
    }

    /// The shapes of the components, or of all fields.
    pub(crate) fn parts(&self) -> Vec<&Shape> {
        match self {
            Shape::Scalar(_) | Shape::Array(..) | Shape::Node(_) => Vec::new(),
            Shape::Tuple(items) => items.iter().collect(),
            Shape::Record(fields) => fields.iter().map(|(_, t)| t).collect(),
            Shape::Variant(constructors) => constructors.iter().flat_map(|(_, t)| t).collect(),
        }
    }

    /// Whether the shape has no leaves.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Shape::Tuple(_) | Shape::Record(_))
            && self.parts().into_iter().all(Shape::is_empty)
    }

    /// The leaves in order.
    pub fn leaves(&self) -> Vec<LeafLayout> {
        let mut leaves = Vec::new();
        self.collect(String::new(), &mut Vec::new(), &mut leaves);
        leaves
    }

    /// The number of leaves.
    pub fn leaf_count(&self) -> usize {
        let own = match self {
            Shape::Array(_, elem) if elem.is_empty() => 1,
            Shape::Array(_, elem) => elem.leaf_count(),
            Shape::Scalar(_) | Shape::Node(_) | Shape::Variant(_) => 1,
            Shape::Tuple(_) | Shape::Record(_) => 0,
        };
        own + self.parts().into_iter().map(Shape::leaf_count).sum::<usize>()
    }

    fn collect(&self, path: String, dims: &mut Vec<Size>, leaves: &mut Vec<LeafLayout>) {
        let mut leaf = |path, elem, dims: &[Size]| {
            leaves.push(LeafLayout { path, elem, dims: dims.to_vec() });
        };
        match self {
            Shape::Scalar(elem) => leaf(path, *elem, dims),
            Shape::Node(_) => leaf(path, ScalarTy::Int, dims),
            Shape::Tuple(items) => items
                .iter()
                .enumerate()
                .for_each(|(k, t)| t.collect(format!("{path}.{k}"), dims, leaves)),
            Shape::Record(fields) => fields
                .iter()
                .for_each(|(name, t)| t.collect(format!("{path}.{name}"), dims, leaves)),
            Shape::Array(size, elem) => {
                dims.push(size.clone());
                if elem.is_empty() {
                    let dims = [&dims[..], &[Size::Const(0)]].concat();
                    leaf(path, ScalarTy::Bool, &dims);
                } else {
                    elem.collect(path, dims, leaves);
                }
                dims.pop();
            }
            Shape::Variant(constructors) => {
                leaf(format!("{path}.tag"), ScalarTy::Int, dims);
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

/// The type with unconstrained sizes.
fn with_any_sizes(ty: &Ty) -> SizedTy {
    let all = |types: &[Ty]| types.iter().map(with_any_sizes).collect();
    match ty {
        Ty::Scalar(elem) => SizedTy::Scalar(*elem),
        Ty::Tuple(items) => SizedTy::Tuple(all(items)),
        Ty::Record(fields) => {
            let field = |(name, ty): &(Rc<str>, Ty)| (name.clone(), with_any_sizes(ty));
            SizedTy::Record(fields.iter().map(field).collect())
        }
        Ty::Array(elem) => SizedTy::Array(Size::Any, Box::new(with_any_sizes(elem))),
        Ty::Fun(from, to) => {
            SizedTy::Fun(Box::new(with_any_sizes(from)), Box::new(with_any_sizes(to)))
        }
        Ty::Variant(id) => SizedTy::Variant(*id),
    }
}

/// Whether the label names a size of a variant.
fn is_size(label: &str) -> bool {
    sized::is_sized(std::iter::once(label))
}

impl Table {
    /// The recursive types in a shape, directly and in each other.
    pub(crate) fn of(program: &Program, shape: &Shape) -> Result<Table, Unfit> {
        let mut table = Table::default();
        let mut open = Vec::new();
        shape.nodes(&mut open);
        while let Some(id) = open.pop() {
            if table.types.iter().all(|(known, _)| *known != id) {
                let constructors = constructors(program, id)?;
                constructors.iter().flat_map(|(_, fields)| fields).for_each(|t| t.nodes(&mut open));
                table.types.push((id, constructors));
            }
        }
        Ok(table)
    }

    /// The number of the first constructor of a type.
    pub(crate) fn first(&self, id: TypeId) -> usize {
        let before = self.types.iter().take_while(|(other, _)| *other != id);
        before.map(|(_, constructors)| constructors.len()).sum()
    }

    /// The constructors of a type.
    pub(crate) fn constructors(&self, id: TypeId) -> &[Constructor] {
        let found = self.types.iter().find(|(other, _)| *other == id);
        found.map_or(&[], |(_, constructors)| constructors)
    }

    /// The constructor of a number, of any of the types.
    pub(crate) fn constructor(&self, number: usize) -> Option<(TypeId, usize, &Constructor)> {
        let all = self.types.iter().flat_map(|(id, constructors)| {
            constructors.iter().enumerate().map(|(tag, constructor)| (*id, tag, constructor))
        });
        all.into_iter().nth(number)
    }

    /// The arrays of the rows: constructors, positions among the integers and among the reals,
    /// integers (booleans are 0 or 1), reals.
    pub(crate) fn leaves(&self) -> Vec<LeafLayout> {
        let leaf = |path: &str, elem| LeafLayout { path: path.into(), elem, dims: vec![Size::Any] };
        if self.types.is_empty() {
            return Vec::new();
        }
        vec![
            leaf(".rows", ScalarTy::Int),
            leaf(".ints_at", ScalarTy::Int),
            leaf(".reals_at", ScalarTy::Int),
            leaf(".ints", ScalarTy::Int),
            leaf(".reals", ScalarTy::Real),
        ]
    }
}

impl Shape {
    /// Collects the recursive types that the shape mentions.
    fn nodes(&self, found: &mut Vec<TypeId>) {
        if let Shape::Node(id) = self {
            found.push(*id);
        }
        if let Shape::Array(_, elem) = self {
            elem.nodes(found);
        }
        self.parts().into_iter().for_each(|part| part.nodes(found));
    }
}

fn constructors(program: &Program, id: TypeId) -> Result<Vec<Constructor>, Unfit> {
    let constructors = program.type_decl(id).constructors.iter();
    let constructors = constructors.map(|(name, fields)| {
        let fields = fields.iter().map(|t| Shape::of_ty(program, t));
        Ok((Arc::from(&**name), fields.collect::<Result<_, _>>()?))
    });
    constructors.collect()
}
