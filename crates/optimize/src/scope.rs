//! What is known where a statement stands: the types and definitions of the variables in scope, and inequalities between integers.
//!
//! Integers are compared as linear forms. Indices and sizes do not overflow, so `i + 1 ≤ n` follows from `i < n`.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Exp, Function, LoopKind, Param, Stm, Ty, Var};
use lambada_prim::{Prim, Scalar, ScalarTy};

use crate::facts::consumed;

/// A linear form over variables: coefficients, sorted by variable, and a constant.
#[derive(Clone, Debug, Default, PartialEq)]
struct Linear {
    terms: Vec<(Var, i64)>,
    constant: i64,
}

/// How many terms a form may have before it is not looked into.
const TERMS: usize = 6;
/// Sizes and indices are smaller.
const LARGE: i64 = 1 << 40;
/// How many bounds are chained in a proof.
const STEPS: usize = 5;

impl Linear {
    fn constant(constant: i64) -> Linear {
        Linear { terms: Vec::new(), constant }
    }

    fn of(var: Var) -> Linear {
        Linear { terms: vec![(var, 1)], constant: 0 }
    }

    /// `self + factor * other`, unless something overflows.
    fn plus(&self, other: &Linear, factor: i64) -> Option<Linear> {
        let mut terms: Vec<(Var, i64)> = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (None, None) => break,
                (Some((v, _)), Some((w, _))) if v == w => {
                    let ((v, j), (_, k)) = (a.next()?, b.next()?);
                    (*v, j.checked_add(k.checked_mul(factor)?)?)
                }
                (Some((v, _)), Some((w, _))) if v < w => *a.next()?,
                (Some(_), None) => *a.next()?,
                (_, Some(_)) => {
                    let (w, k) = b.next()?;
                    (*w, k.checked_mul(factor)?)
                }
            };
            if next.1 != 0 {
                terms.push(next);
            }
        }
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        Some(Linear { terms, constant })
    }
}

/// What is known at a place.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    types: HashMap<Var, Ty>,
    definitions: HashMap<Var, Exp>,
    /// Arrays whose memory something has taken over, if they are not needed afterwards.
    consumed: HashSet<Var>,
    /// `var ≤ form`, by variable.
    upper: HashMap<Var, Vec<Linear>>,
    /// `form ≤ var`, by variable.
    lower: HashMap<Var, Vec<Linear>>,
    /// What to forget when a block ends.
    log: Vec<Fact>,
}

#[derive(Clone, Copy, Debug)]
enum Fact {
    Upper(Var),
    Lower(Var),
}

impl Scope {
    /// The scope of a function's body. Sizes are not negative.
    pub(crate) fn new(function: &Function) -> Scope {
        let mut scope = Scope::default();
        for size in &function.sizes {
            scope.types.insert(*size, Ty::int());
            scope.lower.entry(*size).or_default().push(Linear::constant(0));
        }
        scope.params(&function.params);
        scope
    }

    pub(crate) fn params(&mut self, params: &[Param]) {
        for p in params {
            self.types.insert(p.var, p.ty.clone());
        }
    }

    /// The type of a variable; none if it is free in the code at hand.
    pub(crate) fn ty(&self, var: Var) -> Option<&Ty> {
        self.types.get(&var)
    }

    /// What computes a variable. Constructs with blocks are not recorded.
    pub(crate) fn definition(&self, atom: Atom) -> Option<&Exp> {
        self.definitions.get(&atom.as_var()?)
    }

    /// May an array be read here without an update having to copy it for that? Not after something has taken over its memory.
    pub(crate) fn readable(&self, x: Var) -> bool {
        !self.consumed.contains(&x)
    }

    /// Records what a statement binds, when it is passed.
    pub(crate) fn pass(&mut self, stm: &Stm) {
        self.params(&stm.binds);
        consumed(&stm.exp, &mut |x| _ = self.consumed.insert(x));
        match (&stm.exp, stm.binds.as_slice()) {
            (Exp::For { .. } | Exp::Loop { .. } | Exp::If { .. }, _) => {}
            (exp, [bind]) => {
                self.definitions.insert(bind.var, exp.clone());
                self.bounds(bind.var, exp);
            }
            (_, _) => {}
        }
    }

