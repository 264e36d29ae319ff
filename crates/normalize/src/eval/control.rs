//! Branching: on a condition, on a tag, and on constructors. Statically known choices need no
//! branch.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{Atom, Op, Ty as AnfTy};
use lambada_core::{Arm, Term, TermKind, Ty, Var};
use lambada_prim::Prim;

use super::{Evaluator, Hint, nodes, slots};
use crate::emit::Closed;
use crate::join::join;
use crate::val::{NodeVal, Val, VariantVal};
use crate::{Eval, ill_typed};

/// Maximal number of cases tested one after the other.
const CHAIN: usize = 8;

/// Maximal number of cases tested one after the other after halving.
const LEAF: usize = 2;

impl Evaluator<'_> {
    /// `if cond { run(true) } else { run(false) }`
    pub(super) fn branch(
        &mut self,
        cond: Atom,
        hint: Hint,
        run: &mut dyn FnMut(&mut Self, bool) -> Eval<Val>,
    ) -> Eval<Val> {
        if let Some(known) = cond.as_lit() {
            return run(self, known.bool());
        }
        let mut side = |holds: bool| -> Eval<(Val, Closed)> {
            self.emit.enter();
            self.emit.learn(cond, holds);
            let value = self.scoped(|this| run(this, holds))?;
            Ok((value, self.emit.leave()))
        };
        let (a, mut then) = side(true)?;
        let (b, mut otherwise) = side(false)?;
        let a = self.reconciled_within(&mut then, a, &b)?;
        let b = self.reconciled_within(&mut otherwise, b, &a)?;
        self.named(hint, |this| join(&mut this.emit, cond, [then, otherwise], [&a, &b]))
    }

    /// The value of a block that has been left, with nodes for functions if the other value has
    /// nodes.
    fn reconciled_within(&mut self, block: &mut Closed, val: Val, other: &Val) -> Eval<Val> {
        self.emit.open_again(block);
        let val = self.reconciled(val, other)?;
        *block = self.emit.leave();
        Ok(val)
    }

    /// Runs the case whose number is the tag; the tag must be the number of some case.
    pub(crate) fn select(
        &mut self,
        tag: Atom,
        numbers: &[i64],
        hint: Hint,
        run: &mut dyn FnMut(&mut Self, usize) -> Eval<Val>,
    ) -> Eval<Val> {
        let cases: Vec<Vec<i64>> = numbers.iter().map(|number| vec![*number]).collect();
        self.select_case(tag, &cases, hint, run)
    }

    /// Runs the case that has the tag among its numbers; some case must have it. Each case is
    /// written once, even if it has several numbers.
    ///
    /// More than a few cases are a binary decision, because a chain of `k` tests nests blocks `k`
    /// deep. Passes that keep data for each pair of nested blocks would then be quadratic, and so
    /// would the results that each `if` hands to the one around it. The first case is tested before
    /// all others, because it is often the end of a recursion (`base_cases` of the optimizer looks
    /// there). The case with the most numbers is the remainder.
    pub(super) fn select_case(
        &mut self,
        tag: Atom,
        cases: &[Vec<i64>],
        hint: Hint,
        run: &mut dyn FnMut(&mut Self, usize) -> Eval<Val>,
    ) -> Eval<Val> {
        let decision = Decision::of(cases, self.for_people).ok_or_else(ill_typed)?;
        self.decide(tag, &decision, hint, run)
    }

    fn decide(
        &mut self,
        tag: Atom,
        decision: &Decision,
        hint: Hint,
        run: &mut dyn FnMut(&mut Self, usize) -> Eval<Val>,
    ) -> Eval<Val> {
        let (cond, [then, otherwise]) = match decision {
            Decision::Case(k) => return run(self, *k),
            Decision::IsOneOf(numbers, sides) => (self.is_one_of(tag, numbers), &**sides),
            Decision::IsBelow(number, sides) => {
                (self.emit.prim(Prim::LtInt, &[tag, Atom::int(*number)]), &**sides)
            }
        };
        self.branch(cond, hint, &mut |this, holds| {
            this.decide(tag, if holds { then } else { otherwise }, hint, run)
        })
    }

    /// Whether the tag is one of these numbers, tested by intervals.
    fn is_one_of(&mut self, tag: Atom, numbers: &[i64]) -> Atom {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        let intervals =
            numbers.chunk_by(|a, b| a + 1 == *b).map(|run| (run[0], run[run.len() - 1]));
        let tests: Vec<Atom> = intervals
            .map(|(low, high)| {
                if low == high {
                    return self.emit.prim(Prim::EqInt, &[tag, Atom::int(low)]);
                }
                let above = self.emit.prim(Prim::LeInt, &[Atom::int(low), tag]);
                let below = self.emit.prim(Prim::LeInt, &[tag, Atom::int(high)]);
                self.emit.prim(Prim::And, &[above, below])
            })
            .collect();
        let either = |a: Atom, b: Atom| self.emit.prim(Prim::Or, &[a, b]);
        tests.into_iter().reduce(either).unwrap_or(Atom::bool(false))
    }

    /// `match t | C x… -> body …`
    pub(super) fn match_(&mut self, t: &Term, arms: &[Arm], ty: &Ty, hint: Hint) -> Eval<Val> {
        let value = self.eval(t, None)?;
        if let Val::Node(node) = &value {
            return self.match_node(node, arms, hint);
        }
        let variant = value.as_variant()?;
        if let Some(tag) = variant.tag.constant()
            && variant.fields[tag.int() as usize].is_some()
        {
            return self.arm_of(variant, tag.int() as usize, arms, hint);
        }
        let possible = possible(arms, |c| variant.fields[c].is_some());
        if possible.is_empty() {
            return Ok(self.absent(ty));
        }
        if let [c] = possible[..] {
            return self.arm_of(variant, c as usize, arms, hint);
        }
        let tag = self.emit.force(&variant.tag);
        let cases = self.cases(arms, &possible);
        self.select_case(tag, &cases, hint, &mut |this, k| match cases[k][..] {
            [c] => this.arm_of(variant, c as usize, arms, hint),
            _ => this.shared_arm(&cases[k], arms, hint),
        })
    }

    /// `match t | C x… -> body …` for a node.
    fn match_node(&mut self, t: &NodeVal, arms: &[Arm], hint: Hint) -> Eval<Val> {
        let Ty::Variant(id) = t.ty else { return Err(ill_typed()) };
        if let Some((tag, fields)) = &t.known {
            return self.arm(fields, &arms[*tag], hint);
        }
        let handle = self.emit.force(&t.handle);
        let cases = self.cases(arms, &possible(arms, |_| true));
        let run = &mut |this: &mut Self, case: usize| {
            let [tag] = cases[case][..] else {
                return this.shared_arm(&cases[case], arms, hint);
            };
            let tag = tag as usize;
            let sketches = slots::constructor(this, id, tag);
            let fields = nodes::fields(this, handle, tag, &sketches, &names(&arms[tag]))?;
            this.arm(&fields, &arms[tag], hint)
        };
        if let [_] = cases[..] {
            return run(self, 0);
        }
        let tag = self.emit.bind("tag", AnfTy::int(), Op::Tag(handle));
        self.select_case(tag, &cases, hint, run)
    }

    fn arm_of(
        &mut self,
        variant: &VariantVal,
        constructor: usize,
        arms: &[Arm],
        hint: Hint,
    ) -> Eval<Val> {
        let fields = variant.fields[constructor].as_ref().ok_or_else(ill_typed)?;
        self.arm(fields, &arms[constructor], hint)
    }

    /// An arm, for a value with these fields.
    pub(super) fn arm(&mut self, fields: &[Val], arm: &Arm, hint: Hint) -> Eval<Val> {
        self.scoped(|this| {
            for (x, value) in arm.vars.iter().zip(fields) {
                this.emit.hint = Some(x.hint.clone());
                this.bind(x, value.clone());
                this.emit.hint = None;
            }
            this.eval(&arm.body, hint)
        })
    }

    /// Groups the constructors into cases: constructors whose arms are equal terms that read no
    /// field are one case. A pattern `_` for many constructors is a function that all of their arms
    /// call, and is written out once.
    ///
    /// For people at most one such case is made, the `_` at the end.
    pub(super) fn cases(&self, arms: &[Arm], possible: &[i64]) -> Vec<Vec<i64>> {
        let (mut cases, mut known) = (Vec::<Vec<i64>>::new(), HashMap::new());
        for c in possible {
            let arm = &arms[*c as usize];
            let mut key = Vec::new();
            let case = match spelled(&arm.body, &arm.vars, &mut key) {
                true => *known.entry(key).or_insert(cases.len()),
                false => cases.len(),
            };
            if case == cases.len() {
                cases.push(Vec::new());
            }
            cases[case].push(*c);
        }
        if self.for_people {
            let most = cases.iter().map(Vec::len).max().unwrap_or(0);
            let kept = cases.iter().position(|case| case.len() == most);
            let parted = cases.into_iter().enumerate().flat_map(|(k, case)| {
                if Some(k) == kept {
                    vec![case]
                } else {
                    case.into_iter().map(|c| vec![c]).collect()
                }
            });
            let mut parted: Vec<Vec<i64>> = parted.collect();
            parted.sort_by_key(|case| case[0]);
            return parted;
        }
        cases
    }

    /// The common arm of several constructors.
    pub(super) fn shared_arm(&mut self, case: &[i64], arms: &[Arm], hint: Hint) -> Eval<Val> {
        let first = case.first().ok_or_else(ill_typed)?;
        self.scoped(|this| this.eval(&arms[*first as usize].body, hint))
    }
}

