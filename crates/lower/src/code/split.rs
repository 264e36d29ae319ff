//! Splits loops where their indices decide tests and divisions.
//!
//! *Assumes* a loop over consecutive indices whose iterations call nothing. *Gives* loops that run
//! the same iterations in the same order. *Keeps* every result bit for bit, and which check fails
//! first.
//!
//! - `for i < n: … if i < m …` becomes one loop up to `m` and one from there on, both without the
//!   test.
//! - `for i < n: … if c …`, where `c` is invariant, becomes one `if` with a loop in each branch.
//!   Invariant code of a branch may then leave the loop.
//! - `for i < n: … i / 15 … i % 15 …` becomes a loop over the quotients around one over the
//!   remainders, and one for the remaining iterations.
//!
//! A loop whose body would be repeated too often stays as it is ([`ROOM`], [`ROOM_IN_ALL`]).

use std::collections::{HashMap, HashSet};

use lambada_loops::{Binding, Mode, Nest, Op, Operand, Reg, Renaming, Step, Stmt, visit};
use lambada_prim::{Prim, Scalar, ScalarTy};

use super::{BodyKind, Code};

/// Maximal number of statements added to one loop by repeating them.
const ROOM: usize = 128;

/// Maximal number added to all loops of a function.
pub(super) const ROOM_IN_ALL: usize = 512;

/// A loop over consecutive indices.
pub(crate) struct Each {
    pub(crate) index: Reg,
    pub(crate) start: Operand,
    pub(crate) end: Operand,
    pub(crate) mode: Mode,
    pub(crate) body: Vec<Stmt>,
}

/// The way to split a loop.
enum Split {
    /// By a register that is the comparison `index < operand` if `true`, its negation if `false`.
    Below(Reg, Operand, bool),
    /// By a loop-invariant condition.
    Outside(Reg),
    /// By the largest divisor of the index.
    Divided(i64),
}

impl Code {
    /// Adds a loop, split if possible.
    pub(crate) fn push_loop(&mut self, each: Each) {
        let given = ROOM.min(self.room);
        let mut room = given;
        for stmt in self.split(each, &mut room) {
            self.push(stmt);
        }
        self.room -= given - room;
    }

    /// The first possible way to split a loop. Tests of the index come first, because the code that
    /// they remove need not be divided.
    fn split_of(&self, each: &Each) -> Option<Split> {
        let (mut bound, mut tests) = (HashSet::from([each.index]), HashSet::new());
        let (mut plain, mut outside, mut by) = (true, None, None);
        visit(&each.body, &mut |stmt| {
            plain &= is_plain(stmt);
            if let Some(Binding::Reg(reg)) = stmt.binds() {
                bound.insert(reg);
            }
            tests.extend(tested(stmt));
            if let Stmt::Nest(Nest::If { cond: Operand::Reg(cond), .. }) = stmt {
                outside = outside.or((!bound.contains(cond)).then_some(*cond));
            }
            by = by.max(division(stmt, each.index, 0).map(|(_, _, d)| d));
        });
        if !plain {
            return None;
        }
        let is_outside = |operand: Operand| match operand {
            Operand::Reg(reg) => {
                !bound.contains(&reg) && self.level_of[reg.0 as usize] <= self.level()
            }
            Operand::Lit(_) => true,
        };
        let mut below = None;
        visit(&each.body, &mut |stmt| {
            if let Some((reg, bound, says)) = comparison(stmt, each.index)
                && below.is_none()
                && tests.contains(&reg)
                && is_outside(bound)
            {
                below = Some(Split::Below(reg, bound, says));
            }
        });
        below
            .or(outside.map(Split::Outside))
            .or_else(|| (each.start == Operand::int(0)).then_some(by?).map(Split::Divided))
    }

    fn split(&mut self, each: Each, room: &mut usize) -> Vec<Stmt> {
        match self.split_of(&each) {
            Some(split) if size(&each.body) <= *room => match split {
                Split::Below(test, bound, says) => self.below(each, test, bound, says, room),
                Split::Outside(cond) => self.outside(each, cond, room),
                Split::Divided(by) => self.divided(each, by, room),
            },
            Some(_) | None => self.as_copy(&each).unwrap_or_else(|| each.behind_checks()),
        }
    }

