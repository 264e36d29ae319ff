//! Mutually recursive functions. They are elaborated together: inside the group, calls rely on the
//! signatures, and the whole group is generalized at once.
//!
//! A type that a signature leaves open is the same for the whole group. Sizes are not: each call
//! has its own, because the program checks them at run time. A function with a complete signature
//! may be called at other types (polymorphic recursion).

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use lambada_prim::ScalarTy;
use lambada_source::Span;
use lambada_surface::ast::{Def, Expr, ExprKind, Pattern};
use lambada_surface::free_names;

use crate::components::{components, cycle};
use crate::messages;
use crate::solve::constraint::Constraint;
use crate::solve::scheme::{Classify, Quantified, Scheme};
use crate::solve::size::AtomKind;
use crate::solve::size::{Atom, Poly};
use crate::solve::ty::{Node, Ty, UnknownKind};
use crate::typed::{Function, FunctionId, GlobalId, Stmt};

use super::env::{OwnCall, Provisional, SizedCall};
use super::functions::{Left, Syntax};
use super::results::Elaborated;
use super::types::ParamPath;
use super::{Done, Infer, LocalMeaning, State};

/// A recursive call: its type, the callee's type variables with their types at this call, and its
/// sizes.
pub(super) type OwnInstance = (Ty, Rc<[(Ty, Ty)]>, super::sizes::Bound);

impl<'a> Infer<'a> {
    /// Finds the recursive groups of a module, with calls in rules; reports recursive definitions
    /// without `rec`. A definition that only its own rules mention needs no `rec`.
    /// `trusted`: whether recursive definitions have rules or say `rec`, as in the library, whose
    /// tests check it. So a program does not pay for most of the definitions that it does not use.
    pub(super) fn find_recursion(&mut self, module: usize, trusted: bool) {
        let mut ids: Vec<GlobalId> = (0u32..)
            .zip(&self.globals)
            .filter(|(_, global)| global.module == module)
            .filter(|(_, global)| !trusted || may_recur(global.syntax))
            .map(|(id, _)| GlobalId(id))
            .collect();
        let mut position: HashMap<GlobalId, usize> =
            ids.iter().enumerate().map(|(k, id)| (*id, k)).collect();
        let syntax = |id: &GlobalId| self.globals[id.0 as usize].syntax;
        let mut edges: Vec<Vec<usize>> = Vec::new();
        while let Some(id) = ids.get(edges.len()) {
            let mentioned = self.mentioned(module, syntax(id));
            let place = |id: GlobalId| {
                *position.entry(id).or_insert_with(|| {
                    ids.push(id);
                    ids.len() - 1
                })
            };
            edges.push(mentioned.into_iter().map(place).collect());
        }
        let body = |(id, whole): (&GlobalId, &Vec<usize>)| match syntax(id) {
            def if def.rules.is_empty() => whole.clone(),
            def => {
                let bare = Def { rules: Vec::new(), ..def.clone() };
                self.mentioned(module, &bare).iter().map(|id| position[id]).collect()
            }
        };
        let bodies: Vec<Vec<usize>> = ids.iter().zip(&edges).map(body).collect();
        for group in components(&edges) {
            if group.len() == 1 && !edges[group[0]].contains(&group[0]) {
                continue;
            }
            let members: Rc<[GlobalId]> = group.iter().map(|k| ids[*k]).collect();
            for k in group {
                self.globals[ids[k].0 as usize].group = Some(members.clone());
                self.check_marked(ids[k], &ids, &bodies, k);
            }
        }
    }

    /// The definitions of a module that a definition mentions. A name that occurs only in sizes
    /// cannot be a function there.
    fn mentioned(&self, module: usize, def: &Def) -> Vec<GlobalId> {
        let defs = &self.scopes[module].defs;
        let free = free_names(def);
        let meant = |name: &Rc<str>| {
            let id = defs.get(name)?;
            let has_params = !self.globals[id.0 as usize].syntax.params.is_empty();
            (free.values.contains(name) || !has_params).then_some(*id)
        };
        free.all.iter().filter_map(meant).collect()
    }