/// Names of the fields of a node in an arm, from the variables of the pattern.
fn names(arm: &Arm) -> Vec<Rc<str>> {
    let mut names: Vec<Rc<str>> = arm.vars.iter().map(|x| x.hint.clone()).collect();
    let mut body = &arm.body;
    while let TermKind::Let(x, value, rest) = body.kind()
        && let TermKind::Var(field) = value.kind()
    {
        let at = arm.vars.iter().position(|var| var.id == field.id);
        at.into_iter().for_each(|k| names[k] = x.hint.clone());
        body = rest;
    }
    names
}

/// A decision tree for the case of a tag.
enum Decision {
    Case(usize),
    /// Whether the tag is one of some numbers: the decisions if so and if not.
    IsOneOf(Vec<i64>, Box<[Decision; 2]>),
    IsBelow(i64, Box<[Decision; 2]>),
}

impl Decision {
    /// The decision among cases with these numbers; `None` without cases.
    fn of(cases: &[Vec<i64>], for_people: bool) -> Option<Decision> {
        let mut order: Vec<usize> = (0..cases.len()).collect();
        let size = |k: &usize| (cases[*k].len(), std::cmp::Reverse(*k));
        if let Some(most) = order.iter().copied().max_by_key(size).filter(|k| cases[*k].len() > 1) {
            let most = order.remove(most);
            order.push(most);
        }
        if for_people || cases.len() <= CHAIN {
            return Decision::in_order(&order, cases, None);
        }
        // First the arms of several numbers, then halving among the rest.
        let rest = order.split_off(1);
        let (mut single, several) =
            rest.into_iter().partition::<Vec<_>, _>(|k| cases[*k].len() == 1);
        single.sort_by_key(|k| cases[*k][0]);
        order.extend(several);
        Decision::in_order(&order, cases, Decision::by_halves(&single, cases))
    }

