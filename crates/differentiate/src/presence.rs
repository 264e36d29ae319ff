//! Absent is not zero times a factor: the cotangent of a scalar, and the condition of its presence.
//!
//! ```text
//!   let r = sqrt x in if x > 0 then r else x      r̄ is there if x > 0; its contribution to x̄ is
//!                                                 if x > 0 then r̄ / (2 r) else 0, and not 0 · ∞
//! ```
//!
//! A branch not taken, an argument that `max` does not return and an iteration without a
//! contribution leave a cotangent absent. As a number it is zero, which an infinite or undefined
//! partial derivative would turn into NaN. So an entry of `Γ̄` that is a sum in SSA has, beside the
//! sum, its *presence*: a boolean over the values of the program. Where it is false, the reverse of
//! a statement with unbounded partial derivatives does not run. A computed zero is a number like
//! any other: `0 · ∞` is NaN there, since neither 0 nor another number need be right.
//!
//! Presence is followed through straight-line code, branches, sums of iterations and scalar states
//! of loops, for variables with an unbounded factor in front ([`crate::unbounded`]). If only some
//! elements of an array are read, a second array counts the contributions to each. Loop-carried
//! arrays, results of functions without rules and zero seeds of a caller count as present.
//!
//! ```text
//!   let r = sqrt x in loop s = 1 for i < n do s + r      r̄ is there if 0 < n
//!   loop s = sqrt x for i < n do y                       the reverse loop carries a flag for s̄
//! ```
//!
//! Forward mode has presences of its own ([`crate::there`]).
//!
//! A reverse loop carries a boolean only where an iteration may drop the cotangent of a state,
//! because most states are used by each iteration, which [`crate::unbounded`] sees beforehand.

use lambada_anf::{Atom, Block, Op, Param, Renaming, Stm, Ty, Var};
use lambada_prim::{Expr, Instance, Prim, Scalar};

use crate::absence::truth;
use crate::arrays;
use crate::cotangents::{Cotangent, Cotangents, Frame, FrameKind};
use crate::known::Handles;
use crate::products::Products;

/// Where contributions to a variable have been made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum There {
    Never,
    Always,
    When(Atom),
}

impl There {
    /// The condition, unless the contribution is always or never present.
    pub(crate) fn known(self) -> Option<Atom> {
        match self {
            There::When(when) => Some(when),
            There::Never | There::Always => None,
        }
    }
}

/// The presence of the cotangent that two branches hand out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Joined {
    Always,
    /// A condition known outside of the branches.
    When(Atom),
    /// A result of the branches.
    Result(Atom, Atom),
}

impl Joined {
    pub(crate) fn known(self) -> Option<Atom> {
        match self {
            Joined::When(when) => Some(when),
            Joined::Always | Joined::Result(..) => None,
        }
    }
}

/// The presence of a state that a reverse loop carries.
pub(crate) struct StateFlag {
    /// The number of the state.
    pub(crate) state: usize,
    pub(crate) param: Var,
    start: Atom,
}

/// The presence of the sums of outer scalars that a reverse loop carries.
#[derive(Default)]
pub(crate) struct SumFlags {
    /// Sums that the loop carries, each with its flag.
    carried: Vec<(Var, Var)>,
    /// Sums that each iteration contributes to, each with its presence before the loop.
    always: Vec<(Var, Atom)>,
}

impl Products<'_, '_> {
    /// The condition under which a partial derivative selects a branch other than a literal zero.
    pub(crate) fn there_by(&mut self, partial: &Expr) -> There {
        match partial {
            Expr::Lit(Scalar::Real(0.0)) => There::Never,
            Expr::Prim(Prim::Select, items) => match [1, 2].map(|k| self.there_by(&items[k])) {
                [There::Never, There::Never] => There::Never,
                [There::Always, There::Always] => There::Always,
                [a, b] => {
                    let cond = self.emitted(&items[0]);
                    let [a, b] = [a, b].map(as_atom);
                    There::When(self.chosen(cond, a, b))
                }
            },
            Expr::Arg(_) | Expr::Out | Expr::Lit(_) | Expr::Prim(..) => There::Always,
        }
    }

    /// A tangent under its presence condition, else zero.
    pub(crate) fn only(&mut self, when: Atom, tangent: Atom) -> Atom {
        self.prim(Prim::Select, vec![when, tangent, Atom::real(0.0)])
    }