    fn below(
        &mut self,
        each: Each,
        test: Reg,
        bound: Operand,
        says: bool,
        room: &mut usize,
    ) -> Vec<Stmt> {
        let Each { index, start, end, mode, body } = each;
        let middle = self.int(Prim::MinInt, bound, end);
        let middle = self.int(Prim::MaxInt, start, middle);
        let rest = self.copied(index, &body, room);
        let first = decided(body, test, truth(says));
        let second = decided(rest.1, rest.0.get(&test).copied().unwrap_or(test), truth(!says));
        let first = Each { index, start, end: middle, mode, body: first };
        let second = Each { index: rest.0[&index], start: middle, end, mode, body: second };
        let mut all = self.split(first, room);
        all.extend(self.split(second, room));
        all
    }

    fn outside(&mut self, each: Each, cond: Reg, room: &mut usize) -> Vec<Stmt> {
        let Each { index, start, end, mode, body } = each;
        let other = self.copied(index, &body, room);
        let first = Each { index, start, end, mode, body: decided(body, cond, truth(true)) };
        let body = decided(other.1, cond, truth(false));
        let second = Each { index: other.0[&index], start, end, mode, body };
        let (then, otherwise) = (self.split(first, room), self.split(second, room));
        vec![Nest::If { cond: cond.into(), then, otherwise }.into()]
    }

    fn divided(&mut self, each: Each, by: i64, room: &mut usize) -> Vec<Stmt> {
        let Each { index, start, end, mode, body } = each;
        let divisor = Operand::int(by);
        let natural = self.int(Prim::MaxInt, end, Operand::int(0));
        let quotients = match natural {
            Operand::Lit(value) => Operand::int(value.int() / by),
            Operand::Reg(_) => self.int(Prim::DivInt, natural, divisor),
        };
        let whole = self.int(Prim::MulInt, quotients, divisor);
        let (left_index, left) = match whole == natural {
            true => (index, Vec::new()),
            false => {
                let (names, left) = self.copied(index, &body, room);
                (names[&index], left)
            }
        };
        let inside = self.level() + 1;
        let [quotient, base, rest] =
            ["quotient", "at", "rest"].map(|hint| self.reg(ScalarTy::Int, inside, hint));
        let mut around = vec![multiple(base, quotient, by)];
        let mut inner = vec![let_prim(index, Prim::AddInt, [base.into(), rest.into()])];
        let mut known = HashMap::new();
        visit(&body, &mut |stmt| match division(stmt, index, by) {
            Some((reg, Prim::DivInt, d)) if d == by => _ = known.insert(reg, quotient.into()),
            Some((reg, Prim::RemInt, d)) if d == by => _ = known.insert(reg, rest.into()),
            Some((reg, op, d)) => {
                let part = self.reg(ScalarTy::Int, inside, "at");
                inner.push(let_prim(part, op, [rest.into(), Operand::int(d)]));
                let mut value = part;
                if op == Prim::DivInt {
                    let [more, sum] =
                        ["at", "at"].map(|hint| self.reg(ScalarTy::Int, inside, hint));
                    around.push(multiple(more, quotient, by / d));
                    inner.push(let_prim(sum, Prim::AddInt, [more.into(), part.into()]));
                    value = sum;
                }
                known.insert(reg, value.into());
            }
            None => {}
        });
        inner.extend(simplified(body, &mut known));
        let inner = Each { index: rest, start: Operand::int(0), end: divisor, mode, body: inner };
        // The loop over the remainders may become a copy, whose start is computed in the loop over
        // the quotients.
        self.open(BodyKind::Loop);
        around.into_iter().for_each(|stmt| self.push(stmt));
        let rests = self.split(inner, room);
        rests.into_iter().for_each(|stmt| self.push(stmt));
        let around = self.close();
        let outer = Each { index: quotient, start, end: quotients, mode, body: around };
        let mut all = vec![outer.whole()];
        if whole != natural {
            all.push(Each { index: left_index, start: whole, end, mode, body: left }.whole());
        }
        all
    }

