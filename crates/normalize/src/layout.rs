//! Data as arrays of scalars and back: `unflatten ∘ flatten = id`. A value is the list of its
//! leaves (see [`Shape::leaves`]); in an array of tuples each leaf has one more axis. The fields of
//! all constructors other than the value's own are zeros: empty, or, in an array of variants, of
//! the sizes that the other elements have, so that the array is regular.

mod rows;

use std::sync::Arc;

use lambada_core::{Data, sized};
use lambada_prim::{Data as Elements, Scalar, ScalarTy, Tensor};

use crate::shape::{Constructor, LeafLayout, Shape, Table};
use rows::{RowDecoder, Writer};

/// The conversion of values of a type to tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    shape: Shape,
    table: Table,
}

impl Layout {
    /// The layout of a shape.
    pub fn new(shape: Shape) -> Layout {
        Layout { shape, table: Table::default() }
    }

    /// The layout of a shape with recursive types.
    pub fn with_table(shape: Shape, table: Table) -> Layout {
        Layout { shape, table }
    }

    /// The recursive types of the layout.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The type, with its declared sizes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The tensors, in order.
    pub fn leaves(&self) -> Vec<LeafLayout> {
        let mut leaves = self.shape.leaves();
        leaves.extend(self.table.leaves());
        leaves
    }

    /// The tensors of a value. Sizes are compared within arrays only; the caller compares declared
    /// sizes.
    ///
    /// # Errors
    /// Values of another type, and arrays of values of different sizes; the text says which.
    pub fn flatten(&self, data: &Data) -> Result<Vec<Tensor>, String> {
        let mut parts = Vec::new();
        let mut rows = Writer::new(&self.table);
        flatten(&self.shape, Some(data), &mut parts, &mut rows)?;
        let leaves = parts.into_iter().zip(self.shape.leaves());
        let leaves = leaves.map(|(part, leaf)| part.finish(&leaf));
        Ok(leaves.chain(rows.finish()).collect())
    }

    /// The value with these tensors; takes one per leaf. Panics if there are too few.
    pub fn unflatten(&self, tensors: &mut dyn Iterator<Item = Tensor>) -> Data {
        let mut next = || tensors.next().expect("one tensor per leaf");
        if is_one_tensor(&self.shape) {
            return Data::Tensor(next());
        }
        let mut leaves: Vec<Tensor> = (0..self.shape.leaf_count()).map(|_| next()).collect();
        let columns: Vec<Tensor> = self.table.leaves().iter().map(|_| next()).collect();
        let mut rows = RowDecoder::new(&self.table, &columns);
        build(&self.shape, &mut leaves, &mut Vec::new(), &mut rows)
    }
}

/// A leaf of some value. It is absent in the fields of other constructors than the value's own,
/// where only the outer axes are known.
enum LeafData {
    Present(Tensor),
    Absent(Vec<usize>),
}

impl LeafData {
    fn finish(self, leaf: &LeafLayout) -> Tensor {
        match self {
            LeafData::Present(tensor) => tensor,
            LeafData::Absent(mut dims) => {
                dims.resize(leaf.dims.len(), 0);
                Tensor::zeros(leaf.elem, dims)
            }
        }
    }
}

fn flatten(
    shape: &Shape,
    data: Option<&Data>,
    parts: &mut Vec<LeafData>,
    rows: &mut Writer,
) -> Result<(), String> {
    let Some(data) = data else {
        parts.extend(shape.leaves().iter().map(|_| LeafData::Absent(Vec::new())));
        return Ok(());
    };
    match (shape, data) {
        (Shape::Scalar(elem), Data::Tensor(tensor)) => {
            parts.push(LeafData::Present(scalars(*elem, 0, tensor)?))
        }
        (Shape::Tuple(shapes), Data::Tuple(items)) if shapes.len() == items.len() => {
            let mut pairs = shapes.iter().zip(items);
            pairs.try_for_each(|(t, item)| flatten(t, Some(item), parts, rows))?;
        }
        (Shape::Record(shapes), Data::Record(fields))
            if shapes.iter().map(|f| &f.0).eq(fields.iter().map(|f| &f.0)) =>
        {
            let mut pairs = shapes.iter().zip(fields);
            pairs.try_for_each(|((_, t), (_, item))| flatten(t, Some(item), parts, rows))?;
        }
        (Shape::Variant(constructors), Data::Con { name, args, .. }) => {
            let tag = constructor(constructors, name, args)?;
            parts.push(LeafData::Present(Tensor::scalar(Scalar::Int(tag as i64))));
            for (c, (_, fields)) in constructors.iter().enumerate() {
                let present = |k: usize| (c == tag).then(|| &args[k]);
                fields
                    .iter()
                    .enumerate()
                    .try_for_each(|(k, t)| flatten(t, present(k), parts, rows))?;
            }
        }
        (Shape::Node(id), data) => {
            let row = rows.add(*id, data)?;
            parts.push(LeafData::Present(Tensor::scalar(Scalar::Int(row))));
        }
        (Shape::Array(_, elem), data) => flatten_array(shape, elem, data, parts, rows)?,
        (Shape::Record(shapes), Data::Con { name, .. })
            if sized::is_sized(shapes.iter().map(|(label, _)| &**label)) =>
        {
            return Err(format!(
                "`{name}` is of a type that takes sizes, and comes without them: these are found in data that is read as text, such as JSON"
            ));
        }
        (Shape::Scalar(_) | Shape::Tuple(_) | Shape::Record(_) | Shape::Variant(_), data) => {
            return Err(misfit(&describe(shape), data));
        }
    }
    Ok(())
}

