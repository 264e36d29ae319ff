//! The sketch of a value, its static part.

use std::rc::Rc;

use lambada_core::Ty as CoreTy;

use super::Evaluator;
use crate::messages;
use crate::sketch::Sketch;
use crate::val::{Closure, CodeKind, FunVal, Leaf, NodeVal, Val};
use crate::{Eval, ill_typed};

/// The sketch of all values of a type. Only run time knows the functions in it.
pub(crate) fn canonical(of: &Evaluator, ty: &CoreTy) -> Sketch {
    match ty {
        CoreTy::Scalar(elem) => Sketch::Leaf((*elem).into()),
        CoreTy::Tuple(_) | CoreTy::Record(_) => {
            Sketch::Tuple(ty.components().iter().map(|t| canonical(of, t)).collect())
        }
        CoreTy::Array(elem) => Sketch::Array(Box::new(canonical(of, elem))),
        CoreTy::Variant(id) if !of.types.is_recursive(*id) => {
            let constructors = &of.program.type_decl(*id).constructors;
            let fields = constructors.iter().map(|(_, fields)| Some(all(of, fields)));
            Sketch::Variant { tag: None, fields: fields.collect() }
        }
        CoreTy::Fun(..) | CoreTy::Variant(_) => Sketch::Node(ty.clone()),
    }
}

/// The sketches of all values of some types.
pub(crate) fn all(of: &Evaluator, types: &[CoreTy]) -> Vec<Sketch> {
    types.iter().map(|ty| canonical(of, ty)).collect()
}

/// The sketch of a value of a type. `path`: the codes of the enclosing environments. Only run time
/// knows a code that occurs in its own environment.
pub(crate) fn sketch(of: &Evaluator, val: &Val, ty: &CoreTy, path: &mut Vec<i64>) -> Eval<Sketch> {
    if let Val::Acc(_) = val {
        return untyped(of, val, path);
    }
    if of.types.is_data(of.program, ty) {
        return Ok(canonical(of, ty));
    }
    if let Val::Node(_) = val {
        return Ok(Sketch::Node(ty.clone()));
    }
    let mut list = |vals: &[Val], types: &[CoreTy]| {
        let pairs = vals.iter().zip(types);
        pairs.map(|(val, ty)| sketch(of, val, ty, path)).collect::<Eval<Vec<_>>>()
    };
    Ok(match ty {
        CoreTy::Scalar(_) => return Err(ill_typed()),
        CoreTy::Tuple(_) | CoreTy::Record(_) => {
            Sketch::Tuple(list(val.as_tuple()?, &ty.components())?)
        }
        CoreTy::Array(elem) => {
            Sketch::Array(Box::new(sketch(of, &val.as_array()?.elem, elem, path)?))
        }
        CoreTy::Variant(id) => {
            let variant = val.as_variant()?;
            let types = of.program.type_decl(*id).constructors.iter().map(|(_, types)| types);
            let fields = variant.fields.iter().zip(types);
            let fields =
                fields.map(|(vals, types)| vals.as_ref().map(|vals| list(vals, types)).transpose());
            Sketch::Variant { tag: constant(&variant.tag), fields: fields.collect::<Eval<_>>()? }
        }
        CoreTy::Fun(..) => closures(of, val.as_fun()?, ty, path)?,
    })
}

fn closures(of: &Evaluator, fun: &FunVal, ty: &CoreTy, path: &mut Vec<i64>) -> Eval<Sketch> {
    if fun.alternatives.iter().any(|c| path.contains(&c.code.number)) {
        return Ok(Sketch::Node(ty.clone()));
    }
    let alternatives = fun.alternatives.iter().map(|closure| {
        path.push(closure.code.number);
        let env = environment(of, closure, path);
        path.pop();
        Ok((closure.code.number, env?))
    });
    let alternatives = alternatives.collect::<Eval<_>>()?;
    Ok(Sketch::Fun { tag: constant(&fun.tag), alternatives })
}

/// The sketches of a closure's captured values.
fn environment(of: &Evaluator, closure: &Closure, path: &mut Vec<i64>) -> Eval<Vec<Sketch>> {
    match &closure.code.kind {
        CodeKind::Lambda { free, .. } => {
            let pairs = closure.env.iter().zip(free.iter());
            pairs.map(|(v, x)| sketch(of, v, &x.ty, path)).collect()
        }
        CodeKind::Tangent { ty, .. } => {
            closure.env.iter().map(|v| sketch(of, v, ty, path)).collect()
        }
        CodeKind::Adder { .. } | CodeKind::Pullback(_) => {
            closure.env.iter().map(|v| untyped(of, v, path)).collect()
        }
    }
}

/// The sketches of a closure's captured values, if only run time knows the functions in them.
pub(crate) fn captured(of: &Evaluator, closure: &Closure) -> Eval<Vec<Sketch>> {
    match &closure.code.kind {
        CodeKind::Lambda { free, .. } => Ok(free.iter().map(|x| canonical(of, &x.ty)).collect()),
        CodeKind::Tangent { span, .. } => Err(Box::new(messages::dynamic_tangent(*span))),
        CodeKind::Adder { .. } | CodeKind::Pullback(_) => environment(of, closure, &mut Vec::new()),
    }
}

/// The sketch of a value of unknown type, such as the skeleton of a result.
fn untyped(of: &Evaluator, val: &Val, path: &mut Vec<i64>) -> Eval<Sketch> {
    let list = |vals: &[Val], path: &mut Vec<i64>| {
        vals.iter().map(|v| untyped(of, v, path)).collect::<Eval<Vec<_>>>()
    };
    Ok(match val {
        Val::Leaf(leaf) => {
            let elem = of.emit.elem_of(leaf);
            let is_zero = leaf.constant().is_some_and(|value| value == elem.zero());
            if is_zero { Sketch::Zero(elem) } else { Sketch::Leaf(elem) }
        }
        Val::Tuple(items) => Sketch::Tuple(list(items, path)?),
        Val::Array(array) => Sketch::Array(Box::new(untyped(of, &array.elem, path)?)),
        Val::Variant(variant) => {
            let fields = variant.fields.iter();
            let fields = fields.map(|f| f.as_ref().map(|f| list(f, path)).transpose());
            let tag = constant(&variant.tag);
            Sketch::Variant { tag, fields: fields.collect::<Eval<_>>()? }
        }
        Val::Node(node) => Sketch::Node(node.ty.clone()),
        Val::Acc(acc) => Sketch::Acc(Box::new(untyped(of, &acc.structure, path)?.summed())),
        Val::Fun(_) => return Err(ill_typed()),
    })
}

/// A node with a known handle only.
pub(crate) fn node_val(of: &Evaluator, ty: &CoreTy, handle: Leaf) -> Val {
    let is_data = of.types.is_data_inside(of.program, ty);
    Val::Node(Rc::new(NodeVal { ty: ty.clone(), handle, known: None, is_data }))
}

/// The number of a known tag.
fn constant(tag: &Leaf) -> Option<i64> {
    tag.constant().map(|value| value.int())
}