    /// Requires that a definition that calls itself says `rec` and is a function.
    fn check_marked(&mut self, id: GlobalId, ids: &[GlobalId], edges: &[Vec<usize>], node: usize) {
        let def = self.globals[id.0 as usize].syntax;
        if !def.recursive
            && let Some(way) = cycle(edges, node)
        {
            let names: Vec<Rc<str>> =
                way.iter().map(|k| self.globals[ids[*k].0 as usize].name.clone()).collect();
            self.problems.push(messages::unmarked_recursion(
                &names,
                def.name.span,
                "def",
                def.name.span,
            ));
        }
        self.check_function(def);
    }

    /// Only functions are recursive.
    fn check_function(&mut self, def: &Def) {
        if def.params.is_empty() && !is_lambda(&def.body) {
            self.problems.push(messages::recursive_value(&def.name.text, def.name.span));
        }
    }

    /// Elaborates the definitions of a recursive group.
    pub(super) fn define_group(&mut self, members: &[GlobalId]) {
        let outside = self.leave();
        self.module = self.globals[members[0].0 as usize].module;
        let (before, mark) = (self.problems.len(), self.solver.mark());
        let defs: Vec<&Def> = members.iter().map(|id| self.globals[id.0 as usize].syntax).collect();
        let (calls, missing) = (self.sized_calls.len(), self.missing.len());
        // Marked as started, because a signature may mention a definition of the group.
        for id in members {
            self.globals[id.0 as usize].state = State::Started(None);
        }
        let Elaborated { bodies, own_calls } =
            self.elaborate_group(&defs, &mut |infer, k, known| {
                let id = members[k];
                infer.globals[id.0 as usize].state = State::Started(Some(known.clone()));
            });
        self.sized_calls.truncate(calls);
        self.check_own_calls(&own_calls);
        self.find_missing_sizes(missing);
        let level = std::mem::replace(&mut self.solver.level, 1);
        super::records::resolve(self, mark);
        self.solver.level = level;
        let (schemes, stuck) = self.generalize_group(&bodies, mark);
        self.report_failed();
        self.report_stuck(&stuck, before);
        let failed = self.problems.len() > before;
        self.solver.undecided.clear();
        for ((id, (function, ty, _)), scheme) in members.iter().zip(bodies).zip(schemes) {
            let done = self.finished(*id, function, ty, scheme, failed);
            self.globals[id.0 as usize].state = State::Done(done);
        }
        self.enter(outside);
    }

    fn generalize_group(
        &mut self,
        bodies: &[(Function, Ty, Left)],
        mark: usize,
    ) -> (Vec<Scheme>, Vec<Constraint>) {
        let classify: Vec<_> =
            bodies.iter().map(|(_, _, left)| |atom: Atom| left.classify(atom)).collect();
        let types: Vec<(Ty, Classify)> = bodies
            .iter()
            .zip(&classify)
            .map(|((_, ty, _), classify)| (*ty, classify as Classify))
            .collect();
        let (schemes, stuck) = self.solver.generalize_all(&types, mark);
        schemes.iter().for_each(|scheme| self.forget_results(scheme));
        (schemes, stuck)
    }

    fn finished(
        &mut self,
        id: GlobalId,
        function: Function,
        ty: Ty,
        scheme: Scheme,
        failed: bool,
    ) -> Done {
        let global = &self.globals[id.0 as usize];
        let (name, span) = (global.name.clone(), global.syntax.name.span);
        let scheme = if failed { self.failed_scheme(ty) } else { scheme };
        let (scheme, default) = self.with_defaults(scheme, &name, span);
        Done { scheme: Rc::new(scheme), function: Rc::new(function), default, size: None }
    }

    /// The body of a recursive function. Earlier calls may have solved types that its signature
    /// leaves open.
    pub(super) fn recursive_function(
        &mut self,
        syntax: &Syntax<'_>,
        known: &Provisional,
    ) -> (Function, Ty, Left) {
        let outer_vars = std::mem::replace(&mut self.type_vars, known.type_vars.clone());
        let outer_rigid = std::mem::replace(&mut self.rigid, true);
        let (expected, bound) = self.with_own_sizes(known, &HashMap::new());
        let found = match known.unknown.is_empty() {
            true => self.function(syntax, Some(expected)),
            false => self.with_unknown_sizes(syntax, expected, &known.unknown, &bound),
        };
        self.rigid = outer_rigid;
        self.type_vars = outer_vars;
        found
    }

