//! Nodes that are known: the constructor and the fields of a node that has just been made, and
//! those of null.
//!
//! Assumes: nothing. Gives: no tag and no field of a `node` in scope, or of null. Keeps: values. An
//! array that an update has consumed since the node was made is read from the node: else the update
//! would have to copy it.

use lambada_anf::{Atom, Exp, Op, Stm};

use crate::rewrite::{Context, Replacement};

/// All of the above.
pub(crate) fn nodes(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    match &stm.exp {
        Exp::Op(Op::Tag(of)) => tag(context, *of),
        Exp::Op(Op::Field { of, tag, field }) => part(context, stm, *of, *tag, *field, false),
        Exp::Op(Op::Cell { of, tag, field }) => part(context, stm, *of, *tag, *field, true),
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}

fn tag(context: &Context, of: Atom) -> Option<Replacement> {
    if of == Atom::int(0) {
        return Replacement::value(Atom::int(-1));
    }
    match context.scope.definition(of)? {
        Exp::Op(Op::Node { tag, .. }) => Replacement::value(Atom::int((*tag).into())),
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}

fn part(
    context: &Context,
    stm: &Stm,
    of: Atom,
    tag: u32,
    field: u32,
    is_cell: bool,
) -> Option<Replacement> {
    let ty = &stm.binds[0].ty;
    if of == Atom::int(0) {
        return Replacement::exp(stm, Op::Fill(Atom::Lit(ty.elem.zero())));
    }
    let Exp::Op(Op::Node { tag: made, fields, .. }) = context.scope.definition(of)? else {
        return None;
    };
    let value = *fields.get(field as usize).filter(|_| *made == tag && !is_cell)?;
    let usable = match value {
        Atom::Var(x) if !ty.dims.is_empty() => {
            context.scope.readable(x) && context.scope.ty(x) == Some(ty)
        }
        Atom::Var(_) | Atom::Lit(_) => true,
    };
    usable.then(|| Replacement { stms: Vec::new(), values: vec![value] })
}
