//! Data to values and back, by the type.

use std::rc::Rc;
use std::sync::Arc;

use lambada_prim::{Data as Elements, Precision, Scalar, ScalarTy, Tensor};
use lambada_source::stack;

use super::arrays;
use super::shape::{Form, Shape};
use super::value::{Array, Value};
use crate::data::FUNCTION;
use crate::{Data, Program, Size, SizedTy, Ty, print_type, sized};

/// The value, with inner sizes from the type in its empty arrays.
pub(crate) fn with_sizes(value: Value, ty: &SizedTy) -> Value {
    match (&value, ty) {
        (Value::Tuple(items), SizedTy::Tuple(types)) => parts(items, types.iter()),
        (Value::Tuple(items), SizedTy::Record(types)) => {
            parts(items, types.iter().map(|(_, ty)| ty))
        }
        (Value::Array(array), SizedTy::Array(_, ty)) if array.items.is_empty() => {
            arrays::empty(sized_shape(array.elem.clone(), ty))
        }
        (Value::Array(array), SizedTy::Array(_, ty)) if array.items.first().is_some_and(lacks) => {
            Value::array(array.items.iter().map(|item| with_sizes(item.clone(), ty)).collect())
        }
        _ => value, // it has all its sizes
    }
}

/// Whether the value contains an empty array, which alone does not know its inner sizes. Elements
/// are regular, so the first one decides.
fn lacks(value: &Value) -> bool {
    match value {
        Value::Array(array) => array.items.first().is_none_or(lacks),
        Value::Tuple(items) => items.iter().any(lacks),
        _ => false, // a scalar, or a variant, whose type does not say sizes
    }
}

fn parts<'t>(items: &[Value], types: impl Iterator<Item = &'t SizedTy>) -> Value {
    Value::tuple(items.iter().cloned().zip(types).map(|(item, ty)| with_sizes(item, ty)).collect())
}

fn sized_shape(shape: Shape, ty: &SizedTy) -> Shape {
    let all = |shapes: Vec<Shape>, types: &mut dyn Iterator<Item = &SizedTy>| {
        shapes.into_iter().zip(types).map(|(shape, ty)| sized_shape(shape, ty)).collect()
    };
    match (shape, ty) {
        (Shape::Array(0, inner), SizedTy::Array(Size::Const(size), ty)) => {
            let size = usize::try_from(*size).unwrap_or_default();
            Shape::Array(size, Box::new(sized_shape(*inner, ty)))
        }
        (Shape::Array(size, inner), SizedTy::Array(_, ty)) => {
            Shape::Array(size, Box::new(sized_shape(*inner, ty)))
        }
        (Shape::Tuple(shapes), SizedTy::Tuple(types)) => {
            Shape::Tuple(all(shapes, &mut types.iter()))
        }
        (Shape::Tuple(shapes), SizedTy::Record(types)) => {
            Shape::Tuple(all(shapes, &mut types.iter().map(|(_, ty)| ty)))
        }
        (shape, _) => shape,
    }
}

/// Converts data to a value; the error says why it does not have the type.
pub(crate) fn to_value(program: &Program, data: &Data, ty: &Ty) -> Result<Value, String> {
    let mismatch =
        || Err(format!("a value of type {} was expected, not {data}", print_type(program, ty)));
    match (ty, data) {
        (Ty::Scalar(scalar), Data::Tensor(tensor)) => match tensor.as_scalar() {
            Some(value) if value.ty() == *scalar => Ok(program.precision.scalar(value).into()),
            _ => mismatch(),
        },
        (Ty::Array(elem), Data::Tensor(tensor)) if **elem == Ty::unit() => match &tensor.dims[..] {
            [count, 0] => Ok(units(*count)),
            _ => mismatch(),
        },
        (Ty::Array(_), Data::Tensor(tensor)) => match scalars(ty) {
            Some((rank, scalar)) if rank == tensor.dims.len() && scalar == tensor.elem() => {
                Ok(from_tensor(program.precision, tensor, &mut 0, &tensor.dims))
            }
            _ if tensor.data.is_empty() && !tensor.dims.is_empty() => {
                Ok(arrays::empty(Form::of(program, ty.elem()).empty()))
            }
            _ => mismatch(),
        },
        (Ty::Array(elem), Data::Array(items)) => {
            let form = Form::of(program, elem);
            let items: Vec<Value> =
                items.iter().map(|item| to_value(program, item, elem)).collect::<Result<_, _>>()?;
            let info = super::code::ForInfo { form, span: Default::default() };
            arrays::regular(items, &info).map_err(|failure| failure.message)
        }
        (Ty::Tuple(types), Data::Tuple(items)) if types.len() == items.len() => {
            components(program, items.iter().zip(types.iter()))
        }
        (Ty::Record(types), Data::Record(fields))
            if types.iter().map(|(name, _)| &**name).eq(fields.iter().map(|(name, _)| &**name)) =>
        {
            components(
                program,
                fields.iter().map(|(_, item)| item).zip(types.iter().map(|(_, ty)| ty)),
            )
        }
        (Ty::Variant(id), Data::Con { name: _, tag, args }) => {
            match program.type_decl(*id).constructors.get(*tag) {
                Some((_, types)) if types.len() == args.len() => {
                    let args = args.iter().zip(types);
                    let args = args.map(|(arg, ty)| stack::deeper(|| to_value(program, arg, ty)));
                    Ok(Value::con(*tag, args.collect::<Result<_, _>>()?))
                }
                _ => mismatch(),
            }
        }
        (
            Ty::Scalar(_)
            | Ty::Tuple(_)
            | Ty::Record(_)
            | Ty::Array(_)
            | Ty::Fun(..)
            | Ty::Variant(_),
            _,
        ) => mismatch(),
    }
}

