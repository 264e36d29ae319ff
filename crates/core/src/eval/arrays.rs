//! Operations on arrays.

mod contract;

use std::rc::Rc;

use lambada_prim::{Prim, ReduceOp, ScalarTy};
use lambada_source::Span;

use super::code::ForInfo;
use super::machine::{Run, fail};
use super::real::{apply2, combine};
use super::shape::{Form, Shape};
use super::value::{Array, Value};
pub(crate) use contract::contract;

fn out_of_range<T>(span: Span, index: i64, size: usize) -> Run<T> {
    fail(span, format!("index {index} is out of range for size {size}"))
}

/// A reference to `xs[at…]`.
pub(crate) fn index<'v>(xs: &'v Value, at: &[i64], span: Span) -> Run<&'v Value> {
    let mut found = xs;
    for &k in at {
        let items = &found.as_array().items;
        found = match usize::try_from(k).ok().and_then(|k| items.get(k)) {
            Some(item) => item,
            None => return out_of_range(span, k, items.len()),
        };
    }
    Ok(found)
}

/// The shape of an element below `depth` indices, even if there are no elements.
pub(crate) fn shape_of_element(xs: &Value, depth: usize, form: &Form) -> Shape {
    let mut found = xs;
    for before in 0..depth {
        let array = found.as_array();
        let Some(first) = array.items.first() else {
            let mut shape = array.elem.clone();
            for _ in before + 1..depth {
                shape = match shape {
                    Shape::Array(_, elem) => *elem,
                    Shape::Plain | Shape::Tuple(_) | Shape::Variant(_) => return form.empty(),
                };
            }
            return shape;
        };
        found = first;
    }
    Shape::of(found, form)
}

/// A mutable reference to `xs[at…]`; copies shared arrays on the path.
fn index_mut<'v>(xs: &'v mut Value, at: &[i64], span: Span) -> Run<&'v mut Value> {
    let mut found = xs;
    for &k in at {
        let Value::Array(array) = found else {
            unreachable!("ill-typed core: {found:?} is indexed")
        };
        let size = array.items.len();
        let k = match usize::try_from(k) {
            Ok(k) if k < size => k,
            _ => return out_of_range(span, k, size),
        };
        found = &mut Rc::make_mut(array).items[k];
    }
    Ok(found)
}

/// `xs with [at…] = value`: in place if nothing shares the array.
pub(crate) fn update(mut xs: Value, at: &[i64], value: Value, info: &ForInfo) -> Run<Value> {
    let old = index_mut(&mut xs, at, info.span)?;
    if let Err((before, now)) = Shape::of(old, &info.form).unite(Shape::of(&value, &info.form)) {
        return fail(info.span, format!("the new value has size {now}, the old one {before}"));
    }
    *old = value;
    Ok(xs)
}

/// `xs[at…] += value`
pub(crate) fn add_at(xs: &mut Value, at: &[i64], value: &Value, info: &ForInfo) -> Run<()> {
    let old = index_mut(xs, at, info.span)?;
    if let Err((before, now)) = Shape::of(old, &info.form).unite(Shape::of(value, &info.form)) {
        return fail(info.span, format!("sizes differ: {before} and {now}"));
    }
    add_in_place(old, value);
    Ok(())
}

/// Adds a value of the same shape.
fn add_in_place(old: &mut Value, value: &Value) {
    match (&mut *old, value) {
        (Value::Array(xs), Value::Array(ys)) => {
            Rc::make_mut(xs).items.iter_mut().zip(&ys.items).for_each(|(x, y)| add_in_place(x, y));
        }
        (Value::Int(_), _) => *old = apply2(Prim::AddInt, old, value),
        _ => *old = apply2(Prim::Add, old, value),
    }
}

/// An array of elements, which must have equal shapes.
pub(crate) fn regular(items: Vec<Value>, info: &ForInfo) -> Run<Value> {
    if info.form == Form::Plain {
        return Ok(Value::array(items));
    }
    let mut shapes = items.iter().map(|item| Shape::of(item, &info.form));
    let Some(mut elem) = shapes.next() else { return Ok(empty(info.form.empty())) };
    for shape in shapes {
        if let Err((a, b)) = elem.unite(shape) {
            return fail(info.span, format!("elements have different sizes: {a} and {b}"));
        }
    }
    Ok(Value::array(items))
}

/// An empty array; its elements would have this shape.
pub(crate) fn empty(elem: Shape) -> Value {
    Value::Array(Rc::new(Array::new(Vec::new(), elem)))
}

/// The size along an axis.
pub(crate) fn dim(xs: &Value, axis: usize) -> usize {
    let mut array = xs.as_array();
    for depth in 0..axis {
        match array.items.first() {
            Some(inner) => array = inner.as_array(),
            None => return array.elem.dims().get(axis - depth - 1).copied().unwrap_or(0),
        }
    }
    array.items.len()
}

/// `⊕ xs`, from the first element to the last.
pub(crate) fn reduce(op: ReduceOp, ty: ScalarTy, xs: &Value, span: Span) -> Run<Value> {
    let array = xs.as_array();
    match array.items.split_first() {
        None => Ok(fill(&array.elem, &op.unit(ty).into())),
        Some((first @ Value::Array(_), rest)) => {
            let info = ForInfo { form: form_of(first), span };
            let mut sum = first.clone();
            rest.iter().try_for_each(|row| add_at(&mut sum, &[], row, &info))?;
            Ok(sum)
        }
        Some((first, rest)) => {
            Ok(rest.iter().fold(first.clone(), |result, item| combine(op, ty, &result, item)))
        }
    }
}

/// The form of an array of scalars.
fn form_of(value: &Value) -> Form {
    match value {
        Value::Array(array) => {
            Form::Array(Box::new(array.items.first().map_or(Form::Plain, form_of)))
        }
        _ => Form::Plain,
    }
}

/// A value of a shape, all of whose scalars are equal.
fn fill(shape: &Shape, scalar: &Value) -> Value {
    match shape {
        Shape::Array(size, elem) if *size > 0 => {
            Value::array((0..*size).map(|_| fill(elem, scalar)).collect())
        }
        Shape::Array(_, elem) => empty((**elem).clone()),
        Shape::Plain | Shape::Tuple(_) | Shape::Variant(_) => scalar.clone(),
    }
}
