//! A value as arguments of C: its arrays of scalars, with names; record fields come in declared
//! order.

use lambada_core::{FieldOrder, Size, sized};
use lambada_normalize::{Layout, Shape};
use lambada_prim::ScalarTy;

/// An array of scalars, or a scalar.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// `p_x` for the field `x` of `p`.
    pub name: String,
    pub elem: ScalarTy,
    /// For each axis, the declared size and the name to use if it has none.
    pub axes: Vec<(Size, String)>,
    pub kind: LeafKind,
    /// Its index among the leaves of the layout.
    pub place: usize,
}

/// The meaning of a leaf.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LeafKind {
    /// Data of the program.
    Data,
    /// The tag of a variant: an index into these constructors.
    Tag(Vec<String>),
    /// The number of a row, from 1, which represents a value of a recursive type.
    Number,
    /// A column of the rows.
    Column,
}

impl Leaf {
    /// Whether the leaf carries derivatives.
    pub fn is_real(&self) -> bool {
        self.elem == ScalarTy::Real
    }
}

/// The leaves of a value called `name`; rows of recursive types come last.
pub(crate) fn leaves(layout: &Layout, name: &str, order: &FieldOrder) -> Vec<Leaf> {
    let mut walk = Walk { order, next: 0 };
    let mut leaves = walk.value(layout.shape(), name, &[]);
    leaves.extend(walk.columns(layout, name));
    leaves
}

/// As [`leaves`], for the components of a tuple with their names; the rows are called `rest`.
pub(crate) fn components(
    layout: &Layout,
    names: &[String],
    rest: &str,
    order: &FieldOrder,
) -> (Vec<Vec<Leaf>>, Vec<Leaf>) {
    let mut walk = Walk { order, next: 0 };
    let values = match layout.shape() {
        Shape::Tuple(items) if items.len() == names.len() => {
            items.iter().zip(names).map(|(item, name)| walk.value(item, name, &[])).collect()
        }
        shape => names.iter().take(1).map(|name| walk.value(shape, name, &[])).collect(),
    };
    let columns = walk.columns(layout, rest);
    (values, columns)
}

struct Walk<'a> {
    order: &'a FieldOrder,
    next: usize,
}

impl Walk<'_> {
    fn leaf(
        &mut self,
        name: &str,
        elem: ScalarTy,
        axes: &[(Size, String)],
        kind: LeafKind,
    ) -> Leaf {
        self.next += 1;
        Leaf { name: name.to_string(), elem, axes: axes.to_vec(), kind, place: self.next - 1 }
    }

    fn value(&mut self, shape: &Shape, name: &str, axes: &[(Size, String)]) -> Vec<Leaf> {
        match shape {
            Shape::Scalar(elem) => vec![self.leaf(name, *elem, axes, LeafKind::Data)],
            Shape::Node(_) => {
                vec![self.leaf(&format!("{name}_row"), ScalarTy::Int, axes, LeafKind::Number)]
            }
            Shape::Tuple(items) => {
                let items = items.iter().enumerate();
                items.flat_map(|(k, item)| self.value(item, &format!("{name}_{k}"), axes)).collect()
            }
            Shape::Record(fields) => {
                let mut parts: Vec<(&str, Vec<Leaf>)> = fields
                    .iter()
                    .map(|(label, t)| (&**label, self.value(t, &part_of(name, label), axes)))
                    .collect();
                self.order.sort(&mut parts, |(label, _)| label);
                parts.into_iter().flat_map(|(_, leaves)| leaves).collect()
            }
            Shape::Array(..) => self.array(shape, name, axes),
            Shape::Variant(constructors) => {
                let all = constructors.iter().map(|(label, _)| label.to_string()).collect();
                let tag = format!("{name}_tag");
                let mut leaves = vec![self.leaf(&tag, ScalarTy::Int, axes, LeafKind::Tag(all))];
                for (label, fields) in constructors.iter() {
                    let label = format!("{name}_{}", label.to_lowercase());
                    for (k, field) in fields.iter().enumerate() {
                        let part =
                            if fields.len() == 1 { label.clone() } else { format!("{label}_{k}") };
                        leaves.extend(self.value(field, &part, axes));
                    }
                }
                leaves
            }
        }
    }

    /// The leaves of nested arrays.
    fn array(&mut self, shape: &Shape, name: &str, axes: &[(Size, String)]) -> Vec<Leaf> {
        let (mut sizes, mut elem) = (Vec::new(), shape);
        while let Shape::Array(size, inner) = elem {
            sizes.push(size.clone());
            elem = inner;
        }
        let label = |k: usize| match sizes.len() {
            1 => format!("{name}_size"),
            _ => format!("{name}_size_{k}"),
        };
        let own = sizes.iter().enumerate().map(|(k, size)| (size.clone(), label(k)));
        let mut axes: Vec<(Size, String)> = axes.iter().cloned().chain(own).collect();
        if elem.leaves().is_empty() {
            axes.push((Size::Const(0), String::new()));
            return vec![self.leaf(name, ScalarTy::Bool, &axes, LeafKind::Data)];
        }
        self.value(elem, name, &axes)
    }

    fn columns(&mut self, layout: &Layout, name: &str) -> Vec<Leaf> {
        if layout.table().types.is_empty() {
            return Vec::new();
        }
        let columns = [
            ("constructors", ScalarTy::Int, "rows"),
            ("ints_at", ScalarTy::Int, "rows"),
            ("reals_at", ScalarTy::Int, "rows"),
            ("ints", ScalarTy::Int, "ints_size"),
            ("reals", ScalarTy::Real, "reals_size"),
        ];
        let column = |(part, elem, size): (&str, ScalarTy, &str)| {
            let axis = (Size::Any, format!("{name}_{size}"));
            self.leaf(&format!("{name}_{part}"), elem, &[axis], LeafKind::Column)
        };
        columns.map(column).into()
    }
}

/// The name of a record field. The sizes of a sized variant have names of their own; its value has
/// the name of the whole.
fn part_of(name: &str, label: &str) -> String {
    match label.strip_prefix('[') {
        Some(k) => format!("{name}_length{}", k.trim_start_matches('0')),
        None if label == sized::VALUE => name.to_string(),
        None => format!("{name}_{label}"),
    }
}