/// A size of a variant: an array of units.
fn units(count: usize) -> Value {
    Value::Array(Rc::new(Array::new(vec![Value::Unit; count], Shape::Plain)))
}

fn components<'a>(
    program: &Program,
    items: impl Iterator<Item = (&'a Data, &'a Ty)>,
) -> Result<Value, String> {
    Ok(Value::tuple(items.map(|(item, ty)| to_value(program, item, ty)).collect::<Result<_, _>>()?))
}

/// Rank and scalars of an array of scalars.
fn scalars(ty: &Ty) -> Option<(usize, ScalarTy)> {
    match ty {
        Ty::Scalar(scalar) => Some((0, *scalar)),
        Ty::Array(elem) => scalars(elem).map(|(rank, scalar)| (rank + 1, scalar)),
        Ty::Tuple(_) | Ty::Record(_) | Ty::Fun(..) | Ty::Variant(_) => None,
    }
}

/// The part of a tensor that begins at `next` and has the sizes `dims`.
fn from_tensor(precision: Precision, tensor: &Tensor, next: &mut usize, dims: &[usize]) -> Value {
    let Some((size, inner)) = dims.split_first() else {
        *next += 1;
        return precision.scalar(tensor.data.get(*next - 1)).into();
    };
    let items = (0..*size).map(|_| from_tensor(precision, tensor, next, inner)).collect();
    let elem =
        inner.iter().rev().fold(Shape::Plain, |elem, size| Shape::Array(*size, Box::new(elem)));
    Value::Array(Rc::new(Array::new(items, elem)))
}

/// The data of a first-order value, without derivatives. `None` for functions.
pub(crate) fn to_data(program: &Program, value: &Value, ty: &Ty) -> Option<Data> {
    data(program, value, ty, None)
}

/// Any value as displayed to people: functions as [`FUNCTION`].
pub(crate) fn to_picture(program: &Program, value: &Value, ty: &Ty) -> Data {
    let function = Data::Con { name: FUNCTION.into(), tag: 0, args: Vec::new().into() };
    data(program, value, ty, Some(&function)).expect("functions have a picture")
}

/// `function`: the data for a function.
fn data(program: &Program, value: &Value, ty: &Ty, function: Option<&Data>) -> Option<Data> {
    match (ty, value) {
        (Ty::Fun(..), _) => function.cloned(),
        (Ty::Scalar(_), scalar) => Some(scalar.scalar().into()),
        (Ty::Array(elem), Value::Array(array)) => match scalars(ty) {
            Some((_, scalar)) => Some(Data::Tensor(to_tensor(program, value, ty, scalar))),
            None => array
                .items
                .iter()
                .map(|item| data(program, item, elem, function))
                .collect::<Option<_>>()
                .map(Data::Array),
        },
        (Ty::Tuple(types), value) => {
            let items = value.clone().into_components();
            items
                .iter()
                .zip(types.iter())
                .map(|(item, ty)| data(program, item, ty, function))
                .collect::<Option<_>>()
                .map(Data::Tuple)
        }
        (Ty::Record(types), value) => {
            let items = value.clone().into_components();
            let field = |(item, (name, ty)): (&Value, &(Rc<str>, Ty))| {
                let item = match item {
                    Value::Array(units) if sized::is_sized(std::iter::once(&**name)) => {
                        Data::units(units.items.len())
                    }
                    item => data(program, item, ty, function)?,
                };
                Some((Arc::from(&**name), item))
            };
            items.iter().zip(types.iter()).map(field).collect::<Option<_>>().map(Data::Record)
        }
        (Ty::Variant(id), Value::Con(con)) => {
            let (name, types) = &program.type_decl(*id).constructors[con.tag];
            let args = con
                .args
                .iter()
                .zip(types)
                .map(|(arg, ty)| stack::deeper(|| data(program, arg, ty, function)))
                .collect::<Option<_>>()?;
            Some(Data::Con { name: Arc::from(&**name), tag: con.tag, args })
        }
        (Ty::Array(_) | Ty::Variant(_), value) => unreachable!("ill-typed core: {value:?}"),
    }
}

fn to_tensor(program: &Program, value: &Value, ty: &Ty, scalar: ScalarTy) -> Tensor {
    let dims = Shape::of(value, &Form::of(program, ty)).dims();
    let mut tensor = Tensor { dims, data: Elements::zeros(scalar, 0) };
    for_each_scalar(value, &mut |value| push(&mut tensor.data, value));
    tensor
}

fn for_each_scalar(value: &Value, f: &mut dyn FnMut(Scalar)) {
    match value {
        Value::Array(array) => array.items.iter().for_each(|item| for_each_scalar(item, f)),
        scalar => f(scalar.scalar()),
    }
}

fn push(elements: &mut Elements, value: Scalar) {
    match elements {
        Elements::Real(items) => items.push(value.real()),
        Elements::Int(items) => items.push(value.int()),
        Elements::Bool(items) => items.push(value.bool()),
    }
}
