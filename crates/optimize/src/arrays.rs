//! Reads of arrays that are known: literals, fills, constants, updates, and rows of arrays.
//!
//! Assumes: nothing. Gives: no index of a `Fill`, no constant index of an `Array` or `Constant`, no
//! index of an index, no read of an element that an update has just written. Keeps: values. No rule
//! adds a read of an array that an update has consumed in between, because that update would have
//! to copy the array.

use lambada_anf::{Atom, Exp, Op, Param, Stm, Ty};
use lambada_prim::{Data, Scalar, Tensor};

use crate::rewrite::{Context, Replacement};
use crate::scalar_replacement::small;

/// All of the above.
pub(crate) fn arrays(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    match &stm.exp {
        Exp::Op(Op::Index(x, index)) => read(context, stm, (*x).into(), index),
        Exp::Op(Op::Fill(value)) if stm.binds[0].ty.dims.is_empty() => Replacement::value(*value),
        Exp::Op(Op::Array(items)) => constant(stm, items),
        Exp::Op(Op::Update { array, index, value }) => {
            update(context, stm, (*array).into(), index, *value)
        }
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}

fn read(context: &mut Context, stm: &Stm, x: Atom, index: &[Atom]) -> Option<Replacement> {
    match context.scope.definition(x)? {
        Exp::Op(Op::Fill(value)) => Some(rest_of_fill(stm, *value)),
        Exp::Op(Op::Array(items)) => {
            let item = *items.get(usize::try_from(index[0].as_lit()?.int()).ok()?)?;
            Some(rest(stm, item, &index[1..]))
        }
        Exp::Op(Op::Constant(tensor)) => constant_part(stm, tensor, index),
        Exp::Op(Op::Index(y, first)) if context.scope.readable(*y) => {
            let whole = first.iter().chain(index).copied().collect();
            Replacement::exp(stm, Op::Index(*y, whole))
        }
        Exp::Op(Op::Update { array, index: written, value }) => {
            let shared = written.len().min(index.len());
            if written[..shared] == index[..shared] && shared == written.len() {
                return Some(rest(stm, *value, &index[shared..]));
            }
            let apart = written
                .iter()
                .zip(index)
                .any(|(a, b)| a.as_lit().is_some() && b.as_lit().is_some() && a != b);
            // The update has taken over the memory of the old array: a later read of it would cost
            // a copy.
            let small = context.scope.ty(*array).is_some_and(|ty| small(&ty.dims));
            (apart && small).then(|| Replacement::exp(stm, Op::Index(*array, index.to_vec())))?
        }
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}

/// `item[index]`, or the item itself.
fn rest(stm: &Stm, item: Atom, index: &[Atom]) -> Replacement {
    match item {
        Atom::Var(array) if !index.is_empty() => {
            let exp = Op::Index(array, index.to_vec());
            Replacement {
                stms: vec![Stm::new(stm.binds.clone(), exp)],
                values: vec![stm.binds[0].var.into()],
            }
        }
        Atom::Var(_) | Atom::Lit(_) => Replacement { stms: vec![], values: vec![item] },
    }
}

fn rest_of_fill(stm: &Stm, value: Atom) -> Replacement {
    if stm.binds[0].ty.dims.is_empty() {
        return Replacement { stms: vec![], values: vec![value] };
    }
    Replacement {
        stms: vec![Stm::new(stm.binds.clone(), Op::Fill(value))],
        values: vec![stm.binds[0].var.into()],
    }
}

fn constant_part(stm: &Stm, tensor: &Tensor, index: &[Atom]) -> Option<Replacement> {
    let mut at = 0;
    for (i, size) in index.iter().zip(&tensor.dims) {
        let i = usize::try_from(i.as_lit()?.int()).ok().filter(|i| i < size)?;
        at = at * size + i;
    }
    let dims = tensor.dims[index.len()..].to_vec();
    let len: usize = dims.iter().product();
    if dims.is_empty() {
        return Replacement::value(Atom::Lit(tensor.data.get(at)));
    }
    let mut data = Data::zeros(tensor.elem(), len);
    (0..len).for_each(|k| data.set(k, tensor.data.get(at * len + k)));
    Replacement::exp(stm, Op::Constant(Tensor { dims, data }.into()))
}

/// An array literal of constants, if it is long; short ones stay, so that their elements are known.
fn constant(stm: &Stm, items: &[Atom]) -> Option<Replacement> {
    if items.len() <= 4 || stm.binds[0].ty.elem.node().is_some() {
        return None;
    }
    let values: Vec<Scalar> = items.iter().map(|a| a.as_lit()).collect::<Option<_>>()?;
    let mut data = Data::zeros(stm.binds[0].ty.elem.scalar(), values.len());
    values.into_iter().enumerate().for_each(|(k, value)| data.set(k, value));
    Replacement::exp(stm, Op::Constant(Tensor { dims: vec![items.len()], data }.into()))
}

/// An update of an array literal at a constant place, and an update that writes back the old
/// element.
fn update(
    context: &mut Context,
    stm: &Stm,
    array: Atom,
    index: &[Atom],
    value: Atom,
) -> Option<Replacement> {
    if let Some(Exp::Op(Op::Index(x, at))) = context.scope.definition(value)
        && Atom::Var(*x) == array
        && at == index
    {
        return Replacement::value(array);
    }
    let Some(Exp::Op(Op::Array(items))) = context.scope.definition(array) else { return None };
    let mut items = items.clone();
    let place = usize::try_from(index[0].as_lit()?.int()).ok().filter(|k| *k < items.len())?;
    if index.len() == 1 {
        items[place] = value;
        return Replacement::exp(stm, Op::Array(items));
    }
    let row = items[place].as_var()?;
    let ty: Ty = stm.binds[0].ty.indexed(1);
    let var = context.names.again(row);
    items[place] = var.into();
    let inner = Stm::new(
        vec![Param { var, ty }],
        Op::Update { array: row, index: index[1..].to_vec(), value },
    );
    let outer = Stm::new(stm.binds.clone(), Op::Array(items));
    Some(Replacement { stms: vec![inner, outer], values: vec![stm.binds[0].var.into()] })
}
