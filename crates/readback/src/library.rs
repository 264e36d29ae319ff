//! A program with a library as a module: node types as variants, functions as definitions, tests of
//! constructors as `match`.
//!
//! - Null, which only derivatives use, is one more constructor of the types that need it; the types
//!   defined in the text ([`crate::declared`]) need none.
//! - A function with an accumulator parameter returns the sum instead, where that costs no more
//!   ([`return_accumulators`]). Otherwise it becomes a local function in the region of the
//!   accumulator ([`locals()`]).
//! - Cells have no form in the language: a program with cells is refused.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Exp, FnId, Function, Known, Labels, Library, Nest, NodeId, Op, Ty};
use lambada_prim::{ArrayPrim, Prim, Spelling, Surface};
use lambada_surface::ast::{Item, TypeExpr, TypeKind};

use crate::aligned::align;
use crate::checking::{drop_checking, silent};
use crate::declared::Declared;
use crate::definition::{definition_in, function_in};
use crate::distributed::distribute;
use crate::interface::Interface;
use crate::locals::{Endless, Local, locals};
use crate::name_table::NameTable;
use crate::pieces::CALLED;
use crate::returned::return_accumulators;
use crate::separate::separate;
use crate::unused::drop_uncalled;

/// The library and the entry as the items of a module, types first. The error names the construct
/// that the language cannot express.
pub fn items(function: &Function, interface: &Interface) -> Result<Vec<Item>, String> {
    let mut entry = function.clone();
    let mut library = std::mem::take(&mut entry.library);
    only_named(&entry, &mut library);
    drop_checking(&mut entry, &mut library);
    return_accumulators(&mut entry, &mut library);
    expressible(&entry)?;
    library.functions.iter().flatten().try_for_each(expressible)?;
    for f in library.functions.iter_mut().flatten().chain([&mut entry]) {
        separate(f);
        distribute(f);
        align(&mut f.body);
    }
    let mut reserved: Vec<&str> = vec!["real", "int", "bool", &interface.name];
    reserved.extend(lambada_surface::token::KEYWORDS.iter().map(|(word, _)| *word));
    called().for_each(|name| reserved.push(name));
    let known = library.functions.iter().flatten().filter_map(|f| f.known.as_ref());
    let known: Vec<String> = known.map(|known| known.text.name.clone()).collect();
    reserved.extend(known.iter().map(String::as_str));
    interface.types.iter().for_each(|declared| reserved.extend(type_name(&declared.ty)));
    let labels = Labels::new(&library, reserved);
    let silent = silent(&library);
    let mut table = NameTable { labels, silent, ..NameTable::default() };
    let functions = library.clone();
    for f in library.functions.iter_mut().map(Option::as_mut).chain([Some(&mut entry)]) {
        table.nulls.push(HashMap::new());
        let locals = match f {
            Some(f) if f.accumulators.is_empty() => hosted(f, &functions, &mut table),
            Some(_) | None => Ok(Vec::new()),
        };
        table.locals.push(locals.map_err(|Endless(id)| endless(&table.function(id)))?);
    }
    table.made = made(&entry, &library);
    table.declared = Declared::by_node(&interface.types, &library);
    table.own_sizes = own_sizes(&entry, &library);
    table.own_sizes.retain(|id| !table.declared.contains_key(&id.0));
    table.library = library;
    table.name_zeros();
    // A null that only the text needs is one more constructor to match, so the text is printed anew
    // until it needs no further one.
    loop {
        let items = written(&entry, interface, &table);
        let asked = table.asked.take();
        if asked.is_subset(&table.nullable) {
            return Ok(items);
        }
        table.nullable.extend(asked);
    }
}

/// Drops the bodies of functions that people know, and the functions that only these call, but for
/// those that the text defines.
fn only_named(entry: &Function, library: &mut Library) {
    let is_text = |f: &&mut Function| f.known.as_ref().is_some_and(|known| !known.is_defined());
    library.functions.iter_mut().flatten().filter(is_text).for_each(|f| f.body = Block::default());
    let found = library.reached(entry.body.callees());
    for (function, k) in library.functions.iter_mut().zip(0..) {
        if !found.contains(&FnId(k)) {
            *function = None;
        }
    }
}

fn written(entry: &Function, interface: &Interface, table: &NameTable) -> Vec<Item> {
    let nodes = (0..table.library.nodes.len() as u32).map(NodeId);
    let mentioned = mentioned(entry, &table.library);
    let mut items: Vec<Item> = nodes
        .filter(|id| table.declared(*id).is_none() && mentioned.contains(id))
        .map(|id| Item::Type(table.variant(id)))
        .collect();
    for (k, f) in table.library.functions.iter().enumerate() {
        // A function with accumulators stands where these are made.
        let has_text = |f: &&Function| f.known.as_ref().is_none_or(Known::is_defined);
        if let Some(f) = f.as_ref().filter(|f| f.accumulators.is_empty()).filter(has_text) {
            items.push(Item::Def(function_in(f, table, FnId(k as u32))));
        }
    }
    items.push(Item::Def(definition_in(entry, interface, table, table.nulls.len() - 1)));
    drop_uncalled(&mut items);
    items
}

/// The constructors of all nodes that the program makes.
fn made(entry: &Function, library: &Library) -> HashSet<(NodeId, u32)> {
    let mut made = HashSet::new();
    for function in library.functions.iter().flatten().chain([entry]) {
        function.body.each(&mut |stm| {
            if let Exp::Op(Op::Node { node, tag, .. }) = &stm.exp {
                made.insert((*node, *tag));
            }
        });
    }
    made
}

