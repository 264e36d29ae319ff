//! Branching: on a condition, on a tag, and on constructors. What is statically known takes no branch.

use lambada_anf::Atom;
use lambada_core::{Arm, Term, Ty};
use lambada_prim::Prim;

use super::{Evaluator, Hint};
use crate::Eval;
use crate::emit::Closed;
use crate::join::join;
use crate::merge::ill_typed;
use crate::val::{Val, VariantVal};

/// So many cases are tested one after the other.
const CHAIN: usize = 8;

/// So many are, where halving has left no more.
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

    /// The value of a block that has been left, with nodes for functions where another value has them.
    fn reconciled_within(&mut self, block: &mut Closed, val: Val, other: &Val) -> Eval<Val> {
        self.emit.open_again(block);
        let val = self.reconciled(val, other)?;
        *block = self.emit.leave();
        Ok(val)
    }

    /// Runs the case whose number is the tag; it is one of them.
    ///
    /// More than a few cases are a binary decision, because a chain of `k` tests has blocks inside of blocks, `k` deep: what a pass keeps for each
    /// block around another is then quadratic, and so are the results that each `if` hands to the one around it. The first case is tested before all
    /// others, since that of a recursion is often its end (`base_cases` of the optimizer looks there).
    pub(crate) fn select(
        &mut self,
        tag: Atom,
        numbers: &[i64],
        hint: Hint,
        run: &mut dyn FnMut(&mut Self, usize) -> Eval<Val>,
    ) -> Eval<Val> {
        let mut cases: Vec<usize> = (0..numbers.len()).collect();
        if self.for_people || numbers.len() <= CHAIN {
            return self.select_in_order(&cases, tag, numbers, hint, run);
        }
        let rest = cases.split_off(1);
        let cond = self.emit.prim(Prim::EqInt, &[tag, Atom::int(numbers[0])]);
        self.branch(cond, hint, &mut |this, holds| {
            if holds {
                return run(this, 0);
            }
            let mut rest = rest.clone();
            rest.sort_by_key(|k| numbers[*k]);
            this.select_by_halves(&rest, tag, numbers, hint, run)
        })
    }

    /// The same among some of the cases, one after the other.
    fn select_in_order(
        &mut self,
        cases: &[usize],
        tag: Atom,
        numbers: &[i64],
        hint: Hint,
        run: &mut dyn FnMut(&mut Self, usize) -> Eval<Val>,
    ) -> Eval<Val> {
        let [first, rest @ ..] = cases else { return Err(ill_typed()) };
        if rest.is_empty() {
            return run(self, *first);
        }
        let cond = self.emit.prim(Prim::EqInt, &[tag, Atom::int(numbers[*first])]);
        self.branch(cond, hint, &mut |this, holds| {
            if holds {
                run(this, *first)
            } else {
                this.select_in_order(rest, tag, numbers, hint, run)
            }
        })
    }

    /// The same among cases whose numbers ascend.
    fn select_by_halves(
        &mut self,
        cases: &[usize],
        tag: Atom,
        numbers: &[i64],
        hint: Hint,
        run: &mut dyn FnMut(&mut Self, usize) -> Eval<Val>,
    ) -> Eval<Val> {
        if cases.len() <= LEAF {
            return self.select_in_order(cases, tag, numbers, hint, run);
        }
        let (low, high) = cases.split_at(cases.len() / 2);
        let cond = self.emit.prim(Prim::LtInt, &[tag, Atom::int(numbers[high[0]])]);
        self.branch(cond, hint, &mut |this, holds| {
            this.select_by_halves(if holds { low } else { high }, tag, numbers, hint, run)
        })
    }

    /// `match t | C x… -> body …`
    pub(super) fn match_(&mut self, t: &Term, arms: &[Arm], ty: &Ty, hint: Hint) -> Eval<Val> {
        let variant = match self.eval(t, None)? {
            Val::Variant(variant) => variant,
            Val::Node(node) => return self.match_node(&node, arms, hint),
            Val::Leaf(_) | Val::Tuple(_) | Val::Array(_) | Val::Fun(_) | Val::Acc(_) => {
                return Err(ill_typed());
            }
        };
        if let Some(tag) = variant.tag.constant()
            && variant.fields[tag.int() as usize].is_some()
        {
            return self.arm_of(&variant, tag.int() as usize, arms, hint);
        }
        let possible: Vec<i64> =
            (0..arms.len() as i64).filter(|c| variant.fields[*c as usize].is_some()).collect();
        if possible.is_empty() {
            return Ok(self.absent(ty));
        }
        let tag = self.emit.force(&variant.tag);
        self.select(tag, &possible, hint, &mut |this, k| {
            let c = possible[k] as usize;
            this.arm_of(&variant, c, arms, hint)
        })
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
}
