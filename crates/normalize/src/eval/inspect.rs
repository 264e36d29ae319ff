//! `inspect`: the value itself, preceded by a statement that shows it. A part that cannot be shown,
//! such as a function, is shown as a name.

use std::rc::Rc;
use std::sync::Arc;

use lambada_anf::{Atom, Op};
use lambada_core::data::FUNCTION;
use lambada_core::{Size, Ty, TypeId};
use lambada_source::Site;

use crate::Eval;
use crate::eval::Evaluator;
use crate::eval::outputs::{Results, flatten, replaced};
use crate::layout::Layout;
use crate::shape::{Shape, Table};
use crate::val::{Leaf, Val};

/// Stand-in for a value without a layout, such as one with functions.
const VALUE: &str = "<value>";

/// Shows a value of a type.
pub(crate) fn inspect(of: &mut Evaluator, site: &Site, value: &Val, ty: &Ty) -> Eval<()> {
    let shape = picture(of, ty);
    let table = Table::of(of.program, &shape).unwrap_or_default();
    let shown = replaced(&shape, value, &mut |shape, _, extents, _| {
        let name = || Val::variant(Leaf::same(Atom::int(0), extents.len()), vec![Some(vec![])]);
        is_named(shape).then(name)
    })?;
    let mut to = Results::default();
    flatten(of, &shape, Some(&shown), &mut Vec::new(), &mut to)?;
    let leaves = to.with_rows(of, &table)?;
    let inspection = (site.clone(), Layout::with_table(shape, table));
    let number = inspection_number(of, inspection);
    let label = site.message.as_ref().into();
    of.emit.push(Vec::new(), Op::Inspect { number, label, values: leaves });
    Ok(())
}

/// The number of an inspection; inspections of one place and type share it.
fn inspection_number(of: &mut Evaluator, inspection: (Site, Layout)) -> u32 {
    let known = of.inspections.iter().position(|other| *other == inspection);
    let number = known.unwrap_or(of.inspections.len());
    if known.is_none() {
        of.inspections.push(inspection);
    }
    number as u32
}

/// The shape of the shown form of a type's values.
fn picture(of: &Evaluator, ty: &Ty) -> Shape {
    match ty {
        Ty::Scalar(elem) => Shape::Scalar(*elem),
        Ty::Tuple(items) => Shape::Tuple(items.iter().map(|t| picture(of, t)).collect()),
        Ty::Record(fields) => {
            let field = |(name, t): &(Rc<str>, Ty)| (Arc::from(&**name), picture(of, t));
            Shape::Record(fields.iter().map(field).collect())
        }
        Ty::Array(elem) => {
            let elem = picture(of, elem);
            let has_leaves = !elem.leaves().is_empty();
            if has_leaves { Shape::Array(Size::Any, Arc::new(elem)) } else { named(VALUE) }
        }
        Ty::Fun(..) => named(FUNCTION),
        Ty::Variant(id) => variant_picture(of, *id),
    }
}

fn variant_picture(of: &Evaluator, id: TypeId) -> Shape {
    if !of.types.is_recursive(id) {
        let constructor = |(name, args): &(Rc<str>, Vec<Ty>)| {
            (Arc::from(&**name), args.iter().map(|t| picture(of, t)).collect())
        };
        let constructors = &of.program.type_decl(id).constructors;
        return Shape::Variant(constructors.iter().map(constructor).collect());
    }
    let node = Shape::Node(id);
    if Table::of(of.program, &node).is_ok() && of.types.is_data_inside(of.program, &Ty::Variant(id))
    {
        return node;
    }
    named(VALUE)
}

/// The shape of a part that is shown as a name.
fn named(name: &str) -> Shape {
    Shape::Variant(Arc::from([(name.into(), Vec::new())]))
}

/// Whether this is the shape of a part that is shown as a name.
fn is_named(shape: &Shape) -> bool {
    matches!(shape, Shape::Variant(constructors) if constructors.len() == 1 && constructors[0].0.starts_with('<'))
}
