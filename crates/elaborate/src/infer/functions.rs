//! Definitions and functions: parameters, sizes in signatures, generalization.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_source::{Severity, Span};
use lambada_surface::ast::{Def, Expr, ExprKind, Name, Param, Pattern, TypeExpr};

use crate::messages::{self, Why};
use crate::solve::constraint::Constraint;
use crate::solve::defaults::DefaultInstance;
use crate::solve::scheme::{Quantified, Scheme};
use crate::solve::size::{Atom, Poly};
use crate::solve::size::{AtomKind, Sizes};
use crate::solve::ty::Ty;
use crate::typed::{Claim, Exp, ExpKind, Function, FunctionId, GlobalId, Local, LocalId, Stmt};

use super::records;
use super::rules::Written;
use super::types::ParamPath;
use super::{Done, Infer, LocalMeaning};

/// The syntactic parts of a function, in any form.
pub(super) struct Syntax<'e> {
    pub sizes: &'e [Name],
    pub params: Vec<&'e Param>,
    pub result: Option<&'e TypeExpr>,
    pub body: &'e Expr,
    /// Derivatives of its own.
    pub rules: Option<Written<'e>>,
}

/// Sizes from the scope of a function, kept for its generalization.
pub(super) struct Left {
    /// Its size variables.
    named: Vec<Atom>,
    /// The parameters that are variables, as sizes.
    params: Vec<Option<Atom>>,
    /// All sizes that are constant only inside the function.
    inside: Vec<Atom>,
}

impl<'e> Syntax<'e> {
    /// A definition; a body that is a λ adds its parameters.
    pub fn of_def(def: &'e Def) -> Syntax<'e> {
        let mut syntax = Syntax {
            sizes: &def.sizes,
            params: def.params.iter().collect(),
            result: def.result.as_ref(),
            body: &def.body,
            rules: Some(Written { name: &def.name, rules: &def.rules }),
        };
        if syntax.result.is_none() {
            syntax.uncurry();
        }
        syntax
    }

    /// A λ.
    pub fn of_lambda(params: &'e [Param], body: &'e Expr) -> Syntax<'e> {
        let mut syntax = Syntax::of_value(body);
        syntax.params = params.iter().collect();
        syntax.uncurry();
        syntax
    }

    /// An expression without parameters.
    pub fn of_value(body: &'e Expr) -> Syntax<'e> {
        Syntax { sizes: &[], params: Vec::new(), result: None, body, rules: None }
    }

    fn uncurry(&mut self) {
        while let ExprKind::Lambda(params, body) = &self.body.kind {
            let taken = |name: &Name| {
                self.params
                    .iter()
                    .flat_map(|p| p.pattern.names())
                    .any(|other| other.text == name.text)
            };
            if params.iter().flat_map(|p| p.pattern.names()).any(|name| taken(&name)) {
                return;
            }
            self.params.extend(params);
            self.body = body;
        }
    }
}

impl Left {
    /// The size variables are those in brackets and those that types name.
    pub fn new(
        named: Vec<Atom>,
        params: Vec<Option<Atom>>,
        inside: Vec<Atom>,
        sizes: &Sizes,
    ) -> Left {
        let implicit =
            inside.iter().copied().filter(|a| matches!(sizes.kind(*a), AtomKind::Named(..)));
        let named = named.into_iter().chain(implicit).collect();
        Left { named, params, inside }
    }

    /// A parameter that is a variable, as a size.
    pub fn parameter(&self, k: usize) -> Option<Atom> {
        self.params.get(k).copied().flatten()
    }

    /// Adds a size that is constant only inside the function.
    pub fn add_inside(&mut self, atom: Atom) {
        self.inside.push(atom);
    }

