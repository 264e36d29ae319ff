//! The shape of an array without elements: the shape of the first element that its body would make.
//!
//! - The evaluator runs the body of an empty `for` with index 0, and keeps only the sizes of its
//!   value.
//! - Operations on the missing element do not fail: checks are skipped, a missing element is
//!   [zero](Machine::zero), and its update has no effect. Nothing is added to accumulators or
//!   printed.
//! - Unknown sizes are 0: those of results of functions taken from an empty array, and those for
//!   which a body depends on itself.

use lambada_prim::ScalarTy;

use super::arrays;
use super::code::{Code, ForInfo, Slot};
use super::machine::{Machine, Run};
use super::shape::{Form, Shape};
use super::value::Value;
use crate::{Ty, TypeId};

impl Machine<'_> {
    /// Whether only a shape is computed.
    pub(super) fn rehearsing(&self) -> bool {
        !self.rehearsals.is_empty()
    }

    /// The shape that the elements of an empty array would have.
    pub(super) fn rehearse(&mut self, index: Slot, body: &Code, form: &Form) -> Shape {
        if *form == Form::Plain || self.rehearsals.contains(&std::ptr::from_ref(body)) {
            return form.empty();
        }
        self.rehearsals.push(body);
        self.set(index, Value::Int(0));
        let shape = self.eval(body).map(|value| Shape::of(&value, form));
        self.rehearsals.pop();
        shape.unwrap_or_else(|_| form.empty())
    }

    /// `xs[at…]`
    pub(super) fn element(&self, xs: &Value, at: &[i64], (info, ty): &(ForInfo, Ty)) -> Run<Value> {
        match arrays::index(xs, at, info.span) {
            Ok(item) => Ok(item.clone()),
            Err(failure) if self.rehearsing() => {
                let shape = arrays::shape_of_element(xs, at.len(), &info.form);
                self.zero(ty, Some(&shape), &mut Vec::new()).ok_or(failure)
            }
            Err(failure) => Err(failure),
        }
    }

    /// An array of elements, which must have equal shapes.
    pub(super) fn regular(&self, items: Vec<Value>, info: &ForInfo) -> Run<Value> {
        if self.rehearsing() && !items.is_empty() {
            return Ok(Value::array(items));
        }
        arrays::regular(items, info)
    }

    /// A value of zeros: of the first constructor, or of the first that needs no other value of its
    /// type. `None` for functions.
    fn zero(&self, ty: &Ty, shape: Option<&Shape>, inside: &mut Vec<TypeId>) -> Option<Value> {
        match ty {
            Ty::Scalar(ScalarTy::Real) => Some(Value::Real(0.0)),
            Ty::Scalar(ScalarTy::Int) => Some(Value::Int(0)),
            Ty::Scalar(ScalarTy::Bool) => Some(Value::Bool(false)),
            Ty::Tuple(_) | Ty::Record(_) => {
                let shapes = match shape {
                    Some(Shape::Tuple(shapes)) => Some(shapes),
                    Some(Shape::Plain | Shape::Array(..) | Shape::Variant(_)) | None => None,
                };
                let items = ty.components().into_iter().enumerate();
                let items = items.map(|(k, ty)| self.zero(&ty, shapes.map(|s| &s[k]), inside));
                Some(Value::tuple(items.collect::<Option<_>>()?))
            }
            Ty::Array(elem) => match shape {
                Some(Shape::Array(size, shape)) if *size > 0 => {
                    let zero = self.zero(elem, Some(shape), inside)?;
                    Some(Value::array(vec![zero; *size]))
                }
                Some(Shape::Array(_, shape)) => Some(arrays::empty((**shape).clone())),
                Some(Shape::Plain | Shape::Tuple(_) | Shape::Variant(_)) | None => {
                    Some(arrays::empty(Form::of(self.program(), elem).empty()))
                }
            },
            Ty::Variant(id) if inside.contains(id) => None,
            Ty::Variant(id) => {
                let seen = match shape {
                    Some(Shape::Variant(seen)) => Some(seen),
                    Some(Shape::Plain | Shape::Array(..) | Shape::Tuple(_)) | None => None,
                };
                inside.push(*id);
                let constructors = &self.program().type_decl(*id).constructors;
                let value = constructors.iter().enumerate().find_map(|(tag, (_, args))| {
                    let shapes = seen.and_then(|seen| seen[tag].as_ref());
                    let args = args.iter().enumerate();
                    let args = args.map(|(k, ty)| self.zero(ty, shapes.map(|s| &s[k]), inside));
                    Some(Value::con(tag, args.collect::<Option<_>>()?))
                });
                inside.pop();
                value
            }
            Ty::Fun(..) => None,
        }
    }
}
