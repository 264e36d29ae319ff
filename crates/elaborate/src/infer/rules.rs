//! Custom derivatives: `with jvp dx of y = e`. They belong to the function: they are elaborated in
//! the scope of its parameters and before its generalization, so a constraint that a rule puts on a
//! type holds for the function.
//!
//! For `f : t1 -> … -> tk -> r`, `with jvp` takes the tangents `(t1, …, tk)` and returns an `r`;
//! `with vjp` takes a cotangent `r` and returns `(c1, …, ck)`, where c is `[](a, b)` for a
//! parameter `a -> b` and t for all others. A single one is no tuple. For a parameter `a -> b`, the
//! body of `with vjp` may instead take a function `(a, b) -> ()`, which adds a pair, and return
//! `()`.

use std::rc::Rc;

use lambada_source::Span;
use lambada_surface::ast::{Def, ExprKind, Mode, Name, Param, PatternKind, Rule};

use crate::messages::{self, Why};
use crate::solve::constraint::Constraint;
use crate::solve::ty::{Node, Origin, RULES, Ty};
use crate::typed::{self, Pat};

use super::{Infer, LocalMeaning};

/// Name and rules of a function, from the source.
#[derive(Clone, Copy)]
pub(super) struct Written<'e> {
    pub name: &'e Name,
    pub rules: &'e [Rule],
}

/// The parameters of a function with rules.
struct Signature<'e> {
    params: &'e [&'e Param],
    types: &'e [Ty],
    result: Ty,
}

