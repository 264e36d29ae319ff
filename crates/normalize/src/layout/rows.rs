//! Values of recursive types as rows of arrays, and back (see [`Table`]). A row stands after the
//! rows that it contains.

use std::collections::HashMap;

use lambada_core::{Data, TypeId};
use lambada_prim::{Data as Elements, Scalar, ScalarTy, Tensor};

use super::LeafData;
use crate::shape::{Shape, Table};

/// Rows under construction.
pub(crate) struct Writer<'a> {
    table: &'a Table,
    tags: Vec<i64>,
    ints_at: Vec<i64>,
    reals_at: Vec<i64>,
    ints: Vec<i64>,
    reals: Vec<f64>,
    /// The numbers of values with rows that will be part of another value.
    inside: HashMap<*const Data, i64>,
}

impl<'a> Writer<'a> {
    pub fn new(table: &'a Table) -> Writer<'a> {
        let (tags, ints_at, reals_at) = (Vec::new(), Vec::new(), Vec::new());
        let (ints, reals) = (Vec::new(), Vec::new());
        Writer { table, tags, ints_at, reals_at, ints, reals, inside: HashMap::new() }
    }

    /// Adds the rows of a value, those of inner values first; returns its number. Uses a loop,
    /// because a value may be a million levels deep.
    pub fn add(&mut self, id: TypeId, data: &Data) -> Result<i64, String> {
        if let Some(number) = self.inside.remove(&std::ptr::from_ref(data)) {
            return Ok(number);
        }
        let mut pending = vec![(id, data, false)];
        while let Some((id, data, is_ready)) = pending.pop() {
            if is_ready {
                let number = self.add_row(id, data)?;
                self.inside.insert(data, number);
            } else {
                pending.push((id, data, true));
                self.values_in(id, data, &mut pending);
            }
        }
        self.inside.remove(&std::ptr::from_ref(data)).ok_or_else(|| "no value".to_string())
    }

    /// The values of recursive types directly in a value, not those inside them.
    fn values_in<'d>(&self, id: TypeId, data: &'d Data, found: &mut Vec<(TypeId, &'d Data, bool)>) {
        let Data::Con { name, args, .. } = data else { return };
        for (_, fields) in self.table.constructors(id).iter().filter(|(c, _)| c == name) {
            fields.iter().zip(args.iter()).for_each(|(shape, arg)| values_at(shape, arg, found));
        }
    }

    /// Adds the row of a value whose inner values have rows.
    fn add_row(&mut self, id: TypeId, data: &Data) -> Result<i64, String> {
        let Data::Con { name, args, .. } = data else {
            return Err(super::misfit(&self.names(id), data));
        };
        let constructors = self.table.constructors(id);
        let tag = super::constructor(constructors, name, args)?;
        let fields = &constructors[tag].1;
        let mut records = Vec::with_capacity(fields.len());
        for (shape, arg) in fields.iter().zip(args.iter()) {
            let mut parts = Vec::new();
            super::flatten(shape, Some(arg), &mut parts, self)?;
            let leaves = parts.into_iter().zip(shape.leaves());
            records
                .push(leaves.map(|(part, leaf)| LeafData::finish(part, &leaf)).collect::<Vec<_>>());
        }
        self.tags.push((self.table.first(id) + tag) as i64);
        self.ints_at.push(self.ints.len() as i64);
        self.reals_at.push(self.reals.len() as i64);
        fields.iter().zip(&records).for_each(|(shape, leaves)| self.record(shape, leaves, 0));
        Ok(self.tags.len() as i64)
    }

    fn names(&self, id: TypeId) -> String {
        super::quoted(self.table.constructors(id), " or ")
    }

    /// Adds a field, inside `depth` arrays.
    fn record(&mut self, shape: &Shape, leaves: &[Tensor], depth: usize) {
        match shape {
            Shape::Scalar(_) | Shape::Node(_) => match &leaves[0].data {
                Elements::Real(values) => self.reals.extend(values),
                Elements::Int(values) => self.ints.extend(values),
                Elements::Bool(_) => {
                    let values = (0..leaves[0].data.len()).map(|k| leaves[0].data.get(k).bool());
                    self.ints.extend(values.map(i64::from));
                }
            },
            Shape::Array(_, elem) => {
                self.ints.push(leaves[0].dims[depth] as i64);
                self.record(elem, leaves, depth + 1);
            }
            Shape::Tuple(_) | Shape::Record(_) => {
                self.records(shape.parts(), leaves, depth);
            }
            Shape::Variant(_) => {
                self.record(&Shape::Scalar(ScalarTy::Int), leaves, depth);
                self.records(shape.parts(), &leaves[1..], depth);
            }
        }
    }

    fn records(&mut self, shapes: Vec<&Shape>, mut leaves: &[Tensor], depth: usize) {
        for shape in shapes {
            let (own, rest) = leaves.split_at(shape.leaf_count());
            self.record(shape, own, depth);
            leaves = rest;
        }
    }

    /// The arrays.
    pub fn finish(self) -> Vec<Tensor> {
        if self.table.types.is_empty() {
            return Vec::new();
        }
        let ints =
            |values: Vec<i64>| Tensor { dims: vec![values.len()], data: Elements::Int(values) };
        vec![
            ints(self.tags),
            ints(self.ints_at),
            ints(self.reals_at),
            ints(self.ints),
            Tensor::reals(vec![self.reals.len()], self.reals),
        ]
    }
}

/// The values of recursive types in a part of a value. Misfits are reported later.
fn values_at<'d>(shape: &Shape, data: &'d Data, found: &mut Vec<(TypeId, &'d Data, bool)>) {
    match (shape, data) {
        (Shape::Node(id), data) => found.push((*id, data, false)),
        (Shape::Tuple(_), Data::Tuple(items)) => {
            shape.parts().iter().zip(items).for_each(|(t, item)| values_at(t, item, found));
        }
        (Shape::Record(_), Data::Record(fields)) => {
            let items = fields.iter().map(|(_, item)| item);
            shape.parts().iter().zip(items).for_each(|(t, item)| values_at(t, item, found));
        }
        (Shape::Array(_, elem), Data::Array(items)) => {
            items.iter().for_each(|item| values_at(elem, item, found));
        }
        (Shape::Variant(constructors), Data::Con { name, args, .. }) => {
            for (_, fields) in constructors.iter().filter(|(c, _)| c == name) {
                fields.iter().zip(args.iter()).for_each(|(t, arg)| values_at(t, arg, found));
            }
        }
        (_, _) => {}
    }
}

/// Rows under decoding: values that are not part of another value yet.
#[derive(Default)]
pub(crate) struct RowDecoder {
    values: Vec<Option<Data>>,
}

/// The position of a row's fields.
struct Cursor<'a> {
    ints: &'a Elements,
    reals: &'a Elements,
    int: usize,
    real: usize,
}