    pub(crate) fn both(&mut self, a: There, b: There) -> There {
        match (a, b) {
            (There::Never, _) | (_, There::Never) => There::Never,
            (There::Always, one) | (one, There::Always) => one,
            (There::When(a), There::When(b)) if a == b => There::When(a),
            (There::When(a), There::When(b)) => There::When(self.prim(Prim::And, vec![a, b])),
        }
    }

    pub(crate) fn or(&mut self, a: There, b: There) -> There {
        match (a, b) {
            (There::Always, _) | (_, There::Always) => There::Always,
            (There::Never, one) | (one, There::Never) => one,
            (There::When(a), There::When(b)) if a == b => There::When(a),
            (There::When(a), There::When(b)) => There::When(self.prim(Prim::Or, vec![a, b])),
        }
    }

    /// `if cond then a else b` of booleans.
    fn chosen(&mut self, cond: Atom, a: Atom, b: Atom) -> Atom {
        match [a, b].map(truth) {
            [Some(true), Some(false)] => cond,
            [Some(false), Some(true)] => self.prim(Prim::Not, vec![cond]),
            [Some(true), _] => self.prim(Prim::Or, vec![cond, b]),
            [_, Some(false)] => self.prim(Prim::And, vec![cond, a]),
            _ => self.prim(Prim::SelectBool, vec![cond, a, b]),
        }
    }
}