    pub fn classify(&self, atom: Atom) -> Option<Quantified> {
        if self.named.contains(&atom) {
            return Some(Quantified::Free);
        }
        if let Some(k) = self.params.iter().position(|param| *param == Some(atom)) {
            return Some(Quantified::Parameter(k));
        }
        self.inside.contains(&atom).then_some(Quantified::Result)
    }
}

impl<'a> Infer<'a> {
    /// A top-level definition.
    pub(super) fn definition(&mut self, id: GlobalId) -> Done {
        let global = &self.globals[id.0 as usize];
        let (def, name) = (global.syntax, global.name.clone());
        self.module = global.module;
        let before = self.problems.len();
        let mark = self.solver.mark();
        let missing = self.missing.len();
        self.solver.level = 1;
        self.rigid = true;
        let (function, ty, left) = self.function(&Syntax::of_def(def), None);
        records::resolve(self, mark);
        self.solver.level = 0;
        self.settle_sizes(0);
        self.find_missing_sizes(missing);
        let (mut scheme, stuck) = self.solver.generalize(ty, mark, &|atom| left.classify(atom));
        self.forget_results(&scheme);
        self.report_failed();
        self.report_stuck(&stuck, before);
        if self.problems.len() > before {
            scheme = self.failed_scheme(ty);
        }
        self.solver.undecided.clear();
        let (scheme, default) = self.with_defaults(scheme, &name, def.name.span);
        let size = self.constant_of(&function);
        Done { scheme: Rc::new(scheme), function: Rc::new(function), default, size }
    }

    /// The scheme of a definition that has a problem.
    pub(super) fn failed_scheme(&mut self, ty: Ty) -> Scheme {
        let error = self.solver.error();
        let ty = self.sound_signature(ty).unwrap_or(error);
        Scheme { vars: Vec::new(), atoms: Vec::new(), constraints: Vec::new(), ty }
    }

    /// The type that users of a definition with a problem may rely on. `None` if it has unknowns,
    /// errors or sizes, so that each mistake is reported once.
    fn sound_signature(&self, ty: Ty) -> Option<Ty> {
        let known = self.solver.unknowns(ty).is_empty() && !self.solver.has_error(ty);
        let mut sized = false;
        self.solver.visit(ty, &mut |solver, part| {
            sized |= matches!(solver.get(part), crate::solve::ty::Node::Array(..))
        });
        (known && !sized).then_some(ty)
    }

    /// The types at which a definition runs by itself. Reports a problem if there are none.
    pub(super) fn with_defaults(
        &mut self,
        scheme: Scheme,
        name: &str,
        span: Span,
    ) -> (Scheme, Rc<DefaultInstance>) {
        // Definitions of the library run at the types of their uses only.
        let closed = scheme.vars.is_empty() && scheme.constraints.is_empty();
        if closed || self.in_library() {
            let default = DefaultInstance { args: Rc::new([]), ty: scheme.ty };
            return (scheme, Rc::new(default));
        }
        match self.solver.default_instance(&scheme, (name, span), &[]) {
            Some(default) => (scheme, Rc::new(default)),
            None => {
                let mut places: Vec<(Rc<str>, Span)> = Vec::new();
                for origin in scheme.constraints.iter().map(Constraint::origin) {
                    if origin.span.file == span.file && places.iter().all(|p| p.1 != origin.span) {
                        places.push((origin.what.clone(), origin.span));
                    }
                }
                // An error in a definition that this one uses may be the reason, so nothing more is
                // reported.
                if self.problems.iter().all(|p| p.severity != Severity::Error) {
                    self.problems.push(messages::no_types_fit(name, span, &places));
                }
                let scheme = self.failed_scheme(scheme.ty);
                let default = DefaultInstance { args: Rc::new([]), ty: scheme.ty };
                (scheme, Rc::new(default))
            }
        }
    }

    /// The number that a definition stands for, where it is one literal.
    fn constant_of(&self, function: &Function) -> Option<i64> {
        match (&function.params[..], &function.body.kind) {
            ([], ExpKind::Number(value)) => Some(*value),
            _ => None,
        }
    }

