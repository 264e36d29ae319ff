//! Values of recursive types: nodes. The constructor and the fields of a node made here are known,
//! and not read.

use std::rc::Rc;

use lambada_anf::Atom;
use lambada_core::{Ty as CoreTy, TypeId};

use super::{Evaluator, Hint, sketches, slots};
use crate::sketch::{Sketch, Slots};
use crate::val::{NodeVal, Val};
use crate::{Eval, ill_typed};

/// `C args`, of a recursive type.
pub(super) fn make_node(
    of: &mut Evaluator,
    id: TypeId,
    tag: usize,
    args: Vec<Val>,
    hint: Hint,
) -> Eval<Val> {
    let (ty, sketches) = (CoreTy::Variant(id), slots::constructor(of, id, tag));
    let fields = slots::filled(of, &sketches, &args)?.atoms;
    let node = slots::node_type(of, &ty);
    let handle = of.named(hint, |this| Ok(this.emit.node(node, tag, fields)))?;
    let value = sketches::node_val(of, &ty, handle);
    if of.types.is_self_applied(id) {
        return Ok(value);
    }
    let Val::Node(made) = value else { return Err(ill_typed()) };
    Ok(Val::Node(Rc::new(NodeVal { known: Some((tag, args)), ..(*made).clone() })))
}

/// The fields of a node with this constructor, under the names `names`.
pub(super) fn fields(
    of: &mut Evaluator,
    handle: Atom,
    tag: usize,
    sketches: &[Sketch],
    names: &[Rc<str>],
) -> Eval<Vec<Val>> {
    let mut slots = Slots::default();
    for (k, sketch) in sketches.iter().enumerate() {
        let name = names.get(k).filter(|name| name.chars().any(char::is_alphanumeric));
        let name = name.map_or_else(|| format!("x{k}"), ToString::to_string);
        slots::add_slots(of, sketch, &name, &mut slots);
    }
    let atoms = of.emit.fields(handle, tag, &slots);
    slots::instances(of, sketches, atoms)
}
