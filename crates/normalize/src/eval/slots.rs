//! The slots of sketches: parameters for slots, atoms that fill them, and values made of them.

use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

use lambada_anf::{self as anf, Atom, Elem, NodeId, NodeType, Param, Ty};
use lambada_core::{Ty as CoreTy, TypeId, print_type};
use lambada_source::Span;

use super::{Evaluator, sketches};
use crate::merge::zeros;
use crate::messages;
use crate::sketch::{Filled, Role, Sketch, Slot, Slots, Source};
use crate::val::{AccVal, Closure, Leaf, Val, part};
use crate::{Eval, ill_typed};

// Slots

/// Adds the slots of a sketch.
pub(crate) fn add_slots(of: &mut Evaluator, sketch: &Sketch, name: &str, slots: &mut Slots) {
    match sketch {
        Sketch::Leaf(elem) => slots.push(name, *elem),
        Sketch::Adds(elem) => {
            let slot = slots.slot(name.into(), *elem);
            slots.accumulators.push(slot);
        }
        Sketch::Zero(_) => {}
        Sketch::Tuple(items) => items.iter().for_each(|s| add_slots(of, s, name, slots)),
        Sketch::Array(elem) => {
            slots.enter(name);
            add_slots(of, elem, name, slots);
            slots.axes.pop();
        }
        Sketch::Variant { tag, fields } => {
            if tag.is_none() {
                slots.push_tag(name, Some(fields.len() as i64));
            }
            slots.variants += 1;
            fields.iter().flatten().flatten().for_each(|s| add_slots(of, s, name, slots));
            slots.variants -= 1;
        }
        Sketch::Fun { tag, alternatives } => {
            if tag.is_none() {
                slots.push_tag(name, None);
            }
            let captured = alternatives.iter().flat_map(|(_, env)| env);
            captured.for_each(|s| add_slots(of, s, name, slots));
        }
        Sketch::Node(ty) => {
            let node = node_type(of, ty);
            slots.push(name, Elem::Ref(node));
        }
        Sketch::Acc(inside) => add_slots(of, inside, name, slots),
    }
}

/// New parameters for slots, of the innermost block.
pub(crate) fn parameters(of: &mut Evaluator, slots: &Slots) -> (Vec<Param>, Vec<Param>) {
    let mut atoms = Vec::new();
    let params = variables(of, &slots.values, &mut atoms, &|_, _| None);
    let accumulators = slots
        .accumulators
        .iter()
        .map(|slot| of.emit.param(slot.name.clone(), Slots::ty(slot, &atoms)));
    (params, accumulators.collect())
}

/// New variables for slots that follow those of `atoms`. Appends the atoms that fill the slots: the
/// variables, except where `known` finds an atom from the position and the atoms before.
pub(super) fn variables(
    of: &mut Evaluator,
    slots: &[Slot],
    atoms: &mut Vec<Atom>,
    known: &dyn Fn(usize, &[Atom]) -> Option<Atom>,
) -> Vec<Param> {
    let mut params = Vec::with_capacity(slots.len());
    for (k, slot) in slots.iter().enumerate() {
        let p = of.emit.param(slot.name.clone(), Slots::ty(slot, atoms));
        atoms.push(known(k, atoms).unwrap_or(p.var.into()));
        params.push(p);
    }
    params
}

// Values