    /// A function. Restores the scopes around its parameters; `expected` is its type, if known.
    pub(super) fn function(
        &mut self,
        syntax: &Syntax<'_>,
        expected: Option<Ty>,
    ) -> (Function, Ty, Left) {
        let env = self.env.mark();
        let outer_vars = self.type_vars.clone();
        let outer_claims = std::mem::take(&mut self.claims);
        let outer_unbound = std::mem::take(&mut self.unbound);
        let undecided = self.solver.undecided.len();
        self.regions.push(Vec::new());
        let before = self.problems.len();
        let named = self.declare_sizes(syntax.sizes);
        let patterns: Vec<&Pattern> = syntax.params.iter().map(|p| &p.pattern).collect();
        let variables = self.declare_names(&patterns);
        self.declare_implicit_sizes(syntax, &variables);
        let names = names_of(&syntax.params);
        let (params, types, rest) = self.parameters(syntax, (&names, &variables), expected);
        self.report_unbound(before);
        let claims = std::mem::take(&mut self.claims);
        self.rigid = false;
        let (body, result_claims, result) = self.result(syntax, rest);
        let result_claims =
            if self.solver.undecided.len() > undecided { result_claims } else { Vec::new() };
        let rules =
            syntax.rules.and_then(|written| self.rules(written, &syntax.params, &types, result));
        let param_atoms = params.iter().map(|p| self.parameter_atom(p)).collect();
        let inside = self.close_region();
        self.type_vars = outer_vars;
        self.claims = outer_claims;
        self.unbound = outer_unbound;
        self.env.restore(env);
        let ty = self.function_of(syntax, &types, result);
        let left = Left::new(named, param_atoms, inside, &self.solver.sizes);
        (Function { names, params, claims, body, result_claims, rules }, ty, left)
    }

    /// The type of a function, if it is not too large.
    pub(super) fn function_of(&mut self, syntax: &Syntax<'_>, types: &[Ty], result: Ty) -> Ty {
        let ty = self.solver.funs(types, result);
        if !self.solver.is_too_large(ty) {
            return ty;
        }
        let param = types.iter().position(|ty| self.solver.is_too_large(*ty));
        let span = param.map_or(syntax.body.span, |k| syntax.params[k].pattern.span);
        self.problems.push(messages::too_large_type(span));
        self.solver.error()
    }

    /// The size variables in brackets.
    pub(super) fn declare_sizes(&mut self, sizes: &[Name]) -> Vec<Atom> {
        self.signatures += 1;
        let mut declared = Vec::new();
        for (k, size) in sizes.iter().enumerate() {
            if let Some(first) = sizes[..k].iter().find(|other| other.text == size.text) {
                self.problems.push(messages::duplicate_variable(&size.text, size.span, first.span));
                // One of the two may be a misspelling, so neither is reported as undetermined.
                self.unbound.retain(|(_, declared)| *declared != first.span);
            } else {
                declared.push(self.declare_size(size));
            }
        }
        declared
    }

    /// A size variable of the current signature.
    pub(super) fn declare_size(&mut self, name: &Name) -> Atom {
        let atom = self.solver.sizes.fresh(AtomKind::Named(name.text.clone(), self.signatures));
        self.regions.last_mut().expect("there is a region").push(atom);
        let ty = self.solver.int();
        let local = self.local(&name.text, ty);
        self.locals[local.0 as usize].size = Some(Poly::var(atom));
        self.env.bind(&name.text, LocalMeaning::Local(local));
        self.unbound.push((local, name.span));
        atom
    }

    /// A new variable, not yet in scope.
    pub(super) fn local(&mut self, name: &Rc<str>, ty: Ty) -> LocalId {
        let region = self.regions.len() - 1;
        self.locals.push(Local { name: name.clone(), ty, size: None, region });
        LocalId((self.locals.len() - 1) as u32)
    }

