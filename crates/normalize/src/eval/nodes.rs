//! Values of recursive types: nodes. The constructor and the fields of one that is made here are
//! known, and not read.

use std::rc::Rc;

use lambada_anf::{Atom, Elem, NodeId, Op, Ty};
use lambada_core::{Ty as CoreTy, TypeId};

use super::{Evaluator, Hint, sketches, slots};
use crate::sketch::{Sketch, Slots};
use crate::val::{Leaf, NodeVal, Val};
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

/// The fields of a node that has this constructor, by the names that they are given.
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

impl crate::emit::Emit {
    /// A new node.
    pub fn node(&mut self, node: NodeId, tag: usize, fields: Vec<Atom>) -> Leaf {
        let op = Op::Node { node, tag: tag as u32, fields, cells: false };
        let atom = self.bind("node", Ty::handle(node), op);
        Leaf::scalar(atom).of(Elem::Ref(node))
    }

    /// All fields of a node that has this constructor.
    pub fn fields(&mut self, of: Atom, tag: usize, slots: &Slots) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = Vec::with_capacity(slots.values.len());
        for (field, slot) in slots.values.iter().enumerate() {
            let op = Op::Field { of, tag: tag as u32, field: field as u32 };
            atoms.push(self.bind(&slot.name, Slots::ty(slot, &atoms), op));
        }
        atoms
    }
}
