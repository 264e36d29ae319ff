//! Shapes of untyped values, from which open types of parameters are inferred.

use std::sync::Arc;

use lambada_core::Data;
use lambada_elaborate::Shape;
use lambada_prim::{ScalarTy, Tensor};
use lambada_source::stack;
use serde_json::Value;

use super::table::{Column, Table};
use super::{Inputs, Raw, bind};

/// Number of list elements inspected: enough to recognize the components of a tuple.
const LOOKED_AT: usize = 16;

/// One shape for each parameter.
pub fn shapes(names: &[&str], inputs: &Inputs) -> Vec<Shape> {
    let given = bind::by_name("", names, inputs, &mut Vec::new());
    let shape = |name: &&str| given.get(*name).map_or(Shape::Unknown, |entry| raw(&entry.value));
    names.iter().map(shape).collect()
}

/// The shape of a value.
pub(crate) fn shape_of(data: &Data) -> Shape {
    match data {
        Data::Tensor(tensor) => tensor_shape(tensor),
        Data::Tuple(items) | Data::Array(items) => list(items, shape_of),
        Data::Record(fields) => {
            let field = |(name, item): &(Arc<str>, Data)| {
                (name.to_string(), stack::deeper(|| shape_of(item)))
            };
            Shape::Record(fields.iter().map(field).collect())
        }
        Data::Con { .. } => Shape::Unknown,
    }
}

fn list<T>(items: &[T], shape: fn(&T) -> Shape) -> Shape {
    let items = items.iter().take(LOOKED_AT);
    Shape::List(items.map(|item| stack::deeper(|| shape(item))).collect())
}

/// The shape of an array of scalars.
pub(crate) fn array_shape(elem: ScalarTy, axes: usize) -> Shape {
    let elem = match elem {
        ScalarTy::Bool => Shape::Bool,
        ScalarTy::Int | ScalarTy::Real => Shape::Number,
    };
    Shape::Axes(axes, Box::new(elem))
}

fn raw(value: &Raw) -> Shape {
    match value {
        Raw::Json(value) => json(value),
        Raw::Tensor(tensor) => tensor_shape(tensor),
        Raw::Table(table) => table_shape(table),
        Raw::Foreign(_) => Shape::Unknown,
    }
}

fn tensor_shape(tensor: &Tensor) -> Shape {
    array_shape(tensor.elem(), tensor.dims.len())
}

/// The shape of a table. A table without a head could be a vector or a matrix, so it determines
/// nothing.
fn table_shape(table: &Table) -> Shape {
    if !table.head {
        return Shape::Unknown;
    }
    let column = |(name, column): &(String, Column)| {
        let shape = match column {
            Column::Numbers(tensor) => match tensor_shape(tensor) {
                Shape::Axes(axes, elem) => Shape::Axes(axes.saturating_sub(1), elem),
                other => other,
            },
            Column::Words(_) | Column::Foreign(_) => Shape::Unknown,
        };
        (name.clone(), shape)
    };
    let row = Shape::Record(table.columns.iter().map(column).collect());
    Shape::Axes(1, Box::new(row))
}

fn json(value: &Value) -> Shape {
    match value {
        Value::Null => Shape::Unknown,
        Value::Bool(_) => Shape::Bool,
        Value::Number(_) => Shape::Number,
        Value::String(word) if super::json::real(value).is_some() && !word.is_empty() => {
            Shape::Number
        }
        Value::String(_) => Shape::Unknown,
        Value::Array(items) => list(items, json),
        Value::Object(members) => {
            let member = |(name, value)| (String::clone(name), stack::deeper(|| json(value)));
            Shape::Record(members.iter().map(member).collect())
        }
    }
}
