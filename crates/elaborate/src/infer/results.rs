//! Sizes in the results of recursive functions, where the signature has no result, or one with
//! `[]`.
//!
//! A group is elaborated as if each call returned the sizes of the function's own result, at the
//! sizes of the call's arguments. Where a call does not, that size becomes unknown, and the group
//! is elaborated again:
//!
//! ```text
//!   def rec f [n] (xs : [n]int) k =                                 gives [n]int
//!     if k == 0 then xs else f (for i < n => i) (k - 1)
//!   def rec f [n] (xs : [n]int) k =                                 gives []int
//!     if k == 0 then xs else f (for i < n + 1 => i) (k - 1)
//! ```
//!
//! *Keeps* the sizes that all calls agree about. Each repetition makes a size unknown or
//! two type variables equal, so the repetitions end.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use lambada_surface::ast::Def;

use crate::solve::scheme::Quantified;
use crate::solve::size::AtomKind;
use crate::solve::size::{Atom, Poly};
use crate::solve::ty::{Node, Ty};
use crate::typed::Function;

use super::Infer;
use super::env::{OwnCall, Provisional, SizedCall};
use super::functions::{Left, Syntax};
use super::sizes::Bound;

/// The elaborated definitions of a group, and their calls at types of their own.
pub(super) struct Elaborated {
    pub bodies: Vec<(Function, Ty, Left)>,
    pub own_calls: Vec<OwnCall>,
}

/// The result of a function in the previous repetition: its type, its named type variables, and the
/// places with unknown sizes.
#[derive(Default)]
struct Inferred {
    found: Option<(Ty, HashMap<Rc<str>, Ty>)>,
    unknown: BTreeSet<usize>,
}

/// Pairs of equal type variables, each a function of the group and the name of its variable.
type Same = Vec<((usize, Rc<str>), (usize, Rc<str>))>;

