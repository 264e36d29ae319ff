//! One function as C.
//!
//! A register that is mentioned once, further down in the same body, is not declared: its
//! expression waits and is printed at its use, as a person would write it. An expression that reads
//! memory or a cell stops waiting when that memory or cell is about to change, and all stop before
//! nested bodies. Since expressions have no effects and cannot fail, moving them changes nothing.

use lambada_loops::{
    Buf, Cell, Function, Names, Nest, Op, Operand, Param, Reg, Return, Step, Stmt, Ty, identifier,
};
use lambada_prim::{Precision, Scalar, ScalarTy, Tensor};

use crate::facts::Facts;
use crate::frame::Frame;
use crate::lanes::{Helper, memory_type, register_type};
use crate::needs::{Needs, is_reserved, reserved};
use crate::parts::Parts;
use crate::program::{Program, result_type};
use crate::text::{self, Text};

/// Longer expressions get a name.
const LONGEST: usize = 100;
/// The most waiting expressions; then the oldest one gets a name.
const MOST_WAITING: usize = 64;

/// The function under the name `kernel`, after its library, and the entry `symbol` that unpacks its
/// arguments.
pub(crate) fn print(
    function: &Function,
    (kernel, symbol): (&str, &str),
    part: usize,
    needs: &mut Needs,
) -> String {
    let program = Program::of(function, kernel);
    let mut out = program.declarations();
    let (mut sites, mut bufs) = (function.sites.len(), function.bufs.len());
    for (name, each) in program.names.iter().zip(&function.library.functions) {
        let mut printer = Printer::new(each, &program, needs, name, part);
        (printer.is_entry, printer.sites_before, printer.bufs_before) = (false, sites, bufs);
        printer.kernel(name);
        out = format!("{out}{}\n", printer.out);
        (sites, bufs) = (sites + each.sites.len(), bufs + each.bufs.len());
    }
    let mut printer = Printer::new(function, &program, needs, kernel, part);
    printer.kernel(kernel);
    printer.entry(kernel, symbol);
    out + &printer.out
}

/// An expression that waits for its use.
pub(crate) struct Waiting {
    pub reg: Reg,
    pub value: Text,
}

pub(crate) struct Printer<'a> {
    pub function: &'a Function,
    pub program: &'a Program<'a>,
    /// Whether it is called from outside, and not by other functions.
    pub is_entry: bool,
    /// The numbers of sites and buffers of earlier functions: messages number those of the program.
    sites_before: usize,
    bufs_before: usize,
    /// In a function of the library: the targets of its results.
    results: Vec<String>,
    pub needs: &'a mut Needs,
    pub facts: Facts,
    pub names: Names,
    pub regs: Vec<String>,
    cells: Vec<String>,
    pub bufs: Vec<String>,
    pub waiting: Vec<Waiting>,
    pub out: String,
    pub depth: usize,
    /// The number of loops around.
    pub loops: usize,
    pub parts: Parts,
    pub frame: Frame,
}

