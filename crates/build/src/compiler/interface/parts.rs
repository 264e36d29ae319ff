//! The parts of values, as interfaces in languages with records, tuples and variants show them.

use lambada_core::{FieldOrder, sized};
use lambada_normalize::Shape;

use super::super::describe::Parts;

/// The parts of a shape, whose leaves are numbered from `next` on. `place` gives the place of a
/// leaf among the arguments or results of C.
pub(super) fn parts(
    shape: &Shape,
    order: &FieldOrder,
    next: &mut usize,
    place: &dyn Fn(usize) -> Option<usize>,
) -> Parts {
    let leaf = |next: &mut usize| {
        *next += 1;
        Parts::Leaf(place(*next - 1))
    };
    match shape {
        Shape::Scalar(_) | Shape::Node(_) => leaf(next),
        Shape::Tuple(items) => {
            Parts::Tuple(items.iter().map(|item| parts(item, order, next, place)).collect())
        }
        Shape::Record(fields) => {
            let field = |(label, field): &(std::sync::Arc<str>, Shape)| {
                (label.to_string(), parts(field, order, next, place))
            };
            let mut fields: Vec<(String, Parts)> = fields.iter().map(field).collect();
            // The sizes of a sized variant have no elements.
            if sized::is_sized(fields.iter().map(|(label, _)| &**label)) {
                let value = fields.into_iter().find(|(label, _)| label == sized::VALUE);
                return value.map_or(Parts::Leaf(None), |(_, value)| value);
            }
            order.sort(&mut fields, |(label, _)| label);
            Parts::Record(fields)
        }
        Shape::Array(..) => {
            let (mut axes, mut elem) = (0, shape);
            while let Shape::Array(_, inner) = elem {
                axes += 1;
                elem = inner;
            }
            match elem {
                Shape::Scalar(_) => leaf(next),
                _ if elem.leaves().is_empty() => leaf(next),
                _ => Parts::Array(axes, Box::new(parts(elem, order, next, place))),
            }
        }
        Shape::Variant(constructors) => {
            *next += 1;
            let tag = place(*next - 1);
            let constructors = constructors.iter().map(|(label, fields)| {
                let fields = fields.iter().map(|field| parts(field, order, next, place)).collect();
                (label.to_string(), fields)
            });
            Parts::Variant(tag, constructors.collect())
        }
    }
}

impl Parts {
    /// Whether C has something for a part of it.
    pub fn is_there(&self) -> bool {
        match self {
            Parts::Leaf(place) => place.is_some(),
            Parts::Tuple(items) => items.iter().any(Parts::is_there),
            Parts::Record(fields) => fields.iter().any(|(_, field)| field.is_there()),
            Parts::Array(_, elem) => elem.is_there(),
            Parts::Variant(tag, constructors) => {
                let mut fields = constructors.iter().flat_map(|(_, fields)| fields);
                tag.is_some() || fields.any(Parts::is_there)
            }
        }
    }

    /// The parts with other places.
    pub(super) fn moved(&self, by: usize) -> Parts {
        let all = |items: &[Parts]| items.iter().map(|item| item.moved(by)).collect();
        match self {
            Parts::Leaf(place) => Parts::Leaf(place.map(|place| place + by)),
            Parts::Tuple(items) => Parts::Tuple(all(items)),
            Parts::Record(fields) => {
                let fields = fields.iter().map(|(label, field)| (label.clone(), field.moved(by)));
                Parts::Record(fields.collect())
            }
            Parts::Array(axes, elem) => Parts::Array(*axes, Box::new(elem.moved(by))),
            Parts::Variant(tag, constructors) => {
                let constructors = constructors.iter();
                let moved = constructors.map(|(label, fields)| (label.clone(), all(fields)));
                Parts::Variant(tag.map(|tag| tag + by), moved.collect())
            }
        }
    }
}
