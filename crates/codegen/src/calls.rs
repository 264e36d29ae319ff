//! Parts of large functions as C functions, and the calls of them; see [`crate::parts`] and
//! [`crate::frame`]. The frame of a large kernel is in the arena; others are on the stack. So
//! is the frame of a function of the library, because its calls nest.

use lambada_loops::{Buf, Nest, Param, Reg, Stmt};

use crate::function::Printer;
use crate::parts::{KERNEL, OutlinedPart, Shared};
use crate::shares;

impl Printer<'_> {
    /// The beginning of a kernel in parts: the frame, with the parameters that parts need.
    pub fn open_frame(&mut self) {
        let kernel = self.frame.kernel().to_string();
        if self.is_entry && self.parts.is_cut() {
            self.line(&format!(
                "struct {kernel}_frame *const frame = lam_alloc(ctx, 1, sizeof *frame);"
            ));
            // The first array is reported.
            self.line("if (unlikely(!frame)) return lam_no_memory(ctx, results, 0);");
        } else {
            self.line(&format!("struct {kernel}_frame lam_frame, *const frame = &lam_frame;"));
        }
        for param in &self.function.params {
            match param {
                Param::Scalar(reg) => self.share_reg(*reg),
                Param::Buffer(buf) | Param::Owned(buf) | Param::Shared(buf) => self.share_buf(*buf),
            }
        }
    }

    /// A run of statements that is a part: its function, and the call of it.
    pub fn part(&mut self, part: OutlinedPart, stmts: &[Stmt]) {
        self.declare(|_| true);
        let outside = std::mem::take(&mut self.out);
        let depth = std::mem::replace(&mut self.depth, 0);
        // No kernel has such a name, for any names in the program.
        let name = format!("part_{}_of_{}", part.number, self.frame.kernel());
        let kernel = self.frame.kernel().to_string();
        let head = format!(
            "int {name}(struct lambada_context *ctx, union lambada_word *results, struct {kernel}_frame *const frame)"
        );
        self.line(&format!("@part {head} {{"));
        self.depth = 1;
        self.names.enter();
        let imports: Vec<Shared> = self.parts.imports[part.number].iter().copied().collect();
        let before: Vec<String> = imports.iter().map(|shared| self.import(*shared)).collect();
        stmts.iter().for_each(|stmt| self.stmt(stmt));
        self.declare(|_| true);
        for (shared, name) in imports.into_iter().zip(before) {
            *self.name_of(shared) = name;
        }
        self.names.leave();
        self.line("return 0;");
        self.depth = 0;
        self.line("}");
        self.depth = depth;
        let text = std::mem::replace(&mut self.out, outside);
        self.frame.add_function(&head, shares::marked(&text, is_straight(stmts)));
        self.returns_failure(&format!("{name}(ctx, results, frame)"));
        let exports: Vec<Shared> = self.parts.exports[part.number].iter().copied().collect();
        exports.into_iter().for_each(|shared| {
            self.import(shared);
        });
    }

    /// A parallel loop: the function of an iteration, and the call that runs it for each. The
    /// iteration has a copy of the frame, so its changes there are its own.
    pub fn parallel(&mut self, stmt: &Stmt) {
        let Stmt::Nest(Nest::Parallel { index, count, body, merge }) = stmt else { return };
        self.needs.teams();
        let count = self.operand(*count).text;
        self.declare(|_| true);
        let outside = std::mem::take(&mut self.out);
        let depth = std::mem::replace(&mut self.depth, 0);
        let loops = std::mem::take(&mut self.loops);
        let number = self.parts.team(stmt);
        let kernel = self.frame.kernel().to_string();
        let name = format!("iteration_{number}_of_{kernel}");
        self.names.enter();
        let part = self.fresh(&self.function.regs[index.0 as usize].1.clone());
        self.regs[index.0 as usize].clone_from(&part);
        let head = format!(
            "int {name}(struct lambada_context *ctx, union lambada_word *results, const void *lam_frame, int64_t {part})"
        );
        self.line(&format!("{head} {{"));
        self.depth = 1;
        self.line(&format!("struct {kernel}_frame lam_own = *(const struct {kernel}_frame *)lam_frame, *const frame = &lam_own;"));
        self.line("(void)frame;");
        self.share_reg(*index);
        let imports: Vec<Shared> = self.parts.imports[number].iter().copied().collect();
        let before: Vec<String> = imports.iter().map(|shared| self.import(*shared)).collect();
        self.stmts(body);
        if !merge.is_empty() {
            self.declare(|_| true);
            self.line(&format!("if (unlikely(!lam_turn(ctx, {part}))) return 0;"));
            self.stmts(merge);
        }
        self.declare(|_| true);
        for (shared, name) in imports.into_iter().zip(before) {
            *self.name_of(shared) = name;
        }
        self.names.leave();
        self.line("return 0;");
        self.depth = 0;
        self.line("}");
        (self.depth, self.loops) = (depth, loops);
        let text = std::mem::replace(&mut self.out, outside);
        if self.parts.is_cut() {
            self.frame.add_function(&head, shares::marked(&format!("@part {text}"), false));
        } else {
            self.frame.add_static(&head, &text);
        }
        self.returns_failure(&format!("lam_parallel(ctx, results, {name}, frame, {count})"));
    }

    fn returns_failure(&mut self, call: &str) {
        self.line(&format!("{{ int status = {call}; if (unlikely(status)) return status; }}"));
    }

    fn name_of(&mut self, shared: Shared) -> &mut String {
        match shared {
            Shared::Reg(reg) => &mut self.regs[reg as usize],
            Shared::Buf(buf) => &mut self.bufs[buf as usize],
        }
    }

    /// A local variable for a value in the frame; gives the name that it had before.
    fn import(&mut self, shared: Shared) -> String {
        let name = match shared {
            Shared::Reg(reg) => {
                let (ty, hint) = &self.function.regs[reg as usize];
                let field = self.frame.holder(shared);
                let name = self.fresh(hint);
                self.line(&format!("const {} {name} = {field};", self.register_type(*ty)));
                name
            }
            Shared::Buf(buf) => {
                let field = self.frame.holder(shared);
                if self.facts.swapped[buf as usize] {
                    field
                } else {
                    let pointer = self.pointer_type(Buf(buf));
                    // a buffer that is only read may be `restrict`
                    let qualifier = if self.facts.outside[buf as usize] { "restrict " } else { "" };
                    let name = self.fresh(&self.function.bufs[buf as usize].1.clone());
                    self.line(&format!("{pointer}{qualifier}{name} = {field};"));
                    name
                }
            }
        };
        std::mem::replace(self.name_of(shared), name)
    }

    /// After a register got its value: stores it in the frame, too, if other parts mention it.
    pub fn share_reg(&mut self, reg: Reg) {
        let k = reg.0 as usize;
        if self.parts.regs[k] {
            let (ty, hint) = &self.function.regs[k];
            let field = self
                .frame
                .field(&format!("{} ", self.register_type(*ty)), &lambada_loops::identifier(hint));
            self.line(&format!("{field} = {};", self.regs[k]));
            self.frame.hold(Shared::Reg(reg.0), field);
        }
    }

    /// After a pointer got its value: stores it in the frame, too, if other parts mention it. A
    /// pointer that is exchanged is in the frame only.
    pub fn share_buf(&mut self, buf: Buf) {
        let k = buf.0 as usize;
        if self.parts.bufs[k] && !self.facts.swapped[k] {
            let field = self.buf_field(buf);
            self.line(&format!("{field} = {};", self.bufs[k]));
        }
    }

    /// A new field for a pointer.
    pub fn buf_field(&mut self, buf: Buf) -> String {
        let pointer = self.pointer_type(buf);
        let hint = lambada_loops::identifier(&self.function.bufs[buf.0 as usize].1);
        let field = self.frame.field(&pointer, &hint);
        self.frame.hold(Shared::Buf(buf.0), field.clone());
        field
    }

    /// A new field for a cell.
    pub fn cell_field(&mut self, ty: lambada_loops::Ty, hint: &str) -> String {
        self.frame.field(&format!("{} ", self.register_type(ty)), &lambada_loops::identifier(hint))
    }

    /// `const double *`
    pub fn pointer_type(&self, buf: Buf) -> String {
        let constant = if self.facts.outside[buf.0 as usize] { "const " } else { "" };
        format!("{constant}{} *", self.memory_type(self.elem(buf)))
    }

    /// The statements of a body; those of a part are called.
    pub fn stmts(&mut self, body: &[Stmt]) {
        if self.parts.is_whole() {
            return body.iter().for_each(|stmt| self.stmt(stmt));
        }
        let mut k = 0;
        while k < body.len() {
            match self.parts.at(&body[k]) {
                Some(part) => {
                    debug_assert!(part.number != KERNEL, "the kernel is not inside of itself");
                    self.part(part, &body[k..k + part.len]);
                    k += part.len;
                }
                None => {
                    self.stmt(&body[k]);
                    k += 1;
                }
            }
        }
    }
}

/// Whether no statement runs more than once.
fn is_straight(stmts: &[Stmt]) -> bool {
    stmts.iter().all(|stmt| match stmt {
        Stmt::Nest(Nest::For { .. } | Nest::While { .. } | Nest::Parallel { .. }) => false,
        Stmt::Nest(Nest::If { .. } | Nest::Scope(..)) => {
            stmt.bodies().into_iter().all(|body| is_straight(body))
        }
        Stmt::Step(_) => true,
    })
}
