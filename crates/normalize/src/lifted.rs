//! Lambda lifting: a function that a definition of the library is given becomes a definition. Then
//! the call is one of a function of data, which has a text for people ([`crate::known`]).
//!
//! ```text
//!   odeint (\y t -> [y[1], -k * y[0]]) y0 ts
//!     ⟶   def f k y t = [y[1], -k * y[0]]
//!         def odeint' k y0 ts = odeint (f k) y0 ts
//!         odeint' k y0 ts
//! ```
//!
//! * Assumes: the definitions that are given functions do not call themselves.
//! * Gives: functions of scalars and arrays of scalars, and tuples and records of these.
//! * Keeps: values, derivatives and failures; and the exponent of the cost, because a function that
//!   reads an element of a captured array at a captured index is given the element, if that is
//!   evidently in range, and else stays. The cotangent of the array would have its size at each
//!   call.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_core::build::{app, lam, proj, var};
use lambada_core::{Def, DefId, LoopKind, Program, Signature, Term, TermKind, Ty, Var};
use lambada_source::{CallText, GivenFunction};

use crate::lambdas;

/// The program and its entry, with the texts of the new definitions.
pub(crate) struct Lifted {
    pub(crate) program: Program,
    pub(crate) entry: DefId,
    pub(crate) texts: HashMap<DefId, CallText>,
}

/// Lifts the functions that the definitions `taking` functions are given, each with its name, in
/// the definitions `written` by users.
pub(crate) fn lifted(
    old: &Program,
    entry: DefId,
    taking: &HashMap<DefId, Rc<str>>,
    written: &dyn Fn(DefId) -> bool,
) -> Lifted {
    let program = Program { defs: Vec::new(), ..old.clone() };
    let places = vec![DefId(0); old.defs.len()];
    let mut lifting = Lifting {
        old,
        taking,
        program,
        places,
        functions: HashMap::new(),
        sizes: HashMap::new(),
        indices: HashMap::new(),
        texts: HashMap::new(),
        group: 0,
    };
    for (k, def) in old.defs.iter().enumerate() {
        let id = DefId(k as u32);
        if old.is_recursive(id) {
            let group = old.group(def.group);
            if group.start == k {
                let next = lifting.program.defs.len();
                group.zip(next..).for_each(|(k, at)| lifting.places[k] = DefId(at as u32));
            }
            lifting.add(def, &def.body, k + 1 == old.group(def.group).end);
            continue;
        }
        let lifts = id != entry && written(id);
        let body = if lifts { lifting.term(&def.body) } else { def.body.clone() };
        lifting.places[k] = DefId(lifting.program.defs.len() as u32);
        lifting.add(def, &body, true);
    }
    let entry = lifting.places[entry.0 as usize];
    Lifted { program: lifting.program, entry, texts: lifting.texts }
}

/// An axis of the array with this variable.
type Axis = (u32, usize);

struct Lifting<'a> {
    old: &'a Program,
    taking: &'a HashMap<DefId, Rc<str>>,
    program: Program,
    /// The new numbers of the definitions: of the old ones, then of those that have been made.
    places: Vec<DefId>,
    /// The functions that variables are bound to.
    functions: HashMap<u32, Term>,
    /// The axes of which variables are the sizes, and those that indices of loops run along.
    sizes: HashMap<u32, Axis>,
    indices: HashMap<u32, Axis>,
    texts: HashMap<DefId, CallText>,
    group: u32,
}

/// A part of a captured value: a scalar or an array of scalars.
struct Captured {
    of: Var,
    value: Term,
    var: Var,
}

/// A function that a call is given, in a form that can be lifted.
struct Liftable {
    hint: Rc<str>,
    function: Term,
    free: Vec<Var>,
    /// Free variables that stand for elements of captured arrays.
    elements: Vec<(Var, Term)>,
}

