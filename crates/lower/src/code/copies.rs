//! Turns loops that copy rows into copies.
//!
//! ```text
//!             for c in a .. b, independent { x = from[c + s]; to[c + t] := x }
//!   becomes   copy b - a elements from from[a + s] to to[a + t]
//! ```
//!
//! Assumes: independent iterations, which do not read written elements. Gives: the same elements in
//! the same places. Keeps: every result bit for bit.

use std::collections::{HashMap, HashSet};

use lambada_loops::{Buf, Mode, Op, Operand, Reg, Step, Stmt};
use lambada_prim::Prim;

use super::{Code, Each};

/// A loop that copies.
struct Copied {
    from: (Buf, Operand),
    to: (Buf, Operand),
}

impl Code {
    /// The equivalent copy, if the loop is one.
    pub(super) fn as_copy(&mut self, each: &Each) -> Option<Vec<Stmt>> {
        let Copied { from, to } = self.copied_by(each)?;
        // Offsets at the start of the loop.
        let mut known = HashMap::from([(each.index, each.start)]);
        for stmt in &each.body {
            if let Stmt::Step(Step::Let(reg, Op::Prim(op, args))) = stmt {
                let args: Vec<Operand> = args.iter().map(|arg| at(&known, *arg)).collect();
                let hint = self.function.regs[reg.0 as usize].1.clone();
                let value = self.prim(*op, args, hint);
                known.insert(*reg, value);
            }
        }
        let len = self.int(Prim::SubInt, each.end, each.start);
        let len = self.int(Prim::MaxInt, len, Operand::int(0));
        let mut stmts = Vec::new();
        let [from, to] = [from, to].map(|(base, offset)| {
            let offset = at(&known, offset);
            if offset == Operand::int(0) {
                return base;
            }
            let (elem, hint) = self.function.bufs[base.0 as usize].clone();
            let buf = self.function.buf(elem, hint);
            stmts.push(Step::View { buf, base, offset }.into());
            buf
        });
        stmts.push(Step::Copy { to, from, len }.into());
        Some(stmts)
    }

    /// The source and destination of a loop that copies consecutive elements of one buffer.
    fn copied_by(&self, each: &Each) -> Option<Copied> {
        if each.mode != Mode::Independent {
            return None;
        }
        // The index, and the index plus loop-invariant terms.
        let mut moving = HashSet::from([each.index]);
        let mut loaded: Option<(Reg, Buf, Operand)> = None;
        let mut stored: Option<Copied> = None;
        for stmt in &each.body {
            let Stmt::Step(step) = stmt else { return None };
            match step {
                Step::Let(reg, Op::Prim(op, args)) if stored.is_none() => {
                    let is = |k: usize| follows(&moving, args[k]);
                    // Loaded values change, too.
                    let read = loaded.map(|(reg, _, _)| Operand::from(reg));
                    if args.iter().any(|arg| Some(*arg) == read) {
                        return None;
                    }
                    let along = match op {
                        Prim::AddInt => is(0) != is(1),
                        Prim::SubInt => is(0) && !is(1),
                        _ => false, // leaves the row
                    };
                    if !along {
                        return None;
                    }
                    moving.insert(*reg);
                }
                Step::Let(reg, Op::Load(buf, offset)) if loaded.is_none() && self.is_one(*reg) => {
                    loaded = Some((*reg, *buf, *offset));
                }
                Step::Store { buf, offset, value } if stored.is_none() => {
                    let (reg, from, place) = loaded?;
                    let fits =
                        *value == reg.into() && from != *buf && self.elem(from) == self.elem(*buf);
                    if !fits {
                        return None;
                    }
                    stored = Some(Copied { from: (from, place), to: (*buf, *offset) });
                }
                _ => return None,
            }
        }
        stored.filter(|copied| follows(&moving, copied.from.1) && follows(&moving, copied.to.1))
    }

    fn is_one(&self, reg: Reg) -> bool {
        self.function.regs[reg.0 as usize].0.lanes == 1
    }
}

fn follows(moving: &HashSet<Reg>, operand: Operand) -> bool {
    match operand {
        Operand::Reg(reg) => moving.contains(&reg),
        Operand::Lit(_) => false,
    }
}

/// The value of an operand at the start of the loop.
fn at(known: &HashMap<Reg, Operand>, operand: Operand) -> Operand {
    match operand {
        Operand::Reg(reg) => known.get(&reg).copied().unwrap_or(operand),
        Operand::Lit(_) => operand,
    }
}
