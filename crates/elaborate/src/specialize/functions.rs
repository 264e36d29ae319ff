//! Functions: parameters, sizes in signatures, local polymorphism.

use std::rc::Rc;

use lambada_core::{self as core, Term, TermKind, Ty, Var};
use lambada_prim::Prim;
use lambada_source::Span;

use super::Specialize;
use super::spine::{Item, Spine};
use crate::solve::ty as solve;
use crate::typed::{Claim, Function, FunctionId, Pat, PatKind, SizeFact, Step};

impl Specialize<'_> {
    /// A function, or the value of one without parameters.
    pub(super) fn function(&mut self, function: &Function) -> Term {
        let bare = self.without_rules(function);
        match &function.rules {
            Some(rules) => self.ruled(function, rules, bare),
            None => bare,
        }
    }

    fn without_rules(&mut self, function: &Function) -> Term {
        let mut spine = Spine::default();
        let vars: Vec<Var> = function.params.iter().map(|pat| self.parameter(pat)).collect();
        for (pat, var) in function.params.iter().zip(&vars) {
            self.destructure(pat, &core::var(var), &mut spine);
        }
        let roots: Vec<Term> = vars.iter().map(core::var).collect();
        self.claims(&function.claims, &roots, &mut spine);
        let mut body = self.exp(&function.body);
        if !function.result_claims.is_empty() {
            body = self.share_as_var(&mut spine, "result", body);
            self.claims(&function.result_claims, &[body.clone()], &mut spine);
        }
        let body = self.close(spine, body);
        vars.into_iter().rev().fold(body, |body, var| core::lam(var, body))
    }

    pub(super) fn parameter(&mut self, pat: &Pat) -> Var {
        match pat.kind {
            PatKind::Var(local) => self.declare(local),
            PatKind::Wildcard
            | PatKind::Number(_)
            | PatKind::Real(_)
            | PatKind::Bool(_)
            | PatKind::Tuple(_)
            | PatKind::Record(_)
            | PatKind::Con(..)
            | PatKind::Array { .. }
            | PatKind::Or(_) => {
                let ty = self.mono(pat.ty);
                self.fresh("argument", ty)
            }
        }
    }

    /// Claims of signatures: first the sizes that get a name, then all equations.
    pub(super) fn claims(&mut self, claims: &[Claim], roots: &[Term], spine: &mut Spine) {
        for claim in claims {
            if let SizeFact::Bind(local) = claim.what {
                let (array, axis) = self.axis_of(&roots[claim.param], &claim.path, spine);
                let var = self.declare(local);
                let size = self.at(core::dim(array, axis), claim.span);
                self.let_in(spine, var, size);
            }
        }
        for claim in claims {
            if let SizeFact::Equals(value, text) = &claim.what {
                let value = self.exp(value);
                self.claim_equal(claim, &roots[claim.param], value, text, spine);
            }
        }
    }

    fn claim_equal(
        &mut self,
        claim: &Claim,
        root: &Term,
        value: Term,
        text: &str,
        spine: &mut Spine,
    ) {
        let (array, axis) = self.axis_of(root, &claim.path, spine);
        let wanted = self.scope.shapes.value(&value);
        let found = self.scope.shapes.size(&array, axis);
        if wanted.is_some() && wanted == found {
            return;
        }
        let value = self.share(spine, "size", value);
        let size = core::dim(array.clone(), axis);
        let size = self.share(spine, "size", size);
        let says =
            if text.parse::<i64>().is_ok() { text.to_string() } else { format!("{text} = {{1}}") };
        let message = format!("sizes differ: {} has size {{0}}, its type says {says}", claim.owner);
        let equal = core::prim(Prim::EqInt, vec![size.clone(), value.clone()]);
        self.check_in(spine, equal, claim.span, message, vec![size, value]);
        if let (TermKind::Var(var), Some(wanted)) = (array.kind(), wanted) {
            self.scope.shapes.assume(var, axis, wanted);
        }
    }

    /// The array at the end of a path, and its axis there.
    pub(super) fn axis_of(
        &mut self,
        root: &Term,
        path: &[Step],
        spine: &mut Spine,
    ) -> (Term, usize) {
        let mut term = root.clone();
        let mut axes = 0;
        for step in path {
            match step {
                Step::Element => axes += 1,
                Step::Part(k) => term = self.part_of_elements(term, axes, *k, spine),
            }
        }
        (term, axes)
    }

    /// The k-th components of an array's elements: an array of the same sizes, even if it is empty.
    pub(super) fn part_of_elements(
        &mut self,
        array: Term,
        axes: usize,
        k: usize,
        spine: &mut Spine,
    ) -> Term {
        if axes == 0 {
            return core::proj(array, k);
        }
        let array = self.share(spine, "parts", array); // it is mentioned several times
        let vars: Vec<Var> = (0..axes).map(|_| self.fresh("i", Ty::INT)).collect();
        let element =
            core::index(array.clone(), vars.iter().map(core::var).collect(), array.span());
        let part = core::proj(element, k);
        vars.into_iter()
            .enumerate()
            .rev()
            .fold(part, |part, (axis, var)| core::for_(var, core::dim(array.clone(), axis), part))
    }

    /// Binds the variables of an irrefutable pattern.
    pub(super) fn destructure(&mut self, pat: &Pat, value: &Term, spine: &mut Spine) {
        match &pat.kind {
            PatKind::Wildcard | PatKind::Number(_) | PatKind::Real(_) | PatKind::Bool(_) => {}
            PatKind::Var(local) => {
                let same = self
                    .scope
                    .vars
                    .get(local)
                    .is_some_and(|var| matches!(value.kind(), TermKind::Var(x) if x == var));
                if !same {
                    let var = self.declare(*local);
                    self.let_in(spine, var, value.clone());
                }
            }
            PatKind::Tuple(items) => {
                let value = self.share_as_var(spine, "parts", value.clone());
                for (k, item) in items.iter().enumerate() {
                    self.destructure(item, &core::proj(value.clone(), k), spine);
                }
            }
            PatKind::Record(fields) => {
                let value = self.share_as_var(spine, "parts", value.clone());
                for (name, item) in fields {
                    let field = self.field_of(value.clone(), name);
                    self.destructure(item, &field, spine);
                }
            }
            PatKind::Array { items, .. } => self.destructure_array(items, value, pat.span, spine),
            PatKind::Or(_) => unreachable!("only a case has alternatives"),
            PatKind::Con(_, tag, items) => {
                let value = self.share_as_var(spine, "parts", value.clone());
                for (k, item) in items.iter().enumerate() {
                    let field = self.only_argument(value.clone(), *tag, k);
                    self.destructure(item, &field, spine);
                }
            }
        }
    }

    /// Binds the elements of an array, whose length is checked if it is not evident.
    fn destructure_array(&mut self, items: &[Pat], value: &Term, span: Span, spine: &mut Spine) {
        let value = self.share_as_var(spine, "parts", value.clone());
        let length = items.len() as i64;
        let known = self.scope.shapes.size(&value, 0).and_then(|size| size.as_constant());
        if known != Some(length) {
            let size = core::dim(value.clone(), 0);
            let equal = core::prim(Prim::EqInt, vec![size.clone(), core::int(length)]);
            let words = format!("a pattern of {length} elements, for an array of size {{0}}");
            self.check_in(spine, equal, span, words, vec![size]);
        }
        for (k, item) in items.iter().enumerate() {
            let element = core::index(value.clone(), vec![core::int(k as i64)], self.span(span));
            self.failing += 1;
            self.bind_pattern(item, element, spine);
        }
    }

    /// The k-th argument of the only constructor of a type.
    fn only_argument(&mut self, value: Term, tag: usize, k: usize) -> Term {
        let Ty::Variant(id) = value.ty() else {
            panic!("a constructor pattern for {:?}", value.ty())
        };
        let fields = self.program.type_decl(*id).constructors[tag].1.clone();
        let vars: Vec<Var> = fields.into_iter().map(|ty| self.fresh("field", ty)).collect();
        let body = core::var(&vars[k]);
        core::match_(value, vec![core::Arm { vars, body }])
    }

    /// A use of a local function at types; its instances are written where it is bound.
    pub(super) fn local_function(&mut self, id: FunctionId, args: &[solve::Ty], ty: Ty) -> Term {
        let types: Vec<Ty> = args.iter().map(|ty| self.mono(*ty)).collect();
        if let Some((_, var)) =
            self.scope.functions.get(&id).into_iter().flatten().find(|(known, _)| *known == types)
        {
            return core::var(var);
        }
        let name = self.from.function_name(id);
        let var = self.program.fresh(&name, ty);
        self.scope.functions.entry(id).or_default().push((types, var.clone()));
        core::var(&var)
    }

    /// The instances of a local function that `term` uses, bound around it.
    pub(super) fn local_instances(
        &mut self,
        id: FunctionId,
        function: &Rc<Function>,
        term: Term,
    ) -> Term {
        let instances = self.scope.functions.remove(&id).unwrap_or_default();
        let vars = self.from.function_vars(id);
        let mut term = term;
        for (types, var) in instances {
            self.scope.types.extend(vars.iter().copied().zip(types));
            let value = self.function(function);
            term = core::let_(var, value, term);
        }
        term
    }

    /// `let`s, one after the other.
    pub(super) fn statements(&mut self, stmts: &[crate::typed::Stmt], spine: &mut Spine) {
        for stmt in stmts {
            match stmt {
                crate::typed::Stmt::Let(binding) => {
                    let (pat, value, claims) = &**binding;
                    let value = self.exp(value);
                    let whole = self.bind_pattern(pat, value, spine);
                    self.claims(claims, &[whole], spine);
                }
                crate::typed::Stmt::Functions(functions) => {
                    spine.0.push(Item::Functions(functions.clone()))
                }
                crate::typed::Stmt::Function(id, function) => {
                    spine.0.push(Item::Function(*id, function.clone()))
                }
            }
        }
    }

    /// `let pat = value`; returns the whole value.
    pub(super) fn bind_pattern(&mut self, pat: &Pat, value: Term, spine: &mut Spine) -> Term {
        match pat.kind {
            PatKind::Var(local) => {
                let var = self.declare(local);
                self.let_in(spine, var.clone(), value);
                core::var(&var)
            }
            PatKind::Wildcard
            | PatKind::Number(_)
            | PatKind::Real(_)
            | PatKind::Bool(_)
            | PatKind::Tuple(_)
            | PatKind::Record(_)
            | PatKind::Con(..)
            | PatKind::Array { .. }
            | PatKind::Or(_) => {
                let hint = if matches!(pat.kind, PatKind::Wildcard) { "_" } else { "parts" };
                let whole = self.share_as_var(spine, hint, value);
                self.destructure(pat, &whole, spine);
                whole
            }
        }
    }
}