/// The number of a value's constructor.
fn constructor(constructors: &[Constructor], name: &str, args: &[Data]) -> Result<usize, String> {
    let tag =
        constructors.iter().position(|(c, fields)| **c == *name && fields.len() == args.len());
    tag.ok_or_else(|| {
        format!("`{name}` with {} arguments is not a constructor of this type", args.len())
    })
}

/// The message for a value of another type.
fn misfit(expected: &str, data: &Data) -> String {
    format!("{expected} was expected, not {}", describe_data(data))
}

fn flatten_array(
    shape: &Shape,
    elem: &Shape,
    data: &Data,
    parts: &mut Vec<LeafData>,
    rows: &mut Writer,
) -> Result<(), String> {
    match (scalar_array(shape), data) {
        (None, Data::Tensor(Tensor { dims, .. })) if elem.is_empty() && dims.len() == 2 => {
            parts.push(LeafData::Present(nothing(&dims[..1])));
            Ok(())
        }
        (Some((scalar, rank)), Data::Tensor(tensor)) => {
            parts.push(LeafData::Present(scalars(scalar, rank, tensor)?));
            Ok(())
        }
        (_, Data::Array(items)) => stack(elem, items, parts, rows),
        (None, Data::Tensor(tensor)) if tensor.dims.first() == Some(&0) => {
            stack(elem, &[], parts, rows)
        }
        (_, data @ (Data::Tensor(_) | Data::Tuple(_) | Data::Record(_) | Data::Con { .. })) => {
            Err(misfit(&describe(shape), data))
        }
    }
}

/// The leaf of an empty array.
fn nothing(dims: &[usize]) -> Tensor {
    Tensor::zeros(ScalarTy::Bool, [dims, &[0]].concat())
}

/// The leaves of an array, from those of its elements.
fn stack(
    elem: &Shape,
    items: &[Data],
    parts: &mut Vec<LeafData>,
    rows: &mut Writer,
) -> Result<(), String> {
    let mut columns: Vec<Vec<LeafData>> =
        elem.leaves().iter().map(|_| Vec::with_capacity(items.len())).collect();
    for item in items {
        let mut leaves = Vec::new();
        flatten(elem, Some(item), &mut leaves, rows)?;
        columns.iter_mut().zip(leaves).for_each(|(column, leaf)| column.push(leaf));
    }
    for (column, leaf) in columns.into_iter().zip(elem.leaves()) {
        parts.push(stack_leaf(column, leaf.elem)?);
    }
    Ok(())
}

fn stack_leaf(column: Vec<LeafData>, elem: ScalarTy) -> Result<LeafData, String> {
    let count = column.len();
    let known = column.iter().find_map(|part| match part {
        LeafData::Present(tensor) => Some(tensor.dims.clone()),
        LeafData::Absent(_) => None,
    });
    let Some(dims) = known else {
        let Some(LeafData::Absent(first)) = column.first() else {
            return Ok(LeafData::Absent(vec![count]));
        };
        return Ok(LeafData::Absent([&[count], &first[..]].concat()));
    };
    let len: usize = dims.iter().product();
    let mut data = Elements::zeros(elem, count * len);
    for (k, part) in column.iter().enumerate() {
        match part {
            LeafData::Present(tensor) if tensor.dims == dims => {
                (0..len).for_each(|j| data.set(k * len + j, tensor.data.get(j)))
            }
            LeafData::Absent(leading) if dims.starts_with(leading) => {}
            LeafData::Present(Tensor { dims: other, .. }) | LeafData::Absent(other) => {
                return Err(irregular(&dims, other));
            }
        }
    }
    Ok(LeafData::Present(Tensor { dims: [&[count], &dims[..]].concat(), data }))
}

fn irregular(a: &[usize], b: &[usize]) -> String {
    let show = |dims: &[usize]| dims.iter().map(|d| format!("[{d}]")).collect::<String>();
    format!("the elements of an array have different sizes: {} and {}", show(a), show(b))
}

/// The scalar type and the rank of an array of (arrays of) scalars.
fn scalar_array(shape: &Shape) -> Option<(ScalarTy, usize)> {
    if let Shape::Array(_, elem) = shape {
        return scalar_array(elem).map(|(scalar, rank)| (scalar, rank + 1));
    }
    if let Shape::Scalar(elem) = shape { Some((*elem, 0)) } else { None }
}