/// Takes the atoms of a sketch's slots from a value; zeros of size 0 if the value is absent.
pub(crate) fn fill(
    of: &mut Evaluator,
    sketch: &Sketch,
    val: Option<&Val>,
    to: &mut Filled,
) -> Eval<()> {
    match sketch {
        Sketch::Leaf(elem) => store(of, *elem, part(val, Val::as_leaf)?, to),
        Sketch::Adds(_) => {
            let acc = part(val, Val::as_leaf)?.and_then(|leaf| leaf.atom.as_var());
            to.accumulators.push(acc.ok_or_else(ill_typed)?);
        }
        Sketch::Zero(_) => {}
        Sketch::Tuple(items) => fill_list(of, items, part(val, Val::as_tuple)?, to)?,
        Sketch::Array(elem) => {
            let array = part(val, Val::as_array)?;
            let extent = array.map_or(Atom::int(0), |array| array.extent);
            to.atoms.push(extent);
            to.extents.push(extent);
            fill(of, elem, array.map(|array| &array.elem), to)?;
            to.extents.pop();
        }
        Sketch::Variant { tag, fields } => {
            let variant = part(val, Val::as_variant)?;
            fill_tag(of, *tag, variant.map(|variant| &variant.tag), to);
            for (c, sketches) in fields.iter().enumerate() {
                let vals = variant.and_then(|variant| variant.fields[c].as_deref());
                fill_list(of, sketches.as_deref().unwrap_or_default(), vals, to)?;
            }
        }
        Sketch::Fun { tag, alternatives } => {
            let fun = part(val, Val::as_fun)?;
            fill_tag(of, *tag, fun.map(|fun| &fun.tag), to);
            for (number, env) in alternatives {
                fill_list(of, env, fun.and_then(|fun| fun.env(*number)), to)?;
            }
        }
        Sketch::Node(ty) => fill_node(of, ty, val, to)?,
        Sketch::Acc(inside) => {
            let acc = part(val, Val::as_acc)?.ok_or_else(ill_typed)?;
            if acc.frozen.get() {
                return Err(Box::new(messages::frozen("accumulator", Span::default())));
            }
            fill(of, inside, Some(&acc.structure), to)?;
        }
    }
    Ok(())
}

fn store(of: &mut Evaluator, elem: Elem, leaf: Option<&Leaf>, to: &mut Filled) {
    to.atoms.push(match leaf {
        Some(leaf) => of.emit.stored(leaf, &to.extents),
        None => zeros(&mut of.emit, elem, &vec![true; to.extents.len()], &to.extents),
    });
}

fn fill_tag(of: &mut Evaluator, known: Option<i64>, tag: Option<&Leaf>, to: &mut Filled) {
    if known.is_none() {
        store(of, Elem::INT, tag, to);
    }
}

fn fill_list(
    of: &mut Evaluator,
    sketches: &[Sketch],
    vals: Option<&[Val]>,
    to: &mut Filled,
) -> Eval<()> {
    let mut sketches = sketches.iter().enumerate();
    sketches.try_for_each(|(k, s)| fill(of, s, vals.map(|vals| &vals[k]), to))
}

fn fill_node(of: &mut Evaluator, ty: &CoreTy, val: Option<&Val>, to: &mut Filled) -> Eval<()> {
    let elem = Elem::Ref(node_type(of, ty));
    if let Some(Val::Fun(fun)) = val {
        let handle = of.dynamic_family(fun, ty, &to.extents)?;
        store(of, elem, Some(&handle), to);
    } else {
        store(of, elem, part(val, Val::as_node)?.map(|node| &node.handle), to);
    }
    Ok(())
}

/// The atoms that fill the slots of several values.
pub(crate) fn filled(of: &mut Evaluator, sketches: &[Sketch], vals: &[Val]) -> Eval<Filled> {
    let mut filled = Filled::default();
    fill_list(of, sketches, Some(vals), &mut filled)?;
    Ok(filled)
}

/// The values of some sketches, from the atoms that fill their slots.
pub(crate) fn instances(
    of: &mut Evaluator,
    sketches: &[Sketch],
    atoms: Vec<Atom>,
) -> Eval<Vec<Val>> {
    let mut atoms = atoms.into_iter();
    let mut from = Source { atoms: &mut atoms, accumulators: &mut std::iter::empty() };
    sketches.iter().map(|s| instantiate(of, s, &mut from, 0)).collect()
}

