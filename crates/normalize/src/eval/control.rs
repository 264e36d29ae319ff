//! Branching: on a condition, on a tag, and on constructors. What is statically known takes no branch.

use lambada_anf::Atom;
use lambada_core::{Arm, Term, Ty};
use lambada_prim::Prim;

use super::functions::absent;
use super::{Evaluator, Hint};
use crate::Eval;
use crate::emit::Closed;
use crate::join::join;
use crate::merge::ill_typed;
use crate::val::{Val, VariantVal};

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
        let (a, then) = side(true)?;
        let (b, otherwise) = side(false)?;
        self.named(hint, |this| join(&mut this.emit, cond, [then, otherwise], [&a, &b]))
    }

    /// Runs the case whose number is the tag; it is one of them.
    pub(super) fn select(
        &mut self,
        tag: Atom,
        numbers: &[i64],
        hint: Hint,
        run: &mut dyn FnMut(&mut Self, usize) -> Eval<Val>,
    ) -> Eval<Val> {
        self.select_from(0, tag, numbers, hint, run)
    }

    fn select_from(
        &mut self,
        first: usize,
        tag: Atom,
        numbers: &[i64],
        hint: Hint,
        run: &mut dyn FnMut(&mut Self, usize) -> Eval<Val>,
    ) -> Eval<Val> {
        if first + 1 == numbers.len() {
            return run(self, first);
        }
        let cond = self.emit.prim(Prim::EqInt, &[tag, Atom::int(numbers[first])]);
        self.branch(cond, hint, &mut |this, holds| {
            if holds {
                run(this, first)
            } else {
                this.select_from(first + 1, tag, numbers, hint, run)
            }
        })
    }

    /// `match t | C x… -> body …`
    pub(super) fn match_(&mut self, t: &Term, arms: &[Arm], ty: &Ty, hint: Hint) -> Eval<Val> {
        let Val::Variant(variant) = self.eval(t, None)? else { return Err(ill_typed()) };
        if let Some(tag) = variant.tag.constant()
            && variant.fields[tag.int() as usize].is_some()
        {
            return self.arm(&variant, tag.int() as usize, &arms[tag.int() as usize], hint);
        }
        let possible: Vec<i64> =
            (0..arms.len() as i64).filter(|c| variant.fields[*c as usize].is_some()).collect();
        if possible.is_empty() {
            return Ok(absent(self.program, ty));
        }
        let tag = self.emit.force(&variant.tag);
        self.select(tag, &possible, hint, &mut |this, k| {
            let c = possible[k] as usize;
            this.arm(&variant, c, &arms[c], hint)
        })
    }

    fn arm(
        &mut self,
        variant: &VariantVal,
        constructor: usize,
        arm: &Arm,
        hint: Hint,
    ) -> Eval<Val> {
        let fields = variant.fields[constructor].as_ref().ok_or_else(ill_typed)?;
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