    /// A copy of a body with fresh names, and the map from old registers to new ones.
    fn copied(
        &mut self,
        index: Reg,
        body: &[Stmt],
        room: &mut usize,
    ) -> (HashMap<Reg, Reg>, Vec<Stmt>) {
        *room = room.saturating_sub(size(body));
        let function = &mut self.function;
        let mut bound = vec![Binding::Reg(index)];
        visit(body, &mut |stmt| bound.extend(stmt.binds()));
        let mut all = Renaming {
            regs: (0..function.regs.len()).map(|k| Reg(k as u32).into()).collect(),
            cells: (0..function.cells.len()).map(|k| lambada_loops::Cell(k as u32)).collect(),
            bufs: (0..function.bufs.len()).map(|k| lambada_loops::Buf(k as u32)).collect(),
            sites: (0..function.sites.len()).map(|k| k as u32).collect(),
        };
        let mut names = HashMap::new();
        for binding in bound {
            match binding {
                Binding::Reg(reg) => {
                    let (ty, hint) = function.regs[reg.0 as usize].clone();
                    let new = function.reg(ty, hint);
                    self.level_of.push(self.level_of[reg.0 as usize]);
                    self.natural.push(self.natural[reg.0 as usize]);
                    all.regs[reg.0 as usize] = new.into();
                    names.insert(reg, new);
                }
                Binding::Cell(cell) => {
                    let (ty, hint) = function.cells[cell.0 as usize].clone();
                    all.cells[cell.0 as usize] = function.cell(ty, hint);
                }
                Binding::Buf(buf) => {
                    let (elem, hint) = function.bufs[buf.0 as usize].clone();
                    let new = function.buf(elem, hint);
                    let origin = function.origins.get(&buf).copied();
                    function.origins.extend(origin.map(|span| (new, span)));
                    all.bufs[buf.0 as usize] = new;
                }
            }
        }
        let mut body = body.to_vec();
        all.apply(&mut body);
        (names, body)
    }
}

impl Each {
    /// The loop, unsplit.
    pub(crate) fn whole(self) -> Stmt {
        let Each { index, start, end, mode, body } = self;
        Nest::For { index, start, end, step: 1, mode, body }.into()
    }

    /// The loop, preceded by the invariant checks at the start of its body. The loop must have an
    /// iteration.
    fn behind_checks(mut self) -> Vec<Stmt> {
        let (Operand::Lit(start), Operand::Lit(end)) = (self.start, self.end) else {
            return vec![self.whole()];
        };
        let (mut before, mut inside) = (Vec::new(), Vec::new());
        let mut bound = HashSet::from([self.index]);
        let mut first = start.int() < end.int();
        for stmt in std::mem::take(&mut self.body) {
            let mut same = true;
            stmt.operands(&mut |operand| match operand {
                Operand::Reg(reg) => same &= !bound.contains(&reg),
                Operand::Lit(_) => {}
            });
            let leaves = match &stmt {
                Stmt::Step(Step::Let(_, Op::Prim(..)) | Step::Check { .. }) => same && first,
                Stmt::Step(_) | Stmt::Nest(_) => false,
            };
            if leaves {
                before.push(stmt);
                continue;
            }
            first &= matches!(stmt, Stmt::Step(Step::Let(..) | Step::Cell(..)));
            if let Some(Binding::Reg(reg)) = stmt.binds() {
                bound.insert(reg);
            }
            inside.push(stmt);
        }
        self.body = inside;
        before.push(self.whole());
        before
    }
}

/// The number of statements of a body.
fn size(body: &[Stmt]) -> usize {
    let mut count = 0;
    visit(body, &mut |_| count += 1);
    count
}

fn truth(value: bool) -> Operand {
    Operand::Lit(Scalar::Bool(value))
}

fn let_prim(reg: Reg, op: Prim, args: [Operand; 2]) -> Stmt {
    Step::Let(reg, Op::Prim(op, args.to_vec())).into()
}

/// `reg = quotient * by`
fn multiple(reg: Reg, quotient: Reg, by: i64) -> Stmt {
    let_prim(reg, Prim::MulInt, [quotient.into(), Operand::int(by)])
}

/// Whether the statement makes no calls and works element by element. Only such statements may be
/// repeated.
fn is_plain(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Step(Step::Let(_, op)) => matches!(op, Op::Prim(..) | Op::Load(..) | Op::Get(_)),
        Stmt::Step(step) => matches!(
            step,
            Step::Cell(..)
                | Step::Set(..)
                | Step::Store { .. }
                | Step::Alloc { .. }
                | Step::View { .. }
                | Step::Copy { .. }
                | Step::Fill { .. }
                | Step::Check { .. }
        ),
        Stmt::Nest(Nest::For { step, .. }) => *step == 1,
        Stmt::Nest(Nest::If { .. } | Nest::Scope(..)) => true,
        Stmt::Nest(Nest::While { .. } | Nest::Parallel { .. }) => false,
    }
}