/// The value of a sketch inside `rank` arrays.
pub(crate) fn instantiate(
    of: &mut Evaluator,
    sketch: &Sketch,
    from: &mut Source,
    rank: usize,
) -> Eval<Val> {
    Ok(match sketch {
        Sketch::Leaf(elem) => Val::Leaf(from.leaf(*elem, rank)?),
        Sketch::Adds(_) => {
            let acc = from.accumulators.next().ok_or_else(ill_typed)?;
            Val::Leaf(Leaf::stored(acc.into(), rank))
        }
        Sketch::Zero(elem) => Val::Leaf(Leaf::same(Atom::Lit(elem.zero()), rank).of(*elem)),
        Sketch::Tuple(items) => Val::tuple(instantiate_all(of, items, from, rank)?),
        Sketch::Array(elem) => {
            let extent = from.atoms.next().ok_or_else(ill_typed)?;
            Val::array(extent, instantiate(of, elem, from, rank + 1)?)
        }
        Sketch::Variant { tag, fields } => {
            let tag = next_tag(*tag, from, rank)?;
            let mut list = |fields: &Vec<Sketch>| instantiate_all(of, fields, from, rank);
            let fields = fields.iter().map(|f| f.as_ref().map(&mut list).transpose());
            Val::variant(tag, fields.collect::<Eval<_>>()?)
        }
        Sketch::Fun { tag, alternatives } => {
            let tag = next_tag(*tag, from, rank)?;
            let mut closures = Vec::with_capacity(alternatives.len());
            for (number, env) in alternatives {
                let env = instantiate_all(of, env, from, rank)?;
                closures.push(Closure { code: of.codes.of(*number), env });
            }
            Val::fun(tag, closures)
        }
        Sketch::Node(ty) => {
            let elem = Elem::Ref(node_type(of, ty));
            sketches::node_val(of, ty, from.leaf(elem, rank)?)
        }
        Sketch::Acc(inside) => {
            let structure = instantiate(of, inside, from, rank)?;
            Val::Acc(Rc::new(AccVal { structure, frozen: Cell::new(false) }))
        }
    })
}

fn instantiate_all(
    of: &mut Evaluator,
    sketches: &[Sketch],
    from: &mut Source,
    rank: usize,
) -> Eval<Vec<Val>> {
    sketches.iter().map(|s| instantiate(of, s, from, rank)).collect()
}

fn next_tag(known: Option<i64>, from: &mut Source, rank: usize) -> Eval<Leaf> {
    match known {
        Some(tag) => Ok(Leaf::same(Atom::int(tag), rank)),
        None => from.leaf(Elem::INT, rank),
    }
}

/// The type of the nodes of a recursive variant, or of functions of a type that only run time
/// knows.
pub(crate) fn node_type(of: &mut Evaluator, ty: &CoreTy) -> NodeId {
    if let Some(node) = of.library.node(ty) {
        return node;
    }
    let node = NodeId(of.emit.library.nodes.len() as u32);
    let name = print_type(of.program, ty);
    of.emit.library.nodes.push(NodeType { name, constructors: Vec::new() });
    of.library.add_node(ty, node);
    for (number, sketches) in of.library.codes(ty) {
        let constructor = constructor_of(of, format!("Function_{number}"), &sketches);
        of.emit.library.nodes[node.0 as usize].constructors.push(constructor);
    }
    if let CoreTy::Variant(id) = ty {
        of.emit.variants.insert(node);
        let decl = of.program.type_decl(*id);
        let constructors: Vec<anf::Constructor> = (0..decl.constructors.len())
            .map(|tag| {
                let sketches = constructor(of, *id, tag);
                let name = decl.constructors[tag].0.to_string();
                constructor_of(of, name, &sketches)
            })
            .collect();
        of.emit.library.nodes[node.0 as usize].constructors = constructors;
    }
    node
}

/// The recursive type of nodes; `None` for functions.
pub(crate) fn variant_of(of: &Evaluator, node: NodeId) -> Option<TypeId> {
    of.library.variant_of(node)
}

/// The fields of a constructor.
pub(crate) fn constructor(of: &Evaluator, id: TypeId, tag: usize) -> Vec<Sketch> {
    sketches::all(of, &of.program.type_decl(id).constructors[tag].1)
}

/// A constructor with fields for values of some sketches.
pub(super) fn constructor_of(
    of: &mut Evaluator,
    name: String,
    sketches: &[Sketch],
) -> anf::Constructor {
    let slots = node_slots(of, sketches).values;
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
pub(crate) fn node_slots(of: &mut Evaluator, sketches: &[Sketch]) -> Slots {
    let mut slots = Slots::default();
    for (k, sketch) in sketches.iter().enumerate() {
        add_slots(of, sketch, &format!("x{k}"), &mut slots);
    }
    slots
}
