//! Values of recursive types: nodes. The constructor and the fields of one that is made here are
//! known, and not read.

use std::collections::HashSet;
use std::rc::Rc;

use lambada_anf as anf;
use lambada_anf::{Atom, Elem, NodeId, NodeType, Op, Ty};
use lambada_core::{Arm, TermKind, Ty as CoreTy, TypeId, print_type};

use super::control::possible;
use super::{Evaluator, Hint};
use crate::sketch::{Role, Sketch, Slots};
use crate::val::{Leaf, NodeVal, Val};
use crate::{Eval, ill_typed};

impl Evaluator<'_> {
    /// The type of the nodes of a recursive variant, or of functions of a type that only run time
    /// knows.
    pub(crate) fn node_type(&mut self, ty: &CoreTy) -> NodeId {
        if let Some(node) = self.library.node(ty) {
            return node;
        }
        let node = NodeId(self.emit.library.nodes.len() as u32);
        let name = print_type(self.program, ty);
        self.emit.library.nodes.push(NodeType { name, constructors: Vec::new() });
        self.library.add_node(ty, node);
        for (number, sketches) in self.library.codes(ty) {
            let constructor = self.constructor_of(format!("Function_{number}"), &sketches);
            self.emit.library.nodes[node.0 as usize].constructors.push(constructor);
        }
        if let CoreTy::Variant(id) = ty {
            self.emit.variants.insert(node);
            let decl = self.program.type_decl(*id);
            let constructors: Vec<anf::Constructor> = (0..decl.constructors.len())
                .map(|tag| {
                    let sketches = self.constructor(*id, tag);
                    let name = decl.constructors[tag].0.to_string();
                    self.constructor_of(name, &sketches)
                })
                .collect();
            self.emit.library.nodes[node.0 as usize].constructors = constructors;
        }
        node
    }

    /// The recursive type of nodes; none for functions.
    pub(crate) fn variant_of(&self, node: NodeId) -> Option<TypeId> {
        self.library.variant_of(node)
    }

    /// The fields of a constructor.
    pub(crate) fn constructor(&self, id: TypeId, tag: usize) -> Vec<Sketch> {
        self.all(&self.program.type_decl(id).constructors[tag].1)
    }

    /// A constructor with fields for values of some sketches.
    pub(super) fn constructor_of(&mut self, name: String, sketches: &[Sketch]) -> anf::Constructor {
        let slots = self.node_slots(sketches).values;
        let sizes: HashSet<usize> = slots.iter().flat_map(|slot| slot.dims.clone()).collect();
        let fields = slots.iter().enumerate().map(|(k, slot)| {
            let dims = slot.dims.iter().map(|k| anf::Var(*k as u32).into()).collect();
            let ty = Ty { elem: slot.elem, dims };
            let shape = slot.role != Role::Part && !sizes.contains(&k);
            anf::Field { shape, ..anf::Field::new(&slot.name, ty) }
        });
        let fields = fields.collect();
        anf::Constructor { name, fields }
    }

    /// The fields of a node whose constructor has values of these sketches.
    pub(crate) fn node_slots(&mut self, sketches: &[Sketch]) -> Slots {
        let mut slots = Slots::default();
        for (k, sketch) in sketches.iter().enumerate() {
            self.slots(sketch, &format!("x{k}"), &mut slots);
        }
        slots
    }

    /// `C args`, of a recursive type.
    pub(super) fn make_node(
        &mut self,
        id: TypeId,
        tag: usize,
        args: Vec<Val>,
        hint: Hint,
    ) -> Eval<Val> {
        let (ty, sketches) = (CoreTy::Variant(id), self.constructor(id, tag));
        let fields = self.filled(&sketches, &args)?.atoms;
        let node = self.node_type(&ty);
        let handle = self.named(hint, |this| Ok(this.emit.node(node, tag, fields)))?;
        let value = self.node_val(&ty, handle);
        if self.types.is_self_applied(id) {
            return Ok(value);
        }
        let Val::Node(made) = value else { return Err(ill_typed()) };
        Ok(Val::Node(Rc::new(NodeVal { known: Some((tag, args)), ..(*made).clone() })))
    }

    /// `match t | C x… -> body …` for a node.
    pub(super) fn match_node(&mut self, t: &NodeVal, arms: &[Arm], hint: Hint) -> Eval<Val> {
        let CoreTy::Variant(id) = t.ty else { return Err(ill_typed()) };
        if let Some((tag, fields)) = &t.known {
            return self.arm(fields, &arms[*tag], hint);
        }
        let handle = self.emit.force(&t.handle);
        let cases = self.cases(arms, &possible(arms, |_| true));
        let run = &mut |this: &mut Self, case: usize| {
            let [tag] = cases[case][..] else {
                return this.shared_arm(&cases[case], arms, hint);
            };
            let tag = tag as usize;
            let sketches = this.constructor(id, tag);
            let fields = this.fields(handle, tag, &sketches, &names(&arms[tag]))?;
            this.arm(&fields, &arms[tag], hint)
        };
        if let [_] = cases[..] {
            return run(self, 0);
        }
        let tag = self.emit.bind("tag", Ty::int(), Op::Tag(handle));
        self.select_case(tag, &cases, hint, run)
    }

    /// The fields of a node that has this constructor, by the names that they are given.
    pub(super) fn fields(
        &mut self,
        handle: Atom,
        tag: usize,
        sketches: &[Sketch],
        names: &[Rc<str>],
    ) -> Eval<Vec<Val>> {
        let mut slots = Slots::default();
        for (k, sketch) in sketches.iter().enumerate() {
            let name = names.get(k).filter(|name| name.chars().any(char::is_alphanumeric));
            let name = name.map_or_else(|| format!("x{k}"), ToString::to_string);
            self.slots(sketch, &name, &mut slots);
        }
        let atoms = self.emit.fields(handle, tag, &slots);
        self.instances(sketches, atoms)
    }
}

/// What the fields of a node are called in an arm: as the author calls them, where a variable of
/// the pattern is one.
fn names(arm: &Arm) -> Vec<Rc<str>> {
    let mut names: Vec<Rc<str>> = arm.vars.iter().map(|x| x.hint.clone()).collect();
    let mut body = &arm.body;
    while let TermKind::Let(x, value, rest) = body.kind()
        && let TermKind::Var(field) = value.kind()
    {
        let at = arm.vars.iter().position(|var| var.id == field.id);
        at.into_iter().for_each(|k| names[k] = x.hint.clone());
        body = rest;
    }
    names
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
