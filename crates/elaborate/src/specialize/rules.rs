//! Functions with rules: each rule becomes a function of the parameters, the primal value if the
//! rule takes it, and the tangents or the cotangent.
//!
//! *Keeps*: a rule that returns arrays of wrong sizes fails, at the rule.

use lambada_core::{self as core, Ruled, Term, TermKind, Ty, Var};
use lambada_prim::Prim;
use lambada_source::Span;

use super::Specialize;
use super::spine::Spine;
use crate::typed::{Function, Pat, PatKind, Rule, Rules, Step};

impl Specialize<'_> {
    /// A function together with its rules.
    pub(super) fn ruled(&mut self, function: &Function, rules: &Rules, bare: Term) -> Term {
        let mut result = bare.ty().clone();
        for _ in &function.params {
            let Ty::Fun(_, to) = &result else { break };
            result = (**to).clone();
        }
        let jvp = rules.jvp.as_ref().map(|rule| self.jvp_rule(function, rule, &result));
        let vjp = rules.vjp.as_ref().map(|rule| self.vjp_rule(function, rule, &result));
        let (ty, span) = (bare.ty().clone(), bare.span());
        // Inside of the library, `blame` is a place outside of it.
        let library = self.scope.blame.is_some();
        let ruled =
            Ruled { name: rules.name.clone(), library, known: None, function: bare, jvp, vjp };
        Term::new(TermKind::Ruled(Box::new(ruled)), ty, span)
    }

    fn jvp_rule(&mut self, function: &Function, rule: &Rule, result: &Ty) -> core::Rule {
        let mut spine = Spine::default();
        let mut vars = self.enter(function, &mut spine);
        let types = vars.iter().map(|var| var.ty.clone()).collect();
        let value = self.value(rule, result, !axes(result).is_empty(), &mut spine);
        vars.extend(value.clone());
        vars.extend(self.bound(&rule.bound, types, &mut spine));
        let mut body = self.exp(&rule.body);
        if let (Some(value), true) = (&value, !axes(result).is_empty()) {
            body = self.share_as_var(&mut spine, "tangent", body);
            let says = "the tangent has size {0}, the value has size {1}";
            self.same_sizes(&body, &core::var(value), says, rule.span, &mut spine);
        }
        self.rule(rule, vars, value.is_some(), spine, body)
    }

    fn vjp_rule(&mut self, function: &Function, rule: &Rule, result: &Ty) -> core::Rule {
        let mut spine = Spine::default();
        let params = self.enter(function, &mut spine);
        let mut vars = params.clone();
        let value = self.value(rule, result, false, &mut spine);
        vars.extend(value.clone());
        vars.extend(self.bound(&rule.bound, vec![result.clone()], &mut spine));
        let mut body = self.exp(&rule.body);
        if rule.adds {
            for ty in params.iter().filter_map(|param| core::adder(&param.ty)) {
                let add = self.fresh("add", ty);
                body = core::app(body, core::var(&add));
                vars.push(add);
            }
        }
        if params.iter().any(|param| !axes(&param.ty).is_empty()) {
            body = self.share_as_var(&mut spine, "cotangents", body);
            for (k, param) in
                params.iter().enumerate().filter(|(_, param)| !axes(&param.ty).is_empty())
            {
                let part =
                    if params.len() == 1 { body.clone() } else { core::proj(body.clone(), k) };
                let name = &function.names[k];
                let says =
                    format!("the cotangent of `{name}` has size {{0}}, `{name}` has size {{1}}");
                self.same_sizes(&part, &core::var(param), &says, rule.span, &mut spine);
            }
        }
        self.rule(rule, vars, value.is_some(), spine, body)
    }

    /// Binds the parameters again, for a rule.
    fn enter(&mut self, function: &Function, spine: &mut Spine) -> Vec<Var> {
        let vars: Vec<Var> = function.params.iter().map(|pat| self.parameter(pat)).collect();
        for (pat, var) in function.params.iter().zip(&vars) {
            self.destructure(pat, &core::var(var), spine);
        }
        let roots: Vec<Term> = vars.iter().map(core::var).collect();
        self.claims(&function.claims, &roots, spine);
        vars
    }

    /// The value of the function, if the rule takes it or if it is `needed`.
    fn value(&mut self, rule: &Rule, ty: &Ty, needed: bool, spine: &mut Spine) -> Option<Var> {
        let Some(pat) = &rule.value else {
            return needed.then(|| self.fresh("value", ty.clone()));
        };
        let var = self.parameter(pat);
        self.destructure(pat, &core::var(&var), spine);
        Some(var)
    }

    /// The tangents, one variable each.
    fn bound(&mut self, pat: &Pat, types: Vec<Ty>, spine: &mut Spine) -> Vec<Var> {
        let parts: Vec<&Pat> = match &pat.kind {
            PatKind::Tuple(parts) if types.len() > 1 => parts.iter().collect(),
            _ if types.len() == 1 => vec![pat],
            _ => Vec::new(),
        };
        if parts.is_empty() {
            let vars: Vec<Var> = types.into_iter().map(|ty| self.fresh("tangent", ty)).collect();
            let all = core::tuple(vars.iter().map(core::var).collect());
            self.destructure(pat, &all, spine);
            return vars;
        }
        let vars: Vec<Var> = parts.iter().map(|pat| self.parameter(pat)).collect();
        for (pat, var) in parts.iter().zip(&vars) {
            self.destructure(pat, &core::var(var), spine);
        }
        vars
    }

    fn rule(
        &mut self,
        rule: &Rule,
        vars: Vec<Var>,
        takes_value: bool,
        spine: Spine,
        body: Term,
    ) -> core::Rule {
        let body = self.close(spine, body);
        let function = vars.into_iter().rev().fold(body, |body, var| core::lam(var, body));
        let Rule { pseudo, adds, span, .. } = *rule;
        core::Rule { pseudo, takes_value, adds, function, span: self.span(span) }
    }

    /// Checks that all arrays of a value have the sizes of those of another value of the same type.
    fn same_sizes(
        &mut self,
        found: &Term,
        wanted: &Term,
        says: &str,
        span: Span,
        spine: &mut Spine,
    ) {
        for path in axes(found.ty()) {
            let (array, axis) = self.axis_of(found, &path, spine);
            let (other, _) = self.axis_of(wanted, &path, spine);
            let sizes = [array, other].map(|array| core::dim(array, axis));
            let known = sizes.each_ref().map(|size| self.scope.shapes.value(size));
            if known[0].is_some() && known[0] == known[1] {
                continue;
            }
            let [size, wanted] = sizes.map(|size| self.share(spine, "size", size));
            let equal = core::prim(Prim::EqInt, vec![size.clone(), wanted.clone()]);
            let message = format!("sizes differ: {says}");
            self.check_in(spine, equal, span, message, vec![size, wanted]);
        }
    }
}

/// Paths to all axes of a value, except those inside of variants.
fn axes(ty: &Ty) -> Vec<Vec<Step>> {
    let inside = |step: Step, ty: &Ty| {
        let longer = |rest: Vec<Step>| [vec![step], rest].concat();
        axes(ty).into_iter().map(longer).collect::<Vec<_>>()
    };
    match ty {
        Ty::Scalar(_) | Ty::Fun(..) | Ty::Variant(_) => Vec::new(),
        Ty::Array(elem) => {
            let inner = inside(Step::Element, elem);
            std::iter::once(Vec::new()).chain(inner).collect()
        }
        Ty::Tuple(_) | Ty::Record(_) => {
            let parts = ty.components();
            parts.iter().enumerate().flat_map(|(k, ty)| inside(Step::Part(k), ty)).collect()
        }
    }
}
