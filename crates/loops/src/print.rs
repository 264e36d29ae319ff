//! Pseudo-code for people: one statement a line, nesting by indentation, names from hints. `x[i ..+
//! 8]` is eight elements from `i` on, `x[i ..+ m of 8]` the first `m` of these, and `x[at]` is an
//! element for each lane of `at`. The library of a program stands before it, and before that `reals
//! f32`, where reals have 32 bits.

mod library;

use lambada_prim::{Precision, Prim, Scalar, ScalarTy, Surface, Tensor};

use crate::names::Names;
use crate::{
    Binding, Buf, Cell, Function, Library, Mode, Nest, Op, Operand, Param, Reg, Release, Return,
    Step, Stmt, Ty,
};
use library::Labels;

/// The function and its library as text.
pub fn print(function: &Function) -> String {
    let labels = Labels::of(&function.library);
    let mut out = match function.precision {
        Precision::F64 => String::new(),
        precision => format!("reals {precision}\n"),
    };
    out += &library::types(&function.library, &labels);
    for (k, each) in function.library.functions.iter().enumerate() {
        let mut printer = Printer::new(each, &labels);
        printer.function(&format!("function {}", labels.functions[k]));
        out.push_str(&printer.out);
        out.push('\n');
    }
    let mut printer = Printer::new(function, &labels);
    printer.function(&function.name);
    out + &printer.out
}

/// The first line of a statement, with names that carry their numbers: for messages about functions
/// that may be wrong.
pub(crate) fn head(function: &Function, library: &Library, stmt: &Stmt) -> String {
    let labels = Labels::of(library);
    let mut printer = Printer::new(function, &labels);
    printer.name_all();
    printer.line(stmt)
}

struct Printer<'a> {
    function: &'a Function,
    labels: &'a Labels,
    names: Names,
    regs: Vec<String>,
    cells: Vec<String>,
    bufs: Vec<String>,
    out: String,
    depth: usize,
}