impl Infer<'_> {
    /// Elaborates the functions of a group, one level deeper; `announce` makes a function's
    /// signature visible to its callers.
    pub(super) fn elaborate_group(
        &mut self,
        defs: &[&Def],
        announce: &mut dyn FnMut(&mut Self, usize, &Rc<Provisional>),
    ) -> Elaborated {
        let (mark, undecided) = (self.solver.mark(), self.solver.undecided.len());
        let (problems, failed) = (self.problems.len(), self.solver.failed.len());
        let (calls, missing) = (self.sized_calls.len(), self.missing.len());
        let mut results: Vec<Inferred> = defs.iter().map(|_| Inferred::default()).collect();
        let mut same = Same::new();
        let scope = self.env.mark();
        loop {
            self.env.restore(scope);
            let outer = std::mem::take(&mut self.own_calls);
            self.solver.level += 1;
            let known = self.announced(defs, (&results, &same), announce);
            let mut bodies = Vec::new();
            for (def, known) in defs.iter().zip(&known) {
                bodies.push(self.recursive_function(&Syntax::of_def(def), known));
            }
            self.solver.level -= 1;
            self.settle_sizes(undecided);
            let own_calls = std::mem::replace(&mut self.own_calls, outer);
            let sized: Vec<SizedCall> = self.sized_calls.drain(calls..).collect();
            let more = self.same_variables(&own_calls, &known, &same);
            let mut again = !more.is_empty();
            same.extend(more);
            for (k, result) in results.iter_mut().enumerate() {
                let wrong = self.wrong_sizes(defs[k], &known[k], &bodies[k], &sized);
                let before = result.unknown.len();
                result.unknown.extend(wrong);
                again |= result.unknown.len() > before;
            }
            if !again {
                self.sized_calls.extend(sized);
                return Elaborated { bodies, own_calls };
            }
            for (k, result) in results.iter_mut().enumerate() {
                let (_, to) = self.parts(bodies[k].1, Syntax::of_def(defs[k]).params.len());
                result.found = Some((to, known[k].type_vars.clone()));
            }
            self.forget_missing_sizes(missing);
            self.solver.forget_pending(mark);
            self.solver.undecided.truncate(undecided);
            self.solver.failed.truncate(failed);
            self.problems.truncate(problems);
        }
    }

    /// Announces the signatures, refined by the previous repetition.
    fn announced(
        &mut self,
        defs: &[&Def],
        (results, same): (&[Inferred], &Same),
        announce: &mut dyn FnMut(&mut Self, usize, &Rc<Provisional>),
    ) -> Vec<Rc<Provisional>> {
        let mut all = Vec::new();
        for (def, result) in defs.iter().zip(results) {
            let syntax = Syntax::of_def(def);
            let mut known = self.signature(&syntax);
            if !result.unknown.is_empty() {
                self.forget_sizes(&mut known, syntax.params.len(), result);
            }
            all.push(known);
        }
        for ((k, name), (l, other)) in same {
            self.solver.identify(all[*k].type_vars[name], all[*l].type_vars[other]);
        }
        for known in &mut all {
            known.vars.iter_mut().for_each(|var| *var = self.solver.root(*var));
        }
        let all: Vec<Rc<Provisional>> = all.into_iter().map(Rc::new).collect();
        all.iter().enumerate().for_each(|(k, known)| announce(self, k, known));
        all
    }

    /// Type variables of different functions of the group that must be equal: a call instantiates
    /// an overloaded variable of one with a variable of the other. Empty if two variables of one
    /// signature would become equal.
    fn same_variables(&self, calls: &[OwnCall], known: &[Rc<Provisional>], before: &Same) -> Same {
        let mut owners: HashMap<Ty, (usize, Rc<str>)> = HashMap::new();
        for (k, known) in known.iter().enumerate().filter(|(_, known)| known.complete) {
            for (name, var) in known.type_vars.iter() {
                let var = self.solver.root(*var);
                if known.vars.contains(&var) {
                    owners.entry(var).or_insert_with(|| (k, name.clone()));
                }
            }
        }
        let mut same = Same::new();
        for (var, arg) in calls.iter().flat_map(|call| call.pairs.iter()) {
            let (var, arg) = (self.solver.root(*var), self.solver.root(*arg));
            if let (Some(of), Some(by)) = (owners.get(&var), owners.get(&arg))
                && of.0 != by.0
                && self.is_overloaded(var)
            {
                same.push((of.clone(), by.clone()));
            }
        }
        let mut class: HashMap<&(usize, Rc<str>), usize> = HashMap::new();
        for (count, (one, other)) in before.iter().chain(&same).enumerate() {
            let (old, new) = (class.get(one).copied(), class.get(other).copied());
            let number = old.or(new).unwrap_or(count);
            class
                .values_mut()
                .filter(|k| Some(**k) == old || Some(**k) == new)
                .for_each(|k| *k = number);
            class.insert(one, number);
            class.insert(other, number);
        }
        let clash = class.iter().any(|(one, k)| {
            class.iter().any(|(other, l)| k == l && one.0 == other.0 && one.1 != other.1)
        });
        if clash { Same::new() } else { same }
    }

    /// Refines a signature by the result found before: unknown sizes at some places, and at all
    /// others a size that each call solves.
    fn forget_sizes(&mut self, known: &mut Provisional, arity: usize, result: &Inferred) {
        let Some((found, type_vars)) = &result.found else { return };
        let vars: HashMap<Ty, Ty> = type_vars
            .iter()
            .filter_map(|(name, old)| Some((self.solver.root(*old), *known.type_vars.get(name)?)))
            .collect();
        let mut place = 0;
        let (found, level) = (*found, self.solver.level);
        let mut sizes = Vec::new();
        let shape = self.solver.copy_with(found, &vars, &mut |solver, _| {
            let unknown = result.unknown.contains(&place);
            let kind = if unknown { AtomKind::Opaque } else { AtomKind::Flexible(level) };
            let atom = solver.sizes.fresh(kind);
            if unknown {
                sizes.push((atom, Quantified::Result));
            }
            place += 1;
            Poly::var(atom)
        });
        let (_, to) = self.parts(known.ty, arity);
        // A result that the signature does not admit has been reported.
        if self.solver.unify(to, shape).is_err() {
            return;
        }
        known.atoms.extend(sizes);
        known.unknown.clone_from(&result.unknown);
    }

    /// A function with unknown result sizes: its body may have any size at those places.
    pub(super) fn with_unknown_sizes(
        &mut self,
        syntax: &Syntax<'_>,
        expected: Ty,
        unknown: &BTreeSet<usize>,
        bound: &Bound,
    ) -> (Function, Ty, Left) {
        let arity = syntax.params.len();
        let (params, result) = self.parts(expected, arity);
        let open = match syntax.result {
            Some(_) => self.with_any_sizes(result, unknown),
            None => self.solver.fresh(),
        };
        let open = self.solver.funs(&params, open);
        let (function, ty, mut left) = self.function(syntax, Some(open));
        let (params, found) = self.parts(ty, arity);
        let sizes = self.sizes_in(result);
        let mut place = 0;
        let found = self.solver.copy_with(found, &HashMap::new(), &mut |_, size| {
            let own = sizes.get(place).filter(|_| unknown.contains(&place));
            place += 1;
            own.unwrap_or(size).clone()
        });
        if let Err(clash) = self.solver.unify(found, result) {
            self.report_clash(clash, found, result, syntax.body.span, None);
        }
        for (atom, how) in bound {
            if *how == Quantified::Result {
                self.solver.sizes.close(*atom);
                left.add_inside(*atom);
            }
        }
        let ty = self.solver.funs(&params, found);
        (function, ty, left)
    }

    /// The type with flexible sizes at these places, for the body to determine.
    fn with_any_sizes(&mut self, ty: Ty, places: &BTreeSet<usize>) -> Ty {
        let (mut place, level) = (0, self.solver.level);
        self.solver.copy_with(ty, &HashMap::new(), &mut |solver, size| {
            place += 1;
            match places.contains(&(place - 1)) {
                true => Poly::var(solver.sizes.fresh(AtomKind::Flexible(level))),
                false => size.clone(),
            }
        })
    }

    /// Parameter types and result of a function type.
    fn parts(&self, mut ty: Ty, arity: usize) -> (Vec<Ty>, Ty) {
        let mut params = Vec::new();
        while params.len() < arity
            && let Node::Fun(from, to) = self.solver.get(ty)
        {
            params.push(*from);
            ty = *to;
        }
        (params, ty)
    }

    /// Places in the result of a function at which the size at some call is not provably that of
    /// the function at the call's arguments.
    fn wrong_sizes(
        &mut self,
        def: &Def,
        known: &Provisional,
        (_, ty, left): &(Function, Ty, Left),
        calls: &[SizedCall],
    ) -> HashSet<usize> {
        let syntax = Syntax::of_def(def);
        let mut wrong = HashSet::new();
        if !known.has_open_sizes() {
            return wrong;
        }
        let (params, result) = self.parts(*ty, syntax.params.len());
        let result = self.sizes_in(result);
        for call in calls.iter().filter(|call| call.of == known.ty && !result.is_empty()) {
            let (args, given) = self.parts(call.ty, params.len());
            let mut by = self.values_of_parameters(left, &call.bound);
            for (param, arg) in params.iter().zip(args) {
                let sizes = self.sizes_in(*param).into_iter().zip(self.sizes_in(arg));
                for (size, given) in sizes {
                    if let Some(atom) = size.as_var() {
                        by.entry(atom).or_insert(given);
                    }
                }
            }
            for (place, (size, given)) in result.iter().zip(self.sizes_in(given)).enumerate() {
                if known.is_open_at(place) && !self.is_size_at(size, &by, &given) {
                    wrong.insert(place);
                }
            }
        }
        wrong
    }

    fn values_of_parameters(&mut self, left: &Left, bound: &Bound) -> HashMap<Atom, Poly> {
        let mut values = HashMap::new();
        for (atom, how) in bound {
            if let Quantified::Parameter(k) = how
                && let Some(param) = left.parameter(*k)
            {
                let value = self.solver.sizes.resolve(&Poly::var(*atom));
                values.insert(param, value);
            }
        }
        values
    }

    /// The sizes in a type, in order.
    pub(super) fn sizes_in(&mut self, ty: Ty) -> Vec<Poly> {
        let mut sizes = Vec::new();
        self.solver.visit(ty, &mut |solver, part| {
            if let Node::Array(size, _) = solver.get(part) {
                sizes.push(size.clone());
            }
        });
        sizes.iter().map(|size| self.solver.sizes.resolve(size)).collect()
    }

    /// Whether `given` is provably the size after substitution.
    fn is_size_at(&mut self, size: &Poly, by: &HashMap<Atom, Poly>, given: &Poly) -> bool {
        let mut atoms = Vec::new();
        self.solver.sizes.atoms(size, &mut atoms);
        let sizes = &mut self.solver.sizes;
        let known = |atom: &Atom| by.contains_key(atom) || !sizes.any_closed(&Poly::var(*atom));
        if !atoms.iter().all(known) {
            return false;
        }
        let expected = sizes.replace(size, &mut |atom| by.get(&atom).cloned());
        expected.plus(given, -1).as_constant() == Some(0)
    }
}