impl RowDecoder {
    /// The values of all rows.
    pub fn new(table: &Table, columns: &[Tensor]) -> RowDecoder {
        let mut reader = RowDecoder::default();
        let [tags, ints_at, reals_at, ints, reals] = columns else { return reader };
        let at = |column: &Tensor, row: usize| column.data.get(row).int() as usize;
        for row in 0..tags.dims[0] {
            let Some((_, tag, (name, fields))) = table.constructor(at(tags, row)) else { break };
            let (int, real) = (at(ints_at, row), at(reals_at, row));
            let mut cursor = Cursor { ints: &ints.data, reals: &reals.data, int, real };
            let args = fields.iter().map(|shape| {
                let mut leaves = Vec::new();
                cursor.field(shape, &mut Vec::new(), &mut leaves);
                super::build(shape, &mut leaves, &mut Vec::new(), &mut reader)
            });
            let args = args.collect::<Vec<Data>>().into();
            reader.values.push(Some(Data::Con { name: name.clone(), tag, args }));
        }
        reader
    }

    /// The value of a number; each can be taken once.
    pub fn take(&mut self, number: i64) -> Data {
        let value = self.values.get_mut((number - 1) as usize).and_then(Option::take);
        value.expect("a row is part of one value, which stands after it")
    }
}

impl Cursor<'_> {
    /// The leaves of a field, inside arrays of these sizes.
    fn field(&mut self, shape: &Shape, dims: &mut Vec<usize>, leaves: &mut Vec<Tensor>) {
        match shape {
            Shape::Scalar(elem) => leaves.push(self.leaf(*elem, dims)),
            Shape::Node(_) => leaves.push(self.leaf(ScalarTy::Int, dims)),
            Shape::Array(_, elem) => {
                dims.push(self.ints.get(self.int).int() as usize);
                self.int += 1;
                if elem.is_empty() {
                    leaves.push(super::nothing(dims));
                } else {
                    self.field(elem, dims, leaves);
                }
                dims.pop();
            }
            Shape::Tuple(_) | Shape::Record(_) | Shape::Variant(_) => {
                if let Shape::Variant(_) = shape {
                    leaves.push(self.leaf(ScalarTy::Int, dims));
                }
                shape.parts().iter().for_each(|t| self.field(t, dims, leaves));
            }
        }
    }

    fn leaf(&mut self, elem: ScalarTy, dims: &[usize]) -> Tensor {
        let count = dims.iter().product();
        let mut data = Elements::zeros(elem, count);
        for k in 0..count {
            let value = match elem {
                ScalarTy::Real => self.reals.get(self.real + k),
                ScalarTy::Int => self.ints.get(self.int + k),
                ScalarTy::Bool => Scalar::Bool(self.ints.get(self.int + k).int() != 0),
            };
            data.set(k, value);
        }
        match elem {
            ScalarTy::Real => self.real += count,
            ScalarTy::Int | ScalarTy::Bool => self.int += count,
        }
        Tensor { dims: dims.to_vec(), data }
    }
}