impl Infer<'_> {
    /// The rules of a function whose parameters are in scope and have these types.
    pub(super) fn rules(
        &mut self,
        written: Written<'_>,
        params: &[&Param],
        types: &[Ty],
        result: Ty,
    ) -> Option<Rc<typed::Rules>> {
        let first = written.rules.first()?;
        if types.is_empty() {
            self.problems.push(messages::rules::of_value(&written.name.text, first.span));
            return None;
        }
        let signature = Signature { params, types, result };
        self.demand_first_order(written.name, &signature);
        let (mut jvp, mut vjp) = (None, None);
        for rule in written.rules {
            let place = match rule.mode {
                Mode::Forward => &mut jvp,
                Mode::Reverse => &mut vjp,
            };
            let found = self.rule(rule, &signature);
            self.pseudo |= found.pseudo;
            let before = place.replace(found);
            if let Some(typed::Rule { span, .. }) = before {
                self.problems.push(messages::rules::twice(rule.mode.name(), rule.span, span));
            }
        }
        let differ = |(a, b): (&typed::Rule, &typed::Rule)| a.pseudo || b.pseudo;
        self.modes_differ |= jvp.as_ref().zip(vjp.as_ref()).is_some_and(differ);
        Some(Rc::new(typed::Rules { name: written.name.text.clone(), jvp, vjp }))
    }

    /// Forbids functions inside types, except for parameters that are functions between data.
    fn demand_first_order(&mut self, name: &Name, signature: &Signature<'_>) {
        let origin = |span: Span| Origin { what: RULES.into(), span };
        for (param, ty) in signature.params.iter().zip(signature.types) {
            let parts = match self.solver.get(*ty) {
                Node::Fun(from, to) => vec![*from, *to],
                _ => vec![*ty],
            };
            for ty in parts {
                let origin = origin(param.pattern.span);
                self.solver.add(Constraint::FirstOrder { ty, origin });
            }
        }
        let ty = signature.result;
        self.solver.add(Constraint::FirstOrder { ty, origin: origin(name.span) });
    }

    fn rule(&mut self, rule: &Rule, signature: &Signature<'_>) -> typed::Rule {
        let scope = self.env.mark();
        let tangents = self.all(signature.types.to_vec());
        // Cotangents are data, so a body that is a function takes functions that add to them.
        let adds = rule.mode == Mode::Reverse
            && matches!(rule.body.kind, ExprKind::Lambda(..))
            && signature.types.iter().any(|ty| matches!(self.solver.get(*ty), Node::Fun(..)));
        let (takes, gives, why) = match rule.mode {
            Mode::Forward => (tangents, signature.result, "what `with jvp` gives"),
            Mode::Reverse if adds => {
                (signature.result, self.added(signature), "what `with vjp` gives")
            }
            Mode::Reverse => {
                let parts = signature.types.iter().map(|ty| self.cotangent(*ty)).collect();
                (signature.result, self.all(parts), "what `with vjp` gives")
            }
        };
        let takes = if self.is_well_shaped(rule, signature) { takes } else { self.solver.error() };
        let patterns: Vec<_> =
            rule.params.iter().chain(&rule.value).map(|param| &param.pattern).collect();
        let names = self.declare_names(&patterns);
        let bound = self.rule_param(&rule.params[0], takes, &names);
        let value =
            rule.value.as_ref().map(|value| self.rule_param(value, signature.result, &names));
        let body = self.check(&rule.body, gives, &Why::Form(why));
        self.env.restore(scope);
        typed::Rule { pseudo: rule.pseudo, bound, value, adds, body, span: rule.span }
    }

    /// Requires one pattern; a tuple pattern must have one part for each tangent.
    fn is_well_shaped(&mut self, rule: &Rule, signature: &Signature<'_>) -> bool {
        let wanted = match rule.mode {
            Mode::Forward => signature.types.len(),
            Mode::Reverse => 1,
        };
        let parts = match &rule.params[0].pattern.kind {
            PatternKind::Tuple(parts) if wanted > 1 => parts.len(),
            _ => wanted,
        };
        let span = rule
            .params
            .iter()
            .fold(rule.params[0].pattern.span, |all, param| all.to(param.pattern.span));
        let right = rule.params.len() == 1 && parts == wanted;
        if !right {
            self.problems.push(messages::rules::parts(rule.mode.name(), wanted, span));
        }
        right
    }

    fn rule_param(&mut self, param: &Param, ty: Ty, names: &super::patterns::Names) -> Pat {
        if let Some(written) = &param.ty {
            let declared = self.ty(written, None);
            self.expect_type(declared, ty, param.pattern.span, &Why::Annotation(written.span));
        }
        let pat = self.pattern(&param.pattern, ty, names, None);
        self.demand_irrefutable(&pat);
        pat
    }

    /// A tuple of several types; a single type by itself.
    fn all(&mut self, types: Vec<Ty>) -> Ty {
        if let [ty] = types[..] { ty } else { self.solver.tuple(types) }
    }

    /// The type of a rule's body that takes adders.
    fn added(&mut self, signature: &Signature<'_>) -> Ty {
        let (mut adders, mut parts) = (Vec::new(), Vec::new());
        for ty in signature.types {
            let Node::Fun(from, to) = *self.solver.get(*ty) else {
                parts.push(*ty);
                continue;
            };
            let pair = self.solver.tuple(vec![from, to]);
            let unit = self.solver.tuple(Vec::new());
            adders.push(self.solver.fun(pair, unit));
            parts.push(unit);
        }
        let all = self.all(parts);
        self.solver.funs(&adders, all)
    }

    /// The type of the cotangent of a parameter.
    fn cotangent(&mut self, ty: Ty) -> Ty {
        let Node::Fun(from, to) = *self.solver.get(ty) else { return ty };
        let pair = self.solver.tuple(vec![from, to]);
        let size = self.solver.fresh_size();
        self.solver.array(size, pair)
    }

    /// A local function with rules adds to no accumulator around it.
    pub(super) fn check_additions(&mut self, def: &Def) {
        let Some(rule) = def.rules.first() else { return };
        let added = lambada_surface::free_variables(def);
        let added = added
            .iter()
            .find(|name| matches!(self.env.get(name), Some(LocalMeaning::Accumulator(..))));
        if let Some(name) = added {
            self.problems.push(messages::rules::adds(&def.name.text, name, rule.span));
        }
    }
}