    /// Tests cases one after the other, with `rest` as the remainder; without `rest`, the last
    /// case.
    fn in_order(order: &[usize], cases: &[Vec<i64>], rest: Option<Decision>) -> Option<Decision> {
        order.iter().rev().fold(rest, |rest, k| match rest {
            None => Some(Decision::Case(*k)),
            Some(rest) => {
                Some(Decision::IsOneOf(cases[*k].clone(), Box::new([Decision::Case(*k), rest])))
            }
        })
    }

    /// Halves cases of one number each, in ascending order.
    fn by_halves(order: &[usize], cases: &[Vec<i64>]) -> Option<Decision> {
        if order.len() <= LEAF {
            return Decision::in_order(order, cases, None);
        }
        let (low, high) = order.split_at(order.len() / 2);
        let sides = [Decision::by_halves(low, cases)?, Decision::by_halves(high, cases)?];
        Some(Decision::IsBelow(cases[high[0]][0], Box::new(sides)))
    }
}

/// The constructors that a value of these arms may have.
pub(super) fn possible(arms: &[Arm], is_there: impl Fn(usize) -> bool) -> Vec<i64> {
    let may_be = |c: &usize| is_there(*c) && !is_never(&arms[*c].body);
    (0..arms.len()).filter(may_be).map(|c| c as i64).collect()
}

/// Whether no run evaluates the term.
pub(super) fn is_never(term: &Term) -> bool {
    matches!(term.kind(), TermKind::Never)
}

/// Maximal number of parts of compared terms.
const SPELLED: usize = 64;

/// Appends the key of a short term that only calls, constructs and names, without any of these
/// variables. Terms with equal keys are equal.
fn spelled(term: &Term, fields: &[Var], key: &mut Vec<[u64; 2]>) -> bool {
    if key.len() >= SPELLED {
        return false;
    }
    let parts: &[Term] = match term.kind() {
        TermKind::Var(x) if fields.iter().any(|field| field.id == x.id) => return false,
        TermKind::Var(x) => return push(key, [0, x.id.into()]),
        TermKind::Global(id) => return push(key, [1, id.0.into()]),
        // A failure inside a call is reported at the call's place.
        TermKind::App(f, x) => {
            let span = term.span();
            key.push([2, u64::from(span.start) << 32 | u64::from(span.end)]);
            return spelled(f, fields, key) && spelled(x, fields, key);
        }
        TermKind::Tuple(items) => {
            key.push([3, items.len() as u64]);
            items
        }
        TermKind::Con(tag, items) => {
            key.push([4, *tag as u64]);
            items
        }
        _ => return false, // what computes more is not compared
    };
    parts.iter().all(|part| spelled(part, fields, key))
}

fn push(key: &mut Vec<[u64; 2]>, part: [u64; 2]) -> bool {
    key.push(part);
    true
}
