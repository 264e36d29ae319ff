//! Values of recursive types as rows of arrays, and back (see [`Table`]). A row stands after those that it contains.

use lambada_core::{Data, TypeId};
use lambada_prim::{Data as Elements, Scalar, ScalarTy, Tensor};
use lambada_source::stack;

use crate::layout::{self, Part};
use crate::shape::{Shape, Table};

/// Rows that are being written.
pub(crate) struct Writer<'a> {
    table: &'a Table,
    tags: Vec<i64>,
    ints_at: Vec<i64>,
    reals_at: Vec<i64>,
    ints: Vec<i64>,
    reals: Vec<f64>,
}

impl<'a> Writer<'a> {
    pub fn new(table: &'a Table) -> Writer<'a> {
        let (tags, ints_at, reals_at) = (Vec::new(), Vec::new(), Vec::new());
        Writer { table, tags, ints_at, reals_at, ints: Vec::new(), reals: Vec::new() }
    }

    /// Adds the rows of a value; gives its number.
    pub fn add(&mut self, id: TypeId, data: &Data) -> Result<i64, String> {
        let Data::Con { name, args, .. } = data else {
            return Err(layout::misfit(&self.names(id), data));
        };
        let constructors = self.table.constructors(id);
        let tag = layout::constructor(constructors, name, args)?;
        let fields = &constructors[tag].1;
        let mut records = Vec::with_capacity(fields.len());
        for (shape, arg) in fields.iter().zip(args) {
            let mut parts = Vec::new();
            stack::deeper(|| layout::flatten(shape, Some(arg), &mut parts, self))?;
            let leaves = parts.into_iter().zip(shape.leaves());
            records.push(leaves.map(|(part, leaf)| Part::finish(part, &leaf)).collect::<Vec<_>>());
        }
        self.tags.push((self.table.first(id) + tag) as i64);
        self.ints_at.push(self.ints.len() as i64);
        self.reals_at.push(self.reals.len() as i64);
        fields.iter().zip(&records).for_each(|(shape, leaves)| self.record(shape, leaves, 0));
        Ok(self.tags.len() as i64)
    }

    fn names(&self, id: TypeId) -> String {
        let names = self.table.constructors(id).iter().map(|(name, _)| format!("`{name}`"));
        names.collect::<Vec<_>>().join(" or ")
    }

    /// Adds a field, inside of `depth` arrays.
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
                self.records(layout::parts(shape), leaves, depth);
            }
            Shape::Variant(_) => {
                self.record(&Shape::Scalar(ScalarTy::Int), leaves, depth);
                self.records(layout::parts(shape), &leaves[1..], depth);
            }
        }
    }

    fn records(&mut self, shapes: Vec<&Shape>, mut leaves: &[Tensor], depth: usize) {
        for shape in shapes {
            let (own, rest) = leaves.split_at(shape.leaves().len());
            self.record(shape, own, depth);
            leaves = rest;
        }
    }

    /// The arrays.
    pub fn finish(self) -> Vec<Tensor> {
        if self.table.types.is_empty() {
            return Vec::new();
        }
        let ints = |values: Vec<i64>| Tensor { dims: vec![values.len()], data: Elements::Int(values) };
        vec![
            ints(self.tags),
            ints(self.ints_at),
            ints(self.reals_at),
            ints(self.ints),
            Tensor::reals(vec![self.reals.len()], self.reals),
        ]
    }
}

/// Rows that are read: the values that are not part of another one yet.
#[derive(Default)]
pub(crate) struct Reader {
    values: Vec<Option<Data>>,
}

/// Where the fields of a row are.
struct Cursor<'a> {
    ints: &'a Elements,
    reals: &'a Elements,
    int: usize,
    real: usize,
}

impl Reader {
    /// The values of all rows.
    pub fn new(table: &Table, columns: &[Tensor]) -> Reader {
        let mut reader = Reader::default();
        let [tags, ints_at, reals_at, ints, reals] = columns else { return reader };
        let at = |column: &Tensor, row: usize| column.data.get(row).int() as usize;
        for row in 0..tags.dims[0] {
            let Some((_, tag, (name, fields))) = table.constructor(at(tags, row)) else { break };
            let (int, real) = (at(ints_at, row), at(reals_at, row));
            let mut cursor = Cursor { ints: &ints.data, reals: &reals.data, int, real };
            let args = fields.iter().map(|shape| {
                let mut leaves = Vec::new();
                cursor.field(shape, &mut Vec::new(), &mut leaves);
                layout::build(shape, &leaves, &mut Vec::new(), &mut reader)
            });
            let args = args.collect();
            reader.values.push(Some(Data::Con { name: name.clone(), tag, args }));
        }
        reader
    }

    /// The value of a number; each is taken once.
    pub fn take(&mut self, number: i64) -> Data {
        let value = self.values.get_mut((number - 1) as usize).and_then(Option::take);
        value.expect("a row is part of one value, which stands after it")
    }
}

impl Cursor<'_> {
    /// The leaves of a field, inside of arrays of these sizes.
    fn field(&mut self, shape: &Shape, dims: &mut Vec<usize>, leaves: &mut Vec<Tensor>) {
        match shape {
            Shape::Scalar(elem) => leaves.push(self.leaf(*elem, dims)),
            Shape::Node(_) => leaves.push(self.leaf(ScalarTy::Int, dims)),
            Shape::Array(_, elem) => {
                dims.push(self.ints.get(self.int).int() as usize);
                self.int += 1;
                self.field(elem, dims, leaves);
                dims.pop();
            }
            Shape::Tuple(_) | Shape::Record(_) => {
                layout::parts(shape).iter().for_each(|t| self.field(t, dims, leaves));
            }
            Shape::Variant(_) => {
                leaves.push(self.leaf(ScalarTy::Int, dims));
                layout::parts(shape).iter().for_each(|t| self.field(t, dims, leaves));
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
