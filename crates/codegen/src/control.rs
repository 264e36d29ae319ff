//! Statements with bodies.

use lambada_loops::{Mode, Nest, Operand, Reg, Release, ResultTarget, Step, Stmt, While};

use crate::function::{Printer, Waiting};
use crate::polls;
use crate::text::{self, Level, Text, prefix};

impl Printer<'_> {
    pub fn counted(
        &mut self,
        index: Reg,
        (start, end, step): (Operand, Operand, i64),
        mode: Mode,
        body: &[Stmt],
    ) {
        let is_cut = self.is_entry
            && self.loops == 0
            && !polls::is_long(body)
            && polls::may_be_long(start, end, step);
        let start = self.operand(start).text;
        // The end is evaluated in each iteration, so an expression that reads memory, or is not
        // cheap, gets a name first.
        self.declare_unless_cheap(end);
        let end = self.operand(end).at(Level::Sum);
        self.declare(|_| true);
        self.names.enter();
        let hint = &self.function.regs[index.0 as usize].1;
        let (start, end) =
            if is_cut { self.blocks(hint, &start, &end, step) } else { (start, end) };
        let name = self.fresh(hint);
        let next = if step == 1 { format!("{name}++") } else { format!("{name} += {step}") };
        self.line(&format!("for (int64_t {name} = {start}; {name} < {end}; {next}) {{"));
        self.regs[index.0 as usize] = name;
        self.depth += 1;
        self.share_reg(index);
        if polls::asks(mode, self.loops, body) {
            self.ask();
        }
        self.depth -= 1;
        self.loops += 1;
        self.nested(body);
        self.loops -= 1;
        self.names.leave();
        self.line("}");
        if is_cut {
            self.depth -= 1;
            self.line("}");
        }
    }

    /// A loop over blocks of iterations, which asks in each; gives the bounds of a block.
    fn blocks(&mut self, hint: &str, start: &str, end: &str, step: i64) -> (String, String) {
        let (from, to) = (self.fresh(&format!("{hint}_from")), self.fresh(&format!("{hint}_to")));
        let block = polls::BLOCK.saturating_mul(step);
        self.line(&format!(
            "for (int64_t {from} = {start}, {to}; {from} < {end}; {from} = {to}) {{"
        ));
        self.depth += 1;
        self.ask();
        self.line(&format!("{to} = lam_block_end({from}, {end}, {block});"));
        (from, to)
    }

    /// Ends the call if it has been cancelled.
    fn ask(&mut self) {
        self.line("if (lam_is_cancelled(ctx)) return 4;");
    }

    fn declare_unless_cheap(&mut self, operand: Operand) {
        let Operand::Reg(reg) = operand else { return };
        let costly = |waiting: &Waiting| {
            waiting.reg == reg && !(waiting.value.is_constant() && waiting.value.parts.is_some())
        };
        if let Some(at) = self.waiting.iter().position(costly) {
            let waiting = self.waiting.remove(at);
            self.declare_one(waiting);
        }
    }

    /// `while (test)` where the test is an expression, else a loop that is left in the middle.
    pub fn repeat(&mut self, cond: &While, body: &[Stmt]) {
        self.declare(|_| true);
        self.names.enter();
        self.depth += 1;
        let outside = std::mem::take(&mut self.out);
        self.stmts(&cond.before);
        let test = self.operand(cond.test);
        self.waiting.clear();
        let before = std::mem::replace(&mut self.out, outside);
        self.depth -= 1;
        if before.is_empty() {
            self.line(&format!("while ({}) {{", test.text));
        } else {
            self.line("for (;;) {");
            self.out += &before;
            self.depth += 1;
            self.line(&format!("if ({}) break;", text::prefix("!", &test).text));
            self.depth -= 1;
        }
        self.depth += 1;
        self.ask();
        self.depth -= 1;
        self.loops += 1;
        self.nested(body);
        self.loops -= 1;
        self.names.leave();
        self.line("}");
    }

    /// An `if` behind the end of an earlier branch, `} else `, or behind nothing.
    pub fn choice(&mut self, end: &str, cond: &Text, then: &[Stmt], otherwise: &[Stmt]) {
        if then.is_empty() && !otherwise.is_empty() {
            return self.choice(end, &prefix("!", cond), otherwise, then);
        }
        self.line(&format!("{end}if ({}) {{", cond.text));
        self.nested(then);
        match otherwise {
            [] => self.line("}"),
            [only @ Stmt::Nest(Nest::If { cond, then, otherwise })]
                if self.parts.at(only).is_none() =>
            {
                let cond = self.operand(*cond);
                self.choice("} else ", &cond, then, otherwise);
            }
            _ => {
                self.line("} else {");
                self.nested(otherwise);
                self.line("}");
            }
        }
    }

    pub fn scope(&mut self, release: Release, body: &[Stmt]) {
        self.declare(|_| true);
        self.line("{");
        self.names.enter();
        self.depth += 1;
        let mark = self.allocates(release, body).then(|| self.fresh("mark"));
        if let Some(mark) = &mark {
            self.line(&format!("struct lam_mark {mark} = lam_mark(ctx);"));
        }
        self.stmts(body);
        self.waiting.clear();
        if let Some(mark) = &mark {
            let end = match release {
                Release::All => "lam_release",
                Release::Arrays => "lam_release_arrays",
            };
            self.line(&format!("{end}(ctx, {mark});"));
        }
        self.depth -= 1;
        self.names.leave();
        self.line("}");
    }

    /// Whether the body takes memory that its own scope releases, perhaps in a callee.
    fn allocates(&self, release: Release, body: &[Stmt]) -> bool {
        let all = release == Release::All;
        body.iter().any(|stmt| match stmt {
            Stmt::Step(Step::Alloc { buf, .. }) => {
                self.local(*buf).is_none() && (all || !self.facts.is_taken(*buf))
            }
            Stmt::Step(Step::Call { results, .. }) => {
                all || results.iter().any(|result| matches!(result, ResultTarget::Buffer(_)))
            }
            Stmt::Step(Step::Open { .. }) => true,
            Stmt::Step(step) => all && matches!(step, Step::Node { .. }),
            Stmt::Nest(Nest::Scope(Release::Arrays, inner)) => {
                all && self.allocates(Release::All, inner)
            }
            Stmt::Nest(Nest::Scope(Release::All, _) | Nest::Parallel { .. }) => false,
            Stmt::Nest(nest @ (Nest::For { .. } | Nest::While { .. } | Nest::If { .. })) => {
                nest.bodies().into_iter().any(|body| self.allocates(release, body))
            }
        })
    }
}
