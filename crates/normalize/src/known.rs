//! Definitions that people know by name: in code for people, their calls stay calls, and so do
//! those of their derivatives.
//!
//! ```text
//!   def f x y = t   ⟶   def f x y = t  with jvp dx dy = (jvp (\(x, y) -> t) (x, y) (dx, dy)).1
//!                                       with vjp d     = (vjp (\(x, y) -> t) (x, y)).1 d
//! ```
//!
//! A call with functions among its arguments is first made one of data alone ([`crate::lifted`]).
//!
//! * Assumes: the definitions are functions that do not call themselves.
//! * Keeps: values and derivatives.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use lambada_core::build::{app, jvp, lam, proj, tuple, var, vjp};
use lambada_core::{Def, DefId, Program, Rule, Ruled, Term, TermKind, Ty, Var};

use lambada_source::CallText;

use crate::lambdas;
use crate::lifted::{Lifted, lifted};

/// Minimal number of terms, with all calls inlined, of a definition whose name says more than its
/// text.
const TERMS: usize = 60;

/// This number for a definition whose derivative is less evident: its author gives it, or it is
/// that of a loop.
const WITH_RULES: usize = 20;

/// The program and its entry, where definitions that have a name for people, and that are too long
/// to be written out, are functions known by that name. The entry, and what it differentiates, are
/// not.
pub fn with_known(
    program: &Program,
    entry: DefId,
    name_of: &dyn Fn(&Def) -> Option<Rc<str>>,
) -> (Program, DefId) {
    let names = long_names(program, name_of);
    let takes_functions = |(id, _): &(&DefId, _)| !is_data(program.def(**id));
    let taking = names.iter().filter(takes_functions).map(|(id, name)| (*id, name.clone()));
    let lifted =
        lifted(program, entry, &taking.collect(), &|id| name_of(program.def(id)).is_none());
    match known(&lifted, name_of) {
        Some(known) => known,
        None => (program.clone(), entry),
    }
}

/// The names of the definitions that are too long to be written out.
fn long_names(
    program: &Program,
    name_of: &dyn Fn(&Def) -> Option<Rc<str>>,
) -> HashMap<DefId, Rc<str>> {
    let mut sizes: Vec<usize> = Vec::new();
    let mut names = HashMap::new();
    for (def, id) in program.defs.iter().zip((0..).map(DefId)) {
        let mentioned = def.body.globals();
        let inlined = mentioned.iter().map(|id| sizes.get(id.0 as usize).copied().unwrap_or(1));
        let size = inlined.fold(count(&def.body), usize::saturating_add);
        sizes.push(size);
        if size >= least(&def.body) && !program.is_recursive(id) {
            names.extend(name_of(def).map(|name| (id, name)));
        }
    }
    names
}

/// The program and its entry, with known functions. `None` if a derivative of a derivative would
/// have a name.
fn known(lifted: &Lifted, name_of: &dyn Fn(&Def) -> Option<Rc<str>>) -> Option<(Program, DefId)> {
    let Lifted { program, entry, texts } = lifted;
    let asked = program.def(*entry).body.globals();
    let mut texts = texts.clone();
    for (id, name) in long_names(program, name_of) {
        if id != *entry && !asked.contains(&id) && is_data(program.def(id)) {
            texts.insert(id, CallText::of_data(&name));
        }
    }
    if derives_again(program, *entry, &|id| texts.contains_key(&id)) {
        return None;
    }
    // The new numbers: of each definition, and of the one that others mention for it.
    let (mut own, mut mentioned, mut next) = (Vec::new(), Vec::new(), 0);
    for id in (0..program.defs.len() as u32).map(DefId) {
        own.push(DefId(next));
        next += 1 + u32::from(texts.contains_key(&id));
        mentioned.push(DefId(next - 1));
    }
    let mut made = Program { defs: Vec::new(), ..program.clone() };
    for ((def, one), id) in program.defs.iter().zip(&own).zip((0..).map(DefId)) {
        let text = texts.remove(&id);
        // The text has no definition behind a name, unless it was made to be one.
        let is_written = text.as_ref().is_none_or(|text| text.is_defined || !text.given.is_empty());
        let body = def.body.renumbered(if is_written { &mentioned } else { &own });
        let global = Term::new(TermKind::Global(*one), body.ty().clone(), body.span());
        made.defs.push(Def { group: 2 * def.group, body, ..def.clone() });
        if let Some(text) = text {
            let body = with_its_derivatives(&mut made, def, text, &global);
            made.defs.push(Def { group: 2 * def.group + 1, body, ..def.clone() });
        }
    }
    Some((made, mentioned[entry.0 as usize]))
}

