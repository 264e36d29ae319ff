//! Types at which the program uses its polymorphic definitions: they replace the default instance,
//! so that `derive`, `verify`, `bench` and `run` without data take the types that are meant.
//!
//! `def layer w x b = tanh (w @ x + b)` alone would be derived with `b : real`, because a smaller
//! shape does; a call in `main` with a vector `b` says that a vector is meant. If the program uses
//! a definition at several types, no use is preferred, and the default remains.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use lambada_source::Span;

use crate::solve::Solver;
use crate::solve::ty::{Node, Ty};
use crate::typed::GlobalId;

use super::{Done, Infer, State};

/// A mention of a definition at types.
pub(super) struct Use {
    pub of: GlobalId,
    pub span: Span,
    pub args: Rc<[Ty]>,
}

/// Types of a definition's quantified unknowns.
type Args = Rc<[Ty]>;

/// Replaces the default instances of definitions whose uses agree.
pub(super) fn take_types_of_uses(of: &mut Infer) {
    if !of.problems.is_empty() {
        return;
    }
    let main = of.scopes.len() - 1;
    let mut settled: HashMap<GlobalId, Option<Args>> = HashMap::new();
    for k in 0..of.globals.len() {
        if of.globals[k].module != main {
            continue;
        }
        let id = GlobalId(k as u32);
        let Some(args) = types_of_uses(of, id, &mut settled) else { continue };
        let Some(mut done) = done(of, id).cloned() else { continue };
        let named = (&*of.globals[k].name.clone(), of.globals[k].syntax.span);
        if let Some(instance) = of.solver.instance_at(&done.scheme, named, &args) {
            done.default = Rc::new(instance);
            of.globals[k].state = State::Done(done);
        }
    }
}

fn done<'a>(of: &'a Infer, id: GlobalId) -> Option<&'a Done> {
    match &of.globals[id.0 as usize].state {
        State::Done(done) => Some(done),
        State::New | State::Started(_) => None,
    }
}

/// The types at which all uses of a definition agree. A use inside of a polymorphic definition
/// has the types at which that one is used.
fn types_of_uses(
    of: &mut Infer,
    id: GlobalId,
    settled: &mut HashMap<GlobalId, Option<Args>>,
) -> Option<Args> {
    if let Some(known) = settled.get(&id) {
        return known.clone();
    }
    // Recursion adds no types of its own.
    settled.insert(id, None);
    let open = |done: &Done| !done.scheme.vars.is_empty();
    if !done(of, id).is_some_and(open) {
        return None;
    }
    let uses: Vec<(Span, Args)> =
        of.uses.iter().filter(|one| one.of == id).map(|one| (one.span, one.args.clone())).collect();
    let mut found: BTreeMap<String, Args> = BTreeMap::new();
    for (span, args) in uses {
        let Some(user) = definition_around(of, span).filter(|user| *user != id) else {
            continue;
        };
        let Some(done) = done(of, user).cloned() else { continue };
        let mut vars: HashMap<Ty, Ty> = HashMap::new();
        if open(&done) {
            let Some(at) = types_of_uses(of, user, settled) else { continue };
            vars.extend(done.scheme.vars.iter().copied().zip(at.iter().copied()));
        }
        let args: Args = args.iter().map(|ty| decided(&mut of.solver, *ty, &vars)).collect();
        let text: Vec<String> = args.iter().map(|ty| shape_text(&of.solver, *ty)).collect();
        found.insert(text.join("; "), args);
    }
    let alone = if found.len() == 1 { found.into_values().next() } else { None };
    settled.insert(id, alone.clone());
    alone
}

fn definition_around(of: &Infer, span: Span) -> Option<GlobalId> {
    let around =
        |outer: Span| outer.file == span.file && outer.start <= span.start && span.end <= outer.end;
    let k = of.globals.iter().position(|global| around(global.syntax.span))?;
    Some(GlobalId(k as u32))
}

/// A type with unknowns replaced, by scalars where nothing decides them.
fn decided(of: &mut Solver, ty: Ty, vars: &HashMap<Ty, Ty>) -> Ty {
    let mut vars: HashMap<Ty, Ty> = vars.iter().map(|(k, v)| (of.root(*k), *v)).collect();
    for unknown in of.unknowns(ty) {
        if !vars.contains_key(&unknown)
            && let Node::Unknown(info) = of.get(unknown).clone()
        {
            let scalar = of.scalar(info.kind.default());
            vars.insert(unknown, scalar);
        }
    }
    of.copy_with(ty, &vars, &mut |_, size| size.clone())
}

/// A type as text, without its sizes.
fn shape_text(of: &Solver, ty: Ty) -> String {
    let mut text = String::new();
    of.visit(ty, &mut |solver, part| {
        text.push_str(&match solver.get(part) {
            Node::Array(..) => "[]".to_string(),
            Node::Tuple(items) => format!("({}) ", items.len()),
            Node::Record(fields) => {
                let names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
                format!("{{{}}} ", names.join(","))
            }
            Node::Fun(..) => "-> ".to_string(),
            Node::Scalar(scalar) => format!("{scalar} "),
            Node::Variant(id, _) => format!("{} ", id.0),
            Node::Unknown(_) | Node::Error => "_ ".to_string(),
            Node::Link(_) => unreachable!("`get` follows links"),
        });
    });
    text
}