    /// The type information of a signature. Its problems are reported with the function itself.
    pub(super) fn signature(&mut self, syntax: &Syntax<'_>) -> Provisional {
        let problems = self.problems.len();
        let undecided = self.solver.undecided.len();
        let env = self.env.mark();
        let outer_vars = self.type_vars.clone();
        let outer_claims = std::mem::take(&mut self.claims);
        let outer_unbound = std::mem::take(&mut self.unbound);
        let outer_rigid = std::mem::replace(&mut self.rigid, true);
        let regions = self.regions.len();
        self.regions.push(Vec::new());
        let named = self.declare_sizes(syntax.sizes);
        let patterns: Vec<&Pattern> = syntax.params.iter().map(|p| &p.pattern).collect();
        let variables = self.declare_names(&patterns);
        self.declare_implicit_sizes(syntax, &variables);
        let names = super::functions::names_of(&syntax.params);
        let (params, types, _) = self.parameters(syntax, (&names, &variables), None);
        let result = match syntax.result {
            Some(written) => self.ty(written, Some(&ParamPath::start(0, "the result"))),
            None => self.solver.fresh(),
        };
        let param_atoms = params.iter().map(|p| self.parameter_atom(p)).collect();
        let inside = self.close_region();
        let open = syntax.result.is_some().then(|| self.open_sizes(&types, result));
        let ty = self.function_of(syntax, &types, result);
        let left = Left::new(named, param_atoms, inside, &self.solver.sizes);
        let atoms = self.sizes_of_signature(ty, &left);
        let unknowns = self.solver.unknowns(ty);
        let is_open = |unknown: &Ty| self.rigid_name(*unknown).is_none();
        let complete = !unknowns.iter().any(is_open);
        let mut vars = if complete { unknowns } else { Vec::new() };
        vars.sort_unstable();
        vars.dedup();
        // Type variables of outer scopes are no variables of this function.
        let outer: Vec<Ty> = outer_vars.values().map(|ty| self.solver.root(*ty)).collect();
        vars.retain(|var| !outer.contains(var));
        self.env.restore(env);
        let type_vars = std::mem::replace(&mut self.type_vars, outer_vars);
        self.claims = outer_claims;
        self.unbound = outer_unbound;
        self.rigid = outer_rigid;
        self.solver.undecided.truncate(undecided);
        self.problems.truncate(problems);
        let unknown = BTreeSet::new();
        Provisional { ty, atoms, vars, type_vars, complete, regions, open, unknown }
    }

    /// Places in an annotated result that leave the size open.
    fn open_sizes(&mut self, params: &[Ty], result: Ty) -> BTreeSet<usize> {
        let named: Vec<Poly> = params.iter().flat_map(|param| self.sizes_in(*param)).collect();
        let sizes = self.sizes_in(result).into_iter().enumerate();
        let is_open = |size: &Poly| {
            let kind = size.as_var().map(|atom| self.solver.sizes.kind(atom));
            matches!(kind, Some(AtomKind::Flexible(_))) && !named.contains(size)
        };
        sizes.filter(|(_, size)| is_open(size)).map(|(place, _)| place).collect()
    }

    fn sizes_of_signature(&mut self, ty: Ty, left: &Left) -> Vec<(Atom, Quantified)> {
        let mut found = self.atoms_of(ty);
        found.sort_unstable();
        found.dedup();
        found.into_iter().filter_map(|atom| Some((atom, left.classify(atom)?))).collect()
    }

    fn atoms_of(&mut self, ty: Ty) -> Vec<Atom> {
        let mut found = Vec::new();
        self.solver.visit(ty, &mut |solver, part| {
            if let Node::Array(size, _) = solver.get(part) {
                solver.sizes.atoms(size, &mut found);
            }
        });
        found
    }