/// The number of terms from which a definition has a name.
fn least(body: &Term) -> usize {
    if is_less_evident(body) { WITH_RULES } else { TERMS }
}

fn is_less_evident(body: &Term) -> bool {
    let mut pending = vec![body];
    while let Some(term) = pending.pop() {
        if matches!(term.kind(), TermKind::Ruled(_) | TermKind::Loop { .. }) {
            return true;
        }
        pending.extend(term.children());
    }
    false
}

/// Whether what the entry differentiates takes derivatives, outside of what has a name.
fn derives_again(program: &Program, entry: DefId, is_named: &dyn Fn(DefId) -> bool) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), program.def(entry).body.globals());
    while let Some(id) = open.pop_first() {
        if is_named(id) || !seen.insert(id) {
            continue;
        }
        let mut pending = vec![&program.def(id).body];
        while let Some(term) = pending.pop() {
            if matches!(term.kind(), TermKind::Jvp(..) | TermKind::Vjp(..) | TermKind::Reach(..)) {
                return true;
            }
            pending.extend(term.children());
        }
        open.extend(program.def(id).body.globals());
    }
    false
}

/// Whether it is a function of data alone, with a λ for each parameter.
fn is_data(def: &Def) -> bool {
    let (types, result) = signature(def);
    let is_function = |ty: &Ty| matches!(ty, Ty::Fun(..));
    let (lambdas, _) = lambdas(def.body.without_rules());
    !types.is_empty()
        && lambdas.len() == types.len()
        && !types.iter().chain([&result]).any(is_function)
}

fn signature(def: &Def) -> (Vec<Ty>, Ty) {
    let (mut types, mut result) = (Vec::new(), def.body.ty());
    while let Ty::Fun(from, to) = result {
        types.push((**from).clone());
        result = to;
    }
    (types, result.clone())
}

/// The function `own`, which the definition defines, with its derivatives as rules.
fn with_its_derivatives(program: &mut Program, def: &Def, text: CallText, own: &Term) -> Term {
    let (types, result) = signature(def);
    let hints: Vec<Rc<str>> =
        lambdas(def.body.without_rules()).0.iter().map(|x| x.hint.clone()).collect();
    let [params, of_jvp, tangents, of_vjp] = [(); 4].map(|()| {
        let one = |(hint, ty): (&Rc<str>, &Ty)| program.fresh(hint, ty.clone());
        hints.iter().zip(&types).map(one).collect::<Vec<Var>>()
    });
    let cotangent = program.fresh("cotangent", result);
    let call = |args: Vec<Term>| args.into_iter().fold(own.clone(), app);
    let mut together = || match &types[..] {
        [_] => own.clone(),
        _ => {
            let all = program.fresh("point", Ty::tuple(types.clone()));
            let parts = (0..types.len()).map(|k| proj(var(&all), k)).collect();
            lam(all, call(parts))
        }
    };
    let point = |vars: &[Var]| match vars {
        [one] => var(one),
        several => tuple(several.iter().map(var).collect()),
    };
    let span = own.span();
    let pushed = proj(jvp(together(), point(&of_jvp), point(&tangents), span), 1);
    let pulled = app(proj(vjp(together(), point(&of_vjp), span), 1), var(&cotangent));
    let under = |vars: Vec<Var>, body: Term| vars.into_iter().rfold(body, |body, x| lam(x, body));
    let rule = |function: Term| {
        Some(Rule { pseudo: false, takes_value: false, adds: false, function, span: def.span })
    };
    let ruled = Ruled {
        name: def.name.clone(),
        library: true,
        known: Some(text),
        jvp: rule(under(of_jvp.into_iter().chain(tangents).collect(), pushed)),
        vjp: rule(under(of_vjp.into_iter().chain([cotangent]).collect(), pulled)),
        function: under(params.clone(), call(params.iter().map(var).collect())),
    };
    Term::new(TermKind::Ruled(Box::new(ruled)), own.ty().clone(), span)
}

fn count(body: &Term) -> usize {
    let (mut found, mut pending) = (0, vec![body]);
    while let Some(term) = pending.pop() {
        found += 1;
        pending.extend(term.children());
    }
    found
}
