//! What of a value is static: its sketch.

use std::rc::Rc;

use lambada_core::Ty as CoreTy;

use super::Evaluator;
use crate::{Eval, ill_typed};
use crate::messages;
use crate::sketch::Sketch;
use crate::val::{Closure, CodeKind, FunVal, Leaf, NodeVal, Val};

impl Evaluator<'_> {
    /// The sketch of all values of a type. Functions in it are those that only run time knows.
    pub(crate) fn canonical(&self, ty: &CoreTy) -> Sketch {
        match ty {
            CoreTy::Scalar(elem) => Sketch::Leaf((*elem).into()),
            CoreTy::Tuple(_) | CoreTy::Record(_) => {
                Sketch::Tuple(ty.components().iter().map(|t| self.canonical(t)).collect())
            }
            CoreTy::Array(elem) => Sketch::Array(Box::new(self.canonical(elem))),
            CoreTy::Variant(id) if !self.types.is_recursive(*id) => {
                let constructors = &self.program.type_decl(*id).constructors;
                let fields = constructors.iter().map(|(_, fields)| Some(self.all(fields)));
                Sketch::Variant { tag: None, fields: fields.collect() }
            }
            CoreTy::Fun(..) | CoreTy::Variant(_) => Sketch::Node(ty.clone()),
        }
    }

    /// The sketches of all values of some types.
    pub(crate) fn all(&self, types: &[CoreTy]) -> Vec<Sketch> {
        types.iter().map(|ty| self.canonical(ty)).collect()
    }

    /// The sketch of a value of a type. `path`: the codes whose environments are around; one that
    /// occurs in its own environment is only known at run time.
    pub(crate) fn sketch(&self, val: &Val, ty: &CoreTy, path: &mut Vec<i64>) -> Eval<Sketch> {
        if let Val::Acc(_) = val {
            return self.untyped(val, path);
        }
        if self.types.is_data(self.program, ty) {
            return Ok(self.canonical(ty));
        }
        match (val, ty) {
            (Val::Tuple(items), CoreTy::Tuple(_) | CoreTy::Record(_)) => {
                let parts = items.iter().zip(ty.components());
                let parts = parts.map(|(v, t)| self.sketch(v, &t, path));
                Ok(Sketch::Tuple(parts.collect::<Eval<_>>()?))
            }
            (Val::Array(array), CoreTy::Array(elem)) => {
                Ok(Sketch::Array(Box::new(self.sketch(&array.elem, elem, path)?)))
            }
            (Val::Variant(variant), CoreTy::Variant(id)) => {
                let constructors = &self.program.type_decl(*id).constructors;
                let fields = variant.fields.iter().zip(constructors).map(|(fields, (_, types))| {
                    let list = |fields: &Vec<Val>| {
                        let pairs = fields.iter().zip(types);
                        pairs.map(|(v, t)| self.sketch(v, t, path)).collect::<Eval<Vec<_>>>()
                    };
                    fields.as_ref().map(list).transpose()
                });
                let fields = fields.collect::<Eval<_>>()?;
                Ok(Sketch::Variant { tag: constant(&variant.tag), fields })
            }
            (Val::Fun(fun), _) => self.closures(fun, ty, path),
            (Val::Node(_), _) => Ok(Sketch::Node(ty.clone())),
            (Val::Leaf(_) | Val::Tuple(_) | Val::Array(_) | Val::Variant(_) | Val::Acc(_), _) => {
                Err(ill_typed())
            }
        }
    }

    fn closures(&self, fun: &FunVal, ty: &CoreTy, path: &mut Vec<i64>) -> Eval<Sketch> {
        if fun.alternatives.iter().any(|c| path.contains(&c.code.number)) {
            return Ok(Sketch::Node(ty.clone()));
        }
        let alternatives = fun.alternatives.iter().map(|closure| {
            path.push(closure.code.number);
            let env = self.environment(closure, path);
            path.pop();
            Ok((closure.code.number, env?))
        });
        let alternatives = alternatives.collect::<Eval<_>>()?;
        Ok(Sketch::Fun { tag: constant(&fun.tag), alternatives })
    }

    /// The sketches of what a closure captures.
    fn environment(&self, closure: &Closure, path: &mut Vec<i64>) -> Eval<Vec<Sketch>> {
        match &closure.code.kind {
            CodeKind::Lambda { free, .. } => {
                let pairs = closure.env.iter().zip(free.iter());
                pairs.map(|(v, x)| self.sketch(v, &x.ty, path)).collect()
            }
            CodeKind::Tangent { ty, .. } => {
                closure.env.iter().map(|v| self.sketch(v, ty, path)).collect()
            }
            CodeKind::Adder { .. } | CodeKind::Pullback(_) => {
                closure.env.iter().map(|v| self.untyped(v, path)).collect()
            }
        }
    }

    /// The sketches of what a closure captures, where functions in it are only known at run time.
    pub(crate) fn captured(&self, closure: &Closure) -> Eval<Vec<Sketch>> {
        match &closure.code.kind {
            CodeKind::Lambda { free, .. } => {
                Ok(free.iter().map(|x| self.canonical(&x.ty)).collect())
            }
            CodeKind::Tangent { span, .. } => Err(Box::new(messages::dynamic_tangent(*span))),
            CodeKind::Adder { .. } | CodeKind::Pullback(_) => {
                self.environment(closure, &mut Vec::new())
            }
        }
    }

    /// The sketch of a value whose type is not known, such as the skeleton of a result.
    fn untyped(&self, val: &Val, path: &mut Vec<i64>) -> Eval<Sketch> {
        let list = |vals: &[Val], path: &mut Vec<i64>| {
            vals.iter().map(|v| self.untyped(v, path)).collect::<Eval<Vec<_>>>()
        };
        Ok(match val {
            Val::Leaf(leaf) => {
                let elem = self.emit.elem_of(leaf);
                let is_zero = leaf.constant().is_some_and(|value| value == elem.zero());
                if is_zero { Sketch::Zero(elem) } else { Sketch::Leaf(elem) }
            }
            Val::Tuple(items) => Sketch::Tuple(list(items, path)?),
            Val::Array(array) => Sketch::Array(Box::new(self.untyped(&array.elem, path)?)),
            Val::Variant(variant) => {
                let fields = variant.fields.iter();
                let fields = fields.map(|f| f.as_ref().map(|f| list(f, path)).transpose());
                let tag = constant(&variant.tag);
                Sketch::Variant { tag, fields: fields.collect::<Eval<_>>()? }
            }
            Val::Node(node) => Sketch::Node(node.ty.clone()),
            Val::Acc(acc) => Sketch::Acc(Box::new(self.untyped(&acc.structure, path)?)),
            Val::Fun(_) => return Err(ill_typed()),
        })
    }

    /// A node of which only the handle is known.
    pub(crate) fn node_val(&self, ty: &CoreTy, handle: Leaf) -> Val {
        let is_data = self.types.is_data_inside(self.program, ty);
        Val::Node(Rc::new(NodeVal { ty: ty.clone(), handle, known: None, is_data }))
    }
}

/// A tag that is known.
fn constant(tag: &Leaf) -> Option<i64> {
    tag.constant().map(|value| value.int())
}