impl<'a> Printer<'a> {
    fn new(
        function: &'a Function,
        program: &'a Program<'a>,
        needs: &'a mut Needs,
        kernel: &str,
        part: usize,
    ) -> Printer<'a> {
        Printer {
            function,
            program,
            is_entry: true,
            sites_before: 0,
            bufs_before: 0,
            results: Vec::new(),
            needs,
            facts: Facts::of(function, program.library),
            names: Names::new(reserved()),
            regs: vec![String::new(); function.regs.len()],
            cells: vec![String::new(); function.cells.len()],
            bufs: vec![String::new(); function.bufs.len()],
            waiting: Vec::new(),
            out: String::new(),
            depth: 0,
            loops: 0,
            parts: Parts::of(function, part),
            frame: Frame::new(kernel, function.regs.len(), function.bufs.len()),
        }
    }

    // Functions.

    fn kernel(&mut self, kernel: &str) {
        let function = self.function;
        let mut params: Vec<String> =
            function.params.iter().map(|param| self.param(*param)).collect();
        if !self.is_entry {
            params.extend(function.results.iter().map(|result| self.result_param(result)));
        }
        let params: String = params.iter().map(|param| format!(", {param}")).collect();
        self.line(&format!("static int {kernel}(struct lambada_context *ctx, union lambada_word *results{params}) {{"));
        self.depth += 1;
        if !self.parts.is_whole() {
            self.open_frame();
        }
        self.stmts(&function.body);
        if self.is_entry {
            self.results();
        } else {
            self.give_results();
        }
        self.depth -= 1;
        self.line("}");
        if !self.parts.is_whole() {
            self.out = format!("{}\n{}", self.frame.text(), self.out);
        }
    }

    fn param(&mut self, param: Param) -> String {
        match param {
            Param::Scalar(reg) => {
                let (ty, hint) = &self.function.regs[reg.0 as usize];
                let name = self.fresh(hint);
                self.regs[reg.0 as usize].clone_from(&name);
                format!("{} {name}", self.register_type(*ty))
            }
            Param::Buffer(buf) => {
                let name = self.name_buf(buf);
                format!("const {} *restrict {name}", self.memory_type(self.elem(buf)))
            }
            Param::Owned(buf) => {
                let name = self.name_buf(buf);
                format!("{} *restrict {name}", self.memory_type(self.elem(buf)))
            }
            Param::Shared(buf) => {
                let name = self.name_buf(buf);
                format!("{} *{name}", self.memory_type(self.elem(buf)))
            }
        }
    }

    /// The target of a result of a function of the library.
    fn result_param(&mut self, result: &Return) -> String {
        let name = self.fresh("result");
        self.results.push(name.clone());
        format!("{}{name}", result_type(self.function, result))
    }

    fn entry(&mut self, kernel: &str, symbol: &str) {
        let function = self.function;
        let arg = |(k, param): (usize, &Param)| match param {
            Param::Scalar(reg) => {
                format!(", args[{k}].{}", field(function.regs[reg.0 as usize].0.elem))
            }
            Param::Buffer(_) | Param::Owned(_) | Param::Shared(_) => format!(", args[{k}].data"),
        };
        let args: String = function.params.iter().enumerate().map(arg).collect();
        self.line(&format!("\n@export int {symbol}(struct lambada_context *ctx, const union lambada_word *args, union lambada_word *results) {{"));
        self.depth += 1;
        if !function.library.functions.is_empty() {
            self.needs.calls();
            self.line("lam_begin(ctx);");
        }
        self.line("lam_reset(ctx);");
        self.line("if (lam_is_cancelled(ctx)) return 4;");
        self.line(&format!("return {kernel}(ctx, results{args});"));
        self.depth -= 1;
        self.line("}");
    }

    /// The end of a function of the library.
    fn give_results(&mut self) {
        let function = self.function;
        for (result, name) in function.results.iter().zip(self.results.clone()) {
            let value = match result {
                Return::Scalar(value) => self.operand(*value).text,
                Return::Buffer(buf, _) => self.buf(*buf),
            };
            self.line(&format!("*{name} = {value};"));
        }
        self.line("return 0;");
        self.waiting.clear();
    }

    fn results(&mut self) {
        let words = self.words(&self.function.results);
        for (k, (field, value)) in words.into_iter().enumerate() {
            self.line(&format!("results[{k}].{field} = {value};"));
        }
        self.line("return 0;");
        self.waiting.clear();
    }

    /// Values as words: the member of the union, and its value.
    fn words(&mut self, values: &[Return]) -> Vec<(&'static str, String)> {
        let mut words = Vec::new();
        for value in values {
            match value {
                Return::Scalar(value) => {
                    words.push((field(self.operand_ty(*value).elem), self.operand(*value).text))
                }
                Return::Buffer(buf, dims) => {
                    words.push(("data", self.buf(*buf)));
                    words.extend(dims.iter().map(|dim| ("integer", self.operand(*dim).text)));
                }
            }
        }
        words
    }

    fn inspect(&mut self, number: u32, values: &[Return]) {
        self.needs.inspections();
        let words = self.words(values);
        let words = words.iter().map(|(field, value)| format!("{{.{field} = {value}}}"));
        let words = words.collect::<Vec<_>>().join(", ");
        let array = if words.is_empty() {
            "0".to_string()
        } else {
            format!("(union lambada_word[]){{{words}}}")
        };
        self.line(&format!("lam_inspect(ctx, {number}, {array});"));
    }

    // Statements.

    /// A nested body in braces; the caller has printed the first brace.
    pub fn nested(&mut self, body: &[Stmt]) {
        self.names.enter();
        self.depth += 1;
        self.stmts(body);
        self.waiting.clear();
        self.depth -= 1;
        self.names.leave();
    }

    pub fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Step(step) => self.step(step),
            Stmt::Nest(Nest::For { index, start, end, step, mode, body }) => {
                self.counted(*index, (*start, *end, *step), *mode, body)
            }
            Stmt::Nest(Nest::While { cond, body }) => self.repeat(cond, body),
            Stmt::Nest(Nest::If { cond, then, otherwise }) => {
                let cond = self.operand(*cond);
                self.declare(|_| true);
                self.choice("", &cond, then, otherwise);
            }
            Stmt::Nest(Nest::Scope(release, body)) => self.scope(*release, body),
            Stmt::Nest(Nest::Parallel { .. }) => self.parallel(stmt),
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Let(reg, op) => self.assign(*reg, op),
            Step::Cell(cell, value) => {
                let (ty, hint) = &self.function.cells[cell.0 as usize];
                let value = self.spread(*value, *ty);
                self.needs.lanes(ty.lanes);
                let name = if self.parts.cells[cell.0 as usize] {
                    let field = self.cell_field(*ty, hint);
                    self.line(&format!("{field} = {};", value.text));
                    field
                } else {
                    let name = self.fresh(hint);
                    self.line(&format!("{} {name} = {};", self.register_type(*ty), value.text));
                    name
                };
                self.cells[cell.0 as usize] = name;
            }
            Step::Set(cell, value) => {
                let value = self.spread(*value, self.function.cells[cell.0 as usize].0);
                self.declare(|waiting| waiting.cells.contains(&cell.0));
                self.update(&self.cells[cell.0 as usize].clone(), value);
            }
            Step::Store { buf, offset, value } => self.store(*buf, *offset, *value),
            Step::StoreSome { buf, offset, count, value } => {
                self.store_some(*buf, *offset, *count, *value)
            }
            Step::Alloc { buf, dims } => self.alloc(*buf, dims),
            Step::View { buf, base, offset } => {
                let offset = self.operand(*offset);
                let place = self.address(*base, &offset);
                let pointer = self.pointer(*buf, "");
                self.line(&format!("{pointer} = {place};"));
                self.share_buf(*buf);
            }
            Step::Swap(a, b) => self.swap(*a, *b),
            Step::Constant(buf, tensor) => self.constant(*buf, tensor),
            Step::Copy { to, from, len } => {
                let bytes = self.bytes(*len, self.elem(*to));
                self.changes(*to);
                let call = format!(
                    "{}({}, {}, {bytes});",
                    self.needs.copy(),
                    self.buf(*to),
                    self.buf(*from)
                );
                self.line(&call);
            }
            Step::Transpose { to, to_row, from, from_row, rows, cols, lanes } => {
                let name = self.needs.vector(Helper::Transpose(self.elem(*to), *lanes));
                let numbers = [to_row, from_row, rows, cols];
                let [to_row, from_row, rows, cols] = numbers.map(|of| self.operand(*of).text);
                self.changes(*to);
                let (to, from) = (self.buf(*to), self.buf(*from));
                self.line(&format!("{name}({to}, {to_row}, {from}, {from_row}, {rows}, {cols});"));
            }
            Step::Fill { buf, value, len } => {
                let (value, len) = (self.operand(*value).text, self.operand(*len).text);
                self.changes(*buf);
                let call = format!(
                    "{}({}, {value}, {len});",
                    self.needs.fill(self.elem(*buf)),
                    self.buf(*buf)
                );
                self.line(&call);
            }
            Step::Kernel { prim, to, args, sizes } => {
                let mut given: Vec<String> =
                    sizes.iter().map(|size| self.operand(*size).text).collect();
                to.iter().for_each(|buf| self.changes(*buf));
                given.extend(args.iter().chain(to).map(|buf| self.buf(*buf).to_string()));
                let call = format!("{}({});", self.needs.kernel(*prim), given.join(", "));
                self.line(&call);
            }
            Step::Check { cond, site, values } => self.check(*cond, *site, values),
            Step::Inspect { number, values } => self.inspect(*number, values),
            Step::Node { reg, node, tag, fields, site } => {
                self.new_node(*reg, *node, *tag, fields, *site)
            }
            Step::Open { buf, field, of, dims } => self.open(*buf, *field, *of, dims),
            Step::Call { function, args, results, site } => {
                self.call(*function, args, results, *site)
            }
        }
    }

    fn assign(&mut self, reg: Reg, op: &Op) {
        if self.facts.dead[reg.0 as usize] {
            return;
        }
        let value = self.op(self.reg_ty(reg), op);
        let waiting = Waiting { reg, value };
        if !self.facts.once[reg.0 as usize] || waiting.value.text.len() > LONGEST {
            return self.declare_one(waiting);
        }
        if self.waiting.len() == MOST_WAITING {
            let oldest = self.waiting.remove(0);
            self.declare_one(oldest);
        }
        self.waiting.push(waiting);
    }

    /// Gives a name to every waiting expression that satisfies `which`, in order.
    pub fn declare(&mut self, which: impl Fn(&Text) -> bool) {
        let (now, later) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|waiting| which(&waiting.value));
        self.waiting = later;
        let now: Vec<Waiting> = now;
        now.into_iter().for_each(|waiting| self.declare_one(waiting));
    }

    pub fn declare_one(&mut self, Waiting { reg, value }: Waiting) {
        let (ty, hint) = &self.function.regs[reg.0 as usize];
        let name = self.fresh(hint);
        self.line(&format!("{} {name} = {};", self.register_type(*ty), value.text));
        if self.facts.held[reg.0 as usize] {
            let held = self.needs.vector(Helper::Held(ty.lanes));
            self.line(&format!("{held}({name});"));
        }
        self.regs[reg.0 as usize] = name;
        self.share_reg(reg);
    }

    /// Prepares for a statement that writes to the memory of a buffer, or changes its pointer.
    fn changes(&mut self, buf: Buf) {
        let memory = self.facts.memory[buf.0 as usize];
        self.declare(|waiting| waiting.memories.contains(&memory));
    }

    fn store(&mut self, buf: Buf, offset: Operand, value: Operand) {
        let (ty, each) = (self.operand_ty(value), self.operand_ty(offset).lanes > 1);
        let (offset, value) = (self.operand(offset), self.operand(value));
        self.changes(buf);
        if ty.lanes == 1 {
            return self.update(&format!("{}[{}]", self.buf(buf), offset.text), value);
        }
        if each {
            let helper = self.needs.vector(Helper::Scatter(ty.elem, ty.lanes));
            let line = format!("{helper}({}, {}, {});", self.buf(buf), offset.text, value.text);
            return self.line(&line);
        }
        let place = self.address(buf, &offset);
        let helper = self.needs.vector(Helper::Store(ty.elem, ty.lanes));
        self.line(&format!("{helper}({place}, {});", value.text));
    }

    fn store_some(&mut self, buf: Buf, offset: Operand, count: Operand, value: Operand) {
        let ty = self.operand_ty(value);
        let (offset, count) = (self.operand(offset), self.operand(count));
        let value = self.operand(value);
        self.changes(buf);
        let place = self.address(buf, &offset);
        let helper = self.needs.vector(Helper::StoreSome(ty.elem, ty.lanes));
        self.line(&format!("{helper}({place}, {}, {});", count.text, value.text));
    }

    /// `place = value`, or `place += …` if the value is such an operation on the place.
    fn update(&mut self, place: &str, value: Text) {
        match value.parts {
            Some((left, op, right)) if left == place => {
                self.line(&format!("{place} {op}= {right};"))
            }
            Some(_) | None => self.line(&format!("{place} = {};", value.text)),
        }
    }

    /// The number of elements of a buffer in the C function's own memory. Other parts of a function
    /// cannot reach that, by any name.
    pub fn local(&self, buf: Buf) -> Option<i64> {
        let len = self.facts.local[buf.0 as usize]?;
        let memory = self.facts.memory[buf.0 as usize];
        let names = self.facts.memory.iter().zip(&self.parts.bufs);
        (!names.into_iter().any(|(of, is_shared)| *is_shared && *of == memory)).then_some(len)
    }

    fn alloc(&mut self, buf: Buf, dims: &[Operand]) {
        if let Some(len) = self.local(buf) {
            let elem = self.memory_type(self.elem(buf));
            let name = self.name_buf(buf);
            self.line(&format!("{elem} {name}[{}];", len.max(1)));
            return;
        }
        let len = self.count(dims);
        let size = self.memory_size(self.elem(buf));
        let pointer =
            self.pointer(buf, if self.facts.swapped[buf.0 as usize] { "" } else { "restrict " });
        if self.facts.is_taken(buf) {
            self.line(&format!("{pointer} = lam_alloc_kept(ctx, {len}, {size});"));
        } else if size == 8 && self.is_result(buf) && self.needs.hosted() {
            self.line(&format!("{pointer} = lam_alloc_result(ctx, {len});"));
        } else {
            self.line(&format!("{pointer} = lam_alloc(ctx, {len}, {size});"));
        }
        self.is_there(buf);
    }

    /// Whether a buffer is a result of the program where it is allocated.
    fn is_result(&self, buf: Buf) -> bool {
        let is = |result: &Return| matches!(result, Return::Buffer(result, _) if *result == buf);
        self.is_entry && self.loops == 0 && self.function.results.iter().any(is)
    }

    /// The product of sizes.
    pub fn count(&mut self, dims: &[Operand]) -> String {
        let dims: Vec<Text> = dims.iter().map(|dim| self.operand(*dim)).collect();
        let one = text::literal(self.precision(), Scalar::Int(1));
        let times = |a: Text, b: Text| text::call("lam_count", &[a, b]);
        dims.into_iter().reduce(times).unwrap_or(one).text
    }

    /// Leaves the function if there is no memory for a buffer.
    pub fn is_there(&mut self, buf: Buf) {
        let (name, number) = (self.buf(buf), self.bufs_before + buf.0 as usize);
        self.line(&format!("if (unlikely(!{name})) return lam_no_memory(ctx, results, {number});"));
        self.share_buf(buf);
    }

    /// The number of a site in the program.
    pub fn site(&self, site: u32) -> usize {
        self.sites_before + site as usize
    }

    /// The message of a site, for a comment.
    pub fn remark(&self, site: u32) -> String {
        comment(&self.function.sites[site as usize].message)
    }

    fn swap(&mut self, a: Buf, b: Buf) {
        self.changes(a);
        let (elem, a, b) = (self.memory_type(self.elem(a)), self.buf(a), self.buf(b));
        self.names.enter();
        let other = self.fresh("other");
        self.names.leave();
        self.line(&format!("{{ {elem} *{other} = {a}; {a} = {b}; {b} = {other}; }}"));
    }

    fn constant(&mut self, buf: Buf, tensor: &Tensor) {
        const PER_LINE: usize = 16;
        let items: Vec<String> = (0..tensor.data.len())
            .map(|k| text::literal(self.precision(), tensor.data.get(k)).text)
            .collect();
        let rows: Vec<String> = items.chunks(PER_LINE).map(|row| row.join(", ")).collect();
        let name = self.name_buf(buf);
        let head = format!(
            "static const {} {name}[{}] = ",
            self.memory_type(tensor.elem()),
            items.len().max(1)
        );
        if rows.len() <= 1 {
            self.line(&format!(
                "{head}{{{}}};",
                if items.is_empty() { "0".to_string() } else { rows.join("") }
            ));
            return self.share_buf(buf);
        }
        self.line(&format!("{head}{{"));
        self.depth += 1;
        rows.iter().for_each(|row| self.line(&format!("{row},")));
        self.depth -= 1;
        self.line("};");
        self.share_buf(buf);
    }

    fn bytes(&mut self, len: Operand, elem: ScalarTy) -> String {
        let size = Scalar::Int(i64::from(self.memory_size(elem)));
        match (len, self.memory_size(elem)) {
            (Operand::Lit(Scalar::Int(len)), size) => {
                len.saturating_mul(i64::from(size)).to_string()
            }
            (_, 1) => self.operand(len).text,
            (_, _) => {
                text::infix("*", &text::literal(self.precision(), size), &self.operand(len)).text
            }
        }
    }

    fn check(&mut self, cond: Operand, site: u32, values: &[Operand]) {
        let failed = text::prefix("!", &self.operand(cond)).text;
        let texts: Vec<String> = values.iter().map(|value| self.operand(*value).text).collect();
        let array = if texts.is_empty() {
            "0".to_string()
        } else {
            format!("(int64_t[]){{{}}}", texts.join(", "))
        };
        let (message, site) = (self.remark(site), self.site(site));
        self.line(&format!(
            "if (unlikely({failed})) return lam_fail(results, {site}, {}, {array}); // {message}",
            texts.len()
        ));
    }

    // Types.

    pub fn precision(&self) -> Precision {
        self.function.precision
    }

    pub fn register_type(&self, ty: Ty) -> String {
        register_type(self.precision(), ty)
    }

    pub fn memory_type(&self, elem: ScalarTy) -> &'static str {
        memory_type(self.precision(), elem)
    }

    pub fn memory_size(&self, elem: ScalarTy) -> u32 {
        self.precision().bytes(elem)
    }

    // Names.

    pub fn elem(&self, buf: Buf) -> ScalarTy {
        self.function.bufs[buf.0 as usize].0
    }

    pub fn cell(&self, cell: Cell) -> String {
        self.cells[cell.0 as usize].clone()
    }

    pub fn buf(&self, buf: Buf) -> String {
        self.bufs[buf.0 as usize].clone()
    }

    fn name_buf(&mut self, buf: Buf) -> String {
        let name = self.fresh(&self.function.bufs[buf.0 as usize].1);
        self.bufs[buf.0 as usize].clone_from(&name);
        name
    }

    /// The declaration of a pointer.
    pub fn pointer(&mut self, buf: Buf, qualifier: &str) -> String {
        if self.parts.bufs[buf.0 as usize] && self.facts.swapped[buf.0 as usize] {
            let field = self.buf_field(buf);
            self.bufs[buf.0 as usize].clone_from(&field);
            return field;
        }
        format!("{}{qualifier}{}", self.pointer_type(buf), self.name_buf(buf))
    }

    pub fn fresh(&mut self, hint: &str) -> String {
        let hint = identifier(hint);
        if is_reserved(&hint) {
            self.names.fresh(&format!("v_{hint}"))
        } else {
            self.names.fresh(&hint)
        }
    }

    pub fn line(&mut self, line: &str) {
        self.out.push_str(&"    ".repeat(self.depth));
        self.out.push_str(line);
        self.out.push('\n');
    }
}

/// The member of a word that holds a scalar.
fn field(elem: ScalarTy) -> &'static str {
    match elem {
        ScalarTy::Real => "real",
        ScalarTy::Int | ScalarTy::Bool => "integer",
    }
}

/// The text without characters that could end a comment of one line, or continue it on the next.
fn comment(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || c == '\\' { ' ' } else { c }).collect()
}