/// Whether every value of the shape is a single tensor.
fn is_one_tensor(shape: &Shape) -> bool {
    scalar_array(shape).is_some()
}

fn scalars(elem: ScalarTy, rank: usize, tensor: &Tensor) -> Result<Tensor, String> {
    let mut tensor = tensor.clone();
    if tensor.data.is_empty() && tensor.dims.len() < rank && tensor.dims.last() == Some(&0) {
        tensor.dims.resize(rank, 0); // `[]` is an empty array of any rank
    }
    if tensor.elem() == elem && tensor.dims.len() == rank {
        return Ok(tensor);
    }
    let expected = "[]".repeat(rank) + &elem.to_string();
    Err(format!("`{expected}` was expected, not {}", describe_data(&Data::Tensor(tensor))))
}

fn describe(shape: &Shape) -> String {
    match shape {
        Shape::Scalar(elem) => format!("`{elem}`"),
        Shape::Tuple(items) => format!("a tuple of {}", items.len()),
        Shape::Record(fields) => format!("a record with {}", quoted(fields, ", ")),
        Shape::Array(..) => "an array".into(),
        Shape::Node(_) => "a value of a recursive type".into(),
        Shape::Variant(constructors) => quoted(constructors, " or "),
    }
}

/// The names of fields or constructors.
fn quoted<T>(named: &[(Arc<str>, T)], between: &str) -> String {
    named.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(between)
}

fn describe_data(data: &Data) -> String {
    match data {
        Data::Tensor(tensor) => format!("`{}{}`", "[]".repeat(tensor.dims.len()), tensor.elem()),
        Data::Tuple(items) => format!("a tuple of {}", items.len()),
        Data::Record(_) => "a record".into(),
        Data::Array(_) => "an array".into(),
        Data::Con { name, .. } => format!("`{name}`"),
    }
}

/// Takes the leaf and leaves an empty one.
fn taken(leaf: &mut Tensor) -> Tensor {
    std::mem::replace(leaf, Tensor { dims: Vec::new(), data: Elements::Bool(Vec::new()) })
}

/// The value at a position of the enclosing arrays. A leaf outside arrays is taken.
fn build(shape: &Shape, leaves: &mut [Tensor], at: &mut Vec<usize>, rows: &mut RowDecoder) -> Data {
    if is_one_tensor(shape) {
        return Data::Tensor(match at.is_empty() {
            true => taken(&mut leaves[0]),
            false => part(&leaves[0], at),
        });
    }
    match shape {
        Shape::Scalar(_) => Data::Tensor(part(&leaves[0], at)),
        Shape::Node(_) => rows.take(part(&leaves[0], at).data.get(0).int()),
        Shape::Tuple(shapes) => Data::Tuple(build_all(shapes.iter(), leaves, at, rows)),
        Shape::Record(fields) => {
            let values = build_all(fields.iter().map(|(_, t)| t), leaves, at, rows);
            Data::Record(fields.iter().map(|(name, _)| name.clone()).zip(values).collect())
        }
        Shape::Array(_, elem) => {
            let count = leaves[0].dims[at.len()];
            if elem.is_empty() {
                return Data::units(count);
            }
            let item = |k: usize| {
                at.push(k);
                let item = build(elem, leaves, at, rows);
                at.pop();
                item
            };
            Data::Array((0..count).map(item).collect())
        }
        Shape::Variant(constructors) => {
            let tag = part(&leaves[0], at).data.get(0).int() as usize;
            let (name, fields) = &constructors[tag];
            let before = constructors[..tag].iter().flat_map(|(_, fields)| fields);
            let before: usize = before.map(Shape::leaf_count).sum();
            Data::Con {
                name: name.clone(),
                tag,
                args: build_all(fields.iter(), &mut leaves[1 + before..], at, rows).into(),
            }
        }
    }
}

fn build_all<'a>(
    shapes: impl Iterator<Item = &'a Shape>,
    mut leaves: &mut [Tensor],
    at: &mut Vec<usize>,
    rows: &mut RowDecoder,
) -> Vec<Data> {
    let mut values = Vec::new();
    for shape in shapes {
        let (own, rest) = leaves.split_at_mut(shape.leaf_count());
        values.push(build(shape, own, at, rows));
        leaves = rest;
    }
    values
}

/// The sub-tensor at a position.
fn part(tensor: &Tensor, at: &[usize]) -> Tensor {
    if at.is_empty() {
        return tensor.clone();
    }
    let dims = tensor.dims[at.len()..].to_vec();
    let len: usize = dims.iter().product();
    let start = at.iter().zip(&tensor.dims).fold(0, |start, (k, size)| start * size + k) * len;
    let data = match &tensor.data {
        Elements::Real(v) => Elements::Real(v[start..start + len].to_vec()),
        Elements::Int(v) => Elements::Int(v[start..start + len].to_vec()),
        Elements::Bool(v) => Elements::Bool(v[start..start + len].to_vec()),
    };
    Tensor { dims, data }
}
