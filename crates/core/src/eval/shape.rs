//! The sizes inside values. Arrays are regular: all elements of an array have equal shapes.

use lambada_prim::ScalarTy;

use super::value::Value;
use crate::{Program, Ty};

/// The places of sizes in a type. Recursive variants count as having none: lists of different
/// lengths may be elements of one array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// No sizes.
    Plain,
    Tuple(Vec<Form>),
    Array(Box<Form>),
    /// For each constructor, the forms of its arguments.
    Variant(Vec<Vec<Form>>),
}

/// The sizes of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// No sizes.
    Plain,
    Tuple(Vec<Shape>),
    Array(usize, Box<Shape>),
    /// For each constructor, the shapes of its arguments if some value with it has been seen.
    Variant(Vec<Option<Vec<Shape>>>),
}

impl Form {
    pub fn of(program: &Program, ty: &Ty) -> Form {
        let plain = |forms: &[Form]| forms.iter().all(|form| *form == Form::Plain);
        match ty {
            Ty::Scalar(ScalarTy::Real | ScalarTy::Int | ScalarTy::Bool) | Ty::Fun(..) => {
                Form::Plain
            }
            Ty::Array(elem) => Form::Array(Box::new(Form::of(program, elem))),
            Ty::Tuple(_) | Ty::Record(_) => {
                let items: Vec<Form> =
                    ty.components().iter().map(|ty| Form::of(program, ty)).collect();
                if plain(&items) { Form::Plain } else { Form::Tuple(items) }
            }
            Ty::Variant(id) if program.is_recursive_type(*id) => Form::Plain,
            Ty::Variant(id) => {
                let constructors = &program.type_decl(*id).constructors;
                let args = |(_, args): &(_, Vec<Ty>)| {
                    args.iter().map(|ty| Form::of(program, ty)).collect()
                };
                let forms: Vec<Vec<Form>> = constructors.iter().map(args).collect();
                if forms.iter().all(|args| plain(args)) {
                    Form::Plain
                } else {
                    Form::Variant(forms)
                }
            }
        }
    }

    /// Whether the form contains variants, so that one element does not show the shape of all.
    fn varies(&self) -> bool {
        match self {
            Form::Plain => false,
            Form::Tuple(items) => items.iter().any(Form::varies),
            Form::Array(elem) => elem.varies(),
            Form::Variant(_) => true,
        }
    }

    /// The shape in which all sizes are 0.
    pub fn empty(&self) -> Shape {
        match self {
            Form::Plain => Shape::Plain,
            Form::Tuple(items) => Shape::Tuple(items.iter().map(Form::empty).collect()),
            Form::Array(elem) => Shape::Array(0, Box::new(elem.empty())),
            Form::Variant(constructors) => Shape::Variant(vec![None; constructors.len()]),
        }
    }
}

/// Two sizes that should be equal.
pub(crate) type Mismatch = (usize, usize);

impl Shape {
    /// The shape of a regular value. Examines one element of each array if that is enough.
    pub fn of(value: &Value, form: &Form) -> Shape {
        match (form, value) {
            (Form::Plain, _) => Shape::Plain,
            (Form::Array(elem), Value::Array(array)) => {
                let shape = match array.items.first() {
                    None => array.elem.clone(),
                    Some(first) if elem.varies() => {
                        let mut shape = Shape::of(first, elem);
                        let united = array.items[1..]
                            .iter()
                            .try_for_each(|item| shape.unite(Shape::of(item, elem)));
                        debug_assert!(united.is_ok(), "arrays are regular");
                        shape
                    }
                    Some(first) => Shape::of(first, elem),
                };
                Shape::Array(array.items.len(), Box::new(shape))
            }
            (Form::Tuple(forms), Value::Tuple(items)) => Shape::Tuple(
                items.iter().zip(forms).map(|(item, form)| Shape::of(item, form)).collect(),
            ),
            (Form::Variant(forms), Value::Con(con)) => {
                let mut seen = vec![None; forms.len()];
                seen[con.tag] = Some(
                    con.args
                        .iter()
                        .zip(&forms[con.tag])
                        .map(|(arg, form)| Shape::of(arg, form))
                        .collect(),
                );
                Shape::Variant(seen)
            }
            (Form::Array(_) | Form::Tuple(_) | Form::Variant(_), value) => {
                unreachable!("ill-typed core: {value:?}")
            }
        }
    }

    /// Merges the shape of another element, which must agree where both have sizes.
    pub fn unite(&mut self, other: Shape) -> Result<(), Mismatch> {
        match (self, other) {
            (Shape::Array(m, _), Shape::Array(n, _)) if *m != n => Err((*m, n)),
            (Shape::Array(_, a), Shape::Array(_, b)) => a.unite(*b),
            (Shape::Tuple(xs), Shape::Tuple(ys)) => unite_all(xs, ys),
            (Shape::Variant(xs), Shape::Variant(ys)) => {
                xs.iter_mut().zip(ys).try_for_each(|(x, y)| match (x, y) {
                    (Some(x), Some(y)) => unite_all(x, y),
                    (x @ None, y) => {
                        *x = y;
                        Ok(())
                    }
                    (Some(_), None) => Ok(()),
                })
            }
            (Shape::Plain | Shape::Tuple(_) | Shape::Array(..) | Shape::Variant(_), _) => Ok(()),
        }
    }

    /// The sizes of the outermost axes of an array.
    pub fn dims(&self) -> Vec<usize> {
        let (mut dims, mut shape) = (Vec::new(), self);
        while let Shape::Array(size, elem) = shape {
            dims.push(*size);
            shape = elem;
        }
        dims
    }
}

fn unite_all(xs: &mut [Shape], ys: Vec<Shape>) -> Result<(), Mismatch> {
    xs.iter_mut().zip(ys).try_for_each(|(x, y)| x.unite(y))
}