impl Cotangents<'_> {
    /// Whether a sum has a flag beside it in a reverse loop. Source derivatives stay short, without
    /// flags.
    pub(crate) fn has_flag(&self, x: Var) -> bool {
        self.cx.handles == Handles::Shadows && self.facts.unbounded.matters(x)
    }

    /// Whether the entry of `x` in the current block is present.
    fn is_present(&mut self, x: Var) -> Atom {
        match self.top().entries.contains_key(&x) {
            true => self.presence(x).unwrap_or(Atom::bool(true)),
            false => Atom::bool(false),
        }
    }

    /// The flags of the scalar states of a loop, before its cotangents are taken.
    pub(crate) fn state_flags(
        &mut self,
        (stm, body): (&Stm, &Block),
        (params, inits): (&[Param], &[Atom]),
        active: &[usize],
    ) -> Vec<StateFlag> {
        if self.cx.handles != Handles::Shadows {
            return Vec::new();
        }
        let real = |k: &usize| params[*k].ty == Ty::real();
        let states: Vec<usize> = active.iter().copied().filter(real).collect();
        let starts: Vec<Atom> = states.iter().map(|k| self.is_present(stm.binds[*k].var)).collect();
        let kept = |(k, start): (&usize, &Atom)| {
            *start == Atom::bool(true) && self.facts.unbounded.keeps(params[*k].var)
        };
        if states.iter().zip(&starts).all(kept) {
            return Vec::new();
        }
        let mut flags = Vec::new();
        for (state, start) in states.into_iter().zip(starts) {
            let passed = [params[state].var.into(), body.results[state], inits[state]];
            if passed.iter().filter_map(|x| x.as_var()).any(|x| self.facts.unbounded.matters(x)) {
                flags.push(StateFlag { state, param: self.b.names.fresh("present"), start });
            }
        }
        flags
    }

    /// The cotangents of the states that an iteration receives, and the presence of those with
    /// flags.
    pub(crate) fn states_back(
        &mut self,
        params: &[Param],
        active: &[usize],
        flags: &[StateFlag],
    ) -> (Vec<Atom>, Vec<Atom>) {
        let there = flags.iter().map(|flag| self.is_present(params[flag.state].var)).collect();
        (active.iter().map(|k| self.take_or_zero(&params[*k])).collect(), there)
    }

    /// The sums of an iteration, each with its presence.
    pub(crate) fn sums_back(&mut self, sums: &[Var]) -> (Vec<Atom>, Vec<Option<Atom>>) {
        let taken = sums.iter().map(|x| {
            let (sum, when) = self.take_when(*x);
            (sum.expect("a touched variable has a cotangent"), when)
        });
        taken.unzip()
    }

    /// The flags of outer sums before a reverse loop. Flags that the loop must carry become results
    /// of its body and states.
    pub(crate) fn sum_flags(
        &mut self,
        (frame, sums, whens): (&Frame, &[Var], &[Option<Atom>]),
        reverse: &mut Block,
        (state, starts): (&mut Vec<Param>, &mut Vec<Atom>),
    ) -> SumFlags {
        let (mut flags, mut naming) = (SumFlags::default(), Renaming::new());
        for (x, when) in sums.iter().zip(whens) {
            let Some(flag) = frame.flags.get(x).copied() else { continue };
            let before = match self.sum(*x) {
                Some(_) => self.presence(*x).unwrap_or(Atom::bool(true)),
                None => Atom::bool(false),
            };
            match when {
                Some(when) => {
                    reverse.results.push(*when);
                    state.push(Param { var: flag, ty: Ty::bool() });
                    starts.push(before);
                    flags.carried.push((*x, flag));
                }
                None => {
                    naming.insert(flag, Atom::bool(true));
                    flags.always.push((*x, before));
                }
            }
        }
        if !flags.always.is_empty() {
            naming.apply(reverse);
        }
        flags
    }

    /// Sets the presence of sums after a reverse loop, whose last results are the flags; `ran`:
    /// whether an iteration has run.
    pub(crate) fn sums_are_there(
        &mut self,
        flags: &SumFlags,
        ends: &[Param],
        ran: impl FnOnce(&mut Self) -> Atom,
    ) {
        for ((x, _), end) in flags.carried.iter().zip(ends) {
            self.is_there(*x, Some(end.var.into()));
        }
        let open = |(_, before): &&(Var, Atom)| truth(*before) != Some(true);
        let open: Vec<&(Var, Atom)> = flags.always.iter().filter(open).collect();
        if open.is_empty() {
            return;
        }
        let ran = ran(self);
        for (x, before) in open.into_iter().filter(|_| truth(ran) != Some(true)) {
            let when = match truth(*before) {
                Some(false) => ran,
                Some(true) | None => self.b.prim(Prim::Or, [*before, ran]),
            };
            self.is_there(*x, Some(when));
        }
    }

    /// Whether the loop has at least one iteration.
    pub(crate) fn runs(&mut self, extent: Atom) -> Atom {
        match extent {
            Atom::Lit(Scalar::Int(n)) => Atom::bool(n > 0),
            extent => self.b.prim(Prim::LtInt, [Atom::int(0), extent]),
        }
    }

    /// The presence of the entry of `x`; `None` if it is always present or its presence does not
    /// matter.
    pub(crate) fn presence(&self, x: Var) -> Option<Atom> {
        for frame in self.frames.iter().rev() {
            if let Some(Cotangent::Sum(_)) = frame.entries.get(&x) {
                return frame.present.get(&x).copied();
            }
            if frame.owned.contains(&x) || frame.kind != FrameKind::If {
                return None;
            }
        }
        None
    }

    /// Whether at least one of the results' cotangents is present; `None` if one always is, or if
    /// none exists.
    fn any_presence(&mut self, results: &[Param]) -> Option<Atom> {
        if let [y] = results {
            return self.presence(y.var);
        }
        let there: Vec<Atom> = results.iter().map(|p| self.is_present(p.var)).collect();
        let mut open = there.iter().copied().filter(|when| truth(*when) != Some(false));
        let first = open.next().filter(|_| there.iter().all(|when| truth(*when) != Some(true)))?;
        Some(open.fold(first, |all, when| match when == first {
            true => all,
            false => self.b.prim(Prim::Or, [all, when]),
        }))
    }

    /// As [`Cotangents::take`], with the presence.
    pub(crate) fn take_when(&mut self, x: Var) -> (Option<Atom>, Option<Atom>) {
        let when = self.presence(x);
        (self.take(x), when)
    }

    /// `x̄ += value`, where the value is there under a condition.
    pub(crate) fn add_when(&mut self, x: Atom, value: Atom, ty: &Ty, when: Option<Atom>) {
        let outer = std::mem::replace(&mut self.when, when);
        self.add(x, value, ty);
        self.when = outer;
    }

    /// Adds to a sum in SSA, of a real or an array, which may not exist yet.
    pub(crate) fn add_to(&mut self, x: Var, before: Option<Atom>, value: Atom) {
        let known = before.and_then(|_| self.presence(x));
        let when = match (before, known, self.when) {
            _ if !self.facts.unbounded.matters(x) => None,
            (None, _, when) => when,
            (Some(_), Some(a), Some(b)) if a == b => Some(a),
            (Some(_), Some(a), Some(b)) => Some(self.b.prim(Prim::Or, [a, b])),
            (Some(_), _, _) => None,
        };
        let sum = before.map_or(value, |sum| {
            let (hint, ty) = (self.hint(x), self.ty(x).clone());
            let both = arrays::plus(&mut self.b, &hint, &ty, sum, value);
            self.counts_are_added([sum, value], both, &ty);
            both
        });
        self.set(x, sum);
        self.is_there(x, when);
    }

    /// Sets the presence of the entry of `x` in the current block.
    pub(crate) fn is_there(&mut self, x: Var, when: Option<Atom>) {
        match when {
            Some(when) => self.top().present.insert(x, when),
            None => self.top().present.remove(&x),
        };
    }

    /// The reverse of a statement without blocks. If its cotangent may be absent and it multiplies
    /// by an unbounded factor, the reverse runs only if the cotangent is present.
    pub(crate) fn op_if_present(&mut self, stm: &Stm, op: &Op) -> Option<Stm> {
        let Some(when) = self.any_presence(&stm.binds) else { return self.op(stm, op) };
        if !self.facts.unbounded.multiplies(stm) {
            self.when = (stm.binds.len() == 1).then_some(when);
            let logged = self.op(stm, op);
            self.when = None;
            return logged;
        }
        let taken: Vec<(Var, Option<Atom>)> =
            stm.binds.iter().map(|p| (p.var, self.take(p.var))).collect();
        let owned = || stm.binds.iter().map(|p| p.var).collect();
        self.push(FrameKind::If, owned());
        for (y, y_ct) in taken {
            if let Some(y_ct) = y_ct {
                self.set(y, y_ct);
            }
        }
        let logged = self.op(stm, op);
        let then = self.pop();
        self.push(FrameKind::If, owned());
        let otherwise = self.pop();
        let (outer, then, otherwise) = self.leave_both(when, (then, otherwise), &[]);
        self.if_reverse(when, &outer, &[], then.0, otherwise.0);
        logged
    }

    /// The presence of a term `partial · ȳ`, from that of the partial derivative and of `ȳ`.
    pub(crate) fn presence_of_term(&mut self, by_partial: There) -> Option<Atom> {
        match by_partial {
            There::Always => self.when,
            There::Never => Some(Atom::bool(false)),
            There::When(chosen) => match self.when {
                Some(when) => Some(self.b.prim(Prim::And, [when, chosen])),
                None => Some(chosen),
            },
        }
    }

    /// `x̄[index] += value` where some elements of `x̄` may be absent: counts the contribution.
    pub(crate) fn element_is_there(&mut self, x: Var, index: &[Atom]) {
        let Some(acc) = self.flags.get(&x).copied() else { return };
        let value = match self.when {
            Some(when) => {
                let (yes, no) = (Atom::real(1.0), Atom::real(0.0));
                self.b.prim(Prim::Select, [when, yes, no])
            }
            None => Atom::real(1.0),
        };
        self.b.effect(Op::Accumulate { acc, index: index.to_vec(), value });
    }

    /// Adds an accumulator that counts the contributions to each element of the cotangent of `x`.
    pub(crate) fn count_contributions(&mut self, x: Var) {
        let ty = self.ty(x).clone();
        let zeros = self.b.zero(&ty);
        let acc = self.b.bind("present", ty, Op::Accumulator(zeros));
        self.flags.extend(acc.as_var().map(|acc| (x, acc)));
    }

    /// Ends the accumulator of contributions; remembers it with the cotangent.
    pub(crate) fn contributions_are_counted(&mut self, x: Var, x_ct: Atom) {
        let Some(acc) = self.flags.remove(&x) else { return };
        let ty = self.ty(x).clone();
        let counts = self.b.bind("present", ty, Op::Freeze(acc));
        self.counts.extend(x_ct.as_var().zip(counts.as_var()));
    }

    /// The presence of the element or row `part = x̄[i]`; `when` is the presence of the array as a
    /// whole.
    pub(crate) fn presence_of_part(
        &mut self,
        (x_ct, when): (Var, Option<Atom>),
        index: &[Atom],
        part: Atom,
        ty: &Ty,
    ) -> Option<Atom> {
        let Some(counts) = self.counts.get(&x_ct).copied() else { return when };
        let count = self.b.bind("present", ty.clone(), Op::Index(counts, index.to_vec()));
        if ty.dims.is_empty() {
            return Some(self.b.prim(Prim::Ne, [count, Atom::real(0.0)]));
        }
        self.counts.extend(part.as_var().zip(count.as_var()));
        None
    }

    /// Whether some element of the cotangent of an array is present; `None` if its contributions
    /// are not counted.
    pub(crate) fn presence_of_any(&mut self, x_ct: Atom, ty: &Ty) -> Option<Atom> {
        let counts = x_ct.as_var().and_then(|x_ct| self.counts.get(&x_ct).copied())?;
        let count = arrays::total(&mut self.b, "present", ty, counts.into());
        Some(self.b.prim(Prim::Ne, [count, Atom::real(0.0)]))
    }

    /// Counts for `y = x with [index] = …`, where `rest` of the cotangent of `y` goes to that of
    /// `x`: the overwritten element is absent. Counting takes time in the length of the array, so
    /// loops do without it.
    pub(crate) fn rest_is_there(
        &mut self,
        y: &Param,
        x: Var,
        (y_ct, rest): (Var, Atom),
        index: &[Atom],
    ) {
        if !self.facts.unbounded.in_part(x) || self.repeated() || *self.ty(x) != y.ty {
            return;
        }
        let counts = self.counts_of(y_ct.into(), &y.ty);
        let zero = self.b.zero(&y.ty.indexed(index.len()));
        let update = Op::Update { array: counts, index: index.to_vec(), value: zero };
        let counts = self.b.bind("present", y.ty.clone(), update);
        self.counts.extend(rest.as_var().zip(counts.as_var()));
    }

    /// The contribution counts of an array's elements; ones if they are not counted.
    fn counts_of(&mut self, ct: Atom, ty: &Ty) -> Var {
        let known = ct.as_var().and_then(|ct| self.counts.get(&ct).copied());
        known.unwrap_or_else(|| {
            let ones = self.b.bind("present", ty.clone(), Op::Fill(Atom::real(1.0)));
            ones.as_var().expect("a bound variable")
        })
    }

    /// Adds the counts of two summands of an array's cotangent, some of whose elements may be
    /// absent in both.
    fn counts_are_added(&mut self, parts: [Atom; 2], sum: Atom, ty: &Ty) {
        let counts = parts.map(|part| part.as_var().and_then(|x| self.counts.get(&x).copied()));
        if let ([Some(a), Some(b)], Some(sum)) = (counts, sum.as_var()) {
            let counts = arrays::plus(&mut self.b, "present", ty, a.into(), b.into());
            self.counts.extend(counts.as_var().map(|counts| (sum, counts)));
        }
    }

    /// `x̄ += value` for a whole array, in an accumulator whose contributions may be counted.
    pub(crate) fn whole_is_there(&mut self, x: Var, value: Atom) {
        let Some(acc) = self.flags.get(&x).copied() else { return };
        let ty = self.ty(x).clone();
        let counts = self.counts_of(value, &ty);
        self.b.effect(Op::Accumulate { acc, index: Vec::new(), value: counts.into() });
    }

    /// The presence of each outer scalar after two branches that start from the sums `starts`.
    pub(crate) fn joined(
        &mut self,
        cond: Atom,
        (outer, starts): (&[Var], &[Option<Atom>]),
        frames: [&Frame; 2],
    ) -> Vec<Joined> {
        let mut all = Vec::new();
        for (x, start) in outer.iter().zip(starts) {
            if !self.facts.unbounded.matters(*x) {
                all.push(Joined::Always);
                continue;
            }
            let there = |frame: &Frame| match (frame.entries.get(x), start) {
                (Some(Cotangent::Sum(_)), _) => {
                    frame.present.get(x).map_or(There::Always, |when| There::When(*when))
                }
                (_, Some(_)) => self.presence(*x).map_or(There::Always, There::When),
                (_, None) => There::Never,
            };
            all.push(match frames.map(there) {
                [There::Always, There::Always] => Joined::Always,
                [There::Always, There::Never] => Joined::When(cond),
                [There::Never, There::Always] => Joined::When(self.b.prim(Prim::Not, [cond])),
                [a, b] if a == b => Joined::When(as_atom(a)),
                [a, b] => Joined::Result(as_atom(a), as_atom(b)),
            });
        }
        all
    }
}

/// Adds the flags of states to the state of the reverse loop.
pub(crate) fn carry(flags: &[StateFlag], state: &mut Vec<Param>, starts: &mut Vec<Atom>) {
    state.extend(flags.iter().map(|flag| Param { var: flag.param, ty: Ty::bool() }));
    starts.extend(flags.iter().map(|flag| flag.start));
}

fn as_atom(there: There) -> Atom {
    match there {
        There::Never => Atom::bool(false),
        There::Always => Atom::bool(true),
        There::When(when) => when,
    }
}