impl Lifting<'_> {
    /// Adds a definition with a new body, perhaps the last one of its group.
    fn add(&mut self, def: &Def, body: &Term, is_last: bool) {
        let body = body.renumbered(&self.places);
        self.program.defs.push(Def { body, group: self.group, ..def.clone() });
        self.group += u32::from(is_last);
    }

    /// Adds a new definition; its number among all.
    fn make(&mut self, body: Term, text: CallText) -> Term {
        let (ty, span) = (body.ty().clone(), body.span());
        let place = DefId(self.program.defs.len() as u32);
        let name = text.name.split(' ').next().unwrap_or_default().into();
        self.texts.insert(place, text);
        let (group, signature) = (self.group, Signature::default());
        self.add(&Def { name, body: body.clone(), signature, span, group }, &body, true);
        self.places.push(place);
        Term::new(TermKind::Global(DefId(self.places.len() as u32 - 1)), ty, span)
    }

    fn term(&mut self, term: &Term) -> Term {
        let (mut lets, mut rest) = (Vec::new(), term);
        while let TermKind::Let(x, t, s) = rest.kind() {
            if matches!(x.ty, Ty::Fun(..)) {
                self.functions.insert(x.id, t.clone());
            }
            self.sizes.extend(self.axis(t).map(|axis| (x.id, axis)));
            lets.push((x.clone(), self.term(t), rest));
            rest = s;
        }
        if let TermKind::For(i, n, _) | TermKind::Loop { kind: LoopKind::For(i, n, _), .. } =
            rest.kind()
        {
            self.indices.extend(self.axis(n).map(|axis| (i.id, axis)));
        }
        let end = match self.call(rest) {
            Some(call) => call,
            None => rest.map_children(&mut |term| self.term(term)),
        };
        let bind = |body, (x, t, old): (Var, Term, &Term)| {
            Term::new(TermKind::Let(x, t, body), old.ty().clone(), old.span())
        };
        lets.into_iter().rev().fold(end, bind)
    }

    /// The axis that has this size.
    fn axis(&self, size: &Term) -> Option<Axis> {
        match size.kind() {
            TermKind::Dim(xs, axis) => match xs.kind() {
                TermKind::Var(xs) => Some((xs.id, *axis)),
                _ => None, // no captured array
            },
            TermKind::Var(n) => self.sizes.get(&n.id).copied(),
            _ => None, // no size
        }
    }

    /// A call of a definition that takes functions, as a call of a function of data.
    fn call(&mut self, term: &Term) -> Option<Term> {
        let (mut args, mut head) = (Vec::new(), term);
        while let TermKind::App(f, x) = head.kind() {
            args.push(x);
            head = f;
        }
        args.reverse();
        let TermKind::Global(id) = head.kind() else { return None };
        let name = self.taking.get(id)?.clone();
        let (params, _) = lambdas(self.old.def(*id).body.without_rules());
        let hints: Vec<Rc<str>> = params.iter().map(|x| x.hint.clone()).collect();
        if hints.len() != args.len() || !is_plain_result(term.ty()) {
            return None;
        }
        let mut liftable: Vec<Option<Liftable>> = Vec::new();
        for (arg, hint) in args.iter().zip(&hints) {
            liftable.push(match arg.ty() {
                Ty::Fun(..) => Some(self.liftable(arg, hint)?),
                ty if is_made_of_plain(ty) => None,
                _ => return None,
            });
        }
        // The parameters: first the captured parts, then the data.
        let captured = self.captured(&liftable);
        let (mut given, mut data, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for (at, ((arg, f), hint)) in args.iter().zip(liftable).zip(&hints).enumerate() {
            let Some(f) = f else {
                let x = self.program.fresh(hint, arg.ty().clone());
                all.push(var(&x));
                data.push((x, self.term(arg)));
                continue;
            };
            let used = |(_, part): &(usize, &Captured)| f.free.iter().any(|x| x.id == part.of.id);
            let parts: Vec<(usize, &Captured)> = captured.iter().enumerate().filter(used).collect();
            let args: Vec<usize> = parts.iter().map(|(k, _)| *k).collect();
            let here: Vec<Term> = parts.iter().map(|(_, part)| var(&part.var)).collect();
            let (function, name) = self.definition(f);
            all.push(here.into_iter().fold(function, app));
            given.push(GivenFunction { at, name, args });
        }
        let params: Vec<Var> = captured.iter().map(|part| part.var.clone()).collect();
        let params = params.into_iter().chain(data.iter().map(|(x, _)| x.clone()));
        let body = params.rev().fold(all.into_iter().fold(head.clone(), app), |t, x| lam(x, t));
        if !matches!(body.kind(), TermKind::Lam(..)) {
            return None;
        }
        let text = CallText { name: name.to_string(), given, is_defined: false };
        let call = self.make(body, text);
        let args = captured.into_iter().map(|part| part.value);
        Some(args.chain(data.into_iter().map(|(_, arg)| arg)).fold(call, app))
    }

    /// The captured parts of all functions, each once.
    fn captured(&mut self, functions: &[Option<Liftable>]) -> Vec<Captured> {
        let mut captured: Vec<Captured> = Vec::new();
        for (f, x) in functions.iter().flatten().flat_map(|f| f.free.iter().map(move |x| (f, x))) {
            if captured.iter().any(|part| part.of.id == x.id) {
                continue;
            }
            let element = f.elements.iter().find(|(of, _)| of.id == x.id);
            let value = element.map_or_else(|| var(x), |(_, value)| value.clone());
            let mut parts = Vec::new();
            parts_of(value, &x.hint, &mut parts);
            captured.extend(parts.into_iter().map(|(hint, value)| {
                let var = self.program.fresh(&hint, value.ty().clone());
                Captured { of: x.clone(), value, var }
            }));
        }
        captured
    }

    /// The function with a λ for each parameter, if it captures only data.
    fn liftable(&mut self, f: &Term, hint: &Rc<str>) -> Option<Liftable> {
        let hint = match head(f).kind() {
            TermKind::Var(x) => x.hint.clone(),
            TermKind::Global(id) => self.old.defs.get(id.0 as usize)?.name.clone(),
            _ => hint.clone(),
        };
        let mut function = f.clone();
        let free = loop {
            let free = function.free_vars();
            let Some(x) = free.iter().find(|x| matches!(x.ty, Ty::Fun(..))) else { break free };
            let bound = self.functions.get(&x.id)?.clone();
            function = function.substitute(&mut self.program, &HashMap::from([(x.id, bound)]));
        };
        let (mut params, mut ty) = (Vec::new(), function.ty().clone());
        while let Ty::Fun(from, to) = &ty {
            params.push((**from).clone());
            ty = (**to).clone();
        }
        // The text of a definition has no records.
        let is_record = matches!(ty, Ty::Record(_));
        let is_data = params.iter().all(is_plain) && is_plain_result(&ty) && !is_record;
        if !is_data || !free.iter().all(|x| is_made_of_plain(&x.ty)) {
            return None;
        }
        let free: HashSet<u32> = free.iter().map(|x| x.id).collect();
        let (program, indices) = (&mut self.program, &self.indices);
        let mut elements = Elements { program, indices, free, found: Vec::new() };
        let mut function = elements.outside(&function);
        let (elements, free) = (elements.found, function.free_vars());
        if reads_elements(&function, &free) {
            return None;
        }
        let own = lambdas(&function).0.len();
        let further: Vec<Var> = params.drain(own..).map(|ty| self.program.fresh("x", ty)).collect();
        if !further.is_empty() {
            function = under(&function, own, &|body| {
                let body = further.iter().map(var).fold(body.clone(), app);
                further.iter().rev().fold(body, |body, x| lam(x.clone(), body))
            });
        }
        Some(Liftable { hint, function, free, elements })
    }

    /// Makes a definition of the function, with a parameter for each captured part; gives its name,
    /// too.
    fn definition(&mut self, f: Liftable) -> (Term, String) {
        let function = self.term(&f.function);
        let (mut params, mut values) = (Vec::new(), HashMap::new());
        for x in &f.free {
            let value = self.fresh_parts(&x.ty, &x.hint, &mut params);
            values.insert(x.id, value);
        }
        let function = function.substitute(&mut self.program, &values);
        let body = params.into_iter().rev().fold(function, |body, x| lam(x, body));
        let name = format!("{} {}", f.hint, self.places.len());
        let text = CallText { name: name.clone(), given: Vec::new(), is_defined: true };
        (self.make(body, text), name)
    }

    /// A value of this type made of new variables, one for each part.
    fn fresh_parts(&mut self, ty: &Ty, hint: &str, params: &mut Vec<Var>) -> Term {
        if is_plain(ty) {
            let x = self.program.fresh(hint, ty.clone());
            params.push(x.clone());
            return var(&x);
        }
        let parts = ty.components().into_iter().enumerate();
        let parts = parts
            .map(|(k, part)| self.fresh_parts(&part, &part_hint(ty, k, hint), params))
            .collect();
        Term::new(TermKind::Tuple(parts), ty.clone(), Default::default())
    }
}