    /// `min a b ≤ a, b` and `a, b ≤ max a b`.
    fn bounds(&mut self, var: Var, exp: &Exp) {
        let Exp::Prim(op, args) = exp else { return };
        match op {
            Prim::MinInt => args.iter().for_each(|a| self.at_most(var.into(), *a, 0)),
            Prim::MaxInt => args.iter().for_each(|a| self.at_most(*a, var.into(), 0)),
            Prim::RemInt => {
                if let Some(Scalar::Int(k)) = args[1].as_lit()
                    && k > 0
                {
                    self.at_most(Atom::int(0), var.into(), 0);
                    self.at_most(var.into(), Atom::int(k - 1), 0);
                }
            }
            _ => {} // other primitives say nothing of the range of their result
        }
    }

    pub(crate) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Forgets the inequalities learned since the mark.
    pub(crate) fn reset(&mut self, mark: usize) {
        for fact in self.log.drain(mark..) {
            let (table, var) = match fact {
                Fact::Upper(var) => (&mut self.upper, var),
                Fact::Lower(var) => (&mut self.lower, var),
            };
            if let Some(list) = table.get_mut(&var) {
                list.pop();
            }
        }
    }

    /// Enters the blocks of a loop: what it binds, and that the index is in range.
    pub(crate) fn enter(&mut self, exp: &Exp) {
        match exp {
            Exp::For { index, extent, .. } => self.range(*index, *extent),
            Exp::Loop { params, kind, .. } => {
                self.params(params);
                consumed(exp, &mut |x| _ = self.consumed.insert(x));
                if let LoopKind::For { index, extent } = kind {
                    self.range(*index, *extent);
                }
            }
            Exp::If { .. }
            | Exp::Prim(..)
            | Exp::Index(..)
            | Exp::Fill(_)
            | Exp::Array(_)
            | Exp::Constant(_)
            | Exp::Update { .. }
            | Exp::MatMul(..)
            | Exp::Accumulator(_)
            | Exp::Accumulate { .. }
            | Exp::Freeze(_)
            | Exp::Check { .. } => {}
        }
    }

    fn range(&mut self, index: Var, extent: Atom) {
        self.types.insert(index, Ty::int());
        self.at_most(Atom::int(0), index.into(), 0);
        self.at_most(index.into(), extent, -1);
    }

    /// Learns `a ≤ b + k`.
    fn at_most(&mut self, a: Atom, b: Atom, k: i64) {
        if let (Some(var), Some(bound)) = (a.as_var(), self.shifted(b, k)) {
            self.upper.entry(var).or_default().push(bound);
            self.log.push(Fact::Upper(var));
        }
        if let (Some(var), Some(bound)) = (b.as_var(), self.shifted(a, -k)) {
            self.lower.entry(var).or_default().push(bound);
            self.log.push(Fact::Lower(var));
        }
        self.learn_terms(a, b, k);
    }

    /// `a ≤ b + k` where a side is itself a sum: bounds for its variables too.
    fn learn_terms(&mut self, a: Atom, b: Atom, k: i64) {
        let Some(slack) = self.shifted(b, k).and_then(|b| b.plus(&self.form(a), -1)) else {
            return;
        };
        for (var, factor) in slack.terms.clone() {
            if Atom::Var(var) == a || Atom::Var(var) == b || factor.abs() != 1 {
                continue;
            }
            // 0 ≤ slack = rest ± var
            let Some(rest) = slack.plus(&Linear::of(var), -factor) else { continue };
            if factor == 1 {
                if let Some(bound) = Linear::default().plus(&rest, -1) {
                    self.lower.entry(var).or_default().push(bound);
                    self.log.push(Fact::Lower(var));
                }
            } else {
                self.upper.entry(var).or_default().push(rest);
                self.log.push(Fact::Upper(var));
            }
        }
    }

    fn shifted(&self, atom: Atom, k: i64) -> Option<Linear> {
        self.form(atom).plus(&Linear::constant(k), 1)
    }

