//! Values in the form that engines exchange: stored leaves by shape, and rows for values of
//! recursive types.

use lambada_anf::{Atom, Elem};
use lambada_core::Ty as CoreTy;
use lambada_prim::ScalarTy;

use super::trees::Root;
use super::trees::write;
use super::{Evaluator, slots};
use crate::Eval;
use crate::emit::Emit;
use crate::merge::zeros;
use crate::shape::{Shape, Table};
use crate::val::{Leaf, Val, part};

/// Results of the entry point or of an `inspect`, under construction.
#[derive(Default)]
pub(crate) struct Results {
    pub leaves: Vec<Atom>,
    /// Values of recursive types, each with the position of the leaf for its number.
    pub roots: Vec<(usize, Root)>,
}

impl Results {
    fn store(&mut self, emit: &mut Emit, elem: ScalarTy, leaf: Option<&Leaf>, extents: &[Atom]) {
        self.leaves.push(match leaf {
            Some(leaf) => emit.stored(leaf, extents),
            None => zeros(emit, elem.into(), &vec![true; extents.len()], extents),
        });
    }

    /// The leaves, with the rows of the values of recursive types.
    pub fn with_rows(mut self, evaluator: &mut Evaluator, table: &Table) -> Eval<Vec<Atom>> {
        if !table.types.is_empty() {
            let (places, roots): (Vec<usize>, Vec<Root>) = self.roots.into_iter().unzip();
            let (columns, numbers) = write::written(evaluator, table, &roots)?;
            places.into_iter().zip(numbers).for_each(|(k, number)| self.leaves[k] = number);
            self.leaves.extend(columns);
        }
        Ok(self.leaves)
    }
}

/// The stored leaves of a value; an absent part becomes zeros.
pub(crate) fn flatten(
    evaluator: &mut Evaluator,
    shape: &Shape,
    value: Option<&Val>,
    extents: &mut Vec<Atom>,
    to: &mut Results,
) -> Eval<()> {
    match shape {
        Shape::Scalar(elem) => {
            let leaf = part(value, Val::as_leaf)?;
            to.store(&mut evaluator.emit, *elem, leaf, extents);
        }
        Shape::Node(id) => {
            let node = slots::node_type(evaluator, &CoreTy::Variant(*id));
            let absent = || Leaf::same(Atom::int(0), extents.len()).of(Elem::Ref(node));
            let handle = part(value, Val::as_node)?.map_or_else(absent, |node| node.handle.clone());
            to.roots.push((to.leaves.len(), Root { id: *id, handle, extents: extents.clone() }));
            to.leaves.push(Atom::int(0)); // its number, later
        }
        Shape::Tuple(_) | Shape::Record(_) => {
            let items = part(value, Val::as_tuple)?;
            for (k, shape) in shape.parts().into_iter().enumerate() {
                flatten(evaluator, shape, items.map(|items| &items[k]), extents, to)?;
            }
        }
        Shape::Array(_, elem) => {
            let array = part(value, Val::as_array)?;
            extents.push(array.map_or(Atom::int(0), |array| array.extent));
            if elem.is_empty() {
                let extents = [&extents[..], &[Atom::int(0)]].concat();
                to.store(&mut evaluator.emit, ScalarTy::Bool, None, &extents);
            }
            flatten(evaluator, elem, array.map(|array| &array.elem), extents, to)?;
            extents.pop();
        }
        Shape::Variant(constructors) => {
            let variant = part(value, Val::as_variant)?;
            let tag = variant.map(|variant| &variant.tag);
            to.store(&mut evaluator.emit, ScalarTy::Int, tag, extents);
            for (c, (_, shapes)) in constructors.iter().enumerate() {
                let fields = variant.and_then(|variant| variant.fields[c].as_ref());
                for (k, shape) in shapes.iter().enumerate() {
                    flatten(evaluator, shape, fields.map(|fields| &fields[k]), extents, to)?;
                }
            }
        }
    }
    Ok(())
}

/// The substitute for a part of a value, by its shape, the sizes of the enclosing arrays, and
/// whether a variant encloses it.
pub(crate) type Instead<'f> = dyn FnMut(&Shape, &Val, &[Atom], bool) -> Option<Val> + 'f;

/// The value with substitutes for some of its parts.
pub(crate) fn replaced(shape: &Shape, value: &Val, instead: &mut Instead) -> Eval<Val> {
    replace(shape, value, &mut Vec::new(), false, instead)
}

fn replace(
    shape: &Shape,
    value: &Val,
    extents: &mut Vec<Atom>,
    is_optional: bool,
    instead: &mut Instead,
) -> Eval<Val> {
    if let Some(other) = instead(shape, value, extents, is_optional) {
        return Ok(other);
    }
    let depth = extents.len();
    extents.extend(value.as_array().ok().map(|array| array.extent));
    let is_optional = is_optional || matches!(value, Val::Variant(_));
    let mut shapes = match (shape, value) {
        (Shape::Array(_, elem), _) => vec![&**elem],
        (Shape::Variant(constructors), Val::Variant(variant)) => {
            let both = constructors.iter().zip(&variant.fields);
            both.filter(|(_, vals)| vals.is_some()).flat_map(|((_, shapes), _)| shapes).collect()
        }
        (shape, _) => shape.parts(),
    }
    .into_iter();
    let made = value.try_map(&mut |part| match shapes.next() {
        Some(shape) => replace(shape, part, extents, is_optional, instead),
        None => Ok(part.clone()),
    });
    extents.truncate(depth);
    made
}