/// The function without its arguments.
fn head(mut term: &Term) -> &Term {
    while let TermKind::App(f, _) = term.kind() {
        term = f;
    }
    term
}

/// The function with this body under its first λs.
fn under(function: &Term, lambdas: usize, body: &dyn Fn(&Term) -> Term) -> Term {
    match function.kind() {
        TermKind::Lam(x, inner) if lambdas > 0 => lam(x.clone(), under(inner, lambdas - 1, body)),
        _ => body(function),
    }
}

/// Whether it is a scalar or an array of scalars.
fn is_plain(ty: &Ty) -> bool {
    match ty {
        Ty::Scalar(_) => true,
        Ty::Array(elem) => is_plain(elem),
        _ => false, // tuples, records, functions and variants
    }
}

/// Whether it is plain, or a tuple or record of plain values.
fn is_plain_result(ty: &Ty) -> bool {
    match ty {
        Ty::Tuple(_) | Ty::Record(_) => {
            let parts = ty.components();
            !parts.is_empty() && parts.iter().all(is_plain)
        }
        other => is_plain(other),
    }
}

/// Whether it is plain, or a tuple or record of such values.
fn is_made_of_plain(ty: &Ty) -> bool {
    match ty {
        Ty::Tuple(_) | Ty::Record(_) => ty.components().iter().all(is_made_of_plain),
        other => is_plain(other),
    }
}