    /// The variables of patterns, in scope from now on; their types are unknown.
    pub(super) fn declare_names(&mut self, patterns: &[&Pattern]) -> HashMap<Rc<str>, LocalId> {
        let mut names: HashMap<Rc<str>, (LocalId, Span)> = HashMap::new();
        for name in patterns.iter().flat_map(|pattern| pattern.names()) {
            if let Some((_, first)) = names.get(&name.text) {
                self.problems.push(messages::duplicate_variable(&name.text, name.span, *first));
                continue;
            }
            let mut ty = self.solver.fresh();
            if let Some(first) = self.declared_size(&name) {
                self.problems.push(messages::duplicate_variable(&name.text, name.span, first));
                ty = self.solver.error();
            }
            let local = self.local(&name.text, ty);
            self.env.bind(&name.text, LocalMeaning::Local(local));
            names.insert(name.text, (local, name.span));
        }
        names.into_iter().map(|(name, (local, _))| (name, local)).collect()
    }

    /// The place of the size in brackets with the same name as a parameter. One of the two is
    /// probably misspelled, so the size is not reported as undetermined.
    fn declared_size(&mut self, name: &Name) -> Option<Span> {
        let is = |(local, _): &(LocalId, Span)| self.locals[local.0 as usize].name == name.text;
        let k = self.unbound.iter().position(is)?;
        Some(self.unbound.remove(k).1)
    }

    /// Declares sizes that only the types of the parameters name. If brackets are present, they
    /// must name all.
    pub(super) fn declare_implicit_sizes(
        &mut self,
        syntax: &Syntax<'_>,
        names: &HashMap<Rc<str>, LocalId>,
    ) {
        if !syntax.sizes.is_empty() {
            return;
        }
        let types: Vec<&TypeExpr> =
            syntax.params.iter().flat_map(|param| super::types::types_of(param)).collect();
        self.declare_sizes_in(&types, |name| names.contains_key(name));
    }

    pub(super) fn parameters(
        &mut self,
        syntax: &Syntax<'_>,
        (names, variables): (&[Rc<str>], &HashMap<Rc<str>, LocalId>),
        expected: Option<Ty>,
    ) -> (Vec<crate::typed::Pat>, Vec<Ty>, Option<Ty>) {
        let mut expected = expected;
        let (mut pats, mut types) = (Vec::new(), Vec::new());
        for (k, param) in syntax.params.iter().enumerate() {
            let (from, to) = match expected.map(|ty| self.solver.get(ty).clone()) {
                Some(crate::solve::ty::Node::Fun(from, to)) => (from, Some(to)),
                _ => (self.solver.fresh(), None),
            };
            expected = to;
            let owner = &names[k];
            if let Some(written) = &param.ty {
                let ty = self.ty(written, Some(&ParamPath::start(k, owner)));
                self.expect_type(ty, from, param.pattern.span, &Why::Annotation(written.span));
            }
            let pat =
                self.pattern(&param.pattern, from, variables, Some(&ParamPath::start(k, owner)));
            self.demand_irrefutable(&pat);
            pats.push(pat);
            types.push(from);
        }
        (pats, types, expected)
    }

    /// Reports sizes that no parameter determines. After an unknown size nothing is reported,
    /// because it may be any of them misspelled.
    fn report_unbound(&mut self, before: usize) {
        let unbound = std::mem::take(&mut self.unbound);
        if self.problems[before..].iter().any(messages::is_unknown_size) {
            return;
        }
        for (local, span) in unbound {
            let name = self.locals[local.0 as usize].name.clone();
            self.problems.push(messages::undetermined_size(&name, span));
        }
    }

    fn result(&mut self, syntax: &Syntax<'_>, expected: Option<Ty>) -> (Exp, Vec<Claim>, Ty) {
        match (syntax.result, expected) {
            (Some(written), _) => {
                let ty = self.ty(written, Some(&ParamPath::start(0, "the result")));
                let claims = std::mem::take(&mut self.claims);
                (self.check(syntax.body, ty, &Why::Result(written.span)), claims, ty)
            }
            (None, Some(ty)) => {
                (self.check(syntax.body, ty, &Why::Form("what is returned")), Vec::new(), ty)
            }
            (None, None) => {
                let body = self.infer(syntax.body);
                let ty = body.ty;
                (body, Vec::new(), ty)
            }
        }
    }