    /// The type of a recursive function with fresh sizes, except those of the scopes around.
    fn with_own_sizes(
        &mut self,
        known: &Provisional,
        vars: &HashMap<Ty, Ty>,
    ) -> (Ty, super::sizes::Bound) {
        let outer = |infer: &Infer, atom: Atom| {
            infer.regions[..known.regions].iter().any(|region| region.contains(&atom))
                || matches!(infer.solver.sizes.kind(atom), AtomKind::Flexible(level) if *level < infer.solver.level)
        };
        let (mut atoms, mut bound) = (HashMap::new(), Vec::new());
        for atom in self.atoms_of(known.ty) {
            if atoms.contains_key(&atom) || outer(self, atom) {
                continue;
            }
            let how = known.atoms.iter().find(|(other, _)| *other == atom).map(|(_, how)| *how);
            let level = self.solver.level;
            let kind = match how {
                Some(Quantified::Result) => AtomKind::Opaque,
                Some(Quantified::Free | Quantified::Parameter(_)) | None => {
                    AtomKind::Flexible(level)
                }
            };
            let fresh = self.solver.sizes.fresh(kind);
            atoms.insert(atom, Poly::var(fresh));
            bound.extend(how.filter(|how| *how != Quantified::Free).map(|how| (fresh, how)));
        }
        (self.solver.copy(known.ty, vars, &atoms), bound)
    }

    /// A call of a recursive function inside of its group.
    pub(super) fn own_instance(
        &mut self,
        known: &Provisional,
        name: &Rc<str>,
        span: Span,
    ) -> OwnInstance {
        let vars: HashMap<Ty, Ty> =
            known.vars.iter().map(|var| (*var, self.solver.fresh())).collect();
        let (ty, mut bound) = self.with_own_sizes(known, &vars);
        if !known.complete || known.has_open_sizes() {
            self.bind_integers(ty, &mut bound);
            if !self.trying {
                let call = SizedCall { of: known.ty, ty, bound: bound.clone() };
                self.sized_calls.push(call);
            }
        }
        let pairs: Rc<[(Ty, Ty)]> = known.vars.iter().map(|var| (*var, vars[var])).collect();
        if !pairs.is_empty() && !self.trying {
            self.own_calls.push(OwnCall { pairs: pairs.clone(), name: name.clone(), span });
        }
        (ty, pairs, bound)
    }

    /// Makes the values of integer arguments sizes, because sizes of the result may depend on them.
    fn bind_integers(&mut self, ty: Ty, bound: &mut super::sizes::Bound) {
        let (mut at, mut k) = (ty, 0);
        while let Node::Fun(from, to) = *self.solver.get(at) {
            let known = bound.iter().any(|(_, how)| *how == Quantified::Parameter(k));
            if !known && self.solver.as_scalar(from) == Some(ScalarTy::Int) {
                let level = self.solver.level;
                let value = self.solver.sizes.fresh(AtomKind::Flexible(level));
                bound.push((value, Quantified::Parameter(k)));
            }
            (at, k) = (to, k + 1);
        }
    }

    /// The type of a recursive function with an incomplete signature inside its own group. The
    /// arguments of its calls are elaborated before the call, so that their sizes do not become
    /// those of all calls.
    pub(super) fn open_recursion(&self, name: &str) -> Option<Ty> {
        let open = |known: &Provisional| (!known.complete).then_some(known.ty);
        match self.env.get(name) {
            Some(LocalMeaning::Recursive(_, known)) => open(known),
            Some(
                LocalMeaning::Local(_)
                | LocalMeaning::Function(..)
                | LocalMeaning::Accumulator(..)
                | LocalMeaning::Unmarked(_),
            ) => None,
            None => match self.global_named(name).map(|id| &self.globals[id.0 as usize].state) {
                Some(State::Started(Some(known))) => open(known),
                Some(State::New | State::Started(None) | State::Done(_)) | None => None,
            },
        }
    }

    /// Reports calls at other types that cannot be specialized: overloads would have to be decided
    /// for each call, and types that grow from call to call never end.
    fn check_own_calls(&mut self, calls: &[OwnCall]) {
        let mut growing = Growing::default();
        for call in calls {
            for (var, arg) in call.pairs.iter() {
                let (var, arg) = (self.solver.root(*var), self.solver.root(*arg));
                if var == arg {
                    growing.edge(var, var, false, call);
                    continue;
                }
                if self.is_overloaded(var) {
                    self.problems.push(messages::overloaded_recursion(&call.name, call.span));
                    return;
                }
                for part in self.solver.unknowns(arg) {
                    growing.edge(part, var, part != arg, call);
                }
            }
        }
        if let Some(call) = growing.found() {
            self.problems.push(messages::growing_recursion(&call.name, call.span));
        }
    }