/// The plain parts of a value, with names.
fn parts_of(value: Term, hint: &str, parts: &mut Vec<(Rc<str>, Term)>) {
    if is_plain(value.ty()) {
        return parts.push((hint.into(), value));
    }
    for k in 0..value.ty().components().len() {
        let hint = part_hint(value.ty(), k, hint);
        parts_of(proj(value.clone(), k), &hint, parts);
    }
}

/// The name of a field, or of a tuple for its components.
fn part_hint(ty: &Ty, k: usize, hint: &str) -> String {
    match ty {
        Ty::Record(fields) => fields[k].0.to_string(),
        _ => hint.to_string(),
    }
}

/// Elements of captured arrays at captured indices that run along their axes.
struct Elements<'a> {
    program: &'a mut Program,
    indices: &'a HashMap<u32, Axis>,
    free: HashSet<u32>,
    found: Vec<(Var, Term)>,
}

impl Elements<'_> {
    /// The term with a variable for each such element.
    fn outside(&mut self, term: &Term) -> Term {
        let TermKind::Index(xs, at) = term.kind() else {
            return term.map_children(&mut |term| self.outside(term));
        };
        let TermKind::Var(array) = xs.kind() else {
            return term.map_children(&mut |term| self.outside(term));
        };
        let runs = |(axis, index): (usize, &Term)| match index.kind() {
            TermKind::Var(i) => {
                self.free.contains(&i.id) && self.indices.get(&i.id) == Some(&(array.id, axis))
            }
            _ => false, // not evidently in range
        };
        let is_element = self.free.contains(&array.id) && is_plain(term.ty());
        if !is_element || !at.iter().enumerate().all(runs) {
            return term.map_children(&mut |term| self.outside(term));
        }
        let known = self.found.iter().find(|(_, found)| same(found, term));
        if let Some((x, _)) = known {
            return var(x);
        }
        let x = self.program.fresh(&array.hint, term.ty().clone());
        self.found.push((x.clone(), term.clone()));
        var(&x)
    }
}

/// Whether two reads at indices that are variables are of one element.
fn same(a: &Term, b: &Term) -> bool {
    match (a.kind(), b.kind()) {
        (TermKind::Var(x), TermKind::Var(y)) => x.id == y.id,
        (TermKind::Index(x, at), TermKind::Index(y, to)) => {
            same(x, y) && at.len() == to.len() && at.iter().zip(to).all(|(a, b)| same(a, b))
        }
        _ => false, // no such reads
    }
}

/// Whether an element of a captured array is read at an index that varies and is captured.
fn is_element(xs: &Term, at: &[Term], free: &HashSet<u32>) -> bool {
    let is_captured = |term: &Term| term.free_vars().iter().all(|x| free.contains(&x.id));
    let varies = |term: &Term| !term.free_vars().is_empty();
    is_captured(xs) && at.iter().all(is_captured) && at.iter().any(varies)
}

/// Whether the function still reads such an element.
fn reads_elements(function: &Term, free: &[Var]) -> bool {
    let free: HashSet<u32> = free.iter().map(|x| x.id).collect();
    let mut pending = vec![function];
    while let Some(term) = pending.pop() {
        if let TermKind::Index(xs, at) = term.kind()
            && is_element(xs, at, &free)
        {
            return true;
        }
        pending.extend(term.children());
    }
    false
}