/// The condition of a branch or of a choice between two values.
fn tested(stmt: &Stmt) -> Option<Reg> {
    let cond = match stmt {
        Stmt::Nest(Nest::If { cond, .. }) => *cond,
        Stmt::Step(Step::Let(_, Op::Prim(Prim::Select | Prim::SelectInt, args))) => args[0],
        Stmt::Step(_)
        | Stmt::Nest(
            Nest::For { .. } | Nest::While { .. } | Nest::Scope(..) | Nest::Parallel { .. },
        ) => return None,
    };
    match cond {
        Operand::Reg(reg) => Some(reg),
        Operand::Lit(_) => None,
    }
}

/// A register that compares the index with an operand, the operand, and whether it is less-than or
/// the negation.
fn comparison(stmt: &Stmt, index: Reg) -> Option<(Reg, Operand, bool)> {
    let Stmt::Step(Step::Let(reg, Op::Prim(op @ (Prim::LtInt | Prim::LeInt), args))) = stmt else {
        return None;
    };
    let i = Operand::from(index);
    let after = |operand: Operand| match operand {
        Operand::Lit(Scalar::Int(value)) => value.checked_add(1).map(Operand::int),
        Operand::Lit(Scalar::Real(_) | Scalar::Bool(_)) | Operand::Reg(_) => None,
    };
    let (bound, says) = match (op, args[0] == i, args[1] == i) {
        (Prim::LtInt, true, false) => (args[1], true),
        (Prim::LeInt, false, true) => (args[0], false),
        (Prim::LeInt, true, false) => (after(args[1])?, true),
        (Prim::LtInt, false, true) => (after(args[0])?, false),
        _ => return None, // of the index and itself, or of others
    };
    Some((*reg, bound, says))
}

/// A register that is the quotient or the remainder of the index by a divisor of `by`.
fn division(stmt: &Stmt, index: Reg, by: i64) -> Option<(Reg, Prim, i64)> {
    let Stmt::Step(Step::Let(reg, Op::Prim(op @ (Prim::DivInt | Prim::RemInt), args))) = stmt
    else {
        return None;
    };
    match args[..] {
        [x, Operand::Lit(Scalar::Int(d))] if x == index.into() && d > 1 && by % d == 0 => {
            Some((*reg, *op, d))
        }
        _ => None, // of others, or by what is not known
    }
}

/// The body with a known value of the register.
fn decided(body: Vec<Stmt>, reg: Reg, value: Operand) -> Vec<Stmt> {
    simplified(body, &mut HashMap::from([(reg, value)]))
}

/// The body with registers replaced by others or by constants, without branches that become dead.
fn simplified(body: Vec<Stmt>, known: &mut HashMap<Reg, Operand>) -> Vec<Stmt> {
    let mut all = Vec::with_capacity(body.len());
    for mut stmt in body {
        stmt.operands_mut(&mut |operand| {
            if let Operand::Reg(reg) = operand {
                *operand = known.get(reg).copied().unwrap_or(*operand);
            }
        });
        match stmt {
            Stmt::Step(Step::Let(reg, _)) if known.contains_key(&reg) => {}
            Stmt::Step(Step::Let(reg, ref op)) => match chosen(op) {
                Some(value) => _ = known.insert(reg, value),
                None => all.push(stmt),
            },
            Stmt::Nest(Nest::If { cond: Operand::Lit(Scalar::Bool(cond)), then, otherwise }) => {
                all.extend(simplified(if cond { then } else { otherwise }, known))
            }
            mut other => {
                for body in other.bodies_mut() {
                    *body = simplified(std::mem::take(body), known);
                }
                all.push(other);
            }
        }
    }
    all
}

/// The value of a choice or boolean operation with a known first operand.
fn chosen(op: &Op) -> Option<Operand> {
    let Op::Prim(op, args) = op else { return None };
    let lit = |k: usize| match args[k] {
        Operand::Lit(Scalar::Bool(value)) => Some(value),
        Operand::Lit(Scalar::Real(_) | Scalar::Int(_)) | Operand::Reg(_) => None,
    };
    match op {
        Prim::Select | Prim::SelectInt | Prim::SelectBool => {
            Some(args[if lit(0)? { 1 } else { 2 }])
        }
        Prim::Not => Some(truth(!lit(0)?)),
        Prim::And => Some(if lit(0)? { args[1] } else { truth(false) }),
        Prim::Or => Some(if lit(0)? { truth(true) } else { args[1] }),
        _ => None, // as it is
    }
}
