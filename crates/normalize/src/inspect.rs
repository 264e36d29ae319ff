//! `inspect`: a value is its own parts, in front of a statement that shows them. What cannot be
//! shown, such as a function, is shown by a name.

use std::rc::Rc;
use std::sync::Arc;

use lambada_anf::{Atom, Op};
use lambada_core::data::FUNCTION;
use lambada_core::{Size, Ty, TypeId};
use lambada_source::Site;

use crate::Eval;
use crate::entry::{Results, flatten};
use crate::eval::Evaluator;
use crate::layout::Layout;
use crate::shape::{Shape, Table};
use crate::val::{Leaf, Val, VariantVal};

/// What stands for a value that contains functions or nothing in a way that has no layout.
const VALUE: &str = "<value>";

impl Evaluator<'_> {
    /// Shows a value of a type.
    pub(crate) fn inspect(&mut self, site: &Site, value: &Val, ty: &Ty) -> Eval<()> {
        let shape = self.picture(ty);
        let table = Table::of(self.program, &shape).unwrap_or_default();
        let shown = shown(&shape, value, 0);
        let (mut leaves, mut roots) = (Vec::new(), Vec::new());
        let to = &mut Results { leaves: &mut leaves, roots: &mut roots };
        flatten(self, &shape, Some(&shown), &mut Vec::new(), to)?;
        if !table.types.is_empty() {
            let (places, roots): (Vec<usize>, Vec<_>) = roots.into_iter().unzip();
            let (columns, numbers) = self.written(&table, &roots)?;
            places.into_iter().zip(numbers).for_each(|(place, number)| leaves[place] = number);
            leaves.extend(columns);
        }
        let inspection = (site.clone(), Layout::with_table(shape, table));
        let number = self.inspection_number(inspection);
        let label = site.message.as_ref().into();
        self.emit.push(Vec::new(), Op::Inspect { number, label, values: leaves });
        Ok(())
    }

    /// The number of an inspection; those of one place and type are the same.
    fn inspection_number(&mut self, inspection: (Site, Layout)) -> u32 {
        let known = self.inspections.iter().position(|other| *other == inspection);
        let number = known.unwrap_or(self.inspections.len());
        if known.is_none() {
            self.inspections.push(inspection);
        }
        number as u32
    }

    /// The shape of what is shown of a value of a type.
    fn picture(&self, ty: &Ty) -> Shape {
        match ty {
            Ty::Scalar(elem) => Shape::Scalar(*elem),
            Ty::Tuple(items) => Shape::Tuple(items.iter().map(|t| self.picture(t)).collect()),
            Ty::Record(fields) => {
                let field = |(name, t): &(Rc<str>, Ty)| (Arc::from(&**name), self.picture(t));
                Shape::Record(fields.iter().map(field).collect())
            }
            Ty::Array(elem) => {
                let elem = self.picture(elem);
                let has_leaves = !elem.leaves().is_empty();
                if has_leaves { Shape::Array(Size::Any, Arc::new(elem)) } else { named(VALUE) }
            }
            Ty::Fun(..) => named(FUNCTION),
            Ty::Variant(id) => self.variant_picture(*id),
        }
    }

    fn variant_picture(&self, id: TypeId) -> Shape {
        if !self.types.is_recursive(id) {
            let constructor = |(name, args): &(Rc<str>, Vec<Ty>)| {
                (Arc::from(&**name), args.iter().map(|t| self.picture(t)).collect())
            };
            let constructors = &self.program.type_decl(id).constructors;
            return Shape::Variant(constructors.iter().map(constructor).collect());
        }
        let node = Shape::Node(id);
        if Table::of(self.program, &node).is_ok()
            && self.types.is_data_inside(self.program, &Ty::Variant(id))
        {
            return node;
        }
        named(VALUE)
    }
}

/// The shape of what is shown by a name.
fn named(name: &str) -> Shape {
    Shape::Variant(Arc::from([(name.into(), Vec::new())]))
}

/// Whether this is the shape of what is shown by a name.
fn is_named(shape: &Shape) -> bool {
    matches!(shape, Shape::Variant(constructors) if constructors.len() == 1 && constructors[0].0.starts_with('<'))
}

/// The value with names for what is shown by one, inside of so many arrays.
fn shown(shape: &Shape, value: &Val, depth: usize) -> Val {
    if is_named(shape) {
        let tag = Leaf::same(Atom::int(0), depth);
        return Val::Variant(Rc::new(VariantVal { tag, fields: vec![Some(Vec::new())] }));
    }
    match (shape, value) {
        (Shape::Tuple(_) | Shape::Record(_), Val::Tuple(items)) => {
            let parts = crate::layout::parts(shape).into_iter().zip(items.iter());
            Val::tuple(parts.map(|(t, v)| shown(t, v, depth)).collect::<Vec<_>>())
        }
        (Shape::Array(_, elem), Val::Array(array)) => {
            Val::array(array.extent, shown(elem, &array.elem, depth + 1))
        }
        (Shape::Variant(constructors), Val::Variant(variant)) => {
            let mut fields = Vec::with_capacity(constructors.len());
            for ((_, shapes), vals) in constructors.iter().zip(&variant.fields) {
                let pairs = |vals: &Vec<Val>| {
                    shapes.iter().zip(vals).map(|(t, v)| shown(t, v, depth)).collect()
                };
                fields.push(vals.as_ref().map(pairs));
            }
            Val::Variant(Rc::new(VariantVal { tag: variant.tag.clone(), fields }))
        }
        (
            Shape::Scalar(_)
            | Shape::Tuple(_)
            | Shape::Record(_)
            | Shape::Array(..)
            | Shape::Variant(_)
            | Shape::Node(_),
            _,
        ) => value.clone(),
    }
}