    pub(super) fn parameter_atom(&self, pat: &crate::typed::Pat) -> Option<Atom> {
        match pat.kind {
            crate::typed::PatKind::Var(local) => {
                self.locals[local.0 as usize].size.as_ref().and_then(Poly::as_var)
            }
            _ => None,
        }
    }

    /// Leaves a scope of sizes and returns them.
    pub(super) fn close_region(&mut self) -> Vec<Atom> {
        let atoms = self.regions.pop().expect("a region is open");
        atoms.iter().for_each(|atom| self.solver.sizes.close(*atom));
        atoms
    }

    /// Leaves a scope that outer types may still mention: its sizes become unknown there.
    pub(super) fn close_and_forget(&mut self) {
        let atoms = self.close_region();
        self.forget(&atoms);
    }

    fn forget(&mut self, atoms: &[Atom]) {
        atoms.iter().for_each(|atom| self.solver.sizes.forget(*atom));
    }

    /// A λ: a function that is not generalized.
    pub(super) fn lambda(&mut self, syntax: &Syntax<'_>, expected: Option<Ty>) -> (Function, Ty) {
        let (function, ty, left) = self.function(syntax, expected);
        self.forget(&left.inside);
        (function, ty)
    }

    /// Local functions: elaborated, generalized and bound.
    pub(super) fn local_functions(&mut self, defs: &[Def], stmts: &mut Vec<Stmt>) {
        if defs.iter().any(|def| def.recursive) {
            return self.local_recursion(defs, stmts);
        }
        for def in defs {
            self.check_additions(def);
            let scope = self.env.mark();
            if self.env.get(&def.name.text).is_none() {
                self.env.bind(&def.name.text, LocalMeaning::Unmarked(def.name.span));
            }
            let (function, scheme) = self.generalized(&Syntax::of_def(def), true);
            self.env.restore(scope);
            stmts.push(self.bind_function(&def.name.text, function, scheme));
        }
    }

    /// A function with its scheme.
    pub(super) fn generalized(&mut self, syntax: &Syntax<'_>, rigid: bool) -> (Function, Scheme) {
        let (mark, undecided) = (self.solver.mark(), self.solver.undecided.len());
        let outer_rigid = std::mem::replace(&mut self.rigid, rigid);
        self.solver.level += 1;
        let (function, ty, left) = self.function(syntax, None);
        self.solver.level -= 1;
        self.rigid = outer_rigid;
        self.settle_sizes(undecided);
        let (scheme, stuck) = self.solver.generalize(ty, mark, &|atom| left.classify(atom));
        self.forget_results(&scheme);
        debug_assert!(stuck.iter().all(Constraint::needs_annotation));
        (function, scheme)
    }

    /// Makes result sizes unknown: users of the function cannot name them.
    pub(super) fn forget_results(&mut self, scheme: &Scheme) {
        for (atom, how) in &scheme.atoms {
            if *how == Quantified::Result {
                self.solver.sizes.forget(*atom);
            }
        }
    }

    pub(super) fn bind_function(
        &mut self,
        name: &Rc<str>,
        function: Function,
        scheme: Scheme,
    ) -> Stmt {
        let id = FunctionId(self.functions.len() as u32);
        let scheme = Rc::new(scheme);
        self.functions.push((name.clone(), scheme.clone()));
        self.env.bind(name, LocalMeaning::Function(id, scheme));
        Stmt::Function(id, Rc::new(function))
    }
}

/// Distinct names for the parameters.
pub(super) fn names_of(params: &[&Param]) -> Rc<[Rc<str>]> {
    let mut taken: HashSet<Rc<str>> = HashSet::new();
    let name = |(k, param): (usize, &&Param)| {
        let name = super::patterns::call(&param.pattern, k);
        let name = if taken.contains(&name) { super::patterns::by_place(k) } else { name };
        taken.insert(name.clone());
        name
    };
    params.iter().enumerate().map(name).collect()
}