impl<'a> Printer<'a> {
    fn new(function: &'a Function, labels: &'a Labels) -> Printer<'a> {
        let unnamed = |count| vec![String::from("?"); count];
        Printer {
            function,
            labels,
            names: Names::new([]),
            regs: unnamed(function.regs.len()),
            cells: unnamed(function.cells.len()),
            bufs: unnamed(function.bufs.len()),
            out: String::new(),
            depth: 0,
        }
    }

    fn name_all(&mut self) {
        fn numbered<T>(entries: &[(T, std::rc::Rc<str>)]) -> Vec<String> {
            entries.iter().enumerate().map(|(k, (_, hint))| format!("{hint}.{k}")).collect()
        }
        self.regs = numbered(&self.function.regs);
        self.cells = numbered(&self.function.cells);
        self.bufs = numbered(&self.function.bufs);
    }

    fn function(&mut self, name: &str) {
        let function = self.function;
        let (sizes, params) = function.params.split_at(function.sizes.min(function.params.len()));
        let sizes: String = sizes.iter().map(|size| self.size(*size)).collect();
        let params: Vec<String> = params.iter().map(|param| self.param(*param)).collect();
        self.put(&format!("{name}{sizes}({})", params.join(", ")));
        self.body(&function.body, &|printer| {
            let results: Vec<String> =
                function.results.iter().map(|result| printer.result(result)).collect();
            printer.put(format!("return {}", results.join(", ")).trim_end());
        });
    }

    fn size(&mut self, size: Param) -> String {
        match size {
            Param::Scalar(reg) => format!("[{}]", self.bind_reg(reg)),
            Param::Buffer(buf) | Param::Owned(buf) | Param::Shared(buf) => {
                format!("[{}]", self.bind_buf(buf))
            }
        }
    }

    fn param(&mut self, param: Param) -> String {
        match param {
            Param::Scalar(reg) => {
                let name = self.bind_reg(reg);
                format!("{name} : {}", ty(self.reg_ty(reg)))
            }
            Param::Buffer(buf) => self.buffer_param(buf, ""),
            Param::Owned(buf) => self.buffer_param(buf, "own "),
            Param::Shared(buf) => self.buffer_param(buf, "add "),
        }
    }

    fn buffer_param(&mut self, buf: Buf, way: &str) -> String {
        let name = self.bind_buf(buf);
        format!("{name} : {way}[]{}", self.elem(buf))
    }

    fn result(&self, result: &Return) -> String {
        match result {
            Return::Scalar(value) => self.operand(*value),
            Return::Buffer(buf, dims) => {
                let dims: Vec<String> = dims.iter().map(|dim| self.operand(*dim)).collect();
                format!("{}[{}]", self.buf(*buf), dims.join(", "))
            }
        }
    }

    /// An indented body, closed by the output of `last`.
    fn body(&mut self, body: &[Stmt], last: &dyn Fn(&mut Self)) {
        self.names.enter();
        self.depth += 1;
        for stmt in body {
            self.stmt(stmt);
        }
        last(self);
        self.depth -= 1;
        self.names.leave();
    }

    fn nested(&mut self, body: &[Stmt]) {
        self.body(body, &|_| {});
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Nest(Nest::For { index, body, .. }) => {
                self.names.enter();
                self.bind_reg(*index);
                self.put(&self.line(stmt));
                self.nested(body);
                self.names.leave();
            }
            Stmt::Nest(Nest::While { cond, body }) => {
                self.put("while");
                self.body(&cond.before, &|printer| {
                    printer.depth -= 1;
                    printer.put(&format!("{} do", printer.operand(cond.test)));
                    printer.depth += 1;
                    body.iter().for_each(|stmt| printer.stmt(stmt));
                });
            }
            Stmt::Nest(Nest::If { then, otherwise, .. }) => {
                self.put(&self.line(stmt));
                self.nested(then);
                if !otherwise.is_empty() {
                    self.put("else");
                    self.nested(otherwise);
                }
            }
            Stmt::Nest(Nest::Parallel { index, body, merge, .. }) => {
                self.names.enter();
                self.bind_reg(*index);
                self.put(&self.line(stmt));
                self.body(body, &|printer| {
                    if !merge.is_empty() {
                        printer.depth -= 1;
                        printer.put("in order");
                        printer.depth += 1;
                        merge.iter().for_each(|stmt| printer.stmt(stmt));
                    }
                });
                self.names.leave();
            }
            Stmt::Nest(Nest::Scope(release, body)) => {
                self.put(scope(*release));
                self.nested(body);
            }
            Stmt::Step(_) => {
                self.bind(stmt);
                self.put(&self.line(stmt));
            }
        }
    }

    fn bind(&mut self, stmt: &Stmt) {
        match stmt.binds() {
            Some(Binding::Reg(reg)) => drop(self.bind_reg(reg)),
            Some(Binding::Buf(buf)) => drop(self.bind_buf(buf)),
            Some(Binding::Cell(cell)) => {
                let function = self.function;
                if let Some((_, hint)) = function.cells.get(cell.0 as usize) {
                    self.cells[cell.0 as usize] = self.names.fresh(hint);
                }
            }
            None => {}
        }
    }

    fn bind_reg(&mut self, reg: Reg) -> String {
        let function = self.function;
        if let Some((_, hint)) = function.regs.get(reg.0 as usize) {
            self.regs[reg.0 as usize] = self.names.fresh(hint);
        }
        self.reg(reg)
    }

    fn bind_buf(&mut self, buf: Buf) -> String {
        let function = self.function;
        if let Some((_, hint)) = function.bufs.get(buf.0 as usize) {
            self.bufs[buf.0 as usize] = self.names.fresh(hint);
        }
        self.buf(buf)
    }

    /// The statement without its bodies.
    fn line(&self, stmt: &Stmt) -> String {
        match stmt {
            Stmt::Step(step) => self.step(step),
            Stmt::Nest(Nest::For { index, start, end, step, mode, .. }) => {
                let step = if *step == 1 { String::new() } else { format!(" by {step}") };
                format!(
                    "for {} in {} .. {}{step}{}",
                    self.reg(*index),
                    self.operand(*start),
                    self.operand(*end),
                    self::mode(*mode)
                )
            }
            Stmt::Nest(Nest::While { cond, .. }) => format!("while … {}", self.operand(cond.test)),
            Stmt::Nest(Nest::If { cond, .. }) => format!("if {}", self.operand(*cond)),
            Stmt::Nest(Nest::Scope(release, _)) => scope(*release).to_string(),
            Stmt::Nest(Nest::Parallel { index, count, .. }) => {
                format!("parallel {} < {}", self.reg(*index), self.operand(*count))
            }
        }
    }

    fn step(&self, step: &Step) -> String {
        let operand = |value: &Operand| self.operand(*value);
        match step {
            Step::Let(reg, op) => {
                let ty = self.reg_ty(*reg);
                let lanes =
                    if ty.lanes == 1 { String::new() } else { format!(" : {}", self::ty(ty)) };
                format!("{}{lanes} = {}", self.reg(*reg), self.op(op, ty))
            }
            Step::Cell(cell, value) => {
                let ty = self.function.cells.get(cell.0 as usize).map(|(ty, _)| *ty);
                let broadcast = ty.filter(|ty| ty.lanes != self.operand_lanes(*value));
                let shown = broadcast.map_or(String::new(), |ty| format!(" : {}", self::ty(ty)));
                format!("cell {}{shown} = {}", self.cell(*cell), operand(value))
            }
            Step::Set(cell, value) => format!("{} := {}", self.cell(*cell), operand(value)),
            Step::Store { buf, offset, value } => {
                let place = self.place(*buf, *offset, self.operand_lanes(*value));
                format!("{place} := {}", operand(value))
            }
            Step::StoreSome { buf, offset, count, value } => {
                let place = self.some(*buf, *offset, *count, self.operand_lanes(*value));
                format!("{place} := {}", operand(value))
            }
            Step::Alloc { buf, dims } => {
                format!("{} = alloc {}[{}]", self.buf(*buf), self.elem(*buf), self.sizes(dims))
            }
            Step::View { buf, base, offset } => {
                format!("{} = {}[{} ..]", self.buf(*buf), self.buf(*base), operand(offset))
            }
            Step::Swap(a, b) => format!("swap {}, {}", self.buf(*a), self.buf(*b)),
            Step::Constant(buf, tensor) => {
                format!("{} = constant {}", self.buf(*buf), constant(tensor))
            }
            Step::Copy { to, from, len } => {
                format!("copy {}[0 ..+ {}] := {}", self.buf(*to), operand(len), self.buf(*from))
            }
            Step::Transpose { to, to_row, from, from_row, rows, cols, lanes } => {
                let matrix = |buf: Buf, rows: &Operand, row: &Operand| {
                    format!("{}[{} by {}]", self.buf(buf), operand(rows), operand(row))
                };
                let (to, from) = (matrix(*to, cols, to_row), matrix(*from, rows, from_row));
                format!("transpose {lanes} {to} := {from}")
            }
            Step::Fill { buf, value, len } => {
                format!("fill {}[0 ..+ {}] := {}", self.buf(*buf), operand(len), operand(value))
            }
            Step::Kernel { prim, to, args, sizes } => {
                let [to, args] = [to, args].map(|bufs| {
                    bufs.iter().map(|buf| self.buf(*buf)).collect::<Vec<String>>().join(", ")
                });
                format!("kernel {} {to}[{}] := {args}", prim.name(), self.sizes(sizes))
            }
            Step::Check { cond, site, values } => self.check(*cond, *site, values),
            Step::Inspect { number, values } => {
                let value = |value: &Return| match value {
                    Return::Scalar(value) => operand(value),
                    Return::Buffer(buf, dims) => {
                        let dims: Vec<String> = dims.iter().map(operand).collect();
                        format!("{}[{}]", self.buf(*buf), dims.join(", "))
                    }
                };
                let values: Vec<String> = values.iter().map(value).collect();
                format!("inspect {number} ({})", values.join(", "))
            }
            Step::Node { reg, node, tag, fields, site: _ } => {
                self.new_node(*reg, *node, *tag, fields)
            }
            Step::Open { buf, field, of, dims } => {
                let (buf, field) = (self.buf(*buf), self.labels.field(*field));
                format!("{buf} = open {field} {} [{}]", self.operand(*of), self.sizes(dims))
            }
            Step::Call { function, args, results, site: _ } => self.call(*function, args, results),
        }
    }

    /// The sizes of a buffer; there is at least one.
    fn sizes(&self, dims: &[Operand]) -> String {
        let dims: Vec<String> = dims.iter().map(|dim| self.operand(*dim)).collect();
        if dims.is_empty() { "1".to_string() } else { dims.join(" * ") }
    }

    fn check(&self, cond: Operand, site: u32, values: &[Operand]) -> String {
        let message = self.function.sites.get(site as usize).map_or("?", |site| &*site.message);
        let values: String =
            values.iter().map(|value| format!(", {}", self.operand(*value))).collect();
        format!("check {} else {message:?}{values}", self.operand(cond))
    }

    fn op(&self, op: &Op, ty: Ty) -> String {
        match op {
            Op::Prim(prim, args) => self.prim(*prim, args),
            Op::Load(buf, offset) => self.place(*buf, *offset, ty.lanes),
            Op::LoadSome(buf, [offset, count]) => self.some(*buf, *offset, *count, ty.lanes),
            Op::Get(cell) => self.cell(*cell),
            Op::Fold(op, value) => format!("fold {} {}", op.name(), self.operand(*value)),
            Op::Splice([a, b], from) => {
                format!("splice {from} {} {}", self.operand(*a), self.operand(*b))
            }
            Op::Iota => "iota".to_string(),
            Op::Tag(node) => format!("tag {}", self.operand(*node)),
            Op::Field(field, node) => {
                format!("field {} {}", self.labels.field(*field), self.operand(*node))
            }
        }
    }

    fn prim(&self, prim: Prim, args: &[Operand]) -> String {
        let args: Vec<String> = args.iter().map(|arg| self.operand(*arg)).collect();
        match (prim.row().surface, args.as_slice()) {
            (Surface::Infix(symbol), [a, b]) => format!("{a} {symbol} {b}"),
            (Surface::Infix(_) | Surface::Prefix(_) | Surface::Call(_) | Surface::If, _) => {
                format!("{}({})", prim.name(), args.join(", "))
            }
        }
    }

    fn place(&self, buf: Buf, offset: Operand, lanes: u16) -> String {
        let each = lanes == 1 || self.operand_lanes(offset) > 1;
        let lanes = if each { String::new() } else { format!(" ..+ {lanes}") };
        format!("{}[{}{lanes}]", self.buf(buf), self.operand(offset))
    }

    fn some(&self, buf: Buf, offset: Operand, count: Operand, lanes: u16) -> String {
        let (offset, count) = (self.operand(offset), self.operand(count));
        format!("{}[{offset} ..+ {count} of {lanes}]", self.buf(buf))
    }

    fn operand_lanes(&self, operand: Operand) -> u16 {
        match operand {
            Operand::Reg(reg) => self.reg_ty(reg).lanes,
            Operand::Lit(_) => 1,
        }
    }

    fn reg_ty(&self, reg: Reg) -> Ty {
        self.function.regs.get(reg.0 as usize).map_or(Ty::scalar(ScalarTy::Real), |(ty, _)| *ty)
    }

    fn elem(&self, buf: Buf) -> ScalarTy {
        self.function.bufs.get(buf.0 as usize).map_or(ScalarTy::Real, |(elem, _)| *elem)
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Reg(reg) => self.reg(reg),
            Operand::Lit(value) => scalar(value),
        }
    }

    fn reg(&self, reg: Reg) -> String {
        self.regs.get(reg.0 as usize).cloned().unwrap_or_else(|| format!("reg.{}", reg.0))
    }

    fn cell(&self, cell: Cell) -> String {
        self.cells.get(cell.0 as usize).cloned().unwrap_or_else(|| format!("cell.{}", cell.0))
    }

    fn buf(&self, buf: Buf) -> String {
        self.bufs.get(buf.0 as usize).cloned().unwrap_or_else(|| format!("buf.{}", buf.0))
    }

    fn put(&mut self, line: &str) {
        self.out.push_str(&"  ".repeat(self.depth));
        self.out.push_str(line);
        self.out.push('\n');
    }
}

fn ty(ty: Ty) -> String {
    match ty.lanes {
        1 => ty.elem.to_string(),
        lanes => format!("{} x {lanes}", ty.elem),
    }
}

fn scope(release: Release) -> &'static str {
    match release {
        Release::All => "scope",
        Release::Arrays => "scope, nodes stay",
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Sequential => "",
        Mode::Independent => ", independent",
        Mode::Reduction => ", reduction",
    }
}

fn scalar(value: Scalar) -> String {
    match value {
        Scalar::Real(value) => format!("{value:?}"),
        Scalar::Int(value) => value.to_string(),
        Scalar::Bool(value) => value.to_string(),
    }
}

fn constant(tensor: &Tensor) -> String {
    let items: Vec<String> = (0..tensor.data.len()).map(|k| scalar(tensor.data.get(k))).collect();
    format!("{} {{{}}}", tensor.elem(), items.join(", "))
}