    /// Whether a type variable is constrained, so that it stands for some types only.
    pub(super) fn is_overloaded(&self, var: Ty) -> bool {
        let narrow = match self.solver.get(var) {
            Node::Unknown(unknown) => unknown.kind != UnknownKind::Any,
            _ => false,
        };
        narrow || self.solver.is_waited_for(var)
    }

    /// `let rec f x = … and g y = … in`
    pub(super) fn local_recursion(&mut self, defs: &[Def], stmts: &mut Vec<Stmt>) {
        let mark = self.solver.mark();
        let scope = self.env.mark();
        let mut ids = Vec::new();
        for def in defs {
            self.check_function(def);
            self.check_additions(def);
            ids.push(FunctionId((self.functions.len()) as u32));
            let nothing = Scheme {
                vars: Vec::new(),
                atoms: Vec::new(),
                constraints: Vec::new(),
                ty: self.solver.error(),
            };
            self.functions.push((def.name.text.clone(), Rc::new(nothing)));
        }
        let syntax: Vec<&Def> = defs.iter().collect();
        let Elaborated { bodies, own_calls } =
            self.elaborate_group(&syntax, &mut |infer, k, known| {
                infer.env.bind(&defs[k].name.text, LocalMeaning::Recursive(ids[k], known.clone()));
            });
        self.check_own_calls(&own_calls);
        let (schemes, stuck) = self.generalize_group(&bodies, mark);
        self.report_stuck(&stuck, self.problems.len());
        self.env.restore(scope);
        let mut functions = Vec::new();
        for (((def, id), (function, ..)), scheme) in defs.iter().zip(ids).zip(bodies).zip(schemes) {
            let scheme = Rc::new(scheme);
            self.functions[id.0 as usize].1 = scheme.clone();
            self.env.bind(&def.name.text, LocalMeaning::Function(id, scheme));
            functions.push((id, Rc::new(function)));
        }
        stmts.push(Stmt::Functions(functions.into()));
    }
}

/// Flow of type variables from call to call. Instantiation does not end if a variable flows into
/// itself inside of a larger type.
#[derive(Default)]
struct Growing<'c> {
    nodes: Vec<Ty>,
    edges: Vec<(usize, usize, Option<&'c OwnCall>)>,
}

impl<'c> Growing<'c> {
    fn node(&mut self, ty: Ty) -> usize {
        let known = self.nodes.iter().position(|node| *node == ty);
        known.unwrap_or_else(|| {
            self.nodes.push(ty);
            self.nodes.len() - 1
        })
    }

    fn edge(&mut self, from: Ty, to: Ty, grows: bool, call: &'c OwnCall) {
        let (from, to) = (self.node(from), self.node(to));
        self.edges.push((from, to, grows.then_some(call)));
    }

    fn found(&self) -> Option<&'c OwnCall> {
        let edges: Vec<(usize, usize, bool)> =
            self.edges.iter().map(|(from, to, call)| (*from, *to, call.is_some())).collect();
        self.edges[*growing_edges(self.nodes.len(), &edges).first()?].2
    }
}

/// The edges that grow on a cycle.
pub(super) fn growing_edges(nodes: usize, edges: &[(usize, usize, bool)]) -> Vec<usize> {
    let mut graph = vec![Vec::new(); nodes];
    edges.iter().for_each(|(from, to, _)| graph[*from].push(*to));
    let mut component = vec![0; nodes];
    for (k, members) in components(&graph).into_iter().enumerate() {
        members.into_iter().for_each(|node| component[node] = k);
    }
    let on_cycle =
        |(from, to, grows): &(usize, usize, bool)| *grows && component[*from] == component[*to];
    (0..edges.len()).filter(|k| on_cycle(&edges[*k])).collect()
}

fn is_lambda(body: &Expr) -> bool {
    if let ExprKind::Commented(_, inner) = &body.kind {
        return is_lambda(inner);
    }
    matches!(body.kind, ExprKind::Lambda(..))
}

/// Whether a definition calls itself, or another definition can call itself through it, unless that
/// says so itself.
fn may_recur(def: &Def) -> bool {
    def.recursive || !def.rules.is_empty()
}
