//! A node that holds nothing but one handle or one integer is that handle or integer.
//!
//! ```text
//!   type f_tape { f_tape (kept : ref kept) }
//!   tape : ref f_tape = node f_tape.f_tape (kept)       kept
//!   field tape f_tape.kept                              tape
//! ```
//!
//! Tapes of functions whose bodies are branches are such nodes: one per call.
//!
//! Assumes: derivatives have been taken. Gives: no node of such a type, but for those that go in or
//! out of the program, and those whose constructor is asked for, which null does not have. Keeps:
//! values, because null, whose fields are zeros, becomes 0, the value of its field.

use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Elem, Exp, Function, Library, Nest, NodeId, Op, Param, Renaming, Stm, Ty, Var,
};
use lambada_prim::ScalarTy;

/// The unboxed element type, by type of handle.
type Boxes = HashMap<NodeId, Elem>;

/// The pass, on a program.
pub(crate) fn unboxing(program: &mut Function) -> bool {
    let boxes = boxes(program);
    if boxes.is_empty() {
        return false;
    }
    for constructor in program.library.nodes.iter_mut().flat_map(|node| &mut node.constructors) {
        constructor.fields.iter_mut().for_each(|field| unbox_ty(&boxes, &mut field.ty));
    }
    program.library.functions.iter_mut().flatten().for_each(|f| function(&boxes, f));
    function(&boxes, program);
    true
}

/// The types that are in use and whose nodes hold one handle or integer, with its type.
fn boxes(program: &Function) -> Boxes {
    let Library { nodes, functions } = &program.library;
    let held = |NodeId(id): NodeId| match nodes[id as usize].constructors.as_slice() {
        [constructor] => match constructor.fields.as_slice() {
            [field] if field.ty.dims.is_empty() && !field.cell => match field.ty.elem {
                Elem::Ref(_) | Elem::Scalar(ScalarTy::Int) => Some(field.ty.elem),
                Elem::Scalar(_) => None,
            },
            _ => None,
        },
        _ => None,
    };
    let mut used = HashSet::new();
    let mut seen = interface(program);
    for function in functions.iter().flatten().chain([program]) {
        let types = node_types(function);
        used.extend(types.values().copied());
        function.body.each(&mut |stm| {
            if let Exp::Op(Op::Tag(_) | Op::Inspect { .. }) = &stm.exp {
                stm.exp.atoms(&mut |atom| seen.extend(node_of(&types, atom)));
            }
        });
    }
    let mut boxes = Boxes::new();
    for id in used.iter().copied().filter(|id| !seen.contains(id)) {
        // The content of a box may be a box. A type that contains itself is none.
        let mut inside = vec![id];
        let mut elem = held(id);
        while let Some(Elem::Ref(next)) = elem
            && !seen.contains(&next)
            && let Some(more) = held(next)
        {
            if inside.contains(&next) {
                elem = None;
                break;
            }
            inside.push(next);
            elem = Some(more);
        }
        boxes.extend(elem.map(|elem| (id, elem)));
    }
    boxes
}

/// The types of nodes that go in or out of the program.
fn interface(program: &Function) -> HashSet<NodeId> {
    let types = program.params.iter().map(|p| &p.ty).chain(&program.results);
    let mut open: Vec<NodeId> = types.filter_map(|ty| ty.elem.node()).collect();
    let mut all = HashSet::new();
    while let Some(id) = open.pop() {
        if all.insert(id) {
            let constructors = &program.library.node(id).constructors;
            let fields = constructors.iter().flat_map(|constructor| &constructor.fields);
            open.extend(fields.filter_map(|field| field.ty.elem.node()));
        }
    }
    all
}

/// The node type of each variable that is a handle, or an array of handles.
fn node_types(function: &Function) -> HashMap<Var, NodeId> {
    let mut types = HashMap::new();
    let mut note = |p: &Param| types.extend(p.ty.elem.node().map(|id| (p.var, id)));
    function.params.iter().chain(&function.accumulators).for_each(&mut note);
    function.body.each(&mut |stm| {
        stm.binds.iter().for_each(&mut note);
        if let Exp::Nest(Nest::Loop { params, .. }) = &stm.exp {
            params.iter().for_each(&mut note);
        }
    });
    types
}

fn node_of(types: &HashMap<Var, NodeId>, atom: Atom) -> Option<NodeId> {
    types.get(&atom.as_var()?).copied()
}

fn function(boxes: &Boxes, f: &mut Function) {
    let types = node_types(f);
    let mut renaming = Renaming::new();
    block(
        &|atom| node_of(&types, atom).is_some_and(|id| boxes.contains_key(&id)),
        &mut f.body,
        &mut renaming,
    );
    renaming.apply(&mut f.body);
    each_ty(&mut f.body, &mut |ty| unbox_ty(boxes, ty));
    let interface = f.params.iter_mut().chain(&mut f.accumulators).map(|p| &mut p.ty);
    interface.chain(&mut f.results).for_each(|ty| unbox_ty(boxes, ty));
}

fn unbox_ty(boxes: &Boxes, ty: &mut Ty) {
    if let Some(elem) = ty.elem.node().and_then(|id| boxes.get(&id)) {
        ty.elem = *elem;
    }
}

/// Removes the statements that make and open boxes, and records replacements of their bindings.
fn block(is_box: &dyn Fn(Atom) -> bool, block_: &mut Block, renaming: &mut Renaming) {
    block_.stms.retain_mut(|stm| {
        stm.exp.blocks_mut().into_iter().for_each(|inner| block(is_box, inner, renaming));
        match alias(is_box, stm) {
            Some((var, atom)) => {
                let atom = renaming.atom(atom);
                renaming.insert(var, atom);
                false
            }
            None => true,
        }
    });
}

/// The variable that the statement binds to an existing value, and that value.
fn alias(is_box: &dyn Fn(Atom) -> bool, stm: &Stm) -> Option<(Var, Atom)> {
    match (&stm.exp, stm.binds.as_slice()) {
        (Exp::Op(Op::Node { fields, .. }), [bind]) if is_box(bind.var.into()) => {
            Some((bind.var, *fields.first()?))
        }
        (Exp::Op(Op::Field { of, .. }), [bind]) if is_box(*of) => Some((bind.var, *of)),
        (Exp::Op(_) | Exp::Nest(_), _) => None,
    }
}

fn each_ty(block: &mut Block, f: &mut dyn FnMut(&mut Ty)) {
    for stm in &mut block.stms {
        stm.binds.iter_mut().for_each(|p| f(&mut p.ty));
        if let Exp::Nest(Nest::Loop { params, .. }) = &mut stm.exp {
            params.iter_mut().for_each(|p| f(&mut p.ty));
        }
        stm.exp.blocks_mut().into_iter().for_each(|inner| each_ty(inner, f));
    }
}
