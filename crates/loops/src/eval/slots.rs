//! Live ranges: a register keeps its slots until the last statement that mentions it, in the order
//! of the text. So slots are reused, the working set of a machine stays in the cache, and callers
//! keep little. A register from outside of a loop lives until the loop ends.

use crate::{Binding, Function, Nest, Operand, Reg, Return, Stmt};

/// The ends of live ranges. The compiler counts statements as [`Walk`] does: each at its beginning,
/// and one with bodies at its end too.
pub(super) struct Live {
    /// By number of a statement: the registers whose live ranges end with it.
    pub(super) dying: Vec<Vec<Reg>>,
    /// By register: the number of the statement that ends its live range.
    pub(super) last: Vec<usize>,
}

pub(super) fn live(function: &Function) -> Live {
    let count = function.regs.len();
    let mut walk = Walk { last: vec![0; count], depth: vec![0; count], at: 0, loops: Vec::new() };
    function.body.iter().for_each(|stmt| walk.stmt(stmt));
    let mut kept = vec![false; count];
    for result in &function.results {
        match result {
            Return::Scalar(value) => keep(&mut kept, *value),
            Return::Buffer(_, dims) => dims.iter().for_each(|dim| keep(&mut kept, *dim)),
        }
    }
    let mut dying = vec![Vec::new(); walk.at + 1];
    let mut last = walk.last;
    for (reg, (last, kept)) in last.iter_mut().zip(kept).enumerate() {
        if kept {
            *last = usize::MAX;
        // A parameter without mentions is bound before the first statement.
        } else if *last > 0 {
            dying[*last].push(Reg(reg as u32));
        }
    }
    Live { dying, last }
}

fn keep(kept: &mut [bool], operand: Operand) {
    if let Operand::Reg(reg) = operand {
        kept[reg.0 as usize] = true;
    }
}

struct Walk {
    /// By register: the number of the last statement that mentions it, so far.
    last: Vec<usize>,
    /// By register: the number of loops around its binding.
    depth: Vec<usize>,
    /// The number of statements that have begun or ended.
    at: usize,
    /// By open loop: the registers from outside that are mentioned in it.
    loops: Vec<Vec<Reg>>,
}

impl Walk {
    fn stmt(&mut self, stmt: &Stmt) {
        self.at += 1;
        if let Stmt::Nest(nest) = stmt {
            let is_loop = match nest {
                Nest::For { .. } | Nest::Parallel { .. } | Nest::While { .. } => true,
                Nest::If { .. } | Nest::Scope(..) => false,
            };
            if is_loop {
                self.loops.push(Vec::new());
            }
            self.bind(stmt);
            nest.bodies().into_iter().flatten().for_each(|stmt| self.stmt(stmt));
            self.at += 1;
            if is_loop {
                // The next iteration needs the index, and registers from outside.
                let outside = self.loops.pop().expect("the loop is open");
                outside.into_iter().for_each(|reg| self.mention(reg));
                if let Some(Binding::Reg(index)) = stmt.binds() {
                    self.last[index.0 as usize] = self.at;
                }
            }
        }
        stmt.operands(&mut |operand| match operand {
            Operand::Reg(reg) => self.mention(reg),
            Operand::Lit(_) => {}
        });
        if let Stmt::Step(_) = stmt {
            self.bind(stmt);
        }
    }

    fn bind(&mut self, stmt: &Stmt) {
        if let Some(Binding::Reg(Reg(reg))) = stmt.binds() {
            self.depth[reg as usize] = self.loops.len();
            self.last[reg as usize] = self.at;
        }
    }

    fn mention(&mut self, reg: Reg) {
        let depth = self.depth[reg.0 as usize];
        self.last[reg.0 as usize] = self.at;
        if let Some(outermost) = self.loops.get_mut(depth) {
            outermost.push(reg);
        }
    }
}