    /// The condition has the truth value from here on, in this block.
    pub(crate) fn assume(&mut self, cond: Atom, holds: bool) {
        let Some(Exp::Prim(op, args)) = self.definition(cond).cloned() else { return };
        match (op, holds) {
            (Prim::LeInt, true) => self.at_most(args[0], args[1], 0),
            (Prim::LtInt, true) => self.at_most(args[0], args[1], -1),
            (Prim::LeInt, false) => self.at_most(args[1], args[0], -1),
            (Prim::LtInt, false) => self.at_most(args[1], args[0], 0),
            (Prim::EqInt, true) | (Prim::NeInt, false) => {
                self.at_most(args[0], args[1], 0);
                self.at_most(args[1], args[0], 0);
            }
            (Prim::And, true) | (Prim::Or, false) => {
                args.iter().for_each(|a| self.assume(*a, holds))
            }
            (Prim::Not, _) => self.assume(args[0], !holds),
            (_, _) => {} // not about integers
        }
    }

    /// Is `a ≤ b` evident? With `strict`, `a < b`.
    pub(crate) fn proves(&self, a: Atom, b: Atom, strict: bool) -> bool {
        let difference = self.form(b).plus(&self.form(a), -1);
        let Some(difference) =
            difference.and_then(|d| d.plus(&Linear::constant(i64::from(strict)), -1))
        else {
            return false;
        };
        self.not_negative(&difference, STEPS)
    }

    /// Are the indices evidently in range?
    pub(crate) fn in_range(&self, x: Var, index: &[Atom]) -> bool {
        let Some(ty) = self.ty(x) else { return false };
        index
            .iter()
            .zip(&ty.dims)
            .all(|(i, size)| self.proves(Atom::int(0), *i, false) && self.proves(*i, *size, true))
    }

    fn not_negative(&self, form: &Linear, steps: usize) -> bool {
        if form.terms.is_empty() {
            return form.constant >= 0;
        }
        if steps == 0 || form.terms.len() > TERMS {
            return false;
        }
        form.terms.iter().any(|(var, factor)| {
            // The form shrinks when a variable with a positive factor is replaced by less, one with a negative factor by more.
            let table = if *factor > 0 { &self.lower } else { &self.upper };
            let bounds = table.get(var).map_or(&[][..], Vec::as_slice);
            bounds.iter().rev().take(8).any(|bound| {
                let without = form.plus(&Linear::of(*var), -*factor);
                without
                    .and_then(|w| w.plus(bound, *factor))
                    .is_some_and(|next| self.not_negative(&next, steps - 1))
            })
        })
    }

    fn form(&self, atom: Atom) -> Linear {
        match atom {
            Atom::Lit(Scalar::Int(k)) => Linear::constant(k),
            Atom::Lit(Scalar::Real(_) | Scalar::Bool(_)) => Linear::default(),
            Atom::Var(var) => self.computed(var, 6).unwrap_or_else(|| Linear::of(var)),
        }
    }

    fn computed(&self, var: Var, depth: usize) -> Option<Linear> {
        let Some(Exp::Prim(op, args)) = self.definitions.get(&var) else { return None };
        if depth == 0 || op.result() != ScalarTy::Int {
            return None;
        }
        let part = |a: Atom| match a {
            Atom::Lit(Scalar::Int(k)) => Linear::constant(k),
            Atom::Lit(Scalar::Real(_) | Scalar::Bool(_)) => Linear::default(),
            Atom::Var(v) => self.computed(v, depth - 1).unwrap_or_else(|| Linear::of(v)),
        };
        let form = match (*op, args.as_slice()) {
            (Prim::AddInt, [a, b]) => part(*a).plus(&part(*b), 1),
            (Prim::SubInt, [a, b]) => part(*a).plus(&part(*b), -1),
            (Prim::NegInt, [a]) => Linear::default().plus(&part(*a), -1),
            (Prim::MulInt, [a, Atom::Lit(Scalar::Int(k))]) => Linear::default().plus(&part(*a), *k),
            (_, _) => None,
        };
        // Constants of this size belong to sizes; larger ones to code that means integers to wrap.
        let small =
            |f: &Linear| f.constant.abs() < LARGE && f.terms.iter().all(|(_, k)| k.abs() < LARGE);
        form.filter(|f| f.terms.len() <= TERMS && small(f))
    }
}