/// The node types that the program mentions, and the types of their fields.
fn mentioned(entry: &Function, library: &Library) -> HashSet<NodeId> {
    let mut found = HashSet::new();
    each_type(entry, library, &mut |ty, _| found.extend(ty.elem.node()));
    with_parts(library, found)
}

/// The types that do not contain themselves and have arrays of any size, if their values are
/// elements of arrays or states of loops.
fn own_sizes(entry: &Function, library: &Library) -> HashSet<NodeId> {
    let mut found = HashSet::new();
    each_type(entry, library, &mut |ty, is_state| {
        found.extend(ty.elem.node().filter(|_| is_state || !ty.dims.is_empty()));
    });
    for node in &library.nodes {
        let fields = node.constructors.iter().flat_map(|c| &c.fields);
        let arrays = fields.filter(|field| !field.ty.dims.is_empty());
        found.extend(arrays.filter_map(|field| field.ty.elem.node()));
    }
    let mut found = with_parts(library, found);
    found.retain(|id| has_arrays(library, *id));
    found
}

/// Calls `visit` with each type of the program, and whether it is that of a loop's state.
fn each_type(entry: &Function, library: &Library, visit: &mut dyn FnMut(&Ty, bool)) {
    for function in library.functions.iter().flatten().chain([entry]) {
        let types = function.params.iter().map(|p| &p.ty).chain(&function.results);
        types.for_each(|ty| visit(ty, false));
        function.body.each(&mut |stm| {
            stm.binds.iter().for_each(|p| visit(&p.ty, false));
            match &stm.exp {
                Exp::Nest(Nest::Loop { params, .. }) => {
                    params.iter().for_each(|p| visit(&p.ty, true));
                }
                Exp::Nest(Nest::For { .. } | Nest::If { .. }) | Exp::Op(_) => {}
            }
        });
    }
}

/// These types, and those of their fields, and of the fields of these.
fn with_parts(library: &Library, types: HashSet<NodeId>) -> HashSet<NodeId> {
    let (mut found, mut open) = (HashSet::new(), Vec::from_iter(types));
    while let Some(id) = open.pop() {
        if found.insert(id) {
            let fields = library.node(id).constructors.iter().flat_map(|c| &c.fields);
            open.extend(fields.filter_map(|field| field.ty.elem.node()));
        }
    }
    found
}

/// The name of a type, without its arguments.
fn type_name(ty: &TypeExpr) -> Option<&str> {
    if let TypeKind::Name(name, _, _) = &ty.kind { Some(&name.text) } else { None }
}

/// The local functions of a function; nulls in all of them get names.
fn hosted(
    host: &mut Function,
    library: &Library,
    table: &mut NameTable,
) -> Result<Vec<Local>, Endless> {
    let mut locals = locals(host, library)?;
    let at = table.nulls.len() - 1;
    let results = host.results.clone();
    table.name_nulls(at, &mut host.names, &mut host.body, &results, library);
    for Local { function, .. } in &mut locals {
        let results = function.results.clone();
        table.name_nulls(at, &mut host.names, &mut function.body, &results, library);
    }
    Ok(locals)
}

fn endless(name: &str) -> String {
    format!(
        "`{name}` adds to an accumulator of its caller and calls itself with one that it makes in a loop, so it would have to be written inside of itself without end"
    )
}

/// The names of the language that the text uses. A function of the program may have such a name,
/// which hides the language's in its file; in the text it gets a number.
fn called() -> impl Iterator<Item = &'static str> {
    let scalars = Prim::ALL.iter().filter_map(|prim| {
        let Surface::Call(name) = prim.row().surface else { return None };
        Some(name)
    });
    let arrays = ArrayPrim::all().filter_map(|prim| match prim.row().spelling {
        Spelling::Definition(name) => Some(name),
        Spelling::Infix(_) => None,
    });
    scalars.chain(arrays).chain(CALLED)
}

/// Refuses cells, and loops with an array as a state that changes its size.
fn expressible(function: &Function) -> Result<(), String> {
    let grows = function.body.any(&mut |stm| {
        let Exp::Nest(Nest::Loop { params, .. }) = &stm.exp else { return false };
        let state = |dim: &Atom| params.iter().any(|p| *dim == p.var.into());
        params.iter().any(|p| p.ty.dims.iter().any(state))
    });
    if grows {
        return Err("the state of a loop changes its size".into());
    }
    // Cotangents are values, except those of values for which an inner derivative has cells.
    let cells = function.body.any(&mut |stm| {
        matches!(stm.exp, Exp::Op(Op::Open { .. } | Op::Cell { .. } | Op::Node { cells: true, .. }))
    });
    if cells {
        return Err("it adds to numbers in values of recursive types in place, and the language adds to arrays only".into());
    }
    Ok(())
}

/// Whether a type that does not contain itself contains arrays of any size.
fn has_arrays(library: &Library, id: NodeId) -> bool {
    let fields = |id: NodeId| library.node(id).constructors.iter().flat_map(|c| &c.fields);
    let direct = fields(id).filter_map(|field| field.ty.elem.node()).collect();
    let is_open = |dim: &Atom| dim.as_var().is_some();
    !with_parts(library, direct).contains(&id)
        && fields(id).any(|field| field.ty.dims.iter().any(is_open))
}
